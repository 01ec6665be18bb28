/* SPDX-License-Identifier: MIT */
/* d3d9.c: Direct3D 9 and 9Ex: what Windows' documentation of lost devices says.
 *
 * A device that is lost answers D3DERR_DEVICELOST when it shows, and when something is made in its memory; what draws seems to succeed.
 * TestCooperativeLevel says D3DERR_DEVICELOST as long as there can be no new one, and D3DERR_DEVICENOTRESET from then on: Reset makes
 * it as new. 9Ex says D3DERR_DEVICEHUNG, D3DERR_DEVICELOST to who is innocent, and D3DERR_DEVICEREMOVED where that is not known:
 * then it cannot be reset.
 */
#define COBJMACROS
#define CINTERFACE
#define INITGUID
#include "d3d.h"

#include <d3d9.h>

#define INDEX(method) D3D_INDEX(IDirect3DDevice9Ex, method)

/* What a lost device says. */
static HRESULT code_of(const struct d3d_device *d)
{
    return d->ex ? d3d_reason(d, D3DERR_DEVICEHUNG, D3DERR_DEVICELOST, D3DERR_DEVICEREMOVED)
                 : D3DERR_DEVICELOST;
}

static HRESULT present(void *object, struct d3d_device *d, unsigned index, void *a, void *b, void *c, void *e,
                       void *f)
{
    if (d && d3d_work(d, 1, 0, true) == D3D_LOST) {
        d3d_used(d);
        return d3d_told(d, LOSE_IDirect3DDevice9_Present, code_of(d));
    }
    return ((d3d_method *)hook_was(object, index))(object, a, b, c, e, f, NULL, NULL, NULL, NULL);
}

static HRESULT STDMETHODCALLTYPE hook_Present(void *self, void *a, void *b, void *c, void *e)
{
    return present(self, d3d_find(self), INDEX(Present), a, b, c, e, NULL);
}

static HRESULT STDMETHODCALLTYPE hook_PresentEx(void *self, void *a, void *b, void *c, void *e, void *flags)
{
    return present(self, d3d_find(self), INDEX(PresentEx), a, b, c, e, flags);
}

/* Of a swap chain. */
static HRESULT STDMETHODCALLTYPE hook_chain_Present(void *self, void *a, void *b, void *c, void *e,
                                                    void *flags)
{
    IDirect3DDevice9 *device = NULL;
    struct d3d_device *d;

    IDirect3DSwapChain9_GetDevice((IDirect3DSwapChain9 *)self, &device);
    d = d3d_find(device);
    if (device)
        IDirect3DDevice9_Release(device);
    return present(self, d, D3D_INDEX(IDirect3DSwapChain9, Present), a, b, c, e, flags);
}

static HRESULT STDMETHODCALLTYPE hook_TestCooperativeLevel(D3D_PARAMS)
{
    struct d3d_device *dev = d3d_find(self);

    if (!dev || dev->ex || d3d_work(dev, 0, 0, false) != D3D_LOST) /* 9Ex answers S_OK, whatever is */
        return D3D_NEXT(INDEX(TestCooperativeLevel));
    return d3d_told(dev, LOSE_IDirect3DDevice9_TestCooperativeLevel,
                    d3d_refused(LOSE_D3D9) ? D3DERR_DEVICELOST : D3DERR_DEVICENOTRESET);
}

static HRESULT STDMETHODCALLTYPE hook_CheckDeviceState(D3D_PARAMS)
{
    struct d3d_device *dev = d3d_find(self);

    if (!dev || d3d_work(dev, 0, 0, false) != D3D_LOST)
        return D3D_NEXT(INDEX(CheckDeviceState));
    return d3d_told(dev, LOSE_IDirect3DDevice9Ex_CheckDeviceState, code_of(dev));
}

