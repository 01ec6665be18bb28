/* SPDX-License-Identifier: MIT */
/* workload: Direct3D 12 programs without a window, for trying the recorder on. usage: workload NAME
 *
 * Each reads back what it made and prints a checksum, so that a recorded run can be compared with a plain one.
 *
 *   views     volumes, typeless and packed targets cleared through views
 *   clears    render target arrays and mips cleared, copied and read back, with names and private data
 *   maps      persistent maps, nested Map counts, small buffers that share pages, a buffer freed while mapped
 *   reused    upload buffers made, mapped once and freed, again and again
 *   placed    upload buffers placed over the same heap bytes
 *   threads   four threads record lists, one submits; descriptors copied across heaps
 *   events    one event for many fences, SetEventOnCompletion after the fact, two queues that wait for each other
 *   signals   events that the program's own function sets, and its own way of waiting for them
 *   devices   two devices at work in turns
 *   gated     memory written after the submission that reads it, let go by a CPU signal
 *   killed    dies of SIGKILL in the middle of recording a list
 *   waits     works for a while, then waits for a value of its fence that nobody signals, and is ended by a signal
 *   waiter    the same in a thread, while the program goes on and ends
 *   crash     works for a while, then names no source for a copy, which the implementation does not survive
 *   scene     draws through root views at an offset from a buffer's address and by ExecuteIndirect; vertices read from a file
 *             straight into mapped memory; a texture uploaded from rows that lie further apart than they must
 *   stream    the same with a pipeline from a stream of subobjects (exit code 77 where there is no ID3D12Device2)
 *   unread    the same as `scene`, and nothing is read back: what was drawn is only where queues wrote it
 *   pixels    fifty draws of which each can reach one pixel, another for each; their list is executed twice
 *   black     a triangle, again and again with another thing wrong by which it is not seen; nothing is executed
 *   queries   a query heap resolved into a buffer
 */
#define INITGUID
#include "workload.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

static uint64_t checksum = 14695981039346656037u;

void mix(const void *p, size_t n)
{
    for (const uint8_t *b = p, *end = b + n; b < end; b++)
        checksum = (checksum ^ *b) * 1099511628211u;
}

/* All that a program needs of its device. */
void gpu_begin(struct gpu *g)
{
    D3D12_COMMAND_QUEUE_DESC q = {.Type = D3D12_COMMAND_LIST_TYPE_DIRECT};

    CHECK(ID3D12Device_CreateCommandQueue(g->device, &q, &IID_ID3D12CommandQueue, (void **)&g->queue));
    CHECK(ID3D12Device_CreateCommandAllocator(g->device, q.Type, &IID_ID3D12CommandAllocator,
                                              (void **)&g->allocator));
    CHECK(ID3D12Device_CreateCommandList(g->device, 0, q.Type, g->allocator, NULL,
                                         &IID_ID3D12GraphicsCommandList, (void **)&g->list));
    CHECK(
        ID3D12Device_CreateFence(g->device, 0, D3D12_FENCE_FLAG_NONE, &IID_ID3D12Fence, (void **)&g->fence));
}

void gpu_open(struct gpu *g)
{
    memset(g, 0, sizeof(*g));
    CHECK(D3D12CreateDevice(NULL, D3D_FEATURE_LEVEL_11_0, &IID_ID3D12Device, (void **)&g->device));
    gpu_begin(g);
    g->event = vkd3d_create_event();
}

void gpu_wait(struct gpu *g)
{
    CHECK(ID3D12CommandQueue_Signal(g->queue, g->fence, ++g->value));
    /* always, so that two runs make the same calls */
    CHECK(ID3D12Fence_SetEventOnCompletion(g->fence, g->value, g->event));
    vkd3d_wait_event(g->event, VKD3D_INFINITE);
}

/* Runs what is in the list and begins it anew. */
void gpu_run(struct gpu *g)
{
    CHECK(ID3D12GraphicsCommandList_Close(g->list));
    ID3D12CommandQueue_ExecuteCommandLists(g->queue, 1, (ID3D12CommandList **)&g->list);
    gpu_wait(g);
    CHECK(ID3D12CommandAllocator_Reset(g->allocator));
    CHECK(ID3D12GraphicsCommandList_Reset(g->list, g->allocator, NULL));
}

