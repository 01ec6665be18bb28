/* SPDX-License-Identifier: MIT */
/* pointer.c: what win32k asks of a display beside its modes: pointer, palette, gamma ramp. */
#include "dxgkrnl/pointer.h"

#include <stdlib.h>
#include <string.h>

#include "dxgkrnl/display/recommend.h"
#include "dxgkrnl/thunks/thunks.h"

/* ---- the pointer --------------------------------------------------------- */

/* The caller's `size` bytes hold the shape that they speak of, and the miniport said that it can show it. */
static NTSTATUS check_shape(const struct dxgk *d, const struct dxgk_pointer *p, size_t size)
{
    bool mono = p->shape == DXGK_POINTER_MONOCHROME;
    uint64_t row = mono ? ((uint64_t)p->width + 7) / 8 : 4 * (uint64_t)p->width;

    if (p->shape != DXGK_POINTER_MONOCHROME && p->shape != DXGK_POINTER_COLOR &&
        p->shape != DXGK_POINTER_MASKED)
        return STATUS_INVALID_PARAMETER;
    if (!(d->caps.PointerCaps.Value & p->shape) || p->width > d->caps.MaxPointerWidth ||
        p->height > d->caps.MaxPointerHeight)
        return STATUS_NOT_SUPPORTED; /* win32k would draw it itself */
    if (!p->width || !p->height || p->hot_x >= p->width || p->hot_y >= p->height || p->pitch < row ||
        (uint64_t)p->pitch * p->height * (mono ? 2 : 1) > size - sizeof(*p))
        return STATUS_INVALID_PARAMETER;
    return STATUS_SUCCESS;
}

static NTSTATUS show_shape(struct dxgk *d, const struct dxgk_pointer *p)
{
    const size_t size = (size_t)p->pitch * p->height * (p->shape == DXGK_POINTER_MONOCHROME ? 2 : 1);
    void *pixels = dxgk_inputs_lend(p + 1, size);
    DXGKARG_SETPOINTERSHAPE args = {.Flags.Value = p->shape,
                                    .Width = p->width,
                                    .Height = p->height,
                                    .Pitch = p->pitch,
                                    .VidPnSourceId = p->source,
                                    .pPixels = pixels,
                                    .XHot = p->hot_x,
                                    .YHot = p->hot_y};

    NTSTATUS s = DDI_ARG(d, SetPointerShape, d->miniport, &args);

    dxgk_inputs_take_back(d, "DxgkDdiSetPointerShape", "pPixels", pixels, p + 1, size);
    return s;
}

static NTSTATUS show_position(struct dxgk *d, const struct dxgk_pointer *p)
{
    DXGKARG_SETPOINTERPOSITION args = {
        .VidPnSourceId = p->source, .X = p->x, .Y = p->y, .Flags.Visible = !!p->visible};

    return DDI_ARG(d, SetPointerPosition, d->miniport, &args);
}

NTSTATUS dxgk_pointer_set(struct dxgk *d, const void *data, size_t size)
{
    struct dxgk_pointer *p, **kept;
    NTSTATUS s = STATUS_SUCCESS;

    if (size < sizeof(*p))
        return STATUS_INVALID_PARAMETER;
    p = malloc(size);
    if (!p)
        return STATUS_NO_MEMORY;
    memcpy(p, data, size);
    if (p->source >= d->display.num_sources || p->visible > 1) {
        free(p);
        return STATUS_INVALID_PARAMETER;
    }
    kept = &d->display.sources[p->source].pointer;
    if (p->shape)
        s = check_shape(d, p, size);
    else if (!*kept)
        s = STATUS_INVALID_PARAMETER; /* there is no shape yet to keep */
    if (NT_SUCCESS(s) && p->shape)
        s = show_shape(d, p);
    if (NT_SUCCESS(s))
        s = show_position(d, p);
    if (NT_SUCCESS(s) && p->shape) {
        free(*kept);
        *kept = p;
        return s;
    }
    if (NT_SUCCESS(s)) {
        (*kept)->x = p->x;
        (*kept)->y = p->y;
        (*kept)->visible = p->visible;
    }
    free(p);
    return s;
}

