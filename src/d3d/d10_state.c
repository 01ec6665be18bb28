/* SPDX-License-Identifier: MIT */
/* d10_state.c: Direct3D 10's state blocks: what a mask names of a device's state, taken and set again; and the masks.
 *
 *   D3D10CreateStateBlock ─▶ nothing is kept ──Capture──▶ what the mask names, with a reference each ──Apply──▶ set on the device
 *                                                          └──ReleaseAllDeviceObjects──▶ nothing is kept
 */
#include "d3d/d10.h"

#include <d3d10effect.h>

#include "base/export.h"

enum {
    STAGES = 3,
    SAMPLERS = 16,
    RESOURCES = 128,
    CONSTANTS = 14,
    VERTICES = 16,
    TARGETS = 8,
    STREAMS = 4,
    RECTS = 16
};

struct stage { /* objects with a reference */
    IUnknown *shader, *samplers[SAMPLERS], *resources[RESOURCES], *constants[CONSTANTS];
};

struct block {
    const ID3D10StateBlockVtbl *vtbl;
    LONG refs;
    ID3D10Device *device;
    D3D10_STATE_BLOCK_MASK mask;
    struct stage stages[STAGES]; /* vertex, geometry, pixel */
    ID3D10Buffer *vertices[VERTICES], *indices, *streams[STREAMS];
    UINT strides[VERTICES], offsets[VERTICES], index_offset, stream_offsets[STREAMS];
    DXGI_FORMAT index_format;
    ID3D10InputLayout *layout;
    D3D10_PRIMITIVE_TOPOLOGY topology;
    ID3D10RenderTargetView *targets[TARGETS];
    ID3D10DepthStencilView *depth_view;
    ID3D10DepthStencilState *depth;
    ID3D10BlendState *blend;
    UINT stencil_ref, sample_mask, num_viewports, num_scissors;
    FLOAT factor[4];
    D3D10_VIEWPORT viewports[RECTS];
    D3D10_RECT scissors[RECTS];
    ID3D10RasterizerState *raster;
    ID3D10Predicate *predicate;
    BOOL predicate_value;
};

/* ---- masks -------------------------------------------------------------------------------- */

/* Where the bits of a kind of state are, and how many there are. */
static const struct {
    uint8_t at, bits;
} kinds[] = {
#define ROW(type, member, bits) [D3D10_DST_##type] = {offsetof(D3D10_STATE_BLOCK_MASK, member), bits}
    ROW(SO_BUFFERS, SOBuffers, 1),
    ROW(OM_RENDER_TARGETS, OMRenderTargets, 1),
    ROW(OM_DEPTH_STENCIL_STATE, OMDepthStencilState, 1),
    ROW(OM_BLEND_STATE, OMBlendState, 1),
    ROW(VS, VS, 1),
    ROW(VS_SAMPLERS, VSSamplers, SAMPLERS),
    ROW(VS_SHADER_RESOURCES, VSShaderResources, RESOURCES),
    ROW(VS_CONSTANT_BUFFERS, VSConstantBuffers, CONSTANTS),
    ROW(GS, GS, 1),
    ROW(GS_SAMPLERS, GSSamplers, SAMPLERS),
    ROW(GS_SHADER_RESOURCES, GSShaderResources, RESOURCES),
    ROW(GS_CONSTANT_BUFFERS, GSConstantBuffers, CONSTANTS),
    ROW(PS, PS, 1),
    ROW(PS_SAMPLERS, PSSamplers, SAMPLERS),
    ROW(PS_SHADER_RESOURCES, PSShaderResources, RESOURCES),
    ROW(PS_CONSTANT_BUFFERS, PSConstantBuffers, CONSTANTS),
    ROW(IA_VERTEX_BUFFERS, IAVertexBuffers, VERTICES),
    ROW(IA_INDEX_BUFFER, IAIndexBuffer, 1),
    ROW(IA_INPUT_LAYOUT, IAInputLayout, 1),
    ROW(IA_PRIMITIVE_TOPOLOGY, IAPrimitiveTopology, 1),
    ROW(RS_VIEWPORTS, RSViewports, 1),
    ROW(RS_SCISSOR_RECTS, RSScissorRects, 1),
    ROW(RS_RASTERIZER_STATE, RSRasterizerState, 1),
    ROW(PREDICATION, Predication, 1)
#undef ROW
};

