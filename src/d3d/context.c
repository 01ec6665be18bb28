/* SPDX-License-Identifier: MIT */
/* context.c: the immediate context: what is bound, and draws. */
#include "d3d/tables.h"
#include "d3d/d3d.h"

static struct d3d_device *device_of(void *This)
{
    return ((struct d3d_context *)This)->device;
}

static struct d3d_context *context_of(void *This)
{
    return This;
}

static void defaults(struct d3d_context *c)
{
    for (int i = 0; i < 4; i++)
        c->blend_factor[i] = 1;
    c->sample_mask = 0xFFFFFFFF;
    c->topology = D3D11_PRIMITIVE_TOPOLOGY_UNDEFINED;
    c->num_viewports = c->num_scissors = c->stencil_ref = 0;
    memset(c->first_constants, 0, sizeof(c->first_constants));
    for (int s = 0; s < D3D_STAGES; s++)
        for (int i = 0; i < D3D_CONSTANTS; i++)
            c->num_constants[s][i] = D3D_MOST_CONSTANTS;
}

void d3d_context_init(struct d3d_context *c, struct d3d_device *d)
{
    c->device = d;
    c->vtbl = &d3d_context_vtbl;
    c->annotation_vtbl = &d3d_annotation_vtbl;
    c->lock_vtbl = &d3d_context_lock_vtbl;
    defaults(c);
}

/* References only; the driver is told by who calls, where that matters. */
void d3d_context_clear(struct d3d_context *c)
{
    d3d_context_unbind(c);
    defaults(c);
}

/* ---- life ----------------------------------------------------------------- */

HRESULT STDMETHODCALLTYPE d3d_context_QueryInterface(ID3D11DeviceContext *This, REFIID riid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (IsEqualGUID(riid, &IID_IUnknown) || IsEqualGUID(riid, &IID_ID3D11DeviceChild) ||
        IsEqualGUID(riid, &IID_ID3D11DeviceContext) || IsEqualGUID(riid, &IID_ID3D11DeviceContext1))
        *out = This;
    else if (IsEqualGUID(riid, &IID_ID3DUserDefinedAnnotation))
        *out = &context_of(This)->annotation_vtbl;
    else if (IsEqualGUID(riid, &IID_ID3D11Multithread))
        *out = &context_of(This)->lock_vtbl;
    if (!*out)
        return E_NOINTERFACE;
    d3d_context_AddRef(This);
    return S_OK;
}

ULONG STDMETHODCALLTYPE d3d_context_AddRef(ID3D11DeviceContext *This)
{
    ULONG refs = (ULONG)__atomic_add_fetch(&context_of(This)->refs, 1, __ATOMIC_RELAXED);

    if (refs == 1)
        d3d_device_AddRef((ID3D11Device *)device_of(This));
    return refs;
}

ULONG STDMETHODCALLTYPE d3d_context_Release(ID3D11DeviceContext *This)
{
    struct d3d_device *d = device_of(This);
    ULONG refs = (ULONG)__atomic_sub_fetch(&context_of(This)->refs, 1, __ATOMIC_ACQ_REL);

    if (!refs && context_of(This)->list)
        d3d_deferred_destroy(context_of(This));
    if (!refs)
        d3d_device_Release((ID3D11Device *)d);
    return refs;
}

void STDMETHODCALLTYPE d3d_context_GetDevice(ID3D11DeviceContext *This, ID3D11Device **out)
{
    *out = (ID3D11Device *)device_of(This);
    ID3D11Device_AddRef(*out);
}

D3D11_DEVICE_CONTEXT_TYPE STDMETHODCALLTYPE d3d_context_GetType(ID3D11DeviceContext *This)
{
    return context_of(This)->list ? D3D11_DEVICE_CONTEXT_DEFERRED : D3D11_DEVICE_CONTEXT_IMMEDIATE;
}

UINT STDMETHODCALLTYPE d3d_context_GetContextFlags(ID3D11DeviceContext *This)
{
    return 0;
}

HRESULT STDMETHODCALLTYPE d3d_context_GetPrivateData(ID3D11DeviceContext *This, REFGUID guid, UINT *size,
                                                     void *bytes)
{
    return d3d_data_get(context_of(This)->data, guid, size, bytes);
}

HRESULT STDMETHODCALLTYPE d3d_context_SetPrivateData(ID3D11DeviceContext *This, REFGUID guid, UINT size,
                                                     const void *bytes)
{
    return d3d_data_set(&context_of(This)->data, guid, size, bytes);
}

HRESULT STDMETHODCALLTYPE d3d_context_SetPrivateDataInterface(ID3D11DeviceContext *This, REFGUID guid,
                                                              const IUnknown *object)
{
    return d3d_data_set_interface(&context_of(This)->data, guid, object);
}

/* ---- annotations ------------------------------------------------------------ */

static struct d3d_context *of_annotation(void *This)
{
    return (struct d3d_context *)((char *)This - offsetof(struct d3d_context, annotation_vtbl));
}

IUNKNOWN_OF(d3d_annotation, ID3DUserDefinedAnnotation, d3d_context, ID3D11DeviceContext, of_annotation(This))

