/* SPDX-License-Identifier: MIT */
/* dispmprt.h: how the display port driver and a WDDM 1.1 display miniport start, stop and find each other.
 *
 * Names, members, order and values: the WDK's public documentation of dispmprt.h, at the Windows 7 level.
 */
#pragma once

#include "wddm/acpiioct.h"
#include "wddm/d3dkmddi.h"

WDDM_C_BEGIN

typedef struct _DXGK_START_INFO {
    ULONG RequiredDmaQueueEntry;
    GUID AdapterGuid;
} DXGK_START_INFO, *PDXGK_START_INFO;

typedef enum _DOCKING_STATE {
    DockStateUnsupported = 0,
    DockStateUnDocked = 1,
    DockStateDocked = 2,
    DockStateUnknown = 3
} DOCKING_STATE;

typedef struct _DXGK_DEVICE_INFO {
    PVOID MiniportDeviceContext;
    PDEVICE_OBJECT PhysicalDeviceObject;
    UNICODE_STRING DeviceRegistryPath;
    PCM_RESOURCE_LIST TranslatedResourceList;
    LARGE_INTEGER SystemMemorySize;
    PHYSICAL_ADDRESS HighestPhysicalAddress;
    PHYSICAL_ADDRESS AgpApertureBase;
    SIZE_T AgpApertureSize;
    DOCKING_STATE DockingState;
} DXGK_DEVICE_INFO, *PDXGK_DEVICE_INFO;

typedef enum _DXGK_CHILD_DEVICE_TYPE {
    TypeUninitialized = 0,
    TypeVideoOutput = 1,
    TypeOther = 2
} DXGK_CHILD_DEVICE_TYPE;

typedef struct _DXGK_VIDEO_OUTPUT_CAPABILITIES {
    D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY InterfaceTechnology;
    D3DKMDT_MONITOR_ORIENTATION_AWARENESS MonitorOrientationAwareness;
    BOOLEAN SupportsSdtvModes;
} DXGK_VIDEO_OUTPUT_CAPABILITIES, *PDXGK_VIDEO_OUTPUT_CAPABILITIES;

typedef struct _DXGK_CHILD_CAPABILITIES {
    union {
        DXGK_VIDEO_OUTPUT_CAPABILITIES VideoOutput;
        struct {
            UINT MustBeZero;
        } Other;
    } Type;
    DXGK_CHILD_DEVICE_HPD_AWARENESS HpdAwareness;
} DXGK_CHILD_CAPABILITIES, *PDXGK_CHILD_CAPABILITIES;

typedef struct _DXGK_CHILD_DESCRIPTOR {
    DXGK_CHILD_DEVICE_TYPE ChildDeviceType;
    DXGK_CHILD_CAPABILITIES ChildCapabilities;
    ULONG AcpiUid;
    ULONG ChildUid; /* the VidPN target's id */
} DXGK_CHILD_DESCRIPTOR, *PDXGK_CHILD_DESCRIPTOR;

typedef enum _DXGK_CHILD_STATUS_TYPE {
    StatusUninitialized = 0,
    StatusConnection = 1,
    StatusRotation = 2
} DXGK_CHILD_STATUS_TYPE;

typedef struct _DXGK_CHILD_STATUS {
    DXGK_CHILD_STATUS_TYPE Type;
    ULONG ChildUid;
    union {
        struct {
            BOOLEAN Connected;
        } HotPlug;
        struct {
            UCHAR Angle;
        } Rotation;
    };
} DXGK_CHILD_STATUS, *PDXGK_CHILD_STATUS;

typedef struct _DXGK_DEVICE_DESCRIPTOR {
    ULONG DescriptorOffset;
    ULONG DescriptorLength;
    PVOID DescriptorBuffer;
} DXGK_DEVICE_DESCRIPTOR, *PDXGK_DEVICE_DESCRIPTOR;

#define DXGK_MAX_REG_SZ_LEN (50 + 1)

