/* SPDX-License-Identifier: MIT */
/* What was drawn comes back through a copy with write-back, at several sizes that do not fill their pitch. */
#include "suite.h"

#include <stdlib.h>

void test_readback_sanity(struct suite *s)
{
    static const uint32_t sizes[][2] = {{64, 64}, {100, 37}, {333, 129}, {640, 480}};
    struct umd_device *d = NULL;

    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    for (int i = 0; i < 4 && !s->failed; i++) {
        struct suite_scene scene;
        uint32_t *pixels = NULL;
        NTSTATUS st = suite_scene_create(&scene, d, sizes[i][0], sizes[i][1]);
        char text[16];
        if (NT_SUCCESS(st)) {
            suite_scene_draw(&scene);
            st = umd_read(scene.target, &pixels, suite_ms(s, suite_default(s->timeout_ms, 10000)));
        }
        if (st != STATUS_SUCCESS)
            suite_fail(s, "%ux%u: %s", sizes[i][0], sizes[i][1], umd_status_name(st, text));
        else if (suite_scene_check(s, pixels, sizes[i][0], sizes[i][1]) && i == 3)
            suite_dump(s, "readback", pixels, sizes[i][0], sizes[i][1]);
        free(pixels);
        suite_scene_destroy(&scene);
    }
    umd_close(d);
}
