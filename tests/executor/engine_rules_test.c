/* SPDX-License-Identifier: MIT */
/* Corners of Direct3D and of the ABI that a picture shows: what is drawn when little, nothing or too much is bound or set. */
#include "test.h"

#include <math.h>
#include <string.h>

#include <aerogpu/alloc.h>
#include <aerogpu/ext.h>
#include <aerogpu/pci.h>

#include "abi/d3d9_states.h"
#include "engine_rig.h"
#include "poke_cs.h"

/* colour_vs and colour_ps over buffer 1. */
static void show(struct rig *r, uint32_t handle)
{
    rig_set_target(r, handle, 0);
    rig_present(r);
    rig_run_ok(r);
}

RIG_TEST(targets_that_the_shader_does_not_write_stay)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, 0, 0.5f, 1, 0, RED)};

    rig_make_target(r);
    rig_make_target_of(r, 102, AEROGPU_FORMAT_R8G8B8A8_UNORM, 64, 64);
    rig_set_target(r, 102, 0);
    rig_clear(r, 1, 0x336699CC, 0, 0);
    rig_plain(r, v, 6);
    ABI_EMIT(&r->b, SET_RENDER_TARGETS, set_render_targets, .color_count = 2, .colors = {TARGET, 102});
    rig_draw(r, 6, 0);
    show(r, 102);
    assert_int_equal(rig_pixel(r, 5, 5), 0x336699CC);
    assert_int_equal(rig_pixel(r, 60, 60), 0x336699CC);
    show(r, TARGET);
    assert_int_equal(rig_pixel(r, 5, 5), RED);
    assert_int_equal(rig_pixel(r, 60, 5), 0);
}

/* An empty scissor rectangle: "there is none" from drivers of Direct3D 10 and later, no pixel in Direct3D 9. */
RIG_TEST(empty_scissors)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0, RED)};

    rig_make_target(r);
    rig_plain(r, v, 6);
    ABI_EMIT(&r->b, SET_RASTERIZER_STATE, set_rasterizer_state, .scissor_enable = 1);
    ABI_EMIT(&r->b, SET_SCISSOR, set_scissor, .x = 4, .y = 8, .width = 20, .height = 10);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 23, 17), RED);
    assert_int_equal(rig_pixel(r, 24, 17), 0);
    assert_int_equal(rig_pixel(r, 23, 18), 0);
    ABI_EMIT(&r->b, SET_SCISSOR, set_scissor, .x = 4, .y = 8, .width = 0, .height = 10);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 60, 3), RED);
    rig_clear(r, 1, BLUE, 0, 0);
    ABI_EMIT(&r->b, SET_SCISSOR, set_scissor, .x = 64, .y = 8, .width = 10, .height = 10);
    rig_draw(r, 6, 0);
    ABI_EMIT(&r->b, SET_SCISSOR, set_scissor, .x = -20, .y = 8, .width = 20, .height = 10);
    rig_draw(r, 6, 0);
    ABI_EMIT(&r->b, SET_SCISSOR, set_scissor, .x = 4, .y = 8, .width = 0, .height = 10);
    ABI_EMIT(&r->b, SET_RENDER_STATE, set_render_state, .state = D3DRS_SCISSORTESTENABLE, .value = 1);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    for (uint32_t y = 0; y < 64; y++)
        for (uint32_t x = 0; x < 64; x++)
            assert_int_equal(rig_pixel(r, x, y), BLUE);
}

