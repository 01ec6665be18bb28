/* SPDX-License-Identifier: MIT */
/* ntke.h: a part of ntddk.h, which says whence it comes: IRQL and spin locks, what threads wait for, time, DPCs and timers, threads
 * and work items.
 */
#pragma once

#include "wddm/excpt.h"
#include "wddm/ntdef.h"
#include "wddm/sal.h"

WDDM_C_BEGIN

/* ---- IRQL ---------------------------------------------------------------- */

#define PASSIVE_LEVEL  0
#define APC_LEVEL      1
#define DISPATCH_LEVEL 2
#define HIGH_LEVEL     15

typedef ULONG_PTR KSPIN_LOCK, *PKSPIN_LOCK;
typedef struct _DRIVER_OBJECT DRIVER_OBJECT, *PDRIVER_OBJECT;
typedef struct _DEVICE_OBJECT DEVICE_OBJECT, *PDEVICE_OBJECT;
typedef struct _IRP *PIRP;
struct _OBJECT_ATTRIBUTES;

/* On x64 the IRQL is the processor's CR8, and these are inline; on x86 hal.dll has them. */
#if defined(_WIN64)
static FORCEINLINE KIRQL KeGetCurrentIrql(VOID)
{
    ULONG64 irql;

    __asm__ volatile("mov %%cr8, %0" : "=r"(irql)::"memory");
    return (KIRQL)irql;
}
static FORCEINLINE VOID KeLowerIrql(KIRQL NewIrql)
{
    __asm__ volatile("mov %0, %%cr8" ::"r"((ULONG64)NewIrql) : "memory");
}
static FORCEINLINE KIRQL KfRaiseIrql(KIRQL NewIrql)
{
    KIRQL old = KeGetCurrentIrql();

    KeLowerIrql(NewIrql);
    return old;
}
#else
NTHALAPI KIRQL NTAPI KeGetCurrentIrql(VOID);
NTHALAPI KIRQL FASTCALL KfRaiseIrql(KIRQL NewIrql);
#if defined(_WIN32)
NTHALAPI VOID FASTCALL KfLowerIrql(KIRQL NewIrql);
#define KeLowerIrql(irql) KfLowerIrql(irql)
#else
NTKERNELAPI VOID NTAPI KeLowerIrql(KIRQL NewIrql);
#endif
#endif
#define KeRaiseIrql(new_irql, old_irql) (*(old_irql) = KfRaiseIrql(new_irql))

#if defined(_WIN32)
static FORCEINLINE VOID
KeInitializeSpinLock(PKSPIN_LOCK SpinLock) /* inline in the WDK, too: x64 exports none */
{
    *SpinLock = 0;
}
#else
NTKERNELAPI VOID NTAPI KeInitializeSpinLock(PKSPIN_LOCK SpinLock);
#endif
#if defined(_WIN32) && !defined(_WIN64)
NTHALAPI KIRQL FASTCALL KfAcquireSpinLock(PKSPIN_LOCK SpinLock);
NTHALAPI VOID FASTCALL KfReleaseSpinLock(PKSPIN_LOCK SpinLock, KIRQL NewIrql);
NTKERNELAPI VOID FASTCALL KefAcquireSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock);
NTKERNELAPI VOID FASTCALL KefReleaseSpinLockFromDpcLevel(PKSPIN_LOCK SpinLock);
#define KeAcquireSpinLockRaiseToDpc(lock)   KfAcquireSpinLock(lock)
#define KeReleaseSpinLock(lock, irql)       KfReleaseSpinLock(lock, irql)
#define KeAcquireSpinLockAtDpcLevel(lock)   KefAcquireSpinLockAtDpcLevel(lock)
#define KeReleaseSpinLockFromDpcLevel(lock) KefReleaseSpinLockFromDpcLevel(lock)
#else
NTKERNELAPI KIRQL NTAPI KeAcquireSpinLockRaiseToDpc(PKSPIN_LOCK SpinLock);
NTKERNELAPI VOID NTAPI KeReleaseSpinLock(PKSPIN_LOCK SpinLock, KIRQL NewIrql);
NTKERNELAPI VOID NTAPI KeAcquireSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock);
NTKERNELAPI VOID NTAPI KeReleaseSpinLockFromDpcLevel(PKSPIN_LOCK SpinLock);
#endif
#define KeAcquireSpinLock(lock, old_irql) (*(old_irql) = KeAcquireSpinLockRaiseToDpc(lock))

/* ---- waiting ------------------------------------------------------------- */

