/* SPDX-License-Identifier: MIT */
/* A WDDM 1.1 miniport for the toy GPU, against include/wddm only: dxgkrnl hosts a driver it does not know. A shared object. */
#include "wddm/dispmprt.h"

#include "protocol.h"

#define TAG 0x55504754

struct adapter {
    DXGKRNL_INTERFACE dxgk;
    PUCHAR regs;
    KSPIN_LOCK lock;
    UINT submitted, completed, preempt;
    BOOLEAN reset_fails, bad_dpc, bad_fence, vsync, no_vsync, wrong_address, wrong_target, late_note,
        stop_waits;
    KMUTEX mutex;
    FAST_MUTEX fast;
    KTIMER timer;
    UINT vsync_switches;
    UINT shown; /* page being scanned out, as the last vblank reported it */
    UINT calls[NUM_CALLS];
};

static UINT edid_kind; /* enum softgpu_edid */
static BOOLEAN no_contexts, claims_all;
static volatile BOOLEAN loop_isr, fault_isr;

struct device {
    struct adapter *adapter;
    HANDLE dxgk;
};

struct allocation {
    struct softgpu_alloc info;
};

static ULONG rd(struct adapter *a, ULONG reg)
{
    return READ_REGISTER_ULONG((volatile ULONG *)(a->regs + reg));
}

static VOID wr(struct adapter *a, ULONG reg, ULONG value)
{
    WRITE_REGISTER_ULONG((volatile ULONG *)(a->regs + reg), value);
}

static PVOID alloc(SIZE_T size)
{
    PVOID p = ExAllocatePoolWithTag(NonPagedPool, size, TAG);

    if (p)
        RtlZeroMemory(p, size);
    return p;
}

#include "rules.h"
#include "modes.h"

/* ---- start and stop ------------------------------------------------------ */

