/* SPDX-License-Identifier: MIT */
/* engine_eleven_test.c: the packets that Direct3D 11 needs beyond the ABI's (ext.h, EXT_VIEWS to EXT_STREAM_OUTPUT): what each does, and
 * the one error that each wrong one gives. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include <aerogpu/ext.h>
#include <aerogpu/pci.h>

#include "base/dxbc/dxbc_sum.h"
#include "base/dxbc/sm4_tokens.h"
#include "engine_rig.h"

enum {
    BUFFER = 60,
    COPY = 61,
    VIEW = 62,
    OTHER = 63,
    MEMORY = 7,
    WORDS = 64,
    R32_UINT = 42,
    R16_UINT = 57,
    BC1 = 71
};

/* The buffer's words in guest memory, after what the stream holds. */
static const uint32_t *words(struct rig *r, uint32_t buffer)
{
    rig_alloc(r, MEMORY, RIG_DATA_GPA, 4096, 0);
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = COPY, .size_bytes = WORDS * 4,
             .backing_alloc_id = MEMORY);
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = COPY, .src_buffer = buffer,
             .size_bytes = WORDS * 4, .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
    ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = COPY);
    rig_run_ok(r);
    return (const uint32_t *)(const void *)(r->ram + RIG_DATA_GPA);
}

static void make(struct rig *r)
{
    static const uint32_t zeroes[WORDS];

    memset(r->ram + RIG_DATA_GPA, 0, WORDS * 4);
    rig_make_buffer(r, BUFFER, zeroes, sizeof(zeroes));
}

static void view(struct rig *r, uint32_t buffer, uint32_t format, uint64_t offset, uint64_t size)
{
    ABI_EMIT(&r->b, EXT_CREATE_BUFFER_VIEW, ext_create_buffer_view, .view_handle = VIEW, .buffer = buffer,
             .dxgi_format = format, .offset_bytes = offset, .size_bytes = size);
}

static void clear(struct rig *r, uint32_t handle, uint32_t value, uint32_t floats)
{
    ABI_EMIT(&r->b, EXT_CLEAR_VIEW, ext_clear_view, .view = handle, .floats = floats,
             .values = {value, value, value, value});
}

RIG_TEST(views_of_buffers_are_filled)
{
    struct rig *r = rig_of(state);
    const uint32_t *mem;

    make(r);
    view(r, BUFFER, R16_UINT, 6, 4);
    clear(r, VIEW, 0x12345, 0);
    mem = words(r, BUFFER);
    assert_int_equal(mem[1], 0x23450000);
    assert_int_equal(mem[2], 0x2345);
    assert_int_equal(mem[0] | mem[3], 0);
    ABI_EMIT(&r->b, DESTROY_TEXTURE_VIEW, destroy_texture_view, .view_handle = VIEW);
    view(r, BUFFER, 41 /* R32_FLOAT */, 16, 8);
    clear(r, VIEW, 0x3FC00000, 1);
    mem = words(r, BUFFER);
    assert_int_equal(mem[4], 0x3FC00000);
    assert_int_equal(mem[6], 0);
}

RIG_TEST(views_that_there_cannot_be)
{
    struct rig *r = rig_of(state);

    make(r);
    view(r, BUFFER, BC1, 0, 16);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "view 62: buffers have no texels of DXGI format 71");
    view(r, BUFFER, R32_UINT, 2, 16);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "view 62: bytes 2 + 16 are no multiples of 4, above 0");
    view(r, BUFFER, R32_UINT, 4, WORDS * 4);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "view 62: bytes 4 + 256 pass the end of buffer 60, which has 256");
    view(r, BUFFER, R32_UINT, UINT64_MAX - 3, 8);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "pass the end of buffer 60");
    view(r, 99, R32_UINT, 0, 16);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "handle 99 names nothing, a buffer is needed");
    clear(r, BUFFER, 0, 0);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "handle 60 names no texture and no view");
    view(r, BUFFER, 0, 0, 16);
    ABI_EMIT(&r->b, EXT_COPY_COUNT, ext_copy_count, .view = VIEW, .dst_buffer = BUFFER,
             .dst_offset = WORDS * 4);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "4 bytes at 256 do not fit buffer 60");
}

