/* SPDX-License-Identifier: MIT */
/* alloc_test: a device that gets no memory, and a device whose memory nobody can cut off. */
#include "gpu_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aerogpu/alloc.h"
#include "alloc_fail.h"

static void *nowhere(void *ctx, uint64_t gpa, uint64_t size)
{
    return NULL;
}

static void no_irq(void *ctx, const struct gpu_interrupt *irq)
{
}

static void no_timer(void *ctx, uint64_t deadline_ns)
{
}

static int take(void *ctx, const struct abi_submission *s)
{
    return 0;
}

static void forget(void *ctx)
{
}

static int make_one(void *ctx)
{
    static const struct gpu_host_ops host = {nowhere, no_irq, no_timer};
    static const struct gpu_backend_ops backend = {take, forget};
    struct clock clock;
    struct gpu *gpu;
    int err;

    clock_init_virtual(&clock, 1);
    err = gpu_create(&gpu, &(struct gpu_params){.host = &host, .backend = &backend, .clock = &clock});
    if (!err)
        gpu_destroy(gpu);
    return err;
}

TEST(a_device_without_memory_is_none)
{
    assert_int_equal(alloc_fail_each(make_one, NULL), 4); /* the device; VRAM's file, its size, its map */
}

static int maps(void)
{
    FILE *f = fopen("/proc/self/maps", "re");
    char line[512];
    int n = 0;

    assert_non_null(f);
    while (fgets(line, sizeof(line), f))
        n += !!strstr(line, "memfd:");
    fclose(f);
    return n;
}

TEST(a_device_that_goes_leaves_nothing_mapped)
{
    int before = maps();

    for (int i = 0; i < 3; i++)
        assert_int_equal(make_one(NULL), 0);
    assert_int_equal(maps(), before);
}

/* What a driver does all day: nothing of it may need memory. */
static int work(void *ctx)
{
    struct rig *r = ctx;

    for (uint32_t i = 0; i < 5; i++)
        rig_push(r, i + 1, 0);
    rig_kick(r);
    for (uint32_t i = 0; i < 5; i++)
        rig_done(r, r->count - 5 + i, ABI_COMPLETION_PRESENT, 0);
    rig_advance(r, RIG_PERIOD);
    return 0;
}

TEST_WITH(a_device_needs_no_memory_to_work, rig_ring_setup, rig_teardown)
{
    struct rig *r = *state;

    rig_scanout(r, 16, 16, AEROGPU_FORMAT_B8G8R8A8_UNORM, 64);
    assert_int_equal(alloc_fail_each(work, r), 0);
    assert_int_equal(rig_completed(r), 5);
}

static int look(void *ctx)
{
    struct rig *r = ctx;
    struct gpu_picture p = {0};
    struct error e = {0};
    int err = gpu_read_scanout(r->gpu, GPU_PICTURE_CURSOR, &p, &e);

    if (err) {
        assert_null(p.rgba); /* or a caller would free what is not his */
        assert_non_null(strstr(e.text, "no memory for 16 x 16 pixels"));
        return err;
    }
    free(p.rgba);
    return 0;
}

TEST_WITH(a_picture_without_memory_is_none, rig_ring_setup, rig_teardown)
{
    struct rig *r = *state;

    rig_scanout(r, 16, 16, AEROGPU_FORMAT_B8G8R8A8_UNORM, 64);
    rig_write(r, AEROGPU_REG_CURSOR_WIDTH, 16);
    rig_write(r, AEROGPU_REG_CURSOR_HEIGHT, 16);
    rig_write(r, AEROGPU_REG_CURSOR_FORMAT, AEROGPU_FORMAT_B8G8R8A8_UNORM);
    rig_write(r, AEROGPU_REG_CURSOR_PITCH_BYTES, 64);
    rig_write64(r, AEROGPU_REG_CURSOR_FB_GPA_LO, RIG_CURSOR_FB);
    rig_write(r, AEROGPU_REG_CURSOR_ENABLE, 1);
    assert_int_equal(alloc_fail_each(look, r), 2); /* the picture, the cursor */
}

/* The executor has it, and is not trusted. */
TEST_WITH(whoever_has_the_descriptor_cannot_shrink_vram, rig_ring_setup, rig_teardown)
{
    struct rig *r = *state;

    assert_int_equal(ftruncate(gpu_vram_fd(r->gpu), 0), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(ftruncate(gpu_vram_fd(r->gpu), 2 * AEROGPU_BAR1_SIZE), -1);
    assert_int_equal(fcntl(gpu_vram_fd(r->gpu), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
    gpu_vram(r->gpu)[AEROGPU_BAR1_SIZE - 1] = 1;
}
