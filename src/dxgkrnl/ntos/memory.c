/* SPDX-License-Identifier: MIT */
/* memory.c: the memory and the register windows that a miniport has, and what it did not give back. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST_LEAKS = 64 }; /* blocks that are named */

void dxgk_ntos_init(struct dxgk *d)
{
    dxgk_pool_init(&d->ntos.pool, d->bus->memory_size);
    dxgk_contiguous_init(d);
    InitializeListHead(&d->ntos.timers);
    d->ntos.items_last = &d->ntos.items;
}

/* ---- addresses ------------------------------------------------------------ */

PHYSICAL_ADDRESS NTAPI MmGetPhysicalAddress(PVOID BaseAddress)
{
    struct dxgk *d = OWNER();
    PHYSICAL_ADDRESS pa = {.QuadPart = 0};

    /* Pool lies outside of what a device reaches: its addresses are as MDLs have them, and nobody else's. */
    if (dxgk_pool_has(&d->ntos.pool, BaseAddress))
        pa.QuadPart = (LONGLONG)(uintptr_t)BaseAddress;
    for (struct contiguous *c = d->ntos.contiguous; c; c = c->next)
        if ((uint8_t *)BaseAddress >= (uint8_t *)c->mem.va &&
            (uint8_t *)BaseAddress < (uint8_t *)c->mem.va + c->mem.size)
            pa.QuadPart = (LONGLONG)(c->mem.pa + (uint64_t)((uint8_t *)BaseAddress - (uint8_t *)c->mem.va));
    return pa;
}

PVOID NTAPI MmGetVirtualForPhysical(PHYSICAL_ADDRESS PhysicalAddress)
{
    struct dxgk *d = OWNER();

    return d->bus->dma_ptr(d->bus->ctx, (uint64_t)PhysicalAddress.QuadPart, 1);
}

/* ---- device registers ---------------------------------------------------- */

NTSTATUS dxgk_ntos_map(struct dxgk *d, const char *by, uint64_t address, size_t size, void **va)
{
    const struct dxgk_bus *bus = d->bus;
    struct mapping *m;
    bool inside = false;

    for (unsigned i = 0; i < bus->num_resources; i++) {
        const struct dxgk_resource *r = &bus->resources[i];
        if (r->type == CmResourceTypeMemory && address >= r->start && address - r->start < r->length &&
            size <= r->length - (address - r->start))
            inside = true;
    }
    if (!inside || !size)
        return STATUS_INVALID_PARAMETER;
    m = calloc(1, sizeof(*m));
    if (!m)
        return STATUS_NO_MEMORY;
    *m = (struct mapping){.next = d->ntos.mappings, .address = address, .size = size, .by = by};
    m->va = bus->mmio_map ? bus->mmio_map(bus->ctx, address, size) : NULL;
    if (!m->va) {
        m->trapped = m->own = true;
        m->va = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (m->va == MAP_FAILED) {
            free(m);
            return STATUS_NO_MEMORY;
        }
    }
    d->ntos.mappings = m;
    *va = m->va;
    return STATUS_SUCCESS;
}

NTSTATUS dxgk_ntos_unmap(struct dxgk *d, const char *routine, const char *by, void *va)
{
    for (struct mapping **p = &d->ntos.mappings; *p; p = &(*p)->next)
        if ((*p)->va == va) {
            struct mapping *m = *p;
            *p = m->next;
            if (strcmp(m->by, by) != 0)
                dxgk_kernel_violation(d->kernel, "%s of %p, which %s mapped", routine, va, m->by);
            if (m->own)
                munmap(m->va, m->size);
            free(m);
            return STATUS_SUCCESS;
        }
    dxgk_kernel_violation(d->kernel, "%s of %p, which is not mapped", routine, va);
    return STATUS_INVALID_PARAMETER;
}

