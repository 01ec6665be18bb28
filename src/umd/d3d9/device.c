/* SPDX-License-Identifier: MIT */
/* device.c: adapters, devices and submissions. The contract is in umd9.h. */
#include "umd/d3d9/umd9.h"

#include <stdlib.h>

#include "umd/alloc_id.h"
#include "umd/engine.h"
#include "umd/d3d9/caps.h"
#include "base/check.h"
#include "base/export.h"

static void device_check(const struct umd9_device *d)
{
    INVARIANT(d->kt && d->adapter);
    INVARIANT(d->removed || (d->command && d->list));
    for (const struct umd9_alloc *a = d->allocs; a; a = a->next)
        INVARIANT(a->id && a->handle && *a->self == a); /* 2 */
}

uint32_t umd9_name(struct umd9_device *d)
{
    return ++d->last_name;
}

HRESULT umd9_state(const struct umd9_device *d)
{
    return d->removed ? D3DDDIERR_DEVICEREMOVED : S_OK;
}

/* ---- guest memory --------------------------------------------------------- */

HRESULT umd9_alloc_create(struct umd9_device *d, struct umd9_alloc **out, uint64_t size,
                          struct umd9_resource *shown, UINT source)
{
    struct umd9_alloc *a = calloc(1, sizeof(*a));
    struct aerogpu_alloc_priv_v2 priv = {.magic = AEROGPU_ALLOC_PRIV_MAGIC,
                                         .version = 2,
                                         .alloc_id = umd_make_alloc_id(),
                                         .flags = AEROGPU_ALLOC_PRIV_FLAG_CPU_VISIBLE,
                                         .size_bytes = size,
                                         .kind = AEROGPU_ALLOC_KIND_BUFFER};
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv)};
    D3DDDICB_ALLOCATE c = {.NumAllocations = 1, .pAllocationInfo = &info};
    HRESULT hr;

    if (!a)
        return E_OUTOFMEMORY;
    if (shown) {
        priv.kind = AEROGPU_ALLOC_KIND_TEXTURE2D;
        priv.width = shown->surfaces[0].width;
        priv.height = shown->surfaces[0].height;
        priv.format = shown->flags.Primary ? AEROGPU_DXGI_B8G8R8A8_UNORM : umd9_shared_format(shown->format);
        priv.desc = priv.row_pitch_bytes = shown->pitch;
        info.Flags.Primary = shown->flags.Primary;
        info.VidPnSourceId = source;
    }
    if (shown && shown->flags.SharedResource) {
        priv.flags |= AEROGPU_ALLOC_PRIV_FLAG_SHARED;
        c.hResource = shown->runtime;
    }
    hr = d->removed ? D3DDDIERR_DEVICEREMOVED : d->kt->pfnAllocateCb(d->runtime, &c);
    if (hr != S_OK) {
        free(a);
        return hr;
    }
    if (shown)
        shown->token = priv.share_token;
    *a = (struct umd9_alloc){
        .id = priv.alloc_id, .size = size, .handle = info.hAllocation, .resource = c.hResource};
    umd9_alloc_link(d, a);
    *out = a;
    return S_OK;
}

void umd9_alloc_link(struct umd9_device *d, struct umd9_alloc *a)
{
    a->next = d->allocs;
    a->self = &d->allocs;
    if (a->next)
        a->next->self = &a->next;
    d->allocs = a;
    d->num_allocs++;
}

void umd9_alloc_destroy(struct umd9_device *d, struct umd9_alloc *a)
{
    if (!a)
        return;
    umd9_flush(d); /* what was said of it, before its memory goes */
    *a->self = a->next;
    if (a->next)
        a->next->self = a->self;
    d->num_allocs--;
    d->kt->pfnDeallocateCb(
        d->runtime,
        &(D3DDDICB_DEALLOCATE){.hResource = a->resource, .NumAllocations = 1, .HandleList = &a->handle});
    free(a);
}

