/* SPDX-License-Identifier: MIT */
/* time.c: times as people write them, and GUIDs. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"

#include <stdio.h>

#define MS  INT64_C(10000) /* of 100 ns */
#define DAY (INT64_C(86400000) * MS)

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 || year % 400 == 0);
}

/* Of a month from 1 on. */
static int days_of(int year, int month)
{
    return month == 2 ? 28 + is_leap(year) : 30 + ((month + month / 8) & 1);
}

static int64_t days_before(int year)
{
    int64_t y = year - 1601; /* a year behind one that 400 divides */

    return y * 365 + y / 4 - y / 100 + y / 400;
}

VOID NTAPI RtlTimeToTimeFields(PLARGE_INTEGER Time, PTIME_FIELDS TimeFields)
{
    int64_t days = Time->QuadPart / DAY, ms = Time->QuadPart % DAY / MS;
    int year = (int)(1601 + days / 366), month = 1;

    while (days_before(year + 1) <= days)
        year++;
    *TimeFields = (TIME_FIELDS){.Year = (CSHORT)year,
                                .Hour = (CSHORT)(ms / 3600000),
                                .Minute = (CSHORT)(ms / 60000 % 60),
                                .Second = (CSHORT)(ms / 1000 % 60),
                                .Milliseconds = (CSHORT)(ms % 1000),
                                .Weekday = (CSHORT)((days + 1) % 7)}; /* 1601 began with a Monday */
    days -= days_before(year);
    while (days >= days_of(year, month))
        days -= days_of(year, month++);
    TimeFields->Month = (CSHORT)month;
    TimeFields->Day = (CSHORT)(days + 1);
}

BOOLEAN NTAPI RtlTimeFieldsToTime(PTIME_FIELDS TimeFields, PLARGE_INTEGER Time)
{
    const TIME_FIELDS *f = TimeFields;
    int64_t days;

    if (f->Year < 1601 || f->Month < 1 || f->Month > 12 || f->Day < 1 ||
        f->Day > days_of(f->Year, f->Month) || f->Hour < 0 || f->Hour > 23 || f->Minute < 0 ||
        f->Minute > 59 || f->Second < 0 || f->Second > 59 || f->Milliseconds < 0 || f->Milliseconds > 999)
        return FALSE;
    days = days_before(f->Year) + f->Day - 1;
    for (int m = 1; m < f->Month; m++)
        days += days_of(f->Year, m);
    Time->QuadPart =
        days * DAY + (((f->Hour * 60 + f->Minute) * INT64_C(60) + f->Second) * 1000 + f->Milliseconds) * MS;
    return TRUE;
}

VOID NTAPI ExSystemTimeToLocalTime(PLARGE_INTEGER SystemTime, PLARGE_INTEGER LocalTime)
{
    *LocalTime = *SystemTime;
}

VOID NTAPI ExLocalTimeToSystemTime(PLARGE_INTEGER LocalTime, PLARGE_INTEGER SystemTime)
{
    *SystemTime = *LocalTime;
}

/* ---- GUIDs --------------------------------------------------------------- */

NTSTATUS NTAPI RtlStringFromGUID(CONST GUID *Guid, PUNICODE_STRING GuidString)
{
    const GUID *g = Guid;
    char text[40];
    int n = snprintf(text, sizeof(text), "{%08X-%04X-%04X-%02X%02X-%02X%02X%02X%02X%02X%02X}",
                     (unsigned)g->Data1, g->Data2, g->Data3, g->Data4[0], g->Data4[1], g->Data4[2],
                     g->Data4[3], g->Data4[4], g->Data4[5], g->Data4[6], g->Data4[7]);
    ANSI_STRING s = {(USHORT)n, (USHORT)(n + 1), text};
    CHECK(RtlStringFromGUID);

    return RtlAnsiStringToUnicodeString(GuidString, &s, TRUE);
}

NTSTATUS NTAPI RtlGUIDFromString(PCUNICODE_STRING GuidString, GUID *Guid)
{
    char text[40];
    unsigned d[11];
    int n = 0;
    CHECK(RtlGUIDFromString);

    if (!dxgk_ntos_to_ascii(GuidString, text, sizeof(text)) ||
        sscanf(text, "{%8x-%4x-%4x-%2x%2x-%2x%2x%2x%2x%2x%2x}%n", &d[0], &d[1], &d[2], &d[3], &d[4], &d[5],
               &d[6], &d[7], &d[8], &d[9], &d[10], &n) != 11 ||
        n != 38 || text[38])
        return STATUS_INVALID_PARAMETER;
    *Guid = (GUID){d[0], (USHORT)d[1], (USHORT)d[2], {0}};
    for (int i = 0; i < 8; i++)
        Guid->Data4[i] = (UCHAR)d[3 + i];
    return STATUS_SUCCESS;
}
