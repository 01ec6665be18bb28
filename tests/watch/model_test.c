/* SPDX-License-Identifier: MIT */
/* model_test.c: what a walk over streams knows about objects and bindings; and the watch's parts when memory runs out. */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <aerogpu/ext.h>
#include <aerogpu/pci.h>

#include "abi/builder.h"
#include "alloc_fail.h"
#include "machine/machine.h"
#include "temp_dir.h"
#include "watch/items.h"
#include "watch/model.h"
#include "blackbox/internal.h"
#include "watch/priv.h"
#include "watch/watch.h"

/* Applies the stream that was built, in context `id`. */
static struct watch_model_context *walk(struct watch_model *m, struct abi_builder *b, uint32_t id)
{
    struct watch_model_context *c = watch_model_context(m, id);
    struct abi_stream s;
    struct abi_packet p;
    struct error e = {0};
    uint32_t size;
    const void *bytes = abi_builder_end(b, &size);
    int r;

    if (!c || !bytes)
        return NULL;
    assert_int_equal(abi_stream_open(&s, bytes, size, NULL), 0);
    while ((r = abi_stream_next(&s, &p, &e)) > 0)
        watch_model_apply(m, c, &s, &p, 1);
    if (r)
        fail_msg("%s", e.text);
    abi_builder_reset(b);
    return c;
}

static void shader(struct abi_builder *b, uint32_t handle, const char *bytes)
{
    ABI_EMIT_TAIL(b, CREATE_SHADER_DXBC, create_shader_dxbc, bytes, 4, .shader_handle = handle,
                  .stage = AEROGPU_SHADER_STAGE_PIXEL, .dxbc_size_bytes = 4);
}

static void texture(struct abi_builder *b, uint32_t handle, uint32_t width)
{
    ABI_EMIT(b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = handle, .width = width, .height = 4,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .mip_levels = 1, .array_layers = 1);
}

/* What is bound in the slot of that kind, NULL if nothing is. */
static struct watch_object *bound(const struct watch_model *m, const struct watch_model_context *c,
                                  enum watch_slot_kind kind)
{
    for (uint32_t i = 0; i < c->num_slots; i++)
        if (c->slots[i].kind == kind)
            return watch_model_bound(m, &c->slots[i]);
    return NULL;
}

TEST(a_handle_comes_again)
{
    struct watch_model m = {0};
    struct watch_model_context *c;
    struct abi_builder b;

    abi_builder_init(&b);
    shader(&b, 7, "AAAA");
    ABI_EMIT(&b, BIND_SHADERS, bind_shaders, .ps = 7);
    ABI_EMIT(&b, DESTROY_SHADER, destroy_shader, .shader_handle = 7);
    shader(&b, 7, "BBBB");
    c = walk(&m, &b, 1);
    assert_memory_equal(bound(&m, c, WATCH_SLOT_SHADER)->bytes, "AAAA", 4);
    assert_false(bound(&m, c, WATCH_SLOT_SHADER)->alive);
    ABI_EMIT(&b, BIND_SHADERS, bind_shaders, .ps = 7);
    c = walk(&m, &b, 1);
    assert_memory_equal(bound(&m, c, WATCH_SLOT_SHADER)->bytes, "BBBB", 4);
    watch_model_finish(&m);
    abi_builder_finish(&b);
}

/* In every context, at its last name. */
TEST(bindings_let_go_of_a_resource)
{
    struct watch_model m = {0};
    struct watch_model_context *c, *other;
    struct abi_builder b;

    abi_builder_init(&b);
    texture(&b, 1, 64);
    ABI_EMIT(&b, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = 1, .share_token = 99);
    ABI_EMIT(&b, SET_TEXTURE, set_texture, .shader_stage = AEROGPU_SHADER_STAGE_PIXEL, .texture = 1);
    c = walk(&m, &b, 1);
    ABI_EMIT(&b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = 2, .share_token = 99);
    ABI_EMIT(&b, SET_TEXTURE, set_texture, .shader_stage = AEROGPU_SHADER_STAGE_PIXEL, .texture = 2);
    other = walk(&m, &b, 2);
    assert_ptr_equal(bound(&m, c, WATCH_SLOT_TEXTURE), bound(&m, other, WATCH_SLOT_TEXTURE));
    ABI_EMIT(&b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 1);
    walk(&m, &b, 1);
    assert_int_equal(bound(&m, c, WATCH_SLOT_TEXTURE)->width, 64);
    ABI_EMIT(&b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 2);
    texture(&b, 1, 32);
    walk(&m, &b, 1);
    assert_int_equal(c->num_slots, 0);
    assert_int_equal(other->num_slots, 0);
    watch_model_finish(&m);
    abi_builder_finish(&b);
}

