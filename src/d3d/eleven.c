/* SPDX-License-Identifier: MIT */
/* eleven.c: drivers whose interface is 11.0, as that of Windows 7's: what 11.1's table asks of them, without the arguments that they do
 * not know. What none of them can do the runtime does not ask for (d3d_device.eleven_one). */
#include "d3d/d3d.h"

/* The driver's memory of the device lies behind this. */
struct memory {
    struct d3d_device *device;
    _Alignas(16) uint8_t driver[];
};

void *d3d_eleven_memory(struct d3d_device *d, size_t size)
{
    struct memory *m = calloc(1, sizeof(*m) + size);

    d->drv_memory = m;
    if (!m)
        return NULL;
    m->device = d;
    return m->driver;
}

static const D3D11DDI_DEVICEFUNCS *driver(D3D10DDI_HDEVICE h)
{
    return &((struct memory *)((uint8_t *)h.pDrvPrivate - offsetof(struct memory, driver)))->device->eleven;
}

static VOID APIENTRY update(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE dst, UINT subresource,
                            CONST D3D10_DDI_BOX *box, CONST VOID *data, UINT row_pitch, UINT depth_pitch,
                            UINT flags)
{
    driver(h)->pfnResourceUpdateSubresourceUP(h, dst, subresource, box, data, row_pitch, depth_pitch);
}

static VOID APIENTRY update_constants(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE dst, UINT subresource,
                                      CONST D3D10_DDI_BOX *box, CONST VOID *data, UINT row_pitch,
                                      UINT depth_pitch, UINT flags)
{
    driver(h)->pfnDefaultConstantBufferUpdateSubresourceUP(h, dst, subresource, box, data, row_pitch,
                                                           depth_pitch);
}

static VOID APIENTRY copy_region(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE dst, UINT dst_subresource, UINT x,
                                 UINT y, UINT z, D3D10DDI_HRESOURCE src, UINT src_subresource,
                                 CONST D3D10_DDI_BOX *box, UINT flags)
{
    driver(h)->pfnResourceCopyRegion(h, dst, dst_subresource, x, y, z, src, src_subresource, box);
}

static VOID APIENTRY convert_region(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE dst, UINT dst_subresource, UINT x,
                                    UINT y, UINT z, D3D10DDI_HRESOURCE src, UINT src_subresource,
                                    CONST D3D10_DDI_BOX *box, UINT flags)
{
    driver(h)->pfnResourceConvertRegion(h, dst, dst_subresource, x, y, z, src, src_subresource, box);
}

static BOOL APIENTRY flush(D3D10DDI_HDEVICE h, UINT flags)
{
    driver(h)->pfnFlush(h);
    return TRUE;
}

static VOID APIENTRY relocate(D3D10DDI_HDEVICE h, D3D11_1DDI_DEVICEFUNCS *f)
{
}

#define CONSTANTS(Stage)                                                                                     \
    static VOID APIENTRY constants_##Stage(D3D10DDI_HDEVICE h, UINT first, UINT count,                       \
                                           CONST D3D10DDI_HRESOURCE *b, CONST UINT *from, CONST UINT *n)     \
    {                                                                                                        \
        driver(h)->pfn##Stage##SetConstantBuffers(h, first, count, b);                                       \
    }
CONSTANTS(Vs)
CONSTANTS(Ps)
CONSTANTS(Gs)
CONSTANTS(Hs)
CONSTANTS(Ds)
CONSTANTS(Cs)

/* ---- states --------------------------------------------------------------- */

static D3D10_1_DDI_BLEND_DESC narrow_blend(const D3D11_1_DDI_BLEND_DESC *a)
{
    D3D10_1_DDI_BLEND_DESC b = {.AlphaToCoverageEnable = a->AlphaToCoverageEnable,
                                .IndependentBlendEnable = a->IndependentBlendEnable};

    for (int i = 0; i < 8; i++) {
        const D3D11_1_DDI_RENDER_TARGET_BLEND_DESC *t = &a->RenderTarget[i];

        b.RenderTarget[i] =
            (D3D10_DDI_RENDER_TARGET_BLEND_DESC1){.BlendEnable = t->BlendEnable,
                                                  .SrcBlend = t->SrcBlend,
                                                  .DestBlend = t->DestBlend,
                                                  .BlendOp = t->BlendOp,
                                                  .SrcBlendAlpha = t->SrcBlendAlpha,
                                                  .DestBlendAlpha = t->DestBlendAlpha,
                                                  .BlendOpAlpha = t->BlendOpAlpha,
                                                  .RenderTargetWriteMask = t->RenderTargetWriteMask};
    }
    return b;
}

