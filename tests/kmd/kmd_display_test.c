/* SPDX-License-Identifier: MIT */
/* The miniport's display half: modes, vblank, the scan line, flips, copies. */
#include "test.h"

#include "dxgkrnl/faults.h"
#include "kmd_rig.h"

#define SIM  (&(struct stack_params){.machine = {.kind = MACHINE_SIM, .seed = 1}})
#define LIVE (&(struct stack_params){.machine = {.kind = MACHINE_LIVE}})

/* ---- modes --------------------------------------------------------------- */

static D3DKMT_DISPLAYMODE current_mode(struct rig *r)
{
    D3DKMT_CURRENTDISPLAYMODE mode = {0};

    assert_int_equal(
        dxgk_QueryAdapterInfo(r->client, &(D3DKMT_QUERYADAPTERINFO){r->adapter, KMTQAITYPE_CURRENTDISPLAYMODE,
                                                                    &mode, sizeof(mode)}),
        STATUS_SUCCESS);
    return mode.DisplayMode;
}

static unsigned modes(struct rig *r, D3DKMT_DISPLAYMODE *list, unsigned room)
{
    D3DKMT_GETDISPLAYMODELIST l = {.hAdapter = r->adapter, .pModeList = list, .ModeCount = room};

    assert_int_equal(dxgk_GetDisplayModeList(r->client, &l), STATUS_SUCCESS);
    return l.ModeCount;
}

TEST(the_mode_list_is_the_documented_one)
{
    static const struct {
        uint32_t w, h;
    } want[] = {{640, 480},  {800, 600},  {1024, 768}, {1280, 720},
                {1280, 800}, {1366, 768}, {1600, 900}, {1920, 1080}};
    D3DKMT_DISPLAYMODE list[32];
    struct rig r = {0};

    rig_up(&r, SIM);
    assert_int_equal(modes(&r, list, 32), 16); /* each with and without alpha */
    for (unsigned i = 0; i < 16; i++) {
        assert_int_equal(list[i].Width, want[i / 2].w);
        assert_int_equal(list[i].Height, want[i / 2].h);
        assert_int_equal(list[i].Format, i % 2 ? D3DDDIFMT_A8R8G8B8 : D3DDDIFMT_X8R8G8B8);
        assert_int_equal(list[i].IntegerRefreshRate, 60);
    }
    rig_down(&r);
}

TEST(modes_obey_the_settings)
{
    D3DKMT_DISPLAYMODE list[32];
    struct rig r = {0}, s = {0}, t = {0};

    rig_set(&r, RIG_SERVICE, "PreferredWidth", 1280);
    rig_set(&r, RIG_SERVICE, "PreferredHeight", 720);
    rig_up(&r, SIM);
    assert_int_equal(current_mode(&r).Width, 1280);
    assert_int_equal(current_mode(&r).Height, 720);
    rig_down(&r);
    rig_set(&s, RIG_SERVICE, "PreferredWidth", 1280); /* one alone does not count */
    rig_set(&s, RIG_SERVICE, "MaxWidth", 1280);
    rig_set(&s, RIG_SERVICE, "MaxHeight", 768);
    rig_up(&s, SIM);
    assert_int_equal(current_mode(&s).Width, 1024);
    assert_int_equal(modes(&s, list, 32), 8); /* 640, 800, 1024 and 1280 x 720 */
    rig_down(&s);
    rig_set(&t, RIG_SERVICE, "PreferredWidth", 1440); /* not in the list: added */
    rig_set(&t, RIG_SERVICE, "PreferredHeight", 900);
    rig_up(&t, SIM);
    assert_int_equal(current_mode(&t).Width, 1440);
    assert_int_equal(modes(&t, list, 32), 18);
    rig_down(&t);
}

