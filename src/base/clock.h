/* clock.h: where time comes from.
 *
 * Code between D3DKMT and the executor reads time from a `struct clock` only. There are two: the live one reads
 * CLOCK_MONOTONIC, the virtual one holds a number that whoever owns it moves forward.
 *
 * Invariant: a clock never goes back.
 */
#ifndef BASE_CLOCK_H_
#define BASE_CLOCK_H_

#include <stdbool.h>
#include <stdint.h>

#define NSEC_PER_SEC  UINT64_C(1000000000)
#define NSEC_PER_MSEC UINT64_C(1000000)
#define NSEC_PER_USEC UINT64_C(1000)

struct clock {
    bool is_virtual;
    uint64_t virtual_ns; /* the time, if is_virtual */
};

void clock_init_live(struct clock *c);
void clock_init_virtual(struct clock *c, uint64_t start_ns);

/* Nanoseconds since an arbitrary origin. */
uint64_t clock_now(const struct clock *c);

/* Moves a virtual clock to `ns`; earlier times are ignored. Calling it on a live clock is a programming error. */
void clock_advance_to(struct clock *c, uint64_t ns);

#endif
