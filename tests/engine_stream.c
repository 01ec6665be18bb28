#include "engine_stream.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include <aerogpu/pci.h>

#include "abi/d3d9_states.h"

bool stream_verbose;

enum {
    VERTICES = 96,  /* of buffers 1 and 7 */
    INDICES = 120,  /* of buffers 4 and 5 */
    MAX_INDEX = 40, /* in them */
    WIDTH = 48,
    HEIGHT = 32,
    VB = 1,
    VB_TEXTURED = 2,
    VB_INSTANCES = 3,
    IB16 = 4,
    IB32 = 5,
    CB = 6,
    VB_COMPUTED = 7,
    VB_LIT = 8,
    VB_COMPUTED2 = 9,
    BACKED = 10,
    BACKED_ALIAS = 11, /* two buffers over the same guest memory */
    FIRST_TARGET = 100,
    FIRST_DEPTH = 120,
    FIRST_TEXTURE = 130,
    FIRST_VIEW = 140,
    FIRST_MIRROR = 200,
    FIRST_LAYOUT = 40,
    FIRST_SHADER = 50,
    FIRST_SAMPLER = 90,
    NOISE_TARGET = 99,
    BACKING_GPA = RIG_DATA_GPA + (31 << 20),
    MIRROR_BYTES = 1 << 20,
};

/* ---- what there is ------------------------------------------------------------------------------------------------ */

struct image {
    uint32_t handle, format, width, height, mips, layers, bytes;
};

static const struct image images[] = {
    {FIRST_TARGET + 0, AEROGPU_FORMAT_R8G8B8A8_UNORM, WIDTH, HEIGHT, 1, 1, 4},
    {FIRST_TARGET + 1, AEROGPU_FORMAT_B8G8R8X8_UNORM, WIDTH, HEIGHT, 1, 1, 4},
    {FIRST_TARGET + 2, AEROGPU_FORMAT_B5G6R5_UNORM, WIDTH, HEIGHT, 1, 1, 2},
    {FIRST_TARGET + 3, AEROGPU_FORMAT_R8G8B8A8_UNORM_SRGB, WIDTH, HEIGHT, 1, 1, 4},
    {FIRST_TARGET + 4, AEROGPU_FORMAT_R8G8B8A8_UNORM, 2 * WIDTH, 2 * HEIGHT, 3, 2, 4},
    {FIRST_TARGET + 5, AEROGPU_FORMAT_B8G8R8A8_UNORM, 40, 24, 1, 1, 4},
    {FIRST_DEPTH + 0, AEROGPU_FORMAT_D32_FLOAT, WIDTH, HEIGHT, 1, 1, 4},
    {FIRST_DEPTH + 1, AEROGPU_FORMAT_D24_UNORM_S8_UINT, WIDTH, HEIGHT, 1, 1, 4},
    {FIRST_DEPTH + 2, AEROGPU_FORMAT_D24_UNORM_S8_UINT, 2 * WIDTH, 2 * HEIGHT, 1, 1, 4},
    {FIRST_TEXTURE + 0, AEROGPU_FORMAT_R8G8B8A8_UNORM, 8, 8, 4, 1, 4},
    {FIRST_TEXTURE + 1, AEROGPU_FORMAT_B5G5R5A1_UNORM, 5, 3, 1, 1, 2},
    {FIRST_TEXTURE + 2, AEROGPU_FORMAT_B8G8R8X8_UNORM, 4, 4, 1, 2, 4},
    {FIRST_TEXTURE + 3, AEROGPU_FORMAT_R8G8B8A8_UNORM, WIDTH, HEIGHT, 1, 1, 4},
};
enum { NUM_IMAGES = sizeof(images) / sizeof(images[0]), NUM_TARGETS = 6, NUM_DEPTHS = 3, NUM_TEXTURES = 4 };