void d3d_annotation_say(struct d3d_context *c, enum d3d_words what, const char *text)
{
    const D3DDDI_ANNOTATION_FUNCS *f = &c->device->adapter->annotate;

    if (c->list) {
        d3d_deferred_say(c, what, text);
        return;
    }
    pthread_mutex_lock(&c->device->lock);
    if (what == D3D_SAY_BEGIN && f->pfnBeginRegion)
        f->pfnBeginRegion(c->device->drv, text);
    else if (what == D3D_SAY_END && f->pfnEndRegion)
        f->pfnEndRegion(c->device->drv);
    else if (what == D3D_SAY_MARKER && f->pfnMarker)
        f->pfnMarker(c->device->drv, text);
    pthread_mutex_unlock(&c->device->lock);
}

static void say(struct d3d_context *c, enum d3d_words what, LPCWSTR text)
{
    char name[256];

    d3d_utf8((const WCHAR *)text, name, sizeof(name));
    d3d_annotation_say(c, what, name);
}

INT STDMETHODCALLTYPE d3d_annotation_BeginEvent(ID3DUserDefinedAnnotation *This, LPCWSTR name)
{
    struct d3d_context *c = of_annotation(This);

    if (!c->device->adapter->annotate.pfnBeginRegion)
        return -1;
    say(c, D3D_SAY_BEGIN, name);
    return c->regions++;
}

INT STDMETHODCALLTYPE d3d_annotation_EndEvent(ID3DUserDefinedAnnotation *This)
{
    struct d3d_context *c = of_annotation(This);

    if (!c->device->adapter->annotate.pfnEndRegion || !c->regions)
        return -1;
    d3d_annotation_say(c, D3D_SAY_END, "");
    return --c->regions;
}

void STDMETHODCALLTYPE d3d_annotation_SetMarker(ID3DUserDefinedAnnotation *This, LPCWSTR text)
{
    say(of_annotation(This), D3D_SAY_MARKER, text);
}

BOOL STDMETHODCALLTYPE d3d_annotation_GetStatus(ID3DUserDefinedAnnotation *This)
{
    return of_annotation(This)->device->adapter->annotate.pfnBeginRegion != NULL;
}

/* ---- shader stages ------------------------------------------------------------ */

