/* SPDX-License-Identifier: MIT */
/* dispmprt_services.h: interfaces that a miniport offers by DxgkDdiQueryInterface (I2C, protected outputs, brightness) and asks of dxgkrnl
 * by DxgkCbQueryServices (AGP, debug reports, timed operations). dispmprt.h includes it.
 *
 * Names, members and order: the WDK's public documentation of dispmprt.h, at the Windows 7 level. dxgkrnl answers
 * STATUS_NOT_SUPPORTED to DxgkCbQueryServices, as Windows does for what it has not.
 */
#pragma once

#include "wddm/dispmprt.h"

typedef VOID(NTAPI *PINTERFACE_REFERENCE)(PVOID Context);
typedef VOID(NTAPI *PINTERFACE_DEREFERENCE)(PVOID Context);

/* An INTERFACE, and what it adds. */
#define WDDM_INTERFACE_HEAD                                                                                  \
    USHORT Size;                                                                                             \
    USHORT Version;                                                                                          \
    PVOID Context;                                                                                           \
    PINTERFACE_REFERENCE InterfaceReference;                                                                 \
    PINTERFACE_DEREFERENCE InterfaceDereference;

/* ---- of the miniport ------------------------------------------------------ */

DEFINE_GUID(GUID_DEVINTERFACE_I2C, 0x2564aa4f, 0xdddb, 0x4495, 0xb4, 0x97, 0x6a, 0xd4, 0xa8, 0x41, 0x63,
            0xd7);
DEFINE_GUID(GUID_DEVINTERFACE_OPM, 0xbf4672de, 0x6b4e, 0x4be4, 0xa3, 0x25, 0x68, 0xa9, 0x1e, 0xa4, 0x9c,
            0x09);
DEFINE_GUID(GUID_DEVINTERFACE_BRIGHTNESS, 0xfde5bba4, 0xb3f9, 0x46fb, 0xbd, 0xaa, 0x07, 0x28, 0xce, 0x31,
            0x00, 0xb4);

#define DXGK_I2C_INTERFACE_VERSION_1        1
#define DXGK_OPM_INTERFACE_VERSION_1        1
#define DXGK_BRIGHTNESS_INTERFACE_VERSION_1 1

#define DXGKMDT_I2C_NO_FLAGS                     0
#define DXGKMDT_I2C_DEVICE_TRANSMITS_DATA_LENGTH 1

typedef NTSTATUS(APIENTRY *DXGKDDI_I2C_TRANSMIT_DATA_TO_DISPLAY)(PVOID MiniportDeviceContext,
                                                                 D3DDDI_VIDEO_PRESENT_TARGET_ID VidPnTargetId,
                                                                 ULONG SevenBitI2CAddress, ULONG DataLength,
                                                                 CONST PVOID Data);
typedef NTSTATUS(APIENTRY *DXGKDDI_I2C_RECEIVE_DATA_FROM_DISPLAY)(
    PVOID MiniportDeviceContext, D3DDDI_VIDEO_PRESENT_TARGET_ID VidPnTargetId, ULONG SevenBitI2CAddress,
    ULONG Flags, ULONG DataLength, PVOID Data);

typedef struct _DXGK_I2C_INTERFACE {
    WDDM_INTERFACE_HEAD
    DXGKDDI_I2C_TRANSMIT_DATA_TO_DISPLAY DxgkDdiI2CTransmitDataToDisplay;
    DXGKDDI_I2C_RECEIVE_DATA_FROM_DISPLAY DxgkDdiI2CReceiveDataFromDisplay;
} DXGK_I2C_INTERFACE, *PDXGK_I2C_INTERFACE;

typedef NTSTATUS(APIENTRY *DXGKDDI_OPM_GET_CERTIFICATE_SIZE)(PVOID MiniportDeviceContext,
                                                             DXGKMDT_CERTIFICATE_TYPE CertificateType,
                                                             PULONG CertificateSize);
typedef NTSTATUS(APIENTRY *DXGKDDI_OPM_GET_CERTIFICATE)(PVOID MiniportDeviceContext,
                                                        DXGKMDT_CERTIFICATE_TYPE CertificateType,
                                                        ULONG CertificateSize, PVOID CertificateBuffer);
