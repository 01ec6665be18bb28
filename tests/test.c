/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

extern struct test *__start_all_tests[], *__stop_all_tests[];

/* The linker keeps no promise about the order within a section. */
static int by_order(const void *a, const void *b)
{
    return (*(struct test *const *)a)->order - (*(struct test *const *)b)->order;
}

unsigned test_open_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned n = 0;

    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

int test_run(void)
{
    const size_t n = (size_t)(__stop_all_tests - __start_all_tests);
    struct CMUnitTest *tests = calloc(n, sizeof(*tests));
    CMFixtureFunction up = NULL, down = NULL;
    size_t num = 0;
    int failed;

    if (!tests)
        return 1;
    qsort(__start_all_tests, n, sizeof(__start_all_tests[0]), by_order);
    for (size_t i = 0; i < n; i++) {
        const struct CMUnitTest *t = &__start_all_tests[i]->test;
        if (t->test_func) {
            tests[num++] = *t;
        } else {
            up = t->setup_func;
            down = t->teardown_func;
        }
    }
    failed = _cmocka_run_group_tests(program_invocation_short_name, tests, num, up, down);
    free(tests);
    return failed;
}
