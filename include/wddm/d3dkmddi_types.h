/* SPDX-License-Identifier: MIT */
/* d3dkmddi_types.h: what dxgkrnl and a WDDM 1.1 display miniport say to each other about rendering, memory and display.
 *
 * Names, members, order and values: the WDK's public documentation of d3dkmddi.h, at the Windows 7 level
 * (DXGKDDI_INTERFACE_VERSION_WIN7); members that later versions added are absent.
 */
#pragma once

#include "wddm/d3dkmdt.h"
#include "wddm/d3dkmdt_opm.h"
#include "wddm/ntddk.h"

/* ---- QueryAdapterInfo ---------------------------------------------------- */

typedef enum _DXGK_QUERYADAPTERINFOTYPE {
    DXGKQAITYPE_UMDRIVERPRIVATE = 0,
    DXGKQAITYPE_DRIVERCAPS = 1,
    DXGKQAITYPE_QUERYSEGMENT = 2,
    DXGKQAITYPE_RESERVED = 3,
    DXGKQAITYPE_QUERYSEGMENT2 = 4,
    DXGKQAITYPE_DISPLAY_DRIVERCAPS_EXTENSION = 16 /* later than Windows 7 */
} DXGK_QUERYADAPTERINFOTYPE;

typedef struct _DXGKARG_QUERYADAPTERINFO {
    DXGK_QUERYADAPTERINFOTYPE Type;
    VOID *pInputData;
    UINT InputDataSize;
    VOID *pOutputData;
    UINT OutputDataSize;
} DXGKARG_QUERYADAPTERINFO;

typedef struct _DXGK_POINTERFLAGS {
    union {
        struct {
            UINT Monochrome : 1;
            UINT Color : 1;
            UINT MaskedColor : 1;
            UINT Reserved : 29;
        };
        UINT Value;
    };
} DXGK_POINTERFLAGS;
typedef struct _DXGK_GAMMARAMPCAPS {
    union {
        struct {
            UINT Gamma_Rgb256x3x16 : 1;
            UINT Reserved : 31;
        };
        UINT Value;
    };
} DXGK_GAMMARAMPCAPS;
typedef struct _DXGK_PRESENTATIONCAPS {
    union {
        struct {
            UINT NoScreenToScreenBlt : 1;
            UINT NoOverlapScreenBlt : 1;
            UINT SupportKernelModeCommandBuffer : 1;
            UINT NoSameBitmapAlphaBlend : 1;
            UINT NoSameBitmapStretchBlt : 1;
            UINT NoSameBitmapTransparentBlt : 1;
            UINT NoSameBitmapOverlappedAlphaBlend : 1;
            UINT NoSameBitmapOverlappedStretchBlt : 1;
            UINT DriverSupportsCddDwmInterop : 1;
            UINT Reserved0 : 1;
            UINT AlignmentShift : 4;
            UINT MaxTextureWidthShift : 3;
            UINT MaxTextureHeightShift : 3;
            UINT SupportAllBltRops : 1;
            UINT SupportMirrorStretchBlt : 1;
            UINT SupportMonoStretchBltModes : 1;
            UINT StagingRectStartPitchAligned : 1;
            UINT NoSameBitmapBitBlt : 1;
            UINT NoSameBitmapOverlappedBitBlt : 1;
            UINT Reserved1 : 1;
            UINT NoTempSurfaceForClearTypeBlend : 1;
            UINT Reserved : 4;
        };
        UINT Value;
    };
} DXGK_PRESENTATIONCAPS;
typedef struct _DXGK_FLIPCAPS {
    union {
        struct {
            UINT FlipOnVSyncWithNoWait : 1;
            UINT FlipOnVSyncMmIo : 1;
            UINT FlipInterval : 1;
            UINT FlipImmediateMmIo : 1;
            UINT Reserved : 28;
        };
        UINT Value;
    };
} DXGK_FLIPCAPS;
typedef struct _DXGK_VIDSCHCAPS {
    union {
        struct {
            UINT MultiEngineAware : 1;
            UINT VSyncPowerSaveAware : 1;
            UINT Reserved : 30;
        };
        UINT Value;
    };
} DXGK_VIDSCHCAPS;

typedef struct _DXGK_VIDMMCAPS {
    union {
        struct {
            UINT OutOfOrderLock : 1;
            UINT DedicatedPagingEngine : 1;
            UINT PagingEngineCanSwizzle : 1;
            UINT Reserved : 29;
        };
        UINT Value;
    };
    UINT PagingNode;
} DXGK_VIDMMCAPS;

#define DXGK_MAX_ASYMETRICAL_PROCESSING_NODES 64

typedef struct _DXGK_GPUENGINETOPOLOGY {
    UINT NbAsymetricProcessingNodes;
    UINT Reserved[64];
} DXGK_GPUENGINETOPOLOGY;

typedef enum _DXGK_WDDMVERSION { DXGKDDI_WDDMv1 = 0x1000, DXGKDDI_WDDMv1_2 = 0x1200 } DXGK_WDDMVERSION;

typedef struct _DXGK_VIRTUALADDRESSCAPS {
    union {
        struct {
            UINT PrivilegedMemorySupported : 1;
            UINT ReadOnlyMemorySupported : 1;
            UINT Reserved : 30;
        };
        UINT Value;
    };
    UINT VirtualAddressBitCount;
    UINT PageTableCoverageBitCount;
    UINT PageDirectoryEntrySize;
    UINT PageDirectorySegment;
    UINT PageTableSegment;
    UINT IdealGPUPageSize;
} DXGK_VIRTUALADDRESSCAPS;

typedef struct _DXGK_DMABUFFERCAPS {
    struct {
        UINT Size;
        UINT PrivateDriverDataSize;
        UINT SegmentId;
        UINT AllocationGroup;
        UINT Reserved[16];
    } PresentDmaBuffer, PagingDmaBuffer;
} DXGK_DMABUFFERCAPS;

