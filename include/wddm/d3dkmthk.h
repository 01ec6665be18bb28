/* SPDX-License-Identifier: MIT */
/* d3dkmthk.h: the D3DKMT* thunks, through which user mode reaches dxgkrnl.
 *
 * Names, members, order and values: the WDK's public documentation of d3dkmthk.h; structures that grew after
 * Windows 7 have their Windows 7 members. D3DKMT_QUERYSTATISTICS has the layout that its first public
 * documentation (Windows 8) gives it. A HANDLE of an event is a file descriptor (eventfd) here; an HDC is
 * NULL, or the zero-terminated UTF-8 name of a display.
 */
#pragma once

#include "wddm/d3dkmdt.h"

WDDM_C_BEGIN

#if !defined(WDDM_WITH_WINDOWS)
typedef PVOID HDC;
typedef PVOID HWND;
#endif

/* ---- adapters ------------------------------------------------------------ */

typedef struct _D3DKMT_OPENADAPTERFROMHDC {
    HDC hDc;
    D3DKMT_HANDLE hAdapter;
    LUID AdapterLuid;
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
} D3DKMT_OPENADAPTERFROMHDC;

typedef struct _D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME {
    WCHAR DeviceName[32]; /* "\\.\DISPLAY1" */
    D3DKMT_HANDLE hAdapter;
    LUID AdapterLuid;
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
} D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME;

typedef struct _D3DKMT_OPENADAPTERFROMDEVICENAME {
    PCWSTR pDeviceName; /* "\\?\PCI#VEN_xxxx&DEV_xxxx...", or the name of a display */
    D3DKMT_HANDLE hAdapter;
    LUID AdapterLuid;
} D3DKMT_OPENADAPTERFROMDEVICENAME;

typedef struct _D3DKMT_CLOSEADAPTER {
    D3DKMT_HANDLE hAdapter;
} D3DKMT_CLOSEADAPTER;

typedef enum _KMTQUERYADAPTERINFOTYPE {
    KMTQAITYPE_UMDRIVERPRIVATE = 0,
    KMTQAITYPE_UMDRIVERNAME = 1,
    KMTQAITYPE_UMOPENGLINFO = 2,
    KMTQAITYPE_GETSEGMENTSIZE = 3,
    KMTQAITYPE_ADAPTERGUID = 4,
    KMTQAITYPE_FLIPQUEUEINFO = 5,
    KMTQAITYPE_ADAPTERADDRESS = 6,
    KMTQAITYPE_SETWORKINGSETINFO = 7,
    KMTQAITYPE_ADAPTERREGISTRYINFO = 8,
    KMTQAITYPE_CURRENTDISPLAYMODE = 9,
    KMTQAITYPE_MODELIST = 10,
    KMTQAITYPE_CHECKDRIVERUPDATESTATUS = 11,
    KMTQAITYPE_VIRTUALADDRESSINFO = 12,
    KMTQAITYPE_DRIVERVERSION = 13,
    KMTQAITYPE_PHYSICALADAPTERDEVICEIDS = 31 /* newer than Windows 7: what tells which device it is */
} KMTQUERYADAPTERINFOTYPE;

typedef struct _D3DKMT_QUERYADAPTERINFO {
    D3DKMT_HANDLE hAdapter;
    KMTQUERYADAPTERINFOTYPE Type;
    VOID *pPrivateDriverData;
    UINT PrivateDriverDataSize;
} D3DKMT_QUERYADAPTERINFO;

typedef enum _KMTUMDVERSION {
    KMTUMDVERSION_DX9 = 0,
    KMTUMDVERSION_DX10 = 1,
    KMTUMDVERSION_DX11 = 2,
    NUM_KMTUMDVERSIONS
} KMTUMDVERSION;

typedef struct _D3DKMT_UMDFILENAMEINFO {
    KMTUMDVERSION Version;  /* in: of which interface */
    WCHAR UmdFileName[260]; /* out: the user-mode driver's library */
} D3DKMT_UMDFILENAMEINFO;

typedef struct _D3DKMT_SEGMENTSIZEINFO {
    ULONGLONG DedicatedVideoMemorySize;
    ULONGLONG DedicatedSystemMemorySize;
    ULONGLONG SharedSystemMemorySize;
} D3DKMT_SEGMENTSIZEINFO;

typedef struct _D3DKMT_ADAPTERADDRESS {
    UINT BusNumber;
    UINT DeviceNumber;
    UINT FunctionNumber;
} D3DKMT_ADAPTERADDRESS;

typedef struct _D3DKMT_FLIPQUEUEINFO {
    UINT MaxHardwareFlipQueueLength;
    UINT MaxSoftwareFlipQueueLength;
    struct {
        UINT FlipInterval : 1;
        UINT Reserved : 31;
    } FlipFlags;
} D3DKMT_FLIPQUEUEINFO;

typedef struct _D3DKMT_ADAPTERREGISTRYINFO {
    WCHAR AdapterString[260];
    WCHAR BiosString[260];
    WCHAR DacType[260];
    WCHAR ChipType[260];
} D3DKMT_ADAPTERREGISTRYINFO;

typedef struct _D3DKMT_DEVICE_IDS {
    UINT VendorID;
    UINT DeviceID;
    UINT SubVendorID;
    UINT SubSystemID;
    UINT RevisionID;
    UINT BusType;
} D3DKMT_DEVICE_IDS;

