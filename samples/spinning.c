/* SPDX-License-Identifier: MIT */
/* A brick torus turns over a brick floor; a glass plate, drawn last and blended, turns the other way. What
 * changes from frame to frame reaches the GPU through guest memory, as a driver's constant buffers do. */
#include "sample.h"

enum { WIDTH = 480, HEIGHT = 360, FRAMES = 120, RINGS = 40, SIDES = 20, TEXTURE = 64, MIPS = 7 };
enum {
    COLOUR = 1,
    DEPTH,
    TORUS_VERTICES,
    TORUS_INDICES,
    FLOOR,
    BRICKS,
    SAMPLER,
    VS,
    PS,
    LAYOUT,
    OBJECTS,
    LIGHTS
};

/* Constants of one draw, 256 bytes apart so that offsets are aligned for every device. */
struct object {
    struct matrix world, view_projection;
    uint8_t pad[128];
};

struct light {
    float direction[4], diffuse[4], ambient[4], tint[4];
    uint8_t pad[192];
};

/* Guest memory: allocation 1, at 16 MiB, and allocation 2, at 17 MiB. */
static struct {
    struct object objects[3];
    struct light lights[3];
} memory;
static uint32_t texels[(TEXTURE * TEXTURE * 4 - 1) / 3];

static void make_mips(void)
{
    uint32_t *above = texels, size = TEXTURE;

    bricks(texels, TEXTURE);
    while (size > 1) {
        uint32_t *mip = above + size * size, half = size / 2;

        for (uint32_t i = 0; i < half * half; i++) {
            uint32_t at = 2 * (i / half) * size + 2 * (i % half), sum[4] = {0};
            for (int k = 0; k < 4; k++)
                for (int c = 0; c < 4; c++)
                    sum[c] += above[at + (uint32_t)(k & 1) + (uint32_t)(k >> 1) * size] >> (8 * c) & 0xFF;
            mip[i] = sum[0] / 4 | sum[1] / 4 << 8 | sum[2] / 4 << 16 | sum[3] / 4 << 24;
        }
        above = mip;
        size = half;
    }
}

static void create(struct sample *s)
{
    static struct vertex vertices[(RINGS + 1) * (SIDES + 1)], floor_vertices[6];
    static uint16_t indices[RINGS * SIDES * 6];
    uint32_t sampler = SAMPLER;

    torus(vertices, indices, RINGS, SIDES, 1.0f, 0.42f);
    ground(floor_vertices, 6);
    make_mips();
    sample_add_alloc(s, 1, 16 << 20, &memory, sizeof(memory));
    sample_add_alloc(s, 2, 17 << 20, texels, sizeof(texels));
    sample_targets(s, COLOUR, DEPTH, WIDTH, HEIGHT, AEROGPU_FORMAT_B8G8R8X8_UNORM);
    sample_buffer(s, TORUS_VERTICES, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, vertices, sizeof(vertices));
    sample_buffer(s, TORUS_INDICES, AEROGPU_RESOURCE_USAGE_INDEX_BUFFER, indices, sizeof(indices));
    sample_buffer(s, FLOOR, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, floor_vertices, sizeof(floor_vertices));
    ABI_EMIT(&s->stream, CREATE_TEXTURE2D, create_texture2d, .texture_handle = BRICKS,
             .usage_flags = AEROGPU_RESOURCE_USAGE_TEXTURE, .format = AEROGPU_FORMAT_R8G8B8A8_UNORM,
             .width = TEXTURE, .height = TEXTURE, .mip_levels = MIPS, .array_layers = 1,
             .row_pitch_bytes = TEXTURE * 4, .backing_alloc_id = 2);
    ABI_EMIT(&s->stream, CREATE_BUFFER, create_buffer, .buffer_handle = OBJECTS,
             .usage_flags = AEROGPU_RESOURCE_USAGE_CONSTANT_BUFFER, .size_bytes = sizeof(memory.objects),
             .backing_alloc_id = 1);
    ABI_EMIT(&s->stream, CREATE_BUFFER, create_buffer, .buffer_handle = LIGHTS,
             .usage_flags = AEROGPU_RESOURCE_USAGE_CONSTANT_BUFFER, .size_bytes = sizeof(memory.lights),
             .backing_alloc_id = 1, .backing_offset_bytes = offsetof(typeof(memory), lights));
    ABI_EMIT(&s->stream, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = BRICKS,
             .size_bytes = sizeof(texels));
    sample_shader(s, VS, AEROGPU_SHADER_STAGE_VERTEX, "scene_vs.dxbc");
    sample_shader(s, PS, AEROGPU_SHADER_STAGE_PIXEL, "scene_ps.dxbc");
    sample_bind_shaders(s, VS, PS);
    sample_layout(s, LAYOUT, "POSITION:3 NORMAL:3 TEXCOORD:2");
    ABI_EMIT(&s->stream, CREATE_SAMPLER, create_sampler, .sampler_handle = SAMPLER,
             .filter = AEROGPU_SAMPLER_FILTER_LINEAR, .address_u = AEROGPU_SAMPLER_ADDRESS_REPEAT,
             .address_v = AEROGPU_SAMPLER_ADDRESS_REPEAT, .address_w = AEROGPU_SAMPLER_ADDRESS_REPEAT);
    ABI_EMIT_TAIL(&s->stream, SET_SAMPLERS, set_samplers, &sampler, 4,
                  .shader_stage = AEROGPU_SHADER_STAGE_PIXEL, .sampler_count = 1);
    ABI_EMIT(&s->stream, SET_TEXTURE, set_texture, .shader_stage = AEROGPU_SHADER_STAGE_PIXEL,
             .texture = BRICKS);
    ABI_EMIT(&s->stream, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology,
             .topology = AEROGPU_TOPOLOGY_TRIANGLELIST);
}

