/* SPDX-License-Identifier: MIT */
/* dxgi.c: factories and adapters, and how devices are made of them. */
#include "d3d/tables.h"
#include "base/export.h"
#include "d3d/screens.h"

void *dxgi_object_create(size_t size, const void *vtbl, struct dxgi_object *parent, const GUID *const *iids)
{
    struct dxgi_object *o = calloc(1, size);

    if (!o)
        return NULL;
    *o = (struct dxgi_object){.vtbl = vtbl, .refs = 1, .iids = iids, .parent = parent};
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
    for (const GUID *const *iid = o->iids; *iid; iid++)
        if (IsEqualGUID(riid, *iid))
            *out = o;
    if (IsEqualGUID(riid, &IID_IUnknown) || IsEqualGUID(riid, &IID_IDXGIObject))
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

/* ---- factories ----------------------------------------------------------------- */

static HRESULT new_adapter(struct dxgi_object *factory, UINT index, void **out)
{
    static const GUID *const iids[] = {&IID_IDXGIAdapter, &IID_IDXGIAdapter1, &IID_IDXGIAdapter2,
                                       &IID_IDXGIAdapter3, NULL};
    struct dxgi_adapter *a;
    D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME open;

    *out = NULL;
    if (index || !d3d_display_open(&open))
        return DXGI_ERROR_NOT_FOUND;
    D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){.hAdapter = open.hAdapter});
    a = dxgi_object_create(sizeof(*a), &dxgi_adapter_vtbl, factory, iids);
    if (!a)
        return E_OUTOFMEMORY;
    *out = a;
    return S_OK;
}

static struct dxgi_factory *factory_of(void *This)
{
    return This;
}

HRESULT STDMETHODCALLTYPE dxgi_factory_EnumAdapters(IDXGIFactory5 *This, UINT index, IDXGIAdapter **out)
{
    return out ? new_adapter((struct dxgi_object *)This, index, (void **)out) : DXGI_ERROR_INVALID_CALL;
}

HRESULT STDMETHODCALLTYPE dxgi_factory_EnumAdapters1(IDXGIFactory5 *This, UINT index, IDXGIAdapter1 **out)
{
    return out ? new_adapter((struct dxgi_object *)This, index, (void **)out) : DXGI_ERROR_INVALID_CALL;
}

HRESULT STDMETHODCALLTYPE dxgi_factory_EnumAdapterByLuid(IDXGIFactory5 *This, LUID luid, REFIID riid,
                                                         void **out)
{
    IUnknown *adapter = NULL;
    DXGI_ADAPTER_DESC1 desc;
    HRESULT hr;

    if (!out)
        return DXGI_ERROR_INVALID_CALL;
    *out = NULL;
    hr = new_adapter((struct dxgi_object *)This, 0, (void **)&adapter);
    if (hr != S_OK)
        return hr;
    hr = dxgi_adapter_GetDesc1((IDXGIAdapter3 *)adapter, &desc);
    if (hr == S_OK)
        hr = memcmp(&luid, &desc.AdapterLuid, sizeof(luid)) ? DXGI_ERROR_NOT_FOUND
                                                            : IUnknown_QueryInterface(adapter, riid, out);
    IUnknown_Release(adapter);
    return hr;
}

/* There is no adapter but the kernel's. */
HRESULT STDMETHODCALLTYPE dxgi_factory_EnumWarpAdapter(IDXGIFactory5 *This, REFIID riid, void **out)
{
    if (out)
        *out = NULL;
    return DXGI_ERROR_NOT_FOUND;
}

HRESULT STDMETHODCALLTYPE dxgi_factory_CreateSoftwareAdapter(IDXGIFactory5 *This, HMODULE module,
                                                             IDXGIAdapter **out)
{
    if (out)
        *out = NULL;
    return DXGI_ERROR_UNSUPPORTED;
}

BOOL STDMETHODCALLTYPE dxgi_factory_IsCurrent(IDXGIFactory5 *This)
{
    return TRUE;
}

