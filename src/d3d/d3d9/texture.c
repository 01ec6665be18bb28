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
    if (s->usage & D3DUSAGE_WRITEONLY ||
        (s->usage & D3DUSAGE_RENDERTARGET && f && f->Operations & FORMATOP_ZSTENCIL))
        return D3DERR_INVALIDCALL;
    if (s->usage & D3DUSAGE_DYNAMIC && (s->pool == D3DPOOL_MANAGED || s->pool == D3DPOOL_SCRATCH ||
                                        s->usage & (D3DUSAGE_RENDERTARGET | D3DUSAGE_DEPTHSTENCIL)))
        return D3DERR_INVALIDCALL;
    if (f && f->Operations & FORMATOP_ZSTENCIL && s->pool != D3DPOOL_DEFAULT)
        return D3DERR_INVALIDCALL;
    if (s->width > D9_MAX_SIDE || s->height > D9_MAX_SIDE)
        return D3DERR_INVALIDCALL;
    operations |= s->usage & D3DUSAGE_RENDERTARGET ? FORMATOP_OFFSCREEN_RENDERTARGET : 0;
    operations |= s->usage & D3DUSAGE_DEPTHSTENCIL ? FORMATOP_ZSTENCIL : 0;
    if (s->depth > D9_MAX_DEPTH)
        return D3DERR_INVALIDCALL;
    if (s->pool != D3DPOOL_SCRATCH && (!f || (f->Operations & operations) != operations))
        return D3DERR_INVALIDCALL;
    if (!f && s->format == D3DFMT_UNKNOWN)
        return D3DERR_INVALIDCALL;
    d9_texel_bytes(s->format, &block);
    /* of formats that Windows knows; the others' sizes it leaves to the driver */
    if (block > 1 && !d9_unlike_blocks(s->format) && (s->width % block || s->height % block))
        return D3DERR_INVALIDCALL;
    return S_OK;
}

static UINT levels_of(UINT width, UINT height, UINT depth)
{
    UINT n = 1;

    for (UINT side = width | height | depth; side > 1; side >>= 1)
        n++;
    return n;
}

HRESULT d9_texture_create(struct d9_device *d, struct d9_shape *s, UINT operations, HANDLE *shared,
                          void **out)
{
    UINT most;
    HRESULT hr;

    if (!out)
        return D3DERR_INVALIDCALL;
    *out = NULL;
    if (shared && d9_can_share(d, s))
        s->shared = shared;
    else if (shared && (!d->ex || s->pool != D3DPOOL_SYSTEMMEM || s->levels != 1 || s->kind != D9_TEXTURE))
        return d->ex && s->pool == D3DPOOL_DEFAULT ? D3DERR_NOTAVAILABLE
               : d->ex                             ? D3DERR_INVALIDCALL
                                                   : E_NOTIMPL;
    hr = check(d, s, operations);
    if (hr != S_OK)
        return hr;
    most = levels_of(s->width, s->height, s->depth);
    if (s->levels > most ||
        (s->usage & D3DUSAGE_AUTOGENMIPMAP && (s->levels > 1 || s->pool > D3DPOOL_MANAGED)))
        return D3DERR_INVALIDCALL;
    if (!s->levels)
        s->levels = s->usage & D3DUSAGE_AUTOGENMIPMAP ? 1 : most;
    /* and formats that Windows does not know */
    s->lockable = s->pool != D3DPOOL_DEFAULT || s->usage & D3DUSAGE_DYNAMIC || d9_unlike_blocks(s->format);
    if (shared && !s->shared)
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

    return d9_texture_create(d9_device_of(This), &s, FORMATOP_TEXTURE, shared, (void **)out);
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

    return d9_texture_create(d9_device_of(This), &s, FORMATOP_CUBETEXTURE, shared, (void **)out);
}

