/* SPDX-License-Identifier: MIT */
/* shader.c: shaders and input layouts: from the containers that programs bring to what a driver is told of them. */
#include "d3d/tables.h"
#include "d3d/d3d.h"

#include <stdio.h>
#include <strings.h>

/* A system value, as the interface numbers it: tessellation factors, which containers tell apart by name and index, one by one. */
static UINT system_value(const struct dxbc_element *e)
{
    static const uint8_t factors[][2] = {[11] = {11, 4}, {15, 2}, {17, 3}, {20, 1}, {21, 1}, {22, 1}};

    if (e->system_value < 11)
        return e->system_value;
    if (e->system_value >= sizeof(factors) / sizeof(factors[0]) || e->index >= factors[e->system_value][1])
        return 0;
    return factors[e->system_value][0] + e->index;
}

static UINT signature(const struct dxbc_signature *s, D3D11_1DDIARG_SIGNATURE_ENTRY *out)
{
    for (uint32_t i = 0; i < s->count; i++)
        out[i] = (D3D11_1DDIARG_SIGNATURE_ENTRY){.SystemValue = system_value(&s->elements[i]),
                                                 .Register = s->elements[i].reg,
                                                 .Mask = s->elements[i].mask,
                                                 .RegisterComponentType = s->elements[i].component};
    return s->count;
}

/* Feature level 10_0 has unordered access to raw and structured buffers, and to nothing else. */
static bool has_typed_uav(const struct dxbc_shader *x)
{
    struct sm4 program = x->program;
    struct sm4_instruction i;

    while (sm4_next(&program, &i, NULL) > 0)
        if (i.opcode == SM4_OP_DCL_UAV_TYPED)
            return true;
    return false;
}

/* False: the container is not whole, or its program none that there can be (dxbc_shader_open), or of another type, or one that the
 * feature level has not. */
bool d3d_program_read(struct d3d_program *p, const void *bytes, SIZE_T size, uint32_t type)
{
    if (dxbc_shader_open(&p->dxbc, bytes, size, type, NULL))
        return false;
    p->code = (const UINT *)(const void *)p->dxbc.program.data;
    p->num_in = signature(&p->dxbc.in, p->in);
    p->num_out = signature(&p->dxbc.out, p->out);
    p->num_patch = signature(&p->dxbc.patch, p->patch);
    return true;
}

/* The input register of a semantic; -1: it has none. */
static int program_register(const struct d3d_program *p, const char *semantic, UINT index)
{
    for (uint32_t i = 0; i < p->dxbc.in.count; i++)
        if (!strcasecmp(p->dxbc.in.elements[i].name, semantic) && p->dxbc.in.elements[i].index == index)
            return (int)p->dxbc.in.elements[i].reg;
    return -1;
}

/* ---- creating ------------------------------------------------------------- */

/* Feature levels below 10_0 have vertex and pixel shaders alone, of which the compiler made programs of Direct3D 9 as well; those below
 * 11_0 no programs of shader model 5, and 10_0 none of 4.1. */
static bool level_has(D3D_FEATURE_LEVEL level, const struct d3d_program *p, enum d3d_kind kind)
{
    if (level >= D3D_FEATURE_LEVEL_11_0)
        return true;
    if (level >= D3D_FEATURE_LEVEL_10_0)
        return p->dxbc.program.major < 5 && !has_typed_uav(&p->dxbc) &&
               (level >= D3D_FEATURE_LEVEL_10_1 || !p->dxbc.program.minor);
    return (kind == D3D_SHADER_VS || kind == D3D_SHADER_PS) &&
           dxbc_find(&p->dxbc.container, DXBC_FOURCC('A', 'o', 'n', '9'));
}

bool d3d_program_allowed(const struct d3d_device *d, const struct d3d_program *p)
{
    return level_has(d->level, p, D3D_SHADER_GS);
}