typedef struct _DXGK_GENERIC_DESCRIPTOR { /* of a child that is no monitor */
    WCHAR HardwareId[DXGK_MAX_REG_SZ_LEN];
    WCHAR InstanceId[DXGK_MAX_REG_SZ_LEN];
    WCHAR CompatibleId[DXGK_MAX_REG_SZ_LEN];
    WCHAR DeviceText[DXGK_MAX_REG_SZ_LEN];
} DXGK_GENERIC_DESCRIPTOR, *PDXGK_GENERIC_DESCRIPTOR;

typedef enum _DXGK_EVENT_TYPE {
    DxgkUndefinedEvent = 0,
    DxgkAcpiEvent = 1,
    DxgkPowerStateEvent = 2,
    DxgkDockingEvent = 3
} DXGK_EVENT_TYPE;

typedef enum DXGK_SERVICES {
    DxgkServicesAgp = 0,
    DxgkServicesDebugReport = 1,
    DxgkServicesTimedOperation = 2
} DXGK_SERVICES;

typedef struct _STATUS_BLOCK {
    union {
        ULONG Status;
        PVOID Pointer;
    };
    ULONG_PTR Information;
} STATUS_BLOCK, *PSTATUS_BLOCK;

typedef struct _VIDEO_REQUEST_PACKET {
    ULONG IoControlCode;
    PSTATUS_BLOCK StatusBlock;
    PVOID InputBuffer;
    ULONG InputBufferLength;
    PVOID OutputBuffer;
    ULONG OutputBufferLength;
} VIDEO_REQUEST_PACKET, *PVIDEO_REQUEST_PACKET;

typedef struct _QUERY_INTERFACE {
    CONST GUID *InterfaceType;
    USHORT Size;
    USHORT Version;
    struct _INTERFACE *Interface;
    PVOID InterfaceSpecificData;
} QUERY_INTERFACE, *PQUERY_INTERFACE;

typedef struct _INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    VOID(NTAPI *InterfaceReference)(PVOID Context);
    VOID(NTAPI *InterfaceDereference)(PVOID Context);
} INTERFACE, *PINTERFACE;

typedef struct _LINKED_DEVICE {
    ULONG ChainUid;
    ULONG NumberOfLinksInChain;
    BOOLEAN LeadLink;
} LINKED_DEVICE, *PLINKED_DEVICE;

/* Internal, to \\Device\\DxgKrnl: where DxgkInitialize is. */
#define IOCTL_VIDEO_DDI_FUNC_REGISTER CTL_CODE(FILE_DEVICE_VIDEO, 0x0F, METHOD_NEITHER, FILE_ANY_ACCESS)

/* The same for DxgkInitializeDisplayOnlyDriver, of Windows 8. */
#define IOCTL_VIDEO_KMDOD_DDI_FUNC_REGISTER CTL_CODE(FILE_DEVICE_VIDEO, 0x10, METHOD_NEITHER, FILE_ANY_ACCESS)

#define DISPLAY_ADAPTER_HW_ID 0xFFFFFFFF

#define DXGK_WHICHSPACE_CONFIG 0 /* PCI configuration space */
#define DXGK_WHICHSPACE_ROM    0x52696350

/* ---- what dxgkrnl offers ------------------------------------------------- */

typedef BOOLEAN NTAPI KSYNCHRONIZE_ROUTINE(PVOID SynchronizeContext);
typedef KSYNCHRONIZE_ROUTINE *PKSYNCHRONIZE_ROUTINE;

typedef NTSTATUS(APIENTRY *DXGKCB_EVAL_ACPI_METHOD)(HANDLE DeviceHandle, ULONG DeviceUid,
                                                    PVOID AcpiInputBuffer, ULONG AcpiInputSize,
                                                    PVOID AcpiOutputBuffer, ULONG AcpiOutputSize);
