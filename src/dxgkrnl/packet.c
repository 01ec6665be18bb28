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
    free(dma->given);
    free(dma);
}

static bool alloc_dma(struct context *c, struct dma *dma)
{
    struct dxgk *d = c->device->d;

    dma->size = c->info.DmaBufferSize;
    if (!c->info.DmaBufferSegmentSet) {
        if (dxgk_physmem_alloc(d, dma->size + ANSWERS_GUARD, &dma->mem))
            return false;
    } else { /* which may be as large as its segment: guarded is what its last page has left */
        dma->alloc = dxgk_vidmm_create_dma(d, dma->size, c->info.DmaBufferSegmentSet);
        if (!dma->alloc)
            return false;
        dma->mem = dma->alloc->backing;
    }
    dxgk_answers_guard(dma->mem.va, dma->size, dma->mem.size - dma->size);
    return true;
}

void dxgk_dma_lend(struct dma *dma, UINT list)
{
    dma->lent = (UINT)(list * sizeof(*dma->list));
    INVARIANT(dma->lent <= dma->list_size);
    dxgk_answers_guard(dma->list, dma->lent, ANSWERS_GUARD);
}

bool dxgk_dma_kept(struct dxgk *d, const struct dma *dma, const char *ddi)
{
    bool kept = dxgk_answers_kept_behind(d, ddi, "pDmaBuffer, at byte", dma->mem.va, dma->size,
                                         dma->mem.size - dma->size);

    kept &= dxgk_answers_kept(d, ddi, "pDmaBufferPrivateData, at byte", dma->priv, dma->priv_size);
    kept &= dxgk_answers_kept(d, ddi, "pAllocationList, at byte", dma->list, dma->lent);
    return kept & dxgk_answers_kept(d, ddi, "pPatchLocationListOut, at byte", dma->patch, dma->patch_size);
}

void dxgk_dma_give(struct dma *dma, UINT list, UINT patches)
{
    memcpy(dma->given, dma->list, list * sizeof(*dma->list));
    memcpy(dma->given + dma->list_size, dma->patch, patches * sizeof(*dma->patch));
}

/* One list of them, back as it was. */
static void take_list(struct dxgk *d, const char *ddi, const char *name, void *list, const void *given,
                      size_t size, size_t entry)
{
    const uint8_t *now = list, *then = given;
    size_t at = 0;

    if (!memcmp(list, given, size))
        return;
    while (now[at] == then[at])
        at++;
    dxgk_kernel_violation(d->kernel, "%s wrote into %s[%zu], at its byte %zu, which it has to read only", ddi,
                          name, at / entry, at % entry);
    memcpy(list, given, size);
}

void dxgk_dma_take(struct dxgk *d, struct dma *dma, UINT list, UINT patches, const char *ddi)
{
    take_list(d, ddi, "pAllocationList", dma->list, dma->given, list * sizeof(*dma->list),
              sizeof(*dma->list));
    take_list(d, ddi, "pPatchLocationList", dma->patch, dma->given + dma->list_size,
              patches * sizeof(*dma->patch), sizeof(*dma->patch));
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
    dma->list_size = (UINT)((c->info.AllocationListSize + DXGK_PRESENT_MAX_INDEX + 1) * sizeof(*dma->list));
    dma->patch_size = (UINT)(c->info.PatchLocationListSize * sizeof(*dma->patch));
    dma->list = dxgk_answers_room(dma->list_size);
    dma->patch = dxgk_answers_room(dma->patch_size);
    dma->given = malloc((size_t)dma->list_size + dma->patch_size);
    if (dxgk_quota_take(c->device->d, c->device->client, QUOTA_DMA_BYTES, c->info.DmaBufferSize))
        dma->counted = c->info.DmaBufferSize;
    if (!dma->priv || !dma->list || !dma->patch || !dma->given || !dma->counted || !alloc_dma(c, dma)) {
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
    if (p->dma)
        dxgk_dma_lend(p->dma, list);
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
