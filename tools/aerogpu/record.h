/* SPDX-License-Identifier: MIT */
/* record.h: what `aerogpu record` can record: one function each. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum record_what { RECORD_D3D12, RECORD_DEVICE, RECORD_CPU };

struct record_options {
    const char *output; /* not NULL, but for processors */
    /* Direct3D 12 */
    uint32_t first_frame, last_frame; /* 0 and UINT32_MAX: all */
    uint32_t hash_every;
    unsigned memory; /* enum dirty_method */
    /* processors */
    uint64_t duration_ns; /* 0: until the program ends, or Ctrl-C */
    uint32_t buffer_kb;   /* 0: the default */
    bool sched, timers;
};

/* Run `program`, a list with NULL at its end, and record it. Return the exit code: the program's, if it could be run. */
int record_d3d12(const struct record_options *o, char *const *program);
/* `program` may be empty. The exit code is EXIT_FAILED if the program failed. */
int record_cpu(const struct record_options *o, char *const *program);

/* Which of them a command line is for, by the libraries that its program names: 0, or -ENOENT: there is no such program;
 * -ENOTSUP: what it speaks cannot be recorded, or cannot be seen; -EEXIST: it speaks two. The sentence says what is to be done.
 */
int record_see(char *const *program, enum record_what *what, struct error *e);
/* Why nothing was recorded of what a command line started: -ENOTSUP and a sentence, where its words say it; else 0. */
int record_explain(char *const *program, struct error *e);