/* A copy uses what it names, a draw what is bound; both are the last that a resource sees before it goes. */
TEST(what_is_used_has_a_time)
{
    struct watch_model m = {0};
    struct watch_model_context *c = watch_model_context(&m, 3);
    struct abi_builder b;
    struct abi_stream s;
    struct abi_packet p;
    uint64_t submission = 1;
    uint32_t size;
    const void *bytes;

    abi_builder_init(&b);
    texture(&b, 1, 8);
    texture(&b, 2, 8);
    abi_builder_packet(&b, AEROGPU_CMD_DEBUG_MARKER, &(struct aerogpu_cmd_debug_marker){0},
                       sizeof(struct aerogpu_cmd_debug_marker), "shadows", 7);
    texture(&b, 3, 8);
    ABI_EMIT(&b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {1});
    ABI_EMIT(&b, DRAW, draw, .vertex_count = 3, .instance_count = 1); /* submission 6 */
    ABI_EMIT(&b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = 2, .src_texture = 3, .width = 1, .height = 1);
    ABI_EMIT(&b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 2);
    bytes = abi_builder_end(&b, &size);
    assert_int_equal(abi_stream_open(&s, bytes, size, NULL), 0);
    for (; abi_stream_next(&s, &p, NULL) > 0; submission++) {
        watch_model_apply(&m, c, &s, &p, submission);
        if (abi_opcode_is_work(p.opcode))
            watch_model_use(&m, c, &p, submission);
    }
    assert_int_equal(m.num_objects, 3);
    assert_int_equal(m.objects[0].last_use, 6);
    assert_int_equal(m.objects[1].last_use, 7);
    assert_int_equal(m.objects[2].last_use, 7);
    assert_int_equal(m.objects[1].destroyed, 8);
    assert_string_equal(m.objects[0].made_in, "");
    assert_string_equal(m.objects[2].made_in, "shadows");
    assert_int_equal(m.objects[0].created, 1);
    abi_builder_finish(&b);
    watch_model_finish(&m);
}

TEST(names_are_the_programs)
{
    struct watch_model m = {0};
    struct abi_builder b;

    abi_builder_init(&b);
    texture(&b, 1, 8);
    ABI_EMIT(&b, CREATE_TEXTURE_VIEW, create_texture_view, .view_handle = 2, .texture_handle = 1,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .mip_level_count = 1, .array_layer_count = 1);
    ABI_EMIT_TAIL(&b, EXT_NAME, ext_name, "before", 6, .object = 1);
    ABI_EMIT_TAIL(&b, EXT_NAME, ext_name, "shadow map", 10, .object = 1);
    ABI_EMIT_TAIL(&b, EXT_NAME, ext_name, "nobody", 6, .object = 77);
    walk(&m, &b, 1);
    assert_int_equal(m.num_objects, 2);
    assert_string_equal(m.objects[0].name, "shadow map");
    assert_string_equal(watch_object_given(&m, &m.objects[1]), "shadow map"); /* what it looks at */
    ABI_EMIT_TAIL(&b, EXT_NAME, ext_name, "its own", 7, .object = 2);
    ABI_EMIT_TAIL(&b, EXT_NAME, ext_name, "", 0, .object = 1);
    walk(&m, &b, 1);
    assert_string_equal(watch_object_given(&m, &m.objects[1]), "its own");
    assert_string_equal(watch_object_given(&m, &m.objects[0]), "");
    watch_model_finish(&m);
    abi_builder_finish(&b);
}