/* What is drawn to elements of a buffer arrives in them, and what the pass does not touch stays: others see it behind each draw. */
RIG_TEST(elements_of_buffers_are_targets)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 0, 1, 0, RED)};
    const uint32_t old[] = {1, 2, 3, 4, 5, 6, 7, 8}, *mem;

    rig_make_target(r);
    rig_plain(r, v, 6);
    make(r);
    rig_upload(r, BUFFER, 0, old, sizeof(old));
    view(r, BUFFER, 28 /* R8G8B8A8_UNORM */, 8, 16);
    rig_set_target(r, VIEW, 0);
    rig_draw(r, 6, 0);
    rig_draw(r, 6, 0);
    mem = words(r, BUFFER);
    assert_int_equal(mem[1], 2);
    assert_int_equal(mem[2], 0xFF0000FF);
    assert_int_equal(mem[3], 0xFF0000FF);
    assert_int_equal(mem[4], 5); /* the other half of the target */
    assert_int_equal(mem[6], 7);
    rig_upload(r, BUFFER, 8, old, 8); /* the next pass begins with it */
    ABI_EMIT(&r->b, SET_SCISSOR, set_scissor, .x = 1, .y = 0, .width = 1, .height = 1);
    ABI_EMIT(&r->b, SET_RASTERIZER_STATE, set_rasterizer_state, .scissor_enable = 1);
    rig_draw(r, 6, 0);
    ABI_EMIT(&r->b, DESTROY_TEXTURE_VIEW, destroy_texture_view, .view_handle = VIEW);
    mem = words(r, BUFFER);
    assert_int_equal(mem[2], 1);
    assert_int_equal(mem[3], 0xFF0000FF);
    assert_int_equal(mem[4], 5);
}

RIG_TEST(elements_that_are_no_targets)
{
    struct rig *r = rig_of(state);

    make(r);
    rig_set_target(r, BUFFER, 0);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "handle 60 names no texture and no view");
    view(r, BUFFER, 0, 0, 16);
    rig_set_target(r, VIEW, 0);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE,
                     "view 62 of 16 bytes of a buffer cannot be a colour target");
    ABI_EMIT(&r->b, DESTROY_TEXTURE_VIEW, destroy_texture_view, .view_handle = VIEW);
    view(r, BUFFER, 6 /* R32G32B32_FLOAT */, 0, 24);
    rig_set_target(r, VIEW, 0);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE,
                     "view 62 of 24 bytes of a buffer cannot be a colour target");
    ABI_EMIT(&r->b, DESTROY_TEXTURE_VIEW, destroy_texture_view, .view_handle = VIEW);
    view(r, BUFFER, R32_UINT, 0, 16);
    rig_set_target(r, 0, VIEW);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "which cannot be a depth-stencil target");
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = OTHER, .size_bytes = 4 << 20);
    ABI_EMIT(&r->b, DESTROY_TEXTURE_VIEW, destroy_texture_view, .view_handle = VIEW);
    view(r, OTHER, R32_UINT, 0, 4 << 20);
    rig_set_target(r, VIEW, 0);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "view 62 of 4194304 bytes of a buffer cannot be");
}

/* A texture of `width` x `width` in guest memory of 64 bytes a row, of two levels. */
static void make_texture(struct rig *r, uint32_t handle, uint32_t format, uint32_t width, uint32_t mips)
{
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = handle,
             .usage_flags = AEROGPU_RESOURCE_USAGE_TEXTURE, .format = format, .width = width, .height = width,
             .mip_levels = mips, .array_layers = 1, .row_pitch_bytes = 64, .backing_alloc_id = MEMORY);
}

