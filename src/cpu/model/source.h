/* SPDX-License-Identifier: MIT */
/* source.h: several streams of events, each in time order, as one.
 *
 *   stream ──fill──▶ some events decoded ──▶ head event ─┐
 *   stream ──fill──▶ ...                     head event ─┴▶ earliest first, in runs
 *
 * Invariants:
 *  1. Memory is `max_events` decoded events a stream (and what its owner keeps to decode them), whatever the
 *     file's size.
 *  2. Events come out in time order if each stream is in order; where a stream steps back this is noted and
 *     its events keep their own times.
 */
#pragma once

#include "cpu/model/event.h"
#include "cpu/model/notes.h"

/* Decodes the stream's next events into `ev`, which has room for max_events, and returns their number; 0 at the end. */
typedef uint32_t (*cpu_fill_fn)(void *ctx, uint32_t stream, struct cpu_event *ev);

struct cpu_stream {
    uint16_t cpu; /* for notes */
    struct cpu_event *events;
    uint32_t num, at;
    uint64_t last_ns;
    bool done;
};

struct cpu_merge {
    struct cpu_source source;
    struct cpu_notes *notes;
    cpu_fill_fn fill;
    void *ctx;
    uint32_t num_streams;
    struct cpu_stream *streams;
    uint64_t *heads;  /* time of each stream's next event, UINT64_MAX when it is done */
    uint32_t *heap;   /* streams by the time of their heads */
    uint32_t taken;   /* events of the last run, consumed when the next one is asked for */
    uint64_t *counts; /* events by type, 65536 of them */
};

/* `cpus[i]` is the CPU of stream i. 0 or -ENOMEM. */
int cpu_merge_init(struct cpu_merge *m, const uint16_t *cpus, uint32_t num, uint32_t max_events,
                   cpu_fill_fn fill, void *ctx, struct cpu_notes *notes);
void cpu_merge_finish(struct cpu_merge *m);
