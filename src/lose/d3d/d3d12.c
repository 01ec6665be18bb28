/* SPDX-License-Identifier: MIT */
/* d3d12.c: Direct3D 12: what Windows' documentation of ID3D12Device::GetDeviceRemovedReason says.
 *
 * A device that is lost runs nothing; what is made, and Signal, answers DXGI_ERROR_DEVICE_REMOVED; fences have the value UINT64_MAX, and
 * whoever waits for one goes on.
 */
#define COBJMACROS
#define CINTERFACE
#define INITGUID
#include "d3d.h"

#include <d3d12.h>
#include <dxgi1_4.h>

static struct d3d_device *device_of_child(void *self)
{
    ID3D12Device *object = NULL;
    struct d3d_device *d;

    if (FAILED(ID3D12DeviceChild_GetDevice((ID3D12DeviceChild *)self, &IID_ID3D12Device, (void **)&object)))
        return NULL;
    d = d3d_find(object);
    ID3D12Device_Release(object);
    return d;
}

struct d3d_device *d3d12_of_chain(void *chain)
{
    ID3D12Device *object = NULL;
    struct d3d_device *d;

    if (FAILED(IDXGISwapChain_GetDevice((IDXGISwapChain *)chain, &IID_ID3D12Device, (void **)&object)))
        return NULL;
    d = d3d_find(object);
    ID3D12Device_Release(object);
    return d;
}

static HRESULT removed(struct d3d_device *d, enum lose_gl_call call)
{
    return d3d_told(d, call, DXGI_ERROR_DEVICE_REMOVED);
}

/* ---- queues ---------------------------------------------------------------- */

static HRESULT STDMETHODCALLTYPE hook_ExecuteCommandLists(D3D_PARAMS)
{
    struct d3d_device *dev = device_of_child(self);
    enum d3d_state s = dev ? d3d_work(dev, 0, 1, false) : D3D_ALIVE;

    if (s == D3D_LOST)
        d3d_used(dev);
    return s == D3D_ALIVE ? D3D_NEXT(D3D_INDEX(ID3D12CommandQueue, ExecuteCommandLists)) : S_OK;
}

static HRESULT STDMETHODCALLTYPE hook_Signal(D3D_PARAMS)
{
    struct d3d_device *dev = device_of_child(self);
    enum d3d_state s = dev ? d3d_work(dev, 0, 0, false) : D3D_ALIVE;

    if (s == D3D_LOST)
        return removed(dev, LOSE_ID3D12CommandQueue_Signal);
    return s == D3D_ALIVE ? D3D_NEXT(D3D_INDEX(ID3D12CommandQueue, Signal)) : S_OK;
}

/* ---- fences ---------------------------------------------------------------- */

static UINT64 STDMETHODCALLTYPE hook_GetCompletedValue(void *self)
{
    struct d3d_device *dev = device_of_child(self);

    if (dev && d3d_work(dev, 0, 0, false) == D3D_LOST) {
        d3d_told(dev, LOSE_ID3D12Fence_GetCompletedValue, S_OK);
        return UINT64_MAX;
    }
    return ((UINT64(STDMETHODCALLTYPE *)(void *))hook_was(self, D3D_INDEX(ID3D12Fence, GetCompletedValue)))(
        self);
}

static HRESULT STDMETHODCALLTYPE hook_SetEventOnCompletion(D3D_PARAMS)
{
    struct d3d_device *dev = device_of_child(self);
    enum d3d_state s = dev ? d3d_work(dev, 0, 0, !b) : D3D_ALIVE;

    if (s != D3D_ALIVE && b)
        d3d_will_set(dev, b);
    return s == D3D_LOST ? S_OK : D3D_NEXT(D3D_INDEX(ID3D12Fence, SetEventOnCompletion));
}

/* ---- devices ------------------------------------------------------------- */

#define CREATES(C)                                                                                           \
    C(CreateCommandAllocator)                                                                                \
    C(CreateGraphicsPipelineState)                                                                           \
    C(CreateComputePipelineState)                                                                            \
    C(CreateCommandList)                                                                                     \
    C(CreateDescriptorHeap)                                                                                  \
    C(CreateRootSignature)                                                                                   \
    C(CreateCommittedResource)                                                                               \
    C(CreateHeap)                                                                                            \
    C(CreatePlacedResource)                                                                                  \
    C(CreateReservedResource)                                                                                \
    C(CreateQueryHeap)                                                                                       \
    C(CreateCommandSignature)