typedef enum _KWAIT_REASON {
    Executive = 0,
    FreePage,
    PageIn,
    PoolAllocation,
    DelayExecution,
    Suspended,
    UserRequest,
    WrExecutive,
    WrFreePage,
    WrPageIn,
    WrPoolAllocation,
    WrDelayExecution,
    WrSuspended,
    WrUserRequest,
    WrEventPair,
    WrQueue,
    WrLpcReceive,
    WrLpcReply,
    WrVirtualMemory,
    WrPageOut,
    WrRendezvous,
    WrKeyedEvent,
    WrTerminated,
    WrProcessInSwap,
    WrCpuRateControl,
    WrCalloutStack,
    WrKernel,
    WrResource,
    WrPushLock,
    WrMutex,
    WrQuantumEnd,
    WrDispatchInt,
    WrPreempted,
    WrYieldExecution,
    WrFastMutex,
    WrGuardedMutex,
    WrRundown,
    MaximumWaitReason
} KWAIT_REASON;
typedef enum _MODE { KernelMode = 0, UserMode = 1 } MODE;
typedef enum _EVENT_TYPE { NotificationEvent = 0, SynchronizationEvent = 1 } EVENT_TYPE;
typedef enum _WAIT_TYPE { WaitAll = 0, WaitAny = 1 } WAIT_TYPE;
typedef LONG KPRIORITY;

#define STATUS_WAIT_0        STATUS_SUCCESS
#define STATUS_WAIT_1        NT_STATUS_C(1)
#define STATUS_WAIT_2        NT_STATUS_C(2)
#define STATUS_WAIT_3        NT_STATUS_C(3)
#define THREAD_WAIT_OBJECTS  3 /* without an array of wait blocks */
#define MAXIMUM_WAIT_OBJECTS 64

typedef struct _DISPATCHER_HEADER {
    UCHAR Type;
    UCHAR Reserved[3];
    LONG SignalState;
    LIST_ENTRY WaitListHead;
} DISPATCHER_HEADER;

typedef struct _KEVENT {
    DISPATCHER_HEADER Header;
} KEVENT, *PKEVENT;

typedef struct _FAST_MUTEX {
    LONG Count;
    PVOID Owner;
    ULONG Contention;
    KEVENT Event;
    ULONG OldIrql;
} FAST_MUTEX, *PFAST_MUTEX;

NTKERNELAPI VOID NTAPI KeInitializeEvent(PKEVENT Event, EVENT_TYPE Type, BOOLEAN State);
NTKERNELAPI LONG NTAPI KeSetEvent(PKEVENT Event, KPRIORITY Increment, BOOLEAN Wait);
NTKERNELAPI LONG NTAPI KeResetEvent(PKEVENT Event);
NTKERNELAPI VOID NTAPI KeClearEvent(PKEVENT Event);
NTKERNELAPI LONG NTAPI KeReadStateEvent(PKEVENT Event);
NTKERNELAPI LONG NTAPI KePulseEvent(PKEVENT Event, KPRIORITY Increment, BOOLEAN Wait);

typedef struct _KSEMAPHORE {
    DISPATCHER_HEADER Header;
    LONG Limit;
} KSEMAPHORE, *PKSEMAPHORE, *PRKSEMAPHORE;

typedef struct _KMUTANT {
    DISPATCHER_HEADER Header;
    LIST_ENTRY MutantListEntry;
    PVOID OwnerThread;
    BOOLEAN Abandoned;
    UCHAR ApcDisable;
} KMUTANT, *PKMUTANT, *PRKMUTANT, KMUTEX, *PKMUTEX, *PRKMUTEX;

NTKERNELAPI VOID NTAPI KeInitializeSemaphore(PRKSEMAPHORE Semaphore, LONG Count, LONG Limit);
NTKERNELAPI LONG NTAPI KeReleaseSemaphore(PRKSEMAPHORE Semaphore, KPRIORITY Increment, LONG Adjustment,
                                          BOOLEAN Wait);
NTKERNELAPI LONG NTAPI KeReadStateSemaphore(PRKSEMAPHORE Semaphore);
NTKERNELAPI VOID NTAPI KeInitializeMutex(PRKMUTEX Mutex, ULONG Level);
NTKERNELAPI LONG NTAPI KeReleaseMutex(PRKMUTEX Mutex, BOOLEAN Wait);
NTKERNELAPI LONG NTAPI KeReadStateMutex(PRKMUTEX Mutex);
NTKERNELAPI NTSTATUS NTAPI KeWaitForSingleObject(PVOID Object, KWAIT_REASON WaitReason,
                                                 KPROCESSOR_MODE WaitMode, BOOLEAN Alertable,
                                                 PLARGE_INTEGER Timeout);
