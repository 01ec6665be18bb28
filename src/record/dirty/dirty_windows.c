/* SPDX-License-Identifier: MIT */
/* dirty_windows.c: DIRTY_KERNEL on Windows and under Wine, chosen by trying: under Wine the Linux kernel's own way
 * (dirty_kernel.c), if it has one; else GetWriteWatch, for spans whose memory was allocated with it. Memory that a driver mapped by
 * itself may refuse that: such a span is compared by hash.
 */
#include <errno.h>
#include <stdlib.h>
#include <windows.h>

#include "record/dirty/dirty_internal.h"

#define RUNS 512

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
