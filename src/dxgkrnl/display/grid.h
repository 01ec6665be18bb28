/* SPDX-License-Identifier: MIT */
/* grid.h: the grid of vblanks.
 *
 * A notification may be lost, late or doubled, and says nothing of when its vblank was. So vblanks are numbered by a grid in
 * time: its period is the mode's, its phase that of the notification with the least delay among the last few. The number of
 * a notification is that of the last grid point before it; one that is not higher than the last is a repetition.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct grid {
    uint64_t period_ns;
    uint64_t ns, number; /* a point of the grid; ns is 0 while there is none */
    uint64_t least;
    unsigned count; /* notifications since the phase was last found, and the least delay among them */
};

/* Vblanks begin anew, at `numerator` / `denominator` a second (60 where that is nothing). */
void dxgk_grid_restart(struct grid *g, uint32_t numerator, uint32_t denominator);
/* Takes a notification in; its number, where `last` was the last one before. */
uint64_t dxgk_grid_notice(struct grid *g, uint64_t time_ns, uint64_t last);
/* The number of the last vblank at or before `time_ns`; `last` while there is no grid. */
uint64_t dxgk_grid_number(const struct grid *g, uint64_t time_ns, uint64_t last);
/* The time of number 0, modulo 2^64. */
uint64_t dxgk_grid_zero(const struct grid *g);
