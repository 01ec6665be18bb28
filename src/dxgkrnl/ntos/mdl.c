/* SPDX-License-Identifier: MIT */
/* mdl.c: MDLs. The page numbers are those of the memory that the device reaches; for other memory (pool, stacks) a page's number
 * is that of its address in this process, so that what is described can be mapped, and no device can be given it by mistake: such
 * numbers are beyond every machine's memory. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

#define MAPPED_BY_MDL "MmMapLockedPagesSpecifyCache"

static ULONG pages_of(const MDL *mdl)
{
    return ADDRESS_AND_SIZE_TO_SPAN_PAGES(MmGetMdlVirtualAddress(mdl), mdl->ByteCount);
}

/* Where what MmAllocatePagesForMdl gave with this MDL is linked in; there is NULL: it is none of those. */
static struct contiguous **allocated(struct dxgk *d, const MDL *mdl)
{
    struct contiguous **p = &d->ntos.contiguous;

    while (*p && (!mdl || (*p)->mdl != mdl))
        p = &(*p)->next;
    return p;
}

PMDL NTAPI IoAllocateMdl(PVOID VirtualAddress, ULONG Length, BOOLEAN SecondaryBuffer, BOOLEAN ChargeQuota,
                         PIRP Irp)
{
    size_t size = sizeof(MDL) +
                  (size_t)ADDRESS_AND_SIZE_TO_SPAN_PAGES(VirtualAddress, (size_t)Length) * sizeof(PFN_NUMBER);
    PMDL mdl;
    ENTER(IoAllocateMdl);

    UNREFERENCED_PARAMETER(SecondaryBuffer);
    UNREFERENCED_PARAMETER(ChargeQuota);
    if (Irp)
        dxgk_kernel_violation(k, "IoAllocateMdl for an IRP, of which display miniports have none");
    mdl = ExAllocatePoolWithTag(NonPagedPool, size, 0x206C644D); /* Mdl */
    if (mdl)
        *mdl = (MDL){.Size = (SHORT)size,
                     .StartVa = PAGE_ALIGN(VirtualAddress),
                     .ByteCount = Length,
                     .ByteOffset = BYTE_OFFSET(VirtualAddress)};
    return mdl;
}

VOID NTAPI IoFreeMdl(PMDL Mdl)
{
    ENTER(IoFreeMdl);
    if (Mdl && !dxgk_pool_allocated(dxgk_kernel_ctx(k), "IoFreeMdl", Mdl))
        return;
    dxgk_ntos_forget_locked(dxgk_kernel_ctx(k), Mdl);
    if (Mdl->MdlFlags & (MDL_PAGES_LOCKED | MDL_MAPPED_TO_SYSTEM_VA))
        dxgk_kernel_violation(k, "IoFreeMdl of an MDL whose pages are %s",
                              Mdl->MdlFlags & MDL_PAGES_LOCKED ? "locked" : "mapped");
    dxgk_pool_free(dxgk_kernel_ctx(k), "IoFreeMdl", Mdl, 0);
}

static void find_pages(PMDL mdl)
{
    uint8_t *at = mdl->StartVa;

    for (ULONG i = 0; i < pages_of(mdl); i++, at += PAGE_SIZE) {
        uint64_t pa = (uint64_t)MmGetPhysicalAddress(at).QuadPart;
        MmGetMdlPfnArray(mdl)[i] = (pa ? pa : (uint64_t)(uintptr_t)at) >> PAGE_SHIFT;
    }
}

VOID NTAPI MmBuildMdlForNonPagedPool(PMDL MemoryDescriptorList)
{
    ENTER(MmBuildMdlForNonPagedPool);
    if (dxgk_pool_is_paged(&OWNER()->ntos.pool, MmGetMdlVirtualAddress(MemoryDescriptorList)))
        dxgk_kernel_violation(k, "MmBuildMdlForNonPagedPool of paged pool");
    find_pages(MemoryDescriptorList);
    MemoryDescriptorList->MdlFlags |= MDL_SOURCE_IS_NONPAGED_POOL;
    MemoryDescriptorList->MappedSystemVa = MmGetMdlVirtualAddress(MemoryDescriptorList);
}

static void remember_locked(struct dxgk *d, const MDL *mdl)
{
    struct locked *l = malloc(sizeof(*l));

    if (!l) /* nobody is blamed for what is not known */
        return;
    *l = (struct locked){d->ntos.locked, mdl, (uintptr_t)MmGetMdlVirtualAddress(mdl), mdl->ByteCount};
    d->ntos.locked = l;
}

