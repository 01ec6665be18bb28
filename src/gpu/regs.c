/* SPDX-License-Identifier: MIT */
/* regs.c: BAR0. An access is split into the dwords it touches; a write that covers part of a dword keeps the
 * other bytes of a readable register, and writes zeroes there to DOORBELL and IRQ_ACK.
 */
#include <string.h>

#include "gpu/internal.h"

static uint32_t lo(uint64_t v)
{
    return (uint32_t)v;
}

static uint32_t hi(uint64_t v)
{
    return (uint32_t)(v >> 32);
}

static void set_lo(uint64_t *v, uint32_t half)
{
    *v = (*v & ~UINT64_C(0xFFFFFFFF)) | half;
}

static void set_hi(uint64_t *v, uint32_t half)
{
    *v = (*v & 0xFFFFFFFF) | (uint64_t)half << 32;
}

/* The feature that the register at a dword offset belongs to; a register that nothing has needs a bit no device has. */
static uint64_t feature_of(uint32_t offset)
{
    switch (offset) {
#define ROW(offset, name, access, minor, feature, doc)                                                       \
    case offset:                                                                                             \
        return AEROGPU_FEATURE_##feature;
        AEROGPU_REGISTERS(ROW)
#undef ROW
    }
    return UINT64_C(1) << 63;
}

static bool has_register(const struct gpu *gpu, uint32_t offset)
{
    uint64_t feature = feature_of(offset);
    return !feature || gpu->features & feature;
}

static uint32_t read_plane(const struct gpu_plane_regs *p, uint32_t offset)
{
    switch (offset) {
    case AEROGPU_REG_SCANOUT0_ENABLE:
    case AEROGPU_REG_CURSOR_ENABLE:
        return p->enable;
    case AEROGPU_REG_SCANOUT0_WIDTH:
    case AEROGPU_REG_CURSOR_WIDTH:
        return p->width;
    case AEROGPU_REG_SCANOUT0_HEIGHT:
    case AEROGPU_REG_CURSOR_HEIGHT:
        return p->height;
    case AEROGPU_REG_SCANOUT0_FORMAT:
    case AEROGPU_REG_CURSOR_FORMAT:
        return p->format;
    case AEROGPU_REG_SCANOUT0_PITCH_BYTES:
    case AEROGPU_REG_CURSOR_PITCH_BYTES:
        return p->pitch;
    case AEROGPU_REG_SCANOUT0_FB_GPA_LO:
    case AEROGPU_REG_CURSOR_FB_GPA_LO:
        return p->fb.has_pending ? p->fb.pending_lo : lo(p->fb.value); /* a writer reads what it wrote */
    case AEROGPU_REG_SCANOUT0_FB_GPA_HI:
    case AEROGPU_REG_CURSOR_FB_GPA_HI:
        return hi(p->fb.value);
    case AEROGPU_REG_CURSOR_X:
        return p->x;
    case AEROGPU_REG_CURSOR_Y:
        return p->y;
    case AEROGPU_REG_CURSOR_HOT_X:
        return p->hot_x;
    case AEROGPU_REG_CURSOR_HOT_Y:
        return p->hot_y;
    }
    return 0;
}

