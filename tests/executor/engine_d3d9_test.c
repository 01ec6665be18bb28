/* SPDX-License-Identifier: MIT */
/* Direct3D 9 through the engine: vertex declarations, vs/ps 1 to 3, constants, render and sampler states. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include <aerogpu/ext.h>
#include <aerogpu/pci.h>

#include "abi/d3d9_states.h"
#include "engine_rig.h"

struct decl {
    uint16_t stream, offset;
    uint8_t type, method, usage, index;
};

enum { FLOAT2 = 1, FLOAT3 = 2, FLOAT4 = 3, D3DCOLOR = 4, POSITION = 0, NORMAL = 3, TEXCOORD = 5, COLOR = 10 };

#define DECL_END                                                                                             \
    {                                                                                                        \
        0xFF, 0, 17, 0, 0, 0                                                                                 \
    }

static void declare(struct rig *r, uint32_t handle, const struct decl *d, uint32_t n)
{
    ABI_EMIT_TAIL(&r->b, CREATE_INPUT_LAYOUT, create_input_layout, d, n * 8, .input_layout_handle = handle,
                  .blob_size_bytes = n * 8);
    ABI_EMIT(&r->b, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = handle);
}

static void render_state(struct rig *r, uint32_t state, uint32_t value)
{
    ABI_EMIT(&r->b, SET_RENDER_STATE, set_render_state, .state = state, .value = value);
}

static void sampler_state(struct rig *r, uint32_t state, uint32_t value)
{
    ABI_EMIT(&r->b, SET_SAMPLER_STATE, set_sampler_state, .shader_stage = 1, .slot = 0, .state = state,
             .value = value);
}

static void constants(struct rig *r, uint32_t stage, uint32_t start, const float *v, uint32_t n)
{
    ABI_EMIT_TAIL(&r->b, SET_SHADER_CONSTANTS_F, set_shader_constants_f, v, n * 16, .stage = stage,
                  .start_register = start, .vec4_count = n);
}

/* colour_vs_2_0 and a pixel shader over buffer 1 of struct rig_vertex. */
static void coloured(struct rig *r, const char *ps, const struct rig_vertex *v, uint32_t n)
{
    static const struct decl d[] = {{0, 0, FLOAT4, 0, POSITION, 0}, {0, 16, FLOAT4, 0, COLOR, 0}, DECL_END};

    rig_make_shader(r, 10, AEROGPU_SHADER_STAGE_VERTEX, 0, "colour_vs_2_0.d3d9");
    rig_make_shader(r, 11, AEROGPU_SHADER_STAGE_PIXEL, 0, ps);
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 11);
    declare(r, 12, d, 3);
    rig_make_buffer(r, 1, v, n * (uint32_t)sizeof(*v));
    rig_bind_vb(r, 0, 1, sizeof(*v), 0);
}

RIG_TEST(colours_pass_from_vertex_to_pixel)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(0.5f, 0.5f, 1, 1, 0, RED), RECT(-1, -1, -0.5f, -0.5f, 0, 0x336699CC)};

    rig_make_target(r);
    rig_clear(r, 1, WHITE, 0, 0);
    coloured(r, "colour_ps_2_0.d3d9", v, 12);
    rig_draw(r, 12, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 60, 3), RED);
    assert_int_equal(rig_pixel(r, 3, 60), 0x336699CC);
    assert_int_equal(rig_pixel(r, 3, 3), WHITE);
}

RIG_TEST(d3dcolor_is_bgra_in_memory)
{
    struct rig *r = rig_of(state);
    static const struct decl d[] = {{0, 0, FLOAT4, 0, POSITION, 0}, {0, 16, D3DCOLOR, 0, COLOR, 0}, DECL_END};
    struct {
        float p[4];
        uint32_t c;
    } v[3] = {{{-1, -1, 0, 1}, 0x80FF4000}, {{-1, 3, 0, 1}, 0x80FF4000}, {{3, -1, 0, 1}, 0x80FF4000}};

    rig_make_target(r);
    rig_make_shader(r, 10, AEROGPU_SHADER_STAGE_VERTEX, 0, "colour_vs_2_0.d3d9");
    rig_make_shader(r, 11, AEROGPU_SHADER_STAGE_PIXEL, 0, "colour_ps_2_0.d3d9");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 11);
    declare(r, 12, d, 3);
    rig_make_buffer(r, 1, v, sizeof(v));
    rig_bind_vb(r, 0, 1, 20, 0);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 40), 0xFF400080);
}

RIG_TEST(alpha_test)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 0, 1, 0, 0xFF000040), RECT(0, -1, 1, 1, 0, 0x00FF00C0)};
    /* D3DCMP_*, reference: what is left of the left and of the right half */
    const struct {
        uint32_t func, ref;
        bool left, right;
    } cases[] = {{5, 0x80, false, true}, {2, 0x80, true, false},  {3, 0x40, true, false},
                 {6, 0x40, false, true}, {1, 0x00, false, false}, {8, 0xFF, true, true},
                 {7, 0xC0, false, true}, {4, 0x40, true, false}};

    rig_make_target(r);
    coloured(r, "colour_ps_2_0.d3d9", v, 12);
    render_state(r, D3DRS_ALPHATESTENABLE, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        render_state(r, D3DRS_ALPHAFUNC, cases[i].func);
        render_state(r, D3DRS_ALPHAREF, cases[i].ref);
        rig_clear(r, 1, BLUE, 0, 0);
        rig_draw(r, 12, 0);
        rig_present(r);
        rig_run_ok(r);
        assert_int_equal(rig_pixel(r, 10, 10), cases[i].left ? 0xFF000040 : BLUE);
        assert_int_equal(rig_pixel(r, 50, 10), cases[i].right ? 0x00FF00C0 : BLUE);
    }
}

