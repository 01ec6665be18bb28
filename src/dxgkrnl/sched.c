/* sched.c: the GPU scheduler.
 *
 *   sched_queue ─▶ context's queue ─take─▶ resident, Patch, SubmitCommand ─▶ at the device ─┬─ DMA_COMPLETED ─▶ retired
 *                        ▲                                                                  ├─ DMA_FAULTED ───▶ retired, device lost
 *                        └─────────────────────────────────────────── DMA_PREEMPTED ────────┤
 *                                                                                           └─ reset ─────────▶ dropped
 *
 * Invariants:
 *  1. Packets of one context reach the device, and take effect, in the order they were queued in.
 *  2. Fences of a node rise by one a submission; completions are accepted only between the last completed and the last
 *     submitted one: anything else is a violation.
 *  3. At most HwQueuedRenderPacketGroupLimit packets of a node are at the device; paging, which frees memory for them,
 *     comes on top.
 *  4. A waiting packet (synchronisation, flip) holds up only its own context.
 */
#include "dxgkrnl/flight.h"
#include "dxgkrnl/private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void worker(void *arg)
{
    struct dxgk *d = arg;

    while (!d->stopping) {
        if (!d->work_pending)
            kernel_wait(d->kernel, &d->work, LOOP_FOREVER);
        d->work_pending = false;
        if (d->stopping)
            break;
        display_work(d);
        vidmm_reap(d);
        for (unsigned i = 0; i < d->num_nodes; i++)
            sched_pump(d, i);
    }
    d->workers--;
    kernel_wake_all(d->kernel, &d->stopped);
}

static void tdr_worker(void *arg)
{
    struct dxgk *d = arg;

    while (!d->stopping) {
        if (!d->tdr_pending)
            kernel_wait(d->kernel, &d->tdr_work, LOOP_FOREVER);
        d->tdr_pending = false;
        if (!d->stopping)
            tdr_work(d);
    }
    d->workers--;
    kernel_wake_all(d->kernel, &d->stopped);
}

void sched_kick(struct dxgk *d)
{
    d->work_pending = true;
    kernel_wake_all(d->kernel, &d->work);
}

void sched_start(struct dxgk *d)
{
    memset(d->nodes, 0, sizeof(d->nodes));
    for (unsigned i = 0; i < d->num_nodes; i++)
        d->nodes[i].hw_last = &d->nodes[i].hw;
    d->stopping = d->resetting = d->work_pending = d->tdr_pending = false;
    d->record_count = 0;
    if (!kernel_spawn(d->kernel, "vidsch", worker, d))
        d->workers++;
    if (!kernel_spawn(d->kernel, "tdr", tdr_worker, d))
        d->workers++;
}

void sched_stop(struct dxgk *d)
{
    for (unsigned i = 0; i < d->num_nodes && d->state == DXGK_STARTED; i++)
        sched_wait_node_idle(d, i);
    faults_stop(d);
    while (d->devices) /* what clients left open, and the system's */
        device_destroy(d->devices);
    d->system = NULL;
    d->system_context = NULL;
    sched_drop_all(d);
    d->stopping = true;
    while (d->workers) {
        kernel_wake_all(d->kernel, &d->work);
        kernel_wake_all(d->kernel, &d->tdr_work);
        kernel_wake_all(d->kernel, &d->progress);
        if (!kernel_wait(d->kernel, &d->stopped, kernel_now(d->kernel) + NSEC_PER_SEC))
            break; /* a worker is stuck in a DDI */
    }
}

/* ---- packets and buffers ------------------------------------------------- */

struct dma *sched_dma(struct context *c, UINT list_size, UINT patch_size)
{
    struct dma *dma = c->free_dma;

    UNREFERENCED_PARAMETER(list_size);
    UNREFERENCED_PARAMETER(patch_size);
    if (dma) {
        c->free_dma = dma->next;
        c->num_free--;
        return dma;
    }
    dma = calloc(1, sizeof(*dma));
    if (!dma)
        return NULL;
    dma->priv_size = c->info.DmaBufferPrivateDataSize;
    dma->priv = calloc(1, dma->priv_size + 1);
    dma->list = calloc(c->info.AllocationListSize + 3, sizeof(*dma->list));
    dma->patch = calloc(c->info.PatchLocationListSize + 1, sizeof(*dma->patch));
    if (!dma->priv || !dma->list || !dma->patch ||
        physmem_alloc(c->device->d, c->info.DmaBufferSize, &dma->mem)) {
        free(dma->priv);
        free(dma->list);
        free(dma->patch);
        free(dma);
        return NULL;
    }
    return dma;
}

