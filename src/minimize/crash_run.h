/* SPDX-License-Identifier: MIT */
/* crash_run.h: plays a recording on a machine of its own, with a black box attached, until it crashes or ends. Every run
 * has a fresh executor, so that no run can influence another. */
#pragma once

#include "watch/watch.h"
#include "trace/reader.h"

struct crash_run_params {
    const char *path; /* of the recording, or NULL to play `data` */
    const void *data;
    size_t size;
    enum exec_markers markers;
    uint32_t hang_ms;                  /* 0 for 2 000 */
    const char *directory;             /* of dumps, NULL for none */
    const char *program, *dump_at_end; /* dump_at_end: a path: a dump even if nothing crashed */
    bool errors_count;                 /* a stream that the device refuses is a crash too */
    void (*disassemble)(struct strbuf *out, const void *bytes, size_t size); /* as in watch_params */
    uint32_t kill_after_us; /* not 0: the executor is killed so long after playing began */
    int kill_signal;        /* by what; 0: SIGKILL */
};

struct crash_run_result {
    bool crashed;
    struct watch_crash crash; /* the first */
    char dump[4096];          /* "" for none */
    uint32_t others;          /* that were found besides, before playing had stopped */
    char other[900];          /* the first of them, in words */
    struct watch_pause pause; /* the longest without progress of what went on after all */
    uint64_t submissions, errors;
    struct error playing; /* why it could not be played to its end, a hang aside */
};

/* 0, or what kept it from being played at all. */
int crash_run(const struct crash_run_params *p, struct crash_run_result *out, struct error *e);
