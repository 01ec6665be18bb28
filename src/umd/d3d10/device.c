/* SPDX-License-Identifier: MIT */
/* device.c: adapters, devices and submissions. The contract is in umd10.h. */
#include "umd/d3d10/umd10.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/export.h"
#include "umd/engine.h"

static void device_check(const struct umd10_device *d)
{
    INVARIANT(d->kt && d->um && d->adapter);
    INVARIANT(d->removed || (d->command && d->list));
    INVARIANT(d->colour_count <= UMD10_TARGETS);
    for (const struct umd10_resource *r = d->guest; r; r = r->next) {
        INVARIANT(r->alloc_id && r->allocation && *r->self == r); /* 2 */
        INVARIANT(r->name <= d->last_name);                       /* 5 */
    }
}

void umd10_error(struct umd10_device *d, HRESULT hr)
{
    d->errors++;
    d->um->pfnSetErrorCb(d->core, hr);
}

uint32_t umd10_name(struct umd10_device *d)
{
    return ++d->last_name;
}

void umd10_use(struct umd10_resource *r, bool write)
{
    if (!r->alloc_id)
        return;
    r->listed = true;
    r->listed_write |= write;
}

static uint32_t fill_list(struct umd10_device *d)
{
    uint32_t n = 0;

    for (struct umd10_resource *r = d->guest; r; r = r->next) {
        if (!r->listed)
            continue;
        INVARIANT(n < d->list_size); /* umd10_room saw to it */
        d->list[n] = (D3DDDI_ALLOCATIONLIST){.hAllocation = r->allocation};
        d->list[n++].WriteOperation = r->listed_write;
        r->listed = r->listed_write = false;
    }
    return n;
}

void umd10_flush(struct umd10_device *d)
{
    uint32_t size = 0;
    const void *stream;
    D3DDDICB_RENDER r = {.hContext = d->context};
    HRESULT hr;

    device_check(d);
    stream = abi_builder_end(&d->stream, &size);
    if (!stream) {
        abi_builder_finish(&d->stream);
        abi_builder_init(&d->stream);
        umd10_error(d, E_OUTOFMEMORY);
        return;
    }
    if (size <= sizeof(struct aerogpu_cmd_stream_header))
        return;
    for (struct umd10_query *q = d->counting; q; q = q->next)
        umd10_use(&q->marker, true);
    for (struct umd10_resource *shared = d->guest; shared; shared = shared->next)
        if (shared->shared)
            umd10_use(shared, shared->drawn);
    r.NumAllocations = fill_list(d);
    r.CommandLength = size;
    if (!d->removed && size <= d->command_size) {
        memcpy(d->command, stream, size);
        hr = d->kt->pfnRenderCb(d->runtime.handle, &r);
        if (hr == S_OK) {
            d->command = r.pNewCommandBuffer;
            d->command_size = r.NewCommandBufferSize;
            d->list = r.pNewAllocationList;
            d->list_size = r.NewAllocationListSize;
        } else {
            d->removed |= hr == D3DDDIERR_DEVICEREMOVED;
            umd10_error(d, hr);
        }
    } else if (!d->removed) {
        umd10_error(d, E_OUTOFMEMORY); /* one packet is longer than a submission may be */
    }
    abi_builder_reset(&d->stream);
    d->heavy = 0;
    device_check(d);
}

void umd10_room(struct umd10_device *d, size_t bytes)
{
    uint32_t guests = 0;

    for (struct umd10_resource *r = d->guest; r; r = r->next)
        guests += r->listed || r->shared;
    for (struct umd10_query *q = d->counting; q; q = q->next)
        guests += !q->marker.listed;
    if (d->stream.bytes.len + bytes + 4096 > d->command_size || guests + 4 > d->list_size)
        umd10_flush(d);
}

void umd10_stage(enum umd10_stage stage, uint32_t *shader_stage, uint32_t *stage_ex)
{
    static const uint8_t stages[UMD10_STAGES][2] = {
        {AEROGPU_SHADER_STAGE_VERTEX, 0},
        {AEROGPU_SHADER_STAGE_PIXEL, 0},
        {AEROGPU_SHADER_STAGE_GEOMETRY, 0},
        {AEROGPU_SHADER_STAGE_COMPUTE, AEROGPU_SHADER_STAGE_EX_HULL},
        {AEROGPU_SHADER_STAGE_COMPUTE, AEROGPU_SHADER_STAGE_EX_DOMAIN},
        {AEROGPU_SHADER_STAGE_COMPUTE, 0}};

    *shader_stage = stages[stage][0];
    *stage_ex = stages[stage][1];
}