/* For what the kernel remembers of a wait; its contents are its own. */
typedef struct _KWAIT_BLOCK {
    LIST_ENTRY WaitListEntry;
    PVOID Reserved[4];
} KWAIT_BLOCK, *PKWAIT_BLOCK;

/* WaitAny: STATUS_WAIT_0 and the index of the object that ended the wait. */
NTKERNELAPI NTSTATUS NTAPI KeWaitForMultipleObjects(ULONG Count, PVOID Object[], WAIT_TYPE WaitType,
                                                    KWAIT_REASON WaitReason, KPROCESSOR_MODE WaitMode,
                                                    BOOLEAN Alertable, PLARGE_INTEGER Timeout,
                                                    PKWAIT_BLOCK WaitBlockArray);
NTKERNELAPI NTSTATUS NTAPI KeDelayExecutionThread(KPROCESSOR_MODE WaitMode, BOOLEAN Alertable,
                                                  PLARGE_INTEGER Interval);
NTHALAPI VOID NTAPI KeStallExecutionProcessor(ULONG MicroSeconds);

NTKERNELAPI VOID FASTCALL ExAcquireFastMutex(PFAST_MUTEX FastMutex);
NTKERNELAPI VOID FASTCALL ExReleaseFastMutex(PFAST_MUTEX FastMutex);
static FORCEINLINE VOID ExInitializeFastMutex(PFAST_MUTEX FastMutex)
{
    FastMutex->Count = 1;
    FastMutex->Owner = NULL;
    FastMutex->Contention = 0;
    KeInitializeEvent(&FastMutex->Event, SynchronizationEvent, FALSE);
}

/* ---- time ---------------------------------------------------------------- */

NTHALAPI LARGE_INTEGER NTAPI KeQueryPerformanceCounter(PLARGE_INTEGER PerformanceFrequency);
NTKERNELAPI ULONG NTAPI KeQueryTimeIncrement(VOID);
/* In 100 ns. On x64 Windows both are inline: they read the page that the kernel shares with everybody. */
#if defined(_WIN64)
static FORCEINLINE ULONGLONG KeQueryInterruptTime(VOID)
{
    return *(volatile ULONGLONG *)0xFFFFF78000000008;
}
static FORCEINLINE VOID KeQuerySystemTime(PLARGE_INTEGER CurrentTime)
{
    CurrentTime->QuadPart = *(volatile LONGLONG *)0xFFFFF78000000014;
}
/* In units of KeQueryTimeIncrement. */
static FORCEINLINE VOID KeQueryTickCount(PLARGE_INTEGER CurrentCount)
{
    CurrentCount->QuadPart = *(volatile LONGLONG *)0xFFFFF78000000320;
}
#else
NTKERNELAPI ULONGLONG NTAPI KeQueryInterruptTime(VOID);
NTKERNELAPI VOID NTAPI KeQuerySystemTime(PLARGE_INTEGER CurrentTime);
NTKERNELAPI VOID NTAPI KeQueryTickCount(PLARGE_INTEGER CurrentCount);
#endif

/* Of the processor that the caller runs on; `ProcNumber` (its group and number) may be NULL. */
typedef struct _PROCESSOR_NUMBER {
    USHORT Group;
    UCHAR Number;
    UCHAR Reserved;
} PROCESSOR_NUMBER, *PPROCESSOR_NUMBER;
NTKERNELAPI ULONG NTAPI KeGetCurrentProcessorNumberEx(PPROCESSOR_NUMBER ProcNumber);
#define KeGetCurrentProcessorNumber() KeGetCurrentProcessorNumberEx(NULL)

/* ---- DPCs, timers and work items ----------------------------------------- */

struct _KDPC;
typedef VOID NTAPI KDEFERRED_ROUTINE(struct _KDPC *Dpc, PVOID DeferredContext, PVOID SystemArgument1,
                                     PVOID SystemArgument2);
typedef KDEFERRED_ROUTINE *PKDEFERRED_ROUTINE;

typedef struct _KDPC {
    UCHAR Type;
    UCHAR Importance;
    USHORT Number;
    LIST_ENTRY DpcListEntry;
    PKDEFERRED_ROUTINE DeferredRoutine;
    PVOID DeferredContext;
    PVOID SystemArgument1;
    PVOID SystemArgument2;
    PVOID DpcData;
} KDPC, *PKDPC;

