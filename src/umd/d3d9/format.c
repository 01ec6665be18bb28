/* SPDX-License-Identifier: MIT */
/* format.c: Direct3D's formats, and what they are in the device. Those that it does not have, and that only textures can have,
 * become wider ones on their way. */
#include "umd/d3d9/umd9.h"

enum {
    TEXTURE = FORMATOP_TEXTURE | FORMATOP_CUBETEXTURE | FORMATOP_VOLUMETEXTURE | FORMATOP_VERTEXTEXTURE |
              FORMATOP_OFFSCREENPLAIN,
    /* Windows' memory of the levels of formats that it does not know has no room for the blocks of volumes' slices. */
    FLAT = TEXTURE & ~(FORMATOP_OFFSCREENPLAIN | FORMATOP_VOLUMETEXTURE),
    BUMP = TEXTURE | FORMATOP_BUMPMAP,
    VIDEO = FORMATOP_OFFSCREENPLAIN,
    TARGET = FORMATOP_OFFSCREEN_RENDERTARGET | FORMATOP_SAME_FORMAT_RENDERTARGET |
             FORMATOP_SAME_FORMAT_UP_TO_ALPHA_RENDERTARGET | FORMATOP_AUTOGENMIPMAP,
    SRGB = FORMATOP_SRGBREAD | FORMATOP_SRGBWRITE,
    DISPLAY = FORMATOP_DISPLAYMODE | FORMATOP_3DACCELERATION | FORMATOP_CONVERT_TO_ARGB,
    DEPTH = FORMATOP_ZSTENCIL | FORMATOP_ZSTENCIL_WITH_ARBITRARY_COLOR_DEPTH | FORMATOP_TEXTURE,
};

enum {
    FORMAT_NULL = 0x4C4C554E,
    FORMAT_ATOC = 0x434F5441 /* that it is there says that ADAPTIVETESS_Y takes it: alpha is coverage */
};
enum { D16_LOCKABLE = 70, D32F_LOCKABLE = 82 }; /* depth that programs lock, which has one sample */

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
WIDEN(of_a4r4g4b4, 2, scale(WORD(p) >> 8, 4), scale(WORD(p) >> 4, 4), scale(WORD(p), 4),
      scale(WORD(p) >> 12, 4))
WIDEN(of_x4r4g4b4, 2, scale(WORD(p) >> 8, 4), scale(WORD(p) >> 4, 4), scale(WORD(p), 4), 255)
WIDEN(of_x1r5g5b5, 2, scale(WORD(p) >> 10, 5), scale(WORD(p) >> 5, 5), scale(WORD(p), 5), 255)
WIDEN(of_r3g3b2, 1, scale(p[0] >> 5u, 3), scale(p[0] >> 2u, 3), scale(p[0], 2), 255)
WIDEN(of_a8r3g3b2, 2, scale(p[0] >> 5u, 3), scale(p[0] >> 2u, 3), scale(p[0], 2), p[1])

/* Four numbers of 16 bits of each texel. */
static void put16(uint8_t *to, uint32_t r, uint32_t g, uint32_t b, uint32_t a)
{
    const uint16_t v[4] = {(uint16_t)r, (uint16_t)g, (uint16_t)b, (uint16_t)a};

    memcpy(to, v, sizeof(v));
}

/* A signed number of `bits`, as one of 16; the lowest is no less than -1. */
static uint32_t scale_signed(uint32_t v, uint32_t bits)
{
    int32_t most = (1 << (bits - 1)) - 1, n = (int32_t)(v << (32 - bits)) >> (32 - bits);

    return (uint32_t)((n < -most ? -most : n) * 32767 / most);
}

static uint32_t scale_half(uint32_t v, uint32_t bits) /* 0 to 1 as a signed number of 16 bits */
{
    uint32_t most = (1u << bits) - 1;

    return (v & most) * 32767 / most;
}

