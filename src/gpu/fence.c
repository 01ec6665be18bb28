/* SPDX-License-Identifier: MIT */
/* fence.c: the fence time line.
 *
 *   QUEUED ──gpu_offer──▶ IN_FLIGHT ──gpu_complete──▶ DONE ──gpu_retire──▶ gone
 *      └──── malformed, or refused by the backend ─────▲
 *
 * Invariants:
 *  1. Entries are retired from the head only, so fences are signalled in the order of the ring.
 *  2. Neighbours with the same fence signal it together, when the last of them retires; the interrupt is
 *     raised if any of them wanted it.
 *  3. A fence not above COMPLETED_FENCE retires its entry and signals nothing.
 *  4. An entry that wants a vblank retires inside one, and only one such entry in each; without a running
 *     vblank clock it waits for nothing.
 *  5. Each descriptor has one id, the ids are consecutive, and each is completed by the backend once at most.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpu/internal.h"

static struct gpu_entry *entry_at(struct gpu_queue *q, uint32_t i)
{
    return &q->entries[(q->head + i) % GPU_QUEUE_MAX];
}

struct gpu_entry *gpu_queue_at(struct gpu *gpu, uint32_t i)
{
    return entry_at(&gpu->queue, i);
}

struct gpu_entry *gpu_queue_push(struct gpu *gpu)
{
    struct gpu_queue *q = &gpu->queue;
    struct gpu_entry *e;

    if (q->count == GPU_QUEUE_MAX)
        return NULL;
    if (!q->count)
        q->head = 0; /* a queue that runs empty again and again stays in the processor's cache */
    e = entry_at(q, q->count);
    memset(e, 0, sizeof(*e));
    e->sub.id = q->head_id + q->count++;
    return e;
}

static void pop(struct gpu_queue *q)
{
    q->head = (q->head + 1) % GPU_QUEUE_MAX;
    q->head_id++;
    q->count--;
    q->offered--;
}

void gpu_queue_drop_all(struct gpu *gpu)
{
    struct gpu_queue *q = &gpu->queue;

    q->head_id += q->count; /* late completions find no entry */
    q->head = q->count = q->offered = 0;
    gpu->owed = 0;
}

void gpu_queue_check(const struct gpu *gpu)
{
    const struct gpu_queue *q = &gpu->queue;
    const struct gpu_entry *head = &q->entries[q->head], *last, *next;

    INVARIANT(q->count <= GPU_QUEUE_MAX && q->head < GPU_QUEUE_MAX);
    INVARIANT(q->offered <= q->count);
    INVARIANT(q->head_id >= 1 && q->head_id >= gpu->seen.head_id);
    INVARIANT(gpu->stats.submissions == q->head_id - 1 + q->count);                      /* 5 */
    INVARIANT(gpu->stats.completions <= gpu->stats.submissions - q->count + q->offered); /* 5 */
    INVARIANT(gpu->stats.retired <= q->head_id - 1);
    INVARIANT(gpu->completed_fence >= gpu->seen.completed_fence || gpu->seen.resets != gpu->resets);
    INVARIANT(!gpu->ring_stalled || q->count); /* else nobody would look at the ring again */
    INVARIANT(gpu->owed <= q->count && (gpu->ring_enabled || !gpu->owed));
    INVARIANT(!gpu->doorbell_pending || !gpu_bus_master(gpu));
    INVARIANT(!gpu->reset_dma_pending || !gpu_bus_master(gpu));
    if (!q->count)
        return;
    last = &q->entries[(q->head + q->count - 1) % GPU_QUEUE_MAX];
    INVARIANT(head->sub.id == q->head_id);
    INVARIANT(last->sub.id == q->head_id + q->count - 1);
    INVARIANT(!q->offered || head->state != GPU_ENTRY_QUEUED);
    if (q->offered == q->count)
        return;
    next = &q->entries[(q->head + q->offered) % GPU_QUEUE_MAX];
    INVARIANT(next->state != GPU_ENTRY_IN_FLIGHT);
}

/* ---- to the backend and back --------------------------------------------- */

void gpu_offer(struct gpu *gpu)
{
    struct gpu_queue *q = &gpu->queue;

    while (q->offered < q->count) {
        struct gpu_entry *e = entry_at(q, q->offered);
        struct abi_submission sub = e->sub;
        int r;

        if (e->state != GPU_ENTRY_QUEUED) { /* malformed: nothing to execute */
            q->offered++;
            gpu->retire_pending = true;
            continue;
        }
        /* The backend may complete it, or be reset, inside submit. */
        e->state = GPU_ENTRY_IN_FLIGHT;
        q->offered++;
        r = gpu->params.backend->submit(gpu->params.backend_ctx, &sub);
        if (r == 0) {
            gpu_emit(gpu,
                     (struct gpu_event){
                         .kind = GPU_EVENT_SUBMIT, .id = sub.id, .fence = sub.fence, .submission = &sub});
            continue;
        }
        e = entry_at(q, q->offered - 1);
        if (r == -EAGAIN) {
            e->state = GPU_ENTRY_QUEUED;
            q->offered--;
            return;
        }
        e->state = GPU_ENTRY_DONE;
        e->error = AEROGPU_ERROR_BACKEND;
        snprintf(e->message, sizeof(e->message), "the executor refused the submission: %s", strerror(-r));
        gpu->retire_pending = true;
    }
}

