/* SPDX-License-Identifier: MIT */
/* d10.c: Direct3D 10 and 10.1: what their device and objects say in other words than Direct3D 11's. All else is passed on by what gen.py
 * makes. */
#include "d3d/tables.h"
#include "base/export.h"
#include "d3d/d10.h"

/* Flags of resources that have other numbers. */
static const struct {
    UINT d10, d11;
} misc[] = {{D3D10_RESOURCE_MISC_GENERATE_MIPS, D3D11_RESOURCE_MISC_GENERATE_MIPS},
            {D3D10_RESOURCE_MISC_SHARED, D3D11_RESOURCE_MISC_SHARED},
            {D3D10_RESOURCE_MISC_TEXTURECUBE, D3D11_RESOURCE_MISC_TEXTURECUBE},
            {D3D10_RESOURCE_MISC_SHARED_KEYEDMUTEX, D3D11_RESOURCE_MISC_SHARED_KEYEDMUTEX},
            {D3D10_RESOURCE_MISC_GDI_COMPATIBLE, D3D11_RESOURCE_MISC_GDI_COMPATIBLE}};

static UINT misc_of_11(UINT flags)
{
    UINT out = 0;

    for (size_t i = 0; i < sizeof(misc) / sizeof(misc[0]); i++)
        out |= flags & misc[i].d11 ? misc[i].d10 : 0;
    return out;
}

static UINT misc_of_10(UINT flags)
{
    UINT out = 0;

    for (size_t i = 0; i < sizeof(misc) / sizeof(misc[0]); i++)
        out |= flags & misc[i].d10 ? misc[i].d11 : 0;
    return out;
}

/* Whether 10 has words for what a resource is: none for structures, nor for a finest level of detail. */
static bool sayable(const struct d3d_child *c)
{
    UINT flags = c->kind == D3D_BUFFER ? c->desc.buffer.MiscFlags : c->desc.texture.MiscFlags;

    return !d3d_is_resource(c) ||
           !(flags & (D3D11_RESOURCE_MISC_BUFFER_STRUCTURED | D3D11_RESOURCE_MISC_RESOURCE_CLAMP));
}

static ID3D11Device *device11(void *This)
{
    return (ID3D11Device *)d10_device_of(This);
}

static ID3D11DeviceContext *context11(void *This)
{
    return (ID3D11DeviceContext *)&d10_device_of(This)->context;
}

/* The object whose face a method was called of. */
static struct d3d_child *self(void *This)
{
    return (struct d3d_child *)((char *)This - offsetof(struct d3d_child, d10_vtbl));
}

void d10_children(void **out, void *const *faces, UINT count)
{
    for (UINT i = 0; faces && i < count && i < 128; i++)
        out[i] = d10_child_of(faces[i]);
}

void d10_faces(void **objects, UINT count)
{
    for (UINT i = 0; objects && i < count; i++)
        if (objects[i])
            objects[i] = (void *)&((struct d3d_child *)objects[i])->d10_vtbl;
}

static const struct {
    const void *vtbl;
    const GUID *iids[3];
} faces[D3D_KINDS] = {
    [D3D_BUFFER] = {&d10_buffer_vtbl, {&IID_ID3D10Buffer, &IID_ID3D10Resource}},
    [D3D_TEXTURE1D] = {&d10_texture1d_vtbl, {&IID_ID3D10Texture1D, &IID_ID3D10Resource}},
    [D3D_TEXTURE] = {&d10_texture_vtbl, {&IID_ID3D10Texture2D, &IID_ID3D10Resource}},
    [D3D_TEXTURE3D] = {&d10_texture3d_vtbl, {&IID_ID3D10Texture3D, &IID_ID3D10Resource}},
    [D3D_SRV] = {&d10_srv_vtbl,
                 {&IID_ID3D10ShaderResourceView, &IID_ID3D10ShaderResourceView1, &IID_ID3D10View}},
    [D3D_RTV] = {&d10_rtv_vtbl, {&IID_ID3D10RenderTargetView, &IID_ID3D10View}},
    [D3D_DSV] = {&d10_dsv_vtbl, {&IID_ID3D10DepthStencilView, &IID_ID3D10View}},
    [D3D_SHADER_VS] = {&d10_vs_vtbl, {&IID_ID3D10VertexShader}},
    [D3D_SHADER_PS] = {&d10_ps_vtbl, {&IID_ID3D10PixelShader}},
    [D3D_SHADER_GS] = {&d10_gs_vtbl, {&IID_ID3D10GeometryShader}},
    [D3D_LAYOUT] = {&d10_layout_vtbl, {&IID_ID3D10InputLayout}},
    [D3D_BLEND] = {&d10_blend_vtbl, {&IID_ID3D10BlendState, &IID_ID3D10BlendState1}},
    [D3D_DEPTH] = {&d10_depth_vtbl, {&IID_ID3D10DepthStencilState}},
    [D3D_RASTER] = {&d10_raster_vtbl, {&IID_ID3D10RasterizerState}},
    [D3D_SAMPLER] = {&d10_sampler_vtbl, {&IID_ID3D10SamplerState}},
    [D3D_QUERY] = {&d10_query_vtbl, {&IID_ID3D10Query, &IID_ID3D10Asynchronous}},
    [D3D_PREDICATE] = {&d10_predicate_vtbl,
                       {&IID_ID3D10Predicate, &IID_ID3D10Query, &IID_ID3D10Asynchronous}},
};

