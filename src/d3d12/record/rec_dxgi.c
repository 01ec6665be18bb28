/* SPDX-License-Identifier: MIT */
/* rec_dxgi.c: swap chains of DXGI.
 *
 * The factories' and the swap chains' method tables are patched like those of Direct3D 12, by slot numbers: they are
 * part of DXGI's ABI, and its declarations cannot stand beside the generated ones. A swap chain that was made for a
 * queue of Direct3D 12 gets a number; its buffers are recorded when the program asks for them.
 *
 * The picture of a frame is copied on the chain's queue, in front of the present, and hashed when the copy is done: a few
 * presents later, when the chain is resized, or when it goes.
 */
#include <pthread.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/log.h"
#include "d3d12/record/rec_values.h"
#include "d3d12/record/rec_hooks.h"
#include "d3d12/record/rec_windows.h"
#include "d3d12/gen/table.h"

#define SLOTS      3
#define MAX_TABLES 16
#define MAX_PATCH  40

enum { /* slots of IDXGIFactory.. and IDXGISwapChain.. */
       FACTORY_CREATE = 10,
       FACTORY_CREATE_HWND = 15,
       FACTORY_CREATE_CORE = 16,
       FACTORY_CREATE_COMPOSITION = 24,
       CHAIN_RELEASE = 2,
       CHAIN_PRESENT = 8,
       CHAIN_GET_BUFFER = 9,
       CHAIN_GET_DESC = 12,
       CHAIN_RESIZE = 13,
       CHAIN_PRESENT1 = 22,
       CHAIN_INDEX = 36,
       CHAIN_RESIZE1 = 39,
};

#define PRESENT_TEST 1 /* DXGI_PRESENT_TEST: nothing is presented */

struct chain_desc { /* DXGI_SWAP_CHAIN_DESC */
    UINT width, height, refresh[2];
    UINT format, scanline, scaling;
    UINT samples, quality;
    UINT usage, buffers;
    HWND window;
    BOOL windowed;
    UINT effect, flags;
};

struct copy { /* one picture on its way */
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *list;
    ID3D12Resource *buffer;
    uint64_t size, row;
    UINT pitch, rows, width, height;
    uint64_t value; /* of the chain's fence; 0: free */
    uint32_t frame;
};

struct chain {
    struct chain *next;
    IUnknown *ptr;
    uint64_t number;
    ID3D12CommandQueue *queue;
    ID3D12Fence *fence;
    HANDLE event;
    uint64_t value;
    struct copy slots[SLOTS];
    unsigned slot;
    bool has_index, no_hash;
};

static struct {
    void **vtbl;
    void *orig[MAX_PATCH];
} tables[MAX_TABLES];
static struct chain *chains;
static uint64_t num_chains;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const GUID iid_factory2 = {
    0x50c83a1c, 0xe072, 0x4c48, {0x87, 0xb0, 0x36, 0x30, 0xfa, 0x36, 0xa6, 0xd0}};
static const GUID iid_chain1 = {0x790a45f7, 0x0d42, 0x4876, {0x98, 0x3a, 0x0a, 0x55, 0xcf, 0xe6, 0xf4, 0xaa}};
static const GUID iid_chain3 = {0x94d99bdb, 0xf1f8, 0x4ab0, {0xb2, 0x36, 0x7d, 0xa0, 0x17, 0x0e, 0xda, 0xb1}};

#define IID_OF(name) ((const IID *)&d12_ifaces[D12_IFACE_##name].iid)

/* ---- method tables ------------------------------------------------------- */

static void *orig(void *object, unsigned slot)
{
    void **vtbl = *(void ***)object;

    for (int i = 0; i < MAX_TABLES; i++)
        if (tables[i].vtbl == vtbl && tables[i].orig[slot])
            return tables[i].orig[slot];
    return vtbl[slot];
}

