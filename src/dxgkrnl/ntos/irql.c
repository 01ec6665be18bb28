/* SPDX-License-Identifier: MIT */
/* irql.c: the processor as a miniport sees it: IRQL, spin locks, time, DPCs and timers. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"

#include <string.h>

enum { TIMER_FREQUENCY = 10000000, DPC_OBJECT = 0x13 /* KOBJECTS */ };

/* ---- IRQL and spin locks ------------------------------------------------- */

KIRQL NTAPI KeGetCurrentIrql(VOID)
{
    return dxgk_kernel_irql(SELF());
}

KIRQL NTAPI KfRaiseIrql(KIRQL NewIrql)
{
    return dxgk_kernel_raise(SELF(), NewIrql);
}

VOID NTAPI KeLowerIrql(KIRQL NewIrql)
{
    dxgk_kernel_lower(SELF(), NewIrql);
}

VOID NTAPI KeInitializeSpinLock(PKSPIN_LOCK SpinLock)
{
    struct dxgk *d = OWNER();

    if (dxgk_ntos_forget_locks(d, SpinLock, sizeof(*SpinLock)))
        dxgk_kernel_violation(d->kernel, "KeInitializeSpinLock of a spin lock that is held");
    *SpinLock = 0;
}

static struct held_lock *held(struct dxgk *d, const KSPIN_LOCK *lock)
{
    for (unsigned i = d->ntos.num_held; i-- > 0;)
        if (d->ntos.held[i].lock == lock)
            return &d->ntos.held[i];
    return NULL;
}

static void drop(struct dxgk *d, struct held_lock *h)
{
    *h = d->ntos.held[--d->ntos.num_held];
}

/* One processor: a lock that is held here is held by the caller, and acquiring it again would never return. It is a word that is
 * initialised without a routine, so that only those that are held are known. `old`: what it was raised from; NULL: it was not. */
static void acquire(struct kernel *k, const char *routine, PKSPIN_LOCK lock, const KIRQL *old, bool queued)
{
    struct dxgk *d = dxgk_kernel_ctx(k);
    struct held_lock *h = held(d, lock);

    if (h && !*lock)
        dxgk_kernel_violation(
            k, "%s of a spin lock that was initialised again, or written over, while it was held", routine);
    else if (h)
        dxgk_kernel_violation(k, "%s of a spin lock that is held: a deadlock", routine);
    else if (*lock)
        dxgk_kernel_violation(k, "%s of %p, which is no spin lock that was initialised: it holds %#zx",
                              routine, (void *)lock, (size_t)*lock);
    *lock = 1;
    if (!h && d->ntos.num_held == MAX_HELD)
        dxgk_kernel_violation(k, "%s: %u spin locks are held", routine, MAX_HELD);
    else if (!h)
        d->ntos.held[d->ntos.num_held++] = (struct held_lock){.lock = lock,
                                                              .call = dxgk_kernel_call(k),
                                                              .queued = queued,
                                                              .raised = old,
                                                              .old = old ? *old : 0};
}

/* False: it was not held. `to`: the IRQL that is lowered to, which who raised it gave to somebody; NULL: none is. */
static bool release(struct kernel *k, const char *routine, PKSPIN_LOCK lock, const KIRQL *to, bool queued)
{
    struct dxgk *d = dxgk_kernel_ctx(k);
    struct held_lock *h = held(d, lock), *of = h;

    if (!h || !*lock) {
        dxgk_kernel_violation(k, "%s of a spin lock that %s", routine,
                              h ? "was initialised again, or written over, while it was held"
                                : "is not held");
        if (h)
            drop(d, h);
        return false;
    }
    *lock = 0;
    if (h->queued != queued)
        dxgk_kernel_violation(k, "%s of a spin lock that %s acquired", routine,
                              h->queued ? "KeAcquireInStackQueuedSpinLock" : "KeAcquireSpinLock");
    if (to && h->raised &&
        h->old != *to) { /* they may be released in any order, each with one that was saved */
        for (of = d->ntos.held; of < d->ntos.held + d->ntos.num_held; of++)
            if (of->raised && of->old == *to)
                break;
        if (of == d->ntos.held + d->ntos.num_held)
            dxgk_kernel_violation(k, "%s to IRQL %d, but it was acquired at IRQL %d", routine, *to, h->old);
        else
            of->old = h->old;
    }
    drop(d, h);
    if (to && *to < DISPATCH_LEVEL && d->ntos.num_held && d->ntos.held[0].call == dxgk_kernel_call(k))
        dxgk_kernel_violation(k, "%s to IRQL %d while another spin lock is held", routine, *to);
    return true;
}