void *d10_face(struct d3d_child *c, REFIID riid)
{
    if (!faces[c->kind].vtbl || !sayable(c))
        return NULL;
    for (int i = 0; i < 3 && faces[c->kind].iids[i]; i++)
        if (IsEqualGUID(riid, faces[c->kind].iids[i]))
            return (void *)&c->d10_vtbl;
    return IsEqualGUID(riid, &IID_ID3D10DeviceChild) ? (void *)&c->d10_vtbl : NULL;
}

const void *d10_vtbl_of(enum d3d_kind kind)
{
    return faces[kind].vtbl;
}

/* ---- what every object has ----------------------------------------------------- */

HRESULT STDMETHODCALLTYPE d10_child_QueryInterface(void *This, REFIID riid, void **out)
{
    return d3d_child_QueryInterface(self(This), riid, out);
}

ULONG STDMETHODCALLTYPE d10_child_AddRef(void *This)
{
    return d3d_child_AddRef(self(This));
}

ULONG STDMETHODCALLTYPE d10_child_Release(void *This)
{
    return d3d_child_Release(self(This));
}

/* An object of a device of Direct3D 11 has none of 10. */
void STDMETHODCALLTYPE d10_child_GetDevice(void *This, ID3D10Device **out)
{
    struct d3d_device *d = self(This)->device;

    *out = d->d10 ? (ID3D10Device *)&d->d10_vtbl : NULL;
    if (*out)
        ID3D10Device_AddRef(*out);
}

HRESULT STDMETHODCALLTYPE d10_child_GetPrivateData(void *This, REFGUID guid, UINT *size, void *bytes)
{
    return d3d_child_GetPrivateData(self(This), guid, size, bytes);
}

HRESULT STDMETHODCALLTYPE d10_child_SetPrivateData(void *This, REFGUID guid, UINT size, const void *bytes)
{
    return d3d_child_SetPrivateData(self(This), guid, size, bytes);
}

HRESULT STDMETHODCALLTYPE d10_child_SetPrivateDataInterface(void *This, REFGUID guid, const IUnknown *object)
{
    return d3d_child_SetPrivateDataInterface(self(This), guid, object);
}

/* ---- resources and views ------------------------------------------------------- */

void STDMETHODCALLTYPE d10_resource_GetType(void *This, D3D10_RESOURCE_DIMENSION *type)
{
    d3d_resource_GetType(self(This), (D3D11_RESOURCE_DIMENSION *)type);
}

void STDMETHODCALLTYPE d10_resource_SetEvictionPriority(void *This, UINT priority)
{
    self(This)->priority = priority;
}

UINT STDMETHODCALLTYPE d10_resource_GetEvictionPriority(void *This)
{
    return self(This)->priority;
}

static HRESULT map(void *This, UINT index, D3D10_MAP type, UINT flags, D3D11_MAPPED_SUBRESOURCE *m)
{
    struct d3d_child *c = self(This);

    if (c->kind != D3D_BUFFER && type == D3D10_MAP_WRITE_NO_OVERWRITE) /* buffers alone are, here */
        return E_INVALIDARG;
    return d3d_context_Map((ID3D11DeviceContext *)&c->device->context, (ID3D11Resource *)c, index,
                           (D3D11_MAP)type, flags, m);
}