static VOID APIENTRY destroy_device(D3D10DDI_HDEVICE h)
{
    struct umd10_device *d = umd10_device(h);

    umd10_flush(d);
    if (d->context)
        d->kt->pfnDestroyContextCb(d->runtime.handle, &(D3DDDICB_DESTROYCONTEXT){.hContext = d->context});
    abi_builder_finish(&d->stream);
}

static BOOL APIENTRY flush(D3D10DDI_HDEVICE h, UINT flags)
{
    umd10_flush(umd10_device(h));
    return TRUE;
}

static VOID APIENTRY relocate(D3D10DDI_HDEVICE h, D3D11_1DDI_DEVICEFUNCS *f)
{
}

/* ---- adapters ------------------------------------------------------------ */

static SIZE_T APIENTRY device_size(D3D10DDI_HADAPTER h, CONST D3D10DDIARG_CALCPRIVATEDEVICESIZE *a)
{
    return sizeof(struct umd10_device);
}

/* What feature levels 10_1 and 11_0 need beside what the ABI has. */
#define LEVEL_11                                                                                             \
    (AEROGPU_EXT_FEATURE(EXT_FORMATS) | AEROGPU_EXT_FEATURE(EXT_QUERIES) |                                   \
     AEROGPU_EXT_FEATURE(EXT_DIMENSIONS) | AEROGPU_EXT_FEATURE(EXT_SAMPLERS) |                               \
     AEROGPU_EXT_FEATURE(EXT_MIPS) | AEROGPU_EXT_FEATURE(EXT_VIEWS) | AEROGPU_EXT_FEATURE(EXT_INDIRECT) |    \
     AEROGPU_EXT_FEATURE(EXT_STATES) | AEROGPU_EXT_FEATURE(EXT_SAMPLES) |                                    \
     AEROGPU_EXT_FEATURE(EXT_STREAM_OUTPUT))
/* And 11_1, and the interface that has it. */
#define LEVEL_11_1 (LEVEL_11 | AEROGPU_EXT_FEATURE(EXT_BUFFER_TARGETS) | AEROGPU_EXT_FEATURE(EXT_OUTPUT))

static bool has_level(const struct umd10_adapter *a, uint64_t features)
{
    return (a->info.device_features & features) == features;
}

static void fill_functions(struct umd10_device *d)
{
    D3D11_1DDI_DEVICEFUNCS *f = &d->whole;

    umd10_missing_functions(f);
    umd10_resource_functions(f);
    umd10_view_functions(f);
    umd10_state_functions(f);
    umd10_shader_functions(f);
    umd10_draw_functions(f);
    umd10_query_functions(f);
    f->pfnDestroyDevice = destroy_device;
    f->pfnFlush = flush;
    f->pfnRelocateDeviceFuncs = relocate;
}

static HRESULT APIENTRY create_device(D3D10DDI_HADAPTER h, D3D10DDIARG_CREATEDEVICE *a)
{
    struct umd10_device *d = a->hDrvDevice.pDrvPrivate;
    D3DDDICB_CREATECONTEXT c = {0};
    HRESULT hr;

    if (a->Interface != D3D11_0_DDI_INTERFACE &&
        (a->Interface != D3D11_1_DDI_INTERFACE || !has_level(h.pDrvPrivate, LEVEL_11_1)))
        return E_INVALIDARG;
    memset(d, 0, sizeof(*d));
    d->runtime = a->hRTDevice;
    d->core = a->hRTCoreLayer;
    d->kt = a->pKTCallbacks;
    d->um = a->p11UMCallbacks;
    d->dxgi = a->DXGIBaseDDI.pDXGIBaseCallbacks;
    d->adapter = h.pDrvPrivate;
    d->info = d->adapter->info;
    c.NodeOrdinal = umd_engine(d->adapter->query, d->adapter->runtime.handle, &d->info);
    hr = d->kt->pfnCreateContextCb(d->runtime.handle, &c);
    if (hr != S_OK)
        return hr;
    d->context = c.hContext;
    d->command = c.pCommandBuffer;
    d->command_size = c.CommandBufferSize;
    d->list = c.pAllocationList;
    d->list_size = c.AllocationListSize;
    abi_builder_init(&d->stream);
    fill_functions(d);
    d->every_stage = a->Interface == D3D11_1_DDI_INTERFACE;
    if (d->every_stage)
        *a->p11_1DeviceFuncs = d->whole;
    else
        umd10_eleven_functions(a->p11DeviceFuncs, &d->whole);
    umd10_present_functions(a->DXGIBaseDDI.pDXGIDDIBaseFunctions2);
    device_check(d);
    return S_OK;
}

