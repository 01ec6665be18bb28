/* SPDX-License-Identifier: MIT */
/* dumps.h: the black box in a program of the stack: dumps of what crashes, where AEROGPU_DUMPS names a folder. */
#pragma once

#include "watch/watch.h"

struct dumps_params {
    struct machine *machine;
    const char *program;             /* "serve" */
    bool all_errors;                 /* for refused streams too */
    const struct settings *settings; /* that the system runs with; lives as long as the watch */
    uint32_t max;                    /* dumps; 0: as in watch_params */
};

/* *out is NULL if the variable is not set. What crashed, and where the dump is, goes to standard error. */
int dumps_begin(struct watch **out, const struct dumps_params *p, struct error *e);

/* A dump now: DIR/PROGRAM-request-PID-N.aerogpudump. */
void dumps_request(struct watch *w, const char *program);

/* Asks another process, which made known by catching SIGUSR1 that it takes that for a request, and waits for the dump, whose
 * path goes to `path`. 0, -ESRCH, -EPERM, -ENOTSUP (it does not), -ETIMEDOUT. */
int dumps_ask(int pid, char path[4096], struct error *e);
