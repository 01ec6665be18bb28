/* SPDX-License-Identifier: MIT */
/* The DDIs that no thunk leads to, or only with what dxgkrnl itself would say: called as Windows may call them. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dxgkrnl/display/vidpn.h"
#include "kmd/kmd.h"
#include "kmd_rig.h"

#define SIM (&(struct stack_params){.machine = {.kind = MACHINE_SIM, .seed = 1}})

static struct kmd *enter(struct rig *r)
{
    dxgk_kernel_enter(r->dxgk->kernel);
    return r->dxgk->miniport;
}

static void leave(struct rig *r)
{
    dxgk_kernel_leave(r->dxgk->kernel);
}

/* ---- pointer ------------------------------------------------------------- */

static void shape(struct rig *r, DXGKARG_SETPOINTERSHAPE *s, NTSTATUS want)
{
    struct kmd *k = enter(r);

    assert_int_equal(kmd_SetPointerShape(k, s), want);
    leave(r);
}

TEST(pointers_of_all_kinds_are_shown)
{
    uint8_t mono[2 * 2 * 8] = {0};
    uint32_t color[16 * 16];
    DXGKARG_SETPOINTERSHAPE s = {.Width = 16, .Height = 8, .Pitch = 2, .pPixels = mono, .XHot = 1, .YHot = 2};
    DXGKARG_SETPOINTERPOSITION p = {.X = -3, .Y = 100};
    struct aerogpu_escape_query_cursor q = {0};
    struct gpu_picture pic;
    struct error e = {0};
    struct rig r = {0};

    rig_up(&r, SIM);
    mono[0] = 0xC0; /* row 0: AND 1100.., XOR 0101..: transparent, inverting, black, white */
    mono[16] = 0x50;
    s.Flags.Monochrome = 1;
    shape(&r, &s, STATUS_SUCCESS);
    p.Flags.Visible = 1;
    assert_int_equal(kmd_SetPointerPosition(enter(&r), &p), STATUS_SUCCESS);
    leave(&r);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_CURSOR, &q), STATUS_SUCCESS);
    assert_int_equal(q.enable, 1);
    assert_int_equal((int32_t)q.x, -2); /* the corner is at -3, the hot spot one further */
    assert_int_equal(q.y, 102);
    assert_int_equal(gpu_read_cursor(machine_gpu(stack_machine(r.stack)), &pic, &e), 0);
    assert_memory_equal(pic.rgba, ((uint8_t[]){0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 255}),
                        16);
    free(pic.rgba);
    for (uint32_t i = 0; i < 256; i++)
        color[i] = i << 24 | i;
    s = (DXGKARG_SETPOINTERSHAPE){.Width = 16, .Height = 16, .Pitch = 64, .pPixels = color};
    s.Flags.Color = 1;
    shape(&r, &s, STATUS_SUCCESS);
    assert_int_equal(gpu_read_cursor(machine_gpu(stack_machine(r.stack)), &pic, &e), 0);
    assert_int_equal(pic.rgba[4 * 200 + 3], 200);
    free(pic.rgba);
    color[0] = 0x00112233; /* replaces */
    color[1] = 0xFF000000; /* leaves the screen alone */
    s.Flags.Value = 0;
    s.Flags.MaskedColor = 1;
    shape(&r, &s, STATUS_SUCCESS);
    assert_int_equal(gpu_read_cursor(machine_gpu(stack_machine(r.stack)), &pic, &e), 0);
    assert_memory_equal(pic.rgba, ((uint8_t[]){0x11, 0x22, 0x33, 255, 0, 0, 0, 0}), 8);
    free(pic.rgba);
    p.Flags.Visible = 0;
    assert_int_equal(kmd_SetPointerPosition(enter(&r), &p), STATUS_SUCCESS);
    leave(&r);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_CURSOR, &q), STATUS_SUCCESS);
    assert_int_equal(q.enable, 0);
    s.Width = 65;
    shape(&r, &s, STATUS_INVALID_PARAMETER);
    s.Width = 16;
    s.Pitch = 63;
    shape(&r, &s, STATUS_INVALID_PARAMETER);
    s.Pitch = 64;
    s.XHot = 16;
    shape(&r, &s, STATUS_INVALID_PARAMETER);
    s.XHot = 0;
    s.Flags.Color = 1; /* two kinds at once */
    shape(&r, &s, STATUS_INVALID_PARAMETER);
    s.Flags.MaskedColor = 0;
    s.VidPnSourceId = 1;
    shape(&r, &s, STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE);
    rig_down(&r);
}

