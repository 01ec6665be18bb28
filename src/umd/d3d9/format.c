/* SPDX-License-Identifier: MIT */
/* format.c: Direct3D's formats, and what they are in the device. Those that it does not have, and that only textures can have,
 * become wider ones on their way. */
#include "umd/d3d9/umd9.h"

enum {
    TEXTURE = FORMATOP_TEXTURE | FORMATOP_CUBETEXTURE | FORMATOP_VERTEXTEXTURE | FORMATOP_OFFSCREENPLAIN,
    TARGET = FORMATOP_OFFSCREEN_RENDERTARGET | FORMATOP_SAME_FORMAT_RENDERTARGET |
             FORMATOP_SAME_FORMAT_UP_TO_ALPHA_RENDERTARGET,
    SRGB = FORMATOP_SRGBREAD | FORMATOP_SRGBWRITE,
    DISPLAY = FORMATOP_DISPLAYMODE | FORMATOP_3DACCELERATION | FORMATOP_CONVERT_TO_ARGB,
    DEPTH = FORMATOP_ZSTENCIL | FORMATOP_ZSTENCIL_WITH_ARBITRARY_COLOR_DEPTH,
};

/* B8G8R8A8 of each texel. */
static void put(uint8_t *to, uint32_t r, uint32_t g, uint32_t b, uint32_t a)
{
    to[0] = (uint8_t)b;
    to[1] = (uint8_t)g;
    to[2] = (uint8_t)r;
    to[3] = (uint8_t)a;
}

static uint32_t scale(uint32_t v, uint32_t bits)
{
    uint32_t most = (1u << bits) - 1;

    return ((v & most) * 255 + most / 2) / most;
}

#define WIDEN(name, step, ...)                                                                               \
    static void name(uint8_t *to, const uint8_t *p, uint32_t n)                                              \
    {                                                                                                        \
        for (uint32_t i = 0; i < n; i++, p += (step), to += 4)                                               \
            put(to, __VA_ARGS__);                                                                            \
    }
#define WORD(p) ((uint32_t)((p)[0] | (p)[1] << 8))
WIDEN(of_r8g8b8, 3, p[2], p[1], p[0], 255)
WIDEN(of_l8, 1, p[0], p[0], p[0], 255)
WIDEN(of_a8, 1, 0, 0, 0, p[0])
WIDEN(of_a8l8, 2, p[0], p[0], p[0], p[1])
WIDEN(of_a4l4, 1, scale(p[0], 4), scale(p[0], 4), scale(p[0], 4), scale(p[0] >> 4u, 4))
WIDEN(of_l16, 2, p[1], p[1], p[1], 255)
WIDEN(of_a4r4g4b4, 2, scale(WORD(p) >> 8, 4), scale(WORD(p) >> 4, 4), scale(WORD(p), 4),
      scale(WORD(p) >> 12, 4))
WIDEN(of_x4r4g4b4, 2, scale(WORD(p) >> 8, 4), scale(WORD(p) >> 4, 4), scale(WORD(p), 4), 255)
WIDEN(of_x1r5g5b5, 2, scale(WORD(p) >> 10, 5), scale(WORD(p) >> 5, 5), scale(WORD(p), 5), 255)
WIDEN(of_r3g3b2, 1, scale(p[0] >> 5u, 3), scale(p[0] >> 2u, 3), scale(p[0], 2), 255)
WIDEN(of_a8r3g3b2, 2, scale(p[0] >> 5u, 3), scale(p[0] >> 2u, 3), scale(p[0], 2), p[1])