typedef NTSTATUS(APIENTRY *DXGKCB_GET_DEVICE_INFORMATION)(HANDLE DeviceHandle, PDXGK_DEVICE_INFO DeviceInfo);
typedef NTSTATUS(APIENTRY *DXGKCB_INDICATE_CHILD_STATUS)(HANDLE DeviceHandle, PDXGK_CHILD_STATUS ChildStatus);
typedef NTSTATUS(APIENTRY *DXGKCB_MAP_MEMORY)(HANDLE DeviceHandle, PHYSICAL_ADDRESS TranslatedAddress,
                                              ULONG Length, BOOLEAN InIoSpace, BOOLEAN MapToUserMode,
                                              MEMORY_CACHING_TYPE CacheType, PVOID *VirtualAddress);
typedef BOOLEAN(APIENTRY *DXGKCB_QUEUE_DPC)(HANDLE DeviceHandle);
typedef NTSTATUS(APIENTRY *DXGKCB_QUERY_SERVICES)(HANDLE DeviceHandle, DXGK_SERVICES ServicesType,
                                                  PINTERFACE Interface);
typedef NTSTATUS(APIENTRY *DXGKCB_READ_DEVICE_SPACE)(HANDLE DeviceHandle, ULONG DataType, PVOID Buffer,
                                                     ULONG Offset, ULONG Length, PULONG BytesRead);
typedef NTSTATUS(APIENTRY *DXGKCB_SYNCHRONIZE_EXECUTION)(HANDLE DeviceHandle,
                                                         PKSYNCHRONIZE_ROUTINE SynchronizeRoutine,
                                                         PVOID Context, ULONG MessageNumber,
                                                         PBOOLEAN ReturnValue);
typedef NTSTATUS(APIENTRY *DXGKCB_UNMAP_MEMORY)(HANDLE DeviceHandle, PVOID VirtualAddress);
typedef NTSTATUS(APIENTRY *DXGKCB_WRITE_DEVICE_SPACE)(HANDLE DeviceHandle, ULONG DataType, PVOID Buffer,
                                                      ULONG Offset, ULONG Length, PULONG BytesWritten);
typedef NTSTATUS(APIENTRY *DXGKCB_IS_DEVICE_PRESENT)(HANDLE DeviceHandle, PVOID DevicePresenceParameters,
                                                     PBOOLEAN DevicePresent);
typedef VOID(APIENTRY *DXGKCB_LOG_ETW_EVENT)(CONST LPCGUID EventGuid, UCHAR Type, USHORT EventBufferSize,
                                             PVOID EventBuffer);
typedef VOID NTAPI DXGKDDI_PROTECTED_CALLBACK(PVOID MiniportDeviceContext, PVOID ProtectedCallbackContext,
                                              NTSTATUS ProtectionStatus);
typedef DXGKDDI_PROTECTED_CALLBACK *PDXGKDDI_PROTECTED_CALLBACK;
typedef NTSTATUS(APIENTRY *DXGKCB_EXCLUDE_ADAPTER_ACCESS)(HANDLE DeviceHandle, ULONG Attributes,
                                                          PDXGKDDI_PROTECTED_CALLBACK DxgkProtectedCallback,
                                                          PVOID ProtectedCallbackContext);

#if WDDM_WIN8
typedef NTSTATUS(APIENTRY *DXGKCB_ACQUIRE_POST_DISPLAY_OWNERSHIP)(HANDLE DeviceHandle,
                                                                  PDXGK_DISPLAY_INFORMATION DisplayInfo);
#endif

