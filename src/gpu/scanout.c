/* SPDX-License-Identifier: MIT */
/* scanout.c: reading the pictures that the scanout and cursor registers describe, as RGBA8.
 *
 * sRGB formats have the same bytes as those without and are shown as they are: a picture's bytes are display
 * values either way. A missing alpha channel reads as opaque.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "gpu/internal.h"

enum { PICTURE_MAX = 64 << 20 };

bool gpu_format_known(uint32_t format)
{
    switch (format) {
#define ROW(value, name, bytes, block, kind, alpha, srgb, minor, doc) case value:
        AEROGPU_FORMATS(ROW)
#undef ROW
        return true;
    }
    return false;
}

void gpu_scanout_check(const struct gpu *gpu)
{
    INVARIANT(gpu->scanout.format == AEROGPU_FORMAT_INVALID || gpu_format_known(gpu->scanout.format));
    INVARIANT(gpu->cursor.format == AEROGPU_FORMAT_INVALID || gpu_format_known(gpu->cursor.format));
}

struct abi_scanout gpu_scanout_snapshot(const struct gpu *gpu)
{
    const struct gpu_plane_regs *s = &gpu->scanout;

    return (struct abi_scanout){.enabled = s->enable,
                                .width = s->width,
                                .height = s->height,
                                .format = s->format,
                                .pitch = s->pitch,
                                .fb_gpa = s->fb.value};
}

static uint8_t widen(uint32_t v, uint32_t bits)
{
    return (uint8_t)(v << (8 - bits) | v >> (2 * bits - 8));
}

static void convert_row(uint32_t format, const uint8_t *src, uint8_t *dst, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++, dst += 4) {
        const uint8_t *p = src + (size_t)x * aerogpu_pixel_bytes(format);
        uint32_t v = (uint32_t)p[0] | (uint32_t)p[1] << 8;
        switch (format) {
        case AEROGPU_FORMAT_B8G8R8A8_UNORM:
        case AEROGPU_FORMAT_B8G8R8A8_UNORM_SRGB:
        case AEROGPU_FORMAT_B8G8R8X8_UNORM:
        case AEROGPU_FORMAT_B8G8R8X8_UNORM_SRGB:
            dst[0] = p[2];
            dst[1] = p[1];
            dst[2] = p[0];
            dst[3] = p[3];
            break;
        case AEROGPU_FORMAT_B5G6R5_UNORM:
            dst[0] = widen(v >> 11, 5);
            dst[1] = widen(v >> 5 & 63, 6);
            dst[2] = widen(v & 31, 5);
            break;
        case AEROGPU_FORMAT_B5G5R5A1_UNORM:
            dst[0] = widen(v >> 10 & 31, 5);
            dst[1] = widen(v >> 5 & 31, 5);
            dst[2] = widen(v & 31, 5);
            dst[3] = v >> 15 ? 255 : 0;
            break;
        default:
            memcpy(dst, p, 4);
        }
    }
}

static void make_opaque(uint8_t *rgba, size_t pixels)
{
    for (size_t i = 0; i < pixels; i++)
        rgba[4 * i + 3] = 255;
}

static bool has_alpha(uint32_t format)
{
    switch (format) {
#define ROW(value, name, bytes, block, kind, alpha, srgb, minor, doc)                                        \
    case value:                                                                                              \
        return alpha;
        AEROGPU_FORMATS(ROW)
#undef ROW
    }
    return false;
}

static int read_plane(struct gpu *gpu, const struct gpu_plane_regs *p, const char *name,
                      struct gpu_picture *out, struct error *e)
{
    uint32_t bytes = aerogpu_pixel_bytes(p->format);
    uint64_t row = (uint64_t)p->width * bytes, size;
    const uint8_t *src;
    uint8_t *rgba;

    if (!p->enable)
        return error_set(e, -ENODATA, "%s is off", name);
    if (!gpu_bus_master(gpu))
        return error_set(e, -EACCES, "%s: bus mastering is off", name);
    if (!bytes)
        return error_set(e, -EINVAL, "%s: format %u cannot be shown", name, p->format);
    if (!p->width || !p->height)
        return error_set(e, -EINVAL, "%s: %u x %u pixels", name, p->width, p->height);
    if (p->pitch < row)
        return error_set(e, -EINVAL, "%s: pitch %u is less than a row of %llu bytes", name, p->pitch,
                         (unsigned long long)row);
    if ((uint64_t)p->width * p->height > PICTURE_MAX / 4)
        return error_set(e, -EFBIG, "%s: %u x %u pixels are more than 64 MiB", name, p->width, p->height);
    size = (uint64_t)(p->height - 1) * p->pitch + row;
    src = p->fb.value ? gpu_map(gpu, p->fb.value, size) : NULL;
    if (!src)
        return error_set(e, -EFAULT, "%s: FB_GPA 0x%llx: %llu bytes are not all memory", name,
                         (unsigned long long)p->fb.value, (unsigned long long)size);
    rgba = malloc((size_t)p->width * p->height * 4);
    if (!rgba)
        return error_set(e, -ENOMEM, "%s: no memory for %u x %u pixels", name, p->width, p->height);
    for (uint32_t y = 0; y < p->height; y++)
        convert_row(p->format, src + (uint64_t)y * p->pitch, rgba + (size_t)y * p->width * 4, p->width);
    if (!has_alpha(p->format))
        make_opaque(rgba, (size_t)p->width * p->height);
    *out = (struct gpu_picture){.width = p->width, .height = p->height, .rgba = rgba};
    return 0;
}

static uint8_t blend(uint32_t src, uint32_t dst, uint32_t a)
{
    return (uint8_t)((src * a + dst * (255 - a) + 127) / 255);
}

/* Blends `cursor` (straight alpha) over `pic` with its hot spot at CURSOR_X, CURSOR_Y, clipped. */
static void compose(struct gpu_picture *pic, const struct gpu_picture *cursor, const struct gpu_plane_regs *p)
{
    int64_t left = (int64_t)(int32_t)p->x - p->hot_x, top = (int64_t)(int32_t)p->y - p->hot_y;

    for (uint32_t cy = 0; cy < cursor->height; cy++) {
        int64_t y = top + cy;
        if (y < 0 || y >= pic->height)
            continue;
        for (uint32_t cx = 0; cx < cursor->width; cx++) {
            int64_t x = left + cx;
            const uint8_t *s = cursor->rgba + ((size_t)cy * cursor->width + cx) * 4;
            uint8_t *d;
            if (x < 0 || x >= pic->width)
                continue;
            d = pic->rgba + ((size_t)y * pic->width + (size_t)x) * 4;
            for (int i = 0; i < 3; i++)
                d[i] = blend(s[i], d[i], s[3]);
            d[3] = blend(255, d[3], s[3]);
        }
    }
}

int gpu_read_scanout(struct gpu *gpu, uint32_t flags, struct gpu_picture *out, struct error *e)
{
    struct gpu_picture cursor;
    int r;

    gpu_lock(gpu);
    r = read_plane(gpu, &gpu->scanout, "scanout", out, e);
    if (!r && flags & GPU_PICTURE_CURSOR && gpu->cursor.enable) {
        r = read_plane(gpu, &gpu->cursor, "cursor", &cursor, e);
        if (!r) {
            compose(out, &cursor, &gpu->cursor);
            free(cursor.rgba);
        } else {
            free(out->rgba);
            out->rgba = NULL;
        }
    }
    gpu_unlock(gpu);
    return r;
}

int gpu_read_cursor(struct gpu *gpu, struct gpu_picture *out, struct error *e)
{
    int r;

    gpu_lock(gpu);
    r = read_plane(gpu, &gpu->cursor, "cursor", out, e);
    gpu_unlock(gpu);
    return r;
}
