/* SPDX-License-Identifier: MIT */
/* program.h: how the suite's Windows programs end; behind a header of Direct3D. */
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 64, PATIENCE_MS = 60000, PROMPT_MS = 5000 };

static const char *name; /* of the test */

static void end(int code, const char *verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));
static void end(int code, const char *verdict, const char *format, ...)
{
    va_list ap;

    printf("%s: %s%s", verdict, name, *format ? ": " : "");
    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
    ExitProcess((UINT)code);
}

#define FAIL(...) end(1, "FAIL", __VA_ARGS__)
#define OK(call)                                                                                             \
    do {                                                                                                     \
        HRESULT hr_ = (call);                                                                                \
        if (hr_ != S_OK)                                                                                     \
            FAIL("%s: 0x%08lX", #call, (unsigned long)hr_);                                                  \
    } while (0)

struct test {
    const char *name;
    void (*run)(void);
};

/* The test that the program is called as: 2, there is none. */
static int run_named(const struct test *tests, size_t count, const char *called)
{
    name = called;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(tests[i].name, called)) {
            tests[i].run();
            end(0, "PASS", "%s", "");
        }
    fprintf(stderr, "there is no test '%s'\n", called);
    return 2;
}