static HRESULT create_surface(struct d9_device *d, struct d9_shape *s, UINT operations, HANDLE *shared,
                              IDirect3DSurface9 **out)
{
    struct d9_resource *r;
    HRESULT hr;

    if (!out)
        return D3DERR_INVALIDCALL;
    *out = NULL;
    if (s->samples > D3DMULTISAMPLE_NONE &&
        (s->lockable || s->quality >= d9_qualities(d->factory, s->format, true, s->samples)))
        return D3DERR_INVALIDCALL;
    if (shared && !s->memory && d9_can_share(d, s))
        s->shared = shared;
    else if (shared && !s->memory)
        return !d->ex ? E_NOTIMPL : s->pool == D3DPOOL_DEFAULT ? D3DERR_NOTAVAILABLE : D3DERR_INVALIDCALL;
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
    struct d9_shape s =
        SHAPE(width, height, format, .usage = D3DUSAGE_RENDERTARGET | usage, .pool = D3DPOOL_DEFAULT,
              .lockable = lockable != 0, .samples = samples, .quality = quality);

    return create_surface(d9_device_of(This), &s, FORMATOP_OFFSCREEN_RENDERTARGET, shared, out);
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
                              .pool = D3DPOOL_DEFAULT, .samples = samples, .quality = quality,
                              .lockable = format == D3DFMT_D16_LOCKABLE || format == D3DFMT_D32F_LOCKABLE);

    if (usage & (D3DUSAGE_RENDERTARGET | D3DUSAGE_DEPTHSTENCIL)) /* goes without saying, and must */
        return D3DERR_INVALIDCALL;
    return create_surface(d9_device_of(This), &s, FORMATOP_ZSTENCIL, shared, out);
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
    return create_surface(d9_device_of(This), &s, FORMATOP_OFFSCREENPLAIN, shared, out);
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
    if (r->lod != old)
        d9_send_lod(r->o.device, r);
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
    d9_sync(This);
    d9_mips_make(This);
}

HRESULT d9_describe(const struct d9_surface *s, D3DSURFACE_DESC *desc)
{
    const struct d9_resource *r = s->resource;

    if (!desc)
        return D3DERR_INVALIDCALL;
    *desc = (D3DSURFACE_DESC){.Format = r->format,
                              .Type = D3DRTYPE_SURFACE,
                              .Usage = r->usage,
                              .Pool = r->pool,
                              .MultiSampleType = r->samples,
                              .MultiSampleQuality = r->quality,
                              .Width = s->width,
                              .Height = s->height};
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_texture_GetLevelDesc(IDirect3DTexture9 *This, UINT level, D3DSURFACE_DESC *desc)
{
    struct d9_resource *r = (struct d9_resource *)This;

    return level < r->levels ? d9_describe(&r->surfaces[level], desc) : D3DERR_INVALIDCALL;
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

/* Of the first level; and of the others what is made of it. */
static HRESULT add_dirty(struct d9_resource *r, UINT face, const RECT *rect)
{
    struct d9_surface *s = &r->surfaces[face * r->levels];

    if (rect && (rect->left < 0 || rect->top < 0 || rect->left >= rect->right || rect->top >= rect->bottom ||
                 rect->right > (LONG)s->width || rect->bottom > (LONG)s->height))
        return D3DERR_INVALIDCALL;
    for (UINT i = 0; i < r->levels; i++, s++) {
        D3DBOX b = {0, 0, s->width, s->height, 0, 1};

        if (rect)
            b = (D3DBOX){(UINT)rect->left >> i,
                         (UINT)rect->top >> i,
                         ((UINT)rect->right + (1u << i) - 1) >> i,
                         ((UINT)rect->bottom + (1u << i) - 1) >> i,
                         0,
                         1};
        d9_dirty(s, &b);
    }
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_texture_AddDirtyRect(IDirect3DTexture9 *This, const RECT *rect)
{
    struct d9_resource *r = (struct d9_resource *)This;

    return add_dirty(r, 0, rect);
}

static bool face_and_level(const struct d9_resource *r, D3DCUBEMAP_FACES face, UINT level)
{
    return (UINT)face < 6 && level < r->levels;
}

HRESULT STDMETHODCALLTYPE d9_cube_GetLevelDesc(IDirect3DCubeTexture9 *This, UINT level, D3DSURFACE_DESC *desc)
{
    struct d9_resource *r = (struct d9_resource *)This;

    return level < r->levels ? d9_describe(&r->surfaces[level], desc) : D3DERR_INVALIDCALL;
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
    return add_dirty(r, (UINT)face, rect);
}
