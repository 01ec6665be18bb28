/* SPDX-License-Identifier: MIT */
/* state.c: render states, texture stages and samplers, targets, viewport, and what the fixed function is made of. */
#include <math.h>
#include <stdlib.h>

#include "umd/d3d9/umd9.h"

/* ---- render states ---------------------------------------------------------- */

/* Those that the device knows and that mean there what they mean here. Fog is also told by the fixed function. */
static void emit_state(struct umd9_device *d, uint32_t state, uint32_t value)
{
    umd9_room(d, 64);
    ABI_EMIT(&d->stream, SET_RENDER_STATE, set_render_state, .state = state, .value = value);
}

static HRESULT APIENTRY set_render_state(HANDLE h, CONST D3DDDIARG_RENDERSTATE *a)
{
    struct umd9_device *d = umd9_device(h);

    if (a->State >= D3DRS_COUNT || !d3drs_name(a->State) || d->rs[a->State] == a->Value)
        return S_OK;
    d->rs[a->State] = a->Value;
    if (a->State == D3DRS_CLIPPING || a->State == D3DRS_MULTISAMPLEMASK)
        return S_OK; /* umd9_bind_clipping, umd9_bind_mask */
    emit_state(d, a->State, a->Value);
    return S_OK;
}

void umd9_bind_clipping(struct umd9_device *d)
{
    bool unclipped =
        d->decl
            ->transformed; /* there is no CLIPTLVERTS; who turns CLIPPING off promises that there is nothing to clip */

    if (unclipped != d->unclipped)
        emit_state(d, D3DRS_CLIPPING, !unclipped);
    d->unclipped = unclipped;
}

/* A mask of two samples says it of pairs; and there is none of those that cannot be masked. */
void umd9_bind_mask(struct umd9_device *d)
{
    const struct umd9_resource *r = d->targets[0];
    uint32_t mask = d->rs[D3DRS_MULTISAMPLEMASK];

    if (!r || r->samples == 1 || r->type == D3DDDIMULTISAMPLE_NONMASKABLE)
        mask = UINT32_MAX;
    else if (r->type == D3DDDIMULTISAMPLE_2_SAMPLES)
        mask = (mask & 1) * 3 | (mask >> 1 & 1) * 12;
    if (mask != d->sample_mask)
        emit_state(d, D3DRS_MULTISAMPLEMASK, mask);
    d->sample_mask = mask;
}

/* ---- stages and samplers ----------------------------------------------------- */

/* Where a stage of the interface is: samplers of pixel shaders, the displacement map's, those of vertex shaders. */
static uint32_t slot_of(UINT stage)
{
    return stage < 16 ? stage : stage >= 256 && stage < 256 + 5 ? 16 + stage - 256 : UMD9_SAMPLERS;
}

static void emit_sampler(struct umd9_device *d, uint32_t slot, uint32_t state, uint32_t value)
{
    if (slot == 16) /* displacement maps */
        return;
    umd9_room(d, 64);
    ABI_EMIT(&d->stream, SET_SAMPLER_STATE, set_sampler_state,
             .shader_stage = slot < 16 ? AEROGPU_SHADER_STAGE_PIXEL : AEROGPU_SHADER_STAGE_VERTEX,
             .slot = slot < 16 ? slot : slot - 17, .state = state, .value = value);
}

static HRESULT APIENTRY set_stage_state(HANDLE h, CONST D3DDDIARG_TEXTURESTAGESTATE *a)
{
    static const uint8_t samplers[UMD9_TSS] = {
        [D3DDDITSS_ADDRESSU] = D3DSAMP_ADDRESSU,       [D3DDDITSS_ADDRESSV] = D3DSAMP_ADDRESSV,
        [D3DDDITSS_ADDRESSW] = D3DSAMP_ADDRESSW,       [D3DDDITSS_BORDERCOLOR] = D3DSAMP_BORDERCOLOR,
        [D3DDDITSS_MAGFILTER] = D3DSAMP_MAGFILTER,     [D3DDDITSS_MINFILTER] = D3DSAMP_MINFILTER,
        [D3DDDITSS_MIPFILTER] = D3DSAMP_MIPFILTER,     [D3DDDITSS_MIPMAPLODBIAS] = D3DSAMP_MIPMAPLODBIAS,
        [D3DDDITSS_MAXMIPLEVEL] = D3DSAMP_MAXMIPLEVEL, [D3DDDITSS_MAXANISOTROPY] = D3DSAMP_MAXANISOTROPY,
        [D3DDDITSS_SRGBTEXTURE] = D3DSAMP_SRGBTEXTURE};
    struct umd9_device *d = umd9_device(h);
    uint32_t slot = slot_of(a->Stage);

    if (a->State >= UMD9_TSS || slot == UMD9_SAMPLERS)
        return S_OK;
    if (samplers[a->State]) {
        if (d->samplers[slot][samplers[a->State]] == a->Value)
            return S_OK;
        d->samplers[slot][samplers[a->State]] = a->Value;
        emit_sampler(d, slot, samplers[a->State], a->Value);
    } else if (slot < UMD9_STAGES) {
        d->tss[slot][a->State] = a->Value;
    }
    return S_OK;
}

