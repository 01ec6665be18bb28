/* SPDX-License-Identifier: MIT */
/* driver.c: the adapter's user-mode driver, loaded as it is named; and what drivers call back. */
#include "d3d/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if !defined(_WIN32)
#include <dlfcn.h>
#endif

HRESULT d3d_status(NTSTATUS s)
{
    if (NT_SUCCESS(s))
        return S_OK;
    switch ((ULONG)s) {
    case 0xC00002B6: /* STATUS_DEVICE_REMOVED */
        return (HRESULT)0x88760870;
    case 0xC01E0102: /* STATUS_GRAPHICS_ALLOCATION_BUSY */
    case 0xC00000A3:
        return (HRESULT)0x8876021C; /* D3DERR_WASSTILLDRAWING */
    case 0xC0000017:
    case 0xC01E0100:
        return E_OUTOFMEMORY;
    case 0xC000000D:
    case 0xC0000008:
        return E_INVALIDARG;
    default:
        return E_FAIL;
    }
}

/* ---- names ---------------------------------------------------------------- */

void d3d_utf8(const WCHAR *text, char *out, size_t room)
{
    size_t n = 0;

    for (; text && *text && n + 4 < room; text++) {
        uint32_t c = *text;

        if (c >= 0xD800 && c < 0xDC00 && text[1] >= 0xDC00 && text[1] < 0xE000)
            c = 0x10000 + ((c & 0x3FF) << 10) + (*++text & 0x3FF);
        if (c < 0x80) {
            out[n++] = (char)c;
            continue;
        }
        if (c >= 0x10000)
            out[n++] = (char)(0xF0 | c >> 18);
        if (c >= 0x800)
            out[n++] = (char)((c >= 0x10000 ? 0x80 : 0xE0) | (c >> 12 & (c >= 0x10000 ? 0x3F : 0x0F)));
        out[n++] = (char)((c >= 0x800 ? 0x80 : 0xC0) | (c >> 6 & (c >= 0x800 ? 0x3F : 0x1F)));
        out[n++] = (char)(0x80 | (c & 0x3F));
    }
    out[n] = 0;
}

bool d3d_debug_name(const GUID *guid, const void *bytes, size_t size, char *out, size_t room)
{
    static const GUID narrow = {0x429b8c22, 0x9188, 0x4b0c, {0x87, 0x42, 0xac, 0xb0, 0xbf, 0x85, 0xc2, 0x00}},
                      wide = {0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};
    WCHAR text[128];

    if (!memcmp(guid, &narrow, sizeof(narrow))) { /* WKPDID_D3DDebugObjectName */
        snprintf(out, room, "%.*s", (int)(size < 256 ? size : 256), bytes ? (const char *)bytes : "");
        return true;
    }
    if (memcmp(guid, &wide, sizeof(wide))) /* WKPDID_D3DDebugObjectNameW */
        return false;
    size = bytes ? size / sizeof(WCHAR) : 0;
    size = size < 127 ? size : 127;
    memcpy(text, bytes ? bytes : "", size * sizeof(WCHAR));
    text[size] = 0;
    d3d_utf8(text, out, room);
    return true;
}

/* ---- the library --------------------------------------------------------- */