#define SHADER(method, iface, stage, Ddi)                                                                    \
    void STDMETHODCALLTYPE method(ID3D11DeviceContext *This, iface *shader,                                  \
                                  ID3D11ClassInstance *const *instances, UINT count)                         \
    {                                                                                                        \
        struct d3d_child *s = (struct d3d_child *)shader;                                                    \
        d3d_child_bind(&context_of(This)->shaders[stage], s);                                                \
        TELL(This, pfn##Ddi##SetShader, DRV(D3D10DDI_HSHADER, s));                                           \
    }
SHADER(d3d_context_VSSetShader, ID3D11VertexShader, D3D_VS, Vs)
SHADER(d3d_context_PSSetShader, ID3D11PixelShader, D3D_PS, Ps)
SHADER(d3d_context_GSSetShader, ID3D11GeometryShader, D3D_GS, Gs)
SHADER(d3d_context_HSSetShader, ID3D11HullShader, D3D_HS, Hs)
SHADER(d3d_context_DSSetShader, ID3D11DomainShader, D3D_DS, Ds)
SHADER(d3d_context_CSSetShader, ID3D11ComputeShader, D3D_CS, Cs)

/* Objects of `count` slots from `first` on, bound and told to the driver; too many: nothing happens. */
#define SLOTS(method, iface, member, stage, most, Ddi, handle)                                               \
    void STDMETHODCALLTYPE method(ID3D11DeviceContext *This, UINT first, UINT count, iface *const *objects)  \
    {                                                                                                        \
        struct d3d_context *c = context_of(This);                                                            \
        handle drv[most];                                                                                    \
        if (first > most || count > most - first || !count || !objects)                                      \
            return;                                                                                          \
        for (UINT i = 0; i < count; i++) {                                                                   \
            struct d3d_child *o = (struct d3d_child *)objects[i];                                            \
            if (o && o->kind == D3D_SRV)                                                                     \
                o = d3d_hazard_readable(c, stage, first + i, o);                                             \
            d3d_child_bind(&c->member[stage][first + i], o);                                                 \
            drv[i] = DRV(handle, o);                                                                         \
        }                                                                                                    \
        TELL(This, pfn##Ddi, first, count, drv);                                                             \
    }
SLOTS(d3d_context_VSSetShaderResources, ID3D11ShaderResourceView, views, D3D_VS, D3D_SLOTS,
      VsSetShaderResources, D3D10DDI_HSHADERRESOURCEVIEW)
SLOTS(d3d_context_PSSetShaderResources, ID3D11ShaderResourceView, views, D3D_PS, D3D_SLOTS,
      PsSetShaderResources, D3D10DDI_HSHADERRESOURCEVIEW)
SLOTS(d3d_context_GSSetShaderResources, ID3D11ShaderResourceView, views, D3D_GS, D3D_SLOTS,
      GsSetShaderResources, D3D10DDI_HSHADERRESOURCEVIEW)
SLOTS(d3d_context_CSSetShaderResources, ID3D11ShaderResourceView, views, D3D_CS, D3D_SLOTS,
      CsSetShaderResources, D3D10DDI_HSHADERRESOURCEVIEW)
SLOTS(d3d_context_VSSetSamplers, ID3D11SamplerState, samplers, D3D_VS, 16, VsSetSamplers, D3D10DDI_HSAMPLER)
SLOTS(d3d_context_PSSetSamplers, ID3D11SamplerState, samplers, D3D_PS, 16, PsSetSamplers, D3D10DDI_HSAMPLER)
SLOTS(d3d_context_GSSetSamplers, ID3D11SamplerState, samplers, D3D_GS, 16, GsSetSamplers, D3D10DDI_HSAMPLER)
SLOTS(d3d_context_HSSetShaderResources, ID3D11ShaderResourceView, views, D3D_HS, D3D_SLOTS,
      HsSetShaderResources, D3D10DDI_HSHADERRESOURCEVIEW)
SLOTS(d3d_context_HSSetSamplers, ID3D11SamplerState, samplers, D3D_HS, 16, HsSetSamplers, D3D10DDI_HSAMPLER)
SLOTS(d3d_context_DSSetShaderResources, ID3D11ShaderResourceView, views, D3D_DS, D3D_SLOTS,
      DsSetShaderResources, D3D10DDI_HSHADERRESOURCEVIEW)
SLOTS(d3d_context_DSSetSamplers, ID3D11SamplerState, samplers, D3D_DS, 16, DsSetSamplers, D3D10DDI_HSAMPLER)
SLOTS(d3d_context_CSSetSamplers, ID3D11SamplerState, samplers, D3D_CS, 16, CsSetSamplers, D3D10DDI_HSAMPLER)

/* ---- input assembler ------------------------------------------------------------ */

void STDMETHODCALLTYPE d3d_context_IASetInputLayout(ID3D11DeviceContext *This, ID3D11InputLayout *layout)
{
    struct d3d_child *l = (struct d3d_child *)layout;

    d3d_child_bind(&context_of(This)->layout, l);
    TELL(This, pfnIaSetInputLayout, DRV(D3D10DDI_HELEMENTLAYOUT, l));
}

void STDMETHODCALLTYPE d3d_context_IASetVertexBuffers(ID3D11DeviceContext *This, UINT first, UINT count,
                                                      ID3D11Buffer *const *buffers, const UINT *strides,
                                                      const UINT *offsets)
{
    struct d3d_context *c = context_of(This);
    D3D10DDI_HRESOURCE drv[32];

    if (first > 32 || count > 32 - first || !count || !buffers || !strides || !offsets)
        return;
    for (UINT i = 0; i < count; i++) {
        struct d3d_child *b = (struct d3d_child *)buffers[i];
        d3d_child_bind(&c->vertices[first + i], b);
        c->strides[first + i] = strides[i];
        c->offsets[first + i] = offsets[i];
        drv[i] = DRV(D3D10DDI_HRESOURCE, b);
    }
    TELL(This, pfnIaSetVertexBuffers, first, count, drv, strides, offsets);
}

void STDMETHODCALLTYPE d3d_context_IASetIndexBuffer(ID3D11DeviceContext *This, ID3D11Buffer *buffer,
                                                    DXGI_FORMAT format, UINT offset)
{
    struct d3d_context *c = context_of(This);
    struct d3d_child *b = (struct d3d_child *)buffer;

    if (b && format != DXGI_FORMAT_R16_UINT && format != DXGI_FORMAT_R32_UINT)
        return;
    d3d_child_bind(&c->indices, b);
    c->index_format = format;
    c->index_offset = offset;
    TELL(This, pfnIaSetIndexBuffer, DRV(D3D10DDI_HRESOURCE, b), format, offset);
}

void STDMETHODCALLTYPE d3d_context_IASetPrimitiveTopology(ID3D11DeviceContext *This,
                                                          D3D11_PRIMITIVE_TOPOLOGY topology)
{
    context_of(This)->topology = topology;
    TELL(This, pfnIaSetTopology, (D3D10_DDI_PRIMITIVE_TOPOLOGY)topology);
}

void STDMETHODCALLTYPE d3d_context_IAGetPrimitiveTopology(ID3D11DeviceContext *This,
                                                          D3D11_PRIMITIVE_TOPOLOGY *topology)
{
    *topology = context_of(This)->topology;
}

/* ---- rasterizer and output -------------------------------------------------------- */

void STDMETHODCALLTYPE d3d_context_RSSetState(ID3D11DeviceContext *This, ID3D11RasterizerState *state)
{
    struct d3d_child *s = (struct d3d_child *)state;

    d3d_child_bind(&context_of(This)->raster, s);
    TELL(This, pfnSetRasterizerState, DRV(D3D10DDI_HRASTERIZERSTATE, s));
}

void STDMETHODCALLTYPE d3d_context_RSSetViewports(ID3D11DeviceContext *This, UINT count,
                                                  const D3D11_VIEWPORT *viewports)
{
    struct d3d_context *c = context_of(This);

    if (count > 16 || (count && !viewports))
        return;
    for (UINT i = 0; i < count; i++)
        c->viewports[i] = viewports[i];
    c->num_viewports = count;
    TELL(This, pfnSetViewports, count, 16 - count, (const D3D10_DDI_VIEWPORT *)c->viewports);
}

void STDMETHODCALLTYPE d3d_context_RSGetViewports(ID3D11DeviceContext *This, UINT *count,
                                                  D3D11_VIEWPORT *viewports)
{
    struct d3d_context *c = context_of(This);

    for (UINT i = 0; viewports && i < *count; i++)
        viewports[i] = i < c->num_viewports ? c->viewports[i] : (D3D11_VIEWPORT){0};
    if (!viewports || *count > c->num_viewports)
        *count = c->num_viewports;
}

void STDMETHODCALLTYPE d3d_context_RSSetScissorRects(ID3D11DeviceContext *This, UINT count,
                                                     const D3D11_RECT *rects)
{
    struct d3d_context *c = context_of(This);

    if (count > 16 || (count && !rects))
        return;
    for (UINT i = 0; i < count; i++)
        c->scissors[i] = rects[i];
    c->num_scissors = count;
    TELL(This, pfnSetScissorRects, count, 16 - count, (const D3D10_DDI_RECT *)c->scissors);
}

void STDMETHODCALLTYPE d3d_context_OMSetBlendState(ID3D11DeviceContext *This, ID3D11BlendState *state,
                                                   const FLOAT factor[4], UINT mask)
{
    struct d3d_context *c = context_of(This);
    struct d3d_child *s = (struct d3d_child *)state;

    d3d_child_bind(&c->blend, s);
    for (int i = 0; i < 4; i++)
        c->blend_factor[i] = factor ? factor[i] : 1;
    c->sample_mask = mask;
    TELL(This, pfnSetBlendState, DRV(D3D10DDI_HBLENDSTATE, s), c->blend_factor, mask);
}

void STDMETHODCALLTYPE d3d_context_OMSetDepthStencilState(ID3D11DeviceContext *This,
                                                          ID3D11DepthStencilState *state, UINT ref)
{
    struct d3d_context *c = context_of(This);
    struct d3d_child *s = (struct d3d_child *)state;

    d3d_child_bind(&c->depth, s);
    c->stencil_ref = ref;
    TELL(This, pfnSetDepthStencilState, DRV(D3D10DDI_HDEPTHSTENCILSTATE, s), ref);
}

/* What pixel shaders store to is none then. */
void STDMETHODCALLTYPE d3d_context_OMSetRenderTargets(ID3D11DeviceContext *This, UINT count,
                                                      ID3D11RenderTargetView *const *views,
                                                      ID3D11DepthStencilView *depth)
{
    if (count <= 8)
        d3d_context_OMSetRenderTargetsAndUnorderedAccessViews(This, count, views, depth, 0, 0, NULL, NULL);
}

void STDMETHODCALLTYPE d3d_context_OMGetRenderTargets(ID3D11DeviceContext *This, UINT count,
                                                      ID3D11RenderTargetView **views,
                                                      ID3D11DepthStencilView **depth)
{
    struct d3d_context *c = context_of(This);

    for (UINT i = 0; views && i < count && i < 8; i++) {
        views[i] = (ID3D11RenderTargetView *)c->targets[i];
        if (views[i])
            ID3D11RenderTargetView_AddRef(views[i]);
    }
    if (depth) {
        *depth = (ID3D11DepthStencilView *)c->depth_view;
        if (*depth)
            ID3D11DepthStencilView_AddRef(*depth);
    }
}

void STDMETHODCALLTYPE d3d_context_ClearRenderTargetView(ID3D11DeviceContext *This,
                                                         ID3D11RenderTargetView *view, const FLOAT colour[4])
{
    FLOAT c[4];

    if (!view)
        return;
    memcpy(c, colour, sizeof(c));
    TELL(This, pfnClearRenderTargetView, DRV(D3D10DDI_HRENDERTARGETVIEW, (struct d3d_child *)view), c);
}

void STDMETHODCALLTYPE d3d_context_ClearDepthStencilView(ID3D11DeviceContext *This,
                                                         ID3D11DepthStencilView *view, UINT flags,
                                                         FLOAT depth, UINT8 stencil)
{
    if (view)
        TELL(This, pfnClearDepthStencilView, DRV(D3D10DDI_HDEPTHSTENCILVIEW, (struct d3d_child *)view), flags,
             depth, stencil);
}

/* How many slots there are up to the last one that something is bound to. */
static UINT used(struct d3d_child *const *slots, UINT most)
{
    while (most && !slots[most - 1])
        most--;
    return most;
}

/* No shader and nothing for it, in one stage. */
#define CLEAR_STAGE(c, prefix, stage)                                                                        \
    do {                                                                                                     \
        prefix##SetShader(This, NULL, NULL, 0);                                                              \
        prefix##SetConstantBuffers(This, 0, used((c)->constants[stage], D3D_CONSTANTS),                      \
                                   (ID3D11Buffer **)none);                                                   \
        prefix##SetShaderResources(This, 0, used((c)->views[stage], D3D_SLOTS),                              \
                                   (ID3D11ShaderResourceView **)none);                                       \
        prefix##SetSamplers(This, 0, used((c)->samplers[stage], D3D_SAMPLERS), (ID3D11SamplerState **)none); \
    } while (0)

