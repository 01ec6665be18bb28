/* SPDX-License-Identifier: MIT */
/* uav.c: what shaders write to beside targets: views for unordered access, and buffers that vertices are streamed out to; and the draws
 * and dispatches whose numbers lie in buffers. */
#include "d3d/tables.h"
#include "d3d/d3d.h"

/* Feature level 10_0 has raw and structured ones. */
static bool buffer_valid(const struct d3d_device *d, const struct d3d_child *r,
                         const D3D11_UNORDERED_ACCESS_VIEW_DESC *desc)
{
    enum { COUNTS = D3D11_BUFFER_UAV_FLAG_APPEND | D3D11_BUFFER_UAV_FLAG_COUNTER };
    UINT flags = desc->Buffer.Flags;
    bool structured = r->desc.buffer.StructureByteStride != 0, raw = flags & D3D11_BUFFER_UAV_FLAG_RAW;

    if (desc->ViewDimension != D3D11_UAV_DIMENSION_BUFFER ||
        flags & ~(UINT)(D3D11_BUFFER_UAV_FLAG_RAW | COUNTS) || (flags & COUNTS && (raw || !structured)))
        return false;
    if (!raw && !structured && (d->level < D3D_FEATURE_LEVEL_11_0 || !d3d_format_storable(desc->Format)))
        return false;
    return d3d_buffer_range(r, desc->Format, raw, desc->Buffer.FirstElement, desc->Buffer.NumElements);
}

HRESULT d3d_uav_buffer(struct d3d_device *d, struct d3d_child *r,
                       const D3D11_UNORDERED_ACCESS_VIEW_DESC *desc, void **out)
{
    D3D11_UNORDERED_ACCESS_VIEW_DESC whole = {.ViewDimension = D3D11_UAV_DIMENSION_BUFFER};
    D3D11DDIARG_CREATEUNORDEREDACCESSVIEW a;

    if (!desc && r->desc.buffer.StructureByteStride)
        whole.Buffer.NumElements = r->desc.buffer.ByteWidth / r->desc.buffer.StructureByteStride;
    if (!desc)
        desc = &whole;
    if (!buffer_valid(d, r, desc))
        return E_INVALIDARG;
    if (!out)
        return S_FALSE;
    a = (D3D11DDIARG_CREATEUNORDEREDACCESSVIEW){
        .hDrvResource = DRV(D3D10DDI_HRESOURCE, r),
        .Format = desc->Format,
        .ResourceDimension = D3D10DDIRESOURCE_BUFFER,
        .Buffer = {desc->Buffer.FirstElement, desc->Buffer.NumElements, desc->Buffer.Flags}};
    return d3d_uav_create(d, r, &a, desc, out);
}

HRESULT d3d_uav_create(struct d3d_device *d, struct d3d_child *r,
                       const D3D11DDIARG_CREATEUNORDEREDACCESSVIEW *a,
                       const D3D11_UNORDERED_ACCESS_VIEW_DESC *desc, void **out)
{
    struct d3d_child *v =
        d3d_view_create(d, r, D3D_UAV, d->ddi.pfnCalcPrivateUnorderedAccessViewSize(d->drv, a));

    if (!v)
        return E_OUTOFMEMORY;
    v->desc.uav = *desc;
    DDI(d, pfnCreateUnorderedAccessView, a, DRV(D3D11DDI_HUNORDEREDACCESSVIEW, v),
        (D3D11DDI_HRTUNORDEREDACCESSVIEW){v});
    return d3d_child_finish(v, out);
}

void STDMETHODCALLTYPE d3d_uav_GetDesc(ID3D11UnorderedAccessView *This,
                                       D3D11_UNORDERED_ACCESS_VIEW_DESC *desc)
{
    *desc = ((struct d3d_child *)This)->desc.uav;
}

UINT d3d_uav_slots(const struct d3d_device *d)
{
    return d->level >= D3D_FEATURE_LEVEL_11_1 ? D3D_UAVS : D3D11_PS_CS_UAV_REGISTER_COUNT;
}

/* ---- of the context ----------------------------------------------------------- */

/* What a slot's hidden counter becomes; -1: it stays. */
static UINT initial(const struct d3d_child *v, const UINT *counts, UINT i)
{
    bool counts_up =
        v && v->of->kind == D3D_BUFFER &&
        v->desc.uav.Buffer.Flags & (D3D11_BUFFER_UAV_FLAG_APPEND | D3D11_BUFFER_UAV_FLAG_COUNTER);

    return counts_up && counts ? counts[i] : (UINT)-1;
}

