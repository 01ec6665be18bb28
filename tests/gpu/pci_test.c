/* SPDX-License-Identifier: MIT */
/* pci_test: configuration space, BAR access rules, VRAM, interrupts as the host sees them, plain registers. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "aerogpu/ext.h"
#include "gpu_rig.h"

static int setup_off(void **state)
{
    *state = rig_new(0);
    return 0;
}

static int setup(void **state)
{
    *state = rig_on(0);
    return 0;
}

#define CASE_OFF(name) TEST_WITH(name, setup_off, rig_teardown)

CASE_OFF(identity)
{
    struct rig *r = *state;

    assert_int_equal(gpu_config_read(r->gpu, 0x00, 4), 0x0001A3A0);
    assert_int_equal(gpu_config_read(r->gpu, 0x00, 2), 0xA3A0);
    assert_int_equal(gpu_config_read(r->gpu, 0x02, 2), 0x0001);
    assert_int_equal(gpu_config_read(r->gpu, 0x08, 4), 0x03000000);
    assert_int_equal(gpu_config_read(r->gpu, 0x0B, 1), 0x03);
    assert_int_equal(gpu_config_read(r->gpu, 0x0E, 1), 0x00);
    assert_int_equal(gpu_config_read(r->gpu, 0x2C, 4), 0x0001A3A0);
    assert_int_equal(gpu_config_read(r->gpu, 0x3D, 1), 1);
}

CASE_OFF(identity_is_read_only)
{
    struct rig *r = *state;

    for (uint32_t o = 0; o < 0x100; o += 4) {
        if (o == 0x04 || o == 0x10 || o == 0x14 || o == 0x3C || (o >= 0x50 && o < 0x60))
            continue;
        uint32_t before = gpu_config_read(r->gpu, o, 4);
        gpu_config_write(r->gpu, o, 4, ~before);
        assert_int_equal(gpu_config_read(r->gpu, o, 4), before);
    }
}

CASE_OFF(bars_are_sized)
{
    struct rig *r = *state;

    assert_int_equal(gpu_config_read(r->gpu, 0x10, 4), 0);
    gpu_config_write(r->gpu, 0x10, 4, UINT32_MAX);
    gpu_config_write(r->gpu, 0x14, 4, UINT32_MAX);
    assert_int_equal(gpu_config_read(r->gpu, 0x10, 4), 0xFFFF0000); /* 64 KiB, 32-bit memory */
    assert_int_equal(gpu_config_read(r->gpu, 0x14, 4), 0xFC000008); /* 64 MiB, prefetchable */
    gpu_config_write(r->gpu, 0x18, 4, UINT32_MAX);
    assert_int_equal(gpu_config_read(r->gpu, 0x18, 4), 0);
    gpu_config_write(r->gpu, 0x30, 4, UINT32_MAX);
    assert_int_equal(gpu_config_read(r->gpu, 0x30, 4), 0); /* no ROM */
}

CASE_OFF(bar_addresses_are_kept)
{
    struct rig *r = *state;

    gpu_config_write(r->gpu, 0x10, 4, 0xFEB12345);
    gpu_config_write(r->gpu, 0x14, 2, 0xFFFF);
    gpu_config_write(r->gpu, 0x16, 2, 0xE4FF);
    assert_int_equal(gpu_bar_address(r->gpu, 0), 0xFEB10000);
    assert_int_equal(gpu_bar_address(r->gpu, 1), 0xE4000000);
    assert_int_equal(gpu_bar_address(r->gpu, 2), 0);
}

CASE_OFF(command_keeps_implemented_bits)
{
    struct rig *r = *state;

    gpu_config_write(r->gpu, 0x04, 4, UINT32_MAX);
    assert_int_equal(gpu_config_read(r->gpu, 0x04, 2), 0x406);
    assert_int_equal(gpu_config_read(r->gpu, 0x06, 2),
                     0x10); /* status: capability list; nothing else to clear */
    gpu_config_write(r->gpu, 0x05, 1, 0);
    assert_int_equal(gpu_config_read(r->gpu, 0x04, 2), 0x006); /* the low byte stays */
}

