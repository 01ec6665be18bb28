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

/* Each answers the message of the first member that is wrong; 0: none is. */
static D3D11_MESSAGE_ID raster_wrong(const D3D11_RASTERIZER_DESC1 *r)
{
    if (r->ForcedSampleCount > 16 || r->ForcedSampleCount & (r->ForcedSampleCount - 1))
        return D3D11_MESSAGE_ID_CREATERASTERIZERSTATE_INVALIDFORCEDSAMPLECOUNT;
    if (!within(r->FillMode, D3D11_FILL_WIREFRAME, D3D11_FILL_SOLID))
        return D3D11_MESSAGE_ID_CREATERASTERIZERSTATE_INVALIDFILLMODE;
    if (!within(r->CullMode, D3D11_CULL_NONE, D3D11_CULL_BACK))
        return D3D11_MESSAGE_ID_CREATERASTERIZERSTATE_INVALIDCULLMODE;
    if (isnan(r->DepthBiasClamp))
        return D3D11_MESSAGE_ID_CREATERASTERIZERSTATE_INVALIDDEPTHBIASCLAMP;
    return isnan(r->SlopeScaledDepthBias) ? D3D11_MESSAGE_ID_CREATERASTERIZERSTATE_INVALIDSLOPESCALEDDEPTHBIAS
                                          : 0;
}

