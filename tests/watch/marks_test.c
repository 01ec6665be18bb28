/* SPDX-License-Identifier: MIT */
/* marks_test.c: what the marks of progress prove: plants at which the black box must not be sure and wrong. */
#include "test.h"

#include <math.h>
#include <string.h>

#include <aerogpu/ext.h>
#include <aerogpu/pci.h>

#include "base/log.h"
#include "crash_scene.h"
#include "watch_rig.h"

enum { ROUNDS = 12 };

/* No triangle: nothing is rasterised. */
static void empty_draw(struct rig *r)
{
    ABI_EMIT(&r->b, DRAW, draw, .vertex_count = 1, .instance_count = 1);
}

/* Draw `bad` of `draws` does not end. Its packet. */
static uint32_t emit_pass(struct rig *r, uint32_t draws, uint32_t bad)
{
    uint32_t packet = 7; /* behind those of the scene and BIND_SHADERS */

    crash_scene(&r->b);
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 2, .ps = 3);
    for (uint32_t i = 0; i < draws; i++)
        if (i == bad)
            ABI_EMIT(&r->b, DRAW, draw, .vertex_count = 3, .instance_count = 1);
        else
            empty_draw(r);
    return packet + bad;
}

/* A pass is cut after 1 000 draws, and the second piece begins while the first is rasterised. */
TEST(a_group_ends_with_its_rasterising)
{
    static const uint32_t draws[] = {1001, 2500, 3001}, bad[] = {500, 1700, 2000};

    for (int i = 0; i < 3; i++) {
        struct rig *r;
        uint32_t packet;

        r = rig_init(EXEC_MARKERS_GROUPS);
        packet = emit_pass(r, draws[i], bad[i]);
        submit(r);
        await_crash(r, 1);
        assert_hang(r);
        if (r->crash.certain || r->crash.packet > packet || r->crash.packet + r->crash.candidates <= packet)
            fail_msg("packet %u: %s", packet, r->crash.text);
        assert_true(r->crash.candidates <= 1010); /* a group, and the creation and clear before it */
        rig_finish(r);
    }
}

/* The first draw with a pipeline, which is compiled for it, is a group of its own. */
TEST(a_first_draw_is_alone)
{
    struct rig *r;
    uint32_t packet;

    r = rig_init(EXEC_MARKERS_GROUPS);
    packet = emit_pass(r, 0, 0);
    for (int i = 0; i < 20; i++)
        ABI_EMIT(&r->b, CLEAR, clear, .flags = 1);
    ABI_EMIT(&r->b, DRAW, draw, .vertex_count = 3, .instance_count = 1);
    for (int i = 0; i < 20; i++)
        empty_draw(r);
    submit(r);
    await_crash(r, 1);
    assert_hang(r);
    if (!r->crash.certain || r->crash.packet != packet + 20)
        fail_msg("packet %u: %s", packet + 20, r->crash.text);
    rig_finish(r);
}

static void viewport(struct rig *r, float side)
{
    ABI_EMIT(&r->b, SET_VIEWPORT, set_viewport, .width = abi_f32(side), .height = abi_f32(side),
             .max_depth = abi_f32(1));
}

/* Many draws that each take a part of what is called a hang are none: each is progress. */
TEST(slow_draws_are_progress)
{
    enum { LONG_MS = 2000, DRAWS = 16, SIDE = 64 };
    struct rig *r;
    uint64_t start;
    double ms = 0;

    rig_hang_ms = LONG_MS;
    r = rig_init(EXEC_MARKERS_GROUPS);
    rig_hang_ms = HANG_MS;
    crash_scene(&r->b);
    for (int i = 0; i < 2; i++) { /* the first is compiled as well */
        viewport(r, SIDE / 2);
        crash_endless_draw(&r->b);
        start = machine_now(r->m);
        assert_int_equal(driver_wait(r->d, submit(r), 60 * NSEC_PER_SEC), 0);
        ms = (double)(machine_now(r->m) - start) / 1e6;
    }
    ABI_EMIT(&r->b, CLEAR, clear, .flags = 1);
    viewport(r, SIDE / 2 * sqrtf((float)(LONG_MS / 8 / ms)));
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 2, .ps = 3);
    for (int i = 0; i < DRAWS; i++)
        ABI_EMIT(&r->b, DRAW, draw, .vertex_count = 3, .instance_count = 1);
    assert_int_equal(driver_wait(r->d, submit(r), 60 * NSEC_PER_SEC), 0);
    if (watch_crashes(r->w))
        fail_msg("%s", r->crash.text);
    rig_finish(r);
}

