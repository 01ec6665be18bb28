/* SPDX-License-Identifier: MIT */
/* deferred.c: deferred contexts and command lists, by the runtime alone: no driver has to know them.
 *
 *   call on a deferred context ─d3d_record─▶ d3d_list ─FinishCommandList─▶ ID3D11CommandList ─ExecuteCommandList─▶ the same calls
 *
 * Invariants:
 *  1. What is recorded is not changed any more once its list is finished; it can be played any number of times.
 *  2. The objects that a call names are bound to its list, and live as long; other pointers' memory is copied into it.
 *  3. A list is played on a context in its default state, which then has what it had before, or the default state again.
 *  4. A list that ran out of memory says so when it is finished, and is not played.
 * Most methods are made by gen.py, which records the call and lets the context keep its own state; here is what is more than that. */
#include "d3d/tables.h"
#include "d3d/d3d.h"

#include "base/check.h"

enum { CHUNK = 16384 };

struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(16) uint8_t bytes[];
};

struct written { /* what a resource that was mapped is to hold; the newest first */
    struct written *next;
    const struct d3d_child *resource;
    UINT index;
    D3D11_MAPPED_SUBRESOURCE to;
};

struct d3d_list {
    struct d3d_call *first, **last;
    struct chunk *chunks;
    struct d3d_child **held;
    size_t num_held, room_held;
    struct written *written;
    bool failed;
};

static struct d3d_context *context_of(void *This)
{
    return This;
}

static struct d3d_list *list_create(void)
{
    struct d3d_list *l = calloc(1, sizeof(*l));

    if (l)
        l->last = &l->first;
    return l;
}

void d3d_list_destroy(struct d3d_list *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->num_held; i++)
        d3d_child_bind(&l->held[i], NULL);
    free(l->held);
    for (struct chunk *c = l->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(l);
}

/* Memory as long as the list; NULL: there is none, which the list remembers. */
static void *list_alloc(struct d3d_list *l, size_t size)
{
    struct chunk *c = l->chunks;
    void *at;

    size = (size + 15) & ~(size_t)15;
    if (!c || c->size - c->used < size) {
        size_t room = size > CHUNK ? size : CHUNK;

        c = room < SIZE_MAX - sizeof(*c) ? malloc(sizeof(*c) + room) : NULL;
        if (!c) {
            l->failed = true;
            return NULL;
        }
        c->next = l->chunks;
        c->used = 0;
        c->size = room;
        l->chunks = c;
    }
    at = c->bytes + c->used;
    c->used += size;
    return at;
}

void *d3d_record(void *This, size_t size, d3d_play *play)
{
    struct d3d_list *l = context_of(This)->list;
    struct d3d_call *call = list_alloc(l, size);

    if (!call)
        return NULL;
    memset(call, 0, size);
    call->play = play;
    *l->last = call;
    l->last = &call->next;
    return call;
}

const void *d3d_keep(void *This, const void *bytes, UINT count, size_t each)
{
    void *copy = bytes && count <= D3D_KEPT ? list_alloc(context_of(This)->list, count * each) : NULL;

    if (copy)
        memcpy(copy, bytes, count * each);
    return copy;
}

void *d3d_hold(void *This, const void *object)
{
    struct d3d_list *l = context_of(This)->list;

    if (!object)
        return NULL;
    if (l->num_held == l->room_held) {
        size_t room = l->room_held ? l->room_held * 2 : 64;
        struct d3d_child **more = realloc(l->held, room * sizeof(*more));

        if (!more) {
            l->failed = true;
            return NULL;
        }
        l->held = more;
        l->room_held = room;
    }
    l->held[l->num_held] = NULL;
    d3d_child_bind(&l->held[l->num_held++], (struct d3d_child *)(uintptr_t)object);
    return l->held[l->num_held - 1];
}

