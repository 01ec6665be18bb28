/* The miniport under dxgkrnl: in virtual time, and live with the executor. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "dxgkrnl/faults.h"
#include "kmd_rig.h"

#define SIM  (&(struct stack_params){.machine = {.kind = MACHINE_SIM, .seed = 1}})
#define LIVE (&(struct stack_params){.machine = {.kind = MACHINE_LIVE}})

/* ---- starting ---- */

static D3DKMT_DISPLAYMODE current_mode(struct rig *r)
{
    D3DKMT_CURRENTDISPLAYMODE mode = {0};

    assert_int_equal(
        dxgk_QueryAdapterInfo(r->client, &(D3DKMT_QUERYADAPTERINFO){r->adapter, KMTQAITYPE_CURRENTDISPLAYMODE,
                                                                    &mode, sizeof(mode)}),
        STATUS_SUCCESS);
    return mode.DisplayMode;
}

static void starts_and_shows_a_mode(void **state)
{
    struct rig r = {0};
    struct aerogpu_escape_query_scanout q = {0};
    struct error e = {0};
    D3DKMT_DISPLAYMODE m;

    rig_up(&r, SIM);
    m = current_mode(&r);
    assert_int_equal(m.Width, 1024);
    assert_int_equal(m.Height, 768);
    assert_int_equal(m.IntegerRefreshRate, 60);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_SCANOUT, &q), STATUS_SUCCESS);
    assert_int_equal(q.flags, AEROGPU_ESCAPE_FLAGS_VALID | 1);
    assert_int_equal(q.mmio_enable, 1);
    assert_int_equal(q.mmio_width, 1024);
    assert_int_equal(q.mmio_height, 768);
    assert_int_equal(q.mmio_pitch_bytes, 4096);
    assert_int_equal(q.mmio_format, AEROGPU_FORMAT_B8G8R8X8_UNORM);
    assert_int_equal(q.mmio_fb_gpa, q.cached_fb_gpa);
    assert_true(q.mmio_fb_gpa != 0);
    dxgk_stop(r.dxgk);
    assert_int_equal(dxgk_start(r.dxgk, &e), STATUS_SUCCESS); /* a second life */
    assert_int_equal(current_mode(&r).Width, 1024);
    assert_int_equal(dxgk_set_power(r.dxgk, PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS);
    assert_int_equal(dxgk_set_power(r.dxgk, PowerDeviceD0, PowerActionNone), STATUS_SUCCESS);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_SCANOUT, &q), STATUS_SUCCESS);
    assert_int_equal(q.mmio_enable, 1);
    rig_down(&r);
}

/* ---- work ---- */

static void work_completes(struct rig *r)
{
    struct rig_context x = rig_context(r, r->client);
    struct aerogpu_escape_query_fence f = {0};
    struct abi_builder b;
    uint64_t before;

    assert_int_equal(RIG_ESCAPE(r, QUERY_FENCE, &f), STATUS_SUCCESS);
    before = f.last_submitted_fence;
    abi_builder_init(&b);
    for (int i = 0; i < 100; i++) {
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
    }
    assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
    assert_int_equal(RIG_ESCAPE(r, QUERY_FENCE, &f), STATUS_SUCCESS);
    assert_int_equal(f.last_submitted_fence, before + 100);
    assert_int_equal(f.last_completed_fence, before + 100);
    assert_int_equal(f.error_irq_count, 0);
    abi_builder_finish(&b);
}

static void work_completes_in_the_sim(void **state)
{
    struct rig r = {0};

    rig_up(&r, SIM);
    work_completes(&r);
    rig_down(&r);
}

static void work_completes_live(void **state)
{
    struct rig r = {0};

    rig_up(&r, LIVE);
    work_completes(&r);
    rig_down(&r);
}

