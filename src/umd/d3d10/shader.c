/* SPDX-License-Identifier: MIT */
/* shader.c: shaders, and what their stages have bound. */
#include "umd/d3d10/umd10.h"

#include <stdlib.h>

#include "base/dxbc/sm4_check.h"

static SIZE_T APIENTRY shader_size(D3D10DDI_HDEVICE h, CONST UINT *code,
                                   CONST D3D10DDIARG_STAGE_IO_SIGNATURES *s)
{
    return sizeof(struct umd10_object);
}

/* The primitive that a geometry shader declares to take (D3D10_SB_PRIMITIVE); 0: it does not say. The runtime saw to the lengths. */
static uint32_t geometry_of(const UINT *code)
{
    enum { CUSTOM_DATA = 53, DCL_GS_INPUT_PRIMITIVE = 93 };

    for (UINT at = 2, length; at < code[1]; at += length) {
        UINT opcode = code[at] & 0x7FF;

        length = opcode == CUSTOM_DATA ? code[at + 1] : code[at] >> 24 & 127;
        if (opcode == DCL_GS_INPUT_PRIMITIVE)
            return code[at] >> 11 & 63;
        if (!length)
            break;
    }
    return 0;
}

/* What the interface left out of a program is made up: whether the device takes the whole. */
static bool device_takes(const void *dxbc, uint32_t size)
{
    struct dxbc_shader s;

    return !dxbc_shader_open(&s, dxbc, size, SM4_ANY_TYPE, NULL);
}

static void create(D3D10DDI_HDEVICE h, CONST UINT *code, D3D10DDI_HSHADER hs,
                   CONST D3D10DDIARG_STAGE_IO_SIGNATURES *s, enum umd10_stage stage)
{
    static const D3D10DDIARG_STAGE_IO_SIGNATURES none;
    struct umd10_device *d = umd10_device(h);
    struct umd10_object *o = hs.pDrvPrivate;
    uint32_t size = 0, shader_stage, stage_ex;
    void *dxbc;

    if (!s)
        s = &none;
    dxbc = umd10_dxbc(code, s->pInputSignature, s->NumInputSignatureEntries, s->pOutputSignature,
                      s->NumOutputSignatureEntries, &size);
    *o = (struct umd10_object){.geometry = stage == UMD10_GS ? geometry_of(code) : 0};
    if (!dxbc || !device_takes(dxbc, size)) {
        umd10_error(d, dxbc ? E_INVALIDARG : E_OUTOFMEMORY);
        free(dxbc);
        return;
    }
    o->name = umd10_name(d);
    umd10_stage(stage, &shader_stage, &stage_ex);
    umd10_room(d, size + 64);
    ABI_EMIT_TAIL(&d->stream, CREATE_SHADER_DXBC, create_shader_dxbc, dxbc, size, .shader_handle = o->name,
                  .stage = shader_stage, .dxbc_size_bytes = size, .stage_ex = stage_ex);
    free(dxbc);
}

static VOID APIENTRY create_vs(D3D10DDI_HDEVICE h, CONST UINT *code, D3D10DDI_HSHADER hs,
                               D3D10DDI_HRTSHADER rt, CONST D3D10DDIARG_STAGE_IO_SIGNATURES *s)
{
    create(h, code, hs, s, UMD10_VS);
}

static VOID APIENTRY create_gs(D3D10DDI_HDEVICE h, CONST UINT *code, D3D10DDI_HSHADER hs,
                               D3D10DDI_HRTSHADER rt, CONST D3D10DDIARG_STAGE_IO_SIGNATURES *s)
{
    create(h, code, hs, s, UMD10_GS);
}

static VOID APIENTRY create_ps(D3D10DDI_HDEVICE h, CONST UINT *code, D3D10DDI_HSHADER hs,
                               D3D10DDI_HRTSHADER rt, CONST D3D10DDIARG_STAGE_IO_SIGNATURES *s)
{
    create(h, code, hs, s, UMD10_PS);
}

