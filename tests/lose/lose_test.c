/* SPDX-License-Identifier: MIT */
/* aerogpu lose: what the layer does to a program, and what is said of it, with a program that reacts in every way there is. */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "lose/lose.h"

enum { TRIES = 6 };

static struct lose_result result;

/* Runs the client so; what a test does not set is patient. */
static int run(const char *how, const char *limit, struct lose_params p)
{
    char *argv[] = {getenv("LOSE_CLIENT"), (char *)(uintptr_t)how, (char *)(uintptr_t)limit, NULL};
    struct error e = {0};

    strbuf_finish(&result.stacks);
    p.argv = argv;
    p.layers = getenv("LOSE_LAYERS");
    p.at_submit = p.at_submit ? p.at_submit : 20;
    p.times = p.times ? p.times : 1;
    p.proof = 10;
    p.quiet_stdout = true;
    p.reach_ns = p.reach_ns ? p.reach_ns : 60 * NSEC_PER_SEC;
    p.timeout_ns = p.timeout_ns ? p.timeout_ns : 60 * NSEC_PER_SEC;
    return lose_run(&p, &result, &e);
}

#define assert_verdict(v) assert_string_equal(lose_verdict_name(result.verdict), lose_verdict_name(v))

TEST(who_makes_a_new_device_survives)
{
    const struct lose_loss *l = &result.losses[0];

    assert_int_equal(run("recover", NULL, (struct lose_params){0}), 0);
    assert_verdict(LOSE_SURVIVED);
    assert_int_equal(result.num_losses, 1);
    assert_int_equal(l->submits, 19); /* the 20th was not done */
    assert_int_equal(l->frames, 0);
    assert_int_equal(l->call, LOSE_vkQueueSubmit);
    assert_int_equal(l->reported, 1);
    assert_true(l->reported_ns && l->reported_ns <= l->destroyed_ns && l->destroyed_ns <= l->device_ns &&
                l->device_ns <= l->work_ns);
    assert_int_equal(result.devices, 2);
    assert_false(result.exited || result.signalled);
}

