/* SPDX-License-Identifier: MIT */
/* diff.h: what two recordings do differently. */
#pragma once

#include <stdio.h>

#include "base/error.h"
#include "record/trace_file.h"

struct diff_result {
    uint64_t same, only_a, only_b;
};

/* Prints the calls that only one of the two has, "-" and "+" in front, at most `limit` of them (0: all). Two calls are
 * the same if method, object, arguments and answers are; times, threads, raw values of handles, and calls that only ask something do not count.
 * 0 or a negative errno. */
int diff_run(FILE *out, struct trc *a, struct trc *b, uint64_t limit, struct diff_result *r, struct error *e);
