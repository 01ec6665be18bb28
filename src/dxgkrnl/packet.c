/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/adapter.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void destroy_dma(struct context *c, struct dma *dma)
{
    INVARIANT(c->num_dma && c->num_free < c->num_dma);
    c->num_dma--;
    dxgk_quota_give(c->device->d, c->device->client, QUOTA_DMA_BYTES, dma->counted);
    if (dma->alloc)
        dxgk_vidmm_destroy_dma(c->device->d, dma->alloc);
    else
        dxgk_physmem_free(c->device->d, &dma->mem);
    free(dma->priv);
    free(dma->list);
    free(dma->patch);
    free(dma);
}

static bool alloc_dma(struct context *c, struct dma *dma)
{
    struct dxgk *d = c->device->d;

    if (!c->info.DmaBufferSegmentSet)
        return !dxgk_physmem_alloc(d, c->info.DmaBufferSize, &dma->mem);
    dma->alloc = dxgk_vidmm_create_dma(d, c->info.DmaBufferSize, c->info.DmaBufferSegmentSet);
    if (dma->alloc)
        dma->mem = dma->alloc->backing;
    return dma->alloc;
}

UINT dxgk_dma_segment(const struct dma *dma)
{
    return dma->alloc ? dma->alloc->segment : 0;
}

PHYSICAL_ADDRESS dxgk_dma_address(struct dxgk *d, const struct dma *dma)
{
    return dma->alloc ? dxgk_vidmm_address(d, dma->alloc)
                      : (PHYSICAL_ADDRESS){.QuadPart = (LONGLONG)dma->mem.pa};
}

static struct dma *get_dma(struct context *c)
{
    struct dma *dma = c->free_dma;

    if (dma) {
        c->free_dma = dma->next;
        c->num_free--;
        return dma;
    }
    /* Some each context can have; deep queues share what is left of a half, so that there are some for who comes next. */
    if (c->num_dma >= MAX_FREE_BUFFERS &&
        dxgk_quota_is_scarce(c->device->d, QUOTA_DMA_BYTES, c->info.DmaBufferSize))
        return NULL;
    dma = calloc(1, sizeof(*dma));
    if (!dma)
        return NULL;
    c->num_dma++;
    dma->priv_size = c->info.DmaBufferPrivateDataSize;
    dma->priv = dxgk_answers_room(dma->priv_size);
    dma->list = calloc(c->info.AllocationListSize + 3, sizeof(*dma->list));
    dma->patch = dxgk_answers_room(c->info.PatchLocationListSize * sizeof(*dma->patch));
    if (dxgk_quota_take(c->device->d, c->device->client, QUOTA_DMA_BYTES, c->info.DmaBufferSize))
        dma->counted = c->info.DmaBufferSize;
    if (!dma->priv || !dma->list || !dma->patch || !dma->counted || !alloc_dma(c, dma)) {
        destroy_dma(c, dma);
        return NULL;
    }
    return dma;
}

/* At any IRQL, at which none can be taken out of an aperture: these stay. */
static void put_dma(struct context *c, struct dma *dma)
{
    if (!dma)
        return;
    if (c->num_free >= MAX_FREE_BUFFERS && !dxgk_dma_segment(dma)) {
        destroy_dma(c, dma);
        return;
    }
    dma->next = c->free_dma;
    c->free_dma = dma;
    c->num_free++;
}

bool dxgk_context_has_dma(struct context *c)
{
    struct dma *dma = get_dma(c);

    put_dma(c, dma);
    return dma;
}

void dxgk_context_free_dma(struct context *c)
{
    while (c->free_dma) {
        struct dma *dma = c->free_dma;
        c->free_dma = dma->next;
        c->num_free--;
        destroy_dma(c, dma);
    }
}

static bool has_dma(enum packet_type type)
{
    return type == PACKET_RENDER || type == PACKET_PRESENT || type == PACKET_PAGING;
}

/* A packet, and what its context says of its packets. */
static void check(const struct packet *p)
{
    const struct context *c = p->context;

    INVARIANT(has_dma(p->type) == (p->dma != NULL));
    INVARIANT(p->sync_count <= D3DDDI_MAX_OBJECT_WAITED_ON && (!p->sync_count || !p->dma));
    INVARIANT(p->event_fd < 0 || p->type == PACKET_SIGNAL);
    INVARIANT(p->type != PACKET_FLIP || (p->list_count == 1 && p->allocs[0]));
    INVARIANT(!c->num_free == !c->free_dma &&
              (c->num_free <= MAX_FREE_BUFFERS || c->info.DmaBufferSegmentSet));
    INVARIANT(!c->queued == !c->queue && !*c->queue_last);
    INVARIANT(c->packets_done + p->counted <= c->packets);
}

struct packet *dxgk_packet_create(struct context *c, enum packet_type type, UINT list)
{
    struct packet *p = malloc(sizeof(*p) + list * sizeof(p->allocs[0]));

    if (!p)
        return NULL;
    *p = (struct packet){.type = type, .context = c, .list_count = list, .event_fd = -1};
    memset(p->allocs, 0, list * sizeof(p->allocs[0]));
    p->dma = has_dma(type) ? get_dma(c) : NULL;
    if (p->dma || !has_dma(type))
        return p;
    free(p);
    return NULL;
}

void dxgk_packet_free(struct dxgk *d, struct packet *p)
{
    check(p);
    if (d->vidmm.doomed)
        dxgk_adapter_kick(d); /* it may have been the last to name one */
    for (unsigned i = 0; i < p->sync_count; i++)
        dxgk_sync_unref(p->sync[i]);
    put_dma(p->context, p->dma);
    if (p->event_fd >= 0) {
        dxgk_quota_give(d, p->context->device->client, QUOTA_DESCRIPTORS, 1);
        close(p->event_fd);
    }
    if (p->counted) {
        DXGK_TRACE(d, QUEUE_STOP, dxgk_packet_process(p), p->context->handle, p->type, p->sequence);
        dxgk_context_packet_done(p->context);
    }
    free(p);
}

uint64_t dxgk_packet_process(const struct packet *p)
{
    const struct dxgk_client *c = p->context->device->client;

    return c ? c->process : 0;
}

void dxgk_context_wake(struct dxgk *d, struct context *c)
{
    dxgk_kernel_wake_all(d->kernel, &c->space);
    if (!c->queued && !c->running)
        dxgk_kernel_wake_all(d->kernel, &c->idle);
}

void dxgk_packet_finish(struct dxgk *d, struct packet *p)
{
    struct context *c = p->context;

    INVARIANT(c->running && !p->dma);
    c->running--;
    dxgk_packet_free(d, p);
    dxgk_context_wake(d, c);
    dxgk_adapter_kick(d);
    dxgk_kernel_wake_all(d->kernel, &d->progress);
}