static void patch(void *object, unsigned slot, void *fn)
{
    void **vtbl = *(void ***)object;
    int i = 0;

    while (i < MAX_TABLES - 1 && tables[i].vtbl && tables[i].vtbl != vtbl)
        i++;
    if (tables[i].vtbl && tables[i].vtbl != vtbl)
        return;
    tables[i].vtbl = vtbl;
    if (tables[i].orig[slot] || !os_make_writable(&vtbl[slot], sizeof(void *)))
        return;
    tables[i].orig[slot] = vtbl[slot];
    __atomic_store_n(&vtbl[slot], fn, __ATOMIC_RELEASE);
}

static bool offers(IUnknown *object, const GUID *iid)
{
    IUnknown *p;

    if (FAILED(object->lpVtbl->QueryInterface(object, iid, (void **)&p)))
        return false;
    p->lpVtbl->Release(p);
    return *(void **)p == *(void **)object;
}

static struct chain *chain_of(const void *ptr)
{
    struct chain *c;

    pthread_mutex_lock(&lock);
    for (c = chains; c && c->ptr != ptr; c = c->next)
        ;
    pthread_mutex_unlock(&lock);
    return c;
}

static void release(void *p)
{
    if (p)
        ((IUnknown *)p)->lpVtbl->Release(p);
}

/* ---- pictures ------------------------------------------------------------ */

static void picture_done(struct rec_thread *t, struct chain *c, struct copy *s)
{
    struct enc *e = &t->enc;
    XXH3_state_t *h;
    uint8_t *p;

    t->depth++;
    if (c->fence->lpVtbl->GetCompletedValue(c->fence) < s->value &&
        SUCCEEDED(c->fence->lpVtbl->SetEventOnCompletion(c->fence, s->value, c->event)))
        WaitForSingleObject(c->event, 10000);
    s->value = 0;
    h = XXH3_createState();
    if (!h || FAILED(s->buffer->lpVtbl->Map(s->buffer, 0, NULL, (void **)&p))) {
        XXH3_freeState(h);
        t->depth--;
        return;
    }
    XXH3_64bits_reset(h);
    for (UINT y = 0; y < s->rows; y++)
        XXH3_64bits_update(h, p + (size_t)y * s->pitch, s->row);
    s->buffer->lpVtbl->Unmap(s->buffer, 0, NULL);
    t->depth--;
    rec_begin(t, NULL, D12_Native_FrameHash, REC_MODE_TICKET);
    enc_u32(e, atomic_load(&rec_shm->frame) - s->frame);
    enc_u32(e, s->width);
    enc_u32(e, s->height);
    enc_u32(e, (uint32_t)XXH3_64bits_digest(h));
    rec_args_done(t, D12_Native_FrameHash, REC_NO_ANSWER);
    XXH3_freeState(h);
}

static bool copy_make(struct chain *c, struct copy *s, ID3D12Device *d, uint64_t size)
{
    D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_READBACK};
    D3D12_RESOURCE_DESC desc = {.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER,
                                .Width = size,
                                .Height = 1,
                                .DepthOrArraySize = 1,
                                .MipLevels = 1,
                                .SampleDesc = {1, 0},
                                .Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR};
    const D3D12_COMMAND_LIST_TYPE type = D3D12_COMMAND_LIST_TYPE_DIRECT;

    if (!s->list &&
        (FAILED(d->lpVtbl->CreateCommandAllocator(d, type, IID_OF(ID3D12CommandAllocator),
                                                  (void **)&s->allocator)) ||
         FAILED(d->lpVtbl->CreateCommandList(d, 0, type, s->allocator, NULL,
                                             IID_OF(ID3D12GraphicsCommandList), (void **)&s->list)) ||
         FAILED(s->list->lpVtbl->Close(s->list))))
        return false;
    if (s->buffer && s->size >= size)
        return true;
    release(s->buffer);
    s->buffer = NULL;
    s->size = size;
    return SUCCEEDED(d->lpVtbl->CreateCommittedResource(d, &heap, D3D12_HEAP_FLAG_NONE, &desc,
                                                        D3D12_RESOURCE_STATE_COPY_DEST, NULL,
                                                        IID_OF(ID3D12Resource), (void **)&s->buffer));
}