static HRESULT map_bytes(void *This, UINT index, D3D10_MAP type, UINT flags, void **out)
{
    D3D11_MAPPED_SUBRESOURCE m = {0};
    HRESULT hr = map(This, index, type, flags, &m);

    if (out)
        *out = m.pData;
    return hr;
}

HRESULT STDMETHODCALLTYPE d10_buffer_Map(ID3D10Buffer *This, D3D10_MAP type, UINT flags, void **out)
{
    return map_bytes(This, 0, type, flags, out);
}

HRESULT STDMETHODCALLTYPE d10_texture1d_Map(ID3D10Texture1D *This, UINT index, D3D10_MAP type, UINT flags,
                                            void **out)
{
    return map_bytes(This, index, type, flags, out);
}

HRESULT STDMETHODCALLTYPE d10_texture_Map(ID3D10Texture2D *This, UINT index, D3D10_MAP type, UINT flags,
                                          D3D10_MAPPED_TEXTURE2D *out)
{
    D3D11_MAPPED_SUBRESOURCE m = {0};
    HRESULT hr = map(This, index, type, flags, &m);

    if (out)
        *out = (D3D10_MAPPED_TEXTURE2D){m.pData, m.RowPitch};
    return hr;
}

HRESULT STDMETHODCALLTYPE d10_texture3d_Map(ID3D10Texture3D *This, UINT index, D3D10_MAP type, UINT flags,
                                            D3D10_MAPPED_TEXTURE3D *out)
{
    D3D11_MAPPED_SUBRESOURCE m = {0};
    HRESULT hr = map(This, index, type, flags, &m);

    if (out)
        *out = (D3D10_MAPPED_TEXTURE3D){m.pData, m.RowPitch, m.DepthPitch};
    return hr;
}

void STDMETHODCALLTYPE d10_resource_Unmap(void *This, UINT index)
{
    struct d3d_child *c = self(This);

    d3d_context_Unmap((ID3D11DeviceContext *)&c->device->context, (ID3D11Resource *)c, index);
}

void STDMETHODCALLTYPE d10_buffer_Unmap(ID3D10Buffer *This)
{
    d10_resource_Unmap(This, 0);
}

void STDMETHODCALLTYPE d10_buffer_GetDesc(ID3D10Buffer *This, D3D10_BUFFER_DESC *desc)
{
    const D3D11_BUFFER_DESC *b = &self(This)->desc.buffer;

    *desc = (D3D10_BUFFER_DESC){b->ByteWidth, (D3D10_USAGE)b->Usage, b->BindFlags, b->CPUAccessFlags,
                                misc_of_11(b->MiscFlags)};
}

void STDMETHODCALLTYPE d10_texture1d_GetDesc(ID3D10Texture1D *This, D3D10_TEXTURE1D_DESC *desc)
{
    const D3D11_TEXTURE2D_DESC *t = &self(This)->desc.texture;

    *desc = (D3D10_TEXTURE1D_DESC){t->Width,
                                   t->MipLevels,
                                   t->ArraySize,
                                   t->Format,
                                   (D3D10_USAGE)t->Usage,
                                   t->BindFlags,
                                   t->CPUAccessFlags,
                                   misc_of_11(t->MiscFlags)};
}

void STDMETHODCALLTYPE d10_texture_GetDesc(ID3D10Texture2D *This, D3D10_TEXTURE2D_DESC *desc)
{
    const D3D11_TEXTURE2D_DESC *t = &self(This)->desc.texture;

    memcpy(desc, t, sizeof(*desc));
    desc->MiscFlags = misc_of_11(t->MiscFlags);
}

void STDMETHODCALLTYPE d10_texture3d_GetDesc(ID3D10Texture3D *This, D3D10_TEXTURE3D_DESC *desc)
{
    d3d_texture3d_GetDesc((ID3D11Texture3D *)self(This), (D3D11_TEXTURE3D_DESC *)desc);
    desc->MiscFlags = misc_of_11(desc->MiscFlags);
}

void STDMETHODCALLTYPE d10_view_GetResource(void *This, ID3D10Resource **out)
{
    struct d3d_child *c = self(This)->of;

    d3d_child_AddRef(c);
    *out = (ID3D10Resource *)&c->d10_vtbl;
}

void STDMETHODCALLTYPE d10_rtv_GetDesc(ID3D10RenderTargetView *This, D3D10_RENDER_TARGET_VIEW_DESC *desc)
{
    memcpy(desc, &self(This)->desc.rtv, sizeof(*desc));
}

