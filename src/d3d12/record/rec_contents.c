/* SPDX-License-Identifier: MIT */
/* rec_contents.c: hashes of what queues wrote (rec_contents.h).
 *
 * A program without pictures and without memory that it reads back leaves nothing that a player could compare. Its results are
 * in resources that only queues see. They are copied out and hashed where every queue is known to be idle: its last signal is there,
 * and nothing was submitted behind it. The player compares them as the same call comes (Native::ContentsHash).
 *
 * 1. What was written is what barriers say: a transition out of a state in which queues write, or a barrier of unordered access. The
 *    state of a subresource is the last one that executed lists left it in; where it is unknown nothing is hashed.
 * 2. While anything is copied no list is executed: the lock is held, and who submits waits for it.
 * 3. Copies are made by objects of their own, which live no longer than the look: a program that counts a device's references
 *    counts none of ours.
 * 4. It costs a share of the program's time at most, and nothing once the program has something else to compare.
 */
#include "d3d12/record/rec_contents.h"

#include <pthread.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "base/map.h"
#include "d3d12/gen/table.h"

#define MAX_SUBS   64                   /* of a texture; one with more is left out */
#define MAX_SIZE   (UINT64_C(64) << 20) /* bytes of a subresource */
#define SHARE      16                   /* of the program's time one part, and */
#define HEAD_START (250000000 / 1024)   /* a quarter of a second, in units of rec_now() */
#define UNKNOWN    UINT32_MAX           /* a state */
#define WRITABLE                                                                                             \
    (D3D12_RESOURCE_STATE_RENDER_TARGET | D3D12_RESOURCE_STATE_UNORDERED_ACCESS |                            \
     D3D12_RESOURCE_STATE_COPY_DEST | D3D12_RESOURCE_STATE_RESOLVE_DEST | D3D12_RESOURCE_STATE_STREAM_OUT)
#define IID_OF(name) ((const IID *)&d12_ifaces[D12_IFACE_##name].iid)

struct written { /* a resource that executed barriers name */
    ID3D12Resource *r;
    bool left_out, buffer;
    uint32_t subs;
    uint32_t states[MAX_SUBS];
    uint64_t dirty; /* a bit a subresource: written since it was last hashed */
};

struct list {
    const void *ptr;
    D3D12_RESOURCE_BARRIER *b;
    size_t num, room;
};

struct queue {
    const void *ptr;
    ID3D12Fence *fence; /* of its last signal; NULL: none, or gone after it was there */
    uint64_t value;
    bool busy; /* something was submitted behind that */
};

static struct {
    pthread_mutex_t lock;
    _Atomic bool unneeded, unlikely, dirty;
    struct map resources, lists; /* by address */
    struct queue *queues;
    size_t num_queues, room_queues;
    uint64_t spent; /* units of rec_now() */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

void rec_contents_unneeded(void)
{
    atomic_store_explicit(&all.unneeded, true, memory_order_relaxed);
}

void rec_contents_unlikely(void)
{
    atomic_store_explicit(&all.unlikely, true, memory_order_relaxed);
}

static bool unneeded(void)
{
    return !rec_shm->hash_every || atomic_load_explicit(&all.unneeded, memory_order_relaxed);
}

/* ---- what is written ----------------------------------------------------- */

/* The depth counts: none of these calls is the program's. */
static void describe(struct written *w, ID3D12Resource *r)
{
    D3D12_HEAP_PROPERTIES heap = {0};
    D3D12_RESOURCE_DESC d = {0};
    bool hidden;

    r->lpVtbl->GetDesc(r, &d);
    hidden = FAILED(r->lpVtbl->GetHeapProperties(r, &heap, NULL)) || heap.Type == D3D12_HEAP_TYPE_DEFAULT ||
             (heap.Type == D3D12_HEAP_TYPE_CUSTOM &&
              heap.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE);
    w->r = r;
    w->buffer = d.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER;
    w->subs = w->buffer ? 1
                        : (uint32_t)d.MipLevels *
                              (d.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D ? 1 : d.DepthOrArraySize);
    w->left_out = !hidden || !w->subs || w->subs > MAX_SUBS || d.SampleDesc.Count > 1 ||
                  d.Flags & D3D12_RESOURCE_FLAG_ALLOW_DEPTH_STENCIL;
    for (uint32_t i = 0; i < MAX_SUBS; i++)
        w->states[i] = w->buffer ? D3D12_RESOURCE_STATE_COMMON : UNKNOWN;
}

/* NULL without memory, or if the recorder does not know it. */
static struct written *written_of(ID3D12Resource *r)
{
    struct written *w = map_pointer(&all.resources, (uintptr_t)r);
    struct rec_object *o;
    uint64_t *slot;