static HRESULT APIENTRY set_texture(HANDLE h, UINT stage, HANDLE resource)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_resource *r = resource;
    uint32_t slot = slot_of(stage);

    if (r && (!r->name || !r->format))
        return E_INVALIDARG;
    if (slot == UMD9_SAMPLERS || d->textures[slot] == r)
        return S_OK;
    d->textures[slot] = r;
    if (slot == 16)
        return S_OK;
    umd9_room(d, 64);
    ABI_EMIT(&d->stream, SET_TEXTURE, set_texture,
             .shader_stage = slot < 16 ? AEROGPU_SHADER_STAGE_PIXEL : AEROGPU_SHADER_STAGE_VERTEX,
             .slot = slot < 16 ? slot : slot - 17, .texture = r ? r->name : 0);
    return S_OK;
}

void umd9_bind_texture(struct umd9_device *d)
{
    umd9_room(d, 64);
    ABI_EMIT(&d->stream, SET_TEXTURE, set_texture, .shader_stage = AEROGPU_SHADER_STAGE_PIXEL,
             .texture = d->textures[0] ? d->textures[0]->name : 0);
}

/* ---- targets, viewport, scissor ----------------------------------------------- */

static HRESULT APIENTRY set_target(HANDLE h, CONST D3DDDIARG_SETRENDERTARGET *a)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_resource *r = a->hRenderTarget;

    if (a->RenderTargetIndex >= UMD9_TARGETS ||
        (r && (!r->name || !r->format || a->SubResourceIndex >= r->num_surfaces)))
        return E_INVALIDARG;
    d->targets[a->RenderTargetIndex] = r;
    d->target_surfaces[a->RenderTargetIndex] = a->SubResourceIndex;
    d->targets_changed = true;
    return S_OK;
}

static HRESULT APIENTRY set_depth(HANDLE h, CONST D3DDDIARG_SETDEPTHSTENCIL *a)
{
    struct umd9_device *d = umd9_device(h);

    d->depth = a->hZBuffer;
    d->targets_changed = true;
    return S_OK;
}

/* A colour, and none that nobody looks at: where there is depth beside that, what is drawn reaches as far as the depth does. */
static bool is_color(const struct umd9_device *d, uint32_t i)
{
    return d->targets[i] && !(d->depth && umd9_is_null(d->targets[i]->format));
}

static const struct umd9_surface *target_surface(const struct umd9_device *d, uint32_t i)
{
    return &d->targets[i]->surfaces[d->target_surfaces[i]];
}

bool umd9_targets_alike(const struct umd9_device *d)
{
    const struct umd9_surface *s = d->depth ? &d->depth->surfaces[0] : NULL;
    uint32_t samples = d->depth ? d->depth->samples : 0;

    for (uint32_t i = 0; i < UMD9_TARGETS; i++) {
        const struct umd9_surface *c = is_color(d, i) ? target_surface(d, i) : NULL;

        if (c && s && (c->width != s->width || c->height != s->height || d->targets[i]->samples != samples))
            return false;
        if (c) {
            s = c;
            samples = d->targets[i]->samples;
        }
    }
    return true;
}

/* What has other samples than the first colour is left out: the device takes no such targets. */
void umd9_bind_targets(struct umd9_device *d, uint32_t colors, bool depth)
{
    struct aerogpu_cmd_set_render_targets t = {0};
    uint32_t samples = 0;

    for (uint32_t i = 0; i < UMD9_TARGETS; i++) {
        if (!is_color(d, i) || !(colors >> i & 1) || (samples && d->targets[i]->samples != samples))
            continue;
        samples = d->targets[i]->samples;
        t.colors[i] = umd9_target(d, d->targets[i], d->target_surfaces[i]);
        t.color_count = i + 1;
    }
    if (d->depth && depth && (!samples || d->depth->samples == samples))
        t.depth_stencil = d->depth->name;
    umd9_room(d, 128);
    abi_builder_packet(&d->stream, AEROGPU_CMD_SET_RENDER_TARGETS, &t, sizeof(t), NULL, 0);
    d->targets_changed = false;
}