RIG_TEST(flat_shading_takes_the_first_vertex)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {V(-1, -1, 0, RED), V(-1, 3, 0, GREEN), V(3, -1, 0, BLUE)};

    rig_make_target(r);
    coloured(r, "colour_ps_2_0.d3d9", v, 3);
    render_state(r, D3DRS_SHADEMODE, 1);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 5, 5), RED);
    assert_int_equal(rig_pixel(r, 60, 60), RED);
    render_state(r, D3DRS_SHADEMODE, 2);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_not_equal(rig_pixel(r, 5, 5), rig_pixel(r, 60, 60));
}

RIG_TEST(culling_and_write_masks)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {V(-1, -1, 0, RED), V(-1, 1, 0, RED), V(0, 1, 0, RED),
                                   V(1, -1, 0, RED),  V(1, 1, 0, RED),  V(0, 1, 0, RED)};

    rig_make_target(r);
    coloured(r, "colour_ps_2_0.d3d9", v, 6);
    for (uint32_t mode = 1; mode <= 3; mode++) {
        rig_clear(r, 1, BLACK, 0, 0);
        render_state(r, D3DRS_CULLMODE, mode);
        rig_draw(r, 6, 0);
        rig_present(r);
        rig_run_ok(r);
        assert_int_equal(rig_pixel(r, 2, 10), mode == 2 ? BLACK : RED); /* clockwise */
        assert_int_equal(rig_pixel(r, 61, 10), mode == 3 ? BLACK : RED);
    }
    render_state(r, D3DRS_CULLMODE, 1);
    render_state(r, D3DRS_COLORWRITEENABLE, 2);
    rig_clear(r, 1, 0x00FF00FF, 0, 0);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 2, 10), 0x000000FF); /* only green was written, and it is 0 */
}

/* lit_vs with identity matrices and textured_ps, over position, normal, uv. */
static void textured(struct rig *r, const char *vs, const char *ps)
{
    static const struct decl d[] = {{0, 0, FLOAT3, 0, POSITION, 0},
                                    {0, 12, FLOAT3, 0, NORMAL, 0},
                                    {0, 24, FLOAT2, 0, TEXCOORD, 0},
                                    DECL_END};
    static const float c[10][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, 0, 0},
                                   {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {0, 0, 1, 0}, {1, 1, 1, 1}};
    static const float one[4] = {1, 1, 1, 1};
    static const float v[4][8] = {{-1, -1, 0, 0, 0, 1, -1, 3},
                                  {-1, 1, 0, 0, 0, 1, -1, -1},
                                  {1, -1, 0, 0, 0, 1, 3, 3},
                                  {1, 1, 0, 0, 0, 1, 3, -1}};

    rig_make_target(r);
    rig_make_shader(r, 10, AEROGPU_SHADER_STAGE_VERTEX, 0, vs);
    rig_make_shader(r, 11, AEROGPU_SHADER_STAGE_PIXEL, 0, ps);
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 11);
    declare(r, 12, d, 4);
    constants(r, AEROGPU_SHADER_STAGE_VERTEX, 0, c[0], 10);
    constants(r, AEROGPU_SHADER_STAGE_PIXEL, 0, one, 1);
    rig_make_buffer(r, 1, v, sizeof(v));
    rig_bind_vb(r, 0, 1, 32, 0);
    ABI_EMIT(&r->b, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology,
             .topology = AEROGPU_TOPOLOGY_TRIANGLESTRIP);
}

/* The texture's coordinates run from -1 to 3 over the screen: 16 pixels each half. 2 x 2 texels: R G / B W. */
RIG_TEST(address_modes)
{
    struct rig *r = rig_of(state);
    const uint8_t texels[16] = {255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 255, 255};
    const uint32_t mid = 4; /* a pixel well inside the first half texel: u = v = -0.72 */
    const struct {
        uint32_t mode, want;
    } cases[] = {{1, RED}, {2, WHITE}, {3, RED}, {4, 0x20406080}};

    for (int sm = 2; sm <= 3; sm++) {
        rig_each(state);
        textured(r, sm == 2 ? "lit_vs_2_0.d3d9" : "lit_vs_3_0.d3d9",
                 sm == 2 ? "textured_ps_2_0.d3d9" : "textured_ps_3_0.d3d9");
        rig_make_target_of(r, 30, AEROGPU_FORMAT_R8G8B8A8_UNORM, 2, 2);
        rig_upload(r, 30, 0, texels, 16);
        rig_use_texture(r, 30);
        for (size_t i = 0; i < 4; i++) {
            sampler_state(r, D3DSAMP_ADDRESSU, cases[i].mode);
            sampler_state(r, D3DSAMP_ADDRESSV, cases[i].mode);
            sampler_state(r, D3DSAMP_BORDERCOLOR, 0x80204060);
            rig_draw(r, 4, 0);
            rig_present(r);
            rig_run_ok(r);
            assert_int_equal(rig_pixel(r, mid, mid), cases[i].want);
            assert_int_equal(rig_pixel(r, 18, 18), RED); /* inside 0..1 all agree */
            assert_int_equal(rig_pixel(r, 28, 18), GREEN);
            assert_int_equal(rig_pixel(r, 18, 28), BLUE);
        }
    }
}

