/* SPDX-License-Identifier: MIT */
/* What the adapter does not survive: a reset that fails, and a driver call that does not come back. Both end in a report,
 * the equivalent of bugcheck 0x116: everything answers device removed, escapes still answer, and the service says so and goes
 * on serving. On a service of the test's own. */
#include "suite.h"

/* The adapter is given up: so say all that it does, and escapes. */
static void check_given_up(struct suite *s)
{
    struct aerogpu_escape_query_fence f = {0};
    struct aerogpu_escape_query_device_v2 q = {0};
    struct umd_device *late = NULL;
    NTSTATUS st = STATUS_SUCCESS;

    for (int i = 0; i < suite_ms(s, 300) && NT_SUCCESS(st = umd_open(&late, NULL));
         i++) { /* it gives up a moment later */
        umd_close(late);
        suite_sleep_ms(s, 10);
    }
    CHECK_EQ_STATUS(s, st, STATUS_DEVICE_REMOVED,
                    "opening a device after the adapter was given up" SUITE_SLACK);
    CHECK_EQ_STATUS(s, suite_wait_vblank(s), STATUS_DEVICE_REMOVED,
                    "WaitForVerticalBlankEvent after the adapter was given up");
    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_FENCE, &f), "QUERY_FENCE after the adapter was given up");
    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_DEVICE_V2, &q), "QUERY_DEVICE after the adapter was given up");
}

static void fail_a_reset(struct suite *s)
{
    struct umd_device *d = NULL;
    uint64_t fence = 0;
    NTSTATUS st;

    if (!suite_fault(s, DXGK_FAULT_FAIL_RESET, 1))
        return;
    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = suite_hang(s, d);
    if (NT_SUCCESS(st))
        st = umd_flush(d, &fence);
    if (NT_SUCCESS(st))
        st = umd_wait(d, fence, suite_ms(s, 15000));
    umd_close(d);
    CHECK_EQ_STATUS(s, st, STATUS_DEVICE_REMOVED, "waiting for work that does not end");
    check_given_up(s);
}

static void check_report(struct suite *s, const json_t *events, int code)
{
    suite_expect_service_event(s, "BugCheck", 0x116, 1);
    CHECK(s, suite_count_events(events, "BugCheck", 0x116) == 1, "the service's log has %u bug checks",
          suite_count_events(events, "BugCheck", 0x116));
    CHECK(s, !suite_count_events(events, "dxgkrnl", 0xC4), "the miniport broke a rule");
    CHECK(s, code == 1, "the service ended with code %d, expected 1", code);
}

void test_reset_failure(struct suite *s)
{
    struct suite_service v;
    json_t *events;
    int code;

    if (s->role) { /* leaves a broken service behind, for whoever wants to look at one */
        fail_a_reset(s);
        return;
    }
    if (suite_service_up(s, &v, "TdrDelay = 1", ""))
        fail_a_reset(s);
    code = suite_service_down(s, &v, &events);
    if (!s->failed && !s->skipped)
        check_report(s, events, code);
    if (!s->failed && !s->skipped && suite_count_events(events, "Display", 4101))
        suite_fail(s, "a reset that failed is logged as a recovery");
    json_decref(events);
}

/* In the other process: the call that is held up. */
static void be_caller(struct suite *s)
{
    struct umd_device *d = NULL;
    char text[16];
    NTSTATUS st;

    suite_say(s, "calling");
    st = umd_open(&d, NULL);
    umd_close(d);
    suite_say(s, "%s", umd_status_name(st, text));
}

/* While one call is held up for `ms` of those that it may have: what others get. */
static void hold_up(struct suite *s, uint32_t ms, uint32_t limit_ms, const char *expected)
{
    struct aerogpu_escape_query_fence f = {0};
    struct suite_peer p;
    char line[400] = "";
    uint64_t start, slowest = 0;

    if (!suite_fault(s, DXGK_FAULT_BLOCK_DDI, ms) || !suite_peer_start(s, &p, "caller"))
        return;
    if (!suite_peer_hear(&p, line, sizeof(line), suite_ms(s, 20000)) || strcmp(line, "calling") != 0)
        suite_fail(s, "the caller says '%s'", line);
    start = suite_now(s);
    while (!s->failed && !suite_peer_hear(&p, line, sizeof(line), 10)) {
        uint64_t asked = suite_now(s), took;
        NTSTATUS st = SUITE_ESCAPE(s, QUERY_FENCE, &f);
        took = suite_now(s) - asked;
        slowest = took > slowest ? took : slowest;
        if (st != STATUS_SUCCESS)
            suite_fail(s, "QUERY_FENCE while a call is held up: 0x%08X", (uint32_t)st);
        else if (suite_now(s) - start > suite_ms(s, 20000) * NSEC_PER_MSEC)
            suite_fail(s, "the call does not come back" SUITE_SLACK);
    }
    if (!s->failed && strcmp(line, expected) != 0)
        suite_fail(s, "a call that is held up for %u ms answers %s, expected %s", ms, line, expected);
    if (!s->failed &&
        suite_now(s) - start + 50 * NSEC_PER_MSEC < (ms < limit_ms ? ms : limit_ms) * NSEC_PER_MSEC)
        suite_fail(s, "it was held up for %llu ms only",
                   (unsigned long long)((suite_now(s) - start) / NSEC_PER_MSEC));
    suite_measure(s, "slowest_escape_ms", (double)slowest / 1e6);
    suite_peer_end(&p, suite_ms(s, 10000));
}

void test_blocked_ddi(struct suite *s)
{
    /* Live the least, so as not to wait long; a driver that takes its time is judged by the default, where time costs nothing. */
    const uint32_t delay = s->host ? 5 : 1;
    struct suite_service v;
    json_t *events = NULL;
    char setting[32];
    double again;
    int code;

    snprintf(setting, sizeof(setting), "TdrDdiDelay = %u", delay);
    if (s->role) {
        be_caller(s);
        return;
    }
    if (suite_service_up(s, &v, setting, "")) {
        hold_up(s, delay * suite_random(s, 100, 700), 1000 * delay,
                "STATUS_SUCCESS"); /* slow, and not too slow */
        if (!s->failed && !s->skipped)
            suite_works_again(s, 10000, &again);
        if (!s->failed && !s->skipped)
            hold_up(s, delay * suite_random(s, 1200, 1800), 1000 * delay, "STATUS_DEVICE_REMOVED");
        if (!s->failed && !s->skipped)
            check_given_up(s);
    }
    code = suite_service_down(s, &v, &events);
    if (!s->failed && !s->skipped)
        check_report(s, events, code);
    json_decref(events);
}
