/* SPDX-License-Identifier: MIT */
/* result.h: what became of a validation program. A struct from the moment at which the program has ended until a report is
 * written; JSON is what the program writes about itself, and what reports are.
 *
 * Invariants:
 *  1. A result that is FAIL or SKIP says why, and one that is PASS says nothing.
 *  2. FAIL stays FAIL.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

enum test_status { TEST_PASS, TEST_SKIP, TEST_FAIL };

struct test_result {
    char name[64];
    enum test_status status;
    int exit_code;
    char why[400];
    double duration_ms;
    json_t *details; /* an object: what the program wrote, its artifacts, and what was added since */
};

/* Of one run. Zero-initialised is empty. */
struct test_results {
    struct test_result *items;
    size_t num, room;
};

/* What a program wrote (a reference that is taken over; NULL, or anything that is no result: it wrote none, and passed). */
void test_result_init(struct test_result *r, const char *name, json_t *written);
void test_result_finish(struct test_result *r);
void test_result_fail(struct test_result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void test_result_artifact(struct test_result *r, const char *path);
/* As it stands in a report: a new reference. */
json_t *test_result_json(const struct test_result *r);

/* Takes it over. 0, or -ENOMEM, and then it is finished. */
int test_results_add(struct test_results *list, struct test_result *r);
unsigned test_results_count(const struct test_results *list, enum test_status status);
/* An array, a new reference. */
json_t *test_results_json(const struct test_results *list);
void test_results_finish(struct test_results *list);

const char *test_status_name(enum test_status status);