typedef struct _D3DKMT_QUERY_DEVICE_IDS {
    UINT PhysicalAdapterIndex;
    D3DKMT_DEVICE_IDS DeviceIds;
} D3DKMT_QUERY_DEVICE_IDS;

typedef enum _D3DKMT_DRIVERVERSION {
    KMT_DRIVERVERSION_WDDM_1_0 = 1000,
    KMT_DRIVERVERSION_WDDM_1_1_PRERELEASE = 1102,
    KMT_DRIVERVERSION_WDDM_1_1 = 1105
} D3DKMT_DRIVERVERSION;

typedef struct _D3DKMDT_DISPLAYMODE_FLAGS {
    BOOLEAN ValidatedAgainstMonitorCaps : 1;
    BOOLEAN RoundedFakeMode : 1;
    UINT : 0; /* a unit of its own for each type */
    UINT ModePruningReason : 4;
    UINT Reserved : 28;
} D3DKMDT_DISPLAYMODE_FLAGS;

typedef struct _D3DKMT_DISPLAYMODE {
    UINT Width;
    UINT Height;
    D3DDDIFORMAT Format;
    UINT IntegerRefreshRate;
    D3DDDI_RATIONAL RefreshRate;
    D3DDDI_VIDEO_SIGNAL_SCANLINE_ORDERING ScanLineOrdering;
    D3DDDI_ROTATION DisplayOrientation;
    UINT DisplayFixedOutput;
    D3DKMDT_DISPLAYMODE_FLAGS Flags;
} D3DKMT_DISPLAYMODE;

typedef struct _D3DKMT_CURRENTDISPLAYMODE {
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
    D3DKMT_DISPLAYMODE DisplayMode;
} D3DKMT_CURRENTDISPLAYMODE;

/* ---- devices and contexts ------------------------------------------------ */

typedef struct _D3DKMT_CREATEDEVICEFLAGS {
    UINT LegacyMode : 1;
    UINT RequestVSync : 1;
    UINT Reserved : 30;
} D3DKMT_CREATEDEVICEFLAGS;

typedef struct _D3DKMT_CREATEDEVICE {
    union {
        D3DKMT_HANDLE hAdapter;
        VOID *pAdapter;
    };
    D3DKMT_CREATEDEVICEFLAGS Flags;
    D3DKMT_HANDLE hDevice;
    VOID *pCommandBuffer;
    UINT CommandBufferSize;
    D3DDDI_ALLOCATIONLIST *pAllocationList;
    UINT AllocationListSize;
    D3DDDI_PATCHLOCATIONLIST *pPatchLocationList;
    UINT PatchLocationListSize;
} D3DKMT_CREATEDEVICE;

typedef struct _D3DKMT_DESTROYDEVICE {
    D3DKMT_HANDLE hDevice;
} D3DKMT_DESTROYDEVICE;

typedef enum _D3DKMT_CLIENTHINT {
    D3DKMT_CLIENTHINT_UNKNOWN = 0,
    D3DKMT_CLIENTHINT_OPENGL = 1,
    D3DKMT_CLIENTHINT_CDD = 2,
    D3DKMT_CLIENTHINT_DX7 = 7,
    D3DKMT_CLIENTHINT_DX8 = 8,
    D3DKMT_CLIENTHINT_DX9 = 9,
    D3DKMT_CLIENTHINT_DX10 = 10
} D3DKMT_CLIENTHINT;

typedef struct _D3DKMT_CREATECONTEXT {
    D3DKMT_HANDLE hDevice;
    UINT NodeOrdinal;
    UINT EngineAffinity;
    D3DDDI_CREATECONTEXTFLAGS Flags;
    VOID *pPrivateDriverData;
    UINT PrivateDriverDataSize;
    D3DKMT_CLIENTHINT ClientHint;
    D3DKMT_HANDLE hContext;
    VOID *pCommandBuffer;
    UINT CommandBufferSize;
    D3DDDI_ALLOCATIONLIST *pAllocationList;
    UINT AllocationListSize;
    D3DDDI_PATCHLOCATIONLIST *pPatchLocationList;
    UINT PatchLocationListSize;
    ULONGLONG CommandBuffer;
} D3DKMT_CREATECONTEXT;

typedef struct _D3DKMT_DESTROYCONTEXT {
    D3DKMT_HANDLE hContext;
} D3DKMT_DESTROYCONTEXT;

typedef struct _D3DKMT_SETCONTEXTSCHEDULINGPRIORITY {
    D3DKMT_HANDLE hContext;
    INT Priority; /* -7 to 7 */
} D3DKMT_SETCONTEXTSCHEDULINGPRIORITY;

typedef struct _D3DKMT_GETCONTEXTSCHEDULINGPRIORITY {
    D3DKMT_HANDLE hContext;
    INT Priority; /* out */
} D3DKMT_GETCONTEXTSCHEDULINGPRIORITY;

typedef enum _D3DKMT_ALLOCATIONRESIDENCYSTATUS {
    D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY = 1,
    D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINSHAREDMEMORY = 2,
    D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT = 3
} D3DKMT_ALLOCATIONRESIDENCYSTATUS;

/* Of all allocations of hResource, whose worst status is the one that *pResidencyStatus gets, or (hResource 0) of each of the
 * list. Asking makes nothing resident. */
