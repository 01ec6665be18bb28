/* SPDX-License-Identifier: MIT */
/* A green triangle on red: drawn, read back, and shown for some frames with intervals. */
#include "suite.h"

#include <stdlib.h>

void test_triangle(struct suite *s)
{
    struct umd_device *d = NULL;
    struct umd_swapchain chain = {0};
    struct suite_scene scene = {0};
    uint32_t *pixels = NULL, frames = suite_default(s->samples, 30);
    uint64_t fence = 0;
    NTSTATUS st;

    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = umd_swapchain(d, &chain);
    if (NT_SUCCESS(st))
        st = suite_scene_create(&scene, d, chain.width, chain.height);
    for (uint32_t i = 0; i < frames && NT_SUCCESS(st); i++) {
        suite_scene_draw(&scene);
        umd_copy_texture(chain.target, scene.target);
        st = umd_present(&chain, 1, &fence);
    }
    if (NT_SUCCESS(st))
        st = umd_wait(d, fence, suite_ms(s, suite_default(s->timeout_ms, 10000)));
    if (st == STATUS_SUCCESS)
        st = umd_read(chain.target, &pixels, suite_ms(s, suite_default(s->timeout_ms, 10000)));
    if (pixels && suite_scene_check(s, pixels, chain.width, chain.height))
        suite_dump(s, "frame", pixels, chain.width, chain.height);
    free(pixels);
    umd_close(d);
    CHECK_STATUS(s, st, "draw, present, read back");
}
