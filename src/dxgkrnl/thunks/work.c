/* SPDX-License-Identifier: MIT */
/* work.c: the D3DKMT thunks for rendering, presents, locks, synchronisation and the display. */
#include "dxgkrnl/thunks/thunks.h"

#include <string.h>
#include <unistd.h>

enum { MAX_LIST = 4096, MOST_PASSES = 64 };

static bool names(const struct packet *p, const struct alloc *a)
{
    for (unsigned i = 0; i < p->list_count; i++)
        if (p->allocs[i] == a)
            return true;
    return false;
}

static bool queued_use(struct dxgk *d, const struct alloc *a)
{
    for (struct context *x = d->sched.contexts; x; x = x->next_all)
        for (struct packet *p = x->queue; p; p = p->next)
            if (names(p, a))
                return true;
    return false;
}

/* Waits until the context has room for one more packet; where it needs a DMA buffer and none is to be had, until one of its own is done. */
static NTSTATUS make_room(struct dxgk_client *c, D3DKMT_HANDLE handle, bool dma)
{
    struct dxgk *d = c->d;

    for (;;) {
        struct context *x = dxgk_handle_get(d, handle, HANDLE_CONTEXT, c);
        NTSTATUS s;
        if (!x)
            return STATUS_INVALID_HANDLE;
        s = dxgk_thunk_usable(d, x->device);
        if (!NT_SUCCESS(s))
            return s;
        if (c->cancelled)
            return STATUS_CANCELLED;
        if (x->queued < MAX_QUEUED && (!dma || dxgk_context_has_dma(x) || !x->num_dma))
            return STATUS_SUCCESS;
        dxgk_kernel_wait(d->kernel, &x->space, LOOP_FOREVER);
    }
}

/* ---- Render -------------------------------------------------------------- */

/* The client's list is in memory that it can change under us: every entry is read once. */
static NTSTATUS resolve(struct dxgk_client *c, struct context *x, struct dma *dma, struct alloc **allocs,
                        UINT count)
{
    struct dxgk *d = c->d;

    for (UINT i = 0; i < count; i++) {
        const volatile D3DDDI_ALLOCATIONLIST *in = &x->list[i];
        D3DKMT_HANDLE h = in->hAllocation;
        UINT flags = in->Value;
        struct open_alloc *o = h ? dxgk_handle_get(d, h, HANDLE_ALLOC, c) : NULL;
        memset(&dma->list[i], 0, sizeof(dma->list[i]));
        if (!h)
            continue;
        if (!o)
            return STATUS_INVALID_HANDLE;
        if (o->device != x->device)
            return STATUS_GRAPHICS_WRONG_ALLOCATION_DEVICE;
        allocs[i] = o->alloc;
        dma->list[i].hDeviceSpecificAllocation = o->driver;
        dma->list[i].WriteOperation = flags & 1;
        if (o->alloc->segment) {
            dma->list[i].SegmentId = o->alloc->segment & 31;
            dma->list[i].PhysicalAddress = dxgk_vidmm_address(d, o->alloc);
        }
    }
    return STATUS_SUCCESS;
}

/* How far `ddi` got in the buffers that it was given. False: past them, or a patch location is nowhere in them. */
static bool take_ends(struct dxgk *d, const struct context *x, struct packet *p, const char *ddi,
                      const void *dma, const void *priv, const D3DDDI_PATCHLOCATIONLIST *patches,
                      UINT list_size)
{
    if (!dxgk_dma_kept(d, p->dma, ddi))
        return false;
    if (!dxgk_answers_end(d, ddi, "pDmaBuffer", p->dma->mem.va, x->info.DmaBufferSize, dma, &p->dma_end) ||
        !dxgk_answers_end(d, ddi, "pDmaBufferPrivateData", p->dma->priv, p->dma->priv_size, priv,
                          &p->priv_end) ||
        !dxgk_answers_end(d, ddi, "pPatchLocationListOut", p->dma->patch, p->dma->patch_size, patches,
                          &p->patch_count))
        return false;
    p->patch_count /= sizeof(*patches);
    for (const D3DDDI_PATCHLOCATIONLIST *l = p->dma->patch; l < p->dma->patch + p->patch_count; l++)
        if (l->AllocationIndex >= list_size || l->PatchOffset > p->dma_end) {
            dxgk_kernel_violation(
                d->kernel, "%s: patch location %u is of allocation %u of %u, at %u of %u bytes", ddi,
                (unsigned)(l - p->dma->patch), l->AllocationIndex, list_size, l->PatchOffset, p->dma_end);
            return false;
        }
    return true;
}

