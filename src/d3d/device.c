/* SPDX-License-Identifier: MIT */
/* device.c: ID3D11Device: its life, what it says of itself, and the objects that are not resources. */
#include "d3d/tables.h"
#include "d3d/d3d.h"

enum { DXGI_MAX_FRAMES = 16, DXGI_USUAL_FRAMES = 3 };

/* What the driver said of the call that this thread makes: other threads make theirs, and what is said of those is not this one's. */
static _Thread_local struct {
    const struct d3d_device *device;
    HRESULT error;
} told;

void d3d_tell_error(struct d3d_device *d, HRESULT hr)
{
    if (hr == (HRESULT)0x88760870) /* D3DDDIERR_DEVICEREMOVED */
        __atomic_store_n(&d->gone, true, __ATOMIC_RELEASE);
    else if (d3d_has_error(d))
        return;
    told.device = d;
    told.error = hr;
}

bool d3d_has_error(const struct d3d_device *d)
{
    return told.device == d && told.error != S_OK;
}

static VOID APIENTRY set_error(D3D10DDI_HRTCORELAYER h, HRESULT hr)
{
    d3d_tell_error(h.handle, hr);
}

static VOID APIENTRY state_again(D3D10DDI_HRTCORELAYER h)
{
    d3d_log("the driver asks for state to be set again, which no driver of its interface has to");
}

static VOID APIENTRY states_again(D3D10DDI_HRTCORELAYER h, UINT first, UINT count)
{
    state_again(h);
}

static HRESULT APIENTRY present_cb(HANDLE h, DXGIDDICB_PRESENT *a)
{
    struct d3d_device *d = (struct d3d_device *)((char *)h - offsetof(struct d3d_device, kmt));
    D3DKMT_PRESENT p = {.hContext = (D3DKMT_HANDLE)(uintptr_t)a->hContext,
                        .VidPnSourceId = d->adapter->source,
                        .hSource = a->hSrcAllocation,
                        .FlipInterval = (D3DDDI_FLIPINTERVAL_TYPE)d->present_interval};

    p.Flags.Flip = 1;
    return d3d_status(D3DKMTPresent(&p));
}

static void say_removed(struct d3d_device *d)
{
    const HRESULT why = __atomic_load_n(&d->removed, __ATOMIC_RELAXED);
    bool hung = why == DXGI_ERROR_DEVICE_HUNG, reset = why == DXGI_ERROR_DEVICE_RESET;

    d3d_say(
        d, D3D11_MESSAGE_CATEGORY_EXECUTION, D3D11_MESSAGE_SEVERITY_ERROR,
        hung    ? D3D11_MESSAGE_ID_DEVICE_REMOVAL_PROCESS_AT_FAULT
        : reset ? D3D11_MESSAGE_ID_DEVICE_REMOVAL_PROCESS_NOT_AT_FAULT
                : D3D11_MESSAGE_ID_DEVICE_REMOVAL_PROCESS_POSSIBLY_AT_FAULT,
        "ID3D11Device::RemoveDevice: Device removal has been triggered for the following reason (%s, 0x%08X).",
        hung ? "DXGI_ERROR_DEVICE_HUNG: the commands of this device took too long, or what they did ended it"
        : reset
            ? "DXGI_ERROR_DEVICE_RESET: another device's commands had the adapter reset"
            : "DXGI_ERROR_DEVICE_REMOVED: the adapter is gone, or the program did what it cannot go on from",
        (unsigned)why);
}

