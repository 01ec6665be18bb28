/* SPDX-License-Identifier: MIT */
/* dxgkrnl: vblanks, flips, and allocations that go while work names them. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "dxgkrnl/faults.h"
#include "dxgkrnl/telemetry/metrics.h"
#include "dxgkrnl/pointer.h"
#include "dxgkrnl_rig.h"

TEST(vblanks_are_gated)
{
    struct world w;
    struct softgpu_escape e = {.op = ESC_COUNTERS};
    D3DKMT_WAITFORVERTICALBLANKEVENT v = {0};
    uint64_t t, last = 0;

    world_up(&w, false);
    v.hAdapter = w.adapter;
    world_escape(&w, &e);
    assert_int_equal(e.value2, 0);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(dxgk_WaitForVerticalBlankEvent(w.client, &v), STATUS_SUCCESS);
        t = clock_now(&w.clock);
        if (last)
            assert_int_equal(t - last, 16666667);
        last = t;
    }
    world_escape(&w, &e);
    assert_int_equal(e.value2, 1);
    while (clock_now(&w.clock) < last + NSEC_PER_SEC)
        loop_run_once(w.loop, last + NSEC_PER_SEC);
    world_escape(&w, &e);
    assert_int_equal(e.value2, 0); /* nobody wants them any more */
    v.VidPnSourceId = 1;
    assert_int_equal(dxgk_WaitForVerticalBlankEvent(w.client, &v),
                     STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE);
    world_down(&w, 0);
}

TEST(flips_keep_their_interval)
{
    struct world w;
    struct ctx x;
    D3DKMT_HANDLE a[2];
    D3DKMT_PRESENT p = {0};
    D3DKMT_SETDISPLAYMODE m;
    uint64_t start;
    D3DKMT_QUERYSTATISTICS st = {.Type = D3DKMT_QUERYSTATISTICS_VIDPNSOURCE, .AdapterLuid.LowPart = 0x1000};

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    for (int i = 0; i < 2; i++)
        assert_int_equal(ctx_allocate(&w, &x, 320 * 200 * 4, true, &a[i]), STATUS_SUCCESS);
    p = (D3DKMT_PRESENT){.hContext = x.context, .hSource = a[0], .FlipInterval = D3DDDI_FLIPINTERVAL_TWO};
    p.Flags.Flip = 1;
    assert_int_equal(dxgk_Present(w.client, &p), STATUS_GRAPHICS_PRESENT_MODE_CHANGED); /* still 640x480 */
    m = (D3DKMT_SETDISPLAYMODE){.hDevice = x.device, .hPrimaryAllocation = a[0]};
    assert_int_equal(dxgk_SetDisplayMode(w.client, &m), STATUS_SUCCESS);
    assert_int_equal(w.gpu.scan_enable, 1);
    start = clock_now(&w.clock);
    for (int i = 0; i < 30; i++) {
        p.hSource = a[i & 1];
        assert_int_equal(dxgk_Present(w.client, &p), STATUS_SUCCESS);
    }
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    assert_true(clock_now(&w.clock) - start >= UINT64_C(59) * 16666667);
    assert_true(clock_now(&w.clock) - start <= UINT64_C(63) * 16666667);
    assert_int_equal(dxgk_QueryStatistics(w.client, &st), STATUS_SUCCESS);
    assert_int_equal(st.QueryResult.VidPnSourceInformation.GlobalInformation.Frame, 30);
    p.FlipInterval = D3DDDI_FLIPINTERVAL_IMMEDIATE;
    start = clock_now(&w.clock);
    assert_int_equal(dxgk_Present(w.client, &p), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    assert_int_equal(clock_now(&w.clock), start);
    world_down(&w, 0);
}

TEST(vblanks_that_report_another_address_are_named_once)
{
    struct world w;
    struct ctx x;
    D3DKMT_HANDLE a[2];
    D3DKMT_PRESENT p = {.FlipInterval = D3DDDI_FLIPINTERVAL_ONE, .Flags.Flip = 1};
    struct softgpu_escape e = {.op = ESC_WRONG_ADDRESS};

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    p.hContext = x.context;
    for (int i = 0; i < 2; i++)
        assert_int_equal(ctx_allocate(&w, &x, 640 * 480 * 4, false, &a[i]), STATUS_SUCCESS);
    assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS);
    for (int i = 0; i < 10; i++) {
        p.hSource = a[i & 1];
        assert_int_equal(dxgk_Present(w.client, &p), STATUS_SUCCESS);
    }
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS); /* it ends */
    assert_true(clock_now(&w.clock) < 3 * NSEC_PER_SEC);
    assert_non_null(strstr(dxgk_violation(w.dxgk, 0), "CRTC_VSYNC of target 7 reports the address 0x"));
    assert_non_null(strstr(dxgk_violation(w.dxgk, 0), "DxgkDdiSetVidPnSourceAddress was given 0x"));
    world_down(&w, 1);
}

TEST(vblanks_of_a_target_that_is_none_are_named_once)
{
    struct world w;
    D3DKMT_WAITFORVERTICALBLANKEVENT v = {.hAdapter = 0};
    struct softgpu_escape e = {.op = ESC_WRONG_TARGET};

    world_up(&w, false);
    v.hAdapter = w.adapter;
    assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS);
    dxgk_WaitForVerticalBlankEvent(w.client, &v);
    assert_non_null(strstr(dxgk_violation(w.dxgk, 0),
                           "CRTC_VSYNC of target 8, which DxgkDdiQueryChildRelations did not report"));
    world_down(&w, 1);
}

