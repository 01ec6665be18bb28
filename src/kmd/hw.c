/* SPDX-License-Identifier: MIT */
/* hw.c: the device as the miniport drives it: registers, ring, fences, interrupts, reset.
 *
 *   SubmitCommand ─▶ ring (or behind it, when it is full) ─▶ doorbell ─▶ device ─▶ COMPLETED_FENCE ─▶ interrupt
 *                                                                                      │ routine, at DIRQL
 *   dxgkrnl ◀─ DPC ◀─ DMA_COMPLETED, DMA_FAULTED, DMA_PREEMPTED, CRTC_VSYNC ◀──────────┘
 *
 * Invariants:
 *  1. The operating system's fences are 32 bits, count for each node, and wrap; the device's are 64 bits, one count for
 *     all nodes, and only go up. A fence value is never used again, over resets neither.
 *  2. Each fence that SubmitCommand accepted is reported once, in the order of its node: completed, faulted, or dropped
 *     by a reset.
 *  3. Nothing here waits. A full ring is a queue in memory, not a loop.
 *  4. The interrupt is what drives completions. The watchdog looks every KMD_WATCHDOG_MS while something is pending
 *     or vblanks are wanted, so that a doorbell or an interrupt that got lost costs that long and not a time-out.
 *  5. The error latch holds one error. When more than one happened since the last look, everything between may have
 *     failed and is reported as faulted: an innocent client may lose its device, a guilty one never keeps it.
 */
#include "kmd/kmd.h"

/* ---- registers ----------------------------------------------------------- */

ULONG kmd_read(struct kmd *k, ULONG reg)
{
    return READ_REGISTER_ULONG((volatile ULONG *)(PVOID)(k->regs + reg));
}

VOID kmd_write(struct kmd *k, ULONG reg, ULONG value)
{
    WRITE_REGISTER_ULONG((volatile ULONG *)(PVOID)(k->regs + reg), value);
}

ULONGLONG kmd_read64(struct kmd *k, ULONG reg)
{
    ULONG hi, lo, again = kmd_read(k, reg + 4);

    do {
        hi = again;
        lo = kmd_read(k, reg);
        again = kmd_read(k, reg + 4);
    } while (hi != again);
    return (ULONGLONG)hi << 32 | lo;
}

/* The last vblank's number and time. One that comes between the two reads would give the time of another. */
VOID kmd_read_vblank(struct kmd *k, ULONGLONG *seq, ULONGLONG *time_ns)
{
    ULONGLONG again = kmd_read64(k, AEROGPU_REG_SCANOUT0_VBLANK_SEQ_LO);

    do {
        *seq = again;
        *time_ns = kmd_read64(k, AEROGPU_REG_SCANOUT0_VBLANK_TIME_NS_LO);
        again = kmd_read64(k, AEROGPU_REG_SCANOUT0_VBLANK_SEQ_LO);
    } while (*seq != again);
}

VOID kmd_write64(struct kmd *k, ULONG reg, ULONGLONG value)
{
    kmd_write(k, reg, (ULONG)value);
    kmd_write(k, reg + 4, (ULONG)(value >> 32));
}

ULONGLONG kmd_now(VOID)
{
    LARGE_INTEGER frequency, ticks = KeQueryPerformanceCounter(&frequency);

    if (frequency.QuadPart == 10000000)
        return (ULONGLONG)ticks.QuadPart;
    return (ULONGLONG)(ticks.QuadPart / frequency.QuadPart) * 10000000 +
           (ULONGLONG)(ticks.QuadPart % frequency.QuadPart) * 10000000 / (ULONGLONG)frequency.QuadPart;
}

BOOLEAN kmd_synchronize(struct kmd *k, PKSYNCHRONIZE_ROUTINE routine, PVOID context)
{
    BOOLEAN result = FALSE;

    k->dxgk.DxgkCbSynchronizeExecution(k->dxgk.DeviceHandle, routine, context, 0, &result);
    return result;
}

/* ---- memory that the device reaches -------------------------------------- */

NTSTATUS kmd_memory_alloc(struct kmd_memory *m, SIZE_T size)
{
    PHYSICAL_ADDRESS highest = {.QuadPart = INT64_C(0x7FFFFFFFFFFFFFFF)};

    size = (size + PAGE_SIZE - 1) & ~(SIZE_T)(PAGE_SIZE - 1);
    m->va = MmAllocateContiguousMemory(size, highest);
    if (!m->va)
        return STATUS_NO_MEMORY;
    m->size = size;
    m->pa = MmGetPhysicalAddress(m->va);
    RtlZeroMemory(m->va, size);
    return STATUS_SUCCESS;
}

VOID kmd_memory_free(struct kmd_memory *m)
{
    if (m->va)
        MmFreeContiguousMemory(m->va);
    m->va = NULL;
}