typedef struct _DXGK_DRIVERCAPS {
    PHYSICAL_ADDRESS HighestAcceptableAddress;
    UINT MaxAllocationListSlotId;
    SIZE_T ApertureSegmentCommitLimit;
    UINT MaxPointerWidth;
    UINT MaxPointerHeight;
    DXGK_POINTERFLAGS PointerCaps;
    UINT InterruptMessageNumber;
    UINT NumberOfSwizzlingRanges;
    UINT MaxOverlays;
    DXGK_GAMMARAMPCAPS GammaRampCaps;
    DXGK_PRESENTATIONCAPS PresentationCaps;
    UINT MaxQueuedFlipOnVSync;
    DXGK_FLIPCAPS FlipCaps;
    DXGK_VIDSCHCAPS SchedulingCaps;
    DXGK_VIDMMCAPS MemoryManagementCaps;
    DXGK_GPUENGINETOPOLOGY GpuEngineTopology;
    DXGK_WDDMVERSION WDDMVersion; /* reserved, zero, for drivers of DXGKDDI_INTERFACE_VERSION_WIN7 and up */
    DXGK_VIRTUALADDRESSCAPS VirtualAddressCaps;
    DXGK_DMABUFFERCAPS DmaBufferCaps;
#if WDDM_WIN8
    struct {
        UINT GraphicsPreemptionGranularity, ComputePreemptionGranularity;
    } PreemptionCaps;
    BOOLEAN SupportNonVGA;
    BOOLEAN SupportSmoothRotation;
    BOOLEAN SupportPerEngineTDR;
    BOOLEAN SupportDirectFlip;
    BOOLEAN SupportMultiPlaneOverlay;
    BOOLEAN SupportRuntimePowerManagement;
    BOOLEAN SupportSurpriseRemovalInHibernation;
#endif
} DXGK_DRIVERCAPS;

typedef struct _DXGK_SEGMENTFLAGS {
    union {
        struct {
            UINT Aperture : 1;
            UINT Agp : 1;
            UINT CpuVisible : 1;
            UINT UseBanking : 1;
            UINT CacheCoherent : 1;
            UINT PitchAlignment : 1;
            UINT PopulatedFromSystemMemory : 1;
            UINT Reserved : 25;
        };
        UINT Value;
    };
} DXGK_SEGMENTFLAGS;

typedef struct _DXGK_SEGMENTDESCRIPTOR {
    PHYSICAL_ADDRESS BaseAddress;
    PHYSICAL_ADDRESS CpuTranslatedAddress;
    SIZE_T Size;
    UINT NbOfBanks;
    SIZE_T *pBankRangeTable;
    SIZE_T CommitLimit;
    DXGK_SEGMENTFLAGS Flags;
} DXGK_SEGMENTDESCRIPTOR;

typedef struct _DXGK_QUERYSEGMENTIN {
    PHYSICAL_ADDRESS AgpApertureBase;
    LARGE_INTEGER AgpApertureSize;
    DXGK_SEGMENTFLAGS AgpFlags;
} DXGK_QUERYSEGMENTIN;

typedef struct _DXGK_QUERYSEGMENTOUT {
    UINT NbSegment;
    DXGK_SEGMENTDESCRIPTOR *pSegmentDescriptor; /* NULL in the first of the two passes */
    UINT PagingBufferSegmentId;
    UINT PagingBufferSize;
    UINT PagingBufferPrivateDataSize;
} DXGK_QUERYSEGMENTOUT;

/* ---- devices and contexts ------------------------------------------------ */

typedef struct _DXGK_CREATEDEVICEFLAGS {
    union {
        struct {
            UINT SystemDevice : 1;
            UINT GdiDevice : 1;
            UINT Reserved : 30;
        };
        UINT Value;
    };
} DXGK_CREATEDEVICEFLAGS;
typedef struct _DXGK_DEVICEINFOFLAGS {
    union {
        struct {
            UINT GuaranteedDmaBufferContract : 1;
            UINT Reserved : 31;
        };
        UINT Value;
    };
} DXGK_DEVICEINFOFLAGS;

typedef struct _DXGK_DEVICEINFO {
    UINT DmaBufferSize;
    UINT DmaBufferSegmentSet;
    UINT DmaBufferPrivateDataSize;
    UINT AllocationListSize;
    UINT PatchLocationListSize;
    DXGK_DEVICEINFOFLAGS Flags;
} DXGK_DEVICEINFO;

typedef struct _DXGKARG_CREATEDEVICE {
    HANDLE hDevice; /* in: dxgkrnl's, out: the miniport's */
    union {
        DXGK_CREATEDEVICEFLAGS Flags; /* in */
        DXGK_DEVICEINFO *pInfo;       /* out, when the driver supports no contexts */
    };
} DXGKARG_CREATEDEVICE;

typedef struct _DXGK_CREATECONTEXTFLAGS {
    union {
        struct {
            UINT SystemContext : 1;
            UINT GdiContext : 1;
            UINT Reserved : 30;
        };
        UINT Value;
    };
} DXGK_CREATECONTEXTFLAGS;

typedef struct _DXGK_CONTEXTINFO {
    UINT DmaBufferSize;
    UINT DmaBufferSegmentSet;
    UINT DmaBufferPrivateDataSize;
    UINT AllocationListSize;
    UINT PatchLocationListSize;
    UINT DmaBufferAllocationGroup;
} DXGK_CONTEXTINFO;