RIG_TEST(mip_filters_choose_mips)
{
    struct rig *r = rig_of(state);
    uint32_t texels[256 + 64 + 16];
    const uint32_t mip_colors[3] = {0xFF0000FF, 0xFF00FF00, 0xFFFF0000}; /* ABGR */

    for (uint32_t i = 0; i < 336; i++)
        texels[i] = mip_colors[i < 256 ? 0 : i < 320 ? 1 : 2];
    textured(r, "lit_vs_2_0.d3d9", "textured_ps_2_0.d3d9");
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 30, .usage_flags = 8,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .width = 16, .height = 16, .mip_levels = 3,
             .array_layers = 1);
    rig_upload(r, 30, 0, texels, sizeof(texels));
    rig_use_texture(r, 30);
    /* 4 repeats of 16 texels on 64 pixels: one texel a pixel, mip 0 */
    sampler_state(r, D3DSAMP_MIPFILTER, 1);
    rig_draw(r, 4, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 20), RED);
    sampler_state(r, D3DSAMP_MAXMIPLEVEL, 1);
    rig_draw(r, 4, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 20), GREEN);
    sampler_state(r, D3DSAMP_MAXMIPLEVEL, 0);
    sampler_state(r, D3DSAMP_MIPMAPLODBIAS, abi_f32(2));
    rig_draw(r, 4, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 20), BLUE);
    sampler_state(r, D3DSAMP_MIPFILTER, 0);
    rig_draw(r, 4, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 20), RED);
}

RIG_TEST(srgb_textures_and_targets)
{
    struct rig *r = rig_of(state);
    const uint8_t grey[4] = {188, 188, 188, 255};

    textured(r, "lit_vs_2_0.d3d9", "textured_ps_2_0.d3d9");
    rig_make_target_of(r, 30, AEROGPU_FORMAT_R8G8B8A8_UNORM, 1, 1);
    rig_upload(r, 30, 0, grey, 4);
    rig_use_texture(r, 30);
    sampler_state(r, D3DSAMP_SRGBTEXTURE, 1);
    rig_draw(r, 4, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 20), 0x808080FF);
    render_state(r, D3DRS_SRGBWRITEENABLE, 1);
    rig_draw(r, 4, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 20), 0xBCBCBCFF);
}

/* loop_vs30: o1 = sum of c0..c2 * 0.5 (b1 sets alpha to 1), with integer, boolean and float constants. */
RIG_TEST(integer_and_boolean_constants)
{
    struct rig *r = rig_of(state);
    static const struct decl d[] = {{0, 0, FLOAT4, 0, POSITION, 0}, {0, 16, FLOAT4, 0, COLOR, 0}, DECL_END};
    const struct rig_vertex v[] = {V(-1, -1, 0, 0), V(-1, 3, 0, 0), V(3, -1, 0, 0)};
    const float c[4][4] = {{0.8f, 0.8f, 0.8f, 0}, {0.4f, 0, 0, 0}, {0.4f, 0.8f, 0, 0}, {0, 0, 0.4f, 0}};
    const uint32_t b[4] = {1, 1, 1, 1}, off[4] = {0};

    rig_make_target(r);
    rig_make_shader(r, 10, AEROGPU_SHADER_STAGE_VERTEX, 0, "loop_vs30.d3d9");
    rig_make_shader(r, 11, AEROGPU_SHADER_STAGE_PIXEL, 0, "sides_ps_3_0.d3d9");
    rig_make_shader(r, 13, AEROGPU_SHADER_STAGE_PIXEL, 0, "targets_ps_3_0.d3d9");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 13);
    declare(r, 12, d, 3);
    rig_make_buffer(r, 1, v, sizeof(v));
    rig_bind_vb(r, 0, 1, sizeof(v[0]), 0);
    constants(r, 0, 0, c[0], 4);
    ABI_EMIT_TAIL(&r->b, SET_SHADER_CONSTANTS_B, set_shader_constants_b, b, 16, .stage = 0,
                  .start_register = 1, .bool_count = 1);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 20) >> 24, 0xCC); /* (0.8 + 0.4 + 0.4) * 0.5 */
    assert_int_equal(rig_pixel(r, 20, 20) & 0xFF, 0xFF);
    ABI_EMIT_TAIL(&r->b, SET_SHADER_CONSTANTS_B, set_shader_constants_b, off, 16, .stage = 0,
                  .start_register = 1, .bool_count = 1);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 20) & 0xFF, 0);
}