typedef struct _D3DKMT_QUERYALLOCATIONRESIDENCY {
    D3DKMT_HANDLE hDevice;
    D3DKMT_HANDLE hResource;
    CONST D3DKMT_HANDLE *phAllocationList; /* NULL with hResource, and AllocationCount 0 */
    UINT AllocationCount;
    D3DKMT_ALLOCATIONRESIDENCYSTATUS *pResidencyStatus; /* out: one, or AllocationCount */
} D3DKMT_QUERYALLOCATIONRESIDENCY;

/* The same for D3DDDI_ALLOCATIONPRIORITY_...: what is dearer is evicted later. */
typedef struct _D3DKMT_SETALLOCATIONPRIORITY {
    D3DKMT_HANDLE hDevice;
    D3DKMT_HANDLE hResource;
    CONST D3DKMT_HANDLE *phAllocationList;
    UINT AllocationCount;
    CONST UINT *pPriorities; /* one, or AllocationCount */
} D3DKMT_SETALLOCATIONPRIORITY;

typedef enum _D3DKMT_DEVICESTATE_TYPE {
    D3DKMT_DEVICESTATE_EXECUTION = 1,
    D3DKMT_DEVICESTATE_PRESENT = 2,
    D3DKMT_DEVICESTATE_RESET = 3
} D3DKMT_DEVICESTATE_TYPE;

typedef enum _D3DKMT_DEVICEEXECUTION_STATE {
    D3DKMT_DEVICEEXECUTION_ACTIVE = 1,
    D3DKMT_DEVICEEXECUTION_RESET = 2,
    D3DKMT_DEVICEEXECUTION_HUNG = 3,
    D3DKMT_DEVICEEXECUTION_STOPPED = 4,
    D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY = 5,
    D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT = 6
} D3DKMT_DEVICEEXECUTION_STATE;

typedef struct _D3DKMT_DEVICERESET_STATE {
    union {
        struct {
            UINT DesktopSwitched : 1;
            UINT Reserved : 31;
        };
        UINT Value;
    };
} D3DKMT_DEVICERESET_STATE;

typedef struct _D3DKMT_PRESENT_STATS {
    UINT PresentCount;
    UINT PresentRefreshCount;
    UINT SyncRefreshCount;
    LARGE_INTEGER SyncQPCTime;
    LARGE_INTEGER SyncGPUTime;
} D3DKMT_PRESENT_STATS;

typedef struct _D3DKMT_DEVICEPRESENT_STATE {
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
    D3DKMT_PRESENT_STATS PresentStats;
} D3DKMT_DEVICEPRESENT_STATE;

typedef struct _D3DKMT_GETDEVICESTATE {
    D3DKMT_HANDLE hDevice;
    D3DKMT_DEVICESTATE_TYPE StateType;
    union {
        D3DKMT_DEVICEEXECUTION_STATE ExecutionState;
        D3DKMT_DEVICEPRESENT_STATE PresentState;
        D3DKMT_DEVICERESET_STATE ResetState;
    };
} D3DKMT_GETDEVICESTATE;

/* ---- allocations --------------------------------------------------------- */

typedef struct _D3DKMT_CREATEALLOCATIONFLAGS {
    UINT CreateResource : 1;
    UINT CreateShared : 1;
    UINT NonSecure : 1;
    UINT CreateProtected : 1;
    UINT RestrictSharedAccess : 1;
    UINT ExistingSysMem : 1;
    UINT Reserved : 26;
} D3DKMT_CREATEALLOCATIONFLAGS;

typedef struct _D3DKMT_CREATEALLOCATION {
    D3DKMT_HANDLE hDevice;
    D3DKMT_HANDLE hResource;
    D3DKMT_HANDLE hGlobalShare;
    CONST VOID *pPrivateRuntimeData;
    UINT PrivateRuntimeDataSize;
    CONST VOID *pPrivateDriverData;
    UINT PrivateDriverDataSize;
    UINT NumAllocations;
    union {
        D3DDDI_ALLOCATIONINFO *pAllocationInfo;
        struct _D3DDDI_ALLOCATIONINFO2 *pAllocationInfo2;
    };
    D3DKMT_CREATEALLOCATIONFLAGS Flags;
    HANDLE hPrivateRuntimeResourceHandle;
} D3DKMT_CREATEALLOCATION;

typedef struct _D3DKMT_DESTROYALLOCATION {
    D3DKMT_HANDLE hDevice;
    D3DKMT_HANDLE hResource;
    CONST D3DKMT_HANDLE *phAllocationList;
    UINT AllocationCount;
} D3DKMT_DESTROYALLOCATION;

typedef struct _D3DKMT_QUERYRESOURCEINFO {
    D3DKMT_HANDLE hDevice;
    D3DKMT_HANDLE hGlobalShare;
    VOID *pPrivateRuntimeData;
    UINT PrivateRuntimeDataSize;
    UINT TotalPrivateDriverDataSize;
    UINT ResourcePrivateDriverDataSize;
    UINT NumAllocations;
} D3DKMT_QUERYRESOURCEINFO;

typedef struct _D3DKMT_OPENRESOURCE {
    D3DKMT_HANDLE hDevice;
    D3DKMT_HANDLE hGlobalShare;
    UINT NumAllocations;
    union {
        D3DDDI_OPENALLOCATIONINFO *pOpenAllocationInfo;
        struct _D3DDDI_OPENALLOCATIONINFO2 *pOpenAllocationInfo2;
    };
    VOID *pPrivateRuntimeData;
    UINT PrivateRuntimeDataSize;
    VOID *pResourcePrivateDriverData;
    UINT ResourcePrivateDriverDataSize;
    VOID *pTotalPrivateDriverDataBuffer;
    UINT TotalPrivateDriverDataBufferSize;
    D3DKMT_HANDLE hResource;
} D3DKMT_OPENRESOURCE;

