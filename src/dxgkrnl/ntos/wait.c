/* SPDX-License-Identifier: MIT */
/* wait.c: what threads of a miniport wait for. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"

#include <string.h>
#include <time.h>

/* DISPATCHER_HEADER.Type of what is no event. */
enum { MUTANT_OBJECT = 2, SEMAPHORE_OBJECT = 5 };

VOID NTAPI KeInitializeEvent(PKEVENT Event, EVENT_TYPE Type, BOOLEAN State)
{
    dxgk_ntos_initialised("KeInitializeEvent", KNOWN_EVENT, Event, sizeof(*Event));
    memset(Event, 0, sizeof(*Event));
    Event->Header.Type = (UCHAR)Type;
    Event->Header.SignalState = !!State; /* any value but 0 is TRUE */
}

static LONG set_event(struct kernel *k, const char *routine, PKEVENT event, LONG state, BOOLEAN wait)
{
    LONG old;

    if (!dxgk_ntos_known(routine, KNOWN_EVENT, event))
        return 0;
    old = event->Header.SignalState;
    if (wait)
        dxgk_kernel_promise(k, routine);
    event->Header.SignalState = state;
    dxgk_kernel_wake_all(k, dxgk_ntos_waiters(&event->Header));
    return old;
}

LONG NTAPI KeSetEvent(PKEVENT Event, KPRIORITY Increment, BOOLEAN Wait)
{
    ENTER(KeSetEvent);

    UNREFERENCED_PARAMETER(Increment);
    return set_event(k, "KeSetEvent", Event, 1, Wait);
}

/* Who waits now goes on, and nobody else: one of them, where the event is for synchronization. */
LONG NTAPI KePulseEvent(PKEVENT Event, KPRIORITY Increment, BOOLEAN Wait)
{
    struct ntos *n = &OWNER()->ntos;
    ENTER(KePulseEvent);

    UNREFERENCED_PARAMETER(Increment);
    n->pulse[++n->pulses % PULSES] = (struct pulse){Event, n->pulses};
    return set_event(k, "KePulseEvent", Event, 0, Wait);
}

/* Whether the object was pulsed since `since`, when the wait began; takes the pulse of which there is one. */
static bool was_pulsed(struct ntos *n, const DISPATCHER_HEADER *h, uint64_t since)
{
    for (unsigned i = 0; i < PULSES; i++)
        if (n->pulse[i].event == h && n->pulse[i].number > since) {
            if (h->Type == SynchronizationEvent)
                n->pulse[i].event = NULL;
            return true;
        }
    return false;
}

LONG NTAPI KeResetEvent(PKEVENT Event)
{
    LONG old;
    ENTER(KeResetEvent);

    (void)k;
    if (!dxgk_ntos_known("KeResetEvent", KNOWN_EVENT, Event))
        return 0;
    old = Event->Header.SignalState;
    Event->Header.SignalState = 0;
    return old;
}

VOID NTAPI KeClearEvent(PKEVENT Event)
{
    CHECK(KeClearEvent);
    if (dxgk_ntos_known("KeClearEvent", KNOWN_EVENT, Event))
        Event->Header.SignalState = 0;
}

LONG NTAPI KeReadStateEvent(PKEVENT Event)
{
    CHECK(KeReadStateEvent);
    return dxgk_ntos_known("KeReadStateEvent", KNOWN_EVENT, Event) ? Event->Header.SignalState : 0;
}

VOID NTAPI KeInitializeSemaphore(PRKSEMAPHORE Semaphore, LONG Count, LONG Limit)
{
    ENTER(KeInitializeSemaphore);

    if (Count < 0 || Limit < 1 || Count > Limit)
        dxgk_kernel_violation(k, "KeInitializeSemaphore: count %d, limit %d", Count, Limit);
    dxgk_ntos_initialised("KeInitializeSemaphore", KNOWN_SEMAPHORE, Semaphore, sizeof(*Semaphore));
    memset(Semaphore, 0, sizeof(*Semaphore));
    Semaphore->Header.Type = SEMAPHORE_OBJECT;
    Semaphore->Header.SignalState = Count;
    Semaphore->Limit = Limit;
}

