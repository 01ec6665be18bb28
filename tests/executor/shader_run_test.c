/* SPDX-License-Identifier: MIT */
/* What translated shaders compute, on the first Vulkan device. */
#include <math.h>
#include "test.h"

#include "abi/d3d9_program.h"
#include "shader_files.h"
#include "shader_rig.h"

static struct rig *rig;

/* A triangle over the whole target, clockwise on the screen: position, then the same second attribute everywhere. */
static void cover(float v[3][2][4], const float attribute[4])
{
    static const float at[3][4] = {{-1, -1, 0.5f, 1}, {-1, 3, 0.5f, 1}, {3, -1, 0.5f, 1}};

    for (int k = 0; k < 3; k++) {
        memcpy(v[k][0], at[k], sizeof(at[k]));
        memcpy(v[k][1], attribute, sizeof(at[k]));
    }
}

static struct shader *make(enum exec_stage stage, const void *bytes, size_t size)
{
    struct shader *s = NULL;
    struct error e = {0};

    if (shader_create(&s, stage, bytes, size, NULL, &e))
        fail_msg("%s", e.text);
    return s;
}

static struct shader *sample(const char *name)
{
    static uint8_t bytes[65536];
    size_t n = read_sample(name, bytes, sizeof(bytes));

    if (!n)
        fail_msg("%s is missing", name);
    return make(sample_stage(name), bytes, n);
}

static struct rig_draw *new_draw(const char *vs, const char *ps)
{
    struct rig_draw *d = calloc(1, sizeof(*d));

    if (!rig) {
        free(d);
        print_message("no Vulkan device\n");
        skip();
    }
    assert_non_null(d);
    d->topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    d->vertex_count = 3;
    d->attribute_count = 2;
    d->stages[EXEC_VS] = vs ? sample(vs) : NULL;
    d->stages[EXEC_PS] = ps ? sample(ps) : NULL;
    return d;
}

static void run(struct rig_draw *d)
{
    struct error e = {0};

    if (rig_draw(rig, d, &e))
        fail_msg("%s", e.text);
}

static void end(struct rig_draw *d)
{
    for (int s = 0; s < EXEC_STAGE_COUNT; s++)
        shader_unref((struct shader *)d->stages[s]);
    free(d);
}

#define assert_pixel(d, target, x, y, ...)                                                                   \
    check_pixel(d, target, x, y, (const float[4]){__VA_ARGS__}, __LINE__)
static void check_pixel(const struct rig_draw *d, int target, int x, int y, const float want[4], int line)
{
    const float *p = d->pixels[target][y][x];

    for (int k = 0; k < 4; k++)
        if (!(fabsf(p[k] - want[k]) < 2e-3f))
            fail_msg("line %d: target %d pixel (%d, %d) is {%g, %g, %g, %g}, not {%g, %g, %g, %g}", line,
                     target, x, y, (double)p[0], (double)p[1], (double)p[2], (double)p[3], (double)want[0],
                     (double)want[1], (double)want[2], (double)want[3]);
}

TEST(test_dxbc_constant_buffer)
{
    static const float scale_offset[4] = {0.25f, 0.25f, -0.5f, 0.5f}; /* into the upper left quarter */
    float v[3][2][4];
    struct rig_draw *d = new_draw("scaled_vs.dxbc", "colour_ps.dxbc");

    cover(v, (const float[4]){1, 0.5f, 0, 1});
    d->vertices = &v[0][0][0];
    d->buffers[0] = scale_offset;
    d->buffer_sizes[0] = sizeof(scale_offset);
    run(d);
    assert_pixel(d, 0, 3, 5, 1, 0.5f, 0, 1);
    assert_pixel(d, 0, 12, 4, 0.25f, 0.25f, 0.25f, 0.25f);
    assert_pixel(d, 0, 3, 12, 0.25f, 0.25f, 0.25f, 0.25f);
    end(d);
}

