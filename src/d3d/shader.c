/* SPDX-License-Identifier: MIT */
/* shader.c: shaders and input layouts: from the containers that programs bring to what a driver is told of them. */
#include "d3d/tables.h"
#include "d3d/d3d.h"

#include <stdio.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/dxbc_sum.h"
#include "base/sm4_tokens.h"

#define FOURCC(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

struct chunk {
    const uint8_t *data;
    uint32_t size;
};

/* Whether these are a container whose sizes, offsets and checksum are right: what nothing else is read of. */
static bool is_container(const void *bytes, SIZE_T size)
{
    struct bytes b = bytes_of(bytes, size);
    uint32_t sum[4], total, count;
    const void *stored;

    if (bytes_u32(&b) != FOURCC('D', 'X', 'B', 'C') || !(stored = bytes_take(&b, sizeof(sum))) ||
        bytes_u32(&b) != 1)
        return false;
    total = bytes_u32(&b);
    count = bytes_u32(&b);
    if (b.bad || total < 32 || total > size || count > (total - 32) / 4)
        return false;
    b.size = total;
    for (uint32_t i = 0; i < count && !b.bad; i++) {
        uint32_t at;

        bytes_seek(&b, 32 + 4 * (size_t)i);
        at = bytes_u32(&b);
        if (at & 3 || at < 32 + 4 * count)
            return false;
        bytes_seek(&b, (size_t)at + 4);
        bytes_take(&b, bytes_u32(&b));
    }
    if (b.bad)
        return false;
    dxbc_sum(bytes, total, sum);
    return !memcmp(stored, sum, sizeof(sum));
}

/* The data of the first chunk of one of two types, of a container. */
static bool find(const void *bytes, SIZE_T size, uint32_t either, uint32_t or, struct chunk *out)
{
    struct bytes b = bytes_of(bytes, size);
    uint32_t count;

    bytes_seek(&b, 28);
    count = bytes_u32(&b);
    for (uint32_t i = 0; i < count && !b.bad; i++) {
        uint32_t fourcc;

        bytes_seek(&b, 32 + 4 * (size_t)i);
        bytes_seek(&b, bytes_u32(&b));
        fourcc = bytes_u32(&b);
        out->size = bytes_u32(&b);
        if (!b.bad && (fourcc == either || fourcc == or))
            return (out->data = bytes_take(&b, out->size)) != NULL;
    }
    return false;
}

/* Whether a program of shader model 4 or 5 is a row of instructions that there are, each with its operands. */
static bool are_instructions(const struct chunk *c)
{
    struct sm4_instruction i;
    struct sm4 p;
    int more = 0;

    if (sm4_open(&p, c->data, c->size, NULL) || p.words <= 2 || (p.major != 4 && p.major != 5))
        return false;
    while ((more = sm4_next(&p, &i, NULL)) > 0)
        ;
    return !more;
}

struct element {
    const char *name;
    uint32_t index, system_value, reg, mask;
};

/* Element `i` of a signature; false: there is none. */
static bool element(const struct chunk *c, uint32_t i, struct element *e)
{
    struct bytes b = bytes_of(c->data, c->size);
    uint32_t count = bytes_u32(&b), at;

    if (i >= count)
        return false;
    bytes_seek(&b, 8 + 24 * (size_t)i);
    at = bytes_u32(&b);
    e->index = bytes_u32(&b);
    e->system_value = bytes_u32(&b);
    bytes_u32(&b);
    e->reg = bytes_u32(&b);
    e->mask = bytes_u32(&b) & 0xFF;
    if (b.bad || at >= c->size || !memchr(c->data + at, 0, c->size - at))
        return false;
    e->name = (const char *)c->data + at;
    return true;
}

static UINT signature(const void *bytes, SIZE_T size, uint32_t type, uint32_t other,
                      D3D10DDIARG_SIGNATURE_ENTRY *out)
{
    struct chunk c;
    struct element e;
    UINT n = 0;

    if (!find(bytes, size, type, other, &c))
        return 0;
    while (n < 32 && element(&c, n, &e)) {
        out[n] = (D3D10DDIARG_SIGNATURE_ENTRY){e.system_value < 11 ? e.system_value : 0, e.reg, (BYTE)e.mask};
        n++;
    }
    return n;
}

