/* SPDX-License-Identifier: MIT */
/* ntddk.h: the kernel routines and types that a WDDM 1.1 display miniport may use.
 *
 * Names, parameters and IRQL rules: the WDK's public documentation of wdm.h and ntddk.h. Against Windows the
 * routines are imported from ntoskrnl and hal; elsewhere the user-space kernel (src/dxgkrnl) exports them,
 * and each checks the IRQL that its documentation demands. Objects that the WDK documents as opaque have
 * their documented size and are opaque here too.
 */
#pragma once

#include "wddm/ntdef.h"

/* ---- IRQL ---------------------------------------------------------------- */

#define PASSIVE_LEVEL  0
#define APC_LEVEL      1
#define DISPATCH_LEVEL 2
#define HIGH_LEVEL     15

typedef ULONG_PTR KSPIN_LOCK, *PKSPIN_LOCK;

/* On x64 the IRQL is the processor's CR8, and these are inline; on x86 hal.dll has them. */
#if defined(_WIN64)
FORCEINLINE KIRQL KeGetCurrentIrql(VOID)
{
    ULONG64 irql;

    __asm__ volatile("mov %%cr8, %0" : "=r"(irql)::"memory");
    return (KIRQL)irql;
}
FORCEINLINE VOID KeLowerIrql(KIRQL NewIrql)
{
    __asm__ volatile("mov %0, %%cr8" ::"r"((ULONG64)NewIrql) : "memory");
}
FORCEINLINE KIRQL KfRaiseIrql(KIRQL NewIrql)
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
FORCEINLINE VOID KeInitializeSpinLock(PKSPIN_LOCK SpinLock) /* inline in the WDK, too: x64 exports none */
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

typedef enum _KWAIT_REASON { Executive = 0 } KWAIT_REASON;
typedef enum _MODE { KernelMode = 0, UserMode = 1 } MODE;
typedef enum _EVENT_TYPE { NotificationEvent = 0, SynchronizationEvent = 1 } EVENT_TYPE;
typedef LONG KPRIORITY;

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
NTKERNELAPI NTSTATUS NTAPI KeWaitForSingleObject(PVOID Object, KWAIT_REASON WaitReason,
                                                 KPROCESSOR_MODE WaitMode, BOOLEAN Alertable,
                                                 PLARGE_INTEGER Timeout);
NTKERNELAPI NTSTATUS NTAPI KeDelayExecutionThread(KPROCESSOR_MODE WaitMode, BOOLEAN Alertable,
                                                  PLARGE_INTEGER Interval);
NTHALAPI VOID NTAPI KeStallExecutionProcessor(ULONG MicroSeconds);

NTKERNELAPI VOID FASTCALL ExAcquireFastMutex(PFAST_MUTEX FastMutex);
NTKERNELAPI VOID FASTCALL ExReleaseFastMutex(PFAST_MUTEX FastMutex);
FORCEINLINE VOID ExInitializeFastMutex(PFAST_MUTEX FastMutex)
{
    FastMutex->Count = 1;
    FastMutex->Owner = NULL;
    FastMutex->Contention = 0;
    KeInitializeEvent(&FastMutex->Event, SynchronizationEvent, FALSE);
}

/* ---- time ---------------------------------------------------------------- */

NTHALAPI LARGE_INTEGER NTAPI KeQueryPerformanceCounter(PLARGE_INTEGER PerformanceFrequency);
NTKERNELAPI ULONG NTAPI KeQueryTimeIncrement(VOID);

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
    LONG Period;
} KTIMER, *PKTIMER;

