/* SPDX-License-Identifier: MIT */
/* draw.c: streams, indices, clears and draws. */
#include "umd/d3d9/umd9.h"

enum { RING = 1 << 20, MAX_STRIDE = 2048 };

/* ---- streams ------------------------------------------------------------------- */

static HRESULT APIENTRY set_stream(HANDLE h, CONST D3DDDIARG_SETSTREAMSOURCE *a)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_stream *s;

    if (a->Stream >= UMD9_STREAMS)
        return E_INVALIDARG;
    s = &d->streams[a->Stream];
    s->buffer = a->hVertexBuffer;
    s->offset = a->Offset;
    s->stride = a->Stride;
    s->um = NULL;
    d->streams_changed = true;
    return S_OK;
}

static HRESULT APIENTRY set_stream_um(HANDLE h, CONST D3DDDIARG_SETSTREAMSOURCEUM *a, CONST VOID *memory)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_stream *s;

    if (a->Stream >= UMD9_STREAMS)
        return E_INVALIDARG;
    s = &d->streams[a->Stream];
    s->buffer = NULL;
    s->stride = a->Stride;
    s->um = memory;
    d->streams_changed = true;
    return S_OK;
}

static HRESULT APIENTRY set_frequency(HANDLE h, CONST D3DDDIARG_SETSTREAMSOURCEFREQ *a)
{
    struct umd9_device *d = umd9_device(h);

    if (a->Stream >= UMD9_STREAMS)
        return E_INVALIDARG;
    d->streams[a->Stream].divider = a->Divider;
    return S_OK;
}

static HRESULT APIENTRY set_indices(HANDLE h, CONST D3DDDIARG_SETINDICES *a)
{
    struct umd9_device *d = umd9_device(h);

    d->indices_bound = a->hIndexBuffer;
    d->index_stride = a->Stride;
    d->indices_um = NULL;
    return S_OK;
}

static HRESULT APIENTRY set_indices_um(HANDLE h, UINT size, CONST VOID *memory)
{
    struct umd9_device *d = umd9_device(h);

    d->indices_bound = NULL;
    d->index_stride = size;
    d->indices_um = memory;
    return S_OK;
}

/* Bytes of the program's, to where the device finds them. The stream keeps the order: what is written over was read before. */
static bool place(struct umd9_device *d, struct umd9_ring *r, uint32_t usage, const void *data, uint64_t size,
                  uint32_t *name, uint32_t *offset)
{
    uint64_t padded = (size + 15) & ~UINT64_C(15);

    if (padded > UINT32_MAX / 2)
        return false;
    if (padded > r->size) {
        umd9_room(d, 128);
        if (r->name)
            ABI_EMIT(&d->stream, DESTROY_RESOURCE, destroy_resource, .resource_handle = r->name);
        r->size = padded > RING ? (uint32_t)padded : RING;
        r->name = umd9_name(d);
        r->at = 0;
        ABI_EMIT(&d->stream, CREATE_BUFFER, create_buffer, .buffer_handle = r->name, .usage_flags = usage,
                 .size_bytes = r->size);
    }
    if (padded > r->size - r->at)
        r->at = 0;
    umd9_upload_buffer(d, r->name, r->at, data, size);
    *name = r->name;
    *offset = r->at;
    r->at += (uint32_t)padded;
    return true;
}

static void bind_streams(struct umd9_device *d)
{
    struct aerogpu_vertex_buffer_binding b[UMD9_STREAMS] = {0};

    for (uint32_t i = 0; i < UMD9_STREAMS; i++) {
        const struct umd9_stream *s = &d->streams[i];

        if (s->buffer && s->offset <= s->buffer->size && s->stride <= MAX_STRIDE)
            b[i] = (struct aerogpu_vertex_buffer_binding){
                .buffer = s->buffer->name, .stride_bytes = s->stride, .offset_bytes = s->offset};
    }
    umd9_room(d, sizeof(b) + 64);
    ABI_EMIT_TAIL(&d->stream, SET_VERTEX_BUFFERS, set_vertex_buffers, b, sizeof(b),
                  .buffer_count = UMD9_STREAMS);
    d->streams_changed = false;
}