void STDMETHODCALLTYPE d3d_context_ClearState(ID3D11DeviceContext *This)
{
    static void *none[D3D_SLOTS];
    static const UINT zeros[32];
    struct d3d_context *c = context_of(This);

    CLEAR_STAGE(c, d3d_context_VS, D3D_VS);
    CLEAR_STAGE(c, d3d_context_PS, D3D_PS);
    CLEAR_STAGE(c, d3d_context_GS, D3D_GS);
    CLEAR_STAGE(c, d3d_context_HS, D3D_HS);
    CLEAR_STAGE(c, d3d_context_DS, D3D_DS);
    CLEAR_STAGE(c, d3d_context_CS, D3D_CS);
    d3d_context_CSSetUnorderedAccessViews(This, 0, used(c->uavs, D3D_UAVS),
                                          (ID3D11UnorderedAccessView **)none, NULL);
    d3d_context_SOSetTargets(This, 0, NULL, NULL);
    d3d_context_IASetInputLayout(This, NULL);
    d3d_context_IASetVertexBuffers(This, 0, 32, (ID3D11Buffer **)none, zeros, zeros);
    d3d_context_IASetIndexBuffer(This, NULL, DXGI_FORMAT_UNKNOWN, 0);
    d3d_context_IASetPrimitiveTopology(This, D3D11_PRIMITIVE_TOPOLOGY_UNDEFINED);
    d3d_context_OMSetRenderTargetsAndUnorderedAccessViews(This, 0, NULL, NULL, 0, 0, NULL, NULL);
    d3d_context_OMSetBlendState(This, NULL, NULL, 0xFFFFFFFF);
    d3d_context_OMSetDepthStencilState(This, NULL, 0);
    d3d_context_RSSetState(This, NULL);
    d3d_context_SetPredication(This, NULL, FALSE);
    d3d_context_clear(c);
}

