/* SPDX-License-Identifier: MIT */
/* recorder.h: records what a running device executes, as a container version 2 recording that plays to the
 * same pictures.
 *
 *   device ──event TAKE──▶ copy of stream, table and changed memory ──queue──▶ writer thread ──▶ file
 *
 * Invariants:
 *  1. The device waits for copies, never for the file, unless more than MAX_QUEUED bytes are waiting to be written.
 *  2. A submission is recorded as the device took it from the ring: its bytes, table and memory at that
 * moment. Memory that did not change since the last submission is named by its earlier blob.
 *  3. While earlier submissions still run, memory that did not change is left out: they may be writing to it,
 * and a player that put it back would undo that.
 *  4. A frame ends with each submission that presents. What follows the last one is a frame without a present.
 *  5. After a ring reset nothing is recorded: the resources that the streams before it made are gone.
 *  6. A file that cannot be written, or memory that cannot be read, stops the recording with one line in the
 * log; the device goes on. trace_recorder_finish returns that error.
 */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "gpu/observer.h"

struct trace_recorder;

struct trace_recorder_params {
    const char *path;
    const char *producer; /* "aerogpu 0.2.0" */
    const char *notes;    /* or NULL */
    /* The host's view of guest memory, as struct gpu_host_ops has it. Called on the threads that call the device. */
    void *(*dma_map)(void *ctx, uint64_t gpa, uint64_t size);
    void *dma_ctx;
};

int trace_recorder_create(struct trace_recorder **out, const struct trace_recorder_params *p,
                          struct error *e);

/* To be given to gpu_observe before the first submission, and to gpu_unobserve before trace_recorder_finish.
 */
struct gpu_observer *trace_recorder_observer(struct trace_recorder *r);

struct trace_recorder_stats {
    uint64_t submissions, frames, bytes; /* bytes: of the file */
};

/* Writes what is queued, closes the file and frees the recorder. 0 or the first error. `stats` may be NULL.
 */
int trace_recorder_finish(struct trace_recorder *r, struct trace_recorder_stats *stats, struct error *e);
