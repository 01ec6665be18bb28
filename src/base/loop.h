/* SPDX-License-Identifier: MIT */
/* loop.h: the event loop of virtual time: timers, run in the order of their deadlines.
 *
 *   loop_run_once ──▶ the clock moves to the earliest deadline ──▶ due timers (ties: armed first) ──▶ return
 *
 * What runs live has threads of its own, and no loop.
 *
 * Invariants:
 *  1. A timer's callback never runs before its deadline on the loop's clock.
 *  2. The loop never sleeps: it moves the clock to the next deadline instead.
 *  3. Callbacks may arm, cancel and destroy anything, themselves included.
 *  4. A loop belongs to one thread.
 */
#pragma once

#include <stdint.h>

#include "base/clock.h"
#include "base/public.h"

PUBLIC_BEGIN

#define LOOP_FOREVER UINT64_MAX

struct loop;

/* A timer is the caller's memory; zero-initialised is disarmed. The fields are the loop's. */
struct loop_timer {
    void (*fn)(void *ctx);
    void *ctx;
    uint64_t deadline_ns;
    uint64_t order;
    uint32_t slot; /* index in the heap + 1, 0 while disarmed */
};

/* 0, -ENOMEM, or -EINVAL for a clock that is not virtual. `clock` must outlive the loop. */
int loop_create(struct loop **out, struct clock *clock);
void loop_destroy(struct loop *loop);

/* (Re)arms `t` for the absolute time `deadline_ns` of the loop's clock. 0 or -ENOMEM. */
int loop_arm(struct loop *loop, struct loop_timer *t, uint64_t deadline_ns, void (*fn)(void *ctx), void *ctx);
void loop_cancel(struct loop *loop, struct loop_timer *t);

/* Runs what is due next, if that is not after `until_ns` (clock time; LOOP_FOREVER for no limit), and returns the number of
 * callbacks run: 0 once nothing is armed before `until_ns`, with the clock moved to `until_ns` unless that is LOOP_FOREVER. */
int loop_run_once(struct loop *loop, uint64_t until_ns);

PUBLIC_END
