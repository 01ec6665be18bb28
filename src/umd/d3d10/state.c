/* SPDX-License-Identifier: MIT */
/* state.c: blending, depth, rasterizer, samplers, input layouts. */
#include "umd/d3d10/umd10.h"

#include <stdlib.h>

/* Their descriptions are all that the driver keeps of state objects. */
#define STATE(name, type, handle, runtime)                                                                   \
    static SIZE_T APIENTRY name##_size(D3D10DDI_HDEVICE h, CONST type *a)                                    \
    {                                                                                                        \
        return sizeof(type);                                                                                 \
    }                                                                                                        \
    static VOID APIENTRY create_##name(D3D10DDI_HDEVICE h, CONST type *a, handle o, runtime rt)              \
    {                                                                                                        \
        *(type *)o.pDrvPrivate = *a;                                                                         \
    }                                                                                                        \
    static VOID APIENTRY destroy_##name(D3D10DDI_HDEVICE h, handle o)                                        \
    {                                                                                                        \
    }
STATE(blend, D3D11_1_DDI_BLEND_DESC, D3D10DDI_HBLENDSTATE, D3D10DDI_HRTBLENDSTATE)
STATE(depth, D3D10_DDI_DEPTH_STENCIL_DESC, D3D10DDI_HDEPTHSTENCILSTATE, D3D10DDI_HRTDEPTHSTENCILSTATE)
STATE(raster, D3D11_1_DDI_RASTERIZER_DESC, D3D10DDI_HRASTERIZERSTATE, D3D10DDI_HRTRASTERIZERSTATE)

/* The packet's factors, by D3D11_BLEND; those of colour, which it does not have, are told as render states. */
static bool factor(UINT d3d11, uint32_t *packet, uint32_t *d3d9)
{
    static const struct {
        int8_t packet, d3d9;
    } factors[] = {[1] = {AEROGPU_BLEND_ZERO, 1},
                   [2] = {AEROGPU_BLEND_ONE, 2},
                   [3] = {-1, 3},
                   [4] = {-1, 4},
                   [5] = {AEROGPU_BLEND_SRC_ALPHA, 5},
                   [6] = {AEROGPU_BLEND_INV_SRC_ALPHA, 6},
                   [7] = {AEROGPU_BLEND_DEST_ALPHA, 7},
                   [8] = {AEROGPU_BLEND_INV_DEST_ALPHA, 8},
                   [9] = {-1, 9},
                   [10] = {-1, 10},
                   [11] = {-1, 11},
                   [14] = {AEROGPU_BLEND_CONSTANT, 14},
                   [15] = {AEROGPU_BLEND_INV_CONSTANT, 15}};
    bool known = d3d11 < sizeof(factors) / sizeof(factors[0]) && factors[d3d11].d3d9;

    *d3d9 = known ? (uint32_t)factors[d3d11].d3d9 : 2;
    *packet = known && factors[d3d11].packet >= 0 ? (uint32_t)factors[d3d11].packet : AEROGPU_BLEND_ONE;
    return known && factors[d3d11].packet >= 0;
}

/* As near as the ABI's own packets come. */
static void set_blend_nearest(struct umd10_device *d, const D3D11_1_DDI_BLEND_DESC *b,
                              CONST FLOAT constant[4], UINT mask)
{
    /* what is switched off may hold anything */
    const D3D11_1_DDI_RENDER_TARGET_BLEND_DESC off = {.SrcBlend = 2,
                                                      .DestBlend = 1,
                                                      .BlendOp = 1,
                                                      .SrcBlendAlpha = 2,
                                                      .DestBlendAlpha = 1,
                                                      .BlendOpAlpha = 1,
                                                      .RenderTargetWriteMask =
                                                          b ? b->RenderTarget[0].RenderTargetWriteMask : 15};
    const D3D11_1_DDI_RENDER_TARGET_BLEND_DESC *t =
        b && b->RenderTarget[0].BlendEnable ? &b->RenderTarget[0] : &off;
    uint32_t src, dst, src9, dst9, src_alpha, dst_alpha, unused;
    bool plain = factor(t->SrcBlend, &src, &src9);

    plain = factor(t->DestBlend, &dst, &dst9) && plain;
    factor(t->SrcBlendAlpha, &src_alpha, &unused);
    factor(t->DestBlendAlpha, &dst_alpha, &unused);
    umd10_room(d, 256);
    ABI_EMIT(&d->stream, SET_BLEND_STATE, set_blend_state, .enable = t->BlendEnable != 0, .src_factor = src,
             .dst_factor = dst, .blend_op = t->BlendOp - 1, .color_write_mask = t->RenderTargetWriteMask,
             .src_factor_alpha = src_alpha, .dst_factor_alpha = dst_alpha,
             .blend_op_alpha = t->BlendOpAlpha - 1,
             .blend_constant_rgba = {abi_f32(constant[0]), abi_f32(constant[1]), abi_f32(constant[2]),
                                     abi_f32(constant[3])},
             .sample_mask = mask);
    if (t->BlendEnable && !plain) {
        ABI_EMIT(&d->stream, SET_RENDER_STATE, set_render_state, .state = 19 /* SRCBLEND */, .value = src9);
        ABI_EMIT(&d->stream, SET_RENDER_STATE, set_render_state, .state = 20 /* DESTBLEND */, .value = dst9);
    }
}

