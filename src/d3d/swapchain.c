/* SPDX-License-Identifier: MIT */
/* swapchain.c: back buffers, and how they reach a screen.
 *
 *   buffer 0 ─Present─▶ with a window: its words, into the window's inside, as large as that is
 *                       without: a primary of the display's size, which is flipped to
 *            ◀─ buffer 1 ◀─ … ◀─ buffer 0: what is presented in turns moves up by one (the sequential effects)
 *
 * Invariants:
 *  1. Of the effects that discard, a program sees one buffer, and there is one.
 *  2. A chain whose buffers the program holds is not resized.
 */
#include "d3d/tables.h"
#include "d3d/swapchain.h"

static struct swapchain *of(void *This)
{
    return This;
}

static bool flips(DXGI_SWAP_EFFECT e)
{
    return e == DXGI_SWAP_EFFECT_FLIP_SEQUENTIAL || e == DXGI_SWAP_EFFECT_FLIP_DISCARD;
}

static bool in_turns(const struct swapchain *s)
{
    return s->desc.SwapEffect == DXGI_SWAP_EFFECT_SEQUENTIAL ||
           s->desc.SwapEffect == DXGI_SWAP_EFFECT_FLIP_SEQUENTIAL;
}

static UINT seen(const struct swapchain *s) /* 1 */
{
    return in_turns(s) ? s->desc.BufferCount : 1;
}

static void drop_buffers(struct swapchain *s)
{
    struct d3d_child **own[] = {&s->spare, &s->resolved};

    d3d_presenter_destroy(s->presenter);
    s->presenter = NULL;
    for (int i = 0; i < BUFFERS; i++)
        d3d_child_bind(&s->buffers[i], NULL);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        d3d_child_bind(own[i], NULL);
    for (int i = 0; i < D3D_PICTURES; i++)
        d3d_child_bind(&s->pictures[i], NULL);
    for (int i = 0; i < PRIMARIES; i++)
        d3d_child_bind(&s->primary[i], NULL);
}

/* And nothing else: to one that has none. */
static void move_buffers(struct swapchain *to, struct swapchain *from)
{
    enum {
        FIRST = offsetof(struct swapchain, buffers),
        SIZE = offsetof(struct swapchain, presenter) + sizeof(from->presenter) - FIRST
    };

    memcpy((char *)to + FIRST, (char *)from + FIRST, SIZE);
    memset((char *)from + FIRST, 0, SIZE);
}

static void end_swapchain(struct dxgi_object *o)
{
    struct swapchain *s = (struct swapchain *)o;

    drop_buffers(s); /* what was presented is shown */
    dxgi_full_end(s);
    if (s->latency)
        window_semaphore_end(s->latency);
    ID3D11Device_Release((ID3D11Device *)s->device);
}

/* Into a slot of the chain's, which alone has it. */
static HRESULT make(struct swapchain *s, const D3D11_TEXTURE2D_DESC *t, DXGI_DDI_PRIMARY_DESC *primary,
                    struct d3d_child **slot)
{
    struct d3d_child *c = NULL;
    HRESULT hr = d3d_texture_create(s->device, D3D_TEXTURE, t, 1, NULL, primary, &c);

    if (hr != S_OK)
        return hr;
    d3d_child_bind(slot, c);
    d3d_child_release(c);
    return S_OK;
}

static void show(void *context, const struct d3d_where *where, const void *pixels, UINT pitch);