static bool copy_submit(struct chain *c, struct copy *s, ID3D12Resource *texture,
                        const D3D12_PLACED_SUBRESOURCE_FOOTPRINT *layout)
{
    D3D12_TEXTURE_COPY_LOCATION dst = {
        .pResource = s->buffer, .Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT, .PlacedFootprint = *layout};
    D3D12_TEXTURE_COPY_LOCATION src = {.pResource = texture,
                                       .Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX};
    D3D12_RESOURCE_BARRIER b = {
        .Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION,
        .Transition = {texture, 0, D3D12_RESOURCE_STATE_PRESENT, D3D12_RESOURCE_STATE_COPY_SOURCE}};
    ID3D12GraphicsCommandList *l = s->list;

    if (FAILED(s->allocator->lpVtbl->Reset(s->allocator)) || FAILED(l->lpVtbl->Reset(l, s->allocator, NULL)))
        return false;
    l->lpVtbl->ResourceBarrier(l, 1, &b);
    l->lpVtbl->CopyTextureRegion(l, &dst, 0, 0, 0, &src, NULL);
    b.Transition.StateBefore = D3D12_RESOURCE_STATE_COPY_SOURCE;
    b.Transition.StateAfter = D3D12_RESOURCE_STATE_PRESENT;
    l->lpVtbl->ResourceBarrier(l, 1, &b);
    if (FAILED(l->lpVtbl->Close(l)))
        return false;
    c->queue->lpVtbl->ExecuteCommandLists(c->queue, 1, (ID3D12CommandList *const *)&l);
    return SUCCEEDED(c->queue->lpVtbl->Signal(c->queue, c->fence, ++c->value));
}

static bool fence_make(struct chain *c, ID3D12Device *d)
{
    if (!c->fence)
        c->event = CreateEventW(NULL, FALSE, FALSE, NULL);
    return c->fence || SUCCEEDED(d->lpVtbl->CreateFence(d, 0, D3D12_FENCE_FLAG_NONE, IID_OF(ID3D12Fence),
                                                        (void **)&c->fence));
}

/* Copies the picture that is about to be presented. Called with depth > 0. */
static bool picture_take(struct chain *c, struct copy *s, ID3D12Resource *texture, uint32_t frame)
{
    D3D12_PLACED_SUBRESOURCE_FOOTPRINT layout = {0};
    D3D12_RESOURCE_DESC desc = {0};
    ID3D12Device *d = NULL;
    uint64_t row = 0, total = 0;
    UINT rows = 0;
    bool ok;

    texture->lpVtbl->GetDesc(texture, &desc);
    if (FAILED(texture->lpVtbl->GetDevice(texture, IID_OF(ID3D12Device), (void **)&d)))
        return false;
    d->lpVtbl->GetCopyableFootprints(d, &desc, 0, 1, 0, &layout, &rows, &row, &total);
    ok = fence_make(c, d) && copy_make(c, s, d, total) && copy_submit(c, s, texture, &layout);
    d->lpVtbl->Release(d);
    if (!ok)
        return false;
    s->row = row;
    s->pitch = layout.Footprint.RowPitch;
    s->rows = rows;
    s->width = (UINT)desc.Width;
    s->height = desc.Height;
    s->value = c->value;
    s->frame = frame;
    rec_contents_unneeded();
    return true;
}

static void chain_flush(struct rec_thread *t, struct chain *c)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        struct copy *s = &c->slots[(c->slot + i) % SLOTS];

        if (s->value)
            picture_done(t, c, s);
    }
}

/* ---- swap chains --------------------------------------------------------- */

typedef HRESULT(WINAPI *present_fn)(void *, UINT, UINT);
typedef HRESULT(WINAPI *present1_fn)(void *, UINT, UINT, const void *);
typedef HRESULT(WINAPI *get_buffer_fn)(void *, UINT, const GUID *, void **);
typedef HRESULT(WINAPI *get_desc_fn)(void *, struct chain_desc *);
typedef HRESULT(WINAPI *resize_fn)(void *, UINT, UINT, UINT, UINT, UINT);
typedef HRESULT(WINAPI *resize1_fn)(void *, UINT, UINT, UINT, UINT, UINT, const UINT *, IUnknown *const *);
typedef UINT(WINAPI *index_fn)(void *);