static void set_blend_whole(struct umd10_device *d, const D3D11_1_DDI_BLEND_DESC *b, CONST FLOAT constant[4],
                            UINT mask)
{
    struct aerogpu_cmd_ext_set_blend_state s = {.alpha_to_coverage = b && b->AlphaToCoverageEnable,
                                                .sample_mask = mask};

    for (int i = 0; i < 8; i++) {
        const D3D11_1_DDI_RENDER_TARGET_BLEND_DESC *t =
            b ? &b->RenderTarget[b->IndependentBlendEnable ? i : 0] : NULL;

        s.targets[2 * i + 1] = (t ? t->RenderTargetWriteMask & 15u : 15u) << 24;
        if (b && b->RenderTarget[0].LogicOpEnable) /* of all targets alike */
            s.targets[2 * i] = (uint32_t)b->RenderTarget[0].LogicOp << 16 | 2u << 24;
        if (!t || !t->BlendEnable || s.targets[2 * i])
            continue;
        s.targets[2 * i] =
            (uint32_t)t->SrcBlend | (uint32_t)t->DestBlend << 8 | (uint32_t)t->BlendOp << 16 | 1u << 24;
        s.targets[2 * i + 1] |=
            (uint32_t)t->SrcBlendAlpha | (uint32_t)t->DestBlendAlpha << 8 | (uint32_t)t->BlendOpAlpha << 16;
    }
    for (int i = 0; i < 4; i++)
        s.constant_rgba[i] = abi_f32(constant[i]);
    umd10_room(d, 256);
    abi_builder_packet(&d->stream, AEROGPU_CMD_EXT_SET_BLEND_STATE, &s, sizeof(s), NULL, 0);
}

static VOID APIENTRY set_blend(D3D10DDI_HDEVICE h, D3D10DDI_HBLENDSTATE state, CONST FLOAT constant[4],
                               UINT mask)
{
    struct umd10_device *d = umd10_device(h);
    const D3D11_1_DDI_BLEND_DESC *b = state.pDrvPrivate;

    if (umd10_has(d, AEROGPU_EXT_FEATURE(EXT_STATES)))
        set_blend_whole(d, b, constant, mask);
    else
        set_blend_nearest(d, b, constant, mask);
}

static VOID APIENTRY set_depth(D3D10DDI_HDEVICE h, D3D10DDI_HDEPTHSTENCILSTATE state, UINT reference)
{
    struct umd10_device *d = umd10_device(h);
    static const D3D10_DDI_DEPTH_STENCIL_DESC usual = {1,           1, 2, 0, 1, 1, 0xFF, 0xFF, {1, 1, 1, 8},
                                                       {1, 1, 1, 8}};
    const D3D10_DDI_DEPTH_STENCIL_DESC *s = state.pDrvPrivate ? state.pDrvPrivate : &usual;
    const struct {
        uint32_t state, value;
    } stencil[] = {{53, s->FrontFace.StencilFailOp},
                   {54, s->FrontFace.StencilDepthFailOp},
                   {55, s->FrontFace.StencilPassOp},
                   {56, s->FrontFace.StencilFunc},
                   {57, reference},
                   {185, 1 /* two-sided */},
                   {186, s->BackFace.StencilFailOp},
                   {187, s->BackFace.StencilDepthFailOp},
                   {188, s->BackFace.StencilPassOp},
                   {189, s->BackFace.StencilFunc}};

    umd10_room(d, 512);
    ABI_EMIT(&d->stream, SET_DEPTH_STENCIL_STATE, set_depth_stencil_state,
             .depth_enable = s->DepthEnable != 0, .depth_write_enable = s->DepthWriteMask != 0,
             .depth_func = s->DepthEnable ? s->DepthFunc - 1 : 0, .stencil_enable = s->StencilEnable != 0,
             .stencil_read_mask = s->StencilReadMask, .stencil_write_mask = s->StencilWriteMask);
    for (size_t i = 0; s->StencilEnable && i < sizeof(stencil) / sizeof(stencil[0]); i++)
        ABI_EMIT(&d->stream, SET_RENDER_STATE, set_render_state, .state = stencil[i].state,
                 .value = stencil[i].value);
}

