/* SPDX-License-Identifier: MIT */
/* vblank.c: the vblank clock.
 *
 *   off ──start (SCANOUT0_ENABLE 0→1)──▶ ticking every period ──stop (1→0, device reset)──▶ off
 *
 * Edges lie at start + n * period exactly, however late they are noticed, so that the clock does not drift.
 * Each edge advances the sequence number, latches its interrupt if that is enabled at that time, and lets one
 * vsynced present retire.
 */
#include "gpu/internal.h"

static void rearm(struct gpu *gpu)
{
    if (gpu->armed == gpu->next_vblank)
        return;
    gpu->armed = gpu->next_vblank;
    gpu->params.host->arm_timer(gpu->params.host_ctx, gpu->next_vblank);
}

static void edge(struct gpu *gpu)
{
    gpu->vblank_time = gpu->next_vblank;
    gpu->vblank_seq++;
    gpu->stats.vblanks++;
    gpu->next_vblank += gpu->params.vblank_period_ns;
    gpu_emit(gpu, (struct gpu_event){
                      .kind = GPU_EVENT_VBLANK, .time_ns = gpu->vblank_time, .value = gpu->vblank_seq});
    gpu_irq_raise(gpu, AEROGPU_IRQ_SCANOUT_VBLANK);
    gpu->in_vblank = UINT64_MAX;
    gpu_retire(gpu);
    gpu->in_vblank = 0;
}

void gpu_vblank_catch_up(struct gpu *gpu)
{
    uint64_t now, period = gpu->params.vblank_period_ns;

    if (gpu->next_vblank == GPU_NEVER)
        return;
    now = clock_now(gpu->params.clock);
    while (gpu->next_vblank <= now) {
        uint64_t behind = (now - gpu->next_vblank) / period;
        /* A host that slept for hours: edges that nobody can tell apart are counted, not walked. */
        if (behind > 1000 && !gpu->queue.count) {
            gpu->vblank_seq += behind;
            gpu->stats.vblanks += behind;
            gpu->next_vblank += behind * period;
        }
        edge(gpu);
    }
    rearm(gpu);
}

void gpu_vblank_check(const struct gpu *gpu)
{
    bool ticks = gpu->scanout.enable && gpu->features & AEROGPU_FEATURE_VBLANK;

    INVARIANT((gpu->next_vblank != GPU_NEVER) == ticks);
    INVARIANT(gpu->armed == gpu->next_vblank || gpu->armed == GPU_NEVER);
    INVARIANT(gpu->vblank_time < gpu->next_vblank);
    INVARIANT(gpu->params.vblank_period_ns);
    INVARIANT(!gpu->in_vblank);
    INVARIANT(gpu->vblank_seq >= gpu->seen.vblank_seq || gpu->seen.resets != gpu->resets);
    INVARIANT(gpu->vblank_seq <= gpu->stats.vblanks);
}

void gpu_vblank_start(struct gpu *gpu)
{
    if (!(gpu->features & AEROGPU_FEATURE_VBLANK))
        return;
    gpu->next_vblank = clock_now(gpu->params.clock) + gpu->params.vblank_period_ns;
    rearm(gpu);
}

void gpu_vblank_stop(struct gpu *gpu)
{
    gpu->next_vblank = GPU_NEVER;
    rearm(gpu);
    gpu->irq_status &= ~AEROGPU_IRQ_SCANOUT_VBLANK;
    gpu_irq_update(gpu, false);
    gpu_retire(gpu); /* what waited for a vblank does not any more */
}
