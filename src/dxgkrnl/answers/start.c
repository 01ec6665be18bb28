/* SPDX-License-Identifier: MIT */
/* start.c: what an adapter says of itself when it starts: DXGK_DRIVERCAPS, DXGK_QUERYSEGMENTOUT, DXGK_SEGMENTDESCRIPTOR, children. */
#include "dxgkrnl/answers/answers.h"

#include <stdlib.h>
#include <string.h>

#include "dxgkrnl/adapter.h"

#define IS_ZERO(what) is_zero(&(what), sizeof(what))

static bool is_zero(const void *data, size_t size)
{
    const uint8_t *p = data;

    while (size && !*p) {
        p++;
        size--;
    }
    return !size;
}

/* ---- capabilities -------------------------------------------------------- */

static unsigned messages(const struct dxgk *d)
{
    unsigned n = 0;

    for (unsigned i = 0; i < d->bus->num_resources; i++)
        n += d->bus->resources[i].type == CmResourceTypeInterrupt &&
             d->bus->resources[i].flags & CM_RESOURCE_INTERRUPT_MESSAGE;
    return n;
}

/* What is said to be there has its DDIs. */
static void caps_of_ddis(struct dxgk *d, struct judge *j)
{
    const DXGK_DRIVERCAPS *c = &d->caps;
    const DRIVER_INITIALIZATION_DATA *i = &d->ddi;

    ANSWER(j, ANSWER_BREAKS, c, NumberOfSwizzlingRanges,
           !v || (i->DxgkDdiAcquireSwizzlingRange && i->DxgkDdiReleaseSwizzlingRange),
           "0, without DxgkDdiAcquireSwizzlingRange and DxgkDdiReleaseSwizzlingRange");
    ANSWER(j, ANSWER_BREAKS, c, MaxOverlays,
           !v || (i->DxgkDdiCreateOverlay && i->DxgkDdiUpdateOverlay && i->DxgkDdiFlipOverlay &&
                  i->DxgkDdiDestroyOverlay),
           "0, without DxgkDdiCreateOverlay, UpdateOverlay, FlipOverlay and DestroyOverlay");
    ANSWER(j, ANSWER_BREAKS, c, PresentationCaps.SupportKernelModeCommandBuffer, !v || i->DxgkDdiRenderKm,
           "0, without DxgkDdiRenderKm");
    ANSWER(j, ANSWER_BREAKS, c, SchedulingCaps.MultiEngineAware,
           !v || (i->DxgkDdiCreateContext && i->DxgkDdiDestroyContext),
           "0, without DxgkDdiCreateContext and DxgkDdiDestroyContext");
    if (c->PresentationCaps.SupportKernelModeCommandBuffer)
        ANSWER(j, ANSWER_REMARK, c, PresentationCaps.AlignmentShift, v >= 2,
               "2 and more: pitches are multiples of 4 bytes");
}

static void caps_of_pointer(const DXGK_DRIVERCAPS *c, struct judge *j)
{
    ANSWER(j, ANSWER_REMARK, c, MaxPointerWidth, v <= INT32_MAX / 4,
           "what a Pitch of DXGKARG_SETPOINTERSHAPE can say, at 4 bytes a pixel");
    ANSWER(j, ANSWER_REMARK, c, MaxPointerHeight, v <= INT32_MAX / 4, "a height that a pointer can have");
    if (c->PointerCaps.Value) {
        ANSWER(j, ANSWER_REMARK, c, MaxPointerWidth, v, "1 and more where PointerCaps has a pointer");
        ANSWER(j, ANSWER_REMARK, c, MaxPointerHeight, v, "1 and more where PointerCaps has a pointer");
    }
}

static void caps_reserved(const DXGK_DRIVERCAPS *c, struct judge *j)
{
    ANSWER(j, ANSWER_REMARK, c, PointerCaps.Reserved, !v, "reserved, 0");
    ANSWER(j, ANSWER_REMARK, c, GammaRampCaps.Reserved, !v, "reserved, 0");
    ANSWER(j, ANSWER_REMARK, c, PresentationCaps.Reserved0, !v, "reserved, 0");
    ANSWER(j, ANSWER_REMARK, c, PresentationCaps.Reserved1, !v, "reserved, 0");
    ANSWER(j, ANSWER_REMARK, c, PresentationCaps.Reserved, !v, "reserved, 0");
    ANSWER(j, ANSWER_REMARK, c, FlipCaps.Reserved, !v, "reserved, 0");
    ANSWER(j, ANSWER_REMARK, c, SchedulingCaps.Reserved, !v, "reserved, 0");
    ANSWER(j, ANSWER_REMARK, c, MemoryManagementCaps.DedicatedPagingEngine, !v, "reserved, 0");
    ANSWER(j, ANSWER_REMARK, c, MemoryManagementCaps.PagingEngineCanSwizzle, !v, "reserved, 0");
    ANSWER(j, ANSWER_REMARK, c, MemoryManagementCaps.Reserved, !v, "reserved, 0");
    dxgk_answer(j, ANSWER_REMARK, IS_ZERO(c->GpuEngineTopology.Reserved), "GpuEngineTopology.Reserved", 1,
                "reserved, 0");
    dxgk_answer(j, ANSWER_REMARK, IS_ZERO(c->VirtualAddressCaps), "VirtualAddressCaps", 1, "reserved, 0");
    dxgk_answer(j, ANSWER_REMARK, IS_ZERO(c->DmaBufferCaps), "DmaBufferCaps", 1, "reserved, 0");
    ANSWER(j, ANSWER_REMARK, c, WDDMVersion, !v,
           "reserved, 0 for interface version 0x2005 (DXGKDDI_INTERFACE_VERSION_WIN7)");
}