TEST(settings_out_of_range_go_to_the_nearer_end)
{
    struct aerogpu_escape_read_log e = {.header = {1, AEROGPU_EXT_ESCAPE_OP_READ_LOG, sizeof(e), 0}};
    struct rig r = {0};

    rig_set(&r, RIG_SERVICE, "PreferredWidth", 1);
    rig_set(&r, RIG_SERVICE, "PreferredHeight", 99999);
    rig_up(&r, SIM);
    assert_int_equal(current_mode(&r).Width, 320);
    assert_int_equal(current_mode(&r).Height, 4096);
    assert_int_equal(rig_escape(&r, r.client, &e, sizeof(e)), STATUS_SUCCESS);
    assert_non_null(memmem(e.text, e.text_bytes, "PreferredWidth = 1 is out of range, 320 is used\n", 48));
    assert_non_null(
        memmem(e.text, e.text_bytes, "PreferredHeight = 99999 is out of range, 4096 is used\n", 54));
    rig_down(&r);
}

static NTSTATUS set_mode(struct rig *r, struct rig_context *x, uint32_t id, uint32_t w, uint32_t h,
                         uint32_t dxgi, D3DKMT_HANDLE *out)
{
    struct aerogpu_alloc_priv_v2 p = rig_priv(id, 0, w, h);
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &p, .PrivateDriverDataSize = sizeof(p)};
    D3DKMT_CREATEALLOCATION a = {.hDevice = x->device, .NumAllocations = 1, .pAllocationInfo = &info};
    NTSTATUS s;

    p.format = dxgi;
    info.Flags.Primary = 1;
    assert_int_equal(dxgk_CreateAllocation(x->client, &a), STATUS_SUCCESS);
    s = dxgk_SetDisplayMode(
        x->client, &(D3DKMT_SETDISPLAYMODE){.hDevice = x->device, .hPrimaryAllocation = info.hAllocation});
    *out = info.hAllocation;
    (void)r;
    return s;
}

TEST(modes_go_round_and_others_are_refused)
{
    struct aerogpu_escape_query_scanout q = {0};
    struct rig_context x;
    struct rig r = {0};
    D3DKMT_HANDLE a;

    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    for (unsigned i = 0; i < 10; i++) {
        bool big = i % 2;
        assert_int_equal(set_mode(&r, &x, 10 + i, big ? 1920 : 800, big ? 1080 : 600, big ? 87 : 88, &a),
                         STATUS_SUCCESS);
        assert_int_equal(RIG_ESCAPE(&r, QUERY_SCANOUT, &q), STATUS_SUCCESS);
        assert_int_equal(q.mmio_width, big ? 1920 : 800);
        assert_int_equal(q.mmio_height, big ? 1080 : 600);
        assert_int_equal(q.mmio_pitch_bytes, big ? 7680 : 3328);
        assert_int_equal(q.mmio_format, big ? AEROGPU_FORMAT_B8G8R8A8_UNORM : AEROGPU_FORMAT_B8G8R8X8_UNORM);
        assert_int_equal(q.cached_width, q.mmio_width);
        assert_int_equal(q.cached_fb_gpa, q.mmio_fb_gpa);
        assert_int_equal(q.mmio_enable, 1);
    }
    assert_int_equal(set_mode(&r, &x, 30, 801, 600, 87, &a),
                     STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE);
    assert_int_equal(set_mode(&r, &x, 31, 3840, 2160, 87, &a),
                     STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE);
    assert_int_equal(set_mode(&r, &x, 32, 800, 600, 28, &a),
                     STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_SCANOUT, &q), STATUS_SUCCESS);
    assert_int_equal(q.mmio_width, 1920); /* nothing else was disturbed */
    assert_int_equal(q.mmio_enable, 1);
    rig_down(&r);
}

/* ---- vblank, scan line, flips -------------------------------------------- */

