/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/file/png.h"
#include "base/program.h"
#include "base/rng.h"
#include "base/sched/schedstat.h"
#include "base/sched/slice.h"
#include "base/sched/signame.h"
#include "base/strbuf.h"
#include "base/utf8.h"

TEST(error_keeps_the_first_failure)
{
    struct error e = {0};

    assert_int_equal(error_set(&e, -EINVAL, "offset %d", 12), -EINVAL);
    assert_int_equal(error_set(&e, -EIO, "later"), -EIO);
    error_prefix(&e, "file %s", "x");
    assert_int_equal(e.code, -EINVAL);
    assert_string_equal(e.text, "file x: offset 12");
}

TEST(bytes_turn_bad_once)
{
    const uint8_t data[] = {1, 2, 3, 4, 5, 6, 7};
    struct bytes b = bytes_of(data, sizeof(data));

    assert_int_equal(bytes_u16(&b), 0x0201);
    assert_int_equal(bytes_u32(&b), 0x06050403);
    assert_int_equal(bytes_u16(&b), 0);
    assert_true(b.bad);
    assert_int_equal(b.pos, 6);
    assert_int_equal(bytes_u8(&b), 0); /* although one byte is left */
}

TEST(who_shares_processors_is_slowed)
{
    static const struct {
        struct schedstat from, to;
        uint64_t elapsed, slowed;
    } cases[] = {
        {{7, 10, 10, 4, false}, {7, 110, 10, 4, false}, 100, 0},   /* one ran */
        {{7, 10, 10, 4, false}, {7, 60, 60, 4, false}, 100, 50},   /* half of the time */
        {{7, 10, 10, 4, false}, {7, 30, 30, 4, false}, 100, 20},   /* and slept else */
        {{7, 10, 10, 4, false}, {7, 210, 10, 4, false}, 100, 0},   /* two on two */
        {{7, 10, 10, 4, false}, {7, 110, 110, 4, false}, 100, 50}, /* each half of the time */
        {{7, 10, 10, 4, false},
         {7, 210, 1410, 4, false},
         100,
         0}, /* sixteen fill both: they wait for each other */
        {{7, 10, 10, 4, false}, {7, 110, 1510, 4, false}, 100, 50},
        {{7, 10, 10, 4, false}, {8, 60, 60, 4, false}, 100, 0},
        {{7, 10, 10, 4, false}, {7, 5, 60, 4, false}, 100, 0},
        {{7, 10, 10, 4, false}, {7, 60, 60, 4, false}, 0, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(schedstat_slowed(&cases[i].from, &cases[i].to, cases[i].elapsed, 2),
                         cases[i].slowed);
}

TEST(who_waits_for_a_processor_starves)
{
    static const struct {
        struct schedstat from, to;
        uint64_t elapsed, starved;
    } cases[] = {
        {{7, 10, 10, 4, false}, {7, 110, 10, 4, false}, 100, 0},   /* it ran */
        {{7, 10, 10, 4, false}, {7, 10, 10, 4, false}, 100, 0},    /* it slept */
        {{7, 10, 10, 4, false}, {7, 10, 110, 4, false}, 100, 100}, /* it was not let run */
        {{7, 10, 10, 4, false}, {7, 10, 60, 4, false}, 100, 50},
        {{7, 10, 10, 4, false}, {7, 60, 410, 4, false}, 100, 50}, /* several threads wait, while one runs */
        {{7, 10, 10, 4, false}, {7, 210, 410, 4, false}, 100, 0},
        {{7, 10, 10, 4, false}, {8, 20, 60, 4, false}, 100, 0}, /* another process */
        {{7, 10, 10, 4, false}, {7, 5, 60, 4, false}, 100, 0},  /* a thread has ended */
        {{7, 10, 10, 4, false}, {7, 60, 5, 4, false}, 100, 0},
        {{7, 10, 10, 4, false}, {7, 10, 20, 4, true}, 100, 100}, /* it waits, since nobody knows when */
        {{7, 10, 10, 4, true}, {7, 60, 20, 4, true}, 100, 10},   /* it may as well run */
        {{7, 10, 10, 4, true}, {7, 10, 20, 5, true}, 100, 10},   /* it has just begun to run */
        {{7, 10, 10, 4, true}, {8, 10, 10, 4, true}, 100, 0},
    };
    struct schedstat before, after;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(schedstat_starved(&cases[i].from, &cases[i].to, cases[i].elapsed), cases[i].starved);
    if (!schedstat_read(getpid(), &before))
        skip(); /* a kernel without CONFIG_SCHED_INFO */
    for (volatile unsigned i = 0; i < 20000000; i++)
        continue;
    assert_true(schedstat_read(getpid(), &after));
    assert_int_equal(after.pid, getpid());
    assert_true(after.ran_ns > before.ran_ns && after.waited_ns >= before.waited_ns);
    assert_false(schedstat_read(0, &after));
}

/* Ready all the time, and let run when nobody else is. */
static void *idle_thread(void *stop)
{
    sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
    while (!atomic_load((atomic_bool *)stop))
        continue;
    return NULL;
}

TEST(who_starves_longest_counts)
{
    static struct schedlook before, after;
    atomic_bool stop = false;
    cpu_set_t all, one;
    pthread_t thread;
    uint64_t start, elapsed;
    struct clock clock;

    clock_init_live(&clock);
    schedlook_read(0, &before);
    if (!before.count)
        skip(); /* a kernel without CONFIG_SCHED_INFO */
    assert_int_equal(before.work.pid, 0);
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(pthread_create(&thread, NULL, idle_thread, &stop), 0); /* beside this one */
    usleep(10000);
    schedlook_read(getpid(), &before);
    start = clock_now(&clock);
    do
        elapsed = clock_now(&clock) - start;
    while (elapsed < NSEC_PER_SEC / 5);
    schedlook_read(getpid(), &after);
    atomic_store(&stop, true);
    pthread_setschedparam(thread, SCHED_OTHER, &(struct sched_param){0}); /* so that it sees that soon */
    pthread_setaffinity_np(thread, sizeof(all), &all);
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
    pthread_join(thread, NULL);
    assert_int_equal(before.work.pid, getpid());
    assert_int_equal(before.count, after.count);
    assert_true(after.count >= 2);
    before.work = after.work; /* which ran meanwhile */
    for (unsigned i = 0; i < after.count; i++)
        if (after.served[i].pid == getpid())
            before.served[i] = after.served[i];
    assert_true(schedlook_starved(&before, &after, elapsed) > elapsed / 2);
}

static void *slice_of_a_thread(void *out)
{
    *(uint64_t *)out = slice_of(0);
    return NULL;
}

TEST(a_short_slice_is_inherited_and_given_back)
{
    uint64_t usual = slice_of(0), of_another;
    int nice = getpriority(PRIO_PROCESS, 0);
    pthread_t t;

    if (!usual)
        skip(); /* Linux before 6.12 */
    assert_int_not_equal(usual, SLICE_SHORT);
    slice_set(SLICE_SHORT);
    assert_int_equal(slice_of(0), SLICE_SHORT);
    assert_int_equal(pthread_create(&t, NULL, slice_of_a_thread, &of_another), 0);
    pthread_join(t, NULL);
    assert_int_equal(of_another, SLICE_SHORT);
    assert_int_equal(getpriority(PRIO_PROCESS, 0), nice);
    slice_set(SLICE_USUAL);
    assert_int_equal(slice_of(0), usual);
}

struct tick {
    struct loop *loop;
    struct loop_timer timer;
    int id, *log, *n;
    uint64_t again_ns;
};

static void on_tick(void *ctx)
{
    struct tick *t = ctx;
    t->log[(*t->n)++] = t->id;
    if (t->again_ns) {
        uint64_t again = t->again_ns;
        t->again_ns = 0;
        loop_arm(t->loop, &t->timer, again, on_tick, t);
    }
}

TEST(virtual_loop_runs_timers_in_order)
{
    struct clock clock;
    struct loop *loop;
    int log[64], n = 0;
    struct tick t[20] = {0};
    struct rng rng = {7};
    uint64_t last = 0;

    clock_init_virtual(&clock, 100);
    assert_int_equal(loop_create(&loop, &clock), 0);
    for (int i = 0; i < 20; i++) {
        t[i] = (struct tick){.loop = loop, .id = i, .log = log, .n = &n};
        loop_arm(loop, &t[i].timer, 100 + rng_below(&rng, 50), on_tick, &t[i]);
    }
    t[3].again_ns = 1000;
    loop_cancel(loop, &t[5].timer);
    while (loop_run_once(loop, 500) > 0) {
        assert_true(clock_now(&clock) >= last);
        last = clock_now(&clock);
    }
    assert_int_equal(n, 19);
    for (int i = 0; i < n; i++)
        assert_int_not_equal(log[i], 5);
    for (int i = 1; i < n; i++)
        assert_true(t[log[i - 1]].timer.deadline_ns <= t[log[i]].timer.deadline_ns || log[i - 1] == 3);
    assert_int_equal(clock_now(&clock), 500);
    assert_int_equal(loop_run_once(loop, LOOP_FOREVER), 1);
    assert_int_equal(log[19], 3);
    assert_int_equal(clock_now(&clock), 1000);
    loop_destroy(loop);
}

TEST(a_loop_is_of_virtual_time)
{
    struct clock clock;
    struct loop *loop;

    clock_init_live(&clock);
    assert_int_equal(loop_create(&loop, &clock), -EINVAL);
}

TEST(png_files_round_trip)
{
    uint8_t px[2 * 3 * 4], *back;
    char path[] = "/tmp/aerogpu-png-XXXXXX";
    uint32_t w, h;
    struct error e = {0};

    for (size_t i = 0; i < sizeof(px); i++)
        px[i] = (uint8_t)(i * 11);
    close(mkstemp(path));
    assert_int_equal(png_file_write(path, px, 2, 3, 8, &e), 0);
    assert_int_equal(png_file_read(path, &back, &w, &h, &e), 0);
    assert_int_equal(w, 2);
    assert_int_equal(h, 3);
    assert_memory_equal(px, back, sizeof(px));
    free(back);
    unlink(path);
    assert_int_equal(png_file_read(path, &back, &w, &h, &e), -EIO);
    assert_non_null(strstr(e.text, path));
}

TEST(strbuf_grows)
{
    struct strbuf b = {0};

    for (int i = 0; i < 1000; i++)
        strbuf_printf(&b, "%03d,", i);
    assert_int_equal(b.len, 4000);
    assert_memory_equal(b.data + 4 * 777, "777,", 4);
    strbuf_finish(&b);
    assert_string_equal(strbuf_str(&b), "");
}

TEST(what_is_cut_says_so)
{
    char out[12], path[32];

    assert_int_equal(utf8_cut(out, sizeof(out), "eleven here", 11), 11);
    assert_string_equal(out, "eleven here");
    assert_int_equal(utf8_cut(out, sizeof(out), "twelve bytes", 12), 11);
    assert_string_equal(out, "twelve b\xE2\x80\xA6");
    utf8_cut(out, sizeof(out), "seven..\xC3\xA4 and more", 18); /* no half characters */
    assert_string_equal(out, "seven..\xE2\x80\xA6");
    utf8_path(path, sizeof(path), "frame/shadows/inner");
    assert_string_equal(path, "frame/shadows/inner");
    utf8_path(path, sizeof(path), "frame/a long name of a region/that/is inner");
    assert_string_equal(path, "\xE2\x80\xA6/that/is inner");
    utf8_path(path, sizeof(path), "frame/the last name alone is too long for it");
    assert_string_equal(path, "the last name alone is too l\xE2\x80\xA6");
}

TEST(what_is_printed_is_one_line)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    assert_non_null(f);
    utf8_print(f, "\nfile %s%s:\n%d\n\n", "a\nVERDICT\n", "\x1b[2K\r", 7);
    utf8_print(f, "%s", "\n");
    utf8_print(f, "\n");
    utf8_print(f, "%s: %s", "\xff", "it\n");
    fclose(f);
    assert_string_equal(
        text, "\nfile a<U+000A>VERDICT<U+000A><U+001B>[2K<U+000D>:<U+000A>7\n\n<U+000A>\n…: it<U+000A>");
    free(text);
}

TEST(floats_are_as_short_as_they_can_be)
{
    const float values[] = {0.1f, 1, -2.5f, 16777216, 1.0f / 3, 1e-45f, 3.4028235e38f};
    struct strbuf b = {0};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        strbuf_float(&b, values[i]);
        strbuf_puts(&b, " ");
    }
    assert_string_equal(strbuf_str(&b), "0.1 1 -2.5 16777216 0.33333334 1.4013e-45 3.4028235e+38 ");
    strbuf_finish(&b);
}