TEST(test_dxbc_texture)
{
    struct rig_draw *d = new_draw("fullscreen_vs.dxbc", "texture_ps.dxbc");

    d->attribute_count = 0;
    run(d);
    assert_pixel(d, 0, 1, 1, 0, 0, 0, 1);
    assert_pixel(d, 0, 13, 1, 0.75f, 0, 0, 1);
    assert_pixel(d, 0, 1, 13, 0, 0.75f, 0, 1);
    end(d);
    d = new_draw("fullscreen_vs.dxbc", "texture_level_ps.dxbc");
    d->attribute_count = 0;
    run(d);
    assert_pixel(d, 0, 13, 1, 0.25f, 0, 1, 1);
    end(d);
}

TEST(test_dxbc_targets)
{
    float v[3][2][4];
    struct rig_draw *d = new_draw("colour_vs.dxbc", "clip_ps.dxbc");

    cover(v, (const float[4]){1, 0.5f, 0, 0.25f});
    d->vertices = &v[0][0][0];
    run(d);
    assert_pixel(d, 0, 8, 8, 0.25f, 0.25f, 0.25f, 0.25f); /* clipped */
    shader_unref((struct shader *)d->stages[EXEC_PS]);
    d->stages[EXEC_PS] = sample("targets_ps.dxbc");
    run(d);
    assert_pixel(d, 0, 8, 8, 1, 0.5f, 0, 0.25f);
    assert_pixel(d, 1, 8, 8, 0.5f, 0, 1, 1);
    end(d);
}

TEST(test_geometry)
{
    /* corners of a small triangle, each becomes a square of an eighth of the target */
    float v[3][2][4] = {{{-0.5f, 0.5f, 0, 1}, {1, 0, 0, 1}},
                        {{0.5f, 0.5f, 0, 1}, {0, 1, 0, 1}},
                        {{-0.5f, -0.5f, 0, 1}, {0, 0, 1, 1}}};
    struct rig_draw *d = new_draw("colour_vs.dxbc", "colour_ps.dxbc");

    d->stages[EXEC_GS] = sample("quads_gs.dxbc");
    d->vertices = &v[0][0][0];
    run(d);
    assert_pixel(d, 0, 3, 3, 1, 0, 0, 1);
    assert_pixel(d, 0, 12, 4, 0, 1, 0, 1);
    assert_pixel(d, 0, 4, 12, 0, 0, 1, 1);
    assert_pixel(d, 0, 8, 8, 0.25f, 0.25f, 0.25f, 0.25f);
    assert_pixel(d, 0, 12, 12, 0.25f, 0.25f, 0.25f, 0.25f);
    end(d);
}

TEST(test_tessellation)
{
    float v[3][2][4] = {{{-0.5f, -0.5f, 0, 1}, {1, 0, 0, 1}},
                        {{-0.5f, 0.5f, 0, 1}, {0, 1, 0, 1}},
                        {{0.5f, -0.5f, 0, 1}, {0, 0, 1, 1}}};
    struct rig_draw *d = new_draw("control_vs.dxbc", "colour_ps.dxbc");
    float sum = 0;

    d->stages[EXEC_HS] = sample("bulge_hs.dxbc");
    d->stages[EXEC_DS] = sample("bulge_ds.dxbc");
    d->topology = VK_PRIMITIVE_TOPOLOGY_PATCH_LIST;
    d->patch_points = 3;
    d->vertices = &v[0][0][0];
    run(d);
    /* the left and the lower edge bulge outwards, beyond column 4 and row 11 */
    for (int k = 0; k < 3; k++)
        sum += d->pixels[0][12][7][k];
    assert_true(fabsf(sum - 1) < 0.01f);
    assert_true(d->pixels[0][8][3][0] > 0.4f && d->pixels[0][8][3][1] > 0.3f);
    assert_true(d->pixels[0][11][4][0] > 0.6f); /* the corners keep their colours */
    assert_true(d->pixels[0][5][4][1] > 0.6f);
    assert_true(d->pixels[0][11][10][2] > 0.6f);
    assert_pixel(d, 0, 12, 4, 0.25f, 0.25f, 0.25f, 0.25f);
    end(d);
}

