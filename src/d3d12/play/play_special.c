/* SPDX-License-Identifier: MIT */
/* play_special.c: the calls that mean something else when they are made again: references, memory, handles, fences,
 * events, devices, presents. */
#include <errno.h>
#include <stdio.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/log.h"
#include "d3d12/play/play_internal.h"
#include "d3d12_args.h"

#define MAX_EVENTS (1u << 20)

static struct play_object *self_object(struct player *p, const struct play_call *c)
{
    return play_object(p, c->call->self);
}

/* ---- references ---------------------------------------------------------- */

int play_special_IUnknown_QueryInterface(struct player *p, const struct play_call *c,
                                         struct args_IUnknown_QueryInterface *a)
{
    IUnknown *This = play_this(p, c, D12_IFACE_IUnknown, D12_SLOT_IUnknown_QueryInterface);
    void *out = NULL;
    HRESULT hr;

    if (!This)
        return p->error.code;
    hr = This->lpVtbl->QueryInterface(This, &a->riid, &out);
    if (SUCCEEDED(hr))
        play_new_object(p, c, a->ppvObject, out, &a->riid, D12_IFACE_IUnknown);
    return play_compare(p, c, a->ret, hr);
}

int play_special_IUnknown_AddRef(struct player *p, const struct play_call *c, struct args_IUnknown_AddRef *a)
{
    IUnknown *This = play_this(p, c, D12_IFACE_IUnknown, D12_SLOT_IUnknown_AddRef);

    if (!This)
        return p->error.code;
    This->lpVtbl->AddRef(This);
    return 0;
}

int play_special_IUnknown_Release(struct player *p, const struct play_call *c,
                                  struct args_IUnknown_Release *a)
{
    IUnknown *This = play_this(p, c, D12_IFACE_IUnknown, D12_SLOT_IUnknown_Release);
    struct play_object *o = self_object(p, c);

    if (!This)
        return p->error.code;
    if (!This->lpVtbl->Release(This)) {
        o->ptr = NULL;
        o->gone = true;
    }
    return 0;
}

/* An interface among private data is a reference, and so is each answer that holds it. */
int play_special_ID3D12Object_SetPrivateDataInterface(struct player *p, const struct play_call *c,
                                                      struct args_ID3D12Object_SetPrivateDataInterface *a)
{
    ID3D12Object *This =
        play_this(p, c, D12_IFACE_ID3D12Object, D12_SLOT_ID3D12Object_SetPrivateDataInterface);

    if (!This)
        return p->error.code;
    This->lpVtbl->SetPrivateDataInterface(This, &a->guid, a->pData);
    return 0;
}

int play_special_ID3D12Object_GetPrivateData(struct player *p, const struct play_call *c,
                                             struct args_ID3D12Object_GetPrivateData *a)
{
    ID3D12Object *This = play_this(p, c, D12_IFACE_ID3D12Object, D12_SLOT_ID3D12Object_GetPrivateData);
    UINT size = a->pDataSize ? *a->pDataSize : 0;
    void *data;

    if (!This)
        return p->error.code;
    if (!a->pData || !size || size > 1 << 20 || !(data = malloc(size + sizeof(data))))
        return 0;
    if (FAILED(This->lpVtbl->GetPrivateData(This, &a->guid, &size, data)) && SUCCEEDED(a->ret)) {
        size = sizeof(data); /* the recorded program's pointers are smaller */
        This->lpVtbl->GetPrivateData(This, &a->guid, &size, data);
    }
    free(data);
    return 0;
}

/* ---- memory -------------------------------------------------------------- */

static uint64_t buffer_size(ID3D12Resource *r)
{
    D3D12_RESOURCE_DESC d = {0};

    r->lpVtbl->GetDesc(r, &d);
    return d.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER ? d.Width : 0;
}

int play_special_ID3D12Device_CreateCommittedResource(struct player *p, const struct play_call *c,
                                                      struct args_ID3D12Device_CreateCommittedResource *a)
{
    ID3D12Device *This =
        play_this(p, c, D12_IFACE_ID3D12Device, D12_SLOT_ID3D12Device_CreateCommittedResource);
    ID3D12Resource *r = NULL;
    HRESULT hr;
    void *m;

