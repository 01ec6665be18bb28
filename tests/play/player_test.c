/* SPDX-License-Identifier: MIT */
/* The player on a simulated machine: what a driver must get right, whatever the recording says. The simulated
 * executor draws nothing: pictures are those of the frame buffer as it is. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <aerogpu/alloc.h>
#include <aerogpu/pci.h>
#include <aerogpu/ring.h>

#include "play/frame_hash.h"
#include "play/player.h"
#include "play/targets.h"
#include "abi/builder.h"
#include "trace/writer.h"

/* ---- recordings ---------------------------------------------------------- */

struct maker {
    char path[64];
    struct trace_writer *w;
    struct abi_builder b;
};

static void begin(struct maker *m, uint32_t version, uint32_t abi)
{
    strcpy(m->path, "/tmp/aerogpu-player-XXXXXX");
    close(mkstemp(m->path));
    assert_int_equal(trace_writer_create(&m->w,
                                         &(struct trace_writer_params){.path = m->path,
                                                                       .container_version = version,
                                                                       .command_abi = abi,
                                                                       .producer = "test"},
                                         NULL),
                     0);
    abi_builder_init(&m->b);
}

static struct trace_reader *end(struct maker *m)
{
    struct trace_reader *r;

    assert_int_equal(trace_writer_finish(m->w, NULL), 0);
    abi_builder_finish(&m->b);
    assert_int_equal(trace_reader_open(&r, &(struct trace_reader_params){.path = m->path}, NULL), 0);
    unlink(m->path);
    return r;
}

static void target(struct maker *m, uint32_t handle, uint32_t width, uint32_t height, uint32_t format)
{
    ABI_EMIT(&m->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = handle,
             .usage_flags = AEROGPU_RESOURCE_USAGE_RENDER_TARGET, .format = format, .width = width,
             .height = height, .mip_levels = 1, .array_layers = 1);
    ABI_EMIT(&m->b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {handle});
}

static void submission(struct maker *m, struct trace_submission s)
{
    uint32_t size;
    const void *stream = abi_builder_end(&m->b, &size);

    assert_int_equal(trace_writer_blob(m->w, TRACE_BLOB_CMD_STREAM, stream, size, &s.cmd_blob, NULL), 0);
    assert_int_equal(trace_writer_submission(m->w, &s, NULL), 0);
    abi_builder_reset(&m->b);
}

/* ---- the bench ----------------------------------------------------------- */

struct bench {
    struct machine *machine;
    struct player *player;
    struct player_result result;
    struct gpu_observer spy;
    struct player_frame frames[8];
    int num_frames;
    /* what the device was given */
    struct abi_submission taken[16];
    int num_taken;
    uint64_t alloc_gpa;
    uint8_t memory; /* first byte at alloc_gpa when it was taken */
    _Atomic int stop;
};

static void on_frame(void *ctx, struct player_frame *f)
{
    struct bench *b = ctx;

    assert_true(b->num_frames < 8);
    b->frames[b->num_frames++] = *f;
}

static void spy(void *ctx, const struct gpu_event *e)
{
    struct bench *b = ctx;

    if (e->kind != GPU_EVENT_TAKE || b->num_taken == 16)
        return;
    b->taken[b->num_taken++] = *e->submission;
    if (e->submission->alloc_size) {
        struct aerogpu_alloc_entry entry;

        memcpy(&entry, machine_ram(b->machine) + e->submission->alloc_gpa + 24, sizeof(entry));
        b->alloc_gpa = entry.gpa;
        b->memory = entry.gpa < machine_ram_size(b->machine) ? machine_ram(b->machine)[entry.gpa] : 0;
    }
}

static void bring_up(struct bench *b, uint64_t ram, uint32_t hang, uint32_t only_frame)
{
    struct error e = {0};

    *b = (struct bench){0};
    assert_int_equal(
        machine_create(&b->machine,
                       &(struct machine_params){
                           .kind = MACHINE_SIM, .ram_size = ram, .seed = 1, .faults = {.hang = hang}},
                       &e),
        0);
    b->spy = (struct gpu_observer){.event = spy, .ctx = b};
    gpu_observe(machine_gpu(b->machine), &b->spy);
    assert_int_equal(player_create(&b->player,
                                   &(struct player_params){.machine = b->machine,
                                                           .pictures = true,
                                                           .only_frame = only_frame,
                                                           .frame = on_frame,
                                                           .ctx = b,
                                                           .stop = &b->stop,
                                                           .timeout_ns = NSEC_PER_SEC},
                                   &e),
                     0);
}