void STDMETHODCALLTYPE d3d_context_CSSetUnorderedAccessViews(ID3D11DeviceContext *This, UINT first,
                                                             UINT count,
                                                             ID3D11UnorderedAccessView *const *views,
                                                             const UINT *initial_counts)
{
    struct d3d_context *c = (struct d3d_context *)This;
    D3D11DDI_HUNORDEREDACCESSVIEW drv[D3D_UAVS];
    UINT counts[D3D_UAVS];
    const UINT slots = d3d_uav_slots(c->device);

    if (first > slots || count > slots - first || !count || !views)
        return;
    for (UINT i = 0; i < count; i++) {
        struct d3d_child *v = (struct d3d_child *)views[i];

        d3d_child_bind(&c->uavs[first + i], v);
        drv[i] = DRV(D3D11DDI_HUNORDEREDACCESSVIEW, v);
        counts[i] = initial(v, initial_counts, i);
    }
    d3d_hazard_written(c);
    TELL(This, pfnCsSetUnorderedAccessViews, first, count, drv, counts);
}

/* Targets of another device are bound all the same, as on Windows, and nothing to the driver. */
static struct d3d_child *own(const struct d3d_context *c, struct d3d_child *view, UINT parameter)
{
    if (!d3d_foreign(c->device, view, parameter, "ID3D11DeviceContext::OMSetRenderTargets"))
        return view;
    d3d_child_abroad(view);
    return NULL;
}

/* Of the targets, and of what pixel shaders store to; `counts`: hidden counters. */
static void tell_targets(struct d3d_context *c, const UINT *counts)
{
    D3D10DDI_HRENDERTARGETVIEW targets[8];
    D3D11DDI_HUNORDEREDACCESSVIEW uavs[D3D_UAVS];
    UINT num_targets = 0, num_uavs = 0;
    const UINT slots = d3d_uav_slots(c->device);

    d3d_hazard_written(c);
    for (UINT i = 0; i < 8; i++) {
        const struct d3d_child *target = own(c, c->targets[i], 2);

        targets[i] = DRV(D3D10DDI_HRENDERTARGETVIEW, target);
        num_targets = target ? i + 1 : num_targets;
    }
    for (UINT i = 0; i < slots; i++) {
        uavs[i] = DRV(D3D11DDI_HUNORDEREDACCESSVIEW, c->pixel_uavs[i]);
        num_uavs = c->pixel_uavs[i] ? i + 1 : num_uavs;
    }
    TELL(c, pfnSetRenderTargets, targets, num_targets, 8 - num_targets,
         DRV(D3D10DDI_HDEPTHSTENCILVIEW, own(c, c->depth_view, 3)), uavs, counts, 0, num_uavs, 0, slots);
}

/* Views in other slots than these go; either half may stay as it is. */
void STDMETHODCALLTYPE d3d_context_OMSetRenderTargetsAndUnorderedAccessViews(
    ID3D11DeviceContext *This, UINT count, ID3D11RenderTargetView *const *views,
    ID3D11DepthStencilView *depth, UINT first_uav, UINT uav_count, ID3D11UnorderedAccessView *const *uavs,
    const UINT *initial_counts)
{
    struct d3d_context *c = (struct d3d_context *)This;
    bool targets = count != D3D11_KEEP_RENDER_TARGETS_AND_DEPTH_STENCIL,
         stores = uav_count != D3D11_KEEP_UNORDERED_ACCESS_VIEWS;
    UINT counts[D3D_UAVS];
    const UINT slots = d3d_uav_slots(c->device);

    if ((targets && count > 8) || (stores && (first_uav > slots || uav_count > slots - first_uav)))
        return;
    for (UINT i = 0; i < 8 && targets; i++)
        d3d_child_bind(&c->targets[i], i < count && views ? (struct d3d_child *)views[i] : NULL);
    if (targets)
        d3d_child_bind(&c->depth_view, (struct d3d_child *)depth);
    memset(counts, 0xFF, sizeof(counts));
    for (UINT i = 0; i < slots && stores; i++) {
        bool named = i >= first_uav && i - first_uav < uav_count && uavs;
        struct d3d_child *v = named ? (struct d3d_child *)uavs[i - first_uav] : NULL;

        d3d_child_bind(&c->pixel_uavs[i], v);
        if (named)
            counts[i] = initial(v, initial_counts, i - first_uav);
    }
    tell_targets(c, counts);
}

static bool is_integer(DXGI_FORMAT f)
{
    static const uint8_t integers[] = {3,  4,  7,  8,  12, 14, 17, 18, 25, 30, 32,
                                       36, 38, 42, 43, 50, 52, 57, 59, 62, 64};

    for (size_t i = 0; i < sizeof(integers); i++)
        if ((UINT)f == integers[i])
            return true;
    return false;
}

void STDMETHODCALLTYPE d3d_context_ClearUnorderedAccessViewUint(ID3D11DeviceContext *This,
                                                                ID3D11UnorderedAccessView *view,
                                                                const UINT values[4])
{
    UINT v[4];

    if (!view)
        return;
    memcpy(v, values, sizeof(v));
    TELL(This, pfnClearUnorderedAccessViewUint, DRV(D3D11DDI_HUNORDEREDACCESSVIEW, (struct d3d_child *)view),
         v);
}