/* One word a register, and registers that no shader can name: both as the known producers write them. */
RIG_TEST(boolean_constants_of_four_bytes_and_registers_to_255)
{
    struct rig *r = rig_of(state);
    static const struct decl d[] = {{0, 0, FLOAT4, 0, POSITION, 0}, {0, 16, FLOAT4, 0, COLOR, 0}, DECL_END};
    const struct rig_vertex v[] = {V(-1, -1, 0, 0), V(-1, 3, 0, 0), V(3, -1, 0, 0)};
    const float c[4][4] = {{0.8f, 0.8f, 0.8f, 0}, {0.4f, 0, 0, 0}, {0.4f, 0.8f, 0, 0}, {0, 0, 0.4f, 0}};
    const uint32_t on[2] = {0, 2}, off[2] = {1, 0};
    const int32_t last[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    const struct abi_completion *done;

    rig_make_target(r);
    rig_make_shader(r, 10, AEROGPU_SHADER_STAGE_VERTEX, 0, "loop_vs30.d3d9");
    rig_make_shader(r, 13, AEROGPU_SHADER_STAGE_PIXEL, 0, "targets_ps_3_0.d3d9");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 13);
    declare(r, 12, d, 3);
    rig_make_buffer(r, 1, v, sizeof(v));
    rig_bind_vb(r, 0, 1, sizeof(v[0]), 0);
    constants(r, 0, 0, c[0], 4);
    ABI_EMIT_TAIL(&r->b, SET_SHADER_CONSTANTS_B, set_shader_constants_b, on, 8, .stage = 0, .bool_count = 2);
    ABI_EMIT_TAIL(&r->b, SET_SHADER_CONSTANTS_B, set_shader_constants_b, on, 8, .stage = 0,
                  .start_register = 254, .bool_count = 2);
    ABI_EMIT_TAIL(&r->b, SET_SHADER_CONSTANTS_I, set_shader_constants_i, last, 32, .stage = 0,
                  .start_register = 254, .vec4_count = 2);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 20) & 0xFF, 0xFF);
    ABI_EMIT_TAIL(&r->b, SET_SHADER_CONSTANTS_B, set_shader_constants_b, off, 8, .stage = 0, .bool_count = 2);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 20) & 0xFF, 0);
    ABI_EMIT_TAIL(&r->b, SET_SHADER_CONSTANTS_I, set_shader_constants_i, last, 32, .stage = 0,
                  .start_register = 255, .vec4_count = 2);
    done = rig_run(r);
    assert_int_equal(done->error, AEROGPU_ERROR_CMD_DECODE);
    assert_non_null(strstr(done->message, "register slots 255 + 2, there are 256"));
}

/* The reference driver's fixed-function shaders: parameters without bit 31, the opcode's word in some lengths, nothing
 * declared. v1 is the declaration's second element whatever its usage; an element of type UNUSED is none. */
RIG_TEST(bare_tokens_and_unused_elements)
{
    struct rig *r = rig_of(state);
    static const struct decl d[] = {
        {0, 0, FLOAT4, 0, POSITION, 0}, {0, 4, 17, 0, 0, 0}, {0, 16, FLOAT4, 0, 5, 3}, DECL_END};
    static const uint32_t vs[] = {0xfffe0200, 0x06000051, 0x200f0004, 0x3f800000, 0,          0,
                                  0x3f800000, 0x03000001, 0x400f0000, 0x10e40000, 0x02000001, 0x500f0000,
                                  0x10e40001, 0x03000001, 0x600f0000, 0x20e40004, 0x0000ffff};
    static const uint32_t ps[] = {0xffff0200, 0x04000042, 0x000f0000, 0x30e40000, 0x20e40800,
                                  0x04000005, 0x000f0000, 0x00e40000, 0x10e40000, 0x03000001,
                                  0x000f0800, 0x00e40000, 0x0000ffff};
    const struct rig_vertex v[] = {V(-1, -1, 0, 0xFFFF8000), V(-1, 3, 0, 0xFFFF8000),
                                   V(3, -1, 0, 0xFFFF8000)};
    const uint32_t texel = 0xFFFFFFFF;

    rig_make_target(r);
    ABI_EMIT_TAIL(&r->b, CREATE_SHADER_DXBC, create_shader_dxbc, vs, sizeof(vs), .shader_handle = 10,
                  .stage = AEROGPU_SHADER_STAGE_VERTEX, .dxbc_size_bytes = sizeof(vs));
    ABI_EMIT_TAIL(&r->b, CREATE_SHADER_DXBC, create_shader_dxbc, ps, sizeof(ps), .shader_handle = 11,
                  .stage = AEROGPU_SHADER_STAGE_PIXEL, .dxbc_size_bytes = sizeof(ps));
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 11);
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 14,
             .usage_flags = AEROGPU_RESOURCE_USAGE_TEXTURE, .format = AEROGPU_FORMAT_R8G8B8A8_UNORM,
             .width = 1, .height = 1, .mip_levels = 1, .array_layers = 1);
    ABI_EMIT_TAIL(&r->b, UPLOAD_RESOURCE, upload_resource, &texel, 4, .resource_handle = 14, .size_bytes = 4);
    ABI_EMIT(&r->b, SET_TEXTURE, set_texture, .shader_stage = AEROGPU_SHADER_STAGE_PIXEL, .texture = 14);
    declare(r, 12, d, 4);
    rig_make_buffer(r, 1, v, sizeof(v));
    rig_bind_vb(r, 0, 1, sizeof(v[0]), 0);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 20), 0xFFFF8000);
}

/* def holds for the whole program, also between instructions and behind the first that reads it: that is how drivers put
 * fog behind the texture stages of a fixed-function pipeline. */
RIG_TEST(definitions_hold_wherever_they_stand)
{
    struct rig *r = rig_of(state);
    static const uint32_t ps[] = {0xffff0200, 0x03000002, 0x800f0000, 0xa0e40001, 0xa0e40002, 0x05000051,
                                  0xa00f0001, 0x3f800000, 0,          0,          0x3f800000, 0x05000051,
                                  0xa00f0002, 0,          0,          0x3f800000, 0,          0x02000001,
                                  0x800f0800, 0x80e40000, 0x0000ffff};
    const float green[] = {0, 1, 0, 1};
    const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0, WHITE)};

    rig_make_target(r);
    coloured(r, "colour_ps_2_0.d3d9", v, 6);
    ABI_EMIT_TAIL(&r->b, CREATE_SHADER_DXBC, create_shader_dxbc, ps, sizeof(ps), .shader_handle = 14,
                  .stage = AEROGPU_SHADER_STAGE_PIXEL, .dxbc_size_bytes = sizeof(ps));
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 14);
    constants(r, AEROGPU_SHADER_STAGE_PIXEL, 1, green, 1);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 20), MAGENTA);
}