/* Direct3D 9 clears inside of the scissor rectangle; later ones clear the whole target. */
RIG_TEST(clears_and_the_scissor)
{
    struct rig *r = rig_of(state);

    rig_make_target(r);
    rig_make_target_of(r, DEPTH, AEROGPU_FORMAT_D24_UNORM_S8_UINT, 64, 64);
    rig_set_target(r, TARGET, DEPTH);
    rig_clear(r, 7, RED, 1, 3);
    ABI_EMIT(&r->b, SET_SCISSOR, set_scissor, .x = -4, .y = 8, .width = 20, .height = 10);
    ABI_EMIT(&r->b, SET_RENDER_STATE, set_render_state, .state = D3DRS_SCISSORTESTENABLE, .value = 1);
    for (int again = 0; again < 2; again++) { /* in the middle of a pass, and where one begins */
        rig_clear(r, 7, GREEN, 0.25f, 0x1FE);
        rig_present(r);
        rig_run_ok(r);
        assert_int_equal(rig_pixel(r, 0, 8), GREEN);
        assert_int_equal(rig_pixel(r, 15, 17), GREEN);
        assert_int_equal(rig_pixel(r, 16, 17), RED);
        assert_int_equal(rig_pixel(r, 15, 18), RED);
        assert_int_equal(rig_pixel(r, 0, 7), RED);
    }
    rig_alloc(r, 7, RIG_DATA_GPA, 64 * 64 * 4, 0);
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 30, .usage_flags = 32,
             .format = AEROGPU_FORMAT_D24_UNORM_S8_UINT, .width = 64, .height = 64, .mip_levels = 1,
             .array_layers = 1, .row_pitch_bytes = 256, .backing_alloc_id = 7);
    ABI_EMIT(&r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = 30, .src_texture = DEPTH, .width = 64,
             .height = 64, .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
    ABI_EMIT(&r->b, SET_SCISSOR, set_scissor, .x = 70, .y = 8, .width = 20, .height = 10);
    rig_clear(r, 1, WHITE, 0, 0);
    rig_present(r);
    rig_run_ok(r);
    const uint32_t *ds = (const uint32_t *)(const void *)(r->ram + RIG_DATA_GPA);
    assert_int_equal(ds[8 * 64 + 15] >> 24, 0xFE);
    assert_in_range(ds[8 * 64 + 15] & 0xFFFFFF, 0x3FFFFF, 0x400000);
    assert_int_equal(ds[8 * 64 + 16], 0x03FFFFFF);
    assert_int_equal(ds[18 * 64 + 15], 0x03FFFFFF);
    assert_int_equal(rig_pixel(r, 0, 8), GREEN);
    assert_int_equal(rig_pixel(r, 63, 8), RED);
    ABI_EMIT(&r->b, SET_RASTERIZER_STATE, set_rasterizer_state, .scissor_enable = 1);
    rig_clear(r, 1, BLUE, 0, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 0, 0), BLUE);
    assert_int_equal(rig_pixel(r, 63, 63), BLUE);
}

RIG_TEST(viewports_that_are_no_numbers_are_the_target)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(0.5f, -0.5f, 1, 1, 0.25f, RED)};
    const float bad[] = {NAN, INFINITY, 0, -5};

    rig_make_target(r);
    rig_plain(r, v, 6);
    for (int i = 0; i < 4; i++) {
        rig_clear(r, 1, BLACK, 0, 0);
        ABI_EMIT(&r->b, SET_VIEWPORT, set_viewport, .x = abi_f32(10), .y = abi_f32(20), .width = abi_f32(30),
                 .height = abi_f32(10), .max_depth = abi_f32(1));
        ABI_EMIT(&r->b, SET_VIEWPORT, set_viewport, .x = abi_f32(10), .y = abi_f32(20),
                 .width = abi_f32(bad[i]), .height = abi_f32(10), .max_depth = abi_f32(1));
        rig_draw(r, 6, 0);
        rig_present(r);
        rig_run_ok(r);
        assert_int_equal(rig_pixel(r, 63, 0), RED);
        assert_int_equal(rig_pixel(r, 48, 47), RED);
        assert_int_equal(rig_pixel(r, 47, 47), BLACK);
        assert_int_equal(rig_pixel(r, 48, 48), BLACK);
    }
}

RIG_TEST(destroyed_resources_are_bound_nowhere)
{
    struct rig *r = rig_of(state);
    const uint32_t texel = 0xFF3366CC;
    const struct rig_vertex v[] = {RECT(-1, 0, 0.5f, 1, 0.25f, RED), RECT(-1, -1, 1, 1, 0.5f, GREEN)};

    /* a texture: what reads it reads zero, also when another takes its handle */
    rig_make_target(r);
    rig_make_target_of(r, 30, AEROGPU_FORMAT_R8G8B8A8_UNORM, 1, 1);
    rig_upload(r, 30, 0, &texel, 4);
    rig_use_texture(r, 30);
    rig_make_shader(r, 13, AEROGPU_SHADER_STAGE_VERTEX, 0, "fullscreen_vs.dxbc");
    rig_make_shader(r, 14, AEROGPU_SHADER_STAGE_PIXEL, 0, "texture_ps.dxbc");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 13, .ps = 14);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 9, 40), 0xCC6633FF);
    ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 30);
    rig_make_target_of(r, 30, AEROGPU_FORMAT_R8G8B8A8_UNORM, 1, 1);
    rig_upload(r, 30, 0, &texel, 4);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 9, 40), 0);
    /* a target smaller than the depth buffer: the depth buffer is left alone, whole */
    rig_make_target_of(r, 31, AEROGPU_FORMAT_R8G8B8A8_UNORM, 16, 8);
    rig_make_target_of(r, DEPTH, AEROGPU_FORMAT_D32_FLOAT, 64, 64);
    rig_set_target(r, 31, DEPTH);
    rig_clear(r, 3, BLACK, 1, 0);
    ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 31);
    rig_clear(r, 2, BLACK, 1, 0);
    rig_plain(r, v, 12);
    rig_draw(r, 6, 0); /* near, the upper left */
    rig_set_target(r, TARGET, DEPTH);
    rig_clear(r, 1, BLUE, 0, 0);
    rig_draw(r, 6, 6); /* far, everywhere */
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 47, 31), BLUE);
    assert_int_equal(rig_pixel(r, 48, 31), GREEN);
    assert_int_equal(rig_pixel(r, 47, 32), GREEN);
    /* a vertex buffer: its attributes read zero, and no pixel is drawn */
    ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 1);
    rig_clear(r, 3, MAGENTA, 1, 0);
    rig_draw(r, 6, 6);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 60, 60), MAGENTA);
}