/* ---- life ---------------------------------------------------------------- */

static KDEFERRED_ROUTINE on_watchdog;

static BOOLEAN has_engines(struct kmd *k)
{
    return (k->features & AEROGPU_EXT_FEATURE(EXT_ENGINES)) != 0;
}

NTSTATUS kmd_hw_use_node(struct kmd *k, ULONG node)
{
    struct kmd_node *n = &k->nodes[node];
    struct kmd_in_flight *in_flight = n->in_flight;
    KIRQL old;

    if (!in_flight)
        in_flight = kmd_alloc(KMD_MAX_IN_FLIGHT * sizeof(*in_flight));
    if (!in_flight)
        return STATUS_NO_MEMORY;
    KeAcquireSpinLock(&k->lock, &old);
    n->in_flight = in_flight;
    if (k->top_node <= node)
        k->top_node = node + 1;
    KeReleaseSpinLock(&k->lock, old);
    return STATUS_SUCCESS;
}

NTSTATUS kmd_hw_create(struct kmd *k)
{
    SIZE_T ring;
    NTSTATUS s;

    k->ring_entries = k->settings.ring_entries;
    ring = sizeof(struct aerogpu_ring_header) + (SIZE_T)k->ring_entries * sizeof(struct aerogpu_submit_desc);
    k->ring_size = (ULONG)ring;
    s = kmd_memory_alloc(&k->ring_memory, ring);
    if (NT_SUCCESS(s))
        s = kmd_memory_alloc(&k->fence_memory, AEROGPU_EXT_FENCE_PAGE_BYTES);
    if (NT_SUCCESS(s))
        s = kmd_memory_alloc(&k->recent_memory, KMD_RECENT_BYTES);
    if (NT_SUCCESS(s))
        s = kmd_memory_alloc(&k->reaper, KMD_REAPER_BYTES);
    k->overflow = kmd_alloc(KMD_MAX_IN_FLIGHT * sizeof(*k->overflow));
    k->num_nodes = has_engines(k) ? KMD_NODES : 1;
    if (NT_SUCCESS(s))
        s = k->overflow ? kmd_hw_use_node(k, 0) : STATUS_NO_MEMORY;
    k->ring = k->ring_memory.va;
    KeInitializeTimer(&k->watchdog);
    KeInitializeDpc(&k->watchdog_dpc, on_watchdog, k);
    if (!NT_SUCCESS(s))
        kmd_hw_destroy(k);
    return s;
}

VOID kmd_hw_destroy(struct kmd *k)
{
    kmd_memory_free(&k->ring_memory);
    kmd_memory_free(&k->fence_memory);
    kmd_memory_free(&k->recent_memory);
    kmd_memory_free(&k->reaper);
    kmd_free(k->overflow);
    k->overflow = NULL;
    for (ULONG i = 0; i < KMD_NODES; i++) {
        kmd_free(k->nodes[i].in_flight);
        k->nodes[i].in_flight = NULL;
    }
    k->top_node = 0;
    k->ring = NULL;
}

struct enable {
    struct kmd *k;
    ULONG mask;
};

static BOOLEAN NTAPI set_enable(PVOID context)
{
    struct enable *e = context;

    e->k->irq_enable = e->mask;
    kmd_write(e->k, AEROGPU_REG_IRQ_ENABLE, e->mask);
    return TRUE;
}

static VOID enable_interrupts(struct kmd *k, ULONG mask)
{
    struct enable e = {k, mask};

    kmd_synchronize(k, set_enable, &e);
}

