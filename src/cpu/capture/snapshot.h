/* SPDX-License-Identifier: MIT */
/* snapshot.h: the kernel's own counters around a recording: cpuidle, interrupts, steal, frequencies.
 *
 * They are the second witness: a trace that saw fewer idle entries than cpuidle's `usage` grew is blind on
 * that CPU. Each CPU's counters carry the time at which they were read, so that trace and counters cover the same span.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"
#include "cpu/model/event.h"

/* Columns of /proc/interrupts that have a trace event to compare with. */
enum cpu_counter { CPU_COUNTER_LOC, CPU_COUNTER_RES, CPU_COUNTER_CAL, CPU_COUNTER_COUNT };

struct cpu_snapshot_state {
    char name[32], desc[64];
    uint32_t latency_us;   /* declared exit latency */
    uint32_t residency_us; /* declared target residency */
    uint64_t usage, time_us, above, below, rejected;
    bool disabled;
};

struct cpu_snapshot_cpu {
    uint64_t ns; /* boot_clock_now() when the usage counters were read */
    bool online;
    uint32_t num_states;
    struct cpu_snapshot_state states[CPU_MAX_STATES];
    uint64_t steal_ticks, idle_ticks, busy_ticks; /* /proc/stat, in ticks_per_second */
    bool has_counter[CPU_COUNTER_COUNT];
    uint64_t counter[CPU_COUNTER_COUNT];
    uint32_t cur_khz, base_khz, max_khz; /* cpufreq; 0 = this machine does not say */
};

struct cpu_snapshot {
    uint64_t ns;
    uint32_t ticks_per_second;
    char driver[32], governor[32];
    uint32_t num_cpus; /* highest CPU number + 1 */
    struct cpu_snapshot_cpu *cpus;
};

/* Reads this machine's counters. `cpu_dir` is /sys/devices/system/cpu and `proc_dir` is /proc, except in tests. */
int cpu_snapshot_take(struct cpu_snapshot *s, const char *cpu_dir, const char *proc_dir, struct error *e);
void cpu_snapshot_finish(struct cpu_snapshot *s);

/* The steal, idle and busy ticks alone, into `s` as taken before. Cheap: one file. */
int cpu_snapshot_ticks(struct cpu_snapshot *s, const char *proc_dir);

json_t *cpu_snapshot_to_json(const struct cpu_snapshot *s);
int cpu_snapshot_from_json(struct cpu_snapshot *s, const json_t *j, struct error *e);

const char *cpu_counter_name(enum cpu_counter c);