/* ---- draws ---------------------------------------------------------------------- */

static uint32_t vertices_of(UINT type, UINT primitives, uint32_t *topology)
{
    static const uint8_t topologies[] = {0,
                                         AEROGPU_TOPOLOGY_POINTLIST,
                                         AEROGPU_TOPOLOGY_LINELIST,
                                         AEROGPU_TOPOLOGY_LINESTRIP,
                                         AEROGPU_TOPOLOGY_TRIANGLELIST,
                                         AEROGPU_TOPOLOGY_TRIANGLESTRIP,
                                         AEROGPU_TOPOLOGY_TRIANGLEFAN};

    if (!type || type > 6 || !primitives || primitives > 0xFFFFFF)
        return 0;
    *topology = topologies[type];
    return type == 1   ? primitives
           : type == 2 ? 2 * primitives
           : type == 3 ? primitives + 1
           : type == 4 ? 3 * primitives
                       : primitives + 2;
}

/* Programs draw with buffers that they have locked, and see what they have written by then. */
static void upload_locked(struct umd9_device *d)
{
    for (int i = 0; i < UMD9_STREAMS; i++)
        if (d->streams[i].buffer && d->streams[i].buffer->range.Size)
            umd9_upload_locked(d, d->streams[i].buffer);
    if (d->indices_bound && d->indices_bound->range.Size)
        umd9_upload_locked(d, d->indices_bound);
}

/* 6: whether the device can draw; then it has everything but vertices and indices. */
static bool prepare(struct umd9_device *d, uint32_t topology)
{
    uint32_t vs, ps;
    bool target = d->depth != NULL;

    for (int i = 0; i < UMD9_TARGETS; i++)
        target |= d->targets[i] != NULL;
    if (d->removed || !target || !d->decl || !d->viewport.Width || !d->viewport.Height)
        return false;
    vs = d->vs && !d->decl->transformed ? d->vs->name : umd9_fixed_vertex(d);
    ps = d->ps ? umd9_bound_pixel(d) : umd9_fixed_pixel(d);
    if (!vs || !ps)
        return false;
    if (d->targets_changed)
        umd9_bind_targets(d, UINT32_MAX, true);
    if (d->viewport_changed)
        umd9_bind_viewport(d);
    umd9_bind_shaders(d, vs, ps, d->decl->name);
    umd9_bind_constants(d);
    umd9_bind_clipping(d);
    umd9_bind_mask(d);
    umd9_bind_rows(d);
    if (topology != d->bound_topology) {
        umd9_room(d, 64);
        ABI_EMIT(&d->stream, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology, .topology = topology);
        d->bound_topology = topology;
    }
    if (d->locked_buffers)
        upload_locked(d);
    for (int i = 0; i < UMD9_TARGETS; i++)
        if (d->targets[i])
            umd9_written(d->targets[i], d->target_surfaces[i]);
    if (d->depth)
        umd9_written(d->depth, 0);
    return true;
}

/* Vertices [first, first + count) of user memory, if stream 0 has them there; else what streams are bound. */
static bool bind_vertices(struct umd9_device *d, uint32_t first, uint32_t count)
{
    struct umd9_stream *s = &d->streams[0];
    struct aerogpu_vertex_buffer_binding b = {.stride_bytes = s->stride};
    uint32_t offset;

    if (d->streams_changed)
        bind_streams(d);
    if (!s->um)
        return true;
    if (s->stride > MAX_STRIDE ||
        !place(d, &d->vertices, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, s->um + (uint64_t)first * s->stride,
               (uint64_t)count * s->stride, &b.buffer, &offset))
        return false;
    b.offset_bytes = offset;
    umd9_room(d, 64);
    ABI_EMIT_TAIL(&d->stream, SET_VERTEX_BUFFERS, set_vertex_buffers, &b, sizeof(b), .buffer_count = 1);
    return true;
}

