/* SPDX-License-Identifier: MIT */
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

struct text {
    PCHAR at;
    ULONG left;
};

static VOID put_char(struct text *t, CHAR c)
{
    if (t->left) {
        *t->at++ = c;
        t->left--;
    }
}

static VOID put_number(struct text *t, ULONGLONG v, ULONG base, ULONG digits)
{
    CHAR reversed[20];
    ULONG n = 0;

    do {
        reversed[n++] = "0123456789abcdef"[v % base];
        v /= base;
    } while (v || n < digits);
    while (n)
        put_char(t, reversed[--n]);
}

static VOID put_line(struct text *t, CONST struct kmd_log_entry *e)
{
    ULONG arg = 0;

    put_number(t, e->number, 10, 1);
    put_char(t, ' ');
    put_number(t, e->time_100ns / 10000000, 10, 1);
    put_char(t, '.');
    put_number(t, e->time_100ns / 10 % 1000000, 10, 6);
    put_char(t, ' ');
    put_char(t, "EWTI"[e->level & 3]);
    put_char(t, ' ');
    for (PCSTR f = e->format; *f; f++) {
        if (*f != '%') {
            put_char(t, *f);
            continue;
        }
        put_number(t, e->args[arg++ % 3], f[3] == 'x' ? 16 : 10, 1); /* %llu or %llx */
        f += 3;
    }
}

ULONG kmd_log_read(struct kmd *k, PCHAR text, ULONG size, ULONGLONG *first, ULONGLONG *next)
{
    ULONG end = (ULONG)k->log.next, from = end > KMD_LOG_LINES ? end - KMD_LOG_LINES : 0;
    struct text t = {text, size};

    if (*first > from)
        from = *first > end ? end : (ULONG)*first;
    *first = *next = from;
    for (ULONG i = from; i != end; i++) {
        struct kmd_log_entry e = k->log.lines[i % KMD_LOG_LINES];
        struct text before = t;
        if (e.number != i || !e.format)
            continue; /* it is being written, or was written over meanwhile */
        put_line(&t, &e);
        if (!t.left) { /* perhaps cut: it is for the next call */
            t = before;
            break;
        }
        *next = (ULONGLONG)i + 1;
    }
    return (ULONG)(t.at - text);
}
