/* SPDX-License-Identifier: MIT */
#include "gpu_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *dma_map(void *ctx, uint64_t gpa, uint64_t size)
{
    struct rig *r = ctx;

    r->maps++;
    return gpa < RIG_RAM && size <= RIG_RAM - gpa ? r->ram + gpa : NULL;
}

static void irq(void *ctx, const struct gpu_interrupt *i)
{
    struct rig *r = ctx;

    if (i->kind == GPU_MSI) {
        r->msis++;
        r->msi_address = i->address;
        r->msi_data = i->data;
    } else {
        r->rises += i->level && !r->level;
        r->level = i->level;
    }
    if (r->on_irq && (i->kind == GPU_MSI || i->level))
        r->on_irq(r);
}

static void arm_timer(void *ctx, uint64_t deadline_ns)
{
    ((struct rig *)ctx)->armed = deadline_ns;
}

static int backend_submit(void *ctx, const struct abi_submission *s)
{
    struct rig *r = ctx;

    if (r->refuse)
        return r->refuse;
    if (s->client < 64 && r->full >> s->client & 1)
        return -EAGAIN;
    if (!r->room)
        return -EAGAIN;
    r->room--;
    r->subs[r->count++] = *s;
    if (r->immediate)
        gpu_complete(r->gpu, &(struct abi_completion){.id = s->id});
    return 0;
}

static void backend_reset(void *ctx)
{
    ((struct rig *)ctx)->resets++;
}

struct rig *rig_new(uint64_t without_features)
{
    static const struct gpu_host_ops host = {dma_map, irq, arm_timer};
    static const struct gpu_backend_ops backend = {backend_submit, backend_reset};
    struct rig *r = calloc(1, sizeof(*r));

    assert_non_null(r);
    r->ram = calloc(1, RIG_RAM);
    r->armed = GPU_NEVER;
    r->room = UINT32_MAX;
    clock_init_virtual(&r->clock, 5000);
    assert_int_equal(gpu_create(&r->gpu, &(struct gpu_params){.host = &host,
                                                              .host_ctx = r,
                                                              .backend = &backend,
                                                              .backend_ctx = r,
                                                              .clock = &r->clock,
                                                              .vblank_period_ns = RIG_PERIOD,
                                                              .without_features = without_features}),
                     0);
    return r;
}

struct rig *rig_on(uint64_t without_features)
{
    struct rig *r = rig_new(without_features);

    rig_command(r, RIG_CMD_MEM | RIG_CMD_MASTER);
    return r;
}

void rig_free(struct rig *r)
{
    gpu_destroy(r->gpu);
    free(r->ram);
    free(r);
}

uint32_t rig_read(struct rig *r, uint32_t reg)
{
    return (uint32_t)gpu_bar_read(r->gpu, 0, reg, 4);
}

uint64_t rig_read64(struct rig *r, uint32_t reg)
{
    return gpu_bar_read(r->gpu, 0, reg, 8);
}

void rig_write(struct rig *r, uint32_t reg, uint32_t v)
{
    gpu_bar_write(r->gpu, 0, reg, 4, v);
}

void rig_write64(struct rig *r, uint32_t reg, uint64_t v)
{
    gpu_bar_write(r->gpu, 0, reg, 8, v);
}

void rig_command(struct rig *r, uint32_t command)
{
    gpu_config_write(r->gpu, 0x04, 2, command);
}

void rig_msi_on(struct rig *r, uint64_t address, uint32_t data)
{
    gpu_config_write(r->gpu, RIG_MSI + 4, 4, (uint32_t)address);
    gpu_config_write(r->gpu, RIG_MSI + 8, 4, (uint32_t)(address >> 32));
    gpu_config_write(r->gpu, RIG_MSI + 12, 2, data);
    gpu_config_write(r->gpu, RIG_MSI + 2, 2, 1);
}

struct aerogpu_ring_header *rig_header(struct rig *r)
{
    return (struct aerogpu_ring_header *)(void *)(r->ram + RIG_RING);
}

struct aerogpu_fence_page *rig_fence_page(struct rig *r)
{
    return (struct aerogpu_fence_page *)(void *)(r->ram + RIG_FENCE_PAGE);
}

struct aerogpu_submit_desc *rig_slot(struct rig *r, uint32_t index)
{
    struct aerogpu_ring_header *h = rig_header(r);
    return (struct aerogpu_submit_desc *)(void *)(r->ram + RIG_RING + sizeof(*h) +
                                                  (index & (h->entry_count - 1)) * h->entry_stride_bytes);
}