static const struct {
    uint32_t handle, texture, mip, mips, layer, layers;
} views[] = {{FIRST_VIEW + 0, FIRST_TARGET + 4, 1, 1, 1, 1},
             {FIRST_VIEW + 1, FIRST_TARGET + 4, 0, 1, 0, 1},
             {FIRST_VIEW + 2, FIRST_TEXTURE + 0, 1, 2, 0, 1},
             {FIRST_VIEW + 3, FIRST_TEXTURE + 2, 0, 1, 1, 1}};

static const struct {
    uint32_t handle, size;
} mirrored_buffers[] = {
    {VB, VERTICES * 32}, {VB_COMPUTED, VERTICES * 32}, {VB_COMPUTED2, VERTICES * 32}, {CB, 512},
    {BACKED, 512},       {BACKED_ALIAS, 512}};
enum { NUM_BUFFERS = sizeof(mirrored_buffers) / sizeof(mirrored_buffers[0]) };
_Static_assert(NUM_IMAGES + NUM_BUFFERS <= STREAM_MIRRORS, "room for all mirrors");

enum uses { USES_TEXTURE = 1, USES_TRIANGLES = 2, USES_PATCHES = 4, USES_D3D9 = 8 };

static const struct program {
    const char *vs, *ps, *gs, *hs, *ds;
    uint32_t layout, uses;
} programs[] = {
    {"colour_vs.dxbc", "colour_ps.dxbc", NULL, NULL, NULL, 0, 0},
    {"scaled_vs.dxbc", "colour_ps.dxbc", NULL, NULL, NULL, 0, 0},
    {"instanced_vs.dxbc", "colour_ps.dxbc", NULL, NULL, NULL, 1, 0},
    {"instanced_vs.dxbc", "clip_ps.dxbc", NULL, NULL, NULL, 2, 0},
    {"fullscreen_vs.dxbc", "texture_ps.dxbc", NULL, NULL, NULL, 0, USES_TEXTURE},
    {"fullscreen_vs.dxbc", "load_ps.dxbc", NULL, NULL, NULL, 0, USES_TEXTURE},
    {"texture_vs.dxbc", "texture_ps.dxbc", NULL, NULL, NULL, 3, USES_TEXTURE},
    {"texture_vs.dxbc", "texture_level_ps.dxbc", NULL, NULL, NULL, 3, USES_TEXTURE},
    {"colour_vs.dxbc", "targets_ps.dxbc", NULL, NULL, NULL, 0, 0},
    {"colour_vs.dxbc", "depth_ps.dxbc", NULL, NULL, NULL, 0, 0},
    {"colour_vs.dxbc", "colour_ps.dxbc", "quads_gs.dxbc", NULL, NULL, 0, USES_TRIANGLES},
    {"control_vs.dxbc", "colour_ps.dxbc", NULL, "bulge_hs.dxbc", "bulge_ds.dxbc", 0, USES_PATCHES},
    {"colour_vs_2_0.d3d9", "colour_ps_2_0.d3d9", NULL, NULL, NULL, 4, USES_D3D9},
    {"loop_vs30.d3d9", "targets_ps_3_0.d3d9", NULL, NULL, NULL, 4, USES_D3D9},
    {"lit_vs_2_0.d3d9", "textured_ps_2_0.d3d9", NULL, NULL, NULL, 5, USES_D3D9 | USES_TEXTURE},
    {"lit_vs_3_0.d3d9", "textured_ps_3_0.d3d9", NULL, NULL, NULL, 5, USES_D3D9 | USES_TEXTURE},
};
enum { NUM_PROGRAMS = sizeof(programs) / sizeof(programs[0]) };

static const char *const compute_shaders[] = {"ring_structured_cs.dxbc", "swap_structured_cs.dxbc"};

