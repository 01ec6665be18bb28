/* SPDX-License-Identifier: MIT */
/* The budget is within the documented clamp, GETSEGMENTSIZE and the segment's statistics say the same, and it is kept:
 * what does not fit is refused with STATUS_GRAPHICS_NO_VIDEO_MEMORY. NonLocalMemorySizeMB sets it, and is clamped: seen on
 * services of our own. */
#include "suite.h"

#include <stdio.h>

static NTSTATUS budget_of(struct suite *s, uint64_t *bytes)
{
    D3DKMT_SEGMENTSIZEINFO size = {0};
    NTSTATUS st = D3DKMTQueryAdapterInfo(&(D3DKMT_QUERYADAPTERINFO){.hAdapter = s->adapter,
                                                                    .Type = KMTQAITYPE_GETSEGMENTSIZE,
                                                                    .pPrivateDriverData = &size,
                                                                    .PrivateDriverDataSize = sizeof(size)});

    *bytes = size.SharedSystemMemorySize;
    return st;
}

/* The setting takes effect, within its limits. */
static void check_setting(struct suite *s, uint32_t mib, uint32_t want)
{
    struct suite_service v;
    char parameters[64];
    uint64_t budget = 0;
    json_t *events;

    snprintf(parameters, sizeof(parameters), "[HKR\\Parameters]\nNonLocalMemorySizeMB = %u", mib);
    if (suite_service_up(s, &v, "", parameters) && budget_of(s, &budget) != STATUS_SUCCESS)
        suite_fail(s, "GETSEGMENTSIZE with NonLocalMemorySizeMB = %u", mib);
    suite_service_down(s, &v, &events);
    json_decref(events);
    CHECK(s, s->failed || s->skipped || budget >> 20 == want,
          "NonLocalMemorySizeMB = %u gives %llu MiB, expected %u", mib, (unsigned long long)budget >> 20,
          want);
}

void test_segment_budget_sanity(struct suite *s)
{
    D3DKMT_SEGMENTSIZEINFO size = {0};
    D3DKMT_QUERYADAPTERINFO q = {.hAdapter = s->adapter,
                                 .Type = KMTQAITYPE_GETSEGMENTSIZE,
                                 .pPrivateDriverData = &size,
                                 .PrivateDriverDataSize = sizeof(size)};
    D3DKMT_OPENADAPTERFROMHDC open = {.hDc = (HDC)(uintptr_t)s->display};
    D3DKMT_QUERYSTATISTICS st = {.Type = D3DKMT_QUERYSTATISTICS_SEGMENT};
    struct umd_device *d;
    struct umd_resource *r = NULL;
    uint64_t budget;
    NTSTATUS status;

    CHECK_STATUS(s, D3DKMTQueryAdapterInfo(&q), "GETSEGMENTSIZE");
    budget = size.SharedSystemMemorySize;
    suite_log(s, "dedicated video %llu, dedicated system %llu, shared system %llu MiB",
              (unsigned long long)size.DedicatedVideoMemorySize >> 20,
              (unsigned long long)size.DedicatedSystemMemorySize >> 20, (unsigned long long)budget >> 20);
    CHECK(s, budget >= UINT64_C(128) << 20 && budget <= UINT64_C(2048) << 20,
          "NonLocalMemorySize is %llu MiB, outside 128 to 2048", (unsigned long long)budget >> 20);
    suite_measure(s, "budget_mib", (double)(budget >> 20));
    CHECK_STATUS(s, D3DKMTOpenAdapterFromHdc(&open), "D3DKMTOpenAdapterFromHdc");
    st.AdapterLuid = open.AdapterLuid;
    status = D3DKMTQueryStatistics(&st);
    D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){.hAdapter = open.hAdapter});
    CHECK_STATUS(s, status, "QueryStatistics(SEGMENT 0)");
    CHECK(s, st.QueryResult.SegmentInformation.CommitLimit == budget,
          "the segment commits %llu bytes, the budget is %llu",
          (unsigned long long)st.QueryResult.SegmentInformation.CommitLimit, (unsigned long long)budget);
    suite_expect_event(s, "dxgkrnl", 5, SUITE_ANY_NUMBER); /* one a second: another program's may be it */
    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    status = umd_buffer(d, &r, AEROGPU_RESOURCE_USAGE_STORAGE, NULL, (uint32_t)(budget + 4096), true);
    umd_close(d);
    CHECK_EQ_STATUS(s, status, STATUS_GRAPHICS_NO_VIDEO_MEMORY,
                    "an allocation that is larger than the budget");
    check_setting(s, 1024, 1024);
    if (!s->failed && !s->skipped)
        check_setting(s, 1, 128);
    if (!s->failed && !s->skipped)
        check_setting(s, 100000, 2048);
}
