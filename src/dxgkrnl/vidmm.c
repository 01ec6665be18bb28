/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/adapter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fair.h"
#include "dxgkrnl/telemetry/segments.h"

static struct segment *segment(struct dxgk *d, unsigned id)
{
    return id && id <= d->vidmm.num_segments ? &d->vidmm.segments[id - 1] : NULL;
}

/* See vidmm.h. */
static void check(const struct dxgk *d)
{
    for (unsigned i = 0; i < d->vidmm.num_segments; i++) {
        const struct segment *seg = &d->vidmm.segments[i];
        INVARIANT(seg->committed <= seg->desc.CommitLimit && seg->resident <= seg->desc.Size); /* 3 */
        INVARIANT(!seg->commits == !seg->committed && !seg->residents == !seg->resident);
    }
    INVARIANT(!d->vidmm.allocs || d->vidmm.created);
    INVARIANT(d->vidmm.destroyed <= d->vidmm.created);
}

static void check_alloc(struct dxgk *d, const struct alloc *a)
{
    const struct segment *seg = segment(d, a->segment);

    INVARIANT(a->backing.va && a->mdl); /* 1 */
    INVARIANT(a->backing.size >= a->size && !(a->backing.size & (PAGE_SIZE - 1)));
    INVARIANT(!a->segment || (seg && a->offset + a->backing.size <= seg->desc.Size)); /* 3 */
    INVARIANT(a->commit <= d->vidmm.num_segments && a->resource->refs);
}

NTSTATUS dxgk_vidmm_start(struct dxgk *d)
{
    DXGK_SEGMENTDESCRIPTOR desc[MAX_SEGMENTS] = {0}, *lent;
    DXGK_QUERYSEGMENTIN in = {0};
    DXGK_QUERYSEGMENTOUT out = {0};
    DXGKARG_QUERYADAPTERINFO q = {.Type = DXGKQAITYPE_QUERYSEGMENT,
                                  .pInputData = &in,
                                  .InputDataSize = sizeof(in),
                                  .pOutputData = &out,
                                  .OutputDataSize = sizeof(out)};
    static const char ddi[] = "DxgkDdiQueryAdapterInfo(QUERYSEGMENT)";
    NTSTATUS s;
    bool kept = dxgk_answers_query(d, &q, ddi, &s);
    UINT asked;

    if (!NT_SUCCESS(s))
        return s;
    if (!kept || !dxgk_answers_segment_count(d, &out))
        return STATUS_INVALID_PARAMETER;
    asked = out.NbSegment;
    out.pSegmentDescriptor = lent = dxgk_argument(d, desc, asked * sizeof(*desc));
    if (!lent)
        return STATUS_NO_MEMORY;
    kept = dxgk_answers_query(d, &q, ddi, &s);
    dxgk_argument_back(d, ddi, "pSegmentDescriptor", lent, asked * sizeof(*desc), desc);
    if (!NT_SUCCESS(s))
        return s;
    if (!kept || !dxgk_answers_segments(d, &out, asked, desc, lent))
        return STATUS_INVALID_PARAMETER;
    d->vidmm.num_segments = asked;
    d->vidmm.paging_size = out.PagingBufferSize;
    d->vidmm.paging_segment = out.PagingBufferSegmentId;
    d->vidmm.paging_private_size = out.PagingBufferPrivateDataSize;
    if (d->vidmm.paging_segment)
        dxgk_log(d, "dxgkrnl", 10,
                 "PagingBufferSegmentId %u: paging buffers are placed in contiguous memory only (0)",
                 d->vidmm.paging_segment);
    memset(d->vidmm.segments, 0, sizeof(d->vidmm.segments));
    for (unsigned i = 0; i < d->vidmm.num_segments; i++) {
        d->vidmm.segments[i].desc = desc[i];
        if (!desc[i].CommitLimit)
            d->vidmm.segments[i].desc.CommitLimit = desc[i].Size;
    }
    return STATUS_SUCCESS;
}

NTSTATUS dxgk_vidmm_segments(const struct dxgk *d, void *data, size_t size)
{
    struct dxgk_segments out = {.count = d->vidmm.num_segments,
                                .paging_buffer_segment = d->vidmm.paging_segment,
                                .paging_buffer_bytes = d->vidmm.paging_size,
                                .paging_buffer_private_bytes = d->vidmm.paging_private_size};

    static_assert((int)MAX_SEGMENTS <= (int)DXGK_SEGMENTS_MAX, "every segment has its place");
    if (size != sizeof(out))
        return STATUS_INVALID_PARAMETER;
    for (unsigned i = 0; i < d->vidmm.num_segments; i++) {
        const struct segment *s = &d->vidmm.segments[i];
        out.segment[i].base = (uint64_t)s->desc.BaseAddress.QuadPart;
        out.segment[i].bytes = s->desc.Size;
        out.segment[i].commit_limit = s->desc.CommitLimit;
        out.segment[i].committed = s->committed;
        out.segment[i].resident = s->resident;
        out.segment[i].flags = s->desc.Flags.Value;
    }
    memcpy(data, &out, sizeof(out));
    return STATUS_SUCCESS;
}

