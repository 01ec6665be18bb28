/* SPDX-License-Identifier: MIT */
/* shader.c: shaders of programs, vertex declarations, constants. */
#include <stdlib.h>

#include "umd/d3d9/asm.h"
#include "umd/d3d9/umd9.h"
#include "abi/d3d9_program.h"

uint32_t umd9_shader_emit(struct umd9_device *d, bool pixel, const void *code, uint32_t bytes)
{
    uint32_t name = umd9_name(d);

    umd9_room(d, bytes + 64);
    ABI_EMIT_TAIL(&d->stream, CREATE_SHADER_DXBC, create_shader_dxbc, code, bytes, .shader_handle = name,
                  .stage = pixel ? AEROGPU_SHADER_STAGE_PIXEL : AEROGPU_SHADER_STAGE_VERTEX,
                  .dxbc_size_bytes = bytes);
    return name;
}

/* 6: what the device would refuse, now or when it draws. */
static HRESULT check(const void *code, uint32_t bytes, bool pixel, struct umd9_shader *s)
{
    struct d3d9_program *p;
    struct error e = {0};
    size_t used;
    HRESULT hr = S_OK;

    if (!bytes || bytes % 4 || d3d9_program_create(&p, code, bytes, &used, &e))
        return E_INVALIDARG;
    if (p->pixel != pixel || p->bare || used != bytes)
        hr = E_INVALIDARG;
    s->major = p->major;
    for (int i = 0; i < UMD9_OLD_SAMPLERS && pixel && p->major == 1; i++)
        s->dims[i] = p->sampler_dim[i];
    d3d9_program_destroy(p);
    return hr;
}

static HRESULT create(struct umd9_device *d, const void *code, uint32_t bytes, bool pixel, HANDLE *out)
{
    struct umd9_shader *s = calloc(1, sizeof(*s));
    HRESULT hr = umd9_state(d);

    if (!s)
        return E_OUTOFMEMORY;
    if (hr == S_OK && bytes > d->command_size / 2)
        hr = E_INVALIDARG;
    if (hr == S_OK)
        hr = check(code, bytes, pixel, s);
    if (hr == S_OK && pixel && s->major == 1) {
        s->code = malloc(bytes);
        hr = s->code ? S_OK : E_OUTOFMEMORY;
    }
    if (hr != S_OK) {
        free(s);
        return hr;
    }
    if (s->code)
        memcpy(s->code, code, bytes);
    s->words = bytes / 4;
    s->pixel = pixel;
    s->name = umd9_shader_emit(d, pixel, code, bytes);
    *out = s;
    return S_OK;
}

static HRESULT APIENTRY create_vs(HANDLE h, D3DDDIARG_CREATEVERTEXSHADERFUNC *a, CONST UINT *code)
{
    return create(umd9_device(h), code, a->Size, false, &a->ShaderHandle);
}

static HRESULT APIENTRY create_ps(HANDLE h, D3DDDIARG_CREATEPIXELSHADER *a, CONST UINT *code)
{
    return create(umd9_device(h), code, a->CodeSize, true, &a->ShaderHandle);
}

static void destroy(struct umd9_device *d, uint32_t name)
{
    if (d->bound_vs == name || d->bound_ps == name)
        umd9_bind_shaders(d, 0, 0, 0);
    umd9_room(d, 64);
    ABI_EMIT(&d->stream, DESTROY_SHADER, destroy_shader, .shader_handle = name);
}

static HRESULT APIENTRY delete_shader(HANDLE h, HANDLE shader)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_shader *s = shader;

    if (d->vs == s)
        d->vs = NULL;
    if (d->ps == s)
        d->ps = NULL;
    destroy(d, s->name);
    for (struct umd9_generated *g = s->others; g; g = g->next)
        destroy(d, g->name);
    umd9_generated_finish(s->others);
    free(s->code);
    free(s);
    return S_OK;
}

