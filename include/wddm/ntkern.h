/* SPDX-License-Identifier: MIT */
/* ntkern.h: what miniports use of the kernel besides ntddk.h, which includes this: more locks, timers that repeat, resources, run-down,
 * files and requests, objects' types, and events for Windows' tracing.
 *
 * Names, parameters and layouts: the WDK's public documentation of wdm.h and ntddk.h, at the Windows 7 level.
 */
#pragma once

#include "wddm/ntddk.h"

WDDM_C_BEGIN

typedef struct _KTHREAD *PKTHREAD, *PRKTHREAD, *PETHREAD;
typedef SHORT CSHORT;

/* ---- locks --------------------------------------------------------------- */

typedef struct _KSPIN_LOCK_QUEUE {
    struct _KSPIN_LOCK_QUEUE *volatile Next;
    PKSPIN_LOCK volatile Lock;
} KSPIN_LOCK_QUEUE, *PKSPIN_LOCK_QUEUE;
typedef struct _KLOCK_QUEUE_HANDLE {
    KSPIN_LOCK_QUEUE LockQueue;
    KIRQL OldIrql;
} KLOCK_QUEUE_HANDLE, *PKLOCK_QUEUE_HANDLE;

NTKERNELAPI VOID FASTCALL KeAcquireInStackQueuedSpinLock(PKSPIN_LOCK SpinLock,
                                                         PKLOCK_QUEUE_HANDLE LockHandle);
NTKERNELAPI VOID FASTCALL KeReleaseInStackQueuedSpinLock(PKLOCK_QUEUE_HANDLE LockHandle);
NTKERNELAPI VOID FASTCALL KeAcquireInStackQueuedSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock,
                                                                   PKLOCK_QUEUE_HANDLE LockHandle);
NTKERNELAPI VOID FASTCALL KeReleaseInStackQueuedSpinLockFromDpcLevel(PKLOCK_QUEUE_HANDLE LockHandle);
NTKERNELAPI BOOLEAN FASTCALL KeTryToAcquireSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock);

NTKERNELAPI BOOLEAN FASTCALL ExTryToAcquireFastMutex(PFAST_MUTEX FastMutex);
/* Within a critical region: the IRQL stays. */
NTKERNELAPI VOID FASTCALL ExAcquireFastMutexUnsafe(PFAST_MUTEX FastMutex);
NTKERNELAPI VOID FASTCALL ExReleaseFastMutexUnsafe(PFAST_MUTEX FastMutex);

typedef FAST_MUTEX KGUARDED_MUTEX, *PKGUARDED_MUTEX; /* as long, with the members at the same places */
NTKERNELAPI VOID FASTCALL KeInitializeGuardedMutex(PKGUARDED_MUTEX GuardedMutex);
NTKERNELAPI VOID FASTCALL KeAcquireGuardedMutex(PKGUARDED_MUTEX GuardedMutex);
NTKERNELAPI BOOLEAN FASTCALL KeTryToAcquireGuardedMutex(PKGUARDED_MUTEX GuardedMutex);
NTKERNELAPI VOID FASTCALL KeReleaseGuardedMutex(PKGUARDED_MUTEX GuardedMutex);
/* Within a guarded region, or at APC_LEVEL. */
NTKERNELAPI VOID FASTCALL KeAcquireGuardedMutexUnsafe(PKGUARDED_MUTEX GuardedMutex);
NTKERNELAPI VOID FASTCALL KeReleaseGuardedMutexUnsafe(PKGUARDED_MUTEX GuardedMutex);
/* FALSE: it is held. */
NTKERNELAPI BOOLEAN FASTCALL KeTestSpinLock(PKSPIN_LOCK SpinLock);
NTKERNELAPI BOOLEAN NTAPI KeAreApcsDisabled(VOID);
NTKERNELAPI BOOLEAN NTAPI KeAreAllApcsDisabled(VOID);
/* No APCs are delivered to threads here: these check their IRQL. */
NTKERNELAPI VOID NTAPI KeEnterCriticalRegion(VOID);
NTKERNELAPI VOID NTAPI KeLeaveCriticalRegion(VOID);
NTKERNELAPI VOID NTAPI KeEnterGuardedRegion(VOID);
NTKERNELAPI VOID NTAPI KeLeaveGuardedRegion(VOID);

