/* SPDX-License-Identifier: MIT */
#include "base/loop.h"

#include <errno.h>
#include <stdlib.h>

#include "base/check.h"

struct loop {
    struct clock *clock;
    struct loop_timer **heap; /* of `count` timers, the earliest first */
    uint32_t count, cap;
    uint64_t order;
};

static bool before(const struct loop_timer *a, const struct loop_timer *b)
{
    return a->deadline_ns != b->deadline_ns ? a->deadline_ns < b->deadline_ns : a->order < b->order;
}

/* Of what a call has touched; the rest was so before. */
static void loop_check(const struct loop *loop, uint32_t i)
{
    INVARIANT(loop->count <= loop->cap);
    INVARIANT(loop->clock->is_virtual);
    if (i >= loop->count)
        return;
    INVARIANT(loop->heap[i]->slot == i + 1 && loop->heap[i]->order < loop->order);
    INVARIANT(!i || !before(loop->heap[i], loop->heap[(i - 1) / 2]));
    INVARIANT(2 * i + 1 >= loop->count || !before(loop->heap[2 * i + 1], loop->heap[i]));
    INVARIANT(2 * i + 2 >= loop->count || !before(loop->heap[2 * i + 2], loop->heap[i]));
}

static void place(struct loop *loop, uint32_t i, struct loop_timer *t)
{
    loop->heap[i] = t;
    t->slot = i + 1;
}

static void sift_up(struct loop *loop, uint32_t i)
{
    struct loop_timer *t = loop->heap[i];

    while (i && before(t, loop->heap[(i - 1) / 2])) {
        place(loop, i, loop->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    place(loop, i, t);
}

static void sift_down(struct loop *loop, uint32_t i)
{
    struct loop_timer *t = loop->heap[i];

    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= loop->count)
            break;
        if (child + 1 < loop->count && before(loop->heap[child + 1], loop->heap[child]))
            child++;
        if (!before(loop->heap[child], t))
            break;
        place(loop, i, loop->heap[child]);
        i = child;
    }
    place(loop, i, t);
}

int loop_create(struct loop **out, struct clock *clock)
{
    struct loop *loop;

    if (!clock->is_virtual)
        return -EINVAL;
    loop = calloc(1, sizeof(*loop));
    if (!loop)
        return -ENOMEM;
    loop->clock = clock;
    *out = loop;
    return 0;
}

void loop_destroy(struct loop *loop)
{
    if (!loop)
        return;
    for (uint32_t i = 0; i < loop->count; i++)
        loop->heap[i]->slot = 0;
    free(loop->heap);
    free(loop);
}

int loop_arm(struct loop *loop, struct loop_timer *t, uint64_t deadline_ns, void (*fn)(void *ctx), void *ctx)
{
    loop_cancel(loop, t);
    if (loop->count == loop->cap) {
        uint32_t cap = loop->cap ? 2 * loop->cap : 16;
        struct loop_timer **heap = realloc(loop->heap, cap * sizeof(*heap));
        if (!heap)
            return -ENOMEM;
        loop->heap = heap;
        loop->cap = cap;
    }
    t->fn = fn;
    t->ctx = ctx;
    t->deadline_ns = deadline_ns;
    t->order = loop->order++;
    place(loop, loop->count, t);
    sift_up(loop, loop->count++);
    loop_check(loop, t->slot - 1);
    return 0;
}

void loop_cancel(struct loop *loop, struct loop_timer *t)
{
    uint32_t i = t->slot;
    struct loop_timer *last;

    if (!i--)
        return;
    INVARIANT(i < loop->count && loop->heap[i] == t);
    t->slot = 0;
    last = loop->heap[--loop->count];
    if (last == t)
        return;
    place(loop, i, last);
    sift_up(loop, i);
    sift_down(loop, last->slot - 1);
    loop_check(loop, last->slot - 1);
    loop_check(loop, 0);
}

/* Timers that are due now; one armed by a callback for a time already past waits for the next round. */
static int run_timers(struct loop *loop)
{
    uint64_t now = clock_now(loop->clock), last = loop->order;
    int n = 0;

    while (loop->count && loop->heap[0]->deadline_ns <= now && loop->heap[0]->order < last) {
        struct loop_timer *t = loop->heap[0];
        loop_cancel(loop, t);
        INVARIANT(!t->slot && t->deadline_ns <= clock_now(loop->clock)); /* 1 */
        t->fn(t->ctx);
        n++;
    }
    return n;
}

int loop_run_once(struct loop *loop, uint64_t until_ns)
{
    if (!loop->count || loop->heap[0]->deadline_ns > until_ns) {
        if (until_ns != LOOP_FOREVER)
            clock_advance_to(loop->clock, until_ns);
        return 0;
    }
    clock_advance_to(loop->clock, loop->heap[0]->deadline_ns);
    return run_timers(loop);
}