static NTSTATUS render_pass(struct dxgk_client *c, struct context *x, const D3DKMT_RENDER *arg,
                            UINT *multipass)
{
    struct dxgk *d = c->d;
    struct packet *p = dxgk_packet_create(x, PACKET_RENDER, arg->AllocationCount);
    DXGKARG_RENDER r;
    NTSTATUS s;

    if (!p)
        return STATUS_NO_MEMORY;
    s = resolve(c, x, p->dma, p->allocs, arg->AllocationCount);
    if (!NT_SUCCESS(s))
        goto drop;
    r = (DXGKARG_RENDER){.pCommand = (uint8_t *)x->command + arg->CommandOffset,
                         .CommandLength = arg->CommandLength,
                         .pDmaBuffer = p->dma->mem.va,
                         .DmaSize = x->info.DmaBufferSize,
                         .pDmaBufferPrivateData = p->dma->priv,
                         .DmaBufferPrivateDataSize = p->dma->priv_size,
                         .pAllocationList = p->dma->list,
                         .AllocationListSize = arg->AllocationCount,
                         .pPatchLocationListIn = x->patch,
                         .PatchLocationListInSize = arg->PatchLocationCount,
                         .pPatchLocationListOut = p->dma->patch,
                         .PatchLocationListOutSize = x->info.PatchLocationListSize,
                         .MultipassOffset = *multipass,
                         .DmaBufferSegmentId = dxgk_dma_segment(p->dma),
                         .DmaBufferPhysicalAddress = dxgk_dma_address(d, p->dma)};
    s = DDI_ARG(d, Render, x->driver, &r);
    *multipass = r.MultipassOffset;
    if ((NT_SUCCESS(s) || s == STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER) &&
        !take_ends(d, x, p, "DxgkDdiRender", r.pDmaBuffer, r.pDmaBufferPrivateData, r.pPatchLocationListOut,
                   arg->AllocationCount))
        s = STATUS_INTERNAL_ERROR;
    if ((!NT_SUCCESS(s) && s != STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER) ||
        (s == STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER && !p->dma_end))
        goto drop;
    if (x->device->state != D3DKMT_DEVICEEXECUTION_ACTIVE) {
        s = STATUS_DEVICE_REMOVED;
        goto drop;
    }
    p->flags.NullRendering = arg->Flags.NullRendering;
    dxgk_sched_queue(x, p);
    return s == STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER ? STATUS_PENDING : STATUS_SUCCESS;
drop:
    dxgk_packet_free(d, p);
    dxgk_context_wake(d, x); /* who waits for a DMA buffer may have that one */
    return s;
}

NTSTATUS dxgk_Render(struct dxgk_client *c, D3DKMT_RENDER *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct context *x = dxgk_handle_get(d, arg->hContext, HANDLE_CONTEXT, c);
    UINT multipass = 0, passes = 0;
    NTSTATUS s;

    if (!x)
        return dxgk_thunk_leave(d, STATUS_INVALID_HANDLE);
    if (arg->CommandLength > x->info.DmaBufferSize ||
        arg->CommandOffset > x->info.DmaBufferSize - arg->CommandLength ||
        arg->AllocationCount > x->info.AllocationListSize ||
        arg->PatchLocationCount > x->info.PatchLocationListSize || arg->BroadcastContextCount ||
        arg->Flags.PresentRedirected || arg->Flags.RenderKm || arg->Flags.Reserved)
        return dxgk_thunk_leave(d, STATUS_INVALID_PARAMETER);
    do {
        s = make_room(c, arg->hContext, true);
        if (NT_SUCCESS(s))
            s = render_pass(c, x, arg, &multipass);
        if (s == STATUS_PENDING && ++passes > arg->CommandLength + MOST_PASSES) {
            dxgk_kernel_violation(d->kernel,
                                  "DxgkDdiRender wants another DMA buffer after %u, for %u bytes of commands",
                                  passes, arg->CommandLength);
            s = STATUS_INTERNAL_ERROR;
        }
    } while (s == STATUS_PENDING);
    x = dxgk_handle_get(d, arg->hContext, HANDLE_CONTEXT, c);
    if (x) {
        arg->pNewCommandBuffer = x->command;
        arg->NewCommandBufferSize = x->info.DmaBufferSize;
        arg->pNewAllocationList = x->list;
        arg->NewAllocationListSize = x->info.AllocationListSize;
        arg->pNewPatchLocationList = x->patch;
        arg->NewPatchLocationListSize = x->info.PatchLocationListSize;
        arg->QueuedBufferCount = x->queued + x->running;
    }
    return dxgk_thunk_leave(d, s);
}