#define BGRA AEROGPU_FORMAT_B8G8R8A8_UNORM
static const struct umd9_format formats[] = {
    {D3DDDIFMT_A8R8G8B8, BGRA, 4, 1, 4, TEXTURE | TARGET | SRGB | FORMATOP_CONVERT_TO_ARGB, NULL},
    {D3DDDIFMT_X8R8G8B8, AEROGPU_FORMAT_B8G8R8X8_UNORM, 4, 1, 4, TEXTURE | TARGET | SRGB | DISPLAY, NULL},
    {D3DDDIFMT_A8B8G8R8, AEROGPU_FORMAT_R8G8B8A8_UNORM, 4, 1, 4, TEXTURE | TARGET | SRGB, NULL},
    {D3DDDIFMT_X8B8G8R8, AEROGPU_FORMAT_R8G8B8X8_UNORM, 4, 1, 4, TEXTURE | TARGET | SRGB, NULL},
    {D3DDDIFMT_R5G6B5, AEROGPU_FORMAT_B5G6R5_UNORM, 2, 1, 2, TEXTURE | TARGET, NULL},
    {D3DDDIFMT_A1R5G5B5, AEROGPU_FORMAT_B5G5R5A1_UNORM, 2, 1, 2, TEXTURE | TARGET, NULL},
    {D3DDDIFMT_X1R5G5B5, BGRA, 2, 1, 4, TEXTURE, of_x1r5g5b5},
    {D3DDDIFMT_A4R4G4B4, BGRA, 2, 1, 4, TEXTURE, of_a4r4g4b4},
    {30 /* X4R4G4B4 */, BGRA, 2, 1, 4, TEXTURE, of_x4r4g4b4},
    {27 /* R3G3B2 */, BGRA, 1, 1, 4, TEXTURE, of_r3g3b2},
    {29 /* A8R3G3B2 */, BGRA, 2, 1, 4, TEXTURE, of_a8r3g3b2},
    {D3DDDIFMT_R8G8B8, BGRA, 3, 1, 4, TEXTURE, of_r8g8b8},
    {D3DDDIFMT_A8, BGRA, 1, 1, 4, TEXTURE, of_a8},
    {D3DDDIFMT_L8, BGRA, 1, 1, 4, TEXTURE, of_l8},
    {51 /* A8L8 */, BGRA, 2, 1, 4, TEXTURE, of_a8l8},
    {52 /* A4L4 */, BGRA, 1, 1, 4, TEXTURE, of_a4l4},
    {81 /* L16 */, BGRA, 2, 1, 4, TEXTURE, of_l16},
    {0x31545844 /* DXT1 */, AEROGPU_FORMAT_BC1_RGBA_UNORM, 8, 4, 8, TEXTURE | FORMATOP_SRGBREAD, NULL},
    {0x32545844 /* DXT2 */, AEROGPU_FORMAT_BC2_RGBA_UNORM, 16, 4, 16, TEXTURE | FORMATOP_SRGBREAD, NULL},
    {0x33545844 /* DXT3 */, AEROGPU_FORMAT_BC2_RGBA_UNORM, 16, 4, 16, TEXTURE | FORMATOP_SRGBREAD, NULL},
    {0x34545844 /* DXT4 */, AEROGPU_FORMAT_BC3_RGBA_UNORM, 16, 4, 16, TEXTURE | FORMATOP_SRGBREAD, NULL},
    {0x35545844 /* DXT5 */, AEROGPU_FORMAT_BC3_RGBA_UNORM, 16, 4, 16, TEXTURE | FORMATOP_SRGBREAD, NULL},
    {D3DDDIFMT_D24S8, AEROGPU_FORMAT_D24_UNORM_S8_UINT, 4, 1, 4, DEPTH, NULL},
    {D3DDDIFMT_D24X8, AEROGPU_FORMAT_D24_UNORM_S8_UINT, 4, 1, 4, DEPTH, NULL},
    {D3DDDIFMT_D32, AEROGPU_FORMAT_D24_UNORM_S8_UINT, 4, 1, 4, DEPTH, NULL},
    {D3DDDIFMT_D16, AEROGPU_FORMAT_D24_UNORM_S8_UINT, 2, 1, 4, DEPTH, NULL},
};

const struct umd9_format *umd9_formats(uint32_t *count)
{
    *count = sizeof(formats) / sizeof(formats[0]);
    return formats;
}

const struct umd9_format *umd9_format(uint32_t d3d)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i].d3d == d3d)
            return &formats[i];
    return NULL;
}
