/* SPDX-License-Identifier: MIT */
/* view.c: views of textures and buffers. One of a whole texture in its own format is the texture itself. */
#include "umd/d3d10/umd10.h"

static bool is_stencil(UINT dxgi)
{
    return dxgi == 22 /* X32_TYPELESS_G8X24_UINT */ || dxgi == 47 /* X24_TYPELESS_G8_UINT */;
}

static void view_texture(struct umd10_device *d, struct umd10_view *v, UINT dxgi, UINT mip, UINT mips,
                         UINT layer, UINT layers)
{
    struct umd10_resource *r = v->resource;
    uint32_t format = !umd10_is_depth(r->format) ? umd10_format(d, dxgi)
                      : is_stencil(dxgi) && umd10_has(d, AEROGPU_EXT_FEATURE(EXT_VIEWS))
                          ? AEROGPU_FORMAT_EXT_STENCIL_UINT
                          : r->format;

    uint32_t slices = umd10_slices(r, mip);

    mips = mips > r->mips - mip ? r->mips - mip : mips;
    layers = layers > slices - layer ? slices - layer : layers;
    v->name = r->name;
    v->format = format ? format : r->format;
    if ((!format || format == r->format) && !mip && mips == r->mips && !layer && layers == slices)
        return;
    v->name = umd10_name(d);
    v->own = true;
    umd10_room(d, 64);
    ABI_EMIT(&d->stream, CREATE_TEXTURE_VIEW, create_texture_view, .view_handle = v->name,
             .texture_handle = r->name, .format = v->format, .base_mip_level = mip, .mip_level_count = mips,
             .base_array_layer = layer, .array_layer_count = layers);
}

/* Elements of a structured buffer, words of a raw one, or texels. */
static void view_buffer(struct umd10_device *d, struct umd10_view *v, UINT dxgi, UINT first, UINT count)
{
    enum { R32_TYPELESS = 39 };
    bool typed = dxgi && dxgi != R32_TYPELESS, views = umd10_has(d, AEROGPU_EXT_FEATURE(EXT_VIEWS));
    uint32_t unit = typed ? umd10_texel_bytes(dxgi) : v->resource->stride && !dxgi ? v->resource->stride : 4;

    v->name = v->resource->name;
    v->offset = first * unit;
    v->size = count * unit;
    v->dxgi = typed ? dxgi : 0;
    v->format = typed ? umd10_format(d, dxgi) : 0;
    if (!unit || (typed && !views && unit != 16)) {
        umd10_error(d, DXGI_DDI_ERR_UNSUPPORTED);
        return;
    }
    if (!views)
        return;
    v->name = umd10_name(d);
    v->own = true;
    umd10_room(d, 64);
    ABI_EMIT(&d->stream, EXT_CREATE_BUFFER_VIEW, ext_create_buffer_view, .view_handle = v->name,
             .buffer = v->resource->name, .dxgi_format = typed ? dxgi : 0, .offset_bytes = v->offset,
             .size_bytes = v->size);
}

static void destroy(D3D10DDI_HDEVICE h, struct umd10_view *v)
{
    struct umd10_device *d = umd10_device(h);

    if (!v->own)
        return;
    umd10_room(d, 64);
    ABI_EMIT(&d->stream, DESTROY_TEXTURE_VIEW, destroy_texture_view, .view_handle = v->name);
}

static VOID APIENTRY create_srv(D3D10DDI_HDEVICE h, CONST D3D11DDIARG_CREATESHADERRESOURCEVIEW *a,
                                D3D10DDI_HSHADERRESOURCEVIEW hv, D3D10DDI_HRTSHADERRESOURCEVIEW rt)
{
    struct umd10_view *v = hv.pDrvPrivate;

    *v = (struct umd10_view){.resource = a->hDrvResource.pDrvPrivate};
    if (v->resource->buffer) {
        view_buffer(umd10_device(h), v, (UINT)a->Format, a->BufferEx.FirstElement, a->BufferEx.NumElements);
    } else if (a->ResourceDimension == D3D10DDIRESOURCE_TEXTURECUBE) {
        view_texture(umd10_device(h), v, (UINT)a->Format, a->TexCube.MostDetailedMip, a->TexCube.MipLevels,
                     a->TexCube.First2DArrayFace, a->TexCube.NumCubes * 6);
    } else if (a->ResourceDimension == D3D10DDIRESOURCE_TEXTURE3D) {
        view_texture(umd10_device(h), v, (UINT)a->Format, a->Tex3D.MostDetailedMip, a->Tex3D.MipLevels, 0,
                     UINT32_MAX);
    } else { /* one dimension has the same members */
        view_texture(umd10_device(h), v, (UINT)a->Format, a->Tex2D.MostDetailedMip, a->Tex2D.MipLevels,
                     a->Tex2D.FirstArraySlice, a->Tex2D.ArraySize);
    }
}