RIG_TEST(tokens_end_with_their_release)
{
    struct rig *r = rig_of(state);

    rig_make_target(r);
    rig_clear(r, 1, GREEN, 0, 0);
    ABI_EMIT(&r->b, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = TARGET,
             .share_token = 77);
    ABI_EMIT(&r->b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = 500,
             .share_token = 77);
    ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = TARGET);
    ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = TARGET);
    ABI_EMIT(&r->b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = 501,
             .share_token = 77);
    rig_set_target(r, 501, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 40, 20), GREEN);
    /* the first handle names nothing, or something new */
    rig_set_target(r, TARGET, 0);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "handle 100 names no texture");
    rig_make_target_of(r, TARGET, AEROGPU_FORMAT_R8G8B8A8_UNORM, 64, 64);
    rig_set_target(r, TARGET, 0);
    rig_clear(r, 1, RED, 0, 0);
    rig_set_target(r, 500, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 40, 20), GREEN);
    ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 500);
    ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 501);
    rig_make_buffer(r, 500, NULL, 16);
    rig_run_ok(r);
    /* an importer may come after the last handle, but not after the release */
    ABI_EMIT(&r->b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = 502,
             .share_token = 77);
    rig_set_target(r, 502, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 40, 20), GREEN);
    ABI_EMIT(&r->b, RELEASE_SHARED_SURFACE, release_shared_surface, .share_token = 77);
    ABI_EMIT(&r->b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = 503,
             .share_token = 77);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "share_token 0x4d is retired");
    ABI_EMIT(&r->b, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = TARGET,
             .share_token = 77);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "share_token 0x4d is retired");
}

/* SET_SHADER_CONSTANTS_F feeds constant buffer 0 of a DXBC shader until the stream binds one, or none. */
RIG_TEST(float_constants_are_constant_buffer_0)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0, RED)};
    const float right[4] = {0.5f, 0.25f, 0.5f, -0.75f}, left[4] = {0.25f, 0.5f, -0.75f, 0.5f};
    struct aerogpu_constant_buffer_binding b = {.buffer = 2};

    rig_make_target(r);
    rig_coloured(r, "scaled_vs.dxbc", "colour_ps.dxbc", v, 6);
    rig_make_buffer(r, 2, left, 16);
    for (int step = 0; step < 3; step++) {
        rig_clear(r, 1, BLACK, 0, 0);
        if (step == 0)
            ABI_EMIT_TAIL(&r->b, SET_SHADER_CONSTANTS_F, set_shader_constants_f, right, 16, .vec4_count = 1);
        b.buffer = step == 1 ? 2 : 0;
        if (step)
            ABI_EMIT_TAIL(&r->b, SET_CONSTANT_BUFFERS, set_constant_buffers, &b, sizeof(b),
                          .buffer_count = 1);
        rig_draw(r, 6, 0);
        rig_present(r);
        rig_run_ok(r);
        assert_int_equal(rig_pixel(r, 40, 50), step == 0 ? RED : BLACK); /* x 32..64, y 48..64 */
        assert_int_equal(rig_pixel(r, 40, 47), BLACK);
        assert_int_equal(rig_pixel(r, 10, 20), step == 1 ? RED : BLACK); /* x 0..16, y 0..32 */
        assert_int_equal(rig_pixel(r, 10, 34), BLACK);
    }
}

