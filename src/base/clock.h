/* SPDX-License-Identifier: MIT */
/* clock.h: where time comes from.
 *
 * Code between D3DKMT and the executor reads time from a `struct clock` only. There are two: the live one reads
 * CLOCK_MONOTONIC, the virtual one holds a number that whoever owns it moves forward.
 *
 * Invariant: a clock never goes back.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC  UINT64_C(1000000000)
#define NSEC_PER_MSEC UINT64_C(1000000)
#define NSEC_PER_USEC UINT64_C(1000)

struct clock {
    bool is_virtual;
    uint64_t virtual_ns; /* the time, if is_virtual */
};

static inline void clock_init_live(struct clock *c)
{
    c->is_virtual = false;
    c->virtual_ns = 0;
}

static inline void clock_init_virtual(struct clock *c, uint64_t start_ns)
{
    c->is_virtual = true;
    c->virtual_ns = start_ns;
}

#ifdef CLOCK_MONOTONIC /* ISO C alone has no such clock */
/* Nanoseconds since an arbitrary origin. */
static inline uint64_t clock_now(const struct clock *c)
{
    struct timespec ts;

    if (c->is_virtual)
        return c->virtual_ns;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}
#endif

/* Moves a virtual clock to `ns`; earlier times are ignored. Calling it on a live clock is a programming error. */
static inline void clock_advance_to(struct clock *c, uint64_t ns)
{
    assert(c->is_virtual);
    if (ns > c->virtual_ns)
        c->virtual_ns = ns;
}
