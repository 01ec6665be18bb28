/* SPDX-License-Identifier: MIT */
/* WriteOperation becomes READONLY in the table: an allocation that is only read is marked, one that is written is not. The
 * driver's counters say so, and, where guest memory may be read, the table itself. */
#include "suite.h"

#include <aerogpu/ring.h>

/* The table of the last submission that had one, as the device saw it. STATUS_NOT_SUPPORTED: nobody may look. */
static NTSTATUS read_table(struct suite *s, uint8_t *data, uint32_t size, uint32_t *got)
{
    static struct aerogpu_escape_dump_ring_v2 ring;
    static struct aerogpu_escape_read_gpa r;
    NTSTATUS st;

    memset(&ring, 0, sizeof(ring));
    memset(&r, 0, sizeof(r));
    ring.desc_capacity = AEROGPU_ESCAPE_RECENT;
    st = SUITE_ESCAPE(s, DUMP_RING_V2, &ring);
    for (uint32_t i = ring.desc_count; i-- > 0 && NT_SUCCESS(st) && !r.gpa;) {
        r.gpa = ring.desc[i].alloc_table_gpa;
        r.size_bytes =
            ring.desc[i].alloc_table_size_bytes < size ? ring.desc[i].alloc_table_size_bytes : size;
    }
    if (NT_SUCCESS(st) && !r.gpa)
        st = STATUS_NOT_FOUND;
    if (NT_SUCCESS(st))
        st = SUITE_ESCAPE(s, READ_GPA, &r);
    *got = NT_SUCCESS(st) ? r.bytes_copied : 0;
    memcpy(data, r.data, *got);
    return st;
}

static void check_table(struct suite *s, uint32_t from, uint32_t to)
{
    struct aerogpu_alloc_table_header h;
    struct aerogpu_alloc_entry e;
    uint8_t table[2048];
    uint32_t got, seen = 0;
    NTSTATUS st = read_table(s, table, sizeof(table), &got);

    if (st == STATUS_NOT_SUPPORTED) {
        suite_log(s,
                  "the table itself is not looked at: EnableReadGpaEscape is off, or we are not privileged");
        return;
    }
    CHECK_STATUS(s, st, "reading the last allocation table");
    CHECK(s, got >= sizeof(h), "%u bytes of a table", got);
    memcpy(&h, table, sizeof(h));
    CHECK(s, h.magic == AEROGPU_ALLOC_TABLE_MAGIC && h.entry_stride_bytes >= sizeof(e) && h.size_bytes <= got,
          "no allocation table: magic 0x%08X, %u bytes of %u, stride %u", h.magic, h.size_bytes, got,
          h.entry_stride_bytes);
    for (uint32_t i = 0; i < h.entry_count && sizeof(h) + (i + 1) * h.entry_stride_bytes <= got; i++) {
        memcpy(&e, table + sizeof(h) + i * h.entry_stride_bytes, sizeof(e));
        if (e.alloc_id != from && e.alloc_id != to)
            continue;
        seen += e.alloc_id == from ? 1 : 2;
        CHECK(s, !(e.flags & AEROGPU_ALLOC_FLAG_READONLY) == (e.alloc_id == to),
              "allocation 0x%x, which is %s, has flags 0x%x in the table", e.alloc_id,
              e.alloc_id == to ? "written" : "only read", e.flags);
    }
    CHECK(s, seen == 3, "the table has not both allocations");
    suite_measure(s, "entries_in_the_table", h.entry_count);
}

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
        st = umd_finish(d, suite_ms(s, 5000));
    }
    if (st == STATUS_SUCCESS)
        st = umd_map(to, &data, false);
    if (st == STATUS_SUCCESS) {
        memcpy(got, data, sizeof(got));
        umd_unmap(to);
        st = SUITE_ESCAPE(s, QUERY_PERF, &b);
    }
    if (st == STATUS_SUCCESS)
        check_table(s, from->alloc_id, to->alloc_id);
    umd_close(d);
    if (s->failed)
        return;
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