void gpu_close(struct gpu *g)
{
    ID3D12Fence_Release(g->fence);
    ID3D12GraphicsCommandList_Release(g->list);
    ID3D12CommandAllocator_Release(g->allocator);
    ID3D12CommandQueue_Release(g->queue);
    ID3D12Device_Release(g->device);
    if (g->event)
        vkd3d_destroy_event(g->event);
}

D3D12_RESOURCE_DESC buffer_desc(uint64_t size)
{
    return (D3D12_RESOURCE_DESC){.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER,
                                 .Width = size,
                                 .Height = 1,
                                 .DepthOrArraySize = 1,
                                 .MipLevels = 1,
                                 .SampleDesc = {1, 0},
                                 .Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR};
}

ID3D12Resource *buffer(struct gpu *g, D3D12_HEAP_TYPE type, uint64_t size)
{
    D3D12_HEAP_PROPERTIES heap = {.Type = type};
    D3D12_RESOURCE_DESC desc = buffer_desc(size);
    ID3D12Resource *r;

    CHECK(ID3D12Device_CreateCommittedResource(
        g->device, &heap, D3D12_HEAP_FLAG_NONE, &desc,
        type == D3D12_HEAP_TYPE_UPLOAD ? D3D12_RESOURCE_STATE_GENERIC_READ : D3D12_RESOURCE_STATE_COPY_DEST,
        NULL, &IID_ID3D12Resource, (void **)&r));
    if (type == D3D12_HEAP_TYPE_READBACK) { /* padding between rows is read, too */
        void *p;

        CHECK(ID3D12Resource_Map(r, 0, &(D3D12_RANGE){0, 0}, &p));
        memset(p, 0, size);
        ID3D12Resource_Unmap(r, 0, NULL);
    }
    return r;
}

void *map(ID3D12Resource *r)
{
    const D3D12_RANGE nothing = {0, 0};
    void *p;

    CHECK(ID3D12Resource_Map(r, 0, &nothing, &p));
    return p;
}

void read_back(ID3D12Resource *r, size_t size)
{
    void *p;

    CHECK(ID3D12Resource_Map(r, 0, NULL, &p));
    mix(p, size);
    ID3D12Resource_Unmap(r, 0, NULL);
}

/* ---- the programs -------------------------------------------------------- */

static void clears(void)
{
    static const GUID tag = {0x12345678, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
    D3D12_DESCRIPTOR_HEAP_DESC hd = {.Type = D3D12_DESCRIPTOR_HEAP_TYPE_RTV, .NumDescriptors = 8};
    D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_DEFAULT};
    D3D12_RESOURCE_DESC td = {.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D,
                              .Width = 64,
                              .Height = 32,
                              .DepthOrArraySize = 2,
                              .MipLevels = 2,
                              .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                              .SampleDesc = {1, 0},
                              .Flags = D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET};
    D3D12_PLACED_SUBRESOURCE_FOOTPRINT layouts[4];
    D3D12_CPU_DESCRIPTOR_HANDLE rtv;
    ID3D12DescriptorHeap *rtvs;
    ID3D12Resource *texture, *back;
    struct gpu g;
    UINT64 total;
    UINT step;

    gpu_open(&g);
    CHECK(ID3D12Device_CreateDescriptorHeap(g.device, &hd, &IID_ID3D12DescriptorHeap, (void **)&rtvs));
    step = ID3D12Device_GetDescriptorHandleIncrementSize(g.device, hd.Type);
    CHECK(ID3D12Device_CreateCommittedResource(g.device, &heap, D3D12_HEAP_FLAG_NONE, &td,
                                               D3D12_RESOURCE_STATE_RENDER_TARGET, NULL, &IID_ID3D12Resource,
                                               (void **)&texture));
    CHECK(ID3D12Resource_SetName(texture, L"Target \x00e4\x4e2d"));
    CHECK(ID3D12Resource_SetPrivateData(texture, &tag, 5, "hello"));
    ID3D12Device_GetCopyableFootprints(g.device, &td, 0, 4, 0, layouts, NULL, NULL, &total);
    back = buffer(&g, D3D12_HEAP_TYPE_READBACK, total);
    rtv = ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart(rtvs);
    for (UINT i = 0; i < 4; i++) {
        D3D12_RENDER_TARGET_VIEW_DESC vd = {.Format = td.Format,
                                            .ViewDimension = D3D12_RTV_DIMENSION_TEXTURE2DARRAY};
        D3D12_CPU_DESCRIPTOR_HANDLE h = {rtv.ptr + i * step};
        const FLOAT color[4] = {(float)i / 4, 1 - (float)i / 4, 0.5f, 1};
        D3D12_RECT rect = {2, 2, 12, 10};

        vd.Texture2DArray.MipSlice = i & 1;
        vd.Texture2DArray.FirstArraySlice = i >> 1;
        vd.Texture2DArray.ArraySize = 1;
        ID3D12Device_CreateRenderTargetView(g.device, texture, &vd, h);
        ID3D12GraphicsCommandList_ClearRenderTargetView(g.list, h, color, 0, NULL);
        ID3D12GraphicsCommandList_ClearRenderTargetView(g.list, h, (const FLOAT[4]){1, 0, 1, 1}, 1, &rect);
    }
    {
        D3D12_RESOURCE_BARRIER b = {.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION};

        b.Transition.pResource = texture;
        b.Transition.Subresource = D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES;
        b.Transition.StateBefore = D3D12_RESOURCE_STATE_RENDER_TARGET;
        b.Transition.StateAfter = D3D12_RESOURCE_STATE_COPY_SOURCE;
        ID3D12GraphicsCommandList_ResourceBarrier(g.list, 1, &b);
    }
    for (UINT i = 0; i < 4; i++) {
        D3D12_TEXTURE_COPY_LOCATION dst = {back, D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT, {{0}}};
        D3D12_TEXTURE_COPY_LOCATION src = {texture, D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX, {{0}}};

        dst.PlacedFootprint = layouts[i];
        src.SubresourceIndex = i;
        ID3D12GraphicsCommandList_CopyTextureRegion(g.list, &dst, 0, 0, 0, &src, NULL);
    }
    gpu_run(&g);
    read_back(back, total);
    ID3D12Resource_Release(back);
    ID3D12Resource_Release(texture);
    ID3D12DescriptorHeap_Release(rtvs);
    gpu_close(&g);
}

