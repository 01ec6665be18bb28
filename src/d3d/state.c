/* SPDX-License-Identifier: MIT */
/* state.c: state objects: which descriptions Direct3D takes, and what a driver is told of them.
 *
 * As in Direct3D, a member that another one switches off may hold anything: programs leave it zero.
 */
#include "d3d/tables.h"
#include "d3d/d3d.h"

#include <math.h>

/* ---- what a description may say ---------------------------------------------- */

static bool within(UINT value, UINT first, UINT last)
{
    return value >= first && value <= last;
}

static bool raster_valid(const D3D11_RASTERIZER_DESC *r)
{
    return within(r->FillMode, D3D11_FILL_WIREFRAME, D3D11_FILL_SOLID) &&
           within(r->CullMode, D3D11_CULL_NONE, D3D11_CULL_BACK) && !isnan(r->DepthBiasClamp) &&
           !isnan(r->SlopeScaledDepthBias);
}

static bool sampler_valid(const D3D11_SAMPLER_DESC *s)
{
    const UINT linear = D3D11_FILTER_MIN_MAG_MIP_LINEAR, comparison = 0x80;
    UINT filter = s->Filter & ~comparison;
    bool anisotropic = filter == D3D11_FILTER_ANISOTROPIC;

    return (anisotropic || !(filter & ~linear)) && (!anisotropic || within(s->MaxAnisotropy, 1, 16)) &&
           within(s->AddressU, D3D11_TEXTURE_ADDRESS_WRAP, D3D11_TEXTURE_ADDRESS_MIRROR_ONCE) &&
           within(s->AddressV, D3D11_TEXTURE_ADDRESS_WRAP, D3D11_TEXTURE_ADDRESS_MIRROR_ONCE) &&
           within(s->AddressW, D3D11_TEXTURE_ADDRESS_WRAP, D3D11_TEXTURE_ADDRESS_MIRROR_ONCE) &&
           (!(s->Filter & comparison) ||
            within(s->ComparisonFunc, D3D11_COMPARISON_NEVER, D3D11_COMPARISON_ALWAYS)) &&
           s->MipLODBias >= -16 && s->MipLODBias <= 15.99f && !isnan(s->MinLOD) && !isnan(s->MaxLOD);
}

/* A factor that there is: for alpha, none of colour. */
static bool factor_valid(UINT factor, bool alpha)
{
    bool colour = within(factor, D3D11_BLEND_SRC_COLOR, D3D11_BLEND_INV_SRC_COLOR) ||
                  within(factor, D3D11_BLEND_DEST_COLOR, D3D11_BLEND_INV_DEST_COLOR) ||
                  within(factor, D3D11_BLEND_SRC1_COLOR, D3D11_BLEND_INV_SRC1_COLOR);

    return (within(factor, D3D11_BLEND_ZERO, D3D11_BLEND_SRC_ALPHA_SAT) ||
            within(factor, D3D11_BLEND_BLEND_FACTOR, D3D11_BLEND_INV_SRC1_ALPHA)) &&
           !(alpha && colour);
}

static bool blend_valid(const D3D11_BLEND_DESC *b)
{
    for (int i = 0; i < (b->IndependentBlendEnable ? 8 : 1); i++) {
        const D3D11_RENDER_TARGET_BLEND_DESC *t = &b->RenderTarget[i];

        if (t->RenderTargetWriteMask > D3D11_COLOR_WRITE_ENABLE_ALL)
            return false;
        if (t->BlendEnable &&
            !(factor_valid(t->SrcBlend, false) && factor_valid(t->DestBlend, false) &&
              factor_valid(t->SrcBlendAlpha, true) && factor_valid(t->DestBlendAlpha, true) &&
              within(t->BlendOp, D3D11_BLEND_OP_ADD, D3D11_BLEND_OP_MAX) &&
              within(t->BlendOpAlpha, D3D11_BLEND_OP_ADD, D3D11_BLEND_OP_MAX)))
            return false;
    }
    return true;
}

static bool face_valid(const D3D11_DEPTH_STENCILOP_DESC *f)
{
    return within(f->StencilFailOp, D3D11_STENCIL_OP_KEEP, D3D11_STENCIL_OP_DECR) &&
           within(f->StencilDepthFailOp, D3D11_STENCIL_OP_KEEP, D3D11_STENCIL_OP_DECR) &&
           within(f->StencilPassOp, D3D11_STENCIL_OP_KEEP, D3D11_STENCIL_OP_DECR) &&
           within(f->StencilFunc, D3D11_COMPARISON_NEVER, D3D11_COMPARISON_ALWAYS);
}

static bool depth_valid(const D3D11_DEPTH_STENCIL_DESC *s)
{
    if (s->DepthEnable &&
        !(within(s->DepthWriteMask, D3D11_DEPTH_WRITE_MASK_ZERO, D3D11_DEPTH_WRITE_MASK_ALL) &&
          within(s->DepthFunc, D3D11_COMPARISON_NEVER, D3D11_COMPARISON_ALWAYS)))
        return false;
    return !s->StencilEnable || (face_valid(&s->FrontFace) && face_valid(&s->BackFace));
}

