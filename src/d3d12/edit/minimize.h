/* SPDX-License-Identifier: MIT */
/* minimize.h: makes a recording that crashes as small as it can be and still crash. */
#pragma once

#include "base/error.h"
#include "record/trace_file.h"

struct minimize_params {
    uint32_t max_tests;  /* plays at most; 0: 2000 */
    uint32_t timeout_ms; /* for a fence, and ten times that for a play; 0: 2 s */
    void (*progress)(void *ctx, uint32_t tests, uint64_t calls); /* or NULL */
    void *ctx;
};

struct minimize_result {
    int signal;      /* that ends the player; 0: a call fails */
    uint16_t method; /* the call in which it happens; 0: behind the last one, the device does not get done */
    uint64_t calls_before, calls;
    uint32_t tests;
};

/* Each try plays part of the calls in a process of its own. -EAGAIN: the whole recording plays without a failure. */
int minimize_run(struct trc *t, const char *path, const struct minimize_params *params,
                 struct minimize_result *r, struct error *e);
