/* SPDX-License-Identifier: MIT */
/* The engine in this process: textures of every format, copies, guest memory behind them, shared surfaces. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include <aerogpu/alloc.h>
#include <aerogpu/pci.h>

#include "aerogpu/ext.h"
#include "base/dxbc/dxbc_sum.h"
#include "engine_rig.h"

/* ---- textures ------------------------------------------------------------ */

/* 2 x 2 texels: where is each on the screen? */
RIG_TEST(texture_formats_keep_their_channels)
{
    struct rig *r = rig_of(state);
    const struct {
        uint32_t format, bytes;
        uint8_t texels[16]; /* red, green / blue, half-transparent white */
        uint32_t last;
    } cases[] = {
        /* clang-format off */
        {AEROGPU_FORMAT_R8G8B8A8_UNORM, 4, {255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 255, 128}, 0xFFFFFF80},
        {AEROGPU_FORMAT_B8G8R8A8_UNORM, 4, {0, 0, 255, 255, 0, 255, 0, 255, 255, 0, 0, 255, 255, 255, 255, 128}, 0xFFFFFF80},
        {AEROGPU_FORMAT_B8G8R8X8_UNORM, 4, {0, 0, 255, 7, 0, 255, 0, 7, 255, 0, 0, 7, 255, 255, 255, 7}, WHITE},
        {AEROGPU_FORMAT_R8G8B8X8_UNORM, 4, {255, 0, 0, 7, 0, 255, 0, 7, 0, 0, 255, 7, 255, 255, 255, 7}, WHITE},
        {AEROGPU_FORMAT_B5G6R5_UNORM, 2, {0x00, 0xF8, 0xE0, 0x07, 0x1F, 0x00, 0xFF, 0xFF}, WHITE},
        {AEROGPU_FORMAT_B5G5R5A1_UNORM, 2, {0x00, 0xFC, 0xE0, 0x83, 0x1F, 0x80, 0xFF, 0x7F}, 0xFFFFFF00},
        {AEROGPU_FORMAT_R8G8B8A8_UNORM_SRGB, 4, {255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 188, 188, 188, 255}, 0x808080FF},
        {AEROGPU_FORMAT_B8G8R8A8_UNORM_SRGB, 4, {0, 0, 255, 255, 0, 255, 0, 255, 255, 0, 0, 255, 188, 188, 188, 255}, 0x808080FF},
        {AEROGPU_FORMAT_B8G8R8X8_UNORM_SRGB, 4, {0, 0, 255, 7, 0, 255, 0, 7, 255, 0, 0, 7, 188, 188, 188, 7}, 0x808080FF},
        {AEROGPU_FORMAT_R8G8B8X8_UNORM_SRGB, 4, {255, 0, 0, 7, 0, 255, 0, 7, 0, 0, 255, 7, 188, 188, 188, 7}, 0x808080FF},
        /* clang-format on */
    };

    rig_make_target(r);
    rig_textured(r, "texture_ps.dxbc");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        rig_make_target_of(r, 30, cases[i].format, 2, 2);
        rig_upload(r, 30, 0, cases[i].texels, 4 * cases[i].bytes);
        rig_use_texture(r, 30);
        rig_draw(r, 3, 0);
        rig_present(r);
        ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 30);
        rig_run_ok(r);
        assert_int_equal(rig_pixel(r, 10, 10), RED);
        assert_int_equal(rig_pixel(r, 50, 10), GREEN);
        assert_int_equal(rig_pixel(r, 10, 50), BLUE);
        assert_int_equal(rig_pixel(r, 50, 50), cases[i].last);
    }
}