/* Where a picture's memory is: the driver locks its allocation to map it. */
static HRESULT place(struct swapchain *s, int i)
{
    struct d3d_device *d = s->device;
    D3D10DDI_MAPPED_SUBRESOURCE m = {0};
    HRESULT hr;

    pthread_mutex_lock(&d->lock);
    d->kmt.locked = 0;
    d->ddi.pfnStagingResourceMap(d->drv, DRV(D3D10DDI_HRESOURCE, s->pictures[i]), 0, D3D10_DDI_MAP_READ, 0,
                                 &m);
    if (m.pData && d->kmt.locked)
        d3d_presenter_place(s->presenter, i, d->kmt.locked,
                            (SIZE_T)((const char *)m.pData - (const char *)d->kmt.locked_at), m.RowPitch);
    if (m.pData)
        d->ddi.pfnStagingResourceUnmap(d->drv, DRV(D3D10DDI_HRESOURCE, s->pictures[i]), 0);
    pthread_mutex_unlock(&d->lock);
    hr = d3d_take_error(d);
    return hr != S_OK || d3d_presenter_placed(s->presenter, i) ? hr : DXGI_ERROR_DRIVER_INTERNAL_ERROR;
}

/* What the device copies buffers into, and the window shows. */
static HRESULT make_pictures(struct swapchain *s, D3D11_TEXTURE2D_DESC *t)
{
    const D3DKMT_WAITFORVERTICALBLANKEVENT blank = {s->device->adapter->kmt.adapter, 0,
                                                    s->device->adapter->source};
    HRESULT hr = S_OK;

    t->Usage = D3D11_USAGE_STAGING;
    t->BindFlags = 0;
    t->CPUAccessFlags = D3D11_CPU_ACCESS_READ;
    s->presenter = d3d_presenter_create(s->device->kmt.device, &blank, show, s);
    for (int i = 0; i < D3D_PICTURES && s->presenter && hr == S_OK; i++) {
        hr = make(s, t, NULL, &s->pictures[i]);
        if (hr == S_OK)
            hr = place(s, i);
    }
    return s->presenter ? hr : E_OUTOFMEMORY;
}

static HRESULT make_buffers(struct swapchain *s)
{
    D3D11_TEXTURE2D_DESC t = {.Width = s->desc.Width,
                              .Height = s->desc.Height,
                              .MipLevels = 1,
                              .ArraySize = 1,
                              .Format = s->desc.Format,
                              .SampleDesc = s->desc.SampleDesc};
    HRESULT hr = S_OK;

    t.BindFlags = d3d_surface_binds(s->desc.BufferUsage);
    if (t.BindFlags & D3D11_BIND_UNORDERED_ACCESS &&
        ID3D11Device_CreateTexture2D((ID3D11Device *)s->device, &t, NULL, NULL) != S_FALSE)
        return E_INVALIDARG; /* of several samples, or of this feature level */
    t.MiscFlags =
        s->desc.Flags & DXGI_SWAP_CHAIN_FLAG_GDI_COMPATIBLE ? D3D11_RESOURCE_MISC_GDI_COMPATIBLE : 0;
    for (UINT i = 0; i < seen(s) && hr == S_OK; i++) {
        hr = make(s, &t, NULL, &s->buffers[i]);
        if (hr == S_OK)
            s->buffers[i]->shown = i ? D3D_SHOWN_LATER : in_turns(s) ? D3D_SHOWN : D3D_SHOWN_ONCE;
    }
    t.SampleDesc = (DXGI_SAMPLE_DESC){1, 0};
    t.MiscFlags = 0;
    t.BindFlags = D3D11_BIND_RENDER_TARGET;
    if (hr == S_OK && seen(s) > 1)
        hr = make(s, &t, NULL, &s->spare);
    if (hr == S_OK && s->desc.SampleDesc.Count > 1)
        hr = make(s, &t, NULL, &s->resolved);
    if (s->window)
        return hr == S_OK ? make_pictures(s, &t) : hr;
    for (int i = 0; i < PRIMARIES && hr == S_OK; i++) {
        DXGI_DDI_PRIMARY_DESC p = {.VidPnSourceId = s->device->adapter->source,
                                   .ModeDesc = {t.Width, t.Height, t.Format, {60, 1}, 1, 1, 0}};
        hr = make(s, &t, &p, &s->primary[i]);
    }
    return hr;
}

