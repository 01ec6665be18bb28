/* SPDX-License-Identifier: MIT */
/* trace_events.h: time lines for the Perfetto and Chrome viewers, written as the events come (Trace Event Format, JSON).
 *
 *     trace_events_begin(&t, file);
 *     trace_events_name(&t, 1, 0, "process_name", "the GPU");
 *     trace_events_put(&t, &(struct trace_event){.phase = 'X', .process = 1, .ns = a, .duration_ns = b - a, .name = "draw"});
 *     trace_events_end(&t);
 *
 * An event with arguments: trace_events_open(), members of its "args" by json_write.h on `json`, trace_events_close().
 */
#pragma once

#include "base/json_write.h"

struct trace_events {
    struct json_writer json;
};

struct trace_event {
    char
        phase; /* X a slice, i an instant, C a counter, b and e the ends of what overlaps others, n between these */
    char scope; /* of an instant: t thread, p process, g everywhere */
    int64_t process, thread;
    int64_t ns, duration_ns;
    const char *name;
    const char *category; /* NULL: none; those of phase b and e have one, and an id */
    uint64_t id;
};

void trace_events_begin(struct trace_events *t, FILE *out);
void trace_events_end(struct trace_events *t);
void trace_events_put(struct trace_events *t, const struct trace_event *ev);
void trace_events_open(struct trace_events *t, const struct trace_event *ev);
void trace_events_close(struct trace_events *t);
/* `kind`: "process_name" or "thread_name". */
void trace_events_name(struct trace_events *t, int64_t process, int64_t thread, const char *kind,
                       const char *name);