#define WIDEN16(name, step, ...)                                                                             \
    static void name(uint8_t *to, const uint8_t *p, uint32_t n)                                              \
    {                                                                                                        \
        for (uint32_t i = 0; i < n; i++, p += (step), to += 8)                                               \
            put16(to, __VA_ARGS__);                                                                          \
    }
WIDEN16(of_l16, 2, WORD(p), WORD(p), WORD(p), 65535)
WIDEN16(of_l6v5u5, 2, scale_signed(WORD(p), 5), scale_signed(WORD(p) >> 5, 5), scale_half(WORD(p) >> 10, 6),
        32767)
WIDEN16(of_x8l8v8u8, 4, scale_signed(p[0], 8), scale_signed(p[1], 8), scale_half(p[2], 8), 32767)
WIDEN16(of_a2w10v10u10, 4, scale_signed(WORD(p), 10), scale_signed(WORD(p + 1) >> 2, 10),
        scale_signed(WORD(p + 2) >> 4, 10), scale_half(p[3] >> 6u, 2))

/* Red and blue change places; and back. */
static void of_a2r10g10b10(uint8_t *to, const uint8_t *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, to += 4, from += 4) {
        uint32_t v;

        memcpy(&v, from, 4);
        v = (v & 0xC00FFC00u) | (v & 0x3FFu) << 20 | (v >> 20 & 0x3FFu);
        memcpy(to, &v, 4);
    }
}

/* The halves of a block change places: what Direct3D 9 has first is green. */
static void of_ati2(uint8_t *to, const uint8_t *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, to += 16, from += 16) {
        memcpy(to, from + 8, 8);
        memcpy(to + 8, from, 8);
    }
}

/* ITU-R BT.601, 16 to 235. */
static void put_yuv(uint8_t *to, int32_t y, int32_t u, int32_t v)
{
    const int32_t c = 298 * (y - 16) + 128,
                  rgb[3] = {(c + 409 * (v - 128)) >> 8, (c - 100 * (u - 128) - 208 * (v - 128)) >> 8,
                            (c + 516 * (u - 128)) >> 8};

    for (int i = 0; i < 3; i++)
        to[2 - i] = (uint8_t)(rgb[i] < 0 ? 0 : rgb[i] > 255 ? 255 : rgb[i]);
    to[3] = 255;
}

/* Two texels have one colour. */
static void of_yuy2(uint8_t *to, const uint8_t *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, to += 4)
        put_yuv(to, p[2 * i], p[4 * (i / 2) + 1], p[4 * (i / 2) + 3]);
}

static void of_uyvy(uint8_t *to, const uint8_t *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, to += 4)
        put_yuv(to, p[2 * i + 1], p[4 * (i / 2)], p[4 * (i / 2) + 2]);
}

/* A colour for four texels: all V, and then all U, in lines of half the pitch. */
static void of_yv12(uint8_t *to, const uint8_t *from, uint32_t pitch, uint32_t height, uint32_t x, uint32_t y,
                    uint32_t n)
{
    const uint8_t *v = from + (size_t)pitch * height + (size_t)(y / 2) * (pitch / 2),
                  *u = v + (size_t)((height + 1) / 2) * (pitch / 2);

    from += (size_t)y * pitch;
    for (uint32_t i = x; i < x + n; i++, to += 4)
        put_yuv(to, from[i], u[i / 2], v[i / 2]);
}

/* The same, U and V in turns. */
static void of_nv12(uint8_t *to, const uint8_t *from, uint32_t pitch, uint32_t height, uint32_t x, uint32_t y,
                    uint32_t n)
{
    const uint8_t *uv = from + (size_t)pitch * height + (size_t)(y / 2) * pitch;

    from += (size_t)y * pitch;
    for (uint32_t i = x; i < x + n; i++, to += 4)
        put_yuv(to, from[i], uv[i & ~1u], uv[i | 1]);
}