RIG_TEST(block_formats)
{
    struct rig *r = rig_of(state);
    /* an 8 x 4 texture: a red block, a blue block */
    const uint8_t bc1[] = {0x00, 0xF8, 0x00, 0xF8, 0, 0, 0, 0, 0x1F, 0x00, 0x1F, 0x00, 0, 0, 0, 0};
    uint8_t bc2[32], bc3[32], bc7[32] = {0};
    const struct {
        uint32_t format, size;
        const uint8_t *data;
        uint32_t left, right;
    } cases[] = {{AEROGPU_FORMAT_BC1_RGBA_UNORM, 16, bc1, RED, BLUE},
                 {AEROGPU_FORMAT_BC1_RGBA_UNORM_SRGB, 16, bc1, RED, BLUE},
                 {AEROGPU_FORMAT_BC2_RGBA_UNORM, 32, bc2, RED, 0x0000FF00},
                 {AEROGPU_FORMAT_BC2_RGBA_UNORM_SRGB, 32, bc2, RED, 0x0000FF00},
                 {AEROGPU_FORMAT_BC3_RGBA_UNORM, 32, bc3, 0xFF000040, BLUE},
                 {AEROGPU_FORMAT_BC3_RGBA_UNORM_SRGB, 32, bc3, 0xFF000040, BLUE},
                 {AEROGPU_FORMAT_BC7_RGBA_UNORM, 32, bc7, WHITE, BLACK},
                 {AEROGPU_FORMAT_BC7_RGBA_UNORM_SRGB, 32, bc7, WHITE, BLACK}};

    memset(bc2, 0xFF, 8), memcpy(bc2 + 8, bc1, 8), memset(bc2 + 16, 0, 8), memcpy(bc2 + 24, bc1 + 8, 8);
    memset(bc3, 0, 32), bc3[0] = bc3[1] = 0x40, memcpy(bc3 + 8, bc1, 8), bc3[16] = bc3[17] = 0xFF;
    memcpy(bc3 + 24, bc1 + 8, 8);
    /* BC7 mode 5: endpoints 7 bits for colour, 8 for alpha; white, then black, both opaque */
    bc7[0] = 0x20, bc7[16] = 0x20;
    for (int bit = 8; bit < 8 + 42 + 16; bit++)
        bc7[bit / 8] |= (uint8_t)(1 << bit % 8);
    for (int bit = 8 + 42; bit < 8 + 42 + 16; bit++)
        bc7[16 + bit / 8] |= (uint8_t)(1 << bit % 8);

    rig_make_target(r);
    rig_textured(r, "texture_ps.dxbc");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        rig_make_target_of(r, 30, cases[i].format, 8, 4);
        rig_upload(r, 30, 0, cases[i].data, cases[i].size);
        rig_use_texture(r, 30);
        rig_draw(r, 3, 0);
        rig_present(r);
        ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 30);
        rig_run_ok(r);
        assert_int_equal(rig_pixel(r, 10, 32), cases[i].left);
        assert_int_equal(rig_pixel(r, 50, 32), cases[i].right);
    }
}

