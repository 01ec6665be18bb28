/* SPDX-License-Identifier: MIT */
/* threads.h: a scheduler of threads under test. Real threads, of which one runs at a time; whenever one takes or gives up a lock,
 * signals, waits or asks for the time, a seed decides who goes on, and whether time passes. What the seed decides is
 * what happens: a failing seed fails again.
 *
 * It stands in for the pthread, epoll, timerfd, eventfd and clock functions that the code under test calls (--wrap, see
 * meson.build), as far as that code uses them: mutexes (recursive ones, too), condition variables, one edge-triggered epoll
 * descriptor whose events go to one waiter, the one that came last. Time is virtual.
 *
 * It ends the process with 1, and says why, who waits for what, and what happened last, when
 *  - a thread takes a lock that it holds already, and that is not recursive;
 *  - all threads wait, and nothing will ever happen (a deadlock, or a wake-up that was lost);
 *  - a life does not end within a million steps.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The calling thread becomes the first one of a life that `seed` decides. */
void threads_begin(uint64_t seed);
/* All other threads have been joined. */
void threads_end(void);

/* As pthread_create and pthread_join; `name` is for messages. */
void threads_start(int id, const char *name, void *(*fn)(void *ctx), void *ctx);
void threads_join(int id);

/* A number below `n`, of the seed's. */
uint64_t threads_random(uint64_t n);
uint64_t threads_now(void);

/* At `at_ns`, fn(ctx) is called between two steps of the threads; it must not wait. */
void threads_at(uint64_t at_ns, void (*fn)(void *ctx), void *ctx);
/* What the descriptor `fd`, which the epoll descriptor watches, shows: readable anew, or not any more. */
void threads_event(int fd);
void threads_no_event(int fd);

/* Says what broke, and ends the process as above. */
void threads_must(bool ok, const char *what);
