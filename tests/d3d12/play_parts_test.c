/* SPDX-License-Identifier: MIT */
/* play_parts_test.c: parts of the player that need no device. */
#include "test.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file/png.h"
#include "d3d12/play/play_internal.h"
#include "temp_dir.h"

/* `size` bytes in front of a page that nobody may touch. */
static uint8_t *guarded(size_t size)
{
    size_t room = (size + 4095) & ~(size_t)4095;
    uint8_t *p = mmap(NULL, room + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_int_equal(mprotect(p + room, 4096, PROT_NONE), 0);
    return p + room - size;
}

/* Rows of blocks of 16 bytes are as long as rows of four bytes a pixel, and a quarter as many. */
TEST(blocks_are_no_picture)
{
    struct play_image i = {.size = 64 * 4 * 16,
                           .width = 64,
                           .height = 64,
                           .rows = 16,
                           .row = 64 * 4,
                           .format = DXGI_FORMAT_BC7_UNORM};
    struct error e = {0};
    char path[100];

    snprintf(path, sizeof(path), "%s/blocks.png", dir);
    i.bytes = guarded(i.size);
    assert_false(play_is_picture(&i));
    assert_int_equal(play_save_png(&i, false, path, &e), 0);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* Frames are opaque, whatever is in alpha; of what a texture holds alpha is part. */
TEST(pixels_are_a_picture)
{
    struct play_image i = {.size = 64 * 4 * 64,
                           .width = 64,
                           .height = 64,
                           .rows = 64,
                           .row = 64 * 4,
                           .format = DXGI_FORMAT_B8G8R8A8_UNORM};
    struct error e = {0};
    uint32_t width, height;
    uint8_t *rgba;
    char path[100];

    snprintf(path, sizeof(path), "%s/pixels.png", dir);
    for (int alpha = 0; alpha < 2; alpha++) {
        i.bytes = guarded(i.size);
        memcpy(i.bytes + 4, (const uint8_t[]){1, 2, 3, 40}, 4);
        assert_int_equal(play_save_png(&i, alpha, path, &e), 0);
        assert_int_equal(png_file_read(path, &rgba, &width, &height, &e), 0);
        assert_true(width == 64 && height == 64);
        assert_memory_equal(rgba + 4, ((const uint8_t[]){3, 2, 1, alpha ? 40 : 255}), 4);
        free(rgba);
    }
}

TEST(depth_is_grey)
{
    const float depths[] = {0.5f, 0.75f, 1, NAN};
    struct play_image i = {
        .size = 16, .width = 4, .height = 1, .rows = 1, .row = 16, .format = DXGI_FORMAT_R32_FLOAT};
    struct error e = {0};
    uint32_t width, height;
    uint8_t *rgba;
    char path[100];

    snprintf(path, sizeof(path), "%s/depth.png", dir);
    i.bytes = guarded(i.size);
    memcpy(i.bytes, depths, sizeof(depths));
    assert_int_equal(play_save_png(&i, true, path, &e), 0);
    assert_int_equal(png_file_read(path, &rgba, &width, &height, &e), 0);
    for (unsigned k = 0; k < 4; k++)
        assert_memory_equal(
            rgba + 4 * k,
            ((const uint8_t[4][4]){
                {0, 0, 0, 255}, {127, 127, 127, 255}, {255, 255, 255, 255}, {0, 0, 0, 255}}[k]),
            4);
    free(rgba);
}

TEST_GROUP(make_dir, remove_dir);
