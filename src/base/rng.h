/* SPDX-License-Identifier: MIT */
/* rng.h: seeded random numbers (splitmix64): the same seed gives the same run on every machine. */
#pragma once

#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t z = (r->state += UINT64_C(0x9E3779B97F4A7C15));

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Uniform in [0, n); 0 if n is 0. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
    return n ? (uint64_t)(((__uint128_t)rng_next(r) * n) >> 64) : 0;
}