/* Its contents are the kernel's. */
typedef struct _ERESOURCE {
    ULONG_PTR Opaque[13];
} ERESOURCE, *PERESOURCE;
NTKERNELAPI NTSTATUS NTAPI ExInitializeResourceLite(PERESOURCE Resource);
NTKERNELAPI NTSTATUS NTAPI ExDeleteResourceLite(PERESOURCE Resource);
/* FALSE where the caller would have to wait, and does not want to. */
NTKERNELAPI BOOLEAN NTAPI ExAcquireResourceExclusiveLite(PERESOURCE Resource, BOOLEAN Wait);
NTKERNELAPI BOOLEAN NTAPI ExAcquireResourceSharedLite(PERESOURCE Resource, BOOLEAN Wait);
NTKERNELAPI VOID FASTCALL ExReleaseResourceLite(PERESOURCE Resource);
NTKERNELAPI BOOLEAN NTAPI ExIsResourceAcquiredExclusiveLite(PERESOURCE Resource);
/* How often the calling thread has it; where readers are not told apart, how often they have it. */
NTKERNELAPI ULONG NTAPI ExIsResourceAcquiredSharedLite(PERESOURCE Resource);
NTKERNELAPI BOOLEAN NTAPI ExAcquireSharedStarveExclusive(PERESOURCE Resource, BOOLEAN Wait);
NTKERNELAPI BOOLEAN NTAPI ExAcquireSharedWaitForExclusive(PERESOURCE Resource, BOOLEAN Wait);
NTKERNELAPI VOID NTAPI ExConvertExclusiveToSharedLite(PERESOURCE Resource);
NTKERNELAPI NTSTATUS NTAPI ExReinitializeResourceLite(PERESOURCE Resource);

typedef struct _EX_RUNDOWN_REF {
    union {
        ULONG_PTR Count;
        PVOID Ptr;
    };
} EX_RUNDOWN_REF, *PEX_RUNDOWN_REF;
NTKERNELAPI VOID FASTCALL ExInitializeRundownProtection(PEX_RUNDOWN_REF RunRef);
/* FALSE: who waits for the end has begun. */
NTKERNELAPI BOOLEAN FASTCALL ExAcquireRundownProtection(PEX_RUNDOWN_REF RunRef);
NTKERNELAPI VOID FASTCALL ExReleaseRundownProtection(PEX_RUNDOWN_REF RunRef);
NTKERNELAPI VOID FASTCALL ExWaitForRundownProtectionRelease(PEX_RUNDOWN_REF RunRef);
/* It has ended, and stays so; it begins anew. */
NTKERNELAPI VOID FASTCALL ExRundownCompleted(PEX_RUNDOWN_REF RunRef);
NTKERNELAPI VOID FASTCALL ExReInitializeRundownProtection(PEX_RUNDOWN_REF RunRef);

/* ---- timers, DPCs, threads, processors ----------------------------------- */

typedef enum _TIMER_TYPE { NotificationTimer = 0, SynchronizationTimer = 1 } TIMER_TYPE;
typedef enum _KDPC_IMPORTANCE {
    LowImportance = 0,
    MediumImportance = 1,
    HighImportance = 2,
    MediumHighImportance = 3
} KDPC_IMPORTANCE;

NTKERNELAPI VOID NTAPI KeInitializeTimerEx(PKTIMER Timer, TIMER_TYPE Type);
/* Period: ms; 0: once. */
NTKERNELAPI BOOLEAN NTAPI KeSetCoalescableTimer(PKTIMER Timer, LARGE_INTEGER DueTime, ULONG Period,
                                                ULONG TolerableDelay, PKDPC Dpc);
NTKERNELAPI BOOLEAN NTAPI KeSetTimerEx(PKTIMER Timer, LARGE_INTEGER DueTime, LONG Period, PKDPC Dpc);
NTKERNELAPI BOOLEAN NTAPI KeReadStateTimer(PKTIMER Timer);
NTKERNELAPI BOOLEAN NTAPI KeRemoveQueueDpc(PKDPC Dpc);
/* May run at DISPATCH_LEVEL in Windows, too, and does so here. */
NTKERNELAPI VOID NTAPI KeInitializeThreadedDpc(PKDPC Dpc, PKDEFERRED_ROUTINE DeferredRoutine,
                                               PVOID DeferredContext);
NTKERNELAPI VOID NTAPI KeSetImportanceDpc(PKDPC Dpc, KDPC_IMPORTANCE Importance);
NTKERNELAPI VOID NTAPI KeSetTargetProcessorDpc(PKDPC Dpc, CCHAR Number);
NTKERNELAPI PETHREAD NTAPI PsGetCurrentThread(VOID);
NTKERNELAPI HANDLE NTAPI PsGetCurrentThreadId(VOID);
NTKERNELAPI HANDLE NTAPI PsGetProcessId(PEPROCESS Process);
#define KeGetCurrentThread()  PsGetCurrentThread()
#define IoGetCurrentProcess() PsGetCurrentProcess()
#define LOW_PRIORITY          0
#define LOW_REALTIME_PRIORITY 16
#define HIGH_PRIORITY         31
/* The priority before; threads here are the host's, which does not change their order. */
NTKERNELAPI KPRIORITY NTAPI KeSetPriorityThread(PKTHREAD Thread, KPRIORITY Priority);
NTKERNELAPI KAFFINITY NTAPI KeQueryActiveProcessors(VOID);
#define ALL_PROCESSOR_GROUPS 0xFFFF
NTKERNELAPI ULONG NTAPI KeQueryActiveProcessorCountEx(USHORT GroupNumber);
NTKERNELAPI USHORT NTAPI KeQueryActiveGroupCount(VOID);
NTKERNELAPI ULONG NTAPI KeQueryActiveProcessorCount(KAFFINITY *ActiveProcessors);
NTKERNELAPI BOOLEAN NTAPI KeInvalidateAllCaches(VOID);