static void tell_shader(struct d3d_device *d, enum d3d_kind kind, const UINT *code, D3D10DDI_HSHADER h,
                        D3D10DDI_HRTSHADER rt, const D3D11_1DDIARG_STAGE_IO_SIGNATURES *s,
                        const D3D11_1DDIARG_TESSELLATION_IO_SIGNATURES *patches)
{
    switch ((int)kind) {
    case D3D_SHADER_HS:
        d->ddi.pfnCreateHullShader(d->drv, code, h, rt, patches);
        break;
    case D3D_SHADER_DS:
        d->ddi.pfnCreateDomainShader(d->drv, code, h, rt, patches);
        break;
    case D3D_SHADER_VS:
        d->ddi.pfnCreateVertexShader(d->drv, code, h, rt, s);
        break;
    case D3D_SHADER_PS:
        d->ddi.pfnCreatePixelShader(d->drv, code, h, rt, s);
        break;
    case D3D_SHADER_GS:
        d->ddi.pfnCreateGeometryShader(d->drv, code, h, rt, s);
        break;
    case D3D_SHADER_CS:
        d->ddi.pfnCreateComputeShader(d->drv, code, h, rt);
        break;
    }
}

/* Which type of shader the container's program is of decides between the two. */
static HRESULT refuse(struct d3d_device *d, enum d3d_kind kind, const void *bytes, SIZE_T size)
{
    static const struct {
        D3D11_MESSAGE_ID code, type;
        const char *name;
    } said[] = {
#define SAID(kind, NAME, name)                                                                               \
    [kind - D3D_SHADER_VS] = {D3D11_MESSAGE_ID_CREATE##NAME##SHADER_INVALIDSHADERBYTECODE,                   \
                              D3D11_MESSAGE_ID_CREATE##NAME##SHADER_INVALIDSHADERTYPE, name}
        SAID(D3D_SHADER_VS, VERTEX, "Vertex"),     SAID(D3D_SHADER_PS, PIXEL, "Pixel"),
        SAID(D3D_SHADER_GS, GEOMETRY, "Geometry"), SAID(D3D_SHADER_HS, HULL, "Hull"),
        SAID(D3D_SHADER_DS, DOMAIN, "Domain"),     SAID(D3D_SHADER_CS, COMPUTE, "Compute")};
    const int i = (int)kind - D3D_SHADER_VS;
    struct d3d_program p;
    bool other = bytes && d3d_program_read(&p, bytes, size, SM4_ANY_TYPE);

    return d3d_refuse(d, other ? said[i].type : said[i].code, "ID3D11Device::Create%sShader: %s",
                      said[i].name,
                      other ? "the shader is of another type, or of a model that the feature level has not"
                            : "the container is not whole, or its program none that there can be");
}

/* Layers and viewports are what geometry shaders choose, and no other stage. */
static bool names_layer(const struct d3d_program *p)
{
    enum { LAYER = 4, VIEWPORT = 5 };

    for (UINT i = 0; i < p->num_out; i++)
        if (p->out[i].SystemValue == LAYER || p->out[i].SystemValue == VIEWPORT)
            return true;
    return false;
}

static HRESULT create(ID3D11Device *This, const void *bytes, SIZE_T size, ID3D11ClassLinkage *linkage,
                      void **out, enum d3d_kind kind, uint32_t type)
{
    struct d3d_device *d = (struct d3d_device *)This;
    struct d3d_program p;
    D3D11_1DDIARG_STAGE_IO_SIGNATURES s;
    D3D11_1DDIARG_TESSELLATION_IO_SIGNATURES patches;
    struct d3d_child *c;

    if (out)
        *out = NULL;
    if (!bytes || !d3d_program_read(&p, bytes, size, type) || !level_has(d->level, &p, kind) ||
        (kind != D3D_SHADER_GS && names_layer(&p)))
        return refuse(d, kind, bytes, size);
    if (linkage)
        return E_INVALIDARG;
    if (!out)
        return S_FALSE;
    s = (D3D11_1DDIARG_STAGE_IO_SIGNATURES){p.in, p.num_in, p.out, p.num_out};
    patches =
        (D3D11_1DDIARG_TESSELLATION_IO_SIGNATURES){p.in, p.num_in, p.out, p.num_out, p.patch, p.num_patch};
    c = d3d_child_create(d, kind,
                         kind == D3D_SHADER_HS || kind == D3D_SHADER_DS
                             ? d->ddi.pfnCalcPrivateTessellationShaderSize(d->drv, p.code, &patches)
                             : d->ddi.pfnCalcPrivateShaderSize(d->drv, p.code, &s));
    if (!c)
        return E_OUTOFMEMORY;
    pthread_mutex_lock(&d->lock);
    if (d->adapter->annotate.pfnContainer)
        d->adapter->annotate.pfnContainer(d->drv, bytes, size);
    tell_shader(d, kind, p.code, (D3D10DDI_HSHADER){c->drv}, (D3D10DDI_HRTSHADER){c}, &s, &patches);
    if (d->adapter->annotate.pfnContainer)
        d->adapter->annotate.pfnContainer(d->drv, NULL, 0);
    pthread_mutex_unlock(&d->lock);
    return d3d_child_finish(c, out);
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateVertexShader(ID3D11Device *This, const void *code, SIZE_T size,
                                                        ID3D11ClassLinkage *linkage, ID3D11VertexShader **out)
{
    return create(This, code, size, linkage, (void **)out, D3D_SHADER_VS, 1);
}

HRESULT STDMETHODCALLTYPE d3d_device_CreatePixelShader(ID3D11Device *This, const void *code, SIZE_T size,
                                                       ID3D11ClassLinkage *linkage, ID3D11PixelShader **out)
{
    return create(This, code, size, linkage, (void **)out, D3D_SHADER_PS, 0);
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateGeometryShader(ID3D11Device *This, const void *code, SIZE_T size,
                                                          ID3D11ClassLinkage *linkage,
                                                          ID3D11GeometryShader **out)
{
    return create(This, code, size, linkage, (void **)out, D3D_SHADER_GS, 2);
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateComputeShader(ID3D11Device *This, const void *code, SIZE_T size,
                                                         ID3D11ClassLinkage *linkage,
                                                         ID3D11ComputeShader **out)
{
    return create(This, code, size, linkage, (void **)out, D3D_SHADER_CS, 5);
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateHullShader(ID3D11Device *This, const void *code, SIZE_T size,
                                                      ID3D11ClassLinkage *linkage, ID3D11HullShader **out)
{
    return create(This, code, size, linkage, (void **)out, D3D_SHADER_HS, 3);
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateDomainShader(ID3D11Device *This, const void *code, SIZE_T size,
                                                        ID3D11ClassLinkage *linkage, ID3D11DomainShader **out)
{
    return create(This, code, size, linkage, (void **)out, D3D_SHADER_DS, 4);
}

/* Where an element is in its slot's stride. `next` is what APPEND_ALIGNED_ELEMENT means. What is wrong with it, or 0. */
static D3D11_MESSAGE_ID place(const D3D11_INPUT_ELEMENT_DESC *e, UINT *next, UINT *at)
{
    enum { MAX_STRIDE = D3D11_REQ_MULTI_ELEMENT_STRUCTURE_SIZE_IN_BYTES };
    UINT bytes = d3d_format_bytes(e->Format), unit = bytes < 4 ? bytes : 4;

    if (!bytes)
        return D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_INVALIDFORMAT;
    *at = e->AlignedByteOffset;
    if (*at == D3D11_APPEND_ALIGNED_ELEMENT)
        *at = (*next + unit - 1) & ~(unit - 1);
    if (*at % unit || *at > MAX_STRIDE - bytes)
        return D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_INVALIDALIGNMENT;
    *next = *at + bytes;
    return 0;
}

/* Vertex data has no step rate, and all elements of a slot step alike. */
static D3D11_MESSAGE_ID steps(const D3D11_INPUT_ELEMENT_DESC *descs, UINT i)
{
    const D3D11_INPUT_ELEMENT_DESC *e = &descs[i];

    if (e->InputSlotClass > D3D11_INPUT_PER_INSTANCE_DATA)
        return D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_INVALIDINPUTSLOTCLASS;
    if (e->InputSlotClass == D3D11_INPUT_PER_VERTEX_DATA && e->InstanceDataStepRate)
        return D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_STEPRATESLOTCLASSMISMATCH;
    while (i--) {
        if (descs[i].InputSlot != e->InputSlot)
            continue;
        if (descs[i].InputSlotClass != e->InputSlotClass)
            return D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_INVALIDSLOTCLASSCHANGE;
        if (descs[i].InstanceDataStepRate != e->InstanceDataStepRate)
            return D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_INVALIDSTEPRATECHANGE;
    }
    return 0;
}

enum { INPUT_ELEMENTS = 32, INPUT_SLOTS = 16 }; /* that D3D11_INPUT_ELEMENT_DESC may name */

/* What is wrong with element i, or 0; `at` is where it is. */
static D3D11_MESSAGE_ID element_wrong(const D3D11_INPUT_ELEMENT_DESC *descs, UINT i, UINT next[INPUT_SLOTS],
                                      UINT *at)
{
    const D3D11_INPUT_ELEMENT_DESC *e = &descs[i];
    D3D11_MESSAGE_ID id;

    if (!e->SemanticName)
        return D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_NULLSEMANTIC;
    if (e->InputSlot >= INPUT_SLOTS)
        return D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_INVALIDSLOT;
    id = place(e, &next[e->InputSlot], at);
    return id ? id : steps(descs, i);
}

static HRESULT layout_refuse(struct d3d_device *d, D3D11_MESSAGE_ID id, const char *semantic, UINT index)
{
    return d3d_refuse(
        d, id, "ID3D11Device::CreateInputLayout: %s%s%u: %s", semantic ? semantic : "",
        semantic ? "" : "element ", index,
        id == D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_MISSINGELEMENT ? "the shader reads it, and no element has it"
        : id == D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_NULLSEMANTIC ? "it has no semantic"
        : id == D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_INVALIDSLOT  ? "there is no such slot"
        : id == D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_INVALIDFORMAT ? "elements are never of this format"
        : id == D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_INVALIDALIGNMENT
            ? "its offset is not aligned, or behind the largest vertex"
            : "its slot does not step so");
}

/* What the device counts itself. Of all else a shader reads, an element has to be there, whatever system value its name says. */
static bool is_counted(const char *semantic)
{
    return !strcasecmp(semantic, "SV_InstanceID") || !strcasecmp(semantic, "SV_VertexID");
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateInputLayout(ID3D11Device *This,
                                                       const D3D11_INPUT_ELEMENT_DESC *descs, UINT count,
                                                       const void *code, SIZE_T size, ID3D11InputLayout **out)
{
    struct d3d_device *d = (struct d3d_device *)This;
    D3D10DDIARG_INPUT_ELEMENT_DESC elements[INPUT_ELEMENTS];
    D3D10DDIARG_CREATEELEMENTLAYOUT a = {elements, 0};
    UINT next[INPUT_SLOTS] = {0};
    struct d3d_program p;
    struct d3d_child *c;

    if (out)
        *out = NULL;
    if (!descs || count > INPUT_ELEMENTS)
        return d3d_refuse(d,
                          descs ? D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_TOOMANYELEMENTS
                                : D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_NULLDESC,
                          "ID3D11Device::CreateInputLayout: %u elements%s", count,
                          descs ? "" : " that are not there");
    if (!code || !d3d_program_read(&p, code, size, SM4_ANY_TYPE))
        return d3d_refuse(d, D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_UNPARSEABLEINPUTSIGNATURE,
                          "ID3D11Device::CreateInputLayout: the shader's container is not whole");
    for (UINT i = 0; i < count; i++) {
        const D3D11_INPUT_ELEMENT_DESC *e = &descs[i];
        UINT at;
        D3D11_MESSAGE_ID id = element_wrong(descs, i, next, &at);
        int reg;

        if (id)
            return layout_refuse(d, id, NULL, i);
        reg = program_register(&p, e->SemanticName, e->SemanticIndex);
        if (reg < 0)
            continue; /* the shader does not look at it */
        elements[a.NumElements++] = (D3D10DDIARG_INPUT_ELEMENT_DESC){
            e->InputSlot, at, e->Format, e->InputSlotClass, e->InstanceDataStepRate, (UINT)reg};
    }
    for (UINT i = 0; i < p.num_in; i++) {
        bool there = is_counted(p.dxbc.in.elements[i].name);
        for (UINT k = 0; k < a.NumElements; k++)
            there |= elements[k].InputRegister == p.in[i].Register;
        if (!there)
            return layout_refuse(d, D3D11_MESSAGE_ID_CREATEINPUTLAYOUT_MISSINGELEMENT,
                                 p.dxbc.in.elements[i].name, p.dxbc.in.elements[i].index);
    }
    if (!out)
        return S_FALSE;
    c = d3d_child_create(d, D3D_LAYOUT, d->ddi.pfnCalcPrivateElementLayoutSize(d->drv, &a));
    if (!c)
        return E_OUTOFMEMORY;
    DDI(d, pfnCreateElementLayout, &a, DRV(D3D10DDI_HELEMENTLAYOUT, c), (D3D10DDI_HRTELEMENTLAYOUT){c});
    return d3d_child_finish(c, (void **)out);
}
