/* SPDX-License-Identifier: MIT */
/* swapchain.c: back buffers, and how they are shown.
 *
 *   back buffer ─Present─▶ its bytes, into the window, which full screen has as large as the display (screen.c)
 *                          full screen without a window system: a primary of the display's size, which is flipped to
 */
#include "d3d/d3d9/tables.h"
#include "d3d/d3d9/rt9.h"

static bool valid_interval(const D3DPRESENT_PARAMETERS *p)
{
    switch (p->PresentationInterval) {
    case D3DPRESENT_INTERVAL_DEFAULT:
    case D3DPRESENT_INTERVAL_ONE:
    case D3DPRESENT_INTERVAL_IMMEDIATE:
        return true;
    case D3DPRESENT_INTERVAL_TWO:
    case D3DPRESENT_INTERVAL_THREE:
    case D3DPRESENT_INTERVAL_FOUR: /* in a window there is one, or none */
        return !p->Windowed;
    default:
        return false;
    }
}

/* Pictures of several samples are not flipped, copied, or locked. */
static bool samples_fit(struct d9_factory *f, const D3DPRESENT_PARAMETERS *p)
{
    const D3DMULTISAMPLE_TYPE n = p->MultiSampleType;

    return n == D3DMULTISAMPLE_NONE ||
           (p->SwapEffect == D3DSWAPEFFECT_DISCARD && !(p->Flags & D3DPRESENTFLAG_LOCKABLE_BACKBUFFER) &&
            p->MultiSampleQuality < d9_qualities(f, p->BackBufferFormat, p->Windowed, n) &&
            (!p->EnableAutoDepthStencil ||
             p->MultiSampleQuality < d9_qualities(f, p->AutoDepthStencilFormat, p->Windowed, n)));
}

/* In a window there is no rate to ask for; full screen has the display's modes. */
static bool mode_fits(const D3DDISPLAYMODEEX *now, const D3DPRESENT_PARAMETERS *p)
{
    const UINT rate = p->FullScreen_RefreshRateInHz;

    if (p->Windowed)
        return !rate;
    return (p->BackBufferWidth == now->Width && p->BackBufferHeight == now->Height &&
            (!rate || rate == now->RefreshRate)) ||
           d9_screen_has(p->BackBufferWidth, p->BackBufferHeight, rate);
}

static bool depth_fits(struct d9_factory *f, const D3DPRESENT_PARAMETERS *p)
{
    const FORMATOP *depth = d9_format(f, p->AutoDepthStencilFormat);

    return !p->EnableAutoDepthStencil || (depth && depth->Operations & FORMATOP_ZSTENCIL);
}

HRESULT d9_check_params(struct d9_factory *f, D3DPRESENT_PARAMETERS *p, HWND focus)
{
    D3DDISPLAYMODEEX mode;

    if (!d9_display_mode(f, &mode))
        return D3DERR_NOTAVAILABLE;
    if (!p->hDeviceWindow)
        p->hDeviceWindow = focus;
    if (p->BackBufferCount > (f->ex ? D9_BUFFERS : 3) || p->SwapEffect < D3DSWAPEFFECT_DISCARD ||
        p->SwapEffect > (f->ex ? D3DSWAPEFFECT_FLIPEX : D3DSWAPEFFECT_COPY))
        return D3DERR_INVALIDCALL;
    if (p->SwapEffect == D3DSWAPEFFECT_COPY && p->BackBufferCount > 1)
        return D3DERR_INVALIDCALL;
    if (!mode_fits(&mode, p))
        return D3DERR_INVALIDCALL;
#if defined(_WIN32)
    if (p->Windowed && (!p->BackBufferWidth || !p->BackBufferHeight)) {
        RECT r = {0};

        GetClientRect(p->hDeviceWindow, &r);
        p->BackBufferWidth = p->BackBufferWidth ? p->BackBufferWidth : (UINT)r.right;
        p->BackBufferHeight = p->BackBufferHeight ? p->BackBufferHeight : (UINT)r.bottom;
    }
#endif
    if (!valid_interval(p))
        return D3DERR_INVALIDCALL;
    if (!p->BackBufferWidth)
        p->BackBufferWidth = 8;
    if (!p->BackBufferHeight)
        p->BackBufferHeight = 8;
    if (!p->BackBufferCount)
        p->BackBufferCount = 1;
    if (p->BackBufferFormat == D3DFMT_UNKNOWN)
        p->BackBufferFormat = p->Windowed ? D3DFMT_X8R8G8B8 : D3DFMT_UNKNOWN;
    if ((p->BackBufferFormat != D3DFMT_X8R8G8B8 && p->BackBufferFormat != D3DFMT_A8R8G8B8 &&
         (!p->Windowed || p->BackBufferFormat != D3DFMT_R5G6B5)) ||
        p->BackBufferWidth > D9_MAX_SIDE || p->BackBufferHeight > D9_MAX_SIDE)
        return D3DERR_INVALIDCALL;
    return samples_fit(f, p) && depth_fits(f, p) ? S_OK : D3DERR_INVALIDCALL;
}

