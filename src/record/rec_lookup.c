/* SPDX-License-Identifier: MIT */
#include "record/rec_lookup.h"

#include <stdlib.h>

#include "base/check.h"

static void insert(struct rec_slots *s, void *node)
{
    size_t i = rec_lookup_hash(*(void **)node);

    while (atomic_load_explicit(&s->at[i & s->mask], memory_order_relaxed))
        i++;
    atomic_store_explicit(&s->at[i & s->mask], node, memory_order_release);
}

bool rec_lookup_add(struct rec_lookup *l, void *node)
{
    struct rec_slots *old = atomic_load(&l->slots), *s = old;

    if (!s || 2 * (l->num + 1) > s->mask) {
        size_t n = old ? 2 * (old->mask + 1) : 256;

        s = calloc(1, sizeof(*s) + n * sizeof(s->at[0]));
        if (!s)
            return false;
        s->mask = n - 1;
        s->older = old;
        for (size_t i = 0; old && i <= old->mask; i++)
            if (old->at[i])
                insert(s, old->at[i]);
        atomic_store_explicit(&l->slots, s, memory_order_release);
    }
    insert(s, node);
    l->num++;
    INVARIANT(2 * l->num <= s->mask + 1);
    return true;
}
