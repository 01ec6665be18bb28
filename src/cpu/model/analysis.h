/* SPDX-License-Identifier: MIT */
/* analysis.h: what the processors did: states, causes, interrupts, waits.
 *
 * One pass over events in time order. Per CPU:
 *
 *   UNKNOWN ──idle event, or, with coverage, an event of another thread──▶ RUNNING ◀──left── IDLE(state)
 *                                                                                └──entered──────▲
 *
 * Invariants:
 *  1. Memory depends on the number of CPUs, never on the number of events.
 *  2. The state before the first proof of it is unknown, and time in it is counted as unknown.
 *  3. An entry that is never left is data: the CPU was still idle at the end. It counts up to the end of the
 *     trace and is in `still_idle`. An exit without an entry ends unknown time only. Periods of length zero count.
 *  4. A CPU that the trace is blind on (coverage.h) takes no part in concurrency, idle sets, causes or detectors.
 *  5. What lists cannot hold is counted.
 */
#pragma once

#include "base/map.h"
#include "cpu/model/coverage.h"
#include "cpu/model/event.h"
#include "cpu/model/hist.h"

#define CPU_BINS       1024
#define CPU_PENDING    64 /* IPIs kept while they wait, per target and class */
#define CPU_WORST      64
#define CPU_INCIDENTS  32
#define CPU_IDLE_SETS  128
#define CPU_MASK_WORDS (CPU_MAX_CPUS / 64)
#define CPU_TIMERS     4096
#define CPU_CSDS       4096

struct cpu_analysis_params {
    uint32_t num_cpus;
    const struct cpu_coverage *coverage; /* NULL if there is none */
    const struct cpu_snapshot *snapshot; /* declared states, NULL if there are none */
    uint64_t from_ns, to_ns;             /* 0 and UINT64_MAX for everything */
    uint64_t stuck_ns;                   /* an IPI unanswered for this long is stuck; 0 = 10 ms */
    bool is_windows;
};

/* Why a CPU left idle: an enum cpu_irq, or one of these. */
enum { CPU_WAKE_NO_IRQ = CPU_IRQ_COUNT, /* no recorded interrupt before it worked again */ CPU_WAKE_COUNT };

enum cpu_known { CPU_UNKNOWN, CPU_RUNNING, CPU_IDLE };

/* SELF: irq work, which a CPU sends to itself. */
enum cpu_ipi_class { CPU_IPI_RESCHEDULE, CPU_IPI_CALL, CPU_IPI_SELF, CPU_IPI_CLASSES };

struct cpu_bin {
    uint64_t idle_ns, deep_ns, unknown_ns;
    uint32_t irqs;
};

struct cpu_pending_ipi {
    uint64_t ns, site, callback;
    int32_t tid;
    uint16_t sender;
    bool target_idle;
    uint8_t target_state;
};

struct cpu_pending_list {
    uint32_t num;
    uint64_t more; /* sent while the list was full */
    struct cpu_pending_ipi list[CPU_PENDING];
};

/* Everything about one CPU. */
struct cpu_stats {
    enum cpu_known known;
    uint32_t state;    /* while IDLE */
    uint64_t since_ns; /* begin of the present state */
    bool checked;      /* its idle entries were checked against the kernel's counters */
    bool visible;      /* idle events of this CPU can be trusted */
    bool blind;
    uint64_t events, lost, first_ns, last_ns;
    uint64_t running_ns, unknown_ns, idle_ns[CPU_MAX_STATES], enters[CPU_MAX_STATES];
    struct cpu_buckets interval[CPU_MAX_STATES];
    uint64_t above[CPU_MAX_STATES], below[CPU_MAX_STATES]; /* by the state that was chosen */
    uint64_t exits_alone, enters_twice;                    /* an exit without entry; an entry while idle */
    bool still_idle;
    uint64_t longest_idle_ns, longest_idle_at;
    uint64_t wakes[CPU_WAKE_COUNT];
    int cause;         /* of the wake-up in progress, -1 = none seen yet */
    bool cause_wanted; /* left idle, and nothing has said why */
    uint64_t irqs[CPU_IRQ_COUNT], irq_ns[CPU_IRQ_COUNT], irq_max_ns[CPU_IRQ_COUNT], irq_since[CPU_IRQ_COUNT];
    uint64_t dpcs, dpc_ns, dpc_max_ns;
    uint64_t ticks_stopped, ticks_kept;
    uint64_t targets, vetoes; /* Windows: target changes, selections with a veto */
    uint32_t target;          /* Windows: target state, CPU_IDLE_LEFT = unknown */
    uint64_t off_target;      /* entries into another state than the target */
    bool in_deep;             /* between DEEP_ENTER and DEEP_EXIT */
    uint64_t deep_events;
    uint32_t khz, min_khz, max_khz; /* 0 = none seen */
    uint64_t khz_since;
    double khz_ns; /* integral of the frequency */
    uint64_t khz_seen_ns;
    double aperf, mperf;                                 /* sums of DELIVERED */
    double utility_busy, utility_idle, utility_weighted; /* Windows: RecordedUtility */
    struct cpu_pending_list pending[CPU_IPI_CLASSES];
    struct cpu_latency
        wake_latency[CPU_MAX_STATES]; /* IPI sent while idle in that state, until the CPU stirs */
    struct cpu_latency exit_reported[CPU_MAX_STATES]; /* Windows: exit latency as the system measured it */
    struct cpu_latency timer_late;
    uint64_t timer_late_idle; /* of these, due while the CPU was idle */
    uint64_t wake_sent_ns;    /* first IPI since it is idle */
    struct cpu_bin *bins;
};