/* ---- what it then says: members that are switched off, as Direct3D has them; and no byte between members, so that equal ones are
 * equal bytes ------- */

static void raster_usual(D3D11_RASTERIZER_DESC *r)
{
}

static void sampler_usual(D3D11_SAMPLER_DESC *s)
{
    const UINT comparison = 0x80;

    if ((s->Filter & ~comparison) != D3D11_FILTER_ANISOTROPIC)
        s->MaxAnisotropy = 0;
    if (!(s->Filter & comparison))
        s->ComparisonFunc = D3D11_COMPARISON_NEVER;
    if (s->AddressU != D3D11_TEXTURE_ADDRESS_BORDER && s->AddressV != D3D11_TEXTURE_ADDRESS_BORDER &&
        s->AddressW != D3D11_TEXTURE_ADDRESS_BORDER)
        memset(s->BorderColor, 0, sizeof(s->BorderColor));
}

static void blend_usual(D3D11_BLEND_DESC *b)
{
    static const D3D11_RENDER_TARGET_BLEND_DESC off = {
        FALSE,           D3D11_BLEND_ONE,  D3D11_BLEND_ZERO,   D3D11_BLEND_OP_ADD,
        D3D11_BLEND_ONE, D3D11_BLEND_ZERO, D3D11_BLEND_OP_ADD, 0};
    const D3D11_BLEND_DESC given = *b;

    memset(b, 0, sizeof(*b));
    b->AlphaToCoverageEnable = given.AlphaToCoverageEnable;
    b->IndependentBlendEnable = given.IndependentBlendEnable;
    for (int i = 0; i < 8; i++) {
        const D3D11_RENDER_TARGET_BLEND_DESC *own = &given.RenderTarget[given.IndependentBlendEnable ? i : 0],
                                             *from = own->BlendEnable ? own : &off;
        D3D11_RENDER_TARGET_BLEND_DESC *t = &b->RenderTarget[i];

        t->BlendEnable = from->BlendEnable;
        t->SrcBlend = from->SrcBlend;
        t->DestBlend = from->DestBlend;
        t->BlendOp = from->BlendOp;
        t->SrcBlendAlpha = from->SrcBlendAlpha;
        t->DestBlendAlpha = from->DestBlendAlpha;
        t->BlendOpAlpha = from->BlendOpAlpha;
        t->RenderTargetWriteMask = own->RenderTargetWriteMask;
    }
}

static void depth_usual(D3D11_DEPTH_STENCIL_DESC *s)
{
    const D3D11_DEPTH_STENCIL_DESC given = *s;

    memset(s, 0, sizeof(*s));
    s->DepthEnable = given.DepthEnable;
    s->DepthWriteMask = given.DepthWriteMask;
    s->DepthFunc = given.DepthFunc;
    s->StencilEnable = given.StencilEnable;
    s->StencilReadMask = given.StencilReadMask;
    s->StencilWriteMask = given.StencilWriteMask;
    s->FrontFace = given.FrontFace;
    s->BackFace = given.BackFace;
    if (!s->DepthEnable) {
        s->DepthWriteMask = D3D11_DEPTH_WRITE_MASK_ALL;
        s->DepthFunc = D3D11_COMPARISON_LESS;
    }
    if (!s->StencilEnable) {
        s->StencilReadMask = s->StencilWriteMask = 255;
        s->FrontFace = s->BackFace = (D3D11_DEPTH_STENCILOP_DESC){
            D3D11_STENCIL_OP_KEEP, D3D11_STENCIL_OP_KEEP, D3D11_STENCIL_OP_KEEP, D3D11_COMPARISON_ALWAYS};
    }
}

/* ---- creating ---------------------------------------------------------------- */

static HRESULT state_finish(struct d3d_child *c, void **out)
{
    HRESULT hr = d3d_child_finish(c, out);

    if (hr == S_OK)
        d3d_state_add(c);
    return hr;
}