#define CREATE(method)                                                                                       \
    static HRESULT STDMETHODCALLTYPE hook_##method(D3D_PARAMS)                                               \
    {                                                                                                        \
        struct d3d_device *dev = d3d_find(self);                                                             \
        if (dev && d3d_work(dev, 0, 0, false) == D3D_LOST)                                                   \
            return removed(dev, LOSE_ID3D12Device_Create);                                                   \
        return D3D_NEXT(D3D_INDEX(ID3D12Device, method));                                                    \
    }
CREATES(CREATE)

static HRESULT STDMETHODCALLTYPE hook_CreateCommandQueue(D3D_PARAMS)
{
    struct d3d_device *dev = d3d_find(self);
    HRESULT hr;

    if (dev && d3d_work(dev, 0, 0, false) == D3D_LOST)
        return removed(dev, LOSE_ID3D12Device_Create);
    hr = D3D_NEXT(D3D_INDEX(ID3D12Device, CreateCommandQueue));
    if (SUCCEEDED(hr) && c && *(void **)c) {
        hook_method(*(void **)c, D3D_INDEX(ID3D12CommandQueue, ExecuteCommandLists),
                    hook_ExecuteCommandLists);
        hook_method(*(void **)c, D3D_INDEX(ID3D12CommandQueue, Signal), hook_Signal);
    }
    return hr;
}

static HRESULT STDMETHODCALLTYPE hook_CreateFence(D3D_PARAMS)
{
    struct d3d_device *dev = d3d_find(self);
    HRESULT hr;

    if (dev && d3d_work(dev, 0, 0, false) == D3D_LOST)
        return removed(dev, LOSE_ID3D12Device_Create);
    hr = D3D_NEXT(D3D_INDEX(ID3D12Device, CreateFence));
    if (SUCCEEDED(hr) && d && *(void **)d) {
        hook_method(*(void **)d, D3D_INDEX(ID3D12Fence, GetCompletedValue), hook_GetCompletedValue);
        hook_method(*(void **)d, D3D_INDEX(ID3D12Fence, SetEventOnCompletion), hook_SetEventOnCompletion);
    }
    return hr;
}

static HRESULT STDMETHODCALLTYPE hook_GetDeviceRemovedReason(D3D_PARAMS)
{
    struct d3d_device *dev = d3d_find(self);

    if (!dev || d3d_work(dev, 0, 0, false) != D3D_LOST)
        return D3D_NEXT(D3D_INDEX(ID3D12Device, GetDeviceRemovedReason));
    return d3d_told(
        dev, LOSE_ID3D12Device_GetDeviceRemovedReason,
        d3d_reason(dev, DXGI_ERROR_DEVICE_HUNG, DXGI_ERROR_DEVICE_RESET, DXGI_ERROR_DEVICE_REMOVED));
}

static ULONG STDMETHODCALLTYPE hook_Release(void *self)
{
    struct d3d_device *d = d3d_find(self);
    ULONG left = ((ULONG(STDMETHODCALLTYPE *)(void *))hook_was(self, D3D_INDEX(ID3D12Device, Release)))(self);

    if (!left && d)
        d3d_gone(d);
    return left;
}

static struct hook_export exports[];

static HRESULT WINAPI create_device(void *adapter, D3D_FEATURE_LEVEL level, REFIID iid, void **out)
{
    struct hook_export *e = &exports[0];
    HRESULT hr;

    if (out && d3d_refused(LOSE_D3D12))
        return DXGI_ERROR_UNSUPPORTED;
    d3d_claim_process();
    hook_leave(e);
    hr = ((HRESULT(WINAPI *)(void *, D3D_FEATURE_LEVEL, REFIID, void **))e->at)(adapter, level, iid, out);
    hook_enter(e);
    if (FAILED(hr) || !out || !*out)
        return hr;
#define HOOK_CREATE(method) hook_method(*out, D3D_INDEX(ID3D12Device, method), hook_##method);
    CREATES(HOOK_CREATE)
    HOOK_CREATE(CreateCommandQueue)
    HOOK_CREATE(CreateFence)
    HOOK_CREATE(GetDeviceRemovedReason)
    HOOK_CREATE(Release)
    d3d_device(*out, LOSE_D3D12);
    return hr;
}

static struct hook_export exports[] = {{"d3d12.dll", "D3D12CreateDevice", create_device, NULL, {0}}};

void d3d12_open(void)
{
    hook_exports(exports, 1);
}
