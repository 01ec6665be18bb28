/* SPDX-License-Identifier: MIT */
#include "gpu/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <aerogpu/ext.h>

static int open_vram(struct gpu *gpu)
{
    void *p;

    gpu->vram_fd = memfd_create("aerogpu-vram", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (gpu->vram_fd < 0)
        return -errno;
    /* Who gets the descriptor can write there, and not cut it off from below us. */
    if (ftruncate(gpu->vram_fd, AEROGPU_BAR1_SIZE) ||
        fcntl(gpu->vram_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        return -errno;
    p = mmap(NULL, AEROGPU_BAR1_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, gpu->vram_fd, 0);
    if (p == MAP_FAILED)
        return -errno;
    gpu->vram = p;
    return 0;
}

int gpu_create(struct gpu **out, const struct gpu_params *p)
{
    pthread_mutexattr_t attr;
    struct gpu *gpu;
    int r;

    if (!p->host || !p->host->dma_map || !p->host->irq || !p->host->arm_timer || !p->backend ||
        !p->backend->submit || !p->backend->reset || !p->clock)
        return -EINVAL;
    gpu = calloc(1, sizeof(*gpu));
    if (!gpu)
        return -ENOMEM;
    gpu->params = *p;
    if (!gpu->params.vblank_period_ns)
        gpu->params.vblank_period_ns = 16666667;
    gpu->features = (AEROGPU_FEATURES_ALL | AEROGPU_EXT_FEATURES_ALL) & ~p->without_features;
    gpu->vram_fd = -1;
    gpu->armed = GPU_NEVER;
    gpu->queue.next_id = 1;
    gpu_queue_drop_all(gpu);
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&gpu->lock, &attr);
    pthread_mutexattr_destroy(&attr);
    r = open_vram(gpu);
    if (r) {
        gpu_destroy(gpu);
        return r;
    }
    gpu_config_init(&gpu->config);
    gpu_regs_reset(gpu);
    *out = gpu;
    return 0;
}

void gpu_destroy(struct gpu *gpu)
{
    if (!gpu)
        return;
    if (gpu->vram)
        munmap(gpu->vram, AEROGPU_BAR1_SIZE);
    if (gpu->vram_fd >= 0)
        close(gpu->vram_fd);
    pthread_mutex_destroy(&gpu->lock);
    free(gpu);
}

/* What this folder's files promise each other, whenever nobody is inside. */
static void gpu_check(struct gpu *gpu)
{
    INVARIANT(gpu->depth == 1);
    INVARIANT(!gpu->retire_pending);
    INVARIANT(gpu->vram && gpu->vram_fd >= 0);
    INVARIANT(!(gpu->features & ~(AEROGPU_FEATURES_ALL | AEROGPU_EXT_FEATURES_ALL)));
    INVARIANT(!gpu->error_count == !gpu->error_code && gpu->error_count <= gpu->stats.errors);
    INVARIANT(gpu->error_count || (!gpu->error_fence && !(gpu->irq_status & AEROGPU_IRQ_ERROR)));
    INVARIANT(gpu->stats.ring_resets <= gpu->resets);
    gpu_queue_check(gpu);
    gpu_vblank_check(gpu);
    gpu_irq_check(gpu);
    gpu_config_check(gpu);
    gpu_scanout_check(gpu);
    gpu->seen.completed_fence = gpu->completed[0];
    gpu->seen.vblank_seq = gpu->vblank_seq;
    gpu->seen.next_id = gpu->queue.next_id;
    gpu->seen.resets = gpu->resets;
}

/* Without vblanks: for accesses that do the same before one that is due and after it, and that are on every fence's way. */
static void lock_only(struct gpu *gpu)
{
    pthread_mutex_lock(&gpu->lock);
    gpu->depth++;
    if (gpu->depth == 1)
        gpu_check(gpu);
}

void gpu_lock(struct gpu *gpu)
{
    lock_only(gpu);
    if (gpu->depth == 1)
        gpu_vblank_catch_up(gpu);
}

void gpu_unlock(struct gpu *gpu)
{
    if (gpu->depth == 1) {
        while (gpu->retire_pending) {
            gpu->retire_pending = false;
            gpu_retire(gpu);
            gpu_offer(gpu);
        }
        gpu_irq_deliver(gpu);
        gpu_check(gpu);
    }
    gpu->depth--;
    pthread_mutex_unlock(&gpu->lock);
}

void gpu_reset(struct gpu *gpu)
{
    gpu_lock(gpu);
    gpu->params.backend->reset(gpu->params.backend_ctx);
    gpu_queue_drop_all(gpu);
    gpu->resets++;
    gpu_vblank_stop(gpu);
    gpu_config_init(&gpu->config);
    gpu_regs_reset(gpu);
    gpu_irq_update(gpu, false);
    gpu_unlock(gpu);
}

void gpu_timer(struct gpu *gpu)
{
    pthread_mutex_lock(&gpu->lock);
    gpu->armed = GPU_NEVER; /* the host's timer is spent, even if it fired too early */
    pthread_mutex_unlock(&gpu->lock);
    gpu_lock(gpu); /* that is where vblanks happen and the timer is armed */
    gpu_unlock(gpu);
}

uint8_t *gpu_vram(struct gpu *gpu)
{
    return gpu->vram;
}

int gpu_vram_fd(struct gpu *gpu)
{
    return gpu->vram_fd;
}

void *gpu_map(struct gpu *gpu, uint64_t gpa, uint64_t size)
{
    uint64_t vram = gpu->config.bar[1];

    if (!gpu_bus_master(gpu) || !size || gpa > UINT64_MAX - size)
        return NULL;
    if (vram && gpa >= vram && gpa - vram < AEROGPU_BAR1_SIZE)
        return size <= AEROGPU_BAR1_SIZE - (gpa - vram) ? gpu->vram + (gpa - vram) : NULL;
    return gpu->params.host->dma_map(gpu->params.host_ctx, gpa, size);
}

uint64_t gpu_bar_read(struct gpu *gpu, unsigned bar, uint64_t offset, uint32_t size)
{
    uint64_t limit = bar ? AEROGPU_BAR1_SIZE : AEROGPU_BAR0_SIZE;
    uint64_t value = UINT64_MAX;
    bool legal = bar <= 1 && (size == 1 || size == 2 || size == 4 || size == 8) && offset < limit &&
                 size <= limit - offset;

    gpu_lock(gpu);
    if (legal && gpu->config.command & 0x2) {
        if (bar == 0)
            value = gpu_regs_read(gpu, offset, size);
        else
            memcpy(&value, gpu->vram + offset, size);
    }
    gpu_unlock(gpu);
    return size < 8 ? value & ((UINT64_C(1) << (8 * size)) - 1) : value;
}

void gpu_bar_write(struct gpu *gpu, unsigned bar, uint64_t offset, uint32_t size, uint64_t value)
{
    uint64_t limit = bar ? AEROGPU_BAR1_SIZE : AEROGPU_BAR0_SIZE;
    bool legal = bar <= 1 && (size == 1 || size == 2 || size == 4 || size == 8) && offset < limit &&
                 size <= limit - offset;

    if (bar == 0 && (offset == AEROGPU_REG_DOORBELL || offset == AEROGPU_REG_IRQ_ACK))
        lock_only(gpu);
    else
        gpu_lock(gpu);
    if (legal && gpu->config.command & 0x2) {
        if (bar == 0)
            gpu_regs_write(gpu, offset, size, value);
        else
            memcpy(gpu->vram + offset, &value, size);
    }
    gpu_unlock(gpu);
}

void gpu_latch_error(struct gpu *gpu, uint32_t code, enum abi_cause cause, uint64_t fence, const char *fmt,
                     ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(gpu->stats.last_error, sizeof(gpu->stats.last_error), fmt, ap);
    va_end(ap);
    log_info("gpu", "error %u (%s), fence %llu: %s", code, abi_cause_name(cause), (unsigned long long)fence,
             gpu->stats.last_error);
    gpu->error_code = code;
    gpu->error_fence = fence;
    gpu->error_fences[gpu->error_count % AEROGPU_EXT_ERRORS] = fence;
    if (gpu->error_count != UINT32_MAX)
        gpu->error_count++;
    gpu->stats.errors++;
    gpu_emit(gpu, (struct gpu_event){.kind = GPU_EVENT_ERROR,
                                     .fence = fence,
                                     .value = code,
                                     .cause = cause,
                                     .message = gpu->stats.last_error});
    gpu_irq_raise(gpu, AEROGPU_IRQ_ERROR);
}

/* ---- observers and statistics -------------------------------------------- */

void gpu_emit(struct gpu *gpu, struct gpu_event e)
{
    if (!gpu->observers)
        return;
    if (e.kind != GPU_EVENT_VBLANK)
        e.time_ns = clock_now(gpu->params.clock);
    for (struct gpu_observer *o = gpu->observers, *next; o; o = next) {
        next = o->next;
        o->event(o->ctx, &e);
    }
}

void gpu_observe(struct gpu *gpu, struct gpu_observer *o)
{
    gpu_lock(gpu);
    o->next = gpu->observers;
    gpu->observers = o;
    gpu_unlock(gpu);
}

void gpu_unobserve(struct gpu *gpu, struct gpu_observer *o)
{
    gpu_lock(gpu);
    for (struct gpu_observer **p = &gpu->observers; *p; p = &(*p)->next) {
        if (*p == o) {
            *p = o->next;
            break;
        }
    }
    gpu_unlock(gpu);
}

const char *gpu_event_name(enum gpu_event_kind kind)
{
    static const char *const names[] = {
#define GPU_ROW(NAME, name, doc) #name,
        GPU_EVENTS(GPU_ROW)
#undef GPU_ROW
    };

    return (unsigned)kind < GPU_EVENT_KINDS ? names[kind] : "?";
}

void gpu_get_stats(struct gpu *gpu, struct gpu_stats *out)
{
    gpu_lock(gpu);
    *out = gpu->stats;
    out->pending = gpu->queue.count;
    gpu_unlock(gpu);
}
