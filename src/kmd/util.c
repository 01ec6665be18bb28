/* util.c: memory, and the circular log. */
#include "kmd/kmd.h"

PVOID kmd_alloc(SIZE_T size)
{
    PVOID p = ExAllocatePoolWithTag(NonPagedPool, size, KMD_TAG);

    if (p)
        RtlZeroMemory(p, size);
    return p;
}

VOID kmd_free(PVOID p)
{
    if (p)
        ExFreePoolWithTag(p, KMD_TAG);
}

VOID kmd_log_line(struct kmd *k, ULONG level, PCSTR format, ULONGLONG a, ULONGLONG b, ULONGLONG c)
{
    ULONG number = (ULONG)InterlockedIncrement(&k->log.next) - 1;
    struct kmd_log_entry *e = &k->log.lines[number % KMD_LOG_LINES];

    *e = (struct kmd_log_entry){
        .time_100ns = kmd_now(), .args = {a, b, c}, .format = format, .level = level, .number = number};
    DbgPrintEx(DPFLTR_IHVVIDEO_ID, level, format, a, b, c);
}
