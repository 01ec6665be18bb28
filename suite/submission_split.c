/* SPDX-License-Identifier: MIT */
/* Long work is cut into submissions that take about UMD_SPLIT_MS each: none may hold up others for long, and a time-out looks at
 * submissions. */
#include "suite.h"

void test_submission_split(struct suite *s)
{
    uint32_t steps = suite_default(s->iterations, 600), before = suite_tdr_count(s);
    struct umd_device *d = NULL;
    struct umd_resource *buffer;
    struct umd_stats stats;
    uint64_t start, ns;
    NTSTATUS st;

    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = suite_dispatch(d, &buffer, 1, 1);
    if (NT_SUCCESS(st))
        st = umd_finish(d, suite_ms(s, 20000)); /* the shader is translated by then */
    start = suite_now(s);
    for (uint32_t i = 0; i < steps && NT_SUCCESS(st); i++) {
        umd_dispatch(d, buffer, 32, 32, 1);
        st = umd_split(d, 1);
    }
    if (NT_SUCCESS(st))
        st = umd_finish(d, suite_ms(s, 60000));
    ns = suite_now(s) - start;
    stats = *umd_stats(d);
    umd_close(d);
    CHECK_STATUS(s, st, "dispatches");
    suite_measure(s, "submissions", (double)stats.submissions);
    suite_measure(s, "average_ms", (double)ns / 1e6 / (double)stats.submissions);
    suite_measure(s, "slowest_ms", (double)stats.slowest_ns / 1e6);
    CHECK(s, (double)stats.slowest_ns < suite_limit(s, 100e6), "a submission took %.1f ms" SUITE_SLACK,
          (double)stats.slowest_ns / 1e6);
    CHECK(s, stats.submissions < steps, "%u steps went in %llu submissions", steps,
          (unsigned long long)stats.submissions);
    CHECK(s, suite_tdr_count(s) == before, "it became a reset");
}