static BYTE *bits_of(const D3D10_STATE_BLOCK_MASK *m, D3D10_DEVICE_STATE_TYPES type)
{
    return (BYTE *)(uintptr_t)m + kinds[type].at;
}

static bool is_range(const D3D10_STATE_BLOCK_MASK *m, D3D10_DEVICE_STATE_TYPES type, UINT first, UINT count)
{
    return m && (UINT)type < sizeof(kinds) / sizeof(kinds[0]) && first < kinds[type].bits &&
           count <= kinds[type].bits - first;
}

static bool has(const D3D10_STATE_BLOCK_MASK *m, D3D10_DEVICE_STATE_TYPES type, UINT i)
{
    return bits_of(m, type)[i / 8] >> i % 8 & 1;
}

EXPORT HRESULT WINAPI D3D10StateBlockMaskEnableCapture(D3D10_STATE_BLOCK_MASK *m,
                                                       D3D10_DEVICE_STATE_TYPES type, UINT first, UINT count)
{
    if (!is_range(m, type, first, count))
        return E_INVALIDARG;
    for (UINT i = first; i < first + count; i++)
        bits_of(m, type)[i / 8] |= (BYTE)(1u << i % 8);
    return S_OK;
}

EXPORT HRESULT WINAPI D3D10StateBlockMaskDisableCapture(D3D10_STATE_BLOCK_MASK *m,
                                                        D3D10_DEVICE_STATE_TYPES type, UINT first, UINT count)
{
    if (!is_range(m, type, first, count))
        return E_INVALIDARG;
    for (UINT i = first; i < first + count; i++)
        bits_of(m, type)[i / 8] &= (BYTE) ~(1u << i % 8);
    return S_OK;
}

EXPORT BOOL WINAPI D3D10StateBlockMaskGetSetting(D3D10_STATE_BLOCK_MASK *m, D3D10_DEVICE_STATE_TYPES type,
                                                 UINT entry)
{
    return is_range(m, type, entry, 1) ? bits_of(m, type)[entry / 8] & 1 << entry % 8 : FALSE;
}

static HRESULT fill(D3D10_STATE_BLOCK_MASK *m, int byte)
{
    if (!m)
        return E_INVALIDARG;
    memset(m, byte, sizeof(*m));
    return S_OK;
}

EXPORT HRESULT WINAPI D3D10StateBlockMaskEnableAll(D3D10_STATE_BLOCK_MASK *m)
{
    return fill(m, 0xFF);
}

EXPORT HRESULT WINAPI D3D10StateBlockMaskDisableAll(D3D10_STATE_BLOCK_MASK *m)
{
    return fill(m, 0);
}

#define COMBINE(name, op)                                                                                    \
    EXPORT HRESULT WINAPI D3D10StateBlockMask##name(D3D10_STATE_BLOCK_MASK *x, D3D10_STATE_BLOCK_MASK *y,    \
                                                    D3D10_STATE_BLOCK_MASK *result)                          \
    {                                                                                                        \
        if (!x || !y || !result)                                                                             \
            return E_INVALIDARG;                                                                             \
        for (size_t i = 0; i < sizeof(*x); i++)                                                              \
            ((BYTE *)result)[i] = (BYTE)(((const BYTE *)x)[i] op((const BYTE *)y)[i]);                       \
        return S_OK;                                                                                         \
    }
COMBINE(Union, |)
COMBINE(Intersect, &)
COMBINE(Difference, ^)

/* ---- blocks -------------------------------------------------------------------------------- */

static struct block *of(void *This)
{
    return This;
}

static void drop_all(IUnknown **objects, UINT count)
{
    for (UINT i = 0; i < count; i++) {
        if (objects[i])
            IUnknown_Release(objects[i]);
        objects[i] = NULL;
    }
}

static void drop(struct block *b)
{
    for (int i = 0; i < STAGES; i++)
        drop_all((IUnknown **)&b->stages[i], sizeof(b->stages[i]) / sizeof(IUnknown *));
    drop_all((IUnknown **)b->vertices, VERTICES);
    drop_all((IUnknown **)&b->indices, 1);
    drop_all((IUnknown **)b->streams, STREAMS);
    drop_all((IUnknown **)&b->layout, 1);
    drop_all((IUnknown **)b->targets, TARGETS);
    drop_all((IUnknown **)&b->depth_view, 1);
    drop_all((IUnknown **)&b->depth, 1);
    drop_all((IUnknown **)&b->blend, 1);
    drop_all((IUnknown **)&b->raster, 1);
    drop_all((IUnknown **)&b->predicate, 1);
}