const void *d3d_hold_all(void *This, const void *objects, UINT count)
{
    void *const *all = objects;

    for (UINT i = 0; all && count <= D3D_SLOTS && i < count; i++)
        d3d_hold(This, all[i]);
    return d3d_keep(This, objects, count, sizeof(void *));
}

static void play_list(struct d3d_list *l, ID3D11DeviceContext1 *on)
{
    for (const struct d3d_call *c = l->first; c; c = c->next)
        c->play(on, c);
}

/* ---- all that is bound ------------------------------------------------------- */

static struct d3d_child **slots_of(struct d3d_context *c, size_t *count)
{
    *count = (offsetof(struct d3d_context, predicate_value) - offsetof(struct d3d_context, shaders)) /
             sizeof(struct d3d_child *);
    return &c->shaders[0];
}

void d3d_context_unbind(struct d3d_context *c)
{
    size_t count;
    struct d3d_child **slots = slots_of(c, &count);

    for (size_t i = 0; i < count; i++)
        d3d_child_bind(&slots[i], NULL);
}

void d3d_context_copy(struct d3d_context *to, const struct d3d_context *from)
{
    size_t count, at = offsetof(struct d3d_context, predicate_value);
    struct d3d_child **slots = slots_of(to, &count), *const *src = &from->shaders[0];

    for (size_t i = 0; i < count; i++)
        d3d_child_bind(&slots[i], src[i]);
    memcpy((char *)to + at, (const char *)from + at, sizeof(*to) - at);
}

static UINT used(struct d3d_child *const *slots, UINT most)
{
    while (most && !slots[most - 1])
        most--;
    return most;
}

#define SET_STAGE(S, stage, iface)                                                                           \
    do {                                                                                                     \
        if (s->shaders[stage])                                                                               \
            v->S##SetShader(to, (iface *)s->shaders[stage], NULL, 0);                                        \
        if ((n = used(s->constants[stage], D3D_CONSTANTS)))                                                  \
            v->S##SetConstantBuffers1(to, 0, n, (ID3D11Buffer *const *)s->constants[stage],                  \
                                      ranges ? s->first_constants[stage] : NULL,                             \
                                      ranges ? s->num_constants[stage] : NULL);                              \
        if ((n = used(s->views[stage], D3D_SLOTS)))                                                          \
            v->S##SetShaderResources(to, 0, n, (ID3D11ShaderResourceView *const *)s->views[stage]);          \
        if ((n = used(s->samplers[stage], D3D_SAMPLERS)))                                                    \
            v->S##SetSamplers(to, 0, n, (ID3D11SamplerState *const *)s->samplers[stage]);                    \
    } while (0)

void d3d_context_apply(ID3D11DeviceContext1 *to, const struct d3d_context *s)
{
    const bool ranges = context_of(to)->device->eleven_one;
    static const UINT behind[D3D_STREAMS] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    const ID3D11DeviceContext1Vtbl *v = to->lpVtbl;
    UINT n;

    SET_STAGE(VS, D3D_VS, ID3D11VertexShader);
    SET_STAGE(HS, D3D_HS, ID3D11HullShader);
    SET_STAGE(DS, D3D_DS, ID3D11DomainShader);
    SET_STAGE(GS, D3D_GS, ID3D11GeometryShader);
    SET_STAGE(PS, D3D_PS, ID3D11PixelShader);
    SET_STAGE(CS, D3D_CS, ID3D11ComputeShader);
    if ((n = used(s->uavs, D3D_UAVS)))
        v->CSSetUnorderedAccessViews(to, 0, n, (ID3D11UnorderedAccessView *const *)s->uavs, NULL);
    v->IASetInputLayout(to, (ID3D11InputLayout *)s->layout);
    if ((n = used(s->vertices, 32)))
        v->IASetVertexBuffers(to, 0, n, (ID3D11Buffer *const *)s->vertices, s->strides, s->offsets);
    if (s->indices)
        v->IASetIndexBuffer(to, (ID3D11Buffer *)s->indices, s->index_format, s->index_offset);
    v->IASetPrimitiveTopology(to, s->topology);
    if ((n = used(s->streams, D3D_STREAMS)))
        v->SOSetTargets(to, n, (ID3D11Buffer *const *)s->streams, behind);
    if ((n = used(s->targets, 8)) || s->depth_view || used(s->pixel_uavs, D3D_UAVS))
        v->OMSetRenderTargetsAndUnorderedAccessViews(
            to, n, (ID3D11RenderTargetView *const *)s->targets, (ID3D11DepthStencilView *)s->depth_view, 0,
            used(s->pixel_uavs, D3D_UAVS), (ID3D11UnorderedAccessView *const *)s->pixel_uavs, NULL);
    v->OMSetBlendState(to, (ID3D11BlendState *)s->blend, s->blend_factor, s->sample_mask);
    v->OMSetDepthStencilState(to, (ID3D11DepthStencilState *)s->depth, s->stencil_ref);
    v->RSSetState(to, (ID3D11RasterizerState *)s->raster);
    if (s->num_viewports)
        v->RSSetViewports(to, s->num_viewports, s->viewports);
    if (s->num_scissors)
        v->RSSetScissorRects(to, s->num_scissors, s->scissors);
    if (s->predicate)
        v->SetPredication(to, (ID3D11Predicate *)s->predicate, s->predicate_value);
}