static void before_present(struct rec_thread *t, struct chain *c)
{
    UINT index = c->has_index ? ((index_fn)(*(void ***)c->ptr)[CHAIN_INDEX])(c->ptr) : 0;
    struct copy *s = &c->slots[c->slot];
    struct enc *e = &t->enc;
    ID3D12Resource *texture = NULL;
    uint32_t frame = atomic_load(&rec_shm->frame);

    t->depth++;
    ((get_buffer_fn)orig(c->ptr, CHAIN_GET_BUFFER))(c->ptr, index, (const GUID *)IID_OF(ID3D12Resource),
                                                    (void **)&texture);
    t->depth--;
    rec_fence_look(t);
    if (s->value)
        picture_done(t, c, s);
    rec_begin(t, NULL, D12_Native_Present, REC_MODE_TICKET);
    enc_u64(e, c->number);
    enc_u32(e, index);
    enc_object(e, texture && rec_object_find(texture) ? texture
                                                      : NULL); /* the program may never have asked for it */
    enc_object(e, c->queue);
    rec_args_done(t, D12_Native_Present, REC_NO_ANSWER);
    atomic_fetch_add(&rec_shm->frame, 1);
    t->depth++;
    if (texture && !c->no_hash && rec_shm->hash_every && frame % rec_shm->hash_every == 0) {
        if (picture_take(c, s, texture, frame))
            c->slot = (c->slot + 1) % SLOTS;
        else
            c->no_hash = true;
    }
    release(texture);
    t->depth--;
}

static HRESULT WINAPI chain_present(void *This, UINT interval, UINT flags)
{
    struct rec_thread *t = rec_enter();
    struct chain *c = t && !(flags & PRESENT_TEST) ? chain_of(This) : NULL;
    struct rec_object *q = c ? rec_object_find(c->queue) : NULL;
    HRESULT hr;

    if (!q)
        return ((present_fn)orig(This, CHAIN_PRESENT))(This, interval, flags);
    rec_lock(q);
    before_present(t, c);
    t->depth++;
    hr = ((present_fn)orig(This, CHAIN_PRESENT))(This, interval, flags);
    t->depth--;
    rec_unlock(q);
    return hr;
}

static HRESULT WINAPI chain_present1(void *This, UINT interval, UINT flags, const void *parameters)
{
    struct rec_thread *t = rec_enter();
    struct chain *c = t && !(flags & PRESENT_TEST) ? chain_of(This) : NULL;
    struct rec_object *q = c ? rec_object_find(c->queue) : NULL;
    HRESULT hr;

    if (!q)
        return ((present1_fn)orig(This, CHAIN_PRESENT1))(This, interval, flags, parameters);
    rec_lock(q);
    before_present(t, c);
    t->depth++;
    hr = ((present1_fn)orig(This, CHAIN_PRESENT1))(This, interval, flags, parameters);
    t->depth--;
    rec_unlock(q);
    return hr;
}

static HRESULT WINAPI chain_get_buffer(void *This, UINT index, const GUID *iid, void **out)
{
    struct rec_thread *t = rec_enter();
    struct chain *c = t ? chain_of(This) : NULL;
    D3D12_RESOURCE_DESC desc = {0};
    struct enc *e;
    HRESULT hr;

    if (t)
        t->depth++;
    hr = ((get_buffer_fn)orig(This, CHAIN_GET_BUFFER))(This, index, iid, out);
    if (c && SUCCEEDED(hr))
        ((ID3D12Resource *)*out)->lpVtbl->GetDesc(*out, &desc);
    if (t)
        t->depth--;
    if (!c || FAILED(hr))
        return hr;
    e = &t->enc;
    rec_begin(t, NULL, D12_Native_SwapChainBuffer, REC_MODE_LATE);
    enc_u64(e, c->number);
    enc_u32(e, index);
    enc_object(e, c->queue);
    enc_u8(e, 1);
    enc_resource_desc(e, &desc);
    rec_args_done(t, D12_Native_SwapChainBuffer, REC_ANSWER);
    rec_result(t, REC_MODE_LATE);
    enc_hresult(e, hr);
    enc_new_object(e, *out, iid, D12_IFACE_ID3D12Resource, true);
    rec_result_done(t);
    return hr;
}

