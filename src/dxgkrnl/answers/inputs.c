/* SPDX-License-Identifier: MIT */
/* inputs.c: the members of DDIs' arguments that a miniport only reads. */
#include "dxgkrnl/answers/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT(ddi, type, member)                                                                             \
    {                                                                                                        \
        "DxgkDdi" #ddi, #member, offsetof(type, member), sizeof(((type *)0)->member)                         \
    }
#define ESCAPE(m)     INPUT(Escape, DXGKARG_ESCAPE, m)
#define RENDER(m)     INPUT(Render, DXGKARG_RENDER, m)
#define PRESENT(m)    INPUT(Present, DXGKARG_PRESENT, m)
#define PAGING(m)     INPUT(BuildPagingBuffer, DXGKARG_BUILDPAGINGBUFFER, m)
#define SIZES(m)      INPUT(GetStandardAllocationDriverData, DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA, m)
#define CREATE(m)     INPUT(CreateAllocation, DXGKARG_CREATEALLOCATION, m)
#define OPEN(m)       INPUT(OpenAllocation, DXGKARG_OPENALLOCATION, m)
#define CONTEXT(m)    INPUT(CreateContext, DXGKARG_CREATECONTEXT, m)
#define QUERY(m)      INPUT(QueryAdapterInfo, DXGKARG_QUERYADAPTERINFO, m)
#define COLLECT(m)    INPUT(CollectDbgInfo, DXGKARG_COLLECTDBGINFO, m)
#define SUBMIT(m)     INPUT(SubmitCommand, DXGKARG_SUBMITCOMMAND, m)
#define PATCH(m)      INPUT(Patch, DXGKARG_PATCH, m)
#define COMMIT(m)     INPUT(CommitVidPn, DXGKARG_COMMITVIDPN, m)
#define ADDRESS(m)    INPUT(SetVidPnSourceAddress, DXGKARG_SETVIDPNSOURCEADDRESS, m)
#define SHAPE(m)      INPUT(SetPointerShape, DXGKARG_SETPOINTERSHAPE, m)
#define FUNCTIONAL(m) INPUT(RecommendFunctionalVidPn, DXGKARG_RECOMMENDFUNCTIONALVIDPN, m)
#define REQUEST(m)    INPUT(DispatchIoRequest, VIDEO_REQUEST_PACKET, m)
#define ITEM(ddi, list, type, m)                                                                             \
    {                                                                                                        \
        "DxgkDdi" #ddi, #list "[]." #m, offsetof(type, m), sizeof(((type *)0)->m)                            \
    }

