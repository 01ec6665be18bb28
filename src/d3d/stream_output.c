/* SPDX-License-Identifier: MIT */
/* stream_output.c: geometry shaders whose vertices, or those of the stage in front where there is no geometry shader, are written to
 * buffers: what may be said of them, and what a driver is told. */
#include "d3d/tables.h"
#include "d3d/d3d.h"

#include <strings.h>

enum { GEOMETRY = 2, VERTEX = 1, DOMAIN = 4, COMPONENTS = 4 };

/* What the program asks for, all of it. */
struct request {
    const D3D11_SO_DECLARATION_ENTRY *entries;
    UINT num_entries;
    const UINT *strides;
    UINT num_strides, rasterized;
};

static bool entry_valid(const struct d3d_device *d, const D3D11_SO_DECLARATION_ENTRY *e)
{
    if (e->Stream >= D3D11_SO_STREAM_COUNT || (e->Stream && d->level < D3D_FEATURE_LEVEL_11_0) ||
        e->OutputSlot >= D3D11_SO_BUFFER_SLOT_COUNT || !e->ComponentCount)
        return false;
    if (!e->SemanticName) /* a gap */
        return !e->SemanticIndex && !e->StartComponent;
    return e->StartComponent < COMPONENTS && e->StartComponent + e->ComponentCount <= COMPONENTS;
}

/* Two that name the same component of one thing. */
static bool overlap(const D3D11_SO_DECLARATION_ENTRY *a, const D3D11_SO_DECLARATION_ENTRY *b)
{
    return a->SemanticName && b->SemanticName && a->Stream == b->Stream &&
           a->SemanticIndex == b->SemanticIndex && !strcasecmp(a->SemanticName, b->SemanticName) &&
           a->StartComponent < b->StartComponent + b->ComponentCount &&
           b->StartComponent < a->StartComponent + a->ComponentCount;
}

/* What a slot has of one stream: something, and no more than fits its stride. Below 11_0, where several slots are used, one thing each. */
static bool slot_valid(const struct d3d_device *d, const struct request *r, UINT stream, UINT slot)
{
    UINT words = 0, things = 0, gaps = 0;

    for (UINT i = 0; i < r->num_entries; i++) {
        const D3D11_SO_DECLARATION_ENTRY *e = &r->entries[i];

        if (e->Stream != stream || e->OutputSlot != slot)
            continue;
        words += e->ComponentCount;
        things++;
        gaps += !e->SemanticName;
    }
    if (!things)
        return true;
    if (things == gaps)
        return false;
    if (r->num_strides && (slot >= r->num_strides || r->strides[slot] < 4 * words || r->strides[slot] % 4))
        return false;
    return d->level >= D3D_FEATURE_LEVEL_11_0 || things == 1 || (slot == 0 && things == r->num_entries);
}

static bool request_valid(const struct d3d_device *d, const struct request *r)
{
    if (!r->num_entries || r->num_entries > D3D11_SO_STREAM_COUNT * D3D11_SO_OUTPUT_COMPONENT_COUNT ||
        r->num_strides > D3D11_SO_BUFFER_SLOT_COUNT || (r->num_strides && !r->strides) ||
        (r->rasterized != D3D11_SO_NO_RASTERIZED_STREAM && r->rasterized >= D3D11_SO_STREAM_COUNT) ||
        (d->level < D3D_FEATURE_LEVEL_11_0 && (r->rasterized || r->num_strides > 1)))
        return false;
    for (UINT i = 0; i < r->num_entries; i++) {
        if (!entry_valid(d, &r->entries[i]))
            return false;
        for (UINT k = 0; k < i; k++)
            if (overlap(&r->entries[i], &r->entries[k]))
                return false;
    }
    for (UINT stream = 0; stream < D3D11_SO_STREAM_COUNT; stream++)
        for (UINT slot = 0; slot < D3D11_SO_BUFFER_SLOT_COUNT; slot++)
            if (!slot_valid(d, r, stream, slot))
                return false;
    return true;
}

