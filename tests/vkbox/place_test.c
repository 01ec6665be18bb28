/* SPDX-License-Identifier: MIT */
/* How long the threads of a process ran between two looks. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
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

/* A process that spins, on the first processor that this one may use. */
static pid_t spin(int policy)
{
    const struct sched_param none = {0};
    cpu_set_t may, one;
    pid_t pid = fork();
    int cpu = 0;

    assert_true(pid >= 0);
    if (pid)
        return pid;
    alarm(60);
    sched_getaffinity(0, sizeof(may), &may);
    while (!CPU_ISSET(cpu, &may))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof(one), &one) || sched_setscheduler(0, policy, &none))
        _exit(1);
    for (;;)
        ;
}

static void finish(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* What is ready and gets no processor for a while has waited for nothing yet, as the kernel counts. */
TEST(who_waits_for_a_processor_just_now_is_held)
{
    pid_t hogs[] = {spin(SCHED_OTHER), spin(SCHED_OTHER)}, starved = spin(SCHED_IDLE), sleeps = fork();
    bool held = false;

    assert_true(sleeps >= 0);
    while (!sleeps)
        pause();
    for (int i = 0; i < 200 && !held; i++)
        held = place_held(starved);
    assert_true(held);
    assert_false(place_held(sleeps));
    assert_false(place_held(0x7fffffff));
    finish(starved);
    finish(sleeps);
    finish(hogs[0]);
    finish(hogs[1]);
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
