/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "engine_stream_priv.h"

#include <string.h>

#include <aerogpu/pci.h>

/* ---- what there is ------------------------------------------------------- */

const struct image images[NUM_IMAGES] = {
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

const struct image_view views[NUM_VIEWS] = {{FIRST_VIEW + 0, FIRST_TARGET + 4, 1, 1, 1, 1},
                                            {FIRST_VIEW + 1, FIRST_TARGET + 4, 0, 1, 0, 1},
                                            {FIRST_VIEW + 2, FIRST_TEXTURE + 0, 1, 2, 0, 1},
                                            {FIRST_VIEW + 3, FIRST_TEXTURE + 2, 0, 1, 1, 1}};

const struct mirrored_buffer mirrored_buffers[NUM_BUFFERS] = {
    {VB, VERTICES * 32}, {VB_COMPUTED, VERTICES * 32}, {VB_COMPUTED2, VERTICES * 32}, {CB, 512},
    {BACKED, 512},       {BACKED_ALIAS, 512}};

const struct program programs[NUM_PROGRAMS] = {
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

const char *const compute_shaders[2] = {"ring_structured_cs.dxbc", "swap_structured_cs.dxbc"};

/* ---- setup --------------------------------------------------------------- */

struct rig_vertex stream_vertex(struct stream *s)
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
        v[i] = stream_vertex(s);
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

uint32_t stream_image_bytes(const struct image *t)
{
    uint32_t size = 0;

    for (uint32_t m = 0; m < t->mips; m++)
        size += (t->width >> m ? t->width >> m : 1) * (t->height >> m ? t->height >> m : 1) * t->bytes;
    return size * t->layers;
}

void stream_create_image(struct stream *s, const struct image *t)
{
    ABI_EMIT(&s->r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = t->handle, .usage_flags = 0x38,
             .format = t->format, .width = t->width, .height = t->height, .mip_levels = t->mips,
             .array_layers = t->layers);
}

void stream_fill_image(struct stream *s, const struct image *t)
{
    uint8_t bytes[8192];
    uint32_t size = stream_image_bytes(t);

    assert_true(size <= sizeof(bytes));
    for (uint32_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)below(s, 256);
    rig_upload(s->r, t->handle, 0, bytes, size);
}

static void make_images(struct stream *s)
{
    for (int i = 0; i < NUM_IMAGES; i++) {
        stream_create_image(s, &images[i]);
        if (images[i].handle >= FIRST_TEXTURE && images[i].handle < FIRST_VIEW)
            stream_fill_image(s, &images[i]);
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

uint32_t stream_shader(struct stream *s, const char *file, uint32_t stage, uint32_t stage_ex)
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
        stream_shader(s, programs[i].vs, AEROGPU_SHADER_STAGE_VERTEX, 0);
        stream_shader(s, programs[i].ps, AEROGPU_SHADER_STAGE_PIXEL, 0);
        stream_shader(s, programs[i].gs, AEROGPU_SHADER_STAGE_GEOMETRY, 0);
        stream_shader(s, programs[i].hs, AEROGPU_SHADER_STAGE_COMPUTE, AEROGPU_SHADER_STAGE_EX_HULL);
        stream_shader(s, programs[i].ds, AEROGPU_SHADER_STAGE_COMPUTE, AEROGPU_SHADER_STAGE_EX_DOMAIN);
    }
    for (int i = 0; i < 2; i++)
        stream_shader(s, compute_shaders[i], AEROGPU_SHADER_STAGE_COMPUTE, 0);
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

void stream_make_all(struct stream *s)
{
    make_vertices(s);
    make_other_buffers(s);
    make_images(s);
    make_programs(s);
}
