/* SPDX-License-Identifier: MIT */
/* work.c: what a miniport answers while it works: contexts, allocations, handles. */
#include "dxgkrnl/answers/answers.h"

#include "dxgkrnl/adapter.h"

enum { MOST_PRIVATE = 1 << 20, MOST_DMA = 256 << 20, MOST_ENTRIES = 65536 };

static const struct segment *segment(const struct dxgk *d, unsigned id)
{
    return id && id <= d->vidmm.num_segments ? &d->vidmm.segments[id - 1] : NULL;
}

/* ---- contexts ------------------------------------------------------------ */

static void dma_segments(struct dxgk *d, struct judge *j, const DXGK_CONTEXTINFO *i)
{
    const UINT set = i->DmaBufferSegmentSet;
    bool exist = true, aperture = true, fits = !set;

    for (unsigned id = 1; id <= 32; id++) {
        const struct segment *s = segment(d, id);
        if (!(set & 1u << (id - 1)))
            continue;
        exist &= s != NULL;
        aperture &= !s || s->desc.Flags.Aperture;
        fits |= s && s->desc.Size >= i->DmaBufferSize;
    }
    ANSWER(j, ANSWER_BREAKS, i, DmaBufferSegmentSet, exist, "segments that there are");
    ANSWER(j, ANSWER_BREAKS, i, DmaBufferSegmentSet, aperture, "aperture segments");
    ANSWER(j, ANSWER_BREAKS, i, DmaBufferSize, fits || !exist || !aperture,
           "what a segment of DmaBufferSegmentSet has");
}

bool dxgk_answers_context(struct dxgk *d, const char *ddi, const DXGK_CONTEXTINFO *info)
{
    struct judge j = {.d = d, .ddi = ddi};

    ANSWER(&j, ANSWER_BREAKS, info, DmaBufferSize, v && v <= MOST_DMA, "1 to 256 MiB");
    ANSWER(&j, ANSWER_BREAKS, info, DmaBufferPrivateDataSize, v <= MOST_PRIVATE,
           "1 MiB at most: it is nonpaged pool");
    ANSWER(&j, ANSWER_BREAKS, info, AllocationListSize, v <= MOST_ENTRIES, "65536 at most");
    ANSWER(&j, ANSWER_BREAKS, info, PatchLocationListSize, v <= MOST_ENTRIES, "65536 at most");
    ANSWER(&j, ANSWER_REMARK, info, DmaBufferAllocationGroup, !v, "reserved, 0");
    if (!j.broken)
        dma_segments(d, &j, info);
    return !j.broken;
}

bool dxgk_answers_device(struct dxgk *d, const DXGK_DEVICEINFO *answered, DXGK_CONTEXTINFO *info)
{
    struct judge j = {.d = d, .ddi = "DxgkDdiCreateDevice"};
    DXGK_DEVICEINFO i;
    const bool there = dxgk_answers_read(&i, answered, sizeof(i));

    dxgk_answer(&j, ANSWER_BREAKS, there, "pInfo", (uintptr_t)answered,
                "a DXGK_DEVICEINFO of the miniport's, which has no DXGK_SCHEDULINGCAPS.MultiEngineAware");
    if (!there)
        return false;
    *info = (DXGK_CONTEXTINFO){.DmaBufferSize = i.DmaBufferSize,
                               .DmaBufferSegmentSet = i.DmaBufferSegmentSet,
                               .DmaBufferPrivateDataSize = i.DmaBufferPrivateDataSize,
                               .AllocationListSize = i.AllocationListSize,
                               .PatchLocationListSize = i.PatchLocationListSize};
    return true;
}

void dxgk_answers_handle(struct dxgk *d, const char *ddi, const char *member, HANDLE handle,
                         const void *given)
{
    struct judge j = {.d = d, .ddi = ddi};

    dxgk_answer(&j, ANSWER_REMARK, handle && handle != given, member, (uintptr_t)handle,
                "a handle of the miniport's own");
}

/* ---- allocations --------------------------------------------------------- */

