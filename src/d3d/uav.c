/* SPDX-License-Identifier: MIT */
/* uav.c: views of buffers for compute shaders: which there can be on feature level 10_0 (raw and structured ones), and where they
 * are bound. Views of textures for unordered access are feature level 11_0's. */
#include "d3d/tables.h"
#include "d3d/d3d.h"

HRESULT STDMETHODCALLTYPE d3d_device_CreateUnorderedAccessView(ID3D11Device *This, ID3D11Resource *resource,
                                                               const D3D11_UNORDERED_ACCESS_VIEW_DESC *desc,
                                                               ID3D11UnorderedAccessView **out)
{
    enum { COUNTS = D3D11_BUFFER_UAV_FLAG_APPEND | D3D11_BUFFER_UAV_FLAG_COUNTER };
    struct d3d_device *d = (struct d3d_device *)This;
    struct d3d_child *r = (struct d3d_child *)resource, *v;
    D3D11_UNORDERED_ACCESS_VIEW_DESC whole = {.ViewDimension = D3D11_UAV_DIMENSION_BUFFER};
    D3D11DDIARG_CREATEUNORDEREDACCESSVIEW a;

    if (out)
        *out = NULL;
    if (!r || r->device != d || r->kind != D3D_BUFFER ||
        !(r->desc.buffer.BindFlags & D3D11_BIND_UNORDERED_ACCESS))
        return E_INVALIDARG;
    if (!desc && r->desc.buffer.StructureByteStride)
        whole.Buffer.NumElements = r->desc.buffer.ByteWidth / r->desc.buffer.StructureByteStride;
    if (!desc)
        desc = &whole;
    if (desc->ViewDimension != D3D11_UAV_DIMENSION_BUFFER ||
        desc->Buffer.Flags & ~(UINT)(D3D11_BUFFER_UAV_FLAG_RAW | COUNTS) ||
        (desc->Buffer.Flags & D3D11_BUFFER_UAV_FLAG_RAW && desc->Buffer.Flags & COUNTS) ||
        !(desc->Buffer.Flags & D3D11_BUFFER_UAV_FLAG_RAW || r->desc.buffer.StructureByteStride) ||
        !d3d_buffer_range(r, desc->Format, desc->Buffer.Flags & D3D11_BUFFER_UAV_FLAG_RAW,
                          desc->Buffer.FirstElement, desc->Buffer.NumElements))
        return E_INVALIDARG;
    if (!out)
        return S_FALSE;
    a = (D3D11DDIARG_CREATEUNORDEREDACCESSVIEW){
        .hDrvResource = DRV(D3D10DDI_HRESOURCE, r),
        .Format = desc->Format,
        .ResourceDimension = D3D10DDIRESOURCE_BUFFER,
        .Buffer = {desc->Buffer.FirstElement, desc->Buffer.NumElements, desc->Buffer.Flags}};
    v = d3d_view_create(d, r, D3D_UAV, d->ddi.pfnCalcPrivateUnorderedAccessViewSize(d->drv, &a));
    if (!v)
        return E_OUTOFMEMORY;
    v->desc.uav = *desc;
    DDI(d, pfnCreateUnorderedAccessView, &a, DRV(D3D11DDI_HUNORDEREDACCESSVIEW, v),
        (D3D11DDI_HRTUNORDEREDACCESSVIEW){v});
    return d3d_child_finish(v, (void **)out);
}

void STDMETHODCALLTYPE d3d_uav_GetDesc(ID3D11UnorderedAccessView *This,
                                       D3D11_UNORDERED_ACCESS_VIEW_DESC *desc)
{
    *desc = ((struct d3d_child *)This)->desc.uav;
}

/* ---- of the context ----------------------------------------------------------- */

void STDMETHODCALLTYPE d3d_context_CSSetUnorderedAccessViews(ID3D11DeviceContext *This, UINT first,
                                                             UINT count,
                                                             ID3D11UnorderedAccessView *const *views,
                                                             const UINT *initial_counts)
{
    struct d3d_context *c = (struct d3d_context *)This;
    D3D11DDI_HUNORDEREDACCESSVIEW drv[D3D_UAVS];
    UINT counts[D3D_UAVS];

    if (first > D3D_UAVS || count > D3D_UAVS - first || !count || !views)
        return;
    for (UINT i = 0; i < count; i++) {
        struct d3d_child *v = (struct d3d_child *)views[i];
        bool counts_up =
            v && v->desc.uav.Buffer.Flags & (D3D11_BUFFER_UAV_FLAG_APPEND | D3D11_BUFFER_UAV_FLAG_COUNTER);

        d3d_child_bind(&c->uavs[first + i], v);
        drv[i] = DRV(D3D11DDI_HUNORDEREDACCESSVIEW, v);
        counts[i] = counts_up && initial_counts ? initial_counts[i] : (UINT)-1;
    }
    TELL(This, pfnCsSetUnorderedAccessViews, first, count, drv, counts);
}

/* On feature level 10_0 no pixel shader has such views. */
void STDMETHODCALLTYPE d3d_context_OMSetRenderTargetsAndUnorderedAccessViews(
    ID3D11DeviceContext *This, UINT count, ID3D11RenderTargetView *const *views,
    ID3D11DepthStencilView *depth, UINT first_uav, UINT uav_count, ID3D11UnorderedAccessView *const *uavs,
    const UINT *initial_counts)
{
    if (count != D3D11_KEEP_RENDER_TARGETS_AND_DEPTH_STENCIL)
        d3d_context_OMSetRenderTargets(This, count, views, depth);
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
