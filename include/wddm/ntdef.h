/* SPDX-License-Identifier: MIT */
/* ntdef.h: the Windows base types, sized for the Windows x64 (LLP64) data model on every compiler.
 *
 * Source: the WDK's public documentation. Invariants:
 *  1. ULONG, LONG and UINT are 32 bits also where the compiler's `long` has 64, so that every structure of
 *     include/wddm has the layout that it has on Windows x64. The headers assert this.
 *  2. A WCHAR is one UTF-16 unit. Outside Windows, L"..." literals have that type under -fshort-wchar, u"..." always.
 *  3. These headers include no header of the platform but the freestanding ones, and so never mix with a Windows SDK; under
 *     WDDM_WITH_WINDOWS, for sources that speak COM too, the base types are those of <windows.h> (with WIN32_NO_STATUS).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdarg.h>

#ifdef __cplusplus
#define WDDM_ASSERT(cond) static_assert(cond, #cond)
#define WDDM_C_BEGIN      extern "C" {
#define WDDM_C_END        }
#else
#define WDDM_ASSERT(cond) _Static_assert(cond, #cond)
#define WDDM_C_BEGIN
#define WDDM_C_END
#endif
/* The numbers are those of x64; of x86 we have none that do not come from these headers. */
#if __SIZEOF_POINTER__ > 4
#define WDDM_SIZE(type, size)             WDDM_ASSERT(sizeof(type) == (size))
#define WDDM_OFFSET(type, member, offset) WDDM_ASSERT(offsetof(type, member) == (offset))
#else
#define WDDM_SIZE(type, size)             WDDM_ASSERT(sizeof(type) != 0)
#define WDDM_OFFSET(type, member, offset) WDDM_ASSERT(offsetof(type, member) <= (offset))
#endif

#if defined(WDDM_WITH_WINDOWS)
#include <windows.h>
typedef LONG NTSTATUS;
#else
#define VOID  void
#define CONST const
/* How a miniport and the kernel call each other: as on Windows outside it too, so that a driver's image runs as it is. */
#if defined(_WIN32) && !defined(_WIN64)
#define NTAPI    __attribute__((stdcall))
#define FASTCALL __attribute__((fastcall))
#elif defined(__x86_64__) && !defined(_WIN32)
#define NTAPI    __attribute__((ms_abi))
#define FASTCALL NTAPI
#else
#define NTAPI
#define FASTCALL
#endif
#define APIENTRY NTAPI
#define CALLBACK NTAPI
#define IN
#define OUT
#define OPTIONAL
#define FORCEINLINE inline __attribute__((always_inline))
#undef __forceinline /* mingw's is of another linkage */
#define __forceinline FORCEINLINE
#undef UNALIGNED /* mingw has one, too */
#define UNALIGNED
#define DUMMYSTRUCTNAME /* structures and unions without a name are the compiler's */
#define DUMMYUNIONNAME
#if !defined(_WIN32)
#define __cdecl
#endif
#define DECLSPEC_ALIGN(bytes) __attribute__((aligned(bytes)))
#define DECLSPEC_CACHEALIGN   DECLSPEC_ALIGN(64)
#define C_ASSERT(cond)        WDDM_ASSERT(cond)

