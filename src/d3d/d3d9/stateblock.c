/* SPDX-License-Identifier: MIT */
/* stateblock.c: state blocks: recorded, captured and applied by the same setters that programs call. */
#include "d3d/d3d9/tables.h"
#include "d3d/d3d9/stateblock.h"

/* ---- which parts --------------------------------------------------------------------- */

static void mark_all(struct d9_mask *m)
{
    memset(m, 1, sizeof(*m));
}

static void mark_vertex(struct d9_mask *m)
{
    static const uint16_t states[] = {D3DRS_CULLMODE,
                                      D3DRS_FOGENABLE,
                                      D3DRS_FOGCOLOR,
                                      D3DRS_FOGTABLEMODE,
                                      D3DRS_FOGSTART,
                                      D3DRS_FOGEND,
                                      D3DRS_FOGDENSITY,
                                      D3DRS_RANGEFOGENABLE,
                                      D3DRS_AMBIENT,
                                      D3DRS_COLORVERTEX,
                                      D3DRS_FOGVERTEXMODE,
                                      D3DRS_CLIPPING,
                                      D3DRS_LIGHTING,
                                      D3DRS_LOCALVIEWER,
                                      D3DRS_EMISSIVEMATERIALSOURCE,
                                      D3DRS_AMBIENTMATERIALSOURCE,
                                      D3DRS_DIFFUSEMATERIALSOURCE,
                                      D3DRS_SPECULARMATERIALSOURCE,
                                      D3DRS_VERTEXBLEND,
                                      D3DRS_CLIPPLANEENABLE,
                                      D3DRS_POINTSIZE,
                                      D3DRS_POINTSIZE_MIN,
                                      D3DRS_POINTSPRITEENABLE,
                                      D3DRS_POINTSCALEENABLE,
                                      D3DRS_POINTSCALE_A,
                                      D3DRS_POINTSCALE_B,
                                      D3DRS_POINTSCALE_C,
                                      D3DRS_MULTISAMPLEANTIALIAS,
                                      D3DRS_MULTISAMPLEMASK,
                                      D3DRS_PATCHEDGESTYLE,
                                      D3DRS_POINTSIZE_MAX,
                                      D3DRS_INDEXEDVERTEXBLENDENABLE,
                                      D3DRS_TWEENFACTOR,
                                      D3DRS_POSITIONDEGREE,
                                      D3DRS_NORMALDEGREE,
                                      D3DRS_MINTESSELLATIONLEVEL,
                                      D3DRS_MAXTESSELLATIONLEVEL,
                                      D3DRS_ADAPTIVETESS_X,
                                      D3DRS_ADAPTIVETESS_Y,
                                      D3DRS_ADAPTIVETESS_Z,
                                      D3DRS_ADAPTIVETESS_W,
                                      D3DRS_ENABLEADAPTIVETESSELLATION,
                                      D3DRS_NORMALIZENORMALS,
                                      D3DRS_SPECULARENABLE,
                                      D3DRS_SHADEMODE};

    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
        m->rs[states[i]] = 1;
    for (int i = 0; i < D9_STAGES; i++)
        m->tss[i][D3DTSS_TEXCOORDINDEX] = m->tss[i][D3DTSS_TEXTURETRANSFORMFLAGS] = 1;
    for (int i = 17; i < D9_SAMPLERS; i++)
        m->samplers[i][D3DSAMP_DMAPOFFSET] = 1;
    memset(m->vs_f, 1, sizeof(m->vs_f));
    memset(m->vs_i, 1, sizeof(m->vs_i));
    memset(m->vs_b, 1, sizeof(m->vs_b));
    memset(m->frequencies, 1, sizeof(m->frequencies));
    m->vs = m->decl = m->lights = 1;
}