TEST(again_and_again)
{
    assert_int_equal(run("recover", NULL, (struct lose_params){.times = 5, .at_submit = 12}), 0);
    assert_verdict(LOSE_SURVIVED);
    assert_int_equal(result.num_losses, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(result.losses[i].submits, 11);
    assert_int_equal(result.devices, 6);
}

/* Whatever the program waits with, the wait ends when the device is reset, and not before. */
TEST(a_hang_ends_every_wait)
{
    static const enum lose_call calls[] = {LOSE_vkWaitForFences, LOSE_vkWaitSemaphores,
                                           LOSE_vkDeviceWaitIdle};

    for (uint32_t i = 0; i < 3; i++) {
        struct lose_params p = {.how = LOSE_HUNG, .hang_ns = 200 * NSEC_PER_MSEC, .at_submit = 21 + i};
        assert_int_equal(run("recover", NULL, p), 0);
        assert_verdict(LOSE_SURVIVED);
        assert_int_equal(result.losses[0].submits, 20 + i);
        assert_int_equal(result.losses[0].call, calls[i]);
        assert_true(result.losses[0].at_ns >= 200 * NSEC_PER_MSEC);
    }
}

TEST(new_devices_are_refused_for_a_while)
{
    assert_int_equal(run("recover", NULL, (struct lose_params){.refuse_ns = 200 * NSEC_PER_MSEC}), 0);
    assert_verdict(LOSE_SURVIVED);
    assert_true(result.refused > 0);
    assert_true(result.losses[0].device_ns >= 200 * NSEC_PER_MSEC);
}

TEST(a_program_that_ends_soon_after_survives_too)
{
    assert_int_equal(run("recover", "24", (struct lose_params){0}), 0);
    assert_verdict(LOSE_SURVIVED);
    assert_true(result.exited);
    assert_int_equal(result.code, 0);
}

TEST(who_ends_has_ended)
{
    assert_int_equal(run("exit", NULL, (struct lose_params){0}), 0);
    assert_verdict(LOSE_ENDED);
    assert_true(result.exited);
    assert_int_equal(result.code, 3);
}

TEST(who_aborts_has_died)
{
    assert_int_equal(run("abort", NULL, (struct lose_params){0}), 0);
    assert_verdict(LOSE_DIED);
    assert_true(result.signalled);
    assert_int_equal(result.code, SIGABRT);
    assert_non_null(strstr(strbuf_str(&result.stacks), " main")); /* the thread that died comes first */
}

/* The loader has unloaded its layers by then. */
TEST(who_aborts_when_all_is_destroyed_has_died_of_that)
{
    assert_int_equal(run("end-abort", NULL, (struct lose_params){0}), 0);
    assert_verdict(LOSE_DIED);
    assert_int_equal(result.code, SIGABRT);
    assert_non_null(strstr(strbuf_str(&result.stacks), " abort (libc.so.6)"));
}

TEST(who_goes_on_ignores_the_loss)
{
    assert_int_equal(run("ignore", NULL, (struct lose_params){.timeout_ns = NSEC_PER_SEC}), 0);
    assert_verdict(LOSE_IGNORES);
    assert_true(result.losses[0].reported > 1);
    assert_int_equal(result.losses[0].destroyed_ns, 0);
}

TEST(who_sleeps_is_unresponsive)
{
    assert_int_equal(run("pause", NULL, (struct lose_params){.timeout_ns = 2 * NSEC_PER_SEC}), 0);
    assert_verdict(LOSE_HANGS);
    assert_int_equal(result.losses[0].reported, 1);
    assert_non_null(strstr(strbuf_str(&result.stacks), " pause (libc.so.6)"));
}

TEST(who_gives_up_a_device_that_hangs_survives_before_the_reset)
{
    struct lose_params p = {.how = LOSE_HUNG, .hang_ns = 600 * NSEC_PER_SEC};

    assert_int_equal(run("watchdog", NULL, p), 0);
    assert_verdict(LOSE_SURVIVED);
    assert_true(result.losses[0].early);
    assert_int_equal(result.losses[0].submits, 19);
}

TEST(a_hang_that_nobody_asks_about_ends_with_the_reset)
{
    struct lose_params p = {.how = LOSE_HUNG, .hang_ns = 200 * NSEC_PER_MSEC, .timeout_ns = NSEC_PER_SEC};

    assert_int_equal(run("watchdog-pause", NULL, p), 0);
    assert_verdict(LOSE_HANGS);
    assert_int_equal(result.num_losses, 1);
    assert_false(result.losses[0].early);
}

/* To be told is not to go on, however late it is told. */
TEST(who_is_told_late_and_does_nothing_hangs)
{
    struct lose_params p = {
        .how = LOSE_HUNG, .hang_ns = 600 * NSEC_PER_MSEC, .timeout_ns = 1500 * NSEC_PER_MSEC};

    /* Where it is hardly let run it may be looked at before it asks. */
    for (int i = 0; !i || (i < TRIES && !result.losses[0].reported); i++) {
        assert_int_equal(run("watchdog-late", NULL, p), 0);
        assert_verdict(LOSE_HANGS);
    }
    assert_int_equal(result.losses[0].reported, 1);
}

TEST(a_device_that_only_asks_is_not_the_new_one)
{
    assert_int_equal(run("probe", NULL, (struct lose_params){0}), 0);
    assert_verdict(LOSE_SURVIVED);
    assert_int_equal(result.devices, 3);
}

TEST(a_spare_device_that_takes_over_is)
{
    assert_int_equal(run("spare", NULL, (struct lose_params){0}), 0);
    assert_verdict(LOSE_SURVIVED);
    assert_int_equal(result.devices, 2);
}

TEST(what_another_process_does_proves_nothing)
{
    result.devices = 0; /* of another test */
    /* Where it is hardly let run, the other process has no device by then: it gets longer. */
    for (uint64_t s = 2; s <= 32 && result.devices != 2; s *= 4) {
        assert_int_equal(run("beside", NULL, (struct lose_params){.timeout_ns = s * NSEC_PER_SEC}), 0);
        assert_verdict(LOSE_HANGS);
    }
    assert_int_equal(result.devices, 2);
}

TEST(who_is_slow_survives_at_its_pace)
{
    assert_int_equal(run("slow", NULL, (struct lose_params){.at_submit = 5, .timeout_ns = NSEC_PER_SEC}), 0);
    assert_verdict(LOSE_SURVIVED);
    assert_true(result.own_pace);
}

TEST(who_waits_for_events_survives_and_who_stops_does_not)
{
    assert_int_equal(run("once", NULL, (struct lose_params){.timeout_ns = NSEC_PER_SEC}), 0);
    assert_verdict(LOSE_SURVIVED);
    assert_true(result.idle);
    assert_int_equal(run("once-pause", NULL, (struct lose_params){.timeout_ns = NSEC_PER_SEC}), 0);
    assert_verdict(LOSE_HANGS);
}

TEST(who_goes_on_without_vulkan_ignores_the_loss)
{
    assert_int_equal(run("idle", NULL, (struct lose_params){.timeout_ns = NSEC_PER_SEC}), 0);
    assert_verdict(LOSE_IGNORES);
    assert_true(result.busy);
}

TEST(who_calls_vulkan_and_comes_to_nothing_stalls)
{
    static const char *const hows[] = {"new", "crawl", "empty"};
    static const unsigned ms[] = {1500, 3000, 3000}; /* what crawls may be late by a third of a second more */

    for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++) {
        /* Where it is hardly let run it may have been as slow before, or come to nothing in that time. */
        for (int k = 0; !k || (k < TRIES && (result.own_pace || (!result.new_work && i != 2))); k++)
            assert_int_equal(run(hows[i], NULL,
                                 (struct lose_params){.at_submit = 30, .timeout_ns = ms[i] * NSEC_PER_MSEC}),
                             0);
        assert_verdict(LOSE_STALLS);
        assert_true(result.new_work < 10 && (result.new_work > 0 || i == 2));
    }
}

/* The driver would wait for it for ever. */
TEST(work_that_waits_for_its_host_does_not_hold_up_the_loss)
{
    assert_int_equal(run("pending", NULL, (struct lose_params){.timeout_ns = 20 * NSEC_PER_SEC}), 0);
    assert_verdict(LOSE_SURVIVED);
    assert_true(result.losses[0].destroyed_ns > 0);
}

TEST(the_loss_may_not_be_reached)
{
    assert_int_equal(run("recover", "10", (struct lose_params){0}), 0);
    assert_verdict(LOSE_NOT_REACHED);
    assert_true(result.exited);
    assert_int_equal(
        run("recover", NULL, (struct lose_params){.at_submit = UINT32_MAX, .reach_ns = 3 * NSEC_PER_SEC}), 0);
    assert_verdict(LOSE_NOT_REACHED);
    assert_false(result.exited);
    assert_int_equal(run("nothing", NULL, (struct lose_params){0}), 0);
    assert_verdict(LOSE_NO_DEVICE);
}

TEST(what_cannot_run_is_an_error)
{
    char *argv[] = {"/nonexistent/program", NULL};
    struct error e = {0};
    struct lose_params p = {.argv = argv, .layers = "/", .at_frame = 1, .times = 1, .proof = 1};

    assert_int_equal(lose_run(&p, &result, &e), -ENOENT);
    assert_string_equal(e.text, "cannot run /nonexistent/program: No such file or directory");
}
