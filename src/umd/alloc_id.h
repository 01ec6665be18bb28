/* SPDX-License-Identifier: MIT */
/* alloc_id.h: names of allocations. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>
#include <x86intrin.h>

#include "aerogpu/alloc.h"

/* Not 0, and new in the file that calls it: a counter, mixed with a seed of its own, so that two processes hardly meet. Any thread. */
static inline uint32_t umd_make_alloc_id(void)
{
    static atomic_uint counter;
    static _Atomic uint64_t seed;

    for (;;) {
        uint64_t none = 0, z;

        if (!atomic_load(&seed))
            atomic_compare_exchange_strong(&seed, &none, __rdtsc() << 20 | (uint32_t)getpid() | 1);
        z = (atomic_load(&seed) + atomic_fetch_add(&counter, 1)) * UINT64_C(0x9E3779B97F4A7C15);
        z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
        z = (z ^ z >> 31) & AEROGPU_ALLOC_ID_UMD_MAX;
        if (z)
            return (uint32_t)z;
    }
}
