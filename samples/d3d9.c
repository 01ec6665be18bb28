/* SPDX-License-Identifier: MIT */
/* A Direct3D 9 scene: a floor that runs to the horizon, each mip level of its texture in a colour of its own,
 * and a torus lit by vs_2_0 and faded in by alpha blending, all of it set through render and sampler states.
 */
#include "sample.h"

#include "abi/d3d9_states.h"

enum { WIDTH = 320, HEIGHT = 240, FRAMES = 40, RINGS = 32, SIDES = 16, TEXTURE = 64, MIPS = 7 };
enum { COLOUR = 1, DEPTH, TORUS_VERTICES, TORUS_INDICES, FLOOR, RAINBOW, VS, PS, DECLARATION };

/* D3DVERTEXELEMENT9: stream, offset, type, method, usage, usage index */
struct element {
    uint16_t stream, offset;
    uint8_t type, method, usage, index;
};

static const struct element declaration[] = {
    {0, 0, 2, 0, 0, 0},  /* FLOAT3 POSITION */
    {0, 12, 2, 0, 3, 0}, /* FLOAT3 NORMAL */
    {0, 24, 1, 0, 5, 0}, /* FLOAT2 TEXCOORD */
    {0xFF, 0, 17, 0, 0, 0},
};

static void constants(struct sample *s, uint32_t stage, uint32_t first, const float *values, uint32_t count)
{
    ABI_EMIT_TAIL(&s->stream, SET_SHADER_CONSTANTS_F, set_shader_constants_f, values, count * 16,
                  .stage = stage, .start_register = first, .vec4_count = count);
}

static void render_state(struct sample *s, uint32_t state, uint32_t value)
{
    ABI_EMIT(&s->stream, SET_RENDER_STATE, set_render_state, .state = state, .value = value);
}

static void sampler_state(struct sample *s, uint32_t state, uint32_t value)
{
    ABI_EMIT(&s->stream, SET_SAMPLER_STATE, set_sampler_state, .shader_stage = AEROGPU_SHADER_STAGE_PIXEL,
             .state = state, .value = value);
}

static void create_texture(struct sample *s)
{
    static const uint32_t colours[MIPS] = {0,          0xFF30C030, 0xFFC04030, 0xFF30C0D0,
                                           0xFFB030B0, 0xFFE0E0E0, 0xFF202020};
    static uint32_t texels[TEXTURE * TEXTURE * 4 / 3 + 1];
    uint32_t at = 0;

    bricks(texels, TEXTURE);
    for (uint32_t mip = 0, size = TEXTURE; mip < MIPS; at += size * size, mip++, size /= 2)
        for (uint32_t i = 0; mip && i < size * size; i++)
            texels[at + i] =
                (i / size + i % size) & 1 ? colours[mip] : (colours[mip] >> 1 & 0x7F7F7F) | 0xFF000000;
    ABI_EMIT(&s->stream, CREATE_TEXTURE2D, create_texture2d, .texture_handle = RAINBOW,
             .usage_flags = AEROGPU_RESOURCE_USAGE_TEXTURE, .format = AEROGPU_FORMAT_R8G8B8A8_UNORM,
             .width = TEXTURE, .height = TEXTURE, .mip_levels = MIPS, .array_layers = 1);
    ABI_EMIT_TAIL(&s->stream, UPLOAD_RESOURCE, upload_resource, texels, at * 4, .resource_handle = RAINBOW,
                  .size_bytes = at * 4);
    ABI_EMIT(&s->stream, SET_TEXTURE, set_texture, .shader_stage = AEROGPU_SHADER_STAGE_PIXEL,
             .texture = RAINBOW);
}

