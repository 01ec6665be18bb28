/* SPDX-License-Identifier: MIT */
/* irql.c: the processor as a miniport sees it: IRQL, spin locks, time, DPCs and timers. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"

#include <string.h>

enum { TIMER_FREQUENCY = 10000000 };

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
    *SpinLock = 0;
}

/* One processor: a lock that is held here is held by the caller, and acquiring it again would never return.
 */
static void acquire(struct kernel *k, const char *routine, PKSPIN_LOCK lock)
{
    if (*lock)
        dxgk_kernel_violation(k, "%s of a spin lock that is held: a deadlock", routine);
    *lock = 1;
}

static void release(struct kernel *k, const char *routine, PKSPIN_LOCK lock)
{
    if (!*lock)
        dxgk_kernel_violation(k, "%s of a spin lock that is not held", routine);
    *lock = 0;
}

KIRQL NTAPI KeAcquireSpinLockRaiseToDpc(PKSPIN_LOCK SpinLock)
{
    KIRQL old;
    ENTER(KeAcquireSpinLockRaiseToDpc);

    old = dxgk_kernel_irql(k) < DISPATCH_LEVEL ? dxgk_kernel_raise(k, DISPATCH_LEVEL) : dxgk_kernel_irql(k);
    acquire(k, "KeAcquireSpinLock", SpinLock);
    return old;
}

VOID NTAPI KeReleaseSpinLock(PKSPIN_LOCK SpinLock, KIRQL NewIrql)
{
    struct kernel *k = SELF();

    if (dxgk_kernel_irql(k) != DISPATCH_LEVEL)
        dxgk_kernel_violation(k, "KeReleaseSpinLock called at IRQL %d, must be DISPATCH_LEVEL",
                              dxgk_kernel_irql(k));
    release(k, "KeReleaseSpinLock", SpinLock);
    dxgk_kernel_lower(k, NewIrql);
}

VOID NTAPI KeAcquireSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock)
{
    struct kernel *k = SELF();

    if (dxgk_kernel_irql(k) < DISPATCH_LEVEL)
        dxgk_kernel_violation(
            k, "KeAcquireSpinLockAtDpcLevel called at IRQL %d, must be at least DISPATCH_LEVEL",
            dxgk_kernel_irql(k));
    acquire(k, "KeAcquireSpinLockAtDpcLevel", SpinLock);
}

VOID NTAPI KeReleaseSpinLockFromDpcLevel(PKSPIN_LOCK SpinLock)
{
    struct kernel *k = SELF();

    if (dxgk_kernel_irql(k) < DISPATCH_LEVEL)
        dxgk_kernel_violation(
            k, "KeReleaseSpinLockFromDpcLevel called at IRQL %d, must be at least DISPATCH_LEVEL",
            dxgk_kernel_irql(k));
    release(k, "KeReleaseSpinLockFromDpcLevel", SpinLock);
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

ULONG NTAPI KeGetCurrentProcessorNumberEx(PPROCESSOR_NUMBER ProcNumber)
{
    SELF();
    if (ProcNumber)
        *ProcNumber = (PROCESSOR_NUMBER){0};
    return 0;
}

/* ---- DPCs and timers ----------------------------------------------------- */

VOID NTAPI KeInitializeDpc(PKDPC Dpc, PKDEFERRED_ROUTINE DeferredRoutine, PVOID DeferredContext)
{
    *Dpc = (KDPC){.DeferredRoutine = DeferredRoutine, .DeferredContext = DeferredContext};
}

BOOLEAN NTAPI KeInsertQueueDpc(PKDPC Dpc, PVOID SystemArgument1, PVOID SystemArgument2)
{
    struct kernel *k = SELF();

    if (Dpc->DpcData)
        return FALSE;
    Dpc->SystemArgument1 = SystemArgument1;
    Dpc->SystemArgument2 = SystemArgument2;
    dxgk_kernel_queue_dpc(k, Dpc);
    return TRUE;
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

static void first_timer_is_due(void *ctx)
{
    struct dxgk *d = ctx;
    PKTIMER t = timer_of(d->ntos.timers.Flink);

    clear_timer(d, t);
    t->Header.SignalState = 1;
    dxgk_kernel_wake_all(d->kernel, dxgk_ntos_waiters(&t->Header));
    if (t->Dpc)
        dxgk_kernel_queue_dpc(d->kernel, t->Dpc);
}

VOID NTAPI KeInitializeTimer(PKTIMER Timer)
{
    memset(Timer, 0, sizeof(*Timer));
}

BOOLEAN NTAPI KeCancelTimer(PKTIMER Timer)
{
    ENTER(KeCancelTimer);

    return clear_timer(dxgk_kernel_ctx(k), Timer);
}

BOOLEAN NTAPI KeSetTimer(PKTIMER Timer, LARGE_INTEGER DueTime, PKDPC Dpc)
{
    BOOLEAN was_set = KeCancelTimer(Timer);
    struct dxgk *d = OWNER();
    LIST_ENTRY *e = &Timer->TimerListEntry, *next = d->ntos.timers.Flink;

    Timer->Header.SignalState = 0;
    Timer->Dpc = Dpc;
    Timer->DueTime.QuadPart = dxgk_ntos_deadline(d->kernel, &DueTime);
    while (next != &d->ntos.timers && timer_of(next)->DueTime.QuadPart <= Timer->DueTime.QuadPart)
        next = next->Flink;
    *e = (LIST_ENTRY){next, next->Blink};
    e->Flink->Blink = e->Blink->Flink = e;
    arm_first_timer(d);
    return was_set;
}
