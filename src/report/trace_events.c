/* SPDX-License-Identifier: MIT */
#include "report/trace_events.h"

#include "base/check.h"

void trace_events_begin(struct trace_events *t, FILE *out)
{
    t->json = json_writer(out);
    json_write_object(&t->json, NULL);
    json_write_string(&t->json, "displayTimeUnit", "ns");
    json_write_array(&t->json, "traceEvents");
}

void trace_events_end(struct trace_events *t)
{
    INVARIANT(t->json.depth == 2); /* every event was closed */
    json_write_end(&t->json);
    json_write_end(&t->json);
    putc('\n', t->json.out);
}

static void head(struct json_writer *w, const struct trace_event *ev)
{
    INVARIANT(w->depth == 2 && ev->name); /* inside of traceEvents */
    INVARIANT(ev->duration_ns >= 0 || ev->phase == 'X');
    INVARIANT(!!ev->category == (ev->phase == 'b' || ev->phase == 'e' || ev->phase == 'n'));
    const char phase[] = {ev->phase, '\0'}, scope[] = {ev->scope, '\0'};

    json_write_object(w, NULL);
    json_write_string(w, "ph", phase);
    json_write_signed(w, "pid", ev->process);
    json_write_signed(w, "tid", ev->thread);
    json_write_thousandths(w, "ts", ev->ns); /* microseconds */
    json_write_string(w, "name", ev->name);
    if (ev->phase == 'X')
        json_write_thousandths(w, "dur", ev->duration_ns);
    if (ev->scope)
        json_write_string(w, "s", scope);
    if (ev->category) {
        json_write_string(w, "cat", ev->category);
        json_write_unsigned(w, "id", ev->id);
    }
}

void trace_events_put(struct trace_events *t, const struct trace_event *ev)
{
    head(&t->json, ev);
    json_write_end(&t->json);
}

void trace_events_open(struct trace_events *t, const struct trace_event *ev)
{
    head(&t->json, ev);
    json_write_object(&t->json, "args");
}

void trace_events_close(struct trace_events *t)
{
    json_write_end(&t->json);
    json_write_end(&t->json);
}

void trace_events_name(struct trace_events *t, int64_t process, int64_t thread, const char *kind,
                       const char *name)
{
    trace_events_open(
        t, &(struct trace_event){.phase = 'M', .process = process, .thread = thread, .name = kind});
    json_write_string(&t->json, "name", name);
    trace_events_close(t);
}
