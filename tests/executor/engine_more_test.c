/* SPDX-License-Identifier: MIT */
/* What ext.h adds for Direct3D 10 and 11: queries, textures of one and three dimensions, integers, depth with stencil of 8 bytes,
 * samplers with all that they say. */
#include "test.h"

#include <string.h>

#include <aerogpu/ext.h>
#include <aerogpu/pci.h>

#include "engine_rig.h"

enum { MEMORY = 7, ROOM = 1 << 16 };

static uint64_t *memory(struct rig *r)
{
    return (uint64_t *)(void *)(r->ram + RIG_DATA_GPA);
}

static void begin(struct rig *r, uint32_t slot, uint32_t kind, uint64_t offset)
{
    ABI_EMIT(&r->b, EXT_BEGIN_QUERY, ext_begin_query, .slot = slot, .kind = kind, .alloc_id = MEMORY,
             .offset = offset);
}

static void end(struct rig *r, uint32_t slot)
{
    ABI_EMIT(&r->b, EXT_END_QUERY, ext_end_query, .slot = slot);
}

static void submit(struct rig *r)
{
    rig_alloc(r, MEMORY, RIG_DATA_GPA, ROOM, 0);
    rig_run_ok(r);
}

/* Half of the target of 64 x 64 is drawn each time. */
RIG_TEST(samples_are_counted)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, 0, 1, 1, 0, RED)};
    uint64_t *mem = memory(r);

    memset(mem, 0xAB, ROOM);
    rig_make_target(r);
    rig_plain(r, v, 6);
    rig_draw(r, 6, 0); /* before */
    begin(r, 0, AEROGPU_QUERY_SAMPLES, 0);
    begin(r, 63, AEROGPU_QUERY_SAMPLES, 8);
    rig_draw(r, 6, 0);
    end(r, 63);
    rig_draw(r, 6, 0);
    submit(r);
    rig_draw(r, 6, 0); /* over submissions, and passes */
    rig_clear(r, 1, BLUE, 0, 0);
    rig_present(r);
    rig_draw(r, 6, 0);
    end(r, 0);
    rig_draw(r, 6, 0); /* behind */
    submit(r);
    assert_int_equal(mem[0], 4 * 2048);
    assert_int_equal(mem[1], 2048);
    assert_int_equal(mem[2], UINT64_C(0xABABABABABABABAB));
    begin(r, 5, AEROGPU_QUERY_SAMPLES, 16); /* of nothing, and begun again */
    rig_draw(r, 6, 0);
    begin(r, 5, AEROGPU_QUERY_SAMPLES, 24);
    end(r, 5);
    submit(r);
    assert_int_equal(mem[2], 0);
    assert_int_equal(mem[3], 0);
    begin(r, 1, AEROGPU_QUERY_SAMPLES, 0); /* more draws than a pool has room for */
    for (int i = 0; i < 600; i++)
        rig_draw(r, 6, 0);
    end(r, 1);
    submit(r);
    assert_int_equal(mem[0], 600 * 2048);
}

RIG_TEST(statistics_are_counted)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, 0, 1, 1, 0, RED)};
    uint64_t *mem = memory(r);

    rig_make_target(r);
    rig_plain(r, v, 6);
    begin(r, 0, AEROGPU_QUERY_STATISTICS, 64);
    rig_draw(r, 6, 0);
    rig_draw(r, 3, 0);
    end(r, 0);
    submit(r);
    assert_int_equal(mem[8], 9); /* vertices */
    assert_int_equal(mem[9], 3); /* primitives */
    assert_int_equal(mem[11], 0);
    assert_true(mem[15] >= 2048); /* pixels, and what stands for their neighbours */
}

RIG_TEST(time_is_written)
{
    struct rig *r = rig_of(state);
    uint64_t *mem = memory(r);

    memset(mem, 0, ROOM);
    for (uint32_t i = 0; i < 3; i++)
        ABI_EMIT(&r->b, EXT_WRITE_TIMESTAMP, ext_write_timestamp, .alloc_id = MEMORY, .offset = 8 * i);
    submit(r);
    assert_true(mem[0] && mem[0] <= mem[1] && mem[1] <= mem[2]);
}