static void copy(struct rig *r, uint32_t dst, uint32_t mip, uint32_t src, uint32_t width)
{
    ABI_EMIT(&r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = dst, .src_texture = src,
             .dst_mip_level = mip, .width = width, .height = width, .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
}

/* Bit by bit: a texel becomes a block, also of a level that ends inside of it, and a block a texel. */
RIG_TEST(texels_become_others_of_as_many_bytes)
{
    struct rig *r = rig_of(state);
    const uint32_t bits[] = {0x11223344, 0x55667788},
                   *mem = (const uint32_t *)(void *)(r->ram + RIG_DATA_GPA);

    memset(r->ram + RIG_DATA_GPA, 0, 4096);
    rig_alloc(r, MEMORY, RIG_DATA_GPA, 4096, 0);
    make_texture(r, 30, AEROGPU_FORMAT_BC1_RGBA_UNORM, 4, 2); /* rows of 64 bytes, and then of 8 */
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 31,
             .usage_flags = AEROGPU_RESOURCE_USAGE_TEXTURE, .format = AEROGPU_FORMAT_EXT_R32G32_UINT,
             .width = 2, .height = 2, .mip_levels = 1, .array_layers = 1);
    rig_upload(r, 31, 0, bits, sizeof(bits));
    copy(r, 30, 0, 31, 1);
    copy(r, 30, 1, 31, 1);
    rig_run_ok(r);
    assert_memory_equal(mem, bits, 8);
    assert_memory_equal(mem + 16, bits, 8);
    copy(r, 30, 0, 31, 2);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "destination 0,0 + 8 x 8 passes the edge of texture 30");
    copy(r, 30, 1, 31, 2);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "destination 0,0 + 8 x 8 passes the edge of texture 30");
    copy(r, 31, 0, 30, 0x80000001);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "passes the edge of texture 31");
    copy(r, 30, 0, 31, 0x40000001); /* four times that is 4 */
    rig_expect_error(r, AEROGPU_ERROR_OOB, "source 0,0 + 1073741825 x 1073741825 passes the edge");
    rig_make_target_of(r, 32, AEROGPU_FORMAT_EXT_R32_FLOAT, 2, 2);
    copy(r, 32, 0, 31, 1);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE,
                     "texture 32 is EXT_R32_FLOAT, texture 31 is EXT_R32G32_UINT");
}

/* A compute shader that writes 3n to word n of what is bound, as a view or not at all. */
RIG_TEST(views_of_buffers_are_written_by_shaders)
{
    struct rig *r = rig_of(state);
    struct aerogpu_unordered_access_buffer_binding b = {.buffer = VIEW, .initial_count = 5};
    const uint32_t *mem;

    make(r);
    rig_make_shader(r, 20, AEROGPU_SHADER_STAGE_COMPUTE, 0, "count_typed_cs.dxbc");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .cs = 20);
    view(r, BUFFER, R32_UINT, 16, 32);
    ABI_EMIT_TAIL(&r->b, SET_UNORDERED_ACCESS_BUFFERS, set_unordered_access_buffers, &b, sizeof(b),
                  .shader_stage = AEROGPU_SHADER_STAGE_COMPUTE, .uav_count = 1);
    ABI_EMIT(&r->b, DISPATCH, dispatch, .group_count_x = 1, .group_count_y = 1, .group_count_z = 1);
    ABI_EMIT(&r->b, EXT_COPY_COUNT, ext_copy_count, .view = VIEW, .dst_buffer = BUFFER, .dst_offset = 240);
    mem = words(r, BUFFER);
    assert_int_equal(mem[3], 0);
    assert_int_equal(mem[5], 3);
    assert_int_equal(mem[11], 21);
    assert_int_equal(mem[12], 0); /* behind the view */
    assert_int_equal(mem[60], 5);
    b.offset_bytes = 4;
    ABI_EMIT_TAIL(&r->b, SET_UNORDERED_ACCESS_BUFFERS, set_unordered_access_buffers, &b, sizeof(b),
                  .shader_stage = AEROGPU_SHADER_STAGE_COMPUTE, .uav_count = 1);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "slot 0: bytes 4 + 0 of view 62, whose own are bound");
}

RIG_TEST(draws_and_dispatches_as_a_buffer_says)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0, RED)};
    const uint32_t numbers[] = {6, 1, 0, 0};

    rig_make_target(r);
    rig_plain(r, v, 6);
    rig_make_buffer(r, BUFFER, numbers, sizeof(numbers));
    rig_clear(r, 1, BLACK, 0, 0);
    ABI_EMIT(&r->b, EXT_DRAW_INDIRECT, ext_draw_indirect, .buffer = BUFFER);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 20), RED);
    ABI_EMIT(&r->b, EXT_DRAW_INDIRECT, ext_draw_indirect, .buffer = BUFFER, .offset = 4);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "16 bytes at 4 do not fit buffer 60, which has 16");
    ABI_EMIT(&r->b, EXT_DRAW_INDIRECT, ext_draw_indirect, .buffer = BUFFER, .indexed = 1);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "20 bytes at 0 do not fit buffer 60, which has 16");
    ABI_EMIT(&r->b, EXT_DISPATCH_INDIRECT, ext_dispatch_indirect, .buffer = BUFFER, .offset = UINT64_MAX - 7);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "12 bytes at 18446744073709551608 do not fit buffer 60");
    ABI_EMIT(&r->b, EXT_DISPATCH_INDIRECT, ext_dispatch_indirect, .buffer = BUFFER);
    rig_expect_error(r, AEROGPU_ERROR_BACKEND, "no compute shader is bound");
}