static struct d9_swapchain *of(IDirect3DSwapChain9Ex *This)
{
    return (struct d9_swapchain *)This;
}

static void drop(struct d9_swapchain *s)
{
    d3d_presenter_destroy(s->presenter); /* what was presented is shown */
    s->presenter = NULL;
    for (int i = 0; i < D9_BUFFERS; i++) {
        if (s->back[i])
            s->back[i]->container = NULL;
        d9_object_bind(&s->back[i], NULL);
    }
    for (int i = 0; i < D9_PRIMARIES; i++)
        d9_object_bind(&s->primary[i], NULL);
    for (int i = 0; i < D3D_PICTURES; i++)
        d9_object_bind(&s->pictures[i], NULL);
}

/* A surface that the swap chain alone has. */
static HRESULT add(struct d9_swapchain *s, struct d9_resource **slot, DWORD usage, bool primary)
{
    const bool picture = !usage;
    struct d9_shape shape = {.kind = D9_SURFACE,
                             .type = D3DRTYPE_SURFACE,
                             .width = s->params.BackBufferWidth,
                             .height = s->params.BackBufferHeight,
                             .levels = 1,
                             .faces = 1,
                             .usage = usage,
                             .format = s->params.BackBufferFormat,
                             .pool = D3DPOOL_DEFAULT,
                             .lockable = picture || s->params.Flags & D3DPRESENTFLAG_LOCKABLE_BACKBUFFER,
                             .primary = primary,
                             .picture = picture};
    struct d9_resource *r;
    HRESULT hr;

    if (!primary && !picture) {
        shape.samples = s->params.MultiSampleType;
        shape.quality = s->params.MultiSampleQuality;
    }
    hr = d9_resource_create(s->device, &shape, &r);

    if (hr != S_OK)
        return hr;
    d9_object_bind(slot, r);
    d9_object_release(r);
    return S_OK;
}

static void show(void *context, const struct d3d_where *where, const void *pixels, UINT pitch);

static HRESULT add_pictures(struct d9_swapchain *s)
{
    const D3DKMT_WAITFORVERTICALBLANKEVENT blank = {s->device->kmt.adapter, 0, s->device->factory->source};
    HRESULT hr = S_OK;

    s->presenter = d3d_presenter_create(s->device->kmt.device, &blank, show, s);
    for (int i = 0; i < D3D_PICTURES && hr == S_OK; i++)
        hr = add(s, &s->pictures[i], 0, false);
    return s->presenter ? hr : E_OUTOFMEMORY;
}

HRESULT d9_swapchain_create(struct d9_device *d, D3DPRESENT_PARAMETERS *p, bool implicit,
                            struct d9_swapchain **out)
{
    const bool in_window = p->Windowed || d9_screen_is();
    struct d9_swapchain *s = calloc(1, sizeof(*s));
    HRESULT hr = S_OK;

    if (!s)
        return E_OUTOFMEMORY;
    s->vtbl = &d9_swapchain_vtbl;
    s->device = d;
    s->implicit = implicit;
    s->params = *p;
    s->count = p->BackBufferCount;
    for (UINT i = 0; i < s->count && hr == S_OK; i++) {
        hr = add(s, &s->back[i], D3DUSAGE_RENDERTARGET, false);
        if (hr == S_OK)
            s->back[i]->container = s;
    }
    if (hr == S_OK && in_window)
        hr = add_pictures(s);
    for (UINT i = 0; i < D9_PRIMARIES && hr == S_OK && !in_window; i++)
        hr = add(s, &s->primary[i], D3DUSAGE_RENDERTARGET, true);
    if (hr != S_OK) {
        drop(s);
        free(s);
        return hr;
    }
    *out = s;
    return S_OK;
}

