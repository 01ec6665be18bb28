/* SPDX-License-Identifier: MIT */
/* Another mode of the list, and back, --iterations times: the mode, the scanout and vblank follow. A mode outside the list is
 * refused. The first step that fails is the last. */
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

/* Sets a mode and looks at it; whether all of it succeeded. */
static bool step(struct suite *s, struct umd_device *d, const D3DKMT_DISPLAYMODE *mode,
                 struct umd_resource **primary)
{
    NTSTATUS st = set(s, d, mode->Width, mode->Height, primary);
    char text[16];

    if (st != STATUS_SUCCESS)
        suite_fail(s, "SetDisplayMode %ux%u: %s", mode->Width, mode->Height, umd_status_name(st, text));
    else
        expect(s, mode->Width, mode->Height);
    return !s->failed;
}

void test_modeset_roundtrip_sanity(struct suite *s)
{
    D3DKMT_DISPLAYMODE modes[64], mode, other = {0};
    D3DKMT_GETDISPLAYMODELIST list = {.hAdapter = s->adapter, .VidPnSourceId = s->source};
    struct umd_device *d = NULL;
    struct umd_resource *there = NULL, *back = NULL, *before = NULL, *bad = NULL;
    uint32_t rounds = suite_default(s->iterations, 1), done = 0;
    NTSTATUS refused, ramp;

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
    for (; done < rounds && !s->failed; done++) {
        if (!step(s, d, &other, &there) || !step(s, d, &mode, &back))
            break;
        umd_destroy(
            there); /* the mode that it was shown in is over; what is shown now stays until the next is */
        if (before)
            umd_destroy(before);
        before = back;
    }
    refused = s->failed ? STATUS_UNSUCCESSFUL : set(s, d, 1000, 333, &bad);
    ramp = s->failed ? STATUS_SUCCESS
                     : D3DKMTSetGammaRamp(&(D3DKMT_SETGAMMARAMP){.hDevice = umd_kmt_device(d),
                                                                 .VidPnSourceId = s->source,
                                                                 .Type = D3DDDI_GAMMARAMP_DEFAULT});
    umd_close(d);
    suite_log(s, "%u of %u round trips", done, rounds);
    if (s->failed)
        return;
    CHECK_EQ_STATUS(s, refused, STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE,
                    "a mode of 1000x333, which is not in the list");
    CHECK_STATUS(s, ramp == STATUS_ACCESS_DENIED && !suite_is_seated(s) ? STATUS_SUCCESS : ramp,
                 "the gamma ramp that does nothing");
    expect(s, mode.Width, mode.Height);
}
