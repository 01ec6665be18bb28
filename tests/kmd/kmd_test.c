/* SPDX-License-Identifier: MIT */
/* The miniport under dxgkrnl: starting, work, settings. */
#include "test.h"

#include <string.h>

#include <aerogpu/ext.h>

#include "kmd_rig.h"

#define SIM  (&(struct stack_params){.machine = {.kind = MACHINE_SIM, .seed = 1}})
#define LIVE (&(struct stack_params){.machine = {.kind = MACHINE_LIVE}})

/* ---- starting ------------------------------------------------------------ */

static D3DKMT_DISPLAYMODE current_mode(struct rig *r)
{
    D3DKMT_CURRENTDISPLAYMODE mode = {0};

    assert_int_equal(
        dxgk_QueryAdapterInfo(r->client, &(D3DKMT_QUERYADAPTERINFO){r->adapter, KMTQAITYPE_CURRENTDISPLAYMODE,
                                                                    &mode, sizeof(mode)}),
        STATUS_SUCCESS);
    return mode.DisplayMode;
}

TEST(starts_and_shows_a_mode)
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

/* ---- work ---------------------------------------------------------------- */

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

TEST(work_completes_in_the_sim)
{
    struct rig r = {0};

    rig_up(&r, SIM);
    work_completes(&r);
    rig_down(&r);
}

TEST(work_completes_live)
{
    struct rig r = {0};

    rig_up(&r, LIVE);
    work_completes(&r);
    rig_down(&r);
}

/* Clears a texture of the host and copies it into guest memory, where the client reads it. */
TEST(a_clear_reaches_guest_memory)
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

/* ---- settings ------------------------------------------------------------ */

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

TEST(the_budget_is_set_and_clamped)
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

TEST(allocations_stay_inside_the_budget)
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

TEST(registers_are_found_in_any_order)
{
    struct rig r = {0};

    rig_up(&r, &(struct stack_params){.machine = {.kind = MACHINE_SIM}, .bars_swapped = true});
    assert_int_equal(current_mode(&r).Width, 1024);
    rig_down(&r);
}

TEST(the_umd_learns_what_the_device_is)
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
    assert_int_equal(p.device_features,
                     AEROGPU_FEATURES_ALL | (AEROGPU_EXT_FEATURES_ALL & ~AEROGPU_EXT_FEATURE(EXT_ADDRESSES)));
    assert_int_equal(p.flags, AEROGPU_UMD_PRIVATE_FLAG_VBLANK | AEROGPU_UMD_PRIVATE_FLAG_FENCE_PAGE |
                                  AEROGPU_EXT_UMD_PRIVATE_FLAG_OWN_HANDLES);
    memset(longer, 0xEE, sizeof(longer));
    q.pPrivateDriverData = longer;
    q.PrivateDriverDataSize = sizeof(longer);
    assert_int_equal(dxgk_QueryAdapterInfo(r.client, &q), STATUS_SUCCESS);
    assert_memory_equal(longer, &p, sizeof(p));
    assert_int_equal(longer[79], 0);
    rig_down(&r);
}
