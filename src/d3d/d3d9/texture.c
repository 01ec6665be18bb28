/* SPDX-License-Identifier: MIT */
/* texture.c: textures, cubes and surfaces: how programs make them, lock them, and copy between them. */
#include "d3d/d3d9/tables.h"
#include "d3d/d3d9/rt9.h"

struct d9_surface *d9_surface_of(IDirect3DSurface9 *iface)
{
    return (struct d9_surface *)iface;
}

struct d9_resource *d9_texture_of(IDirect3DBaseTexture9 *iface)
{
    return (struct d9_resource *)iface;
}

/* ---- making ------------------------------------------------------------------------- */

static HRESULT check(struct d9_device *d, const struct d9_shape *s, UINT operations)
{
    const FORMATOP *f = d9_format(d->factory, s->format);
    UINT block;

    if (!s->width || !s->height || s->pool > D3DPOOL_SCRATCH || (s->pool == D3DPOOL_MANAGED && d->ex))
        return D3DERR_INVALIDCALL;
    if (s->usage & (D3DUSAGE_RENDERTARGET | D3DUSAGE_DEPTHSTENCIL) && s->pool != D3DPOOL_DEFAULT)
        return D3DERR_INVALIDCALL;
    if (s->usage & D3DUSAGE_DYNAMIC && (s->pool == D3DPOOL_MANAGED || s->usage & D3DUSAGE_RENDERTARGET))
        return D3DERR_INVALIDCALL;
    if (s->width > D9_MAX_SIDE || s->height > D9_MAX_SIDE)
        return D3DERR_INVALIDCALL;
    operations |= s->usage & D3DUSAGE_RENDERTARGET ? FORMATOP_OFFSCREEN_RENDERTARGET : 0;
    operations |= s->usage & D3DUSAGE_DEPTHSTENCIL ? FORMATOP_ZSTENCIL : 0;
    if (s->pool != D3DPOOL_SCRATCH && (!f || (f->Operations & operations) != operations))
        return D3DERR_INVALIDCALL;
    if (!f && s->format == D3DFMT_UNKNOWN)
        return D3DERR_INVALIDCALL;
    d9_texel_bytes(s->format, &block);
    if (block > 1 && s->pool == D3DPOOL_DEFAULT && (s->width % block || s->height % block))
        return D3DERR_INVALIDCALL;
    return S_OK;
}

static UINT levels_of(UINT width, UINT height)
{
    UINT n = 1;

    for (UINT side = width > height ? width : height; side > 1; side >>= 1)
        n++;
    return n;
}

static HRESULT create_texture(struct d9_device *d, struct d9_shape *s, UINT operations, HANDLE *shared,
                              void **out)
{
    UINT most;
    HRESULT hr;

    if (!out)
        return D3DERR_INVALIDCALL;
    *out = NULL;
    if (shared && (!d->ex || s->pool != D3DPOOL_SYSTEMMEM || s->levels != 1 || s->kind != D9_TEXTURE))
        return d->ex && s->pool == D3DPOOL_DEFAULT ? D3DERR_NOTAVAILABLE
               : d->ex                             ? D3DERR_INVALIDCALL
                                                   : E_NOTIMPL;
    hr = check(d, s, operations);
    if (hr != S_OK)
        return hr;
    most = levels_of(s->width, s->height);
    if (s->levels > most || (s->usage & D3DUSAGE_AUTOGENMIPMAP && s->levels > 1))
        return D3DERR_INVALIDCALL;
    if (!s->levels)
        s->levels = s->usage & D3DUSAGE_AUTOGENMIPMAP ? 1 : most;
    s->lockable = s->pool != D3DPOOL_DEFAULT || s->usage & D3DUSAGE_DYNAMIC;
    if (shared)
        s->memory = *(void **)shared;
    return d9_resource_create(d, s, (struct d9_resource **)out);
}

HRESULT STDMETHODCALLTYPE d9_device_CreateTexture(IDirect3DDevice9Ex *This, UINT width, UINT height,
                                                  UINT levels, DWORD usage, D3DFORMAT format, D3DPOOL pool,
                                                  IDirect3DTexture9 **out, HANDLE *shared)
{
    struct d9_shape s = {.kind = D9_TEXTURE,
                         .type = D3DRTYPE_TEXTURE,
                         .width = width,
                         .height = height,
                         .levels = levels,
                         .faces = 1,
                         .usage = usage,
                         .format = format,
                         .pool = pool};

    return create_texture(d9_device_of(This), &s, usage & D3DUSAGE_DEPTHSTENCIL ? 0 : FORMATOP_TEXTURE,
                          shared, (void **)out);
}

