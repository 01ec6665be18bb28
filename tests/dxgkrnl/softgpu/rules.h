/* SPDX-License-Identifier: MIT */
/* rules.h: rules that the toy GPU's driver breaks when it is asked to. A part of kmd.c. */
#pragma once

static void init_locks(struct adapter *a)
{
    KeInitializeSpinLock(&a->lock);
    KeInitializeMutex(&a->mutex, 0);
    ExInitializeFastMutex(&a->fast);
}

static void misbehave(struct adapter *a, const struct softgpu_escape *e)
{
    if (e->op == ESC_CLAIMS_ALL)
        claims_all = e->value != 0;
    else if (e->op == ESC_WRONG_ADDRESS)
        a->wrong_address = TRUE;
    else if (e->value)
        ExAcquireFastMutex(&a->fast);
    else
        KeWaitForSingleObject(&a->mutex, Executive, KernelMode, FALSE, NULL);
}