static void maps(void)
{
    ID3D12Resource *up, *small[8], *back;
    uint8_t *p, *again, *q[8];
    struct gpu g;

    gpu_open(&g);
    up = buffer(&g, D3D12_HEAP_TYPE_UPLOAD, 1 << 20);
    back = buffer(&g, D3D12_HEAP_TYPE_READBACK, 1 << 20);
    for (int i = 0; i < 8; i++) { /* sizes far below a page */
        small[i] = buffer(&g, D3D12_HEAP_TYPE_UPLOAD, 48 + 16 * (uint64_t)i);
        q[i] = map(small[i]);
    }
    p = map(up);
    for (int frame = 0; frame < 20; frame++) {
        for (int i = 0; i < 64; i++)
            p[(frame * 7919 + i * 16411) & 0xfffff] = (uint8_t)(frame + i);
        memset(p + frame * 5000, frame, 100); /* across page ends */
        for (int i = 0; i < 8; i++)
            memset(q[i], frame * 8 + i, 48);
        again = map(up); /* counted */
        again[frame] = 77;
        ID3D12Resource_Unmap(up, 0, NULL);
        ID3D12GraphicsCommandList_CopyBufferRegion(g.list, back, 0, up, 0, 1 << 20);
        for (int i = 0; i < 8; i++)
            ID3D12GraphicsCommandList_CopyBufferRegion(g.list, back, 4096 * (uint64_t)(i + 1), small[i], 0,
                                                       48);
        gpu_run(&g);
        read_back(back, 1 << 20);
    }
    for (int i = 0; i < 8; i++)
        ID3D12Resource_Release(small[i]);              /* still mapped */
    small[0] = buffer(&g, D3D12_HEAP_TYPE_UPLOAD, 48); /* likely the same bytes as one of them */
    memset(map(small[0]), 0x5a, 48);
    ID3D12GraphicsCommandList_CopyBufferRegion(g.list, back, 0, small[0], 0, 48);
    gpu_run(&g);
    read_back(back, 1 << 20);
    ID3D12Resource_Release(small[0]);
    ID3D12Resource_Unmap(up, 0, NULL);
    ID3D12Resource_Release(up);
    ID3D12Resource_Release(back);
    gpu_close(&g);
}

/* The same call with the same pointers, which are of another buffer by then: nothing but what is made in between says so. The list is
 * not executed. */
