/* SPDX-License-Identifier: MIT */
/* ntddk.h: the kernel routines and types that a WDDM 1.1 display miniport may use.
 *
 * Names, parameters and IRQL rules: the WDK's public documentation of wdm.h and ntddk.h. Against Windows the
 * routines are imported from ntoskrnl and hal; elsewhere the user-space kernel (src/dxgkrnl) exports them,
 * and each checks the IRQL that its documentation demands. Objects that the WDK documents as opaque have
 * their documented size and are opaque here too.
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

/* ---- lists --------------------------------------------------------------- */

static FORCEINLINE VOID InitializeListHead(PLIST_ENTRY ListHead)
{
    ListHead->Flink = ListHead->Blink = ListHead;
}
#define IsListEmpty(head) ((BOOLEAN)((head)->Flink == (head)))
/* Whether the list is empty now. */
static FORCEINLINE BOOLEAN RemoveEntryList(PLIST_ENTRY Entry)
{
    Entry->Blink->Flink = Entry->Flink;
    Entry->Flink->Blink = Entry->Blink;
    return Entry->Flink == Entry->Blink;
}
static FORCEINLINE PLIST_ENTRY RemoveHeadList(PLIST_ENTRY ListHead)
{
    PLIST_ENTRY e = ListHead->Flink;

    RemoveEntryList(e);
    return e;
}
static FORCEINLINE PLIST_ENTRY RemoveTailList(PLIST_ENTRY ListHead)
{
    PLIST_ENTRY e = ListHead->Blink;

    RemoveEntryList(e);
    return e;
}
static FORCEINLINE VOID InsertHeadList(PLIST_ENTRY ListHead, PLIST_ENTRY Entry)
{
    Entry->Flink = ListHead->Flink;
    Entry->Blink = ListHead;
    ListHead->Flink->Blink = Entry;
    ListHead->Flink = Entry;
}
static FORCEINLINE VOID InsertTailList(PLIST_ENTRY ListHead, PLIST_ENTRY Entry)
{
    InsertHeadList(ListHead->Blink, Entry);
}

/* The same under a spin lock that the routine takes; NULL stands for an empty list. */
NTKERNELAPI LARGE_INTEGER NTAPI ExInterlockedAddLargeInteger(PLARGE_INTEGER Addend, LARGE_INTEGER Increment,
                                                             PKSPIN_LOCK Lock);
NTKERNELAPI ULONG FASTCALL ExInterlockedAddUlong(PULONG Addend, ULONG Increment, PKSPIN_LOCK Lock);
NTKERNELAPI PLIST_ENTRY FASTCALL ExInterlockedInsertHeadList(PLIST_ENTRY ListHead, PLIST_ENTRY ListEntry,
                                                             PKSPIN_LOCK Lock);
NTKERNELAPI PLIST_ENTRY FASTCALL ExInterlockedInsertTailList(PLIST_ENTRY ListHead, PLIST_ENTRY ListEntry,
                                                             PKSPIN_LOCK Lock);
NTKERNELAPI PLIST_ENTRY FASTCALL ExInterlockedRemoveHeadList(PLIST_ENTRY ListHead, PKSPIN_LOCK Lock);

typedef struct DECLSPEC_ALIGN(2 * sizeof(PVOID)) _SLIST_ENTRY {
    struct _SLIST_ENTRY *Next;
} SLIST_ENTRY, *PSLIST_ENTRY;

/* Its contents are the kernel's. */
typedef struct DECLSPEC_ALIGN(2 * sizeof(PVOID)) _SLIST_HEADER {
    ULONG_PTR Alignment;
    ULONG_PTR Region;
} SLIST_HEADER, *PSLIST_HEADER;

NTKERNELAPI VOID NTAPI InitializeSListHead(PSLIST_HEADER SListHead);
NTKERNELAPI USHORT NTAPI ExQueryDepthSList(PSLIST_HEADER SListHead);
NTKERNELAPI PSLIST_ENTRY NTAPI ExpInterlockedPopEntrySList(PSLIST_HEADER ListHead);
NTKERNELAPI PSLIST_ENTRY NTAPI ExpInterlockedPushEntrySList(PSLIST_HEADER ListHead, PSLIST_ENTRY ListEntry);
NTKERNELAPI PSLIST_ENTRY NTAPI ExpInterlockedFlushSList(PSLIST_HEADER ListHead);
#define ExInitializeSListHead(head)                   InitializeSListHead(head)
#define InterlockedPopEntrySList(head)                ExpInterlockedPopEntrySList(head)
#define InterlockedPushEntrySList(head, entry)        ExpInterlockedPushEntrySList(head, entry)
#define ExInterlockedPopEntrySList(head, lock)        ExpInterlockedPopEntrySList(head)
#define ExInterlockedPushEntrySList(head, entry, lck) ExpInterlockedPushEntrySList(head, entry)
#define ExInterlockedFlushSList(head)                 ExpInterlockedFlushSList(head)

/* ---- memory -------------------------------------------------------------- */

typedef enum _POOL_TYPE {
    NonPagedPool = 0,
    PagedPool,
    NonPagedPoolMustSucceed,
    DontUseThisType,
    NonPagedPoolCacheAligned,
    PagedPoolCacheAligned,
    NonPagedPoolCacheAlignedMustS,
    MaxPoolType,
    NonPagedPoolSession = 32,
    PagedPoolSession,
    NonPagedPoolMustSucceedSession,
    DontUseThisTypeSession,
    NonPagedPoolCacheAlignedSession,
    PagedPoolCacheAlignedSession,
    NonPagedPoolCacheAlignedMustSSession,
#if defined(NTDDI_VERSION) && NTDDI_VERSION >= 0x06020000 /* Windows 8 */
    NonPagedPoolNx = 512,
    NonPagedPoolNxCacheAligned = 516,
#endif
} POOL_TYPE;

