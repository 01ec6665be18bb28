/* SPDX-License-Identifier: MIT */
/* copy.c: pictures and bytes between resources: copied where they are alike, drawn where they are stretched or change their format. */
#include <stdlib.h>

#include "umd/d3d9/asm.h"
#include "umd/d3d9/umd9.h"

static uint8_t *at(const struct umd9_resource *r, uint32_t surface, LONG x, LONG y)
{
    return umd9_texel(r, surface, r->surfaces[surface].sysmem, (uint32_t)x, (uint32_t)y, 0);
}

static bool inside(const struct umd9_resource *r, uint32_t surface, const RECT *q)
{
    return surface < r->num_surfaces && q->left >= 0 && q->top >= 0 && q->left < q->right &&
           q->top < q->bottom && q->right <= (LONG)r->surfaces[surface].width &&
           q->bottom <= (LONG)r->surfaces[surface].height;
}

/* ---- pictures that are drawn ------------------------------------------------------ */

static void make_quad_vs(struct umd9_asm *a)
{
    const uint32_t v0 = umd9_reg(D3D9_INPUT, 0), v1 = umd9_reg(D3D9_INPUT, 1);

    umd9_asm_begin(a, false);
    umd9_asm_dcl(a, D3D9_USAGE_POSITION, 0, umd9_dst(v0, 15));
    umd9_asm_dcl(a, D3D9_USAGE_TEXCOORD, 0, umd9_dst(v1, 15));
    UMD9_OP(a, MOV, umd9_dst(umd9_reg(D3D9_RASTOUT, 0), 15), v0);
    UMD9_OP(a, MOV, umd9_dst(umd9_reg(D3D9_OUTPUT, 0), 15), v1);
    umd9_asm_end(a);
}

static void make_quad_ps(struct umd9_asm *a)
{
    umd9_asm_begin(a, true);
    umd9_asm_dcl(a, 0, 0, umd9_dst(umd9_reg(D3D9_ADDRESS, 0), 15));
    umd9_asm_sampler(a, 0, D3D9_TEXTURE_2D);
    UMD9_OP(a, TEX, umd9_dst(umd9_temp(0), 15), umd9_reg(D3D9_ADDRESS, 0), umd9_reg(D3D9_SAMPLER, 0));
    UMD9_OP(a, MOV, umd9_dst(umd9_reg(D3D9_COLOROUT, 0), 15), umd9_temp(0));
    umd9_asm_end(a);
}

static bool make_quad(struct umd9_device *d)
{
    static const D3DDDIVERTEXELEMENT elements[] = {{0, 0, 3, 0, D3D9_USAGE_POSITION, 0},
                                                   {0, 16, 1, 0, D3D9_USAGE_TEXCOORD, 0}};
    struct umd9_asm *a;

    if (d->quad_vs)
        return true;
    a = malloc(sizeof(*a));
    if (!a)
        return false;
    make_quad_vs(a);
    d->quad_vs = umd9_shader_emit(d, false, a->words, 4 * a->count);
    make_quad_ps(a);
    d->quad_ps = umd9_shader_emit(d, true, a->words, 4 * a->count);
    d->quad_layout = umd9_layout_emit(d, elements, 2);
    free(a);
    return true;
}

/* States under which a picture is drawn as it is; and back to the program's. */
static void plain_states(struct umd9_device *d, bool plain)
{
    static const struct {
        uint16_t state;
        uint32_t value;
    } states[] = {{D3DRS_ZENABLE, 0},          {D3DRS_ZWRITEENABLE, 0}, {D3DRS_ALPHATESTENABLE, 0},
                  {D3DRS_ALPHABLENDENABLE, 0}, {D3DRS_FOGENABLE, 0},    {D3DRS_STENCILENABLE, 0},
                  {D3DRS_CULLMODE, 1},         {D3DRS_FILLMODE, 3},     {D3DRS_COLORWRITEENABLE, 15},
                  {D3DRS_SRGBWRITEENABLE, 0},  {D3DRS_SHADEMODE, 2},    {D3DRS_ADAPTIVETESS_Y, 0},
                  {D3DRS_CLIPPLANEENABLE, 0}};

    umd9_room(d, 64 * sizeof(states) / sizeof(states[0]));
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
        if (d->rs[states[i].state] != states[i].value)
            ABI_EMIT(&d->stream, SET_RENDER_STATE, set_render_state, .state = states[i].state,
                     .value = plain ? states[i].value : d->rs[states[i].state]);
    if (plain && d->sample_mask != UINT32_MAX) /* the next draw has it anew */
        ABI_EMIT(&d->stream, SET_RENDER_STATE, set_render_state, .state = D3DRS_MULTISAMPLEMASK,
                 .value = d->sample_mask = UINT32_MAX);
}