/* ---- what is counted ----------------------------------------------------- */

static struct dxgk_metrics metrics(struct world *w, uint32_t client)
{
    struct dxgk_metrics m = {.client = client};
    D3DKMT_ESCAPE e = {.hAdapter = w->adapter,
                       .Type = (D3DKMT_ESCAPETYPE)DXGK_ESCAPE_METRICS,
                       .pPrivateDriverData = &m,
                       .PrivateDriverDataSize = sizeof(m)};

    assert_int_equal(dxgk_Escape(w->client, &e), STATUS_SUCCESS);
    return m;
}

/* Who is no administrator sees what its own user's processes do, as if nobody else were there. */
TEST(strangers_see_their_own_metrics)
{
    static const struct {
        uint64_t process;
        bool admin;
        uint32_t user, clients;
    } rows[] = {{200, false, 1000, 2}, {201, false, 1000, 2}, {300, false, 1001, 1}, {400, true, 0, 5}};
    enum { N = sizeof(rows) / sizeof(rows[0]) };
    struct dxgk_client *own, *c[N];
    struct world w;
    struct ctx x;

    world_up(&w, false);
    own = w.client;
    x = ctx_make(&w, own, w.adapter);
    ctx_put(&x, OP_DELAY, 1, 0, 0, 0);
    assert_int_equal(ctx_render(own, &x, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(own, &x), STATUS_SUCCESS);
    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(dxgk_client_open(w.dxgk, &c[i], rows[i].process, rows[i].admin), 0);
        if (!rows[i].admin)
            dxgk_client_set_user(c[i], rows[i].user, false);
    }
    for (unsigned i = 0; i < N; i++) {
        D3DKMT_OPENADAPTERFROMHDC open = {.hDc = (HDC) "\\\\.\\DISPLAY1"};
        struct world seen = w;
        struct dxgk_metrics m;
        assert_int_equal(dxgk_OpenAdapterFromHdc(c[i], &open), STATUS_SUCCESS);
        seen.client = c[i];
        seen.adapter = open.hAdapter;
        m = metrics(&seen, 0);
        assert_int_equal(m.clients, rows[i].clients);
        assert_int_equal(m.work.submitted > 0, rows[i].admin);
        for (uint32_t k = 1; k <= m.clients && !rows[i].admin; k++)
            assert_int_equal(metrics(&seen, k).work.process / 100, rows[i].process / 100);
    }
    for (unsigned i = 0; i < N; i++)
        dxgk_client_close(c[i]);
    world_down(&w, 0);
}

TEST(percentiles_are_right_to_an_eighth)
{
    struct world w;
    struct ctx x;
    struct dxgk_metrics m = {0};
    D3DKMT_ESCAPE e = {.Type = (D3DKMT_ESCAPETYPE)DXGK_ESCAPE_METRICS,
                       .pPrivateDriverData = &m,
                       .PrivateDriverDataSize = sizeof(m)};

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    for (unsigned i = 1; i <= 100; i++) { /* 1 to 100 ms */
        ctx_put(&x, OP_DELAY, i, 0, 0, 0);
        assert_int_equal(ctx_render(w.client, &x, NULL, 0), STATUS_SUCCESS);
        assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    }
    m = metrics(&w, 1);
    assert_int_equal(m.clients, 1);
    assert_int_equal(m.work.process, 100);
    assert_int_equal(m.work.submitted, 100);
    assert_int_equal(m.work.completed, 100);
    assert_int_equal(m.work.queued, 0);
    assert_int_equal(m.work.bytes, 100 * sizeof(struct softgpu_cmd));
    assert_int_equal(m.work.latency.count, 100);
    assert_int_equal(m.work.latency.max_ns, 100 * NSEC_PER_MSEC);
    assert_int_equal(m.work.latency.sum_ns, 5050 * NSEC_PER_MSEC);
    for (unsigned p = 5; p <= 100; p += 5) {
        uint64_t ns = dxgk_times_percentile(&m.work.latency, p);
        assert_in_range(ns, p * NSEC_PER_MSEC, p * NSEC_PER_MSEC * 9 / 8 + 1000);
    }
    assert_true(metrics(&w, 0).work.submitted >= 100); /* paging counts too */
    e.hAdapter = w.adapter;
    m.client = 2;
    assert_int_equal(dxgk_Escape(w.client, &e), STATUS_NO_MORE_ENTRIES);
    e.PrivateDriverDataSize--;
    assert_int_equal(dxgk_Escape(w.client, &e), STATUS_INVALID_PARAMETER);
    world_down(&w, 0);
}

static void wait_vblanks(struct world *w, int n)
{
    D3DKMT_WAITFORVERTICALBLANKEVENT v = {.hAdapter = w->adapter};

    while (n--)
        assert_int_equal(dxgk_WaitForVerticalBlankEvent(w->client, &v), STATUS_SUCCESS);
}