typedef void *PVOID;
typedef PVOID HANDLE, *PHANDLE;
typedef char CHAR, *PCHAR, *PSTR;
typedef const char *PCSTR;
typedef unsigned char UCHAR, *PUCHAR, BYTE, *PBYTE;
typedef __INT16_TYPE__ SHORT, *PSHORT;
typedef __UINT16_TYPE__ USHORT, *PUSHORT, WORD;
typedef __INT32_TYPE__ LONG, *PLONG, INT, *PINT;
typedef __UINT32_TYPE__ ULONG, *PULONG, UINT, *PUINT, DWORD, *PDWORD, ULONG32, UINT32;
typedef __INT64_TYPE__ LONGLONG, *PLONGLONG, LONG64, INT64;
typedef __UINT64_TYPE__ ULONGLONG, *PULONGLONG, ULONG64, *PULONG64, UINT64;
typedef __UINT8_TYPE__ UINT8;
typedef __UINT16_TYPE__ UINT16;
typedef __INT16_TYPE__ INT16;
typedef __INTPTR_TYPE__ LONG_PTR, INT_PTR;
typedef __UINTPTR_TYPE__ ULONG_PTR, *PULONG_PTR, UINT_PTR, SIZE_T, *PSIZE_T, KAFFINITY;
typedef UCHAR BOOLEAN, *PBOOLEAN;
typedef INT BOOL;
typedef UCHAR KIRQL, *PKIRQL;
typedef CHAR KPROCESSOR_MODE;
typedef CHAR CCHAR;
typedef LONG NTSTATUS, *PNTSTATUS;
typedef ULONG ACCESS_MASK;
#if defined(__cplusplus) && defined(_WIN32)
typedef wchar_t WCHAR; /* as L"..." there */
#elif defined(__cplusplus)
typedef char16_t WCHAR;
#else
typedef __UINT16_TYPE__ WCHAR;
#endif
typedef WCHAR *PWCHAR, *PWSTR;
typedef CONST WCHAR *PCWSTR;

#define TRUE  1
#define FALSE 0
#ifndef NULL
#define NULL 0
#endif

typedef union _LARGE_INTEGER {
    struct {
        ULONG LowPart;
        LONG HighPart;
    };
    struct {
        ULONG LowPart;
        LONG HighPart;
    } u;
    LONGLONG QuadPart;
} LARGE_INTEGER, *PLARGE_INTEGER;

typedef union _ULARGE_INTEGER {
    struct {
        ULONG LowPart;
        ULONG HighPart;
    };
    struct {
        ULONG LowPart;
        ULONG HighPart;
    } u;
    ULONGLONG QuadPart;
} ULARGE_INTEGER, *PULARGE_INTEGER;

typedef LARGE_INTEGER PHYSICAL_ADDRESS, *PPHYSICAL_ADDRESS;

typedef struct _LUID {
    ULONG LowPart;
    LONG HighPart;
} LUID, *PLUID;

typedef struct _GUID {
    ULONG Data1;
    USHORT Data2;
    USHORT Data3;
    UCHAR Data4[8];
} GUID, *LPGUID;
typedef const GUID *LPCGUID;

/* Each source has its own: whether it includes initguid.h makes no difference. */
#undef DEFINE_GUID
#define DEFINE_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8)                                         \
    static CONST GUID name __attribute__((unused)) = {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}}

#undef DECLARE_HANDLE
#define DECLARE_HANDLE(name)                                                                                 \
    typedef struct name##__ {                                                                                \
        int unused;                                                                                          \
    } * name

typedef struct _UNICODE_STRING {
    USHORT Length; /* bytes, without a terminator */
    USHORT MaximumLength;
    PWSTR Buffer;
} UNICODE_STRING, *PUNICODE_STRING;
typedef const UNICODE_STRING *PCUNICODE_STRING;

typedef struct _STRING {
    USHORT Length;
    USHORT MaximumLength;
    PCHAR Buffer;
} ANSI_STRING, *PANSI_STRING;

typedef struct _LIST_ENTRY {
    struct _LIST_ENTRY *Flink;
    struct _LIST_ENTRY *Blink;
} LIST_ENTRY, *PLIST_ENTRY;

typedef struct _RECT {
    LONG left, top, right, bottom;
} RECT, *PRECT;

typedef struct _POINT {
    LONG x, y;
} POINT;
#endif /* WDDM_WITH_WINDOWS */

#if defined(_WIN32)
#define NTKERNELAPI __attribute__((dllimport))
#define NTHALAPI    __attribute__((dllimport))
#else
/* What the user-space kernel exports to a miniport that is a shared object. */
#define NTKERNELAPI __attribute__((visibility("default")))
#define NTHALAPI    NTKERNELAPI
#endif
#if !defined(WDDM_WITH_WINDOWS)
#define NTSYSAPI NTKERNELAPI
#endif

