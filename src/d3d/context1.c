/* SPDX-License-Identifier: MIT */
/* context1.c: what Direct3D 11.1 has of contexts beside 11.0: parts of constant buffers, parts of views that are cleared, contents that are
 * not needed any more. */
#include "d3d/tables.h"
#include "d3d/d3d.h"

/* ---- constant buffers --------------------------------------------------------- */

/* Either none or all have a range, of whole 16 constants; what the driver cannot do is not done. */
static bool ranges_valid(const struct d3d_context *c, UINT count, const UINT *first, const UINT *constants)
{
    if (!first && !constants)
        return true;
    if (!first || !constants || !c->device->eleven_one)
        return false;
    for (UINT i = 0; i < count; i++)
        if (first[i] % 16 || constants[i] % 16 || constants[i] > D3D_MOST_CONSTANTS)
            return false;
    return true;
}

/* Binds them; false: nothing is to be told. */
static bool bind_constants(struct d3d_context *c, int stage, UINT first, UINT count,
                           ID3D11Buffer *const *buffers, const UINT *from, const UINT *constants,
                           D3D10DDI_HRESOURCE *drv)
{
    if (first > D3D_CONSTANTS || count > D3D_CONSTANTS - first || !count || !buffers ||
        !ranges_valid(c, count, from, constants))
        return false;
    for (UINT i = 0; i < count; i++) {
        struct d3d_child *b = (struct d3d_child *)buffers[i];

        d3d_child_bind(&c->constants[stage][first + i], b);
        c->first_constants[stage][first + i] = from ? from[i] : 0;
        c->num_constants[stage][first + i] = constants ? constants[i] : D3D_MOST_CONSTANTS;
        drv[i] = DRV(D3D10DDI_HRESOURCE, b);
    }
    return true;
}

static void get_constants(struct d3d_context *c, int stage, UINT first, UINT count, ID3D11Buffer **buffers,
                          UINT *from, UINT *constants)
{
    for (UINT i = 0; i < count; i++) {
        const bool there = first < D3D_CONSTANTS && i < D3D_CONSTANTS - first;
        struct d3d_child *b = there ? c->constants[stage][first + i] : NULL;

        if (buffers) {
            buffers[i] = (ID3D11Buffer *)b;
            if (b)
                d3d_child_AddRef(b);
        }
        if (from)
            from[i] = there ? c->first_constants[stage][first + i] : 0;
        if (constants)
            constants[i] = there ? c->num_constants[stage][first + i] : D3D_MOST_CONSTANTS;
    }
}

/* gen.py knows what this makes. */
#define CONSTANT_BUFFERS(prefix, stage, Stage)                                                               \
    void STDMETHODCALLTYPE prefix##SetConstantBuffers(ID3D11DeviceContext *This, UINT first, UINT count,     \
                                                      ID3D11Buffer *const *buffers)                          \
    {                                                                                                        \
        D3D10DDI_HRESOURCE drv[D3D_CONSTANTS];                                                               \
                                                                                                             \
        if (bind_constants((struct d3d_context *)This, stage, first, count, buffers, NULL, NULL, drv))       \
            TELL(This, pfn##Stage##SetConstantBuffers, first, count, drv, NULL, NULL);                       \
    }                                                                                                        \
    void STDMETHODCALLTYPE prefix##SetConstantBuffers1(ID3D11DeviceContext1 *This, UINT first, UINT count,   \
                                                       ID3D11Buffer *const *buffers, const UINT *from,       \
                                                       const UINT *constants)                                \
    {                                                                                                        \
        D3D10DDI_HRESOURCE drv[D3D_CONSTANTS];                                                               \
                                                                                                             \
        if (bind_constants((struct d3d_context *)This, stage, first, count, buffers, from, constants, drv))  \
            TELL(This, pfn##Stage##SetConstantBuffers, first, count, drv, from, constants);                  \
    }                                                                                                        \
    void STDMETHODCALLTYPE prefix##GetConstantBuffers1(ID3D11DeviceContext1 *This, UINT first, UINT count,   \
                                                       ID3D11Buffer **buffers, UINT *from, UINT *constants)  \
    {                                                                                                        \
        get_constants((struct d3d_context *)This, stage, first, count, buffers, from, constants);            \
    }
CONSTANT_BUFFERS(d3d_context_VS, D3D_VS, Vs)
CONSTANT_BUFFERS(d3d_context_PS, D3D_PS, Ps)
CONSTANT_BUFFERS(d3d_context_GS, D3D_GS, Gs)
CONSTANT_BUFFERS(d3d_context_HS, D3D_HS, Hs)
CONSTANT_BUFFERS(d3d_context_DS, D3D_DS, Ds)
CONSTANT_BUFFERS(d3d_context_CS, D3D_CS, Cs)

/* ---- copies: the flags are hints, of which a driver hears none here ------------ */