/* ---- work --------------------------------------------------------------------- */

void STDMETHODCALLTYPE d3d_context_Draw(ID3D11DeviceContext *This, UINT vertices, UINT first)
{
    d3d_debug_draw(context_of(This), "Draw", false);
    TELL(This, pfnDraw, vertices, first);
}

void STDMETHODCALLTYPE d3d_context_DrawIndexed(ID3D11DeviceContext *This, UINT indices, UINT first, INT base)
{
    d3d_debug_draw(context_of(This), "DrawIndexed", true);
    TELL(This, pfnDrawIndexed, indices, first, base);
}

void STDMETHODCALLTYPE d3d_context_DrawInstanced(ID3D11DeviceContext *This, UINT vertices, UINT instances,
                                                 UINT first, UINT first_instance)
{
    d3d_debug_draw(context_of(This), "DrawInstanced", false);
    TELL(This, pfnDrawInstanced, vertices, instances, first, first_instance);
}

void STDMETHODCALLTYPE d3d_context_DrawIndexedInstanced(ID3D11DeviceContext *This, UINT indices,
                                                        UINT instances, UINT first, INT base,
                                                        UINT first_instance)
{
    d3d_debug_draw(context_of(This), "DrawIndexedInstanced", true);
    TELL(This, pfnDrawIndexedInstanced, indices, instances, first, base, first_instance);
}

void STDMETHODCALLTYPE d3d_context_Dispatch(ID3D11DeviceContext *This, UINT x, UINT y, UINT z)
{
    TELL(This, pfnDispatch, x, y, z);
}

void STDMETHODCALLTYPE d3d_context_Flush(ID3D11DeviceContext *This)
{
    TELL(This, pfnFlush, 0);
    d3d_take_error(device_of(This));
}

bool d3d_subresource(const struct d3d_child *r, UINT i)
{
    return r && d3d_is_resource(r) &&
           (r->kind == D3D_BUFFER ? !i : i < r->desc.texture.MipLevels * r->desc.texture.ArraySize);
}

static D3D11_USAGE usage_of(const struct d3d_child *r)
{
    return r->kind == D3D_BUFFER ? r->desc.buffer.Usage : r->desc.texture.Usage;
}

bool d3d_is_dynamic(const struct d3d_child *r)
{
    return usage_of(r) == D3D11_USAGE_DYNAMIC;
}

static UINT access_of(const struct d3d_child *r)
{
    return r->kind == D3D_BUFFER ? r->desc.buffer.CPUAccessFlags : r->desc.texture.CPUAccessFlags;
}

