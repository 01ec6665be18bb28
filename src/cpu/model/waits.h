/* SPDX-License-Identifier: MIT */
/* waits.h: what a thread waits for, by what /proc said while it did (capture/tasks.h).
 *
 * Each kind is what the evidence proves, not what it suggests: a thread in a system call that may wait for anything is
 * CPU_WAIT_OTHER, and is no evidence for or against anything.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum cpu_wait_kind {
    CPU_WAIT_OTHER,  /* for input, for time, for nothing that is known here */
    CPU_WAIT_DEVICE, /* for a GPU: in its driver, or by a file of its */
    CPU_WAIT_FENCE, /* for a fence or a device of some driver: whether it is a GPU's is not known, or it is none's */
    CPU_WAIT_LOCK, /* for a mutex or a lock on a file */
    CPU_WAIT_PEER, /* for the other end of a pipe, for a semaphore, for the child of a vfork: it may have nothing to do */
    CPU_WAIT_FROZEN, /* by its control group */
    CPU_WAIT_IO, /* for a disk, or for memory to be paged in, or held back for having dirtied too much of it; for a file system or pager that is a process */
    CPU_WAIT_KINDS
};

struct cpu_task_wait {
    int32_t tid, holder; /* holder: of a lock, 0 = not known */
    char state;          /* as in /proc: S D T t */
    uint8_t kind;        /* enum cpu_wait_kind */
    bool by_its_words;   /* a futex that looks like a mutex: anybody may write such words */
    char what[80];       /* "mutex 0x7f20 in futex", as the evidence says it */
};

/* From one entry of SAMPLE's "tasks"; false if it is none. */
bool cpu_task_wait_parse(struct cpu_task_wait *w, const json_t *entry);