#define INFO(degree, member, holds, allowed)                                                                 \
    do {                                                                                                     \
        const uint64_t v = (uint64_t)(uintptr_t)a->member;                                                   \
        dxgk_answer(&j, degree, holds, "pAllocationInfo[]." #member, v, allowed);                            \
    } while (0)

static void preferences(struct judge *j, const DXGK_ALLOCATIONINFO *a)
{
    const UINT set = a->SupportedReadSegmentSet | a->SupportedWriteSegmentSet;
    const UINT ids[] = {a->PreferredSegment.SegmentId0, a->PreferredSegment.SegmentId1,
                        a->PreferredSegment.SegmentId2, a->PreferredSegment.SegmentId3,
                        a->PreferredSegment.SegmentId4};

    for (unsigned i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        dxgk_answer(j, ANSWER_REMARK, !ids[i] || set & 1u << (ids[i] - 1),
                    "pAllocationInfo[].PreferredSegment, a segment", ids[i],
                    "one of SupportedReadSegmentSet or SupportedWriteSegmentSet");
    dxgk_answer(j, ANSWER_REMARK, !a->PreferredSegment.Reserved,
                "pAllocationInfo[].PreferredSegment.Reserved", a->PreferredSegment.Reserved, "reserved, 0");
}

bool dxgk_answers_allocation(struct dxgk *d, const DXGK_ALLOCATIONINFO *a, unsigned index)
{
    struct judge j = {.d = d, .ddi = "DxgkDdiCreateAllocation", .index = index};
    const UINT valid = (UINT)((UINT64_C(1) << d->vidmm.num_segments) - 1);
    UINT apertures = 0;

    for (unsigned i = 0; i < d->vidmm.num_segments; i++)
        apertures |= d->vidmm.segments[i].desc.Flags.Aperture ? 1u << i : 0;
    INFO(ANSWER_BREAKS, hAllocation, v, "a handle of the miniport's own");
    INFO(ANSWER_BREAKS, Size, v, "1 and more");
    INFO(ANSWER_BREAKS, Size, v <= SIZE_MAX - PAGE_SIZE,
         "what can be made a multiple of the page size, 4096");
    INFO(ANSWER_REMARK, Alignment, !(v & (v - 1)) || !v, "0, or a power of two");
    INFO(ANSWER_REMARK, PitchAlignedSize, !v || v >= a->Size, "0, or Size and more");
    INFO(ANSWER_BREAKS, SupportedReadSegmentSet, !(v & ~(uint64_t)valid), "segments that there are");
    INFO(ANSWER_BREAKS, SupportedWriteSegmentSet, !(v & ~(uint64_t)valid), "segments that there are");
    INFO(ANSWER_BREAKS, SupportedReadSegmentSet, v || a->SupportedWriteSegmentSet,
         "a segment that the allocation can be in, there or in SupportedWriteSegmentSet");
    INFO(ANSWER_REMARK, EvictionSegmentSet, !(v & ~(uint64_t)apertures), "aperture segments that there are");
    INFO(ANSWER_REMARK, Flags.Reserved, !v, "reserved, 0");
    INFO(ANSWER_REMARK, Flags.Overlay, !v || d->caps.MaxOverlays, "0, with DXGK_DRIVERCAPS.MaxOverlays 0");
    INFO(ANSWER_REMARK, Flags.Swizzled, !v || d->caps.NumberOfSwizzlingRanges,
         "0, with DXGK_DRIVERCAPS.NumberOfSwizzlingRanges 0");
    if (!j.broken)
        preferences(&j, a);
    return !j.broken;
}

bool dxgk_answers_standard(struct dxgk *d, const DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *first,
                           const DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *second)
{
    struct judge j = {.d = d, .ddi = "DxgkDdiGetStandardAllocationDriverData"};

    ANSWER(&j, ANSWER_BREAKS, first, AllocationPrivateDriverDataSize, v <= MOST_PRIVATE, "1 MiB at most");
    ANSWER(&j, ANSWER_BREAKS, first, ResourcePrivateDriverDataSize, v <= MOST_PRIVATE, "1 MiB at most");
    ANSWER(&j, ANSWER_REMARK, first, AllocationPrivateDriverDataSize,
           v || first->ResourcePrivateDriverDataSize, "0 only with a ResourcePrivateDriverDataSize");
    if (!second)
        return !j.broken;
    ANSWER(&j, ANSWER_BREAKS, second, AllocationPrivateDriverDataSize,
           v <= first->AllocationPrivateDriverDataSize, "what it was in the pass before");
    ANSWER(&j, ANSWER_BREAKS, second, ResourcePrivateDriverDataSize,
           v <= first->ResourcePrivateDriverDataSize, "what it was in the pass before");
    return !j.broken;
}

void dxgk_answers_description(struct dxgk *d, const DXGKARG_DESCRIBEALLOCATION *a)
{
    struct judge j = {.d = d, .ddi = "DxgkDdiDescribeAllocation"};

    ANSWER(&j, ANSWER_REMARK, a, Width, v, "a primary's width in pixels");
    ANSWER(&j, ANSWER_REMARK, a, Height, v, "a primary's height in pixels");
    ANSWER(&j, ANSWER_REMARK, a, RefreshRate.Denominator, v || !a->RefreshRate.Numerator,
           "1 and more of a rate that is not 0");
}

void dxgk_answers_boolean(struct dxgk *d, const char *ddi, const char *member, unsigned value)
{
    struct judge j = {.d = d, .ddi = ddi};

    dxgk_answer(&j, ANSWER_REMARK, value <= 1, member, value, "TRUE (1) or FALSE (0)");
}