static void destroy_dma(struct dxgk *d, struct dma *dma)
{
    physmem_free(d, &dma->mem);
    free(dma->priv);
    free(dma->list);
    free(dma->patch);
    free(dma);
}

void sched_dma_free(struct context *c, struct dma *dma)
{
    if (c->num_free == MAX_FREE_BUFFERS) {
        destroy_dma(c->device->d, dma);
        return;
    }
    dma->next = c->free_dma;
    c->free_dma = dma;
    c->num_free++;
}

void sync_unref(struct syncobj *s)
{
    if (!s || --s->refs)
        return;
    if (s->event_fd >= 0)
        close(s->event_fd);
    free(s);
}

void packet_free(struct dxgk *d, struct packet *p)
{
    if (d->doomed)
        sched_kick(d); /* it may have been the last to name one */
    for (unsigned i = 0; i < p->sync_count; i++)
        sync_unref(p->sync[i]);
    if (p->dma && p->frees_dma)
        sched_dma_free(p->context, p->dma);
    if (p->event_fd >= 0)
        close(p->event_fd);
    if (p->counted)
        context_packet_done(p->context);
    free(p->allocs);
    free(p);
}

static void wake_context(struct dxgk *d, struct context *c)
{
    kernel_wake_all(d->kernel, &c->space);
    if (!c->queued && !c->running)
        kernel_wake_all(d->kernel, &c->idle);
}

void sched_queue(struct context *c, struct packet *p)
{
    struct dxgk *d = c->device->d;

    p->next = NULL;
    p->context = c;
    p->node = c->node;
    p->counted = true;
    context_packet_queued(c);
    *c->queue_last = p;
    c->queue_last = &p->next;
    c->queued++;
    if (kernel_irql(d->kernel) < DISPATCH_LEVEL)
        sched_pump(d, c->node);
    else
        sched_kick(d);
}

/* A packet without work for the device has taken effect. */
void sched_finish_soft(struct dxgk *d, struct packet *p)
{
    struct context *c = p->context;

    c->running--;
    packet_free(d, p);
    wake_context(d, c);
    sched_kick(d);
    kernel_wake_all(d->kernel, &d->progress);
}

/* ---- choosing ------------------------------------------------------------ */

static bool wait_satisfied(struct packet *p)
{
    for (unsigned i = 0; i < p->sync_count; i++) {
        struct syncobj *s = p->sync[i];
        if (s->type == D3DDDI_FENCE ? s->value < p->value : !s->value)
            return false;
    }
    for (unsigned i = 0; i < p->sync_count; i++)
        if (p->sync[i]->type != D3DDDI_FENCE)
            p->sync[i]->value--;
    return true;
}

static bool eligible(struct dxgk *d, struct node *n, struct context *c)
{
    struct packet *p = c->queue;

    switch (p->type) {
    case PACKET_RENDER:
    case PACKET_PRESENT:
    case PACKET_PAGING:
        return n->hw_count < d->hw_limit && !n->preempting;
    case PACKET_FLIP:
    case PACKET_SIGNAL:
        return !c->running;
    case PACKET_WAIT:
        return !c->running && wait_satisfied(p);
    }
    return false;
}

static struct packet *take(struct dxgk *d, unsigned i)
{
    struct context *best = NULL;
    struct packet *p;

    for (struct context *c = d->contexts; c; c = c->next_all) {
        if (c->node != i || !c->queue)
            continue;
        if (best && (c->priority < best->priority ||
                     (c->priority == best->priority && c->last_run >= best->last_run)))
            continue;
        if (eligible(d, &d->nodes[i], c)) {
            best = c;
            if (c->queue->type == PACKET_WAIT)
                break; /* its semaphores are taken */
        }
    }
    if (!best)
        return NULL;
    p = best->queue;
    best->queue = p->next;
    if (!best->queue)
        best->queue_last = &best->queue;
    best->queued--;
    best->running++;
    best->last_run = ++d->use_counter;
    return p;
}