typedef struct _D3DKMT_LOCK {
    D3DKMT_HANDLE hDevice;
    D3DKMT_HANDLE hAllocation;
    UINT PrivateDriverData;
    UINT NumPages;
    CONST UINT *pPages;
    VOID *pData;
    D3DDDICB_LOCKFLAGS Flags;
    ULONGLONG GpuVirtualAddress; /* 0: there are none */
} D3DKMT_LOCK;

typedef struct _D3DKMT_UNLOCK {
    D3DKMT_HANDLE hDevice;
    UINT NumAllocations;
    CONST D3DKMT_HANDLE *phAllocations;
} D3DKMT_UNLOCK;

/* ---- work ---------------------------------------------------------------- */

typedef struct _D3DKMT_RENDERFLAGS {
    UINT ResizeCommandBuffer : 1;
    UINT ResizeAllocationList : 1;
    UINT ResizePatchLocationList : 1;
    UINT NullRendering : 1;
    UINT PresentRedirected : 1;
    UINT RenderKm : 1;
    UINT Reserved : 26;
} D3DKMT_RENDERFLAGS;

typedef struct _D3DKMT_RENDER {
    union {
        D3DKMT_HANDLE hDevice;
        D3DKMT_HANDLE hContext;
    };
    UINT CommandOffset;
    UINT CommandLength;
    UINT AllocationCount;
    UINT PatchLocationCount;
    VOID *pNewCommandBuffer;
    UINT NewCommandBufferSize;
    D3DDDI_ALLOCATIONLIST *pNewAllocationList;
    UINT NewAllocationListSize;
    D3DDDI_PATCHLOCATIONLIST *pNewPatchLocationList;
    UINT NewPatchLocationListSize;
    D3DKMT_RENDERFLAGS Flags;
    ULONGLONG PresentHistoryToken;
    ULONG BroadcastContextCount;
    D3DKMT_HANDLE BroadcastContext[D3DDDI_MAX_BROADCAST_CONTEXT];
    ULONG QueuedBufferCount;
    ULONGLONG NewCommandBuffer;
    VOID *pPrivateDriverData;
    UINT PrivateDriverDataSize;
} D3DKMT_RENDER;

typedef struct _D3DKMT_PRESENTFLAGS {
    union {
        struct {
            UINT Blt : 1;
            UINT ColorFill : 1;
            UINT Flip : 1;
            UINT FlipDoNotFlip : 1;
            UINT FlipDoNotWait : 1;
            UINT FlipRestart : 1;
            UINT DstRectValid : 1;
            UINT SrcRectValid : 1;
            UINT RestrictVidPnSource : 1;
            UINT SrcColorKey : 1;
            UINT DstColorKey : 1;
            UINT LinearToSrgb : 1;
            UINT PresentCountValid : 1;
            UINT Rotate : 1;
            UINT PresentToBitmap : 1;
            UINT RedirectedFlip : 1;
            UINT RedirectedBlt : 1;
            UINT Reserved : 15;
        };
        UINT Value;
    };
} D3DKMT_PRESENTFLAGS;

/* The members for redirected presents, behind BroadcastContext, are absent: nothing here redirects. */
typedef struct _D3DKMT_PRESENT {
    union {
        D3DKMT_HANDLE hDevice;
        D3DKMT_HANDLE hContext;
    };
    HWND hWindow;
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
    D3DKMT_HANDLE hSource;
    D3DKMT_HANDLE hDestination;
    UINT Color;
    RECT DstRect;
    RECT SrcRect;
    UINT SubRectCnt;
    CONST RECT *pSrcSubRects;
    UINT PresentCount;
    D3DDDI_FLIPINTERVAL_TYPE FlipInterval;
    D3DKMT_PRESENTFLAGS Flags;
    ULONG BroadcastContextCount;
    D3DKMT_HANDLE BroadcastContext[D3DDDI_MAX_BROADCAST_CONTEXT];
    HANDLE PresentLimitSemaphore;
    struct { /* D3DKMT_PRESENTHISTORYTOKEN: redirection, which there is none of */
        UINT Model;
        UINT TokenSize;
        ULONGLONG Token[38];
    } PresentHistoryToken;
} D3DKMT_PRESENT;

typedef struct _D3DKMT_CREATESYNCHRONIZATIONOBJECT2 {
    D3DKMT_HANDLE hDevice;
    D3DDDI_SYNCHRONIZATIONOBJECTINFO2 Info;
    D3DKMT_HANDLE hSyncObject;
} D3DKMT_CREATESYNCHRONIZATIONOBJECT2;

/* A mutex with a value: who asks for that value gets it, and gives it back with the next. */
typedef struct _D3DKMT_CREATEKEYEDMUTEX {
    UINT64 InitialValue;
    D3DKMT_HANDLE hSharedHandle; /* out */
    D3DKMT_HANDLE hKeyedMutex;   /* out */
} D3DKMT_CREATEKEYEDMUTEX;

