/* SPDX-License-Identifier: MIT */
/* shader.c: shaders, vertex declarations, FVFs, and constants. */
#include "d3d/d3d9/tables.h"
#include "d3d/d3d9/rt9.h"

enum { MAX_WORDS = 1 << 16 };

/* ---- shaders ---------------------------------------------------------------------------- */

/* Whether a token begins an instruction: there are 97, and phase. */
static bool is_instruction(DWORD token)
{
    return !(token >> 31) && ((token & 0xFFFF) <= 96 || (token & 0xFFFF) == 0xFFFD);
}

/* The length of a stream of tokens, its end token included: instructions of model 2 and 3 say theirs, in model 1 what has bit 31 is
 * an operand. 0: there is no end, or what comes before it is no stream, which then is not looked at further. */
static UINT length_of(const DWORD *code)
{
    UINT major = code[0] >> 8 & 255, at = 1;

    while (at < MAX_WORDS) {
        DWORD token = code[at++], opcode = token & 0xFFFF;

        if (opcode == 0xFFFF)
            return at;
        if (opcode == 0xFFFE) { /* a comment */
            at += token >> 16 & 0x7FFF;
            continue;
        }
        if (!is_instruction(token))
            return 0;
        if (opcode == D3DSIO_DEF) /* four numbers, whose bits may be anything */
            at += 5;
        else if (major >= 2)
            at += token >> 24 & 15;
        else
            while (at < MAX_WORDS && code[at] >> 31 && (code[at] & 0xFFFF) != 0xFFFF)
                at++;
    }
    return 0;
}

static UINT type_of(DWORD token)
{
    return (token >> 28 & 7) | (token >> 8 & 0x18);
}

/* Whether a register of constants is one that the version has. */
static bool constant_fits(const struct d9_device *d, DWORD version, DWORD token)
{
    const UINT type = type_of(token), number = token & 0x7FF;
    const bool pixel = version >> 16 == 0xFFFF;
    const UINT model = version >> 8 & 255,
               most = !pixel ? (d->software ? D9_SOFTWARE_CONSTANTS : d->factory->caps.MaxVertexShaderConst)
                      : model == 1 ? 8
                      : model == 2 ? 32
                                   : 224;

    if (type == D3DSPR_CONST)
        return number < most;
    if (type >= D3DSPR_CONST2 && type <= D3DSPR_CONST4)
        return 2048 * (type - D3DSPR_CONST2 + 1) + number < most;
    if (type == D3DSPR_CONSTINT || type == D3DSPR_CONSTBOOL)
        return !(pixel && model == 2 && !(version & 255)) && number < (d->software && !pixel ? 2048u : 16u);
    return true;
}

/* Whether all registers of constants are there, and pixel shaders ask for nobody's position; of a stream that length_of took. */
static bool registers_fit(const struct d9_device *d, const DWORD *code, UINT words)
{
    const UINT model = code[0] >> 8 & 255;

    for (UINT at = 1, end; at < words; at = end) {
        const DWORD opcode = code[at] & 0xFFFF;
        UINT last;

        end = at + 1;
        if (opcode == 0xFFFE)
            end += code[at] >> 16 & 0x7FFF;
        if (opcode == 0xFFFE || opcode == 0xFFFF)
            continue;
        if (opcode == D3DSIO_DEF)
            end += 5;
        else if (model >= 2)
            end += code[at] >> 24 & 15;
        else
            while (end < words && code[end] >> 31 && (code[end] & 0xFFFF) != 0xFFFF)
                end++;
        /* behind what they define are numbers */
        last = opcode == D3DSIO_DEF || opcode == D3DSIO_DEFI || opcode == D3DSIO_DEFB ? at + 2 : end;
        if (opcode == D3DSIO_DCL) {
            if (model == 1 && code[0] >> 16 == 0xFFFF)
                return false;
            if (model == 3 && code[0] >> 16 == 0xFFFF && at + 2 < words &&
                (code[at + 1] & 0xF001F) == D3DDECLUSAGE_POSITION && type_of(code[at + 2]) == D3DSPR_INPUT)
                return false;
            continue;
        }
        for (UINT i = at + 1; i < last && i < words; i++)
            if (code[i] >> 31 && !constant_fits(d, code[0], code[i]))
                return false;
    }
    return true;
}

HRESULT d9_shader_make(struct d9_shader *s)
{
    D3DDDIARG_CREATEVERTEXSHADERFUNC v = {.Size = s->size};
    D3DDDIARG_CREATEPIXELSHADER p = {.CodeSize = s->size};
    HRESULT hr = s->o.kind == D9_VS ? DDI9(s->o.device, pfnCreateVertexShaderFunc, &v, (const UINT *)s->code)
                                    : DDI9(s->o.device, pfnCreatePixelShader, &p, (const UINT *)s->code);

    s->o.drv = hr == S_OK ? s->o.kind == D9_VS ? v.ShaderHandle : p.ShaderHandle : NULL;
    return hr;
}

