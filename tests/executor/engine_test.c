/* SPDX-License-Identifier: MIT */
/* The engine in this process on the Vulkan device of this machine: pictures that are wrong if orientation, winding,
 * formats, states or bindings are. */
#include "test.h"

#include <string.h>

#include <aerogpu/alloc.h>
#include <aerogpu/pci.h>

#include "aerogpu/ext.h"
#include "engine_rig.h"

/* ---- tests --------------------------------------------------------------- */

RIG_TEST(clears_and_presents)
{
    struct rig *r = rig_of(state);

    rig_make_target(r);
    rig_clear(r, 1, 0x336699CC, 0, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 0, 0), 0x336699CC);
    assert_int_equal(rig_pixel(r, 63, 63), 0x336699CC);
    assert_int_equal(r->last.flags, ABI_COMPLETION_PRESENT);
    assert_int_equal(r->last.packets, 4);
}

/* x to the right, y up in clip space; on the screen y goes down. */
RIG_TEST(up_is_up_and_right_is_right)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(0.5f, 0.5f, 1, 1, 0, RED), RECT(-1, -1, -0.5f, -0.5f, 0, BLUE)};

    rig_make_target(r);
    rig_clear(r, 1, WHITE, 0, 0);
    rig_plain(r, v, 12);
    rig_draw(r, 12, 0);
    rig_present(r);
    rig_run_ok(r);
    rig_save(r, "up_is_up");
    assert_int_equal(rig_pixel(r, 60, 3), RED);
    assert_int_equal(rig_pixel(r, 3, 60), BLUE);
    assert_int_equal(rig_pixel(r, 3, 3), WHITE);
    assert_int_equal(rig_pixel(r, 60, 60), WHITE);
    assert_int_equal(rig_pixel(r, 48, 15), RED);
    assert_int_equal(rig_pixel(r, 47, 15), WHITE);
    assert_int_equal(rig_pixel(r, 48, 16), WHITE);
}

RIG_TEST(without_shaders_a_vertex_is_position_and_colour)
{
    struct rig *r = rig_of(state);
    const float v[] = {-1, 1, 0, 1,  0, 1, 1, 1, 0,
                       1,  0, 1, -1, 0, 0, 1, 0, 1}; /* top left half of the top half */

    rig_make_target(r);
    rig_clear(r, 1, BLACK, 0, 0);
    rig_make_buffer(r, 1, v, sizeof(v));
    rig_bind_vb(r, 0, 1, 24, 0);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 3, 3), GREEN);
    assert_int_equal(rig_pixel(r, 60, 30), BLACK);
    assert_int_equal(rig_pixel(r, 3, 40), BLACK);
}

static void draw_culled(struct rig *r, uint32_t cull, uint32_t ccw)
{
    ABI_EMIT(&r->b, SET_RASTERIZER_STATE, set_rasterizer_state, .cull_mode = cull, .front_ccw = ccw);
    rig_clear(r, 1, BLACK, 0, 0);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
}

/* A clockwise triangle on the left, a counter-clockwise one on the right. */
RIG_TEST(culling_follows_the_winding_on_the_screen)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {V(-1, -1, 0, RED), V(-1, 1, 0, RED), V(0, 1, 0, RED),
                                   V(1, -1, 0, BLUE), V(1, 1, 0, BLUE), V(0, 1, 0, BLUE)};
    const struct {
        uint32_t cull, ccw;
        bool left, right;
    } cases[] = {{0, 0, true, true},  {0, 1, true, true},  {1, 0, false, true},
                 {1, 1, true, false}, {2, 0, true, false}, {2, 1, false, true}};

    rig_make_target(r);
    rig_plain(r, v, 6);
    for (int i = 0; i < 6; i++) {
        draw_culled(r, cases[i].cull, cases[i].ccw);
        assert_int_equal(rig_pixel(r, 2, 10), cases[i].left ? RED : BLACK);
        assert_int_equal(rig_pixel(r, 61, 10), cases[i].right ? BLUE : BLACK);
        assert_int_equal(rig_pixel(r, 2, 1), cases[i].left ? RED : BLACK);
    }
}

RIG_TEST(viewports_and_scissors)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0, GREEN)};

    rig_make_target(r);
    rig_clear(r, 1, BLACK, 0, 0);
    rig_plain(r, v, 6);
    ABI_EMIT(&r->b, SET_VIEWPORT, set_viewport, .x = abi_f32(8), .y = abi_f32(16), .width = abi_f32(16),
             .height = abi_f32(8), .max_depth = abi_f32(1));
    rig_draw(r, 6, 0);
    ABI_EMIT(&r->b, SET_VIEWPORT, set_viewport, .width = abi_f32(64), .height = abi_f32(64),
             .max_depth = abi_f32(1));
    ABI_EMIT(&r->b, SET_RASTERIZER_STATE, set_rasterizer_state, .scissor_enable = 1);
    ABI_EMIT(&r->b, SET_SCISSOR, set_scissor, .x = 40, .y = -5, .width = 4, .height = 10);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 8, 16), GREEN);
    assert_int_equal(rig_pixel(r, 23, 23), GREEN);
    assert_int_equal(rig_pixel(r, 24, 16), BLACK);
    assert_int_equal(rig_pixel(r, 8, 24), BLACK);
    assert_int_equal(rig_pixel(r, 8, 15), BLACK);
    assert_int_equal(rig_pixel(r, 40, 4), GREEN);
    assert_int_equal(rig_pixel(r, 43, 0), GREEN);
    assert_int_equal(rig_pixel(r, 44, 0), BLACK);
    assert_int_equal(rig_pixel(r, 40, 5), BLACK);
}

