/* SPDX-License-Identifier: MIT */
/* array.h: arrays that grow.
 *
 * An array is a pointer, the number of items in use, and the number that there is room for. Room grows by half at the
 * least, so that appending n items one by one copies each a few times at most.
 */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Room for `n` items of `size` bytes in the array that `*(T **)items` points to; `*room` says how many there is room for
 * already. 0 or -ENOMEM, and then nothing has changed. */
static inline int array_grow(void *items, size_t *room, size_t n, size_t size)
{
    size_t want = *room + *room / 2;
    void *old, *grown;

    if (n <= *room)
        return 0;
    if (want < n)
        want = n < 8 ? 8 : n;
    if (want > SIZE_MAX / size)
        return -ENOMEM;
    memcpy(&old, items, sizeof(old));
    grown = realloc(old, want * size);
    if (!grown)
        return -ENOMEM;
    memcpy(items, &grown, sizeof(grown));
    *room = want;
    return 0;
}

/* array_reserve(a->items, a->room, a->num + 1): the same for a pointer and a size_t that are at hand. */
#define array_reserve(items, room, n) array_grow(&(items), &(room), (n), sizeof(*(items)))