/* ---- Present ------------------------------------------------------------- */

static NTSTATUS present_flip(struct dxgk_client *c, struct context *x, const D3DKMT_PRESENT *arg,
                             struct open_alloc *src)
{
    struct dxgk *d = c->d;
    struct source *s = &d->display.sources[arg->VidPnSourceId];
    struct packet *p;

    if (!s->committed || src->alloc->size < (uint64_t)s->stride * s->mode.Height)
        return STATUS_GRAPHICS_PRESENT_MODE_CHANGED;
    if (!s->visible)
        return STATUS_GRAPHICS_PRESENT_OCCLUDED;
    if (s->owner && s->owner != x->device && s->owner_type == D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE)
        return STATUS_GRAPHICS_PRESENT_OCCLUDED;
    if (!c->seated)
        return STATUS_GRAPHICS_PRESENT_OCCLUDED; /* as in a session that is not the console's */
    p = dxgk_packet_create(x, PACKET_FLIP, 1);
    if (!p)
        return STATUS_NO_MEMORY;
    p->allocs[0] = src->alloc;
    p->source = arg->VidPnSourceId;
    p->interval = arg->FlipInterval;
    dxgk_sched_queue(x, p);
    return STATUS_SUCCESS;
}

static NTSTATUS present_dma(struct dxgk_client *c, struct context *x, const D3DKMT_PRESENT *arg,
                            struct open_alloc *src, struct open_alloc *dst)
{
    struct dxgk *d = c->d;
    struct packet *p = dxgk_packet_create(x, PACKET_PRESENT, DXGK_PRESENT_DESTINATION_INDEX + 1);
    const RECT *rects = arg->SubRectCnt ? arg->pSrcSubRects : &arg->DstRect;
    const UINT num_rects = arg->SubRectCnt ? arg->SubRectCnt : 1;
    DXGKARG_PRESENT r;
    RECT *lent;
    NTSTATUS s;

    if (!p)
        return STATUS_NO_MEMORY;
    lent = dxgk_inputs_lend(rects, num_rects * sizeof(*rects));
    memset(p->dma->list, 0, 3 * sizeof(p->dma->list[0]));
    if (src) {
        p->allocs[DXGK_PRESENT_SOURCE_INDEX] = src->alloc;
        p->dma->list[DXGK_PRESENT_SOURCE_INDEX].hDeviceSpecificAllocation = src->driver;
    }
    if (dst) {
        p->allocs[DXGK_PRESENT_DESTINATION_INDEX] = dst->alloc;
        p->dma->list[DXGK_PRESENT_DESTINATION_INDEX].hDeviceSpecificAllocation = dst->driver;
        p->dma->list[DXGK_PRESENT_DESTINATION_INDEX].WriteOperation = 1;
    }
    for (int i = 1; i <= 2; i++)
        if (p->allocs[i] && p->allocs[i]->segment) {
            p->dma->list[i].SegmentId = p->allocs[i]->segment & 31;
            p->dma->list[i].PhysicalAddress = dxgk_vidmm_address(d, p->allocs[i]);
        }
    r = (DXGKARG_PRESENT){.pDmaBuffer = p->dma->mem.va,
                          .DmaSize = x->info.DmaBufferSize,
                          .pDmaBufferPrivateData = p->dma->priv,
                          .DmaBufferPrivateDataSize = p->dma->priv_size,
                          .pAllocationList = p->dma->list,
                          .pPatchLocationListOut = p->dma->patch,
                          .PatchLocationListOutSize = x->info.PatchLocationListSize,
                          .Color = arg->Color,
                          .DstRect = arg->DstRect,
                          .SrcRect = arg->SrcRect,
                          .SubRectCnt = num_rects,
                          .pDstSubRects = lent,
                          .FlipInterval = arg->FlipInterval,
                          .DmaBufferSegmentId = dxgk_dma_segment(p->dma),
                          .DmaBufferPhysicalAddress = dxgk_dma_address(d, p->dma)};
    r.Flags.Blt = arg->Flags.Blt;
    r.Flags.ColorFill = arg->Flags.ColorFill;
    r.Flags.Flip = arg->Flags.Flip;
    s = DDI_ARG(d, Present, x->driver, &r);
    dxgk_inputs_take_back(d, "DxgkDdiPresent", "pDstSubRects", lent, rects, num_rects * sizeof(*rects));
    if (NT_SUCCESS(s) && !take_ends(d, x, p, "DxgkDdiPresent", r.pDmaBuffer, r.pDmaBufferPrivateData,
                                    r.pPatchLocationListOut, DXGK_PRESENT_MAX_INDEX + 1))
        s = STATUS_INTERNAL_ERROR;
    if (!NT_SUCCESS(s)) {
        dxgk_packet_free(d, p);
        return s;
    }
    p->flags.Present = 1;
    p->flags.Flip = arg->Flags.Flip;
    p->retired = arg->Flags.Flip ? dxgk_display_flipped : NULL;
    p->source = arg->VidPnSourceId;
    p->interval = arg->FlipInterval;
    dxgk_sched_queue(x, p);
    return s;
}