/* Of what has no floats, nothing becomes of it. */
void STDMETHODCALLTYPE d3d_context_ClearUnorderedAccessViewFloat(ID3D11DeviceContext *This,
                                                                 ID3D11UnorderedAccessView *view,
                                                                 const FLOAT values[4])
{
    struct d3d_child *o = (struct d3d_child *)view;
    FLOAT v[4];

    if (!o || !o->desc.uav.Format || d3d_format_typeless(o->desc.uav.Format) ||
        is_integer(o->desc.uav.Format))
        return;
    memcpy(v, values, sizeof(v));
    TELL(This, pfnClearUnorderedAccessViewFloat, DRV(D3D11DDI_HUNORDEREDACCESSVIEW, o), v);
}

void STDMETHODCALLTYPE d3d_context_CopyStructureCount(ID3D11DeviceContext *This, ID3D11Buffer *dst,
                                                      UINT offset, ID3D11UnorderedAccessView *view)
{
    struct d3d_child *b = (struct d3d_child *)dst, *v = (struct d3d_child *)view;

    if (!b || !v || v->of->kind != D3D_BUFFER || offset & 3 || b->desc.buffer.ByteWidth < 4 ||
        offset > b->desc.buffer.ByteWidth - 4)
        return;
    TELL(This, pfnCopyStructureCount, DRV(D3D10DDI_HRESOURCE, b), offset,
         DRV(D3D11DDI_HUNORDEREDACCESSVIEW, v));
}

/* ---- streams ----------------------------------------------------------------- */

void STDMETHODCALLTYPE d3d_context_SOSetTargets(ID3D11DeviceContext *This, UINT count,
                                                ID3D11Buffer *const *buffers, const UINT *offsets)
{
    struct d3d_context *c = (struct d3d_context *)This;
    D3D10DDI_HRESOURCE drv[D3D_STREAMS];
    UINT at[D3D_STREAMS];

    if (count > D3D_STREAMS)
        return;
    for (UINT i = 0; i < D3D_STREAMS; i++) {
        struct d3d_child *b = i < count && buffers ? (struct d3d_child *)buffers[i] : NULL;

        if (b && !(b->desc.buffer.BindFlags & D3D11_BIND_STREAM_OUTPUT))
            b = NULL;
        d3d_child_bind(&c->streams[i], b);
        drv[i] = DRV(D3D10DDI_HRESOURCE, b);
        at[i] = b && offsets ? offsets[i] : 0;
    }
    TELL(This, pfnSoSetTargets, D3D_STREAMS, 0, drv, at);
}

void STDMETHODCALLTYPE d3d_context_DrawAuto(ID3D11DeviceContext *This)
{
    TELL(This, pfnDrawAuto);
}

/* ---- numbers in buffers -------------------------------------------------------- */

/* A buffer of such numbers, as many bytes from the offset on. */
static bool arguments(const struct d3d_child *b, UINT offset, UINT size)
{
    return b && b->kind == D3D_BUFFER && b->desc.buffer.MiscFlags & D3D11_RESOURCE_MISC_DRAWINDIRECT_ARGS &&
           !(offset & 3) && b->desc.buffer.ByteWidth >= size && offset <= b->desc.buffer.ByteWidth - size;
}

void STDMETHODCALLTYPE d3d_context_DrawInstancedIndirect(ID3D11DeviceContext *This, ID3D11Buffer *buffer,
                                                         UINT offset)
{
    struct d3d_child *b = (struct d3d_child *)buffer;

    if (arguments(b, offset, 16))
        TELL(This, pfnDrawInstancedIndirect, DRV(D3D10DDI_HRESOURCE, b), offset);
}

void STDMETHODCALLTYPE d3d_context_DrawIndexedInstancedIndirect(ID3D11DeviceContext *This,
                                                                ID3D11Buffer *buffer, UINT offset)
{
    struct d3d_child *b = (struct d3d_child *)buffer;

    if (arguments(b, offset, 20))
        TELL(This, pfnDrawIndexedInstancedIndirect, DRV(D3D10DDI_HRESOURCE, b), offset);
}

void STDMETHODCALLTYPE d3d_context_DispatchIndirect(ID3D11DeviceContext *This, ID3D11Buffer *buffer,
                                                    UINT offset)
{
    struct d3d_child *b = (struct d3d_child *)buffer;

    if (arguments(b, offset, 12))
        TELL(This, pfnDispatchIndirect, DRV(D3D10DDI_HRESOURCE, b), offset);
}

/* Of a resource that was made for it. */
void STDMETHODCALLTYPE d3d_context_SetResourceMinLOD(ID3D11DeviceContext *This, ID3D11Resource *resource,
                                                     FLOAT lod)
{
    struct d3d_child *r = (struct d3d_child *)resource;

    if (r && r->kind != D3D_BUFFER && r->desc.texture.MiscFlags & D3D11_RESOURCE_MISC_RESOURCE_CLAMP) {
        r->min_lod = lod;
        TELL(This, pfnSetResourceMinLOD, DRV(D3D10DDI_HRESOURCE, r), lod);
    }
}