typedef NTSTATUS(APIENTRY *DXGKDDI_OPM_CREATE_PROTECTED_OUTPUT)(
    PVOID MiniportDeviceContext, D3DDDI_VIDEO_PRESENT_TARGET_ID TargetId,
    DXGKMDT_OPM_VIDEO_OUTPUT_SEMANTICS NewVideoOutputSemantics, PHANDLE NewProtectedOutputHandle);
typedef NTSTATUS(APIENTRY *DXGKDDI_OPM_GET_RANDOM_NUMBER)(PVOID MiniportDeviceContext,
                                                          HANDLE ProtectedOutputHandle,
                                                          PDXGKMDT_OPM_RANDOM_NUMBER RandomNumber);
typedef NTSTATUS(APIENTRY *DXGKDDI_OPM_SET_SIGNING_KEY_AND_SEQUENCE_NUMBERS)(
    PVOID MiniportDeviceContext, HANDLE ProtectedOutputHandle,
    CONST PDXGKMDT_OPM_ENCRYPTED_PARAMETERS EncryptedParameters);
typedef NTSTATUS(APIENTRY *DXGKDDI_OPM_GET_INFORMATION)(
    PVOID MiniportDeviceContext, HANDLE ProtectedOutputHandle,
    CONST PDXGKMDT_OPM_GET_INFO_PARAMETERS Parameters,
    PDXGKMDT_OPM_REQUESTED_INFORMATION RequestedInformation);
typedef NTSTATUS(APIENTRY *DXGKDDI_OPM_GET_COPP_COMPATIBLE_INFORMATION)(
    PVOID MiniportDeviceContext, HANDLE ProtectedOutputHandle,
    CONST PDXGKMDT_OPM_COPP_COMPATIBLE_GET_INFO_PARAMETERS Parameters,
    PDXGKMDT_OPM_REQUESTED_INFORMATION RequestedInformation);
typedef NTSTATUS(APIENTRY *DXGKDDI_OPM_CONFIGURE_PROTECTED_OUTPUT)(
    PVOID MiniportDeviceContext, HANDLE ProtectedOutputHandle,
    CONST PDXGKMDT_OPM_CONFIGURE_PARAMETERS Parameters, ULONG AdditionalParametersSize,
    CONST PVOID AdditionalParameters);
typedef NTSTATUS(APIENTRY *DXGKDDI_OPM_DESTROY_PROTECTED_OUTPUT)(PVOID MiniportDeviceContext,
                                                                 HANDLE ProtectedOutputHandle);

typedef struct _DXGK_OPM_INTERFACE {
    WDDM_INTERFACE_HEAD
    DXGKDDI_OPM_GET_CERTIFICATE_SIZE DxgkDdiOPMGetCertificateSize;
    DXGKDDI_OPM_GET_CERTIFICATE DxgkDdiOPMGetCertificate;
    DXGKDDI_OPM_CREATE_PROTECTED_OUTPUT DxgkDdiOPMCreateProtectedOutput;
    DXGKDDI_OPM_GET_RANDOM_NUMBER DxgkDdiOPMGetRandomNumber;
    DXGKDDI_OPM_SET_SIGNING_KEY_AND_SEQUENCE_NUMBERS DxgkDdiOPMSetSigningKeyAndSequenceNumbers;
    DXGKDDI_OPM_GET_INFORMATION DxgkDdiOPMGetInformation;
    DXGKDDI_OPM_GET_COPP_COMPATIBLE_INFORMATION DxgkDdiOPMGetCOPPCompatibleInformation;
    DXGKDDI_OPM_CONFIGURE_PROTECTED_OUTPUT DxgkDdiOPMConfigureProtectedOutput;
    DXGKDDI_OPM_DESTROY_PROTECTED_OUTPUT DxgkDdiOPMDestroyProtectedOutput;
} DXGK_OPM_INTERFACE, *PDXGK_OPM_INTERFACE;

typedef NTSTATUS(APIENTRY *DXGK_BRIGHTNESS_GET_POSSIBLE)(PVOID Context, ULONG BufferSize, PUCHAR LevelCount,
                                                         PUCHAR BrightnessLevels);
typedef NTSTATUS(APIENTRY *DXGK_BRIGHTNESS_SET)(PVOID Context, UCHAR Brightness);
typedef NTSTATUS(APIENTRY *DXGK_BRIGHTNESS_GET)(PVOID Context, PUCHAR Brightness);

