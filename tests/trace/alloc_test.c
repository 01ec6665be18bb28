/* SPDX-License-Identifier: MIT */
/* alloc_test: recordings without memory or descriptors. Nothing that could not be recorded is left out in silence. */
#include "gpu_rig.h"

#include <string.h>

#include <aerogpu/alloc.h>

#include "abi/builder.h"
#include "alloc_fail.h"
#include "base/log.h"
#include "temp_dir.h"
#include "trace/reader.h"
#include "trace/recorder.h"
#include "trace/writer.h"

enum { TABLE = RIG_CMD + 0x8000, MEMORY = RIG_CMD + 0x10000, MEMORY_SIZE = 0x1000 };

struct bench {
    struct rig *rig;
    char path[64];
    uint64_t fence;
    uint32_t stream_size;
};

static void *map(void *ctx, uint64_t gpa, uint64_t size)
{
    struct rig *r = ctx;

    return gpa < RIG_RAM && size <= RIG_RAM - gpa ? r->ram + gpa : NULL;
}

static void start(struct bench *b)
{
    struct {
        struct aerogpu_alloc_table_header header;
        struct aerogpu_alloc_entry entry;
    } table = {.header = {AEROGPU_ALLOC_TABLE_MAGIC, AEROGPU_ABI_VERSION_U32, 56, 1, 32, 0},
               .entry = {.alloc_id = 9, .gpa = MEMORY, .size_bytes = MEMORY_SIZE}};
    struct abi_builder stream;
    const void *bytes;

    *b = (struct bench){.rig = rig_on(0)};
    snprintf(b->path, sizeof(b->path), "%s/recording", dir);
    rig_ring(b->rig, 16);
    abi_builder_init(&stream);
    ABI_EMIT(&stream, PRESENT, present);
    bytes = abi_builder_end(&stream, &b->stream_size);
    memcpy(b->rig->ram + RIG_CMD, bytes, b->stream_size);
    memcpy(b->rig->ram + TABLE, &table, sizeof(table));
    abi_builder_finish(&stream);
}

/* Two submissions with memory, recorded by an observer. */
static int record(void *ctx)
{
    struct bench *b = ctx;
    struct trace_recorder *recorder;
    struct trace_recorder_stats stats;
    struct error e = {0};
    int err =
        trace_recorder_create(&recorder,
                              &(struct trace_recorder_params){
                                  .path = b->path, .producer = "test", .dma_map = map, .dma_ctx = b->rig},
                              &e);

    if (err) {
        assert_null(recorder);
        return err;
    }
    gpu_observe(b->rig->gpu, trace_recorder_observer(recorder));
    for (int i = 0; i < 2; i++) {
        struct aerogpu_submit_desc *d = rig_push(b->rig, ++b->fence, 0);

        b->rig->ram[MEMORY] = (uint8_t)b->fence;
        d->cmd_gpa = RIG_CMD;
        d->cmd_size_bytes = b->stream_size;
        d->alloc_table_gpa = TABLE;
        d->alloc_table_size_bytes = 56;
        rig_kick(b->rig);
        rig_done(b->rig, b->rig->count - 1, 0, 0);
    }
    gpu_unobserve(b->rig->gpu, trace_recorder_observer(recorder));
    err = trace_recorder_finish(recorder, &stats, &e);
    assert_true(err || stats.submissions == 2);
    return err;
}

TEST(a_recorder_without_memory_says_so)
{
    struct bench b;

    log_to(-1); /* each failure is logged, and meant */
    start(&b);
    assert_true(alloc_fail_each(record, &b) >= 15);
    rig_free(b.rig);
}

/* What was written last, read to its end. */
static int play(void *ctx)
{
    struct bench *b = ctx;
    struct trace_reader *reader;
    struct trace_buffer bytes = {0};
    struct trace_record rec;
    struct error e = {0};
    int err = trace_reader_open(&reader, &(struct trace_reader_params){.path = b->path}, &e), submissions = 0;

    if (err) {
        assert_null(reader);
        return err;
    }
    while ((err = trace_reader_next(reader, &rec, &e)) > 0) {
        if (rec.type == TRACE_BLOB)
            err = trace_reader_load(reader, rec.blob.offset, rec.blob.size, &bytes, &e);
        if (err < 0)
            break;
        submissions += rec.type == TRACE_SUBMISSION;
    }
    trace_buffer_finish(&bytes);
    trace_reader_destroy(reader);
    assert_true(err || submissions == 2);
    return err;
}

TEST(a_reader_without_memory_says_so)
{
    struct bench b;

    start(&b);
    assert_int_equal(record(&b), 0);
    assert_true(alloc_fail_each(play, &b) >= 8);
    rig_free(b.rig);
}

TEST_GROUP(make_dir, remove_dir);
