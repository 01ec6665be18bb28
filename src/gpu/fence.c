/* SPDX-License-Identifier: MIT */
/* fence.c: the fence time lines: one, or with EXT_ENGINES one for each engine.
 *
 *   QUEUED ──gpu_offer──▶ IN_FLIGHT ──gpu_complete──▶ DONE ──gpu_retire──▶ gone
 *      └──── malformed, or refused by the backend ─────▲
 *
 * Invariants:
 *  1. Entries are retired from the head of their time line only, so its fences are signalled in the order of the ring.
 *  2. Neighbours of a time line with the same fence signal it together, when the last of them retires; the interrupt is
 *     raised if any of them wanted it.
 *  3. A fence not above the last one of its time line retires its entry and signals nothing.
 *  4. An entry that wants a vblank retires inside one, and only one such entry of a time line in each; without a running
 *     vblank clock it waits for nothing.
 *  5. Each descriptor has one id, the ids rise, those of all that is here differ modulo GPU_QUEUE_MAX, and each is completed by
 *     the backend once at most.
 *  6. The backend gets the entries of a time line in the order of the ring, those of a client too, and those that are ORDERED
 *     over all of them that are of their session, or cross sessions and have a group in common. One that it has no room for
 *     keeps back nobody else.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpu/internal.h"

enum { NONE = GPU_QUEUE_MAX };

static uint32_t slot_of(const struct gpu_queue *q, uint64_t id)
{
    return (uint32_t)((id - q->base) % GPU_QUEUE_MAX);
}

static struct gpu_entry *find(struct gpu_queue *q, uint64_t id)
{
    struct gpu_entry *e = &q->entries[slot_of(q, id)];

    return e->used && e->sub.id == id ? e : NULL;
}

static struct gpu_entry *head_of(struct gpu_queue *q, unsigned line)
{
    return q->active >> line & 1 ? &q->entries[q->lines[line].first] : NULL;
}

bool gpu_queue_is_done(struct gpu *gpu, uint32_t back)
{
    struct gpu_entry *e = find(&gpu->queue, gpu->queue.next_id - back);

    return !e || e->state == GPU_ENTRY_DONE;
}

struct gpu_entry *gpu_queue_push(struct gpu *gpu)
{
    struct gpu_queue *q = &gpu->queue;
    struct gpu_entry *e;

    if (q->count == GPU_QUEUE_MAX)
        return NULL;
    if (!q->count)
        q->base = q->next_id; /* a queue that runs empty again and again stays in the processor's cache */
    while (q->entries[slot_of(q, q->next_id)].used)
        q->next_id++; /* what has that slot stays longer than thousands behind it */
    e = &q->entries[slot_of(q, q->next_id)];
    memset(e, 0, sizeof(*e));
    e->used = true;
    e->sub.id = q->next_id++;
    q->count++;
    return e;
}

void gpu_queue_link(struct gpu *gpu, struct gpu_entry *e)
{
    struct gpu_queue *q = &gpu->queue;
    uint32_t slot = (uint32_t)(e - q->entries);
    struct gpu_list *line;

    e->engine = gpu->engines && e->sub.engine_id < AEROGPU_EXT_ENGINES ? (uint8_t)e->sub.engine_id : 0;
    e->next = e->waiting = NONE;
    line = &q->lines[e->engine];
    *(head_of(q, e->engine) ? &q->entries[line->last].next : &line->first) = slot;
    line->last = slot;
    q->active |= UINT64_C(1) << e->engine;
    if (e->state != GPU_ENTRY_QUEUED) { /* malformed: nothing to execute */
        gpu->retire_pending = true;
        return;
    }
    *(q->waiting.first != NONE ? &q->entries[q->waiting.last].waiting : &q->waiting.first) = slot;
    q->waiting.last = slot;
}

static void pop(struct gpu_queue *q, unsigned line)
{
    struct gpu_entry *e = head_of(q, line);

    e->used = false;
    q->count--;
    q->lines[line].first = e->next;
    if (e->next == NONE)
        q->active &= ~(UINT64_C(1) << line);
}

void gpu_queue_drop_all(struct gpu *gpu)
{
    struct gpu_queue *q = &gpu->queue;

    for (uint32_t i = 0; q->count && i < GPU_QUEUE_MAX; i++)
        q->entries[i].used = false; /* late completions find no entry */
    q->count = 0;
    q->active = 0;
    q->base = q->next_id;
    q->waiting.first = NONE;
    gpu->owed = 0;
}