/* The next draw has its own anew. */
static void plain_rows(struct umd9_device *d)
{
    static const float none[4];

    umd9_set_rows(d, AEROGPU_D3D9_ROW_CENTRE, none, 1);
    umd9_set_rows(d, AEROGPU_D3D9_ROW_SAMPLING, none, 1);
}

static void plain_sampler(struct umd9_device *d, bool plain, bool linear)
{
    const struct {
        uint32_t state, value;
    } states[] = {{D3DSAMP_ADDRESSU, 3},
                  {D3DSAMP_ADDRESSV, 3},
                  {D3DSAMP_MINFILTER, linear ? 2 : 1},
                  {D3DSAMP_MAGFILTER, linear ? 2 : 1},
                  {D3DSAMP_MIPFILTER, 0},
                  {D3DSAMP_MAXMIPLEVEL, 0},
                  {D3DSAMP_MIPMAPLODBIAS, 0},
                  {D3DSAMP_SRGBTEXTURE, 0}};

    umd9_room(d, 64 * sizeof(states) / sizeof(states[0]));
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
        ABI_EMIT(&d->stream, SET_SAMPLER_STATE, set_sampler_state, .shader_stage = AEROGPU_SHADER_STAGE_PIXEL,
                 .state = states[i].state,
                 .value = plain ? states[i].value : d->samplers[0][states[i].state]);
}

static HRESULT stretch(struct umd9_device *d, const D3DDDIARG_BLT *a)
{
    struct umd9_resource *src = a->hSrcResource, *dst = a->hDstResource;
    const struct umd9_surface *from = &src->surfaces[a->SrcSubResourceIndex],
                              *to = &dst->surfaces[a->DstSubResourceIndex];
    float v[4][6];
    uint32_t buffer = 0, target, texture;

    if (src->format->operations & FORMATOP_ZSTENCIL || dst->format->operations & FORMATOP_ZSTENCIL ||
        !(dst->format->operations & FORMATOP_OFFSCREEN_RENDERTARGET) || src == dst || !make_quad(d))
        return D3DDDIERR_NOTAVAILABLE;
    for (int i = 0; i < 4; i++) {
        bool right = i & 1, low = i & 2;
        const float corner[6] = {
            2.0f * (float)(right ? a->DstRect.right : a->DstRect.left) / (float)to->width - 1.0f,
            1.0f - 2.0f * (float)(low ? a->DstRect.bottom : a->DstRect.top) / (float)to->height,
            0,
            1,
            (float)(right ? a->SrcRect.right : a->SrcRect.left) / (float)from->width,
            (float)(low ? a->SrcRect.bottom : a->SrcRect.top) / (float)from->height};
        memcpy(v[i], corner, sizeof(corner));
    }
    target = umd9_target(d, dst, a->DstSubResourceIndex);
    texture = src->samples > 1 ? umd9_source(d, src) : umd9_target(d, src, a->SrcSubResourceIndex);
    umd9_set_scissor(d, false, &d->scissor);
    plain_rows(d);
    plain_states(d, true);
    plain_sampler(d, true, a->Flags.Linear);
    umd9_bind_shaders(d, d->quad_vs, d->quad_ps, d->quad_layout);
    buffer = umd9_name(d);
    umd9_room(d, 1024);
    ABI_EMIT(&d->stream, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {target});
    ABI_EMIT(&d->stream, SET_VIEWPORT, set_viewport, .width = abi_f32((float)to->width),
             .height = abi_f32((float)to->height), .max_depth = abi_f32(1));
    ABI_EMIT(&d->stream, SET_TEXTURE, set_texture, .shader_stage = AEROGPU_SHADER_STAGE_PIXEL,
             .texture = texture);
    ABI_EMIT(&d->stream, CREATE_BUFFER, create_buffer, .buffer_handle = buffer,
             .usage_flags = AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, .size_bytes = sizeof(v));
    ABI_EMIT_TAIL(&d->stream, UPLOAD_RESOURCE, upload_resource, v, sizeof(v), .resource_handle = buffer,
                  .size_bytes = sizeof(v));
    ABI_EMIT_TAIL(&d->stream, SET_VERTEX_BUFFERS, set_vertex_buffers,
                  &((struct aerogpu_vertex_buffer_binding){.buffer = buffer, .stride_bytes = sizeof(v[0])}),
                  sizeof(struct aerogpu_vertex_buffer_binding), .buffer_count = 1);
    ABI_EMIT(&d->stream, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology,
             .topology = AEROGPU_TOPOLOGY_TRIANGLESTRIP);
    ABI_EMIT(&d->stream, DRAW, draw, .vertex_count = 4, .instance_count = 1);
    ABI_EMIT(&d->stream, DESTROY_RESOURCE, destroy_resource, .resource_handle = buffer);
    d->bound_topology = AEROGPU_TOPOLOGY_TRIANGLESTRIP;
    d->targets_changed = d->viewport_changed = d->streams_changed = true;
    plain_states(d, false);
    plain_sampler(d, false, false);
    umd9_bind_texture(d);
    umd9_set_scissor(d, d->rs[D3DRS_SCISSORTESTENABLE] != 0, &d->scissor);
    return umd9_state(d);
}

