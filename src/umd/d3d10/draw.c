/* SPDX-License-Identifier: MIT */
/* draw.c: vertices, targets, clears, draws; and the slots of what there is not. */
#include "umd/d3d10/umd10.h"

enum {
    MAX_STRIDE = 2048,
    MAX_GROUPS = 65535,
    VIEWPORT_MIN = -32768,
    VIEWPORT_MAX = 32767
}; /* Direct3D 11's, and the device's */

/* Targets and shaders as they are bound; after a clear of something else. */
static void bind_targets(struct umd10_device *d)
{
    struct aerogpu_cmd_set_render_targets t = {.color_count = d->colour_count, .depth_stencil = d->depth};

    memcpy(t.colors, d->colours, sizeof(t.colors));
    abi_builder_packet(&d->stream, AEROGPU_CMD_SET_RENDER_TARGETS, &t, sizeof(t), NULL, 0);
}

/* All slots: what is not named is unbound. Hidden counters are set once, however many stages see them. */
static void set_stage_views(struct umd10_device *d, CONST D3D11DDI_HUNORDEREDACCESSVIEW *uavs,
                            CONST UINT *initial_counts, UINT first, UINT count)
{
    static const uint8_t others[] = {UMD10_VS, UMD10_GS, UMD10_HS, UMD10_DS};
    D3D11DDI_HUNORDEREDACCESSVIEW all[UMD10_UAVS] = {0};
    UINT counts[UMD10_UAVS], used = 0, slots;

    memset(counts, 0xFF, sizeof(counts));
    for (UINT i = 0; i < count && first + i < UMD10_UAVS; i++) {
        all[first + i] = uavs[i];
        counts[first + i] = initial_counts ? initial_counts[i] : UINT32_MAX;
        used = uavs[i].pDrvPrivate ? first + i + 1 : used;
    }
    slots = used > d->views ? used : d->views;
    d->views = used;
    if (!slots)
        return;
    umd10_set_uavs(d, UMD10_PS, 0, slots, all, counts);
    for (size_t i = 0; d->every_stage && i < sizeof(others); i++)
        umd10_set_uavs(d, (enum umd10_stage)others[i], 0, slots, all, NULL);
}

static VOID APIENTRY set_targets(D3D10DDI_HDEVICE h, CONST D3D10DDI_HRENDERTARGETVIEW *views, UINT count,
                                 UINT cleared, D3D10DDI_HDEPTHSTENCILVIEW depth,
                                 CONST D3D11DDI_HUNORDEREDACCESSVIEW *uavs, CONST UINT *initial_counts,
                                 UINT uav_first, UINT num_uavs, UINT uav_range_first, UINT uav_range)
{
    struct umd10_device *d = umd10_device(h);
    const struct umd10_view *z = depth.pDrvPrivate;

    uint32_t samples = z ? z->resource->samples : 0;

    memset(d->colours, 0, sizeof(d->colours));
    d->samples_differ = false;
    d->colour_count = count < UMD10_TARGETS ? count : UMD10_TARGETS;
    for (UINT i = 0; i < d->colour_count; i++) {
        const struct umd10_view *v = views[i].pDrvPrivate;
        d->colours[i] = v ? v->name : 0;
        d->samples_differ |= v && samples && v->resource->samples != samples;
        samples = v ? v->resource->samples : samples;
    }
    d->depth = z ? z->name : 0;
    umd10_room(d, 128);
    if (d->samples_differ) { /* nothing is drawn then, and the device takes no such targets */
        memset(d->colours, 0, sizeof(d->colours));
        d->depth = 0;
    }
    bind_targets(d);
    set_stage_views(d, uavs, initial_counts, uav_first, num_uavs);
}