static VOID APIENTRY create_cs(D3D10DDI_HDEVICE h, CONST UINT *code, D3D10DDI_HSHADER hs,
                               D3D10DDI_HRTSHADER rt)
{
    create(h, code, hs, NULL, UMD10_CS);
}

static VOID APIENTRY destroy_shader(D3D10DDI_HDEVICE h, D3D10DDI_HSHADER hs)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_object *o = hs.pDrvPrivate;

    if (!o->name)
        return;
    umd10_room(d, 64);
    ABI_EMIT(&d->stream, DESTROY_SHADER, destroy_shader, .shader_handle = o->name);
}

static void set_shader(D3D10DDI_HDEVICE h, D3D10DDI_HSHADER hs, enum umd10_stage stage)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_object *o = hs.pDrvPrivate;

    d->shaders[stage] = o ? o->name : 0;
    d->shaders_changed = true;
    if (stage == UMD10_GS)
        d->geometry = o ? o->geometry : 0;
}

static void set_constants(D3D10DDI_HDEVICE h, UINT first, UINT count, CONST D3D10DDI_HRESOURCE *buffers,
                          enum umd10_stage stage)
{
    struct umd10_device *d = umd10_device(h);
    struct aerogpu_constant_buffer_binding bindings[16] = {0};
    uint32_t shader_stage, stage_ex;

    for (UINT i = 0; i < count && i < 16; i++) {
        const struct umd10_resource *r = buffers[i].pDrvPrivate;
        bindings[i].buffer = r ? r->name : 0;
    }
    umd10_stage(stage, &shader_stage, &stage_ex);
    umd10_room(d, 512);
    ABI_EMIT_TAIL(&d->stream, SET_CONSTANT_BUFFERS, set_constant_buffers, bindings,
                  count * (uint32_t)sizeof(bindings[0]), .shader_stage = shader_stage, .start_slot = first,
                  .buffer_count = count, .stage_ex = stage_ex);
}

static void set_views(D3D10DDI_HDEVICE h, UINT first, UINT count, CONST D3D10DDI_HSHADERRESOURCEVIEW *views,
                      enum umd10_stage stage)
{
    struct umd10_device *d = umd10_device(h);
    uint32_t shader_stage, stage_ex;

    umd10_stage(stage, &shader_stage, &stage_ex);
    for (UINT i = 0; i < count; i++) {
        const struct umd10_view *v = views[i].pDrvPrivate;

        umd10_room(d, 128);
        if (v && v->resource->buffer) {
            struct aerogpu_shader_resource_buffer_binding b = {
                .buffer = v->name, .offset_bytes = v->offset, .size_bytes = v->size};
            ABI_EMIT_TAIL(&d->stream, SET_SHADER_RESOURCE_BUFFERS, set_shader_resource_buffers, &b, sizeof(b),
                          .shader_stage = shader_stage, .start_slot = first + i, .buffer_count = 1,
                          .stage_ex = stage_ex);
        } else {
            ABI_EMIT(&d->stream, SET_TEXTURE, set_texture, .shader_stage = shader_stage, .slot = first + i,
                     .texture = v ? v->name : 0, .stage_ex = stage_ex);
        }
    }
}

static VOID APIENTRY set_uavs(D3D10DDI_HDEVICE h, UINT first, UINT count,
                              CONST D3D11DDI_HUNORDEREDACCESSVIEW *views, CONST UINT *initial_counts)
{
    struct umd10_device *d = umd10_device(h);
    struct aerogpu_unordered_access_buffer_binding b[8] = {0};
    uint32_t shader_stage, stage_ex;

    count = count < 8 ? count : 8;
    for (UINT i = 0; i < count; i++) {
        const struct umd10_view *v = views[i].pDrvPrivate;

        b[i].initial_count = AEROGPU_UAV_INITIAL_COUNT_KEEP;
        if (v)
            b[i] = (struct aerogpu_unordered_access_buffer_binding){
                .buffer = v->name,
                .offset_bytes = v->offset,
                .size_bytes = v->size,
                .initial_count = initial_counts ? initial_counts[i] : AEROGPU_UAV_INITIAL_COUNT_KEEP};
    }
    umd10_stage(UMD10_CS, &shader_stage, &stage_ex);
    umd10_room(d, 256);
    ABI_EMIT_TAIL(&d->stream, SET_UNORDERED_ACCESS_BUFFERS, set_unordered_access_buffers, b,
                  count * (uint32_t)sizeof(b[0]), .shader_stage = shader_stage, .start_slot = first,
                  .uav_count = count, .stage_ex = stage_ex);
}