    if (!This)
        return p->error.code;
    play_adjust_pool(This, a->pHeapProperties);
    hr = This->lpVtbl->CreateCommittedResource(This, a->pHeapProperties, a->HeapFlags, a->pDesc,
                                               a->InitialResourceState, a->pOptimizedClearValue,
                                               &a->riidResource, (void **)&r);
    if (SUCCEEDED(hr) && r && a->pHeapProperties->Type == D3D12_HEAP_TYPE_READBACK &&
        a->pDesc->Dimension == D3D12_RESOURCE_DIMENSION_BUFFER && SUCCEEDED(r->lpVtbl->Map(r, 0, NULL, &m))) {
        memset(m, 0, a->pDesc->Width); /* as the recorder did */
        r->lpVtbl->Unmap(r, 0, NULL);
    }
    play_new_object(p, c, a->ppvResource, r, &a->riidResource, D12_IFACE_ID3D12Resource);
    return play_compare(p, c, a->ret, hr);
}

int play_special_ID3D12Resource_Map(struct player *p, const struct play_call *c,
                                    struct args_ID3D12Resource_Map *a)
{
    ID3D12Resource *This = play_this(p, c, D12_IFACE_ID3D12Resource, D12_SLOT_ID3D12Resource_Map);
    struct play_object *o = self_object(p, c);
    void *data = NULL;
    HRESULT hr;

    if (!This)
        return p->error.code;
    hr = This->lpVtbl->Map(This, a->Subresource, a->pReadRange, a->ppData ? &data : NULL);
    if (SUCCEEDED(hr)) {
        o->maps++;
        o->mapped |= UINT64_C(1) << a->Subresource % 64;
        if (data) {
            o->map = data;
            o->size = buffer_size(This);
        }
    }
    return play_compare(p, c, a->ret, hr);
}

int play_special_ID3D12Resource_Unmap(struct player *p, const struct play_call *c,
                                      struct args_ID3D12Resource_Unmap *a)
{
    ID3D12Resource *This = play_this(p, c, D12_IFACE_ID3D12Resource, D12_SLOT_ID3D12Resource_Unmap);
    struct play_object *o = self_object(p, c);

    if (!This)
        return p->error.code;
    This->lpVtbl->Unmap(This, a->Subresource, a->pWrittenRange);
    if (o->mapped >> a->Subresource % 64 & 1 && !--o->maps) {
        o->map = NULL;
        o->mapped = 0;
    }
    return 0;
}

int play_special_Native_MemoryWrite(struct player *p, const struct play_call *c,
                                    struct args_Native_MemoryWrite *a)
{
    struct bytes in = bytes_of(c->call->args, c->call->size);
    uint32_t id = (uint32_t)bytes_varint(&in);
    struct play_object *o = play_object(p, id);
    struct plan_patch *patch;

    if (!o || !o->map)
        return play_fail(p, c, -EBADMSG, "it writes to memory that is not mapped");
    if (!a->pData || a->Offset > o->size || a->Size > o->size - a->Offset)
        return play_fail(p, c, -EBADMSG, "it writes %llu bytes at %llu of a buffer of %llu",
                         (unsigned long long)a->Size, (unsigned long long)a->Offset,
                         (unsigned long long)o->size);
    patch = plan_patch(&p->plan, id);
    if (patch)
        plan_write(&p->plan, patch, o->map, o->size, a->Offset, a->pData, a->Size);
    else
        memcpy(o->map + a->Offset, a->pData, a->Size);
    return 0;
}

int play_special_Native_ReadbackHash(struct player *p, const struct play_call *c,
                                     struct args_Native_ReadbackHash *a)
{
    struct bytes in = bytes_of(c->call->args, c->call->size);
    uint32_t id = (uint32_t)bytes_varint(&in);
    struct play_object *o = play_object(p, id);
    uint64_t hash;

