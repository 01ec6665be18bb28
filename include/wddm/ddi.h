/* SPDX-License-Identifier: MIT */
/* ddi.h: the DDIs of a WDDM 1.1 display miniport, in the order of their slots in DRIVER_INITIALIZATION_DATA.
 *
 * Names, parameters and order: the WDK's public documentation of dispmprt.h (P) and d3dkmddi.h (D), at the Windows 7 level.
 * From this table come the function types, the slots, what dxgkrnl demands, and what a miniport fills in.
 *
 *   P, D(NEED or MAY, name behind DxgkDdi, name of the type behind DXGKDDI_, type of the result, parameters...)
 *   R(name): a slot that is reserved; NULL
 *
 * dxgkrnl calls them at PASSIVE_LEVEL, but InterruptRoutine and (with FlipOnVSyncMmIo) SetVidPnSourceAddress at DIRQL,
 * DpcRoutine, SubmitCommand and PreemptCommand at DISPATCH_LEVEL.
 */
#pragma once

#define WDDM_DDIS(P, D, R)                                                                                   \
    P(NEED, AddDevice, ADD_DEVICE, NTSTATUS, CONST PDEVICE_OBJECT PhysicalDeviceObject,                      \
      PVOID *MiniportDeviceContext)                                                                          \
    P(NEED, StartDevice, START_DEVICE, NTSTATUS, CONST PVOID MiniportDeviceContext,                          \
      PDXGK_START_INFO DxgkStartInfo, PDXGKRNL_INTERFACE DxgkInterface, PULONG NumberOfVideoPresentSources,  \
      PULONG NumberOfChildren)                                                                               \
    P(NEED, StopDevice, STOP_DEVICE, NTSTATUS, CONST PVOID MiniportDeviceContext)                            \
    P(NEED, RemoveDevice, REMOVE_DEVICE, NTSTATUS, CONST PVOID MiniportDeviceContext)                        \
    P(NEED, DispatchIoRequest, DISPATCH_IO_REQUEST, NTSTATUS, CONST PVOID MiniportDeviceContext,             \
      ULONG VidPnSourceId, PVIDEO_REQUEST_PACKET VideoRequestPacket)                                         \
    P(NEED, InterruptRoutine, INTERRUPT_ROUTINE, BOOLEAN, CONST PVOID MiniportDeviceContext,                 \
      ULONG MessageNumber)                                                                                   \
    P(NEED, DpcRoutine, DPC_ROUTINE, VOID, CONST PVOID MiniportDeviceContext)                                \
    P(NEED, QueryChildRelations, QUERY_CHILD_RELATIONS, NTSTATUS, CONST PVOID MiniportDeviceContext,         \
      PDXGK_CHILD_DESCRIPTOR ChildRelations, ULONG ChildRelationsSize)                                       \
    P(NEED, QueryChildStatus, QUERY_CHILD_STATUS, NTSTATUS, CONST PVOID MiniportDeviceContext,               \
      PDXGK_CHILD_STATUS ChildStatus, BOOLEAN NonDestructiveOnly)                                            \
    P(NEED, QueryDeviceDescriptor, QUERY_DEVICE_DESCRIPTOR, NTSTATUS, CONST PVOID MiniportDeviceContext,     \
      ULONG ChildUid, PDXGK_DEVICE_DESCRIPTOR DeviceDescriptor)                                              \
    P(NEED, SetPowerState, SET_POWER_STATE, NTSTATUS, CONST PVOID MiniportDeviceContext, ULONG DeviceUid,    \
      DEVICE_POWER_STATE DevicePowerState, POWER_ACTION ActionType)                                          \
    P(MAY, NotifyAcpiEvent, NOTIFY_ACPI_EVENT, NTSTATUS, CONST PVOID MiniportDeviceContext,                  \
      DXGK_EVENT_TYPE EventType, ULONG Event, PVOID Argument, PULONG AcpiFlags)                              \
    P(NEED, ResetDevice, RESET_DEVICE, VOID, CONST PVOID MiniportDeviceContext)                              \
    P(NEED, Unload, UNLOAD, VOID, VOID)                                                                      \
    P(MAY, QueryInterface, QUERY_INTERFACE, NTSTATUS, CONST PVOID MiniportDeviceContext,                     \
      PQUERY_INTERFACE QueryInterface)                                                                       \
    P(MAY, ControlEtwLogging, CONTROL_ETW_LOGGING, VOID, BOOLEAN Enable, ULONG Flags, UCHAR Level)           \
    D(NEED, QueryAdapterInfo, QUERYADAPTERINFO, NTSTATUS, CONST HANDLE hAdapter,                             \
      CONST DXGKARG_QUERYADAPTERINFO *pQueryAdapterInfo)                                                     \
    D(NEED, CreateDevice, CREATEDEVICE, NTSTATUS, CONST HANDLE hAdapter,                                     \
      DXGKARG_CREATEDEVICE *pCreateDevice)                                                                   \
    D(NEED, CreateAllocation, CREATEALLOCATION, NTSTATUS, CONST HANDLE hAdapter,                             \
      DXGKARG_CREATEALLOCATION *pCreateAllocation)                                                           \
    D(NEED, DestroyAllocation, DESTROYALLOCATION, NTSTATUS, CONST HANDLE hAdapter,                           \
      CONST DXGKARG_DESTROYALLOCATION *pDestroyAllocation)                                                   \
    D(NEED, DescribeAllocation, DESCRIBEALLOCATION, NTSTATUS, CONST HANDLE hAdapter,                         \
      DXGKARG_DESCRIBEALLOCATION *pDescribeAllocation)                                                       \
    D(NEED, GetStandardAllocationDriverData, GETSTANDARDALLOCATIONDRIVERDATA, NTSTATUS,                      \
      CONST HANDLE hAdapter, DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *pGetStandardAllocationDriverData)      \
    D(MAY, AcquireSwizzlingRange, ACQUIRESWIZZLINGRANGE, NTSTATUS, CONST HANDLE hAdapter,                    \
      DXGKARG_ACQUIRESWIZZLINGRANGE *pAcquireSwizzlingRange)                                                 \
    D(MAY, ReleaseSwizzlingRange, RELEASESWIZZLINGRANGE, NTSTATUS, CONST HANDLE hAdapter,                    \
      CONST DXGKARG_RELEASESWIZZLINGRANGE *pReleaseSwizzlingRange)                                           \
    D(NEED, Patch, PATCH, NTSTATUS, CONST HANDLE hAdapter, CONST DXGKARG_PATCH *pPatch)                      \
    D(NEED, SubmitCommand, SUBMITCOMMAND, NTSTATUS, CONST HANDLE hAdapter,                                   \
      CONST DXGKARG_SUBMITCOMMAND *pSubmitCommand)                                                           \
    D(NEED, PreemptCommand, PREEMPTCOMMAND, NTSTATUS, CONST HANDLE hAdapter,                                 \
      CONST DXGKARG_PREEMPTCOMMAND *pPreemptCommand)                                                         \
    D(NEED, BuildPagingBuffer, BUILDPAGINGBUFFER, NTSTATUS, CONST HANDLE hAdapter,                           \
      DXGKARG_BUILDPAGINGBUFFER *pBuildPagingBuffer)                                                         \
    D(NEED, SetPalette, SETPALETTE, NTSTATUS, CONST HANDLE hAdapter, CONST DXGKARG_SETPALETTE *pSetPalette)  \
    D(NEED, SetPointerPosition, SETPOINTERPOSITION, NTSTATUS, CONST HANDLE hAdapter,                         \
      CONST DXGKARG_SETPOINTERPOSITION *pSetPointerPosition)                                                 \
    D(NEED, SetPointerShape, SETPOINTERSHAPE, NTSTATUS, CONST HANDLE hAdapter,                               \
      CONST DXGKARG_SETPOINTERSHAPE *pSetPointerShape)                                                       \
    D(NEED, ResetFromTimeout, RESETFROMTIMEOUT, NTSTATUS, CONST HANDLE hAdapter)                             \
    D(NEED, RestartFromTimeout, RESTARTFROMTIMEOUT, NTSTATUS, CONST HANDLE hAdapter)                         \
    D(NEED, Escape, ESCAPE, NTSTATUS, CONST HANDLE hAdapter, CONST DXGKARG_ESCAPE *pEscape)                  \
    D(NEED, CollectDbgInfo, COLLECTDBGINFO, NTSTATUS, CONST HANDLE hAdapter,                                 \
      CONST DXGKARG_COLLECTDBGINFO *pCollectDbgInfo)                                                         \
    D(NEED, QueryCurrentFence, QUERYCURRENTFENCE, NTSTATUS, CONST HANDLE hAdapter,                           \
      DXGKARG_QUERYCURRENTFENCE *pCurrentFence)                                                              \
    D(NEED, IsSupportedVidPn, ISSUPPORTEDVIDPN, NTSTATUS, CONST HANDLE hAdapter,                             \
      DXGKARG_ISSUPPORTEDVIDPN *pIsSupportedVidPn)                                                           \
    D(NEED, RecommendFunctionalVidPn, RECOMMENDFUNCTIONALVIDPN, NTSTATUS, CONST HANDLE hAdapter,             \
      CONST DXGKARG_RECOMMENDFUNCTIONALVIDPN *CONST pRecommendFunctionalVidPn)                               \
    D(NEED, EnumVidPnCofuncModality, ENUMVIDPNCOFUNCMODALITY, NTSTATUS, CONST HANDLE hAdapter,               \
      CONST DXGKARG_ENUMVIDPNCOFUNCMODALITY *CONST pEnumCofuncModality)                                      \
    D(NEED, SetVidPnSourceAddress, SETVIDPNSOURCEADDRESS, NTSTATUS, CONST HANDLE hAdapter,                   \
      CONST DXGKARG_SETVIDPNSOURCEADDRESS *pSetVidPnSourceAddress)                                           \
    D(NEED, SetVidPnSourceVisibility, SETVIDPNSOURCEVISIBILITY, NTSTATUS, CONST HANDLE hAdapter,             \
      CONST DXGKARG_SETVIDPNSOURCEVISIBILITY *pSetVidPnSourceVisibility)                                     \
    D(NEED, CommitVidPn, COMMITVIDPN, NTSTATUS, CONST HANDLE hAdapter,                                       \
      CONST DXGKARG_COMMITVIDPN *CONST pCommitVidPn)                                                         \
    D(NEED, UpdateActiveVidPnPresentPath, UPDATEACTIVEVIDPNPRESENTPATH, NTSTATUS, CONST HANDLE hAdapter,     \
      CONST DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH *CONST pUpdateActiveVidPnPresentPath)                       \
    D(NEED, RecommendMonitorModes, RECOMMENDMONITORMODES, NTSTATUS, CONST HANDLE hAdapter,                   \
      CONST struct _DXGKARG_RECOMMENDMONITORMODES *CONST pRecommendMonitorModes)                             \
    D(NEED, RecommendVidPnTopology, RECOMMENDVIDPNTOPOLOGY, NTSTATUS, CONST HANDLE hAdapter,                 \
      CONST DXGKARG_RECOMMENDVIDPNTOPOLOGY *CONST pRecommendVidPnTopology)                                   \
    D(NEED, GetScanLine, GETSCANLINE, NTSTATUS, CONST HANDLE hAdapter, DXGKARG_GETSCANLINE *pGetScanLine)    \
    D(NEED, StopCapture, STOPCAPTURE, NTSTATUS, CONST HANDLE hAdapter,                                       \
      CONST DXGKARG_STOPCAPTURE *pStopCapture)                                                               \
    D(NEED, ControlInterrupt, CONTROLINTERRUPT, NTSTATUS, CONST HANDLE hAdapter,                             \
      CONST DXGK_INTERRUPT_TYPE InterruptType, BOOLEAN EnableInterrupt)                                      \
    D(MAY, CreateOverlay, CREATEOVERLAY, NTSTATUS, CONST HANDLE hAdapter,                                    \
      DXGKARG_CREATEOVERLAY *pCreateOverlay)                                                                 \
    D(NEED, DestroyDevice, DESTROYDEVICE, NTSTATUS, CONST HANDLE hDevice)                                    \
    D(NEED, OpenAllocation, OPENALLOCATIONINFO, NTSTATUS, CONST HANDLE hDevice,                              \
      CONST DXGKARG_OPENALLOCATION *pOpenAllocation)                                                         \
    D(NEED, CloseAllocation, CLOSEALLOCATION, NTSTATUS, CONST HANDLE hDevice,                                \
      CONST DXGKARG_CLOSEALLOCATION *pCloseAllocation)                                                       \
    D(NEED, Render, RENDER, NTSTATUS, CONST HANDLE hContext, DXGKARG_RENDER *pRender)                        \
    D(NEED, Present, PRESENT, NTSTATUS, CONST HANDLE hContext, DXGKARG_PRESENT *pPresent)                    \
    D(MAY, UpdateOverlay, UPDATEOVERLAY, NTSTATUS, CONST HANDLE hOverlay,                                    \
      CONST DXGKARG_UPDATEOVERLAY *pUpdateOverlay)                                                           \
    D(MAY, FlipOverlay, FLIPOVERLAY, NTSTATUS, CONST HANDLE hOverlay,                                        \
      CONST DXGKARG_FLIPOVERLAY *pFlipOverlay)                                                               \
    D(MAY, DestroyOverlay, DESTROYOVERLAY, NTSTATUS, CONST HANDLE hOverlay)                                  \
    D(NEED, CreateContext, CREATECONTEXT, NTSTATUS, CONST HANDLE hDevice,                                    \
      DXGKARG_CREATECONTEXT *pCreateContext)                                                                 \
    D(NEED, DestroyContext, DESTROYCONTEXT, NTSTATUS, CONST HANDLE hContext)                                 \
    P(MAY, LinkDevice, LINK_DEVICE, NTSTATUS, CONST PDEVICE_OBJECT PhysicalDeviceObject,                     \
      CONST PVOID MiniportDeviceContext, PLINKED_DEVICE LinkedDevice)                                        \
    D(MAY, SetDisplayPrivateDriverFormat, SETDISPLAYPRIVATEDRIVERFORMAT, NTSTATUS, CONST HANDLE hAdapter,    \
      CONST DXGKARG_SETDISPLAYPRIVATEDRIVERFORMAT *pSetDisplayPrivateDriverFormat)                           \
    R(DxgkDdiDescribePageTable)                                                                              \
    R(DxgkDdiUpdatePageTable)                                                                                \
    R(DxgkDdiUpdatePageDirectory)                                                                            \
    R(DxgkDdiMovePageDirectory)                                                                              \
    R(DxgkDdiSubmitRender)                                                                                   \
    R(DxgkDdiCreateAllocation2)                                                                              \
    D(MAY, RenderKm, RENDERKM, NTSTATUS, CONST HANDLE hContext, DXGKARG_RENDER *pRender)                     \
    R(Reserved)                                                                                              \
    D(MAY, QueryVidPnHWCapability, QUERYVIDPNHWCAPABILITY, NTSTATUS, CONST HANDLE hAdapter,                  \
      DXGKARG_QUERYVIDPNHWCAPABILITY *pVidPnHWCaps)