/* However long the names of the outer regions are, the innermost is told, and what was cut says so. */
TEST(long_names_of_regions_hide_no_other)
{
    struct watch_model m = {0};
    struct watch_model_context *c;
    struct abi_builder b;
    char name[5000];

    memset(name, 'R', sizeof(name));
    abi_builder_init(&b);
    texture(&b, 1, 8);
    for (int i = 0; i < WATCH_DEPTH - 1; i++)
        ABI_EMIT_TAIL(&b, EXT_PUSH_MARKER, ext_push_marker, name, sizeof(name), .hdr = {0});
    ABI_EMIT_TAIL(&b, EXT_PUSH_MARKER, ext_push_marker, "inner", 5, .hdr = {0});
    ABI_EMIT_TAIL(&b, EXT_NAME, ext_name, name, 100, .object = 1);
    texture(&b, 2, 8);
    walk(&m, &b, 5);
    c = watch_model_context(&m, 5);
    assert_int_equal(strcspn(c->path, "/"), WATCH_REGION - 2);
    assert_memory_equal(strchr(c->path, '/') - 4, "R\xE2\x80\xA6/R", 6);
    assert_string_equal(strrchr(c->path, '/'), "/inner");
    assert_string_equal(m.objects[1].made_in, "\xE2\x80\xA6/inner");
    assert_int_equal(strlen(m.objects[0].name), sizeof(m.objects[0].name) - 1);
    assert_string_equal(m.objects[0].name + 59, "R\xE2\x80\xA6");
    abi_builder_init(&b);
    for (int i = 0; i < WATCH_DEPTH - 1; i++)
        ABI_EMIT(&b, EXT_POP_MARKER, ext_pop_marker, .hdr = {0});
    walk(&m, &b, 5);
    assert_int_equal(strlen(c->path), WATCH_REGION - 2);
    watch_model_finish(&m);
    abi_builder_finish(&b);
}

TEST(a_context_ends)
{
    struct watch_model m = {0};
    struct watch_model_context *c;
    struct abi_builder b;

    abi_builder_init(&b);
    texture(&b, 1, 64);
    ABI_EMIT_TAIL(&b, EXT_PUSH_MARKER, ext_push_marker, "old", 3, .hdr = {0});
    ABI_EMIT(&b, SET_TEXTURE, set_texture, .shader_stage = AEROGPU_SHADER_STAGE_PIXEL, .texture = 1);
    walk(&m, &b, 5);
    ABI_EMIT(&b, EXT_DESTROY_CONTEXT, ext_destroy_context, .context_id = 5);
    ABI_EMIT(&b, EXT_DESTROY_CONTEXT, ext_destroy_context, .context_id = 1); /* itself: refused */
    walk(&m, &b, 1);
    c = watch_model_context(&m, 5);
    assert_int_equal(c->num_slots, 0);
    assert_string_equal(c->path, "");
    watch_model_finish(&m);
    abi_builder_finish(&b);
}

/* A range that ends takes all that is in it, and nothing else. Squares: of handles in a row none is in another's way in a map. */
TEST(a_range_of_handles_ends)
{
    enum { HANDLES = 1000, FIRST = 100, LAST = 899 };
    struct watch_model m = {0};
    struct abi_builder b;

    abi_builder_init(&b);
    for (uint32_t i = 1; i <= HANDLES; i++)
        texture(&b, i * i, i);
    ABI_EMIT(&b, EXT_DESTROY_HANDLES, ext_destroy_handles, .first = FIRST * FIRST, .last = LAST * LAST);
    walk(&m, &b, 1);
    for (uint32_t i = 1; i <= HANDLES; i++) {
        assert_int_equal(m.objects[i - 1].handle, i * i);
        assert_int_equal(m.objects[i - 1].alive, i < FIRST || i > LAST);
    }
    watch_model_finish(&m);
    abi_builder_finish(&b);
}

/* Who looks in late has not seen it missing all the time. */
TEST(an_executor_is_missed_where_it_is_seen_to_be_missing)
{
    const uint64_t ms = 1000000;
    uint64_t since = 0;

    assert_false(watch_misses_executor(&since, false, 100 * ms));
    assert_false(watch_misses_executor(&since, true, 900 * ms)); /* it may have died just now */
    assert_false(watch_misses_executor(&since, true, 1300 * ms));
    assert_true(watch_misses_executor(&since, true, 1500 * ms));
    assert_false(watch_misses_executor(&since, false, 1600 * ms));
    assert_false(watch_misses_executor(&since, true, 2200 * ms));
}

