/* SPDX-License-Identifier: MIT */
/* irp.c: requests that a driver makes itself. IofCallDriver (objects.c) answers them. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"

#include <string.h>

enum { IO_TYPE_IRP = 6, TAG_IRP = 0x20707249 };

static void initialize(PIRP irp, USHORT size, CCHAR stack)
{
    memset(irp, 0, size);
    irp->Type = IO_TYPE_IRP;
    irp->Size = size;
    irp->StackCount = stack;
    irp->CurrentLocation = (CHAR)(stack + 1);
    irp->Tail.Overlay.CurrentStackLocation = (PIO_STACK_LOCATION)(irp + 1) + stack;
}

VOID NTAPI IoInitializeIrp(PIRP Irp, USHORT PacketSize, CCHAR StackSize)
{
    ENTER(IoInitializeIrp);

    if (StackSize < 0 || PacketSize < IoSizeOfIrp(StackSize)) {
        dxgk_kernel_violation(k, "IoInitializeIrp of %u bytes, and %d stack locations need %u", PacketSize,
                              StackSize, (unsigned)IoSizeOfIrp(StackSize));
        return;
    }
    initialize(Irp, PacketSize, StackSize);
}

PIRP NTAPI IoAllocateIrp(CCHAR StackSize, BOOLEAN ChargeQuota)
{
    PIRP irp;
    ENTER(IoAllocateIrp);

    UNREFERENCED_PARAMETER(ChargeQuota);
    if (StackSize < 1) {
        dxgk_kernel_violation(k, "IoAllocateIrp with %d stack locations", StackSize);
        return NULL;
    }
    irp = ExAllocatePoolWithTag(NonPagedPool, IoSizeOfIrp(StackSize), TAG_IRP);
    if (irp)
        initialize(irp, IoSizeOfIrp(StackSize), StackSize);
    return irp;
}

VOID NTAPI IoReuseIrp(PIRP Irp, NTSTATUS Status)
{
    CHECK(IoReuseIrp);
    initialize(Irp, Irp->Size, Irp->StackCount);
    Irp->IoStatus.Status = Status;
}

VOID NTAPI IoFreeIrp(PIRP Irp)
{
    ENTER(IoFreeIrp);

    dxgk_pool_free(dxgk_kernel_ctx(k), "IoFreeIrp", Irp, TAG_IRP);
}