RIG_TEST(table_fog)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 0, 1, 0.25f, RED), RECT(0, -1, 1, 1, 0.75f, RED)};

    rig_make_target(r);
    coloured(r, "colour_ps_2_0.d3d9", v, 12);
    render_state(r, D3DRS_FOGENABLE, 1);
    render_state(r, D3DRS_FOGTABLEMODE, 3);
    render_state(r, D3DRS_FOGCOLOR, 0x000000FF);
    render_state(r, D3DRS_FOGSTART, abi_f32(0.25f));
    render_state(r, D3DRS_FOGEND, abi_f32(0.75f));
    rig_draw(r, 12, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 10, 10), RED);
    assert_int_equal(rig_pixel(r, 50, 10), BLUE);
}

RIG_TEST(face_and_pixel_position)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0, RED)};
    static const struct decl d[] = {{0, 0, FLOAT4, 0, POSITION, 0}, {0, 16, FLOAT4, 0, COLOR, 0}, DECL_END};

    rig_make_target(r);
    rig_make_shader(r, 10, AEROGPU_SHADER_STAGE_VERTEX, 0, "loop_vs30.d3d9");
    rig_make_shader(r, 11, AEROGPU_SHADER_STAGE_PIXEL, 0, "sides_ps_3_0.d3d9");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 11);
    declare(r, 12, d, 3);
    rig_make_buffer(r, 1, v, sizeof(v));
    rig_bind_vb(r, 0, 1, sizeof(v[0]), 0);
    render_state(r, D3DRS_CULLMODE, 1);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 3, 3),
                     GREEN); /* clockwise is the front: side > 0; even = 0 in the first cell */
    assert_int_equal(rig_pixel(r, 11, 3), RED);
    assert_int_equal(rig_pixel(r, 11, 11), GREEN);
}

/* What nobody bound is black, and less-or-equal is the depth test until the stream says another. */
RIG_TEST(defaults_of_direct3d_9)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0.5f, RED), RECT(-1, 0, 0.5f, 1, 0.5f, GREEN),
                                   RECT(0, -1, 1, 1, 0.75f, BLUE)};

    textured(r, "lit_vs_2_0.d3d9", "textured_ps_2_0.d3d9");
    rig_clear(r, 1, WHITE, 0, 0);
    rig_draw(r, 4, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 40), BLACK);
    rig_each(state);
    rig_make_target(r);
    rig_make_target_of(r, DEPTH, AEROGPU_FORMAT_D32_FLOAT, 64, 64);
    rig_set_target(r, TARGET, DEPTH);
    rig_clear(r, 2, 0, 1, 0);
    coloured(r, "colour_ps_2_0.d3d9", v, 18);
    rig_draw(r, 18, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 47, 31), GREEN);
    assert_int_equal(rig_pixel(r, 48, 31), RED);
    assert_int_equal(rig_pixel(r, 47, 32), RED);
}

/* Faces in the order +x -x +y -y +z -z, each seen as Direct3D sees it; texel 0 of each is white. */
RIG_TEST(cube_textures)
{
    struct rig *r = rig_of(state);
    static const uint32_t faces[6] = {0xFF0000FF, 0xFF00FF00, 0xFFFF0000,
                                      0xFF00FFFF, 0xFFFF00FF, 0xFFFFFF00}; /* ABGR */
    static const uint32_t rgba[6] = {0xFF0000FF, 0x00FF00FF, 0x0000FFFF, 0xFFFF00FF, 0xFF00FFFF, 0x00FFFFFF};
    /* the direction of the middle of texel 0 of each face, and of texel 3 */
    static const float first[6][3] = {{1, 0.5f, 0.5f},   {-1, 0.5f, -0.5f}, {-0.5f, 1, -0.5f},
                                      {-0.5f, -1, 0.5f}, {-0.5f, 0.5f, 1},  {0.5f, 0.5f, -1}};
    static const float last[6][3] = {{1, -0.5f, -0.5f}, {-1, -0.5f, 0.5f}, {0.5f, 1, 0.5f},
                                     {0.5f, -1, -0.5f}, {0.5f, -0.5f, 1},  {-0.5f, -0.5f, -1}};
    struct rig_vertex v[6 * 2 * 6];
    uint32_t texels[24];

    for (int i = 0; i < 24; i++)
        texels[i] = i % 4 ? faces[i / 4] : 0xFFFFFFFF;
    for (int i = 0; i < 12; i++) { /* a column for each face, above and below */
        const float *d = i < 6 ? first[i] : last[i - 6], x = -1 + (float)(i % 6) / 3, y = i < 6 ? 0 : -1;
        const struct rig_vertex quad[] = {RECT(x, y, x + 1.0f / 3, y + 1, 0, 0)};
        for (int k = 0; k < 6; k++) {
            v[6 * i + k] = quad[k];
            v[6 * i + k].r = d[0] / 2 + 0.5f;
            v[6 * i + k].g = d[1] / 2 + 0.5f;
            v[6 * i + k].b = d[2] / 2 + 0.5f;
        }
    }
    rig_scanout(r, 60, 60);
    rig_make_target_of(r, TARGET, AEROGPU_FORMAT_R8G8B8A8_UNORM, 60, 60);
    rig_set_target(r, TARGET, 0);
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 30, .usage_flags = 8,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .width = 2, .height = 2, .mip_levels = 1,
             .array_layers = 6);
    rig_upload(r, 30, 0, texels, sizeof(texels));
    rig_use_texture(r, 30);
    coloured(r, "cube_ps20.d3d9", v, 72);
    rig_draw(r, 72, 0);
    rig_present(r);
    rig_run_ok(r);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(rig_pixel(r, 10 * i + 4, 12), WHITE);
        assert_int_equal(rig_pixel(r, 10 * i + 4, 47), rgba[i]);
    }
}