/* For ever, with the reason that came first. */
static HRESULT remove_for(struct d3d_device *d, HRESULT why)
{
    HRESULT was = S_OK;

    return __atomic_compare_exchange_n(&d->removed, &was, why, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
               ? why
               : was;
}

HRESULT d3d_take_error(struct d3d_device *d)
{
    HRESULT hr = d3d_has_error(d) ? told.error : S_OK, why;

    if (told.device == d)
        told.device = NULL;
    if (__atomic_exchange_n(&d->gone, false, __ATOMIC_ACQUIRE)) {
        why = d3d_removed_reason(d);
        remove_for(d, why != S_OK ? why : DXGI_ERROR_DEVICE_REMOVED);
        say_removed(d);
    }
    if (hr == (HRESULT)0x88760870)
        return DXGI_ERROR_DEVICE_REMOVED;
    return __atomic_load_n(&d->removed, __ATOMIC_RELAXED) != S_OK ? DXGI_ERROR_DEVICE_REMOVED : hr;
}

static void fill_core(D3D11DDI_CORELAYER_DEVICECALLBACKS *c)
{
    PFND3D10DDI_STATE_IA_INDEXBUF_CB one = state_again;

    for (size_t at = 0; at < sizeof(*c);
         at += sizeof(one)) /* all take the core layer first, and answer nothing */
        memcpy((uint8_t *)c + at, &one, sizeof(one));
    c->pfnSetErrorCb = set_error;
    c->pfnStateVsConstBufCb = c->pfnStatePsConstBufCb = states_again;
}

static bool complete(const void *f, size_t size)
{
    void *none = NULL;

    for (size_t at = 0; at < size; at += sizeof(none))
        if (!memcmp((const uint8_t *)f + at, &none, sizeof(none))) {
            d3d_log("slot %u of the driver's table is empty", (unsigned)(at / sizeof(none)));
            return false;
        }
    return true;
}

/* What the driver makes of itself, by the interface that it has. */
static HRESULT make_driver_device(struct d3d_device *d)
{
    struct d3d_adapter *a = d->adapter;
    const UINT pipeline = d->level >= D3D_FEATURE_LEVEL_11_1   ? D3D11_1DDI_3DPIPELINELEVEL_11_1
                          : d->level >= D3D_FEATURE_LEVEL_11_0 ? D3D11DDI_3DPIPELINELEVEL_11_0
                          : d->level >= D3D_FEATURE_LEVEL_10_1 ? D3D11DDI_3DPIPELINELEVEL_10_1
                                                               : D3D11DDI_3DPIPELINELEVEL_10_0;
    D3D11_1DDI_D3D11_OPTIONS_DATA options = {0};
    D3D10_2DDIARG_GETCAPS ask = {D3D11_1DDICAPS_D3D11_OPTIONS, NULL, &options, sizeof(options)};
    D3D10DDIARG_CREATEDEVICE c = {
        .hRTDevice.handle = &d->kmt,
        .hRTCoreLayer.handle = d,
        .Interface = a->ddi_interface,
        .Version = a->ddi_version,
        .Flags = D3D11DDI_ENCODE_CREATEDEVICE_FLAG_3DPIPELINESUPPORT(pipeline),
        .pKTCallbacks = &d3d_callbacks,
        .hDrvDevice = d->drv,
        .p11UMCallbacks = &d->core,
        .DXGIBaseDDI = {.pDXGIBaseCallbacks = &d->dxgi_callbacks, .pDXGIDDIBaseFunctions2 = &d->dxgi}};
    HRESULT hr;

    d->eleven_one = a->ddi_interface == D3D11_1_DDI_INTERFACE;
    if (d->eleven_one)
        c.p11_1DeviceFuncs = &d->ddi;
    else
        c.p11DeviceFuncs = &d->eleven;
    hr = a->ddi.pfnCreateDevice(a->drv, &c);
    if (hr != S_OK)
        return hr;
    if (!complete(d->eleven_one ? (void *)&d->ddi : (void *)&d->eleven,
                  d->eleven_one ? sizeof(d->ddi) : sizeof(d->eleven)))
        return DXGI_ERROR_UNSUPPORTED;
    if (!d->eleven_one)
        d3d_eleven_functions(d);
    d->logic = d->eleven_one && a->ddi.pfnGetCaps(a->drv, &ask) == S_OK && options.OutputMergerLogicOp;
    return S_OK;
}

HRESULT d3d_device_create(struct d3d_device **out, struct d3d_adapter *adapter, UINT flags,
                          D3D_FEATURE_LEVEL level)
{
    struct d3d_device *d = calloc(1, sizeof(*d));
    D3DKMT_CREATEDEVICE k = {.hAdapter = adapter->kmt.adapter};
    D3D10DDIARG_CALCPRIVATEDEVICESIZE size = {adapter->ddi_interface, adapter->ddi_version, 0};
    pthread_mutexattr_t recursive;
    HRESULT hr = E_OUTOFMEMORY;

    if (!d)
        return hr;
    d3d_take_error(d); /* of another that lay there */
    d->vtbl = &d3d_device_vtbl;
    d->dxgi_vtbl = &d3d_dxgi_device_vtbl;
    d->d10_vtbl = &d10_device_vtbl;
    d->lock_vtbl = &d3d_lock_vtbl;
    if (flags & D3D11_CREATE_DEVICE_DEBUG)
        d->queue = d3d_queue_create(d);
    d->refs = 1;
    d->adapter = adapter;
    d->level = level;
    d->flags = flags;
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&d->states_lock, &recursive);
    pthread_mutex_init(&d->program_lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    fill_core(&d->core);
    d->dxgi_callbacks.pfnPresentCb = present_cb;
    d->drv.pDrvPrivate = d3d_eleven_memory(d, adapter->ddi.pfnCalcPrivateDeviceSize(adapter->drv, &size));
    if (!d->drv.pDrvPrivate)
        goto fail;
    hr = d3d_status(D3DKMTCreateDevice(&k));
    if (hr != S_OK)
        goto fail;
    d->kmt = (struct d3d_kmt){adapter->kmt.adapter, k.hDevice, D3DKMT_CLIENTHINT_DX10};
    hr = make_driver_device(d);
    if (hr != S_OK)
        goto fail;
    d3d_context_init(&d->context, d);
    *out = d;
    return S_OK;
fail:
    if (d->kmt.device)
        D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){.hDevice = d->kmt.device});
    free(d->drv_memory);
    d3d_queue_destroy(d->queue);
    pthread_mutex_destroy(&d->program_lock);
    pthread_mutex_destroy(&d->states_lock);
    pthread_mutex_destroy(&d->lock);
    free(d);
    return hr;
}

