/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/adapter.h"

#include <string.h>

/* A context's priority is -7 to 7. Nobody is kept from the device for longer than STARVED_NS by who is more urgent, but for a packet each. */
enum {
    RANKS_OF_CLASS = 16,
    URGENT = D3DKMT_SCHEDULINGPRIORITYCLASS_NORMAL * RANKS_OF_CLASS, /* preempts, above this */
};
#define STARVED_NS NSEC_PER_SEC

void dxgk_sched_start(struct dxgk *d)
{
    _Static_assert(MAX_NODES <= 64, "a bit each");
    memset(d->sched.nodes, 0, sizeof(d->sched.nodes));
    d->sched.busy = 0;
    for (unsigned i = 0; i < d->sched.num_nodes; i++)
        d->sched.nodes[i].hw_last = &d->sched.nodes[i].hw;
}

static void check(const struct context *c)
{
    INVARIANT(!c->queued == !c->queue && !*c->queue_last);
    INVARIANT(!c->queue || c->queue->context == c);
    INVARIANT(c->packets_done <= c->packets &&
              c->queued + c->running <= c->packets - c->packets_done + c->running);
    INVARIANT(c->node < c->device->d->sched.num_nodes);
}

void dxgk_sched_queue(struct context *c, struct packet *p)
{
    struct dxgk *d = c->device->d;

    check(c);
    INVARIANT(p->context == c && !p->counted);
    p->next = NULL;
    p->counted = true;
    dxgk_context_packet_queued(c);
    *c->queue_last = p;
    c->queue_last = &p->next;
    c->queued++;
    p->sequence = c->packets;
    p->queued_ns = dxgk_kernel_now(d->kernel);
    DXGK_TRACE(d, QUEUE_START, dxgk_packet_process(p), c->handle, p->type, p->sequence,
               p->type == PACKET_PRESENT || p->type == PACKET_FLIP);
    if (dxgk_kernel_irql(d->kernel) < DISPATCH_LEVEL)
        dxgk_sched_pump(d, c->node);
    else
        dxgk_adapter_kick(d);
}

/* ---- choosing ------------------------------------------------------------ */

static bool eligible(struct dxgk *d, struct node *n, struct context *c)
{
    struct packet *p = c->queue;

    switch (p->type) {
    case PACKET_RENDER:
    case PACKET_PRESENT:
    case PACKET_PAGING:
        return n->hw_count < d->sched.hw_limit && !n->preempting;
    case PACKET_FLIP:
    case PACKET_SIGNAL:
        return !c->running;
    case PACKET_WAIT:
        return !c->running && dxgk_sync_take(p->sync, p->sync_count, p->value);
    }
    return false;
}

/* The class of the process counts first, then the context's priority. */
static int rank(const struct context *c)
{
    const struct dxgk_client *client = c->device->client;

    return (int)(client ? client->priority : D3DKMT_SCHEDULINGPRIORITYCLASS_NORMAL) * RANKS_OF_CLASS +
           c->priority;
}

/* Whether `a` goes before `b`: who has waited for too long, then who is more urgent, then who had its turn longer ago. */
static bool goes_before(struct dxgk *d, const struct context *a, const struct context *b)
{
    if (rank(a) != rank(b)) {
        uint64_t now = dxgk_kernel_now(d->kernel);
        bool late_a = now - a->queue->queued_ns >= STARVED_NS,
             late_b = now - b->queue->queued_ns >= STARVED_NS;
        if (late_a != late_b)
            return late_a;
        if (!late_a)
            return rank(a) > rank(b);
    }
    return a->last_run < b->last_run;
}

static struct packet *take(struct dxgk *d, unsigned i)
{
    struct context *best = NULL;
    struct packet *p;

    for (struct context *c = d->sched.contexts; c; c = c->next_all) {
        if (c->node != i || !c->queue)
            continue;
        if (best && !goes_before(d, c, best))
            continue;
        if (eligible(d, &d->sched.nodes[i], c)) {
            best = c;
            if (c->queue->type == PACKET_WAIT)
                break; /* its semaphores are taken */
        }
    }
    if (!best)
        return NULL;
    check(best);
    p = best->queue;
    best->queue = p->next;
    if (!best->queue)
        best->queue_last = &best->queue;
    best->queued--;
    best->running++;
    best->last_run = ++d->sched.turns;
    check(best);
    return p;
}

