/* SPDX-License-Identifier: MIT */
/* objects.c: the D3DKMT thunks for devices, contexts and allocations. */
#include "dxgkrnl/thunks/thunks.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ALLOCATIONS = 1024 };

/* ---- devices and contexts ------------------------------------------------ */

static bool is_prepared(const struct dxgk *d, uint32_t user)
{
    for (const struct dxgk_client *c = d->clients; c; c = c->next)
        if (c->preparing && c->has_user && c->user == user)
            return true;
    return false;
}

/* Once its work is in the ring, others wait behind it. What a process needs takes long to start, and is started for one after the other: a
 * stranger's user waits for one of his at a time, whatever number of processes he has. */
static void prepare(struct dxgk_client *c)
{
    struct dxgk *d = dxgk_thunk_enter(c);

    while (c->has_user && !c->cancelled && is_prepared(d, c->user))
        dxgk_kernel_wait(d->kernel, &d->progress, LOOP_FOREVER);
    if (c->cancelled) { /* nothing starts for who has gone: it is no way past the turn of his user */
        dxgk_thunk_leave(d, STATUS_SUCCESS);
        return;
    }
    c->preparing++;
    dxgk_thunk_leave(d, STATUS_SUCCESS);
    d->bus->prepare(d->bus->ctx, c->process);
    dxgk_thunk_enter(c);
    c->preparing--;
    dxgk_kernel_wake_all(d->kernel, &d->progress);
    dxgk_thunk_leave(d, STATUS_SUCCESS);
}

NTSTATUS dxgk_CreateDevice(struct dxgk_client *c, D3DKMT_CREATEDEVICE *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    NTSTATUS s;

    if (!dxgk_handle_get(d, arg->hAdapter, HANDLE_ADAPTER, c)) {
        s = STATUS_INVALID_HANDLE;
    } else if (d->displayonly) {
        s = STATUS_NOT_SUPPORTED;
    } else if (c->cancelled) {
        s = STATUS_CANCELLED;
    } else if (NT_SUCCESS(s = dxgk_thunk_usable(d, NULL)) && dxgk_offender_barred(d, c)) {
        s = STATUS_ACCESS_DENIED;
    } else if (NT_SUCCESS(s)) {
        struct device *dev = NULL;
        s = STATUS_DEVICE_REMOVED;
        if (dxgk_adapter_lock(d)) {
            dev = dxgk_device_create(d, c, &s);
            dxgk_adapter_unlock(d);
        }
        if (dev)
            DXGK_TRACE(d, DEVICE_START, c->process, dev->handle);
        arg->hDevice = dev ? dev->handle : 0;
        arg->pCommandBuffer = NULL; /* contexts have the buffers */
        arg->CommandBufferSize = 0;
    }
    s = dxgk_thunk_leave(d, s);
    if (NT_SUCCESS(s) && d->bus->prepare)
        prepare(c);
    return s;
}

NTSTATUS dxgk_DestroyDevice(struct dxgk_client *c, CONST D3DKMT_DESTROYDEVICE *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct device *dev = dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c);

    if (dev)
        dxgk_device_destroy(dev);
    return dxgk_thunk_leave(d, dev ? STATUS_SUCCESS : STATUS_INVALID_HANDLE);
}

NTSTATUS dxgk_GetDeviceState(struct dxgk_client *c, D3DKMT_GETDEVICESTATE *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct device *dev = dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c);
    NTSTATUS s = STATUS_SUCCESS;
    struct source *src;

    if (!dev)
        return dxgk_thunk_leave(d, STATUS_INVALID_HANDLE);
    switch (arg->StateType) {
    case D3DKMT_DEVICESTATE_EXECUTION:
        arg->ExecutionState = dev->state;
        break;
    case D3DKMT_DEVICESTATE_RESET:
        arg->ResetState.Value = 0;
        break;
    case D3DKMT_DEVICESTATE_PRESENT:
        if (arg->PresentState.VidPnSourceId >= d->display.num_sources) {
            s = STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
            break;
        }
        src = &d->display.sources[arg->PresentState.VidPnSourceId];
        arg->PresentState.PresentStats = (D3DKMT_PRESENT_STATS){
            .PresentCount = dev->present_count,
            .PresentRefreshCount = (UINT)src->last_flip,
            .SyncRefreshCount = (UINT)src->vblanks,
            .SyncQPCTime.QuadPart = (LONGLONG)(src->vblank_ns / 100),
        };
        break;
    default:
        s = STATUS_INVALID_PARAMETER;
    }
    return dxgk_thunk_leave(d, s);
}