    if (!p->params->validate && !p->params->hashes)
        return 0;
    if (!o || !o->map || a->Offset > o->size || a->Size > o->size - a->Offset)
        return play_fail(p, c, -EBADMSG, "it hashes memory that is not mapped");
    if (o->times) {
        p->result->reads_of_times++;
        return 0;
    }
    hash = XXH3_64bits(o->map + a->Offset, a->Size);
    if (p->params->hashes)
        printf("read %llu %u %016llx\n", (unsigned long long)c->call->index, id, (unsigned long long)hash);
    if (hash == a->Hash) {
        p->result->reads_same++;
        return 0;
    }
    log_info("d3d12", "call %llu: %llu bytes read back differ", (unsigned long long)c->call->index,
             (unsigned long long)a->Size);
    if (!p->result->reads_different++)
        p->result->first_read_call = c->call->index;
    return 0;
}

int play_special_Native_ContentsHash(struct player *p, const struct play_call *c,
                                     struct args_Native_ContentsHash *a)
{
    struct bytes in = bytes_of(c->call->args, c->call->size);
    uint32_t id = (uint32_t)bytes_varint(&in);
    struct play_object *o = play_object(p, id);
    struct error e = {0};
    struct play_image i;
    uint64_t hash;

    if (!p->params->validate && !p->params->hashes)
        return 0;
    if (!o || !o->ptr)
        return play_fail(p, c, -EBADMSG, "it hashes resource %u, which does not exist", id);
    if (o->times) {
        p->result->reads_of_times++;
        return 0;
    }
    if (play_idle(p, &e) || play_read(p, NULL, o->ptr, a->Subresource, a->State, &i, &e))
        return play_fail(p, c, e.code, "%s", e.text);
    hash = XXH3_64bits(i.bytes, i.size);
    free(i.bytes);
    if (p->params->hashes)
        printf("read %llu %u %016llx\n", (unsigned long long)c->call->index, id, (unsigned long long)hash);
    if (hash == a->Hash)
        p->result->written_same++;
    else if (!p->result->written_different++)
        p->result->first_written_call = c->call->index;
    return 0;
}

void play_adjust_ID3D12GraphicsCommandList_ResolveQueryData(
    struct player *p, const struct play_call *c, ID3D12GraphicsCommandList *This,
    struct args_ID3D12GraphicsCommandList_ResolveQueryData *a)
{
    struct bytes in = bytes_of(c->call->args, c->call->size);
    struct play_object *o;

    for (int i = 0; i < 4; i++) /* in front of the buffer's number */
        bytes_varint(&in);
    o = play_object(p, (uint32_t)bytes_varint(&in));
    if (o && a->Type == D3D12_QUERY_TYPE_TIMESTAMP)
        o->times = true;
}

int play_special_ID3D12Resource_WriteToSubresource(struct player *p, const struct play_call *c,
                                                   struct args_ID3D12Resource_WriteToSubresource *a)
{
    ID3D12Resource *This =
        play_this(p, c, D12_IFACE_ID3D12Resource, D12_SLOT_ID3D12Resource_WriteToSubresource);
    D3D12_RESOURCE_DESC desc = {0};
    uint64_t rows, slices;
    unsigned mip;
    HRESULT hr;

    if (!This)
        return p->error.code;
    This->lpVtbl->GetDesc(This, &desc);
    mip = desc.MipLevels ? a->DstSubresource % desc.MipLevels : 0;
    rows = a->pDstBox ? a->pDstBox->bottom - a->pDstBox->top : (desc.Height >> mip ? desc.Height >> mip : 1);
    slices = a->pDstBox ? a->pDstBox->back - a->pDstBox->front : 1;
    if (a->pDstBox && (a->pDstBox->right <= a->pDstBox->left || a->pDstBox->bottom <= a->pDstBox->top ||
                       a->pDstBox->back <= a->pDstBox->front)) /* an empty box reads nothing */
        rows = slices = 0;
    if (a->n_pSrcData < (slices > 1 ? (slices - 1) * a->SrcDepthPitch : 0) + rows * a->SrcRowPitch)
        return play_fail(p, c, -EBADMSG, "its %zu bytes are fewer than the box needs", a->n_pSrcData);
    hr = This->lpVtbl->WriteToSubresource(This, a->DstSubresource, a->pDstBox, a->pSrcData, a->SrcRowPitch,
                                          a->SrcDepthPitch);
    return play_compare(p, c, a->ret, hr);
}

