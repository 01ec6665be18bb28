/* SPDX-License-Identifier: MIT */
#include "vkbox/awaited.h"

#include <stdlib.h>

static const struct vkbox_submission *at(const struct vkbox *b, uint64_t number)
{
    const struct vkbox_submission *s = &b->submission[vkbox_slot_of(b, number)];

    return number && atomic_load(&s->number) == number ? s : NULL;
}

/* Whoever writes the record may change what was checked. */
static uint32_t device_of(const struct vkbox *b, const struct vkbox_submission *s)
{
    return b->queues[*(const volatile uint32_t *)&s->queue % VKBOX_QUEUES].device;
}

/* Of a semaphore with two values one signal is for one that waits: another that came before may have had it. */
static void note_semaphores(const struct vkbox *b, const struct vkbox_submission *s, uint64_t number,
                            uint64_t before, struct awaited *a)
{
    for (uint32_t i = 0; number < before && i < s->num_waits && i < VKBOX_SEMAPHORES_MOST; i++) {
        const uint64_t *known =
            map_find(&a->index, vkbox_semaphore_at(b, s->waits, &s->more_waits, i).handle);

        if (known && !a->semaphore[*known].value)
            a->by[*known] = 0;
    }
    for (uint32_t i = 0; i < s->num_signals && i < VKBOX_SEMAPHORES_MOST; i++) {
        const struct vkbox_semaphore one = vkbox_semaphore_at(b, s->signals, &s->more_signals, i);
        const uint64_t *known = map_find(&a->index, one.handle);

        if (known && one.value >= a->semaphore[*known].value)
            a->by[*known] = number;
    }
    a->may_be_other |= s->num_signals > VKBOX_SEMAPHORES_MOST;
}

struct awaited *awaited_find(const struct vkbox *b, uint64_t last, uint64_t number)
{
    const struct vkbox_submission *s = at(b, number);
    struct awaited *a = calloc(1, sizeof(*a));
    uint32_t device;

    if (!a || !s)
        return a;
    device = device_of(b, s);
    a->may_be_other = b->queues_lost || b->signals_lost;
    for (uint32_t i = 0; i < s->num_waits && i < VKBOX_SEMAPHORES_MOST; i++) {
        const struct vkbox_semaphore one = vkbox_semaphore_at(b, s->waits, &s->more_waits, i);
        uint64_t *known =
            one.handle && !map_find(&a->index, one.handle) ? map_put(&a->index, one.handle) : NULL;

        if (!known)
            continue;
        *known = a->num;
        a->semaphore[a->num++] = one;
    }
    for (uint64_t n = last >= vkbox_ring(b) ? last - vkbox_ring(b) + 1 : 1; a->num && last && n <= last;
         n++) {
        const struct vkbox_submission *other = n == number ? NULL : at(b, n);

        if (other && device_of(b, other) == device) /* handles of two devices may be the same */
            note_semaphores(b, other, n, number, a);
    }
    return a;
}

void awaited_free(struct awaited *a)
{
    if (a)
        map_finish(&a->index);
    free(a);
}
