/* SPDX-License-Identifier: MIT */
/* hang.c: whether a process's devices get on with their work.
 *
 *   no progress ──timeout──▶ was it let run? ──▶ does it compile? ──▶ a hang: dump, then the program hears that its device is lost
 */
#include "vkbox/run/watched.h"

#include <stdio.h>

#include "vkbox/run/owner.h"
#include "vkbox/run/place.h"

/* So often a time-out is put off because somebody compiles: the driver for the queue; the program, which it may wait for. */
enum { COMPILES = 600, CALLED_COMPILES = 3 };

/* Of queues, a bit each. */
static void begin_waits(struct run *r, struct watched *w, uint64_t queues)
{
    for (uint32_t q = 0; q < VKBOX_QUEUES; q++)
        if (queues >> q & 1)
            progress_begin_wait(&w->waits_of[q], w->pid, run_now(r));
}

/* Queues that made no progress for a time-out in which the process was let run. */
struct stands {
    struct progress_wait *first;
    uint64_t queues;
    uint32_t devices;
    bool begun; /* one is at a command */
    struct place_times now;
    struct place_span span; /* since the first */
};

/* After a hang a device that is at work later may wait behind the one that hangs, as another or as the next one. */
static void lose(struct run *r, struct watched *w, uint32_t devices)
{
    for (uint32_t i = 0; i < VKBOX_DEVICES; i++) {
        struct vkbox_device *d = &w->b->devices[i];
        char name[128];

        if (atomic_load(&d->state) != VKBOX_LIVE || !(devices >> i & 1))
            continue;
        atomic_store(&d->lost, 1);
        snprintf(name, sizeof(name), "%.127s", d->name);
        if (w->hung)
            run_trouble(
                r, "device %s makes no progress after the hang either, perhaps behind it: it is lost as well",
                name);
    }
}

/* On a processor whatever a command does, a thread of the driver's does: whether none was at work, which may have been parked. */
static bool is_idle(const struct run *r, const struct watched *w, const struct stands *s, uint32_t devices)
{
    for (uint32_t i = 0; i < VKBOX_DEVICES; i++)
        if (devices >> i & 1 && !w->b->devices[i].processor)
            return false;
    return !place_works(w->pid, s->first->at, &s->now, r->p->timeout_ns);
}

/* Another program in its place (exec), which took the driver's threads with it. */
static bool runs_another(const struct run *r, const struct watched *w)
{
    char record[128];

    watched_name(r, w, record);
    return owner_look(w->pid, record) == OWNER_HAS_OTHERS;
}

static void declare_hang(struct run *r, struct watched *w, const struct stands *s)
{
    struct vkbox_event ev = {.what = VKBOX_HAPPENED_HANG,
                             .time_ns = run_now(r),
                             .waited_ns = run_now(r) - s->first->since_ns,
                             .ran_ns = s->span.ran_ns,
                             .threads = (uint32_t)s->now.num_threads,
                             .slept = (uint32_t)place_slept(s->first->at, &s->now, r->p->timeout_ns),
                             .idle = is_idle(r, w, s, s->devices),
                             .queues = s->queues,
                             .device = VKBOX_NO_INDEX};
    uint32_t none = VKBOX_NO_CRASH, hang = VKBOX_HANG;

    if (w->hung) {
        lose(r, w, s->devices);
        return;
    }
    if (runs_another(r, w)) {
        w->done = true;
        return;
    }
    if (!s->queues) {
        progress_begin_wait(&w->handler, w->pid, run_now(r));
        watched_tell_handled(r, w);
        return;
    }
    if (watched_ended_in_handler(w, 0)) { /* which waits for the thread that it stands in */
        w->done = true;
        watched_dump(r, w, &w->handled);
        return;
    }
    if (!atomic_compare_exchange_strong(&w->b->crash.kind, &none, hang))
        return;
    if (watched_dump(r, w, &ev)) { /* the program goes on, and is told nothing */
        atomic_compare_exchange_strong(&w->b->crash.kind, &hang, VKBOX_NO_CRASH);
        for (uint32_t q = 0; q < VKBOX_QUEUES; q++)
            if (s->queues >> q & 1)
                w->waits_of[q].told = w->waits_of[q].key;
        return;
    }
    /* A reset takes all that were at work: one may wait behind the other. */
    lose(r, w, s->devices);
    w->done = w->hung = true;
}

