/* SPDX-License-Identifier: MIT */
/* surface.c: resources as DXGI sees them: IDXGIResource of all, IDXGISurface1 of textures of one mip and one layer,
 * IDXGIKeyedMutex of those made with one. They are faces of
 * the resource, with its references and its private data. */
#include "d3d/tables.h"
#include "d3d/screens.h"

static struct d3d_child *of_shared(void *This)
{
    return (struct d3d_child *)((char *)This - offsetof(struct d3d_child, shared_vtbl));
}

static struct d3d_child *of_surface(void *This)
{
    return (struct d3d_child *)((char *)This - offsetof(struct d3d_child, surface_vtbl));
}

static struct d3d_child *of_keyed(void *This)
{
    return (struct d3d_child *)((char *)This - offsetof(struct d3d_child, keyed_vtbl));
}

static bool is_surface(const struct d3d_child *c)
{
    return (c->kind == D3D_TEXTURE1D || c->kind == D3D_TEXTURE) && c->desc.texture.MipLevels == 1 &&
           c->desc.texture.ArraySize == 1;
}

void *d3d_surface_face(struct d3d_child *c, REFIID riid)
{
    c->shared_vtbl = &d3d_shared_vtbl;
    c->surface_vtbl = &d3d_surface_vtbl;
    c->keyed_vtbl = &d3d_keyed_vtbl;
    if (IsEqualGUID(riid, &IID_IDXGIResource) || IsEqualGUID(riid, &IID_IDXGIDeviceSubObject) ||
        IsEqualGUID(riid, &IID_IDXGIObject))
        return &c->shared_vtbl;
    if (is_surface(c) && (IsEqualGUID(riid, &IID_IDXGISurface) || IsEqualGUID(riid, &IID_IDXGISurface1)))
        return &c->surface_vtbl;
    if (c->keyed && IsEqualGUID(riid, &IID_IDXGIKeyedMutex))
        return &c->keyed_vtbl;
    return NULL;
}

/* What both faces have of the objects of DXGI. */
#define FACE(prefix, iface, of)                                                                              \
    HRESULT STDMETHODCALLTYPE prefix##_QueryInterface(iface *This, REFIID riid, void **out)                  \
    {                                                                                                        \
        return d3d_child_QueryInterface(of(This), riid, out);                                                \
    }                                                                                                        \
    ULONG STDMETHODCALLTYPE prefix##_AddRef(iface *This)                                                     \
    {                                                                                                        \
        return d3d_child_AddRef(of(This));                                                                   \
    }                                                                                                        \
    ULONG STDMETHODCALLTYPE prefix##_Release(iface *This)                                                    \
    {                                                                                                        \
        return d3d_child_Release(of(This));                                                                  \
    }                                                                                                        \
    HRESULT STDMETHODCALLTYPE prefix##_GetPrivateData(iface *This, REFGUID guid, UINT *size, void *bytes)    \
    {                                                                                                        \
        return d3d_child_GetPrivateData(of(This), guid, size, bytes);                                        \
    }                                                                                                        \
    HRESULT STDMETHODCALLTYPE prefix##_SetPrivateData(iface *This, REFGUID guid, UINT size, const void *b)   \
    {                                                                                                        \
        return d3d_child_SetPrivateData(of(This), guid, size, b);                                            \
    }                                                                                                        \
    HRESULT STDMETHODCALLTYPE prefix##_SetPrivateDataInterface(iface *This, REFGUID guid, const IUnknown *o) \
    {                                                                                                        \
        return d3d_child_SetPrivateDataInterface(of(This), guid, o);                                         \
    }                                                                                                        \
    HRESULT STDMETHODCALLTYPE prefix##_GetParent(iface *This, REFIID riid, void **out)                       \
    {                                                                                                        \
        return d3d_dxgi_device_QueryInterface((IDXGIDevice2 *)&of(This)->device->dxgi_vtbl, riid, out);      \
    }                                                                                                        \
    HRESULT STDMETHODCALLTYPE prefix##_GetDevice(iface *This, REFIID riid, void **out)                       \
    {                                                                                                        \
        return d3d_device_QueryInterface((ID3D11Device *)of(This)->device, riid, out);                       \
    }
