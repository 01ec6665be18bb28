/* SPDX-License-Identifier: MIT */
/* irq.c: interrupt status, and how the host hears of it.
 *
 *   IRQ_STATUS & IRQ_ENABLE ──▶ INTx: the level follows it, unless INTx is disabled or MSI is on
 *                           ──▶ MSI: one message for each bit that becomes set, and one after an IRQ_ACK that
 *                                    leaves bits set, so that a driver that clears some causes is called again for
 *                                    the rest
 */
#include "gpu/internal.h"

static bool intx_level(const struct gpu *gpu)
{
    return gpu->irq_status & gpu->irq_enable && !(gpu->config.command & 0x400) && !gpu_msi_enabled(gpu);
}

bool gpu_intx(struct gpu *gpu)
{
    bool level;

    gpu_lock(gpu);
    level = intx_level(gpu);
    gpu_unlock(gpu);
    return level;
}

void gpu_irq_raise(struct gpu *gpu, uint32_t bits)
{
    /* FENCE and VBLANK latch only while enabled, so that enabling them never delivers something old. */
    gpu->irq_status |= bits & (gpu->irq_enable | AEROGPU_IRQ_ERROR);
    gpu_irq_update(gpu, false);
}

void gpu_irq_update(struct gpu *gpu, bool after_ack)
{
    uint32_t pending = gpu->irq_status & gpu->irq_enable;

    if (!intx_level(gpu))
        gpu->out.intx_fell = true;
    if (!gpu_msi_enabled(gpu) || !gpu_bus_master(gpu)) {
        gpu->out.msi_raised = 0; /* an MSI is due for all of it once messages can be sent */
        gpu->out.msi_count = 0;
        return;
    }
    if (pending & ~gpu->out.msi_raised || (after_ack && pending))
        gpu->out.msi_count++;
    gpu->out.msi_raised = pending;
}

void gpu_irq_check(const struct gpu *gpu)
{
    uint32_t pending = gpu->irq_status & gpu->irq_enable;

    INVARIANT(!(gpu->irq_status & ~(gpu->irq_enable | AEROGPU_IRQ_ERROR)));
    INVARIANT(!(gpu->irq_enable & ~(AEROGPU_IRQ_FENCE | AEROGPU_IRQ_SCANOUT_VBLANK | AEROGPU_IRQ_ERROR)));
    INVARIANT(gpu->features & AEROGPU_FEATURE_VBLANK || !(gpu->irq_enable & AEROGPU_IRQ_SCANOUT_VBLANK));
    INVARIANT(!(gpu->out.msi_raised & ~pending));
    INVARIANT(!gpu->out.msi_count || (gpu_msi_enabled(gpu) && gpu_bus_master(gpu)));
    if (gpu->out.delivering)
        return; /* another thread is about to tell the host */
    INVARIANT(!gpu->out.msi_count);
    INVARIANT(gpu->out.intx == intx_level(gpu));
}

static bool take(struct gpu *gpu, struct gpu_interrupt *irq)
{
    bool level = intx_level(gpu);

    if (gpu->out.msi_count) {
        gpu->out.msi_count--;
        *irq = (struct gpu_interrupt){
            .kind = GPU_MSI, .address = gpu->config.msi_address, .data = gpu->config.msi_data};
    } else if (gpu->out.intx && gpu->out.intx_fell) {
        /* It may be up again already: a host that runs the interrupt routine in its callback must see both edges. */
        gpu->out.intx = level = false;
        *irq = (struct gpu_interrupt){.kind = GPU_INTX, .level = false};
    } else if (level && !gpu->out.intx) {
        gpu->out.intx = true;
        gpu->out.intx_fell = false;
        *irq = (struct gpu_interrupt){.kind = GPU_INTX, .level = level};
    } else {
        return false;
    }
    if (irq->kind == GPU_MSI || level) {
        gpu->stats.interrupts++;
        gpu_emit(gpu, (struct gpu_event){.kind = GPU_EVENT_IRQ, .value = gpu->irq_status & gpu->irq_enable});
    }
    return true;
}

void gpu_irq_deliver(struct gpu *gpu)
{
    struct gpu_interrupt irq;

    if (gpu->out.delivering)
        return; /* that thread will see it when its callback returns */
    gpu->out.delivering = true;
    while (take(gpu, &irq)) {
        gpu->depth--;
        pthread_mutex_unlock(&gpu->lock);
        gpu->params.host->irq(gpu->params.host_ctx, &irq);
        pthread_mutex_lock(&gpu->lock);
        gpu->depth++;
    }
    gpu->out.delivering = false;
}