/* ---- work without progress ----------------------------------------------- */

/* What is proven is said as such, and what is not, is not: a hang on a busy host looks like work that is only slow. */
TEST(a_starved_executor_acquits_nobody)
{
    static const struct {
        bool starved;
        double let_run;
        enum watch_stop stop;
        enum bb_cause cause;
        enum bb_sure why;
        bool acquits;
    } cases[] = {
        {false, 3, WATCH_STOP_NONE, BB_CAUSE_HANG, BB_SURE_SUGGESTED, false},
        {true, 1, WATCH_STOP_NONE, BB_CAUSE_STARVED, BB_SURE_SUGGESTED, false},
        {true, 0, WATCH_STOP_SIGNAL, BB_CAUSE_STOPPED, BB_SURE_PROVEN, true},
        {true, 0.4, WATCH_STOP_FROZEN, BB_CAUSE_STOPPED, BB_SURE_SUGGESTED, true},
        {false, 2.5, WATCH_STOP_SIGNAL, BB_CAUSE_HANG, BB_SURE_SUGGESTED, false}, /* it had its time */
    };
    struct retained work = {.id = 7, .state = RETAINED_QUEUED};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct snapshot *sn = calloc(1, sizeof(*sn));
        struct watch_crash c;

        assert_non_null(sn);
        sn->items = &work;
        sn->num_items = 1;
        watch_set_hung(sn, &(struct watch_hang){.seconds = 3,
                                                .let_run = cases[i].let_run,
                                                .starved = cases[i].starved,
                                                .stopped = {.stop = cases[i].stop}});
        watch_judge(sn, &c);
        assert_int_equal(c.cause, cases[i].cause);
        assert_int_equal(c.why, cases[i].why);
        assert_int_equal(c.submission, 7);
        assert_false(c.certain);
        assert_int_equal(!!strstr(c.text, "no command is to blame"), cases[i].acquits);
        free(sn);
    }
}

#define SAMPLE(ms, cpu, wait, ...)                                                                           \
    {                                                                                                        \
        .time_ns = UINT64_C(ms) * 1000000, .executor_pid = 9, .executor_cpu = cpu, .executor_wait = wait,    \
        __VA_ARGS__                                                                                          \
    }