static HRESULT create(struct d9_device *d, enum d9_kind kind, const DWORD *code, void **out)
{
    struct d9_shader *s;
    UINT words;
    HRESULT hr;

    if (!code || !out)
        return D3DERR_INVALIDCALL;
    *out = NULL;
    if (code[0] >> 16 != (kind == D9_VS ? 0xFFFE : 0xFFFF) || !(words = length_of(code)) ||
        !registers_fit(d, code, words))
        return D3DERR_INVALIDCALL;
    s = calloc(1, sizeof(*s) + words * sizeof(DWORD));
    if (!s)
        return E_OUTOFMEMORY;
    d9_object_init(&s->o, d, kind);
    s->size = words * (UINT)sizeof(DWORD);
    memcpy(s->code, code, s->size);
    hr = d9_shader_make(s);
    if (hr != S_OK) {
        d9_object_release(s);
        return hr == E_OUTOFMEMORY ? hr : D3DERR_INVALIDCALL;
    }
    *out = s;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_CreateVertexShader(IDirect3DDevice9Ex *This, const DWORD *code,
                                                       IDirect3DVertexShader9 **out)
{
    return create(d9_device_of(This), D9_VS, code, (void **)out);
}

HRESULT STDMETHODCALLTYPE d9_device_CreatePixelShader(IDirect3DDevice9Ex *This, const DWORD *code,
                                                      IDirect3DPixelShader9 **out)
{
    return create(d9_device_of(This), D9_PS, code, (void **)out);
}

HRESULT STDMETHODCALLTYPE d9_shader_GetFunction(void *This, void *data, UINT *size)
{
    struct d9_shader *s = This;

    if (!size)
        return D3DERR_INVALIDCALL;
    if (!data) {
        *size = s->size;
        return D3D_OK;
    }
    if (*size < s->size)
        return D3DERR_INVALIDCALL;
    memcpy(data, s->code, s->size);
    return D3D_OK;
}

/* ---- declarations --------------------------------------------------------------------------- */

HRESULT d9_decl_make(struct d9_decl *d)
{
    D3DDDIARG_CREATEVERTEXSHADERDECL a = {.NumVertexElements = d->count};
    HRESULT hr = DDI9(d->o.device, pfnCreateVertexShaderDecl, &a, (const D3DDDIVERTEXELEMENT *)d->elements);

    d->o.drv = hr == S_OK ? a.ShaderHandle : NULL;
    return hr;
}

HRESULT d9_decl_create(struct d9_device *d, const D3DVERTEXELEMENT9 *elements, DWORD fvf,
                       struct d9_decl **out)
{
    struct d9_decl *decl;
    UINT count = 0;
    HRESULT hr;

    *out = NULL;
    while (elements[count].Stream != 0xFF)
        if (elements[count].Type > D3DDECLTYPE_FLOAT16_4 || elements[count].Offset & 3)
            return E_FAIL;
        else if (++count > 64)
            return E_FAIL;
    decl = calloc(1, sizeof(*decl));
    if (!decl)
        return E_OUTOFMEMORY;
    d9_object_init(&decl->o, d, D9_DECL);
    decl->count = count;
    decl->fvf = fvf;
    memcpy(decl->elements, elements, (count + 1) * sizeof(elements[0]));
    hr = d9_decl_make(decl);
    if (hr != S_OK) {
        d9_object_release(decl);
        return hr == E_OUTOFMEMORY ? hr : E_FAIL;
    }
    *out = decl;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_CreateVertexDeclaration(IDirect3DDevice9Ex *This,
                                                            const D3DVERTEXELEMENT9 *elements,
                                                            IDirect3DVertexDeclaration9 **out)
{
    if (!elements || !out)
        return D3DERR_INVALIDCALL;
    return d9_decl_create(d9_device_of(This), elements, 0, (struct d9_decl **)out);
}

HRESULT STDMETHODCALLTYPE d9_decl_GetDeclaration(IDirect3DVertexDeclaration9 *This,
                                                 D3DVERTEXELEMENT9 *elements, UINT *count)
{
    struct d9_decl *d = (struct d9_decl *)This;

    if (!count)
        return D3DERR_INVALIDCALL;
    *count = d->count + 1;
    if (elements)
        memcpy(elements, d->elements, (d->count + 1) * sizeof(elements[0]));
    return D3D_OK;
}

/* The elements of an FVF, as its documentation orders them. 0: it is none. */
static UINT of_fvf(DWORD fvf, D3DVERTEXELEMENT9 *e)
{
    static const BYTE coordinates[] = {D3DDECLTYPE_FLOAT2, D3DDECLTYPE_FLOAT3, D3DDECLTYPE_FLOAT4,
                                       D3DDECLTYPE_FLOAT1};
    static const BYTE bytes[] = {4, 8, 12, 16, 4, 4};
    DWORD position = fvf & D3DFVF_POSITION_MASK;
    UINT n = 0, at = 0, weights = 0;

#define ADD(type, usage, index)                                                                              \
    do {                                                                                                     \
        e[n++] = (D3DVERTEXELEMENT9){0, (WORD)at, (BYTE)(type), 0, (BYTE)(usage), (BYTE)(index)};            \
        at += bytes[type];                                                                                   \
    } while (0)
    if (position == D3DFVF_XYZRHW)
        ADD(D3DDECLTYPE_FLOAT4, D3DDECLUSAGE_POSITIONT, 0);
    else if (position == D3DFVF_XYZW)
        ADD(D3DDECLTYPE_FLOAT4, D3DDECLUSAGE_POSITION, 0);
    else if (position)
        ADD(D3DDECLTYPE_FLOAT3, D3DDECLUSAGE_POSITION, 0);
    if (position >= D3DFVF_XYZB1 && position <= D3DFVF_XYZB5) {
        bool indices = fvf & (D3DFVF_LASTBETA_UBYTE4 | D3DFVF_LASTBETA_D3DCOLOR);

        weights = (position - D3DFVF_XYZRHW) / 2 - indices;
        if (weights)
            ADD(weights > 4 ? D3DDECLTYPE_FLOAT4 : weights - 1, D3DDECLUSAGE_BLENDWEIGHT, 0);
        if (weights > 4) /* the fifth is the indices, whatever it is */
            ADD(D3DDECLTYPE_FLOAT1, D3DDECLUSAGE_BLENDINDICES, 0);
        else if (indices)
            ADD(fvf & D3DFVF_LASTBETA_UBYTE4 ? D3DDECLTYPE_UBYTE4 : D3DDECLTYPE_D3DCOLOR,
                D3DDECLUSAGE_BLENDINDICES, 0);
    }
    if (fvf & D3DFVF_NORMAL)
        ADD(D3DDECLTYPE_FLOAT3, D3DDECLUSAGE_NORMAL, 0);
    if (fvf & D3DFVF_PSIZE)
        ADD(D3DDECLTYPE_FLOAT1, D3DDECLUSAGE_PSIZE, 0);
    if (fvf & D3DFVF_DIFFUSE)
        ADD(D3DDECLTYPE_D3DCOLOR, D3DDECLUSAGE_COLOR, 0);
    if (fvf & D3DFVF_SPECULAR)
        ADD(D3DDECLTYPE_D3DCOLOR, D3DDECLUSAGE_COLOR, 1);
    for (DWORD i = 0; i < ((fvf & D3DFVF_TEXCOUNT_MASK) >> D3DFVF_TEXCOUNT_SHIFT) && i < 8; i++)
        ADD(coordinates[fvf >> (16 + 2 * i) & 3], D3DDECLUSAGE_TEXCOORD, i);
#undef ADD
    e[n] = (D3DVERTEXELEMENT9)D3DDECL_END();
    return n;
}

DWORD d9_decl_fvf(const struct d9_decl *d)
{
    static const DWORD sizes[] = {3, 0, 1, 2}; /* of 1 to 4 coordinates, as an FVF says them */
    DWORD fvf = 0, coordinates = 0;
    D3DVERTEXELEMENT9 e[20];

    for (UINT i = 0; i < d->count; i++) {
        const D3DVERTEXELEMENT9 *x = &d->elements[i];

        if (x->Usage == D3DDECLUSAGE_POSITION)
            fvf |= x->Type == D3DDECLTYPE_FLOAT4 ? D3DFVF_XYZW : D3DFVF_XYZ;
        else if (x->Usage == D3DDECLUSAGE_POSITIONT)
            fvf |= D3DFVF_XYZRHW;
        else if (x->Usage == D3DDECLUSAGE_NORMAL)
            fvf |= D3DFVF_NORMAL;
        else if (x->Usage == D3DDECLUSAGE_PSIZE)
            fvf |= D3DFVF_PSIZE;
        else if (x->Usage == D3DDECLUSAGE_COLOR)
            fvf |= x->UsageIndex ? D3DFVF_SPECULAR : D3DFVF_DIFFUSE;
        else if (x->Usage == D3DDECLUSAGE_TEXCOORD && x->Type <= D3DDECLTYPE_FLOAT4 && coordinates < 8)
            fvf |= sizes[x->Type] << (16 + 2 * coordinates++);
    }
    fvf |= coordinates << D3DFVF_TEXCOUNT_SHIFT;
    /* it is one if it makes just these; Windows finds none with weights */
    return fvf & D3DFVF_POSITION_MASK && of_fvf(fvf, e) == d->count &&
                   !memcmp(e, d->elements, d->count * sizeof(e[0]))
               ? fvf
               : 0;
}

HRESULT d9_fvf_decl(struct d9_device *d, DWORD fvf, struct d9_decl **out)
{
    D3DVERTEXELEMENT9 e[20];
    HRESULT hr;

    for (struct d9_object *o = d->objects; o; o = o->next)
        if (o->kind == D9_DECL && ((struct d9_decl *)o)->fvf == fvf) {
            *out = (struct d9_decl *)o;
            return D3D_OK;
        }
    if (!of_fvf(fvf, e))
        return D3DERR_INVALIDCALL;
    hr = d9_decl_create(d, e, fvf, out);
    if (hr != D3D_OK)
        return hr == E_OUTOFMEMORY ? hr : D3DERR_INVALIDCALL;
    __atomic_add_fetch(&(*out)->o.bound, 1, __ATOMIC_RELAXED); /* kept as long as the device */
    d9_object_release(*out);
    return D3D_OK;
}