static void blend(struct rig *r, uint32_t color, uint32_t alpha)
{
    struct aerogpu_cmd_ext_set_blend_state s = {.sample_mask = UINT32_MAX};

    for (int i = 0; i < 8; i++) {
        s.targets[2 * i] = color;
        s.targets[2 * i + 1] = alpha;
    }
    abi_builder_packet(&r->b, AEROGPU_CMD_EXT_SET_BLEND_STATE, &s, sizeof(s), NULL, 0);
}

RIG_TEST(states_of_direct3d_11)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0, RED)};
    const float two[4][4] = {{0, 0, 32, 64}, {0, 1, 0, 0}, {32, 0, 32, 64}, {0, 1, 0, 0}};
    const float wild[2][4] = {{0, 0, 32, -1}, {0, 1, 0, 0}};
    const int32_t left[4] = {0, 0, 8, 64};

    rig_make_target(r);
    rig_plain(r, v, 6);
    rig_clear(r, 1, BLUE, 0, 0);
    blend(r, 2 | 2 << 8 | 1 << 16 | 1u << 24, 2 | 2 << 8 | 1 << 16 | 15u << 24); /* both are added up */
    ABI_EMIT_TAIL(&r->b, EXT_SET_VIEWPORTS, ext_set_viewports, two, sizeof(two), .vec4_count = 4);
    ABI_EMIT_TAIL(&r->b, EXT_SET_SCISSORS, ext_set_scissors, left, sizeof(left), .vec4_count = 1);
    ABI_EMIT(&r->b, EXT_SET_RASTERIZER_STATE, ext_set_rasterizer_state, .scissor_enable = 1);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 4, 20), MAGENTA);
    assert_int_equal(rig_pixel(r, 20, 20), BLUE); /* outside of the rectangle */
    assert_int_equal(rig_pixel(r, 40, 20), BLUE); /* in the other viewport, which no shader names */
    blend(r, 12 | 2 << 8 | 1 << 16 | 1u << 24, 15u << 24);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "target 0: 0x101020c and 0xf000000 name no factors");
    ABI_EMIT_TAIL(&r->b, EXT_SET_VIEWPORTS, ext_set_viewports, wild, sizeof(wild), .vec4_count = 2);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "viewport 0: 0,0 32 x -1, depth 0 to 1");
    ABI_EMIT_TAIL(&r->b, EXT_SET_VIEWPORTS, ext_set_viewports, two, sizeof(two), .vec4_count = 3);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "3 vectors, two for each of 1 to 16 viewports are needed");
    ABI_EMIT(&r->b, EXT_SET_SCISSORS, ext_set_scissors, .vec4_count = 0);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "0 rectangles, 1 to 16 are possible");
    ABI_EMIT(&r->b, EXT_SET_RASTERIZER_STATE, ext_set_rasterizer_state, .depth_bias_clamp = 0x7FC00000);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "a depth bias that is no number");
}

/* The sample's geometry shader with a declaration more, of so many instances, in front of its others. */
static void make_instances(struct rig *r, uint32_t handle, uint32_t instances)
{
    const uint32_t declared[2] = {SM4_OP_DCL_GS_INSTANCES | 2 << 24, instances};
    uint32_t size, w[400], at = 0;
    uint8_t *bytes = rig_shader("numbered_gs.dxbc", &size);

    assert_non_null(bytes);
    assert_in_range(size, 64, sizeof(w) - sizeof(declared));
    memcpy(w, bytes, size);
    free(bytes);
    for (uint32_t i = 0; i < w[7]; i++)
        if (!memcmp(&w[w[8 + i] / 4], "SHDR", 4))
            at = w[8 + i] / 4;
    for (uint32_t i = 0; i < w[7]; i++)
        w[8 + i] += w[8 + i] / 4 > at ? sizeof(declared) : 0;
    assert_true(at > 0);
    memmove(&w[at + 6], &w[at + 4], size - 4 * (at + 4));
    memcpy(&w[at + 4], declared, sizeof(declared));
    w[at + 1] += sizeof(declared);
    w[at + 3] += 2;
    w[6] = size += sizeof(declared);
    dxbc_sum(w, size, &w[1]);
    ABI_EMIT_TAIL(&r->b, CREATE_SHADER_DXBC, create_shader_dxbc, w, size, .shader_handle = handle,
                  .stage = AEROGPU_SHADER_STAGE_GEOMETRY, .dxbc_size_bytes = size);
}