/* Mips and layers of the linear layout, read through views. */
RIG_TEST(mips_layers_and_views)
{
    struct rig *r = rig_of(state);
    uint8_t data[2 * (16 * 4 + 4 * 4 + 4)];
    const uint32_t colors[2][3] = {{RED, GREEN, BLUE}, {YELLOW, MAGENTA, WHITE}};
    const uint32_t texels[3] = {16, 4, 1};
    uint8_t *at = data;

    for (int layer = 0; layer < 2; layer++)
        for (int mip = 0; mip < 3; mip++)
            for (uint32_t i = 0; i < texels[mip]; i++, at += 4)
                for (int k = 0; k < 4; k++)
                    at[k] = (uint8_t)(colors[layer][mip] >> (24 - 8 * k));
    rig_make_target(r);
    rig_textured(r, "texture_ps.dxbc");
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 30, .usage_flags = 8,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .width = 4, .height = 4, .mip_levels = 3,
             .array_layers = 2);
    /* in three pieces that cut rows, mips and layers, but no texels */
    rig_upload(r, 30, 0, data, 20);
    rig_upload(r, 30, 20, data + 20, 76);
    rig_upload(r, 30, 96, data + 96, (uint32_t)sizeof(data) - 96);
    for (uint32_t layer = 0; layer < 2; layer++)
        for (uint32_t mip = 0; mip < 3; mip++) {
            ABI_EMIT(&r->b, CREATE_TEXTURE_VIEW, create_texture_view, .view_handle = 31, .texture_handle = 30,
                     .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .base_mip_level = mip, .mip_level_count = 1,
                     .base_array_layer = layer, .array_layer_count = 1);
            rig_use_texture(r, 31);
            rig_draw(r, 3, 0);
            rig_present(r);
            ABI_EMIT(&r->b, DESTROY_TEXTURE_VIEW, destroy_texture_view, .view_handle = 31);
            rig_run_ok(r);
            for (uint32_t i = 4; i < 64; i += 14)
                assert_int_equal(rig_pixel(r, i, 63 - i), colors[layer][mip]);
        }
    /* rendering to mip 1 of layer 1, sampling it */
    ABI_EMIT(&r->b, CREATE_TEXTURE_VIEW, create_texture_view, .view_handle = 32, .texture_handle = 30,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .base_mip_level = 1, .mip_level_count = 1,
             .base_array_layer = 1, .array_layer_count = 1);
    rig_set_target(r, 32, 0);
    rig_clear(r, 1, 0x10203040, 0, 0);
    rig_set_target(r, TARGET, 0);
    rig_use_texture(r, 32);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 32, 32), 0x10203040);
}

RIG_TEST(render_to_texture_then_sample)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(0, 0, 1, 1, 0, RED)}; /* upper right quarter */

    rig_make_target(r);
    rig_make_target_of(r, 40, AEROGPU_FORMAT_B8G8R8A8_UNORM, 32, 32);
    for (int i = 0; i < 3; i++) { /* several frames in flight */
        rig_set_target(r, 40, 0);
        rig_clear(r, 1, WHITE, 0, 0);
        if (!i)
            rig_plain(r, v, 6);
        else
            ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 11);
        rig_draw(r, 6, 0);
        rig_set_target(r, TARGET, 0);
        rig_clear(r, 1, BLACK, 0, 0);
        if (!i)
            rig_textured(r, "texture_ps.dxbc");
        else
            ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 13, .ps = 14);
        rig_use_texture(r, 40);
        rig_draw(r, 3, 0);
        rig_present(r);
        rig_submit(r);
        rig_wait(r);
        assert_int_equal(r->last.error, 0);
    }
    assert_int_equal(rig_pixel(r, 50, 10), RED);
    assert_int_equal(rig_pixel(r, 10, 10), WHITE);
    assert_int_equal(rig_pixel(r, 50, 50), WHITE);
}

static void expect_near(const char *what, uint32_t got, uint32_t want)
{
    for (int c = 8; c < 32; c += 8) {
        int off = (int)(got >> c & 255) - (int)(want >> c & 255);

        if (off > 4 || off < -4)
            fail_msg("%s: %08X, not %08X", what, got, want);
    }
}