static void tear_down(struct bench *b)
{
    player_destroy(b->player);
    gpu_unobserve(machine_gpu(b->machine), &b->spy);
    machine_destroy(b->machine);
    player_result_finish(&b->result);
}

/* Plays and closes. */
static int play(struct bench *b, struct trace_reader *r, struct error *e)
{
    int rc = player_play(b->player, r, &b->result, e);

    trace_reader_destroy(r);
    return rc;
}

#define RAM (PLAYER_OWN_MEMORY + (UINT64_C(32) << 20))

/* ---- tests --------------------------------------------------------------- */

TEST(frames_have_the_size_of_the_target_that_they_present)
{
    struct maker m;
    struct bench b;

    begin(&m, 2, AEROGPU_ABI_VERSION_U32);
    trace_writer_begin_frame(m.w, 0, NULL);
    ABI_EMIT(&m.b, PRESENT, present); /* without a target */
    submission(&m, (struct trace_submission){.signal_fence = 1});
    trace_writer_present(m.w, NULL);
    trace_writer_begin_frame(m.w, 1, NULL);
    target(&m, 1, 100, 30, AEROGPU_FORMAT_B5G6R5_UNORM);
    submission(
        &m, (struct trace_submission){.signal_fence = 2, .context_id = 7}); /* the target of one context… */
    ABI_EMIT(&m.b, PRESENT, present);
    submission(&m, (struct trace_submission){.signal_fence = 3, .context_id = 7}); /* …is remembered */
    trace_writer_present(m.w, NULL);
    trace_writer_begin_frame(m.w, 2, NULL);
    ABI_EMIT(&m.b, NOP, nop);
    submission(&m, (struct trace_submission){.signal_fence = 4}); /* shows nothing, and was not meant to */
    trace_writer_present(m.w, NULL);
    trace_writer_begin_frame(m.w, 9, NULL); /* a frame without a present record that presents all the same */
    ABI_EMIT(&m.b, PRESENT_EX, present_ex);
    submission(&m, (struct trace_submission){.signal_fence = 5, .context_id = 7});
    bring_up(&b, RAM, 0, UINT32_MAX);
    assert_int_equal(play(&b, end(&m), NULL), 0);
    assert_int_equal(b.num_frames, 3);
    assert_int_equal(b.frames[0].index, 0);
    assert_int_equal(b.frames[0].picture.width, 64);
    assert_int_equal(b.frames[0].picture.height, 64);
    assert_int_equal(b.frames[1].index, 1);
    assert_int_equal(b.frames[1].picture.width, 100);
    assert_int_equal(b.frames[1].picture.height, 30);
    assert_int_equal(b.frames[2].index, 9);
    assert_int_equal(b.taken[0].scanout.format, AEROGPU_FORMAT_R8G8B8A8_UNORM);
    assert_int_equal(b.taken[2].scanout.format, AEROGPU_FORMAT_B5G6R5_UNORM);
    assert_int_equal(b.result.frames, 3);
    assert_int_equal(b.result.presents, 3);
    assert_int_equal(b.result.unpresented, 0);
    assert_int_equal(b.result.submissions, 5);
    assert_int_equal(b.result.commands, 6);
    assert_int_equal(b.result.latency.n, 5);
    tear_down(&b);
}

TEST(odd_fences_complete_and_stay_odd)
{
    static const struct {
        uint64_t recorded;
        uint32_t flags;
        uint64_t given;
    } want[] = {
        {0, 0, 0},  {1, 0, 1},          {1, 0, 1},
        {1, 0, 1},  {2, 0, 2},          {10, 0, 3},
        {10, 0, 3}, {3, 0, 3},          {11, AEROGPU_SUBMIT_FLAG_NO_IRQ, 4},
        {0, 0, 4},  {UINT64_MAX, 0, 5}, {UINT64_MAX, 0, 5},
    };
    const int num = sizeof(want) / sizeof(want[0]);
    struct maker m;
    struct bench b;

    begin(&m, 2, AEROGPU_ABI_VERSION_U32);
    trace_writer_begin_frame(m.w, 0, NULL);
    for (int i = 0; i < num; i++) {
        ABI_EMIT(&m.b, NOP, nop);
        submission(
            &m, (struct trace_submission){.signal_fence = want[i].recorded, .submit_flags = want[i].flags});
    }
    bring_up(&b, RAM, 0, UINT32_MAX);
    assert_int_equal(play(&b, end(&m), NULL), 0);
    assert_int_equal(b.result.submissions, num);
    assert_int_equal(b.num_taken, num); /* the recording's, and nothing else */
    for (int i = 0; i < num; i++) {
        assert_int_equal(b.taken[i].fence, want[i].given);
        assert_int_equal(b.taken[i].flags, want[i].flags);
    }
    tear_down(&b);
}