/* Sampler 0 of the vertex shader and sampler 0 of the pixel shader are two. */
RIG_TEST(vertex_textures)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {V(-1, -1, 0, 0x40C000FF), V(-1, 3, 0, 0x40C000FF),
                                   V(3, -1, 0, 0x40C000FF)};
    const uint32_t texels[4] = {0xFF000001, 0xFF000002, 0xFF400003, 0xFF000004}, blue = 0x00003000; /* ABGR */

    rig_make_target(r);
    rig_make_target_of(r, 30, AEROGPU_FORMAT_R8G8B8A8_UNORM, 2, 2);
    rig_upload(r, 30, 0, texels, sizeof(texels));
    rig_make_target_of(r, 31, AEROGPU_FORMAT_R8G8B8A8_UNORM, 1, 1);
    rig_upload(r, 31, 0, &blue, 4);
    ABI_EMIT(&r->b, SET_TEXTURE, set_texture, .shader_stage = AEROGPU_SHADER_STAGE_VERTEX, .texture = 30);
    rig_use_texture(r, 31);
    coloured(r, "fetch_ps30.d3d9", v, 3);
    rig_make_shader(r, 20, AEROGPU_SHADER_STAGE_VERTEX, 0, "fetch_vs30.d3d9");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 20, .ps = 11);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 40), 0x033040FF); /* the lower left texel, and the blue one */
}

/* Clockwise faces on the left count by the first set of operations, the others by the CCW set while there are two sides. */
RIG_TEST(two_sided_stencil)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {
        V(-1, -1, 0, RED),  V(-1, 1, 0, RED),  V(0, 1, 0, RED), /* clockwise */
        V(1, -1, 0, RED),   V(1, 1, 0, RED),   V(0, 1, 0, RED), /* counter-clockwise */
        V(-1, -1, 0, BLUE), V(-1, 3, 0, BLUE), V(3, -1, 0, BLUE)};
    /* two sides or one, the reference, and what of both passes then */
    const struct {
        uint32_t two, ref;
        bool left, right, middle;
    } cases[] = {{1, 6, true, false, false},
                 {1, 4, false, true, false},
                 {0, 6, true, true, false},
                 {1, 5, false, false, true}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        rig_each(state);
        rig_make_target(r);
        rig_make_target_of(r, DEPTH, AEROGPU_FORMAT_D24_UNORM_S8_UINT, 64, 64);
        rig_set_target(r, TARGET, DEPTH);
        rig_clear(r, 7, BLACK, 1, 5);
        coloured(r, "colour_ps_2_0.d3d9", v, 9);
        render_state(r, D3DRS_CULLMODE, 1);
        render_state(r, D3DRS_ZFUNC, 8);
        render_state(r, D3DRS_STENCILENABLE, 1);
        render_state(r, D3DRS_TWOSIDEDSTENCILMODE, cases[i].two);
        render_state(r, D3DRS_STENCILPASS, 7);     /* up */
        render_state(r, D3DRS_CCW_STENCILPASS, 8); /* down */
        rig_draw(r, 6, 0);
        render_state(r, D3DRS_TWOSIDEDSTENCILMODE, 0);
        render_state(r, D3DRS_STENCILPASS, 1);
        render_state(r, D3DRS_STENCILFUNC, 3); /* equal */
        render_state(r, D3DRS_STENCILREF, cases[i].ref);
        rig_draw(r, 3, 6);
        rig_present(r);
        rig_run_ok(r);
        assert_int_equal(rig_pixel(r, 4, 20), cases[i].left ? BLUE : RED);
        assert_int_equal(rig_pixel(r, 59, 20), cases[i].right ? BLUE : RED);
        assert_int_equal(rig_pixel(r, 32, 60), cases[i].middle ? BLUE : BLACK);
    }
}

static bool near(uint32_t a, uint32_t b)
{
    for (int shift = 0; shift < 32; shift += 8)
        if (abs((int)(a >> shift & 255) - (int)(b >> shift & 255)) > 1)
            return false;
    return true;
}

/* Colour by SRCBLEND and DESTBLEND; alpha too, unless it has its own: ZERO and ONE here. */
RIG_TEST(blending_by_render_states)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, 0, 0.5f, 1, 0, 0xFF008040)};
    const struct {
        uint32_t src, dst, op, separate, want;
    } cases[] = {{5, 6, 1, 0, 0x40309E58},   /* SRCALPHA, INVSRCALPHA */
                 {5, 6, 1, 1, 0x40309E60},   /* and alpha by itself */
                 {12, 2, 1, 0, 0x40309E58},  /* BOTHSRCALPHA names both */
                 {9, 1, 1, 0, 0x00005418},   /* DESTCOLOR, ZERO */
                 {4, 3, 1, 0, 0x00009448},   /* INVSRCCOLOR, SRCCOLOR */
                 {2, 2, 3, 0, 0x00402820},   /* what is there less what comes */
                 {2, 2, 5, 0, 0xFF40A860},   /* the larger */
                 {14, 15, 1, 0, 0x2010945E}, /* BLENDFACTOR and its opposite */
                 {11, 2, 1, 0, 0x4040C8A0}}; /* SRCALPHASAT, ONE */

    rig_make_target(r);
    coloured(r, "colour_ps_2_0.d3d9", v, 6);
    render_state(r, D3DRS_ALPHABLENDENABLE, 1);
    render_state(r, D3DRS_SRCBLENDALPHA, 1);
    render_state(r, D3DRS_DESTBLENDALPHA, 2);
    render_state(r, D3DRS_BLENDFACTOR, 0x1020C080);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        render_state(r, D3DRS_SRCBLEND, cases[i].src);
        render_state(r, D3DRS_DESTBLEND, cases[i].dst);
        render_state(r, D3DRS_BLENDOP, cases[i].op);
        render_state(r, D3DRS_SEPARATEALPHABLENDENABLE, cases[i].separate);
        rig_clear(r, 1, 0x0040A860, 0, 0);
        rig_draw(r, 6, 0);
        rig_present(r);
        rig_run_ok(r);
        if (!near(rig_pixel(r, 47, 31), cases[i].want))
            fail_msg("case %zu: %08x, not %08x", i, rig_pixel(r, 47, 31), cases[i].want);
        assert_int_equal(rig_pixel(r, 48, 32), 0x0040A860);
    }
}