static void create(struct sample *s)
{
    static struct vertex vertices[(RINGS + 1) * (SIDES + 1)], floor_vertices[6];
    static uint16_t indices[RINGS * SIDES * 6];

    torus(vertices, indices, RINGS, SIDES, 1.0f, 0.4f);
    ground(floor_vertices, 24);
    sample_targets(s, COLOUR, DEPTH, WIDTH, HEIGHT, AEROGPU_FORMAT_B8G8R8A8_UNORM);
    sample_buffer(s, TORUS_VERTICES, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, vertices, sizeof(vertices));
    sample_buffer(s, TORUS_INDICES, AEROGPU_RESOURCE_USAGE_INDEX_BUFFER, indices, sizeof(indices));
    sample_buffer(s, FLOOR, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, floor_vertices, sizeof(floor_vertices));
    create_texture(s);
    sample_shader(s, VS, AEROGPU_SHADER_STAGE_VERTEX, "lit_vs_2_0.d3d9");
    sample_shader(s, PS, AEROGPU_SHADER_STAGE_PIXEL, "textured_ps_2_0.d3d9");
    sample_bind_shaders(s, VS, PS);
    ABI_EMIT_TAIL(&s->stream, CREATE_INPUT_LAYOUT, create_input_layout, declaration, sizeof(declaration),
                  .input_layout_handle = DECLARATION, .blob_size_bytes = sizeof(declaration));
    ABI_EMIT(&s->stream, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = DECLARATION);
    ABI_EMIT(&s->stream, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology,
             .topology = AEROGPU_TOPOLOGY_TRIANGLELIST);
    sampler_state(s, D3DSAMP_MAGFILTER, 2); /* D3DTEXF_LINEAR */
    sampler_state(s, D3DSAMP_MINFILTER, 2);
    sampler_state(s, D3DSAMP_MIPFILTER, 2);
    sampler_state(s, D3DSAMP_ADDRESSU, 1); /* D3DTADDRESS_WRAP */
    sampler_state(s, D3DSAMP_ADDRESSV, 1);
    render_state(s, D3DRS_ZENABLE, 1);
    render_state(s, D3DRS_ZFUNC, 4);    /* D3DCMP_LESSEQUAL */
    render_state(s, D3DRS_SRCBLEND, 5); /* D3DBLEND_SRCALPHA */
    render_state(s, D3DRS_DESTBLEND, 6);
}

static void object(struct sample *s, struct matrix view_projection, struct matrix world, float r, float g,
                   float b, float opacity)
{
    struct matrix m[2] = {matrix_multiply(view_projection, world), world};
    const float rest[8] = {-0.48f, 0.72f, -0.5f, 0, r, g, b, opacity}, fade[4] = {1, 1, 1, 1};

    constants(s, AEROGPU_SHADER_STAGE_VERTEX, 0, &m[0].m[0][0], 8);
    constants(s, AEROGPU_SHADER_STAGE_VERTEX, 8, rest, 2);
    constants(s, AEROGPU_SHADER_STAGE_PIXEL, 0, fade, 1);
}

static void draw(struct sample *s, uint32_t frame)
{
    float turn = 6.2831853f * (float)frame / FRAMES;
    struct matrix camera = matrix_multiply(matrix_translation(0, -0.4f, 4), matrix_rotation_x(-0.25f));
    struct matrix vp = matrix_multiply(matrix_perspective(0.9f, (float)WIDTH / HEIGHT, 0.1f, 100), camera);

    sample_clear(s, AEROGPU_CLEAR_COLOR | AEROGPU_CLEAR_DEPTH, 0.35f, 0.55f, 0.8f);
    render_state(s, D3DRS_ALPHABLENDENABLE, 0);
    render_state(s, D3DRS_ZWRITEENABLE, 1);
    render_state(s, D3DRS_CULLMODE, 3); /* D3DCULL_CCW */
    object(s, vp, matrix_multiply(matrix_translation(0, -0.9f, 18), matrix_scale(20, 1, 20)), 1.2f, 1.2f,
           1.2f, 1);
    sample_bind_vertices(s, FLOOR, sizeof(struct vertex));
    ABI_EMIT(&s->stream, DRAW, draw, .vertex_count = 6, .instance_count = 1);
    render_state(s, D3DRS_ALPHABLENDENABLE, 1);
    object(s, vp, matrix_multiply(matrix_rotation_y(turn), matrix_rotation_x(turn)), 1, 0.9f, 0.8f,
           0.3f + 0.7f * (float)frame / FRAMES);
    sample_bind_vertices(s, TORUS_VERTICES, sizeof(struct vertex));
    ABI_EMIT(&s->stream, SET_INDEX_BUFFER, set_index_buffer, .buffer = TORUS_INDICES,
             .format = AEROGPU_INDEX_FORMAT_UINT16);
    ABI_EMIT(&s->stream, DRAW_INDEXED, draw_indexed, .index_count = RINGS * SIDES * 6, .instance_count = 1);
}

void sample_d3d9(struct sample *s)
{
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        sample_begin_frame(s);
        if (frame == 0)
            create(s);
        draw(s, frame);
        ABI_EMIT(&s->stream, PRESENT_EX, present_ex, .d3d9_present_flags = 0);
        sample_submit(s, 1, 1);
        sample_end_frame(s);
    }
}