unsigned dxgk_ntos_forget_locks(struct dxgk *d, const void *memory, size_t size)
{
    unsigned n = 0;

    for (unsigned i = d->ntos.num_held; i-- > 0;)
        if ((uintptr_t)d->ntos.held[i].lock - (uintptr_t)memory < size) {
            drop(d, &d->ntos.held[i]);
            n++;
        }
    return n;
}

void dxgk_ntos_check_locks(struct dxgk *d)
{
    const struct kernel_ddi *call = dxgk_kernel_call(d->kernel);
    bool said = call && call->abandoned;

    for (unsigned i = d->ntos.num_held; i-- > 0;)
        if (d->ntos.held[i].call == call) {
            if (!said)
                dxgk_kernel_violation(d->kernel, "%s returned and holds a spin lock",
                                      call ? call->name : "a call");
            said = true;
            drop(d, &d->ntos.held[i]);
        }
}

KIRQL NTAPI KeAcquireSpinLockRaiseToDpc(PKSPIN_LOCK SpinLock)
{
    KIRQL old;
    ENTER(KeAcquireSpinLockRaiseToDpc);

    old = dxgk_kernel_irql(k) < DISPATCH_LEVEL ? dxgk_kernel_raise(k, DISPATCH_LEVEL) : dxgk_kernel_irql(k);
    acquire(k, "KeAcquireSpinLock", SpinLock, &old, false);
    return old;
}

/* `at`: the one IRQL that it may be called at. */
static void release_to(const char *routine, KIRQL at, PKSPIN_LOCK lock, KIRQL to, bool queued)
{
    struct kernel *k = dxgk_kernel_self(routine);

    if (dxgk_kernel_irql(k) != at)
        dxgk_kernel_violation(k, "%s called at IRQL %d, must be DISPATCH_LEVEL", routine,
                              dxgk_kernel_irql(k));
    release(k, routine, lock, &to, queued);
    dxgk_kernel_lower(k, to);
}

VOID NTAPI KeReleaseSpinLock(PKSPIN_LOCK SpinLock, KIRQL NewIrql)
{
    release_to("KeReleaseSpinLock", LIMIT_KeReleaseSpinLock, SpinLock, NewIrql, false);
}

static struct kernel *at_dpc_level(const char *routine)
{
    struct kernel *k = dxgk_kernel_self(routine);

    if (dxgk_kernel_irql(k) < DISPATCH_LEVEL)
        dxgk_kernel_violation(k, "%s called at IRQL %d, must be at least DISPATCH_LEVEL", routine,
                              dxgk_kernel_irql(k));
    return k;
}

VOID NTAPI KeAcquireSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock)
{
    acquire(at_dpc_level(__func__), __func__, SpinLock, NULL, false);
}

VOID NTAPI KeReleaseSpinLockFromDpcLevel(PKSPIN_LOCK SpinLock)
{
    release(at_dpc_level(__func__), __func__, SpinLock, NULL, false);
}

/* The order of those who wait is kept by the one processor: nobody does. */
VOID NTAPI KeAcquireInStackQueuedSpinLock(PKSPIN_LOCK SpinLock, PKLOCK_QUEUE_HANDLE LockHandle)
{
    ENTER(KeAcquireInStackQueuedSpinLock);

    LockHandle->LockQueue = (KSPIN_LOCK_QUEUE){.Lock = SpinLock};
    LockHandle->OldIrql =
        dxgk_kernel_irql(k) < DISPATCH_LEVEL ? dxgk_kernel_raise(k, DISPATCH_LEVEL) : dxgk_kernel_irql(k);
    acquire(k, "KeAcquireInStackQueuedSpinLock", SpinLock, &LockHandle->OldIrql, true);
}

VOID NTAPI KeReleaseInStackQueuedSpinLock(PKLOCK_QUEUE_HANDLE LockHandle)
{
    release_to("KeReleaseInStackQueuedSpinLock", LIMIT_KeReleaseInStackQueuedSpinLock,
               LockHandle->LockQueue.Lock, LockHandle->OldIrql, true);
}

VOID NTAPI KeAcquireInStackQueuedSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock, PKLOCK_QUEUE_HANDLE LockHandle)
{
    LockHandle->LockQueue = (KSPIN_LOCK_QUEUE){.Lock = SpinLock};
    acquire(at_dpc_level(__func__), __func__, SpinLock, NULL, true);
}

VOID NTAPI KeReleaseInStackQueuedSpinLockFromDpcLevel(PKLOCK_QUEUE_HANDLE LockHandle)
{
    release(at_dpc_level(__func__), __func__, LockHandle->LockQueue.Lock, NULL, true);
}

BOOLEAN NTAPI KeTryToAcquireSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock)
{
    CHECK(KeTryToAcquireSpinLockAtDpcLevel);
    if (*SpinLock)
        return FALSE;
    KeAcquireSpinLockAtDpcLevel(SpinLock);
    return TRUE;
}

/* ---- time ---------------------------------------------------------------- */

LARGE_INTEGER NTAPI KeQueryPerformanceCounter(PLARGE_INTEGER PerformanceFrequency)
{
    LARGE_INTEGER now = {.QuadPart = (LONGLONG)(clock_now(OWNER()->clock) / 100)};

    if (PerformanceFrequency)
        PerformanceFrequency->QuadPart = TIMER_FREQUENCY;
    return now;
}

ULONG NTAPI KeQueryTimeIncrement(VOID)
{
    SELF();
    return 156250;
}

ULONGLONG NTAPI KeQueryInterruptTime(VOID)
{
    return clock_now(OWNER()->clock) / 100;
}

VOID NTAPI KeQuerySystemTime(PLARGE_INTEGER CurrentTime)
{
    CurrentTime->QuadPart = (LONGLONG)KeQueryInterruptTime(); /* this kernel began with its clock */
}

VOID NTAPI KeQueryTickCount(PLARGE_INTEGER CurrentCount)
{
    CurrentCount->QuadPart = (LONGLONG)(KeQueryInterruptTime() / KeQueryTimeIncrement());
}

ULONG NTAPI KeGetCurrentProcessorNumberEx(PPROCESSOR_NUMBER ProcNumber)
{
    SELF();
    if (ProcNumber)
        *ProcNumber = (PROCESSOR_NUMBER){0};
    return 0;
}

KAFFINITY NTAPI KeQueryActiveProcessors(VOID)
{
    SELF();
    return 1;
}

ULONG NTAPI KeQueryActiveProcessorCountEx(USHORT GroupNumber)
{
    SELF();
    return !GroupNumber || GroupNumber == ALL_PROCESSOR_GROUPS;
}

USHORT NTAPI KeQueryActiveGroupCount(VOID)
{
    SELF();
    return 1;
}

ULONG NTAPI KeQueryActiveProcessorCount(KAFFINITY *ActiveProcessors)
{
    SELF();
    if (ActiveProcessors)
        *ActiveProcessors = 1;
    return 1;
}

ULONG NTAPI KeQueryMaximumProcessorCount(VOID)
{
    SELF();
    return 1;
}

ULONG NTAPI KeGetRecommendedSharedDataAlignment(VOID)
{
    SELF();
    return 64; /* a line of a cache */
}

VOID NTAPI KeSetSystemAffinityThread(KAFFINITY Affinity)
{
    ENTER(KeSetSystemAffinityThread);
    if (!(Affinity & 1))
        dxgk_kernel_violation(k, "KeSetSystemAffinityThread to %#llx, which has no processor that there is",
                              (unsigned long long)Affinity);
}

VOID NTAPI KeRevertToUserAffinityThread(VOID)
{
    CHECK(KeRevertToUserAffinityThread);
}

BOOLEAN NTAPI KeTestSpinLock(PKSPIN_LOCK SpinLock)
{
    SELF();
    return !*SpinLock;
}

/* Caches are coherent on x64. */
BOOLEAN NTAPI KeInvalidateAllCaches(VOID)
{
    ENTER(KeInvalidateAllCaches);
    return TRUE;
}

/* ---- DPCs and timers ----------------------------------------------------- */

