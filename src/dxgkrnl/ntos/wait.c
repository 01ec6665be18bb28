/* SPDX-License-Identifier: MIT */
/* wait.c: what threads of a miniport wait for. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"

#include <string.h>
#include <time.h>

VOID NTAPI KeInitializeEvent(PKEVENT Event, EVENT_TYPE Type, BOOLEAN State)
{
    memset(Event, 0, sizeof(*Event));
    Event->Header.Type = (UCHAR)Type;
    Event->Header.SignalState = State;
}

LONG NTAPI KeSetEvent(PKEVENT Event, KPRIORITY Increment, BOOLEAN Wait)
{
    LONG old = Event->Header.SignalState;
    ENTER(KeSetEvent);

    UNREFERENCED_PARAMETER(Increment);
    UNREFERENCED_PARAMETER(Wait);
    Event->Header.SignalState = 1;
    dxgk_kernel_wake_all(k, dxgk_ntos_waiters(&Event->Header));
    return old;
}

LONG NTAPI KeResetEvent(PKEVENT Event)
{
    LONG old = Event->Header.SignalState;
    ENTER(KeResetEvent);

    Event->Header.SignalState = 0;
    return old;
}

VOID NTAPI KeClearEvent(PKEVENT Event)
{
    ENTER(KeClearEvent);
    Event->Header.SignalState = 0;
}

LONG NTAPI KeReadStateEvent(PKEVENT Event)
{
    ENTER(KeReadStateEvent);
    return Event->Header.SignalState;
}

uint64_t dxgk_ntos_deadline(struct kernel *k, const LARGE_INTEGER *t)
{
    if (!t)
        return LOOP_FOREVER;
    return t->QuadPart < 0 ? dxgk_kernel_now(k) + (uint64_t)-t->QuadPart * 100 : (uint64_t)t->QuadPart * 100;
}

NTSTATUS NTAPI KeWaitForSingleObject(PVOID Object, KWAIT_REASON WaitReason, KPROCESSOR_MODE WaitMode,
                                     BOOLEAN Alertable, PLARGE_INTEGER Timeout)
{
    DISPATCHER_HEADER *h = Object;
    struct kernel *k = SELF();
    uint64_t until = dxgk_ntos_deadline(k, Timeout);
    bool poll = Timeout && !Timeout->QuadPart;

    UNREFERENCED_PARAMETER(WaitReason);
    UNREFERENCED_PARAMETER(WaitMode);
    UNREFERENCED_PARAMETER(Alertable);
    if (!dxgk_kernel_check(k, "KeWaitForSingleObject", poll ? LIMIT_KeWaitForSingleObject : APC_LEVEL))
        return STATUS_UNSUCCESSFUL;
    while (!h->SignalState) {
        if (poll || !dxgk_kernel_wait(k, dxgk_ntos_waiters(h), until))
            return STATUS_TIMEOUT;
    }
    if (h->Type == SynchronizationEvent)
        h->SignalState = 0;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI KeDelayExecutionThread(KPROCESSOR_MODE WaitMode, BOOLEAN Alertable, PLARGE_INTEGER Interval)
{
    struct kernel *k = SELF();

    UNREFERENCED_PARAMETER(WaitMode);
    UNREFERENCED_PARAMETER(Alertable);
    if (dxgk_kernel_check(k, "KeDelayExecutionThread", LIMIT_KeDelayExecutionThread))
        dxgk_kernel_park(k, dxgk_ntos_deadline(k, Interval), "KeDelayExecutionThread");
    return STATUS_SUCCESS;
}

/* Busy waiting holds the processor. In virtual time it is the clock that moves. */
VOID NTAPI KeStallExecutionProcessor(ULONG MicroSeconds)
{
    struct dxgk *d = OWNER();
    struct timespec ts = {.tv_sec = MicroSeconds / 1000000, .tv_nsec = MicroSeconds % 1000000 * 1000};

    if (d->clock->is_virtual)
        clock_advance_to(d->clock, clock_now(d->clock) + MicroSeconds * NSEC_PER_USEC);
    else
        nanosleep(&ts, NULL);
}

VOID NTAPI ExAcquireFastMutex(PFAST_MUTEX FastMutex)
{
    struct kernel *k = SELF();

    if (!dxgk_kernel_check(k, "ExAcquireFastMutex", LIMIT_ExAcquireFastMutex))
        return;
    if (FastMutex->Owner == dxgk_kernel_thread(k))
        dxgk_kernel_violation(k, "ExAcquireFastMutex of a mutex that the thread owns: a deadlock");
    while (FastMutex->Owner)
        dxgk_kernel_wait(k, dxgk_ntos_waiters(&FastMutex->Event.Header), LOOP_FOREVER);
    FastMutex->Owner = dxgk_kernel_thread(k);
    FastMutex->Count = 0;
    FastMutex->OldIrql = dxgk_kernel_irql(k);
    if (dxgk_kernel_irql(k) < APC_LEVEL)
        dxgk_kernel_raise(k, APC_LEVEL);
}

VOID NTAPI ExReleaseFastMutex(PFAST_MUTEX FastMutex)
{
    struct kernel *k = SELF();

    if (FastMutex->Owner != dxgk_kernel_thread(k))
        dxgk_kernel_violation(k, "ExReleaseFastMutex by a thread that does not own the mutex");
    if (dxgk_kernel_irql(k) != APC_LEVEL)
        dxgk_kernel_violation(k, "ExReleaseFastMutex called at IRQL %d, must be APC_LEVEL",
                              dxgk_kernel_irql(k));
    FastMutex->Owner = NULL;
    FastMutex->Count = 1;
    dxgk_kernel_wake_all(k, dxgk_ntos_waiters(&FastMutex->Event.Header));
    dxgk_kernel_lower(k, (KIRQL)FastMutex->OldIrql);
}