/* Clears a texture of the host and copies it into guest memory, where the client reads it. */
static void a_clear_reaches_guest_memory(void **state)
{
    struct rig r = {0};
    struct rig_context x;
    struct aerogpu_alloc_priv_v2 priv = rig_priv(7, 0, 64, 32);
    struct abi_builder b;
    D3DKMT_HANDLE a;
    const uint32_t *pixels;

    rig_up(&r, LIVE);
    x = rig_context(&r, r.client);
    assert_int_equal(rig_allocate(&x, &priv, &a), STATUS_SUCCESS);
    abi_builder_init(&b);
    ABI_EMIT(&b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 1,
             .usage_flags = AEROGPU_RESOURCE_USAGE_RENDER_TARGET, .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
             .width = 64, .height = 32, .mip_levels = 1, .array_layers = 1);
    ABI_EMIT(&b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 2,
             .usage_flags = AEROGPU_RESOURCE_USAGE_TEXTURE, .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
             .width = 64, .height = 32, .mip_levels = 1, .array_layers = 1, .row_pitch_bytes = 256,
             .backing_alloc_id = 7);
    ABI_EMIT(&b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {1});
    ABI_EMIT(&b, CLEAR, clear, .flags = AEROGPU_CLEAR_COLOR,
             .color_rgba = {abi_f32(1), abi_f32(0), abi_f32(0), abi_f32(1)});
    ABI_EMIT(&b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = 2, .src_texture = 1, .width = 64,
             .height = 32, .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
    assert_int_equal(rig_render(&x, &b, &a, 1, 1), STATUS_SUCCESS);
    pixels = rig_lock(&x, a);
    for (int i = 0; i < 64 * 32; i++)
        assert_int_equal(pixels[i], 0xFFFF0000);
    rig_unlock(&x, a);
    assert_int_equal(rig_state(&x), D3DKMT_DEVICEEXECUTION_ACTIVE);
    abi_builder_finish(&b);
    rig_down(&r);
}

/* ---- settings ---- */

#define HKR "HKR\\Parameters"

static uint64_t budget(struct rig *r)
{
    D3DKMT_SEGMENTSIZEINFO seg;

    assert_int_equal(
        dxgk_QueryAdapterInfo(
            r->client, &(D3DKMT_QUERYADAPTERINFO){r->adapter, KMTQAITYPE_GETSEGMENTSIZE, &seg, sizeof(seg)}),
        STATUS_SUCCESS);
    assert_int_equal(seg.DedicatedVideoMemorySize, 0);
    assert_int_equal(seg.DedicatedSystemMemorySize, 0);
    return seg.SharedSystemMemorySize >> 20;
}

static void the_budget_is_set_and_clamped(void **state)
{
    static const struct {
        int32_t given;
        uint32_t want;
    } cases[] = {{-1, 512}, {256, 256},   {128, 128},   {127, 128},
                 {0, 128},  {2048, 2048}, {2049, 2048}, {0x7FFFFFFF, 2048}};

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig r = {0};
        if (cases[i].given >= 0)
            rig_set(&r, HKR, "NonLocalMemorySizeMB", (uint32_t)cases[i].given);
        rig_up(&r, SIM);
        assert_int_equal(budget(&r), cases[i].want);
        rig_down(&r);
    }
}

static void allocations_stay_inside_the_budget(void **state)
{
    struct rig r = {0};
    struct rig_context x;
    struct aerogpu_alloc_priv_v2 p;
    D3DKMT_HANDLE a[4];

    rig_set(&r, HKR, "NonLocalMemorySizeMB", 128);
    rig_up(&r, &(struct stack_params){.machine = {.kind = MACHINE_SIM, .seed = 1, .ram_size = 512 << 20}});
    x = rig_context(&r, r.client);
    p = rig_priv(1, 129 << 20, 0, 0);
    assert_int_equal(rig_allocate(&x, &p, &a[0]), STATUS_GRAPHICS_NO_VIDEO_MEMORY);
    p = rig_priv(1, UINT64_C(1) << 40, 0, 0);
    assert_int_equal(rig_allocate(&x, &p, &a[0]), STATUS_GRAPHICS_NO_VIDEO_MEMORY);
    for (unsigned i = 0; i < 3; i++) { /* the desktop's primary has 3 MiB of it */
        p = rig_priv(1 + i, 40 << 20, 0, 0);
        assert_int_equal(rig_allocate(&x, &p, &a[i]), STATUS_SUCCESS);
    }
    p = rig_priv(4, 40 << 20, 0, 0);
    assert_int_equal(rig_allocate(&x, &p, &a[3]), STATUS_GRAPHICS_NO_VIDEO_MEMORY);
    assert_int_equal(dxgk_DestroyAllocation(r.client, &(D3DKMT_DESTROYALLOCATION){.hDevice = x.device,
                                                                                  .phAllocationList = a,
                                                                                  .AllocationCount = 1}),
                     STATUS_SUCCESS);
    assert_int_equal(rig_allocate(&x, &p, &a[3]), STATUS_SUCCESS);
    rig_down(&r);
}

