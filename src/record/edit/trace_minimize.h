/* SPDX-License-Identifier: MIT */
/* trace_minimize.h: makes a recording that crashes as small as it can be and still crash. What it knows of the API stands in its
 * tables; how its calls are made is the player's. */
#pragma once

#include "base/error.h"
#include "record/trace_file.h"

/* How one try ends, if by no signal: all is played; a call fails; all is played, and the device does not get done, or the program waits
 * for ever for what nobody does. */
enum trc_outcome { TRC_PLAYED, TRC_FAILED, TRC_HUNG, TRC_WAITS };

struct trc_try {
    const uint8_t *keep; /* one byte a call: 0: leave it out */
    uint32_t timeout_ms; /* for a fence; the process is ended after ten times that */
    bool
        finish; /* wait behind the last call until all is done: else neither TRC_HUNG nor TRC_WAITS is seen */
    struct trc_progress *progress; /* to be kept at the call that is being made */
};

struct trc_minimize_params {
    /* Makes the calls of `t` that are kept. Each try is a process of its own: it may crash. */
    enum trc_outcome (*play)(struct trc *t, const struct trc_try *how);
    uint32_t max_tests;                                          /* tries at most; 0: 2000 */
    uint32_t timeout_ms;                                         /* 0: 2 s */
    void (*progress)(void *ctx, uint32_t tests, uint64_t calls); /* or NULL */
    void *ctx;
};

struct trc_minimize_result {
    int signal; /* that ends the player; 0: `how` */
    enum trc_outcome how;
    uint16_t method; /* the call in which it happens, of TRC_HUNG none, of TRC_WAITS the one that waits */
    char place
        [96]; /* where it crashes: the innermost module but the C library, and the offset in it; "": not known */
    uint64_t calls_before, calls;
    uint32_t tests;
};

/* Writes what is left to `path`. -EAGAIN: the whole recording plays without a failure, or does not fail again. */
int trc_minimize(struct trc *t, const char *path, const struct trc_minimize_params *params,
                 struct trc_minimize_result *r, struct error *e);
