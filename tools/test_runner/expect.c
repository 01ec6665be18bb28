/* SPDX-License-Identifier: MIT */
#include "expect.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "diagnose.h"

/* What must not come unless a test expects it. */
static const struct {
    const char *source;
    int id;
} alarms[] = {{"Display", 4101},  {"Display", 4109},  {"BugCheck", 0x116}, {"BugCheck", 0x7E},
              {"BugCheck", 0x7F}, {"BugCheck", 0xD1}, {"dxgkrnl", 0xC4}};

static const char *text_of(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s ? s : "";
}

static bool matches(const json_t *e, const char *source, int id)
{
    return json_integer_value(json_object_get(e, "id")) == id && !strcmp(text_of(e, "source"), source);
}

static int count(const json_t *list, const char *source, int id)
{
    const json_t *e;
    int n = 0;
    size_t i;

    json_array_foreach(list, i, e)
        n += matches(e, source, id);
    return n;
}

static bool check_expected(struct test_result *result, const char *whose, const json_t *expected,
                           const json_t *events)
{
    const json_t *x;
    size_t i;

    json_array_foreach(expected, i, x) {
        int want = (int)json_integer_value(json_object_get(x, "count")), id;
        int got = count(events, text_of(x, "source"), id = (int)json_integer_value(json_object_get(x, "id")));
        if (want == -2 || got == want || (want == -1 && got))
            continue;
        test_result_fail(result, "%s has %s %d %d times, expected %s%d", whose, text_of(x, "source"), id, got,
                         want < 0 ? "at least " : "", want < 0 ? 1 : want);
        return false;
    }
    return true;
}

/* The first that `expected` does not name; NULL for `expected`: nothing is. */
static const json_t *first_alarm(const json_t *expected, const json_t *events)
{
    const json_t *e;
    size_t i;

    json_array_foreach(events, i, e)
        for (size_t k = 0; k < sizeof(alarms) / sizeof(alarms[0]); k++)
            if (matches(e, alarms[k].source, alarms[k].id) &&
                !count(expected, alarms[k].source, alarms[k].id))
                return e;
    return NULL;
}

const json_t *expect_alarm(const json_t *events)
{
    return first_alarm(NULL, events);
}

static bool check_alarms(struct test_result *result, const char *whose, const json_t *expected,
                         const json_t *events)
{
    const json_t *e = first_alarm(expected, events);

    if (e)
        test_result_fail(result, "%s has %s %d: %s", whose, text_of(e, "source"),
                         (int)json_integer_value(json_object_get(e, "id")), text_of(e, "text"));
    return !e;
}

static void check_rows(struct test_result *result, const json_t *signals, json_t *events)
{
    json_t *evidence = json_pack("{s:O}", "events", events), *rows = diagnose(evidence);
    const json_t *want, *row;
    size_t i, k;

    json_array_foreach(signals, i, want) {
        bool found = false;
        json_array_foreach(rows, k, row)
            found |= !strcmp(text_of(row, "signal"), json_string_value(want));
        if (found)
            continue;
        test_result_fail(result, "the doctor does not name the row '%s'", json_string_value(want));
        break;
    }
    json_decref(rows);
    json_decref(evidence);
}

/* What the log says is often why a test fails: it stands behind the test's own words. */
static void add_alarm(struct test_result *result, const json_t *expected, const json_t *events)
{
    const json_t *e = result->status == TEST_FAIL ? first_alarm(expected, events) : NULL;
    char own[sizeof(result->why)];

    if (!e)
        return;
    snprintf(own, sizeof(own), "%.150s", result->why);
    utf8_mend(own);
    test_result_fail(result, "%s; the event log has %s %d: %.200s", own, text_of(e, "source"),
                     (int)json_integer_value(json_object_get(e, "id")), text_of(e, "text"));
}

json_t *expect_service_events(const struct test_result *result)
{
    const json_t *services = json_object_get(result->details, "services"), *v;
    json_t *all = json_array();
    size_t i;

    json_array_foreach(services, i, v)
        json_array_extend(all, json_object_get(v, "events"));
    return all;
}

void expect_services(struct test_result *result)
{
    static const char whose[] = "the event log of a service of the test's own";
    const json_t *services = json_object_get(result->details, "services"), *v,
                 *expected = json_object_get(json_object_get(result->details, "expects"), "services");
    json_t *events = expect_service_events(result);
    size_t i;

    if (result->status != TEST_FAIL && check_expected(result, whose, expected, events) &&
        check_alarms(result, whose, expected, events))
        json_array_foreach(services, i, v) {
            int code = (int)json_integer_value(json_object_get(v, "code"));
            if (code && !json_array_size(expected) && result->status != TEST_FAIL)
                test_result_fail(result, "a service of the test's own ended with code %d", code);
        }
    json_decref(events);
}

void expect_check(struct test_result *result, json_t *events)
{
    static const char log[] = "the event log";
    const json_t *expects = json_object_get(result->details, "expects"),
                 *expected = json_object_get(expects, "events");

    json_object_set(result->details, "events", events);
    add_alarm(result, expected, events);
    if (result->status == TEST_PASS && check_expected(result, log, expected, events) &&
        check_alarms(result, log, expected, events))
        check_rows(result, json_object_get(expects, "doctor"), events);
}