typedef struct _D3DKMT_OPENKEYEDMUTEX {
    D3DKMT_HANDLE hSharedHandle;
    D3DKMT_HANDLE hKeyedMutex; /* out */
} D3DKMT_OPENKEYEDMUTEX;

typedef struct _D3DKMT_DESTROYKEYEDMUTEX {
    D3DKMT_HANDLE hKeyedMutex;
} D3DKMT_DESTROYKEYEDMUTEX;

typedef struct _D3DKMT_ACQUIREKEYEDMUTEX {
    D3DKMT_HANDLE hKeyedMutex;
    UINT64 Key;
    PLARGE_INTEGER pTimeout; /* 100 ns: relative below 0, else a system time; NULL: for ever */
    UINT64 FenceValue;       /* out: as it was released */
} D3DKMT_ACQUIREKEYEDMUTEX;

typedef struct _D3DKMT_RELEASEKEYEDMUTEX {
    D3DKMT_HANDLE hKeyedMutex;
    UINT64 Key;
    UINT64 FenceValue;
} D3DKMT_RELEASEKEYEDMUTEX;

typedef struct _D3DKMT_DESTROYSYNCHRONIZATIONOBJECT {
    D3DKMT_HANDLE hSyncObject;
} D3DKMT_DESTROYSYNCHRONIZATIONOBJECT;

typedef struct _D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2 {
    D3DKMT_HANDLE hContext;
    UINT ObjectCount;
    D3DKMT_HANDLE ObjectHandleArray[D3DDDI_MAX_OBJECT_WAITED_ON];
    union {
        struct {
            UINT64 FenceValue;
        } Fence;
        UINT64 Reserved[8];
    };
} D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2;

typedef struct _D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 {
    D3DKMT_HANDLE hContext;
    UINT ObjectCount;
    D3DKMT_HANDLE ObjectHandleArray[D3DDDI_MAX_OBJECT_SIGNALED];
    D3DDDICB_SIGNALFLAGS Flags;
    ULONG BroadcastContextCount;
    D3DKMT_HANDLE BroadcastContext[D3DDDI_MAX_BROADCAST_CONTEXT];
    union {
        struct {
            UINT64 FenceValue;
        } Fence;
        HANDLE CpuEventHandle;
        UINT64 Reserved[8];
    };
} D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2;

typedef struct _D3DKMT_WAITFORIDLE {
    D3DKMT_HANDLE hDevice;
} D3DKMT_WAITFORIDLE;

/* ---- escapes ------------------------------------------------------------- */

typedef enum _D3DKMT_ESCAPETYPE {
    D3DKMT_ESCAPE_DRIVERPRIVATE = 0,
    D3DKMT_ESCAPE_VIDMM = 1,
    D3DKMT_ESCAPE_TDRDBGCTRL = 2,
    D3DKMT_ESCAPE_VIDSCH = 3,
    D3DKMT_ESCAPE_DEVICE = 4,
    D3DKMT_ESCAPE_DMM = 5
} D3DKMT_ESCAPETYPE;

typedef enum _D3DKMT_TDRDBGCTRLTYPE {
    D3DKMT_TDRDBGCTRLTYPE_FORCETDR = 0,
    D3DKMT_TDRDBGCTRLTYPE_DISABLEBREAK = 1,
    D3DKMT_TDRDBGCTRLTYPE_ENABLEBREAK = 2,
    D3DKMT_TDRDBGCTRLTYPE_UNCONDITIONAL = 3,
    D3DKMT_TDRDBGCTRLTYPE_VSYNCTDR = 4,
    D3DKMT_TDRDBGCTRLTYPE_GPUTDR = 5
} D3DKMT_TDRDBGCTRLTYPE;

typedef struct _D3DKMT_ESCAPE {
    D3DKMT_HANDLE hAdapter;
    D3DKMT_HANDLE hDevice;
    D3DKMT_ESCAPETYPE Type;
    D3DDDI_ESCAPEFLAGS Flags;
    VOID *pPrivateDriverData;
    UINT PrivateDriverDataSize;
    D3DKMT_HANDLE hContext;
} D3DKMT_ESCAPE;

/* ---- display ------------------------------------------------------------- */

typedef struct _D3DKMT_WAITFORVERTICALBLANKEVENT {
    D3DKMT_HANDLE hAdapter;
    D3DKMT_HANDLE hDevice;
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
} D3DKMT_WAITFORVERTICALBLANKEVENT;

typedef struct _D3DKMT_GETSCANLINE {
    D3DKMT_HANDLE hAdapter;
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
    BOOLEAN InVerticalBlank;
    UINT ScanLine;
} D3DKMT_GETSCANLINE;

typedef struct _D3DKMT_GETDISPLAYMODELIST {
    D3DKMT_HANDLE hAdapter;
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
    D3DKMT_DISPLAYMODE *pModeList;
    UINT ModeCount;
} D3DKMT_GETDISPLAYMODELIST;

typedef struct _D3DKMT_SETDISPLAYMODE_FLAGS {
    BOOLEAN PreserveVidPn : 1;
    UINT : 0;
    UINT Reserved : 31;
} D3DKMT_SETDISPLAYMODE_FLAGS;

typedef struct _D3DKMT_SETDISPLAYMODE {
    D3DKMT_HANDLE hDevice;
    D3DKMT_HANDLE hPrimaryAllocation;
    D3DDDI_VIDEO_SIGNAL_SCANLINE_ORDERING ScanLineOrdering;
    D3DDDI_ROTATION DisplayOrientation;
    UINT PrivateDriverFormatAttribute;
    D3DKMT_SETDISPLAYMODE_FLAGS Flags;
} D3DKMT_SETDISPLAYMODE;

