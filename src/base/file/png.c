/* SPDX-License-Identifier: MIT */
#include "base/file/png.h"

#include <errno.h>
#include <png.h>
#include <stdlib.h>

#include "base/file/out.h"

static int write_png(const char *path, FILE *(*open_file)(const char *path, struct error *e),
                     const uint8_t *rgba, uint32_t width, uint32_t height, size_t stride, struct error *e)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_RGBA};
    struct error why = {0};
    FILE *f;
    int r = 0;

    if (stride > INT32_MAX)
        return error_set(e, -EINVAL, "%s: rows of %zu bytes are too long", path, stride);
    f = open_file(path, &why);
    if (!f)
        return error_set(e, why.code, "%s", why.text);
    if (!png_image_write_to_stdio(&image, f, 0, rgba, (png_int_32)stride, NULL) && !ferror(f))
        r = error_set(e, -EIO, "%s: %s", path, image.message);
    return out_file_close(f, path, r, e);
}

int png_file_write(const char *path, const uint8_t *rgba, uint32_t width, uint32_t height, size_t stride,
                   struct error *e)
{
    return write_png(path, out_file_open, rgba, width, height, stride, e);
}

int png_file_result(const char *path, const uint8_t *rgba, uint32_t width, uint32_t height, size_t stride,
                    struct error *e)
{
    return write_png(path, out_file_result, rgba, width, height, stride, e);
}

int png_file_read(const char *path, uint8_t **rgba, uint32_t *width, uint32_t *height, struct error *e)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    uint8_t *pixels;

    if (!png_image_begin_read_from_file(&image, path))
        return error_set(e, -EIO, "%s: %s", path, image.message);
    image.format = PNG_FORMAT_RGBA;
    pixels = malloc(PNG_IMAGE_SIZE(image));
    if (!pixels) {
        png_image_free(&image);
        return error_set(e, -ENOMEM, "%s: no memory for %u x %u pixels", path, image.width, image.height);
    }
    if (!png_image_finish_read(&image, NULL, pixels, 0, NULL)) {
        free(pixels);
        return error_set(e, -EIO, "%s: %s", path, image.message);
    }
    *rgba = pixels;
    *width = image.width;
    *height = image.height;
    return 0;
}