static uint32_t read_reg(const struct gpu *gpu, uint32_t offset)
{
    const uint32_t error = (offset - AEROGPU_EXT_REG_ERROR_FENCES) / 8;
    const uint32_t engine = (offset - AEROGPU_EXT_REG_ENGINE_FENCES) / 8;

    if (offset >= AEROGPU_EXT_REG_ERROR_FENCES && error < AEROGPU_EXT_ERRORS &&
        gpu->features & AEROGPU_EXT_FEATURE(EXT_CLIENTS))
        return offset & 4 ? hi(gpu->error_fences[error]) : lo(gpu->error_fences[error]);
    if (offset >= AEROGPU_EXT_REG_ENGINE_FENCES && engine < AEROGPU_EXT_ENGINES &&
        gpu->features & AEROGPU_EXT_FEATURE(EXT_ENGINES))
        return offset & 4 ? hi(gpu->completed[engine]) : lo(gpu->completed[engine]);
    if (!has_register(gpu, offset))
        return 0;
    switch (offset) {
    case AEROGPU_REG_MAGIC:
        return AEROGPU_MMIO_MAGIC;
    case AEROGPU_REG_ABI_VERSION:
        return AEROGPU_ABI_VERSION_U32;
    case AEROGPU_REG_FEATURES_LO:
        return lo(gpu->features);
    case AEROGPU_REG_FEATURES_HI:
        return hi(gpu->features);
    case AEROGPU_REG_RING_GPA_LO:
        return lo(gpu->ring_gpa);
    case AEROGPU_REG_RING_GPA_HI:
        return hi(gpu->ring_gpa);
    case AEROGPU_REG_RING_SIZE_BYTES:
        return gpu->ring_size;
    case AEROGPU_REG_RING_CONTROL:
        return gpu->ring_enabled ? AEROGPU_RING_CONTROL_ENABLE : 0;
    case AEROGPU_REG_FENCE_GPA_LO:
        return lo(gpu->fence_gpa);
    case AEROGPU_REG_FENCE_GPA_HI:
        return hi(gpu->fence_gpa);
    case AEROGPU_REG_COMPLETED_FENCE_LO:
        return lo(gpu->completed[0]);
    case AEROGPU_REG_COMPLETED_FENCE_HI:
        return hi(gpu->completed[0]);
    case AEROGPU_REG_IRQ_STATUS:
        return gpu->irq_status;
    case AEROGPU_REG_IRQ_ENABLE:
        return gpu->irq_enable;
    case AEROGPU_REG_ERROR_CODE:
        return gpu->error_code;
    case AEROGPU_REG_ERROR_FENCE_LO:
        return lo(gpu->error_fence);
    case AEROGPU_REG_ERROR_FENCE_HI:
        return hi(gpu->error_fence);
    case AEROGPU_REG_ERROR_COUNT:
        return gpu->error_count;
    case AEROGPU_REG_SCANOUT0_VBLANK_SEQ_LO:
        return lo(gpu->vblank_seq);
    case AEROGPU_REG_SCANOUT0_VBLANK_SEQ_HI:
        return hi(gpu->vblank_seq);
    case AEROGPU_REG_SCANOUT0_VBLANK_TIME_NS_LO:
        return lo(gpu->vblank_time);
    case AEROGPU_REG_SCANOUT0_VBLANK_TIME_NS_HI:
        return hi(gpu->vblank_time);
    case AEROGPU_REG_SCANOUT0_VBLANK_PERIOD_NS:
        return gpu->params.vblank_period_ns;
    }
    if (offset >= AEROGPU_REG_CURSOR_ENABLE)
        return read_plane(&gpu->cursor, offset);
    return read_plane(&gpu->scanout, offset);
}

static void write_plane(struct gpu_plane_regs *p, uint32_t offset, uint32_t v)
{
    switch (offset) {
    case AEROGPU_REG_SCANOUT0_ENABLE:
    case AEROGPU_REG_CURSOR_ENABLE:
        p->enable = v;
        if (!v)
            p->fb.has_pending = false;
        break;
    case AEROGPU_REG_SCANOUT0_WIDTH:
    case AEROGPU_REG_CURSOR_WIDTH:
        p->width = v;
        break;
    case AEROGPU_REG_SCANOUT0_HEIGHT:
    case AEROGPU_REG_CURSOR_HEIGHT:
        p->height = v;
        break;
    case AEROGPU_REG_SCANOUT0_FORMAT:
    case AEROGPU_REG_CURSOR_FORMAT:
        p->format = gpu_format_known(v) ? v : AEROGPU_FORMAT_INVALID;
        break;
    case AEROGPU_REG_SCANOUT0_PITCH_BYTES:
    case AEROGPU_REG_CURSOR_PITCH_BYTES:
        p->pitch = v;
        break;
    case AEROGPU_REG_SCANOUT0_FB_GPA_LO:
    case AEROGPU_REG_CURSOR_FB_GPA_LO:
        p->fb.pending_lo = v;
        p->fb.has_pending = true;
        break;
    case AEROGPU_REG_SCANOUT0_FB_GPA_HI:
    case AEROGPU_REG_CURSOR_FB_GPA_HI:
        if (p->fb.has_pending)
            set_lo(&p->fb.value, p->fb.pending_lo);
        set_hi(&p->fb.value, v);
        p->fb.has_pending = false;
        break;
    case AEROGPU_REG_CURSOR_X:
        p->x = v;
        break;
    case AEROGPU_REG_CURSOR_Y:
        p->y = v;
        break;
    case AEROGPU_REG_CURSOR_HOT_X:
        p->hot_x = v;
        break;
    case AEROGPU_REG_CURSOR_HOT_Y:
        p->hot_y = v;
        break;
    }
}

static void write_scanout(struct gpu *gpu, uint32_t offset, uint32_t v)
{
    bool was = gpu->scanout.enable;
    struct abi_scanout now;

    write_plane(&gpu->scanout, offset, v);
    if (offset != AEROGPU_REG_SCANOUT0_FB_GPA_LO) {
        now = gpu_scanout_snapshot(gpu);
        gpu_emit(gpu, (struct gpu_event){.kind = GPU_EVENT_SCANOUT, .value = offset, .scanout = &now});
    }
    if (!was && gpu->scanout.enable)
        gpu_vblank_start(gpu);
    if (was && !gpu->scanout.enable)
        gpu_vblank_stop(gpu);
}