/* The size that a chain without one has; false: there is none, or its buffers would be too large. */
static bool default_size(struct swapchain *s)
{
    D3DKMT_CURRENTDISPLAYMODE m = {.VidPnSourceId = s->device->adapter->source};
    D3DKMT_QUERYADAPTERINFO q = {s->device->adapter->kmt.adapter, KMTQAITYPE_CURRENTDISPLAYMODE, &m,
                                 sizeof(m)};
    UINT width = 0, height = 0;

    if (!s->window) { /* as large as the display, always */
        if (!NT_SUCCESS(D3DKMTQueryAdapterInfo(&q)))
            return false;
        s->desc.Width = m.DisplayMode.Width;
        s->desc.Height = m.DisplayMode.Height;
        return true;
    }
    window_client(s->window, &width, &height);
    if (!s->desc.Width)
        s->desc.Width = width ? width : 8;
    if (!s->desc.Height)
        s->desc.Height = height ? height : 8;
    return s->desc.Width <= d3d_max_texture(s->device) && s->desc.Height <= d3d_max_texture(s->device);
}

static HRESULT check(struct d3d_device *d, const DXGI_SWAP_CHAIN_DESC1 *desc, bool window, bool windowed)
{
    UINT levels = 0;

    if (!d3d_format_shown(d, desc->Format))
        return flips(desc->SwapEffect) && desc->Format ? DXGI_ERROR_INVALID_CALL : E_INVALIDARG;
    if (flips(desc->SwapEffect) &&
        (desc->Format == DXGI_FORMAT_R8G8B8A8_UNORM_SRGB || desc->Format == DXGI_FORMAT_B8G8R8A8_UNORM_SRGB))
        return DXGI_ERROR_INVALID_CALL; /* their views may be, the buffers may not */
    if ((windowed && !window) || desc->BufferCount > BUFFERS ||
        desc->BufferCount < (flips(desc->SwapEffect) ? 2 : 1) ||
        (desc->SwapEffect > DXGI_SWAP_EFFECT_SEQUENTIAL && !flips(desc->SwapEffect)) ||
        (flips(desc->SwapEffect) && desc->SampleDesc.Count != 1) || !desc->SampleDesc.Count)
        return DXGI_ERROR_INVALID_CALL;
    if (desc->SampleDesc.Count > 1) {
        DDI(d, pfnCheckMultisampleQualityLevels, desc->Format, desc->SampleDesc.Count, &levels);
        if (desc->SampleDesc.Quality >= levels)
            return DXGI_ERROR_INVALID_CALL;
    }
    return S_OK;
}

