/* SPDX-License-Identifier: MIT */
/* Two engines over one guest memory, as two clients have them: commands of 6 bytes make, share, draw to, destroy and name again
 * resources of few handles, in several contexts; and between them submissions go off, each with one of several allocation tables in
 * which the same ids mean other memory or none, engines are reset, and contexts end.
 *
 * What must hold: each submission completes once; it writes only memory that its own table lets it write, and the scanout's;
 * and what was made before a reset is gone behind it. */
#include "fuzz.h"

#include <pthread.h>
#include <string.h>

#include <aerogpu/alloc.h>
#include <aerogpu/ext.h>
#include <aerogpu/pci.h>

#include "abi/builder.h"
#include "executor/engine/engine.h"

enum {
    ENGINES = 2,
    CONTEXTS = 3,
    COMMAND = 6,
    MAX_COMMANDS = 64,
    SLOTS = 8, /* of memory that tables give */
    SLOT = 0x4000,
    ALLOCS = SLOTS * SLOT,
    TABLES = 4,
    ENTRIES = 3,
    TABLE = ALLOCS,
    SCANOUT = ALLOCS + 0x2000,
    STREAM = ALLOCS + 0x10000,
    RAM = ALLOCS + 0x50000,
    SIDE = 32, /* texels */
};

static uint8_t *ram, *before;
static struct exec_engine *engines[ENGINES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct abi_completion last;
static uint64_t next_id;

const char *__lsan_default_suppressions(void);

/* Mesa's, not ours. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libvulkan_lvp.so\nleak:libgallium\nleak:libLLVM\n";
}

static void *dma_map(void *ctx, uint64_t gpa, uint64_t size)
{
    return gpa > RAM || size > RAM - gpa ? NULL : ram + gpa;
}

static void complete(void *ctx, const struct abi_completion *c)
{
    pthread_mutex_lock(&lock);
    if (c->id != last.id + 1 || (c->error != 0) != (c->message[0] != '\0'))
        abort();
    last = *c;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

struct table {
    struct aerogpu_alloc_table_header h;
    struct aerogpu_alloc_entry e[ENTRIES];
};

/* Table t: ids 1 to 3 in slots that differ from table to table; the second is READONLY in every other; the third is shared. */
static struct aerogpu_alloc_entry entry(unsigned t, unsigned i)
{
    return (struct aerogpu_alloc_entry){.alloc_id = i + 1,
                                        .flags = (i == 1 && t % 2 ? AEROGPU_ALLOC_FLAG_READONLY : 0) |
                                                 (i == 2 ? AEROGPU_ALLOC_FLAG_EXT_SHARED : 0),
                                        .gpa = (uint64_t)((i == 2 ? 7 : (2 * t + i) % 7) * SLOT),
                                        .size_bytes = SLOT};
}

static void setup(void)
{
    struct exec_engine_params p = {.dma_map = dma_map, .complete = complete};
    struct error e = {0};

    ram = calloc(1, RAM);
    before = calloc(1, ALLOCS);
    for (int i = 0; i < ENGINES; i++)
        if (exec_engine_create(&engines[i], &p, &e))
            abort();
}

/* Table 0 gives nothing. */
static bool writable(unsigned t, unsigned slot)
{
    for (unsigned i = 0; i < ENTRIES && t; i++) {
        struct aerogpu_alloc_entry e = entry(t, i);
        if (e.gpa / SLOT == slot && !(e.flags & AEROGPU_ALLOC_FLAG_READONLY))
            return true;
    }
    return false;
}

static void submit(unsigned engine, unsigned context, unsigned t, struct abi_builder *b)
{
    struct table table = {
        {AEROGPU_ALLOC_TABLE_MAGIC, AEROGPU_ABI_VERSION_U32, sizeof(table), ENTRIES, sizeof(table.e[0]), 0},
        {entry(t, 0), entry(t, 1), entry(t, 2)}};
    struct abi_submission s = {.id = ++next_id,
                               .cmd_gpa = STREAM,
                               .alloc_gpa = t ? TABLE : 0,
                               .alloc_size = t ? sizeof(table) : 0,
                               .context_id = context,
                               .scanout = {.enabled = 1,
                                           .width = 16,
                                           .height = 16,
                                           .format = AEROGPU_FORMAT_B8G8R8X8_UNORM,
                                           .pitch = 64,
                                           .fb_gpa = SCANOUT}};
    const void *bytes = abi_builder_end(b, &s.cmd_size);

    if (s.cmd_size > RAM - STREAM)
        abort();
    memcpy(ram + STREAM, bytes, s.cmd_size);
    abi_builder_reset(b);
    memcpy(ram + TABLE, &table, sizeof(table));
    memcpy(before, ram, ALLOCS);
    exec_engine_submit(engines[engine], &s);
    pthread_mutex_lock(&lock);
    while (last.id < next_id)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    for (unsigned i = 0; i < SLOTS; i++)
        if (!writable(t, i) && memcmp(before + i * SLOT, ram + i * SLOT, SLOT))
            abort();
}

enum {
    BUFFER,
    TEXTURE,
    DESTROY,
    EXPORT,
    IMPORT,
    RELEASE,
    TARGET,
    CLEAR,
    COPY,
    COPY_BUFFER,
    DIRTY,
    BREADCRUMBS,
    BREADCRUMB,
    CHECKPOINT,
    DRAW,
    PRESENT,
    END_CONTEXT,
    END_HANDLES,
    GO,
    GO_ON,
    RESET,
    COMMANDS
};

/* c: what, handle, another, allocation, offset, value. */
static void make(struct abi_builder *b, const uint8_t *c)
{
    uint32_t h = 1 + c[1] % 6, other = 1 + c[2] % 6, alloc = c[3] % 5, at = c[4] * 16u,
             usage = AEROGPU_RESOURCE_USAGE_TEXTURE;

    switch (c[0] % COMMANDS) {
    case BUFFER:
        ABI_EMIT(b, CREATE_BUFFER, create_buffer, .buffer_handle = h, .usage_flags = c[2],
                 .size_bytes = 4u * c[5], .backing_alloc_id = alloc, .backing_offset_bytes = at * 4);
        break;
    case TEXTURE:
        ABI_EMIT(b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = h,
                 .usage_flags = usage | AEROGPU_RESOURCE_USAGE_RENDER_TARGET,
                 .format = AEROGPU_FORMAT_B8G8R8A8_UNORM, .width = 1 + c[5] % SIDE, .height = 1 + c[2] % SIDE,
                 .mip_levels = 1, .array_layers = 1, .row_pitch_bytes = alloc ? SIDE * 4 : 0,
                 .backing_alloc_id = alloc, .backing_offset_bytes = at * 4);
        break;
    case DESTROY:
        ABI_EMIT(b, DESTROY_RESOURCE, destroy_resource, .resource_handle = h);
        break;
    case EXPORT:
        ABI_EMIT(b, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = h,
                 .share_token = 1 + c[2] % 3);
        break;
    case IMPORT:
        ABI_EMIT(b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = h,
                 .share_token = 1 + c[2] % 3);
        break;
    case RELEASE:
        ABI_EMIT(b, RELEASE_SHARED_SURFACE, release_shared_surface, .share_token = 1 + c[2] % 3);
        break;
    case TARGET:
        ABI_EMIT(b, SET_RENDER_TARGETS, set_render_targets, .color_count = c[2] % 3, .colors = {h, other});
        break;
    case CLEAR:
        ABI_EMIT(b, CLEAR, clear, .flags = 1, .color_rgba = {abi_f32((float)c[5] / 255)});
        break;
    case COPY:
        ABI_EMIT(b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = h, .src_texture = other,
                 .dst_x = c[4] % SIDE, .src_y = c[3] % SIDE, .width = 1 + c[5] % SIDE,
                 .height = 1 + c[4] % SIDE, .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
        break;
    case COPY_BUFFER:
        ABI_EMIT(b, COPY_BUFFER, copy_buffer, .dst_buffer = h, .src_buffer = other, .dst_offset_bytes = at,
                 .size_bytes = 4u * c[5], .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
        break;
    case DIRTY:
        ABI_EMIT(b, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = h, .offset_bytes = at,
                 .size_bytes = c[5]);
        break;
    case BREADCRUMBS:
        ABI_EMIT(b, EXT_BREADCRUMB_BUFFER, ext_breadcrumb_buffer, .alloc_id = alloc, .count = c[5] % 16,
                 .offset = at);
        break;
    case BREADCRUMB:
        ABI_EMIT(b, EXT_WRITE_BREADCRUMB, ext_write_breadcrumb, .type = c[2] % 2, .index = c[1] % 16,
                 .data = c[5]);
        break;
    case CHECKPOINT:
        ABI_EMIT(b, EXT_CHECKPOINT_POINTER, ext_checkpoint_pointer, .alloc_id = alloc, .payload_bytes = c[5],
                 .pointer = at);
        break;
    case DRAW:
        ABI_EMIT(b, DRAW, draw, .vertex_count = c[5] % 16, .instance_count = 1 + c[4] % 2);
        break;
    case PRESENT:
        ABI_EMIT(b, PRESENT, present, .scanout_id = 0);
        break;
    case END_CONTEXT:
        ABI_EMIT(b, EXT_DESTROY_CONTEXT, ext_destroy_context, .context_id = c[1] % CONTEXTS);
        break;
    case END_HANDLES:
        ABI_EMIT(b, EXT_DESTROY_HANDLES, ext_destroy_handles, .first = h, .last = other);
        break;
    default:
        break;
    }
}

/* What a reset leaves: nothing. */
static void expect_fresh(unsigned engine, struct abi_builder *b)
{
    for (uint32_t h = 1; h < 7; h++) {
        abi_builder_reset(b);
        ABI_EMIT(b, CREATE_BUFFER, create_buffer, .buffer_handle = h,
                 .usage_flags = AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, .size_bytes = 16);
        submit(engine, 0, 0, b);
        if (last.error)
            abort();
    }
    ABI_EMIT(b, SET_RENDER_TARGETS, set_render_targets, .color_count = 0);
    ABI_EMIT(b, CLEAR, clear, .flags = 1, .color_rgba = {abi_f32(1)});
    ABI_EMIT(b, PRESENT, present, .scanout_id = 0);
    memset(ram + SCANOUT, 0, 1024);
    submit(engine, 0, 0, b);
    if (last.error || memcmp(ram + SCANOUT + 1020, "\0\0\xff\xff", 4))
        abort();
    exec_engine_reset(engines[engine]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct abi_builder b[ENGINES];
    unsigned engine = 0;

    if (!ram)
        setup();
    for (unsigned i = 0; i < ENGINES; i++)
        abi_builder_init(&b[i]);
    for (unsigned n = 0; n < MAX_COMMANDS && size >= COMMAND; n++, data += COMMAND, size -= COMMAND) {
        const uint8_t *c = data;
        unsigned what = c[0] % COMMANDS;
        if (what == GO || what == GO_ON)
            submit(engine, c[1] % CONTEXTS, c[2] % TABLES, &b[engine]);
        if (what == GO)
            engine = c[3] % ENGINES;
        else if (what == RESET)
            exec_engine_reset(engines[engine]);
        else
            make(&b[engine], c);
    }
    for (unsigned i = 0; i < ENGINES; i++) {
        submit(i, 0, 1, &b[i]);
        exec_engine_reset(engines[i]);
        expect_fresh(i, &b[i]);
        abi_builder_finish(&b[i]);
    }
    return 0;
}
