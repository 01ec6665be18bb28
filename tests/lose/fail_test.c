/* SPDX-License-Identifier: MIT */
/* The nth allocation or system call fails: the program is not run without the layer, and nothing stays. */
#include "test.h"

#include <string.h>

#include "alloc_fail.h"
#include "base/clock.h"
#include "lose/lose.h"

static int run_true(void *ctx)
{
    static struct lose_result result;
    char *argv[] = {"true", NULL};
    int rc = lose_run(&(struct lose_params){.argv = argv,
                                            .layers = "/nowhere",
                                            .at_frame = 1,
                                            .times = 1,
                                            .proof = 1,
                                            .reach_ns = 60 * NSEC_PER_SEC,
                                            .timeout_ns = NSEC_PER_SEC},
                      &result, NULL);

    assert_true(rc || (result.verdict == LOSE_NO_DEVICE && result.exited && !result.code));
    /* A process that could not be looked at is looked at again. */
    return !rc && !strcmp(alloc_fail_what(), "open64") ? ALLOC_FAIL_COPED : rc;
}

TEST(running_a_program)
{
    assert_true(alloc_fail_each(run_true, NULL) > 2);
}