RIG_TEST(depth_tests_in_both_formats)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0.5f, RED), RECT(-1, -1, 0, 1, 0.25f, GREEN),
                                   RECT(-1, -1, 1, 1, 0.75f, BLUE)};
    const uint32_t formats[] = {AEROGPU_FORMAT_D32_FLOAT, AEROGPU_FORMAT_D24_UNORM_S8_UINT};

    rig_make_target(r);
    rig_plain(r, v, 18);
    for (int i = 0; i < 2; i++) {
        rig_make_target_of(r, DEPTH, formats[i], 64, 64);
        rig_set_target(r, TARGET, DEPTH);
        ABI_EMIT(&r->b, SET_DEPTH_STENCIL_STATE, set_depth_stencil_state, .depth_enable = 1,
                 .depth_write_enable = 1, .depth_func = AEROGPU_COMPARE_LESS);
        rig_clear(r, 3, BLACK, 1, 0);
        rig_draw(r, 18, 0);
        ABI_EMIT(&r->b, SET_DEPTH_STENCIL_STATE, set_depth_stencil_state, .depth_enable = 1,
                 .depth_write_enable = 1, .depth_func = AEROGPU_COMPARE_GREATER);
        ABI_EMIT(&r->b, SET_VIEWPORT, set_viewport, .width = abi_f32(64), .height = abi_f32(32),
                 .max_depth = abi_f32(1));
        rig_draw(r, 6, 12); /* blue over the upper half */
        rig_present(r);
        rig_set_target(r, TARGET, 0);
        ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = DEPTH);
        ABI_EMIT(&r->b, SET_VIEWPORT, set_viewport, .width = abi_f32(64), .height = abi_f32(64),
                 .max_depth = abi_f32(1));
        rig_run_ok(r);
        assert_int_equal(rig_pixel(r, 10, 50), GREEN);
        assert_int_equal(rig_pixel(r, 50, 50), RED);
        assert_int_equal(rig_pixel(r, 10, 10), BLUE);
        assert_int_equal(rig_pixel(r, 50, 10), BLUE);
    }
}

RIG_TEST(stencil_through_render_states)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 0, 1, 0, RED), RECT(-1, -1, 1, 1, 0, GREEN)};

    rig_make_target(r);
    rig_make_target_of(r, DEPTH, AEROGPU_FORMAT_D24_UNORM_S8_UINT, 64, 64);
    rig_set_target(r, TARGET, DEPTH);
    rig_clear(r, 7, BLACK, 1, 5);
    rig_plain(r, v, 12);
    ABI_EMIT(&r->b, SET_DEPTH_STENCIL_STATE, set_depth_stencil_state, .stencil_enable = 1,
             .stencil_read_mask = 0xFF, .stencil_write_mask = 0xFF, .depth_func = AEROGPU_COMPARE_ALWAYS);
    ABI_EMIT(&r->b, SET_RENDER_STATE, set_render_state, .state = 56, .value = 8); /* STENCILFUNC always */
    ABI_EMIT(&r->b, SET_RENDER_STATE, set_render_state, .state = 55, .value = 4); /* STENCILPASS incrsat */
    rig_draw(r, 6, 0);
    ABI_EMIT(&r->b, SET_RENDER_STATE, set_render_state, .state = 56, .value = 3); /* equal */
    ABI_EMIT(&r->b, SET_RENDER_STATE, set_render_state, .state = 57, .value = 5); /* STENCILREF */
    ABI_EMIT(&r->b, SET_RENDER_STATE, set_render_state, .state = 55, .value = 1); /* keep */
    rig_draw(r, 6, 6);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 10, 32), RED);
    assert_int_equal(rig_pixel(r, 50, 32), GREEN);
}