/* ---- lists --------------------------------------------------------------------- */

void STDMETHODCALLTYPE d3d_context_ExecuteCommandList(ID3D11DeviceContext *This, ID3D11CommandList *list,
                                                      BOOL restore)
{
    struct d3d_child *l = (struct d3d_child *)list;
    struct d3d_context *before = restore ? calloc(1, sizeof(*before)) : NULL;

    if (!l || (restore && !before)) {
        free(before);
        return;
    }
    if (restore)
        d3d_context_copy(before, context_of(This));
    d3d_context_ClearState(This);
    play_list(l->list, (ID3D11DeviceContext1 *)This);
    d3d_context_ClearState(This);
    if (restore) {
        d3d_context_apply((ID3D11DeviceContext1 *)This, before);
        d3d_context_unbind(before);
        free(before);
    }
}

struct call_list {
    struct d3d_call call;
    ID3D11CommandList *list;
    BOOL restore;
};

static void play_execute(ID3D11DeviceContext1 *on, const struct d3d_call *call)
{
    const struct call_list *c = (const struct call_list *)call;

    d3d_context_ExecuteCommandList((ID3D11DeviceContext *)on, c->list, c->restore);
}

void STDMETHODCALLTYPE d3d_deferred_ExecuteCommandList(ID3D11DeviceContext *This, ID3D11CommandList *list,
                                                       BOOL restore)
{
    struct call_list *c = list ? d3d_record(This, sizeof(*c), play_execute) : NULL;

    if (!c)
        return;
    c->list = d3d_hold(This, list);
    c->restore = restore;
    if (!restore)
        d3d_context_ClearState(This);
}

HRESULT STDMETHODCALLTYPE d3d_context_FinishCommandList(ID3D11DeviceContext *This, BOOL restore,
                                                        ID3D11CommandList **out)
{
    if (out)
        *out = NULL;
    return DXGI_ERROR_INVALID_CALL; /* the immediate context records nothing */
}

HRESULT STDMETHODCALLTYPE d3d_deferred_FinishCommandList(ID3D11DeviceContext *This, BOOL restore,
                                                         ID3D11CommandList **out)
{
    struct d3d_context *c = context_of(This);
    struct d3d_list *next = list_create();
    struct d3d_child *l = out ? d3d_child_create(c->device, D3D_LIST, 0) : NULL;
    struct d3d_context *state;

    if (out)
        *out = NULL;
    if (!next || (out && !l) || c->list->failed) {
        d3d_list_destroy(next);
        if (l)
            d3d_child_release(l);
        return E_OUTOFMEMORY;
    }
    if (l)
        l->list = c->list;
    else
        d3d_list_destroy(c->list);
    c->list = next;
    if (restore &&
        (state = calloc(1, sizeof(*state)))) { /* the next list begins with the state of this one */
        d3d_context_copy(state, c);
        d3d_context_apply((ID3D11DeviceContext1 *)This, state);
        d3d_context_unbind(state);
        free(state);
    } else {
        d3d_context_ClearState(This);
    }
    if (out)
        *out = (ID3D11CommandList *)l;
    return S_OK;
}

