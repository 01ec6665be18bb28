/* SPDX-License-Identifier: MIT */
/* rec_hooks.c: the hooks of generated thunks (rec_hooks.h). */
#include "d3d12/record/rec_hooks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "d3d12/record/rec_values.h"
#include "d3d12/gen/table.h"

/* ---- references ---------------------------------------------------------- */

void rec_pre_IUnknown_Release(struct rec_thread *t, struct rec_object *o, IUnknown *This)
{
    ULONG refs;

    if (!o->extras)
        return;
    /* What is known about memory, handles and addresses must go before another thread can be given the same ones. */
    t->depth++;
    This->lpVtbl->AddRef(This);
    refs = This->lpVtbl->Release(This);
    t->depth--;
    if (refs != 1)
        return;
    if (o->extras & REC_HAS_MEMORY)
        rec_memory_release(t, o);
    if (o->extras & REC_HAS_RANGES)
        rec_range_drop(o->id);
    if (o->extras & REC_HAS_EVENTS)
        rec_fence_gone(This);
    if (o->extras & REC_HAS_CONTENTS)
        rec_contents_gone(t, o);
}

void rec_post_IUnknown_Release(struct rec_thread *t, struct rec_object *o, ULONG ret, IUnknown *This)
{
    if (!ret && o->id == t->self)
        atomic_store(&o->dead, true);
}

/* ---- memory -------------------------------------------------------------- */

/* What is mapped, and whether the GPU or the CPU writes to it. */
static bool describe(struct rec_thread *t, struct rec_object *o, struct rec_mapping *m)
{
    ID3D12Resource *r = o->ptr;
    D3D12_HEAP_PROPERTIES heap = {0};
    D3D12_RESOURCE_DESC desc = {0};
    HRESULT hr;

    t->depth++;
    r->lpVtbl->GetDesc(r, &desc);
    hr = r->lpVtbl->GetHeapProperties(r, &heap, NULL);
    t->depth--;
    if (desc.Dimension != D3D12_RESOURCE_DIMENSION_BUFFER) {
        rec_note(t, "resource %u is a mapped texture: what is written through the pointer is not recorded",
                 o->id);
        return false;
    }
    m->size = desc.Width;
    m->kind = FAILED(hr) || heap.Type == D3D12_HEAP_TYPE_UPLOAD ? REC_MEMORY_WRITTEN
              : heap.Type == D3D12_HEAP_TYPE_READBACK           ? REC_MEMORY_READ
                                                                : REC_MEMORY_SHARED;
    if (m->kind == REC_MEMORY_READ)
        rec_contents_unneeded();
    return true;
}

void rec_post_ID3D12Resource_Map(struct rec_thread *t, struct rec_object *o, HRESULT ret,
                                 ID3D12Resource *This, UINT sub, const D3D12_RANGE *range, void **data)
{
    struct rec_part part;

    rec_look(t);
    if (FAILED(ret) || !data || !*data)
        return;
    if (range)
        part = (struct rec_part){range->Begin, range->End};
    rec_memory_map(t, o, sub, *data, range ? &part : NULL, describe);
}

void rec_pre_ID3D12Resource_Unmap(struct rec_thread *t, struct rec_object *o, ID3D12Resource *This, UINT sub,
                                  const D3D12_RANGE *range)
{
    rec_look(t);
    rec_memory_unmap(t, o, sub);
}

void rec_pre_ID3D12CommandQueue_ExecuteCommandLists(struct rec_thread *t, struct rec_object *o,
                                                    ID3D12CommandQueue *This, UINT n,
                                                    ID3D12CommandList *const *lists)
{
    rec_look(t);
    rec_memory_scan(t);
    rec_contents_execute(o, n, lists);
}

void rec_pre_ID3D12Fence_Signal(struct rec_thread *t, struct rec_object *o, ID3D12Fence *This, UINT64 value)
{
    rec_look(t);
    rec_memory_scan(t);
}

void rec_pre_ID3D12Fence_SetEventOnCompletion(struct rec_thread *t, struct rec_object *o, ID3D12Fence *This,
                                              UINT64 value, HANDLE event)
{
    if (event && !rec_event_is_own(event))
        rec_fence_event(o, This, value, event);
}

void rec_pre_ID3D12CommandAllocator_Reset(struct rec_thread *t, struct rec_object *o,
                                          ID3D12CommandAllocator *This)
{
    rec_look(t);
}

void rec_pre_ID3D12CommandQueue_Signal(struct rec_thread *t, struct rec_object *o, ID3D12CommandQueue *This,
                                       ID3D12Fence *fence, UINT64 value)
{
    rec_contents_signal(This, fence, value);
}

