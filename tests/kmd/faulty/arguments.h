/* SPDX-License-Identifier: MIT */
/* arguments.h: what faulty.c does wrong with what DDIs are handed, when their own work is done. */
#pragma once

/* DDIs whose second argument (DispatchIoRequest's third) is a structure; DxgkInterface and the descriptor are others. */
#define ARGUMENTS(F)                                                                                         \
    F(Render, DXGKARG_RENDER)                                                                                \
    F(Present, DXGKARG_PRESENT)                                                                              \
    F(Patch, DXGKARG_PATCH)                                                                                  \
    F(SubmitCommand, DXGKARG_SUBMITCOMMAND)                                                                  \
    F(PreemptCommand, DXGKARG_PREEMPTCOMMAND)                                                                \
    F(BuildPagingBuffer, DXGKARG_BUILDPAGINGBUFFER)                                                          \
    F(Escape, DXGKARG_ESCAPE)                                                                                \
    F(CollectDbgInfo, DXGKARG_COLLECTDBGINFO)                                                                \
    F(QueryAdapterInfo, DXGKARG_QUERYADAPTERINFO)                                                            \
    F(QueryChildStatus, DXGK_CHILD_STATUS)                                                                   \
    F(QueryCurrentFence, DXGKARG_QUERYCURRENTFENCE)                                                          \
    F(StartDevice, DXGK_START_INFO)                                                                          \
    F(AddDevice, PVOID)                                                                                      \
    F(CreateDevice, DXGKARG_CREATEDEVICE)                                                                    \
    F(CreateContext, DXGKARG_CREATECONTEXT)                                                                  \
    F(CreateAllocation, DXGKARG_CREATEALLOCATION)                                                            \
    F(DestroyAllocation, DXGKARG_DESTROYALLOCATION)                                                          \
    F(OpenAllocation, DXGKARG_OPENALLOCATION)                                                                \
    F(CloseAllocation, DXGKARG_CLOSEALLOCATION)                                                              \
    F(GetStandardAllocationDriverData, DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA)                              \
    F(EnumVidPnCofuncModality, DXGKARG_ENUMVIDPNCOFUNCMODALITY)                                              \
    F(IsSupportedVidPn, DXGKARG_ISSUPPORTEDVIDPN)                                                            \
    F(CommitVidPn, DXGKARG_COMMITVIDPN)                                                                      \
    F(SetVidPnSourceAddress, DXGKARG_SETVIDPNSOURCEADDRESS)                                                  \
    F(SetVidPnSourceVisibility, DXGKARG_SETVIDPNSOURCEVISIBILITY)                                            \
    F(SetPointerShape, DXGKARG_SETPOINTERSHAPE)                                                              \
    F(SetPointerPosition, DXGKARG_SETPOINTERPOSITION)                                                        \
    F(RecommendMonitorModes, DXGKARG_RECOMMENDMONITORMODES)                                                  \
    F(RecommendFunctionalVidPn, DXGKARG_RECOMMENDFUNCTIONALVIDPN)                                            \
    F(RecommendVidPnTopology, DXGKARG_RECOMMENDVIDPNTOPOLOGY)                                                \
    F(QueryVidPnHWCapability, DXGKARG_QUERYVIDPNHWCAPABILITY)                                                \
    F(DispatchIoRequest, VIDEO_REQUEST_PACKET)

/* In the DDI: `q` is its argument. */
#define FAULTS_OF_ARGUMENTS(F)                                                                               \
    F(list_over, Render, q->pAllocationList[q->AllocationListSize].PhysicalAddress.QuadPart = 5)             \
    F(list_over, Present, memset(&q->pAllocationList[DXGK_PRESENT_MAX_INDEX + 1], 0x55, 24))                 \
    F(member_pointer, Escape, q->pPrivateDriverData = NULL)                                                  \
    F(member_pointer, GetStandardAllocationDriverData, q->pAllocationPrivateDriverData = NULL)               \
    F(member_size, Escape, q->PrivateDriverDataSize = 1 << 20)                                               \
    F(behind_argument, CollectDbgInfo, q->pExtension[1].BucketingKey = 1)                                    \
    F(list_item, CreateAllocation, q->pAllocationInfo->PrivateDriverDataSize = 7)                            \
    F(list_item, OpenAllocation, q->pOpenAllocation->hAllocation = 0x55)                                     \
    F(constant, SubmitCommand, q->DmaBufferSubmissionEndOffset = 77)                                         \
    F(constant, DestroyAllocation, q->Flags.Value ^= 77)                                                     \
    F(constant, StartDevice, q->RequiredDmaQueueEntry = 77)                                                  \
    F(fence_wrong, QueryCurrentFence, q->CurrentFence = ~0u)                                                 \
    F(end_back, Render, q->pDmaBuffer = (char *)q->pDmaBuffer - 1000000)                                     \
    F(end_null, BuildPagingBuffer, q->pDmaBuffer = NULL)                                                     \
    F(member_display, EnumVidPnCofuncModality, q->EnumPivotType = 77)                                        \
    F(member_display, IsSupportedVidPn, q->hDesiredVidPn = NULL)                                             \
    F(member_display, CommitVidPn, q->AffectedVidPnSourceId = 77)                                            \
    F(member_display, SetVidPnSourceAddress, q->PrimaryAddress.QuadPart = 77)                                \
    F(member_display, SetVidPnSourceVisibility, q->Visible ^= 1)                                             \
    F(member_display, SetPointerShape, q->Pitch = 77)                                                        \
    F(member_display, SetPointerPosition, q->Flags.Value = 77)                                               \
    F(member_display, RecommendMonitorModes, q->VideoPresentTargetId = 77)                                   \
    F(member_display, RecommendFunctionalVidPn, q->NumberOfVidPnTargets = 77)                                \
    F(member_display, RecommendVidPnTopology, q->VidPnSourceId = 77)                                         \
    F(member_display, QueryVidPnHWCapability, q->TargetId = 77)                                              \
    F(member_display, DispatchIoRequest, q->OutputBufferLength = 77)                                         \
    /* Lists that are CONST. */                                                                              \
    F(list, DestroyAllocation, *(HANDLE *)(ULONG_PTR)q->pAllocationList = (HANDLE)5)                         \
    F(list, CloseAllocation, *(HANDLE *)(ULONG_PTR)q->pOpenHandleList = (HANDLE)5)                           \
    F(list, SetPointerShape, *(UCHAR *)(ULONG_PTR)q->pPixels ^= 1)                                           \
    F(list, QueryAdapterInfo, write_input((DXGKARG_QUERYADAPTERINFO *)q))                                    \
    F(list, RecommendFunctionalVidPn, *(UINT *)(ULONG_PTR)q->pVidPnTargetPrioritizationVector = 77)          \
    F(list_behind, CloseAllocation, ((HANDLE *)(ULONG_PTR)q->pOpenHandleList)[q->NumAllocations] = NULL)     \
    F(segments_over, QueryAdapterInfo, write_segments((DXGKARG_QUERYADAPTERINFO *)q))                        \
    F(output_over, QueryAdapterInfo, memset((char *)q->pOutputData + q->OutputDataSize, 0, 8))