static unsigned flips_of(struct dxgk *d, const struct context *x)
{
    unsigned n = 0;

    for (const struct packet *p = x->queue; p; p = p->next)
        n += p->type == PACKET_FLIP || p->flags.Flip;
    for (unsigned i = 0; i < d->display.num_sources; i++)
        for (const struct packet *p = d->display.sources[i].flips; p; p = p->next)
            n += p->context == x;
    for (const struct packet *p = d->sched.nodes[x->node].hw; p; p = p->next)
        n += p->context == x && p->flags.Flip;
    return n;
}

static NTSTATUS present(struct dxgk_client *c, const D3DKMT_PRESENT *arg)
{
    struct dxgk *d = c->d;
    struct context *x = dxgk_handle_get(d, arg->hContext, HANDLE_CONTEXT, c);
    struct open_alloc *src = dxgk_handle_get(d, arg->hSource, HANDLE_ALLOC, c),
                      *dst = dxgk_handle_get(d, arg->hDestination, HANDLE_ALLOC, c);
    NTSTATUS s;

    if (!x || (arg->hSource && !src) || (arg->hDestination && !dst))
        return STATUS_INVALID_HANDLE;
    if ((src && src->device != x->device) || (dst && dst->device != x->device))
        return STATUS_GRAPHICS_WRONG_ALLOCATION_DEVICE;
    if (arg->Flags.Blt + arg->Flags.ColorFill + arg->Flags.Flip != 1 || arg->BroadcastContextCount ||
        (arg->Flags.Flip && !src) || (arg->Flags.Blt && (!src || !dst)) || (arg->Flags.ColorFill && !dst) ||
        arg->SubRectCnt > MAX_LIST || (arg->SubRectCnt && !arg->pSrcSubRects) ||
        (UINT)arg->FlipInterval > D3DDDI_FLIPINTERVAL_FOUR)
        return STATUS_INVALID_PARAMETER;
    if (arg->VidPnSourceId >= d->display.num_sources)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    do {
        s = make_room(c, arg->hContext, !(arg->Flags.Flip && d->caps.FlipCaps.FlipOnVSyncMmIo));
        if (!NT_SUCCESS(s))
            return s;
        if (!arg->Flags.Flip || flips_of(d, x) < MAX_PRESENTS)
            break;
        if (arg->Flags.FlipDoNotWait)
            return STATUS_GRAPHICS_TRY_AGAIN_LATER;
        dxgk_kernel_wait(d->kernel, &x->space, LOOP_FOREVER);
    } while (1);
    /* The handles may have gone while waiting. */
    if ((arg->hSource && dxgk_handle_get(d, arg->hSource, HANDLE_ALLOC, c) != src) ||
        (arg->hDestination && dxgk_handle_get(d, arg->hDestination, HANDLE_ALLOC, c) != dst))
        return STATUS_INVALID_HANDLE;
    if (arg->Flags.Flip && d->caps.FlipCaps.FlipOnVSyncMmIo)
        return present_flip(c, x, arg, src);
    return present_dma(c, x, arg, src, dst);
}

NTSTATUS dxgk_Present(struct dxgk_client *c, CONST D3DKMT_PRESENT *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);

    return dxgk_thunk_leave(d, present(c, arg));
}

/* ---- Lock ---------------------------------------------------------------- */