PVOID NTAPI MmMapIoSpace(PHYSICAL_ADDRESS PhysicalAddress, SIZE_T NumberOfBytes,
                         MEMORY_CACHING_TYPE CacheType)
{
    struct dxgk *d = OWNER();
    struct mapping *m;
    void *va = NULL;
    ENTER(MmMapIoSpace);

    UNREFERENCED_PARAMETER(CacheType);
    if (NT_SUCCESS(dxgk_ntos_map(d, "MmMapIoSpace", (uint64_t)PhysicalAddress.QuadPart, NumberOfBytes, &va)))
        return va;
    va = d->bus->dma_ptr(d->bus->ctx, (uint64_t)PhysicalAddress.QuadPart, NumberOfBytes);
    m = va ? calloc(1, sizeof(*m)) : NULL; /* memory: mapped as it is */
    if (!m)
        return NULL;
    *m = (struct mapping){.next = d->ntos.mappings,
                          .va = va,
                          .address = (uint64_t)PhysicalAddress.QuadPart,
                          .size = NumberOfBytes,
                          .by = "MmMapIoSpace"};
    d->ntos.mappings = m;
    return va;
}

PVOID NTAPI MmMapIoSpaceEx(PHYSICAL_ADDRESS PhysicalAddress, SIZE_T NumberOfBytes, ULONG Protect)
{
    ENTER(MmMapIoSpaceEx);

    (void)k;
    return MmMapIoSpace(PhysicalAddress, NumberOfBytes,
                        Protect & PAGE_NOCACHE        ? MmNonCached
                        : Protect & PAGE_WRITECOMBINE ? MmWriteCombined
                                                      : MmCached);
}

PPHYSICAL_MEMORY_RANGE NTAPI MmGetPhysicalMemoryRanges(VOID)
{
    struct dxgk *d = OWNER();
    PPHYSICAL_MEMORY_RANGE r = ExAllocatePoolWithTag(NonPagedPool, 2 * sizeof(*r), 0x6D52684D); /* MhRm */
    ENTER(MmGetPhysicalMemoryRanges);

    if (!r)
        return NULL;
    memset(r, 0, 2 * sizeof(*r));
    r->NumberOfBytes.QuadPart = (LONGLONG)d->bus->memory_size;
    return r;
}

/* Command buffers are dxgkrnl's own mappings, which no other client can unmap. */
HANDLE NTAPI MmSecureVirtualMemory(PVOID Address, SIZE_T Size, ULONG ProbeMode)
{
    ENTER(MmSecureVirtualMemory);
    const uintptr_t from = (uintptr_t)Address & ~(uintptr_t)(PAGE_SIZE - 1);

    (void)k;
    if (!Size || !ProbeMode || (uintptr_t)Address > MM_USER_PROBE_ADDRESS ||
        Size > MM_USER_PROBE_ADDRESS - (uintptr_t)Address ||
        madvise((void *)from, (uintptr_t)Address + Size - from, MADV_POPULATE_READ))
        return NULL;
    return Address;
}

VOID NTAPI MmUnsecureVirtualMemory(HANDLE SecureHandle)
{
    ENTER(MmUnsecureVirtualMemory);
    if (!SecureHandle)
        dxgk_kernel_violation(k, "MmUnsecureVirtualMemory of nothing");
}

VOID NTAPI MmUnmapIoSpace(PVOID BaseAddress, SIZE_T NumberOfBytes)
{
    struct dxgk *d = OWNER();
    ENTER(MmUnmapIoSpace);

    for (const struct mapping *m = d->ntos.mappings; m; m = m->next)
        if (m->va == BaseAddress && m->size != NumberOfBytes)
            dxgk_kernel_violation(k, "MmUnmapIoSpace of %zu bytes of a mapping of %zu", NumberOfBytes,
                                  m->size);
    dxgk_ntos_unmap(d, "MmUnmapIoSpace", "MmMapIoSpace", BaseAddress);
}

static struct mapping *mapping_at(struct dxgk *d, uint64_t va, size_t size)
{
    for (struct mapping *m = d->ntos.mappings; m; m = m->next)
        if (size <= m->size && va - (uintptr_t)m->va <= m->size - size)
            return m;
    return NULL;
}

bool dxgk_ntos_is_register(struct dxgk *d, uint64_t va, size_t size)
{
    const struct mapping *m = mapping_at(d, va, size);

    return m && m->trapped;
}

