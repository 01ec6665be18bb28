/* SPDX-License-Identifier: MIT */
/* Two contexts, as of two processes: the first draws a turning triangle into a surface and shares it under a
 * token; the second imports the surface and shows it twice, once upright and once mirrored. */
#include "sample.h"

enum { SIZE = 128, WIDTH = 320, HEIGHT = 160, FRAMES = 30, PRODUCER = 1, CONSUMER = 2 };
enum { SURFACE = 1, TRIANGLE, DRAW_VS, DRAW_PS, DRAW_LAYOUT };
enum { COLOUR = 11, ALIAS, QUADS, SHOW_VS, SHOW_PS, SHOW_LAYOUT, SAMPLER };
#define TOKEN UINT64_C(0x5EED0001)

static void produce(struct sample *s, uint32_t frame)
{
    float turn = 6.2831853f * (float)frame / FRAMES, vertices[3][8];

    for (int i = 0; i < 3; i++) {
        float a = turn + 2.0943951f * (float)i, v[8] = {0.85f * sinf(a), 0.85f * cosf(a), 0, 1, 0, 0, 0, 1};
        memcpy(vertices[i], v, sizeof(v));
        vertices[i][4 + i] = 1;
    }
    if (frame == 0) {
        sample_targets(s, SURFACE, 0, SIZE, SIZE, AEROGPU_FORMAT_R8G8B8A8_UNORM);
        ABI_EMIT(&s->stream, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = SURFACE,
                 .share_token = TOKEN);
        sample_buffer(s, TRIANGLE, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, NULL, sizeof(vertices));
        sample_shader(s, DRAW_VS, AEROGPU_SHADER_STAGE_VERTEX, "colour_vs.dxbc");
        sample_shader(s, DRAW_PS, AEROGPU_SHADER_STAGE_PIXEL, "colour_ps.dxbc");
        sample_bind_shaders(s, DRAW_VS, DRAW_PS);
        sample_layout(s, DRAW_LAYOUT, "POSITION:4 COLOR:4");
        sample_bind_vertices(s, TRIANGLE, 32);
        ABI_EMIT(&s->stream, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology,
                 .topology = AEROGPU_TOPOLOGY_TRIANGLELIST);
    }
    ABI_EMIT_TAIL(&s->stream, UPLOAD_RESOURCE, upload_resource, vertices, sizeof(vertices),
                  .resource_handle = TRIANGLE, .size_bytes = sizeof(vertices));
    sample_clear(s, AEROGPU_CLEAR_COLOR, 0.2f, 0.2f, 0.25f);
    ABI_EMIT(&s->stream, DRAW, draw, .vertex_count = 3, .instance_count = 1);
    sample_submit(s, PRODUCER, 2); /* NO_IRQ: only the consumer's present is waited for */
}

/* Two triangles from (x0, -0.9) to (x1, 0.9); u runs from u0 to 1 - u0. */
static void quad(float (*v)[6], float x0, float x1, float u0)
{
    static const float corners[6][2] = {{0, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 0}};

    for (int i = 0; i < 6; i++) {
        float x = corners[i][0], y = corners[i][1];
        float at[6] = {x0 + (x1 - x0) * x, 1.8f * y - 0.9f, 0, 1, u0 + (1 - 2 * u0) * x, 1 - y};
        memcpy(v[i], at, sizeof(at));
    }
}

static void consume(struct sample *s, uint32_t frame)
{
    uint32_t sampler = SAMPLER;
    float vertices[12][6];

    if (frame == 0) {
        quad(vertices, -0.95f, -0.05f, 0);
        quad(vertices + 6, 0.05f, 0.95f, 1);
        sample_targets(s, COLOUR, 0, WIDTH, HEIGHT, AEROGPU_FORMAT_R8G8B8X8_UNORM);
        ABI_EMIT(&s->stream, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = ALIAS,
                 .share_token = TOKEN);
        sample_buffer(s, QUADS, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, vertices, sizeof(vertices));
        sample_shader(s, SHOW_VS, AEROGPU_SHADER_STAGE_VERTEX, "texture_vs.dxbc");
        sample_shader(s, SHOW_PS, AEROGPU_SHADER_STAGE_PIXEL, "texture_ps.dxbc");
        sample_bind_shaders(s, SHOW_VS, SHOW_PS);
        sample_layout(s, SHOW_LAYOUT, "POSITION:4 TEXCOORD:2");
        sample_bind_vertices(s, QUADS, 24);
        ABI_EMIT(&s->stream, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology,
                 .topology = AEROGPU_TOPOLOGY_TRIANGLELIST);
        ABI_EMIT(&s->stream, CREATE_SAMPLER, create_sampler, .sampler_handle = SAMPLER,
                 .filter = AEROGPU_SAMPLER_FILTER_LINEAR);
        ABI_EMIT_TAIL(&s->stream, SET_SAMPLERS, set_samplers, &sampler, 4,
                      .shader_stage = AEROGPU_SHADER_STAGE_PIXEL, .sampler_count = 1);
        ABI_EMIT(&s->stream, SET_TEXTURE, set_texture, .shader_stage = AEROGPU_SHADER_STAGE_PIXEL,
                 .texture = ALIAS);
    }
    sample_clear(s, AEROGPU_CLEAR_COLOR, 0, 0, 0);
    ABI_EMIT(&s->stream, DRAW, draw, .vertex_count = 12, .instance_count = 1);
    ABI_EMIT(&s->stream, PRESENT, present, .flags = 0);
    sample_submit(s, CONSUMER, 1);
}

void sample_shared(struct sample *s)
{
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        sample_begin_frame(s);
        produce(s, frame);
        consume(s, frame);
        sample_end_frame(s);
    }
}