static NTSTATUS lock_memory(struct dxgk *d, struct alloc *a, void **data)
{
    const DXGK_SEGMENTDESCRIPTOR *g;
    NTSTATUS s;

    *data = a->backing.va;
    if (!(a->read_set | a->write_set))
        return STATUS_SUCCESS;
    for (unsigned i = 0; i < d->vidmm.num_segments; i++)
        if ((a->read_set | a->write_set) >> i & 1 && !d->vidmm.segments[i].desc.Flags.Aperture)
            goto local;
    return STATUS_SUCCESS; /* apertures show the backing pages themselves */
local:
    if (!dxgk_adapter_lock(d))
        return STATUS_DEVICE_REMOVED;
    s = dxgk_vidmm_make_resident(d, a, a->read_set | a->write_set);
    dxgk_adapter_unlock(d);
    if (!NT_SUCCESS(s))
        return s;
    g = &d->vidmm.segments[a->segment - 1].desc;
    if (g->Flags.Aperture)
        return STATUS_SUCCESS;
    if (!g->Flags.CpuVisible)
        return STATUS_GRAPHICS_CANT_LOCK_MEMORY;
    *data = NULL;
    if (d->bus->mmio_map)
        *data = d->bus->mmio_map(d->bus->ctx, (uint64_t)g->CpuTranslatedAddress.QuadPart + a->offset,
                                 a->backing.size);
    if (!*data)
        *data = d->bus->dma_ptr(d->bus->ctx, (uint64_t)g->CpuTranslatedAddress.QuadPart + a->offset,
                                a->backing.size);
    return *data ? STATUS_SUCCESS : STATUS_GRAPHICS_CANT_LOCK_MEMORY;
}

NTSTATUS dxgk_Lock(struct dxgk_client *c, D3DKMT_LOCK *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    NTSTATUS s;

    for (;;) {
        struct device *dev = dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c);
        struct open_alloc *o = dxgk_handle_get(d, arg->hAllocation, HANDLE_ALLOC, c);
        if (!dev || !o)
            return dxgk_thunk_leave(d, STATUS_INVALID_HANDLE);
        if (o->device != dev)
            return dxgk_thunk_leave(d, STATUS_GRAPHICS_WRONG_ALLOCATION_DEVICE);
        s = dxgk_thunk_usable(d, dev);
        if (NT_SUCCESS(s) && (!o->alloc->flags.CpuVisible || arg->NumPages || arg->Flags.Reserved))
            s = STATUS_INVALID_PARAMETER;
        if (NT_SUCCESS(s) && c->cancelled)
            s = STATUS_CANCELLED;
        if (!NT_SUCCESS(s))
            return dxgk_thunk_leave(d, s);
        if (arg->Flags.IgnoreSync || (!o->alloc->busy && !queued_use(d, o->alloc))) {
            s = lock_memory(d, o->alloc, &arg->pData);
            if (NT_SUCCESS(s)) {
                o->locks++;
                o->alloc->pins++;
                d->vidmm.locks++;
            }
            return dxgk_thunk_leave(d, s);
        }
        if (arg->Flags.DonotWait)
            return dxgk_thunk_leave(d, STATUS_GRAPHICS_ALLOCATION_BUSY);
        dxgk_kernel_wait(d->kernel, &d->progress, LOOP_FOREVER);
    }
}

NTSTATUS dxgk_lock_fd(struct dxgk_client *c, D3DKMT_HANDLE allocation, int *fd, uint64_t *offset,
                      uint64_t *size)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct open_alloc *o = dxgk_handle_get(d, allocation, HANDLE_ALLOC, c);
    NTSTATUS s = STATUS_INVALID_HANDLE;

    if (o) {
        *size = o->alloc->size;
        *fd = d->bus->dma_fd
                  ? d->bus->dma_fd(d->bus->ctx, o->alloc->backing.pa, o->alloc->backing.size, offset)
                  : -1;
        s = *fd >= 0 ? STATUS_SUCCESS : STATUS_GRAPHICS_CANT_LOCK_MEMORY;
    }
    return dxgk_thunk_leave(d, s);
}

NTSTATUS dxgk_Unlock(struct dxgk_client *c, CONST D3DKMT_UNLOCK *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct device *dev = dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c);
    NTSTATUS s = dev ? STATUS_SUCCESS : STATUS_INVALID_HANDLE;

    if (dev && (arg->NumAllocations > MAX_LIST || (arg->NumAllocations && !arg->phAllocations)))
        s = STATUS_INVALID_PARAMETER;
    for (UINT i = 0; NT_SUCCESS(s) && i < arg->NumAllocations; i++) {
        struct open_alloc *o = dxgk_handle_get(d, arg->phAllocations[i], HANDLE_ALLOC, c);
        if (!o || o->device != dev)
            s = STATUS_INVALID_HANDLE;
        else if (!o->locks)
            s = STATUS_INVALID_PARAMETER;
        else {
            o->locks--;
            o->alloc->pins--;
        }
    }
    return dxgk_thunk_leave(d, s);
}