typedef struct _DXGKARG_CREATECONTEXT {
    HANDLE hContext; /* in: dxgkrnl's, out: the miniport's */
    UINT NodeOrdinal;
    UINT EngineAffinity;
    DXGK_CREATECONTEXTFLAGS Flags;
    VOID *pPrivateDriverData;
    UINT PrivateDriverDataSize;
    DXGK_CONTEXTINFO ContextInfo; /* out */
} DXGKARG_CREATECONTEXT;

/* ---- allocations --------------------------------------------------------- */

typedef struct _DXGK_SEGMENTBANKPREFERENCE {
    union {
        struct {
            UINT Bank0 : 7;
            UINT Direction0 : 1;
            UINT Bank1 : 7;
            UINT Direction1 : 1;
            UINT Bank2 : 7;
            UINT Direction2 : 1;
            UINT Bank3 : 7;
            UINT Direction3 : 1;
        };
        UINT Value;
    };
} DXGK_SEGMENTBANKPREFERENCE;

typedef struct _DXGK_SEGMENTPREFERENCE {
    union {
        struct {
            UINT SegmentId0 : 5;
            UINT Direction0 : 1;
            UINT SegmentId1 : 5;
            UINT Direction1 : 1;
            UINT SegmentId2 : 5;
            UINT Direction2 : 1;
            UINT SegmentId3 : 5;
            UINT Direction3 : 1;
            UINT SegmentId4 : 5;
            UINT Direction4 : 1;
            UINT Reserved : 2;
        };
        UINT Value;
    };
} DXGK_SEGMENTPREFERENCE;

typedef struct _DXGK_ALLOCATIONINFOFLAGS {
    union {
        struct {
            UINT CpuVisible : 1;
            UINT PermanentSysMem : 1;
            UINT Cached : 1;
            UINT Protected : 1;
            UINT ExistingSysMem : 1;
            UINT ExistingKernelSysMem : 1;
            UINT FromEndOfSegment : 1;
            UINT Swizzled : 1;
            UINT Overlay : 1;
            UINT Capture : 1;
            UINT UseAlternateVA : 1;
            UINT SynchronousPaging : 1;
            UINT LinkMirrored : 1;
            UINT LinkInstanced : 1;
            UINT Reserved : 12;
        };
        UINT Value;
    };
} DXGK_ALLOCATIONINFOFLAGS;

typedef struct _DXGK_ALLOCATIONUSAGEINFO1 {
    union {
        struct {
            UINT PrivateFormat : 1;
            UINT Swizzled : 1;
            UINT MipMap : 1;
            UINT Cube : 1;
            UINT Volume : 1;
            UINT Vertex : 1;
            UINT Index : 1;
            UINT Reserved : 25;
        };
        UINT Value;
    } Flags;
    union {
        D3DDDIFORMAT Format;
        UINT PrivateFormat;
    };
    UINT SwizzledFormat;
    UINT ByteOffset;
    UINT Width;
    UINT Height;
    UINT Pitch;
    UINT Depth;
    UINT SlicePitch;
} DXGK_ALLOCATIONUSAGEINFO1;

typedef struct _DXGK_ALLOCATIONUSAGEHINT {
    UINT Version;
    DXGK_ALLOCATIONUSAGEINFO1 v1;
} DXGK_ALLOCATIONUSAGEHINT;

typedef struct _DXGK_ALLOCATIONINFO {
    VOID *pPrivateDriverData;
    UINT PrivateDriverDataSize;
    UINT Alignment;
    SIZE_T Size;
    SIZE_T PitchAlignedSize;
    DXGK_SEGMENTBANKPREFERENCE HintedBank;
    DXGK_SEGMENTPREFERENCE PreferredSegment;
    UINT SupportedReadSegmentSet; /* bit n: segment n + 1 */
    UINT SupportedWriteSegmentSet;
    UINT EvictionSegmentSet;
    UINT MaximumRenamingListLength;
    HANDLE hAllocation; /* out: the miniport's */
    DXGK_ALLOCATIONINFOFLAGS Flags;
    DXGK_ALLOCATIONUSAGEHINT *pAllocationUsageHint;
    UINT AllocationPriority;
} DXGK_ALLOCATIONINFO;

typedef struct _DXGK_CREATEALLOCATIONFLAGS {
    union {
        struct {
            UINT Resource : 1;
            UINT Reserved : 31;
        };
        UINT Value;
    };
} DXGK_CREATEALLOCATIONFLAGS;

typedef struct _DXGKARG_CREATEALLOCATION {
    CONST VOID *pPrivateDriverData;
    UINT PrivateDriverDataSize;
    UINT NumAllocations;
    DXGK_ALLOCATIONINFO *pAllocationInfo;
    HANDLE hResource;
    DXGK_CREATEALLOCATIONFLAGS Flags;
} DXGKARG_CREATEALLOCATION;

typedef struct _DXGK_DESTROYALLOCATIONFLAGS {
    union {
        struct {
            UINT DestroyResource : 1;
            UINT Reserved : 31;
        };
        UINT Value;
    };
} DXGK_DESTROYALLOCATIONFLAGS;

typedef struct _DXGKARG_DESTROYALLOCATION {
    UINT NumAllocations;
    CONST HANDLE *pAllocationList;
    HANDLE hResource;
    DXGK_DESTROYALLOCATIONFLAGS Flags;
} DXGKARG_DESTROYALLOCATION;

typedef struct _DXGKARG_DESCRIBEALLOCATION {
    HANDLE hAllocation;
    UINT Width;
    UINT Height;
    D3DDDIFORMAT Format;
    D3DDDI_MULTISAMPLINGMETHOD MultisampleMethod;
    D3DDDI_RATIONAL RefreshRate;
    UINT PrivateDriverFormatAttribute;
} DXGKARG_DESCRIBEALLOCATION;

