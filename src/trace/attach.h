/* SPDX-License-Identifier: MIT */
/* attach.h: recording what a machine executes, for every program that brings one up.
 *
 *     trace_attach(&recording, machine, NULL, &e)   records if AEROGPU_RECORD names a file, else does nothing …
 *     trace_detach(recording, &stats, &e)           before machine_destroy
 */
#pragma once

#include "machine/machine.h"
#include "trace/recorder.h"

struct trace_attachment;

/* `path` NULL: that of the environment variable AEROGPU_RECORD; without one *out is NULL and 0 is returned.
 * To be called before the first submission. */
int trace_attach(struct trace_attachment **out, struct machine *machine, const char *path, struct error *e);

/* Ends the recording: 0 or its first error. NULL is legal, `stats` may be NULL. */
int trace_detach(struct trace_attachment *a, struct trace_recorder_stats *stats, struct error *e);

/* Where it goes. */
const char *trace_attachment_path(const struct trace_attachment *a);
