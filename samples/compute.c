/* SPDX-License-Identifier: MIT */
/* A dispatch writes 64 coloured points of a circle; a second one swaps their axes and halves the radius. The
 * first result is drawn on the left as a disc, the second one on the right as a line, over a few frames in
 * which they move apart. */
#include "sample.h"

enum { WIDTH = 320, HEIGHT = 200, FRAMES = 30, POINTS = 64, STRIDE = 32 };
enum { COLOUR = 1, CIRCLE, SWAPPED, RING_CS, SWAP_CS, VS, PS, LAYOUT, PLACE };

static void bind_compute(struct sample *s, uint32_t shader, uint32_t from, uint32_t to)
{
    struct aerogpu_shader_resource_buffer_binding srv = {.buffer = from};
    struct aerogpu_unordered_access_buffer_binding uav = {.buffer = to,
                                                          .initial_count = AEROGPU_UAV_INITIAL_COUNT_KEEP};

    ABI_EMIT(&s->stream, BIND_SHADERS, bind_shaders, .cs = shader);
    ABI_EMIT_TAIL(&s->stream, SET_SHADER_RESOURCE_BUFFERS, set_shader_resource_buffers, &srv, sizeof(srv),
                  .shader_stage = AEROGPU_SHADER_STAGE_COMPUTE, .buffer_count = 1);
    ABI_EMIT_TAIL(&s->stream, SET_UNORDERED_ACCESS_BUFFERS, set_unordered_access_buffers, &uav, sizeof(uav),
                  .shader_stage = AEROGPU_SHADER_STAGE_COMPUTE, .uav_count = 1);
    ABI_EMIT(&s->stream, DISPATCH, dispatch, .group_count_x = 1, .group_count_y = 1, .group_count_z = 1);
}

static void create(struct sample *s)
{
    uint32_t usage = AEROGPU_RESOURCE_USAGE_STORAGE | AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER;

    sample_targets(s, COLOUR, 0, WIDTH, HEIGHT, AEROGPU_FORMAT_R8G8B8A8_UNORM);
    sample_buffer(s, CIRCLE, usage, NULL, POINTS * STRIDE);
    sample_buffer(s, SWAPPED, usage, NULL, POINTS * STRIDE);
    sample_buffer(s, PLACE, AEROGPU_RESOURCE_USAGE_CONSTANT_BUFFER, NULL, 16);
    sample_shader(s, RING_CS, AEROGPU_SHADER_STAGE_COMPUTE, "ring_structured_cs.dxbc");
    sample_shader(s, SWAP_CS, AEROGPU_SHADER_STAGE_COMPUTE, "swap_structured_cs.dxbc");
    sample_shader(s, VS, AEROGPU_SHADER_STAGE_VERTEX, "scaled_vs.dxbc");
    sample_shader(s, PS, AEROGPU_SHADER_STAGE_PIXEL, "colour_ps.dxbc");
    sample_layout(s, LAYOUT, "POSITION:4 COLOR:4");
    ABI_EMIT(&s->stream, SET_RASTERIZER_STATE, set_rasterizer_state, .cull_mode = AEROGPU_CULL_NONE);
}

static void draw(struct sample *s, uint32_t buffer, uint32_t topology, float scale, float x)
{
    const float place[4] = {scale * HEIGHT / WIDTH, scale, x, 0};

    ABI_EMIT_TAIL(&s->stream, UPLOAD_RESOURCE, upload_resource, place, sizeof(place),
                  .resource_handle = PLACE, .size_bytes = sizeof(place));
    sample_bind_constants(s, AEROGPU_SHADER_STAGE_VERTEX, 0, PLACE, sizeof(place));
    sample_bind_vertices(s, buffer, STRIDE);
    ABI_EMIT(&s->stream, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology, .topology = topology);
    ABI_EMIT(&s->stream, DRAW, draw, .vertex_count = POINTS, .instance_count = 1);
}

void sample_compute(struct sample *s)
{
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        float apart = 0.2f + 0.3f * (float)frame / FRAMES;

        sample_begin_frame(s);
        if (frame == 0)
            create(s);
        bind_compute(s, RING_CS, 0, CIRCLE);
        bind_compute(s, SWAP_CS, CIRCLE, SWAPPED);
        sample_clear(s, AEROGPU_CLEAR_COLOR, 0.1f, 0.1f, 0.1f);
        sample_bind_shaders(s, VS, PS);
        draw(s, CIRCLE, AEROGPU_TOPOLOGY_TRIANGLEFAN, 0.6f, -apart);
        draw(s, SWAPPED, AEROGPU_TOPOLOGY_LINESTRIP, 1.4f, apart);
        ABI_EMIT(&s->stream, PRESENT, present, .flags = 0);
        sample_submit(s, 1, 1);
        sample_end_frame(s);
    }
}