/* ---- handles and addresses ----------------------------------------------- */

int play_special_ID3D12Resource_GetGPUVirtualAddress(struct player *p, const struct play_call *c,
                                                     struct args_ID3D12Resource_GetGPUVirtualAddress *a)
{
    ID3D12Resource *This =
        play_this(p, c, D12_IFACE_ID3D12Resource, D12_SLOT_ID3D12Resource_GetGPUVirtualAddress);
    struct play_object *o, *other;
    struct bytes in;
    uint64_t id;

    if (!This)
        return p->error.code;
    o = self_object(p, c);
    o->va = This->lpVtbl->GetGPUVirtualAddress(This);
    if (!p->plan.num_patches || c->call->incomplete)
        return 0;
    /* the answer: the address itself, or another resource's (this one's, the second time) and what is added to it */
    in = bytes_of(c->call->args + c->call->args_size, c->call->size - c->call->args_size);
    id = bytes_varint(&in);
    if (id == 1)
        o->recorded_va = bytes_u64(&in);
    else if ((other = play_object(p, (uint32_t)id)) && other != o && other->recorded_va)
        o->recorded_va = other->recorded_va + bytes_varint(&in);
    if (o->recorded_va && o->va)
        plan_address_add(p, o->recorded_va, buffer_size(This), o->va);
    return 0;
}

static int heap_describe(struct player *p, const struct play_call *c, ID3D12DescriptorHeap *heap)
{
    struct play_object *o = self_object(p, c);
    D3D12_DESCRIPTOR_HEAP_DESC d = {0};
    ID3D12Device *device;

    if (o->step)
        return 0;
    heap->lpVtbl->GetDesc(heap, &d);
    if (FAILED(heap->lpVtbl->GetDevice(heap, (const IID *)&d12_ifaces[D12_IFACE_ID3D12Device].iid,
                                       (void **)&device)))
        return play_fail(p, c, -EIO, "the heap has no device");
    o->step = device->lpVtbl->GetDescriptorHandleIncrementSize(device, d.Type);
    o->size = d.NumDescriptors;
    device->lpVtbl->Release(device);
    return 0;
}

int play_special_ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart(
    struct player *p, const struct play_call *c,
    struct args_ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart *a)
{
    ID3D12DescriptorHeap *This = play_this(p, c, D12_IFACE_ID3D12DescriptorHeap,
                                           D12_SLOT_ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart);
    D3D12_CPU_DESCRIPTOR_HANDLE h = {0};

    if (!This)
        return p->error.code;
    This->lpVtbl->GetCPUDescriptorHandleForHeapStart(This, &h);
    self_object(p, c)->cpu = h.ptr;
    return heap_describe(p, c, This);
}

int play_special_ID3D12DescriptorHeap_GetGPUDescriptorHandleForHeapStart(
    struct player *p, const struct play_call *c,
    struct args_ID3D12DescriptorHeap_GetGPUDescriptorHandleForHeapStart *a)
{
    ID3D12DescriptorHeap *This = play_this(p, c, D12_IFACE_ID3D12DescriptorHeap,
                                           D12_SLOT_ID3D12DescriptorHeap_GetGPUDescriptorHandleForHeapStart);
    D3D12_GPU_DESCRIPTOR_HANDLE h = {0};

    if (!This)
        return p->error.code;
    This->lpVtbl->GetGPUDescriptorHandleForHeapStart(This, &h);
    self_object(p, c)->gpu = h.ptr;
    return heap_describe(p, c, This);
}

/* ---- events and fences --------------------------------------------------- */

static struct play_event *event_of(struct player *p, HANDLE number)
{
    uintptr_t n = (uintptr_t)number;