TEST(a_long_good_pass_completes)
{
    struct rig *r;

    r = rig_init(EXEC_MARKERS_GROUPS);
    emit_pass(r, 5001, UINT32_MAX);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(driver_wait(r->d, submit(r), 60 * NSEC_PER_SEC), 0);
        ABI_EMIT(&r->b, CLEAR, clear, .flags = 1);
        for (int k = 0; k < 5001; k++)
            empty_draw(r);
    }
    assert_int_equal(watch_crashes(r->w), 0);
    rig_finish(r);
}

/* Several submissions are at the device when one of them goes wrong: whatever came before it is not to blame. */
TEST(the_one_of_several_that_hangs)
{
    struct rig *r;
    uint64_t bad;

    r = rig_init(EXEC_MARKERS_GROUPS);
    crash_scene(&r->b);
    submit(r);
    for (int i = 0; i < 3; i++) {
        ABI_EMIT(&r->b, CLEAR, clear, .flags = 1);
        submit(r);
    }
    crash_endless_draw(&r->b);
    bad = submit(r);
    for (int i = 0; i < 2; i++) {
        ABI_EMIT(&r->b, CLEAR, clear, .flags = 1);
        submit(r);
    }
    await_crash(r, 1);
    assert_hang(r);
    assert_int_equal(r->crash.fence, bad);
    assert_true(r->crash.certain); /* it is the only command of its group */
    assert_string_equal(
        ask(r->dump, "SELECT group_concat(id) FROM submission WHERE state='running' AND id < 5"), "");
    rig_finish(r);
}

TEST(the_one_of_several_that_faults)
{
    struct rig *r;
    uint64_t bad;

    r = rig_init(EXEC_MARKERS_GROUPS);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        crash_scene(&r->b);
        poke(r, 0);
        submit(r);
        for (uint32_t k = 0; k < 1 + i % 3; k++) {
            ABI_EMIT(&r->b, CLEAR, clear, .flags = 1);
            dispatch(r);
            submit(r);
        }
        ABI_EMIT(&r->b, EXT_RESIDENCY, ext_residency, .buffer = 11, .resident = 0);
        submit(r);
        dispatch(r);
        bad = submit(r);
        ABI_EMIT(&r->b, CLEAR, clear, .flags = 1);
        submit(r);
        await_crash(r, i + 1);
        assert_int_equal(r->crash.cause, BB_CAUSE_PAGE_FAULT);
        if (r->crash.fence != bad)
            fail_msg("fence %llu, not %llu: %s", (unsigned long long)bad, (unsigned long long)r->crash.fence,
                     r->crash.text);
        machine_wait_ready(r->m, 60000, NULL);
    }
    rig_finish(r);
}

