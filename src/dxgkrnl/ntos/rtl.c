/* SPDX-License-Identifier: MIT */
/* rtl.c: strings, numbers and bits of the kernel's run-time library (wddm/ntrtl.h). Case is that of ASCII. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"

#include <stdlib.h>
#include <string.h>

#define NO_BIT 0xFFFFFFFFu

static WCHAR upper(WCHAR c)
{
    return c >= 'a' && c <= 'z' ? (WCHAR)(c - 'a' + 'A') : c;
}

WCHAR NTAPI RtlUpcaseUnicodeChar(WCHAR SourceCharacter)
{
    ENTER(RtlUpcaseUnicodeChar);
    return upper(SourceCharacter);
}

VOID NTAPI RtlInitString(PSTRING DestinationString, PCSZ SourceString)
{
    CHECK(RtlInitString);
    RtlInitAnsiString(DestinationString, SourceString);
}

VOID NTAPI RtlCopyUnicodeString(PUNICODE_STRING DestinationString, PCUNICODE_STRING SourceString)
{
    USHORT n = SourceString ? SourceString->Length : 0;
    ENTER(RtlCopyUnicodeString);

    n = n < DestinationString->MaximumLength ? n : DestinationString->MaximumLength;
    if (n)
        memmove(DestinationString->Buffer, SourceString->Buffer, n);
    DestinationString->Length = n;
    if (n + sizeof(WCHAR) <= DestinationString->MaximumLength)
        DestinationString->Buffer[n / sizeof(WCHAR)] = 0;
}

static NTSTATUS append(PUNICODE_STRING to, const WCHAR *from, size_t bytes)
{
    if (bytes > (size_t)(to->MaximumLength - to->Length))
        return STATUS_BUFFER_TOO_SMALL;
    memmove((PUCHAR)to->Buffer + to->Length, from, bytes);
    to->Length = (USHORT)(to->Length + bytes);
    if (to->Length + sizeof(WCHAR) <= to->MaximumLength)
        to->Buffer[to->Length / sizeof(WCHAR)] = 0;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RtlAppendUnicodeStringToString(PUNICODE_STRING Destination, PCUNICODE_STRING Source)
{
    ENTER(RtlAppendUnicodeStringToString);
    return append(Destination, Source->Buffer, Source->Length);
}

NTSTATUS NTAPI RtlAppendUnicodeToString(PUNICODE_STRING Destination, PCWSTR Source)
{
    size_t n = 0;
    ENTER(RtlAppendUnicodeToString);

    while (Source && Source[n])
        n++;
    return append(Destination, Source, n * sizeof(WCHAR));
}

static LONG compare(PCUNICODE_STRING a, PCUNICODE_STRING b, size_t most, BOOLEAN fold)
{
    size_t na = a->Length / sizeof(WCHAR), nb = b->Length / sizeof(WCHAR);

    for (size_t i = 0; i < most; i++) {
        if (i >= na || i >= nb)
            return (LONG)na - (LONG)nb;
        LONG d = fold ? upper(a->Buffer[i]) - upper(b->Buffer[i]) : a->Buffer[i] - b->Buffer[i];
        if (d)
            return d;
    }
    return 0;
}

LONG NTAPI RtlCompareUnicodeString(PCUNICODE_STRING String1, PCUNICODE_STRING String2,
                                   BOOLEAN CaseInSensitive)
{
    ENTER(RtlCompareUnicodeString);
    return compare(String1, String2, SIZE_MAX, CaseInSensitive);
}

BOOLEAN NTAPI RtlEqualUnicodeString(PCUNICODE_STRING String1, PCUNICODE_STRING String2,
                                    BOOLEAN CaseInSensitive)
{
    ENTER(RtlEqualUnicodeString);
    return String1->Length == String2->Length && !compare(String1, String2, SIZE_MAX, CaseInSensitive);
}

BOOLEAN NTAPI RtlPrefixUnicodeString(PCUNICODE_STRING String1, PCUNICODE_STRING String2,
                                     BOOLEAN CaseInSensitive)
{
    ENTER(RtlPrefixUnicodeString);
    return String1->Length <= String2->Length &&
           !compare(String1, String2, String1->Length / sizeof(WCHAR), CaseInSensitive);
}

LONG NTAPI RtlCompareString(const STRING *String1, const STRING *String2, BOOLEAN CaseInSensitive)
{
    USHORT n = String1->Length < String2->Length ? String1->Length : String2->Length;
    ENTER(RtlCompareString);

    for (USHORT i = 0; i < n; i++) {
        UCHAR a = (UCHAR)String1->Buffer[i], b = (UCHAR)String2->Buffer[i];
        LONG d = CaseInSensitive ? upper(a) - upper(b) : a - b;
        if (d)
            return d;
    }
    return String1->Length - String2->Length;
}

BOOLEAN NTAPI RtlEqualString(const STRING *String1, const STRING *String2, BOOLEAN CaseInSensitive)
{
    CHECK(RtlEqualString);
    return String1->Length == String2->Length && !RtlCompareString(String1, String2, CaseInSensitive);
}

/* ---- numbers ------------------------------------------------------------- */