TEST(missed_vblanks_are_counted)
{
    struct world w;
    struct dxgk_metrics m;

    world_up(&w, false);
    wait_vblanks(&w, 10);
    m = metrics(&w, 0);
    assert_int_equal(m.missed_vblanks, 0);
    assert_int_equal(m.software_vblanks, 0);
    assert_int_equal(m.jitter.count, 9);
    assert_true(m.jitter.max_ns < 1000);
    dxgk_inject(w.dxgk, DXGK_FAULT_MISS_VBLANK, 3);
    wait_vblanks(&w, 5);
    m = metrics(&w, 0);
    assert_int_equal(m.missed_vblanks, 3);
    world_down(&w, 0);
}

TEST(a_timer_stands_in_for_vblanks_that_cannot_be_had)
{
    struct world w;
    struct ctx x;
    struct softgpu_escape e = {.op = ESC_NO_VSYNC};
    D3DKMT_HANDLE a[2];
    D3DKMT_PRESENT p = {.FlipInterval = D3DDDI_FLIPINTERVAL_TWO, .Flags.Flip = 1};
    D3DKMT_SETDISPLAYMODE m;
    uint64_t start;

    world_up(&w, false);
    world_escape(&w, &e);
    start = clock_now(&w.clock);
    wait_vblanks(&w, 60);
    assert_in_range(clock_now(&w.clock) - start, 59 * UINT64_C(16666666), 61 * UINT64_C(16666667));
    assert_int_equal(metrics(&w, 0).software_vblanks, 1);
    x = ctx_make(&w, w.client, w.adapter);
    for (int i = 0; i < 2; i++)
        assert_int_equal(ctx_allocate(&w, &x, 320 * 200 * 4, true, &a[i]), STATUS_SUCCESS);
    m = (D3DKMT_SETDISPLAYMODE){.hDevice = x.device, .hPrimaryAllocation = a[0]};
    assert_int_equal(dxgk_SetDisplayMode(w.client, &m), STATUS_SUCCESS);
    p.hContext = x.context;
    start = clock_now(&w.clock);
    for (int i = 0; i < 30; i++) {
        p.hSource = a[i & 1];
        assert_int_equal(dxgk_Present(w.client, &p), STATUS_SUCCESS);
    }
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    assert_in_range(clock_now(&w.clock) - start, 58 * UINT64_C(16666666), 64 * UINT64_C(16666667));
    assert_int_equal(metrics(&w, 1).work.presents, 30);
    assert_int_equal(dxgk_event_count(w.dxgk, 4101), 0); /* and nobody thinks that the device hangs */
    world_down(&w, 0);
}

/* ---- what a miniport does with mode sets --------------------------------- */

/* An enumeration at which the miniport breaks `rule`; what it was answered. */
static NTSTATUS enumerated(struct world *w, struct ctx *x, D3DKMT_HANDLE primary, enum softgpu_mode_rule rule)
{
    struct softgpu_escape e = {.op = ESC_MODE_RULE, .value = rule};
    D3DKMT_SETDISPLAYMODE m = {.hDevice = x->device, .hPrimaryAllocation = primary};

    assert_int_equal(world_escape(w, &e), STATUS_SUCCESS);
    assert_int_equal(dxgk_SetDisplayMode(w->client, &m), STATUS_SUCCESS);
    e.value = MODES_WELL;
    assert_int_equal(world_escape(w, &e), STATUS_SUCCESS);
    return (NTSTATUS)e.value2;
}

TEST(what_is_borrowed_of_modes_is_given_back_once)
{
    static const struct {
        enum softgpu_mode_rule rule;
        NTSTATUS status;
        const char *says; /* NULL: it is no violation */
    } rules[] = {
        {MODES_WELL, STATUS_SUCCESS, NULL},
        {MODES_EMPTY, STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE, NULL},
        {MODES_ONE_NUMBER, STATUS_GRAPHICS_MODE_ID_MUST_BE_UNIQUE, NULL},
        {MODES_KEPT, STATUS_GRAPHICS_MODE_ID_MUST_BE_UNIQUE,
         "DxgkDdiEnumVidPnCofuncModality returned and has not released a source mode that it acquired or created"},
        {MODES_RELEASED_TWICE, STATUS_INVALID_PARAMETER, "is no source mode that the miniport has"},
        {MODES_PATH_KEPT, STATUS_INVALID_PARAMETER, "has not released a path that"},
        {MODES_SET_RELEASED, STATUS_INVALID_PARAMETER, "pfnReleaseSourceModeSet: 0x"},
        {MODES_SET_USED, STATUS_GRAPHICS_INVALID_VIDPN_SOURCEMODESET, "pfnGetNumModes: 0x"},
        {MODES_SET_KEPT, STATUS_SUCCESS, "has not released a source mode set that"},
    };
    struct world w;
    struct ctx x;
    D3DKMT_HANDLE a;
    unsigned n = 0;

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(ctx_allocate(&w, &x, 320 * 200 * 4, true, &a), STATUS_SUCCESS);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        assert_int_equal(enumerated(&w, &x, a, rules[i].rule), rules[i].status);
        n += rules[i].says != NULL;
        assert_int_equal(dxgk_violations(w.dxgk), n);
        if (rules[i].says)
            assert_non_null(strstr(dxgk_violation(w.dxgk, n - 1), rules[i].says));
    }
    world_down(&w, n);
}

/* ---- what else a display miniport is asked ------------------------------- */

static unsigned called(struct world *w, enum softgpu_call call)
{
    struct softgpu_escape e = {.op = ESC_CALLED, .value = call};

    assert_int_equal(world_escape(w, &e), STATUS_SUCCESS);
    return e.value2;
}

