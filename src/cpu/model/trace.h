/* SPDX-License-Identifier: MIT */
/* trace.h: a recording as a whole: what was recorded on which machine, its counters, names and losses, and its events.
 *
 * One struct for both kinds of recording (.cputrace and .etl), so that analysis and reports do not ask which it was.
 *
 * Invariant: whatever is damaged or missing is in `notes` or in a has_ flag; nothing is filled in with a guess.
 */
#pragma once

#include <jansson.h>

#include "cpu/model/coverage.h"
#include "cpu/etl/etl.h"
#include "cpu/capture/file.h"
#include "cpu/capture/page.h"
#include "cpu/capture/snapshot.h"
#include "cpu/model/source.h"
#include "cpu/model/waits.h"

struct cpu_sample {
    uint64_t ns, until_ns; /* the threads were looked at one by one until then */
    uint32_t num_cpus;
    uint64_t *steal_ticks; /* per CPU */
    bool has_pressure;     /* of memory, in microseconds since the start */
    uint64_t memory_us;
    bool has_waits; /* the threads were looked at */
    uint32_t num_waits;
    struct cpu_task_wait *waits; /* those that slept, as far as there was time to look */
};

struct cpu_trace {
    char path[512], system[128], clock[32];
    bool is_windows;
    uint32_t num_cpus; /* highest CPU number + 1 */
    char boot_id[40];  /* "" if it is not known */
    bool
        clock_unknown; /* the recorder was in a time namespace of unknown offset: samples and events have two clocks */
    uint64_t realtime_offset_ns; /* CLOCK_REALTIME - clock, 0 if not known */
    int64_t recorder_pid;
    struct cpu_notes notes;
    bool has_before, has_after, complete; /* complete: the recorder finished the file itself */
    struct cpu_snapshot before, after;
    struct cpu_coverage coverage;
    bool has_coverage;
    struct cpu_sample *samples;
    uint32_t num_samples;
    size_t room_samples;
    uint64_t overrun;     /* events that the kernel overwrote, by its own count */
    json_t *meta, *names; /* as stored */
    json_t *tasks;        /* who was whose at the start, as family.h says; NULL if it was not recorded */
    json_t *
        processes; /* those of them that are processes, the others are threads of their owners; NULL as well */
    uint64_t file_bytes;

    struct etl_file etl; /* if is_windows */

    /* tracefs */
    struct blocks file;
    struct cpu_rules *rules;
    struct cpu_merge merge;
    struct trace_stream *blocks;
    uint64_t from_ns, to_ns; /* only blocks that may hold this span are read */
};

/* Opens a recording. Fails only if nothing can be read from it. */
int cpu_trace_open(struct cpu_trace *t, const char *path, struct error *e);
int cpu_trace_open_memory(struct cpu_trace *t, const uint8_t *bytes, size_t size, struct error *e);
/* Whether the file is what was written, as far as it was read: 0, or -EBADMSG for the first thing that is not. */
int cpu_trace_whole(const struct cpu_trace *t, struct error *e);
void cpu_trace_close(struct cpu_trace *t);

/* Starts (again) from the first event that may matter for [from_ns, to_ns]; events outside of it may still
 * come. The source is t->merge's or the ETL reader's, and is good until the next rewind or close. */
int cpu_trace_rewind(struct cpu_trace *t, uint64_t from_ns, uint64_t to_ns, struct cpu_source **out,
                     struct error *e);

/* Whether an event ("sched:sched_switch") was among those recorded. */
bool cpu_trace_records(const struct cpu_trace *t, const char *event);

/* Time of the first event, to within the first page of each CPU. */
uint64_t cpu_trace_first_ns(const struct cpu_trace *t);

/* "power:cpu_idle" for a type of an event, into `buf`. */
void cpu_trace_type_name(const struct cpu_trace *t, uint16_t type, char *buf, size_t cap);
/* Events of each type (65536 of them) that the source has given so far; NULL before a rewind. */
const uint64_t *cpu_trace_counts(const struct cpu_trace *t);
/* Name of an address of the kernel, "0x..." into buf if it has none. */
const char *cpu_trace_symbol(const struct cpu_trace *t, uint64_t address, char *buf, size_t cap);
/* Name of a thread, "" if it is not known. */
const char *cpu_trace_thread(const struct cpu_trace *t, int32_t tid);
/* The same as of a time: "?" if it, or who had its number, was called otherwise then. */
const char *cpu_trace_thread_at(const struct cpu_trace *t, int32_t tid, uint64_t ns);
/* Name of an idle state of a CPU, "state N" into buf if it has none. */
const char *cpu_trace_state(const struct cpu_trace *t, uint32_t cpu, uint32_t state, char *buf, size_t cap);