typedef struct _DXGKRNL_INTERFACE {
    ULONG Size;
    ULONG Version;
    HANDLE DeviceHandle;
    DXGKCB_EVAL_ACPI_METHOD DxgkCbEvalAcpiMethod;
    DXGKCB_GET_DEVICE_INFORMATION DxgkCbGetDeviceInformation;
    DXGKCB_INDICATE_CHILD_STATUS DxgkCbIndicateChildStatus;
    DXGKCB_MAP_MEMORY DxgkCbMapMemory;
    DXGKCB_QUEUE_DPC DxgkCbQueueDpc;
    DXGKCB_QUERY_SERVICES DxgkCbQueryServices;
    DXGKCB_READ_DEVICE_SPACE DxgkCbReadDeviceSpace;
    DXGKCB_SYNCHRONIZE_EXECUTION DxgkCbSynchronizeExecution;
    DXGKCB_UNMAP_MEMORY DxgkCbUnmapMemory;
    DXGKCB_WRITE_DEVICE_SPACE DxgkCbWriteDeviceSpace;
    DXGKCB_IS_DEVICE_PRESENT DxgkCbIsDevicePresent;
    DXGKCB_GETHANDLEDATA DxgkCbGetHandleData;
    DXGKCB_GETHANDLEPARENT DxgkCbGetHandleParent;
    DXGKCB_ENUMHANDLECHILDREN DxgkCbEnumHandleChildren;
    DXGKCB_NOTIFY_INTERRUPT DxgkCbNotifyInterrupt;
    DXGKCB_NOTIFY_DPC DxgkCbNotifyDpc;
    DXGKCB_QUERYVIDPNINTERFACE DxgkCbQueryVidPnInterface;
    DXGKCB_QUERYMONITORINTERFACE DxgkCbQueryMonitorInterface;
    DXGKCB_GETCAPTUREADDRESS DxgkCbGetCaptureAddress;
    DXGKCB_LOG_ETW_EVENT DxgkCbLogEtwEvent;
    DXGKCB_EXCLUDE_ADAPTER_ACCESS DxgkCbExcludeAdapterAccess;
#if WDDM_WIN8
    PVOID DxgkCbCreateContextAllocation; /* of drivers that render: NULL */
    PVOID DxgkCbDestroyContextAllocation;
    PVOID DxgkCbSetPowerComponentActive; /* of runtime power management: NULL */
    PVOID DxgkCbSetPowerComponentIdle;
    DXGKCB_ACQUIRE_POST_DISPLAY_OWNERSHIP DxgkCbAcquirePostDisplayOwnership;
    PVOID DxgkCbPowerRuntimeControlRequest;
    PVOID DxgkCbSetPowerComponentLatency;
    PVOID DxgkCbSetPowerComponentResidency;
    PVOID DxgkCbCompleteFStateTransition;
#endif
} DXGKRNL_INTERFACE, *PDXGKRNL_INTERFACE;

/* ---- what the miniport offers -------------------------------------------- */

WDDM_DDIS(WDDM_DDI_TYPE, WDDM_DDI_NONE, WDDM_DDI_NONE)

typedef struct _DRIVER_INITIALIZATION_DATA {
    ULONG Version;
#define WDDM_SLOT(need, name, TYPE, ...) PDXGKDDI_##TYPE DxgkDdi##name;
#define WDDM_RESERVED(name)              PVOID name;
    WDDM_DDIS(WDDM_SLOT, WDDM_SLOT, WDDM_RESERVED)
#undef WDDM_SLOT
#undef WDDM_RESERVED
} DRIVER_INITIALIZATION_DATA, *PDRIVER_INITIALIZATION_DATA;

/* On Windows no export of dxgkrnl.sys: it is in the display library, which every miniport links (src/kmd/displib.c is one, the
 * WDK's is displib.lib). */
#if !defined(_WIN32)
NTKERNELAPI
#endif
NTSTATUS APIENTRY DxgkInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                 PDRIVER_INITIALIZATION_DATA DriverInitializationData);

#if WDDM_WIN8
/* The structure of a driver that only displays. Its last members are of runtime power management and later versions; nothing here
 * reads them. */