RIG_TEST(instances_of_a_geometry_shader_have_numbers)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {V(-0.75f, 0, 0, RED)};

    for (uint32_t n = 1; n <= 3; n += 2) {
        rig_each(state);
        rig_make_target(r);
        rig_plain(r, v, 1);
        make_instances(r, 20, n);
        ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 11, .gs_legacy = 20);
        ABI_EMIT(&r->b, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology,
                 .topology = AEROGPU_TOPOLOGY_POINTLIST);
        rig_clear(r, 1, BLACK, 0, 0);
        rig_draw(r, 1, 0);
        rig_present(r);
        rig_run_ok(r);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(rig_pixel(r, 8 + 16 * i, 32), i < n ? RED : BLACK);
    }
}

static void make_samples(struct rig *r, uint32_t handle, uint32_t log2, uint32_t mips)
{
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = handle,
             .usage_flags = AEROGPU_RESOURCE_USAGE_RENDER_TARGET | AEROGPU_RESOURCE_USAGE_EXT_SAMPLES(log2),
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .width = 64, .height = 64, .mip_levels = mips,
             .array_layers = 1);
}

/* The edge of a triangle, of four samples: neither colour. */
RIG_TEST(samples_are_resolved)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {V(-1, -1, 0, WHITE), V(-1, 1, 0, WHITE), V(1, 0.9f, 0, WHITE)};
    uint32_t grey = 0;

    rig_make_target(r);
    rig_plain(r, v, 3);
    make_samples(r, OTHER, 2, 1);
    rig_set_target(r, OTHER, 0);
    rig_clear(r, 1, BLACK, 0, 0);
    rig_draw(r, 3, 0);
    ABI_EMIT(&r->b, EXT_RESOLVE, ext_resolve, .dst_texture = TARGET, .src_texture = OTHER,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM);
    rig_set_target(r, TARGET, 0);
    rig_present(r);
    rig_run_ok(r);
    for (uint32_t y = 0; y < 64; y++)
        for (uint32_t x = 0; x < 64; x++)
            grey += rig_pixel(r, x, y) != BLACK && rig_pixel(r, x, y) != WHITE;
    assert_true(grey > 16);
    ABI_EMIT(&r->b, EXT_RESOLVE, ext_resolve, .dst_texture = OTHER, .src_texture = TARGET,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE,
                     "texture 100 has 1 samples and texture 63 4: one of several is made");
    ABI_EMIT(&r->b, EXT_RESOLVE, ext_resolve, .dst_texture = TARGET, .src_texture = OTHER, .dst_mip_level = 9,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "mip 9 layer 0 of texture 100");
    make_samples(r, BUFFER, 2, 3);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE,
                     "of 4 samples has 3 mips and alloc_id 0, 1 and 0 are possible");
    make_samples(r, BUFFER, 7, 1);
    rig_expect_error(r, AEROGPU_ERROR_BACKEND, "of 128 samples");
    rig_upload(r, OTHER, 0, v, 4);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "pass the end of texture 63, which has 0");
    ABI_EMIT(&r->b, SET_RENDER_TARGETS, set_render_targets, .color_count = 2, .colors = {TARGET, OTHER});
    rig_draw(r, 3, 0);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "has 1 samples, another 4");
}

RIG_TEST(streams_that_there_cannot_be)
{
    struct rig *r = rig_of(state);
    struct aerogpu_cmd_ext_set_stream_output s = {.buffers = {BUFFER}, .offsets = {WORDS * 4 + 4}};

    make(r);
    abi_builder_packet(&r->b, AEROGPU_CMD_EXT_SET_STREAM_OUTPUT, &s, sizeof(s), NULL, 0);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "slot 0: offset 260 is none of buffer 60, which has 256 bytes");
    s.buffers[0] = 99;
    abi_builder_packet(&r->b, AEROGPU_CMD_EXT_SET_STREAM_OUTPUT, &s, sizeof(s), NULL, 0);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "handle 99 names nothing, a buffer is needed");
    ABI_EMIT(&r->b, EXT_DRAW_AUTO, ext_draw_auto, .reserved0 = 0);
    rig_run_ok(r); /* nothing was written: nothing is drawn */
}

TEST_GROUP(rig_group_setup, rig_group_teardown);
