/* SPDX-License-Identifier: MIT */
/* present.c: the DXGI part of the interface: a back buffer to a primary, and the primary to the screen. */
#include "umd/d3d10/umd10.h"

static HRESULT APIENTRY present(DXGI_DDI_ARG_PRESENT *a)
{
    struct umd10_device *d = (struct umd10_device *)a->hDevice;
    struct umd10_resource *src = (struct umd10_resource *)a->hSurfaceToPresent;
    struct umd10_resource *dst = (struct umd10_resource *)a->hDstResource;
    DXGIDDICB_PRESENT p = {.pDXGIContext = a->pDXGIContext, .hContext = d->context};

    if (!src || (a->Flags.Blt && !dst) || (a->Flags.Flip && !src->alloc_id))
        return E_INVALIDARG;
    if (a->Flags.Blt)
        umd10_copy(d, dst, a->DstSubResourceIndex, 0, 0, 0, src, a->SrcSubResourceIndex, NULL);
    umd10_flush(d);
    if (d->removed)
        return D3DDDIERR_DEVICEREMOVED;
    p.hSrcAllocation = src->allocation;
    p.hDstAllocation = dst ? dst->allocation : 0;
    return a->Flags.Flip ? d->dxgi->pfnPresentCb(d->runtime.handle, &p) : S_OK;
}

void umd10_present_functions(DXGI1_1_DDI_BASE_FUNCTIONS *f)
{
    memset(f, 0, sizeof(*f));
    f->pfnPresent = present;
}