static bool flags_valid(UINT flags)
{
    return flags == 0 || flags == D3D11_COPY_NO_OVERWRITE || flags == D3D11_COPY_DISCARD;
}

void STDMETHODCALLTYPE d3d_context_CopySubresourceRegion1(ID3D11DeviceContext1 *This, ID3D11Resource *dst,
                                                          UINT dst_index, UINT x, UINT y, UINT z,
                                                          ID3D11Resource *src, UINT src_index,
                                                          const D3D11_BOX *box, UINT flags)
{
    if (flags_valid(flags))
        ID3D11DeviceContext1_CopySubresourceRegion(This, dst, dst_index, x, y, z, src, src_index, box);
}

void STDMETHODCALLTYPE d3d_context_UpdateSubresource1(ID3D11DeviceContext1 *This, ID3D11Resource *dst,
                                                      UINT index, const D3D11_BOX *box, const void *data,
                                                      UINT row_pitch, UINT depth_pitch, UINT flags)
{
    if (flags_valid(flags))
        ID3D11DeviceContext1_UpdateSubresource(This, dst, index, box, data, row_pitch, depth_pitch);
}

/* A deferred context records what these call. */
void STDMETHODCALLTYPE d3d_deferred_CopySubresourceRegion1(ID3D11DeviceContext1 *This, ID3D11Resource *dst,
                                                           UINT dst_index, UINT x, UINT y, UINT z,
                                                           ID3D11Resource *src, UINT src_index,
                                                           const D3D11_BOX *box, UINT flags)
{
    d3d_context_CopySubresourceRegion1(This, dst, dst_index, x, y, z, src, src_index, box, flags);
}

void STDMETHODCALLTYPE d3d_deferred_UpdateSubresource1(ID3D11DeviceContext1 *This, ID3D11Resource *dst,
                                                       UINT index, const D3D11_BOX *box, const void *data,
                                                       UINT row_pitch, UINT depth_pitch, UINT flags)
{
    d3d_context_UpdateSubresource1(This, dst, index, box, data, row_pitch, depth_pitch, flags);
}

/* ---- contents ------------------------------------------------------------------- */

static D3D11DDI_HANDLETYPE handle_type(const struct d3d_child *c)
{
    return c->kind == D3D_SRV   ? D3D10DDI_HT_SHADERRESOURCEVIEW
           : c->kind == D3D_RTV ? D3D10DDI_HT_RENDERTARGETVIEW
           : c->kind == D3D_DSV ? D3D10DDI_HT_DEPTHSTENCILVIEW
           : c->kind == D3D_UAV ? D3D11DDI_HT_UNORDEREDACCESSVIEW
                                : D3D10DDI_HT_RESOURCE;
}

/* Parts of a view, or all of it: no parts that are given are none, and more than the list of a deferred context keeps are gone. */
static bool has_parts(const D3D11_RECT *rects, UINT count)
{
    return rects ? count != 0 : count <= D3D_KEPT;
}

void STDMETHODCALLTYPE d3d_context_DiscardResource(ID3D11DeviceContext1 *This, ID3D11Resource *resource)
{
    struct d3d_child *r = (struct d3d_child *)resource;

    if (r)
        TELL(This, pfnDiscard, D3D10DDI_HT_RESOURCE, r->drv, NULL, 0);
}

void STDMETHODCALLTYPE d3d_context_DiscardView1(ID3D11DeviceContext1 *This, ID3D11View *view,
                                                const D3D11_RECT *rects, UINT count)
{
    struct d3d_child *v = (struct d3d_child *)view;

    if (v && has_parts(rects, count))
        TELL(This, pfnDiscard, handle_type(v), v->drv, (const D3D10_DDI_RECT *)rects, rects ? count : 0);
}

void STDMETHODCALLTYPE d3d_context_DiscardView(ID3D11DeviceContext1 *This, ID3D11View *view)
{
    struct d3d_child *v = (struct d3d_child *)view;

    if (v)
        TELL(This, pfnDiscard, handle_type(v), v->drv, NULL, 0);
}

/* Of targets, and of what shaders write to that has a format. */
void STDMETHODCALLTYPE d3d_context_ClearView(ID3D11DeviceContext1 *This, ID3D11View *view,
                                             const FLOAT colour[4], const D3D11_RECT *rects, UINT count)
{
    struct d3d_child *v = (struct d3d_child *)view;
    FLOAT c[4];

    if (!v || !colour || !has_parts(rects, count) || (v->kind != D3D_RTV && v->kind != D3D_UAV) ||
        (v->kind == D3D_UAV && (!v->desc.uav.Format || d3d_format_typeless(v->desc.uav.Format))))
        return;
    memcpy(c, colour, sizeof(c));
    TELL(This, pfnClearView, handle_type(v), v->drv, c, (const D3D10_DDI_RECT *)rects, rects ? count : 0);
}
