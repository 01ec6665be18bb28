/* SPDX-License-Identifier: MIT */
/* d3d12.h: what the handlers of Direct3D 12 recordings share. */
#pragma once

#include <stdint.h>

/* Cuts frames out of a recording; returns an exit code. */
int d3d12_cut(const char *from, const char *to, uint32_t first, uint32_t last);

struct trc;
struct trc_progress;

/* From here on a crash inside this machine's Direct3D 12 is said, with the call that `progress` names, as a failure to play
 * the recording. If the recorded program died as well, the crash is let through. */
void d3d12_guard(const char *what, const struct trc *t, const struct trc_progress *progress);

/* Opens a recording. NULL: it cannot be read; *code says how it ends, and what is wrong was said. So it is if it is cut, or its
 * headers are damaged: what can be read of it is there all the same, and *code is EXIT_INPUT. */
struct trc *d3d12_open(const char *path, int *code);
/* What is wrong with the file shows when it is read, too: says so unless `code` is EXIT_INPUT already; the exit code then. */
int d3d12_check(const struct trc *t, const char *path, int code);
