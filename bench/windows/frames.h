/* SPDX-License-Identifier: MIT */
/* frames.h: how the Windows programs of this folder take their time; each is one source. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "base/windows/linux_call.h"

enum { FRAMES_MOST = 200, FRAMES_WARM = 3, FRAMES_THREAD_TIME = 3 };

static inline double frames_clock(int clock)
{
    struct timespec t;

    linux_clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static inline int frames_lower(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static inline double frames_median(double *values, unsigned count)
{
    qsort(values, count, sizeof(*values), frames_lower);
    return values[count / 2];
}

/* The exit status of a program that cannot go on, and says why. */
static inline int frames_fail(const char *what, unsigned hr)
{
    fprintf(stderr, "%s: 0x%08x\n", what, hr);
    return 4;
}

/* Draws `count` frames of `draws` draws, after some that do not count, and prints milliseconds of a frame: processor time of this thread,
 * and of the clock; medians. The exit status. */
static inline int frames_take(void (*frame)(unsigned draws), unsigned draws, unsigned count)
{
    static double cpu[FRAMES_MOST], wall[FRAMES_MOST];

    if (!count || count > FRAMES_MOST)
        return frames_fail("so many frames are not taken", count);
    for (unsigned i = 0; i < count + FRAMES_WARM; i++) {
        const double from_cpu = frames_clock(FRAMES_THREAD_TIME), from_wall = frames_clock(CLOCK_MONOTONIC);

        frame(draws);
        if (i < FRAMES_WARM)
            continue;
        cpu[i - FRAMES_WARM] = frames_clock(FRAMES_THREAD_TIME) - from_cpu;
        wall[i - FRAMES_WARM] = frames_clock(CLOCK_MONOTONIC) - from_wall;
    }
    printf("cpu %.4f wall %.4f\n", frames_median(cpu, count), frames_median(wall, count));
    return 0;
}