typedef struct _OSVERSIONINFOW {
    ULONG dwOSVersionInfoSize, dwMajorVersion, dwMinorVersion, dwBuildNumber, dwPlatformId;
    WCHAR szCSDVersion[128];
} RTL_OSVERSIONINFOW, *PRTL_OSVERSIONINFOW;
NTSYSAPI NTSTATUS NTAPI RtlGetVersion(PRTL_OSVERSIONINFOW lpVersionInformation);
/* TRUE: a checked build. */
NTKERNELAPI BOOLEAN NTAPI PsGetVersion(PULONG MajorVersion, PULONG MinorVersion, PULONG BuildNumber,
                                       PUNICODE_STRING CSDVersion);
NTKERNELAPI KPRIORITY NTAPI KeQueryPriorityThread(PKTHREAD Thread);
NTKERNELAPI ULONG NTAPI KeQueryMaximumProcessorCount(VOID);
NTKERNELAPI ULONG NTAPI KeGetRecommendedSharedDataAlignment(VOID);
NTKERNELAPI VOID NTAPI KeSetSystemAffinityThread(KAFFINITY Affinity);
NTKERNELAPI VOID NTAPI KeRevertToUserAffinityThread(VOID);
NTKERNELAPI VOID NTAPI KeBugCheck(ULONG BugCheckCode);
/* Whether it can be read without a fault now; what is true may not be so any more when it is returned. */
NTKERNELAPI ULONG NTAPI MmIsDriverVerifying(PDRIVER_OBJECT DriverObject);
NTKERNELAPI BOOLEAN NTAPI MmIsAddressValid(PVOID VirtualAddress);
typedef enum _MM_SYSTEMSIZE { MmSmallSystem, MmMediumSystem, MmLargeSystem } MM_SYSTEMSIZE;
NTKERNELAPI MM_SYSTEMSIZE NTAPI MmQuerySystemSize(VOID);
/* Code and data of an image are never paged out here. */
NTKERNELAPI PVOID NTAPI MmLockPagableDataSection(PVOID AddressWithinSection);
#define MmLockPagableCodeSection(address) MmLockPagableDataSection(address)
NTKERNELAPI VOID NTAPI MmUnlockPagableImageSection(PVOID ImageSectionHandle);
NTKERNELAPI PVOID NTAPI MmMapLockedPages(PMDL MemoryDescriptorList, KPROCESSOR_MODE AccessMode);
typedef struct _SINGLE_LIST_ENTRY {
    struct _SINGLE_LIST_ENTRY *Next;
} SINGLE_LIST_ENTRY, *PSINGLE_LIST_ENTRY;
NTKERNELAPI PSINGLE_LIST_ENTRY FASTCALL ExInterlockedPopEntryList(PSINGLE_LIST_ENTRY ListHead,
                                                                  PKSPIN_LOCK Lock);
NTKERNELAPI PSINGLE_LIST_ENTRY FASTCALL ExInterlockedPushEntryList(PSINGLE_LIST_ENTRY ListHead,
                                                                   PSINGLE_LIST_ENTRY ListEntry,
                                                                   PKSPIN_LOCK Lock);

/* x64 has nothing to save: its kernel keeps these registers, and Windows exports neither. */
typedef struct _KFLOATING_SAVE {
    ULONG Dummy;
} KFLOATING_SAVE, *PKFLOATING_SAVE;
static FORCEINLINE NTSTATUS KeSaveFloatingPointState(PKFLOATING_SAVE FloatSave)
{
    (void)FloatSave;
    return 0; /* STATUS_SUCCESS */
}
static FORCEINLINE NTSTATUS KeRestoreFloatingPointState(PKFLOATING_SAVE FloatSave)
{
    (void)FloatSave;
    return 0;
}

typedef GUID UUID;
/* At PASSIVE_LEVEL. */
NTKERNELAPI NTSTATUS NTAPI ExUuidCreate(UUID *Uuid);

/* ---- memory -------------------------------------------------------------- */

typedef enum _EX_POOL_PRIORITY {
    LowPoolPriority = 0,
    NormalPoolPriority = 16,
    HighPoolPriority = 32
} EX_POOL_PRIORITY;
NTKERNELAPI PVOID NTAPI ExAllocatePoolWithTagPriority(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag,
                                                      EX_POOL_PRIORITY Priority);