static void again(void)
{
    ID3D12Resource *back, *up, *next;
    D3D12_VIEWPORT view = {0, 0, 1, 1, 0, 1};
    bool same;
    struct gpu g;

    gpu_open(&g);
    back = buffer(&g, D3D12_HEAP_TYPE_READBACK, 4096);
    up = buffer(&g, D3D12_HEAP_TYPE_UPLOAD, 4096);
    for (int i = 0; i < 3; i++)
        ID3D12GraphicsCommandList_CopyBufferRegion(g.list, back, 0, up, 0, 16);
    next = up;
    ID3D12Resource_Release(up);
    up = buffer(&g, D3D12_HEAP_TYPE_UPLOAD, 4096);
    same = up == next;
    ID3D12GraphicsCommandList_RSSetViewports(g.list, 1, &view);
    for (int i = 0; i < 3; i++)
        ID3D12GraphicsCommandList_CopyBufferRegion(g.list, back, 0, up, 0, 16);
    printf("%s address\n", same ? "same" : "another");
    CHECK(ID3D12GraphicsCommandList_Close(g.list));
    CHECK(ID3D12GraphicsCommandList_Reset(g.list, g.allocator, NULL));
    gpu_run(&g);
    ID3D12Resource_Release(up);
    ID3D12Resource_Release(back);
    gpu_close(&g);
}

/* Upload buffers that come and go: the allocator hands out the same bytes, with the same values in them. */
static void reused(void)
{
    ID3D12Resource *back;
    struct gpu g;

    gpu_open(&g);
    back = buffer(&g, D3D12_HEAP_TYPE_READBACK, 4096);
    for (int i = 0; i < 40; i++) {
        ID3D12Resource *up = buffer(&g, D3D12_HEAP_TYPE_UPLOAD, 4096);

        memset(map(up), 0x33 + i / 10, 4096);
        ID3D12Resource_Unmap(up, 0, NULL);
        ID3D12GraphicsCommandList_CopyResource(g.list, back, up);
        gpu_run(&g);
        read_back(back, 4096);
        ID3D12Resource_Release(up);
    }
    ID3D12Resource_Release(back);
    gpu_close(&g);
}

/* Read-back memory that is mapped for good: what is in it comes later. One buffer is unmapped at last, one just let go. */
static void kept(void)
{
    ID3D12Resource *up, *back[2];
    void *to, *p[2];
    struct gpu g;

    gpu_open(&g);
    up = buffer(&g, D3D12_HEAP_TYPE_UPLOAD, 4096);
    to = map(up);
    for (int i = 0; i < 2; i++) {
        back[i] = buffer(&g, D3D12_HEAP_TYPE_READBACK, 4096);
        CHECK(ID3D12Resource_Map(back[i], 0, NULL, &p[i]));
    }
    for (int i = 0; i < 4; i++) {
        memset(to, 0x44 + i, 4096);
        ID3D12GraphicsCommandList_CopyResource(g.list, back[i % 2], up);
        gpu_run(&g);
        mix(p[i % 2], 4096);
    }
    ID3D12Resource_Unmap(back[0], 0, NULL);
    ID3D12Resource_Release(up);
    ID3D12Resource_Release(back[0]);
    ID3D12Resource_Release(back[1]);
    gpu_close(&g);
}

static void placed(void)
{
    D3D12_HEAP_DESC hd = {.SizeInBytes = 1 << 18,
                          .Properties = {.Type = D3D12_HEAP_TYPE_UPLOAD},
                          .Flags = D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS};
    D3D12_RESOURCE_DESC desc = buffer_desc(1 << 17);
    ID3D12Resource *a, *b, *back;
    uint8_t *pa, *pb;
    ID3D12Heap *heap;
    struct gpu g;

    gpu_open(&g);
    CHECK(ID3D12Device_CreateHeap(g.device, &hd, &IID_ID3D12Heap, (void **)&heap));
    CHECK(ID3D12Device_CreatePlacedResource(g.device, heap, 0, &desc, D3D12_RESOURCE_STATE_GENERIC_READ, NULL,
                                            &IID_ID3D12Resource, (void **)&a));
    CHECK(ID3D12Device_CreatePlacedResource(g.device, heap, 1 << 16, &desc, D3D12_RESOURCE_STATE_GENERIC_READ,
                                            NULL, &IID_ID3D12Resource, (void **)&b));
    back = buffer(&g, D3D12_HEAP_TYPE_READBACK, 1 << 17);
    pa = map(a);
    memset(pa, 0, 1 << 17);
    pb = map(b);
    memset(pb, 0, 1 << 17);
    for (int i = 0; i < 6; i++) {
        memset(pa + (1 << 16) + i * 3000, 0x10 + i, 2000); /* the second half of a ... */
        memset(pb + i * 3000 + 1000, 0x80 + i, 2000);      /* ... is the first half of b */
        if (i == 3)
            memset(pa + (1 << 16), 0x10, 2000); /* back to what it was when only a had been written */
        ID3D12GraphicsCommandList_CopyBufferRegion(g.list, back, 0, a, 0, 1 << 17);
        gpu_run(&g);
        read_back(back, 1 << 17);
        ID3D12GraphicsCommandList_CopyBufferRegion(g.list, back, 0, b, 0, 1 << 17);
        gpu_run(&g);
        read_back(back, 1 << 17);
    }
    ID3D12Resource_Release(a);
    ID3D12Resource_Release(b);
    ID3D12Resource_Release(back);
    ID3D12Heap_Release(heap);
    gpu_close(&g);
}

