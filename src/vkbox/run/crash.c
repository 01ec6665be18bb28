/* SPDX-License-Identifier: MIT */
/* crash.c: what a process's record says that happened, and the dumps of it. */
#include "vkbox/run/watched.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vkbox/run/dump.h"
#include "vkbox/run/place.h"

void run_trouble(struct run *r, const char *fmt, const char *what)
{
    char text[600];

    snprintf(text, sizeof(text), fmt, what);
    if (r->p->on_trouble)
        r->p->on_trouble(r->p->ctx, text);
}

/* NULL: they cannot be made. */
const struct vkbox_dumps *run_dumps(struct run *r)
{
    struct error e = {0};
    const struct vkbox_dumps *dumps = r->p->dumps_by(r->p->ctx, &e);

    if (!dumps)
        run_trouble(r, "no dump: %s", e.text);
    return dumps;
}

/* Returns whether what it tells of may still end by itself. */
bool watched_dump(struct run *r, struct watched *w, const struct vkbox_event *ev)
{
    struct vkbox_dump_order order = {.run = r->p,
                                     .fd = w->fd,
                                     .event = ev,
                                     .told = w->b ? w->b->verdict : NULL,
                                     .wait_is_said = w->waits,
                                     .number = r->out->dumps + 1,
                                     .files = &r->files};
    const struct vkbox_dumps *dumps = run_dumps(r);
    struct vkbox_dump dump;

    if (!dumps)
        return false;
    if (w->b)
        symbol_files_add(&r->files, w->pid);
    dumps->make(&order, &dump);
    if (!dump.made)
        return dump.may_end;
    r->out->dumps++;
    w->waits |= dump.may_end;
    if (r->p->on_dump)
        r->p->on_dump(r->p->ctx, dump.path);
    return dump.may_end;
}

/* The layer's thread that waits for this goes on. */
static void answer(struct watched *w, uint32_t event)
{
    atomic_store(&w->b->collected, event);
    syscall(SYS_futex, &w->b->collected, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Of a signal that the program handles itself: what is no shader's fault never happened. */
static bool is_the_programs(struct watched *w, const struct place *p)
{
    uint32_t kind = VKBOX_SIGNAL;

    if (!w->b->crash.handled || p->generated)
        return false;
    atomic_compare_exchange_strong(&w->b->crash.kind, &kind, VKBOX_NO_CRASH);
    return true;
}

/* The handler of an earlier signal has not returned: what comes now is of what that does, as when it ends the program under threads of
 * the driver's. The first is put back. */
static bool is_of_earlier(const struct watched *w)
{
    const struct vkbox_crash *c = &w->handled_crash;

    if (!w->handled_event || w->handled_event == w->handled_told ||
        atomic_load(&w->b->crash.inside) != w->handled_event || w->b->crash.thread == c->thread ||
        !place_blocks(w->pid, c->thread, c->signal))
        return false;
    w->b->crash = *c;
    w->b->crash.inside = w->handled_event;
    w->b->crash.handled = 0;
    return true;
}

void watched_look_at_event(struct run *r, struct watched *w)
{
    uint32_t event = atomic_load(&w->b->event);
    uint32_t kind = atomic_load(&w->b->crash.kind);
    struct vkbox_event ev = {.time_ns = run_now(r), .device = VKBOX_NO_INDEX};
    struct place place;

    if (event == w->seen)
        return;
    w->seen = event;
    if (!w->done && (kind == VKBOX_DEVICE_LOST || kind == VKBOX_SIGNAL)) {
        w->done = true;
        if (kind == VKBOX_SIGNAL && is_of_earlier(w)) {
            ev = w->handled;
        } else if (kind == VKBOX_SIGNAL) {
            const struct vkbox_crash crash = w->b->crash;

            place_crash(w->pid, w->b, &place);
            snprintf(ev.place, sizeof(ev.place), "%s", place.text);
            if (w->b->crash.has_address)
                place_mapped(w->pid, w->b->crash.address, ev.mapped);
            ev.hidden = place.hidden;
            ev.in_driver = place.driver;
            ev.in_shader = place.generated;
            ev.in_call = place.called;
            ev.doubtful = place.doubtful;
            ev.what = VKBOX_HAPPENED_SIGNAL;
            if (is_the_programs(w, &place)) {
                w->done = false;
                w->handled = ev;
                w->handled_crash = crash;
                w->handled_event = event;
                w->handled_at = atomic_load(&w->b->submissions);
                answer(w, event);
                return;
            }
        } else {
            ev.what = VKBOX_HAPPENED_LOST;
            ev.device = w->b->crash.device < VKBOX_DEVICES ? w->b->crash.device : VKBOX_NO_INDEX;
        }
        watched_dump(r, w, &ev);
    }
    answer(w, event);
}

/* ---- handlers of the program ---------------------------------------------- */

/* Whether the program is, or was to its end, in the handler that it has for its last fault. One that has submitted since may have left
 * it by a jump, unless the same `signal` ended it; 0: none did. */
bool watched_is_in_handler(const struct watched *w, int signal)
{
    return w->handled_event && w->handled_event != w->handled_told &&
           atomic_load(&w->b->crash.inside) == w->handled_event &&
           (signal == w->b->crash.signal || atomic_load(&w->b->submissions) == w->handled_at);
}

/* The handler of which there is a dump has not returned. */
bool watched_stands_where_told(const struct watched *w)
{
    return w->handled_told && atomic_load(&w->b->crash.inside) == w->handled_told;
}

/* It was its crash, and is put back as such. */
bool watched_ended_in_handler(struct watched *w, int signal)
{
    uint32_t none = VKBOX_NO_CRASH;

    if (!watched_is_in_handler(w, signal) ||
        !atomic_compare_exchange_strong(&w->b->crash.kind, &none, VKBOX_SIGNAL))
        return false;
    /* It ended by this, or by exit(3) from there: else it may have left the handler by a jump. */
    w->b->crash.handled = signal != w->b->crash.signal && !w->b->ended;
    return true;
}

/* A handler that may wait for ever: the dump says that nobody knows. */
void watched_tell_handled(struct run *r, struct watched *w)
{
    uint32_t none = VKBOX_NO_CRASH, kind = VKBOX_SIGNAL;

    if (!watched_is_in_handler(w, 0) || !place_blocks(w->pid, w->b->crash.thread, w->b->crash.signal) ||
        !atomic_compare_exchange_strong(&w->b->crash.kind, &none, kind))
        return;
    w->handled_told = w->handled_event;
    watched_dump(r, w, &w->handled);
    atomic_compare_exchange_strong(&w->b->crash.kind, &kind, VKBOX_NO_CRASH);
}
