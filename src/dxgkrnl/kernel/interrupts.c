/* SPDX-License-Identifier: MIT */
/* interrupts.c: what interrupts the processor's thread: interrupt routines and DPCs, and the IRQL that holds them off. */
#include <stdatomic.h>

#include "base/check.h"
#include "dxgkrnl/kernel/state.h"

enum {
    DEAF = 16,     /* messages in a row that the ISR may find nothing of: it has dealt with all, or is off */
    STORM = 10000, /* runs of the ISR in a row before the line is declared stuck; of DPCs: they are a loop */
};

bool dxgk_kernel_interrupt_pending(struct kernel *k)
{
    return atomic_load(&k->connected) && (atomic_load(&k->pending) || atomic_load(&k->line));
}

static bool run_isr(struct kernel *k, unsigned message)
{
    KIRQL old = k->irql;
    bool claimed;

    INVARIANT(old < DIRQL); /* 2 */
    k->irql = DIRQL;
    claimed = k->ops.isr(k->ctx, message);
    k->irql = old;
    return claimed;
}

/* A message is the adapter's alone. */
static void deliver_message(struct kernel *k, unsigned message)
{
    if (run_isr(k, message)) {
        k->claimed++;
        k->unclaimed = 0;
    } else if (!k->guard.dead && ++k->unclaimed == DEAF) {
        dxgk_kernel_violation(
            k, "DxgkDdiInterruptRoutine returned FALSE for %u interrupts of its adapter in a row", DEAF);
    }
}

void dxgk_kernel_interrupt_missed(struct kernel *k)
{
    if (!k->claimed && k->unclaimed && k->unclaimed < DEAF) {
        dxgk_kernel_violation(
            k,
            "DxgkDdiInterruptRoutine returned FALSE for each of the %u interrupts of its adapter that there were",
            k->unclaimed);
        k->unclaimed = DEAF;
    }
}

bool dxgk_kernel_interrupt_of_neighbour(struct kernel *k)
{
    KIRQL old = k->irql;
    bool claimed;

    INVARIANT(old < DIRQL);
    if (dxgk_kernel_interrupt_pending(k))
        return false; /* one of the device's own comes first */
    k->irql = DIRQL;
    claimed = k->ops.isr(k->ctx, 0);
    k->irql = old;
    return claimed && !dxgk_kernel_interrupt_pending(k);
}

static void deliver_interrupts(struct kernel *k)
{
    uint32_t pending;

    if (!k->connected)
        return;
    while (atomic_load(&k->pending) && (pending = atomic_exchange(&k->pending, 0)))
        for (; pending; pending &= pending - 1)
            deliver_message(k, (unsigned)__builtin_ctz(pending));
    for (unsigned n = 0; atomic_load(&k->line); n++) {
        if (n == STORM) {
            dxgk_kernel_violation(k, "interrupt storm: the line is still asserted after %d runs of the ISR",
                                  STORM);
            k->connected = false;
            return;
        }
        run_isr(k, 0);
    }
}

void dxgk_kernel_queue_dpc(struct kernel *k, KDPC *dpc)
{
    if (dpc->DpcData)
        return; /* queued already */
    dpc->DpcData = k;
    dpc->DpcListEntry.Flink = &k->dpcs;
    dpc->DpcListEntry.Blink = k->dpcs.Blink;
    k->dpcs.Blink->Flink = &dpc->DpcListEntry;
    k->dpcs.Blink = &dpc->DpcListEntry;
}

unsigned dxgk_kernel_forget_dpcs(struct kernel *k, const void *memory, size_t size)
{
    LIST_ENTRY *next;
    unsigned n = 0;

    for (LIST_ENTRY *e = k->dpcs.Flink; e != &k->dpcs; e = next) {
        KDPC *dpc = CONTAINING_RECORD(e, KDPC, DpcListEntry);
        next = e->Flink;
        if ((uintptr_t)dpc - (uintptr_t)memory >= size)
            continue;
        RemoveEntryList(e);
        dpc->DpcData = NULL;
        n++;
    }
    return n;
}

void dxgk_kernel_drain(struct kernel *k)
{
    if (k->draining || k->irql >= DISPATCH_LEVEL)
        return;
    k->draining = true;
    for (unsigned n = 0;; n++) {
        KDPC *dpc;
        KIRQL old = k->irql;

        deliver_interrupts(k);
        if (k->dpcs.Flink == &k->dpcs)
            break;
        dpc = CONTAINING_RECORD(k->dpcs.Flink, KDPC, DpcListEntry);
        k->dpcs.Flink = dpc->DpcListEntry.Flink;
        k->dpcs.Flink->Blink = &k->dpcs;
        dpc->DpcData = NULL;
        k->irql = DISPATCH_LEVEL;
        KERNEL_CALL(k, "a DPC routine", DISPATCH_LEVEL, 0, {
            if (n == STORM) /* the watch sees many short calls */
                dxgk_guard_die(k, VIDEO_TDR_FAILURE_CODE, "a loop of DPCs, 10000 in a row");
            KERNEL_GUEST(dpc->DeferredRoutine)
            (dpc, dpc->DeferredContext, dpc->SystemArgument1, dpc->SystemArgument2);
        });
        k->irql = old;
    }
    k->draining = false;
}

KIRQL dxgk_kernel_raise(struct kernel *k, KIRQL to)
{
    KIRQL old = k->irql;

    if (to < old)
        dxgk_kernel_violation(k, "KeRaiseIrql from %d to the lower IRQL %d", old, to);
    if (to > HIGH_LEVEL)
        dxgk_kernel_violation(k, "KeRaiseIrql to %d, the highest is %d", to, HIGH_LEVEL);
    k->irql = to > HIGH_LEVEL ? HIGH_LEVEL : to;
    dxgk_guard_above(k);
    return old;
}

void dxgk_kernel_lower(struct kernel *k, KIRQL to)
{
    if (to > k->irql)
        dxgk_kernel_violation(k, "KeLowerIrql from %d to the higher IRQL %d", k->irql, to);
    k->irql = to;
    dxgk_guard_above(k);
    dxgk_kernel_drain(k);
}
