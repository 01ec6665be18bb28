/* SPDX-License-Identifier: MIT */
/* dirty_windows.c: DIRTY_KERNEL and DIRTY_FAULT on Windows and under Wine, chosen by trying.
 *
 * DIRTY_KERNEL: under Wine the Linux kernel's own way (dirty_kernel.c), if it has one; else GetWriteWatch, for spans
 * whose memory was allocated with it. DIRTY_FAULT: read-only pages and an exception handler. (Not PAGE_GUARD, which reads
 * take away too: pages must be protected before they are read here, or what is written meanwhile is lost.) Memory that
 * a driver mapped by itself may refuse either: such a span is compared by hash.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <windows.h>

#include "record/dirty/dirty_internal.h"

#define RUNS      512
#define MAX_SPANS 8192

static int by_hash(struct dirty_span *s)
{
    s->hashing = true;
    return hash_begin(s);
}

static void none(struct dirty *d)
{
}

/* ---- the system's write watch -------------------------------------------- */

static int watch_add(struct dirty *d, struct dirty_span *s)
{
    void *first;
    ULONG_PTR n = 1;
    DWORD page;

    if (GetWriteWatch(0, (void *)s->start, s->end - s->start, &first, &n, &page) ||
        ResetWriteWatch((void *)s->start, s->end - s->start))
        return by_hash(s);
    return 0;
}

static void watch_remove(struct dirty *d, struct dirty_span *s)
{
}

static int watch_collect(struct dirty *d, struct dirty_span *s, void (*fn)(void *ctx, struct dirty_run r),
                         void *ctx)
{
    void *at[RUNS];
    ULONG_PTR n;
    DWORD page;

    if (s->hashing) {
        hash_collect(s, fn, ctx);
        return 0;
    }
    do {
        struct dirty_run run = {0};

        n = RUNS;
        if (GetWriteWatch(WRITE_WATCH_FLAG_RESET, (void *)s->start, s->end - s->start, at, &n, &page))
            return -EINVAL;
        for (ULONG_PTR i = 0; i < n; i++) {
            if (run.end != (uintptr_t)at[i]) {
                if (run.end)
                    fn(ctx, run);
                run.start = (uintptr_t)at[i];
            }
            run.end = (uintptr_t)at[i] + DIRTY_PAGE;
        }
        if (run.end)
            fn(ctx, run);
    } while (n == RUNS);
    return 0;
}

const struct dirty_ops dirty_watch = {
    .close = none, .add = watch_add, .remove = watch_remove, .collect = watch_collect};

static int kernel_open(struct dirty *d)
{
    d->ops = dirty_linux.open(d) ? &dirty_watch : &dirty_linux;
    return 0;
}

const struct dirty_ops dirty_kernel = {.open = kernel_open};

/* ---- protected pages ----------------------------------------------------- */

static _Atomic(struct dirty_span *) spans[MAX_SPANS];
static _Atomic size_t num_spans;
static SRWLOCK lock = SRWLOCK_INIT;
static void *handler;

static bool protect(uintptr_t start, uintptr_t end, DWORD how)
{
    DWORD old;

    return VirtualProtect((void *)start, end - start, how, &old);
}

/* Marking and unprotecting are one step, protecting and unmarking another, both under `lock`: else a page could be unprotected
 * by a fault whose mark a look had taken away already, and be written unseen from then on (dirty_fault.c). */
static bool mark_address(uintptr_t at)
{
    bool found = false;

    AcquireSRWLockExclusive(&lock);
    for (size_t i = 0; i < num_spans && !found; i++) {
        struct dirty_span *s = spans[i];
        size_t page;

        if (!s || at < s->start || at >= s->end)
            continue;
        page = (at - s->start) / DIRTY_PAGE;
        __atomic_fetch_or(&s->bits[page / 64], UINT64_C(1) << (page % 64), __ATOMIC_SEQ_CST);
        protect(s->start + page * DIRTY_PAGE, s->start + (page + 1) * DIRTY_PAGE, PAGE_READWRITE);
        found = true;
    }
    ReleaseSRWLockExclusive(&lock);
    return found;
}