/* Which streams have an element of each instance, and how many instances there are: stream 0 says it, whoever uses that. Without
 * indices there is one, of all streams' first elements. */
static uint32_t bind_instances(struct umd9_device *d, bool indexed)
{
    const uint32_t count = d->streams[0].divider & 0x3FFFFFFFu;
    float rates[UMD9_STREAMS] = {0};
    bool instanced = d->streams[0].divider >> 30 & 1;

    for (uint32_t i = 0; indexed && i < UMD9_STREAMS; i++) {
        const uint32_t f = d->streams[i].divider, n = f & 0x3FFFFFFFu;

        if (f >> 31) {
            rates[i] = (float)(n ? n : 1);
            instanced = true;
        }
    }
    umd9_set_rows(d, AEROGPU_D3D9_ROW_INSTANCES, rates, UMD9_STREAMS / 4);
    return indexed && instanced && count ? count : 1;
}

static HRESULT APIENTRY draw(HANDLE h, CONST D3DDDIARG_DRAWPRIMITIVE *a, CONST UINT *flags)
{
    struct umd9_device *d = umd9_device(h);
    uint32_t topology, count = vertices_of(a->PrimitiveType, a->PrimitiveCount, &topology);
    bool um = d->streams[0].um != NULL;

    if (count && prepare(d, topology) && bind_vertices(d, a->VStart, count)) {
        bind_instances(d, false);
        umd9_room(d, 64);
        ABI_EMIT(&d->stream, DRAW, draw, .vertex_count = count, .instance_count = 1,
                 .first_vertex = um ? 0 : a->VStart);
    }
    return umd9_state(d);
}

/* The indices that are bound, cut to what there is; first: in indices. */
static uint32_t bind_indices(struct umd9_device *d, uint32_t *first, uint32_t count)
{
    uint32_t unit = d->index_stride == 4 ? 4 : 2, name, offset = 0;

    if (d->indices_um) {
        if (!place(d, &d->indices, AEROGPU_RESOURCE_USAGE_INDEX_BUFFER,
                   d->indices_um + (uint64_t)*first * unit, (uint64_t)count * unit, &name, &offset))
            return 0;
        *first = 0;
    } else {
        uint64_t has = d->indices_bound ? d->indices_bound->size / unit : 0;

        if (*first >= has)
            return 0;
        if (count > has - *first)
            count = (uint32_t)(has - *first);
        name = d->indices_bound->name;
    }
    umd9_room(d, 64);
    ABI_EMIT(&d->stream, SET_INDEX_BUFFER, set_index_buffer, .buffer = name,
             .format = unit == 4 ? AEROGPU_INDEX_FORMAT_UINT32 : AEROGPU_INDEX_FORMAT_UINT16,
             .offset_bytes = offset);
    return count;
}

static HRESULT APIENTRY draw_indexed(HANDLE h, CONST D3DDDIARG_DRAWINDEXEDPRIMITIVE *a)
{
    struct umd9_device *d = umd9_device(h);
    uint32_t topology, count = vertices_of(a->PrimitiveType, a->PrimitiveCount, &topology),
                       first = a->StartIndex, instances;
    bool um = d->streams[0].um != NULL;

    if (!count || !prepare(d, topology) || !bind_vertices(d, a->MinIndex, a->NumVertices))
        return umd9_state(d);
    count = bind_indices(d, &first, count);
    if (count) {
        instances = bind_instances(d, true);
        umd9_room(d, 64);
        ABI_EMIT(&d->stream, DRAW_INDEXED, draw_indexed, .index_count = count, .instance_count = instances,
                 .first_index = first, .base_vertex = um ? -(int32_t)a->MinIndex : a->BaseVertexIndex);
    }
    return umd9_state(d);
}