typedef struct _DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA {
    D3DKMDT_STANDARDALLOCATION_TYPE StandardAllocationType;
    union {
        D3DKMDT_SHAREDPRIMARYSURFACEDATA *pCreateSharedPrimarySurfaceData;
        D3DKMDT_SHADOWSURFACEDATA *pCreateShadowSurfaceData;
        D3DKMDT_STAGINGSURFACEDATA *pCreateStagingSurfaceData;
        D3DKMDT_GDISURFACEDATA *pCreateGdiSurfaceData;
    };
    VOID *pAllocationPrivateDriverData; /* NULL in the pass that asks for the sizes */
    UINT AllocationPrivateDriverDataSize;
    VOID *pResourcePrivateDriverData;
    UINT ResourcePrivateDriverDataSize;
} DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA;

typedef struct _DXGK_OPENALLOCATIONINFO {
    D3DKMT_HANDLE hAllocation;
    CONST VOID *pPrivateDriverData;
    UINT PrivateDriverDataSize;
    HANDLE hDeviceSpecificAllocation; /* out: the miniport's */
} DXGK_OPENALLOCATIONINFO;

typedef struct _DXGK_OPENALLOCATIONFLAGS {
    union {
        struct {
            UINT Create : 1;
            UINT Reserved : 31;
        };
        struct { /* as Windows 8 has them */
            UINT : 1;
            UINT ReadOnly : 1;
        };
        UINT Value;
    };
} DXGK_OPENALLOCATIONFLAGS;

typedef struct _DXGKARG_OPENALLOCATION {
    UINT NumAllocations;
    DXGK_OPENALLOCATIONINFO *pOpenAllocation;
    CONST VOID *pPrivateDriverData;
    UINT PrivateDriverSize;
    DXGK_OPENALLOCATIONFLAGS Flags;
} DXGKARG_OPENALLOCATION;

typedef struct _DXGKARG_CLOSEALLOCATION {
    UINT NumAllocations;
    CONST HANDLE *pOpenHandleList;
} DXGKARG_CLOSEALLOCATION;

typedef struct _DXGKARG_ACQUIRESWIZZLINGRANGE {
    HANDLE hAllocation;
    UINT PrivateDriverData;
    UINT RangeId;
    UINT SegmentId;
    SIZE_T RangeSize;
    PHYSICAL_ADDRESS CPUTranslatedAddress;
} DXGKARG_ACQUIRESWIZZLINGRANGE;

typedef struct _DXGKARG_RELEASESWIZZLINGRANGE {
    HANDLE hAllocation;
    UINT PrivateDriverData;
    UINT RangeId;
} DXGKARG_RELEASESWIZZLINGRANGE;

/* ---- rendering ----------------------------------------------------------- */

typedef struct _DXGK_ALLOCATIONLIST {
    HANDLE hDeviceSpecificAllocation;
    struct {
        UINT WriteOperation : 1;
        UINT SegmentId : 5; /* 0: not in memory that the GPU reaches */
        UINT Reserved : 26;
    };
    PHYSICAL_ADDRESS PhysicalAddress;
} DXGK_ALLOCATIONLIST;

#define DXGK_PRESENT_SOURCE_INDEX      1
#define DXGK_PRESENT_DESTINATION_INDEX 2
#define DXGK_PRESENT_MAX_INDEX         DXGK_PRESENT_DESTINATION_INDEX

typedef struct _DXGKARG_RENDER {
    CONST VOID *pCommand;
    UINT CommandLength;
    VOID *pDmaBuffer; /* in: where to write; out: behind what was written */
    UINT DmaSize;
    VOID *pDmaBufferPrivateData; /* as pDmaBuffer */
    UINT DmaBufferPrivateDataSize;
    DXGK_ALLOCATIONLIST *pAllocationList;
    UINT AllocationListSize;
    D3DDDI_PATCHLOCATIONLIST *pPatchLocationListIn;
    UINT PatchLocationListInSize;
    D3DDDI_PATCHLOCATIONLIST *pPatchLocationListOut; /* as pDmaBuffer */
    UINT PatchLocationListOutSize;
    UINT MultipassOffset;
    UINT DmaBufferSegmentId;
    PHYSICAL_ADDRESS DmaBufferPhysicalAddress;
} DXGKARG_RENDER;

typedef struct _DXGK_PRESENTFLAGS {
    union {
        struct {
            UINT Blt : 1;
            UINT ColorFill : 1;
            UINT Flip : 1;
            UINT FlipWithNoWait : 1;
            UINT SrcColorKey : 1;
            UINT DstColorKey : 1;
            UINT LinearToSrgb : 1;
            UINT Rotate : 1;
            UINT Reserved : 24;
        };
        UINT Value;
    };
} DXGK_PRESENTFLAGS;

typedef struct _DXGK_PRESENTALLOCATIONINFO { /* of contexts with virtual addresses */
    HANDLE hDeviceSpecificAllocation;
    D3DGPU_VIRTUAL_ADDRESS AllocationVirtualAddress;
    PHYSICAL_ADDRESS PhysicalAddress;
    UINT SegmentId;
} DXGK_PRESENTALLOCATIONINFO;

typedef struct _DXGKARG_PRESENT {
    VOID *pDmaBuffer; /* as in DXGKARG_RENDER */
    UINT DmaSize;
    VOID *pDmaBufferPrivateData;
    UINT DmaBufferPrivateDataSize;
    union {
        DXGK_ALLOCATIONLIST
        *pAllocationList; /* [DXGK_PRESENT_SOURCE_INDEX], [DXGK_PRESENT_DESTINATION_INDEX] */
        struct _DXGK_PRESENTALLOCATIONINFO *pAllocationInfo;
    };
    D3DDDI_PATCHLOCATIONLIST *pPatchLocationListOut;
    UINT PatchLocationListOutSize;
    UINT MultipassOffset;
    UINT Color;
    RECT DstRect;
    RECT SrcRect;
    UINT SubRectCnt;
    CONST RECT *pDstSubRects;
    D3DDDI_FLIPINTERVAL_TYPE FlipInterval;
    DXGK_PRESENTFLAGS Flags;
    UINT DmaBufferSegmentId;
    PHYSICAL_ADDRESS DmaBufferPhysicalAddress;
} DXGKARG_PRESENT;

