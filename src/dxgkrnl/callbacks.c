/* SPDX-License-Identifier: MIT */
/* callbacks.c: the DXGKRNL_INTERFACE that a miniport gets in StartDevice. */
#include "dxgkrnl/display/vidpn.h"
#include "dxgkrnl/ntos/routines.h"

enum { LOG_ANY_LEVEL = 256 }; /* bytes of an event that may be logged at any IRQL */

static struct dxgk *from(HANDLE h, const char *routine)
{
    struct dxgk *d = dxgk_kernel_ctx(dxgk_kernel_self(routine));

    if (h != (HANDLE)d) {
        dxgk_kernel_violation(d->kernel, "%s with the handle %p, which is not the adapter's", routine, h);
        return NULL;
    }
    return d;
}

/* The first line of one that is told whose it is. */
#define FROM(name, h, failed)                                                                                \
    struct dxgk *d = from(h, #name);                                                                         \
    if (!d || !CHECK(name))                                                                                  \
    return failed

static NTSTATUS NTAPI DxgkCbEvalAcpiMethod(HANDLE h, ULONG uid, PVOID in, ULONG in_size, PVOID out,
                                           ULONG out_size)
{
    FROM(DxgkCbEvalAcpiMethod, h, STATUS_INVALID_PARAMETER);
    UNREFERENCED_PARAMETER(uid);
    UNREFERENCED_PARAMETER(in);
    UNREFERENCED_PARAMETER(in_size);
    UNREFERENCED_PARAMETER(out);
    UNREFERENCED_PARAMETER(out_size);
    return STATUS_NOT_SUPPORTED; /* the machine has no ACPI tables */
}

static NTSTATUS NTAPI DxgkCbGetDeviceInformation(HANDLE h, PDXGK_DEVICE_INFO info)
{
    static const WCHAR key[] = u"" DXGK_DRIVER_KEY;
    FROM(DxgkCbGetDeviceInformation, h, STATUS_INVALID_PARAMETER);
    *info = (DXGK_DEVICE_INFO){
        .MiniportDeviceContext = d->miniport,
        .PhysicalDeviceObject = (PDEVICE_OBJECT)d->objects->device,
        .DeviceRegistryPath = {.Length = sizeof(key) - sizeof(key[0]),
                               .MaximumLength = sizeof(key),
                               .Buffer = (PWSTR)key},
        .TranslatedResourceList = d->resources,
        .SystemMemorySize.QuadPart = (LONGLONG)d->bus->memory_size,
        .HighestPhysicalAddress.QuadPart = (LONGLONG)(d->bus->memory_size - 1),
        .DockingState = DockStateUnsupported,
    };
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI DxgkCbIndicateChildStatus(HANDLE h, PDXGK_CHILD_STATUS status)
{
    FROM(DxgkCbIndicateChildStatus, h, STATUS_INVALID_PARAMETER);
    for (ULONG i = 0; i < d->display.num_children; i++)
        if (d->display.children[i].desc.ChildUid == status->ChildUid && status->Type == StatusConnection) {
            d->display.children[i].connected = status->HotPlug.Connected;
            return STATUS_SUCCESS;
        }
    return STATUS_INVALID_PARAMETER;
}

static NTSTATUS NTAPI DxgkCbMapMemory(HANDLE h, PHYSICAL_ADDRESS address, ULONG length, BOOLEAN io,
                                      BOOLEAN user, MEMORY_CACHING_TYPE cache, PVOID *va)
{
    FROM(DxgkCbMapMemory, h, STATUS_INVALID_PARAMETER);
    UNREFERENCED_PARAMETER(cache);
    if (io || user)
        return STATUS_INVALID_PARAMETER; /* there are no port resources to map */
    return dxgk_ntos_map(d, "DxgkCbMapMemory", (uint64_t)address.QuadPart, length, va);
}

static BOOLEAN NTAPI DxgkCbQueueDpc(HANDLE h)
{
    FROM(DxgkCbQueueDpc, h, FALSE);
    if (d->dpc.DpcData)
        return FALSE;
    dxgk_kernel_queue_dpc(d->kernel, &d->dpc);
    return TRUE;
}

static NTSTATUS NTAPI DxgkCbQueryServices(HANDLE h, DXGK_SERVICES type, PINTERFACE interface)
{
    FROM(DxgkCbQueryServices, h, STATUS_INVALID_PARAMETER);
    UNREFERENCED_PARAMETER(type);
    UNREFERENCED_PARAMETER(interface);
    return STATUS_NOT_SUPPORTED;
}

static NTSTATUS NTAPI DxgkCbReadDeviceSpace(HANDLE h, ULONG type, PVOID buffer, ULONG offset, ULONG length,
                                            PULONG read)
{
    FROM(DxgkCbReadDeviceSpace, h, STATUS_INVALID_PARAMETER);
    *read = 0;
    if (type != DXGK_WHICHSPACE_CONFIG || !d->bus->config_read)
        return STATUS_INVALID_PARAMETER;
    *read = d->bus->config_read(d->bus->ctx, offset, buffer, length);
    return *read ? STATUS_SUCCESS : STATUS_UNSUCCESSFUL;
}

/* Of its interrupts; a line is one. */
static unsigned messages(const struct dxgk *d)
{
    unsigned n = 0;

    for (unsigned i = 0; i < d->bus->num_resources; i++)
        n += d->bus->resources[i].type == CmResourceTypeInterrupt &&
             d->bus->resources[i].flags & CM_RESOURCE_INTERRUPT_MESSAGE;
    return n ? n : 1;
}

static NTSTATUS NTAPI DxgkCbSynchronizeExecution(HANDLE h, PKSYNCHRONIZE_ROUTINE routine, PVOID context,
                                                 ULONG message, PBOOLEAN result)
{
    unsigned held;
    BOOLEAN answer;
    KIRQL old;
    FROM(DxgkCbSynchronizeExecution, h, STATUS_INVALID_PARAMETER);
    if (message >= messages(d)) {
        dxgk_kernel_violation(d->kernel, "DxgkCbSynchronizeExecution for message %u, the adapter has %u",
                              message, messages(d));
        return STATUS_INVALID_PARAMETER;
    }
    held = d->ntos.num_held;
    old = dxgk_kernel_raise(d->kernel, DIRQL);
    answer = KERNEL_GUEST(routine)(context);
    if (dxgk_kernel_irql(d->kernel) != DIRQL) {
        dxgk_kernel_violation(
            d->kernel, "the routine of DxgkCbSynchronizeExecution returned at IRQL %d, was called at %d",
            dxgk_kernel_irql(d->kernel), DIRQL);
        if (dxgk_kernel_irql(d->kernel) < DIRQL)
            dxgk_kernel_raise(d->kernel, DIRQL);
    }
    if (d->ntos.num_held > held) {
        dxgk_kernel_violation(d->kernel,
                              "the routine of DxgkCbSynchronizeExecution returned and holds a spin lock");
        d->ntos.num_held = held;
    }
    dxgk_kernel_lower(d->kernel, old);
    *result = answer; /* may be paged */
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI DxgkCbUnmapMemory(HANDLE h, PVOID va)
{
    FROM(DxgkCbUnmapMemory, h, STATUS_INVALID_PARAMETER);
    return dxgk_ntos_unmap(d, "DxgkCbUnmapMemory", "DxgkCbMapMemory", va);
}

static NTSTATUS NTAPI DxgkCbWriteDeviceSpace(HANDLE h, ULONG type, PVOID buffer, ULONG offset, ULONG length,
                                             PULONG written)
{
    FROM(DxgkCbWriteDeviceSpace, h, STATUS_INVALID_PARAMETER);
    *written = 0;
    if (type != DXGK_WHICHSPACE_CONFIG || !d->bus->config_write)
        return STATUS_INVALID_PARAMETER;
    *written = d->bus->config_write(d->bus->ctx, offset, buffer, length);
    return *written ? STATUS_SUCCESS : STATUS_UNSUCCESSFUL;
}

static NTSTATUS NTAPI DxgkCbIsDevicePresent(HANDLE h, PVOID parameters, PBOOLEAN present)
{
    FROM(DxgkCbIsDevicePresent, h, STATUS_INVALID_PARAMETER);
    UNREFERENCED_PARAMETER(parameters);
    *present = FALSE;
    return STATUS_SUCCESS;
}

static VOID *NTAPI DxgkCbGetHandleData(CONST DXGKARGCB_GETHANDLEDATA *args)
{
    struct dxgk *d = dxgk_kernel_ctx(dxgk_kernel_self(__func__));

    if (!CHECK(DxgkCbGetHandleData))
        return NULL;
    if (args->Type == DXGK_HANDLE_ALLOCATION) {
        const struct open_alloc *o = dxgk_handle_any(d, args->hObject, HANDLE_ALLOC);
        return !o ? NULL : args->Flags.DeviceSpecific ? o->driver : o->alloc->driver;
    }
    if (args->Type == DXGK_HANDLE_RESOURCE) {
        const struct open_resource *r = dxgk_handle_any(d, args->hObject, HANDLE_RES);
        return r ? r->resource->driver : NULL;
    }
    return NULL;
}

static D3DKMT_HANDLE NTAPI DxgkCbGetHandleParent(D3DKMT_HANDLE allocation)
{
    struct dxgk *d = dxgk_kernel_ctx(dxgk_kernel_self(__func__));
    const struct open_alloc *o = dxgk_handle_any(d, allocation, HANDLE_ALLOC);

    return CHECK(DxgkCbGetHandleParent) && o ? o->group->handle : 0;
}

static D3DKMT_HANDLE NTAPI DxgkCbEnumHandleChildren(CONST DXGKARGCB_ENUMHANDLECHILDREN *args)
{
    struct dxgk *d = dxgk_kernel_ctx(dxgk_kernel_self(__func__));
    const struct open_resource *r = dxgk_handle_any(d, args->hObject, HANDLE_RES);
    UINT i = args->Index;

    if (!CHECK(DxgkCbEnumHandleChildren))
        return 0;
    for (const struct open_alloc *o = r ? r->allocs : NULL; o; o = o->next_of_group)
        if (!i--)
            return o->handle;
    return 0;
}

static VOID NTAPI DxgkCbNotifyInterrupt(CONST HANDLE h, CONST DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    struct dxgk *d = from(h, __func__);

    if (!d)
        return;
    if (dxgk_kernel_irql(d->kernel) != DIRQL)
        dxgk_kernel_violation(d->kernel, "DxgkCbNotifyInterrupt called at IRQL %d, must be the device's (%d)",
                              dxgk_kernel_irql(d->kernel), DIRQL);
    dxgk_interrupts_notify(d, data);
}

static VOID NTAPI DxgkCbNotifyDpc(CONST HANDLE h)
{
    struct dxgk *d = from(h, __func__);

    if (!d)
        return;
    if (dxgk_kernel_irql(d->kernel) != DISPATCH_LEVEL)
        dxgk_kernel_violation(d->kernel, "DxgkCbNotifyDpc called at IRQL %d, must be DISPATCH_LEVEL",
                              dxgk_kernel_irql(d->kernel));
    dxgk_interrupts_dispatch(d);
}

static NTSTATUS NTAPI DxgkCbQueryVidPnInterface(D3DKMDT_HVIDPN vidpn, DXGK_VIDPN_INTERFACE_VERSION version,
                                                CONST DXGK_VIDPN_INTERFACE **interface)
{
    if (!CHECK(DxgkCbQueryVidPnInterface))
        return STATUS_INVALID_PARAMETER;
    return dxgk_vidpn_query_interface(vidpn, version, interface);
}

static NTSTATUS NTAPI DxgkCbGetCaptureAddress(DXGKARGCB_GETCAPTUREADDRESS *args)
{
    struct dxgk *d = dxgk_kernel_ctx(dxgk_kernel_self(__func__));
    const struct open_alloc *o = dxgk_handle_any(d, args->hAllocation, HANDLE_ALLOC);

    if (!CHECK(DxgkCbGetCaptureAddress) || !o || !o->alloc->segment)
        return STATUS_INVALID_PARAMETER;
    args->SegmentId = o->alloc->segment;
    args->PhysicalAddress = dxgk_vidmm_address(d, o->alloc);
    return STATUS_SUCCESS;
}

static VOID NTAPI DxgkCbLogEtwEvent(CONST LPCGUID guid, UCHAR type, USHORT size, PVOID buffer)
{
    if (size > LOG_ANY_LEVEL && dxgk_kernel_irql(dxgk_kernel_self(__func__)) != PASSIVE_LEVEL)
        dxgk_kernel_violation(
            dxgk_kernel_self(__func__),
            "DxgkCbLogEtwEvent of %u bytes called at IRQL %d, above %u only at PASSIVE_LEVEL", size,
            dxgk_kernel_irql(dxgk_kernel_self(__func__)), LOG_ANY_LEVEL);
    dxgk_trace_blob(dxgk_kernel_ctx(dxgk_kernel_self(__func__)), guid, type, buffer, size);
}

static NTSTATUS NTAPI DxgkCbExcludeAdapterAccess(HANDLE h, ULONG attributes,
                                                 PDXGKDDI_PROTECTED_CALLBACK callback, PVOID context)
{
    FROM(DxgkCbExcludeAdapterAccess, h, STATUS_INVALID_PARAMETER);
    UNREFERENCED_PARAMETER(attributes);
    if (!dxgk_adapter_lock(d))
        return STATUS_DEVICE_REMOVED;
    dxgk_nodes_wait_idle(d);
    callback(d->miniport, context, STATUS_SUCCESS);
    dxgk_adapter_unlock(d);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI DxgkCbAcquirePostDisplayOwnership(HANDLE h, PDXGK_DISPLAY_INFORMATION info)
{
    FROM(DxgkCbAcquirePostDisplayOwnership, h, STATUS_INVALID_PARAMETER);
    return dxgk_displayonly_acquire(d, info);
}

void dxgk_callbacks_fill(struct dxgk *d)
{
    bool win8 = d->version >= DXGKDDI_INTERFACE_VERSION_WIN8;

    d->iface = (DXGKRNL_INTERFACE){
        .Size = win8 ? sizeof(d->iface) : offsetof(DXGKRNL_INTERFACE, DxgkCbCreateContextAllocation),
        .Version = win8 ? d->version : DXGKDDI_INTERFACE_VERSION_WIN7,
        .DxgkCbAcquirePostDisplayOwnership = win8 ? DxgkCbAcquirePostDisplayOwnership : NULL,
        .DeviceHandle = (HANDLE)d,
        .DxgkCbEvalAcpiMethod = DxgkCbEvalAcpiMethod,
        .DxgkCbGetDeviceInformation = DxgkCbGetDeviceInformation,
        .DxgkCbIndicateChildStatus = DxgkCbIndicateChildStatus,
        .DxgkCbMapMemory = DxgkCbMapMemory,
        .DxgkCbQueueDpc = DxgkCbQueueDpc,
        .DxgkCbQueryServices = DxgkCbQueryServices,
        .DxgkCbReadDeviceSpace = DxgkCbReadDeviceSpace,
        .DxgkCbSynchronizeExecution = DxgkCbSynchronizeExecution,
        .DxgkCbUnmapMemory = DxgkCbUnmapMemory,
        .DxgkCbWriteDeviceSpace = DxgkCbWriteDeviceSpace,
        .DxgkCbIsDevicePresent = DxgkCbIsDevicePresent,
        .DxgkCbGetHandleData = DxgkCbGetHandleData,
        .DxgkCbGetHandleParent = DxgkCbGetHandleParent,
        .DxgkCbEnumHandleChildren = DxgkCbEnumHandleChildren,
        .DxgkCbNotifyInterrupt = DxgkCbNotifyInterrupt,
        .DxgkCbNotifyDpc = DxgkCbNotifyDpc,
        .DxgkCbQueryVidPnInterface = DxgkCbQueryVidPnInterface,
        .DxgkCbQueryMonitorInterface = dxgk_monitor_query_interface,
        .DxgkCbGetCaptureAddress = DxgkCbGetCaptureAddress,
        .DxgkCbLogEtwEvent = DxgkCbLogEtwEvent,
        .DxgkCbExcludeAdapterAccess = DxgkCbExcludeAdapterAccess,
    };
}

const char *dxgk_callback_name(const struct dxgk *d, const void *start)
{
#define NAME_OF(name, limit)                                                                                 \
    if (start && start == (const void *)d->iface.name)                                                       \
        return #name;
    NTOS_CALLBACKS(NAME_OF)
#undef NAME_OF
    return NULL;
}