UINT STDMETHODCALLTYPE d3d_list_GetContextFlags(ID3D11CommandList *This)
{
    return 0;
}

/* ---- data ------------------------------------------------------------------------ */

struct call_write {
    struct d3d_call call;
    struct d3d_child *resource;
    UINT index;
    D3D10_DDI_BOX box;
    D3D11_MAPPED_SUBRESOURCE from; /* in the list's memory */
};

/* The rows of a box of a resource, of which `to` has memory; false: there is none. */
static bool rows_alloc(struct d3d_list *l, const struct d3d_child *r, const D3D10_DDI_BOX *box,
                       D3D11_MAPPED_SUBRESOURCE *to, size_t *row, size_t *rows)
{
    UINT bytes = 1, block = 1;

    if (r->kind != D3D_BUFFER)
        d3d_format_block(r->desc.texture.Format, &bytes, &block);
    *row = ((size_t)(box->right - box->left) + block - 1) / block * bytes;
    *rows = ((size_t)(box->bottom - box->top) + block - 1) / block;
    to->RowPitch = (UINT)*row;
    to->DepthPitch = (UINT)(*row * *rows);
    to->pData = list_alloc(l, *row * *rows * (size_t)(box->back - box->front));
    return to->pData != NULL;
}

static void rows_copy(const D3D11_MAPPED_SUBRESOURCE *to, const D3D11_MAPPED_SUBRESOURCE *from, size_t row,
                      size_t rows, size_t slices)
{
    for (size_t z = 0; z < slices; z++)
        for (size_t y = 0; y < rows; y++)
            memcpy((uint8_t *)to->pData + z * to->DepthPitch + y * to->RowPitch,
                   (const uint8_t *)from->pData + z * from->DepthPitch + y * from->RowPitch, row);
}

static void play_update(ID3D11DeviceContext1 *on, const struct d3d_call *call)
{
    const struct call_write *c = (const struct call_write *)call;
    const D3D11_BOX box = {(UINT)c->box.left,  (UINT)c->box.top,    (UINT)c->box.front,
                           (UINT)c->box.right, (UINT)c->box.bottom, (UINT)c->box.back};

    d3d_context_UpdateSubresource((ID3D11DeviceContext *)on, (ID3D11Resource *)c->resource, c->index, &box,
                                  c->from.pData, c->from.RowPitch, c->from.DepthPitch);
}

void STDMETHODCALLTYPE d3d_deferred_UpdateSubresource(ID3D11DeviceContext *This, ID3D11Resource *dst,
                                                      UINT index, const D3D11_BOX *given, const void *data,
                                                      UINT row_pitch, UINT depth_pitch)
{
    struct d3d_child *r = (struct d3d_child *)dst;
    const D3D11_MAPPED_SUBRESOURCE from = {(void *)(uintptr_t)data, row_pitch, depth_pitch};
    struct call_write *c;
    D3D10_DDI_BOX box;
    size_t row, rows;

    if (!d3d_subresource(r, index) || !data || !d3d_box_of(r, index, given, &box))
        return;
    c = d3d_record(This, sizeof(*c), play_update);
    if (!c || !rows_alloc(context_of(This)->list, r, &box, &c->from, &row, &rows))
        return;
    c->resource = d3d_hold(This, r);
    c->index = index;
    c->box = box;
    rows_copy(&c->from, &from, row, rows, (size_t)(box.back - box.front));
}