typedef struct _DXGK_PATCHFLAGS {
    union {
        struct {
            UINT Paging : 1;
            UINT Present : 1;
            UINT RedirectedPresent : 1;
            UINT NullRendering : 1;
            UINT Reserved : 28;
        };
        UINT Value;
    };
} DXGK_PATCHFLAGS;

typedef struct _DXGKARG_PATCH {
    union {
        HANDLE hDevice;
        HANDLE hContext;
    };
    UINT DmaBufferSegmentId;
    PHYSICAL_ADDRESS DmaBufferPhysicalAddress;
    VOID *pDmaBuffer;
    UINT DmaBufferSize;
    UINT DmaBufferSubmissionStartOffset;
    UINT DmaBufferSubmissionEndOffset;
    VOID *pDmaBufferPrivateData;
    UINT DmaBufferPrivateDataSize;
    UINT DmaBufferPrivateDataSubmissionStartOffset;
    UINT DmaBufferPrivateDataSubmissionEndOffset;
    CONST DXGK_ALLOCATIONLIST *pAllocationList;
    UINT AllocationListSize;
    CONST D3DDDI_PATCHLOCATIONLIST *pPatchLocationList;
    UINT PatchLocationListSize;
    UINT PatchLocationListSubmissionStart;
    UINT PatchLocationListSubmissionLength;
    UINT SubmissionFenceId;
    DXGK_PATCHFLAGS Flags;
    UINT EngineOrdinal;
} DXGKARG_PATCH;

typedef struct _DXGK_SUBMITCOMMANDFLAGS {
    union {
        struct {
            UINT Paging : 1;
            UINT Present : 1;
            UINT RedirectedPresent : 1;
            UINT NullRendering : 1;
            UINT Flip : 1;
            UINT FlipWithNoWait : 1;
            UINT Reserved : 26;
        };
        UINT Value;
    };
} DXGK_SUBMITCOMMANDFLAGS;

typedef struct _DXGKARG_SUBMITCOMMAND {
    union {
        HANDLE hDevice;
        HANDLE hContext;
    };
    UINT DmaBufferSegmentId;
    PHYSICAL_ADDRESS DmaBufferPhysicalAddress;
    UINT DmaBufferSize;
    UINT DmaBufferSubmissionStartOffset;
    UINT DmaBufferSubmissionEndOffset;
    VOID *pDmaBufferPrivateData;
    UINT DmaBufferPrivateDataSize;
    UINT DmaBufferPrivateDataSubmissionStartOffset;
    UINT DmaBufferPrivateDataSubmissionEndOffset;
    UINT SubmissionFenceId;
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
    D3DDDI_FLIPINTERVAL_TYPE FlipInterval;
    DXGK_SUBMITCOMMANDFLAGS Flags;
    UINT EngineOrdinal;
    ULONGLONG DmaBufferVirtualAddress;
} DXGKARG_SUBMITCOMMAND;

typedef struct _DXGK_PREEMPTCOMMANDFLAGS {
    union {
        struct {
            UINT Reserved : 32;
        };
        UINT Value;
    };
} DXGK_PREEMPTCOMMANDFLAGS;

typedef struct _DXGKARG_PREEMPTCOMMAND {
    UINT PreemptionFenceId;
    UINT NodeOrdinal;
    UINT EngineOrdinal;
    DXGK_PREEMPTCOMMANDFLAGS Flags;
} DXGKARG_PREEMPTCOMMAND;

typedef struct _DXGKARG_QUERYCURRENTFENCE {
    UINT CurrentFence;
    UINT NodeOrdinal;
    UINT EngineOrdinal;
} DXGKARG_QUERYCURRENTFENCE;

typedef enum _DXGK_BUILDPAGINGBUFFER_OPERATION {
    DXGK_OPERATION_TRANSFER = 0,
    DXGK_OPERATION_FILL = 1,
    DXGK_OPERATION_DISCARD_CONTENT = 2,
    DXGK_OPERATION_READ_PHYSICAL = 3,
    DXGK_OPERATION_WRITE_PHYSICAL = 4,
    DXGK_OPERATION_MAP_APERTURE_SEGMENT = 5,
    DXGK_OPERATION_UNMAP_APERTURE_SEGMENT = 6,
    DXGK_OPERATION_SPECIAL_LOCK_TRANSFER = 7
} DXGK_BUILDPAGINGBUFFER_OPERATION;

typedef struct _DXGK_TRANSFERFLAGS {
    union {
        struct {
            UINT Swizzle : 1;
            UINT Unswizzle : 1;
            UINT AllocationIsIdle : 1;
            UINT TransferStart : 1;
            UINT TransferEnd : 1;
            UINT Reserved : 27;
        };
        UINT Value;
    };
} DXGK_TRANSFERFLAGS;
typedef struct _DXGK_DISCARDCONTENTFLAGS {
    union {
        struct {
            UINT AllocationIsIdle : 1;
            UINT Reserved : 31;
        };
        UINT Value;
    };
} DXGK_DISCARDCONTENTFLAGS;
typedef struct _DXGK_MAPAPERTUREFLAGS {
    union {
        struct {
            UINT CacheCoherent : 1;
            UINT Reserved : 31;
        };
        UINT Value;
    };
} DXGK_MAPAPERTUREFLAGS;