/* ---- monitor and networks ------------------------------------------------ */

TEST(the_edid_is_sound)
{
    uint8_t edid[128], sum = 0;
    DXGK_DEVICE_DESCRIPTOR d = {.DescriptorLength = 128, .DescriptorBuffer = edid};
    struct rig r = {0};

    rig_up(&r, SIM);
    assert_int_equal(kmd_QueryDeviceDescriptor(enter(&r), KMD_TARGET, &d), STATUS_SUCCESS);
    for (int i = 0; i < 128; i++)
        sum = (uint8_t)(sum + edid[i]);
    assert_int_equal(sum, 0);
    assert_memory_equal(edid, ((uint8_t[]){0, 255, 255, 255, 255, 255, 255, 0}), 8);
    assert_int_equal(edid[54 + 2] | (edid[54 + 4] & 0xF0) << 4, 1024);
    assert_int_equal(edid[54 + 5] | (edid[54 + 7] & 0xF0) << 4, 768);
    assert_memory_equal(edid + 90 + 5, "AeroGPU\n", 8);
    d.DescriptorOffset = 128;
    assert_int_equal(kmd_QueryDeviceDescriptor(r.dxgk->miniport, KMD_TARGET, &d),
                     STATUS_MONITOR_NO_MORE_DESCRIPTOR_DATA);
    d = (DXGK_DEVICE_DESCRIPTOR){.DescriptorOffset = 120, .DescriptorLength = 128, .DescriptorBuffer = edid};
    assert_int_equal(kmd_QueryDeviceDescriptor(r.dxgk->miniport, KMD_TARGET, &d),
                     STATUS_SUCCESS); /* what is left */
    assert_int_equal(kmd_QueryDeviceDescriptor(r.dxgk->miniport, 2, &d), STATUS_INVALID_PARAMETER);
    leave(&r);
    rig_down(&r);
}

static bool supported(struct kmd *k, struct vidpn *v)
{
    DXGKARG_ISSUPPORTEDVIDPN s = {.hDesiredVidPn = dxgk_vidpn_handle(v), .IsVidPnSupported = 77};

    assert_int_equal(kmd_IsSupportedVidPn(k, &s), STATUS_SUCCESS);
    return s.IsVidPnSupported;
}

