/* SPDX-License-Identifier: MIT */
/* What a validation program writes about itself, and the event log behind it: lines of JSON, the first of them the result. Whatever
 * they say, the result has a status, a reason where it is not PASS, and a report that can be read back. */
#include "fuzz.h"

#include <string.h>

#include "expect.h"
#include "result.h"
#include "runner.h"

static void check(const struct test_result *r)
{
    must(r->status == TEST_PASS || r->status == TEST_SKIP || r->status == TEST_FAIL);
    must(!r->why[0] == (r->status == TEST_PASS));
    must(memchr(r->why, '\0', sizeof(r->why)) && memchr(r->name, '\0', sizeof(r->name)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
    size_t first = newline ? (size_t)(newline - data) : size;
    struct test_results all = {0};
    struct test_result r;
    json_t *events = json_array(), *again;
    char *text;

    test_result_init(&r, "fuzz", json_loadb((const char *)data, first, 0, NULL));
    check(&r);
    for (size_t at = first + 1, end; at < size; at = end + 1) {
        newline = memchr(data + at, '\n', size - at);
        end = newline ? (size_t)(newline - data) : size;
        json_array_append_new(events, json_loadb((const char *)data + at, end - at, 0, NULL));
    }
    expect_check(&r, events);
    json_decref(events);
    check(&r);
    must(!test_results_add(&all, &r));
    must(!runner_write_junit("/dev/null", "fuzz", &all));
    again = test_results_json(&all);
    must((all.items[0].status == TEST_FAIL) ==
         json_is_string(json_object_get(json_array_get(again, 0), "failure")));
    text = json_dumps(again, JSON_COMPACT);
    must(text);
    json_decref(again);
    again = json_loads(text, 0, NULL);
    must(again);
    json_decref(again);
    free(text);
    test_results_finish(&all);
    return 0;
}