RIG_TEST(blending_and_write_masks)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0, 0xFF000080)};

    rig_make_target(r);
    rig_clear(r, 1, BLUE, 0, 0);
    rig_plain(r, v, 6);
    ABI_EMIT(&r->b, SET_BLEND_STATE, set_blend_state, .enable = 1, .src_factor = AEROGPU_BLEND_SRC_ALPHA,
             .dst_factor = AEROGPU_BLEND_INV_SRC_ALPHA, .color_write_mask = 15,
             .src_factor_alpha = AEROGPU_BLEND_ONE, .dst_factor_alpha = AEROGPU_BLEND_ZERO, .sample_mask = 1);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 32, 32), 0x80007F80);
    ABI_EMIT(&r->b, SET_BLEND_STATE, set_blend_state, .color_write_mask = 4, .sample_mask = 1);
    rig_clear(r, 1, WHITE, 0, 0);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 32, 32), 0xFFFF00FF);
    ABI_EMIT(&r->b, SET_BLEND_STATE, set_blend_state, .color_write_mask = 15, .sample_mask = 2);
    rig_clear(r, 1, WHITE, 0, 0);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 32, 32), WHITE);
    /* colour factors exist in Direct3D 9 only: dst * src colour */
    ABI_EMIT(&r->b, SET_BLEND_STATE, set_blend_state, .color_write_mask = 15, .sample_mask = 1);
    ABI_EMIT(&r->b, SET_RENDER_STATE, set_render_state, .state = 27, .value = 1);
    ABI_EMIT(&r->b, SET_RENDER_STATE, set_render_state, .state = 19, .value = 1);
    ABI_EMIT(&r->b, SET_RENDER_STATE, set_render_state, .state = 20, .value = 3);
    rig_clear(r, 1, 0x40FF40FF, 0, 0);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 32, 32), 0x40000080);
}

RIG_TEST(x8_targets_are_opaque)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 0, 1, 0, 0xFF000000)};

    rig_make_target_of(r, TARGET, AEROGPU_FORMAT_B8G8R8X8_UNORM, 64, 64);
    rig_set_target(r, TARGET, 0);
    rig_clear(r, 1, 0x00FF0000, 0, 0);
    rig_plain(r, v, 6);
    ABI_EMIT(&r->b, SET_BLEND_STATE, set_blend_state, .enable = 1, .src_factor = AEROGPU_BLEND_DEST_ALPHA,
             .dst_factor = AEROGPU_BLEND_INV_DEST_ALPHA, .color_write_mask = 15, .src_factor_alpha = 1,
             .sample_mask = 1);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 10, 10), RED);
    assert_int_equal(rig_pixel(r, 50, 10), GREEN);
}

RIG_TEST(index_buffers)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {V(9, 9, 0, RED), V(-1, -1, 0, RED), V(-1, 1, 0, RED), V(1, 1, 0, GREEN),
                                   V(1, -1, 0, GREEN)};
    const uint16_t i16[] = {7, 0, 1, 2, 0, 2, 3, 0};
    const uint16_t strip[] = {0, 1, 3, 0xFFFF, 3, 1, 2, 0};

    rig_make_target(r);
    rig_clear(r, 1, BLACK, 0, 0);
    rig_plain(r, v, 5);
    ABI_EMIT(&r->b, SET_RASTERIZER_STATE, set_rasterizer_state, .cull_mode = 0);
    rig_make_buffer(r, 2, i16, sizeof(i16));
    ABI_EMIT(&r->b, SET_INDEX_BUFFER, set_index_buffer, .buffer = 2, .offset_bytes = 2);
    ABI_EMIT(&r->b, DRAW_INDEXED, draw_indexed, .index_count = 6, .instance_count = 1, .base_vertex = 1);
    rig_present(r);
    rig_run_ok(r);
    assert_true(rig_pixel(r, 1, 32) >> 24 > 0xF0);           /* red on the left */
    assert_true((rig_pixel(r, 62, 40) >> 16 & 0xFF) > 0xF0); /* green on the right */
    /* a strip cut in two by 0xFFFF */
    rig_make_buffer(r, 3, strip, sizeof(strip));
    ABI_EMIT(&r->b, SET_INDEX_BUFFER, set_index_buffer, .buffer = 3);
    ABI_EMIT(&r->b, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology,
             .topology = AEROGPU_TOPOLOGY_TRIANGLESTRIP);
    rig_clear(r, 1, BLUE, 0, 0);
    ABI_EMIT(&r->b, DRAW_INDEXED, draw_indexed, .index_count = 7, .instance_count = 1, .base_vertex = 1);
    rig_present(r);
    rig_run_ok(r);
    for (uint32_t y = 2; y < 62; y += 5)
        for (uint32_t x = 2; x < 62; x += 5)
            assert_int_not_equal(rig_pixel(r, x, y), BLUE);
    ABI_EMIT(&r->b, DRAW_INDEXED, draw_indexed, .index_count = 9, .instance_count = 1);
    assert_int_equal(rig_run(r)->error, AEROGPU_ERROR_OOB);
    assert_string_equal(r->last.message,
                        "packet 0 at offset 0x18: DRAW_INDEXED: indices 0 + 9 pass the end of index "
                        "buffer 3, which has 16 bytes behind offset 0");
}