static struct trace_reader *with_memory(uint64_t gpa, uint64_t size, uint32_t blob_size)
{
    struct {
        struct aerogpu_alloc_table_header header;
        struct aerogpu_alloc_entry entry;
    } table = {.header = {AEROGPU_ALLOC_TABLE_MAGIC, AEROGPU_ABI_VERSION_U32, 56, 1, 32, 0},
               .entry = {.alloc_id = 4, .gpa = gpa, .size_bytes = size}};
    struct trace_range range = {.alloc_id = 4, .gpa = gpa, .size = size};
    struct trace_submission s = {.signal_fence = 1, .ranges = &range, .num_ranges = 1};
    struct maker m;
    uint8_t *bytes = malloc(blob_size);

    memset(bytes, 0x5A, blob_size);
    begin(&m, 2, AEROGPU_ABI_VERSION_U32);
    trace_writer_begin_frame(m.w, 0, NULL);
    trace_writer_blob(m.w, TRACE_BLOB_ALLOC_MEMORY, bytes, blob_size, &range.blob, NULL);
    trace_writer_blob(m.w, TRACE_BLOB_ALLOC_TABLE, &table, sizeof(table), &s.alloc_blob, NULL);
    ABI_EMIT(&m.b, NOP, nop);
    submission(&m, s);
    free(bytes);
    return end(&m);
}

TEST(memory_is_where_the_recording_has_it)
{
    struct bench b;

    bring_up(&b, RAM, 0, UINT32_MAX);
    assert_int_equal(play(&b, with_memory(0x1000, 100, 100), NULL), 0);
    assert_int_equal(b.alloc_gpa, 0x1000);
    assert_int_equal(b.memory, 0x5A);
    assert_int_equal(play(&b, with_memory(0, 5000, 10), NULL),
                     0); /* address 0 is one; the rest of a range may be unknown */
    assert_int_equal(b.alloc_gpa, 0);
    assert_int_equal(b.memory, 0x5A);
    tear_down(&b);
}

TEST(high_memory_is_moved_and_the_table_with_it)
{
    struct bench b;
    struct player_memory memory;
    struct trace_reader *r = with_memory(UINT64_C(0x7F00001234), 8192, 8192);

    assert_int_equal(player_measure(r, &memory, NULL), 0);
    assert_int_equal(memory.low_end, 0);
    assert_int_equal(memory.high_start, UINT64_C(0x7F00001000));
    assert_int_equal(memory.high_end, UINT64_C(0x7F00003234));
    bring_up(&b, player_ram_size(&memory), 0, UINT32_MAX);
    assert_int_equal(play(&b, r, NULL), 0);
    assert_int_equal(b.alloc_gpa, machine_ram_size(b.machine) - PLAYER_OWN_MEMORY - 0x3000 + 0x234);
    assert_int_equal(b.memory, 0x5A);
    tear_down(&b);
}

TEST(what_does_not_fit_is_refused_by_name)
{
    struct bench b;
    struct error e = {0};

    bring_up(&b, PLAYER_OWN_MEMORY, 0, UINT32_MAX);
    assert_int_equal(play(&b, with_memory(0x1000, 100, 100), &e), -EFBIG);
    assert_string_equal(e.text,
                        "the recording needs 0xc002000 bytes of guest memory, the machine has 0xc000000");
    error_clear(&e);
    assert_int_equal(play(&b, with_memory(UINT64_C(3) << 30, UINT64_C(2) << 30, 4), &e), -EFBIG);
    assert_string_equal(
        e.text, "offset 0x107: Submission.memory_range[0].gpa: 0xc0000000, 2147483648 bytes, is too far from "
                "the other memory to be played");
    tear_down(&b);
    error_clear(&e);
    bring_up(&b, RAM, 0, UINT32_MAX);
    assert_int_equal(play(&b, with_memory(0x1000, 99, 100), &e), -EBADMSG);
    assert_non_null(strstr(e.text, "Submission.memory_range[0].size_bytes: 99 bytes, but blob 1 has 100"));
    tear_down(&b);
}

