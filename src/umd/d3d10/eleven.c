/* SPDX-License-Identifier: MIT */
/* eleven.c: what an 11.0 runtime calls: functions of 11.1's table, with the arguments that 11.0 does not know. */
#include "umd/d3d10/umd10.h"

#include "base/dxbc/dxbc.h"

static const D3D11_1DDI_DEVICEFUNCS *whole(D3D10DDI_HDEVICE h)
{
    return &umd10_device(h)->whole;
}

static VOID APIENTRY update(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE dst, UINT subresource,
                            CONST D3D10_DDI_BOX *box, CONST VOID *data, UINT row_pitch, UINT depth_pitch)
{
    whole(h)->pfnResourceUpdateSubresourceUP(h, dst, subresource, box, data, row_pitch, depth_pitch, 0);
}

static VOID APIENTRY copy_region(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE dst, UINT dst_subresource, UINT x,
                                 UINT y, UINT z, D3D10DDI_HRESOURCE src, UINT src_subresource,
                                 CONST D3D10_DDI_BOX *box)
{
    whole(h)->pfnResourceCopyRegion(h, dst, dst_subresource, x, y, z, src, src_subresource, box, 0);
}

static VOID APIENTRY flush(D3D10DDI_HDEVICE h)
{
    whole(h)->pfnFlush(h, 0);
}

static VOID APIENTRY relocate(D3D10DDI_HDEVICE h, D3D11DDI_DEVICEFUNCS *f)
{
}

#define CONSTANTS(Stage)                                                                                     \
    static VOID APIENTRY constants_##Stage(D3D10DDI_HDEVICE h, UINT first, UINT count,                       \
                                           CONST D3D10DDI_HRESOURCE *b)                                      \
    {                                                                                                        \
        whole(h)->pfn##Stage##SetConstantBuffers(h, first, count, b, NULL, NULL);                            \
    }
CONSTANTS(Vs)
CONSTANTS(Ps)
CONSTANTS(Gs)
CONSTANTS(Hs)
CONSTANTS(Ds)
CONSTANTS(Cs)

/* ---- states --------------------------------------------------------------- */

static SIZE_T APIENTRY blend_size(D3D10DDI_HDEVICE h, CONST D3D10_1_DDI_BLEND_DESC *a)
{
    return whole(h)->pfnCalcPrivateBlendStateSize(h, NULL);
}

static VOID APIENTRY create_blend(D3D10DDI_HDEVICE h, CONST D3D10_1_DDI_BLEND_DESC *a,
                                  D3D10DDI_HBLENDSTATE hb, D3D10DDI_HRTBLENDSTATE rt)
{
    D3D11_1_DDI_BLEND_DESC b = {.AlphaToCoverageEnable = a->AlphaToCoverageEnable,
                                .IndependentBlendEnable = a->IndependentBlendEnable};

    for (int i = 0; i < 8; i++) {
        const D3D10_DDI_RENDER_TARGET_BLEND_DESC1 *t = &a->RenderTarget[i];

        b.RenderTarget[i] =
            (D3D11_1_DDI_RENDER_TARGET_BLEND_DESC){.BlendEnable = t->BlendEnable,
                                                   .SrcBlend = t->SrcBlend,
                                                   .DestBlend = t->DestBlend,
                                                   .BlendOp = t->BlendOp,
                                                   .SrcBlendAlpha = t->SrcBlendAlpha,
                                                   .DestBlendAlpha = t->DestBlendAlpha,
                                                   .BlendOpAlpha = t->BlendOpAlpha,
                                                   .RenderTargetWriteMask = t->RenderTargetWriteMask};
    }
    whole(h)->pfnCreateBlendState(h, &b, hb, rt);
}

static SIZE_T APIENTRY raster_size(D3D10DDI_HDEVICE h, CONST D3D10_DDI_RASTERIZER_DESC *a)
{
    return whole(h)->pfnCalcPrivateRasterizerStateSize(h, NULL);
}

static VOID APIENTRY create_raster(D3D10DDI_HDEVICE h, CONST D3D10_DDI_RASTERIZER_DESC *a,
                                   D3D10DDI_HRASTERIZERSTATE hr, D3D10DDI_HRTRASTERIZERSTATE rt)
{
    D3D11_1_DDI_RASTERIZER_DESC r = {0};

    memcpy(&r, a, sizeof(*a)); /* its first members */
    whole(h)->pfnCreateRasterizerState(h, &r, hr, rt);
}

/* ---- shaders -------------------------------------------------------------- */

enum { MOST = DXBC_MAX_ELEMENTS };

struct signatures {
    D3D11_1DDIARG_SIGNATURE_ENTRY in[MOST], out[MOST], patch[MOST];
};

static UINT widen(D3D11_1DDIARG_SIGNATURE_ENTRY *to, const D3D10DDIARG_SIGNATURE_ENTRY *e, UINT count)
{
    count = count < MOST ? count : MOST;
    for (UINT i = 0; i < count; i++)
        to[i] = (D3D11_1DDIARG_SIGNATURE_ENTRY){
            .SystemValue = (UINT)e[i].SystemValue, .Register = e[i].Register, .Mask = e[i].Mask};
    return count;
}

static D3D11_1DDIARG_STAGE_IO_SIGNATURES stage(struct signatures *to,
                                               const D3D10DDIARG_STAGE_IO_SIGNATURES *s)
{
    return (D3D11_1DDIARG_STAGE_IO_SIGNATURES){
        to->in, widen(to->in, s->pInputSignature, s->NumInputSignatureEntries), to->out,
        widen(to->out, s->pOutputSignature, s->NumOutputSignatureEntries)};
}