/* ---- synchronisation ----------------------------------------------------- */

NTSTATUS dxgk_CreateSynchronizationObject2(struct dxgk_client *c, D3DKMT_CREATESYNCHRONIZATIONOBJECT2 *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct device *dev = dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c);
    struct syncobj *o;
    NTSTATUS s = dev ? dxgk_thunk_usable(d, dev) : STATUS_INVALID_HANDLE;

    if (!NT_SUCCESS(s))
        return dxgk_thunk_leave(d, s);
    s = dxgk_sync_create(dev, &arg->Info, &o);
    if (!NT_SUCCESS(s))
        return dxgk_thunk_leave(d, s);
    arg->hSyncObject = o->handle = dxgk_handle_new(d, HANDLE_SYNC, c, o);
    if (!o->handle) {
        dxgk_sync_close(o);
        s = STATUS_NO_MEMORY;
    }
    return dxgk_thunk_leave(d, s);
}

NTSTATUS dxgk_DestroySynchronizationObject(struct dxgk_client *c,
                                           CONST D3DKMT_DESTROYSYNCHRONIZATIONOBJECT *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct syncobj *o = dxgk_handle_get(d, arg->hSyncObject, HANDLE_SYNC, c);

    if (!o)
        return dxgk_thunk_leave(d, STATUS_INVALID_HANDLE);
    dxgk_sync_close(o);
    return dxgk_thunk_leave(d, STATUS_SUCCESS);
}

static NTSTATUS queue_sync(struct dxgk_client *c, D3DKMT_HANDLE context, enum packet_type type, UINT count,
                           const D3DKMT_HANDLE *handles, uint64_t value, int event_fd)
{
    struct dxgk *d = c->d;
    struct context *x = dxgk_handle_get(d, context, HANDLE_CONTEXT, c);
    struct packet *p;
    NTSTATUS s;

    if (!x)
        return STATUS_INVALID_HANDLE;
    if (count > D3DDDI_MAX_OBJECT_WAITED_ON || (!count && event_fd < 0))
        return STATUS_INVALID_PARAMETER;
    for (UINT i = 0; i < count; i++) {
        struct syncobj *o = dxgk_handle_get(d, handles[i], HANDLE_SYNC, c);
        if (!o)
            return STATUS_INVALID_HANDLE;
        if (type == PACKET_WAIT && o->type == D3DDDI_CPU_NOTIFICATION)
            return STATUS_INVALID_PARAMETER;
    }
    s = make_room(c, context, false);
    if (!NT_SUCCESS(s))
        return s;
    p = dxgk_packet_create(x, type, 0);
    if (!p)
        return STATUS_NO_MEMORY;
    for (UINT i = 0; i < count; i++) {
        struct syncobj *o = dxgk_handle_get(d, handles[i], HANDLE_SYNC, c);
        if (!o) { /* destroyed while waiting for room */
            dxgk_packet_free(d, p);
            return STATUS_INVALID_HANDLE;
        }
        o->refs++;
        p->sync[p->sync_count++] = o;
    }
    p->value = value;
    if (event_fd >= 0) {
        bool room = dxgk_quota_take(d, c, QUOTA_DESCRIPTORS, 1);
        p->event_fd = room ? dxgk_sync_dup_event(event_fd) : -1;
        if (p->event_fd < 0) {
            dxgk_quota_give(d, c, QUOTA_DESCRIPTORS, room);
            dxgk_packet_free(d, p);
            return room ? STATUS_INVALID_HANDLE : STATUS_INSUFFICIENT_RESOURCES;
        }
    }
    dxgk_sched_queue(x, p);
    return STATUS_SUCCESS;
}

NTSTATUS dxgk_WaitForSynchronizationObject2(struct dxgk_client *c,
                                            CONST D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2 *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);

    return dxgk_thunk_leave(d, queue_sync(c, arg->hContext, PACKET_WAIT, arg->ObjectCount,
                                          arg->ObjectHandleArray, arg->Fence.FenceValue, -1));
}