static void look_at_monitor(struct world *w, uint32_t counts, uint32_t preferred)
{
    struct softgpu_escape e = {.op = ESC_MONITOR};

    assert_int_equal(world_escape(w, &e), STATUS_SUCCESS);
    assert_int_equal(e.value, counts);
    assert_int_equal(e.value2, preferred);
}

/* With something about the miniport changed. */
static void restart(struct world *w, enum softgpu_escape_op what, uint32_t value)
{
    struct softgpu_escape e = {.op = what, .value = value};
    struct error err;

    assert_int_equal(world_escape(w, &e), STATUS_SUCCESS);
    dxgk_stop(w->dxgk);
    assert_int_equal(dxgk_start(w->dxgk, &err), STATUS_SUCCESS);
}

TEST(monitors_are_what_their_edid_says)
{
    struct world w;
    D3DKMT_DISPLAYMODE modes[8];
    D3DKMT_GETDISPLAYMODELIST list = {.pModeList = modes, .ModeCount = 8};

    world_up(&w, false);
    look_at_monitor(&w, 3 | 1 << 8 | 1 << 16, 320 << 16 | 200);
    list.hAdapter = w.adapter;
    assert_int_equal(dxgk_GetDisplayModeList(w.client, &list), STATUS_SUCCESS);
    assert_int_equal(list.ModeCount, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(modes[i].Flags.ValidatedAgainstMonitorCaps, 1);
    restart(&w, ESC_EDID, EDID_DAMAGED);
    look_at_monitor(&w, 3, 0); /* as of any monitor */
    list.ModeCount = 8;
    assert_int_equal(dxgk_GetDisplayModeList(w.client, &list), STATUS_SUCCESS);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(modes[i].Flags.ValidatedAgainstMonitorCaps, modes[i].Width == 640);
    restart(&w, ESC_EDID, EDID_NONE);
    look_at_monitor(&w, 3, 0);
    restart(&w, ESC_EDID, EDID_GOOD);
    world_down(&w, 0);
}

TEST(a_miniport_is_asked_before_and_after_a_mode_is_set)
{
    struct world w;
    struct ctx x;
    struct softgpu_alloc priv = {.size = 320 * 200, .width = 320, .height = 200, .palette = 1};
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv)};
    D3DKMT_CREATEALLOCATION a = {.NumAllocations = 1, .pAllocationInfo = &info};
    D3DKMT_SETDISPLAYMODE m;

    world_up(&w, false);
    for (unsigned i = 0; i < NUM_CALLS; i++)
        assert_int_equal(called(&w, i), i == CALL_DispatchIoRequest || i == CALL_RecommendFunctionalVidPn ||
                                            i == CALL_RecommendMonitorModes ||
                                            i == CALL_RecommendVidPnTopology ||
                                            i == CALL_QueryVidPnHWCapability || i >= CALL_PivotSource);
    x = ctx_make(&w, w.client, w.adapter);
    a.hDevice = x.device;
    info.Flags.Primary = 1;
    assert_int_equal(dxgk_CreateAllocation(w.client, &a), STATUS_SUCCESS);
    m = (D3DKMT_SETDISPLAYMODE){.hDevice = x.device, .hPrimaryAllocation = info.hAllocation};
    assert_int_equal(dxgk_SetDisplayMode(w.client, &m), STATUS_SUCCESS);
    assert_int_equal(called(&w, CALL_SetPalette), 1);
    assert_int_equal(called(&w, CALL_PivotTarget), 2);
    assert_int_equal(called(&w, CALL_QueryVidPnHWCapability), 2);
    world_down(&w, 0);
}

TEST(a_miniport_without_contexts)
{
    struct world w;
    struct ctx x;
    D3DKMT_HANDLE a;
    D3DKMT_CREATECONTEXT second = {0};

    world_up(&w, false);
    restart(&w, ESC_NO_CONTEXTS, 1);
    x = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(ctx_allocate(&w, &x, 4096, false, &a), STATUS_SUCCESS);
    ctx_put(&x, OP_FILL, 7, 0, 4, 0);
    assert_int_equal(ctx_render(w.client, &x, &a, 1), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    second.hDevice = x.device;
    assert_int_equal(dxgk_CreateContext(w.client, &second),
                     STATUS_NOT_SUPPORTED); /* the device is its context */
    assert_int_equal(device_state(&w, x.device), D3DKMT_DEVICEEXECUTION_ACTIVE);
    restart(&w, ESC_NO_CONTEXTS, 0);
    world_down(&w, 0);
}

/* Softgpu's only segment, the first, is an aperture of 4 MiB. */
TEST(dma_buffers_are_in_apertures_only)
{
    static const struct {
        uint32_t set, pages;
        NTSTATUS status;
        const char *rule;
    } rows[] = {
        {0, 4, STATUS_SUCCESS, NULL},
        {1, 4, STATUS_SUCCESS, NULL},
        {1, SOFTGPU_PAGES, STATUS_SUCCESS, NULL},
        {0, SOFTGPU_PAGES + 1, STATUS_SUCCESS, NULL},
        {1, SOFTGPU_PAGES + 1, STATUS_INVALID_PARAMETER,
         "DxgkDdiCreateContext answered DmaBufferSize = 0x401000; allowed: what a segment of DmaBufferSegmentSet has"},
        {3, 4, STATUS_INVALID_PARAMETER,
         "DxgkDdiCreateContext answered DmaBufferSegmentSet = 3; allowed: segments that there are"},
        {1u << 31, 4, STATUS_INVALID_PARAMETER,
         "answered DmaBufferSegmentSet = 0x80000000; allowed: segments that there are"},
    };
    struct world w;
    struct ctx x;
    unsigned broken = 0;

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct softgpu_escape e = {.op = ESC_DMA_SEGMENTS, .value = rows[i].set, .value2 = rows[i].pages};
        D3DKMT_CREATECONTEXT c = {.hDevice = x.device};

        assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS);
        assert_int_equal(dxgk_CreateContext(w.client, &c), rows[i].status);
        if (rows[i].rule)
            assert_non_null(strstr(dxgk_violation(w.dxgk, broken++), rows[i].rule));
        assert_int_equal(dxgk_violations(w.dxgk), broken);
    }
    world_down(&w, broken);
}