NTSTATUS kmd_hw_start(struct kmd *k)
{
    ULONG mask = AEROGPU_IRQ_FENCE | AEROGPU_IRQ_ERROR;
    ULONG engines = has_engines(k) ? AEROGPU_RING_CONTROL_EXT_ENGINES : 0;

    kmd_write(k, AEROGPU_REG_IRQ_ENABLE, 0);
    kmd_write(k, AEROGPU_REG_RING_CONTROL, 0);
    RtlZeroMemory(k->ring, k->ring_size);
    k->ring_tail = 0;
    k->ring->magic = AEROGPU_RING_MAGIC;
    k->ring->abi_version = AEROGPU_ABI_VERSION_U32;
    k->ring->size_bytes = k->ring_size;
    k->ring->entry_count = k->ring_entries;
    k->ring->entry_stride_bytes = sizeof(struct aerogpu_submit_desc);
    RtlZeroMemory(k->fence_memory.va, AEROGPU_EXT_FENCE_PAGE_BYTES);
    KeMemoryBarrier();
    kmd_write64(k, AEROGPU_REG_RING_GPA_LO, (ULONGLONG)k->ring_memory.pa.QuadPart);
    kmd_write(k, AEROGPU_REG_RING_SIZE_BYTES, (ULONG)k->ring_memory.size);
    if (k->features & AEROGPU_FEATURE_FENCE_PAGE)
        kmd_write64(k, AEROGPU_REG_FENCE_GPA_LO, (ULONGLONG)k->fence_memory.pa.QuadPart);
    kmd_write(k, AEROGPU_REG_RING_CONTROL,
              AEROGPU_RING_CONTROL_ENABLE | AEROGPU_RING_CONTROL_RESET | engines);
    kmd_write(k, AEROGPU_REG_IRQ_ACK, 0xFFFFFFFF);
    if (kmd_read(k, AEROGPU_REG_RING_CONTROL) != AEROGPU_RING_CONTROL_ENABLE ||
        kmd_read64(k, AEROGPU_REG_COMPLETED_FENCE_LO)) {
        kmd_log(k, DPFLTR_ERROR_LEVEL, "the ring does not start: RING_CONTROL %llx, COMPLETED_FENCE %llx",
                kmd_read(k, AEROGPU_REG_RING_CONTROL), kmd_read(k, AEROGPU_REG_COMPLETED_FENCE_LO), 0);
        return STATUS_UNSUCCESSFUL;
    }
    k->error_count = 0;
    k->error_latched = 0;
    if (k->vsync_wanted)
        mask |= AEROGPU_IRQ_SCANOUT_VBLANK;
    k->powered = TRUE;
    enable_interrupts(k, mask);
    return STATUS_SUCCESS;
}

/* What is behind the oldest that any node waits for is not told apart: the answer is before it. */
ULONGLONG kmd_completed(struct kmd *k)
{
    ULONGLONG all = k->submitted; /* first: what comes meanwhile is above it */

    KeMemoryBarrier();
    for (ULONG i = 0; i < k->top_node; i++) {
        struct kmd_node *n = &k->nodes[i];
        ULONGLONG oldest = n->head == n->tail ? 0 : n->in_flight[n->head % KMD_MAX_IN_FLIGHT].value;
        if (oldest && oldest <= all)
            all = oldest - 1;
    }
    return all;
}

/* See the head. With `lock`. */
static VOID check(struct kmd *k)
{
    for (ULONG i = 0; i < k->top_node; i++)
        NT_ASSERT(k->nodes[i].tail - k->nodes[i].head <= KMD_MAX_IN_FLIGHT);                    /* 2 */
    NT_ASSERT(k->overflow_count <= KMD_MAX_IN_FLIGHT && k->overflow_first < KMD_MAX_IN_FLIGHT); /* 3 */
    NT_ASSERT(k->ring_entries && !(k->ring_entries & (k->ring_entries - 1)));
    NT_ASSERT(k->ring_memory.va == (PVOID)k->ring);
}

/* ---- submitting: with `lock` --------------------------------------------- */

static ULONG ring_head(struct kmd *k)
{
    return ReadULongAcquire((const volatile ULONG *)&k->ring->head);
}

static BOOLEAN push(struct kmd *k, CONST struct aerogpu_submit_desc *desc)
{
    struct aerogpu_submit_desc *slots = (struct aerogpu_submit_desc *)(PVOID)(k->ring + 1);
    ULONG tail = k->ring_tail;

    if (tail - ring_head(k) >= k->ring_entries)
        return FALSE;
    NT_ASSERT(desc->desc_size_bytes == sizeof(*desc));
    slots[tail & (k->ring_entries - 1)] = *desc;
    KeMemoryBarrier(); /* the entry before the tail that shows it */
    *(volatile ULONG *)&k->ring->tail = k->ring_tail = tail + 1;
    return TRUE;
}

static BOOLEAN push_overflow(struct kmd *k)
{
    BOOLEAN any = FALSE;

    while (k->overflow_count && push(k, &k->overflow[k->overflow_first])) {
        k->overflow_first = (k->overflow_first + 1) % KMD_MAX_IN_FLIGHT;
        k->overflow_count--;
        any = TRUE;
    }
    return any;
}

BOOLEAN kmd_hw_idle(struct kmd *k)
{
    return !k->overflow_count && ring_head(k) == k->ring_tail && kmd_completed(k) == k->submitted;
}

static VOID arm_watchdog(struct kmd *k)
{
    LARGE_INTEGER due = {.QuadPart = -(LONGLONG)KMD_WATCHDOG_MS * 10000};

    if (k->watchdog_armed)
        return;
    k->watchdog_armed = TRUE;
    k->watchdog_head = ring_head(k);
    KeSetTimer(&k->watchdog, due, &k->watchdog_dpc);
}