/* ---- clears ---------------------------------------------------------------------- */

static bool intersect(RECT *r, const RECT *with)
{
    r->left = r->left > with->left ? r->left : with->left;
    r->top = r->top > with->top ? r->top : with->top;
    r->right = r->right < with->right ? r->right : with->right;
    r->bottom = r->bottom < with->bottom ? r->bottom : with->bottom;
    return r->left < r->right && r->top < r->bottom;
}

/* What of it is bound, with these flags, in these rectangles of the viewport. */
static void clear_bound(struct umd9_device *d, const D3DDDIARG_CLEAR *a, UINT flags, UINT count,
                        const RECT *rects)
{
    const RECT viewport = {(LONG)d->viewport.X, (LONG)d->viewport.Y,
                           (LONG)(d->viewport.X + d->viewport.Width),
                           (LONG)(d->viewport.Y + d->viewport.Height)};
    const bool scissor = d->rs[D3DRS_SCISSORTESTENABLE] != 0;
    uint32_t c = a->FillColor;

    for (UINT i = 0; i < (count ? count : 1); i++) {
        RECT r = count ? rects[i] : viewport;

        if (!intersect(&r, &viewport) || (scissor && !intersect(&r, &d->scissor)))
            continue;
        umd9_set_scissor(d, true, &r);
        umd9_room(d, 64);
        ABI_EMIT(&d->stream, CLEAR, clear,
                 .flags = (flags & 1 ? AEROGPU_CLEAR_COLOR : 0u) | (flags & 2 ? AEROGPU_CLEAR_DEPTH : 0u) |
                          (flags & 4 ? AEROGPU_CLEAR_STENCIL : 0u),
                 .color_rgba = {abi_f32((float)(c >> 16 & 255) / 255.0f),
                                abi_f32((float)(c >> 8 & 255) / 255.0f), abi_f32((float)(c & 255) / 255.0f),
                                abi_f32((float)(c >> 24) / 255.0f)},
                 .depth = abi_f32(a->FillDepth), .stencil = a->FillStencil);
    }
    umd9_set_scissor(d, scissor, &d->scissor);
}

/* Of the smallest the device would clear no more of the others: those that are not alike are cleared one by one. */
static HRESULT APIENTRY clear(HANDLE h, CONST D3DDDIARG_CLEAR *a, UINT count, CONST RECT *rects)
{
    struct umd9_device *d = umd9_device(h);
    const bool alike = umd9_targets_alike(d);

    for (uint32_t i = 0; i < UMD9_TARGETS && !alike && a->Flags & 1; i++)
        if (d->targets[i]) {
            umd9_bind_targets(d, 1u << i, false);
            clear_bound(d, a, 1, count, rects);
        }
    if (alike || a->Flags & ~1u) {
        umd9_bind_targets(d, alike ? UINT32_MAX : 0, true);
        clear_bound(d, a, alike ? a->Flags : a->Flags & ~1u, count, rects);
    }
    d->targets_changed |= !alike;
    for (int i = 0; i < UMD9_TARGETS; i++)
        if (d->targets[i] && a->Flags & 1)
            umd9_written(d->targets[i], d->target_surfaces[i]);
    if (d->depth && a->Flags & ~1u)
        umd9_written(d->depth, 0);
    return umd9_state(d);
}

void umd9_draw_functions(D3DDDI_DEVICEFUNCS *f)
{
    f->pfnSetStreamSource = set_stream;
    f->pfnSetStreamSourceUm = set_stream_um;
    f->pfnSetStreamSourceFreq = set_frequency;
    f->pfnSetIndices = set_indices;
    f->pfnSetIndicesUm = set_indices_um;
    f->pfnDrawPrimitive = draw;
    f->pfnDrawIndexedPrimitive = draw_indexed;
    f->pfnClear = clear;
}
