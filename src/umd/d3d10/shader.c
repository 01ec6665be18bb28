/* SPDX-License-Identifier: MIT */
/* shader.c: shaders, and what their stages have bound. */
#include "umd/d3d10/umd10.h"

#include <stdlib.h>

#include "base/dxbc/sm4_check.h"

static SIZE_T APIENTRY shader_size(D3D10DDI_HDEVICE h, CONST UINT *code,
                                   CONST D3D11_1DDIARG_STAGE_IO_SIGNATURES *s)
{
    return sizeof(struct umd10_shader);
}

static SIZE_T APIENTRY tessellation_size(D3D10DDI_HDEVICE h, CONST UINT *code,
                                         CONST D3D11_1DDIARG_TESSELLATION_IO_SIGNATURES *s)
{
    return sizeof(struct umd10_shader);
}

static SIZE_T APIENTRY streams_size(D3D10DDI_HDEVICE h,
                                    CONST D3D11DDIARG_CREATEGEOMETRYSHADERWITHSTREAMOUTPUT *a,
                                    CONST D3D11_1DDIARG_STAGE_IO_SIGNATURES *s)
{
    return sizeof(struct umd10_shader);
}

/* The runtime saw to the lengths. */
static struct umd10_facts facts_of(const UINT *code)
{
    enum {
        CUSTOM_DATA = 53,
        DCL_GS_INPUT_PRIMITIVE = 93,
        DCL_INPUT_CONTROL_POINTS = 147,
        DCL_TESS_DOMAIN = 149,
        DCL_TESS_OUTPUT_PRIMITIVE = 151
    };
    struct umd10_facts f = {0};

    for (UINT at = 2, length; at < code[1]; at += length) {
        UINT opcode = code[at] & 0x7FF, value = code[at] >> 11 & 63;

        length = opcode == CUSTOM_DATA ? code[at + 1] : code[at] >> 24 & 127;
        if (opcode == DCL_GS_INPUT_PRIMITIVE)
            f.gs_input = (uint8_t)value;
        else if (opcode == DCL_INPUT_CONTROL_POINTS)
            f.points = (uint8_t)value;
        else if (opcode == DCL_TESS_DOMAIN)
            f.domain = value & 3;
        else if (opcode == DCL_TESS_OUTPUT_PRIMITIVE)
            f.output = value & 7;
        if (!length)
            break;
    }
    return f;
}

/* What the interface left out of a program is made up: whether the device takes the whole. */
static bool device_takes(const void *dxbc, uint32_t size)
{
    struct dxbc_shader s;

    return !dxbc_shader_open(&s, dxbc, size, SM4_ANY_TYPE, NULL);
}

static void emit_create(struct umd10_device *d, uint32_t name, enum umd10_stage stage, const void *dxbc,
                        uint32_t size)
{
    uint32_t shader_stage, stage_ex;

    umd10_stage(stage, &shader_stage, &stage_ex);
    umd10_room(d, size + 64);
    ABI_EMIT_TAIL(&d->stream, CREATE_SHADER_DXBC, create_shader_dxbc, dxbc, size, .shader_handle = name,
                  .stage = shader_stage, .dxbc_size_bytes = size, .stage_ex = stage_ex);
}

enum { DEBUG_ROOM = 8192 }; /* of a submission, for what has to be in it beside a shader */

/* What compilers say of a program beside it goes to the device, too, for who has to explain it: as much as there is room for. */
static uint8_t *add_debug(struct umd10_device *d, uint8_t *dxbc, uint32_t *size)
{
    static const uint32_t told[] = {DXBC_FOURCC('R', 'D', 'E', 'F'), DXBC_FOURCC('S', 'D', 'B', 'G'),
                                    DXBC_FOURCC('S', 'P', 'D', 'B'), DXBC_FOURCC('I', 'L', 'D', 'N'),
                                    DXBC_FOURCC('P', 'R', 'I', 'V')};
    struct dxbc c;

    if (!d->container || dxbc_open(&c, d->container, (uint32_t)d->container_size, NULL))
        return dxbc;
    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        const struct dxbc_chunk *chunk = dxbc_find(&c, told[i]);
        uint32_t larger;
        uint8_t *with;

        if (!chunk || *size + chunk->size + DEBUG_ROOM > d->command_size)
            continue;
        with = umd10_dxbc_add(dxbc, *size, told[i], chunk->data, chunk->size, &larger);
        if (!with)
            break;
        free(dxbc);
        dxbc = with;
        *size = larger;
    }
    return dxbc;
}