RIG_TEST(instances)
{
    struct rig *r = rig_of(state);
    static const struct rig_element e[] = {
        {"POSITION", 0, 2, 0, 0, 0, 0}, {"COLOR", 0, 2, 0, 16, 0, 0}, {"TEXCOORD", 1, 2, 1, 0, 1, 2}};
    const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0, RED)};
    const float places[][4] = {{-0.75f, 0.75f, 0.25f, 0.25f}, {0.75f, -0.75f, 0.25f, 0.25f}};

    rig_make_target(r);
    rig_clear(r, 1, BLACK, 0, 0);
    rig_plain(r, v, 6);
    rig_make_shader(r, 20, AEROGPU_SHADER_STAGE_VERTEX, 0, "instanced_vs.dxbc");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 20, .ps = 11);
    rig_make_layout(r, 21, e, 3);
    rig_make_buffer(r, 2, places, sizeof(places));
    rig_bind_vb(r, 1, 2, 16, 0);
    ABI_EMIT(&r->b, DRAW, draw, .vertex_count = 6, .instance_count = 4);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 8, 8), RED);
    assert_int_equal(rig_pixel(r, 56, 56), RED);
    assert_int_equal(rig_pixel(r, 56, 8), BLACK);
    assert_int_equal(rig_pixel(r, 32, 32), BLACK);
}

/* ---- compute, geometry, tessellation ------------------------------------- */

static void bind_uav(struct rig *r, uint32_t slot, uint32_t handle)
{
    struct aerogpu_unordered_access_buffer_binding u = {.buffer = handle, .initial_count = UINT32_MAX};

    ABI_EMIT_TAIL(&r->b, SET_UNORDERED_ACCESS_BUFFERS, set_unordered_access_buffers, &u, sizeof(u),
                  .shader_stage = AEROGPU_SHADER_STAGE_COMPUTE, .start_slot = slot, .uav_count = 1);
}

static void bind_srv(struct rig *r, uint32_t slot, uint32_t handle)
{
    struct aerogpu_shader_resource_buffer_binding b = {.buffer = handle};

    ABI_EMIT_TAIL(&r->b, SET_SHADER_RESOURCE_BUFFERS, set_shader_resource_buffers, &b, sizeof(b),
                  .shader_stage = AEROGPU_SHADER_STAGE_COMPUTE, .start_slot = slot, .buffer_count = 1);
}

RIG_TEST(compute_writes_what_a_draw_reads)
{
    struct rig *r = rig_of(state);
    const uint32_t extent[4] = {64, 64};
    const struct aerogpu_constant_buffer_binding cb = {.buffer = 60};

    rig_make_target(r);
    rig_make_buffer(r, 60, extent, 16);
    rig_make_buffer(r, 61, NULL, 64 * 64 * 4);
    rig_make_shader(r, 62, AEROGPU_SHADER_STAGE_COMPUTE, 0, "picture_raw_cs.dxbc");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .cs = 62);
    ABI_EMIT_TAIL(&r->b, SET_CONSTANT_BUFFERS, set_constant_buffers, &cb, sizeof(cb),
                  .shader_stage = AEROGPU_SHADER_STAGE_COMPUTE, .buffer_count = 1);
    bind_uav(r, 0, 61);
    ABI_EMIT(&r->b, DISPATCH, dispatch, .group_count_x = 8, .group_count_y = 8, .group_count_z = 1);
    /* the buffer is a picture: into guest memory, and from there into a texture */
    rig_alloc(r, 7, RIG_DATA_GPA, 64 * 64 * 4, 0);
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 63, .size_bytes = 64 * 64 * 4,
             .backing_alloc_id = 7);
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 63, .src_buffer = 61, .size_bytes = 64 * 64 * 4,
             .flags = 1);
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 64, .usage_flags = 8,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .width = 64, .height = 64, .mip_levels = 1,
             .array_layers = 1, .row_pitch_bytes = 256, .backing_alloc_id = 7);
    rig_textured(r, "texture_ps.dxbc");
    rig_use_texture(r, 64);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    rig_save(r, "compute");
    assert_int_equal(rig_pixel(r, 43, 32), 0xF87C07FF); /* inside the set: n is 31 */
    assert_int_equal(rig_pixel(r, 0, 0), 0x0000FFFF);   /* far outside: n is 0 */
}

RIG_TEST(structured_buffers_are_read_and_written)
{
    struct rig *r = rig_of(state);
    float *mem = (float *)(void *)(r->ram + RIG_DATA_GPA);

    rig_make_buffer(r, 61, NULL, 64 * 32);
    rig_make_buffer(r, 62, NULL, 64 * 32);
    rig_make_shader(r, 63, AEROGPU_SHADER_STAGE_COMPUTE, 0, "ring_structured_cs.dxbc");
    rig_make_shader(r, 64, AEROGPU_SHADER_STAGE_COMPUTE, 0, "swap_structured_cs.dxbc");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .cs = 63);
    bind_uav(r, 0, 61);
    ABI_EMIT(&r->b, DISPATCH, dispatch, .group_count_x = 1, .group_count_y = 1, .group_count_z = 1);
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .cs = 64);
    bind_srv(r, 0, 61);
    bind_uav(r, 0, 62);
    ABI_EMIT(&r->b, DISPATCH, dispatch, .group_count_x = 1, .group_count_y = 1, .group_count_z = 1,
             .stage_ex = 5);
    rig_alloc(r, 7, RIG_DATA_GPA, 4096, 0);
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 65, .size_bytes = 64 * 32,
             .backing_alloc_id = 7);
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 65, .src_buffer = 62, .size_bytes = 64 * 32,
             .flags = 1);
    rig_run_ok(r);
    assert_float_equal(mem[0], 0, 1e-5f);    /* sin 0 / 2 */
    assert_float_equal(mem[1], 0.5f, 1e-5f); /* cos 0 / 2 */
    assert_float_equal(mem[16 * 8], 0.5f, 1e-4f);
    assert_float_equal(mem[63 * 8 + 4], 1, 1e-5f);
    assert_float_equal(mem[63 * 8 + 6], 0, 1e-5f);
}