BOOL STDMETHODCALLTYPE dxgi_factory_IsWindowedStereoEnabled(IDXGIFactory5 *This)
{
    return FALSE;
}

UINT STDMETHODCALLTYPE dxgi_factory_GetCreationFlags(IDXGIFactory5 *This)
{
    return factory_of(This)->flags;
}

HRESULT STDMETHODCALLTYPE dxgi_factory_CheckFeatureSupport(IDXGIFactory5 *This, DXGI_FEATURE feature,
                                                           void *data, UINT size)
{
    if (feature != DXGI_FEATURE_PRESENT_ALLOW_TEARING || !data || size != sizeof(BOOL))
        return DXGI_ERROR_INVALID_CALL;
    *(BOOL *)data = TRUE; /* a window is drawn to whenever a picture comes */
    return S_OK;
}

static HRESULT new_swapchain(void *factory, IUnknown *device, const DXGI_SWAP_CHAIN_DESC1 *desc,
                             const DXGI_SWAP_CHAIN_FULLSCREEN_DESC *full, HWND window, IDXGISwapChain **out)
{
    ID3D11Device *d = NULL;
    HRESULT hr;

    *out = NULL;
    if (IUnknown_QueryInterface(device, &IID_ID3D11Device, (void **)&d) != S_OK || !d3d_device_of(d))
        return DXGI_ERROR_UNSUPPORTED;
    hr = dxgi_swapchain_create(factory, d3d_device_of(d), desc, full, window, out);
    ID3D11Device_Release(d);
    return hr;
}

HRESULT STDMETHODCALLTYPE dxgi_factory_CreateSwapChain(IDXGIFactory5 *This, IUnknown *device,
                                                       DXGI_SWAP_CHAIN_DESC *desc, IDXGISwapChain **out)
{
    DXGI_SWAP_CHAIN_FULLSCREEN_DESC full;
    DXGI_SWAP_CHAIN_DESC1 d;

    if (!device || !desc || !out)
        return DXGI_ERROR_INVALID_CALL;
    d = (DXGI_SWAP_CHAIN_DESC1){.Width = desc->BufferDesc.Width,
                                .Height = desc->BufferDesc.Height,
                                .Format = desc->BufferDesc.Format,
                                .SampleDesc = desc->SampleDesc,
                                .BufferUsage = desc->BufferUsage,
                                .BufferCount = desc->BufferCount,
                                .Scaling = DXGI_SCALING_STRETCH,
                                .SwapEffect = desc->SwapEffect,
                                .AlphaMode = DXGI_ALPHA_MODE_IGNORE,
                                .Flags = desc->Flags};
    full = (DXGI_SWAP_CHAIN_FULLSCREEN_DESC){desc->BufferDesc.RefreshRate, desc->BufferDesc.ScanlineOrdering,
                                             desc->BufferDesc.Scaling, desc->Windowed};
    return new_swapchain(This, device, &d, &full, desc->OutputWindow, out);
}

HRESULT STDMETHODCALLTYPE dxgi_factory_CreateSwapChainForHwnd(IDXGIFactory5 *This, IUnknown *device,
                                                              HWND window, const DXGI_SWAP_CHAIN_DESC1 *desc,
                                                              const DXGI_SWAP_CHAIN_FULLSCREEN_DESC *full,
                                                              IDXGIOutput *restrict_to, IDXGISwapChain1 **out)
{
    const DXGI_SWAP_CHAIN_FULLSCREEN_DESC windowed = {.Windowed = TRUE};

    if (!device || !window || !desc || !out || desc->Stereo)
        return DXGI_ERROR_INVALID_CALL;
    return new_swapchain(This, device, desc, full ? full : &windowed, window, (IDXGISwapChain **)out);
}

/* ---- adapters ------------------------------------------------------------------- */