static int digit(WCHAR c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = upper(c);
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

NTSTATUS NTAPI RtlUnicodeStringToInteger(PCUNICODE_STRING String, ULONG Base, PULONG Value)
{
    size_t n = String->Length / sizeof(WCHAR), i = 0;
    bool negative;
    ULONG v = 0;
    ENTER(RtlUnicodeStringToInteger);

    while (i < n && String->Buffer[i] <= ' ')
        i++;
    negative = i < n && String->Buffer[i] == '-';
    i += i < n && (negative || String->Buffer[i] == '+');
    if (!Base) {
        Base = 10;
        if (n - i > 1 && String->Buffer[i] == '0') {
            WCHAR c = String->Buffer[i + 1];
            Base = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 10;
            i += Base == 10 ? 0 : 2;
        }
    }
    if (Base != 2 && Base != 8 && Base != 10 && Base != 16)
        return STATUS_INVALID_PARAMETER;
    for (; i < n && digit(String->Buffer[i]) < (int)Base; i++)
        v = v * Base + (ULONG)digit(String->Buffer[i]);
    *Value = negative ? 0 - v : v;
    return STATUS_SUCCESS;
}

static NTSTATUS put_number(ULONGLONG Value, ULONG Base, PUNICODE_STRING String)
{
    WCHAR text[64];
    unsigned at = 64;

    if (Base != 0 && Base != 2 && Base != 8 && Base != 10 && Base != 16)
        return STATUS_INVALID_PARAMETER;
    Base = Base ? Base : 10;
    do {
        text[--at] = (WCHAR) "0123456789ABCDEF"[Value % Base];
        Value /= Base;
    } while (Value);
    if ((64 - at) * sizeof(WCHAR) > String->MaximumLength)
        return STATUS_BUFFER_OVERFLOW;
    String->Length = 0;
    return append(String, text + at, (64 - at) * sizeof(WCHAR));
}

NTSTATUS NTAPI RtlIntegerToUnicodeString(ULONG Value, ULONG Base, PUNICODE_STRING String)
{
    CHECK(RtlIntegerToUnicodeString);
    return put_number(Value, Base, String);
}

NTSTATUS NTAPI RtlInt64ToUnicodeString(ULONGLONG Value, ULONG Base, PUNICODE_STRING String)
{
    CHECK(RtlInt64ToUnicodeString);
    return put_number(Value, Base, String);
}

NTSTATUS NTAPI RtlCharToInteger(PCSZ String, ULONG Base, PULONG Value)
{
    WCHAR wide[80];
    UNICODE_STRING s = {.Buffer = wide};
    CHECK(RtlCharToInteger);

    while (*String && s.Length < sizeof(wide))
        wide[s.Length / 2] = (UCHAR)*String++, s.Length = (USHORT)(s.Length + 2);
    return RtlUnicodeStringToInteger(&s, Base, Value);
}

static WCHAR downcase(WCHAR c)
{
    return c >= 'A' && c <= 'Z' ? (WCHAR)(c + 32) : c;
}

static NTSTATUS change_case(PUNICODE_STRING to, PCUNICODE_STRING from, BOOLEAN allocate, bool up)
{
    if (allocate) {
        to->Buffer =
            from->Length ? ExAllocatePoolWithTag(PagedPool, from->Length, 0x67727453) : NULL; /* Strg */
        if (from->Length && !to->Buffer)
            return STATUS_NO_MEMORY;
        to->MaximumLength = from->Length;
    } else if (to->MaximumLength < from->Length) {
        return STATUS_BUFFER_OVERFLOW;
    }
    for (USHORT i = 0; i < from->Length / 2; i++)
        to->Buffer[i] = up ? RtlUpcaseUnicodeChar(from->Buffer[i]) : downcase(from->Buffer[i]);
    to->Length = from->Length;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RtlUpcaseUnicodeString(PUNICODE_STRING DestinationString, PCUNICODE_STRING SourceString,
                                      BOOLEAN AllocateDestinationString)
{
    CHECK(RtlUpcaseUnicodeString);
    return change_case(DestinationString, SourceString, AllocateDestinationString, true);
}

NTSTATUS NTAPI RtlDowncaseUnicodeString(PUNICODE_STRING DestinationString, PCUNICODE_STRING SourceString,
                                        BOOLEAN AllocateDestinationString)
{
    CHECK(RtlDowncaseUnicodeString);
    return change_case(DestinationString, SourceString, AllocateDestinationString, false);
}

NTSTATUS NTAPI RtlUnicodeStringToAnsiString(PANSI_STRING DestinationString, PCUNICODE_STRING SourceString,
                                            BOOLEAN AllocateDestinationString)
{
    size_t n = SourceString->Length / sizeof(WCHAR);
    ENTER(RtlUnicodeStringToAnsiString);

    if (AllocateDestinationString) {
        DestinationString->Buffer = ExAllocatePoolWithTag(PagedPool, n + 1, 0x67727453); /* Strg */
        if (!DestinationString->Buffer)
            return STATUS_NO_MEMORY;
        DestinationString->MaximumLength = (USHORT)(n + 1);
    } else if (DestinationString->MaximumLength < n + 1) {
        return STATUS_BUFFER_OVERFLOW;
    }
    for (size_t i = 0; i < n; i++)
        DestinationString->Buffer[i] = SourceString->Buffer[i] < 128 ? (CHAR)SourceString->Buffer[i] : '?';
    DestinationString->Buffer[n] = '\0';
    DestinationString->Length = (USHORT)n;
    return STATUS_SUCCESS;
}

VOID NTAPI RtlFreeAnsiString(PANSI_STRING AnsiString)
{
    ENTER(RtlFreeAnsiString);
    if (AnsiString->Buffer)
        dxgk_pool_free(dxgk_kernel_ctx(k), "RtlFreeAnsiString", AnsiString->Buffer, 0);
    *AnsiString = (ANSI_STRING){0};
}

/* ---- bits ---------------------------------------------------------------- */

static bool is_set(const RTL_BITMAP *b, ULONG at)
{
    return b->Buffer[at / 32] >> at % 32 & 1;
}

/* Whether all of the range are as asked; a range that does not fit is a mistake of the caller's. */
static bool are(PRTL_BITMAP b, ULONG at, ULONG n, bool set)
{
    if (!n || at > b->SizeOfBitMap || n > b->SizeOfBitMap - at)
        return false;
    for (ULONG i = 0; i < n; i++)
        if (is_set(b, at + i) != set)
            return false;
    return true;
}

static void put(const char *routine, PRTL_BITMAP b, ULONG at, ULONG n, bool set)
{
    if (at > b->SizeOfBitMap || n > b->SizeOfBitMap - at) {
        dxgk_kernel_violation(SELF(), "%s of %u bits at %u: the bitmap has %u", routine, n, at,
                              b->SizeOfBitMap);
        return;
    }
    for (ULONG i = at; i < at + n; i++)
        b->Buffer[i / 32] = (b->Buffer[i / 32] & ~(1u << i % 32)) | (ULONG)set << i % 32;
}

VOID NTAPI RtlInitializeBitMap(PRTL_BITMAP BitMapHeader, PULONG BitMapBuffer, ULONG SizeOfBitMap)
{
    CHECK(RtlInitializeBitMap);
    *BitMapHeader = (RTL_BITMAP){SizeOfBitMap, BitMapBuffer};
}

VOID NTAPI RtlClearAllBits(PRTL_BITMAP BitMapHeader)
{
    put("RtlClearAllBits", BitMapHeader, 0, BitMapHeader->SizeOfBitMap, false);
}

VOID NTAPI RtlSetAllBits(PRTL_BITMAP BitMapHeader)
{
    put("RtlSetAllBits", BitMapHeader, 0, BitMapHeader->SizeOfBitMap, true);
}

VOID NTAPI RtlClearBits(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG NumberToClear)
{
    put("RtlClearBits", BitMapHeader, StartingIndex, NumberToClear, false);
}

VOID NTAPI RtlSetBits(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG NumberToSet)
{
    put("RtlSetBits", BitMapHeader, StartingIndex, NumberToSet, true);
}

BOOLEAN NTAPI RtlTestBit(PRTL_BITMAP BitMapHeader, ULONG BitNumber)
{
    return are(BitMapHeader, BitNumber, 1, true);
}

BOOLEAN NTAPI RtlAreBitsClear(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG Length)
{
    return are(BitMapHeader, StartingIndex, Length, false);
}

BOOLEAN NTAPI RtlAreBitsSet(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG Length)
{
    return are(BitMapHeader, StartingIndex, Length, true);
}

ULONG NTAPI RtlNumberOfSetBits(PRTL_BITMAP BitMapHeader)
{
    ULONG n = 0;

    for (ULONG i = 0; i < BitMapHeader->SizeOfBitMap; i++)
        n += is_set(BitMapHeader, i);
    return n;
}

/* The first run of `n` clear bits that begins at `from` to `to`. */
static ULONG find(const RTL_BITMAP *b, ULONG n, ULONG from, ULONG to)
{
    ULONG run = 0;

    for (ULONG i = from; i < b->SizeOfBitMap && i - run < to; i++) {
        run = is_set(b, i) ? 0 : run + 1;
        if (run == n)
            return i + 1 - n;
    }
    return NO_BIT;
}

ULONG NTAPI RtlFindClearBits(PRTL_BITMAP BitMapHeader, ULONG NumberToFind, ULONG HintIndex)
{
    ULONG hint = HintIndex < BitMapHeader->SizeOfBitMap ? HintIndex : 0, at;

    if (!NumberToFind)
        return hint;
    at = find(BitMapHeader, NumberToFind, hint, NO_BIT);
    return at == NO_BIT && hint ? find(BitMapHeader, NumberToFind, 0, hint) : at;
}

ULONG NTAPI RtlFindClearBitsAndSet(PRTL_BITMAP BitMapHeader, ULONG NumberToFind, ULONG HintIndex)
{
    ULONG at = RtlFindClearBits(BitMapHeader, NumberToFind, HintIndex);

    if (at != NO_BIT)
        put("RtlFindClearBitsAndSet", BitMapHeader, at, NumberToFind, true);
    return at;
}