/* By name; of a structure that is CONST for the miniport the other bytes are compared, too. */
static const struct input {
    const char *ddi, *member;
    size_t at, size;
} inputs[] = {
    ESCAPE(hDevice),
    ESCAPE(Flags),
    ESCAPE(pPrivateDriverData),
    ESCAPE(PrivateDriverDataSize),
    ESCAPE(hContext),
    RENDER(pCommand),
    RENDER(CommandLength),
    RENDER(DmaSize),
    RENDER(DmaBufferPrivateDataSize),
    RENDER(pAllocationList),
    RENDER(AllocationListSize),
    RENDER(pPatchLocationListIn),
    RENDER(PatchLocationListInSize),
    RENDER(PatchLocationListOutSize),
    RENDER(DmaBufferSegmentId),
    RENDER(DmaBufferPhysicalAddress),
    PRESENT(DmaSize),
    PRESENT(DmaBufferPrivateDataSize),
    PRESENT(pAllocationList),
    PRESENT(PatchLocationListOutSize),
    PRESENT(Color),
    PRESENT(DstRect),
    PRESENT(SrcRect),
    PRESENT(SubRectCnt),
    PRESENT(pDstSubRects),
    PRESENT(FlipInterval),
    PRESENT(Flags),
    PRESENT(DmaBufferSegmentId),
    PRESENT(DmaBufferPhysicalAddress),
    PAGING(DmaSize),
    PAGING(DmaBufferPrivateDataSize),
    PAGING(Operation),
    PAGING(Transfer), /* the largest that we ask for of its union */
    PAGING(hSystemContext),
    SIZES(StandardAllocationType),
    SIZES(pCreateSharedPrimarySurfaceData),
    SIZES(pAllocationPrivateDriverData),
    SIZES(pResourcePrivateDriverData),
    CREATE(pPrivateDriverData),
    CREATE(PrivateDriverDataSize),
    CREATE(NumAllocations),
    CREATE(pAllocationInfo),
    CREATE(Flags),
    OPEN(NumAllocations),
    OPEN(pOpenAllocation),
    OPEN(pPrivateDriverData),
    OPEN(PrivateDriverSize),
    OPEN(Flags),
    CONTEXT(NodeOrdinal),
    CONTEXT(EngineAffinity),
    CONTEXT(Flags),
    CONTEXT(pPrivateDriverData),
    CONTEXT(PrivateDriverDataSize),
    QUERY(Type),
    QUERY(pInputData),
    QUERY(InputDataSize),
    QUERY(pOutputData),
    QUERY(OutputDataSize),
    COLLECT(Reason),
    COLLECT(pBuffer),
    COLLECT(BufferSize),
    COLLECT(pExtension),
    PATCH(pDmaBuffer),
    PATCH(pDmaBufferPrivateData),
    PATCH(pAllocationList),
    PATCH(AllocationListSize),
    PATCH(pPatchLocationList),
    PATCH(PatchLocationListSize),
    PATCH(SubmissionFenceId),
    SUBMIT(pDmaBufferPrivateData),
    SUBMIT(SubmissionFenceId),
    INPUT(DestroyAllocation, DXGKARG_DESTROYALLOCATION, NumAllocations),
    INPUT(DestroyAllocation, DXGKARG_DESTROYALLOCATION, pAllocationList),
    INPUT(CloseAllocation, DXGKARG_CLOSEALLOCATION, NumAllocations),
    INPUT(CloseAllocation, DXGKARG_CLOSEALLOCATION, pOpenHandleList),
    INPUT(DescribeAllocation, DXGKARG_DESCRIBEALLOCATION, hAllocation),
    INPUT(QueryCurrentFence, DXGKARG_QUERYCURRENTFENCE, NodeOrdinal),
    INPUT(QueryCurrentFence, DXGKARG_QUERYCURRENTFENCE, EngineOrdinal),
    INPUT(GetScanLine, DXGKARG_GETSCANLINE, VidPnTargetId),
    INPUT(EnumVidPnCofuncModality, DXGKARG_ENUMVIDPNCOFUNCMODALITY, hConstrainingVidPn),
    INPUT(EnumVidPnCofuncModality, DXGKARG_ENUMVIDPNCOFUNCMODALITY, EnumPivotType),
    INPUT(EnumVidPnCofuncModality, DXGKARG_ENUMVIDPNCOFUNCMODALITY, EnumPivot),
    INPUT(IsSupportedVidPn, DXGKARG_ISSUPPORTEDVIDPN, hDesiredVidPn),
    COMMIT(hFunctionalVidPn),
    COMMIT(AffectedVidPnSourceId),
    COMMIT(MonitorConnectivityChecks),
    COMMIT(hPrimaryAllocation),
    COMMIT(Flags),
    INPUT(RecommendMonitorModes, DXGKARG_RECOMMENDMONITORMODES, VideoPresentTargetId),
    INPUT(RecommendMonitorModes, DXGKARG_RECOMMENDMONITORMODES, hMonitorSourceModeSet),
    INPUT(RecommendMonitorModes, DXGKARG_RECOMMENDMONITORMODES, pMonitorSourceModeSetInterface),
    FUNCTIONAL(NumberOfVidPnTargets),
    FUNCTIONAL(pVidPnTargetPrioritizationVector),
    FUNCTIONAL(hRecommendedFunctionalVidPn),
    FUNCTIONAL(RequestReason),
    FUNCTIONAL(pPrivateDriverData),
    FUNCTIONAL(PrivateDriverDataSize),
    INPUT(RecommendVidPnTopology, DXGKARG_RECOMMENDVIDPNTOPOLOGY, hVidPn),
    INPUT(RecommendVidPnTopology, DXGKARG_RECOMMENDVIDPNTOPOLOGY, VidPnSourceId),
    INPUT(RecommendVidPnTopology, DXGKARG_RECOMMENDVIDPNTOPOLOGY, RequestReason),
    INPUT(RecommendVidPnTopology, DXGKARG_RECOMMENDVIDPNTOPOLOGY, hFallbackTopology),
    INPUT(UpdateActiveVidPnPresentPath, DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH, VidPnPresentPathInfo),
    INPUT(QueryVidPnHWCapability, DXGKARG_QUERYVIDPNHWCAPABILITY, hFunctionalVidPn),
    INPUT(QueryVidPnHWCapability, DXGKARG_QUERYVIDPNHWCAPABILITY, SourceId),
    INPUT(QueryVidPnHWCapability, DXGKARG_QUERYVIDPNHWCAPABILITY, TargetId),
    INPUT(StopCapture, DXGKARG_STOPCAPTURE, hAllocation),
    ADDRESS(VidPnSourceId),
    ADDRESS(PrimarySegment),
    ADDRESS(PrimaryAddress),
    ADDRESS(hAllocation),
    ADDRESS(ContextCount),
    ADDRESS(Context),
    ADDRESS(Flags),
    INPUT(SetVidPnSourceVisibility, DXGKARG_SETVIDPNSOURCEVISIBILITY, VidPnSourceId),
    INPUT(SetVidPnSourceVisibility, DXGKARG_SETVIDPNSOURCEVISIBILITY, Visible),
    SHAPE(Flags),
    SHAPE(Width),
    SHAPE(Height),
    SHAPE(Pitch),
    SHAPE(VidPnSourceId),
    SHAPE(pPixels),
    SHAPE(XHot),
    SHAPE(YHot),
    INPUT(SetPointerPosition, DXGKARG_SETPOINTERPOSITION, VidPnSourceId),
    INPUT(SetPointerPosition, DXGKARG_SETPOINTERPOSITION, X),
    INPUT(SetPointerPosition, DXGKARG_SETPOINTERPOSITION, Y),
    INPUT(SetPointerPosition, DXGKARG_SETPOINTERPOSITION, Flags),
    INPUT(SetPalette, DXGKARG_SETPALETTE, VidPnSourceId),
    INPUT(SetPalette, DXGKARG_SETPALETTE, FirstEntry),
    INPUT(SetPalette, DXGKARG_SETPALETTE, NumEntries),
    INPUT(SetPalette, DXGKARG_SETPALETTE, pLookupTable),
    REQUEST(IoControlCode),
    REQUEST(StatusBlock),
    REQUEST(InputBuffer),
    REQUEST(InputBufferLength),
    REQUEST(OutputBuffer),
    REQUEST(OutputBufferLength),
    INPUT(PreemptCommand, DXGKARG_PREEMPTCOMMAND, PreemptionFenceId),
    INPUT(PreemptCommand, DXGKARG_PREEMPTCOMMAND, NodeOrdinal),
};