bool dxgk_ntos_register(struct dxgk *d, bool write, uint64_t va, unsigned size, uint64_t *value)
{
    const struct dxgk_bus *bus = d->bus;
    const struct mapping *m = mapping_at(d, va, size);
    unsigned step = size > 4 ? 4 : size; /* the device's words */
    uint64_t v = 0, at;

    if (!m || !m->trapped)
        return false;
    at = m->address + (va - (uintptr_t)m->va);
    for (unsigned i = 0; i < size; i += step)
        if (write)
            bus->mmio_write(bus->ctx, at + i, step, *value >> 8 * i & ((UINT64_C(1) << 8 * step) - 1));
        else
            v |= bus->mmio_read(bus->ctx, at + i, step) << 8 * i;
    if (!write)
        *value = v;
    return true;
}

static struct mapping *find_mapping(const char *routine, const volatile void *reg, unsigned size)
{
    struct dxgk *d = dxgk_kernel_ctx(dxgk_kernel_self(routine));
    struct mapping *m = mapping_at(d, (uintptr_t)reg, size);

    if (!m)
        dxgk_kernel_violation(d->kernel, "%s of %p, which is not in a mapped register window", routine,
                              (const void *)reg);
    return m;
}

static uint64_t register_read(const char *routine, const volatile void *reg, unsigned size)
{
    struct mapping *m = find_mapping(routine, reg, size);
    struct dxgk *d = OWNER();
    uint32_t value = 0;

    if (!m)
        return UINT64_MAX;
    if (!m->trapped) {
        memcpy(&value, (const void *)reg, size);
        return value;
    }
    return d->bus->mmio_read(d->bus->ctx, m->address + (uint64_t)((const volatile uint8_t *)reg - m->va),
                             size);
}

static void register_write(const char *routine, volatile void *reg, unsigned size, uint32_t value)
{
    struct mapping *m = find_mapping(routine, reg, size);
    struct dxgk *d = OWNER();

    if (!m)
        return;
    if (!m->trapped)
        memcpy((void *)reg, &value, size);
    else
        d->bus->mmio_write(d->bus->ctx, m->address + (uint64_t)((volatile uint8_t *)reg - m->va), size,
                           value);
}

UCHAR NTAPI READ_REGISTER_UCHAR(volatile UCHAR *Register)
{
    return (UCHAR)register_read(__func__, Register, 1);
}

USHORT NTAPI READ_REGISTER_USHORT(volatile USHORT *Register)
{
    return (USHORT)register_read(__func__, Register, 2);
}

VOID NTAPI WRITE_REGISTER_USHORT(volatile USHORT *Register, USHORT Value)
{
    register_write(__func__, Register, 2, Value);
}

ULONG NTAPI READ_REGISTER_ULONG(volatile ULONG *Register)
{
    return (ULONG)register_read(__func__, Register, 4);
}

VOID NTAPI WRITE_REGISTER_UCHAR(volatile UCHAR *Register, UCHAR Value)
{
    register_write(__func__, Register, 1, Value);
}

VOID NTAPI WRITE_REGISTER_ULONG(volatile ULONG *Register, ULONG Value)
{
    register_write(__func__, Register, 4, Value);
}

uint32_t dxgk_ntos_port(struct dxgk *d, bool write, uint16_t port, unsigned size, uint32_t value)
{
    UNREFERENCED_PARAMETER(value);
    if (!d->ntos.port_said)
        dxgk_kernel_violation(d->kernel, "%s of port %#x, %u bytes: the adapter has no ports",
                              write ? "a write" : "a read", port, size);
    d->ntos.port_said = true;
    return UINT32_MAX;
}

#define PORT(T, TYPE)                                                                                        \
    TYPE NTAPI READ_PORT_##T(volatile TYPE *Port)                                                            \
    {                                                                                                        \
        return (TYPE)dxgk_ntos_port(OWNER(), false, (uint16_t)(uintptr_t)Port, sizeof(TYPE), 0);             \
    }                                                                                                        \
    VOID NTAPI WRITE_PORT_##T(volatile TYPE *Port, TYPE Value)                                               \
    {                                                                                                        \
        dxgk_ntos_port(OWNER(), true, (uint16_t)(uintptr_t)Port, sizeof(TYPE), Value);                       \
    }
PORT(UCHAR, UCHAR)
PORT(USHORT, USHORT)
PORT(ULONG, ULONG)

/* ---- leaks --------------------------------------------------------------- */

