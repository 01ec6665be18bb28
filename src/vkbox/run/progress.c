/* SPDX-License-Identifier: MIT */
#include "vkbox/run/progress.h"

#define XXH_INLINE_ALL /* who watches loads no more than it must */
#include <xxhash.h>

#include "base/check.h"
#include "vkbox/point.h"

/* The process may change what was checked. */
#define read_once(x) (*(const volatile __typeof__(x) *)&(x))

enum ended { ENDED, WORKS, UNMARKED };

static bool is_lost(const struct vkbox *b, uint32_t device)
{
    return atomic_load(&b->devices[device].lost);
}

/* Adds the devices of what has not ended, a bit each. */
static enum ended submission_ended(const struct vkbox *b, const struct vkbox_submission *s, uint32_t *devices)
{
    enum ended e = UNMARKED;

    for (uint32_t i = 0; i < vkbox_submitted_count(s); i++) {
        const struct vkbox_submitted c = vkbox_submitted_at(b, s, i);
        const struct vkbox_command_buffer *cb;
        uint32_t of, mark;

        if (c.command_buffer >= VKBOX_COMMAND_BUFFERS)
            continue;
        cb = &b->command_buffers[c.command_buffer];
        of = read_once(cb->device);
        mark = read_once(cb->mark);
        if (mark >= VKBOX_MARKS || of >= VKBOX_DEVICES)
            continue;
        e = e == UNMARKED ? ENDED : e;
        if (cb->state == VKBOX_LIVE && cb->recording == c.recording &&
            !point_is_last(b, c.command_buffer, b->marks[of][mark])) {
            e = WORKS;
            *devices |= is_lost(b, of) ? 0 : 1u << of;
        }
    }
    return e;
}

/* Another with every step of any device. */
static uint64_t key_of(const struct vkbox *b)
{
    uint64_t key = atomic_load(&b->submissions);

    for (uint32_t i = 0; i < VKBOX_DEVICES; i++)
        if (b->devices[i].state == VKBOX_LIVE) /* all of them are a MiB, ten times a second */
            key = (key ^ XXH3_64bits(b->marks[i], sizeof(b->marks[i]))) * UINT64_C(0x9E3779B97F4A7C15);
    return key;
}

bool progress_has_work(const struct vkbox *b, uint64_t *key, uint32_t *devices)
{
    for (uint32_t q = 0; q < VKBOX_QUEUES; q++) {
        uint64_t last = atomic_load(&b->queues[q].submitted);
        enum ended e = UNMARKED;

        if (b->queues[q].state != VKBOX_LIVE || !last)
            continue;
        if (b->submission[vkbox_slot_of(b, last)].number == last &&
            !b->submission[vkbox_slot_of(b, last)].returned) {
            uint32_t of = read_once(b->queues[q].device) % VKBOX_DEVICES;

            *devices |= is_lost(b, of) ? 0 : 1u << of;
        }
        for (uint64_t n = last; n && last - n < vkbox_ring(b) && e == UNMARKED; n--) {
            const struct vkbox_submission *s = &b->submission[vkbox_slot_of(b, n)];

            if (s->number == n && s->queue == q)
                e = submission_ended(b, s, devices);
        }
    }
    if (*devices)
        *key = key_of(b);
    return *devices;
}

bool progress_is_submitting(const struct vkbox *b, uint32_t thread)
{
    const uint64_t last = atomic_load(&b->submissions);

    for (uint64_t n = last; n && last - n < vkbox_ring(b); n--) { /* what is behind them has no memory yet */
        const struct vkbox_submission *s = &b->submission[vkbox_slot_of(b, n)];

        if (atomic_load(&s->number) && !atomic_load(&s->returned) && s->thread == thread)
            return true;
    }
    return false;
}