static void signal_packet(struct dxgk *d, struct packet *p)
{
    dxgk_sync_signal(d, p->sync, p->sync_count, p->value);
    dxgk_sync_signal_event(d, p->event_fd);
    dxgk_packet_finish(d, p); /* which has all nodes looked at: who waited for it may be anywhere */
}

/* ---- submitting ---------------------------------------------------------- */

static void fail_packet(struct dxgk *d, struct packet *p, D3DKMT_DEVICEEXECUTION_STATE why)
{
    struct context *c = p->context;

    dxgk_device_lose(c->device, why);
    c->running--;
    dxgk_packet_free(d, p);
    dxgk_context_wake(d, c);
}

static NTSTATUS patch(struct dxgk *d, struct packet *p)
{
    DXGKARG_PATCH args = {
        .hContext = p->context->driver,
        .DmaBufferSegmentId = dxgk_dma_segment(p->dma),
        .DmaBufferPhysicalAddress = dxgk_dma_address(d, p->dma),
        .pDmaBuffer = p->dma->mem.va,
        .DmaBufferSize = p->dma->size,
        .DmaBufferSubmissionEndOffset = p->dma_end,
        .pDmaBufferPrivateData = p->dma->priv,
        .DmaBufferPrivateDataSize = p->dma->priv_size,
        .DmaBufferPrivateDataSubmissionEndOffset = p->priv_end,
        .pAllocationList = p->dma->list,
        .AllocationListSize = p->list_count,
        .pPatchLocationList = p->dma->patch,
        .PatchLocationListSize = p->patch_count,
        .PatchLocationListSubmissionLength = p->patch_count,
        .SubmissionFenceId = p->fence,
    };
    NTSTATUS s;

    args.Flags.Present = p->type == PACKET_PRESENT;
    dxgk_dma_give(p->dma, p->list_count, p->patch_count);
    s = DDI_ARG(d, Patch, d->miniport, &args);
    dxgk_dma_take(d, p->dma, p->list_count, p->patch_count, "DxgkDdiPatch");
    dxgk_dma_kept(d, p->dma, "DxgkDdiPatch");
    return s;
}

