/* SPDX-License-Identifier: MIT */
/* DUMP_RING_V2, again and again while work goes through: the format, indices within the ring that only go up, descriptors that
 * are whole, and the newest is the last one submitted. */
#include "suite.h"

static struct aerogpu_escape_dump_ring_v2 r;

static NTSTATUS dump(struct suite *s)
{
    memset(&r, 0, sizeof(r));
    r.ring_id = s->ring_id;
    r.desc_capacity = AEROGPU_ESCAPE_RECENT;
    return SUITE_ESCAPE(s, DUMP_RING_V2, &r);
}

static void check_dump(struct suite *s)
{
    CHECK(s, r.ring_format == AEROGPU_RING_FORMAT_AGPU, "ring_format %u", r.ring_format);
    CHECK(s, r.tail - r.head <= r.ring_size_bytes / 64, "head %u, tail %u in a ring of %u bytes", r.head,
          r.tail, r.ring_size_bytes);
    CHECK(s, r.desc_count >= 1 && r.desc_count <= r.desc_capacity && r.desc_capacity <= AEROGPU_ESCAPE_RECENT,
          "%u of %u descriptors", r.desc_count, r.desc_capacity);
    for (uint32_t i = 1; i < r.desc_count; i++)
        CHECK(s, r.desc[i].fence >= r.desc[i - 1].fence, "descriptor %u has fence %llu after %llu", i,
              (unsigned long long)r.desc[i].fence, (unsigned long long)r.desc[i - 1].fence);
    for (uint32_t i = 0; i < r.desc_count; i++)
        CHECK(s,
              !r.desc[i].cmd_gpa == !r.desc[i].cmd_size_bytes &&
                  !r.desc[i].alloc_table_gpa == !r.desc[i].alloc_table_size_bytes,
              "descriptor %u has half a range", i);
}

/* One submission and what the ring says then. */
static NTSTATUS sample(struct suite *s, struct umd_device *d, struct suite_scene *scene, uint32_t *head,
                       uint32_t *tail)
{
    struct aerogpu_escape_query_fence f = {0};
    NTSTATUS st;

    suite_scene_draw(scene);
    st = umd_finish(d, suite_ms(s, suite_default(s->timeout_ms, 5000)));
    if (st == STATUS_SUCCESS)
        st = SUITE_ESCAPE(s, QUERY_FENCE, &f);
    if (st == STATUS_SUCCESS)
        st = dump(s);
    if (st != STATUS_SUCCESS)
        return st;
    check_dump(s);
    if (!s->failed && r.desc[r.desc_count - 1].fence < f.last_completed_fence)
        suite_fail(s, "the newest descriptor has fence %llu, %llu is complete",
                   (unsigned long long)r.desc[r.desc_count - 1].fence,
                   (unsigned long long)f.last_completed_fence);
    if (!s->failed && *tail && ((int32_t)(r.head - *head) < 0 || (int32_t)(r.tail - *tail) <= 0))
        suite_fail(s, "head %u after %u, tail %u after %u, with a submission between", r.head, *head, r.tail,
                   *tail);
    *head = r.head;
    *tail = r.tail;
    return st;
}

void test_ring_state_sanity(struct suite *s)
{
    uint32_t n = suite_default(s->samples, 10), interval = suite_default(s->interval_ms, 10), head = 0,
             tail = 0;
    struct umd_device *d = NULL;
    struct suite_scene scene;
    NTSTATUS st;

    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = suite_scene_create(&scene, d, 64, 64);
    for (uint32_t i = 0; i < n && st == STATUS_SUCCESS && !s->failed; i++) {
        st = sample(s, d, &scene, &head, &tail);
        if (i + 1 < n)
            suite_sleep_ms(s, interval);
    }
    umd_close(d);
    if (!s->failed)
        CHECK_STATUS(s, st, "DUMP_RING_V2 after a submission");
}