/* SV_VertexID counts from zero whatever the first vertex is. */
RIG_TEST(vertex_ids_begin_at_zero)
{
    struct rig *r = rig_of(state);
    const uint32_t texel = 0xFF3366CC, indices[] = {0, 1, 2};

    rig_make_target(r);
    rig_make_target_of(r, 30, AEROGPU_FORMAT_R8G8B8A8_UNORM, 1, 1);
    rig_upload(r, 30, 0, &texel, 4);
    rig_use_texture(r, 30);
    rig_make_shader(r, 13, AEROGPU_SHADER_STAGE_VERTEX, 0, "fullscreen_vs.dxbc");
    rig_make_shader(r, 14, AEROGPU_SHADER_STAGE_PIXEL, 0, "texture_ps.dxbc");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 13, .ps = 14);
    rig_draw(r, 3, 5);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 9, 40), 0xCC6633FF);
    rig_clear(r, 1, BLACK, 0, 0);
    rig_make_buffer(r, 2, indices, sizeof(indices));
    ABI_EMIT(&r->b, SET_INDEX_BUFFER, set_index_buffer, .buffer = 2, .format = 1);
    ABI_EMIT(&r->b, DRAW_INDEXED, draw_indexed, .index_count = 3, .instance_count = 1, .base_vertex = 7);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 9, 40), 0xCC6633FF);
}

/* Element = first instance + instance / step rate; with a step rate of 0 all instances have the first one's. */
RIG_TEST(instances_step_as_they_are_told)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0, RED)};
    /* a column each: x -0.875, -0.625 …; rows high and low in turn */
    float places[8][4];
    const struct {
        uint32_t step, first, count, columns;
    } cases[] = {{1, 2, 3, 0x1C}, {2, 1, 3, 0x06}, {3, 0, 7, 0x07}, {0, 3, 5, 0x08}};

    for (int i = 0; i < 8; i++) {
        const float p[4] = {-0.875f + 0.25f * (float)i, i % 2 ? -0.5f : 0.5f, 0.125f, 0.5f};
        memcpy(places[i], p, sizeof(p));
    }
    for (int k = 0; k < 4; k++) {
        const struct rig_element e[] = {{"POSITION", 0, 2, 0, 0, 0, 0},
                                        {"COLOR", 0, 2, 0, 16, 0, 0},
                                        {"TEXCOORD", 1, 2, 1, 0, 1, cases[k].step}};
        rig_each(state);
        rig_make_target(r);
        rig_coloured(r, "instanced_vs.dxbc", "colour_ps.dxbc", v, 6);
        rig_make_layout(r, 21, e, 3);
        rig_make_buffer(r, 2, places, sizeof(places));
        rig_bind_vb(r, 1, 2, 16, 0);
        ABI_EMIT(&r->b, DRAW, draw, .vertex_count = 6, .instance_count = cases[k].count,
                 .first_instance = cases[k].first);
        rig_present(r);
        rig_run_ok(r);
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t high = cases[k].columns >> i & 1 && i % 2 == 0, low = cases[k].columns >> i & 1 && i % 2;
            assert_int_equal(rig_pixel(r, 8 * i + 1, 10), high ? RED : 0);
            assert_int_equal(rig_pixel(r, 8 * i + 6, 50), low ? RED : 0);
        }
    }
}

/* A stride of 0 gives every vertex the same; past the end of a buffer there are zeroes. */
RIG_TEST(vertices_past_the_end_are_zero)
{
    struct rig *r = rig_of(state);
    static const struct rig_element e[] = {{"POSITION", 0, 2, 0, 0, 0, 0}, {"COLOR", 0, 2, 1, 0, 0, 0}};
    const struct rig_vertex v[] = {RECT(-1, 0, 0.5f, 1, 0, RED)};
    const float colour[4] = {0.2f, 0.4f, 0.6f, 0.8f};

    rig_make_target(r);
    rig_plain(r, v, 6);
    rig_make_layout(r, 22, e, 2);
    rig_make_buffer(r, 2, colour, sizeof(colour));
    rig_bind_vb(r, 1, 2, 0, 0);
    rig_clear(r, 1, BLUE, 0, 0);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 3, 30), 0x336699CC);
    assert_int_equal(rig_pixel(r, 50, 30), BLUE);
    rig_bind_vb(r, 1, 2, 16, 16); /* the offset is where the buffer ends */
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 3, 30), 0);
    assert_int_equal(rig_pixel(r, 50, 30), BLUE);
}

