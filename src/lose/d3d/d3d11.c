/* SPDX-License-Identifier: MIT */
/* d3d11.c: Direct3D 11 (and 10, whose devices are its), and DXGI: what Windows' documentation of DXGI_ERROR_DEVICE_REMOVED says.
 *
 * A device that is lost answers DXGI_ERROR_DEVICE_REMOVED when something is made, mapped or shown; GetDeviceRemovedReason says why. What
 * returns nothing does nothing. Everything can be released.
 */
#define COBJMACROS
#define CINTERFACE
#define INITGUID
#include "d3d.h"

#include <d3d11.h>
#include <dxgi1_2.h>

static struct d3d_device *device_of_child(void *self)
{
    ID3D11Device *object = NULL;
    struct d3d_device *d;

    ID3D11DeviceChild_GetDevice((ID3D11DeviceChild *)self, &object);
    d = d3d_device(object, LOSE_D3D11);
    if (object)
        ID3D11Device_Release(object);
    return d;
}

static struct d3d_device *device_of_chain(void *self)
{
    struct d3d_device *d = d3d12_of_chain(self);
    ID3D11Device *object = NULL;

    if (d || FAILED(IDXGISwapChain_GetDevice((IDXGISwapChain *)self, &IID_ID3D11Device, (void **)&object)))
        return d;
    d = d3d_device(object, LOSE_D3D11);
    ID3D11Device_Release(object);
    return d;
}

static HRESULT removed(struct d3d_device *d, enum lose_gl_call call)
{
    return d3d_told(d, call, DXGI_ERROR_DEVICE_REMOVED);
}

/* ---- swap chains ----------------------------------------------------------- */

static HRESULT present(void *self, UINT flags, unsigned index, void *a, void *b, void *c)
{
    struct d3d_device *d = flags & DXGI_PRESENT_TEST ? NULL : device_of_chain(self);

    if (d && d3d_work(d, 1, 0, true) == D3D_LOST) {
        d3d_used(d);
        return removed(d, LOSE_IDXGISwapChain_Present);
    }
    return ((d3d_method *)hook_was(self, index))(self, a, b, c, NULL, NULL, NULL, NULL, NULL, NULL);
}

static HRESULT STDMETHODCALLTYPE hook_Present(void *self, void *interval, void *flags)
{
    return present(self, (UINT)(uintptr_t)flags, D3D_INDEX(IDXGISwapChain, Present), interval, flags, NULL);
}

static HRESULT STDMETHODCALLTYPE hook_Present1(void *self, void *interval, void *flags, void *parameters)
{
    return present(self, (UINT)(uintptr_t)flags, D3D_INDEX(IDXGISwapChain1, Present1), interval, flags,
                   parameters);
}

static HRESULT STDMETHODCALLTYPE hook_ResizeBuffers(D3D_PARAMS)
{
    struct d3d_device *dev = device_of_chain(self);

    if (dev && d3d_state(dev) == D3D_LOST)
        return removed(dev, LOSE_IDXGISwapChain_ResizeBuffers);
    return D3D_NEXT(D3D_INDEX(IDXGISwapChain, ResizeBuffers));
}

void d3d11_hook_chain(void *chain)
{
    IDXGISwapChain1 *one = NULL;

    hook_method(chain, D3D_INDEX(IDXGISwapChain, Present), hook_Present);
    hook_method(chain, D3D_INDEX(IDXGISwapChain, ResizeBuffers), hook_ResizeBuffers);
    if (SUCCEEDED(
            IDXGISwapChain_QueryInterface((IDXGISwapChain *)chain, &IID_IDXGISwapChain1, (void **)&one))) {
        hook_method(one, D3D_INDEX(IDXGISwapChain1, Present), hook_Present);
        hook_method(one, D3D_INDEX(IDXGISwapChain1, ResizeBuffers), hook_ResizeBuffers);
        hook_method(one, D3D_INDEX(IDXGISwapChain1, Present1), hook_Present1);
        IDXGISwapChain1_Release(one);
    }
}

static HRESULT STDMETHODCALLTYPE hook_CreateSwapChain(D3D_PARAMS)
{
    HRESULT hr = D3D_NEXT(D3D_INDEX(IDXGIFactory, CreateSwapChain));

    if (SUCCEEDED(hr) && c && *(void **)c)
        d3d11_hook_chain(*(void **)c);
    return hr;
}