/* A driver that does a domain shader's work in a compute shader binds what it reads and writes to the domain stage. */
RIG_TEST(a_dispatch_reads_the_slots_of_the_stage_that_it_stands_for)
{
    struct rig *r = rig_of(state);
    float *mem = (float *)(void *)(r->ram + RIG_DATA_GPA);
    struct aerogpu_unordered_access_buffer_binding uav = {.initial_count = AEROGPU_UAV_INITIAL_COUNT_KEEP};
    const uint32_t zeros[64 * 8] = {0};
    const struct abi_completion *done;

    rig_make_buffer(r, 61, zeros, sizeof(zeros));
    rig_make_buffer(r, 62, zeros, sizeof(zeros));
    rig_make_shader(r, 63, AEROGPU_SHADER_STAGE_COMPUTE, 0, "ring_structured_cs.dxbc");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .cs = 63);
    bind_uav(r, 0, 62);
    uav.buffer = 61;
    ABI_EMIT_TAIL(&r->b, SET_UNORDERED_ACCESS_BUFFERS, set_unordered_access_buffers, &uav, sizeof(uav),
                  .shader_stage = AEROGPU_SHADER_STAGE_COMPUTE, .uav_count = 1, .stage_ex = 4);
    ABI_EMIT(&r->b, DISPATCH, dispatch, .group_count_x = 1, .group_count_y = 1, .group_count_z = 1,
             .stage_ex = 4);
    rig_alloc(r, 7, RIG_DATA_GPA, 4096, 0);
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 65, .size_bytes = 64 * 32,
             .backing_alloc_id = 7);
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 65, .src_buffer = 62, .size_bytes = 64 * 32,
             .flags = 1);
    rig_run_ok(r);
    assert_float_equal(mem[0], 0, 0); /* what is bound to the compute stage is left alone */
    rig_alloc(r, 7, RIG_DATA_GPA, 4096, 0);
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 65, .src_buffer = 61, .size_bytes = 64 * 32,
             .flags = 1);
    rig_run_ok(r);
    assert_true(mem[0] > 0.4f); /* cos 0 / 2 */
    rig_alloc(r, 7, RIG_DATA_GPA, 4096, 0);
    ABI_EMIT(&r->b, DISPATCH, dispatch, .group_count_x = 1, .group_count_y = 1, .group_count_z = 1);
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 65, .src_buffer = 62, .size_bytes = 64 * 32,
             .flags = 1);
    rig_run_ok(r);
    assert_true(mem[0] > 0.4f); /* and is found again by the next */
    ABI_EMIT(&r->b, DISPATCH, dispatch, .group_count_x = 1, .group_count_y = 1, .group_count_z = 1,
             .stage_ex = 1);
    done = rig_run(r);
    assert_int_equal(done->error, AEROGPU_ERROR_CMD_DECODE);
    assert_non_null(strstr(done->message, "stage_ex 1, NONE, GEOMETRY, HULL, DOMAIN or COMPUTE is needed"));
}

RIG_TEST(geometry_shaders_in_every_way_to_name_them)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {V(-0.5f, -0.5f, 0, RED), V(-0.5f, 0.5f, 0, GREEN), V(0.5f, 0.5f, 0, BLUE)};
    const uint32_t tail[3] = {0};

    rig_make_target(r);
    rig_plain(r, v, 3);
    rig_make_shader(r, 20, AEROGPU_SHADER_STAGE_GEOMETRY, 0, "quads_gs.dxbc");
    rig_make_shader(r, 21, AEROGPU_SHADER_STAGE_COMPUTE, AEROGPU_SHADER_STAGE_EX_GEOMETRY, "quads_gs.dxbc");
    for (int way = 0; way < 3; way++) {
        const uint32_t ex[3] = {21, 0, 0};
        if (way == 0)
            ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 11, .gs_legacy = 20);
        else if (way == 1)
            ABI_EMIT_TAIL(&r->b, BIND_SHADERS, bind_shaders, ex, 12, .vs = 10, .ps = 11, .gs_legacy = 0);
        else /* the appended handles count, also when zero */
            ABI_EMIT_TAIL(&r->b, BIND_SHADERS, bind_shaders, tail, 12, .vs = 10, .ps = 11, .gs_legacy = 20);
        rig_clear(r, 1, BLACK, 0, 0);
        rig_draw(r, 3, 0);
        rig_present(r);
        rig_run_ok(r);
        rig_save(r, way ? "geometry" : "geometry_legacy");
        if (way == 2) {
            assert_int_equal(rig_pixel(r, 13, 50), BLACK); /* outside of the plain triangle */
            continue;
        }
        assert_int_equal(rig_pixel(r, 13, 50), RED);
        assert_int_equal(rig_pixel(r, 13, 13), GREEN);
        assert_int_equal(rig_pixel(r, 50, 13), BLUE);
        assert_int_equal(rig_pixel(r, 24, 24), BLACK); /* the triangle itself is gone */
    }
}

