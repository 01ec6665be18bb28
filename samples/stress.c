/* SPDX-License-Identifier: MIT */
/* 1 000 small draws a frame at 1024x768, each from its own place in one vertex buffer: what a user
 * interface of many widgets asks of a driver. */
#include "sample.h"

enum { WIDTH = 1024, HEIGHT = 768, FRAMES = 10, DRAWS = 1000, COLUMNS = 40 };
enum { COLOUR = 1, TRIANGLES, VS, PS, LAYOUT };

static float vertices[DRAWS * 3][8];

static void arrange(void)
{
    for (int i = 0; i < DRAWS; i++) {
        float x = 2 * ((float)(i % COLUMNS) + 0.5f) / COLUMNS - 1,
              y = 1 - 2 * ((float)i / COLUMNS + 0.5f) / 26;

        for (int k = 0; k < 3; k++) {
            float a = 0.37f * (float)i + 2.0943951f * (float)k;
            float v[8] = {x + 0.022f * sinf(a), y + 0.03f * cosf(a), 0, 1, (float)(i % COLUMNS) / COLUMNS,
                          (float)i / DRAWS,     k == 0 ? 1 : 0.2f,   1};
            memcpy(vertices[3 * i + k], v, sizeof(v));
        }
    }
}

void sample_stress(struct sample *s)
{
    arrange();
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        sample_begin_frame(s);
        if (frame == 0) {
            sample_targets(s, COLOUR, 0, WIDTH, HEIGHT, AEROGPU_FORMAT_B8G8R8X8_UNORM);
            sample_buffer(s, TRIANGLES, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, vertices, sizeof(vertices));
            sample_shader(s, VS, AEROGPU_SHADER_STAGE_VERTEX, "colour_vs.dxbc");
            sample_shader(s, PS, AEROGPU_SHADER_STAGE_PIXEL, "colour_ps.dxbc");
            sample_bind_shaders(s, VS, PS);
            sample_layout(s, LAYOUT, "POSITION:4 COLOR:4");
            ABI_EMIT(&s->stream, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology,
                     .topology = AEROGPU_TOPOLOGY_TRIANGLELIST);
            ABI_EMIT(&s->stream, SET_RASTERIZER_STATE, set_rasterizer_state, .cull_mode = AEROGPU_CULL_NONE);
            sample_bind_vertices(s, TRIANGLES, 32);
        }
        sample_clear(s, AEROGPU_CLEAR_COLOR, 0.05f * (float)frame, 0.05f, 0.1f);
        for (uint32_t i = 0; i < DRAWS; i++)
            ABI_EMIT(&s->stream, DRAW, draw, .vertex_count = 3, .instance_count = 1, .first_vertex = 3 * i);
        ABI_EMIT(&s->stream, PRESENT, present, .flags = 0);
        sample_submit(s, 1, 1);
        sample_end_frame(s);
    }
}