struct stream {
    struct rig *r;
    uint64_t rng, cut_rng;
    enum stream_cuts cuts;
    uint64_t seed;
    uint32_t handles[64]; /* of shader files, in the order in which they were made */
    const char *files[64];
    uint32_t num_files;
    const struct program *program;
    uint32_t topology;
    uint32_t targets[8], num_targets, depth;
    uint32_t texture[2];  /* bound to t0 of the pixel stage, and the texture behind it */
    struct stream *noise; /* what the other context does; NULL: nothing */
};

/* ---- chance ------------------------------------------------------------------------------------------------------- */

static uint32_t next(uint64_t *rng)
{
    *rng += 0x9E3779B97F4A7C15u;
    uint64_t z = (*rng ^ *rng >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)(z >> 32);
}

static uint32_t below(struct stream *s, uint32_t n)
{
    return next(&s->rng) % n;
}

static bool chance(struct stream *s, uint32_t one_in)
{
    return below(s, one_in) == 0;
}

static float between(struct stream *s, float lo, float hi)
{
    return lo + (hi - lo) * (float)below(s, 1 << 20) / (float)((1 << 20) - 1);
}

/* ---- submissions -------------------------------------------------------------------------------------------------- */

static void allow(struct stream *s)
{
    rig_alloc(s->r, 1, BACKING_GPA, 4096, 0);
    for (uint32_t i = 0; i < NUM_IMAGES + NUM_BUFFERS; i++)
        rig_alloc(s->r, 2 + i, RIG_DATA_GPA + (uint64_t)i * MIRROR_BYTES, MIRROR_BYTES, 0);
}

static void make_noise(struct stream *s);

static void submit(struct stream *s)
{
    const struct exec_completion *c;

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

/* ---- setup -------------------------------------------------------------------------------------------------------- */

static struct rig_vertex vertex(struct stream *s)
{
    return (struct rig_vertex){
        between(s, -1.3f, 1.3f), between(s, -1.3f, 1.3f), between(s, -0.1f, 1.1f), 1,
        between(s, 0, 1),        between(s, 0, 1),        between(s, 0, 1),        between(s, 0, 1)};
}

static void make_vertices(struct stream *s)
{
    struct rig_vertex v[VERTICES];
    float uv[VERTICES][6], lit[VERTICES][8], places[16][4];

    for (int i = 0; i < VERTICES; i++) {
        v[i] = vertex(s);
        for (int k = 0; k < 6; k++)
            uv[i][k] = k == 3 ? 1 : k == 2 ? between(s, 0, 1) : between(s, -1.3f, 1.3f);
        for (int k = 0; k < 8; k++)
            lit[i][k] = k == 2 ? between(s, 0, 1) : between(s, -1.2f, 1.2f);
    }
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 4; k++)
            places[i][k] = k < 2 ? between(s, -1, 1) : between(s, 0.1f, 0.6f);
    rig_make_buffer(s->r, VB, v, sizeof(v));
    rig_make_buffer(s->r, VB_TEXTURED, uv, sizeof(uv));
    rig_make_buffer(s->r, VB_LIT, lit, sizeof(lit));
    rig_make_buffer(s->r, VB_INSTANCES, places, sizeof(places));
    rig_make_buffer(s->r, VB_COMPUTED, NULL, sizeof(v));
    rig_make_buffer(s->r, VB_COMPUTED2, NULL, sizeof(v));
}

static void make_other_buffers(struct stream *s)
{
    uint16_t i16[INDICES];
    uint32_t i32[INDICES];
    float c[128];

    for (int i = 0; i < INDICES; i++) { /* some end a strip */
        i32[i] = i % 7 == 6 && chance(s, 2) ? UINT32_MAX : below(s, MAX_INDEX);
        i16[i] = i % 7 == 6 && chance(s, 2) ? UINT16_MAX : (uint16_t)below(s, MAX_INDEX);
    }
    for (int i = 0; i < 128; i++)
        c[i] = between(s, -1, 1);
    rig_make_buffer(s->r, IB16, i16, sizeof(i16));
    rig_make_buffer(s->r, IB32, i32, sizeof(i32));
    rig_make_buffer(s->r, CB, c, sizeof(c));
    for (uint32_t h = BACKED; h <= BACKED_ALIAS; h++)
        ABI_EMIT(&s->r->b, CREATE_BUFFER, create_buffer, .buffer_handle = h, .usage_flags = 255,
                 .size_bytes = 512, .backing_alloc_id = 1);
}