static void play_map(ID3D11DeviceContext1 *on, const struct d3d_call *call)
{
    const struct call_write *c = (const struct call_write *)call;
    ID3D11Resource *r = (ID3D11Resource *)c->resource;
    size_t rows = c->from.DepthPitch / (c->from.RowPitch ? c->from.RowPitch : 1);
    D3D11_MAPPED_SUBRESOURCE m;

    if (d3d_context_Map((ID3D11DeviceContext *)on, r, c->index, D3D11_MAP_WRITE_DISCARD, 0, &m) != S_OK)
        return;
    rows_copy(&m, &c->from, c->from.RowPitch, rows, (size_t)c->box.back);
    d3d_context_Unmap((ID3D11DeviceContext *)on, r, c->index);
}

HRESULT STDMETHODCALLTYPE d3d_deferred_Map(ID3D11DeviceContext *This, ID3D11Resource *resource, UINT index,
                                           D3D11_MAP type, UINT flags, D3D11_MAPPED_SUBRESOURCE *out)
{
    struct d3d_child *r = (struct d3d_child *)resource;
    struct d3d_list *l = context_of(This)->list;
    struct written *w;
    struct call_write *c;
    size_t row, rows;

    if (out)
        out->pData = NULL;
    if (!d3d_subresource(r, index) || !out || flags || !d3d_is_dynamic(r) ||
        (type != D3D11_MAP_WRITE_DISCARD && type != D3D11_MAP_WRITE_NO_OVERWRITE))
        return E_INVALIDARG;
    if (type == D3D11_MAP_WRITE_NO_OVERWRITE) {
        for (w = l->written; w && (w->resource != r || w->index != index); w = w->next)
            ;
        if (!w)
            return D3D11_ERROR_DEFERRED_CONTEXT_MAP_WITHOUT_INITIAL_DISCARD;
        *out = w->to;
        return S_OK;
    }
    w = list_alloc(l, sizeof(*w));
    c = w ? d3d_record(This, sizeof(*c), play_map) : NULL;
    if (!c)
        return E_OUTOFMEMORY;
    d3d_box_of(r, index, NULL, &c->box);
    c->index = index;
    c->resource = d3d_hold(This, r);
    if (!rows_alloc(l, r, &c->box, &c->from, &row, &rows))
        return E_OUTOFMEMORY;
    *w = (struct written){l->written, r, index, c->from};
    l->written = w;
    *out = c->from;
    return S_OK;
}

/* The memory is the list's, and what it holds when the list is finished counts. */
void STDMETHODCALLTYPE d3d_deferred_Unmap(ID3D11DeviceContext *This, ID3D11Resource *resource, UINT index)
{
}

HRESULT STDMETHODCALLTYPE d3d_deferred_GetData(ID3D11DeviceContext *This, ID3D11Asynchronous *query,
                                               void *data, UINT size, UINT flags)
{
    return DXGI_ERROR_INVALID_CALL;
}

void STDMETHODCALLTYPE d3d_deferred_Flush(ID3D11DeviceContext *This)
{
}

/* ---- annotations: as d3d_annotation_say says them ---------------------------------- */

struct call_say {
    struct d3d_call call;
    enum d3d_words what;
    const char *text;
};

static void play_say(ID3D11DeviceContext1 *on, const struct d3d_call *call)
{
    const struct call_say *c = (const struct call_say *)call;

    d3d_annotation_say(context_of(on), c->what, c->text);
}

void d3d_deferred_say(struct d3d_context *c, enum d3d_words what, const char *text)
{
    struct call_say *call = d3d_record(c, sizeof(*call), play_say);
    char *copy = list_alloc(c->list, strlen(text) + 1);

    if (!call || !copy)
        return;
    strcpy(copy, text);
    call->what = what;
    call->text = copy;
}

/* ---- life -------------------------------------------------------------------------- */