static void record_size(struct rec_thread *t, struct chain *c, uint32_t method, bool with_queue)
{
    struct chain_desc d = {0};
    struct enc *e = &t->enc;

    t->depth++;
    ((get_desc_fn)orig(c->ptr, CHAIN_GET_DESC))(c->ptr, &d);
    t->depth--;
    rec_begin(t, NULL, method, REC_MODE_TICKET);
    enc_u64(e, c->number);
    if (with_queue)
        enc_object(e, c->queue);
    enc_u32(e, d.width);
    enc_u32(e, d.height);
    enc_u32(e, d.format);
    enc_u32(e, d.buffers);
    rec_args_done(t, method, REC_NO_ANSWER);
}

static HRESULT WINAPI chain_resize(void *This, UINT buffers, UINT width, UINT height, UINT format, UINT flags)
{
    struct rec_thread *t = rec_enter();
    struct chain *c = t ? chain_of(This) : NULL;
    HRESULT hr;

    if (!c)
        return ((resize_fn)orig(This, CHAIN_RESIZE))(This, buffers, width, height, format, flags);
    chain_flush(t, c);
    t->depth++;
    hr = ((resize_fn)orig(This, CHAIN_RESIZE))(This, buffers, width, height, format, flags);
    t->depth--;
    if (SUCCEEDED(hr))
        record_size(t, c, D12_Native_SwapChainResize, false);
    return hr;
}

static HRESULT WINAPI chain_resize1(void *This, UINT buffers, UINT width, UINT height, UINT format,
                                    UINT flags, const UINT *masks, IUnknown *const *queues)
{
    struct rec_thread *t = rec_enter();
    struct chain *c = t ? chain_of(This) : NULL;
    HRESULT hr;

    if (!c)
        return ((resize1_fn)orig(This, CHAIN_RESIZE1))(This, buffers, width, height, format, flags, masks,
                                                       queues);
    chain_flush(t, c);
    t->depth++;
    hr = ((resize1_fn)orig(This, CHAIN_RESIZE1))(This, buffers, width, height, format, flags, masks, queues);
    t->depth--;
    if (FAILED(hr))
        return hr;
    if (queues && queues[0] && rec_object_find(queues[0]))
        c->queue = (ID3D12CommandQueue *)queues[0];
    record_size(t, c, D12_Native_SwapChainResize, false);
    return hr;
}

