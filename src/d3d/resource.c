/* SPDX-License-Identifier: MIT */
/* resource.c: buffers, textures and views of them: what the API allows of their descriptions. */
#include "d3d/tables.h"
#include "d3d/d3d.h"

enum {
    BUFFER_BINDS = D3D11_BIND_VERTEX_BUFFER | D3D11_BIND_INDEX_BUFFER | D3D11_BIND_CONSTANT_BUFFER |
                   D3D11_BIND_SHADER_RESOURCE | D3D11_BIND_STREAM_OUTPUT | D3D11_BIND_RENDER_TARGET |
                   D3D11_BIND_UNORDERED_ACCESS,
    TEXTURE_BINDS = D3D11_BIND_SHADER_RESOURCE | D3D11_BIND_RENDER_TARGET | D3D11_BIND_DEPTH_STENCIL |
                    D3D11_BIND_UNORDERED_ACCESS
};
enum { MAX_TEXTURE = 8192, MAX_ARRAY = 512, MAX_BUFFER = 1 << 28 };

/* The rules that all resources share; `binds`: what one of its kind can be bound as. */
static bool valid_usage(D3D11_USAGE usage, UINT bind, UINT binds, UINT cpu, bool initial)
{
    if (bind & ~binds)
        return false;
    switch (usage) {
    case D3D11_USAGE_DEFAULT:
        return !cpu;
    case D3D11_USAGE_IMMUTABLE:
        return !cpu && initial &&
               !(bind & (D3D11_BIND_RENDER_TARGET | D3D11_BIND_DEPTH_STENCIL | D3D11_BIND_UNORDERED_ACCESS));
    case D3D11_USAGE_DYNAMIC:
        return cpu == D3D11_CPU_ACCESS_WRITE && bind &&
               !(bind & (D3D11_BIND_RENDER_TARGET | D3D11_BIND_DEPTH_STENCIL | D3D11_BIND_UNORDERED_ACCESS));
    case D3D11_USAGE_STAGING:
        return cpu && !bind && !(cpu & ~(UINT)(D3D11_CPU_ACCESS_READ | D3D11_CPU_ACCESS_WRITE));
    default:
        return false;
    }
}

static HRESULT create(struct d3d_device *d, D3D11DDIARG_CREATERESOURCE *a, struct d3d_child *c, void **out)
{
    DDI(d, pfnCreateResource, a, DRV(D3D10DDI_HRESOURCE, c), (D3D10DDI_HRTRESOURCE){c});
    return d3d_child_finish(c, out);
}