/* A target without alpha blends as if it were one, whatever is in its place. */
RIG_TEST(opaque_targets_blend_as_opaque)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, 0, 0.5f, 1, 0, 0xFF008040)};
    const uint32_t factors[][3] = {/* source, destination, what comes out of 0x0040A8 and 0xFF0080 */
                                   {7, 1, 0xFF0080FF},
                                   {8, 2, 0x0040A8FF},
                                   {11, 2, 0x0040A8FF},
                                   {1, 7, 0x0040A8FF}};
    uint8_t texels[64 * 64 * 4];

    for (int i = 0; i < 64 * 64; i++)
        memcpy(texels + 4 * i, (const uint8_t[]){0xA8, 0x40, 0x00, 0x00}, 4);
    for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
        rig_each(state);
        rig_make_target_of(r, TARGET, AEROGPU_FORMAT_B8G8R8X8_UNORM, 64, 64);
        rig_set_target(r, TARGET, 0);
        rig_upload(r, TARGET, 0, texels, sizeof(texels));
        coloured(r, "colour_ps_2_0.d3d9", v, 6);
        render_state(r, D3DRS_ALPHABLENDENABLE, 1);
        render_state(r, D3DRS_SRCBLEND, factors[i][0]);
        render_state(r, D3DRS_DESTBLEND, factors[i][1]);
        rig_draw(r, 6, 0);
        rig_present(r);
        rig_run_ok(r);
        assert_int_equal(rig_pixel(r, 47, 31), factors[i][2]);
        assert_int_equal(rig_pixel(r, 48, 32), 0x0040A8FF);
    }
}

/* Types of vertex elements, as a colour. */
RIG_TEST(vertex_element_types)
{
    struct rig *r = rig_of(state);
    const struct {
        uint8_t type, bytes[16];
        uint32_t want;
    } cases[] = {
        {5, {1, 0, 1, 1}, 0xFF00FFFF},                                      /* UBYTE4 */
        {6, {1, 0, 0, 0}, 0xFF0000FF},                                      /* SHORT2: z 0, w 1 */
        {7, {0, 0, 1, 0, 0, 0, 1, 0}, 0x00FF00FF},                          /* SHORT4 */
        {8, {0x33, 0x66, 0x99, 0xCC}, 0x336699CC},                          /* UBYTE4N */
        {9, {0xFF, 0x7F, 0, 0}, 0xFF0000FF},                                /* SHORT2N */
        {10, {0, 0, 0xFF, 0x7F, 0x33, 0x33, 0x66, 0x66}, 0x00FF66CC},       /* SHORT4N */
        {11, {0x33, 0x33, 0x99, 0x99}, 0x339900FF},                         /* USHORT2N */
        {12, {0x33, 0x33, 0x66, 0x66, 0x99, 0x99, 0xCC, 0xCC}, 0x336699CC}, /* USHORT4N */
        {15, {0, 0x3C, 0, 0x34}, 0xFF4000FF},                               /* FLOAT16_2: 1, 0.25 */
        {16, {0, 0, 0, 0x3C, 0, 0x34, 0, 0x3C}, 0x00FF40FF},                /* FLOAT16_4 */
        {0, {0, 0, 0x80, 0x3F}, 0xFF0000FF},                                /* FLOAT1 */
    };
    const float at[3][4] = {{-1, -1, 0, 1}, {-1, 3, 0, 1}, {3, -1, 0, 1}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct decl d[] = {
            {0, 0, FLOAT4, 0, POSITION, 0}, {1, 0, cases[i].type, 0, COLOR, 0}, DECL_END};
        rig_each(state);
        rig_make_target(r);
        rig_make_shader(r, 10, AEROGPU_SHADER_STAGE_VERTEX, 0, "colour_vs_2_0.d3d9");
        rig_make_shader(r, 11, AEROGPU_SHADER_STAGE_PIXEL, 0, "colour_ps_2_0.d3d9");
        ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 11);
        declare(r, 12, d, 3);
        rig_make_buffer(r, 1, at, sizeof(at));
        rig_make_buffer(r, 2, cases[i].bytes, 16);
        rig_bind_vb(r, 0, 1, 16, 0);
        rig_bind_vb(r, 1, 2, 0, 0);
        rig_draw(r, 3, 0);
        rig_present(r);
        rig_run_ok(r);
        if (rig_pixel(r, 20, 40) != cases[i].want)
            fail_msg("type %u: %08x, not %08x", cases[i].type, rig_pixel(r, 20, 40), cases[i].want);
    }
}

