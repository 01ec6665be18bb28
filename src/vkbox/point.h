/* SPDX-License-Identifier: MIT */
/* point.h: the word that the device writes at a point.
 *
 * Not the point's number, which any stray store may happen to write: a permutation of it, by a secret of the record and by the
 * recording. What is no point of the recording was written by something else, and proves nothing. Whoever reads the secret, or puts a
 * word back that was there before, can say what he likes: whatever runs in the process can.
 */
#pragma once

#include <stdbool.h>

#include "vkbox/box.h"

enum { POINT_ROUNDS = 4 };
#define POINT_OVERWRITTEN UINT32_MAX

static inline uint64_t point_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline uint64_t point_key(const struct vkbox *b, uint32_t slot)
{
    return point_mix(b->secret +
                     ((uint64_t)slot << 32 |
                      atomic_load_explicit(&b->command_buffers[slot].recording, memory_order_relaxed)));
}

/* A Feistel network over the two halves. */
static inline uint32_t point_word(const struct vkbox *b, uint32_t slot, uint32_t number)
{
    const uint64_t key = point_key(b, slot);
    uint32_t left = number >> 16, right = number & 0xffff;

    for (uint32_t i = 0; i < POINT_ROUNDS; i++) {
        uint32_t next = left ^ (uint32_t)(point_mix(key ^ (uint64_t)i << 16 ^ right) & 0xffff);

        left = right;
        right = next;
    }
    return left << 16 | right;
}

/* From 0 (it has not begun) to the points of the command buffer, or POINT_OVERWRITTEN. */
static inline uint32_t point_number(const struct vkbox *b, uint32_t slot, uint32_t word)
{
    const uint64_t key = point_key(b, slot);
    uint32_t left = word >> 16, right = word & 0xffff, number;

    for (uint32_t i = POINT_ROUNDS; i--;) {
        uint32_t before = right ^ (uint32_t)(point_mix(key ^ (uint64_t)i << 16 ^ left) & 0xffff);

        right = left;
        left = before;
    }
    number = left << 16 | right;
    return number <= b->command_buffers[slot].points ? number : POINT_OVERWRITTEN;
}

/* Whether the device wrote the last one. */
static inline bool point_is_last(const struct vkbox *b, uint32_t slot, uint32_t word)
{
    return point_number(b, slot, word) == b->command_buffers[slot].points;
}
