/* SPDX-License-Identifier: MIT */
/* test.h: cmocka, with tests that stand in one place.
 *
 *     TEST(nothing_is_lost)
 *     {
 *         ...                  `state` is cmocka's
 *     }
 *
 * A program runs all of its own, in the order in which its file has them; none has to be named again. Its main() is the one of
 * main.c, or its own, which returns test_run().
 */
#pragma once

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct test {
    int order;
    struct CMUnitTest test;
};

/* A further run of a test function, at file scope: under another name, with another set-up. */
#define TEST_ROW(name, fn, up, down)     TEST_ROW_(name, fn, up, down, __COUNTER__)
#define TEST_ROW_(name, fn, up, down, n) TEST_ROW_AT(name, fn, up, down, n)
#define TEST_ROW_AT(name, fn, up, down, n)                                                                   \
    static struct test test_##n = {n, {name, fn, up, down, NULL}};                                           \
    static struct test *test_at_##n __attribute__((section("all_tests"), used)) = &test_##n

#define TEST_WITH(name, up, down)                                                                            \
    static void name(void **state);                                                                          \
    TEST_ROW(#name, name, up, down);                                                                         \
    static void name(void **state)
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* What is done before the first and after the last, at file scope, once. */
#define TEST_GROUP(up, down) TEST_ROW(NULL, NULL, up, down)

/* Descriptors that are open in this process, and one more. */
unsigned test_open_fds(void);

/* Runs them all; main()'s answer. */
int test_run(void);