static void mark_pixel(struct d9_mask *m)
{
    static const uint16_t states[] = {D3DRS_ZENABLE,
                                      D3DRS_FILLMODE,
                                      D3DRS_SHADEMODE,
                                      D3DRS_ZWRITEENABLE,
                                      D3DRS_ALPHATESTENABLE,
                                      D3DRS_LASTPIXEL,
                                      D3DRS_SRCBLEND,
                                      D3DRS_DESTBLEND,
                                      D3DRS_ZFUNC,
                                      D3DRS_ALPHAREF,
                                      D3DRS_ALPHAFUNC,
                                      D3DRS_DITHERENABLE,
                                      D3DRS_FOGSTART,
                                      D3DRS_FOGEND,
                                      D3DRS_FOGDENSITY,
                                      D3DRS_ALPHABLENDENABLE,
                                      D3DRS_DEPTHBIAS,
                                      D3DRS_STENCILENABLE,
                                      D3DRS_STENCILFAIL,
                                      D3DRS_STENCILZFAIL,
                                      D3DRS_STENCILPASS,
                                      D3DRS_STENCILFUNC,
                                      D3DRS_STENCILREF,
                                      D3DRS_STENCILMASK,
                                      D3DRS_STENCILWRITEMASK,
                                      D3DRS_TEXTUREFACTOR,
                                      D3DRS_WRAP0,
                                      D3DRS_WRAP1,
                                      D3DRS_WRAP2,
                                      D3DRS_WRAP3,
                                      D3DRS_WRAP4,
                                      D3DRS_WRAP5,
                                      D3DRS_WRAP6,
                                      D3DRS_WRAP7,
                                      D3DRS_WRAP8,
                                      D3DRS_WRAP9,
                                      D3DRS_WRAP10,
                                      D3DRS_WRAP11,
                                      D3DRS_WRAP12,
                                      D3DRS_WRAP13,
                                      D3DRS_WRAP14,
                                      D3DRS_WRAP15,
                                      D3DRS_COLORWRITEENABLE,
                                      D3DRS_BLENDOP,
                                      D3DRS_SCISSORTESTENABLE,
                                      D3DRS_SLOPESCALEDEPTHBIAS,
                                      D3DRS_ANTIALIASEDLINEENABLE,
                                      D3DRS_TWOSIDEDSTENCILMODE,
                                      D3DRS_CCW_STENCILFAIL,
                                      D3DRS_CCW_STENCILZFAIL,
                                      D3DRS_CCW_STENCILPASS,
                                      D3DRS_CCW_STENCILFUNC,
                                      D3DRS_COLORWRITEENABLE1,
                                      D3DRS_COLORWRITEENABLE2,
                                      D3DRS_COLORWRITEENABLE3,
                                      D3DRS_BLENDFACTOR,
                                      D3DRS_SRGBWRITEENABLE,
                                      D3DRS_SEPARATEALPHABLENDENABLE,
                                      D3DRS_SRCBLENDALPHA,
                                      D3DRS_DESTBLENDALPHA,
                                      D3DRS_BLENDOPALPHA};

    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
        m->rs[states[i]] = 1;
    memset(m->tss, 1, sizeof(m->tss));
    for (int i = 0; i < 16; i++)
        memset(m->samplers[i], 1, sizeof(m->samplers[i]));
    memset(m->ps_f, 1, sizeof(m->ps_f));
    memset(m->ps_i, 1, sizeof(m->ps_i));
    memset(m->ps_b, 1, sizeof(m->ps_b));
    m->ps = 1;
}

/* ---- capturing -------------------------------------------------------------------------- */

#define COPY(part)                                                                                           \
    if (b->mask.part)                                                                                        \
    b->state.part = s->part
#define COPY_EACH(mask_of, part, count)                                                                      \
    for (size_t i = 0; i < (count); i++)                                                                     \
        if (b->mask.mask_of[i])                                                                              \
    memcpy(&b->state.part[i], &s->part[i], sizeof(s->part[i]))

static void capture_lights(struct d9_block *b, const struct d9_state *s)
{
    for (const struct d9_light *l = s->lights; l; l = l->next) {
        struct d9_light *mine = d9_light(&b->state, l->index, true);

        if (mine) {
            mine->light = l->light;
            mine->enabled = l->enabled;
        }
    }
}

static void capture_bound(struct d9_block *b, const struct d9_state *s)
{
    for (int i = 0; i < D9_SAMPLERS; i++)
        if (b->mask.textures[i])
            d9_object_bind(&b->state.textures[i], s->textures[i]);
    for (int i = 0; i < D9_STREAMS; i++) {
        if (b->mask.streams[i]) {
            d9_object_bind(&b->state.streams[i].buffer, s->streams[i].buffer);
            if (!b->keeps_offsets)
                b->state.streams[i].offset = s->streams[i].offset;
            b->state.streams[i].stride = s->streams[i].stride;
        }
        if (b->mask.frequencies[i])
            b->state.streams[i].frequency = s->streams[i].frequency;
    }
    if (b->mask.indices)
        d9_object_bind(&b->state.indices, s->indices);
    if (b->mask.vs)
        d9_object_bind(&b->state.vs, s->vs);
    if (b->mask.ps)
        d9_object_bind(&b->state.ps, s->ps);
    if (b->mask.decl)
        d9_object_bind(&b->state.decl, s->decl);
}