static NTSTATUS NTAPI AddDevice(CONST PDEVICE_OBJECT pdo, PVOID *context)
{
    struct adapter *a = alloc(sizeof(*a));

    UNREFERENCED_PARAMETER(pdo);
    *context = a;
    if (a)
        init_locks(a);
    return a ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

static NTSTATUS NTAPI StartDevice(CONST PVOID context, PDXGK_START_INFO info, PDXGKRNL_INTERFACE dxgk,
                                  PULONG sources, PULONG children)
{
    struct adapter *a = context;
    DXGK_DEVICE_INFO dev;
    NTSTATUS s;

    UNREFERENCED_PARAMETER(info);
    a->dxgk = *dxgk;
    s = dxgk->DxgkCbGetDeviceInformation(dxgk->DeviceHandle, &dev);
    for (ULONG i = 0; NT_SUCCESS(s) && i < dev.TranslatedResourceList->List[0].PartialResourceList.Count;
         i++) {
        PCM_PARTIAL_RESOURCE_DESCRIPTOR r =
            &dev.TranslatedResourceList->List[0].PartialResourceList.PartialDescriptors[i];
        if (r->Type == CmResourceTypeMemory)
            s = dxgk->DxgkCbMapMemory(dxgk->DeviceHandle, r->u.Memory.Start, r->u.Memory.Length, FALSE, FALSE,
                                      MmNonCached, (PVOID *)&a->regs);
    }
    if (!NT_SUCCESS(s) || !a->regs || rd(a, REG_ID) != SOFTGPU_ID)
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    wr(a, REG_IRQ_ENABLE, IRQ_DONE | IRQ_FAULT);
    *sources = *children = 1;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI StopDevice(CONST PVOID context)
{
    struct adapter *a = context;
    KEVENT never;

    if (a->stop_waits) {
        KeInitializeEvent(&never, NotificationEvent, FALSE);
        KeWaitForSingleObject(&never, Executive, KernelMode, FALSE, NULL);
    }
    wr(a, REG_IRQ_ENABLE, 0);
    wr(a, REG_SCAN_ENABLE, 0);
    wr(a, REG_RESET, 1);
    return a->dxgk.DxgkCbUnmapMemory(a->dxgk.DeviceHandle, a->regs);
}

static NTSTATUS NTAPI RemoveDevice(CONST PVOID context)
{
    ExFreePoolWithTag(context, TAG);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI DispatchIoRequest(CONST PVOID c, ULONG id, PVIDEO_REQUEST_PACKET p)
{
    struct adapter *a = c;

    UNREFERENCED_PARAMETER(id);
    a->calls[CALL_DispatchIoRequest]++;
    return p->OutputBuffer && p->OutputBufferLength == *(ULONG *)p->OutputBuffer ? STATUS_NOT_SUPPORTED
                                                                                 : STATUS_INVALID_PARAMETER;
}

static NTSTATUS NTAPI QueryChildRelations(CONST PVOID c, PDXGK_CHILD_DESCRIPTOR list, ULONG size)
{
    UNREFERENCED_PARAMETER(c);
    UNREFERENCED_PARAMETER(size);
    list[0].ChildDeviceType = TypeVideoOutput;
    list[0].ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_HD15;
    list[0].ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness = D3DKMDT_MOA_NONE;
    list[0].ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
    list[0].ChildUid = 7;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI QueryChildStatus(CONST PVOID c, PDXGK_CHILD_STATUS status, BOOLEAN non_destructive)
{
    UNREFERENCED_PARAMETER(c);
    UNREFERENCED_PARAMETER(non_destructive);
    status->HotPlug.Connected = TRUE;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI QueryDeviceDescriptor(CONST PVOID c, ULONG uid, PDXGK_DEVICE_DESCRIPTOR d)
{
    /* 320x200 in 400x250 at 6 MHz, 60 Hz, preferred; 640x480 established and as a standard timing at 75 Hz; 50 to 75 Hz, 100 MHz. */
    UCHAR edid[128] = {0,        0xFF,     0xFF,        0xFF,      0xFF,        0xFF,        0xFF, 0,
                       [18] = 1, [19] = 3, [35] = 0x20, [38] = 49, [39] = 0x4F, [54] = 0x58, 0x02, 0x40,
                       80,       0x10,     200,         50,        0,           [72] = 0,    0,    0,
                       0xFD,     0,        50,          75,        15,          80,          10};
    UCHAR sum = 0;

    UNREFERENCED_PARAMETER(c);
    UNREFERENCED_PARAMETER(uid);
    if (edid_kind == EDID_NONE || d->DescriptorOffset)
        return edid_kind == EDID_NONE ? STATUS_MONITOR_NO_DESCRIPTOR : STATUS_MONITOR_NO_MORE_DESCRIPTOR_DATA;
    for (UINT i = 40; i < 54; i++)
        edid[i] = 1;
    for (UINT i = 0; i < 127; i++)
        sum = (UCHAR)(sum + edid[i]);
    edid[127] = (UCHAR)(edid_kind == EDID_DAMAGED ? 1 - sum : -sum);
    RtlCopyMemory(d->DescriptorBuffer, edid, sizeof(edid));
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI SetPowerState(CONST PVOID c, ULONG uid, DEVICE_POWER_STATE state, POWER_ACTION action)
{
    struct adapter *a = c;

    UNREFERENCED_PARAMETER(action);
    if (uid == DISPLAY_ADAPTER_HW_ID)
        wr(a, REG_IRQ_ENABLE, state == PowerDeviceD0 ? IRQ_DONE | IRQ_FAULT : 0);
    return STATUS_SUCCESS;
}

static VOID NTAPI ResetDevice(CONST PVOID c)
{
    ((struct adapter *)c)->calls[CALL_ResetDevice]++;
}

static VOID NTAPI Unload(VOID)
{
}

/* ---- interrupts ---------------------------------------------------------- */

static VOID notify(struct adapter *a, DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    a->dxgk.DxgkCbNotifyInterrupt(a->dxgk.DeviceHandle, data);
}

static BOOLEAN NTAPI InterruptRoutine(CONST PVOID c, ULONG message)
{
    struct adapter *a = c;
    ULONG status = rd(a, REG_IRQ_STATUS) & rd(a, REG_IRQ_ENABLE);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {0};
    UINT fence;

    UNREFERENCED_PARAMETER(message);
    while (loop_isr)
        ;
    if (fault_isr)
        fault(EXC_WRITE);
    if (!status)
        return claims_all;
    wr(a, REG_IRQ_STATUS, status);
    fence = rd(a, REG_COMPLETED);
    if (status & IRQ_FAULT) {
        data.InterruptType = DXGK_INTERRUPT_DMA_FAULTED;
        data.DmaFaulted.FaultedFenceId = rd(a, REG_FAULTED);
        data.DmaFaulted.Status = STATUS_INVALID_PARAMETER;
        if ((INT)(data.DmaFaulted.FaultedFenceId - a->completed) > 0) {
            a->completed = data.DmaFaulted.FaultedFenceId;
            notify(a, &data);
        }
    }
    if (a->bad_fence) {
        a->bad_fence = FALSE;
        data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
        data.DmaCompleted.SubmissionFenceId = a->submitted + 1000;
        notify(a, &data);
    }
    if ((INT)(fence - a->completed) > 0) {
        a->completed = fence;
        RtlZeroMemory(&data, sizeof(data));
        data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
        data.DmaCompleted.SubmissionFenceId = fence;
        notify(a, &data);
    }
    if (a->preempt && a->completed == a->submitted) {
        RtlZeroMemory(&data, sizeof(data));
        data.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED;
        data.DmaPreempted.PreemptionFenceId = a->preempt;
        data.DmaPreempted.LastCompletedFenceId = a->completed;
        a->completed = a->submitted = a->preempt;
        a->preempt = 0;
        notify(a, &data);
    }
    if (status & IRQ_VBLANK) {
        RtlZeroMemory(&data, sizeof(data));
        data.InterruptType = DXGK_INTERRUPT_CRTC_VSYNC;
        data.CrtcVsync.VidPnTargetId = 7;
        data.CrtcVsync.PhysicalAddress.QuadPart = (LONGLONG)rd(a, REG_SCAN_NOW) << PAGE_SHIFT;
        if (a->wrong_address)
            data.CrtcVsync.PhysicalAddress.QuadPart ^= 64;
        data.CrtcVsync.VidPnTargetId += a->wrong_target;
        notify(a, &data);
    }
    a->dxgk.DxgkCbQueueDpc(a->dxgk.DeviceHandle);
    return TRUE;
}

static VOID NTAPI DpcRoutine(CONST PVOID c)
{
    struct adapter *a = c;
    LARGE_INTEGER t = {.QuadPart = -10000};

    if (a->bad_dpc) {
        a->bad_dpc = FALSE;
        KeDelayExecutionThread(KernelMode, FALSE, &t);
    }
    a->dxgk.DxgkCbNotifyDpc(a->dxgk.DeviceHandle);
}

static NTSTATUS NTAPI ControlInterrupt(CONST HANDLE h, CONST DXGK_INTERRUPT_TYPE type, BOOLEAN enable)
{
    struct adapter *a = h;

    if (type != DXGK_INTERRUPT_CRTC_VSYNC || a->no_vsync)
        return STATUS_NOT_SUPPORTED;
    a->vsync = enable;
    a->vsync_switches++;
    wr(a, REG_IRQ_STATUS, IRQ_VBLANK);
    wr(a, REG_IRQ_ENABLE, IRQ_DONE | IRQ_FAULT | (enable ? IRQ_VBLANK : 0));
    return STATUS_SUCCESS;
}

/* ---- capabilities, memory ------------------------------------------------ */

static NTSTATUS NTAPI QueryAdapterInfo(CONST HANDLE h, CONST DXGKARG_QUERYADAPTERINFO *q)
{
    DXGK_DRIVERCAPS *caps = q->pOutputData;
    DXGK_QUERYSEGMENTOUT *seg = q->pOutputData;

    UNREFERENCED_PARAMETER(h);
    switch (q->Type) {
    case DXGKQAITYPE_UMDRIVERPRIVATE:
        if (q->OutputDataSize < 4)
            return STATUS_BUFFER_TOO_SMALL;
        *(ULONG *)q->pOutputData = SOFTGPU_ID;
        return STATUS_SUCCESS;
    case DXGKQAITYPE_DRIVERCAPS:
        caps->HighestAcceptableAddress.QuadPart = -1;
        caps->MaxQueuedFlipOnVSync = 1;
        caps->FlipCaps.FlipOnVSyncMmIo = 1;
        caps->FlipCaps.FlipImmediateMmIo = 1;
        caps->FlipCaps.FlipInterval = 1;
        caps->SchedulingCaps.MultiEngineAware = !no_contexts;
        caps->GpuEngineTopology.NbAsymetricProcessingNodes = 1;
        caps->MaxPointerWidth = caps->MaxPointerHeight = 32;
        caps->PointerCaps.Color = caps->PointerCaps.Monochrome = 1;
        return STATUS_SUCCESS;
    case DXGKQAITYPE_QUERYSEGMENT:
        if (!seg->pSegmentDescriptor) {
            seg->NbSegment = 1;
            return STATUS_SUCCESS;
        }
        seg->pSegmentDescriptor[0].Size = SOFTGPU_PAGES * PAGE_SIZE;
        seg->pSegmentDescriptor[0].CommitLimit = 4 * SOFTGPU_PAGES * PAGE_SIZE;
        seg->pSegmentDescriptor[0].Flags.Aperture = 1;
        seg->pSegmentDescriptor[0].Flags.CpuVisible = 1;
        seg->PagingBufferSize = PAGE_SIZE;
        seg->PagingBufferSegmentId = dma_segments & 1;
        return STATUS_SUCCESS;
    default:
        return STATUS_NOT_SUPPORTED;
    }
}

static NTSTATUS NTAPI CreateAllocation(CONST HANDLE h, DXGKARG_CREATEALLOCATION *args)
{
    UNREFERENCED_PARAMETER(h);
    for (UINT i = 0; i < args->NumAllocations; i++) {
        DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[i];
        struct softgpu_alloc *p = info->pPrivateDriverData;
        BOOLEAN good = info->PrivateDriverDataSize == sizeof(*p) && p->size;
        struct allocation *a = good ? alloc(sizeof(*a)) : NULL;
        if (!a) {
            while (i--)
                ExFreePoolWithTag(args->pAllocationInfo[i].hAllocation, TAG);
            return good ? STATUS_NO_MEMORY : STATUS_INVALID_PARAMETER;
        }
        a->info = *p;
        info->Size = p->size;
        info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = 1;
        info->PreferredSegment.SegmentId0 = 1;
        info->Flags.CpuVisible = 1;
        info->Flags.Capture = p->capture;
        info->hAllocation = a;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI DestroyAllocation(CONST HANDLE h, CONST DXGKARG_DESTROYALLOCATION *args)
{
    UNREFERENCED_PARAMETER(h);
    for (UINT i = 0; i < args->NumAllocations; i++)
        ExFreePoolWithTag(args->pAllocationList[i], TAG);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI DescribeAllocation(CONST HANDLE h, DXGKARG_DESCRIBEALLOCATION *d)
{
    struct allocation *a = d->hAllocation;

    UNREFERENCED_PARAMETER(h);
    d->Width = a->info.width;
    d->Height = a->info.height;
    d->Format = a->info.palette ? D3DDDIFMT_P8 : D3DDDIFMT_X8R8G8B8;
    d->RefreshRate.Numerator = 60;
    d->RefreshRate.Denominator = 1;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI GetStandardAllocationDriverData(CONST HANDLE h,
                                                      DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *d)
{
    struct softgpu_alloc *p = d->pAllocationPrivateDriverData;

    UNREFERENCED_PARAMETER(h);
    if (d->StandardAllocationType != D3DKMDT_STANDARDALLOCATION_SHAREDPRIMARYSURFACE)
        return STATUS_NOT_SUPPORTED;
    d->AllocationPrivateDriverDataSize = sizeof(*p);
    d->ResourcePrivateDriverDataSize = 0;
    if (p) {
        p->width = d->pCreateSharedPrimarySurfaceData->Width;
        p->height = d->pCreateSharedPrimarySurfaceData->Height;
        p->size = 4 * p->width * p->height;
        p->palette = d->pCreateSharedPrimarySurfaceData->Format == D3DDDIFMT_P8;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI OpenAllocation(CONST HANDLE h, CONST DXGKARG_OPENALLOCATION *args)
{
    struct device *dev = h;

    for (UINT i = 0; i < args->NumAllocations; i++) {
        DXGKARGCB_GETHANDLEDATA get = {.hObject = args->pOpenAllocation[i].hAllocation,
                                       .Type = DXGK_HANDLE_ALLOCATION};
        args->pOpenAllocation[i].hDeviceSpecificAllocation = dev->adapter->dxgk.DxgkCbGetHandleData(&get);
        if (!args->pOpenAllocation[i].hDeviceSpecificAllocation)
            return STATUS_INVALID_PARAMETER;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI CloseAllocation(CONST HANDLE h, CONST DXGKARG_CLOSEALLOCATION *args)
{
    UNREFERENCED_PARAMETER(h);
    UNREFERENCED_PARAMETER(args);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI CreateDevice(CONST HANDLE h, DXGKARG_CREATEDEVICE *args)
{
    struct device *d = alloc(sizeof(*d));

    if (!d)
        return STATUS_NO_MEMORY;
    d->adapter = h;
    d->dxgk = args->hDevice;
    args->hDevice = d;
    if (no_contexts) {
        static DXGK_DEVICEINFO info = {.DmaBufferSize = 4 * PAGE_SIZE,
                                       .DmaBufferPrivateDataSize = 16,
                                       .AllocationListSize = 64,
                                       .PatchLocationListSize = 64};
        args->pInfo = &info;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI DestroyDevice(CONST HANDLE h)
{
    ExFreePoolWithTag(h, TAG);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI DestroyContext(CONST HANDLE h)
{
    return DestroyDevice(h);
}

static NTSTATUS NTAPI CreateContext(CONST HANDLE h, DXGKARG_CREATECONTEXT *args)
{
    struct device *c = alloc(sizeof(*c));

    if (!c)
        return STATUS_NO_MEMORY;
    if (no_contexts) { /* nobody may ask then */
        ExFreePoolWithTag(c, TAG);
        return STATUS_NOT_SUPPORTED;
    }
    *c = *(struct device *)h;
    args->hContext = c;
    args->ContextInfo.DmaBufferSize = (dma_pages ? dma_pages : 4) * PAGE_SIZE;
    args->ContextInfo.DmaBufferSegmentSet = dma_segments;
    args->ContextInfo.DmaBufferPrivateDataSize = 16;
    args->ContextInfo.AllocationListSize = 64;
    args->ContextInfo.PatchLocationListSize = 64;
    return STATUS_SUCCESS;
}

/* ---- work ---------------------------------------------------------------- */

static NTSTATUS NTAPI Render(CONST HANDLE h, DXGKARG_RENDER *r)
{
    CONST struct softgpu_cmd *in = r->pCommand;
    struct softgpu_cmd *out = r->pDmaBuffer;
    UINT n = r->CommandLength / sizeof(*in), room = r->DmaSize / sizeof(*out), i;

    UNREFERENCED_PARAMETER(h);
    if (r->CommandLength % sizeof(*in))
        return STATUS_INVALID_PARAMETER;
    for (i = r->MultipassOffset; i < n && i - r->MultipassOffset < room; i++) {
        struct softgpu_cmd c = in[i];
        if (c.op == OP_MAP)
            return STATUS_PRIVILEGE_NOT_HELD;
        if (c.op == OP_FILL) {
            if (c.pad >= r->AllocationListSize)
                return STATUS_INVALID_PARAMETER;
            r->pPatchLocationListOut->AllocationIndex = c.pad;
            r->pPatchLocationListOut->AllocationOffset = (UINT)c.address;
            r->pPatchLocationListOut->PatchOffset = (UINT)((PUCHAR)&out->address - (PUCHAR)r->pDmaBuffer);
            r->pPatchLocationListOut++;
        }
        *out++ = c;
    }
    r->pDmaBuffer = out;
    if (i < n) {
        r->MultipassOffset = i;
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    }
    break_render(r);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI Present(CONST HANDLE h, DXGKARG_PRESENT *p)
{
    struct softgpu_cmd *out = p->pDmaBuffer;

    UNREFERENCED_PARAMETER(h);
    if (!p->Flags.ColorFill)
        return STATUS_NOT_SUPPORTED;
    out->op = OP_FILL;
    out->value = p->Color;
    out->count = (UINT)((p->DstRect.right - p->DstRect.left) * (p->DstRect.bottom - p->DstRect.top));
    p->pPatchLocationListOut->AllocationIndex = DXGK_PRESENT_DESTINATION_INDEX;
    p->pPatchLocationListOut->AllocationOffset = 0;
    p->pPatchLocationListOut->PatchOffset = (UINT)offsetof(struct softgpu_cmd, address);
    p->pPatchLocationListOut++;
    p->pDmaBuffer = out + 1;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI Patch(CONST HANDLE h, CONST DXGKARG_PATCH *p)
{
    UNREFERENCED_PARAMETER(h);
    for (UINT i = 0; i < p->PatchLocationListSubmissionLength; i++) {
        CONST D3DDDI_PATCHLOCATIONLIST *l = &p->pPatchLocationList[p->PatchLocationListSubmissionStart + i];
        CONST DXGK_ALLOCATIONLIST *a = &p->pAllocationList[l->AllocationIndex];
        if (!a->SegmentId)
            return STATUS_INVALID_PARAMETER;
        *(uint64_t *)((PUCHAR)p->pDmaBuffer + l->PatchOffset) =
            (uint64_t)a->PhysicalAddress.QuadPart + l->AllocationOffset;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI SubmitCommand(CONST HANDLE h, CONST DXGKARG_SUBMITCOMMAND *s)
{
    struct adapter *a = h;
    uint64_t at = (uint64_t)s->DmaBufferPhysicalAddress.QuadPart + s->DmaBufferSubmissionStartOffset;

    KeAcquireSpinLockAtDpcLevel(&a->lock);
    wr(a, REG_CMD_LO, (ULONG)at);
    wr(a, REG_CMD_HI, (ULONG)(at >> 32));
    wr(a, REG_CMD_APERTURE, s->DmaBufferSegmentId);
    wr(a, REG_CMD_SIZE, s->DmaBufferSubmissionEndOffset - s->DmaBufferSubmissionStartOffset);
    a->submitted = s->SubmissionFenceId;
    wr(a, REG_SUBMIT, s->SubmissionFenceId);
    KeReleaseSpinLockFromDpcLevel(&a->lock);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI PreemptCommand(CONST HANDLE h, CONST DXGKARG_PREEMPTCOMMAND *p)
{
    struct adapter *a = h;

    wr(a, REG_CANCEL, 1); /* what has begun goes on; its completion reports the preemption */
    a->preempt = p->PreemptionFenceId;
    a->submitted = a->completed + 1;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI BuildPagingBuffer(CONST HANDLE h, DXGKARG_BUILDPAGINGBUFFER *b)
{
    struct softgpu_cmd *out = b->pDmaBuffer;

    UNREFERENCED_PARAMETER(h);
    RtlZeroMemory(out, sizeof(*out));
    out->op = OP_MAP;
    switch (b->Operation) {
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT:
        out->address = (uint64_t)b->MapApertureSegment.OffsetInPages << PAGE_SHIFT;
        out->count = (UINT)b->MapApertureSegment.NumberOfPages;
        out->value = (UINT)MmGetMdlPfnArray(b->MapApertureSegment.pMdl)[b->MapApertureSegment.MdlOffset];
        break;
    case DXGK_OPERATION_UNMAP_APERTURE_SEGMENT:
        out->address = (uint64_t)b->UnmapApertureSegment.OffsetInPages << PAGE_SHIFT;
        out->count = (UINT)b->UnmapApertureSegment.NumberOfPages;
        break;
    default:
        return STATUS_NOT_SUPPORTED;
    }
    b->pDmaBuffer = out + 1;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI QueryCurrentFence(CONST HANDLE h, DXGKARG_QUERYCURRENTFENCE *q)
{
    struct adapter *a = h;

    q->CurrentFence = rd(a, REG_COMPLETED);
    a->completed = q->CurrentFence;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI ResetFromTimeout(CONST HANDLE h)
{
    struct adapter *a = h;

    if (a->reset_fails == 1)
        return STATUS_UNSUCCESSFUL;
    wr(a, REG_IRQ_ENABLE, 0);
    wr(a, REG_RESET, 1);
    note_late(a);
    a->completed = a->submitted;
    a->preempt = 0;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI RestartFromTimeout(CONST HANDLE h)
{
    wr(h, REG_IRQ_ENABLE, IRQ_DONE | IRQ_FAULT);
    return ((struct adapter *)h)->reset_fails == 2 ? STATUS_UNSUCCESSFUL : STATUS_SUCCESS;
}

static NTSTATUS NTAPI CollectDbgInfo(CONST HANDLE h, CONST DXGKARG_COLLECTDBGINFO *c)
{
    *(ULONG *)c->pBuffer = rd(h, REG_COMPLETED);
    return STATUS_SUCCESS;
}

struct helper {
    WORK_QUEUE_ITEM item;
    KEVENT worked;
    volatile LONG count;
};

static VOID NTAPI work(PVOID parameter)
{
    struct helper *w = parameter;

    InterlockedIncrement(&w->count);
    KeSetEvent(&w->worked, 0, FALSE);
}

static VOID NTAPI thread(PVOID parameter)
{
    struct helper *w = parameter;

    InterlockedIncrement(&w->count);
    PsTerminateSystemThread(STATUS_SUCCESS);
}

static NTSTATUS run_threads(struct softgpu_escape *p)
{
    struct helper w = {.count = 0};
    PVOID objects[2] = {&w.worked, NULL};
    HANDLE handle;
    NTSTATUS s;

    KeInitializeEvent(&w.worked, NotificationEvent, FALSE);
    s = PsCreateSystemThread(&handle, THREAD_ALL_ACCESS, NULL, NULL, NULL, thread, &w);
    if (!NT_SUCCESS(s))
        return s;
    s = ObReferenceObjectByHandle(handle, THREAD_ALL_ACCESS, NULL, KernelMode, &objects[1], NULL);
    ZwClose(handle);
    if (!NT_SUCCESS(s))
        return s;
    ExInitializeWorkItem(&w.item, work, &w);
    ExQueueWorkItem(&w.item, DelayedWorkQueue);
    s = KeWaitForMultipleObjects(2, objects, WaitAll, Executive, KernelMode, FALSE, NULL, NULL);
    ObDereferenceObject(objects[1]);
    p->value = (UINT)w.count;
    return s;
}

static NTSTATUS NTAPI Escape(CONST HANDLE h, CONST DXGKARG_ESCAPE *e)
{
    struct adapter *a = h;
    struct softgpu_escape *p = e->pPrivateDriverData;
    LARGE_INTEGER t;
    PVOID token;

    if (e->PrivateDriverDataSize != sizeof(*p))
        return STATUS_INVALID_PARAMETER;
    switch (p->op) {
    case ESC_RESET_FAILS:
        a->reset_fails = (BOOLEAN)(1 + p->value);
        return STATUS_SUCCESS;
    case ESC_MODE_RULE:
        mode_rule = p->value;
        p->value2 = (UINT)mode_status;
        return STATUS_SUCCESS;
    case ESC_BAD_DPC:
        a->bad_dpc = TRUE;
        return STATUS_SUCCESS;
    case ESC_BLOCK:
        t.QuadPart = -10000000LL * p->value;
        return KeDelayExecutionThread(KernelMode, FALSE, &t);
    case ESC_BAD_FENCE:
        a->bad_fence = TRUE;
        return STATUS_SUCCESS;
    case ESC_COUNTERS:
        p->value = a->vsync_switches;
        p->value2 = a->vsync;
        return STATUS_SUCCESS;
    case ESC_THREADS:
        return run_threads(p);
    case ESC_CALLED:
        if (p->value >= NUM_CALLS)
            return STATUS_INVALID_PARAMETER;
        p->value2 = a->calls[p->value];
        return STATUS_SUCCESS;
    case ESC_EDID:
        edid_kind = p->value;
        return STATUS_SUCCESS;
    case ESC_NO_CONTEXTS:
        no_contexts = p->value != 0;
        return STATUS_SUCCESS;
    case ESC_MONITOR:
        return look_at_monitor(a, p);
    case ESC_ADMIN:
        token = PsReferencePrimaryToken(PsGetCurrentProcess());
        p->value = SeTokenIsAdmin(token);
        PsDereferencePrimaryToken(token);
        return STATUS_SUCCESS;
    default:
        return misbehave(a, p);
    }
}

/* ---- display ------------------------------------------------------------- */

static CONST struct {
    UINT w, h;
    D3DDDIFORMAT format;
} modes[] = {{640, 480, D3DDDIFMT_X8R8G8B8}, {320, 200, D3DDDIFMT_X8R8G8B8}, {320, 200, D3DDDIFMT_P8}};

static VOID count_pivot(struct adapter *a, D3DKMDT_ENUMCOFUNCMODALITY_PIVOT_TYPE pivot)
{
    static CONST UINT calls[] = {[D3DKMDT_EPT_VIDPNSOURCE] = CALL_PivotSource,
                                 [D3DKMDT_EPT_VIDPNTARGET] = CALL_PivotTarget,
                                 [D3DKMDT_EPT_SCALING] = CALL_PivotScaling,
                                 [D3DKMDT_EPT_ROTATION] = CALL_PivotRotation};

    a->calls[calls[pivot]]++;
}

static NTSTATUS NTAPI EnumVidPnCofuncModality(CONST HANDLE h, CONST DXGKARG_ENUMVIDPNCOFUNCMODALITY *CONST e)
{
    struct adapter *a = h;
    CONST DXGK_VIDPN_INTERFACE *v;
    CONST DXGK_VIDPNTOPOLOGY_INTERFACE *t;
    CONST DXGK_VIDPNSOURCEMODESET_INTERFACE *si;
    CONST DXGK_VIDPNTARGETMODESET_INTERFACE *ti;
    D3DKMDT_HVIDPNTOPOLOGY topology;
    D3DKMDT_HVIDPNSOURCEMODESET ss;
    D3DKMDT_HVIDPNTARGETMODESET ts;
    CONST D3DKMDT_VIDPN_PRESENT_PATH *path;
    NTSTATUS s =
        a->dxgk.DxgkCbQueryVidPnInterface(e->hConstrainingVidPn, DXGK_VIDPN_INTERFACE_VERSION_V1, &v);

    if (e->EnumPivotType !=
        D3DKMDT_EPT_NOPIVOT) { /* by then both sides are pinned: there is nothing left to offer */
        count_pivot(a, e->EnumPivotType);
        return s;
    }
    if (!NT_SUCCESS(s) || !NT_SUCCESS(s = v->pfnGetTopology(e->hConstrainingVidPn, &topology, &t)))
        return s;
    s = t->pfnAcquireFirstPathInfo(topology, &path);
    if (s != STATUS_SUCCESS)
        return s;
    s = v->pfnCreateNewSourceModeSet(e->hConstrainingVidPn, path->VidPnSourceId, &ss, &si);
    if (!NT_SUCCESS(s))
        goto path;
    s = v->pfnCreateNewTargetModeSet(e->hConstrainingVidPn, path->VidPnTargetId, &ts, &ti);
    if (!NT_SUCCESS(s))
        goto source;
    for (UINT i = 0; i < RTL_NUMBER_OF(modes); i++) {
        D3DKMDT_VIDPN_SOURCE_MODE *sm;
        D3DKMDT_VIDPN_TARGET_MODE *tm;
        s = si->pfnCreateNewModeInfo(ss, &sm);
        if (!NT_SUCCESS(s))
            goto target;
        s = ti->pfnCreateNewModeInfo(ts, &tm);
        if (!NT_SUCCESS(s)) {
            si->pfnReleaseModeInfo(ss, sm);
            goto target;
        }
        sm->Type = D3DKMDT_RMT_GRAPHICS;
        sm->Format.Graphics.PrimSurfSize.cx = sm->Format.Graphics.VisibleRegionSize.cx = modes[i].w;
        sm->Format.Graphics.PrimSurfSize.cy = sm->Format.Graphics.VisibleRegionSize.cy = modes[i].h;
        sm->Format.Graphics.Stride = modes[i].format == D3DDDIFMT_P8 ? modes[i].w : 4 * modes[i].w;
        sm->Format.Graphics.PixelFormat = modes[i].format;
        sm->Format.Graphics.ColorBasis = D3DKMDT_CB_SRGB;
        sm->Format.Graphics.PixelValueAccessMode =
            modes[i].format == D3DDDIFMT_P8 ? D3DKMDT_PVAM_SETTABLEPALETTE : D3DKMDT_PVAM_DIRECT;
        si->pfnAddMode(ss, sm);
        tm->VideoSignalInfo.VideoStandard = D3DKMDT_VSS_OTHER;
        tm->VideoSignalInfo.ActiveSize.cx = tm->VideoSignalInfo.TotalSize.cx = modes[i].w;
        tm->VideoSignalInfo.ActiveSize.cy = tm->VideoSignalInfo.TotalSize.cy = modes[i].h;
        tm->VideoSignalInfo.VSyncFreq.Numerator = 60;
        tm->VideoSignalInfo.VSyncFreq.Denominator = 1;
        tm->VideoSignalInfo.ScanLineOrdering = D3DDDI_VSSLO_PROGRESSIVE;
        tm->Preference = i ? D3DKMDT_MP_NOTPREFERRED : D3DKMDT_MP_PREFERRED;
        if (ti->pfnAddMode(ts, tm) == STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET)
            ti->pfnReleaseModeInfo(ts, tm);
    }
    break_rule(t, topology, si, ss);
    t->pfnReleasePathInfo(topology, path);
    v->pfnAssignSourceModeSet(e->hConstrainingVidPn, 0, ss);
    break_rule_of_assigned(v, e->hConstrainingVidPn, si, ss);
    return v->pfnAssignTargetModeSet(e->hConstrainingVidPn, 7, ts);
target:
    v->pfnReleaseTargetModeSet(e->hConstrainingVidPn, ts);
source:
    v->pfnReleaseSourceModeSet(e->hConstrainingVidPn, ss);
path:
    t->pfnReleasePathInfo(topology, path);
    return s;
}

static NTSTATUS NTAPI IsSupportedVidPn(CONST HANDLE h, DXGKARG_ISSUPPORTEDVIDPN *p)
{
    UNREFERENCED_PARAMETER(h);
    p->IsVidPnSupported = TRUE;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI CommitVidPn(CONST HANDLE h, CONST DXGKARG_COMMITVIDPN *CONST p)
{
    UNREFERENCED_PARAMETER(h);
    UNREFERENCED_PARAMETER(p);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI SetVidPnSourceAddress(CONST HANDLE h, CONST DXGKARG_SETVIDPNSOURCEADDRESS *p)
{
    wr(h, REG_SCAN, (ULONG)(p->PrimaryAddress.QuadPart >> PAGE_SHIFT));
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI SetVidPnSourceVisibility(CONST HANDLE h, CONST DXGKARG_SETVIDPNSOURCEVISIBILITY *p)
{
    wr(h, REG_SCAN_ENABLE, p->Visible);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI GetScanLine(CONST HANDLE h, DXGKARG_GETSCANLINE *g)
{
    UNREFERENCED_PARAMETER(h);
    g->InVerticalBlank = FALSE;
    g->ScanLine = 42;
    return STATUS_SUCCESS;
}

/* Those that are only counted; most have nothing to say. */
#define COUNTED_DDI(name, type, status)                                                                      \
    static NTSTATUS NTAPI name(CONST HANDLE h, CONST type *p)                                                \
    {                                                                                                        \
        UNREFERENCED_PARAMETER(p);                                                                           \
        ((struct adapter *)h)->calls[CALL_##name]++;                                                         \
        return status;                                                                                       \
    }
COUNTED_DDI(SetPalette, DXGKARG_SETPALETTE, p->NumEntries == 256 ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER)
COUNTED_DDI(SetPointerPosition, DXGKARG_SETPOINTERPOSITION, STATUS_SUCCESS)
COUNTED_DDI(SetPointerShape, DXGKARG_SETPOINTERSHAPE,
            *(CONST UCHAR *)p->pPixels == 0xAB ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER)
COUNTED_DDI(StopCapture, DXGKARG_STOPCAPTURE, STATUS_SUCCESS)
COUNTED_DDI(RecommendFunctionalVidPn, DXGKARG_RECOMMENDFUNCTIONALVIDPN,
            STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN)
COUNTED_DDI(UpdateActiveVidPnPresentPath, DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH, STATUS_SUCCESS)
COUNTED_DDI(RecommendMonitorModes, DXGKARG_RECOMMENDMONITORMODES, STATUS_SUCCESS)
COUNTED_DDI(RecommendVidPnTopology, DXGKARG_RECOMMENDVIDPNTOPOLOGY, STATUS_NOT_SUPPORTED)

static NTSTATUS NTAPI QueryVidPnHWCapability(CONST HANDLE h, DXGKARG_QUERYVIDPNHWCAPABILITY *p)
{
    ((struct adapter *)h)->calls[CALL_QueryVidPnHWCapability]++;
    p->VidPnHWCaps.DriverScaling = 1;
    return STATUS_SUCCESS;
}

__attribute__((visibility("default"))) DRIVER_INITIALIZE DriverEntry;
NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT driver, PUNICODE_STRING path)
{
    DRIVER_INITIALIZATION_DATA d = {.Version = DXGKDDI_INTERFACE_VERSION_WIN7};

#define SET_NEED(name) d.DxgkDdi##name = name;
#define SET_MAY(name)
#define SET_ROW(need, name, ...) SET_##need(name)
    WDDM_DDIS(SET_ROW, SET_ROW, WDDM_DDI_NONE)
    d.DxgkDdiQueryVidPnHWCapability = QueryVidPnHWCapability;
    return DxgkInitialize(driver, path, &d);
}