PHYSICAL_ADDRESS dxgk_vidmm_address(struct dxgk *d, const struct alloc *a)
{
    PHYSICAL_ADDRESS pa = {.QuadPart = 0};

    if (a->segment)
        pa.QuadPart = segment(d, a->segment)->desc.BaseAddress.QuadPart + (LONGLONG)a->offset;
    return pa;
}

/* ---- residency ------------------------------------------------------------- */

static void settle(struct dxgk *d, struct alloc *a, unsigned id, struct alloc *lower, uint64_t offset)
{
    struct segment *seg = segment(d, id);

    a->segment = id;
    a->offset = offset;
    a->lower = lower;
    a->upper = lower ? lower->upper : seg->first;
    *(lower ? &lower->upper : &seg->first) = a;
    if (a->upper)
        a->upper->lower = a;
    seg->rover = a;
    seg->resident += a->backing.size;
    seg->residents++;
}

static void unsettle(struct dxgk *d, struct alloc *a)
{
    struct segment *seg = segment(d, a->segment);

    INVARIANT(seg->residents && seg->resident >= a->backing.size);
    *(a->lower ? &a->lower->upper : &seg->first) = a->upper;
    if (a->upper)
        a->upper->lower = a->lower;
    if (seg->rover == a)
        seg->rover = a->lower;
    seg->resident -= a->backing.size;
    seg->residents--;
    a->segment = 0;
    a->lower = a->upper = NULL;
}

static NTSTATUS evict(struct dxgk *d, struct alloc *a)
{
    struct segment *seg = segment(d, a->segment);
    NTSTATUS s;

    if (!seg)
        return STATUS_SUCCESS;
    s = dxgk_paging_move(d, seg, a, false);
    if (a->segment) { /* a reset in between has evicted it already */
        unsettle(d, a);
        seg->evicted += a->backing.size;
    }
    return s;
}

/* The next multiple of `alignment` from `at` on, which is a page's; 0, and what is no power of two: any will do. */
static uint64_t aligned(uint64_t at, UINT alignment)
{
    uint64_t mask = alignment & (alignment - 1) ? 0 : (uint64_t)alignment - !!alignment;

    return (at + mask) & ~mask;
}

/* Next fit: from where room was found last. *lower: behind whom; NULL: as the first in the segment; *offset: where. */
static bool find_room(const struct segment *seg, const struct alloc *a, struct alloc **lower,
                      uint64_t *offset)
{
    struct alloc *at = seg->rover;

    for (unsigned pass = 0; pass < 2; pass++) {
        for (;;) {
            const struct alloc *upper = at ? at->upper : seg->first;
            uint64_t begin = at ? at->offset + at->backing.size : 0,
                     end = upper ? upper->offset : seg->desc.Size;
            *lower = at;
            *offset = aligned(begin, a->alignment);
            if (*offset <= end && end - *offset >= a->backing.size)
                return true;
            if (!upper || (pass && at == seg->rover))
                break;
            at = at ? at->upper : seg->first;
        }
        at = NULL;
    }
    return false;
}

static struct alloc *victim(struct dxgk *d, unsigned id, bool *busy)
{
    struct alloc *best = NULL;

    for (struct alloc *a = d->vidmm.allocs; a; a = a->next) {
        if (a->segment != id || a->pins)
            continue;
        if (a->busy)
            *busy = true;
        else if (!best || a->priority < best->priority ||
                 (a->priority == best->priority && a->last_used < best->last_used))
            best = a;
    }
    return best;
}

static NTSTATUS place(struct dxgk *d, struct alloc *a, unsigned id)
{
    struct segment *seg = segment(d, id);
    unsigned epoch = d->epoch;
    struct alloc *lower;
    uint64_t offset;
    NTSTATUS s;

    while (!find_room(seg, a, &lower, &offset)) {
        bool busy = false;
        struct alloc *v = victim(d, id, &busy);
        if (v) {
            s = evict(d, v);
            if (!NT_SUCCESS(s))
                return s;
        } else if (busy) {
            dxgk_kernel_wait(d->kernel, &d->progress, LOOP_FOREVER);
        } else {
            return STATUS_GRAPHICS_NO_VIDEO_MEMORY;
        }
        if (epoch != d->epoch || d->state == DXGK_FAILED)
            return STATUS_DEVICE_REMOVED;
    }
    INVARIANT(!a->segment);
    settle(d, a, id, lower, offset);
    INVARIANT(a->offset + a->backing.size <= (a->upper ? a->upper->offset : seg->desc.Size));
    s = dxgk_paging_move(d, seg, a, true);
    if (!NT_SUCCESS(s) && a->segment)
        unsettle(d, a);
    if (NT_SUCCESS(s))
        a->fresh = false;
    return s;
}

