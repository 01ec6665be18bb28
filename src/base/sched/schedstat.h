/* SPDX-License-Identifier: MIT */
/* schedstat.h: what the kernel's scheduler did with a process: /proc/PID/task/TID/schedstat
 * (Documentation/scheduler/sched-stats.rst).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct schedstat {
    pid_t pid;
    uint64_t ran_ns;    /* its threads ran, together */
    uint64_t waited_ns; /* they were ready to run, and somebody else did */
};

/* Since the process began, of the threads that there are (64 at most). False: nothing can be read of it. */
bool schedstat_read(pid_t pid, struct schedstat *out);
/* Of the calling thread. False: the kernel does not say. */
bool schedstat_read_thread(struct schedstat *out);
/* How long, of `elapsed_ns`, the process was ready to run and nobody let it: not while any of its threads ran. 0 of two processes,
 * and where a thread has ended between. */
uint64_t schedstat_starved(const struct schedstat *from, const struct schedstat *to, uint64_t elapsed_ns);