HRESULT STDMETHODCALLTYPE d9_device_CreateCubeTexture(IDirect3DDevice9Ex *This, UINT edge, UINT levels,
                                                      DWORD usage, D3DFORMAT format, D3DPOOL pool,
                                                      IDirect3DCubeTexture9 **out, HANDLE *shared)
{
    struct d9_shape s = {.kind = D9_CUBE,
                         .type = D3DRTYPE_CUBETEXTURE,
                         .width = edge,
                         .height = edge,
                         .levels = levels,
                         .faces = 6,
                         .usage = usage,
                         .format = format,
                         .pool = pool};

    return create_texture(d9_device_of(This), &s, FORMATOP_CUBETEXTURE, shared, (void **)out);
}

HRESULT STDMETHODCALLTYPE d9_device_CreateVolumeTexture(IDirect3DDevice9Ex *This, UINT width, UINT height,
                                                        UINT depth, UINT levels, DWORD usage,
                                                        D3DFORMAT format, D3DPOOL pool,
                                                        IDirect3DVolumeTexture9 **out, HANDLE *shared)
{
    if (out)
        *out = NULL;
    return D3DERR_INVALIDCALL; /* D3DPTEXTURECAPS_VOLUMEMAP is not there */
}

static HRESULT create_surface(struct d9_device *d, struct d9_shape *s, UINT operations,
                              D3DMULTISAMPLE_TYPE samples, HANDLE *shared, IDirect3DSurface9 **out)
{
    struct d9_resource *r;
    HRESULT hr;

    if (!out)
        return D3DERR_INVALIDCALL;
    *out = NULL;
    if (samples > D3DMULTISAMPLE_NONE)
        return D3DERR_NOTAVAILABLE;
    if (shared && !s->memory)
        return d->ex ? D3DERR_NOTAVAILABLE : E_NOTIMPL;
    hr = check(d, s, operations);
    if (hr == S_OK)
        hr = d9_resource_create(d, s, &r);
    if (hr == S_OK)
        *out = (IDirect3DSurface9 *)&r->surfaces[0];
    return hr;
}

#define SHAPE(w, h, f, ...)                                                                                  \
    {                                                                                                        \
        .kind = D9_SURFACE, .type = D3DRTYPE_SURFACE, .width = (w), .height = (h), .levels = 1, .faces = 1,  \
        .format = (f), __VA_ARGS__                                                                           \
    }

HRESULT STDMETHODCALLTYPE d9_device_CreateRenderTargetEx(IDirect3DDevice9Ex *This, UINT width, UINT height,
                                                         D3DFORMAT format, D3DMULTISAMPLE_TYPE samples,
                                                         DWORD quality, BOOL lockable,
                                                         IDirect3DSurface9 **out, HANDLE *shared, DWORD usage)
{
    struct d9_shape s = SHAPE(width, height, format, .usage = D3DUSAGE_RENDERTARGET | usage,
                              .pool = D3DPOOL_DEFAULT, .lockable = lockable != 0);

    return create_surface(d9_device_of(This), &s, FORMATOP_OFFSCREEN_RENDERTARGET, samples, shared, out);
}

HRESULT STDMETHODCALLTYPE d9_device_CreateRenderTarget(IDirect3DDevice9Ex *This, UINT width, UINT height,
                                                       D3DFORMAT format, D3DMULTISAMPLE_TYPE samples,
                                                       DWORD quality, BOOL lockable, IDirect3DSurface9 **out,
                                                       HANDLE *shared)
{
    return d9_device_CreateRenderTargetEx(This, width, height, format, samples, quality, lockable, out,
                                          shared, 0);
}