TEST(test_compute)
{
    static struct rig_dispatch d;
    static const uint32_t extent[4] = {16, 16, 7, 0};
    struct error e = {0};
    struct shader *s;
    float f[4];
    uint32_t sum = 0;

    if (!rig)
        skip();
    d = (struct rig_dispatch){.groups = {1, 1, 1}, .cb0 = extent, .cb0_size = sizeof(extent)};
    d.shader = s = sample("count_typed_cs.dxbc");
    assert_int_equal(rig_dispatch(rig, &d, &e), 0);
    for (uint32_t k = 0; k < 64; k++)
        assert_int_equal(d.out[k], k * 3 + 7);
    shader_unref(s);
    for (uint32_t k = 0; k < 64; k++)
        sum += d.in[k] = k * k + 1;
    d.shader = s = sample("sum_raw_cs.dxbc");
    assert_int_equal(rig_dispatch(rig, &d, &e), 0);
    assert_int_equal(d.out[0], sum);
    shader_unref(s);
    d.shader = s = sample("ring_structured_cs.dxbc");
    assert_int_equal(rig_dispatch(rig, &d, &e), 0);
    memcpy(f, &d.out[16 * 8 + 0], sizeof(f)); /* particle 16: a quarter of the circle */
    assert_true(fabsf(f[0]) < 1e-3f && fabsf(f[1] - 1) < 1e-3f && f[2] == 0 && f[3] == 1);
    shader_unref(s);
    memcpy(d.in, d.out, sizeof(d.in));
    d.shader = s = sample("swap_structured_cs.dxbc");
    assert_int_equal(rig_dispatch(rig, &d, &e), 0);
    memcpy(f, &d.out[16 * 8], sizeof(f));
    assert_true(fabsf(f[0] - 0.5f) < 1e-3f && fabsf(f[1]) < 1e-3f);
    shader_unref(s);
}

TEST(test_d3d9_matrix_and_texture)
{
    float v[3][3][4];
    struct rig_draw *d = new_draw("transform_vs11.d3d9", "textured_ps_2_0.d3d9");

    for (int k = 0; k < 3; k++) {
        static const float at[3][2] = {{-1, -1}, {-1, 3}, {3, -1}};
        float p[3][4] = {{at[k][0], at[k][1], 0.5f, 1},
                         {0.5f, 0.5f, 0.5f, 1},
                         {(at[k][0] + 1) / 2, (1 - at[k][1]) / 2, 0, 0}};
        memcpy(v[k], p, sizeof(p));
    }
    d->attribute_count = 3;
    d->vertices = &v[0][0][0];
    for (int k = 0; k < 4; k++)
        d->c[0][k][k] = 1;
    d->c[0][0][0] = -1; /* mirrors x */
    for (int k = 0; k < 4; k++)
        d->c[1][0][k] = k == 3 ? 1 : 2;
    run(d);
    assert_pixel(d, 0, 1, 1, 0.75f, 0, 0,
                 1); /* uv (0.9, 0.1): texel {0.75, 0}, halved by the colour, doubled by c0 */
    assert_pixel(d, 0, 13, 13, 0, 0.75f, 0, 1);
    end(d);
}

TEST(test_d3d9_lights)
{
    float v[3][2][4];
    struct rig_draw *d = new_draw("lights_vs20.d3d9", "colour_ps_2_0.d3d9");

    cover(v, (const float[4]){0, 0, 1, 0});
    d->vertices = &v[0][0][0];
    for (int k = 0; k < 4; k++)
        d->c[0][k][k] = 1;
    d->c[0][7][0] = 0.125f; /* ambient */
    d->c[0][8][2] = 0.5f;   /* light 0: n.l 0.5, blue */
    d->c[0][9][2] = 1;
    d->c[0][10][2] = -1; /* light 1: from behind */
    d->c[0][11][0] = 1;
    d->c[0][12][2] = 1; /* light 2: green */
    d->c[0][13][1] = 0.75f;
    d->i[0][0][0] = 3;
    d->b[0][0] = 1;
    run(d);
    assert_pixel(d, 0, 8, 8, 0.125f, 0.75f, 0.5f, 1);
    d->i[0][0][0] = 1;
    run(d);
    assert_pixel(d, 0, 8, 8, 0.125f, 0, 0.5f, 1);
    d->b[0][0] = 0;
    d->c[0][7][2] = 0.5f;
    run(d);
    assert_pixel(d, 0, 8, 8, 0, 0, 0.25f, 1);
    end(d);
}