/* Every format that is drawn to: a colour goes in, and is sampled. */
RIG_TEST(formats_of_ours)
{
    static const struct {
        const char *name;
        uint32_t format, channels;
    } formats[] = {
#define ROW(value, name, bytes, block, kind, alpha, srgb, minor, doc)                                        \
    {#name, AEROGPU_FORMAT_KIND_##kind == AEROGPU_FORMAT_KIND_COLOR ? value : 0,                             \
     strchr(&#name[4], 'B')   ? 3                                                                            \
     : strchr(&#name[4], 'G') ? 2                                                                            \
                              : 1},
        AEROGPU_EXT_FORMATS(ROW)
#undef ROW
    };
    static const uint32_t want[] = {0, 0xFF000000, 0xFF800000, 0xFF804000};
    const uint8_t block[16] = {255, 255, 0, 0, 0, 0, 0, 0, 255, 255};
    struct rig *r = rig_of(state);

    rig_make_target(r);
    rig_textured(r, "texture_ps.dxbc");
    for (uint32_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (!formats[i].format || formats[i].format == AEROGPU_FORMAT_EXT_R9G9B9E5_FLOAT ||
            formats[i].format >= AEROGPU_FORMAT_EXT_R32G32B32A32_UINT) /* integers: engine_more */
            continue;
        rig_make_target_of(r, 40 + i, formats[i].format, 32, 32);
        rig_set_target(r, 40 + i, 0);
        rig_clear(r, 1, 0xFF8040FF, 0, 0);
        rig_set_target(r, TARGET, 0);
        rig_use_texture(r, 40 + i);
        rig_draw(r, 3, 0);
        rig_present(r);
        rig_run_ok(r);
        expect_near(formats[i].name, rig_pixel(r, 10, 10), want[formats[i].channels]);
    }
    rig_make_target_of(r, 200, AEROGPU_FORMAT_EXT_BC5_UNORM, 4, 4);
    rig_upload(r, 200, 0, block, sizeof(block));
    rig_use_texture(r, 200);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    expect_near("BC5", rig_pixel(r, 10, 10), 0xFFFF0000);
    /* the same bytes under another name, and no other bytes */
    rig_make_target_of(r, 201, AEROGPU_FORMAT_EXT_R16G16_FLOAT, 4, 4);
    ABI_EMIT(&r->b, CREATE_TEXTURE_VIEW, create_texture_view, .view_handle = 202, .texture_handle = 201,
             .format = AEROGPU_FORMAT_EXT_R16G16_UNORM, .mip_level_count = 1, .array_layer_count = 1);
    rig_use_texture(r, 202);
    rig_draw(r, 3, 0);
    rig_run_ok(r);
    ABI_EMIT(&r->b, CREATE_TEXTURE_VIEW, create_texture_view, .view_handle = 203, .texture_handle = 201,
             .format = AEROGPU_FORMAT_EXT_R8_UNORM, .mip_level_count = 1, .array_layer_count = 1);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE,
                     "view 203: format EXT_R8_UNORM cannot look at texture 201, which is EXT_R16G16_FLOAT");
}

/* texture_ps.dxbc, its texture declared as `dim` (D3D10_SB_RESOURCE_DIMENSION). */
static void make_sampler_of(struct rig *r, uint32_t handle, uint32_t dim)
{
    enum { DCL_RESOURCE_2D = 0x04001858 };
    uint32_t size, word, sum[4], found = 0;
    uint8_t *bytes = rig_shader("texture_ps.dxbc", &size);

    assert_non_null(bytes);
    for (uint32_t at = 32; at + 4 <= size; at += 4) {
        memcpy(&word, bytes + at, 4);
        if (word != DCL_RESOURCE_2D)
            continue;
        word = 0x04000058 | dim << 11;
        memcpy(bytes + at, &word, 4);
        found++;
    }
    assert_int_equal(found, 1);
    dxbc_sum(bytes, size, sum);
    memcpy(bytes + 4, sum, sizeof(sum));
    ABI_EMIT_TAIL(&r->b, CREATE_SHADER_DXBC, create_shader_dxbc, bytes, size, .shader_handle = handle,
                  .stage = AEROGPU_SHADER_STAGE_PIXEL, .dxbc_size_bytes = size);
    free(bytes);
}

/* Direct3D: what is bound and is no such view reads as zero, like what is not bound. */
RIG_TEST(views_of_another_kind_read_as_zero)
{
    enum { DIM_1D = 2, DIM_2D = 3, DIM_3D = 5, DIM_CUBE = 6, DIM_1D_ARRAY = 7, DIM_CUBE_ARRAY = 10 };
    static const uint32_t dims[] = {DIM_2D, DIM_1D, DIM_3D, DIM_CUBE, DIM_1D_ARRAY, DIM_CUBE_ARRAY};
    const struct aerogpu_shader_resource_buffer_binding b = {.buffer = 41};
    struct rig *r = rig_of(state);
    const uint8_t ones[256] = {1, 1, 1, 1};

    rig_make_target(r);
    rig_make_target_of(r, 40, AEROGPU_FORMAT_B8G8R8A8_UNORM, 32, 16); /* no cube */
    rig_set_target(r, 40, 0);
    rig_clear(r, 1, WHITE, 0, 0);
    rig_make_buffer(r, 41, ones, sizeof(ones));
    rig_set_target(r, TARGET, 0);
    rig_textured(r, "texture_ps.dxbc");
    for (uint32_t i = 0; i < sizeof(dims) / sizeof(dims[0]); i++) {
        make_sampler_of(r, 50 + i, dims[i]);
        ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 13, .ps = 50 + i);
        for (int bound = 0; bound < 3; bound++) { /* a texture of two dimensions, a buffer, nothing */
            rig_use_texture(r, bound == 0 ? 40 : 0);
            if (bound == 1)
                ABI_EMIT_TAIL(&r->b, SET_SHADER_RESOURCE_BUFFERS, set_shader_resource_buffers, &b, sizeof(b),
                              .shader_stage = AEROGPU_SHADER_STAGE_PIXEL, .buffer_count = 1);
            rig_clear(r, 1, RED, 0, 0);
            rig_draw(r, 3, 0);
            rig_present(r);
            rig_run_ok(r);
            assert_int_equal(rig_pixel(r, 32, 32) & 0xFFFFFF, bound == 0 && dims[i] == DIM_2D ? 0xFFFFFF : 0);
        }
    }
}