RIG_TEST(tessellation_makes_more_of_a_patch)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {V(-0.6f, -0.6f, 0, RED), V(-0.6f, 0.6f, 0, RED), V(0.6f, 0.6f, 0, RED)};
    const uint32_t ex[3] = {0, 21, 22};

    rig_make_target(r);
    rig_plain(r, v, 3);
    rig_make_shader(r, 20, AEROGPU_SHADER_STAGE_VERTEX, 0, "control_vs.dxbc");
    rig_make_shader(r, 21, AEROGPU_SHADER_STAGE_COMPUTE, AEROGPU_SHADER_STAGE_EX_HULL, "bulge_hs.dxbc");
    rig_make_shader(r, 22, AEROGPU_SHADER_STAGE_COMPUTE, AEROGPU_SHADER_STAGE_EX_DOMAIN, "bulge_ds.dxbc");
    ABI_EMIT_TAIL(&r->b, BIND_SHADERS, bind_shaders, ex, 12, .vs = 20, .ps = 11);
    ABI_EMIT(&r->b, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology, .topology = AEROGPU_TOPOLOGY_PATCHLIST_3);
    rig_clear(r, 1, BLACK, 0, 0);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    rig_save(r, "tessellation");
    assert_int_equal(rig_pixel(r, 24, 24), RED);
    assert_int_equal(rig_pixel(r, 10, 30),
                     RED); /* the left edge bulges outwards: flat, it would end at x = 12.8 */
    assert_int_equal(rig_pixel(r, 45, 45), BLACK);
    rig_draw(r, 3, 0);
    ABI_EMIT(&r->b, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology,
             .topology = AEROGPU_TOPOLOGY_TRIANGLELIST);
    rig_draw(r, 3, 0);
    const struct abi_completion *c = rig_run(r);
    assert_int_equal(c->error, AEROGPU_ERROR_BACKEND);
    assert_non_null(strstr(c->message, "hull or domain shader without a patch list"));
}

/* Points, lines, strips and fans cover what they should. */
RIG_TEST(topologies)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {V(-0.5f, -0.5f, 0, RED), V(-0.5f, 0.5f, 0, RED), V(0.5f, 0.5f, 0, RED),
                                   V(0.5f, -0.5f, 0, RED)};
    const struct {
        uint32_t topology, count;
        bool on_top_edge, inside_left, inside_right, corner;
    } cases[] = {{AEROGPU_TOPOLOGY_POINTLIST, 4, false, false, false, true},
                 {AEROGPU_TOPOLOGY_LINELIST, 4, false, false, false, false},
                 {AEROGPU_TOPOLOGY_LINESTRIP, 4, true, false, false, false},
                 {AEROGPU_TOPOLOGY_TRIANGLEFAN, 4, true, true, true, false},
                 {AEROGPU_TOPOLOGY_TRIANGLELIST_ADJ, 6, false, false, false, false}};

    rig_make_target(r);
    rig_plain(r, v, 4);
    ABI_EMIT(&r->b, SET_RASTERIZER_STATE, set_rasterizer_state, .cull_mode = 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t around = 0;
        ABI_EMIT(&r->b, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology, .topology = cases[i].topology);
        rig_clear(r, 1, BLACK, 0, 0);
        rig_draw(r, cases[i].count, 0);
        rig_present(r);
        rig_run_ok(r);
        assert_int_equal(rig_pixel(r, 20, 30) == RED, cases[i].inside_left);
        assert_int_equal(rig_pixel(r, 40, 40) == RED, cases[i].inside_right);
        assert_int_equal(rig_pixel(r, 32, 15) == RED || rig_pixel(r, 32, 16) == RED, cases[i].on_top_edge);
        for (uint32_t y = 14; y < 18; y++)
            for (uint32_t x = 14; x < 18; x++)
                around += rig_pixel(r, x, y) == RED;
        if (cases[i].corner)
            assert_int_equal(around, 1); /* a point of one pixel */
    }
}

RIG_TEST(defaults_that_nobody_bound)
{
    struct rig *r = rig_of(state);

    /* no texture: zero; no viewport, no scissor, no sampler */
    rig_make_target(r);
    rig_clear(r, 1, WHITE, 0, 0);
    rig_make_shader(r, 13, AEROGPU_SHADER_STAGE_VERTEX, 0, "fullscreen_vs.dxbc");
    rig_make_shader(r, 14, AEROGPU_SHADER_STAGE_PIXEL, 0, "texture_ps.dxbc");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 13, .ps = 14);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 5, 60), 0);
    /* no target: what is drawn goes to one that stands in for it */
    rig_set_target(r, 0, 0);
    rig_clear(r, 1, RED, 0, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 63, 63), RED);
}