NTSTATUS dxgk_vidmm_make_resident(struct dxgk *d, struct alloc *a, UINT set)
{
    NTSTATUS s = STATUS_GRAPHICS_NO_VIDEO_MEMORY;

    check(d);
    check_alloc(d, a);
    a->last_used = ++d->vidmm.uses;
    if (a->segment && set & UINT32_C(1) << (a->segment - 1))
        return STATUS_SUCCESS;
    if (a->segment) {
        s = evict(d, a);
        if (!NT_SUCCESS(s))
            return s;
    }
    if (a->preferred && set & UINT32_C(1) << (a->preferred - 1)) {
        s = place(d, a, a->preferred);
        if (s != STATUS_GRAPHICS_NO_VIDEO_MEMORY)
            return s;
    }
    for (unsigned id = 1; id <= d->vidmm.num_segments; id++)
        if (id != a->preferred && set & UINT32_C(1) << (id - 1)) {
            s = place(d, a, id);
            if (s != STATUS_GRAPHICS_NO_VIDEO_MEMORY)
                return s;
        }
    return s;
}

void dxgk_vidmm_forget(struct dxgk *d)
{
    for (struct alloc *a = d->vidmm.allocs; a; a = a->next) {
        if (a->segment)
            unsettle(d, a);
        a->busy = 0;
    }
    check(d);
}

/* ---- creation ------------------------------------------------------------ */

static bool is_fair(const struct dxgk *d, const struct segment *seg, const struct alloc *a)
{
    uint64_t mine = 0;

    if (!a->resource->user ||
        fair_share(seg->committed, a->backing.size, seg->committed, seg->desc.CommitLimit))
        return true;
    for (const struct alloc *other = d->vidmm.allocs; other; other = other->next)
        if (other->commit && &d->vidmm.segments[other->commit - 1] == seg &&
            other->resource->user == a->resource->user)
            mine += other->backing.size;
    return fair_share(mine, a->backing.size, seg->committed, seg->desc.CommitLimit);
}

static bool commit(struct dxgk *d, struct alloc *a)
{
    UINT set = a->read_set | a->write_set;

    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned id = 1; id <= d->vidmm.num_segments; id++) {
            struct segment *seg = segment(d, id);
            if (!(set & UINT32_C(1) << (id - 1)) || (id == a->preferred) != (pass == 0))
                continue;
            if (a->backing.size > seg->desc.CommitLimit - seg->committed || !is_fair(d, seg, a))
                continue;
            seg->committed += a->backing.size;
            seg->commits++;
            a->commit = id;
            return true;
        }
    return !set;
}

void dxgk_vidmm_log_refusal(struct dxgk *d, struct dxgk_client *c)
{
    uint64_t now = clock_now(d->clock), committed = 0, limit = 0;
    char wants[48] = "is larger than all of it"; /* the driver refused it itself */

    if (c->refused_ns && now - c->refused_ns < NSEC_PER_SEC)
        return;
    for (unsigned id = 1; id <= d->vidmm.num_segments; id++) {
        committed += segment(d, id)->committed;
        limit += segment(d, id)->desc.CommitLimit;
    }
    if (d->vidmm.refused_bytes)
        snprintf(wants, sizeof(wants), "wants %llu KiB", (unsigned long long)d->vidmm.refused_bytes >> 10);
    dxgk_log_of(
        d, c, "dxgkrnl", 5,
        "an allocation of process %llu does not fit the budget: it %s, %llu of %llu KiB are committed",
        (unsigned long long)c->process, wants, (unsigned long long)committed >> 10,
        (unsigned long long)limit >> 10);
    c->refused_ns = now;
    d->vidmm.refused_bytes = 0;
}

static void free_alloc(struct dxgk *d, struct alloc *a)
{
    UNLINK(a);
    INVARIANT(!a->commit || d->vidmm.segments[a->commit - 1].committed >= a->backing.size);
    if (a->commit) {
        d->vidmm.segments[a->commit - 1].committed -= a->backing.size;
        d->vidmm.segments[a->commit - 1].commits--;
    }
    if (a->segment)
        unsettle(d, a);
    dxgk_physmem_free(d, &a->backing);
    free(a->mdl);
    free(a->priv);
    free(a);
}