NTKERNELAPI PVOID NTAPI ExAllocatePoolWithQuotaTag(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag);
NTKERNELAPI PVOID NTAPI MmAllocateNonCachedMemory(SIZE_T NumberOfBytes);
NTKERNELAPI VOID NTAPI MmFreeNonCachedMemory(PVOID BaseAddress, SIZE_T NumberOfBytes);
/* Pages without an address, locked and described by the MDL: as many as there are (ByteCount), or NULL. They go back with
 * MmFreePagesFromMdl, the MDL then with ExFreePool. Below DISPATCH_LEVEL, or at it. */
#define MM_DONT_ZERO_ALLOCATION               0x00000001
#define MM_ALLOCATE_FROM_LOCAL_NODE_ONLY      0x00000002
#define MM_ALLOCATE_FULLY_REQUIRED            0x00000004
#define MM_ALLOCATE_NO_WAIT                   0x00000008
#define MM_ALLOCATE_PREFER_CONTIGUOUS         0x00000010
#define MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS 0x00000020
NTKERNELAPI PMDL NTAPI MmAllocatePagesForMdl(PHYSICAL_ADDRESS LowAddress, PHYSICAL_ADDRESS HighAddress,
                                             PHYSICAL_ADDRESS SkipBytes, SIZE_T TotalBytes);
NTKERNELAPI PMDL NTAPI MmAllocatePagesForMdlEx(PHYSICAL_ADDRESS LowAddress, PHYSICAL_ADDRESS HighAddress,
                                               PHYSICAL_ADDRESS SkipBytes, SIZE_T TotalBytes,
                                               MEMORY_CACHING_TYPE CacheType, ULONG Flags);
NTKERNELAPI VOID NTAPI MmFreePagesFromMdl(PMDL MemoryDescriptorList);
/* NULL: no routine of that name is there. */
NTKERNELAPI PVOID NTAPI MmGetSystemRoutineAddress(PUNICODE_STRING SystemRoutineName);
/* Raises an exception where it is no address of a process, or not aligned. */
NTKERNELAPI VOID NTAPI ProbeForRead(const VOID *Address, SIZE_T Length, ULONG Alignment);
NTKERNELAPI VOID NTAPI ProbeForWrite(PVOID Address, SIZE_T Length, ULONG Alignment);
NTKERNELAPI VOID NTAPI ExRaiseStatus(NTSTATUS Status);

#if defined(_WIN32)
static FORCEINLINE USHORT READ_REGISTER_USHORT(volatile USHORT *Register)
{
    return *Register;
}
static FORCEINLINE VOID WRITE_REGISTER_USHORT(volatile USHORT *Register, USHORT Value)
{
    *Register = Value;
    __sync_synchronize();
}
#else
NTHALAPI USHORT NTAPI READ_REGISTER_USHORT(volatile USHORT *Register);
NTHALAPI VOID NTAPI WRITE_REGISTER_USHORT(volatile USHORT *Register, USHORT Value);
#endif
#define WDDM_REGISTER_BUFFER(name, type)                                                                     \
    static FORCEINLINE VOID READ_REGISTER_BUFFER_##name(volatile type *Register, type *Buffer, ULONG Count)  \
    {                                                                                                        \
        for (ULONG i = 0; i < Count; i++)                                                                    \
            Buffer[i] = READ_REGISTER_##name(Register + i);                                                  \
    }                                                                                                        \
    static FORCEINLINE VOID WRITE_REGISTER_BUFFER_##name(volatile type *Register, type *Buffer, ULONG Count) \
    {                                                                                                        \
        for (ULONG i = 0; i < Count; i++)                                                                    \
            WRITE_REGISTER_##name(Register + i, Buffer[i]);                                                  \
    }
WDDM_REGISTER_BUFFER(UCHAR, UCHAR)
WDDM_REGISTER_BUFFER(USHORT, USHORT)
WDDM_REGISTER_BUFFER(ULONG, ULONG)
#undef WDDM_REGISTER_BUFFER

/* ---- objects, files, registry -------------------------------------------- */

#define DELETE                       0x00010000
#define SYNCHRONIZE                  0x00100000
#define STANDARD_RIGHTS_REQUIRED     0x000F0000
#define GENERIC_READ                 0x80000000
#define GENERIC_WRITE                0x40000000
#define GENERIC_ALL                  0x10000000
#define MAXIMUM_ALLOWED              0x02000000
#define KEY_QUERY_VALUE              0x00000001
#define KEY_WRITE                    0x00020006
#define KEY_ALL_ACCESS               0x000F003F
#define REG_EXPAND_SZ                2
#define REG_BINARY                   3
#define REG_MULTI_SZ                 7
#define REG_QWORD                    11
#define FILE_READ_DATA               0x0001
#define FILE_WRITE_DATA              0x0002
#define FILE_SHARE_READ              0x0001
#define FILE_SHARE_WRITE             0x0002
#define FILE_SHARE_DELETE            0x0004
#define FILE_ATTRIBUTE_NORMAL        0x0080
#define FILE_OPEN                    1
#define FILE_CREATE                  2
#define FILE_OPEN_IF                 3
#define FILE_OVERWRITE_IF            5
#define FILE_SYNCHRONOUS_IO_NONALERT 0x20
#define FILE_NON_DIRECTORY_FILE      0x40