struct worker {
    struct gpu *g;
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *list;
    ID3D12Resource *target;
    ID3D12DescriptorHeap *heap, *copies, *rtvs;
    D3D12_GPU_VIRTUAL_ADDRESS address;
    UINT step;
    int index;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    D3D12_CPU_DESCRIPTOR_HANDLE from = ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart(w->heap);
    D3D12_CPU_DESCRIPTOR_HANDLE to = ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart(w->copies);

    D3D12_CPU_DESCRIPTOR_HANDLE rtv = ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart(w->rtvs);

    rtv.ptr += (SIZE_T)w->index *
               ID3D12Device_GetDescriptorHandleIncrementSize(w->g->device, D3D12_DESCRIPTOR_HEAP_TYPE_RTV);
    from.ptr += (SIZE_T)w->index * w->step;
    to.ptr += (SIZE_T)w->index * w->step;
    ID3D12Device_CreateRenderTargetView(w->g->device, w->target, NULL, rtv);
    ID3D12Device_CreateConstantBufferView(w->g->device,
                                          &(D3D12_CONSTANT_BUFFER_VIEW_DESC){w->address + 256, 256}, from);
    ID3D12Device_CopyDescriptorsSimple(w->g->device, 1, to, from, D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
    CHECK(ID3D12CommandAllocator_Reset(w->allocator));
    CHECK(ID3D12GraphicsCommandList_Reset(w->list, w->allocator, NULL));
    for (int i = 0; i < 200; i++) {
        const FLOAT color[4] = {(float)i / 200, (float)w->index / 4, 0, 1};
        const D3D12_RECT rect = {i % 60, w->index, i % 60 + 3, 8};

        ID3D12GraphicsCommandList_ClearRenderTargetView(w->list, rtv, color, i > 0, &rect);
    }
    CHECK(ID3D12GraphicsCommandList_Close(w->list));
    return NULL;
}

static void threads(void)
{
    D3D12_DESCRIPTOR_HEAP_DESC hd = {.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, .NumDescriptors = 4};
    D3D12_DESCRIPTOR_HEAP_DESC rd = {.Type = D3D12_DESCRIPTOR_HEAP_TYPE_RTV, .NumDescriptors = 4};
    D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_DEFAULT};
    D3D12_RESOURCE_DESC td = {.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D,
                              .Width = 64,
                              .Height = 8,
                              .DepthOrArraySize = 1,
                              .MipLevels = 1,
                              .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                              .SampleDesc = {1, 0},
                              .Flags = D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET};
    ID3D12Resource *back, *constants;
    struct worker w[4] = {{0}};
    pthread_t t[4];
    struct gpu g;

