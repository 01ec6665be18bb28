/* SPDX-License-Identifier: MIT */
/* dirty_hash.c: DIRTY_HASH. */
#include <errno.h>
#include <stdlib.h>
/* Whole pages are hashed, and with them what else lies there. Sanitizers would see reads beyond the memory that is watched, and
 * do not look into the library. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#include "record/dirty/dirty_internal.h"

static size_t pages(const struct dirty_span *s)
{
    return (s->end - s->start) / DIRTY_PAGE;
}

int hash_begin(struct dirty_span *s)
{
    if (!s->hashes && !(s->hashes = malloc(pages(s) * sizeof(*s->hashes))))
        return -ENOMEM;
    for (size_t i = 0; i < pages(s); i++)
        s->hashes[i] = XXH3_64bits((const void *)(s->start + i * DIRTY_PAGE), DIRTY_PAGE);
    return 0;
}

size_t hash_collect(struct dirty_span *s, void (*fn)(void *ctx, struct dirty_run r), void *ctx)
{
    size_t n = pages(s), changed = 0;
    struct dirty_run run = {0};

    for (size_t i = 0; i < n; i++) {
        uintptr_t at = s->start + i * DIRTY_PAGE;
        uint64_t h = XXH3_64bits((const void *)at, DIRTY_PAGE);

        if (h == s->hashes[i])
            continue;
        s->hashes[i] = h;
        changed++;
        if (run.end != at) {
            if (run.end)
                fn(ctx, run);
            run.start = at;
        }
        run.end = at + DIRTY_PAGE;
    }
    if (run.end)
        fn(ctx, run);
    return changed;
}

static int open_(struct dirty *d)
{
    return 0;
}

static void close_(struct dirty *d)
{
}

static int add(struct dirty *d, struct dirty_span *s)
{
    return hash_begin(s);
}

static void remove_(struct dirty *d, struct dirty_span *s)
{
}

static int collect(struct dirty *d, struct dirty_span *s, void (*fn)(void *ctx, struct dirty_run r),
                   void *ctx)
{
    hash_collect(s, fn, ctx);
    return 0;
}

const struct dirty_ops dirty_hash = {open_, close_, add, remove_, collect};
