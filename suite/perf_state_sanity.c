/* SPDX-License-Identifier: MIT */
/* QUERY_PERF: the valid flag, counters that grow with what is done, and sums that fit. */
#include "suite.h"

void test_perf_state_sanity(struct suite *s)
{
    struct aerogpu_escape_query_perf a = {0}, b = {0};
    struct umd_device *d = NULL;
    struct suite_scene scene;
    NTSTATUS st;

    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_PERF, &a), "QUERY_PERF");
    CHECK(s, a.flags & AEROGPU_ESCAPE_FLAGS_VALID, "flags 0x%08X: not valid", a.flags);
    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = suite_scene_create(&scene, d, 64, 64);
    suite_scene_draw(&scene);
    if (NT_SUCCESS(st))
        st = umd_finish(d, suite_ms(s, suite_default(s->timeout_ms, 5000)));
    if (st == STATUS_SUCCESS)
        st = suite_wait_vblank(s);
    if (st == STATUS_SUCCESS)
        st = SUITE_ESCAPE(s, QUERY_PERF, &b);
    umd_close(d);
    CHECK_STATUS(s, st, "submission and QUERY_PERF");
    CHECK(s, b.total_render_submits > a.total_render_submits, "renders %llu, then %llu",
          (unsigned long long)a.total_render_submits, (unsigned long long)b.total_render_submits);
    CHECK(s, b.irq_fence_delivered > a.irq_fence_delivered, "no fence interrupt came with the work");
    CHECK(s, b.vblank_seq > a.vblank_seq, "vblank %llu, then %llu", (unsigned long long)a.vblank_seq,
          (unsigned long long)b.vblank_seq);
    CHECK(s, b.total_submissions >= b.total_presents + b.total_render_submits,
          "%llu submissions, but %llu presents and %llu renders", (unsigned long long)b.total_submissions,
          (unsigned long long)b.total_presents, (unsigned long long)b.total_render_submits);
    CHECK(s, b.last_completed_fence <= b.last_submitted_fence, "completed %llu > submitted %llu",
          (unsigned long long)b.last_completed_fence, (unsigned long long)b.last_submitted_fence);
    CHECK(s, b.alloc_table_readonly_entries <= b.alloc_table_entries,
          "%llu of %llu table entries are READONLY", (unsigned long long)b.alloc_table_readonly_entries,
          (unsigned long long)b.alloc_table_entries);
}
