/* SPDX-License-Identifier: MIT */
/* contiguous.c: memory that a device reaches, by each of the routines that give a miniport some. See ntos.h. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"

#include <stdlib.h>
#include <string.h>

enum {
    GUARD_BYTE = 0xFB,
    FREED_BYTE = 0xDD,
    KEPT = 1 << 20, /* bytes that are freed */
    ANY_TYPE = -1   /* cache type */
};
#define ANY_SIZE SIZE_MAX

#define ALLOCATES     "MmAllocateContiguousMemory"
#define SPECIFIES     "MmAllocateContiguousMemorySpecifyCache"
#define NONCACHED     "MmAllocateNonCachedMemory"
#define COMMON_BUFFER "AllocateCommonBuffer"

/* ---- what is kept, and watched ------------------------------------------- */

static uint8_t *front_of(const struct contiguous *c)
{
    return c->whole.va;
}

static uint8_t *behind(const struct contiguous *c)
{
    return (uint8_t *)c->mem.va + c->mem.size;
}

static void set_guards(const struct contiguous *c)
{
    memset(front_of(c), GUARD_BYTE, PAGE_SIZE);
    memset(behind(c), GUARD_BYTE, PAGE_SIZE);
    if (c->freed)
        memset(c->mem.va, FREED_BYTE, c->mem.size);
}

static void look_at(struct kernel *k, const struct contiguous *c)
{
    static const char who[] = "the miniport, or its device, wrote";
    size_t first, end, freed;

    if (!c->whole.va) /* nobody's pages are beside those of MmAllocatePagesForMdl */
        return;
    first = dxgk_differs(front_of(c), GUARD_BYTE, PAGE_SIZE);
    end = dxgk_differs(behind(c), GUARD_BYTE, PAGE_SIZE);
    freed = c->freed ? dxgk_differs(c->mem.va, FREED_BYTE, c->mem.size) : c->mem.size;
    if (first == PAGE_SIZE && end == PAGE_SIZE && freed == c->mem.size)
        return;
    if (first < PAGE_SIZE)
        dxgk_kernel_violation(k, "%s %zu bytes in front of %zu bytes of contiguous memory", who,
                              PAGE_SIZE - first, c->mem.size);
    if (end < PAGE_SIZE)
        dxgk_kernel_violation(k, "%s behind the end of %zu bytes of contiguous memory, at byte %zu", who,
                              c->mem.size, c->mem.size + end);
    if (freed < c->mem.size)
        dxgk_kernel_violation(k, "%s at %zu of %zu bytes of contiguous memory, after they were freed in %s",
                              who, freed, c->mem.size, c->freed_in ? c->freed_in : "no DDI");
    set_guards(c);
}

static void drop(struct dxgk *d, struct contiguous *c)
{
    dxgk_physmem_free(d, c->whole.va ? &c->whole : &c->mem);
    free(c);
}

/* The oldest go, until so many bytes are left. */
static void forget_freed(struct dxgk *d, size_t left)
{
    struct contiguous *c;

    while ((c = d->ntos.freed_contiguous.first) && d->ntos.freed_contiguous.bytes > left) {
        look_at(d->kernel, c);
        d->ntos.freed_contiguous.first = c->next;
        d->ntos.freed_contiguous.bytes -= c->mem.size;
        drop(d, c);
    }
    if (!d->ntos.freed_contiguous.first)
        d->ntos.freed_contiguous.last = &d->ntos.freed_contiguous.first;
}

void dxgk_contiguous_look(struct dxgk *d)
{
    for (const struct contiguous *c = d->ntos.contiguous; c; c = c->next)
        look_at(d->kernel, c);
    for (const struct contiguous *c = d->ntos.freed_contiguous.first; c; c = c->next)
        look_at(d->kernel, c);
}

void dxgk_contiguous_init(struct dxgk *d)
{
    d->ntos.freed_contiguous.last = &d->ntos.freed_contiguous.first;
}

void dxgk_contiguous_finish(struct dxgk *d)
{
    while (d->ntos.contiguous) {
        struct contiguous *c = d->ntos.contiguous;
        d->ntos.contiguous = c->next;
        drop(d, c);
    }
    while (d->ntos.freed_contiguous.first) {
        struct contiguous *c = d->ntos.freed_contiguous.first;
        d->ntos.freed_contiguous.first = c->next;
        drop(d, c);
    }
    d->ntos.freed_contiguous.bytes = 0;
    dxgk_contiguous_init(d);
}

bool dxgk_contiguous_forget(struct dxgk *d)
{
    const bool had = d->ntos.freed_contiguous.first;

    forget_freed(d, 0);
    return had;
}

/* ---- given and given back ------------------------------------------------ */

static PVOID allocate(const char *routine, SIZE_T bytes, uint64_t highest, int cache)
{
    const size_t size = ROUND_TO_PAGES(bytes);
    struct dxgk *d = OWNER();
    struct contiguous *c = calloc(1, sizeof(*c));

    if (!c || !bytes || bytes > d->bus->memory_size ||
        dxgk_physmem_alloc(d, size + 2 * PAGE_SIZE, &c->whole)) {
        free(c);
        return NULL;
    }
    c->mem = (struct physmem){
        .va = (uint8_t *)c->whole.va + PAGE_SIZE, .pa = c->whole.pa + PAGE_SIZE, .size = size};
    c->by = routine;
    c->cache = cache;
    if (c->mem.pa + bytes - 1 > highest) {
        drop(d, c);
        return NULL;
    }
    set_guards(c);
    c->next = d->ntos.contiguous;
    d->ntos.contiguous = c;
    return c->mem.va;
}