static void registers_are_found_in_any_order(void **state)
{
    struct rig r = {0};

    rig_up(&r, &(struct stack_params){.machine = {.kind = MACHINE_SIM}, .bars_swapped = true});
    assert_int_equal(current_mode(&r).Width, 1024);
    rig_down(&r);
}

static void the_umd_learns_what_the_device_is(void **state)
{
    struct rig r = {0};
    struct aerogpu_umd_private p;
    uint8_t longer[80];
    D3DKMT_QUERYADAPTERINFO q = {.Type = KMTQAITYPE_UMDRIVERPRIVATE, .pPrivateDriverData = &p};

    rig_up(&r, SIM);
    q.hAdapter = r.adapter;
    q.PrivateDriverDataSize = sizeof(p) - 1;
    assert_int_equal(dxgk_QueryAdapterInfo(r.client, &q), STATUS_BUFFER_TOO_SMALL);
    q.PrivateDriverDataSize = sizeof(p);
    assert_int_equal(dxgk_QueryAdapterInfo(r.client, &q), STATUS_SUCCESS);
    assert_int_equal(p.size_bytes, 64);
    assert_int_equal(p.struct_version, 1);
    assert_int_equal(p.device_mmio_magic, AEROGPU_MMIO_MAGIC);
    assert_int_equal(p.device_abi_version, AEROGPU_ABI_VERSION_U32);
    assert_int_equal(p.device_features, AEROGPU_FEATURES_ALL);
    assert_int_equal(p.flags, AEROGPU_UMD_PRIVATE_FLAG_VBLANK | AEROGPU_UMD_PRIVATE_FLAG_FENCE_PAGE);
    memset(longer, 0xEE, sizeof(longer));
    q.pPrivateDriverData = longer;
    q.PrivateDriverDataSize = sizeof(longer);
    assert_int_equal(dxgk_QueryAdapterInfo(r.client, &q), STATUS_SUCCESS);
    assert_memory_equal(longer, &p, sizeof(p));
    assert_int_equal(longer[79], 0);
    rig_down(&r);
}

/* ---- modes ---- */

static unsigned modes(struct rig *r, D3DKMT_DISPLAYMODE *list, unsigned room)
{
    D3DKMT_GETDISPLAYMODELIST l = {.hAdapter = r->adapter, .pModeList = list, .ModeCount = room};

    assert_int_equal(dxgk_GetDisplayModeList(r->client, &l), STATUS_SUCCESS);
    return l.ModeCount;
}

static void the_mode_list_is_the_documented_one(void **state)
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

static void modes_obey_the_settings(void **state)
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

static void modes_go_round_and_others_are_refused(void **state)
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

/* ---- vblank, scan line, flips ---- */

static void vblanks_come_at_sixty_hertz(void **state)
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

static void the_scan_line_follows_the_vblank(void **state)
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

static void flips_are_shown_on_their_vblank(void **state)
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

/* A present in the stream that asks for its vblank is paced by the device. */
static void a_vsynced_present_completes_on_a_vblank(void **state)
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

/* ---- allocation tables ---- */