TEST(vblanks_come_at_sixty_hertz)
{
    struct aerogpu_escape_query_vblank q = {0};
    struct rig r = {0};
    uint64_t start, seq, passed;

    rig_up(&r, SIM);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_VBLANK, &q), STATUS_SUCCESS);
    assert_int_equal(q.flags, AEROGPU_ESCAPE_FLAGS_VALID | 1); /* nobody asked for the interrupt yet */
    assert_int_equal(q.vblank_period_ns, 16666667);
    seq = q.vblank_seq;
    start = clock_now(stack_clock(r.stack));
    for (int i = 0; i < 120; i++)
        assert_int_equal(dxgk_WaitForVerticalBlankEvent(
                             r.client, &(D3DKMT_WAITFORVERTICALBLANKEVENT){.hAdapter = r.adapter}),
                         STATUS_SUCCESS);
    passed = clock_now(stack_clock(r.stack)) - start;
    assert_in_range(passed, 119 * 16666667ull, 121 * 16666667ull);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_VBLANK, &q), STATUS_SUCCESS);
    assert_int_equal(q.flags, AEROGPU_ESCAPE_FLAGS_VALID | 3);
    assert_int_equal(q.vblank_interrupt_type, DXGK_INTERRUPT_CRTC_VSYNC);
    assert_in_range(q.vblank_seq - seq, 119, 121);
    assert_true(q.irq_enable & AEROGPU_IRQ_SCANOUT_VBLANK);
    stack_sleep(r.stack, NSEC_PER_SEC); /* nobody waits any more: the interrupt goes off */
    assert_int_equal(RIG_ESCAPE(&r, QUERY_VBLANK, &q), STATUS_SUCCESS);
    assert_false(q.irq_enable & AEROGPU_IRQ_SCANOUT_VBLANK);
    rig_down(&r);
}

TEST(the_scan_line_follows_the_vblank)
{
    struct aerogpu_escape_query_perf perf = {0};
    struct rig r = {0};
    D3DKMT_GETSCANLINE g;
    unsigned blank = 0, last = 0, wraps = 0, polls;

    rig_up(&r, SIM);
    g = (D3DKMT_GETSCANLINE){.hAdapter = r.adapter};
    assert_int_equal(
        dxgk_WaitForVerticalBlankEvent(r.client, &(D3DKMT_WAITFORVERTICALBLANKEVENT){.hAdapter = r.adapter}),
        STATUS_SUCCESS);
    assert_int_equal(dxgk_GetScanLine(r.client, &g), STATUS_SUCCESS);
    assert_true(g.InVerticalBlank); /* it has just begun */
    assert_in_range(g.ScanLine, 768, 770);
    for (int i = 0; i < 2000; i++) {
        stack_sleep(r.stack, 200000);
        assert_int_equal(dxgk_GetScanLine(r.client, &g), STATUS_SUCCESS);
        assert_in_range(g.ScanLine, 0, 768 + 38 - 1);
        assert_int_equal(g.InVerticalBlank, g.ScanLine >= 768);
        blank += g.InVerticalBlank;
        wraps += g.ScanLine < last;
        last = g.ScanLine;
    }
    assert_in_range(blank, 70, 120); /* 38 of 806 lines: 94 of 2000 */
    assert_in_range(wraps, 23, 25);  /* 0.4 s are 24 periods */
    assert_int_equal(RIG_ESCAPE(&r, QUERY_PERF, &perf), STATUS_SUCCESS);
    assert_int_equal(perf.get_scanline_cache_hits + perf.get_scanline_mmio_polls, 2001);
    assert_true(perf.get_scanline_cache_hits > 0);
    polls = (unsigned)perf.get_scanline_mmio_polls;
    assert_true(polls > 0); /* the interrupt has gone off meanwhile */
    rig_down(&r);
}

TEST(flips_are_shown_on_their_vblank)
{
    struct aerogpu_escape_query_scanout q = {0};
    struct rig_context x;
    struct rig r = {0};
    D3DKMT_HANDLE a[2];
    uint64_t seen[2] = {0}, before;

    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(set_mode(&r, &x, 10 + i, 1024, 768, 88, &a[i]), STATUS_SUCCESS);
    for (unsigned interval = 1; interval <= 4; interval++) {
        uint64_t start = clock_now(stack_clock(r.stack));
        for (unsigned i = 0; i < 20; i++) {
            D3DKMT_PRESENT p = {.hContext = x.context, .hSource = a[i % 2], .FlipInterval = interval};
            p.Flags.Flip = 1;
            assert_int_equal(dxgk_Present(r.client, &p), STATUS_SUCCESS);
        }
        assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
        before = (clock_now(stack_clock(r.stack)) - start + 8000000) / 16666667;
        assert_in_range(before, 20 * interval - 1, 20 * interval + 1);
    }
    for (unsigned i = 0; i < 2; i++) {
        D3DKMT_PRESENT p = {.hContext = x.context, .hSource = a[i]};
        p.Flags.Flip = 1;
        assert_int_equal(dxgk_Present(r.client, &p), STATUS_SUCCESS); /* at once */
        assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
        assert_int_equal(RIG_ESCAPE(&r, QUERY_SCANOUT, &q), STATUS_SUCCESS);
        assert_int_equal(q.mmio_fb_gpa, q.cached_fb_gpa);
        seen[i] = q.mmio_fb_gpa;
    }
    assert_true(seen[0] != seen[1]);
    rig_down(&r);
}