BOOLEAN NTAPI MmIsAddressValid(PVOID VirtualAddress)
{
    uint8_t byte;
    struct iovec to = {&byte, 1}, from = {VirtualAddress, 1};
    ENTER(MmIsAddressValid);

    (void)k;
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

MM_SYSTEMSIZE NTAPI MmQuerySystemSize(VOID)
{
    SELF();
    return MmLargeSystem;
}

/* Each driver is verified here; whoever asks does more for that. */
ULONG NTAPI MmIsDriverVerifying(PDRIVER_OBJECT DriverObject)
{
    CHECK(MmIsDriverVerifying);
    return DriverObject == (PDRIVER_OBJECT)OWNER()->objects->driver;
}

PVOID NTAPI MmLockPagableDataSection(PVOID AddressWithinSection)
{
    CHECK(MmLockPagableDataSection);
    return AddressWithinSection;
}

VOID NTAPI MmUnlockPagableImageSection(PVOID ImageSectionHandle)
{
    CHECK(MmUnlockPagableImageSection);
    UNREFERENCED_PARAMETER(ImageSectionHandle);
}

/* The first of them one by one. */
static unsigned check_pool(struct dxgk *d)
{
    const struct pool *p = &d->ntos.pool;
    unsigned n = 0;
    size_t more = 0;

    for (const struct pool_block *b = p->live.next; b != &p->live; b = b->next, n++)
        if (n < MOST_LEAKS)
            dxgk_kernel_violation(d->kernel, "the miniport leaked %zu bytes of pool, tag %.4s", b->size,
                                  (const char *)&b->tag);
        else
            more += b->size;
    if (n > MOST_LEAKS)
        dxgk_kernel_violation(d->kernel, "the miniport leaked %u more blocks of pool, %zu bytes",
                              n - MOST_LEAKS, more);
    return n;
}

unsigned dxgk_ntos_check_leaks(struct dxgk *d)
{
    unsigned n = dxgk_ntos_stop_threads(d), timers = dxgk_ntos_forget_timers(d, NULL, 0);

    dxgk_pool_settle(d);
    dxgk_contiguous_look(d);
    if (d->crashed)
        return n;
    if (timers) {
        dxgk_kernel_violation(d->kernel, "the miniport left %u timers set", timers);
        n++;
    }
    n += dxgk_ntos_check_undeleted(d);
    n += check_pool(d);
    for (struct contiguous *c = d->ntos.contiguous; c; c = c->next, n++)
        dxgk_kernel_violation(
            d->kernel,
            c->mdl ? "the miniport leaked %zu bytes of pages that MmAllocatePagesForMdl gave it"
                   : "the miniport leaked %zu bytes of contiguous memory",
            c->mem.size);
    for (struct mapping *m = d->ntos.mappings; m; m = m->next, n++)
        dxgk_kernel_violation(d->kernel, "the miniport leaked a mapping of %zu bytes at %#llx", m->size,
                              (unsigned long long)m->address);
    n += dxgk_ntos_check_references(d);
    for (struct key_handle *k = d->ntos.keys; k; k = k->next, n++)
        dxgk_kernel_violation(d->kernel, "the miniport left the registry key %s open", k->name);
    if (dxgk_trace_providers(d)) {
        dxgk_kernel_violation(d->kernel, "the miniport left %u providers of events registered",
                              dxgk_trace_providers(d));
        n++;
    }
    return n;
}

void dxgk_ntos_finish(struct dxgk *d)
{
    dxgk_ntos_stop_threads(d);
    dxgk_trace_finish(d);
    dxgk_pool_finish(&d->ntos.pool);
    map_finish(&d->ntos.known);
    d->ntos.known = (struct map){0};
    d->ntos.num_held = 0;
    dxgk_contiguous_finish(d);
    while (d->ntos.mappings)
        dxgk_ntos_unmap(d, "the end", d->ntos.mappings->by, d->ntos.mappings->va);
    dxgk_ntos_forget_locked(d, NULL);
    dxgk_ntos_forget_references(d);
    while (d->ntos.values) {
        struct key_value *v = d->ntos.values;
        d->ntos.values = v->next;
        free(v);
    }
    while (d->ntos.keys) {
        struct key_handle *k = d->ntos.keys;
        d->ntos.keys = k->next;
        free(k);
    }
}
