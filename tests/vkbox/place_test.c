/* SPDX-License-Identifier: MIT */
/* How long the threads of a process ran between two looks. */
#include <gnu/libc-version.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vkbox/run/place.h"
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

TEST(what_lies_behind_ten_thousand_mappings_is_found)
{
    enum { MAPPINGS = 10000 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *at = mmap(NULL, MAPPINGS * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct place place;
    char what[160];

    assert_true(at != MAP_FAILED);
    for (size_t i = 0; i < MAPPINGS; i += 2)
        assert_int_equal(mprotect(at + i * page, page, PROT_READ), 0);
    place_of(getpid(), (uintptr_t)&gnu_get_libc_version, 0, &place);
    assert_memory_equal(place.text, "libc", 4);
    place_mapped(getpid(), (uintptr_t)at + (MAPPINGS - 2) * page, what);
    assert_string_equal(what, "memory (r--)");
    place_mapped(getpid(), (uintptr_t)at + (MAPPINGS - 3) * page, what);
    assert_string_equal(what, "memory (---)");
    place_mapped(getpid(), 1, what);
    assert_string_equal(what, "nothing");
    munmap(at, MAPPINGS * page);
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

/* The kernel counts a wait when it is over: who is ready may have waited for long. */
TEST(who_could_run_is_ready)
{
    static struct place_times none, spinning, sleeping;
    pid_t spins = fork(), sleeps = spins ? fork() : 0;
    struct place_span span;

    while (!spins)
        ;
    while (!sleeps)
        pause();
    assert_true(spins > 0 && sleeps > 0);
    do
        assert_true(place_times(sleeps, &sleeping) && sleeping.num_threads == 1);
    while (sleeping.threads[0].ready); /* it has not got there yet */
    assert_true(place_times(spins, &spinning));
    place_times_between(&none, &spinning, &span);
    assert_true(span.ready);
    place_times_between(&none, &sleeping, &span);
    assert_false(span.ready);
    kill(spins, SIGKILL);
    kill(sleeps, SIGKILL);
    assert_int_equal(waitpid(spins, NULL, 0), spins);
    assert_int_equal(waitpid(sleeps, NULL, 0), sleeps);
}

TEST(who_was_kept_from_running_was_not_let_run)
{
    const uint64_t ms = 1000000;
    static const struct {
        struct place_span span; /* of 2000 ms, in ms */
        bool let;
    } rows[] = {{{.ran_ns = 0}, true},                                    /* all of them sleep */
                {{.ran_ns = 900, .most_ns = 500, .held_ns = 400}, true},  /* others are at work as well */
                {{.ran_ns = 900, .most_ns = 500, .held_ns = 401}, false}, /* and too much so */
                {{.ran_ns = 100, .most_ns = 50, .held_ns = 900}, true}, /* and yet all slept for a time-out */
                {{.ran_ns = 101, .most_ns = 50, .held_ns = 900}, false},
                {{.ran_ns = 0, .ready = true}, false},                    /* it may wait since the begin */
                {{.ran_ns = 999, .most_ns = 999, .ready = true}, false},  /* nearly all */
                {{.ran_ns = 1000, .most_ns = 1000, .ready = true}, true}, /* it spins */
                {{.ran_ns = 1000, .most_ns = 1000, .held_ns = 5000, .ready = true}, true}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct place_span s = rows[i].span;

        s.ran_ns *= ms;
        s.most_ns *= ms;
        s.held_ns *= ms;
        assert_int_equal(place_let_run(&s, 2000 * ms, 1000 * ms), rows[i].let);
    }
}

TEST(no_process_has_no_threads)
{
    static struct place_times from, to;
    struct place_span span = {.ran_ns = 1, .held_ns = 1};

    assert_false(place_times(0x7fffffff, &from));
    assert_false(place_times(0x7fffffff, &to));
    place_times_between(&from, &to, &span);
    assert_int_equal(span.ran_ns, 0);
    assert_int_equal(span.held_ns, 0);
}
