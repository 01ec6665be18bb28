/* SPDX-License-Identifier: MIT */
/* evidence.h: what a recording proves about a window, before anybody concludes from it (verdict.c).
 *
 * docs/evidence.md says of each piece what it proves, what it merely suggests, and what could look the same.
 */
#pragma once

#include "cpu/model/process.h"
#include "cpu/model/threads.h"
#include "cpu/model/trace.h"
#include "cpu/model/window.h"

#define CPU_NEVER UINT64_MAX

/* What one CPU did in the window. */
struct cpu_seen {
    bool in_chain, takes_interrupt, blind, ran_executor;
    bool ran_others; /* of the chain: whom a time-out or a completion has to wake */
    uint64_t last_ns, gap_ns, gap_at;
    bool idle;
    uint64_t idle_since, state;
    uint64_t idle_ns, idle_from, idle_to, idle_state; /* the longest period; idle_to NEVER = it did not end */
    bool slept_over_due, slept_over_completion;
    uint64_t completion_state;
    double stolen_ns;
};

/* Which idle period covers the time at which a vblank was due. */
struct cpu_vblank_seen {
    bool idle;
    uint16_t cpu;
    uint64_t state, left_ns;
};

/* Looks at what the executor's threads waited for while they slept, by the samples within their span. */
struct cpu_waits_seen {
    uint32_t looks; /* samples that show one of its threads asleep */
    uint32_t
        times[CPU_WAIT_KINDS]; /* of these: it waited for this, and no thread of it for anything stronger */
    struct cpu_task_wait example[CPU_WAIT_KINDS];
};

struct evidence {
    struct cpu_trace *t;
    const struct cpu_window *w;
    uint64_t wait_ns, stuck_ns;
    struct cpu_analysis a;
    struct cpu_threads threads;
    struct cpu_seen *cpu;
    struct cpu_vblank_seen vblank[CPU_WINDOW_VBLANKS];
    struct cpu_waits_seen waits;
    struct cpu_process_fate fate; /* of the executor's processes, where its threads have ended */
    uint64_t first_ns, last_ns, lost;
    bool lost_uncounted, chain_named;
    uint64_t fences_late; /* fences that were signalled in the second half of the executors' span */
    uint64_t memory_ns;   /* of the executors' span in which somebody waited for memory */
};

/* `stuck_ns` 0 = 10 ms. 0 or a negative errno; finish it in either case. */
int cpu_evidence_gather(struct evidence *m, struct cpu_trace *t, const struct cpu_window *w,
                        uint64_t stuck_ns, struct error *e);
void cpu_evidence_finish(struct evidence *m);

/* Time within a span in which the host kept a CPU from running. */
double cpu_evidence_stolen(const struct evidence *m, uint32_t cpu, uint64_t from, uint64_t to);
/* The looks at a thread within a span; at any of the executor's if `tid` is 0. */
void cpu_evidence_waits(const struct evidence *m, int32_t tid, uint64_t from, uint64_t to,
                        struct cpu_waits_seen *out);
/* The look at a thread at about that time: within the span, the last one; NULL if nobody looked. */
const struct cpu_task_wait *cpu_evidence_wait_of(const struct evidence *m, int32_t tid, uint64_t from,
                                                 uint64_t to);