uint8_t umd9_dim(const struct umd9_resource *r)
{
    return r->flags.CubeMap ? D3D9_TEXTURE_CUBE : r->flags.Volume ? D3D9_TEXTURE_VOLUME : D3D9_TEXTURE_2D;
}

/* The shader with declarations of its samplers in front. */
static struct umd9_generated *declared(struct umd9_device *d, const struct umd9_shader *s,
                                       const uint8_t *dims)
{
    struct umd9_generated *g = malloc(sizeof(*g) + UMD9_OLD_SAMPLERS);
    uint32_t *code = g ? malloc(4 * (s->words + 3 * UMD9_OLD_SAMPLERS)) : NULL, n = 0;

    if (!code) {
        free(g);
        return NULL;
    }
    code[n++] = s->code[0];
    for (uint32_t i = 0; i < UMD9_OLD_SAMPLERS; i++)
        if (dims[i]) {
            code[n++] = D3D9_DCL;
            code[n++] = 0x80000000u | (uint32_t)dims[i] << 27;
            code[n++] = umd9_dst(umd9_reg(D3D9_SAMPLER, i), 15);
        }
    memcpy(code + n, s->code + 1, 4 * (s->words - 1));
    g->name = umd9_shader_emit(d, true, code, 4 * (n + s->words - 1));
    g->key_size = UMD9_OLD_SAMPLERS;
    memcpy(g->key, dims, UMD9_OLD_SAMPLERS);
    free(code);
    return g;
}

uint32_t umd9_bound_pixel(struct umd9_device *d)
{
    struct umd9_shader *s = d->ps;
    uint8_t dims[UMD9_OLD_SAMPLERS] = {0};
    struct umd9_generated *g = s->others;

    if (s->major > 1)
        return s->name;
    for (int i = 0; i < UMD9_OLD_SAMPLERS; i++)
        dims[i] = s->dims[i] && d->textures[i] ? umd9_dim(d->textures[i]) : s->dims[i];
    if (!memcmp(dims, s->dims, sizeof(dims)))
        return s->name;
    while (g && memcmp(g->key, dims, sizeof(dims)) != 0)
        g = g->next;
    if (!g) {
        g = declared(d, s, dims);
        if (!g)
            return 0;
        g->next = s->others;
        s->others = g;
    }
    return g->name;
}

static HRESULT APIENTRY set_vs(HANDLE h, HANDLE shader)
{
    umd9_device(h)->vs = shader;
    return S_OK;
}

static HRESULT APIENTRY set_ps(HANDLE h, HANDLE shader)
{
    umd9_device(h)->ps = shader;
    return S_OK;
}

/* ---- declarations ----------------------------------------------------------- */

uint32_t umd9_layout_emit(struct umd9_device *d, const D3DDDIVERTEXELEMENT *elements, uint32_t count)
{
    D3DDDIVERTEXELEMENT all[33];
    uint32_t name = umd9_name(d), bytes = (count + 1) * (uint32_t)sizeof(all[0]);

    memcpy(all, elements, count * sizeof(all[0]));
    all[count] = (D3DDDIVERTEXELEMENT){0xFF, 0, 17, 0, 0, 0};
    umd9_room(d, bytes + 64);
    ABI_EMIT_TAIL(&d->stream, CREATE_INPUT_LAYOUT, create_input_layout, all, bytes,
                  .input_layout_handle = name, .blob_size_bytes = bytes);
    return name;
}

static HRESULT APIENTRY create_decl(HANDLE h, D3DDDIARG_CREATEVERTEXSHADERDECL *a,
                                    CONST D3DDDIVERTEXELEMENT *elements)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_decl *decl;
    HRESULT hr = umd9_state(d);

    if (hr != S_OK)
        return hr;
    if (a->NumVertexElements > 32)
        return E_INVALIDARG;
    for (UINT i = 0; i < a->NumVertexElements; i++)
        if (elements[i].Stream >= UMD9_STREAMS || elements[i].Offset > 2048 || elements[i].Type > 16 ||
            elements[i].Usage > 13 || elements[i].Method)
            return E_INVALIDARG;
    decl = calloc(1, sizeof(*decl));
    if (!decl)
        return E_OUTOFMEMORY;
    decl->count = a->NumVertexElements;
    memcpy(decl->elements, elements, decl->count * sizeof(elements[0]));
    for (uint32_t i = 0; i < decl->count; i++)
        decl->transformed |= elements[i].Usage == UMD9_USAGE_POSITIONT;
    decl->name = umd9_layout_emit(d, elements, decl->count);
    a->ShaderHandle = decl;
    return S_OK;
}