static void write_irq_enable(struct gpu *gpu, uint32_t v)
{
    uint32_t bits = AEROGPU_IRQ_FENCE | AEROGPU_IRQ_ERROR;

    if (gpu->features & AEROGPU_FEATURE_VBLANK)
        bits |= AEROGPU_IRQ_SCANOUT_VBLANK;
    gpu->irq_enable = v & bits;
    gpu->irq_status &= gpu->irq_enable | AEROGPU_IRQ_ERROR; /* nothing stale when it is enabled again */
    gpu_irq_update(gpu, false);
}

/* Another ring has a head of its own. */
static void move_ring(struct gpu *gpu, void (*set)(uint64_t *v, uint32_t half), uint32_t half)
{
    uint64_t was = gpu->ring_gpa;

    set(&gpu->ring_gpa, half);
    if (gpu->ring_gpa != was)
        gpu->owed = 0;
}

static void write_reg(struct gpu *gpu, uint32_t offset, uint32_t v)
{
    if (!has_register(gpu, offset))
        return;
    switch (offset) {
    case AEROGPU_REG_RING_GPA_LO:
        move_ring(gpu, set_lo, v);
        return;
    case AEROGPU_REG_RING_GPA_HI:
        move_ring(gpu, set_hi, v);
        return;
    case AEROGPU_REG_RING_SIZE_BYTES:
        gpu->ring_size = v;
        return;
    case AEROGPU_REG_RING_CONTROL:
        gpu->ring_enabled = v & AEROGPU_RING_CONTROL_ENABLE;
        if (v & AEROGPU_RING_CONTROL_RESET)
            gpu_ring_reset(gpu, v & AEROGPU_RING_CONTROL_EXT_ENGINES);
        else if (!gpu->ring_enabled)
            gpu_ring_give_back(gpu); /* now: a driver may free the ring's memory next */
        return;
    case AEROGPU_REG_FENCE_GPA_LO:
        set_lo(&gpu->fence_gpa, v);
        gpu->fence_page_bad = false;
        return;
    case AEROGPU_REG_FENCE_GPA_HI:
        set_hi(&gpu->fence_gpa, v);
        gpu->fence_page_bad = false;
        return;
    case AEROGPU_REG_DOORBELL:
        gpu->stats.doorbells++;
        gpu_emit(gpu, (struct gpu_event){.kind = GPU_EVENT_DOORBELL, .value = v});
        gpu_ring_process(gpu);
        return;
    case AEROGPU_REG_IRQ_ENABLE:
        write_irq_enable(gpu, v);
        return;
    case AEROGPU_REG_IRQ_ACK:
        gpu->irq_status &= ~v;
        gpu_irq_update(gpu, true);
        return;
    }
    if (offset >= AEROGPU_REG_CURSOR_ENABLE)
        write_plane(&gpu->cursor, offset, v);
    else if (offset >= AEROGPU_REG_SCANOUT0_ENABLE)
        write_scanout(gpu, offset, v);
}

void gpu_regs_reset(struct gpu *gpu)
{
    gpu->ring_gpa = gpu->fence_gpa = gpu->error_fence = 0;
    memset(gpu->completed, 0, sizeof(gpu->completed));
    gpu->ring_size = gpu->irq_status = gpu->irq_enable = gpu->error_code = gpu->error_count = 0;
    gpu->ring_enabled = gpu->engines = gpu->doorbell_pending = gpu->reset_dma_pending = false;
    gpu->ring_stalled = gpu->fence_page_bad = false;
    gpu->scanout = gpu->cursor = (struct gpu_plane_regs){.enable = false};
    gpu->vblank_seq = gpu->vblank_time = 0;
    gpu->next_vblank = GPU_NEVER;
}

uint64_t gpu_regs_read(struct gpu *gpu, uint64_t offset, uint32_t size)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < size;) {
        uint32_t at = (uint32_t)offset + i, skip = at & 3, n = 4 - skip < size - i ? 4 - skip : size - i;
        uint64_t dword = read_reg(gpu, at & ~3u) >> (8 * skip);
        if (n < 4)
            dword &= (UINT64_C(1) << (8 * n)) - 1;
        value |= dword << (8 * i);
        i += n;
    }
    return value;
}

void gpu_regs_write(struct gpu *gpu, uint64_t offset, uint32_t size, uint64_t value)
{
    for (uint32_t i = 0; i < size;) {
        uint32_t at = (uint32_t)offset + i, skip = at & 3, n = 4 - skip < size - i ? 4 - skip : size - i;
        uint32_t mask = (n < 4 ? (1u << (8 * n)) - 1 : UINT32_MAX) << (8 * skip);
        uint32_t bits = (uint32_t)(value >> (8 * i)) << (8 * skip);
        /* DOORBELL and IRQ_ACK read as zero, so the bytes beside the written ones merge as zeroes. */
        write_reg(gpu, at & ~3u, (read_reg(gpu, at & ~3u) & ~mask) | (bits & mask));
        i += n;
    }
}
