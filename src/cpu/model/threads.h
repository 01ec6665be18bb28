/* threads.h: what the threads of a window did: running, runnable but waiting, stopped, asleep.
 *
 *   UNKNOWN ─▶ RUNNING ──switched out runnable──▶ RUNNABLE ──switched in──▶ RUNNING
 *                 ├──switched out in T or t──▶ STOPPED ──woken──▶ RUNNABLE
 *                 └──switched out otherwise──▶ ASLEEP ──woken──▶ RUNNABLE
 *
 * Invariant: a wake-up onto a CPU that the trace is blind on leads to UNKNOWN: the switch that follows may be invisible.
 */
#ifndef CPU_THREADS_H_
#define CPU_THREADS_H_

#include "cpu/model/analysis.h"
#include "cpu/model/window.h"

enum cpu_thread_state {
    CPU_THREAD_UNKNOWN,
    CPU_THREAD_RUNNING,
    CPU_THREAD_RUNNABLE,
    CPU_THREAD_STOPPED,
    CPU_THREAD_ASLEEP,
    CPU_THREAD_STATES
};

#define CPU_HOGS 8

struct cpu_thread {
    int32_t tid;
    enum cpu_role role;
    enum cpu_thread_state state;
    uint64_t since_ns;
    int32_t cpu;                    /* the last one, -1 = not known */
    uint64_t ns[CPU_THREAD_STATES]; /* inside the window */
    uint64_t longest[CPU_THREAD_STATES], longest_at[CPU_THREAD_STATES];
    uint32_t stops;
    uint64_t cpus[CPU_MASK_WORDS]; /* those it was seen on */
    struct {
        int32_t tid;
        uint64_t ns;
    } hogs[CPU_HOGS];   /* who ran on its CPU while it was runnable */
    uint64_t nobody_ns; /* runnable, and its CPU ran the idle task */
};

struct cpu_threads {
    uint64_t from_ns, to_ns;
    const struct cpu_coverage *coverage;
    uint32_t num;
    struct cpu_thread list[CPU_WINDOW_THREADS];
    uint32_t num_cpus;
    int32_t *running; /* per CPU: thread on it, -1 = not known */
    uint64_t *running_since;
    uint64_t switches;
};

int cpu_threads_init(struct cpu_threads *t, const struct cpu_window *w, uint32_t num_cpus,
                     const struct cpu_coverage *coverage);
void cpu_threads_event(struct cpu_threads *t, const struct cpu_event *ev);
void cpu_threads_end(struct cpu_threads *t);
void cpu_threads_finish(struct cpu_threads *t);

#endif