typedef struct _KTIMER {
    DISPATCHER_HEADER Header;
    ULARGE_INTEGER DueTime;
    LIST_ENTRY TimerListEntry;
    struct _KDPC *Dpc;
#if !defined(_WIN32) || defined(_WIN64)
    ULONG Processor;
#endif
    LONG Period;
} KTIMER, *PKTIMER;

NTKERNELAPI VOID NTAPI KeInitializeDpc(PKDPC Dpc, PKDEFERRED_ROUTINE DeferredRoutine, PVOID DeferredContext);
NTKERNELAPI BOOLEAN NTAPI KeInsertQueueDpc(PKDPC Dpc, PVOID SystemArgument1, PVOID SystemArgument2);
NTKERNELAPI VOID NTAPI KeFlushQueuedDpcs(VOID);
NTKERNELAPI VOID NTAPI KeInitializeTimer(PKTIMER Timer);
NTKERNELAPI BOOLEAN NTAPI KeSetTimer(PKTIMER Timer, LARGE_INTEGER DueTime, PKDPC Dpc);
NTKERNELAPI BOOLEAN NTAPI KeCancelTimer(PKTIMER Timer);

/* ---- threads ------------------------------------------------------------- */

#define THREAD_ALL_ACCESS 0x001FFFFF

typedef struct _CLIENT_ID {
    HANDLE UniqueProcess;
    HANDLE UniqueThread;
} CLIENT_ID, *PCLIENT_ID;

typedef VOID NTAPI KSTART_ROUTINE(PVOID StartContext);
typedef KSTART_ROUTINE *PKSTART_ROUTINE;

/* The handle is closed with ZwClose; whoever waits for the end takes a reference (ObReferenceObjectByHandle) and waits for that. */
NTKERNELAPI NTSTATUS NTAPI PsCreateSystemThread(PHANDLE ThreadHandle, ULONG DesiredAccess,
                                                struct _OBJECT_ATTRIBUTES *ObjectAttributes,
                                                HANDLE ProcessHandle, PCLIENT_ID ClientId,
                                                PKSTART_ROUTINE StartRoutine, PVOID StartContext);
/* Returns only to a thread that is none of these. */
NTKERNELAPI NTSTATUS NTAPI PsTerminateSystemThread(NTSTATUS ExitStatus);

typedef enum _WORK_QUEUE_TYPE {
    CriticalWorkQueue = 0,
    DelayedWorkQueue = 1,
    HyperCriticalWorkQueue = 2
} WORK_QUEUE_TYPE;

typedef VOID NTAPI WORKER_THREAD_ROUTINE(PVOID Parameter);
typedef WORKER_THREAD_ROUTINE *PWORKER_THREAD_ROUTINE;

typedef struct _WORK_QUEUE_ITEM {
    LIST_ENTRY List; /* Flink is NULL unless it is queued */
    PWORKER_THREAD_ROUTINE WorkerRoutine;
    PVOID Parameter;
} WORK_QUEUE_ITEM, *PWORK_QUEUE_ITEM;

#define ExInitializeWorkItem(item, routine, context)                                                         \
    ((item)->WorkerRoutine = (routine), (item)->Parameter = (context), (item)->List.Flink = NULL)
/* The routine may free the item, and queue it again. */
NTKERNELAPI VOID NTAPI ExQueueWorkItem(PWORK_QUEUE_ITEM WorkItem, WORK_QUEUE_TYPE QueueType);

typedef struct _IO_WORKITEM *PIO_WORKITEM;
typedef VOID NTAPI IO_WORKITEM_ROUTINE(PDEVICE_OBJECT DeviceObject, PVOID Context);
typedef IO_WORKITEM_ROUTINE *PIO_WORKITEM_ROUTINE;

NTKERNELAPI PIO_WORKITEM NTAPI IoAllocateWorkItem(PDEVICE_OBJECT DeviceObject);
/* The driver is not unloaded before the routine has returned. */
NTKERNELAPI VOID NTAPI IoQueueWorkItem(PIO_WORKITEM IoWorkItem, PIO_WORKITEM_ROUTINE WorkerRoutine,
                                       WORK_QUEUE_TYPE QueueType, PVOID Context);
NTKERNELAPI VOID NTAPI IoFreeWorkItem(PIO_WORKITEM IoWorkItem);

WDDM_SIZE(KEVENT, 24);
WDDM_SIZE(FAST_MUTEX, 56);
WDDM_SIZE(KDPC, 64);
WDDM_SIZE(KTIMER, 64);
WDDM_SIZE(WORK_QUEUE_ITEM, 32);
WDDM_SIZE(KWAIT_BLOCK, 48);

WDDM_C_END