/* So much has the structure in later versions, at most. */
enum { LATER_CAPS = 1024 };

bool dxgk_answers_query(struct dxgk *d, DXGKARG_QUERYADAPTERINFO *q, const char *ddi, NTSTATUS *s)
{
    const void *in = q->pInputData;
    void *out = q->pOutputData, *room = dxgk_answers_room(q->OutputDataSize), *lent;
    const UINT size = q->OutputDataSize;
    bool kept;

    *s = STATUS_NO_MEMORY;
    if (!room)
        return true;
    memcpy(room, out, size);
    q->pInputData = lent = dxgk_inputs_lend(in, q->InputDataSize);
    q->pOutputData = room;
    *s = DDI_ARG(d, QueryAdapterInfo, d->miniport, q);
    kept = dxgk_inputs_take_back(d, ddi, "pInputData", lent, in, q->InputDataSize);
    kept &= dxgk_answers_kept(d, ddi, "pOutputData, at byte", room, size);
    memcpy(out, room, size);
    free(room);
    q->pInputData = (void *)(uintptr_t)in;
    q->pOutputData = out;
    return kept;
}

bool dxgk_answers_query_caps(struct dxgk *d, NTSTATUS *s)
{
    union {
        DXGK_DRIVERCAPS caps;
        uint8_t later[LATER_CAPS];
    } room = {.later = {0}};
    DXGKARG_QUERYADAPTERINFO q = {.Type = DXGKQAITYPE_DRIVERCAPS,
                                  .pOutputData = &room,
                                  .OutputDataSize = d->version < DXGKDDI_INTERFACE_VERSION_WIN8
                                                        ? offsetof(DXGK_DRIVERCAPS, PreemptionCaps)
                                                    : d->version == DXGKDDI_INTERFACE_VERSION_WIN8
                                                        ? sizeof(room.caps)
                                                        : sizeof(room)};
    bool kept = dxgk_answers_query(d, &q, "DxgkDdiQueryAdapterInfo(DRIVERCAPS)", s);

    d->caps = room.caps;
    return kept;
}

bool dxgk_answers_caps(struct dxgk *d)
{
    struct judge j = {.d = d, .ddi = "DxgkDdiQueryAdapterInfo(DRIVERCAPS)"};
    const DXGK_DRIVERCAPS *c = &d->caps;
    const bool many = c->SchedulingCaps.MultiEngineAware; /* else nodes are ignored */

    ANSWER(&j, ANSWER_BREAKS, c, HighestAcceptableAddress.QuadPart, v >= PAGE_SIZE - 1,
           "4095 and more: below it lies all system memory that the device reaches");
    ANSWER(&j, ANSWER_REMARK, c, MaxAllocationListSlotId, v <= 0xFFFFFF,
           "what the 24 bits of D3DDDI_PATCHLOCATIONLIST.SlotId can say");
    ANSWER(&j, ANSWER_REMARK, c, InterruptMessageNumber, v < (messages(d) ? messages(d) : 1),
           "the number of a message that the adapter has; 0, where it has none");
    ANSWER(&j, ANSWER_REMARK, c, MaxQueuedFlipOnVSync, v || !c->FlipCaps.FlipOnVSyncMmIo,
           "1 and more with FlipCaps.FlipOnVSyncMmIo");
    ANSWER(&j, ANSWER_BREAKS, c, GpuEngineTopology.NbAsymetricProcessingNodes,
           !many || (v && v <= DXGK_MAX_ASYMETRICAL_PROCESSING_NODES),
           "1 to 64 (DXGK_MAX_ASYMETRICAL_PROCESSING_NODES)");
    ANSWER(&j, ANSWER_BREAKS, c, MemoryManagementCaps.PagingNode,
           !many || v < c->GpuEngineTopology.NbAsymetricProcessingNodes || j.broken,
           "less than GpuEngineTopology.NbAsymetricProcessingNodes");
    caps_of_ddis(d, &j);
    caps_of_pointer(c, &j);
    if (d->version == DXGKDDI_INTERFACE_VERSION_WIN7)
        caps_reserved(c, &j);
    return !j.broken;
}