/* Whether a wait that is over counts: its process was let run meanwhile. */
static bool was_let_run(const struct run *r, const struct progress_wait *o, const struct stands *s,
                        struct place_span *span)
{
    place_times_between(o->at, &s->now, span);
    return place_let_run(span, run_now(r) - o->since_ns, r->p->timeout_ns);
}

static void add_stand(struct progress_wait *o, const struct place_span *span, struct stands *s)
{
    if (s->first && o->since_ns >= s->first->since_ns)
        return;
    s->first = o;
    s->span = *span;
}

/* Those of `due` that hang. What only waits for others begins to wait anew. */
static void find_stands(struct run *r, struct watched *w, const struct progress_head heads[VKBOX_QUEUES],
                        uint64_t due, struct stands *s)
{
    struct place_span spans[VKBOX_QUEUES];
    uint64_t quiet = 0;

    for (uint32_t q = 0; q < VKBOX_QUEUES; q++) {
        const uint64_t bit = UINT64_C(1) << q;

        if (due & bit && !was_let_run(r, &w->waits_of[q], s, &spans[q]))
            due &= ~bit;
        quiet |= w->moved_ns <= w->waits_of[q].since_ns ? bit : 0;
    }
    s->queues = progress_stuck(w->b, heads, due, quiet);
    begin_waits(r, w, due & ~s->queues);
    for (uint32_t q = 0; q < VKBOX_QUEUES; q++)
        if (s->queues >> q & 1) {
            add_stand(&w->waits_of[q], &spans[q], s);
            s->devices |= 1u << heads[q].device;
            s->begun |= heads[q].begun;
        }
}

static bool is_put_off(const struct watched *w, const struct progress_wait *o)
{
    const enum place_compiler c = place_compiles(w->pid, w->b);

    return (c == PLACE_COMPILER_DRIVERS && o->compiles < COMPILES) ||
           (c == PLACE_COMPILER_CALLED && o->compiles < CALLED_COMPILES);
}

void watched_look_at_progress(struct run *r, struct watched *w)
{
    struct progress_head heads[VKBOX_QUEUES];
    struct stands s = {0};
    struct place_span span;
    uint64_t works, stand = 0, due;
    bool handler;

    if ((w->done && !w->hung) || !r->p->timeout_ns)
        return;
    works = progress_heads(w->b, run_now(r), heads);
    for (uint32_t q = 0; q < VKBOX_QUEUES; q++) {
        const bool has = works >> q & 1;

        if (w->waits_of[q].key != (has ? heads[q].key : 0))
            w->moved_ns = run_now(r);
        if (progress_wait(&w->waits_of[q], w->pid, run_now(r), has, heads[q].key))
            stand |= UINT64_C(1) << q;
    }
    handler = progress_wait(&w->handler, w->pid, run_now(r), !works && watched_is_in_handler(w, 0), 0);
    if (!stand && !handler)
        return;
    /* Time in which it is stopped is none in which it could have got on: the wait begins anew when it goes on. */
    if (place_stopped(w->pid) && place_times(w->pid, &s.now) && s.now.stopped) {
        begin_waits(r, w, stand);
        if (handler)
            progress_begin_wait(&w->handler, w->pid, run_now(r));
        return;
    }
    due = progress_due(w->waits_of, stand, run_now(r), r->p->timeout_ns);
    handler = handler && run_now(r) - w->handler.since_ns >= r->p->timeout_ns;
    if ((!due && !handler) || !place_times(w->pid, &s.now))
        return;
    find_stands(r, w, heads, due, &s);
    if (handler && was_let_run(r, &w->handler, &s, &span))
        add_stand(&w->handler, &span, &s);
    if (!s.first)
        return;
    /* What has been at one command for long may be what the other waits behind. */
    if (s.begun)
        s.queues |= progress_due(w->waits_of, stand, run_now(r), r->p->timeout_ns / 4);
    if (is_put_off(w, s.first)) { /* compiling: that ends */
        const uint32_t compiles = s.first->compiles + 1;

        begin_waits(r, w, s.queues);
        if (handler)
            progress_begin_wait(&w->handler, w->pid, run_now(r));
        s.first->compiles = compiles;
        return;
    }
    declare_hang(r, w, &s);
}
