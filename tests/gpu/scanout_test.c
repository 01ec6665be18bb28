/* SPDX-License-Identifier: MIT */
/* scanout_test: the pictures that the scanout and cursor registers describe. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_rig.h"

static int setup(void **state)
{
    *state = rig_on(0);
    return 0;
}

static void assert_pixel(const struct gpu_picture *p, uint32_t x, uint32_t y, uint32_t rgba)
{
    const uint8_t *d = p->rgba + ((size_t)y * p->width + x) * 4;
    uint32_t got = (uint32_t)d[0] << 24 | (uint32_t)d[1] << 16 | (uint32_t)d[2] << 8 | d[3];

    if (got != rgba)
        fail_msg("pixel %u,%u is %08x, not %08x", x, y, got, rgba);
}

static struct gpu_picture shown(struct rig *r, uint32_t flags)
{
    struct gpu_picture p = {0};
    struct error e = {0};

    if (gpu_read_scanout(r->gpu, flags, &p, &e))
        fail_msg("%s", e.text);
    return p;
}

static void assert_not_shown(struct rig *r, int want, const char *text)
{
    struct gpu_picture p = {0};
    struct error e = {0};

    assert_int_equal(gpu_read_scanout(r->gpu, GPU_PICTURE_CURSOR, &p, &e), want);
    assert_int_equal(e.code, want);
    assert_string_equal(e.text, text);
    assert_null(p.rgba);
}

#define CASE(name) TEST_WITH(name, setup, rig_teardown)

/* Two pixels a row, two rows, a pitch with a gap: catches swapped channels, flipped rows and ignored pitches.
 */
CASE(every_colour_format)
{
    static const struct {
        uint32_t format, bytes;
        uint8_t px[2][4];
        uint32_t rgba[2];
    } cases[] = {
        {AEROGPU_FORMAT_B8G8R8A8_UNORM, 4, {{3, 2, 1, 4}, {30, 20, 10, 40}}, {0x01020304, 0x0A141E28}},
        {AEROGPU_FORMAT_B8G8R8X8_UNORM, 4, {{3, 2, 1, 4}, {30, 20, 10, 0}}, {0x010203FF, 0x0A141EFF}},
        {AEROGPU_FORMAT_R8G8B8A8_UNORM, 4, {{1, 2, 3, 4}, {10, 20, 30, 40}}, {0x01020304, 0x0A141E28}},
        {AEROGPU_FORMAT_R8G8B8X8_UNORM, 4, {{1, 2, 3, 4}, {10, 20, 30, 0}}, {0x010203FF, 0x0A141EFF}},
        {AEROGPU_FORMAT_B8G8R8A8_UNORM_SRGB, 4, {{3, 2, 1, 4}, {30, 20, 10, 40}}, {0x01020304, 0x0A141E28}},
        {AEROGPU_FORMAT_B8G8R8X8_UNORM_SRGB, 4, {{3, 2, 1, 4}, {30, 20, 10, 0}}, {0x010203FF, 0x0A141EFF}},
        {AEROGPU_FORMAT_R8G8B8A8_UNORM_SRGB, 4, {{1, 2, 3, 4}, {10, 20, 30, 40}}, {0x01020304, 0x0A141E28}},
        {AEROGPU_FORMAT_R8G8B8X8_UNORM_SRGB, 4, {{1, 2, 3, 4}, {10, 20, 30, 0}}, {0x010203FF, 0x0A141EFF}},
        {AEROGPU_FORMAT_B5G6R5_UNORM, 2, {{0x00, 0xF8}, {0x21, 0x04}}, {0xFF0000FF, 0x008608FF}},
        {AEROGPU_FORMAT_B5G5R5A1_UNORM, 2, {{0x00, 0xFC}, {0xE1, 0x03}}, {0xFF0000FF, 0x00FF0800}},
    };
    struct rig *r = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gpu_picture p;
        uint32_t pitch = 2 * cases[i].bytes + 3;
        memset(r->ram + RIG_FB, 0x99, 64);
        for (int y = 0; y < 2; y++) /* the second row has them the other way round */
            for (int x = 0; x < 2; x++)
                memcpy(r->ram + RIG_FB + y * pitch + x * cases[i].bytes, cases[i].px[x ^ y], cases[i].bytes);
        rig_scanout(r, 2, 2, cases[i].format, pitch);
        p = shown(r, 0);
        assert_int_equal(p.width, 2);
        assert_int_equal(p.height, 2);
        for (uint32_t y = 0; y < 2; y++)
            for (uint32_t x = 0; x < 2; x++)
                assert_pixel(&p, x, y, cases[i].rgba[x ^ y]);
        free(p.rgba);
    }
}

