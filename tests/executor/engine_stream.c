/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "engine_stream_priv.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include <aerogpu/pci.h>

#include "abi/d3d9_states.h"

bool stream_verbose;

/* ---- submissions --------------------------------------------------------- */

static void allow(struct stream *s)
{
    rig_alloc(s->r, 1, BACKING_GPA, 4096, 0);
    for (uint32_t i = 0; i < NUM_IMAGES + NUM_BUFFERS; i++)
        rig_alloc(s->r, 2 + i, RIG_DATA_GPA + (uint64_t)i * MIRROR_BYTES, MIRROR_BYTES, 0);
}

static void make_noise(struct stream *s);

static void submit(struct stream *s)
{
    const struct abi_completion *c;

    allow(s);
    c = rig_run(s->r);
    if (c->error)
        fail_msg("seed %llu: error %u: %s", (unsigned long long)s->seed, c->error, c->message);
    if (!s->noise)
        return;
    s->r->context_id = 7;
    make_noise(s->noise);
    c = rig_run(s->r);
    if (c->error)
        fail_msg("seed %llu: the other context: error %u: %s", (unsigned long long)s->seed, c->error,
                 c->message);
    s->r->context_id = 0;
}

/* Behind something that the device works on. */
static void worked(struct stream *s)
{
    if (s->cuts == CUT_DRAWS || s->cuts == CUT_NOISE || (s->cuts == CUT_RANDOM && next(&s->cut_rng) % 4 == 0))
        submit(s);
}

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *fmt, ...)
{
    va_list ap;

    if (!stream_verbose)
        return;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

/* ---- states -------------------------------------------------------------- */

static void use_program(struct stream *s)
{
    const struct program *p = &programs[below(s, NUM_PROGRAMS)];
    const uint32_t more[3] = {stream_shader(s, p->gs, 3, 0), stream_shader(s, p->hs, 2, 3),
                              stream_shader(s, p->ds, 2, 4)};

    ABI_EMIT_TAIL(&s->r->b, BIND_SHADERS, bind_shaders, more, 12, .vs = stream_shader(s, p->vs, 0, 0),
                  .ps = stream_shader(s, p->ps, 1, 0),
                  .cs = stream_shader(s, compute_shaders[below(s, 2)], 2, 0));
    ABI_EMIT(&s->r->b, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = FIRST_LAYOUT + p->layout);
    s->program = p;
    say("  program %s %s", p->vs, p->ps);
}

static void use_topology(struct stream *s)
{
    static const uint32_t all[] = {AEROGPU_TOPOLOGY_TRIANGLELIST, AEROGPU_TOPOLOGY_TRIANGLESTRIP,
                                   AEROGPU_TOPOLOGY_TRIANGLELIST, AEROGPU_TOPOLOGY_TRIANGLEFAN,
                                   AEROGPU_TOPOLOGY_LINESTRIP,    AEROGPU_TOPOLOGY_POINTLIST};

    s->topology = all[below(s, s->program->uses & USES_TRIANGLES ? 3 : 6)];
    if (s->program->uses & USES_PATCHES)
        s->topology = AEROGPU_TOPOLOGY_PATCHLIST_3;
    ABI_EMIT(&s->r->b, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology, .topology = s->topology);
}

static uint32_t texture_behind(uint32_t handle)
{
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
        if (views[i].handle == handle)
            return views[i].texture;
    return handle;
}

static bool is_target(const struct stream *s, uint32_t texture)
{
    for (uint32_t i = 0; i < s->num_targets; i++)
        if (texture_behind(s->targets[i]) == texture)
            return true;
    return s->depth == texture;
}

static void use_texture(struct stream *s)
{
    static const uint32_t all[] = {FIRST_TEXTURE,    FIRST_TEXTURE + 1, FIRST_TEXTURE + 2, FIRST_TEXTURE + 3,
                                   FIRST_VIEW + 2,   FIRST_VIEW + 3,    FIRST_TARGET,      FIRST_TARGET + 1,
                                   FIRST_TARGET + 4, FIRST_VIEW,        FIRST_DEPTH,       0};
    uint32_t handle = all[below(s, sizeof(all) / sizeof(all[0]))];

    if (is_target(s, texture_behind(handle)))
        handle = 0;
    s->texture[0] = handle;
    s->texture[1] = texture_behind(handle);
    rig_use_texture(s->r, handle);
    say("  texture %u", handle);
}

static void use_targets(struct stream *s)
{
    struct aerogpu_cmd_set_render_targets c = {0};

    s->num_targets = below(s, 4);
    s->depth = chance(s, 3) ? 0 : FIRST_DEPTH + below(s, NUM_DEPTHS);
    for (uint32_t i = 0; i < s->num_targets; i++) {
        s->targets[i] = chance(s, 6)   ? 0
                        : chance(s, 5) ? FIRST_VIEW + below(s, 2)
                                       : FIRST_TARGET + below(s, NUM_TARGETS);
        for (uint32_t k = 0; k < i; k++) /* one place only */
            if (texture_behind(s->targets[k]) == texture_behind(s->targets[i]))
                s->targets[i] = 0;
        c.colors[i] = s->targets[i];
    }
    bool any = s->depth != 0;
    for (uint32_t i = 0; i < s->num_targets; i++)
        any |= s->targets[i] != 0;
    if (!any) {
        s->num_targets = 1;
        s->targets[0] = c.colors[0] = FIRST_TARGET;
    }
    c.color_count = s->num_targets;
    c.depth_stencil = s->depth;
    if (is_target(s, s->texture[1])) {
        s->texture[0] = s->texture[1] = 0;
        rig_use_texture(s->r, 0);
    }
    abi_builder_packet(&s->r->b, AEROGPU_CMD_SET_RENDER_TARGETS, &c, sizeof(c), NULL, 0);
    say("  targets %u: %u %u %u depth %u", s->num_targets, c.colors[0], c.colors[1], c.colors[2], s->depth);
}

static void use_window(struct stream *s)
{
    if (chance(s, 2)) {
        float w = chance(s, 3) ? 0 : between(s, 20, 70), h = between(s, 15, 50);
        ABI_EMIT(&s->r->b, SET_VIEWPORT, set_viewport, .x = abi_f32(between(s, -10, 20)),
                 .y = abi_f32(between(s, -10, 15)), .width = abi_f32(w), .height = abi_f32(h),
                 .min_depth = abi_f32(chance(s, 2) ? 0 : between(s, 0, 0.5f)),
                 .max_depth = abi_f32(chance(s, 2) ? 1 : between(s, 0.5f, 1)));
    } else {
        ABI_EMIT(&s->r->b, SET_SCISSOR, set_scissor, .x = (int32_t)below(s, 40) - 10,
                 .y = (int32_t)below(s, 30) - 8, .width = (int32_t)below(s, 50),
                 .height = (int32_t)below(s, 40));
    }
}

static void use_blend(struct stream *s)
{
    struct aerogpu_cmd_set_blend_state c = {.enable = below(s, 2),
                                            .src_factor = below(s, 8),
                                            .dst_factor = below(s, 8),
                                            .blend_op = below(s, 5),
                                            .color_write_mask = !chance(s, 4) ? 15 : (uint8_t)below(s, 16),
                                            .src_factor_alpha = below(s, 8),
                                            .dst_factor_alpha = below(s, 8),
                                            .blend_op_alpha = below(s, 5),
                                            .sample_mask = chance(s, 20) ? 0 : UINT32_MAX};

    for (int i = 0; i < 4; i++)
        c.blend_constant_rgba[i] = abi_f32(between(s, 0, 1));
    abi_builder_packet(&s->r->b, AEROGPU_CMD_SET_BLEND_STATE, &c, sizeof(c), NULL, 0);
}

static void use_depth_and_raster(struct stream *s)
{
    if (chance(s, 2))
        ABI_EMIT(&s->r->b, SET_DEPTH_STENCIL_STATE, set_depth_stencil_state, .depth_enable = below(s, 2),
                 .depth_write_enable = below(s, 2), .depth_func = chance(s, 2) ? 7 : below(s, 8),
                 .stencil_enable = chance(s, 3), .stencil_read_mask = (uint8_t)below(s, 256),
                 .stencil_write_mask = (uint8_t)below(s, 256));
    else
        ABI_EMIT(&s->r->b, SET_RASTERIZER_STATE, set_rasterizer_state, .fill_mode = chance(s, 6),
                 .cull_mode = chance(s, 2) ? 0 : below(s, 3), .front_ccw = below(s, 2),
                 .scissor_enable = chance(s, 3),
                 .depth_bias = chance(s, 3) ? (int32_t)below(s, 4000000) - 2000000 : 0, .flags = below(s, 2));
}

static void use_render_state(struct stream *s)
{
    static const struct {
        uint32_t state, usual, first, count;
    } all[] = {{D3DRS_ALPHABLENDENABLE, 0, 0, 2},
               {D3DRS_SRCBLEND, 2, 1, 15},
               {D3DRS_DESTBLEND, 2, 1, 15},
               {D3DRS_BLENDOP, 1, 1, 5},
               {D3DRS_SEPARATEALPHABLENDENABLE, 0, 0, 2},
               {D3DRS_SRCBLENDALPHA, 2, 1, 15},
               {D3DRS_ZENABLE, 0, 0, 2},
               {D3DRS_ZWRITEENABLE, 1, 0, 2},
               {D3DRS_ZFUNC, 8, 1, 8},
               {D3DRS_CULLMODE, 1, 1, 3},
               {D3DRS_SCISSORTESTENABLE, 0, 0, 2},
               {D3DRS_STENCILENABLE, 0, 0, 2},
               {D3DRS_STENCILFUNC, 8, 1, 8},
               {D3DRS_STENCILPASS, 3, 1, 8},
               {D3DRS_STENCILFAIL, 1, 1, 8},
               {D3DRS_STENCILZFAIL, 1, 1, 8},
               {D3DRS_STENCILREF, 0x5A, 0, 256},
               {D3DRS_STENCILMASK, 255, 0, 256},
               {D3DRS_STENCILWRITEMASK, 255, 0, 256},
               {D3DRS_TWOSIDEDSTENCILMODE, 0, 0, 2},
               {D3DRS_CCW_STENCILFUNC, 8, 1, 8},
               {D3DRS_CCW_STENCILPASS, 4, 1, 8},
               {D3DRS_COLORWRITEENABLE, 15, 0, 16},
               {D3DRS_COLORWRITEENABLE1, 15, 0, 16},
               {D3DRS_ALPHATESTENABLE, 0, 0, 2},
               {D3DRS_ALPHAREF, 16, 0, 256},
               {D3DRS_ALPHAFUNC, 7, 1, 8},
               {D3DRS_FOGENABLE, 0, 0, 2},
               {D3DRS_FOGTABLEMODE, 3, 0, 4},
               {D3DRS_FOGCOLOR, 0x8040, 0, 0x1000000},
               {D3DRS_SHADEMODE, 2, 1, 2},
               {D3DRS_SRGBWRITEENABLE, 0, 0, 2},
               {D3DRS_BLENDFACTOR, 0xC0804020, 0, 0x7FFFFFFF}};
    uint32_t i = below(s, sizeof(all) / sizeof(all[0]));
    uint32_t value = chance(s, 2) ? all[i].usual : all[i].first + below(s, all[i].count);

    ABI_EMIT(&s->r->b, SET_RENDER_STATE, set_render_state, .state = all[i].state, .value = value);
    say("  %s %u", d3drs_name(all[i].state), value);
    if (chance(s, 4)) {
        static const uint32_t floats[] = {D3DRS_FOGSTART, D3DRS_FOGEND, D3DRS_FOGDENSITY,
                                          D3DRS_SLOPESCALEDEPTHBIAS};
        ABI_EMIT(&s->r->b, SET_RENDER_STATE, set_render_state, .state = floats[below(s, 4)],
                 .value = abi_f32(between(s, 0, 1)));
    }
}

/* A stencil test that does something, with another reference each time. */
static void use_stencil(struct stream *s)
{
    const uint32_t all[][2] = {{D3DRS_STENCILENABLE, !chance(s, 4)},
                               {D3DRS_STENCILFUNC, chance(s, 2) ? 8 : 2 + below(s, 6)},
                               {D3DRS_STENCILPASS, 3 + below(s, 4)},
                               {D3DRS_STENCILREF, below(s, 4) * 60}};

    for (uint32_t i = chance(s, 2) ? 0 : 3; i < 4; i++)
        ABI_EMIT(&s->r->b, SET_RENDER_STATE, set_render_state, .state = all[i][0], .value = all[i][1]);
    say("  stencil");
}

static void use_samplers(struct stream *s)
{
    static const struct {
        uint32_t state, first, count;
    } all[] = {{D3DSAMP_ADDRESSU, 1, 4},    {D3DSAMP_ADDRESSV, 1, 4},
               {D3DSAMP_MINFILTER, 1, 2},   {D3DSAMP_MAGFILTER, 1, 2},
               {D3DSAMP_MIPFILTER, 0, 3},   {D3DSAMP_MAXMIPLEVEL, 0, 3},
               {D3DSAMP_SRGBTEXTURE, 0, 2}, {D3DSAMP_BORDERCOLOR, 0, 0x7FFFFFFF}};

    if (chance(s, 2)) {
        uint32_t handle = chance(s, 4) ? 0 : FIRST_SAMPLER + below(s, 4);
        ABI_EMIT_TAIL(&s->r->b, SET_SAMPLERS, set_samplers, &handle, 4,
                      .shader_stage = AEROGPU_SHADER_STAGE_PIXEL, .sampler_count = 1);
    } else {
        uint32_t i = below(s, sizeof(all) / sizeof(all[0]));
        ABI_EMIT(&s->r->b, SET_SAMPLER_STATE, set_sampler_state, .shader_stage = 1, .state = all[i].state,
                 .value = all[i].first + below(s, all[i].count));
    }
}

static void use_constants(struct stream *s)
{
    float f[8][4];
    uint32_t n = 1 + below(s, 8), stage = below(s, 2);

    if (chance(s, 3)) {
        struct aerogpu_constant_buffer_binding b = {.buffer = chance(s, 5) ? 0 : CB,
                                                    .offset_bytes = 256 * below(s, 2),
                                                    .size_bytes = chance(s, 2) ? 0 : 64};
        ABI_EMIT_TAIL(&s->r->b, SET_CONSTANT_BUFFERS, set_constant_buffers, &b, sizeof(b),
                      .shader_stage = stage, .buffer_count = 1);
        return;
    }
    for (uint32_t i = 0; i < 4 * n; i++)
        f[i / 4][i % 4] = between(s, -1, 1.2f);
    if (chance(s, 4)) {
        uint32_t lanes[4] = {0, 0, below(s, 2), 0};
        ABI_EMIT_TAIL(&s->r->b, SET_SHADER_CONSTANTS_B, set_shader_constants_b, lanes, 16, .stage = stage,
                      .start_register = 1, .bool_count = 1);
    } else {
        ABI_EMIT_TAIL(&s->r->b, SET_SHADER_CONSTANTS_F, set_shader_constants_f, f, n * 16, .stage = stage,
                      .start_register = below(s, 6), .vec4_count = n);
    }
}

static void use_buffers(struct stream *s)
{
    static const uint32_t coloured[] = {VB, VB_COMPUTED, VB_COMPUTED2};

    switch (below(s, 4)) {
    case 0:
        rig_bind_vb(s->r, 0, coloured[below(s, 3)], 32, 32 * below(s, 8));
        break;
    case 1:
        rig_bind_vb(s->r, 1, chance(s, 5) ? 0 : VB_INSTANCES, 16, 16 * below(s, 4));
        break;
    case 2:
        rig_bind_vb(s->r, 2 + below(s, 2), 0, 0, 0);
        rig_bind_vb(s->r, 2, VB_TEXTURED, 24, 24 * below(s, 8));
        rig_bind_vb(s->r, 3, VB_LIT, 32, 32 * below(s, 8));
        break;
    default: {
        uint32_t wide = below(s, 2);
        ABI_EMIT(&s->r->b, SET_INDEX_BUFFER, set_index_buffer, .buffer = wide ? IB32 : IB16, .format = wide,
                 .offset_bytes = (wide ? 4 : 2) * below(s, 8));
    }
    }
}

/* ---- transfers ----------------------------------------------------------- */

static void upload_some(struct stream *s)
{
    struct rig_vertex v[VERTICES];
    uint32_t first = chance(s, 2) ? 0 : below(s, VERTICES - 1),
             n = first ? 1 + below(s, VERTICES - first) : VERTICES;
    float c[128];

    if (chance(s, 2)) {
        for (uint32_t i = 0; i < n; i++)
            v[i] = stream_vertex(s);
        rig_upload(s->r, VB, first * 32, v, n * 32);
    } else {
        first = chance(s, 2) ? 0 : below(s, 100);
        n = first ? 1 + below(s, 128 - first) : 128;
        for (uint32_t i = 0; i < n; i++)
            c[i] = between(s, -1, 1);
        rig_upload(s->r, CB, first * 4, c, n * 4);
    }
    say("  upload");
}

static void upload_texels(struct stream *s)
{
    static const uint32_t sizes[] = {8 * 4, 5 * 2, 4 * 4, WIDTH * 4}, rows[] = {8, 3, 4, HEIGHT};
    uint8_t bytes[WIDTH * 4 * 8];
    uint32_t i = below(s, NUM_TEXTURES), y = below(s, rows[i]), n = 1 + below(s, rows[i] - y);

    if (chance(s, 4)) { /* the same handle, another texture */
        const struct image *t = &images[NUM_IMAGES - NUM_TEXTURES + 1];
        ABI_EMIT(&s->r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = t->handle);
        stream_create_image(s, t);
        stream_fill_image(s, t);
        say("  texture %u made anew", t->handle);
        return;
    }
    n = n > 8 ? 8 : n;
    for (uint32_t k = 0; k < n * sizes[i]; k++)
        bytes[k] = (uint8_t)below(s, 256);
    rig_upload(s->r, FIRST_TEXTURE + i, y * sizes[i], bytes, n * sizes[i]);
    say("  texels of %u", FIRST_TEXTURE + i);
}

static void copy_some(struct stream *s)
{
    uint32_t x = below(s, WIDTH), y = below(s, HEIGHT), w = 1 + below(s, WIDTH - x),
             h = 1 + below(s, HEIGHT - y);
    uint32_t n = 4 * (1 + below(s, 32)), from = 4 * below(s, 64), to = 4 * below(s, 64);

    switch (below(s, 5)) {
    case 0: /* a target into a texture, into another layer and mip, into itself */
        ABI_EMIT(&s->r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = FIRST_TEXTURE + 3,
                 .src_texture = FIRST_TARGET, .dst_x = WIDTH - w, .dst_y = HEIGHT - h, .src_x = x, .src_y = y,
                 .width = w, .height = h);
        break;
    case 1:
        ABI_EMIT(&s->r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = FIRST_TARGET + 4,
                 .dst_mip_level = 1, .dst_array_layer = 1, .src_texture = FIRST_TARGET, .dst_x = x,
                 .dst_y = y, .src_x = x, .src_y = y, .width = w, .height = h);
        break;
    case 2:
        ABI_EMIT(&s->r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = FIRST_TARGET,
                 .src_texture = FIRST_TARGET, .dst_x = WIDTH - w, .dst_y = HEIGHT - h, .src_x = x, .src_y = y,
                 .width = w, .height = h);
        break;
    case 3: /* to guest memory, and from there into the other buffer */
        ABI_EMIT(&s->r->b, COPY_BUFFER, copy_buffer, .dst_buffer = BACKED, .src_buffer = CB,
                 .dst_offset_bytes = to, .src_offset_bytes = from, .size_bytes = n,
                 .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
        ABI_EMIT(&s->r->b, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = BACKED_ALIAS,
                 .offset_bytes = 4 * below(s, 32), .size_bytes = 4 * (1 + below(s, 90)));
        break;
    default:
        ABI_EMIT(&s->r->b, COPY_BUFFER, copy_buffer, .dst_buffer = CB, .src_buffer = BACKED_ALIAS,
                 .dst_offset_bytes = to, .src_offset_bytes = from, .size_bytes = n);
    }
    say("  copy");
    worked(s);
}

static void compute(struct stream *s)
{
    struct aerogpu_unordered_access_buffer_binding u = {.buffer = VB_COMPUTED + 2 * below(s, 2),
                                                        .initial_count = UINT32_MAX};
    struct aerogpu_shader_resource_buffer_binding b = {.buffer = VB};

    ABI_EMIT_TAIL(&s->r->b, SET_UNORDERED_ACCESS_BUFFERS, set_unordered_access_buffers, &u, sizeof(u),
                  .shader_stage = AEROGPU_SHADER_STAGE_COMPUTE, .uav_count = 1);
    ABI_EMIT_TAIL(&s->r->b, SET_SHADER_RESOURCE_BUFFERS, set_shader_resource_buffers, &b, sizeof(b),
                  .shader_stage = AEROGPU_SHADER_STAGE_COMPUTE, .buffer_count = 1);
    ABI_EMIT(&s->r->b, DISPATCH, dispatch, .group_count_x = 1, .group_count_y = 1, .group_count_z = 1);
    say("  dispatch");
    worked(s);
}

/* ---- draws --------------------------------------------------------------- */

static void clear_some(struct stream *s)
{
    ABI_EMIT(&s->r->b, CLEAR, clear, .flags = 1 + below(s, 7),
             .color_rgba = {abi_f32(between(s, 0, 1)), abi_f32(between(s, 0, 1)), abi_f32(between(s, 0, 1)),
                            abi_f32(between(s, 0, 1))},
             .depth = abi_f32(between(s, 0, 1)), .stencil = below(s, 256));
    say("  clear");
    worked(s);
}

static void draw_some(struct stream *s)
{
    uint32_t n = 3 * (1 + below(s, 6)), instances = chance(s, 3) ? 1 + below(s, 4) : 1;

    if (s->program->uses & USES_PATCHES ? s->topology != AEROGPU_TOPOLOGY_PATCHLIST_3
                                        : s->topology == AEROGPU_TOPOLOGY_PATCHLIST_3)
        use_topology(s);
    if (s->program->uses & USES_TRIANGLES && s->topology != AEROGPU_TOPOLOGY_TRIANGLELIST &&
        s->topology != AEROGPU_TOPOLOGY_TRIANGLESTRIP)
        use_topology(s);
    /* with a primitive restart in a list, its number would be an index */
    if (chance(s, 2) &&
        (s->topology == AEROGPU_TOPOLOGY_TRIANGLESTRIP || s->topology == AEROGPU_TOPOLOGY_LINESTRIP) &&
        !(s->program->uses & USES_D3D9))
        ABI_EMIT(&s->r->b, DRAW_INDEXED, draw_indexed, .index_count = n, .instance_count = instances,
                 .first_index = below(s, 60), .base_vertex = (int32_t)below(s, 20),
                 .first_instance = below(s, 3));
    else if (chance(s, 3))
        ABI_EMIT(&s->r->b, DRAW_INDEXED, draw_indexed, .index_count = 6, .instance_count = instances,
                 .first_index = 7 * (1 + below(s, 8)) - 7, .base_vertex = (int32_t)below(s, 20));
    else
        ABI_EMIT(&s->r->b, DRAW, draw, .vertex_count = n, .instance_count = instances,
                 .first_vertex = below(s, 50), .first_instance = below(s, 3));
    say("  draw of %s %s, topology %u", s->program->vs, s->program->ps, s->topology);
    worked(s);
}

/* ---- all of it ----------------------------------------------------------- */

static void step(struct stream *s)
{
    static void (*const states[])(struct stream *) = {
        use_program,  use_topology,         use_texture,      use_targets,      use_window,
        use_blend,    use_depth_and_raster, use_render_state, use_render_state, use_stencil,
        use_samplers, use_constants,        use_buffers};

    for (uint32_t n = below(s, 6); n > 0; n--)
        states[below(s, sizeof(states) / sizeof(states[0]))](s);
    switch (below(s, 14)) {
    case 0:
        clear_some(s);
        break;
    case 2:
        upload_some(s);
        break;
    case 3:
        upload_texels(s);
        break;
    case 4:
        copy_some(s);
        break;
    case 5:
        compute(s);
        break;
    default:
        draw_some(s);
    }
    if (s->cuts == CUT_RANDOM && next(&s->cut_rng) % 6 == 0)
        submit(s);
}

static void bind_all(struct stream *s)
{
    rig_bind_vb(s->r, 0, VB, 32, 0);
    rig_bind_vb(s->r, 1, VB_INSTANCES, 16, 0);
    rig_bind_vb(s->r, 2, VB_TEXTURED, 24, 0);
    rig_bind_vb(s->r, 3, VB_LIT, 32, 0);
    ABI_EMIT(&s->r->b, SET_INDEX_BUFFER, set_index_buffer, .buffer = IB16);
}

static void make_noise(struct stream *s)
{
    static void (*const states[])(struct stream *) = {use_topology,         use_window,       use_blend,
                                                      use_depth_and_raster, use_render_state, use_samplers,
                                                      use_constants,        use_buffers};

    if (chance(s, 3))
        use_program(s);
    for (uint32_t n = below(s, 5); n > 0; n--)
        states[below(s, sizeof(states) / sizeof(states[0]))](s);
    rig_use_texture(s->r, FIRST_TEXTURE);
    rig_set_target(s->r, NOISE_TARGET, 0);
    draw_some(s);
}

/* The other context begins with buffers, as the first one does. */
static void start_noise(struct stream *s, struct stream *noise)
{
    *noise = *s;
    noise->rng = s->cut_rng * 77;
    noise->cuts = CUT_NEVER;
    noise->noise = NULL;
    s->r->context_id = 7;
    rig_make_target_of(s->r, NOISE_TARGET, AEROGPU_FORMAT_R8G8B8A8_UNORM, WIDTH, HEIGHT);
    bind_all(noise);
    use_program(noise);
    use_topology(noise);
    submit(noise);
    s->r->context_id = 0;
    s->noise = noise;
}

static void start(struct stream *s, struct stream *noise)
{
    memset(s->r->ram + RIG_DATA_GPA, 0, 32 << 20);
    for (int i = 0; i < 4096; i++)
        s->r->ram[BACKING_GPA + i] = (uint8_t)below(s, 64);
    stream_make_all(s);
    use_program(s);
    use_topology(s);
    s->num_targets = 1;
    s->targets[0] = FIRST_TARGET;
    rig_set_target(s->r, FIRST_TARGET, 0);
    bind_all(s);
    if (s->cuts != CUT_NEVER)
        submit(s);
    if (s->cuts == CUT_NOISE)
        start_noise(s, noise);
}

static void mirror_all(struct stream *s)
{
    for (uint32_t i = 0; i < NUM_IMAGES; i++) {
        const struct image *t = &images[i];
        ABI_EMIT(&s->r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = FIRST_MIRROR + i,
                 .usage_flags = 0, .format = t->format, .width = t->width, .height = t->height,
                 .mip_levels = t->mips, .array_layers = t->layers, .row_pitch_bytes = t->width * t->bytes,
                 .backing_alloc_id = 2 + i);
        for (uint32_t k = 0; k < t->mips * t->layers; k++)
            ABI_EMIT(&s->r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = FIRST_MIRROR + i,
                     .src_texture = t->handle, .dst_mip_level = k % t->mips, .src_mip_level = k % t->mips,
                     .dst_array_layer = k / t->mips, .src_array_layer = k / t->mips,
                     .width = t->width >> k % t->mips, .height = t->height >> k % t->mips,
                     .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
    }
    for (uint32_t i = 0; i < NUM_BUFFERS; i++) {
        ABI_EMIT(&s->r->b, CREATE_BUFFER, create_buffer, .buffer_handle = FIRST_MIRROR + NUM_IMAGES + i,
                 .size_bytes = mirrored_buffers[i].size, .backing_alloc_id = 2 + NUM_IMAGES + i);
        ABI_EMIT(&s->r->b, COPY_BUFFER, copy_buffer, .dst_buffer = FIRST_MIRROR + NUM_IMAGES + i,
                 .src_buffer = mirrored_buffers[i].handle, .size_bytes = mirrored_buffers[i].size,
                 .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
    }
    submit(s);
}

static uint32_t mirror_size(int mirror)
{
    if (mirror < NUM_IMAGES)
        return stream_image_bytes(&images[mirror]);
    return mirror < NUM_IMAGES + NUM_BUFFERS ? mirrored_buffers[mirror - NUM_IMAGES].size : 0;
}

void stream_run(struct rig *r, uint64_t seed, uint32_t steps, enum stream_cuts cuts,
                struct stream_result *out)
{
    struct stream s = {.r = r, .rng = seed * 1000003, .cut_rng = ~seed, .cuts = cuts, .seed = seed};

    struct stream noise;

    exec_engine_reset(r->engine);
    r->context_id = 0;
    start(&s, &noise);
    for (uint32_t i = 0; i < steps; i++) {
        say("step %u", i);
        step(&s);
    }
    mirror_all(&s);
    for (int i = 0; i < STREAM_MIRRORS; i++)
        out->hash[i] = XXH3_64bits(r->ram + RIG_DATA_GPA + (size_t)i * MIRROR_BYTES, mirror_size(i));
}

const char *stream_mirror_name(int mirror)
{
    static char text[64];

    if (mirror < NUM_IMAGES)
        snprintf(text, sizeof(text), "texture %u", images[mirror].handle);
    else
        snprintf(text, sizeof(text), "buffer %u", mirrored_buffers[mirror - NUM_IMAGES].handle);
    return text;
}

void stream_explain(const struct rig *a, const struct rig *b, int mirror, char *text, uint32_t size)
{
    const uint8_t *pa = a->ram + RIG_DATA_GPA + (size_t)mirror * MIRROR_BYTES;
    const uint8_t *pb = b->ram + RIG_DATA_GPA + (size_t)mirror * MIRROR_BYTES;
    uint32_t first = 0, differ = 0;

    for (uint32_t i = 0; i < mirror_size(mirror); i++) {
        if (pa[i] == pb[i])
            continue;
        if (!differ++)
            first = i;
    }
    snprintf(text, size, "%s: %u bytes differ, the first at %u: %02x %02x %02x %02x, not %02x %02x %02x %02x",
             stream_mirror_name(mirror), differ, first, pb[first], pb[first + 1], pb[first + 2],
             pb[first + 3], pa[first], pa[first + 1], pa[first + 2], pa[first + 3]);
}
