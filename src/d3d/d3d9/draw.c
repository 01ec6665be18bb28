/* SPDX-License-Identifier: MIT */
/* draw.c: targets, clears, draws, and copies between surfaces. */
#include "d3d/d3d9/tables.h"
#include "d3d/d3d9/rt9.h"

/* ---- targets ------------------------------------------------------------------------ */

void d9_bind_target(struct d9_device *d, UINT index, struct d9_resource *r, UINT surface)
{
    d9_object_bind(&d->targets[index], r);
    d->target_surfaces[index] = surface;
    DDI9(d, pfnSetRenderTarget,
         &(D3DDDIARG_SETRENDERTARGET){index, r ? r->o.drv : NULL, r ? d9_index(r, surface) : 0});
    if (index || !r)
        return;
    d->state.viewport = (D3DVIEWPORT9){0, 0, r->surfaces[surface].width, r->surfaces[surface].height, 0, 1};
    d->state.scissor = (RECT){0, 0, (LONG)r->surfaces[surface].width, (LONG)r->surfaces[surface].height};
    d9_send_viewport(d);
}

void d9_bind_depth(struct d9_device *d, struct d9_resource *r)
{
    d9_object_bind(&d->depth, r);
    DDI9(d, pfnSetDepthStencil, &(D3DDDIARG_SETDEPTHSTENCIL){r ? r->o.drv : NULL});
}

