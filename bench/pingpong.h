/* SPDX-License-Identifier: MIT */
/* pingpong.h: the least that a round trip between two processes costs: one writes an event descriptor and reads
 * another, the other reads and writes. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

struct pingpong {
    pid_t pid;
    int there, back;
    cpu_set_t all; /* where the caller may run */
};

int pingpong_start(struct pingpong *p);
void pingpong_once(struct pingpong *p);
/* Puts both sides on one processor, or lets them go where they may. */
void pingpong_together(struct pingpong *p, bool together);
void pingpong_stop(struct pingpong *p);
