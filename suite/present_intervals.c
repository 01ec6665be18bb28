/* Presents with interval n take n vblanks each; interval 0 takes none. */
#include "suite.h"

void test_present_intervals(struct suite *s)
{
    struct umd_device *d = NULL;
    struct umd_swapchain chain = {0};
    struct aerogpu_escape_query_vblank v = {0}, w = {0};
    uint32_t n = suite_default(s->samples, 8);
    NTSTATUS st;

    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = umd_swapchain(d, &chain);
    for (unsigned interval = 1; interval <= 4 && NT_SUCCESS(st); interval++) {
        uint64_t fence = 0;
        char name[32] = "vblanks_per_present_0";
        double each;
        st = umd_present(&chain, interval, &fence);
        if (NT_SUCCESS(st))
            st = umd_wait(d, fence, 5000);
        if (NT_SUCCESS(st))
            st = SUITE_ESCAPE(s, QUERY_VBLANK, &v);
        for (uint32_t i = 0; i < n && NT_SUCCESS(st); i++)
            st = umd_present(&chain, interval, &fence);
        if (NT_SUCCESS(st))
            st = umd_wait(d, fence, 20000);
        if (NT_SUCCESS(st))
            st = SUITE_ESCAPE(s, QUERY_VBLANK, &w);
        each = (double)(w.vblank_seq - v.vblank_seq) / n;
        name[20] = (char)('0' + interval);
        suite_measure(s, name, each);
        if (NT_SUCCESS(st) && (each < interval - 0.5 || each > suite_limit(s, interval + 1.5)))
            suite_fail(s, "%u presents with interval %u took %llu vblanks", n, interval,
                       (unsigned long long)(w.vblank_seq - v.vblank_seq));
    }
    umd_close(d);
    CHECK(s, NT_SUCCESS(st), "presents failed with 0x%08X", (uint32_t)st);
}