/* The kernel counts a wait for a processor when it ends; a debugger may hold one thread of many. */
static const struct {
    const char *what;
    struct host_sample s[4];
    bool in_order;
    double from, to; /* the share that counts */
    enum watch_stop stop;
} spans[] = {
    {"it ran", {SAMPLE(100, 0, 0), SAMPLE(340, .2, 0), SAMPLE(580, .4, 0), SAMPLE(800, .7, 0)}, true, 1, 1},
    {"it slept", {SAMPLE(100, 0, 0), SAMPLE(340, 0, 0), SAMPLE(580, 0, 0), SAMPLE(800, 0, 0)}, true, 1, 1},
    {"it waited, which was counted",
     {SAMPLE(100, 0, 0), SAMPLE(340, .05, .15), SAMPLE(580, .1, .3), SAMPLE(800, .15, .45)},
     true,
     .24,
     .26},
    {"it waits, which is not counted yet",
     {SAMPLE(100, 0, 0), SAMPLE(340, 0, 0, .wants = true), SAMPLE(580, 0, 0, .wants = true),
      SAMPLE(800, 0, 0, .wants = true)},
     true,
     0,
     .01},
    {"it waited, and this was counted in the end",
     {SAMPLE(100, 0, 0), SAMPLE(340, 0, 0, .wants = true), SAMPLE(580, 0, 0, .wants = true),
      SAMPLE(800, .22, .48)},
     true,
     .3,
     .32},
    {"it is blocked, and is no GPU's",
     {SAMPLE(100, 0, 0), SAMPLE(340, 0, 0, .blocked = true), SAMPLE(580, 0, 0, .blocked = true),
      SAMPLE(800, 0, 0, .blocked = true)},
     true,
     0,
     .01},
    {"it is blocked, by its GPU perhaps",
     {SAMPLE(100, 0, 0), SAMPLE(340, 0, 0, .blocked = true), SAMPLE(580, 0, 0, .blocked = true),
      SAMPLE(800, 0, 0, .blocked = true)},
     false,
     1,
     1},
    /* one that had run for 5 s and waited for 3 s ends; the others had their time before and after */
    {"a thread ended that had run and waited for long",
     {SAMPLE(100, 6, 3), SAMPLE(340, 6.2, 3), SAMPLE(580, 1.4, 0), SAMPLE(800, 1.62, 0)},
     true,
     .6,
     .68},
    {"a thread ended that had waited for long",
     {SAMPLE(100, 1, 3), SAMPLE(340, 1.01, .2), SAMPLE(580, 1.02, .42), SAMPLE(800, 1.03, .63)},
     true,
     0,
     .05},
    {"a thread ended, others took its place and ran",
     {SAMPLE(100, 1, 3), SAMPLE(340, 2, 0), SAMPLE(580, 3, 0), SAMPLE(800, 4, 0)},
     true,
     .8,
     1},
    {"threads end all the time",
     {SAMPLE(100, 9, 9), SAMPLE(340, 6, 6), SAMPLE(580, 3, 3), SAMPLE(800, 1, 1)},
     true,
     0,
     .01},
    {"one thread is held, the others go on",
     {SAMPLE(100, 0, 0), SAMPLE(340, .2, 0, .stop = WATCH_STOP_TRACED, .partly = true),
      SAMPLE(580, .4, 0, .stop = WATCH_STOP_TRACED, .partly = true),
      SAMPLE(800, .6, 0, .stop = WATCH_STOP_TRACED, .partly = true)},
     true,
     1,
     1},
    {"it is stopped soon after it began, and before it is looked at",
     {SAMPLE(100, 0, 0), SAMPLE(340, .02, 0, .stop = WATCH_STOP_SIGNAL),
      SAMPLE(580, .02, 0, .stop = WATCH_STOP_SIGNAL), SAMPLE(800, .02, 0, .stop = WATCH_STOP_SIGNAL)},
     true,
     .02,
     .04,
     WATCH_STOP_SIGNAL},
    {"it is stopped soon after it was looked at",
     {SAMPLE(100, 0, 0), SAMPLE(110, .01, 0), SAMPLE(350, .02, 0, .stop = WATCH_STOP_SIGNAL),
      SAMPLE(800, .02, 0, .stop = WATCH_STOP_SIGNAL)},
     true,
     .02,
     .04,
     WATCH_STOP_SIGNAL},
    {"one thread is held soon after it began, and the others wait for it",
     {SAMPLE(100, 0, 0), SAMPLE(340, .02, 0, .stop = WATCH_STOP_TRACED, .partly = true),
      SAMPLE(580, .02, 0, .stop = WATCH_STOP_TRACED, .partly = true),
      SAMPLE(800, .02, 0, .stop = WATCH_STOP_TRACED, .partly = true)},
     true,
     .02,
     .04,
     WATCH_STOP_TRACED},
    {"one thread is held, the others want to go on",
     {SAMPLE(100, 0, 0), SAMPLE(340, .01, .2, .stop = WATCH_STOP_TRACED, .partly = true),
      SAMPLE(580, .02, .4, .stop = WATCH_STOP_TRACED, .partly = true),
      SAMPLE(800, .03, .6, .stop = WATCH_STOP_TRACED, .partly = true)},
     true,
     .04,
     .06},
    {"one thread is held, the others wait for it",
     {SAMPLE(100, 0, 0), SAMPLE(340, 0, 0, .stop = WATCH_STOP_TRACED, .partly = true),
      SAMPLE(580, 0, 0, .stop = WATCH_STOP_TRACED, .partly = true),
      SAMPLE(800, 0, 0, .stop = WATCH_STOP_TRACED, .partly = true)},
     true,
     0,
     0,
     WATCH_STOP_TRACED},
};

TEST(time_in_which_nobody_let_it_run)
{
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        struct host_sample stopped;
        const double share =
            watch_share_let_run(spans[i].s, 4, UINT64_C(100000000), spans[i].in_order, &stopped);

        if (share < spans[i].from || share > spans[i].to || stopped.stop != spans[i].stop)
            fail_msg("%s: %g", spans[i].what, share);
    }
}

