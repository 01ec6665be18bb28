/* SPDX-License-Identifier: MIT */
/* map.h: a number to a number or a pointer, by open addressing.
 *
 * 1. Every key is legal, 0 too. Zero-initialised is empty and owns no memory.
 * 2. A slot that map_put() or map_find() returned stays where it is until the next map_put() or map_remove().
 * 3. At most three quarters of the slots are in use. A removed key leaves no trace: what comes after it moves up.
 *
 * Keys are spread by a multiplication, which neither hides nor survives an adversary: where a stranger chooses the keys,
 * bound their number.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
    uint64_t key;
    uint64_t value;
};

struct map {
    struct map_slot *slots; /* free where the key is 0 */
    size_t num;             /* keys, 0 included */
    unsigned bits;          /* of the number of slots, while there are any */
    bool has_zero;
    uint64_t zero; /* the value of key 0 */
};

/* The value of `key`, or NULL. */
uint64_t *map_find(const struct map *m, uint64_t key);
/* The same, made with value 0 if there was none; NULL without memory, and then nothing has changed. */
uint64_t *map_put(struct map *m, uint64_t key);
/* Whether it was there. */
bool map_remove(struct map *m, uint64_t key);
/* One key after the other, in no order: `*at` begins as 0. False after the last one. The map must not change meanwhile. */
bool map_next(const struct map *m, size_t *at, struct map_slot *out);
void map_finish(struct map *m);

/* For values that are pointers: NULL where there is none. */
static inline void *map_pointer(const struct map *m, uint64_t key)
{
    const uint64_t *value = map_find(m, key);

    return value ? (void *)(uintptr_t)*value : NULL;
}