void d9_swapchain_destroy(struct d9_swapchain *s)
{
    if (!s)
        return;
    drop(s);
    free(s);
}

HRESULT STDMETHODCALLTYPE d9_device_CreateAdditionalSwapChain(IDirect3DDevice9Ex *This,
                                                              D3DPRESENT_PARAMETERS *p,
                                                              IDirect3DSwapChain9 **out)
{
    struct d9_device *d = d9_device_of(This);
    HRESULT hr;

    if (out)
        *out = NULL;
    if (!p || !out || !p->Windowed || !d->chains[0] || !d->chains[0]->params.Windowed)
        return D3DERR_INVALIDCALL;
    hr = d9_check_params(d->factory, p, d->creation.hFocusWindow);
    if (hr == S_OK)
        hr = d9_swapchain_create(d, p, false, (struct d9_swapchain **)out);
    if (hr == S_OK)
        IDirect3DSwapChain9_AddRef(*out);
    return hr;
}

HRESULT STDMETHODCALLTYPE d9_swapchain_QueryInterface(IDirect3DSwapChain9Ex *This, REFIID riid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (!IsEqualGUID(riid, &IID_IUnknown) && !IsEqualGUID(riid, &IID_IDirect3DSwapChain9) &&
        !(of(This)->device->ex && IsEqualGUID(riid, &IID_IDirect3DSwapChain9Ex)))
        return E_NOINTERFACE;
    *out = This;
    d9_swapchain_AddRef(This);
    return S_OK;
}

ULONG STDMETHODCALLTYPE d9_swapchain_AddRef(IDirect3DSwapChain9Ex *This)
{
    struct d9_swapchain *s = of(This);
    LONG refs = __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);

    if (refs == 1)
        s->device->vtbl->AddRef((IDirect3DDevice9Ex *)s->device);
    return (ULONG)refs;
}

ULONG STDMETHODCALLTYPE d9_swapchain_Release(IDirect3DSwapChain9Ex *This)
{
    struct d9_swapchain *s = of(This);
    struct d9_device *d = s->device;
    LONG refs;

    pthread_mutex_lock(&d->lock);
    if (!s->refs) {
        pthread_mutex_unlock(&d->lock);
        return 0;
    }
    refs = __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL);
    if (!refs && !s->implicit)
        d9_swapchain_destroy(s);
    pthread_mutex_unlock(&d->lock);
    if (!refs)
        d->vtbl->Release((IDirect3DDevice9Ex *)d);
    return (ULONG)refs;
}