/* aL, subroutines, predicate, an output that the pixel shader does not read, two targets */
TEST(test_d3d9_flow_vertex)
{
    float v[3][2][4];
    struct rig_draw *d = new_draw("loop_vs30.d3d9", "targets_ps_3_0.d3d9");

    cover(v, (const float[4]){0.25f, 1, 0.5f, 0.75f});
    d->vertices = &v[0][0][0];
    for (int k = 0; k < 3; k++)
        for (int n = 0; n < 4; n++)
            d->c[0][k][n] = 0.125f * (float)(n + 1) / 3;
    run(d);
    /* sum {.125 .25 .375 .5}, plus v1 where above .5, halved */
    assert_pixel(d, 0, 8, 8, 0.0625f, 0.625f, 0.1875f, 0.625f);
    assert_pixel(d, 1, 8, 8, 0.1875f, 0.625f, 0.0625f, 0.625f);
    d->b[0][1] = 1;
    run(d);
    assert_pixel(d, 0, 8, 8, 0.0625f, 0.625f, 0.1875f, 1);
    end(d);
}

/* ps_3_0: rep with a break, nested ifs, texldl, derivatives; linked with a vertex shader that writes texcoord1 */
TEST(test_d3d9_flow_pixel)
{
    float v[3][2][4];
    struct rig_draw *d = new_draw("loop_vs30.d3d9", "branch_ps30.d3d9");
    float x, count;

    cover(v, (const float[4]){0.5f, 0.5f, 0, 0.25f}); /* v1; o2 = v1.yxzw = {.5 .5 0 .25} */
    d->vertices = &v[0][0][0];
    for (int n = 0; n < 4; n++)
        d->c[0][0][n] = 0.5f;
    run(d);
    /* oD0.x: (.5) * .5 = .25 (v1 not above .5); rounds until r1.x > .25: 8 adds of 1/32 */
    x = 0.25f;
    count = floorf(x * 32);
    assert_pixel(d, 0, 8, 8, count / 32, count / 32, count / 32, 1);
    end(d);
}

TEST(test_d3d9_shader_model_1)
{
    float v[3][3][4];
    struct rig_draw *d = new_draw("transform_vs11.d3d9", "modulate_ps11.d3d9");

    for (int k = 0; k < 3; k++) {
        static const float at[3][2] = {{-1, -1}, {-1, 3}, {3, -1}};
        float p[3][4] = {{at[k][0], at[k][1], 0.5f, 1}, {0.25f, 0.5f, 1, 1}, {0.9f, 0.3f, 0, 1}};
        memcpy(v[k], p, sizeof(p));
    }
    d->attribute_count = 3;
    d->vertices = &v[0][0][0];
    for (int k = 0; k < 4; k++)
        d->c[0][k][k] = 1;
    run(d);
    assert_pixel(d, 0, 8, 8, 2 * 0.75f * 0.25f, 2 * 0.25f * 0.5f, 0, 1); /* mul_x2, +mul alpha */
    shader_unref((struct shader *)d->stages[EXEC_PS]);
    d->stages[EXEC_PS] = sample("crossfade_ps14.d3d9");
    run(d);
    /* lrp by {.25 .5 .75} between the texel {.75 .25 0} and the colour {.25 .5 1} */
    assert_pixel(d, 0, 8, 8, 0.375f, 0.375f, 0.25f, 1);
    end(d);
}

