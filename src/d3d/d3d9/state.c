/* SPDX-License-Identifier: MIT */
/* state.c: render states, stages, samplers, textures, transforms, material, lights, clip planes, viewport, scissor. */
#include "d3d/d3d9/tables.h"
#include "d3d/d3d9/stateblock.h"

#include <math.h>

/* Where a sampler of the API is; D9_SAMPLERS: nowhere. */
static UINT slot_of(DWORD sampler)
{
    return sampler < 16                                                       ? sampler
           : sampler >= D3DDMAPSAMPLER && sampler <= D3DVERTEXTEXTURESAMPLER3 ? 16 + sampler - D3DDMAPSAMPLER
                                                                              : D9_SAMPLERS;
}

static UINT sampler_of(UINT slot)
{
    return slot < 16 ? slot : D3DDMAPSAMPLER + slot - 16;
}

/* ---- render states --------------------------------------------------------------------- */

static void send_rs(struct d9_device *d, UINT state)
{
    DDI9(d, pfnSetRenderState, &(D3DDDIARG_RENDERSTATE){state, d->state.rs[state]});
}

HRESULT STDMETHODCALLTYPE d9_device_SetRenderState(IDirect3DDevice9Ex *This, D3DRENDERSTATETYPE state,
                                                   DWORD value)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_state *s = d9_into(d);

    if ((UINT)state >= D9_RENDER_STATES) /* Windows takes what it does not know */
        return D3D_OK;
    if (!D9_RECORDS(d, rs[state]) && s->rs[state] == value)
        return D3D_OK;
    s->rs[state] = value;
    if (!d->recording)
        send_rs(d, state);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetRenderState(IDirect3DDevice9Ex *This, D3DRENDERSTATETYPE state,
                                                   DWORD *value)
{
    if (!value || (UINT)state >= D9_RENDER_STATES)
        return D3DERR_INVALIDCALL;
    *value = d9_device_of(This)->state.rs[state];
    return D3D_OK;
}

/* ---- stages and samplers ----------------------------------------------------------------- */

static void send_tss(struct d9_device *d, UINT stage, UINT state)
{
    DDI9(d, pfnSetTextureStageState,
         &(D3DDDIARG_TEXTURESTAGESTATE){stage, state, d->state.tss[stage][state]});
}

static void send_sampler(struct d9_device *d, UINT slot, UINT state)
{
    static const UINT names[D9_SAMP] = {
        [D3DSAMP_ADDRESSU] = D3DDDITSS_ADDRESSU,       [D3DSAMP_ADDRESSV] = D3DDDITSS_ADDRESSV,
        [D3DSAMP_ADDRESSW] = D3DDDITSS_ADDRESSW,       [D3DSAMP_BORDERCOLOR] = D3DDDITSS_BORDERCOLOR,
        [D3DSAMP_MAGFILTER] = D3DDDITSS_MAGFILTER,     [D3DSAMP_MINFILTER] = D3DDDITSS_MINFILTER,
        [D3DSAMP_MIPFILTER] = D3DDDITSS_MIPFILTER,     [D3DSAMP_MIPMAPLODBIAS] = D3DDDITSS_MIPMAPLODBIAS,
        [D3DSAMP_MAXMIPLEVEL] = D3DDDITSS_MAXMIPLEVEL, [D3DSAMP_MAXANISOTROPY] = D3DDDITSS_MAXANISOTROPY,
        [D3DSAMP_SRGBTEXTURE] = D3DDDITSS_SRGBTEXTURE, [D3DSAMP_ELEMENTINDEX] = D3DDDITSS_ELEMENTINDEX,
        [D3DSAMP_DMAPOFFSET] = D3DDDITSS_DMAPOFFSET};

    const struct d9_resource *r = d->state.textures[slot];
    const DWORD lod = r ? r->lod : 0;
    /* What SetLOD says of a texture holds wherever it is bound; without a filter between levels it names the level. */
    const bool one = lod && d->state.samplers[slot][D3DSAMP_MIPFILTER] == D3DTEXF_NONE;
    DWORD value = d->state.samplers[slot][state];

    if (state == D3DSAMP_MAXMIPLEVEL) {
        d->lods[slot] = lod;
        value = one || value < lod ? lod : value;
    } else if (state == D3DSAMP_MIPFILTER && one)
        value = D3DTEXF_POINT;
    else if (state == D3DSAMP_MIPMAPLODBIAS && one)
        value = 0xC1700000; /* -15: no smaller level */
    if (names[state])
        DDI9(d, pfnSetTextureStageState,
             &(D3DDDIARG_TEXTURESTAGESTATE){sampler_of(slot), names[state], value});
}