void gpu_queue_check(const struct gpu *gpu)
{
    const struct gpu_queue *q = &gpu->queue;

    INVARIANT(q->count <= GPU_QUEUE_MAX && !q->count == !q->active);
    INVARIANT(q->next_id >= 1 && q->next_id >= gpu->seen.next_id && q->base <= q->next_id);
    INVARIANT(gpu->stats.submissions < q->next_id);              /* 5 */
    INVARIANT(gpu->stats.completions <= gpu->stats.submissions); /* 5 */
    INVARIANT(gpu->stats.retired <= gpu->stats.submissions - q->count);
    INVARIANT(gpu->completed[0] >= gpu->seen.completed_fence || gpu->seen.resets != gpu->resets);
    INVARIANT(!gpu->ring_stalled || q->count); /* else nobody would look at the ring again */
    INVARIANT(gpu->owed <= q->count && (gpu->ring_enabled || !gpu->owed) && !(gpu->engines && gpu->owed));
    INVARIANT(gpu->engines || !(q->active & ~UINT64_C(1)));
    INVARIANT(!gpu->doorbell_pending || !gpu_bus_master(gpu));
    INVARIANT(!gpu->reset_dma_pending || !gpu_bus_master(gpu));
    INVARIANT(q->waiting.first == NONE || q->entries[q->waiting.first].state == GPU_ENTRY_QUEUED);
}

/* ---- to the backend and back --------------------------------------------- */

/* Takes the entry behind slot `before` (NONE: the first) out of those that wait. */
static void unlink_waiting(struct gpu_queue *q, uint32_t before)
{
    uint32_t *at = before == NONE ? &q->waiting.first : &q->entries[before].waiting;

    if (*at == q->waiting.last)
        q->waiting.last = before;
    *at = q->entries[*at].waiting;
}

static void refuse(struct gpu *gpu, struct gpu_entry *e, int why)
{
    e->state = GPU_ENTRY_DONE;
    e->error = AEROGPU_ERROR_BACKEND;
    snprintf(e->message, sizeof(e->message), "the executor refused the submission: %s", strerror(-why));
    gpu->retire_pending = true;
}

/* Clients, or sessions: exactly, since one that only looked like another would let a stranger choose whom he keeps waiting. More
 * than there are time lines are none to tell apart: then all are. */
struct names {
    uint32_t list[AEROGPU_EXT_ENGINES];
    unsigned num;
};

static bool is_among(const struct names *n, uint32_t name)
{
    if (n->num > AEROGPU_EXT_ENGINES)
        return true;
    for (unsigned i = 0; i < n->num; i++)
        if (n->list[i] == name)
            return true;
    return false;
}

static void keep(struct names *n, uint32_t name)
{
    if (is_among(n, name))
        return;
    if (n->num < AEROGPU_EXT_ENGINES)
        n->list[n->num] = name;
    n->num++;
}

void gpu_offer(struct gpu *gpu)
{
    struct gpu_queue *q = &gpu->queue;
    struct names clients = {.num = 0}, sessions = {.num = 0}; /* who have to wait */
    uint64_t resets = gpu->resets, kept = 0;
    uint32_t kept_groups = 0;

    for (uint32_t slot = q->waiting.first, before = NONE, next; slot != NONE; slot = next) {
        struct gpu_entry *e = &q->entries[slot];
        struct abi_submission sub = e->sub;
        uint64_t line = UINT64_C(1) << e->engine;
        bool ordered = sub.flags & AEROGPU_SUBMIT_FLAG_EXT_ORDERED;
        int r = -EAGAIN;

        if (!(kept & line) && !is_among(&clients, sub.client) &&
            !(ordered && (is_among(&sessions, sub.session) || sub.groups & kept_groups))) {
            /* The backend may complete it, or be reset, inside submit. */
            e->state = GPU_ENTRY_IN_FLIGHT;
            r = gpu->params.backend->submit(gpu->params.backend_ctx, &sub);
            if (gpu->resets != resets)
                return; /* it is gone, and so are the others */
        }
        next = e->waiting;
        if (r == -EAGAIN) {
            e->state = GPU_ENTRY_QUEUED;
            kept |= line;
            if (!(q->active & ~kept))
                return; /* the others are of time lines that wait */
            keep(&clients, sub.client);
            if (ordered) {
                keep(&sessions, sub.session);
                kept_groups |= sub.groups;
            }
            before = slot;
            continue;
        }
        unlink_waiting(q, before);
        if (r)
            refuse(gpu, e, r);
        else
            gpu_emit(gpu,
                     (struct gpu_event){
                         .kind = GPU_EVENT_SUBMIT, .id = sub.id, .fence = sub.fence, .submission = &sub});
    }
}