static void *load(const char *name)
{
#if defined(_WIN32)
    return (void *)LoadLibraryA(name);
#else
    const char *folder = getenv("AEROGPU_UMD_DIR"); /* where a build has them */
    char path[512];

    snprintf(path, sizeof(path), "%s%s%s.so", folder ? folder : "", folder ? "/" : "", name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
#endif
}

void *d3d_library_symbol(void *library, const char *name)
{
#if defined(_WIN32)
    return (void *)GetProcAddress(library, name);
#else
    return dlsym(library, name);
#endif
}

void d3d_library_close(void *library)
{
#if defined(_WIN32)
    FreeLibrary(library);
#else
    dlclose(library);
#endif
}

void *d3d_library_open(D3DKMT_HANDLE adapter, KMTUMDVERSION version, char name[260])
{
    D3DKMT_UMDFILENAMEINFO info = {.Version = version};
    D3DKMT_QUERYADAPTERINFO q = {.hAdapter = adapter,
                                 .Type = KMTQAITYPE_UMDRIVERNAME,
                                 .pPrivateDriverData = &info,
                                 .PrivateDriverDataSize = sizeof(info)};

    name[0] = 0;
    if (!NT_SUCCESS(D3DKMTQueryAdapterInfo(&q)))
        return NULL;
    for (int i = 0; i < 260; i++)
        name[i] = i == 259 || info.UmdFileName[i] < 127 ? (char)info.UmdFileName[i] : '?';
    name[259] = 0;
    return load(name);
}

bool d3d_display_open(D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME *open)
{
    static const char name[] = "\\\\.\\DISPLAY1";

    memset(open, 0, sizeof(*open));
    for (size_t i = 0; i < sizeof(name); i++)
        open->DeviceName[i] = (WCHAR)name[i];
    return NT_SUCCESS(D3DKMTOpenAdapterFromGdiDisplayName(open));
}

static HRESULT APIENTRY query_adapter(HANDLE h, CONST D3DDDICB_QUERYADAPTERINFO *a)
{
    struct d3d_kmt *kmt = h;
    D3DKMT_QUERYADAPTERINFO q = {.hAdapter = kmt->adapter,
                                 .Type = KMTQAITYPE_UMDRIVERPRIVATE,
                                 .pPrivateDriverData = a->pPrivateDriverData,
                                 .PrivateDriverDataSize = a->PrivateDriverDataSize};

    return d3d_status(D3DKMTQueryAdapterInfo(&q));
}

const D3DDDI_ADAPTERCALLBACKS d3d_adapter_callbacks = {.pfnQueryAdapterInfoCb = query_adapter};

/* ---- what a device calls back -------------------------------------------- */

HRESULT d3d_resource_open(struct d3d_kmt *d, D3DKMT_HANDLE share, void *data, UINT size,
                          struct d3d_kmt_resource *out, D3DDDI_OPENALLOCATIONINFO *info, void **memory)
{
    D3DKMT_QUERYRESOURCEINFO q = {.hDevice = d->device, .hGlobalShare = share};
    D3DKMT_OPENRESOURCE o = {.hDevice = d->device, .hGlobalShare = share, .pOpenAllocationInfo = info};
    NTSTATUS s = D3DKMTQueryResourceInfo(&q);

    *memory = NULL;
    if (!NT_SUCCESS(s))
        return d3d_status(s);
    if (q.NumAllocations != 1 || q.PrivateRuntimeDataSize != size) /* another runtime's */
        return E_INVALIDARG;
    *memory = calloc(1, (size_t)q.TotalPrivateDriverDataSize + q.ResourcePrivateDriverDataSize + 1);
    if (!*memory)
        return E_OUTOFMEMORY;
    o.NumAllocations = 1;
    o.pPrivateRuntimeData = data;
    o.PrivateRuntimeDataSize = size;
    o.pTotalPrivateDriverDataBuffer = *memory;
    o.TotalPrivateDriverDataBufferSize = q.TotalPrivateDriverDataSize;
    o.pResourcePrivateDriverData = (uint8_t *)*memory + q.TotalPrivateDriverDataSize;
    o.ResourcePrivateDriverDataSize = q.ResourcePrivateDriverDataSize;
    s = D3DKMTOpenResource(&o);
    if (!NT_SUCCESS(s)) {
        free(*memory);
        *memory = NULL;
        return d3d_status(s);
    }
    *out = (struct d3d_kmt_resource){.resource = o.hResource, .share = share};
    return S_OK;
}

/* What the kernel's driver wrote into the private data of a shared allocation is told to who opens it: so its maker does. */
static HRESULT read_back(struct d3d_kmt *d, const struct d3d_kmt_resource *r, D3DDDICB_ALLOCATE *a)
{
    D3DDDI_OPENALLOCATIONINFO info = {0};
    struct d3d_kmt_resource opened;
    void *data = malloc(r->size + 1), *memory;
    HRESULT hr =
        data ? d3d_resource_open(d, r->share, data, r->size, &opened, &info, &memory) : E_OUTOFMEMORY;

    if (hr == S_OK && info.PrivateDriverDataSize == a->pAllocationInfo[0].PrivateDriverDataSize)
        memcpy(a->pAllocationInfo[0].pPrivateDriverData, info.pPrivateDriverData, info.PrivateDriverDataSize);
    if (hr == S_OK) {
        D3DKMTDestroyAllocation(
            &(D3DKMT_DESTROYALLOCATION){.hDevice = d->device, .hResource = opened.resource});
        free(memory);
    }
    free(data);
    return hr;
}

static HRESULT APIENTRY allocate(HANDLE h, D3DDDICB_ALLOCATE *a)
{
    struct d3d_kmt *d = h;
    struct d3d_kmt_resource *r = a->hResource;
    D3DKMT_CREATEALLOCATION c = {.hDevice = d->device,
                                 .pPrivateRuntimeData = r ? (void *)(uintptr_t)r->data : NULL,
                                 .PrivateRuntimeDataSize = r ? r->size : 0,
                                 .pPrivateDriverData = a->pPrivateDriverData,
                                 .PrivateDriverDataSize = a->PrivateDriverDataSize,
                                 .NumAllocations = a->NumAllocations,
                                 .pAllocationInfo = a->pAllocationInfo};
    NTSTATUS s;
    HRESULT hr;

    c.Flags.CreateResource = r != NULL;
    c.Flags.CreateShared = r && r->shared;
    s = D3DKMTCreateAllocation(&c);
    a->hKMResource = c.hResource;
    if (!NT_SUCCESS(s) || !r)
        return d3d_status(s);
    r->resource = c.hResource;
    r->share = c.hGlobalShare;
    hr = r->shared && a->NumAllocations == 1 ? read_back(d, r, a) : S_OK;
    if (hr != S_OK)
        D3DKMTDestroyAllocation(&(D3DKMT_DESTROYALLOCATION){.hDevice = d->device, .hResource = r->resource});
    return hr;
}

static HRESULT APIENTRY deallocate(HANDLE h, CONST D3DDDICB_DEALLOCATE *a)
{
    struct d3d_kmt *d = h;
    const struct d3d_kmt_resource *r = a->hResource;
    D3DKMT_DESTROYALLOCATION c = {
        .hDevice = d->device, .phAllocationList = a->HandleList, .AllocationCount = a->NumAllocations};

    if (r)
        c = (D3DKMT_DESTROYALLOCATION){.hDevice = d->device, .hResource = r->resource};
    return d3d_status(D3DKMTDestroyAllocation(&c));
}

static HRESULT APIENTRY render(HANDLE h, D3DDDICB_RENDER *a)
{
    D3DKMT_RENDER r = {.hContext = (D3DKMT_HANDLE)(uintptr_t)a->hContext,
                       .CommandOffset = a->CommandOffset,
                       .CommandLength = a->CommandLength,
                       .AllocationCount = a->NumAllocations,
                       .PatchLocationCount = a->NumPatchLocations};
    NTSTATUS s;

    r.Flags.NullRendering = a->Flags.NullRendering;
    s = D3DKMTRender(&r);
    if (NT_SUCCESS(s)) {
        a->pNewCommandBuffer = r.pNewCommandBuffer;
        a->NewCommandBufferSize = r.NewCommandBufferSize;
        a->pNewAllocationList = r.pNewAllocationList;
        a->NewAllocationListSize = r.NewAllocationListSize;
        a->pNewPatchLocationList = r.pNewPatchLocationList;
        a->NewPatchLocationListSize = r.NewPatchLocationListSize;
        a->QueuedBufferCount = r.QueuedBufferCount;
    }
    return d3d_status(s);
}

static HRESULT APIENTRY lock(HANDLE h, D3DDDICB_LOCK *a)
{
    struct d3d_kmt *d = h;
    D3DKMT_LOCK l = {.hDevice = d->device, .hAllocation = a->hAllocation, .Flags = a->Flags};
    NTSTATUS s = D3DKMTLock(&l);

    a->pData = l.pData;
    d->locked = a->hAllocation;
    d->locked_at = l.pData;
    return d3d_status(s);
}

static HRESULT APIENTRY unlock(HANDLE h, CONST D3DDDICB_UNLOCK *a)
{
    struct d3d_kmt *d = h;
    D3DKMT_UNLOCK u = {
        .hDevice = d->device, .NumAllocations = a->NumAllocations, .phAllocations = a->phAllocations};

    return d3d_status(D3DKMTUnlock(&u));
}

static HRESULT APIENTRY escape(HANDLE h, CONST D3DDDICB_ESCAPE *a)
{
    struct d3d_kmt *kmt = h;
    D3DKMT_ESCAPE e = {.hAdapter = kmt->adapter,
                       .Type = D3DKMT_ESCAPE_DRIVERPRIVATE,
                       .Flags = a->Flags,
                       .pPrivateDriverData = a->pPrivateDriverData,
                       .PrivateDriverDataSize = a->PrivateDriverDataSize};

    return d3d_status(D3DKMTEscape(&e));
}

static HRESULT APIENTRY create_context(HANDLE h, D3DDDICB_CREATECONTEXT *a)
{
    struct d3d_kmt *d = h;
    D3DKMT_CREATECONTEXT c = {.hDevice = d->device,
                              .NodeOrdinal = a->NodeOrdinal,
                              .EngineAffinity = a->EngineAffinity,
                              .Flags = a->Flags,
                              .pPrivateDriverData = a->pPrivateDriverData,
                              .PrivateDriverDataSize = a->PrivateDriverDataSize,
                              .ClientHint = d->hint};
    NTSTATUS s = D3DKMTCreateContext(&c);

    a->hContext = (HANDLE)(uintptr_t)c.hContext;
    a->pCommandBuffer = c.pCommandBuffer;
    a->CommandBufferSize = c.CommandBufferSize;
    a->pAllocationList = c.pAllocationList;
    a->AllocationListSize = c.AllocationListSize;
    a->pPatchLocationList = c.pPatchLocationList;
    a->PatchLocationListSize = c.PatchLocationListSize;
    return d3d_status(s);
}

static HRESULT APIENTRY destroy_context(HANDLE h, CONST D3DDDICB_DESTROYCONTEXT *a)
{
    return d3d_status(
        D3DKMTDestroyContext(&(D3DKMT_DESTROYCONTEXT){.hContext = (D3DKMT_HANDLE)(uintptr_t)a->hContext}));
}

const D3DDDI_DEVICECALLBACKS d3d_callbacks = {.pfnAllocateCb = allocate,
                                              .pfnDeallocateCb = deallocate,
                                              .pfnRenderCb = render,
                                              .pfnLockCb = lock,
                                              .pfnUnlockCb = unlock,
                                              .pfnEscapeCb = escape,
                                              .pfnCreateContextCb = create_context,
                                              .pfnDestroyContextCb = destroy_context};

D3DKMT_DEVICEEXECUTION_STATE d3d_execution_state(D3DKMT_HANDLE device)
{
    D3DKMT_GETDEVICESTATE g = {.hDevice = device, .StateType = D3DKMT_DEVICESTATE_EXECUTION};

    return NT_SUCCESS(D3DKMTGetDeviceState(&g)) ? g.ExecutionState : D3DKMT_DEVICEEXECUTION_STOPPED;
}
