/* SPDX-License-Identifier: MIT */
/* watch.h: a live view of the processors, one frame of text per interval.
 *
 * Invariants:
 *  1. Memory is bounded: at most CPU_WATCH_PAGES pages of a CPU are looked at per frame; what is more is counted.
 *  2. A CPU that the trace is blind on is shown as such from the first frame that proves it, and counts for nothing.
 */
#pragma once

#include "base/strbuf.h"
#include "cpu/capture/record.h"

#define CPU_WATCH_PAGES 1024

struct cpu_watch;

int cpu_watch_create(struct cpu_watch **out, const struct cpu_record_params *p, struct error *e);
/* Reads what has happened since the last call and appends a frame that describes it. */
int cpu_watch_frame(struct cpu_watch *w, struct strbuf *out, struct error *e);
void cpu_watch_destroy(struct cpu_watch *w);