VOID NTAPI KeInitializeDpc(PKDPC Dpc, PKDEFERRED_ROUTINE DeferredRoutine, PVOID DeferredContext)
{
    dxgk_ntos_initialised("KeInitializeDpc", KNOWN_DPC, Dpc, sizeof(*Dpc));
    *Dpc = (KDPC){.Type = DPC_OBJECT, .DeferredRoutine = DeferredRoutine, .DeferredContext = DeferredContext};
}

/* False: a rule is broken. */
static bool is_dpc(struct kernel *k, const char *routine, const KDPC *dpc)
{
    if (!dxgk_ntos_known(routine, KNOWN_DPC, dpc))
        return false;
    if (dpc->Type == DPC_OBJECT && dpc->DeferredRoutine && (!dpc->DpcData || dpc->DpcData == k))
        return true;
    dxgk_kernel_violation(k, "%s of what KeInitializeDpc has not made a DPC", routine);
    return false;
}

BOOLEAN NTAPI KeInsertQueueDpc(PKDPC Dpc, PVOID SystemArgument1, PVOID SystemArgument2)
{
    struct kernel *k = SELF();

    if (!is_dpc(k, "KeInsertQueueDpc", Dpc) || Dpc->DpcData)
        return FALSE;
    Dpc->SystemArgument1 = SystemArgument1;
    Dpc->SystemArgument2 = SystemArgument2;
    dxgk_kernel_queue_dpc(k, Dpc);
    return TRUE;
}

VOID NTAPI KeInitializeThreadedDpc(PKDPC Dpc, PKDEFERRED_ROUTINE DeferredRoutine, PVOID DeferredContext)
{
    KeInitializeDpc(Dpc, DeferredRoutine, DeferredContext);
}

BOOLEAN NTAPI KeRemoveQueueDpc(PKDPC Dpc)
{
    if (!is_dpc(SELF(), "KeRemoveQueueDpc", Dpc) || !Dpc->DpcData)
        return FALSE;
    RemoveEntryList(&Dpc->DpcListEntry);
    Dpc->DpcData = NULL;
    return TRUE;
}

/* One processor, and a queue that never waits: kept for those who look. */
VOID NTAPI KeSetImportanceDpc(PKDPC Dpc, KDPC_IMPORTANCE Importance)
{
    Dpc->Importance = (UCHAR)Importance;
}

VOID NTAPI KeSetTargetProcessorDpc(PKDPC Dpc, CCHAR Number)
{
    if (Number)
        dxgk_kernel_violation(SELF(), "KeSetTargetProcessorDpc: there is no processor %d", Number);
    Dpc->Number = 0;
}

/* One processor: whatever was queued has run, for the IRQL is below DISPATCH_LEVEL here. */
VOID NTAPI KeFlushQueuedDpcs(VOID)
{
    ENTER(KeFlushQueuedDpcs);
}

/* The timers that are set stand in d->ntos.timers, by DueTime (here: the kernel's ns); the others' Flink is NULL. One timer of the
 * kernel's stands for the first of them, so that to set one takes no memory: KeSetTimer cannot fail. */
static PKTIMER timer_of(LIST_ENTRY *e)
{
    return (PKTIMER)(PVOID)((UCHAR *)e - offsetof(KTIMER, TimerListEntry));
}

static void first_timer_is_due(void *ctx);

static void arm_first_timer(struct dxgk *d)
{
    LIST_ENTRY *first = d->ntos.timers.Flink;

    if (first == &d->ntos.timers)
        dxgk_kernel_cancel(d->kernel, &d->ntos.timer);
    else
        dxgk_kernel_arm(d->kernel, &d->ntos.timer, timer_of(first)->DueTime.QuadPart, first_timer_is_due, d);
}

static bool clear_timer(struct dxgk *d, PKTIMER t)
{
    LIST_ENTRY *e = &t->TimerListEntry;

    if (!e->Flink)
        return false;
    e->Flink->Blink = e->Blink;
    e->Blink->Flink = e->Flink;
    e->Flink = NULL;
    arm_first_timer(d);
    return true;
}

static void set_timer(struct dxgk *d, PKTIMER t, uint64_t due_ns)
{
    LIST_ENTRY *e = &t->TimerListEntry, *next = d->ntos.timers.Flink;

    t->DueTime.QuadPart = due_ns;
    while (next != &d->ntos.timers && timer_of(next)->DueTime.QuadPart <= due_ns)
        next = next->Flink;
    *e = (LIST_ENTRY){next, next->Blink};
    e->Flink->Blink = e->Blink->Flink = e;
    arm_first_timer(d);
}