typedef struct _DXGKARG_BUILDPAGINGBUFFER {
    VOID *pDmaBuffer;
    UINT DmaSize;
    VOID *pDmaBufferPrivateData;
    UINT DmaBufferPrivateDataSize;
    DXGK_BUILDPAGINGBUFFER_OPERATION Operation;
    UINT MultipassOffset;
    union {
        struct {
            HANDLE hAllocation;
            UINT TransferOffset;
            SIZE_T TransferSize;
            struct {
                UINT SegmentId;
                union {
                    LARGE_INTEGER SegmentAddress;
                    MDL *pMdl;
                };
            } Source;
            struct {
                UINT SegmentId;
                union {
                    LARGE_INTEGER SegmentAddress;
                    MDL *pMdl;
                };
            } Destination;
            DXGK_TRANSFERFLAGS Flags;
            UINT MdlOffset;
        } Transfer;
        struct {
            HANDLE hAllocation;
            SIZE_T FillSize;
            UINT FillPattern;
            struct {
                UINT SegmentId;
                LARGE_INTEGER SegmentAddress;
            } Destination;
        } Fill;
        struct {
            HANDLE hAllocation;
            DXGK_DISCARDCONTENTFLAGS Flags;
            UINT SegmentId;
            PHYSICAL_ADDRESS SegmentAddress;
        } DiscardContent;
        struct {
            UINT SegmentId;
            PHYSICAL_ADDRESS PhysicalAddress;
        } ReadPhysical;
        struct {
            UINT SegmentId;
            PHYSICAL_ADDRESS PhysicalAddress;
        } WritePhysical;
        struct {
            HANDLE hDevice;
            HANDLE hAllocation;
            UINT SegmentId;
            SIZE_T OffsetInPages;
            SIZE_T NumberOfPages;
            PMDL pMdl;
            DXGK_MAPAPERTUREFLAGS Flags;
            ULONG MdlOffset;
        } MapApertureSegment;
        struct {
            HANDLE hDevice;
            HANDLE hAllocation;
            UINT SegmentId;
            SIZE_T OffsetInPages;
            SIZE_T NumberOfPages;
            PHYSICAL_ADDRESS DummyPage;
        } UnmapApertureSegment;
        struct {
            HANDLE hAllocation;
            UINT TransferOffset;
            SIZE_T TransferSize;
            struct {
                UINT SegmentId;
                union {
                    LARGE_INTEGER SegmentAddress;
                    MDL *pMdl;
                };
            } Source;
            struct {
                UINT SegmentId;
                union {
                    LARGE_INTEGER SegmentAddress;
                    MDL *pMdl;
                };
            } Destination;
            DXGK_TRANSFERFLAGS Flags;
            UINT SwizzlingRangeId;
            UINT SwizzlingRangeData;
        } SpecialLockTransfer;
        struct {
            HANDLE hAllocation;
            ULONGLONG AllocationOffsetInBytes;
            ULONGLONG TransferOffsetInBytes;
            ULONGLONG TransferSizeInBytes;
            ULONGLONG SourceVirtualAddress;
            ULONGLONG DestinationVirtualAddress;
            UINT Flags;
            UINT SwizzlingRangeId;
            UINT SwizzlingRangeData;
        } TransferVirtual;
        struct {
            HANDLE hAllocation;
            ULONGLONG AllocationOffsetInBytes;
            ULONGLONG FillSizeInBytes;
            UINT FillPattern;
            ULONGLONG DestinationVirtualAddress;
        } FillVirtual;
        struct {
            UINT Reserved[64];
        } Reserved;
    };
    HANDLE hSystemContext;
} DXGKARG_BUILDPAGINGBUFFER;

/* ---- interrupts, diagnosis, escapes -------------------------------------- */

typedef enum _DXGK_INTERRUPT_TYPE {
    DXGK_INTERRUPT_DMA_COMPLETED = 1,
    DXGK_INTERRUPT_DMA_PREEMPTED = 2,
    DXGK_INTERRUPT_CRTC_VSYNC = 3,
    DXGK_INTERRUPT_DMA_FAULTED = 4,
#if WDDM_WIN8
    DXGK_INTERRUPT_DISPLAYONLY_VSYNC = 5,
    DXGK_INTERRUPT_DISPLAYONLY_PRESENT_PROGRESS = 6
#endif
} DXGK_INTERRUPT_TYPE;

#if WDDM_WIN8
typedef enum _DXGK_PRESENT_DISPLAYONLY_PROGRESS_ID {
    DXGK_PRESENT_DISPLAYONLY_PROGRESS_ID_UNINITIALIZED = 0,
    DXGK_PRESENT_DISPLAYONLY_PROGRESS_ID_COMPLETE = 1,
    DXGK_PRESENT_DISPLAYONLY_PROGRESS_ID_FAILED = 2
} DXGK_PRESENT_DISPLAYONLY_PROGRESS_ID;

typedef struct _DXGKARGCB_PRESENT_DISPLAYONLY_PROGRESS {
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
    DXGK_PRESENT_DISPLAYONLY_PROGRESS_ID ProgressId;
} DXGKARGCB_PRESENT_DISPLAYONLY_PROGRESS;
#endif

typedef struct _DXGKCB_NOTIFY_INTERRUPT_DATA_FLAGS {
    union {
        struct {
            UINT ValidPhysicalAdapterMask : 1;
            UINT Reserved : 31;
        };
        UINT Value;
    };
} DXGKCB_NOTIFY_INTERRUPT_DATA_FLAGS;