#if !defined(Int32x32To64)
#define Int32x32To64(a, b)  ((LONGLONG)(LONG)(a) * (LONGLONG)(LONG)(b))
#define UInt32x32To64(a, b) ((ULONGLONG)(ULONG)(a) * (ULONGLONG)(ULONG)(b))
#endif

#define NT_SUCCESS(status) ((NTSTATUS)(status) >= 0)
#if !defined(NT_ERROR)
#define NT_INFORMATION(status) ((ULONG)(status) >> 30 == 1)
#define NT_WARNING(status)     ((ULONG)(status) >> 30 == 2)
#define NT_ERROR(status)       ((ULONG)(status) >> 30 == 3)
#endif
#define NT_STATUS_C(value) ((NTSTATUS)(value))
#if !defined(WDDM_WITH_WINDOWS)
#define NOTHING
#define UNREFERENCED_PARAMETER(p)                ((void)(p))
#define FIELD_OFFSET(type, member)               ((LONG)offsetof(type, member))
#define CONTAINING_RECORD(address, type, member) ((type *)((CHAR *)(address)-offsetof(type, member)))
#define ARRAYSIZE(array)                         RTL_NUMBER_OF(array)
#if !defined(min) && !defined(NOMINMAX)
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#endif
#define MAXULONG             0xFFFFFFFFu
#define RTL_NUMBER_OF(array) (sizeof(array) / sizeof((array)[0]))
#endif

/* The status codes that pass this border, with their values from the WDK's ntstatus.h: a table for printers,
 * and the names themselves. */