static void place(uint32_t frame)
{
    float turn = 6.2831853f * (float)frame / FRAMES;
    struct matrix camera = matrix_multiply(matrix_translation(0, -0.35f, 4.2f), matrix_rotation_x(-0.45f));
    struct matrix vp = matrix_multiply(matrix_perspective(0.9f, (float)WIDTH / HEIGHT, 0.1f, 50), camera);

    memory.objects[0].world = matrix_multiply(matrix_translation(0, -1.2f, 0), matrix_scale(3, 1, 3));
    memory.objects[1].world = matrix_multiply(matrix_rotation_y(turn), matrix_rotation_x(0.6f + turn));
    memory.objects[2].world = matrix_multiply(
        matrix_rotation_y(-turn),
        matrix_multiply(matrix_translation(0, 0.1f, -1.5f),
                        matrix_multiply(matrix_rotation_x(1.5707963f), matrix_scale(0.8f, 1, 0.6f))));
    for (int i = 0; i < 3; i++) {
        memory.objects[i].view_projection = vp;
        memory.lights[i] = (struct light){.direction = {-0.5f, 0.7f, -0.5f},
                                          .diffuse = {0.9f, 0.85f, 0.8f},
                                          .ambient = {0.25f, 0.27f, 0.35f},
                                          .tint = {1, 1, 1, 1}};
    }
    memory.lights[2] = (struct light){
        .direction = {-0.5f, 0.7f, -0.5f}, .ambient = {0.9f, 1, 1}, .tint = {0.4f, 0.8f, 1, 0.45f}};
}

static void bind_object(struct sample *s, uint32_t i)
{
    struct aerogpu_constant_buffer_binding object = {.buffer = OBJECTS,
                                                     .offset_bytes = i * 256,
                                                     .size_bytes = 128},
                                           light = {
                                               .buffer = LIGHTS, .offset_bytes = i * 256, .size_bytes = 64};

    ABI_EMIT_TAIL(&s->stream, SET_CONSTANT_BUFFERS, set_constant_buffers, &object, sizeof(object),
                  .shader_stage = AEROGPU_SHADER_STAGE_VERTEX, .buffer_count = 1);
    ABI_EMIT_TAIL(&s->stream, SET_CONSTANT_BUFFERS, set_constant_buffers, &light, sizeof(light),
                  .shader_stage = AEROGPU_SHADER_STAGE_PIXEL, .start_slot = 1, .buffer_count = 1);
}

static void blend(struct sample *s, bool on)
{
    ABI_EMIT(&s->stream, SET_BLEND_STATE, set_blend_state, .enable = on,
             .src_factor = AEROGPU_BLEND_SRC_ALPHA, .dst_factor = AEROGPU_BLEND_INV_SRC_ALPHA,
             .color_write_mask = 0xF, .src_factor_alpha = AEROGPU_BLEND_ONE,
             .dst_factor_alpha = AEROGPU_BLEND_INV_SRC_ALPHA, .sample_mask = ~0u);
    ABI_EMIT(&s->stream, SET_DEPTH_STENCIL_STATE, set_depth_stencil_state, .depth_enable = 1,
             .depth_write_enable = !on, .depth_func = AEROGPU_COMPARE_LESS);
    ABI_EMIT(&s->stream, SET_RASTERIZER_STATE, set_rasterizer_state,
             .cull_mode = on ? AEROGPU_CULL_NONE : AEROGPU_CULL_BACK);
}

static void draw(struct sample *s)
{
    sample_clear(s, AEROGPU_CLEAR_COLOR | AEROGPU_CLEAR_DEPTH, 0.06f, 0.08f, 0.14f);
    blend(s, false);
    bind_object(s, 0);
    sample_bind_vertices(s, FLOOR, sizeof(struct vertex));
    ABI_EMIT(&s->stream, DRAW, draw, .vertex_count = 6, .instance_count = 1);
    bind_object(s, 1);
    sample_bind_vertices(s, TORUS_VERTICES, sizeof(struct vertex));
    ABI_EMIT(&s->stream, SET_INDEX_BUFFER, set_index_buffer, .buffer = TORUS_INDICES,
             .format = AEROGPU_INDEX_FORMAT_UINT16);
    ABI_EMIT(&s->stream, DRAW_INDEXED, draw_indexed, .index_count = RINGS * SIDES * 6, .instance_count = 1);
    blend(s, true);
    bind_object(s, 2);
    sample_bind_vertices(s, FLOOR, sizeof(struct vertex));
    ABI_EMIT(&s->stream, DRAW, draw, .vertex_count = 6, .instance_count = 1);
}

void sample_spinning(struct sample *s)
{
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        sample_begin_frame(s);
        if (frame == 0)
            create(s);
        place(frame);
        ABI_EMIT(&s->stream, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = OBJECTS,
                 .size_bytes = sizeof(memory.objects));
        ABI_EMIT(&s->stream, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = LIGHTS,
                 .size_bytes = sizeof(memory.lights));
        draw(s);
        ABI_EMIT(&s->stream, PRESENT, present, .flags = AEROGPU_PRESENT_FLAG_VSYNC);
        sample_submit(s, 1, 1);
        sample_end_frame(s);
    }
}
