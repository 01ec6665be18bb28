/* SPDX-License-Identifier: MIT */
/* dirty_internal.h: what one method provides; dirty.c chooses. */
#pragma once

#include <stdbool.h>

#include "record/dirty/dirty.h"

struct dirty_ops {
    int (*open)(struct dirty *d);
    void (*close)(struct dirty *d);
    int (*add)(struct dirty *d, struct dirty_span *s);
    void (*remove)(struct dirty *d, struct dirty_span *s);
    int (*collect)(struct dirty *d, struct dirty_span *s, void (*fn)(void *ctx, struct dirty_run r),
                   void *ctx);
};

struct dirty {
    const struct dirty_ops *ops;
    enum dirty_method method;
    int fd; /* DIRTY_KERNEL: the userfaultfd */
    int pagemap;
};

struct dirty_span {
    uintptr_t start, end; /* whole pages */
    uint64_t *hashes;     /* one a page, while hashing */
    bool hashing;         /* DIRTY_KERNEL: this span is too busy for the kernel's way */
    unsigned calm;
    struct dirty_span *next;
};

extern const struct dirty_ops dirty_kernel, dirty_hash;
extern const struct dirty_ops dirty_linux,
    dirty_watch; /* DIRTY_KERNEL on Windows: the kernel below Wine; GetWriteWatch */

int hash_begin(struct dirty_span *s);
/* Reports changed pages; returns how many there were. */
size_t hash_collect(struct dirty_span *s, void (*fn)(void *ctx, struct dirty_run r), void *ctx);