static void destroy(struct d3d_device *d)
{
    d3d_context_clear(&d->context);
    d3d_child_bind(&d->context.state, NULL);
    d3d_data_free(d->context.data);
    DDI(d, pfnDestroyDevice);
    D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){.hDevice = d->kmt.device});
    d3d_adapter_close(d->adapter);
    if (d->dxgi_adapter)
        IUnknown_Release((IUnknown *)d->dxgi_adapter);
    free(d->drv_memory);
    d3d_data_free(d->data);
    d3d_queue_destroy(d->queue);
    pthread_mutex_destroy(&d->program_lock);
    pthread_mutex_destroy(&d->states_lock);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

struct d3d_device *d3d_device_of(ID3D11Device *iface)
{
    return iface && (const void *)iface->lpVtbl == &d3d_device_vtbl ? (struct d3d_device *)iface : NULL;
}

HRESULT STDMETHODCALLTYPE d3d_device_QueryInterface(ID3D11Device *This, REFIID riid, void **out)
{
    struct d3d_device *d = (struct d3d_device *)This;

    if (!out)
        return E_POINTER;
    *out = NULL;
    if (IsEqualGUID(riid, &IID_IUnknown) || IsEqualGUID(riid, &IID_ID3D11Device) ||
        IsEqualGUID(riid, &IID_ID3D11Device1))
        *out = d;
    else if (IsEqualGUID(riid, &IID_IDXGIDevice2) || IsEqualGUID(riid, &IID_IDXGIDevice1) ||
             IsEqualGUID(riid, &IID_IDXGIDevice) || IsEqualGUID(riid, &IID_IDXGIObject))
        *out = &d->dxgi_vtbl;
    else if (d->d10 && (IsEqualGUID(riid, &IID_ID3D10Device) || IsEqualGUID(riid, &IID_ID3D10Device1)))
        *out = &d->d10_vtbl;
    else if (IsEqualGUID(riid, &IID_ID3D10Multithread))
        *out = &d->lock_vtbl;
    else if (d->queue && (IsEqualGUID(riid, &IID_ID3D11InfoQueue) || IsEqualGUID(riid, &IID_ID3D10InfoQueue)))
        *out = d->queue;
    if (!*out)
        return E_NOINTERFACE;
    d3d_device_AddRef(This);
    return S_OK;
}

