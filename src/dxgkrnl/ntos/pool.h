/* SPDX-License-Identifier: MIT */
/* pool.h: the memory that a miniport allocates, watched as Driver Verifier's special pool does it.
 *
 * Invariants:
 *  1. What is known of a block lies elsewhere: no write of the miniport's in front of or behind its memory reaches it, or the memory of others
 *     than the miniport.
 *  2. In front of and behind each block are at least POOL_GUARD bytes that are nobody's. Who writes there is found out when the DDI returns
 *     (512 blocks are looked at then, 128 freed ones, in turn; of our own miniport fewer), at the latest when the block goes. The call is
 *     named alone only if the block was whole in front of it; else it is said since which call it may have been.
 *  3. Freed blocks are kept for a while, and who writes to them is found out in the same way.
 *  4. Blocks of a page and more begin at a page; less lies within one page, at 16 bytes.
 *  5. Paged pool lies in pages of its own. Of a stranger's miniport they cannot be touched while it runs at DISPATCH_LEVEL and above, as if they
 *     were paged out then, unless some pages are locked.
 */
#pragma once

#include "base/map.h"
#include "wddm/ntddk.h"

struct dxgk;

enum { POOL_GUARD = 16, POOL_CLASSES = 7 };

struct pool_block {
    struct pool_block *prev, *next;
    uint8_t *memory; /* the miniport's */
    size_t size;
    uint8_t *slot; /* what `memory` lies in, with its guards */
    size_t slot_size;
    ULONG tag;
    bool paged;
    unsigned class;       /* POOL_CLASSES: it is a mapping of its own */
    const char *freed_in; /* the DDI, when it is freed and kept for a while; NULL: unknown */
    bool freed;
    unsigned whole_calls;     /* how many calls had come back when it was seen whole last, */
    const char *whole_behind; /* and which was the last of them; NULL: none */
};

/* Address space that slots are cut from. */
struct pool_chunk {
    struct pool_chunk *next;
    uint8_t *memory;
};

struct pool_range {
    uint8_t *memory;
    size_t size;
};

struct pool {
    struct pool_block live, kept;                 /* rings; kept: freed ones, the oldest first */
    struct pool_block *looked_live, *looked_kept; /* where 2 goes on */
    size_t kept_bytes, bytes;                     /* the first are of the second */
    uint64_t limit;                               /* of these: what the machine has */
    struct map blocks;                            /* of both, by their memory */
    struct pool_class {
        uint8_t **free;
        unsigned num_free, num;
    } classes[2][POOL_CLASSES]; /* nonpaged, paged */
    struct pool_chunk *chunks;
    struct pool_range *paged;
    size_t num_paged, room_paged;
    bool fenced;        /* 5 */
    unsigned calls;     /* into the miniport, that came back */
    const char *behind; /* the last of them */
};

/* The first of `n` bytes that is not `byte`; n: all are. */
size_t dxgk_differs(const void *data, uint8_t byte, size_t n);

/* `limit`: bytes. */
void dxgk_pool_init(struct pool *p, uint64_t limit);
/* A call into the miniport has come back: 2. */
void dxgk_pool_look(struct dxgk *d);
/* All is looked at once more, and nothing is kept. */
void dxgk_pool_settle(struct dxgk *d);
/* False: this is no pool that is allocated, which is a violation of `routine`. */
bool dxgk_pool_allocated(struct dxgk *d, const char *routine, const void *memory);
/* The same for what `routine` frees; tag 0: any. */
void dxgk_pool_free(struct dxgk *d, const char *routine, void *memory, ULONG tag);
/* Whether a byte of pool is there, and of paged pool. */
bool dxgk_pool_has(const struct pool *p, const void *at);
bool dxgk_pool_is_paged(const struct pool *p, const void *at);
/* 5: the miniport runs at DISPATCH_LEVEL and above now, or not. What was before. */
bool dxgk_pool_fence(struct dxgk *d, bool fenced);
/* Whether that is why nothing is there. Signal handlers too. */
bool dxgk_pool_is_fenced(const struct pool *p, const void *at);
void dxgk_pool_finish(struct pool *p);
