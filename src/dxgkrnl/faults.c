/* faults.c: see faults.h. Interrupt faults are asked for by the device's thread, without the processor. */
#include "dxgkrnl/faults.h"
#include "dxgkrnl/private.h"

#define LOOK_NS NSEC_PER_MSEC

static bool take(struct dxgk *d, enum dxgk_fault f)
{
    uint32_t left = atomic_load_explicit(&d->faults[f], memory_order_relaxed);

    while (left)
        if (atomic_compare_exchange_weak(&d->faults[f], &left, left - 1))
            return true;
    return false;
}

bool fault_take(struct dxgk *d, enum dxgk_fault f)
{
    return atomic_load_explicit(&d->faults[f], memory_order_relaxed) && take(d, f);
}

/* The value of a fault that happens once. */
uint32_t fault_take_value(struct dxgk *d, enum dxgk_fault f)
{
    return atomic_exchange(&d->faults[f], 0);
}

/* Looks every LOOK_NS, from the moment that the fault is armed, for a message that was held back: whoever brings messages
 * must not wait for the processor, and so cannot arm a timer. */
static void look_for_late(void *ctx)
{
    struct dxgk *d = ctx;
    uint64_t now = kernel_now(d->kernel), due = atomic_load(&d->late_ns);

    if (due && due <= now) {
        atomic_store(&d->late_ns, 0);
        kernel_interrupt(d->kernel, d->late_message);
        due = 0;
    }
    if (due || atomic_load(&d->faults[DXGK_FAULT_DELAY_INTERRUPT]))
        kernel_arm(d->kernel, &d->late_timer, due && due < now + LOOK_NS ? due : now + LOOK_NS, look_for_late,
                   d);
}

NTSTATUS dxgk_inject(struct dxgk *d, uint32_t fault, uint32_t value)
{
    if (fault >= DXGK_NUM_FAULTS)
        return STATUS_INVALID_PARAMETER;
    if (fault >= DXGK_FAULT_LOSE_DOORBELL)
        return d->bus->inject ? d->bus->inject(d->bus->ctx, fault, value) : STATUS_NOT_SUPPORTED;
    atomic_store(&d->faults[fault], value);
    if (fault == DXGK_FAULT_DELAY_INTERRUPT && value) {
        kernel_enter(d->kernel);
        kernel_arm(d->kernel, &d->late_timer, kernel_now(d->kernel) + LOOK_NS, look_for_late, d);
        kernel_leave(d->kernel);
    }
    return STATUS_SUCCESS;
}

void dxgk_interrupt(struct dxgk *d, unsigned message)
{
    uint32_t late;

    if (fault_take(d, DXGK_FAULT_LOSE_INTERRUPT))
        return;
    if (atomic_load_explicit(&d->faults[DXGK_FAULT_DELAY_INTERRUPT], memory_order_relaxed)) {
        atomic_store(&d->late_ns, UINT64_MAX); /* so that the timer stays armed */
        late = fault_take_value(d, DXGK_FAULT_DELAY_INTERRUPT);
        d->late_message = message;
        atomic_store(&d->late_ns, kernel_now(d->kernel) + late * NSEC_PER_USEC);
        return;
    }
    kernel_interrupt(d->kernel, message);
    if (fault_take(d, DXGK_FAULT_DOUBLE_INTERRUPT))
        kernel_interrupt(d->kernel, message); /* finds nothing, or the first one's work */
}

static void late_vblank(void *ctx)
{
    struct dxgk *d = ctx;

    for (unsigned i = 0; i < d->num_sources; i++)
        if (d->sources[i].committed && d->sources[i].target == d->late_target)
            display_vblank(d, d->late_target, d->late_address, kernel_now(d->kernel));
}

/* A CRTC_VSYNC that the miniport reported, on its way to the display. */
void fault_vblank(struct dxgk *d, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data, uint64_t time_ns)
{
    uint32_t n;

    if (fault_take(d, DXGK_FAULT_MISS_VBLANK))
        return;
    n = fault_take_value(d, DXGK_FAULT_LATE_VBLANK);
    if (n) {
        d->late_target = data->CrtcVsync.VidPnTargetId;
        d->late_address = data->CrtcVsync.PhysicalAddress;
        kernel_arm(d->kernel, &d->late_vblank, kernel_now(d->kernel) + n * NSEC_PER_USEC, late_vblank, d);
        return;
    }
    for (n = fault_take_value(d, DXGK_FAULT_BURST_VBLANK) + 1; n; n--)
        display_vblank(d, data->CrtcVsync.VidPnTargetId, data->CrtcVsync.PhysicalAddress, time_ns);
}

/* A DDI that does not come back in time: waits inside it, where TdrDdiDelay counts. */
void fault_block(struct dxgk *d)
{
    uint32_t ms = fault_take_value(d, DXGK_FAULT_BLOCK_DDI);
    struct kwaiters nobody = {0};

    if (ms)
        kernel_wait(d->kernel, &nobody, kernel_now(d->kernel) + ms * NSEC_PER_MSEC);
}

void faults_stop(struct dxgk *d)
{
    atomic_store(&d->late_ns, 0);
    kernel_cancel(d->kernel, &d->late_timer);
    kernel_cancel(d->kernel, &d->late_vblank);
}
