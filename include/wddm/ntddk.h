/* SPDX-License-Identifier: MIT */
/* ntddk.h: the kernel routines and types that a WDDM 1.1 display miniport may use.
 *
 * Names, parameters and IRQL rules: the WDK's public documentation of wdm.h and ntddk.h. Against Windows the
 * routines are imported from ntoskrnl and hal; elsewhere the user-space kernel (src/dxgkrnl) exports them,
 * and each checks the IRQL that its documentation demands. Objects that the WDK documents as opaque have
 * their documented size and are opaque here too.
 *
 * In parts by what they are about, which a driver need not name: ntke.h, ntmm.h; here: registers, resources, objects, drivers, requests;
 * and, for what fewer drivers use, ntio.h, ntkern.h, ntrtl.h.
 */
#pragma once

#include "wddm/ntmm.h"

WDDM_C_BEGIN

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

WDDM_SIZE(CM_PARTIAL_RESOURCE_DESCRIPTOR, 20);
WDDM_SIZE(CM_RESOURCE_LIST, 40);
WDDM_SIZE(OBJECT_ATTRIBUTES, 48);
WDDM_SIZE(IO_STATUS_BLOCK, 16);
WDDM_SIZE(RTL_QUERY_REGISTRY_TABLE, 56);

WDDM_C_END

#include "wddm/ntio.h"
#include "wddm/ntkern.h"
#include "wddm/ntrtl.h"