void rec_pre_ID3D12GraphicsCommandList_Reset(struct rec_thread *t, struct rec_object *o,
                                             ID3D12GraphicsCommandList *This,
                                             ID3D12CommandAllocator *allocator, ID3D12PipelineState *state)
{
    rec_contents_begin(This);
}

void rec_pre_ID3D12GraphicsCommandList_ResourceBarrier(struct rec_thread *t, struct rec_object *o,
                                                       ID3D12GraphicsCommandList *This, UINT n,
                                                       const D3D12_RESOURCE_BARRIER *b)
{
    rec_contents_barriers(o, n, b);
}

void rec_post_ID3D12Fence_GetCompletedValue(struct rec_thread *t, struct rec_object *o, UINT64 ret,
                                            ID3D12Fence *This)
{
    rec_contents_look(t);
}

/* READBACK memory begins as zeroes on every implementation then, so that its hash can be compared when played. */
void rec_post_ID3D12Device_CreateCommittedResource(struct rec_thread *t, struct rec_object *o, HRESULT ret,
                                                   ID3D12Device *This, const D3D12_HEAP_PROPERTIES *heap,
                                                   D3D12_HEAP_FLAGS flags, const D3D12_RESOURCE_DESC *desc,
                                                   D3D12_RESOURCE_STATES state,
                                                   const D3D12_CLEAR_VALUE *clear, REFIID riid, void **out)
{
    ID3D12Resource *r;
    void *p;

    if (FAILED(ret) || !out || !*out || !heap || heap->Type != D3D12_HEAP_TYPE_READBACK ||
        desc->Dimension != D3D12_RESOURCE_DIMENSION_BUFFER)
        return;
    rec_contents_unlikely();
    r = *out;
    t->depth++;
    if (SUCCEEDED(r->lpVtbl->Map(r, 0, NULL, &p)) && p) {
        memset(p, 0, desc->Width);
        r->lpVtbl->Unmap(r, 0, NULL);
    }
    t->depth--;
}

/* ---- what the player must know before it begins -------------------------- */

/* How much room the resource needs here: another device may need more, and must know what shared memory. */
static void placed_size(struct rec_thread *t, ID3D12Device *device, const void *desc, HRESULT hr, void **out)
{
    D3D12_RESOURCE_ALLOCATION_INFO info = {0};

    if (FAILED(hr) || !out || !*out)
        return;
    t->depth++;
    device->lpVtbl->GetResourceAllocationInfo(device, &info, 0, 1, desc);
    t->depth--;
    rec_begin(t, NULL, D12_Native_PlacedSize, REC_MODE_TICKET);
    enc_object(&t->enc, *out);
    enc_u64(&t->enc, info.SizeInBytes);
    enc_u64(&t->enc, info.Alignment);
    rec_args_done(t, D12_Native_PlacedSize, REC_NO_ANSWER);
}

void rec_post_ID3D12Device_CreatePlacedResource(struct rec_thread *t, struct rec_object *o, HRESULT ret,
                                                ID3D12Device *This, ID3D12Heap *heap, UINT64 offset,
                                                const D3D12_RESOURCE_DESC *desc, D3D12_RESOURCE_STATES state,
                                                const D3D12_CLEAR_VALUE *clear, REFIID riid, void **out)
{
    placed_size(t, This, desc, ret, out);
}

/* A D3D12_RESOURCE_DESC1 begins as the older one does. */
void rec_post_ID3D12Device8_CreatePlacedResource1(struct rec_thread *t, struct rec_object *o, HRESULT ret,
                                                  ID3D12Device8 *This, ID3D12Heap *heap, UINT64 offset,
                                                  const D3D12_RESOURCE_DESC1 *desc,
                                                  D3D12_RESOURCE_STATES state, const D3D12_CLEAR_VALUE *clear,
                                                  REFIID riid, void **out)
{
    placed_size(t, (ID3D12Device *)This, desc, ret, out);
}

void rec_post_ID3D12Device10_CreatePlacedResource2(struct rec_thread *t, struct rec_object *o, HRESULT ret,
                                                   ID3D12Device10 *This, ID3D12Heap *heap, UINT64 offset,
                                                   const D3D12_RESOURCE_DESC1 *desc,
                                                   D3D12_BARRIER_LAYOUT layout,
                                                   const D3D12_CLEAR_VALUE *clear, UINT32 num_formats,
                                                   DXGI_FORMAT *formats, REFIID riid, void **out)
{
    placed_size(t, (ID3D12Device *)This, desc, ret, out);
}