static void the_table_says_what_is_read_only(void **state)
{
    struct aerogpu_escape_query_perf perf = {0};
    struct aerogpu_escape_dump_ring_v2 ring = {.desc_capacity = 1};
    const struct aerogpu_alloc_table_header *h;
    const struct aerogpu_alloc_entry *e;
    struct aerogpu_alloc_priv_v2 p;
    struct abi_builder b;
    struct rig_context x;
    struct rig r = {0};
    D3DKMT_HANDLE a[3], list[4];

    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    for (unsigned i = 0; i < 3; i++) {
        p = rig_priv(100 + i, 8192 * (i + 1), 0, 0);
        assert_int_equal(rig_allocate(&x, &p, &a[i]), STATUS_SUCCESS);
    }
    abi_builder_init(&b);
    ABI_EMIT(&b, NOP, nop);
    memcpy(list, a, sizeof(a));
    list[3] = a[0]; /* again, this time written */
    assert_int_equal(rig_render(&x, &b, list, 4, 0xA), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_PERF, &perf), STATUS_SUCCESS);
    assert_int_equal(perf.alloc_table_count, 1);
    assert_int_equal(perf.alloc_table_entries, 3);
    assert_int_equal(perf.alloc_table_readonly_entries, 1);
    assert_int_equal(RIG_ESCAPE(&r, DUMP_RING_V2, &ring), STATUS_SUCCESS);
    assert_int_equal(ring.desc_count, 1);
    assert_int_equal(ring.ring_format, AEROGPU_RING_FORMAT_AGPU);
    assert_true(ring.desc[0].alloc_table_gpa != 0);
    assert_int_equal(ring.desc[0].alloc_table_size_bytes, 24 + 3 * 32);
    h = (const void *)(machine_ram(stack_machine(r.stack)) + ring.desc[0].alloc_table_gpa);
    e = (const void *)(h + 1);
    assert_int_equal(h->magic, AEROGPU_ALLOC_TABLE_MAGIC);
    assert_int_equal(h->entry_count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(e[i].alloc_id, 100 + i);
        assert_int_equal(e[i].size_bytes, 8192 * (i + 1));
        assert_int_equal(e[i].flags, i == 2 ? AEROGPU_ALLOC_FLAG_READONLY : 0);
        assert_true(e[i].gpa != 0 && e[i].gpa % 4096 == 0);
    }
    abi_builder_finish(&b);
    rig_down(&r);
}

/* The device itself refuses to write where the list said it would not. */
static void a_write_to_what_is_read_only_faults(void **state)
{
    struct aerogpu_escape_query_error q = {0};
    struct aerogpu_alloc_priv_v2 p = rig_priv(7, 4096, 0, 0);
    struct rig_context x, y;
    struct abi_builder b;
    struct rig r = {0};
    D3DKMT_HANDLE a;

    rig_up(&r, LIVE);
    x = rig_context(&r, r.client);
    y = rig_context(&r, r.client);
    assert_int_equal(rig_allocate(&x, &p, &a), STATUS_SUCCESS);
    abi_builder_init(&b);
    ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = 1, .size_bytes = 4096);
    ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = 2, .size_bytes = 4096, .backing_alloc_id = 7);
    ABI_EMIT(&b, COPY_BUFFER, copy_buffer, .dst_buffer = 2, .src_buffer = 1, .size_bytes = 4096,
             .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
    assert_int_equal(rig_render(&x, &b, &a, 1, 0), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&x), STATUS_DEVICE_REMOVED);
    assert_int_equal(rig_state(&x), D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_ERROR, &q), STATUS_SUCCESS);
    assert_int_equal(q.flags, AEROGPU_ESCAPE_FLAGS_VALID | 3);
    assert_int_not_equal(q.error_code, AEROGPU_ERROR_NONE);
    assert_int_equal(q.error_count, 1);
    assert_int_equal(dxgk_event_count(r.dxgk, 4109), 1);
    ABI_EMIT(&b, NOP, nop); /* others go on */
    assert_int_equal(rig_render(&y, &b, NULL, 0, 0), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&y), STATUS_SUCCESS);
    abi_builder_finish(&b);
    rig_down(&r);
}

