/* SPDX-License-Identifier: MIT */
/* device.c: IDirect3DDevice9 and 9Ex: its life, its loss and its recovery, and what goes to its first swap chain. */
#include "d3d/d3d9/tables.h"
#include "d3d/d3d9/rt9.h"

struct d9_device *d9_device_of(IDirect3DDevice9Ex *iface)
{
    return (struct d9_device *)iface;
}

/* ---- loss ---------------------------------------------------------------------------- */

static HRESULT reason_of(const struct d9_device *d)
{
    switch (d3d_execution_state(d->kmt.device)) {
    case D3DKMT_DEVICEEXECUTION_ACTIVE:
        return S_OK;
    case D3DKMT_DEVICEEXECUTION_HUNG:
    case D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT:
        return D3DERR_DEVICEHUNG;
    case D3DKMT_DEVICEEXECUTION_RESET: /* by somebody else's work */
        return D3DERR_DEVICELOST;
    default:
        return D3DERR_DEVICEREMOVED;
    }
}

HRESULT d9_note(struct d9_device *d, HRESULT hr)
{
    if (hr != D3DERR_DEVICEREMOVED)
        return hr;
    if (d->lost == S_OK)
        d->lost = reason_of(d);
    if (d->lost == S_OK)
        d->lost = D3DERR_DEVICEREMOVED;
    return hr;
}

HRESULT d9_lost(struct d9_device *d)
{
    if (d->lost == S_OK)
        d->lost = reason_of(d);
    return d->lost;
}

/* ---- the driver's device --------------------------------------------------------------- */

static bool complete(const D3DDDI_DEVICEFUNCS *f)
{
    void *none = NULL;

    for (size_t at = 0; at < sizeof(*f); at += sizeof(none))
        if (!memcmp((const uint8_t *)f + at, &none, sizeof(none))) {
            d9_log("slot %u of the driver's table is empty", (unsigned)(at / sizeof(none)));
            return false;
        }
    return true;
}

static HRESULT open_driver(struct d9_device *d)
{
    D3DKMT_CREATEDEVICE k = {.hAdapter = d->factory->kmt.adapter};
    D3DDDIARG_CREATEDEVICE a = {.hDevice = &d->kmt,
                                .Interface = 9,
                                .Version = D3D_UMD_INTERFACE_VERSION_WIN7,
                                .pCallbacks = &d->callbacks,
                                .pDeviceFuncs = &d->ddi};
    HRESULT hr = d3d_status(D3DKMTCreateDevice(&k));

    if (hr != S_OK)
        return hr;
    d->kmt = (struct d3d_kmt){d->factory->kmt.adapter, k.hDevice, D3DKMT_CLIENTHINT_DX9};
    d->callbacks = d3d_callbacks;
    d->callbacks.pfnPresentCb = d9_present_cb;
    hr = d->factory->ddi.pfnCreateDevice(d->factory->drv, &a);
    if (hr == S_OK && !complete(&d->ddi))
        hr = D3DERR_NOTAVAILABLE;
    if (hr != S_OK) {
        D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){.hDevice = k.hDevice});
        d->kmt.device = 0;
        return hr;
    }
    d->drv = a.hDevice;
    d->lost = S_OK;
    return S_OK;
}

static void close_driver(struct d9_device *d)
{
    if (d->drv)
        d->ddi.pfnDestroyDevice(d->drv);
    if (d->kmt.device)
        D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){.hDevice = d->kmt.device});
    d->drv = NULL;
    d->kmt.device = 0;
}

/* ---- life --------------------------------------------------------------------------------- */

