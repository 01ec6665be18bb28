/* SPDX-License-Identifier: MIT */
/* slice.h: how soon a thread gets a processor.
 *
 * A thread that works a little, and for whom others wait, asks for a short time slice: the kernel then lets it in ahead of who has
 * a longer one, and takes the processor from it again as soon. It gets no more of the processor than before, and needs no right for
 * it. Linux 6.12 and later (sched_attr.sched_runtime of an ordinary thread, from 0.1 to 100 ms; Documentation/scheduler/sched-eevdf.rst);
 * before that, and where a filter forbids the call, nothing changes.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

enum { SLICE_USUAL = 0, SLICE_SHORT = 100000 }; /* ns */

/* Of the calling thread, and of the threads and processes that it makes. Its policy and priority stay. */
void slice_set(uint64_t ns);
/* Of a thread of any process, 0 for the calling one: ns; 0 where the kernel has no such thing. */
uint64_t slice_of(pid_t thread);

/* The nice value that the caller's session was given, where processors are shared out by session (sched(7), the autogroup feature); 0
 * where they are not. What share_raise() did is not in it. */
int share_nice(void);
/* A larger share for a session that does nothing but serve others, each in a session of his own: else who makes it work has its own share
 * used up, and what it does in time for all others waits. Where the caller leads its session, as services do, and has the right
 * (CAP_SYS_NICE); else nothing changes. Once. */
void share_raise(void);