static void a_long_stream_is_cut_between_packets(void **state)
{
    struct aerogpu_escape_query_fence f = {0};
    static uint8_t data[16000];
    struct abi_builder b;
    struct rig_context x;
    struct rig r = {0};
    uint64_t before;
    uint32_t size = 24;

    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_FENCE, &f), STATUS_SUCCESS);
    before = f.last_submitted_fence;
    abi_builder_init(&b);
    while (size + sizeof(data) + 8 <= x.command_size) {
        ABI_EMIT_TAIL(&b, DEBUG_MARKER, debug_marker, data, sizeof(data));
        size += sizeof(data) + 8;
    }
    while (size + 8 <= x.command_size) { /* to the last byte: the table's room makes it two submissions */
        ABI_EMIT(&b, NOP, nop);
        size += 8;
    }
    assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_FENCE, &f), STATUS_SUCCESS);
    assert_int_equal(f.last_completed_fence - before, 2);
    assert_int_equal(f.error_irq_count, 0);
    abi_builder_finish(&b);
    rig_down(&r);
}

/* ---- time-outs ---- */

static void hang_and_recover(struct rig *r, unsigned times)
{
    struct aerogpu_escape_query_perf perf = {0};
    struct abi_builder b;

    abi_builder_init(&b);
    for (unsigned i = 0; i < times; i++) {
        struct rig_context x = rig_context(r, r->client);
        NTSTATUS s;
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
        s = rig_idle(&x);
        assert_int_equal(s, STATUS_DEVICE_REMOVED);
        stack_sleep(r->stack, 50 * NSEC_PER_MSEC);
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_DEVICE_REMOVED);
        rig_context_destroy(&x);
        stack_sleep(r->stack, 61 * NSEC_PER_SEC); /* out of TdrLimitTime */
    }
    assert_int_equal(dxgk_event_count(r->dxgk, 4101), times);
    assert_int_equal(RIG_ESCAPE(r, QUERY_PERF, &perf), STATUS_SUCCESS);
    assert_int_equal(perf.reset_from_timeout_count, times);
    assert_true(perf.last_reset_time_100ns != 0);
    assert_int_equal(perf.last_submitted_fence, perf.last_completed_fence);
    abi_builder_finish(&b);
}

static void a_hang_is_recovered_from(void **state)
{
    struct rig r = {0};

    rig_up(&r, &(struct stack_params){.machine = {.kind = MACHINE_SIM, .faults.hang = 1000000}});
    hang_and_recover(&r, 3);
    rig_down(&r);
}

/* The device is as new after a reset: modes, vblank, fences, work. */
static void the_stack_works_after_a_reset(void **state)
{
    struct aerogpu_escape_query_scanout q = {0};
    uint64_t seed;

    for (seed = 1; seed < 50; seed++) { /* one submission in three hangs */
        struct rig r = {0};
        struct abi_builder b;
        unsigned resets = 0, done = 0;
        rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "TdrLimitCount", 1000);
        rig_up(&r,
               &(struct stack_params){.machine = {.kind = MACHINE_SIM, .seed = seed, .faults.hang = 300000}});
        abi_builder_init(&b);
        while (resets < 3 || done < 3) {
            struct rig_context x = rig_context(&r, r.client);
            ABI_EMIT(&b, NOP, nop);
            assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
            if (rig_idle(&x) == STATUS_SUCCESS) {
                done++;
            } else {
                resets++;
                stack_sleep(r.stack, 50 * NSEC_PER_MSEC);
                assert_int_equal(RIG_ESCAPE(&r, QUERY_SCANOUT, &q), STATUS_SUCCESS);
                assert_int_equal(q.mmio_enable, 1);
                assert_int_equal(dxgk_WaitForVerticalBlankEvent(
                                     r.client, &(D3DKMT_WAITFORVERTICALBLANKEVENT){.hAdapter = r.adapter}),
                                 STATUS_SUCCESS);
            }
            rig_context_destroy(&x);
        }
        assert_int_equal(dxgk_event_count(r.dxgk, 4101), resets);
        abi_builder_finish(&b);
        rig_down(&r);
    }
}