/* ---- pictures that are copied ------------------------------------------------------- */

HRESULT umd9_copy(struct umd9_device *d, struct umd9_resource *dst, uint32_t dst_surface, uint32_t x,
                  uint32_t y, struct umd9_resource *src, uint32_t src_surface, const RECT *rect)
{
    const uint32_t source = src->samples == dst->samples ? src->name : umd9_source(d, src);

    umd9_room(d, 128);
    umd9_alloc_use(src->alloc, false);
    umd9_alloc_use(dst->alloc, true);
    ABI_EMIT(&d->stream, COPY_TEXTURE2D, copy_texture2d, .dst_texture = dst->name, .src_texture = source,
             .dst_mip_level = dst_surface % dst->mips, .dst_array_layer = dst_surface / dst->mips,
             .src_mip_level = src_surface % src->mips, .src_array_layer = src_surface / src->mips, .dst_x = x,
             .dst_y = y, .src_x = (uint32_t)rect->left, .src_y = (uint32_t)rect->top,
             .width = (uint32_t)(rect->right - rect->left), .height = (uint32_t)(rect->bottom - rect->top),
             .flags = dst->alloc ? AEROGPU_COPY_FLAG_WRITEBACK_DST : 0);
    return umd9_state(d);
}

static HRESULT system_to_system(const D3DDDIARG_BLT *a, uint32_t width, uint32_t height)
{
    struct umd9_resource *src = a->hSrcResource, *dst = a->hDstResource;
    const struct umd9_format *f = src->format;

    if (f != dst->format)
        return D3DDDIERR_NOTAVAILABLE;
    for (uint32_t y = 0; y < height; y += f->block)
        memmove(at(dst, a->DstSubResourceIndex, a->DstRect.left, a->DstRect.top + (LONG)y),
                at(src, a->SrcSubResourceIndex, a->SrcRect.left, a->SrcRect.top + (LONG)y),
                (size_t)((width + f->block - 1) / f->block) * f->bytes);
    return S_OK;
}

/* A box of system memory to the device; and to the shadow, if that has what the device has. */
static HRESULT from_system(struct umd9_device *d, struct umd9_resource *dst, uint32_t to,
                           const D3DDDIBOX *box, const struct umd9_resource *src, uint32_t surface,
                           uint32_t x, uint32_t y, uint32_t z)
{
    const struct umd9_surface *s = &src->surfaces[surface], *t = &dst->surfaces[to];
    const struct umd9_format *f = dst->format;
    const uint8_t *from = umd9_texel(src, surface, s->sysmem, x, y, z);
    size_t row = (size_t)((box->Right - box->Left + f->block - 1) / f->block) * f->bytes;

    umd9_upload(d, dst, to, box, from, s->pitch, s->slice);
    if (!dst->shadow && !dst->flags.NotLockable && !(dst->shadow = calloc(1, dst->size + 16)))
        return E_OUTOFMEMORY;
    for (uint32_t k = box->Front; dst->shadow && !t->stale && k < box->Back; k++, from += s->slice)
        for (uint32_t i = box->Top; i < box->Bottom; i += f->block)
            memcpy(umd9_texel(dst, to, dst->shadow + t->offset, box->Left, i, k),
                   from + (size_t)((i - box->Top) / f->block) * s->pitch, row);
    return umd9_state(d);
}