RIG_TEST(queries_that_there_cannot_be)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, 0, 1, 1, 0, RED)};

    rig_make_target(r);
    rig_plain(r, v, 6);
    rig_run_ok(r);
    begin(r, 64, 0, 0);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "slot 64, kind 0: there are 64 slots, and kinds 0 to 5");
    end(r, 3);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "no query has begun in slot 3");
    begin(r, 0, 0, 0);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "alloc_id 7 is not in the allocation table");
    rig_alloc(r, MEMORY, RIG_DATA_GPA, 80, 0);
    begin(r, 0, AEROGPU_QUERY_STATISTICS, 0);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "88 bytes at 0 do not fit alloc_id 7, which has 80 bytes");
    rig_alloc(r, MEMORY, RIG_DATA_GPA, 80, 1 /* READONLY */);
    ABI_EMIT(&r->b, EXT_WRITE_TIMESTAMP, ext_write_timestamp, .alloc_id = MEMORY);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "alloc_id 7 is READONLY in this submission");
    begin(r, 0, AEROGPU_QUERY_SAMPLES, 0);
    submit(r);
    rig_draw(r, 6, 0); /* its memory is not in the table of what draws */
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "alloc_id 7 is not in the allocation table");
}

static void make(struct rig *r, uint32_t handle, uint32_t usage, uint32_t format, uint32_t width,
                 uint32_t height, uint32_t layers, uint32_t mips, uint32_t pitch)
{
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = handle,
             .usage_flags = usage | AEROGPU_RESOURCE_USAGE_RENDER_TARGET, .format = format, .width = width,
             .height = height, .mip_levels = mips, .array_layers = layers, .row_pitch_bytes = pitch,
             .backing_alloc_id = pitch ? MEMORY : 0);
}

static void copy(struct rig *r, uint32_t dst, uint32_t src, uint32_t mip, uint32_t slice, uint32_t width,
                 uint32_t height)
{
    ABI_EMIT(&r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = dst, .src_texture = src,
             .dst_mip_level = mip, .src_mip_level = mip, .dst_array_layer = slice, .src_array_layer = slice,
             .width = width, .height = height, .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
}

static void view(struct rig *r, uint32_t handle, uint32_t texture, uint32_t format, uint32_t mip,
                 uint32_t slice, uint32_t slices)
{
    ABI_EMIT(&r->b, CREATE_TEXTURE_VIEW, create_texture_view, .view_handle = handle,
             .texture_handle = texture, .format = format, .base_mip_level = mip, .mip_level_count = 1,
             .base_array_layer = slice, .array_layer_count = slices);
}

/* 4 x 2 x 4 texels, then 2 x 1 x 2: uploaded in the linear layout, one slice drawn over, all of it read back. */
RIG_TEST(slices_of_three_dimensions)
{
    struct rig *r = rig_of(state);
    uint32_t texels[36], *mem = (uint32_t *)(void *)memory(r);
    const uint32_t format = AEROGPU_FORMAT_R8G8B8A8_UNORM;

    for (uint32_t i = 0; i < 36; i++)
        texels[i] = 0xFF000000u | i;
    memset(mem, 0xAB, ROOM);
    rig_alloc(r, MEMORY, RIG_DATA_GPA, ROOM, 0);
    make(r, 30, AEROGPU_RESOURCE_USAGE_EXT_3D, format, 4, 2, 4, 2, 0);
    make(r, 31, AEROGPU_RESOURCE_USAGE_EXT_3D, format, 4, 2, 4, 2, 16);
    rig_upload(r, 30, 0, texels, sizeof(texels));
    view(r, 32, 30, format, 0, 2, 1);
    rig_set_target(r, 32, 0);
    rig_clear(r, 1, WHITE, 0, 0);
    for (uint32_t mip = 0; mip < 2; mip++)
        for (uint32_t z = 0; z < 4u >> mip; z++)
            copy(r, 31, 30, mip, z, 4 >> mip, 2 >> mip);
    rig_run_ok(r);
    for (uint32_t i = 0; i < 36; i++)
        assert_int_equal(mem[i], i >= 16 && i < 24 ? 0xFFFFFFFF : texels[i]);
    view(r, 33, 30, format, 1, 0, 3);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "view 33: layers 0 + 3 of texture 30, which has 2");
    rig_alloc(r, MEMORY, RIG_DATA_GPA, ROOM, 0);
    copy(r, 31, 30, 1, 2, 1, 1);
    rig_expect_error(r, AEROGPU_ERROR_OOB,
                     "destination: mip 1 layer 2 of texture 31, which has 2 mips and 2 layers");
    make(r, 34, AEROGPU_RESOURCE_USAGE_EXT_3D, format, 4, 2, 4, 4, 0);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "texture 34: mip_levels 4, 1 to 3 are possible at 4 x 2");
}