    if (!n || n >= MAX_EVENTS)
        return NULL;
    if (n >= p->num_events) {
        uint32_t num = p->num_events ? p->num_events : 64;
        struct play_event *e;

        while (num <= n)
            num *= 2;
        e = realloc(p->events, num * sizeof(*e));
        if (!e)
            return NULL;
        memset(e + p->num_events, 0, (num - p->num_events) * sizeof(*e));
        p->events = e;
        p->num_events = num;
    }
    if (!p->events[n].handle)
        p->events[n].handle = p->on->event_create();
    return p->events[n].handle ? &p->events[n] : NULL;
}

uint32_t play_timeout(const struct player *p)
{
    return p->params->timeout_ms ? p->params->timeout_ms : 10000;
}

bool play_wait_fence(struct player *p, ID3D12Fence *fence, uint64_t value)
{
    HANDLE e;
    bool got;

    if (fence->lpVtbl->GetCompletedValue(fence) >= value)
        return true;
    e = p->on->event_create();
    if (!e || FAILED(fence->lpVtbl->SetEventOnCompletion(fence, value, e)))
        return false;
    got = p->on->event_wait(e, play_timeout(p));
    if (got) /* else the fence still knows the event: it stays */
        p->on->event_destroy(e);
    else
        p->busy = true;
    return got;
}

void play_waits_for_ever(struct player *p, const struct play_call *c, uint32_t fence, uint64_t value)
{
    p->stuck.call = c->call->index;
    p->stuck.fence = fence;
    p->stuck.value = value;
}

int play_stuck(struct player *p, struct error *e)
{
    const struct play_object *o = play_object(p, p->stuck.fence);
    ID3D12Fence *fence = o && d12_iface_is(o->iface, D12_IFACE_ID3D12Fence) ? o->ptr : NULL;
    uint64_t at = fence ? fence->lpVtbl->GetCompletedValue(fence) : UINT64_MAX;

    if (at >= p->stuck.value)
        return 0;
    p->busy = true; /* the fence knows the event */
    return error_set(
        e, -ETIMEDOUT,
        "call %llu, which did not return, waits for fence %u to reach %llu: it is at %llu, and nothing is left "
        "that signals it",
        (unsigned long long)p->stuck.call, p->stuck.fence, (unsigned long long)p->stuck.value,
        (unsigned long long)at);
}

int play_special_Native_EventCreate(struct player *p, const struct play_call *c,
                                    struct args_Native_EventCreate *a)
{
    if (!a->hEvent || (uintptr_t)a->hEvent >= MAX_EVENTS)
        return play_fail(p, c, -EBADMSG, "event %p", a->hEvent);
    return event_of(p, a->hEvent) ? 0 : play_fail(p, c, -ENOMEM, "no memory for event %p", a->hEvent);
}

int play_special_Native_EventDestroy(struct player *p, const struct play_call *c,
                                     struct args_Native_EventDestroy *a)
{
    return 0; /* a fence may still hold it; events are few and die with the player */
}

int play_special_Native_EventSignal(struct player *p, const struct play_call *c,
                                    struct args_Native_EventSignal *a)
{
    struct play_event *e = event_of(p, a->hEvent);

    if (e)
        p->on->event_signal(e->handle);
    return 0;
}

int play_special_Native_EventWait(struct player *p, const struct play_call *c,
                                  struct args_Native_EventWait *a)
{
    struct play_event *e = event_of(p, a->hEvent);

    if (c->call->incomplete && a->Milliseconds == UINT32_MAX && e)
        play_waits_for_ever(p, c, e->fence, e->value);
    if (c->call->incomplete || a->ret) /* it never returned, or timed out */
        return 0;
    p->busy = !e || !p->on->event_wait(e->handle, play_timeout(p));
    if (p->busy)
        return play_fail(p, c, -ETIMEDOUT, "event %u is not signalled within %u ms",
                         (unsigned)(uintptr_t)a->hEvent, play_timeout(p));
    return 0;
}

int play_special_ID3D12Fence_SetEventOnCompletion(struct player *p, const struct play_call *c,
                                                  struct args_ID3D12Fence_SetEventOnCompletion *a)
{
    ID3D12Fence *This = play_this(p, c, D12_IFACE_ID3D12Fence, D12_SLOT_ID3D12Fence_SetEventOnCompletion);
    struct play_event *e = event_of(p, a->hEvent);