NTSTATUS dxgk_CreateContext(struct dxgk_client *c, D3DKMT_CREATECONTEXT *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct device *dev = dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c);
    struct context *x = NULL;
    NTSTATUS s;

    if (!dev)
        return dxgk_thunk_leave(d, STATUS_INVALID_HANDLE);
    s = dxgk_thunk_usable(d, dev);
    if (NT_SUCCESS(s) &&
        (arg->NodeOrdinal >= d->sched.num_nodes || arg->PrivateDriverDataSize > MAX_PRIVATE ||
         (arg->PrivateDriverDataSize && !arg->pPrivateDriverData)))
        s = STATUS_INVALID_PARAMETER;
    if (NT_SUCCESS(s) && !dxgk_adapter_lock(d))
        s = STATUS_DEVICE_REMOVED;
    else if (NT_SUCCESS(s)) {
        x = dxgk_context_create(dev, arg->NodeOrdinal, arg->EngineAffinity, arg->pPrivateDriverData,
                                arg->PrivateDriverDataSize, &s);
        dxgk_adapter_unlock(d);
    }
    if (x) {
        DXGK_TRACE(d, CONTEXT_START, c->process, x->handle, dev->handle, x->node);
        arg->hContext = x->handle;
        arg->pCommandBuffer = x->command;
        arg->CommandBufferSize = x->info.DmaBufferSize;
        arg->pAllocationList = x->list;
        arg->AllocationListSize = x->info.AllocationListSize;
        arg->pPatchLocationList = x->patch;
        arg->PatchLocationListSize = x->info.PatchLocationListSize;
        arg->CommandBuffer = 0;
    }
    return dxgk_thunk_leave(d, s);
}

NTSTATUS dxgk_context_fd(struct dxgk_client *c, D3DKMT_HANDLE context, int *fd, uint64_t *size)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct context *x = dxgk_handle_get(d, context, HANDLE_CONTEXT, c);

    if (x) {
        *fd = x->buffer_fd;
        *size = x->buffer_size;
    }
    return dxgk_thunk_leave(d, x ? STATUS_SUCCESS : STATUS_INVALID_HANDLE);
}

NTSTATUS dxgk_DestroyContext(struct dxgk_client *c, CONST D3DKMT_DESTROYCONTEXT *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct context *x = dxgk_handle_get(d, arg->hContext, HANDLE_CONTEXT, c);

    if (x)
        dxgk_context_destroy(x);
    return dxgk_thunk_leave(d, x ? STATUS_SUCCESS : STATUS_INVALID_HANDLE);
}

NTSTATUS dxgk_SetContextSchedulingPriority(struct dxgk_client *c,
                                           CONST D3DKMT_SETCONTEXTSCHEDULINGPRIORITY *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct context *x = dxgk_handle_get(d, arg->hContext, HANDLE_CONTEXT, c);
    NTSTATUS s = STATUS_SUCCESS;

    if (!x)
        s = STATUS_INVALID_HANDLE;
    else if (arg->Priority < -7 || arg->Priority > 7)
        s = STATUS_INVALID_PARAMETER;
    else
        x->priority = arg->Priority;
    return dxgk_thunk_leave(d, s);
}

NTSTATUS dxgk_GetContextSchedulingPriority(struct dxgk_client *c, D3DKMT_GETCONTEXTSCHEDULINGPRIORITY *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct context *x = dxgk_handle_get(d, arg->hContext, HANDLE_CONTEXT, c);

    if (x)
        arg->Priority = x->priority;
    return dxgk_thunk_leave(d, x ? STATUS_SUCCESS : STATUS_INVALID_HANDLE);
}