HRESULT STDMETHODCALLTYPE dxgi_adapter_SetVideoMemoryReservation(IDXGIAdapter3 *This, UINT node,
                                                                 DXGI_MEMORY_SEGMENT_GROUP group,
                                                                 UINT64 bytes)
{
    return node || bytes ? DXGI_ERROR_INVALID_CALL : S_OK; /* nothing can be reserved */
}

/* A budget that never changes is told once. */
HRESULT STDMETHODCALLTYPE dxgi_adapter_RegisterVideoMemoryBudgetChangeNotificationEvent(IDXGIAdapter3 *This,
                                                                                        HANDLE event,
                                                                                        DWORD *cookie)
{
    if (!event || !cookie)
        return DXGI_ERROR_INVALID_CALL;
    *cookie = 1;
    window_event_set(event);
    return S_OK;
}

void STDMETHODCALLTYPE dxgi_adapter_UnregisterVideoMemoryBudgetChangeNotification(IDXGIAdapter3 *This,
                                                                                  DWORD cookie)
{
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

HRESULT STDMETHODCALLTYPE dxgi_adapter_GetDesc1(IDXGIAdapter3 *This, DXGI_ADAPTER_DESC1 *desc)
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

HRESULT STDMETHODCALLTYPE dxgi_adapter_GetDesc(IDXGIAdapter3 *This, DXGI_ADAPTER_DESC *desc)
{
    DXGI_ADAPTER_DESC1 d;
    HRESULT hr = desc ? dxgi_adapter_GetDesc1(This, &d) : E_INVALIDARG;

    if (hr == S_OK)
        memcpy(desc, &d, sizeof(*desc)); /* the same without its last member */
    return hr;
}

HRESULT STDMETHODCALLTYPE dxgi_adapter_GetDesc2(IDXGIAdapter3 *This, DXGI_ADAPTER_DESC2 *desc)
{
    DXGI_ADAPTER_DESC1 d;
    HRESULT hr = desc ? dxgi_adapter_GetDesc1(This, &d) : E_INVALIDARG;

    if (hr != S_OK)
        return hr;
    *desc =
        (DXGI_ADAPTER_DESC2){.GraphicsPreemptionGranularity = DXGI_GRAPHICS_PREEMPTION_DMA_BUFFER_BOUNDARY,
                             .ComputePreemptionGranularity = DXGI_COMPUTE_PREEMPTION_DMA_BUFFER_BOUNDARY};
    memcpy(desc, &d, sizeof(d)); /* its first members */
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_adapter_EnumOutputs(IDXGIAdapter3 *This, UINT index, IDXGIOutput **out)
{
    struct dxgi_output *o;
    HRESULT hr;

    if (!out)
        return E_INVALIDARG;
    *out = NULL;
    hr = dxgi_output_create((struct dxgi_adapter *)This, index, &o);
    if (hr == S_OK)
        *out = (IDXGIOutput *)o;
    return hr;
}

/* Of Direct3D 10 and 10.1, as documented: who asks for 11 is told to make a device. */
HRESULT STDMETHODCALLTYPE dxgi_adapter_CheckInterfaceSupport(IDXGIAdapter3 *This, REFGUID guid,
                                                             LARGE_INTEGER *version)
{
    if (!IsEqualGUID(guid, &IID_IDXGIDevice) && !IsEqualGUID(guid, &IID_ID3D10Device) &&
        !IsEqualGUID(guid, &IID_ID3D10Device1))
        return DXGI_ERROR_UNSUPPORTED;
    if (version)
        version->QuadPart = (LONGLONG)D3D11_0_DDI_INTERFACE << 32 | D3D11_0_DDI_BUILD_VERSION << 16;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_adapter_QueryVideoMemoryInfo(IDXGIAdapter3 *This, UINT node,
                                                            DXGI_MEMORY_SEGMENT_GROUP group,
                                                            DXGI_QUERY_VIDEO_MEMORY_INFO *info)
{
    DXGI_ADAPTER_DESC1 d;
    HRESULT hr;

    if (node || !info ||
        (group != DXGI_MEMORY_SEGMENT_GROUP_LOCAL && group != DXGI_MEMORY_SEGMENT_GROUP_NON_LOCAL))
        return DXGI_ERROR_INVALID_CALL;
    hr = dxgi_adapter_GetDesc1(This, &d);
    if (hr == S_OK)
        *info = (DXGI_QUERY_VIDEO_MEMORY_INFO){.Budget = group == DXGI_MEMORY_SEGMENT_GROUP_LOCAL
                                                             ? d.DedicatedVideoMemory
                                                             : d.SharedSystemMemory};
    return hr;
}

/* ---- exports ---------------------------------------------------------------------- */

EXPORT HRESULT WINAPI CreateDXGIFactory1(REFIID riid, void **out)
{
    static const GUID *const iids[] = {&IID_IDXGIFactory,
                                       &IID_IDXGIFactory1,
                                       &IID_IDXGIFactory2,
                                       &IID_IDXGIFactory3,
                                       &IID_IDXGIFactory4,
                                       &IID_IDXGIFactory5,
                                       NULL};
    struct dxgi_factory *f = dxgi_object_create(sizeof(*f), &dxgi_factory_vtbl, NULL, iids);
    HRESULT hr;

    if (!f)
        return E_OUTOFMEMORY;
    f->object.end = dxgi_factory_end;
    hr = dxgi_object_QueryInterface(f, riid, out);
    dxgi_object_Release(f);
    return hr;
}

EXPORT HRESULT WINAPI CreateDXGIFactory2(UINT flags, REFIID riid, void **out)
{
    IDXGIFactory5 *f = NULL;
    HRESULT hr = CreateDXGIFactory1(&IID_IDXGIFactory5, (void **)&f);

    if (hr != S_OK)
        return hr;
    factory_of(f)->flags = flags;
    hr = dxgi_object_QueryInterface(f, riid, out);
    dxgi_object_Release(f);
    return hr;
}

EXPORT HRESULT WINAPI CreateDXGIFactory(REFIID riid, void **out)
{
    if (IsEqualGUID(riid, &IID_IDXGIFactory1)) { /* that is CreateDXGIFactory1's */
        *out = NULL;
        return E_NOINTERFACE;
    }
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
        if ((levels[i] == D3D_FEATURE_LEVEL_11_0 && caps.Caps & 12) ||
            (levels[i] == D3D_FEATURE_LEVEL_11_1 && caps.Caps & 8 &&
             a->ddi_interface == D3D11_1_DDI_INTERFACE) ||
            (levels[i] == D3D_FEATURE_LEVEL_10_1 && caps.Caps & 14) || levels[i] == D3D_FEATURE_LEVEL_10_0 ||
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
    IDXGIFactory5 *factory = NULL;
    HRESULT hr;

    if (device)
        *device = NULL;
    if (context)
        *context = NULL;
    if (swapchain)
        *swapchain = NULL;
    if (level)
        *level = 0;
    if (version != D3D11_SDK_VERSION || (adapter != NULL) != (type == D3D_DRIVER_TYPE_UNKNOWN) || software)
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
    if (adapter && (const void *)adapter->lpVtbl == &dxgi_adapter_vtbl) {
        d->dxgi_adapter = (struct dxgi_adapter *)adapter;
        IDXGIAdapter_AddRef(adapter);
    } else if (CreateDXGIFactory1(&IID_IDXGIFactory5, (void **)&factory) == S_OK) {
        new_adapter((struct dxgi_object *)factory, 0, (void **)&d->dxgi_adapter);
        IDXGIFactory5_Release(factory);
    }
    if (!d->dxgi_adapter) /* that there is one was seen above */
        hr = E_OUTOFMEMORY;
    if (hr == S_OK && desc && swapchain) {
        DXGI_SWAP_CHAIN_DESC copy = *desc;

        hr = dxgi_factory_CreateSwapChain((IDXGIFactory5 *)d->dxgi_adapter->object.parent, (IUnknown *)d,
                                          &copy, swapchain);
    }
    if (hr == S_OK && level)
        *level = chosen;
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