static NTSTATUS enqueue(struct kmd *k, CONST struct aerogpu_submit_desc *desc)
{
    if (k->overflow_count || !push(k, desc)) {
        kmd_count(&k->perf.push_failures);
        if (k->overflow_count == KMD_MAX_IN_FLIGHT)
            return STATUS_INSUFFICIENT_RESOURCES;
        k->overflow[(k->overflow_first + k->overflow_count++) % KMD_MAX_IN_FLIGHT] = *desc;
    }
    kmd_write(k, AEROGPU_REG_DOORBELL, 1);
    arm_watchdog(k);
    return STATUS_SUCCESS;
}

NTSTATUS kmd_hw_submit(struct kmd *k, CONST struct aerogpu_submit_desc *desc, ULONG node, ULONG fence)
{
    struct aerogpu_submit_desc d = *desc;
    NTSTATUS s = STATUS_INSUFFICIENT_RESOURCES;
    struct kmd_node *n = &k->nodes[node];

    KeAcquireSpinLockAtDpcLevel(&k->lock);
    check(k);
    if (n->tail - n->head < KMD_MAX_IN_FLIGHT) {
        d.desc_size_bytes = sizeof(d);
        d.signal_fence = k->submitted + 1;
        d.engine_id = node;
        for (ULONG r = 0; desc->cmd_gpa && r < KMD_RECENT; r++)
            if (k->recent[r].submitted_gpa == desc->cmd_gpa && !k->recent[r].fence)
                k->recent[r].fence = d.signal_fence;
        /* Before the doorbell: the interrupt may come inside it. */
        n->in_flight[n->tail % KMD_MAX_IN_FLIGHT] = (struct kmd_in_flight){d.signal_fence, fence};
        KeMemoryBarrier();
        n->tail++;
        k->submitted = d.signal_fence;
        /* SubmitCommand may not fail. A ring that stays full, or that others have written nonsense into, takes nothing any more:
         * the fence does not come, and the time-out that follows begins anew. */
        if (!NT_SUCCESS(enqueue(k, &d)))
            arm_watchdog(k);
        s = STATUS_SUCCESS;
    }
    check(k);
    KeReleaseSpinLockFromDpcLevel(&k->lock);
    return s;
}

NTSTATUS kmd_hw_submit_internal(struct kmd *k, struct aerogpu_submit_desc *desc)
{
    NTSTATUS s;
    KIRQL old;

    KeAcquireSpinLock(&k->lock, &old);
    desc->desc_size_bytes = sizeof(*desc);
    if (k->features & AEROGPU_EXT_FEATURE(EXT_CLIENTS))
        desc->flags |= AEROGPU_SUBMIT_FLAG_EXT_QUIET;
    desc->signal_fence = k->submitted; /* a fence that is taken already: it runs and signals nothing new */
    if (has_engines(k)) {
        desc->flags |= AEROGPU_SUBMIT_FLAG_NO_IRQ;
        desc->engine_id = KMD_OWN_ENGINE;
        desc->signal_fence = ++k->submitted; /* counts as completed: no node waits for it */
    }
    s = enqueue(k, desc);
    check(k);
    KeReleaseSpinLock(&k->lock, old);
    kmd_count(&k->perf.submissions);
    kmd_count(&k->perf.internals);
    return s;
}

/* ---- interrupts: at DIRQL ------------------------------------------------ */

static VOID notify(struct kmd *k, CONST DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    k->dxgk.DxgkCbNotifyInterrupt(k->dxgk.DeviceHandle, data);
}

static BOOLEAN take_fence(struct kmd_node *n, ULONGLONG limit)
{
    CONST struct kmd_in_flight *f;

    if (n->head == n->tail)
        return FALSE;
    KeMemoryBarrier();
    f = &n->in_flight[n->head % KMD_MAX_IN_FLIGHT];
    if (f->value > limit)
        return FALSE;
    n->fence = f->fence;
    n->head++;
    return TRUE;
}

static VOID report_preempted(struct kmd *k, ULONG node, ULONG last)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED};

    data.DmaPreempted.PreemptionFenceId = k->nodes[node].fence;
    data.DmaPreempted.LastCompletedFenceId = last;
    data.DmaPreempted.NodeOrdinal = node;
    k->nodes[node].preempting = FALSE;
    notify(k, &data);
}

/* Everything of a node up to `limit` is done: one notification for the last of them. */
static VOID report_completed(struct kmd *k, ULONG node, ULONGLONG limit)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED};
    struct kmd_node *n = &k->nodes[node];
    BOOLEAN any = FALSE;
    ULONG last = n->fence;

    data.DmaCompleted.NodeOrdinal = node;
    for (; take_fence(n, limit); last = n->fence) {
        if (n->preempting && n->fence == n->preempt_fence) {
            if (any)
                notify(k, &data);
            report_preempted(k, node, last);
            any = FALSE;
            continue;
        }
        data.DmaCompleted.SubmissionFenceId = n->fence;
        any = TRUE;
    }
    if (any)
        notify(k, &data);
}