static HRESULT APIENTRY close_adapter(D3D10DDI_HADAPTER h)
{
    free(h.pDrvPrivate);
    return S_OK;
}

static HRESULT APIENTRY supported_versions(D3D10DDI_HADAPTER h, UINT32 *count, UINT64 *versions)
{
    const UINT32 there = has_level(h.pDrvPrivate, LEVEL_11_1) ? 2 : 1;

    if (versions && *count < there)
        return E_OUTOFMEMORY;
    if (versions)
        versions[0] = D3D11_0_DDI_SUPPORTED;
    if (versions && there > 1)
        versions[1] = D3D11_1_DDI_SUPPORTED;
    *count = there;
    return S_OK;
}

static HRESULT APIENTRY get_caps(D3D10DDI_HADAPTER h, CONST D3D10_2DDIARG_GETCAPS *a)
{
    const struct umd10_adapter *adapter = h.pDrvPrivate;
    UINT *caps = a->pData;

    if (a->DataSize < sizeof(*caps))
        return E_INVALIDARG;
    switch (a->Type) {
    case D3D11DDICAPS_THREADING: /* one thread, no deferred contexts of the driver's */
    case D3D11DDICAPS_SHADER:    /* no doubles */
        *caps = 0;
        return S_OK;
    case D3D11DDICAPS_3DPIPELINESUPPORT:
        *caps = D3D11DDI_ENCODE_3DPIPELINESUPPORT_CAP(D3D11DDI_3DPIPELINELEVEL_10_0);
        if (has_level(adapter, LEVEL_11))
            *caps |= D3D11DDI_ENCODE_3DPIPELINESUPPORT_CAP(D3D11DDI_3DPIPELINELEVEL_10_1) |
                     D3D11DDI_ENCODE_3DPIPELINESUPPORT_CAP(D3D11DDI_3DPIPELINELEVEL_11_0);
        if (has_level(adapter, LEVEL_11_1))
            *caps |= D3D11DDI_ENCODE_3DPIPELINESUPPORT_CAP(D3D11_1DDI_3DPIPELINELEVEL_11_1);
        return S_OK;
    case D3D11_1DDICAPS_D3D11_OPTIONS:
        if (a->DataSize < sizeof(D3D11_1DDI_D3D11_OPTIONS_DATA))
            return E_INVALIDARG;
        *(D3D11_1DDI_D3D11_OPTIONS_DATA *)a->pData =
            (D3D11_1DDI_D3D11_OPTIONS_DATA){.OutputMergerLogicOp = has_level(adapter, LEVEL_11_1)};
        return S_OK;
    case D3D11_1DDICAPS_ARCHITECTURE_INFO:            /* no tiles */
    case D3D11_1DDICAPS_SHADER_MIN_PRECISION_SUPPORT: /* all is as precise as it can be */
        memset(a->pData, 0, a->DataSize);
        return S_OK;
    }
    return E_INVALIDARG;
}

EXPORT HRESULT APIENTRY OpenAdapter10_2(D3D10DDIARG_OPENADAPTER *open);

HRESULT APIENTRY OpenAdapter10_2(D3D10DDIARG_OPENADAPTER *open)
{
    struct umd10_adapter *a = calloc(1, sizeof(*a));
    D3DDDICB_QUERYADAPTERINFO q;
    HRESULT hr;

    if (!a)
        return E_OUTOFMEMORY;
    a->runtime = open->hRTAdapter;
    q = (D3DDDICB_QUERYADAPTERINFO){.pPrivateDriverData = &a->info, .PrivateDriverDataSize = sizeof(a->info)};
    a->query = open->pAdapterCallbacks->pfnQueryAdapterInfoCb;
    hr = a->query(a->runtime.handle, &q);
    if (hr != S_OK) {
        free(a);
        return hr;
    }
    open->hAdapter.pDrvPrivate = a;
    *open->pAdapterFuncs_2 =
        (D3D10_2DDI_ADAPTERFUNCS){device_size, create_device, close_adapter, supported_versions, get_caps};
    return S_OK;
}
