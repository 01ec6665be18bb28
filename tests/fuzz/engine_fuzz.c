/* SPDX-License-Identifier: MIT */
/* The whole engine: the input is a command stream whose header is made right; guest memory holds an
 * allocation table of three entries, one of them READONLY. Every submission completes once, and a plain clear afterwards
 * works. Draws and dispatches are kept small, since a legal stream may ask for hours of work. */
#include "fuzz.h"

#include <pthread.h>
#include <string.h>

#include <aerogpu/alloc.h>
#include <aerogpu/ext.h>
#include <aerogpu/pci.h>

#include "abi/builder.h"
#include "abi/stream.h"
#include "executor/engine/engine.h"

enum { RAM = 4 << 20, STREAM = 1 << 20, TABLE = 2 << 20, SCANOUT = 3 << 20, MAX_INPUT = 64 << 10 };

static uint8_t *ram;
static struct exec_engine *engine;
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

static void setup(void)
{
    struct exec_engine_params p = {.dma_map = dma_map, .complete = complete};
    struct {
        struct aerogpu_alloc_table_header h;
        struct aerogpu_alloc_entry e[3];
    } table = {{AEROGPU_ALLOC_TABLE_MAGIC, AEROGPU_ABI_VERSION_U32, sizeof(table), 3, 32, 0},
               {{.alloc_id = 1, .gpa = 0x1000, .size_bytes = 0x10000},
                {.alloc_id = 2, .gpa = 0x20000, .size_bytes = 0x1000, .flags = AEROGPU_ALLOC_FLAG_READONLY},
                {.alloc_id = 3, .gpa = RAM - 256, .size_bytes = 4096}}};
    struct error e = {0};

    ram = calloc(1, RAM);
    memcpy(ram + TABLE, &table, sizeof(table));
    if (exec_engine_create(&engine, &p, &e))
        abort();
}

static void run(uint32_t size)
{
    const struct abi_submission s = {.id = ++next_id,
                                     .cmd_gpa = STREAM,
                                     .cmd_size = size,
                                     .alloc_gpa = TABLE,
                                     .alloc_size = 24 + 96,
                                     .scanout = {.enabled = 1,
                                                 .width = 16,
                                                 .height = 16,
                                                 .format = AEROGPU_FORMAT_B8G8R8X8_UNORM,
                                                 .pitch = 64,
                                                 .fb_gpa = SCANOUT}};

    exec_engine_submit(engine, &s);
    pthread_mutex_lock(&lock);
    while (last.id < next_id)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* Makes what a legal stream asks for small; malformed packets stay as they are. */
static void tame(uint8_t *stream, uint32_t size)
{
    struct abi_stream s;
    struct abi_packet p;

    if (abi_stream_open(&s, stream, size, NULL))
        return;
    while (abi_stream_next(&s, &p, NULL) > 0) {
        uint32_t *f = (uint32_t *)(void *)(stream + p.offset + 8);
        if (p.opcode == AEROGPU_CMD_DRAW || p.opcode == AEROGPU_CMD_DRAW_INDEXED)
            f[0] %= 64, f[1] %= 4;
        else if (p.opcode == AEROGPU_CMD_DISPATCH)
            f[0] %= 4, f[1] %= 4, f[2] %= 4;
        else if (p.opcode == AEROGPU_CMD_EXT_DRAW_INDIRECT || p.opcode == AEROGPU_CMD_EXT_DISPATCH_INDIRECT)
            f[3] |= 1; /* what lies in the buffer would have to be small, too: outside of any */
        else if (p.opcode == AEROGPU_CMD_CREATE_TEXTURE2D && f[3] < 1 << 20 && f[4] < 1 << 20)
            f[3] %= 257, f[4] %= 257, f[6] %= 13;
        else if (p.opcode == AEROGPU_CMD_CREATE_BUFFER)
            f[3] = 0, f[2] %= 1 << 20;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct aerogpu_cmd_stream_header h = {.magic = AEROGPU_CMD_STREAM_MAGIC,
                                          .abi_version = AEROGPU_ABI_VERSION_U32};
    struct abi_builder b;
    const void *bytes;
    uint32_t n;

    if (!engine)
        setup();
    if (size > MAX_INPUT || size < sizeof(h))
        return 0;
    data += sizeof(h);
    size = (size - sizeof(h)) & ~(size_t)3;
    h.size_bytes = (uint32_t)(sizeof(h) + size);
    memcpy(ram + STREAM, &h, sizeof(h));
    memcpy(ram + STREAM + sizeof(h), data, size);
    tame(ram + STREAM, h.size_bytes);
    run(h.size_bytes);
    exec_engine_reset(engine);
    abi_builder_init(&b);
    ABI_EMIT(&b, CLEAR, clear, .flags = 1, .color_rgba = {abi_f32(1), 0, 0, 0});
    ABI_EMIT(&b, PRESENT, present, .scanout_id = 0);
    bytes = abi_builder_end(&b, &n);
    memcpy(ram + STREAM, bytes, n);
    memset(ram + SCANOUT, 0, 1024);
    run(n);
    if (last.error || memcmp(ram + SCANOUT + 1020, "\0\0\xff\xff", 4))
        abort();
    exec_engine_reset(engine);
    abi_builder_finish(&b);
    return 0;
}