    gpu_open(&g);
    back = buffer(&g, D3D12_HEAP_TYPE_READBACK, 4 * 64 * 4 * 8);
    for (int i = 0; i < 4; i++) {
        w[i] = (struct worker){.g = &g, .index = i};
        CHECK(ID3D12Device_CreateCommandAllocator(g.device, D3D12_COMMAND_LIST_TYPE_DIRECT,
                                                  &IID_ID3D12CommandAllocator, (void **)&w[i].allocator));
        CHECK(ID3D12Device_CreateCommandList(g.device, 0, D3D12_COMMAND_LIST_TYPE_DIRECT, w[i].allocator,
                                             NULL, &IID_ID3D12GraphicsCommandList, (void **)&w[i].list));
        CHECK(ID3D12GraphicsCommandList_Close(w[i].list));
        CHECK(ID3D12Device_CreateCommittedResource(g.device, &heap, D3D12_HEAP_FLAG_NONE, &td,
                                                   D3D12_RESOURCE_STATE_RENDER_TARGET, NULL,
                                                   &IID_ID3D12Resource, (void **)&w[i].target));
        w[i].step = ID3D12Device_GetDescriptorHandleIncrementSize(g.device, hd.Type);
    }
    CHECK(ID3D12Device_CreateDescriptorHeap(g.device, &hd, &IID_ID3D12DescriptorHeap, (void **)&w[0].heap));
    CHECK(ID3D12Device_CreateDescriptorHeap(g.device, &hd, &IID_ID3D12DescriptorHeap, (void **)&w[0].copies));
    CHECK(ID3D12Device_CreateDescriptorHeap(g.device, &rd, &IID_ID3D12DescriptorHeap, (void **)&w[0].rtvs));
    constants = buffer(&g, D3D12_HEAP_TYPE_UPLOAD, 4096);
    for (int round = 0; round < 5; round++) {
        ID3D12CommandList *lists[4];

        for (int i = 0; i < 4; i++) {
            w[i].heap = w[0].heap;
            w[i].copies = w[0].copies;
            w[i].rtvs = w[0].rtvs;
            w[i].address = ID3D12Resource_GetGPUVirtualAddress(constants);
            pthread_create(&t[i], NULL, work, &w[i]);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(t[i], NULL);
            lists[i] = (ID3D12CommandList *)w[i].list;
        }
        ID3D12CommandQueue_ExecuteCommandLists(g.queue, 4, lists);
        gpu_wait(&g);
    }
    for (int i = 0; i < 4; i++) {
        D3D12_TEXTURE_COPY_LOCATION dst = {back, D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT, {{0}}};
        D3D12_TEXTURE_COPY_LOCATION src = {w[i].target, D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX, {{0}}};
        D3D12_RESOURCE_BARRIER b = {.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION};

        b.Transition.pResource = w[i].target;
        b.Transition.StateBefore = D3D12_RESOURCE_STATE_RENDER_TARGET;
        b.Transition.StateAfter = D3D12_RESOURCE_STATE_COPY_SOURCE;
        ID3D12GraphicsCommandList_ResourceBarrier(g.list, 1, &b);
        dst.PlacedFootprint.Offset = (UINT64)i * 64 * 4 * 8;
        dst.PlacedFootprint.Footprint = (D3D12_SUBRESOURCE_FOOTPRINT){td.Format, 64, 8, 1, 256};
        ID3D12GraphicsCommandList_CopyTextureRegion(g.list, &dst, 0, 0, 0, &src, NULL);
    }
    gpu_run(&g);
    read_back(back, 4 * 64 * 4 * 8);
    for (int i = 0; i < 4; i++) {
        ID3D12GraphicsCommandList_Release(w[i].list);
        ID3D12CommandAllocator_Release(w[i].allocator);
        ID3D12Resource_Release(w[i].target);
    }
    ID3D12DescriptorHeap_Release(w[0].heap);
    ID3D12DescriptorHeap_Release(w[0].copies);
    ID3D12DescriptorHeap_Release(w[0].rtvs);
    ID3D12Resource_Release(constants);
    ID3D12Resource_Release(back);
    gpu_close(&g);
}

static void events(void)
{
    D3D12_COMMAND_QUEUE_DESC q = {.Type = D3D12_COMMAND_LIST_TYPE_COPY};
    ID3D12Fence *fences[3];
    ID3D12CommandQueue *copy;
    struct gpu g;

    gpu_open(&g);
    CHECK(ID3D12Device_CreateCommandQueue(g.device, &q, &IID_ID3D12CommandQueue, (void **)&copy));
    for (int i = 0; i < 3; i++)
        CHECK(ID3D12Device_CreateFence(g.device, (UINT64)i, D3D12_FENCE_FLAG_NONE, &IID_ID3D12Fence,
                                       (void **)&fences[i]));
    for (UINT64 n = 10; n < 20; n++)
        for (int i = 0; i < 3; i++) {
            CHECK(ID3D12CommandQueue_Signal(i & 1 ? copy : g.queue, fences[i], n));
            CHECK(
                ID3D12Fence_SetEventOnCompletion(fences[i], n, g.event)); /* the same event again and again */
            vkd3d_wait_event(g.event, VKD3D_INFINITE);
            n += ID3D12Fence_GetCompletedValue(fences[i]) != n;
        }
    CHECK(ID3D12Fence_Signal(fences[0], 100));
    CHECK(ID3D12Fence_SetEventOnCompletion(fences[0], 50, g.event)); /* long past */
    vkd3d_wait_event(g.event, VKD3D_INFINITE);
    CHECK(ID3D12Fence_Signal(fences[0], 3)); /* backwards is allowed */
    for (int i = 0; i < 3; i++) {
        UINT64 v = ID3D12Fence_GetCompletedValue(fences[i]);

        mix(&v, sizeof(v));
        ID3D12Fence_Release(fences[i]);
    }
    vkd3d_signal_event(g.event);
    vkd3d_wait_event(g.event, VKD3D_INFINITE);
    ID3D12CommandQueue_Release(copy);
    gpu_close(&g);
}