static void submit(struct dxgk *d, struct packet *p)
{
    unsigned epoch = d->epoch, pinned = 0;
    struct alloc *own = p->dma->alloc;
    NTSTATUS s = STATUS_SUCCESS;

    if (p->context->device->state != D3DKMT_DEVICEEXECUTION_ACTIVE || !dxgk_adapter_lock(d)) {
        fail_packet(d, p, D3DKMT_DEVICEEXECUTION_RESET);
        return;
    }
    for (; pinned < p->list_count && NT_SUCCESS(s); pinned++) {
        struct alloc *a = p->allocs[pinned];
        if (!a)
            continue;
        s = dxgk_vidmm_make_resident(d, a, p->dma->list[pinned].WriteOperation ? a->write_set : a->read_set);
        if (!NT_SUCCESS(s))
            break;
        a->pins++;
        p->dma->list[pinned].SegmentId = a->segment & 31;
        p->dma->list[pinned].PhysicalAddress = dxgk_vidmm_address(d, a);
    }
    if (own &&
        NT_SUCCESS(s)) /* last: the small one finds room between the large ones, but not they beside it */
        s = dxgk_vidmm_make_resident(d, own, own->read_set);
    if (NT_SUCCESS(s) && epoch == d->epoch && !d->resetting) {
        p->fence = d->sched.nodes[p->context->node].submitted + 1;
        s = patch(d, p);
    }
    for (unsigned i = 0; i < pinned; i++)
        if (p->allocs[i])
            p->allocs[i]->pins--;
    dxgk_adapter_unlock(d);
    if (epoch != d->epoch || d->resetting || d->state == DXGK_FAILED) {
        fail_packet(d, p, D3DKMT_DEVICEEXECUTION_RESET);
        return;
    }
    if (!NT_SUCCESS(s)) {
        dxgk_log_of(d, p->context->device->client, "dxgkrnl", 3, "a DMA buffer could not be prepared: %08x",
                    (unsigned)s);
        fail_packet(d, p,
                    s == STATUS_GRAPHICS_NO_VIDEO_MEMORY ? D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY
                                                         : D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
        return;
    }
    dxgk_node_next_fence(d, p);
    for (unsigned i = 0; i < p->list_count; i++)
        if (p->allocs[i])
            p->allocs[i]->busy++;
    if (own)
        own->busy++;
    dxgk_node_submit(d, p);
}

/* A more urgent context waits behind less urgent work: ask for the device. */
static void consider_preemption(struct dxgk *d, unsigned i)
{
    struct node *n = &d->sched.nodes[i];
    int running = -RANKS_OF_CLASS;

    if (n->preempting || n->hw_count < d->sched.hw_limit)
        return;
    for (struct packet *p = n->hw; p; p = p->next)
        if (rank(p->context) > running)
            running = rank(p->context);
    for (struct context *c = d->sched.contexts; c; c = c->next_all)
        if (c->node == i && c->queue && rank(c) > running && rank(c) > URGENT &&
            (c->queue->type == PACKET_RENDER || c->queue->type == PACKET_PRESENT)) {
            dxgk_node_preempt(d, i);
            return;
        }
}

/* The context stays while a thread has one of its packets in its hands. */
static void handle(struct dxgk *d, struct packet *p)
{
    struct context *c = p->context;

    INVARIANT(c->running);
    c->handling++;
    if (p->type == PACKET_FLIP)
        dxgk_display_flip(d, p);
    else
        submit(d, p);
    INVARIANT(c->handling);
    if (!--c->handling)
        dxgk_kernel_wake_all(d->kernel, &c->idle);
}

void dxgk_sched_pump(struct dxgk *d, unsigned i)
{
    struct node *n = &d->sched.nodes[i];
    struct packet *p;

    if (n->pumping)
        return; /* who does looks again after each packet; and of a node that is full, when one has ended */
    n->pumping = true;
    while (!d->resetting && d->state == DXGK_STARTED && (p = take(d, i))) {
        if (p->type == PACKET_WAIT)
            dxgk_packet_finish(d, p);
        else if (p->type == PACKET_SIGNAL)
            signal_packet(d, p);
        else
            handle(d, p);
    }
    if (!d->resetting && d->state == DXGK_STARTED)
        consider_preemption(d, i);
    n->pumping = false;
}

void dxgk_sched_pump_all(struct dxgk *d)
{
    uint64_t queued = 0;

    for (const struct context *c = d->sched.contexts; c; c = c->next_all)
        if (c->queue)
            queued |= UINT64_C(1) << c->node;
    for (; queued; queued &= queued - 1)
        dxgk_sched_pump(d, (unsigned)__builtin_ctzll(queued));
}

/* ---- ending -------------------------------------------------------------- */

static void drop_queue(struct context *c)
{
    while (c->queue) {
        struct packet *p = c->queue;
        c->queue = p->next;
        c->queued--;
        dxgk_packet_free(c->device->d, p);
    }
    c->queue_last = &c->queue;
}

void dxgk_sched_drop_context(struct context *c)
{
    struct dxgk *d = c->device->d;

    drop_queue(c);
    while (c->running && d->state != DXGK_FAILED)
        dxgk_kernel_wait(d->kernel, &c->idle, dxgk_kernel_now(d->kernel) + 10 * d->tdr.delay_ns);
    while (c->handling)
        dxgk_kernel_wait(d->kernel, &c->idle, LOOP_FOREVER);
    drop_queue(c);  /* what a preemption put back */
    if (c->running) /* FAILED: nothing will come back from the device */
        dxgk_node_forget_context(d, c);
    dxgk_context_free_dma(c);
    INVARIANT(!c->queue && !c->handling && !c->free_dma);
}

void dxgk_sched_drop_all(struct dxgk *d)
{
    for (unsigned i = 0; i < d->sched.num_nodes; i++)
        dxgk_node_drop(d, i);
    for (struct context *c = d->sched.contexts; c; c = c->next_all) {
        drop_queue(c);
        dxgk_context_wake(d, c);
        check(c);
    }
    dxgk_kernel_wake_all(d->kernel, &d->progress);
}
