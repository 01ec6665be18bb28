/* SPDX-License-Identifier: MIT */
/* READ_GPA and MAP_SHARED_HANDLE are off unless the registry and the caller's rights open them; open, they refuse
 * addresses and handles that are nobody's. Blocks of wrong sizes get their exact status. */
#include "suite.h"

/* READ_GPA; another miniport may refuse in its block. */
static NTSTATUS read_gpa(struct suite *s, struct aerogpu_escape_read_gpa *r, uint64_t gpa, uint32_t size)
{
    NTSTATUS st;

    memset(r, 0, sizeof(*r));
    r->gpa = gpa;
    r->size_bytes = size;
    st = SUITE_ESCAPE(s, READ_GPA, r);
    return s->ours || !NT_SUCCESS(st) ? st : (NTSTATUS)r->status;
}

void test_dbgctl_escape_security_sanity(struct suite *s)
{
    static struct aerogpu_escape_read_gpa r;
    struct aerogpu_escape_map_shared_handle m = {.shared_handle = 0x7FFF0001};
    struct aerogpu_escape_header h;
    NTSTATUS gpa, map;

    gpa = read_gpa(s, &r, UINT64_C(0xFFFFFFFFFFFFF000), 16);
    map = SUITE_ESCAPE(s, MAP_SHARED_HANDLE, &m);
    CHECK(s, !NT_SUCCESS(gpa), "READ_GPA of 0xfffffffffffff000 succeeded");
    for (size_t i = 0; i < sizeof(r.data); i++)
        CHECK(s, !r.data[i] && !r.bytes_copied, "READ_GPA of 0xfffffffffffff000 failed and gave bytes");
    CHECK(s, !NT_SUCCESS(map), "MAP_SHARED_HANDLE of a handle that nobody has succeeded");
    suite_log(s, "READ_GPA is %s, MAP_SHARED_HANDLE is %s", gpa == STATUS_NOT_SUPPORTED ? "closed" : "open",
              map == STATUS_NOT_SUPPORTED ? "closed" : "open");
    if (gpa != STATUS_NOT_SUPPORTED)
        suite_refused(s, read_gpa(s, &r, 0, AEROGPU_ESCAPE_READ_GPA_MAX + 1), STATUS_INVALID_PARAMETER,
                      "READ_GPA of 4097 bytes");
    suite_refused(s, umd_escape(s->adapter, AEROGPU_ESCAPE_OP_QUERY_FENCE, &h, sizeof(h)),
                  STATUS_BUFFER_TOO_SMALL, "QUERY_FENCE in a block of 16 bytes");
    suite_refused(s, umd_escape(s->adapter, 0x4711, &h, sizeof(h)), STATUS_NOT_SUPPORTED,
                  "an op that is not there");
}