static uint32_t linear_size(const struct image *t)
{
    uint32_t size = 0;

    for (uint32_t m = 0; m < t->mips; m++)
        size += (t->width >> m ? t->width >> m : 1) * (t->height >> m ? t->height >> m : 1) * t->bytes;
    return size * t->layers;
}

static void create_image(struct stream *s, const struct image *t)
{
    ABI_EMIT(&s->r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = t->handle, .usage_flags = 0x38,
             .format = t->format, .width = t->width, .height = t->height, .mip_levels = t->mips,
             .array_layers = t->layers);
}

static void fill_image(struct stream *s, const struct image *t)
{
    uint8_t bytes[8192];
    uint32_t size = linear_size(t);

    assert_true(size <= sizeof(bytes));
    for (uint32_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)below(s, 256);
    rig_upload(s->r, t->handle, 0, bytes, size);
}

static void make_images(struct stream *s)
{
    for (int i = 0; i < NUM_IMAGES; i++) {
        create_image(s, &images[i]);
        if (images[i].handle >= FIRST_TEXTURE && images[i].handle < FIRST_VIEW)
            fill_image(s, &images[i]);
    }
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
        const struct image *t = images;
        while (t->handle != views[i].texture)
            t++;
        ABI_EMIT(&s->r->b, CREATE_TEXTURE_VIEW, create_texture_view, .view_handle = views[i].handle,
                 .texture_handle = t->handle, .format = t->format, .base_mip_level = views[i].mip,
                 .mip_level_count = views[i].mips, .base_array_layer = views[i].layer,
                 .array_layer_count = views[i].layers);
    }
    for (uint32_t i = 0; i < 4; i++)
        ABI_EMIT(&s->r->b, CREATE_SAMPLER, create_sampler, .sampler_handle = FIRST_SAMPLER + i,
                 .filter = i & 1, .address_u = i % 3, .address_v = (i + 1) % 3, .address_w = 0);
}

static uint32_t shader(struct stream *s, const char *file, uint32_t stage, uint32_t stage_ex)
{
    if (!file)
        return 0;
    for (uint32_t i = 0; i < s->num_files; i++)
        if (!strcmp(s->files[i], file))
            return s->handles[i];
    s->files[s->num_files] = file;
    s->handles[s->num_files] = FIRST_SHADER + s->num_files;
    rig_make_shader(s->r, s->handles[s->num_files], stage, stage_ex, file);
    return s->handles[s->num_files++];
}

