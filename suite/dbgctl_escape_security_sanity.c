/* SPDX-License-Identifier: MIT */
/* READ_GPA and MAP_SHARED_HANDLE are off unless the registry and the caller's rights open them; open, they refuse
 * addresses and handles that are nobody's. Blocks of wrong sizes get their exact status. */
#include "suite.h"

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
    CHECK(s, !NT_SUCCESS(gpa), "READ_GPA of 0xfffffffffffff000 succeeded");
    for (size_t i = 0; i < sizeof(r.data); i++)
        CHECK(s, !r.data[i] && !r.bytes_copied, "READ_GPA of 0xfffffffffffff000 failed and gave bytes");
    CHECK(s, !NT_SUCCESS(map), "MAP_SHARED_HANDLE of a handle that nobody has succeeded");
    suite_log(s, "READ_GPA is %s, MAP_SHARED_HANDLE is %s", gpa == STATUS_NOT_SUPPORTED ? "closed" : "open",
              map == STATUS_NOT_SUPPORTED ? "closed" : "open");
    if (gpa != STATUS_NOT_SUPPORTED) {
        r.gpa = 0;
        r.size_bytes = AEROGPU_ESCAPE_READ_GPA_MAX + 1;
        CHECK_EQ_STATUS(s, SUITE_ESCAPE(s, READ_GPA, &r), STATUS_INVALID_PARAMETER, "READ_GPA of 4097 bytes");
    }
    CHECK_EQ_STATUS(s, umd_escape(s->adapter, AEROGPU_ESCAPE_OP_QUERY_FENCE, &h, sizeof(h)),
                    STATUS_BUFFER_TOO_SMALL, "QUERY_FENCE in a block of 16 bytes");
    CHECK_EQ_STATUS(s, umd_escape(s->adapter, 0x4711, &h, sizeof(h)), STATUS_NOT_SUPPORTED,
                    "an op that is not there");
}