static void signal_sync(struct dxgk *d, struct packet *p)
{
    uint64_t one = 1;

    for (unsigned i = 0; i < p->sync_count; i++) {
        struct syncobj *s = p->sync[i];
        if (s->type == D3DDDI_FENCE)
            s->value = p->value;
        else if (s->type == D3DDDI_CPU_NOTIFICATION && s->event_fd >= 0 && write(s->event_fd, &one, 8) < 0)
            log_debug("dxgkrnl", "a notification event is full");
        else if (s->value < s->max)
            s->value++;
    }
    if (p->event_fd >= 0 && write(p->event_fd, &one, 8) < 0)
        log_debug("dxgkrnl", "a notification event is full");
    for (unsigned i = 0; i < d->num_nodes; i++)
        d->nodes[i].again = true;
    sched_finish_soft(d, p);
}

/* ---- submitting ---------------------------------------------------------- */

static void append_hw(struct dxgk *d, struct packet *p)
{
    struct node *n = &d->nodes[p->node];

    p->next = NULL;
    *n->hw_last = p;
    n->hw_last = &p->next;
    n->hw_count++;
    n->packets_submitted[p->type == PACKET_PAGING ? D3DKMT_SystemPagingBuffer : D3DKMT_ClientRenderBuffer]++;
    if (n->last_context != p->context) {
        n->switches++;
        n->last_context = p->context;
    }
    if (n->hw == p) {
        n->head_start_ns = kernel_now(d->kernel);
        tdr_arm(d, p->node);
    }
}

/* Whether somebody waits for `p`, and for nothing else: its client did so for everything before it. */
static bool is_awaited(struct dxgk *d, const struct packet *p)
{
    const struct context *c = p->context;

    return c->progress &&
           atomic_load_explicit(&c->progress->awaited, memory_order_relaxed) + 1 >= c->packets &&
           d->nodes[p->node].hw == p && kernel_is_live(d->kernel);
}

static void submit_now(struct dxgk *d, struct packet *p)
{
    DXGKARG_SUBMITCOMMAND args = {
        .hContext = p->context->driver,
        .DmaBufferPhysicalAddress.QuadPart = (LONGLONG)p->dma->mem.pa,
        .DmaBufferSize = (UINT)p->dma->mem.size,
        .DmaBufferSubmissionStartOffset = p->dma_start,
        .DmaBufferSubmissionEndOffset = p->dma_end,
        .pDmaBufferPrivateData = p->dma->priv,
        .DmaBufferPrivateDataSize = p->dma->priv_size,
        .DmaBufferPrivateDataSubmissionStartOffset = p->priv_start,
        .DmaBufferPrivateDataSubmissionEndOffset = p->priv_end,
        .SubmissionFenceId = p->fence,
        .VidPnSourceId = p->source,
        .FlipInterval = p->interval,
        .Flags = p->flags,
    };
    struct device *dev = p->context->device;
    KIRQL old = kernel_raise(d->kernel, DISPATCH_LEVEL);
    UINT fence = p->fence;
    bool expected;
    NTSTATUS s;

    append_hw(d, p);
    bb_flight_event(d->flight, DXGK_FLIGHT_SUBMIT, fence, p->dma_end - p->dma_start,
                    dev->client ? dev->client->process : 0);
    expected = d->bus->expect && is_awaited(d, p) && d->bus->expect(d->bus->ctx);
    s = DDI_AT(d, DISPATCH_LEVEL, SubmitCommand, d->miniport, &args);
    if (expected)
        d->bus->collect(d->bus->ctx); /* before the IRQL drops: that is when the interrupt is taken */
    if (!NT_SUCCESS(s)) {
        /* The rules allow no failure here: the packet can never complete, and the device is lost. */
        kernel_violation(d->kernel, "DxgkDdiSubmitCommand returned %08x for fence %u", (unsigned)s, fence);
        device_set_state(dev, D3DKMT_DEVICEEXECUTION_STOPPED);
        d->tdr_forced = true;
        sched_kick_tdr(d);
    }
    kernel_lower(d->kernel, old);
}