/* A compute shader of 40 000 instructions, whose result nobody sees. */
static uint32_t huge_shader(uint32_t *w)
{
    enum { OPS = 40000, FIRST = 8 };
    const uint32_t head[] = {0x07230203, 0x00010000, 0,          FIRST + OPS,
                             0,                         /* ids below FIRST + OPS */
                             0x00020011, 1,             /* OpCapability Shader */
                             0x0003000E, 0,          1, /* OpMemoryModel Logical GLSL450 */
                             0x0005000F, 5,          5,          0x6E69616D,
                             0, /* OpEntryPoint GLCompute %5 "main" */
                             0x00060010, 5,          17,         1,
                             1,          1, /* OpExecutionMode %5 LocalSize 1 1 1 */
                             0x00020013, 1,          0x00030021, 2,
                             1, /* void, void() */
                             0x00040015, 3,          32,         0,
                             0x0004002B, 3,          4,          3, /* uint, 3 */
                             0x00050036, 1,          5,          0,
                             2,          0x000200F8, 6, /* OpFunction, OpLabel */
                             0x00050084, 3,          7,          4,
                             4}; /* %7 = OpIMul %4 %4 */
    uint32_t n = sizeof(head) / 4;

    memcpy(w, head, sizeof(head));
    for (uint32_t i = 0; i < OPS; i++, n += 5)
        memcpy(w + n, (uint32_t[]){0x00050084, 3, FIRST + i, FIRST + i - 1, 4}, 20);
    memcpy(w + n, (uint32_t[]){0x000100FD, 0x00010038}, 8); /* OpReturn, OpFunctionEnd */
    return (n + 2) * 4;
}

/* Where shaders are made ready, and the device has nothing to do, that is said. */
TEST(compiling_is_named)
{
    static uint32_t words[220000];
    const uint32_t size = huge_shader(words);
    struct rig *r = NULL;

    rig_hang_ms = 1; /* what is noticed after 25 ms of it is called so */
    for (int i = 0; !i || (i < 10 && r->crash.cause == BB_CAUSE_STARVED);
         i++) { /* it was not let run in these */
        r = rig_init(EXEC_MARKERS_EXACT);
        crash_shader(&r->b, 30, AEROGPU_SHADER_STAGE_COMPUTE, words, size);
        ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .cs = 30);
        dispatch(r);
        submit(r);
        await_crash(r, 1);
    }
    rig_hang_ms = HANG_MS;
    assert_hang(r);
    assert_int_equal(r->crash.why, BB_SURE_SUGGESTED);
    if (!strstr(r->crash.text, "shaders were translated for it") &&
        !strstr(r->crash.text, "made a pipeline for it"))
        fail_msg("%s", r->crash.text);
    assert_int_equal(r->crash.packet, 2); /* DISPATCH, whose shader it is */
    rig_finish(r);
}

/* What is no draw works as well, and is not charged to the command before it. */
TEST(creation_has_marks_of_its_own)
{
    struct rig *r;

    r = rig_init(EXEC_MARKERS_EXACT);
    crash_scene(&r->b);
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 20, .usage_flags = 1,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .width = 64, .height = 64, .mip_levels = 1,
             .array_layers = 1);
    crash_endless_draw(&r->b);
    submit(r);
    await_crash(r, 1);
    assert_true(r->crash.certain);
    assert_string_equal(
        ask(r->dump, "SELECT group_concat(p.name) FROM mark m JOIN packet p ON p.number = m.first"),
        "CREATE_TEXTURE2D,CLEAR,CREATE_TEXTURE2D,DRAW");
    rig_finish(r);
}

/* There are marks for 16 384 commands. Behind them it is one of many, and not the first. */
TEST(more_commands_than_marks)
{
    static const uint32_t bad[] = {5000, 17000};

    rig_hang_ms = 2000; /* it takes long */
    for (int i = 0; i < 2; i++) {
        struct rig *r;
        uint32_t packet;

        r = rig_init(EXEC_MARKERS_EXACT);
        packet = emit_pass(r, bad[i] + 500, bad[i]);
        submit(r);
        await_crash(r, 1);
        if (r->crash.certain != !i || (!i && r->crash.packet != packet) || r->crash.packet > packet)
            fail_msg("packet %u: %s", packet, r->crash.text);
        rig_finish(r);
    }
    rig_hang_ms = HANG_MS;
}

TEST_GROUP(rig_make_dir, rig_remove_dir);

int main(void)
{
    log_set_level(LOG_ERROR);
    return test_run();
}