HRESULT STDMETHODCALLTYPE d3d_context_Map(ID3D11DeviceContext *This, ID3D11Resource *resource, UINT index,
                                          D3D11_MAP type, UINT flags, D3D11_MAPPED_SUBRESOURCE *out)
{
    struct d3d_device *d = device_of(This);
    struct d3d_child *r = (struct d3d_child *)resource;
    bool discards = type == D3D11_MAP_WRITE_DISCARD || type == D3D11_MAP_WRITE_NO_OVERWRITE;
    D3D10DDI_MAPPED_SUBRESOURCE m = {0};
    HRESULT hr;

    if (out)
        out->pData = NULL;
    if (!out)
        return E_INVALIDARG;
    if (!d3d_subresource(r, index))
        return d3d_refuse(d, D3D11_MESSAGE_ID_RESOURCE_MAP_INVALIDSUBRESOURCE,
                          "ID3D11DeviceContext::Map: there is no subresource %u", index);
    if (flags & ~(UINT)D3D11_MAP_FLAG_DO_NOT_WAIT)
        return d3d_refuse(d, D3D11_MESSAGE_ID_RESOURCE_MAP_INVALIDFLAGS,
                          "ID3D11DeviceContext::Map: the flags 0x%X are not only D3D11_MAP_FLAG_DO_NOT_WAIT",
                          flags);
    if (type < D3D11_MAP_READ || type > D3D11_MAP_WRITE_NO_OVERWRITE ||
        (usage_of(r) == D3D11_USAGE_DYNAMIC ? !discards : usage_of(r) != D3D11_USAGE_STAGING || discards) ||
        (!discards && type & D3D11_MAP_READ && !(access_of(r) & D3D11_CPU_ACCESS_READ)) ||
        (!discards && type & D3D11_MAP_WRITE && !(access_of(r) & D3D11_CPU_ACCESS_WRITE)))
        return d3d_refuse(
            d, D3D11_MESSAGE_ID_RESOURCE_MAP_INVALIDMAPTYPE,
            "ID3D11DeviceContext::Map: type %d is none of a resource of usage %d with CPU access 0x%X",
            (int)type, (int)usage_of(r), access_of(r));
    if (r->maps && (r->kind == D3D_BUFFER || r->mapped[index])) /* a texture's subresource is mapped once */
        d3d_refuse(d, D3D11_MESSAGE_ID_RESOURCE_MAP_ALREADYMAPPED,
                   "ID3D11DeviceContext::Map: subresource %u is mapped already", index);
    if (r->kind != D3D_BUFFER && !r->mapped)
        r->mapped = calloc((size_t)r->desc.texture.MipLevels * r->desc.texture.ArraySize, 1);
    if (r->kind != D3D_BUFFER && (!r->mapped || r->mapped[index]))
        return r->mapped ? E_INVALIDARG : E_OUTOFMEMORY;
    if (usage_of(r) == D3D11_USAGE_STAGING)
        DDI(d, pfnStagingResourceMap, DRV(D3D10DDI_HRESOURCE, r), index, (D3D10_DDI_MAP)type, flags, &m);
    else
        DDI(d, pfnDynamicResourceMapDiscard, DRV(D3D10DDI_HRESOURCE, r), index, (D3D10_DDI_MAP)type, flags,
            &m);
    hr = d3d_take_error(d);
    if (hr != S_OK)
        return hr;
    *out = (D3D11_MAPPED_SUBRESOURCE){m.pData, m.RowPitch, m.DepthPitch};
    r->maps++;
    if (r->mapped)
        r->mapped[index] = 1;
    return S_OK;
}

void STDMETHODCALLTYPE d3d_context_Unmap(ID3D11DeviceContext *This, ID3D11Resource *resource, UINT index)
{
    struct d3d_child *r = (struct d3d_child *)resource;

    if (!d3d_subresource(r, index)) {
        d3d_refuse(device_of(This), D3D11_MESSAGE_ID_RESOURCE_UNMAP_INVALIDSUBRESOURCE,
                   "ID3D11DeviceContext::Unmap: there is no subresource %u", index);
        return;
    }
    if (!r->maps || (r->mapped && !r->mapped[index])) {
        d3d_refuse(device_of(This), D3D11_MESSAGE_ID_RESOURCE_UNMAP_NOTMAPPED,
                   "ID3D11DeviceContext::Unmap: subresource %u is not mapped", index);
        return;
    }
    r->maps--;
    if (r->mapped)
        r->mapped[index] = 0;
    if (usage_of(r) == D3D11_USAGE_STAGING)
        TELL(This, pfnStagingResourceUnmap, DRV(D3D10DDI_HRESOURCE, r), index);
    else if (usage_of(r) == D3D11_USAGE_DYNAMIC)
        TELL(This, pfnDynamicResourceUnmap, DRV(D3D10DDI_HRESOURCE, r), index);
}

/* How far a subresource reaches. */
static D3D10_DDI_BOX extent(const struct d3d_child *r, UINT index)
{
    UINT mip = r->kind == D3D_BUFFER ? 0 : index % r->desc.texture.MipLevels, width, height, depth;

    width = r->kind == D3D_BUFFER ? r->desc.buffer.ByteWidth : r->desc.texture.Width >> mip;
    height = r->kind == D3D_BUFFER ? 1 : r->desc.texture.Height >> mip;
    depth = r->depth >> mip;
    return (D3D10_DDI_BOX){
        0, 0, 0, width ? (LONG)width : 1, height ? (LONG)height : 1, depth ? (LONG)depth : 1};
}

bool d3d_box_of(const struct d3d_child *r, UINT index, const D3D11_BOX *b, D3D10_DDI_BOX *out)
{
    D3D10_DDI_BOX all = *out = extent(r, index);

    if (!b)
        return true;
    if (b->left >= b->right || b->top >= b->bottom || b->front >= b->back || b->right > (UINT)all.right ||
        b->bottom > (UINT)all.bottom || b->back > (UINT)all.back)
        return false;
    *out = (D3D10_DDI_BOX){(LONG)b->left,  (LONG)b->top,    (LONG)b->front,
                           (LONG)b->right, (LONG)b->bottom, (LONG)b->back};
    return true;
}