void dxgk_pointer_restore(struct dxgk *d, UINT source)
{
    const struct dxgk_pointer *p = d->display.sources[source].pointer;

    if (p && NT_SUCCESS(show_shape(d, p)))
        show_position(d, p);
}

/* ---- colours ------------------------------------------------------------- */

/* A mode whose pixels index a palette starts with shades of grey. */
void dxgk_palette_start(struct dxgk *d, UINT source)
{
    D3DKMDT_PALETTEDATA grey[256], *lent;
    DXGKARG_SETPALETTE args = {.VidPnSourceId = source, .NumEntries = 256};

    for (unsigned i = 0; i < 256; i++)
        grey[i] = (D3DKMDT_PALETTEDATA){(BYTE)i, (BYTE)i, (BYTE)i, 0};
    args.pLookupTable = lent = dxgk_inputs_lend(grey, sizeof(grey));
    DDI_ARG(d, SetPalette, d->miniport, &args);
    dxgk_inputs_take_back(d, "DxgkDdiSetPalette", "pLookupTable", lent, grey, sizeof(grey));
}

static NTSTATUS set_ramp(struct dxgk *d, struct device *dev, const D3DKMT_SETGAMMARAMP *arg)
{
    const struct source *s = &d->display.sources[arg->VidPnSourceId];
    DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH args = {0};
    const struct vidpn_path *path = d->display.active ? d->display.active->paths : NULL;

    if (s->owner && s->owner != dev)
        return STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER;
    while (path && path->info.VidPnSourceId != arg->VidPnSourceId)
        path = path->next;
    if (!path)
        return STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY;
    args.VidPnPresentPathInfo = path->info;
    args.VidPnPresentPathInfo.GammaRamp.Type = arg->Type;
    args.VidPnPresentPathInfo.GammaRamp.DataSize = 0;
    args.VidPnPresentPathInfo.GammaRamp.Data.pRaw = NULL;
    switch (arg->Type) {
    case D3DDDI_GAMMARAMP_DEFAULT:
        break;
    case D3DDDI_GAMMARAMP_RGB256x3x16:
        if (!arg->pGammaRampRgb256x3x16 || arg->Size != sizeof(*arg->pGammaRampRgb256x3x16))
            return STATUS_INVALID_PARAMETER;
        if (!d->caps.GammaRampCaps.Gamma_Rgb256x3x16)
            return STATUS_GRAPHICS_GAMMA_RAMP_NOT_SUPPORTED;
        args.VidPnPresentPathInfo.GammaRamp.DataSize = arg->Size;
        args.VidPnPresentPathInfo.GammaRamp.Data.pRgb256x3x16 = arg->pGammaRampRgb256x3x16;
        break;
    default:
        return STATUS_GRAPHICS_GAMMA_RAMP_NOT_SUPPORTED;
    }
    return DDI_ARG(d, UpdateActiveVidPnPresentPath, d->miniport, &args);
}

NTSTATUS dxgk_SetGammaRamp(struct dxgk_client *c, CONST D3DKMT_SETGAMMARAMP *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct device *dev = dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c);
    NTSTATUS s = dev ? dxgk_thunk_usable(d, dev) : STATUS_INVALID_HANDLE;

    if (NT_SUCCESS(s) && arg->VidPnSourceId >= d->display.num_sources)
        s = STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    if (NT_SUCCESS(s) && !c->seated)
        s = STATUS_ACCESS_DENIED;
    if (NT_SUCCESS(s)) {
        s = STATUS_DEVICE_REMOVED;
        if (dxgk_adapter_lock(d)) {
            s = set_ramp(d, dev, arg);
            dxgk_adapter_unlock(d);
        }
    }
    return dxgk_thunk_leave(d, s);
}
