/* SPDX-License-Identifier: MIT */
/* synth.h: recordings made up event by event, in the kernel's own page format, for tests, proofs and benchmarks. */
#pragma once

#include <stdint.h>

#include "cpu/capture/file.h"
#include "cpu/capture/page.h"
#include "cpu/capture/snapshot.h"

#define SYNTH_PAGE 4096
#define SYNTH_BOOT "c0ffee00-0000-4000-8000-000000000001"

struct synth_cpu {
    uint8_t *pages; /* whole pages; the last one is being filled */
    size_t num, cap;
    uint32_t used; /* bytes of records in the last page */
    uint64_t last_ns;
    uint64_t idle_entries[CPU_MAX_STATES];
    uint64_t idle_since; /* 0 = not idle */
    uint64_t idle_ns;
    uint32_t idle_state;
};

struct synth {
    uint32_t num_cpus, num_states;
    uint64_t begin_ns, end_ns;
    struct synth_cpu *cpus;
    struct cpu_snapshot before, after;
    bool no_boot;                        /* the recording does not say of which boot it is */
    bool no_end;                         /* write a file as a killed recorder leaves it */
    uint64_t steal_from_ns, steal_to_ns; /* the host takes `steal_cpu` for this span */
    uint32_t steal_cpu;
    const char *
        tasks; /* what the threads were seen to wait for within this span, as SAMPLE has it; NULL: nobody looked */
    uint64_t tasks_from_ns, tasks_to_ns;
    uint64_t memory_percent; /* of all time, in which somebody waits for memory */
    const char *owners,
        *processes; /* who was whose at the beginning, as family.h has it; NULL: not recorded */
};

/* `num_states` idle states: POLL, C1 (1 us), C2 (151 us), C3 (1034 us), as many as asked for. */
void synth_init(struct synth *s, uint32_t num_cpus, uint32_t num_states, uint64_t begin_ns);
void synth_finish(struct synth *s);

/* Events of a CPU must come in time order. Kinds: those of cpu/event.h that tracefs has. */
/* c of a fence's events. */
enum { SYNTH_FENCE_GPU, SYNTH_FENCE_OTHER, SYNTH_FENCE_DISPLAY, SYNTH_FENCE_SECOND, SYNTH_FENCE_MANY };

void synth_event(struct synth *s, uint32_t cpu, uint64_t ns, int32_t tid, enum cpu_event_kind kind,
                 uint64_t a, uint64_t b, uint64_t c);
void synth_idle(struct synth *s, uint32_t cpu, uint64_t ns, uint32_t state);
void synth_wake(struct synth *s, uint32_t cpu, uint64_t ns);

/* JSON text of FORMATS; free() it. */
char *synth_formats(void);
void synth_rules(struct cpu_rules *r);

/* Writes a .cputrace with snapshots that agree with the events, but for what the caller changed in s->after.
 */
void synth_write(struct synth *s, const char *path);
