/* SPDX-License-Identifier: MIT */
/* surface.c: surfaces: those of textures and swap chains, and those of their own; and what GDI draws on them. */
#include "d3d/d3d9/tables.h"
#include "d3d/d3d9/rt9.h"

#include "d3d/window.h"

HRESULT STDMETHODCALLTYPE d9_surface_QueryInterface(IDirect3DSurface9 *This, REFIID riid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (!IsEqualGUID(riid, &IID_IUnknown) && !IsEqualGUID(riid, &IID_IDirect3DResource9) &&
        !IsEqualGUID(riid, &IID_IDirect3DSurface9))
        return E_NOINTERFACE;
    *out = This;
    d9_surface_AddRef(This);
    return S_OK;
}

ULONG STDMETHODCALLTYPE d9_surface_AddRef(IDirect3DSurface9 *This)
{
    return d9_object_AddRef(d9_surface_of(This)->resource);
}

ULONG STDMETHODCALLTYPE d9_surface_Release(IDirect3DSurface9 *This)
{
    return d9_object_Release(d9_surface_of(This)->resource);
}

HRESULT STDMETHODCALLTYPE d9_surface_GetDevice(IDirect3DSurface9 *This, IDirect3DDevice9 **out)
{
    return d9_object_GetDevice(d9_surface_of(This)->resource, out);
}

HRESULT STDMETHODCALLTYPE d9_surface_SetPrivateData(IDirect3DSurface9 *This, REFGUID guid, const void *data,
                                                    DWORD size, DWORD flags)
{
    return d9_data_set(&d9_surface_of(This)->data, guid, data, size, flags);
}

HRESULT STDMETHODCALLTYPE d9_surface_GetPrivateData(IDirect3DSurface9 *This, REFGUID guid, void *data,
                                                    DWORD *size)
{
    return d9_data_get(d9_surface_of(This)->data, guid, data, size);
}

HRESULT STDMETHODCALLTYPE d9_surface_FreePrivateData(IDirect3DSurface9 *This, REFGUID guid)
{
    return d9_data_drop(&d9_surface_of(This)->data, guid);
}

DWORD STDMETHODCALLTYPE d9_surface_SetPriority(IDirect3DSurface9 *This, DWORD priority)
{
    return d9_surface_of(This)->resource->o.kind == D9_SURFACE
               ? d9_resource_SetPriority(d9_surface_of(This)->resource, priority)
               : 0;
}

DWORD STDMETHODCALLTYPE d9_surface_GetPriority(IDirect3DSurface9 *This)
{
    return d9_surface_of(This)->resource->o.kind == D9_SURFACE ? d9_surface_of(This)->resource->priority : 0;
}

void STDMETHODCALLTYPE d9_surface_PreLoad(IDirect3DSurface9 *This)
{
    d9_sync(d9_surface_of(This)->resource);
}

D3DRESOURCETYPE STDMETHODCALLTYPE d9_surface_GetType(IDirect3DSurface9 *This)
{
    return D3DRTYPE_SURFACE;
}

HRESULT STDMETHODCALLTYPE d9_surface_GetContainer(IDirect3DSurface9 *This, REFIID riid, void **out)
{
    struct d9_resource *r = d9_surface_of(This)->resource;

    if (!out)
        return D3DERR_INVALIDCALL;
    if (r->container)
        return IUnknown_QueryInterface((IUnknown *)r->container, riid, out);
    if (r->o.kind == D9_SURFACE)
        return IDirect3DDevice9_QueryInterface((IDirect3DDevice9 *)r->o.device, riid, out);
    return d9_object_QueryInterface(r, riid, out);
}

HRESULT STDMETHODCALLTYPE d9_surface_GetDesc(IDirect3DSurface9 *This, D3DSURFACE_DESC *desc)
{
    return d9_describe(d9_surface_of(This), desc);
}

HRESULT STDMETHODCALLTYPE d9_surface_LockRect(IDirect3DSurface9 *This, D3DLOCKED_RECT *locked,
                                              const RECT *rect, DWORD flags)
{
    struct d9_surface *s = d9_surface_of(This);

    return d9_lock(s->resource, s->index, rect, flags, locked);
}

HRESULT STDMETHODCALLTYPE d9_surface_UnlockRect(IDirect3DSurface9 *This)
{
    struct d9_surface *s = d9_surface_of(This);

    return d9_unlock(s->resource, s->index);
}

/* ---- GDI ------------------------------------------------------------------------------------ */

bool d9_has_dc(const struct d9_resource *r)
{
    for (UINT k = 0; k < r->levels * r->faces; k++)
        if (r->surfaces[k].dc)
            return true;
    return false;
}

/* One at a time, of all of a texture, and none while a program has locked a part of it. */
HRESULT STDMETHODCALLTYPE d9_surface_GetDC(IDirect3DSurface9 *This, HDC *out)
{
    static const D3DFORMAT formats[] = {D3DFMT_A8R8G8B8, D3DFMT_X8R8G8B8, D3DFMT_R8G8B8,
                                        D3DFMT_R5G6B5,   D3DFMT_X1R5G5B5, D3DFMT_A1R5G5B5};
    struct d9_surface *s = d9_surface_of(This);
    const struct d9_resource *r = s->resource;
    D3DLOCKED_RECT l;
    size_t i = 0;

    while (i < sizeof(formats) / sizeof(formats[0]) && formats[i] != r->format)
        i++;
    if (!out || i == sizeof(formats) / sizeof(formats[0]))
        return D3DERR_INVALIDCALL;
    for (UINT k = 0; k < r->levels * r->faces; k++)
        if (r->surfaces[k].dc || r->surfaces[k].locked)
            return D3DERR_INVALIDCALL;
    if (d9_lock(s->resource, s->index, NULL, 0, &l) != D3D_OK)
        return D3DERR_INVALIDCALL;
    s->dc = window_dc(l.pBits, (UINT)r->format, s->width, s->height, (UINT)l.Pitch, &s->bitmap);
    if (!s->dc) {
        d9_unlock(s->resource, s->index);
        return D3DERR_INVALIDCALL;
    }
    *out = s->dc;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_surface_ReleaseDC(IDirect3DSurface9 *This, HDC dc)
{
    struct d9_surface *s = d9_surface_of(This);

    if (!s->dc || dc != s->dc)
        return D3DERR_INVALIDCALL;
    window_dc_end(s->dc, s->bitmap);
    s->dc = s->bitmap = NULL;
    d9_unlock(s->resource, s->index);
    return D3D_OK;
}
