/* SPDX-License-Identifier: MIT */
/* common.h: what the sample programs for Windows share: a window, a device, a swap chain, one list, one fence.
 *
 * Every call that can fail is checked: a program that cannot go on says which line and ends with 1.
 */
#pragma once

#define COBJMACROS
#define INITGUID
#define WIDL_EXPLICIT_AGGREGATE_RETURNS
#include <windows.h>
#include <d3d12.h>
#include <dxgi1_4.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what) check((what), #what, __LINE__)
#define BUFFERS     2

static inline void check(HRESULT hr, const char *what, int line)
{
    if (SUCCEEDED(hr))
        return;
    fprintf(stderr, "line %d: %s: 0x%08lx\n", line, what, (unsigned long)hr);
    exit(1);
}

struct app {
    HWND window;
    ID3D12Device *device;
    ID3D12CommandQueue *queue;
    IDXGISwapChain3 *chain;
    ID3D12DescriptorHeap *rtvs;
    ID3D12Resource *targets[BUFFERS];
    ID3D12CommandAllocator *allocators[BUFFERS];
    ID3D12GraphicsCommandList *list;
    ID3D12Fence *fence;
    HANDLE event;
    UINT64 value, done[BUFFERS];
    UINT width, height, index, step;
};

static inline ID3D12Device *make_device(void)
{
    ID3D12Device *d;

    CHECK(D3D12CreateDevice(NULL, D3D_FEATURE_LEVEL_11_0, &IID_ID3D12Device, (void **)&d));
    return d;
}

static inline ID3D12CommandQueue *make_queue(ID3D12Device *d, D3D12_COMMAND_LIST_TYPE type)
{
    D3D12_COMMAND_QUEUE_DESC desc = {.Type = type};
    ID3D12CommandQueue *q;

    CHECK(ID3D12Device_CreateCommandQueue(d, &desc, &IID_ID3D12CommandQueue, (void **)&q));
    return q;
}

static inline ID3D12Resource *make_resource(ID3D12Device *d, D3D12_HEAP_TYPE heap,
                                            const D3D12_RESOURCE_DESC *desc, D3D12_RESOURCE_STATES state,
                                            const D3D12_CLEAR_VALUE *clear)
{
    D3D12_HEAP_PROPERTIES props = {.Type = heap};
    ID3D12Resource *r;

    CHECK(ID3D12Device_CreateCommittedResource(d, &props, D3D12_HEAP_FLAG_NONE, desc, state, clear,
                                               &IID_ID3D12Resource, (void **)&r));
    return r;
}

static inline D3D12_RESOURCE_DESC buffer_desc(UINT64 size, D3D12_RESOURCE_FLAGS flags)
{
    return (D3D12_RESOURCE_DESC){.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER,
                                 .Width = size,
                                 .Height = 1,
                                 .DepthOrArraySize = 1,
                                 .MipLevels = 1,
                                 .SampleDesc = {1, 0},
                                 .Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR,
                                 .Flags = flags};
}

static inline ID3D12Resource *make_buffer(ID3D12Device *d, D3D12_HEAP_TYPE heap, UINT64 size)
{
    D3D12_RESOURCE_DESC desc = buffer_desc(size, D3D12_RESOURCE_FLAG_NONE);

    return make_resource(d, heap, &desc,
                         heap == D3D12_HEAP_TYPE_UPLOAD     ? D3D12_RESOURCE_STATE_GENERIC_READ
                         : heap == D3D12_HEAP_TYPE_READBACK ? D3D12_RESOURCE_STATE_COPY_DEST
                                                            : D3D12_RESOURCE_STATE_COMMON,
                         NULL);
}

/* What the GPU does not write is read back, too. */
static inline void zero_readback(ID3D12Resource *r, size_t n)
{
    void *p;

    CHECK(ID3D12Resource_Map(r, 0, NULL, &p));
    memset(p, 0, n);
    ID3D12Resource_Unmap(r, 0, NULL);
}

static inline D3D12_RESOURCE_DESC texture_desc(UINT width, UINT height, UINT16 layers, UINT16 mips,
                                               DXGI_FORMAT format, D3D12_RESOURCE_FLAGS flags)
{
    return (D3D12_RESOURCE_DESC){.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D,
                                 .Width = width,
                                 .Height = height,
                                 .DepthOrArraySize = layers,
                                 .MipLevels = mips,
                                 .Format = format,
                                 .SampleDesc = {1, 0},
                                 .Flags = flags};
}

