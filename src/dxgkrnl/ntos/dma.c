/* SPDX-License-Identifier: MIT */
/* dma.c: a bus master's adapter object. The device reaches all memory by its physical addresses, so that there are no map registers to
 * wait for and no buffers to copy to: what a driver asks for is there at once. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"

#include <stddef.h>

static VOID NTAPI put_adapter(PDMA_ADAPTER a)
{
    dxgk_ntos_give_back(OWNER(), "PutDmaAdapter", a);
}

static PVOID NTAPI allocate_common(PDMA_ADAPTER a, ULONG length, PPHYSICAL_ADDRESS logical, BOOLEAN cached)
{
    PVOID va = dxgk_contiguous_common(length, cached);

    UNREFERENCED_PARAMETER(a);
    if (va)
        *logical = MmGetPhysicalAddress(va);
    return va;
}

static VOID NTAPI free_common(PDMA_ADAPTER a, ULONG length, PHYSICAL_ADDRESS logical, PVOID va,
                              BOOLEAN cached)
{
    const PHYSICAL_ADDRESS own = MmGetPhysicalAddress(va);

    UNREFERENCED_PARAMETER(a);
    if (own.QuadPart && own.QuadPart != logical.QuadPart)
        dxgk_kernel_violation(SELF(),
                              "FreeCommonBuffer of %p with the logical address %#llx, which is not its own",
                              va, (unsigned long long)logical.QuadPart);
    dxgk_contiguous_common_back(va, length, cached);
}

static VOID check_dispatch(const char *routine)
{
    struct kernel *k = SELF();

    if (dxgk_kernel_irql(k) != DISPATCH_LEVEL)
        dxgk_kernel_violation(k, "%s called at IRQL %d, must be DISPATCH_LEVEL", routine,
                              dxgk_kernel_irql(k));
}

static NTSTATUS NTAPI allocate_channel(PDMA_ADAPTER a, PDEVICE_OBJECT device, ULONG registers,
                                       PDRIVER_CONTROL routine, PVOID context)
{
    check_dispatch("AllocateAdapterChannel");
    UNREFERENCED_PARAMETER(registers);
    KERNEL_GUEST(routine)(device, NULL, a, context);
    return STATUS_SUCCESS;
}

static BOOLEAN NTAPI flush(PDMA_ADAPTER a, PMDL mdl, PVOID registers, PVOID va, ULONG length, BOOLEAN write)
{
    UNREFERENCED_PARAMETER(a);
    UNREFERENCED_PARAMETER(mdl);
    UNREFERENCED_PARAMETER(registers);
    UNREFERENCED_PARAMETER(va);
    UNREFERENCED_PARAMETER(length);
    UNREFERENCED_PARAMETER(write);
    return TRUE;
}

static VOID NTAPI free_channel(PDMA_ADAPTER a)
{
    UNREFERENCED_PARAMETER(a);
    check_dispatch("FreeAdapterChannel");
}

static VOID NTAPI free_registers(PDMA_ADAPTER a, PVOID registers, ULONG n)
{
    UNREFERENCED_PARAMETER(a);
    UNREFERENCED_PARAMETER(registers);
    UNREFERENCED_PARAMETER(n);
    check_dispatch("FreeMapRegisters");
}

/* Where byte `at` of what the MDL describes lies; *length becomes how much lies there in one piece. */
static PHYSICAL_ADDRESS piece(PMDL mdl, PVOID va, ULONG *length)
{
    const PFN_NUMBER *pfn = MmGetMdlPfnArray(mdl);
    size_t at = (size_t)((char *)va - (char *)mdl->StartVa), page = at / PAGE_SIZE;
    ULONG here = PAGE_SIZE - (ULONG)(at % PAGE_SIZE);
    PHYSICAL_ADDRESS pa = {.QuadPart = (LONGLONG)((pfn[page] << PAGE_SHIFT) + at % PAGE_SIZE)};

    while (here < *length && pfn[page + 1] == pfn[page] + 1) {
        page++;
        here += PAGE_SIZE;
    }
    *length = here < *length ? here : *length;
    return pa;
}

/* Inside of what the MDL describes. */
static bool is_inside(const char *routine, PMDL mdl, PVOID va, ULONG length)
{
    uintptr_t start = (uintptr_t)MmGetMdlVirtualAddress(mdl), at = (uintptr_t)va;

    if (length && at - start < mdl->ByteCount && length <= mdl->ByteCount - (at - start))
        return true;
    dxgk_kernel_violation(SELF(), "%s of %u bytes at %p, the MDL describes %u at %p", routine, length, va,
                          mdl->ByteCount, (void *)start);
    return false;
}

static PHYSICAL_ADDRESS NTAPI map_transfer(PDMA_ADAPTER a, PMDL mdl, PVOID registers, PVOID va, PULONG length,
                                           BOOLEAN write)
{
    UNREFERENCED_PARAMETER(a);
    UNREFERENCED_PARAMETER(registers);
    UNREFERENCED_PARAMETER(write);
    return is_inside("MapTransfer", mdl, va, *length) ? piece(mdl, va, length) : (PHYSICAL_ADDRESS){0};
}

