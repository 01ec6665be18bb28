/* SPDX-License-Identifier: MIT */
/* view.c: views of resources: what the API allows of their descriptions.
 *
 * The four kinds of view say the same things of a texture in structs of their own. Each is read into a `pick`, which is
 * checked once, and from which the description that the program is told, and the driver's, are made.
 */
#include "d3d/tables.h"
#include "d3d/d3d.h"

/* Dimensions are numbered as D3D11_SRV_DIMENSION, in which those of targets are the same. */
struct pick {
    UINT dimension, mip, mips, first,
        count; /* of slices where there are three dimensions, of cubes where there are cubes */
    DXGI_FORMAT format;
};

enum { ALL = -1 };

static bool is_cube(UINT dimension)
{
    return dimension == D3D11_SRV_DIMENSION_TEXTURECUBE || dimension == D3D11_SRV_DIMENSION_TEXTURECUBEARRAY;
}

/* What a view without a description is of. */
static struct pick whole(const struct d3d_child *r, bool sampled)
{
    const D3D11_TEXTURE2D_DESC *t = &r->desc.texture;
    struct pick p = {.mips = sampled ? (UINT)ALL : 1, .count = (UINT)ALL, .format = t->Format};
    bool array = t->ArraySize > 1;

    if (r->kind == D3D_TEXTURE3D)
        p.dimension = D3D11_SRV_DIMENSION_TEXTURE3D;
    else if (r->kind == D3D_TEXTURE1D)
        p.dimension = array ? D3D11_SRV_DIMENSION_TEXTURE1DARRAY : D3D11_SRV_DIMENSION_TEXTURE1D;
    else if (t->SampleDesc.Count > 1)
        p.dimension = array ? D3D11_SRV_DIMENSION_TEXTURE2DMSARRAY : D3D11_SRV_DIMENSION_TEXTURE2DMS;
    else if (sampled && t->MiscFlags & D3D11_RESOURCE_MISC_TEXTURECUBE)
        p.dimension =
            t->ArraySize >= 12 ? D3D11_SRV_DIMENSION_TEXTURECUBEARRAY : D3D11_SRV_DIMENSION_TEXTURECUBE;
    else
        p.dimension = array ? D3D11_SRV_DIMENSION_TEXTURE2DARRAY : D3D11_SRV_DIMENSION_TEXTURE2D;
    return p;
}

/* Whether there are `*count` from `first` on, of the `all` that there are; ALL becomes the rest. */
static bool span(UINT first, UINT *count, UINT all)
{
    if (first >= all)
        return false;
    if (*count == (UINT)ALL)
        *count = all - first;
    return *count && *count <= all - first;
}

/* Its own format, or, of a typeless one or of a swap chain's, any of its family that is one. */
static bool valid_format(const struct d3d_child *r, DXGI_FORMAT f)
{
    DXGI_FORMAT own = r->desc.texture.Format, family = d3d_format_family(own);
    return d3d_format_typeless(own) ? f != own && d3d_format_family(f) == family
                                    : f == own || (r->shown && d3d_format_family(f) == family && f != family);
}

/* Whether the resource has what is picked; the rests and the format are numbers then. */
static bool resolve(const struct d3d_child *r, struct pick *p)
{
    const D3D11_TEXTURE2D_DESC *t = &r->desc.texture;
    enum d3d_kind kind = p->dimension <= D3D11_SRV_DIMENSION_TEXTURE1DARRAY ? D3D_TEXTURE1D
                         : p->dimension == D3D11_SRV_DIMENSION_TEXTURE3D    ? D3D_TEXTURE3D
                                                                            : D3D_TEXTURE;
    UINT slices;

    if (p->dimension < D3D11_SRV_DIMENSION_TEXTURE1D || p->dimension > D3D11_SRV_DIMENSION_TEXTURECUBEARRAY ||
        r->kind != kind || (is_cube(p->dimension) && !(t->MiscFlags & D3D11_RESOURCE_MISC_TEXTURECUBE)))
        return false;
    if (!p->format)
        p->format = t->Format;
    if (!valid_format(r, p->format) || !span(p->mip, &p->mips, t->MipLevels))
        return false;
    slices = r->kind == D3D_TEXTURE3D ? r->depth >> p->mip ? r->depth >> p->mip : 1 : t->ArraySize;
    if (p->dimension != D3D11_SRV_DIMENSION_TEXTURECUBEARRAY)
        return span(p->first, &p->count, slices);
    slices = p->first < slices ? (slices - p->first) / 6 : 0; /* whole cubes from there on */
    if (p->count == (UINT)ALL)
        p->count = slices;
    return p->count && p->count <= slices;
}

