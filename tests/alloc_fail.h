/* SPDX-License-Identifier: MIT */
/* alloc_fail.h: makes the nth allocation or system call of the code under test fail (CONVENTIONS rule 11: injected, not hoped for).
 *
 * A test takes the meson dependency `alloc_fail`, which links it with --wrap for each row of ALLOC_FAIL_CALLS: calls from our
 * own objects and static libraries come here first; those from inside shared libraries do not. A test of a whole room:
 *
 *     static int make_one(void *ctx)
 *     {
 *         struct gpu *gpu;
 *         int err = gpu_create(&gpu, ...);
 *         if (!err)
 *             gpu_destroy(gpu);
 *         return err;
 *     }
 *     ...
 *     alloc_fail_each(make_one, NULL);
 *
 * calls make_one with the 0th, 1st, 2nd … call failing, until one run in which none was left to fail, and asserts
 *  1. of each run with a failure: the answer is the negative errno of what failed (an -ENOMEM never turns into something else);
 *  2. of the last run: the answer is 0;
 *  3. of all: as many descriptors are open after as before. Lost memory is found by running under ASan (`make check`).
 * make_one may return ALLOC_FAIL_COPED where doing without is what the code promises (a thread or a cache that is not needed).
 *
 * Only the thread that armed it fails, so that n means the same call each time; threads that the code under test starts do not.
 * Where more than one answer has to be looked at, use alloc_fail_arm and alloc_fail_disarm.
 */
#pragma once

#include <stdbool.h>

enum { ALLOC_FAIL_COPED = 1 };

/* From now on the nth (0 is the next) wrapped call of this thread fails, once. */
void alloc_fail_arm(unsigned nth);
/* No more failures; 0, or the errno that one failed with since alloc_fail_arm. */
int alloc_fail_disarm(void);
/* The name of the call that failed last, for messages. */
const char *alloc_fail_what(void);

/* As above. Returns the number of calls that were made to fail. */
unsigned alloc_fail_each(int (*fn)(void *ctx), void *ctx);
