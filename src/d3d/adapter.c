/* SPDX-License-Identifier: MIT */
/* adapter.c: adapters, and the driver for Direct3D 11 of each. */
#include "d3d/d3d.h"

#include <stdarg.h>
#include <stdio.h>

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

/* The newer one of the two. */
static bool choose_interface(struct d3d_adapter *a)
{
    static const UINT64 known[] = {D3D11_1_DDI_SUPPORTED, D3D11_0_DDI_SUPPORTED};
    UINT64 has[32];
    UINT32 count = 0;

    if (a->ddi.pfnGetSupportedVersions(a->drv, &count, NULL) != S_OK ||
        count > sizeof(has) / sizeof(has[0]) || a->ddi.pfnGetSupportedVersions(a->drv, &count, has) != S_OK)
        return false;
    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
        for (UINT32 i = 0; i < count; i++)
            if (has[i] == known[k]) {
                a->ddi_interface = (UINT)(known[k] >> 32);
                a->ddi_version = (UINT)known[k];
                return true;
            }
    return false;
}

static HRESULT load_driver(struct d3d_adapter *a)
{
    D3D10DDIARG_OPENADAPTER open = {.hRTAdapter.handle = &a->kmt,
                                    .Interface = D3D11_1_DDI_INTERFACE,
                                    .Version = D3D11_1_DDI_BUILD_VERSION << 16,
                                    .pAdapterCallbacks = &d3d_adapter_callbacks,
                                    .pAdapterFuncs_2 = &a->ddi};
    PFND3D10DDI_OPENADAPTER open_adapter;
    PFND3DDDI_GETANNOTATIONFUNCS annotations;
    char name[260];
    HRESULT hr;

    a->library = d3d_library_open(a->kmt.adapter, KMTUMDVERSION_DX11, name);
    open_adapter =
        a->library ? (PFND3D10DDI_OPENADAPTER)d3d_library_symbol(a->library, "OpenAdapter10_2") : NULL;
    if (!open_adapter) {
        d3d_log("the adapter's driver %s cannot be loaded", name);
        return DXGI_ERROR_UNSUPPORTED;
    }
    hr = open_adapter(&open);
    if (hr != S_OK)
        return hr;
    a->drv = open.hAdapter;
    annotations = (PFND3DDDI_GETANNOTATIONFUNCS)d3d_library_symbol(a->library, "GetAnnotationFuncs");
    if (annotations)
        annotations(&a->annotate);
    if (!a->ddi.pfnCalcPrivateDeviceSize || !a->ddi.pfnCreateDevice || !a->ddi.pfnCloseAdapter ||
        !a->ddi.pfnGetCaps || !a->ddi.pfnGetSupportedVersions) {
        d3d_log("%s leaves out functions of its adapter", name);
        return DXGI_ERROR_UNSUPPORTED;
    }
    if (!choose_interface(a)) {
        d3d_log("%s has none of the interfaces of Direct3D 11 and 11.1", name);
        return DXGI_ERROR_UNSUPPORTED;
    }
    return S_OK;
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
    a->kmt.adapter = open.hAdapter;
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
        d3d_library_close(a->library);
    D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){.hAdapter = a->kmt.adapter});
    free(a);
}

HRESULT d3d_removed_reason(struct d3d_device *d)
{
    switch (d3d_execution_state(d->kmt.device)) {
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