static VOID APIENTRY set_raster(D3D10DDI_HDEVICE h, D3D10DDI_HRASTERIZERSTATE state)
{
    struct umd10_device *d = umd10_device(h);
    static const D3D11_1_DDI_RASTERIZER_DESC usual = {.FillMode = 3, .CullMode = 3, .DepthClipEnable = 1};
    const D3D11_1_DDI_RASTERIZER_DESC *s = state.pDrvPrivate ? state.pDrvPrivate : &usual;

    umd10_room(d, 64);
    if (umd10_has(d, AEROGPU_EXT_FEATURE(EXT_STATES))) {
        ABI_EMIT(&d->stream, EXT_SET_RASTERIZER_STATE, ext_set_rasterizer_state,
                 .fill_mode = s->FillMode == 2 ? AEROGPU_FILL_WIREFRAME : AEROGPU_FILL_SOLID,
                 .cull_mode = s->CullMode - 1, .front_ccw = s->FrontCounterClockwise != 0,
                 .scissor_enable = s->ScissorEnable != 0, .depth_bias = s->DepthBias,
                 .depth_bias_clamp = abi_f32(s->DepthBiasClamp),
                 .slope_scaled_depth_bias = abi_f32(s->SlopeScaledDepthBias),
                 .flags = (s->DepthClipEnable ? 0 : AEROGPU_RASTERIZER_FLAG_DEPTH_CLIP_DISABLE) |
                          AEROGPU_RASTERIZER_FLAG_EXT_SAMPLES(s->ForcedSampleCount & 31));
        return;
    }
    ABI_EMIT(&d->stream, SET_RASTERIZER_STATE, set_rasterizer_state,
             .fill_mode = s->FillMode == 2 ? AEROGPU_FILL_WIREFRAME : AEROGPU_FILL_SOLID,
             .cull_mode = s->CullMode - 1, .front_ccw = s->FrontCounterClockwise != 0,
             .scissor_enable = s->ScissorEnable != 0, .depth_bias = s->DepthBias,
             .flags = s->DepthClipEnable ? 0 : AEROGPU_RASTERIZER_FLAG_DEPTH_CLIP_DISABLE);
}

/* ---- samplers and layouts ------------------------------------------------ */

static SIZE_T APIENTRY sampler_size(D3D10DDI_HDEVICE h, CONST D3D10_DDI_SAMPLER_DESC *a)
{
    return sizeof(struct umd10_object);
}

static uint32_t address(UINT mode)
{
    return mode == 1   ? AEROGPU_SAMPLER_ADDRESS_REPEAT
           : mode == 2 ? AEROGPU_SAMPLER_ADDRESS_MIRROR_REPEAT
                       : AEROGPU_SAMPLER_ADDRESS_CLAMP_TO_EDGE;
}

static VOID APIENTRY create_sampler(D3D10DDI_HDEVICE h, CONST D3D10_DDI_SAMPLER_DESC *a, D3D10DDI_HSAMPLER hs,
                                    D3D10DDI_HRTSAMPLER rt)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_object *s = hs.pDrvPrivate;

    s->name = umd10_name(d);
    umd10_room(d, 128);
    if (d->info.device_features & AEROGPU_EXT_FEATURE(EXT_SAMPLERS))
        ABI_EMIT(&d->stream, EXT_CREATE_SAMPLER, ext_create_sampler, .sampler_handle = s->name,
                 .filter = (uint32_t)a->Filter, .address_u = (uint32_t)a->AddressU,
                 .address_v = (uint32_t)a->AddressV, .address_w = (uint32_t)a->AddressW,
                 .lod_bias = abi_f32(a->MipLODBias), .max_anisotropy = a->MaxAnisotropy,
                 .compare_func = (uint32_t)a->ComparisonFunc,
                 .border_rgba = {abi_f32(a->BorderColor[0]), abi_f32(a->BorderColor[1]),
                                 abi_f32(a->BorderColor[2]), abi_f32(a->BorderColor[3])},
                 .min_lod = abi_f32(a->MinLOD), .max_lod = abi_f32(a->MaxLOD));
    else
        ABI_EMIT(&d->stream, CREATE_SAMPLER, create_sampler, .sampler_handle = s->name,
                 .filter = a->Filter & 0x54 ? AEROGPU_SAMPLER_FILTER_LINEAR
                                            : AEROGPU_SAMPLER_FILTER_NEAREST, /* min, mag, aniso */
                 .address_u = address(a->AddressU), .address_v = address(a->AddressV),
                 .address_w = address(a->AddressW));
}