bool d3d_program_read(struct d3d_program *p, const void *bytes, SIZE_T size, int type)
{
    struct chunk c;

    memset(p, 0, sizeof(*p));
    if (!is_container(bytes, size) ||
        !find(bytes, size, FOURCC('S', 'H', 'D', 'R'), FOURCC('S', 'H', 'E', 'X'), &c) ||
        !are_instructions(&c))
        return false;
    p->code = (const UINT *)c.data;
    if (type >= 0 && p->code[0] >> 16 != (UINT)type)
        return false;
    p->num_in = signature(bytes, size, FOURCC('I', 'S', 'G', 'N'), FOURCC('I', 'S', 'G', '1'), p->in);
    p->num_out = signature(bytes, size, FOURCC('O', 'S', 'G', 'N'), FOURCC('O', 'S', 'G', '1'), p->out);
    return true;
}

int d3d_program_register(const void *bytes, SIZE_T size, const char *semantic, UINT index)
{
    struct chunk c;
    struct element e;

    if (!find(bytes, size, FOURCC('I', 'S', 'G', 'N'), FOURCC('I', 'S', 'G', '1'), &c))
        return -1;
    for (uint32_t i = 0; element(&c, i, &e); i++)
        if (!strcasecmp(e.name, semantic) && e.index == index)
            return (int)e.reg;
    return -1;
}

/* ---- creating ------------------------------------------------------------- */

