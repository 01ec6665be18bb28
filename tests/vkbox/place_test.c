/* SPDX-License-Identifier: MIT */
/* How long the threads of a process ran between two looks. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "place.h"
#include "test.h"

static uint64_t thread_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void burn(uint64_t ns)
{
    for (uint64_t end = thread_ns() + ns; thread_ns() < end;)
        ;
}

struct worker {
    pthread_t thread;
    atomic_bool burnt, end;
};

static void *work(void *arg)
{
    struct worker *w = arg;

    burn(100000000);
    w->burnt = true;
    while (!w->end)
        usleep(1000);
    return NULL;
}

static void begin(struct worker *w)
{
    assert_int_equal(pthread_create(&w->thread, NULL, work, w), 0);
    while (!w->burnt)
        usleep(1000);
}

static void end(struct worker *w)
{
    w->end = true;
    assert_int_equal(pthread_join(w->thread, NULL), 0);
}

TEST(a_thread_that_ends_takes_nothing_from_the_others)
{
    static struct place_times from, to;
    struct worker ends = {0}, begins = {0};
    struct place_span span;

    begin(&ends);
    assert_true(place_times(getpid(), &from));
    end(&ends);
    begin(&begins);
    assert_true(place_times(getpid(), &to));
    place_times_between(&from, &to, &span);
    assert_in_range(span.ran_ns, 50000000, 10000000000);
    assert_in_range(span.held_ns, 0, 600000000000);
    end(&begins);
}

TEST(no_process_has_no_threads)
{
    static struct place_times from, to;
    struct place_span span = {1, 1, 1};

    assert_false(place_times(0x7fffffff, &from));
    assert_false(place_times(0x7fffffff, &to));
    place_times_between(&from, &to, &span);
    assert_int_equal(span.ran_ns, 0);
    assert_int_equal(span.held_ns, 0);
}