CASE_OFF(config_accesses_that_cross_or_overrun)
{
    struct rig *r = *state;

    assert_int_equal(gpu_config_read(r->gpu, 0x03, 2), 0xFFFF);
    assert_int_equal(gpu_config_read(r->gpu, 0xFE, 4), 0xFFFFFFFF);
    assert_int_equal(gpu_config_read(r->gpu, 0x100, 1), 0xFF);
    assert_int_equal(gpu_config_read(r->gpu, 0xFFFFFFFF, 4), 0xFFFFFFFF);
    assert_int_equal(gpu_config_read(r->gpu, 0x00, 3), 0xFFFFFF);
    gpu_config_write(r->gpu, 0x03, 4, 0xFFFFFFFF); /* must not reach the command register */
    assert_int_equal(gpu_config_read(r->gpu, 0x04, 2), 0);
}

CASE_OFF(interrupt_line_is_scratch)
{
    struct rig *r = *state;

    assert_int_equal(gpu_config_read(r->gpu, 0x3C, 1), 0xFF);
    gpu_config_write(r->gpu, 0x3C, 1, 11);
    assert_int_equal(gpu_config_read(r->gpu, 0x3C, 4), 0x010B);
}

CASE_OFF(msi_capability_is_listed)
{
    struct rig *r = *state;
    uint32_t at = gpu_config_read(r->gpu, 0x34, 1);

    assert_true(gpu_config_read(r->gpu, 0x06, 2) & 0x10);
    assert_int_equal(gpu_config_read(r->gpu, at, 1), 0x05);
    assert_int_equal(gpu_config_read(r->gpu, at + 1, 1), 0);
    assert_int_equal(gpu_config_read(r->gpu, at + 2, 2), 0x0080); /* 64-bit, one vector, off */
    gpu_config_write(r->gpu, at + 2, 2, 0x0071);                  /* eight vectors wanted: one is given */
    assert_int_equal(gpu_config_read(r->gpu, at + 2, 2), 0x0081);
    gpu_config_write(r->gpu, at + 4, 4, 0xFEE01003);
    assert_int_equal(gpu_config_read(r->gpu, at + 4, 4), 0xFEE01000);
    gpu_config_write(r->gpu, at + 12, 4, 0x12345678);
    assert_int_equal(gpu_config_read(r->gpu, at + 12, 4), 0x5678);
}

CASE_OFF(decoding_off_floats_high)
{
    struct rig *r = *state;

    assert_int_equal(gpu_bar_read(r->gpu, 0, AEROGPU_REG_MAGIC, 1), 0xFF);
    assert_int_equal(gpu_bar_read(r->gpu, 0, AEROGPU_REG_MAGIC, 2), 0xFFFF);
    assert_int_equal(gpu_bar_read(r->gpu, 0, AEROGPU_REG_MAGIC, 4), 0xFFFFFFFF);
    assert_true(gpu_bar_read(r->gpu, 0, AEROGPU_REG_MAGIC, 8) == UINT64_MAX);
    assert_int_equal(gpu_bar_read(r->gpu, 1, 0, 4), 0xFFFFFFFF);
    rig_write(r, AEROGPU_REG_RING_GPA_LO, 0xDEADBEE0);
    gpu_bar_write(r->gpu, 1, 0, 4, 1);
    rig_command(r, RIG_CMD_MEM);
    assert_int_equal(rig_read(r, AEROGPU_REG_MAGIC), 0x55504741);
    assert_int_equal(rig_read(r, AEROGPU_REG_RING_GPA_LO), 0);
    assert_int_equal(gpu_bar_read(r->gpu, 1, 0, 4), 0);
}

#define CASE(name) TEST_WITH(name, setup, rig_teardown)

CASE(id_registers)
{
    struct rig *r = *state;

    assert_int_equal(rig_read(r, 0x000), 0x55504741);
    assert_int_equal(rig_read(r, 0x004), 0x00010004);
    assert_int_equal(rig_read(r, 0x008), 0x3F);
    assert_int_equal(rig_read(r, 0x00C), AEROGPU_EXT_FEATURES_ALL >> 32);
    assert_int_equal(rig_read(r, AEROGPU_REG_SCANOUT0_VBLANK_PERIOD_NS), RIG_PERIOD);
}

