/* SPDX-License-Identifier: MIT */
/* residency.c: the thunks that ask where allocations are, and say how dear they are. */
#include <stdlib.h>

#include "dxgkrnl/thunks/thunks.h"

enum { MAX_ALLOCATIONS = 1024 };

/* The allocations that a call names, as handles of a resource or of each. */
struct named {
    struct alloc **list;
    UINT count;
    bool whole; /* those of a resource: one value is for all */
};

static NTSTATUS collect(struct device *dev, D3DKMT_HANDLE resource, const D3DKMT_HANDLE *handles, UINT n,
                        struct named *out)
{
    struct dxgk_client *c = dev->client;
    struct dxgk *d = c->d;
    struct open_resource *g = resource ? dxgk_handle_get(d, resource, HANDLE_RES, c) : NULL;

    if (resource && (!g || g->device != dev || g->doomed))
        return STATUS_INVALID_HANDLE;
    if (n > MAX_ALLOCATIONS || (resource && (n || handles)) || (!resource && (!n || !handles)))
        return STATUS_INVALID_PARAMETER;
    out->whole = g;
    out->count = g ? g->resource->count : n;
    out->list = calloc(out->count ? out->count : 1, sizeof(*out->list));
    if (!out->list)
        return STATUS_NO_MEMORY;
    for (UINT i = 0; i < out->count; i++) {
        struct open_alloc *o = g ? NULL : dxgk_handle_get(d, handles[i], HANDLE_ALLOC, c);
        if (!g && (!o || o->device != dev))
            return STATUS_INVALID_HANDLE;
        out->list[i] = g ? g->resource->allocs[i] : o->alloc;
    }
    return STATUS_SUCCESS;
}

static D3DKMT_ALLOCATIONRESIDENCYSTATUS where(const struct dxgk *d, const struct alloc *a)
{
    return !a->segment ? D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT
           : d->vidmm.segments[a->segment - 1].desc.Flags.Aperture
               ? D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINSHAREDMEMORY
               : D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY;
}

NTSTATUS dxgk_QueryAllocationResidency(struct dxgk_client *c, CONST D3DKMT_QUERYALLOCATIONRESIDENCY *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct device *dev = dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c);
    struct named n = {0};
    NTSTATUS s = dev ? dxgk_thunk_usable(d, dev) : STATUS_INVALID_HANDLE;

    if (NT_SUCCESS(s))
        s = arg->pResidencyStatus
                ? collect(dev, arg->hResource, arg->phAllocationList, arg->AllocationCount, &n)
                : STATUS_INVALID_PARAMETER;
    if (NT_SUCCESS(s) && n.whole)
        arg->pResidencyStatus[0] = D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY;
    for (UINT i = 0; NT_SUCCESS(s) && i < n.count; i++) {
        D3DKMT_ALLOCATIONRESIDENCYSTATUS r = where(d, n.list[i]),
                                         *to = &arg->pResidencyStatus[n.whole ? 0 : i];
        if (!n.whole || r > *to) /* the worse, the greater */
            *to = r;
    }
    free(n.list);
    return dxgk_thunk_leave(d, s);
}

NTSTATUS dxgk_SetAllocationPriority(struct dxgk_client *c, CONST D3DKMT_SETALLOCATIONPRIORITY *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct device *dev = dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c);
    struct named n = {0};
    NTSTATUS s = dev ? dxgk_thunk_usable(d, dev) : STATUS_INVALID_HANDLE;

    if (NT_SUCCESS(s))
        s = arg->pPriorities ? collect(dev, arg->hResource, arg->phAllocationList, arg->AllocationCount, &n)
                             : STATUS_INVALID_PARAMETER;
    for (UINT i = 0; NT_SUCCESS(s) && i < n.count; i++)
        n.list[i]->priority = arg->pPriorities[n.whole ? 0 : i];
    free(n.list);
    return dxgk_thunk_leave(d, s);
}