/* A decoder that stands in a packet, alive, may wait for what came before it. */
TEST(a_decoder_that_stands_is_no_proof)
{
    struct retained work = {.id = 7, .state = RETAINED_QUEUED};
    struct snapshot *sn = calloc(1, sizeof(*sn));
    struct watch_crash c;

    assert_non_null(sn);
    sn->items = &work;
    sn->num_items = 1;
    sn->has_progress = true;
    sn->progress.exact = sn->progress.in_order = 1;
    sn->progress.slots[0].submission = 7;
    sn->progress.slots[0].state = EXEC_PROGRESS_DECODING;
    sn->progress.slots[0].decoding = 5;
    watch_set_hung(sn, &(struct watch_hang){.seconds = 3, .let_run = 3});
    watch_judge(sn, &c);
    assert_int_equal(c.cause, BB_CAUSE_HANG);
    assert_int_equal(c.packet, 4);
    assert_int_equal(c.which, BB_SURE_SUGGESTED);
    assert_non_null(strstr(c.text, "Perhaps packet 4 of submission 7 does not finish while it was decoded"));
    free(sn);
}

/* A signal that was sent is from outside, whatever it is and whoever says that he sent it; where a thread died that executes
 * no commands, none is named for certain. */
static const struct {
    struct exec_death death;
    enum bb_cause cause;
    enum bb_sure why, which;
    const char *unseen;
    uint64_t oom_before, oom_now; /* what the kernel has ended for want of memory */
} ends[] = {
    {{.signal = SIGKILL}, BB_CAUSE_KILLED, BB_SURE_PROVEN, BB_SURE_SUGGESTED, "who sent", 3, 3},
    {{.signal = SIGKILL}, BB_CAUSE_HOST_MEMORY, BB_SURE_SUGGESTED, BB_SURE_SUGGESTED, "", 3, 4},
    {{.signal = SIGSEGV, .seen = true, .sent = true, .sender = 77},
     BB_CAUSE_KILLED,
     BB_SURE_PROVEN,
     BB_SURE_SUGGESTED,
     ""},
    {{.signal = SIGSEGV, .seen = true, .sent = true},
     BB_CAUSE_KILLED,
     BB_SURE_PROVEN,
     BB_SURE_SUGGESTED,
     "who sent"},
    {{.signal = SIGALRM}, BB_CAUSE_KILLED, BB_SURE_PROVEN, BB_SURE_SUGGESTED, "who sent"},
    {{.signal = SIGABRT, .seen = true, .sent = true, .sender = 5},
     BB_CAUSE_DEVICE,
     BB_SURE_SUGGESTED,
     BB_SURE_PROVEN,
     ""},
    {{.signal = SIGFPE, .seen = true}, BB_CAUSE_FAULT, BB_SURE_SUGGESTED, BB_SURE_PROVEN, ""},
    {{.signal = SIGFPE, .seen = true, .own_thread = true},
     BB_CAUSE_FAULT,
     BB_SURE_SUGGESTED,
     BB_SURE_SUGGESTED,
     "executes none"},
    {{.signal = SIGSEGV, .seen = true, .has_fault = true},
     BB_CAUSE_PAGE_FAULT,
     BB_SURE_PROVEN,
     BB_SURE_PROVEN,
     ""},
    {{.signal = SIGSEGV, .seen = true, .has_fault = true, .own_thread = true},
     BB_CAUSE_PAGE_FAULT,
     BB_SURE_PROVEN,
     BB_SURE_SUGGESTED,
     "executes none"},
    {{.signal = SIGSYS}, BB_CAUSE_FAULT, BB_SURE_SUGGESTED, BB_SURE_SUGGESTED, "which system call it was"},
    {{.signal = SIGABRT, .seen = true, .sent = true, .sender = 5, .no_memory = true},
     BB_CAUSE_LIMIT,
     BB_SURE_SUGGESTED,
     BB_SURE_SUGGESTED,
     "whether it died of that"},
    {{.signal = SIGSEGV, .seen = true, .has_fault = true, .fault_address = 24, .no_memory = true},
     BB_CAUSE_LIMIT,
     BB_SURE_SUGGESTED,
     BB_SURE_SUGGESTED,
     "whether it died of that"},
    {{.signal = SIGSEGV, .seen = true, .has_fault = true, .fault_address = 0x7ddead0000, .no_memory = true},
     BB_CAUSE_PAGE_FAULT,
     BB_SURE_PROVEN,
     BB_SURE_PROVEN,
     ""},
    {{.signal = SIGABRT, .seen = true, .sent = true, .sender = 77, .no_memory = true},
     BB_CAUSE_KILLED,
     BB_SURE_PROVEN,
     BB_SURE_SUGGESTED,
     ""},
    {{.exit_code = 1}, BB_CAUSE_FAULT, BB_SURE_SUGGESTED, BB_SURE_SUGGESTED, "nobody saw"},
};

