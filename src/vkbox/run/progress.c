/* SPDX-License-Identifier: MIT */
#include "vkbox/run/progress.h"

#include <stdlib.h>

#include "base/clock.h"
#include "vkbox/awaited.h"
#include "vkbox/point.h"
#include "vkbox/run/place.h"

/* The process may change what was checked. */
#define read_once(x) (*(const volatile __typeof__(x) *)&(x))

static bool is_lost(const struct vkbox *b, uint32_t device)
{
    return atomic_load(&b->devices[device].lost);
}

#define MIX      UINT64_C(0x9E3779B97F4A7C15)
#define FRESH_NS (250 * NSEC_PER_MSEC) /* who waits looks again every 50 ms */

/* Up to this one not all have ended, as a look has just found. */
static uint64_t open_at(const struct vkbox *b, uint32_t queue, uint64_t now_ns)
{
    const uint64_t looked = atomic_load(&b->queues[queue].open_ns);

    return looked && (looked > now_ns || now_ns - looked < FRESH_NS) ? atomic_load(&b->queues[queue].open)
                                                                     : 0;
}

enum ended {
    UNMARKED,
    ENDED,
    MAY_HAVE_ENDED, /* its mark is that of an earlier submission of its command buffers, or of its own */
    WAITS,
    MAY_WORK, /* it is one of those that the mark may be of */
    WORKS,
};

static enum ended buffer_ended(const struct vkbox *b, const struct vkbox_submitted c, uint64_t number,
                               uint64_t *key)
{
    const struct vkbox_command_buffer *cb = &b->command_buffers[c.command_buffer];
    const uint32_t of = read_once(cb->device), mark = read_once(cb->mark);
    uint64_t since;
    uint32_t word, point;

    if (mark >= VKBOX_MARKS || of >= VKBOX_DEVICES)
        return UNMARKED;
    since = atomic_load(&cb->since);
    if (cb->state != VKBOX_LIVE || cb->recording != c.recording || number < since)
        return ENDED;
    word = read_once(b->marks[of][mark]);
    *key = (*key ^ word) * MIX;
    if (point_is_last(b, c.command_buffer, word))
        return number == since ? ENDED : MAY_HAVE_ENDED;
    point = point_number(b, c.command_buffer, word);
    return !point ? WAITS : number == since ? WORKS : MAY_WORK;
}

static enum ended submission_ended(const struct vkbox *b, const struct vkbox_submission *s, uint64_t number,
                                   uint64_t *key)
{
    enum ended e = UNMARKED;
    bool ended = false;

    *key = number * MIX;
    for (uint32_t i = 0; i < vkbox_submitted_count(s); i++) {
        const struct vkbox_submitted c = vkbox_submitted_at(b, s, i);
        enum ended one;

        if (c.command_buffer >= VKBOX_COMMAND_BUFFERS)
            continue;
        one = buffer_ended(b, c, number, key);
        ended |= one == ENDED;
        e = one > e ? one : e;
    }
    e = e == WAITS && ended ? WORKS : e; /* between two of its command buffers */
    if (!atomic_load(&s->returned) && e < WAITS)
        return s->num_waits ? WAITS : WORKS; /* a driver may wait for semaphores in the call */
    return e;
}

/* The oldest that has work, behind whatever has ended for sure: a queue goes in order. */
static void find_head(const struct vkbox *b, uint32_t queue, uint64_t open, struct progress_head *head)
{
    const uint64_t last = atomic_load(&b->queues[queue].submitted),
                   finished = atomic_load(&b->queues[queue].finished);

    head->ended = finished;
    for (uint64_t n = last; n > finished && last - n < vkbox_ring(b); n--) {
        const struct vkbox_submission *s = &b->submission[vkbox_slot_of(b, n)];
        enum ended e;
        uint64_t key;

        if (s->number != n || s->queue != queue)
            continue;
        e = submission_ended(b, s, n, &key);
        if (e == UNMARKED && n <= open && read_once(s->num_waits) && !head->number)
            e = WAITS; /* it, or one before it that waits as well */
        if (e == ENDED) {
            head->ended = n;
            break;
        }
        if (e >= WAITS) {
            head->number = n;
            head->key = key;
            head->begun = e > WAITS;
        }
        if (e == WORKS)
            break;
    }
}

uint64_t progress_heads(const struct vkbox *b, uint64_t now_ns, struct progress_head heads[VKBOX_QUEUES])
{
    uint64_t queues = 0;

    for (uint32_t q = 0; q < VKBOX_QUEUES; q++) {
        heads[q] = (struct progress_head){.device = read_once(b->queues[q].device) % VKBOX_DEVICES};
        if (b->queues[q].state != VKBOX_LIVE || is_lost(b, heads[q].device))
            continue;
        find_head(b, q, open_at(b, q, now_ns), &heads[q]);
        queues |= heads[q].number ? UINT64_C(1) << q : 0;
    }
    return queues;
}

/* ---- what has not begun --------------------------------------------------- */