static HRESULT STDMETHODCALLTYPE hook_CreateSwapChainForHwnd(D3D_PARAMS)
{
    HRESULT hr = D3D_NEXT(D3D_INDEX(IDXGIFactory2, CreateSwapChainForHwnd));

    if (SUCCEEDED(hr) && f && *(void **)f)
        d3d11_hook_chain(*(void **)f);
    return hr;
}

static void hook_factory(void *factory)
{
    IDXGIFactory2 *two = NULL;

    hook_method(factory, D3D_INDEX(IDXGIFactory, CreateSwapChain), hook_CreateSwapChain);
    if (FAILED(IDXGIFactory_QueryInterface((IDXGIFactory *)factory, &IID_IDXGIFactory2, (void **)&two)))
        return;
    hook_method(two, D3D_INDEX(IDXGIFactory2, CreateSwapChain), hook_CreateSwapChain);
    hook_method(two, D3D_INDEX(IDXGIFactory2, CreateSwapChainForHwnd), hook_CreateSwapChainForHwnd);
    IDXGIFactory2_Release(two);
}

/* ---- contexts -------------------------------------------------------------- */

/* What draws, and returns nothing. */
#define DRAW(method)                                                                                         \
    static HRESULT STDMETHODCALLTYPE hook_##method(D3D_PARAMS)                                               \
    {                                                                                                        \
        struct d3d_device *dev = device_of_child(self);                                                      \
        enum d3d_state s = dev ? d3d_work(dev, 0, 1, false) : D3D_ALIVE;                                     \
        if (s == D3D_LOST)                                                                                   \
            d3d_used(dev);                                                                                   \
        return s == D3D_ALIVE ? D3D_NEXT(D3D_INDEX(ID3D11DeviceContext, method)) : S_OK;                     \
    }
#define DRAWS(D)                                                                                             \
    D(Draw)                                                                                                  \
    D(DrawIndexed)                                                                                           \
    D(DrawInstanced)                                                                                         \
    D(DrawIndexedInstanced)                                                                                  \
    D(DrawAuto)                                                                                              \
    D(DrawInstancedIndirect)                                                                                 \
    D(DrawIndexedInstancedIndirect)                                                                          \
    D(Dispatch)                                                                                              \
    D(DispatchIndirect)                                                                                      \
    D(ClearRenderTargetView)
DRAWS(DRAW)

static HRESULT STDMETHODCALLTYPE hook_Map(D3D_PARAMS)
{
    struct d3d_device *dev = device_of_child(self);
    D3D11_MAP kind = (D3D11_MAP)(uintptr_t)c;

    if (dev && d3d_work(dev, 0, 0, kind == D3D11_MAP_READ || kind == D3D11_MAP_READ_WRITE) == D3D_LOST)
        return removed(dev, LOSE_ID3D11DeviceContext_Map);
    return D3D_NEXT(D3D_INDEX(ID3D11DeviceContext, Map));
}

static HRESULT STDMETHODCALLTYPE hook_GetData(D3D_PARAMS)
{
    struct d3d_device *dev = device_of_child(self);
    enum d3d_state s = dev ? d3d_work(dev, 0, 0, false) : D3D_ALIVE;

    if (s == D3D_LOST)
        return removed(dev, LOSE_ID3D11DeviceContext_GetData);
    return s == D3D_HUNG ? S_FALSE : D3D_NEXT(D3D_INDEX(ID3D11DeviceContext, GetData));
}

static void hook_context(void *context)
{
#define HOOK_DRAW(method) hook_method(context, D3D_INDEX(ID3D11DeviceContext, method), hook_##method);
    DRAWS(HOOK_DRAW)
    HOOK_DRAW(Map)
    HOOK_DRAW(GetData)
}

/* ---- devices ------------------------------------------------------------- */

