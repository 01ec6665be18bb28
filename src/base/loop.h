/* loop.h: the event loop: timers on a clock, and descriptors.
 *
 *   loop_run_once ──▶ due timers, earliest deadline first (ties: armed first) ──▶ ready descriptors ──▶ return
 *
 * Invariants:
 *  1. A timer's callback never runs before its deadline on the loop's clock.
 *  2. On a live clock the loop sleeps until the next deadline or descriptor; on a virtual clock it never sleeps: it moves
 *     the clock to the next deadline instead.
 *  3. Callbacks may arm, cancel and destroy anything, themselves included.
 *  4. A loop belongs to one thread; only loop_wake() may be called from others.
 */
#ifndef BASE_LOOP_H_
#define BASE_LOOP_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

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

struct loop_fd; /* one watched descriptor */

/* Returns 0 or a negative errno. `clock` must outlive the loop. */
int loop_create(struct loop **out, struct clock *clock);
void loop_destroy(struct loop *loop);
struct clock *loop_clock(struct loop *loop);

/* (Re)arms `t` for the absolute time `deadline_ns` of the loop's clock. 0 or -ENOMEM. */
int loop_arm(struct loop *loop, struct loop_timer *t, uint64_t deadline_ns, void (*fn)(void *ctx), void *ctx);
void loop_cancel(struct loop *loop, struct loop_timer *t);

/* Calls `fn` with the ready EPOLL* events of `events`. The descriptor stays the caller's. Live clocks only. */
int loop_add_fd(struct loop *loop, struct loop_fd **out, int fd, uint32_t events,
                void (*fn)(void *ctx, uint32_t events), void *ctx);
void loop_remove_fd(struct loop *loop, struct loop_fd *watch);

/* Runs what is due. Waits for something to do at most until `until_ns` (clock time; LOOP_FOREVER for no limit). On a
 * virtual clock, returns 0 once nothing is armed before `until_ns`, with the clock moved to `until_ns` unless that is
 * LOOP_FOREVER. Returns the number of callbacks run, or a negative errno. */
int loop_run_once(struct loop *loop, uint64_t until_ns);

/* Makes a running or the next loop_run_once return early. Any thread. */
void loop_wake(struct loop *loop);

#endif