ULONG STDMETHODCALLTYPE d3d_device_AddRef(ID3D11Device *This)
{
    return (ULONG)__atomic_add_fetch(&((struct d3d_device *)This)->refs, 1, __ATOMIC_RELAXED);
}

ULONG STDMETHODCALLTYPE d3d_device_Release(ID3D11Device *This)
{
    struct d3d_device *d = (struct d3d_device *)This;
    LONG refs = __atomic_sub_fetch(&d->refs, 1, __ATOMIC_ACQ_REL);

    if (!refs)
        destroy(d);
    return (ULONG)refs;
}

/* ---- IDXGIDevice: the same object ----------------------------------------- */

static struct d3d_device *of_dxgi(void *This)
{
    return (struct d3d_device *)((char *)This - offsetof(struct d3d_device, dxgi_vtbl));
}

IUNKNOWN_OF(d3d_dxgi_device, IDXGIDevice2, d3d_device, ID3D11Device, of_dxgi(This))

HRESULT STDMETHODCALLTYPE d3d_dxgi_device_GetAdapter(IDXGIDevice2 *This, IDXGIAdapter **out)
{
    struct d3d_device *d = of_dxgi(This);

    if (!out)
        return E_POINTER;
    *out = (IDXGIAdapter *)d->dxgi_adapter;
    IDXGIAdapter_AddRef(*out);
    return S_OK;
}

HRESULT STDMETHODCALLTYPE d3d_dxgi_device_GetParent(IDXGIDevice2 *This, REFIID riid, void **out)
{
    struct d3d_device *d = of_dxgi(This);

    return IUnknown_QueryInterface((IUnknown *)d->dxgi_adapter, riid, out);
}