    if (w || !r)
        return w;
    o = rec_object_find(r);
    w = o ? calloc(1, sizeof(*w)) : NULL;
    slot = w ? map_put(&all.resources, (uintptr_t)r) : NULL;
    if (!slot) {
        free(w);
        return NULL;
    }
    *slot = (uintptr_t)w;
    describe(w, r);
    o->extras |= REC_HAS_CONTENTS;
    return w;
}

/* A barrier takes effect. */
static void passed(const D3D12_RESOURCE_BARRIER *b)
{
    bool move = b->Type == D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
    struct written *w = written_of(move ? b->Transition.pResource : b->UAV.pResource);
    uint32_t sub = move ? b->Transition.Subresource : D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES;

    if (!w || w->left_out)
        return;
    for (uint32_t i = 0; i < w->subs; i++) {
        if (sub != i && sub != D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES)
            continue;
        if (!move || b->Transition.StateBefore & WRITABLE)
            w->dirty |= UINT64_C(1) << i;
        if (move && !w->buffer)
            w->states[i] = b->Transition.StateAfter;
    }
}

void rec_contents_barriers(struct rec_object *list, UINT n, const D3D12_RESOURCE_BARRIER *b)
{
    struct list *l;
    uint64_t *slot;

    if (unneeded() || !b)
        return;
    pthread_mutex_lock(&all.lock);
    l = map_pointer(&all.lists, (uintptr_t)list->ptr);
    if (!l && (l = calloc(1, sizeof(*l)))) {
        slot = map_put(&all.lists, (uintptr_t)list->ptr);
        if (slot) {
            l->ptr = list->ptr;
            *slot = (uintptr_t)l;
            list->extras |= REC_HAS_CONTENTS;
        } else {
            free(l);
            l = NULL;
        }
    }
    for (UINT i = 0; l && i < n; i++)
        if ((b[i].Type == D3D12_RESOURCE_BARRIER_TYPE_TRANSITION ||
             b[i].Type == D3D12_RESOURCE_BARRIER_TYPE_UAV) &&
            b[i].Flags != D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY && !array_reserve(l->b, l->room, l->num + 1))
            l->b[l->num++] = b[i];
    pthread_mutex_unlock(&all.lock);
}

void rec_contents_begin(const void *list)
{
    struct list *l;

    if (unneeded())
        return;
    pthread_mutex_lock(&all.lock);
    l = map_pointer(&all.lists, (uintptr_t)list);
    if (l)
        l->num = 0;
    pthread_mutex_unlock(&all.lock);
}

/* ---- queues -------------------------------------------------------------- */

static struct queue *queue_of(const void *ptr)
{
    for (size_t i = 0; i < all.num_queues; i++)
        if (all.queues[i].ptr == ptr)
            return &all.queues[i];
    return NULL;
}

void rec_contents_execute(struct rec_object *o, UINT n, ID3D12CommandList *const *lists)
{
    struct rec_thread *t = rec_self;
    struct queue *q;

    if (unneeded())
        return;
    pthread_mutex_lock(&all.lock);
    t->depth++;
    q = queue_of(o->ptr);
    if (!q && !array_reserve(all.queues, all.room_queues, all.num_queues + 1)) {
        q = &all.queues[all.num_queues++];
        *q = (struct queue){.ptr = o->ptr};
        o->extras |= REC_HAS_CONTENTS;
    }
    if (q)
        q->busy = true;
    else
        rec_contents_unneeded(); /* without memory it cannot be known when all are idle */
    for (UINT i = 0; lists && i < n; i++) {
        const struct list *l = map_pointer(&all.lists, (uintptr_t)lists[i]);

        for (size_t k = 0; l && k < l->num; k++)
            passed(&l->b[k]);
    }
    atomic_store(&all.dirty, true);
    t->depth--;
    pthread_mutex_unlock(&all.lock);
}

void rec_contents_signal(const void *queue, ID3D12Fence *fence, uint64_t value)
{
    struct rec_object *o;
    struct queue *q;

    if (unneeded())
        return;
    pthread_mutex_lock(&all.lock);
    q = queue_of(queue);
    o = q ? rec_object_find(fence) : NULL;
    if (o) {
        o->extras |= REC_HAS_CONTENTS;
        q->fence = fence;
        q->value = value;
        q->busy = false;
    }
    pthread_mutex_unlock(&all.lock);
}

static bool queue_idle(struct queue *q)
{
    if (!q->busy && q->fence && q->fence->lpVtbl->GetCompletedValue(q->fence) >= q->value)
        q->fence = NULL;
    return !q->busy && !q->fence;
}

static bool idle(void)
{
    bool all_are = true;

    for (size_t i = 0; i < all.num_queues && all_are; i++)
        all_are = queue_idle(&all.queues[i]);
    return all_are;
}

/* ---- looking ------------------------------------------------------------- */

struct reader {
    ID3D12Device *device;
    ID3D12CommandQueue *queue;
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *list;
    ID3D12Fence *fence;
    uint64_t value;
};

static void release(void *p)
{
    if (p)
        ((IUnknown *)p)->lpVtbl->Release(p);
}

static void reader_finish(struct reader *x)
{
    release(x->fence);
    release(x->list);
    release(x->allocator);
    release(x->queue);
    release(x->device);
    *x = (struct reader){0};
}

/* For the device of `r`. */
static bool reader_for(struct reader *x, ID3D12Resource *r)
{
    const D3D12_COMMAND_QUEUE_DESC qd = {.Type = D3D12_COMMAND_LIST_TYPE_DIRECT};
    ID3D12Device *d = NULL;

    if (FAILED(r->lpVtbl->GetDevice(r, IID_OF(ID3D12Device), (void **)&d)))
        return false;
    if (d == x->device) {
        release(d);
        return x->fence;
    }
    reader_finish(x);
    x->device = d;
    return SUCCEEDED(d->lpVtbl->CreateCommandQueue(d, &qd, IID_OF(ID3D12CommandQueue), (void **)&x->queue)) &&
           SUCCEEDED(d->lpVtbl->CreateCommandAllocator(d, qd.Type, IID_OF(ID3D12CommandAllocator),
                                                       (void **)&x->allocator)) &&
           SUCCEEDED(d->lpVtbl->CreateCommandList(d, 0, qd.Type, x->allocator, NULL,
                                                  IID_OF(ID3D12GraphicsCommandList), (void **)&x->list)) &&
           SUCCEEDED(x->list->lpVtbl->Close(x->list)) &&
           SUCCEEDED(
               d->lpVtbl->CreateFence(d, 0, D3D12_FENCE_FLAG_NONE, IID_OF(ID3D12Fence), (void **)&x->fence));
}

struct layout { /* of a subresource in a buffer */
    D3D12_PLACED_SUBRESOURCE_FOOTPRINT at;
    UINT rows;
    uint64_t row, total;
};

static void record_copy(struct reader *x, const struct written *w, uint32_t sub, ID3D12Resource *buffer,
                        const struct layout *l)
{
    const D3D12_TEXTURE_COPY_LOCATION to = {
        .pResource = buffer, .Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT, .PlacedFootprint = l->at};
    const D3D12_TEXTURE_COPY_LOCATION from = {
        .pResource = w->r, .Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX, .SubresourceIndex = sub};
    D3D12_RESOURCE_BARRIER b = {.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION,
                                .Transition = {w->r, sub, w->states[sub], D3D12_RESOURCE_STATE_COPY_SOURCE}};
    bool move = w->states[sub] != D3D12_RESOURCE_STATE_COPY_SOURCE;

    if (move)
        x->list->lpVtbl->ResourceBarrier(x->list, 1, &b);
    if (w->buffer)
        x->list->lpVtbl->CopyBufferRegion(x->list, buffer, 0, w->r, 0, l->total);
    else
        x->list->lpVtbl->CopyTextureRegion(x->list, &to, 0, 0, 0, &from, NULL);
    b.Transition.StateBefore = D3D12_RESOURCE_STATE_COPY_SOURCE;
    b.Transition.StateAfter = w->states[sub];
    if (move)
        x->list->lpVtbl->ResourceBarrier(x->list, 1, &b);
}

static bool wait_for(const struct reader *x)
{
    static _Atomic uint32_t nobody;

    for (int i = 0; i < 5000 && x->fence->lpVtbl->GetCompletedValue(x->fence) < x->value; i++)
        os_wait(&nobody, i < 50, false); /* 50 times not at all, then 20 ms each */
    return x->fence->lpVtbl->GetCompletedValue(x->fence) >= x->value;
}

/* Rows without what lies between them, as the player reads them. */
static bool hash_rows(ID3D12Resource *buffer, const struct layout *l, uint64_t *hash)
{
    XXH3_state_t *s = XXH3_createState();
    const uint8_t *p;

    if (!s || XXH3_64bits_reset(s) == XXH_ERROR ||
        FAILED(buffer->lpVtbl->Map(buffer, 0, NULL, (void **)&p))) {
        XXH3_freeState(s);
        return false;
    }
    for (uint64_t y = 0; y < (uint64_t)l->rows * l->at.Footprint.Depth; y++)
        XXH3_64bits_update(s, p + l->at.Offset + y * l->at.Footprint.RowPitch, l->row);
    *hash = XXH3_64bits_digest(s);
    XXH3_freeState(s);
    buffer->lpVtbl->Unmap(buffer, 0, &(D3D12_RANGE){0});
    return true;
}

static bool hash_sub(struct reader *x, const struct written *w, uint32_t sub, uint64_t *hash)
{
    const D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_READBACK};
    D3D12_RESOURCE_DESC d = {0}, bd = {.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER,
                                       .Height = 1,
                                       .DepthOrArraySize = 1,
                                       .MipLevels = 1,
                                       .SampleDesc = {1, 0},
                                       .Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR};
    struct layout l = {.rows = 1};
    ID3D12Resource *buffer = NULL;
    bool ok;

