/* SPDX-License-Identifier: MIT */
/* A fence for every submission, in order; presents are marked in their descriptors and have an allocation table. */
#include "suite.h"

#include <aerogpu/ring.h>

void test_submit_fence_stress(struct suite *s)
{
    /* more than the ring has entries, and the last is a present */
    uint32_t n = (suite_default(s->iterations, 600) + 7) / 8 * 8, presents = 0, marked = 0;
    static struct aerogpu_escape_dump_ring_v2 ring;
    struct aerogpu_escape_query_perf a = {0}, b = {0};
    struct umd_device *d = NULL;
    struct suite_scene scene;
    uint64_t last = 0, fence = 0;
    NTSTATUS st;

    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_PERF, &a), "QUERY_PERF");
    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = suite_scene_create(&scene, d, 32, 32);
    for (uint32_t i = 0; i < n && NT_SUCCESS(st) && !s->failed; i++) {
        suite_scene_draw(&scene);
        if (i % 8 == 7) {
            struct umd_resource *noted = NULL;
            st = umd_buffer(d, &noted, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, NULL, 64, true);
            ABI_EMIT(umd_stream(d), PRESENT, present, .flags = 0);
            presents++;
        }
        if (NT_SUCCESS(st))
            st = umd_flush(d, &fence);
        if (fence != last + 1 && last && i % 8 != 0)
            suite_fail(s, "fence %llu after %llu", (unsigned long long)fence, (unsigned long long)last);
        if (umd_completed(d) > fence)
            suite_fail(s, "%llu complete, %llu submitted", (unsigned long long)umd_completed(d),
                       (unsigned long long)fence);
        last = fence;
    }
    if (NT_SUCCESS(st))
        st = umd_wait(d, fence, suite_ms(s, suite_default(s->timeout_ms, 20000)));
    ring.desc_capacity = AEROGPU_ESCAPE_RECENT;
    if (st == STATUS_SUCCESS)
        st = SUITE_ESCAPE(s, DUMP_RING_V2, &ring);
    if (st == STATUS_SUCCESS)
        st = SUITE_ESCAPE(s, QUERY_PERF, &b);
    umd_close(d);
    CHECK_STATUS(s, st, "submissions");
    CHECK(s, b.total_presents - a.total_presents >= presents,
          "%u presents were submitted, the driver counts %llu", presents,
          (unsigned long long)(b.total_presents - a.total_presents));
    for (uint32_t i = 0; i < ring.desc_count && i < AEROGPU_ESCAPE_RECENT; i++) {
        if (!(ring.desc[i].flags & AEROGPU_SUBMIT_FLAG_PRESENT))
            continue;
        marked++;
        CHECK(s, ring.desc[i].alloc_table_gpa || !ring.desc[i].cmd_gpa,
              "a present with fence %llu has no allocation table", (unsigned long long)ring.desc[i].fence);
    }
    CHECK(s, marked, "none of the last %u descriptors is marked PRESENT, our last submission was one",
          ring.desc_count);
}