static VOID APIENTRY generate_mips(D3D10DDI_HDEVICE h, D3D10DDI_HSHADERRESOURCEVIEW hv)
{
    struct umd10_device *d = umd10_device(h);
    const struct umd10_view *v = hv.pDrvPrivate;

    if (d->dropped || v->resource->buffer || v->resource->samples > 1 ||
        umd10_is_depth(v->resource->format) || umd10_is_integer(v->resource->format))
        return;
    if (!(d->info.device_features & AEROGPU_EXT_FEATURE(EXT_MIPS))) {
        umd10_error(d, DXGI_DDI_ERR_UNSUPPORTED);
        return;
    }
    umd10_room(d, 64);
    umd10_use(v->resource, false);
    ABI_EMIT(&d->stream, EXT_GENERATE_MIPS, ext_generate_mips, .texture = v->name);
}

static VOID APIENTRY create_rtv(D3D10DDI_HDEVICE h, CONST D3D10DDIARG_CREATERENDERTARGETVIEW *a,
                                D3D10DDI_HRENDERTARGETVIEW hv, D3D10DDI_HRTRENDERTARGETVIEW rt)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_view *v = hv.pDrvPrivate;
    const uint32_t f = umd10_format(d, (UINT)a->Format);

    *v = (struct umd10_view){.resource = a->hDrvResource.pDrvPrivate};
    v->resource->drawn = true;
    if (v->resource->buffer && (!umd10_has(d, AEROGPU_EXT_FEATURE(EXT_BUFFER_TARGETS)) || !f ||
                                !umd10_is_drawn(f) || a->Buffer.NumElements > UMD10_BUFFER_TARGET))
        umd10_error(d, DXGI_DDI_ERR_UNSUPPORTED);
    else if (v->resource->buffer)
        view_buffer(d, v, (UINT)a->Format, a->Buffer.FirstElement, a->Buffer.NumElements);
    else /* the other dimensions' members are the same ones: slices of three */
        view_texture(d, v, (UINT)a->Format, a->Tex2D.MipSlice, 1, a->Tex2D.FirstArraySlice,
                     a->Tex2D.ArraySize);
}

static VOID APIENTRY create_dsv(D3D10DDI_HDEVICE h, CONST D3D11DDIARG_CREATEDEPTHSTENCILVIEW *a,
                                D3D10DDI_HDEPTHSTENCILVIEW hv, D3D10DDI_HRTDEPTHSTENCILVIEW rt)
{
    struct umd10_view *v = hv.pDrvPrivate;

    *v = (struct umd10_view){.resource = a->hDrvResource.pDrvPrivate};
    view_texture(umd10_device(h), v, (UINT)a->Format, a->Tex2D.MipSlice, 1, a->Tex2D.FirstArraySlice,
                 a->Tex2D.ArraySize);
}

static VOID APIENTRY create_uav(D3D10DDI_HDEVICE h, CONST D3D11DDIARG_CREATEUNORDEREDACCESSVIEW *a,
                                D3D11DDI_HUNORDEREDACCESSVIEW hv, D3D11DDI_HRTUNORDEREDACCESSVIEW rt)
{
    struct umd10_view *v = hv.pDrvPrivate;

    *v = (struct umd10_view){.resource = a->hDrvResource.pDrvPrivate};
    if (a->ResourceDimension == D3D10DDIRESOURCE_BUFFER)
        view_buffer(umd10_device(h), v, (UINT)a->Format, a->Buffer.FirstElement, a->Buffer.NumElements);
    else if (!umd10_has(umd10_device(h), AEROGPU_EXT_FEATURE(EXT_VIEWS)))
        umd10_error(umd10_device(h), DXGI_DDI_ERR_UNSUPPORTED);
    else /* the other dimensions' members are the same ones: slices of three */
        view_texture(umd10_device(h), v, (UINT)a->Format, a->Tex2D.MipSlice, 1, a->Tex2D.FirstArraySlice,
                     a->Tex2D.ArraySize);
}

static VOID APIENTRY destroy_uav(D3D10DDI_HDEVICE h, D3D11DDI_HUNORDEREDACCESSVIEW v)
{
    destroy(h, v.pDrvPrivate);
}

static void clear_view(struct umd10_device *d, const struct umd10_view *v, const UINT values[4], bool floats)
{
    if (d->dropped)
        return;
    if (!umd10_has(d, AEROGPU_EXT_FEATURE(EXT_VIEWS))) {
        umd10_fill(d, v->resource, v->offset, v->size, values[0]);
        return;
    }
    umd10_room(d, 64);
    ABI_EMIT(&d->stream, EXT_CLEAR_VIEW, ext_clear_view, .view = v->name, .floats = floats,
             .values = {values[0], values[1], values[2], values[3]});
}