/* In a POOL_TYPE, beside the type. */
#define POOL_QUOTA_FAIL_INSTEAD_OF_RAISE 8
#define POOL_RAISE_IF_ALLOCATION_FAILURE 16
#define POOL_COLD_ALLOCATION             256

typedef enum _MEMORY_CACHING_TYPE { MmNonCached = 0, MmCached = 1, MmWriteCombined = 2 } MEMORY_CACHING_TYPE;

typedef ULONG_PTR PFN_NUMBER, *PPFN_NUMBER;

#define PAGE_SIZE  0x1000
#define PAGE_SHIFT 12

/* The page numbers follow the header, as the WDK documents for MmGetMdlPfnArray. */
typedef struct _MDL {
    struct _MDL *Next;
    SHORT Size;
    SHORT MdlFlags;
    struct _EPROCESS *Process;
    PVOID MappedSystemVa;
    PVOID StartVa;
    ULONG ByteCount;
    ULONG ByteOffset;
} MDL, *PMDL;

#define MDL_MAPPED_TO_SYSTEM_VA     0x0001
#define MDL_PAGES_LOCKED            0x0002
#define MDL_SOURCE_IS_NONPAGED_POOL 0x0004

#define MmGetMdlPfnArray(mdl)       ((PPFN_NUMBER)((mdl) + 1))
#define MmGetMdlByteCount(mdl)      ((mdl)->ByteCount)
#define MmGetMdlByteOffset(mdl)     ((mdl)->ByteOffset)
#define MmGetMdlVirtualAddress(mdl) ((PVOID)((PCHAR)(mdl)->StartVa + (mdl)->ByteOffset))

NTKERNELAPI PVOID NTAPI ExAllocatePoolWithTag(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag);
NTKERNELAPI VOID NTAPI ExFreePoolWithTag(PVOID P, ULONG Tag);
NTKERNELAPI VOID NTAPI ExFreePool(PVOID P);
#define ExAllocatePool(type, size) ExAllocatePoolWithTag(type, size, 0x656E6F4E) /* None */
/* Of Windows 10, for drivers that only display: they may be of any later version. The memory is zeroed. */
typedef ULONGLONG POOL_FLAGS;
#define POOL_FLAG_UNINITIALIZED 0x0000000000000002ull
#define POOL_FLAG_NON_PAGED     0x0000000000000040ull
#define POOL_FLAG_PAGED         0x0000000000000100ull
NTKERNELAPI PVOID NTAPI ExAllocatePool2(POOL_FLAGS Flags, SIZE_T NumberOfBytes, ULONG Tag);

typedef PVOID NTAPI ALLOCATE_FUNCTION(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag);
typedef ALLOCATE_FUNCTION *PALLOCATE_FUNCTION;
typedef VOID NTAPI FREE_FUNCTION(PVOID Buffer);
typedef FREE_FUNCTION *PFREE_FUNCTION;

/* Blocks of one size; those that were freed wait here to be allocated again. */
typedef struct DECLSPEC_CACHEALIGN _GENERAL_LOOKASIDE {
    SLIST_HEADER ListHead;
    USHORT Depth, MaximumDepth;
    ULONG TotalAllocates, AllocateMisses, TotalFrees, FreeMisses;
    POOL_TYPE Type;
    ULONG Tag, Size;
    PALLOCATE_FUNCTION Allocate;
    PFREE_FUNCTION Free;
    LIST_ENTRY ListEntry;
    ULONG LastTotalAllocates, LastAllocateMisses;
    ULONG Future[2];
} GENERAL_LOOKASIDE, *PGENERAL_LOOKASIDE;
typedef struct _NPAGED_LOOKASIDE_LIST {
    GENERAL_LOOKASIDE L;
} NPAGED_LOOKASIDE_LIST, *PNPAGED_LOOKASIDE_LIST;
typedef struct _PAGED_LOOKASIDE_LIST {
    GENERAL_LOOKASIDE L;
} PAGED_LOOKASIDE_LIST, *PPAGED_LOOKASIDE_LIST;

/* NULL for the routines: ExAllocatePoolWithTag and ExFreePool. Flags and Depth: 0. */
NTKERNELAPI VOID NTAPI ExInitializeNPagedLookasideList(PNPAGED_LOOKASIDE_LIST Lookaside,
                                                       PALLOCATE_FUNCTION Allocate, PFREE_FUNCTION Free,
                                                       ULONG Flags, SIZE_T Size, ULONG Tag, USHORT Depth);
NTKERNELAPI VOID NTAPI ExDeleteNPagedLookasideList(PNPAGED_LOOKASIDE_LIST Lookaside);
NTKERNELAPI VOID NTAPI ExInitializePagedLookasideList(PPAGED_LOOKASIDE_LIST Lookaside,
                                                      PALLOCATE_FUNCTION Allocate, PFREE_FUNCTION Free,
                                                      ULONG Flags, SIZE_T Size, ULONG Tag, USHORT Depth);
NTKERNELAPI VOID NTAPI ExDeletePagedLookasideList(PPAGED_LOOKASIDE_LIST Lookaside);

