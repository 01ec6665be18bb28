/* SPDX-License-Identifier: MIT */
/* ring.c: takes descriptors out of the guest's ring.
 *
 * Everything in the ring was written by somebody else and may change while it is read: each field is read
 * once. The head is read from the ring at a doorbell that finds no slot owed, since a driver may set the ring up
 * with any start value.
 *
 *   tail ──take──▶ ring_next ──the backend has read stream and table, or the ring has EXT_ENGINES──▶ head
 */
#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gpu/internal.h"

#define STREAM_MAX (64u << 20)
#define TABLE_MAX  (16u << 20)

/* The header's fields, read once; head and tail are atomics that live in guest memory. */
struct ring {
    uint8_t *base;
    uint32_t count, stride, size;
    uint32_t *head, *tail;
};

static uint32_t field(const uint8_t *p, size_t offset)
{
    return le32toh(__atomic_load_n((const uint32_t *)(const void *)(p + offset), __ATOMIC_RELAXED));
}
#define HEADER(p, name) field(p, offsetof(struct aerogpu_ring_header, name))

/* Opens the ring, or latches the one error that says why not. */
static bool open_ring(struct gpu *gpu, struct ring *r)
{
    unsigned long long gpa = gpu->ring_gpa;
    uint8_t *p = gpa % 4 ? NULL : gpu_map(gpu, gpu->ring_gpa, sizeof(struct aerogpu_ring_header));
    uint32_t abi;

    if (gpa % 4) {
        gpu_latch_error(gpu, AEROGPU_ERROR_CMD_DECODE, ABI_CAUSE_OTHER, 0,
                        "RING_GPA 0x%llx: not a multiple of 4", gpa);
        return false;
    }
    if (!p) {
        gpu_latch_error(gpu, AEROGPU_ERROR_OOB, ABI_CAUSE_DMA, 0,
                        "RING_GPA 0x%llx: the ring header is not guest memory", gpa);
        return false;
    }
    if (HEADER(p, magic) != AEROGPU_RING_MAGIC) {
        gpu_latch_error(gpu, AEROGPU_ERROR_CMD_DECODE, ABI_CAUSE_OTHER, 0, "ring header: magic is 0x%08x",
                        HEADER(p, magic));
        return false;
    }
    abi = HEADER(p, abi_version);
    if (AEROGPU_ABI_VERSION_MAJOR(abi) != AEROGPU_ABI_MAJOR) {
        gpu_latch_error(gpu, AEROGPU_ERROR_CMD_DECODE, ABI_CAUSE_OTHER, 0,
                        "ring header: abi_version 0x%08x is of another major", abi);
        return false;
    }
    r->size = HEADER(p, size_bytes);
    r->count = HEADER(p, entry_count);
    r->stride = HEADER(p, entry_stride_bytes);
    if (!r->count || r->count & (r->count - 1)) {
        gpu_latch_error(gpu, AEROGPU_ERROR_CMD_DECODE, ABI_CAUSE_OTHER, 0,
                        "ring header: entry_count %u is not a power of two", r->count);
        return false;
    }
    if (r->stride < sizeof(struct aerogpu_submit_desc) || r->stride % 4) {
        gpu_latch_error(gpu, AEROGPU_ERROR_CMD_DECODE, ABI_CAUSE_OTHER, 0,
                        "ring header: entry_stride_bytes is %u", r->stride);
        return false;
    }
    if (sizeof(struct aerogpu_ring_header) + (uint64_t)r->count * r->stride > r->size ||
        r->size > gpu->ring_size) {
        gpu_latch_error(gpu, AEROGPU_ERROR_CMD_DECODE, ABI_CAUSE_OTHER, 0,
                        "ring header: %u entries of %u bytes, size_bytes %u, RING_SIZE_BYTES %u", r->count,
                        r->stride, r->size, gpu->ring_size);
        return false;
    }
    r->base = gpu_map(gpu, gpu->ring_gpa, r->size);
    if (!r->base) {
        gpu_latch_error(gpu, AEROGPU_ERROR_OOB, ABI_CAUSE_DMA, 0,
                        "RING_GPA 0x%llx: %u bytes of ring are not all guest memory", gpa, r->size);
        return false;
    }
    INVARIANT(r->count && !(r->count & (r->count - 1)) && r->stride >= sizeof(struct aerogpu_submit_desc));
    INVARIANT(sizeof(struct aerogpu_ring_header) + (uint64_t)r->count * r->stride <= r->size);
    r->head = (uint32_t *)(void *)(r->base + offsetof(struct aerogpu_ring_header, head));
    r->tail = (uint32_t *)(void *)(r->base + offsetof(struct aerogpu_ring_header, tail));
    return true;
}