enum { PIPE_BYTES = 4096, LINES = 200 };

static ssize_t drain(int fd, char *text, size_t size)
{
    ssize_t n, all = 0;

    while ((n = read(fd, text + all, size - 1 - (size_t)all)) > 0)
        all += n;
    text[all] = '\0';
    return all;
}

/* A pipe of one page that nobody reads: lines beyond it are left out, counted, and the count is told once there is room. */
TEST(log_lines_that_nobody_reads_are_left_out)
{
    char text[2 * PIPE_BYTES], note[128];
    unsigned lines = 0;
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    assert_int_equal(fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES), PIPE_BYTES);
    assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    assert_true(log_can_write(fds[1], 0));
    log_to(fds[1]);
    log_error("test", "a name of two\nlines and \x1b[2K");
    drain(fds[0], text, sizeof(text));
    assert_string_equal(text, "aerogpu: test: error: a name of two?lines and ?[2K\n");
    for (int i = 0; i < LINES; i++) /* a writer that waits for its reader never gets past this */
        log_error("test", "line %d of many, with some text to fill the pipe", i);
    assert_false(log_can_write(fds[1], 0));
    drain(fds[0], text, sizeof(text));
    assert_ptr_equal(strstr(text, "aerogpu: test: error: line 0 of many"), text);
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        lines++;
    assert_in_range(lines, 1, LINES - 1);
    log_error("test", "somebody reads again");
    drain(fds[0], text, sizeof(text));
    snprintf(note, sizeof(note),
             "aerogpu: log: lines left out, because nobody read them: %u\naerogpu: test: error: somebody",
             LINES - lines);
    assert_ptr_equal(strstr(text, note), text);
    log_error("test", "the rest");
    assert_int_equal(drain(fds[0], text, sizeof(text)), strlen("aerogpu: test: error: the rest\n"));
    close(fds[0]);
    assert_false(log_can_write(fds[1], 0));
    log_error("test", "without a reader, and without a SIGPIPE");
    log_to(STDERR_FILENO);
    close(fds[1]);
}

/* What a shell would run runs, a script without an interpreter line too; what cannot be run says why. */
TEST(programs_are_started)
{
    char path[] = "/tmp/aerogpu-script-XXXXXX", *script[] = {path, NULL},
         *none[] = {(char[]){"/nowhere/at all"}, NULL};
    int status = 0, fd = mkstemp(path);
    pid_t pid;

    assert_int_equal(write(fd, "exit 7\n", 7), 7);
    assert_int_equal(fchmod(fd, 0700), 0);
    close(fd);
    pid = program_start(script, NULL, NULL);
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 7);
    unlink(path);
    assert_int_equal(program_start(none, NULL, NULL), -ENOENT);
}

TEST(signals_have_names)
{
    assert_string_equal(signal_name(SIGSEGV).text, "SIGSEGV");
    assert_string_equal(signal_name(SIGRTMIN).text, "SIGRTMIN");
    assert_string_equal(signal_name(SIGRTMIN + 3).text, "SIGRTMIN+3");
    assert_string_equal(signal_name(SIGRTMAX + 1).text, "signal 65");
    assert_string_equal(signal_name(0).text, "signal 0");
}