static void fail_packet(struct dxgk *d, struct packet *p, D3DKMT_DEVICEEXECUTION_STATE why)
{
    struct context *c = p->context;

    if (c->device->state == D3DKMT_DEVICEEXECUTION_ACTIVE)
        device_set_state(c->device, why);
    c->running--;
    packet_free(d, p);
    wake_context(d, c);
}

static NTSTATUS patch(struct dxgk *d, struct packet *p)
{
    DXGKARG_PATCH args = {
        .hContext = p->context->driver,
        .DmaBufferPhysicalAddress.QuadPart = (LONGLONG)p->dma->mem.pa,
        .pDmaBuffer = p->dma->mem.va,
        .DmaBufferSize = (UINT)p->dma->mem.size,
        .DmaBufferSubmissionStartOffset = p->dma_start,
        .DmaBufferSubmissionEndOffset = p->dma_end,
        .pDmaBufferPrivateData = p->dma->priv,
        .DmaBufferPrivateDataSize = p->dma->priv_size,
        .DmaBufferPrivateDataSubmissionStartOffset = p->priv_start,
        .DmaBufferPrivateDataSubmissionEndOffset = p->priv_end,
        .pAllocationList = p->dma->list,
        .AllocationListSize = p->list_count,
        .pPatchLocationList = p->dma->patch,
        .PatchLocationListSize = p->patch_count,
        .PatchLocationListSubmissionLength = p->patch_count,
        .SubmissionFenceId = p->fence,
    };

    args.Flags.Present = p->type == PACKET_PRESENT;
    return DDI(d, Patch, d->miniport, &args);
}