typedef struct _DXGKARGCB_NOTIFY_INTERRUPT_DATA {
    DXGK_INTERRUPT_TYPE InterruptType;
    union {
        struct {
            UINT SubmissionFenceId;
            UINT NodeOrdinal;
            UINT EngineOrdinal;
        } DmaCompleted;
        struct {
            UINT PreemptionFenceId;
            UINT LastCompletedFenceId;
            UINT NodeOrdinal;
            UINT EngineOrdinal;
        } DmaPreempted;
        struct {
            UINT FaultedFenceId;
            NTSTATUS Status;
            UINT NodeOrdinal;
            UINT EngineOrdinal;
        } DmaFaulted;
        struct {
            D3DDDI_VIDEO_PRESENT_TARGET_ID VidPnTargetId;
            PHYSICAL_ADDRESS PhysicalAddress;
            UINT PhysicalAdapterMask;
        } CrtcVsync;
#if WDDM_WIN8
        struct {
            D3DDDI_VIDEO_PRESENT_TARGET_ID VidPnTargetId;
        } DisplayOnlyVsync;
        DXGKARGCB_PRESENT_DISPLAYONLY_PROGRESS DisplayOnlyPresentProgress;
#endif
        struct {
            UINT Reserved[16];
        } Reserved;
    };
    DXGKCB_NOTIFY_INTERRUPT_DATA_FLAGS Flags;
} DXGKARGCB_NOTIFY_INTERRUPT_DATA;

typedef struct _DXGKARG_COLLECTDBGINFO_EXT {
    UINT BucketingKey;
    UINT CurrentDmaBufferOffset;
    UINT Reserved2;
    UINT Reserved3;
    UINT Reserved4;
    UINT Reserved5;
    UINT Reserved6;
    UINT Reserved7;
} DXGKARG_COLLECTDBGINFO_EXT;

#define VIDEO_TDR_FAILURE              0x00000116
#define VIDEO_TDR_TIMEOUT_DETECTED     0x00000117
#define VIDEO_SCHEDULER_INTERNAL_ERROR 0x00000119
#define VIDEO_DXGKRNL_FATAL_ERROR      0x00000113

typedef struct _DXGKARG_COLLECTDBGINFO {
    UINT Reason; /* VIDEO_TDR_FAILURE and so on */
    VOID *pBuffer;
    SIZE_T BufferSize;
    DXGKARG_COLLECTDBGINFO_EXT *pExtension;
} DXGKARG_COLLECTDBGINFO;

typedef struct _DXGKARG_ESCAPE {
    HANDLE hDevice;
    D3DDDI_ESCAPEFLAGS Flags;
    VOID *pPrivateDriverData;
    UINT PrivateDriverDataSize;
    HANDLE hContext;
} DXGKARG_ESCAPE;

/* ---- display ------------------------------------------------------------- */

typedef struct _DXGKARG_GETSCANLINE {
    D3DDDI_VIDEO_PRESENT_TARGET_ID VidPnTargetId;
    BOOLEAN InVerticalBlank;
    UINT ScanLine;
} DXGKARG_GETSCANLINE;

typedef struct _DXGK_SETPOINTERPOSITIONFLAGS {
    union {
        struct {
            UINT Visible : 1;
            UINT Reserved : 31;
        };
        UINT Value;
    };
} DXGK_SETPOINTERPOSITIONFLAGS;

typedef struct _DXGKARG_SETPOINTERPOSITION {
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
    INT X;
    INT Y;
    DXGK_SETPOINTERPOSITIONFLAGS Flags;
} DXGKARG_SETPOINTERPOSITION;

typedef struct _DXGKARG_SETPOINTERSHAPE {
    DXGK_POINTERFLAGS Flags;
    UINT Width;
    UINT Height;
    UINT Pitch;
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
    CONST VOID *pPixels;
    UINT XHot;
    UINT YHot;
} DXGKARG_SETPOINTERSHAPE;

typedef struct _DXGK_SETVIDPNSOURCEADDRESS_FLAGS {
    union {
        struct {
            UINT ModeChange : 1;
            UINT FlipImmediate : 1;
            UINT FlipOnNextVSync : 1;
            UINT Reserved : 29;
        };
        UINT Value;
    };
} DXGK_SETVIDPNSOURCEADDRESS_FLAGS;

typedef struct _DXGKARG_SETVIDPNSOURCEADDRESS {
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
    UINT PrimarySegment;
    PHYSICAL_ADDRESS PrimaryAddress;
    HANDLE hAllocation;
    UINT ContextCount;
    HANDLE Context[1 + D3DDDI_MAX_BROADCAST_CONTEXT];
    DXGK_SETVIDPNSOURCEADDRESS_FLAGS Flags;
} DXGKARG_SETVIDPNSOURCEADDRESS;

typedef struct _DXGKARG_SETVIDPNSOURCEVISIBILITY {
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
    BOOLEAN Visible;
} DXGKARG_SETVIDPNSOURCEVISIBILITY;

typedef struct _DXGKARG_COMMITVIDPN_FLAGS {
    UINT PathPowerTransition : 1;
    UINT PathPoweredOff : 1;
    UINT Reserved : 30;
} DXGKARG_COMMITVIDPN_FLAGS;

typedef struct _DXGKARG_COMMITVIDPN {
    D3DKMDT_HVIDPN hFunctionalVidPn;
    D3DDDI_VIDEO_PRESENT_SOURCE_ID AffectedVidPnSourceId;
    D3DKMDT_MONITOR_CONNECTIVITY_CHECKS MonitorConnectivityChecks;
    HANDLE hPrimaryAllocation;
    DXGKARG_COMMITVIDPN_FLAGS Flags;
} DXGKARG_COMMITVIDPN;

typedef struct _DXGKARG_ISSUPPORTEDVIDPN {
    D3DKMDT_HVIDPN hDesiredVidPn;
    BOOLEAN IsVidPnSupported;
} DXGKARG_ISSUPPORTEDVIDPN;

typedef enum _DXGK_RECOMMENDFUNCTIONALVIDPN_REASON {
    DXGK_RFVR_UNINITIALIZED = 0,
    DXGK_RFVR_HOTKEY = 1,
    DXGK_RFVR_USERMODE = 2,
    DXGK_RFVR_FIRMWARE = 3
} DXGK_RECOMMENDFUNCTIONALVIDPN_REASON;

