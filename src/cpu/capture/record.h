/* SPDX-License-Identifier: MIT */
/* record.h: recording this machine's idle, IPI and interrupt events.
 *
 *   create ──▶ start ──▶ drain, drain, ... ──▶ stop ──▶ destroy
 *
 * `drain` hands over pages as they come; cpu_record_run() does the whole to a file. See tracefs.h for what is
 * left behind (nothing).
 */
#pragma once

#include <stdatomic.h>

#include "cpu/capture/page.h"
#include "cpu/capture/snapshot.h"
#include "cpu/capture/tracefs.h"

struct cpu_record_params {
    uint32_t buffer_kb; /* per CPU, 0 = 8192 */
    bool sched;         /* sched_switch and sched_wakeup as well */
    bool timers; /* the local timer interrupt and hrtimers as well: most of the volume of a normal trace */
};

struct cpu_recorder {
    struct cpu_tracefs fs;
    struct cpu_record_params params;
    struct cpu_rules *rules;
    json_t *formats; /* what FORMATS holds */
    bool records_counter[CPU_COUNTER_COUNT];
    struct cpu_snapshot before, after;
    uint8_t *page;      /* one page, and room for a load past it */
    struct error error; /* why an event could not be enabled, if any could not */
    uint32_t num_events, num_refused;
};

int cpu_recorder_create(struct cpu_recorder **out, const struct cpu_record_params *p, struct error *e);
/* Turns tracing on, wakes every CPU once and takes the `before` snapshot. */
int cpu_recorder_start(struct cpu_recorder *r, struct error *e);
/* Calls `fn` for every page that is ready; the page is the callee's until it returns. Returns the number of pages. */
int cpu_recorder_drain(struct cpu_recorder *r, void (*fn)(void *ctx, uint16_t cpu, uint8_t *page), void *ctx);
/* Takes the `after` snapshot and turns tracing off. Drain once more after it. */
int cpu_recorder_stop(struct cpu_recorder *r, struct error *e);
/* {"cpus": [per_cpu/cpuN/stats as numbers]} of the instance, and the sum of what was lost in *lost. */
json_t *cpu_recorder_losses(struct cpu_recorder *r, uint64_t *lost);
void cpu_recorder_destroy(struct cpu_recorder *r);

struct cpu_record_run {
    struct cpu_record_params params;
    const char *path;
    uint64_t duration_ns;   /* 0 = until the command ends or *stop */
    char *const *command;   /* NULL-terminated, or NULL */
    const atomic_int *stop; /* set by a signal handler */
    atomic_int *recording;  /* set to 1 once events are being recorded; may be NULL */
    /* results */
    uint64_t pages, events, lost, bytes;
    int command_status; /* as wait() gives it */
    uint32_t blind_cpus;
};

/* Records to a file. */
int cpu_record_run(struct cpu_record_run *run, struct error *e);
