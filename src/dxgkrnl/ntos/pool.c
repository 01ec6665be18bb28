/* SPDX-License-Identifier: MIT */
/* pool.c: see pool.h. */
#include "dxgkrnl/ntos/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/kernel/lastwords.h"
#include "dxgkrnl/ntos/routines.h"

enum {
    GUARD_BYTE = 0xFB,
    FREED_BYTE = 0xDD,
    NEW_BYTE = 0xA5,      /* pool is not zeroed: do not let a driver rely on it */
    FREED_KEPT = 1 << 20, /* bytes */
    SMALLEST = 64,        /* slot: they double up to a page */
    CHUNK = 1 << 16,
    LOOK_OWN =
        16, /* live blocks, a quarter as many of those that are kept: of our own miniport where time counts */
    LOOK_SIM = 128,
    LOOK_STRANGER = 512,
};

/* ---- rings --------------------------------------------------------------- */

void dxgk_pool_init(struct pool *p, uint64_t limit)
{
    *p = (struct pool){.limit = limit};
    p->live.prev = p->live.next = p->looked_live = &p->live;
    p->kept.prev = p->kept.next = p->looked_kept = &p->kept;
}

static void link_last(struct pool_block *list, struct pool_block *b)
{
    b->prev = list->prev;
    b->next = list;
    b->prev->next = list->prev = b;
}

static void unlink_block(struct pool *p, struct pool_block *b)
{
    b->prev->next = b->next;
    b->next->prev = b->prev;
    if (p->looked_live == b)
        p->looked_live = b->prev;
    if (p->looked_kept == b)
        p->looked_kept = b->prev;
}

/* ---- slots --------------------------------------------------------------- */