static void chain_drop(struct chain *c)
{
    pthread_mutex_lock(&lock);
    for (struct chain **p = &chains; *p; p = &(*p)->next)
        if (*p == c) {
            *p = c->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    free(c);
}

static ULONG WINAPI chain_release(IUnknown *This)
{
    struct rec_thread *t = rec_enter();
    struct chain *c = t ? chain_of(This) : NULL;
    ULONG(WINAPI * real)(IUnknown *) = orig(This, CHAIN_RELEASE);
    ULONG refs;

    if (!c)
        return real(This);
    t->depth++;
    This->lpVtbl->AddRef(This);
    refs = real(This);
    t->depth--;
    if (refs == 1) { /* the last one goes: finish what needs the queue */
        chain_flush(t, c);
        rec_begin(t, NULL, D12_Native_SwapChainDestroy, REC_MODE_TICKET);
        enc_u64(&t->enc, c->number);
        rec_args_done(t, D12_Native_SwapChainDestroy, REC_NO_ANSWER);
        t->depth++;
        for (unsigned i = 0; i < SLOTS; i++) {
            release(c->slots[i].buffer);
            release(c->slots[i].list);
            release(c->slots[i].allocator);
        }
        release(c->fence);
        t->depth--;
        if (c->event)
            CloseHandle(c->event);
        chain_drop(c);
    }
    t->depth++;
    refs = real(This);
    t->depth--;
    return refs;
}

static void chain_made(struct rec_thread *t, HRESULT hr, IUnknown *device, void **out)
{
    struct rec_object *q = device ? rec_object_find(device) : NULL;
    struct chain *c;

    if (FAILED(hr) || !out || !*out || !q || !d12_iface_is(q->iface, D12_IFACE_ID3D12CommandQueue))
        return;
    c = calloc(1, sizeof(*c));
    if (!c)
        return;
    c->ptr = *out;
    c->queue = (ID3D12CommandQueue *)device;
    t->depth++;
    c->has_index = offers(c->ptr, &iid_chain3);
    pthread_mutex_lock(&lock);
    c->number = ++num_chains;
    c->next = chains;
    chains = c;
    patch(c->ptr, CHAIN_RELEASE, (void *)chain_release);
    patch(c->ptr, CHAIN_PRESENT, (void *)chain_present);
    patch(c->ptr, CHAIN_GET_BUFFER, (void *)chain_get_buffer);
    patch(c->ptr, CHAIN_RESIZE, (void *)chain_resize);
    if (offers(c->ptr, &iid_chain1))
        patch(c->ptr, CHAIN_PRESENT1, (void *)chain_present1);
    if (c->has_index)
        patch(c->ptr, CHAIN_RESIZE1, (void *)chain_resize1);
    pthread_mutex_unlock(&lock);
    t->depth--;
    record_size(t, c, D12_Native_SwapChainCreate, true);
}

/* ---- factories ----------------------------------------------------------- */

typedef HRESULT(WINAPI *create_fn)(void *, IUnknown *, const void *, void **);
typedef HRESULT(WINAPI *create_hwnd_fn)(void *, IUnknown *, HWND, const void *, const void *, void *,
                                        void **);
typedef HRESULT(WINAPI *create_core_fn)(void *, IUnknown *, void *, const void *, void *, void **);
typedef HRESULT(WINAPI *create_composition_fn)(void *, IUnknown *, const void *, void *, void **);

/* Makes the chain; the implementation's own calls in between are not the program's. */
#define CREATE(slot, type, ...)                                                                              \
    struct rec_thread *t = rec_enter();                                                                      \
    HRESULT hr;                                                                                              \
    if (!t)                                                                                                  \
        return ((type)orig(This, slot))(__VA_ARGS__);                                                        \
    t->depth++;                                                                                              \
    hr = ((type)orig(This, slot))(__VA_ARGS__);                                                              \
    t->depth--;                                                                                              \
    chain_made(t, hr, device, out);                                                                          \
    return hr

static HRESULT WINAPI factory_create(void *This, IUnknown *device, const void *desc, void **out)
{
    CREATE(FACTORY_CREATE, create_fn, This, device, desc, out);
}

static HRESULT WINAPI factory_create_hwnd(void *This, IUnknown *device, HWND window, const void *desc,
                                          const void *full, void *output, void **out)
{
    CREATE(FACTORY_CREATE_HWND, create_hwnd_fn, This, device, window, desc, full, output, out);
}

static HRESULT WINAPI factory_create_core(void *This, IUnknown *device, void *window, const void *desc,
                                          void *output, void **out)
{
    CREATE(FACTORY_CREATE_CORE, create_core_fn, This, device, window, desc, output, out);
}

static HRESULT WINAPI factory_create_composition(void *This, IUnknown *device, const void *desc, void *output,
                                                 void **out)
{
    CREATE(FACTORY_CREATE_COMPOSITION, create_composition_fn, This, device, desc, output, out);
}

void dxgi_factory_seen(void *factory)
{
    struct rec_thread *t = rec_enter();

    if (t)
        t->depth++;
    pthread_mutex_lock(&lock);
    patch(factory, FACTORY_CREATE, (void *)factory_create);
    if (offers(factory, &iid_factory2)) {
        patch(factory, FACTORY_CREATE_HWND, (void *)factory_create_hwnd);
        patch(factory, FACTORY_CREATE_CORE, (void *)factory_create_core);
        patch(factory, FACTORY_CREATE_COMPOSITION, (void *)factory_create_composition);
    }
    pthread_mutex_unlock(&lock);
    if (t)
        t->depth--;
}