static HRESULT create(struct d3d_device *d, UINT flags, void **out)
{
    struct d3d_context *c;

    if (d->flags & D3D11_CREATE_DEVICE_SINGLETHREADED)
        return DXGI_ERROR_INVALID_CALL;
    if (flags)
        return E_INVALIDARG;
    if (!out)
        return S_FALSE;
    c = calloc(1, sizeof(*c));
    if (!c || !(c->list = list_create())) {
        free(c);
        return E_OUTOFMEMORY;
    }
    d3d_context_init(c, d);
    c->vtbl = &d3d_deferred_vtbl;
    c->refs = 1;
    ID3D11Device_AddRef((ID3D11Device *)d);
    *out = c;
    return S_OK;
}

void d3d_deferred_destroy(struct d3d_context *c)
{
    d3d_context_unbind(c);
    d3d_list_destroy(c->list);
    d3d_data_free(c->data);
    free(c);
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateDeferredContext(ID3D11Device *This, UINT flags,
                                                           ID3D11DeviceContext **out)
{
    return create((struct d3d_device *)This, flags, (void **)out);
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateDeferredContext1(ID3D11Device1 *This, UINT flags,
                                                            ID3D11DeviceContext1 **out)
{
    return create((struct d3d_device *)This, flags, (void **)out);
}

void STDMETHODCALLTYPE d3d_device_GetImmediateContext1(ID3D11Device1 *This, ID3D11DeviceContext1 **out)
{
    d3d_device_GetImmediateContext((ID3D11Device *)This, (ID3D11DeviceContext **)out);
}

/* ---- states that are exchanged whole ------------------------------------------------ */

static struct d3d_child *state_create(struct d3d_device *d)
{
    struct d3d_child *s = d3d_child_create(d, D3D_CONTEXT_STATE, 0);

    if (!s)
        return NULL;
    s->saved = calloc(1, sizeof(*s->saved));
    if (!s->saved) {
        d3d_child_release(s);
        return NULL;
    }
    d3d_context_init(s->saved, d);
    return s;
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateDeviceContextState(ID3D11Device1 *This, UINT flags,
                                                              const D3D_FEATURE_LEVEL *levels, UINT count,
                                                              UINT version, REFIID emulated,
                                                              D3D_FEATURE_LEVEL *chosen,
                                                              ID3DDeviceContextState **out)
{
    struct d3d_device *d = (struct d3d_device *)This;
    D3D_FEATURE_LEVEL level = 0;

    if (out)
        *out = NULL;
    if (chosen)
        *chosen = 0;
    for (UINT i = 0; levels && i < count && !level; i++)
        level = levels[i] <= d->level ? levels[i] : 0;
    if (!levels || !count || version != D3D11_SDK_VERSION || !level)
        return E_INVALIDARG;
    if (chosen)
        *chosen = level;
    if (!out)
        return S_FALSE;
    d->d10 = true; /* from now on it shows the faces of all that it can be */
    *out = (ID3DDeviceContextState *)state_create(d);
    return *out ? S_OK : E_OUTOFMEMORY;
}

void STDMETHODCALLTYPE d3d_context_SwapDeviceContextState(ID3D11DeviceContext1 *This,
                                                          ID3DDeviceContextState *state,
                                                          ID3DDeviceContextState **previous)
{
    struct d3d_context *c = context_of(This);
    struct d3d_child *old, *s = (struct d3d_child *)state;

    if (previous)
        *previous = NULL;
    if (c->list || !s)
        return;
    old = c->state;
    if (old)
        d3d_child_AddRef(old);
    else if (!(old = state_create(c->device)))
        return;
    if (old != s) {
        d3d_context_copy(old->saved, c);
        d3d_context_ClearState((ID3D11DeviceContext *)This);
        d3d_context_apply(This, s->saved);
        d3d_child_bind(&c->state, s);
    }
    if (previous)
        *previous = (ID3DDeviceContextState *)old;
    else
        d3d_child_release(old);
}
