/* DUMP_RING_V2: the format, indices within the ring, and the newest descriptor is the last one submitted. */
#include "suite.h"

void test_ring_state_sanity(struct suite *s)
{
    static struct aerogpu_escape_dump_ring_v2 r;
    struct aerogpu_escape_query_fence f = {0};
    struct umd_device *d = NULL;
    struct suite_scene scene;
    uint32_t capacity = s->ring_id;
    NTSTATUS st;

    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = suite_scene_create(&scene, d, 64, 64);
    suite_scene_draw(&scene);
    if (NT_SUCCESS(st))
        st = umd_finish(d, (int)suite_default(s->timeout_ms, 5000));
    if (st == STATUS_SUCCESS)
        st = SUITE_ESCAPE(s, QUERY_FENCE, &f);
    memset(&r, 0, sizeof(r));
    r.ring_id = capacity;
    r.desc_capacity = AEROGPU_ESCAPE_RECENT;
    if (st == STATUS_SUCCESS)
        st = SUITE_ESCAPE(s, DUMP_RING_V2, &r);
    umd_close(d);
    CHECK_STATUS(s, st, "DUMP_RING_V2 after a submission");
    CHECK(s, r.ring_format == AEROGPU_RING_FORMAT_AGPU, "ring_format %u", r.ring_format);
    CHECK(s, r.tail - r.head <= r.ring_size_bytes / 64, "head %u, tail %u in a ring of %u bytes", r.head,
          r.tail, r.ring_size_bytes);
    CHECK(s, r.desc_count >= 1 && r.desc_count <= r.desc_capacity && r.desc_capacity <= AEROGPU_ESCAPE_RECENT,
          "%u of %u descriptors", r.desc_count, r.desc_capacity);
    for (uint32_t i = 1; i < r.desc_count; i++)
        CHECK(s, r.desc[i].fence >= r.desc[i - 1].fence, "descriptor %u has fence %llu after %llu", i,
              (unsigned long long)r.desc[i].fence, (unsigned long long)r.desc[i - 1].fence);
    CHECK(s, r.desc[r.desc_count - 1].fence >= f.last_completed_fence,
          "the newest descriptor has fence %llu, %llu is complete",
          (unsigned long long)r.desc[r.desc_count - 1].fence, (unsigned long long)f.last_completed_fence);
    for (uint32_t i = 0; i < r.desc_count; i++)
        CHECK(s,
              !r.desc[i].cmd_gpa == !r.desc[i].cmd_size_bytes &&
                  !r.desc[i].alloc_table_gpa == !r.desc[i].alloc_table_size_bytes,
              "descriptor %u has half a range", i);
}
