/* SPDX-License-Identifier: MIT */
/* end.h: that a process has ended, and how, which only its parent is told. Of somebody else's child the kernel tells it by the
 * process's descriptor (since Linux 6.15), or while its parent has not asked yet; else nobody does. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct end {
    int fd; /* of the process, or -1 */
    bool gone;
    bool known; /* `status` is what waitpid(2) says */
    int status;
};

void end_begin(struct end *e, pid_t pid);
/* Whether it has ended. */
bool end_look(struct end *e, pid_t pid);
/* Its parent was told: this process is. */
void end_tell(struct end *e, int status);
void end_finish(struct end *e);
/* Whether it ended by a signal by which the parts of a program end each other when it ends. */
bool end_was_asked(int status);
/* How many processes the kernel has ended for want of memory. */
uint64_t end_oom_kills(void);
/* The status that ended a process if it ended as who started it: many pass on a signal as a shell does, by exit code 128 and its number. */
int end_of_launcher(bool signalled, int code);