static void expire(struct dxgk *d, PKTIMER t)
{
    clear_timer(d, t);
    if (t->Period)
        set_timer(d, t, t->DueTime.QuadPart + (uint64_t)t->Period * NSEC_PER_MSEC);
    t->Header.SignalState = 1;
    dxgk_kernel_wake_all(d->kernel, dxgk_ntos_waiters(&t->Header));
    if (t->Dpc)
        dxgk_kernel_queue_dpc(d->kernel, t->Dpc);
}

static void first_timer_is_due(void *ctx)
{
    struct dxgk *d = ctx;

    expire(d, timer_of(d->ntos.timers.Flink));
}

unsigned dxgk_ntos_forget_timers(struct dxgk *d, const void *memory, size_t size)
{
    unsigned n = 0;

    for (LIST_ENTRY *e = d->ntos.timers.Flink, *next; e != &d->ntos.timers; e = next) {
        next = e->Flink;
        if (!memory || (uintptr_t)e - (uintptr_t)memory < size)
            n += clear_timer(d, timer_of(e));
    }
    return n;
}

VOID NTAPI KeInitializeTimer(PKTIMER Timer)
{
    CHECK(KeInitializeTimer);
    dxgk_ntos_initialised("KeInitializeTimer", KNOWN_TIMER, Timer, sizeof(*Timer));
    memset(Timer, 0, sizeof(*Timer));
}

/* As an event's type: a synchronization timer lets one waiter go. */
VOID NTAPI KeInitializeTimerEx(PKTIMER Timer, TIMER_TYPE Type)
{
    KeInitializeTimer(Timer);
    Timer->Header.Type = (UCHAR)Type;
}

BOOLEAN NTAPI KeCancelTimer(PKTIMER Timer)
{
    ENTER(KeCancelTimer);

    return dxgk_ntos_known("KeCancelTimer", KNOWN_TIMER, Timer) && clear_timer(dxgk_kernel_ctx(k), Timer);
}

BOOLEAN NTAPI KeSetTimerEx(PKTIMER Timer, LARGE_INTEGER DueTime, LONG Period, PKDPC Dpc)
{
    struct dxgk *d = OWNER();
    uint64_t now = dxgk_kernel_now(d->kernel), due;
    BOOLEAN was_set;
    CHECK(KeSetTimerEx);

    if (!dxgk_ntos_known("KeSetTimer", KNOWN_TIMER, Timer))
        return FALSE;
    was_set = clear_timer(d, Timer);
    if (Period < 0) {
        dxgk_kernel_violation(d->kernel, "KeSetTimerEx with a period of %d ms", Period);
        Period = 0;
    }
    if (Dpc && !is_dpc(d->kernel, "KeSetTimer", Dpc))
        return was_set;
    Timer->Header.SignalState = 0;
    Timer->Dpc = Dpc;
    Timer->Period = Period;
    due = dxgk_ntos_deadline(d->kernel, &DueTime);
    if (due <= now) { /* at once: its DPC, too */
        Timer->DueTime.QuadPart = now;
        expire(d, Timer);
    } else {
        set_timer(d, Timer, due);
    }
    return was_set;
}

BOOLEAN NTAPI KeSetCoalescableTimer(PKTIMER Timer, LARGE_INTEGER DueTime, ULONG Period, ULONG TolerableDelay,
                                    PKDPC Dpc)
{
    UNREFERENCED_PARAMETER(TolerableDelay); /* none is used */
    return KeSetTimerEx(Timer, DueTime, (LONG)Period, Dpc);
}

BOOLEAN NTAPI KeSetTimer(PKTIMER Timer, LARGE_INTEGER DueTime, PKDPC Dpc)
{
    return KeSetTimerEx(Timer, DueTime, 0, Dpc);
}

BOOLEAN NTAPI KeReadStateTimer(PKTIMER Timer)
{
    CHECK(KeReadStateTimer);
    return dxgk_ntos_known("KeReadStateTimer", KNOWN_TIMER, Timer) && Timer->Header.SignalState != 0;
}