static MDL *make_mdl(const struct physmem *m)
{
    size_t pages = m->size >> PAGE_SHIFT;
    MDL *mdl = calloc(1, sizeof(*mdl) + pages * sizeof(PFN_NUMBER));

    if (!mdl)
        return NULL;
    mdl->Size = (SHORT)(sizeof(*mdl) + (pages < 1000 ? pages * sizeof(PFN_NUMBER) : 0));
    mdl->MappedSystemVa = mdl->StartVa = m->va;
    mdl->ByteCount = (ULONG)m->size;
    for (size_t i = 0; i < pages; i++)
        MmGetMdlPfnArray(mdl)[i] = (m->pa >> PAGE_SHIFT) + i;
    return mdl;
}

/* What a client can map, or what executes its work, must hold nothing of anybody else; nor must the screen's, which all present. */
static int alloc_backing(struct dxgk *d, const struct resource *r, struct alloc *a)
{
    if (!d->bus->dma_alloc_for)
        return dxgk_physmem_alloc(d, a->backing.size, &a->backing);
    return d->bus->dma_alloc_for(d->bus->ctx, a->backing.size, r->owner ? r->owner : ++d->owners,
                                 &a->backing.va, &a->backing.pa);
}

static NTSTATUS adopt(struct dxgk *d, struct resource *r, const DXGK_ALLOCATIONINFO *i,
                      const D3DDDI_ALLOCATIONINFO *u, struct alloc **out)
{
    struct alloc *a;

    if (i->Size > UINT32_MAX - PAGE_SIZE) { /* as much as a client asked for */
        d->vidmm.refused_bytes = i->Size;
        return STATUS_GRAPHICS_NO_VIDEO_MEMORY;
    }
    a = calloc(1, sizeof(*a));
    if (!a)
        return STATUS_NO_MEMORY;
    *a = (struct alloc){.resource = r,
                        .driver = i->hAllocation,
                        .size = (UINT)i->Size,
                        .alignment = i->Alignment,
                        .read_set = i->SupportedReadSegmentSet,
                        .write_set = i->SupportedWriteSegmentSet,
                        .preferred = i->PreferredSegment.SegmentId0,
                        .flags = i->Flags,
                        .priority =
                            i->AllocationPriority ? i->AllocationPriority : D3DDDI_ALLOCATIONPRIORITY_NORMAL,
                        .fresh = true,
                        .source = u->Flags.Primary ? u->VidPnSourceId : D3DDDI_ID_UNINITIALIZED,
                        .priv_size = u->PrivateDriverDataSize};
    a->backing.size = ((size_t)i->Size + PAGE_SIZE - 1) & ~(size_t)(PAGE_SIZE - 1);
    if (!commit(d, a)) {
        d->vidmm.refused_bytes = a->backing.size;
        free(a);
        return STATUS_GRAPHICS_NO_VIDEO_MEMORY;
    }
    LINK_FIRST(&d->vidmm.allocs, a);
    a->priv = dxgk_answers_room(a->priv_size);
    if (!a->priv || alloc_backing(d, r, a) || !(a->mdl = make_mdl(&a->backing))) {
        free_alloc(d, a);
        return STATUS_NO_MEMORY;
    }
    if (a->priv_size)
        memcpy(a->priv, u->pPrivateDriverData, a->priv_size);
    d->vidmm.created++;
    check(d);
    *out = a;
    return STATUS_SUCCESS;
}

static void destroy_driver_side(struct dxgk *d, HANDLE *list, UINT n, struct resource *r)
{
    HANDLE *lent = dxgk_inputs_lend(list, n * sizeof(*list));
    DXGKARG_DESTROYALLOCATION args = {.NumAllocations = n, .pAllocationList = lent, .hResource = r->driver};

    args.Flags.DestroyResource = r->is_resource;
    DDI_ARG(d, DestroyAllocation, d->miniport, &args);
    dxgk_inputs_take_back(d, "DxgkDdiDestroyAllocation", "pAllocationList", lent, list, n * sizeof(*list));
}

/* Each allocation's private data is in a room of its own while the miniport has it. */
static bool give_private(DXGK_ALLOCATIONINFO *list, const D3DDDI_ALLOCATIONINFO *infos, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        list[i].pPrivateDriverData = dxgk_answers_room(infos[i].PrivateDriverDataSize);
        if (!list[i].pPrivateDriverData)
            return false;
        list[i].PrivateDriverDataSize = infos[i].PrivateDriverDataSize;
        if (infos[i].PrivateDriverDataSize)
            memcpy(list[i].pPrivateDriverData, infos[i].pPrivateDriverData, infos[i].PrivateDriverDataSize);
    }
    return true;
}