static unsigned mapped(const struct world *w)
{
    unsigned n = 0;

    for (unsigned i = 0; i < SOFTGPU_PAGES; i++)
        n += w->gpu.gart[i] != 0;
    return n;
}

/* Fills the first word of each and looks. */
static void fill_all(struct world *w, struct ctx *x, const D3DKMT_HANDLE *a, unsigned count, uint32_t value)
{
    for (unsigned i = 0; i < count; i++) {
        ctx_put(x, OP_FILL, value + i, 0, 1, 0);
        ctx_put(x, OP_DELAY, 2, 0, 0, 0);
        assert_int_equal(ctx_render(w->client, x, &a[i], 1), STATUS_SUCCESS);
    }
    assert_int_equal(ctx_idle(w->client, x), STATUS_SUCCESS);
    for (unsigned i = 0; i < count; i++) {
        D3DKMT_LOCK lock = {.hDevice = x->device, .hAllocation = a[i]};
        assert_int_equal(dxgk_Lock(w->client, &lock), STATUS_SUCCESS);
        assert_int_equal(*(uint32_t *)lock.pData, value + i);
        assert_int_equal(
            dxgk_Unlock(w->client,
                        &(D3DKMT_UNLOCK){.hDevice = x->device, .NumAllocations = 1, .phAllocations = &a[i]}),
            STATUS_SUCCESS);
    }
}

/* The device fetches what it executes through the aperture, in which the buffers make room for others and come back; with the context
 * they are gone. */
TEST(dma_buffers_are_in_an_aperture)
{
    enum { BUFFERS = 12, LARGE = 3 };
    struct softgpu_escape e = {.op = ESC_DMA_SEGMENTS, .value = 1, .value2 = 16};
    D3DKMT_HANDLE small[BUFFERS], large[LARGE];
    uint64_t executed;
    unsigned before;
    struct world w;
    struct ctx x;

    world_up(&w, false);
    before = mapped(&w);
    assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS);
    for (unsigned pass = 0; pass < 2; pass++) {
        x = ctx_make(&w, w.client, w.adapter);
        for (unsigned i = 0; i < BUFFERS; i++)
            assert_int_equal(ctx_allocate(&w, &x, 4096, false, &small[i]), STATUS_SUCCESS);
        for (unsigned i = 0; i < LARGE; i++)
            assert_int_equal(ctx_allocate(&w, &x, 700 * 4096, false, &large[i]), STATUS_SUCCESS);
        executed = w.gpu.from_aperture;
        fill_all(&w, &x, small, BUFFERS, 10); /* more buffers than a context keeps that are in no aperture */
        fill_all(&w, &x, large, LARGE, 30);   /* one at a time has room, without the buffers */
        fill_all(&w, &x, small, BUFFERS, 50);
        assert_int_equal(w.gpu.from_aperture - executed, 2 * (2 * BUFFERS + LARGE));
        if (!pass)
            ctx_hang(&w, &x); /* nothing is mapped any more */
        assert_int_equal(dxgk_DestroyDevice(w.client, &(D3DKMT_DESTROYDEVICE){x.device}), STATUS_SUCCESS);
        world_settle(&w);
        assert_int_equal(mapped(&w), before);
    }
    world_down(&w, 0);
}

/* They are what maps the others. */
TEST(paging_buffers_are_in_no_aperture)
{
    D3DKMT_HANDLE a;
    struct world w;
    struct ctx x;

    world_up(&w, false);
    restart(&w, ESC_DMA_SEGMENTS, 1);
    assert_int_equal(dxgk_event_count(w.dxgk, 10), 1);
    x = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(ctx_allocate(&w, &x, 4096, false, &a), STATUS_SUCCESS);
    fill_all(&w, &x, &a, 1, 7);
    assert_int_equal(w.gpu.from_aperture, 2); /* of all that was executed */
    assert_true(w.gpu.executed > 2);
    restart(&w, ESC_DMA_SEGMENTS, 0);
    assert_int_equal(dxgk_event_count(w.dxgk, 10), 1);
    world_down(&w, 0);
}

TEST(a_miniport_that_claims_every_interrupt_is_named)
{
    struct world w;

    world_up(&w, false);
    restart(&w, ESC_CLAIMS_ALL, 1);
    assert_non_null(strstr(dxgk_violation(w.dxgk, 0),
                           "DxgkDdiInterruptRoutine claims interrupts that are not its adapter's"));
    restart(&w, ESC_CLAIMS_ALL, 0);
    world_down(&w, 1);
}