static void __attribute__((format(printf, 4, 5)))
fail(struct gpu_entry *e, uint32_t code, enum abi_cause cause, const char *fmt, ...)
{
    va_list ap;

    e->state = GPU_ENTRY_DONE;
    e->error = code;
    e->cause = cause;
    va_start(ap, fmt);
    vsnprintf(e->message, sizeof(e->message), fmt, ap);
    va_end(ap);
}

/* One address and size pair of a descriptor: `name`_gpa and `name`_size_bytes. */
static bool check_range(struct gpu *gpu, struct gpu_entry *e, const char *name, uint64_t gpa, uint32_t size,
                        uint32_t max)
{
    unsigned long long at = gpa;

    if (!gpa && !size)
        return true;
    if (!gpa || !size)
        fail(e, AEROGPU_ERROR_CMD_DECODE, ABI_CAUSE_OTHER, "descriptor: %s_gpa 0x%llx with %s_size_bytes %u",
             name, at, name, size);
    else if (gpa > UINT64_MAX - size)
        fail(e, AEROGPU_ERROR_OOB, ABI_CAUSE_OTHER, "descriptor: %s_gpa 0x%llx + %u passes 2^64", name, at,
             size);
    else if (size > max)
        fail(e, AEROGPU_ERROR_CMD_DECODE, ABI_CAUSE_OTHER, "descriptor: %s_size_bytes %u is more than %u",
             name, size, max);
    else if (!gpu_map(gpu, gpa, size))
        fail(e, AEROGPU_ERROR_OOB, ABI_CAUSE_DMA,
             "descriptor: %s_gpa 0x%llx: %u bytes are not all guest memory", name, at, size);
    else
        return true;
    return false;
}

/* Fills `e` from the slot at `slot`; a malformed one comes out DONE with its error. */
static void take(struct gpu *gpu, const struct ring *r, const uint8_t *slot, struct gpu_entry *e)
{
    struct aerogpu_submit_desc d;

    memcpy(&d, slot, sizeof(d));
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the copy is looked at from here on, not the slot again */
    e->state = GPU_ENTRY_QUEUED;
    e->wants_irq = !(le32toh(d.flags) & AEROGPU_SUBMIT_FLAG_NO_IRQ);
    e->sub = (struct abi_submission){
        .id = e->sub.id,
        .fence = le64toh(d.signal_fence),
        .cmd_gpa = le64toh(d.cmd_gpa),
        .cmd_size = le32toh(d.cmd_size_bytes),
        .alloc_gpa = le64toh(d.alloc_table_gpa),
        .alloc_size = le32toh(d.alloc_table_size_bytes),
        .context_id = le32toh(d.context_id),
        .engine_id = le32toh(d.engine_id),
        .flags = le32toh(d.flags),
        .scanout = gpu_scanout_snapshot(gpu),
    };
    if (gpu->features & AEROGPU_EXT_FEATURE(EXT_CLIENTS)) {
        e->sub.client = (uint32_t)le64toh(d.reserved0);
        e->sub.session = (uint32_t)(le64toh(d.reserved0) >> 32);
        if (e->sub.flags & AEROGPU_SUBMIT_FLAG_EXT_CROSSES) {
            if (gpu->features & AEROGPU_EXT_FEATURE(EXT_GROUPS))
                e->sub.groups = le32toh(d.cmd_reserved0);
            if (!e->sub.groups)
                e->sub.groups = UINT32_MAX;
        }
    } else {
        e->sub.flags &= ~(AEROGPU_SUBMIT_FLAG_EXT_QUIET | AEROGPU_SUBMIT_FLAG_EXT_ORDERED |
                          AEROGPU_SUBMIT_FLAG_EXT_HIDDEN | AEROGPU_SUBMIT_FLAG_EXT_CROSSES |
                          AEROGPU_SUBMIT_FLAG_EXT_CLIENT_ENDS);
    }
    gpu->stats.submissions++;
    if (le32toh(d.desc_size_bytes) < sizeof(d) || le32toh(d.desc_size_bytes) > r->stride)
        fail(e, AEROGPU_ERROR_CMD_DECODE, ABI_CAUSE_OTHER,
             "descriptor: desc_size_bytes is %u, the slot has %u", le32toh(d.desc_size_bytes), r->stride);
    else if (gpu->engines && e->sub.engine_id >= AEROGPU_EXT_ENGINES)
        fail(e, AEROGPU_ERROR_CMD_DECODE, ABI_CAUSE_OTHER, "descriptor: engine_id is %u of %u",
             e->sub.engine_id, AEROGPU_EXT_ENGINES);
    else if (check_range(gpu, e, "cmd", e->sub.cmd_gpa, e->sub.cmd_size, STREAM_MAX))
        check_range(gpu, e, "alloc_table", e->sub.alloc_gpa, e->sub.alloc_size, TABLE_MAX);
    gpu_emit(gpu, (struct gpu_event){
                      .kind = GPU_EVENT_TAKE, .id = e->sub.id, .fence = e->sub.fence, .submission = &e->sub});
}