static HRESULT APIENTRY delete_decl(HANDLE h, HANDLE declaration)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_decl *decl = declaration;

    if (d->decl == decl)
        d->decl = NULL;
    if (d->bound_layout == decl->name)
        umd9_bind_shaders(d, 0, 0, 0);
    umd9_room(d, 64);
    ABI_EMIT(&d->stream, DESTROY_INPUT_LAYOUT, destroy_input_layout, .input_layout_handle = decl->name);
    free(decl);
    return S_OK;
}

static HRESULT APIENTRY set_decl(HANDLE h, HANDLE declaration)
{
    umd9_device(h)->decl = declaration;
    return S_OK;
}

void umd9_bind_shaders(struct umd9_device *d, uint32_t vs, uint32_t ps, uint32_t layout)
{
    umd9_room(d, 128);
    if (vs != d->bound_vs || ps != d->bound_ps)
        ABI_EMIT(&d->stream, BIND_SHADERS, bind_shaders, .vs = vs, .ps = ps);
    if (layout != d->bound_layout)
        ABI_EMIT(&d->stream, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = layout);
    d->bound_vs = vs;
    d->bound_ps = ps;
    d->bound_layout = layout;
}

/* ---- constants -------------------------------------------------------------- */

static void changed(struct umd9_registers *r, uint32_t low, uint32_t high)
{
    if (r->f_low >= r->f_high) {
        r->f_low = low;
        r->f_high = high;
        return;
    }
    r->f_low = low < r->f_low ? low : r->f_low;
    r->f_high = high > r->f_high ? high : r->f_high;
}

static HRESULT set_f(struct umd9_registers *r, const D3DDDIARG_SETVERTEXSHADERCONST *a, const void *values)
{
    if (a->Register > UMD9_CONSTANTS || a->Count > UMD9_CONSTANTS - a->Register)
        return E_INVALIDARG;
    if (!a->Count)
        return S_OK;
    memcpy(r->f[a->Register], values, a->Count * sizeof(r->f[0]));
    changed(r, a->Register, a->Register + a->Count);
    if (a->Register + a->Count > r->f_used)
        r->f_used = a->Register + a->Count;
    return S_OK;
}

static HRESULT set_i(struct umd9_registers *r, const D3DDDIARG_SETVERTEXSHADERCONST *a, const INT *values)
{
    if (a->Register > 16 || a->Count > 16 - a->Register)
        return E_INVALIDARG;
    memcpy(r->i[a->Register], values, a->Count * sizeof(r->i[0]));
    for (UINT i = 0; i < a->Count; i++)
        r->i_changed |= 1u << (a->Register + i);
    return S_OK;
}

static HRESULT set_b(struct umd9_registers *r, const D3DDDIARG_SETVERTEXSHADERCONST *a, const BOOL *values)
{
    if (a->Register > 16 || a->Count > 16 - a->Register)
        return E_INVALIDARG;
    memcpy(&r->b[a->Register], values, a->Count * sizeof(r->b[0]));
    for (UINT i = 0; i < a->Count; i++)
        r->b_changed |= 1u << (a->Register + i);
    return S_OK;
}

static HRESULT APIENTRY set_vs_f(HANDLE h, CONST D3DDDIARG_SETVERTEXSHADERCONST *a, CONST VOID *v)
{
    return set_f(&umd9_device(h)->vsc, a, v);
}

static HRESULT APIENTRY set_ps_f(HANDLE h, CONST D3DDDIARG_SETPIXELSHADERCONST *a, CONST FLOAT *v)
{
    return set_f(&umd9_device(h)->psc, a, v);
}