NTKERNELAPI VOID NTAPI KeInitializeDpc(PKDPC Dpc, PKDEFERRED_ROUTINE DeferredRoutine, PVOID DeferredContext);
NTKERNELAPI BOOLEAN NTAPI KeInsertQueueDpc(PKDPC Dpc, PVOID SystemArgument1, PVOID SystemArgument2);
NTKERNELAPI VOID NTAPI KeFlushQueuedDpcs(VOID);
NTKERNELAPI VOID NTAPI KeInitializeTimer(PKTIMER Timer);
NTKERNELAPI BOOLEAN NTAPI KeSetTimer(PKTIMER Timer, LARGE_INTEGER DueTime, PKDPC Dpc);
NTKERNELAPI BOOLEAN NTAPI KeCancelTimer(PKTIMER Timer);

/* ---- memory -------------------------------------------------------------- */

typedef enum _POOL_TYPE { NonPagedPool = 0, PagedPool = 1 } POOL_TYPE;

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

#define MmGetMdlPfnArray(mdl)       ((PPFN_NUMBER)((mdl) + 1))
#define MmGetMdlByteCount(mdl)      ((mdl)->ByteCount)
#define MmGetMdlByteOffset(mdl)     ((mdl)->ByteOffset)
#define MmGetMdlVirtualAddress(mdl) ((PVOID)((PCHAR)(mdl)->StartVa + (mdl)->ByteOffset))

NTKERNELAPI PVOID NTAPI ExAllocatePoolWithTag(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag);
NTKERNELAPI VOID NTAPI ExFreePoolWithTag(PVOID P, ULONG Tag);
NTKERNELAPI VOID NTAPI ExFreePool(PVOID P);
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
NTKERNELAPI VOID NTAPI MmUnmapIoSpace(PVOID BaseAddress, SIZE_T NumberOfBytes);

#define PAGE_READONLY 0x02
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
FORCEINLINE UCHAR READ_REGISTER_UCHAR(volatile UCHAR *Register)
{
    return *Register;
}
FORCEINLINE ULONG READ_REGISTER_ULONG(volatile ULONG *Register)
{
    return *Register;
}
FORCEINLINE VOID WRITE_REGISTER_UCHAR(volatile UCHAR *Register, UCHAR Value)
{
    *Register = Value;
    __sync_synchronize();
}
FORCEINLINE VOID WRITE_REGISTER_ULONG(volatile ULONG *Register, ULONG Value)
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

FORCEINLINE VOID KeMemoryBarrier(VOID)
{
    __sync_synchronize();
}
FORCEINLINE LONG InterlockedIncrement(volatile LONG *Addend)
{
    return __sync_add_and_fetch(Addend, 1);
}
FORCEINLINE LONG InterlockedDecrement(volatile LONG *Addend)
{
    return __sync_sub_and_fetch(Addend, 1);
}
FORCEINLINE LONG InterlockedExchange(volatile LONG *Target, LONG Value)
{
    return __atomic_exchange_n(Target, Value, __ATOMIC_SEQ_CST);
}
FORCEINLINE LONG InterlockedCompareExchange(volatile LONG *Destination, LONG Exchange, LONG Comperand)
{
    return __sync_val_compare_and_swap(Destination, Comperand, Exchange);
}
FORCEINLINE LONGLONG InterlockedIncrement64(volatile LONGLONG *Addend)
{
    return __sync_add_and_fetch(Addend, 1);
}
FORCEINLINE LONGLONG InterlockedCompareExchange64(volatile LONGLONG *Destination, LONGLONG Exchange,
                                                  LONGLONG Comperand)
{
    return __sync_val_compare_and_swap(Destination, Comperand, Exchange);
}
FORCEINLINE ULONG64 ReadULong64Acquire(const volatile ULONG64 *Source)
{
#if UINTPTR_MAX > UINT32_MAX
    return __atomic_load_n(Source, __ATOMIC_ACQUIRE);
#else
    return (ULONG64)InterlockedCompareExchange64((volatile LONGLONG *)Source, 0, 0);
#endif
}
FORCEINLINE LONGLONG InterlockedExchange64(volatile LONGLONG *Target, LONGLONG Value)
{
    LONGLONG old; /* x86 has no exchange of 64 bits */

    do
        old = *Target;
    while (InterlockedCompareExchange64(Target, Value, old) != old);
    return old;
}

