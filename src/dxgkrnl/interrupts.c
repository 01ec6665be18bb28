/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/adapter.h"

#include <stdarg.h>
#include <stdio.h>

#include "dxgkrnl/telemetry/flight.h"

void dxgk_interrupts_notify(struct dxgk *d, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    struct interrupts *q = &d->interrupts;

    INVARIANT(q->count <= MAX_RECORDS && q->head < MAX_RECORDS);
    if (q->count == MAX_RECORDS) {
        dxgk_kernel_violation(d->kernel, "DxgkCbNotifyInterrupt %d times without DxgkCbNotifyDpc",
                              MAX_RECORDS);
        return;
    }
    q->records[(q->head + q->count++) % MAX_RECORDS] =
        (struct record){*data,
                        data->InterruptType == DXGK_INTERRUPT_CRTC_VSYNC ||
                                data->InterruptType == DXGK_INTERRUPT_DISPLAYONLY_VSYNC
                            ? dxgk_kernel_now(d->kernel)
                            : 0,
                        dxgk_kernel_ddi(d->kernel)};
}

void dxgk_interrupts_wrong(struct dxgk *d, const char *fmt, ...)
{
    const char *in = d->interrupts.in;
    char what[200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    dxgk_kernel_violation(d->kernel, "DxgkCbNotifyInterrupt, called %s%s, reported %s",
                          in ? "in " : "by no DDI", in ? in : "", what);
}

/* What a record names besides fences and nodes. */
static void judge(struct dxgk *d, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    struct judge j = {.d = d, .ddi = "DxgkCbNotifyInterrupt"};
    UINT engine = 0;

    ANSWER(&j, ANSWER_REMARK, data, Flags.Reserved, !v, "reserved, 0");
    if (data->InterruptType == DXGK_INTERRUPT_DMA_COMPLETED)
        engine = data->DmaCompleted.EngineOrdinal;
    else if (data->InterruptType == DXGK_INTERRUPT_DMA_PREEMPTED)
        engine = data->DmaPreempted.EngineOrdinal;
    else if (data->InterruptType == DXGK_INTERRUPT_DMA_FAULTED)
        engine = data->DmaFaulted.EngineOrdinal;
    if (engine && d->caps.SchedulingCaps.MultiEngineAware)
        dxgk_interrupts_wrong(d, "EngineOrdinal %u of interrupt type %d: a node has engine 0 alone", engine,
                              (int)data->InterruptType);
}

static void late_vblank(void *ctx)
{
    struct dxgk *d = ctx;

    dxgk_display_vblank(d, d->injection.late_target, d->injection.late_address, d->injection.late_raised_ns,
                        dxgk_kernel_now(d->kernel));
}

/* A CRTC_VSYNC that the miniport reported, on its way to the display. */
static void vsync(struct dxgk *d, const struct record *r)
{
    UINT target = r->data.CrtcVsync.VidPnTargetId;
    PHYSICAL_ADDRESS address = r->data.CrtcVsync.PhysicalAddress;
    uint32_t n;

    bb_flight_event(d->flight, DXGK_FLIGHT_VBLANK, target, (uint64_t)address.QuadPart, 0);
    if (dxgk_fault_take(d, DXGK_FAULT_MISS_VBLANK))
        return;
    n = dxgk_fault_take_value(d, DXGK_FAULT_LATE_VBLANK);
    if (n) {
        d->injection.late_target = target;
        d->injection.late_address = address;
        d->injection.late_raised_ns = r->time_ns;
        dxgk_kernel_arm(d->kernel, &d->injection.late_vblank, dxgk_kernel_now(d->kernel) + n * NSEC_PER_USEC,
                        late_vblank, d);
        return;
    }
    for (n = dxgk_fault_take_value(d, DXGK_FAULT_BURST_VBLANK) + 1; n; n--)
        dxgk_display_vblank(d, target, address, r->time_ns, r->time_ns);
}

void dxgk_interrupts_dispatch(struct dxgk *d)
{
    struct interrupts *q = &d->interrupts;

    INVARIANT(q->count <= MAX_RECORDS && q->head < MAX_RECORDS);
    while (q->count) {
        struct record r = q->records[q->head];

        q->head = (q->head + 1) % MAX_RECORDS;
        q->count--;
        q->in = r.in;
        judge(d, &r.data);
        if (r.data.InterruptType >= DXGK_INTERRUPT_DISPLAYONLY_VSYNC && !d->displayonly) {
            dxgk_interrupts_wrong(d, "the interrupt type %d; of Windows 7 there are 1 to 4",
                                  (int)r.data.InterruptType);
            continue;
        }
        switch (r.data.InterruptType) {
        case DXGK_INTERRUPT_DMA_COMPLETED:
            dxgk_node_completed(d, &r.data);
            break;
        case DXGK_INTERRUPT_DMA_PREEMPTED:
            dxgk_node_preempted(d, &r.data);
            break;
        case DXGK_INTERRUPT_DMA_FAULTED:
            dxgk_node_faulted(d, &r.data);
            break;
        case DXGK_INTERRUPT_CRTC_VSYNC:
            vsync(d, &r);
            break;
        case DXGK_INTERRUPT_DISPLAYONLY_VSYNC:
            r.data.CrtcVsync.VidPnTargetId = r.data.DisplayOnlyVsync.VidPnTargetId;
            r.data.CrtcVsync.PhysicalAddress.QuadPart = 0;
            vsync(d, &r);
            break;
        case DXGK_INTERRUPT_DISPLAYONLY_PRESENT_PROGRESS:
            dxgk_displayonly_progress(d, &r.data);
            break;
        default:
            dxgk_interrupts_wrong(d, "the interrupt type %d, which there is not", (int)r.data.InterruptType);
        }
    }
}
