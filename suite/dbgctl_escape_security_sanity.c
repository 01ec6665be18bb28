/* SPDX-License-Identifier: MIT */
/* READ_GPA and MAP_SHARED_HANDLE are off unless the registry and the caller's rights open them; open, they refuse
 * addresses and handles that are nobody's. Blocks of wrong sizes get their exact status. */
#include "suite.h"

/* Which status refuses is documented of ours only. */
static void refused(struct suite *s, NTSTATUS status, NTSTATUS ours, const char *what)
{
    if (s->ours)
        CHECK_EQ_STATUS(s, status, ours, what);
    else
        CHECK(s, !NT_SUCCESS(status), "%s was taken", what);
}

void test_dbgctl_escape_security_sanity(struct suite *s)
{
    static struct aerogpu_escape_read_gpa r;
    struct aerogpu_escape_map_shared_handle m = {.shared_handle = 0x7FFF0001};
    struct aerogpu_escape_header h;
    NTSTATUS gpa, map;

    memset(&r, 0, sizeof(r));
    r.gpa = UINT64_C(0xFFFFFFFFFFFFF000);
    r.size_bytes = 16;
    gpa = SUITE_ESCAPE(s, READ_GPA, &r);
    map = SUITE_ESCAPE(s, MAP_SHARED_HANDLE, &m);
    if (!s->ours && NT_SUCCESS(gpa))
        gpa = (NTSTATUS)r.status; /* another miniport may refuse in its block */
    CHECK(s, !NT_SUCCESS(gpa), "READ_GPA of 0xfffffffffffff000 succeeded");
    for (size_t i = 0; i < sizeof(r.data); i++)
        CHECK(s, !r.data[i] && !r.bytes_copied, "READ_GPA of 0xfffffffffffff000 failed and gave bytes");
    CHECK(s, !NT_SUCCESS(map), "MAP_SHARED_HANDLE of a handle that nobody has succeeded");
    suite_log(s, "READ_GPA is %s, MAP_SHARED_HANDLE is %s", gpa == STATUS_NOT_SUPPORTED ? "closed" : "open",
              map == STATUS_NOT_SUPPORTED ? "closed" : "open");
    if (gpa != STATUS_NOT_SUPPORTED) {
        r.gpa = 0;
        r.size_bytes = AEROGPU_ESCAPE_READ_GPA_MAX + 1;
        refused(s, SUITE_ESCAPE(s, READ_GPA, &r), STATUS_INVALID_PARAMETER, "READ_GPA of 4097 bytes");
    }
    refused(s, umd_escape(s->adapter, AEROGPU_ESCAPE_OP_QUERY_FENCE, &h, sizeof(h)), STATUS_BUFFER_TOO_SMALL,
            "QUERY_FENCE in a block of 16 bytes");
    refused(s, umd_escape(s->adapter, 0x4711, &h, sizeof(h)), STATUS_NOT_SUPPORTED,
            "an op that is not there");
}
