/* SPDX-License-Identifier: MIT */
/* adapter.c: the adapter's user-mode driver, loaded as it is named; and what drivers call back. */
#include "d3d/d3d.h"

#include <stdarg.h>
#include <stdio.h>
#if !defined(_WIN32)
#include <dlfcn.h>
#endif

void d3d_log(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    fputs("d3d11: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
}

void d3d_missing(LONG *said, const char *method)
{
    if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED))
        d3d_log("%s is not there", method);
}

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

static void *symbol(void *library, const char *name)
{
#if defined(_WIN32)
    return (void *)GetProcAddress(library, name);
#else
    return dlsym(library, name);
#endif
}

static void unload(void *library)
{
#if defined(_WIN32)
    FreeLibrary(library);
#else
    dlclose(library);
#endif
}

static HRESULT APIENTRY query_adapter(HANDLE h, CONST D3DDDICB_QUERYADAPTERINFO *a)
{
    struct d3d_adapter *adapter = h;
    D3DKMT_QUERYADAPTERINFO q = {.hAdapter = adapter->handle,
                                 .Type = KMTQAITYPE_UMDRIVERPRIVATE,
                                 .pPrivateDriverData = a->pPrivateDriverData,
                                 .PrivateDriverDataSize = a->PrivateDriverDataSize};

    return d3d_status(D3DKMTQueryAdapterInfo(&q));
}

static const D3DDDI_ADAPTERCALLBACKS adapter_callbacks = {.pfnQueryAdapterInfoCb = query_adapter};

static HRESULT load_driver(struct d3d_adapter *a)
{
    D3DKMT_UMDFILENAMEINFO info = {.Version = KMTUMDVERSION_DX11};
    D3DKMT_QUERYADAPTERINFO q = {.hAdapter = a->handle,
                                 .Type = KMTQAITYPE_UMDRIVERNAME,
                                 .pPrivateDriverData = &info,
                                 .PrivateDriverDataSize = sizeof(info)};
    D3D10DDIARG_OPENADAPTER open = {.hRTAdapter.handle = a,
                                    .Interface = D3D11_0_DDI_INTERFACE,
                                    .Version = D3D11_0_DDI_BUILD_VERSION << 16,
                                    .pAdapterCallbacks = &adapter_callbacks,
                                    .pAdapterFuncs_2 = &a->ddi};
    PFND3D10DDI_OPENADAPTER open_adapter;
    PFND3DDDI_GETANNOTATIONFUNCS annotations;
    char name[260] = "";
    HRESULT hr;

    if (!NT_SUCCESS(D3DKMTQueryAdapterInfo(&q)))
        return DXGI_ERROR_UNSUPPORTED;
    for (int i = 0; i < 259 && info.UmdFileName[i]; i++)
        name[i] = info.UmdFileName[i] < 127 ? (char)info.UmdFileName[i] : '?';
    a->library = load(name);
    open_adapter = a->library ? (PFND3D10DDI_OPENADAPTER)symbol(a->library, "OpenAdapter10_2") : NULL;
    if (!open_adapter) {
        d3d_log("the adapter's driver %s cannot be loaded", name);
        return DXGI_ERROR_UNSUPPORTED;
    }
    hr = open_adapter(&open);
    if (hr != S_OK)
        return hr;
    a->drv = open.hAdapter;
    annotations = (PFND3DDDI_GETANNOTATIONFUNCS)symbol(a->library, "GetAnnotationFuncs");
    if (annotations)
        annotations(&a->annotate);
    if (!a->ddi.pfnCalcPrivateDeviceSize || !a->ddi.pfnCreateDevice || !a->ddi.pfnCloseAdapter ||
        !a->ddi.pfnGetCaps) {
        d3d_log("%s leaves out functions of its adapter", name);
        return DXGI_ERROR_UNSUPPORTED;
    }
    return S_OK;
}

bool d3d_display_open(D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME *open)
{
    static const char name[] = "\\\\.\\DISPLAY1";

    memset(open, 0, sizeof(*open));
    for (size_t i = 0; i < sizeof(name); i++)
        open->DeviceName[i] = (WCHAR)name[i];
    return NT_SUCCESS(D3DKMTOpenAdapterFromGdiDisplayName(open));
}