#define BGRA AEROGPU_FORMAT_B8G8R8A8_UNORM
#define F16  AEROGPU_FORMAT_EXT_R16G16B16A16_SNORM
static const struct umd9_format formats[] = {
    {D3DDDIFMT_A8R8G8B8, BGRA, 4, 1, 4, TEXTURE | TARGET | SRGB | FORMATOP_CONVERT_TO_ARGB, NULL, NULL},
    {D3DDDIFMT_X8R8G8B8, AEROGPU_FORMAT_B8G8R8X8_UNORM, 4, 1, 4, TEXTURE | TARGET | SRGB | DISPLAY, NULL,
     NULL},
    {FORMAT_NULL, AEROGPU_FORMAT_B8G8R8X8_UNORM, 4, 1, 4, TARGET | FORMATOP_TEXTURE, NULL, NULL},
    {FORMAT_ATOC, BGRA, 4, 1, 4, VIDEO, NULL, NULL},
    {D3DDDIFMT_A8B8G8R8, AEROGPU_FORMAT_R8G8B8A8_UNORM, 4, 1, 4, TEXTURE | TARGET | SRGB, NULL, NULL},
    {D3DDDIFMT_X8B8G8R8, AEROGPU_FORMAT_R8G8B8X8_UNORM, 4, 1, 4, TEXTURE | TARGET | SRGB, NULL, NULL},
    {D3DDDIFMT_R5G6B5, AEROGPU_FORMAT_B5G6R5_UNORM, 2, 1, 2, TEXTURE | TARGET | FORMATOP_SRGBREAD, NULL,
     NULL},
    {D3DDDIFMT_A1R5G5B5, AEROGPU_FORMAT_B5G5R5A1_UNORM, 2, 1, 2, TEXTURE | TARGET | FORMATOP_SRGBREAD, NULL,
     NULL},
    {D3DDDIFMT_X1R5G5B5, BGRA, 2, 1, 4, TEXTURE | FORMATOP_SRGBREAD, of_x1r5g5b5, NULL},
    {D3DDDIFMT_A4R4G4B4, BGRA, 2, 1, 4, TEXTURE | FORMATOP_SRGBREAD, of_a4r4g4b4, NULL},
    {30 /* X4R4G4B4 */, BGRA, 2, 1, 4, TEXTURE | FORMATOP_SRGBREAD, of_x4r4g4b4, NULL},
    {27 /* R3G3B2 */, BGRA, 1, 1, 4, TEXTURE, of_r3g3b2, NULL},
    {29 /* A8R3G3B2 */, BGRA, 2, 1, 4, TEXTURE, of_a8r3g3b2, NULL},
    {D3DDDIFMT_R8G8B8, BGRA, 3, 1, 4, TEXTURE | FORMATOP_SRGBREAD, of_r8g8b8, NULL},
    {D3DDDIFMT_A8, BGRA, 1, 1, 4, TEXTURE, of_a8, NULL},
    {D3DDDIFMT_L8, BGRA, 1, 1, 4, TEXTURE | FORMATOP_SRGBREAD, of_l8, NULL},
    {51 /* A8L8 */, BGRA, 2, 1, 4, TEXTURE | FORMATOP_SRGBREAD, of_a8l8, NULL},
    {52 /* A4L4 */, BGRA, 1, 1, 4, TEXTURE, of_a4l4, NULL},
    {81 /* L16 */, AEROGPU_FORMAT_EXT_R16G16B16A16_UNORM, 2, 1, 8, TEXTURE, of_l16, NULL},
    {31 /* A2B10G10R10 */, AEROGPU_FORMAT_EXT_R10G10B10A2_UNORM, 4, 1, 4, TEXTURE | TARGET, NULL, NULL},
    {35 /* A2R10G10B10 */, AEROGPU_FORMAT_EXT_R10G10B10A2_UNORM, 4, 1, 4, TEXTURE | TARGET, of_a2r10g10b10,
     of_a2r10g10b10},
    {34 /* G16R16 */, AEROGPU_FORMAT_EXT_R16G16_UNORM, 4, 1, 4, TEXTURE | TARGET, NULL, NULL},
    {36 /* A16B16G16R16 */, AEROGPU_FORMAT_EXT_R16G16B16A16_UNORM, 8, 1, 8, TEXTURE | TARGET, NULL, NULL},
    {111 /* R16F */, AEROGPU_FORMAT_EXT_R16_FLOAT, 2, 1, 2, TEXTURE | TARGET, NULL, NULL},
    {112 /* G16R16F */, AEROGPU_FORMAT_EXT_R16G16_FLOAT, 4, 1, 4, TEXTURE | TARGET, NULL, NULL},
    {113 /* A16B16G16R16F */, AEROGPU_FORMAT_EXT_R16G16B16A16_FLOAT, 8, 1, 8, TEXTURE | TARGET, NULL, NULL},
    {114 /* R32F */, AEROGPU_FORMAT_EXT_R32_FLOAT, 4, 1, 4, TEXTURE | TARGET, NULL, NULL},
    {115 /* G32R32F */, AEROGPU_FORMAT_EXT_R32G32_FLOAT, 8, 1, 8, TEXTURE | TARGET, NULL, NULL},
    {116 /* A32B32G32R32F */, AEROGPU_FORMAT_EXT_R32G32B32A32_FLOAT, 16, 1, 16, TEXTURE | TARGET, NULL, NULL},
    {60 /* V8U8 */, AEROGPU_FORMAT_EXT_R8G8_SNORM, 2, 1, 2, BUMP, NULL, NULL},
    {61 /* L6V5U5 */, F16, 2, 1, 8, BUMP, of_l6v5u5, NULL},
    {62 /* X8L8V8U8 */, F16, 4, 1, 8, BUMP, of_x8l8v8u8, NULL},
    {63 /* Q8W8V8U8 */, AEROGPU_FORMAT_EXT_R8G8B8A8_SNORM, 4, 1, 4, BUMP, NULL, NULL},
    {64 /* V16U16 */, AEROGPU_FORMAT_EXT_R16G16_SNORM, 4, 1, 4, BUMP, NULL, NULL},
    {67 /* A2W10V10U10 */, F16, 4, 1, 8, BUMP, of_a2w10v10u10, NULL},
    {110 /* Q16W16V16U16 */, F16, 8, 1, 8, BUMP, NULL, NULL},
    {0x31495441 /* ATI1 */, AEROGPU_FORMAT_EXT_BC4_UNORM, 8, 4, 8, FLAT, NULL, NULL},
    {0x32495441 /* ATI2 */, AEROGPU_FORMAT_EXT_BC5_UNORM, 16, 4, 16, FLAT, of_ati2, of_ati2},
    {0x32595559 /* YUY2 */, BGRA, 2, 1, 4, VIDEO, of_yuy2, NULL},
    {0x59565955 /* UYVY */, BGRA, 2, 1, 4, VIDEO, of_uyvy, NULL},
    {0x32315659 /* YV12 */, BGRA, 1, 1, 4, VIDEO, NULL, NULL, of_yv12},
    {0x3231564E /* NV12 */, BGRA, 1, 1, 4, VIDEO, NULL, NULL, of_nv12},
    {0x31545844 /* DXT1 */, AEROGPU_FORMAT_BC1_RGBA_UNORM, 8, 4, 8, TEXTURE | FORMATOP_SRGBREAD, NULL, NULL},
    {0x32545844 /* DXT2 */, AEROGPU_FORMAT_BC2_RGBA_UNORM, 16, 4, 16, TEXTURE | FORMATOP_SRGBREAD, NULL,
     NULL},
    {0x33545844 /* DXT3 */, AEROGPU_FORMAT_BC2_RGBA_UNORM, 16, 4, 16, TEXTURE | FORMATOP_SRGBREAD, NULL,
     NULL},
    {0x34545844 /* DXT4 */, AEROGPU_FORMAT_BC3_RGBA_UNORM, 16, 4, 16, TEXTURE | FORMATOP_SRGBREAD, NULL,
     NULL},
    {0x35545844 /* DXT5 */, AEROGPU_FORMAT_BC3_RGBA_UNORM, 16, 4, 16, TEXTURE | FORMATOP_SRGBREAD, NULL,
     NULL},
    {D3DDDIFMT_D24S8, AEROGPU_FORMAT_D24_UNORM_S8_UINT, 4, 1, 4, DEPTH, NULL, NULL},
    {D3DDDIFMT_D24X8, AEROGPU_FORMAT_D24_UNORM_S8_UINT, 4, 1, 4, DEPTH, NULL, NULL},
    {0x5A544E49 /* INTZ */, AEROGPU_FORMAT_D24_UNORM_S8_UINT, 4, 1, 4, DEPTH, NULL, NULL},
    {D3DDDIFMT_D16, AEROGPU_FORMAT_D24_UNORM_S8_UINT, 2, 1, 4, DEPTH, NULL, NULL},
    {D16_LOCKABLE, AEROGPU_FORMAT_EXT_D16_UNORM, 2, 1, 2, DEPTH, NULL, NULL},
    {D32F_LOCKABLE, AEROGPU_FORMAT_D32_FLOAT, 4, 1, 4, DEPTH, NULL, NULL},
    {83 /* D24FS8 */, AEROGPU_FORMAT_EXT_D32_FLOAT_S8_UINT, 4, 1, 8, DEPTH, NULL, NULL},
};