void umd9_alloc_use(struct umd9_alloc *a, bool write)
{
    if (!a)
        return;
    a->listed = true;
    a->listed_write |= write;
}

HRESULT umd9_alloc_lock(struct umd9_device *d, struct umd9_alloc *a, bool wait, void **out)
{
    D3DDDICB_LOCK l = {.hAllocation = a->handle};
    HRESULT hr;

    umd9_flush(d);
    if (d->removed)
        return D3DDDIERR_DEVICEREMOVED;
    l.Flags.LockEntire = 1;
    l.Flags.DonotWait = !wait;
    hr = d->kt->pfnLockCb(d->runtime, &l);
    d->removed |= hr == D3DDDIERR_DEVICEREMOVED;
    *out = l.pData;
    return hr;
}

void umd9_alloc_unlock(struct umd9_device *d, struct umd9_alloc *a)
{
    d->kt->pfnUnlockCb(d->runtime, &(D3DDDICB_UNLOCK){1, &a->handle});
}

/* ---- submissions ---------------------------------------------------------- */

static uint32_t fill_list(struct umd9_device *d)
{
    uint32_t n = 0;

    for (struct umd9_alloc *a = d->allocs; a; a = a->next) {
        if (!a->listed && !a->counting && !a->resource) /* what is shared goes with everything */
            continue;
        INVARIANT(n < d->list_size); /* umd9_room saw to it */
        d->list[n] = (D3DDDI_ALLOCATIONLIST){.hAllocation = a->handle};
        d->list[n++].WriteOperation = a->listed_write || a->counting || a->drawn;
        a->listed = a->listed_write = false;
    }
    return n;
}

static void submit(struct umd9_device *d, const void *stream, uint32_t size)
{
    D3DDDICB_RENDER r = {.hContext = d->context, .CommandLength = size};
    HRESULT hr;

    r.NumAllocations = fill_list(d);
    if (d->removed)
        return;
    memcpy(d->command, stream, size);
    hr = d->kt->pfnRenderCb(d->runtime, &r);
    if (hr != S_OK) { /* the stream is lost, and with it what it makes */
        d->removed = true;
        return;
    }
    d->command = r.pNewCommandBuffer;
    d->command_size = r.NewCommandBufferSize;
    d->list = r.pNewAllocationList;
    d->list_size = r.NewAllocationListSize;
}

void umd9_flush(struct umd9_device *d)
{
    uint32_t size = 0;
    const void *stream;

    device_check(d);
    stream = abi_builder_end(&d->stream, &size);
    if (!stream || size > d->command_size) { /* no memory; or one packet that no submission has room for */
        abi_builder_finish(&d->stream);
        abi_builder_init(&d->stream);
        d->removed = true;
        return;
    }
    if (size > sizeof(struct aerogpu_cmd_stream_header))
        submit(d, stream, size);
    abi_builder_reset(&d->stream);
    device_check(d);
}

/* Whether the submission could list no more; there are seldom as many as it may list. */
static bool list_full(const struct umd9_device *d)
{
    uint32_t listed = 0;

    if (d->num_allocs + 4 <= d->list_size)
        return false;
    for (const struct umd9_alloc *a = d->allocs; a; a = a->next)
        listed += a->listed || a->counting || a->resource;
    return listed + 4 > d->list_size;
}

void umd9_room(struct umd9_device *d, size_t bytes)
{
    if (d->stream.bytes.len + bytes + 4096 > d->command_size || list_full(d))
        umd9_flush(d);
}

static HRESULT APIENTRY flush(HANDLE h)
{
    struct umd9_device *d = umd9_device(h);

    umd9_flush(d);
    return umd9_state(d);
}

static HRESULT APIENTRY destroy_device(HANDLE h)
{
    struct umd9_device *d = umd9_device(h);

    umd9_flush(d);
    umd9_alloc_destroy(d, d->scratch.alloc);
    umd9_state_finish(d);
    umd9_generated_finish(d->generated_vs);
    umd9_generated_finish(d->generated_ps);
    d->kt->pfnDestroyContextCb(d->runtime, &(D3DDDICB_DESTROYCONTEXT){.hContext = d->context});
    abi_builder_finish(&d->stream);
    free(d);
    return S_OK;
}