/* As the only target, or parts of it; then those that are bound are again. */
static void clear_target(struct umd10_device *d, uint32_t name, CONST FLOAT c[4], const int32_t (*rects)[4],
                         UINT count)
{
    umd10_room(d, 256 + count * sizeof(rects[0]));
    ABI_EMIT(&d->stream, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {name});
    if (rects)
        ABI_EMIT_TAIL(&d->stream, EXT_CLEAR_RECTS, ext_clear_rects, rects, count * (uint32_t)sizeof(rects[0]),
                      .vec4_count = count,
                      .color_rgba = {abi_f32(c[0]), abi_f32(c[1]), abi_f32(c[2]), abi_f32(c[3])});
    else
        ABI_EMIT(&d->stream, CLEAR, clear, .flags = AEROGPU_CLEAR_COLOR,
                 .color_rgba = {abi_f32(c[0]), abi_f32(c[1]), abi_f32(c[2]), abi_f32(c[3])});
    bind_targets(d);
}

static VOID APIENTRY clear_colour(D3D10DDI_HDEVICE h, D3D10DDI_HRENDERTARGETVIEW hv, FLOAT c[4])
{
    struct umd10_device *d = umd10_device(h);
    const struct umd10_view *v = hv.pDrvPrivate;

    if (d->dropped)
        return;
    clear_target(d, v->name, c, NULL, 0);
}

/* Elements of a buffer, as many at a time as a target may have. */
static void clear_elements(struct umd10_device *d, const struct umd10_view *v, CONST FLOAT c[4], int64_t from,
                           int64_t to)
{
    const uint32_t bytes = umd10_texel_bytes(v->dxgi), most = bytes ? v->size / bytes : 0;

    from = from < 0 ? 0 : from;
    to = to > most ? most : to;
    for (int64_t n; from < to; from += n) {
        const uint32_t name = umd10_name(d);

        n = to - from < UMD10_BUFFER_TARGET ? to - from : UMD10_BUFFER_TARGET;
        umd10_room(d, 512);
        ABI_EMIT(&d->stream, EXT_CREATE_BUFFER_VIEW, ext_create_buffer_view, .view_handle = name,
                 .buffer = v->resource->name, .dxgi_format = v->dxgi,
                 .offset_bytes = v->offset + (uint32_t)from * bytes, .size_bytes = (uint32_t)n * bytes);
        clear_target(d, name, c, NULL, 0);
        ABI_EMIT(&d->stream, DESTROY_TEXTURE_VIEW, destroy_texture_view, .view_handle = name);
    }
}

/* Of a target, or of what shaders write to; no rectangles: all of it. */
static VOID APIENTRY clear_view(D3D10DDI_HDEVICE h, D3D11DDI_HANDLETYPE type, VOID *view, CONST FLOAT c[4],
                                CONST D3D10_DDI_RECT *rects, UINT count)
{
    enum { AT_ONCE = 64 };
    struct umd10_device *d = umd10_device(h);
    const struct umd10_view *v = view;
    int32_t part[AT_ONCE][4];
    UINT n = 0;

    if (d->dropped || !umd10_is_drawn(v->format))
        return;
    if (!rects && v->resource->buffer)
        clear_elements(d, v, c, 0, INT32_MAX);
    else if (!rects)
        clear_target(d, v->name, c, NULL, 0);
    for (UINT i = 0; rects && i < count; i++) {
        const D3D10_DDI_RECT *r = &rects[i];

        abi_rect(part[n], r->left, r->top, r->right, r->bottom);
        if (!part[n][2] || !part[n][3])
            continue;
        if (v->resource->buffer) { /* one line */
            if (!part[n][1])
                clear_elements(d, v, c, r->left, r->right);
            continue;
        }
        if (++n == AT_ONCE) {
            clear_target(d, v->name, c, part, n);
            n = 0;
        }
    }
    if (n)
        clear_target(d, v->name, c, part, n);
}

/* What it holds may stay as well. */
static VOID APIENTRY discard(D3D10DDI_HDEVICE h, D3D11DDI_HANDLETYPE type, VOID *resource_or_view,
                             CONST D3D10_DDI_RECT *rects, UINT count)
{
}