RIG_TEST(several_targets)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 0, 1, 0, 0xFF3300FF)};
    const uint32_t want[3] = {0xFF3300FF, 0x3300FFFF, 0x00CCFFFF};

    rig_plain(r, v, 6);
    rig_make_shader(r, 14, AEROGPU_SHADER_STAGE_PIXEL, 0, "targets_ps.dxbc");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 14);
    for (uint32_t i = 0; i < 3; i++)
        rig_make_target_of(r, 50 + i, AEROGPU_FORMAT_R8G8B8A8_UNORM, 64, 64);
    ABI_EMIT(&r->b, SET_RENDER_TARGETS, set_render_targets, .color_count = 3, .colors = {50, 51, 52});
    rig_clear(r, 1, 0x01020304, 0, 0);
    rig_draw(r, 6, 0);
    for (uint32_t i = 0; i < 3; i++) {
        rig_set_target(r, 50 + i, 0);
        rig_present(r);
        rig_run_ok(r);
        assert_int_equal(rig_pixel(r, 20, 20), want[i]);
        assert_int_equal(rig_pixel(r, 40, 20), 0x01020304);
    }
}

/* ---- copies and guest memory --------------------------------------------- */

RIG_TEST(copies_write_back_to_guest_memory)
{
    struct rig *r = rig_of(state);
    uint32_t *mem = (uint32_t *)(void *)(r->ram + RIG_DATA_GPA);
    uint32_t data[16];

    for (uint32_t i = 0; i < 16; i++)
        data[i] = 0x1000 + i;
    memset(mem, 0xEE, 4096);
    rig_make_buffer(r, 1, data, sizeof(data));
    rig_alloc(r, 7, RIG_DATA_GPA, 4096, 0);
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 2, .size_bytes = 64, .backing_alloc_id = 7,
             .backing_offset_bytes = 256);
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 2, .src_buffer = 1, .dst_offset_bytes = 8,
             .src_offset_bytes = 4, .size_bytes = 12, .flags = 1);
    rig_run_ok(r);
    assert_int_equal(mem[65], 0xEEEEEEEE);
    assert_int_equal(mem[66], 0x1001);
    assert_int_equal(mem[68], 0x1003);
    assert_int_equal(mem[69], 0xEEEEEEEE);
    /* and the guest's later write is seen after a dirty range, in the same submission as the copy that overwrites it */
    mem[64] = 0xABCD;
    rig_alloc(r, 7, RIG_DATA_GPA, 4096, 0);
    ABI_EMIT(&r->b, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = 2, .size_bytes = 4);
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 2, .src_buffer = 1, .dst_offset_bytes = 60,
             .size_bytes = 4, .flags = 1);
    ABI_EMIT(&r->b, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = 2, .offset_bytes = 60,
             .size_bytes = 4);
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 1, .src_buffer = 2, .size_bytes = 64);
    rig_alloc(r, 8, RIG_DATA_GPA + 8192, 4096, 0);
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 3, .size_bytes = 64,
             .backing_alloc_id = 8);
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 3, .src_buffer = 1, .size_bytes = 64, .flags = 1);
    rig_run_ok(r);
    assert_int_equal(mem[2048], 0xABCD);
    assert_int_equal(mem[2048 + 2], 0x1001);
    assert_int_equal(mem[2048 + 15], 0x1000);
}