static D3D11_MESSAGE_ID sampler_wrong(const D3D11_SAMPLER_DESC *s)
{
    const UINT linear = D3D11_FILTER_MIN_MAG_MIP_LINEAR, comparison = 0x80;
    UINT filter = s->Filter & ~comparison;
    bool anisotropic = filter == D3D11_FILTER_ANISOTROPIC;

    if (!anisotropic && filter & ~linear)
        return D3D11_MESSAGE_ID_CREATESAMPLERSTATE_INVALIDFILTER;
    if (!within(s->AddressU, D3D11_TEXTURE_ADDRESS_WRAP, D3D11_TEXTURE_ADDRESS_MIRROR_ONCE))
        return D3D11_MESSAGE_ID_CREATESAMPLERSTATE_INVALIDADDRESSU;
    if (!within(s->AddressV, D3D11_TEXTURE_ADDRESS_WRAP, D3D11_TEXTURE_ADDRESS_MIRROR_ONCE))
        return D3D11_MESSAGE_ID_CREATESAMPLERSTATE_INVALIDADDRESSV;
    if (!within(s->AddressW, D3D11_TEXTURE_ADDRESS_WRAP, D3D11_TEXTURE_ADDRESS_MIRROR_ONCE))
        return D3D11_MESSAGE_ID_CREATESAMPLERSTATE_INVALIDADDRESSW;
    if (!(s->MipLODBias >= -16 && s->MipLODBias <= 15.99f))
        return D3D11_MESSAGE_ID_CREATESAMPLERSTATE_INVALIDMIPLODBIAS;
    if (anisotropic && !within(s->MaxAnisotropy, 1, 16))
        return D3D11_MESSAGE_ID_CREATESAMPLERSTATE_INVALIDMAXANISOTROPY;
    if (s->Filter & comparison && !within(s->ComparisonFunc, D3D11_COMPARISON_NEVER, D3D11_COMPARISON_ALWAYS))
        return D3D11_MESSAGE_ID_CREATESAMPLERSTATE_INVALIDCOMPARISONFUNC;
    if (isnan(s->MinLOD))
        return D3D11_MESSAGE_ID_CREATESAMPLERSTATE_INVALIDMINLOD;
    return isnan(s->MaxLOD) ? D3D11_MESSAGE_ID_CREATESAMPLERSTATE_INVALIDMAXLOD : 0;
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

static D3D11_MESSAGE_ID blend_wrong(const D3D11_BLEND_DESC1 *b)
{
    for (int i = 0; i < (b->IndependentBlendEnable ? 8 : 1); i++) {
        const D3D11_RENDER_TARGET_BLEND_DESC1 *t = &b->RenderTarget[i];

        if (t->LogicOpEnable && (b->IndependentBlendEnable || t->BlendEnable))
            return D3D11_MESSAGE_ID_CREATEBLENDSTATE_INVALIDLOGICOPS;
        if (t->LogicOpEnable && !within(t->LogicOp, D3D11_LOGIC_OP_CLEAR, D3D11_LOGIC_OP_OR_INVERTED))
            return D3D11_MESSAGE_ID_CREATEBLENDSTATE_INVALIDLOGICOPS;

        if (t->RenderTargetWriteMask > D3D11_COLOR_WRITE_ENABLE_ALL)
            return D3D11_MESSAGE_ID_CREATEBLENDSTATE_INVALIDRENDERTARGETWRITEMASK;
        if (!t->BlendEnable)
            continue;
        if (!factor_valid(t->SrcBlend, false))
            return D3D11_MESSAGE_ID_CREATEBLENDSTATE_INVALIDSRCBLEND;
        if (!factor_valid(t->DestBlend, false))
            return D3D11_MESSAGE_ID_CREATEBLENDSTATE_INVALIDDESTBLEND;
        if (!within(t->BlendOp, D3D11_BLEND_OP_ADD, D3D11_BLEND_OP_MAX))
            return D3D11_MESSAGE_ID_CREATEBLENDSTATE_INVALIDBLENDOP;
        if (!factor_valid(t->SrcBlendAlpha, true))
            return D3D11_MESSAGE_ID_CREATEBLENDSTATE_INVALIDSRCBLENDALPHA;
        if (!factor_valid(t->DestBlendAlpha, true))
            return D3D11_MESSAGE_ID_CREATEBLENDSTATE_INVALIDDESTBLENDALPHA;
        if (!within(t->BlendOpAlpha, D3D11_BLEND_OP_ADD, D3D11_BLEND_OP_MAX))
            return D3D11_MESSAGE_ID_CREATEBLENDSTATE_INVALIDBLENDOPALPHA;
    }
    return 0;
}

/* Of the front's four messages, which follow each other as the back's do behind them. */
static int face_wrong(const D3D11_DEPTH_STENCILOP_DESC *f, int first)
{
    if (!within(f->StencilFailOp, D3D11_STENCIL_OP_KEEP, D3D11_STENCIL_OP_DECR))
        return first;
    if (!within(f->StencilDepthFailOp, D3D11_STENCIL_OP_KEEP, D3D11_STENCIL_OP_DECR))
        return first + 1;
    if (!within(f->StencilPassOp, D3D11_STENCIL_OP_KEEP, D3D11_STENCIL_OP_DECR))
        return first + 2;
    return within(f->StencilFunc, D3D11_COMPARISON_NEVER, D3D11_COMPARISON_ALWAYS) ? 0 : first + 3;
}

static D3D11_MESSAGE_ID depth_wrong(const D3D11_DEPTH_STENCIL_DESC *s)
{
    int wrong = 0;

    if (s->DepthEnable && !within(s->DepthWriteMask, D3D11_DEPTH_WRITE_MASK_ZERO, D3D11_DEPTH_WRITE_MASK_ALL))
        return D3D11_MESSAGE_ID_CREATEDEPTHSTENCILSTATE_INVALIDDEPTHWRITEMASK;
    if (s->DepthEnable && !within(s->DepthFunc, D3D11_COMPARISON_NEVER, D3D11_COMPARISON_ALWAYS))
        return D3D11_MESSAGE_ID_CREATEDEPTHSTENCILSTATE_INVALIDDEPTHFUNC;
    if (s->StencilEnable)
        wrong =
            face_wrong(&s->FrontFace, D3D11_MESSAGE_ID_CREATEDEPTHSTENCILSTATE_INVALIDFRONTFACESTENCILFAILOP);
    if (s->StencilEnable && !wrong)
        wrong =
            face_wrong(&s->BackFace, D3D11_MESSAGE_ID_CREATEDEPTHSTENCILSTATE_INVALIDBACKFACESTENCILFAILOP);
    return (D3D11_MESSAGE_ID)wrong;
}

static HRESULT refuse(struct d3d_device *d, const char *what, D3D11_MESSAGE_ID id)
{
    enum { FIRST = D3D11_MESSAGE_ID_CREATERASTERIZERSTATE_INVALIDFILLMODE };
    static const char *const members[] = {/* in the messages' order */
                                          "FillMode",
                                          "CullMode",
                                          "DepthBiasClamp",
                                          "SlopeScaledDepthBias",
                                          [6] = "DepthWriteMask",
                                          "DepthFunc",
                                          "FrontFace.StencilFailOp",
                                          "FrontFace.StencilDepthFailOp",
                                          "FrontFace.StencilPassOp",
                                          "FrontFace.StencilFunc",
                                          "BackFace.StencilFailOp",
                                          "BackFace.StencilDepthFailOp",
                                          "BackFace.StencilPassOp",
                                          "BackFace.StencilFunc",
                                          [18] = "SrcBlend",
                                          "DestBlend",
                                          "BlendOp",
                                          "SrcBlendAlpha",
                                          "DestBlendAlpha",
                                          "BlendOpAlpha",
                                          "RenderTargetWriteMask",
                                          [27] = "Filter",
                                          "AddressU",
                                          "AddressV",
                                          "AddressW",
                                          "MipLODBias",
                                          "MaxAnisotropy",
                                          "ComparisonFunc",
                                          "MinLOD",
                                          "MaxLOD"};
    const UINT at = (UINT)id - FIRST;
    const char *member = id == D3D11_MESSAGE_ID_CREATERASTERIZERSTATE_INVALIDFORCEDSAMPLECOUNT
                             ? "ForcedSampleCount"
                         : id == D3D11_MESSAGE_ID_CREATEBLENDSTATE_INVALIDLOGICOPS ? "LogicOp"
                         : at < sizeof(members) / sizeof(members[0])               ? members[at]
                                                                                   : NULL;

    return d3d_refuse(d, id, "ID3D11Device::Create%sState: %s%s", what,
                      member ? member : "there is no description",
                      member ? " has a value that it cannot have" : "");
}

/* ---- what it then says: members that are switched off, as Direct3D has them; and no byte between members, so that equal ones are
 * equal bytes ------- */

static void raster_usual(D3D11_RASTERIZER_DESC1 *r)
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

static void blend_usual(D3D11_BLEND_DESC1 *b)
{
    static const D3D11_RENDER_TARGET_BLEND_DESC1 off = {.SrcBlend = D3D11_BLEND_ONE,
                                                        .DestBlend = D3D11_BLEND_ZERO,
                                                        .BlendOp = D3D11_BLEND_OP_ADD,
                                                        .SrcBlendAlpha = D3D11_BLEND_ONE,
                                                        .DestBlendAlpha = D3D11_BLEND_ZERO,
                                                        .BlendOpAlpha = D3D11_BLEND_OP_ADD};
    const D3D11_BLEND_DESC1 given = *b;

    memset(b, 0, sizeof(*b));
    b->AlphaToCoverageEnable = given.AlphaToCoverageEnable;
    b->IndependentBlendEnable = given.IndependentBlendEnable;
    for (int i = 0; i < 8; i++) {
        const D3D11_RENDER_TARGET_BLEND_DESC1 *own =
                                                  &given.RenderTarget[given.IndependentBlendEnable ? i : 0],
                                              *from = own->BlendEnable ? own : &off;
        D3D11_RENDER_TARGET_BLEND_DESC1 *t = &b->RenderTarget[i];

        t->LogicOpEnable = own->LogicOpEnable;
        t->LogicOp = own->LogicOpEnable ? own->LogicOp : D3D11_LOGIC_OP_NOOP;

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
#define STATE(method, iface, DESC, member, KIND, Ddi, ddi_type, handle, rt, what, null)                      \
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
        if (!desc || member##_wrong(desc))                                                                   \
            return refuse(d, what, desc ? member##_wrong(desc) : null);                                      \
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
static HRESULT STDMETHODCALLTYPE create_raster(ID3D11Device *This, const D3D11_RASTERIZER_DESC1 *desc,
                                               ID3D11RasterizerState1 **out);
static HRESULT STDMETHODCALLTYPE create_blend(ID3D11Device *This, const D3D11_BLEND_DESC1 *desc,
                                              ID3D11BlendState1 **out);
STATE(create_raster, ID3D11RasterizerState1, D3D11_RASTERIZER_DESC1, raster, D3D_RASTER, RasterizerState,
      D3D11_1_DDI_RASTERIZER_DESC, D3D10DDI_HRASTERIZERSTATE, D3D10DDI_HRTRASTERIZERSTATE, "Rasterizer",
      D3D11_MESSAGE_ID_CREATERASTERIZERSTATE_NULLDESC)
STATE(d3d_device_CreateSamplerState, ID3D11SamplerState, D3D11_SAMPLER_DESC, sampler, D3D_SAMPLER, Sampler,
      D3D10_DDI_SAMPLER_DESC, D3D10DDI_HSAMPLER, D3D10DDI_HRTSAMPLER, "Sampler",
      D3D11_MESSAGE_ID_CREATESAMPLERSTATE_NULLDESC)
STATE(create_blend, ID3D11BlendState1, D3D11_BLEND_DESC1, blend, D3D_BLEND, BlendState,
      D3D11_1_DDI_BLEND_DESC, D3D10DDI_HBLENDSTATE, D3D10DDI_HRTBLENDSTATE, "Blend",
      D3D11_MESSAGE_ID_CREATEBLENDSTATE_NULLDESC)

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
    if (!given || depth_wrong(given))
        return refuse(d, "DepthStencil",
                      given ? depth_wrong(given) : D3D11_MESSAGE_ID_CREATEDEPTHSTENCILSTATE_NULLDESC);
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
GET_DESC(d3d_blend_GetDesc1, ID3D11BlendState1, D3D11_BLEND_DESC1, blend)
GET_DESC(d3d_depth_GetDesc, ID3D11DepthStencilState, D3D11_DEPTH_STENCIL_DESC, depth)
GET_DESC(d3d_raster_GetDesc1, ID3D11RasterizerState1, D3D11_RASTERIZER_DESC1, raster)
GET_DESC(d3d_sampler_GetDesc, ID3D11SamplerState, D3D11_SAMPLER_DESC, sampler)

/* ---- what 11.1 adds to them, and what 11.0 has without it ----------------------------- */

HRESULT STDMETHODCALLTYPE d3d_device_CreateRasterizerState1(ID3D11Device1 *This,
                                                            const D3D11_RASTERIZER_DESC1 *desc,
                                                            ID3D11RasterizerState1 **out)
{
    const struct d3d_device *d = (const struct d3d_device *)This;

    if (out)
        *out = NULL;
    if (desc && desc->ForcedSampleCount && d->level < D3D_FEATURE_LEVEL_11_1)
        return refuse((struct d3d_device *)This, "Rasterizer",
                      D3D11_MESSAGE_ID_CREATERASTERIZERSTATE_INVALIDFORCEDSAMPLECOUNT);
    return create_raster((ID3D11Device *)This, desc, out);
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateRasterizerState(ID3D11Device *This,
                                                           const D3D11_RASTERIZER_DESC *desc,
                                                           ID3D11RasterizerState **out)
{
    D3D11_RASTERIZER_DESC1 d = {.ForcedSampleCount = 0};

    if (desc)
        memcpy(&d, desc, sizeof(*desc)); /* its first members */
    return create_raster(This, desc ? &d : NULL, (ID3D11RasterizerState1 **)out);
}

void STDMETHODCALLTYPE d3d_raster_GetDesc(ID3D11RasterizerState *This, D3D11_RASTERIZER_DESC *desc)
{
    memcpy(desc, &((struct d3d_child *)This)->desc.raster, sizeof(*desc));
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateBlendState1(ID3D11Device1 *This, const D3D11_BLEND_DESC1 *desc,
                                                       ID3D11BlendState1 **out)
{
    const struct d3d_device *d = (const struct d3d_device *)This;

    if (out)
        *out = NULL;
    for (int i = 0; i < 8 && desc && !d->logic; i++)
        if (desc->RenderTarget[i].LogicOpEnable && (!i || desc->IndependentBlendEnable))
            return refuse((struct d3d_device *)This, "Blend",
                          D3D11_MESSAGE_ID_CREATEBLENDSTATE_INVALIDLOGICOPS);
    return create_blend((ID3D11Device *)This, desc, out);
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateBlendState(ID3D11Device *This, const D3D11_BLEND_DESC *desc,
                                                      ID3D11BlendState **out)
{
    D3D11_BLEND_DESC1 d = {.AlphaToCoverageEnable = desc ? desc->AlphaToCoverageEnable : FALSE,
                           .IndependentBlendEnable = desc ? desc->IndependentBlendEnable : FALSE};

    for (int i = 0; i < 8 && desc; i++) {
        const D3D11_RENDER_TARGET_BLEND_DESC *t = &desc->RenderTarget[i];

        d.RenderTarget[i] =
            (D3D11_RENDER_TARGET_BLEND_DESC1){.BlendEnable = t->BlendEnable,
                                              .SrcBlend = t->SrcBlend,
                                              .DestBlend = t->DestBlend,
                                              .BlendOp = t->BlendOp,
                                              .SrcBlendAlpha = t->SrcBlendAlpha,
                                              .DestBlendAlpha = t->DestBlendAlpha,
                                              .BlendOpAlpha = t->BlendOpAlpha,
                                              .RenderTargetWriteMask = t->RenderTargetWriteMask};
    }
    return create_blend(This, desc ? &d : NULL, (ID3D11BlendState1 **)out);
}

void STDMETHODCALLTYPE d3d_blend_GetDesc(ID3D11BlendState *This, D3D11_BLEND_DESC *desc)
{
    const D3D11_BLEND_DESC1 *b = &((struct d3d_child *)This)->desc.blend;

    *desc = (D3D11_BLEND_DESC){b->AlphaToCoverageEnable, b->IndependentBlendEnable};
    for (int i = 0; i < 8; i++) {
        const D3D11_RENDER_TARGET_BLEND_DESC1 *t = &b->RenderTarget[i];

        desc->RenderTarget[i] = (D3D11_RENDER_TARGET_BLEND_DESC){
            t->BlendEnable,   t->SrcBlend,       t->DestBlend,    t->BlendOp,
            t->SrcBlendAlpha, t->DestBlendAlpha, t->BlendOpAlpha, t->RenderTargetWriteMask};
    }
}