static void create(D3D10DDI_HDEVICE h, D3D10DDI_HSHADER hs, const struct umd10_program *p,
                   enum umd10_stage stage)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_shader *o = hs.pDrvPrivate;
    uint32_t size = 0;
    uint8_t *dxbc = umd10_dxbc(p, &size);

    *o = (struct umd10_shader){.facts = facts_of(p->code)};
    if (!dxbc || !device_takes(dxbc, size)) {
        umd10_error(d, dxbc ? E_INVALIDARG : E_OUTOFMEMORY);
        free(dxbc);
        return;
    }
    dxbc = add_debug(d, dxbc, &size);
    o->name = umd10_name(d);
    emit_create(d, o->name, stage, dxbc, size);
    if (stage == UMD10_VS || stage == UMD10_DS) { /* something may be added to them */
        o->dxbc = dxbc;
        o->size = size;
        return;
    }
    free(dxbc);
}

static void create_plain(D3D10DDI_HDEVICE h, CONST UINT *code, D3D10DDI_HSHADER hs,
                         const D3D11_1DDIARG_STAGE_IO_SIGNATURES *s, enum umd10_stage stage)
{
    static const D3D11_1DDIARG_STAGE_IO_SIGNATURES none;

    s = s ? s : &none;
    create(h, hs,
           &(struct umd10_program){.code = code,
                                   .in = s->pInputSignature,
                                   .num_in = s->NumInputSignatureEntries,
                                   .out = s->pOutputSignature,
                                   .num_out = s->NumOutputSignatureEntries},
           stage);
}

static void create_tessellation(D3D10DDI_HDEVICE h, CONST UINT *code, D3D10DDI_HSHADER hs,
                                const D3D11_1DDIARG_TESSELLATION_IO_SIGNATURES *s, enum umd10_stage stage)
{
    create(h, hs,
           &(struct umd10_program){.code = code,
                                   .in = s->pInputSignature,
                                   .num_in = s->NumInputSignatureEntries,
                                   .out = s->pOutputSignature,
                                   .num_out = s->NumOutputSignatureEntries,
                                   .patch = s->pPatchConstantSignature,
                                   .num_patch = s->NumPatchConstantSignatureEntries},
           stage);
}

static VOID APIENTRY create_vs(D3D10DDI_HDEVICE h, CONST UINT *code, D3D10DDI_HSHADER hs,
                               D3D10DDI_HRTSHADER rt, CONST D3D11_1DDIARG_STAGE_IO_SIGNATURES *s)
{
    create_plain(h, code, hs, s, UMD10_VS);
}

static VOID APIENTRY create_gs(D3D10DDI_HDEVICE h, CONST UINT *code, D3D10DDI_HSHADER hs,
                               D3D10DDI_HRTSHADER rt, CONST D3D11_1DDIARG_STAGE_IO_SIGNATURES *s)
{
    create_plain(h, code, hs, s, UMD10_GS);
}

static VOID APIENTRY create_ps(D3D10DDI_HDEVICE h, CONST UINT *code, D3D10DDI_HSHADER hs,
                               D3D10DDI_HRTSHADER rt, CONST D3D11_1DDIARG_STAGE_IO_SIGNATURES *s)
{
    create_plain(h, code, hs, s, UMD10_PS);
}

static VOID APIENTRY create_hs(D3D10DDI_HDEVICE h, CONST UINT *code, D3D10DDI_HSHADER hs,
                               D3D10DDI_HRTSHADER rt, CONST D3D11_1DDIARG_TESSELLATION_IO_SIGNATURES *s)
{
    create_tessellation(h, code, hs, s, UMD10_HS);
}

static VOID APIENTRY create_ds(D3D10DDI_HDEVICE h, CONST UINT *code, D3D10DDI_HSHADER hs,
                               D3D10DDI_HRTSHADER rt, CONST D3D11_1DDIARG_TESSELLATION_IO_SIGNATURES *s)
{
    create_tessellation(h, code, hs, s, UMD10_DS);
}

static VOID APIENTRY create_cs(D3D10DDI_HDEVICE h, CONST UINT *code, D3D10DDI_HSHADER hs,
                               D3D10DDI_HRTSHADER rt)
{
    create_plain(h, code, hs, NULL, UMD10_CS);
}

/* ---- stream output ------------------------------------------------------- */