#define CREATES(C)                                                                                           \
    C(CreateBuffer)                                                                                          \
    C(CreateTexture1D)                                                                                       \
    C(CreateTexture2D)                                                                                       \
    C(CreateTexture3D)                                                                                       \
    C(CreateShaderResourceView)                                                                              \
    C(CreateUnorderedAccessView)                                                                             \
    C(CreateRenderTargetView)                                                                                \
    C(CreateDepthStencilView)                                                                                \
    C(CreateInputLayout)                                                                                     \
    C(CreateVertexShader)                                                                                    \
    C(CreateGeometryShader)                                                                                  \
    C(CreatePixelShader)                                                                                     \
    C(CreateHullShader)                                                                                      \
    C(CreateDomainShader)                                                                                    \
    C(CreateComputeShader)                                                                                   \
    C(CreateBlendState)                                                                                      \
    C(CreateDepthStencilState)                                                                               \
    C(CreateRasterizerState)                                                                                 \
    C(CreateSamplerState)                                                                                    \
    C(CreateQuery)                                                                                           \
    C(CreatePredicate)
#define CREATE(method)                                                                                       \
    static HRESULT STDMETHODCALLTYPE hook_##method(D3D_PARAMS)                                               \
    {                                                                                                        \
        struct d3d_device *dev = d3d_find(self);                                                             \
        if (dev && d3d_work(dev, 0, 0, false) == D3D_LOST)                                                   \
            return removed(dev, LOSE_ID3D11Device_Create);                                                   \
        return D3D_NEXT(D3D_INDEX(ID3D11Device, method));                                                    \
    }
CREATES(CREATE)

static HRESULT STDMETHODCALLTYPE hook_CreateDeferredContext(D3D_PARAMS)
{
    HRESULT hr = D3D_NEXT(D3D_INDEX(ID3D11Device, CreateDeferredContext));

    if (SUCCEEDED(hr) && b && *(void **)b)
        hook_context(*(void **)b);
    return hr;
}

static HRESULT STDMETHODCALLTYPE hook_GetDeviceRemovedReason(D3D_PARAMS)
{
    struct d3d_device *dev = d3d_find(self);

    if (!dev || d3d_work(dev, 0, 0, false) != D3D_LOST)
        return D3D_NEXT(D3D_INDEX(ID3D11Device, GetDeviceRemovedReason));
    return d3d_told(
        dev, LOSE_ID3D11Device_GetDeviceRemovedReason,
        d3d_reason(dev, DXGI_ERROR_DEVICE_HUNG, DXGI_ERROR_DEVICE_RESET, DXGI_ERROR_DEVICE_REMOVED));
}

static ULONG STDMETHODCALLTYPE hook_Release(void *self)
{
    struct d3d_device *d = d3d_find(self);
    ULONG left = ((ULONG(STDMETHODCALLTYPE *)(void *))hook_was(self, D3D_INDEX(ID3D11Device, Release)))(self);

    if (!left && d)
        d3d_gone(d);
    return left;
}

static void hook_device(ID3D11Device *device)
{
    ID3D11DeviceContext *context = NULL;
    IDXGIDevice *dxgi = NULL;
    IDXGIAdapter *adapter = NULL;
    IDXGIFactory *factory = NULL;

#define HOOK_CREATE(method) hook_method(device, D3D_INDEX(ID3D11Device, method), hook_##method);
    CREATES(HOOK_CREATE)
    HOOK_CREATE(CreateDeferredContext)
    HOOK_CREATE(GetDeviceRemovedReason)
    HOOK_CREATE(Release)
    ID3D11Device_GetImmediateContext(device, &context);
    if (context) {
        hook_context(context);
        ID3D11DeviceContext_Release(context);
    }
    if (FAILED(ID3D11Device_QueryInterface(device, &IID_IDXGIDevice, (void **)&dxgi)))
        return;
    if (SUCCEEDED(IDXGIDevice_GetAdapter(dxgi, &adapter)) &&
        SUCCEEDED(IDXGIAdapter_GetParent(adapter, &IID_IDXGIFactory, (void **)&factory))) {
        hook_factory(factory);
        IDXGIFactory_Release(factory);
    }
    if (adapter)
        IDXGIAdapter_Release(adapter);
    IDXGIDevice_Release(dxgi);
}

/* ---- exports --------------------------------------------------------------- */

enum { CREATE_DEVICE, CREATE_WITH_CHAIN, FACTORY, FACTORY_1, FACTORY_2 };
static struct hook_export exports[];