/* All clients of a process have its class; an administrator sees everybody's, others their user's. */
NTSTATUS dxgk_ProcessPriority(struct dxgk_client *c, D3DKMT_PROCESSPRIORITY *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    uint64_t process = arg->Process ? arg->Process : c->process;
    NTSTATUS s = STATUS_INVALID_HANDLE;

    if (arg->Set && arg->Class > D3DKMT_SCHEDULINGPRIORITYCLASS_REALTIME)
        return dxgk_thunk_leave(d, STATUS_INVALID_PARAMETER);
    for (struct dxgk_client *i = d->clients; i; i = i->next) {
        if (i->process != process || !(c->admin || dxgk_offender_user(c) == dxgk_offender_user(i)))
            continue;
        s = STATUS_SUCCESS;
        if (!arg->Set)
            arg->Class = i->priority;
        else if (arg->Class > D3DKMT_SCHEDULINGPRIORITYCLASS_NORMAL && !c->admin)
            s = STATUS_PRIVILEGE_NOT_HELD;
        else
            i->priority = arg->Class;
    }
    return dxgk_thunk_leave(d, s);
}

/* ---- allocations --------------------------------------------------------- */

static NTSTATUS check_create(const D3DKMT_CREATEALLOCATION *arg)
{
    if (arg->NumAllocations > MAX_ALLOCATIONS || (arg->NumAllocations && !arg->pAllocationInfo) ||
        (!arg->NumAllocations && !arg->Flags.CreateResource))
        return STATUS_INVALID_PARAMETER;
    if (arg->PrivateDriverDataSize > MAX_PRIVATE ||
        (arg->PrivateDriverDataSize && !arg->pPrivateDriverData) ||
        arg->PrivateRuntimeDataSize > MAX_PRIVATE ||
        (arg->PrivateRuntimeDataSize && !arg->pPrivateRuntimeData))
        return STATUS_INVALID_PARAMETER;
    if ((arg->Flags.CreateShared && !arg->Flags.CreateResource) || arg->hResource ||
        arg->Flags.CreateProtected || arg->Flags.RestrictSharedAccess || arg->Flags.ExistingSysMem ||
        arg->Flags.Reserved)
        return STATUS_INVALID_PARAMETER;
    for (UINT i = 0; i < arg->NumAllocations; i++) {
        const D3DDDI_ALLOCATIONINFO *a = &arg->pAllocationInfo[i];
        if (a->PrivateDriverDataSize > MAX_PRIVATE || (a->PrivateDriverDataSize && !a->pPrivateDriverData) ||
            a->pSystemMem || a->Flags.Reserved)
            return STATUS_INVALID_PARAMETER;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS create_locked(struct dxgk_client *c, struct device *dev, D3DKMT_CREATEALLOCATION *arg)
{
    struct dxgk *d = c->d;
    struct resource *r = calloc(1, sizeof(*r));
    struct open_alloc **opens = calloc(arg->NumAllocations + 1, sizeof(struct open_alloc *));
    struct open_resource *g;
    NTSTATUS s = STATUS_NO_MEMORY;

    if (!r || !opens)
        goto fail;
    r->is_resource = arg->Flags.CreateResource;
    r->owner = arg->Flags.CreateShared ? ++d->owners : c->serial;
    r->user = c->has_user ? dxgk_offender_user(c) : 0;
    r->priv_size = arg->PrivateDriverDataSize;
    r->runtime_size = arg->PrivateRuntimeDataSize;
    r->priv = malloc(r->priv_size + 1);
    r->runtime = malloc(r->runtime_size + 1);
    if (!r->priv || !r->runtime)
        goto fail;
    memcpy(r->priv, arg->pPrivateDriverData ? arg->pPrivateDriverData : "", r->priv_size);
    memcpy(r->runtime, arg->pPrivateRuntimeData ? arg->pPrivateRuntimeData : "", r->runtime_size);
    s = dxgk_vidmm_create(d, r, r->priv, r->priv_size, arg->pAllocationInfo, arg->NumAllocations);
    if (!NT_SUCCESS(s))
        goto fail;
    r->refs = 1; /* until it is open */
    s = dxgk_vidmm_open(dev, r, true, &g, opens);
    if (NT_SUCCESS(s)) {
        for (UINT i = 0; i < arg->NumAllocations; i++)
            arg->pAllocationInfo[i].hAllocation = opens[i]->handle;
        arg->hResource = g->handle;
        if (arg->Flags.CreateShared)
            arg->hGlobalShare = r->share = dxgk_share_new(d, SHARE_RESOURCE, r);
    }
    free(opens);
    if (NT_SUCCESS(s)) {
        r->refs--;
        return s;
    }
    dxgk_vidmm_release(d, r);
    return s;
fail:
    if (r) {
        free(r->allocs);
        free(r->priv);
        free(r->runtime);
    }
    free(r);
    free(opens);
    return s;
}

NTSTATUS dxgk_CreateAllocation(struct dxgk_client *c, D3DKMT_CREATEALLOCATION *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    uint64_t deadline = dxgk_kernel_now(d->kernel) + d->tdr.delay_ns;
    NTSTATUS s;

    for (;;) {
        struct device *dev = dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c);
        s = dev ? dxgk_thunk_usable(d, dev) : STATUS_INVALID_HANDLE;
        if (NT_SUCCESS(s) && c->cancelled)
            s = STATUS_CANCELLED;
        if (NT_SUCCESS(s))
            s = check_create(arg);
        if (NT_SUCCESS(s)) {
            s = STATUS_DEVICE_REMOVED;
            if (dxgk_adapter_lock(d)) {
                s = create_locked(c, dev, arg);
                dxgk_adapter_unlock(d);
            }
        }
        /* What was destroyed may still hold the memory, until the work that names it is done. */
        if (s != STATUS_GRAPHICS_NO_VIDEO_MEMORY || !d->vidmm.doomed ||
            !dxgk_kernel_wait(d->kernel, &d->progress, deadline)) {
            if (s == STATUS_GRAPHICS_NO_VIDEO_MEMORY)
                dxgk_vidmm_log_refusal(d, c);
            return dxgk_thunk_leave(d, s);
        }
    }
}

NTSTATUS dxgk_DestroyAllocation(struct dxgk_client *c, CONST D3DKMT_DESTROYALLOCATION *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct device *dev = dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c);
    struct open_resource *g;
    NTSTATUS s = STATUS_SUCCESS;

    if (!dev)
        return dxgk_thunk_leave(d, STATUS_INVALID_HANDLE);
    if (arg->hResource) {
        g = dxgk_handle_get(d, arg->hResource, HANDLE_RES, c);
        if (!g || g->device != dev)
            return dxgk_thunk_leave(d, STATUS_INVALID_HANDLE);
        dxgk_vidmm_doom(g);
        return dxgk_thunk_leave(d, STATUS_SUCCESS);
    }
    if (!arg->AllocationCount || arg->AllocationCount > MAX_ALLOCATIONS || !arg->phAllocationList)
        return dxgk_thunk_leave(d, STATUS_INVALID_PARAMETER);
    for (UINT i = 0; i < arg->AllocationCount && NT_SUCCESS(s); i++) {
        struct open_alloc *o = dxgk_handle_get(d, arg->phAllocationList[i], HANDLE_ALLOC, c);
        if (!o || o->device != dev || dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c) != dev)
            s = STATUS_INVALID_HANDLE;
        else if (o->group->handle)
            s = STATUS_INVALID_PARAMETER; /* of a resource: goes with it */
        else
            dxgk_vidmm_doom(o->group);
    }
    return dxgk_thunk_leave(d, s);
}