static void *streams_chunk(const D3D11DDIARG_CREATEGEOMETRYSHADERWITHSTREAMOUTPUT *a, uint32_t *size)
{
    struct aerogpu_stream_output head = {.count = a->NumEntries, .rasterized = a->RasterizedStream};
    uint8_t *chunk;

    *size = (uint32_t)(sizeof(head) + a->NumEntries * sizeof(struct aerogpu_stream_output_entry));
    chunk = calloc(1, *size);
    if (!chunk)
        return NULL;
    for (UINT i = 0; i < a->NumStrides && i < AEROGPU_STREAM_OUTPUT_SLOTS; i++)
        head.strides[i] = a->BufferStridesInBytes[i];
    memcpy(chunk, &head, sizeof(head));
    for (UINT i = 0; i < a->NumEntries; i++) {
        const D3D11DDIARG_STREAM_OUTPUT_DECLARATION_ENTRY *e = &a->pOutputStreamDecl[i];
        struct aerogpu_stream_output_entry to = {.stream = (uint8_t)e->Stream,
                                                 .slot = (uint8_t)e->OutputSlot,
                                                 .mask = e->RegisterMask,
                                                 .reg = e->RegisterIndex};

        memcpy(chunk + sizeof(head) + i * sizeof(to), &to, sizeof(to));
    }
    return chunk;
}

static VOID APIENTRY create_streams(D3D10DDI_HDEVICE h,
                                    CONST D3D11DDIARG_CREATEGEOMETRYSHADERWITHSTREAMOUTPUT *a,
                                    D3D10DDI_HSHADER hs, D3D10DDI_HRTSHADER rt,
                                    CONST D3D11_1DDIARG_STAGE_IO_SIGNATURES *s)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_shader *o = hs.pDrvPrivate;
    uint32_t size;
    void *chunk;

    *o = (struct umd10_shader){0};
    if (!umd10_has(d, AEROGPU_EXT_FEATURE(EXT_STREAM_OUTPUT)) || a->NumEntries > AEROGPU_STREAM_OUTPUT_MOST) {
        umd10_error(d, DXGI_DDI_ERR_UNSUPPORTED);
        return;
    }
    chunk = streams_chunk(a, &size);
    if (!chunk) {
        umd10_error(d, E_OUTOFMEMORY);
        return;
    }
    if (!a->pShaderCode) { /* what the stage in front writes */
        o->streams = chunk;
        o->streams_size = size;
        return;
    }
    create(h, hs,
           &(struct umd10_program){.code = a->pShaderCode,
                                   .in = s->pInputSignature,
                                   .num_in = s->NumInputSignatureEntries,
                                   .out = s->pOutputSignature,
                                   .num_out = s->NumOutputSignatureEntries,
                                   .streams = chunk,
                                   .streams_size = size},
           UMD10_GS);
    free(chunk);
}

/* The program of `stage` with the stream output `o` added; 0: no memory. */
static uint32_t streamed(struct umd10_device *d, struct umd10_shader *o, const struct umd10_shader *source,
                         enum umd10_stage stage)
{
    struct umd10_streamed *n;
    uint32_t size;
    void *dxbc;

    for (n = o->streamed; n; n = n->next)
        if (n->source == source->name)
            return n->name;
    n = calloc(1, sizeof(*n));
    dxbc = umd10_dxbc_add(source->dxbc, source->size, AEROGPU_STREAM_OUTPUT_CHUNK, o->streams,
                          o->streams_size, &size);
    if (!n || !dxbc) {
        free(n);
        free(dxbc);
        umd10_error(d, E_OUTOFMEMORY);
        return 0;
    }
    *n = (struct umd10_streamed){o->streamed, source->name, umd10_name(d)};
    o->streamed = n;
    emit_create(d, n->name, stage, dxbc, size);
    free(dxbc);
    return n->name;
}

static VOID APIENTRY destroy_shader(D3D10DDI_HDEVICE h, D3D10DDI_HSHADER hs)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_shader *o = hs.pDrvPrivate;

    free(o->dxbc);
    free(o->streams);
    while (o->streamed) {
        struct umd10_streamed *n = o->streamed;

        o->streamed = n->next;
        umd10_room(d, 64);
        ABI_EMIT(&d->stream, DESTROY_SHADER, destroy_shader, .shader_handle = n->name);
        free(n);
    }
    if (!o->name)
        return;
    umd10_room(d, 64);
    ABI_EMIT(&d->stream, DESTROY_SHADER, destroy_shader, .shader_handle = o->name);
}

static void set_shader(D3D10DDI_HDEVICE h, D3D10DDI_HSHADER hs, enum umd10_stage stage)
{
    struct umd10_device *d = umd10_device(h);

    d->shaders[stage] = hs.pDrvPrivate;
    d->shaders_changed = true;
}

static uint32_t name_of(const struct umd10_device *d, enum umd10_stage stage)
{
    return d->shaders[stage] ? d->shaders[stage]->name : 0;
}

