/* SPDX-License-Identifier: MIT */
/* progress.h: what a minimisation has learnt, in a file of lines: the hash of a candidate, and whether it still crashes.
 *
 * 1. Each answer is in the file when it is known: a run that is killed, or finds the disk full, is gone on with.
 * 2. A line that is cut, or is none, is no answer; and what is written behind it begins a line of its own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct progress;

/* Reads what there is and goes on behind it. 0, -ENOMEM, or why it cannot be written; then answers are not kept, and `*out` is
 * there all the same. */
int progress_open(struct progress **out, const char *path, struct error *e);
/* NULL is legal; `done`: nobody will go on, and the file goes. */
void progress_close(struct progress *p, bool done);

bool progress_known(const struct progress *p, uint64_t hash, bool *still);
/* 0; or, once, why this and all that come are not kept. One thread at a time. */
int progress_add(struct progress *p, uint64_t hash, bool still, struct error *e);

/* The answers in the text of such a file, by hash; `*num` of them, the caller's to free(). NULL: none, or no memory. */
struct progress_answer {
    uint64_t hash;
    bool still;
};
struct progress_answer *progress_parse(const char *text, size_t size, size_t *num);