static bool was_freed(const struct dxgk *d, const void *va)
{
    const struct contiguous *c = d->ntos.freed_contiguous.first;

    while (c && c->mem.va != va)
        c = c->next;
    return c;
}

static void give_back(const char *routine, void *va, SIZE_T bytes, int cache, const char *by, const char * or)
{
    struct dxgk *d = OWNER();
    struct contiguous **p = &d->ntos.contiguous, *c;
    const char *used;

    while (*p && ((*p)->mem.va != va || (*p)->mdl))
        p = &(*p)->next;
    c = *p;
    if (!c) {
        dxgk_kernel_violation(d->kernel, "%s of %p, which is %s", routine, va,
                              was_freed(d, va) ? "freed already" : "not allocated");
        return;
    }
    if (strcmp(c->by, by) != 0 && strcmp(c->by, or) != 0)
        dxgk_kernel_violation(d->kernel, "%s of %p, which %s allocated", routine, va, c->by);
    else if (cache != ANY_TYPE && c->cache != cache)
        dxgk_kernel_violation(d->kernel, "%s with cache type %d, but it was allocated with %d", routine,
                              cache, c->cache);
    if (bytes != ANY_SIZE && ROUND_TO_PAGES(bytes) != c->mem.size)
        dxgk_kernel_violation(d->kernel, "%s of %zu bytes, but %zu were allocated", routine, bytes,
                              c->mem.size);
    used = dxgk_ntos_freed(d, va, c->mem.size);
    if (used)
        dxgk_kernel_violation(d->kernel, "%s of %zu bytes with %s", routine, c->mem.size, used);
    look_at(d->kernel, c);
    *p = c->next;
    c->next = NULL;
    c->freed = true;
    c->freed_in = dxgk_kernel_ddi(d->kernel);
    set_guards(c);
    *d->ntos.freed_contiguous.last = c;
    d->ntos.freed_contiguous.last = &c->next;
    d->ntos.freed_contiguous.bytes += c->mem.size;
    forget_freed(d, KEPT);
}

PVOID NTAPI MmAllocateContiguousMemory(SIZE_T NumberOfBytes, PHYSICAL_ADDRESS HighestAcceptableAddress)
{
    CHECK(MmAllocateContiguousMemory);
    return allocate(ALLOCATES, NumberOfBytes, (uint64_t)HighestAcceptableAddress.QuadPart, MmCached);
}

PVOID NTAPI MmAllocateContiguousMemorySpecifyCache(SIZE_T NumberOfBytes,
                                                   PHYSICAL_ADDRESS LowestAcceptableAddress,
                                                   PHYSICAL_ADDRESS HighestAcceptableAddress,
                                                   PHYSICAL_ADDRESS BoundaryAddressMultiple,
                                                   MEMORY_CACHING_TYPE CacheType)
{
    CHECK(MmAllocateContiguousMemorySpecifyCache);
    UNREFERENCED_PARAMETER(LowestAcceptableAddress);
    UNREFERENCED_PARAMETER(BoundaryAddressMultiple);
    return allocate(SPECIFIES, NumberOfBytes, (uint64_t)HighestAcceptableAddress.QuadPart, (int)CacheType);
}

/* In pages that the device reaches, as all of this memory is. */
PVOID NTAPI MmAllocateNonCachedMemory(SIZE_T NumberOfBytes)
{
    CHECK(MmAllocateNonCachedMemory);
    return allocate(NONCACHED, NumberOfBytes, UINT64_MAX, MmNonCached);
}

/* For each of the first two, the WDK says: it is the one to be preferred for both. */
VOID NTAPI MmFreeContiguousMemory(PVOID BaseAddress)
{
    CHECK(MmFreeContiguousMemory);
    give_back("MmFreeContiguousMemory", BaseAddress, ANY_SIZE, ANY_TYPE, ALLOCATES, SPECIFIES);
}

VOID NTAPI MmFreeContiguousMemorySpecifyCache(PVOID BaseAddress, SIZE_T NumberOfBytes,
                                              MEMORY_CACHING_TYPE CacheType)
{
    CHECK(MmFreeContiguousMemorySpecifyCache);
    give_back("MmFreeContiguousMemorySpecifyCache", BaseAddress, NumberOfBytes, (int)CacheType, SPECIFIES,
              SPECIFIES);
}

VOID NTAPI MmFreeNonCachedMemory(PVOID BaseAddress, SIZE_T NumberOfBytes)
{
    CHECK(MmFreeNonCachedMemory);
    give_back("MmFreeNonCachedMemory", BaseAddress, NumberOfBytes, ANY_TYPE, NONCACHED, NONCACHED);
}

PVOID dxgk_contiguous_common(ULONG bytes, bool cached)
{
    return allocate(COMMON_BUFFER, bytes, UINT64_MAX, cached ? MmCached : MmNonCached);
}

void dxgk_contiguous_common_back(PVOID va, ULONG bytes, bool cached)
{
    give_back("FreeCommonBuffer", va, bytes, cached ? MmCached : MmNonCached, COMMON_BUFFER, COMMON_BUFFER);
}
