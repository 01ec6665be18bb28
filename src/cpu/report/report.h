/* SPDX-License-Identifier: MIT */
/* report.h: a recording analysed, and the ways to print that.
 *
 * All printers read the same `struct cpu_report`; none computes anything that another does not show. They
 * mark what the recording does not say ("not available on this machine", "not known") and print every note of
 * the readers.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "cpu/model/analysis.h"
#include "cpu/model/text.h"
#include "cpu/model/trace.h"

struct cpu_verdict; /* verdict.h */

struct cpu_report {
    struct cpu_trace *trace;
    const struct cpu_verdict *verdict; /* printed first, if there is one; the caller's */
    struct cpu_analysis a;
};

/* Reads the whole span of the trace. `stuck_ns` 0 = 10 ms. The trace must outlive the report. */
int cpu_report_init(struct cpu_report *r, struct cpu_trace *t, uint64_t from_ns, uint64_t to_ns,
                    uint64_t stuck_ns, struct error *e);
void cpu_report_finish(struct cpu_report *r);

/* What a dump is proven to say, or not: the names of cpu_dump_says.sure. */
extern const char *const cpu_dump_facts[4];

/* The verdict alone; the forms of the report put it first. */
void cpu_verdict_text(const struct cpu_verdict *v, struct strbuf *out);
json_t *cpu_verdict_json(const struct cpu_verdict *v);

void cpu_report_text(const struct cpu_report *r, struct strbuf *out);
json_t *cpu_report_json(const struct cpu_report *r);
void cpu_report_html(const struct cpu_report *r, struct strbuf *out);

/* Streams slices of every CPU as Chrome/Perfetto JSON. 0 or a negative errno. */
int cpu_perfetto_write(struct cpu_trace *t, FILE *out, uint64_t from_ns, uint64_t to_ns, struct error *e);

/* Helpers of the printers. */
double cpu_report_seconds(const struct cpu_report *r);
/* Share of the span between the snapshots that the host kept from CPU `cpu`, in percent; -1 if not known. */
double cpu_report_steal(const struct cpu_report *r, uint32_t cpu);
/* Utilization by the kernel's cpuidle counters alone, for a CPU that the trace does not show; -1 if not
 * known. Coarser: it covers the span between the snapshots and counts entering and leaving as idle. */
double cpu_report_counted_utilization(const struct cpu_report *r, uint32_t cpu);
uint32_t cpu_report_base_khz(const struct cpu_report *r, uint32_t cpu);
/* Did an IPI from `sender` to `target` stay unanswered for as long as is called stuck? */
bool cpu_report_pair_stuck(const struct cpu_report *r, uint32_t sender, uint32_t target);
/* Types of events that the analysis counts only, the most frequent first; returns how many. */
uint32_t cpu_report_others(const struct cpu_report *r, uint16_t *types, uint32_t max);
/* Indices of the idle sets, longest first; returns their number. */
uint32_t cpu_report_sets(const struct cpu_report *r, uint8_t order[CPU_IDLE_SETS]);
const char *cpu_wake_name(const struct cpu_report *r, int cause);