void dxgk_ntos_forget_locked(struct dxgk *d, const MDL *mdl)
{
    for (struct locked **p = &d->ntos.locked; *p;) {
        struct locked *l = *p;
        if (mdl && l->mdl != mdl) {
            p = &l->next;
            continue;
        }
        *p = l->next;
        free(l);
    }
}

bool dxgk_ntos_is_locked(const struct dxgk *d, const void *memory, size_t size)
{
    const uintptr_t at = (uintptr_t)memory;

    for (const struct locked *l = d->ntos.locked; l; l = l->next)
        if (l->start < at + size && at < l->start + l->size)
            return true;
    return false;
}

VOID NTAPI MmProbeAndLockPages(PMDL MemoryDescriptorList, KPROCESSOR_MODE AccessMode,
                               LOCK_OPERATION Operation)
{
    PMDL mdl = MemoryDescriptorList;
    int how = Operation == IoReadAccess ? MADV_POPULATE_READ : MADV_POPULATE_WRITE;
    ENTER(MmProbeAndLockPages);

    if (AccessMode == UserMode)
        dxgk_kernel_check(k, "MmProbeAndLockPages of a process's memory", APC_LEVEL);
    if (dxgk_pool_is_paged(&OWNER()->ntos.pool, MmGetMdlVirtualAddress(mdl)))
        dxgk_kernel_check(k, "MmProbeAndLockPages of paged pool", APC_LEVEL);
    if (mdl->MdlFlags & (MDL_PAGES_LOCKED | MDL_SOURCE_IS_NONPAGED_POOL)) {
        dxgk_kernel_violation(k, "MmProbeAndLockPages of an MDL whose pages are known");
        return;
    }
    if (!mdl->ByteCount || madvise(mdl->StartVa, (size_t)pages_of(mdl) * PAGE_SIZE, how)) {
        dxgk_kernel_violation(k, "MmProbeAndLockPages raises an exception: %u bytes at %p cannot be %s",
                              mdl->ByteCount, MmGetMdlVirtualAddress(mdl),
                              Operation == IoReadAccess ? "read" : "written");
        return;
    }
    find_pages(mdl);
    mdl->MdlFlags |= MDL_PAGES_LOCKED;
    remember_locked(OWNER(), mdl);
}

VOID NTAPI MmUnlockPages(PMDL MemoryDescriptorList)
{
    PMDL mdl = MemoryDescriptorList;
    ENTER(MmUnlockPages);

    if (!(mdl->MdlFlags & MDL_PAGES_LOCKED)) {
        dxgk_kernel_violation(k, "MmUnlockPages of an MDL whose pages are not locked");
        return;
    }
    if (*allocated(dxgk_kernel_ctx(k), mdl)) {
        dxgk_kernel_violation(
            k, "MmUnlockPages of an MDL of MmAllocatePagesForMdl, whose pages MmFreePagesFromMdl frees");
        return;
    }
    if (mdl->MdlFlags & MDL_MAPPED_TO_SYSTEM_VA)
        MmUnmapLockedPages(mdl->MappedSystemVa, mdl);
    dxgk_ntos_forget_locked(OWNER(), mdl);
    mdl->MdlFlags &= ~MDL_PAGES_LOCKED;
}

/* ---- pages without an address -------------------------------------------- */

/* Whether all that is given lies where it may: in the range, or in one of those that repeat every `skip` bytes. */
static bool within(uint64_t pa, size_t size, uint64_t low, uint64_t high, uint64_t skip)
{
    for (uint64_t at = pa; at < pa + size; at += PAGE_SIZE) {
        uint64_t off = skip && at > low ? (at - low) % skip : at - low;
        if (at < low || high < low || off > high - low || high - low - off < PAGE_SIZE - 1)
            return false;
    }
    return true;
}

/* In one piece, which is as good as several; half as much, and half of that, where there is no more. */
static struct contiguous *find_memory(struct dxgk *d, size_t size, bool whole, uint64_t align, size_t *got)
{
    struct contiguous *c = calloc(1, sizeof(*c));
    uint64_t left = d->bus->memory_size & ~(uint64_t)(PAGE_SIZE - 1);

    for (const struct contiguous *o = d->ntos.contiguous; o; o = o->next)
        left -= o->mem.size < left ? o->mem.size : left;
    if (size > left)
        size = whole ? 0 : left;
    for (; c && size; size = whole ? 0 : size / 2 & ~(size_t)(PAGE_SIZE - 1))
        if (!dxgk_physmem_alloc(d, size + align, &c->mem)) {
            *got = size;
            return c;
        }
    free(c);
    return NULL;
}

