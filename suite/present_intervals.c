/* SPDX-License-Identifier: MIT */
/* Presents with interval n take n vblanks each; interval 0 takes none; there is no interval 5. */
#include "suite.h"

/* With interval 0 presents take as long as the GPU does, which is not 4 vblanks each. */
static NTSTATUS at_once(struct suite *s, struct umd_device *d, struct umd_swapchain *chain, uint32_t n)
{
    struct aerogpu_escape_query_vblank v = {0}, w = {0};
    uint64_t fence = 0;
    NTSTATUS st = SUITE_ESCAPE(s, QUERY_VBLANK, &v);
    double each;

    for (uint32_t i = 0; i < n && NT_SUCCESS(st); i++)
        st = umd_present(chain, 0, &fence);
    if (NT_SUCCESS(st))
        st = umd_wait(d, fence, suite_ms(s, 20000));
    if (NT_SUCCESS(st))
        st = SUITE_ESCAPE(s, QUERY_VBLANK, &w);
    each = (double)(w.vblank_seq - v.vblank_seq) / n;
    suite_measure(s, "vblanks_per_present_0", each);
    if (NT_SUCCESS(st) && each > suite_limit(s, 0.75))
        suite_fail(s, "%u presents with interval 0 took %llu vblanks", n,
                   (unsigned long long)(w.vblank_seq - v.vblank_seq));
    return st;
}

void test_present_intervals(struct suite *s)
{
    struct umd_device *d = NULL;
    struct umd_swapchain chain = {0};
    struct aerogpu_escape_query_vblank v = {0}, w = {0};
    uint32_t n = suite_default(s->samples, 8);
    NTSTATUS st, refused = STATUS_SUCCESS;

    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = umd_swapchain(d, &chain);
    if (NT_SUCCESS(st))
        st = umd_present(&chain, 1, NULL); /* shaders are translated, the first copies are made */
    if (NT_SUCCESS(st))
        st = umd_finish(d, suite_ms(s, 20000));
    if (NT_SUCCESS(st))
        st = at_once(s, d, &chain, 4 * n);
    for (unsigned interval = 1; interval <= 4 && NT_SUCCESS(st); interval++) {
        uint64_t fence = 0;
        char name[32] = "vblanks_per_present_0";
        double each;
        st = umd_present(&chain, interval, &fence);
        if (NT_SUCCESS(st))
            st = umd_wait(d, fence, suite_ms(s, 5000));
        if (NT_SUCCESS(st))
            st = SUITE_ESCAPE(s, QUERY_VBLANK, &v);
        for (uint32_t i = 0; i < n && NT_SUCCESS(st); i++)
            st = umd_present(&chain, interval, &fence);
        if (NT_SUCCESS(st))
            st = umd_wait(d, fence, suite_ms(s, 20000));
        if (NT_SUCCESS(st))
            st = SUITE_ESCAPE(s, QUERY_VBLANK, &w);
        each = (double)(w.vblank_seq - v.vblank_seq) / n;
        name[20] = (char)('0' + interval);
        suite_measure(s, name, each);
        if (NT_SUCCESS(st) && (each < interval - 0.5 || each > suite_limit(s, interval + 1.5)))
            suite_fail(s, "%u presents with interval %u took %llu vblanks" SUITE_SLACK, n, interval,
                       (unsigned long long)(w.vblank_seq - v.vblank_seq));
    }
    if (NT_SUCCESS(st))
        refused = umd_present(&chain, 5, NULL);
    umd_close(d);
    CHECK_STATUS(s, st, "presents");
    CHECK_EQ_STATUS(s, refused, STATUS_INVALID_PARAMETER, "a present with interval 5");
}
