/* SPDX-License-Identifier: MIT */
/* explore.h: one life of the whole stack in virtual time, with clients and faults drawn from a seed, and what may never
 * happen (docs/design.md) checked all along.
 *
 * Clients, in half of the lives some of them strangers (dxgkrnl/strangers), a saboteur and an observer are coroutines of the kernel; they reach the stack through D3DKMT thunks, as
 * programs do, and through the host's fault hooks. The executor is the sim machine's model of its timing.
 *
 * Promises that are checked:
 *  1. What a context queued completes once and in order: its progress never goes back or past what was queued, nothing is
 *     left when it is idle, and its event was signalled as often as asked for, each time after the work before it.
 *  2. SubmitCommand takes no time, and no routine waits where it may not (dxgkrnl's own rules).
 *  3. The device's vblanks come at their rate whatever happens; a flip completes on a vblank after it was asked for, and n
 *     flips take as many vblanks as their intervals say.
 *  4. Bad calls get their one exact status, and disturb nobody.
 *  5. A removed device stays removed, and a new one works.
 *  6. The miniport answers an escape at any time, at once.
 *  And at the end: nothing is left of memory, objects or threads; the adapter failed only where it was made to.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct explore_params {
    uint64_t seed;
    unsigned clients;   /* 0: 1 to 64, from the seed */
    uint64_t length_ns; /* of virtual time; 0: from the seed */
    bool calm;          /* no faults */
    bool steady;        /* clients present at every vblank and do nothing else */
    bool verbose;       /* the event log on standard error */
};

struct explore_result {
    char broken[300]; /* the promise that did not hold, and where; "" for none */
    uint64_t virtual_ns, renders, presents, vblanks, removed, recoveries, injected, escapes;
    bool failed; /* the adapter did, as it was made to */
};

/* 0, or -EBADE with a sentence in `broken`. */
int sim_explore(const struct explore_params *p, struct explore_result *out);