static void capture(struct d9_block *b)
{
    const struct d9_state *s = &b->o.device->state;

    COPY_EACH(rs, rs, D9_RENDER_STATES);
    for (int k = 0; k < D9_STAGES; k++)
        COPY_EACH(tss[k], tss[k], D9_TSS);
    for (int k = 0; k < D9_SAMPLERS; k++)
        COPY_EACH(samplers[k], samplers[k], D9_SAMP);
    COPY_EACH(world, world, D9_WORLDS);
    COPY_EACH(texture, texture, D9_STAGES);
    COPY(view);
    COPY(projection);
    COPY(material);
    COPY(viewport);
    COPY(scissor);
    COPY_EACH(clip, clip, 6);
    COPY_EACH(vs_f, vsc.f, 256);
    COPY_EACH(vs_i, vsc.i, 16);
    COPY_EACH(vs_b, vsc.b, 16);
    COPY_EACH(ps_f, psc.f, 224);
    COPY_EACH(ps_i, psc.i, 16);
    COPY_EACH(ps_b, psc.b, 16);
    if (b->mask.lights)
        capture_lights(b, s);
    capture_bound(b, s);
}

/* ---- making --------------------------------------------------------------------------------- */

static struct d9_block *new_block(struct d9_device *d)
{
    struct d9_block *b = calloc(1, sizeof(*b));

    if (b)
        d9_object_init(&b->o, d, D9_BLOCK);
    return b;
}

