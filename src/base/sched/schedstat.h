/* SPDX-License-Identifier: MIT */
/* schedstat.h: what the kernel's scheduler did with a process: /proc/PID/task/TID/schedstat
 * (Documentation/scheduler/sched-stats.rst), which counts a wait when it ends.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SCHEDLOOK_THREADS = 64 };

struct schedstat {
    pid_t pid;
    uint64_t ran_ns;    /* its threads ran, together */
    uint64_t waited_ns; /* they were ready to run, and somebody else did */
    uint64_t turns;     /* how often they were let run */
    bool ready;         /* one of them runs, or is ready to; of a schedlook only */
};

/* What is done for somebody takes a path: a process that works for him, and threads that serve it. */
struct schedlook {
    struct schedstat work;
    unsigned processors; /* of the host; 0: as one */
    unsigned count;
    struct schedstat served[SCHEDLOOK_THREADS]; /* each by itself; its `pid` is the thread's */
};

/* Since the process began, of the threads that there are (64 at most). False: nothing can be read of it. */
bool schedstat_read(pid_t pid, struct schedstat *out);
/* Of the calling thread. False: the kernel does not say. */
bool schedstat_read_thread(struct schedstat *out);
/* How long, of `elapsed_ns`, the process was ready to run and nobody let it: not while any of its threads ran. Who had no turn and is
 * ready has waited for all of it, as far as is known. 0 of two processes, and where a thread has ended between. */
uint64_t schedstat_starved(const struct schedstat *from, const struct schedstat *to, uint64_t elapsed_ns);
/* How much of `elapsed_ns` the process would not have taken if all of its threads that were ready had run, on as many of `processors` as
 * they fill. Threads that wait for each other alone are not slowed. */
uint64_t schedstat_slowed(const struct schedstat *from, const struct schedstat *to, uint64_t elapsed_ns,
                          unsigned processors);
/* The process `work` (0: none), and the calling process's threads, of which the oldest count where there are more than have room. */
void schedlook_read(pid_t work, struct schedlook *out);
/* The same of what on the path starved longest: it may be that one that all of it waited for. */
uint64_t schedlook_starved(const struct schedlook *from, const struct schedlook *to, uint64_t elapsed_ns);
