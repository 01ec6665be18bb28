/* SPDX-License-Identifier: MIT */
/* A frame of 120 small draws in which one covers the whole target with a pixel shader that loops as long as it may: it does
 * not finish in any time that somebody would wait. What the black box is for. */
#include "sample.h"

#include <string.h>

#include "plant.h"

enum { COLOUR = 1, VERTICES, VS, PS, SLOW_PS, LAYOUT };
enum { SIZE = 1024, DRAWS = 120, CULPRIT = 77, NOTHING = 3 };

struct corner {
    float position[4], colour[4];
};

static void set_triangle(struct corner *v, float x, float y, float w, float h, float blue)
{
    const float corners[3][2] = {{x, y}, {x, y + h}, {x + w, y}};

    for (int i = 0; i < 3; i++)
        v[i] = (struct corner){{corners[i][0], corners[i][1], 0, 1}, {0.2f, 0.5f, blue, 1}};
}

static void name(struct sample *s, const char *text)
{
    abi_builder_packet(&s->stream, AEROGPU_CMD_DEBUG_MARKER, &(struct aerogpu_cmd_debug_marker){0},
                       sizeof(struct aerogpu_cmd_debug_marker), text, (uint32_t)strlen(text));
}

void sample_hang(struct sample *s)
{
    static struct corner vertices[(DRAWS + 1) * 3];

    for (int i = 0; i < DRAWS; i++)
        set_triangle(&vertices[i * 3], -1 + 0.16f * (float)(i % 12), -0.9f + 0.18f * (float)(i / 12), 0.12f,
                     0.12f, (float)i / DRAWS);
    set_triangle(&vertices[DRAWS * 3], -1, -1, 4, 4, 1);
    sample_begin_frame(s);
    sample_targets(s, COLOUR, 0, SIZE, SIZE, AEROGPU_FORMAT_B8G8R8X8_UNORM);
    sample_buffer(s, VERTICES, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, vertices, sizeof(vertices));
    sample_shader(s, VS, AEROGPU_SHADER_STAGE_VERTEX, "colour_vs.dxbc");
    sample_shader(s, PS, AEROGPU_SHADER_STAGE_PIXEL, "colour_ps.dxbc");
    ABI_EMIT_TAIL(&s->stream, CREATE_SHADER_DXBC, create_shader_dxbc, plant_endless.words, plant_endless.size,
                  .shader_handle = SLOW_PS, .stage = AEROGPU_SHADER_STAGE_PIXEL,
                  .dxbc_size_bytes = plant_endless.size);
    sample_layout(s, LAYOUT, "POSITION:4 COLOR:4");
    sample_bind_vertices(s, VERTICES, sizeof(struct corner));
    sample_clear(s, AEROGPU_CLEAR_COLOR, 0.1f, 0.1f, 0.15f);
    ABI_EMIT(&s->stream, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology,
             .topology = AEROGPU_TOPOLOGY_TRIANGLELIST);
    for (uint32_t i = 0; i < DRAWS; i++) {
        if (i == 0)
            name(s, "opaque");
        if (i == CULPRIT - 7)
            name(s, "fog");
        if (i == CULPRIT + 13)
            name(s, "overlay");
        /* used before, for no triangle: the first draw with a pipeline is told from others by group markers */
        sample_bind_shaders(s, VS, i == CULPRIT || i == NOTHING ? SLOW_PS : PS);
        ABI_EMIT(&s->stream, DRAW, draw, .vertex_count = i == NOTHING ? 1 : 3, .instance_count = 1,
                 .first_vertex = 3 * (i == CULPRIT ? DRAWS : i));
    }
    ABI_EMIT(&s->stream, PRESENT, present, .flags = 0);
    sample_submit(s, 1, 1);
    sample_end_frame(s);
}