TEST(who_ended_it)
{
    struct retained work = {.id = 7, .state = RETAINED_QUEUED};
    struct abi_builder b;

    abi_builder_init(&b);
    ABI_EMIT(&b, DRAW, draw, .vertex_count = 3, .instance_count = 1);
    work.stream = (uint8_t *)(uintptr_t)abi_builder_end(&b, &work.cmd_size);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct snapshot *sn = calloc(1, sizeof(*sn));
        struct exec_progress_slot *slot = &sn->progress.slots[0];
        struct watch_crash c;

        assert_non_null(sn);
        assert_int_equal(bb_resources_create(&sn->resources, 16), 0);
        sn->items = &work;
        sn->num_items = 1;
        sn->died = sn->has_progress = true;
        sn->death = ends[i].death;
        sn->death.pid = 5;
        sn->samples[0] = (struct host_sample){.executor_pid = 5, .oom_kills = ends[i].oom_before};
        sn->samples[1] = (struct host_sample){.oom_kills = ends[i].oom_now};
        sn->num_samples = 2;
        sn->progress.exact = 1;
        slot->submission = 7;
        slot->num_marks = slot->top = 1;
        slot->state = EXEC_PROGRESS_QUEUED;
        watch_judge(sn, &c);
        if (c.cause != ends[i].cause || c.why != ends[i].why || c.which != ends[i].which ||
            !strstr(c.unseen, ends[i].unseen))
            fail_msg("case %zu: cause %d, why %d, which %d: %s; %s", i, c.cause, c.why, c.which, c.text,
                     c.unseen);
        bb_resources_destroy(sn->resources);
        free(sn);
    }
    abi_builder_finish(&b);
}

/* The executor's ring of them holds the last: those before are counted, and what may have lain there is not called never mapped. */
TEST(changes_of_buffers_that_came_too_fast)
{
    struct exec_progress *progress = calloc(1, sizeof(*progress));
    struct watch w = {0};
    struct bb_fault f;

    assert_non_null(progress);
    assert_int_equal(bb_resources_create(&w.resources, 16), 0);
    for (uint64_t n = 0; n < EXEC_ADDRESS_EVENTS; n++)
        progress->addresses[n] = (struct exec_address_event){
            .time_ns = n + 1, .address = (n + 1) << 20, .size = 64, .handle = 9, .state = EXEC_ADDRESS_MADE};
    progress->num_addresses = EXEC_ADDRESS_EVENTS;
    watch_addresses(&w, progress);
    assert_int_equal(bb_resources_gaps(w.resources).lost, 0);
    bb_resources_fault(w.resources, 0x7f0000000000, &f);
    assert_int_equal(f.kind, BB_FAULT_NEVER_MAPPED);
    for (uint64_t n = 0; n < EXEC_ADDRESS_EVENTS; n++)
        progress->addresses[n].state = EXEC_ADDRESS_GONE;
    progress->num_addresses += EXEC_ADDRESS_EVENTS + 5;
    watch_addresses(&w, progress);
    assert_int_equal(bb_resources_gaps(w.resources).lost, 5);
    bb_resources_fault(w.resources, 0x7f0000000000, &f);
    assert_int_equal(f.kind, BB_FAULT_NOT_SEEN);
    bb_resources_destroy(w.resources);
    free(progress);
}