/* ---- what gets lost ---- */

static void lost_things_cost_a_moment(struct machine_faults faults, uint64_t *worst)
{
    struct rig r = {0};
    struct abi_builder b;
    struct rig_context x;

    *worst = 0;
    rig_up(&r, &(struct stack_params){.machine = {.kind = MACHINE_SIM, .seed = 3, .faults = faults}});
    x = rig_context(&r, r.client);
    abi_builder_init(&b);
    for (int i = 0; i < 200; i++) {
        uint64_t start = clock_now(stack_clock(r.stack)), took;
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
        took = clock_now(stack_clock(r.stack)) - start;
        if (took > *worst)
            *worst = took;
    }
    assert_int_equal(dxgk_event_count(r.dxgk, 4101), 0);
    abi_builder_finish(&b);
    rig_down(&r);
}

static void lost_doorbells_and_interrupts_are_noticed(void **state)
{
    uint64_t worst;

    lost_things_cost_a_moment((struct machine_faults){.lost_doorbell = 200000}, &worst);
    assert_in_range(worst, 240 * NSEC_PER_MSEC, 1500 * NSEC_PER_MSEC);
    lost_things_cost_a_moment((struct machine_faults){.lost_interrupt = 200000}, &worst);
    assert_in_range(worst, 240 * NSEC_PER_MSEC, 1500 * NSEC_PER_MSEC);
    lost_things_cost_a_moment(
        (struct machine_faults){.doubled_interrupt = 500000, .delayed_interrupt = 500000}, &worst);
    assert_in_range(worst, 0, 30 * NSEC_PER_MSEC);
}

static void a_small_ring_overflows_into_memory(void **state)
{
    struct aerogpu_escape_query_perf perf = {0};
    struct rig_context x[8];
    struct abi_builder b;
    struct rig r = {0};

    rig_set(&r, RIG_SERVICE, "RingEntries", 2);
    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "HwQueuedRenderPacketGroupLimit", 64);
    /* Half of the doorbells are lost, so the ring fills up. */
    rig_up(&r, &(struct stack_params){
                   .machine = {.kind = MACHINE_SIM, .seed = 5, .faults.lost_doorbell = 500000}});
    abi_builder_init(&b);
    for (int i = 0; i < 8; i++)
        x[i] = rig_context(&r, r.client);
    for (int n = 0; n < 50; n++)
        for (int i = 0; i < 8; i++) {
            ABI_EMIT(&b, NOP, nop);
            assert_int_equal(rig_render(&x[i], &b, NULL, 0, 0), STATUS_SUCCESS);
        }
    for (int i = 0; i < 8; i++)
        assert_int_equal(rig_idle(&x[i]), STATUS_SUCCESS);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_PERF, &perf), STATUS_SUCCESS);
    assert_true(perf.ring_push_failures > 0);
    assert_int_equal(perf.ring0_entry_count, 2);
    assert_int_equal(perf.last_completed_fence, perf.last_submitted_fence);
    assert_int_equal(dxgk_event_count(r.dxgk, 4101), 0);
    abi_builder_finish(&b);
    rig_down(&r);
}

/* A context of a higher class passes the work of the others. */
static void urgent_work_preempts(void **state)
{
    struct rig_context low, high;
    struct abi_builder b;
    struct rig r = {0};

    rig_up(&r, SIM);
    low = rig_context(&r, r.client);
    high = rig_context(&r, r.client);
    assert_int_equal(
        dxgk_SetContextSchedulingPriority(
            r.client, &(D3DKMT_SETCONTEXTSCHEDULINGPRIORITY){.hContext = high.context, .Priority = 5}),
        STATUS_SUCCESS);
    abi_builder_init(&b);
    for (int n = 0; n < 40; n++) {
        for (int i = 0; i < 5; i++) {
            ABI_EMIT(&b, NOP, nop);
            assert_int_equal(rig_render(&low, &b, NULL, 0, 0), STATUS_SUCCESS);
        }
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&high, &b, NULL, 0, 0), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&high), STATUS_SUCCESS);
    }
    assert_int_equal(rig_idle(&low), STATUS_SUCCESS);
    abi_builder_finish(&b);
    rig_down(&r);
}