static D3D11_1DDIARG_TESSELLATION_IO_SIGNATURES tessellation(struct signatures *to,
                                                             const D3D11DDIARG_TESSELLATION_IO_SIGNATURES *s)
{
    return (D3D11_1DDIARG_TESSELLATION_IO_SIGNATURES){
        to->in,    widen(to->in, s->pInputSignature, s->NumInputSignatureEntries),
        to->out,   widen(to->out, s->pOutputSignature, s->NumOutputSignatureEntries),
        to->patch, widen(to->patch, s->pPatchConstantSignature, s->NumPatchConstantSignatureEntries)};
}

static SIZE_T APIENTRY shader_size(D3D10DDI_HDEVICE h, CONST UINT *code,
                                   CONST D3D10DDIARG_STAGE_IO_SIGNATURES *s)
{
    return whole(h)->pfnCalcPrivateShaderSize(h, code, NULL);
}

static SIZE_T APIENTRY tessellation_size(D3D10DDI_HDEVICE h, CONST UINT *code,
                                         CONST D3D11DDIARG_TESSELLATION_IO_SIGNATURES *s)
{
    return whole(h)->pfnCalcPrivateTessellationShaderSize(h, code, NULL);
}

static SIZE_T APIENTRY streams_size(D3D10DDI_HDEVICE h,
                                    CONST D3D11DDIARG_CREATEGEOMETRYSHADERWITHSTREAMOUTPUT *a,
                                    CONST D3D10DDIARG_STAGE_IO_SIGNATURES *s)
{
    return whole(h)->pfnCalcPrivateGeometryShaderWithStreamOutput(h, a, NULL);
}

#define SHADER(Kind, signature, TYPE, WIDE)                                                                  \
    static VOID APIENTRY create_##Kind(D3D10DDI_HDEVICE h, CONST UINT *code, D3D10DDI_HSHADER hs,            \
                                       D3D10DDI_HRTSHADER rt, CONST TYPE *s)                                 \
    {                                                                                                        \
        struct signatures wide;                                                                              \
        const WIDE w = signature(&wide, s);                                                                  \
                                                                                                             \
        whole(h)->pfnCreate##Kind##Shader(h, code, hs, rt, &w);                                              \
    }
SHADER(Vertex, stage, D3D10DDIARG_STAGE_IO_SIGNATURES, D3D11_1DDIARG_STAGE_IO_SIGNATURES)
SHADER(Geometry, stage, D3D10DDIARG_STAGE_IO_SIGNATURES, D3D11_1DDIARG_STAGE_IO_SIGNATURES)
SHADER(Pixel, stage, D3D10DDIARG_STAGE_IO_SIGNATURES, D3D11_1DDIARG_STAGE_IO_SIGNATURES)
SHADER(Hull, tessellation, D3D11DDIARG_TESSELLATION_IO_SIGNATURES, D3D11_1DDIARG_TESSELLATION_IO_SIGNATURES)
SHADER(Domain, tessellation, D3D11DDIARG_TESSELLATION_IO_SIGNATURES, D3D11_1DDIARG_TESSELLATION_IO_SIGNATURES)

static VOID APIENTRY create_streams(D3D10DDI_HDEVICE h,
                                    CONST D3D11DDIARG_CREATEGEOMETRYSHADERWITHSTREAMOUTPUT *a,
                                    D3D10DDI_HSHADER hs, D3D10DDI_HRTSHADER rt,
                                    CONST D3D10DDIARG_STAGE_IO_SIGNATURES *s)
{
    struct signatures wide;
    const D3D11_1DDIARG_STAGE_IO_SIGNATURES w = stage(&wide, s);

    whole(h)->pfnCreateGeometryShaderWithStreamOutput(h, a, hs, rt, &w);
}

void umd10_eleven_functions(D3D11DDI_DEVICEFUNCS *f, const D3D11_1DDI_DEVICEFUNCS *whole)
{
    memcpy(f, whole, sizeof(*f)); /* begins alike; those that do not take the same are named below */
    f->pfnResourceUpdateSubresourceUP = f->pfnDefaultConstantBufferUpdateSubresourceUP = update;
    f->pfnResourceCopyRegion = f->pfnResourceConvertRegion = copy_region;
    f->pfnFlush = flush;
    f->pfnRelocateDeviceFuncs = relocate;
    f->pfnVsSetConstantBuffers = constants_Vs;
    f->pfnPsSetConstantBuffers = constants_Ps;
    f->pfnGsSetConstantBuffers = constants_Gs;
    f->pfnHsSetConstantBuffers = constants_Hs;
    f->pfnDsSetConstantBuffers = constants_Ds;
    f->pfnCsSetConstantBuffers = constants_Cs;
    f->pfnCalcPrivateBlendStateSize = blend_size;
    f->pfnCreateBlendState = create_blend;
    f->pfnCalcPrivateRasterizerStateSize = raster_size;
    f->pfnCreateRasterizerState = create_raster;
    f->pfnCalcPrivateShaderSize = shader_size;
    f->pfnCreateVertexShader = create_Vertex;
    f->pfnCreateGeometryShader = create_Geometry;
    f->pfnCreatePixelShader = create_Pixel;
    f->pfnCalcPrivateTessellationShaderSize = tessellation_size;
    f->pfnCreateHullShader = create_Hull;
    f->pfnCreateDomainShader = create_Domain;
    f->pfnCalcPrivateGeometryShaderWithStreamOutput = streams_size;
    f->pfnCreateGeometryShaderWithStreamOutput = create_streams;
}
