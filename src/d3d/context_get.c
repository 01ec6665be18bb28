/* SPDX-License-Identifier: MIT */
/* context_get.c: what is bound, told back; each object with a reference of the caller's. */
#include "d3d/tables.h"
#include "d3d/d3d.h"

static struct d3d_context *context_of(void *This)
{
    return This;
}

static void *referenced(struct d3d_child *c)
{
    if (c)
        d3d_child_AddRef(c);
    return c;
}

#define GET_SHADER(method, iface, stage)                                                                     \
    void STDMETHODCALLTYPE method(ID3D11DeviceContext *This, iface **shader,                                 \
                                  ID3D11ClassInstance **instances, UINT *count)                              \
    {                                                                                                        \
        *shader = referenced(context_of(This)->shaders[stage]);                                              \
        if (count)                                                                                           \
            *count = 0;                                                                                      \
    }
GET_SHADER(d3d_context_VSGetShader, ID3D11VertexShader, D3D_VS)
GET_SHADER(d3d_context_PSGetShader, ID3D11PixelShader, D3D_PS)
GET_SHADER(d3d_context_GSGetShader, ID3D11GeometryShader, D3D_GS)
GET_SHADER(d3d_context_HSGetShader, ID3D11HullShader, D3D_HS)
GET_SHADER(d3d_context_DSGetShader, ID3D11DomainShader, D3D_DS)
GET_SHADER(d3d_context_CSGetShader, ID3D11ComputeShader, D3D_CS)

/* Of slots that there are not: none. */
#define GET_SLOTS(method, iface, member, stage, most)                                                        \
    void STDMETHODCALLTYPE method(ID3D11DeviceContext *This, UINT first, UINT count, iface **objects)        \
    {                                                                                                        \
        for (UINT i = 0; objects && i < count; i++)                                                          \
            objects[i] = first < (most) && i < (most)-first                                                  \
                             ? referenced(context_of(This)->member[stage][first + i])                        \
                             : NULL;                                                                         \
    }
#define GET_STAGE(prefix, stage)                                                                             \
    GET_SLOTS(prefix##GetConstantBuffers, ID3D11Buffer, constants, stage, D3D_CONSTANTS)                     \
    GET_SLOTS(prefix##GetShaderResources, ID3D11ShaderResourceView, views, stage, D3D_SLOTS)                 \
    GET_SLOTS(prefix##GetSamplers, ID3D11SamplerState, samplers, stage, D3D_SAMPLERS)
GET_STAGE(d3d_context_VS, D3D_VS)
GET_STAGE(d3d_context_PS, D3D_PS)
GET_STAGE(d3d_context_GS, D3D_GS)
GET_STAGE(d3d_context_HS, D3D_HS)
GET_STAGE(d3d_context_DS, D3D_DS)
GET_STAGE(d3d_context_CS, D3D_CS)

void STDMETHODCALLTYPE d3d_context_CSGetUnorderedAccessViews(ID3D11DeviceContext *This, UINT first,
                                                             UINT count, ID3D11UnorderedAccessView **views)
{
    for (UINT i = 0; views && i < count; i++)
        views[i] =
            first < D3D_UAVS && i < D3D_UAVS - first ? referenced(context_of(This)->uavs[first + i]) : NULL;
}

void STDMETHODCALLTYPE d3d_context_IAGetInputLayout(ID3D11DeviceContext *This, ID3D11InputLayout **layout)
{
    *layout = referenced(context_of(This)->layout);
}

void STDMETHODCALLTYPE d3d_context_IAGetVertexBuffers(ID3D11DeviceContext *This, UINT first, UINT count,
                                                      ID3D11Buffer **buffers, UINT *strides, UINT *offsets)
{
    struct d3d_context *c = context_of(This);

    for (UINT i = 0; i < count; i++) {
        bool there = first < 32 && i < 32 - first;

        if (buffers)
            buffers[i] = there ? referenced(c->vertices[first + i]) : NULL;
        if (strides)
            strides[i] = there ? c->strides[first + i] : 0;
        if (offsets)
            offsets[i] = there ? c->offsets[first + i] : 0;
    }
}

void STDMETHODCALLTYPE d3d_context_IAGetIndexBuffer(ID3D11DeviceContext *This, ID3D11Buffer **buffer,
                                                    DXGI_FORMAT *format, UINT *offset)
{
    struct d3d_context *c = context_of(This);

    if (buffer)
        *buffer = referenced(c->indices);
    if (format)
        *format = c->index_format;
    if (offset)
        *offset = c->index_offset;
}

void STDMETHODCALLTYPE d3d_context_RSGetState(ID3D11DeviceContext *This, ID3D11RasterizerState **state)
{
    *state = referenced(context_of(This)->raster);
}

void STDMETHODCALLTYPE d3d_context_RSGetScissorRects(ID3D11DeviceContext *This, UINT *count,
                                                     D3D11_RECT *rects)
{
    struct d3d_context *c = context_of(This);

    for (UINT i = 0; rects && i < *count; i++)
        rects[i] = i < c->num_scissors ? c->scissors[i] : (D3D11_RECT){0};
    if (!rects || *count > c->num_scissors)
        *count = c->num_scissors;
}

void STDMETHODCALLTYPE d3d_context_OMGetBlendState(ID3D11DeviceContext *This, ID3D11BlendState **state,
                                                   FLOAT factor[4], UINT *mask)
{
    struct d3d_context *c = context_of(This);

    if (state)
        *state = referenced(c->blend);
    if (factor)
        memcpy(factor, c->blend_factor, sizeof(c->blend_factor));
    if (mask)
        *mask = c->sample_mask;
}

void STDMETHODCALLTYPE d3d_context_OMGetDepthStencilState(ID3D11DeviceContext *This,
                                                          ID3D11DepthStencilState **state, UINT *ref)
{
    struct d3d_context *c = context_of(This);

    if (state)
        *state = referenced(c->depth);
    if (ref)
        *ref = c->stencil_ref;
}

void STDMETHODCALLTYPE d3d_context_OMGetRenderTargetsAndUnorderedAccessViews(
    ID3D11DeviceContext *This, UINT count, ID3D11RenderTargetView **views, ID3D11DepthStencilView **depth,
    UINT first_uav, UINT uav_count, ID3D11UnorderedAccessView **uavs)
{
    d3d_context_OMGetRenderTargets(This, count, views, depth);
    for (UINT i = 0; uavs && i < uav_count; i++)
        uavs[i] = first_uav < D3D_UAVS && i < D3D_UAVS - first_uav
                      ? referenced(context_of(This)->pixel_uavs[first_uav + i])
                      : NULL;
}

void STDMETHODCALLTYPE d3d_context_SOGetTargets(ID3D11DeviceContext *This, UINT count, ID3D11Buffer **buffers)
{
    for (UINT i = 0; buffers && i < count; i++)
        buffers[i] = i < D3D_STREAMS ? referenced(context_of(This)->streams[i]) : NULL;
}

void STDMETHODCALLTYPE d3d_context_GetPredication(ID3D11DeviceContext *This, ID3D11Predicate **predicate,
                                                  BOOL *value)
{
    if (predicate)
        *predicate = referenced(context_of(This)->predicate);
    if (value)
        *value = context_of(This)->predicate_value;
}

FLOAT STDMETHODCALLTYPE d3d_context_GetResourceMinLOD(ID3D11DeviceContext *This, ID3D11Resource *resource)
{
    return resource ? ((struct d3d_child *)resource)->min_lod : 0;
}