HRESULT STDMETHODCALLTYPE d9_swapchain_GetBackBuffer(IDirect3DSwapChain9Ex *This, UINT index,
                                                     D3DBACKBUFFER_TYPE type, IDirect3DSurface9 **out)
{
    struct d9_swapchain *s = of(This);

    if (!out || index >= s->count)
        return D3DERR_INVALIDCALL;
    *out = (IDirect3DSurface9 *)&s->back[index]->surfaces[0];
    IDirect3DSurface9_AddRef(*out);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_swapchain_GetDevice(IDirect3DSwapChain9Ex *This, IDirect3DDevice9 **out)
{
    if (!out)
        return D3DERR_INVALIDCALL;
    *out = (IDirect3DDevice9 *)of(This)->device;
    IDirect3DDevice9_AddRef(*out);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_swapchain_GetPresentParameters(IDirect3DSwapChain9Ex *This,
                                                            D3DPRESENT_PARAMETERS *p)
{
    if (!p)
        return D3DERR_INVALIDCALL;
    *p = of(This)->params;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_swapchain_GetDisplayMode(IDirect3DSwapChain9Ex *This, D3DDISPLAYMODE *mode)
{
    return IDirect3D9_GetAdapterDisplayMode((IDirect3D9 *)of(This)->device->factory, 0, mode);
}

HRESULT STDMETHODCALLTYPE d9_swapchain_GetDisplayModeEx(IDirect3DSwapChain9Ex *This, D3DDISPLAYMODEEX *mode,
                                                        D3DDISPLAYROTATION *rotation)
{
    return IDirect3D9Ex_GetAdapterDisplayModeEx((IDirect3D9Ex *)of(This)->device->factory, 0, mode, rotation);
}

/* Each frame that is presented is shown: so many were, or will be, at the vblank that follows. */
HRESULT STDMETHODCALLTYPE d9_swapchain_GetPresentStats(IDirect3DSwapChain9Ex *This, D3DPRESENTSTATS *stats)
{
    if (!stats)
        return D3DERR_INVALIDCALL;
    *stats = (D3DPRESENTSTATS){.PresentCount = of(This)->presents,
                               .PresentRefreshCount = of(This)->presents,
                               .SyncRefreshCount = of(This)->presents};
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_swapchain_GetLastPresentCount(IDirect3DSwapChain9Ex *This, UINT *count)
{
    if (!count)
        return D3DERR_INVALIDCALL;
    *count = of(This)->presents;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_swapchain_GetRasterStatus(IDirect3DSwapChain9Ex *This, D3DRASTER_STATUS *status)
{
    struct d9_device *d = of(This)->device;
    D3DKMT_GETSCANLINE g = {.hAdapter = d->kmt.adapter, .VidPnSourceId = d->factory->source};

    if (!status)
        return D3DERR_INVALIDCALL;
    if (!NT_SUCCESS(D3DKMTGetScanLine(&g)))
        return D3DERR_NOTAVAILABLE;
    *status = (D3DRASTER_STATUS){g.InVerticalBlank, g.ScanLine};
    return D3D_OK;
}

static uint32_t words_of_565(uint16_t v)
{
    const uint32_t r = v >> 11, g = v >> 5 & 63, b = v & 31;

    return 0xFF000000 | (r << 3 | r >> 2) << 16 | (g << 2 | g >> 4) << 8 | (b << 3 | b >> 2);
}

/* What was presented last; nothing was: black. */
HRESULT STDMETHODCALLTYPE d9_swapchain_GetFrontBufferData(IDirect3DSwapChain9Ex *This,
                                                          IDirect3DSurface9 *surface)
{
    struct d9_swapchain *s = of(This);
    struct d9_surface *to = d9_surface_of(surface);
    const UINT width = s->params.BackBufferWidth;
    const void *pixels = NULL;
    UINT pitch = 0;
    bool front;

    if (!to || to->resource->pool != D3DPOOL_SYSTEMMEM || to->resource->format != D3DFMT_A8R8G8B8 ||
        to->width < width || to->height < s->params.BackBufferHeight)
        return D3DERR_INVALIDCALL;
    front = s->presenter && d3d_presenter_front(s->presenter, &pixels, &pitch);
    for (UINT y = 0; y < s->params.BackBufferHeight; y++) {
        uint8_t *row = to->resource->memory + to->offset + (size_t)y * to->pitch;
        const uint8_t *from = (const uint8_t *)pixels + (size_t)y * pitch;

        if (!front)
            memset(row, 0, 4 * (size_t)width);
        else if (s->params.BackBufferFormat != D3DFMT_R5G6B5)
            memcpy(row, from, 4 * (size_t)width);
        else
            for (UINT x = 0; x < width; x++)
                ((uint32_t *)(void *)row)[x] = words_of_565(((const uint16_t *)(const void *)from)[x]);
    }
    if (front)
        d3d_presenter_front_end(s->presenter);
    return D3D_OK;
}

#if defined(_WIN32)
static bool is_empty(const RECT *r)
{
    return r->left >= r->right || r->top >= r->bottom;
}
#endif

/* By the presenter's thread. A device without a window shows nothing. */
static void show(void *context, const struct d3d_where *where, const void *pixels, UINT pitch)
{
#if defined(_WIN32)
    const struct d9_swapchain *s = context;
    const LONG width = (LONG)s->params.BackBufferWidth, height = (LONG)s->params.BackBufferHeight;
    const RECT from = is_empty(&where->from) ? (RECT){0, 0, width, height} : where->from;
    const bool half = s->params.BackBufferFormat == D3DFMT_R5G6B5;
    struct {
        BITMAPINFOHEADER bmiHeader;
        DWORD masks[3];
    } info = {.bmiHeader = {.biSize = sizeof(info.bmiHeader),
                            .biWidth = (LONG)(pitch / (half ? 2 : 4)),
                            .biHeight = from.top - from.bottom,
                            .biPlanes = 1,
                            .biBitCount = half ? 16 : 32,
                            .biCompression = half ? BI_BITFIELDS : BI_RGB},
              .masks = {0xF800, 0x07E0, 0x001F}};
    HDC dc = pixels && where->window ? GetDC(where->window) : NULL;
    RECT r = where->to;

    if (dc && (!is_empty(&r) || GetClientRect(where->window, &r)))
        StretchDIBits(dc, r.left, r.top, r.right - r.left, r.bottom - r.top, from.left, 0,
                      from.right - from.left, from.bottom - from.top,
                      (const char *)pixels + (LONG)pitch * from.top, (BITMAPINFO *)&info, DIB_RGB_COLORS,
                      SRCCOPY);
    if (dc)
        ReleaseDC(where->window, dc);
#endif
}

/* Where picture i's memory is: the driver locks its allocation to lock it. A device that was reset has another one. */
static HRESULT place(struct d9_swapchain *s, int i)
{
    struct d9_device *d = s->device;
    const HANDLE drv = s->pictures[i]->o.drv;
    D3DDDIARG_LOCK l = {.hResource = drv};
    HRESULT hr;

    if (s->placed[i] == drv)
        return S_OK;
    l.Flags.ReadOnly = 1;
    d->kmt.locked = 0;
    hr = DDI9(d, pfnLock, &l);
    if (hr != S_OK || d->lost != S_OK)
        return hr;
    if (d->kmt.locked) {
        d3d_presenter_place(s->presenter, i, d->kmt.locked,
                            (SIZE_T)((const char *)l.pSurfData - (const char *)d->kmt.locked_at), l.Pitch);
        s->placed[i] = drv;
    }
    DDI9(d, pfnUnlock, &(D3DDDIARG_UNLOCK){.hResource = drv});
    return s->placed[i] == drv ? S_OK : D3DERR_DRIVERINTERNALERROR;
}

/* On its way: as many frames as the program allows are in flight, and who presents one more waits for the oldest. */
static HRESULT to_window(struct d9_swapchain *s, const struct d3d_where *where, DWORD flags)
{
    const RECT all = {0, 0, (LONG)s->params.BackBufferWidth, (LONG)s->params.BackBufferHeight};
    const int i = d3d_presenter_room(s->presenter, s->device->latency, !(flags & D3DPRESENT_DONOTWAIT));
    HRESULT hr;

    if (i < 0)
        return D3DERR_WASSTILLDRAWING;
    hr = place(s, i);
    if (hr == S_OK)
        hr = DDI9(s->device, pfnBlt,
                  &(D3DDDIARG_BLT){.hSrcResource = s->back[0]->o.drv,
                                   .SrcRect = all,
                                   .hDstResource = s->pictures[i]->o.drv,
                                   .DstRect = all});
    if (hr == S_OK)
        hr = DDI9(s->device, pfnFlush);
    if (hr == S_OK && s->device->lost == S_OK)
        d3d_presenter_queue(s->presenter, where, s->device->present_interval);
    return hr;
}

HRESULT APIENTRY d9_present_cb(HANDLE h, CONST D3DDDICB_PRESENT *a)
{
    struct d9_device *d = (struct d9_device *)((char *)h - offsetof(struct d9_device, kmt));
    D3DKMT_PRESENT p = {.hContext = (D3DKMT_HANDLE)(uintptr_t)a->hContext,
                        .VidPnSourceId = d->factory->source,
                        .hSource = a->hSrcAllocation,
                        .FlipInterval = (D3DDDI_FLIPINTERVAL_TYPE)d->present_interval};

    p.Flags.Flip = 1;
    return d3d_status(D3DKMTPresent(&p));
}

static HRESULT to_display(struct d9_swapchain *s)
{
    struct d9_device *d = s->device;
    D3DDDIARG_PRESENT a = {.hSrcResource = s->back[0]->o.drv,
                           .hDstResource = s->primary[s->next_primary]->o.drv};
    HRESULT hr;

    a.Flags.Blt = 1;
    hr = DDI9(d, pfnPresent, &a);
    a = (D3DDDIARG_PRESENT){.hSrcResource = a.hDstResource,
                            .FlipInterval = (D3DDDI_FLIPINTERVAL_TYPE)d->present_interval};
    a.Flags.Flip = 1;
    if (hr == S_OK)
        hr = DDI9(d, pfnPresent, &a);
    s->next_primary = (s->next_primary + 1) % D9_PRIMARIES;
    return hr;
}

/* Back buffer 1 becomes 0 and so on: the driver's surfaces change places, the program's stay. */
static void rotate(struct d9_swapchain *s)
{
    HANDLE first = s->back[0]->o.drv;

    if (s->count < 2 || s->params.SwapEffect == D3DSWAPEFFECT_COPY)
        return;
    for (UINT i = 0; i + 1 < s->count; i++)
        s->back[i]->o.drv = s->back[i + 1]->o.drv;
    s->back[s->count - 1]->o.drv = first;
    for (UINT i = 0; i < D9_TARGETS; i++)
        if (s->device->targets[i])
            DDI9(
                s->device, pfnSetRenderTarget,
                &(D3DDDIARG_SETRENDERTARGET){i, s->device->targets[i]->o.drv,
                                             d9_index(s->device->targets[i], s->device->target_surfaces[i])});
}

HRESULT d9_swapchain_shown(const struct d9_swapchain *s, HWND window)
{
    D3DDISPLAYMODEEX mode;

#if defined(_WIN32)
    if (window && (IsIconic(window) || d9_screen_state(s->device) == D9_BEHIND))
        return S_PRESENT_OCCLUDED;
#endif
    if (!s->params.Windowed && d9_display_mode(s->device->factory, &mode) &&
        (mode.Width != s->params.BackBufferWidth || mode.Height != s->params.BackBufferHeight))
        return S_PRESENT_MODE_CHANGED;
    return S_OK;
}

/* Of what the program asks for, what there is in the back buffer; false: that is nothing. */
static bool parts_of(const struct d9_swapchain *s, const RECT *from, const RECT *to, struct d3d_where *out)
{
    const LONG width = (LONG)s->params.BackBufferWidth, height = (LONG)s->params.BackBufferHeight;

    if (from)
        out->from =
            (RECT){from->left < 0 ? 0 : from->left, from->top < 0 ? 0 : from->top,
                   from->right > width ? width : from->right, from->bottom > height ? height : from->bottom};
    if (to)
        out->to = *to;
    return !(from && (out->from.left >= out->from.right || out->from.top >= out->from.bottom)) &&
           !(to && (to->left >= to->right || to->top >= to->bottom));
}

HRESULT d9_swapchain_present(struct d9_swapchain *s, const RECT *from, const RECT *to, HWND window,
                             DWORD flags)
{
    static const uint8_t intervals[] = {1, 1, 2, 0, 3, 0, 0, 0, 4};
    struct d9_device *d = s->device;
    UINT interval = s->params.PresentationInterval;
    struct d3d_where where = {0};
    HRESULT hr = d9_lost(d);

    if (hr != S_OK)
        return d->ex ? hr : D3DERR_DEVICELOST;
    if (!d->ex && d9_screen_state(d) != D9_FRONT)
        return D3DERR_DEVICELOST;
    window = window ? window : s->params.hDeviceWindow ? s->params.hDeviceWindow : d->creation.hFocusWindow;
    hr = d->ex ? d9_swapchain_shown(s, window) : S_OK;
    if (hr != S_OK) /* nobody sees it: the program may wait until somebody does, or reset */
        return hr;
    d->present_interval = flags & D3DPRESENT_FORCEIMMEDIATE || interval == D3DPRESENT_INTERVAL_IMMEDIATE ? 0
                          : interval <= D3DPRESENT_INTERVAL_FOUR ? intervals[interval]
                                                                 : 1;
    where.window = window;
    if (!parts_of(s, from, to, &where))
        return D3DERR_INVALIDCALL;
    hr = s->presenter ? to_window(s, &where, flags) : to_display(s);
    if (d->lost != S_OK)
        return d->ex ? d->lost : D3DERR_DEVICELOST;
    if (hr != S_OK)
        return hr;
    rotate(s);
    s->presents++;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_swapchain_Present(IDirect3DSwapChain9Ex *This, const RECT *from, const RECT *to,
                                               HWND window, const RGNDATA *dirty, DWORD flags)
{
    return d9_swapchain_present(of(This), from, to, window, flags);
}