static struct {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool set;
} own_event = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};

static HRESULT own_signal(HANDLE event)
{
    pthread_mutex_lock(&own_event.lock);
    own_event.set = true;
    pthread_cond_signal(&own_event.cond);
    pthread_mutex_unlock(&own_event.lock);
    return S_OK;
}

static void signals(void)
{
    const struct vkd3d_instance_create_info instance = {.type = VKD3D_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                                        .pfn_signal_event = own_signal,
                                                        .wchar_size = sizeof(WCHAR)};
    const struct vkd3d_device_create_info device = {.type = VKD3D_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                                    .minimum_feature_level = D3D_FEATURE_LEVEL_11_0,
                                                    .instance_create_info = &instance};
    enum { SIZE = 16 << 20 };
    ID3D12Resource *up, *middle, *back;
    struct gpu g = {0};
    uint8_t *p;

    CHECK(vkd3d_create_device(&device, &IID_ID3D12Device, (void **)&g.device));
    gpu_begin(&g);
    up = buffer(&g, D3D12_HEAP_TYPE_UPLOAD, SIZE);
    middle = buffer(&g, D3D12_HEAP_TYPE_DEFAULT, SIZE);
    back = buffer(&g, D3D12_HEAP_TYPE_READBACK, SIZE);
    p = map(up);
    for (int i = 0; i < 6; i++) {
        memset(p, i + 1, SIZE);
        for (int k = 0; k < 4; k++) /* long enough for a player that does not wait to be too early */
            ID3D12GraphicsCommandList_CopyResource(g.list, k == 3 ? back : middle, k == 3 ? middle : up);
        CHECK(ID3D12GraphicsCommandList_Close(g.list));
        ID3D12CommandQueue_ExecuteCommandLists(g.queue, 1, (ID3D12CommandList **)&g.list);
        CHECK(ID3D12CommandQueue_Signal(g.queue, g.fence, ++g.value));
        CHECK(ID3D12Fence_SetEventOnCompletion(g.fence, g.value, &own_event));
        pthread_mutex_lock(&own_event.lock);
        while (!own_event.set)
            pthread_cond_wait(&own_event.cond, &own_event.lock);
        own_event.set = false;
        pthread_mutex_unlock(&own_event.lock);
        read_back(back, SIZE);
        CHECK(ID3D12CommandAllocator_Reset(g.allocator));
        CHECK(ID3D12GraphicsCommandList_Reset(g.list, g.allocator, NULL));
    }
    ID3D12Resource_Release(up);
    ID3D12Resource_Release(middle);
    ID3D12Resource_Release(back);
    gpu_close(&g);
}

static void devices(void)
{
    ID3D12Resource *up[2], *back[2];
    struct gpu g[2];
    uint8_t *p[2];

    for (int i = 0; i < 2; i++) {
        gpu_open(&g[i]);
        up[i] = buffer(&g[i], D3D12_HEAP_TYPE_UPLOAD, 8192);
        back[i] = buffer(&g[i], D3D12_HEAP_TYPE_READBACK, 8192);
        p[i] = map(up[i]);
    }
    for (int n = 0; n < 10; n++) {
        int i = n & 1;

        memset(p[i], n, 8192);
        ID3D12GraphicsCommandList_CopyResource(g[i].list, back[i], up[i]);
        gpu_run(&g[i]);
        read_back(back[i], 8192);
    }
    for (int i = 0; i < 2; i++) {
        ID3D12Resource_Release(up[i]);
        ID3D12Resource_Release(back[i]);
        gpu_close(&g[i]);
    }
}

