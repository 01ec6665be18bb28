/* SPDX-License-Identifier: MIT */
/* Fences only go up, completed never passes submitted, and our own work moves both. */
#include "suite.h"

void test_fence_state_sanity(struct suite *s)
{
    uint32_t n = suite_default(s->samples, 20), interval = suite_default(s->interval_ms, 5);
    struct aerogpu_escape_query_fence before = {0}, now, last;
    struct suite_scene scene;
    struct umd_device *d = NULL;
    NTSTATUS st;

    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_FENCE, &before), "QUERY_FENCE");
    CHECK(s, before.last_completed_fence <= before.last_submitted_fence, "completed %llu > submitted %llu",
          (unsigned long long)before.last_completed_fence, (unsigned long long)before.last_submitted_fence);
    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    last = before;
    st = suite_scene_create(&scene, d, 64, 64);
    for (uint32_t i = 0; i < n && NT_SUCCESS(st) && !s->failed; i++) {
        suite_scene_draw(&scene);
        st = umd_flush(d, NULL);
        suite_sleep_ms(s, interval);
        if (NT_SUCCESS(st))
            st = SUITE_ESCAPE(s, QUERY_FENCE, &now);
        if (now.last_submitted_fence < last.last_submitted_fence ||
            now.last_completed_fence < last.last_completed_fence)
            suite_fail(
                s, "fences go back: submitted %llu after %llu, completed %llu after %llu",
                (unsigned long long)now.last_submitted_fence, (unsigned long long)last.last_submitted_fence,
                (unsigned long long)now.last_completed_fence, (unsigned long long)last.last_completed_fence);
        if (now.last_completed_fence > now.last_submitted_fence)
            suite_fail(s, "completed %llu > submitted %llu", (unsigned long long)now.last_completed_fence,
                       (unsigned long long)now.last_submitted_fence);
        last = now;
    }
    if (NT_SUCCESS(st))
        st = umd_finish(d, suite_ms(s, suite_default(s->timeout_ms, 5000)));
    if (NT_SUCCESS(st))
        st = SUITE_ESCAPE(s, QUERY_FENCE, &now) ? STATUS_UNSUCCESSFUL : st;
    umd_close(d);
    CHECK_STATUS(s, st, "submissions");
    CHECK(s, now.last_completed_fence >= before.last_completed_fence + n,
          "%u submissions moved the fence from %llu to %llu", n,
          (unsigned long long)before.last_completed_fence, (unsigned long long)now.last_completed_fence);
    CHECK(s, now.error_irq_count == before.error_irq_count, "%llu error interrupts came in",
          (unsigned long long)(now.error_irq_count - before.error_irq_count));
}