struct cpu_pair {
    uint64_t sent, answered, sum_ns, max_ns;
};

/* A wait worth naming: an IPI or a queued function call. */
struct cpu_wait {
    uint64_t sent_ns, waited_ns; /* up to the end of the trace if it was never answered */
    uint64_t site, callback;
    int32_t tid;
    uint16_t sender, target;
    bool answered, is_csd, target_idle;
    uint8_t target_state;
};

struct cpu_worst {
    uint32_t num;
    struct cpu_wait list[CPU_WORST]; /* longest first */
};

/* All CPUs but one were idle for long, having stopped at nearly the same time. */
struct cpu_incident {
    uint64_t from_ns, to_ns; /* the last one stopped, the first one came back */
    uint64_t spread_ns;      /* between the first and the last that stopped */
    uint16_t awake;          /* the one that kept running */
    bool at_end;             /* none ever came back */
    uint32_t silent;         /* how many stopped */
    uint32_t waiting_for;    /* IPIs of the awake one that were unanswered all the time */
};

struct cpu_idle_set {
    uint64_t mask[CPU_MASK_WORDS];
    uint64_t ns, times;
};

/* A call that is queued; on the list of those that are not in use where `ns` is 0. */
struct cpu_csd {
    uint64_t csd, ns, func;
    int32_t tid;
    uint16_t sender, target;
    uint32_t next_free; /* + 1 */
};

struct cpu_late_timer {
    uint64_t due_ns, late_ns;
    uint16_t cpu;
    bool was_idle;
    uint8_t state;
};

struct cpu_analysis {
    struct cpu_analysis_params params;
    uint32_t num_cpus, num_visible, num_idle, num_known;
    uint64_t begin_ns, end_ns, events, kinds[CPU_EV_COUNT];
    struct cpu_stats *cpu;
    struct cpu_pair *pairs; /* num_cpus * num_cpus, sender major; NULL above 128 CPUs */
    uint64_t *concurrency;  /* num_visible + 1: time with exactly n of the visible CPUs idle */
    uint64_t concurrency_unknown_ns, concurrency_since;
    struct cpu_latency ipi_latency[CPU_IPI_CLASSES];
    uint64_t ipi_sent[CPU_IPI_CLASSES], ipi_answered[CPU_IPI_CLASSES], ipi_unanswered;
    struct cpu_worst slowest, unanswered;
    uint64_t unanswered_stuck;      /* unanswered for stuck_ns and longer */
    struct cpu_latency csd_latency; /* queued until done */
    struct cpu_worst csd_slowest;
    uint64_t csd_pending, csd_dropped;
    struct cpu_csd *csds;
    uint32_t num_csds, free_csd; /* that were in use; first on the list, + 1 */
    struct map queued;           /* numbers in `csds` by csd and target */
    /* When each is due, times 2; + 1 if it was armed on a CPU whose idle task the trace shows: it re-arms timers too. */
    struct map timers;
    struct cpu_late_timer late_timers[CPU_WORST]; /* latest first */
    uint32_t num_late_timers;
    uint64_t timers_dropped;
    uint32_t deep_from; /* states from this one are deep; CPU_MAX_STATES = no state is */
    struct cpu_idle_set sets[CPU_IDLE_SETS];
    uint32_t num_sets;
    uint64_t sets_other_ns, set_since;
    uint64_t deep_mask[CPU_MASK_WORDS];
    struct cpu_incident incidents[CPU_INCIDENTS];
    uint64_t num_incidents;
    uint64_t stop_since;
    uint64_t fences_emitted, fences_signaled, fence_waits;
    struct cpu_latency fence_latency;
    uint32_t bin_shift; /* a bin is 1 << bin_shift ns */
    bool finished;
};

int cpu_analysis_init(struct cpu_analysis *a, const struct cpu_analysis_params *p);
/* Events in time order; those outside [from_ns, to_ns) only tell the state at the border. */
void cpu_analysis_events(struct cpu_analysis *a, const struct cpu_event *ev, int n);
/* Closes open periods at the end of the trace. No event may follow. */
void cpu_analysis_end(struct cpu_analysis *a);
void cpu_analysis_finish(struct cpu_analysis *a);

/* The parts of it, called by analysis.c. */
void cpu_ipi_event(struct cpu_analysis *a, const struct cpu_event *ev);
void cpu_ipi_stir(struct cpu_analysis *a, struct cpu_stats *c, uint64_t ns);
void cpu_ipi_end(struct cpu_analysis *a);
void cpu_sets_change(struct cpu_analysis *a, uint64_t ns);
void cpu_bins_reach(struct cpu_analysis *a, uint64_t ns); /* makes the time lines long enough for `ns` */
void cpu_bins_add(struct cpu_analysis *a, struct cpu_stats *c, uint64_t from, uint64_t to,
                  enum cpu_known known, bool deep);

static inline uint64_t cpu_stats_idle(const struct cpu_stats *c)
{
    uint64_t sum = 0;

    for (int i = 0; i < CPU_MAX_STATES; i++)
        sum += c->idle_ns[i];
    return sum;
}

static inline uint64_t cpu_stats_enters(const struct cpu_stats *c)
{
    uint64_t sum = 0;

    for (int i = 0; i < CPU_MAX_STATES; i++)
        sum += c->enters[i];
    return sum;
}

/* 100 * busy / (busy + idle) of the idle events, else of RecordedUtility; -1 if there is neither. */
double cpu_stats_utilization(const struct cpu_stats *c);
/* Delivered performance in percent of nominal, or -1 if the machine does not say. */
double cpu_stats_delivered(const struct cpu_stats *c, uint32_t base_khz);