    w->r->lpVtbl->GetDesc(w->r, &d);
    if (w->buffer) {
        l.total = l.row = d.Width;
        l.at.Footprint.Depth = 1;
    } else {
        x->device->lpVtbl->GetCopyableFootprints(x->device, &d, sub, 1, 0, &l.at, &l.rows, &l.row, &l.total);
    }
    bd.Width = l.total;
    if (!l.total || l.total > MAX_SIZE ||
        FAILED(x->device->lpVtbl->CreateCommittedResource(x->device, &heap, D3D12_HEAP_FLAG_NONE, &bd,
                                                          D3D12_RESOURCE_STATE_COPY_DEST, NULL,
                                                          IID_OF(ID3D12Resource), (void **)&buffer)))
        return false;
    ok = SUCCEEDED(x->allocator->lpVtbl->Reset(x->allocator)) &&
         SUCCEEDED(x->list->lpVtbl->Reset(x->list, x->allocator, NULL));
    if (ok) {
        record_copy(x, w, sub, buffer, &l);
        ok = SUCCEEDED(x->list->lpVtbl->Close(x->list));
    }
    if (ok) {
        x->queue->lpVtbl->ExecuteCommandLists(x->queue, 1, (ID3D12CommandList *const *)&x->list);
        ok = SUCCEEDED(x->queue->lpVtbl->Signal(x->queue, x->fence, ++x->value)) && wait_for(x) &&
             hash_rows(buffer, &l, hash);
    }
    release(buffer);
    return ok;
}

