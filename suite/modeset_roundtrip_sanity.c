/* SPDX-License-Identifier: MIT */
/* Another mode of the list, and back: the mode, the scanout and vblank follow. A mode outside the list is refused. */
#include "suite.h"

static NTSTATUS set(struct suite *s, struct umd_device *d, uint32_t width, uint32_t height,
                    struct umd_resource **r)
{
    struct umd_texture_params p = {.width = width,
                                   .height = height,
                                   .format = AEROGPU_FORMAT_B8G8R8X8_UNORM,
                                   .usage = AEROGPU_RESOURCE_USAGE_SCANOUT,
                                   .primary = true};
    NTSTATUS st = umd_texture(d, r, &p);

    if (NT_SUCCESS(st))
        st = umd_finish(d, suite_ms(s, 5000));
    if (st == STATUS_SUCCESS)
        st = D3DKMTSetDisplayMode(&(D3DKMT_SETDISPLAYMODE){.hDevice = umd_kmt_device(d),
                                                           .hPrimaryAllocation = (*r)->allocation,
                                                           .ScanLineOrdering = D3DDDI_VSSLO_PROGRESSIVE,
                                                           .DisplayOrientation = D3DDDI_ROTATION_IDENTITY});
    return st;
}

static void expect(struct suite *s, uint32_t width, uint32_t height)
{
    struct aerogpu_escape_query_scanout q = {0};
    D3DKMT_DISPLAYMODE mode;

    CHECK_STATUS(s, suite_mode(s, &mode), "CURRENTDISPLAYMODE");
    CHECK(s, mode.Width == width && mode.Height == height, "the mode is %ux%u, %ux%u was set", mode.Width,
          mode.Height, width, height);
    CHECK_STATUS(s, suite_wait_vblank(s), "vblank in the new mode");
    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_SCANOUT, &q), "QUERY_SCANOUT");
    CHECK(s, q.mmio_enable && q.mmio_width == width && q.mmio_height == height && q.mmio_fb_gpa,
          "scanout %ux%u, enable %u, frame buffer 0x%llx in mode %ux%u", q.mmio_width, q.mmio_height,
          q.mmio_enable, (unsigned long long)q.mmio_fb_gpa, width, height);
}

void test_modeset_roundtrip_sanity(struct suite *s)
{
    D3DKMT_DISPLAYMODE modes[64], mode, other = {0};
    D3DKMT_GETDISPLAYMODELIST list = {.hAdapter = s->adapter, .VidPnSourceId = s->source};
    struct umd_device *d = NULL;
    struct umd_resource *there = NULL, *back = NULL, *bad = NULL;
    NTSTATUS st, refused;

    CHECK_STATUS(s, suite_mode(s, &mode), "CURRENTDISPLAYMODE");
    CHECK_STATUS(s, D3DKMTGetDisplayModeList(&list), "GetDisplayModeList");
    CHECK(s, list.ModeCount && list.ModeCount <= 64, "%u modes", list.ModeCount);
    list.pModeList = modes;
    CHECK_STATUS(s, D3DKMTGetDisplayModeList(&list), "GetDisplayModeList");
    for (UINT i = 0; i < list.ModeCount && !other.Width; i++)
        if (modes[i].Width != mode.Width)
            other = modes[i];
    suite_log(s, "%u modes; %ux%u and back to %ux%u", list.ModeCount, other.Width, other.Height, mode.Width,
              mode.Height);
    if (!other.Width) {
        suite_skip(s, "there is one mode only");
        return;
    }
    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = set(s, d, other.Width, other.Height, &there);
    if (st == STATUS_SUCCESS)
        expect(s, other.Width, other.Height);
    if (!s->failed && NT_SUCCESS(st))
        st = set(s, d, mode.Width, mode.Height, &back);
    if (!s->failed && NT_SUCCESS(st))
        expect(s, mode.Width, mode.Height);
    refused = s->failed || !NT_SUCCESS(st) ? STATUS_UNSUCCESSFUL : set(s, d, 1000, 333, &bad);
    umd_close(d);
    CHECK_STATUS(s, st, "SetDisplayMode");
    CHECK_EQ_STATUS(s, refused, STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE,
                    "a mode of 1000x333, which is not in the list");
    expect(s, mode.Width, mode.Height);
}