RIG_TEST(layers_of_one_dimension)
{
    struct rig *r = rig_of(state);
    uint32_t texels[12], *mem = (uint32_t *)(void *)memory(r);
    const uint32_t format = AEROGPU_FORMAT_R8G8B8A8_UNORM;

    for (uint32_t i = 0; i < 12; i++)
        texels[i] = 0xFF000000u | i;
    rig_alloc(r, MEMORY, RIG_DATA_GPA, ROOM, 0);
    make(r, 30, AEROGPU_RESOURCE_USAGE_EXT_1D, format, 4, 1, 2, 2, 0);
    make(r, 31, AEROGPU_RESOURCE_USAGE_EXT_1D, format, 4, 1, 2, 2, 16);
    rig_upload(r, 30, 0, texels, sizeof(texels));
    view(r, 32, 30, format, 0, 1, 1);
    rig_set_target(r, 32, 0);
    rig_clear(r, 1, WHITE, 0, 0);
    for (uint32_t i = 0; i < 4; i++)
        copy(r, 31, 30, i % 2, i / 2, 4 >> i % 2, 1);
    rig_run_ok(r);
    for (uint32_t i = 0; i < 12; i++)
        assert_int_equal(mem[i], i >= 6 && i < 10 ? 0xFFFFFFFF : texels[i]);
    make(r, 33, AEROGPU_RESOURCE_USAGE_EXT_1D, format, 4, 2, 1, 1, 0);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "texture 33: of one dimension, and its height is 2");
}

/* Integers become what the numbers of a clear are, whatever their size. */
RIG_TEST(integers_are_cleared)
{
    static const struct {
        uint32_t format, bytes;
        float value;
        uint8_t want[16];
    } made[] = {{AEROGPU_FORMAT_EXT_R32G32B32A32_UINT,
                 16,
                 70000,
                 {0x70, 0x11, 1, 0, 0x70, 0x11, 1, 0, 0x70, 0x11, 1, 0, 0x70, 0x11, 1, 0}},
                {AEROGPU_FORMAT_EXT_R16G16_SINT, 4, -2, {0xFE, 0xFF, 0xFE, 0xFF}},
                {AEROGPU_FORMAT_EXT_R8_UINT, 1, 200, {200}},
                {AEROGPU_FORMAT_EXT_R32_SINT, 4, -3e9f, {0, 0, 0, 0x80}}};
    struct rig *r = rig_of(state);

    for (uint32_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        float c[4] = {made[i].value, made[i].value, made[i].value, made[i].value};
        struct aerogpu_cmd_clear clear = {.flags = AEROGPU_CLEAR_COLOR};

        rig_each(state);
        rig_alloc(r, MEMORY, RIG_DATA_GPA, ROOM, 0);
        make(r, 30, 0, made[i].format, 4, 4, 1, 1, 0);
        make(r, 31, 0, made[i].format, 4, 4, 1, 1, 64);
        rig_set_target(r, 30, 0);
        memcpy(clear.color_rgba, c, sizeof(c));
        abi_builder_packet(&r->b, AEROGPU_CMD_CLEAR, &clear, sizeof(clear), NULL, 0);
        copy(r, 31, 30, 0, 0, 4, 4);
        rig_run_ok(r);
        assert_memory_equal(memory(r), made[i].want, made[i].bytes);
    }
}