static HRESULT APIENTRY vol_blt(HANDLE h, CONST D3DDDIARG_VOLUMEBLT *a)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_resource *src = a->hSrcResource, *dst = a->hDstResource;
    D3DDDIBOX b = a->SrcBox;
    HRESULT hr = S_OK;

    if (!src->format || !dst->format || src->format->bytes != dst->format->bytes ||
        src->format->block != dst->format->block || src->name || !dst->name || !src->flags.Volume ||
        !dst->flags.Volume)
        return D3DDDIERR_NOTAVAILABLE;
    for (uint32_t m = 0; m < src->mips && m < dst->mips && hr == S_OK; m++) {
        const struct umd9_surface *s = &src->surfaces[m], *t = &dst->surfaces[m];
        const D3DDDIBOX to = {a->DstX >> m,
                              a->DstY >> m,
                              (a->DstX >> m) + b.Right - b.Left,
                              (a->DstY >> m) + b.Bottom - b.Top,
                              a->DstZ >> m,
                              (a->DstZ >> m) + b.Back - b.Front};

        if (b.Left >= b.Right || b.Top >= b.Bottom || b.Front >= b.Back || b.Right > s->width ||
            b.Bottom > s->height || b.Back > s->depth || to.Right > t->width || to.Bottom > t->height ||
            to.Back > t->depth)
            return E_INVALIDARG;
        hr = from_system(d, dst, m, &to, src, m, b.Left, b.Top, b.Front);
        b = (D3DDDIBOX){b.Left / 2,         b.Top / 2,   (b.Right + 1) / 2,
                        (b.Bottom + 1) / 2, b.Front / 2, (b.Back + 1) / 2};
        if (m + 1 < src->mips) { /* of what was whole, all of the next */
            b.Right = b.Right > src->surfaces[m + 1].width ? src->surfaces[m + 1].width : b.Right;
            b.Bottom = b.Bottom > src->surfaces[m + 1].height ? src->surfaces[m + 1].height : b.Bottom;
            b.Back = b.Back > src->surfaces[m + 1].depth ? src->surfaces[m + 1].depth : b.Back;
        }
    }
    return hr;
}

static HRESULT APIENTRY generate_mips(HANDLE h, CONST D3DDDIARG_GENERATEMIPSUBLEVELS *a)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_resource *r = a->hResource;

    if (!r->name || !r->format ||
        !(umd9_operations(r->format, d->info.device_features) & FORMATOP_AUTOGENMIPMAP))
        return D3DDDIERR_NOTAVAILABLE;
    if (r->mips == 1)
        return umd9_state(d);
    umd9_room(d, 64);
    ABI_EMIT(&d->stream, EXT_GENERATE_MIPS, ext_generate_mips, .texture = r->name);
    for (uint32_t i = 0; i < r->num_surfaces; i++)
        r->surfaces[i].stale |= i % r->mips != 0;
    return umd9_state(d);
}

static HRESULT APIENTRY blt(HANDLE h, CONST D3DDDIARG_BLT *a)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_resource *src = a->hSrcResource, *dst = a->hDstResource;
    uint32_t width = (uint32_t)(a->SrcRect.right - a->SrcRect.left),
             height = (uint32_t)(a->SrcRect.bottom - a->SrcRect.top);
    bool same = (LONG)width == a->DstRect.right - a->DstRect.left &&
                (LONG)height == a->DstRect.bottom - a->DstRect.top;

    if (d->removed)
        return D3DDDIERR_DEVICEREMOVED;
    if (!src->format || !dst->format || !inside(src, a->SrcSubResourceIndex, &a->SrcRect) ||
        !inside(dst, a->DstSubResourceIndex, &a->DstRect))
        return E_INVALIDARG;
    if (!src->name || !dst->name) {
        if (!same || src->format->bytes != dst->format->bytes)
            return D3DDDIERR_NOTAVAILABLE;
        if (!src->name && !dst->name)
            return system_to_system(a, width, height);
        if (!dst->name)
            return umd9_download(d, src, a->SrcSubResourceIndex, &a->SrcRect,
                                 at(dst, a->DstSubResourceIndex, a->DstRect.left, a->DstRect.top),
                                 dst->surfaces[a->DstSubResourceIndex].pitch, true);
        return from_system(d, dst, a->DstSubResourceIndex,
                           &(D3DDDIBOX){(UINT)a->DstRect.left, (UINT)a->DstRect.top, (UINT)a->DstRect.right,
                                        (UINT)a->DstRect.bottom, 0, 1},
                           src, a->SrcSubResourceIndex, (uint32_t)a->SrcRect.left, (uint32_t)a->SrcRect.top,
                           0);
    }
    umd9_written(dst, a->DstSubResourceIndex);
    if (src->format->operations & FORMATOP_ZSTENCIL && src->samples != dst->samples)
        return D3DDDIERR_NOTAVAILABLE;
    if (same && src->format->abi == dst->format->abi && src != dst &&
        (dst->samples == 1 || dst->samples == src->samples))
        return umd9_copy(d, dst, a->DstSubResourceIndex, (uint32_t)a->DstRect.left, (uint32_t)a->DstRect.top,
                         src, a->SrcSubResourceIndex, &a->SrcRect);
    return stretch(d, a);
}