    if (!This)
        return p->error.code;
    if (e) {
        e->fence = c->call->self;
        e->value = a->Value;
        return play_compare(p, c, a->ret, This->lpVtbl->SetEventOnCompletion(This, a->Value, e->handle));
    }
    if (c->call->incomplete && !a->hEvent)
        play_waits_for_ever(p, c, c->call->self, a->Value);
    if (c->call->incomplete || play_wait_fence(p, This, a->Value)) /* no event: the call itself waits */
        return 0;
    return play_fail(p, c, -ETIMEDOUT, "the fence does not reach %llu within %u ms",
                     (unsigned long long)a->Value, play_timeout(p));
}

int play_special_ID3D12Device1_SetEventOnMultipleFenceCompletion(
    struct player *p, const struct play_call *c,
    struct args_ID3D12Device1_SetEventOnMultipleFenceCompletion *a)
{
    ID3D12Device1 *This =
        play_this(p, c, D12_IFACE_ID3D12Device1, D12_SLOT_ID3D12Device1_SetEventOnMultipleFenceCompletion);
    struct play_event *e = a->hEvent ? event_of(p, a->hEvent) : NULL;

    if (!This)
        return p->error.code;
    if (e)
        e->fence = 0; /* any of them may set it */
    return play_compare(p, c, a->ret,
                        This->lpVtbl->SetEventOnMultipleFenceCompletion(
                            This, (ID3D12Fence *const *)a->ppFences, a->pFenceValues, a->NumFences, a->Flags,
                            e ? e->handle : NULL));
}

/* The program saw this value: what it did next may rely on it. */
int play_special_ID3D12Fence_GetCompletedValue(struct player *p, const struct play_call *c,
                                               struct args_ID3D12Fence_GetCompletedValue *a)
{
    ID3D12Fence *This = play_this(p, c, D12_IFACE_ID3D12Fence, D12_SLOT_ID3D12Fence_GetCompletedValue);

    if (!This)
        return p->error.code;
    if (c->call->incomplete || a->ret == UINT64_MAX || play_wait_fence(p, This, a->ret))
        return 0;
    return play_fail(p, c, -ETIMEDOUT, "the fence does not reach %llu within %u ms",
                     (unsigned long long)a->ret, play_timeout(p));
}

/* ---- devices and presents ------------------------------------------------ */

int play_special_Native_CreateDevice(struct player *p, const struct play_call *c,
                                     struct args_Native_CreateDevice *a)
{
    struct error e = {0};
    void *out = NULL;
    HRESULT hr;

    if (FAILED(a->ret) || c->call->incomplete || !a->ppDevice)
        return 0;
    hr = p->on->create_device((D3D_FEATURE_LEVEL)a->FeatureLevel, &a->riid, &out, &e);
    if (e.code)
        return play_fail(p, c, e.code, "%s", e.text);
    play_new_object(p, c, a->ppDevice, out, &a->riid, D12_IFACE_ID3D12Device);
    return play_compare(p, c, a->ret, hr);
}

int play_special_Native_CreateImageResource(struct player *p, const struct play_call *c,
                                            struct args_Native_CreateImageResource *a)
{
    D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_DEFAULT};
    ID3D12Resource *r = NULL;
    D3D12_RESOURCE_DESC desc;
    HRESULT hr;

    if (FAILED(a->ret) || c->call->incomplete)
        return 0;
    if (!a->pDevice || !a->pDesc)
        return play_fail(p, c, -EBADMSG, "it has no device or no description");
    desc = *a->pDesc;
    desc.Flags |= D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET;
    hr = a->pDevice->lpVtbl->CreateCommittedResource(
        a->pDevice, &heap, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_PRESENT, NULL,
        (const IID *)&d12_ifaces[D12_IFACE_ID3D12Resource].iid, (void **)&r);
    play_new_object(p, c, a->ppResource, r, NULL, D12_IFACE_ID3D12Resource);
    return play_compare(p, c, a->ret, hr);
}