RIG_TEST(depth_and_stencil_of_8_bytes)
{
    struct rig *r = rig_of(state);
    const struct {
        float depth;
        uint32_t stencil;
    } given = {0.625f, 0x5A}, *back = (void *)memory(r);
    const uint32_t format = AEROGPU_FORMAT_EXT_D32_FLOAT_S8_UINT;

    rig_alloc(r, MEMORY, RIG_DATA_GPA, ROOM, 0);
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 30,
             .usage_flags = AEROGPU_RESOURCE_USAGE_DEPTH_STENCIL, .format = format, .width = 4, .height = 1,
             .mip_levels = 1, .array_layers = 1);
    make(r, 31, 0, format, 4, 1, 1, 1, 32);
    rig_set_target(r, 0, 30);
    rig_clear(r, AEROGPU_CLEAR_DEPTH | AEROGPU_CLEAR_STENCIL, 0, 0.25f, 0x77);
    rig_upload(r, 30, 8, &given, sizeof(given));
    copy(r, 31, 30, 0, 0, 4, 1);
    rig_run_ok(r);
    assert_true(back[0].depth == 0.25f && back[0].stencil == 0x77);
    assert_memory_equal(&back[1], &given, sizeof(given));
    assert_true(back[2].depth == 0.25f && back[2].stencil == 0x77);
}

/* Outside of the texture lies the border's colour; and the finest level of detail that may be read is the second. */
RIG_TEST(samplers_say_all)
{
    struct rig *r = rig_of(state);
    const uint32_t texels[5] = {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFF00FF00};
    const float one = 1;
    struct aerogpu_cmd_ext_create_sampler s = {
        .sampler_handle = 50, .address_u = 4, .address_v = 4, .address_w = 4, .max_anisotropy = 1};
    struct aerogpu_cmd_set_samplers set = {.shader_stage = AEROGPU_SHADER_STAGE_PIXEL, .sampler_count = 1};

    memcpy(&s.min_lod, &one, 4);
    memcpy(&s.max_lod, &one, 4);
    rig_make_target(r);
    rig_textured(r, "texture_ps.dxbc");
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 40,
             .usage_flags = AEROGPU_RESOURCE_USAGE_TEXTURE, .format = AEROGPU_FORMAT_R8G8B8A8_UNORM,
             .width = 2, .height = 2, .mip_levels = 2, .array_layers = 1);
    rig_upload(r, 40, 0, texels, sizeof(texels));
    abi_builder_packet(&r->b, AEROGPU_CMD_EXT_CREATE_SAMPLER, &s, sizeof(s), NULL, 0);
    abi_builder_packet(&r->b, AEROGPU_CMD_SET_SAMPLERS, &set, sizeof(set), &s.sampler_handle, 4);
    rig_use_texture(r, 40);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 10, 10), GREEN);
}

/* The second mip of a texture is the mean of four texels each, in every layer of the view and in no other. */
RIG_TEST(mips_are_made)
{
    struct rig *r = rig_of(state);
    uint32_t texels[10] = {0xFF000000, 0xFF0000FF, 0xFF00FF00, 0xFF00FFFF, 0xFF111111},
             *mem = (uint32_t *)(void *)memory(r);
    const uint32_t format = AEROGPU_FORMAT_R8G8B8A8_UNORM;

    memcpy(texels + 5, texels, 20);
    rig_alloc(r, MEMORY, RIG_DATA_GPA, ROOM, 0);
    make(r, 30, 0, format, 2, 2, 2, 2, 0);
    make(r, 31, 0, format, 2, 2, 2, 2, 8);
    rig_upload(r, 30, 0, texels, sizeof(texels));
    ABI_EMIT(&r->b, CREATE_TEXTURE_VIEW, create_texture_view, .view_handle = 32, .texture_handle = 30,
             .format = format, .mip_level_count = 2, .base_array_layer = 1, .array_layer_count = 1);
    ABI_EMIT(&r->b, EXT_GENERATE_MIPS, ext_generate_mips, .texture = 32);
    for (uint32_t layer = 0; layer < 2; layer++)
        copy(r, 31, 30, 1, layer, 1, 1);
    rig_run_ok(r);
    assert_int_equal(mem[4], 0xFF111111);
    assert_true((mem[9] & 0xFF) - 0x7Fu < 2 && (mem[9] >> 8 & 0xFF) - 0x7Fu < 2 && mem[9] >> 16 == 0xFF00);
    make(r, 33, 0, AEROGPU_FORMAT_EXT_R8_UINT, 2, 2, 1, 2, 0);
    ABI_EMIT(&r->b, EXT_GENERATE_MIPS, ext_generate_mips, .texture = 33);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "texture 33 is EXT_R8_UINT, of which no mips are made");
}

TEST_GROUP(rig_group_setup, rig_group_teardown);
