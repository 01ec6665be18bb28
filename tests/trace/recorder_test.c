/* SPDX-License-Identifier: MIT */
/* The recorder at the border of a device whose backend completes on demand. */
#include "gpu_rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <aerogpu/alloc.h>

#include "abi/builder.h"
#include "trace/reader.h"
#include "trace/recorder.h"

enum { TABLE = RIG_CMD + 0x8000, MEMORY = RIG_CMD + 0x10000, MEMORY_SIZE = 0x1000 };

struct bench {
    struct rig *rig;
    struct trace_recorder *recorder;
    char path[64];
    uint64_t fence;
};

static void *map(void *ctx, uint64_t gpa, uint64_t size)
{
    struct rig *r = ctx;

    return gpa < RIG_RAM && size <= RIG_RAM - gpa ? r->ram + gpa : NULL;
}

static void start(struct bench *b)
{
    struct error e = {0};

    *b = (struct bench){.rig = rig_on(0)};
    strcpy(b->path, "/tmp/aerogpu-recorder-XXXXXX");
    close(mkstemp(b->path));
    assert_int_equal(
        trace_recorder_create(&b->recorder,
                              &(struct trace_recorder_params){
                                  .path = b->path, .producer = "test", .dma_map = map, .dma_ctx = b->rig},
                              &e),
        0);
    gpu_observe(b->rig->gpu, trace_recorder_observer(b->recorder));
    rig_ring(b->rig, 16);
}

static void stop(struct bench *b, struct trace_recorder_stats *stats, int want)
{
    struct error e = {0};

    gpu_unobserve(b->rig->gpu, trace_recorder_observer(b->recorder));
    assert_int_equal(trace_recorder_finish(b->recorder, stats, &e), want);
    rig_free(b->rig);
}

/* One submission; `value` is the first byte of its guest memory. */
static void submit(struct bench *b, bool table, bool present, uint8_t value)
{
    struct aerogpu_submit_desc *d;
    struct abi_builder stream;
    uint32_t size;
    const void *bytes;

    abi_builder_init(&stream);
    ABI_EMIT(&stream, NOP, nop);
    if (present)
        ABI_EMIT(&stream, PRESENT, present);
    bytes = abi_builder_end(&stream, &size);
    memcpy(b->rig->ram + RIG_CMD, bytes, size);
    d = rig_push(b->rig, ++b->fence, 0);
    d->cmd_gpa = RIG_CMD;
    d->cmd_size_bytes = size;
    d->context_id = 3;
    if (table) {
        struct {
            struct aerogpu_alloc_table_header header;
            struct aerogpu_alloc_entry entry;
        } t = {.header = {AEROGPU_ALLOC_TABLE_MAGIC, AEROGPU_ABI_VERSION_U32, 56, 1, 32, 0},
               .entry = {.alloc_id = 9, .flags = 1, .gpa = MEMORY, .size_bytes = MEMORY_SIZE}};

        memcpy(b->rig->ram + TABLE, &t, sizeof(t));
        d->alloc_table_gpa = TABLE;
        d->alloc_table_size_bytes = sizeof(t);
        b->rig->ram[MEMORY] = value;
    }
    abi_builder_finish(&stream);
    rig_kick(b->rig);
}

