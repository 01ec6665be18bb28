#include "engine_rig.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aerogpu/alloc.h>
#include <aerogpu/pci.h>

#include "base/png_file.h"

static void *dma_map(void *ctx, uint64_t gpa, uint64_t size)
{
    struct rig *r = ctx;

    return gpa > RIG_RAM || size > RIG_RAM - gpa ? NULL : r->ram + gpa;
}

static void complete(void *ctx, const struct exec_completion *c)
{
    struct rig *r = ctx;

    pthread_mutex_lock(&r->lock);
    r->last = *c;
    r->completed++;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

int rig_create(struct rig *r)
{
    struct exec_engine_params p = {.dma_map = dma_map, .complete = complete, .ctx = r};
    struct error e = {0};
    int err;

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
    r->scanout = (struct exec_scanout){.enabled = 1,
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
                                             .size_bytes = (uint32_t)(sizeof(*h) + r->num_allocs * sizeof(entry)),
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
    struct exec_submission s = {
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

const struct exec_completion *rig_run(struct rig *r)
{
    rig_submit(r);
    rig_wait(r);
    return &r->last;
}

void rig_run_ok(struct rig *r)
{
    const struct exec_completion *c = rig_run(r);

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
    png_file_write(path, r->ram + RIG_SCANOUT_GPA, r->scanout.width, r->scanout.height, r->scanout.pitch, NULL);
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