static LONG halve(LONG v, uint32_t level)
{
    return v >> level;
}

static HRESULT APIENTRY tex_blt(HANDLE h, CONST D3DDDIARG_TEXBLT *a)
{
    struct umd9_resource *src = a->hSrcResource, *dst = a->hDstResource;
    uint32_t levels = src->mips < dst->mips ? src->mips : dst->mips;
    HRESULT hr = S_OK;

    for (uint32_t m = 0; m < levels && hr == S_OK; m++) {
        uint32_t s = a->CubeMapFace * src->mips + m, t = a->CubeMapFace * dst->mips + m;
        const struct umd9_surface *from = &src->surfaces[s];
        D3DDDIARG_BLT b = {
            .hSrcResource = src, .SrcSubResourceIndex = s, .hDstResource = dst, .DstSubResourceIndex = t};
        const LONG block = src->format ? src->format->block : 1;

        b.SrcRect =
            (RECT){halve(a->SrcRect.left, m) & -block, halve(a->SrcRect.top, m) & -block,
                   halve(a->SrcRect.right + (1 << m) - 1, m), halve(a->SrcRect.bottom + (1 << m) - 1, m)};
        b.SrcRect.right = b.SrcRect.right > (LONG)from->width ? (LONG)from->width : b.SrcRect.right;
        b.SrcRect.bottom = b.SrcRect.bottom > (LONG)from->height ? (LONG)from->height : b.SrcRect.bottom;
        b.DstRect.left = halve(a->DstPoint.x, m) & -block;
        b.DstRect.top = halve(a->DstPoint.y, m) & -block;
        b.DstRect.right = b.DstRect.left + b.SrcRect.right - b.SrcRect.left;
        b.DstRect.bottom = b.DstRect.top + b.SrcRect.bottom - b.SrcRect.top;
        hr = blt(h, &b);
    }
    return hr;
}

static HRESULT APIENTRY buf_blt(HANDLE h, CONST D3DDDIARG_BUFFERBLT *a)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_resource *src = a->hSrcResource, *dst = a->hDstResource;
    uint32_t low = a->Offset & ~3u, slack = a->Offset - low;

    if (src->name || !dst->name || src->format || dst->format || a->SrcRange.Offset > src->size ||
        a->SrcRange.Size > src->size - a->SrcRange.Offset || a->Offset > dst->size ||
        a->SrcRange.Size > dst->size - a->Offset || slack > a->SrcRange.Offset)
        return E_INVALIDARG;
    umd9_upload_buffer(d, dst->name, low, src->surfaces[0].sysmem + a->SrcRange.Offset - slack,
                       a->SrcRange.Size + slack);
    return umd9_state(d);
}

/* ---- fills ---------------------------------------------------------------------------- */

static HRESULT APIENTRY color_fill(HANDLE h, CONST D3DDDIARG_COLORFILL *a)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_resource *r = a->hResource;
    uint32_t c = a->Color, target;

    if (!r->format || !r->name || !inside(r, a->SubResourceIndex, &a->DstRect))
        return E_INVALIDARG;
    if (!(r->format->operations & FORMATOP_OFFSCREEN_RENDERTARGET))
        return D3DDDIERR_NOTAVAILABLE;
    target = umd9_target(d, r, a->SubResourceIndex);
    umd9_set_scissor(d, true, &a->DstRect);
    umd9_room(d, 256);
    ABI_EMIT(&d->stream, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {target});
    ABI_EMIT(&d->stream, CLEAR, clear, .flags = AEROGPU_CLEAR_COLOR,
             .color_rgba = {abi_f32((float)(c >> 16 & 255) / 255.0f), abi_f32((float)(c >> 8 & 255) / 255.0f),
                            abi_f32((float)(c & 255) / 255.0f), abi_f32((float)(c >> 24) / 255.0f)});
    umd9_set_scissor(d, d->rs[D3DRS_SCISSORTESTENABLE] != 0, &d->scissor);
    d->targets_changed = true;
    umd9_written(r, a->SubResourceIndex);
    return umd9_state(d);
}

void umd9_copy_functions(D3DDDI_DEVICEFUNCS *f)
{
    f->pfnBlt = blt;
    f->pfnTexBlt = tex_blt;
    f->pfnVolBlt = vol_blt;
    f->pfnGenerateMipSubLevels = generate_mips;
    f->pfnBufBlt = buf_blt;
    f->pfnColorFill = color_fill;
}