/* One row as the declaration of its function type. */
#define WDDM_DDI_TYPE(need, name, TYPE, ret, ...)                                                            \
    typedef ret APIENTRY DXGKDDI_##TYPE(__VA_ARGS__);                                                        \
    typedef DXGKDDI_##TYPE *PDXGKDDI_##TYPE;
#define WDDM_DDI_NONE(...)

/* What a driver that only displays (Windows 8) has besides: P(NEED or MAY, ...) as above. */
#define WDDM_DISPLAY_ONLY_DDIS(P)                                                                            \
    P(NEED, PresentDisplayOnly, PRESENTDISPLAYONLY, NTSTATUS, CONST HANDLE hAdapter,                         \
      CONST DXGKARG_PRESENT_DISPLAYONLY *pPresentDisplayOnly)                                                \
    P(NEED, StopDeviceAndReleasePostDisplayOwnership, STOP_DEVICE_AND_RELEASE_POST_DISPLAY_OWNERSHIP,        \
      NTSTATUS, PVOID MiniportDeviceContext, D3DDDI_VIDEO_PRESENT_TARGET_ID TargetId,                        \
      PDXGK_DISPLAY_INFORMATION DisplayInfo)                                                                 \
    P(NEED, SystemDisplayEnable, SYSTEM_DISPLAY_ENABLE, NTSTATUS, PVOID MiniportDeviceContext,               \
      D3DDDI_VIDEO_PRESENT_TARGET_ID TargetId, PDXGKARG_SYSTEM_DISPLAY_ENABLE_FLAGS Flags, UINT *Width,      \
      UINT *Height, D3DDDIFORMAT *ColorFormat)                                                               \
    P(NEED, SystemDisplayWrite, SYSTEM_DISPLAY_WRITE, VOID, PVOID MiniportDeviceContext, PVOID Source,       \
      UINT SourceWidth, UINT SourceHeight, UINT SourceStride, UINT PositionX, UINT PositionY)