/* As a number, where it is one; the first eight bytes from the one that is another, of more. */
static uint64_t value_of(const uint8_t *member, size_t size, size_t from)
{
    uint64_t value = 0;

    memcpy(&value, member + from, size - from < sizeof(value) ? size - from : sizeof(value));
    return value;
}

/* Of the lists in some of these. */
static const struct input items[] = {
    ITEM(CreateAllocation, pAllocationInfo, DXGK_ALLOCATIONINFO, pPrivateDriverData),
    ITEM(CreateAllocation, pAllocationInfo, DXGK_ALLOCATIONINFO, PrivateDriverDataSize),
    ITEM(OpenAllocation, pOpenAllocation, DXGK_OPENALLOCATIONINFO, hAllocation),
    ITEM(OpenAllocation, pOpenAllocation, DXGK_OPENALLOCATIONINFO, pPrivateDriverData),
    ITEM(OpenAllocation, pOpenAllocation, DXGK_OPENALLOCATIONINFO, PrivateDriverDataSize),
};

static bool take(struct judge *j, const struct input *table, size_t num, void *arg, const void *given)
{
    bool kept = true;

    for (size_t i = 0; i < num; i++) {
        const struct input *in = &table[i];
        uint8_t *now = (uint8_t *)arg + in->at;
        const uint8_t *then = (const uint8_t *)given + in->at;
        char allowed[80];
        size_t at = 0;

        if (strcmp(in->ddi, j->ddi) != 0 || !memcmp(now, then, in->size))
            continue;
        while (in->size > sizeof(uint64_t) && now[at] == then[at])
            at++;
        snprintf(allowed, sizeof(allowed), "what it was given, which it has to read only: 0x%llx",
                 (unsigned long long)value_of(then, in->size, at));
        dxgk_answer(j, ANSWER_BREAKS, false, in->member, value_of(now, in->size, at), allowed);
        memcpy(now, then, in->size);
        kept = false;
    }
    return kept;
}

