/* SPDX-License-Identifier: MIT */
/* result.c: see result.h. */
#include "result.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/utf8.h"

static void result_check(const struct test_result *r)
{
    INVARIANT(r->name[0]);
    INVARIANT(r->status != TEST_PASS || !r->why[0]); /* 1 */
    INVARIANT(r->status != TEST_FAIL || r->why[0]);
    INVARIANT(json_is_object(r->details) || !r->details);
}

const char *test_status_name(enum test_status status)
{
    return status == TEST_FAIL ? "FAIL" : status == TEST_SKIP ? "SKIP" : "PASS";
}

void test_result_init(struct test_result *r, const char *name, json_t *written)
{
    const char *status, *why;

    *r = (struct test_result){.details = written};
    snprintf(r->name, sizeof(r->name), "%s", name);
    if (!json_is_object(written) || !json_is_array(json_object_get(written, "artifacts"))) {
        json_decref(written);
        r->details =
            json_pack("{s:i, s:n, s:n, s:[]}", "schema_version", 1, "adapter", "timing", "artifacts");
    }
    status = json_string_value(json_object_get(r->details, "status"));
    if (status && !strcmp(status, "FAIL"))
        r->status = TEST_FAIL;
    else if (json_is_true(json_object_get(r->details, "skipped")))
        r->status = TEST_SKIP;
    why = json_string_value(json_object_get(r->details, r->status == TEST_FAIL ? "failure" : "skip_reason"));
    if (r->status != TEST_PASS)
        snprintf(r->why, sizeof(r->why), "%s", why && *why ? why : "it does not say why");
    utf8_mend(r->why); /* what is no text would be no string in a report */
    r->exit_code = (int)json_integer_value(json_object_get(r->details, "exit_code"));
    result_check(r);
}

void test_result_finish(struct test_result *r)
{
    json_decref(r->details);
    *r = (struct test_result){0};
}

void test_result_fail(struct test_result *r, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(r->why, sizeof(r->why), fmt, ap);
    va_end(ap);
    utf8_mend(r->why);
    r->status = TEST_FAIL;
    result_check(r);
}

void test_result_artifact(struct test_result *r, const char *path)
{
    json_array_append_new(json_object_get(r->details, "artifacts"), json_string(path));
}

json_t *test_result_json(const struct test_result *r)
{
    json_t *o = json_copy(r->details);

    result_check(r);
    json_object_set_new(o, "test_name", json_string(r->name));
    json_object_set_new(o, "status",
                        json_string(r->status == TEST_FAIL ? "FAIL" : "PASS")); /* a skip is none */
    json_object_set_new(o, "exit_code", json_integer(r->exit_code));
    json_object_set_new(o, "failure", r->status == TEST_FAIL ? json_string(r->why) : json_null());
    json_object_set_new(o, "skipped", json_boolean(r->status == TEST_SKIP));
    json_object_set_new(o, "skip_reason", r->status == TEST_SKIP ? json_string(r->why) : json_null());
    json_object_set_new(o, "duration_ms", json_real(r->duration_ms));
    return o;
}

int test_results_add(struct test_results *list, struct test_result *r)
{
    if (array_reserve(list->items, list->room, list->num + 1)) {
        test_result_finish(r);
        return -ENOMEM;
    }
    list->items[list->num++] = *r;
    *r = (struct test_result){0};
    return 0;
}

unsigned test_results_count(const struct test_results *list, enum test_status status)
{
    unsigned n = 0;

    for (size_t i = 0; i < list->num; i++)
        n += list->items[i].status == status;
    return n;
}

json_t *test_results_json(const struct test_results *list)
{
    json_t *array = json_array();

    for (size_t i = 0; i < list->num; i++)
        json_array_append_new(array, test_result_json(&list->items[i]));
    return array;
}

void test_results_finish(struct test_results *list)
{
    for (size_t i = 0; i < list->num; i++)
        test_result_finish(&list->items[i]);
    free(list->items);
    *list = (struct test_results){0};
}