void gpu_complete(struct gpu *gpu, const struct abi_completion *c)
{
    struct gpu_queue *q = &gpu->queue;
    struct gpu_entry *e = NULL;

    gpu_lock(gpu);
    if (c->id >= q->head_id && c->id - q->head_id < q->count)
        e = entry_at(q, (uint32_t)(c->id - q->head_id));
    if (e && e->state == GPU_ENTRY_IN_FLIGHT) {
        INVARIANT(e->sub.id == c->id && c->id - q->head_id < q->offered);
        e->state = GPU_ENTRY_DONE;
        e->error = c->error;
        e->cause = c->cause;
        if (c->error)
            snprintf(e->message, sizeof(e->message), "%s", c->message);
        e->wants_vblank = c->flags & ABI_COMPLETION_VSYNC;
        gpu->stats.completions++;
        gpu->stats.packets += c->packets;
        gpu->stats.draws += c->draws;
        gpu->stats.presents += !!(c->flags & ABI_COMPLETION_PRESENT);
        gpu->stats.vsynced_presents += !!(c->flags & ABI_COMPLETION_VSYNC);
        if (c->has_fault) {
            gpu->stats.has_fault = true;
            gpu->stats.fault_address = c->fault_address;
        }
        gpu_emit(gpu, (struct gpu_event){
                          .kind = GPU_EVENT_COMPLETE, .id = c->id, .fence = e->sub.fence, .completion = c});
        gpu->retire_pending = true;
    }
    gpu_unlock(gpu);
}

void gpu_backend_ready(struct gpu *gpu)
{
    gpu_lock(gpu);
    gpu->retire_pending = true;
    gpu_unlock(gpu);
}

/* ---- retiring ------------------------------------------------------------ */

void gpu_write_fence_page(struct gpu *gpu)
{
    struct aerogpu_fence_page *page;

    if (!gpu->fence_gpa || !(gpu->features & AEROGPU_FEATURE_FENCE_PAGE) || gpu->fence_page_bad)
        return;
    page = gpu_map(gpu, gpu->fence_gpa, sizeof(*page));
    if (!page) {
        gpu->fence_page_bad = true; /* once per address, not once per fence */
        gpu_latch_error(gpu, AEROGPU_ERROR_OOB, ABI_CAUSE_DMA, 0,
                        "FENCE_GPA 0x%llx: the fence page is not guest memory",
                        (unsigned long long)gpu->fence_gpa);
        return;
    }
    page->magic = AEROGPU_FENCE_PAGE_MAGIC;
    page->abi_version = AEROGPU_ABI_VERSION_U32;
    if ((uintptr_t)page & 7)
        memcpy((uint8_t *)page + offsetof(struct aerogpu_fence_page, completed_fence), &gpu->completed_fence,
               8);
    else
        __atomic_store_n((uint64_t *)((uint8_t *)page + offsetof(struct aerogpu_fence_page, completed_fence)),
                         gpu->completed_fence, __ATOMIC_RELEASE);
}

static bool may_retire(struct gpu *gpu, const struct gpu_entry *e)
{
    if (e->state != GPU_ENTRY_DONE)
        return false;
    return !e->wants_vblank || gpu->in_vblank || gpu->next_vblank == GPU_NEVER;
}

/* Returns whether COMPLETED_FENCE advanced. */
static bool retire_head(struct gpu *gpu)
{
    struct gpu_queue *q = &gpu->queue;
    struct gpu_entry *e = entry_at(q, 0), *next = q->count > 1 ? entry_at(q, 1) : NULL;
    uint64_t id = e->sub.id, fence = e->sub.fence;
    bool advanced = false;

    INVARIANT(q->count && q->offered && e->state == GPU_ENTRY_DONE);                /* 1 */
    INVARIANT(!e->wants_vblank || gpu->in_vblank || gpu->next_vblank == GPU_NEVER); /* 4 */
    INVARIANT(!next || next->sub.id == id + 1);
    if (e->error && !(e->sub.flags & AEROGPU_SUBMIT_FLAG_EXT_QUIET))
        gpu_latch_error(gpu, e->error, e->cause, fence, "%s", e->message);
    if (e->wants_vblank)
        gpu->in_vblank = false; /* this vblank has had its present */
    if (next && next->sub.fence == fence) {
        next->wants_irq |= e->wants_irq;
    } else if (fence > gpu->completed_fence) {
        gpu->completed_fence = fence;
        advanced = true;
    }
    pop(q);
    gpu->stats.retired++;
    gpu_emit(gpu, (struct gpu_event){
                      .kind = GPU_EVENT_RETIRE, .id = id, .fence = fence, .value = gpu->completed_fence});
    return advanced;
}

void gpu_retire(struct gpu *gpu)
{
    struct gpu_queue *q = &gpu->queue;
    bool advanced = false, wants_irq = false, retired = false;

    if (!gpu_bus_master(gpu))
        return; /* the fence page could not be written; gpu_dma_catch_up comes back */
    gpu_ring_give_back(gpu);
    while (q->count && q->offered && may_retire(gpu, entry_at(q, 0))) {
        bool irq = entry_at(q, 0)->wants_irq;
        retired = true;
        if (retire_head(gpu)) {
            advanced = true;
            wants_irq |= irq;
        }
    }
    if (advanced) {
        gpu_write_fence_page(gpu);
        gpu_emit(gpu, (struct gpu_event){.kind = GPU_EVENT_FENCE,
                                         .fence = gpu->completed_fence,
                                         .value = gpu->completed_fence});
        if (wants_irq)
            gpu_irq_raise(gpu, AEROGPU_IRQ_FENCE);
    }
    if (retired && gpu->ring_stalled) {
        gpu->ring_stalled = false;
        gpu_ring_process(gpu);
    }
}