#define WDDM_STATUS_CODES(S)                                                                                 \
    S(STATUS_SUCCESS, 0x00000000)                                                                            \
    S(STATUS_ABANDONED_WAIT_0, 0x00000080)                                                                   \
    S(STATUS_TIMEOUT, 0x00000102)                                                                            \
    S(STATUS_PENDING, 0x00000103)                                                                            \
    S(STATUS_BUFFER_OVERFLOW, 0x80000005)                                                                    \
    S(STATUS_PARTIAL_COPY, 0x8000000D)                                                                       \
    S(STATUS_NO_MORE_ENTRIES, 0x8000001A)                                                                    \
    S(STATUS_DEVICE_BUSY, 0x80000011)                                                                        \
    S(STATUS_UNSUCCESSFUL, 0xC0000001)                                                                       \
    S(STATUS_NOT_IMPLEMENTED, 0xC0000002)                                                                    \
    S(STATUS_INFO_LENGTH_MISMATCH, 0xC0000004)                                                               \
    S(STATUS_ACCESS_VIOLATION, 0xC0000005)                                                                   \
    S(STATUS_INVALID_HANDLE, 0xC0000008)                                                                     \
    S(STATUS_INVALID_PARAMETER, 0xC000000D)                                                                  \
    S(STATUS_NO_SUCH_DEVICE, 0xC000000E)                                                                     \
    S(STATUS_INVALID_DEVICE_REQUEST, 0xC0000010)                                                             \
    S(STATUS_NO_MEMORY, 0xC0000017)                                                                          \
    S(STATUS_ACCESS_DENIED, 0xC0000022)                                                                      \
    S(STATUS_BUFFER_TOO_SMALL, 0xC0000023)                                                                   \
    S(STATUS_OBJECT_TYPE_MISMATCH, 0xC0000024)                                                               \
    S(STATUS_OBJECT_NAME_NOT_FOUND, 0xC0000034)                                                              \
    S(STATUS_PRIVILEGE_NOT_HELD, 0xC0000061)                                                                 \
    S(STATUS_INTEGER_OVERFLOW, 0xC0000095)                                                                   \
    S(STATUS_INSUFFICIENT_RESOURCES, 0xC000009A)                                                             \
    S(STATUS_DEVICE_NOT_READY, 0xC00000A3)                                                                   \
    S(STATUS_IO_TIMEOUT, 0xC00000B5)                                                                         \
    S(STATUS_NOT_SUPPORTED, 0xC00000BB)                                                                      \
    S(STATUS_INTERNAL_ERROR, 0xC00000E5)                                                                     \
    S(STATUS_IMAGE_ALREADY_LOADED, 0xC000010E)                                                               \
    S(STATUS_CANCELLED, 0xC0000120)                                                                          \
    S(STATUS_DEVICE_CONFIGURATION_ERROR, 0xC0000182)                                                         \
    S(STATUS_INVALID_DEVICE_STATE, 0xC0000184)                                                               \
    S(STATUS_INVALID_BUFFER_SIZE, 0xC0000206)                                                                \
    S(STATUS_NOT_FOUND, 0xC0000225)                                                                          \
    S(STATUS_RETRY, 0xC000022D)                                                                              \
    S(STATUS_DEVICE_REMOVED, 0xC00002B6)                                                                     \
    S(STATUS_DEVICE_HUNG, 0xC0000507)                                                                        \
    S(STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER, 0xC01E0000)                                                  \
    S(STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER, 0xC01E0001)                                                   \
    S(STATUS_GRAPHICS_INVALID_DISPLAY_ADAPTER, 0xC01E0002)                                                   \
    S(STATUS_GRAPHICS_ADAPTER_WAS_RESET, 0xC01E0003)                                                         \
    S(STATUS_GRAPHICS_INVALID_DRIVER_MODEL, 0xC01E0004)                                                      \
    S(STATUS_GRAPHICS_PRESENT_MODE_CHANGED, 0xC01E0005)                                                      \
    S(STATUS_GRAPHICS_PRESENT_OCCLUDED, 0xC01E0006)                                                          \
    S(STATUS_GRAPHICS_NO_VIDEO_MEMORY, 0xC01E0100)                                                           \
    S(STATUS_GRAPHICS_CANT_LOCK_MEMORY, 0xC01E0101)                                                          \
    S(STATUS_GRAPHICS_ALLOCATION_BUSY, 0xC01E0102)                                                           \
    S(STATUS_GRAPHICS_TOO_MANY_REFERENCES, 0xC01E0103)                                                       \
    S(STATUS_GRAPHICS_TRY_AGAIN_LATER, 0xC01E0104)                                                           \
    S(STATUS_GRAPHICS_TRY_AGAIN_NOW, 0xC01E0105)                                                             \
    S(STATUS_GRAPHICS_ALLOCATION_INVALID, 0xC01E0106)                                                        \
    S(STATUS_GRAPHICS_CANT_EVICT_PINNED_ALLOCATION, 0xC01E0109)                                              \
    S(STATUS_GRAPHICS_WRONG_ALLOCATION_DEVICE, 0xC01E0115)                                                   \
    S(STATUS_GRAPHICS_INVALID_ALLOCATION_HANDLE, 0xC01E0114)                                                 \
    S(STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY, 0xC01E0300)                                                    \
    S(STATUS_GRAPHICS_VIDPN_TOPOLOGY_NOT_SUPPORTED, 0xC01E0301)                                              \
    S(STATUS_GRAPHICS_INVALID_VIDPN, 0xC01E0303)                                                             \
    S(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE, 0xC01E0304)                                              \
    S(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET, 0xC01E0305)                                              \
    S(STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED, 0xC01E0306)                                              \
    S(STATUS_GRAPHICS_MODE_NOT_PINNED, 0x401E0307)                                                           \
    S(STATUS_GRAPHICS_INVALID_VIDPN_SOURCEMODESET, 0xC01E0308)                                               \
    S(STATUS_GRAPHICS_INVALID_VIDPN_TARGETMODESET, 0xC01E0309)                                               \
    S(STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET, 0x401E034C)                                               \
    S(STATUS_GRAPHICS_DATASET_IS_EMPTY, 0x401E034B)                                                          \
    S(STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET, 0xC01E0314)                                                   \
    S(STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN, 0xC01E0323)                                           \
    S(STATUS_GRAPHICS_MODE_ID_MUST_BE_UNIQUE, 0xC01E0324)                                                    \
    S(STATUS_GRAPHICS_VIDEO_PRESENT_TARGETS_LESS_THAN_SOURCES, 0xC01E0326)                                   \
    S(STATUS_GRAPHICS_MONITOR_NOT_CONNECTED, 0xC01E0338)                                                     \
    S(STATUS_GRAPHICS_PATH_ALREADY_IN_TOPOLOGY, 0xC01E0313)                                                  \
    S(STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY, 0xC01E0327)                                                      \
    S(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE, 0xC01E0310)                                         \
    S(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET_MODE, 0xC01E0311)                                         \
    S(STATUS_GRAPHICS_SOURCE_NOT_IN_TOPOLOGY, 0xC01E0339)                                                    \
    S(STATUS_GRAPHICS_GAMMA_RAMP_NOT_SUPPORTED, 0xC01E0348)                                                  \
    S(STATUS_GRAPHICS_DRIVER_MISMATCH, 0x401E0117)                                                           \
    S(STATUS_GRAPHICS_CHILD_DESCRIPTOR_NOT_SUPPORTED, 0xC01E0401)                                            \
    S(STATUS_ILLEGAL_INSTRUCTION, 0xC000001D)                                                                \
    S(STATUS_DEVICE_HARDWARE_ERROR, 0xC0000483)                                                              \
    S(STATUS_ACPI_INVALID_DATA, 0xC014000F)                                                                  \
    S(STATUS_DATA_ERROR, 0xC000003E)                                                                         \
    S(STATUS_DEVICE_DOES_NOT_EXIST, 0xC00000C0)                                                              \
    S(STATUS_GRAPHICS_NO_ACTIVE_VIDPN, 0xC01E0336)                                                           \
    S(STATUS_MONITOR_NO_DESCRIPTOR, 0xC01D0001)                                                              \
    S(STATUS_MONITOR_NO_MORE_DESCRIPTOR_DATA, 0xC01D0008)