static VOID APIENTRY debug_binary(D3D10DDI_HDEVICE h, D3D10DDI_HSHADER s, UINT size, CONST VOID *bytes)
{
}

static VOID APIENTRY direct_flip(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE a, D3D10DDI_HRESOURCE b, UINT flags,
                                 BOOL *supported)
{
    *supported = FALSE;
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

/* What Direct3D does not take (nor anything that is no number) is not set. */
static bool is_viewport(CONST D3D10_DDI_VIEWPORT *v)
{
    return v->TopLeftX >= VIEWPORT_MIN && v->TopLeftY >= VIEWPORT_MIN && v->Width >= 0 && v->Height >= 0 &&
           v->TopLeftX + v->Width <= VIEWPORT_MAX && v->TopLeftY + v->Height <= VIEWPORT_MAX &&
           v->MinDepth >= 0 && v->MinDepth <= 1 && v->MaxDepth >= 0 && v->MaxDepth <= 1;
}

static VOID APIENTRY set_viewports(D3D10DDI_HDEVICE h, UINT count, UINT cleared, CONST D3D10_DDI_VIEWPORT *v)
{
    struct umd10_device *d = umd10_device(h);
    FLOAT words[16][8];

    for (UINT i = 0; i < count; i++)
        if (!is_viewport(&v[i]))
            return;
    d->area = 0;
    for (UINT i = 0; i < count && i < 16; i++)
        if ((uint64_t)v[i].Width * (uint64_t)v[i].Height > d->area)
            d->area = (uint64_t)v[i].Width * (uint64_t)v[i].Height;
    if (!count || count > 16) {
        d->viewport_empty |= !count; /* nothing is seen any more */
        return;
    }
    if (umd10_has(d, AEROGPU_EXT_FEATURE(EXT_STATES))) {
        for (UINT i = 0; i < count; i++) {
            const FLOAT w[8] = {v[i].TopLeftX, v[i].TopLeftY, v[i].Width,
                                v[i].Height,   v[i].MinDepth, v[i].MaxDepth};
            memcpy(words[i], w, sizeof(w));
        }
        d->viewport_empty = count == 1 && (v->Width == 0 || v->Height == 0);
        umd10_room(d, sizeof(words) + 64);
        ABI_EMIT_TAIL(&d->stream, EXT_SET_VIEWPORTS, ext_set_viewports, words,
                      count * (uint32_t)sizeof(words[0]), .vec4_count = 2 * count);
        return;
    }
    d->viewport_empty = v->Width == 0 || v->Height == 0; /* to the device, an empty one is the whole target */
    umd10_room(d, 64);
    ABI_EMIT(&d->stream, SET_VIEWPORT, set_viewport, .x = abi_f32(v->TopLeftX), .y = abi_f32(v->TopLeftY),
             .width = abi_f32(v->Width), .height = abi_f32(v->Height), .min_depth = abi_f32(v->MinDepth),
             .max_depth = abi_f32(v->MaxDepth));
}

static VOID APIENTRY set_scissors(D3D10DDI_HDEVICE h, UINT count, UINT cleared, CONST D3D10_DDI_RECT *r)
{
    struct umd10_device *d = umd10_device(h);
    int32_t words[16][4];

    if (!count || count > 16)
        return;
    for (UINT i = 0; i < count; i++)
        abi_rect(words[i], r[i].left, r[i].top, r[i].right, r[i].bottom);
    if (umd10_has(d, AEROGPU_EXT_FEATURE(EXT_STATES))) {
        umd10_room(d, sizeof(words) + 64);
        ABI_EMIT_TAIL(&d->stream, EXT_SET_SCISSORS, ext_set_scissors, words,
                      count * (uint32_t)sizeof(words[0]), .vec4_count = count);
        return;
    }
    if (!words[0][2] ||
        !words[0][3]) /* to the device, an empty one is the whole target; it has no pixels there */
        memcpy(words[0], (const int32_t[4]){INT32_MAX, INT32_MAX, 1, 1}, sizeof(words[0]));
    umd10_room(d, 64);
    ABI_EMIT(&d->stream, SET_SCISSOR, set_scissor, .x = words[0][0], .y = words[0][1], .width = words[0][2],
             .height = words[0][3]);
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
                 (t >= AEROGPU_TOPOLOGY_LINELIST_ADJ && t <= AEROGPU_TOPOLOGY_TRIANGLESTRIP_ADJ) ||
                 (t >= AEROGPU_TOPOLOGY_PATCHLIST_1 && t <= AEROGPU_TOPOLOGY_PATCHLIST_32);

    d->topology = known ? (uint32_t)t : 0;
    if (!known)
        return;
    umd10_room(d, 64);
    ABI_EMIT(&d->stream, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology, .topology = t);
}

/* What the primitives of a topology are (D3D10_SB_PRIMITIVE); of patches, what they are tessellated to. */
static uint32_t primitive_of(const struct umd10_device *d)
{
    static const uint8_t makes[] = {
        [1] = 1, [2] = 2, [3] = 2, [4] = 3, [5] = 3, [10] = 6, [11] = 6, [12] = 7, [13] = 7};
    uint32_t output;

    if (d->topology < AEROGPU_TOPOLOGY_PATCHLIST_1)
        return makes[d->topology];
    output = d->shaders[UMD10_HS]->facts.output;
    return output > 3 ? 3 : output;
}

/* Whether hull, domain and geometry shader, where there are some, take what the topology makes. */
static bool stages_fit(const struct umd10_device *d)
{
    const struct umd10_shader *hs = d->shaders[UMD10_HS], *ds = d->shaders[UMD10_DS],
                              *gs = d->shaders[UMD10_GS];
    bool patches = d->topology >= AEROGPU_TOPOLOGY_PATCHLIST_1;

    if (patches != (hs != NULL) || patches != (ds != NULL))
        return false;
    if (patches &&
        ((hs->facts.points && hs->facts.points != d->topology - (AEROGPU_TOPOLOGY_PATCHLIST_1 - 1)) ||
         (hs->facts.domain && ds->facts.domain && hs->facts.domain != ds->facts.domain)))
        return false;
    return !gs || !gs->facts.gs_input || primitive_of(d) == gs->facts.gs_input;
}

/* 6: whether a draw has what the device asks for. */
static bool can_draw(const struct umd10_device *d)
{
    bool target = d->depth != 0 || d->views || d->streams;

    for (uint32_t i = 0; i < d->colour_count; i++)
        target |= d->colours[i] != 0;
    return target && !d->samples_differ && !d->dropped && !d->viewport_empty && d->shaders[UMD10_VS] &&
           d->topology && stages_fit(d);
}

/* Draws over more pixels than displays have go into submissions of few: who looks whether the device still answers looks at those. */
static void begin_draw(struct umd10_device *d)
{
    const uint64_t large = 1u << 25, most = 1u << 28;

    umd10_bind_shaders(d);
    umd10_room(d, 128);
    if (d->area < large)
        return;
    if (d->heavy && d->heavy + d->area > most)
        umd10_flush(d);
    d->heavy += d->area;
}

static VOID APIENTRY draw_instanced(D3D10DDI_HDEVICE h, UINT vertices, UINT instances, UINT first,
                                    UINT first_instance)
{
    struct umd10_device *d = umd10_device(h);

    if (!can_draw(d))
        return;
    begin_draw(d);
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
    begin_draw(d);
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
    umd10_bind_shaders(d);
    umd10_room(d, 128);
    ABI_EMIT(&d->stream, DISPATCH, dispatch, .group_count_x = x, .group_count_y = y, .group_count_z = z);
}

/* ---- what a buffer says ------------------------------------------------------- */

static bool has_arguments(const struct umd10_device *d, const struct umd10_resource *r, UINT offset,
                          UINT size)
{
    return umd10_has(d, AEROGPU_EXT_FEATURE(EXT_INDIRECT)) && r && r->buffer && !(offset % 4) &&
           size <= r->size && offset <= r->size - size;
}

static void draw_by(struct umd10_device *d, struct umd10_resource *r, UINT offset, bool indexed)
{
    if (!can_draw(d) || (indexed && !d->indices) || !has_arguments(d, r, offset, indexed ? 20 : 16))
        return;
    begin_draw(d);
    ABI_EMIT(&d->stream, EXT_DRAW_INDIRECT, ext_draw_indirect, .buffer = r->name, .indexed = indexed,
             .offset = offset);
}

static VOID APIENTRY draw_indirect(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE r, UINT offset)
{
    draw_by(umd10_device(h), r.pDrvPrivate, offset, false);
}

static VOID APIENTRY draw_indexed_indirect(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE r, UINT offset)
{
    draw_by(umd10_device(h), r.pDrvPrivate, offset, true);
}

static VOID APIENTRY dispatch_indirect(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE hr, UINT offset)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_resource *r = hr.pDrvPrivate;

    if (!d->shaders[UMD10_CS] || d->dropped || !has_arguments(d, r, offset, 12))
        return;
    umd10_bind_shaders(d);
    umd10_room(d, 128);
    ABI_EMIT(&d->stream, EXT_DISPATCH_INDIRECT, ext_dispatch_indirect, .buffer = r->name, .offset = offset);
}

