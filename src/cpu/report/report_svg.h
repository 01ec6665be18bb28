/* SPDX-License-Identifier: MIT */
/* report_svg.h: the drawings of the HTML page. */
#pragma once

#include "cpu/report/report.h"

/* Every CPU over time, with what is worth seeing on it: the window of a verdict, IPIs that were never
 * answered, times when all CPUs but one stopped; and how many CPUs were idle and deep. There is one CPU at least. */
void cpu_svg_timeline(struct strbuf *o, const struct cpu_report *r);
/* Who asked whom, as a graph; nothing above 64 CPUs. */
void cpu_svg_ipi_graph(struct strbuf *o, const struct cpu_report *r);
/* A latency histogram over a logarithmic time axis; nothing if it is empty. */
void cpu_svg_latency(struct strbuf *o, const struct cpu_latency *l, const char *title);
/* Lengths of idle periods, stacked by state. */
void cpu_svg_intervals(struct strbuf *o, const struct cpu_report *r);
/* Time with exactly n CPUs idle; nothing if no CPU is shown. */
void cpu_svg_concurrency(struct strbuf *o, const struct cpu_report *r);
