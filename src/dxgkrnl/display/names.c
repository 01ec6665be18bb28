/* SPDX-License-Identifier: MIT */
/* names.c: the routines that a miniport has of the interfaces to VidPNs and monitors, by where they begin: for what happens in one. */
#include "dxgkrnl/display/vidpn.h"

#include <string.h>

#define R(interface, member)                                                                                 \
    {                                                                                                        \
        &interface, offsetof(__typeof__(interface), member), #member                                         \
    }

static const struct {
    const void *interface;
    size_t at;
    const char *name;
} routines[] = {
    R(dxgk_vidpn_topology_interface, pfnGetNumPaths),
    R(dxgk_vidpn_topology_interface, pfnGetNumPathsFromSource),
    R(dxgk_vidpn_topology_interface, pfnEnumPathTargetsFromSource),
    R(dxgk_vidpn_topology_interface, pfnGetPathSourceFromTarget),
    R(dxgk_vidpn_topology_interface, pfnAcquirePathInfo),
    R(dxgk_vidpn_topology_interface, pfnAcquireFirstPathInfo),
    R(dxgk_vidpn_topology_interface, pfnAcquireNextPathInfo),
    R(dxgk_vidpn_topology_interface, pfnUpdatePathSupportInfo),
    R(dxgk_vidpn_topology_interface, pfnReleasePathInfo),
    R(dxgk_vidpn_topology_interface, pfnCreateNewPathInfo),
    R(dxgk_vidpn_topology_interface, pfnAddPath),
    R(dxgk_vidpn_topology_interface, pfnRemovePath),
    R(dxgk_modeset_source_interface, pfnGetNumModes),
    R(dxgk_modeset_source_interface, pfnAcquireFirstModeInfo),
    R(dxgk_modeset_source_interface, pfnAcquireNextModeInfo),
    R(dxgk_modeset_source_interface, pfnAcquirePinnedModeInfo),
    R(dxgk_modeset_source_interface, pfnReleaseModeInfo),
    R(dxgk_modeset_source_interface, pfnCreateNewModeInfo),
    R(dxgk_modeset_source_interface, pfnAddMode),
    R(dxgk_modeset_source_interface, pfnPinMode),
    R(dxgk_modeset_target_interface, pfnGetNumModes),
    R(dxgk_modeset_target_interface, pfnAcquireFirstModeInfo),
    R(dxgk_modeset_target_interface, pfnAcquireNextModeInfo),
    R(dxgk_modeset_target_interface, pfnAcquirePinnedModeInfo),
    R(dxgk_modeset_target_interface, pfnReleaseModeInfo),
    R(dxgk_modeset_target_interface, pfnCreateNewModeInfo),
    R(dxgk_modeset_target_interface, pfnAddMode),
    R(dxgk_modeset_target_interface, pfnPinMode),
    R(dxgk_vidpn_interface, pfnGetTopology),
    R(dxgk_vidpn_interface, pfnAcquireSourceModeSet),
    R(dxgk_vidpn_interface, pfnReleaseSourceModeSet),
    R(dxgk_vidpn_interface, pfnCreateNewSourceModeSet),
    R(dxgk_vidpn_interface, pfnAssignSourceModeSet),
    R(dxgk_vidpn_interface, pfnAssignMultisamplingMethodSet),
    R(dxgk_vidpn_interface, pfnAcquireTargetModeSet),
    R(dxgk_vidpn_interface, pfnReleaseTargetModeSet),
    R(dxgk_vidpn_interface, pfnCreateNewTargetModeSet),
    R(dxgk_vidpn_interface, pfnAssignTargetModeSet),
    R(dxgk_modeset_monitor_interface, pfnGetNumModes),
    R(dxgk_modeset_monitor_interface, pfnAcquirePreferredModeInfo),
    R(dxgk_modeset_monitor_interface, pfnAcquireFirstModeInfo),
    R(dxgk_modeset_monitor_interface, pfnAcquireNextModeInfo),
    R(dxgk_modeset_monitor_interface, pfnCreateNewModeInfo),
    R(dxgk_modeset_monitor_interface, pfnAddMode),
    R(dxgk_modeset_monitor_interface, pfnReleaseModeInfo),
    R(dxgk_monitor_ranges_interface, pfnGetNumFrequencyRanges),
    R(dxgk_monitor_ranges_interface, pfnAcquireFirstFrequencyRangeInfo),
    R(dxgk_monitor_ranges_interface, pfnAcquireNextFrequencyRangeInfo),
    R(dxgk_monitor_ranges_interface, pfnReleaseFrequencyRangeInfo),
    R(dxgk_monitor_descriptors_interface, pfnGetNumDescriptors),
    R(dxgk_monitor_descriptors_interface, pfnAcquireFirstDescriptorInfo),
    R(dxgk_monitor_descriptors_interface, pfnAcquireNextDescriptorInfo),
    R(dxgk_monitor_descriptors_interface, pfnReleaseDescriptorInfo),
    R(dxgk_monitor_interface, pfnAcquireMonitorSourceModeSet),
    R(dxgk_monitor_interface, pfnReleaseMonitorSourceModeSet),
    R(dxgk_monitor_interface, pfnGetMonitorFrequencyRangeSet),
    R(dxgk_monitor_interface, pfnGetMonitorDescriptorSet),
};

const char *dxgk_display_routine_name(const void *start)
{
    const void *routine;

    for (size_t i = 0; start && i < sizeof(routines) / sizeof(routines[0]); i++) {
        memcpy(&routine, (const char *)routines[i].interface + routines[i].at, sizeof(routine));
        if (routine == start)
            return routines[i].name;
    }
    return NULL;
}