HRESULT d3d_adapter_open(struct d3d_adapter **out)
{
    struct d3d_adapter *a = calloc(1, sizeof(*a));
    D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME open;
    HRESULT hr;

    if (!a)
        return E_OUTOFMEMORY;
    if (!d3d_display_open(&open)) {
        free(a);
        return DXGI_ERROR_NOT_FOUND;
    }
    a->handle = open.hAdapter;
    a->luid = open.AdapterLuid;
    a->source = open.VidPnSourceId;
    hr = load_driver(a);
    if (hr != S_OK) {
        d3d_adapter_close(a);
        return hr;
    }
    *out = a;
    return S_OK;
}

void d3d_adapter_close(struct d3d_adapter *a)
{
    if (a->drv.pDrvPrivate)
        a->ddi.pfnCloseAdapter(a->drv);
    if (a->library)
        unload(a->library);
    D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){.hAdapter = a->handle});
    free(a);
}

/* ---- what a device calls back -------------------------------------------- */

static HRESULT APIENTRY allocate(HANDLE h, D3DDDICB_ALLOCATE *a)
{
    struct d3d_device *d = h;
    D3DKMT_CREATEALLOCATION c = {.hDevice = d->kmt,
                                 .pPrivateDriverData = a->pPrivateDriverData,
                                 .PrivateDriverDataSize = a->PrivateDriverDataSize,
                                 .NumAllocations = a->NumAllocations,
                                 .pAllocationInfo = a->pAllocationInfo};
    NTSTATUS s;

    c.Flags.CreateResource = a->hResource != NULL;
    s = D3DKMTCreateAllocation(&c);
    a->hKMResource = c.hResource;
    return d3d_status(s);
}

static HRESULT APIENTRY deallocate(HANDLE h, CONST D3DDDICB_DEALLOCATE *a)
{
    struct d3d_device *d = h;
    D3DKMT_DESTROYALLOCATION c = {
        .hDevice = d->kmt, .phAllocationList = a->HandleList, .AllocationCount = a->NumAllocations};

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
    struct d3d_device *d = h;
    D3DKMT_LOCK l = {.hDevice = d->kmt, .hAllocation = a->hAllocation, .Flags = a->Flags};
    NTSTATUS s = D3DKMTLock(&l);

    a->pData = l.pData;
    return d3d_status(s);
}

static HRESULT APIENTRY unlock(HANDLE h, CONST D3DDDICB_UNLOCK *a)
{
    struct d3d_device *d = h;
    D3DKMT_UNLOCK u = {
        .hDevice = d->kmt, .NumAllocations = a->NumAllocations, .phAllocations = a->phAllocations};

    return d3d_status(D3DKMTUnlock(&u));
}

static HRESULT APIENTRY escape(HANDLE h, CONST D3DDDICB_ESCAPE *a)
{
    struct d3d_adapter *adapter = h;
    D3DKMT_ESCAPE e = {.hAdapter = adapter->handle,
                       .Type = D3DKMT_ESCAPE_DRIVERPRIVATE,
                       .Flags = a->Flags,
                       .pPrivateDriverData = a->pPrivateDriverData,
                       .PrivateDriverDataSize = a->PrivateDriverDataSize};

    return d3d_status(D3DKMTEscape(&e));
}

static HRESULT APIENTRY create_context(HANDLE h, D3DDDICB_CREATECONTEXT *a)
{
    struct d3d_device *d = h;
    D3DKMT_CREATECONTEXT c = {.hDevice = d->kmt,
                              .NodeOrdinal = a->NodeOrdinal,
                              .EngineAffinity = a->EngineAffinity,
                              .Flags = a->Flags,
                              .pPrivateDriverData = a->pPrivateDriverData,
                              .PrivateDriverDataSize = a->PrivateDriverDataSize,
                              .ClientHint = D3DKMT_CLIENTHINT_DX10};
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

HRESULT d3d_removed_reason(struct d3d_device *d)
{
    D3DKMT_GETDEVICESTATE g = {.hDevice = d->kmt, .StateType = D3DKMT_DEVICESTATE_EXECUTION};

    if (!NT_SUCCESS(D3DKMTGetDeviceState(&g)))
        return DXGI_ERROR_DEVICE_REMOVED;
    switch (g.ExecutionState) {
    case D3DKMT_DEVICEEXECUTION_ACTIVE:
        return S_OK;
    case D3DKMT_DEVICEEXECUTION_HUNG:
    case D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT: /* its documentation: commands that were badly formed */
        return DXGI_ERROR_DEVICE_HUNG;
    case D3DKMT_DEVICEEXECUTION_RESET:
        return DXGI_ERROR_DEVICE_RESET;
    default:
        return DXGI_ERROR_DEVICE_REMOVED;
    }
}