enum behind {
    BEHIND_NOTHING, /* that is known */
    BEHIND_NOBODY,  /* at work: it stays so */
    BEHIND_OTHERS,  /* who are at work */
};

struct walk {
    const struct vkbox *b;
    const struct progress_head *heads;
    uint64_t due, last, seen;
    uint32_t steps; /* left: each looks through all submissions */
};

static enum behind is_behind(struct walk *w, uint32_t queue, uint64_t last);

/* Of a semaphore that submission `by` signals; `last` waits for it. */
static enum behind behind_signal(struct walk *w, uint32_t queue, uint64_t last, uint64_t by)
{
    const uint32_t signals = read_once(w->b->submission[vkbox_slot_of(w->b, by)].queue) % VKBOX_QUEUES;
    const struct progress_head *h = &w->heads[signals];

    if (by <= h->ended)
        return BEHIND_NOTHING;
    if (signals == queue)
        return by > last ? BEHIND_NOBODY : BEHIND_NOTHING; /* a queue goes in order */
    if (!h->number || by < h->number)
        return h->begun ? BEHIND_NOTHING : is_behind(w, signals, by);
    if (h->begun)
        return w->due >> signals & 1 ? BEHIND_NOBODY : BEHIND_OTHERS;
    return is_behind(w, signals, h->number);
}

/* What has not ended on a queue, up to a submission: those without marks may be what waits. */
static enum behind is_behind(struct walk *w, uint32_t queue, uint64_t last)
{
    enum behind most = BEHIND_NOTHING;

    if (w->seen >> queue & 1)
        return BEHIND_NOBODY; /* each for the other */
    w->seen |= UINT64_C(1) << queue;
    for (uint64_t n = last; n > w->heads[queue].ended && last - n < vkbox_ring(w->b); n--) {
        const struct vkbox_submission *s = &w->b->submission[vkbox_slot_of(w->b, n)];
        struct awaited *a;

        if (s->number != n || s->queue != queue || !s->num_waits)
            continue;
        a = w->steps && w->steps-- ? awaited_find(w->b, w->last, n) : NULL;
        if (!a)
            return BEHIND_NOTHING;
        for (uint32_t i = 0; i < a->num && most < BEHIND_OTHERS; i++) {
            const enum behind one = a->by[i]          ? behind_signal(w, queue, n, a->by[i])
                                    : a->may_be_other ? BEHIND_NOTHING
                                                      : BEHIND_NOBODY;

            most = one > most ? one : most;
        }
        awaited_free(a);
        if (most == BEHIND_OTHERS)
            break;
    }
    return most;
}

uint64_t progress_stuck(const struct vkbox *b, const struct progress_head heads[VKBOX_QUEUES], uint64_t due,
                        uint64_t quiet)
{
    uint64_t stuck = due;

    for (uint32_t q = 0; q < VKBOX_QUEUES; q++) {
        struct walk w = {b, heads, due, atomic_load(&b->submissions), 0, 64};
        enum behind is;

        if (!(due >> q & 1) || heads[q].begun)
            continue;
        is = is_behind(&w, q, heads[q].number);
        if (is == BEHIND_OTHERS || (is == BEHIND_NOTHING && !(quiet >> q & 1)))
            stuck &= ~(UINT64_C(1) << q);
    }
    return stuck;
}

bool progress_is_submitting(const struct vkbox *b, uint32_t thread)
{
    const uint64_t last = atomic_load(&b->submissions);

    for (uint64_t n = last; n && last - n < vkbox_ring(b); n--) { /* what is behind them has no memory yet */
        const struct vkbox_submission *s = &b->submission[vkbox_slot_of(b, n)];

        if (atomic_load(&s->number) && !atomic_load(&s->returned) && (!thread || s->thread == thread))
            return true;
    }
    return false;
}

void progress_end_wait(struct progress_wait *w)
{
    free(w->at);
    w->at = NULL;
}

/* Dozens of files are read for this. */
void progress_begin_wait(struct progress_wait *w, pid_t pid, uint64_t now_ns)
{
    w->at = w->at ? w->at : malloc(sizeof(*w->at));
    w->since_ns = now_ns;
    w->compiles = 0;
    if (w->at)
        place_times(pid, w->at);
}

bool progress_wait(struct progress_wait *w, pid_t pid, uint64_t now_ns, bool works, uint64_t key)
{
    if (!works || key != w->key) {
        w->key = works ? key : 0;
        progress_end_wait(w);
        return false;
    }
    if (w->at)
        return true;
    progress_begin_wait(w, pid, now_ns);
    return false;
}

uint64_t progress_due(const struct progress_wait waits[VKBOX_QUEUES], uint64_t queues, uint64_t now_ns,
                      uint64_t ns)
{
    uint64_t due = 0;

    for (uint32_t q = 0; q < VKBOX_QUEUES; q++)
        if (queues >> q & 1 && now_ns - waits[q].since_ns >= ns && waits[q].told != waits[q].key)
            due |= UINT64_C(1) << q;
    return due;
}