typedef enum _D3DKMT_VIDPNSOURCEOWNER_TYPE {
    D3DKMT_VIDPNSOURCEOWNER_UNOWNED = 0,
    D3DKMT_VIDPNSOURCEOWNER_SHARED = 1,
    D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE = 2,
    D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVEGDI = 3
} D3DKMT_VIDPNSOURCEOWNER_TYPE;

typedef struct _D3DKMT_SETVIDPNSOURCEOWNER {
    D3DKMT_HANDLE hDevice;
    CONST D3DKMT_VIDPNSOURCEOWNER_TYPE *pType;
    CONST D3DDDI_VIDEO_PRESENT_SOURCE_ID *pVidPnSourceId;
    UINT VidPnSourceCount;
} D3DKMT_SETVIDPNSOURCEOWNER;

typedef struct _D3DKMT_SETGAMMARAMP {
    D3DKMT_HANDLE hDevice;
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
    D3DDDI_GAMMARAMP_TYPE Type;
    union {
        D3DDDI_GAMMA_RAMP_RGB256x3x16 *pGammaRampRgb256x3x16;
        D3DDDI_GAMMA_RAMP_DXGI_1 *pGammaRampDXGI1;
    };
    UINT Size;
} D3DKMT_SETGAMMARAMP;

/* ---- statistics ---------------------------------------------------------- */

typedef enum _D3DKMT_QUERYSTATISTICS_TYPE {
    D3DKMT_QUERYSTATISTICS_ADAPTER = 0,
    D3DKMT_QUERYSTATISTICS_PROCESS = 1,
    D3DKMT_QUERYSTATISTICS_PROCESS_ADAPTER = 2,
    D3DKMT_QUERYSTATISTICS_SEGMENT = 3,
    D3DKMT_QUERYSTATISTICS_PROCESS_SEGMENT = 4,
    D3DKMT_QUERYSTATISTICS_NODE = 5,
    D3DKMT_QUERYSTATISTICS_PROCESS_NODE = 6,
    D3DKMT_QUERYSTATISTICS_VIDPNSOURCE = 7,
    D3DKMT_QUERYSTATISTICS_PROCESS_VIDPNSOURCE = 8
} D3DKMT_QUERYSTATISTICS_TYPE;

typedef struct _D3DKMT_QUERYSTATISTICS_COUNTER {
    ULONG Count;
    ULONGLONG Bytes;
} D3DKMT_QUERYSTATISTICS_COUNTER;

typedef struct _D3DKMT_QUERYSTATISTICS_ADAPTER_INFORMATION {
    ULONG NbSegments;
    ULONG NodeCount;
    ULONG VidPnSourceCount;
    ULONG VSyncEnabled;
    ULONG TdrDetectedCount;
    LONGLONG ZeroLengthDmaBuffers;
    ULONGLONG RestartedPeriod;
    ULONG ReferenceDmaBuffer[14]; /* the counters of D3DKMT_QUERYSTATSTICS_REFERENCE_DMA_BUFFER, in order */
    ULONG Renaming[9];
    ULONG Preparation[5];
    D3DKMT_QUERYSTATISTICS_COUNTER PagingFault[18];
    ULONGLONG PagingTransfer[8];
    ULONG SwizzlingRange[2];
    ULONG Locks[7];
    D3DKMT_QUERYSTATISTICS_COUNTER Allocations[7];
    D3DKMT_QUERYSTATISTICS_COUNTER Terminations[4];
    ULONG64 Reserved[7];
} D3DKMT_QUERYSTATISTICS_ADAPTER_INFORMATION;

typedef struct _D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION {
    ULONGLONG CommitLimit;
    ULONGLONG BytesCommitted;
    ULONGLONG BytesResident;
    struct {
        ULONGLONG TotalBytesEvicted;
        ULONG AllocsCommitted;
        ULONG AllocsResident;
    } Memory;
    ULONG Aperture; /* BOOLEAN */
    ULONGLONG TotalBytesEvictedByPriority[5];
    ULONG64 SystemMemoryEndAddress;
    ULONG64 PowerFlags;
    ULONG64 Reserved[6];
} D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION;

typedef struct _D3DKMT_QUERYSTATISTICS_QUEUE_PACKET_TYPE_INFORMATION {
    ULONG PacketSubmited; /* spelled so in the WDK */
    ULONG PacketCompleted;
} D3DKMT_QUERYSTATISTICS_QUEUE_PACKET_TYPE_INFORMATION;

typedef struct _D3DKMT_QUERYSTATISTICS_DMA_PACKET_TYPE_INFORMATION {
    ULONG PacketSubmited;
    ULONG PacketCompleted;
    ULONG PacketPreempted;
    ULONG PacketFaulted;
} D3DKMT_QUERYSTATISTICS_DMA_PACKET_TYPE_INFORMATION;

#define D3DKMT_QueuePacketTypeMax     8
#define D3DKMT_RenderCommandBuffer    0
#define D3DKMT_SystemCommandBuffer    2
#define D3DKMT_WaitCommandBuffer      4
#define D3DKMT_SignalCommandBuffer    5
#define D3DKMT_DmaPacketTypeMax       4
#define D3DKMT_ClientRenderBuffer     0
#define D3DKMT_SystemPagingBuffer     2
#define D3DKMT_SystemPreemptionBuffer 3

