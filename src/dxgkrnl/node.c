/* SPDX-License-Identifier: MIT */
/* node.c: what is at the device. See sched.h. */
#include "dxgkrnl/adapter.h"

#include "dxgkrnl/telemetry/flight.h"

/* ---- the list ------------------------------------------------------------ */

static unsigned kind(const struct packet *p)
{
    return p->type == PACKET_PAGING ? D3DKMT_SystemPagingBuffer : D3DKMT_ClientRenderBuffer;
}

/* Of sched.busy. */
static uint64_t bit(const struct dxgk *d, const struct node *n)
{
    return UINT64_C(1) << (n - d->sched.nodes);
}

/* See sched.h. */
static void check(const struct dxgk *d, const struct node *n)
{
    unsigned count = 0, paging = 0;

    for (const struct packet *p = n->hw; p; p = p->next, count++) {
        INVARIANT(p->dma && p->context->running);
        INVARIANT((INT)(p->fence - n->completed) > 0 && (INT)(p->fence - n->submitted) <= 0);
        INVARIANT(!p->next || (INT)(p->next->fence - p->fence) > 0); /* 2, 5 */
        paging += p->type == PACKET_PAGING;
    }
    INVARIANT(count == n->hw_count && paging == n->paging && !*n->hw_last); /* 5 */
    INVARIANT(n->hw_count - n->paging <= d->sched.hw_limit);                /* 3 */
    INVARIANT((INT)(n->submitted - n->completed) >= 0);                     /* 2 */
    INVARIANT(!n->preempting || (INT)(n->submitted - n->preempting) >= 0);
    INVARIANT(!n->timer.armed || (n->hw && d->tdr.level));
    INVARIANT(!n->hw == !(d->sched.busy & bit(d, n)));
}

static void begin_head(struct node *n, uint64_t now)
{
    n->head_start_ns = n->clock_ns = now;
    n->looked_ns = n->starved_ns = 0;
}

static void append(struct dxgk *d, struct packet *p)
{
    struct node *n = &d->sched.nodes[p->context->node];
    uint64_t now = dxgk_kernel_now(d->kernel);

    dxgk_metrics_submitted(d, p, now);
    p->next = NULL;
    *n->hw_last = p;
    n->hw_last = &p->next;
    n->hw_count++;
    d->sched.busy |= bit(d, n);
    n->paging += p->type == PACKET_PAGING;
    n->packets_submitted[kind(p)]++;
    if (n->last_context != p->context) {
        n->switches++;
        n->last_context = p->context;
    }
    DXGK_TRACE(d, DMA_START, dxgk_packet_process(p), p->context->handle, kind(p), p->fence, p->context->node);
    if (n->hw == p) {
        begin_head(n, now);
        dxgk_node_arm(d, p->context->node);
    }
}

/* Takes the entry at `at` out: it uses its allocations no longer. */
static struct packet *detach(struct dxgk *d, struct node *n, struct packet **at)
{
    struct packet *p = *at;

    *at = p->next;
    if (!*at)
        n->hw_last = at;
    if (!n->hw)
        d->sched.busy &= ~bit(d, n);
    n->hw_count--;
    n->paging -= p->type == PACKET_PAGING;
    for (unsigned i = 0; i < p->list_count; i++)
        if (p->allocs[i] && p->allocs[i]->busy)
            p->allocs[i]->busy--;
    if (p->dma->alloc && p->dma->alloc->busy)
        p->dma->alloc->busy--;
    return p;
}

static void expired(void *ctx)
{
    struct node *n = ctx;

    n->check = true;
    dxgk_adapter_kick_tdr(dxgk_kernel_ctx(dxgk_kernel_self(__func__)));
}

void dxgk_node_arm(struct dxgk *d, unsigned node)
{
    struct node *n = &d->sched.nodes[node];

    if (!n->hw || !d->tdr.level)
        dxgk_kernel_cancel(d->kernel, &n->timer);
    else
        dxgk_kernel_arm(d->kernel, &n->timer, dxgk_tdr_due(d, n), expired, n);
}