typedef struct _DXGK_BRIGHTNESS_INTERFACE {
    WDDM_INTERFACE_HEAD
    DXGK_BRIGHTNESS_GET_POSSIBLE GetPossibleBrightness;
    DXGK_BRIGHTNESS_SET SetBrightness;
    DXGK_BRIGHTNESS_GET GetBrightness;
} DXGK_BRIGHTNESS_INTERFACE, *PDXGK_BRIGHTNESS_INTERFACE;

/* ---- of dxgkrnl ----------------------------------------------------------- */

#define DXGK_AGP_INTERFACE_VERSION_1             1
#define DXGK_DEBUG_REPORT_INTERFACE_VERSION_1    1
#define DXGK_DEBUG_REPORT_MAX_SIZE               0xF800
#define DXGK_TIMED_OPERATION_INTERFACE_VERSION_1 1

typedef NTSTATUS(APIENTRY *DXGKCB_AGP_ALLOCATE_POOL)(HANDLE Context, ULONG AllocationSize,
                                                     MEMORY_CACHING_TYPE CacheType,
                                                     PPHYSICAL_ADDRESS PhysicalAddress,
                                                     PVOID *VirtualAddress);
typedef NTSTATUS(APIENTRY *DXGKCB_AGP_FREE_POOL)(HANDLE Context, PVOID VirtualAddress);
typedef NTSTATUS(APIENTRY *DXGKCB_AGP_SET_COMMAND)(HANDLE Context, ULONG Command);

typedef struct _DXGK_AGP_INTERFACE {
    WDDM_INTERFACE_HEAD
    DXGKCB_AGP_ALLOCATE_POOL AgpAllocatePool;
    DXGKCB_AGP_FREE_POOL AgpFreePool;
    DXGKCB_AGP_SET_COMMAND AgpSetCommand;
} DXGK_AGP_INTERFACE, *PDXGK_AGP_INTERFACE;

DECLARE_HANDLE(DXGK_DEBUG_REPORT_HANDLE);

typedef struct _DXGK_DEBUG_REPORT_INTERFACE {
    WDDM_INTERFACE_HEAD
    DXGK_DEBUG_REPORT_HANDLE(NTAPI *DbgReportCreate)
    (HANDLE DeviceHandle, ULONG ulCode, ULONG_PTR ulpArg1, ULONG_PTR ulpArg2, ULONG_PTR ulpArg3,
     ULONG_PTR ulpArg4);
    BOOLEAN(NTAPI *DbgReportSecondaryData)(DXGK_DEBUG_REPORT_HANDLE hReport, PVOID pvData, ULONG ulDataSize);
    VOID(NTAPI *DbgReportComplete)(DXGK_DEBUG_REPORT_HANDLE hReport);
} DXGK_DEBUG_REPORT_INTERFACE, *PDXGK_DEBUG_REPORT_INTERFACE;

/* How long something may take, waits and all. */
typedef struct _DXGK_TIMED_OPERATION {
    USHORT Size;
    ULONG_PTR OwnerTag;
    BOOLEAN OsHandled;
    BOOLEAN TimeoutTriggered;
    LARGE_INTEGER Timeout;
    LARGE_INTEGER StartTick;
} DXGK_TIMED_OPERATION, *PDXGK_TIMED_OPERATION;

typedef struct _DXGK_TIMED_OPERATION_INTERFACE {
    WDDM_INTERFACE_HEAD
    NTSTATUS(NTAPI *TimedOperationStart)
    (DXGK_TIMED_OPERATION *Op, CONST LARGE_INTEGER *Timeout, BOOLEAN OsHandled);
    NTSTATUS(NTAPI *TimedOperationDelay)
    (DXGK_TIMED_OPERATION *Op, KPROCESSOR_MODE WaitMode, BOOLEAN Alertable, CONST LARGE_INTEGER *Interval);
    NTSTATUS(NTAPI *TimedOperationWaitForSingleObject)
    (DXGK_TIMED_OPERATION *Op, PVOID Object, KWAIT_REASON WaitReason, KPROCESSOR_MODE WaitMode,
     BOOLEAN Alertable, CONST LARGE_INTEGER *Timeout);
} DXGK_TIMED_OPERATION_INTERFACE, *PDXGK_TIMED_OPERATION_INTERFACE;