/* What targets say: a mip, or nothing where there are samples, and a range where there is an array, or a depth. */
static void pick_target(struct pick *p, UINT dimension, DXGI_FORMAT format, const UINT *u)
{
    bool samples =
        dimension == D3D11_SRV_DIMENSION_TEXTURE2DMS || dimension == D3D11_SRV_DIMENSION_TEXTURE2DMSARRAY;
    bool range =
        dimension == D3D11_SRV_DIMENSION_TEXTURE1DARRAY || dimension == D3D11_SRV_DIMENSION_TEXTURE2DARRAY ||
        dimension == D3D11_SRV_DIMENSION_TEXTURE2DMSARRAY || dimension == D3D11_SRV_DIMENSION_TEXTURE3D;

    *p = (struct pick){.dimension = dimension, .mips = 1, .count = 1, .format = format};
    if (!samples)
        p->mip = *u++;
    if (range) {
        p->first = u[0];
        p->count = u[1];
    }
}

/* And how they are told what was picked. */
static void tell_target(const struct pick *p, UINT *u)
{
    if (p->dimension != D3D11_SRV_DIMENSION_TEXTURE2DMS &&
        p->dimension != D3D11_SRV_DIMENSION_TEXTURE2DMSARRAY)
        *u++ = p->mip;
    if (p->dimension == D3D11_SRV_DIMENSION_TEXTURE1DARRAY ||
        p->dimension == D3D11_SRV_DIMENSION_TEXTURE2DARRAY ||
        p->dimension == D3D11_SRV_DIMENSION_TEXTURE2DMSARRAY ||
        p->dimension == D3D11_SRV_DIMENSION_TEXTURE3D) {
        u[0] = p->first;
        u[1] = p->count;
    }
}

static D3D10DDIRESOURCE_TYPE ddi_dimension(const struct pick *p)
{
    if (p->dimension <= D3D11_SRV_DIMENSION_TEXTURE1DARRAY)
        return D3D10DDIRESOURCE_TEXTURE1D;
    if (p->dimension == D3D11_SRV_DIMENSION_TEXTURE3D)
        return D3D10DDIRESOURCE_TEXTURE3D;
    return is_cube(p->dimension) ? D3D10DDIRESOURCE_TEXTURECUBE : D3D10DDIRESOURCE_TEXTURE2D;
}

/* A resource of the device that may be bound as that. */
bool d3d_view_bindable(const struct d3d_device *d, const struct d3d_child *r, UINT bind)
{
    return r && r->device == d && d3d_is_resource(r) &&
           (r->kind == D3D_BUFFER ? r->desc.buffer.BindFlags : r->desc.texture.BindFlags) & bind;
}

void STDMETHODCALLTYPE d3d_view_GetResource(void *This, ID3D11Resource **out)
{
    *out = (ID3D11Resource *)((struct d3d_child *)This)->of;
    ID3D11Resource_AddRef(*out);
}

struct d3d_child *d3d_view_create(struct d3d_device *d, struct d3d_child *r, enum d3d_kind kind, size_t size)
{
    struct d3d_child *v = d3d_child_create(d, kind, size);

    if (v)
        d3d_child_bind(&v->of, r);
    return v;
}

static const char
    no_view[] = "ID3D11Device::Create%s: there is no resource, or it was not made to be bound so",
    no_such_view[] =
        "ID3D11Device::Create%s: the resource has no such view: its format, dimension, mips or layers";

/* ---- targets ---------------------------------------------------------------- */