CASE(read_only_registers)
{
    struct rig *r = *state;

#define ROW(offset, name, access, minor, feature, doc)                                                       \
    if (AEROGPU_##access == AEROGPU_RO) {                                                                    \
        uint32_t before = rig_read(r, offset);                                                               \
        rig_write(r, offset, ~before);                                                                       \
        assert_int_equal(rig_read(r, offset), before);                                                       \
    } else if (AEROGPU_##access != AEROGPU_RW) {                                                             \
        assert_int_equal(rig_read(r, offset), 0);                                                            \
    }
    AEROGPU_REGISTERS(ROW)
#undef ROW
}

CASE(every_rw_register_holds_a_value)
{
    struct rig *r = *state;

#define ROW(offset, name, access, minor, feature, doc)                                                       \
    if (AEROGPU_##access == AEROGPU_RW) {                                                                    \
        rig_write(r, offset, 1);                                                                             \
        assert_int_equal(rig_read(r, offset), 1);                                                            \
        rig_write(r, offset, 0);                                                                             \
        assert_int_equal(rig_read(r, offset), 0);                                                            \
    }
    AEROGPU_REGISTERS(ROW)
#undef ROW
}

CASE(holes_read_as_zero)
{
    struct rig *r = *state;

    for (uint32_t o = 0x52C; o < AEROGPU_BAR0_SIZE; o += 4) {
        rig_write(r, o, 0xFFFFFFFF);
        assert_int_equal(rig_read(r, o), 0);
    }
    assert_int_equal(rig_read(r, 0x010), 0);
    assert_int_equal(rig_read(r, 0x41C), 0);
}

CASE(bar0_odd_accesses)
{
    struct rig *r = *state;

    assert_int_equal(gpu_bar_read(r->gpu, 0, 0x10000, 4), 0xFFFFFFFF);
    assert_int_equal(gpu_bar_read(r->gpu, 0, 0xFFFE, 4), 0xFFFFFFFF);
    assert_true(gpu_bar_read(r->gpu, 0, UINT64_MAX, 8) == UINT64_MAX);
    assert_int_equal(gpu_bar_read(r->gpu, 0, 0, 3), 0xFFFFFF);
    assert_true(gpu_bar_read(r->gpu, 0, 0, 16) == UINT64_MAX);
    assert_int_equal(gpu_bar_read(r->gpu, 2, 0, 4), 0xFFFFFFFF);
    assert_int_equal(gpu_bar_read(r->gpu, 0, 2, 4), 0x00045550); /* crosses MAGIC and ABI_VERSION */
}

CASE(sub_dword_accesses_merge)
{
    struct rig *r = *state;

    rig_write(r, AEROGPU_REG_SCANOUT0_WIDTH, 0x11223344);
    assert_int_equal(gpu_bar_read(r->gpu, 0, AEROGPU_REG_SCANOUT0_WIDTH, 1), 0x44);
    assert_int_equal(gpu_bar_read(r->gpu, 0, AEROGPU_REG_SCANOUT0_WIDTH + 3, 1), 0x11);
    assert_int_equal(gpu_bar_read(r->gpu, 0, AEROGPU_REG_SCANOUT0_WIDTH + 1, 2), 0x2233);
    gpu_bar_write(r->gpu, 0, AEROGPU_REG_SCANOUT0_WIDTH + 2, 1, 0xAA);
    assert_int_equal(rig_read(r, AEROGPU_REG_SCANOUT0_WIDTH), 0x11AA3344);
    gpu_bar_write(r->gpu, 0, AEROGPU_REG_SCANOUT0_WIDTH, 2, 0xBEEF);
    assert_int_equal(rig_read(r, AEROGPU_REG_SCANOUT0_WIDTH), 0x11AABEEF);
    gpu_bar_write(r->gpu, 0, AEROGPU_REG_SCANOUT0_WIDTH + 2, 2, 0xCAFE);
    assert_int_equal(rig_read(r, AEROGPU_REG_SCANOUT0_WIDTH), 0xCAFEBEEF);
    gpu_bar_write(r->gpu, 0, AEROGPU_REG_SCANOUT0_WIDTH + 3, 2, 0x7711); /* into HEIGHT */
    assert_int_equal(rig_read(r, AEROGPU_REG_SCANOUT0_WIDTH), 0x11FEBEEF);
    assert_int_equal(rig_read(r, AEROGPU_REG_SCANOUT0_HEIGHT), 0x77);
}