HRESULT STDMETHODCALLTYPE d9_device_SetRenderTarget(IDirect3DDevice9Ex *This, DWORD index,
                                                    IDirect3DSurface9 *surface)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_surface *s = d9_surface_of(surface);

    if (index >= d->factory->caps.NumSimultaneousRTs || index >= D9_TARGETS || (!s && !index))
        return D3DERR_INVALIDCALL;
    if (s && (!(s->resource->usage & D3DUSAGE_RENDERTARGET) || s->resource->o.device != d))
        return D3DERR_INVALIDCALL;
    d9_bind_target(d, index, s ? s->resource : NULL, s ? s->index : 0);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetRenderTarget(IDirect3DDevice9Ex *This, DWORD index,
                                                    IDirect3DSurface9 **out)
{
    struct d9_device *d = d9_device_of(This);

    if (!out || index >= D9_TARGETS)
        return D3DERR_INVALIDCALL;
    *out = NULL;
    if (!d->targets[index])
        return D3DERR_NOTFOUND;
    *out = (IDirect3DSurface9 *)&d->targets[index]->surfaces[d->target_surfaces[index]];
    IDirect3DSurface9_AddRef(*out);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_SetDepthStencilSurface(IDirect3DDevice9Ex *This,
                                                           IDirect3DSurface9 *surface)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_surface *s = d9_surface_of(surface);

    if (s && (!(s->resource->usage & D3DUSAGE_DEPTHSTENCIL) || s->resource->o.device != d))
        return D3DERR_INVALIDCALL;
    d9_bind_depth(d, s ? s->resource : NULL);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetDepthStencilSurface(IDirect3DDevice9Ex *This, IDirect3DSurface9 **out)
{
    struct d9_device *d = d9_device_of(This);

    if (!out)
        return D3DERR_INVALIDCALL;
    *out = d->depth ? (IDirect3DSurface9 *)&d->depth->surfaces[0] : NULL;
    if (!*out)
        return D3DERR_NOTFOUND;
    IDirect3DSurface9_AddRef(*out);
    return D3D_OK;
}

/* ---- scenes, clears --------------------------------------------------------------------- */

HRESULT STDMETHODCALLTYPE d9_device_BeginScene(IDirect3DDevice9Ex *This)
{
    struct d9_device *d = d9_device_of(This);

    if (d->in_scene)
        return D3DERR_INVALIDCALL;
    d->in_scene = true;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_EndScene(IDirect3DDevice9Ex *This)
{
    struct d9_device *d = d9_device_of(This);

    if (!d->in_scene)
        return D3DERR_INVALIDCALL;
    d->in_scene = false;
    DDI9(d, pfnFlush);
    return D3D_OK;
}

static bool has_stencil(D3DFORMAT f)
{
    return f == D3DFMT_D24S8 || f == D3DFMT_D24FS8 || (UINT)f == MAKEFOURCC('I', 'N', 'T', 'Z');
}

HRESULT STDMETHODCALLTYPE d9_device_Clear(IDirect3DDevice9Ex *This, DWORD count, const D3DRECT *rects,
                                          DWORD flags, D3DCOLOR color, float z, DWORD stencil)
{
    struct d9_device *d = d9_device_of(This);
    D3DDDIARG_CLEAR a = {flags, color, z, stencil};
    RECT some[64];

    if (!count && rects)
        return D3D_OK;
    if (!rects) /* all of it, whatever the count */
        count = 0;
    if (!flags || flags & ~(DWORD)(D3DCLEAR_TARGET | D3DCLEAR_ZBUFFER | D3DCLEAR_STENCIL))
        return D3DERR_INVALIDCALL;
    if (flags & (D3DCLEAR_ZBUFFER | D3DCLEAR_STENCIL) && !d->depth)
        return D3DERR_INVALIDCALL;
    if (flags & D3DCLEAR_STENCIL && !has_stencil(d->depth->format))
        return D3DERR_INVALIDCALL;
    if (flags & D3DCLEAR_ZBUFFER && !(z >= 0 && z <= 1))
        return D3DERR_INVALIDCALL;
    if (!count)
        DDI9(d, pfnClear, &a, 0, NULL);
    for (int i = 0; i < D9_TARGETS && flags & D3DCLEAR_TARGET; i++)
        if (d->targets[i])
            d9_mips_changed(d->targets[i], d->target_surfaces[i]);
    for (DWORD i = 0, n; i < count; i += n) {
        for (n = 0; n < 64 && i + n < count; n++)
            some[n] = (RECT){rects[i + n].x1, rects[i + n].y1, rects[i + n].x2, rects[i + n].y2};
        DDI9(d, pfnClear, &a, n, some);
    }
    return D3D_OK;
}

/* ---- draws ----------------------------------------------------------------------------------- */

static bool prepare(struct d9_device *d, D3DPRIMITIVETYPE type, UINT count)
{
    if (type < D3DPT_POINTLIST || type > D3DPT_TRIANGLEFAN || !d->state.decl ||
        count > d->factory->caps.MaxPrimitiveCount)
        return false;
    for (int i = 0; i < D9_SAMPLERS; i++)
        if (d->state.textures[i]) {
            d9_sync(d->state.textures[i]);
            d9_mips_make(d->state.textures[i]);
        }
    for (int i = 0; i < D9_TARGETS; i++)
        if (d->targets[i])
            d9_mips_changed(d->targets[i], d->target_surfaces[i]);
    return true;
}

static void sync_streams(struct d9_device *d)
{
    for (int i = 0; i < D9_STREAMS; i++)
        d9_sync(d->state.streams[i].buffer);
    d9_sync(d->state.indices);
}

HRESULT STDMETHODCALLTYPE d9_device_DrawPrimitive(IDirect3DDevice9Ex *This, D3DPRIMITIVETYPE type, UINT start,
                                                  UINT count)
{
    struct d9_device *d = d9_device_of(This);

    if (!prepare(d, type, count))
        return D3DERR_INVALIDCALL;
    if (!count)
        return D3D_OK;
    sync_streams(d);
    DDI9(d, pfnDrawPrimitive, &(D3DDDIARG_DRAWPRIMITIVE){type, start, count}, NULL);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_DrawIndexedPrimitive(IDirect3DDevice9Ex *This, D3DPRIMITIVETYPE type,
                                                         INT base, UINT min, UINT vertices, UINT start,
                                                         UINT count)
{
    struct d9_device *d = d9_device_of(This);

    if (!prepare(d, type, count))
        return D3DERR_INVALIDCALL;
    if (!count || !d->state.indices) /* nothing is drawn, and Windows does not mind */
        return D3D_OK;
    sync_streams(d);
    DDI9(d, pfnDrawIndexedPrimitive,
         &(D3DDDIARG_DRAWINDEXEDPRIMITIVE){type, base, min, vertices, start, count});
    return D3D_OK;
}

/* What user memory was bound for one draw only; documented to be nothing behind it. */
static void end_um(struct d9_device *d, bool indexed)
{
    d9_object_bind(&d->state.streams[0].buffer, NULL);
    d->state.streams[0].offset = d->state.streams[0].stride = 0;
    DDI9(d, pfnSetStreamSource, &(D3DDDIARG_SETSTREAMSOURCE){0});
    if (!indexed)
        return;
    d9_object_bind(&d->state.indices, NULL);
    DDI9(d, pfnSetIndices, &(D3DDDIARG_SETINDICES){NULL, 2});
}

HRESULT STDMETHODCALLTYPE d9_device_DrawPrimitiveUP(IDirect3DDevice9Ex *This, D3DPRIMITIVETYPE type,
                                                    UINT count, const void *data, UINT stride)
{
    struct d9_device *d = d9_device_of(This);

    if (!data || !stride)
        return D3DERR_INVALIDCALL;
    if (!count) /* and what is bound stays */
        return D3D_OK;
    if (!prepare(d, type, count)) {
        end_um(d, false);
        d->state.streams[0].stride = stride;
        return D3DERR_INVALIDCALL;
    }
    DDI9(d, pfnSetStreamSourceUm, &(D3DDDIARG_SETSTREAMSOURCEUM){0, stride}, data);
    DDI9(d, pfnDrawPrimitive, &(D3DDDIARG_DRAWPRIMITIVE){type, 0, count}, NULL);
    end_um(d, false);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_DrawIndexedPrimitiveUP(IDirect3DDevice9Ex *This, D3DPRIMITIVETYPE type,
                                                           UINT min, UINT vertices, UINT count,
                                                           const void *indices, D3DFORMAT format,
                                                           const void *data, UINT stride)
{
    struct d9_device *d = d9_device_of(This);

    if (!data || !stride || !indices || (format != D3DFMT_INDEX16 && format != D3DFMT_INDEX32))
        return D3DERR_INVALIDCALL;
    if (!count)
        return D3D_OK;
    if (!prepare(d, type, count)) {
        end_um(d, true);
        return D3DERR_INVALIDCALL;
    }
    DDI9(d, pfnSetStreamSourceUm, &(D3DDDIARG_SETSTREAMSOURCEUM){0, stride}, data);
    DDI9(d, pfnSetIndicesUm, format == D3DFMT_INDEX32 ? 4 : 2, indices);
    DDI9(d, pfnDrawIndexedPrimitive, &(D3DDDIARG_DRAWINDEXEDPRIMITIVE){type, 0, min, vertices, 0, count});
    end_um(d, true);
    return D3D_OK;
}

/* ---- copies ------------------------------------------------------------------------------------ */

/* The driver's, and its number there. */
static UINT number_of(const struct d9_surface *s)
{
    return s->resource->o.drv ? d9_index(s->resource, s->index) : s->index;
}

static HANDLE handle_of(const struct d9_surface *s)
{
    return s->resource->o.drv ? s->resource->o.drv : s->resource->sys;
}

static RECT rect_of(const struct d9_surface *s, const RECT *rect)
{
    return rect ? *rect : (RECT){0, 0, (LONG)s->width, (LONG)s->height};
}

static bool inside(const struct d9_surface *s, const RECT *r)
{
    return r->left >= 0 && r->top >= 0 && r->left < r->right && r->top < r->bottom &&
           r->right <= (LONG)s->width && r->bottom <= (LONG)s->height;
}

static bool whole(const struct d9_surface *s, const RECT *r)
{
    return !r->left && !r->top && r->right == (LONG)s->width && r->bottom == (LONG)s->height;
}

static HRESULT blt(struct d9_device *d, struct d9_surface *src, const RECT *from, struct d9_surface *dst,
                   const RECT *to, D3DTEXTUREFILTERTYPE filter)
{
    D3DDDIARG_BLT a = {.hSrcResource = handle_of(src),
                       .SrcSubResourceIndex = number_of(src),
                       .SrcRect = *from,
                       .hDstResource = handle_of(dst),
                       .DstSubResourceIndex = number_of(dst),
                       .DstRect = *to};

    if (!a.hSrcResource || !a.hDstResource)
        return d->lost != S_OK ? S_OK : D3DERR_INVALIDCALL;
    d9_mips_changed(dst->resource, dst->index);
    a.Flags.Linear = filter == D3DTEXF_LINEAR;
    a.Flags.Point = filter == D3DTEXF_POINT;
    return DDI9(d, pfnBlt, &a);
}

HRESULT STDMETHODCALLTYPE d9_device_GetRenderTargetData(IDirect3DDevice9Ex *This, IDirect3DSurface9 *target,
                                                        IDirect3DSurface9 *to)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_surface *src = d9_surface_of(target), *dst = d9_surface_of(to);
    RECT all;
    HRESULT hr;

    if (!src || !dst || !(src->resource->usage & D3DUSAGE_RENDERTARGET) || src->resource->samples ||
        dst->resource->pool != D3DPOOL_SYSTEMMEM || src->width != dst->width || src->height != dst->height ||
        src->resource->format != dst->resource->format)
        return D3DERR_INVALIDCALL;
    if (d->lost != S_OK)
        return D3DERR_DEVICELOST;
    all = rect_of(src, NULL);
    hr = blt(d, src, &all, dst, &all, D3DTEXF_NONE);
    return d->lost != S_OK ? D3DERR_DEVICELOST : hr;
}

HRESULT STDMETHODCALLTYPE d9_device_UpdateSurface(IDirect3DDevice9Ex *This, IDirect3DSurface9 *source,
                                                  const RECT *rect, IDirect3DSurface9 *to, const POINT *point)
{
    struct d9_surface *src = d9_surface_of(source), *dst = d9_surface_of(to);
    UINT block;
    RECT from, at;

    if (!src || !dst || src->resource->pool != D3DPOOL_SYSTEMMEM || dst->resource->pool != D3DPOOL_DEFAULT ||
        src->resource->format != dst->resource->format || dst->resource->usage & D3DUSAGE_DEPTHSTENCIL ||
        src->locked || dst->locked)
        return D3DERR_INVALIDCALL;
    from = rect_of(src, rect);
    at = (RECT){point ? point->x : 0, point ? point->y : 0, 0, 0};
    at.right = at.left + from.right - from.left;
    at.bottom = at.top + from.bottom - from.top;
    d9_texel_bytes(src->resource->format, &block);
    if (!inside(src, &from) || !inside(dst, &at) || (from.left | from.top | at.left | at.top) % (LONG)block ||
        !d9_whole_blocks(src, &from) || (block > 1 && !d9_whole_blocks(dst, &at)))
        return D3DERR_INVALIDCALL;
    return blt(d9_device_of(This), src, &from, dst, &at, D3DTEXF_NONE);
}

/* Volumes are copied from the first level down, which is all that the driver's interface has: of others it gets to know a part. */
static HRESULT update_volumes(struct d9_device *d, struct d9_resource *src, struct d9_resource *dst,
                              UINT skip)
{
    HANDLE part = skip ? d9_part(src, skip) : src->sys;
    HRESULT hr = S_OK;

    if (part && dst->o.drv)
        hr = DDI9(d, pfnVolBlt,
                  &(D3DDDIARG_VOLUMEBLT){.hDstResource = dst->o.drv,
                                         .hSrcResource = part,
                                         .SrcBox = {0, 0, dst->width, dst->height, 0, dst->depth}});
    if (part && skip)
        DDI9_END(d, pfnDestroyResource, part);
    return hr;
}

static HRESULT update_levels(struct d9_device *d, struct d9_resource *src, struct d9_resource *dst, UINT skip,
                             UINT levels)
{
    HRESULT hr = S_OK;

    for (UINT f = 0; f < dst->faces && hr == S_OK; f++)
        for (UINT i = 0; i < levels && hr == S_OK; i++) {
            struct d9_surface *s = &src->surfaces[f * src->levels + skip + i];
            RECT part = {(LONG)s->dirty.Left, (LONG)s->dirty.Top, (LONG)s->dirty.Right,
                         (LONG)s->dirty.Bottom};

            if (part.left < part.right)
                hr = blt(d, s, &part, &dst->surfaces[f * dst->levels + i], &part, D3DTEXF_NONE);
        }
    return hr;
}

/* Levels that are as large are copied, whatever others there are, byte by byte into another format; where there is nothing to copy,
 * that is no error: as on Windows. */
HRESULT STDMETHODCALLTYPE d9_device_UpdateTexture(IDirect3DDevice9Ex *This, IDirect3DBaseTexture9 *source,
                                                  IDirect3DBaseTexture9 *to)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_resource *src = d9_texture_of(source), *dst = d9_texture_of(to);
    UINT skip = 0, levels, from_block, to_block;
    HRESULT hr = S_OK;

    if (!src || !dst || src->pool != D3DPOOL_SYSTEMMEM || dst->pool != D3DPOOL_DEFAULT ||
        src->type != dst->type)
        return D3DERR_INVALIDCALL;
    while (skip < src->levels &&
           (src->surfaces[skip].width != dst->width || src->surfaces[skip].height != dst->height ||
            src->surfaces[skip].depth != dst->depth))
        skip++;
    levels = src->levels - skip < dst->levels ? src->levels - skip : dst->levels;
    if (d9_texel_bytes(src->format, &from_block) != d9_texel_bytes(dst->format, &to_block) ||
        from_block != to_block)
        levels = 0;
    if (levels && dst->o.kind == D9_VOLUMES)
        hr = update_volumes(d, src, dst, skip);
    else
        hr = update_levels(d, src, dst, skip, levels);
    for (UINT i = 0; i < src->levels * src->faces; i++)
        src->surfaces[i].dirty = (D3DBOX){0};
    return hr;
}

HRESULT STDMETHODCALLTYPE d9_device_StretchRect(IDirect3DDevice9Ex *This, IDirect3DSurface9 *source,
                                                const RECT *from, IDirect3DSurface9 *to, const RECT *at,
                                                D3DTEXTUREFILTERTYPE filter)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_surface *src = d9_surface_of(source), *dst = d9_surface_of(to);
    RECT a, b;
    bool depth;

    if (!src || !dst || src == dst || src->resource->pool != D3DPOOL_DEFAULT ||
        dst->resource->pool != D3DPOOL_DEFAULT ||
        (filter != D3DTEXF_NONE && filter != D3DTEXF_POINT && filter != D3DTEXF_LINEAR))
        return D3DERR_INVALIDCALL;
    a = rect_of(src, from);
    b = rect_of(dst, at);
    depth = src->resource->usage & D3DUSAGE_DEPTHSTENCIL;
    if (!inside(src, &a) || !inside(dst, &b) || depth != !!(dst->resource->usage & D3DUSAGE_DEPTHSTENCIL))
        return D3DERR_INVALIDCALL;
    if (depth && (d->in_scene || !whole(src, &a) || !whole(dst, &b) || src->width != dst->width ||
                  src->height != dst->height))
        return D3DERR_INVALIDCALL;
    if (!depth && !(dst->resource->usage & D3DUSAGE_RENDERTARGET) &&
        (src->resource->o.kind != D9_SURFACE || dst->resource->o.kind != D9_SURFACE ||
         src->resource->usage & D3DUSAGE_RENDERTARGET || a.right - a.left != b.right - b.left ||
         a.bottom - a.top != b.bottom - b.top))
        return D3DERR_INVALIDCALL;
    return blt(d, src, &a, dst, &b, filter) == S_OK ? D3D_OK : D3DERR_INVALIDCALL;
}

HRESULT STDMETHODCALLTYPE d9_device_ColorFill(IDirect3DDevice9Ex *This, IDirect3DSurface9 *surface,
                                              const RECT *rect, D3DCOLOR color)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_surface *s = d9_surface_of(surface);
    RECT r;

    if (!s || s->resource->pool != D3DPOOL_DEFAULT || s->resource->usage & D3DUSAGE_DEPTHSTENCIL ||
        (s->resource->o.kind != D9_SURFACE && !(s->resource->usage & D3DUSAGE_RENDERTARGET)))
        return D3DERR_INVALIDCALL;
    r = rect_of(s, rect);
    if (!inside(s, &r))
        return D3DERR_INVALIDCALL;
    return DDI9(d, pfnColorFill,
                &(D3DDDIARG_COLORFILL){.hResource = handle_of(s),
                                       .SubResourceIndex = number_of(s),
                                       .DstRect = r,
                                       .Color = color}) == S_OK
               ? D3D_OK
               : D3DERR_INVALIDCALL;
}
