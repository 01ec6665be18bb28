/* SPDX-License-Identifier: MIT */
/* networks.h: what faulty.c does wrong with the VidPN that a DDI is given. */
#pragma once

/* With `v`, its interface, `t`, that of its topology, which is `h`, and `path`, the one in it. */
#define WITH_PATH(statement)                                                                                 \
    {                                                                                                        \
        CONST DXGK_VIDPN_INTERFACE *v;                                                                       \
        CONST DXGK_VIDPNTOPOLOGY_INTERFACE *t;                                                               \
        CONST D3DKMDT_VIDPN_PRESENT_PATH *path;                                                              \
        D3DKMDT_HVIDPNTOPOLOGY h;                                                                            \
        callbacks.DxgkCbQueryVidPnInterface(network, DXGK_VIDPN_INTERFACE_VERSION_V1, &v);                   \
        v->pfnGetTopology(network, &h, &t);                                                                  \
        t->pfnAcquireFirstPathInfo(h, &path);                                                                \
        t->pfnReleasePathInfo(h, path);                                                                      \
        statement;                                                                                           \
    }

static void assign_empty(CONST DXGK_VIDPN_INTERFACE *v, UINT source)
{
    CONST DXGK_VIDPNSOURCEMODESET_INTERFACE *i;
    D3DKMDT_HVIDPNSOURCEMODESET set;

    v->pfnCreateNewSourceModeSet(network, source, &set, &i);
    if (v->pfnAssignSourceModeSet(network, source, set))
        v->pfnReleaseSourceModeSet(network, set);
}

/* In the set that the network has: pins the last one, or writes to the first. */
static void change_modes(CONST DXGK_VIDPN_INTERFACE *v, UINT source, BOOLEAN pin)
{
    CONST DXGK_VIDPNSOURCEMODESET_INTERFACE *i;
    CONST D3DKMDT_VIDPN_SOURCE_MODE *m, *next;
    D3DKMDT_HVIDPNSOURCEMODESET set;

    v->pfnAcquireSourceModeSet(network, source, &set, &i);
    if (!i->pfnAcquireFirstModeInfo(set, &m)) {
        while (pin && !i->pfnAcquireNextModeInfo(set, m, &next)) {
            i->pfnReleaseModeInfo(set, m);
            m = next;
        }
        if (pin)
            i->pfnPinMode(set, m->Id);
        else
            ((D3DKMDT_VIDPN_SOURCE_MODE *)m)->Format.Graphics.PrimSurfSize.cx = 7;
        i->pfnReleaseModeInfo(set, m);
    }
    v->pfnReleaseSourceModeSet(network, set);
}

static void update(CONST DXGK_VIDPNTOPOLOGY_INTERFACE *t, D3DKMDT_HVIDPNTOPOLOGY h,
                   CONST D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    D3DKMDT_VIDPN_PRESENT_PATH copy = *path;

    copy.ContentTransformation.ScalingSupport.Stretched = 1;
    t->pfnUpdatePathSupportInfo(h, &copy);
}

static CONST DXGK_MONITOR_INTERFACE *monitor(void)
{
    CONST DXGK_MONITOR_INTERFACE *i;

    callbacks.DxgkCbQueryMonitorInterface(callbacks.DeviceHandle, DXGK_MONITOR_INTERFACE_VERSION_V1, &i);
    return i;
}

/* The first descriptor of a target's monitor, which has one. */
static CONST D3DKMDT_MONITOR_DESCRIPTOR *descriptor(UINT target, BOOLEAN keep)
{
    CONST DXGK_MONITORDESCRIPTORSET_INTERFACE *i;
    CONST D3DKMDT_MONITOR_DESCRIPTOR *first;
    D3DKMDT_HMONITORDESCRIPTORSET set;

    monitor()->pfnGetMonitorDescriptorSet(callbacks.DeviceHandle, target, &set, &i);
    i->pfnAcquireFirstDescriptorInfo(set, &first);
    if (!keep)
        i->pfnReleaseDescriptorInfo(set, first);
    return first;
}

