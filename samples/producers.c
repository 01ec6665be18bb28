/* SPDX-License-Identifier: MIT */
/* Forms that the reference driver and its tests write, in one picture: on the left a rectangle by shaders whose parameter
 * tokens lack bit 31 and that declare nothing, from a vertex declaration with an UNUSED element, with bool registers of
 * four bytes and registers to 255; on the right a disc whose points a dispatch for the domain stage has written. */
#include "sample.h"

enum { WIDTH = 200, HEIGHT = 100, FRAMES = 2, POINTS = 64, STRIDE = 32 };
enum { COLOUR = 1, RECTANGLE, CIRCLE, PLACE, BARE_VS, BARE_PS, RING_CS, VS, PS, DECLARATION, LAYOUT };

/* def c4, 1, 0.5, 0, 1; mov oPos, v0; mov oD0, c4; mov oT0, v1. The second length leaves the opcode's word out. */
static const uint32_t bare_vs[] = {0xfffe0200, 0x06000051, 0x200f0004, 0x3f800000, 0x3f000000, 0,
                                   0x3f800000, 0x03000001, 0x400f0000, 0x10e40000, 0x02000001, 0x500f0000,
                                   0x20e40004, 0x03000001, 0x600f0000, 0x10e40001, 0x0000ffff};
static const uint32_t bare_ps[] = {0xffff0200, 0x03000001, 0x000f0800, 0x10e40000, 0x0000ffff};

/* D3DVERTEXELEMENT9: stream, offset, type, method, usage, usage index */
static const struct {
    uint16_t stream, offset;
    uint8_t type, method, usage, index;
} declaration[] = {{0, 0, 2, 0, 0, 0}, {0, 0, 17, 0, 0, 0}, {0, 12, 2, 0, 3, 0}, {0xFF, 0, 17, 0, 0, 0}};

static void create(struct sample *s)
{
    static const float corners[6][6] = {{-1, -1, 0.5f}, {-1, 1, 0.5f}, {0, 1, 0.5f},
                                        {-1, -1, 0.5f}, {0, 1, 0.5f},  {0, -1, 0.5f}};
    static const struct {
        uint32_t handle, stage, size;
        const uint32_t *words;
    } bare[] = {{BARE_VS, AEROGPU_SHADER_STAGE_VERTEX, sizeof(bare_vs), bare_vs},
                {BARE_PS, AEROGPU_SHADER_STAGE_PIXEL, sizeof(bare_ps), bare_ps}};

    sample_targets(s, COLOUR, 0, WIDTH, HEIGHT, AEROGPU_FORMAT_R8G8B8A8_UNORM);
    sample_buffer(s, RECTANGLE, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, corners, sizeof(corners));
    sample_buffer(s, CIRCLE, AEROGPU_RESOURCE_USAGE_STORAGE | AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, NULL,
                  POINTS * STRIDE);
    sample_buffer(s, PLACE, AEROGPU_RESOURCE_USAGE_CONSTANT_BUFFER, NULL, 16);
    for (int i = 0; i < 2; i++)
        ABI_EMIT_TAIL(&s->stream, CREATE_SHADER_DXBC, create_shader_dxbc, bare[i].words, bare[i].size,
                      .shader_handle = bare[i].handle, .stage = bare[i].stage,
                      .dxbc_size_bytes = bare[i].size);
    sample_shader(s, RING_CS, AEROGPU_SHADER_STAGE_COMPUTE, "ring_structured_cs.dxbc");
    sample_shader(s, VS, AEROGPU_SHADER_STAGE_VERTEX, "scaled_vs.dxbc");
    sample_shader(s, PS, AEROGPU_SHADER_STAGE_PIXEL, "colour_ps.dxbc");
    ABI_EMIT_TAIL(&s->stream, CREATE_INPUT_LAYOUT, create_input_layout, declaration, sizeof(declaration),
                  .input_layout_handle = DECLARATION, .blob_size_bytes = sizeof(declaration));
    sample_layout(s, LAYOUT, "POSITION:4 COLOR:4");
    ABI_EMIT(&s->stream, SET_RASTERIZER_STATE, set_rasterizer_state, .cull_mode = AEROGPU_CULL_NONE);
}

static void draw_rectangle(struct sample *s)
{
    static const uint32_t bools[2] = {1, 0};
    static const int32_t ints[2][4] = {{1, 0, 1, 0}, {2, 0, 1, 0}};

    sample_bind_shaders(s, BARE_VS, BARE_PS);
    ABI_EMIT(&s->stream, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = DECLARATION);
    ABI_EMIT_TAIL(&s->stream, SET_SHADER_CONSTANTS_B, set_shader_constants_b, bools, sizeof(bools),
                  .stage = AEROGPU_SHADER_STAGE_VERTEX, .start_register = 254, .bool_count = 2);
    ABI_EMIT_TAIL(&s->stream, SET_SHADER_CONSTANTS_I, set_shader_constants_i, ints, sizeof(ints),
                  .stage = AEROGPU_SHADER_STAGE_VERTEX, .start_register = 254, .vec4_count = 2);
    sample_bind_vertices(s, RECTANGLE, 24);
    ABI_EMIT(&s->stream, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology,
             .topology = AEROGPU_TOPOLOGY_TRIANGLELIST);
    ABI_EMIT(&s->stream, DRAW, draw, .vertex_count = 6, .instance_count = 1);
}

static void draw_disc(struct sample *s, float radius)
{
    struct aerogpu_unordered_access_buffer_binding uav = {.buffer = CIRCLE,
                                                          .initial_count = AEROGPU_UAV_INITIAL_COUNT_KEEP};
    const float place[4] = {radius * HEIGHT / WIDTH, radius, 0.5f, 0};

    ABI_EMIT(&s->stream, BIND_SHADERS, bind_shaders, .vs = VS, .ps = PS, .cs = RING_CS);
    ABI_EMIT_TAIL(&s->stream, SET_UNORDERED_ACCESS_BUFFERS, set_unordered_access_buffers, &uav, sizeof(uav),
                  .shader_stage = AEROGPU_SHADER_STAGE_COMPUTE, .uav_count = 1, .stage_ex = 4);
    ABI_EMIT(&s->stream, DISPATCH, dispatch, .group_count_x = 1, .group_count_y = 1, .group_count_z = 1,
             .stage_ex = 4);
    ABI_EMIT_TAIL(&s->stream, UPLOAD_RESOURCE, upload_resource, place, sizeof(place),
                  .resource_handle = PLACE, .size_bytes = sizeof(place));
    ABI_EMIT(&s->stream, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = LAYOUT);
    sample_bind_constants(s, AEROGPU_SHADER_STAGE_VERTEX, 0, PLACE, sizeof(place));
    sample_bind_vertices(s, CIRCLE, STRIDE);
    ABI_EMIT(&s->stream, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology,
             .topology = AEROGPU_TOPOLOGY_TRIANGLEFAN);
    ABI_EMIT(&s->stream, DRAW, draw, .vertex_count = POINTS, .instance_count = 1);
}

void sample_producers(struct sample *s)
{
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        sample_begin_frame(s);
        if (frame == 0)
            create(s);
        sample_clear(s, AEROGPU_CLEAR_COLOR, 0.1f, 0.1f, 0.1f);
        draw_rectangle(s);
        draw_disc(s, 0.6f + 0.6f * (float)frame);
        ABI_EMIT(&s->stream, PRESENT, present, .flags = 0);
        sample_submit(s, 1, 1);
        sample_end_frame(s);
    }
}