/* A state object: `desc` is both its description and the driver's, whose structs have the same layout. */
#define STATE(method, iface, DESC, member, KIND, Ddi, ddi_type, handle, rt)                                  \
    _Static_assert(sizeof(DESC) == sizeof(ddi_type), "the interface's structs are the API's");               \
    HRESULT STDMETHODCALLTYPE method(ID3D11Device *This, const DESC *desc, iface **out)                      \
    {                                                                                                        \
        struct d3d_device *d = (struct d3d_device *)This;                                                    \
        DESC usual;                                                                                          \
        const ddi_type *a = (const ddi_type *)&usual;                                                        \
        HRESULT hr = E_OUTOFMEMORY;                                                                          \
        struct d3d_child *c;                                                                                 \
                                                                                                             \
        if (out)                                                                                             \
            *out = NULL;                                                                                     \
        if (!desc || !member##_valid(desc))                                                                  \
            return E_INVALIDARG;                                                                             \
        if (!out)                                                                                            \
            return S_FALSE;                                                                                  \
        usual = *desc;                                                                                       \
        member##_usual(&usual);                                                                              \
        pthread_mutex_lock(&d->states_lock);                                                                 \
        *out = (iface *)d3d_state_find(d, KIND, &usual, sizeof(usual));                                      \
        c = *out ? NULL : d3d_child_create(d, KIND, d->ddi.pfnCalcPrivate##Ddi##Size(d->drv, a));            \
        if (c) {                                                                                             \
            memcpy(&c->desc, &usual, sizeof(usual));                                                         \
            DDI(d, pfnCreate##Ddi, a, DRV(handle, c), (rt){c});                                              \
            hr = state_finish(c, (void **)out);                                                              \
        }                                                                                                    \
        pthread_mutex_unlock(&d->states_lock);                                                               \
        return *out ? S_OK : hr;                                                                             \
    }
STATE(d3d_device_CreateRasterizerState, ID3D11RasterizerState, D3D11_RASTERIZER_DESC, raster, D3D_RASTER,
      RasterizerState, D3D10_DDI_RASTERIZER_DESC, D3D10DDI_HRASTERIZERSTATE, D3D10DDI_HRTRASTERIZERSTATE)
STATE(d3d_device_CreateSamplerState, ID3D11SamplerState, D3D11_SAMPLER_DESC, sampler, D3D_SAMPLER, Sampler,
      D3D10_DDI_SAMPLER_DESC, D3D10DDI_HSAMPLER, D3D10DDI_HRTSAMPLER)
STATE(d3d_device_CreateBlendState, ID3D11BlendState, D3D11_BLEND_DESC, blend, D3D_BLEND, BlendState,
      D3D10_1_DDI_BLEND_DESC, D3D10DDI_HBLENDSTATE, D3D10DDI_HRTBLENDSTATE)

HRESULT STDMETHODCALLTYPE d3d_device_CreateDepthStencilState(ID3D11Device *This,
                                                             const D3D11_DEPTH_STENCIL_DESC *given,
                                                             ID3D11DepthStencilState **out)
{
    D3D11_DEPTH_STENCIL_DESC usual, *desc = &usual;
    struct d3d_device *d = (struct d3d_device *)This;
    D3D10_DDI_DEPTH_STENCIL_DESC a;
    HRESULT hr = E_OUTOFMEMORY;
    struct d3d_child *c;

    if (out)
        *out = NULL;
    if (!given || !depth_valid(given))
        return E_INVALIDARG;
    if (!out)
        return S_FALSE;
    usual = *given;
    depth_usual(&usual);
    a = (D3D10_DDI_DEPTH_STENCIL_DESC){.DepthEnable = desc->DepthEnable,
                                       .DepthWriteMask = desc->DepthWriteMask,
                                       .DepthFunc = desc->DepthFunc,
                                       .StencilEnable = desc->StencilEnable,
                                       .FrontEnable = TRUE,
                                       .BackEnable = TRUE,
                                       .StencilReadMask = desc->StencilReadMask,
                                       .StencilWriteMask = desc->StencilWriteMask};
    memcpy(&a.FrontFace, &desc->FrontFace, sizeof(a.FrontFace));
    memcpy(&a.BackFace, &desc->BackFace, sizeof(a.BackFace));
    pthread_mutex_lock(&d->states_lock);
    *out = (ID3D11DepthStencilState *)d3d_state_find(d, D3D_DEPTH, desc, sizeof(*desc));
    c = *out ? NULL : d3d_child_create(d, D3D_DEPTH, d->ddi.pfnCalcPrivateDepthStencilStateSize(d->drv, &a));
    if (c) {
        memcpy(&c->desc, desc, sizeof(*desc));
        DDI(d, pfnCreateDepthStencilState, &a, DRV(D3D10DDI_HDEPTHSTENCILSTATE, c),
            (D3D10DDI_HRTDEPTHSTENCILSTATE){c});
        hr = state_finish(c, (void **)out);
    }
    pthread_mutex_unlock(&d->states_lock);
    return *out ? S_OK : hr;
}

#define GET_DESC(method, iface, DESC, member)                                                                \
    void STDMETHODCALLTYPE method(iface *This, DESC *desc)                                                   \
    {                                                                                                        \
        *desc = ((struct d3d_child *)This)->desc.member;                                                     \
    }
GET_DESC(d3d_blend_GetDesc, ID3D11BlendState, D3D11_BLEND_DESC, blend)
GET_DESC(d3d_depth_GetDesc, ID3D11DepthStencilState, D3D11_DEPTH_STENCIL_DESC, depth)
GET_DESC(d3d_raster_GetDesc, ID3D11RasterizerState, D3D11_RASTERIZER_DESC, raster)
GET_DESC(d3d_sampler_GetDesc, ID3D11SamplerState, D3D11_SAMPLER_DESC, sampler)