static NTSTATUS error_status(ULONG code)
{
    switch (code) {
    case AEROGPU_ERROR_CMD_DECODE:
        return STATUS_INVALID_PARAMETER;
    case AEROGPU_ERROR_OOB:
        return STATUS_ACCESS_VIOLATION;
    case AEROGPU_ERROR_BACKEND:
        return STATUS_UNSUCCESSFUL;
    default:
        return STATUS_INTERNAL_ERROR;
    }
}

static VOID report_faulted(struct kmd *k, ULONG node, ULONGLONG limit, ULONG code)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_FAULTED};
    struct kmd_node *n = &k->nodes[node];
    ULONG last = n->fence;

    data.DmaFaulted.NodeOrdinal = node;
    for (; take_fence(n, limit); last = n->fence) {
        if (n->preempting && n->fence == n->preempt_fence) { /* a marker cannot fail */
            report_preempted(k, node, last);
            continue;
        }
        data.DmaFaulted.FaultedFenceId = n->fence;
        data.DmaFaulted.Status = error_status(code);
        notify(k, &data);
    }
}

/* The device's last fence of a node: where the page shows it, or what the register says. */
static ULONGLONG page_fence(struct kmd *k, ULONG node)
{
    PUCHAR page = k->fence_memory.va;

    if (!(k->features & AEROGPU_FEATURE_FENCE_PAGE))
        return 0;
    page += has_engines(k) ? AEROGPU_EXT_FENCE_PAGE_ENGINES + 8 * node
                           : offsetof(struct aerogpu_fence_page, completed_fence);
    return ReadULong64Acquire((PVOID)page);
}

static ULONGLONG engine_fence(struct kmd *k, ULONG engine)
{
    return kmd_read64(k, has_engines(k) ? AEROGPU_EXT_REG_ENGINE_FENCES + 8 * engine
                                        : AEROGPU_REG_COMPLETED_FENCE_LO);
}

/* What is done: the page first, which is written before the interrupt and costs no access to the device; the registers when it
 * shows nothing new, so that a page that is stale delays nothing. Whether there was anything. */
static BOOLEAN report_done(struct kmd *k, BOOLEAN page)
{
    BOOLEAN any = FALSE;

    for (ULONG i = 0; i < k->top_node; i++) {
        struct kmd_node *n = &k->nodes[i];
        ULONG head = n->head;
        if (head != n->tail)
            report_completed(k, i, page ? page_fence(k, i) : engine_fence(k, i));
        any |= head != n->head;
    }
    return any || (page && report_done(k, FALSE));
}

BOOLEAN kmd_hw_internal_done(struct kmd *k, ULONGLONG fence)
{
    return has_engines(k) ? engine_fence(k, KMD_OWN_ENGINE) >= fence : kmd_completed(k) > fence;
}

BOOLEAN kmd_hw_settled(struct kmd *k)
{
    BOOLEAN idle;
    KIRQL old;

    KeAcquireSpinLock(&k->lock, &old);
    idle = kmd_hw_idle(k) && (!k->reaper_busy || !has_engines(k) || kmd_hw_internal_done(k, k->reaper_fence));
    KeReleaseSpinLock(&k->lock, old);
    return idle;
}

VOID kmd_hw_stop(struct kmd *k)
{
    k->powered = FALSE;
    enable_interrupts(k, 0);
    KeCancelTimer(&k->watchdog);
    KeFlushQueuedDpcs();
    k->watchdog_armed = FALSE;
    kmd_scanout_off(k);
    if (k->features & AEROGPU_FEATURE_CURSOR)
        kmd_write(k, AEROGPU_REG_CURSOR_ENABLE, 0);
    kmd_write(k, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_RESET);
    kmd_write64(k, AEROGPU_REG_RING_GPA_LO, 0);
    kmd_write(k, AEROGPU_REG_RING_SIZE_BYTES, 0);
    if (k->features & AEROGPU_FEATURE_FENCE_PAGE)
        kmd_write64(k, AEROGPU_REG_FENCE_GPA_LO, 0);
}

/* Of no submission, or of one that was reported: nothing can be faulted any more. */
static VOID report_one_fault(struct kmd *k, ULONGLONG fence, ULONG code)
{
    for (ULONG i = 0; i < k->top_node; i++) {
        struct kmd_node *n = &k->nodes[i];
        for (ULONG at = n->head; at != n->tail; at++)
            if (n->in_flight[at % KMD_MAX_IN_FLIGHT].value == fence) {
                report_completed(k, i, fence - 1);
                report_faulted(k, i, fence, code);
                return;
            }
    }
}

