/* SPDX-License-Identifier: MIT */
/* check.h: contracts that are executed.
 *
 *     static void ring_check(const struct ring *r)
 *     {
 *         INVARIANT(r->tail <= r->head);                      // 1: nothing is read before it was written
 *         INVARIANT(r->head - r->tail <= r->size);            // 2
 *     }
 *
 * A file whose head numbers invariants has one x_check() that states them, called at entry and exit of its public functions,
 * with the locks held that make them true. An INVARIANT says what our own code guarantees: no guest, client, peer or
 * file can make one false (what they send is refused with an error, base/error.h). It is cheap, has no side effects, and does
 * not stand where it would run for each byte or pixel.
 *
 * One that is false:
 *  - in every build but a release (meson's buildtype; b_ndebug=if-release): one line to standard error,
 *        src/gpu/ring.c:31: broken invariant: r->tail <= r->head
 *    and abort(), so that tests and fuzzers stop where it happened;
 *  - in a release (NDEBUG): logged as an error the first time at each place, counted each time; the program goes on. A service
 *    that draws for others does not die of a doubt.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* One place in the source where an invariant stands. */
struct check_site {
    const char *file, *text;
    unsigned line;
    unsigned broken; /* how often; written by check_broken alone */
};

#define INVARIANT(cond)                                                                                      \
    do {                                                                                                     \
        if (__builtin_expect(!(cond), 0)) {                                                                  \
            static struct check_site site_ = {__FILE__, #cond, __LINE__, 0};                                 \
            check_broken(&site_);                                                                            \
        }                                                                                                    \
    } while (0)

/* What a false INVARIANT calls. Any thread. */
void check_broken(struct check_site *site);
/* How often an invariant was false in this process: 0, or the build is a release and has a bug. */
unsigned check_broken_count(void);

#ifdef __cplusplus
}
#endif
