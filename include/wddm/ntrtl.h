/* SPDX-License-Identifier: MIT */
/* ntrtl.h: the run-time library of the kernel: strings, bits, numbers, and what it has of the C library.
 *
 * Names and parameters: the WDK's public documentation of wdm.h, ntddk.h and of the C run-time routines that ntoskrnl exports.
 * Where text is converted or compared without case, characters are ASCII. Those of strings of UNICODE_STRING that allocate or look at
 * tables of the system are for PASSIVE_LEVEL (ntos/routines.h).
 */
#pragma once

#include "wddm/ntdef.h"

WDDM_C_BEGIN

typedef ANSI_STRING STRING, *PSTRING;
typedef const ANSI_STRING *PCANSI_STRING;
typedef const char *PCSZ;

#define UNICODE_NULL ((WCHAR)0)
#define ANSI_NULL    ((CHAR)0)

/* L"..." as a constant UNICODE_STRING. */
#define RTL_CONSTANT_STRING(s)                                                                               \
    {                                                                                                        \
        sizeof(s) - sizeof((s)[0]), sizeof(s), s                                                             \
    }
#define DECLARE_CONST_UNICODE_STRING(name, text)                                                             \
    const WCHAR name##_buffer[] = text;                                                                      \
    const UNICODE_STRING name = {sizeof(text) - sizeof(WCHAR), sizeof(text), (PWSTR)name##_buffer}
#define DECLARE_UNICODE_STRING_SIZE(name, size)                                                              \
    WCHAR name##_buffer[size];                                                                               \
    UNICODE_STRING name = {0, (size) * sizeof(WCHAR), name##_buffer}
static FORCEINLINE VOID RtlInitEmptyUnicodeString(PUNICODE_STRING String, PWCHAR Buffer, USHORT BufferSize)
{
    String->Length = 0;
    String->MaximumLength = BufferSize;
    String->Buffer = Buffer;
}
static FORCEINLINE VOID RtlInitEmptyAnsiString(PANSI_STRING String, PCHAR Buffer, USHORT BufferSize)
{
    String->Length = 0;
    String->MaximumLength = BufferSize;
    String->Buffer = Buffer;
}

NTSYSAPI VOID NTAPI RtlInitString(PSTRING DestinationString, PCSZ SourceString);
/* As much as there is room for. */
NTSYSAPI VOID NTAPI RtlCopyUnicodeString(PUNICODE_STRING DestinationString, PCUNICODE_STRING SourceString);
/* STATUS_BUFFER_TOO_SMALL, and nothing appended, where there is no room. */
NTSYSAPI NTSTATUS NTAPI RtlAppendUnicodeStringToString(PUNICODE_STRING Destination, PCUNICODE_STRING Source);
NTSYSAPI NTSTATUS NTAPI RtlAppendUnicodeToString(PUNICODE_STRING Destination, PCWSTR Source);
NTSYSAPI LONG NTAPI RtlCompareUnicodeString(PCUNICODE_STRING String1, PCUNICODE_STRING String2,
                                            BOOLEAN CaseInSensitive);
NTSYSAPI BOOLEAN NTAPI RtlEqualUnicodeString(PCUNICODE_STRING String1, PCUNICODE_STRING String2,
                                             BOOLEAN CaseInSensitive);
NTSYSAPI BOOLEAN NTAPI RtlPrefixUnicodeString(PCUNICODE_STRING String1, PCUNICODE_STRING String2,
                                              BOOLEAN CaseInSensitive);
NTSYSAPI LONG NTAPI RtlCompareString(const STRING *String1, const STRING *String2, BOOLEAN CaseInSensitive);
NTSYSAPI BOOLEAN NTAPI RtlEqualString(const STRING *String1, const STRING *String2, BOOLEAN CaseInSensitive);
NTSYSAPI WCHAR NTAPI RtlUpcaseUnicodeChar(WCHAR SourceCharacter);
/* Bases 2, 8, 10 and 16; with 0, a prefix 0b, 0o or 0x says which. STATUS_INVALID_PARAMETER for another. */
NTSYSAPI NTSTATUS NTAPI RtlUnicodeStringToInteger(PCUNICODE_STRING String, ULONG Base, PULONG Value);
NTSYSAPI NTSTATUS NTAPI RtlIntegerToUnicodeString(ULONG Value, ULONG Base, PUNICODE_STRING String);
/* With AllocateDestinationString the buffer is freed with RtlFreeAnsiString. */
NTSYSAPI NTSTATUS NTAPI RtlUnicodeStringToAnsiString(PANSI_STRING DestinationString,
                                                     PCUNICODE_STRING SourceString,
                                                     BOOLEAN AllocateDestinationString);
NTSYSAPI VOID NTAPI RtlFreeAnsiString(PANSI_STRING AnsiString);
NTSYSAPI NTSTATUS NTAPI RtlUpcaseUnicodeString(PUNICODE_STRING DestinationString,
                                               PCUNICODE_STRING SourceString,
                                               BOOLEAN AllocateDestinationString);
NTSYSAPI NTSTATUS NTAPI RtlDowncaseUnicodeString(PUNICODE_STRING DestinationString,
                                                 PCUNICODE_STRING SourceString,
                                                 BOOLEAN AllocateDestinationString);
NTSYSAPI NTSTATUS NTAPI RtlCharToInteger(PCSZ String, ULONG Base, PULONG Value);
NTSYSAPI NTSTATUS NTAPI RtlInt64ToUnicodeString(ULONGLONG Value, ULONG Base, PUNICODE_STRING String);
/* "{00000000-0000-0000-0000-000000000000}"; the string is freed with RtlFreeUnicodeString. */
NTSYSAPI NTSTATUS NTAPI RtlStringFromGUID(CONST GUID *Guid, PUNICODE_STRING GuidString);
NTSYSAPI NTSTATUS NTAPI RtlGUIDFromString(PCUNICODE_STRING GuidString, GUID *Guid);

/* ---- times: 100 ns since 1601 -------------------------------------------- */

typedef struct _TIME_FIELDS {
    SHORT Year, Month, Day, Hour, Minute, Second, Milliseconds, Weekday; /* Weekday: 0 is Sunday */
} TIME_FIELDS, *PTIME_FIELDS;
NTSYSAPI VOID NTAPI RtlTimeToTimeFields(PLARGE_INTEGER Time, PTIME_FIELDS TimeFields);
/* FALSE: there is no such time. */
NTSYSAPI BOOLEAN NTAPI RtlTimeFieldsToTime(PTIME_FIELDS TimeFields, PLARGE_INTEGER Time);
/* The time zone is UTC here. */
NTKERNELAPI VOID NTAPI ExSystemTimeToLocalTime(PLARGE_INTEGER SystemTime, PLARGE_INTEGER LocalTime);
NTKERNELAPI VOID NTAPI ExLocalTimeToSystemTime(PLARGE_INTEGER LocalTime, PLARGE_INTEGER SystemTime);
WDDM_SIZE(TIME_FIELDS, 16);

/* ---- bits ---------------------------------------------------------------- */

typedef struct _RTL_BITMAP {
    ULONG SizeOfBitMap; /* bits */
    PULONG Buffer;      /* the caller's */
} RTL_BITMAP, *PRTL_BITMAP;

NTSYSAPI VOID NTAPI RtlInitializeBitMap(PRTL_BITMAP BitMapHeader, PULONG BitMapBuffer, ULONG SizeOfBitMap);
NTSYSAPI VOID NTAPI RtlClearAllBits(PRTL_BITMAP BitMapHeader);
NTSYSAPI VOID NTAPI RtlSetAllBits(PRTL_BITMAP BitMapHeader);
NTSYSAPI VOID NTAPI RtlClearBits(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG NumberToClear);
NTSYSAPI VOID NTAPI RtlSetBits(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG NumberToSet);
NTSYSAPI BOOLEAN NTAPI RtlTestBit(PRTL_BITMAP BitMapHeader, ULONG BitNumber);
NTSYSAPI BOOLEAN NTAPI RtlAreBitsClear(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG Length);
NTSYSAPI BOOLEAN NTAPI RtlAreBitsSet(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG Length);
NTSYSAPI ULONG NTAPI RtlNumberOfSetBits(PRTL_BITMAP BitMapHeader);
/* The first run of so many bits at or behind the hint, else in front of it; 0xFFFFFFFF: there is none. */
NTSYSAPI ULONG NTAPI RtlFindClearBits(PRTL_BITMAP BitMapHeader, ULONG NumberToFind, ULONG HintIndex);
NTSYSAPI ULONG NTAPI RtlFindClearBitsAndSet(PRTL_BITMAP BitMapHeader, ULONG NumberToFind, ULONG HintIndex);

/* ---- the C library -------------------------------------------------------- */

/* What ntoskrnl has of it. Sources that run outside Windows have their own. */
#if defined(_WIN32)
#ifndef _INC_STRING /* string.h of Windows, as stdio.h below, has what follows: a driver may include them before */
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
int _stricmp(const char *a, const char *b);
int _strnicmp(const char *a, const char *b, size_t n);
char *strcpy(char *to, const char *from);
char *strncpy(char *to, const char *from, size_t n);
char *strcat(char *to, const char *from);
size_t wcslen(const WCHAR *s);
int wcscmp(const WCHAR *a, const WCHAR *b);
int wcsncmp(const WCHAR *a, const WCHAR *b, size_t n);
int _wcsicmp(const WCHAR *a, const WCHAR *b);
int _wcsnicmp(const WCHAR *a, const WCHAR *b, size_t n);
WCHAR *wcscpy(WCHAR *to, const WCHAR *from);
WCHAR *wcsncpy(WCHAR *to, const WCHAR *from, size_t n);
WCHAR *wcscat(WCHAR *to, const WCHAR *from);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
char *strstr(const char *s, const char *part);
WCHAR *wcschr(const WCHAR *s, WCHAR c);
WCHAR *wcsstr(const WCHAR *s, const WCHAR *part);
#endif
int tolower(int c);
int toupper(int c);
#ifndef _INC_STDIO
/* As dxgkrnl prints (no floating point). _snprintf and its like: -1, and no zero at the end, where there is no room for it. */
int sprintf(char *out, const char *format, ...);
int _snprintf(char *out, size_t size, const char *format, ...);
int _vsnprintf(char *out, size_t size, const char *format, va_list ap);
int swprintf(WCHAR *out, const WCHAR *format, ...);
int _snwprintf(WCHAR *out, size_t size, const WCHAR *format, ...);
int _vsnwprintf(WCHAR *out, size_t size, const WCHAR *format, va_list ap);
#endif
#endif

WDDM_SIZE(RTL_BITMAP, 16);

WDDM_C_END
