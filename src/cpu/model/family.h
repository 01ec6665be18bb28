/* SPDX-License-Identifier: MIT */
/* family.h: which threads belong to a process and to what it started.
 *
 * A crash dump names the process that drove the GPU. Its threads, its executor and the executor's threads are
 * found from the recording: who was whose at its start, and who started whom after that.
 */
#pragma once

#include <jansson.h>

#include "cpu/model/trace.h"
#include "cpu/model/window.h"

/* Every thread of this machine as [thread, owner, thread, owner, ...]: the owner of a thread is its process,
 * that of a process its parent. Which of them are processes comes in *processes. `proc_dir` is /proc, except in tests. */
json_t *cpu_family_tasks(const char *proc_dir, json_t **processes);

/* Completes a partial window: the descendants of its threads that ran around it join them as executors, the
 * most active ones first. It stays partial if the recording does not know families, or none ran. */
int cpu_family_complete(struct cpu_window *w, struct cpu_trace *t, struct error *e);
