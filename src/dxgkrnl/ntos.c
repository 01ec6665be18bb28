/* SPDX-License-Identifier: MIT */
/* ntos.c: the kernel routines that a miniport calls (include/wddm/ntddk.h), each with the IRQL rule of its
 * documentation. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <time.h>

enum { POOL_MAGIC = 0x6C6F6F50, TIMER_FREQUENCY = 10000000 };

#define SELF() dxgk_kernel_self(__func__)
#define CHECK(max)                                                                                           \
    struct kernel *k = SELF();                                                                               \
    dxgk_kernel_check(k, __func__, max)
#define OWNER() ((struct dxgk *)dxgk_kernel_ctx(SELF()))

/* ---- IRQL and spin locks ------------------------------------------------- */

KIRQL NTAPI KeGetCurrentIrql(VOID)
{
    return dxgk_kernel_irql(SELF());
}

KIRQL NTAPI KfRaiseIrql(KIRQL NewIrql)
{
    return dxgk_kernel_raise(SELF(), NewIrql);
}

VOID NTAPI KeLowerIrql(KIRQL NewIrql)
{
    dxgk_kernel_lower(SELF(), NewIrql);
}

VOID NTAPI KeInitializeSpinLock(PKSPIN_LOCK SpinLock)
{
    *SpinLock = 0;
}

/* One processor: a lock that is held here is held by the caller, and acquiring it again would never return.
 */
static void acquire(struct kernel *k, const char *routine, PKSPIN_LOCK lock)
{
    if (*lock)
        dxgk_kernel_violation(k, "%s of a spin lock that is held: a deadlock", routine);
    *lock = 1;
}

static void release(struct kernel *k, const char *routine, PKSPIN_LOCK lock)
{
    if (!*lock)
        dxgk_kernel_violation(k, "%s of a spin lock that is not held", routine);
    *lock = 0;
}

KIRQL NTAPI KeAcquireSpinLockRaiseToDpc(PKSPIN_LOCK SpinLock)
{
    KIRQL old;
    CHECK(DISPATCH_LEVEL);

    old = dxgk_kernel_irql(k) < DISPATCH_LEVEL ? dxgk_kernel_raise(k, DISPATCH_LEVEL) : dxgk_kernel_irql(k);
    acquire(k, "KeAcquireSpinLock", SpinLock);
    return old;
}

VOID NTAPI KeReleaseSpinLock(PKSPIN_LOCK SpinLock, KIRQL NewIrql)
{
    struct kernel *k = SELF();

    if (dxgk_kernel_irql(k) != DISPATCH_LEVEL)
        dxgk_kernel_violation(k, "KeReleaseSpinLock called at IRQL %d, must be DISPATCH_LEVEL",
                              dxgk_kernel_irql(k));
    release(k, "KeReleaseSpinLock", SpinLock);
    dxgk_kernel_lower(k, NewIrql);
}

VOID NTAPI KeAcquireSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock)
{
    struct kernel *k = SELF();

    if (dxgk_kernel_irql(k) < DISPATCH_LEVEL)
        dxgk_kernel_violation(
            k, "KeAcquireSpinLockAtDpcLevel called at IRQL %d, must be at least DISPATCH_LEVEL",
            dxgk_kernel_irql(k));
    acquire(k, "KeAcquireSpinLockAtDpcLevel", SpinLock);
}

VOID NTAPI KeReleaseSpinLockFromDpcLevel(PKSPIN_LOCK SpinLock)
{
    struct kernel *k = SELF();

    if (dxgk_kernel_irql(k) < DISPATCH_LEVEL)
        dxgk_kernel_violation(
            k, "KeReleaseSpinLockFromDpcLevel called at IRQL %d, must be at least DISPATCH_LEVEL",
            dxgk_kernel_irql(k));
    release(k, "KeReleaseSpinLockFromDpcLevel", SpinLock);
}

/* ---- events and waiting -------------------------------------------------- */