/* The real executor stands still: the time-out replaces it, and new work draws. */
static void a_stopped_executor_is_replaced(void **state)
{
    struct rig_context x;
    struct abi_builder b;
    struct rig r = {0};

    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "TdrDelay", 1);
    rig_up(&r, LIVE);
    abi_builder_init(&b);
    for (unsigned i = 1; i <= 2; i++) {
        x = rig_context(&r, r.client);
        ABI_EMIT(&b, NOP, nop); /* one that is still starting would be replaced, and the work would run */
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
        assert_int_equal(dxgk_inject(r.dxgk, DXGK_FAULT_STOP_EXECUTOR, 1), STATUS_SUCCESS);
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&x), STATUS_DEVICE_REMOVED);
        for (int n = 0; n < 1000 && dxgk_event_count(r.dxgk, 4101) < i; n++)
            stack_sleep(r.stack, 10 * NSEC_PER_MSEC);
        assert_int_equal(dxgk_event_count(r.dxgk, 4101), i);
        assert_int_equal(rig_state(&x), D3DKMT_DEVICEEXECUTION_HUNG);
        rig_context_destroy(&x);
        x = rig_context(&r, r.client);
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
        rig_context_destroy(&x);
        /* the replacement has started, or the next round stops nobody */
        for (int n = 0; n < 1000 && !machine_executor_pid(stack_machine(r.stack)); n++)
            stack_sleep(r.stack, 10 * NSEC_PER_MSEC);
    }
    abi_builder_finish(&b);
    rig_down(&r);
}

static void blits_and_fills_reach_the_screen(void **state)
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

static uint64_t resident(struct rig *r)
{
    unsigned long long pages = 0;
    char path[64];
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/statm", machine_executor_pid(stack_machine(r->stack)));
    f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%*u %llu", &pages), 1);
    fclose(f);
    return pages * 4096;
}

/* Clients come, draw into 16 MiB each, and go without a word. */
static void dead_clients_leave_nothing_at_the_gpu(void **state)
{
    struct abi_builder b;
    struct rig r = {0};
    uint64_t before = 0;

    rig_up(&r, LIVE);
    abi_builder_init(&b);
    for (unsigned i = 0; i < 40; i++) {
        struct dxgk_client *c;
        struct rig_context x;
        assert_int_equal(dxgk_client_open(r.dxgk, &c, 300 + i, false), 0);
        x = rig_context(&r, c);
        ABI_EMIT(&b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 1,
                 .usage_flags = AEROGPU_RESOURCE_USAGE_RENDER_TARGET, .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
                 .width = 2048, .height = 2048, .mip_levels = 1, .array_layers = 1);
        ABI_EMIT(&b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {1});
        ABI_EMIT(&b, CLEAR, clear, .flags = AEROGPU_CLEAR_COLOR, .color_rgba = {abi_f32(1)});
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
        dxgk_client_close(c);
        if (i == 4)
            before = resident(&r);
    }
    assert_true(resident(&r) < before + (UINT64_C(200) << 20)); /* not 35 times 16 MiB */
    abi_builder_finish(&b);
    rig_down(&r);
}

struct crowd {
    struct rig *r;
    pthread_t thread;
    unsigned id;
    bool failed;
};