void gpu_complete(struct gpu *gpu, const struct abi_completion *c)
{
    struct gpu_entry *e;

    gpu_lock(gpu);
    e = find(&gpu->queue, c->id);
    if (e && e->state == GPU_ENTRY_IN_FLIGHT) {
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

/* Guest memory that need not be aligned. */
static void store_fence(uint8_t *at, uint64_t fence)
{
    if ((uintptr_t)at & 7)
        memcpy(at, &fence, 8);
    else
        __atomic_store_n((uint64_t *)(void *)at, fence, __ATOMIC_RELEASE);
}

void gpu_write_fence_page(struct gpu *gpu)
{
    struct aerogpu_fence_page *page;

    if (!gpu->fence_gpa || !(gpu->features & AEROGPU_FEATURE_FENCE_PAGE) || gpu->fence_page_bad)
        return;
    page = gpu_map(gpu, gpu->fence_gpa, gpu->engines ? AEROGPU_EXT_FENCE_PAGE_BYTES : sizeof(*page));
    if (!page) {
        gpu->fence_page_bad = true; /* once per address, not once per fence */
        gpu_latch_error(gpu, AEROGPU_ERROR_OOB, ABI_CAUSE_DMA, 0,
                        "FENCE_GPA 0x%llx: the fence page is not guest memory",
                        (unsigned long long)gpu->fence_gpa);
        return;
    }
    page->magic = AEROGPU_FENCE_PAGE_MAGIC;
    page->abi_version = AEROGPU_ABI_VERSION_U32;
    store_fence((uint8_t *)page + offsetof(struct aerogpu_fence_page, completed_fence), gpu->completed[0]);
    for (unsigned i = 0; gpu->engines && i < AEROGPU_EXT_ENGINES; i++)
        store_fence((uint8_t *)page + AEROGPU_EXT_FENCE_PAGE_ENGINES + 8 * i, gpu->completed[i]);
}

static bool may_retire(struct gpu *gpu, const struct gpu_entry *e)
{
    if (!e || e->state != GPU_ENTRY_DONE)
        return false;
    return !e->wants_vblank || gpu->in_vblank >> e->engine & 1 || gpu->next_vblank == GPU_NEVER;
}

/* Returns whether the fence of its time line advanced. */
static bool retire_head(struct gpu *gpu, unsigned line)
{
    struct gpu_queue *q = &gpu->queue;
    struct gpu_entry *e = head_of(q, line), *next = e->next == NONE ? NULL : &q->entries[e->next];
    uint64_t id = e->sub.id, fence = e->sub.fence;
    bool advanced = false;

    INVARIANT(e->used && may_retire(gpu, e)); /* 1, 4 */
    INVARIANT(!next || (next->sub.id > id && next->engine == line));
    if (e->error && !(e->sub.flags & AEROGPU_SUBMIT_FLAG_EXT_QUIET))
        gpu_latch_error(gpu, e->error, e->cause, fence, "%s", e->message);
    if (e->wants_vblank)
        gpu->in_vblank &= ~(UINT64_C(1) << line); /* this vblank has had its present */
    if (next && next->sub.fence == fence) {
        next->wants_irq |= e->wants_irq;
    } else if (fence > gpu->completed[line]) {
        gpu->completed[line] = fence;
        advanced = true;
    }
    pop(q, line);
    gpu->stats.retired++;
    gpu_emit(gpu, (struct gpu_event){
                      .kind = GPU_EVENT_RETIRE, .id = id, .fence = fence, .value = gpu->completed[line]});
    return advanced;
}

void gpu_retire(struct gpu *gpu)
{
    struct gpu_queue *q = &gpu->queue;
    bool advanced = false, wants_irq = false, retired = false;

    if (!gpu_bus_master(gpu))
        return; /* the fence page could not be written; gpu_dma_catch_up comes back */
    gpu_ring_give_back(gpu);
    for (uint64_t lines = q->active; lines; lines &= lines - 1) {
        unsigned line = (unsigned)__builtin_ctzll(lines);
        uint64_t was = gpu->completed[line];
        for (struct gpu_entry *e; may_retire(gpu, e = head_of(q, line)); retired = true) {
            bool irq = e->wants_irq;
            wants_irq |= retire_head(gpu, line) && irq;
        }
        if (gpu->completed[line] == was)
            continue;
        advanced = true;
        gpu_emit(gpu, (struct gpu_event){.kind = GPU_EVENT_FENCE,
                                         .fence = gpu->completed[line],
                                         .value = gpu->completed[line]});
    }
    if (advanced)
        gpu_write_fence_page(gpu);
    if (advanced && wants_irq)
        gpu_irq_raise(gpu, AEROGPU_IRQ_FENCE);
    if (retired && gpu->ring_stalled) {
        gpu->ring_stalled = false;
        gpu_ring_process(gpu);
    }
}
