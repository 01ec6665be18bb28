/* SPDX-License-Identifier: MIT */
/* tasks.h: what the threads of this machine wait for, looked at now and then while recording.
 *
 * A trace of thread switches says that a thread sleeps; /proc says in which system call, on which lock, and whether it was
 * frozen. A look is bounded in time: what does not fit is looked at next time.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cpu_tasks {
    int32_t resume; /* the process to begin with */
    json_t *list;   /* of the look that is under way */
};

/* Threads that sleep, are stopped or blocked, each as
 *   [thread, state as in /proc, system call, where in the kernel, what on, who holds that; 0: not known]
 * Takes at most `budget_ns` of processor time (and one process more). NULL without memory. */
json_t *cpu_tasks_look(struct cpu_tasks *t, uint64_t budget_ns);

/* The state of a thread by the text of its stat file, its flags, and how many threads its process has; '\0': it is none. */
char cpu_task_state(const char *stat, unsigned *flags, int *threads);
/* The thread that holds the mutex which `tid` waits for in futex(address, op, value): the kernel's word where it has one, else
 * glibc's, in the numbers of this process's PID namespace. 0: not known. `is_lock`: it is one, by the kernel's word, or because a
 * thread that can have it does. */
int32_t cpu_task_futex_holder(int32_t tid, uint64_t address, uint64_t op, uint64_t value, bool *is_lock);
/* The process that holds the file lock which `tid` waits for, by /proc/locks, where a lock stands above those that wait for it;
 * 0: not known. */
int32_t cpu_task_lock_holder(FILE *locks, int32_t tid);

/* Microseconds since the start in which somebody waited for [processors, memory, all for memory, input and output]; null
 * where the kernel does not count them. */
json_t *cpu_tasks_pressure(void);