typedef struct _FILE_OBJECT FILE_OBJECT;

#define IRP_MJ_READ                    0x03
#define IRP_MJ_WRITE                   0x04
#define IRP_MJ_FLUSH_BUFFERS           0x09
#define IRP_MJ_DEVICE_CONTROL          0x0E
#define IRP_MJ_INTERNAL_DEVICE_CONTROL 0x0F

/* What a driver is asked for, in a request that passes through several. */
typedef struct _IO_STACK_LOCATION {
    UCHAR MajorFunction, MinorFunction, Flags, Control;
    union {
        struct {
            ULONG Length;
            ULONG DECLSPEC_ALIGN(sizeof(PVOID)) Key;
            LARGE_INTEGER ByteOffset;
        } Read, Write;
        struct {
            ULONG OutputBufferLength;
            ULONG DECLSPEC_ALIGN(sizeof(PVOID)) InputBufferLength;
            ULONG DECLSPEC_ALIGN(sizeof(PVOID)) IoControlCode;
            PVOID Type3InputBuffer;
        } DeviceIoControl;
        struct {
            PVOID Argument1, Argument2, Argument3, Argument4;
        } Others;
    } Parameters;
    PDEVICE_OBJECT DeviceObject;
    PFILE_OBJECT FileObject;
    PVOID CompletionRoutine, Context;
} IO_STACK_LOCATION, *PIO_STACK_LOCATION;

typedef struct _IRP {
    CSHORT Type;
    USHORT Size;
    PMDL MdlAddress;
    ULONG Flags;
    union {
        struct _IRP *MasterIrp;
        LONG IrpCount;
        PVOID SystemBuffer;
    } AssociatedIrp;
    LIST_ENTRY ThreadListEntry;
    IO_STATUS_BLOCK IoStatus;
    KPROCESSOR_MODE RequestorMode;
    BOOLEAN PendingReturned;
    CHAR StackCount, CurrentLocation;
    BOOLEAN Cancel;
    KIRQL CancelIrql;
    CCHAR ApcEnvironment;
    UCHAR AllocationFlags;
    PIO_STATUS_BLOCK UserIosb;
    PKEVENT UserEvent;
    PVOID Overlay[2];
    PVOID CancelRoutine;
    PVOID UserBuffer;
    union {
        struct {
            PVOID DriverContext[4];
            PETHREAD Thread;
            PCHAR AuxiliaryBuffer;
            LIST_ENTRY ListEntry;
            PIO_STACK_LOCATION CurrentStackLocation;
            PFILE_OBJECT OriginalFileObject;
        } Overlay;
        PVOID Apc[11];
    } Tail;
} IRP;

static FORCEINLINE PIO_STACK_LOCATION IoGetNextIrpStackLocation(PIRP Irp)
{
    return Irp->Tail.Overlay.CurrentStackLocation - 1;
}
static FORCEINLINE PIO_STACK_LOCATION IoGetCurrentIrpStackLocation(PIRP Irp)
{
    return Irp->Tail.Overlay.CurrentStackLocation;
}
typedef NTSTATUS NTAPI IO_COMPLETION_ROUTINE(PDEVICE_OBJECT DeviceObject, PIRP Irp, PVOID Context);
typedef IO_COMPLETION_ROUTINE *PIO_COMPLETION_ROUTINE;
#define SL_PENDING_RETURNED  0x01
#define SL_INVOKE_ON_CANCEL  0x20
#define SL_INVOKE_ON_SUCCESS 0x40
#define SL_INVOKE_ON_ERROR   0x80
static FORCEINLINE VOID IoSetCompletionRoutine(PIRP Irp, PIO_COMPLETION_ROUTINE Routine, PVOID Context,
                                               BOOLEAN InvokeOnSuccess, BOOLEAN InvokeOnError,
                                               BOOLEAN InvokeOnCancel)
{
    PIO_STACK_LOCATION next = IoGetNextIrpStackLocation(Irp);

    next->CompletionRoutine = (PVOID)Routine;
    next->Context = Context;
    next->Control =
        (UCHAR)((InvokeOnSuccess ? SL_INVOKE_ON_SUCCESS : 0) | (InvokeOnError ? SL_INVOKE_ON_ERROR : 0) |
                (InvokeOnCancel ? SL_INVOKE_ON_CANCEL : 0));
}
#define IoSizeOfIrp(StackSize) ((USHORT)(sizeof(IRP) + (StackSize) * sizeof(IO_STACK_LOCATION)))
/* A driver's own request: it frees it, by IoFreeIrp, and stops its completion with STATUS_MORE_PROCESSING_REQUIRED. */
NTKERNELAPI PIRP NTAPI IoAllocateIrp(CCHAR StackSize, BOOLEAN ChargeQuota);
NTKERNELAPI VOID NTAPI IoFreeIrp(PIRP Irp);
NTKERNELAPI VOID NTAPI IoInitializeIrp(PIRP Irp, USHORT PacketSize, CCHAR StackSize);
NTKERNELAPI VOID NTAPI IoReuseIrp(PIRP Irp, NTSTATUS Status);
/* Reads, writes and flushes; the request frees itself when it is completed. */
NTKERNELAPI PIRP NTAPI IoBuildSynchronousFsdRequest(ULONG MajorFunction, PDEVICE_OBJECT DeviceObject,
                                                    PVOID Buffer, ULONG Length, PLARGE_INTEGER StartingOffset,
                                                    PKEVENT Event, PIO_STATUS_BLOCK IoStatusBlock);