void STDMETHODCALLTYPE d3d_context_UpdateSubresource(ID3D11DeviceContext *This, ID3D11Resource *dst,
                                                     UINT index, const D3D11_BOX *given, const void *data,
                                                     UINT row_pitch, UINT depth_pitch)
{
    struct d3d_child *r = (struct d3d_child *)dst;
    D3D10_DDI_BOX box;

    if (!d3d_subresource(r, index)) {
        d3d_refuse(device_of(This), D3D11_MESSAGE_ID_UPDATESUBRESOURCE_INVALIDDESTINATIONSUBRESOURCE,
                   "ID3D11DeviceContext::UpdateSubresource: there is no subresource %u", index);
        return;
    }
    if (usage_of(r) != D3D11_USAGE_DEFAULT || !data) {
        d3d_refuse(device_of(This), D3D11_MESSAGE_ID_UPDATESUBRESOURCE_INVALIDDESTINATIONSTATE,
                   "ID3D11DeviceContext::UpdateSubresource: %s",
                   data ? "the resource is not of D3D11_USAGE_DEFAULT" : "there is no data");
        return;
    }
    if (!d3d_box_of(r, index, given, &box)) {
        d3d_refuse(
            device_of(This), D3D11_MESSAGE_ID_UPDATESUBRESOURCE_INVALIDDESTINATIONBOX,
            "ID3D11DeviceContext::UpdateSubresource: the box (%u, %u, %u) to (%u, %u, %u) is not in subresource %u",
            given->left, given->top, given->front, given->right, given->bottom, given->back, index);
        return;
    }
    TELL(This, pfnResourceUpdateSubresourceUP, DRV(D3D10DDI_HRESOURCE, r), index, &box, data, row_pitch,
         depth_pitch, 0);
}

void STDMETHODCALLTYPE d3d_context_CopyResource(ID3D11DeviceContext *This, ID3D11Resource *dst,
                                                ID3D11Resource *src)
{
    struct d3d_child *to = (struct d3d_child *)dst, *from = (struct d3d_child *)src;

    if (!to || !from || to == from) {
        d3d_refuse(device_of(This), D3D11_MESSAGE_ID_COPYRESOURCE_INVALIDSOURCE,
                   "ID3D11DeviceContext::CopyResource: %s",
                   to && from ? "the source is the destination" : "there is no source or no destination");
        return;
    }
    if (usage_of(to) == D3D11_USAGE_IMMUTABLE) {
        d3d_refuse(device_of(This), D3D11_MESSAGE_ID_COPYRESOURCE_INVALIDDESTINATIONSTATE,
                   "ID3D11DeviceContext::CopyResource: the destination is immutable");
        return;
    }
    if (to->kind != D3D_BUFFER && from->kind != D3D_BUFFER && !d3d_copyable(to, from)) {
        d3d_refuse(device_of(This), D3D11_MESSAGE_ID_COPYRESOURCE_INVALIDSOURCE,
                   "ID3D11DeviceContext::CopyResource: format %d is copied into none of format %d",
                   (int)from->desc.texture.Format, (int)to->desc.texture.Format);
        return;
    }
    if (to->kind != from->kind ||
        (to->kind == D3D_BUFFER
             ? to->desc.buffer.ByteWidth != from->desc.buffer.ByteWidth
             : to->desc.texture.Width != d3d_copied_size(from->desc.texture.Width, from, to) ||
                   to->desc.texture.Height != d3d_copied_size(from->desc.texture.Height, from, to) ||
                   to->desc.texture.MipLevels != from->desc.texture.MipLevels ||
                   to->desc.texture.ArraySize != from->desc.texture.ArraySize || to->depth != from->depth)) {
        d3d_refuse(
            device_of(This), D3D11_MESSAGE_ID_COPYRESOURCE_INVALIDSOURCE,
            "ID3D11DeviceContext::CopyResource: source and destination are not of the same kind and size");
        return;
    }
    TELL(This, pfnResourceCopy, DRV(D3D10DDI_HRESOURCE, to), DRV(D3D10DDI_HRESOURCE, from));
}

void STDMETHODCALLTYPE d3d_context_CopySubresourceRegion(ID3D11DeviceContext *This, ID3D11Resource *dst,
                                                         UINT dst_index, UINT x, UINT y, UINT z,
                                                         ID3D11Resource *src, UINT src_index,
                                                         const D3D11_BOX *given)
{
    struct d3d_child *to = (struct d3d_child *)dst, *from = (struct d3d_child *)src;
    D3D10_DDI_BOX box, all;
    const char *wrong = NULL;
    D3D11_MESSAGE_ID id = D3D11_MESSAGE_ID_COPYSUBRESOURCEREGION_INVALIDSOURCEBOX;

    if (!d3d_subresource(to, dst_index)) {
        wrong = "there is no such subresource of the destination";
        id = D3D11_MESSAGE_ID_COPYSUBRESOURCEREGION_INVALIDDESTINATIONSUBRESOURCE;
    } else if (!d3d_subresource(from, src_index)) {
        wrong = "there is no such subresource of the source";
        id = D3D11_MESSAGE_ID_COPYSUBRESOURCEREGION_INVALIDSOURCESUBRESOURCE;
    } else if ((to->kind == D3D_BUFFER) != (from->kind == D3D_BUFFER)) {
        wrong = "one is a buffer, and the other a texture";
        id = D3D11_MESSAGE_ID_COPYSUBRESOURCEREGION_INVALIDSOURCE;
    } else if (to->kind != D3D_BUFFER && !d3d_copyable(to, from)) {
        wrong = "their formats are not of one family";
        id = D3D11_MESSAGE_ID_COPYSUBRESOURCEREGION_INVALIDSOURCE;
    } else if (usage_of(to) == D3D11_USAGE_IMMUTABLE) {
        wrong = "the destination is immutable";
        id = D3D11_MESSAGE_ID_COPYSUBRESOURCEREGION_INVALIDDESTINATIONSTATE;
    } else if (!d3d_box_of(from, src_index, given, &box)) {
        wrong = "the box is not in the source";
    }
    if (wrong) {
        d3d_refuse(device_of(This), id,
                   "ID3D11DeviceContext::CopySubresourceRegion: subresource %u to %u: %s", src_index,
                   dst_index, wrong);
        return;
    }
    all = extent(to, dst_index); /* counted in the source's texels: a block may reach over the edge */
    if (x > (UINT)all.right || y > (UINT)all.bottom || z > (UINT)all.back ||
        (UINT)(box.right - box.left) > d3d_copied_size((UINT)all.right - x, to, from) ||
        (UINT)(box.bottom - box.top) > d3d_copied_size((UINT)all.bottom - y, to, from) ||
        (UINT)(box.back - box.front) > (UINT)all.back - z) {
        d3d_refuse(
            device_of(This), id,
            "ID3D11DeviceContext::CopySubresourceRegion: the box at (%u, %u, %u) is not in the destination",
            x, y, z);
        return;
    }
    TELL(This, pfnResourceCopyRegion, DRV(D3D10DDI_HRESOURCE, to), dst_index, x, y, z,
         DRV(D3D10DDI_HRESOURCE, from), src_index, &box, 0);
}