static HRESULT WINAPI create_device(void *adapter, D3D_DRIVER_TYPE type, HMODULE software, UINT flags,
                                    const void *levels, UINT num_levels, UINT version, ID3D11Device **out,
                                    void *level, ID3D11DeviceContext **context)
{
    struct hook_export *e = &exports[CREATE_DEVICE];
    ID3D11Device *device = NULL;
    HRESULT hr;

    if (out && d3d_refused(LOSE_D3D11))
        return DXGI_ERROR_UNSUPPORTED;
    d3d_claim_process();
    hook_leave(e);
    hr = ((HRESULT(WINAPI *)(void *, D3D_DRIVER_TYPE, HMODULE, UINT, const void *, UINT, UINT,
                             ID3D11Device **, void *, ID3D11DeviceContext **))e->at)(
        adapter, type, software, flags, levels, num_levels, version, out ? &device : NULL, level, context);
    hook_enter(e);
    if (out)
        *out = device;
    if (SUCCEEDED(hr) && device) {
        hook_device(device);
        d3d_device(device, LOSE_D3D11);
    }
    return hr;
}

static HRESULT WINAPI create_with_chain(void *adapter, D3D_DRIVER_TYPE type, HMODULE software, UINT flags,
                                        const void *levels, UINT num_levels, UINT version, const void *desc,
                                        IDXGISwapChain **chain, ID3D11Device **out, void *level,
                                        ID3D11DeviceContext **context)
{
    struct hook_export *e = &exports[CREATE_WITH_CHAIN];
    HRESULT hr;

    if (out && d3d_refused(LOSE_D3D11))
        return DXGI_ERROR_UNSUPPORTED;
    d3d_claim_process();
    hook_leave(e);
    hr = ((HRESULT(WINAPI *)(void *, D3D_DRIVER_TYPE, HMODULE, UINT, const void *, UINT, UINT, const void *,
                             IDXGISwapChain **, ID3D11Device **, void *, ID3D11DeviceContext **))e->at)(
        adapter, type, software, flags, levels, num_levels, version, desc, chain, out, level, context);
    hook_enter(e);
    if (SUCCEEDED(hr) && out && *out) { /* it may have been made by what is hooked, or not */
        hook_device(*out);
        d3d_device(*out, LOSE_D3D11);
    }
    if (SUCCEEDED(hr) && chain && *chain)
        d3d11_hook_chain(*chain);
    return hr;
}

/* They look at adapters, by contexts of OpenGL's. */
static HRESULT factory(unsigned which, void *a, void *b, void *c)
{
    struct hook_export *e = &exports[which];
    bool claimed = d3d_claim_begin();
    void **out = which == FACTORY_2 ? c : b;
    HRESULT hr;

    hook_leave(e);
    hr = ((HRESULT(WINAPI *)(void *, void *, void *))e->at)(a, b, c);
    hook_enter(e);
    d3d_claim_end(claimed);
    if (SUCCEEDED(hr) && out && *out)
        hook_factory(*out);
    return hr;
}

static HRESULT WINAPI create_factory(void *a, void *b, void *c)
{
    return factory(FACTORY, a, b, c);
}

static HRESULT WINAPI create_factory_1(void *a, void *b, void *c)
{
    return factory(FACTORY_1, a, b, c);
}

static HRESULT WINAPI create_factory_2(void *a, void *b, void *c)
{
    return factory(FACTORY_2, a, b, c);
}

static struct hook_export exports[] = {
    [CREATE_DEVICE] = {"d3d11.dll", "D3D11CreateDevice", create_device, NULL, {0}},
    [CREATE_WITH_CHAIN] = {"d3d11.dll", "D3D11CreateDeviceAndSwapChain", create_with_chain, NULL, {0}},
    [FACTORY] = {"dxgi.dll", "CreateDXGIFactory", create_factory, NULL, {0}},
    [FACTORY_1] = {"dxgi.dll", "CreateDXGIFactory1", create_factory_1, NULL, {0}},
    [FACTORY_2] = {"dxgi.dll", "CreateDXGIFactory2", create_factory_2, NULL, {0}},
};

void d3d11_open(void)
{
    hook_exports(exports, sizeof(exports) / sizeof(exports[0]));
}