RIG_TEST(bad_packets_give_one_error_each)
{
    struct rig *r = rig_of(state);
    uint8_t junk[64] = {1, 2, 3};

    rig_make_target(r);
    rig_make_buffer(r, 1, NULL, 64);
    rig_run_ok(r);
    rig_make_buffer(r, 1, NULL, 64);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "CREATE_BUFFER: handle 1 already names a buffer");
    rig_make_buffer(r, 0, NULL, 64);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "handle 0 cannot name anything");
    rig_make_buffer(r, 2, NULL, 0);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "buffer 2: size 0");
    rig_make_buffer(r, 2, NULL, 6);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "buffer 2: size 6");
    rig_make_target_of(r, 2, AEROGPU_FORMAT_R8G8B8A8_UNORM, 0, 4);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "texture 2: size 0 x 4");
    rig_make_target_of(r, 2, AEROGPU_FORMAT_R8G8B8A8_UNORM, 1 << 30, 1 << 30);
    rig_expect_error(r, AEROGPU_ERROR_BACKEND, "texture 2: 1073741824 x 1073741824");
    rig_make_target_of(r, 2, 99, 4, 4);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "format is 99");
    rig_upload(r, 1, 60, junk, 8);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "upload 60 + 8 passes the end of buffer 1, which has 64 bytes");
    rig_upload(r, 1, 2, junk, 8);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "not in multiples of 4");
    rig_upload(r, TARGET, 1, junk, 8);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "cuts a 4-byte texel");
    rig_upload(r, TARGET, 64 * 64 * 4 - 4, junk, 8);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "bytes 16380 + 8 pass the end of texture 100, which has 16384");
    rig_upload(r, 77, 0, junk, 8);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "handle 77 names no buffer and no texture");
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 1, .src_buffer = TARGET, .size_bytes = 4);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "handle 100 is a texture, a buffer is needed");
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 1, .src_buffer = 1, .size_bytes = 32,
             .dst_offset_bytes = 16);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "overlap");
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 1, .src_buffer = 1, .size_bytes = UINT64_MAX - 3,
             .dst_offset_bytes = 16);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "destination 16 + 18446744073709551612");
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 1, .src_buffer = 1, .size_bytes = 4,
             .dst_offset_bytes = 16, .flags = 1);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "buffer 1 has no guest memory behind it");
    ABI_EMIT(&r->b, PRESENT, present, .scanout_id = 3);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "scanout_id 3");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 1);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "handle 1 is a buffer, a shader is needed");
    ABI_EMIT_TAIL(&r->b, CREATE_SHADER_DXBC, create_shader_dxbc, junk, 64, .shader_handle = 9, .stage = 0,
                  .dxbc_size_bytes = 64);
    rig_expect_error(r, AEROGPU_ERROR_BACKEND, "packet 0 at offset 0x18: CREATE_SHADER_DXBC: shader 9:");
    assert_int_equal(r->last.packets, 0); /* that it is about, and not the last */
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 9);
    rig_clear(r, 1, GREEN, 0, 0);
    rig_draw(r, 3, 0);
    rig_expect_error(r, AEROGPU_ERROR_BACKEND, "shader 9:");
    rig_make_shader(r, 10, AEROGPU_SHADER_STAGE_VERTEX, 0, "colour_ps.dxbc");
    rig_expect_error(r, AEROGPU_ERROR_BACKEND, "shader 10:");
    ABI_EMIT(&r->b, DISPATCH, dispatch, .group_count_x = 1, .group_count_y = 1, .group_count_z = 1);
    rig_expect_error(r, AEROGPU_ERROR_BACKEND, "no compute shader is bound");
    /* and all that did no harm */
    rig_clear(r, 1, MAGENTA, 0, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 9, 9), MAGENTA);
}

RIG_TEST(guest_memory_that_is_not_there_gives_one_error_each)
{
    struct rig *r = rig_of(state);

    rig_make_target(r);
    rig_make_buffer(r, 1, NULL, 64);
    rig_run_ok(r);
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 3, .size_bytes = 64,
             .backing_alloc_id = 5);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE,
                     "alloc_id 5 is not in the allocation table, which this submission lacks");
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 3, .size_bytes = 64, .backing_alloc_id = 5,
             .backing_offset_bytes = 4090);
    rig_alloc(r, 5, RIG_DATA_GPA, 4096, 0);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "bytes 4090 + 64 pass the end of alloc_id 5, which has 4096");
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 3, .size_bytes = 64,
             .backing_alloc_id = 5);
    rig_alloc(r, 5, RIG_RAM - 32, 4096, 0);
    rig_expect_error(r, AEROGPU_ERROR_OOB, "is not guest memory");
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 3, .size_bytes = 64,
             .backing_alloc_id = 5);
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 3, .src_buffer = 1, .size_bytes = 4, .flags = 1);
    rig_alloc(r, 5, RIG_DATA_GPA, 4096, AEROGPU_ALLOC_FLAG_READONLY);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "alloc_id 5 is READONLY");
    /* and all that did no harm */
    rig_clear(r, 1, MAGENTA, 0, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 9, 9), MAGENTA);
}