/* What the driver does not have (video, overlays, patches, content protection): one of each slot's type, since they clear the stack on
 * x86. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wc2x-extensions" /* parameters without names */
#endif
#define MISSING(slot, type, ...)                                                                             \
    static HRESULT APIENTRY missing_##slot(HANDLE h, ##__VA_ARGS__)                                          \
    {                                                                                                        \
        return D3DDDIERR_NOTAVAILABLE;                                                                       \
    }
D3DDDI_DEVICE_FUNCTIONS(MISSING)

static void missing_functions(D3DDDI_DEVICEFUNCS *f)
{
#define FILL(slot, type, ...) f->pfn##slot = missing_##slot;
    D3DDDI_DEVICE_FUNCTIONS(FILL)
}

/* ---- adapters ------------------------------------------------------------- */

static HRESULT APIENTRY create_device(HANDLE h, D3DDDIARG_CREATEDEVICE *a)
{
    struct umd9_device *d = calloc(1, sizeof(*d));
    D3DDDICB_CREATECONTEXT c = {0};
    HRESULT hr;

    if (!d)
        return E_OUTOFMEMORY;
    d->runtime = a->hDevice;
    d->kt = a->pCallbacks;
    d->adapter = h;
    d->info = d->adapter->info;
    c.NodeOrdinal = umd_engine(d->adapter->query, d->adapter->runtime, &d->info);
    hr = d->kt->pfnCreateContextCb(d->runtime, &c);
    if (hr != S_OK) {
        free(d);
        return hr;
    }
    d->context = c.hContext;
    d->command = c.pCommandBuffer;
    d->command_size = c.CommandBufferSize;
    d->list = c.pAllocationList;
    d->list_size = c.AllocationListSize;
    abi_builder_init(&d->stream);
    umd9_state_init(d);
    missing_functions(a->pDeviceFuncs);
    umd9_resource_functions(a->pDeviceFuncs);
    umd9_copy_functions(a->pDeviceFuncs);
    umd9_state_functions(a->pDeviceFuncs);
    umd9_shader_functions(a->pDeviceFuncs);
    umd9_draw_functions(a->pDeviceFuncs);
    umd9_query_functions(a->pDeviceFuncs);
    a->pDeviceFuncs->pfnFlush = flush;
    a->pDeviceFuncs->pfnDestroyDevice = destroy_device;
    a->hDevice = d;
    device_check(d);
    return S_OK;
}

static HRESULT APIENTRY close_adapter(HANDLE h)
{
    free(h);
    return S_OK;
}

EXPORT HRESULT APIENTRY OpenAdapter(D3DDDIARG_OPENADAPTER *open);

HRESULT APIENTRY OpenAdapter(D3DDDIARG_OPENADAPTER *open)
{
    struct umd9_adapter *a = calloc(1, sizeof(*a));
    D3DDDICB_QUERYADAPTERINFO q;
    HRESULT hr;

    if (!a)
        return E_OUTOFMEMORY;
    a->runtime = open->hAdapter;
    q = (D3DDDICB_QUERYADAPTERINFO){.pPrivateDriverData = &a->info, .PrivateDriverDataSize = sizeof(a->info)};
    a->query = open->pAdapterCallbacks->pfnQueryAdapterInfoCb;
    hr = a->query(a->runtime, &q);
    if (hr != S_OK) {
        free(a);
        return hr;
    }
    open->hAdapter = a;
    open->DriverVersion = D3D_UMD_INTERFACE_VERSION_WIN7;
    *open->pAdapterFuncs = (D3DDDI_ADAPTERFUNCS){umd9_get_caps, create_device, close_adapter};
    return S_OK;
}