static VOID APIENTRY clear_uav(D3D10DDI_HDEVICE h, D3D11DDI_HUNORDEREDACCESSVIEW hv, CONST UINT values[4])
{
    clear_view(umd10_device(h), hv.pDrvPrivate, values, false);
}

static VOID APIENTRY clear_uav_float(D3D10DDI_HDEVICE h, D3D11DDI_HUNORDEREDACCESSVIEW hv,
                                     CONST FLOAT values[4])
{
    UINT words[4];

    memcpy(words, values, sizeof(words));
    clear_view(umd10_device(h), hv.pDrvPrivate, words, true);
}

static VOID APIENTRY copy_count(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE hr, UINT offset,
                                D3D11DDI_HUNORDEREDACCESSVIEW hv)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_resource *r = hr.pDrvPrivate;
    const struct umd10_view *v = hv.pDrvPrivate;

    if (d->dropped || !v->own || !v->resource->buffer || offset % 4 || r->size < 4 || offset > r->size - 4)
        return;
    umd10_room(d, 256);
    if (!r->alloc_id) {
        ABI_EMIT(&d->stream, EXT_COPY_COUNT, ext_copy_count, .view = v->name, .dst_buffer = r->name,
                 .dst_offset = offset);
        return;
    }
    if (!d->scratch) { /* what is written to guest memory is copied there */
        d->scratch = umd10_name(d);
        ABI_EMIT(&d->stream, CREATE_BUFFER, create_buffer, .buffer_handle = d->scratch, .size_bytes = 16);
    }
    umd10_use(r, true);
    ABI_EMIT(&d->stream, EXT_COPY_COUNT, ext_copy_count, .view = v->name, .dst_buffer = d->scratch);
    ABI_EMIT(&d->stream, COPY_BUFFER, copy_buffer, .dst_buffer = r->name, .src_buffer = d->scratch,
             .dst_offset_bytes = offset, .size_bytes = 4, .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
}

static VOID APIENTRY destroy_srv(D3D10DDI_HDEVICE h, D3D10DDI_HSHADERRESOURCEVIEW v)
{
    destroy(h, v.pDrvPrivate);
}

static VOID APIENTRY destroy_rtv(D3D10DDI_HDEVICE h, D3D10DDI_HRENDERTARGETVIEW v)
{
    destroy(h, v.pDrvPrivate);
}

static VOID APIENTRY destroy_dsv(D3D10DDI_HDEVICE h, D3D10DDI_HDEPTHSTENCILVIEW v)
{
    destroy(h, v.pDrvPrivate);
}

static SIZE_T APIENTRY srv_size(D3D10DDI_HDEVICE h, CONST D3D11DDIARG_CREATESHADERRESOURCEVIEW *a)
{
    return sizeof(struct umd10_view);
}

static SIZE_T APIENTRY rtv_size(D3D10DDI_HDEVICE h, CONST D3D10DDIARG_CREATERENDERTARGETVIEW *a)
{
    return sizeof(struct umd10_view);
}

static SIZE_T APIENTRY dsv_size(D3D10DDI_HDEVICE h, CONST D3D11DDIARG_CREATEDEPTHSTENCILVIEW *a)
{
    return sizeof(struct umd10_view);
}

static SIZE_T APIENTRY uav_size(D3D10DDI_HDEVICE h, CONST D3D11DDIARG_CREATEUNORDEREDACCESSVIEW *a)
{
    return sizeof(struct umd10_view);
}

static VOID APIENTRY srv_hazard(D3D10DDI_HDEVICE h, D3D10DDI_HSHADERRESOURCEVIEW v, D3D10DDI_HRESOURCE r)
{
}

void umd10_view_functions(D3D11_1DDI_DEVICEFUNCS *f)
{
    f->pfnCalcPrivateShaderResourceViewSize = srv_size;
    f->pfnCreateShaderResourceView = create_srv;
    f->pfnDestroyShaderResourceView = destroy_srv;
    f->pfnCalcPrivateRenderTargetViewSize = rtv_size;
    f->pfnCreateRenderTargetView = create_rtv;
    f->pfnDestroyRenderTargetView = destroy_rtv;
    f->pfnCalcPrivateDepthStencilViewSize = dsv_size;
    f->pfnCreateDepthStencilView = create_dsv;
    f->pfnDestroyDepthStencilView = destroy_dsv;
    f->pfnCalcPrivateUnorderedAccessViewSize = uav_size;
    f->pfnCreateUnorderedAccessView = create_uav;
    f->pfnDestroyUnorderedAccessView = destroy_uav;
    f->pfnClearUnorderedAccessViewUint = clear_uav;
    f->pfnClearUnorderedAccessViewFloat = clear_uav_float;
    f->pfnCopyStructureCount = copy_count;
    f->pfnShaderResourceViewReadAfterWriteHazard = srv_hazard;
    f->pfnGenMips = generate_mips;
}
