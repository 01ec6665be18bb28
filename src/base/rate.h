/* SPDX-License-Identifier: MIT */
/* rate.h: how often something may happen for as long as somebody makes it happen: so many times at once, then so many a second. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rate {
    uint64_t paid_ns; /* up to when it has been used */
    uint64_t missed;  /* that were too many since the last that was not */
};

/* Whether it may happen now: `burst` times, and once each `each_ns` besides. The caller takes `missed` back to 0 when he has said it. */
static inline bool rate_allows(struct rate *r, uint64_t now_ns, uint64_t each_ns, unsigned burst)
{
    if (r->paid_ns < now_ns)
        r->paid_ns = now_ns;
    if (r->paid_ns - now_ns > burst * each_ns) {
        r->missed++;
        return false;
    }
    r->paid_ns += each_ns;
    return true;
}