/* ---- resources, as the PnP manager hands them out ------------------------ */

typedef enum _INTERFACE_TYPE { InterfaceTypeUndefined = -1, PCIBus = 5 } INTERFACE_TYPE;

#define CmResourceTypeNull      0
#define CmResourceTypePort      1
#define CmResourceTypeInterrupt 2
#define CmResourceTypeMemory    3

#define CM_RESOURCE_INTERRUPT_LEVEL_SENSITIVE 0x0000
#define CM_RESOURCE_INTERRUPT_LATCHED         0x0001
#define CM_RESOURCE_INTERRUPT_MESSAGE         0x0002
#define CM_RESOURCE_MEMORY_READ_WRITE         0x0000
#define CM_RESOURCE_MEMORY_PREFETCHABLE       0x0004

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
        struct {
            PHYSICAL_ADDRESS Start;
            ULONG Length;
        } Memory;
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

typedef struct _DRIVER_OBJECT *PDRIVER_OBJECT;
typedef struct _DEVICE_OBJECT *PDEVICE_OBJECT;
typedef struct _EPROCESS *PEPROCESS;
typedef struct _OBJECT_TYPE *POBJECT_TYPE;
typedef struct _FILE_OBJECT *PFILE_OBJECT;
typedef struct _IRP *PIRP;
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
    PowerDeviceD3 = 4
} DEVICE_POWER_STATE;

typedef enum _POWER_ACTION {
    PowerActionNone = 0,
    PowerActionReserved = 1,
    PowerActionSleep = 2,
    PowerActionHibernate = 3,
    PowerActionShutdown = 4,
    PowerActionShutdownReset = 5,
    PowerActionShutdownOff = 6
} POWER_ACTION;

typedef NTSTATUS NTAPI DRIVER_INITIALIZE(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath);

#define OBJ_CASE_INSENSITIVE   0x00000040
#define OBJ_KERNEL_HANDLE      0x00000200
#define KEY_READ               0x00020019
#define PLUGPLAY_REGKEY_DEVICE 1
#define PLUGPLAY_REGKEY_DRIVER 2
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
NTSYSAPI NTSTATUS NTAPI ZwClose(HANDLE Handle);
NTKERNELAPI NTSTATUS NTAPI IoOpenDeviceRegistryKey(PDEVICE_OBJECT DeviceObject, ULONG DevInstKeyType,
                                                   ACCESS_MASK DesiredAccess, PHANDLE DevInstRegKey);
NTSYSAPI VOID NTAPI RtlInitUnicodeString(PUNICODE_STRING DestinationString, PCWSTR SourceString);

#define SE_DEBUG_PRIVILEGE 20
NTKERNELAPI BOOLEAN NTAPI SeSinglePrivilegeCheck(LUID PrivilegeValue, KPROCESSOR_MODE PreviousMode);
NTKERNELAPI KPROCESSOR_MODE NTAPI ExGetPreviousMode(VOID);
NTKERNELAPI PEPROCESS NTAPI PsGetCurrentProcess(VOID);
NTKERNELAPI HANDLE NTAPI PsGetCurrentProcessId(VOID);
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
#define DPFLTR_IHVVIDEO_ID   78
#define DPFLTR_ERROR_LEVEL   0
#define DPFLTR_WARNING_LEVEL 1
#define DPFLTR_TRACE_LEVEL   2
#define DPFLTR_INFO_LEVEL    3

/* Windows: ntoskrnl's. Elsewhere the C library's. */
WDDM_EXTERN_C void *memcpy(void *to, const void *from, size_t size);
WDDM_EXTERN_C void *memmove(void *to, const void *from, size_t size);
WDDM_EXTERN_C void *memset(void *to, int value, size_t size);
WDDM_EXTERN_C int memcmp(const void *a, const void *b, size_t size);
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