/* A dispatcher object's waiters are a kwaiters that its WaitListHead points to. */
static struct kwaiters *waiters(DISPATCHER_HEADER *h)
{
    return (struct kwaiters *)&h->WaitListHead;
}

VOID NTAPI KeInitializeEvent(PKEVENT Event, EVENT_TYPE Type, BOOLEAN State)
{
    memset(Event, 0, sizeof(*Event));
    Event->Header.Type = (UCHAR)Type;
    Event->Header.SignalState = State;
}

LONG NTAPI KeSetEvent(PKEVENT Event, KPRIORITY Increment, BOOLEAN Wait)
{
    LONG old = Event->Header.SignalState;
    CHECK(DISPATCH_LEVEL);

    UNREFERENCED_PARAMETER(Increment);
    UNREFERENCED_PARAMETER(Wait);
    Event->Header.SignalState = 1;
    dxgk_kernel_wake_all(k, waiters(&Event->Header));
    return old;
}

LONG NTAPI KeResetEvent(PKEVENT Event)
{
    LONG old = Event->Header.SignalState;
    CHECK(DISPATCH_LEVEL);

    Event->Header.SignalState = 0;
    return old;
}

VOID NTAPI KeClearEvent(PKEVENT Event)
{
    CHECK(DISPATCH_LEVEL);
    Event->Header.SignalState = 0;
}

LONG NTAPI KeReadStateEvent(PKEVENT Event)
{
    CHECK(DISPATCH_LEVEL);
    return Event->Header.SignalState;
}

/* A LARGE_INTEGER time: negative is relative, in 100 ns. Absolute system times count from this kernel's clock. */
static uint64_t deadline(struct kernel *k, const LARGE_INTEGER *t)
{
    if (!t)
        return LOOP_FOREVER;
    return t->QuadPart < 0 ? dxgk_kernel_now(k) + (uint64_t)-t->QuadPart * 100 : (uint64_t)t->QuadPart * 100;
}

