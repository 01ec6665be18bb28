/* SPDX-License-Identifier: MIT */
/* maker.h: a verdict in the making; only verdict.c, held.c and machine.c include it. */
#pragma once

#include "cpu/model/evidence.h"
#include "cpu/model/text.h"
#include "cpu/model/verdict.h"

struct maker {
    struct cpu_verdict *v;
    struct evidence e;
    bool weak; /* the trace could hide what would change the verdict: it is likely at most */
};

enum held_by {
    HELD_QUEUE,
    HELD_STOPPED,
    HELD_TRACED,
    HELD_FROZEN,
    HELD_IO,
    HELD_MEMORY,
    HELD_LOCK,
    HELD_PEER,
    HELD_HOST,
    HELD_KINDS
};

/* Parts of a span in which a thread, or the executor, was held back, and in which it was at the device. */
struct held {
    uint64_t span, ns[HELD_KINDS], all, running, device, asleep;
    bool io_named; /* where it was blocked was seen, and it is input and output */
    const struct cpu_task_wait *wait[CPU_WAIT_KINDS];
};

/* For how long it ran by what nothing else is said of: the host had it, or it waited for memory. */
static inline uint64_t maker_ran(const struct held *h)
{
    const uint64_t memory = h->ns[HELD_MEMORY] > h->asleep ? h->ns[HELD_MEMORY] - h->asleep : 0;

    return h->running - h->ns[HELD_HOST] - memory;
}

/* A line of evidence, and the verdict itself; the second returns true. */
void maker_say(struct maker *m, enum cpu_certainty sure, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool maker_decide(struct maker *m, enum cpu_verdict_kind kind, enum cpu_certainty certainty,
                  const char *reason);

void maker_say_thread(struct maker *m, const struct cpu_thread *th);
struct held maker_of_executor(const struct maker *m);
/* The thread of the executor that was in `state` for the longest. */
const struct cpu_thread *maker_executor_in(const struct maker *m, enum cpu_thread_state state);
/* Whether one thing held it back for long enough to be the verdict, which is made then. */
bool maker_executor_held(struct maker *m);
bool maker_waiter_held(struct maker *m);
/* A thread that waits ran while the work was done already, and before so many tenths of its time: it may have seen that. */
bool maker_may_have_looked(const struct cpu_thread *th, uint32_t tenths);
/* Whether the host, or an interrupt between processors that was not answered, is the verdict, which is made then; for how long. */
bool maker_host_stole(struct maker *m);
bool maker_ipi_stall(struct maker *m);
uint64_t maker_most_stolen(const struct maker *m);
uint64_t maker_longest_ipi(const struct maker *m);
/* Whether it waited for a lock for a tenth of its time; says for which. */
bool maker_is_locked(struct maker *m, const struct cpu_thread *th);

/* Milliseconds after the submission; the evidence speaks in these. */
static inline double rel(const struct maker *m, uint64_t t)
{
    return (double)(int64_t)(t - m->e.w->submit_ns) / 1e6;
}

static inline double part(const struct maker *m, uint64_t v)
{
    return 100.0 * (double)v / (double)m->e.wait_ns;
}

/* The work was done before the time-out was said. */
static inline bool done(const struct maker *m)
{
    return m->e.w->completed_ns > m->e.w->submit_ns && m->e.w->completed_ns < m->e.w->timeout_ns;
}

/* No cliffs: what explains `at_most` percent of the wait and more is certain, less of it is likely. */
static inline enum cpu_certainty maker_grade(const struct maker *m, uint64_t ns, double at_most)
{
    return part(m, ns) >= at_most ? CPU_CERTAIN : CPU_LIKELY;
}

static inline enum cpu_certainty maker_less_sure(enum cpu_certainty a, enum cpu_certainty b)
{
    return a < b ? a : b;
}

/* What was lost may have been the answer, or the wake-up. */
static inline enum cpu_certainty maker_unless_lost(const struct maker *m, enum cpu_certainty sure)
{
    const bool whole = !m->e.lost && !m->e.lost_uncounted && !m->e.t->overrun && !m->e.t->notes.count;

    return whole ? sure : maker_less_sure(sure, CPU_LIKELY);
}
