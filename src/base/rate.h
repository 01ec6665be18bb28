/* SPDX-License-Identifier: MIT */
/* rate.h: how often something may happen for as long as somebody makes it happen: so many times at once, then so many a second. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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

enum { RATES = 256, RATE_NAME = 40 };

/* Rates by name, as of "event 7 of user 1000": who uses up one's own leaves the others theirs. */
struct rates {
    struct {
        char name[RATE_NAME]; /* cut to fit */
        struct rate rate;
    } of[RATES]; /* the last one is that of all for whom there is no room */
};

/* The rate of that name. The place of one that has rested long enough to be as new is taken by another. */
static inline struct rate *rates_of(struct rates *r, const char *name, uint64_t now_ns)
{
    unsigned to = RATES - 1;

    for (unsigned i = 0; i < RATES - 1; i++) {
        if (!strncmp(r->of[i].name, name, RATE_NAME - 1))
            return &r->of[i].rate;
        if (to == RATES - 1 && r->of[i].rate.paid_ns <= now_ns && !r->of[i].rate.missed)
            to = i;
    }
    if (to < RATES - 1) {
        snprintf(r->of[to].name, RATE_NAME, "%s", name);
        r->of[to].rate = (struct rate){0};
    }
    return &r->of[to].rate;
}
