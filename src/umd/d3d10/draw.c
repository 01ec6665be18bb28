/* SPDX-License-Identifier: MIT */
/* draw.c: vertices, targets, clears, draws; and the slots of what there is not. */
#include "umd/d3d10/umd10.h"

enum {
    MAX_STRIDE = 2048,
    MAX_GROUPS = 65535,
    VIEWPORT_MIN = -32768,
    VIEWPORT_MAX = 32767
}; /* Direct3D 11's, and the device's */

static void bind_shaders(struct umd10_device *d)
{
    struct aerogpu_cmd_bind_shaders b = {
        .vs = d->shaders[UMD10_VS], .ps = d->shaders[UMD10_PS], .cs = d->shaders[UMD10_CS]};
    const uint32_t more[3] = {d->shaders[UMD10_GS], d->shaders[UMD10_HS], d->shaders[UMD10_DS]};

    if (!d->shaders_changed)
        return;
    d->shaders_changed = false;
    abi_builder_packet(&d->stream, AEROGPU_CMD_BIND_SHADERS, &b, sizeof(b), more, sizeof(more));
}

/* Targets and shaders as they are bound; after a clear of something else. */
static void bind_targets(struct umd10_device *d)
{
    struct aerogpu_cmd_set_render_targets t = {.color_count = d->colour_count, .depth_stencil = d->depth};

    memcpy(t.colors, d->colours, sizeof(t.colors));
    abi_builder_packet(&d->stream, AEROGPU_CMD_SET_RENDER_TARGETS, &t, sizeof(t), NULL, 0);
}

static VOID APIENTRY set_targets(D3D10DDI_HDEVICE h, CONST D3D10DDI_HRENDERTARGETVIEW *views, UINT count,
                                 UINT cleared, D3D10DDI_HDEPTHSTENCILVIEW depth,
                                 CONST D3D11DDI_HUNORDEREDACCESSVIEW *uavs, CONST UINT *initial_counts,
                                 UINT uav_first, UINT num_uavs, UINT uav_range_first, UINT uav_range)
{
    struct umd10_device *d = umd10_device(h);
    const struct umd10_view *z = depth.pDrvPrivate;

    memset(d->colours, 0, sizeof(d->colours));
    d->colour_count = count < UMD10_TARGETS ? count : UMD10_TARGETS;
    for (UINT i = 0; i < d->colour_count; i++) {
        const struct umd10_view *v = views[i].pDrvPrivate;
        d->colours[i] = v ? v->name : 0;
    }
    d->depth = z ? z->name : 0;
    umd10_room(d, 128);
    bind_targets(d);
}

static VOID APIENTRY clear_colour(D3D10DDI_HDEVICE h, D3D10DDI_HRENDERTARGETVIEW hv, FLOAT c[4])
{
    struct umd10_device *d = umd10_device(h);
    const struct umd10_view *v = hv.pDrvPrivate;

    if (d->dropped)
        return;
    umd10_room(d, 256);
    ABI_EMIT(&d->stream, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {v->name});
    ABI_EMIT(&d->stream, CLEAR, clear, .flags = AEROGPU_CLEAR_COLOR,
             .color_rgba = {abi_f32(c[0]), abi_f32(c[1]), abi_f32(c[2]), abi_f32(c[3])});
    bind_targets(d);
}

static VOID APIENTRY clear_depth(D3D10DDI_HDEVICE h, D3D10DDI_HDEPTHSTENCILVIEW hv, UINT flags, FLOAT depth,
                                 UINT8 stencil)
{
    struct umd10_device *d = umd10_device(h);
    const struct umd10_view *v = hv.pDrvPrivate;

    if (d->dropped)
        return;
    umd10_room(d, 256);
    ABI_EMIT(&d->stream, SET_RENDER_TARGETS, set_render_targets, .depth_stencil = v->name);
    ABI_EMIT(&d->stream, CLEAR, clear,
             .flags = (flags & 1 ? AEROGPU_CLEAR_DEPTH : 0) | (flags & 2 ? AEROGPU_CLEAR_STENCIL : 0),
             .depth = abi_f32(depth), .stencil = stencil);
    bind_targets(d);
}

