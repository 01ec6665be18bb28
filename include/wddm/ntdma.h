/* SPDX-License-Identifier: MIT */
/* ntdma.h: what a bus master asks of the system for its transfers (IoGetDmaAdapter). Nothing lies between device and memory here: the
 * logical addresses are the physical ones. */
#pragma once

#include "wddm/ntkern.h"

WDDM_C_BEGIN

typedef enum _DMA_WIDTH {
    Width8Bits,
    Width16Bits,
    Width32Bits,
    Width64Bits,
    WidthNoWrap,
    MaximumDmaWidth
} DMA_WIDTH;
typedef enum _DMA_SPEED { Compatible, TypeA, TypeB, TypeC, TypeF, MaximumDmaSpeed } DMA_SPEED;

#define DEVICE_DESCRIPTION_VERSION  0
#define DEVICE_DESCRIPTION_VERSION1 1
#define DEVICE_DESCRIPTION_VERSION2 2
typedef struct _DEVICE_DESCRIPTION {
    ULONG Version;
    BOOLEAN Master, ScatterGather, DemandMode, AutoInitialize, Dma32BitAddresses, IgnoreCount, Reserved1,
        Dma64BitAddresses;
    ULONG BusNumber, DmaChannel;
    INTERFACE_TYPE InterfaceType;
    DMA_WIDTH DmaWidth;
    DMA_SPEED DmaSpeed;
    ULONG MaximumLength, DmaPort;
} DEVICE_DESCRIPTION, *PDEVICE_DESCRIPTION;

typedef struct _SCATTER_GATHER_ELEMENT {
    PHYSICAL_ADDRESS Address;
    ULONG Length;
    ULONG_PTR Reserved;
} SCATTER_GATHER_ELEMENT, *PSCATTER_GATHER_ELEMENT;

typedef struct _SCATTER_GATHER_LIST {
    ULONG NumberOfElements;
    ULONG_PTR Reserved;
    SCATTER_GATHER_ELEMENT Elements[];
} SCATTER_GATHER_LIST, *PSCATTER_GATHER_LIST;

typedef enum _IO_ALLOCATION_ACTION {
    KeepObject = 1,
    DeallocateObject,
    DeallocateObjectKeepRegisters
} IO_ALLOCATION_ACTION;
typedef IO_ALLOCATION_ACTION NTAPI DRIVER_CONTROL(PDEVICE_OBJECT DeviceObject, PIRP Irp,
                                                  PVOID MapRegisterBase, PVOID Context);
typedef DRIVER_CONTROL *PDRIVER_CONTROL;
typedef VOID NTAPI DRIVER_LIST_CONTROL(PDEVICE_OBJECT DeviceObject, PIRP Irp,
                                       PSCATTER_GATHER_LIST ScatterGather, PVOID Context);
typedef DRIVER_LIST_CONTROL *PDRIVER_LIST_CONTROL;

typedef struct _DMA_ADAPTER {
    USHORT Version, Size;
    struct _DMA_OPERATIONS *DmaOperations;
} DMA_ADAPTER, *PDMA_ADAPTER;
typedef struct _DMA_OPERATIONS {
    ULONG Size;
    VOID(NTAPI *PutDmaAdapter)(PDMA_ADAPTER DmaAdapter);
    PVOID(NTAPI *AllocateCommonBuffer)
    (PDMA_ADAPTER DmaAdapter, ULONG Length, PPHYSICAL_ADDRESS LogicalAddress, BOOLEAN CacheEnabled);
    VOID(NTAPI *FreeCommonBuffer)
    (PDMA_ADAPTER DmaAdapter, ULONG Length, PHYSICAL_ADDRESS LogicalAddress, PVOID VirtualAddress,
     BOOLEAN CacheEnabled);
    NTSTATUS(NTAPI *AllocateAdapterChannel)
    (PDMA_ADAPTER DmaAdapter, PDEVICE_OBJECT DeviceObject, ULONG NumberOfMapRegisters,
     PDRIVER_CONTROL ExecutionRoutine, PVOID Context);
    BOOLEAN(NTAPI *FlushAdapterBuffers)
    (PDMA_ADAPTER DmaAdapter, PMDL Mdl, PVOID MapRegisterBase, PVOID CurrentVa, ULONG Length,
     BOOLEAN WriteToDevice);
    VOID(NTAPI *FreeAdapterChannel)(PDMA_ADAPTER DmaAdapter);
    VOID(NTAPI *FreeMapRegisters)(PDMA_ADAPTER DmaAdapter, PVOID MapRegisterBase, ULONG NumberOfMapRegisters);
    PHYSICAL_ADDRESS(NTAPI *MapTransfer)
    (PDMA_ADAPTER DmaAdapter, PMDL Mdl, PVOID MapRegisterBase, PVOID CurrentVa, PULONG Length,
     BOOLEAN WriteToDevice);
    ULONG(NTAPI *GetDmaAlignment)(PDMA_ADAPTER DmaAdapter);
    ULONG(NTAPI *ReadDmaCounter)(PDMA_ADAPTER DmaAdapter);
    NTSTATUS(NTAPI *GetScatterGatherList)
    (PDMA_ADAPTER DmaAdapter, PDEVICE_OBJECT DeviceObject, PMDL Mdl, PVOID CurrentVa, ULONG Length,
     PDRIVER_LIST_CONTROL ExecutionRoutine, PVOID Context, BOOLEAN WriteToDevice);
    VOID(NTAPI *PutScatterGatherList)
    (PDMA_ADAPTER DmaAdapter, PSCATTER_GATHER_LIST ScatterGather, BOOLEAN WriteToDevice);
    NTSTATUS(NTAPI *CalculateScatterGatherList)
    (PDMA_ADAPTER DmaAdapter, PMDL Mdl, PVOID CurrentVa, ULONG Length, PULONG ScatterGatherListSize,
     PULONG NumberOfMapRegisters);
    NTSTATUS(NTAPI *BuildScatterGatherList)
    (PDMA_ADAPTER DmaAdapter, PDEVICE_OBJECT DeviceObject, PMDL Mdl, PVOID CurrentVa, ULONG Length,
     PDRIVER_LIST_CONTROL ExecutionRoutine, PVOID Context, BOOLEAN WriteToDevice, PVOID ScatterGatherBuffer,
     ULONG ScatterGatherLength);
    NTSTATUS(NTAPI *BuildMdlFromScatterGatherList)
    (PDMA_ADAPTER DmaAdapter, PSCATTER_GATHER_LIST ScatterGather, PMDL OriginalMdl, PMDL *TargetMdl);
} DMA_OPERATIONS, *PDMA_OPERATIONS;

/* NULL: there is none for such a device. */
NTKERNELAPI PDMA_ADAPTER NTAPI IoGetDmaAdapter(PDEVICE_OBJECT PhysicalDeviceObject,
                                               PDEVICE_DESCRIPTION DeviceDescription,
                                               PULONG NumberOfMapRegisters);

WDDM_SIZE(DEVICE_DESCRIPTION, 40);
WDDM_SIZE(SCATTER_GATHER_ELEMENT, 24);
WDDM_SIZE(DMA_ADAPTER, 16);
WDDM_SIZE(DMA_OPERATIONS, 128);

WDDM_C_END
