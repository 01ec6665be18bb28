/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/display/grid.h"

#include "base/check.h"
#include "base/clock.h"

enum { GRID_WINDOW = 16 };
/* A notification so much before its point is taken for it: the phase is found anew. */
#define GRID_EARLY NSEC_PER_MSEC

void dxgk_grid_restart(struct grid *g, uint32_t numerator, uint32_t denominator)
{
    *g = (struct grid){.period_ns = numerator ? NSEC_PER_SEC * denominator / numerator : NSEC_PER_SEC / 60};
}

uint64_t dxgk_grid_number(const struct grid *g, uint64_t time_ns, uint64_t last)
{
    if (!g->ns || time_ns < g->ns)
        return last;
    return g->number + (time_ns - g->ns) / g->period_ns;
}

uint64_t dxgk_grid_zero(const struct grid *g)
{
    return g->ns - g->number * g->period_ns;
}

uint64_t dxgk_grid_notice(struct grid *g, uint64_t time_ns, uint64_t last)
{
    uint64_t number = last + 1, late;

    INVARIANT(g->period_ns && g->count < GRID_WINDOW);
    if (g->ns) {
        number = dxgk_grid_number(g, time_ns + GRID_EARLY, last);
        g->ns += (number - g->number) * g->period_ns;
    } else {
        g->ns = time_ns;
        g->least = 0;
        g->count = 0;
    }
    g->number = number;
    if (time_ns < g->ns)
        g->ns = time_ns;
    INVARIANT(g->ns <= time_ns && number >= g->number);
    late = time_ns - g->ns;
    if (!g->count || late < g->least)
        g->least = late;
    if (++g->count == GRID_WINDOW) {
        g->ns += g->least;
        g->count = 0;
    }
    return number;
}