static ULONG STDMETHODCALLTYPE block_AddRef(ID3D10StateBlock *This)
{
    return (ULONG)__atomic_add_fetch(&of(This)->refs, 1, __ATOMIC_RELAXED);
}

static HRESULT STDMETHODCALLTYPE block_QueryInterface(ID3D10StateBlock *This, REFIID riid, void **out)
{
    static const GUID iid = {0x0803425a, 0x57f5, 0x4dd6, {0x94, 0x65, 0xa8, 0x75, 0x70, 0x83, 0x4a, 0x08}};

    if (!out)
        return E_POINTER;
    *out = IsEqualGUID(riid, &IID_IUnknown) || IsEqualGUID(riid, &iid) ? This : NULL;
    if (!*out)
        return E_NOINTERFACE;
    block_AddRef(This);
    return S_OK;
}

static ULONG STDMETHODCALLTYPE block_Release(ID3D10StateBlock *This)
{
    struct block *b = of(This);
    LONG refs = __atomic_sub_fetch(&b->refs, 1, __ATOMIC_ACQ_REL);

    if (!refs) {
        drop(b);
        ID3D10Device_Release(b->device);
        free(b);
    }
    return (ULONG)refs;
}

static HRESULT STDMETHODCALLTYPE block_ReleaseAllDeviceObjects(ID3D10StateBlock *This)
{
    drop(of(This));
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE block_GetDevice(ID3D10StateBlock *This, ID3D10Device **out)
{
    if (!out)
        return E_INVALIDARG;
    *out = of(This)->device;
    ID3D10Device_AddRef(*out);
    return S_OK;
}

/* Each slot that the mask names, by `Get` or `Set` of a stage. */
#define SLOTS(call, type, stage, member, iface)                                                              \
    for (UINT i = 0; i < kinds[D3D10_DST_##type].bits; i++)                                                  \
        if (has(&b->mask, D3D10_DST_##type, i))                                                              \
            call(d, i, 1, (iface **)&b->stages[stage].member[i]);
#define STAGE(Verb, XS, index, Shader)                                                                       \
    if (b->mask.XS)                                                                                          \
        SHADER_##Verb(XS, index, Shader);                                                                    \
    SLOTS(ID3D10Device_##XS##Verb##Samplers, XS##_SAMPLERS, index, samplers, ID3D10SamplerState)             \
    SLOTS(ID3D10Device_##XS##Verb##ShaderResources, XS##_SHADER_RESOURCES, index, resources,                 \
          ID3D10ShaderResourceView)                                                                          \
    SLOTS(ID3D10Device_##XS##Verb##ConstantBuffers, XS##_CONSTANT_BUFFERS, index, constants, ID3D10Buffer)
#define SHADER_Get(XS, index, Shader) ID3D10Device_##XS##GetShader(d, (Shader **)&b->stages[index].shader)
#define SHADER_Set(XS, index, Shader) ID3D10Device_##XS##SetShader(d, (Shader *)b->stages[index].shader)

static HRESULT STDMETHODCALLTYPE block_Capture(ID3D10StateBlock *This)
{
    struct block *b = of(This);
    ID3D10Device *d = b->device;
    const D3D10_STATE_BLOCK_MASK *m = &b->mask;

    drop(b);
    STAGE(Get, VS, 0, ID3D10VertexShader)
    STAGE(Get, GS, 1, ID3D10GeometryShader)
    STAGE(Get, PS, 2, ID3D10PixelShader)
    for (UINT i = 0; i < VERTICES; i++)
        if (has(m, D3D10_DST_IA_VERTEX_BUFFERS, i))
            ID3D10Device_IAGetVertexBuffers(d, i, 1, &b->vertices[i], &b->strides[i], &b->offsets[i]);
    if (m->IAIndexBuffer)
        ID3D10Device_IAGetIndexBuffer(d, &b->indices, &b->index_format, &b->index_offset);
    if (m->IAInputLayout)
        ID3D10Device_IAGetInputLayout(d, &b->layout);
    if (m->IAPrimitiveTopology)
        ID3D10Device_IAGetPrimitiveTopology(d, &b->topology);
    if (m->OMRenderTargets)
        ID3D10Device_OMGetRenderTargets(d, TARGETS, b->targets, &b->depth_view);
    if (m->OMDepthStencilState)
        ID3D10Device_OMGetDepthStencilState(d, &b->depth, &b->stencil_ref);
    if (m->OMBlendState)
        ID3D10Device_OMGetBlendState(d, &b->blend, b->factor, &b->sample_mask);
    b->num_viewports = b->num_scissors = RECTS;
    if (m->RSViewports)
        ID3D10Device_RSGetViewports(d, &b->num_viewports, b->viewports);
    if (m->RSScissorRects)
        ID3D10Device_RSGetScissorRects(d, &b->num_scissors, b->scissors);
    if (m->RSRasterizerState)
        ID3D10Device_RSGetState(d, &b->raster);
    if (m->SOBuffers)
        ID3D10Device_SOGetTargets(d, STREAMS, b->streams, b->stream_offsets);
    if (m->Predication)
        ID3D10Device_GetPredication(d, &b->predicate, &b->predicate_value);
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE block_Apply(ID3D10StateBlock *This)
{
    struct block *b = of(This);
    ID3D10Device *d = b->device;
    const D3D10_STATE_BLOCK_MASK *m = &b->mask;

    STAGE(Set, VS, 0, ID3D10VertexShader)
    STAGE(Set, GS, 1, ID3D10GeometryShader)
    STAGE(Set, PS, 2, ID3D10PixelShader)
    for (UINT i = 0; i < VERTICES; i++)
        if (has(m, D3D10_DST_IA_VERTEX_BUFFERS, i))
            ID3D10Device_IASetVertexBuffers(d, i, 1, &b->vertices[i], &b->strides[i], &b->offsets[i]);
    if (m->IAIndexBuffer)
        ID3D10Device_IASetIndexBuffer(d, b->indices, b->index_format, b->index_offset);
    if (m->IAInputLayout)
        ID3D10Device_IASetInputLayout(d, b->layout);
    if (m->IAPrimitiveTopology)
        ID3D10Device_IASetPrimitiveTopology(d, b->topology);
    if (m->OMRenderTargets)
        ID3D10Device_OMSetRenderTargets(d, TARGETS, b->targets, b->depth_view);
    if (m->OMDepthStencilState)
        ID3D10Device_OMSetDepthStencilState(d, b->depth, b->stencil_ref);
    if (m->OMBlendState)
        ID3D10Device_OMSetBlendState(d, b->blend, b->factor, b->sample_mask);
    if (m->RSViewports)
        ID3D10Device_RSSetViewports(d, b->num_viewports, b->viewports);
    if (m->RSScissorRects)
        ID3D10Device_RSSetScissorRects(d, b->num_scissors, b->scissors);
    if (m->RSRasterizerState)
        ID3D10Device_RSSetState(d, b->raster);
    if (m->SOBuffers)
        ID3D10Device_SOSetTargets(d, STREAMS, b->streams, b->stream_offsets);
    if (m->Predication)
        ID3D10Device_SetPredication(d, b->predicate, b->predicate_value);
    return S_OK;
}

static const ID3D10StateBlockVtbl block_vtbl = {.QueryInterface = block_QueryInterface,
                                                .AddRef = block_AddRef,
                                                .Release = block_Release,
                                                .Capture = block_Capture,
                                                .Apply = block_Apply,
                                                .ReleaseAllDeviceObjects = block_ReleaseAllDeviceObjects,
                                                .GetDevice = block_GetDevice};

EXPORT HRESULT WINAPI D3D10CreateStateBlock(ID3D10Device *device, D3D10_STATE_BLOCK_MASK *mask,
                                            ID3D10StateBlock **out)
{
    struct block *b;

    if (!device || !mask || !out)
        return E_INVALIDARG;
    b = calloc(1, sizeof(*b));
    if (!b)
        return E_OUTOFMEMORY;
    b->vtbl = &block_vtbl;
    b->refs = 1;
    b->device = device;
    b->mask = *mask;
    ID3D10Device_AddRef(device);
    *out = (ID3D10StateBlock *)b;
    return S_OK;
}