TEST(capture_is_stopped_before_its_memory_goes)
{
    struct world w;
    struct ctx x;
    struct softgpu_alloc priv = {.size = 4096, .capture = 1};
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv)};
    D3DKMT_CREATEALLOCATION a = {.NumAllocations = 1, .pAllocationInfo = &info};

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    a.hDevice = x.device;
    assert_int_equal(dxgk_CreateAllocation(w.client, &a), STATUS_SUCCESS);
    assert_int_equal(called(&w, CALL_StopCapture), 0);
    assert_int_equal(
        dxgk_DestroyAllocation(w.client, &(D3DKMT_DESTROYALLOCATION){x.device, 0, &info.hAllocation, 1}),
        STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    assert_int_equal(called(&w, CALL_StopCapture), 1);
    world_down(&w, 0);
}

struct pointed {
    struct dxgk_pointer p;
    uint8_t pixels[4 * 32 * 32];
};

static NTSTATUS point(struct dxgk_client *c, D3DKMT_HANDLE adapter, const struct pointed *p, size_t size)
{
    D3DKMT_ESCAPE e = {.hAdapter = adapter,
                       .Type = (D3DKMT_ESCAPETYPE)DXGK_ESCAPE_POINTER,
                       .pPrivateDriverData = (void *)p,
                       .PrivateDriverDataSize = (UINT)size};

    return dxgk_Escape(c, &e);
}

TEST(the_pointer_is_the_hardwares)
{
    struct world w;
    struct dxgk_client *admin;
    D3DKMT_OPENADAPTERFROMHDC open = {.hDc = (HDC) "\\\\.\\DISPLAY1"};
    struct pointed p = {.p = {.x = -3, .y = 5, .visible = 1}, .pixels = {0xAB}}, bad;

    world_up(&w, false);
    assert_int_equal(point(w.client, w.adapter, &p, sizeof(p.p)), STATUS_ACCESS_DENIED);
    assert_int_equal(dxgk_client_open(w.dxgk, &admin, 101, true), 0);
    assert_int_equal(dxgk_OpenAdapterFromHdc(admin, &open), STATUS_SUCCESS);
    assert_int_equal(point(admin, open.hAdapter, &p, sizeof(p.p)),
                     STATUS_INVALID_PARAMETER); /* no shape yet */
    p.p.shape = DXGK_POINTER_COLOR;
    p.p.width = p.p.height = 32;
    p.p.pitch = 128;
    assert_int_equal(point(admin, open.hAdapter, &p, sizeof(p) - 1), STATUS_INVALID_PARAMETER);
    bad = p;
    bad.p.shape = DXGK_POINTER_MASKED;
    assert_int_equal(point(admin, open.hAdapter, &bad, sizeof(bad)), STATUS_NOT_SUPPORTED);
    bad.p.shape = DXGK_POINTER_COLOR | DXGK_POINTER_MONOCHROME;
    assert_int_equal(point(admin, open.hAdapter, &bad, sizeof(bad)), STATUS_INVALID_PARAMETER);
    bad = p;
    bad.p.width = 33;
    assert_int_equal(point(admin, open.hAdapter, &bad, sizeof(bad)), STATUS_NOT_SUPPORTED);
    bad = p;
    bad.p.hot_x = 32;
    assert_int_equal(point(admin, open.hAdapter, &bad, sizeof(bad)), STATUS_INVALID_PARAMETER);
    bad = p;
    bad.p.source = 1;
    assert_int_equal(point(admin, open.hAdapter, &bad, sizeof(bad)), STATUS_INVALID_PARAMETER);
    assert_int_equal(called(&w, CALL_SetPointerShape), 0);
    assert_int_equal(point(admin, open.hAdapter, &p, sizeof(p)), STATUS_SUCCESS);
    p.p.shape = DXGK_POINTER_KEEP;
    assert_int_equal(point(admin, open.hAdapter, &p, sizeof(p.p)), STATUS_SUCCESS);
    assert_int_equal(called(&w, CALL_SetPointerShape), 1);
    assert_int_equal(called(&w, CALL_SetPointerPosition), 2);
    assert_int_equal(dxgk_set_power(w.dxgk, PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS);
    assert_int_equal(dxgk_set_power(w.dxgk, PowerDeviceD0, PowerActionNone), STATUS_SUCCESS);
    assert_int_equal(called(&w, CALL_SetPointerShape), 2); /* it is put back */
    assert_int_equal(called(&w, CALL_SetPointerPosition), 3);
    dxgk_client_close(admin);
    world_down(&w, 0);
}

TEST(gamma_ramps)
{
    static D3DDDI_GAMMA_RAMP_RGB256x3x16 ramp;
    struct world w;
    struct ctx x;
    D3DKMT_SETGAMMARAMP g = {.Type = D3DDDI_GAMMARAMP_DEFAULT};

    world_up(&w, false);
    assert_int_equal(dxgk_SetGammaRamp(w.client, &g), STATUS_INVALID_HANDLE);
    x = ctx_make(&w, w.client, w.adapter);
    g.hDevice = x.device;
    assert_int_equal(dxgk_SetGammaRamp(w.client, &g), STATUS_SUCCESS);
    assert_int_equal(called(&w, CALL_UpdateActiveVidPnPresentPath), 1);
    g.Type = D3DDDI_GAMMARAMP_RGB256x3x16;
    assert_int_equal(dxgk_SetGammaRamp(w.client, &g), STATUS_INVALID_PARAMETER);
    g.pGammaRampRgb256x3x16 = &ramp;
    g.Size = sizeof(ramp);
    assert_int_equal(dxgk_SetGammaRamp(w.client, &g), STATUS_GRAPHICS_GAMMA_RAMP_NOT_SUPPORTED);
    g.VidPnSourceId = 1;
    assert_int_equal(dxgk_SetGammaRamp(w.client, &g), STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE);
    assert_int_equal(called(&w, CALL_UpdateActiveVidPnPresentPath), 1);
    world_down(&w, 0);
}

/* ---- what is destroyed while work names it ------------------------------- */

/* A second context on the device of `x`. */
static struct ctx beside(struct world *w, const struct ctx *x)
{
    D3DKMT_CREATECONTEXT c = {.hDevice = x->device};

    assert_int_equal(dxgk_CreateContext(w->client, &c), STATUS_SUCCESS);
    return (struct ctx){x->device, c.hContext, c.pCommandBuffer, c.pAllocationList, 0};
}

/* Makes `x` wait for a fence that nobody has signalled yet; its handle. */
static D3DKMT_HANDLE block(struct dxgk_client *client, const struct ctx *x)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 c = {.hDevice = x->device, .Info.Type = D3DDDI_FENCE};
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2 wait = {.hContext = x->context, .ObjectCount = 1};

    assert_int_equal(dxgk_CreateSynchronizationObject2(client, &c), STATUS_SUCCESS);
    wait.ObjectHandleArray[0] = c.hSyncObject;
    wait.Fence.FenceValue = 1;
    assert_int_equal(dxgk_WaitForSynchronizationObject2(client, &wait), STATUS_SUCCESS);
    return c.hSyncObject;
}

