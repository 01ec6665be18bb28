/* SPDX-License-Identifier: MIT */
/* What threads of a window did, event by event. */
#include "test.h"

#include <signal.h>

#include "cpu/capture/names.h"
#include "cpu/model/threads.h"
#include "cpu/model/trace.h"
#include "cpu/model/waits.h"

/* What is named as a stop's cause was sent before it, can stop, and was not taken back; later signals change nothing. */
TEST(a_stop_is_of_the_signal_before_it)
{
    enum { TID = 7, MOTHER = 5, OTHER = 6 };
    static const struct cpu_event events[] = {
        {.ns = 10, .kind = CPU_EV_SWITCH, .tid = 1, .a = 1, .b = 1, .c = TID},
        {.ns = 20, .kind = CPU_EV_SIGNAL, .cpu = 1, .tid = OTHER, .a = TID, .b = SIGTSTP},
        {.ns = 21, .kind = CPU_EV_SIGNAL, .cpu = 1, .tid = OTHER, .a = TID, .b = SIGCONT}, /* taken back */
        {.ns = 30, .kind = CPU_EV_SIGNAL, .cpu = 1, .tid = OTHER, .a = TID, .b = SIGUSR1},
        {.ns = 40, .kind = CPU_EV_SIGNAL, .cpu = 1, .tid = MOTHER, .a = TID, .b = SIGSTOP},
        {.ns = 41, .kind = CPU_EV_SIGNAL, .cpu = 1, .tid = OTHER, .a = TID, .b = SIGUSR2},
        {.ns = 50, .kind = CPU_EV_SWITCH, .tid = TID, .a = TID, .b = 4, .c = 1}, /* the longest */
        {.ns = 400, .kind = CPU_EV_SIGNAL, .cpu = 1, .tid = OTHER, .a = TID, .b = SIGTTIN},
        {.ns = 700, .kind = CPU_EV_SIGNAL, .cpu = 1, .tid = OTHER, .a = TID, .b = SIGCONT},
        {.ns = 701, .kind = CPU_EV_WAKEUP, .cpu = 1, .tid = OTHER, .a = TID, .b = 0},
        {.ns = 710, .kind = CPU_EV_SWITCH, .tid = 1, .a = 1, .b = 1, .c = TID},
        {.ns = 720, .kind = CPU_EV_SIGNAL, .cpu = 1, .tid = OTHER, .a = TID, .b = SIGTSTP},
        {.ns = 730, .kind = CPU_EV_SWITCH, .tid = TID, .a = TID, .b = 4, .c = 1}, /* a short one */
        {.ns = 1500, .kind = CPU_EV_SIGNAL, .cpu = 1, .tid = OTHER, .a = TID, .b = SIGKILL}};
    const struct cpu_window w = {
        .submit_ns = 5, .timeout_ns = 1000, .num_threads = 1, .threads = {{CPU_ROLE_EXECUTOR, TID, 0}}};

    for (size_t n = 6; n <= sizeof(events) / sizeof(events[0]); n++) { /* 6: no stop at all */
        struct cpu_threads t;
        assert_int_equal(cpu_threads_init(&t, &w, 2, NULL), 0);
        for (size_t i = 0; i < n; i++)
            cpu_threads_event(&t, &events[i]);
        cpu_threads_end(&t);
        assert_int_equal(t.list[0].longest_stop.signal, n == 6 ? 0 : SIGSTOP);
        assert_int_equal(t.list[0].longest_stop.from, n == 6 ? 0 : MOTHER);
        cpu_threads_finish(&t);
    }
}

/* Who is moved to another CPU waits for who runs there, not for what it left. */
TEST(who_is_moved_waits_elsewhere)
{
    enum { TID = 7, HOG = 9, FIRST = 5 };
    static const struct cpu_event events[] = {
        {.ns = 1, .kind = CPU_EV_SWITCH, .cpu = 1, .tid = 1, .a = 1, .b = 1, .c = HOG},
        {.ns = 10, .kind = CPU_EV_SWITCH, .tid = 1, .a = 1, .b = 1, .c = TID},
        {.ns = 99, .kind = CPU_EV_IRQ_ENTRY, .tid = TID, .a = CPU_IRQ_TIMER},
        {.ns = 100, .kind = CPU_EV_SWITCH, .tid = TID, .a = TID, .b = 0, .c = FIRST},
        {.ns = 200, .kind = CPU_EV_MIGRATE, .cpu = 1, .tid = HOG, .a = TID, .b = 1},
        {.ns = 200, .kind = CPU_EV_SWITCH, .tid = FIRST, .a = FIRST, .b = 1, .c = 0},
    };
    const struct cpu_window w = {
        .submit_ns = 5, .timeout_ns = 1000, .num_threads = 1, .threads = {{CPU_ROLE_EXECUTOR, TID, 0}}};
    struct cpu_threads t;

    assert_int_equal(cpu_threads_init(&t, &w, 2, NULL), 0);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        cpu_threads_event(&t, &events[i]);
    cpu_threads_end(&t);
    assert_int_equal(t.list[0].times.ns[CPU_THREAD_RUNNABLE], 900);
    assert_int_equal(t.list[0].nobody_ns, 0);
    assert_int_equal(t.list[0].gives, 0); /* an interrupt came before it was switched out */
    for (int i = 0; i < CPU_HOGS; i++)
        assert_int_equal(t.list[0].hogs[i].ns, t.list[0].hogs[i].tid == FIRST ? 100
                                               : t.list[0].hogs[i].tid == HOG ? 800
                                                                              : 0);
    cpu_threads_finish(&t);
}