NTSTATUS NTAPI KeWaitForSingleObject(PVOID Object, KWAIT_REASON WaitReason, KPROCESSOR_MODE WaitMode,
                                     BOOLEAN Alertable, PLARGE_INTEGER Timeout)
{
    DISPATCHER_HEADER *h = Object;
    struct kernel *k = SELF();
    uint64_t until = deadline(k, Timeout);
    bool poll = Timeout && !Timeout->QuadPart;

    UNREFERENCED_PARAMETER(WaitReason);
    UNREFERENCED_PARAMETER(WaitMode);
    UNREFERENCED_PARAMETER(Alertable);
    if (!dxgk_kernel_check(k, "KeWaitForSingleObject", poll ? DISPATCH_LEVEL : APC_LEVEL))
        return STATUS_UNSUCCESSFUL;
    while (!h->SignalState) {
        if (poll || !dxgk_kernel_wait(k, waiters(h), until))
            return STATUS_TIMEOUT;
    }
    if (h->Type == SynchronizationEvent)
        h->SignalState = 0;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI KeDelayExecutionThread(KPROCESSOR_MODE WaitMode, BOOLEAN Alertable, PLARGE_INTEGER Interval)
{
    struct kernel *k = SELF();

    UNREFERENCED_PARAMETER(WaitMode);
    UNREFERENCED_PARAMETER(Alertable);
    if (dxgk_kernel_check(k, "KeDelayExecutionThread", APC_LEVEL))
        dxgk_kernel_park(k, deadline(k, Interval), "KeDelayExecutionThread");
    return STATUS_SUCCESS;
}

/* Busy waiting holds the processor. In virtual time it is the clock that moves. */
VOID NTAPI KeStallExecutionProcessor(ULONG MicroSeconds)
{
    struct dxgk *d = OWNER();
    struct timespec ts = {.tv_sec = MicroSeconds / 1000000, .tv_nsec = MicroSeconds % 1000000 * 1000};

    if (d->clock->is_virtual)
        clock_advance_to(d->clock, clock_now(d->clock) + MicroSeconds * NSEC_PER_USEC);
    else
        nanosleep(&ts, NULL);
}

VOID NTAPI KeInitializeFastMutex(PFAST_MUTEX FastMutex)
{
    ExInitializeFastMutex(FastMutex);
}

VOID NTAPI ExAcquireFastMutex(PFAST_MUTEX FastMutex)
{
    struct kernel *k = SELF();

    if (!dxgk_kernel_check(k, "ExAcquireFastMutex", APC_LEVEL))
        return;
    if (FastMutex->Owner == dxgk_kernel_thread(k))
        dxgk_kernel_violation(k, "ExAcquireFastMutex of a mutex that the thread owns: a deadlock");
    while (FastMutex->Owner)
        dxgk_kernel_wait(k, waiters(&FastMutex->Event.Header), LOOP_FOREVER);
    FastMutex->Owner = dxgk_kernel_thread(k);
    FastMutex->Count = 0;
    FastMutex->OldIrql = dxgk_kernel_irql(k);
    if (dxgk_kernel_irql(k) < APC_LEVEL)
        dxgk_kernel_raise(k, APC_LEVEL);
}

VOID NTAPI ExReleaseFastMutex(PFAST_MUTEX FastMutex)
{
    struct kernel *k = SELF();

    if (FastMutex->Owner != dxgk_kernel_thread(k))
        dxgk_kernel_violation(k, "ExReleaseFastMutex by a thread that does not own the mutex");
    if (dxgk_kernel_irql(k) != APC_LEVEL)
        dxgk_kernel_violation(k, "ExReleaseFastMutex called at IRQL %d, must be APC_LEVEL",
                              dxgk_kernel_irql(k));
    FastMutex->Owner = NULL;
    FastMutex->Count = 1;
    dxgk_kernel_wake_all(k, waiters(&FastMutex->Event.Header));
    dxgk_kernel_lower(k, (KIRQL)FastMutex->OldIrql);
}

/* ---- time ---------------------------------------------------------------- */

LARGE_INTEGER NTAPI KeQueryPerformanceCounter(PLARGE_INTEGER PerformanceFrequency)
{
    LARGE_INTEGER now = {.QuadPart = (LONGLONG)(clock_now(OWNER()->clock) / 100)};

    if (PerformanceFrequency)
        PerformanceFrequency->QuadPart = TIMER_FREQUENCY;
    return now;
}

ULONGLONG NTAPI KeQueryInterruptTimePrecise(PULONG64 QpcTimeStamp)
{
    uint64_t now = clock_now(OWNER()->clock) / 100;

    *QpcTimeStamp = now;
    return now;
}

ULONG NTAPI KeQueryTimeIncrement(VOID)
{
    SELF();
    return 156250;
}

/* ---- DPCs and timers ----------------------------------------------------- */

VOID NTAPI KeInitializeDpc(PKDPC Dpc, PKDEFERRED_ROUTINE DeferredRoutine, PVOID DeferredContext)
{
    *Dpc = (KDPC){.DeferredRoutine = DeferredRoutine, .DeferredContext = DeferredContext};
}

BOOLEAN NTAPI KeInsertQueueDpc(PKDPC Dpc, PVOID SystemArgument1, PVOID SystemArgument2)
{
    struct kernel *k = SELF();

    if (Dpc->DpcData)
        return FALSE;
    Dpc->SystemArgument1 = SystemArgument1;
    Dpc->SystemArgument2 = SystemArgument2;
    dxgk_kernel_queue_dpc(k, Dpc);
    return TRUE;
}

/* One processor: whatever was queued has run, for the IRQL is below DISPATCH_LEVEL here. */
VOID NTAPI KeFlushQueuedDpcs(VOID)
{
    CHECK(PASSIVE_LEVEL);
}

/* The kernel's timer behind a KTIMER is allocated while it is set; TimerListEntry.Flink holds it. */
static void timer_fired(void *ctx)
{
    PKTIMER t = ctx;
    struct kernel *k = SELF();

    free(t->TimerListEntry.Flink);
    t->TimerListEntry.Flink = NULL;
    t->Header.SignalState = 1;
    dxgk_kernel_wake_all(k, waiters(&t->Header));
    if (t->Dpc)
        dxgk_kernel_queue_dpc(k, t->Dpc);
}

VOID NTAPI KeInitializeTimer(PKTIMER Timer)
{
    memset(Timer, 0, sizeof(*Timer));
}

BOOLEAN NTAPI KeCancelTimer(PKTIMER Timer)
{
    struct ktimer *kt = (struct ktimer *)Timer->TimerListEntry.Flink;
    CHECK(DISPATCH_LEVEL);

    if (!kt)
        return FALSE;
    dxgk_kernel_cancel(k, kt);
    free(kt);
    Timer->TimerListEntry.Flink = NULL;
    return TRUE;
}

BOOLEAN NTAPI KeSetTimer(PKTIMER Timer, LARGE_INTEGER DueTime, PKDPC Dpc)
{
    BOOLEAN was_set = KeCancelTimer(Timer);
    struct kernel *k = SELF();
    struct ktimer *kt = calloc(1, sizeof(*kt));

    if (!kt)
        abort();
    Timer->Header.SignalState = 0;
    Timer->Dpc = Dpc;
    Timer->TimerListEntry.Flink = (LIST_ENTRY *)kt;
    dxgk_kernel_arm(k, kt, deadline(k, &DueTime), timer_fired, Timer);
    return was_set;
}

/* ---- memory -------------------------------------------------------------- */

void dxgk_ntos_init(struct dxgk *d)
{
    d->ntos.pool.prev = d->ntos.pool.next = &d->ntos.pool;
}

PVOID NTAPI ExAllocatePoolWithTag(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag)
{
    struct dxgk *d = OWNER();
    struct pool_block *b;
    CHECK(PoolType == PagedPool ? APC_LEVEL : DISPATCH_LEVEL);

    if (!NumberOfBytes)
        dxgk_kernel_violation(k, "ExAllocatePoolWithTag of zero bytes");
    b = NumberOfBytes < SIZE_MAX / 2 ? malloc(sizeof(*b) + NumberOfBytes) : NULL;
    if (!b)
        return NULL;
    *b = (struct pool_block){.prev = d->ntos.pool.prev,
                             .next = &d->ntos.pool,
                             .size = NumberOfBytes,
                             .tag = Tag,
                             .magic = POOL_MAGIC};
    b->prev->next = b->next->prev = b;
    memset(b + 1, 0xA5, NumberOfBytes); /* pool is not zeroed: do not let a driver rely on it */
    return b + 1;
}

VOID NTAPI ExFreePoolWithTag(PVOID P, ULONG Tag)
{
    struct pool_block *b = (struct pool_block *)P - 1;
    CHECK(DISPATCH_LEVEL);

    if (b->magic != POOL_MAGIC) {
        dxgk_kernel_violation(k, "ExFreePool of %p, which is not allocated", P);
        return;
    }
    if (Tag && b->tag != Tag)
        dxgk_kernel_violation(k, "ExFreePoolWithTag: the tag is %08x, was %08x", Tag, b->tag);
    b->magic = 0;
    b->prev->next = b->next;
    b->next->prev = b->prev;
    free(b);
}

VOID NTAPI ExFreePool(PVOID P)
{
    ExFreePoolWithTag(P, 0);
}

PVOID NTAPI MmAllocateContiguousMemory(SIZE_T NumberOfBytes, PHYSICAL_ADDRESS HighestAcceptableAddress)
{
    struct dxgk *d = OWNER();
    struct contiguous *c;
    CHECK(DISPATCH_LEVEL);

    c = calloc(1, sizeof(*c));
    if (!c || dxgk_physmem_alloc(d, NumberOfBytes, &c->mem)) {
        free(c);
        return NULL;
    }
    if (c->mem.pa + NumberOfBytes - 1 > (uint64_t)HighestAcceptableAddress.QuadPart) {
        dxgk_physmem_free(d, &c->mem);
        free(c);
        return NULL;
    }
    c->next = d->ntos.contiguous;
    d->ntos.contiguous = c;
    return c->mem.va;
}

PVOID NTAPI MmAllocateContiguousMemorySpecifyCache(SIZE_T NumberOfBytes,
                                                   PHYSICAL_ADDRESS LowestAcceptableAddress,
                                                   PHYSICAL_ADDRESS HighestAcceptableAddress,
                                                   PHYSICAL_ADDRESS BoundaryAddressMultiple,
                                                   MEMORY_CACHING_TYPE CacheType)
{
    UNREFERENCED_PARAMETER(LowestAcceptableAddress);
    UNREFERENCED_PARAMETER(BoundaryAddressMultiple);
    UNREFERENCED_PARAMETER(CacheType);
    return MmAllocateContiguousMemory(NumberOfBytes, HighestAcceptableAddress);
}

VOID NTAPI MmFreeContiguousMemory(PVOID BaseAddress)
{
    struct dxgk *d = OWNER();
    CHECK(APC_LEVEL);

    for (struct contiguous **p = &d->ntos.contiguous; *p; p = &(*p)->next)
        if ((*p)->mem.va == BaseAddress) {
            struct contiguous *c = *p;
            *p = c->next;
            dxgk_physmem_free(d, &c->mem);
            free(c);
            return;
        }
    dxgk_kernel_violation(k, "MmFreeContiguousMemory of %p, which is not allocated", BaseAddress);
}

VOID NTAPI MmFreeContiguousMemorySpecifyCache(PVOID BaseAddress, SIZE_T NumberOfBytes,
                                              MEMORY_CACHING_TYPE CacheType)
{
    UNREFERENCED_PARAMETER(NumberOfBytes);
    UNREFERENCED_PARAMETER(CacheType);
    MmFreeContiguousMemory(BaseAddress);
}

PHYSICAL_ADDRESS NTAPI MmGetPhysicalAddress(PVOID BaseAddress)
{
    struct dxgk *d = OWNER();
    PHYSICAL_ADDRESS pa = {.QuadPart = 0};

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

NTSTATUS dxgk_ntos_map(struct dxgk *d, uint64_t address, size_t size, void **va)
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
    *m = (struct mapping){.next = d->ntos.mappings, .address = address, .size = size};
    m->va = bus->mmio_map ? bus->mmio_map(bus->ctx, address, size) : NULL;
    if (!m->va) {
        m->trapped = true;
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

NTSTATUS dxgk_ntos_unmap(struct dxgk *d, void *va)
{
    for (struct mapping **p = &d->ntos.mappings; *p; p = &(*p)->next)
        if ((*p)->va == va) {
            struct mapping *m = *p;
            *p = m->next;
            if (m->trapped)
                munmap(m->va, m->size);
            free(m);
            return STATUS_SUCCESS;
        }
    return STATUS_INVALID_PARAMETER;
}

PVOID NTAPI MmMapIoSpace(PHYSICAL_ADDRESS PhysicalAddress, SIZE_T NumberOfBytes,
                         MEMORY_CACHING_TYPE CacheType)
{
    struct dxgk *d = OWNER();
    struct mapping *m;
    void *va = NULL;
    CHECK(DISPATCH_LEVEL);

    UNREFERENCED_PARAMETER(CacheType);
    if (NT_SUCCESS(dxgk_ntos_map(d, (uint64_t)PhysicalAddress.QuadPart, NumberOfBytes, &va)))
        return va;
    va = d->bus->dma_ptr(d->bus->ctx, (uint64_t)PhysicalAddress.QuadPart, NumberOfBytes);
    m = va ? calloc(1, sizeof(*m)) : NULL; /* memory: mapped as it is */
    if (!m)
        return NULL;
    *m = (struct mapping){.next = d->ntos.mappings,
                          .va = va,
                          .address = (uint64_t)PhysicalAddress.QuadPart,
                          .size = NumberOfBytes};
    d->ntos.mappings = m;
    return va;
}

PPHYSICAL_MEMORY_RANGE NTAPI MmGetPhysicalMemoryRanges(VOID)
{
    struct dxgk *d = OWNER();
    PPHYSICAL_MEMORY_RANGE r = ExAllocatePoolWithTag(NonPagedPool, 2 * sizeof(*r), 0);
    CHECK(PASSIVE_LEVEL);

    if (!r)
        return NULL;
    memset(r, 0, 2 * sizeof(*r));
    r->NumberOfBytes.QuadPart = (LONGLONG)d->bus->memory_size;
    return r;
}

/* Command buffers are dxgkrnl's own mappings, which nobody else can take away. */
HANDLE NTAPI MmSecureVirtualMemory(PVOID Address, SIZE_T Size, ULONG ProbeMode)
{
    CHECK(APC_LEVEL);
    return Size && ProbeMode ? Address : NULL;
}

VOID NTAPI MmUnsecureVirtualMemory(HANDLE SecureHandle)
{
    CHECK(APC_LEVEL);
    if (!SecureHandle)
        dxgk_kernel_violation(k, "MmUnsecureVirtualMemory of nothing");
}

VOID NTAPI MmUnmapIoSpace(PVOID BaseAddress, SIZE_T NumberOfBytes)
{
    struct dxgk *d = OWNER();
    CHECK(DISPATCH_LEVEL);

    UNREFERENCED_PARAMETER(NumberOfBytes);
    if (!NT_SUCCESS(dxgk_ntos_unmap(d, BaseAddress)))
        dxgk_kernel_violation(k, "MmUnmapIoSpace of %p, which is not mapped", BaseAddress);
}

static struct mapping *find_mapping(const char *routine, const volatile void *reg, unsigned size)
{
    struct dxgk *d = OWNER();

    for (struct mapping *m = d->ntos.mappings; m; m = m->next)
        if ((const volatile uint8_t *)reg >= m->va &&
            (size_t)((const volatile uint8_t *)reg - m->va) <= m->size - size)
            return m;
    dxgk_kernel_violation(d->kernel, "%s of %p, which is not in a mapped register window", routine,
                          (const void *)reg);
    return NULL;
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

/* ---- leaks --------------------------------------------------------------- */

unsigned dxgk_ntos_check_leaks(struct dxgk *d)
{
    unsigned n = 0;

    for (struct pool_block *b = d->ntos.pool.next; b != &d->ntos.pool; b = b->next, n++)
        dxgk_kernel_violation(d->kernel, "the miniport leaked %zu bytes of pool, tag %.4s", b->size,
                              (char *)&b->tag);
    for (struct contiguous *c = d->ntos.contiguous; c; c = c->next, n++)
        dxgk_kernel_violation(d->kernel, "the miniport leaked %zu bytes of contiguous memory", c->mem.size);
    for (struct mapping *m = d->ntos.mappings; m; m = m->next, n++)
        dxgk_kernel_violation(d->kernel, "the miniport leaked a mapping of %zu bytes at %#llx", m->size,
                              (unsigned long long)m->address);
    return n;
}

void dxgk_ntos_finish(struct dxgk *d)
{
    while (d->ntos.pool.next != &d->ntos.pool) {
        struct pool_block *b = d->ntos.pool.next;
        d->ntos.pool.next = b->next;
        free(b);
    }
    d->ntos.pool.prev = &d->ntos.pool;
    while (d->ntos.contiguous) {
        struct contiguous *c = d->ntos.contiguous;
        d->ntos.contiguous = c->next;
        dxgk_physmem_free(d, &c->mem);
        free(c);
    }
    while (d->ntos.mappings)
        dxgk_ntos_unmap(d, d->ntos.mappings->va);
}

/* ---- registry ------------------------------------------------------------ */

static bool to_ascii(const UNICODE_STRING *s, char *out, size_t size)
{
    size_t n = s->Length / 2;

    if (n >= size)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (s->Buffer[i] > 126)
            return false;
        out[i] = (char)s->Buffer[i];
    }
    out[n] = '\0';
    return true;
}

/* A key handle is the key's name. */
static NTSTATUS open_key(struct dxgk *d, const char *name, PHANDLE out)
{
    char *key;

    if (!dxgk_settings_has_key(&d->settings, name))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    key = strdup(name);
    *out = key;
    return key ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

NTSTATUS NTAPI ZwOpenKey(PHANDLE KeyHandle, ACCESS_MASK DesiredAccess, POBJECT_ATTRIBUTES ObjectAttributes)
{
    static const char machine[] = "\\Registry\\Machine\\";
    struct dxgk *d = OWNER();
    char name[256], full[600];
    CHECK(PASSIVE_LEVEL);

    UNREFERENCED_PARAMETER(DesiredAccess);
    if (!ObjectAttributes->ObjectName || !to_ascii(ObjectAttributes->ObjectName, name, sizeof(name)))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    if (ObjectAttributes->RootDirectory)
        snprintf(full, sizeof(full), "%s\\%s", (const char *)ObjectAttributes->RootDirectory, name);
    else if (!strncasecmp(name, machine, sizeof(machine) - 1))
        snprintf(full, sizeof(full), "HKLM\\%s", name + sizeof(machine) - 1);
    else
        return STATUS_OBJECT_NAME_NOT_FOUND;
    return open_key(d, full, KeyHandle);
}

NTSTATUS NTAPI IoOpenDeviceRegistryKey(PDEVICE_OBJECT DeviceObject, ULONG DevInstKeyType,
                                       ACCESS_MASK DesiredAccess, PHANDLE DevInstRegKey)
{
    CHECK(PASSIVE_LEVEL);

    UNREFERENCED_PARAMETER(DeviceObject);
    UNREFERENCED_PARAMETER(DesiredAccess);
    if (DevInstKeyType != PLUGPLAY_REGKEY_DRIVER)
        return STATUS_OBJECT_NAME_NOT_FOUND;
    *DevInstRegKey = strdup("HKR"); /* the driver key itself always exists */
    return *DevInstRegKey ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

NTSTATUS NTAPI ZwQueryValueKey(HANDLE KeyHandle, PUNICODE_STRING ValueName,
                               KEY_VALUE_INFORMATION_CLASS KeyValueInformationClass,
                               PVOID KeyValueInformation, ULONG Length, PULONG ResultLength)
{
    KEY_VALUE_PARTIAL_INFORMATION *info = KeyValueInformation;
    struct dxgk *d = OWNER();
    char name[64];
    uint32_t value;
    CHECK(PASSIVE_LEVEL);

    if (KeyValueInformationClass != KeyValuePartialInformation)
        return STATUS_INVALID_PARAMETER;
    if (!to_ascii(ValueName, name, sizeof(name)) || !dxgk_settings_get(&d->settings, KeyHandle, name, &value))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    *ResultLength = offsetof(KEY_VALUE_PARTIAL_INFORMATION, Data) + sizeof(value);
    if (Length < *ResultLength)
        return STATUS_BUFFER_TOO_SMALL;
    info->TitleIndex = 0;
    info->Type = REG_DWORD;
    info->DataLength = sizeof(value);
    memcpy(info->Data, &value, sizeof(value));
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ZwClose(HANDLE Handle)
{
    CHECK(PASSIVE_LEVEL);
    free(Handle);
    return STATUS_SUCCESS;
}

VOID NTAPI RtlInitUnicodeString(PUNICODE_STRING DestinationString, PCWSTR SourceString)
{
    size_t n = 0;

    while (SourceString && SourceString[n])
        n++;
    DestinationString->Buffer = (PWSTR)SourceString;
    DestinationString->Length = (USHORT)(2 * n);
    DestinationString->MaximumLength = (USHORT)(SourceString ? 2 * n + 2 : 0);
}

/* ---- who calls ----------------------------------------------------------- */

KPROCESSOR_MODE NTAPI ExGetPreviousMode(VOID)
{
    return dxgk_kernel_caller(SELF()).process ? UserMode : KernelMode;
}

BOOLEAN NTAPI SeSinglePrivilegeCheck(LUID PrivilegeValue, KPROCESSOR_MODE PreviousMode)
{
    struct dxgk_kernel_caller c = dxgk_kernel_caller(SELF());
    CHECK(PASSIVE_LEVEL);

    return PreviousMode == KernelMode || (c.admin && PrivilegeValue.LowPart == SE_DEBUG_PRIVILEGE);
}

/* The handles that processes have in common here are those of shared resources; they stand for section objects. */
static POBJECT_TYPE section_type;
POBJECT_TYPE *MmSectionObjectType = &section_type;

NTSTATUS NTAPI ObReferenceObjectByHandle(HANDLE Handle, ACCESS_MASK DesiredAccess, POBJECT_TYPE ObjectType,
                                         KPROCESSOR_MODE AccessMode, PVOID *Object,
                                         POBJECT_HANDLE_INFORMATION HandleInformation)
{
    struct dxgk *d = OWNER();
    uintptr_t h = (uintptr_t)Handle;
    CHECK(PASSIVE_LEVEL);

    UNREFERENCED_PARAMETER(DesiredAccess);
    UNREFERENCED_PARAMETER(AccessMode);
    UNREFERENCED_PARAMETER(HandleInformation);
    *Object = h <= UINT32_MAX ? dxgk_share_get(d, (D3DKMT_HANDLE)h, NULL) : NULL;
    if (!*Object)
        return STATUS_INVALID_HANDLE;
    return ObjectType == section_type ? STATUS_SUCCESS : STATUS_OBJECT_TYPE_MISMATCH;
}

VOID NTAPI RtlAssert(PVOID FailedAssertion, PVOID FileName, ULONG LineNumber, PSTR Message)
{
    UNREFERENCED_PARAMETER(Message);
    dxgk_kernel_violation(SELF(), "%s:%u: broken invariant of the miniport: %s", (const char *)FileName,
                          LineNumber, (const char *)FailedAssertion);
}

LONG_PTR NTAPI ObfDereferenceObject(PVOID Object)
{
    CHECK(DISPATCH_LEVEL);
    return Object != NULL;
}

PEPROCESS NTAPI PsGetCurrentProcess(VOID)
{
    return (PEPROCESS)(uintptr_t)(dxgk_kernel_caller(SELF()).process + 1);
}

HANDLE NTAPI PsGetCurrentProcessId(VOID)
{
    return (HANDLE)(uintptr_t)dxgk_kernel_caller(SELF()).process;
}

PVOID NTAPI PsReferencePrimaryToken(PEPROCESS Process)
{
    CHECK(PASSIVE_LEVEL);
    return Process;
}

VOID NTAPI PsDereferencePrimaryToken(PVOID PrimaryToken)
{
    CHECK(APC_LEVEL);
    UNREFERENCED_PARAMETER(PrimaryToken);
}

BOOLEAN NTAPI SeTokenIsAdmin(PVOID Token)
{
    CHECK(PASSIVE_LEVEL);
    UNREFERENCED_PARAMETER(Token);
    return dxgk_kernel_caller(k).admin || !dxgk_kernel_caller(k).process;
}

/* A line of the debugger's output; without its end, if it has one. */
static void debug_line(ULONG level, PCSTR format, ms_va_list ap)
{
    static const enum log_level levels[] = {LOG_ERROR, LOG_WARN, LOG_DEBUG, LOG_INFO};
    char text[512];

    dxgk_print(text, sizeof(text), format, ap);
    text[strcspn(text, "\r\n")] = '\0';
    log_line(level < 4 ? levels[level] : LOG_DEBUG, "kmd", "%s", text);
}

ULONG NTAPI DbgPrintEx(ULONG ComponentId, ULONG Level, PCSTR Format, ...)
{
    ms_va_list ap;

    UNREFERENCED_PARAMETER(ComponentId);
    ms_va_start(ap, Format);
    debug_line(Level, Format, ap);
    ms_va_end(ap);
    return (ULONG)STATUS_SUCCESS;
}
