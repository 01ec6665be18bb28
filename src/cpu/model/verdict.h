/* SPDX-License-Identifier: MIT */
/* verdict.h: was the GPU hung, or was it the processors?
 *
 * Looks at the span of a window (window.h) in a recording and names one cause, with the numbers behind it. What each piece of
 * evidence proves, and the rules that follow, are in docs/evidence.md.
 *
 * Invariants:
 *  1. GPU-HUNG is never said but on proof: a thread of the executor is named and lived, the executor ran or waited for the
 *     device, it was held back for less than a tenth of the wait by everything together, the work was not done, and the trace
 *     shows all of that: no CPU of the chain is blind, no event is lost, thread switches were recorded.
 *  2. Idle states of a blind CPU are never evidence.
 *  3. Every verdict carries at least one line with numbers; every line says how sure it is.
 *  4. A verdict is certain only if nothing else that this trace could hide looks the same.
 *
 * The chain: the threads and CPUs that the window names, and the CPUs on which those threads ran. A window
 * that names none makes every CPU part of it.
 */
#pragma once

#include "base/witness.h"
#include "cpu/model/trace.h"
#include "cpu/model/window.h"

#define CPU_VERDICTS(V)                                                                                      \
    V(UNKNOWN, "UNKNOWN")                                                                                    \
    V(HOST_STOLE_TIME, "HOST-STOLE-TIME")                                                                    \
    V(IPI_STALL, "IPI-STALL")                                                                                \
    V(CPU_STARVED, "CPU-STARVED")                                                                            \
    V(CPU_ASLEEP, "CPU-ASLEEP")                                                                              \
    V(EXECUTOR_DIED, "EXECUTOR-DIED")                                                                        \
    V(FROZEN, "FROZEN")                                                                                      \
    V(BLOCKED_ON_IO, "BLOCKED-ON-IO")                                                                        \
    V(LOCKED, "LOCKED")                                                                                      \
    V(WAITER_LATE, "WAITER-LATE")                                                                            \
    V(WATCHDOG_LATE, "WATCHDOG-LATE")                                                                        \
    V(GPU_SLOW, "GPU-SLOW")                                                                                  \
    V(GPU_HUNG, "GPU-HUNG")

enum cpu_verdict_kind {
#define VERDICT(name, text) CPU_VERDICT_##name,
    CPU_VERDICTS(VERDICT)
#undef VERDICT
        CPU_VERDICT_COUNT
};

enum cpu_certainty {
    CPU_UNSEEN, /* what the trace does not show */
    CPU_LIKELY,
    CPU_CERTAIN
};

#define CPU_EVIDENCE 24

struct cpu_verdict {
    enum cpu_verdict_kind kind;
    enum cpu_certainty certainty; /* of the kind; UNSEEN for UNKNOWN */
    char reason
        [64]; /* finer than the kind: "preempted or throttled", "stopped by a signal", "timer late", ... */
    uint64_t submit_ns, timeout_ns;
    uint32_t num_lines;
    char lines[CPU_EVIDENCE][240];
    uint8_t sure[CPU_EVIDENCE]; /* of each line: enum cpu_certainty */
    uint32_t num_vblanks;
    char vblanks[CPU_WINDOW_VBLANKS][200]; /* why each late vblank was late */
    struct cpu_dump_says dump;      /* what the black box says of the same time-out, if the window has it */
    enum witness_relation relation; /* of that to the verdict, */
    char relation_text[300];        /* and in words */
};

const char *cpu_verdict_name(enum cpu_verdict_kind kind);

/* `stuck_ns` 0 = 10 ms. */
int cpu_verdict_make(struct cpu_verdict *v, struct cpu_trace *t, const struct cpu_window *w,
                     uint64_t stuck_ns, struct error *e);

/* "certain", "likely", "not seen" */
const char *cpu_certainty_name(enum cpu_certainty certainty);