/* Where the driver makes a pipeline for the command that exact markers name, that is said, too. */
TEST(what_the_command_waits_for)
{
    struct retained work = {.id = 7, .state = RETAINED_QUEUED};
    struct snapshot *sn = calloc(1, sizeof(*sn));
    struct exec_progress_slot *slot;
    struct watch_crash c;
    struct abi_builder b;

    assert_non_null(sn);
    abi_builder_init(&b);
    ABI_EMIT(&b, DRAW, draw, .vertex_count = 3, .instance_count = 1);
    work.stream = (uint8_t *)(uintptr_t)abi_builder_end(&b, &work.cmd_size);
    sn->items = &work;
    sn->num_items = 1;
    sn->has_progress = true;
    sn->progress.exact = sn->progress.in_order = 1;
    slot = &sn->progress.slots[0];
    slot->submission = 7;
    slot->num_marks = slot->top = 1;
    slot->state = EXEC_PROGRESS_DECODING;
    slot->decoding = 1;
    slot->waits = EXEC_WAIT_PIPELINE;
    watch_set_hung(sn, &(struct watch_hang){.seconds = 3, .let_run = 3});
    watch_judge(sn, &c);
    assert_int_equal(c.packet, 0);
    assert_false(c.in_decoder);
    assert_non_null(strstr(c.text, ", while the Vulkan driver made a pipeline for it"));
    abi_builder_finish(&b);
    free(sn);
}

/* A decoder that died in a packet: what a shader stored before, that can store anywhere, may be why. */
TEST(a_decoder_that_was_misled)
{
    for (uint32_t unguarded = 0; unguarded < 2; unguarded++) {
        struct retained work = {.id = 7, .state = RETAINED_QUEUED};
        struct snapshot *sn = calloc(1, sizeof(*sn));
        struct watch_crash c;

        assert_non_null(sn);
        assert_int_equal(bb_resources_create(&sn->resources, 16), 0);
        sn->items = &work;
        sn->num_items = 1;
        sn->died = sn->has_progress = true;
        sn->death =
            (struct exec_death){.signal = SIGSEGV, .seen = true, .has_fault = true, .in_decoder = true};
        sn->progress.slots[0].submission = 7;
        sn->progress.slots[0].state = EXEC_PROGRESS_DECODING;
        sn->progress.slots[0].decoding = 5;
        sn->progress.unguarded = unguarded;
        watch_judge(sn, &c);
        assert_int_equal(c.packet, 4);
        assert_int_equal(c.which, unguarded ? BB_SURE_SUGGESTED : BB_SURE_PROVEN);
        assert_int_equal(!strstr(c.unseen, "whether an earlier shader"), !unguarded);
        bb_resources_destroy(sn->resources);
        free(sn);
    }
}

/* ---- no memory ----------------------------------------------------------- */

static int walk_a_stream(void *ctx)
{
    struct watch_model m = {0};
    struct abi_builder b;
    int r;

    abi_builder_init(&b);
    for (uint32_t i = 1; i < 100; i++)
        texture(&b, i, i);
    ABI_EMIT(&b, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = 1, .share_token = 99);
    ABI_EMIT(&b, SET_TEXTURE, set_texture, .shader_stage = AEROGPU_SHADER_STAGE_PIXEL, .texture = 7);
    r = walk(&m, &b, 1) && !m.failed ? 0 : -ENOMEM;
    watch_model_finish(&m);
    abi_builder_finish(&b);
    return r;
}

/* A dump that lacks what found no memory is a dump. */
static int watch_and_dump(void *ctx)
{
    struct watch *w;
    struct error e = {0};
    char path[64];
    int r = watch_create(&w, &(struct watch_params){.machine = ctx}, &e);

    if (r)
        return r;
    snprintf(path, sizeof(path), "%s/fail.dump", dir);
    unlink(path);
    r = watch_request(w, path, &e);
    watch_destroy(w);
    return !r && alloc_fail_disarm() ? ALLOC_FAIL_COPED : r;
}

TEST(memory_runs_out)
{
    struct machine *m;
    struct error e = {0};

    assert_true(alloc_fail_each(walk_a_stream, NULL) >= 5);
    if (machine_create(&m, &(struct machine_params){.kind = MACHINE_SIM}, &e))
        fail_msg("%s", e.text);
    assert_true(alloc_fail_each(watch_and_dump, m) >= 8);
    machine_destroy(m);
}

TEST_GROUP(make_dir, remove_dir);