/* The first chain, its targets, the depth surface that the program asked for, and states: as they begin, or as they are. */
static HRESULT begin(struct d9_device *d, D3DPRESENT_PARAMETERS *p, bool states)
{
    struct d9_shape depth = {.kind = D9_SURFACE,
                             .type = D3DRTYPE_SURFACE,
                             .width = p->BackBufferWidth,
                             .height = p->BackBufferHeight,
                             .levels = 1,
                             .faces = 1,
                             .usage = D3DUSAGE_DEPTHSTENCIL,
                             .format = p->AutoDepthStencilFormat,
                             .pool = D3DPOOL_DEFAULT,
                             .samples = p->MultiSampleType,
                             .quality = p->MultiSampleQuality};
    struct d9_resource *z = NULL;
    HRESULT hr = d9_screen_begin(d, p);

    if (hr == S_OK)
        hr = d9_swapchain_create(d, p, true, &d->chains[0]);
    if (hr == S_OK && p->EnableAutoDepthStencil)
        hr = d9_resource_create(d, &depth, &z);
    if (hr != S_OK)
        return hr;
    d9_object_bind(&d->auto_depth, z);
    d9_object_release(z);
    if (states)
        d9_state_init(d, p->EnableAutoDepthStencil);
    d9_bind_target(d, 0, d->chains[0]->back[0], 0);
    for (UINT i = 1; i < D9_TARGETS; i++)
        d9_bind_target(d, i, NULL, 0);
    d9_bind_depth(d, z);
    d9_state_send(d);
    return S_OK;
}

static void finish(struct d9_device *d)
{
    d9_object_bind(&d->auto_depth, NULL);
    d9_object_bind(&d->depth, NULL);
    for (UINT i = 0; i < D9_TARGETS; i++)
        d9_object_bind(&d->targets[i], NULL);
    d9_swapchain_destroy(d->chains[0]);
    d->chains[0] = NULL;
}