NTSTATUS dxgk_QueryResourceInfo(struct dxgk_client *c, D3DKMT_QUERYRESOURCEINFO *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct device *dev = dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c);
    struct resource *r = dev ? dxgk_share_get(d, SHARE_RESOURCE, arg->hGlobalShare, c) : NULL;
    NTSTATUS s;

    if (!dev || !r)
        return dxgk_thunk_leave(d, STATUS_INVALID_HANDLE);
    s = dxgk_thunk_usable(d, dev);
    if (NT_SUCCESS(s) && arg->pPrivateRuntimeData) {
        if (arg->PrivateRuntimeDataSize < r->runtime_size)
            s = STATUS_BUFFER_TOO_SMALL;
        else
            memcpy(arg->pPrivateRuntimeData, r->runtime, r->runtime_size);
    }
    arg->PrivateRuntimeDataSize = r->runtime_size;
    arg->ResourcePrivateDriverDataSize = r->priv_size;
    arg->NumAllocations = r->count;
    arg->TotalPrivateDriverDataSize = 0;
    for (unsigned i = 0; i < r->count; i++)
        arg->TotalPrivateDriverDataSize += r->allocs[i]->priv_size;
    return dxgk_thunk_leave(d, s);
}

static NTSTATUS open_locked(struct device *dev, struct resource *r, D3DKMT_OPENRESOURCE *arg)
{
    struct open_alloc **opens = calloc(r->count + 1, sizeof(struct open_alloc *));
    struct open_resource *g;
    uint8_t *at = arg->pTotalPrivateDriverDataBuffer;
    NTSTATUS s;

    if (!opens)
        return STATUS_NO_MEMORY;
    s = dxgk_vidmm_open(dev, r, false, &g, opens);
    for (unsigned i = 0; i < r->count && NT_SUCCESS(s); i++) {
        struct alloc *a = r->allocs[i];
        memcpy(at, a->priv, a->priv_size);
        arg->pOpenAllocationInfo[i] = (D3DDDI_OPENALLOCATIONINFO){
            .hAllocation = opens[i]->handle, .pPrivateDriverData = at, .PrivateDriverDataSize = a->priv_size};
        at += a->priv_size;
    }
    if (NT_SUCCESS(s)) {
        memcpy(arg->pPrivateRuntimeData ? arg->pPrivateRuntimeData : at, r->runtime,
               arg->pPrivateRuntimeData ? r->runtime_size : 0);
        memcpy(arg->pResourcePrivateDriverData ? arg->pResourcePrivateDriverData : at, r->priv,
               arg->pResourcePrivateDriverData ? r->priv_size : 0);
        arg->hResource = g->handle;
        arg->PrivateRuntimeDataSize = r->runtime_size;
        arg->ResourcePrivateDriverDataSize = r->priv_size;
        arg->TotalPrivateDriverDataBufferSize = (UINT)(at - (uint8_t *)arg->pTotalPrivateDriverDataBuffer);
    }
    free(opens);
    return s;
}

