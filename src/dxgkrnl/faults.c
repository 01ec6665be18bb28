/* SPDX-License-Identifier: MIT */
/* faults.c: see faults.h. Interrupt faults are asked for by the device's thread, without the processor. */
#include "dxgkrnl/adapter.h"

#define LOOK_NS NSEC_PER_MSEC

static bool take(struct dxgk *d, enum dxgk_fault f)
{
    uint32_t left = atomic_load_explicit(&d->injection.armed[f], memory_order_relaxed);

    while (left)
        if (atomic_compare_exchange_weak(&d->injection.armed[f], &left, left - 1))
            return true;
    return false;
}

bool dxgk_fault_take(struct dxgk *d, enum dxgk_fault f)
{
    return atomic_load_explicit(&d->injection.armed[f], memory_order_relaxed) && take(d, f);
}

uint32_t dxgk_fault_take_value(struct dxgk *d, enum dxgk_fault f)
{
    return atomic_exchange(&d->injection.armed[f], 0);
}

/* Looks every LOOK_NS, from the moment that the fault is armed, for a message that was held back: threads that
 * bring messages must not wait for the processor, and so cannot arm a timer. */
static void look_for_late(void *ctx)
{
    struct dxgk *d = ctx;
    uint64_t now = dxgk_kernel_now(d->kernel), due = atomic_load(&d->injection.late_ns);

    if (due && due <= now) {
        atomic_store(&d->injection.late_ns, 0);
        dxgk_kernel_interrupt(d->kernel, d->injection.late_message);
        due = 0;
    }
    if (due || atomic_load(&d->injection.armed[DXGK_FAULT_DELAY_INTERRUPT]))
        dxgk_kernel_arm(d->kernel, &d->injection.late_timer, due && due < now + LOOK_NS ? due : now + LOOK_NS,
                        look_for_late, d);
}

NTSTATUS dxgk_inject(struct dxgk *d, uint32_t fault, uint32_t value)
{
    if (fault >= DXGK_NUM_FAULTS)
        return STATUS_INVALID_PARAMETER;
    if (fault >= DXGK_FAULT_LOSE_DOORBELL)
        return d->bus->inject ? d->bus->inject(d->bus->ctx, fault, value) : STATUS_NOT_SUPPORTED;
    atomic_store(&d->injection.armed[fault], value);
    if (fault == DXGK_FAULT_DELAY_INTERRUPT && value) {
        dxgk_kernel_enter(d->kernel);
        dxgk_kernel_arm(d->kernel, &d->injection.late_timer, dxgk_kernel_now(d->kernel) + LOOK_NS,
                        look_for_late, d);
        dxgk_kernel_leave(d->kernel);
    }
    return STATUS_SUCCESS;
}

void dxgk_interrupt(struct dxgk *d, unsigned message)
{
    uint32_t late;

    if (dxgk_fault_take(d, DXGK_FAULT_LOSE_INTERRUPT))
        return;
    if (atomic_load_explicit(&d->injection.armed[DXGK_FAULT_DELAY_INTERRUPT], memory_order_relaxed)) {
        atomic_store(&d->injection.late_ns, UINT64_MAX); /* so that the timer stays armed */
        late = dxgk_fault_take_value(d, DXGK_FAULT_DELAY_INTERRUPT);
        d->injection.late_message = message;
        atomic_store(&d->injection.late_ns, dxgk_kernel_now(d->kernel) + late * NSEC_PER_USEC);
        return;
    }
    dxgk_kernel_interrupt(d->kernel, message);
    if (dxgk_fault_take(d, DXGK_FAULT_DOUBLE_INTERRUPT))
        dxgk_kernel_interrupt(d->kernel, message); /* finds nothing, or the first one's work */
}

void dxgk_fault_block(struct dxgk *d)
{
    uint32_t ms = dxgk_fault_take_value(d, DXGK_FAULT_BLOCK_DDI);
    struct kwaiters none = {0};

    if (ms)
        dxgk_kernel_wait(d->kernel, &none, dxgk_kernel_now(d->kernel) + ms * NSEC_PER_MSEC);
}

void dxgk_faults_stop(struct dxgk *d)
{
    atomic_store(&d->injection.late_ns, 0);
    dxgk_kernel_cancel(d->kernel, &d->injection.late_timer);
    dxgk_kernel_cancel(d->kernel, &d->injection.late_vblank);
}
