/* SPDX-License-Identifier: MIT */
/* rules.h: rules that the toy GPU's driver breaks when it is asked to. A part of kmd.c. */
#pragma once

static void init_locks(struct adapter *a)
{
    loop_isr = fault_isr = FALSE;
    KeInitializeSpinLock(&a->lock);
    KeInitializeMutex(&a->mutex, 0);
    ExInitializeFastMutex(&a->fast);
}

/* At the IRQL of an interrupt, which is where notes are taken. */
static BOOLEAN NTAPI note_last(PVOID c)
{
    struct adapter *a = c;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED};

    data.DmaCompleted.SubmissionFenceId = a->submitted;
    a->dxgk.DxgkCbNotifyInterrupt(a->dxgk.DeviceHandle, &data);
    return TRUE;
}

static void note_late(struct adapter *a)
{
    BOOLEAN noted;

    if (a->late_note)
        a->dxgk.DxgkCbSynchronizeExecution(a->dxgk.DeviceHandle, note_last, a, 0, &noted);
}

/* What a sanitizer would find before the processor does. */
#define ON_PURPOSE __attribute__((noinline, no_sanitize("address"), no_sanitize("undefined")))

static ON_PURPOSE UINT deeper(volatile UINT *p)
{
    volatile UINT here[64];

    here[0] = *p + 1;
    if (here[0] == 0xFFFFFFFF)
        return 0;
    return deeper(here) + here[0];
}

static ON_PURPOSE void fault(UINT kind)
{
    volatile UINT zero = 0, *volatile nowhere = NULL;

    switch (kind) {
    case EXC_WRITE:
    case EXC_ISR:
        nowhere[1] = 1;
        return;
    case EXC_READ:
        zero = nowhere[2];
        return;
    case EXC_DIVIDE:
        zero = 7 / zero;
        return;
    case EXC_STACK:
        deeper(&zero);
        return;
    default:
        __builtin_trap();
    }
}

static void loop(UINT kind)
{
    LARGE_INTEGER t = {.QuadPart = -10000};
    volatile BOOLEAN ready = FALSE;

    loop_isr = kind == LOOP_ISR;
    if (loop_isr)
        return;
    while (!ready)
        if (kind == LOOP_STALL)
            KeStallExecutionProcessor(50);
        else if (kind == LOOP_DELAY)
            KeDelayExecutionThread(KernelMode, FALSE, &t);
}

static void leave_timer(struct adapter *a, BOOLEAN unload)
{
    LARGE_INTEGER t = {.QuadPart = -10000000000};
    PKTIMER timer = unload ? &a->timer : ExAllocatePoolWithTag(NonPagedPool, sizeof(*timer), TAG);

    KeInitializeTimer(timer);
    KeSetTimer(timer, t, NULL);
    if (!unload)
        ExFreePoolWithTag(timer, TAG);
}

static UINT dma_segments, dma_pages; /* of contexts: DmaBufferSegmentSet, DmaBufferSize if not 0 */
static UINT render_rule;             /* enum softgpu_render_rule, of the next Render */

static void break_render(DXGKARG_RENDER *r)
{
    switch (render_rule) {
    case RENDER_TOO_FAR:
        r->pDmaBuffer = (PUCHAR)r->pDmaBuffer + r->DmaSize;
        break;
    case RENDER_OF_NOBODY:
        r->pPatchLocationListOut->AllocationIndex = r->AllocationListSize;
        r->pPatchLocationListOut++->PatchOffset = 0;
        break;
    case RENDER_NOWHERE:
        r->pPatchLocationListOut->AllocationIndex = 0;
        r->pPatchLocationListOut++->PatchOffset = r->DmaSize;
        break;
    default:
        break;
    }
    render_rule = RENDER_WELL;
}

static NTSTATUS misbehave(struct adapter *a, const struct softgpu_escape *e)
{
    KIRQL old;

    switch (e->op) {
    case ESC_RENDER_RULE:
        render_rule = e->value;
        return STATUS_SUCCESS;
    case ESC_DMA_SEGMENTS:
        dma_segments = e->value;
        dma_pages = e->value2;
        return STATUS_SUCCESS;
    case ESC_CLAIMS_ALL:
        claims_all = e->value != 0;
        return STATUS_SUCCESS;
    case ESC_WRONG_ADDRESS:
        a->wrong_address = TRUE;
        return STATUS_SUCCESS;
    case ESC_STOP_WAITS:
        a->stop_waits = TRUE;
        return STATUS_SUCCESS;
    case ESC_NO_VSYNC:
        a->no_vsync = TRUE;
        return STATUS_SUCCESS;
    case ESC_LATE_NOTE:
        a->late_note = TRUE;
        return STATUS_SUCCESS;
    case ESC_WRONG_TARGET:
        a->wrong_target = TRUE;
        return STATUS_SUCCESS;
    case ESC_CRITICAL:
        if (e->value)
            KeEnterGuardedRegion();
        else
            KeEnterCriticalRegion();
        return STATUS_SUCCESS;
    case ESC_LEAVE_TIMER:
        leave_timer(a, e->value != 0);
        return STATUS_SUCCESS;
    case ESC_LOOP:
        loop(e->value);
        return STATUS_SUCCESS;
    case ESC_EXCEPTION:
        if (e->value == EXC_ISR)
            fault_isr = TRUE;
        else
            fault(e->value);
        return STATUS_SUCCESS;
    case ESC_DOUBLE_LOCK:
        KeAcquireSpinLock(&a->lock, &old);
        KeAcquireSpinLockAtDpcLevel(&a->lock);
        KeReleaseSpinLock(&a->lock, old);
        return STATUS_SUCCESS;
    case ESC_KEEP_MUTEX:
        if (e->value)
            ExAcquireFastMutex(&a->fast);
        else
            KeWaitForSingleObject(&a->mutex, Executive, KernelMode, FALSE, NULL);
        return STATUS_SUCCESS;
    default:
        return STATUS_NOT_SUPPORTED;
    }
}
