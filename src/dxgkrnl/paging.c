/* SPDX-License-Identifier: MIT */
/* paging.c: paging buffers, which map allocations into apertures and move their content to and from memory segments. */
#include "dxgkrnl/adapter.h"

static const char *name_of(DXGK_BUILDPAGINGBUFFER_OPERATION operation)
{
    return operation == DXGK_OPERATION_TRANSFER               ? "TRANSFER"
           : operation == DXGK_OPERATION_FILL                 ? "FILL"
           : operation == DXGK_OPERATION_MAP_APERTURE_SEGMENT ? "MAP_APERTURE_SEGMENT"
                                                              : "UNMAP_APERTURE_SEGMENT";
}

static NTSTATUS submit(struct dxgk *d, DXGKARG_BUILDPAGINGBUFFER *args)
{
    static const char ddi[] = "DxgkDdiBuildPagingBuffer";
    struct context *c = d->vidmm.context;
    unsigned epoch = d->epoch, passes = 1 << 20; /* one for each page, of 4 GiB */
    NTSTATUS s;

    if (!c)
        return STATUS_DEVICE_NOT_READY;
    args->hSystemContext = c->driver;
    do {
        struct packet *p = dxgk_packet_create(c, PACKET_PAGING, 0);
        struct dma *dma = p ? p->dma : NULL;
        uint64_t limit;
        UINT fence, size;

        if (!p)
            return STATUS_NO_MEMORY;
        size = d->vidmm.paging_size < dma->size ? d->vidmm.paging_size : dma->size;
        args->pDmaBuffer = dma->mem.va;
        args->DmaSize = size;
        args->pDmaBufferPrivateData = dma->priv;
        args->DmaBufferPrivateDataSize = dma->priv_size;
        s = DDI_ARG(d, BuildPagingBuffer, d->miniport, args);
        dxgk_dma_kept(d, dma, ddi);
        if (!dxgk_answers_end(d, ddi, "pDmaBuffer", dma->mem.va, size, args->pDmaBuffer, &p->dma_end) ||
            !dxgk_answers_end(d, ddi, "pDmaBufferPrivateData", dma->priv, dma->priv_size,
                              args->pDmaBufferPrivateData, &p->priv_end) ||
            !passes--) {
            if (!~passes)
                dxgk_kernel_violation(d->kernel,
                                      "%s does not come to an end: it wants one buffer more each time", ddi);
            dxgk_packet_free(d, p);
            return STATUS_INTERNAL_ERROR;
        }
        if (!p->dma_end || (!NT_SUCCESS(s) && s != STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER)) {
            dxgk_packet_free(d, p);
            if (s == STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER) {
                dxgk_kernel_violation(
                    d->kernel, "DxgkDdiBuildPagingBuffer wants more than an empty paging buffer of %u bytes",
                    size);
                return STATUS_NO_MEMORY;
            }
            if (NT_SUCCESS(s)) /* it may have done it otherwise */
                d->unpaged = name_of(args->Operation);
            continue;
        }
        p->flags.Paging = 1;
        fence = dxgk_node_next_fence(d, p);
        c->running++;
        dxgk_node_submit(d, p);
        /* This may be the thread that would notice a time-out, so the wait ends by itself. */
        limit = dxgk_kernel_now(d->kernel) + 2 * d->tdr.delay_ns;
        while ((INT)(d->sched.nodes[c->node].completed - fence) < 0 && epoch == d->epoch &&
               d->state != DXGK_FAILED)
            if (!dxgk_kernel_wait(d->kernel, &d->progress, limit) && !dxgk_node_poll(d, c->node))
                return STATUS_IO_TIMEOUT;
        if (epoch != d->epoch || d->state == DXGK_FAILED)
            return STATUS_DEVICE_REMOVED;
    } while (s == STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER);
    return s;
}

static NTSTATUS move_aperture(struct dxgk *d, const struct segment *seg, struct alloc *a, bool map)
{
    DXGKARG_BUILDPAGINGBUFFER b = {.Operation = map ? DXGK_OPERATION_MAP_APERTURE_SEGMENT
                                                    : DXGK_OPERATION_UNMAP_APERTURE_SEGMENT};

    if (map) {
        b.MapApertureSegment.hAllocation = a->driver;
        b.MapApertureSegment.SegmentId = a->segment;
        b.MapApertureSegment.OffsetInPages = a->offset >> PAGE_SHIFT;
        b.MapApertureSegment.NumberOfPages = a->backing.size >> PAGE_SHIFT;
        b.MapApertureSegment.pMdl = a->mdl;
        b.MapApertureSegment.Flags.CacheCoherent = seg->desc.Flags.CacheCoherent;
    } else {
        b.UnmapApertureSegment.hAllocation = a->driver;
        b.UnmapApertureSegment.SegmentId = a->segment;
        b.UnmapApertureSegment.OffsetInPages = a->offset >> PAGE_SHIFT;
        b.UnmapApertureSegment.NumberOfPages = a->backing.size >> PAGE_SHIFT;
    }
    return submit(d, &b);
}

static NTSTATUS move_memory(struct dxgk *d, struct alloc *a, bool in)
{
    DXGKARG_BUILDPAGINGBUFFER b = {.Operation =
                                       in && a->fresh ? DXGK_OPERATION_FILL : DXGK_OPERATION_TRANSFER};
    LARGE_INTEGER address = {.QuadPart = (LONGLONG)a->offset};

    if (b.Operation == DXGK_OPERATION_FILL) {
        b.Fill.hAllocation = a->driver;
        b.Fill.FillSize = a->backing.size;
        b.Fill.Destination.SegmentId = a->segment;
        b.Fill.Destination.SegmentAddress = address;
        return submit(d, &b);
    }
    b.Transfer.hAllocation = a->driver;
    b.Transfer.TransferSize = a->backing.size;
    b.Transfer.Flags.TransferStart = b.Transfer.Flags.TransferEnd = b.Transfer.Flags.AllocationIsIdle = 1;
    if (in) {
        b.Transfer.Source.pMdl = a->mdl;
        b.Transfer.Destination.SegmentId = a->segment;
        b.Transfer.Destination.SegmentAddress = address;
    } else {
        b.Transfer.Source.SegmentId = a->segment;
        b.Transfer.Source.SegmentAddress = address;
        b.Transfer.Destination.pMdl = a->mdl;
    }
    return submit(d, &b);
}

NTSTATUS dxgk_paging_move(struct dxgk *d, const struct segment *seg, struct alloc *a, bool in)
{
    return seg->desc.Flags.Aperture ? move_aperture(d, seg, a, in) : move_memory(d, a, in);
}