CASE(quad_accesses_cover_pairs)
{
    struct rig *r = *state;

    rig_write64(r, AEROGPU_REG_RING_GPA_LO, UINT64_C(0x1122334455667788));
    assert_int_equal(rig_read(r, AEROGPU_REG_RING_GPA_LO), 0x55667788);
    assert_int_equal(rig_read(r, AEROGPU_REG_RING_GPA_HI), 0x11223344);
    assert_true(rig_read64(r, AEROGPU_REG_RING_GPA_LO) == UINT64_C(0x1122334455667788));
    assert_true(rig_read64(r, AEROGPU_REG_MAGIC) == UINT64_C(0x0001000455504741));
}

CASE(enables_are_boolean_and_formats_checked)
{
    struct rig *r = *state;
    static const uint32_t formats[] = {AEROGPU_REG_SCANOUT0_FORMAT, AEROGPU_REG_CURSOR_FORMAT};

    rig_write(r, AEROGPU_REG_SCANOUT0_ENABLE, 2);
    assert_int_equal(rig_read(r, AEROGPU_REG_SCANOUT0_ENABLE), 1);
    rig_write(r, AEROGPU_REG_CURSOR_ENABLE, 0x80000000);
    assert_int_equal(rig_read(r, AEROGPU_REG_CURSOR_ENABLE), 1);
    for (int i = 0; i < 2; i++) {
        for (uint32_t f = 0; f < 100; f++) {
            bool known = (f >= 1 && f <= 10) || f == 32 || f == 33 || (f >= 64 && f <= 71);
            rig_write(r, formats[i], f);
            assert_int_equal(rig_read(r, formats[i]), known ? f : 0);
        }
        rig_write(r, formats[i], 0xDEADBEEF);
        assert_int_equal(rig_read(r, formats[i]), 0);
    }
}

CASE(cursor_position_is_signed)
{
    struct rig *r = *state;

    rig_write(r, AEROGPU_REG_CURSOR_X, 0xFFFFFFFF);
    rig_write(r, AEROGPU_REG_CURSOR_Y, 0x80000000);
    assert_int_equal((int32_t)rig_read(r, AEROGPU_REG_CURSOR_X), -1);
    assert_int_equal(rig_read(r, AEROGPU_REG_CURSOR_Y), 0x80000000);
}

CASE(ring_control_reads_enable_only)
{
    struct rig *r = *state;

    rig_write(r, AEROGPU_REG_RING_CONTROL, 0xFFFFFFFF);
    assert_int_equal(rig_read(r, AEROGPU_REG_RING_CONTROL), 1);
    assert_int_equal(r->resets, 1);
    assert_int_equal(rig_read(r, AEROGPU_REG_ERROR_COUNT), 0); /* no ring: nothing to put in order */
    rig_write(r, AEROGPU_REG_RING_CONTROL, 0);
    assert_int_equal(rig_read(r, AEROGPU_REG_RING_CONTROL), 0);
}

TEST(missing_features_hide_their_registers)
{
    struct rig *r = rig_on(AEROGPU_FEATURE_CURSOR | AEROGPU_FEATURE_VBLANK | AEROGPU_FEATURE_ERROR_INFO);

    assert_int_equal(rig_read(r, AEROGPU_REG_FEATURES_LO),
                     AEROGPU_FEATURE_FENCE_PAGE | AEROGPU_FEATURE_SCANOUT | AEROGPU_FEATURE_TRANSFER);
    rig_write(r, AEROGPU_REG_CURSOR_WIDTH, 64);
    assert_int_equal(rig_read(r, AEROGPU_REG_CURSOR_WIDTH), 0);
    assert_int_equal(rig_read(r, AEROGPU_REG_SCANOUT0_VBLANK_PERIOD_NS), 0);
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, 0xFFFFFFFF);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_ENABLE), 0x80000001);
    rig_write(r, AEROGPU_REG_SCANOUT0_ENABLE, 1);
    rig_advance(r, 10 * RIG_PERIOD);
    assert_true(r->armed == GPU_NEVER);
    rig_ring(r, 8);
    rig_header(r)->magic = 0;
    rig_submit(r, 1);
    assert_int_equal(rig_read(r, AEROGPU_REG_ERROR_COUNT), 0);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 0x80000000); /* the interrupt is in every device */
    rig_free(r);
}

