/* SPDX-License-Identifier: MIT */
/* The driver's self-test passes on an idle adapter; GPU_BUSY is answered to honestly and tried again. */
#include "suite.h"

void test_dbgctl_selftest_sanity(struct suite *s)
{
    struct aerogpu_escape_selftest t;

    for (int attempt = 0; attempt < 20; attempt++) {
        t = (struct aerogpu_escape_selftest){.timeout_ms = suite_default(s->timeout_ms, 2000)};
        CHECK_STATUS(s, SUITE_ESCAPE(s, SELFTEST, &t), "SELFTEST");
        CHECK(s, t.passed == (t.error_code == AEROGPU_SELFTEST_OK), "passed %u with code %u", t.passed,
              t.error_code);
        if (t.error_code != AEROGPU_SELFTEST_GPU_BUSY)
            break;
        suite_sleep_ms(s, 50);
    }
    suite_measure(s, "code", t.error_code);
    CHECK(s, t.passed, "the self-test failed with code %u", t.error_code);
}