RIG_TEST(what_came_before_the_error_has_happened)
{
    struct rig *r = rig_of(state);

    rig_make_target(r);
    rig_clear(r, 1, RED, 0, 0);
    rig_present(r);
    rig_upload(r, 77, 0, "abcd", 4);
    rig_clear(r, 1, GREEN, 0, 0);
    rig_present(r);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "packet 4");
    assert_int_equal(r->last.packets, 4);
    assert_int_equal(rig_pixel(r, 1, 1), RED);
}

/* What a destroyed context had bound is bound no more; its number may be used again. */
RIG_TEST(a_context_ends)
{
    struct rig *r = rig_of(state);
    struct aerogpu_cmd_ext_destroy_context end = {.context_id = 5};

    r->context_id = 5;
    rig_make_target_of(r, 7, AEROGPU_FORMAT_R8G8B8A8_UNORM, 64, 64);
    rig_set_target(r, 7, 0);
    rig_clear(r, 1, RED, 0, 0);
    rig_run_ok(r);
    abi_builder_packet(&r->b, AEROGPU_CMD_EXT_DESTROY_CONTEXT, &end, sizeof(end), NULL,
                       0); /* of its own: no */
    rig_clear(r, 1, BLUE, 0, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 5, 5), BLUE);
    r->context_id = 1;
    abi_builder_packet(&r->b, AEROGPU_CMD_EXT_DESTROY_CONTEXT, &end, sizeof(end), NULL, 0);
    end.context_id = 12345; /* there is none */
    abi_builder_packet(&r->b, AEROGPU_CMD_EXT_DESTROY_CONTEXT, &end, sizeof(end), NULL, 0);
    rig_run_ok(r);
    r->context_id = 5;
    rig_clear(r, 1, GREEN, 0, 0); /* not into 7 */
    rig_set_target(r, 7, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 5, 5), BLUE);
}

/* Whatever they name, or nothing; what is still bound goes on, as with any other end. */
RIG_TEST(a_range_of_handles_ends)
{
    struct rig *r = rig_of(state);
    struct aerogpu_cmd_ext_destroy_handles end = {.first = 70, .last = 79};

    rig_make_target_of(r, 69, AEROGPU_FORMAT_R8G8B8A8_UNORM, 64, 64);
    rig_make_target_of(r, 70, AEROGPU_FORMAT_R8G8B8A8_UNORM, 64, 64);
    rig_make_target_of(r, 80, AEROGPU_FORMAT_R8G8B8A8_UNORM, 64, 64);
    ABI_EMIT(&r->b, CREATE_SAMPLER, create_sampler, .sampler_handle = 75);
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 79, .size_bytes = 64);
    abi_builder_packet(&r->b, AEROGPU_CMD_EXT_DESTROY_HANDLES, &end, sizeof(end), NULL, 0);
    abi_builder_packet(&r->b, AEROGPU_CMD_EXT_DESTROY_HANDLES, &end, sizeof(end), NULL, 0);
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 70, .size_bytes = 64);
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 75, .size_bytes = 64);
    rig_set_target(r, 69, 0);
    rig_set_target(r, 80, 0);
    rig_run_ok(r);
    rig_set_target(r, 79, 0);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "handle 79 names no texture");
}

/* What has nothing to do is done when what was submitted before it is. */
RIG_TEST(nothing_overtakes_work)
{
    struct rig *r = rig_of(state);

    rig_make_target(r);
    rig_run_ok(r);
    for (unsigned i = 0; i < 20; i++) {
        rig_clear(r, 1, i << 24 | 0xFF, 0, 0);
        rig_present(r);
        rig_submit(r);
        exec_engine_submit(
            r->engine,
            &(struct abi_submission){.id = ++r->next_id, .context_id = r->context_id, .scanout = r->scanout});
        rig_wait(r);
        assert_false(r->overtaken);
    }
}

RIG_TEST(many_submissions_complete_in_order)
{
    struct rig *r = rig_of(state);

    rig_make_target(r);
    rig_run_ok(r);
    for (int i = 0; i < 200; i++) {
        rig_clear(r, 1, (uint32_t)i << 24 | 0xFF, 0, 0);
        if (i % 3)
            rig_present(r);
        rig_submit(r);
        if (i % 50 == 49) {
            rig_wait(r);
            assert_int_equal(r->last.id, r->next_id);
        } else {
            rig_wait(r); /* the stream lies at one address */
        }
    }
    exec_engine_reset(r->engine);
    rig_clear(r, 1, RED, 0, 0);
    rig_upload(r, TARGET, 0, "abcd", 4);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "handle 100 names no buffer");
}

TEST_GROUP(rig_group_setup, rig_group_teardown);
