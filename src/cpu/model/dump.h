/* SPDX-License-Identifier: MIT */
/* dump.h: crash dumps of the GPU: a window out of one, and a verdict into one. */
#pragma once

#include "cpu/model/verdict.h"
#include "cpu/model/window.h"

/* A window from a file that is JSON (window.h) or a crash dump. A dump that was not made because of a time-out is none:
 * -EBADMSG says what it was made of. */
int cpu_window_read(struct cpu_window *w, const char *path, struct error *e);

/* Puts the verdict and its evidence into a crash dump, as findings after the dump's own, in place of those of
 * an earlier call: the report on the dump shows them. 0, or -EBADMSG with the reason, also for a dump of something else
 * than a time-out: nothing is changed then. */
int cpu_verdict_save(const struct cpu_verdict *v, const char *dump, struct error *e);
