/* SPDX-License-Identifier: MIT */
/* hw.c: the device as the miniport drives it: registers, ring, fences, interrupts, reset.
 *
 *   SubmitCommand ─▶ ring (or behind it, when it is full) ─▶ doorbell ─▶ device ─▶ COMPLETED_FENCE ─▶ interrupt
 *                                                                                      │ routine, at DIRQL
 *   dxgkrnl ◀─ DPC ◀─ DMA_COMPLETED, DMA_FAULTED, DMA_PREEMPTED, CRTC_VSYNC ◀──────────┘
 *
 * Invariants:
 *  1. The operating system's fences are 32 bits and wrap; the device's are 64 and only go up. The upper half counts
 *     the wraps (extend). A fence value is never used again, over resets neither.
 *  2. Each fence that SubmitCommand accepted is reported once, in order: completed, faulted, or dropped by a reset.
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

NTSTATUS kmd_hw_create(struct kmd *k)
{
    SIZE_T ring;
    NTSTATUS s;

    k->ring_entries = k->settings.ring_entries;
    ring = sizeof(struct aerogpu_ring_header) + (SIZE_T)k->ring_entries * sizeof(struct aerogpu_submit_desc);
    k->ring_size = (ULONG)ring;
    s = kmd_memory_alloc(&k->ring_memory, ring);
    if (NT_SUCCESS(s))
        s = kmd_memory_alloc(&k->fence_memory, sizeof(struct aerogpu_fence_page));
    if (NT_SUCCESS(s))
        s = kmd_memory_alloc(&k->recent_memory, KMD_RECENT_BYTES);
    if (NT_SUCCESS(s))
        s = kmd_memory_alloc(&k->reaper, KMD_REAPER_BYTES);
    k->overflow = kmd_alloc(KMD_MAX_IN_FLIGHT * sizeof(*k->overflow));
    if (NT_SUCCESS(s) && !k->overflow)
        s = STATUS_NO_MEMORY;
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

    kmd_write(k, AEROGPU_REG_IRQ_ENABLE, 0);
    kmd_write(k, AEROGPU_REG_RING_CONTROL, 0);
    RtlZeroMemory(k->ring, k->ring_size);
    k->ring_tail = 0;
    k->ring->magic = AEROGPU_RING_MAGIC;
    k->ring->abi_version = AEROGPU_ABI_VERSION_U32;
    k->ring->size_bytes = k->ring_size;
    k->ring->entry_count = k->ring_entries;
    k->ring->entry_stride_bytes = sizeof(struct aerogpu_submit_desc);
    RtlZeroMemory(k->fence_memory.va, sizeof(struct aerogpu_fence_page));
    KeMemoryBarrier();
    kmd_write64(k, AEROGPU_REG_RING_GPA_LO, (ULONGLONG)k->ring_memory.pa.QuadPart);
    kmd_write(k, AEROGPU_REG_RING_SIZE_BYTES, (ULONG)k->ring_memory.size);
    if (k->features & AEROGPU_FEATURE_FENCE_PAGE)
        kmd_write64(k, AEROGPU_REG_FENCE_GPA_LO, (ULONGLONG)k->fence_memory.pa.QuadPart);
    kmd_write(k, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE | AEROGPU_RING_CONTROL_RESET);
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

/* See the head. With `lock`. */
static VOID check(struct kmd *k)
{
    NT_ASSERT(k->completed <= k->submitted);                                                    /* 1 */
    NT_ASSERT(k->in_flight_tail - k->in_flight_head <= KMD_MAX_IN_FLIGHT);                      /* 2 */
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
    return !k->overflow_count && ring_head(k) == k->ring_tail && k->completed == k->submitted;
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

/* The 64-bit fence of the 32-bit one that follows `last`. */
static ULONGLONG extend(ULONGLONG last, ULONG fence)
{
    return last + (ULONG)(fence - (ULONG)last);
}

NTSTATUS kmd_hw_submit(struct kmd *k, CONST struct aerogpu_submit_desc *desc, ULONG fence)
{
    struct aerogpu_submit_desc d = *desc;
    NTSTATUS s = STATUS_INSUFFICIENT_RESOURCES;
    ULONGLONG value;

    KeAcquireSpinLockAtDpcLevel(&k->lock);
    check(k);
    if (k->in_flight_tail - k->in_flight_head < KMD_MAX_IN_FLIGHT) {
        value = extend(k->submitted, fence);
        NT_ASSERT((ULONG)value == fence && value >= k->submitted); /* 1 */
        d.desc_size_bytes = sizeof(d);
        d.signal_fence = value;
        /* Before the doorbell: the interrupt may come inside it. */
        k->in_flight[k->in_flight_tail % KMD_MAX_IN_FLIGHT] = fence;
        KeMemoryBarrier();
        k->in_flight_tail++;
        k->submitted = value;
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

static BOOLEAN take_fence(struct kmd *k, ULONGLONG limit, ULONG *fence)
{
    ULONG f;

    if (k->in_flight_head == k->in_flight_tail)
        return FALSE;
    KeMemoryBarrier();
    f = k->in_flight[k->in_flight_head % KMD_MAX_IN_FLIGHT];
    if (extend(k->completed, f) > limit)
        return FALSE;
    k->in_flight_head++;
    k->completed = extend(k->completed, f);
    *fence = f;
    return TRUE;
}

/* Everything up to `limit` is done: one notification for the last of them. */
static VOID report_completed(struct kmd *k, ULONGLONG limit)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED};
    BOOLEAN any = FALSE;
    ULONG fence, last = (ULONG)k->completed;

    for (; take_fence(k, limit, &fence); last = fence) {
        if (k->preempting && fence == k->preempt_fence) {
            if (any)
                notify(k, &data);
            data.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED;
            data.DmaPreempted.PreemptionFenceId = fence;
            data.DmaPreempted.LastCompletedFenceId = last;
            data.DmaPreempted.NodeOrdinal = data.DmaPreempted.EngineOrdinal = 0;
            k->preempting = FALSE;
            notify(k, &data);
            RtlZeroMemory(&data, sizeof(data));
            data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
            any = FALSE;
            continue;
        }
        data.DmaCompleted.SubmissionFenceId = fence;
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

static VOID report_faulted(struct kmd *k, ULONGLONG limit, ULONG code)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_FAULTED};
    ULONG fence;

    while (take_fence(k, limit, &fence)) {
        if (k->preempting && fence == k->preempt_fence) { /* a marker cannot fail */
            k->in_flight_head--;
            k->completed--;
            report_completed(k, extend(k->completed, fence));
            continue;
        }
        data.DmaFaulted.FaultedFenceId = fence;
        data.DmaFaulted.Status = error_status(code);
        notify(k, &data);
    }
}

static VOID report_one_fault(struct kmd *k, ULONGLONG fence, ULONG code)
{
    if (fence <= k->completed || fence > k->submitted)
        return; /* of no submission, or of one that was reported */
    report_completed(k, fence - 1);
    report_faulted(k, fence, code);
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
    if (k->features & AEROGPU_EXT_FEATURE(EXT_CLIENTS) && news <= AEROGPU_EXT_ERRORS) {
        for (ULONG n = count - news; n != count; n++) /* of what lies between two nothing has failed */
            report_one_fault(k, kmd_read64(k, AEROGPU_EXT_REG_ERROR_FENCES + n % AEROGPU_EXT_ERRORS * 8),
                             code);
        return;
    }
    /* The latch may run ahead of COMPLETED_FENCE, where a submission of our own follows with the same fence; what is
     * before it is done in any case, for the device retires in order. */
    if (fence <= k->completed || fence > k->submitted)
        return; /* of no submission, or of one that was reported: nothing can be faulted any more */
    if (news == 1)
        report_completed(k, fence - 1);
    report_faulted(k, fence, code);
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

/* The device writes the fence page before it raises the interrupt, and reading it costs no access to the device. The
 * register is asked when the page shows nothing new: a page that is stale delays nothing. */
static ULONGLONG completed_fence(struct kmd *k)
{
    ULONGLONG page = 0;

    if (k->features & AEROGPU_FEATURE_FENCE_PAGE)
        page = ReadULong64Acquire(
            (PVOID)((PUCHAR)k->fence_memory.va + offsetof(struct aerogpu_fence_page, completed_fence)));
    return page > k->completed ? page : kmd_read64(k, AEROGPU_REG_COMPLETED_FENCE_LO);
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
        report_completed(k, completed_fence(k));
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
    if (k->in_flight_head != k->in_flight_tail &&
        kmd_read64(k, AEROGPU_REG_COMPLETED_FENCE_LO) > k->completed) {
        report_completed(k, kmd_read64(k, AEROGPU_REG_COMPLETED_FENCE_LO));
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
                k->completed, k->submitted, 0);
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
    if (k->in_flight_head != k->in_flight_tail || head != k->ring_tail ||
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

    if (k->preempting)
        return STATUS_SUCCESS;
    k->preempt_fence = args->PreemptionFenceId;
    k->preempting = TRUE;
    return kmd_hw_submit(k, &marker, args->PreemptionFenceId);
}

NTSTATUS NTAPI kmd_QueryCurrentFence(CONST HANDLE adapter, DXGKARG_QUERYCURRENTFENCE *args)
{
    struct kmd *k = adapter;

    /* The device's register would not do: what it counts may have failed, and is to be reported as a fault first. */
    kmd_synchronize(k, look, k);
    args->CurrentFence = (UINT)k->completed;
    return STATUS_SUCCESS;
}

/* ---- time-outs ----------------------------------------------------------- */

static BOOLEAN NTAPI forget(PVOID context)
{
    struct kmd *k = context;

    k->in_flight_head = k->in_flight_tail;
    k->completed = k->submitted;
    k->preempting = FALSE;
    k->flip.pending = FALSE;
    return TRUE;
}

NTSTATUS NTAPI kmd_ResetFromTimeout(CONST HANDLE adapter)
{
    struct kmd *k = adapter;
    ULONG control, status;
    KIRQL old;

    kmd_log(k, DPFLTR_WARNING_LEVEL, "reset: submitted %llx, completed %llx, head %llu", k->submitted,
            k->completed, k->ring ? k->ring->head : 0);
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
                       (ULONG)k->completed,
                       (ULONG)(k->completed >> 32),
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
