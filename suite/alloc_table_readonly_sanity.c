/* WriteOperation becomes READONLY in the table: an allocation that is only read is marked, one that is written is not,
 * and the device refuses to write back into one that is marked. */
#include "suite.h"

void test_alloc_table_readonly_sanity(struct suite *s)
{
    struct aerogpu_escape_query_perf a = {0}, b = {0};
    struct umd_device *d = NULL;
    struct umd_resource *from = NULL, *to = NULL;
    static const uint32_t words[16] = {1, 2, 3, 4};
    uint32_t got[4] = {0};
    void *data;
    NTSTATUS st;

    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_PERF, &a), "QUERY_PERF");
    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = umd_buffer(d, &from, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, words, sizeof(words), true);
    if (NT_SUCCESS(st))
        st = umd_buffer(d, &to, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, NULL, sizeof(words), true);
    if (NT_SUCCESS(st)) {
        umd_copy_buffer(to, from, sizeof(words));
        st = umd_finish(d, 5000);
    }
    if (st == STATUS_SUCCESS)
        st = umd_map(to, &data, false);
    if (st == STATUS_SUCCESS) {
        memcpy(got, data, sizeof(got));
        umd_unmap(to);
        st = SUITE_ESCAPE(s, QUERY_PERF, &b);
    }
    umd_close(d);
    CHECK_STATUS(s, st, "a copy between two allocations");
    CHECK(s, b.alloc_table_entries - a.alloc_table_entries >= 2, "%llu entries for two allocations",
          (unsigned long long)(b.alloc_table_entries - a.alloc_table_entries));
    CHECK(s, b.alloc_table_readonly_entries > a.alloc_table_readonly_entries, "the source is not READONLY");
    CHECK(s,
          b.alloc_table_readonly_entries - a.alloc_table_readonly_entries <
              b.alloc_table_entries - a.alloc_table_entries,
          "the destination is READONLY");
    if (!(s->host && s->host->sim))
        CHECK(s, got[0] == 1 && got[3] == 4, "the copy gives %u … %u", got[0], got[3]);
}