/* Eight empty slots, and no pixel shader's output anywhere: depth is written all the same. */
RIG_TEST(depth_without_colours)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, 0, 0.5f, 1, 0.25f, RED), RECT(-1, -1, 1, 1, 0.5f, GREEN)};

    rig_make_target(r);
    rig_make_target_of(r, DEPTH, AEROGPU_FORMAT_D24_UNORM_S8_UINT, 64, 64);
    ABI_EMIT(&r->b, SET_RENDER_TARGETS, set_render_targets, .color_count = 8, .depth_stencil = DEPTH);
    rig_clear(r, 7, 0, 1, 0);
    rig_plain(r, v, 12);
    rig_draw(r, 6, 0);
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 0);
    rig_draw(r, 6, 0);
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 11);
    rig_set_target(r, TARGET, DEPTH);
    rig_clear(r, 1, BLUE, 0, 0);
    rig_draw(r, 6, 6);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 47, 31), BLUE);
    assert_int_equal(rig_pixel(r, 48, 31), GREEN);
    assert_int_equal(rig_pixel(r, 47, 32), GREEN);
}

/* What a pixel shader leaves out of a target is 0, and alpha is 1. */
RIG_TEST(targets_written_in_part_are_filled)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, 0, 0.5f, 1, 0, 0x6699CC33)};

    rig_make_target(r);
    rig_make_target_of(r, 102, AEROGPU_FORMAT_B8G8R8A8_UNORM, 64, 64);
    rig_coloured(r, "colour_vs.dxbc", "three_ps.dxbc", v, 6);
    rig_clear(r, 1, 0x11223344, 0, 0);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 47, 31), 0x6699CCFF);
    assert_int_equal(rig_pixel(r, 48, 32), 0x11223344);
    rig_make_shader(r, 13, AEROGPU_SHADER_STAGE_PIXEL, 0, "two_ps.dxbc");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 13);
    ABI_EMIT(&r->b, SET_RENDER_TARGETS, set_render_targets, .color_count = 2, .colors = {TARGET, 102});
    rig_clear(r, 1, 0x11223344, 0, 0);
    rig_draw(r, 6, 0);
    show(r, 102);
    assert_int_equal(rig_pixel(r, 47, 31), 0x990000FF);
    assert_int_equal(rig_pixel(r, 48, 32), 0x11223344);
    show(r, TARGET);
    assert_int_equal(rig_pixel(r, 47, 31), 0x6699CC33);
}

/* A positive bias pushes away: at equal depth, the second rectangle wins with a negative one only. */
RIG_TEST(depth_bias_moves_depth)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0.5f, RED), RECT(-1, 0, 0.5f, 1, 0.5f, GREEN)};
    const uint32_t formats[] = {AEROGPU_FORMAT_D32_FLOAT, AEROGPU_FORMAT_D24_UNORM_S8_UINT};

    for (int f = 0; f < 2; f++)
        for (int bias = -100; bias <= 100; bias += 100) {
            rig_each(state);
            rig_make_target(r);
            rig_make_target_of(r, DEPTH, formats[f], 64, 64);
            rig_set_target(r, TARGET, DEPTH);
            rig_clear(r, 3, BLACK, 1, 0);
            rig_plain(r, v, 12);
            rig_draw(r, 6, 0);
            ABI_EMIT(&r->b, SET_RASTERIZER_STATE, set_rasterizer_state, .depth_bias = bias);
            rig_draw(r, 6, 6);
            rig_present(r);
            rig_run_ok(r);
            assert_int_equal(rig_pixel(r, 47, 31), bias < 0 ? GREEN : RED);
            assert_int_equal(rig_pixel(r, 48, 31), RED);
            assert_int_equal(rig_pixel(r, 47, 32), RED);
        }
}

/* Without a viewport, what is drawn covers the target of the moment. */
RIG_TEST(the_viewport_follows_the_target)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, 0, 0.5f, 1, 0, RED)};

    rig_make_target(r);
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 30, .usage_flags = 16,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .width = 64, .height = 32, .mip_levels = 3,
             .array_layers = 2);
    ABI_EMIT(&r->b, CREATE_TEXTURE_VIEW, create_texture_view, .view_handle = 31, .texture_handle = 30,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .base_mip_level = 2, .mip_level_count = 1,
             .base_array_layer = 1, .array_layer_count = 1);
    rig_plain(r, v, 6);
    rig_draw(r, 6, 0);
    rig_set_target(r, 31, 0);
    rig_clear(r, 1, BLUE, 0, 0);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_set_target(r, TARGET, 0);
    rig_draw(r, 6, 0);
    rig_run_ok(r);
    for (uint32_t y = 0; y < 8; y++)
        for (uint32_t x = 0; x < 16; x++)
            assert_int_equal(rig_pixel(r, x, y), x < 12 && y < 4 ? RED : BLUE);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 47, 31), RED);
    assert_int_equal(rig_pixel(r, 48, 31), 0);
    assert_int_equal(rig_pixel(r, 47, 32), 0);
}