RIG_TEST(textures_in_guest_memory)
{
    struct rig *r = rig_of(state);
    uint8_t *mem = r->ram + RIG_DATA_GPA;

    /* 4 x 4, rows 32 bytes apart, 2 mips */
    for (uint32_t y = 0; y < 4; y++)
        for (uint32_t x = 0; x < 4; x++)
            memcpy(mem + 64 + y * 32 + x * 4, (uint8_t[]){(uint8_t)(x * 80), (uint8_t)(y * 80), 9, 255}, 4);
    memset(mem + 64 + 4 * 32, 0x77, 16);
    rig_make_target(r);
    rig_textured(r, "texture_ps.dxbc");
    rig_alloc(r, 7, RIG_DATA_GPA, 4096, 0);
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 30, .usage_flags = 8,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .width = 4, .height = 4, .mip_levels = 2,
             .array_layers = 1, .row_pitch_bytes = 32, .backing_alloc_id = 7, .backing_offset_bytes = 64);
    rig_use_texture(r, 30);
    ABI_EMIT(&r->b, CREATE_TEXTURE_VIEW, create_texture_view, .view_handle = 31, .texture_handle = 30,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .mip_level_count = 1, .array_layer_count = 1);
    rig_use_texture(r, 31);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    for (uint32_t y = 0; y < 4; y++)
        for (uint32_t x = 0; x < 4; x++)
            assert_int_equal(rig_pixel(r, x * 16 + 8, y * 16 + 8), x * 80 << 24 | y * 80 << 16 | 0x9FF);
    /* a cleared texture comes back into guest memory, and only its rectangle */
    memset(mem, 0, 4096);
    rig_make_target_of(r, 33, AEROGPU_FORMAT_R8G8B8A8_UNORM, 4, 4);
    rig_set_target(r, 33, 0);
    rig_clear(r, 1, 0x11223344, 0, 0);
    rig_alloc(r, 7, RIG_DATA_GPA, 4096, 0);
    ABI_EMIT(&r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = 30, .src_texture = 33, .dst_x = 1,
             .dst_y = 2, .width = 2, .height = 2, .flags = 1);
    rig_run_ok(r);
    for (uint32_t i = 0; i < 1024; i++) {
        uint32_t word, at = i * 4 - 64, y = at / 32, x = at % 32 / 4;
        bool inside = i * 4 >= 64 && (y == 2 || y == 3) && (x == 1 || x == 2);
        memcpy(&word, mem + i * 4, 4);
        assert_int_equal(word, inside ? 0x44332211 : 0);
    }
}

