#include "base/clock.h"

#include <assert.h>
#include <time.h>

void clock_init_live(struct clock *c)
{
    *c = (struct clock){.is_virtual = false};
}

void clock_init_virtual(struct clock *c, uint64_t start_ns)
{
    *c = (struct clock){.is_virtual = true, .virtual_ns = start_ns};
}

uint64_t clock_now(const struct clock *c)
{
    struct timespec ts;

    if (c->is_virtual)
        return c->virtual_ns;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

void clock_advance_to(struct clock *c, uint64_t ns)
{
    assert(c->is_virtual);
    if (ns > c->virtual_ns)
        c->virtual_ns = ns;
}