TEST(networks_are_recommended_and_checked)
{
    struct rig r = {0};
    struct vidpn *v, *w;
    struct kmd *k;
    DXGKARG_RECOMMENDFUNCTIONALVIDPN f = {0};
    DXGKARG_RECOMMENDVIDPNTOPOLOGY t = {0};
    DXGKARG_COMMITVIDPN c = {0};
    DXGKARG_QUERYVIDPNHWCAPABILITY caps = {.TargetId = KMD_TARGET};
    DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH u = {0};
    DXGKARG_ENUMVIDPNCOFUNCMODALITY e = {.EnumPivotType = D3DKMDT_EPT_NOPIVOT};

    rig_up(&r, SIM);
    k = enter(&r);
    v = dxgk_vidpn_create(r.dxgk);
    assert_true(supported(k, v)); /* nothing shown is a way to be */
    v->open = VIDPN_TOPOLOGY;
    f.hRecommendedFunctionalVidPn = dxgk_vidpn_handle(v);
    assert_int_equal(kmd_RecommendFunctionalVidPn(k, &f), STATUS_SUCCESS);
    assert_true(supported(k, v));
    assert_non_null(v->source[0]->pinned);
    assert_int_equal(v->source[0]->pinned->source.Format.Graphics.PrimSurfSize.cx, 1024);
    assert_int_equal(v->target[0]->pinned->target.VideoSignalInfo.ActiveSize.cy, 768);
    assert_int_equal(v->target[0]->pinned->target.VideoSignalInfo.TotalSize.cy, 768 + 38);
    w = dxgk_vidpn_create(r.dxgk); /* a target that is pinned: the source goes with it */
    w->open = VIDPN_TOPOLOGY;
    t.hVidPn = dxgk_vidpn_handle(w);
    assert_int_equal(kmd_RecommendVidPnTopology(k, &t), STATUS_SUCCESS);
    assert_non_null(w->paths);
    assert_int_equal(kmd_RecommendVidPnTopology(k, &t), STATUS_SUCCESS); /* is there already */
    t.VidPnSourceId = 1;
    assert_int_equal(kmd_RecommendVidPnTopology(k, &t), STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE);
    e.hConstrainingVidPn = dxgk_vidpn_handle(w);
    assert_int_equal(kmd_EnumVidPnCofuncModality(k, &e), STATUS_SUCCESS);
    assert_int_equal(w->source[0]->count, 16);
    assert_int_equal(w->target[0]->count, 8);
    assert_true(w->paths->info.ContentTransformation.ScalingSupport.Identity);
    assert_false(w->paths->info.ContentTransformation.ScalingSupport.Stretched);
    w->target[0]->pinned = w->target[0]->modes; /* 640 x 480 */
    assert_int_equal(kmd_EnumVidPnCofuncModality(k, &e), STATUS_SUCCESS);
    assert_int_equal(w->source[0]->count, 2);
    assert_int_equal(w->source[0]->modes->source.Format.Graphics.PrimSurfSize.cx, 640);
    assert_int_equal(w->target[0]->count, 8); /* pinned: left alone */
    w->source[0]->pinned = w->source[0]->modes;
    assert_true(supported(k, w));
    w->paths->info.ContentTransformation.Scaling = D3DKMDT_VPPS_STRETCHED;
    assert_false(supported(k, w));
    c.hFunctionalVidPn = dxgk_vidpn_handle(w);
    assert_int_equal(kmd_CommitVidPn(k, &c), STATUS_GRAPHICS_VIDPN_TOPOLOGY_NOT_SUPPORTED);
    w->paths->info.ContentTransformation.Scaling = D3DKMDT_VPPS_IDENTITY;
    w->source[0]->modes->source.Format.Graphics.PrimSurfSize.cx = 641;
    assert_false(supported(k, w));
    assert_int_equal(kmd_CommitVidPn(k, &c), STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE);
    w->source[0]->modes->source.Format.Graphics.PrimSurfSize.cx = 640;
    w->target[0]->modes->target.VideoSignalInfo.VSyncFreq = (D3DDDI_RATIONAL){59940, 1000};
    assert_true(supported(k, w));
    w->target[0]->modes->target.VideoSignalInfo.VSyncFreq = (D3DDDI_RATIONAL){75, 1};
    assert_false(supported(k, w));
    c.AffectedVidPnSourceId = 1;
    assert_int_equal(kmd_CommitVidPn(k, &c), STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE);
    assert_int_equal(kmd_QueryVidPnHWCapability(k, &caps), STATUS_SUCCESS);
    assert_int_equal(caps.VidPnHWCaps.DriverRotation, 0);
    caps.TargetId = 9;
    assert_int_equal(kmd_QueryVidPnHWCapability(k, &caps), STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET);
    u.VidPnPresentPathInfo = v->paths->info;
    assert_int_equal(kmd_UpdateActiveVidPnPresentPath(k, &u), STATUS_SUCCESS);
    u.VidPnPresentPathInfo.ContentTransformation.Rotation = D3DKMDT_VPPR_ROTATE90;
    assert_int_equal(kmd_UpdateActiveVidPnPresentPath(k, &u), STATUS_GRAPHICS_VIDPN_TOPOLOGY_NOT_SUPPORTED);
    dxgk_vidpn_destroy(v);
    dxgk_vidpn_destroy(w);
    leave(&r);
    rig_down(&r);
}

/* The executor can write the ring: that nothing fits into it any more is not dxgkrnl's business, but a time-out's. */
TEST(a_submission_that_finds_no_room_is_taken_and_lost)
{
    DXGKARG_SUBMITCOMMAND s = {.Flags.NullRendering = 1};
    UCHAR private[64] = {0};
    struct rig r = {0};
    ULONGLONG submitted;
    struct kmd *k;
    KIRQL old;

    rig_up(&r, SIM);
    k = enter(&r);
    submitted = k->submitted;
    s.SubmissionFenceId = (UINT)submitted + 1;
    s.pDmaBufferPrivateData = private;
    *(volatile ULONG *)&k->ring->head = k->ring_tail - k->ring_entries;
    k->overflow_count = KMD_MAX_IN_FLIGHT;
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    assert_int_equal(kmd_SubmitCommand(k, &s), STATUS_SUCCESS);
    KeLowerIrql(old);
    assert_int_equal(k->overflow_count, KMD_MAX_IN_FLIGHT);
    k->overflow_count = 0; /* as if it had not been */
    k->nodes[0].tail--;
    k->submitted = submitted;
    *(volatile ULONG *)&k->ring->head = k->ring_tail;
    leave(&r);
    rig_down(&r);
}