void STDMETHODCALLTYPE d10_dsv_GetDesc(ID3D10DepthStencilView *This, D3D10_DEPTH_STENCIL_VIEW_DESC *desc)
{
    const D3D11_DEPTH_STENCIL_VIEW_DESC *v = &self(This)->desc.dsv;

    desc->Format = v->Format;
    desc->ViewDimension = (D3D10_DSV_DIMENSION)v->ViewDimension;
    memcpy(&desc->Texture2DArray, &v->Texture2DArray, sizeof(desc->Texture2DArray));
}

/* 10 has no arrays of cubes, and says so of what is one. */
void STDMETHODCALLTYPE d10_srv_GetDesc(ID3D10ShaderResourceView1 *This, D3D10_SHADER_RESOURCE_VIEW_DESC *desc)
{
    memcpy(desc, &self(This)->desc.srv, sizeof(*desc));
    if (desc->ViewDimension > D3D10_SRV_DIMENSION_TEXTURECUBE)
        desc->ViewDimension = D3D10_SRV_DIMENSION_UNKNOWN;
}

void STDMETHODCALLTYPE d10_srv_GetDesc1(ID3D10ShaderResourceView1 *This,
                                        D3D10_SHADER_RESOURCE_VIEW_DESC1 *desc)
{
    memcpy(desc, &self(This)->desc.srv, sizeof(*desc));
}

/* ---- states, whose descriptions are 11's but for blending -------------------------- */

#define GET_DESC(method, iface, DESC, member)                                                                \
    void STDMETHODCALLTYPE method(iface *This, DESC *desc)                                                   \
    {                                                                                                        \
        memcpy(desc, &self(This)->desc.member, sizeof(*desc));                                               \
    }
GET_DESC(d10_depth_GetDesc, ID3D10DepthStencilState, D3D10_DEPTH_STENCIL_DESC, depth)
GET_DESC(d10_raster_GetDesc, ID3D10RasterizerState, D3D10_RASTERIZER_DESC, raster)
GET_DESC(d10_sampler_GetDesc, ID3D10SamplerState, D3D10_SAMPLER_DESC, sampler)

void STDMETHODCALLTYPE d10_blend_GetDesc1(ID3D10BlendState1 *This, D3D10_BLEND_DESC1 *desc)
{
    D3D11_BLEND_DESC b;

    d3d_blend_GetDesc((ID3D11BlendState *)self(This), &b);
    memcpy(desc, &b, sizeof(*desc)); /* the same members */
}

void STDMETHODCALLTYPE d10_blend_GetDesc(ID3D10BlendState1 *This, D3D10_BLEND_DESC *desc)
{
    const D3D11_BLEND_DESC1 *b = &self(This)->desc.blend;
    const D3D11_RENDER_TARGET_BLEND_DESC1 *t = &b->RenderTarget[0];

    *desc = (D3D10_BLEND_DESC){.AlphaToCoverageEnable = b->AlphaToCoverageEnable,
                               .SrcBlend = (D3D10_BLEND)t->SrcBlend,
                               .DestBlend = (D3D10_BLEND)t->DestBlend,
                               .BlendOp = (D3D10_BLEND_OP)t->BlendOp,
                               .SrcBlendAlpha = (D3D10_BLEND)t->SrcBlendAlpha,
                               .DestBlendAlpha = (D3D10_BLEND)t->DestBlendAlpha,
                               .BlendOpAlpha = (D3D10_BLEND_OP)t->BlendOpAlpha};
    for (int i = 0; i < 8; i++) {
        desc->BlendEnable[i] = b->RenderTarget[i].BlendEnable;
        desc->RenderTargetWriteMask[i] = b->RenderTarget[i].RenderTargetWriteMask;
    }
}

/* ---- queries ---------------------------------------------------------------------- */

static ID3D11DeviceContext *context_of_child(void *This)
{
    return (ID3D11DeviceContext *)&self(This)->device->context;
}

void STDMETHODCALLTYPE d10_async_Begin(void *This)
{
    d3d_context_Begin(context_of_child(This), (ID3D11Asynchronous *)self(This));
}

void STDMETHODCALLTYPE d10_async_End(void *This)
{
    d3d_context_End(context_of_child(This), (ID3D11Asynchronous *)self(This));
}