static VOID APIENTRY destroy_sampler(D3D10DDI_HDEVICE h, D3D10DDI_HSAMPLER hs)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_object *s = hs.pDrvPrivate;

    umd10_room(d, 64);
    ABI_EMIT(&d->stream, DESTROY_SAMPLER, destroy_sampler, .sampler_handle = s->name);
}

static SIZE_T APIENTRY layout_size(D3D10DDI_HDEVICE h, CONST D3D10DDIARG_CREATEELEMENTLAYOUT *a)
{
    return sizeof(struct umd10_object);
}

static VOID APIENTRY create_layout(D3D10DDI_HDEVICE h, CONST D3D10DDIARG_CREATEELEMENTLAYOUT *a,
                                   D3D10DDI_HELEMENTLAYOUT hl, D3D10DDI_HRTELEMENTLAYOUT rt)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_object *l = hl.pDrvPrivate;
    struct {
        struct aerogpu_input_layout_blob_header header;
        struct aerogpu_input_layout_element_dxgi elements[32];
    } blob = {
        .header = {.magic = AEROGPU_INPUT_LAYOUT_BLOB_MAGIC, .version = AEROGPU_INPUT_LAYOUT_BLOB_VERSION}};
    uint32_t n = a->NumElements < 32 ? a->NumElements : 32;

    blob.header.element_count = n;
    for (uint32_t i = 0; i < n; i++) {
        const D3D10DDIARG_INPUT_ELEMENT_DESC *e = &a->pVertexElements[i];
        blob.elements[i] = (struct aerogpu_input_layout_element_dxgi){
            .semantic_name_hash = abi_semantic_hash(UMD10_SEMANTIC),
            .semantic_index = e->InputRegister,
            .dxgi_format = (uint32_t)e->Format,
            .input_slot = e->InputSlot,
            .aligned_byte_offset = e->AlignedByteOffset,
            .input_slot_class = e->InputSlotClass,
            .instance_data_step_rate = e->InstanceDataStepRate};
    }
    l->name = umd10_name(d);
    umd10_room(d, sizeof(blob) + 64);
    ABI_EMIT_TAIL(&d->stream, CREATE_INPUT_LAYOUT, create_input_layout, &blob,
                  (uint32_t)(sizeof(blob.header) + n * sizeof(blob.elements[0])),
                  .input_layout_handle = l->name,
                  .blob_size_bytes = (uint32_t)(sizeof(blob.header) + n * sizeof(blob.elements[0])));
}

static VOID APIENTRY destroy_layout(D3D10DDI_HDEVICE h, D3D10DDI_HELEMENTLAYOUT hl)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_object *l = hl.pDrvPrivate;

    umd10_room(d, 64);
    ABI_EMIT(&d->stream, DESTROY_INPUT_LAYOUT, destroy_input_layout, .input_layout_handle = l->name);
}

static VOID APIENTRY set_layout(D3D10DDI_HDEVICE h, D3D10DDI_HELEMENTLAYOUT hl)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_object *l = hl.pDrvPrivate;

    umd10_room(d, 64);
    ABI_EMIT(&d->stream, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = l ? l->name : 0);
}

void umd10_state_functions(D3D11_1DDI_DEVICEFUNCS *f)
{
    f->pfnCalcPrivateBlendStateSize = blend_size;
    f->pfnCreateBlendState = create_blend;
    f->pfnDestroyBlendState = destroy_blend;
    f->pfnSetBlendState = set_blend;
    f->pfnCalcPrivateDepthStencilStateSize = depth_size;
    f->pfnCreateDepthStencilState = create_depth;
    f->pfnDestroyDepthStencilState = destroy_depth;
    f->pfnSetDepthStencilState = set_depth;
    f->pfnCalcPrivateRasterizerStateSize = raster_size;
    f->pfnCreateRasterizerState = create_raster;
    f->pfnDestroyRasterizerState = destroy_raster;
    f->pfnSetRasterizerState = set_raster;
    f->pfnCalcPrivateSamplerSize = sampler_size;
    f->pfnCreateSampler = create_sampler;
    f->pfnDestroySampler = destroy_sampler;
    f->pfnCalcPrivateElementLayoutSize = layout_size;
    f->pfnCreateElementLayout = create_layout;
    f->pfnDestroyElementLayout = destroy_layout;
    f->pfnIaSetInputLayout = set_layout;
}