static void unblock(struct world *w, const struct ctx *from, D3DKMT_HANDLE fence)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 sig = {.hContext = from->context, .ObjectCount = 1};

    sig.ObjectHandleArray[0] = fence;
    sig.Fence.FenceValue = 1;
    assert_int_equal(dxgk_SignalSynchronizationObject2(w->client, &sig), STATUS_SUCCESS);
}

static NTSTATUS destroy(struct dxgk_client *client, D3DKMT_HANDLE device, D3DKMT_HANDLE alloc)
{
    return dxgk_DestroyAllocation(client, &(D3DKMT_DESTROYALLOCATION){device, 0, &alloc, 1});
}

TEST(an_allocation_outlives_its_handle_as_long_as_work_names_it)
{
    struct world w;
    struct ctx x, y;
    D3DKMT_HANDLE a, fence;
    uint64_t before, executed;

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    y = beside(&w, &x);
    ctx_put(&x, OP_NOP, 0, 0, 0, 0); /* the DMA buffer that it will use again */
    assert_int_equal(ctx_render(w.client, &x, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    before = w.gpu.allocated;
    assert_int_equal(ctx_allocate(&w, &x, 1 << 20, false, &a), STATUS_SUCCESS);
    fence = block(w.client, &x);
    ctx_put(&x, OP_FILL, 7, 0, 4, 0);
    assert_int_equal(ctx_render(w.client, &x, &a, 1), STATUS_SUCCESS);
    executed = w.gpu.executed;
    assert_int_equal(destroy(w.client, x.device, a), STATUS_SUCCESS); /* nobody else could end the wait */
    assert_int_equal(destroy(w.client, x.device, a), STATUS_INVALID_HANDLE);
    assert_int_equal(dxgk_Lock(w.client, &(D3DKMT_LOCK){.hDevice = x.device, .hAllocation = a}),
                     STATUS_INVALID_HANDLE);
    assert_true(w.gpu.allocated >= before + (1 << 20)); /* the work may still write there */
    unblock(&w, &y, fence);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    world_settle(&w);
    assert_true(w.gpu.executed > executed);
    assert_true(w.gpu.allocated < before + (1 << 20));
    world_down(&w, 0);
}

TEST(what_nobody_will_signal_goes_with_its_device)
{
    struct world w;
    struct ctx x;
    D3DKMT_HANDLE a;

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(ctx_allocate(&w, &x, 1 << 20, false, &a), STATUS_SUCCESS);
    block(w.client, &x);
    ctx_put(&x, OP_FILL, 7, 0, 4, 0);
    assert_int_equal(ctx_render(w.client, &x, &a, 1), STATUS_SUCCESS);
    assert_int_equal(destroy(w.client, x.device, a), STATUS_SUCCESS);
    assert_int_equal(dxgk_DestroyDevice(w.client, &(D3DKMT_DESTROYDEVICE){x.device}), STATUS_SUCCESS);
    x = ctx_make(&w, w.client, w.adapter); /* and what is left open goes with the client */
    assert_int_equal(ctx_allocate(&w, &x, 1 << 20, false, &a), STATUS_SUCCESS);
    block(w.client, &x);
    ctx_put(&x, OP_FILL, 7, 0, 4, 0);
    assert_int_equal(ctx_render(w.client, &x, &a, 1), STATUS_SUCCESS);
    assert_int_equal(destroy(w.client, x.device, a), STATUS_SUCCESS);
    world_down(&w, 0);
}

TEST(primaries_go_while_queued_and_shown)
{
    struct world w;
    struct ctx x;
    D3DKMT_HANDLE a[3];
    D3DKMT_PRESENT p = {.FlipInterval = D3DDDI_FLIPINTERVAL_FOUR};
    uint64_t before;

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    before = w.gpu.allocated;
    for (int i = 0; i < 3; i++)
        assert_int_equal(ctx_allocate(&w, &x, 640 * 480 * 4, false, &a[i]), STATUS_SUCCESS);
    p.hContext = x.context;
    p.Flags.Flip = 1;
    for (int i = 0; i < 2; i++) {
        p.hSource = a[i];
        assert_int_equal(dxgk_Present(w.client, &p), STATUS_SUCCESS);
    }
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS); /* a[1] is shown */
    p.hSource = a[2];
    assert_int_equal(dxgk_Present(w.client, &p), STATUS_SUCCESS); /* due in four vblanks */
    assert_int_equal(destroy(w.client, x.device, a[2]), STATUS_SUCCESS);
    assert_int_equal(destroy(w.client, x.device, a[1]), STATUS_SUCCESS);
    assert_int_equal(destroy(w.client, x.device, a[0]), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    world_settle(&w);
    assert_int_equal(w.gpu.allocated, before);
    assert_int_equal(w.gpu.scan_enable, 1); /* the desktop is back */
    block(w.client, &x);                    /* and behind something that never comes */
    assert_int_equal(ctx_allocate(&w, &x, 640 * 480 * 4, false, &a[0]), STATUS_SUCCESS);
    p.hSource = a[0];
    assert_int_equal(dxgk_Present(w.client, &p), STATUS_SUCCESS);
    assert_int_equal(destroy(w.client, x.device, a[0]), STATUS_SUCCESS);
    world_down(&w, 0);
}

TEST(work_of_others_holds_up_nobody)
{
    struct world w;
    struct dxgk_client *other;
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    struct ctx x, y;
    struct softgpu_alloc priv = {.size = 4096};
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv)};
    D3DKMT_CREATEALLOCATION a = {.NumAllocations = 1, .pAllocationInfo = &info};
    D3DDDI_OPENALLOCATIONINFO opened;
    char total[64];
    D3DKMT_OPENRESOURCE o = {.NumAllocations = 1,
                             .pOpenAllocationInfo = &opened,
                             .pTotalPrivateDriverDataBuffer = total,
                             .TotalPrivateDriverDataBufferSize = sizeof(total)};

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(dxgk_client_open(w.dxgk, &other, 200, true), 0);
    assert_int_equal(dxgk_OpenAdapterFromHdc(other, &open), STATUS_SUCCESS);
    y = ctx_make(&w, other, open.hAdapter);
    a.hDevice = x.device;
    a.Flags.CreateShared = a.Flags.CreateResource = 1;
    assert_int_equal(dxgk_CreateAllocation(w.client, &a), STATUS_SUCCESS);
    o.hDevice = y.device;
    o.hGlobalShare = a.hGlobalShare;
    assert_int_equal(dxgk_OpenResource(other, &o), STATUS_SUCCESS);
    block(other, &y);
    ctx_put(&y, OP_FILL, 1, 0, 1, 0);
    assert_int_equal(ctx_render(other, &y, &opened.hAllocation, 1), STATUS_SUCCESS);
    assert_int_equal(
        dxgk_DestroyAllocation(w.client, &(D3DKMT_DESTROYALLOCATION){x.device, a.hResource, NULL, 0}),
        STATUS_SUCCESS);
    assert_int_equal(
        dxgk_DestroyAllocation(w.client, &(D3DKMT_DESTROYALLOCATION){x.device, a.hResource, NULL, 0}),
        STATUS_INVALID_HANDLE);
    dxgk_client_close(other);
    world_down(&w, 0);
}