/* What a reset ended is not asked for any more: else the next preemption is taken for one that is under way. */
TEST(a_reset_ends_a_preemption)
{
    struct rig r = {0};
    struct kmd *k;

    rig_up(&r, SIM);
    k = enter(&r);
    k->nodes[0].preempting = TRUE;
    assert_int_equal(kmd_ResetFromTimeout(k), STATUS_SUCCESS);
    assert_int_equal(kmd_RestartFromTimeout(k), STATUS_SUCCESS);
    assert_false(k->nodes[0].preempting);
    leave(&r);
    rig_down(&r);
}

/* ---- memory -------------------------------------------------------------- */

TEST(scattered_pages_are_refused)
{
    struct {
        MDL mdl;
        PFN_NUMBER pages[4];
    } m = {.mdl.ByteCount = 4 * 4096, .pages = {100, 101, 103, 104}};
    DXGKARG_BUILDPAGINGBUFFER b = {.Operation = DXGK_OPERATION_MAP_APERTURE_SEGMENT};
    PHYSICAL_ADDRESS at = {.QuadPart = KMD_APERTURE_BASE + 1000 * 4096};
    struct rig r = {0};
    struct kmd *k;

    rig_up(&r, SIM);
    k = enter(&r);
    b.MapApertureSegment.SegmentId = 1;
    b.MapApertureSegment.OffsetInPages = 1000;
    b.MapApertureSegment.NumberOfPages = 4;
    b.MapApertureSegment.pMdl = &m.mdl;
    assert_int_equal(kmd_BuildPagingBuffer(k, &b), STATUS_SUCCESS);
    assert_null(b.pDmaBuffer); /* nothing for the device to do */
    assert_int_equal(kmd_resolve(k, NULL, at, 8192), 100 * 4096);
    assert_int_equal(kmd_resolve(k, NULL, at, 8193), 0);
    at.QuadPart += 2 * 4096 + 16;
    assert_int_equal(kmd_resolve(k, NULL, at, 8192 - 16), 103 * 4096 + 16);
    assert_int_equal(kmd_resolve(k, NULL, at, 8192), 0); /* one page too far */
    b.Operation = DXGK_OPERATION_UNMAP_APERTURE_SEGMENT;
    b.UnmapApertureSegment.SegmentId = 1;
    b.UnmapApertureSegment.OffsetInPages = 1000;
    b.UnmapApertureSegment.NumberOfPages = 4;
    assert_int_equal(kmd_BuildPagingBuffer(k, &b), STATUS_SUCCESS);
    assert_int_equal(kmd_resolve(k, NULL, at, 1), 0);
    b.UnmapApertureSegment.NumberOfPages = k->num_pages;
    assert_int_equal(kmd_BuildPagingBuffer(k, &b), STATUS_INVALID_PARAMETER);
    b.UnmapApertureSegment.NumberOfPages = SIZE_MAX;
    assert_int_equal(kmd_BuildPagingBuffer(k, &b), STATUS_INVALID_PARAMETER);
    b.UnmapApertureSegment.NumberOfPages = 1;
    b.UnmapApertureSegment.SegmentId = 2;
    assert_int_equal(kmd_BuildPagingBuffer(k, &b), STATUS_INVALID_PARAMETER);
    b.Operation = DXGK_OPERATION_DISCARD_CONTENT;
    assert_int_equal(kmd_BuildPagingBuffer(k, &b), STATUS_SUCCESS);
    b.Operation = DXGK_OPERATION_FILL;
    assert_int_equal(kmd_BuildPagingBuffer(k, &b), STATUS_NOT_SUPPORTED);
    at.QuadPart = 4096; /* not in the aperture */
    assert_int_equal(kmd_resolve(k, NULL, at, 1), 0);
    at.QuadPart = INT64_MAX;
    assert_int_equal(kmd_resolve(k, NULL, at, UINT64_MAX), 0);
    leave(&r);
    rig_down(&r);
}