HRESULT STDMETHODCALLTYPE d3d_dxgi_device_SetMaximumFrameLatency(IDXGIDevice2 *This, UINT frames)
{
    if (frames > DXGI_MAX_FRAMES)
        return DXGI_ERROR_INVALID_CALL;
    of_dxgi(This)->latency = frames;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE d3d_dxgi_device_GetMaximumFrameLatency(IDXGIDevice2 *This, UINT *frames)
{
    if (!frames)
        return DXGI_ERROR_INVALID_CALL;
    *frames = of_dxgi(This)->latency ? of_dxgi(This)->latency : DXGI_USUAL_FRAMES;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE d3d_dxgi_device_SetGPUThreadPriority(IDXGIDevice2 *This, INT priority)
{
    if (priority < -7 || priority > 7)
        return E_INVALIDARG;
    of_dxgi(This)->priority = priority;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE d3d_dxgi_device_GetGPUThreadPriority(IDXGIDevice2 *This, INT *priority)
{
    if (!priority)
        return E_INVALIDARG;
    *priority = of_dxgi(This)->priority;
    return S_OK;
}

/* All of a resource is where the driver put it: the kernel brings it before it is used. */
HRESULT STDMETHODCALLTYPE d3d_dxgi_device_QueryResourceResidency(IDXGIDevice2 *This,
                                                                 IUnknown *const *resources,
                                                                 DXGI_RESIDENCY *status, UINT count)
{
    if (!resources || !status || !count)
        return E_INVALIDARG;
    for (UINT i = 0; i < count; i++)
        status[i] = DXGI_RESIDENCY_FULLY_RESIDENT;
    return S_OK;
}

/* ---- what it says of itself ------------------------------------------------ */

D3D_FEATURE_LEVEL STDMETHODCALLTYPE d3d_device_GetFeatureLevel(ID3D11Device *This)
{
    return ((struct d3d_device *)This)->level;
}

UINT STDMETHODCALLTYPE d3d_device_GetCreationFlags(ID3D11Device *This)
{
    return ((struct d3d_device *)This)->flags;
}

HRESULT STDMETHODCALLTYPE d3d_device_GetDeviceRemovedReason(ID3D11Device *This)
{
    struct d3d_device *d = (struct d3d_device *)This;

    const HRESULT why = __atomic_load_n(&d->removed, __ATOMIC_RELAXED);

    return why != S_OK ? why : remove_for(d, d3d_removed_reason(d));
}

void STDMETHODCALLTYPE d3d_device_GetImmediateContext(ID3D11Device *This, ID3D11DeviceContext **out)
{
    *out = (ID3D11DeviceContext *)&((struct d3d_device *)This)->context;
    ID3D11DeviceContext_AddRef(*out);
}

HRESULT STDMETHODCALLTYPE d3d_device_CheckMultisampleQualityLevels(ID3D11Device *This, DXGI_FORMAT format,
                                                                   UINT samples, UINT *levels)
{
    struct d3d_device *d = (struct d3d_device *)This;

    if (!levels)
        return E_INVALIDARG;
    *levels = 0;
    if (!samples || samples > D3D11_MAX_MULTISAMPLE_SAMPLE_COUNT)
        return E_FAIL;
    DDI(d, pfnCheckMultisampleQualityLevels, format, samples, levels);
    return S_OK;
}

/* What 11.1's interface of drivers brings; copies that overlap, and doubles, are not there. */
static D3D11_FEATURE_DATA_D3D11_OPTIONS options_of(const struct d3d_device *d)
{
    const BOOL is = d->eleven_one;

    return (D3D11_FEATURE_DATA_D3D11_OPTIONS){.OutputMergerLogicOp = d->logic,
                                              .UAVOnlyRenderingForcedSampleCount =
                                                  is && d->level >= D3D_FEATURE_LEVEL_11_1,
                                              .DiscardAPIsSeenByDriver = is,
                                              .ClearView = is,
                                              .ConstantBufferPartialUpdate = is,
                                              .ConstantBufferOffsetting = is,
                                              .MapNoOverwriteOnDynamicConstantBuffer = is,
                                              .MapNoOverwriteOnDynamicBufferSRV = is};
}

HRESULT STDMETHODCALLTYPE d3d_device_CheckFeatureSupport(ID3D11Device *This, D3D11_FEATURE feature,
                                                         void *data, UINT size)
{
    static const struct {
        D3D11_FEATURE feature;
        UINT size;
    } none[] = {/* calls take turns, and nothing is deferred in the driver */
                {D3D11_FEATURE_THREADING, sizeof(D3D11_FEATURE_DATA_THREADING)},
                {D3D11_FEATURE_DOUBLES, sizeof(D3D11_FEATURE_DATA_DOUBLES)},
                {D3D11_FEATURE_D3D9_OPTIONS, sizeof(D3D11_FEATURE_DATA_D3D9_OPTIONS)},
                {D3D11_FEATURE_ARCHITECTURE_INFO, sizeof(D3D11_FEATURE_DATA_ARCHITECTURE_INFO)}};
    D3D11_FEATURE_DATA_FORMAT_SUPPORT *f = data; /* as FORMAT_SUPPORT2's */

    if (!data)
        return E_INVALIDARG;
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        if (none[i].feature == feature && none[i].size == size) {
            memset(data, 0, size);
            return S_OK;
        }
    if (feature == D3D11_FEATURE_D3D11_OPTIONS && size == sizeof(D3D11_FEATURE_DATA_D3D11_OPTIONS)) {
        *(D3D11_FEATURE_DATA_D3D11_OPTIONS *)data = options_of((struct d3d_device *)This);
        return S_OK;
    }
    if (feature == D3D11_FEATURE_FORMAT_SUPPORT && size == sizeof(*f))
        return d3d_device_CheckFormatSupport(This, f->InFormat, &f->OutFormatSupport);
    if (feature == D3D11_FEATURE_FORMAT_SUPPORT2 && size == sizeof(*f)) {
        UINT any;
        HRESULT hr = d3d_device_CheckFormatSupport(This, f->InFormat, &any);

        f->OutFormatSupport = hr == S_OK ? d3d_format_stores((struct d3d_device *)This, f->InFormat) : 0;
        return hr;
    }
    if (feature == D3D11_FEATURE_D3D10_X_HARDWARE_OPTIONS &&
        size == sizeof(D3D11_FEATURE_DATA_D3D10_X_HARDWARE_OPTIONS)) {
        *(BOOL *)data = TRUE; /* compute shaders, raw and structured buffers */
        return S_OK;
    }
    return E_INVALIDARG;
}

HRESULT STDMETHODCALLTYPE d3d_device_GetPrivateData(ID3D11Device *This, REFGUID guid, UINT *size, void *bytes)
{
    return d3d_data_get(((struct d3d_device *)This)->data, guid, size, bytes);
}

HRESULT STDMETHODCALLTYPE d3d_device_SetPrivateData(ID3D11Device *This, REFGUID guid, UINT size,
                                                    const void *bytes)
{
    return d3d_data_set(&((struct d3d_device *)This)->data, guid, size, bytes);
}

HRESULT STDMETHODCALLTYPE d3d_device_SetPrivateDataInterface(ID3D11Device *This, REFGUID guid,
                                                             const IUnknown *object)
{
    return d3d_data_set_interface(&((struct d3d_device *)This)->data, guid, object);
}

/* ID3D11Device and IDXGIDevice are faces of one object, and share its data. */
HRESULT STDMETHODCALLTYPE d3d_dxgi_device_GetPrivateData(IDXGIDevice2 *This, REFGUID guid, UINT *size,
                                                         void *bytes)
{
    return d3d_data_get(of_dxgi(This)->data, guid, size, bytes);
}

HRESULT STDMETHODCALLTYPE d3d_dxgi_device_SetPrivateData(IDXGIDevice2 *This, REFGUID guid, UINT size,
                                                         const void *bytes)
{
    return d3d_data_set(&of_dxgi(This)->data, guid, size, bytes);
}

HRESULT STDMETHODCALLTYPE d3d_dxgi_device_SetPrivateDataInterface(IDXGIDevice2 *This, REFGUID guid,
                                                                  const IUnknown *object)
{
    return d3d_data_set_interface(&of_dxgi(This)->data, guid, object);
}

/* ---- counters: there are none --------------------------------------------- */

void STDMETHODCALLTYPE d3d_device_CheckCounterInfo(ID3D11Device *This, D3D11_COUNTER_INFO *info)
{
    *info = (D3D11_COUNTER_INFO){0};
}

HRESULT STDMETHODCALLTYPE d3d_device_CheckCounter(ID3D11Device *This, const D3D11_COUNTER_DESC *desc,
                                                  D3D11_COUNTER_TYPE *type, UINT *active, LPSTR name,
                                                  UINT *name_length, LPSTR units, UINT *units_length,
                                                  LPSTR description, UINT *description_length)
{
    return E_INVALIDARG;
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateCounter(ID3D11Device *This, const D3D11_COUNTER_DESC *desc,
                                                   ID3D11Counter **out)
{
    if (out)
        *out = NULL;
    return E_INVALIDARG;
}

/* ---- queries ----------------------------------------------------------------- */

static const struct {
    UINT size; /* of what GetData gives */
    bool predicate;
} queries[] = {
    [D3D11_QUERY_EVENT] = {sizeof(BOOL)},
    [D3D11_QUERY_OCCLUSION] = {sizeof(UINT64)},
    [D3D11_QUERY_TIMESTAMP] = {sizeof(UINT64)},
    [D3D11_QUERY_TIMESTAMP_DISJOINT] = {sizeof(D3D11_QUERY_DATA_TIMESTAMP_DISJOINT)},
    [D3D11_QUERY_PIPELINE_STATISTICS] = {sizeof(D3D11_QUERY_DATA_PIPELINE_STATISTICS)},
    [D3D11_QUERY_OCCLUSION_PREDICATE] = {sizeof(BOOL), true},
    [D3D11_QUERY_SO_STATISTICS] = {sizeof(D3D11_QUERY_DATA_SO_STATISTICS)},
    [D3D11_QUERY_SO_OVERFLOW_PREDICATE] = {sizeof(BOOL), true},
    [D3D11_QUERY_SO_STATISTICS_STREAM0] = {sizeof(D3D11_QUERY_DATA_SO_STATISTICS)},
    [D3D11_QUERY_SO_OVERFLOW_PREDICATE_STREAM0] = {sizeof(BOOL), true},
    [D3D11_QUERY_SO_STATISTICS_STREAM1] = {sizeof(D3D11_QUERY_DATA_SO_STATISTICS)},
    [D3D11_QUERY_SO_OVERFLOW_PREDICATE_STREAM1] = {sizeof(BOOL), true},
    [D3D11_QUERY_SO_STATISTICS_STREAM2] = {sizeof(D3D11_QUERY_DATA_SO_STATISTICS)},
    [D3D11_QUERY_SO_OVERFLOW_PREDICATE_STREAM2] = {sizeof(BOOL), true},
    [D3D11_QUERY_SO_STATISTICS_STREAM3] = {sizeof(D3D11_QUERY_DATA_SO_STATISTICS)},
    [D3D11_QUERY_SO_OVERFLOW_PREDICATE_STREAM3] = {sizeof(BOOL), true},
};

/* Those of single streams are feature level 11_0's. */
static bool query_known(const struct d3d_device *d, D3D11_QUERY query)
{
    return query <= (d->level < D3D_FEATURE_LEVEL_11_0 ? D3D11_QUERY_SO_OVERFLOW_PREDICATE
                                                       : D3D11_QUERY_SO_OVERFLOW_PREDICATE_STREAM3);
}

static HRESULT create_query(struct d3d_device *d, const D3D11_QUERY_DESC *desc, void **out)
{
    D3D10DDIARG_CREATEQUERY a;
    struct d3d_child *c;

    if (out)
        *out = NULL;
    if (!desc || !query_known(d, desc->Query) ||
        (desc->MiscFlags &&
         (desc->MiscFlags != D3D11_QUERY_MISC_PREDICATEHINT || !queries[desc->Query].predicate)))
        return E_INVALIDARG;
    if (!out)
        return S_FALSE;
    a = (D3D10DDIARG_CREATEQUERY){(D3D10DDI_QUERY)desc->Query, desc->MiscFlags};
    c = d3d_child_create(d, queries[desc->Query].predicate ? D3D_PREDICATE : D3D_QUERY,
                         d->ddi.pfnCalcPrivateQuerySize(d->drv, &a));
    if (!c)
        return E_OUTOFMEMORY;
    c->desc.query = *desc;
    DDI(d, pfnCreateQuery, &a, DRV(D3D10DDI_HQUERY, c), (D3D10DDI_HRTQUERY){c});
    return d3d_child_finish(c, out);
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateQuery(ID3D11Device *This, const D3D11_QUERY_DESC *desc,
                                                 ID3D11Query **out)
{
    return create_query((struct d3d_device *)This, desc, (void **)out);
}

HRESULT STDMETHODCALLTYPE d3d_device_CreatePredicate(ID3D11Device *This, const D3D11_QUERY_DESC *desc,
                                                     ID3D11Predicate **out)
{
    if (out)
        *out = NULL;
    if (!desc || !query_known((struct d3d_device *)This, desc->Query) || !queries[desc->Query].predicate ||
        desc->Query > D3D11_QUERY_SO_OVERFLOW_PREDICATE) /* of single streams, CreateQuery makes predicates */
        return E_INVALIDARG;
    return create_query((struct d3d_device *)This, desc, (void **)out);
}

UINT STDMETHODCALLTYPE d3d_async_GetDataSize(void *This)
{
    return queries[((struct d3d_child *)This)->desc.query.Query].size;
}

void STDMETHODCALLTYPE d3d_async_GetDesc(void *This, D3D11_QUERY_DESC *desc)
{
    *desc = ((struct d3d_child *)This)->desc.query;
}