/* Inline on x64 Windows, too. */
static FORCEINLINE PVOID wddm_lookaside_allocate(PGENERAL_LOOKASIDE list)
{
    PVOID block = ExpInterlockedPopEntrySList(&list->ListHead);

    list->TotalAllocates++;
    if (!block) {
        list->AllocateMisses++;
        block = list->Allocate(list->Type, list->Size, list->Tag);
    }
    return block;
}
static FORCEINLINE VOID wddm_lookaside_free(PGENERAL_LOOKASIDE list, PVOID block)
{
    list->TotalFrees++;
    if (ExQueryDepthSList(&list->ListHead) >= list->Depth) {
        list->FreeMisses++;
        list->Free(block);
    } else {
        ExpInterlockedPushEntrySList(&list->ListHead, (PSLIST_ENTRY)block);
    }
}
#define ExAllocateFromNPagedLookasideList(list)  wddm_lookaside_allocate(&(list)->L)
#define ExFreeToNPagedLookasideList(list, block) wddm_lookaside_free(&(list)->L, block)
#define ExAllocateFromPagedLookasideList(list)   wddm_lookaside_allocate(&(list)->L)
#define ExFreeToPagedLookasideList(list, block)  wddm_lookaside_free(&(list)->L, block)

NTKERNELAPI PVOID NTAPI MmAllocateContiguousMemory(SIZE_T NumberOfBytes,
                                                   PHYSICAL_ADDRESS HighestAcceptableAddress);
NTKERNELAPI PVOID NTAPI MmAllocateContiguousMemorySpecifyCache(SIZE_T NumberOfBytes,
                                                               PHYSICAL_ADDRESS LowestAcceptableAddress,
                                                               PHYSICAL_ADDRESS HighestAcceptableAddress,
                                                               PHYSICAL_ADDRESS BoundaryAddressMultiple,
                                                               MEMORY_CACHING_TYPE CacheType);
NTKERNELAPI VOID NTAPI MmFreeContiguousMemory(PVOID BaseAddress);
NTKERNELAPI VOID NTAPI MmFreeContiguousMemorySpecifyCache(PVOID BaseAddress, SIZE_T NumberOfBytes,
                                                          MEMORY_CACHING_TYPE CacheType);
NTKERNELAPI PHYSICAL_ADDRESS NTAPI MmGetPhysicalAddress(PVOID BaseAddress);
NTKERNELAPI PVOID NTAPI MmGetVirtualForPhysical(PHYSICAL_ADDRESS PhysicalAddress);
NTKERNELAPI PVOID NTAPI MmMapIoSpace(PHYSICAL_ADDRESS PhysicalAddress, SIZE_T NumberOfBytes,
                                     MEMORY_CACHING_TYPE CacheType);
/* Of Windows 10; Protect is of PAGE_*. */
NTKERNELAPI PVOID NTAPI MmMapIoSpaceEx(PHYSICAL_ADDRESS PhysicalAddress, SIZE_T NumberOfBytes, ULONG Protect);
NTKERNELAPI VOID NTAPI MmUnmapIoSpace(PVOID BaseAddress, SIZE_T NumberOfBytes);
#define MM_USER_PROBE_ADDRESS ((ULONG_PTR)0x00007FFFFFFF0000ull) /* x64: what is below belongs to a process */

/* An MDL describes the pages under a range of virtual memory. Its life: allocated; its pages known (locked, or of nonpaged pool);
 * mapped; and back. */
typedef enum _LOCK_OPERATION { IoReadAccess = 0, IoWriteAccess = 1, IoModifyAccess = 2 } LOCK_OPERATION;
typedef enum _MM_PAGE_PRIORITY {
    LowPagePriority = 0,
    NormalPagePriority = 16,
    HighPagePriority = 32
} MM_PAGE_PRIORITY;
#if defined(NTDDI_VERSION) && NTDDI_VERSION >= 0x06020000 /* Windows 8 */
#define MdlMappingNoWrite   0x80000000
#define MdlMappingNoExecute 0x40000000
#endif

NTKERNELAPI PMDL NTAPI IoAllocateMdl(PVOID VirtualAddress, ULONG Length, BOOLEAN SecondaryBuffer,
                                     BOOLEAN ChargeQuota, PIRP Irp);
NTKERNELAPI VOID NTAPI IoFreeMdl(PMDL Mdl);
NTKERNELAPI VOID NTAPI MmBuildMdlForNonPagedPool(PMDL MemoryDescriptorList);
/* Raises an exception where the memory cannot be accessed so. */
NTKERNELAPI VOID NTAPI MmProbeAndLockPages(PMDL MemoryDescriptorList, KPROCESSOR_MODE AccessMode,
                                           LOCK_OPERATION Operation);
NTKERNELAPI VOID NTAPI MmUnlockPages(PMDL MemoryDescriptorList);
/* Contiguous, in the order of the MDL; NULL: no room for it. */
NTKERNELAPI PVOID NTAPI MmMapLockedPagesSpecifyCache(PMDL MemoryDescriptorList, KPROCESSOR_MODE AccessMode,
                                                     MEMORY_CACHING_TYPE CacheType, PVOID BaseAddress,
                                                     ULONG BugCheckOnFailure, MM_PAGE_PRIORITY Priority);
NTKERNELAPI VOID NTAPI MmUnmapLockedPages(PVOID BaseAddress, PMDL MemoryDescriptorList);
static FORCEINLINE PVOID MmGetSystemAddressForMdlSafe(PMDL Mdl, ULONG Priority)
{
    if (Mdl->MdlFlags & (MDL_MAPPED_TO_SYSTEM_VA | MDL_SOURCE_IS_NONPAGED_POOL))
        return Mdl->MappedSystemVa;
    return MmMapLockedPagesSpecifyCache(Mdl, KernelMode, MmCached, NULL, FALSE, (MM_PAGE_PRIORITY)Priority);
}
#define ADDRESS_AND_SIZE_TO_SPAN_PAGES(va, size)                                                             \
    ((ULONG)((((ULONG_PTR)(va) & (PAGE_SIZE - 1)) + (size) + (PAGE_SIZE - 1)) >> PAGE_SHIFT))