static void destroy(struct d9_device *d)
{
    d9_perf_remove(d);
    d9_rest_finish(d);
    d->refs = 1; /* what goes now gives references back */
    d9_state_finish(d);
    finish(d);
    d9_screen_end(d);
    while (d->objects) { /* declarations of FVFs, which the device keeps */
        struct d9_object *o = d->objects;

        o->refs = 0;
        o->bound = 1;
        d9_object_bind(&(struct d9_object *){o}, NULL);
    }
    close_driver(d);
    IDirect3D9Ex_Release((IDirect3D9Ex *)d->factory);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

HRESULT d9_device_create(struct d9_factory *f, bool ex, HWND focus, DWORD flags, D3DPRESENT_PARAMETERS *p,
                         struct d9_device **out)
{
    pthread_mutexattr_t recursive;
    struct d9_device *d;
    HRESULT hr = d9_check_params(f, p, focus);

    if (hr != S_OK)
        return hr;
    d = calloc(1, sizeof(*d));
    if (!d)
        return E_OUTOFMEMORY;
    d->vtbl = &d9_device_vtbl;
    d->refs = 1;
    d->ex = ex;
    d->factory = f;
    d->latency = 3;
    d->software = flags & D3DCREATE_SOFTWARE_VERTEXPROCESSING;
    d->creation = (D3DDEVICE_CREATION_PARAMETERS){0, D3DDEVTYPE_HAL, focus, flags};
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&d->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    IDirect3D9Ex_AddRef((IDirect3D9Ex *)f);
    hr = open_driver(d);
    if (hr == S_OK)
        hr = begin(d, p, true);
    if (hr != S_OK) {
        destroy(d);
        return hr;
    }
    d9_perf_add(d);
    *out = d;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_QueryInterface(IDirect3DDevice9Ex *This, REFIID riid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (!IsEqualGUID(riid, &IID_IUnknown) && !IsEqualGUID(riid, &IID_IDirect3DDevice9) &&
        !(d9_device_of(This)->ex && IsEqualGUID(riid, &IID_IDirect3DDevice9Ex)))
        return E_NOINTERFACE;
    *out = This;
    d9_device_AddRef(This);
    return S_OK;
}

ULONG STDMETHODCALLTYPE d9_device_AddRef(IDirect3DDevice9Ex *This)
{
    return (ULONG)__atomic_add_fetch(&d9_device_of(This)->refs, 1, __ATOMIC_RELAXED);
}

ULONG STDMETHODCALLTYPE d9_device_Release(IDirect3DDevice9Ex *This)
{
    struct d9_device *d = d9_device_of(This);
    LONG refs = __atomic_sub_fetch(&d->refs, 1, __ATOMIC_ACQ_REL);

    if (!refs)
        destroy(d);
    return (ULONG)refs;
}

/* ---- recovery ------------------------------------------------------------------------------- */

/* Whether the program still has what Reset cannot keep. */
static bool holds_default(const struct d9_device *d)
{
    for (const struct d9_object *o = d->objects; o; o = o->next) {
        const struct d9_resource *r = (const struct d9_resource *)o;

        if (o->refs && ((o->kind <= D9_SURFACE && r->pool == D3DPOOL_DEFAULT) || o->kind == D9_BLOCK))
            return true;
    }
    return false;
}

static HRESULT reopen(struct d9_device *d)
{
    HRESULT hr;

    for (struct d9_object *o = d->objects; o; o = o->next)
        d9_object_unmake(o); /* of a lost device: names alone */
    close_driver(d);
    hr = open_driver(d);
    for (struct d9_object *o = d->objects; o && hr == S_OK; o = o->next)
        hr = d9_object_make(o);
    return hr;
}

static HRESULT reset(struct d9_device *d, D3DPRESENT_PARAMETERS *p)
{
    D3DPRESENT_PARAMETERS checked;
    bool lost = d9_lost(d) != S_OK, anew;
    HRESULT hr;

    if (!p)
        return D3DERR_INVALIDCALL;
    if (!d->ex && d9_screen_state(d) == D9_BEHIND)
        return D3DERR_DEVICELOST;
    checked = *p;
    hr = d9_check_params(d->factory, &checked, d->creation.hFocusWindow);
    if (hr == S_OK && !d->ex && holds_default(d)) {
        hr = D3DERR_INVALIDCALL;
        d->not_reset = true;
    }
    if (hr != S_OK)
        return hr;
    d->not_reset = false;
    *p = checked;
    d->in_scene = false;
    anew = lost || !d->ex; /* 9Ex keeps the states of a device that works */
    if (anew)
        d9_state_finish(d);
    finish(d);
    hr = lost ? reopen(d) : S_OK;
    if (hr == S_OK)
        hr = begin(d, p, anew);
    if (hr != S_OK)
        d->lost = D3DERR_DEVICELOST;
    return hr;
}

HRESULT STDMETHODCALLTYPE d9_device_Reset(IDirect3DDevice9Ex *This, D3DPRESENT_PARAMETERS *p)
{
    return reset(d9_device_of(This), p);
}

HRESULT STDMETHODCALLTYPE d9_device_ResetEx(IDirect3DDevice9Ex *This, D3DPRESENT_PARAMETERS *p,
                                            D3DDISPLAYMODEEX *mode)
{
    if (mode && (mode->Size != sizeof(*mode) || (p && p->Windowed)))
        return D3DERR_INVALIDCALL;
    return reset(d9_device_of(This), p);
}

HRESULT STDMETHODCALLTYPE d9_device_TestCooperativeLevel(IDirect3DDevice9Ex *This)
{
    struct d9_device *d = d9_device_of(This);

    if (d->ex)
        return D3D_OK;
    if (d9_screen_state(d) == D9_BEHIND)
        return D3DERR_DEVICELOST;
    return d9_lost(d) == S_OK && !d->not_reset && d9_screen_state(d) == D9_FRONT ? D3D_OK
                                                                                 : D3DERR_DEVICENOTRESET;
}

HRESULT STDMETHODCALLTYPE d9_device_CheckDeviceState(IDirect3DDevice9Ex *This, HWND window)
{
    struct d9_device *d = d9_device_of(This);
    HRESULT hr = d9_lost(d);

    return hr == S_OK && d->chains[0] ? d9_swapchain_shown(d->chains[0], window) : hr;
}

/* ---- the first swap chain ---------------------------------------------------------------------- */

/* NULL: there is no such chain, or a Reset that failed left none. */
static IDirect3DSwapChain9Ex *first(IDirect3DDevice9Ex *This, UINT chain)
{
    return chain ? NULL : (IDirect3DSwapChain9Ex *)d9_device_of(This)->chains[0];
}

HRESULT STDMETHODCALLTYPE d9_device_Present(IDirect3DDevice9Ex *This, const RECT *from, const RECT *to,
                                            HWND window, const RGNDATA *dirty)
{
    return d9_device_PresentEx(This, from, to, window, dirty, 0);
}

HRESULT STDMETHODCALLTYPE d9_device_PresentEx(IDirect3DDevice9Ex *This, const RECT *from, const RECT *to,
                                              HWND window, const RGNDATA *dirty, DWORD flags)
{
    struct d9_device *d = d9_device_of(This);

    if (!d->chains[0]) /* a Reset that failed left none */
        return D3DERR_DEVICELOST;
    return d9_swapchain_present(d->chains[0], from, to, window, flags);
}

HRESULT STDMETHODCALLTYPE d9_device_GetSwapChain(IDirect3DDevice9Ex *This, UINT chain,
                                                 IDirect3DSwapChain9 **out)
{
    if (out)
        *out = NULL;
    if (!out || !first(This, chain))
        return D3DERR_INVALIDCALL;
    *out = (IDirect3DSwapChain9 *)first(This, 0);
    IDirect3DSwapChain9_AddRef(*out);
    return D3D_OK;
}

UINT STDMETHODCALLTYPE d9_device_GetNumberOfSwapChains(IDirect3DDevice9Ex *This)
{
    return 1;
}

HRESULT STDMETHODCALLTYPE d9_device_GetBackBuffer(IDirect3DDevice9Ex *This, UINT chain, UINT index,
                                                  D3DBACKBUFFER_TYPE type, IDirect3DSurface9 **out)
{
    if (out) /* which a swap chain's own leaves alone */
        *out = NULL;
    return !first(This, chain) ? D3DERR_INVALIDCALL
                               : d9_swapchain_GetBackBuffer(first(This, 0), index, type, out);
}

HRESULT STDMETHODCALLTYPE d9_device_GetFrontBufferData(IDirect3DDevice9Ex *This, UINT chain,
                                                       IDirect3DSurface9 *to)
{
    return !first(This, chain) ? D3DERR_INVALIDCALL : d9_swapchain_GetFrontBufferData(first(This, 0), to);
}

HRESULT STDMETHODCALLTYPE d9_device_GetRasterStatus(IDirect3DDevice9Ex *This, UINT chain,
                                                    D3DRASTER_STATUS *status)
{
    return !first(This, chain) ? D3DERR_INVALIDCALL : d9_swapchain_GetRasterStatus(first(This, 0), status);
}

HRESULT STDMETHODCALLTYPE d9_device_GetDisplayMode(IDirect3DDevice9Ex *This, UINT chain, D3DDISPLAYMODE *mode)
{
    return !first(This, chain) ? D3DERR_INVALIDCALL : d9_swapchain_GetDisplayMode(first(This, 0), mode);
}

HRESULT STDMETHODCALLTYPE d9_device_GetDisplayModeEx(IDirect3DDevice9Ex *This, UINT chain,
                                                     D3DDISPLAYMODEEX *mode, D3DDISPLAYROTATION *rotation)
{
    return !first(This, chain) ? D3DERR_INVALIDCALL
                               : d9_swapchain_GetDisplayModeEx(first(This, 0), mode, rotation);
}

HRESULT STDMETHODCALLTYPE d9_device_WaitForVBlank(IDirect3DDevice9Ex *This, UINT chain)
{
    struct d9_device *d = d9_device_of(This);
    D3DKMT_WAITFORVERTICALBLANKEVENT w = {
        .hAdapter = d->kmt.adapter, .hDevice = d->kmt.device, .VidPnSourceId = d->factory->source};

    if (chain)
        return D3DERR_INVALIDCALL;
    return NT_SUCCESS(D3DKMTWaitForVerticalBlankEvent(&w)) ? D3D_OK : D3DERR_NOTAVAILABLE;
}

/* ---- what it says of itself ---------------------------------------------------------------------- */

HRESULT STDMETHODCALLTYPE d9_device_GetDirect3D(IDirect3DDevice9Ex *This, IDirect3D9 **out)
{
    if (!out)
        return D3DERR_INVALIDCALL;
    *out = (IDirect3D9 *)d9_device_of(This)->factory;
    IDirect3D9_AddRef(*out);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetDeviceCaps(IDirect3DDevice9Ex *This, D3DCAPS9 *caps)
{
    if (!caps)
        return D3DERR_INVALIDCALL;
    *caps = d9_device_of(This)->factory->caps;
    if (d9_device_of(This)->creation.BehaviorFlags & D3DCREATE_SOFTWARE_VERTEXPROCESSING)
        caps->MaxVertexShaderConst = D9_SOFTWARE_CONSTANTS;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetCreationParameters(IDirect3DDevice9Ex *This,
                                                          D3DDEVICE_CREATION_PARAMETERS *p)
{
    if (!p)
        return D3DERR_INVALIDCALL;
    *p = d9_device_of(This)->creation;
    return D3D_OK;
}

UINT STDMETHODCALLTYPE d9_device_GetAvailableTextureMem(IDirect3DDevice9Ex *This)
{
    D3DKMT_SEGMENTSIZEINFO sizes = {0};
    D3DKMT_QUERYADAPTERINFO q = {d9_device_of(This)->kmt.adapter, KMTQAITYPE_GETSEGMENTSIZE, &sizes,
                                 sizeof(sizes)};
    UINT64 total;

    D3DKMTQueryAdapterInfo(&q);
    total = sizes.DedicatedVideoMemorySize + sizes.SharedSystemMemorySize;
    if (!d9_device_of(This)->ex) /* there it is not what textures leave */
        total -= total > d9_device_of(This)->video_bytes ? d9_device_of(This)->video_bytes : total;
    return (total > 0xFFF00000 ? 0xFFF00000u : (UINT)total) & ~0xFFFFFu;
}

/* What is evicted comes back whole with the next draw, whatever the program said of what changed. */
HRESULT STDMETHODCALLTYPE d9_device_EvictManagedResources(IDirect3DDevice9Ex *This)
{
    for (struct d9_object *o = d9_device_of(This)->objects; o; o = o->next) {
        struct d9_resource *r = (struct d9_resource *)o;

        if (o->kind < D9_TEXTURE || o->kind > D9_SURFACE || r->pool != D3DPOOL_MANAGED)
            continue;
        for (UINT i = 0; i < r->levels * r->faces; i++)
            d9_dirty(&r->surfaces[i], NULL);
    }
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_ValidateDevice(IDirect3DDevice9Ex *This, DWORD *passes)
{
    D3DDDIARG_VALIDATETEXTURESTAGESTATE a = {0};
    HRESULT hr = DDI9(d9_device_of(This), pfnValidateDevice, &a);

    if (passes)
        *passes = a.NumPasses;
    return hr;
}

HRESULT STDMETHODCALLTYPE d9_device_SetSoftwareVertexProcessing(IDirect3DDevice9Ex *This, BOOL software)
{
    struct d9_device *d = d9_device_of(This);

    if (!(d->creation.BehaviorFlags & D3DCREATE_MIXED_VERTEXPROCESSING))
        return D3DERR_INVALIDCALL;
    d->software = software != 0;
    return D3D_OK;
}

BOOL STDMETHODCALLTYPE d9_device_GetSoftwareVertexProcessing(IDirect3DDevice9Ex *This)
{
    return d9_device_of(This)->software;
}

HRESULT STDMETHODCALLTYPE d9_device_SetMaximumFrameLatency(IDirect3DDevice9Ex *This, UINT frames)
{
    if (frames > 30)
        return D3DERR_INVALIDCALL;
    d9_device_of(This)->latency = frames ? frames : 3;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetMaximumFrameLatency(IDirect3DDevice9Ex *This, UINT *frames)
{
    if (!frames)
        return D3DERR_INVALIDCALL;
    *frames = d9_device_of(This)->latency;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_CheckResourceResidency(IDirect3DDevice9Ex *This,
                                                           IDirect3DResource9 **resources, UINT32 count)
{
    struct d9_device *d = d9_device_of(This);
    HRESULT hr = S_OK;

    if (count && !resources)
        return D3DERR_INVALIDCALL;
    for (UINT32 i = 0; i < count && hr == S_OK; i++) {
        const void *vtbl = *(const void **)resources[i];
        struct d9_object *o = vtbl == &d9_surface_vtbl
                                  ? &d9_surface_of((IDirect3DSurface9 *)resources[i])->resource->o
                                  : (struct d9_object *)resources[i];

        if (o->drv)
            hr = DDI9(d, pfnQueryResourceResidency, &(D3DDDIARG_QUERYRESOURCERESIDENCY){&o->drv, 1});
    }
    return d->lost != S_OK ? d->lost : hr;
}

HRESULT STDMETHODCALLTYPE d9_device_SetGPUThreadPriority(IDirect3DDevice9Ex *This, INT priority)
{
    if (priority < -7 || priority > 7)
        return D3DERR_INVALIDCALL;
    d9_device_of(This)->priority = priority;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetGPUThreadPriority(IDirect3DDevice9Ex *This, INT *priority)
{
    if (!priority)
        return D3DERR_INVALIDCALL;
    *priority = d9_device_of(This)->priority;
    return D3D_OK;
}