/* ---- segments ------------------------------------------------------------ */

enum { MAX_BANKS = 127, MOST_PRIVATE = 1 << 20, MOST_DMA = 256 << 20 };

bool dxgk_answers_segment_count(struct dxgk *d, const DXGK_QUERYSEGMENTOUT *out)
{
    struct judge j = {.d = d, .ddi = "DxgkDdiQueryAdapterInfo(QUERYSEGMENT)"};

    ANSWER(&j, ANSWER_BREAKS, out, NbSegment, v && v <= MAX_SEGMENTS,
           "1 to 31, what the 5 bits of a segment's identifier can say");
    return !j.broken;
}

/* The ends of all banks but the last, which ends with its segment. */
static void banks(struct judge *j, const DXGK_SEGMENTDESCRIPTOR *s)
{
    SIZE_T ends[MAX_BANKS];
    const size_t size = (s->NbOfBanks - 1) * sizeof(ends[0]);
    bool rise = true;

    if (!size)
        return;
    if (!dxgk_answers_read(ends, s->pBankRangeTable, size)) {
        dxgk_answer(j, ANSWER_BREAKS, false, "pSegmentDescriptor[].pBankRangeTable",
                    (uintptr_t)s->pBankRangeTable, "an array of the ends of NbOfBanks - 1 banks");
        return;
    }
    for (unsigned i = 0; i < s->NbOfBanks - 1 && rise; i++) {
        rise = ends[i] > (i ? ends[i - 1] : 0) && ends[i] < s->Size;
        dxgk_answer(j, ANSWER_BREAKS, rise, "pSegmentDescriptor[].pBankRangeTable, an end", ends[i],
                    "more than the one before it, and less than Size");
    }
}

static bool in_a_window(const struct dxgk *d, uint64_t at, uint64_t size)
{
    for (unsigned i = 0; i < d->bus->num_resources; i++) {
        const struct dxgk_resource *r = &d->bus->resources[i];
        if (r->type == CmResourceTypeMemory && at >= r->start && at - r->start <= r->length &&
            size <= r->length - (at - r->start))
            return true;
    }
    return false;
}