TEST(test_d3d9_kill)
{
    float v[3][3][4];
    struct rig_draw *d = new_draw("transform_vs11.d3d9", "clip_ps20.d3d9");

    for (int k = 0; k < 3; k++) {
        static const float at[3][2] = {{-1, -1}, {-1, 3}, {3, -1}};
        float p[3][4] = {
            {at[k][0], at[k][1], 0.5f, 1}, {1, 1, 1, 1}, {(at[k][0] + 1) / 2, (1 - at[k][1]) / 2, 0, 0}};
        memcpy(v[k], p, sizeof(p));
    }
    d->attribute_count = 3;
    d->vertices = &v[0][0][0];
    for (int k = 0; k < 4; k++)
        d->c[0][k][k] = 1;
    run(d);
    /* texkill of texel - 0.5 in all four components: level 0 has z = 0, so everything goes */
    for (int y = 0; y < RIG_SIZE; y++)
        for (int x = 0; x < RIG_SIZE; x++)
            assert_pixel(d, 0, x, y, 0.25f, 0.25f, 0.25f, 0.25f);
    end(d);
}

TEST(test_d3d9_alpha_test)
{
    /* which of alpha 0.25, 0.5, 0.75 pass against 0.5, by function 1..8 */
    static const uint8_t passes[9] = {0, 0, 1, 2, 3, 4, 5, 6, 7};
    float v[3][2][4];

    for (uint8_t func = 1; func <= 8; func++)
        for (int a = 0; a < 3; a++) {
            struct rig_draw *d = new_draw("colour_vs_2_0.d3d9", "colour_ps_2_0.d3d9");
            float alpha = 0.25f * (float)(a + 1);
            cover(v, (const float[4]){1, 0, 0, alpha});
            d->vertices = &v[0][0][0];
            d->variant.alpha_func = func;
            d->params[1].alpha_ref = 0.5f;
            run(d);
            if (passes[func] >> a & 1)
                assert_pixel(d, 0, 8, 8, 1, 0, 0, alpha);
            else
                assert_pixel(d, 0, 8, 8, 0.25f, 0.25f, 0.25f, 0.25f);
            end(d);
        }
}

TEST(test_d3d9_fog)
{
    static const struct {
        uint8_t mode;
        float factor;
    } cases[] = {{SHADER_FOG_LINEAR, 0.75f}, {SHADER_FOG_EXP, 0.367879f}, {SHADER_FOG_EXP2, 0.367879f}};
    float v[3][2][4];

    cover(v, (const float[4]){1, 0, 0, 0.5f});
    for (int k = 0; k < 3; k++) {
        struct rig_draw *d = new_draw("colour_vs_2_0.d3d9", "colour_ps_2_0.d3d9");
        float f = cases[k].factor;
        d->vertices = &v[0][0][0];
        d->variant.fog = cases[k].mode;
        d->params[1] = (struct shader_d3d9_params){
            .fog_color = {0, 0, 1, 0}, .fog_start = 0.25f, .fog_end = 1.25f, .fog_density = 2};
        run(d); /* z is 0.5 */
        assert_pixel(d, 0, 8, 8, f, 0, 1 - f, 0.5f);
        end(d);
    }
    struct rig_draw *d = new_draw("points_vs20.d3d9", "colour_ps_2_0.d3d9");
    d->vertices = &v[0][0][0];
    d->variant.fog = SHADER_FOG_VERTEX;
    d->params[1].fog_color[1] = 1;
    d->c[0][0][1] = 0.25f; /* oFog = c0.y */
    run(d);
    assert_pixel(d, 0, 8, 8, 0.25f, 0.75f, 0, 0.5f);
    end(d);
}

TEST(test_d3d9_points)
{
    float v[1][2][4] = {{{-0.5f, 0.5f, 0, 1}, {1, 0, 0, 1}}};
    struct rig_draw *d = new_draw("points_vs20.d3d9", "colour_ps_2_0.d3d9");

    d->topology = VK_PRIMITIVE_TOPOLOGY_POINT_LIST;
    d->vertex_count = 1;
    d->vertices = &v[0][0][0];
    d->variant.points = true;
    d->params[0].point_size_max = 64;
    d->c[0][0][0] = 4; /* oPts = c0.x: pixels 2..5 of both axes */
    run(d);
    assert_pixel(d, 0, 3, 3, 1, 0, 0, 1);
    assert_pixel(d, 0, 5, 5, 1, 0, 0, 1);
    assert_pixel(d, 0, 7, 4, 0.25f, 0.25f, 0.25f, 0.25f);
    d->params[0].point_size_max = 1;
    run(d);
    assert_pixel(d, 0, 5, 5, 0.25f, 0.25f, 0.25f, 0.25f);
    end(d);
    d = new_draw("colour_vs_2_0.d3d9", "colour_ps_2_0.d3d9"); /* the render state's size */
    d->topology = VK_PRIMITIVE_TOPOLOGY_POINT_LIST;
    d->vertex_count = 1;
    d->vertices = &v[0][0][0];
    d->variant.points = true;
    d->params[0].point_size = 4;
    d->params[0].point_size_max = 64;
    run(d);
    assert_pixel(d, 0, 5, 5, 1, 0, 0, 1);
    end(d);
}

