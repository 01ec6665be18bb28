/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/strbuf.h"

enum { BREAKS_AT = __LINE__ + 5 };

static void break_twice(void)
{
    for (int i = 0; i < 2; i++)
        INVARIANT(i > 7);
}

/* What the child prints, and how it ends: this program is built twice, the second time as a release is. */
TEST(a_broken_invariant_is_said_and_ends_the_program_unless_it_is_a_release)
{
    char text[512] = "", expected[80], *line;
    int fds[2], status;
    ssize_t n;
    pid_t pid;

    assert_int_equal(pipe(fds), 0);
    pid = fork();
    if (!pid) {
        dup2(fds[1], 2);
        signal(SIGABRT, SIG_DFL);
        break_twice();
        _exit((int)check_broken_count());
    }
    close(fds[1]);
    for (size_t at = 0; (n = read(fds[0], text + at, sizeof(text) - 1 - at)) > 0;)
        at += (size_t)n;
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    snprintf(expected, sizeof(expected), "check_test.c:%d: broken invariant: i > 7\n", BREAKS_AT);
    line = strstr(text, expected);
    assert_non_null(line);
    assert_null(strstr(line + strlen(expected), "broken"));
#ifdef NDEBUG
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 2);
    assert_memory_equal(text, "aerogpu: check: error: ", 23);
#else
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
#endif
}

TEST(a_true_one_costs_nothing)
{
    INVARIANT(state != NULL);
    assert_int_equal(check_broken_count(), 0);
}

static void nothing(void *ctx)
{
}

/* Arms more timers than the heap's first size. */
static int run_a_loop(void *ctx)
{
    struct loop_timer timers[40] = {0};
    struct clock clock;
    struct loop *loop;
    int err;

    clock_init_virtual(&clock, 0);
    err = loop_create(&loop, &clock);
    if (err)
        return err;
    for (int i = 0; !err && i < 40; i++)
        err = loop_arm(loop, &timers[i], (uint64_t)i, nothing, NULL);
    while (!err && loop_run_once(loop, LOOP_FOREVER))
        ;
    loop_destroy(loop);
    return err;
}

TEST(a_loop_without_memory_says_so)
{
    assert_true(alloc_fail_each(run_a_loop, NULL) >= 3);
}

static int fill_a_buffer(void *ctx)
{
    struct strbuf s = {0};

    for (int i = 0; i < 5000; i++)
        strbuf_printf(&s, "%d,", i);
    int err = strbuf_failed(&s) ? -ENOMEM : 0;
    strbuf_finish(&s);
    return err;
}

TEST(a_buffer_without_memory_says_so)
{
    assert_true(alloc_fail_each(fill_a_buffer, NULL) >= 2);
}