#define SEGMENT(degree, member, holds, allowed)                                                              \
    do {                                                                                                     \
        const uint64_t v = (uint64_t)s->member;                                                              \
        dxgk_answer(j, degree, holds, "pSegmentDescriptor[]." #member, v, allowed);                          \
    } while (0)

static void segment(struct dxgk *d, struct judge *j, const DXGK_SEGMENTDESCRIPTOR *s)
{
    const DXGK_SEGMENTFLAGS f = s->Flags;
    const uint64_t base = (uint64_t)s->BaseAddress.QuadPart;

    SEGMENT(ANSWER_BREAKS, Flags.Value, !f.Agp || v == 2, "Agp, or others, and not both");
    SEGMENT(ANSWER_REMARK, Flags.Reserved, !v, "reserved, 0");
    if (f.Agp)
        return; /* what else there is of it is ignored */
    SEGMENT(ANSWER_BREAKS, Size, v && !(v & (PAGE_SIZE - 1)), "a multiple of 4096 bytes, and not 0");
    SEGMENT(ANSWER_BREAKS, Size, v <= INT64_MAX && base <= (uint64_t)INT64_MAX - v,
            "with BaseAddress what a PHYSICAL_ADDRESS can say");
    SEGMENT(ANSWER_REMARK, Flags.CacheCoherent, !v || f.Aperture, "0 of a memory segment");
    SEGMENT(ANSWER_REMARK, Flags.PopulatedFromSystemMemory, !v || !f.Aperture, "0 of an aperture segment");
    SEGMENT(ANSWER_REMARK, CommitLimit, f.Aperture || v == s->Size, "Size, of a memory segment");
    if (f.CpuVisible && !f.Aperture && !f.PopulatedFromSystemMemory)
        SEGMENT(ANSWER_REMARK, CpuTranslatedAddress.QuadPart, in_a_window(d, v, s->Size),
                "with Size inside of a window of the adapter");
    if (!f.UseBanking)
        return;
    SEGMENT(ANSWER_BREAKS, NbOfBanks, v && v <= MAX_BANKS,
            "1 to 127, what DXGK_SEGMENTBANKPREFERENCE can say");
    if (s->NbOfBanks && s->NbOfBanks <= MAX_BANKS)
        banks(j, s);
}

bool dxgk_answers_segments(struct dxgk *d, const DXGK_QUERYSEGMENTOUT *out, UINT asked,
                           const DXGK_SEGMENTDESCRIPTOR *list, const void *given)
{
    struct judge j = {.d = d, .ddi = "DxgkDdiQueryAdapterInfo(QUERYSEGMENT)"};
    UINT agp = 0;

    ANSWER(&j, ANSWER_BREAKS, out, NbSegment, v == asked, "what it was in the pass before");
    dxgk_answer(&j, ANSWER_BREAKS, out->pSegmentDescriptor == given, "pSegmentDescriptor",
                (uintptr_t)out->pSegmentDescriptor, "the array that it was given");
    for (j.index = 0; j.index < asked; j.index++) {
        segment(d, &j, &list[j.index]);
        agp += list[j.index].Flags.Agp;
    }
    dxgk_answer(&j, ANSWER_BREAKS, agp <= 1, "segments with Flags.Agp", agp, "one at most");
    ANSWER(&j, ANSWER_BREAKS, out, PagingBufferSegmentId,
           !v || (v <= asked && (list[v - 1].Flags.Aperture || list[v - 1].Flags.Agp)),
           "0, or an aperture segment's");
    ANSWER(&j, ANSWER_BREAKS, out, PagingBufferSize, v && v <= MOST_DMA, "1 to 256 MiB");
    ANSWER(&j, ANSWER_BREAKS, out, PagingBufferPrivateDataSize, v <= MOST_PRIVATE,
           "1 MiB at most: it is nonpaged pool");
    return !j.broken;
}

/* ---- children ------------------------------------------------------------ */

#define CHILD(degree, member, holds, allowed)                                                                \
    do {                                                                                                     \
        const uint64_t v = (uint32_t)c->member;                                                              \
        dxgk_answer(j, degree, holds, "ChildRelations[]." #member, v, allowed);                              \
    } while (0)

static void child(struct dxgk *d, struct judge *j, const DXGK_CHILD_DESCRIPTOR *list)
{
    const DXGK_CHILD_DESCRIPTOR *c = &list[j->index];
    const DXGK_CHILD_DEVICE_TYPE type = c->ChildDeviceType;
    bool unique = true;

    for (unsigned i = 0; i < j->index; i++)
        unique &= list[i].ChildUid != c->ChildUid;
    CHILD(ANSWER_BREAKS, ChildDeviceType,
          v == TypeVideoOutput || v == TypeOther || (d->displayonly && v == TypeOther + 1),
          "1 (TypeVideoOutput) or 2 (TypeOther)");
    CHILD(ANSWER_BREAKS, ChildUid, unique, "a number that no other child has");
    CHILD(ANSWER_BREAKS, ChildUid, v != DISPLAY_ADAPTER_HW_ID,
          "any other: that is DISPLAY_ADAPTER_HW_ID, the adapter's own");
    CHILD(ANSWER_REMARK, ChildCapabilities.HpdAwareness,
          v >= HpdAwarenessAlwaysConnected && v <= HpdAwarenessInterruptible,
          "1 to 4 (DXGK_CHILD_DEVICE_HPD_AWARENESS)");
    if (type == TypeOther)
        CHILD(ANSWER_REMARK, ChildCapabilities.Type.Other.MustBeZero, !v, "0");
    if (type != TypeVideoOutput)
        return;
    CHILD(ANSWER_REMARK, ChildCapabilities.Type.VideoOutput.InterfaceTechnology,
          v == (uint32_t)D3DKMDT_VOT_INTERNAL || v == (uint32_t)D3DKMDT_VOT_OTHER ||
              (v <= D3DKMDT_VOT_SDTVDONGLE && v != 7) || d->displayonly,
          "one of D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY");
    CHILD(ANSWER_REMARK, ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness,
          v >= D3DKMDT_MOA_NONE && v <= D3DKMDT_MOA_INTERRUPTIBLE,
          "1 to 3 (D3DKMDT_MONITOR_ORIENTATION_AWARENESS)");
    dxgk_answers_boolean(d, j->ddi, "ChildCapabilities.Type.VideoOutput.SupportsSdtvModes",
                         c->ChildCapabilities.Type.VideoOutput.SupportsSdtvModes);
}

bool dxgk_answers_children(struct dxgk *d, const DXGK_CHILD_DESCRIPTOR *list, unsigned num)
{
    struct judge j = {.d = d, .ddi = "DxgkDdiQueryChildRelations"};

    for (j.index = 0; j.index < num; j.index++)
        child(d, &j, list);
    dxgk_answer(&j, ANSWER_BREAKS, IS_ZERO(list[num]), "ChildRelations[], behind the last child,", 1,
                "zeroed as it was");
    return !j.broken;
}
