/* SPDX-License-Identifier: MIT */
/* dxgi.c: factories, adapters and swap chains.
 *
 *   swap chain: back buffer ─Present─▶ windowed: its bytes, into the window
 *                                      full screen: a primary of the display's size, which is flipped to
 */
#include "d3d/tables.h"
#include "base/export.h"
#include "d3d/d3d.h"

enum { PRIMARIES = 4 };

/* What the objects of DXGI have in common; a child holds its parent. */
struct dxgi_object {
    const void *vtbl;
    LONG refs;
    const GUID *iids[4];
    struct dxgi_object *parent;
    struct d3d_data *data;
    void (*end)(struct dxgi_object *o);
};

struct dxgi_adapter {
    struct dxgi_object object;
    UINT index;
};

struct swapchain {
    struct dxgi_object object;
    struct d3d_device *device;
    DXGI_SWAP_CHAIN_DESC desc;
    struct d3d_child *back, *staging, *primary[PRIMARIES];
    unsigned next;
    UINT presents;
};

static void *new_object(size_t size, const void *vtbl, struct dxgi_object *parent, const GUID *iid,
                        const GUID *iid2)
{
    struct dxgi_object *o = calloc(1, size);

    if (!o)
        return NULL;
    *o = (struct dxgi_object){
        .vtbl = vtbl, .refs = 1, .iids = {&IID_IUnknown, &IID_IDXGIObject, iid, iid2}, .parent = parent};
    if (parent)
        __atomic_add_fetch(&parent->refs, 1, __ATOMIC_RELAXED);
    return o;
}

HRESULT STDMETHODCALLTYPE dxgi_object_QueryInterface(void *This, REFIID riid, void **out)
{
    struct dxgi_object *o = This;

    if (!out)
        return E_POINTER;
    *out = NULL;
    for (int i = 0; i < 4; i++)
        if (IsEqualGUID(riid, o->iids[i]))
            *out = o;
    if (!*out)
        return E_NOINTERFACE;
    dxgi_object_AddRef(o);
    return S_OK;
}

ULONG STDMETHODCALLTYPE dxgi_object_AddRef(void *This)
{
    return (ULONG)__atomic_add_fetch(&((struct dxgi_object *)This)->refs, 1, __ATOMIC_RELAXED);
}

ULONG STDMETHODCALLTYPE dxgi_object_Release(void *This)
{
    struct dxgi_object *o = This, *parent = o->parent;
    LONG refs = __atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL);

    if (refs)
        return (ULONG)refs;
    if (o->end)
        o->end(o);
    d3d_data_free(o->data);
    free(o);
    if (parent)
        dxgi_object_Release(parent);
    return 0;
}

HRESULT STDMETHODCALLTYPE dxgi_object_GetParent(void *This, REFIID riid, void **out)
{
    struct dxgi_object *o = This;

    return o->parent ? dxgi_object_QueryInterface(o->parent, riid, out) : E_NOINTERFACE;
}

HRESULT STDMETHODCALLTYPE dxgi_object_GetPrivateData(void *This, REFGUID guid, UINT *size, void *bytes)
{
    return d3d_data_get(((struct dxgi_object *)This)->data, guid, size, bytes);
}

HRESULT STDMETHODCALLTYPE dxgi_object_SetPrivateData(void *This, REFGUID guid, UINT size, const void *bytes)
{
    return d3d_data_set(&((struct dxgi_object *)This)->data, guid, size, bytes);
}

HRESULT STDMETHODCALLTYPE dxgi_object_SetPrivateDataInterface(void *This, REFGUID guid,
                                                              const IUnknown *object)
{
    return d3d_data_set_interface(&((struct dxgi_object *)This)->data, guid, object);
}

/* ---- factories and adapters -------------------------------------------------- */