/* ---- submitting ---------------------------------------------------------- */

/* Whether somebody waits for `p`, and for nothing else: its client did so for everything before it. */
static bool is_awaited(struct dxgk *d, const struct packet *p)
{
    const struct context *c = p->context;

    return c->progress &&
           atomic_load_explicit(&c->progress->awaited, memory_order_relaxed) + 1 >= c->packets &&
           d->sched.nodes[c->node].hw == p && dxgk_kernel_is_live(d->kernel);
}

UINT dxgk_node_next_fence(struct dxgk *d, struct packet *p)
{
    return p->fence = ++d->sched.nodes[p->context->node].submitted;
}

static bool is_at_device(const struct node *n, const struct packet *p)
{
    const struct packet *i = n->hw;

    while (i && i != p)
        i = i->next;
    return i;
}

void dxgk_node_submit(struct dxgk *d, struct packet *p)
{
    DXGKARG_SUBMITCOMMAND args = {
        .hContext = p->context->driver,
        .DmaBufferSegmentId = dxgk_dma_segment(p->dma),
        .DmaBufferPhysicalAddress = dxgk_dma_address(d, p->dma),
        .DmaBufferSize = p->dma->size,
        .DmaBufferSubmissionEndOffset = p->dma_end,
        .pDmaBufferPrivateData = p->dma->priv,
        .DmaBufferPrivateDataSize = p->dma->priv_size,
        .DmaBufferPrivateDataSubmissionEndOffset = p->priv_end,
        .SubmissionFenceId = p->fence,
        .VidPnSourceId = p->source,
        .FlipInterval = p->interval,
        .Flags = p->flags,
    };
    struct node *n = &d->sched.nodes[p->context->node];
    struct device *dev = p->context->device;
    KIRQL old = dxgk_kernel_raise(d->kernel, DISPATCH_LEVEL);
    UINT fence = p->fence;
    bool expected;
    NTSTATUS s;

    INVARIANT(p->fence == n->submitted); /* 2 */
    append(d, p);
    bb_flight_event(d->flight, DXGK_FLIGHT_SUBMIT, fence, p->dma_end, dev->client ? dev->client->process : 0);
    expected = d->bus->poll_begin && is_awaited(d, p) && d->bus->poll_begin(d->bus->ctx);
    s = DDI_ARG_AT(d, DISPATCH_LEVEL, SubmitCommand, d->miniport, &args);
    if (is_at_device(n, p)) /* it may have reported its end already */
        dxgk_dma_kept(d, p->dma, "DxgkDdiSubmitCommand");
    if (expected)
        d->bus->poll_end(d->bus->ctx); /* before the IRQL drops: that is when the interrupt is taken */
    if (!NT_SUCCESS(s)) {
        /* The rules allow no failure here: the packet can never complete, and the device is lost. */
        dxgk_device_lose(dev, D3DKMT_DEVICEEXECUTION_STOPPED);
        dxgk_adapter_force_tdr(d);
    }
    dxgk_kernel_lower(d->kernel, old);
    check(d, n);
}

void dxgk_node_preempt(struct dxgk *d, unsigned i)
{
    struct node *n = &d->sched.nodes[i];
    DXGKARG_PREEMPTCOMMAND args = {.NodeOrdinal = i, .PreemptionFenceId = ++n->submitted};

    n->preempting = args.PreemptionFenceId;
    DDI_ARG_AT(d, DISPATCH_LEVEL, PreemptCommand, d->miniport, &args);
}

/* ---- completion ---------------------------------------------------------- */

/* Wakes the scheduler's thread only for a reason: on the way of every fence it would be in the way. */
static void kick_queued(struct dxgk *d)
{
    for (struct context *c = d->sched.contexts; c; c = c->next_all)
        if (c->queue) {
            dxgk_adapter_kick(d);
            return;
        }
}