#define BYTE_OFFSET(va)                            ((ULONG)((ULONG_PTR)(va) & (PAGE_SIZE - 1)))
#define PAGE_ALIGN(va)                             ((PVOID)((ULONG_PTR)(va) & ~(ULONG_PTR)(PAGE_SIZE - 1)))
#define BYTES_TO_PAGES(size)                       (((size) >> PAGE_SHIFT) + (((size) & (PAGE_SIZE - 1)) != 0))
#define ROUND_TO_PAGES(size)                       (((ULONG_PTR)(size) + PAGE_SIZE - 1) & ~(ULONG_PTR)(PAGE_SIZE - 1))
#define KeFlushIoBuffers(mdl, read_operation, dma) /* caches are coherent on x86 and x64 */

#define PAGE_READONLY     0x002
#define PAGE_READWRITE    0x004
#define PAGE_NOCACHE      0x200
#define PAGE_WRITECOMBINE 0x400
NTKERNELAPI HANDLE NTAPI MmSecureVirtualMemory(PVOID Address, SIZE_T Size, ULONG ProbeMode);
NTKERNELAPI VOID NTAPI MmUnsecureVirtualMemory(HANDLE SecureHandle);

typedef struct _PHYSICAL_MEMORY_RANGE {
    PHYSICAL_ADDRESS BaseAddress;
    LARGE_INTEGER NumberOfBytes;
} PHYSICAL_MEMORY_RANGE, *PPHYSICAL_MEMORY_RANGE;

/* An array that ends with an entry of zeroes; the caller frees it with ExFreePool. */
NTKERNELAPI PPHYSICAL_MEMORY_RANGE NTAPI MmGetPhysicalMemoryRanges(VOID);

/* ---- device registers: only through these, for outside Windows a mapped register is not memory ---- */

#if defined(_WIN32)
static FORCEINLINE UCHAR READ_REGISTER_UCHAR(volatile UCHAR *Register)
{
    return *Register;
}
static FORCEINLINE ULONG READ_REGISTER_ULONG(volatile ULONG *Register)
{
    return *Register;
}
static FORCEINLINE VOID WRITE_REGISTER_UCHAR(volatile UCHAR *Register, UCHAR Value)
{
    *Register = Value;
    __sync_synchronize();
}
static FORCEINLINE VOID WRITE_REGISTER_ULONG(volatile ULONG *Register, ULONG Value)
{
    *Register = Value;
    __sync_synchronize();
}
#else
NTHALAPI UCHAR NTAPI READ_REGISTER_UCHAR(volatile UCHAR *Register);
NTHALAPI ULONG NTAPI READ_REGISTER_ULONG(volatile ULONG *Register);
NTHALAPI VOID NTAPI WRITE_REGISTER_UCHAR(volatile UCHAR *Register, UCHAR Value);
NTHALAPI VOID NTAPI WRITE_REGISTER_ULONG(volatile ULONG *Register, ULONG Value);
#endif

static FORCEINLINE VOID KeMemoryBarrier(VOID)
{
    __sync_synchronize();
}
static FORCEINLINE LONG InterlockedIncrement(volatile LONG *Addend)
{
    return __sync_add_and_fetch(Addend, 1);
}
static FORCEINLINE LONG InterlockedDecrement(volatile LONG *Addend)
{
    return __sync_sub_and_fetch(Addend, 1);
}
static FORCEINLINE LONG InterlockedExchange(volatile LONG *Target, LONG Value)
{
    return __atomic_exchange_n(Target, Value, __ATOMIC_SEQ_CST);
}
static FORCEINLINE LONG InterlockedCompareExchange(volatile LONG *Destination, LONG Exchange, LONG Comperand)
{
    return __sync_val_compare_and_swap(Destination, Comperand, Exchange);
}
static FORCEINLINE LONGLONG InterlockedIncrement64(volatile LONGLONG *Addend)
{
    return __sync_add_and_fetch(Addend, 1);
}
static FORCEINLINE LONGLONG InterlockedCompareExchange64(volatile LONGLONG *Destination, LONGLONG Exchange,
                                                         LONGLONG Comperand)
{
    return __sync_val_compare_and_swap(Destination, Comperand, Exchange);
}
static FORCEINLINE LONG InterlockedAdd(volatile LONG *Addend, LONG Value)
{
    return __sync_add_and_fetch(Addend, Value);
}
static FORCEINLINE LONG InterlockedExchangeAdd(volatile LONG *Addend, LONG Value)
{
    return __sync_fetch_and_add(Addend, Value);
}
static FORCEINLINE LONG InterlockedAnd(volatile LONG *Destination, LONG Value)
{
    return __sync_fetch_and_and(Destination, Value);
}
static FORCEINLINE LONG InterlockedOr(volatile LONG *Destination, LONG Value)
{
    return __sync_fetch_and_or(Destination, Value);
}
static FORCEINLINE LONGLONG InterlockedAdd64(volatile LONGLONG *Addend, LONGLONG Value)
{
    return __sync_add_and_fetch(Addend, Value);
}
static FORCEINLINE LONGLONG InterlockedDecrement64(volatile LONGLONG *Addend)
{
    return __sync_sub_and_fetch(Addend, 1);
}
static FORCEINLINE LONGLONG InterlockedExchangeAdd64(volatile LONGLONG *Addend, LONGLONG Value)
{
    return __sync_fetch_and_add(Addend, Value);
}
static FORCEINLINE PVOID InterlockedExchangePointer(PVOID volatile *Target, PVOID Value)
{
    return __atomic_exchange_n(Target, Value, __ATOMIC_SEQ_CST);
}
static FORCEINLINE PVOID InterlockedCompareExchangePointer(PVOID volatile *Destination, PVOID Exchange,
                                                           PVOID Comperand)
{
    return __sync_val_compare_and_swap(Destination, Comperand, Exchange);
}
static FORCEINLINE ULONG ReadULongAcquire(const volatile ULONG *Source)
{
    return __atomic_load_n(Source, __ATOMIC_ACQUIRE);
}
static FORCEINLINE ULONG64 ReadULong64Acquire(const volatile ULONG64 *Source)
{
#if UINTPTR_MAX > UINT32_MAX
    return __atomic_load_n(Source, __ATOMIC_ACQUIRE);
#else
    return (ULONG64)InterlockedCompareExchange64((volatile LONGLONG *)Source, 0, 0);
#endif
}
static FORCEINLINE LONGLONG InterlockedExchange64(volatile LONGLONG *Target, LONGLONG Value)
{
    LONGLONG old; /* x86 has no exchange of 64 bits */

    do
        old = *Target;
    while (InterlockedCompareExchange64(Target, Value, old) != old);
    return old;
}