/* Indices from an offset, 16 and 32 bits, with and without a first index and a negative base. */
RIG_TEST(indices_begin_at_their_offset)
{
    struct rig *r = rig_of(state);
    struct rig_vertex v[6 + 12] = {RECT(-1, -1, 1, 1, 0, BLUE), RECT(-1, 0, 0.5f, 1, 0, RED),
                                   RECT(0, -1, 1, -0.5f, 0, GREEN)};
    uint16_t i16[24];
    uint32_t i32[24];

    for (uint32_t i = 0; i < 24; i++) {
        i16[i] = (uint16_t)(i % 6 + (i < 12 ? 0 : i < 18 ? 9 : 15));
        i32[i] = i16[i];
    }
    for (uint32_t wide = 0; wide < 2; wide++) {
        rig_each(state);
        rig_make_target(r);
        rig_plain(r, v, 18);
        rig_make_buffer(r, 2, wide ? (void *)i32 : (void *)i16, wide ? sizeof(i32) : sizeof(i16));
        ABI_EMIT(&r->b, SET_INDEX_BUFFER, set_index_buffer, .buffer = 2, .format = wide,
                 .offset_bytes = wide ? 40 : 20);
        ABI_EMIT(&r->b, DRAW_INDEXED, draw_indexed, .index_count = 12, .instance_count = 1, .first_index = 2,
                 .base_vertex = -3);
        rig_present(r);
        rig_run_ok(r);
        assert_int_equal(rig_pixel(r, 47, 31), RED);
        assert_int_equal(rig_pixel(r, 48, 31), 0);
        assert_int_equal(rig_pixel(r, 32, 48), GREEN);
        assert_int_equal(rig_pixel(r, 31, 48), 0);
        assert_int_equal(rig_pixel(r, 32, 47), 0);
    }
}

/* SV_PrimitiveID goes on over a cut of the strip; SV_IsFrontFace follows front_ccw and not the culling. */
RIG_TEST(primitives_have_numbers_and_sides)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {V(-1, -1, 0, RED),   V(-1, 1, 0, RED),    V(-0.5f, -1, 0, RED),
                                   V(-0.5f, 1, 0, RED), V(0.5f, -1, 0, RED), V(0.5f, 1, 0, RED),
                                   V(1, -1, 0, RED)};
    const uint16_t indices[] = {0, 1, 2, 0xFFFF, 1, 3, 2, 0xFFFF, 4, 5, 6, 0xFFFF};

    rig_make_target(r);
    rig_coloured(r, "colour_vs.dxbc", "number_ps.dxbc", v, 7);
    ABI_EMIT(&r->b, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology,
             .topology = AEROGPU_TOPOLOGY_TRIANGLESTRIP);
    rig_make_buffer(r, 2, indices, sizeof(indices));
    ABI_EMIT(&r->b, SET_INDEX_BUFFER, set_index_buffer, .buffer = 2);
    rig_clear(r, 1, WHITE, 0, 0);
    ABI_EMIT(&r->b, DRAW_INDEXED, draw_indexed, .index_count = 12, .instance_count = 1);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 1, 32), RED);
    assert_int_equal(rig_pixel(r, 14, 32), 0x00FF20FF);
    assert_int_equal(rig_pixel(r, 49, 40), 0x000040FF);
    assert_int_equal(rig_pixel(r, 32, 32), WHITE); /* nothing bridges the cut */
    for (uint32_t ccw = 0; ccw < 2; ccw++) {
        rig_make_shader(r, 20 + ccw, AEROGPU_SHADER_STAGE_PIXEL, 0, "front_ps.dxbc");
        ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 20 + ccw);
        ABI_EMIT(&r->b, SET_RASTERIZER_STATE, set_rasterizer_state, .front_ccw = ccw);
        rig_clear(r, 1, WHITE, 0, 0);
        ABI_EMIT(&r->b, DRAW_INDEXED, draw_indexed, .index_count = 3, .instance_count = 1);
        rig_present(r);
        rig_run_ok(r);
        assert_int_equal(rig_pixel(r, 1, 32), ccw ? GREEN : RED);
        assert_int_equal(rig_pixel(r, 20, 32), WHITE);
    }
}