TEST(test_d3d9_flat)
{
    float v[3][2][4];
    struct rig_draw *d = new_draw("colour_vs_2_0.d3d9", "colour_ps_2_0.d3d9");

    cover(v, (const float[4]){0, 1, 0, 1});
    v[0][1][0] = 1; /* the first vertex is yellow, and provoking */
    d->vertices = &v[0][0][0];
    run(d);
    assert_true(d->pixels[0][1][14][0] < 0.5f);
    d->variant.flat = true;
    run(d);
    assert_pixel(d, 0, 14, 1, 1, 1, 0, 1);
    end(d);
}

TEST(test_d3d9_face_and_position)
{
    float v[3][2][4];
    struct rig_draw *d = new_draw("colour_vs_2_0.d3d9", "sides_ps_3_0.d3d9");

    cover(v, (const float[4]){0, 0, 0, 0});
    d->vertices = &v[0][0][0];
    run(d); /* clockwise: front; cells of 8 pixels */
    assert_pixel(d, 0, 7, 7, 0, 1, 0, 1);
    assert_pixel(d, 0, 8, 7, 1, 0, 0, 1);
    assert_pixel(d, 0, 7, 8, 1, 0, 0, 1);
    assert_pixel(d, 0, 8, 8, 0, 1, 0, 1);
    for (int k = 0; k < 4; k++) {
        float t = v[1][0][k];
        v[1][0][k] = v[2][0][k];
        v[2][0][k] = t;
    }
    run(d);
    assert_pixel(d, 0, 8, 7, 0, 1, 1, 1);
    end(d);
}

/* Two usages in one register on either side, gathered by mask. */
TEST(test_d3d9_packed_varyings)
{
    /* clang-format off */
    static const uint32_t vs[] = {
        0xfffe0300, T_OP(31, 2), T_DCL(D3D9_USAGE_POSITION, 0), T_DST(D3D9_INPUT, 0, 15),
        T_OP(31, 2), T_DCL(D3D9_USAGE_COLOR, 0), T_DST(D3D9_INPUT, 1, 15),
        T_OP(31, 2), T_DCL(D3D9_USAGE_POSITION, 0), T_DST(D3D9_OUTPUT, 4, 15),
        T_OP(31, 2), T_DCL(D3D9_USAGE_TEXCOORD, 3), T_DST(D3D9_OUTPUT, 0, 3),
        T_OP(31, 2), T_DCL(D3D9_USAGE_TEXCOORD, 5), T_DST(D3D9_OUTPUT, 0, 12),
        T_OP(31, 2), T_DCL(D3D9_USAGE_NORMAL, 1), T_DST(D3D9_OUTPUT, 7, 15),
        T_OP(1, 2), T_DST(D3D9_OUTPUT, 4, 15), T_SRC(D3D9_INPUT, 0),
        T_OP(1, 2), T_DST(D3D9_OUTPUT, 0, 15), T_SRC(D3D9_INPUT, 1),
        T_OP(1, 2), T_DST(D3D9_OUTPUT, 7, 15), T_SWZ(D3D9_INPUT, 1, 0x1b), T_END};
    static const uint32_t ps[] = {
        0xffff0300, T_OP(31, 2), T_DCL(D3D9_USAGE_TEXCOORD, 5), T_DST(D3D9_INPUT, 2, 12),
        T_OP(31, 2), T_DCL(D3D9_USAGE_NORMAL, 1), T_DST(D3D9_INPUT, 2, 1),
        T_OP(31, 2), T_DCL(D3D9_USAGE_TEXCOORD, 7), T_DST(D3D9_INPUT, 2, 2), /* nobody writes it */
        T_OP(1, 2), T_DST(D3D9_COLOROUT, 0, 15), T_SRC(D3D9_INPUT, 2), T_END};
    /* clang-format on */
    float v[3][2][4];
    struct rig_draw *d = new_draw(NULL, NULL);

    d->stages[EXEC_VS] = make(EXEC_VS, vs, sizeof(vs));
    d->stages[EXEC_PS] = make(EXEC_PS, ps, sizeof(ps));
    cover(v, (const float[4]){0.125f, 0.375f, 0.625f, 0.875f});
    d->vertices = &v[0][0][0];
    run(d);
    assert_pixel(d, 0, 8, 8, 0.875f, 0, 0.625f, 0.875f);
    end(d);
}

