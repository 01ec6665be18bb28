/* Corners of Direct3D and of the ABI that a picture shows: what is drawn when little, nothing or too much is bound or set. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <aerogpu/alloc.h>
#include <aerogpu/pci.h>

#include "abi/d3d9_states.h"
#include "engine_rig.h"

/* ---- building blocks ---------------------------------------------------------------------------------------------- */

static void coloured_with(struct rig *r, const char *vs, const char *ps, const struct rig_vertex *v,
                          uint32_t n)
{
    static const struct rig_element e[] = {{"POSITION", 0, 2, 0, 0, 0, 0}, {"COLOR", 0, 2, 0, 16, 0, 0}};

    rig_make_shader(r, 10, AEROGPU_SHADER_STAGE_VERTEX, 0, vs);
    rig_make_shader(r, 11, AEROGPU_SHADER_STAGE_PIXEL, 0, ps);
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 11);
    rig_make_layout(r, 12, e, 2);
    rig_make_buffer(r, 1, v, n * (uint32_t)sizeof(*v));
    rig_bind_vb(r, 0, 1, sizeof(*v), 0);
}

static void coloured(struct rig *r, const struct rig_vertex *v, uint32_t n)
{
    coloured_with(r, "colour_vs.dxbc", "colour_ps.dxbc", v, n);
}

static void show(struct rig *r, uint32_t handle)
{
    rig_set_target(r, handle, 0);
    rig_present(r);
    rig_run_ok(r);
}

/* ---- tests -------------------------------------------------------------------------------------------------------- */

static void targets_that_the_shader_does_not_write_stay(void **state)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, 0, 0.5f, 1, 0, RED)};

    rig_make_target(r);
    rig_make_target_of(r, 102, AEROGPU_FORMAT_R8G8B8A8_UNORM, 64, 64);
    rig_set_target(r, 102, 0);
    rig_clear(r, 1, 0x336699CC, 0, 0);
    coloured(r, v, 6);
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
static void empty_scissors(void **state)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0, RED)};

    rig_make_target(r);
    coloured(r, v, 6);
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
static void clears_and_the_scissor(void **state)
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

static void viewports_that_are_no_numbers_are_the_target(void **state)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(0.5f, -0.5f, 1, 1, 0.25f, RED)};
    const float bad[] = {NAN, INFINITY, 0, -5};

    rig_make_target(r);
    coloured(r, v, 6);
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

/* ---- the ends of handles ------------------------------------------------------------------------------------------ */

static void destroyed_resources_are_bound_nowhere(void **state)
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
    coloured(r, v, 12);
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

static void tokens_end_with_the_last_handle(void **state)
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
    /* the first handle names nothing while others do */
    rig_make_buffer(r, TARGET, NULL, 16);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE,
                     "handle 100 was destroyed, but its resource has other handles");
    ABI_EMIT(&r->b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = TARGET,
             .share_token = 77);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "handle 100 was destroyed");
    rig_set_target(r, TARGET, 0);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "handle 100 names no texture");
    ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 500);
    ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 501);
    rig_make_buffer(r, TARGET, NULL, 16);
    rig_make_buffer(r, 500, NULL, 16);
    rig_run_ok(r);
    /* and the token has gone with the last one */
    ABI_EMIT(&r->b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = 502,
             .share_token = 77);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "share_token 0x4d is retired");
    ABI_EMIT(&r->b, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = TARGET,
             .share_token = 77);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "share_token 0x4d is retired");
}

/* ---- guest memory ------------------------------------------------------------------------------------------------- */

static void x8_is_opaque_in_guest_memory(void **state)
{
    struct rig *r = rig_of(state);
    const uint8_t texels[16] = {1, 2, 3, 0, 4, 5, 6, 0x7F, 7, 8, 9, 10, 11, 12, 13, 0xFF};
    const uint32_t formats[] = {AEROGPU_FORMAT_B8G8R8X8_UNORM, AEROGPU_FORMAT_R8G8B8X8_UNORM_SRGB};

    for (int i = 0; i < 2; i++) {
        rig_each(state);
        memset(r->ram + RIG_DATA_GPA, 0xAB, 4096);
        rig_alloc(r, 7, RIG_DATA_GPA, 4096, 0);
        rig_make_target_of(r, 30, formats[i], 4, 1);
        rig_upload(r, 30, 0, texels, 16);
        ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 31, .usage_flags = 8,
                 .format = formats[i], .width = 4, .height = 2, .mip_levels = 1, .array_layers = 1,
                 .row_pitch_bytes = 20, .backing_alloc_id = 7);
        ABI_EMIT(&r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = 31, .src_texture = 30, .dst_x = 1,
                 .dst_y = 1, .src_x = 0, .width = 3, .height = 1, .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
        rig_run_ok(r);
        const uint8_t want[] = {0xAB, 0xAB, 0xAB, 0xAB, 1, 2, 3, 255, 4, 5, 6, 255, 7, 8, 9, 255, 0xAB};
        assert_memory_equal(r->ram + RIG_DATA_GPA + 20, want, sizeof(want));
    }
}

static void dirty_ranges_of_what_has_no_guest_memory_are_nothing(void **state)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, 0, 0.5f, 1, 0, RED)};

    rig_make_target(r);
    coloured(r, v, 6);
    ABI_EMIT(&r->b, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = 1, .size_bytes = 32);
    rig_draw(r, 6, 0);
    ABI_EMIT(&r->b, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = TARGET,
             .offset_bytes = 1 << 20, .size_bytes = 32);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 47, 31), RED);
    assert_int_equal(rig_pixel(r, 48, 31), 0);
    ABI_EMIT(&r->b, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = 99, .size_bytes = 32);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "handle 99 names no buffer and no texture");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(targets_that_the_shader_does_not_write_stay, rig_each),
        cmocka_unit_test_setup(empty_scissors, rig_each),
        cmocka_unit_test_setup(clears_and_the_scissor, rig_each),
        cmocka_unit_test_setup(viewports_that_are_no_numbers_are_the_target, rig_each),
        cmocka_unit_test_setup(destroyed_resources_are_bound_nowhere, rig_each),
        cmocka_unit_test_setup(tokens_end_with_the_last_handle, rig_each),
        cmocka_unit_test_setup(x8_is_opaque_in_guest_memory, rig_each),
        cmocka_unit_test_setup(dirty_ranges_of_what_has_no_guest_memory_are_nothing, rig_each),
    };

    return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
