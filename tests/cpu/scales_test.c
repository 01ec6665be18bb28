/* SPDX-License-Identifier: MIT */
/* No cliffs: one piece of evidence grows from nothing to all, and the verdict goes along. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stall_plants.h"

#define STEPS 50

static char path[] = "/tmp/aerogpu-scales-XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(path);

    return fd < 0 ? -1 : close(fd);
}

static int drop_file(void **state)
{
    return unlink(path);
}

static void judge(uint32_t scale, uint64_t seed, int step, struct cpu_verdict *v)
{
    struct rng rng = {seed};
    struct cpu_window w;
    struct cpu_trace t;
    struct error e = {0};

    stall_scale(scale, (double)step / STEPS, &rng, path, &w);
    if (cpu_trace_open(&t, path, &e) || cpu_verdict_make(v, &t, &w, 0, &e))
        fail_msg("%s", e.text);
    cpu_trace_close(&t);
}

#define FAIL_AT(step, ...)                                                                                   \
    (print_error("%s, at %d %%: ", s->what, 100 * (step) / STEPS), print_error(__VA_ARGS__), wrong++)

/* Between two different things that are certain there is something that is not; what has grown to be certain stays so; and
 * the hung GPU, once there is doubt, does not come back. */
static int go_along(uint32_t scale, uint64_t seed)
{
    const struct stall_scale *s = &stall_scales[scale];
    enum cpu_verdict_kind sure = CPU_VERDICT_UNKNOWN, last = CPU_VERDICT_UNKNOWN;
    bool certain_now = false, was_hung = false, reached = false;
    struct cpu_verdict v;
    int wrong = 0;

    for (int i = 0; i <= STEPS; i++) {
        judge(scale, seed, i, &v);
        if ((i == 0 && v.kind != s->at_0) || (i == STEPS && v.kind != s->at_1))
            FAIL_AT(i, "it is called %s\n", cpu_verdict_name(v.kind));
        if (v.certainty == CPU_CERTAIN && certain_now && v.kind != sure)
            FAIL_AT(i, "from %s to %s, both certain, with nothing in between\n", cpu_verdict_name(sure),
                    cpu_verdict_name(v.kind));
        if (!s->turns && reached && (v.certainty != CPU_CERTAIN || v.kind != s->at_1))
            FAIL_AT(i, "%s was certain and is %s, %s\n", cpu_verdict_name(s->at_1), cpu_verdict_name(v.kind),
                    cpu_certainty_name(v.certainty));
        if (was_hung && last != CPU_VERDICT_GPU_HUNG && v.kind == CPU_VERDICT_GPU_HUNG)
            FAIL_AT(i, "GPU-HUNG comes back after %s\n", cpu_verdict_name(last));
        certain_now = v.certainty == CPU_CERTAIN;
        sure = certain_now ? v.kind : sure;
        reached |= certain_now && v.kind == s->at_1;
        was_hung |= v.kind == CPU_VERDICT_GPU_HUNG;
        last = v.kind;
    }
    return wrong;
}

TEST(there_are_no_cliffs)
{
    int wrong = 0;

    for (uint32_t i = 0; i < stall_num_scales; i++)
        wrong += go_along(i, 1 + i);
    assert_int_equal(wrong, 0);
}

/* All of a list are called what they are, so surely. */
static void called(const char *const *list, enum cpu_certainty sure)
{
    for (const char *const *what = list; *what; what++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            struct rng rng = {seed};
            struct cpu_window w;
            struct cpu_verdict v;
            struct cpu_trace t;
            struct error e = {0};
            uint32_t i = 0;

            while (strcmp(stall_stories[i].what, *what))
                i++;
            stall_story(i, &rng, path, &w);
            if (cpu_trace_open(&t, path, &e) || cpu_verdict_make(&v, &t, &w, 0, &e))
                fail_msg("%s", e.text);
            cpu_trace_close(&t);
            if (v.kind != stall_stories[i].expected || v.certainty != sure)
                fail_msg("%s: %s, %s", *what, cpu_verdict_name(v.kind), cpu_certainty_name(v.certainty));
        }
}

/* Two causes are two, and what was not seen is not certain, whatever it is called. */
TEST(doubt_is_said)
{
    called(stall_doubtful, CPU_LIKELY);
}

TEST(proof_is_said)
{
    called(stall_proven, CPU_CERTAIN);
}

TEST_GROUP(make_file, drop_file);