static void set_samplers(D3D10DDI_HDEVICE h, UINT first, UINT count, CONST D3D10DDI_HSAMPLER *samplers,
                         enum umd10_stage stage)
{
    struct umd10_device *d = umd10_device(h);
    uint32_t names[16] = {0}, shader_stage, stage_ex;

    for (UINT i = 0; i < count && i < 16; i++) {
        const struct umd10_object *o = samplers[i].pDrvPrivate;
        names[i] = o ? o->name : 0;
    }
    umd10_stage(stage, &shader_stage, &stage_ex);
    umd10_room(d, 128);
    ABI_EMIT_TAIL(&d->stream, SET_SAMPLERS, set_samplers, names, count * 4, .shader_stage = shader_stage,
                  .start_slot = first, .sampler_count = count, .stage_ex = stage_ex);
}

#define STAGE(prefix, stage)                                                                                 \
    static VOID APIENTRY prefix##_set_shader(D3D10DDI_HDEVICE h, D3D10DDI_HSHADER s)                         \
    {                                                                                                        \
        set_shader(h, s, stage);                                                                             \
    }                                                                                                        \
    static VOID APIENTRY prefix##_set_constants(D3D10DDI_HDEVICE h, UINT first, UINT count,                  \
                                                CONST D3D10DDI_HRESOURCE *b)                                 \
    {                                                                                                        \
        set_constants(h, first, count, b, stage);                                                            \
    }                                                                                                        \
    static VOID APIENTRY prefix##_set_views(D3D10DDI_HDEVICE h, UINT first, UINT count,                      \
                                            CONST D3D10DDI_HSHADERRESOURCEVIEW *v)                           \
    {                                                                                                        \
        set_views(h, first, count, v, stage);                                                                \
    }                                                                                                        \
    static VOID APIENTRY prefix##_set_samplers(D3D10DDI_HDEVICE h, UINT first, UINT count,                   \
                                               CONST D3D10DDI_HSAMPLER *s)                                   \
    {                                                                                                        \
        set_samplers(h, first, count, s, stage);                                                             \
    }
STAGE(vs, UMD10_VS)
STAGE(ps, UMD10_PS)
STAGE(gs, UMD10_GS)
STAGE(hs, UMD10_HS)
STAGE(ds, UMD10_DS)
STAGE(cs, UMD10_CS)

void umd10_shader_functions(D3D11DDI_DEVICEFUNCS *f)
{
#define SET(Name, prefix)                                                                                    \
    f->pfn##Name##SetShader = prefix##_set_shader;                                                           \
    f->pfn##Name##SetConstantBuffers = prefix##_set_constants;                                               \
    f->pfn##Name##SetShaderResources = prefix##_set_views;                                                   \
    f->pfn##Name##SetSamplers = prefix##_set_samplers;
    SET(Vs, vs)
    SET(Ps, ps)
    SET(Gs, gs)
    SET(Hs, hs)
    SET(Ds, ds)
    SET(Cs, cs)
#undef SET
    f->pfnCsSetUnorderedAccessViews = set_uavs;
    f->pfnCalcPrivateShaderSize = shader_size;
    f->pfnCreateVertexShader = create_vs;
    f->pfnCreateGeometryShader = create_gs;
    f->pfnCreatePixelShader = create_ps;
    f->pfnCreateComputeShader = create_cs;
    f->pfnDestroyShader = destroy_shader;
}