/* What is in front of it, behind it, and where it was. */
#define FAULTS_OF_ANY_ARGUMENT(F)                                                                            \
    F(over, ((UCHAR *)arg)[size] = 0x55)                                                                     \
    F(over_40, ((UCHAR *)arg)[size + 40] = 0x55)                                                             \
    F(over_far, ((UCHAR *)arg)[size + 60000] = 0x55)                                                         \
    F(read_over, sink = ((volatile UCHAR *)arg)[size])                                                       \
    F(in_front, ((UCHAR *)arg)[-8] = 0x55)                                                                   \
    F(after, {                                                                                               \
        if (last)                                                                                            \
            *last = 0x55;                                                                                    \
        last = arg;                                                                                          \
    })

/* Of what is no second argument: done in around_... */
#define FAULTS_OF_OTHER_ARGUMENTS(F)                                                                         \
    F(sources_over)                                                                                          \
    F(information)                                                                                           \
    F(timer_stack) F(interface) F(interface_over) F(descriptor_over) F(edid_over) F(children_over)

static UCHAR *last;

static void write_input(DXGKARG_QUERYADAPTERINFO *q)
{
    if (q->InputDataSize)
        *(UCHAR *)(ULONG_PTR)q->pInputData ^= 1;
}

static void write_segments(DXGKARG_QUERYADAPTERINFO *q)
{
    DXGK_QUERYSEGMENTOUT *out = q->pOutputData;

    if (q->Type == DXGKQAITYPE_QUERYSEGMENT && out->pSegmentDescriptor)
        out->pSegmentDescriptor[out->NbSegment].NbOfBanks = 1;
}

static BOOLEAN is_of_arguments(void)
{
#define IS(name, ...)                                                                                        \
    if (!strcmp(fault, #name))                                                                               \
        return TRUE;
    FAULTS_OF_ARGUMENTS(IS)
    FAULTS_OF_ANY_ARGUMENT(IS)
    FAULTS_OF_OTHER_ARGUMENTS(IS)
    return FALSE;
}

#define TYPE(name, type) typedef type argument_##name;
ARGUMENTS(TYPE)

static void arguments(int ddi, void *arg)
{
    SIZE_T size = 0;

#define SIZE(name, type) size = ddi == I_##name ? sizeof(type) : size;
    ARGUMENTS(SIZE)
#define WRITE(name, function, statement)                                                                     \
    if (!strcmp(fault, #name) && ddi == I_##function) {                                                      \
        argument_##function *q = arg;                                                                        \
        statement;                                                                                           \
    }
    FAULTS_OF_ARGUMENTS(WRITE)
#define WRITE_ANY(name, statement)                                                                           \
    if (!strcmp(fault, #name))                                                                               \
        statement;
    FAULTS_OF_ANY_ARGUMENT(WRITE_ANY)
    if (!strcmp(fault, "timer_stack")) {
        KTIMER t;
        KeInitializeTimer(&t);
        KeSetTimer(&t, later, NULL);
    }
}

/* The same of other arguments: b is the second, and so on. */
static void other_arguments(int ddi, ULONG_PTR b, ULONG_PTR c, ULONG_PTR d)
{
    if (ddi == I_StartDevice && !strcmp(fault, "sources_over"))
        ((ULONG *)d)[1] = 0;
    if (ddi == I_StartDevice && !strcmp(fault, "interface"))
        ((DXGKRNL_INTERFACE *)c)->DxgkCbQueueDpc = NULL;
    if (ddi == I_StartDevice && !strcmp(fault, "interface_over"))
        ((UCHAR *)c)[((DXGKRNL_INTERFACE *)c)->Size] = 0x55;
    if (ddi == I_QueryDeviceDescriptor && !strcmp(fault, "descriptor_over"))
        ((DXGK_DEVICE_DESCRIPTOR *)c)[1].DescriptorOffset = 0;
    if (ddi == I_QueryDeviceDescriptor && !strcmp(fault, "edid_over"))
        ((UCHAR *)((DXGK_DEVICE_DESCRIPTOR *)c)->DescriptorBuffer)[128] = 0x55;
    if (ddi == I_QueryChildRelations && !strcmp(fault, "children_over"))
        ((UCHAR *)b)[c] = 0;
}