CASE(formats_that_cannot_be_shown)
{
    static const uint32_t formats[] = {0, AEROGPU_FORMAT_D24_UNORM_S8_UINT, AEROGPU_FORMAT_D32_FLOAT,
                                       AEROGPU_FORMAT_BC1_RGBA_UNORM, AEROGPU_FORMAT_BC7_RGBA_UNORM_SRGB};
    struct rig *r = *state;
    char text[64];

    for (int i = 0; i < 5; i++) {
        rig_scanout(r, 4, 4, formats[i], 64);
        snprintf(text, sizeof(text), "scanout: format %u cannot be shown", formats[i]);
        assert_not_shown(r, -EINVAL, text);
    }
}

CASE(pictures_that_are_none)
{
    struct rig *r = *state;

    assert_not_shown(r, -ENODATA, "scanout is off");
    rig_scanout(r, 2, 2, AEROGPU_FORMAT_R8G8B8A8_UNORM, 7);
    assert_not_shown(r, -EINVAL, "scanout: pitch 7 is less than a row of 8 bytes");
    rig_scanout(r, 0, 2, AEROGPU_FORMAT_R8G8B8A8_UNORM, 8);
    assert_not_shown(r, -EINVAL, "scanout: 0 x 2 pixels");
    rig_scanout(r, 65536, 65536, AEROGPU_FORMAT_B5G6R5_UNORM, 1 << 20);
    assert_not_shown(r, -EFBIG, "scanout: 65536 x 65536 pixels are more than 64 MiB");
    rig_scanout(r, 4096, 4097, AEROGPU_FORMAT_B5G6R5_UNORM, 8192);
    assert_not_shown(r, -EFBIG, "scanout: 4096 x 4097 pixels are more than 64 MiB");
    rig_scanout(r, 4096, 4096, AEROGPU_FORMAT_B5G6R5_UNORM, 8192);
    assert_not_shown(r, -EFAULT, "scanout: FB_GPA 0x10000: 33554432 bytes are not all memory");
    rig_scanout(r, 0xFFFFFFFF, 0xFFFFFFFF, AEROGPU_FORMAT_R8G8B8A8_UNORM, 0xFFFFFFFF);
    assert_not_shown(r, -EINVAL, "scanout: pitch 4294967295 is less than a row of 17179869180 bytes");
    rig_scanout(r, 2, 2, AEROGPU_FORMAT_R8G8B8A8_UNORM, 8);
    rig_write64(r, AEROGPU_REG_SCANOUT0_FB_GPA_LO, RIG_RAM - 15);
    assert_not_shown(r, -EFAULT, "scanout: FB_GPA 0x1ffff1: 16 bytes are not all memory");
    rig_write64(r, AEROGPU_REG_SCANOUT0_FB_GPA_LO, UINT64_MAX - 3);
    assert_not_shown(r, -EFAULT, "scanout: FB_GPA 0xfffffffffffffffc: 16 bytes are not all memory");
    rig_write64(r, AEROGPU_REG_SCANOUT0_FB_GPA_LO, 0);
    assert_not_shown(r, -EFAULT, "scanout: FB_GPA 0x0: 16 bytes are not all memory");
}

CASE(the_last_row_needs_no_whole_pitch)
{
    struct rig *r = *state;
    struct gpu_picture p;

    rig_scanout(r, 1, 2, AEROGPU_FORMAT_R8G8B8A8_UNORM, 4096);
    rig_write64(r, AEROGPU_REG_SCANOUT0_FB_GPA_LO, RIG_RAM - 4096 - 4);
    p = shown(r, 0);
    free(p.rgba);
}

CASE(bus_mastering_gates_reading)
{
    struct rig *r = *state;
    struct gpu_picture p;
    struct error e = {0};

    rig_scanout(r, 1, 1, AEROGPU_FORMAT_R8G8B8A8_UNORM, 4);
    rig_write(r, AEROGPU_REG_CURSOR_ENABLE, 1);
    rig_command(r, RIG_CMD_MEM);
    assert_not_shown(r, -EACCES, "scanout: bus mastering is off");
    assert_int_equal(gpu_read_cursor(r->gpu, &p, &e), -EACCES);
    assert_int_equal(r->maps, 0);
}