/* Raw and structured buffers: what their views count in. */
static bool valid_elements(const D3D11_BUFFER_DESC *b)
{
    enum { VIEWED = D3D11_BIND_SHADER_RESOURCE | D3D11_BIND_UNORDERED_ACCESS };
    bool raw = b->MiscFlags & D3D11_RESOURCE_MISC_BUFFER_ALLOW_RAW_VIEWS;

    if (b->MiscFlags & D3D11_RESOURCE_MISC_BUFFER_STRUCTURED)
        return !raw && b->StructureByteStride && !(b->StructureByteStride & 3) &&
               b->StructureByteStride <= D3D11_REQ_MULTI_ELEMENT_STRUCTURE_SIZE_IN_BYTES &&
               !(b->ByteWidth % b->StructureByteStride);
    return !raw || b->BindFlags & VIEWED;
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateBuffer(ID3D11Device *This, const D3D11_BUFFER_DESC *desc,
                                                  const D3D11_SUBRESOURCE_DATA *data, ID3D11Buffer **out)
{
    struct d3d_device *d = (struct d3d_device *)This;
    D3D10DDI_MIPINFO mip;
    D3D10_DDIARG_SUBRESOURCE_UP up;
    D3D11DDIARG_CREATERESOURCE a;
    struct d3d_child *c;

    if (out)
        *out = NULL;
    if (!desc || !desc->ByteWidth || desc->ByteWidth > MAX_BUFFER || (data && !data->pSysMem) ||
        !valid_elements(desc) ||
        !valid_usage(desc->Usage, desc->BindFlags, BUFFER_BINDS, desc->CPUAccessFlags, data) ||
        (desc->BindFlags & D3D11_BIND_CONSTANT_BUFFER &&
         (desc->BindFlags != D3D11_BIND_CONSTANT_BUFFER || desc->ByteWidth & 15 || desc->ByteWidth > 65536)))
        return E_INVALIDARG;
    if (!out)
        return S_FALSE;
    mip = (D3D10DDI_MIPINFO){desc->ByteWidth, 1, 1, desc->ByteWidth, 1, 1};
    a = (D3D11DDIARG_CREATERESOURCE){.pMipInfoList = &mip,
                                     .ResourceDimension = D3D10DDIRESOURCE_BUFFER,
                                     .Usage = desc->Usage,
                                     .BindFlags = desc->BindFlags,
                                     .MapFlags = desc->CPUAccessFlags >> 16,
                                     .MiscFlags = desc->MiscFlags,
                                     .SampleDesc = {1, 0},
                                     .MipLevels = 1,
                                     .ArraySize = 1,
                                     .ByteStride = desc->StructureByteStride};
    if (data) {
        up =
            (D3D10_DDIARG_SUBRESOURCE_UP){(void *)(uintptr_t)data->pSysMem, desc->ByteWidth, desc->ByteWidth};
        a.pInitialDataUP = &up;
    }
    c = d3d_child_create(d, D3D_BUFFER, d->ddi.pfnCalcPrivateResourceSize(d->drv, &a));
    if (!c)
        return E_OUTOFMEMORY;
    c->desc.buffer = *desc;
    return create(d, &a, c, (void **)out);
}

static bool is_compressed(DXGI_FORMAT f) /* BC1 to BC7: blocks of 4 x 4 */
{
    return (f >= DXGI_FORMAT_BC1_TYPELESS && f <= DXGI_FORMAT_BC5_SNORM) ||
           (f >= DXGI_FORMAT_BC6H_TYPELESS && f <= DXGI_FORMAT_BC7_UNORM_SRGB);
}

/* The typeless format that `f` is of; one that is of none is its own. */
static DXGI_FORMAT family(DXGI_FORMAT f)
{
    /* the first and the last of each, as their numbers go */
    static const uint8_t families[][2] = {
        {1, 4},   {5, 8},   {9, 14},  {15, 18}, {19, 22}, {23, 25}, {27, 32}, {33, 38}, {39, 43}, {44, 47},
        {48, 52}, {53, 59}, {60, 64}, {70, 72}, {73, 75}, {76, 78}, {79, 81}, {82, 84}, {94, 96}, {97, 99}};

    if (f == DXGI_FORMAT_B8G8R8A8_UNORM || f == DXGI_FORMAT_B8G8R8A8_UNORM_SRGB)
        return DXGI_FORMAT_B8G8R8A8_TYPELESS;
    if (f == DXGI_FORMAT_B8G8R8X8_UNORM || f == DXGI_FORMAT_B8G8R8X8_UNORM_SRGB)
        return DXGI_FORMAT_B8G8R8X8_TYPELESS;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        if (f >= families[i][0] && f <= families[i][1])
            return (DXGI_FORMAT)families[i][0];
    return f;
}

/* Whether a view of `r` may have the format: its own, or, of a typeless one or of a swap chain's, any of its family. */
static bool valid_view(const struct d3d_child *r, DXGI_FORMAT f)
{
    DXGI_FORMAT own = r->desc.texture.Format;

    return !f || f == own || (family(f) == family(own) && (own == family(own) || r->shown));
}

/* Whether a view of `count` mips or slices from `first` on has some, and none beyond the `all` that there are; -1: the rest. */
static bool valid_range(UINT first, UINT count, UINT all)
{
    return first < all && count && (count == (UINT)-1 || count <= all - first);
}

static UINT all_mips(UINT width, UINT height)
{
    UINT n = 1;

    for (UINT v = width > height ? width : height; v > 1; v >>= 1)
        n++;
    return n;
}

HRESULT d3d_texture_create(struct d3d_device *d, const D3D11_TEXTURE2D_DESC *given,
                           const D3D11_SUBRESOURCE_DATA *data, DXGI_DDI_PRIMARY_DESC *primary,
                           struct d3d_child **out)
{
    D3D11_TEXTURE2D_DESC desc = *given;
    D3D10DDI_MIPINFO mips[16];
    D3D10_DDIARG_SUBRESOURCE_UP *up = NULL;
    D3D11DDIARG_CREATERESOURCE a;
    struct d3d_child *c;
    HRESULT hr;

    if (!desc.MipLevels)
        desc.MipLevels = all_mips(desc.Width, desc.Height);
    for (UINT m = 0; m < desc.MipLevels; m++) {
        UINT w = desc.Width >> m ? desc.Width >> m : 1, h = desc.Height >> m ? desc.Height >> m : 1;
        mips[m] = (D3D10DDI_MIPINFO){w, h, 1, w, h, 1};
    }
    a = (D3D11DDIARG_CREATERESOURCE){.pMipInfoList = mips,
                                     .ResourceDimension = desc.MiscFlags & D3D11_RESOURCE_MISC_TEXTURECUBE
                                                              ? D3D10DDIRESOURCE_TEXTURECUBE
                                                              : D3D10DDIRESOURCE_TEXTURE2D,
                                     .Usage = desc.Usage,
                                     .BindFlags = desc.BindFlags,
                                     .MiscFlags = desc.MiscFlags,
                                     .Format = desc.Format,
                                     .SampleDesc = {desc.SampleDesc.Count, desc.SampleDesc.Quality},
                                     .MipLevels = desc.MipLevels,
                                     .ArraySize = desc.ArraySize,
                                     .pPrimaryDesc = primary};
    if (data) {
        up = calloc((size_t)desc.MipLevels * desc.ArraySize, sizeof(*up));
        if (!up)
            return E_OUTOFMEMORY;
        for (UINT i = 0; i < desc.MipLevels * desc.ArraySize; i++)
            up[i] = (D3D10_DDIARG_SUBRESOURCE_UP){(void *)(uintptr_t)data[i].pSysMem, data[i].SysMemPitch,
                                                  data[i].SysMemSlicePitch};
        a.pInitialDataUP = up;
    }
    c = d3d_child_create(d, D3D_TEXTURE, d->ddi.pfnCalcPrivateResourceSize(d->drv, &a));
    if (c)
        c->desc.texture = desc;
    hr = c ? create(d, &a, c, (void **)out) : E_OUTOFMEMORY;
    free(up);
    return hr;
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateTexture2D(ID3D11Device *This, const D3D11_TEXTURE2D_DESC *desc,
                                                     const D3D11_SUBRESOURCE_DATA *data,
                                                     ID3D11Texture2D **out)
{
    if (out)
        *out = NULL;
    if (!desc || !desc->Width || !desc->Height || desc->Width > MAX_TEXTURE || desc->Height > MAX_TEXTURE ||
        !desc->ArraySize || desc->ArraySize > MAX_ARRAY || !desc->SampleDesc.Count ||
        desc->MipLevels > all_mips(desc->Width, desc->Height) ||
        !valid_usage(desc->Usage, desc->BindFlags, TEXTURE_BINDS, desc->CPUAccessFlags, data) ||
        (is_compressed(desc->Format) && (desc->Width | desc->Height) & 3) ||
        (desc->MiscFlags & D3D11_RESOURCE_MISC_TEXTURECUBE &&
         (desc->ArraySize % 6 || desc->Width != desc->Height)))
        return E_INVALIDARG;
    for (UINT i = 0; data && i < (desc->MipLevels ? desc->MipLevels : all_mips(desc->Width, desc->Height)) *
                                     desc->ArraySize;
         i++)
        if (!data[i].pSysMem)
            return E_INVALIDARG;
    if (!out)
        return S_FALSE;
    return d3d_texture_create((struct d3d_device *)This, desc, data, NULL, (struct d3d_child **)out);
}

void STDMETHODCALLTYPE d3d_resource_GetType(void *This, D3D11_RESOURCE_DIMENSION *type)
{
    *type = ((struct d3d_child *)This)->kind == D3D_BUFFER ? D3D11_RESOURCE_DIMENSION_BUFFER
                                                           : D3D11_RESOURCE_DIMENSION_TEXTURE2D;
}

void STDMETHODCALLTYPE d3d_buffer_GetDesc(ID3D11Buffer *This, D3D11_BUFFER_DESC *desc)
{
    *desc = ((struct d3d_child *)This)->desc.buffer;
}

void STDMETHODCALLTYPE d3d_texture_GetDesc(ID3D11Texture2D *This, D3D11_TEXTURE2D_DESC *desc)
{
    *desc = ((struct d3d_child *)This)->desc.texture;
}

/* ---- views ---------------------------------------------------------------- */

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

HRESULT STDMETHODCALLTYPE d3d_device_CreateRenderTargetView(ID3D11Device *This, ID3D11Resource *resource,
                                                            const D3D11_RENDER_TARGET_VIEW_DESC *desc,
                                                            ID3D11RenderTargetView **out)
{
    struct d3d_device *d = (struct d3d_device *)This;
    struct d3d_child *r = (struct d3d_child *)resource, *v;
    D3D10DDIARG_CREATERENDERTARGETVIEW a;

    if (out)
        *out = NULL;
    if (!r || r->device != d || r->kind != D3D_TEXTURE || (desc && !valid_view(r, desc->Format)) ||
        !(r->desc.texture.BindFlags & D3D11_BIND_RENDER_TARGET))
        return E_INVALIDARG;
    if (!out)
        return S_FALSE;
    a = (D3D10DDIARG_CREATERENDERTARGETVIEW){.hDrvResource = DRV(D3D10DDI_HRESOURCE, r),
                                             .Format =
                                                 desc && desc->Format ? desc->Format : r->desc.texture.Format,
                                             .ResourceDimension = D3D10DDIRESOURCE_TEXTURE2D,
                                             .Tex2D = {0, 0, r->desc.texture.ArraySize}};
    if (desc && desc->ViewDimension == D3D11_RTV_DIMENSION_TEXTURE2D)
        a.Tex2D = (D3D10DDIARG_TEX2D_RENDERTARGETVIEW){desc->Texture2D.MipSlice, 0, 1};
    else if (desc && desc->ViewDimension == D3D11_RTV_DIMENSION_TEXTURE2DARRAY)
        a.Tex2D = (D3D10DDIARG_TEX2D_RENDERTARGETVIEW){desc->Texture2DArray.MipSlice,
                                                       desc->Texture2DArray.FirstArraySlice,
                                                       desc->Texture2DArray.ArraySize};
    else if (desc)
        return E_INVALIDARG;
    if (a.Tex2D.MipSlice >= r->desc.texture.MipLevels ||
        !valid_range(a.Tex2D.FirstArraySlice, a.Tex2D.ArraySize, r->desc.texture.ArraySize))
        return E_INVALIDARG;
    v = d3d_view_create(d, r, D3D_RTV, d->ddi.pfnCalcPrivateRenderTargetViewSize(d->drv, &a));
    if (!v)
        return E_OUTOFMEMORY;
    v->desc.rtv = desc ? *desc
                       : (D3D11_RENDER_TARGET_VIEW_DESC){.Format = r->desc.texture.Format,
                                                         .ViewDimension = D3D11_RTV_DIMENSION_TEXTURE2D};
    if (!v->desc.rtv.Format)
        v->desc.rtv.Format = r->desc.texture.Format;
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

    if (out)
        *out = NULL;
    if (!r || r->device != d || r->kind != D3D_TEXTURE || (desc && !valid_view(r, desc->Format)) ||
        !(r->desc.texture.BindFlags & D3D11_BIND_DEPTH_STENCIL) ||
        (desc && desc->ViewDimension != D3D11_DSV_DIMENSION_TEXTURE2D))
        return E_INVALIDARG;
    if (!out)
        return S_FALSE;
    a = (D3D11DDIARG_CREATEDEPTHSTENCILVIEW){.hDrvResource = DRV(D3D10DDI_HRESOURCE, r),
                                             .Format =
                                                 desc && desc->Format ? desc->Format : r->desc.texture.Format,
                                             .ResourceDimension = D3D10DDIRESOURCE_TEXTURE2D,
                                             .Tex2D = {desc ? desc->Texture2D.MipSlice : 0, 0, 1}};
    if (a.Tex2D.MipSlice >= r->desc.texture.MipLevels)
        return E_INVALIDARG;
    v = d3d_view_create(d, r, D3D_DSV, d->ddi.pfnCalcPrivateDepthStencilViewSize(d->drv, &a));
    if (!v)
        return E_OUTOFMEMORY;
    v->desc.dsv = desc ? *desc
                       : (D3D11_DEPTH_STENCIL_VIEW_DESC){.Format = r->desc.texture.Format,
                                                         .ViewDimension = D3D11_DSV_DIMENSION_TEXTURE2D};
    if (!v->desc.dsv.Format)
        v->desc.dsv.Format = r->desc.texture.Format;
    DDI(d, pfnCreateDepthStencilView, &a, DRV(D3D10DDI_HDEPTHSTENCILVIEW, v),
        (D3D10DDI_HRTDEPTHSTENCILVIEW){v});
    return d3d_child_finish(v, (void **)out);
}

/* Of a raw or structured buffer; the device's packets carry no format, which one of any other would need. */
static HRESULT buffer_view(struct d3d_device *d, struct d3d_child *r,
                           const D3D11_SHADER_RESOURCE_VIEW_DESC *desc, ID3D11ShaderResourceView **out)
{
    D3D11_SHADER_RESOURCE_VIEW_DESC whole = {.ViewDimension = D3D11_SRV_DIMENSION_BUFFEREX};
    D3D11DDIARG_CREATESHADERRESOURCEVIEW a;
    struct d3d_child *v;

    if (!(r->desc.buffer.BindFlags & D3D11_BIND_SHADER_RESOURCE))
        return E_INVALIDARG;
    if (!desc && r->desc.buffer.StructureByteStride)
        whole.BufferEx.NumElements = r->desc.buffer.ByteWidth / r->desc.buffer.StructureByteStride;
    if (!desc)
        desc = &whole;
    /* BUFFER's two members are BUFFEREX's first ones */
    if ((desc->ViewDimension != D3D11_SRV_DIMENSION_BUFFER &&
         desc->ViewDimension != D3D11_SRV_DIMENSION_BUFFEREX) ||
        !d3d_buffer_range(r, desc->Format,
                          desc->ViewDimension == D3D11_SRV_DIMENSION_BUFFEREX &&
                              desc->BufferEx.Flags & D3D11_BUFFEREX_SRV_FLAG_RAW,
                          desc->BufferEx.FirstElement, desc->BufferEx.NumElements))
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

HRESULT STDMETHODCALLTYPE d3d_device_CreateShaderResourceView(ID3D11Device *This, ID3D11Resource *resource,
                                                              const D3D11_SHADER_RESOURCE_VIEW_DESC *desc,
                                                              ID3D11ShaderResourceView **out)
{
    struct d3d_device *d = (struct d3d_device *)This;
    struct d3d_child *r = (struct d3d_child *)resource, *v;
    D3D11DDIARG_CREATESHADERRESOURCEVIEW a;
    bool cube = desc && desc->ViewDimension == D3D11_SRV_DIMENSION_TEXTURECUBE;

    if (out)
        *out = NULL;
    if (r && r->device == d && r->kind == D3D_BUFFER)
        return buffer_view(d, r, desc, out);
    if (!r || r->device != d || r->kind != D3D_TEXTURE || (desc && !valid_view(r, desc->Format)) ||
        !(r->desc.texture.BindFlags & D3D11_BIND_SHADER_RESOURCE))
        return E_INVALIDARG;
    if (!out)
        return S_FALSE;
    a = (D3D11DDIARG_CREATESHADERRESOURCEVIEW){
        .hDrvResource = DRV(D3D10DDI_HRESOURCE, r),
        .Format = desc && desc->Format ? desc->Format : r->desc.texture.Format,
        .ResourceDimension = D3D10DDIRESOURCE_TEXTURE2D,
        .Tex2D = {0, 0, r->desc.texture.MipLevels, r->desc.texture.ArraySize}};
    if (desc && desc->ViewDimension == D3D11_SRV_DIMENSION_TEXTURE2D) {
        a.Tex2D.MostDetailedMip = desc->Texture2D.MostDetailedMip;
        a.Tex2D.MipLevels = desc->Texture2D.MipLevels;
        a.Tex2D.ArraySize = 1;
    } else if (cube) {
        a.ResourceDimension = D3D10DDIRESOURCE_TEXTURECUBE;
        a.TexCube = (D3D10_1DDIARG_TEXCUBE_SHADERRESOURCEVIEW){desc->TextureCube.MostDetailedMip,
                                                               desc->TextureCube.MipLevels, 0, 1};
    } else if (desc) {
        return E_INVALIDARG;
    }
    if ((cube && !(r->desc.texture.MiscFlags & D3D11_RESOURCE_MISC_TEXTURECUBE)) ||
        !valid_range(a.Tex2D.MostDetailedMip, cube ? a.TexCube.MipLevels : a.Tex2D.MipLevels,
                     r->desc.texture.MipLevels))
        return E_INVALIDARG;
    v = d3d_view_create(d, r, D3D_SRV, d->ddi.pfnCalcPrivateShaderResourceViewSize(d->drv, &a));
    if (!v)
        return E_OUTOFMEMORY;
    v->desc.srv = desc ? *desc
                       : (D3D11_SHADER_RESOURCE_VIEW_DESC){.Format = r->desc.texture.Format,
                                                           .ViewDimension = D3D11_SRV_DIMENSION_TEXTURE2D,
                                                           .Texture2D.MipLevels = r->desc.texture.MipLevels};
    if (!v->desc.srv.Format)
        v->desc.srv.Format = r->desc.texture.Format;
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

/* ---- eviction priorities: kept, and what is resident is the kernel's affair ---- */

void STDMETHODCALLTYPE d3d_resource_SetEvictionPriority(void *This, UINT priority)
{
    ((struct d3d_child *)This)->priority = priority;
}

UINT STDMETHODCALLTYPE d3d_resource_GetEvictionPriority(void *This)
{
    return ((struct d3d_child *)This)->priority;
}