/* 10's numbers of the stages are 11's first ones. */
HRESULT STDMETHODCALLTYPE d10_async_GetData(void *This, void *data, UINT size, UINT flags)
{
    struct d3d_child *c = self(This);
    D3D11_QUERY_DATA_PIPELINE_STATISTICS all;
    HRESULT hr;

    if (c->desc.query.Query != D3D11_QUERY_PIPELINE_STATISTICS || !data || !size)
        return d3d_context_GetData(context_of_child(This), (ID3D11Asynchronous *)c, data, size, flags);
    if (size != sizeof(D3D10_QUERY_DATA_PIPELINE_STATISTICS))
        return E_INVALIDARG;
    hr = d3d_context_GetData(context_of_child(This), (ID3D11Asynchronous *)c, &all, sizeof(all), flags);
    if (hr == S_OK)
        memcpy(data, &all, size);
    return hr;
}

UINT STDMETHODCALLTYPE d10_async_GetDataSize(void *This)
{
    struct d3d_child *c = self(This);

    return c->desc.query.Query == D3D11_QUERY_PIPELINE_STATISTICS
               ? sizeof(D3D10_QUERY_DATA_PIPELINE_STATISTICS)
               : d3d_async_GetDataSize(c);
}

void STDMETHODCALLTYPE d10_query_GetDesc(ID3D10Query *This, D3D10_QUERY_DESC *desc)
{
    memcpy(desc, &self(This)->desc.query, sizeof(*desc));
}

void STDMETHODCALLTYPE d10_predicate_GetDesc(ID3D10Predicate *This, D3D10_QUERY_DESC *desc)
{
    d10_query_GetDesc((ID3D10Query *)This, desc);
}

/* ---- the device ------------------------------------------------------------------- */

HRESULT STDMETHODCALLTYPE d10_device_QueryInterface(ID3D10Device1 *This, REFIID riid, void **out)
{
    return d3d_device_QueryInterface(device11(This), riid, out);
}

ULONG STDMETHODCALLTYPE d10_device_AddRef(ID3D10Device1 *This)
{
    return d3d_device_AddRef(device11(This));
}

ULONG STDMETHODCALLTYPE d10_device_Release(ID3D10Device1 *This)
{
    return d3d_device_Release(device11(This));
}

D3D10_FEATURE_LEVEL1 STDMETHODCALLTYPE d10_device_GetFeatureLevel(ID3D10Device1 *This)
{
    return (D3D10_FEATURE_LEVEL1)d10_device_of(This)->level;
}

#define D10_SHADER(stage, iface)                                                                             \
    void STDMETHODCALLTYPE d10_device_##stage##SetShader(ID3D10Device1 *This, ID3D10##iface *shader)         \
    {                                                                                                        \
        ID3D11DeviceContext_##stage##SetShader(context11(This), (ID3D11##iface *)d10_child_of(shader), NULL, \
                                               0);                                                           \
    }                                                                                                        \
    void STDMETHODCALLTYPE d10_device_##stage##GetShader(ID3D10Device1 *This, ID3D10##iface **shader)        \
    {                                                                                                        \
        d3d_context_##stage##GetShader(context11(This), (ID3D11##iface **)shader, NULL, NULL);               \
        d10_faces((void **)shader, 1);                                                                       \
    }                                                                                                        \
    HRESULT STDMETHODCALLTYPE d10_device_Create##iface(ID3D10Device1 *This, const void *code, SIZE_T size,   \
                                                       ID3D10##iface **out)                                  \
    {                                                                                                        \
        HRESULT hr = d3d_device_Create##iface(device11(This), code, size, NULL, (ID3D11##iface **)out);      \
        d10_faces((void **)out, 1);                                                                          \
        return hr;                                                                                           \
    }
D10_SHADER(VS, VertexShader)
D10_SHADER(PS, PixelShader)
D10_SHADER(GS, GeometryShader)

HRESULT STDMETHODCALLTYPE d10_device_CreateBuffer(ID3D10Device1 *This, const D3D10_BUFFER_DESC *desc,
                                                  const D3D10_SUBRESOURCE_DATA *data, ID3D10Buffer **out)
{
    D3D11_BUFFER_DESC b = {0};
    HRESULT hr;

    if (desc)
        b = (D3D11_BUFFER_DESC){desc->ByteWidth,      (D3D11_USAGE)desc->Usage,    desc->BindFlags,
                                desc->CPUAccessFlags, misc_of_10(desc->MiscFlags), 0};
    hr = d3d_device_CreateBuffer(device11(This), desc ? &b : NULL, (const D3D11_SUBRESOURCE_DATA *)data,
                                 (ID3D11Buffer **)out);
    d10_faces((void **)out, 1);
    return hr;
}