/* A vblank from before a flip was asked for does not show it, however late it is told of. */
TEST(late_vblanks_complete_no_flip)
{
    static const uint32_t late[] = {DXGK_FAULT_DELAY_INTERRUPT, DXGK_FAULT_LATE_VBLANK};
    struct rig_context x;
    struct rig r = {0};
    D3DKMT_HANDLE a[2];

    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(set_mode(&r, &x, 10 + i, 1024, 768, 88, &a[i]), STATUS_SUCCESS);
    for (unsigned f = 0; f < 2; f++) {
        D3DKMT_PRESENT p = {.hContext = x.context, .hSource = a[0], .FlipInterval = 1};
        D3DKMT_SETDISPLAYMODE m = {.hDevice = x.device, .hPrimaryAllocation = a[f]};
        uint64_t start;

        p.Flags.Flip = 1;
        assert_int_equal(dxgk_Present(r.client, &p), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
        assert_int_equal(dxgk_SetDisplayMode(r.client, &m),
                         STATUS_SUCCESS); /* where vblanks lie is unknown */
        dxgk_inject(stack_dxgk(r.stack), late[f], 8000);
        stack_sleep(r.stack, 18 * NSEC_PER_MSEC);
        start = clock_now(stack_clock(r.stack));
        p.hSource = a[1]; /* what is reported late names the same picture in the second case */
        assert_int_equal(dxgk_Present(r.client, &p), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
        assert_in_range(clock_now(stack_clock(r.stack)) - start, 14 * NSEC_PER_MSEC, 50 * NSEC_PER_MSEC);
    }
    rig_down(&r);
}

/* A present in the stream that asks for its vblank is paced by the device. */
TEST(a_vsynced_present_completes_on_a_vblank)
{
    struct aerogpu_escape_query_perf perf = {0};
    struct abi_builder b;
    struct rig_context x;
    struct rig r = {0};
    uint64_t start;

    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    abi_builder_init(&b);
    start = clock_now(stack_clock(r.stack));
    for (int i = 0; i < 30; i++) {
        ABI_EMIT(&b, PRESENT, present, .flags = AEROGPU_PRESENT_FLAG_VSYNC);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
    }
    assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
    assert_in_range(clock_now(stack_clock(r.stack)) - start, 29 * 16666667ull, 31 * 16666667ull);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_PERF, &perf), STATUS_SUCCESS);
    assert_int_equal(perf.total_presents, 30);
    abi_builder_finish(&b);
    rig_down(&r);
}

/* ---- copies onto the screen ---------------------------------------------- */