static HRESULT reset(struct d3d_device *d, void *self, unsigned index, void *a, void *b)
{
    bool lost = d && d3d_work(d, 0, 0, true) == D3D_LOST;
    HRESULT hr;

    if (lost && (d3d_refused(LOSE_D3D9) || code_of(d) == D3DERR_DEVICEREMOVED))
        return d3d_told(d, LOSE_IDirect3DDevice9_Reset, code_of(d));
    hr = ((d3d_method *)hook_was(self, index))(self, a, b, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    if (lost && SUCCEEDED(hr))
        d3d_renewed(d);
    return hr;
}

static HRESULT STDMETHODCALLTYPE hook_Reset(void *self, void *a)
{
    return reset(d3d_find(self), self, INDEX(Reset), a, NULL);
}

static HRESULT STDMETHODCALLTYPE hook_ResetEx(void *self, void *a, void *b)
{
    return reset(d3d_find(self), self, INDEX(ResetEx), a, b);
}

#define DRAWS(D)                                                                                             \
    D(Clear)                                                                                                 \
    D(ColorFill)                                                                                             \
    D(StretchRect)                                                                                           \
    D(DrawPrimitive)                                                                                         \
    D(DrawIndexedPrimitive)                                                                                  \
    D(DrawPrimitiveUP)                                                                                       \
    D(DrawIndexedPrimitiveUP)
#define DRAW(method)                                                                                         \
    static HRESULT STDMETHODCALLTYPE hook_##method(D3D_PARAMS)                                               \
    {                                                                                                        \
        struct d3d_device *dev = d3d_find(self);                                                             \
        enum d3d_state s = dev ? d3d_work(dev, 0, 1, false) : D3D_ALIVE;                                     \
        if (s == D3D_LOST)                                                                                   \
            d3d_used(dev);                                                                                   \
        return s == D3D_ALIVE ? D3D_NEXT(INDEX(method)) : D3D_OK;                                            \
    }
DRAWS(DRAW)

/* What a device has no memory for any more; `pool`: the parameter that may say that it is not the device's. */
#define CREATES(C)                                                                                           \
    C(CreateTexture, e)                                                                                      \
    C(CreateVolumeTexture, f)                                                                                \
    C(CreateCubeTexture, e)                                                                                  \
    C(CreateVertexBuffer, d)                                                                                 \
    C(CreateIndexBuffer, d)                                                                                  \
    C(CreateRenderTarget, NULL)                                                                              \
    C(CreateDepthStencilSurface, NULL)
#define CREATE(method, pool)                                                                                 \
    static HRESULT STDMETHODCALLTYPE hook_##method(D3D_PARAMS)                                               \
    {                                                                                                        \
        struct d3d_device *dev = d3d_find(self);                                                             \
        if (dev && d3d_work(dev, 0, 0, false) == D3D_LOST && (uint32_t)(uintptr_t)(pool) == D3DPOOL_DEFAULT) \
            return d3d_told(dev, LOSE_IDirect3DDevice9_Create, code_of(dev));                                \
        return D3D_NEXT(INDEX(method));                                                                      \
    }
CREATES(CREATE)

static ULONG STDMETHODCALLTYPE hook_Release(void *self)
{
    struct d3d_device *d = d3d_find(self);
    ULONG left = ((ULONG(STDMETHODCALLTYPE *)(void *))hook_was(self, INDEX(Release)))(self);

    if (!left && d)
        d3d_gone(d);
    return left;
}

static void hook_device(IDirect3DDevice9Ex *device, bool ex)
{
    IDirect3DSwapChain9 *chain = NULL;
    struct d3d_device *d = d3d_device(device, LOSE_D3D9);

    if (d)
        d->ex = ex;
#define HOOK(method)              hook_method(device, INDEX(method), hook_##method);
#define HOOK_CREATE(method, pool) HOOK(method)
    DRAWS(HOOK)
    CREATES(HOOK_CREATE)
    HOOK(Present)
    HOOK(TestCooperativeLevel)
    HOOK(Reset)
    HOOK(Release)
    if (ex) {
        HOOK(PresentEx)
        HOOK(ResetEx)
        HOOK(CheckDeviceState)
    }
    if (SUCCEEDED(IDirect3DDevice9Ex_GetSwapChain(device, 0, &chain)) && chain) {
        hook_method(chain, D3D_INDEX(IDirect3DSwapChain9, Present), hook_chain_Present);
        IDirect3DSwapChain9_Release(chain);
    }
}

static HRESULT created(HRESULT hr, void *out, bool ex)
{
    if (SUCCEEDED(hr) && out && *(void **)out)
        hook_device(*(IDirect3DDevice9Ex **)out, ex);
    return hr;
}

static HRESULT STDMETHODCALLTYPE hook_CreateDevice(D3D_PARAMS)
{
    return d3d_refused(LOSE_D3D9) ? D3DERR_NOTAVAILABLE
                                  : created(D3D_NEXT(D3D_INDEX(IDirect3D9, CreateDevice)), f, false);
}

static HRESULT STDMETHODCALLTYPE hook_CreateDeviceEx(D3D_PARAMS)
{
    return d3d_refused(LOSE_D3D9) ? D3DERR_NOTAVAILABLE
                                  : created(D3D_NEXT(D3D_INDEX(IDirect3D9Ex, CreateDeviceEx)), g, true);
}

/* ---- exports --------------------------------------------------------------- */

static struct hook_export exports[];

static void *WINAPI create(UINT version)
{
    struct hook_export *e = &exports[0];
    void *object;

    d3d_claim_process();
    hook_leave(e);
    object = ((void *(WINAPI *)(UINT))e->at)(version);
    hook_enter(e);
    if (object)
        hook_method(object, D3D_INDEX(IDirect3D9, CreateDevice), hook_CreateDevice);
    return object;
}

static HRESULT WINAPI create_ex(UINT version, void **out)
{
    struct hook_export *e = &exports[1];
    HRESULT hr;

    d3d_claim_process();
    hook_leave(e);
    hr = ((HRESULT(WINAPI *)(UINT, void **))e->at)(version, out);
    hook_enter(e);
    if (SUCCEEDED(hr) && out && *out) {
        hook_method(*out, D3D_INDEX(IDirect3D9Ex, CreateDevice), hook_CreateDevice);
        hook_method(*out, D3D_INDEX(IDirect3D9Ex, CreateDeviceEx), hook_CreateDeviceEx);
    }
    return hr;
}

static struct hook_export exports[] = {{"d3d9.dll", "Direct3DCreate9", create, NULL, {0}},
                                       {"d3d9.dll", "Direct3DCreate9Ex", create_ex, NULL, {0}}};

void d3d9_open(void)
{
    hook_exports(exports, 2);
}