void STDMETHODCALLTYPE d3d_context_GenerateMips(ID3D11DeviceContext *This, ID3D11ShaderResourceView *view)
{
    struct d3d_child *v = (struct d3d_child *)view;

    if (v && v->of->kind != D3D_BUFFER && v->of->desc.texture.MiscFlags & D3D11_RESOURCE_MISC_GENERATE_MIPS)
        TELL(This, pfnGenMips, DRV(D3D10DDI_HSHADERRESOURCEVIEW, v));
}

static UINT samples_of(const struct d3d_child *r)
{
    return r->kind == D3D_TEXTURE ? r->desc.texture.SampleDesc.Count : 1;
}

void STDMETHODCALLTYPE d3d_context_ResolveSubresource(ID3D11DeviceContext *This, ID3D11Resource *dst,
                                                      UINT dst_index, ID3D11Resource *src, UINT src_index,
                                                      DXGI_FORMAT format)
{
    struct d3d_child *to = (struct d3d_child *)dst, *from = (struct d3d_child *)src;

    if (!d3d_subresource(to, dst_index) || !d3d_subresource(from, src_index) || to->kind != D3D_TEXTURE ||
        from->kind != D3D_TEXTURE || samples_of(to) != 1 || usage_of(to) != D3D11_USAGE_DEFAULT ||
        d3d_format_family(to->desc.texture.Format) != d3d_format_family(from->desc.texture.Format))
        return;
    if (samples_of(from) == 1) { /* nothing is to be made one: a copy, where it fits */
        d3d_context_CopySubresourceRegion(This, dst, dst_index, 0, 0, 0, src, src_index, NULL);
        return;
    }
    if (d3d_format_family(format) != d3d_format_family(from->desc.texture.Format) ||
        d3d_format_typeless(format))
        return;
    TELL(This, pfnResourceResolveSubresource, DRV(D3D10DDI_HRESOURCE, to), dst_index,
         DRV(D3D10DDI_HRESOURCE, from), src_index, format);
}

/* ---- queries -------------------------------------------------------------------- */

void STDMETHODCALLTYPE d3d_context_Begin(ID3D11DeviceContext *This, ID3D11Asynchronous *query)
{
    struct d3d_child *q = (struct d3d_child *)query;

    if (!q || context_of(This)->list)
        return;
    q->begun = true;
    q->ended = false;
    TELL(This, pfnQueryBegin, DRV(D3D10DDI_HQUERY, q));
}

void STDMETHODCALLTYPE d3d_context_End(ID3D11DeviceContext *This, ID3D11Asynchronous *query)
{
    struct d3d_child *q = (struct d3d_child *)query;

    if (!q || context_of(This)->list)
        return;
    q->begun = false;
    q->ended = true;
    TELL(This, pfnQueryEnd, DRV(D3D10DDI_HQUERY, q));
}

HRESULT STDMETHODCALLTYPE d3d_context_GetData(ID3D11DeviceContext *This, ID3D11Asynchronous *query,
                                              void *data, UINT size, UINT flags)
{
    struct d3d_device *d = device_of(This);
    struct d3d_child *q = (struct d3d_child *)query;
    HRESULT hr;

    if (!q || (data && size && size != d3d_async_GetDataSize(q)) || (!data && size))
        return E_INVALIDARG;
    if (!q->ended)
        return DXGI_ERROR_INVALID_CALL;
    DDI(d, pfnQueryGetData, DRV(D3D10DDI_HQUERY, q), data, size, flags);
    hr = d3d_take_error(d);
    return hr == DXGI_ERROR_WAS_STILL_DRAWING ? S_FALSE : hr;
}

void STDMETHODCALLTYPE d3d_context_SetPredication(ID3D11DeviceContext *This, ID3D11Predicate *predicate,
                                                  BOOL value)
{
    struct d3d_context *c = context_of(This);
    struct d3d_child *q = (struct d3d_child *)predicate;

    d3d_child_bind(&c->predicate, q);
    c->predicate_value = q ? value : FALSE;
    TELL(This, pfnSetPredication, DRV(D3D10DDI_HQUERY, q), value);
}