static VOID APIENTRY set_viewports(D3D10DDI_HDEVICE h, UINT count, UINT cleared, CONST D3D10_DDI_VIEWPORT *v)
{
    struct umd10_device *d = umd10_device(h);

    /* what Direct3D does not take (nor anything that is no number) is not set */
    if (!count ||
        !(v->TopLeftX >= VIEWPORT_MIN && v->TopLeftY >= VIEWPORT_MIN && v->Width >= 0 && v->Height >= 0 &&
          v->TopLeftX + v->Width <= VIEWPORT_MAX && v->TopLeftY + v->Height <= VIEWPORT_MAX &&
          v->MinDepth >= 0 && v->MinDepth <= 1 && v->MaxDepth >= 0 && v->MaxDepth <= 1))
        return;
    d->viewport_empty = v->Width == 0 || v->Height == 0; /* to the device, an empty one is the whole target */
    umd10_room(d, 64);
    ABI_EMIT(&d->stream, SET_VIEWPORT, set_viewport, .x = abi_f32(v->TopLeftX), .y = abi_f32(v->TopLeftY),
             .width = abi_f32(v->Width), .height = abi_f32(v->Height), .min_depth = abi_f32(v->MinDepth),
             .max_depth = abi_f32(v->MaxDepth));
}

static VOID APIENTRY set_scissors(D3D10DDI_HDEVICE h, UINT count, UINT cleared, CONST D3D10_DDI_RECT *r)
{
    struct umd10_device *d = umd10_device(h);

    if (!count)
        return;
    umd10_room(d, 64);
    ABI_EMIT(&d->stream, SET_SCISSOR, set_scissor, .x = r->left, .y = r->top, .width = r->right - r->left,
             .height = r->bottom - r->top);
}

static VOID APIENTRY set_vertex_buffers(D3D10DDI_HDEVICE h, UINT first, UINT count,
                                        CONST D3D10DDI_HRESOURCE *buffers, CONST UINT *strides,
                                        CONST UINT *offsets)
{
    struct umd10_device *d = umd10_device(h);
    struct aerogpu_vertex_buffer_binding b[32] = {0};

    for (UINT i = 0; i < count && i < 32; i++) {
        const struct umd10_resource *r = buffers[i].pDrvPrivate;
        if (!r || offsets[i] > r->size || strides[i] > MAX_STRIDE)
            continue; /* reads as zeros */
        b[i] = (struct aerogpu_vertex_buffer_binding){
            .buffer = r->name, .stride_bytes = strides[i], .offset_bytes = offsets[i]};
    }
    umd10_room(d, 1024);
    ABI_EMIT_TAIL(&d->stream, SET_VERTEX_BUFFERS, set_vertex_buffers, b, count * (uint32_t)sizeof(b[0]),
                  .start_slot = first, .buffer_count = count);
}

static VOID APIENTRY set_index_buffer(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE buffer, DXGI_FORMAT format,
                                      UINT offset)
{
    struct umd10_device *d = umd10_device(h);
    const struct umd10_resource *r = buffer.pDrvPrivate;
    bool wide = (UINT)format == 42;
    uint32_t unit = wide ? 4 : 2;

    if (r && (offset > r->size || offset % unit))
        r = NULL;
    d->indices = r ? (uint32_t)((r->size - offset) / unit) : 0;
    umd10_room(d, 64);
    ABI_EMIT(&d->stream, SET_INDEX_BUFFER, set_index_buffer, .buffer = r ? r->name : 0,
             .format = wide ? AEROGPU_INDEX_FORMAT_UINT32 : AEROGPU_INDEX_FORMAT_UINT16,
             .offset_bytes = r ? offset : 0);
}

static VOID APIENTRY set_topology(D3D10DDI_HDEVICE h, D3D10_DDI_PRIMITIVE_TOPOLOGY t)
{
    struct umd10_device *d = umd10_device(h);
    bool known = (t >= AEROGPU_TOPOLOGY_POINTLIST && t <= AEROGPU_TOPOLOGY_TRIANGLESTRIP) ||
                 (t >= AEROGPU_TOPOLOGY_LINELIST_ADJ && t <= AEROGPU_TOPOLOGY_TRIANGLESTRIP_ADJ);

    d->topology = known ? (uint32_t)t : 0;
    if (!known)
        return;
    umd10_room(d, 64);
    ABI_EMIT(&d->stream, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology, .topology = t);
}