static SIZE_T APIENTRY blend_size(D3D10DDI_HDEVICE h, CONST D3D11_1_DDI_BLEND_DESC *a)
{
    const D3D10_1_DDI_BLEND_DESC b = narrow_blend(a);

    return driver(h)->pfnCalcPrivateBlendStateSize(h, &b);
}

static VOID APIENTRY create_blend(D3D10DDI_HDEVICE h, CONST D3D11_1_DDI_BLEND_DESC *a,
                                  D3D10DDI_HBLENDSTATE hb, D3D10DDI_HRTBLENDSTATE rt)
{
    const D3D10_1_DDI_BLEND_DESC b = narrow_blend(a);

    driver(h)->pfnCreateBlendState(h, &b, hb, rt);
}

static D3D10_DDI_RASTERIZER_DESC narrow_raster(const D3D11_1_DDI_RASTERIZER_DESC *a)
{
    D3D10_DDI_RASTERIZER_DESC r;

    memcpy(&r, a, sizeof(r)); /* its first members */
    return r;
}

static SIZE_T APIENTRY raster_size(D3D10DDI_HDEVICE h, CONST D3D11_1_DDI_RASTERIZER_DESC *a)
{
    const D3D10_DDI_RASTERIZER_DESC r = narrow_raster(a);

    return driver(h)->pfnCalcPrivateRasterizerStateSize(h, &r);
}

static VOID APIENTRY create_raster(D3D10DDI_HDEVICE h, CONST D3D11_1_DDI_RASTERIZER_DESC *a,
                                   D3D10DDI_HRASTERIZERSTATE hr, D3D10DDI_HRTRASTERIZERSTATE rt)
{
    const D3D10_DDI_RASTERIZER_DESC r = narrow_raster(a);

    driver(h)->pfnCreateRasterizerState(h, &r, hr, rt);
}

/* ---- shaders -------------------------------------------------------------- */

struct signatures {
    D3D10DDIARG_SIGNATURE_ENTRY in[DXBC_MAX_ELEMENTS], out[DXBC_MAX_ELEMENTS], patch[DXBC_MAX_ELEMENTS];
};

static UINT narrow(D3D10DDIARG_SIGNATURE_ENTRY *to, const D3D11_1DDIARG_SIGNATURE_ENTRY *e, UINT count)
{
    for (UINT i = 0; i < count; i++)
        to[i] = (D3D10DDIARG_SIGNATURE_ENTRY){e[i].SystemValue, e[i].Register, e[i].Mask};
    return count;
}

static D3D10DDIARG_STAGE_IO_SIGNATURES stage(struct signatures *to,
                                             const D3D11_1DDIARG_STAGE_IO_SIGNATURES *s)
{
    return (D3D10DDIARG_STAGE_IO_SIGNATURES){
        to->in, narrow(to->in, s->pInputSignature, s->NumInputSignatureEntries), to->out,
        narrow(to->out, s->pOutputSignature, s->NumOutputSignatureEntries)};
}

static D3D11DDIARG_TESSELLATION_IO_SIGNATURES tessellation(struct signatures *to,
                                                           const D3D11_1DDIARG_TESSELLATION_IO_SIGNATURES *s)
{
    return (D3D11DDIARG_TESSELLATION_IO_SIGNATURES){
        to->in,    narrow(to->in, s->pInputSignature, s->NumInputSignatureEntries),
        to->out,   narrow(to->out, s->pOutputSignature, s->NumOutputSignatureEntries),
        to->patch, narrow(to->patch, s->pPatchConstantSignature, s->NumPatchConstantSignatureEntries)};
}

#define SIZED(name, Function, signature, TYPE, WIDE)                                                         \
    static SIZE_T APIENTRY name(D3D10DDI_HDEVICE h, CONST UINT *code, CONST WIDE *s)                         \
    {                                                                                                        \
        struct signatures narrowed;                                                                          \
        const TYPE n = signature(&narrowed, s);                                                              \
                                                                                                             \
        return driver(h)->pfn##Function(h, code, &n);                                                        \
    }
SIZED(shader_size, CalcPrivateShaderSize, stage, D3D10DDIARG_STAGE_IO_SIGNATURES,
      D3D11_1DDIARG_STAGE_IO_SIGNATURES)
SIZED(tessellation_size, CalcPrivateTessellationShaderSize, tessellation,
      D3D11DDIARG_TESSELLATION_IO_SIGNATURES, D3D11_1DDIARG_TESSELLATION_IO_SIGNATURES)

#define SHADER(Kind, signature, TYPE, WIDE)                                                                  \
    static VOID APIENTRY create_##Kind(D3D10DDI_HDEVICE h, CONST UINT *code, D3D10DDI_HSHADER hs,            \
                                       D3D10DDI_HRTSHADER rt, CONST WIDE *s)                                 \
    {                                                                                                        \
        struct signatures narrowed;                                                                          \
        const TYPE n = signature(&narrowed, s);                                                              \
                                                                                                             \
        driver(h)->pfnCreate##Kind##Shader(h, code, hs, rt, &n);                                             \
    }