/* A topology that a geometry or hull shader does not take is an error, and the next draw is none. */
RIG_TEST(shaders_take_their_topology_only)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {V(-0.5f, -0.5f, 0, RED), V(-0.5f, 0.5f, 0, GREEN), V(0.5f, 0.5f, 0, BLUE),
                                   V(0.5f, -0.5f, 0, BLUE)};
    const uint32_t tess[3] = {0, 21, 22};
    const struct {
        const char *gs;
        uint32_t topology;
        bool fits;
    } cases[] = {{"quads_gs.dxbc", AEROGPU_TOPOLOGY_POINTLIST, false},
                 {"quads_gs.dxbc", AEROGPU_TOPOLOGY_LINESTRIP, false},
                 {"quads_gs.dxbc", AEROGPU_TOPOLOGY_TRIANGLESTRIP_ADJ, false},
                 {"quads_gs.dxbc", AEROGPU_TOPOLOGY_TRIANGLEFAN, true},
                 {"point_gs.dxbc", AEROGPU_TOPOLOGY_POINTLIST, true},
                 {"point_gs.dxbc", AEROGPU_TOPOLOGY_TRIANGLELIST, false}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        rig_each(state);
        rig_make_target(r);
        rig_plain(r, v, 4);
        rig_make_shader(r, 20, AEROGPU_SHADER_STAGE_GEOMETRY, 0, cases[i].gs);
        ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 11, .gs_legacy = 20);
        ABI_EMIT(&r->b, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology, .topology = cases[i].topology);
        rig_draw(r, 4, 0);
        if (cases[i].fits)
            rig_run_ok(r);
        else
            rig_expect_error(r, AEROGPU_ERROR_BACKEND, "is not what the geometry shader takes");
    }
    rig_make_shader(r, 23, AEROGPU_SHADER_STAGE_VERTEX, 0, "control_vs.dxbc");
    rig_make_shader(r, 21, AEROGPU_SHADER_STAGE_COMPUTE, AEROGPU_SHADER_STAGE_EX_HULL, "bulge_hs.dxbc");
    rig_make_shader(r, 22, AEROGPU_SHADER_STAGE_COMPUTE, AEROGPU_SHADER_STAGE_EX_DOMAIN, "bulge_ds.dxbc");
    ABI_EMIT_TAIL(&r->b, BIND_SHADERS, bind_shaders, tess, 12, .vs = 23, .ps = 11);
    ABI_EMIT(&r->b, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology, .topology = AEROGPU_TOPOLOGY_PATCHLIST_4);
    rig_draw(r, 4, 0);
    rig_expect_error(r, AEROGPU_ERROR_BACKEND,
                     "DRAW: topology PATCHLIST_4, the hull shader takes patches of 3 points");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 11);
    ABI_EMIT(&r->b, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology,
             .topology = AEROGPU_TOPOLOGY_TRIANGLELIST);
    rig_clear(r, 1, BLACK, 0, 0);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_not_equal(rig_pixel(r, 20, 20), BLACK);
    assert_int_equal(rig_pixel(r, 45, 45), BLACK);
}

/* Lists and strips with neighbours give the geometry shader what they should. */
RIG_TEST(neighbours_of_primitives)
{
    struct rig *r = rig_of(state);
    /* the inner triangle is small and in the middle; the outer ones are its neighbours: clockwise, upper left half */
    const struct rig_vertex list[] = {V(-0.1f, -0.1f, 0, RED), V(-1, -1, 0, GREEN),   V(-0.1f, 0.1f, 0, RED),
                                      V(-1, 1, 0, GREEN),      V(0.1f, 0.1f, 0, RED), V(1, 1, 0, GREEN)};
    const struct rig_vertex line[] = {V(-1, -1, 0, BLUE),    V(-1, 1, 0, BLUE),    V(0, 1, 0, BLUE),
                                      V(0.9f, 0.9f, 0, RED), V(0, -1, 0, GREEN),   V(0, 1, 0, GREEN),
                                      V(1, 1, 0, GREEN),     V(0.9f, 0.9f, 0, RED)};
    const struct {
        const char *gs;
        const struct rig_vertex *v;
        uint32_t n, topology, left, right, far;
    } cases[] = {{"around_gs.dxbc", list, 6, AEROGPU_TOPOLOGY_TRIANGLELIST_ADJ, GREEN, BLACK, BLACK},
                 {"around_gs.dxbc", list, 6, AEROGPU_TOPOLOGY_TRIANGLESTRIP_ADJ, GREEN, BLACK, BLACK},
                 {"before_gs.dxbc", line, 8, AEROGPU_TOPOLOGY_LINELIST_ADJ, BLUE, GREEN, BLACK},
                 {"before_gs.dxbc", line, 4, AEROGPU_TOPOLOGY_LINESTRIP_ADJ, BLUE, BLACK, BLACK}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        rig_each(state);
        rig_make_target(r);
        rig_clear(r, 1, BLACK, 0, 0);
        rig_plain(r, cases[i].v, cases[i].n);
        rig_make_shader(r, 20, AEROGPU_SHADER_STAGE_GEOMETRY, 0, cases[i].gs);
        ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 11, .gs_legacy = 20);
        ABI_EMIT(&r->b, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology, .topology = cases[i].topology);
        ABI_EMIT(&r->b, SET_RASTERIZER_STATE, set_rasterizer_state,
                 .cull_mode = 0); /* strips turn them over */
        rig_draw(r, cases[i].n, 0);
        rig_present(r);
        rig_run_ok(r);
        assert_int_equal(rig_pixel(r, 4, 12), cases[i].left);
        assert_int_equal(rig_pixel(r, 36, 12), cases[i].gs[0] == 'a' ? GREEN : cases[i].right);
        assert_int_equal(rig_pixel(r, 60, 60), cases[i].far);
    }
}