/* ---- what is written to a buffer ---------------------------------------------- */

static VOID APIENTRY set_streams(D3D10DDI_HDEVICE h, UINT count, UINT cleared,
                                 CONST D3D10DDI_HRESOURCE *buffers, CONST UINT *offsets)
{
    struct umd10_device *d = umd10_device(h);
    struct aerogpu_cmd_ext_set_stream_output s = {0};

    d->streams = false;
    for (UINT i = 0; i < count && i < AEROGPU_STREAM_OUTPUT_SLOTS; i++) {
        const struct umd10_resource *r = buffers[i].pDrvPrivate;

        if (!r || (offsets[i] != UINT32_MAX && (offsets[i] % 4 || offsets[i] > r->size)))
            continue;
        s.buffers[i] = r->name;
        s.offsets[i] = offsets[i];
        d->streams = true;
    }
    if (!umd10_has(d, AEROGPU_EXT_FEATURE(EXT_STREAM_OUTPUT))) {
        d->streams = false;
        return;
    }
    umd10_room(d, 128);
    abi_builder_packet(&d->stream, AEROGPU_CMD_EXT_SET_STREAM_OUTPUT, &s, sizeof(s), NULL, 0);
}

static VOID APIENTRY draw_auto(D3D10DDI_HDEVICE h)
{
    struct umd10_device *d = umd10_device(h);

    if (!can_draw(d) || !umd10_has(d, AEROGPU_EXT_FEATURE(EXT_STREAM_OUTPUT)))
        return;
    begin_draw(d);
    ABI_EMIT(&d->stream, EXT_DRAW_AUTO, ext_draw_auto, .reserved0 = 0);
}