static VOID on_error(struct kmd *k)
{
    ULONG code = AEROGPU_ERROR_INTERNAL, count = k->error_count + 1, news;
    ULONGLONG fence = 0;

    if (k->features & AEROGPU_FEATURE_ERROR_INFO) {
        count = kmd_read(k, AEROGPU_REG_ERROR_COUNT);
        code = kmd_read(k, AEROGPU_REG_ERROR_CODE);
        fence = kmd_read64(k, AEROGPU_REG_ERROR_FENCE_LO);
    }
    news = count - k->error_count;
    k->error_count = count;
    if (!news)
        return;
    kmd_count(&k->perf.irq_error);
    k->error_latched = 1;
    k->last_error_code = code;
    k->last_error_fence = fence;
    k->last_error_100ns = kmd_now();
    kmd_log(k, DPFLTR_ERROR_LEVEL, "device error %llu, fence %llx, %llu since the last", code, fence, news);
    if (!(k->features & AEROGPU_EXT_FEATURE(EXT_CLIENTS))) {
        /* The latch may run ahead of COMPLETED_FENCE, where a submission of our own follows with the same fence; what is
         * before it is done in any case, for the device retires in order. */
        if (fence <= kmd_completed(k) || fence > k->submitted)
            return;
        if (news == 1)
            report_completed(k, 0, fence - 1);
        report_faulted(k, 0, fence, code);
        return;
    }
    for (ULONG i = 0; news > AEROGPU_EXT_ERRORS && i < k->top_node; i++)
        report_faulted(k, i, engine_fence(k, i) < fence ? engine_fence(k, i) : fence, code);
    if (news > AEROGPU_EXT_ERRORS)
        news = AEROGPU_EXT_ERRORS;
    for (ULONG n = count - news; n != count; n++) /* of what lies between two nothing has failed */
        report_one_fault(k, kmd_read64(k, AEROGPU_EXT_REG_ERROR_FENCES + n % AEROGPU_EXT_ERRORS * 8), code);
}

static VOID on_vblank(struct kmd *k)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_CRTC_VSYNC};

    kmd_count(&k->perf.irq_vblank);
    k->selftest_vblanks++;
    k->anchor.guest_100ns = kmd_now();
    kmd_read_vblank(k, &k->anchor.seq, &k->anchor.device_ns);
    k->anchor.valid = TRUE;
    if (k->flip.pending && k->anchor.seq != k->flip.asked) {
        k->flip.pending = FALSE;
        k->scan_address = k->flip.address;
        k->scan_session = k->flip.session;
        k->scan_gpa = k->flip.gpa;
        kmd_write64(k, AEROGPU_REG_SCANOUT0_FB_GPA_LO, k->flip.gpa);
    }
    if (!k->vsync_wanted)
        return;
    data.CrtcVsync.VidPnTargetId = KMD_TARGET;
    data.CrtcVsync.PhysicalAddress = k->scan_address;
    data.CrtcVsync.PhysicalAdapterMask = 1;
    notify(k, &data);
}

/* Whether there was anything to do. */
static BOOLEAN service(struct kmd *k, ULONG causes)
{
    if (!causes)
        return FALSE;
    kmd_write(k, AEROGPU_REG_IRQ_ACK, causes); /* first: what comes after it raises the next interrupt */
    if (causes & AEROGPU_IRQ_ERROR)
        on_error(k);
    if (causes & (AEROGPU_IRQ_FENCE | AEROGPU_IRQ_ERROR)) {
        if (causes & AEROGPU_IRQ_FENCE)
            kmd_count(&k->perf.irq_fence);
        report_done(k, TRUE);
    }
    if (causes & AEROGPU_IRQ_SCANOUT_VBLANK)
        on_vblank(k);
    k->dxgk.DxgkCbQueueDpc(k->dxgk.DeviceHandle);
    return TRUE;
}

BOOLEAN NTAPI kmd_InterruptRoutine(CONST PVOID context, ULONG message)
{
    struct kmd *k = context;

    UNREFERENCED_PARAMETER(message);
    k->interrupts++;
    if (!k->powered || !service(k, kmd_read(k, AEROGPU_REG_IRQ_STATUS) & k->irq_enable)) {
        kmd_count(&k->perf.irq_spurious);
        return FALSE;
    }
    return TRUE;
}

VOID NTAPI kmd_DpcRoutine(CONST PVOID context)
{
    struct kmd *k = context;

    k->dxgk.DxgkCbNotifyDpc(k->dxgk.DeviceHandle);
    KeAcquireSpinLockAtDpcLevel(&k->lock);
    if (k->powered && push_overflow(k))
        kmd_write(k, AEROGPU_REG_DOORBELL, 1);
    KeReleaseSpinLockFromDpcLevel(&k->lock);
}