/* `rooms` are what it was given, whatever stands in its list now. */
static bool take_private(struct dxgk *d, void **rooms, D3DDDI_ALLOCATIONINFO *infos, unsigned count)
{
    bool kept = true;

    for (unsigned i = 0; i < count; i++) {
        kept &=
            dxgk_answers_kept(d, "DxgkDdiCreateAllocation", "pAllocationInfo[].pPrivateDriverData, at byte",
                              rooms[i], infos[i].PrivateDriverDataSize);
        if (infos[i].PrivateDriverDataSize)
            memcpy(infos[i].pPrivateDriverData, rooms[i], infos[i].PrivateDriverDataSize);
    }
    return kept;
}

/* False: what it answered can not be gone by. */
static bool call_create(struct dxgk *d, DXGKARG_CREATEALLOCATION *args, D3DDDI_ALLOCATIONINFO *infos,
                        NTSTATUS *s)
{
    const UINT count = args->NumAllocations;
    DXGK_ALLOCATIONINFO *list = args->pAllocationInfo;
    static const char ddi[] = "DxgkDdiCreateAllocation";
    void **rooms = calloc(count ? count : 1, sizeof(*rooms)), *given = NULL;
    bool kept = true;

    *s = STATUS_NO_MEMORY;
    if (rooms && give_private(list, infos, count) &&
        (given = dxgk_inputs_copy(list, count * sizeof(*list)))) {
        for (UINT i = 0; i < count; i++)
            rooms[i] = list[i].pPrivateDriverData;
        *s = DDI_ARG(d, CreateAllocation, d->miniport, args);
        kept = dxgk_inputs_take_list(d, ddi, list, given, sizeof(*list), count);
        kept &= take_private(d, rooms, infos, count);
        kept &= dxgk_answers_kept(d, ddi, "pAllocationInfo, at byte", list, count * sizeof(*list));
        for (UINT i = 0; NT_SUCCESS(*s) && i < count; i++)
            kept &= dxgk_answers_allocation(d, &list[i], i);
        for (UINT i = 0; i < count; i++)
            free(rooms[i]);
    } else {
        for (UINT i = 0; i < count; i++)
            free(list[i].pPrivateDriverData);
    }
    free(given);
    free(rooms);
    return kept;
}

NTSTATUS dxgk_vidmm_create(struct dxgk *d, struct resource *r, const void *priv, UINT priv_size,
                           D3DDDI_ALLOCATIONINFO *infos, unsigned count)
{
    DXGK_ALLOCATIONINFO *list = dxgk_answers_room(count * sizeof(*list));
    HANDLE *handles = calloc(count ? count : 1, sizeof(*handles));
    DXGKARG_CREATEALLOCATION args = {.pPrivateDriverData = priv,
                                     .PrivateDriverDataSize = priv_size,
                                     .NumAllocations = count,
                                     .pAllocationInfo = list,
                                     .hResource = r->driver};
    NTSTATUS s = STATUS_NO_MEMORY;
    bool well;

    r->allocs = calloc(count ? count : 1, sizeof(struct alloc *));
    if (!list || !handles || !r->allocs)
        goto out;
    args.Flags.Resource = r->is_resource;
    well = call_create(d, &args, infos, &s);
    if (!NT_SUCCESS(s))
        goto out;
    r->driver = args.hResource;
    for (unsigned i = 0; i < count; i++)
        handles[i] = list[i].hAllocation;
    if (!well)
        s = STATUS_INVALID_PARAMETER;
    for (unsigned i = 0; i < count && NT_SUCCESS(s); i++) {
        s = adopt(d, r, &list[i], &infos[i], &r->allocs[i]);
        if (NT_SUCCESS(s))
            r->count++;
    }
    if (!NT_SUCCESS(s)) {
        while (r->count)
            free_alloc(d, r->allocs[--r->count]);
        destroy_driver_side(d, handles, count, r);
    }
out:
    free(list);
    if (NT_SUCCESS(s))
        r->handles = handles;
    else
        free(handles);
    return s;
}

