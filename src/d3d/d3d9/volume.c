/* SPDX-License-Identifier: MIT */
/* volume.c: textures of three dimensions, and their levels. */
#include "d3d/d3d9/tables.h"
#include "d3d/d3d9/rt9.h"

static struct d9_surface *of(IDirect3DVolume9 *This)
{
    return (struct d9_surface *)This;
}

static struct d9_resource *texture(IDirect3DVolumeTexture9 *This)
{
    return (struct d9_resource *)This;
}

HRESULT STDMETHODCALLTYPE d9_device_CreateVolumeTexture(IDirect3DDevice9Ex *This, UINT width, UINT height,
                                                        UINT depth, UINT levels, DWORD usage,
                                                        D3DFORMAT format, D3DPOOL pool,
                                                        IDirect3DVolumeTexture9 **out, HANDLE *shared)
{
    struct d9_shape s = {.kind = D9_VOLUMES,
                         .type = D3DRTYPE_VOLUMETEXTURE,
                         .width = width,
                         .height = height,
                         .depth = depth,
                         .levels = levels,
                         .faces = 1,
                         .usage = usage,
                         .format = format,
                         .pool = pool};

    if (out)
        *out = NULL;
    if (!depth || usage & (D3DUSAGE_RENDERTARGET | D3DUSAGE_DEPTHSTENCIL | D3DUSAGE_AUTOGENMIPMAP))
        return D3DERR_INVALIDCALL;
    return d9_texture_create(d9_device_of(This), &s, FORMATOP_VOLUMETEXTURE, shared, (void **)out);
}

static HRESULT describe(const struct d9_surface *s, D3DVOLUME_DESC *desc)
{
    const struct d9_resource *r = s->resource;

    if (!desc)
        return D3DERR_INVALIDCALL;
    *desc = (D3DVOLUME_DESC){r->format, D3DRTYPE_VOLUME, r->usage, r->pool, s->width, s->height, s->depth};
    return D3D_OK;
}

static HRESULT lock(struct d9_resource *r, UINT level, D3DLOCKED_BOX *out, const D3DBOX *b, DWORD flags)
{
    const struct d9_surface *s;
    UINT block;

    if (level >= r->levels || !out)
        return D3DERR_INVALIDCALL;
    s = &r->surfaces[level];
    if (s->locked)
        return D3DERR_INVALIDCALL;
    *out = (D3DLOCKED_BOX){0};
    d9_texel_bytes(r->format, &block);
    if (!r->lockable || (flags & D3DLOCK_DISCARD && flags & D3DLOCK_READONLY))
        return D3DERR_INVALIDCALL;
    if (b && (b->Left >= b->Right || b->Top >= b->Bottom || b->Front >= b->Back || b->Right > s->width ||
              b->Bottom > s->height || b->Back > s->depth))
        return D3DERR_INVALIDCALL;
    if (b && block > 1 &&
        ((b->Left | b->Top) % block || (b->Right % block && b->Right != s->width) ||
         (b->Bottom % block && b->Bottom != s->height)))
        return D3DERR_INVALIDCALL;
    return d9_lock_box(r, level, b, flags, out);
}

HRESULT STDMETHODCALLTYPE d9_volumes_GetLevelDesc(IDirect3DVolumeTexture9 *This, UINT level,
                                                  D3DVOLUME_DESC *desc)
{
    return level < texture(This)->levels ? describe(&texture(This)->surfaces[level], desc)
                                         : D3DERR_INVALIDCALL;
}

HRESULT STDMETHODCALLTYPE d9_volumes_GetVolumeLevel(IDirect3DVolumeTexture9 *This, UINT level,
                                                    IDirect3DVolume9 **out)
{
    if (!out || level >= texture(This)->levels)
        return D3DERR_INVALIDCALL;
    *out = (IDirect3DVolume9 *)&texture(This)->surfaces[level];
    IDirect3DVolume9_AddRef(*out);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_volumes_LockBox(IDirect3DVolumeTexture9 *This, UINT level, D3DLOCKED_BOX *locked,
                                             const D3DBOX *box, DWORD flags)
{
    return lock(texture(This), level, locked, box, flags);
}

HRESULT STDMETHODCALLTYPE d9_volumes_UnlockBox(IDirect3DVolumeTexture9 *This, UINT level)
{
    return level < texture(This)->levels ? d9_unlock(texture(This), level) : D3DERR_INVALIDCALL;
}

HRESULT STDMETHODCALLTYPE d9_volumes_AddDirtyBox(IDirect3DVolumeTexture9 *This, const D3DBOX *b)
{
    struct d9_resource *r = texture(This);

    if (b && (b->Left >= b->Right || b->Top >= b->Bottom || b->Front >= b->Back || b->Right > r->width ||
              b->Bottom > r->height || b->Back > r->depth))
        return D3DERR_INVALIDCALL;
    for (UINT i = 0; i < r->levels; i++)
        d9_dirty(&r->surfaces[i], NULL);
    return D3D_OK;
}

/* ---- volumes ---------------------------------------------------------------------------- */

HRESULT STDMETHODCALLTYPE d9_volume_QueryInterface(IDirect3DVolume9 *This, REFIID riid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (!IsEqualGUID(riid, &IID_IUnknown) && !IsEqualGUID(riid, &IID_IDirect3DVolume9))
        return E_NOINTERFACE;
    *out = This;
    d9_volume_AddRef(This);
    return S_OK;
}

ULONG STDMETHODCALLTYPE d9_volume_AddRef(IDirect3DVolume9 *This)
{
    return d9_object_AddRef(of(This)->resource);
}

ULONG STDMETHODCALLTYPE d9_volume_Release(IDirect3DVolume9 *This)
{
    return d9_object_Release(of(This)->resource);
}

HRESULT STDMETHODCALLTYPE d9_volume_GetDevice(IDirect3DVolume9 *This, IDirect3DDevice9 **out)
{
    return d9_object_GetDevice(of(This)->resource, out);
}

HRESULT STDMETHODCALLTYPE d9_volume_SetPrivateData(IDirect3DVolume9 *This, REFGUID guid, const void *data,
                                                   DWORD size, DWORD flags)
{
    return d9_data_set(&of(This)->data, guid, data, size, flags);
}

HRESULT STDMETHODCALLTYPE d9_volume_GetPrivateData(IDirect3DVolume9 *This, REFGUID guid, void *data,
                                                   DWORD *size)
{
    return d9_data_get(of(This)->data, guid, data, size);
}

HRESULT STDMETHODCALLTYPE d9_volume_FreePrivateData(IDirect3DVolume9 *This, REFGUID guid)
{
    return d9_data_drop(&of(This)->data, guid);
}

HRESULT STDMETHODCALLTYPE d9_volume_GetContainer(IDirect3DVolume9 *This, REFIID riid, void **out)
{
    return out ? d9_object_QueryInterface(of(This)->resource, riid, out) : D3DERR_INVALIDCALL;
}

HRESULT STDMETHODCALLTYPE d9_volume_GetDesc(IDirect3DVolume9 *This, D3DVOLUME_DESC *desc)
{
    return describe(of(This), desc);
}

HRESULT STDMETHODCALLTYPE d9_volume_LockBox(IDirect3DVolume9 *This, D3DLOCKED_BOX *locked, const D3DBOX *box,
                                            DWORD flags)
{
    return lock(of(This)->resource, of(This)->index, locked, box, flags);
}

HRESULT STDMETHODCALLTYPE d9_volume_UnlockBox(IDirect3DVolume9 *This)
{
    return d9_unlock(of(This)->resource, of(This)->index);
}
