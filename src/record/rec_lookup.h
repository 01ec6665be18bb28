/* SPDX-License-Identifier: MIT */
/* rec_lookup.h: nodes by the address that they begin with, found without a lock: every recorded call looks up its object.
 *
 * This is why it is no base/map.h: readers go on while another thread adds.
 *  1. A node is never removed or freed, and its address never changes.
 *  2. Growing publishes a new table and keeps the old one for readers that are still in it: no more than once the memory again.
 *  3. Who adds holds a lock of its own. At most half of the slots are in use. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rec_slots {
    size_t mask;
    struct rec_slots *older; /* what it replaced, for readers that are still in it */
    void *_Atomic at[];
};

struct rec_lookup { /* zero-initialised is empty */
    _Atomic(struct rec_slots *) slots;
    size_t num;
};

static inline size_t rec_lookup_hash(const void *address)
{
    return (size_t)(((uint64_t)(uintptr_t)address >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20);
}

/* The node that begins with this address, or NULL. */
static inline __attribute__((always_inline)) void *rec_lookup_find(struct rec_lookup *l, const void *address)
{
    struct rec_slots *s = atomic_load_explicit(&l->slots, memory_order_acquire);

    if (!s)
        return NULL;
    for (size_t i = rec_lookup_hash(address);; i++) {
        void *node = atomic_load_explicit(&s->at[i & s->mask], memory_order_acquire);

        if (!node || *(void **)node == address)
            return node;
    }
}

/* Adds a node that is not there. False without memory. */
bool rec_lookup_add(struct rec_lookup *l, void *node);