/* ---- resources, as the PnP manager hands them out ------------------------ */

typedef enum _INTERFACE_TYPE { InterfaceTypeUndefined = -1, PCIBus = 5 } INTERFACE_TYPE;

#define CmResourceTypeNull           0
#define CmResourceTypePort           1
#define CmResourceTypeInterrupt      2
#define CmResourceTypeMemory         3
#define CmResourceTypeDma            4
#define CmResourceTypeDeviceSpecific 5
#define CmResourceTypeBusNumber      6
#define CmResourceTypeMemoryLarge    7

#define CM_RESOURCE_PORT_MEMORY               0x0000
#define CM_RESOURCE_PORT_IO                   0x0001
#define CM_RESOURCE_INTERRUPT_LEVEL_SENSITIVE 0x0000
#define CM_RESOURCE_INTERRUPT_LATCHED         0x0001
#define CM_RESOURCE_INTERRUPT_MESSAGE         0x0002
#define CM_RESOURCE_MEMORY_READ_WRITE         0x0000
#define CM_RESOURCE_MEMORY_PREFETCHABLE       0x0004
#define CM_RESOURCE_MEMORY_LARGE_40           0x0200 /* Length40 is in units of 256 bytes, */
#define CM_RESOURCE_MEMORY_LARGE_48           0x0400 /* Length48 in 64 KiB, */
#define CM_RESOURCE_MEMORY_LARGE_64           0x0800 /* Length64 in 4 GiB */

#pragma pack(push, 4)
typedef struct _CM_PARTIAL_RESOURCE_DESCRIPTOR {
    UCHAR Type;
    UCHAR ShareDisposition;
    USHORT Flags;
    union {
        struct {
            PHYSICAL_ADDRESS Start;
            ULONG Length;
        } Generic;
        struct {
            PHYSICAL_ADDRESS Start;
            ULONG Length;
        } Port;
        struct {
            ULONG Level;
            ULONG Vector;
            KAFFINITY Affinity;
        } Interrupt;
        struct { /* with CM_RESOURCE_INTERRUPT_MESSAGE */
            union {
                struct {
                    USHORT Reserved;
                    USHORT MessageCount;
                    ULONG Vector;
                    KAFFINITY Affinity;
                } Raw;
                struct {
                    ULONG Level;
                    ULONG Vector;
                    KAFFINITY Affinity;
                } Translated;
            };
        } MessageInterrupt;
        struct {
            PHYSICAL_ADDRESS Start;
            ULONG Length;
        } Memory;
        struct {
            PHYSICAL_ADDRESS Start;
            ULONG Length40;
        } Memory40;
        struct {
            PHYSICAL_ADDRESS Start;
            ULONG Length48;
        } Memory48;
        struct {
            PHYSICAL_ADDRESS Start;
            ULONG Length64;
        } Memory64;
    } u;
} CM_PARTIAL_RESOURCE_DESCRIPTOR, *PCM_PARTIAL_RESOURCE_DESCRIPTOR;

typedef struct _CM_PARTIAL_RESOURCE_LIST {
    USHORT Version;
    USHORT Revision;
    ULONG Count;
    CM_PARTIAL_RESOURCE_DESCRIPTOR PartialDescriptors[1];
} CM_PARTIAL_RESOURCE_LIST, *PCM_PARTIAL_RESOURCE_LIST;

typedef struct _CM_FULL_RESOURCE_DESCRIPTOR {
    INTERFACE_TYPE InterfaceType;
    ULONG BusNumber;
    CM_PARTIAL_RESOURCE_LIST PartialResourceList;
} CM_FULL_RESOURCE_DESCRIPTOR, *PCM_FULL_RESOURCE_DESCRIPTOR;

typedef struct _CM_RESOURCE_LIST {
    ULONG Count;
    CM_FULL_RESOURCE_DESCRIPTOR List[1];
} CM_RESOURCE_LIST, *PCM_RESOURCE_LIST;
#pragma pack(pop)

/* ---- objects, registry, security ----------------------------------------- */

typedef struct _EPROCESS *PEPROCESS;
typedef struct _OBJECT_TYPE *POBJECT_TYPE;
typedef struct _FILE_OBJECT *PFILE_OBJECT;
typedef PVOID PACCESS_TOKEN;
typedef struct _OBJECT_HANDLE_INFORMATION *POBJECT_HANDLE_INFORMATION;

typedef enum _SECTION_INFORMATION_CLASS { SectionBasicInformation = 0 } SECTION_INFORMATION_CLASS;

typedef struct _SECTION_BASIC_INFORMATION {
    PVOID BaseAddress;
    ULONG AllocationAttributes;
    LARGE_INTEGER MaximumSize;
} SECTION_BASIC_INFORMATION;

