/* SPDX-License-Identifier: MIT */
/* threads.h: what the threads of a window did: running, runnable but waiting, stopped, blocked, asleep, gone.
 *
 *   UNKNOWN ─▶ RUNNING ──switched out runnable──▶ RUNNABLE ──switched in──▶ RUNNING
 *                 ├──switched out in T or t──▶ STOPPED, TRACED ──woken──▶ RUNNABLE
 *                 ├──switched out in D──▶ BLOCKED ──woken──▶ RUNNABLE
 *                 ├──switched out while it waits for a fence──▶ DEVICE ──woken──▶ RUNNABLE
 *                 ├──switched out otherwise──▶ ASLEEP ──woken──▶ RUNNABLE
 *                 └──switched out for good, or another program──▶ DEAD ──its number is given out again──▶ UNKNOWN (before the span), DEAD (in it)
 *
 * Invariants:
 *  1. A wake-up onto a CPU that the trace is blind on leads to UNKNOWN: the switch that follows may be invisible.
 *  2. The times of a thread's states add up to its span, those of the executor to its.
 *
 * The executor is all threads of that role together: it runs while one of them does, it is held back while none runs and one
 * could or should, and it sleeps while all of them do.
 */
#pragma once

#include "cpu/model/analysis.h"
#include "cpu/model/window.h"

/* In the order in which they count for the executor: the first that one of its threads is in. */
enum cpu_thread_state {
    CPU_THREAD_RUNNING,
    CPU_THREAD_RUNNABLE,
    CPU_THREAD_STOPPED,
    CPU_THREAD_TRACED,
    CPU_THREAD_BLOCKED,
    CPU_THREAD_DEVICE,
    CPU_THREAD_UNKNOWN,
    CPU_THREAD_ASLEEP,
    CPU_THREAD_DEAD,
    CPU_THREAD_STATES
};

#define CPU_HOGS        8
#define CPU_ROLE_HOLDER CPU_ROLE_COUNT /* a thread that holds what one of the window waits for */

/* Time in each state within a span. */
struct cpu_times {
    uint64_t from_ns, to_ns;
    uint64_t ns[CPU_THREAD_STATES];
    uint64_t longest[CPU_THREAD_STATES], longest_at[CPU_THREAD_STATES];
};

struct cpu_thread {
    int32_t tid;
    enum cpu_role role;
    enum cpu_thread_state state;
    uint64_t since_ns;
    int32_t cpu;        /* the last one, -1 = not known */
    uint64_t queued_ns; /* since when it waits there, while it is runnable */
    struct cpu_times times;
    bool in_fence_wait; /* of a GPU's */
    bool in_other_wait; /* of a fence that is not known to be one's */
    uint32_t stops;
    uint64_t ran_ns;    /* when it ran first in its span; 0: not seen to */
    uint64_t died_ns;   /* 0: not seen to */
    uint64_t became_ns; /* when it became another program (execve), which is its end; 0: not seen to */
    uint64_t born_ns;   /* 0: not seen to */
    bool is_gone;       /* its number is another's */
    int32_t signal, signal_from; /* the last one that ends or stops, and the thread that sent it; 0: none */
    int32_t signal_code;         /* si_code: above 0 nobody sent it, the kernel did */
    uint64_t signal_ns;
    /* Signals that stop, and who sent them; signal 0: none was seen. */
    struct cpu_stop {
        int32_t signal, from;
        uint64_t ns;
    } sent, stopped_by,
        longest_stop; /* not yet acted on; before the last stop; before the longest one of the window */
    uint64_t cpus[CPU_MASK_WORDS]; /* those it was seen on in the window, and where it came from */
    struct {
        int32_t tid;
        uint64_t ns;
    } hogs[CPU_HOGS];   /* who ran on its CPU while it was runnable */
    uint64_t nobody_ns; /* runnable, and its CPU ran the idle task */
    uint64_t others_ns; /* runnable, and its CPU ran what is none of the executor's threads */
    bool gave;          /* it was switched out by its own call (sched_yield), not for somebody's sake */
    uint32_t gives;     /* how often in its span, */
    uint64_t given_ns;  /* and for how long it was runnable after that */
};

/* What a CPU does. */
struct cpu_on {
    int32_t tid; /* -1: not known */
    uint64_t since;
    bool
        disturbed; /* since then something came that may have taken the CPU from it: an interrupt, a wake-up */
    bool ticks;    /* its timer's interrupts are recorded */
    uint64_t executor_ns; /* in which threads of the executor ran there or could have, */
    uint64_t chain_ns;    /* in which any of the window did; of several at once each counts */
};

struct cpu_threads {
    const struct cpu_coverage *coverage;
    uint32_t num;
    struct cpu_thread list[CPU_WINDOW_THREADS];
    enum cpu_thread_state executor_state;
    uint64_t executor_since;
    struct cpu_times executor; /* all of that role together; UNKNOWN all the time if there is none */
    uint32_t num_executors;
    uint32_t num_cpus;
    struct cpu_on *on; /* per CPU */
    uint64_t switches;
    uint32_t in_waits;       /* executors that are in a wait for a GPU's fence, from its begin to its end, */
    uint64_t in_waits_since; /* since when at least one is, */
    uint64_t waited_ns;      /* and for how long in all of the span */
    uint64_t gpu; /* the driver whose fences executors waited for (cpu_fence_of); 0: none, or not known */
    bool several_gpus;    /* they waited for those of more than one */
    uint64_t other_waits; /* of executors, for fences that are not known to be a GPU's */
};

/* Executors are looked at from the submission until the work was done (or the time-out), what waits for them from then on,
 * the others over the whole of the window. */
int cpu_threads_init(struct cpu_threads *t, const struct cpu_window *w, uint32_t num_cpus,
                     const struct cpu_coverage *coverage);
/* One more, over the executors' span: it holds what they wait for. Before the first event. */
void cpu_threads_add_holder(struct cpu_threads *t, int32_t tid);
struct cpu_thread *cpu_threads_find(struct cpu_threads *t, int32_t tid);
void cpu_threads_event(struct cpu_threads *t, const struct cpu_event *ev);
void cpu_threads_end(struct cpu_threads *t);
void cpu_threads_finish(struct cpu_threads *t);

const char *cpu_thread_state_name(enum cpu_thread_state state);

static inline uint64_t cpu_times_span(const struct cpu_times *t)
{
    return t->to_ns - t->from_ns;
}
