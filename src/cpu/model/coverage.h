/* SPDX-License-Identifier: MIT */
/* coverage.h: does the trace show what happened? Recorded events against the kernel's own counters.
 *
 * Between the two snapshots of a CPU, cpuidle's `usage` grew by the number of idle periods that really began,
 * and /proc/interrupts grew by the interrupts that really came. A trace that recorded clearly fewer is blind
 * there. Blindness of idle events is per CPU and total in practice (every event raised by that CPU's idle
 * task is missing), and no tool reports it as lost events.
 *
 * Invariants:
 *  1. A CPU is `blind` when more than 3 idle entries and more than 1 % of them are missing (3: the entries
 *     that the two readings of the counters may cut off), or more than 50 ms and more than 10 % of the time asleep.
 *  2. A blind CPU's idle states are never used for a conclusion; reports print the number that is missing.
 */
#pragma once

#include <jansson.h>

#include "cpu/model/event.h"
#include "cpu/capture/snapshot.h"

struct cpu_coverage_cpu {
    bool checked; /* both snapshots have this CPU with counters */
    bool blind;
    uint64_t from_ns, to_ns;
    uint64_t expected, recorded; /* idle entries */
    uint64_t idle_expected_ns, idle_recorded_ns;
    uint64_t idle_since; /* while it is read: 0 = not idle */
    uint64_t state_expected[CPU_MAX_STATES], state_recorded[CPU_MAX_STATES];
    /* interrupts by counter: only those whose events were recorded are checked */
    bool irq_checked[CPU_COUNTER_COUNT], irq_blind[CPU_COUNTER_COUNT];
    uint64_t irq_expected[CPU_COUNTER_COUNT], irq_recorded[CPU_COUNTER_COUNT];
};

struct cpu_coverage {
    uint32_t num_cpus;
    struct cpu_coverage_cpu *cpus;
};

/* `records_counter[k]`: the events that counter k is compared with were enabled. */
int cpu_coverage_init(struct cpu_coverage *c, const struct cpu_snapshot *before,
                      const struct cpu_snapshot *after, const bool records_counter[CPU_COUNTER_COUNT]);
void cpu_coverage_finish(struct cpu_coverage *c);

/* Counts one event; call for every event of the trace, then cpu_coverage_judge. */
void cpu_coverage_event(struct cpu_coverage *c, const struct cpu_event *ev);
void cpu_coverage_judge(struct cpu_coverage *c);

json_t *cpu_coverage_to_json(const struct cpu_coverage *c);
/* Takes the recorded counts from `j` (as cpu_coverage_to_json wrote them) and judges. */
int cpu_coverage_from_json(struct cpu_coverage *c, const json_t *j, struct error *e);

static inline bool cpu_coverage_is_blind(const struct cpu_coverage *c, uint32_t cpu)
{
    return cpu < c->num_cpus && c->cpus[cpu].blind;
}
