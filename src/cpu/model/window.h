/* SPDX-License-Identifier: MIT */
/* window.h: the span in which a GPU seemed to hang, as a file.
 *
 * Whoever detects a time-out writes one; `aerogpu report TRACE --with WINDOW` explains it. A JSON object,
 * times in nanoseconds on CLOCK_MONOTONIC:
 *
 *   "format": "aerogpu-window", "version": 1
 *   "submit_ns", "timeout_ns"     required: the work was submitted; the time-out was detected
 *   "due_ns"                      when the time-out should have been detected
 *   "boot_id", "clock_offset_ns"  of which boot of which machine the times are (/proc/sys/kernel/random/boot_id), and by how much
 *                                 their clock is ahead of the machine's: the monotonic offset of a time namespace
 *   "completed_ns"                when the GPU's own record says that the work was done
 *   "threads": [{"role": R, "tid": N, "cpu": N}]   the chain from submission to completion; R is one of
 * submit, executor, irq, dpc, waiter, vblank; "cpu" may be missing; "tid" may be missing if "cpu" is there
 *   "late_vblanks": [{"due_ns", "actual_ns", "cpu", "tid"}]
 *
 * Unknown members are ignored, so that a crash dump's export can carry more.
 *
 * A crash dump of the GPU (docs/dump-schema.md) is taken as it is: the window is from the submission that it
 * blames to the time at which the device was seen to be stuck.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define CPU_WINDOW_THREADS 32
#define CPU_WINDOW_VBLANKS 64

#define CPU_ROLES(R)                                                                                         \
    R(SUBMIT, "submit")                                                                                      \
    R(EXECUTOR, "executor") R(IRQ, "irq") R(DPC, "dpc") R(WAITER, "waiter") R(VBLANK, "vblank")

enum cpu_role {
#define ROLE(name, text) CPU_ROLE_##name,
    CPU_ROLES(ROLE)
#undef ROLE
        CPU_ROLE_COUNT
};

struct cpu_window_thread {
    enum cpu_role role;
    int32_t tid; /* -1 = not given */
    int32_t cpu; /* -1 = not given */
};

struct cpu_window_vblank {
    uint64_t due_ns, actual_ns;
    int32_t cpu, tid; /* -1 = not given */
};

/* What the crash dump concludes that a window was taken from (docs/dump-schema.md, table finding); "" where it says nothing. */
struct cpu_dump_says {
    bool any;
    char text[300], cause[40], unseen[300];
    char sure[4][12]; /* that it went wrong, which command, why, whose memory: proven, suggested, unknown */
};

struct cpu_window {
    uint64_t submit_ns, timeout_ns; /* all times are on the machine's own clock (base/sched/boot_clock.h) */
    char boot_id[40];               /* "" = not given */
    bool is_dump;                   /* it came from a crash dump, */
    bool clock_unknown;             /* which does not know its clock's offset */
    uint64_t due_ns, completed_ns;  /* 0 = not given */
    bool
        partial; /* the threads are not all of the chain: every CPU belongs to it, and GPU-HUNG cannot be said */
    bool
        other_numbers; /* it came from a dump whose process numbers are of a PID namespace of its own: none is here */
    uint32_t num_threads, num_vblanks;
    struct cpu_window_thread threads[CPU_WINDOW_THREADS];
    struct cpu_window_vblank vblanks[CPU_WINDOW_VBLANKS];
    struct cpu_dump_says dump; /* of a window out of a crash dump */
};

const char *cpu_role_name(enum cpu_role role);

/* From a clock that is ahead of the machine's. 0, or -EBADMSG: it was not running then. */
int cpu_window_shift(struct cpu_window *w, int64_t ahead_ns, struct error *e);
/* 0, or -EBADMSG with the member that is wrong. */
int cpu_window_parse(struct cpu_window *w, const char *text, size_t size, struct error *e);
/* The same from a file. */
int cpu_window_load(struct cpu_window *w, const char *path, struct error *e);
