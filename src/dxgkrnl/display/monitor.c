/* SPDX-License-Identifier: MIT */
/* monitor.c: the monitors behind the targets, as a miniport may ask about them. */
#include "dxgkrnl/display/vidpn.h"

void dxgk_monitor_recommend_modes(struct dxgk *d, UINT target)
{
    struct modeset *set = dxgk_modeset_create(MODESET_MONITOR);
    DXGKARG_RECOMMENDMONITORMODES args = {.VideoPresentTargetId = target,
                                          .hMonitorSourceModeSet = (D3DKMDT_HMONITORSOURCEMODESET)set,
                                          .pMonitorSourceModeSetInterface = &dxgk_modeset_monitor_interface};
    NTSTATUS st;

    if (!set)
        return;
    st = DDI(d, RecommendMonitorModes, d->miniport, &args);
    if (!NT_SUCCESS(st))
        log_info("dxgkrnl", "DxgkDdiRecommendMonitorModes returned %08x", (unsigned)st);
    dxgk_modeset_unref(set);
}

static NTSTATUS NTAPI acquire_monitor_modes(HANDLE adapter, D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                            D3DKMDT_HMONITORSOURCEMODESET *out,
                                            CONST DXGK_MONITORSOURCEMODESET_INTERFACE **interface)
{
    struct dxgk *d = dxgk_kernel_ctx(dxgk_kernel_self(__func__));
    struct modeset *set;

    if (adapter != (HANDLE)d || dxgk_vidpn_child_index(d, target) < 0)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET;
    set = dxgk_modeset_create(MODESET_MONITOR);
    *out = (D3DKMDT_HMONITORSOURCEMODESET)set;
    *interface = &dxgk_modeset_monitor_interface;
    return set ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

static NTSTATUS NTAPI release_monitor_modes(HANDLE adapter, D3DKMDT_HMONITORSOURCEMODESET set)
{
    UNREFERENCED_PARAMETER(adapter);
    if (!set || ((struct modeset *)set)->kind != MODESET_MONITOR)
        return STATUS_INVALID_PARAMETER;
    dxgk_modeset_unref((struct modeset *)set);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI no_ranges(HANDLE adapter, D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                D3DKMDT_HMONITORFREQUENCYRANGESET *set, CONST VOID **interface)
{
    UNREFERENCED_PARAMETER(adapter);
    UNREFERENCED_PARAMETER(target);
    UNREFERENCED_PARAMETER(set);
    UNREFERENCED_PARAMETER(interface);
    return STATUS_NOT_SUPPORTED;
}

static NTSTATUS NTAPI no_descriptors(HANDLE adapter, D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                     D3DKMDT_HMONITORDESCRIPTORSET *set, CONST VOID **interface)
{
    UNREFERENCED_PARAMETER(adapter);
    UNREFERENCED_PARAMETER(target);
    UNREFERENCED_PARAMETER(set);
    UNREFERENCED_PARAMETER(interface);
    return STATUS_NOT_SUPPORTED;
}

NTSTATUS NTAPI dxgk_monitor_query_interface(HANDLE adapter, DXGK_MONITOR_INTERFACE_VERSION version,
                                            CONST DXGK_MONITOR_INTERFACE **interface)
{
    static const DXGK_MONITOR_INTERFACE monitor = {DXGK_MONITOR_INTERFACE_VERSION_V1, acquire_monitor_modes,
                                                   release_monitor_modes, no_ranges, no_descriptors};
    struct dxgk *d = dxgk_kernel_ctx(dxgk_kernel_self(__func__));

    if (adapter != (HANDLE)d)
        return STATUS_INVALID_PARAMETER;
    if (version != DXGK_MONITOR_INTERFACE_VERSION_V1)
        return STATUS_NOT_SUPPORTED;
    *interface = &monitor;
    return STATUS_SUCCESS;
}