#define STATUS_SUCCESS                                          NT_STATUS_C(0x00000000)
#define STATUS_ABANDONED_WAIT_0                                 NT_STATUS_C(0x00000080)
#define STATUS_TIMEOUT                                          NT_STATUS_C(0x00000102)
#define STATUS_PENDING                                          NT_STATUS_C(0x00000103)
#define STATUS_BUFFER_OVERFLOW                                  NT_STATUS_C(0x80000005)
#define STATUS_PARTIAL_COPY                                     NT_STATUS_C(0x8000000D)
#define STATUS_NO_MORE_ENTRIES                                  NT_STATUS_C(0x8000001A)
#define STATUS_DEVICE_BUSY                                      NT_STATUS_C(0x80000011)
#define STATUS_UNSUCCESSFUL                                     NT_STATUS_C(0xC0000001)
#define STATUS_NOT_IMPLEMENTED                                  NT_STATUS_C(0xC0000002)
#define STATUS_INFO_LENGTH_MISMATCH                             NT_STATUS_C(0xC0000004)
#define STATUS_ACCESS_VIOLATION                                 NT_STATUS_C(0xC0000005)
#define STATUS_INVALID_HANDLE                                   NT_STATUS_C(0xC0000008)
#define STATUS_INVALID_PARAMETER                                NT_STATUS_C(0xC000000D)
#define STATUS_NO_SUCH_DEVICE                                   NT_STATUS_C(0xC000000E)
#define STATUS_INVALID_DEVICE_REQUEST                           NT_STATUS_C(0xC0000010)
#define STATUS_NO_MEMORY                                        NT_STATUS_C(0xC0000017)
#define STATUS_ACCESS_DENIED                                    NT_STATUS_C(0xC0000022)
#define STATUS_BUFFER_TOO_SMALL                                 NT_STATUS_C(0xC0000023)
#define STATUS_OBJECT_TYPE_MISMATCH                             NT_STATUS_C(0xC0000024)
#define STATUS_OBJECT_NAME_NOT_FOUND                            NT_STATUS_C(0xC0000034)
#define STATUS_PRIVILEGE_NOT_HELD                               NT_STATUS_C(0xC0000061)
#define STATUS_INTEGER_OVERFLOW                                 NT_STATUS_C(0xC0000095)
#define STATUS_INSUFFICIENT_RESOURCES                           NT_STATUS_C(0xC000009A)
#define STATUS_DEVICE_NOT_READY                                 NT_STATUS_C(0xC00000A3)
#define STATUS_IO_TIMEOUT                                       NT_STATUS_C(0xC00000B5)
#define STATUS_NOT_SUPPORTED                                    NT_STATUS_C(0xC00000BB)
#define STATUS_INTERNAL_ERROR                                   NT_STATUS_C(0xC00000E5)
#define STATUS_IMAGE_ALREADY_LOADED                             NT_STATUS_C(0xC000010E)
#define STATUS_CANCELLED                                        NT_STATUS_C(0xC0000120)
#define STATUS_DEVICE_CONFIGURATION_ERROR                       NT_STATUS_C(0xC0000182)
#define STATUS_INVALID_DEVICE_STATE                             NT_STATUS_C(0xC0000184)
#define STATUS_INVALID_BUFFER_SIZE                              NT_STATUS_C(0xC0000206)
#define STATUS_NOT_FOUND                                        NT_STATUS_C(0xC0000225)
#define STATUS_RETRY                                            NT_STATUS_C(0xC000022D)
#define STATUS_DEVICE_REMOVED                                   NT_STATUS_C(0xC00002B6)
#define STATUS_DEVICE_HUNG                                      NT_STATUS_C(0xC0000507)
#define STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER                NT_STATUS_C(0xC01E0000)
#define STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER                 NT_STATUS_C(0xC01E0001)
#define STATUS_GRAPHICS_INVALID_DISPLAY_ADAPTER                 NT_STATUS_C(0xC01E0002)
#define STATUS_GRAPHICS_ADAPTER_WAS_RESET                       NT_STATUS_C(0xC01E0003)
#define STATUS_GRAPHICS_INVALID_DRIVER_MODEL                    NT_STATUS_C(0xC01E0004)
#define STATUS_GRAPHICS_PRESENT_MODE_CHANGED                    NT_STATUS_C(0xC01E0005)
#define STATUS_GRAPHICS_PRESENT_OCCLUDED                        NT_STATUS_C(0xC01E0006)
#define STATUS_GRAPHICS_NO_VIDEO_MEMORY                         NT_STATUS_C(0xC01E0100)
#define STATUS_GRAPHICS_CANT_LOCK_MEMORY                        NT_STATUS_C(0xC01E0101)
#define STATUS_GRAPHICS_ALLOCATION_BUSY                         NT_STATUS_C(0xC01E0102)
#define STATUS_GRAPHICS_TOO_MANY_REFERENCES                     NT_STATUS_C(0xC01E0103)
#define STATUS_GRAPHICS_TRY_AGAIN_LATER                         NT_STATUS_C(0xC01E0104)
#define STATUS_GRAPHICS_TRY_AGAIN_NOW                           NT_STATUS_C(0xC01E0105)
#define STATUS_GRAPHICS_ALLOCATION_INVALID                      NT_STATUS_C(0xC01E0106)
#define STATUS_GRAPHICS_CANT_EVICT_PINNED_ALLOCATION            NT_STATUS_C(0xC01E0109)
#define STATUS_GRAPHICS_WRONG_ALLOCATION_DEVICE                 NT_STATUS_C(0xC01E0115)
#define STATUS_GRAPHICS_INVALID_ALLOCATION_HANDLE               NT_STATUS_C(0xC01E0114)
#define STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY                  NT_STATUS_C(0xC01E0300)
#define STATUS_GRAPHICS_VIDPN_TOPOLOGY_NOT_SUPPORTED            NT_STATUS_C(0xC01E0301)
#define STATUS_GRAPHICS_INVALID_VIDPN                           NT_STATUS_C(0xC01E0303)
#define STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE            NT_STATUS_C(0xC01E0304)
#define STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET            NT_STATUS_C(0xC01E0305)
#define STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED            NT_STATUS_C(0xC01E0306)
#define STATUS_GRAPHICS_MODE_NOT_PINNED                         NT_STATUS_C(0x401E0307)
#define STATUS_GRAPHICS_INVALID_VIDPN_SOURCEMODESET             NT_STATUS_C(0xC01E0308)
#define STATUS_GRAPHICS_INVALID_VIDPN_TARGETMODESET             NT_STATUS_C(0xC01E0309)
#define STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET             NT_STATUS_C(0x401E034C)
#define STATUS_GRAPHICS_DATASET_IS_EMPTY                        NT_STATUS_C(0x401E034B)
#define STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET                 NT_STATUS_C(0xC01E0314)
#define STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN         NT_STATUS_C(0xC01E0323)
#define STATUS_GRAPHICS_MODE_ID_MUST_BE_UNIQUE                  NT_STATUS_C(0xC01E0324)
#define STATUS_GRAPHICS_VIDEO_PRESENT_TARGETS_LESS_THAN_SOURCES NT_STATUS_C(0xC01E0326)
#define STATUS_GRAPHICS_MONITOR_NOT_CONNECTED                   NT_STATUS_C(0xC01E0338)
#define STATUS_GRAPHICS_PATH_ALREADY_IN_TOPOLOGY                NT_STATUS_C(0xC01E0313)
#define STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY                    NT_STATUS_C(0xC01E0327)
#define STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE       NT_STATUS_C(0xC01E0310)
#define STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET_MODE       NT_STATUS_C(0xC01E0311)
#define STATUS_GRAPHICS_SOURCE_NOT_IN_TOPOLOGY                  NT_STATUS_C(0xC01E0339)
#define STATUS_GRAPHICS_GAMMA_RAMP_NOT_SUPPORTED                NT_STATUS_C(0xC01E0348)
#define STATUS_GRAPHICS_DRIVER_MISMATCH                         NT_STATUS_C(0x401E0117)
#define STATUS_GRAPHICS_CHILD_DESCRIPTOR_NOT_SUPPORTED          NT_STATUS_C(0xC01E0401)
#define STATUS_ILLEGAL_INSTRUCTION                              NT_STATUS_C(0xC000001D)
#define STATUS_DEVICE_HARDWARE_ERROR                            NT_STATUS_C(0xC0000483)
#define STATUS_ACPI_INVALID_DATA                                NT_STATUS_C(0xC014000F)
#define STATUS_DATA_ERROR                                       NT_STATUS_C(0xC000003E)
#define STATUS_DEVICE_DOES_NOT_EXIST                            NT_STATUS_C(0xC00000C0)
#define STATUS_GRAPHICS_NO_ACTIVE_VIDPN                         NT_STATUS_C(0xC01E0336)
#define STATUS_MONITOR_NO_DESCRIPTOR                            NT_STATUS_C(0xC01D0001)
#define STATUS_MONITOR_NO_MORE_DESCRIPTOR_DATA                  NT_STATUS_C(0xC01D0008)

WDDM_SIZE(ULONG, 4);
WDDM_SIZE(LARGE_INTEGER, 8);
WDDM_SIZE(LUID, 8);
WDDM_SIZE(GUID, 16);
#if !defined(WDDM_WITH_WINDOWS)
WDDM_SIZE(UNICODE_STRING, 16);
#endif
WDDM_SIZE(RECT, 16);
WDDM_SIZE(WCHAR, 2);
WDDM_SIZE(PVOID, 8);