static HRESULT APIENTRY set_vs_i(HANDLE h, CONST D3DDDIARG_SETVERTEXSHADERCONSTI *a, CONST INT *v)
{
    return set_i(&umd9_device(h)->vsc, a, v);
}

static HRESULT APIENTRY set_ps_i(HANDLE h, CONST D3DDDIARG_SETPIXELSHADERCONSTI *a, CONST INT *v)
{
    return set_i(&umd9_device(h)->psc, a, v);
}

static HRESULT APIENTRY set_vs_b(HANDLE h, CONST D3DDDIARG_SETVERTEXSHADERCONSTB *a, CONST BOOL *v)
{
    return set_b(&umd9_device(h)->vsc, a, v);
}

static HRESULT APIENTRY set_ps_b(HANDLE h, CONST D3DDDIARG_SETPIXELSHADERCONSTB *a, CONST BOOL *v)
{
    return set_b(&umd9_device(h)->psc, a, v);
}

static void emit_f(struct umd9_device *d, uint32_t stage, uint32_t first, const void *values, uint32_t count)
{
    umd9_room(d, 16 * count + 64);
    ABI_EMIT_TAIL(&d->stream, SET_SHADER_CONSTANTS_F, set_shader_constants_f, values, count * 16,
                  .stage = stage, .start_register = first, .vec4_count = count);
}

void umd9_own_constants(struct umd9_device *d, bool pixel, uint32_t first, const void *values, uint32_t count)
{
    struct umd9_registers *r = pixel ? &d->psc : &d->vsc;
    uint32_t high = first + count < r->f_used ? first + count : r->f_used;

    emit_f(d, pixel ? AEROGPU_SHADER_STAGE_PIXEL : AEROGPU_SHADER_STAGE_VERTEX, first, values, count);
    if (first < high) /* 7 */
        changed(r, first, high);
}

static void bind_constants(struct umd9_device *d, struct umd9_registers *r, uint32_t stage)
{
    if (r->f_low < r->f_high)
        emit_f(d, stage, r->f_low, r->f[r->f_low], r->f_high - r->f_low);
    r->f_low = r->f_high = 0;
    for (uint32_t i = 0; i < 16; i++) {
        const uint32_t b[4] = {r->b[i] != 0, 0, 0, 0};

        umd9_room(d, 128);
        if (r->i_changed >> i & 1)
            ABI_EMIT_TAIL(&d->stream, SET_SHADER_CONSTANTS_I, set_shader_constants_i, r->i[i], 16,
                          .stage = stage, .start_register = i, .vec4_count = 1);
        if (r->b_changed >> i & 1)
            ABI_EMIT_TAIL(&d->stream, SET_SHADER_CONSTANTS_B, set_shader_constants_b, b, 16, .stage = stage,
                          .start_register = i, .bool_count = 1);
    }
    r->i_changed = r->b_changed = 0;
}

/* ---- what shaders depend on beside them ------------------------------------- */

bool umd9_has_rows(const struct umd9_device *d)
{
    return d->info.device_features & AEROGPU_EXT_FEATURE(EXT_D3D9);
}

void umd9_set_rows(struct umd9_device *d, uint32_t first, const void *values, uint32_t count)
{
    if (!memcmp(d->rows[first], values, count * 16) || !umd9_has_rows(d))
        return;
    memcpy(d->rows[first], values, count * 16);
    umd9_room(d, 16 * count + 64);
    ABI_EMIT_TAIL(&d->stream, EXT_SET_D3D9_VALUES, ext_set_d3d9_values, values, count * 16, .first = first,
                  .vec4_count = count);
}

static float as_float(uint32_t v)
{
    float f;

    memcpy(&f, &v, sizeof(f));
    return f;
}