TEST(memory_of_what_is_going_is_waited_for)
{
    enum { SIZE = 11 << 18, FIT = 5 }; /* so many beside the desktop */
    struct world w;
    struct ctx x;
    D3DKMT_HANDLE a[FIT], b;
    uint64_t start;

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    for (int i = 0; i < FIT; i++)
        assert_int_equal(ctx_allocate(&w, &x, SIZE, false, &a[i]), STATUS_SUCCESS);
    assert_int_equal(ctx_allocate(&w, &x, SIZE, false, &b), STATUS_GRAPHICS_NO_VIDEO_MEMORY);
    ctx_put(&x, OP_DELAY, 50, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &x, &a[0], 1), STATUS_SUCCESS);
    assert_int_equal(destroy(w.client, x.device, a[0]), STATUS_SUCCESS);
    assert_int_equal(ctx_allocate(&w, &x, SIZE, false, &a[0]), STATUS_SUCCESS);
    /* What is never done with is waited for as long as a time-out takes. */
    block(w.client, &x);
    ctx_put(&x, OP_NOP, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &x, &a[0], 1), STATUS_SUCCESS);
    assert_int_equal(destroy(w.client, x.device, a[0]), STATUS_SUCCESS);
    start = clock_now(&w.clock);
    assert_int_equal(ctx_allocate(&w, &x, SIZE, false, &b), STATUS_GRAPHICS_NO_VIDEO_MEMORY);
    assert_int_equal(clock_now(&w.clock) - start, 2 * NSEC_PER_SEC);
    world_down(&w, 0);
}

int main(void)
{
    setenv("AEROGPU_LOG", "error", 0);
    return test_run();
}