/* The descriptions differ in the numbers of some flags. */
#define D10_TEXTURE(dim)                                                                                     \
    HRESULT STDMETHODCALLTYPE d10_device_CreateTexture##dim(                                                 \
        ID3D10Device1 *This, const D3D10_TEXTURE##dim##_DESC *desc, const D3D10_SUBRESOURCE_DATA *data,      \
        ID3D10Texture##dim **out)                                                                            \
    {                                                                                                        \
        D3D11_TEXTURE##dim##_DESC t = {0};                                                                   \
        HRESULT hr;                                                                                          \
                                                                                                             \
        if (desc) {                                                                                          \
            memcpy(&t, desc, sizeof(t));                                                                     \
            t.MiscFlags = misc_of_10(desc->MiscFlags);                                                       \
        }                                                                                                    \
        hr =                                                                                                 \
            d3d_device_CreateTexture##dim(device11(This), desc ? &t : NULL,                                  \
                                          (const D3D11_SUBRESOURCE_DATA *)data, (ID3D11Texture##dim **)out); \
        d10_faces((void **)out, 1);                                                                          \
        return hr;                                                                                           \
    }
D10_TEXTURE(1D)
D10_TEXTURE(2D)
D10_TEXTURE(3D)

HRESULT STDMETHODCALLTYPE d10_device_CreateDepthStencilView(ID3D10Device1 *This, ID3D10Resource *resource,
                                                            const D3D10_DEPTH_STENCIL_VIEW_DESC *desc,
                                                            ID3D10DepthStencilView **out)
{
    D3D11_DEPTH_STENCIL_VIEW_DESC v = {0};
    HRESULT hr;

    if (desc) {
        v.Format = desc->Format;
        v.ViewDimension = (D3D11_DSV_DIMENSION)desc->ViewDimension;
        memcpy(&v.Texture2DArray, &desc->Texture2DArray, sizeof(v.Texture2DArray));
    }
    hr = ID3D11Device_CreateDepthStencilView(device11(This), (ID3D11Resource *)d10_child_of(resource),
                                             desc ? &v : NULL, (ID3D11DepthStencilView **)out);
    d10_faces((void **)out, 1);
    return hr;
}

/* 10.1's description is 11's, whose first dimensions are 10's. */
HRESULT STDMETHODCALLTYPE d10_device_CreateShaderResourceView1(ID3D10Device1 *This, ID3D10Resource *resource,
                                                               const D3D10_SHADER_RESOURCE_VIEW_DESC1 *desc,
                                                               ID3D10ShaderResourceView1 **out)
{
    HRESULT hr = ID3D11Device_CreateShaderResourceView(
        device11(This), (ID3D11Resource *)d10_child_of(resource),
        (const D3D11_SHADER_RESOURCE_VIEW_DESC *)desc, (ID3D11ShaderResourceView **)out);

    d10_faces((void **)out, 1);
    return hr;
}

HRESULT STDMETHODCALLTYPE d10_device_CreateBlendState1(ID3D10Device1 *This, const D3D10_BLEND_DESC1 *desc,
                                                       ID3D10BlendState1 **out)
{
    HRESULT hr =
        d3d_device_CreateBlendState(device11(This), (const D3D11_BLEND_DESC *)desc, (ID3D11BlendState **)out);

    d10_faces((void **)out, 1);
    return hr;
}

HRESULT STDMETHODCALLTYPE d10_device_CreateBlendState(ID3D10Device1 *This, const D3D10_BLEND_DESC *desc,
                                                      ID3D10BlendState **out)
{
    D3D10_BLEND_DESC1 b = {.IndependentBlendEnable = TRUE};

    if (!desc)
        return d10_device_CreateBlendState1(This, NULL, (ID3D10BlendState1 **)out);
    b.AlphaToCoverageEnable = desc->AlphaToCoverageEnable;
    for (int i = 0; i < 8; i++)
        b.RenderTarget[i] = (D3D10_RENDER_TARGET_BLEND_DESC1){
            desc->BlendEnable[i], desc->SrcBlend,       desc->DestBlend,    desc->BlendOp,
            desc->SrcBlendAlpha,  desc->DestBlendAlpha, desc->BlendOpAlpha, desc->RenderTargetWriteMask[i]};
    return d10_device_CreateBlendState1(This, &b, (ID3D10BlendState1 **)out);
}

void STDMETHODCALLTYPE d10_device_RSSetViewports(ID3D10Device1 *This, UINT count,
                                                 const D3D10_VIEWPORT *viewports)
{
    D3D11_VIEWPORT v[16];

    for (UINT i = 0; viewports && i < count && i < 16; i++)
        v[i] = (D3D11_VIEWPORT){(FLOAT)viewports[i].TopLeftX, (FLOAT)viewports[i].TopLeftY,
                                (FLOAT)viewports[i].Width,    (FLOAT)viewports[i].Height,
                                viewports[i].MinDepth,        viewports[i].MaxDepth};
    d3d_context_RSSetViewports(context11(This), count, viewports ? v : NULL);
}

void STDMETHODCALLTYPE d10_device_RSGetViewports(ID3D10Device1 *This, UINT *count, D3D10_VIEWPORT *viewports)
{
    const struct d3d_context *c = &d10_device_of(This)->context;

    for (UINT i = 0; viewports && i < *count; i++) {
        const D3D11_VIEWPORT v = i < c->num_viewports ? c->viewports[i] : (D3D11_VIEWPORT){0};

        viewports[i] = (D3D10_VIEWPORT){(INT)v.TopLeftX, (INT)v.TopLeftY, (UINT)v.Width,
                                        (UINT)v.Height,  v.MinDepth,      v.MaxDepth};
    }
    if (!viewports || *count > c->num_viewports)
        *count = c->num_viewports;
}

void STDMETHODCALLTYPE d10_device_SOGetTargets(ID3D10Device1 *This, UINT count, ID3D10Buffer **buffers,
                                               UINT *offsets)
{
    ID3D11Buffer *bound[D3D10_SO_BUFFER_SLOT_COUNT] = {NULL};

    if (offsets) {
        memset(offsets, 0, count * sizeof(*offsets));
        d3d_context_SOGetTargets(
            context11(This), count < D3D10_SO_BUFFER_SLOT_COUNT ? count : D3D10_SO_BUFFER_SLOT_COUNT, bound);
    }
    for (UINT i = 0; i < D3D10_SO_BUFFER_SLOT_COUNT; i++)
        if (bound[i]) {
            offsets[i] = UINT32_MAX; /* the driver alone knows how far it came */
            ID3D11Buffer_Release(bound[i]);
        }
    d3d_context_SOGetTargets(context11(This), count, (ID3D11Buffer **)buffers);
    if (buffers)
        d10_faces((void **)buffers, count);
}

static bool several(const D3D10_SO_DECLARATION_ENTRY *entries, UINT count)
{
    for (UINT i = 0; i < count; i++)
        if (entries[i].OutputSlot)
            return true;
    return false;
}

/* One stride, of slot 0, and stream 0 alone. */
HRESULT STDMETHODCALLTYPE d10_device_CreateGeometryShaderWithStreamOutput(
    ID3D10Device1 *This, const void *code, SIZE_T size, const D3D10_SO_DECLARATION_ENTRY *entries, UINT count,
    UINT stride, ID3D10GeometryShader **out)
{
    D3D11_SO_DECLARATION_ENTRY as11[64 * 4];
    HRESULT hr;

    if (out)
        *out = NULL;
    if (!entries != !count || count > sizeof(as11) / sizeof(as11[0]) ||
        (count ? several(entries, count) == (stride != 0) : stride != 0))
        return E_INVALIDARG; /* a stride is slot 0's, where there is no other: of several each has one buffer's element */
    for (UINT i = 0; i < count; i++)
        as11[i] = (D3D11_SO_DECLARATION_ENTRY){0,
                                               entries[i].SemanticName,
                                               entries[i].SemanticIndex,
                                               entries[i].StartComponent,
                                               entries[i].ComponentCount,
                                               entries[i].OutputSlot};
    hr = d3d_device_CreateGeometryShaderWithStreamOutput(device11(This), code, size, count ? as11 : NULL,
                                                         count, &stride, stride && count ? 1 : 0, 0, NULL,
                                                         (ID3D11GeometryShader **)out);
    if (out)
        d10_faces((void **)out, 1);
    return hr;
}

/* ---- exports ---------------------------------------------------------------------- */

/* As d3d10_1.dll's; d3d10.dll's have no level, and 10.0 only. */
EXPORT HRESULT WINAPI D3D10CreateDeviceAndSwapChain1(IDXGIAdapter *adapter, D3D10_DRIVER_TYPE type,
                                                     HMODULE software, UINT flags, D3D10_FEATURE_LEVEL1 level,
                                                     UINT version, DXGI_SWAP_CHAIN_DESC *desc,
                                                     IDXGISwapChain **swapchain, ID3D10Device1 **device)
{
    const D3D_FEATURE_LEVEL wanted = (D3D_FEATURE_LEVEL)level;
    ID3D11Device *d = NULL;
    HRESULT hr;

    if (device)
        *device = NULL;
    if (swapchain)
        *swapchain = NULL;
    if (type == D3D10_DRIVER_TYPE_SOFTWARE || software)
        return E_NOTIMPL;
    if (!device || version != D3D10_1_SDK_VERSION || !level ||
        (type != D3D10_DRIVER_TYPE_HARDWARE && type != D3D10_DRIVER_TYPE_REFERENCE &&
         type != D3D10_DRIVER_TYPE_NULL && type != D3D10_DRIVER_TYPE_WARP))
        return E_INVALIDARG;
    /* 10 takes an adapter with its kind of driver */
    hr = D3D11CreateDeviceAndSwapChain(adapter, adapter ? D3D_DRIVER_TYPE_UNKNOWN : D3D_DRIVER_TYPE_HARDWARE,
                                       NULL, flags, &wanted, 1, D3D11_SDK_VERSION, desc, swapchain, &d, NULL,
                                       NULL);
    if (hr != S_OK)
        return hr;
    d3d_device_of(d)->d10 = true;
    d3d_device_of(d)->guarded = !(flags & D3D10_CREATE_DEVICE_SINGLETHREADED); /* which 11's are not */
    *device = (ID3D10Device1 *)&d3d_device_of(d)->d10_vtbl;
    return S_OK;
}

EXPORT HRESULT WINAPI D3D10CreateDevice1(IDXGIAdapter *adapter, D3D10_DRIVER_TYPE type, HMODULE software,
                                         UINT flags, D3D10_FEATURE_LEVEL1 level, UINT version,
                                         ID3D10Device1 **device)
{
    return D3D10CreateDeviceAndSwapChain1(adapter, type, software, flags, level, version, NULL, NULL, device);
}

EXPORT HRESULT WINAPI D3D10CreateDeviceAndSwapChain(IDXGIAdapter *adapter, D3D10_DRIVER_TYPE type,
                                                    HMODULE software, UINT flags, UINT version,
                                                    DXGI_SWAP_CHAIN_DESC *desc, IDXGISwapChain **swapchain,
                                                    ID3D10Device **device)
{
    return D3D10CreateDeviceAndSwapChain1(adapter, type, software, flags, D3D10_FEATURE_LEVEL_10_0,
                                          version == D3D10_SDK_VERSION ? D3D10_1_SDK_VERSION : 0, desc,
                                          swapchain, (ID3D10Device1 **)device);
}

EXPORT HRESULT WINAPI D3D10CreateDevice(IDXGIAdapter *adapter, D3D10_DRIVER_TYPE type, HMODULE software,
                                        UINT flags, UINT version, ID3D10Device **device)
{
    return D3D10CreateDeviceAndSwapChain(adapter, type, software, flags, version, NULL, NULL, device);
}

/* d3d10core.dll's, which no header has. */
HRESULT WINAPI D3D10CoreCreateDevice(IDXGIFactory *factory, IDXGIAdapter *adapter, UINT flags,
                                     D3D_FEATURE_LEVEL level, ID3D10Device **device);
HRESULT WINAPI D3D10CoreRegisterLayers(void);

EXPORT HRESULT WINAPI D3D10CoreCreateDevice(IDXGIFactory *factory, IDXGIAdapter *adapter, UINT flags,
                                            D3D_FEATURE_LEVEL level, ID3D10Device **device)
{
    return D3D10CreateDeviceAndSwapChain1(adapter, D3D10_DRIVER_TYPE_HARDWARE, NULL, flags,
                                          (D3D10_FEATURE_LEVEL1)level, D3D10_1_SDK_VERSION, NULL, NULL,
                                          (ID3D10Device1 **)device);
}

EXPORT HRESULT WINAPI D3D10CoreRegisterLayers(void)
{
    return E_NOTIMPL;
}