bool dxgk_inputs_take(struct dxgk *d, const char *ddi, void *arg, const void *given, size_t size,
                      bool constant)
{
    struct judge j = {.d = d, .ddi = ddi};
    bool kept;

    if (!memcmp(arg, given, size))
        return true;
    kept = take(&j, inputs, sizeof(inputs) / sizeof(inputs[0]), arg, given);
    return (!constant || dxgk_inputs_take_all(d, ddi, "its argument", arg, given, size)) && kept;
}

bool dxgk_inputs_take_all(struct dxgk *d, const char *ddi, const char *what, void *now, const void *given,
                          size_t size)
{
    const uint8_t *is = now, *was = given;
    struct judge j = {.d = d, .ddi = ddi};
    char member[110], allowed[80];
    size_t at = 0;

    while (at < size && is[at] == was[at])
        at++;
    if (at == size)
        return true;
    snprintf(member, sizeof(member), "%s, of which it has to read all only, at byte %zu", what, at);
    snprintf(allowed, sizeof(allowed), "what it was given: 0x%llx",
             (unsigned long long)value_of(was, size, at));
    dxgk_answer(&j, ANSWER_BREAKS, false, member, value_of(is, size, at), allowed);
    memcpy(now, given, size);
    return false;
}

void *dxgk_inputs_lend(const void *list, size_t size)
{
    void *room = list ? dxgk_answers_room(size) : NULL;

    return room ? memcpy(room, list, size) : (void *)(uintptr_t)list;
}

bool dxgk_inputs_take_back(struct dxgk *d, const char *ddi, const char *member, void *lent, const void *list,
                           size_t size)
{
    char behind[80];
    bool kept;

    if (lent == list)
        return true;
    snprintf(behind, sizeof(behind), "%s, at byte", member);
    kept = dxgk_answers_kept(d, ddi, behind, lent, size);
    kept &= dxgk_inputs_take_all(d, ddi, member, lent, list, size);
    free(lent);
    return kept;
}

void *dxgk_inputs_copy(const void *list, size_t size)
{
    void *copy = malloc(size ? size : 1);

    return copy ? memcpy(copy, list, size) : NULL;
}

bool dxgk_inputs_take_list(struct dxgk *d, const char *ddi, void *list, const void *given, size_t size,
                           unsigned count)
{
    struct judge j = {.d = d, .ddi = ddi};
    bool kept = true;

    for (; j.index < count; j.index++)
        kept &= take(&j, items, sizeof(items) / sizeof(items[0]), (char *)list + j.index * size,
                     (const char *)given + j.index * size);
    return kept;
}