/* A packet may wait for those of other nodes that were submitted before it, which the miniport need not say. Their time is not its own;
 * who hangs has the oldest. The timer finds out. */
static void restart_younger(struct dxgk *d, const struct packet *p, uint64_t now)
{
    for (uint64_t busy = d->sched.busy; busy; busy &= busy - 1) {
        struct node *n = &d->sched.nodes[__builtin_ctzll(busy)];
        if (n->hw->submitted_ns > p->submitted_ns) {
            n->clock_ns = now;
            n->looked_ns = n->starved_ns = 0;
        }
    }
}

static void retire_head(struct dxgk *d, struct node *n)
{
    struct packet *p = detach(d, n, &n->hw);
    struct context *c = p->context;
    uint64_t now = dxgk_kernel_now(d->kernel);

    bb_flight_event(d->flight, DXGK_FLIGHT_COMPLETE, p->fence, (now - n->head_start_ns) / 1000, 0);
    DXGK_TRACE(d, DMA_STOP, dxgk_packet_process(p), c->handle, kind(p), p->fence, false);
    n->busy_ns += now - n->head_start_ns;
    n->packets_completed[kind(p)]++;
    dxgk_metrics_completed(d, p, now);
    begin_head(n, now);
    restart_younger(d, p, now);
    if (p->retired)
        p->retired(d, p);
    c->running--;
    dxgk_packet_free(d, p);
    dxgk_context_wake(d, c);
}

void dxgk_node_retire_to(struct dxgk *d, unsigned i, UINT fence)
{
    struct node *n = &d->sched.nodes[i];

    check(d, n);
    while (n->hw && (INT)(n->hw->fence - fence) <= 0)
        retire_head(d, n);
    n->completed = fence;
    dxgk_node_arm(d, i);
    kick_queued(d);
    dxgk_kernel_wake_all(d->kernel, &d->progress);
    check(d, n);
}

static bool plausible(struct dxgk *d, UINT node, UINT fence, const char *what)
{
    struct node *n = &d->sched.nodes[node < MAX_NODES ? node : 0];

    if (node >= d->sched.num_nodes) {
        dxgk_interrupts_wrong(d, "%s for node %u, which does not exist", what, node);
        return false;
    }
    if ((INT)(fence - n->completed) <= 0 || (INT)(fence - n->submitted) > 0) {
        dxgk_interrupts_wrong(d, "%s of fence %u on node %u: completed is %u, submitted %u", what, fence,
                              node, n->completed, n->submitted);
        return false;
    }
    return true;
}

void dxgk_node_completed(struct dxgk *d, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    UINT node = data->DmaCompleted.NodeOrdinal, fence = data->DmaCompleted.SubmissionFenceId;

    if (plausible(d, node, fence, "DMA_COMPLETED"))
        dxgk_node_retire_to(d, node, fence);
}