void rec_post_ID3D12Device_CreateHeap(struct rec_thread *t, struct rec_object *o, HRESULT ret,
                                      ID3D12Device *This, const D3D12_HEAP_DESC *desc, REFIID riid,
                                      void **out)
{
    atomic_fetch_or(&rec_shm->features, TRC_HAS_HEAPS);
}

void rec_post_ID3D12Device4_CreateHeap1(struct rec_thread *t, struct rec_object *o, HRESULT ret,
                                        ID3D12Device4 *This, const D3D12_HEAP_DESC *desc,
                                        ID3D12ProtectedResourceSession *session, REFIID riid, void **out)
{
    atomic_fetch_or(&rec_shm->features, TRC_HAS_HEAPS);
}

void rec_post_ID3D12Device_CreateCommandSignature(struct rec_thread *t, struct rec_object *o, HRESULT ret,
                                                  ID3D12Device *This,
                                                  const D3D12_COMMAND_SIGNATURE_DESC *desc,
                                                  ID3D12RootSignature *root, REFIID riid, void **out)
{
    for (UINT i = 0; desc && i < desc->NumArgumentDescs; i++)
        switch (desc->pArgumentDescs[i].Type) {
        case D3D12_INDIRECT_ARGUMENT_TYPE_VERTEX_BUFFER_VIEW:
        case D3D12_INDIRECT_ARGUMENT_TYPE_INDEX_BUFFER_VIEW:
        case D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT_BUFFER_VIEW:
        case D3D12_INDIRECT_ARGUMENT_TYPE_SHADER_RESOURCE_VIEW:
        case D3D12_INDIRECT_ARGUMENT_TYPE_UNORDERED_ACCESS_VIEW:
            atomic_fetch_or(&rec_shm->features, TRC_HAS_ADDRESSES);
            break;
        default:
            break;
        }
}

size_t rec_subresource_bytes(void *resource, const D3D12_BOX *box, UINT row_pitch, UINT depth_pitch, UINT sub)
{
    ID3D12Resource *r = resource;
    D3D12_RESOURCE_DESC d = {0};
    uint64_t h, depth;
    unsigned mip;

    rec_self->depth++;
    r->lpVtbl->GetDesc(r, &d);
    rec_self->depth--;
    if (box && (box->right <= box->left || box->bottom <= box->top || box->back <= box->front))
        return 0; /* an empty box reads nothing */
    mip = d.MipLevels ? sub % d.MipLevels : 0;
    h = box ? box->bottom - box->top : (d.Height >> mip ? d.Height >> mip : 1);
    depth = box ? box->back - box->front
                : (d.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D && d.DepthOrArraySize >> mip
                       ? (uint64_t)d.DepthOrArraySize >> mip
                       : 1);
    /* Rows of block-compressed formats are four pixels high; without a table of formats the pitch bounds it. */
    return depth > 1 ? (size_t)(depth_pitch * (depth - 1) + (uint64_t)row_pitch * h)
                     : (size_t)((uint64_t)row_pitch * h);
}

/* ---- handles and addresses ----------------------------------------------- */

static void heap_span(struct rec_thread *t, struct rec_object *o, ID3D12DescriptorHeap *heap,
                      enum rec_range_kind k, uint64_t start)
{
    D3D12_DESCRIPTOR_HEAP_DESC d = {0};
    ID3D12Device *device;
    UINT step = 0;

    if (!start)
        return;
    t->depth++;
    heap->lpVtbl->GetDesc(heap, &d);
    if (SUCCEEDED(heap->lpVtbl->GetDevice(heap, (const IID *)&d12_ifaces[D12_IFACE_ID3D12Device].iid,
                                          (void **)&device))) {
        step = device->lpVtbl->GetDescriptorHandleIncrementSize(device, d.Type);
        device->lpVtbl->Release(device);
    }
    t->depth--;
    if (!step)
        return;
    rec_range_add(k, start, (uint64_t)d.NumDescriptors * step, o->id, step);
    o->extras |= REC_HAS_RANGES;
}

void rec_post_ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart(struct rec_thread *t,
                                                                      struct rec_object *o,
                                                                      D3D12_CPU_DESCRIPTOR_HANDLE *ret,
                                                                      ID3D12DescriptorHeap *This,
                                                                      D3D12_CPU_DESCRIPTOR_HANDLE *out)
{
    heap_span(t, o, This, REC_CPU, out->ptr);
}

