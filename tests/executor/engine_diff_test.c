/* SPDX-License-Identifier: MIT */
/* The same random stream in one submission, in a submission for every draw, cut at random, with another context drawing in
 * between, in groups of two draws, and with a mark around every packet must leave the same bytes everywhere: state that is remembered from draw to draw, pass to pass and
 * command buffer to command buffer is remembered right.
 *
 *     engine_diff_test [FIRST [COUNT [STEPS]]]      seeds; without them the few that a test has time for
 *
 * The second engine takes the seeds in the opposite order, so that its caches were filled by other streams: what a cache
 * key forgets shows as a difference. A seed that differs is shortened to the first step after which it does.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine_stream.h"

static uint32_t first_seed = 1, num_seeds = 6, num_steps = 70;

static bool same(const struct stream_result *a, const struct stream_result *b, int *mirror)
{
    for (int i = 0; i < STREAM_MIRRORS; i++)
        if (a->hash[i] != b->hash[i]) {
            *mirror = i;
            return false;
        }
    return true;
}

/* Finds the first step after which they differ, and says what does. */
static void shorten(struct rig *a, struct rig *b, uint64_t seed, enum stream_cuts cuts)
{
    uint32_t lo = 0, hi = num_steps; /* after lo steps they agree, after hi they do not */
    struct stream_result ra, rb;
    char text[256] = "nothing, the second time";
    int mirror = 0;

    while (hi - lo > 1) {
        uint32_t mid = (lo + hi) / 2;
        stream_run(a, seed, mid, CUT_NEVER, &ra);
        stream_run(b, seed, mid, cuts, &rb);
        if (same(&ra, &rb, &mirror))
            lo = mid;
        else
            hi = mid;
    }
    stream_run(b, seed, hi, cuts, &rb);
    uint8_t *copy = malloc(32 << 20);
    memcpy(copy, b->ram + RIG_DATA_GPA, 32 << 20);
    stream_verbose = true;
    stream_run(a, seed, hi, CUT_NEVER, &ra);
    stream_verbose = false;
    memcpy(b->ram + RIG_DATA_GPA, copy, 32 << 20);
    free(copy);
    if (a != b && !same(&ra, &rb, &mirror))
        stream_explain(a, b, mirror, text, sizeof(text));
    else if (!same(&ra, &rb, &mirror))
        snprintf(text, sizeof(text), "%s", stream_mirror_name(mirror));
    fail_msg("seed %llu differs from step %u on: %s", (unsigned long long)seed, hi - 1, text);
}

static int rig_or_skip(struct rig *r, const struct exec_engine_params *like)
{
    return rig_create_like(r, like);
}

TEST(cuts_change_nothing)
{
    struct rig whole, grouped, exact;
    struct exec_engine_params groups = {.group_draws = 2}, marks = {.markers = EXEC_MARKERS_EXACT};
    struct stream_result *want = calloc(num_seeds, sizeof(*want)), got;
    int mirror;

    marks.progress =
        mmap(NULL, sizeof(struct exec_progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (rig_or_skip(&whole, &(struct exec_engine_params){0})) {
        rig_destroy(&whole);
        free(want);
        skip();
    }
    assert_int_equal(rig_or_skip(&grouped, &groups), 0);
    assert_int_equal(rig_or_skip(&exact, &marks), 0);
    for (uint32_t i = 0; i < num_seeds; i++) {
        stream_run(&whole, first_seed + i, num_steps, CUT_NEVER, &want[i]);
        stream_run(&whole, first_seed + i, num_steps, CUT_DRAWS, &got);
        if (!same(&want[i], &got, &mirror))
            shorten(&whole, &whole, first_seed + i, CUT_DRAWS);
        stream_run(&whole, first_seed + i, num_steps, CUT_NOISE, &got);
        if (!same(&want[i], &got, &mirror))
            shorten(&whole, &whole, first_seed + i, CUT_NOISE);
    }
    for (uint32_t i = num_seeds; i-- > 0;) {
        stream_run(&grouped, first_seed + i, num_steps, CUT_RANDOM, &got);
        if (!same(&want[i], &got, &mirror))
            shorten(&whole, &grouped, first_seed + i, CUT_RANDOM);
        stream_run(&grouped, first_seed + i, num_steps, CUT_NEVER, &got);
        if (!same(&want[i], &got, &mirror))
            shorten(&whole, &grouped, first_seed + i, CUT_NEVER);
    }
    stream_run(&exact, first_seed, num_steps, CUT_NEVER, &got);
    if (!same(&want[0], &got, &mirror))
        shorten(&whole, &exact, first_seed, CUT_NEVER);
    rig_destroy(&whole);
    rig_destroy(&grouped);
    rig_destroy(&exact);
    free(want);
}

/* Of the last submission; of `copies` draws that change what the rasterizer reads and `draws` that do not. */
static const struct exec_progress_slot *frame(struct rig *r, const struct exec_progress *p, int copies,
                                              int draws)
{
    const struct exec_progress_slot *slot = &p->slots[0];

    for (int i = 0; i < copies; i++) {
        ABI_EMIT(&r->b, SET_VIEWPORT, set_viewport, .width = abi_f32(64), .height = abi_f32(64),
                 .max_depth = abi_f32(i % 2 ? 1 : 0.5f));
        rig_draw(r, 6, 0);
    }
    for (int i = 0; i < draws; i++)
        rig_draw(r, 6, 0);
    rig_run_ok(r);
    for (unsigned i = 0; i < EXEC_PROGRESS_SLOTS; i++)
        if (p->slots[i].submission > slot->submission)
            slot = &p->slots[i];
    return slot;
}

/* A software device gets a frame in groups whose state the processor's caches hold, and whoever asks sees how far it is. */
TEST(frames_are_handed_over_in_groups)
{
    static const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0, RED)};
    struct exec_engine_params marks = {.progress =
                                           mmap(NULL, sizeof(struct exec_progress), PROT_READ | PROT_WRITE,
                                                MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
    const struct exec_progress_slot *slot;
    struct rig r;

    assert_true(marks.progress != MAP_FAILED);
    if (rig_or_skip(&r, &marks) || !marks.progress->in_order) {
        rig_destroy(&r);
        skip();
    }
    rig_make_target(&r);
    rig_plain(&r, v, 6);
    frame(&r, marks.progress, 0, 200); /* the first with a pipeline is alone, and takes long */
    frame(&r, marks.progress, 0, 200);
    slot = frame(&r, marks.progress, 400, 0);
    assert_int_equal(slot->num_marks, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_in_range(slot->marks[i].last - slot->marks[i].first, 198, 200); /* packets, two for each */
    assert_int_equal(frame(&r, marks.progress, 0, 1000)->num_marks, 1);
    assert_int_equal(frame(&r, marks.progress, 0, 1001)->num_marks, 2);
    rig_destroy(&r);
    munmap(marks.progress, sizeof(struct exec_progress));
}

int main(int argc, char **argv)
{
    if (argc > 1)
        first_seed = (uint32_t)strtoul(argv[1], NULL, 0);
    if (argc > 2)
        num_seeds = (uint32_t)strtoul(argv[2], NULL, 0);
    if (argc > 3)
        num_steps = (uint32_t)strtoul(argv[3], NULL, 0);
    return test_run();
}