LONG NTAPI KeReleaseSemaphore(PRKSEMAPHORE Semaphore, KPRIORITY Increment, LONG Adjustment, BOOLEAN Wait)
{
    LONG old;
    ENTER(KeReleaseSemaphore);

    UNREFERENCED_PARAMETER(Increment);
    if (!dxgk_ntos_known("KeReleaseSemaphore", KNOWN_SEMAPHORE, Semaphore))
        return 0;
    old = Semaphore->Header.SignalState;
    if (Adjustment < 1 ||
        Adjustment > Semaphore->Limit - old) { /* Windows raises STATUS_SEMAPHORE_LIMIT_EXCEEDED */
        dxgk_kernel_violation(k, "KeReleaseSemaphore by %d: count %d, limit %d", Adjustment, old,
                              Semaphore->Limit);
        return old;
    }
    if (Wait)
        dxgk_kernel_promise(k, "KeReleaseSemaphore");
    Semaphore->Header.SignalState = old + Adjustment;
    dxgk_kernel_wake_all(k, dxgk_ntos_waiters(&Semaphore->Header));
    return old;
}

LONG NTAPI KeReadStateSemaphore(PRKSEMAPHORE Semaphore)
{
    return dxgk_ntos_known("KeReadStateSemaphore", KNOWN_SEMAPHORE, Semaphore) ? Semaphore->Header.SignalState
                                                                               : 0;
}

/* SignalState is 1 while it is not owned, and falls with each time that its owner took it again. */
VOID NTAPI KeInitializeMutex(PRKMUTEX Mutex, ULONG Level)
{
    UNREFERENCED_PARAMETER(Level);
    dxgk_ntos_initialised("KeInitializeMutex", KNOWN_MUTEX, Mutex, sizeof(*Mutex));
    memset(Mutex, 0, sizeof(*Mutex));
    Mutex->Header.Type = MUTANT_OBJECT;
    Mutex->Header.SignalState = 1;
}

LONG NTAPI KeReleaseMutex(PRKMUTEX Mutex, BOOLEAN Wait)
{
    LONG old;
    ENTER(KeReleaseMutex);

    if (!dxgk_ntos_known("KeReleaseMutex", KNOWN_MUTEX, Mutex))
        return 0;
    old = Mutex->Header.SignalState;
    if (Mutex->OwnerThread != dxgk_kernel_thread(k)) { /* Windows raises STATUS_MUTANT_NOT_OWNED */
        dxgk_kernel_violation(k, "KeReleaseMutex by a thread that does not own the mutex");
        return old;
    }
    if (Wait)
        dxgk_kernel_promise(k, "KeReleaseMutex");
    dxgk_kernel_own(k, false);
    dxgk_kernel_region(k, REGION_OWNED, false);
    Mutex->Header.SignalState++;
    if (Mutex->Header.SignalState == 1) {
        Mutex->OwnerThread = NULL;
        dxgk_kernel_wake_all(k, dxgk_ntos_waiters(&Mutex->Header));
    }
    return old;
}

LONG NTAPI KeReadStateMutex(PRKMUTEX Mutex)
{
    CHECK(KeReadStateMutex);
    return dxgk_ntos_known("KeReadStateMutex", KNOWN_MUTEX, Mutex) ? Mutex->Header.SignalState : 0;
}

uint64_t dxgk_ntos_deadline(struct kernel *k, const LARGE_INTEGER *t)
{
    if (!t)
        return LOOP_FOREVER;
    return t->QuadPart < 0 ? dxgk_kernel_now(k) + (uint64_t)-t->QuadPart * 100 : (uint64_t)t->QuadPart * 100;
}

static bool is_signalled(DISPATCHER_HEADER *h)
{
    return h->SignalState > 0 ||
           (h->Type == MUTANT_OBJECT &&
            ((KMUTEX *)h)->OwnerThread == dxgk_kernel_thread(dxgk_kernel_self(__func__)));
}

/* What a wait that is satisfied does to what it waited for. */
static void consume(DISPATCHER_HEADER *h)
{
    if (h->Type == SynchronizationEvent) {
        h->SignalState = 0;
    } else if (h->Type == SEMAPHORE_OBJECT) {
        h->SignalState--;
    } else if (h->Type == MUTANT_OBJECT) {
        struct kernel *k = dxgk_kernel_self(__func__);

        h->SignalState--;
        ((KMUTEX *)h)->OwnerThread = dxgk_kernel_thread(k);
        dxgk_kernel_own(k, true);
        dxgk_kernel_region(k, REGION_OWNED, true);
    }
}