static PMDL allocate_pages(struct dxgk *d, const char *routine, const PHYSICAL_ADDRESS range[3], SIZE_T total,
                           ULONG flags)
{
    uint64_t low = (uint64_t)range[0].QuadPart, high = (uint64_t)range[1].QuadPart,
             skip = (uint64_t)range[2].QuadPart, pa;
    bool chunks = flags & MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS;
    struct contiguous *c;
    size_t size;
    PMDL mdl;

    if (skip & (PAGE_SIZE - 1) || flags & ~0x3Fu ||
        (chunks && skip && (skip & (skip - 1) || total & (skip - 1)))) {
        dxgk_kernel_violation(d->kernel,
                              "%s of %zu bytes with SkipBytes %#llx and flags %#x, which there are not",
                              routine, total, (unsigned long long)skip, flags);
        return NULL;
    }
    if (!total || total > UINT32_MAX - PAGE_SIZE + 1)
        return NULL;
    c = find_memory(d, ROUND_TO_PAGES(total), chunks || flags & MM_ALLOCATE_FULLY_REQUIRED,
                    chunks && skip ? skip : 0, &size);
    if (!c)
        return NULL;
    pa = chunks && skip ? (c->mem.pa + skip - 1) & ~(skip - 1) : c->mem.pa;
    mdl = within(pa, size, low, high, chunks ? 0 : skip)
              ? IoAllocateMdl(NULL, (ULONG)size, FALSE, FALSE, NULL)
              : NULL;
    if (!mdl) {
        dxgk_physmem_free(d, &c->mem);
        free(c);
        return NULL;
    }
    if (!(flags & MM_DONT_ZERO_ALLOCATION))
        memset(c->mem.va, 0, c->mem.size);
    for (size_t i = 0; i < size >> PAGE_SHIFT; i++)
        MmGetMdlPfnArray(mdl)[i] = (pa >> PAGE_SHIFT) + i;
    mdl->MdlFlags |= MDL_PAGES_LOCKED;
    c->mdl = mdl;
    c->first = pa >> PAGE_SHIFT;
    c->next = d->ntos.contiguous;
    d->ntos.contiguous = c;
    return mdl;
}

PMDL NTAPI MmAllocatePagesForMdlEx(PHYSICAL_ADDRESS LowAddress, PHYSICAL_ADDRESS HighAddress,
                                   PHYSICAL_ADDRESS SkipBytes, SIZE_T TotalBytes,
                                   MEMORY_CACHING_TYPE CacheType, ULONG Flags)
{
    const PHYSICAL_ADDRESS range[3] = {LowAddress, HighAddress, SkipBytes};
    ENTER(MmAllocatePagesForMdlEx);

    UNREFERENCED_PARAMETER(CacheType);
    return allocate_pages(dxgk_kernel_ctx(k), "MmAllocatePagesForMdlEx", range, TotalBytes, Flags);
}

PMDL NTAPI MmAllocatePagesForMdl(PHYSICAL_ADDRESS LowAddress, PHYSICAL_ADDRESS HighAddress,
                                 PHYSICAL_ADDRESS SkipBytes, SIZE_T TotalBytes)
{
    const PHYSICAL_ADDRESS range[3] = {LowAddress, HighAddress, SkipBytes};
    ENTER(MmAllocatePagesForMdl);

    return allocate_pages(dxgk_kernel_ctx(k), "MmAllocatePagesForMdl", range, TotalBytes, 0);
}

VOID NTAPI MmFreePagesFromMdl(PMDL MemoryDescriptorList)
{
    PMDL mdl = MemoryDescriptorList;
    struct dxgk *d = OWNER();
    struct contiguous **p = allocated(d, mdl), *c = *p;
    ENTER(MmFreePagesFromMdl);

    if (!c) {
        dxgk_kernel_violation(
            k, "MmFreePagesFromMdl of %p, which has no pages of MmAllocatePagesForMdl, or no more",
            (void *)mdl);
        return;
    }
    if (!(mdl->MdlFlags & MDL_PAGES_LOCKED) || MmGetMdlPfnArray(mdl)[0] != c->first) {
        dxgk_kernel_violation(k, "MmFreePagesFromMdl of an MDL that was freed or written over");
    } else {
        if (mdl->MdlFlags & MDL_MAPPED_TO_SYSTEM_VA) {
            dxgk_kernel_violation(k, "MmFreePagesFromMdl of an MDL whose pages are mapped");
            MmUnmapLockedPages(mdl->MappedSystemVa, mdl);
        }
        mdl->MdlFlags &= ~MDL_PAGES_LOCKED;
    }
    *p = c->next;
    dxgk_physmem_free(d, &c->mem);
    free(c);
}