static void submit(struct dxgk *d, struct packet *p)
{
    unsigned epoch = d->epoch, pinned = 0;
    NTSTATUS s = STATUS_SUCCESS;

    if (p->context->device->state != D3DKMT_DEVICEEXECUTION_ACTIVE || !adapter_lock(d)) {
        fail_packet(d, p, D3DKMT_DEVICEEXECUTION_RESET);
        return;
    }
    for (; pinned < p->list_count && NT_SUCCESS(s); pinned++) {
        struct alloc *a = p->allocs[pinned];
        if (!a)
            continue;
        s = vidmm_make_resident(d, a, p->dma->list[pinned].WriteOperation ? a->write_set : a->read_set);
        if (!NT_SUCCESS(s))
            break;
        a->pins++;
        p->dma->list[pinned].SegmentId = a->segment & 31;
        p->dma->list[pinned].PhysicalAddress = vidmm_address(d, a);
    }
    if (NT_SUCCESS(s) && epoch == d->epoch && !d->resetting) {
        p->fence = d->nodes[p->node].submitted + 1;
        s = patch(d, p);
    }
    for (unsigned i = 0; i < pinned; i++)
        if (p->allocs[i])
            p->allocs[i]->pins--;
    adapter_unlock(d);
    if (epoch != d->epoch || d->resetting || d->state == DXGK_FAILED) {
        fail_packet(d, p, D3DKMT_DEVICEEXECUTION_RESET);
        return;
    }
    if (!NT_SUCCESS(s)) {
        dxgk_log(d, "dxgkrnl", 3, "a DMA buffer could not be prepared: %08x", (unsigned)s);
        fail_packet(d, p,
                    s == STATUS_GRAPHICS_NO_VIDEO_MEMORY ? D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY
                                                         : D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
        return;
    }
    p->fence = ++d->nodes[p->node].submitted;
    for (unsigned i = 0; i < p->list_count; i++)
        if (p->allocs[i])
            p->allocs[i]->busy++;
    submit_now(d, p);
}

/* A more urgent context waits behind less urgent work: ask for the device. */
static void consider_preemption(struct dxgk *d, unsigned i)
{
    struct node *n = &d->nodes[i];
    DXGKARG_PREEMPTCOMMAND args = {.NodeOrdinal = i};
    INT running = -8;

    if (n->preempting || n->hw_count < d->hw_limit)
        return;
    for (struct packet *p = n->hw; p; p = p->next)
        if (p->context && p->context->priority > running)
            running = p->context->priority;
    for (struct context *c = d->contexts; c; c = c->next_all)
        if (c->node == i && c->queue && c->priority > running && c->priority > 0 &&
            (c->queue->type == PACKET_RENDER || c->queue->type == PACKET_PRESENT)) {
            n->preempting = args.PreemptionFenceId = ++n->submitted;
            DDI_AT(d, DISPATCH_LEVEL, PreemptCommand, d->miniport, &args);
            return;
        }
}

/* The context stays while a thread has one of its packets in its hands. */
static void handle(struct dxgk *d, struct packet *p)
{
    struct context *c = p->context;

    c->handling++;
    if (p->type == PACKET_FLIP)
        display_flip(d, p);
    else
        submit(d, p);
    if (!--c->handling)
        kernel_wake_all(d->kernel, &c->idle);
}

void sched_pump(struct dxgk *d, unsigned i)
{
    struct node *n = &d->nodes[i];

    if (n->pumping) {
        n->again = true;
        return;
    }
    n->pumping = true;
    do {
        struct packet *p;
        n->again = false;
        while (!d->resetting && d->state == DXGK_STARTED && (p = take(d, i))) {
            if (p->type == PACKET_WAIT)
                sched_finish_soft(d, p);
            else if (p->type == PACKET_SIGNAL)
                signal_sync(d, p);
            else
                handle(d, p);
        }
        if (!d->resetting && d->state == DXGK_STARTED)
            consider_preemption(d, i);
    } while (n->again && !d->resetting && d->state == DXGK_STARTED);
    n->pumping = false;
}

/* ---- paging -------------------------------------------------------------- */

NTSTATUS sched_submit_paging(struct dxgk *d, DXGKARG_BUILDPAGINGBUFFER *args)
{
    struct context *c = d->system_context;
    unsigned epoch = d->epoch;
    NTSTATUS s;

    if (!c)
        return STATUS_DEVICE_NOT_READY;
    args->hSystemContext = c->driver;
    do {
        struct packet *p = calloc(1, sizeof(*p));
        struct dma *dma = p ? sched_dma(c, 0, 0) : NULL;
        uint64_t limit;
        UINT fence, size;

        if (!dma) {
            free(p);
            return STATUS_NO_MEMORY;
        }
        size = d->paging_size < dma->mem.size ? d->paging_size : (UINT)dma->mem.size;
        args->pDmaBuffer = dma->mem.va;
        args->DmaSize = size;
        args->pDmaBufferPrivateData = dma->priv;
        args->DmaBufferPrivateDataSize = dma->priv_size;
        s = DDI(d, BuildPagingBuffer, d->miniport, args);
        *p = (struct packet){.type = PACKET_PAGING,
                             .context = c,
                             .dma = dma,
                             .frees_dma = true,
                             .node = c->node,
                             .event_fd = -1};
        p->dma_end = (UINT)((uint8_t *)args->pDmaBuffer - (uint8_t *)dma->mem.va);
        p->priv_end = (UINT)((uint8_t *)args->pDmaBufferPrivateData - (uint8_t *)dma->priv);
        if (!p->dma_end || (!NT_SUCCESS(s) && s != STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER)) {
            packet_free(d, p);
            if (s == STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER)
                return STATUS_NO_MEMORY; /* an empty buffer is not enough */
            continue;
        }
        p->flags.Paging = 1;
        p->fence = fence = ++d->nodes[c->node].submitted;
        c->running++;
        submit_now(d, p);
        /* This may be the thread that would notice a time-out, so the wait ends by itself. */
        limit = kernel_now(d->kernel) + 2 * d->tdr_delay_ns;
        while ((INT)(d->nodes[c->node].completed - fence) < 0 && epoch == d->epoch && d->state != DXGK_FAILED)
            if (!kernel_wait(d->kernel, &d->progress, limit) && !tdr_poll(d, c->node))
                return STATUS_IO_TIMEOUT;
        if (epoch != d->epoch || d->state == DXGK_FAILED)
            return STATUS_DEVICE_REMOVED;
    } while (s == STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER);
    return s;
}

/* ---- completion ---------------------------------------------------------- */

/* Wakes the scheduler's thread only for a reason: on the way of every fence it would be in the way. */
static void kick_queued(struct dxgk *d)
{
    for (struct context *c = d->contexts; c; c = c->next_all)
        if (c->queue) {
            sched_kick(d);
            return;
        }
}

static void retire_head(struct dxgk *d, struct node *n)
{
    struct packet *p = n->hw;
    struct context *c = p->context;
    uint64_t now = kernel_now(d->kernel);

    n->hw = p->next;
    if (!n->hw)
        n->hw_last = &n->hw;
    n->hw_count--;
    bb_flight_event(d->flight, DXGK_FLIGHT_COMPLETE, p->fence, (now - n->head_start_ns) / 1000, 0);
    n->busy_ns += now - n->head_start_ns;
    n->packets_completed[p->type == PACKET_PAGING ? D3DKMT_SystemPagingBuffer : D3DKMT_ClientRenderBuffer]++;
    n->head_start_ns = now;
    for (unsigned i = 0; i < p->list_count; i++)
        if (p->allocs && p->allocs[i] && p->allocs[i]->busy)
            p->allocs[i]->busy--;
    if (p->flags.Flip)
        display_flipped(d, p);
    c->running--;
    packet_free(d, p);
    wake_context(d, c);
}

void sched_retire_to(struct dxgk *d, unsigned i, UINT fence)
{
    struct node *n = &d->nodes[i];

    while (n->hw && (INT)(n->hw->fence - fence) <= 0)
        retire_head(d, n);
    n->completed = fence;
    tdr_arm(d, i);
    kick_queued(d);
    kernel_wake_all(d->kernel, &d->progress);
}

static bool plausible(struct dxgk *d, UINT node, UINT fence, const char *what)
{
    struct node *n = &d->nodes[node < MAX_NODES ? node : 0];

    if (node >= d->num_nodes) {
        kernel_violation(d->kernel, "%s for node %u, which does not exist", what, node);
        return false;
    }
    if ((INT)(fence - n->completed) <= 0 || (INT)(fence - n->submitted) > 0) {
        kernel_violation(d->kernel, "%s of fence %u on node %u: completed is %u, submitted %u", what, fence,
                         node, n->completed, n->submitted);
        return false;
    }
    return true;
}

void sched_notify(struct dxgk *d, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    struct record *r;

    if (d->record_count == MAX_RECORDS) {
        kernel_violation(d->kernel, "DxgkCbNotifyInterrupt %d times without DxgkCbNotifyDpc", MAX_RECORDS);
        return;
    }
    r = &d->records[(d->record_head + d->record_count++) % MAX_RECORDS];
    r->data = *data;
    r->time_ns = data->InterruptType == DXGK_INTERRUPT_CRTC_VSYNC ? kernel_now(d->kernel) : 0;
}

static void faulted(struct dxgk *d, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    UINT node = data->DmaFaulted.NodeOrdinal, fence = data->DmaFaulted.FaultedFenceId;
    struct node *n;

    if (!plausible(d, node, fence, "DMA_FAULTED"))
        return;
    n = &d->nodes[node];
    n->packets_faulted++;
    for (struct packet *p = n->hw; p; p = p->next)
        if (p->fence == fence && p->context->device->state == D3DKMT_DEVICEEXECUTION_ACTIVE) {
            device_set_state(p->context->device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
            dxgk_log(d, "Display", 4109,
                     "a DMA buffer of process %llu faulted (fence %u, status %08x): its device is removed",
                     p->context->device->client ? (unsigned long long)p->context->device->client->process
                                                : 0ull,
                     fence, (unsigned)data->DmaFaulted.Status);
        }
    sched_retire_to(d, node, fence);
}

static void preempted(struct dxgk *d, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    UINT node = data->DmaPreempted.NodeOrdinal;
    struct node *n = &d->nodes[node < d->num_nodes ? node : 0];

    if (node >= d->num_nodes || data->DmaPreempted.PreemptionFenceId != n->preempting || !n->preempting) {
        kernel_violation(d->kernel, "DMA_PREEMPTED with fence %u: %u was asked for",
                         data->DmaPreempted.PreemptionFenceId, n->preempting);
        return;
    }
    if ((INT)(data->DmaPreempted.LastCompletedFenceId - n->completed) > 0)
        sched_retire_to(d, node, data->DmaPreempted.LastCompletedFenceId);
    /* What did not run goes back to the front of its queue; the last at the device first, so that order is kept. */
    while (n->hw) {
        struct packet **last = &n->hw, *p;
        while ((*last)->next)
            last = &(*last)->next;
        p = *last;
        *last = NULL;
        n->hw_last = last;
        n->hw_count--;
        n->packets_preempted++;
        p->flags.Resubmission = 1;
        for (unsigned i = 0; i < p->list_count; i++)
            if (p->allocs && p->allocs[i] && p->allocs[i]->busy)
                p->allocs[i]->busy--;
        p->next = p->context->queue;
        p->context->queue = p;
        if (!p->next)
            p->context->queue_last = &p->next;
        p->context->queued++;
        p->context->running--;
    }
    n->hw_last = &n->hw;
    n->preempting = 0;
    n->completed = data->DmaPreempted.PreemptionFenceId;
    tdr_arm(d, node);
    sched_kick(d);
}

void sched_dpc(struct dxgk *d)
{
    while (d->record_count) {
        struct record r = d->records[d->record_head];

        d->record_head = (d->record_head + 1) % MAX_RECORDS;
        d->record_count--;
        switch (r.data.InterruptType) {
        case DXGK_INTERRUPT_DMA_COMPLETED:
            if (plausible(d, r.data.DmaCompleted.NodeOrdinal, r.data.DmaCompleted.SubmissionFenceId,
                          "DMA_COMPLETED"))
                sched_retire_to(d, r.data.DmaCompleted.NodeOrdinal, r.data.DmaCompleted.SubmissionFenceId);
            break;
        case DXGK_INTERRUPT_DMA_PREEMPTED:
            preempted(d, &r.data);
            break;
        case DXGK_INTERRUPT_DMA_FAULTED:
            faulted(d, &r.data);
            break;
        case DXGK_INTERRUPT_CRTC_VSYNC:
            bb_flight_event(d->flight, DXGK_FLIGHT_VBLANK, r.data.CrtcVsync.VidPnTargetId,
                            (uint64_t)r.data.CrtcVsync.PhysicalAddress.QuadPart, 0);
            fault_vblank(d, &r.data, r.time_ns);
            break;
        default:
            kernel_violation(d->kernel, "DxgkCbNotifyInterrupt with the interrupt type %d",
                             (int)r.data.InterruptType);
        }
    }
}

/* ---- ending -------------------------------------------------------------- */

void sched_wait_node_idle(struct dxgk *d, unsigned i)
{
    while (d->nodes[i].hw && d->state == DXGK_STARTED && !d->resetting)
        kernel_wait(d->kernel, &d->progress, LOOP_FOREVER);
}

static void drop_queue(struct context *c)
{
    struct dxgk *d = c->device->d;

    while (c->queue) {
        struct packet *p = c->queue;
        c->queue = p->next;
        c->queued--;
        packet_free(d, p);
    }
    c->queue_last = &c->queue;
}

void sched_drop_context(struct context *c)
{
    struct dxgk *d = c->device->d;

    drop_queue(c);
    while (c->running && d->state != DXGK_FAILED)
        kernel_wait(d->kernel, &c->idle, kernel_now(d->kernel) + 10 * d->tdr_delay_ns);
    while (c->handling)
        kernel_wait(d->kernel, &c->idle, LOOP_FOREVER);
    drop_queue(c);    /* what a preemption put back */
    if (c->running) { /* FAILED: nothing will come back from the device */
        struct node *n = &d->nodes[c->node];
        struct packet **pp = &n->hw;
        while (*pp) {
            struct packet *p = *pp;
            if (p->context != c) {
                pp = &p->next;
                continue;
            }
            *pp = p->next;
            n->hw_count--;
            packet_free(d, p);
        }
        n->hw_last = pp;
    }
    while (c->free_dma) {
        struct dma *dma = c->free_dma;
        c->free_dma = dma->next;
        destroy_dma(d, dma);
    }
}

void sched_drop_all(struct dxgk *d)
{
    display_drop_flips(d, NULL);
    for (unsigned i = 0; i < d->num_nodes; i++) {
        struct node *n = &d->nodes[i];
        while (n->hw)
            retire_head(d, n);
        n->completed = n->submitted;
        n->preempting = 0;
        kernel_cancel(d->kernel, &n->timer);
    }
    d->record_count = 0;
    for (struct context *c = d->contexts; c; c = c->next_all) {
        drop_queue(c);
        wake_context(d, c);
    }
    kernel_wake_all(d->kernel, &d->progress);
}