/* texbem, texm3x2tex and texdp3 in ps_1_2; the coordinates come from one colour-like attribute. */
TEST(test_d3d9_bump)
{
    /* clang-format off */
    static const uint32_t vs[] = {
        0xfffe0101, 31, T_DCL(D3D9_USAGE_POSITION, 0), T_DST(D3D9_INPUT, 0, 15),
        31, T_DCL(D3D9_USAGE_COLOR, 0), T_DST(D3D9_INPUT, 1, 15),
        1, T_DST(D3D9_RASTOUT, 0, 15), T_SRC(D3D9_INPUT, 0), 1, T_DST(D3D9_OUTPUT, 0, 15), T_SRC(D3D9_INPUT, 1),
        1, T_DST(D3D9_OUTPUT, 1, 15), T_SRC(D3D9_INPUT, 1), 1, T_DST(D3D9_OUTPUT, 2, 15), T_SRC(D3D9_INPUT, 1), T_END};
    static const uint32_t bem[] = {0xffff0101, D3D9_TEX, T_DST(D3D9_ADDRESS, 0, 15),
                                   D3D9_TEXBEM, T_DST(D3D9_ADDRESS, 1, 15), T_SRC(D3D9_ADDRESS, 0),
                                   1, T_DST(D3D9_TEMP, 0, 15), T_SRC(D3D9_ADDRESS, 1), T_END};
    static const uint32_t m3x2[] = {0xffff0101, D3D9_TEXCOORD, T_DST(D3D9_ADDRESS, 0, 15),
                                    D3D9_TEXM3X2PAD, T_DST(D3D9_ADDRESS, 1, 15), T_SRC(D3D9_ADDRESS, 0),
                                    D3D9_TEXM3X2TEX, T_DST(D3D9_ADDRESS, 2, 15), T_SRC(D3D9_ADDRESS, 0),
                                    1, T_DST(D3D9_TEMP, 0, 15), T_SRC(D3D9_ADDRESS, 2), T_END};
    /* clang-format on */
    float v[3][2][4];
    struct rig_draw *d = new_draw(NULL, NULL);

    d->stages[EXEC_VS] = make(EXEC_VS, vs, sizeof(vs));
    d->stages[EXEC_PS] = make(EXEC_PS, bem, sizeof(bem));
    cover(v, (const float[4]){0.55f, 0.3f, 0, 1});
    d->vertices = &v[0][0][0];
    d->params[1].bump[1][0][0] = 0.5f; /* MAT00: texel {.5 .25} moves u by .25 */
    d->params[1].bump[1][0][3] = 1;    /* MAT11: and v by .25 */
    run(d);
    assert_pixel(d, 0, 8, 8, 0.75f, 0.5f, 0, 1);
    shader_unref((struct shader *)d->stages[EXEC_PS]);
    d->stages[EXEC_PS] = make(EXEC_PS, m3x2, sizeof(m3x2));
    run(d); /* both rows: .55^2 + .3^2 = .39 */
    assert_pixel(d, 0, 8, 8, 0.25f, 0.25f, 0, 1);
    end(d);
}

static int set_up(void **state)
{
    rig = rig_create();
    return 0;
}

static int tear_down(void **state)
{
    rig_destroy(rig);
    return 0;
}

TEST_GROUP(set_up, tear_down);