/* A thread that is not its process's first has the first one's number after execve; before the submission it is a start. */
TEST(another_program_is_an_end)
{
    enum { FIRST = 7, SECOND = 8 };
    const struct cpu_window w = {.submit_ns = 100,
                                 .timeout_ns = 1000,
                                 .num_threads = 2,
                                 .threads = {{CPU_ROLE_EXECUTOR, FIRST, 0}, {CPU_ROLE_EXECUTOR, SECOND, 0}}};

    for (uint64_t when = 50; when <= 500; when += 450) {
        const struct cpu_event events[] = {
            {.ns = 10, .kind = CPU_EV_SWITCH, .tid = 1, .a = 1, .b = 1, .c = SECOND},
            {.ns = when, .kind = CPU_EV_EXEC, .tid = FIRST, .a = FIRST, .b = SECOND}};
        struct cpu_threads t;

        assert_int_equal(cpu_threads_init(&t, &w, 1, NULL), 0);
        for (int i = 0; i < 2; i++)
            cpu_threads_event(&t, &events[i]);
        cpu_threads_end(&t);
        for (int i = 0; i < 2; i++)
            assert_int_equal(t.list[i].times.ns[CPU_THREAD_DEAD], when == 50 ? 0 : 500);
        cpu_threads_finish(&t);
    }
}

/* What a number is called at the end is nobody's name who had the number, or was called otherwise, before. */
TEST(a_name_is_of_its_time)
{
    static const struct cpu_event events[] = {{.ns = 100, .kind = CPU_EV_TASK, .tid = 9, .a = 50},
                                              {.ns = 300, .kind = CPU_EV_RENAME, .tid = 50, .a = 50},
                                              {.ns = 400, .kind = CPU_EV_SWITCH, .tid = 50, .a = 50, .c = 9}};
    struct cpu_names *n = cpu_names_create();
    struct cpu_trace t = {0};

    for (int i = 0; i < 3; i++)
        cpu_names_event(n, &events[i]);
    t.names = cpu_names_resolve(n, NULL, "50 sleep\n9 sh\n", false);
    assert_string_equal(cpu_trace_thread(&t, 50), "sleep");
    assert_string_equal(cpu_trace_thread_at(&t, 50, 200), "?");
    assert_string_equal(cpu_trace_thread_at(&t, 50, 300), "sleep");
    assert_string_equal(cpu_trace_thread_at(&t, 9, 1), "sh");
    json_decref(t.names);
    cpu_names_destroy(n);
}

TEST_GROUP(NULL, NULL);

/* What may wait for a disk does so only where it cannot be interrupted; who sleeps there waits for anything. */
TEST(who_sleeps_waits_for_no_disk)
{
    static const struct {
        const char *state, *call, *where, *object;
        enum cpu_wait_kind kind;
    } cases[] = {
        {"D", "read", "io_schedule", "", CPU_WAIT_IO},
        {"S", "read", "io_schedule", "", CPU_WAIT_OTHER},
        {"D", "fsync", "0", "", CPU_WAIT_IO},
        {"S", "fsync", "0", "", CPU_WAIT_OTHER},
        {"S", "read", "nfs_wait_bit_killable", "", CPU_WAIT_OTHER},
        {"S", "read", "request_wait_answer", "", CPU_WAIT_IO}, /* a process serves it */
        {"D", "ioctl", "do_something", "", CPU_WAIT_OTHER},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *entry =
            json_pack("[i,s,s,s,s,i]", 7, cases[i].state, cases[i].call, cases[i].where, cases[i].object, 0);
        struct cpu_task_wait w;

        assert_non_null(entry);
        assert_true(cpu_task_wait_parse(&w, entry));
        if (w.kind != cases[i].kind)
            fail_msg("%zu: kind %d", i, w.kind);
        json_decref(entry);
    }
}