TEST(errors_of_the_device_are_results)
{
    struct maker m;
    struct bench b;

    begin(&m, 2, AEROGPU_ABI_VERSION_U32);
    trace_writer_begin_frame(m.w, 6, NULL);
    abi_builder_packet(&m.b, AEROGPU_CMD_CLEAR, "\0\0\0\0\0\0\0\0\0\0\0\0", 12, NULL, 0); /* too short */
    ABI_EMIT(&m.b, PRESENT, present);
    submission(&m, (struct trace_submission){.signal_fence = 77});
    trace_writer_present(m.w, NULL);
    bring_up(&b, RAM, 0, UINT32_MAX);
    assert_int_equal(play(&b, end(&m), NULL), 0);
    assert_int_equal(b.result.num_errors, 1);
    assert_int_equal(b.result.errors[0].code, AEROGPU_ERROR_CMD_DECODE);
    assert_int_equal(b.result.errors[0].fence, 77);
    assert_int_equal(b.result.errors[0].frame, 6);
    assert_int_equal(b.result.errors[0].count, 1);
    assert_int_not_equal(b.result.errors[0].message[0], 0);
    assert_int_equal(b.result.submissions, 1);
    assert_int_equal(b.result.frames, 0);
    assert_int_equal(b.num_frames, 0);
    tear_down(&b);
}

TEST(a_bare_stream_is_a_submission)
{
    struct maker m;
    struct bench b;
    const void *stream;
    uint32_t size;

    begin(&m, 1, AEROGPU_ABI_VERSION_U32);
    trace_writer_begin_frame(m.w, 0, NULL);
    ABI_EMIT(&m.b, PRESENT, present);
    stream = abi_builder_end(&m.b, &size);
    trace_writer_packet(m.w, stream, size, NULL);
    trace_writer_present(m.w, NULL);
    bring_up(&b, RAM, 0, UINT32_MAX);
    assert_int_equal(play(&b, end(&m), NULL), 0);
    assert_int_equal(b.num_frames, 1);
    assert_int_equal(b.taken[0].fence, 1);
    assert_int_equal(b.taken[0].cmd_size, 40);
    tear_down(&b);
}

TEST(a_foreign_command_abi_is_refused)
{
    struct maker m;
    struct bench b;
    struct error e = {0};

    begin(&m, 1, 1);
    trace_writer_begin_frame(m.w, 0, NULL);
    bring_up(&b, RAM, 0, UINT32_MAX);
    assert_int_equal(play(&b, end(&m), &e), -EPROTONOSUPPORT);
    assert_string_equal(
        e.text, "offset 0x10: header.command_abi_version: 0x1 is major 0, AeroGPU's is 1: these commands "
                "cannot be played");
    assert_int_equal(b.num_taken, 0);
    tear_down(&b);
}

TEST(missing_blobs_are_named)
{
    struct maker m;
    struct bench b;
    struct error e = {0};

    begin(&m, 2, AEROGPU_ABI_VERSION_U32);
    trace_writer_begin_frame(m.w, 0, NULL);
    trace_writer_submission(m.w, &(struct trace_submission){.cmd_blob = 12}, NULL);
    bring_up(&b, RAM, 0, UINT32_MAX);
    assert_int_equal(play(&b, end(&m), &e), -ENOENT);
    assert_string_equal(e.text, "offset 0x63: Submission.cmd_stream_blob_id: no blob 12 stands before it");
    tear_down(&b);
}

static struct trace_reader *three_frames(void)
{
    struct maker m;

    begin(&m, 2, AEROGPU_ABI_VERSION_U32);
    for (uint32_t i = 0; i < 3; i++) {
        trace_writer_begin_frame(m.w, i, NULL);
        ABI_EMIT(&m.b, PRESENT, present, .flags = AEROGPU_PRESENT_FLAG_VSYNC);
        submission(&m, (struct trace_submission){.signal_fence = i + 1});
        trace_writer_present(m.w, NULL);
    }
    return end(&m);
}

TEST(one_frame_is_played_with_those_before_it)
{
    struct bench b;

    bring_up(&b, RAM, 0, 1);
    assert_int_equal(play(&b, three_frames(), NULL), 0);
    assert_int_equal(b.num_frames, 1);
    assert_int_equal(b.frames[0].index, 1);
    assert_int_equal(b.result.submissions, 2);
    tear_down(&b);
}