void rig_ring(struct rig *r, uint32_t count)
{
    *rig_header(r) = (struct aerogpu_ring_header){.magic = AEROGPU_RING_MAGIC,
                                                  .abi_version = AEROGPU_ABI_VERSION_U32,
                                                  .size_bytes = 64 + 64 * count,
                                                  .entry_count = count,
                                                  .entry_stride_bytes = 64};
    rig_write64(r, AEROGPU_REG_RING_GPA_LO, RIG_RING);
    rig_write(r, AEROGPU_REG_RING_SIZE_BYTES, RIG_RING_SIZE);
    rig_write64(r, AEROGPU_REG_FENCE_GPA_LO, RIG_FENCE_PAGE);
    rig_write(r, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE);
}

void rig_ring_engines(struct rig *r)
{
    rig_write(r, AEROGPU_REG_RING_CONTROL,
              AEROGPU_RING_CONTROL_ENABLE | AEROGPU_RING_CONTROL_RESET | AEROGPU_RING_CONTROL_EXT_ENGINES);
}

struct aerogpu_submit_desc *rig_push_to(struct rig *r, uint32_t engine, uint32_t client, uint64_t fence)
{
    struct aerogpu_submit_desc *d = rig_push(r, fence, 0);

    d->engine_id = engine;
    d->reserved0 = client;
    return d;
}

struct aerogpu_submit_desc *rig_push(struct rig *r, uint64_t fence, uint32_t flags)
{
    struct aerogpu_submit_desc *d = rig_slot(r, rig_header(r)->tail);

    *d = (struct aerogpu_submit_desc){.desc_size_bytes = 64, .flags = flags, .signal_fence = fence};
    rig_header(r)->tail++;
    return d;
}

void rig_kick(struct rig *r)
{
    rig_write(r, AEROGPU_REG_DOORBELL, 1);
}

void rig_submit(struct rig *r, uint64_t fence)
{
    rig_push(r, fence, 0);
    rig_kick(r);
}

void rig_done(struct rig *r, uint32_t n, uint32_t flags, uint32_t error)
{
    struct abi_completion c = {.flags = flags, .error = error};

    assert_true(n < r->count);
    c.id = r->subs[n].id;
    if (error)
        snprintf(c.message, sizeof(c.message), "submission %u failed", n);
    if (r->room != UINT32_MAX)
        r->room++;
    gpu_complete(r->gpu, &c);
}

uint64_t rig_completed(struct rig *r)
{
    return rig_read64(r, AEROGPU_REG_COMPLETED_FENCE_LO);
}

void rig_scanout(struct rig *r, uint32_t width, uint32_t height, uint32_t format, uint32_t pitch)
{
    rig_write(r, AEROGPU_REG_SCANOUT0_WIDTH, width);
    rig_write(r, AEROGPU_REG_SCANOUT0_HEIGHT, height);
    rig_write(r, AEROGPU_REG_SCANOUT0_FORMAT, format);
    rig_write(r, AEROGPU_REG_SCANOUT0_PITCH_BYTES, pitch);
    rig_write64(r, AEROGPU_REG_SCANOUT0_FB_GPA_LO, RIG_FB);
    rig_write(r, AEROGPU_REG_SCANOUT0_ENABLE, 1);
}

void rig_advance_late(struct rig *r, uint64_t ns)
{
    clock_advance_to(&r->clock, r->clock.virtual_ns + ns);
}

void rig_advance(struct rig *r, uint64_t ns)
{
    uint64_t end = r->clock.virtual_ns + ns;

    while (r->armed <= end) {
        clock_advance_to(&r->clock, r->armed);
        r->armed = GPU_NEVER;
        gpu_timer(r->gpu);
    }
    clock_advance_to(&r->clock, end);
}

int rig_ring_setup(void **state)
{
    struct rig *r = rig_on(0);

    rig_ring(r, 8);
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_FENCE | AEROGPU_IRQ_ERROR);
    *state = r;
    return 0;
}

int rig_teardown(void **state)
{
    rig_free(*state);
    return 0;
}

void rig_assert_error(struct rig *r, uint32_t code, uint64_t fence, uint32_t count, const char *words)
{
    struct gpu_stats s;

    gpu_get_stats(r->gpu, &s);
    assert_int_equal(rig_read(r, AEROGPU_REG_ERROR_CODE), code);
    assert_int_equal(rig_read64(r, AEROGPU_REG_ERROR_FENCE_LO), fence);
    assert_int_equal(rig_read(r, AEROGPU_REG_ERROR_COUNT), count);
    assert_true(rig_read(r, AEROGPU_REG_IRQ_STATUS) & AEROGPU_IRQ_ERROR);
    if (!strstr(s.last_error, words))
        fail_msg("'%s' does not say '%s'", s.last_error, words);
}

void rig_assert_no_error(struct rig *r)
{
    assert_int_equal(rig_read(r, AEROGPU_REG_ERROR_COUNT), 0);
    assert_false(rig_read(r, AEROGPU_REG_IRQ_STATUS) & AEROGPU_IRQ_ERROR);
}