NTKERNELAPI PDEVICE_OBJECT NTAPI IoGetRelatedDeviceObject(PFILE_OBJECT FileObject);
NTKERNELAPI NTSTATUS NTAPI ObReferenceObjectByHandleWithTag(HANDLE Handle, ACCESS_MASK DesiredAccess,
                                                            POBJECT_TYPE ObjectType,
                                                            KPROCESSOR_MODE AccessMode, ULONG Tag,
                                                            PVOID *Object,
                                                            POBJECT_HANDLE_INFORMATION HandleInformation);

/* The kernel's variables; objects of these types have handles. */
extern NTKERNELAPI POBJECT_TYPE wddm_IoFileObjectType __asm__("IoFileObjectType");
extern NTKERNELAPI POBJECT_TYPE wddm_PsThreadType __asm__("PsThreadType");
extern NTKERNELAPI POBJECT_TYPE wddm_PsProcessType __asm__("PsProcessType");
extern NTKERNELAPI POBJECT_TYPE wddm_ExEventObjectType __asm__("ExEventObjectType");
extern NTKERNELAPI POBJECT_TYPE wddm_ExSemaphoreObjectType __asm__("ExSemaphoreObjectType");
extern NTKERNELAPI POBJECT_TYPE wddm_MmSectionObjectType __asm__("MmSectionObjectType");
extern NTKERNELAPI POBJECT_TYPE wddm_SeTokenObjectType __asm__("SeTokenObjectType");
extern NTKERNELAPI BOOLEAN wddm_KdDebuggerNotPresent __asm__("KdDebuggerNotPresent");
extern NTKERNELAPI BOOLEAN wddm_KdDebuggerEnabled __asm__("KdDebuggerEnabled");
#define IoFileObjectType        (&wddm_IoFileObjectType)
#define PsThreadType            (&wddm_PsThreadType)
#define PsProcessType           (&wddm_PsProcessType)
#define ExEventObjectType       (&wddm_ExEventObjectType)
#define ExSemaphoreObjectType   (&wddm_ExSemaphoreObjectType)
#define SeTokenObjectType       (&wddm_SeTokenObjectType)
#define KD_DEBUGGER_NOT_PRESENT wddm_KdDebuggerNotPresent
#define KD_DEBUGGER_ENABLED     wddm_KdDebuggerEnabled

NTKERNELAPI LONG_PTR FASTCALL ObfReferenceObject(PVOID Object);
#define ObReferenceObject(object) ObfReferenceObject(object)
NTKERNELAPI LONG_PTR FASTCALL ObfDereferenceObjectWithTag(PVOID Object, ULONG Tag);
#define ObDereferenceObjectWithTag(object, tag) ObfDereferenceObjectWithTag(object, tag)

/* There are no files here: STATUS_OBJECT_NAME_NOT_FOUND. */
NTSYSAPI NTSTATUS NTAPI ZwCreateFile(PHANDLE FileHandle, ACCESS_MASK DesiredAccess,
                                     POBJECT_ATTRIBUTES ObjectAttributes, PIO_STATUS_BLOCK IoStatusBlock,
                                     PLARGE_INTEGER AllocationSize, ULONG FileAttributes, ULONG ShareAccess,
                                     ULONG CreateDisposition, ULONG CreateOptions, PVOID EaBuffer,
                                     ULONG EaLength);
NTSYSAPI NTSTATUS NTAPI ZwOpenFile(PHANDLE FileHandle, ACCESS_MASK DesiredAccess,
                                   POBJECT_ATTRIBUTES ObjectAttributes, PIO_STATUS_BLOCK IoStatusBlock,
                                   ULONG ShareAccess, ULONG OpenOptions);