typedef struct _D3DKMT_QUERYSTATISTICS_PROCESS_NODE_INFORMATION {
    LARGE_INTEGER RunningTime; /* 100 ns units */
    ULONG ContextSwitch;
    ULONG PreemptionCounter[16];
    struct {
        D3DKMT_QUERYSTATISTICS_QUEUE_PACKET_TYPE_INFORMATION QueuePacket[D3DKMT_QueuePacketTypeMax];
        D3DKMT_QUERYSTATISTICS_DMA_PACKET_TYPE_INFORMATION DmaPacket[D3DKMT_DmaPacketTypeMax];
    } PacketStatistics;
    ULONG64 Reserved[8];
} D3DKMT_QUERYSTATISTICS_PROCESS_NODE_INFORMATION;

typedef struct _D3DKMT_QUERYSTATISTICS_NODE_INFORMATION {
    D3DKMT_QUERYSTATISTICS_PROCESS_NODE_INFORMATION GlobalInformation;
    D3DKMT_QUERYSTATISTICS_PROCESS_NODE_INFORMATION SystemInformation;
    ULONG64 Reserved[8];
} D3DKMT_QUERYSTATISTICS_NODE_INFORMATION;

typedef struct _D3DKMT_QUERYSTATISTICS_PROCESS_VIDPNSOURCE_INFORMATION {
    ULONG Frame;
    ULONG CancelledFrame;
    ULONG QueuedPresent;
    ULONG IsVSyncEnabled;
    ULONG64 Reserved[8];
} D3DKMT_QUERYSTATISTICS_PROCESS_VIDPNSOURCE_INFORMATION;

typedef struct _D3DKMT_QUERYSTATISTICS_VIDPNSOURCE_INFORMATION {
    D3DKMT_QUERYSTATISTICS_PROCESS_VIDPNSOURCE_INFORMATION GlobalInformation;
    D3DKMT_QUERYSTATISTICS_PROCESS_VIDPNSOURCE_INFORMATION SystemInformation;
    ULONG64 Reserved[8];
} D3DKMT_QUERYSTATISTICS_VIDPNSOURCE_INFORMATION;

typedef union _D3DKMT_QUERYSTATISTICS_RESULT {
    D3DKMT_QUERYSTATISTICS_ADAPTER_INFORMATION AdapterInformation;
    D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION SegmentInformation;
    D3DKMT_QUERYSTATISTICS_NODE_INFORMATION NodeInformation;
    D3DKMT_QUERYSTATISTICS_VIDPNSOURCE_INFORMATION VidPnSourceInformation;
} D3DKMT_QUERYSTATISTICS_RESULT;

typedef struct _D3DKMT_QUERYSTATISTICS {
    D3DKMT_QUERYSTATISTICS_TYPE Type;
    LUID AdapterLuid;
    HANDLE hProcess;
    D3DKMT_QUERYSTATISTICS_RESULT QueryResult;
    union {
        struct {
            ULONG SegmentId;
        } QuerySegment;
        struct {
            ULONG NodeId;
        } QueryNode;
        struct {
            ULONG VidPnSourceId;
        } QueryVidPnSource;
    };
} D3DKMT_QUERYSTATISTICS;

/* ---- the thunks -------------------------------------------------------------
 *
 * One table: T(name, argument structure). D3DKMT_WIRE_THUNKS is what the service and its client are made from. */
typedef enum _D3DKMT_SCHEDULINGPRIORITYCLASS {
    D3DKMT_SCHEDULINGPRIORITYCLASS_IDLE = 0,
    D3DKMT_SCHEDULINGPRIORITYCLASS_BELOW_NORMAL = 1,
    D3DKMT_SCHEDULINGPRIORITYCLASS_NORMAL = 2,
    D3DKMT_SCHEDULINGPRIORITYCLASS_ABOVE_NORMAL = 3,
    D3DKMT_SCHEDULINGPRIORITYCLASS_HIGH = 4,
    D3DKMT_SCHEDULINGPRIORITYCLASS_REALTIME = 5
} D3DKMT_SCHEDULINGPRIORITYCLASS;

/* How the two functions of a process's class, which have no structure, come to the service. */
typedef struct _D3DKMT_PROCESSPRIORITY {
    ULONGLONG Process; /* its number; 0: the caller */
    UINT Set;          /* 1: Class is set, 0: it is asked for */
    UINT Class;        /* D3DKMT_SCHEDULINGPRIORITYCLASS */
} D3DKMT_PROCESSPRIORITY;

#define D3DKMT_WIRE_THUNKS(T) D3DKMT_THUNKS(T) T(ProcessPriority, D3DKMT_PROCESSPRIORITY)
#define D3DKMT_THUNKS(T)                                                                                     \
    T(OpenAdapterFromHdc, D3DKMT_OPENADAPTERFROMHDC)                                                         \
    D3DKMT_PLAIN_THUNKS(T)