/* STATUS_OBJECT_TYPE_MISMATCH for what is no section. */
NTSYSAPI NTSTATUS NTAPI ZwQuerySection(HANDLE SectionHandle,
                                       SECTION_INFORMATION_CLASS SectionInformationClass,
                                       PVOID SectionInformation, SIZE_T Length, PSIZE_T ResultLength);
NTKERNELAPI NTSTATUS NTAPI ObReferenceObjectByHandle(HANDLE Handle, ACCESS_MASK DesiredAccess,
                                                     POBJECT_TYPE ObjectType, KPROCESSOR_MODE AccessMode,
                                                     PVOID *Object,
                                                     POBJECT_HANDLE_INFORMATION HandleInformation);
NTKERNELAPI LONG_PTR FASTCALL ObfDereferenceObject(PVOID Object);
#define ObDereferenceObject(object) ObfDereferenceObject(object)

/* ---- drivers and requests to them ---------------------------------------- */

typedef struct _IO_STATUS_BLOCK {
    union {
        NTSTATUS Status;
        PVOID Pointer;
    };
    ULONG_PTR Information;
} IO_STATUS_BLOCK, *PIO_STATUS_BLOCK;

#define METHOD_BUFFERED   0
#define METHOD_NEITHER    3
#define FILE_ANY_ACCESS   0
#define FILE_DEVICE_VIDEO 0x23
#define FILE_ALL_ACCESS   0x001F01FF
#define CTL_CODE(device, function, method, access)                                                           \
    ((ULONG)(device) << 16 | (ULONG)(access) << 14 | (ULONG)(function) << 2 | (ULONG)(method))

NTSYSAPI NTSTATUS NTAPI ZwLoadDriver(PUNICODE_STRING DriverServiceName);
NTKERNELAPI NTSTATUS NTAPI IoGetDeviceObjectPointer(PUNICODE_STRING ObjectName, ACCESS_MASK DesiredAccess,
                                                    PFILE_OBJECT *FileObject, PDEVICE_OBJECT *DeviceObject);
/* The request frees itself when it is completed. */
NTKERNELAPI PIRP NTAPI IoBuildDeviceIoControlRequest(ULONG IoControlCode, PDEVICE_OBJECT DeviceObject,
                                                     PVOID InputBuffer, ULONG InputBufferLength,
                                                     PVOID OutputBuffer, ULONG OutputBufferLength,
                                                     BOOLEAN InternalDeviceIoControl, PKEVENT Event,
                                                     PIO_STATUS_BLOCK IoStatusBlock);
NTKERNELAPI NTSTATUS FASTCALL IofCallDriver(PDEVICE_OBJECT DeviceObject, PIRP Irp);
#define IoCallDriver(device, irp) IofCallDriver(device, irp)

typedef enum _DEVICE_POWER_STATE {
    PowerDeviceUnspecified = 0,
    PowerDeviceD0 = 1,
    PowerDeviceD1 = 2,
    PowerDeviceD2 = 3,
    PowerDeviceD3 = 4,
    PowerDeviceMaximum = 5
} DEVICE_POWER_STATE;

typedef enum _POWER_ACTION {
    PowerActionNone = 0,
    PowerActionReserved = 1,
    PowerActionSleep = 2,
    PowerActionHibernate = 3,
    PowerActionShutdown = 4,
    PowerActionShutdownReset = 5,
    PowerActionShutdownOff = 6,
    PowerActionWarmEject = 7
} POWER_ACTION;

typedef NTSTATUS NTAPI DRIVER_INITIALIZE(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath);

#define OBJ_CASE_INSENSITIVE   0x00000040
#define OBJ_KERNEL_HANDLE      0x00000200
#define KEY_SET_VALUE          0x00000002
#define KEY_READ               0x00020019
#define PLUGPLAY_REGKEY_DEVICE 1
#define PLUGPLAY_REGKEY_DRIVER 2
#define REG_NONE               0
#define REG_SZ                 1
#define REG_DWORD              4

typedef struct _OBJECT_ATTRIBUTES {
    ULONG Length;
    HANDLE RootDirectory;
    PUNICODE_STRING ObjectName;
    ULONG Attributes;
    PVOID SecurityDescriptor;
    PVOID SecurityQualityOfService;
} OBJECT_ATTRIBUTES, *POBJECT_ATTRIBUTES;

#define InitializeObjectAttributes(p, name, attributes, root, security)                                      \
    do {                                                                                                     \
        (p)->Length = sizeof(OBJECT_ATTRIBUTES);                                                             \
        (p)->RootDirectory = (root);                                                                         \
        (p)->ObjectName = (name);                                                                            \
        (p)->Attributes = (attributes);                                                                      \
        (p)->SecurityDescriptor = (security);                                                                \
        (p)->SecurityQualityOfService = NULL;                                                                \
    } while (0)

typedef enum _KEY_VALUE_INFORMATION_CLASS { KeyValuePartialInformation = 2 } KEY_VALUE_INFORMATION_CLASS;

typedef struct _KEY_VALUE_PARTIAL_INFORMATION {
    ULONG TitleIndex;
    ULONG Type;
    ULONG DataLength;
    UCHAR Data[1];
} KEY_VALUE_PARTIAL_INFORMATION, *PKEY_VALUE_PARTIAL_INFORMATION;

NTSYSAPI NTSTATUS NTAPI ZwOpenKey(PHANDLE KeyHandle, ACCESS_MASK DesiredAccess,
                                  POBJECT_ATTRIBUTES ObjectAttributes);
NTSYSAPI NTSTATUS NTAPI ZwQueryValueKey(HANDLE KeyHandle, PUNICODE_STRING ValueName,
                                        KEY_VALUE_INFORMATION_CLASS KeyValueInformationClass,
                                        PVOID KeyValueInformation, ULONG Length, PULONG ResultLength);