static void make_programs(struct stream *s)
{
    static const struct rig_element coloured[] = {{"POSITION", 0, 2, 0, 0, 0, 0},
                                                  {"COLOR", 0, 2, 0, 16, 0, 0}};
    static const struct rig_element each[] = {
        {"POSITION", 0, 2, 0, 0, 0, 0}, {"COLOR", 0, 2, 0, 16, 0, 0}, {"TEXCOORD", 1, 2, 1, 0, 1, 1}};
    static const struct rig_element every_second[] = {
        {"POSITION", 0, 2, 0, 0, 0, 0}, {"COLOR", 0, 2, 0, 16, 0, 0}, {"TEXCOORD", 1, 2, 1, 0, 1, 2}};
    static const struct rig_element textured[] = {{"POSITION", 0, 2, 2, 0, 0, 0},
                                                  {"TEXCOORD", 0, 16, 2, 16, 0, 0}};
    /* stream, offset; type, method, usage, index */
    static const uint16_t d3d9_coloured[] = {0, 0, 3, 0, 0, 16, 3, 10, 0xFF, 0, 17, 0};
    static const uint16_t d3d9_lit[] = {3, 0, 2, 0, 3, 12, 2, 3, 3, 24, 1, 5, 0xFF, 0, 17, 0};

    for (int i = 0; i < NUM_PROGRAMS; i++) {
        shader(s, programs[i].vs, AEROGPU_SHADER_STAGE_VERTEX, 0);
        shader(s, programs[i].ps, AEROGPU_SHADER_STAGE_PIXEL, 0);
        shader(s, programs[i].gs, AEROGPU_SHADER_STAGE_GEOMETRY, 0);
        shader(s, programs[i].hs, AEROGPU_SHADER_STAGE_COMPUTE, AEROGPU_SHADER_STAGE_EX_HULL);
        shader(s, programs[i].ds, AEROGPU_SHADER_STAGE_COMPUTE, AEROGPU_SHADER_STAGE_EX_DOMAIN);
    }
    for (int i = 0; i < 2; i++)
        shader(s, compute_shaders[i], AEROGPU_SHADER_STAGE_COMPUTE, 0);
    rig_make_layout(s->r, FIRST_LAYOUT + 0, coloured, 2);
    rig_make_layout(s->r, FIRST_LAYOUT + 1, each, 3);
    rig_make_layout(s->r, FIRST_LAYOUT + 2, every_second, 3);
    rig_make_layout(s->r, FIRST_LAYOUT + 3, textured, 2);
    for (int i = 0; i < 2; i++) {
        const uint16_t *d = i ? d3d9_lit : d3d9_coloured;
        uint32_t n = i ? sizeof(d3d9_lit) : sizeof(d3d9_coloured);
        uint8_t bytes[32];
        for (uint32_t k = 0; k < n / 8; k++) {
            memcpy(bytes + 8 * k, d + 4 * k, 4);
            bytes[8 * k + 4] = (uint8_t)d[4 * k + 2];
            bytes[8 * k + 5] = 0;
            bytes[8 * k + 6] = (uint8_t)d[4 * k + 3];
            bytes[8 * k + 7] = 0;
        }
        ABI_EMIT_TAIL(&s->r->b, CREATE_INPUT_LAYOUT, create_input_layout, bytes, n,
                      .input_layout_handle = FIRST_LAYOUT + 4 + (uint32_t)i, .blob_size_bytes = n);
    }
}

/* ---- states ------------------------------------------------------------------------------------------------------- */

static void use_program(struct stream *s)
{
    const struct program *p = &programs[below(s, NUM_PROGRAMS)];
    const uint32_t more[3] = {shader(s, p->gs, 3, 0), shader(s, p->hs, 2, 3), shader(s, p->ds, 2, 4)};

    ABI_EMIT_TAIL(&s->r->b, BIND_SHADERS, bind_shaders, more, 12, .vs = shader(s, p->vs, 0, 0),
                  .ps = shader(s, p->ps, 1, 0), .cs = shader(s, compute_shaders[below(s, 2)], 2, 0));
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

/* ---- transfers ---------------------------------------------------------------------------------------------------- */

static void upload_some(struct stream *s)
{
    struct rig_vertex v[VERTICES];
    uint32_t first = chance(s, 2) ? 0 : below(s, VERTICES - 1),
             n = first ? 1 + below(s, VERTICES - first) : VERTICES;
    float c[128];

    if (chance(s, 2)) {
        for (uint32_t i = 0; i < n; i++)
            v[i] = vertex(s);
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
        create_image(s, t);
        fill_image(s, t);
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

/* ---- draws -------------------------------------------------------------------------------------------------------- */

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

/* ---- all of it ---------------------------------------------------------------------------------------------------- */

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
    make_vertices(s);
    make_other_buffers(s);
    make_images(s);
    make_programs(s);
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
        return linear_size(&images[mirror]);
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