void rec_post_ID3D12DescriptorHeap_GetGPUDescriptorHandleForHeapStart(struct rec_thread *t,
                                                                      struct rec_object *o,
                                                                      D3D12_GPU_DESCRIPTOR_HANDLE *ret,
                                                                      ID3D12DescriptorHeap *This,
                                                                      D3D12_GPU_DESCRIPTOR_HANDLE *out)
{
    heap_span(t, o, This, REC_GPU, out->ptr);
}

void rec_post_ID3D12Resource_GetGPUVirtualAddress(struct rec_thread *t, struct rec_object *o,
                                                  D3D12_GPU_VIRTUAL_ADDRESS ret, ID3D12Resource *This)
{
    D3D12_RESOURCE_DESC d = {0};

    if (!ret)
        return;
    t->depth++;
    This->lpVtbl->GetDesc(This, &d);
    t->depth--;
    rec_range_add(REC_VA, ret, d.Width ? d.Width : 1, o->id, 1);
    o->extras |= REC_HAS_RANGES;
}

void rec_stream_trouble(uint32_t type, size_t offset)
{
    struct rec_thread *t = rec_self;

    if (type != UINT32_MAX)
        snprintf(t->trouble, sizeof(t->trouble),
                 "pipeline stream: unknown subobject %u at offset %zu; it and what follows are not recorded",
                 type, offset);
    else
        snprintf(t->trouble, sizeof(t->trouble),
                 "pipeline stream: it ends inside the subobject at offset %zu", offset);
}

/* ---- events -------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    struct {
        HANDLE h;
        uint32_t number;
        bool own;
    } * e;
    size_t num, cap;
} events = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The place of an event, which it gets if it has none; -1 without memory. The lock is held. */
static ptrdiff_t event_at(HANDLE h)
{
    size_t i = 0;

    while (i < events.num && events.e[i].h != h)
        i++;
    if (i < events.num)
        return (ptrdiff_t)i;
    if (array_reserve(events.e, events.cap, events.num + 1))
        return -1;
    events.e[events.num].h = h;
    events.e[events.num].number = atomic_fetch_add(&rec_shm->events, 1) + 1;
    events.e[events.num].own = false;
    return (ptrdiff_t)events.num++;
}

uint64_t rec_event_number(HANDLE h)
{
    uint64_t number;
    ptrdiff_t i;

    pthread_mutex_lock(&events.lock);
    i = event_at(h);
    number = i < 0 ? 0 : events.e[i].number;
    pthread_mutex_unlock(&events.lock);
    return number;
}

void rec_event_own(HANDLE h)
{
    ptrdiff_t i;

    pthread_mutex_lock(&events.lock);
    i = event_at(h);
    if (i >= 0)
        events.e[i].own = true;
    pthread_mutex_unlock(&events.lock);
}

bool rec_event_is_own(HANDLE h)
{
    bool own = false;

    pthread_mutex_lock(&events.lock);
    for (size_t i = 0; i < events.num && !own; i++)
        own = events.e[i].h == h && events.e[i].own;
    pthread_mutex_unlock(&events.lock);
    return own;
}

void rec_event_forget(HANDLE h)
{
    pthread_mutex_lock(&events.lock);
    for (size_t i = 0; i < events.num; i++)
        if (events.e[i].h == h) {
            events.e[i] = events.e[--events.num];
            break;
        }
    pthread_mutex_unlock(&events.lock);
}

/* ---- state objects ------------------------------------------------------- */

/* An association points into the array that it stands in: recorded is the place there, since pointers mean nothing in a file. */
static __thread const D3D12_STATE_OBJECT_DESC *state_object;

uint32_t rec_state_subobject(const D3D12_STATE_SUBOBJECT *s)
{
    const D3D12_STATE_OBJECT_DESC *d = state_object;
    uintptr_t first = d ? (uintptr_t)d->pSubobjects : 0, at = (uintptr_t)s;

    return d && at >= first && (at - first) / sizeof(*s) < d->NumSubobjects
               ? (uint32_t)((at - first) / sizeof(*s))
               : UINT32_MAX;
}

void rec_pre_ID3D12Device5_CreateStateObject(struct rec_thread *t, struct rec_object *o, ID3D12Device5 *This,
                                             const D3D12_STATE_OBJECT_DESC *desc, REFIID riid, void **out)
{
    state_object = desc;
}

void rec_pre_ID3D12Device7_AddToStateObject(struct rec_thread *t, struct rec_object *o, ID3D12Device7 *This,
                                            const D3D12_STATE_OBJECT_DESC *desc, ID3D12StateObject *from,
                                            REFIID riid, void **out)
{
    state_object = desc;
}