void dxgk_node_faulted(struct dxgk *d, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    UINT node = data->DmaFaulted.NodeOrdinal, fence = data->DmaFaulted.FaultedFenceId;
    struct node *n;

    if (!plausible(d, node, fence, "DMA_FAULTED"))
        return;
    n = &d->sched.nodes[node];
    n->packets_faulted++;
    for (struct packet *p = n->hw; p; p = p->next) {
        struct device *dev = p->context->device;
        if (p->fence == fence && dev->state == D3DKMT_DEVICEEXECUTION_ACTIVE) {
            dxgk_device_lose(dev, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
            dxgk_log_of(
                d, dev->client, "Display", 4109,
                "a DMA buffer of process %llu faulted (fence %u, status %08x%s): its device is removed",
                dev->client ? (unsigned long long)dev->client->process : 0ull, fence,
                (unsigned)data->DmaFaulted.Status,
                p->dma && dxgk_dma_segment(p->dma) ? ", in an aperture as DmaBufferSegmentSet asks" : "");
        }
    }
    dxgk_node_retire_to(d, node, fence);
}

void dxgk_node_preempted(struct dxgk *d, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    UINT node = data->DmaPreempted.NodeOrdinal;
    struct node *n = &d->sched.nodes[node < d->sched.num_nodes ? node : 0];

    check(d, n);
    if (node >= d->sched.num_nodes || data->DmaPreempted.PreemptionFenceId != n->preempting ||
        !n->preempting) {
        dxgk_interrupts_wrong(d, "DMA_PREEMPTED with fence %u on node %u: %u was asked for",
                              data->DmaPreempted.PreemptionFenceId, node, n->preempting);
        return;
    }
    if ((INT)(data->DmaPreempted.LastCompletedFenceId - n->completed) > 0)
        dxgk_node_retire_to(d, node, data->DmaPreempted.LastCompletedFenceId);
    /* What did not run goes back to the front of its queue; the last at the device first, so that order is kept. */
    while (n->hw) {
        struct packet **last = &n->hw, *p;
        while ((*last)->next)
            last = &(*last)->next;
        p = detach(d, n, last);
        n->packets_preempted++;
        DXGK_TRACE(d, DMA_STOP, dxgk_packet_process(p), p->context->handle, kind(p), p->fence, true);
        p->next = p->context->queue;
        p->context->queue = p;
        if (!p->next)
            p->context->queue_last = &p->next;
        p->context->queued++;
        p->context->running--;
    }
    n->preempting = 0;
    n->completed = data->DmaPreempted.PreemptionFenceId;
    dxgk_node_arm(d, node);
    dxgk_adapter_kick(d);
    check(d, n);
}

bool dxgk_node_poll(struct dxgk *d, unsigned i)
{
    struct node *n = &d->sched.nodes[i];
    DXGKARG_QUERYCURRENTFENCE q = {.NodeOrdinal = i};
    struct judge j = {.d = d, .ddi = "DxgkDdiQueryCurrentFence"};
    unsigned epoch = d->epoch;

    check(d, n);
    if (!NT_SUCCESS(DDI_ARG(d, QueryCurrentFence, d->miniport, &q)) || epoch != d->epoch)
        return false;
    ANSWER(&j, ANSWER_BREAKS, &q, CurrentFence,
           (INT)(v - n->submitted) <= 0 && (v <= n->submitted || (INT)(v - n->completed) >= 0),
           "a fence that was submitted");
    if (!n->hw || (INT)(q.CurrentFence - n->hw->fence) < 0 || j.broken)
        return false;
    dxgk_kernel_interrupt_missed(d->kernel);
    dxgk_log(d, "dxgkrnl", 2, "an interrupt was lost: fence %u of node %u completed without one",
             q.CurrentFence, i);
    dxgk_node_retire_to(d, i, q.CurrentFence);
    check(d, n);
    return true;
}

/* ---- ending -------------------------------------------------------------- */

void dxgk_node_wait_idle(struct dxgk *d, unsigned i)
{
    while (d->sched.nodes[i].hw && d->state == DXGK_STARTED && !d->resetting)
        dxgk_kernel_wait(d->kernel, &d->progress, LOOP_FOREVER);
}

void dxgk_nodes_wait_idle(struct dxgk *d)
{
    for (unsigned i = 0; i < d->sched.num_nodes; i++)
        dxgk_node_wait_idle(d, i);
}

void dxgk_node_drop(struct dxgk *d, unsigned i)
{
    struct node *n = &d->sched.nodes[i];

    check(d, n);
    while (n->hw)
        retire_head(d, n);
    n->completed = n->submitted;
    n->preempting = 0;
    dxgk_kernel_cancel(d->kernel, &n->timer);
    check(d, n);
}

void dxgk_node_forget_context(struct dxgk *d, struct context *c)
{
    struct node *n = &d->sched.nodes[c->node];

    check(d, n);
    for (struct packet **at = &n->hw; *at;)
        if ((*at)->context == c)
            dxgk_packet_free(d, detach(d, n, at));
        else
            at = &(*at)->next;
    check(d, n);
}
