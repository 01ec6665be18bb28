/* SPDX-License-Identifier: MIT */
/* rules.h: rules that the toy GPU's driver breaks when it is asked to. A part of kmd.c. */
#pragma once

static void init_locks(struct adapter *a)
{
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

static void misbehave(struct adapter *a, const struct softgpu_escape *e)
{
    if (e->op == ESC_CLAIMS_ALL)
        claims_all = e->value != 0;
    else if (e->op == ESC_WRONG_ADDRESS)
        a->wrong_address = TRUE;
    else if (e->op == ESC_NO_VSYNC)
        a->no_vsync = TRUE;
    else if (e->op == ESC_LATE_NOTE)
        a->late_note = TRUE;
    else if (e->value)
        ExAcquireFastMutex(&a->fast);
    else
        KeWaitForSingleObject(&a->mutex, Executive, KernelMode, FALSE, NULL);
}