NTSTATUS dxgk_OpenResource(struct dxgk_client *c, D3DKMT_OPENRESOURCE *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct device *dev = dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c);
    struct resource *r = dev ? dxgk_share_get(d, SHARE_RESOURCE, arg->hGlobalShare, c) : NULL;
    UINT total = 0;
    NTSTATUS s;

    if (!dev || !r)
        return dxgk_thunk_leave(d, STATUS_INVALID_HANDLE);
    for (unsigned i = 0; i < r->count; i++)
        total += r->allocs[i]->priv_size;
    s = dxgk_thunk_usable(d, dev);
    if (NT_SUCCESS(s) && (arg->NumAllocations != r->count || (r->count && !arg->pOpenAllocationInfo) ||
                          (total && !arg->pTotalPrivateDriverDataBuffer)))
        s = STATUS_INVALID_PARAMETER;
    else if (NT_SUCCESS(s) &&
             (arg->TotalPrivateDriverDataBufferSize < total ||
              (arg->pPrivateRuntimeData && arg->PrivateRuntimeDataSize < r->runtime_size) ||
              (arg->pResourcePrivateDriverData && arg->ResourcePrivateDriverDataSize < r->priv_size)))
        s = STATUS_BUFFER_TOO_SMALL;
    if (NT_SUCCESS(s)) {
        s = STATUS_DEVICE_REMOVED;
        if (dxgk_adapter_lock(d)) {
            s = open_locked(dev, r, arg);
            dxgk_adapter_unlock(d);
        }
    }
    return dxgk_thunk_leave(d, s);
}