NTSYSAPI NTSTATUS NTAPI ZwSetValueKey(HANDLE KeyHandle, PUNICODE_STRING ValueName, ULONG TitleIndex,
                                      ULONG Type, PVOID Data, ULONG DataSize);
#define REG_CREATED_NEW_KEY     1
#define REG_OPENED_EXISTING_KEY 2
#define REG_OPTION_NON_VOLATILE 0
#define REG_OPTION_VOLATILE     1

typedef enum _KEY_INFORMATION_CLASS {
    KeyBasicInformation = 0,
    KeyNodeInformation,
    KeyFullInformation
} KEY_INFORMATION_CLASS;

typedef struct _KEY_BASIC_INFORMATION {
    LARGE_INTEGER LastWriteTime;
    ULONG TitleIndex;
    ULONG NameLength;
    WCHAR Name[1];
} KEY_BASIC_INFORMATION, *PKEY_BASIC_INFORMATION;

/* Keys and values are there until the adapter goes. */
NTSYSAPI NTSTATUS NTAPI ZwCreateKey(PHANDLE KeyHandle, ACCESS_MASK DesiredAccess,
                                    POBJECT_ATTRIBUTES ObjectAttributes, ULONG TitleIndex,
                                    PUNICODE_STRING Class, ULONG CreateOptions, PULONG Disposition);
/* Of class KeyBasicInformation. */
NTSYSAPI NTSTATUS NTAPI ZwEnumerateKey(HANDLE KeyHandle, ULONG Index,
                                       KEY_INFORMATION_CLASS KeyInformationClass, PVOID KeyInformation,
                                       ULONG Length, PULONG ResultLength);
NTSYSAPI NTSTATUS NTAPI RtlCheckRegistryKey(ULONG RelativeTo, PWSTR Path);
NTSYSAPI NTSTATUS NTAPI RtlCreateRegistryKey(ULONG RelativeTo, PWSTR Path);
NTSYSAPI NTSTATUS NTAPI RtlDeleteRegistryValue(ULONG RelativeTo, PCWSTR Path, PCWSTR ValueName);
NTSYSAPI NTSTATUS NTAPI ZwDeleteValueKey(HANDLE KeyHandle, PUNICODE_STRING ValueName);
NTSYSAPI NTSTATUS NTAPI ZwFlushKey(HANDLE KeyHandle);
NTSYSAPI NTSTATUS NTAPI RtlWriteRegistryValue(ULONG RelativeTo, PCWSTR Path, PCWSTR ValueName,
                                              ULONG ValueType, PVOID ValueData, ULONG ValueLength);
NTSYSAPI NTSTATUS NTAPI ZwClose(HANDLE Handle);
NTKERNELAPI NTSTATUS NTAPI IoOpenDeviceRegistryKey(PDEVICE_OBJECT DeviceObject, ULONG DevInstKeyType,
                                                   ACCESS_MASK DesiredAccess, PHANDLE DevInstRegKey);
typedef NTSTATUS NTAPI RTL_QUERY_REGISTRY_ROUTINE(PWSTR ValueName, ULONG ValueType, PVOID ValueData,
                                                  ULONG ValueLength, PVOID Context, PVOID EntryContext);
typedef RTL_QUERY_REGISTRY_ROUTINE *PRTL_QUERY_REGISTRY_ROUTINE;

typedef struct _RTL_QUERY_REGISTRY_TABLE {
    PRTL_QUERY_REGISTRY_ROUTINE QueryRoutine;
    ULONG Flags; /* RTL_QUERY_REGISTRY_* */
    PWSTR Name;
    PVOID EntryContext;
    ULONG DefaultType;
    PVOID DefaultData;
    ULONG DefaultLength;
} RTL_QUERY_REGISTRY_TABLE, *PRTL_QUERY_REGISTRY_TABLE;

#define RTL_REGISTRY_ABSOLUTE       0
#define RTL_REGISTRY_SERVICES       1
#define RTL_REGISTRY_CONTROL        2
#define RTL_REGISTRY_HANDLE         0x40000000
#define RTL_REGISTRY_OPTIONAL       0x80000000
#define RTL_QUERY_REGISTRY_SUBKEY   0x01
#define RTL_QUERY_REGISTRY_TOPKEY   0x02
#define RTL_QUERY_REGISTRY_REQUIRED 0x04
#define RTL_QUERY_REGISTRY_NOEXPAND 0x10
#define RTL_QUERY_REGISTRY_DIRECT   0x20

/* The table ends with an entry that has neither a routine nor a name. A DIRECT entry stores at its EntryContext what a value of that
 * type is stored as in Windows; nothing is expanded, and several strings are one value. */
NTSYSAPI NTSTATUS NTAPI RtlQueryRegistryValues(ULONG RelativeTo, PCWSTR Path,
                                               PRTL_QUERY_REGISTRY_TABLE QueryTable, PVOID Context,
                                               PVOID Environment);

typedef enum _DEVICE_REGISTRY_PROPERTY {
    DevicePropertyHardwareID = 1,
    DevicePropertyClassName = 5,
    DevicePropertyLegacyBusType = 13,
    DevicePropertyBusNumber = 14,
    DevicePropertyEnumeratorName = 15,
    DevicePropertyAddress = 16
} DEVICE_REGISTRY_PROPERTY;

/* Those above are known; STATUS_OBJECT_NAME_NOT_FOUND for others, STATUS_BUFFER_TOO_SMALL with the length that it takes. */
NTKERNELAPI NTSTATUS NTAPI IoGetDeviceProperty(PDEVICE_OBJECT DeviceObject,
                                               DEVICE_REGISTRY_PROPERTY DeviceProperty, ULONG BufferLength,
                                               PVOID PropertyBuffer, PULONG ResultLength);