/* ---- tracing ------------------------------------------------------------- */

typedef ULONGLONG REGHANDLE, *PREGHANDLE;
typedef struct _EVENT_DESCRIPTOR {
    USHORT Id;
    UCHAR Version, Channel, Level, Opcode;
    USHORT Task;
    ULONGLONG Keyword;
} EVENT_DESCRIPTOR, *PEVENT_DESCRIPTOR;
typedef const EVENT_DESCRIPTOR *PCEVENT_DESCRIPTOR;
typedef struct _EVENT_DATA_DESCRIPTOR {
    ULONGLONG Ptr;
    ULONG Size, Reserved;
} EVENT_DATA_DESCRIPTOR, *PEVENT_DATA_DESCRIPTOR;
typedef VOID NTAPI ETWENABLECALLBACK(LPCGUID SourceId, ULONG ControlCode, UCHAR Level,
                                     ULONGLONG MatchAnyKeyword, ULONGLONG MatchAllKeyword, PVOID FilterData,
                                     PVOID CallbackContext);
typedef ETWENABLECALLBACK *PETWENABLECALLBACK;

static FORCEINLINE VOID EventDataDescCreate(PEVENT_DATA_DESCRIPTOR Descriptor, const VOID *DataPtr,
                                            ULONG DataSize)
{
    Descriptor->Ptr = (ULONG_PTR)DataPtr;
    Descriptor->Size = DataSize;
    Descriptor->Reserved = 0;
}
/* Events of a driver's own provider are in the service's trace while that is on (aerogpu_dbgctl --trace). */
NTKERNELAPI NTSTATUS NTAPI EtwRegister(LPCGUID ProviderId, PETWENABLECALLBACK EnableCallback,
                                       PVOID CallbackContext, PREGHANDLE RegHandle);
NTKERNELAPI NTSTATUS NTAPI EtwUnregister(REGHANDLE RegHandle);
NTKERNELAPI BOOLEAN NTAPI EtwEventEnabled(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor);
NTKERNELAPI BOOLEAN NTAPI EtwProviderEnabled(REGHANDLE RegHandle, UCHAR Level, ULONGLONG Keyword);
NTKERNELAPI NTSTATUS NTAPI EtwWrite(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor,
                                    LPCGUID ActivityId, ULONG UserDataCount, PEVENT_DATA_DESCRIPTOR UserData);

/* ---- debugging ----------------------------------------------------------- */

NTKERNELAPI ULONG NTAPI DbgPrint(PCSTR Format, ...) __attribute__((format(printf, 1, 2)));
#if defined(__x86_64__) && !defined(_WIN32)
typedef __builtin_ms_va_list wddm_va_list; /* of an NTAPI function */
#else
typedef va_list wddm_va_list;
#endif
NTKERNELAPI ULONG NTAPI vDbgPrintEx(ULONG ComponentId, ULONG Level, PCSTR Format, wddm_va_list arglist);
/* Nobody debugs: a break is a violation, a question has no answer (0), as without a debugger in Windows. */
NTKERNELAPI VOID NTAPI DbgBreakPoint(VOID);
NTKERNELAPI ULONG NTAPI DbgPrompt(PCSTR Prompt, PSTR Response, ULONG Length);
NTKERNELAPI BOOLEAN NTAPI KdRefreshDebuggerNotPresent(VOID);
#define KdPrintEx(arguments) DbgPrintEx arguments
#define KdBreakPoint()       DbgBreakPoint()
#define DPFLTR_DEFAULT_ID    101
#define DPFLTR_VIDEO_ID      9
#define BUGCODE_ID_DRIVER    0x000000D2 /* for what a driver finds in itself */
/* Does not return in Windows; here it is a violation, and the adapter is lost. */
NTKERNELAPI VOID NTAPI KeBugCheckEx(ULONG BugCheckCode, ULONG_PTR BugCheckParameter1,
                                    ULONG_PTR BugCheckParameter2, ULONG_PTR BugCheckParameter3,
                                    ULONG_PTR BugCheckParameter4);

/* Who is asked when Windows bug checks; here nobody is, for no dump is written. At any IRQL. */
typedef enum _KBUGCHECK_BUFFER_DUMP_STATE {
    BufferEmpty = 0,
    BufferInserted = 1,
    BufferStarted = 2,
    BufferFinished = 3,
    BufferIncomplete = 4
} KBUGCHECK_BUFFER_DUMP_STATE;
typedef enum _KBUGCHECK_CALLBACK_REASON {
    KbCallbackInvalid = 0,
    KbCallbackReserved1 = 1,
    KbCallbackSecondaryDumpData = 2,
    KbCallbackDumpIo = 3,
    KbCallbackAddPages = 4
} KBUGCHECK_CALLBACK_REASON;
struct _KBUGCHECK_REASON_CALLBACK_RECORD;
typedef VOID NTAPI KBUGCHECK_REASON_CALLBACK_ROUTINE(KBUGCHECK_CALLBACK_REASON Reason,
                                                     struct _KBUGCHECK_REASON_CALLBACK_RECORD *Record,
                                                     PVOID ReasonSpecificData,
                                                     ULONG ReasonSpecificDataLength);