int play_special_Native_ResourceIncref(struct player *p, const struct play_call *c,
                                       struct args_Native_ResourceIncref *a)
{
    if (a->pResource)
        p->on->resource_incref(a->pResource);
    return 0;
}

int play_special_Native_ResourceDecref(struct player *p, const struct play_call *c,
                                       struct args_Native_ResourceDecref *a)
{
    struct bytes in = bytes_of(c->call->args, c->call->size);
    struct play_object *o = play_object(p, (uint32_t)bytes_varint(&in));

    if (a->pResource && !p->on->resource_decref(a->pResource) && o) {
        o->ptr = NULL;
        o->gone = true;
    }
    return 0;
}

int play_special_Native_Present(struct player *p, const struct play_call *c, struct args_Native_Present *a)
{
    const struct play_params *q = p->params;
    uint32_t frame = c->call->frame, slot = frame % API_HASHES;
    bool png = q->png_dir && frame >= q->png_first && frame <= q->png_last;
    struct error e = {0};
    char path[4096];
    uint32_t hash;

    p->result->frames++;
    if (!a->pBackBuffer || !a->pQueue || (!q->validate && !png && !q->hashes && !q->window))
        return 0;
    snprintf(path, sizeof(path), "%s/frame-%06u.png", q->png_dir ? q->png_dir : "", frame);
    if (play_picture(p, a->pQueue, a->pBackBuffer, &hash, png ? path : NULL, &e))
        return play_fail(p, c, e.code, "%s", e.text);
    if (q->hashes)
        printf("frame %llu %u %08x\n", (unsigned long long)c->call->index, frame, hash);
    p->hashes[slot].frame = frame;
    p->hashes[slot].hash = hash;
    p->hashes[slot].set = true;
    return 0;
}

int play_special_Native_FrameHash(struct player *p, const struct play_call *c,
                                  struct args_Native_FrameHash *a)
{
    uint32_t frame = c->call->frame - a->PresentsAgo, i = frame % API_HASHES;

    if (!p->params->validate || !p->hashes[i].set || p->hashes[i].frame != frame)
        return 0;
    if (p->hashes[i].hash == a->Hash) {
        p->result->frames_same++;
    } else if (!p->result->frames_different++) {
        p->result->first_different = frame;
    }
    return 0;
}

/* What a resource held when the recording was cut out of a longer one. */
int play_special_Native_Contents(struct player *p, const struct play_call *c, struct args_Native_Contents *a)
{
    struct bytes in = bytes_of(c->call->args, c->call->size);
    uint32_t id = (uint32_t)bytes_varint(&in);
    const struct res_info *r = res_get(&p->states, id);
    D3D12_RESOURCE_STATES before = D3D12_RESOURCE_STATE_COMMON;
    struct plan_patch *patch;
    struct error e = {0};
    uint8_t *bytes = NULL;

    if (!a->pResource || (!a->pData && a->Size))
        return play_fail(p, c, -EBADMSG, "it has no resource or no bytes");
    if (r && r->states && a->Subresource < r->num_subs)
        before = (D3D12_RESOURCE_STATES)r->states[a->Subresource];
    patch = plan_patch(&p->plan, id);
    if (patch && a->Size) {
        bytes = malloc(a->Size);
        if (!bytes)
            return play_fail(p, c, -ENOMEM, "out of memory");
        memcpy(bytes, a->pData, a->Size);
        plan_contents(&p->plan, patch, bytes, a->Size, false);
    }
    if (a->Size && play_write(p, a->pResource, a->Subresource, before, a->StateAfter,
                              bytes ? bytes : a->pData, a->Size, &e))
        play_fail(p, c, e.code, "%s", e.text);
    free(bytes);
    return p->error.code;
}

/* What play_plan.c read before playing began. */
int play_special_Native_PlacedSize(struct player *p, const struct play_call *c,
                                   struct args_Native_PlacedSize *a)
{
    return 0;
}

int play_special_Native_Note(struct player *p, const struct play_call *c, struct args_Native_Note *a)
{
    log_info("d3d12", "the recorder says: %s", a->Text ? a->Text : "");
    return 0;
}
