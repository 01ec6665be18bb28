/* The budget is within the documented clamp, GETSEGMENTSIZE and the segment's statistics say the same, and it is kept:
 * what does not fit is refused with STATUS_GRAPHICS_NO_VIDEO_MEMORY. */
#include "suite.h"

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
    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    status = umd_buffer(d, &r, AEROGPU_RESOURCE_USAGE_STORAGE, NULL, (uint32_t)(budget + 4096), true);
    umd_close(d);
    CHECK_EQ_STATUS(s, status, STATUS_GRAPHICS_NO_VIDEO_MEMORY,
                    "an allocation that is larger than the budget");
}