TEST(standard_allocations_describe_themselves)
{
    D3DKMDT_GDISURFACEDATA g = {.Width = 100, .Height = 50, .Format = D3DDDIFMT_A8R8G8B8};
    struct aerogpu_alloc_priv_v2 p, q;
    DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA a = {.StandardAllocationType =
                                                     D3DKMDT_STANDARDALLOCATION_GDISURFACE};
    struct rig r = {0};
    struct kmd *k;

    rig_up(&r, SIM);
    k = enter(&r);
    a.pCreateGdiSurfaceData = &g;
    assert_int_equal(kmd_GetStandardAllocationDriverData(k, &a), STATUS_SUCCESS);
    assert_int_equal(a.AllocationPrivateDriverDataSize, sizeof(p));
    assert_int_equal(g.Pitch, 512);
    a.pAllocationPrivateDriverData = &p;
    assert_int_equal(kmd_GetStandardAllocationDriverData(k, &a), STATUS_SUCCESS);
    assert_int_equal(p.size_bytes, 512 * 50);
    assert_int_equal(p.format, 87);
    assert_true(p.alloc_id >= AEROGPU_ALLOC_ID_KMD_MIN);
    a.pAllocationPrivateDriverData = &q;
    assert_int_equal(kmd_GetStandardAllocationDriverData(k, &a), STATUS_SUCCESS);
    assert_int_not_equal(q.alloc_id, p.alloc_id);
    a.AllocationPrivateDriverDataSize = 63;
    assert_int_equal(kmd_GetStandardAllocationDriverData(k, &a), STATUS_BUFFER_TOO_SMALL);
    g.Format = D3DDDIFMT_P8;
    assert_int_equal(kmd_GetStandardAllocationDriverData(k, &a), STATUS_NOT_SUPPORTED);
    g.Format = D3DDDIFMT_A8R8G8B8;
    g.Width = 0;
    assert_int_equal(kmd_GetStandardAllocationDriverData(k, &a), STATUS_INVALID_PARAMETER);
    g.Width = UINT32_MAX;
    assert_int_equal(kmd_GetStandardAllocationDriverData(k, &a), STATUS_INVALID_PARAMETER);
    a.StandardAllocationType = 99;
    assert_int_equal(kmd_GetStandardAllocationDriverData(k, &a), STATUS_NOT_SUPPORTED);
    leave(&r);
    rig_down(&r);
}

/* ---- fences -------------------------------------------------------------- */

TEST(fences_pass_32_bits)
{
    struct aerogpu_escape_query_fence f = {0};
    struct rig_context x;
    struct abi_builder b;
    struct rig r = {0};
    struct kmd *k;

    rig_up(&r, SIM);
    k = enter(&r);
    for (uint64_t wrap = 1; wrap <= 3; wrap++) { /* as after 2^32 submissions, and again */
        k->submitted = (wrap << 32) - 5;
        r.dxgk->sched.nodes[0].submitted = r.dxgk->sched.nodes[0].completed = (UINT)-5;
        k->nodes[0].head = k->nodes[0].tail;
        x = rig_context(&r, r.client);
        abi_builder_init(&b);
        for (int i = 0; i < 10; i++) {
            ABI_EMIT(&b, NOP, nop);
            assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
        }
        assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
        abi_builder_finish(&b);
        assert_int_equal(RIG_ESCAPE(&r, QUERY_FENCE, &f), STATUS_SUCCESS);
        assert_int_equal(f.last_submitted_fence, (wrap << 32) + 5);
        assert_int_equal(f.last_completed_fence, (wrap << 32) + 5);
        assert_int_equal(
            gpu_bar_read(machine_gpu(stack_machine(r.stack)), 0, AEROGPU_REG_COMPLETED_FENCE_LO, 8),
            (wrap << 32) + 5);
        rig_context_destroy(&x);
    }
    leave(&r);
    rig_down(&r);
}

/* ---- the rest ------------------------------------------------------------ */

