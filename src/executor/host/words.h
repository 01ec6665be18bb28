/* SPDX-License-Identifier: MIT */
/* words.h: what an executor prints, which may be anything, on its way to the host's log.
 *
 * 1. Bytes that a terminal would obey do not get there, and lines are lines: what would hide or turn text is shown as a question mark.
 * 2. A process has EXEC_WORDS_MOST bytes; then one line says that there is more, which nobody sees.
 * 3. It never stands still for its reader longer than that is busy: what is left out is read all the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { EXEC_WORDS_MOST = 256 << 10, EXEC_WORDS_LINE = 512 };

struct exec_words {
    char line[EXEC_WORDS_LINE];
    size_t used;  /* of `line` */
    size_t total; /* that were read */
};

/* Reads what there is in `fd`, as much as a pipe holds at the most, and logs its lines; never waits. True: it is at its end. */
bool exec_words_read(struct exec_words *w, int fd, pid_t pid);
/* The process has ended: what it said last, and a line that nothing ended. */
void exec_words_finish(struct exec_words *w, int fd, pid_t pid);