HRESULT STDMETHODCALLTYPE d9_device_CreateDepthStencilSurfaceEx(IDirect3DDevice9Ex *This, UINT width,
                                                                UINT height, D3DFORMAT format,
                                                                D3DMULTISAMPLE_TYPE samples, DWORD quality,
                                                                BOOL discard, IDirect3DSurface9 **out,
                                                                HANDLE *shared, DWORD usage)
{
    struct d9_shape s = SHAPE(width, height, format, .usage = D3DUSAGE_DEPTHSTENCIL | usage,
                              .pool = D3DPOOL_DEFAULT, .lockable = false);

    return create_surface(d9_device_of(This), &s, FORMATOP_ZSTENCIL, samples, shared, out);
}

HRESULT STDMETHODCALLTYPE d9_device_CreateDepthStencilSurface(IDirect3DDevice9Ex *This, UINT width,
                                                              UINT height, D3DFORMAT format,
                                                              D3DMULTISAMPLE_TYPE samples, DWORD quality,
                                                              BOOL discard, IDirect3DSurface9 **out,
                                                              HANDLE *shared)
{
    return d9_device_CreateDepthStencilSurfaceEx(This, width, height, format, samples, quality, discard, out,
                                                 shared, 0);
}

HRESULT STDMETHODCALLTYPE d9_device_CreateOffscreenPlainSurfaceEx(IDirect3DDevice9Ex *This, UINT width,
                                                                  UINT height, D3DFORMAT format, D3DPOOL pool,
                                                                  IDirect3DSurface9 **out, HANDLE *shared,
                                                                  DWORD usage)
{
    struct d9_shape s = SHAPE(width, height, format, .usage = usage, .pool = pool, .lockable = true);

    if (pool == D3DPOOL_MANAGED)
        return D3DERR_INVALIDCALL;
    if (shared && pool == D3DPOOL_SYSTEMMEM && d9_device_of(This)->ex)
        s.memory = *(void **)shared;
    return create_surface(d9_device_of(This), &s, FORMATOP_OFFSCREENPLAIN, D3DMULTISAMPLE_NONE, shared, out);
}

HRESULT STDMETHODCALLTYPE d9_device_CreateOffscreenPlainSurface(IDirect3DDevice9Ex *This, UINT width,
                                                                UINT height, D3DFORMAT format, D3DPOOL pool,
                                                                IDirect3DSurface9 **out, HANDLE *shared)
{
    return d9_device_CreateOffscreenPlainSurfaceEx(This, width, height, format, pool, out, shared, 0);
}

/* ---- textures ------------------------------------------------------------------------- */

DWORD STDMETHODCALLTYPE d9_base_GetLevelCount(void *This)
{
    return ((struct d9_resource *)This)->levels;
}

DWORD STDMETHODCALLTYPE d9_base_SetLOD(void *This, DWORD lod)
{
    struct d9_resource *r = This;
    DWORD old = r->lod;

    if (r->pool != D3DPOOL_MANAGED)
        return 0;
    r->lod = lod < r->levels ? lod : r->levels - 1;
    return old;
}

DWORD STDMETHODCALLTYPE d9_base_GetLOD(void *This)
{
    return ((struct d9_resource *)This)->lod;
}

HRESULT STDMETHODCALLTYPE d9_base_SetAutoGenFilterType(void *This, D3DTEXTUREFILTERTYPE filter)
{
    if (filter == D3DTEXF_NONE)
        return D3DERR_INVALIDCALL;
    ((struct d9_resource *)This)->autogen = filter;
    return D3D_OK;
}

D3DTEXTUREFILTERTYPE STDMETHODCALLTYPE d9_base_GetAutoGenFilterType(void *This)
{
    return ((struct d9_resource *)This)->autogen;
}

void STDMETHODCALLTYPE d9_base_GenerateMipSubLevels(void *This)
{
} /* D3DCAPS2_CANAUTOGENMIPMAP is not there */