TEST(a_recording_holds_what_the_device_took)
{
    static const struct {
        uint32_t frame, ranges;
        uint8_t memory;
    } want[] = {{0, 0, 0}, {0, 1, 0x11}, {1, 1, 0x11}, {1, 0, 0}, {1, 1, 0x22}, {2, 0, 0}};
    struct bench b;
    struct trace_recorder_stats stats;
    struct trace_reader *r;
    struct trace_record rec;
    struct trace_blob blob;
    struct trace_buffer bytes = {0};
    struct error e = {0};
    uint64_t first_blob = 0;
    int n = 0, rc;

    start(&b);
    submit(&b, false, false, 0);
    rig_done(b.rig, 0, 0, 0);
    submit(&b, true, true, 0x11); /* frame 0 ends */
    rig_done(b.rig, 1, 0, 0);
    submit(&b, true, false, 0x11); /* nothing runs: named again, by the same blob */
    submit(&b, true, false, 0x11); /* the one before still runs: unchanged memory is left out */
    submit(&b, true, true, 0x22);  /* changed memory is not */
    rig_push(b.rig, ++b.fence, AEROGPU_SUBMIT_FLAG_NO_IRQ); /* empty */
    rig_kick(b.rig);
    stop(&b, &stats, 0);
    assert_int_equal(stats.submissions, 6);
    assert_int_equal(stats.frames, 2);

    assert_int_equal(trace_reader_open(&r, &(struct trace_reader_params){.path = b.path}, &e), 0);
    assert_int_equal(trace_reader_info(r)->num_frames, 3);
    assert_int_not_equal(trace_reader_info(r)->frames[1].present, 0);
    assert_int_equal(trace_reader_info(r)->frames[2].present, 0);
    while ((rc = trace_reader_next(r, &rec, &e)) > 0) {
        if (rec.type != TRACE_SUBMISSION)
            continue;
        assert_true(n < 6);
        assert_int_equal(rec.frame, want[n].frame);
        assert_int_equal(rec.submission.signal_fence, n + 1);
        assert_int_equal(rec.submission.context_id, n == 5 ? 0 : 3);
        assert_int_equal(rec.submission.submit_flags, n == 5 ? AEROGPU_SUBMIT_FLAG_NO_IRQ : 0);
        assert_int_equal(rec.submission.num_ranges, want[n].ranges);
        if (rec.submission.num_ranges) {
            const struct trace_range *range = rec.submission.ranges;

            assert_int_equal(range->alloc_id, 9);
            assert_int_equal(range->flags, 1);
            assert_int_equal(range->gpa, MEMORY);
            assert_int_equal(range->size, MEMORY_SIZE);
            assert_int_equal(trace_reader_find_blob(r, range->blob, TRACE_BLOB_ALLOC_MEMORY, "x", &blob, &e),
                             0);
            assert_int_equal(trace_reader_load(r, blob.offset, blob.size, &bytes, &e), 0);
            assert_int_equal(bytes.size, MEMORY_SIZE);
            assert_int_equal(bytes.data[0], want[n].memory);
            assert_true(n != 2 || range->blob == first_blob);
            first_blob = first_blob ? first_blob : range->blob;
        }
        n++;
    }
    assert_int_equal(rc, 0);
    assert_int_equal(n, 6);
    trace_buffer_finish(&bytes);
    trace_reader_destroy(r);
    unlink(b.path);
}

TEST(a_ring_reset_ends_the_recording)
{
    struct bench b;
    struct trace_recorder_stats stats;

    start(&b);
    rig_write(b.rig, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE | AEROGPU_RING_CONTROL_RESET);
    submit(&b, false, true, 0); /* a reset before the first submission changes nothing */
    rig_write(b.rig, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE | AEROGPU_RING_CONTROL_RESET);
    submit(&b, false, true, 0);
    stop(&b, &stats, 0);
    assert_int_equal(stats.submissions, 1);
    unlink(b.path);
}

TEST(a_full_disk_stops_the_recording_and_not_the_device)
{
    struct rig *rig;
    struct bench b;
    struct error e = {0};

    if (access("/dev/full", W_OK)) {
        print_message("# skipped: /dev/full is not there\n");
        skip();
    }
    rig = rig_on(0);
    b = (struct bench){.rig = rig};
    assert_int_equal(
        trace_recorder_create(&b.recorder,
                              &(struct trace_recorder_params){
                                  .path = "/dev/full", .producer = "test", .dma_map = map, .dma_ctx = rig},
                              &e),
        0);
    gpu_observe(rig->gpu, trace_recorder_observer(b.recorder));
    rig_ring(rig, 16);
    for (uint32_t i = 0; i < 5; i++) {
        submit(&b, true, true, (uint8_t)i);
        rig_done(rig, i, 0, 0);
    }
    assert_int_equal(rig_completed(rig), 5);
    gpu_unobserve(rig->gpu, trace_recorder_observer(b.recorder));
    assert_int_equal(trace_recorder_finish(b.recorder, NULL, &e), -ENOSPC);
    rig_free(rig);
}