RIG_TEST(depth_and_stencil_go_through_memory)
{
    struct rig *r = rig_of(state);
    const uint32_t texels[4] = {0x01000000, 0x02FFFFFF, 0x03800000, 0xFF123456};
    uint32_t *mem = (uint32_t *)(void *)(r->ram + RIG_DATA_GPA);

    memset(mem, 0, 64);
    rig_make_target_of(r, DEPTH, AEROGPU_FORMAT_D24_UNORM_S8_UINT, 2, 2);
    rig_upload(r, DEPTH, 0, texels, sizeof(texels));
    rig_alloc(r, 7, RIG_DATA_GPA, 4096, 0);
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 30, .usage_flags = 32,
             .format = AEROGPU_FORMAT_D24_UNORM_S8_UINT, .width = 2, .height = 2, .mip_levels = 1,
             .array_layers = 1, .row_pitch_bytes = 8, .backing_alloc_id = 7);
    ABI_EMIT(&r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = 30, .src_texture = DEPTH, .width = 2,
             .height = 2, .flags = 1);
    rig_run_ok(r);
    assert_memory_equal(mem, texels, sizeof(texels));
}

RIG_TEST(copies_inside_one_texture_may_overlap)
{
    struct rig *r = rig_of(state);
    uint8_t data[16];

    for (uint8_t i = 0; i < 4; i++)
        memcpy(data + 4 * i, (uint8_t[]){(uint8_t)(i * 60), 0, 0, 255}, 4);
    rig_make_target_of(r, TARGET, AEROGPU_FORMAT_R8G8B8A8_UNORM, 4, 1);
    rig_set_target(r, TARGET, 0);
    rig_upload(r, TARGET, 0, data, 16);
    ABI_EMIT(&r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = TARGET, .src_texture = TARGET, .dst_x = 1,
             .width = 3, .height = 1);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 0, 0) >> 24, 0);
    assert_int_equal(rig_pixel(r, 1, 0) >> 24, 0);
    assert_int_equal(rig_pixel(r, 2, 0) >> 24, 60);
    assert_int_equal(rig_pixel(r, 3, 0) >> 24, 120);
}

/* ---- shared surfaces ----------------------------------------------------- */

RIG_TEST(shared_surfaces)
{
    struct rig *r = rig_of(state);
    const uint64_t token = 0x123456789ABCDEF0;

    rig_make_target(r);
    rig_clear(r, 1, GREEN, 0, 0);
    ABI_EMIT(&r->b, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = TARGET,
             .share_token = token);
    rig_run_ok(r);
    r->context_id = 2;
    ABI_EMIT(&r->b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = 500,
             .share_token = token);
    rig_set_target(r, 500, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 5, 5), GREEN);
    /* the alias outlives the original, the token does not come back */
    ABI_EMIT(&r->b, RELEASE_SHARED_SURFACE, release_shared_surface, .share_token = token);
    ABI_EMIT(&r->b, RELEASE_SHARED_SURFACE, release_shared_surface, .share_token = token);
    ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = TARGET);
    rig_clear(r, 1, BLUE, 0, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 5, 5), BLUE);
    ABI_EMIT(&r->b, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = 500,
             .share_token = token);
    assert_int_equal(rig_run(r)->error, AEROGPU_ERROR_CMD_DECODE);
    assert_non_null(strstr(r->last.message, "is retired"));
    ABI_EMIT(&r->b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = 501,
             .share_token = token);
    assert_int_equal(rig_run(r)->error, AEROGPU_ERROR_CMD_DECODE);
    ABI_EMIT(&r->b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = 501,
             .share_token = 99);
    assert_int_equal(rig_run(r)->error, AEROGPU_ERROR_CMD_DECODE);
    assert_non_null(strstr(r->last.message, "was never exported"));
    r->context_id = 0;
}

TEST_GROUP(rig_group_setup, rig_group_teardown);