/* The register and components that an entry names, of the program's outputs; false: it has no such. */
static bool locate(const struct dxbc_signature *out, const D3D11_SO_DECLARATION_ENTRY *e,
                   D3D11DDIARG_STREAM_OUTPUT_DECLARATION_ENTRY *to)
{
    for (uint32_t i = 0; i < out->count; i++) {
        const struct dxbc_element *x = &out->elements[i];
        UINT first = x->mask ? (UINT)__builtin_ctz(x->mask) + e->StartComponent : 0,
             mask = ((1u << e->ComponentCount) - 1) << first;

        if (x->stream != e->Stream || x->index != e->SemanticIndex || strcasecmp(x->name, e->SemanticName))
            continue;
        *to = (D3D11DDIARG_STREAM_OUTPUT_DECLARATION_ENTRY){e->Stream, e->OutputSlot, x->reg, (BYTE)mask};
        return (x->mask & mask) == mask;
    }
    return false;
}

/* How the driver is told: gaps are registers of no number, four components at most. The program's lists have room for `room`. */
static bool translate(const struct request *r, const struct dxbc_signature *out,
                      D3D11DDIARG_STREAM_OUTPUT_DECLARATION_ENTRY *to, UINT room, UINT *count)
{
    *count = 0;
    for (UINT i = 0; i < r->num_entries; i++) {
        const D3D11_SO_DECLARATION_ENTRY *e = &r->entries[i];
        UINT left = e->ComponentCount;

        if (*count == room || (e->SemanticName && !locate(out, e, &to[(*count)++])))
            return false;
        while (!e->SemanticName && left) {
            UINT n = left < COMPONENTS ? left : COMPONENTS;

            if (*count == room)
                return false;
            to[(*count)++] = (D3D11DDIARG_STREAM_OUTPUT_DECLARATION_ENTRY){e->Stream, e->OutputSlot,
                                                                           UINT32_MAX, (BYTE)((1u << n) - 1)};
            left -= n;
        }
    }
    return true;
}

static HRESULT make(struct d3d_device *d, const struct request *r, struct d3d_program *p, void **out)
{
    enum { ROOM = D3D11_SO_STREAM_COUNT * D3D11_SO_OUTPUT_COMPONENT_COUNT };
    D3D11DDIARG_STREAM_OUTPUT_DECLARATION_ENTRY to[ROOM];
    D3D11_1DDIARG_STAGE_IO_SIGNATURES s = {p->in, p->num_in, p->out, p->num_out};
    D3D11DDIARG_CREATEGEOMETRYSHADERWITHSTREAMOUTPUT a = {
        .pShaderCode = p->dxbc.program.type == GEOMETRY ? p->code : NULL,
        .pOutputStreamDecl = to,
        .BufferStridesInBytes = r->strides,
        .NumStrides = r->num_strides,
        .RasterizedStream = r->rasterized};
    struct d3d_child *c;

    if (!translate(r, &p->dxbc.out, to, ROOM, &a.NumEntries))
        return E_INVALIDARG;
    if (!out)
        return S_FALSE;
    c = d3d_child_create(d, D3D_SHADER_GS,
                         d->ddi.pfnCalcPrivateGeometryShaderWithStreamOutput(d->drv, &a, &s));
    if (!c)
        return E_OUTOFMEMORY;
    DDI(d, pfnCreateGeometryShaderWithStreamOutput, &a, DRV(D3D10DDI_HSHADER, c), (D3D10DDI_HRTSHADER){c},
        &s);
    return d3d_child_finish(c, out);
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateGeometryShaderWithStreamOutput(
    ID3D11Device *This, const void *code, SIZE_T size, const D3D11_SO_DECLARATION_ENTRY *entries,
    UINT num_entries, const UINT *strides, UINT num_strides, UINT rasterized, ID3D11ClassLinkage *linkage,
    ID3D11GeometryShader **out)
{
    struct d3d_device *d = (struct d3d_device *)This;
    struct request r = {entries, num_entries, strides, num_strides, rasterized};
    struct d3d_program *p;
    HRESULT hr = E_INVALIDARG;

    if (out)
        *out = NULL;
    if (!entries && !num_entries && (d->level >= D3D_FEATURE_LEVEL_11_0 || (!rasterized && num_strides <= 1)))
        return d3d_device_CreateGeometryShader(This, code, size, linkage, out);
    if (!code || linkage || !entries || !request_valid(d, &r))
        return E_INVALIDARG;
    p = calloc(1, sizeof(*p));
    if (!p)
        return E_OUTOFMEMORY;
    if (d3d_program_read(p, code, size, SM4_ANY_TYPE) && d3d_program_allowed(d, p) &&
        (p->dxbc.program.type == GEOMETRY || p->dxbc.program.type == VERTEX ||
         p->dxbc.program.type == DOMAIN))
        hr = make(d, &r, p, (void **)out);
    free(p);
    return hr;
}