/* Whether what is waited for has come; takes it, if so. `index`: of the object that WaitAny is given. */
static bool take(PVOID objects[], ULONG count, WAIT_TYPE type, ULONG *index, uint64_t since)
{
    struct ntos *n = &OWNER()->ntos;
    ULONG signalled = 0;

    for (*index = 0; *index < count; ++*index) {
        DISPATCHER_HEADER *h = objects[*index];
        bool is = is_signalled(h);
        if (type == WaitAny && (is || was_pulsed(n, h, since))) {
            if (is)
                consume(h);
            return true;
        }
        signalled += is;
    }
    if (type == WaitAny || signalled < count)
        return false;
    for (ULONG i = 0; i < count; i++)
        consume(objects[i]);
    *index = 0;
    return true;
}

static NTSTATUS wait_for(const char *routine, KIRQL limit, PVOID objects[], ULONG count, WAIT_TYPE type,
                         const LARGE_INTEGER *timeout)
{
    struct dxgk *d = OWNER();
    struct kwaiters *queues[MAXIMUM_WAIT_OBJECTS + 1];
    uint64_t until = dxgk_ntos_deadline(d->kernel, timeout);
    bool poll = timeout && !timeout->QuadPart;
    const uint64_t since = d->ntos.pulses;
    ULONG index;

    dxgk_kernel_promise(d->kernel, NULL);
    if (!dxgk_kernel_check(d->kernel, routine, poll ? limit : APC_LEVEL))
        return STATUS_UNSUCCESSFUL;
    for (ULONG i = 0; i < count; i++)
        if (!dxgk_ntos_known_waitable(routine, objects[i]))
            return STATUS_INVALID_PARAMETER;
    while (!take(objects, count, type, &index, since)) {
        struct kwaiters *stop = dxgk_ntos_thread_stop(d);
        for (ULONG i = 0; i < count; i++)
            queues[i] = dxgk_ntos_waiters(objects[i]);
        queues[count] = stop;
        if (poll || !dxgk_kernel_wait_any(d->kernel, queues, count + (stop != NULL), until))
            return STATUS_TIMEOUT;
    }
    return STATUS_WAIT_0 + (NTSTATUS)index;
}

NTSTATUS NTAPI KeWaitForSingleObject(PVOID Object, KWAIT_REASON WaitReason, KPROCESSOR_MODE WaitMode,
                                     BOOLEAN Alertable, PLARGE_INTEGER Timeout)
{
    UNREFERENCED_PARAMETER(WaitReason);
    UNREFERENCED_PARAMETER(WaitMode);
    UNREFERENCED_PARAMETER(Alertable);
    return wait_for("KeWaitForSingleObject", LIMIT_KeWaitForSingleObject, &Object, 1, WaitAny, Timeout);
}

NTSTATUS NTAPI KeWaitForMultipleObjects(ULONG Count, PVOID Object[], WAIT_TYPE WaitType,
                                        KWAIT_REASON WaitReason, KPROCESSOR_MODE WaitMode, BOOLEAN Alertable,
                                        PLARGE_INTEGER Timeout, PKWAIT_BLOCK WaitBlockArray)
{
    ULONG most = WaitBlockArray ? MAXIMUM_WAIT_OBJECTS : THREAD_WAIT_OBJECTS;

    UNREFERENCED_PARAMETER(WaitReason);
    UNREFERENCED_PARAMETER(WaitMode);
    UNREFERENCED_PARAMETER(Alertable);
    if (!Count || Count > most) {
        dxgk_kernel_violation(SELF(), "KeWaitForMultipleObjects of %u objects, allowed are 1 to %u", Count,
                              most);
        return STATUS_INVALID_PARAMETER;
    }
    return wait_for("KeWaitForMultipleObjects", LIMIT_KeWaitForMultipleObjects, Object, Count, WaitType,
                    Timeout);
}