HRESULT dxgi_swapchain_create(struct dxgi_factory *f, struct d3d_device *d, const DXGI_SWAP_CHAIN_DESC1 *desc,
                              const DXGI_SWAP_CHAIN_FULLSCREEN_DESC *full, HWND window, IDXGISwapChain **out)
{
    static const GUID *const iids[] = {&IID_IDXGIDeviceSubObject, &IID_IDXGISwapChain,  &IID_IDXGISwapChain1,
                                       &IID_IDXGISwapChain2,      &IID_IDXGISwapChain3, NULL};
    struct swapchain *s;
    HRESULT hr = check(d, desc, window_is(window), full->Windowed);

    if (hr != S_OK)
        return hr;
    s = dxgi_object_create(sizeof(*s), &dxgi_swapchain_vtbl, f ? &f->object : NULL, iids);
    if (!s)
        return E_OUTOFMEMORY;
    s->device = d;
    s->desc = *desc;
    s->full = *full;
    s->window = window_is(window) ? window : NULL;
    s->object.end = end_swapchain;
    ID3D11Device_AddRef((ID3D11Device *)d);
    dxgi_full_begin(s);
    if (desc->Flags & DXGI_SWAP_CHAIN_FLAG_FRAME_LATENCY_WAITABLE_OBJECT)
        s->latency = window_semaphore(s->latency_most = 1);
    hr = default_size(s) ? make_buffers(s) : DXGI_ERROR_INVALID_CALL;
    if (hr == S_OK && !full->Windowed)
        hr = dxgi_swapchain_SetFullscreenState((IDXGISwapChain3 *)s, TRUE, NULL);
    if (hr != S_OK)
        dxgi_object_Release(s);
    else
        *out = (IDXGISwapChain *)s;
    return hr;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetBuffer(IDXGISwapChain3 *This, UINT index, REFIID riid, void **out)
{
    struct swapchain *s = of(This);

    if (!out)
        return DXGI_ERROR_INVALID_CALL;
    *out = NULL;
    if (index >= seen(s))
        return DXGI_ERROR_INVALID_CALL;
    return IUnknown_QueryInterface((IUnknown *)s->buffers[index], riid, out);
}

/* ---- what it says of itself ---------------------------------------------------------- */

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetDesc1(IDXGISwapChain3 *This, DXGI_SWAP_CHAIN_DESC1 *desc)
{
    if (!desc)
        return E_INVALIDARG;
    *desc = of(This)->desc;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetFullscreenDesc(IDXGISwapChain3 *This,
                                                           DXGI_SWAP_CHAIN_FULLSCREEN_DESC *desc)
{
    if (!desc)
        return E_INVALIDARG;
    *desc = of(This)->full;
    desc->Windowed = !dxgi_full(of(This));
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetDesc(IDXGISwapChain3 *This, DXGI_SWAP_CHAIN_DESC *desc)
{
    struct swapchain *s = of(This);

    if (!desc)
        return E_INVALIDARG;
    *desc = (DXGI_SWAP_CHAIN_DESC){.BufferDesc = {s->desc.Width, s->desc.Height, s->full.RefreshRate,
                                                  s->desc.Format, s->full.ScanlineOrdering, s->full.Scaling},
                                   .SampleDesc = s->desc.SampleDesc,
                                   .BufferUsage = s->desc.BufferUsage,
                                   .BufferCount = s->desc.BufferCount,
                                   .OutputWindow = s->window,
                                   .Windowed = !dxgi_full(s),
                                   .SwapEffect = s->desc.SwapEffect,
                                   .Flags = s->desc.Flags};
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetHwnd(IDXGISwapChain3 *This, HWND *window)
{
    if (!window)
        return DXGI_ERROR_INVALID_CALL;
    *window = of(This)->window;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetCoreWindow(IDXGISwapChain3 *This, REFIID riid, void **out)
{
    if (out)
        *out = NULL;
    return DXGI_ERROR_INVALID_CALL; /* it is of a window */
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetDevice(IDXGISwapChain3 *This, REFIID riid, void **out)
{
    return ID3D11Device_QueryInterface((ID3D11Device *)of(This)->device, riid, out);
}

BOOL STDMETHODCALLTYPE dxgi_swapchain_IsTemporaryMonoSupported(IDXGISwapChain3 *This)
{
    return FALSE;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetRestrictToOutput(IDXGISwapChain3 *This, IDXGIOutput **output)
{
    if (!output)
        return E_INVALIDARG;
    *output = NULL;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_SetBackgroundColor(IDXGISwapChain3 *This, const DXGI_RGBA *colour)
{
    if (!colour)
        return E_INVALIDARG;
    of(This)->background = *colour;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetBackgroundColor(IDXGISwapChain3 *This, DXGI_RGBA *colour)
{
    if (!colour)
        return E_INVALIDARG;
    *colour = of(This)->background;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_SetRotation(IDXGISwapChain3 *This, DXGI_MODE_ROTATION rotation)
{
    return flips(of(This)->desc.SwapEffect) && rotation == DXGI_MODE_ROTATION_IDENTITY
               ? S_OK
               : DXGI_ERROR_INVALID_CALL;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetRotation(IDXGISwapChain3 *This, DXGI_MODE_ROTATION *rotation)
{
    if (!rotation)
        return E_INVALIDARG;
    *rotation = DXGI_MODE_ROTATION_IDENTITY;
    return S_OK;
}

/* ---- latency: frames that are presented and not in the window yet ------------------------ */

HRESULT STDMETHODCALLTYPE dxgi_swapchain_SetMaximumFrameLatency(IDXGISwapChain3 *This, UINT most)
{
    struct swapchain *s = of(This);

    if (!s->latency || !most || most > 16)
        return DXGI_ERROR_INVALID_CALL;
    for (UINT i = s->latency_most; i < most; i++)
        window_semaphore_post(s->latency);
    s->latency_most = most;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetMaximumFrameLatency(IDXGISwapChain3 *This, UINT *most)
{
    struct swapchain *s = of(This);

    if (!s->latency || !most)
        return DXGI_ERROR_INVALID_CALL;
    *most = s->latency_most;
    return S_OK;
}

HANDLE STDMETHODCALLTYPE dxgi_swapchain_GetFrameLatencyWaitableObject(IDXGISwapChain3 *This)
{
#if defined(_WIN32)
    struct swapchain *s = of(This);
    HANDLE copy = NULL;

    if (s->latency)
        DuplicateHandle(GetCurrentProcess(), s->latency, GetCurrentProcess(), &copy, 0, FALSE,
                        DUPLICATE_SAME_ACCESS);
    return copy;
#else
    return NULL;
#endif
}

UINT STDMETHODCALLTYPE dxgi_swapchain_GetCurrentBackBufferIndex(IDXGISwapChain3 *This)
{
    return 0; /* of Direct3D 10 and 11, always */
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_CheckColorSpaceSupport(IDXGISwapChain3 *This,
                                                                DXGI_COLOR_SPACE_TYPE space, UINT *support)
{
    if (!support)
        return E_INVALIDARG;
    *support = space == DXGI_COLOR_SPACE_RGB_FULL_G22_NONE_P709
                   ? DXGI_SWAP_CHAIN_COLOR_SPACE_SUPPORT_FLAG_PRESENT
                   : 0;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_SetColorSpace1(IDXGISwapChain3 *This, DXGI_COLOR_SPACE_TYPE space)
{
    return space == DXGI_COLOR_SPACE_RGB_FULL_G22_NONE_P709 ? S_OK : E_INVALIDARG;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetLastPresentCount(IDXGISwapChain3 *This, UINT *count)
{
    if (!count)
        return E_INVALIDARG;
    *count = of(This)->presents;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetFrameStatistics(IDXGISwapChain3 *This, DXGI_FRAME_STATISTICS *out)
{
    struct swapchain *s = of(This);

    if (!out)
        return E_INVALIDARG;
    if (!dxgi_full(s) && !flips(s->desc.SwapEffect))
        return DXGI_ERROR_INVALID_CALL;
    if (!s->presents)
        return DXGI_ERROR_FRAME_STATISTICS_DISJOINT;
    *out =
        (DXGI_FRAME_STATISTICS){.PresentCount = s->presents, .SyncQPCTime.QuadPart = (LONGLONG)s->presented};
    return S_OK;
}

/* ---- other buffers ------------------------------------------------------------------------ */

HRESULT STDMETHODCALLTYPE dxgi_swapchain_ResizeBuffers(IDXGISwapChain3 *This, UINT count, UINT width,
                                                       UINT height, DXGI_FORMAT format, UINT flags)
{
    struct swapchain *s = of(This);
    DXGI_SWAP_CHAIN_DESC1 desc = s->desc, old = s->desc;
    struct swapchain was = {.presenter = NULL};
    HRESULT hr;

    for (UINT i = 0; i < seen(s); i++)
        if (s->buffers[i]->refs) /* 2 */
            return DXGI_ERROR_INVALID_CALL;
    desc.BufferCount = count ? count : desc.BufferCount;
    desc.Format = format ? format : desc.Format;
    desc.Width = width;
    desc.Height = height;
    desc.Flags = flags;
    if ((flags ^ s->desc.Flags) & DXGI_SWAP_CHAIN_FLAG_FRAME_LATENCY_WAITABLE_OBJECT)
        return DXGI_ERROR_INVALID_CALL;
    hr = check(s->device, &desc, true, true);
    if (hr != S_OK)
        return hr;
    if (s->presenter)
        d3d_presenter_drain(s->presenter); /* they are as large as the description says */
    s->desc = desc;
    if (!default_size(s)) {
        s->desc = old;
        return DXGI_ERROR_INVALID_CALL;
    }
    move_buffers(&was, s);
    hr = make_buffers(s);
    if (hr != S_OK) { /* as they were */
        drop_buffers(s);
        move_buffers(s, &was);
        s->desc = old;
        return hr;
    }
    drop_buffers(&was);
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_ResizeBuffers1(IDXGISwapChain3 *This, UINT count, UINT width,
                                                        UINT height, DXGI_FORMAT format, UINT flags,
                                                        const UINT *masks, IUnknown *const *queues)
{
    return DXGI_ERROR_INVALID_CALL; /* of Direct3D 12 */
}

/* ---- presenting ------------------------------------------------------------------------- */

static unsigned byte_of_half(uint16_t h)
{
    unsigned exponent = h >> 10 & 31, mantissa = h & 1023;
    double v = exponent == 31 ? 1 : exponent ? (1024 + mantissa) / 1024.0 : mantissa / 512.0;

    for (unsigned e = exponent ? exponent : 0; e && e < 15; e++)
        v /= 2;
    if (!exponent)
        v /= 32768;
    if (h & 0x8000)
        return 0;
    return exponent >= 15 && v >= 1 ? 255 : (unsigned)(v * 255 + 0.5);
}

/* Words of eight bits each, red lowest, of what is deeper. */
static uint32_t *narrow(DXGI_FORMAT f, const void *pixels, UINT pitch, UINT width, UINT height)
{
    uint32_t *words = malloc((size_t)width * height * 4);

    for (UINT y = 0; words && y < height; y++) {
        const uint8_t *row = (const uint8_t *)pixels + (size_t)y * pitch;

        for (UINT x = 0; x < width; x++) {
            uint32_t v;

            if (f == DXGI_FORMAT_R10G10B10A2_UNORM) {
                memcpy(&v, row + x * 4, 4);
                v = (v >> 2 & 0xFF) | (v >> 12 & 0xFF) << 8 | (v >> 22 & 0xFF) << 16;
            } else {
                uint16_t h[4];
                memcpy(h, row + x * 8, 8);
                v = byte_of_half(h[0]) | byte_of_half(h[1]) << 8 | byte_of_half(h[2]) << 16;
            }
            words[(size_t)y * width + x] = v;
        }
    }
    return words;
}

/* By the presenter's thread: the description is not changed while there is one. */
static void show(void *context, const struct d3d_where *where, const void *pixels, UINT pitch)
{
    struct swapchain *s = context;
    const DXGI_FORMAT f = s->desc.Format;
    const UINT width = s->desc.Width, height = s->desc.Height;
    uint32_t *words = NULL;

    if (pixels && (f == DXGI_FORMAT_R10G10B10A2_UNORM || f == DXGI_FORMAT_R16G16B16A16_FLOAT)) {
        pixels = words = narrow(f, pixels, pitch, width, height);
        pitch = width * 4;
    }
    if (pixels)
        window_show(where->window, pixels, pitch, width, height,
                    f == DXGI_FORMAT_B8G8R8A8_UNORM || f == DXGI_FORMAT_B8G8R8A8_UNORM_SRGB);
    free(words);
    if (s->latency)
        window_semaphore_post(s->latency);
}

/* On its way: as many frames as the program allows are in flight, and who presents one more waits for the oldest. */
static HRESULT to_window(struct swapchain *s, UINT interval, UINT flags)
{
    struct d3d_device *d = s->device;
    const UINT most = s->latency ? s->latency_most : d->latency;
    const int i = d3d_presenter_room(s->presenter, most, !(flags & DXGI_PRESENT_DO_NOT_WAIT));
    struct d3d_child *src = s->resolved ? s->resolved : s->buffers[0];
    HRESULT hr;

    if (i < 0)
        return DXGI_ERROR_WAS_STILL_DRAWING;
    if (s->resolved)
        DDI(d, pfnResourceResolveSubresource, DRV(D3D10DDI_HRESOURCE, s->resolved), 0,
            DRV(D3D10DDI_HRESOURCE, s->buffers[0]), 0, s->desc.Format);
    DDI(d, pfnResourceCopy, DRV(D3D10DDI_HRESOURCE, s->pictures[i]), DRV(D3D10DDI_HRESOURCE, src));
    DDI(d, pfnFlush, 0);
    hr = d3d_take_error(d);
    if (hr == S_OK)
        d3d_presenter_queue(s->presenter, &(struct d3d_where){.window = s->window}, interval);
    return hr;
}

static HRESULT to_display(struct swapchain *s, UINT interval)
{
    struct d3d_device *d = s->device;
    DXGI_DDI_ARG_PRESENT a = {.hDevice = (DXGI_DDI_HDEVICE)d->drv.pDrvPrivate,
                              .hSurfaceToPresent = (DXGI_DDI_HRESOURCE)s->buffers[0]->drv,
                              .hDstResource = (DXGI_DDI_HRESOURCE)s->primary[s->next]->drv};
    HRESULT hr;

    pthread_mutex_lock(&d->lock);
    d->present_interval = interval;
    a.Flags.Blt = 1;
    hr = d->dxgi.pfnPresent(&a);
    a = (DXGI_DDI_ARG_PRESENT){.hDevice = a.hDevice,
                               .hSurfaceToPresent = a.hDstResource,
                               .FlipInterval = (DXGI_DDI_FLIP_INTERVAL_TYPE)interval};
    a.Flags.Flip = 1;
    if (hr == S_OK)
        hr = d->dxgi.pfnPresent(&a);
    pthread_mutex_unlock(&d->lock);
    s->next = (s->next + 1) % PRIMARIES;
    if (hr != S_OK)
        d3d_tell_error(d, hr);
    return d3d_take_error(d);
}

/* What buffer 1 has moves to 0, and so on; what was presented comes last. */
static void move_up(struct swapchain *s)
{
    struct d3d_device *d = s->device;
    UINT n = seen(s);

    if (n < 2)
        return;
    for (UINT i = 0; i <= n; i++) {
        struct d3d_child *to = i ? s->buffers[i - 1] : s->spare, *from = i < n ? s->buffers[i] : s->spare;
        DDI(d, pfnResourceCopy, DRV(D3D10DDI_HRESOURCE, to), DRV(D3D10DDI_HRESOURCE, from));
    }
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_Present(IDXGISwapChain3 *This, UINT interval, UINT flags)
{
    struct swapchain *s = of(This);
    HRESULT hr;

    if (interval > 4)
        return DXGI_ERROR_INVALID_CALL;
    if (d3d_device_GetDeviceRemovedReason((ID3D11Device *)s->device) != S_OK) /* by an earlier frame, too */
        return DXGI_ERROR_DEVICE_REMOVED;
    hr = dxgi_full_present(s, flags & DXGI_PRESENT_TEST);
    if (hr != S_OK || (s->window && window_minimized(s->window)))
        return DXGI_STATUS_OCCLUDED;
    if (flags & DXGI_PRESENT_TEST)
        return S_OK;
    hr = s->window ? to_window(s, interval, flags) : to_display(s, interval);
    if (hr != S_OK)
        return hr;
    if (!(flags & DXGI_PRESENT_DO_NOT_SEQUENCE))
        move_up(s);
    s->presents++;
    s->presented = window_clock();
    if (s->latency && !s->window)
        window_semaphore_post(s->latency);
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_Present1(IDXGISwapChain3 *This, UINT interval, UINT flags,
                                                  const DXGI_PRESENT_PARAMETERS *changed)
{
    return changed ? dxgi_swapchain_Present(This, interval, flags) : E_INVALIDARG;
}
