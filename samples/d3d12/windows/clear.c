/* SPDX-License-Identifier: MIT */
/* clear.c: the smallest Direct3D 12 program with a window: clears the back buffer to another colour each frame and
 * presents it. Usage: clear.exe [FRAMES] */
#include "common.h"

int main(int argc, char **argv)
{
    unsigned frames = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
    struct app a;

    app_init(&a, 320, 200);
    for (unsigned i = 0; i < frames; i++) {
        const float colour[4] = {(float)(i % 16) / 15, 0.5f, 1.0f - (float)(i % 16) / 15, 1};

        app_begin(&a);
        ID3D12GraphicsCommandList_ClearRenderTargetView(a.list, app_target(&a), colour, 0, NULL);
        app_end(&a);
        if (i == 8) {
            puts("eight frames");
            fflush(stdout);
        }
    }
    app_finish(&a);
    return 0;
}