CASE(address_flips_at_once)
{
    struct rig *r = *state;
    struct gpu_picture p;

    memcpy(r->ram + RIG_FB, (uint8_t[]){1, 2, 3, 4}, 4);
    memcpy(r->ram + RIG_FB + 0x1000, (uint8_t[]){5, 6, 7, 8}, 4);
    rig_scanout(r, 1, 1, AEROGPU_FORMAT_R8G8B8A8_UNORM, 4);
    rig_write(r, AEROGPU_REG_SCANOUT0_FB_GPA_LO, RIG_FB + 0x1000);
    assert_int_equal(rig_read(r, AEROGPU_REG_SCANOUT0_FB_GPA_LO),
                     RIG_FB + 0x1000); /* a writer reads it back */
    p = shown(r, 0);
    assert_pixel(&p, 0, 0, 0x01020304); /* but it is not current */
    free(p.rgba);
    rig_write(r, AEROGPU_REG_SCANOUT0_FB_GPA_HI, 0);
    p = shown(r, 0);
    assert_pixel(&p, 0, 0, 0x05060708);
    free(p.rgba);
}

CASE(both_planes_have_their_own_pending_half)
{
    static const uint32_t lo[] = {AEROGPU_REG_SCANOUT0_FB_GPA_LO, AEROGPU_REG_CURSOR_FB_GPA_LO};
    static const uint32_t enable[] = {AEROGPU_REG_SCANOUT0_ENABLE, AEROGPU_REG_CURSOR_ENABLE};
    struct rig *r = *state;

    for (int i = 0; i < 2; i++) {
        rig_write64(r, lo[i], UINT64_C(0x1111222233334444));
        rig_write(r, lo[i], 0x9999AAAA);
        assert_true(rig_read64(r, lo[i]) == UINT64_C(0x111122229999AAAA));
        rig_write(r, enable[i], 0); /* drops it */
        assert_true(rig_read64(r, lo[i]) == UINT64_C(0x1111222233334444));
        rig_write(r, lo[i], 0x9999AAAA);
        rig_write(r, lo[i] + 4, 0x77778888);
        assert_true(rig_read64(r, lo[i]) == UINT64_C(0x777788889999AAAA));
        rig_write(r, lo[i] + 4, 0x55556666); /* HI alone keeps the current LO */
        assert_true(rig_read64(r, lo[i]) == UINT64_C(0x555566669999AAAA));
    }
}

CASE(the_executor_sees_the_committed_address)
{
    struct rig *r = *state;

    rig_ring(r, 8);
    rig_scanout(r, 1, 1, AEROGPU_FORMAT_R8G8B8A8_UNORM, 4);
    rig_write(r, AEROGPU_REG_SCANOUT0_FB_GPA_LO, 0xABC00000);
    rig_submit(r, 1);
    assert_int_equal(r->subs[0].scanout.fb_gpa, RIG_FB);
}

CASE(frame_buffer_in_vram)
{
    struct rig *r = *state;
    struct gpu_picture p;

    gpu_config_write(r->gpu, 0x14, 4, 0xE0000000);
    gpu_bar_write(r->gpu, 1, AEROGPU_VRAM_VBE_LFB_OFFSET, 4, 0x44332211);
    rig_scanout(r, 1, 1, AEROGPU_FORMAT_R8G8B8A8_UNORM, 4);
    rig_write64(r, AEROGPU_REG_SCANOUT0_FB_GPA_LO, 0xE0000000 + AEROGPU_VRAM_VBE_LFB_OFFSET);
    p = shown(r, 0);
    assert_pixel(&p, 0, 0, 0x11223344);
    free(p.rgba);
    rig_write64(r, AEROGPU_REG_SCANOUT0_FB_GPA_LO, 0xE4000000 - 3);
    assert_not_shown(r, -EFAULT, "scanout: FB_GPA 0xe3fffffd: 4 bytes are not all memory");
}

/* ---- the cursor ---- */

