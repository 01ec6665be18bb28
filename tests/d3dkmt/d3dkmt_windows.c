/* SPDX-License-Identifier: MIT */
/* d3dkmt_windows.c: a Windows program that calls D3DKMT, run under Wine against a service (d3dkmt_wine_test.sh). Prints TAP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umd/umd.h"

static int number, failed;

static void ok(bool good, const char *what)
{
    printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
    failed |= !good;
}

static void driver_name(struct umd_device *d)
{
    D3DKMT_UMDFILENAMEINFO info = {.Version = KMTUMDVERSION_DX11};
    D3DKMT_QUERYADAPTERINFO q = {.hAdapter = umd_adapter(d),
                                 .Type = KMTQAITYPE_UMDRIVERNAME,
                                 .pPrivateDriverData = &info,
                                 .PrivateDriverDataSize = sizeof(info)};
    const char *expected = sizeof(void *) == 8 ? "aerogpu_d3d10_x64.dll" : "aerogpu_d3d10.dll";
    bool same = D3DKMTQueryAdapterInfo(&q) == STATUS_SUCCESS;

    for (size_t i = 0; i <= strlen(expected); i++)
        same &= info.UmdFileName[i] == (WCHAR)expected[i];
    ok(same, "the adapter names its user-mode driver");
    info.Version = NUM_KMTUMDVERSIONS;
    ok(D3DKMTQueryAdapterInfo(&q) == STATUS_INVALID_PARAMETER, "of an interface that there is");
}

static void picture(struct umd_device *d)
{
    struct umd_texture_params p = {.width = 64,
                                   .height = 64,
                                   .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
                                   .usage = AEROGPU_RESOURCE_USAGE_RENDER_TARGET};
    struct umd_resource *t = NULL;
    uint32_t *pixels = NULL;
    unsigned same = 0;

    if (umd_texture(d, &t, &p) == STATUS_SUCCESS) {
        umd_target(d, t);
        umd_clear(d, 1, 0.5f, 0, 1);
        if (umd_read(t, &pixels, 10000) == STATUS_SUCCESS)
            for (int i = 0; i < 64 * 64; i++)
                same += pixels[i] == 0xFFFF8000 || pixels[i] == 0xFFFF7F00;
    }
    ok(same == 64 * 64, "what it clears it reads back");
    free(pixels);
    umd_destroy(t);
}

static void presents(struct umd_device *d)
{
    D3DKMT_WAITFORVERTICALBLANKEVENT v = {.hAdapter = umd_adapter(d)};
    struct umd_swapchain s;
    NTSTATUS st = umd_swapchain(d, &s);
    uint64_t fence = 0;

    for (int i = 0; i < 8 && st == STATUS_SUCCESS; i++) {
        umd_target(d, s.target);
        umd_clear(d, 0, (float)i / 8, 0, 1);
        st = umd_present(&s, 1, &fence);
    }
    ok(st == STATUS_SUCCESS && umd_wait(d, fence, 10000) == STATUS_SUCCESS, "eight frames are shown");
    umd_swapchain_finish(&s);
    st = STATUS_SUCCESS;
    for (int i = 0; i < 3 && st == STATUS_SUCCESS; i++)
        st = D3DKMTWaitForVerticalBlankEvent(&v);
    ok(st == STATUS_SUCCESS, "it waits for vblanks");
}

int main(void)
{
    struct umd_device *d = NULL, *second = NULL;
    NTSTATUS s = umd_open(&d, NULL);
    char buffer[16];

    setvbuf(stdout, NULL, _IONBF, 0);
    if (s != STATUS_SUCCESS) {
        printf("Bail out! no device: %s\n", umd_status_name(s, buffer));
        return 1;
    }
    driver_name(d);
    picture(d);
    presents(d);
    ok(umd_open(&second, NULL) == STATUS_SUCCESS, "a second device opens beside it");
    umd_close(second);
    umd_close(d);
    printf("1..%d\n", number);
    return failed;
}