/* Whether the geometry shader, if there is one, takes what the topology makes. */
static bool geometry_fits(const struct umd10_device *d)
{
    static const uint8_t makes[] = {
        [1] = 1, [2] = 2, [3] = 2, [4] = 3, [5] = 3, [10] = 6, [11] = 6, [12] = 7, [13] = 7};

    return !d->geometry || makes[d->topology] == d->geometry;
}

/* 6: whether a draw has what the device asks for. */
static bool can_draw(const struct umd10_device *d)
{
    bool target = d->depth != 0;

    for (uint32_t i = 0; i < d->colour_count; i++)
        target |= d->colours[i] != 0;
    return target && !d->dropped && !d->viewport_empty && d->shaders[UMD10_VS] && d->topology &&
           geometry_fits(d);
}

static VOID APIENTRY draw_instanced(D3D10DDI_HDEVICE h, UINT vertices, UINT instances, UINT first,
                                    UINT first_instance)
{
    struct umd10_device *d = umd10_device(h);

    if (!can_draw(d))
        return;
    umd10_room(d, 128);
    bind_shaders(d);
    ABI_EMIT(&d->stream, DRAW, draw, .vertex_count = vertices, .instance_count = instances,
             .first_vertex = first, .first_instance = first_instance);
}

static VOID APIENTRY draw(D3D10DDI_HDEVICE h, UINT vertices, UINT first)
{
    draw_instanced(h, vertices, 1, first, 0);
}

static VOID APIENTRY draw_indexed_instanced(D3D10DDI_HDEVICE h, UINT indices, UINT instances, UINT first,
                                            INT base, UINT first_instance)
{
    struct umd10_device *d = umd10_device(h);

    if (!can_draw(d) || first >= d->indices)
        return;
    if (indices > d->indices - first) /* what is behind the buffer's end is not drawn */
        indices = d->indices - first;
    umd10_room(d, 128);
    bind_shaders(d);
    ABI_EMIT(&d->stream, DRAW_INDEXED, draw_indexed, .index_count = indices, .instance_count = instances,
             .first_index = first, .base_vertex = base, .first_instance = first_instance);
}

static VOID APIENTRY draw_indexed(D3D10DDI_HDEVICE h, UINT indices, UINT first, INT base)
{
    draw_indexed_instanced(h, indices, 1, first, base, 0);
}

static VOID APIENTRY dispatch(D3D10DDI_HDEVICE h, UINT x, UINT y, UINT z)
{
    struct umd10_device *d = umd10_device(h);

    if (!d->shaders[UMD10_CS] || d->dropped || x > MAX_GROUPS || y > MAX_GROUPS || z > MAX_GROUPS)
        return;
    umd10_room(d, 128);
    bind_shaders(d);
    ABI_EMIT(&d->stream, DISPATCH, dispatch, .group_count_x = x, .group_count_y = y, .group_count_z = z);
}

void umd10_draw_functions(D3D11DDI_DEVICEFUNCS *f)
{
    f->pfnSetRenderTargets = set_targets;
    f->pfnClearRenderTargetView = clear_colour;
    f->pfnClearDepthStencilView = clear_depth;
    f->pfnSetViewports = set_viewports;
    f->pfnSetScissorRects = set_scissors;
    f->pfnIaSetVertexBuffers = set_vertex_buffers;
    f->pfnIaSetIndexBuffer = set_index_buffer;
    f->pfnIaSetTopology = set_topology;
    f->pfnDraw = draw;
    f->pfnDrawInstanced = draw_instanced;
    f->pfnDrawIndexed = draw_indexed;
    f->pfnDrawIndexedInstanced = draw_indexed_instanced;
    f->pfnDispatch = dispatch;
}

/* ---- what there is not ------------------------------------------------------ */

static SIZE_T APIENTRY missing(D3D10DDI_HDEVICE h)
{
    umd10_error(umd10_device(h), DXGI_DDI_ERR_UNSUPPORTED);
    return sizeof(uint64_t);
}

void umd10_missing_functions(D3D11DDI_DEVICEFUNCS *f)
{
    SIZE_T(APIENTRY * none)(D3D10DDI_HDEVICE) = missing;

    /* callers clear the stack on x86-64: one function fits every slot */
    for (size_t at = 0; at < sizeof(*f); at += sizeof(none))
        memcpy((uint8_t *)f + at, &none, sizeof(none));
}