TEST(recordings_follow_each_other_on_one_machine)
{
    struct bench b;

    bring_up(&b, RAM, 0, UINT32_MAX);
    assert_int_equal(play(&b, three_frames(), NULL), 0);
    assert_int_equal(play(&b, three_frames(), NULL), 0);
    assert_int_equal(b.result.frames, 6);
    assert_true(b.result.lateness.n >= 4); /* vsynced: a vblank for each */
    assert_int_equal(b.taken[3].fence, 1);
    b.stop = 1;
    assert_int_equal(play(&b, three_frames(), NULL), 0);
    assert_int_equal(b.result.frames, 6);
    tear_down(&b);
}

TEST(a_fence_that_never_comes_is_an_error)
{
    struct bench b;
    struct error e = {0};

    bring_up(&b, RAM, 1000000, UINT32_MAX);
    assert_int_equal(play(&b, three_frames(), &e), -ETIMEDOUT);
    assert_string_equal(e.text,
                        "fence 1 is not signalled within 1 s (COMPLETED_FENCE 0, the recording's fence 1)");
    tear_down(&b);
}

/* ---- targets ------------------------------------------------------------- */

static struct target_scan scan(struct targets *t, struct abi_builder *b, uint32_t context)
{
    struct target_scan s;
    uint32_t size;
    const void *stream = abi_builder_end(b, &size);

    targets_scan(t, context, stream, size, &s);
    abi_builder_reset(b);
    return s;
}

TEST(targets_follow_views_aliases_and_contexts)
{
    struct targets t = {0};
    struct maker m = {0};
    struct target_scan s;

    abi_builder_init(&m.b);
    target(&m, 1, 100, 50, AEROGPU_FORMAT_R8G8B8A8_UNORM);
    ABI_EMIT(&m.b, CREATE_TEXTURE_VIEW, create_texture_view, .view_handle = 2, .texture_handle = 1,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM_SRGB, .base_mip_level = 2, .mip_level_count = 1,
             .array_layer_count = 1);
    ABI_EMIT(&m.b, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = 1, .share_token = 99);
    ABI_EMIT(&m.b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = 3, .share_token = 99);
    ABI_EMIT(&m.b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {2});
    ABI_EMIT(&m.b, PRESENT, present, .flags = AEROGPU_PRESENT_FLAG_VSYNC);
    s = scan(&t, &m.b, 1);
    assert_int_equal(s.packets, 7);
    assert_int_equal(s.presents, 1);
    assert_true(s.vsync);
    assert_int_equal(s.presented.width, 25);
    assert_int_equal(s.presented.height, 12);
    assert_int_equal(s.presented.format, AEROGPU_FORMAT_R8G8B8A8_UNORM_SRGB);
    ABI_EMIT(&m.b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {3});
    ABI_EMIT(&m.b, PRESENT, present);
    s = scan(&t, &m.b, 2);
    assert_int_equal(s.presented.width, 100);
    ABI_EMIT(&m.b, PRESENT, present);
    s = scan(&t, &m.b, 1); /* still its own */
    assert_int_equal(s.presented.width, 25);
    ABI_EMIT(&m.b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 1);
    ABI_EMIT(&m.b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {1});
    ABI_EMIT(&m.b, PRESENT, present);
    s = scan(&t, &m.b, 1);
    assert_int_equal(s.presented.width, 64);
    for (uint32_t i = 0; i < 5000; i++) { /* many that come and go */
        target(&m, 1000 + i, i + 1, 1, AEROGPU_FORMAT_R8G8B8A8_UNORM);
        ABI_EMIT(&m.b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 1000 + i);
    }
    ABI_EMIT(&m.b, PRESENT, present);
    s = scan(&t, &m.b, 1);
    assert_int_equal(s.presented.width, 5000);
    assert_true(t.surfaces.bits <= 8);
    targets_finish(&t);
    abi_builder_finish(&m.b);
}

TEST(frame_hash_matches_the_definition)
{
    uint8_t *px = malloc(64 * 64 * 4);
    char hex[FRAME_HASH_HEX];

    for (int i = 0; i < 64 * 64; i++)
        memcpy(px + 4 * i, "\xff\x00\x00\xff", 4);
    frame_hash(px, 64, 64, 256, hex);
    assert_string_equal(hex, "1171a4a562614d26797113802f81afae784773e173235286c4f65e4aa1f43816");
    free(px);
}