CASE(device_reset_restores_power_on)
{
    struct rig *r = *state;

    gpu_config_write(r->gpu, 0x10, 4, 0xFEB00000);
    rig_ring(r, 8);
    rig_scanout(r, 4, 4, AEROGPU_FORMAT_B8G8R8X8_UNORM, 16);
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, 0x80000003);
    rig_submit(r, 7);
    rig_done(r, 0, 0, 0);
    gpu_bar_write(r->gpu, 1, 100, 4, 0x12345678);
    assert_true(r->level);
    gpu_reset(r->gpu);
    assert_false(r->level);
    assert_int_equal(r->resets, 1);
    assert_true(r->armed == GPU_NEVER);
    assert_int_equal(gpu_config_read(r->gpu, 0x04, 2), 0);
    assert_int_equal(gpu_bar_address(r->gpu, 0), 0);
    rig_command(r, RIG_CMD_MEM);
#define ROW(offset, name, access, minor, feature, doc)                                                       \
    if (AEROGPU_##access == AEROGPU_RW || !strncmp(#name, "COMPLETED", 9))                                   \
        assert_int_equal(rig_read(r, offset), 0);
    AEROGPU_REGISTERS(ROW)
#undef ROW
    assert_int_equal(rig_read(r, AEROGPU_REG_FEATURES_LO), 0x3F);
    assert_int_equal(rig_read(r, AEROGPU_REG_FEATURES_HI), AEROGPU_EXT_FEATURES_ALL >> 32);
    assert_int_equal(rig_read(r, AEROGPU_REG_SCANOUT0_VBLANK_PERIOD_NS), RIG_PERIOD);
    assert_int_equal(gpu_bar_read(r->gpu, 1, 100, 4), 0x12345678);
}

TEST(create_checks_its_parameters)
{
    static const struct gpu_host_ops host = {0};
    static const struct gpu_backend_ops backend = {0};
    struct clock clock;
    struct gpu *gpu = NULL;

    clock_init_virtual(&clock, 0);
    assert_int_equal(
        gpu_create(&gpu, &(struct gpu_params){.host = &host, .backend = &backend, .clock = &clock}), -EINVAL);
    assert_int_equal(gpu_create(&gpu, &(struct gpu_params){.clock = &clock}), -EINVAL);
    assert_null(gpu);
    gpu_destroy(NULL);
}

/* ---- VRAM ---- */

CASE(vram_reads_back)
{
    struct rig *r = *state;

    gpu_bar_write(r->gpu, 1, 0x40000, 8, UINT64_C(0x8877665544332211));
    assert_int_equal(gpu_bar_read(r->gpu, 1, 0x40000, 1), 0x11);
    assert_int_equal(gpu_bar_read(r->gpu, 1, 0x40003, 2), 0x5544);
    assert_int_equal(gpu_bar_read(r->gpu, 1, 0x40004, 4), 0x88776655);
    gpu_bar_write(r->gpu, 1, AEROGPU_BAR1_SIZE - 1, 1, 0x5A);
    assert_int_equal(gpu_bar_read(r->gpu, 1, AEROGPU_BAR1_SIZE - 1, 1), 0x5A);
    assert_int_equal(gpu_vram(r->gpu)[0x40001], 0x22);
}

CASE(vram_past_the_end_floats_high)
{
    struct rig *r = *state;

    assert_int_equal(gpu_bar_read(r->gpu, 1, AEROGPU_BAR1_SIZE, 1), 0xFF);
    for (uint32_t size = 2; size <= 8; size *= 2) /* a byte too far */
        assert_true(gpu_bar_read(r->gpu, 1, AEROGPU_BAR1_SIZE - size + 1, size) ==
                    UINT64_MAX >> (64 - 8 * size));
    assert_int_equal(gpu_bar_read(r->gpu, 1, AEROGPU_BAR1_SIZE - 2, 4), 0xFFFFFFFF);
    assert_true(gpu_bar_read(r->gpu, 1, UINT64_MAX - 3, 8) == UINT64_MAX);
    gpu_bar_write(r->gpu, 1, AEROGPU_BAR1_SIZE - 2, 4, 0x12345678);
    assert_int_equal(gpu_bar_read(r->gpu, 1, AEROGPU_BAR1_SIZE - 2, 2), 0);
    assert_true(gpu_bar_read(r->gpu, 1, 0, 16) == UINT64_MAX);
    gpu_bar_write(r->gpu, 1, 0, 16, 1);
    assert_int_equal(gpu_bar_read(r->gpu, 1, 0, 8), 0);
}