/* Of elements of a buffer: there is no view of all of it, since it has no format. */
static HRESULT buffer_target(struct d3d_device *d, struct d3d_child *r,
                             const D3D11_RENDER_TARGET_VIEW_DESC *desc, void **out)
{
    D3D10DDIARG_CREATERENDERTARGETVIEW a;
    struct d3d_child *v;

    if (!desc || desc->ViewDimension != D3D11_RTV_DIMENSION_BUFFER ||
        !d3d_buffer_range(r, desc->Format, false, desc->Buffer.FirstElement, desc->Buffer.NumElements))
        return d3d_refuse(d, D3D11_MESSAGE_ID_CREATERENDERTARGETVIEW_INVALIDDESC, no_such_view,
                          "RenderTargetView");
    if (!out)
        return S_FALSE;
    a = (D3D10DDIARG_CREATERENDERTARGETVIEW){
        .hDrvResource = DRV(D3D10DDI_HRESOURCE, r),
        .Format = desc->Format,
        .ResourceDimension = D3D10DDIRESOURCE_BUFFER,
        .Buffer = {{desc->Buffer.FirstElement}, {desc->Buffer.NumElements}}};
    v = d3d_view_create(d, r, D3D_RTV, d->ddi.pfnCalcPrivateRenderTargetViewSize(d->drv, &a));
    if (!v)
        return E_OUTOFMEMORY;
    v->desc.rtv = *desc;
    DDI(d, pfnCreateRenderTargetView, &a, DRV(D3D10DDI_HRENDERTARGETVIEW, v),
        (D3D10DDI_HRTRENDERTARGETVIEW){v});
    return d3d_child_finish(v, out);
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateRenderTargetView(ID3D11Device *This, ID3D11Resource *resource,
                                                            const D3D11_RENDER_TARGET_VIEW_DESC *desc,
                                                            ID3D11RenderTargetView **out)
{
    struct d3d_device *d = (struct d3d_device *)This;
    struct d3d_child *r = (struct d3d_child *)resource, *v;
    D3D10DDIARG_CREATERENDERTARGETVIEW a;
    struct pick p;

    if (out)
        *out = NULL;
    if (!d3d_view_bindable(d, r, D3D11_BIND_RENDER_TARGET))
        return d3d_refuse(d, D3D11_MESSAGE_ID_CREATERENDERTARGETVIEW_INVALIDRESOURCE, no_view,
                          "RenderTargetView");
    if (r->kind == D3D_BUFFER)
        return buffer_target(d, r, desc, (void **)out);
    if (desc)
        pick_target(&p, desc->ViewDimension, desc->Format, &desc->Texture2D.MipSlice);
    else
        p = whole(r, false);
    if (!resolve(r, &p))
        return d3d_refuse(d, D3D11_MESSAGE_ID_CREATERENDERTARGETVIEW_INVALIDDESC, no_such_view,
                          "RenderTargetView");
    if (!out)
        return S_FALSE;
    a = (D3D10DDIARG_CREATERENDERTARGETVIEW){.hDrvResource = DRV(D3D10DDI_HRESOURCE, r),
                                             .Format = p.format,
                                             .ResourceDimension = ddi_dimension(&p),
                                             .Tex2D = {p.mip, p.first, p.count}};
    v = d3d_view_create(d, r, D3D_RTV, d->ddi.pfnCalcPrivateRenderTargetViewSize(d->drv, &a));
    if (!v)
        return E_OUTOFMEMORY;
    v->desc.rtv = (D3D11_RENDER_TARGET_VIEW_DESC){.Format = p.format, .ViewDimension = p.dimension};
    tell_target(&p, &v->desc.rtv.Texture2D.MipSlice);
    DDI(d, pfnCreateRenderTargetView, &a, DRV(D3D10DDI_HRENDERTARGETVIEW, v),
        (D3D10DDI_HRTRENDERTARGETVIEW){v});
    return d3d_child_finish(v, (void **)out);
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateDepthStencilView(ID3D11Device *This, ID3D11Resource *resource,
                                                            const D3D11_DEPTH_STENCIL_VIEW_DESC *desc,
                                                            ID3D11DepthStencilView **out)
{
    struct d3d_device *d = (struct d3d_device *)This;
    struct d3d_child *r = (struct d3d_child *)resource, *v;
    D3D11DDIARG_CREATEDEPTHSTENCILVIEW a;
    struct pick p;

    if (out)
        *out = NULL;
    if (!d3d_view_bindable(d, r, D3D11_BIND_DEPTH_STENCIL) ||
        (desc && (desc->ViewDimension < D3D11_DSV_DIMENSION_TEXTURE1D ||
                  desc->ViewDimension > D3D11_DSV_DIMENSION_TEXTURE2DMSARRAY)))
        return d3d_refuse(d, D3D11_MESSAGE_ID_CREATEDEPTHSTENCILVIEW_INVALIDRESOURCE, no_view,
                          "DepthStencilView");
    if (desc) /* theirs are one less */
        pick_target(&p, desc->ViewDimension + 1, desc->Format, &desc->Texture2D.MipSlice);
    else
        p = whole(r, false);
    if (!resolve(r, &p))
        return d3d_refuse(d, D3D11_MESSAGE_ID_CREATEDEPTHSTENCILVIEW_INVALIDDESC, no_such_view,
                          "DepthStencilView");
    if (!out)
        return S_FALSE;
    a = (D3D11DDIARG_CREATEDEPTHSTENCILVIEW){.hDrvResource = DRV(D3D10DDI_HRESOURCE, r),
                                             .Format = p.format,
                                             .ResourceDimension = ddi_dimension(&p),
                                             .Flags = desc ? desc->Flags : 0,
                                             .Tex2D = {p.mip, p.first, p.count}};
    v = d3d_view_create(d, r, D3D_DSV, d->ddi.pfnCalcPrivateDepthStencilViewSize(d->drv, &a));
    if (!v)
        return E_OUTOFMEMORY;
    v->desc.dsv = (D3D11_DEPTH_STENCIL_VIEW_DESC){
        .Format = p.format, .ViewDimension = p.dimension - 1, .Flags = desc ? desc->Flags : 0};
    tell_target(&p, &v->desc.dsv.Texture2D.MipSlice);
    DDI(d, pfnCreateDepthStencilView, &a, DRV(D3D10DDI_HDEPTHSTENCILVIEW, v),
        (D3D10DDI_HRTDEPTHSTENCILVIEW){v});
    return d3d_child_finish(v, (void **)out);
}

/* ---- what shaders write to ------------------------------------------------------- */

HRESULT STDMETHODCALLTYPE d3d_device_CreateUnorderedAccessView(ID3D11Device *This, ID3D11Resource *resource,
                                                               const D3D11_UNORDERED_ACCESS_VIEW_DESC *desc,
                                                               ID3D11UnorderedAccessView **out)
{
    struct d3d_device *d = (struct d3d_device *)This;
    struct d3d_child *r = (struct d3d_child *)resource;
    D3D11_UNORDERED_ACCESS_VIEW_DESC said;
    D3D11DDIARG_CREATEUNORDEREDACCESSVIEW a;
    struct pick p;

    if (out)
        *out = NULL;
    if (!d3d_view_bindable(d, r, D3D11_BIND_UNORDERED_ACCESS))
        return d3d_refuse(d, D3D11_MESSAGE_ID_CREATEUNORDEREDACCESSVIEW_INVALIDRESOURCE, no_view,
                          "UnorderedAccessView");
    if (r->kind == D3D_BUFFER)
        return d3d_uav_buffer(d, r, desc, (void **)out);
    if (desc)
        pick_target(&p, desc->ViewDimension, desc->Format, &desc->Texture2D.MipSlice);
    else
        p = whole(r, false);
    if (d->level < D3D_FEATURE_LEVEL_11_0 || p.dimension == D3D11_SRV_DIMENSION_TEXTURE2DMS ||
        p.dimension == D3D11_SRV_DIMENSION_TEXTURE2DMSARRAY || is_cube(p.dimension) ||
        r->desc.texture.SampleDesc.Count > 1 || !resolve(r, &p) || !d3d_format_storable(p.format))
        return d3d_refuse(d, D3D11_MESSAGE_ID_CREATEUNORDEREDACCESSVIEW_INVALIDDESC, no_such_view,
                          "UnorderedAccessView");
    if (!out)
        return S_FALSE;
    a = (D3D11DDIARG_CREATEUNORDEREDACCESSVIEW){.hDrvResource = DRV(D3D10DDI_HRESOURCE, r),
                                                .Format = p.format,
                                                .ResourceDimension = ddi_dimension(&p),
                                                .Tex2D = {p.mip, p.first, p.count}};
    said = (D3D11_UNORDERED_ACCESS_VIEW_DESC){.Format = p.format, .ViewDimension = p.dimension};
    tell_target(&p, &said.Texture2D.MipSlice);
    return d3d_uav_create(d, r, &a, &said, (void **)out);
}

/* ---- what shaders read ----------------------------------------------------------- */

bool d3d_buffer_range(const struct d3d_child *r, DXGI_FORMAT format, bool raw, UINT first, UINT count)
{
    const D3D11_BUFFER_DESC *b = &r->desc.buffer;
    bool structured = b->MiscFlags & D3D11_RESOURCE_MISC_BUFFER_STRUCTURED;
    UINT unit = raw ? 4 : structured ? b->StructureByteStride : d3d_format_bytes(format);

    if (raw &&
        (format != DXGI_FORMAT_R32_TYPELESS || !(b->MiscFlags & D3D11_RESOURCE_MISC_BUFFER_ALLOW_RAW_VIEWS)))
        return false;
    if ((!raw && structured && format != DXGI_FORMAT_UNKNOWN) || !unit)
        return false;
    return count && first <= b->ByteWidth / unit && count <= b->ByteWidth / unit - first;
}

static HRESULT buffer_view(struct d3d_device *d, struct d3d_child *r,
                           const D3D11_SHADER_RESOURCE_VIEW_DESC *desc, ID3D11ShaderResourceView **out)
{
    D3D11_SHADER_RESOURCE_VIEW_DESC all = {.ViewDimension = D3D11_SRV_DIMENSION_BUFFER};
    D3D11DDIARG_CREATESHADERRESOURCEVIEW a;
    struct d3d_child *v;
    bool raw;

    if (!desc && r->desc.buffer.StructureByteStride)
        all.Buffer.NumElements = r->desc.buffer.ByteWidth / r->desc.buffer.StructureByteStride;
    if (!desc)
        desc = &all;
    raw = desc->ViewDimension == D3D11_SRV_DIMENSION_BUFFEREX &&
          desc->BufferEx.Flags & D3D11_BUFFEREX_SRV_FLAG_RAW;
    /* BUFFER's two members are BUFFEREX's first ones */
    if ((desc->ViewDimension != D3D11_SRV_DIMENSION_BUFFER &&
         desc->ViewDimension != D3D11_SRV_DIMENSION_BUFFEREX) ||
        !d3d_buffer_range(r, desc->Format, raw, desc->BufferEx.FirstElement, desc->BufferEx.NumElements))
        return E_INVALIDARG;
    if (!out)
        return S_FALSE;
    a = (D3D11DDIARG_CREATESHADERRESOURCEVIEW){
        .hDrvResource = DRV(D3D10DDI_HRESOURCE, r),
        .Format = desc->Format,
        .ResourceDimension = D3D11DDIRESOURCE_BUFFEREX,
        .BufferEx = {{desc->BufferEx.FirstElement}, {desc->BufferEx.NumElements}, 0}};
    v = d3d_view_create(d, r, D3D_SRV, d->ddi.pfnCalcPrivateShaderResourceViewSize(d->drv, &a));
    if (!v)
        return E_OUTOFMEMORY;
    v->desc.srv = *desc;
    DDI(d, pfnCreateShaderResourceView, &a, DRV(D3D10DDI_HSHADERRESOURCEVIEW, v),
        (D3D10DDI_HRTSHADERRESOURCEVIEW){v});
    return d3d_child_finish(v, (void **)out);
}

static void pick_sampled(struct pick *p, const D3D11_SHADER_RESOURCE_VIEW_DESC *desc)
{
    const D3D11_TEX2D_ARRAY_SRV *t = &desc->Texture2DArray;

    *p = (struct pick){.dimension = desc->ViewDimension, .mips = 1, .count = 1, .format = desc->Format};
    switch (desc->ViewDimension) {
    case D3D11_SRV_DIMENSION_TEXTURE2DMS:
        return;
    case D3D11_SRV_DIMENSION_TEXTURE2DMSARRAY:
        p->first = desc->Texture2DMSArray.FirstArraySlice;
        p->count = desc->Texture2DMSArray.ArraySize;
        return;
    case D3D11_SRV_DIMENSION_TEXTURE1DARRAY: /* and the cubes' members are the same */
    case D3D11_SRV_DIMENSION_TEXTURE2DARRAY:
    case D3D11_SRV_DIMENSION_TEXTURECUBEARRAY:
        p->first = t->FirstArraySlice;
        p->count = t->ArraySize;
        break;
    case D3D11_SRV_DIMENSION_TEXTURE3D:
        p->count = (UINT)ALL;
        break;
    default:
        break;
    }
    p->mip = t->MostDetailedMip;
    p->mips = t->MipLevels;
}

static void tell_sampled(const struct pick *p, D3D11_SHADER_RESOURCE_VIEW_DESC *desc)
{
    *desc = (D3D11_SHADER_RESOURCE_VIEW_DESC){.Format = p->format, .ViewDimension = p->dimension};
    if (p->dimension == D3D11_SRV_DIMENSION_TEXTURE2DMSARRAY)
        desc->Texture2DMSArray = (D3D11_TEX2DMS_ARRAY_SRV){p->first, p->count};
    else if (p->dimension == D3D11_SRV_DIMENSION_TEXTURE1DARRAY ||
             p->dimension == D3D11_SRV_DIMENSION_TEXTURE2DARRAY ||
             p->dimension == D3D11_SRV_DIMENSION_TEXTURECUBEARRAY)
        desc->Texture2DArray = (D3D11_TEX2D_ARRAY_SRV){p->mip, p->mips, p->first, p->count};
    else if (p->dimension != D3D11_SRV_DIMENSION_TEXTURE2DMS)
        desc->Texture2D = (D3D11_TEX2D_SRV){p->mip, p->mips};
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateShaderResourceView(ID3D11Device *This, ID3D11Resource *resource,
                                                              const D3D11_SHADER_RESOURCE_VIEW_DESC *desc,
                                                              ID3D11ShaderResourceView **out)
{
    struct d3d_device *d = (struct d3d_device *)This;
    struct d3d_child *r = (struct d3d_child *)resource, *v;
    D3D11DDIARG_CREATESHADERRESOURCEVIEW a;
    struct pick p;

    if (out)
        *out = NULL;
    if (!d3d_view_bindable(d, r, D3D11_BIND_SHADER_RESOURCE))
        return d3d_refuse(d, D3D11_MESSAGE_ID_CREATESHADERRESOURCEVIEW_INVALIDRESOURCE, no_view,
                          "ShaderResourceView");
    if (r->kind == D3D_BUFFER)
        return buffer_view(d, r, desc, out);
    if (desc)
        pick_sampled(&p, desc);
    else
        p = whole(r, true);
    if (!resolve(r, &p) ||
        (p.dimension == D3D11_SRV_DIMENSION_TEXTURECUBEARRAY && d->level < D3D_FEATURE_LEVEL_10_1))
        return d3d_refuse(d, D3D11_MESSAGE_ID_CREATESHADERRESOURCEVIEW_INVALIDDESC, no_such_view,
                          "ShaderResourceView");
    if (!out)
        return S_FALSE;
    a = (D3D11DDIARG_CREATESHADERRESOURCEVIEW){.hDrvResource = DRV(D3D10DDI_HRESOURCE, r),
                                               .Format = p.format,
                                               .ResourceDimension = ddi_dimension(&p)};
    if (is_cube(p.dimension))
        a.TexCube = (D3D10_1DDIARG_TEXCUBE_SHADERRESOURCEVIEW){
            p.mip, p.mips, p.first, p.dimension == D3D11_SRV_DIMENSION_TEXTURECUBE ? 1 : p.count};
    else if (p.dimension == D3D11_SRV_DIMENSION_TEXTURE3D)
        a.Tex3D = (D3D10DDIARG_TEX3D_SHADERRESOURCEVIEW){p.mip, p.mips};
    else
        a.Tex2D = (D3D10DDIARG_TEX2D_SHADERRESOURCEVIEW){p.mip, p.first, p.mips, p.count};
    v = d3d_view_create(d, r, D3D_SRV, d->ddi.pfnCalcPrivateShaderResourceViewSize(d->drv, &a));
    if (!v)
        return E_OUTOFMEMORY;
    tell_sampled(&p, &v->desc.srv);
    DDI(d, pfnCreateShaderResourceView, &a, DRV(D3D10DDI_HSHADERRESOURCEVIEW, v),
        (D3D10DDI_HRTSHADERRESOURCEVIEW){v});
    return d3d_child_finish(v, (void **)out);
}

void STDMETHODCALLTYPE d3d_rtv_GetDesc(ID3D11RenderTargetView *This, D3D11_RENDER_TARGET_VIEW_DESC *desc)
{
    *desc = ((struct d3d_child *)This)->desc.rtv;
}

void STDMETHODCALLTYPE d3d_dsv_GetDesc(ID3D11DepthStencilView *This, D3D11_DEPTH_STENCIL_VIEW_DESC *desc)
{
    *desc = ((struct d3d_child *)This)->desc.dsv;
}

void STDMETHODCALLTYPE d3d_srv_GetDesc(ID3D11ShaderResourceView *This, D3D11_SHADER_RESOURCE_VIEW_DESC *desc)
{
    *desc = ((struct d3d_child *)This)->desc.srv;
}