void gpu_ring_process(struct gpu *gpu)
{
    struct ring r;
    uint32_t tail;

    if (!gpu->ring_enabled) /* a kick that comes too early is not remembered */
        return;
    if (!gpu_bus_master(gpu)) {
        gpu->doorbell_pending = true;
        return;
    }
    if (!open_ring(gpu, &r))
        return;
    if (!gpu->owed)
        gpu->ring_next = le32toh(__atomic_load_n(r.head, __ATOMIC_ACQUIRE));
    tail = le32toh(__atomic_load_n(r.tail, __ATOMIC_ACQUIRE));
    if (gpu->owed > r.count || tail - gpu->ring_next > r.count - gpu->owed) {
        gpu_latch_error(gpu, AEROGPU_ERROR_CMD_DECODE, ABI_CAUSE_OTHER, 0,
                        "ring of %u entries: head %u and tail %u, with %u taken between", r.count,
                        gpu->ring_next - gpu->owed, tail, gpu->owed);
        gpu->owed = 0;
        __atomic_store_n(r.head, htole32(tail), __ATOMIC_RELEASE);
        return;
    }
    for (; gpu->ring_next != tail; gpu->ring_next++) {
        struct gpu_entry *e = gpu_queue_push(gpu);
        if (!e) {
            gpu->ring_stalled = true; /* the rest stays in the ring until something retires */
            break;
        }
        take(gpu, &r,
             r.base + sizeof(struct aerogpu_ring_header) +
                 (uint64_t)(gpu->ring_next & (r.count - 1)) * r.stride,
             e);
        gpu_queue_link(gpu, e);
        gpu->owed += !gpu->engines;
    }
    if (gpu->engines)
        __atomic_store_n(r.head, htole32(gpu->ring_next), __ATOMIC_RELEASE);
    gpu_offer(gpu);
}

void gpu_ring_give_back(struct gpu *gpu)
{
    uint32_t owed = gpu->owed;
    uint8_t *p;

    while (owed && (!gpu->ring_enabled || gpu_queue_is_done(gpu, owed)))
        owed--;
    if (owed == gpu->owed)
        return;
    gpu->owed = owed;
    p = gpu_map(gpu, gpu->ring_gpa, sizeof(struct aerogpu_ring_header));
    if (p) /* memory that is gone is the next doorbell's error */
        __atomic_store_n((uint32_t *)(void *)(p + offsetof(struct aerogpu_ring_header, head)),
                         htole32(gpu->ring_next - owed), __ATOMIC_RELEASE);
}

/* head := tail, and a fresh fence page. */
static void reset_dma(struct gpu *gpu)
{
    uint8_t *p;

    gpu->reset_dma_pending = false;
    if (gpu->ring_gpa || gpu->ring_size) {
        p = gpu->ring_gpa % 4 ? NULL : gpu_map(gpu, gpu->ring_gpa, sizeof(struct aerogpu_ring_header));
        if (!p) {
            gpu_latch_error(gpu, AEROGPU_ERROR_OOB, ABI_CAUSE_DMA, 0,
                            "ring reset: RING_GPA 0x%llx is not guest memory",
                            (unsigned long long)gpu->ring_gpa);
        } else if (HEADER(p, magic) == AEROGPU_RING_MAGIC) {
            uint32_t *head = (uint32_t *)(void *)(p + offsetof(struct aerogpu_ring_header, head));
            uint32_t *tail = (uint32_t *)(void *)(p + offsetof(struct aerogpu_ring_header, tail));
            __atomic_store_n(head, __atomic_load_n(tail, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
        }
    }
    gpu_write_fence_page(gpu);
}

void gpu_ring_reset(struct gpu *gpu, bool engines)
{
    gpu->stats.ring_resets++;
    gpu->resets++;
    gpu->params.backend->reset(gpu->params.backend_ctx);
    gpu_queue_drop_all(gpu);
    memset(gpu->completed, 0, sizeof(gpu->completed));
    gpu->engines = engines && gpu->features & AEROGPU_EXT_FEATURE(EXT_ENGINES);
    gpu->irq_status = 0;
    gpu->error_code = gpu->error_count = 0;
    gpu->error_fence = 0;
    gpu->doorbell_pending = gpu->ring_stalled = gpu->fence_page_bad = false;
    gpu_emit(gpu, (struct gpu_event){.kind = GPU_EVENT_RING_RESET});
    if (gpu_bus_master(gpu))
        reset_dma(gpu);
    else
        gpu->reset_dma_pending = true;
    gpu_irq_update(gpu, false);
}

void gpu_dma_catch_up(struct gpu *gpu)
{
    if (gpu->reset_dma_pending)
        reset_dma(gpu);
    gpu->retire_pending = true;
    if (gpu->doorbell_pending) {
        gpu->doorbell_pending = false;
        gpu_ring_process(gpu);
    }
}