static void destroy_resource(struct dxgk *d, struct resource *r)
{
    for (unsigned i = 0; i < r->count; i++) {
        struct alloc *a = r->allocs[i];
        while (a->busy && d->state != DXGK_FAILED)
            dxgk_kernel_wait(d->kernel, &d->progress, LOOP_FOREVER);
        if (d->vidmm.forget)
            d->vidmm.forget(d, a);
        if (d->state == DXGK_STARTED)
            evict(d, a);
        r->handles[i] = a->driver;
    }
    if (d->miniport && dxgk_adapter_lock_cleanup(d)) {
        for (unsigned i = 0; i < r->count; i++)
            if (r->allocs[i]->flags.Capture) /* a device that writes into it by itself must have ended that */
                DDI_ARG(d, StopCapture, d->miniport, &(DXGKARG_STOPCAPTURE){r->handles[i]});
        destroy_driver_side(d, r->handles, r->count, r);
        dxgk_adapter_unlock(d);
    }
    while (r->count) {
        INVARIANT(!r->allocs[r->count - 1]->pins || d->state == DXGK_FAILED); /* 2 */
        free_alloc(d, r->allocs[--r->count]);
        d->vidmm.destroyed++;
    }
    check(d);
    if (r->share)
        dxgk_share_free(d, SHARE_RESOURCE, r->share);
    free(r->handles);
    free(r->allocs);
    free(r->priv);
    free(r->runtime);
    free(r);
}

/* ---- opening and closing ------------------------------------------------- */

static uint64_t data_bytes(const struct resource *r)
{
    uint64_t bytes = (uint64_t)r->priv_size + r->runtime_size;

    for (unsigned i = 0; i < r->count; i++)
        bytes += r->allocs[i]->priv_size;
    return bytes;
}

/* Its memory is a file of its own, counted by the client that opens it. */
static bool is_shared(const struct device *dev, const struct resource *r)
{
    return dev->client && r->owner && r->owner != dev->client->serial;
}

static bool open_kept(struct dxgk *d, const struct resource *r, DXGK_OPENALLOCATIONINFO *list)
{
    bool kept = dxgk_answers_kept(d, "DxgkDdiOpenAllocation", "pOpenAllocation, at byte", list,
                                  r->count * sizeof(*list));

    for (unsigned i = 0; i < r->count; i++)
        kept &= dxgk_answers_kept(d, "DxgkDdiOpenAllocation", "pOpenAllocation[].pPrivateDriverData, at byte",
                                  r->allocs[i]->priv, r->allocs[i]->priv_size);
    return kept;
}

NTSTATUS dxgk_vidmm_open(struct device *dev, struct resource *r, bool create, struct open_resource **out,
                         struct open_alloc **opens)
{
    struct dxgk *d = dev->d;
    DXGK_OPENALLOCATIONINFO *list = dxgk_answers_room(r->count * sizeof(*list));
    DXGKARG_OPENALLOCATION args = {.NumAllocations = r->count,
                                   .pOpenAllocation = list,
                                   .pPrivateDriverData = r->priv,
                                   .PrivateDriverSize = r->priv_size};
    struct open_resource *g = calloc(1, sizeof(*g));
    HANDLE *handles = calloc(r->count ? r->count : 1, sizeof(*handles));
    NTSTATUS s = STATUS_NO_MEMORY;
    void *given;

    if (!list || !g || !handles)
        goto fail;
    if (!dxgk_quota_take(d, dev->client, QUOTA_DATA_BYTES, data_bytes(r)))
        goto fail;
    if (is_shared(dev, r) && !dxgk_quota_take(d, dev->client, QUOTA_DESCRIPTORS, 1)) {
        dxgk_quota_give(d, dev->client, QUOTA_DATA_BYTES, data_bytes(r));
        s = STATUS_INSUFFICIENT_RESOURCES;
        goto fail;
    }
    *g = (struct open_resource){.device = dev, .resource = r, .next = dev->resources, .handles = handles};
    dev->resources = g;
    r->refs++;
    if (r->is_resource)
        g->handle = dxgk_handle_new(d, HANDLE_RES, dev->client, g);
    for (unsigned i = 0; i < r->count; i++) {
        struct open_alloc *o = calloc(1, sizeof(*o));
        if (!o)
            goto close;
        *o =
            (struct open_alloc){.device = dev, .group = g, .alloc = r->allocs[i], .next_of_group = g->allocs};
        g->allocs = o;
        LINK_FIRST(&dev->allocs, o);
        o->handle = dxgk_handle_new(d, HANDLE_ALLOC, dev->client, o);
        opens[i] = o;
        if (!o->handle)
            goto close;
        list[i].hAllocation = o->handle;
        list[i].pPrivateDriverData = o->alloc->priv;
        list[i].PrivateDriverDataSize = o->alloc->priv_size;
    }
    args.Flags.Create = create;
    if (!(given = dxgk_inputs_copy(list, r->count * sizeof(*list))))
        goto close;
    s = DDI_ARG(d, OpenAllocation, dev->driver, &args);
    if (!dxgk_inputs_take_list(d, "DxgkDdiOpenAllocation", list, given, sizeof(*list), r->count) ||
        !open_kept(d, r, list))
        s = STATUS_INVALID_PARAMETER;
    free(given);
    if (!NT_SUCCESS(s))
        goto close;
    for (unsigned i = 0; i < r->count; i++) {
        opens[i]->driver = list[i].hDeviceSpecificAllocation;
        dxgk_answers_handle(d, "DxgkDdiOpenAllocation", "hDeviceSpecificAllocation", opens[i]->driver, NULL);
    }
    free(list);
    *out = g;
    return s;
close:
    dxgk_vidmm_close(g);
    free(list);
    return s;
fail:
    free(list);
    free(handles);
    free(g);
    return s;
}