static HRESULT new_adapter(struct dxgi_object *factory, UINT index, void **out)
{
    struct dxgi_adapter *a;
    D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME open;

    *out = NULL;
    if (index || !d3d_display_open(&open))
        return DXGI_ERROR_NOT_FOUND;
    D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){.hAdapter = open.hAdapter});
    a = new_object(sizeof(*a), &dxgi_adapter_vtbl, factory, &IID_IDXGIAdapter, &IID_IDXGIAdapter1);
    if (!a)
        return E_OUTOFMEMORY;
    *out = a;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_factory_EnumAdapters(IDXGIFactory1 *This, UINT index, IDXGIAdapter **out)
{
    return out ? new_adapter((struct dxgi_object *)This, index, (void **)out) : DXGI_ERROR_INVALID_CALL;
}

HRESULT STDMETHODCALLTYPE dxgi_factory_EnumAdapters1(IDXGIFactory1 *This, UINT index, IDXGIAdapter1 **out)
{
    return out ? new_adapter((struct dxgi_object *)This, index, (void **)out) : DXGI_ERROR_INVALID_CALL;
}

BOOL STDMETHODCALLTYPE dxgi_factory_IsCurrent(IDXGIFactory1 *This)
{
    return TRUE;
}

HRESULT STDMETHODCALLTYPE dxgi_factory_MakeWindowAssociation(IDXGIFactory1 *This, HWND window, UINT flags)
{
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_factory_CreateSwapChain(IDXGIFactory1 *This, IUnknown *device,
                                                       DXGI_SWAP_CHAIN_DESC *desc, IDXGISwapChain **out)
{
    ID3D11Device *d = NULL;
    HRESULT hr;

    if (!device || !desc || !out)
        return DXGI_ERROR_INVALID_CALL;
    *out = NULL;
    if (IUnknown_QueryInterface(device, &IID_ID3D11Device, (void **)&d) != S_OK || !d3d_device_of(d))
        return DXGI_ERROR_UNSUPPORTED;
    hr = d3d_swapchain_create(d3d_device_of(d), desc, out);
    ID3D11Device_Release(d);
    return hr;
}

static void describe(struct d3d_adapter *a, DXGI_ADAPTER_DESC1 *out)
{
    D3DKMT_ADAPTERREGISTRYINFO registry = {0};
    D3DKMT_SEGMENTSIZEINFO sizes = {0};
    D3DKMT_QUERY_DEVICE_IDS ids = {0};
    const struct {
        KMTQUERYADAPTERINFOTYPE type;
        void *data;
        UINT size;
    } asks[] = {{KMTQAITYPE_ADAPTERREGISTRYINFO, &registry, sizeof(registry)},
                {KMTQAITYPE_GETSEGMENTSIZE, &sizes, sizeof(sizes)},
                {KMTQAITYPE_PHYSICALADAPTERDEVICEIDS, &ids, sizeof(ids)}};

    for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
        D3DKMTQueryAdapterInfo(
            &(D3DKMT_QUERYADAPTERINFO){a->kmt.adapter, asks[i].type, asks[i].data, asks[i].size});
    *out = (DXGI_ADAPTER_DESC1){.VendorId = ids.DeviceIds.VendorID,
                                .DeviceId = ids.DeviceIds.DeviceID,
                                .SubSysId = ids.DeviceIds.SubSystemID << 16 | ids.DeviceIds.SubVendorID,
                                .Revision = ids.DeviceIds.RevisionID,
                                .DedicatedVideoMemory = (SIZE_T)sizes.DedicatedVideoMemorySize,
                                .DedicatedSystemMemory = (SIZE_T)sizes.DedicatedSystemMemorySize,
                                .SharedSystemMemory = (SIZE_T)sizes.SharedSystemMemorySize,
                                .AdapterLuid = a->luid};
    memcpy(out->Description, registry.AdapterString, sizeof(out->Description));
    out->Description[127] = 0;
}

HRESULT STDMETHODCALLTYPE dxgi_adapter_GetDesc1(IDXGIAdapter1 *This, DXGI_ADAPTER_DESC1 *desc)
{
    struct d3d_adapter *a;
    HRESULT hr;

    if (!desc)
        return E_INVALIDARG;
    hr = d3d_adapter_open(&a);
    if (hr != S_OK)
        return hr;
    describe(a, desc);
    d3d_adapter_close(a);
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_adapter_GetDesc(IDXGIAdapter1 *This, DXGI_ADAPTER_DESC *desc)
{
    DXGI_ADAPTER_DESC1 d;
    HRESULT hr = desc ? dxgi_adapter_GetDesc1(This, &d) : E_INVALIDARG;

    if (hr == S_OK)
        memcpy(desc, &d, sizeof(*desc)); /* the same without its last member */
    return hr;
}

HRESULT STDMETHODCALLTYPE dxgi_adapter_EnumOutputs(IDXGIAdapter1 *This, UINT index, IDXGIOutput **out)
{
    if (out)
        *out = NULL;
    return DXGI_ERROR_NOT_FOUND;
}

/* ---- swap chains --------------------------------------------------------------- */

static void end_swapchain(struct dxgi_object *o)
{
    struct swapchain *s = (struct swapchain *)o;

    d3d_child_bind(&s->back, NULL);
    if (s->staging)
        d3d_child_release(s->staging);
    for (int i = 0; i < PRIMARIES; i++)
        if (s->primary[i])
            d3d_child_release(s->primary[i]);
    ID3D11Device_Release((ID3D11Device *)s->device);
}

static HRESULT make_buffers(struct swapchain *s)
{
    D3D11_TEXTURE2D_DESC t = {.Width = s->desc.BufferDesc.Width,
                              .Height = s->desc.BufferDesc.Height,
                              .MipLevels = 1,
                              .ArraySize = 1,
                              .Format = s->desc.BufferDesc.Format,
                              .SampleDesc = {1, 0},
                              .BindFlags = D3D11_BIND_RENDER_TARGET | D3D11_BIND_SHADER_RESOURCE};
    struct d3d_child *back = NULL;
    HRESULT hr = d3d_texture_create(s->device, D3D_TEXTURE, &t, 1, NULL, NULL, &back);

    if (hr != S_OK)
        return hr;
    back->shown = true;
    d3d_child_bind(&s->back, back);
    d3d_child_release(back);
    t.Usage = D3D11_USAGE_STAGING;
    t.BindFlags = 0;
    t.CPUAccessFlags = D3D11_CPU_ACCESS_READ;
    if (s->desc.Windowed)
        return d3d_texture_create(s->device, D3D_TEXTURE, &t, 1, NULL, NULL, &s->staging);
    t.Usage = D3D11_USAGE_DEFAULT;
    t.BindFlags = D3D11_BIND_RENDER_TARGET;
    t.CPUAccessFlags = 0;
    for (int i = 0; i < PRIMARIES && hr == S_OK; i++) {
        DXGI_DDI_PRIMARY_DESC p = {.VidPnSourceId = s->device->adapter->source,
                                   .ModeDesc = {t.Width, t.Height, t.Format, {60, 1}, 1, 1, 0}};
        hr = d3d_texture_create(s->device, D3D_TEXTURE, &t, 1, NULL, &p, &s->primary[i]);
    }
    return hr;
}

/* The display's mode, which is what a full screen is as large as. */
static bool mode_of(struct d3d_adapter *a, UINT *width, UINT *height)
{
    D3DKMT_CURRENTDISPLAYMODE m = {.VidPnSourceId = a->source};
    D3DKMT_QUERYADAPTERINFO q = {a->kmt.adapter, KMTQAITYPE_CURRENTDISPLAYMODE, &m, sizeof(m)};

    if (!NT_SUCCESS(D3DKMTQueryAdapterInfo(&q)))
        return false;
    *width = m.DisplayMode.Width;
    *height = m.DisplayMode.Height;
    return true;
}

static bool is_bgra(DXGI_FORMAT f)
{
    return f == DXGI_FORMAT_B8G8R8A8_UNORM || f == DXGI_FORMAT_B8G8R8A8_UNORM_SRGB;
}

HRESULT d3d_swapchain_create(struct d3d_device *d, const DXGI_SWAP_CHAIN_DESC *desc, IDXGISwapChain **out)
{
    struct swapchain *s;
    UINT width, height;
    HRESULT hr;

    if (!is_bgra(desc->BufferDesc.Format) && desc->BufferDesc.Format != DXGI_FORMAT_R8G8B8A8_UNORM &&
        desc->BufferDesc.Format != DXGI_FORMAT_R8G8B8A8_UNORM_SRGB)
        return DXGI_ERROR_UNSUPPORTED;
    if ((desc->Windowed && !desc->OutputWindow) || desc->SampleDesc.Count > 1 ||
        !mode_of(d->adapter, &width, &height))
        return DXGI_ERROR_INVALID_CALL;
    s = new_object(sizeof(*s), &dxgi_swapchain_vtbl, NULL, &IID_IDXGISwapChain, &IID_IDXGIDeviceSubObject);
    if (!s)
        return E_OUTOFMEMORY;
    s->device = d;
    s->desc = *desc;
    s->object.end = end_swapchain;
    ID3D11Device_AddRef((ID3D11Device *)d);
#if defined(_WIN32)
    if (desc->Windowed) {
        RECT r = {0};
        GetClientRect(desc->OutputWindow, &r);
        width = (UINT)r.right;
        height = (UINT)r.bottom;
    }
#endif
    if (!s->desc.BufferDesc.Width || !desc->Windowed)
        s->desc.BufferDesc.Width = width ? width : 8;
    if (!s->desc.BufferDesc.Height || !desc->Windowed)
        s->desc.BufferDesc.Height = height ? height : 8;
    hr = make_buffers(s);
    if (hr != S_OK)
        dxgi_object_Release(s);
    else
        *out = (IDXGISwapChain *)s;
    return hr;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetBuffer(IDXGISwapChain *This, UINT index, REFIID riid, void **out)
{
    struct swapchain *s = (struct swapchain *)This;

    if (index || !out)
        return DXGI_ERROR_INVALID_CALL;
    return IUnknown_QueryInterface((IUnknown *)s->back, riid, out);
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetDesc(IDXGISwapChain *This, DXGI_SWAP_CHAIN_DESC *desc)
{
    if (!desc)
        return E_INVALIDARG;
    *desc = ((struct swapchain *)This)->desc;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetDevice(IDXGISwapChain *This, REFIID riid, void **out)
{
    return ID3D11Device_QueryInterface((ID3D11Device *)((struct swapchain *)This)->device, riid, out);
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetLastPresentCount(IDXGISwapChain *This, UINT *count)
{
    *count = ((struct swapchain *)This)->presents;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_GetFullscreenState(IDXGISwapChain *This, BOOL *fullscreen,
                                                            IDXGIOutput **target)
{
    if (fullscreen)
        *fullscreen = !((struct swapchain *)This)->desc.Windowed;
    if (target)
        *target = NULL;
    return S_OK;
}

/* The picture's bytes, into the window. */
static HRESULT to_window(struct swapchain *s)
{
    struct d3d_device *d = s->device;
    ID3D11DeviceContext *c = (ID3D11DeviceContext *)&d->context;
    D3D11_MAPPED_SUBRESOURCE m;
    HRESULT hr;

    ID3D11DeviceContext_CopyResource(c, (ID3D11Resource *)s->staging, (ID3D11Resource *)s->back);
    hr = ID3D11DeviceContext_Map(c, (ID3D11Resource *)s->staging, 0, D3D11_MAP_READ, 0, &m);
    if (hr != S_OK)
        return hr;
#if defined(_WIN32)
    HDC dc = GetDC(s->desc.OutputWindow);
    /* where red, green and blue lie in a word */
    const DWORD masks[2][3] = {{0x0000FF, 0x00FF00, 0xFF0000}, {0xFF0000, 0x00FF00, 0x0000FF}};
    struct {
        BITMAPINFOHEADER header;
        DWORD masks[3];
    } info = {.header = {.biSize = sizeof(info.header),
                         .biWidth = (LONG)(m.RowPitch / 4),
                         .biHeight = -(LONG)s->desc.BufferDesc.Height,
                         .biPlanes = 1,
                         .biBitCount = 32,
                         .biCompression = BI_BITFIELDS}};

    memcpy(info.masks, masks[is_bgra(s->desc.BufferDesc.Format)], sizeof(info.masks));
    if (dc) {
        SetDIBitsToDevice(dc, 0, 0, s->desc.BufferDesc.Width, s->desc.BufferDesc.Height, 0, 0, 0,
                          s->desc.BufferDesc.Height, m.pData, (const BITMAPINFO *)&info, DIB_RGB_COLORS);
        ReleaseDC(s->desc.OutputWindow, dc);
    }
#endif
    ID3D11DeviceContext_Unmap(c, (ID3D11Resource *)s->staging, 0);
    return S_OK;
}

static HRESULT to_display(struct swapchain *s, UINT interval)
{
    struct d3d_device *d = s->device;
    DXGI_DDI_ARG_PRESENT a = {.hDevice = (DXGI_DDI_HDEVICE)d->drv.pDrvPrivate,
                              .hSurfaceToPresent = (DXGI_DDI_HRESOURCE)s->back->drv,
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
        d->error = hr;
    return d3d_take_error(d);
}

HRESULT STDMETHODCALLTYPE dxgi_swapchain_Present(IDXGISwapChain *This, UINT interval, UINT flags)
{
    struct swapchain *s = (struct swapchain *)This;
    HRESULT hr;

    if (interval > 4)
        return DXGI_ERROR_INVALID_CALL;
    if (flags & DXGI_PRESENT_TEST)
        return s->device->removed != S_OK ? DXGI_ERROR_DEVICE_REMOVED : S_OK;
    hr = s->desc.Windowed ? to_window(s) : to_display(s, interval);
    if (hr == S_OK)
        s->presents++;
    return hr;
}

/* ---- exports ---------------------------------------------------------------------- */

EXPORT HRESULT WINAPI CreateDXGIFactory1(REFIID riid, void **out)
{
    struct dxgi_object *f =
        new_object(sizeof(*f), &dxgi_factory_vtbl, NULL, &IID_IDXGIFactory, &IID_IDXGIFactory1);
    HRESULT hr;

    if (!f)
        return E_OUTOFMEMORY;
    hr = dxgi_object_QueryInterface(f, riid, out);
    dxgi_object_Release(f);
    return hr;
}

EXPORT HRESULT WINAPI CreateDXGIFactory(REFIID riid, void **out)
{
    return CreateDXGIFactory1(riid, out);
}

/* The first of the levels asked for that the driver has. */
static D3D_FEATURE_LEVEL choose(struct d3d_adapter *a, const D3D_FEATURE_LEVEL *levels, UINT count)
{
    static const D3D_FEATURE_LEVEL usual[] = {D3D_FEATURE_LEVEL_11_0, D3D_FEATURE_LEVEL_10_1,
                                              D3D_FEATURE_LEVEL_10_0, D3D_FEATURE_LEVEL_9_3,
                                              D3D_FEATURE_LEVEL_9_2,  D3D_FEATURE_LEVEL_9_1};
    D3D11DDI_3DPIPELINESUPPORT_CAPS caps = {0};
    D3D10_2DDIARG_GETCAPS ask = {D3D11DDICAPS_3DPIPELINESUPPORT, NULL, &caps, sizeof(caps)};

    if (!levels) {
        levels = usual;
        count = sizeof(usual) / sizeof(usual[0]);
    }
    if (a->ddi.pfnGetCaps(a->drv, &ask) != S_OK)
        return 0;
    for (UINT i = 0; i < count; i++)
        if ((levels[i] == D3D_FEATURE_LEVEL_11_0 && caps.Caps & 4) ||
            (levels[i] == D3D_FEATURE_LEVEL_10_1 && caps.Caps & 6) || levels[i] == D3D_FEATURE_LEVEL_10_0 ||
            levels[i] == D3D_FEATURE_LEVEL_9_3 || levels[i] == D3D_FEATURE_LEVEL_9_2 ||
            levels[i] == D3D_FEATURE_LEVEL_9_1) /* part of 10_0 */
            return levels[i];
    return 0;
}

EXPORT HRESULT WINAPI D3D11CreateDeviceAndSwapChain(IDXGIAdapter *adapter, D3D_DRIVER_TYPE type,
                                                    HMODULE software, UINT flags,
                                                    const D3D_FEATURE_LEVEL *levels, UINT num_levels,
                                                    UINT version, const DXGI_SWAP_CHAIN_DESC *desc,
                                                    IDXGISwapChain **swapchain, ID3D11Device **device,
                                                    D3D_FEATURE_LEVEL *level, ID3D11DeviceContext **context)
{
    struct d3d_adapter *a;
    struct d3d_device *d = NULL;
    D3D_FEATURE_LEVEL chosen;
    IDXGIFactory1 *factory = NULL;
    HRESULT hr;

    if (device)
        *device = NULL;
    if (context)
        *context = NULL;
    if (swapchain)
        *swapchain = NULL;
    if (version != D3D11_SDK_VERSION || (adapter && type != D3D_DRIVER_TYPE_UNKNOWN) || software)
        return E_INVALIDARG;
    if (!adapter && type != D3D_DRIVER_TYPE_HARDWARE)
        return DXGI_ERROR_UNSUPPORTED;
    hr = d3d_adapter_open(&a);
    if (hr != S_OK)
        return hr == DXGI_ERROR_NOT_FOUND ? DXGI_ERROR_UNSUPPORTED : hr;
    chosen = choose(a, levels, num_levels);
    hr = chosen ? d3d_device_create(&d, a, flags, chosen) : DXGI_ERROR_UNSUPPORTED;
    if (hr != S_OK) {
        d3d_adapter_close(a);
        return hr;
    }
    if (level)
        *level = chosen;
    if (CreateDXGIFactory1(&IID_IDXGIFactory1, (void **)&factory) == S_OK) {
        new_adapter((struct dxgi_object *)factory, 0, (void **)&d->dxgi_adapter);
        IDXGIFactory1_Release(factory);
    }
    if (desc && swapchain)
        hr = d3d_swapchain_create(d, desc, swapchain);
    if (hr == S_OK && context)
        ID3D11Device_GetImmediateContext((ID3D11Device *)d, context);
    if (hr == S_OK && device) {
        *device = (ID3D11Device *)d;
        return S_OK;
    }
    ID3D11Device_Release((ID3D11Device *)d);
    return hr == S_OK && !device && !context && !swapchain ? S_FALSE : hr;
}

EXPORT HRESULT WINAPI D3D11CreateDevice(IDXGIAdapter *adapter, D3D_DRIVER_TYPE type, HMODULE software,
                                        UINT flags, const D3D_FEATURE_LEVEL *levels, UINT num_levels,
                                        UINT version, ID3D11Device **device, D3D_FEATURE_LEVEL *level,
                                        ID3D11DeviceContext **context)
{
    return D3D11CreateDeviceAndSwapChain(adapter, type, software, flags, levels, num_levels, version, NULL,
                                         NULL, device, level, context);
}