static void write_hash(struct rec_thread *t, const struct written *w, uint32_t sub, uint64_t hash)
{
    rec_begin(t, NULL, D12_Native_ContentsHash, REC_MODE_TICKET);
    enc_object(&t->enc, w->r);
    enc_u32(&t->enc, sub);
    enc_u32(&t->enc, w->states[sub]);
    enc_u64(&t->enc, hash);
    rec_args_done(t, D12_Native_ContentsHash, REC_NO_ANSWER);
}

static bool time_left(uint64_t since)
{
    uint64_t now = rec_now();

    return all.spent + (now - since) < HEAD_START + now / SHARE;
}

static void hash_written(struct rec_thread *t, struct reader *x, struct written *w, uint64_t since)
{
    for (uint32_t sub = 0; w->dirty && sub < w->subs && time_left(since); sub++) {
        uint64_t hash;
        bool ok;

        if (!(w->dirty >> sub & 1) || w->states[sub] == UNKNOWN)
            continue;
        w->dirty &= ~(UINT64_C(1) << sub);
        t->depth++;
        ok = reader_for(x, w->r) && hash_sub(x, w, sub, &hash);
        t->depth--;
        if (ok)
            write_hash(t, w, sub, hash);
    }
}

/* `only`: this one alone; NULL: all. */
static void look(struct rec_thread *t, struct written *only)
{
    uint64_t since = rec_now();
    struct reader x = {0};
    struct map_slot s;
    size_t at = 0;
    bool quiet;

    t->depth++;
    quiet = idle();
    t->depth--;
    if (!quiet)
        return;
    if (only) {
        hash_written(t, &x, only, since);
    } else {
        atomic_store(&all.dirty, false);
        while (map_next(&all.resources, &at, &s))
            hash_written(t, &x, (struct written *)(uintptr_t)s.value, since);
    }
    t->depth++;
    reader_finish(&x);
    t->depth--;
    all.spent += rec_now() - since;
}