HRESULT STDMETHODCALLTYPE d9_device_CreateStateBlock(IDirect3DDevice9Ex *This, D3DSTATEBLOCKTYPE type,
                                                     IDirect3DStateBlock9 **out)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_block *b;

    if (!out || d->recording || type < D3DSBT_ALL || type > D3DSBT_VERTEXSTATE)
        return D3DERR_INVALIDCALL;
    b = new_block(d);
    if (!b)
        return E_OUTOFMEMORY;
    if (type == D3DSBT_ALL)
        mark_all(&b->mask);
    else if (type == D3DSBT_PIXELSTATE)
        mark_pixel(&b->mask);
    else
        mark_vertex(&b->mask);
    capture(b);
    b->keeps_offsets = true;
    *out = (IDirect3DStateBlock9 *)b;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_BeginStateBlock(IDirect3DDevice9Ex *This)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_block *b;

    if (d->recording)
        return D3DERR_INVALIDCALL;
    b = new_block(d);
    if (!b)
        return E_OUTOFMEMORY;
    d9_object_bind(&d->recording, b); /* the device's own until it is told */
    d9_object_release(b);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_EndStateBlock(IDirect3DDevice9Ex *This, IDirect3DStateBlock9 **out)
{
    struct d9_device *d = d9_device_of(This);

    if (!out || !d->recording)
        return D3DERR_INVALIDCALL;
    *out = (IDirect3DStateBlock9 *)d->recording;
    d9_object_AddRef(d->recording);
    d9_object_bind(&d->recording, NULL);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_block_Capture(IDirect3DStateBlock9 *This)
{
    struct d9_block *b = (struct d9_block *)This;

    if (b->o.device->recording)
        return D3DERR_INVALIDCALL;
    capture(b);
    return D3D_OK;
}

/* ---- applying -------------------------------------------------------------------------------- */

static void apply_states(struct d9_block *b, IDirect3DDevice9Ex *d)
{
    const struct d9_mask *m = &b->mask;
    const struct d9_state *s = &b->state;

    for (DWORD i = 0; i < D9_RENDER_STATES; i++)
        if (m->rs[i])
            d9_device_SetRenderState(d, (D3DRENDERSTATETYPE)i, s->rs[i]);
    for (DWORD i = 0; i < D9_STAGES; i++)
        for (DWORD k = 1; k < D9_TSS; k++)
            if (m->tss[i][k])
                d9_device_SetTextureStageState(d, i, (D3DTEXTURESTAGESTATETYPE)k, s->tss[i][k]);
    for (DWORD i = 0; i < D9_SAMPLERS; i++) {
        DWORD sampler = i < 16 ? i : D3DDMAPSAMPLER + i - 16;

        for (DWORD k = 1; k < D9_SAMP; k++)
            if (m->samplers[i][k])
                d9_device_SetSamplerState(d, sampler, (D3DSAMPLERSTATETYPE)k, s->samplers[i][k]);
        if (m->textures[i])
            d9_device_SetTexture(d, sampler, (IDirect3DBaseTexture9 *)s->textures[i]);
    }
}

static void apply_fixed(struct d9_block *b, IDirect3DDevice9Ex *d)
{
    const struct d9_mask *m = &b->mask;
    const struct d9_state *s = &b->state;

    for (UINT i = 0; i < D9_WORLDS; i++)
        if (m->world[i])
            d9_device_SetTransform(d, D3DTS_WORLDMATRIX(i), &s->world[i]);
    for (UINT i = 0; i < D9_STAGES; i++)
        if (m->texture[i])
            d9_device_SetTransform(d, (D3DTRANSFORMSTATETYPE)(D3DTS_TEXTURE0 + i), &s->texture[i]);
    if (m->view)
        d9_device_SetTransform(d, D3DTS_VIEW, &s->view);
    if (m->projection)
        d9_device_SetTransform(d, D3DTS_PROJECTION, &s->projection);
    if (m->material)
        d9_device_SetMaterial(d, &s->material);
    for (const struct d9_light *l = m->lights ? s->lights : NULL; l; l = l->next) {
        d9_device_SetLight(d, l->index, &l->light);
        d9_device_LightEnable(d, l->index, l->enabled);
    }
    for (UINT i = 0; i < 6; i++)
        if (m->clip[i])
            d9_device_SetClipPlane(d, i, s->clip[i]);
    if (m->viewport)
        d9_device_SetViewport(d, &s->viewport);
    if (m->scissor)
        d9_device_SetScissorRect(d, &s->scissor);
}

static void apply_bound(struct d9_block *b, IDirect3DDevice9Ex *d)
{
    const struct d9_mask *m = &b->mask;
    const struct d9_state *s = &b->state;

    if (m->vs)
        d9_device_SetVertexShader(d, (IDirect3DVertexShader9 *)s->vs);
    if (m->ps)
        d9_device_SetPixelShader(d, (IDirect3DPixelShader9 *)s->ps);
    if (m->decl && s->decl) /* none leaves the program's */
        d9_device_SetVertexDeclaration(d, (IDirect3DVertexDeclaration9 *)s->decl);
    for (UINT i = 0; i < D9_STREAMS; i++) {
        if (m->streams[i])
            d9_device_SetStreamSource(d, i, (IDirect3DVertexBuffer9 *)s->streams[i].buffer,
                                      s->streams[i].offset, s->streams[i].stride);
        if (m->frequencies[i] && s->streams[i].frequency)
            d9_device_SetStreamSourceFreq(d, i, s->streams[i].frequency);
    }
    if (m->indices)
        d9_device_SetIndices(d, (IDirect3DIndexBuffer9 *)s->indices);
    for (UINT i = 0; i < 256; i++) {
        if (m->vs_f[i])
            d9_device_SetVertexShaderConstantF(d, i, s->vsc.f[i], 1);
        if (i < 224 && m->ps_f[i])
            d9_device_SetPixelShaderConstantF(d, i, s->psc.f[i], 1);
    }
    for (UINT i = 0; i < 16; i++) {
        if (m->vs_i[i])
            d9_device_SetVertexShaderConstantI(d, i, s->vsc.i[i], 1);
        if (m->vs_b[i])
            d9_device_SetVertexShaderConstantB(d, i, &s->vsc.b[i], 1);
        if (m->ps_i[i])
            d9_device_SetPixelShaderConstantI(d, i, s->psc.i[i], 1);
        if (m->ps_b[i])
            d9_device_SetPixelShaderConstantB(d, i, &s->psc.b[i], 1);
    }
}

HRESULT STDMETHODCALLTYPE d9_block_Apply(IDirect3DStateBlock9 *This)
{
    struct d9_block *b = (struct d9_block *)This;
    IDirect3DDevice9Ex *d = (IDirect3DDevice9Ex *)b->o.device;

    if (b->o.device->recording)
        return D3DERR_INVALIDCALL;
    apply_states(b, d);
    apply_fixed(b, d);
    apply_bound(b, d);
    return D3D_OK;
}