static HRESULT APIENTRY set_viewport(HANDLE h, CONST D3DDDIARG_VIEWPORTINFO *a)
{
    struct umd9_device *d = umd9_device(h);

    d->viewport = *a;
    d->viewport_changed = true;
    return S_OK;
}

static HRESULT APIENTRY set_z_range(HANDLE h, CONST D3DDDIARG_ZRANGE *a)
{
    struct umd9_device *d = umd9_device(h);

    /* the device has no more, and what is not transformed is not scaled to less */
    d->z = (D3DDDIARG_ZRANGE){fminf(fmaxf(a->MinZ, 0), 1), fminf(fmaxf(a->MaxZ, 0), 1)};
    d->viewport_changed = true;
    return S_OK;
}

/* Direct3D 9's pixels have their centres at whole numbers: what is drawn is half a pixel to the right and down, but its viewport is not.
 * Where the device cannot say that, the viewport is, too, and cuts through pixels' samples. */
void umd9_bind_viewport(struct umd9_device *d)
{
    const D3DDDIARG_VIEWPORTINFO *v = &d->viewport;
    const float width = (float)v->Width, height = (float)v->Height, by = umd9_has_rows(d) ? 0 : 0.5f;

    umd9_set_rows(d, AEROGPU_D3D9_ROW_CENTRE, (float[4]){1 / width, -1 / height}, 1);
    umd9_room(d, 64);
    ABI_EMIT(&d->stream, SET_VIEWPORT, set_viewport, .x = abi_f32((float)v->X + by),
             .y = abi_f32((float)v->Y + by), .width = abi_f32(width), .height = abi_f32(height),
             .min_depth = abi_f32(d->z.MinZ), .max_depth = abi_f32(d->z.MaxZ));
    d->viewport_changed = false;
}

void umd9_set_scissor(struct umd9_device *d, bool on, const RECT *r)
{
    int32_t at[4];

    abi_rect(at, r->left, r->top, r->right, r->bottom);
    umd9_room(d, 128);
    ABI_EMIT(&d->stream, SET_RENDER_STATE, set_render_state, .state = D3DRS_SCISSORTESTENABLE, .value = on);
    ABI_EMIT(&d->stream, SET_SCISSOR, set_scissor, .x = at[0], .y = at[1], .width = at[2], .height = at[3]);
}

static HRESULT APIENTRY set_scissor_rect(HANDLE h, CONST RECT *r)
{
    struct umd9_device *d = umd9_device(h);

    d->scissor = *r;
    umd9_set_scissor(d, d->rs[D3DRS_SCISSORTESTENABLE] != 0, r);
    return S_OK;
}

/* ---- the fixed function's ------------------------------------------------------ */

static float (*matrix_of(struct umd9_device *d, UINT type))[4]
{
    if (type == 2)
        return d->view;
    if (type == 3)
        return d->projection;
    if (type >= 16 && type < 16 + UMD9_STAGES)
        return d->texture[type - 16];
    return type >= 256 && type < 256 + UMD9_WORLDS ? d->world[type - 256] : NULL;
}

static HRESULT APIENTRY set_transform(HANDLE h, CONST D3DDDIARG_SETTRANSFORM *a)
{
    float(*m)[4] = matrix_of(umd9_device(h), a->TransformType);

    if (m)
        memcpy(m, a->Matrix, sizeof(a->Matrix));
    return S_OK;
}

static HRESULT APIENTRY multiply_transform(HANDLE h, CONST D3DDDIARG_MULTIPLYTRANSFORM *a)
{
    float(*m)[4] = matrix_of(umd9_device(h), a->TransformType), product[4][4] = {{0}};

    for (int i = 0; m && i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++)
                product[i][j] += a->Matrix[i][k] * m[k][j];
    if (m)
        memcpy(m, product, sizeof(product));
    return S_OK;
}

static HRESULT APIENTRY set_material(HANDLE h, CONST D3DDDIARG_SETMATERIAL *a)
{
    umd9_device(h)->material = *a;
    return S_OK;
}

static struct umd9_light **find_light(struct umd9_device *d, UINT index)
{
    struct umd9_light **p = &d->lights;

    while (*p && (*p)->index < index)
        p = &(*p)->next;
    return p;
}

static HRESULT APIENTRY create_light(HANDLE h, CONST D3DDDIARG_CREATELIGHT *a)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_light **p = find_light(d, a->Index), *l;

    if (*p && (*p)->index == a->Index)
        return S_OK;
    l = calloc(1, sizeof(*l));
    if (!l)
        return E_OUTOFMEMORY;
    l->index = a->Index;
    l->next = *p;
    *p = l;
    return S_OK;
}