static ULONG NTAPI alignment(PDMA_ADAPTER a)
{
    UNREFERENCED_PARAMETER(a);
    return 1;
}

static ULONG NTAPI read_counter(PDMA_ADAPTER a)
{
    UNREFERENCED_PARAMETER(a);
    return 0; /* of a system's DMA controller, which a bus master does not use */
}

static NTSTATUS NTAPI list_size(PDMA_ADAPTER a, PMDL mdl, PVOID va, ULONG length, PULONG size,
                                PULONG registers)
{
    ULONG pages = ADDRESS_AND_SIZE_TO_SPAN_PAGES(va, (size_t)length);

    UNREFERENCED_PARAMETER(a);
    UNREFERENCED_PARAMETER(mdl);
    *size = (ULONG)(offsetof(SCATTER_GATHER_LIST, Elements) + pages * sizeof(SCATTER_GATHER_ELEMENT));
    if (registers)
        *registers = pages;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI build_list(PDMA_ADAPTER a, PDEVICE_OBJECT device, PMDL mdl, PVOID va, ULONG length,
                                 PDRIVER_LIST_CONTROL routine, PVOID context, BOOLEAN write, PVOID buffer,
                                 ULONG size)
{
    PSCATTER_GATHER_LIST list = buffer;
    ULONG need;

    UNREFERENCED_PARAMETER(write);
    check_dispatch("BuildScatterGatherList");
    if (!is_inside("BuildScatterGatherList", mdl, va, length))
        return STATUS_INVALID_PARAMETER;
    list_size(a, mdl, va, length, &need, NULL);
    if (size < need)
        return STATUS_BUFFER_TOO_SMALL;
    list->NumberOfElements = 0;
    list->Reserved = 0;
    while (length) {
        SCATTER_GATHER_ELEMENT *e = &list->Elements[list->NumberOfElements++];
        *e = (SCATTER_GATHER_ELEMENT){.Length = length};
        e->Address = piece(mdl, va, &e->Length);
        length -= e->Length;
        va = (char *)va + e->Length;
    }
    KERNEL_GUEST(routine)(device, NULL, list, context);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI get_list(PDMA_ADAPTER a, PDEVICE_OBJECT device, PMDL mdl, PVOID va, ULONG length,
                               PDRIVER_LIST_CONTROL routine, PVOID context, BOOLEAN write)
{
    PVOID list;
    ULONG size;
    NTSTATUS s;

    list_size(a, mdl, va, length, &size, NULL);
    list = ExAllocatePoolWithTag(NonPagedPool, size, 0x4C477453); /* StGL */
    if (!list)
        return STATUS_INSUFFICIENT_RESOURCES;
    s = build_list(a, device, mdl, va, length, routine, context, write, list, size);
    if (!NT_SUCCESS(s))
        ExFreePool(list);
    return s;
}

static VOID NTAPI put_list(PDMA_ADAPTER a, PSCATTER_GATHER_LIST list, BOOLEAN write)
{
    UNREFERENCED_PARAMETER(a);
    UNREFERENCED_PARAMETER(write);
    check_dispatch("PutScatterGatherList");
    dxgk_pool_free(OWNER(), "PutScatterGatherList", list, 0);
}

static NTSTATUS NTAPI list_mdl(PDMA_ADAPTER a, PSCATTER_GATHER_LIST list, PMDL original, PMDL *target)
{
    UNREFERENCED_PARAMETER(a);
    UNREFERENCED_PARAMETER(list);
    *target = original; /* nothing was copied */
    return STATUS_SUCCESS;
}

PDMA_ADAPTER NTAPI IoGetDmaAdapter(PDEVICE_OBJECT PhysicalDeviceObject, PDEVICE_DESCRIPTION DeviceDescription,
                                   PULONG NumberOfMapRegisters)
{
    static DMA_OPERATIONS operations = {sizeof(operations), put_adapter, allocate_common, free_common,
                                        allocate_channel,   flush,       free_channel,    free_registers,
                                        map_transfer,       alignment,   read_counter,    get_list,
                                        put_list,           list_size,   build_list,      list_mdl};
    static const DMA_ADAPTER one = {.Version = 1, .Size = sizeof(one), .DmaOperations = &operations};
    struct dxgk *d = OWNER();
    PDMA_ADAPTER a;
    ENTER(IoGetDmaAdapter);

    UNREFERENCED_PARAMETER(PhysicalDeviceObject);
    if (DeviceDescription->Version > DEVICE_DESCRIPTION_VERSION2) {
        dxgk_kernel_violation(k, "IoGetDmaAdapter with a description of version %u",
                              DeviceDescription->Version);
        return NULL;
    }
    if (!DeviceDescription->Master || !dxgk_ntos_refer(d, NULL, "a DMA adapter"))
        return NULL; /* a PCI device has no DMA controller but its own */
    a = &d->ntos.references->adapter;
    *a = one;
    d->ntos.references->object = a;
    *NumberOfMapRegisters =
        ADDRESS_AND_SIZE_TO_SPAN_PAGES(NULL, (size_t)DeviceDescription->MaximumLength) + 1;
    return a;
}