CASE(vram_is_shared_by_descriptor)
{
    struct rig *r = *state;
    uint8_t *other = mmap(NULL, 4096, PROT_READ, MAP_SHARED, gpu_vram_fd(r->gpu), 0x10000);

    assert_ptr_not_equal(other, MAP_FAILED);
    gpu_bar_write(r->gpu, 1, 0x10010, 1, 0x77);
    assert_int_equal(other[0x10], 0x77);
    munmap(other, 4096);
}

/* ---- interrupts ---- */

/* Makes FENCE pending. */
static void fence_pending(struct rig *r, uint64_t fence)
{
    rig_submit(r, fence);
    rig_done(r, r->count - 1, 0, 0);
}

CASE(intx_follows_status_and_enable)
{
    struct rig *r = *state;

    rig_ring(r, 8);
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_FENCE);
    fence_pending(r, 1);
    assert_true(r->level);
    assert_true(gpu_config_read(r->gpu, 0x06, 2) & 0x8);
    rig_write(r, AEROGPU_REG_IRQ_ACK, AEROGPU_IRQ_FENCE);
    assert_false(r->level);
    assert_false(gpu_config_read(r->gpu, 0x06, 2) & 0x8);
}

CASE(intx_disable_gates_the_line_only)
{
    struct rig *r = *state;

    rig_ring(r, 8);
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_FENCE);
    fence_pending(r, 1);
    rig_command(r, RIG_CMD_MEM | RIG_CMD_MASTER | RIG_CMD_INTX_OFF);
    assert_false(r->level);
    assert_true(gpu_config_read(r->gpu, 0x06, 2) & 0x8); /* the cause still shows */
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), AEROGPU_IRQ_FENCE);
    rig_command(r, RIG_CMD_MEM | RIG_CMD_MASTER);
    assert_true(r->level);
}

CASE(msi_replaces_intx)
{
    struct rig *r = *state;

    rig_ring(r, 8);
    rig_msi_on(r, UINT64_C(0x1FEE01000), 0x41);
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_FENCE);
    fence_pending(r, 1);
    assert_false(r->level);
    assert_int_equal(r->msis, 1);
    assert_true(r->msi_address == UINT64_C(0x1FEE01000));
    assert_int_equal(r->msi_data, 0x41);
    fence_pending(r, 2); /* not acknowledged yet: the same message covers it */
    assert_int_equal(r->msis, 1);
    rig_write(r, AEROGPU_REG_IRQ_ACK, AEROGPU_IRQ_FENCE);
    fence_pending(r, 3);
    assert_int_equal(r->msis, 2);
}

CASE(msi_comes_again_for_what_an_ack_leaves)
{
    struct rig *r = *state;

    rig_ring(r, 8);
    rig_msi_on(r, 0xFEE00000, 1);
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_FENCE | AEROGPU_IRQ_ERROR);
    rig_submit(r, 1);
    rig_done(r, 0, 0, AEROGPU_ERROR_BACKEND);
    assert_int_equal(r->msis, 2); /* ERROR, then FENCE */
    rig_write(r, AEROGPU_REG_IRQ_ACK, AEROGPU_IRQ_FENCE);
    assert_int_equal(r->msis, 3);
    rig_write(r, AEROGPU_REG_IRQ_ACK, AEROGPU_IRQ_ERROR);
    assert_int_equal(r->msis, 3);
}