static bool names(const struct packet *p, const struct resource *r)
{
    for (unsigned i = 0; i < p->list_count; i++)
        if (p->allocs[i] && p->allocs[i]->resource == r)
            return true;
    return false;
}

static bool queue_names(const struct packet *p, const struct device *dev, const struct resource *r)
{
    for (; p; p = p->next)
        if (p->context && p->context->device == dev && names(p, r))
            return true;
    return false;
}

/* Whether work of the device that opened it, queued or under way, names it. What others do with a shared resource is the
 * business of their own handles. */
static bool in_use(const struct open_resource *g)
{
    const struct device *dev = g->device;
    const struct dxgk *d = dev->d;
    bool used = false;

    for (const struct context *x = dev->contexts; x; x = x->next)
        used |= x->handling || queue_names(x->queue, dev, g->resource);
    for (unsigned i = 0; i < d->sched.num_nodes; i++)
        used |= queue_names(d->sched.nodes[i].hw, dev, g->resource);
    for (unsigned i = 0; i < d->display.num_sources; i++)
        used |= queue_names(d->display.sources[i].flips, dev, g->resource);
    return used;
}

void dxgk_vidmm_doom(struct open_resource *g)
{
    struct device *dev = g->device;
    struct dxgk *d = dev->d;

    if (!in_use(g)) {
        dxgk_vidmm_close(g);
        return;
    }
    for (struct open_alloc *o = g->allocs; o; o = o->next_of_group) {
        o->alloc->pins -= o->locks;
        o->locks = 0;
        dxgk_handle_free(d, o->handle);
        o->handle = 0;
    }
    dxgk_handle_free(d, g->handle);
    g->handle = 0;
    g->doomed = true;
    d->vidmm.doomed++;
}

static struct open_resource *find_doomed(struct dxgk *d)
{
    for (struct device *dev = d->devices; dev; dev = dev->next)
        for (struct open_resource *g = dev->resources; g; g = g->next)
            if (g->doomed && !in_use(g))
                return g;
    return NULL;
}

void dxgk_vidmm_reap(struct dxgk *d)
{
    struct open_resource *g;

    while (d->vidmm.doomed && (g = find_doomed(d)))
        dxgk_vidmm_close(g);
}

void dxgk_vidmm_close(struct open_resource *g)
{
    struct device *dev = g->device;
    struct dxgk *d = dev->d;
    struct resource *r = g->resource;
    HANDLE *handles = g->handles;
    bool doomed = g->doomed;
    UINT n = 0;

    if (is_shared(dev, r))
        dxgk_quota_give(d, dev->client, QUOTA_DESCRIPTORS, 1);
    dxgk_quota_give(d, dev->client, QUOTA_DATA_BYTES, data_bytes(r));

    LIST_DROP(&dev->resources, g, next); /* before anything here waits: no other thread closes it too */
    dev->closing++;
    while (g->allocs) {
        struct open_alloc *o = g->allocs;
        g->allocs = o->next_of_group;
        UNLINK(o);
        o->alloc->pins -= o->locks;
        if (o->driver)
            handles[n++] = o->driver;
        dxgk_handle_free(d, o->handle);
        free(o);
    }
    if (g->handle)
        dxgk_handle_free(d, g->handle);
    if (n && d->miniport && dxgk_adapter_lock_cleanup(d)) {
        HANDLE *lent = dxgk_inputs_lend(handles, n * sizeof(*handles));
        DXGKARG_CLOSEALLOCATION args = {.NumAllocations = n, .pOpenHandleList = lent};
        DDI_ARG(d, CloseAllocation, dev->driver, &args);
        dxgk_inputs_take_back(d, "DxgkDdiCloseAllocation", "pOpenHandleList", lent, handles,
                              n * sizeof(*handles));
        dxgk_adapter_unlock(d);
    }
    free(handles);
    free(g);
    INVARIANT(dev->closing && d->vidmm.doomed >= doomed);
    dxgk_vidmm_release(d, r);
    dev->closing--;
    d->vidmm.doomed -= doomed; /* now: who waits for the memory looks at it */
    dxgk_kernel_wake_all(d->kernel, &d->progress);
}