SHADER(Vertex, stage, D3D10DDIARG_STAGE_IO_SIGNATURES, D3D11_1DDIARG_STAGE_IO_SIGNATURES)
SHADER(Geometry, stage, D3D10DDIARG_STAGE_IO_SIGNATURES, D3D11_1DDIARG_STAGE_IO_SIGNATURES)
SHADER(Pixel, stage, D3D10DDIARG_STAGE_IO_SIGNATURES, D3D11_1DDIARG_STAGE_IO_SIGNATURES)
SHADER(Hull, tessellation, D3D11DDIARG_TESSELLATION_IO_SIGNATURES, D3D11_1DDIARG_TESSELLATION_IO_SIGNATURES)
SHADER(Domain, tessellation, D3D11DDIARG_TESSELLATION_IO_SIGNATURES, D3D11_1DDIARG_TESSELLATION_IO_SIGNATURES)

static SIZE_T APIENTRY streams_size(D3D10DDI_HDEVICE h,
                                    CONST D3D11DDIARG_CREATEGEOMETRYSHADERWITHSTREAMOUTPUT *a,
                                    CONST D3D11_1DDIARG_STAGE_IO_SIGNATURES *s)
{
    struct signatures narrowed;
    const D3D10DDIARG_STAGE_IO_SIGNATURES n = stage(&narrowed, s);

    return driver(h)->pfnCalcPrivateGeometryShaderWithStreamOutput(h, a, &n);
}

static VOID APIENTRY create_streams(D3D10DDI_HDEVICE h,
                                    CONST D3D11DDIARG_CREATEGEOMETRYSHADERWITHSTREAMOUTPUT *a,
                                    D3D10DDI_HSHADER hs, D3D10DDI_HRTSHADER rt,
                                    CONST D3D11_1DDIARG_STAGE_IO_SIGNATURES *s)
{
    struct signatures narrowed;
    const D3D10DDIARG_STAGE_IO_SIGNATURES n = stage(&narrowed, s);

    driver(h)->pfnCreateGeometryShaderWithStreamOutput(h, a, hs, rt, &n);
}

/* ---- what 11.0 has not ---------------------------------------------------- */

static VOID APIENTRY discard(D3D10DDI_HDEVICE h, D3D11DDI_HANDLETYPE type, VOID *resource_or_view,
                             CONST D3D10_DDI_RECT *rects, UINT count)
{
}

static VOID APIENTRY debug_binary(D3D10DDI_HDEVICE h, D3D10DDI_HSHADER s, UINT size, CONST VOID *bytes)
{
}

static VOID APIENTRY direct_flip(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE a, D3D10DDI_HRESOURCE b, UINT flags,
                                 BOOL *supported)
{
    *supported = FALSE;
}

/* Whole views alone, as D3D11_FEATURE_DATA_D3D11_OPTIONS says. */
static VOID APIENTRY clear_view(D3D10DDI_HDEVICE h, D3D11DDI_HANDLETYPE type, VOID *view, CONST FLOAT c[4],
                                CONST D3D10_DDI_RECT *rects, UINT count)
{
    FLOAT colour[4];

    memcpy(colour, c, sizeof(colour));
    if (!rects && type == D3D10DDI_HT_RENDERTARGETVIEW)
        driver(h)->pfnClearRenderTargetView(h, (D3D10DDI_HRENDERTARGETVIEW){view}, colour);
    else if (!rects)
        driver(h)->pfnClearUnorderedAccessViewFloat(h, (D3D11DDI_HUNORDEREDACCESSVIEW){view}, colour);
}

void d3d_eleven_functions(struct d3d_device *d)
{
    D3D11_1DDI_DEVICEFUNCS *f = &d->ddi;

    memcpy(f, &d->eleven,
           sizeof(d->eleven)); /* begins alike; those that do not take the same are named below */
    f->pfnResourceUpdateSubresourceUP = update;
    f->pfnDefaultConstantBufferUpdateSubresourceUP = update_constants;
    f->pfnResourceCopyRegion = copy_region;
    f->pfnResourceConvertRegion = convert_region;
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
    f->pfnDiscard = discard;
    f->pfnAssignDebugBinary = debug_binary;
    f->pfnDynamicConstantBufferMapNoOverwrite = d->eleven.pfnDynamicConstantBufferMapDiscard;
    f->pfnCheckDirectFlipSupport = direct_flip;
    f->pfnClearView = clear_view;
}
