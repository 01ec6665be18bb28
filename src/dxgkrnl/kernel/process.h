/* SPDX-License-Identifier: MIT */
/* process.h: what a miniport may change of the process that it runs in: the working and the root directory, the mask of new files, limits, signals,
 * the environment. A driver of Windows' kernel has none of these, and what fails because of it afterwards would look like the machine's.
 *
 * Invariants:
 *  1. What is different is a violation, and put back.
 *  2. A call (a DDI, a DPC, a thread, a work item) is named alone if it was looked both in front of it and behind it, where it calls another and
 *     where it waits, too; else it is said between which calls it was.
 *  3. To look costs a thirtieth of the time at the most, but for the first EAGER calls and those behind a find.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct kernel;

/* What such a process ends with; %s: the call. */
#define PROCESS_CLOSED "descriptors of the process were closed that are not the miniport's, in or behind %s"
#define PROCESS_WRITTEN                                                                                      \
    "a descriptor of the process that is not the miniport's was written into, in or behind %s"

struct process_watch {
    unsigned eager;    /* calls that are looked at behind each */
    unsigned unlooked; /* calls since the last look */
    const char *first; /* of these */
    int64_t looked_ms;
};

/* What is to stay is what it is now; once for each process. */
void dxgk_process_note(void);
void dxgk_process_begin(struct process_watch *w);
/* Descriptor `fd` is there for as long as this process is, or until it is not kept any more: nobody else closes it. */
void dxgk_process_keep(int fd, bool keep);
bool dxgk_process_all_kept(void);
/* `ddi` has come back, or what it called begins. */
void dxgk_process_look(struct kernel *k, struct process_watch *w, const char *ddi);
/* A number for the environment as it is. */
uint64_t dxgk_process_environment(void);
/* What is to stay of it is what it is now; whether it was another than that, and was put back. */
void dxgk_process_environment_keep(void);
bool dxgk_process_environment_back(void);
/* The calling thread's signal mask is as it should be from now on. */
void dxgk_process_note_thread(void);
