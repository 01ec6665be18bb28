/* verdict.h: was the GPU hung, or was it the processors?
 *
 * Looks at the span of a window (window.h) in a recording and names one cause, with the numbers behind it.
 * The rules, the first that holds wins:
 *
 *   HOST-STOLE-TIME  the host kept a CPU of the chain from running for 40 % of the wait
 *   IPI-STALL        an IPI from or to a CPU of the chain went unanswered for a quarter of the wait (at least
 * `stuck`) CPU-STARVED      a thread of the chain was stopped, or runnable and not running, for 60 % of the
 * wait, or for 40 % at a stretch CPU-ASLEEP       a CPU of the chain was idle when it should have woken: for
 * its own late timer, for a time-out that was due, for work that was complete; or the CPU that takes the
 * GPU's interrupt slept for 90 % of the wait in one period that ended only after the time-out GPU-HUNG
 * nothing of the above, every CPU of the chain showed life all the time, every thread of it could run, and
 * the work was not done UNKNOWN          all else
 *
 * Invariants:
 *  1. GPU-HUNG is never said when a CPU of the chain is one that the trace is blind on, when events were
 *     lost, when the trace does not cover the window, or when it has no thread switches.
 *  2. Idle states of a blind CPU are never evidence.
 *  3. Every verdict carries at least one line with numbers.
 *
 * The chain: the threads and CPUs that the window names, and the CPUs on which those threads ran. A window
 * that names none makes every CPU part of it.
 */
#ifndef CPU_VERDICT_H_
#define CPU_VERDICT_H_

#include "cpu/report/report.h"
#include "cpu/model/window.h"

#define CPU_VERDICTS(V)                                                                                      \
    V(UNKNOWN, "UNKNOWN")                                                                                    \
    V(HOST_STOLE_TIME, "HOST-STOLE-TIME")                                                                    \
    V(IPI_STALL, "IPI-STALL")                                                                                \
    V(CPU_STARVED, "CPU-STARVED")                                                                            \
    V(CPU_ASLEEP, "CPU-ASLEEP")                                                                              \
    V(GPU_HUNG, "GPU-HUNG")

enum cpu_verdict_kind {
#define VERDICT(name, text) CPU_VERDICT_##name,
    CPU_VERDICTS(VERDICT)
#undef VERDICT
        CPU_VERDICT_COUNT
};

#define CPU_EVIDENCE 24

struct cpu_verdict {
    enum cpu_verdict_kind kind;
    char reason[64]; /* finer than the kind: "preempted", "stopped", "throttled", "timer late", ... */
    uint64_t submit_ns, timeout_ns;
    uint32_t num_lines;
    char lines[CPU_EVIDENCE][240];
    uint32_t num_vblanks;
    char vblanks[CPU_WINDOW_VBLANKS][200]; /* why each late vblank was late */
};

const char *cpu_verdict_name(enum cpu_verdict_kind kind);

/* `stuck_ns` 0 = 10 ms. */
int cpu_verdict_make(struct cpu_verdict *v, struct cpu_trace *t, const struct cpu_window *w,
                     uint64_t stuck_ns, struct error *e);

/* Puts the verdict and its evidence into a crash dump, as findings after the dump's own, in place of those of
 * an earlier call: the report on the dump shows them. 0, or -EBADMSG with the reason. */
int cpu_verdict_save(const struct cpu_verdict *v, const char *dump, struct error *e);

void cpu_verdict_text(const struct cpu_verdict *v, struct strbuf *out);
json_t *cpu_verdict_json(const struct cpu_verdict *v);

#endif
