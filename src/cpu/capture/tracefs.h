/* SPDX-License-Identifier: MIT */
/* tracefs.h: a private tracefs instance.
 *
 * The instance has its own buffers, events and clock; the global tracer and everybody else's instances stay
 * as they are. tracefs is reached through a mount of our own that no path leads to (fsmount), so it works
 * where nothing is mounted at /sys/kernel/tracing, and nothing stays mounted.
 *
 *   open ──▶ instance made, guard process started ──▶ enable, start, read ... stop ──▶ close: instance removed
 *                                                        │
 *                                                        └─ killed at any instant ──▶ the guard removes it
 *
 * Invariants:
 *  1. No file outside the instance is written; special files that a locked-down kernel refuses
 *     (set_ftrace_pid, /proc/sys/kernel/ftrace_enabled) are never touched.
 *  2. When the process that called open is gone, for whatever reason, the instance is removed by its guard,
 *     which is in a session of its own and ignores signals from terminals. Instances of dead recorders without a
 *     guard are removed by the next open.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"

struct cpu_tracefs {
    int root; /* directory of tracefs */
    int dir;  /* directory of the instance */
    int guard_pipe;
    pid_t guard;
    char name[64];
    uint32_t num_cpus;
    int *raw; /* trace_pipe_raw of each CPU, -1 where there is none */
};

/* `buffer_kb` is per CPU. -EPERM, -ENODEV (no tracefs in this kernel) and the like explain themselves in `e`.
 */
int cpu_tracefs_open(struct cpu_tracefs *t, uint32_t buffer_kb, struct error *e);
void cpu_tracefs_close(struct cpu_tracefs *t);

/* Writes text to a file of the instance. */
int cpu_tracefs_write(struct cpu_tracefs *t, const char *file, const char *text);
/* Appends a whole file of the instance. */
int cpu_tracefs_read(struct cpu_tracefs *t, const char *file, struct strbuf *out);
/* Calls `fn` for every event directory of a system ("power"); does nothing if this kernel lacks the system.
 */
void cpu_tracefs_each_event(struct cpu_tracefs *t, const char *system,
                            void (*fn)(void *ctx, const char *event), void *ctx);
/* Opens the CPUs' raw pages, non-blocking. */
int cpu_tracefs_open_raw(struct cpu_tracefs *t, struct error *e);