/* ---- the watchdog -------------------------------------------------------- */

/* What an interrupt would have done, had it come. */
static BOOLEAN NTAPI look(PVOID context)
{
    struct kmd *k = context;

    if (!k->powered)
        return FALSE;
    if (service(k, kmd_read(k, AEROGPU_REG_IRQ_STATUS) & k->irq_enable))
        return TRUE;
    if (report_done(k, FALSE)) {
        k->dxgk.DxgkCbQueueDpc(k->dxgk.DeviceHandle);
        return TRUE;
    }
    return FALSE;
}

static VOID NTAPI on_watchdog(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    struct kmd *k = context;
    ULONG head;

    UNREFERENCED_PARAMETER(dpc);
    UNREFERENCED_PARAMETER(a);
    UNREFERENCED_PARAMETER(b);
    if (!k->powered)
        return;
    /* What is found here may be ahead of an interrupt that is on its way. It is lost if none has come until the next look. */
    if (k->watchdog_found && k->interrupts == k->watchdog_interrupts)
        kmd_log(k, DPFLTR_WARNING_LEVEL, "an interrupt was lost; completed is %llx, submitted %llx",
                kmd_completed(k), k->submitted, 0);
    k->watchdog_interrupts = k->interrupts;
    k->watchdog_found = kmd_synchronize(k, look, k);
    KeAcquireSpinLockAtDpcLevel(&k->lock);
    k->watchdog_armed = FALSE;
    head = ring_head(k);
    /* A head that stands still is a long submission or a doorbell that was lost: only another one can tell. */
    if (push_overflow(k) || (head != k->ring_tail && head == k->watchdog_head)) {
        kmd_log(k, DPFLTR_INFO_LEVEL, "ringing again: head %llu, tail %llu", head, k->ring_tail, 0);
        kmd_write(k, AEROGPU_REG_DOORBELL, 1);
    }
    if (kmd_completed(k) != k->submitted || head != k->ring_tail ||
        k->irq_enable & AEROGPU_IRQ_SCANOUT_VBLANK || k->watchdog_found)
        arm_watchdog(k);
    KeReleaseSpinLockFromDpcLevel(&k->lock);
}

/* ---- the DDIs about it --------------------------------------------------- */

static BOOLEAN NTAPI update_vsync(PVOID context)
{
    struct kmd *k = context;
    struct enable e = {k, k->irq_enable & ~AEROGPU_IRQ_SCANOUT_VBLANK};

    if (k->vsync_wanted || k->vsync_tests)
        e.mask |= AEROGPU_IRQ_SCANOUT_VBLANK;
    return set_enable(&e);
}

VOID kmd_hw_update_vsync(struct kmd *k)
{
    KIRQL old;

    if (!k->powered)
        return;
    kmd_synchronize(k, update_vsync, k);
    if (k->irq_enable &
        AEROGPU_IRQ_SCANOUT_VBLANK) { /* a message that gets lost would be the last: the device sends one when a bit becomes set */
        KeAcquireSpinLock(&k->lock, &old);
        arm_watchdog(k);
        KeReleaseSpinLock(&k->lock, old);
    }
}

NTSTATUS NTAPI kmd_ControlInterrupt(CONST HANDLE adapter, CONST DXGK_INTERRUPT_TYPE type, BOOLEAN enable)
{
    struct kmd *k = adapter;

    if (type != DXGK_INTERRUPT_CRTC_VSYNC || !(k->features & AEROGPU_FEATURE_VBLANK))
        return STATUS_NOT_SUPPORTED;
    k->vsync_requested = 1;
    k->vsync_wanted = enable;
    kmd_hw_update_vsync(k);
    return STATUS_SUCCESS;
}

/* What was submitted cannot be taken back from the device: the preemption is an empty submission behind it, and is
 * reported when that completes. */
NTSTATUS NTAPI kmd_PreemptCommand(CONST HANDLE adapter, CONST DXGKARG_PREEMPTCOMMAND *args)
{
    struct kmd *k = adapter;
    struct aerogpu_submit_desc marker = {0};
    struct kmd_node *n = &k->nodes[args->NodeOrdinal < k->top_node ? args->NodeOrdinal : 0];

    if (n->preempting)
        return STATUS_SUCCESS;
    n->preempt_fence = args->PreemptionFenceId;
    n->preempting = TRUE;
    return kmd_hw_submit(k, &marker, (ULONG)(n - k->nodes), args->PreemptionFenceId);
}