FACE(d3d_shared, IDXGIResource, of_shared)
FACE(d3d_surface, IDXGISurface1, of_surface)
FACE(d3d_keyed, IDXGIKeyedMutex, of_keyed)

HRESULT STDMETHODCALLTYPE d3d_shared_GetUsage(IDXGIResource *This, DXGI_USAGE *usage)
{
    const struct d3d_child *c = of_shared(This);
    UINT bind = c->kind == D3D_BUFFER ? c->desc.buffer.BindFlags : c->desc.texture.BindFlags;

    if (!usage)
        return E_INVALIDARG;
    *usage = (bind & D3D11_BIND_SHADER_RESOURCE ? DXGI_USAGE_SHADER_INPUT : 0) |
             (bind & D3D11_BIND_RENDER_TARGET ? DXGI_USAGE_RENDER_TARGET_OUTPUT : 0) |
             (c->shown ? DXGI_USAGE_BACK_BUFFER : 0) |
             (c->shown == D3D_SHOWN_ONCE ? DXGI_USAGE_DISCARD_ON_PRESENT : 0) |
             (c->shown == D3D_SHOWN_LATER ? DXGI_USAGE_READ_ONLY : 0);
    return S_OK;
}

HRESULT STDMETHODCALLTYPE d3d_shared_SetEvictionPriority(IDXGIResource *This, UINT priority)
{
    of_shared(This)->priority = priority;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE d3d_shared_GetEvictionPriority(IDXGIResource *This, UINT *priority)
{
    if (!priority)
        return E_INVALIDARG;
    *priority = of_shared(This)->priority;
    return S_OK;
}

/* The global handle: the same in every process. */
HRESULT STDMETHODCALLTYPE d3d_shared_GetSharedHandle(IDXGIResource *This, HANDLE *handle)
{
    const struct d3d_child *c = of_shared(This);

    if (!handle)
        return E_INVALIDARG;
    *handle = (HANDLE)(uintptr_t)c->kmt.share;
    return c->kmt.shared ? S_OK : E_INVALIDARG;
}

HRESULT STDMETHODCALLTYPE d3d_surface_GetDesc(IDXGISurface1 *This, DXGI_SURFACE_DESC *desc)
{
    const D3D11_TEXTURE2D_DESC *t = &of_surface(This)->desc.texture;

    if (!desc)
        return E_INVALIDARG;
    *desc = (DXGI_SURFACE_DESC){t->Width, t->Height, t->Format, {t->SampleDesc.Count, t->SampleDesc.Quality}};
    return S_OK;
}

HRESULT STDMETHODCALLTYPE d3d_surface_Map(IDXGISurface1 *This, DXGI_MAPPED_RECT *out, UINT flags)
{
    struct d3d_child *c = of_surface(This);
    D3D11_MAPPED_SUBRESOURCE m;
    D3D11_MAP type = flags & DXGI_MAP_DISCARD                                      ? D3D11_MAP_WRITE_DISCARD
                     : (flags & (DXGI_MAP_READ | DXGI_MAP_WRITE)) == DXGI_MAP_READ ? D3D11_MAP_READ
                     : flags & DXGI_MAP_READ                                       ? D3D11_MAP_READ_WRITE
                                                                                   : D3D11_MAP_WRITE;
    HRESULT hr;

    if (!out)
        return E_INVALIDARG;
    hr = d3d_context_Map((ID3D11DeviceContext *)&c->device->context, (ID3D11Resource *)c, 0, type, 0, &m);
    if (hr == S_OK)
        *out = (DXGI_MAPPED_RECT){(INT)m.RowPitch, m.pData};
    return hr;
}

HRESULT STDMETHODCALLTYPE d3d_surface_Unmap(IDXGISurface1 *This)
{
    struct d3d_child *c = of_surface(This);

    d3d_context_Unmap((ID3D11DeviceContext *)&c->device->context, (ID3D11Resource *)c, 0);
    return S_OK;
}

/* ---- what GDI draws on: a copy, which goes back when it is released -------------------------- */

HRESULT STDMETHODCALLTYPE d3d_surface_GetDC(IDXGISurface1 *This, BOOL discard, HDC *out)
{
    struct d3d_child *c = of_surface(This);
    const D3D11_TEXTURE2D_DESC *t = &c->desc.texture;
    ID3D11DeviceContext *context = (ID3D11DeviceContext *)&c->device->context;
    D3D11_TEXTURE2D_DESC s = *t;
    struct d3d_child *staging = NULL;
    D3D11_MAPPED_SUBRESOURCE m;
    HRESULT hr = S_OK;

    if (!out)
        return E_INVALIDARG;
    if (!(t->MiscFlags & D3D11_RESOURCE_MISC_GDI_COMPATIBLE) || c->canvas)
        return DXGI_ERROR_INVALID_CALL;
    c->canvas = window_canvas(t->Width, t->Height, &c->canvas_pixels, &c->canvas_bitmap);
    if (!c->canvas)
        return E_FAIL;
    s.Usage = D3D11_USAGE_STAGING;
    s.BindFlags = s.MiscFlags = 0;
    s.CPUAccessFlags = D3D11_CPU_ACCESS_READ;
    if (!discard)
        hr = d3d_texture_create(c->device, D3D_TEXTURE, &s, 1, NULL, NULL, &staging);
    if (staging) {
        d3d_context_CopyResource(context, (ID3D11Resource *)staging, (ID3D11Resource *)c);
        hr = d3d_context_Map(context, (ID3D11Resource *)staging, 0, D3D11_MAP_READ, 0, &m);
        for (UINT y = 0; hr == S_OK && y < t->Height; y++)
            memcpy((uint8_t *)c->canvas_pixels + (size_t)y * t->Width * 4,
                   (uint8_t *)m.pData + (size_t)y * m.RowPitch, (size_t)t->Width * 4);
        if (hr == S_OK)
            d3d_context_Unmap(context, (ID3D11Resource *)staging, 0);
        d3d_child_release(staging);
    }
    if (hr != S_OK)
        d3d_surface_canvas_end(c);
    else
        *out = c->canvas;
    return hr;
}

void d3d_surface_canvas_end(struct d3d_child *c)
{
    if (c->canvas)
        window_canvas_end(c->canvas, c->canvas_pixels, c->canvas_bitmap);
    c->canvas = NULL;
}

HRESULT STDMETHODCALLTYPE d3d_surface_ReleaseDC(IDXGISurface1 *This, RECT *changed)
{
    struct d3d_child *c = of_surface(This);
    const D3D11_TEXTURE2D_DESC *t = &c->desc.texture;
    D3D11_BOX box = {0, 0, 0, t->Width, t->Height, 1};

    if (!c->canvas)
        return DXGI_ERROR_INVALID_CALL;
    if (changed) {
        box.left = changed->left < 0 ? 0 : (UINT)changed->left;
        box.top = changed->top < 0 ? 0 : (UINT)changed->top;
        box.right = (UINT)changed->right < t->Width ? (UINT)changed->right : t->Width;
        box.bottom = (UINT)changed->bottom < t->Height ? (UINT)changed->bottom : t->Height;
    }
    if (!changed || (box.left < box.right && box.top < box.bottom))
        d3d_context_UpdateSubresource(
            (ID3D11DeviceContext *)&c->device->context, (ID3D11Resource *)c, 0, &box,
            (uint8_t *)c->canvas_pixels + ((size_t)box.top * t->Width + box.left) * 4, t->Width * 4, 0);
    d3d_surface_canvas_end(c);
    return S_OK;
}

UINT d3d_surface_binds(DXGI_USAGE usage)
{
    return (usage & DXGI_USAGE_RENDER_TARGET_OUTPUT ? D3D11_BIND_RENDER_TARGET : 0) |
           (usage & DXGI_USAGE_SHADER_INPUT ? D3D11_BIND_SHADER_RESOURCE : 0) |
           (usage & DXGI_USAGE_UNORDERED_ACCESS ? D3D11_BIND_UNORDERED_ACCESS : 0);
}

/* Of the device's, so many as are asked for. */
HRESULT STDMETHODCALLTYPE d3d_dxgi_device_CreateSurface(IDXGIDevice2 *This, const DXGI_SURFACE_DESC *desc,
                                                        UINT count, DXGI_USAGE usage,
                                                        const DXGI_SHARED_RESOURCE *shared,
                                                        IDXGISurface **out)
{
    struct d3d_device *d = (struct d3d_device *)((char *)This - offsetof(struct d3d_device, dxgi_vtbl));
    D3D11_TEXTURE2D_DESC t;
    HRESULT hr = S_OK;

    if (!desc || !out)
        return DXGI_ERROR_INVALID_CALL;
    t = (D3D11_TEXTURE2D_DESC){.Width = desc->Width,
                               .Height = desc->Height,
                               .MipLevels = 1,
                               .ArraySize = 1,
                               .Format = desc->Format,
                               .SampleDesc = desc->SampleDesc,
                               .BindFlags = d3d_surface_binds(usage)};
    for (UINT i = 0; i < count; i++)
        out[i] = NULL;
    for (UINT i = 0; i < count && hr == S_OK; i++) {
        ID3D11Texture2D *made = NULL;

        hr = d3d_device_CreateTexture2D((ID3D11Device *)d, &t, NULL, &made);
        if (hr == S_OK)
            hr = ID3D11Texture2D_QueryInterface(made, &IID_IDXGISurface, (void **)&out[i]);
        if (made)
            ID3D11Texture2D_Release(made);
    }
    for (UINT i = 0; i < count && hr != S_OK; i++) {
        if (out[i])
            IDXGISurface_Release(out[i]);
        out[i] = NULL;
    }
    return hr;
}

/* ---- turns ------------------------------------------------------------------------------- */

HRESULT STDMETHODCALLTYPE d3d_keyed_AcquireSync(IDXGIKeyedMutex *This, UINT64 key, DWORD milliseconds)
{
    LARGE_INTEGER timeout = {.QuadPart = -(LONGLONG)milliseconds * 10000};
    D3DKMT_ACQUIREKEYEDMUTEX a = {.hKeyedMutex = of_keyed(This)->keyed,
                                  .Key = key,
                                  .pTimeout = milliseconds == UINT32_MAX ? NULL : &timeout};

    switch ((ULONG)D3DKMTAcquireKeyedMutex(&a)) {
    case 0:
        return S_OK;
    case 0x102: /* STATUS_TIMEOUT, as WAIT_TIMEOUT */
        return 0x102;
    case 0x80: /* STATUS_ABANDONED_WAIT_0, as WAIT_ABANDONED */
        return 0x80;
    default:
        return E_FAIL;
    }
}

/* What was drawn until here is the device's before the next one's work comes, which the device does behind it. */
HRESULT STDMETHODCALLTYPE d3d_keyed_ReleaseSync(IDXGIKeyedMutex *This, UINT64 key)
{
    struct d3d_child *c = of_keyed(This);
    D3DKMT_RELEASEKEYEDMUTEX r = {.hKeyedMutex = c->keyed, .Key = key};

    DDI(c->device, pfnFlush, 0);
    return NT_SUCCESS(D3DKMTReleaseKeyedMutex(&r)) ? S_OK : E_FAIL;
}