/* Of its frequency ranges: keeps the first, or gives it back twice. */
static void range(UINT target, BOOLEAN keep)
{
    CONST DXGK_MONITORFREQUENCYRANGESET_INTERFACE *i;
    CONST D3DKMDT_MONITOR_FREQUENCY_RANGE *first;
    D3DKMDT_HMONITORFREQUENCYRANGESET set;

    monitor()->pfnGetMonitorFrequencyRangeSet(callbacks.DeviceHandle, target, &set, &i);
    i->pfnAcquireFirstFrequencyRangeInfo(set, &first);
    for (int n = keep ? 2 : 0; n < 2; n++)
        i->pfnReleaseFrequencyRangeInfo(set, first);
}

/* A descriptor, to who has the frequency ranges. */
static void give_to_ranges(UINT target)
{
    CONST DXGK_MONITORFREQUENCYRANGESET_INTERFACE *i;
    D3DKMDT_HMONITORFREQUENCYRANGESET set;

    monitor()->pfnGetMonitorFrequencyRangeSet(callbacks.DeviceHandle, target, &set, &i);
    i->pfnReleaseFrequencyRangeInfo(set, (PVOID)(ULONG_PTR)descriptor(target, TRUE));
}

/* From a mode that it has not any more. */
static void go_on(CONST DXGK_VIDPN_INTERFACE *v, UINT source)
{
    CONST DXGK_VIDPNSOURCEMODESET_INTERFACE *i;
    CONST D3DKMDT_VIDPN_SOURCE_MODE *m, *next;
    D3DKMDT_HVIDPNSOURCEMODESET set;

    v->pfnAcquireSourceModeSet(network, source, &set, &i);
    if (!i->pfnAcquireFirstModeInfo(set, &m)) {
        i->pfnReleaseModeInfo(set, m);
        i->pfnAcquireNextModeInfo(set, m, &next);
    }
    v->pfnReleaseSourceModeSet(network, set);
}

#define FAULTS_OF_NETWORKS(F)                                                                                \
    F(path_removed, WITH_PATH(t->pfnRemovePath(h, path->VidPnSourceId, path->VidPnTargetId)))                \
    F(path_written, WITH_PATH(((D3DKMDT_VIDPN_PRESENT_PATH *)path)->VidPnTargetId = 77))                     \
    F(path_turned, WITH_PATH(((D3DKMDT_VIDPN_PRESENT_PATH *)path)->ContentTransformation.Rotation =          \
                                 D3DKMDT_VPPR_ROTATE180))                                                    \
    F(path_released, WITH_PATH(t->pfnAcquireNextPathInfo(h, path, &path)))                                   \
    F(mode_released, WITH_PATH(go_on(v, path->VidPnSourceId)))                                               \
    F(path_updated, WITH_PATH(update(t, h, path)))                                                           \
    F(modes_assigned, WITH_PATH(assign_empty(v, path->VidPnSourceId)))                                       \
    F(mode_pinned, WITH_PATH(change_modes(v, path->VidPnSourceId, TRUE)))                                    \
    F(mode_written, WITH_PATH(change_modes(v, path->VidPnSourceId, FALSE)))                                  \
    F(descriptor_kept, WITH_PATH(descriptor(path->VidPnTargetId, TRUE)))                                     \
    F(descriptor_written, WITH_PATH(((BYTE *)descriptor(path->VidPnTargetId, FALSE)->pData)[8] ^= 1))        \
    F(range_kept, WITH_PATH(range(path->VidPnTargetId, TRUE)))                                               \
    F(range_other, WITH_PATH(give_to_ranges(path->VidPnTargetId)))                                           \
    F(range_twice, WITH_PATH(range(path->VidPnTargetId, FALSE)))                                             \
    F(topology_null, WITH_PATH(v->pfnGetTopology(network, NULL, NULL)))                                      \
    F(paths_null, WITH_PATH(t->pfnGetNumPaths(h, NULL)))                                                     \
    F(modes_null, WITH_PATH(v->pfnAcquireSourceModeSet(network, path->VidPnSourceId, NULL, NULL)))