static void cursor(struct rig *r, int32_t x, int32_t y, uint32_t hot_x, uint32_t hot_y)
{
    static const uint8_t image[] = {255,    0, 0, 255, /**/ 0, 255, 0,   128,
                                    /**/ 9, 9, 9, 0,   /**/ 0, 0,   255, 255};

    memcpy(r->ram + RIG_CURSOR_FB, image, 8);
    memcpy(r->ram + RIG_CURSOR_FB + 16, image + 8, 8);
    rig_write(r, AEROGPU_REG_CURSOR_X, (uint32_t)x);
    rig_write(r, AEROGPU_REG_CURSOR_Y, (uint32_t)y);
    rig_write(r, AEROGPU_REG_CURSOR_HOT_X, hot_x);
    rig_write(r, AEROGPU_REG_CURSOR_HOT_Y, hot_y);
    rig_write(r, AEROGPU_REG_CURSOR_WIDTH, 2);
    rig_write(r, AEROGPU_REG_CURSOR_HEIGHT, 2);
    rig_write(r, AEROGPU_REG_CURSOR_FORMAT, AEROGPU_FORMAT_R8G8B8A8_UNORM);
    rig_write(r, AEROGPU_REG_CURSOR_PITCH_BYTES, 16);
    rig_write64(r, AEROGPU_REG_CURSOR_FB_GPA_LO, RIG_CURSOR_FB);
    rig_write(r, AEROGPU_REG_CURSOR_ENABLE, 1);
}

static void grey(struct rig *r)
{
    memset(r->ram + RIG_FB, 100, 64);
    rig_scanout(r, 4, 4, AEROGPU_FORMAT_R8G8B8X8_UNORM, 16);
}

CASE(cursor_is_blended)
{
    struct rig *r = *state;
    struct gpu_picture p;

    grey(r);
    cursor(r, 2, 3, 1, 1);
    p = shown(r, GPU_PICTURE_CURSOR);
    assert_pixel(&p, 1, 2, 0xFF0000FF);
    assert_pixel(&p, 2, 2, 0x32B232FF); /* half green over grey */
    assert_pixel(&p, 1, 3, 0x646464FF); /* transparent */
    assert_pixel(&p, 2, 3, 0x0000FFFF);
    assert_pixel(&p, 0, 0, 0x646464FF);
    free(p.rgba);
    p = shown(r, 0);
    assert_pixel(&p, 1, 2, 0x646464FF);
    free(p.rgba);
}

CASE(cursor_is_clipped)
{
    static const int32_t at[] = {-1, 3, INT32_MIN, INT32_MAX};
    struct rig *r = *state;
    struct gpu_picture p;

    grey(r);
    for (int i = 0; i < 16; i++) {
        cursor(r, at[i & 3], at[i >> 2], 0, 0);
        p = shown(r, GPU_PICTURE_CURSOR);
        assert_pixel(&p, 0, 0, i == 0 ? 0x0000FFFF : 0x646464FF);
        assert_pixel(&p, 3, 3, i == 5 ? 0xFF0000FF : 0x646464FF);
        free(p.rgba);
    }
    cursor(r, 0, 0, 0xFFFFFFFF, 0xFFFFFFFF);
    free(shown(r, GPU_PICTURE_CURSOR).rgba);
}

CASE(cursor_alone)
{
    struct rig *r = *state;
    struct gpu_picture p;
    struct error e = {0};

    cursor(r, 0, 0, 0, 0);
    assert_int_equal(gpu_read_cursor(r->gpu, &p, &e), 0);
    assert_int_equal(p.width, 2);
    assert_pixel(&p, 1, 0, 0x00FF0080);
    assert_pixel(&p, 0, 1, 0x09090900);
    free(p.rgba);
}

CASE(cursor_without_alpha_is_opaque)
{
    struct rig *r = *state;
    struct gpu_picture p;

    grey(r);
    cursor(r, 0, 0, 0, 0);
    rig_write(r, AEROGPU_REG_CURSOR_FORMAT, AEROGPU_FORMAT_B8G8R8X8_UNORM);
    p = shown(r, GPU_PICTURE_CURSOR);
    assert_pixel(&p, 0, 1, 0x090909FF);
    assert_pixel(&p, 0, 0, 0x0000FFFF);
    free(p.rgba);
}

CASE(a_bad_cursor_is_an_error)
{
    struct rig *r = *state;

    grey(r);
    cursor(r, 0, 0, 0, 0);
    rig_write(r, AEROGPU_REG_CURSOR_PITCH_BYTES, 7);
    assert_not_shown(r, -EINVAL, "cursor: pitch 7 is less than a row of 8 bytes");
}