#define D3DKMT_PLAIN_THUNKS(T)                                                                               \
    T(OpenAdapterFromGdiDisplayName, D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME)                                   \
    T(CloseAdapter, CONST D3DKMT_CLOSEADAPTER)                                                               \
    T(QueryAdapterInfo, CONST D3DKMT_QUERYADAPTERINFO)                                                       \
    T(CreateDevice, D3DKMT_CREATEDEVICE)                                                                     \
    T(DestroyDevice, CONST D3DKMT_DESTROYDEVICE)                                                             \
    T(GetDeviceState, D3DKMT_GETDEVICESTATE)                                                                 \
    T(CreateContext, D3DKMT_CREATECONTEXT)                                                                   \
    T(DestroyContext, CONST D3DKMT_DESTROYCONTEXT)                                                           \
    T(SetContextSchedulingPriority, CONST D3DKMT_SETCONTEXTSCHEDULINGPRIORITY)                               \
    T(GetContextSchedulingPriority, D3DKMT_GETCONTEXTSCHEDULINGPRIORITY)                                     \
    T(CreateAllocation, D3DKMT_CREATEALLOCATION)                                                             \
    T(DestroyAllocation, CONST D3DKMT_DESTROYALLOCATION)                                                     \
    T(QueryAllocationResidency, CONST D3DKMT_QUERYALLOCATIONRESIDENCY)                                       \
    T(SetAllocationPriority, CONST D3DKMT_SETALLOCATIONPRIORITY)                                             \
    T(QueryResourceInfo, D3DKMT_QUERYRESOURCEINFO)                                                           \
    T(OpenResource, D3DKMT_OPENRESOURCE)                                                                     \
    T(Lock, D3DKMT_LOCK)                                                                                     \
    T(Unlock, CONST D3DKMT_UNLOCK)                                                                           \
    T(Render, D3DKMT_RENDER)                                                                                 \
    T(Present, CONST D3DKMT_PRESENT)                                                                         \
    T(CreateSynchronizationObject2, D3DKMT_CREATESYNCHRONIZATIONOBJECT2)                                     \
    T(DestroySynchronizationObject, CONST D3DKMT_DESTROYSYNCHRONIZATIONOBJECT)                               \
    T(WaitForSynchronizationObject2, CONST D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2)                             \
    T(SignalSynchronizationObject2, CONST D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2)                               \
    T(CreateKeyedMutex, D3DKMT_CREATEKEYEDMUTEX)                                                             \
    T(OpenKeyedMutex, D3DKMT_OPENKEYEDMUTEX)                                                                 \
    T(DestroyKeyedMutex, CONST D3DKMT_DESTROYKEYEDMUTEX)                                                     \
    T(AcquireKeyedMutex, D3DKMT_ACQUIREKEYEDMUTEX)                                                           \
    T(ReleaseKeyedMutex, D3DKMT_RELEASEKEYEDMUTEX)                                                           \
    T(WaitForIdle, CONST D3DKMT_WAITFORIDLE)                                                                 \
    T(Escape, CONST D3DKMT_ESCAPE)                                                                           \
    T(WaitForVerticalBlankEvent, CONST D3DKMT_WAITFORVERTICALBLANKEVENT)                                     \
    T(GetScanLine, D3DKMT_GETSCANLINE)                                                                       \
    T(GetDisplayModeList, D3DKMT_GETDISPLAYMODELIST)                                                         \
    T(SetDisplayMode, CONST D3DKMT_SETDISPLAYMODE)                                                           \
    T(SetVidPnSourceOwner, CONST D3DKMT_SETVIDPNSOURCEOWNER)                                                 \
    T(QueryStatistics, D3DKMT_QUERYSTATISTICS)                                                               \
    T(SetGammaRamp, CONST D3DKMT_SETGAMMARAMP)

/* Programs call thunks by the convention of their platform. */
#if defined(_WIN32)
#define D3DKMTAPI APIENTRY
#else
#define D3DKMTAPI
#endif
#if defined(D3DKMT_CLIENT) /* who has them */
#define D3DKMT_IMPORT
#else
#define D3DKMT_IMPORT NTKERNELAPI
#endif
#define D3DKMT_DECLARE(name, type) D3DKMT_IMPORT NTSTATUS D3DKMTAPI D3DKMT##name(type *arg);
D3DKMT_THUNKS(D3DKMT_DECLARE)
#undef D3DKMT_DECLARE
/* Made from two of the above, in the client. */
D3DKMT_IMPORT NTSTATUS D3DKMTAPI D3DKMTOpenAdapterFromDeviceName(D3DKMT_OPENADAPTERFROMDEVICENAME *arg);
/* Of all work of a process: a context's priority counts within its class. A process's handle is its number here, and (HANDLE)-1, as
 * GetCurrentProcess() has it, the caller. STATUS_PRIVILEGE_NOT_HELD: above NORMAL without privileges; STATUS_INVALID_HANDLE: no process of
 * the caller's user that uses the service; STATUS_INVALID_PARAMETER: no such class. */
D3DKMT_IMPORT NTSTATUS D3DKMTAPI
D3DKMTSetProcessSchedulingPriorityClass(HANDLE hProcess, D3DKMT_SCHEDULINGPRIORITYCLASS Priority);
D3DKMT_IMPORT NTSTATUS D3DKMTAPI
D3DKMTGetProcessSchedulingPriorityClass(HANDLE hProcess, D3DKMT_SCHEDULINGPRIORITYCLASS *pPriority);

WDDM_SIZE(D3DKMT_QUERY_DEVICE_IDS, 28);
WDDM_SIZE(D3DKMT_QUERYSTATISTICS_ADAPTER_INFORMATION, 776);
WDDM_SIZE(D3DKMT_QUERYSTATISTICS, 808);

WDDM_C_END