static void gated(void)
{
    ID3D12Resource *up, *back;
    ID3D12Fence *gate;
    struct gpu g;
    uint8_t *p;

    gpu_open(&g);
    up = buffer(&g, D3D12_HEAP_TYPE_UPLOAD, 65536);
    back = buffer(&g, D3D12_HEAP_TYPE_READBACK, 65536);
    CHECK(ID3D12Device_CreateFence(g.device, 0, D3D12_FENCE_FLAG_NONE, &IID_ID3D12Fence, (void **)&gate));
    p = map(up);
    memset(p, 1, 65536);
    for (int i = 0; i < 4; i++) {
        memset(p + 1000 * i, 0x40 + i, 500);
        CHECK(ID3D12Fence_Signal(gate, (UINT64)i + 1));
        ID3D12GraphicsCommandList_CopyResource(g.list, back, up);
        gpu_run(&g);
        read_back(back, 65536);
    }
    ID3D12Fence_Release(gate);
    ID3D12Resource_Release(up);
    ID3D12Resource_Release(back);
    gpu_close(&g);
}

static void killed(void)
{
    ID3D12Resource *a, *b;
    struct gpu g;

    gpu_open(&g);
    a = buffer(&g, D3D12_HEAP_TYPE_UPLOAD, 65536);
    b = buffer(&g, D3D12_HEAP_TYPE_DEFAULT, 65536);
    for (unsigned i = 0; i < 100000; i++)
        ID3D12GraphicsCommandList_CopyBufferRegion(g.list, b, i % 60000, a, (i * 7) % 60000, 16);
    ID3D12GraphicsCommandList_CopyBufferRegion(g.list, b, 12345, a, 54321, 4);
    kill(getpid(), SIGKILL);
}

static sem_t waiting;

static void *wait_for_ever(void *ctx)
{
    struct gpu *g = ctx;
    HANDLE event = vkd3d_create_event();

    CHECK(ID3D12Fence_SetEventOnCompletion(g->fence, 1000, event));
    sem_post(&waiting);
    vkd3d_wait_event(event, VKD3D_INFINITE);
    return NULL;
}

static void waits(void)
{
    struct gpu g;

    gpu_open(&g);
    for (int i = 0; i < 2; i++)
        gpu_run(&g);
    alarm(1);
    wait_for_ever(&g);
}

static void waiter(void)
{
    pthread_t thread;
    struct gpu g;

    gpu_open(&g);
    sem_init(&waiting, 0, 0);
    pthread_create(&thread, NULL, wait_for_ever, &g);
    sem_wait(&waiting);
    usleep(100000); /* it waits now */
    for (int i = 0; i < 10; i++)
        gpu_run(&g);
}

static void crash(void)
{
    ID3D12Resource *up, *back;
    struct gpu g;

    gpu_open(&g);
    up = buffer(&g, D3D12_HEAP_TYPE_UPLOAD, 65536);
    back = buffer(&g, D3D12_HEAP_TYPE_READBACK, 65536);
    for (int i = 0; i < 10; i++) {
        ID3D12Resource *extra = buffer(&g, D3D12_HEAP_TYPE_DEFAULT, 4096);
        uint8_t *p = map(up);

        memset(p, i, 1000);
        ID3D12GraphicsCommandList_CopyResource(g.list, back, up);
        gpu_run(&g);
        read_back(back, 65536);
        ID3D12Resource_Unmap(up, 0, NULL);
        ID3D12Resource_Release(extra);
    }
    ID3D12GraphicsCommandList_CopyBufferRegion(g.list, back, 0, up, 0, 16);
    ID3D12GraphicsCommandList_CopyBufferRegion(g.list, back, 0, NULL, 0, 16);
    gpu_run(&g);
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    {"clears", clears}, {"views", views},     {"maps", maps},       {"reused", reused},   {"again", again},
    {"placed", placed}, {"threads", threads}, {"events", events},   {"devices", devices}, {"gated", gated},
    {"killed", killed}, {"crash", crash},     {"waits", waits},     {"waiter", waiter},   {"scene", scene},
    {"stream", stream}, {"queries", queries}, {"signals", signals}, {"kept", kept},       {"unread", unread},
    {"pixels", pixels}, {"black", black},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof(programs) / sizeof(programs[0]); i++)
        if (!strcmp(argv[1], programs[i].name)) {
            programs[i].run();
            printf("%s %016llx\n", argv[1], (unsigned long long)checksum);
            return 0;
        }
    fprintf(stderr, "usage: workload");
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        fprintf(stderr, "%c%s", i ? '|' : ' ', programs[i].name);
    fprintf(stderr, "\n");
    return 2;
}