NTSYSAPI VOID NTAPI RtlInitUnicodeString(PUNICODE_STRING DestinationString, PCWSTR SourceString);

NTSYSAPI VOID NTAPI RtlInitAnsiString(PANSI_STRING DestinationString, PCSTR SourceString);
/* Of ASCII. With AllocateDestinationString, the buffer is freed with RtlFreeUnicodeString. */
NTSYSAPI NTSTATUS NTAPI RtlAnsiStringToUnicodeString(PUNICODE_STRING DestinationString,
                                                     const ANSI_STRING *SourceString,
                                                     BOOLEAN AllocateDestinationString);
NTSYSAPI VOID NTAPI RtlFreeUnicodeString(PUNICODE_STRING UnicodeString);

#define SE_DEBUG_PRIVILEGE 20
NTKERNELAPI BOOLEAN NTAPI SeSinglePrivilegeCheck(LUID PrivilegeValue, KPROCESSOR_MODE PreviousMode);
NTKERNELAPI KPROCESSOR_MODE NTAPI ExGetPreviousMode(VOID);
NTKERNELAPI PEPROCESS NTAPI PsGetCurrentProcess(VOID);
NTKERNELAPI HANDLE NTAPI PsGetCurrentProcessId(VOID);
NTKERNELAPI ULONG NTAPI PsGetCurrentProcessSessionId(VOID);
NTKERNELAPI PVOID NTAPI PsReferencePrimaryToken(PEPROCESS Process);
NTKERNELAPI VOID NTAPI PsDereferencePrimaryToken(PVOID PrimaryToken);
NTKERNELAPI BOOLEAN NTAPI SeTokenIsAdmin(PVOID Token);

/* In checked builds (DBG) a false NT_ASSERT stops; in user space it is a rule violation, and a test fails. */
NTKERNELAPI VOID NTAPI RtlAssert(PVOID FailedAssertion, PVOID FileName, ULONG LineNumber, PSTR Message);
#if DBG
#define NT_ASSERT(exp) ((VOID)((exp) || (RtlAssert((PVOID) #exp, (PVOID)__FILE__, __LINE__, NULL), FALSE)))
#else
#define NT_ASSERT(exp) ((VOID)sizeof(!(exp)))
#endif
NTKERNELAPI ULONG NTAPI DbgPrintEx(ULONG ComponentId, ULONG Level, PCSTR Format, ...)
    __attribute__((format(printf, 3, 4)));
#if DBG
#define PAGED_CODE() NT_ASSERT(KeGetCurrentIrql() <= APC_LEVEL)
#else
#define PAGED_CODE() ((VOID)0)
#endif
#define ASSERT(exp) NT_ASSERT(exp)
#if DBG
#define NT_VERIFY(exp) NT_ASSERT(exp)
#else
#define NT_VERIFY(exp) ((VOID)(exp)) /* evaluated, too */
#endif
/* Where the compiler's tables send exceptions of __try; nothing here raises one, so a call is a violation. */
NTKERNELAPI LONG NTAPI __C_specific_handler(PVOID ExceptionRecord, PVOID EstablisherFrame,
                                            PVOID ContextRecord, PVOID DispatcherContext);
#define DPFLTR_IHVVIDEO_ID   78
#define DPFLTR_ERROR_LEVEL   0
#define DPFLTR_WARNING_LEVEL 1
#define DPFLTR_TRACE_LEVEL   2
#define DPFLTR_INFO_LEVEL    3

/* Windows: ntoskrnl's. Elsewhere the C library's. */
#if defined(__cplusplus) && !defined(_WIN32)
#define WDDM_CRT noexcept
#else
#define WDDM_CRT
#endif
void *memcpy(void *to, const void *from, size_t size) WDDM_CRT;
void *memmove(void *to, const void *from, size_t size) WDDM_CRT;
void *memset(void *to, int value, size_t size) WDDM_CRT;
int memcmp(const void *a, const void *b, size_t size) WDDM_CRT;
#undef WDDM_CRT
NTSYSAPI SIZE_T NTAPI RtlCompareMemory(const VOID *Source1, const VOID *Source2, SIZE_T Length);
#define RtlEqualMemory(a, b, size)    (!memcmp(a, b, size))
#define RtlCopyMemory(to, from, size) memcpy(to, from, size)
#define RtlMoveMemory(to, from, size) memmove(to, from, size)
#define RtlZeroMemory(to, size)       memset(to, 0, size)
#define RtlFillMemory(to, size, fill) memset(to, fill, size)

WDDM_SIZE(KEVENT, 24);
WDDM_SIZE(FAST_MUTEX, 56);
WDDM_SIZE(KDPC, 64);
WDDM_SIZE(KTIMER, 64);
WDDM_SIZE(MDL, 48);
WDDM_SIZE(CM_PARTIAL_RESOURCE_DESCRIPTOR, 20);
WDDM_SIZE(CM_RESOURCE_LIST, 40);
WDDM_SIZE(OBJECT_ATTRIBUTES, 48);
WDDM_SIZE(IO_STATUS_BLOCK, 16);
WDDM_SIZE(SLIST_HEADER, 16);
WDDM_SIZE(NPAGED_LOOKASIDE_LIST, 128);
WDDM_SIZE(PAGED_LOOKASIDE_LIST, 128);
WDDM_OFFSET(GENERAL_LOOKASIDE, Allocate, 48);
WDDM_SIZE(WORK_QUEUE_ITEM, 32);
WDDM_SIZE(KWAIT_BLOCK, 48);
WDDM_SIZE(RTL_QUERY_REGISTRY_TABLE, 56);

WDDM_C_END

#include "wddm/ntio.h"
#include "wddm/ntkern.h"
#include "wddm/ntrtl.h"