NTSTATUS dxgk_SignalSynchronizationObject2(struct dxgk_client *c,
                                           CONST D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    int fd = arg->Flags.EnqueueCpuEvent ? (int)(intptr_t)arg->CpuEventHandle : -1;

    if (arg->BroadcastContextCount || arg->Flags.Value >> 2 ||
        (arg->Flags.EnqueueCpuEvent && (arg->ObjectCount || fd < 0)))
        return dxgk_thunk_leave(d, dxgk_handle_get(d, arg->hContext, HANDLE_CONTEXT, c)
                                       ? STATUS_INVALID_PARAMETER
                                       : STATUS_INVALID_HANDLE);
    return dxgk_thunk_leave(d, queue_sync(c, arg->hContext, PACKET_SIGNAL, arg->ObjectCount,
                                          arg->ObjectHandleArray, arg->Fence.FenceValue, fd));
}

NTSTATUS dxgk_WaitForIdle(struct dxgk_client *c, CONST D3DKMT_WAITFORIDLE *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);

    for (;;) {
        struct device *dev = dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c);
        bool busy = false;
        NTSTATUS s = dev ? dxgk_thunk_usable(d, dev) : STATUS_INVALID_HANDLE;
        if (NT_SUCCESS(s) && c->cancelled)
            s = STATUS_CANCELLED;
        if (!NT_SUCCESS(s))
            return dxgk_thunk_leave(d, s);
        for (struct context *x = dev->contexts; x; x = x->next)
            busy |= x->queued || x->running;
        if (!busy)
            return dxgk_thunk_leave(d, STATUS_SUCCESS);
        dxgk_kernel_wait(d->kernel, &d->progress, LOOP_FOREVER);
    }
}

/* ---- display ------------------------------------------------------------- */

NTSTATUS dxgk_WaitForVerticalBlankEvent(struct dxgk_client *c, CONST D3DKMT_WAITFORVERTICALBLANKEVENT *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct device *dev = arg->hDevice ? dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c) : NULL;
    NTSTATUS s;

    if (!dxgk_handle_get(d, arg->hAdapter, HANDLE_ADAPTER, c) || (arg->hDevice && !dev))
        return dxgk_thunk_leave(d, STATUS_INVALID_HANDLE);
    if (arg->VidPnSourceId >= d->display.num_sources)
        return dxgk_thunk_leave(d, STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE);
    s = dxgk_thunk_usable(d, dev);
    if (NT_SUCCESS(s))
        s = dxgk_display_wait_vblank(c, arg->VidPnSourceId, dev);
    return dxgk_thunk_leave(d, s);
}

NTSTATUS dxgk_GetScanLine(struct dxgk_client *c, D3DKMT_GETSCANLINE *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    DXGKARG_GETSCANLINE g = {0};
    NTSTATUS s;

    if (!dxgk_handle_get(d, arg->hAdapter, HANDLE_ADAPTER, c))
        return dxgk_thunk_leave(d, STATUS_INVALID_HANDLE);
    if (arg->VidPnSourceId >= d->display.num_sources || !d->display.sources[arg->VidPnSourceId].committed)
        return dxgk_thunk_leave(d, STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE);
    s = dxgk_thunk_usable(d, NULL);
    g.VidPnTargetId = d->display.sources[arg->VidPnSourceId].target;
    if (NT_SUCCESS(s))
        s = DDI_ARG(d, GetScanLine, d->miniport, &g);
    if (NT_SUCCESS(s))
        dxgk_answers_boolean(d, "DxgkDdiGetScanLine", "InVerticalBlank", g.InVerticalBlank);
    arg->InVerticalBlank = g.InVerticalBlank;
    arg->ScanLine = g.ScanLine;
    return dxgk_thunk_leave(d, s);
}

NTSTATUS dxgk_GetDisplayModeList(struct dxgk_client *c, D3DKMT_GETDISPLAYMODELIST *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    NTSTATUS s = STATUS_SUCCESS;
    struct source *src;

    if (!dxgk_handle_get(d, arg->hAdapter, HANDLE_ADAPTER, c))
        return dxgk_thunk_leave(d, STATUS_INVALID_HANDLE);
    if (arg->VidPnSourceId >= d->display.num_sources)
        return dxgk_thunk_leave(d, STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE);
    src = &d->display.sources[arg->VidPnSourceId];
    if (arg->pModeList && arg->ModeCount < src->num_modes)
        s = STATUS_BUFFER_TOO_SMALL;
    else if (arg->pModeList && src->num_modes)
        memcpy(arg->pModeList, src->modes, src->num_modes * sizeof(*src->modes));
    arg->ModeCount = src->num_modes;
    return dxgk_thunk_leave(d, s);
}

