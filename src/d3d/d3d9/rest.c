/* SPDX-License-Identifier: MIT */
/* rest.c: cursors, palettes, gamma ramps, and what is refused as documented: patches. */
#include "d3d/d3d9/tables.h"
#include "base/export.h"
#include "d3d/d3d9/rt9.h"

#include "d3d/d3d9/cursor.h"

struct d9_palette {
    struct d9_palette *next;
    UINT number;
    PALETTEENTRY entries[256];
};

/* ---- cursors ------------------------------------------------------------------------------- */

static bool power_of_two(UINT n)
{
    return n && !(n & (n - 1));
}

HRESULT STDMETHODCALLTYPE d9_device_SetCursorProperties(IDirect3DDevice9Ex *This, UINT x, UINT y,
                                                        IDirect3DSurface9 *picture)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_surface *s = d9_surface_of(picture);
    D3DDISPLAYMODEEX mode;
    D3DLOCKED_RECT l;

    if (!s || s->resource->format != D3DFMT_A8R8G8B8 || !d9_display_mode(d->factory, &mode) ||
        !power_of_two(s->width) || !power_of_two(s->height) || s->width > mode.Width ||
        s->height > mode.Height || x >= s->width || y >= s->height)
        return D3DERR_INVALIDCALL;
    if (d9_lock(s->resource, s->index, NULL, D3DLOCK_READONLY, &l) != D3D_OK)
        return D3DERR_INVALIDCALL;
    d9_cursor_end(d->cursor);
    d->cursor = d9_cursor_make(l.pBits, (UINT)l.Pitch, s->width, s->height, x, y);
    d9_unlock(s->resource, s->index);
    if (!d->cursor)
        return E_OUTOFMEMORY;
    if (d->cursor_shown)
        d9_cursor_show(d->cursor);
    return D3D_OK;
}

void STDMETHODCALLTYPE d9_device_SetCursorPosition(IDirect3DDevice9Ex *This, int x, int y, DWORD flags)
{
    d9_cursor_move(x, y);
}

BOOL STDMETHODCALLTYPE d9_device_ShowCursor(IDirect3DDevice9Ex *This, BOOL show)
{
    struct d9_device *d = d9_device_of(This);
    BOOL old = d->cursor_shown;

    if (!d->cursor) /* nothing to show */
        return FALSE;
    d->cursor_shown = show != 0;
    d9_cursor_show(show ? d->cursor : NULL);
    return old;
}

/* ---- palettes: kept, for no format here has one ---------------------------------------------- */

static struct d9_palette *palette_of(struct d9_device *d, UINT number, bool make)
{
    struct d9_palette *p = d->palettes;

    while (p && p->number != number)
        p = p->next;
    if (p || !make || !(p = calloc(1, sizeof(*p))))
        return p;
    p->number = number;
    p->next = d->palettes;
    d->palettes = p;
    return p;
}

HRESULT STDMETHODCALLTYPE d9_device_SetPaletteEntries(IDirect3DDevice9Ex *This, UINT number,
                                                      const PALETTEENTRY *entries)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_palette *p;

    if (!entries || number > 0xFFFF)
        return D3DERR_INVALIDCALL;
    for (int i = 0; i < 256 && !(d->factory->caps.TextureCaps & D3DPTEXTURECAPS_ALPHAPALETTE); i++)
        if (entries[i].peFlags != 255)
            return D3DERR_INVALIDCALL;
    p = palette_of(d, number, true);
    if (!p)
        return E_OUTOFMEMORY;
    memcpy(p->entries, entries, sizeof(p->entries));
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetPaletteEntries(IDirect3DDevice9Ex *This, UINT number,
                                                      PALETTEENTRY *entries)
{
    const struct d9_palette *p = palette_of(d9_device_of(This), number, false);

    if (!entries || !p)
        return D3DERR_INVALIDCALL;
    memcpy(entries, p->entries, sizeof(p->entries));
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_SetCurrentTexturePalette(IDirect3DDevice9Ex *This, UINT number)
{
    if (!palette_of(d9_device_of(This), number, false))
        return D3DERR_INVALIDCALL;
    d9_device_of(This)->palette = number;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetCurrentTexturePalette(IDirect3DDevice9Ex *This, UINT *number)
{
    if (!number)
        return D3DERR_INVALIDCALL;
    *number = d9_device_of(This)->palette;
    return D3D_OK;
}

/* ---- gamma ------------------------------------------------------------------------------------ */

void STDMETHODCALLTYPE d9_device_SetGammaRamp(IDirect3DDevice9Ex *This, UINT chain, DWORD flags,
                                              const D3DGAMMARAMP *ramp)
{
    struct d9_device *d = d9_device_of(This);
    D3DKMT_SETGAMMARAMP g = {.hDevice = d->kmt.device, .VidPnSourceId = d->factory->source};
    D3DDDI_GAMMA_RAMP_RGB256x3x16 words;

    if (chain || !ramp)
        return;
    d->gamma = *ramp;
    if (!d->chains[0] || d->chains[0]->params.Windowed) /* documented to be of full screen */
        return;
    memcpy(&words, ramp, sizeof(words));
    g.Type = D3DDDI_GAMMARAMP_RGB256x3x16;
    g.Size = sizeof(words);
    g.pGammaRampRgb256x3x16 = &words;
    D3DKMTSetGammaRamp(&g);
}

void STDMETHODCALLTYPE d9_device_GetGammaRamp(IDirect3DDevice9Ex *This, UINT chain, D3DGAMMARAMP *ramp)
{
    struct d9_device *d = d9_device_of(This);

    if (chain || !ramp)
        return;
    if (!d->gamma.red[255]) /* never set: as it is */
        for (int i = 0; i < 256; i++)
            d->gamma.red[i] = d->gamma.green[i] = d->gamma.blue[i] = (WORD)(i * 257);
    *ramp = d->gamma;
}

/* ---- N-patches: the device has none -------------------------------------------------------------- */

HRESULT STDMETHODCALLTYPE d9_device_SetNPatchMode(IDirect3DDevice9Ex *This, float segments)
{
    return D3D_OK;
}

float STDMETHODCALLTYPE d9_device_GetNPatchMode(IDirect3DDevice9Ex *This)
{
    return 0;
}

HRESULT STDMETHODCALLTYPE d9_device_DrawRectPatch(IDirect3DDevice9Ex *This, UINT handle,
                                                  const float *segments, const D3DRECTPATCH_INFO *info)
{
    return D3DERR_INVALIDCALL;
}

HRESULT STDMETHODCALLTYPE d9_device_DrawTriPatch(IDirect3DDevice9Ex *This, UINT handle, const float *segments,
                                                 const D3DTRIPATCH_INFO *info)
{
    return D3DERR_INVALIDCALL;
}

HRESULT STDMETHODCALLTYPE d9_device_DeletePatch(IDirect3DDevice9Ex *This, UINT handle)
{
    return D3DERR_INVALIDCALL;
}

void d9_rest_finish(struct d9_device *d)
{
    for (struct d9_palette *p = d->palettes, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    free(d->more_constants);
    d9_cursor_end(d->cursor);
}
