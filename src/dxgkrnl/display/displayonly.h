/* SPDX-License-Identifier: MIT */
/* displayonly.h: miniports of Windows 8 that only display (DxgkInitializeDisplayOnlyDriver): VM and board makers' drivers whose
 * hardware is a frame buffer.
 *
 * Such a driver has no devices, allocations or DMA; D3DKMTCreateDevice answers STATUS_NOT_SUPPORTED. It takes the frame buffer that
 * firmware left (bus->post_display), has modes and VidPNs like any other, and copies what changed of the desktop into it.
 *
 * Invariants:
 *  1. What is presented is of the size of the source's mode, and stays as it is until the driver has reported progress.
 *  2. At the end the frame buffer comes back: StopDeviceAndReleasePostDisplayOwnership says which, and it is one of the adapter's.
 */
#pragma once

#include "dxgkrnl/kernel.h"
#include "wddm/d3dkmthk.h"
#include "wddm/dispmprt.h"

/* clang-format off */
/* The DDIs that a driver that only displays has in common with a full one: N(name), demanded; M(name), not. */
#define DXGK_DISPLAY_ONLY_COMMON(N, M)                                                                       \
    N(AddDevice) N(StartDevice) N(StopDevice) N(RemoveDevice) N(DispatchIoRequest) M(InterruptRoutine)       \
    M(DpcRoutine) N(QueryChildRelations) N(QueryChildStatus) N(QueryDeviceDescriptor) N(SetPowerState)       \
    M(NotifyAcpiEvent) N(ResetDevice) N(Unload) M(QueryInterface) M(ControlEtwLogging) N(QueryAdapterInfo)   \
    M(SetPalette) N(SetPointerPosition) N(SetPointerShape) M(Escape) M(CollectDbgInfo) N(IsSupportedVidPn)   \
    N(RecommendFunctionalVidPn) N(EnumVidPnCofuncModality) N(SetVidPnSourceVisibility) N(CommitVidPn)        \
    N(UpdateActiveVidPnPresentPath) N(RecommendMonitorModes) M(GetScanLine) N(QueryVidPnHWCapability)        \
    M(ControlInterrupt)
/* clang-format on */

struct displayonly;
struct _KMDDOD_INITIALIZATION_DATA; /* this header is read at the level of Windows 7 too */
struct _DXGK_DISPLAY_INFORMATION;

/* In DriverEntry, for the adapter that is being loaded. */
NTSTATUS dxgk_displayonly_init(struct dxgk *d, const struct _KMDDOD_INITIALIZATION_DATA *data);
void dxgk_displayonly_free(struct dxgk *d);
/* The name of a DDI that it lacks, or NULL. */
const char *dxgk_displayonly_missing(const struct dxgk *d);
/* DxgkCbAcquirePostDisplayOwnership */
NTSTATUS dxgk_displayonly_acquire(struct dxgk *d, struct _DXGK_DISPLAY_INFORMATION *info);
/* The desktop of `source` is black, of the size of `mode`, from the next present on. */
NTSTATUS dxgk_displayonly_desktop(struct dxgk *d, UINT source, const D3DKMT_DISPLAYMODE *mode);
/* The rectangles of the desktop that changed; NULL: all of it. With the adapter held. */
NTSTATUS dxgk_displayonly_present(struct dxgk *d, UINT source, const RECT *dirty, UINT count);
/* What the driver reported from its interrupt. */
void dxgk_displayonly_progress(struct dxgk *d, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
/* Stops the device; the frame buffer comes back. */
void dxgk_displayonly_stop(struct dxgk *d);