static void *one_of_many(void *arg)
{
    struct crowd *c = arg;
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    D3DKMT_CREATEDEVICE d = {0};
    D3DKMT_CREATECONTEXT x = {0};
    struct dxgk_client *client;
    struct abi_builder b;
    const void *bytes;
    uint32_t size;

    if (dxgk_client_open(c->r->dxgk, &client, 400 + c->id, false))
        return NULL;
    abi_builder_init(&b);
    ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = 1, .size_bytes = 64);
    ABI_EMIT(&b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 1);
    bytes = abi_builder_end(&b, &size);
    c->failed = dxgk_OpenAdapterFromHdc(client, &open);
    d.hAdapter = open.hAdapter;
    c->failed |= dxgk_CreateDevice(client, &d) != STATUS_SUCCESS;
    x.hDevice = d.hDevice;
    c->failed |= dxgk_CreateContext(client, &x) != STATUS_SUCCESS;
    for (int i = 0; i < 100 && !c->failed; i++) {
        D3DKMT_RENDER render = {.hContext = x.hContext, .CommandLength = size};
        memcpy(x.pCommandBuffer, bytes, size);
        c->failed |= dxgk_Render(client, &render) != STATUS_SUCCESS;
        if (i % 10 == 0)
            c->failed |=
                dxgk_WaitForIdle(client, &(D3DKMT_WAITFORIDLE){.hDevice = d.hDevice}) != STATUS_SUCCESS;
    }
    dxgk_client_close(client);
    abi_builder_finish(&b);
    return NULL;
}

static void many_threads_at_once(void **state)
{
    struct aerogpu_escape_query_fence f = {0};
    struct crowd crowd[8];
    struct rig r = {0};

    rig_up(&r, LIVE);
    for (unsigned i = 0; i < 8; i++) {
        crowd[i] = (struct crowd){.r = &r, .id = i, .failed = true};
        assert_int_equal(pthread_create(&crowd[i].thread, NULL, one_of_many, &crowd[i]), 0);
    }
    for (unsigned i = 0; i < 8; i++) {
        pthread_join(crowd[i].thread, NULL);
        assert_false(crowd[i].failed);
    }
    assert_int_equal(RIG_ESCAPE(&r, QUERY_FENCE, &f), STATUS_SUCCESS);
    assert_int_equal(f.error_irq_count, 0);
    assert_true(f.last_completed_fence > 0);
    rig_down(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_and_shows_a_mode),
        cmocka_unit_test(work_completes_in_the_sim),
        cmocka_unit_test(work_completes_live),
        cmocka_unit_test(a_clear_reaches_guest_memory),
        cmocka_unit_test(the_budget_is_set_and_clamped),
        cmocka_unit_test(allocations_stay_inside_the_budget),
        cmocka_unit_test(registers_are_found_in_any_order),
        cmocka_unit_test(the_umd_learns_what_the_device_is),
        cmocka_unit_test(the_mode_list_is_the_documented_one),
        cmocka_unit_test(modes_obey_the_settings),
        cmocka_unit_test(modes_go_round_and_others_are_refused),
        cmocka_unit_test(vblanks_come_at_sixty_hertz),
        cmocka_unit_test(the_scan_line_follows_the_vblank),
        cmocka_unit_test(flips_are_shown_on_their_vblank),
        cmocka_unit_test(a_vsynced_present_completes_on_a_vblank),
        cmocka_unit_test(the_table_says_what_is_read_only),
        cmocka_unit_test(a_write_to_what_is_read_only_faults),
        cmocka_unit_test(a_long_stream_is_cut_between_packets),
        cmocka_unit_test(a_hang_is_recovered_from),
        cmocka_unit_test(the_stack_works_after_a_reset),
        cmocka_unit_test(lost_doorbells_and_interrupts_are_noticed),
        cmocka_unit_test(a_small_ring_overflows_into_memory),
        cmocka_unit_test(urgent_work_preempts),
        cmocka_unit_test(a_stopped_executor_is_replaced),
        cmocka_unit_test(blits_and_fills_reach_the_screen),
        cmocka_unit_test(dead_clients_leave_nothing_at_the_gpu),
        cmocka_unit_test(many_threads_at_once),
    };

    return cmocka_run_group_tests_name("kmd", tests, NULL, NULL);
}
