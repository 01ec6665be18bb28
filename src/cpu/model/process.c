/* SPDX-License-Identifier: MIT */
#include "cpu/model/process.h"

#include <errno.h>
#include <sched.h>

#include "base/map.h"

struct census {
    const struct cpu_window *w;
    struct map process; /* of each thread that lives */
    struct map members; /* threads of the executor's processes, from the submission on */
    bool submitted, no_memory;
    bool joined[CPU_WINDOW_THREADS]; /* those of the window */
};

static void put(struct census *c, struct map *m, uint64_t key, uint64_t value)
{
    uint64_t *slot = key ? map_put(m, key) : NULL;

    if (slot)
        *slot = value;
    else
        c->no_memory |= key != 0;
}

static void add_process(struct census *c, uint64_t process)
{
    struct map_slot slot;

    for (size_t at = 0; map_next(&c->process, &at, &slot);)
        if (slot.value == process)
            put(c, &c->members, slot.key, 1);
}

/* The process of a thread that the window names as an executor's; who has its number after it is a stranger. */
static void join(struct census *c, uint64_t tid)
{
    const uint64_t *process = map_find(&c->process, tid);

    for (uint32_t i = 0; process && i < c->w->num_threads; i++)
        if (c->w->threads[i].role == CPU_ROLE_EXECUTOR && c->w->threads[i].tid == (int64_t)tid &&
            !c->joined[i]) {
            add_process(c, *process);
            c->joined[i] = true;
        }
}

/* As /proc had it when the recording began. */
static void begin(struct census *c, const struct cpu_trace *t)
{
    struct map processes = {0};

    for (size_t i = 0; i < json_array_size(t->processes); i++)
        put(c, &processes, (uint64_t)json_integer_value(json_array_get(t->processes, i)), 1);
    for (size_t i = 0; i + 1 < json_array_size(t->tasks); i += 2) {
        const uint64_t tid = (uint64_t)json_integer_value(json_array_get(t->tasks, i)),
                       owner = (uint64_t)json_integer_value(json_array_get(t->tasks, i + 1));
        put(c, &c->process, tid, map_find(&processes, tid) ? tid : owner);
    }
    map_finish(&processes);
}

static void on_task(struct census *c, const struct cpu_event *ev)
{
    const uint64_t parent = ev->tid > 0 ? (uint64_t)ev->tid : 0, *process = map_find(&c->process, parent);
    const bool is_thread = ev->b & CLONE_THREAD;

    put(c, &c->process, ev->a, !is_thread ? ev->a : process ? *process : parent);
    if (!c->submitted)
        return;
    if (is_thread && map_find(&c->members, parent))
        put(c, &c->members, ev->a, 1);
    join(c, ev->a);
}

static void on_event(struct census *c, const struct cpu_event *ev)
{
    if (!c->submitted && ev->ns >= c->w->submit_ns) {
        c->submitted = true;
        for (uint32_t i = 0; i < c->w->num_threads; i++)
            if (c->w->threads[i].tid > 0)
                join(c, (uint64_t)c->w->threads[i].tid);
    }
    if (ev->kind == CPU_EV_TASK) {
        on_task(c, ev);
    } else if (ev->kind == CPU_EV_EXIT) {
        map_remove(&c->process, ev->a);
        map_remove(&c->members, ev->a);
    } else if (ev->kind == CPU_EV_EXEC &&
               ev->a != ev->b) { /* the others have ended, and it has the first one's number */
        const bool is_member = map_remove(&c->members, ev->b);

        map_remove(&c->process, ev->b);
        put(c, &c->process, ev->a, ev->a);
        if (is_member)
            put(c, &c->members, ev->a, 1);
    }
}

int cpu_process_fate(struct cpu_process_fate *out, struct cpu_trace *t, const struct cpu_window *w,
                     uint64_t to_ns, struct error *e)
{
    struct census c = {.w = w};
    const struct cpu_event *ev;
    struct cpu_source *source;
    struct map_slot slot = {0};
    size_t at = 0;
    int n, r;

    *out = (struct cpu_process_fate){0};
    if (!t->tasks || !t->processes || !cpu_trace_records(t, "task:task_newtask") ||
        !cpu_trace_records(t, "sched:sched_process_exit"))
        return 0;
    begin(&c, t);
    r = cpu_trace_rewind(t, 0, to_ns, &source, e);
    while (!r && (n = source->next(source, &ev)) > 0 && ev->ns <= to_ns)
        for (int i = 0; i < n && ev[i].ns <= to_ns; i++) {
            on_event(&c, &ev[i]);
            out->is_known |= c.members.num > 0;
        }
    out->living = (uint32_t)c.members.num;
    if (map_next(&c.members, &at, &slot))
        out->example = (int32_t)slot.key;
    if (!r && c.no_memory)
        r = error_set(e, -ENOMEM, "no memory for the processes of the recording");
    map_finish(&c.process);
    map_finish(&c.members);
    return r;
}
