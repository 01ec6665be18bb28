/* SPDX-License-Identifier: MIT */
/* modes.h: what the toy GPU's driver sees of monitors, and the rules of mode sets that it breaks when it is asked to. A part of kmd.c. */
#pragma once

/* What DXGK_MONITOR_INTERFACE says of target 7. */
static NTSTATUS look_at_monitor(struct adapter *a, struct softgpu_escape *p)
{
    CONST DXGK_MONITOR_INTERFACE *m;
    CONST DXGK_MONITORSOURCEMODESET_INTERFACE *mi;
    CONST DXGK_MONITORFREQUENCYRANGESET_INTERFACE *ri;
    CONST DXGK_MONITORDESCRIPTORSET_INTERFACE *di;
    CONST D3DKMDT_MONITOR_SOURCE_MODE *mode = NULL;
    CONST D3DKMDT_MONITOR_FREQUENCY_RANGE *range = NULL, *next;
    CONST D3DKMDT_MONITOR_DESCRIPTOR *descriptor = NULL;
    D3DKMDT_HMONITORSOURCEMODESET ms;
    D3DKMDT_HMONITORFREQUENCYRANGESET rs;
    D3DKMDT_HMONITORDESCRIPTORSET ds;
    SIZE_T modes = 0, ranges = 0, descriptors = 0;
    NTSTATUS s =
        a->dxgk.DxgkCbQueryMonitorInterface(a->dxgk.DeviceHandle, DXGK_MONITOR_INTERFACE_VERSION_V1, &m);

    if (!NT_SUCCESS(s) ||
        !NT_SUCCESS(s = m->pfnAcquireMonitorSourceModeSet(a->dxgk.DeviceHandle, 7, &ms, &mi)))
        return s;
    mi->pfnGetNumModes(ms, &modes);
    p->value2 = mi->pfnAcquirePreferredModeInfo(ms, &mode) == STATUS_SUCCESS
                    ? mode->VideoSignalInfo.ActiveSize.cx << 16 | mode->VideoSignalInfo.ActiveSize.cy
                    : 0;
    if (mode)
        mi->pfnReleaseModeInfo(ms, mode);
    m->pfnReleaseMonitorSourceModeSet(a->dxgk.DeviceHandle, ms);
    if (!NT_SUCCESS(s = m->pfnGetMonitorFrequencyRangeSet(a->dxgk.DeviceHandle, 7, &rs, &ri)) ||
        !NT_SUCCESS(s = m->pfnGetMonitorDescriptorSet(a->dxgk.DeviceHandle, 7, &ds, &di)))
        return s;
    ri->pfnGetNumFrequencyRanges(rs, &ranges);
    di->pfnGetNumDescriptors(ds, &descriptors);
    if (ranges &&
        (ri->pfnAcquireFirstFrequencyRangeInfo(rs, &range) != STATUS_SUCCESS ||
         range->RangeLimits.MaxVSyncFreq.Numerator != 75 || range->Constraint.MaxPixelRate != 100000000 ||
         ri->pfnAcquireNextFrequencyRangeInfo(rs, range, &next) !=
             STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET ||
         ri->pfnReleaseFrequencyRangeInfo(rs, range) != STATUS_SUCCESS))
        return STATUS_INTERNAL_ERROR;
    if (descriptors &&
        (di->pfnAcquireFirstDescriptorInfo(ds, &descriptor) != STATUS_SUCCESS ||
         descriptor->Type != D3DKMDT_MDT_VESA_EDID_V1_BASEBLOCK || ((UCHAR *)descriptor->pData)[54] != 0x58 ||
         di->pfnReleaseDescriptorInfo(ds, descriptor) != STATUS_SUCCESS))
        return STATUS_INTERNAL_ERROR;
    p->value = (UINT)(modes | ranges << 8 | descriptors << 16);
    return STATUS_SUCCESS;
}

static UINT mode_rule;       /* enum softgpu_mode_rule, of the next enumeration */
static NTSTATUS mode_status; /* what the last one that it breaks was answered */

/* With a set that is not assigned yet. */
static void break_rule(CONST DXGK_VIDPNTOPOLOGY_INTERFACE *t, D3DKMDT_HVIDPNTOPOLOGY topology,
                       CONST DXGK_VIDPNSOURCEMODESET_INTERFACE *i, D3DKMDT_HVIDPNSOURCEMODESET set)
{
    CONST D3DKMDT_VIDPN_PRESENT_PATH *path;
    CONST D3DKMDT_VIDPN_SOURCE_MODE *m = NULL;
    D3DKMDT_VIDPN_SOURCE_MODE *fresh = NULL;
    UINT id;

    if (mode_rule == MODES_PATH_KEPT)
        t->pfnAcquireFirstPathInfo(topology, &path);
    if (mode_rule == MODES_KEPT || mode_rule == MODES_RELEASED_TWICE)
        i->pfnAcquireFirstModeInfo(set, &m);
    if (mode_rule == MODES_RELEASED_TWICE && m)
        mode_status = i->pfnReleaseModeInfo(set, m) ? STATUS_INTERNAL_ERROR : i->pfnReleaseModeInfo(set, m);
    if (mode_rule != MODES_EMPTY && mode_rule != MODES_ONE_NUMBER)
        return;
    i->pfnAcquireFirstModeInfo(set, &m);
    if (NT_SUCCESS(i->pfnCreateNewModeInfo(set, &fresh))) {
        id = fresh->Id;
        if (mode_rule == MODES_ONE_NUMBER) {
            *fresh = *m; /* its number, too */
            fresh->Format.Graphics.Stride += 64;
            id = m->Id;
        }
        fresh->Id = id;
        mode_status = i->pfnAddMode(set, fresh);
        i->pfnReleaseModeInfo(set, fresh);
    }
    i->pfnReleaseModeInfo(set, m);
}

/* With one that is. */
static void break_rule_of_assigned(CONST DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn,
                                   CONST DXGK_VIDPNSOURCEMODESET_INTERFACE *i,
                                   D3DKMDT_HVIDPNSOURCEMODESET set)
{
    SIZE_T n;

    if (mode_rule == MODES_SET_RELEASED)
        mode_status = v->pfnReleaseSourceModeSet(vidpn, set);
    if (mode_rule == MODES_SET_USED)
        mode_status = i->pfnGetNumModes(set, &n);
    if (mode_rule == MODES_SET_KEPT)
        mode_status = v->pfnCreateNewSourceModeSet(vidpn, 0, &set, &i);
    mode_rule = MODES_WELL;
}