static HRESULT APIENTRY destroy_light(HANDLE h, CONST D3DDDIARG_DESTROYLIGHT *a)
{
    struct umd9_light **p = find_light(umd9_device(h), a->Index), *l = *p;

    if (!l || l->index != a->Index)
        return E_INVALIDARG;
    *p = l->next;
    free(l);
    return S_OK;
}

static HRESULT APIENTRY set_light(HANDLE h, CONST D3DDDIARG_SETLIGHT *a, CONST D3DDDI_LIGHT *data)
{
    struct umd9_light *l = *find_light(umd9_device(h), a->Index);

    if (!l || l->index != a->Index)
        return E_INVALIDARG;
    if (a->DataType == D3DDDI_SETLIGHT_DATA)
        l->data = *data;
    else
        l->enabled = a->DataType == D3DDDI_SETLIGHT_ENABLE;
    return S_OK;
}

static HRESULT APIENTRY set_clip_plane(HANDLE h, CONST D3DDDIARG_SETCLIPPLANE *a)
{
    if (a->Index >= 6)
        return E_INVALIDARG;
    memcpy(umd9_device(h)->clip[a->Index], a->Plane, sizeof(a->Plane));
    return S_OK;
}

static HRESULT APIENTRY update_w(HANDLE h, CONST D3DDDIARG_WINFO *a)
{
    return S_OK; /* there are no W buffers */
}

static HRESULT APIENTRY validate(HANDLE h, D3DDDIARG_VALIDATETEXTURESTAGESTATE *a)
{
    a->NumPasses = 1;
    return S_OK;
}

/* ---- as a device begins ---------------------------------------------------------- */

static void identity(float m[4][4])
{
    memset(m, 0, 16 * sizeof(float));
    for (int i = 0; i < 4; i++)
        m[i][i] = 1;
}

void umd9_state_init(struct umd9_device *d)
{
#define S(name, number, initial) d->rs[number] = initial;
    D3DRS_TABLE(S)
#undef S
#define S(name, number, initial) d->samplers[i][number] = initial;
    for (int i = 0; i < UMD9_SAMPLERS; i++) {
        D3DSAMP_TABLE(S)
    }
#undef S
    for (int i = 0; i < UMD9_STAGES; i++) {
        d->tss[i][D3DDDITSS_COLOROP] = i ? 1 : 4; /* DISABLE, MODULATE */
        d->tss[i][D3DDDITSS_COLORARG1] = d->tss[i][D3DDDITSS_ALPHAARG1] = 2;
        d->tss[i][D3DDDITSS_COLORARG2] = d->tss[i][D3DDDITSS_ALPHAARG2] = 1;
        d->tss[i][D3DDDITSS_COLORARG0] = d->tss[i][D3DDDITSS_ALPHAARG0] = d->tss[i][D3DDDITSS_RESULTARG] = 1;
        d->tss[i][D3DDDITSS_ALPHAOP] = i ? 1 : 2;
        d->tss[i][D3DDDITSS_TEXCOORDINDEX] = (uint32_t)i;
        identity(d->texture[i]);
    }
    for (int i = 0; i < UMD9_WORLDS; i++)
        identity(d->world[i]);
    identity(d->view);
    identity(d->projection);
    for (int i = 0; i < UMD9_STAGES; i++) { /* as the device begins */
        float(*bump)[4] = &d->rows[AEROGPU_D3D9_ROW_BUMP + 2 * i];

        bump[0][0] = bump[0][3] = bump[1][0] = 1;
    }
    d->z.MaxZ = 1;
    d->sample_mask = UINT32_MAX;
    d->targets_changed = d->streams_changed = true;
    for (int i = 0; i < UMD9_STREAMS; i++)
        d->streams[i].divider = 1;
}

void umd9_state_finish(struct umd9_device *d)
{
    for (struct umd9_light *l = d->lights, *next; l; l = next) {
        next = l->next;
        free(l);
    }
}

void umd9_state_functions(D3DDDI_DEVICEFUNCS *f)
{
    f->pfnSetRenderState = set_render_state;
    f->pfnSetTextureStageState = set_stage_state;
    f->pfnSetTexture = set_texture;
    f->pfnSetRenderTarget = set_target;
    f->pfnSetDepthStencil = set_depth;
    f->pfnSetViewport = set_viewport;
    f->pfnSetZRange = set_z_range;
    f->pfnSetScissorRect = set_scissor_rect;
    f->pfnSetTransform = set_transform;
    f->pfnMultiplyTransform = multiply_transform;
    f->pfnSetMaterial = set_material;
    f->pfnCreateLight = create_light;
    f->pfnDestroyLight = destroy_light;
    f->pfnSetLight = set_light;
    f->pfnSetClipPlane = set_clip_plane;
    f->pfnUpdateWInfo = update_w;
    f->pfnValidateDevice = validate;
}
