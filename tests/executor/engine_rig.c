/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "engine_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aerogpu/alloc.h>
#include <aerogpu/pci.h>

#include "base/file/png.h"

static void *dma_map(void *ctx, uint64_t gpa, uint64_t size)
{
    struct rig *r = ctx;

    return gpa > RIG_RAM || size > RIG_RAM - gpa ? NULL : r->ram + gpa;
}

static void complete(void *ctx, const struct abi_completion *c)
{
    struct rig *r = ctx;

    pthread_mutex_lock(&r->lock);
    r->overtaken |= c->id <= r->last.id;
    r->last = *c;
    r->completed++;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

int rig_create(struct rig *r)
{
    return rig_create_like(r, &(struct exec_engine_params){0});
}

int rig_create_like(struct rig *r, const struct exec_engine_params *like)
{
    struct exec_engine_params p = *like;
    struct error e = {0};
    int err;

    p.dma_map = dma_map;
    p.complete = complete;
    p.ctx = r;
    *r = (struct rig){0};
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    r->ram = calloc(1, RIG_RAM);
    abi_builder_init(&r->b);
    err = exec_engine_create(&r->engine, &p, &e);
    if (err)
        fprintf(stderr, "# %s\n", e.text);
    rig_scanout(r, 64, 64);
    return err;
}

void rig_destroy(struct rig *r)
{
    exec_engine_destroy(r->engine);
    abi_builder_finish(&r->b);
    free(r->ram);
}

void rig_scanout(struct rig *r, uint32_t width, uint32_t height)
{
    r->scanout = (struct abi_scanout){.enabled = 1,
                                      .width = width,
                                      .height = height,
                                      .format = AEROGPU_FORMAT_R8G8B8A8_UNORM,
                                      .pitch = width * 4,
                                      .fb_gpa = RIG_SCANOUT_GPA};
}

void rig_alloc(struct rig *r, uint32_t alloc_id, uint64_t gpa, uint64_t size, uint32_t flags)
{
    struct aerogpu_alloc_entry entry = {.alloc_id = alloc_id, .flags = flags, .gpa = gpa, .size_bytes = size};
    struct aerogpu_alloc_table_header *h = (void *)(r->ram + RIG_TABLE_GPA);

    memcpy(r->ram + RIG_TABLE_GPA + sizeof(*h) + r->num_allocs++ * sizeof(entry), &entry, sizeof(entry));
    *h = (struct aerogpu_alloc_table_header){.magic = AEROGPU_ALLOC_TABLE_MAGIC,
                                             .abi_version = AEROGPU_ABI_VERSION_U32,
                                             .size_bytes =
                                                 (uint32_t)(sizeof(*h) + r->num_allocs * sizeof(entry)),
                                             .entry_count = r->num_allocs,
                                             .entry_stride_bytes = sizeof(entry)};
}

/* Seeds for the fuzzers, if the environment has AEROGPU_TEST_STREAMS=DIR. */
static void save_stream(const struct rig *r, const void *bytes, uint32_t size)
{
    const char *dir = getenv("AEROGPU_TEST_STREAMS");
    char path[512];
    FILE *f;

    if (!dir)
        return;
    snprintf(path, sizeof(path), "%s/%s-%03u", dir, program_invocation_short_name, (unsigned)r->next_id);
    f = fopen(path, "wb");
    if (!f)
        return;
    fwrite(bytes, 1, size, f);
    fclose(f);
}

void rig_submit(struct rig *r)
{
    struct abi_submission s = {
        .id = ++r->next_id, .cmd_gpa = RIG_STREAM_GPA, .context_id = r->context_id, .scanout = r->scanout};
    const void *bytes = abi_builder_end(&r->b, &s.cmd_size);

    memcpy(r->ram + RIG_STREAM_GPA, bytes, s.cmd_size);
    save_stream(r, bytes, s.cmd_size);
    if (r->num_allocs) {
        s.alloc_gpa = RIG_TABLE_GPA;
        s.alloc_size = (uint32_t)(24 + r->num_allocs * 32);
    }
    exec_engine_submit(r->engine, &s);
    abi_builder_reset(&r->b);
    r->num_allocs = 0;
}

void rig_wait(struct rig *r)
{
    pthread_mutex_lock(&r->lock);
    while (r->completed < r->next_id)
        pthread_cond_wait(&r->changed, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

const struct abi_completion *rig_run(struct rig *r)
{
    rig_submit(r);
    rig_wait(r);
    return &r->last;
}

void rig_run_ok(struct rig *r)
{
    const struct abi_completion *c = rig_run(r);

    if (c->error)
        fail_msg("error %u: %s", c->error, c->message);
}

uint32_t rig_pixel(const struct rig *r, uint32_t x, uint32_t y)
{
    const uint8_t *p = r->ram + RIG_SCANOUT_GPA + (size_t)y * r->scanout.pitch + 4 * x;

    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

void rig_save(const struct rig *r, const char *name)
{
    const char *dir = getenv("AEROGPU_TEST_PNG");
    char path[512];

    if (!dir)
        return;
    snprintf(path, sizeof(path), "%s/%s.png", dir, name);
    png_file_write(path, r->ram + RIG_SCANOUT_GPA, r->scanout.width, r->scanout.height, r->scanout.pitch,
                   NULL);
}

uint8_t *rig_shader(const char *name, uint32_t *size)
{
    char path[512];
    uint8_t *bytes = NULL;
    FILE *f;

    snprintf(path, sizeof(path), "%s/samples/shaders/%s", AEROGPU_SOURCE_DIR, name);
    f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    *size = (uint32_t)ftell(f);
    rewind(f);
    bytes = malloc(*size);
    if (fread(bytes, 1, *size, f) != *size) {
        free(bytes);
        bytes = NULL;
    }
    fclose(f);
    return bytes;
}

/* ---- packets ------------------------------------------------------------- */

void rig_make_target_of(struct rig *r, uint32_t handle, uint32_t format, uint32_t w, uint32_t h)
{
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = handle,
             .usage_flags = format == AEROGPU_FORMAT_D24_UNORM_S8_UINT || format == AEROGPU_FORMAT_D32_FLOAT
                                ? AEROGPU_RESOURCE_USAGE_DEPTH_STENCIL
                                : AEROGPU_RESOURCE_USAGE_RENDER_TARGET | AEROGPU_RESOURCE_USAGE_TEXTURE,
             .format = format, .width = w, .height = h, .mip_levels = 1, .array_layers = 1);
}

void rig_set_target(struct rig *r, uint32_t color, uint32_t depth)
{
    ABI_EMIT(&r->b, SET_RENDER_TARGETS, set_render_targets, .color_count = color != 0, .depth_stencil = depth,
             .colors = {color});
}

void rig_make_target(struct rig *r)
{
    rig_make_target_of(r, TARGET, AEROGPU_FORMAT_R8G8B8A8_UNORM, 64, 64);
    rig_set_target(r, TARGET, 0);
}

void rig_clear(struct rig *r, uint32_t flags, uint32_t rgba, float depth, uint32_t stencil)
{
    ABI_EMIT(&r->b, CLEAR, clear, .flags = flags,
             .color_rgba = {abi_f32((float)(rgba >> 24) / 255), abi_f32((float)(rgba >> 16 & 255) / 255),
                            abi_f32((float)(rgba >> 8 & 255) / 255), abi_f32((float)(rgba & 255) / 255)},
             .depth = abi_f32(depth), .stencil = stencil);
}

void rig_make_buffer(struct rig *r, uint32_t handle, const void *data, uint32_t size)
{
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = handle, .usage_flags = 255,
             .size_bytes = size);
    if (data)
        ABI_EMIT_TAIL(&r->b, UPLOAD_RESOURCE, upload_resource, data, size, .resource_handle = handle,
                      .size_bytes = size);
}

void rig_make_shader(struct rig *r, uint32_t handle, uint32_t stage, uint32_t stage_ex, const char *file)
{
    uint32_t size;
    uint8_t *bytes = rig_shader(file, &size);

    if (!bytes)
        fail_msg("no sample shader %s", file);
    ABI_EMIT_TAIL(&r->b, CREATE_SHADER_DXBC, create_shader_dxbc, bytes, size, .shader_handle = handle,
                  .stage = stage, .dxbc_size_bytes = size, .stage_ex = stage_ex);
    free(bytes);
}

void rig_bind_vb(struct rig *r, uint32_t slot, uint32_t handle, uint32_t stride, uint32_t offset)
{
    struct aerogpu_vertex_buffer_binding vb = {
        .buffer = handle, .stride_bytes = stride, .offset_bytes = offset};

    ABI_EMIT_TAIL(&r->b, SET_VERTEX_BUFFERS, set_vertex_buffers, &vb, sizeof(vb), .start_slot = slot,
                  .buffer_count = 1);
}

void rig_draw(struct rig *r, uint32_t count, uint32_t first)
{
    ABI_EMIT(&r->b, DRAW, draw, .vertex_count = count, .instance_count = 1, .first_vertex = first);
}

void rig_present(struct rig *r)
{
    ABI_EMIT(&r->b, PRESENT, present, .scanout_id = 0);
}

void rig_upload(struct rig *r, uint32_t handle, uint64_t offset, const void *data, uint32_t size)
{
    ABI_EMIT_TAIL(&r->b, UPLOAD_RESOURCE, upload_resource, data, size, .resource_handle = handle,
                  .offset_bytes = offset, .size_bytes = size);
}

void rig_use_texture(struct rig *r, uint32_t handle)
{
    ABI_EMIT(&r->b, SET_TEXTURE, set_texture, .shader_stage = AEROGPU_SHADER_STAGE_PIXEL, .texture = handle);
}

void rig_make_layout(struct rig *r, uint32_t handle, const struct rig_element *e, uint32_t n)
{
    uint32_t blob[4 + 7 * 8] = {AEROGPU_INPUT_LAYOUT_BLOB_MAGIC, 1, n, 0}, *at = blob + 4;

    for (uint32_t i = 0; i < n; i++, at += 7) {
        at[0] = abi_semantic_hash(e[i].semantic);
        at[1] = e[i].index;
        at[2] = e[i].dxgi;
        at[3] = e[i].slot;
        at[4] = e[i].offset;
        at[5] = e[i].per_instance;
        at[6] = e[i].step;
    }
    ABI_EMIT_TAIL(&r->b, CREATE_INPUT_LAYOUT, create_input_layout, blob, 16 + 28 * n,
                  .input_layout_handle = handle, .blob_size_bytes = 16 + 28 * n);
    ABI_EMIT(&r->b, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = handle);
}

void rig_coloured(struct rig *r, const char *vs, const char *ps, const struct rig_vertex *v, uint32_t n)
{
    static const struct rig_element e[] = {{"POSITION", 0, 2, 0, 0, 0, 0}, {"COLOR", 0, 2, 0, 16, 0, 0}};

    rig_make_shader(r, 10, AEROGPU_SHADER_STAGE_VERTEX, 0, vs);
    rig_make_shader(r, 11, AEROGPU_SHADER_STAGE_PIXEL, 0, ps);
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 10, .ps = 11);
    rig_make_layout(r, 12, e, 2);
    rig_make_buffer(r, 1, v, n * (uint32_t)sizeof(*v));
    rig_bind_vb(r, 0, 1, sizeof(*v), 0);
}

void rig_plain(struct rig *r, const struct rig_vertex *v, uint32_t n)
{
    rig_coloured(r, "colour_vs.dxbc", "colour_ps.dxbc", v, n);
}

void rig_textured(struct rig *r, const char *ps)
{
    rig_make_shader(r, 13, AEROGPU_SHADER_STAGE_VERTEX, 0, "fullscreen_vs.dxbc");
    rig_make_shader(r, 14, AEROGPU_SHADER_STAGE_PIXEL, 0, ps);
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 13, .ps = 14);
    ABI_EMIT(&r->b, CREATE_SAMPLER, create_sampler, .sampler_handle = 15);
    const uint32_t s = 15;
    ABI_EMIT_TAIL(&r->b, SET_SAMPLERS, set_samplers, &s, 4, .shader_stage = AEROGPU_SHADER_STAGE_PIXEL,
                  .sampler_count = 1);
}

/* ---- groups of tests ----------------------------------------------------- */

struct rig *rig_of(void **state)
{
    if (!*state)
        skip();
    return *state;
}

int rig_group_setup(void **state)
{
    struct rig *r = malloc(sizeof(*r));

    if (rig_create(r)) {
        free(r);
        *state = NULL;
        return 0;
    }
    *state = r;
    return 0;
}

int rig_group_teardown(void **state)
{
    if (*state)
        rig_destroy(*state);
    free(*state);
    return 0;
}

static void reset_between(struct rig *r)
{
    exec_engine_reset(r->engine);
    rig_scanout(r, 64, 64);
    memset(r->ram + RIG_SCANOUT_GPA, 0xAB, 64 * 64 * 4);
}

int rig_each(void **state)
{
    if (*state)
        reset_between(*state);
    return 0;
}

void rig_expect_error(struct rig *r, uint32_t code, const char *text)
{
    const struct abi_completion *c = rig_run(r);

    if (c->error != code || !strstr(c->message, text))
        fail_msg("error %u '%s', expected %u '%s'", c->error, c->message, code, text);
}