/* What depends on SetLOD. */
static void send_levels(struct d9_device *d, UINT slot)
{
    send_sampler(d, slot, D3DSAMP_MAXMIPLEVEL);
    send_sampler(d, slot, D3DSAMP_MIPFILTER);
    send_sampler(d, slot, D3DSAMP_MIPMAPLODBIAS);
}

HRESULT STDMETHODCALLTYPE d9_device_SetTextureStageState(IDirect3DDevice9Ex *This, DWORD stage,
                                                         D3DTEXTURESTAGESTATETYPE state, DWORD value)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_state *s = d9_into(d);

    if (stage >= D9_STAGES || (UINT)state >= D9_TSS)
        return D3D_OK;
    if (!D9_RECORDS(d, tss[stage][state]) && s->tss[stage][state] == value)
        return D3D_OK;
    s->tss[stage][state] = value;
    if (!d->recording)
        send_tss(d, stage, state);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetTextureStageState(IDirect3DDevice9Ex *This, DWORD stage,
                                                         D3DTEXTURESTAGESTATETYPE state, DWORD *value)
{
    if (!value || stage >= D9_STAGES || (UINT)state >= D9_TSS)
        return value ? D3D_OK : D3DERR_INVALIDCALL;
    *value = d9_device_of(This)->state.tss[stage][state];
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_SetSamplerState(IDirect3DDevice9Ex *This, DWORD sampler,
                                                    D3DSAMPLERSTATETYPE state, DWORD value)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_state *s = d9_into(d);
    UINT slot = slot_of(sampler);

    if (slot >= D9_SAMPLERS || (UINT)state >= D9_SAMP)
        return D3D_OK;
    if (!D9_RECORDS(d, samplers[slot][state]) && s->samplers[slot][state] == value)
        return D3D_OK;
    s->samplers[slot][state] = value;
    if (!d->recording && state == D3DSAMP_MIPFILTER && d->lods[slot])
        send_levels(d, slot);
    else if (!d->recording)
        send_sampler(d, slot, state);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetSamplerState(IDirect3DDevice9Ex *This, DWORD sampler,
                                                    D3DSAMPLERSTATETYPE state, DWORD *value)
{
    UINT slot = slot_of(sampler);

    if (!value)
        return D3DERR_INVALIDCALL;
    *value =
        slot < D9_SAMPLERS && (UINT)state < D9_SAMP ? d9_device_of(This)->state.samplers[slot][state] : 0;
    return D3D_OK;
}

static void send_texture(struct d9_device *d, UINT slot)
{
    const struct d9_resource *r = d->state.textures[slot];

    DDI9(d, pfnSetTexture, sampler_of(slot), d9_sampled(d->state.textures[slot]));
    if (d->lods[slot] != (r ? r->lod : 0))
        send_levels(d, slot);
}

void d9_send_lod(struct d9_device *d, const struct d9_resource *r)
{
    for (UINT slot = 0; slot < D9_SAMPLERS; slot++)
        if (d->state.textures[slot] == r)
            send_levels(d, slot);
}

HRESULT STDMETHODCALLTYPE d9_device_SetTexture(IDirect3DDevice9Ex *This, DWORD sampler,
                                               IDirect3DBaseTexture9 *texture)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_state *s = d9_into(d);
    struct d9_resource *r = d9_texture_of(texture);
    UINT slot = slot_of(sampler);

    if (slot >= D9_SAMPLERS)
        return D3D_OK;
    if (r && r->o.device != d)
        return D3DERR_INVALIDCALL;
    if (!D9_RECORDS(d, textures[slot]) && s->textures[slot] == r)
        return D3D_OK;
    d9_object_bind(&s->textures[slot], r);
    if (!d->recording)
        send_texture(d, slot);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetTexture(IDirect3DDevice9Ex *This, DWORD sampler,
                                               IDirect3DBaseTexture9 **out)
{
    UINT slot = slot_of(sampler);

    if (!out)
        return D3DERR_INVALIDCALL;
    *out = slot < D9_SAMPLERS ? (IDirect3DBaseTexture9 *)d9_device_of(This)->state.textures[slot] : NULL;
    if (*out)
        IDirect3DBaseTexture9_AddRef(*out);
    return D3D_OK;
}

/* ---- transforms, material, lights ------------------------------------------------------------ */

static D3DMATRIX *matrix_of(struct d9_state *s, D3DTRANSFORMSTATETYPE type)
{
    UINT t = (UINT)type;

    if (t == D3DTS_VIEW)
        return &s->view;
    if (t == D3DTS_PROJECTION)
        return &s->projection;
    if (t >= D3DTS_TEXTURE0 && t < D3DTS_TEXTURE0 + D9_STAGES)
        return &s->texture[t - D3DTS_TEXTURE0];
    return t >= 256 && t < 256 + D9_WORLDS ? &s->world[t - 256] : NULL;
}

static void send_transform(struct d9_device *d, D3DTRANSFORMSTATETYPE type)
{
    D3DDDIARG_SETTRANSFORM a = {.TransformType = type};

    memcpy(a.Matrix, matrix_of(&d->state, type), sizeof(a.Matrix));
    DDI9(d, pfnSetTransform, &a);
}

static bool records_transform(struct d9_device *d, D3DTRANSFORMSTATETYPE type)
{
    UINT t = (UINT)type;

    if (t == D3DTS_VIEW)
        return D9_RECORDS(d, view);
    if (t == D3DTS_PROJECTION)
        return D9_RECORDS(d, projection);
    if (t < 256)
        return D9_RECORDS(d, texture[t - D3DTS_TEXTURE0]);
    return D9_RECORDS(d, world[t - 256]);
}

HRESULT STDMETHODCALLTYPE d9_device_SetTransform(IDirect3DDevice9Ex *This, D3DTRANSFORMSTATETYPE type,
                                                 const D3DMATRIX *matrix)
{
    struct d9_device *d = d9_device_of(This);
    D3DMATRIX *m = matrix_of(d9_into(d), type);

    if (!matrix)
        return D3DERR_INVALIDCALL;
    if (!m)
        return D3D_OK;
    *m = *matrix;
    if (!records_transform(d, type))
        send_transform(d, type);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetTransform(IDirect3DDevice9Ex *This, D3DTRANSFORMSTATETYPE type,
                                                 D3DMATRIX *matrix)
{
    D3DMATRIX *m = matrix_of(&d9_device_of(This)->state, type);

    if (!matrix || !m)
        return D3DERR_INVALIDCALL;
    *matrix = *m;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_MultiplyTransform(IDirect3DDevice9Ex *This, D3DTRANSFORMSTATETYPE type,
                                                      const D3DMATRIX *matrix)
{
    struct d9_device *d = d9_device_of(This);
    D3DMATRIX *m = matrix_of(&d->state, type), product = {{{0}}};

    if (!matrix || !m)
        return D3DERR_INVALIDCALL;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++)
                product.m[i][j] += matrix->m[i][k] * m->m[k][j];
    *m = product; /* it is not recorded */
    send_transform(d, type);
    return D3D_OK;
}

static void send_material(struct d9_device *d)
{
    D3DDDIARG_SETMATERIAL a;

    memcpy(&a, &d->state.material, sizeof(a));
    DDI9(d, pfnSetMaterial, &a);
}

HRESULT STDMETHODCALLTYPE d9_device_SetMaterial(IDirect3DDevice9Ex *This, const D3DMATERIAL9 *material)
{
    struct d9_device *d = d9_device_of(This);

    if (!material)
        return D3DERR_INVALIDCALL;
    d9_into(d)->material = *material;
    if (!D9_RECORDS(d, material))
        send_material(d);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetMaterial(IDirect3DDevice9Ex *This, D3DMATERIAL9 *material)
{
    if (!material)
        return D3DERR_INVALIDCALL;
    *material = d9_device_of(This)->state.material;
    return D3D_OK;
}

struct d9_light *d9_light(struct d9_state *s, DWORD index, bool make)
{
    struct d9_light **p = &s->lights, *l;

    while (*p && (*p)->index < index)
        p = &(*p)->next;
    if (*p && (*p)->index == index)
        return *p;
    if (!make || !(l = calloc(1, sizeof(*l))))
        return NULL;
    /* what LightEnable makes of a light that was never set */
    l->light = (D3DLIGHT9){.Type = D3DLIGHT_DIRECTIONAL, .Diffuse = {1, 1, 1, 0}, .Direction = {0, 0, 1}};
    l->index = index;
    l->next = *p;
    *p = l;
    return l;
}

static void send_light(struct d9_device *d, const struct d9_light *l)
{
    D3DDDIARG_SETLIGHT a = {l->index, D3DDDI_SETLIGHT_DATA};
    D3DDDI_LIGHT data;

    memcpy(&data, &l->light, sizeof(data));
    DDI9(d, pfnCreateLight, &(D3DDDIARG_CREATELIGHT){l->index});
    DDI9(d, pfnSetLight, &a, &data);
    a.DataType = l->enabled ? D3DDDI_SETLIGHT_ENABLE : D3DDDI_SETLIGHT_DISABLE;
    DDI9(d, pfnSetLight, &a, &data);
}

HRESULT STDMETHODCALLTYPE d9_device_SetLight(IDirect3DDevice9Ex *This, DWORD index, const D3DLIGHT9 *light)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_light *l;

    if (!light || light->Type < D3DLIGHT_POINT || light->Type > D3DLIGHT_DIRECTIONAL)
        return D3DERR_INVALIDCALL;
    l = d9_light(d9_into(d), index, true);
    if (!l)
        return E_OUTOFMEMORY;
    l->light = *light;
    if (!D9_RECORDS(d, lights))
        send_light(d, l);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetLight(IDirect3DDevice9Ex *This, DWORD index, D3DLIGHT9 *light)
{
    const struct d9_light *l = d9_light(&d9_device_of(This)->state, index, false);

    if (!light || !l)
        return D3DERR_INVALIDCALL;
    *light = l->light;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_LightEnable(IDirect3DDevice9Ex *This, DWORD index, BOOL enable)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_light *l = d9_light(d9_into(d), index, true);

    if (!l)
        return E_OUTOFMEMORY;
    l->enabled = enable != 0;
    if (!D9_RECORDS(d, lights))
        send_light(d, l);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetLightEnable(IDirect3DDevice9Ex *This, DWORD index, BOOL *enable)
{
    const struct d9_light *l = d9_light(&d9_device_of(This)->state, index, false);

    if (!enable || !l)
        return D3DERR_INVALIDCALL;
    *enable = l->enabled ? 128 : 0; /* what Windows answers */
    return D3D_OK;
}

static void send_clip(struct d9_device *d, UINT index)
{
    D3DDDIARG_SETCLIPPLANE a = {.Index = index};

    memcpy(a.Plane, d->state.clip[index], sizeof(a.Plane));
    DDI9(d, pfnSetClipPlane, &a);
}

/* Those that there are not are the last that there is. */
static DWORD plane_of(DWORD index)
{
    return index < 6 ? index : 5;
}

HRESULT STDMETHODCALLTYPE d9_device_SetClipPlane(IDirect3DDevice9Ex *This, DWORD index, const float *plane)
{
    struct d9_device *d = d9_device_of(This);

    if (!plane)
        return D3DERR_INVALIDCALL;
    index = plane_of(index);
    memcpy(d9_into(d)->clip[index], plane, sizeof(float[4]));
    if (!D9_RECORDS(d, clip[index]))
        send_clip(d, index);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetClipPlane(IDirect3DDevice9Ex *This, DWORD index, float *plane)
{
    if (!plane)
        return D3DERR_INVALIDCALL;
    memcpy(plane, d9_device_of(This)->state.clip[plane_of(index)], sizeof(float[4]));
    return D3D_OK;
}

/* ---- viewport and scissor ------------------------------------------------------------------------ */

void d9_send_viewport(struct d9_device *d)
{
    const D3DVIEWPORT9 *v = &d->state.viewport;

    DDI9(d, pfnSetViewport, &(D3DDDIARG_VIEWPORTINFO){v->X, v->Y, v->Width, v->Height});
    /* a range that is empty, or turned around, is a thin one: so does Windows */
    DDI9(d, pfnSetZRange, &(D3DDDIARG_ZRANGE){v->MinZ, fmaxf(v->MaxZ, v->MinZ + 0.001f)});
    DDI9(d, pfnSetScissorRect, &d->state.scissor);
}

HRESULT STDMETHODCALLTYPE d9_device_SetViewport(IDirect3DDevice9Ex *This, const D3DVIEWPORT9 *viewport)
{
    struct d9_device *d = d9_device_of(This);

    if (!viewport || viewport->X > 0x7FFF || viewport->Y > 0x7FFF || viewport->Width > 0xFFFF ||
        viewport->Height > 0xFFFF)
        return D3DERR_INVALIDCALL;
    d9_into(d)->viewport = *viewport;
    if (!D9_RECORDS(d, viewport))
        d9_send_viewport(d);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetViewport(IDirect3DDevice9Ex *This, D3DVIEWPORT9 *viewport)
{
    if (!viewport)
        return D3DERR_INVALIDCALL;
    *viewport = d9_device_of(This)->state.viewport;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_SetScissorRect(IDirect3DDevice9Ex *This, const RECT *rect)
{
    struct d9_device *d = d9_device_of(This);

    if (!rect)
        return D3DERR_INVALIDCALL;
    d9_into(d)->scissor = *rect;
    if (!D9_RECORDS(d, scissor))
        DDI9(d, pfnSetScissorRect, rect);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetScissorRect(IDirect3DDevice9Ex *This, RECT *rect)
{
    if (!rect)
        return D3DERR_INVALIDCALL;
    *rect = d9_device_of(This)->state.scissor;
    return D3D_OK;
}

/* ---- all of it ------------------------------------------------------------------------------------- */

static void identity(D3DMATRIX *m)
{
    memset(m, 0, sizeof(*m));
    for (int i = 0; i < 4; i++)
        m->m[i][i] = 1;
}

static void init_stages(struct d9_state *s)
{
    for (int i = 0; i < D9_STAGES; i++) {
        s->tss[i][D3DTSS_COLOROP] = i ? D3DTOP_DISABLE : D3DTOP_MODULATE;
        s->tss[i][D3DTSS_ALPHAOP] = i ? D3DTOP_DISABLE : D3DTOP_SELECTARG1;
        s->tss[i][D3DTSS_COLORARG1] = s->tss[i][D3DTSS_ALPHAARG1] = D3DTA_TEXTURE;
        s->tss[i][D3DTSS_COLORARG2] = s->tss[i][D3DTSS_ALPHAARG2] = D3DTA_CURRENT;
        s->tss[i][D3DTSS_COLORARG0] = s->tss[i][D3DTSS_ALPHAARG0] = s->tss[i][D3DTSS_RESULTARG] =
            D3DTA_CURRENT;
        s->tss[i][D3DTSS_TEXCOORDINDEX] = (DWORD)i;
    }
    for (int i = 0; i < D9_SAMPLERS; i++) {
        s->samplers[i][D3DSAMP_ADDRESSU] = s->samplers[i][D3DSAMP_ADDRESSV] =
            s->samplers[i][D3DSAMP_ADDRESSW] = 1;
        s->samplers[i][D3DSAMP_MAGFILTER] = s->samplers[i][D3DSAMP_MINFILTER] = D3DTEXF_POINT;
        s->samplers[i][D3DSAMP_MAXANISOTROPY] = 1;
    }
}

void d9_state_init(struct d9_device *d, bool depth)
{
    static const struct { /* those that do not begin as 0 */
        uint16_t state;
        DWORD value;
    } initial[] = {{D3DRS_FILLMODE, 3},
                   {D3DRS_SHADEMODE, 2},
                   {D3DRS_ZWRITEENABLE, 1},
                   {D3DRS_LASTPIXEL, 1},
                   {D3DRS_SRCBLEND, 2},
                   {D3DRS_DESTBLEND, 1},
                   {D3DRS_CULLMODE, 3},
                   {D3DRS_ZFUNC, 4},
                   {D3DRS_ALPHAFUNC, 8},
                   {D3DRS_FOGEND, 0x3F800000},
                   {D3DRS_FOGDENSITY, 0x3F800000},
                   {D3DRS_STENCILFAIL, 1},
                   {D3DRS_STENCILZFAIL, 1},
                   {D3DRS_STENCILPASS, 1},
                   {D3DRS_STENCILFUNC, 8},
                   {D3DRS_STENCILMASK, ~0u},
                   {D3DRS_STENCILWRITEMASK, ~0u},
                   {D3DRS_TEXTUREFACTOR, ~0u},
                   {D3DRS_CLIPPING, 1},
                   {D3DRS_LIGHTING, 1},
                   {D3DRS_COLORVERTEX, 1},
                   {D3DRS_LOCALVIEWER, 1},
                   {D3DRS_DIFFUSEMATERIALSOURCE, 1},
                   {D3DRS_SPECULARMATERIALSOURCE, 2},
                   {D3DRS_POINTSIZE, 0x3F800000},
                   {D3DRS_POINTSIZE_MIN, 0x3F800000},
                   {D3DRS_POINTSCALE_A, 0x3F800000},
                   {D3DRS_MULTISAMPLEANTIALIAS, 1},
                   {D3DRS_MULTISAMPLEMASK, ~0u},
                   {D3DRS_DEBUGMONITORTOKEN, 0xBAADCAFE},
                   {D3DRS_POINTSIZE_MAX, 0x42800000},
                   {D3DRS_COLORWRITEENABLE, 15},
                   {D3DRS_BLENDOP, 1},
                   {D3DRS_POSITIONDEGREE, 3},
                   {D3DRS_NORMALDEGREE, 1},
                   {D3DRS_MINTESSELLATIONLEVEL, 0x3F800000},
                   {D3DRS_MAXTESSELLATIONLEVEL, 0x3F800000},
                   {D3DRS_ADAPTIVETESS_Z, 0x3F800000},
                   {D3DRS_CCW_STENCILFAIL, 1},
                   {D3DRS_CCW_STENCILZFAIL, 1},
                   {D3DRS_CCW_STENCILPASS, 1},
                   {D3DRS_CCW_STENCILFUNC, 8},
                   {D3DRS_COLORWRITEENABLE1, 15},
                   {D3DRS_COLORWRITEENABLE2, 15},
                   {D3DRS_COLORWRITEENABLE3, 15},
                   {D3DRS_BLENDFACTOR, ~0u},
                   {D3DRS_SRCBLENDALPHA, 2},
                   {D3DRS_DESTBLENDALPHA, 1},
                   {D3DRS_BLENDOPALPHA, 1}};
    struct d9_state *s = &d->state;

    memset(s, 0, sizeof(*s));
    for (size_t i = 0; i < sizeof(initial) / sizeof(initial[0]); i++)
        s->rs[initial[i].state] = initial[i].value;
    s->rs[D3DRS_ZENABLE] = depth;
    init_stages(s);
    for (int i = 0; i < D9_WORLDS; i++)
        identity(&s->world[i]);
    for (int i = 0; i < D9_STAGES; i++)
        identity(&s->texture[i]);
    identity(&s->view);
    identity(&s->projection);
    for (int i = 0; i < D9_STREAMS; i++)
        s->streams[i].frequency = 1;
}

void d9_state_send(struct d9_device *d)
{
    for (UINT i = 0; i < D9_RENDER_STATES; i++)
        send_rs(d, i);
    for (UINT i = 0; i < D9_STAGES; i++)
        for (UINT k = 1; k < D9_TSS; k++)
            if (k < D3DDDITSS_ADDRESSU || k == D3DTSS_BUMPENVLSCALE || k == D3DTSS_BUMPENVLOFFSET ||
                k == D3DTSS_TEXTURETRANSFORMFLAGS || (k >= D3DTSS_COLORARG0 && k <= D3DTSS_RESULTARG) ||
                k == D3DTSS_CONSTANT)
                send_tss(d, i, k);
    for (UINT i = 0; i < D9_SAMPLERS; i++) {
        for (UINT k = 1; k < D9_SAMP; k++)
            send_sampler(d, i, k);
        send_texture(d, i);
    }
    for (UINT i = 0; i < D9_STAGES; i++)
        send_transform(d, (D3DTRANSFORMSTATETYPE)(D3DTS_TEXTURE0 + i));
    for (UINT i = 0; i < 4; i++)
        send_transform(d, D3DTS_WORLDMATRIX(i));
    send_transform(d, D3DTS_VIEW);
    send_transform(d, D3DTS_PROJECTION);
    send_material(d);
    for (const struct d9_light *l = d->state.lights; l; l = l->next)
        send_light(d, l);
    for (UINT i = 0; i < 6; i++)
        send_clip(d, i);
    d9_send_viewport(d);
    d9_bind_send(d);
}

void d9_state_release(struct d9_state *s)
{
    for (int i = 0; i < D9_SAMPLERS; i++)
        d9_object_bind(&s->textures[i], NULL);
    for (int i = 0; i < D9_STREAMS; i++)
        d9_object_bind(&s->streams[i].buffer, NULL);
    d9_object_bind(&s->indices, NULL);
    d9_object_bind(&s->vs, NULL);
    d9_object_bind(&s->ps, NULL);
    d9_object_bind(&s->decl, NULL);
    for (struct d9_light *l = s->lights, *next; l; l = next) {
        next = l->next;
        free(l);
    }
    s->lights = NULL;
}

void d9_state_finish(struct d9_device *d)
{
    d9_object_bind(&d->recording, NULL);
    d9_state_release(&d->state);
}