NTSTATUS NTAPI kmd_QueryCurrentFence(CONST HANDLE adapter, DXGKARG_QUERYCURRENTFENCE *args)
{
    struct kmd *k = adapter;

    /* The device's register would not do: what it counts may have failed, and is to be reported as a fault first. */
    kmd_synchronize(k, look, k);
    args->CurrentFence = k->nodes[args->NodeOrdinal < k->top_node ? args->NodeOrdinal : 0].fence;
    return STATUS_SUCCESS;
}

/* ---- time-outs ----------------------------------------------------------- */

static BOOLEAN NTAPI forget(PVOID context)
{
    struct kmd *k = context;

    for (ULONG i = 0; i < k->top_node; i++) {
        struct kmd_node *n = &k->nodes[i];
        if (n->head != n->tail)
            n->fence = n->in_flight[(n->tail - 1) % KMD_MAX_IN_FLIGHT].fence;
        n->head = n->tail;
        n->preempting = FALSE;
    }
    k->flip.pending = FALSE;
    return TRUE;
}

NTSTATUS NTAPI kmd_ResetFromTimeout(CONST HANDLE adapter)
{
    struct kmd *k = adapter;
    ULONG control, status;
    KIRQL old;

    kmd_log(k, DPFLTR_WARNING_LEVEL, "reset: submitted %llx, completed %llx, head %llu", k->submitted,
            kmd_completed(k), k->ring ? k->ring->head : 0);
    enable_interrupts(k, 0);
    KeCancelTimer(&k->watchdog);
    kmd_write(k, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_RESET); /* stops the executor; ring off */
    KeAcquireSpinLock(&k->lock, &old);
    k->watchdog_armed = FALSE;
    k->overflow_first = k->overflow_count = 0;
    KeReleaseSpinLock(&k->lock, old);
    kmd_synchronize(k, forget, k);
    ExAcquireFastMutex(&k->mutex);
    kmd_forget_names(k);
    ExReleaseFastMutex(&k->mutex);
    k->reset_pending = TRUE;
    kmd_count(&k->perf.resets);
    InterlockedExchange64(&k->perf.last_reset_100ns, (LONGLONG)kmd_now());
    /* Believe nothing: a device that is still busy would write into memory that is about to be used again. */
    control = kmd_read(k, AEROGPU_REG_RING_CONTROL);
    status = kmd_read(k, AEROGPU_REG_IRQ_STATUS);
    if (kmd_read(k, AEROGPU_REG_MAGIC) != AEROGPU_MMIO_MAGIC || control || (status & AEROGPU_IRQ_FENCE) ||
        kmd_read64(k, AEROGPU_REG_COMPLETED_FENCE_LO)) {
        kmd_log(k, DPFLTR_ERROR_LEVEL, "the device did not reset: RING_CONTROL %llx, IRQ_STATUS %llx",
                control, status, 0);
        return STATUS_UNSUCCESSFUL;
    }
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI kmd_RestartFromTimeout(CONST HANDLE adapter)
{
    struct kmd *k = adapter;
    NTSTATUS s = kmd_hw_start(k);

    if (NT_SUCCESS(s))
        k->reset_pending = FALSE;
    return s;
}

/* What a crash dump of Windows would hold: the counters, the last descriptors, the log. */
NTSTATUS NTAPI kmd_CollectDbgInfo(CONST HANDLE adapter, CONST DXGKARG_COLLECTDBGINFO *args)
{
    struct kmd *k = adapter;
    PUCHAR at = args->pBuffer;
    SIZE_T left = args->BufferSize;
    ULONGLONG first = 0, next;
    ULONG words[12] = {KMD_TAG,
                       args->Reason,
                       (ULONG)k->submitted,
                       (ULONG)(k->submitted >> 32),
                       (ULONG)kmd_completed(k),
                       (ULONG)(kmd_completed(k) >> 32),
                       kmd_read(k, AEROGPU_REG_COMPLETED_FENCE_LO),
                       kmd_read(k, AEROGPU_REG_COMPLETED_FENCE_HI),
                       k->ring->head,
                       k->ring->tail,
                       kmd_read(k, AEROGPU_REG_IRQ_STATUS),
                       kmd_read(k, AEROGPU_REG_ERROR_CODE)};

    if (left < sizeof(words))
        return STATUS_BUFFER_TOO_SMALL;
    RtlCopyMemory(at, words, sizeof(words));
    at += sizeof(words);
    left -= sizeof(words);
    if (left >= k->ring_size) {
        RtlCopyMemory(at, k->ring, k->ring_size);
        at += k->ring_size;
        left -= k->ring_size;
    }
    kmd_log_read(k, (PCHAR)at, left > 0xFFFFFFFF ? 0xFFFFFFFF : (ULONG)left, &first, &next);
    if (args->pExtension) {
        args->pExtension->BucketingKey = k->last_error_code;
        args->pExtension->CurrentDmaBufferOffset = 0;
    }
    return STATUS_SUCCESS;
}