CASE(msi_waits_for_bus_mastering)
{
    struct rig *r = *state;

    rig_msi_on(r, 0xFEE00000, 1);
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_SCANOUT_VBLANK);
    rig_write(r, AEROGPU_REG_SCANOUT0_ENABLE, 1);
    rig_command(r, RIG_CMD_MEM);
    rig_advance(r, RIG_PERIOD);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), AEROGPU_IRQ_SCANOUT_VBLANK);
    assert_int_equal(r->msis, 0);
    rig_command(r, RIG_CMD_MEM | RIG_CMD_MASTER);
    assert_int_equal(r->msis, 1);
}

CASE(turning_msi_on_delivers_what_is_pending)
{
    struct rig *r = *state;

    rig_ring(r, 8);
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_FENCE);
    fence_pending(r, 1);
    assert_true(r->level);
    rig_msi_on(r, 0xFEE00000, 1);
    assert_false(r->level);
    assert_int_equal(r->msis, 1);
    gpu_config_write(r->gpu, RIG_MSI + 2, 2, 0);
    assert_true(r->level);
}

CASE(ack_clears_only_its_bits)
{
    struct rig *r = *state;

    rig_ring(r, 8);
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_FENCE | AEROGPU_IRQ_ERROR);
    rig_submit(r, 1);
    rig_done(r, 0, 0, AEROGPU_ERROR_OOB);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 0x80000001);
    rig_write(r, AEROGPU_REG_IRQ_ACK, AEROGPU_IRQ_FENCE);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 0x80000000);
    assert_true(r->level);
    rig_write(r, AEROGPU_REG_IRQ_ACK, AEROGPU_IRQ_ERROR);
    assert_false(r->level);
}

CASE(ack_by_byte_lane)
{
    struct rig *r = *state;

    rig_ring(r, 8);
    gpu_bar_write(r->gpu, 0, AEROGPU_REG_IRQ_ENABLE, 1, 0x01);
    gpu_bar_write(r->gpu, 0, AEROGPU_REG_IRQ_ENABLE + 3, 1, 0x80);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_ENABLE), 0x80000001);
    rig_submit(r, 1);
    rig_done(r, 0, 0, AEROGPU_ERROR_OOB);
    gpu_bar_write(r->gpu, 0, AEROGPU_REG_IRQ_ACK + 3, 1, 0x80);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 0x00000001);
    gpu_bar_write(r->gpu, 0, AEROGPU_REG_IRQ_ACK, 1, 0x01);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 0);
    assert_false(r->level);
}

/* A driver acknowledges inside the interrupt; the device must not deadlock or lose the next one. */
static void ack_in_isr(struct rig *r)
{
    rig_write(r, AEROGPU_REG_IRQ_ACK, rig_read(r, AEROGPU_REG_IRQ_STATUS));
    if (rig_completed(r) == 1)
        fence_pending(r, 2);
}

CASE(isr_may_use_the_device)
{
    struct rig *r = *state;

    rig_ring(r, 8);
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_FENCE);
    r->on_irq = ack_in_isr;
    fence_pending(r, 1);
    assert_int_equal(rig_completed(r), 2);
    assert_false(r->level);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 0);
}

static int deep, deepest;

static void make_more_in_isr(struct rig *r)
{
    deepest = ++deep > deepest ? deep : deepest;
    rig_write(r, AEROGPU_REG_IRQ_ACK, UINT32_MAX);
    if (r->count < 4) {
        rig_submit(r, r->count + 1);
        rig_done(r, r->count - 1, 0, 0);
    }
    deep--;
}

/* The routine of a driver that makes the next interrupt itself is called again, not inside of itself. */
CASE(no_interrupt_inside_of_one)
{
    struct rig *r = *state;

    for (int msi = 0; msi < 2; msi++) {
        rig_ring(r, 8);
        rig_header(r)->head = rig_header(r)->tail = 0;
        rig_write(r, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE | AEROGPU_RING_CONTROL_RESET);
        rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_FENCE);
        if (msi)
            rig_msi_on(r, 0xFEE00000, 1);
        r->count = 0;
        deep = deepest = 0;
        r->on_irq = make_more_in_isr;
        rig_submit(r, 1);
        rig_done(r, 0, 0, 0);
        r->on_irq = NULL;
        assert_int_equal(deepest, 1);
        assert_int_equal(rig_completed(r), 4);
    }
    assert_int_equal(r->msis, 4);
    assert_int_equal(r->rises, 4);
}