static void d3d9_values(struct rig *r, uint32_t first, const float *v, uint32_t n)
{
    ABI_EMIT_TAIL(&r->b, EXT_SET_D3D9_VALUES, ext_set_d3d9_values, v, n * 16, .first = first,
                  .vec4_count = n);
}

/* What is behind an enabled plane is cut away; one that is not enabled cuts nothing. */
RIG_TEST(clip_planes)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0, RED)};
    const float planes[2][4] = {{1, 0, 0, 0}, {0, 1, 0, 0.5f}};

    rig_make_target(r);
    coloured(r, "colour_ps_2_0.d3d9", v, 6);
    d3d9_values(r, AEROGPU_D3D9_ROW_CLIP, planes[0], 2);
    render_state(r, D3DRS_CLIPPLANEENABLE, 1);
    rig_clear(r, 1, BLUE, 0, 0);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 60), BLUE);
    assert_int_equal(rig_pixel(r, 40, 60), RED);
    render_state(r, D3DRS_CLIPPLANEENABLE, 2);
    rig_clear(r, 1, BLUE, 0, 0);
    rig_draw(r, 6, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 60), BLUE);
    assert_int_equal(rig_pixel(r, 20, 40), RED);
    d3d9_values(r, AEROGPU_D3D9_ROWS, planes[0], 1);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "row slots 29 + 1, there are 29");
}

/* Positions are moved as far as w says, and planes cut where they were before. */
RIG_TEST(moved_positions)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, -1, 0, 1, 0, RED)};
    const float plane[4] = {-1, 0, 0, -0.5f}, by[4] = {0.5f, 0, 0, 0}; /* nothing is right of -0.5 */

    rig_make_target(r);
    coloured(r, "colour_ps_2_0.d3d9", v, 6);
    d3d9_values(r, AEROGPU_D3D9_ROW_CENTRE, by, 1);
    d3d9_values(r, AEROGPU_D3D9_ROW_CLIP, plane, 1);
    for (uint32_t planes = 0; planes < 2; planes++) {
        render_state(r, D3DRS_CLIPPLANEENABLE, planes);
        rig_clear(r, 1, BLUE, 0, 0);
        rig_draw(r, 6, 0);
        rig_present(r);
        rig_run_ok(r);
        assert_int_equal(rig_pixel(r, 12, 40), BLUE);
        assert_int_equal(rig_pixel(r, 20, 40), RED);
        assert_int_equal(rig_pixel(r, 44, 40), planes ? BLUE : RED);
        assert_int_equal(rig_pixel(r, 52, 40), BLUE);
    }
}

/* Positions of each vertex, colours of each instance, or of two. */
RIG_TEST(streams_of_instances)
{
    struct rig *r = rig_of(state);
    static const struct decl d[] = {{0, 0, FLOAT2, 0, POSITION, 0}, {1, 0, D3DCOLOR, 0, COLOR, 0}, DECL_END};
    const float triangle[6] = {-1, -1, -1, 3, 3, -1}, none[4] = {0},
                rate[2][4] = {{0, 1, 0, 0}, {0, 2, 0, 0}};
    const uint32_t colours[2] = {0xFFFF0000, 0xFF00FF00};

    rig_make_target(r);
    rig_make_shader(r, 10, AEROGPU_SHADER_STAGE_VERTEX, 0, "colour_vs_2_0.d3d9");
    rig_make_shader(r, 11, AEROGPU_SHADER_STAGE_PIXEL, 0, "colour_ps_2_0.d3d9");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 11);
    declare(r, 12, d, 3);
    rig_make_buffer(r, 1, triangle, sizeof(triangle));
    rig_make_buffer(r, 2, colours, sizeof(colours));
    rig_bind_vb(r, 0, 1, 8, 0);
    rig_bind_vb(r, 1, 2, 4, 0);
    for (int i = 0; i < 2; i++) {
        d3d9_values(r, AEROGPU_D3D9_ROW_INSTANCES, rate[i], 1);
        ABI_EMIT(&r->b, DRAW, draw, .vertex_count = 3, .instance_count = 2);
        rig_present(r);
        rig_run_ok(r);
        assert_int_equal(rig_pixel(r, 20, 40), i ? RED : GREEN); /* the last instance is what is seen */
    }
    d3d9_values(r, AEROGPU_D3D9_ROW_INSTANCES, none, 1);
    rig_bind_vb(r, 1, 2, 0, 4);
    rig_draw(r, 3, 0);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 20, 40), GREEN);
}

RIG_TEST(malformed_declarations)
{
    struct rig *r = rig_of(state);
    static const struct decl open[] = {{0, 0, FLOAT4, 0, POSITION, 0}};
    static const struct decl wrong[] = {{0, 0, 40, 0, POSITION, 0}, DECL_END};
    const uint32_t ilay[4] = {AEROGPU_INPUT_LAYOUT_BLOB_MAGIC, 1, 5, 0};
    const uint32_t version[4] = {AEROGPU_INPUT_LAYOUT_BLOB_MAGIC, 2, 0, 0};

    declare(r, 12, open, 1);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE,
                     "input layout 12: vertex declaration has no end element in 8 bytes");
    declare(r, 12, wrong, 2);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "element 0: stream 0 offset 0 type 40");
    declare(r, 12, (const struct decl *)(const void *)ilay, 2);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "ILAY element_count 5 does not fit 16 bytes");
    declare(r, 12, (const struct decl *)(const void *)version, 2);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "ILAY version 2");
}

TEST_GROUP(rig_group_setup, rig_group_teardown);