/* The bytes of samples/shaders/NAME.dxbc. */
#define SHADER(name)                                                                                         \
    __asm__(".section .rdata,\"dr\"\n.balign 8\n" #name "_begin:\n.incbin \"" #name ".dxbc\"\n" #name        \
            "_end:\n.text\n");                                                                               \
    extern const char name##_begin[] __asm__(#name "_begin"), name##_end[] __asm__(#name "_end");            \
    static inline D3D12_SHADER_BYTECODE name(void)                                                           \
    {                                                                                                        \
        return (D3D12_SHADER_BYTECODE){name##_begin, (SIZE_T)(name##_end - name##_begin)};                   \
    }

static inline ID3D12RootSignature *make_root(ID3D12Device *d, const D3D12_ROOT_SIGNATURE_DESC *desc)
{
    ID3D12RootSignature *root;
    ID3DBlob *blob = NULL;

    CHECK(D3D12SerializeRootSignature(desc, D3D_ROOT_SIGNATURE_VERSION_1, &blob, NULL));
    CHECK(ID3D12Device_CreateRootSignature(d, 0, ID3D10Blob_GetBufferPointer(blob),
                                           ID3D10Blob_GetBufferSize(blob), &IID_ID3D12RootSignature,
                                           (void **)&root));
    ID3D10Blob_Release(blob);
    return root;
}

/* What a program computed, so that two runs can be compared. */
static uint64_t checksum = 14695981039346656037u;

static inline void mix(const void *p, size_t n)
{
    for (const uint8_t *b = p, *end = b + n; b < end; b++)
        checksum = (checksum ^ *b) * 1099511628211u;
}

static inline void mix_readback(ID3D12Resource *r, size_t n)
{
    void *p;

    CHECK(ID3D12Resource_Map(r, 0, (&(D3D12_RANGE){0, n}), &p));
    mix(p, n);
    ID3D12Resource_Unmap(r, 0, (&(D3D12_RANGE){0, 0}));
}

static inline ID3D12DescriptorHeap *make_heap(ID3D12Device *d, D3D12_DESCRIPTOR_HEAP_TYPE type, UINT n,
                                              bool visible)
{
    D3D12_DESCRIPTOR_HEAP_DESC desc = {
        .Type = type, .NumDescriptors = n, .Flags = visible ? D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE : 0};
    ID3D12DescriptorHeap *h;

    CHECK(ID3D12Device_CreateDescriptorHeap(d, &desc, &IID_ID3D12DescriptorHeap, (void **)&h));
    return h;
}

static inline D3D12_CPU_DESCRIPTOR_HANDLE cpu_handle(ID3D12Device *d, ID3D12DescriptorHeap *h,
                                                     D3D12_DESCRIPTOR_HEAP_TYPE type, UINT i)
{
    D3D12_CPU_DESCRIPTOR_HANDLE at;

    h->lpVtbl->GetCPUDescriptorHandleForHeapStart(h, &at);
    at.ptr += (SIZE_T)i * ID3D12Device_GetDescriptorHandleIncrementSize(d, type);
    return at;
}

static inline D3D12_GPU_DESCRIPTOR_HANDLE gpu_handle(ID3D12Device *d, ID3D12DescriptorHeap *h,
                                                     D3D12_DESCRIPTOR_HEAP_TYPE type, UINT i)
{
    D3D12_GPU_DESCRIPTOR_HANDLE at;

    h->lpVtbl->GetGPUDescriptorHandleForHeapStart(h, &at);
    at.ptr += (UINT64)i * ID3D12Device_GetDescriptorHandleIncrementSize(d, type);
    return at;
}

static inline void transition(ID3D12GraphicsCommandList *l, ID3D12Resource *r, D3D12_RESOURCE_STATES from,
                              D3D12_RESOURCE_STATES to)
{
    D3D12_RESOURCE_BARRIER b = {.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION};

    b.Transition.pResource = r;
    b.Transition.Subresource = D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES;
    b.Transition.StateBefore = from;
    b.Transition.StateAfter = to;
    ID3D12GraphicsCommandList_ResourceBarrier(l, 1, &b);
}

static inline void app_buffers(struct app *a)
{
    for (UINT i = 0; i < BUFFERS; i++) {
        CHECK(IDXGISwapChain3_GetBuffer(a->chain, i, &IID_ID3D12Resource, (void **)&a->targets[i]));
        ID3D12Device_CreateRenderTargetView(
            a->device, a->targets[i], NULL,
            cpu_handle(a->device, a->rtvs, D3D12_DESCRIPTOR_HEAP_TYPE_RTV, i));
    }
    a->index = IDXGISwapChain3_GetCurrentBackBufferIndex(a->chain);
}

static inline void app_init(struct app *a, UINT width, UINT height)
{
    DXGI_SWAP_CHAIN_DESC1 desc = {.Width = width,
                                  .Height = height,
                                  .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                                  .SampleDesc = {1, 0},
                                  .BufferUsage = DXGI_USAGE_RENDER_TARGET_OUTPUT,
                                  .BufferCount = BUFFERS,
                                  .SwapEffect = DXGI_SWAP_EFFECT_FLIP_DISCARD};
    IDXGIFactory4 *factory;
    IDXGISwapChain1 *chain;

    memset(a, 0, sizeof(*a));
    a->width = width;
    a->height = height;
    a->window = CreateWindowA("static", "sample", WS_POPUP | WS_VISIBLE, 0, 0, (int)width, (int)height, NULL,
                              NULL, NULL, NULL);
    CHECK(CreateDXGIFactory1(&IID_IDXGIFactory4, (void **)&factory));
    a->device = make_device();
    a->queue = make_queue(a->device, D3D12_COMMAND_LIST_TYPE_DIRECT);
    CHECK(IDXGIFactory4_CreateSwapChainForHwnd(factory, (IUnknown *)a->queue, a->window, &desc, NULL, NULL,
                                               &chain));
    CHECK(IDXGISwapChain1_QueryInterface(chain, &IID_IDXGISwapChain3, (void **)&a->chain));
    IDXGISwapChain1_Release(chain);
    IDXGIFactory4_Release(factory);
    a->rtvs = make_heap(a->device, D3D12_DESCRIPTOR_HEAP_TYPE_RTV, BUFFERS, false);
    app_buffers(a);
    for (int i = 0; i < BUFFERS; i++)
        CHECK(ID3D12Device_CreateCommandAllocator(a->device, D3D12_COMMAND_LIST_TYPE_DIRECT,
                                                  &IID_ID3D12CommandAllocator, (void **)&a->allocators[i]));
    CHECK(ID3D12Device_CreateCommandList(a->device, 0, D3D12_COMMAND_LIST_TYPE_DIRECT, a->allocators[0], NULL,
                                         &IID_ID3D12GraphicsCommandList, (void **)&a->list));
    CHECK(ID3D12GraphicsCommandList_Close(a->list));
    CHECK(
        ID3D12Device_CreateFence(a->device, 0, D3D12_FENCE_FLAG_NONE, &IID_ID3D12Fence, (void **)&a->fence));
    a->event = CreateEventA(NULL, FALSE, FALSE, NULL);
}

static inline void app_wait(struct app *a, UINT64 value)
{
    if (ID3D12Fence_GetCompletedValue(a->fence) >= value)
        return;
    CHECK(ID3D12Fence_SetEventOnCompletion(a->fence, value, a->event));
    WaitForSingleObject(a->event, INFINITE);
}

static inline D3D12_CPU_DESCRIPTOR_HANDLE app_target(struct app *a)
{
    return cpu_handle(a->device, a->rtvs, D3D12_DESCRIPTOR_HEAP_TYPE_RTV, a->index);
}

/* The frame's list is open and its target ready to be drawn to. */
static inline void app_begin(struct app *a)
{
    MSG msg;

    while (PeekMessageA(&msg, NULL, 0, 0, PM_REMOVE))
        DispatchMessageA(&msg);
    app_wait(a, a->done[a->index]);
    CHECK(ID3D12CommandAllocator_Reset(a->allocators[a->index]));
    CHECK(ID3D12GraphicsCommandList_Reset(a->list, a->allocators[a->index], NULL));
    transition(a->list, a->targets[a->index], D3D12_RESOURCE_STATE_PRESENT,
               D3D12_RESOURCE_STATE_RENDER_TARGET);
}

static inline void app_submit(struct app *a)
{
    CHECK(ID3D12GraphicsCommandList_Close(a->list));
    ID3D12CommandQueue_ExecuteCommandLists(a->queue, 1, (ID3D12CommandList *const *)&a->list);
}

static inline void app_end(struct app *a)
{
    transition(a->list, a->targets[a->index], D3D12_RESOURCE_STATE_RENDER_TARGET,
               D3D12_RESOURCE_STATE_PRESENT);
    app_submit(a);
    CHECK(IDXGISwapChain3_Present(a->chain, 0, 0));
    a->done[a->index] = ++a->value;
    CHECK(ID3D12CommandQueue_Signal(a->queue, a->fence, a->value));
    a->index = IDXGISwapChain3_GetCurrentBackBufferIndex(a->chain);
}

static inline void app_idle(struct app *a)
{
    CHECK(ID3D12CommandQueue_Signal(a->queue, a->fence, ++a->value));
    app_wait(a, a->value);
}

static inline void app_resize(struct app *a, UINT width, UINT height)
{
    app_idle(a);
    for (int i = 0; i < BUFFERS; i++)
        ID3D12Resource_Release(a->targets[i]);
    CHECK(IDXGISwapChain3_ResizeBuffers(a->chain, BUFFERS, width, height, DXGI_FORMAT_UNKNOWN, 0));
    a->width = width;
    a->height = height;
    app_buffers(a);
}

static inline void app_finish(struct app *a)
{
    app_idle(a);
    for (int i = 0; i < BUFFERS; i++) {
        ID3D12Resource_Release(a->targets[i]);
        ID3D12CommandAllocator_Release(a->allocators[i]);
    }
    ID3D12GraphicsCommandList_Release(a->list);
    ID3D12DescriptorHeap_Release(a->rtvs);
    IDXGISwapChain3_Release(a->chain);
    ID3D12Fence_Release(a->fence);
    ID3D12CommandQueue_Release(a->queue);
    ID3D12Device_Release(a->device);
    CloseHandle(a->event);
    DestroyWindow(a->window);
}