void rec_contents_look(struct rec_thread *t)
{
    if (unneeded() || atomic_load_explicit(&all.unlikely, memory_order_relaxed) ||
        !atomic_load_explicit(&all.dirty, memory_order_relaxed))
        return;
    pthread_mutex_lock(&all.lock);
    look(t, NULL);
    pthread_mutex_unlock(&all.lock);
}

void rec_contents_gone(struct rec_thread *t, struct rec_object *o)
{
    struct written *w;
    struct queue *q;
    struct list *l;

    pthread_mutex_lock(&all.lock);
    if ((w = map_pointer(&all.resources, (uintptr_t)o->ptr))) {
        if (!unneeded())
            look(t, w);
        map_remove(&all.resources, (uintptr_t)o->ptr);
        free(w);
    }
    if ((l = map_pointer(&all.lists, (uintptr_t)o->ptr))) {
        map_remove(&all.lists, (uintptr_t)o->ptr);
        free(l->b);
        free(l);
    }
    t->depth++;
    if ((q = queue_of(o->ptr))) { /* a device that lost work is not idle without it */
        if (queue_idle(q))
            *q = all.queues[--all.num_queues];
        else
            rec_contents_unneeded();
    }
    for (size_t i = 0; i < all.num_queues; i++)
        if (all.queues[i].fence == (ID3D12Fence *)o->ptr && !queue_idle(&all.queues[i])) {
            all.queues[i].fence = NULL; /* that it is done cannot be seen until it signals another one */
            all.queues[i].busy = true;
        }
    t->depth--;
    pthread_mutex_unlock(&all.lock);
}