static HRESULT create(ID3D11Device *This, const void *bytes, SIZE_T size, ID3D11ClassLinkage *linkage,
                      void **out, enum d3d_kind kind, int type)
{
    struct d3d_device *d = (struct d3d_device *)This;
    struct d3d_program p;
    D3D10DDIARG_STAGE_IO_SIGNATURES s;
    struct d3d_child *c;

    if (out)
        *out = NULL;
    if (!bytes || linkage || !d3d_program_read(&p, bytes, size, type))
        return E_INVALIDARG;
    if (!out)
        return S_FALSE;
    s = (D3D10DDIARG_STAGE_IO_SIGNATURES){p.in, p.num_in, p.out, p.num_out};
    c = d3d_child_create(d, kind, d->ddi.pfnCalcPrivateShaderSize(d->drv, p.code, &s));
    if (!c)
        return E_OUTOFMEMORY;
    switch ((int)kind) {
    case D3D_SHADER_VS:
        DDI(d, pfnCreateVertexShader, p.code, DRV(D3D10DDI_HSHADER, c), (D3D10DDI_HRTSHADER){c}, &s);
        break;
    case D3D_SHADER_PS:
        DDI(d, pfnCreatePixelShader, p.code, DRV(D3D10DDI_HSHADER, c), (D3D10DDI_HRTSHADER){c}, &s);
        break;
    case D3D_SHADER_GS:
        DDI(d, pfnCreateGeometryShader, p.code, DRV(D3D10DDI_HSHADER, c), (D3D10DDI_HRTSHADER){c}, &s);
        break;
    case D3D_SHADER_CS:
        DDI(d, pfnCreateComputeShader, p.code, DRV(D3D10DDI_HSHADER, c), (D3D10DDI_HRTSHADER){c});
        break;
    }
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

/* Bytes of an element of a vertex; 0: elements are never of this format. */
static UINT format_bytes(DXGI_FORMAT f)
{
    static const BYTE bytes[] = {
        [2] = 16, 16, 16,       [6] = 12, 12, 12,       [10] = 8, 8,        8, 8,       8,        [16] = 8,
        8,        8,  [24] = 4, 4,        4,  [28] = 4, 4,        4,        4, 4,       [34] = 4, 4,
        4,        4,  4,        [41] = 4, 4,  4,        [49] = 2, 2,        2, 2,       [54] = 2, [56] = 2,
        2,        2,  2,        [61] = 1, 1,  1,        1,        [87] = 4, 4, [91] = 4};

    return (UINT)f < sizeof(bytes) ? bytes[f] : 0;
}

/* Where an element is in its slot's stride; false: nowhere that Direct3D takes. `next` is what APPEND_ALIGNED_ELEMENT means. */
static bool place(const D3D11_INPUT_ELEMENT_DESC *e, UINT *next, UINT *at)
{
    enum { MAX_STRIDE = D3D11_REQ_MULTI_ELEMENT_STRUCTURE_SIZE_IN_BYTES };
    UINT bytes = format_bytes(e->Format), unit = bytes < 4 ? bytes : 4;

    if (!bytes)
        return false;
    *at = e->AlignedByteOffset;
    if (*at == D3D11_APPEND_ALIGNED_ELEMENT)
        *at = (*next + unit - 1) & ~(unit - 1);
    if (*at % unit || *at > MAX_STRIDE - bytes)
        return false;
    *next = *at + bytes;
    return true;
}

/* Vertex data has no step rate, and all elements of a slot step alike. */
static bool steps(const D3D11_INPUT_ELEMENT_DESC *descs, UINT i)
{
    const D3D11_INPUT_ELEMENT_DESC *e = &descs[i];

    if (e->InputSlotClass > D3D11_INPUT_PER_INSTANCE_DATA ||
        (e->InputSlotClass == D3D11_INPUT_PER_VERTEX_DATA && e->InstanceDataStepRate))
        return false;
    while (i--)
        if (descs[i].InputSlot == e->InputSlot && (descs[i].InputSlotClass != e->InputSlotClass ||
                                                   descs[i].InstanceDataStepRate != e->InstanceDataStepRate))
            return false;
    return true;
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateInputLayout(ID3D11Device *This,
                                                       const D3D11_INPUT_ELEMENT_DESC *descs, UINT count,
                                                       const void *code, SIZE_T size, ID3D11InputLayout **out)
{
    struct d3d_device *d = (struct d3d_device *)This;
    D3D10DDIARG_INPUT_ELEMENT_DESC elements[32];
    D3D10DDIARG_CREATEELEMENTLAYOUT a = {elements, 0};
    enum { INPUT_SLOTS = 16 }; /* that D3D11_INPUT_ELEMENT_DESC may name */
    UINT next[INPUT_SLOTS] = {0};
    struct d3d_program p;
    struct d3d_child *c;

    if (out)
        *out = NULL;
    if ((!descs && count) || count > 32 || !code || !d3d_program_read(&p, code, size, -1))
        return E_INVALIDARG;
    for (UINT i = 0; i < count; i++) {
        const D3D11_INPUT_ELEMENT_DESC *e = &descs[i];
        UINT at;
        int reg;

        if (!e->SemanticName || e->InputSlot >= INPUT_SLOTS || !place(e, &next[e->InputSlot], &at) ||
            !steps(descs, i))
            return E_INVALIDARG;
        reg = d3d_program_register(code, size, e->SemanticName, e->SemanticIndex);
        if (reg < 0)
            continue; /* the shader does not look at it */
        elements[a.NumElements++] = (D3D10DDIARG_INPUT_ELEMENT_DESC){
            e->InputSlot, at, e->Format, e->InputSlotClass, e->InstanceDataStepRate, (UINT)reg};
    }
    for (UINT i = 0; i < p.num_in; i++) {
        bool there = p.in[i].SystemValue != 0;
        for (UINT k = 0; k < a.NumElements; k++)
            there |= elements[k].InputRegister == p.in[i].Register;
        if (!there)
            return E_INVALIDARG;
    }
    if (!out)
        return S_FALSE;
    c = d3d_child_create(d, D3D_LAYOUT, d->ddi.pfnCalcPrivateElementLayoutSize(d->drv, &a));
    if (!c)
        return E_OUTOFMEMORY;
    DDI(d, pfnCreateElementLayout, &a, DRV(D3D10DDI_HELEMENTLAYOUT, c), (D3D10DDI_HRTELEMENTLAYOUT){c});
    return d3d_child_finish(c, (void **)out);
}