/* Address space with nothing on either side. */
static uint8_t *map_between(size_t size)
{
    uint8_t *m = mmap(NULL, size + 2 * PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (m == MAP_FAILED)
        return NULL;
    if (mprotect(m + PAGE_SIZE, size, PROT_READ | PROT_WRITE)) {
        munmap(m, size + 2 * PAGE_SIZE);
        return NULL;
    }
    return m + PAGE_SIZE;
}

static void unmap_between(uint8_t *memory, size_t size)
{
    munmap(memory - PAGE_SIZE, size + 2 * PAGE_SIZE);
}

static uint8_t *map_of_kind(struct pool *p, size_t size, bool paged)
{
    uint8_t *m =
        !paged || !array_reserve(p->paged, p->room_paged, p->num_paged + 1) ? map_between(size) : NULL;

    if (m && paged)
        p->paged[p->num_paged++] = (struct pool_range){m, size};
    return m;
}

static void unmap_large(struct pool *p, struct pool_block *b)
{
    for (size_t i = 0; b->paged && i < p->num_paged; i++)
        if (p->paged[i].memory == b->slot) {
            p->paged[i] = p->paged[--p->num_paged];
            break;
        }
    unmap_between(b->slot, b->slot_size);
}

static unsigned class_of(size_t size)
{
    unsigned c = 0;

    while (c < POOL_CLASSES && (size_t)SMALLEST << c < size + 2 * POOL_GUARD)
        c++;
    return c;
}

static bool grow(struct pool *p, struct pool_class *c, size_t slot, bool paged)
{
    const unsigned more = (unsigned)(CHUNK / slot);
    struct pool_chunk *chunk = malloc(sizeof(*chunk));
    uint8_t **free_slots = realloc(c->free, (c->num + more) * sizeof(*c->free));

    if (free_slots)
        c->free = free_slots;
    if (chunk)
        chunk->memory = free_slots ? map_of_kind(p, CHUNK, paged) : NULL;
    if (!chunk || !chunk->memory) {
        free(chunk);
        return false;
    }
    chunk->next = p->chunks;
    p->chunks = chunk;
    c->num += more;
    for (unsigned i = more; i-- > 0;)
        free_slots[c->num_free++] = chunk->memory + i * slot;
    return true;
}

static bool take_slot(struct pool *p, struct pool_block *b)
{
    struct pool_class *c;

    b->class = class_of(b->size);
    if (b->class == POOL_CLASSES) {
        b->slot_size = (b->size + PAGE_SIZE - 1) & ~(size_t)(PAGE_SIZE - 1);
        b->slot = map_of_kind(p, b->slot_size, b->paged);
        b->memory = b->slot;
        return b->slot;
    }
    c = &p->classes[b->paged][b->class];
    b->slot_size = (size_t)SMALLEST << b->class;
    if (!c->num_free && !grow(p, c, b->slot_size, b->paged))
        return false;
    b->slot = c->free[--c->num_free];
    b->memory = b->slot + ((b->slot_size - POOL_GUARD - b->size) & ~(size_t)15);
    return true;
}

/* Its bytes are counted once it is in a ring. */
static void give_slot(struct pool *p, struct pool_block *b)
{
    struct pool_class *c = b->class == POOL_CLASSES ? NULL : &p->classes[b->paged][b->class];

    if (c)
        c->free[c->num_free++] = b->slot;
    else
        unmap_large(p, b);
    map_remove(&p->blocks, (uintptr_t)b->memory);
    free(b);
}

/* ---- who writes where he has nothing ------------------------------------- */

size_t dxgk_differs(const void *data, uint8_t byte, size_t n)
{
    const uint8_t *p = data;
    size_t i = 0;

    if (n && p[0] == byte && !memcmp(p, p + 1, n - 1)) /* what nearly all are, and libc looks faster */
        return n;
    while (i < n && p[i] == byte)
        i++;
    return i;
}

static void set_guards(struct pool_block *b)
{
    uint8_t *end = b->memory + b->size;

    memset(b->slot, GUARD_BYTE, (size_t)(b->memory - b->slot));
    memset(end, GUARD_BYTE, b->slot_size - (size_t)(end - b->slot));
}

static void is_whole(const struct pool *p, struct pool_block *b)
{
    b->whole_calls = p->calls;
    b->whole_behind = p->behind;
}

/* `certain`: how many calls ago it has to have been whole for this one to be the one. */
static void look_at(struct dxgk *d, struct pool_block *b, unsigned certain)
{
    struct kernel *k = d->kernel;
    const struct pool *p = &d->ntos.pool;
    const unsigned calls = p->calls - b->whole_calls;
    char since[120] = "";
    uint8_t *end = b->memory + b->size;
    size_t front = (size_t)(b->memory - b->slot), behind = b->slot_size - (size_t)(end - b->slot);
    size_t first = dxgk_differs(b->slot, GUARD_BYTE, front), at = dxgk_differs(end, GUARD_BYTE, behind);
    size_t freed = b->freed ? dxgk_differs(b->memory, FREED_BYTE, b->size) : b->size;

    if (first == front && at == behind && freed == b->size) {
        is_whole(p, b);
        return;
    }
    if (calls > certain)
        snprintf(since, sizeof(since),
                 ", in one of the %u calls since %s, behind which they were whole; found", calls,
                 b->whole_behind ? b->whole_behind : "the start");
    if (first < front)
        dxgk_kernel_violation(k, "the miniport wrote %zu bytes in front of %zu bytes of pool, tag %.4s%s",
                              front - first, b->size, (const char *)&b->tag, since);
    if (at < behind)
        dxgk_kernel_violation(
            k, "the miniport wrote behind the end of %zu bytes of pool, at byte %zu, tag %.4s%s", b->size,
            b->size + at, (const char *)&b->tag, since);
    if (freed < b->size)
        dxgk_kernel_violation(
            k, "the miniport wrote at %zu of %zu bytes of pool, tag %.4s, after it had freed them in %s%s",
            freed, b->size, (const char *)&b->tag, b->freed_in ? b->freed_in : "no DDI", since);
    is_whole(p, b);
    set_guards(b); /* once is enough */
    if (b->freed)
        memset(b->memory, FREED_BYTE, b->size);
}

/* The next of a ring, so many. */
static struct pool_block *look_on(struct dxgk *d, struct pool_block *ring, struct pool_block *at, unsigned n)
{
    struct pool_block *begin = at;

    do {
        at = at->next;
        if (at != ring)
            look_at(d, at, 1); /* this one is counted */
    } while (at != begin && --n);
    return at;
}

void dxgk_pool_look(struct dxgk *d)
{
    struct pool *p = &d->ntos.pool;
    unsigned n = dxgk_lastwords_stranger()        ? LOOK_STRANGER
                 : dxgk_kernel_is_live(d->kernel) ? LOOK_OWN
                                                  : LOOK_SIM;

    p->calls++;
    p->behind = dxgk_kernel_ddi(d->kernel);
    p->looked_live = look_on(d, &p->live, p->looked_live, n);
    p->looked_kept = look_on(d, &p->kept, p->looked_kept, n / 4); /* whole blocks */
}

/* The oldest of those that are kept goes. */
static void forget_kept(struct dxgk *d)
{
    struct pool *p = &d->ntos.pool;
    struct pool_block *b = p->kept.next;

    look_at(d, b, 0);
    unlink_block(p, b);
    p->kept_bytes -= b->size;
    p->bytes -= b->size;
    give_slot(p, b);
}

void dxgk_pool_settle(struct dxgk *d)
{
    for (struct pool_block *b = d->ntos.pool.live.next; b != &d->ntos.pool.live; b = b->next)
        look_at(d, b, 0);
    while (d->ntos.pool.kept.next != &d->ntos.pool.kept)
        forget_kept(d);
}

bool dxgk_pool_allocated(struct dxgk *d, const char *routine, const void *memory)
{
    const uint64_t *known = map_find(&d->ntos.pool.blocks, (uintptr_t)memory);
    const struct pool_block *b = known ? (const struct pool_block *)(uintptr_t)*known : NULL;

    if (b && !b->freed)
        return true;
    dxgk_kernel_violation(d->kernel, "%s of %p, which is %s", routine, memory,
                          b ? "freed already" : "not allocated");
    return false;
}

bool dxgk_pool_has(const struct pool *p, const void *at)
{
    const struct pool_block *b = p->live.next;

    while (b != &p->live && (uintptr_t)at - (uintptr_t)b->memory >= b->size)
        b = b->next;
    return b != &p->live;
}

bool dxgk_pool_is_paged(const struct pool *p, const void *at)
{
    for (const struct pool_block *b = p->live.next; b != &p->live; b = b->next)
        if ((uintptr_t)at - (uintptr_t)b->memory < b->size)
            return b->paged;
    return false;
}

bool dxgk_pool_fence(struct dxgk *d, bool fenced)
{
    struct pool *p = &d->ntos.pool;
    bool was = p->fenced;

    fenced = fenced && p->num_paged && !d->ntos.locked && dxgk_lastwords_stranger();
    if (fenced == was)
        return was;
    for (size_t i = 0; i < p->num_paged; i++)
        if (mprotect(p->paged[i].memory, p->paged[i].size, fenced ? PROT_NONE : PROT_READ | PROT_WRITE))
            log_debug("dxgkrnl", "paged pool stays as it is"); /* nobody is blamed for what is not noticed */
    p->fenced = fenced;
    return was;
}

bool dxgk_pool_is_fenced(const struct pool *p, const void *at)
{
    for (size_t i = 0; p->fenced && i < p->num_paged; i++)
        if ((uintptr_t)at - (uintptr_t)p->paged[i].memory < p->paged[i].size)
            return true;
    return false;
}

/* ---- routines ------------------------------------------------------------ */

static struct pool_block *new_block(struct pool *p, size_t size, ULONG tag, bool paged)
{
    struct pool_block *b = size <= p->limit - p->bytes ? malloc(sizeof(*b)) : NULL;
    uint64_t *known;

    if (!b)
        return NULL;
    *b = (struct pool_block){.size = size, .tag = tag, .paged = paged};
    if (!take_slot(p, b)) {
        free(b);
        return NULL;
    }
    known = map_put(&p->blocks, (uintptr_t)b->memory);
    if (!known) {
        give_slot(p, b);
        return NULL;
    }
    *known = (uintptr_t)b;
    p->bytes += size;
    is_whole(p, b);
    link_last(&p->live, b);
    return b;
}

/* Of Windows 7, with the flags that wdm.h lets be in it; and NX, for drivers of later ones. */
static bool is_pool_type(POOL_TYPE type)
{
    const unsigned free_bits = PagedPool | NonPagedPoolCacheAligned | NonPagedPoolSession |
                               POOL_QUOTA_FAIL_INSTEAD_OF_RAISE | POOL_RAISE_IF_ALLOCATION_FAILURE |
                               POOL_COLD_ALLOCATION | 512;

    return !(type & ~free_bits);
}

PVOID NTAPI ExAllocatePoolWithTag(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag)
{
    struct dxgk *d = OWNER();
    struct pool_block *b;
    bool fenced;
    ENTER(ExAllocatePoolWithTag);

    if (!is_pool_type(PoolType))
        dxgk_kernel_violation(k, "ExAllocatePoolWithTag of pool type %u, which there is not", PoolType);
    if (!Tag)
        dxgk_kernel_violation(k, "ExAllocatePoolWithTag with tag 0");
    if (PoolType & PagedPool)
        dxgk_kernel_check(k, "ExAllocatePoolWithTag of paged pool", APC_LEVEL);
    if (!NumberOfBytes)
        dxgk_kernel_violation(k, "ExAllocatePoolWithTag of zero bytes");
    fenced = dxgk_pool_fence(d, false);
    b = new_block(&d->ntos.pool, NumberOfBytes, Tag, PoolType & PagedPool);
    if (b) {
        set_guards(b);
        memset(b->memory, NEW_BYTE, NumberOfBytes);
    }
    dxgk_pool_fence(d, fenced);
    if (!b && PoolType & POOL_RAISE_IF_ALLOCATION_FAILURE)
        ExRaiseStatus(STATUS_INSUFFICIENT_RESOURCES);
    return b ? b->memory : NULL;
}

PVOID NTAPI ExAllocatePoolWithTagPriority(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag,
                                          EX_POOL_PRIORITY Priority)
{
    UNREFERENCED_PARAMETER(Priority); /* only says who goes without first */
    return ExAllocatePoolWithTag(PoolType, NumberOfBytes, Tag);
}

PVOID NTAPI ExAllocatePoolWithQuotaTag(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag)
{
    PVOID p = ExAllocatePoolWithTag(PoolType, NumberOfBytes, Tag);

    if (!p && !(PoolType & POOL_QUOTA_FAIL_INSTEAD_OF_RAISE))
        ExRaiseStatus(STATUS_INSUFFICIENT_RESOURCES);
    return p;
}

PVOID NTAPI ExAllocatePool2(POOL_FLAGS Flags, SIZE_T NumberOfBytes, ULONG Tag)
{
    PVOID p;
    ENTER(ExAllocatePool2);

    (void)k;
    p = ExAllocatePoolWithTag(Flags & POOL_FLAG_PAGED ? PagedPool : NonPagedPool, NumberOfBytes, Tag);
    if (p && !(Flags & POOL_FLAG_UNINITIALIZED))
        memset(p, 0, NumberOfBytes);
    return p;
}

static void free_block(struct dxgk *d, const char *routine, struct pool_block *b, ULONG tag)
{
    struct pool *p = &d->ntos.pool;
    struct kernel *k = d->kernel;
    const char *used;

    if (tag && b->tag != tag)
        dxgk_kernel_violation(k, "ExFreePoolWithTag: the tag is %08x, was %08x", tag, b->tag);
    look_at(d, b, 0);
    used = dxgk_ntos_freed(d, b->memory, b->size);
    if (used)
        dxgk_kernel_violation(k, "%s of %zu bytes, tag %.4s, with %s", routine, b->size, (char *)&b->tag,
                              used);
    unlink_block(p, b);
    b->freed = true;
    b->freed_in = dxgk_kernel_ddi(k);
    memset(b->memory, FREED_BYTE, b->size);
    is_whole(p, b);
    link_last(&p->kept, b);
    p->kept_bytes += b->size;
    while (p->kept_bytes > FREED_KEPT)
        forget_kept(d);
}

void dxgk_pool_free(struct dxgk *d, const char *routine, void *memory, ULONG tag)
{
    struct pool_block *b = map_pointer(&d->ntos.pool.blocks, (uintptr_t)memory);
    bool fenced;

    if (!dxgk_pool_allocated(d, routine, memory))
        return;
    if (b->paged)
        dxgk_kernel_check(d->kernel, "ExFreePool of paged pool", APC_LEVEL);
    fenced = dxgk_pool_fence(d, false);
    free_block(d, routine, b, tag);
    dxgk_pool_fence(d, fenced);
}

VOID NTAPI ExFreePoolWithTag(PVOID P, ULONG Tag)
{
    ENTER(ExFreePoolWithTag);

    dxgk_pool_free(dxgk_kernel_ctx(k), "ExFreePool", P, Tag);
}

VOID NTAPI ExFreePool(PVOID P)
{
    ExFreePoolWithTag(P, 0);
}

void dxgk_pool_finish(struct pool *p)
{
    struct pool_block *rings[] = {&p->live, &p->kept};

    for (unsigned i = 0; i < 2; i++)
        while (rings[i]->next != rings[i]) {
            struct pool_block *b = rings[i]->next;
            unlink_block(p, b);
            give_slot(p, b);
        }
    while (p->chunks) {
        struct pool_chunk *c = p->chunks;
        p->chunks = c->next;
        unmap_between(c->memory, CHUNK);
        free(c);
    }
    for (unsigned c = 0; c < POOL_CLASSES; c++) {
        free(p->classes[0][c].free);
        free(p->classes[1][c].free);
    }
    free(p->paged);
    map_finish(&p->blocks);
    dxgk_pool_init(p, p->limit);
}