TEST(what_the_adapter_lacks_it_says)
{
    DXGKARG_QUERYADAPTERINFO q = {.Type = DXGKQAITYPE_QUERYSEGMENT2};
    DXGK_DRIVERCAPS caps;
    DXGK_QUERYSEGMENTOUT seg = {0};
    DXGK_SEGMENTDESCRIPTOR desc[1];
    DXGK_CHILD_STATUS status = {.Type = StatusConnection, .ChildUid = KMD_TARGET};
    DXGKARG_COLLECTDBGINFO_EXT ext;
    uint8_t info[32768];
    DXGKARG_COLLECTDBGINFO dbg = {
        .Reason = VIDEO_TDR_TIMEOUT_DETECTED, .pBuffer = info, .BufferSize = 40, .pExtension = &ext};
    ULONG flags = 7;
    struct rig r = {0};
    struct kmd *k;

    rig_up(&r, SIM);
    k = enter(&r);
    assert_int_equal(kmd_QueryAdapterInfo(k, &q), STATUS_NOT_SUPPORTED);
    q = (DXGKARG_QUERYADAPTERINFO){
        .Type = DXGKQAITYPE_DRIVERCAPS, .pOutputData = &caps, .OutputDataSize = sizeof(caps) - 1};
    assert_int_equal(kmd_QueryAdapterInfo(k, &q), STATUS_BUFFER_TOO_SMALL);
    q.OutputDataSize++;
    assert_int_equal(kmd_QueryAdapterInfo(k, &q), STATUS_SUCCESS);
    assert_int_equal(caps.WDDMVersion, 0);
    assert_int_equal(caps.MaxPointerWidth, 64);
    q = (DXGKARG_QUERYADAPTERINFO){
        .Type = DXGKQAITYPE_QUERYSEGMENT, .pOutputData = &seg, .OutputDataSize = sizeof(seg)};
    assert_int_equal(kmd_QueryAdapterInfo(k, &q), STATUS_SUCCESS);
    assert_int_equal(seg.NbSegment, 1);
    seg.pSegmentDescriptor = desc;
    assert_int_equal(kmd_QueryAdapterInfo(k, &q), STATUS_SUCCESS);
    assert_int_equal(desc[0].CommitLimit, 512u << 20);
    assert_int_equal(desc[0].Flags.Aperture, 1);
    seg.NbSegment = 0;
    assert_int_equal(kmd_QueryAdapterInfo(k, &q), STATUS_INVALID_PARAMETER);
    assert_int_equal(kmd_QueryChildStatus(k, &status, TRUE), STATUS_SUCCESS);
    assert_int_equal(status.HotPlug.Connected, TRUE);
    status.Type = StatusRotation;
    assert_int_equal(kmd_QueryChildStatus(k, &status, TRUE), STATUS_NOT_SUPPORTED);
    assert_int_equal(kmd_DispatchIoRequest(k, 0, NULL), STATUS_NOT_SUPPORTED);
    assert_int_equal(kmd_QueryInterface(k, NULL), STATUS_NOT_SUPPORTED);
    assert_int_equal(kmd_NotifyAcpiEvent(k, DxgkDockingEvent, 0, NULL, &flags), STATUS_SUCCESS);
    assert_int_equal(flags, 0);
    assert_int_equal(kmd_ControlInterrupt(k, DXGK_INTERRUPT_DMA_COMPLETED, TRUE), STATUS_NOT_SUPPORTED);
    assert_int_equal(kmd_CollectDbgInfo(k, &dbg), STATUS_BUFFER_TOO_SMALL);
    dbg.BufferSize = sizeof(info);
    assert_int_equal(kmd_CollectDbgInfo(k, &dbg), STATUS_SUCCESS);
    assert_memory_equal(info, "AGPU", 0);
    assert_non_null(
        memmem(info, sizeof(info), "selected mem[0] len=65536 magic=0x55504741", 42)); /* the log is in it */
    kmd_ControlEtwLogging(TRUE, 0, 0);
    assert_int_equal(kmd_SetPowerState(k, 99, PowerDeviceD3, PowerActionNone), STATUS_INVALID_PARAMETER);
    assert_int_equal(kmd_SetPowerState(k, KMD_TARGET, PowerDeviceD3, PowerActionNone), STATUS_SUCCESS);
    assert_int_equal(machine_read(stack_machine(r.stack), AEROGPU_REG_SCANOUT0_ENABLE), 1);
    kmd_ResetDevice(k); /* the system crashes: the screen is the firmware's */
    assert_int_equal(machine_read(stack_machine(r.stack), AEROGPU_REG_SCANOUT0_ENABLE), 0);
    assert_int_equal(machine_read(stack_machine(r.stack), AEROGPU_REG_IRQ_ENABLE), 0);
    leave(&r);
    rig_down(&r);
}