static HRESULT describe(const struct d9_surface *s, D3DSURFACE_DESC *desc)
{
    const struct d9_resource *r = s->resource;

    if (!desc)
        return D3DERR_INVALIDCALL;
    *desc = (D3DSURFACE_DESC){.Format = r->format,
                              .Type = D3DRTYPE_SURFACE,
                              .Usage = r->usage,
                              .Pool = r->pool,
                              .Width = s->width,
                              .Height = s->height};
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_texture_GetLevelDesc(IDirect3DTexture9 *This, UINT level, D3DSURFACE_DESC *desc)
{
    struct d9_resource *r = (struct d9_resource *)This;

    return level < r->levels ? describe(&r->surfaces[level], desc) : D3DERR_INVALIDCALL;
}

HRESULT STDMETHODCALLTYPE d9_texture_GetSurfaceLevel(IDirect3DTexture9 *This, UINT level,
                                                     IDirect3DSurface9 **out)
{
    struct d9_resource *r = (struct d9_resource *)This;

    if (!out || level >= r->levels)
        return D3DERR_INVALIDCALL;
    *out = (IDirect3DSurface9 *)&r->surfaces[level];
    IDirect3DSurface9_AddRef(*out);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_texture_LockRect(IDirect3DTexture9 *This, UINT level, D3DLOCKED_RECT *locked,
                                              const RECT *rect, DWORD flags)
{
    struct d9_resource *r = (struct d9_resource *)This;

    return level < r->levels ? d9_lock(r, level, rect, flags, locked) : D3DERR_INVALIDCALL;
}

HRESULT STDMETHODCALLTYPE d9_texture_UnlockRect(IDirect3DTexture9 *This, UINT level)
{
    struct d9_resource *r = (struct d9_resource *)This;

    return level < r->levels ? d9_unlock(r, level) : D3DERR_INVALIDCALL;
}

HRESULT STDMETHODCALLTYPE d9_texture_AddDirtyRect(IDirect3DTexture9 *This, const RECT *rect)
{
    struct d9_resource *r = (struct d9_resource *)This;

    for (UINT i = 0; i < r->levels; i++)
        r->surfaces[i].dirty = true;
    return D3D_OK;
}

static bool face_and_level(const struct d9_resource *r, D3DCUBEMAP_FACES face, UINT level)
{
    return (UINT)face < 6 && level < r->levels;
}

HRESULT STDMETHODCALLTYPE d9_cube_GetLevelDesc(IDirect3DCubeTexture9 *This, UINT level, D3DSURFACE_DESC *desc)
{
    struct d9_resource *r = (struct d9_resource *)This;

    return level < r->levels ? describe(&r->surfaces[level], desc) : D3DERR_INVALIDCALL;
}

HRESULT STDMETHODCALLTYPE d9_cube_GetCubeMapSurface(IDirect3DCubeTexture9 *This, D3DCUBEMAP_FACES face,
                                                    UINT level, IDirect3DSurface9 **out)
{
    struct d9_resource *r = (struct d9_resource *)This;

    if (!out || !face_and_level(r, face, level))
        return D3DERR_INVALIDCALL;
    *out = (IDirect3DSurface9 *)&r->surfaces[(UINT)face * r->levels + level];
    IDirect3DSurface9_AddRef(*out);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_cube_LockRect(IDirect3DCubeTexture9 *This, D3DCUBEMAP_FACES face, UINT level,
                                           D3DLOCKED_RECT *locked, const RECT *rect, DWORD flags)
{
    struct d9_resource *r = (struct d9_resource *)This;

    return face_and_level(r, face, level) ? d9_lock(r, (UINT)face * r->levels + level, rect, flags, locked)
                                          : D3DERR_INVALIDCALL;
}

HRESULT STDMETHODCALLTYPE d9_cube_UnlockRect(IDirect3DCubeTexture9 *This, D3DCUBEMAP_FACES face, UINT level)
{
    struct d9_resource *r = (struct d9_resource *)This;

    return face_and_level(r, face, level) ? d9_unlock(r, (UINT)face * r->levels + level) : D3DERR_INVALIDCALL;
}

HRESULT STDMETHODCALLTYPE d9_cube_AddDirtyRect(IDirect3DCubeTexture9 *This, D3DCUBEMAP_FACES face,
                                               const RECT *rect)
{
    struct d9_resource *r = (struct d9_resource *)This;

    if ((UINT)face >= 6)
        return D3DERR_INVALIDCALL;
    for (UINT i = 0; i < r->levels; i++)
        r->surfaces[(UINT)face * r->levels + i].dirty = true;
    return D3D_OK;
}

/* ---- surfaces ---------------------------------------------------------------------------- */

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
    return d9_surface_of(This)->resource->priority;
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
    return describe(d9_surface_of(This), desc);
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