void dxgk_vidmm_release(struct dxgk *d, struct resource *r)
{
    INVARIANT(r->refs);
    if (!--r->refs)
        destroy_resource(d, r);
}

/* ---- what dxgkrnl itself allocates --------------------------------------- */

NTSTATUS dxgk_vidmm_create_standard(struct dxgk *d, D3DKMDT_STANDARDALLOCATION_TYPE type, void *data,
                                    struct alloc **out)
{
    DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA args = {.StandardAllocationType = type}, first;
    D3DDDI_ALLOCATIONINFO info = {0};
    struct resource *r = calloc(1, sizeof(*r));
    NTSTATUS s = STATUS_NO_MEMORY;

    if (!r)
        return s;
    args.pCreateSharedPrimarySurfaceData = data;
    s = DDI_ARG(d, GetStandardAllocationDriverData, d->miniport, &args); /* sizes */
    if (!NT_SUCCESS(s))
        goto fail;
    first = args;
    s = STATUS_INVALID_PARAMETER;
    if (!dxgk_answers_standard(d, &first, NULL))
        goto fail;
    args.pAllocationPrivateDriverData = dxgk_answers_room(args.AllocationPrivateDriverDataSize);
    args.pResourcePrivateDriverData = dxgk_answers_room(args.ResourcePrivateDriverDataSize);
    s = STATUS_NO_MEMORY;
    if (!args.pAllocationPrivateDriverData || !args.pResourcePrivateDriverData)
        goto fail;
    s = DDI_ARG(d, GetStandardAllocationDriverData, d->miniport, &args);
    if (NT_SUCCESS(s) &&
        (!dxgk_answers_standard(d, &first, &args) ||
         !dxgk_answers_kept(d, "DxgkDdiGetStandardAllocationDriverData",
                            "pAllocationPrivateDriverData, at byte", args.pAllocationPrivateDriverData,
                            first.AllocationPrivateDriverDataSize) ||
         !dxgk_answers_kept(d, "DxgkDdiGetStandardAllocationDriverData",
                            "pResourcePrivateDriverData, at byte", args.pResourcePrivateDriverData,
                            first.ResourcePrivateDriverDataSize)))
        s = STATUS_INVALID_PARAMETER;
    if (!NT_SUCCESS(s))
        goto fail;
    info.pPrivateDriverData = args.pAllocationPrivateDriverData;
    info.PrivateDriverDataSize = args.AllocationPrivateDriverDataSize;
    if (type == D3DKMDT_STANDARDALLOCATION_SHAREDPRIMARYSURFACE) {
        info.Flags.Primary = 1;
        info.VidPnSourceId = ((D3DKMDT_SHAREDPRIMARYSURFACEDATA *)data)->VidPnSourceId;
    }
    s = dxgk_vidmm_create(d, r, args.pResourcePrivateDriverData, args.ResourcePrivateDriverDataSize, &info,
                          1);
    if (!NT_SUCCESS(s))
        goto fail;
    free(args.pAllocationPrivateDriverData);
    free(args.pResourcePrivateDriverData);
    r->refs = 1;
    *out = r->allocs[0];
    return s;
fail:
    free(args.pAllocationPrivateDriverData);
    free(args.pResourcePrivateDriverData);
    free(r->allocs);
    free(r);
    return s;
}

void dxgk_vidmm_destroy_standard(struct dxgk *d, struct alloc *a)
{
    if (a && !--a->resource->refs)
        destroy_resource(d, a->resource);
}

struct alloc *dxgk_vidmm_create_dma(struct dxgk *d, UINT size, UINT set)
{
    struct alloc *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    *a = (struct alloc){.resource = &d->vidmm.dma,
                        .size = size,
                        .read_set = set,
                        .write_set = set,
                        .priority = D3DDDI_ALLOCATIONPRIORITY_NORMAL,
                        .source = D3DDDI_ID_UNINITIALIZED};
    LINK_FIRST(&d->vidmm.allocs, a);
    if (dxgk_physmem_alloc(d, size, &a->backing) || !(a->mdl = make_mdl(&a->backing))) {
        free_alloc(d, a);
        return NULL;
    }
    d->vidmm.dma.refs++;
    d->vidmm.created++;
    check(d);
    return a;
}

void dxgk_vidmm_destroy_dma(struct dxgk *d, struct alloc *a)
{
    a->busy++; /* nobody else evicts it meanwhile; who wants its room waits */
    if (d->state == DXGK_STARTED)
        evict(d, a);
    d->vidmm.dma.refs--;
    free_alloc(d, a);
    d->vidmm.destroyed++;
    check(d);
    dxgk_kernel_wake_all(d->kernel, &d->progress);
}