typedef struct _KMDDOD_INITIALIZATION_DATA {
    ULONG Version;
    PDXGKDDI_ADD_DEVICE DxgkDdiAddDevice;
    PDXGKDDI_START_DEVICE DxgkDdiStartDevice;
    PDXGKDDI_STOP_DEVICE DxgkDdiStopDevice;
    PDXGKDDI_REMOVE_DEVICE DxgkDdiRemoveDevice;
    PDXGKDDI_DISPATCH_IO_REQUEST DxgkDdiDispatchIoRequest;
    PDXGKDDI_INTERRUPT_ROUTINE DxgkDdiInterruptRoutine;
    PDXGKDDI_DPC_ROUTINE DxgkDdiDpcRoutine;
    PDXGKDDI_QUERY_CHILD_RELATIONS DxgkDdiQueryChildRelations;
    PDXGKDDI_QUERY_CHILD_STATUS DxgkDdiQueryChildStatus;
    PDXGKDDI_QUERY_DEVICE_DESCRIPTOR DxgkDdiQueryDeviceDescriptor;
    PDXGKDDI_SET_POWER_STATE DxgkDdiSetPowerState;
    PDXGKDDI_NOTIFY_ACPI_EVENT DxgkDdiNotifyAcpiEvent;
    PDXGKDDI_RESET_DEVICE DxgkDdiResetDevice;
    PDXGKDDI_UNLOAD DxgkDdiUnload;
    PDXGKDDI_QUERY_INTERFACE DxgkDdiQueryInterface;
    PDXGKDDI_CONTROL_ETW_LOGGING DxgkDdiControlEtwLogging;
    PDXGKDDI_QUERYADAPTERINFO DxgkDdiQueryAdapterInfo;
    PDXGKDDI_SETPALETTE DxgkDdiSetPalette;
    PDXGKDDI_SETPOINTERPOSITION DxgkDdiSetPointerPosition;
    PDXGKDDI_SETPOINTERSHAPE DxgkDdiSetPointerShape;
    PDXGKDDI_ESCAPE DxgkDdiEscape;
    PDXGKDDI_COLLECTDBGINFO DxgkDdiCollectDbgInfo;
    PDXGKDDI_ISSUPPORTEDVIDPN DxgkDdiIsSupportedVidPn;
    PDXGKDDI_RECOMMENDFUNCTIONALVIDPN DxgkDdiRecommendFunctionalVidPn;
    PDXGKDDI_ENUMVIDPNCOFUNCMODALITY DxgkDdiEnumVidPnCofuncModality;
    PDXGKDDI_SETVIDPNSOURCEVISIBILITY DxgkDdiSetVidPnSourceVisibility;
    PDXGKDDI_COMMITVIDPN DxgkDdiCommitVidPn;
    PDXGKDDI_UPDATEACTIVEVIDPNPRESENTPATH DxgkDdiUpdateActiveVidPnPresentPath;
    PDXGKDDI_RECOMMENDMONITORMODES DxgkDdiRecommendMonitorModes;
    PDXGKDDI_GETSCANLINE DxgkDdiGetScanLine;
    PDXGKDDI_QUERYVIDPNHWCAPABILITY DxgkDdiQueryVidPnHWCapability;
#define WDDM_SLOT(need, name, TYPE, ...) PDXGKDDI_##TYPE DxgkDdi##name;
    WDDM_DISPLAY_ONLY_DDIS(WDDM_SLOT)
#undef WDDM_SLOT
    PVOID DxgkDdiGetChildContainerId;
    PDXGKDDI_CONTROLINTERRUPT DxgkDdiControlInterrupt;
    PVOID DxgkDdiSetPowerComponentFState;
    PVOID DxgkDdiPowerRuntimeControlRequest;
    PVOID DxgkDdiNotifySurpriseRemoval;
} KMDDOD_INITIALIZATION_DATA, *PKMDDOD_INITIALIZATION_DATA;

#if !defined(_WIN32)
NTKERNELAPI
#endif
NTSTATUS APIENTRY DxgkInitializeDisplayOnlyDriver(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                                  PKMDDOD_INITIALIZATION_DATA KmdDodInitializationData);

WDDM_OFFSET(DXGKRNL_INTERFACE, DxgkCbAcquirePostDisplayOwnership, 0xd8);
#endif

WDDM_OFFSET(DRIVER_INITIALIZATION_DATA, DxgkDdiSubmitCommand, 208);
WDDM_OFFSET(DRIVER_INITIALIZATION_DATA, DxgkDdiRenderKm, 544);
WDDM_SIZE(DRIVER_INITIALIZATION_DATA, 568);

WDDM_C_END

#include "wddm/dispmprt_services.h"

#include "wddm/ddi_words.h"