static NTSTATUS set_mode(struct dxgk *d, struct device *dev, struct open_alloc *o)
{
    DXGKARG_DESCRIBEALLOCATION desc = {.hAllocation = o->alloc->driver};
    UINT source = o->alloc->source;
    D3DKMT_DISPLAYMODE mode;
    NTSTATUS s;

    if (source >= d->display.num_sources)
        return STATUS_INVALID_PARAMETER; /* not created as a primary */
    if (d->display.sources[source].owner && d->display.sources[source].owner != dev)
        return STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER;
    s = DDI_ARG(d, DescribeAllocation, d->miniport, &desc);
    if (!NT_SUCCESS(s))
        return s;
    dxgk_answers_description(d, &desc);
    mode = (D3DKMT_DISPLAYMODE){.Width = desc.Width,
                                .Height = desc.Height,
                                .Format = desc.Format,
                                .RefreshRate = desc.RefreshRate,
                                .ScanLineOrdering = D3DDDI_VSSLO_PROGRESSIVE,
                                .DisplayOrientation = D3DDDI_ROTATION_IDENTITY};
    if (desc.RefreshRate.Denominator)
        mode.IntegerRefreshRate =
            (desc.RefreshRate.Numerator + desc.RefreshRate.Denominator / 2) / desc.RefreshRate.Denominator;
    s = dxgk_display_set_mode(d, source, &mode, o->alloc);
    if (s == STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE)
        dxgk_blame(d, "DxgkDdiDescribeAllocation", "described a primary that fits no mode of its source");
    return s;
}

NTSTATUS dxgk_SetDisplayMode(struct dxgk_client *c, CONST D3DKMT_SETDISPLAYMODE *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct device *dev = dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c);
    struct open_alloc *o = dxgk_handle_get(d, arg->hPrimaryAllocation, HANDLE_ALLOC, c);
    NTSTATUS s;

    if (!dev || !o)
        return dxgk_thunk_leave(d, STATUS_INVALID_HANDLE);
    if (o->device != dev)
        return dxgk_thunk_leave(d, STATUS_GRAPHICS_WRONG_ALLOCATION_DEVICE);
    s = dxgk_thunk_usable(d, dev);
    if (NT_SUCCESS(s) && (arg->Flags.Reserved || arg->Flags.PreserveVidPn ||
                          arg->DisplayOrientation > D3DDDI_ROTATION_IDENTITY))
        s = STATUS_INVALID_PARAMETER;
    if (NT_SUCCESS(s) && !c->seated)
        s = STATUS_ACCESS_DENIED;
    if (NT_SUCCESS(s)) {
        dxgk_nodes_wait_idle(d);
        s = STATUS_DEVICE_REMOVED;
        if (dxgk_adapter_lock(d)) {
            if (dxgk_handle_get(d, arg->hPrimaryAllocation, HANDLE_ALLOC, c) == o)
                s = set_mode(d, dev, o);
            dxgk_adapter_unlock(d);
        }
    }
    return dxgk_thunk_leave(d, s);
}

NTSTATUS dxgk_SetVidPnSourceOwner(struct dxgk_client *c, CONST D3DKMT_SETVIDPNSOURCEOWNER *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct device *dev = dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c);
    NTSTATUS s = dev ? dxgk_thunk_usable(d, dev) : STATUS_INVALID_HANDLE;

    if (!NT_SUCCESS(s))
        return dxgk_thunk_leave(d, s);
    if (arg->VidPnSourceCount > MAX_SOURCES ||
        (arg->VidPnSourceCount && (!arg->pType || !arg->pVidPnSourceId)))
        return dxgk_thunk_leave(d, STATUS_INVALID_PARAMETER);
    if (!arg->VidPnSourceCount) /* gives all up */
        for (unsigned i = 0; i < d->display.num_sources; i++)
            if (d->display.sources[i].owner == dev)
                d->display.sources[i].owner = NULL;
    for (UINT i = 0; i < arg->VidPnSourceCount && NT_SUCCESS(s); i++) {
        UINT id = arg->pVidPnSourceId[i];
        if (id >= d->display.num_sources)
            s = STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
        else if ((UINT)arg->pType[i] > D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVEGDI)
            s = STATUS_INVALID_PARAMETER;
        else if (!c->seated || (d->display.sources[id].owner && d->display.sources[id].owner != dev))
            s = STATUS_ACCESS_DENIED;
        else {
            d->display.sources[id].owner_type = arg->pType[i];
            d->display.sources[id].owner = arg->pType[i] == D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE ? dev : NULL;
        }
    }
    return dxgk_thunk_leave(d, s);
}