static LONG WINAPI on_exception(EXCEPTION_POINTERS *x)
{
    const EXCEPTION_RECORD *r = x->ExceptionRecord;
    MEMORY_BASIC_INFORMATION m;

    if (r->ExceptionCode != STATUS_ACCESS_VIOLATION || r->ExceptionInformation[0] != 1)
        return EXCEPTION_CONTINUE_SEARCH;
    if (mark_address(r->ExceptionInformation[1]))
        return EXCEPTION_CONTINUE_EXECUTION;
    /* its span may have gone between the fault and here */
    return VirtualQuery((void *)r->ExceptionInformation[1], &m, sizeof(m)) && m.State == MEM_COMMIT &&
                   m.Protect == PAGE_READWRITE
               ? EXCEPTION_CONTINUE_EXECUTION
               : EXCEPTION_CONTINUE_SEARCH;
}

static int fault_open(struct dirty *d)
{
    AcquireSRWLockExclusive(&lock);
    if (!handler)
        handler = AddVectoredExceptionHandler(1, on_exception);
    ReleaseSRWLockExclusive(&lock);
    return handler ? 0 : -ENOSYS;
}

static void fault_remove(struct dirty *d, struct dirty_span *s)
{
    if (s->hashing)
        return;
    AcquireSRWLockExclusive(&lock);
    protect(s->start, s->end, PAGE_READWRITE);
    for (size_t i = 0; i < num_spans; i++)
        if (spans[i] == s)
            spans[i] = NULL;
    ReleaseSRWLockExclusive(&lock);
}

static int fault_add(struct dirty *d, struct dirty_span *s)
{
    size_t pages = (s->end - s->start) / DIRTY_PAGE, i;

    s->bits = calloc((pages + 63) / 64, sizeof(*s->bits));
    if (!s->bits)
        return -ENOMEM;
    AcquireSRWLockExclusive(&lock);
    for (i = 0; i < num_spans && spans[i]; i++)
        ;
    if (i < MAX_SPANS) {
        spans[i] = s;
        if (i == num_spans)
            num_spans++;
    }
    ReleaseSRWLockExclusive(&lock);
    if (i < MAX_SPANS && protect(s->start, s->end, PAGE_READONLY))
        return 0;
    if (i < MAX_SPANS)
        fault_remove(d, s);
    return by_hash(s);
}

static int fault_collect(struct dirty *d, struct dirty_span *s, void (*fn)(void *ctx, struct dirty_run r),
                         void *ctx)
{
    size_t pages = (s->end - s->start) / DIRTY_PAGE;

    if (s->hashing) {
        hash_collect(s, fn, ctx);
        return 0;
    }
    for (size_t i = 0; i < pages;) {
        size_t from = i;

        if (!(__atomic_load_n(&s->bits[i / 64], __ATOMIC_SEQ_CST) >> (i % 64) & 1)) {
            i = __atomic_load_n(&s->bits[i / 64], __ATOMIC_SEQ_CST) ? i + 1 : (i / 64 + 1) * 64;
            continue;
        }
        AcquireSRWLockExclusive(&lock);
        for (; i < pages && __atomic_load_n(&s->bits[i / 64], __ATOMIC_SEQ_CST) >> (i % 64) & 1; i++)
            __atomic_fetch_and(&s->bits[i / 64], ~(UINT64_C(1) << (i % 64)), __ATOMIC_SEQ_CST);
        /* before it is read: what is written from here on is found by the next look */
        protect(s->start + from * DIRTY_PAGE, s->start + i * DIRTY_PAGE, PAGE_READONLY);
        ReleaseSRWLockExclusive(&lock);
        fn(ctx, (struct dirty_run){s->start + from * DIRTY_PAGE, s->start + i * DIRTY_PAGE});
    }
    return 0;
}

const struct dirty_ops dirty_fault = {fault_open, none, fault_add, fault_remove, fault_collect};