TEST(blits_and_fills_reach_the_screen)
{
    struct aerogpu_alloc_priv_v2 p = rig_priv(7, 0, 64, 64), big = rig_priv(8, 0, 128, 64);
    D3DKMT_PRESENT blt = {0}, fill = {0};
    RECT rects[2] = {{0, 0, 16, 16}, {32, 32, 300, 300}};
    struct rig_context x;
    struct rig r = {0};
    D3DKMT_HANDLE src, dst;
    uint32_t *pixels;

    rig_up(&r, LIVE);
    x = rig_context(&r, r.client);
    assert_int_equal(rig_allocate(&x, &p, &src), STATUS_SUCCESS);
    assert_int_equal(rig_allocate(&x, &big, &dst), STATUS_SUCCESS);
    pixels = rig_lock(&x, src);
    for (uint32_t i = 0; i < 64 * 64; i++)
        pixels[i] = 0xFF000000 | i;
    rig_unlock(&x, src);
    fill = (D3DKMT_PRESENT){
        .hContext = x.context, .hDestination = dst, .Color = 0xFF804020, .DstRect = {0, 0, 128, 64}};
    fill.Flags.ColorFill = 1;
    assert_int_equal(dxgk_Present(r.client, &fill), STATUS_SUCCESS);
    blt = (D3DKMT_PRESENT){.hContext = x.context,
                           .hSource = src,
                           .hDestination = dst,
                           .DstRect = {10, 0, 74, 64},
                           .SrcRect = {0, 0, 64, 64},
                           .SubRectCnt = 2,
                           .pSrcSubRects = rects};
    blt.Flags.Blt = 1;
    assert_int_equal(dxgk_Present(r.client, &blt), STATUS_SUCCESS);
    pixels = rig_lock(&x, dst);
    for (int yy = 0; yy < 64; yy++)
        for (int xx = 0; xx < 128; xx++) {
            bool first = xx >= 10 && xx < 16 && yy < 16, second = xx >= 32 && xx < 74 && yy >= 32;
            assert_int_equal(pixels[yy * 128 + xx],
                             first || second ? 0xFF000000u | (uint32_t)(yy * 64 + xx - 10) : 0xFF804020u);
        }
    rig_unlock(&x, dst);
    blt.SrcRect.right = 32; /* stretching */
    assert_int_equal(dxgk_Present(r.client, &blt), STATUS_NOT_SUPPORTED);
    blt.hDestination = src; /* onto itself */
    assert_int_equal(dxgk_Present(r.client, &blt), STATUS_INVALID_PARAMETER);
    assert_int_equal(rig_state(&x), D3DKMT_DEVICEEXECUTION_ACTIVE);
    rig_down(&r);
}

/* A client describes a surface whose rows lie in each other: its present is refused, and those of others go on. */
TEST(a_bad_present_is_its_clients_own)
{
    struct aerogpu_alloc_priv_v2 p = rig_priv(7, 0, 64, 64), narrow = rig_priv(8, 0, 64, 64);
    struct rig_context bad, good;
    struct dxgk_client *other;
    struct rig r = {0};
    D3DKMT_HANDLE src, dst;

    rig_up(&r, LIVE);
    bad = rig_context(&r, r.client);
    narrow.row_pitch_bytes = 64; /* 64 texels of 4 bytes */
    assert_int_equal(rig_allocate(&bad, &p, &src), STATUS_SUCCESS);
    assert_int_equal(rig_allocate(&bad, &narrow, &dst), STATUS_SUCCESS);
    for (int i = 0; i < 3; i++) {
        D3DKMT_PRESENT blt = {.hContext = bad.context,
                              .hSource = i ? src : dst,
                              .hDestination = i ? dst : src,
                              .DstRect = {0, 0, 64, 64},
                              .SrcRect = {0, 0, 64, 64}};
        blt.Flags.Blt = 1;
        assert_int_equal(dxgk_Present(r.client, &blt), STATUS_INVALID_PARAMETER);
    }
    assert_int_equal(dxgk_client_open(r.dxgk, &other, 4711, false), 0);
    good = rig_context(&r, other);
    p = rig_priv(17, 0, 64, 64);
    assert_int_equal(rig_allocate(&good, &p, &src), STATUS_SUCCESS);
    p = rig_priv(18, 0, 64, 64);
    assert_int_equal(rig_allocate(&good, &p, &dst), STATUS_SUCCESS);
    {
        D3DKMT_PRESENT blt = {.hContext = good.context,
                              .hSource = src,
                              .hDestination = dst,
                              .DstRect = {0, 0, 64, 64},
                              .SrcRect = {0, 0, 64, 64}};
        blt.Flags.Blt = 1;
        assert_int_equal(dxgk_Present(other, &blt), STATUS_SUCCESS);
    }
    assert_int_equal(rig_idle(&good), STATUS_SUCCESS);
    assert_int_equal(rig_state(&good), D3DKMT_DEVICEEXECUTION_ACTIVE);
    dxgk_client_close(other);
    rig_down(&r);
}