/* Finer mips are there all the same: it says which a program can do without. */
static VOID APIENTRY set_min_lod(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE r, FLOAT lod)
{
}

void umd10_draw_functions(D3D11_1DDI_DEVICEFUNCS *f)
{
    f->pfnClearView = clear_view;
    f->pfnDiscard = discard;
    f->pfnAssignDebugBinary = debug_binary;
    f->pfnCheckDirectFlipSupport = direct_flip;
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
    f->pfnDrawInstancedIndirect = draw_indirect;
    f->pfnDrawIndexedInstancedIndirect = draw_indexed_indirect;
    f->pfnDispatchIndirect = dispatch_indirect;
    f->pfnSoSetTargets = set_streams;
    f->pfnDrawAuto = draw_auto;
    f->pfnSetResourceMinLOD = set_min_lod;
}

/* ---- what there is not ------------------------------------------------------ */

/* Of the slot's own type, since functions clear the stack on x86; none of them is called by who asked for the capabilities. */
#define MISSING(name, type, answer, ...)                                                                     \
    static type APIENTRY name(D3D10DDI_HDEVICE h, __VA_ARGS__)                                               \
    {                                                                                                        \
        umd10_error(umd10_device(h), DXGI_DDI_ERR_UNSUPPORTED);                                              \
        return answer;                                                                                       \
    }