typedef KBUGCHECK_REASON_CALLBACK_ROUTINE *PKBUGCHECK_REASON_CALLBACK_ROUTINE;
typedef struct _KBUGCHECK_REASON_CALLBACK_RECORD {
    LIST_ENTRY Entry;
    PKBUGCHECK_REASON_CALLBACK_ROUTINE CallbackRoutine;
    PUCHAR Component;
    ULONG_PTR Checksum;
    KBUGCHECK_CALLBACK_REASON Reason;
    UCHAR State;
} KBUGCHECK_REASON_CALLBACK_RECORD, *PKBUGCHECK_REASON_CALLBACK_RECORD;
typedef struct _KBUGCHECK_SECONDARY_DUMP_DATA {
    PVOID InBuffer;
    ULONG InBufferLength, MaximumAllowed;
    GUID Guid;
    PVOID OutBuffer;
    ULONG OutBufferLength;
} KBUGCHECK_SECONDARY_DUMP_DATA, *PKBUGCHECK_SECONDARY_DUMP_DATA;
typedef struct _KBUGCHECK_ADD_PAGES {
    PVOID Context;
    ULONG Flags, BugCheckCode;
    ULONG_PTR Address, Count;
} KBUGCHECK_ADD_PAGES, *PKBUGCHECK_ADD_PAGES;
typedef VOID NTAPI KBUGCHECK_CALLBACK_ROUTINE(PVOID Buffer, ULONG Length);
typedef KBUGCHECK_CALLBACK_ROUTINE *PKBUGCHECK_CALLBACK_ROUTINE;
typedef struct _KBUGCHECK_CALLBACK_RECORD {
    LIST_ENTRY Entry;
    PKBUGCHECK_CALLBACK_ROUTINE CallbackRoutine;
    PVOID Buffer;
    ULONG Length;
    PUCHAR Component;
    ULONG_PTR Checksum;
    UCHAR State;
} KBUGCHECK_CALLBACK_RECORD, *PKBUGCHECK_CALLBACK_RECORD;
#define KeInitializeCallbackRecord(record) ((record)->State = BufferEmpty)
/* FALSE: it is registered; it is not. */
NTKERNELAPI BOOLEAN NTAPI KeRegisterBugCheckCallback(PKBUGCHECK_CALLBACK_RECORD CallbackRecord,
                                                     PKBUGCHECK_CALLBACK_ROUTINE CallbackRoutine,
                                                     PVOID Buffer, ULONG Length, PUCHAR Component);
NTKERNELAPI BOOLEAN NTAPI KeDeregisterBugCheckCallback(PKBUGCHECK_CALLBACK_RECORD CallbackRecord);
/* FALSE: it is registered. */
NTKERNELAPI BOOLEAN NTAPI KeRegisterBugCheckReasonCallback(PKBUGCHECK_REASON_CALLBACK_RECORD CallbackRecord,
                                                           PKBUGCHECK_REASON_CALLBACK_ROUTINE CallbackRoutine,
                                                           KBUGCHECK_CALLBACK_REASON Reason,
                                                           PUCHAR Component);
/* FALSE: it is not. */
NTKERNELAPI BOOLEAN NTAPI
KeDeregisterBugCheckReasonCallback(PKBUGCHECK_REASON_CALLBACK_RECORD CallbackRecord);

WDDM_SIZE(KBUGCHECK_CALLBACK_RECORD, 64);
WDDM_SIZE(KBUGCHECK_REASON_CALLBACK_RECORD, 48);
WDDM_SIZE(KBUGCHECK_SECONDARY_DUMP_DATA, 48);
WDDM_SIZE(KBUGCHECK_ADD_PAGES, 32);
WDDM_SIZE(KLOCK_QUEUE_HANDLE, 24);
WDDM_SIZE(KGUARDED_MUTEX, 56);
WDDM_SIZE(ERESOURCE, 104);
WDDM_SIZE(EX_RUNDOWN_REF, 8);
WDDM_SIZE(RTL_OSVERSIONINFOW, 276);
WDDM_SIZE(EVENT_DESCRIPTOR, 16);
WDDM_SIZE(EVENT_DATA_DESCRIPTOR, 16);
WDDM_SIZE(IO_STACK_LOCATION, 72);
WDDM_SIZE(IRP, 208);
WDDM_OFFSET(IRP, UserBuffer, 112);

WDDM_C_END

#include "wddm/ntdma.h"