void umd10_bind_shaders(struct umd10_device *d)
{
    struct aerogpu_cmd_bind_shaders b = {
        .vs = name_of(d, UMD10_VS), .ps = name_of(d, UMD10_PS), .cs = name_of(d, UMD10_CS)};
    uint32_t more[3] = {name_of(d, UMD10_GS), name_of(d, UMD10_HS), name_of(d, UMD10_DS)}, name;
    struct umd10_shader *gs = d->shaders[UMD10_GS];

    if (!d->shaders_changed)
        return;
    d->shaders_changed = false;
    if (gs && gs->streams) {
        enum umd10_stage last = d->shaders[UMD10_DS] ? UMD10_DS : UMD10_VS;

        if (d->shaders[last] && d->shaders[last]->dxbc && (name = streamed(d, gs, d->shaders[last], last)))
            *(last == UMD10_DS ? &more[2] : &b.vs) = name;
    }
    umd10_room(d, 128);
    abi_builder_packet(&d->stream, AEROGPU_CMD_BIND_SHADERS, &b, sizeof(b), more, sizeof(more));
}

/* What begins behind the end of its buffer reads as zeros, as nothing does. */
static void set_constants(D3D10DDI_HDEVICE h, UINT first, UINT count, CONST D3D10DDI_HRESOURCE *buffers,
                          CONST UINT *first_constant, CONST UINT *constants, enum umd10_stage stage)
{
    enum { CONSTANT = 16, MOST = 4096 };
    struct umd10_device *d = umd10_device(h);
    struct aerogpu_constant_buffer_binding bindings[16] = {0};
    uint32_t shader_stage, stage_ex;

    for (UINT i = 0; i < count && i < 16; i++) {
        const struct umd10_resource *r = buffers[i].pDrvPrivate;
        const uint64_t from = first_constant ? (uint64_t)first_constant[i] * CONSTANT : 0;
        const UINT n = constants && constants[i] < MOST ? constants[i] : MOST;

        if (!r || from >= r->size || !n)
            continue;
        bindings[i] = (struct aerogpu_constant_buffer_binding){
            .buffer = r->name, .offset_bytes = (uint32_t)from, .size_bytes = n * CONSTANT};
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
        if (v && v->resource->buffer && !v->own) {
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

void umd10_set_uavs(struct umd10_device *d, enum umd10_stage stage, UINT first, UINT count,
                    CONST D3D11DDI_HUNORDEREDACCESSVIEW *views, CONST UINT *initial_counts)
{
    struct aerogpu_unordered_access_buffer_binding b[UMD10_UAVS] = {0};
    uint32_t shader_stage, stage_ex;

    count = count < UMD10_UAVS ? count : UMD10_UAVS;
    for (UINT i = 0; i < count; i++) {
        const struct umd10_view *v = views[i].pDrvPrivate;
        bool range = v && v->resource->buffer && !v->own;

        b[i].initial_count = AEROGPU_UAV_INITIAL_COUNT_KEEP;
        if (v)
            b[i] = (struct aerogpu_unordered_access_buffer_binding){
                .buffer = v->name,
                .offset_bytes = range ? v->offset : 0,
                .size_bytes = range ? v->size : 0,
                .initial_count = initial_counts ? initial_counts[i] : AEROGPU_UAV_INITIAL_COUNT_KEEP};
    }
    umd10_stage(stage, &shader_stage, &stage_ex);
    umd10_room(d, sizeof(b) + 64);
    ABI_EMIT_TAIL(&d->stream, SET_UNORDERED_ACCESS_BUFFERS, set_unordered_access_buffers, b,
                  count * (uint32_t)sizeof(b[0]), .shader_stage = shader_stage, .start_slot = first,
                  .uav_count = count, .stage_ex = stage_ex);
}

static VOID APIENTRY set_uavs(D3D10DDI_HDEVICE h, UINT first, UINT count,
                              CONST D3D11DDI_HUNORDEREDACCESSVIEW *views, CONST UINT *initial_counts)
{
    umd10_set_uavs(umd10_device(h), UMD10_CS, first, count, views, initial_counts);
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
                                                CONST D3D10DDI_HRESOURCE *b, CONST UINT *from,               \
                                                CONST UINT *n)                                               \
    {                                                                                                        \
        set_constants(h, first, count, b, from, n, stage);                                                   \
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

void umd10_shader_functions(D3D11_1DDI_DEVICEFUNCS *f)
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
    f->pfnCalcPrivateTessellationShaderSize = tessellation_size;
    f->pfnCreateHullShader = create_hs;
    f->pfnCreateDomainShader = create_ds;
    f->pfnCalcPrivateGeometryShaderWithStreamOutput = streams_size;
    f->pfnCreateGeometryShaderWithStreamOutput = create_streams;
    f->pfnDestroyShader = destroy_shader;
}
