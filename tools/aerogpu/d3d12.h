/* SPDX-License-Identifier: MIT */
/* d3d12.h: what the handlers of Direct3D 12 recordings share. */
#pragma once

#include <stdint.h>

#include "base/error.h"

/* Cuts frames out of a recording; returns an exit code. */
int d3d12_cut(const char *from, const char *to, uint32_t first, uint32_t last);

struct trc;
struct play_progress;

/* From here on a crash inside this machine's Direct3D 12 is said, with the call that `progress` names, as a failure to play
 * the recording. If the recorded program died as well, the crash is let through. */
void d3d12_guard(const char *what, const struct trc *t, const struct play_progress *progress);

/* Prints the failure; returns the exit code for it: EXIT_INPUT if it is the recording's. */
int d3d12_fail(const char *what, const struct error *e);
