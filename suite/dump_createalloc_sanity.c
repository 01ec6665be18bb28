/* SPDX-License-Identifier: MIT */
/* What is allocated appears in the trace, with its id and size. */
#include "suite.h"

void test_dump_createalloc_sanity(struct suite *s)
{
    static struct aerogpu_escape_dump_createallocation t;
    struct umd_device *d = NULL;
    struct umd_resource *r = NULL;
    uint32_t id = 0, first = 0;
    NTSTATUS st;

    memset(&t, 0, sizeof(t));
    t.entry_capacity = AEROGPU_ESCAPE_RECENT;
    CHECK_STATUS(s, SUITE_ESCAPE(s, DUMP_CREATEALLOCATION, &t), "DUMP_CREATEALLOCATION");
    first = t.write_index;
    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = umd_buffer(d, &r, AEROGPU_RESOURCE_USAGE_STORAGE, NULL, 12344, true);
    if (NT_SUCCESS(st))
        id = r->alloc_id;
    umd_close(d);
    CHECK_STATUS(s, st, "a buffer of 12344 bytes");
    t.entry_capacity = AEROGPU_ESCAPE_RECENT;
    CHECK_STATUS(s, SUITE_ESCAPE(s, DUMP_CREATEALLOCATION, &t), "DUMP_CREATEALLOCATION");
    CHECK(s, t.write_index > first, "write_index %u, then %u", first, t.write_index);
    CHECK(s, t.entry_count <= t.entry_capacity && t.entry_count <= AEROGPU_ESCAPE_RECENT, "%u of %u entries",
          t.entry_count, t.entry_capacity);
    for (uint32_t i = 0; i < t.entry_count; i++)
        if (t.entries[i].alloc_id == id) {
            CHECK(s, t.entries[i].size_bytes == 12344, "allocation 0x%x has %llu bytes in the trace", id,
                  (unsigned long long)t.entries[i].size_bytes);
            CHECK(s, t.entries[i].alloc_index < t.entries[i].num_allocations, "index %u of %u",
                  t.entries[i].alloc_index, t.entries[i].num_allocations);
            return;
        }
    suite_fail(s, "allocation 0x%x is not in the trace", id);
}