NTSTATUS NTAPI KeDelayExecutionThread(KPROCESSOR_MODE WaitMode, BOOLEAN Alertable, PLARGE_INTEGER Interval)
{
    struct dxgk *d = OWNER();
    uint64_t until = dxgk_ntos_deadline(d->kernel, Interval);
    struct kwaiters *stop;

    UNREFERENCED_PARAMETER(WaitMode);
    UNREFERENCED_PARAMETER(Alertable);
    if (!dxgk_kernel_check(d->kernel, "KeDelayExecutionThread", LIMIT_KeDelayExecutionThread))
        return STATUS_SUCCESS;
    while ((stop = dxgk_ntos_thread_stop(d)) && dxgk_kernel_wait(d->kernel, stop, until))
        ;
    if (!stop)
        dxgk_kernel_delay(d->kernel, until, "KeDelayExecutionThread");
    return STATUS_SUCCESS;
}

/* Busy waiting holds the processor. In virtual time it is the clock that moves. */
VOID NTAPI KeStallExecutionProcessor(ULONG MicroSeconds)
{
    struct dxgk *d = OWNER();
    struct timespec ts = {.tv_sec = MicroSeconds / 1000000, .tv_nsec = MicroSeconds % 1000000 * 1000};

    dxgk_kernel_stalled(d->kernel, MicroSeconds * NSEC_PER_USEC);
    if (d->clock->is_virtual)
        clock_advance_to(d->clock, clock_now(d->clock) + MicroSeconds * NSEC_PER_USEC);
    else
        nanosleep(&ts, NULL);
}

/* ---- mutexes that are no dispatcher objects ------------------------------ */

/* FALSE: somebody has it, and the caller does not wait. */
static BOOLEAN own(struct kernel *k, const char *routine, PFAST_MUTEX m, bool wait)
{
    if (!dxgk_ntos_known_mutex(routine, m))
        return FALSE;
    if (m->Owner == dxgk_kernel_thread(k)) {
        if (!wait)
            return FALSE;
        dxgk_kernel_violation(k, "%s of a mutex that the thread owns: a deadlock", routine);
    }
    while (m->Owner && m->Owner != dxgk_kernel_thread(k) && wait &&
           dxgk_kernel_wait(k, dxgk_ntos_waiters(&m->Event.Header), LOOP_FOREVER))
        ;
    if (m->Owner && m->Owner != dxgk_kernel_thread(k) && !wait)
        return FALSE;
    m->Owner = dxgk_kernel_thread(k);
    dxgk_kernel_own(k, true);
    m->Count = 0;
    return TRUE;
}

static bool disown(struct kernel *k, const char *routine, PFAST_MUTEX m)
{
    if (!dxgk_ntos_known_mutex(routine, m))
        return false;
    if (m->Owner != dxgk_kernel_thread(k))
        dxgk_kernel_violation(k, "%s by a thread that does not own the mutex", routine);
    else
        dxgk_kernel_own(k, false);
    m->Owner = NULL;
    m->Count = 1;
    dxgk_kernel_wake_all(k, dxgk_ntos_waiters(&m->Event.Header));
    return true;
}

static void raise_to_apc(struct kernel *k, PFAST_MUTEX m)
{
    m->OldIrql = dxgk_kernel_irql(k);
    if (dxgk_kernel_irql(k) < APC_LEVEL)
        dxgk_kernel_raise(k, APC_LEVEL);
}

VOID NTAPI ExAcquireFastMutex(PFAST_MUTEX FastMutex)
{
    struct kernel *k = SELF();

    if (!dxgk_kernel_check(k, "ExAcquireFastMutex", LIMIT_ExAcquireFastMutex))
        return;
    if (own(k, "ExAcquireFastMutex", FastMutex, true))
        raise_to_apc(k, FastMutex);
}

BOOLEAN NTAPI ExTryToAcquireFastMutex(PFAST_MUTEX FastMutex)
{
    struct kernel *k = SELF();

    if (!dxgk_kernel_check(k, "ExTryToAcquireFastMutex", LIMIT_ExTryToAcquireFastMutex) ||
        !own(k, "ExTryToAcquireFastMutex", FastMutex, false))
        return FALSE;
    raise_to_apc(k, FastMutex);
    return TRUE;
}

VOID NTAPI ExReleaseFastMutex(PFAST_MUTEX FastMutex)
{
    struct kernel *k = SELF();

    if (dxgk_kernel_irql(k) != APC_LEVEL)
        dxgk_kernel_violation(k, "ExReleaseFastMutex called at IRQL %d, must be APC_LEVEL",
                              dxgk_kernel_irql(k));
    if (!disown(k, "ExReleaseFastMutex", FastMutex))
        return;
    dxgk_kernel_lower(k, (KIRQL)FastMutex->OldIrql);
}