static void write_marker(struct rig *r, uint32_t type, uint32_t index, uint64_t data)
{
    ABI_EMIT(&r->b, EXT_WRITE_BREADCRUMB, ext_write_breadcrumb, .type = type, .index = index, .data = data);
}

/* A breadcrumb buffer is resolved in every submission: what was guest memory of this client may be another's by now. */
RIG_TEST(markers_go_where_the_submission_may_write)
{
    struct rig *r = rig_of(state);
    uint64_t *old = (uint64_t *)(void *)(r->ram + RIG_DATA_GPA), *moved = old + 8192;

    memset(old, 0, 2 * 65536);
    rig_alloc(r, 5, RIG_DATA_GPA, 4096, 0);
    ABI_EMIT(&r->b, EXT_BREADCRUMB_BUFFER, ext_breadcrumb_buffer, .alloc_id = 5, .count = 8);
    write_marker(r, AEROGPU_BREADCRUMB_TOP, 0, 0x11);
    write_marker(r, AEROGPU_BREADCRUMB_BOTTOM, 1, 0x22);
    rig_run_ok(r);
    assert_int_equal(old[0], 0x11);
    assert_int_equal(old[1], 0x22);

    for (uint32_t type = AEROGPU_BREADCRUMB_TOP; type <= AEROGPU_BREADCRUMB_BOTTOM; type++) {
        write_marker(r, type, 2, 0x33);
        rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "alloc_id 5 is not in the allocation table");
        rig_alloc(r, 5, RIG_DATA_GPA, 4096, AEROGPU_ALLOC_FLAG_READONLY);
        write_marker(r, type, 2, 0x33);
        rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "alloc_id 5 is READONLY in this submission");
        rig_alloc(r, 5, RIG_DATA_GPA, 32, 0);
        write_marker(r, type, 2, 0x33);
        rig_expect_error(r, AEROGPU_ERROR_OOB, "8 markers at 0 do not fit alloc_id 5, which has 32 bytes");
    }
    assert_int_equal(old[2], 0);

    rig_alloc(r, 5, RIG_DATA_GPA + 65536, 4096, 0);
    write_marker(r, AEROGPU_BREADCRUMB_TOP, 2, 0x44);
    write_marker(r, AEROGPU_BREADCRUMB_BOTTOM, 3, 0x55);
    rig_run_ok(r);
    assert_int_equal(old[2] | old[3], 0);
    assert_int_equal(moved[2], 0x44);
    assert_int_equal(moved[3], 0x55);
}

/* What one engine of a process may do is not what another may. */
TEST(addresses_are_allowed_by_engine)
{
    struct rig rigs[3];

    for (int i = 0; i < 3; i++)
        assert_int_equal(rig_create_like(&rigs[i], &(struct exec_engine_params){.addresses = i == 1}), 0);
    for (int i = 0; i < 3; i++) {
        const struct abi_completion *c;

        ABI_EMIT_TAIL(&rigs[i].b, CREATE_SHADER_DXBC, create_shader_dxbc, poke_cs, sizeof(poke_cs),
                      .shader_handle = 1, .stage = AEROGPU_SHADER_STAGE_COMPUTE,
                      .dxbc_size_bytes = sizeof(poke_cs));
        c = rig_run(&rigs[i]);
        assert_int_equal(c->error, i == 1 ? AEROGPU_ERROR_NONE : AEROGPU_ERROR_BACKEND);
        if (i != 1)
            assert_non_null(strstr(c->message, "SPIR-V with physical addresses, which are not allowed here"));
    }
    for (int i = 0; i < 3; i++)
        rig_destroy(&rigs[i]);
}

TEST_GROUP(rig_group_setup, rig_group_teardown);