typedef struct _DXGKARG_RECOMMENDFUNCTIONALVIDPN {
    UINT NumberOfVidPnTargets;
    CONST D3DDDI_VIDEO_PRESENT_TARGET_ID *pVidPnTargetPrioritizationVector;
    D3DKMDT_HVIDPN hRecommendedFunctionalVidPn;
    DXGK_RECOMMENDFUNCTIONALVIDPN_REASON RequestReason;
    VOID *pPrivateDriverData;
    UINT PrivateDriverDataSize;
} DXGKARG_RECOMMENDFUNCTIONALVIDPN;

typedef struct _DXGK_ENUM_PIVOT {
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
    D3DDDI_VIDEO_PRESENT_TARGET_ID VidPnTargetId;
} DXGK_ENUM_PIVOT;

typedef struct _DXGKARG_ENUMVIDPNCOFUNCMODALITY {
    D3DKMDT_HVIDPN hConstrainingVidPn;
    D3DKMDT_ENUMCOFUNCMODALITY_PIVOT_TYPE EnumPivotType;
    DXGK_ENUM_PIVOT EnumPivot;
} DXGKARG_ENUMVIDPNCOFUNCMODALITY;

typedef struct _DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH {
    D3DKMDT_VIDPN_PRESENT_PATH VidPnPresentPathInfo;
} DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH;

typedef enum _DXGK_RECOMMENDVIDPNTOPOLOGY_REASON {
    DXGK_RVT_UNINITIALIZED = 0,
    DXGK_RVT_INITIALIZATION_NOLKG = 1,
    DXGK_RVT_AUGMENTATION_NOLKG = 2,
    DXGK_RVT_AUGMENTATION_LKGOVERRIDE = 3,
    DXGK_RVT_INITIALIZATION_LKGOVERRIDE = 4
} DXGK_RECOMMENDVIDPNTOPOLOGY_REASON;

typedef struct _DXGKARG_RECOMMENDVIDPNTOPOLOGY {
    D3DKMDT_HVIDPN hVidPn;
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
    DXGK_RECOMMENDVIDPNTOPOLOGY_REASON RequestReason;
    D3DKMDT_HVIDPNTOPOLOGY hFallbackTopology;
} DXGKARG_RECOMMENDVIDPNTOPOLOGY;

typedef struct _DXGKARG_QUERYVIDPNHWCAPABILITY {
    D3DKMDT_HVIDPN hFunctionalVidPn;
    D3DDDI_VIDEO_PRESENT_SOURCE_ID SourceId;
    D3DDDI_VIDEO_PRESENT_TARGET_ID TargetId;
    D3DKMDT_VIDPN_HW_CAPABILITY VidPnHWCaps;
} DXGKARG_QUERYVIDPNHWCAPABILITY;

typedef struct _DXGKARG_STOPCAPTURE {
    HANDLE hAllocation;
} DXGKARG_STOPCAPTURE;

typedef struct _DXGKARG_SETDISPLAYPRIVATEDRIVERFORMAT {
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
    HANDLE PrimaryAllocation;
    UINT PrivateDriverFormatAttribute;
} DXGKARG_SETDISPLAYPRIVATEDRIVERFORMAT;

typedef struct _DXGK_OVERLAYINFO {
    HANDLE hAllocation;
    PHYSICAL_ADDRESS PhysicalAddress;
    UINT SegmentId;
    RECT DstRect;
    RECT SrcRect;
    VOID *pPrivateDriverData;
    UINT PrivateDriverDataSize;
} DXGK_OVERLAYINFO;

typedef struct _DXGKARG_CREATEOVERLAY {
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
    DXGK_OVERLAYINFO OverlayInfo;
    HANDLE hOverlay;
} DXGKARG_CREATEOVERLAY;

typedef struct _DXGKARG_UPDATEOVERLAY {
    DXGK_OVERLAYINFO OverlayInfo;
} DXGKARG_UPDATEOVERLAY;

typedef struct _DXGKARG_FLIPOVERLAY {
    HANDLE hSource;
    PHYSICAL_ADDRESS SrcPhysicalAddress;
    UINT SrcSegmentId;
    VOID *pPrivateDriverData;
    UINT PrivateDriverDataSize;
} DXGKARG_FLIPOVERLAY;

/* ---- handles ------------------------------------------------------------- */

typedef enum DXGK_HANDLE_TYPE { DXGK_HANDLE_ALLOCATION = 1, DXGK_HANDLE_RESOURCE = 2 } DXGK_HANDLE_TYPE;

typedef struct _DXGKCB_GETHANDLEDATAFLAGS {
    union {
        struct {
            UINT DeviceSpecific : 1;
            UINT Reserved : 31;
        };
        UINT Value;
    };
} DXGKCB_GETHANDLEDATAFLAGS;

typedef struct _DXGKARGCB_GETHANDLEDATA {
    D3DKMT_HANDLE hObject;
    DXGK_HANDLE_TYPE Type;
    DXGKCB_GETHANDLEDATAFLAGS Flags;
} DXGKARGCB_GETHANDLEDATA;

typedef struct _DXGKARGCB_ENUMHANDLECHILDREN {
    D3DKMT_HANDLE hObject;
    UINT Index;
} DXGKARGCB_ENUMHANDLECHILDREN;

typedef struct _DXGKARGCB_GETCAPTUREADDRESS {
    D3DKMT_HANDLE hAllocation;
    UINT SegmentId;
    PHYSICAL_ADDRESS PhysicalAddress;
} DXGKARGCB_GETCAPTUREADDRESS;

#include "wddm/d3dkmddi_gdi.h"