const struct umd9_format *umd9_formats(uint32_t *count)
{
    *count = sizeof(formats) / sizeof(formats[0]);
    return formats;
}

uint32_t umd9_operations(const struct umd9_format *f, uint64_t features)
{
    uint32_t o = f->operations;

    if (f->abi >= AEROGPU_EXT_FIRST_FORMAT && !(features & AEROGPU_EXT_FEATURE(EXT_FORMATS)))
        return 0;
    if (f->d3d == FORMAT_ATOC && !(features & AEROGPU_EXT_FEATURE(EXT_SAMPLES)))
        return 0;
    if (!(features & AEROGPU_EXT_FEATURE(EXT_DIMENSIONS)))
        o &= ~FORMATOP_VOLUMETEXTURE;
    if (!(features & AEROGPU_EXT_FEATURE(EXT_MIPS)))
        o &= ~FORMATOP_AUTOGENMIPMAP;
    return o;
}

/* Four: what drivers of processors have, and what others have, too. Who asks for two gets as many. */
uint32_t umd9_samples(const struct umd9_format *f, uint64_t features, uint32_t type)
{
    const uint32_t drawn = FORMATOP_OFFSCREEN_RENDERTARGET | FORMATOP_ZSTENCIL;

    if (type == D3DDDIMULTISAMPLE_NONE)
        return 1;
    if (f && (f->d3d == D16_LOCKABLE || f->d3d == D32F_LOCKABLE))
        return 0;
    return (type == D3DDDIMULTISAMPLE_NONMASKABLE || type == D3DDDIMULTISAMPLE_2_SAMPLES ||
            type == D3DDDIMULTISAMPLE_4_SAMPLES) &&
                   f && umd9_operations(f, features) & drawn && features & AEROGPU_EXT_FEATURE(EXT_SAMPLES)
               ? 4
               : 0;
}

const struct umd9_format *umd9_format(uint32_t d3d)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i].d3d == d3d)
            return &formats[i];
    return NULL;
}

bool umd9_is_read(const struct umd9_format *f)
{
    return f->d3d == 0x5A544E49 /* INTZ */;
}

bool umd9_is_null(const struct umd9_format *f)
{
    return f->d3d == FORMAT_NULL;
}

bool umd9_is_decoded(const struct umd9_format *f)
{
    return f->abi == AEROGPU_FORMAT_B5G6R5_UNORM || f->abi == AEROGPU_FORMAT_B5G5R5A1_UNORM;
}