/* ---- mappings ------------------------------------------------------------ */

static uint8_t *page_at(struct dxgk *d, PFN_NUMBER pfn)
{
    uint64_t pa = (uint64_t)pfn << PAGE_SHIFT;
    uint8_t *va = d->bus->dma_ptr(d->bus->ctx, pa, PAGE_SIZE);

    return va ? va : pa >= d->bus->memory_size ? (uint8_t *)(uintptr_t)pa : NULL;
}

/* A second mapping of each page, one behind the other; NULL: one is not shared memory. */
static uint8_t *gather(struct dxgk *d, const MDL *mdl)
{
    size_t size = (size_t)pages_of(mdl) * PAGE_SIZE;
    uint8_t *all = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (all == MAP_FAILED)
        return NULL;
    for (ULONG i = 0; i < pages_of(mdl); i++) {
        void *to = all + (size_t)i * PAGE_SIZE, *from = page_at(d, MmGetMdlPfnArray(mdl)[i]);
        if (!from || mremap(from, 0, PAGE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
            munmap(all, size);
            return NULL;
        }
    }
    return all;
}

PVOID NTAPI MmMapLockedPagesSpecifyCache(PMDL MemoryDescriptorList, KPROCESSOR_MODE AccessMode,
                                         MEMORY_CACHING_TYPE CacheType, PVOID BaseAddress,
                                         ULONG BugCheckOnFailure, MM_PAGE_PRIORITY Priority)
{
    PMDL mdl = MemoryDescriptorList;
    const PFN_NUMBER *pfn = MmGetMdlPfnArray(mdl);
    struct dxgk *d = OWNER();
    struct mapping *m;
    bool contiguous = true;
    ENTER(MmMapLockedPagesSpecifyCache);

    UNREFERENCED_PARAMETER(CacheType);
    UNREFERENCED_PARAMETER(BaseAddress);
    UNREFERENCED_PARAMETER(BugCheckOnFailure);
    UNREFERENCED_PARAMETER(Priority);
    if (AccessMode == UserMode)
        dxgk_kernel_check(k, "MmMapLockedPagesSpecifyCache for a process", APC_LEVEL);
    if (mdl->MdlFlags & (MDL_MAPPED_TO_SYSTEM_VA | MDL_SOURCE_IS_NONPAGED_POOL) && AccessMode == KernelMode)
        dxgk_kernel_violation(k, "MmMapLockedPagesSpecifyCache of an MDL that is mapped");
    m = mdl->ByteCount ? calloc(1, sizeof(*m)) : NULL;
    if (!m)
        return NULL;
    m->va = page_at(d, pfn[0]);
    for (ULONG i = 1; i < pages_of(mdl); i++)
        contiguous &= page_at(d, pfn[i]) == m->va + (size_t)i * PAGE_SIZE;
    m->own = !contiguous;
    if (!contiguous)
        m->va = gather(d, mdl);
    if (!m->va) {
        free(m);
        return NULL;
    }
    m->by = MAPPED_BY_MDL;
    m->size = (size_t)pages_of(mdl) * PAGE_SIZE;
    m->address = (uint64_t)pfn[0] << PAGE_SHIFT;
    m->next = d->ntos.mappings;
    d->ntos.mappings = m;
    if (AccessMode == KernelMode) {
        mdl->MdlFlags |= MDL_MAPPED_TO_SYSTEM_VA;
        mdl->MappedSystemVa = m->va + mdl->ByteOffset;
    }
    return m->va + mdl->ByteOffset;
}

PVOID NTAPI MmMapLockedPages(PMDL MemoryDescriptorList, KPROCESSOR_MODE AccessMode)
{
    CHECK(MmMapLockedPages);
    return MmMapLockedPagesSpecifyCache(MemoryDescriptorList, AccessMode, MmCached, NULL, TRUE,
                                        HighPagePriority);
}

VOID NTAPI MmUnmapLockedPages(PVOID BaseAddress, PMDL MemoryDescriptorList)
{
    PMDL mdl = MemoryDescriptorList;
    struct dxgk *d = OWNER();
    ENTER(MmUnmapLockedPages);

    (void)k;
    if (!NT_SUCCESS(dxgk_ntos_unmap(d, "MmUnmapLockedPages", MAPPED_BY_MDL, PAGE_ALIGN(BaseAddress))))
        return;
    if (mdl->MappedSystemVa == BaseAddress)
        mdl->MdlFlags &= ~MDL_MAPPED_TO_SYSTEM_VA;
}
