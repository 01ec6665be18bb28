/* SPDX-License-Identifier: MIT */
/* A dispatch fills a buffer with a Mandelbrot picture; known points of it are looked at after a copy back. */
#include "suite.h"

void test_compute_smoke(struct suite *s)
{
    enum { SIZE = 64 * 64 * 4 };
    struct umd_device *d = NULL;
    struct umd_resource *buffer = NULL, *back = NULL;
    uint32_t outside = 0, inside = 0;
    void *data;
    NTSTATUS st;

    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = suite_dispatch(d, &buffer, 8, 8);
    if (NT_SUCCESS(st))
        st = umd_buffer(d, &back, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, NULL, SIZE, true);
    if (NT_SUCCESS(st)) {
        umd_copy_buffer(back, buffer, SIZE);
        st = umd_finish(d, suite_ms(s, suite_default(s->timeout_ms, 10000)));
    }
    if (st == STATUS_SUCCESS)
        st = umd_map(back, &data, false);
    if (st == STATUS_SUCCESS) {
        const uint32_t *words = data;
        outside = words[0];           /* c = -2-1i leaves at once */
        inside = words[32 * 64 + 40]; /* c = -0.125, inside the set: 31 rounds */
        suite_dump(s, "mandelbrot", words, 64, 64);
        umd_unmap(back);
    }
    umd_close(d);
    CHECK_STATUS(s, st, "dispatch and read back");
    if (s->host && s->host->sim)
        return;
    CHECK(s, inside == (0xFF000000u | 7u << 16 | 124u << 8 | 248u),
          "inside the set: 0x%08x, expected 0xff077cf8", inside);
    CHECK(s, outside >> 24 == 0xFF && (outside & 0xFF) < 31 * 8, "outside: 0x%08x", outside);
}