/* Bump matrices and divisors of coordinates, which pixel shaders of model 1 read. */
static void bind_bump(struct umd9_device *d)
{
    float bump[UMD9_STAGES][2][4] = {{{0}}}, by[4] = {0};

    for (uint32_t i = 0; i < UMD9_STAGES; i++) {
        const uint32_t *t = d->tss[i], flags = t[D3DDDITSS_TEXTURETRANSFORMFLAGS];

        for (uint32_t k = 0; k < 4; k++)
            bump[i][0][k] = as_float(t[D3DDDITSS_BUMPENVMAT00 + k]);
        bump[i][1][0] = as_float(t[D3DDDITSS_BUMPENVLSCALE]);
        bump[i][1][1] = as_float(t[D3DDDITSS_BUMPENVLOFFSET]);
        if (i < 4 && flags & 256) /* the fixed function has put it last */
            by[i] = 4;
    }
    umd9_set_rows(d, AEROGPU_D3D9_ROW_BUMP, bump, 2 * UMD9_STAGES);
    umd9_set_rows(d, AEROGPU_D3D9_ROW_PROJECTED, by, 1);
}

void umd9_bind_rows(struct umd9_device *d)
{
    const float(*p)[4] = d->projection;
    const bool by_w = d->rs[D3DRS_FOGTABLEMODE] && !d->decl->transformed &&
                      (p[0][3] != 0 || p[1][3] != 0 || p[2][3] != 0 || p[3][3] != 1);
    float planes[6][4] = {{0}};
    uint32_t compared = 0, spread = 0, decoded = 0;

    if (d->rs[D3DRS_CLIPPLANEENABLE]) {
        if (d->vs && !d->decl->transformed)
            memcpy(planes, d->clip, sizeof(planes));
        else if (!d->decl->transformed)
            umd9_fixed_planes(d, planes);
        umd9_set_rows(d, AEROGPU_D3D9_ROW_CLIP, planes, 6);
    }
    if (d->ps && d->ps->major == 1)
        bind_bump(d);
    for (uint32_t i = 0; i < 16; i++) {
        const struct umd9_resource *r = d->textures[i];

        if (!r)
            continue;
        if (r->flags.ZBuffer)
            *(umd9_is_read(r->format) ? &spread : &compared) |= 1u << i;
        if (d->samplers[i][D3DSAMP_SRGBTEXTURE] && umd9_is_decoded(r->format))
            decoded |= 1u << i;
    }
    umd9_set_rows(d, AEROGPU_D3D9_ROW_SAMPLING,
                  (float[4]){(float)compared, by_w, (float)spread, (float)decoded}, 1);
}

/* ---- constants of the next draw --------------------------------------------- */

void umd9_bind_constants(struct umd9_device *d)
{
    if (d->vs && !d->decl->transformed) {
        bind_constants(d, &d->vsc, AEROGPU_SHADER_STAGE_VERTEX);
        d->fixed_vs_rows = 0; /* 7 */
    }
    if (d->ps) {
        bind_constants(d, &d->psc, AEROGPU_SHADER_STAGE_PIXEL);
        d->fixed_ps_rows = 0;
    }
}

void umd9_shader_functions(D3DDDI_DEVICEFUNCS *f)
{
    f->pfnCreateVertexShaderFunc = create_vs;
    f->pfnDeleteVertexShaderFunc = delete_shader;
    f->pfnSetVertexShaderFunc = set_vs;
    f->pfnCreatePixelShader = create_ps;
    f->pfnDeletePixelShader = delete_shader;
    f->pfnSetPixelShader = set_ps;
    f->pfnCreateVertexShaderDecl = create_decl;
    f->pfnDeleteVertexShaderDecl = delete_decl;
    f->pfnSetVertexShaderDecl = set_decl;
    f->pfnSetVertexShaderConst = set_vs_f;
    f->pfnSetVertexShaderConstI = set_vs_i;
    f->pfnSetVertexShaderConstB = set_vs_b;
    f->pfnSetPixelShaderConst = set_ps_f;
    f->pfnSetPixelShaderConstI = set_ps_i;
    f->pfnSetPixelShaderConstB = set_ps_b;
}