MISSING(counter, VOID, , D3D10DDI_QUERY q, D3D10DDI_COUNTER_TYPE *t, UINT *active, CHAR *name,
        UINT *name_size, CHAR *units, UINT *units_size, CHAR *text, UINT *text_size)
MISSING(text_filter, VOID, , UINT width, UINT height)
MISSING(context_handles, VOID, , UINT *count, D3D11DDI_HANDLESIZE *sizes)
MISSING(context_handle, SIZE_T, sizeof(uint64_t), D3D10DDI_HANDLETYPE type, VOID *object)
MISSING(context_size, SIZE_T, sizeof(uint64_t), CONST D3D11DDIARG_CALCPRIVATEDEFERREDCONTEXTSIZE *a)
MISSING(create_context, VOID, , CONST D3D11DDIARG_CREATEDEFERREDCONTEXT *a)
MISSING(recycle_context, HRESULT, DXGI_DDI_ERR_UNSUPPORTED, CONST D3D11DDIARG_CREATEDEFERREDCONTEXT *a)
MISSING(list_size, SIZE_T, sizeof(uint64_t), CONST D3D11DDIARG_CREATECOMMANDLIST *a)
MISSING(create_list, VOID, , CONST D3D11DDIARG_CREATECOMMANDLIST *a, D3D11DDI_HCOMMANDLIST l,
        D3D11DDI_HRTCOMMANDLIST rt)
MISSING(recycle_create_list, HRESULT, DXGI_DDI_ERR_UNSUPPORTED, CONST D3D11DDIARG_CREATECOMMANDLIST *a,
        D3D11DDI_HCOMMANDLIST l, D3D11DDI_HRTCOMMANDLIST rt)
MISSING(list, VOID, , D3D11DDI_HCOMMANDLIST l)
MISSING(set_shader_with_ifaces, VOID, , D3D10DDI_HSHADER s, UINT count, CONST UINT *ifaces,
        CONST D3D11DDIARG_POINTERDATA *data)

static VOID APIENTRY abandon_list(D3D10DDI_HDEVICE h)
{
    umd10_error(umd10_device(h), DXGI_DDI_ERR_UNSUPPORTED);
}

static VOID APIENTRY counters(D3D10DDI_HDEVICE h, D3D10DDI_COUNTER_INFO *info)
{
    *info = (D3D10DDI_COUNTER_INFO){0};
}

void umd10_missing_functions(D3D11_1DDI_DEVICEFUNCS *f)
{
    f->pfnCheckCounterInfo = counters;
    f->pfnCheckCounter = counter;
    f->pfnSetTextFilterSize = text_filter;
    f->pfnCheckDeferredContextHandleSizes = context_handles;
    f->pfnCalcDeferredContextHandleSize = context_handle;
    f->pfnCalcPrivateDeferredContextSize = context_size;
    f->pfnCreateDeferredContext = create_context;
    f->pfnRecycleCreateDeferredContext = recycle_context;
    f->pfnCalcPrivateCommandListSize = list_size;
    f->pfnCreateCommandList = create_list;
    f->pfnRecycleCreateCommandList = recycle_create_list;
    f->pfnAbandonCommandList = abandon_list;
    f->pfnCommandListExecute = f->pfnDestroyCommandList = f->pfnRecycleCommandList =
        f->pfnRecycleDestroyCommandList = list;
    f->pfnVsSetShaderWithIfaces = f->pfnPsSetShaderWithIfaces = f->pfnGsSetShaderWithIfaces =
        f->pfnHsSetShaderWithIfaces = f->pfnDsSetShaderWithIfaces = f->pfnCsSetShaderWithIfaces =
            set_shader_with_ifaces;
}