VOID NTAPI ExAcquireFastMutexUnsafe(PFAST_MUTEX FastMutex)
{
    ENTER(ExAcquireFastMutexUnsafe);
    if (!dxgk_kernel_in_region(k))
        dxgk_kernel_violation(
            k, "ExAcquireFastMutexUnsafe outside of every critical region, and below APC_LEVEL");
    own(k, "ExAcquireFastMutexUnsafe", FastMutex, true);
}

VOID NTAPI ExReleaseFastMutexUnsafe(PFAST_MUTEX FastMutex)
{
    ENTER(ExReleaseFastMutexUnsafe);
    disown(k, "ExReleaseFastMutexUnsafe", FastMutex);
}

VOID NTAPI KeInitializeGuardedMutex(PKGUARDED_MUTEX GuardedMutex)
{
    CHECK(KeInitializeGuardedMutex);
    ExInitializeFastMutex(GuardedMutex);
}

VOID NTAPI KeAcquireGuardedMutex(PKGUARDED_MUTEX GuardedMutex)
{
    ENTER(KeAcquireGuardedMutex);
    if (own(k, "KeAcquireGuardedMutex", GuardedMutex, true))
        dxgk_kernel_region(k, REGION_OWNED_GUARDED, true);
}

BOOLEAN NTAPI KeTryToAcquireGuardedMutex(PKGUARDED_MUTEX GuardedMutex)
{
    ENTER(KeTryToAcquireGuardedMutex);
    if (!own(k, "KeTryToAcquireGuardedMutex", GuardedMutex, false))
        return FALSE;
    dxgk_kernel_region(k, REGION_OWNED_GUARDED, true);
    return TRUE;
}

VOID NTAPI KeReleaseGuardedMutex(PKGUARDED_MUTEX GuardedMutex)
{
    ENTER(KeReleaseGuardedMutex);
    if (disown(k, "KeReleaseGuardedMutex", GuardedMutex))
        dxgk_kernel_region(k, REGION_OWNED_GUARDED, false);
}

VOID NTAPI KeEnterCriticalRegion(VOID)
{
    ENTER(KeEnterCriticalRegion);
    dxgk_kernel_region(k, REGION_CRITICAL, true);
}

VOID NTAPI KeLeaveCriticalRegion(VOID)
{
    ENTER(KeLeaveCriticalRegion);
    if (!dxgk_kernel_region(k, REGION_CRITICAL, false))
        dxgk_kernel_violation(k, "KeLeaveCriticalRegion outside of every critical region");
}

VOID NTAPI KeEnterGuardedRegion(VOID)
{
    ENTER(KeEnterGuardedRegion);
    dxgk_kernel_region(k, REGION_GUARDED, true);
}

VOID NTAPI KeLeaveGuardedRegion(VOID)
{
    ENTER(KeLeaveGuardedRegion);
    if (!dxgk_kernel_region(k, REGION_GUARDED, false))
        dxgk_kernel_violation(k, "KeLeaveGuardedRegion outside of every guarded region");
}

VOID NTAPI KeAcquireGuardedMutexUnsafe(PKGUARDED_MUTEX GuardedMutex)
{
    ENTER(KeAcquireGuardedMutexUnsafe);
    if (!dxgk_kernel_in_region(k))
        dxgk_kernel_violation(
            k, "KeAcquireGuardedMutexUnsafe outside of every guarded region, and below APC_LEVEL");
    own(k, "KeAcquireGuardedMutexUnsafe", GuardedMutex, true);
}

VOID NTAPI KeReleaseGuardedMutexUnsafe(PKGUARDED_MUTEX GuardedMutex)
{
    ENTER(KeReleaseGuardedMutexUnsafe);
    disown(k, "KeReleaseGuardedMutexUnsafe", GuardedMutex);
}

BOOLEAN NTAPI KeAreApcsDisabled(VOID)
{
    ENTER(KeAreApcsDisabled);
    return dxgk_kernel_in_region(k);
}

BOOLEAN NTAPI KeAreAllApcsDisabled(VOID)
{
    ENTER(KeAreAllApcsDisabled);
    return dxgk_kernel_in_guarded_region(k);
}
