/* SPDX-License-Identifier: MIT */
#include "executor/engine/formats.h"

#include <string.h>

#include <aerogpu/ext.h>

#define COLOR(name_, vk_, twin_, bytes_, alpha_)                                                             \
    {                                                                                                        \
        AEROGPU_FORMAT_##name_, VK_FORMAT_##vk_, VK_FORMAT_##twin_, bytes_, 1, alpha_, false, false, 0,      \
            #name_                                                                                           \
    }
#define BC(name_, vk_, twin_, bytes_)                                                                        \
    {                                                                                                        \
        AEROGPU_FORMAT_##name_, VK_FORMAT_##vk_, VK_FORMAT_##twin_, bytes_, 4, true, false, false, 0, #name_ \
    }

/* Ours have no X channel, whose byte is written as 255. */
#define EXT(name_, vk_, bytes_)    COLOR(EXT_##name_, vk_, UNDEFINED, bytes_, true)
#define EXT_BC(name_, vk_, bytes_) BC(EXT_##name_, vk_, UNDEFINED, bytes_)
#define EXT_INT(name_, vk_, bytes_, sign_)                                                                   \
    {                                                                                                        \
        AEROGPU_FORMAT_EXT_##name_, VK_FORMAT_##vk_, VK_FORMAT_UNDEFINED, bytes_, 1, true, false, false,     \
            sign_, "EXT_" #name_                                                                             \
    }

static const struct format_info formats[] = {
    COLOR(B8G8R8A8_UNORM, B8G8R8A8_UNORM, B8G8R8A8_SRGB, 4, true),
    COLOR(B8G8R8X8_UNORM, B8G8R8A8_UNORM, B8G8R8A8_SRGB, 4, false),
    COLOR(R8G8B8A8_UNORM, R8G8B8A8_UNORM, R8G8B8A8_SRGB, 4, true),
    COLOR(R8G8B8X8_UNORM, R8G8B8A8_UNORM, R8G8B8A8_SRGB, 4, false),
    COLOR(B5G6R5_UNORM, R5G6B5_UNORM_PACK16, UNDEFINED, 2, false),
    COLOR(B5G5R5A1_UNORM, A1R5G5B5_UNORM_PACK16, UNDEFINED, 2, true),
    COLOR(B8G8R8A8_UNORM_SRGB, B8G8R8A8_SRGB, B8G8R8A8_UNORM, 4, true),
    COLOR(B8G8R8X8_UNORM_SRGB, B8G8R8A8_SRGB, B8G8R8A8_UNORM, 4, false),
    COLOR(R8G8B8A8_UNORM_SRGB, R8G8B8A8_SRGB, R8G8B8A8_UNORM, 4, true),
    COLOR(R8G8B8X8_UNORM_SRGB, R8G8B8A8_SRGB, R8G8B8A8_UNORM, 4, false),
    {AEROGPU_FORMAT_D24_UNORM_S8_UINT, VK_FORMAT_D24_UNORM_S8_UINT, VK_FORMAT_UNDEFINED, 4, 1, false, true,
     true, 0, "D24_UNORM_S8_UINT"},
    {AEROGPU_FORMAT_D32_FLOAT, VK_FORMAT_D32_SFLOAT, VK_FORMAT_UNDEFINED, 4, 1, false, true, false, 0,
     "D32_FLOAT"},
    BC(BC1_RGBA_UNORM, BC1_RGBA_UNORM_BLOCK, BC1_RGBA_SRGB_BLOCK, 8),
    BC(BC1_RGBA_UNORM_SRGB, BC1_RGBA_SRGB_BLOCK, BC1_RGBA_UNORM_BLOCK, 8),
    BC(BC2_RGBA_UNORM, BC2_UNORM_BLOCK, BC2_SRGB_BLOCK, 16),
    BC(BC2_RGBA_UNORM_SRGB, BC2_SRGB_BLOCK, BC2_UNORM_BLOCK, 16),
    BC(BC3_RGBA_UNORM, BC3_UNORM_BLOCK, BC3_SRGB_BLOCK, 16),
    BC(BC3_RGBA_UNORM_SRGB, BC3_SRGB_BLOCK, BC3_UNORM_BLOCK, 16),
    BC(BC7_RGBA_UNORM, BC7_UNORM_BLOCK, BC7_SRGB_BLOCK, 16),
    BC(BC7_RGBA_UNORM_SRGB, BC7_SRGB_BLOCK, BC7_UNORM_BLOCK, 16),
    EXT(R32G32B32A32_FLOAT, R32G32B32A32_SFLOAT, 16),
    EXT(R16G16B16A16_FLOAT, R16G16B16A16_SFLOAT, 8),
    EXT(R16G16B16A16_UNORM, R16G16B16A16_UNORM, 8),
    EXT(R16G16B16A16_SNORM, R16G16B16A16_SNORM, 8),
    EXT(R32G32_FLOAT, R32G32_SFLOAT, 8),
    EXT(R10G10B10A2_UNORM, A2B10G10R10_UNORM_PACK32, 4),
    EXT(R11G11B10_FLOAT, B10G11R11_UFLOAT_PACK32, 4),
    EXT(R8G8B8A8_SNORM, R8G8B8A8_SNORM, 4),
    EXT(R16G16_FLOAT, R16G16_SFLOAT, 4),
    EXT(R16G16_UNORM, R16G16_UNORM, 4),
    EXT(R16G16_SNORM, R16G16_SNORM, 4),
    EXT(R32_FLOAT, R32_SFLOAT, 4),
    EXT(R8G8_UNORM, R8G8_UNORM, 2),
    EXT(R8G8_SNORM, R8G8_SNORM, 2),
    EXT(R16_FLOAT, R16_SFLOAT, 2),
    EXT(R16_UNORM, R16_UNORM, 2),
    EXT(R16_SNORM, R16_SNORM, 2),
    EXT(R8_UNORM, R8_UNORM, 1),
    EXT(R8_SNORM, R8_SNORM, 1),
    EXT(R9G9B9E5_FLOAT, E5B9G9R9_UFLOAT_PACK32, 4),
    EXT_BC(BC4_UNORM, BC4_UNORM_BLOCK, 8),
    EXT_BC(BC4_SNORM, BC4_SNORM_BLOCK, 8),
    EXT_BC(BC5_UNORM, BC5_UNORM_BLOCK, 16),
    EXT_BC(BC5_SNORM, BC5_SNORM_BLOCK, 16),
    EXT_BC(BC6H_UFLOAT, BC6H_UFLOAT_BLOCK, 16),
    EXT_BC(BC6H_SFLOAT, BC6H_SFLOAT_BLOCK, 16),
    EXT_INT(R32G32B32A32_UINT, R32G32B32A32_UINT, 16, 'U'),
    EXT_INT(R32G32B32A32_SINT, R32G32B32A32_SINT, 16, 'S'),
    EXT_INT(R16G16B16A16_UINT, R16G16B16A16_UINT, 8, 'U'),
    EXT_INT(R16G16B16A16_SINT, R16G16B16A16_SINT, 8, 'S'),
    EXT_INT(R32G32_UINT, R32G32_UINT, 8, 'U'),
    EXT_INT(R32G32_SINT, R32G32_SINT, 8, 'S'),
    EXT_INT(R10G10B10A2_UINT, A2B10G10R10_UINT_PACK32, 4, 'U'),
    EXT_INT(R8G8B8A8_UINT, R8G8B8A8_UINT, 4, 'U'),
    EXT_INT(R8G8B8A8_SINT, R8G8B8A8_SINT, 4, 'S'),
    EXT_INT(R16G16_UINT, R16G16_UINT, 4, 'U'),
    EXT_INT(R16G16_SINT, R16G16_SINT, 4, 'S'),
    EXT_INT(R32_UINT, R32_UINT, 4, 'U'),
    EXT_INT(R32_SINT, R32_SINT, 4, 'S'),
    EXT_INT(R8G8_UINT, R8G8_UINT, 2, 'U'),
    EXT_INT(R8G8_SINT, R8G8_SINT, 2, 'S'),
    EXT_INT(R16_UINT, R16_UINT, 2, 'U'),
    EXT_INT(R16_SINT, R16_SINT, 2, 'S'),
    EXT_INT(R8_UINT, R8_UINT, 1, 'U'),
    EXT_INT(R8_SINT, R8_SINT, 1, 'S'),
    EXT(A8_UNORM, R8_UNORM, 1), /* and its views are turned round */
    {AEROGPU_FORMAT_EXT_STENCIL_UINT, VK_FORMAT_S8_UINT, VK_FORMAT_UNDEFINED, 1, 1, false, true, true, 'U',
     "EXT_STENCIL_UINT"},
    {AEROGPU_FORMAT_EXT_D16_UNORM, VK_FORMAT_D16_UNORM, VK_FORMAT_UNDEFINED, 2, 1, false, true, false, 0,
     "EXT_D16_UNORM"},
    {AEROGPU_FORMAT_EXT_D32_FLOAT_S8_UINT, VK_FORMAT_D32_SFLOAT_S8_UINT, VK_FORMAT_UNDEFINED, 8, 1, false,
     true, true, 0, "EXT_D32_FLOAT_S8_UINT"},
};

const struct format_info *exec_format_find(uint32_t abi)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i].abi == abi)
            return &formats[i];
    return NULL;
}

const struct format_info *exec_format_of_vk(VkFormat vk)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i].vk == vk)
            return &formats[i];
    return NULL;
}

bool exec_format_can_change(const struct format_info *f)
{
    return !f->depth && (f->twin != VK_FORMAT_UNDEFINED || f->abi >= AEROGPU_EXT_FIRST_FORMAT);
}

bool exec_format_can_view(const struct format_info *texture, const struct format_info *as)
{
    bool ours = exec_format_can_change(texture) && as->abi >= AEROGPU_EXT_FIRST_FORMAT && !as->depth;

    if (as->abi == AEROGPU_FORMAT_EXT_STENCIL_UINT)
        return texture->depth && texture->stencil;
    return as->vk == texture->vk || as->vk == texture->twin ||
           (ours && as->bytes == texture->bytes && as->block == texture->block);
}

/* ---- conversion to scanout formats --------------------------------------- */

static bool is_scanout(uint32_t abi)
{
    return abi >= AEROGPU_FORMAT_B8G8R8A8_UNORM && abi <= AEROGPU_FORMAT_R8G8B8X8_UNORM_SRGB;
}

bool exec_format_can_convert(const struct format_info *from, uint32_t to)
{
    return is_scanout(from->abi) && is_scanout(to);
}

/* The layout of a colour format without sRGB and alpha: what order its bytes have. */
enum order { ORDER_BGRA, ORDER_RGBA, ORDER_565, ORDER_5551 };

static enum order order_of(uint32_t abi)
{
    switch (abi) {
    case AEROGPU_FORMAT_R8G8B8A8_UNORM:
    case AEROGPU_FORMAT_R8G8B8X8_UNORM:
    case AEROGPU_FORMAT_R8G8B8A8_UNORM_SRGB:
    case AEROGPU_FORMAT_R8G8B8X8_UNORM_SRGB:
        return ORDER_RGBA;
    case AEROGPU_FORMAT_B5G6R5_UNORM:
        return ORDER_565;
    case AEROGPU_FORMAT_B5G5R5A1_UNORM:
        return ORDER_5551;
    default:
        return ORDER_BGRA;
    }
}

static uint8_t expand(uint32_t v, uint32_t max)
{
    return (uint8_t)((v * 255 + max / 2) / max);
}

static uint32_t shrink(uint8_t v, uint32_t max)
{
    return (v * max + 127) / 255;
}

static void load(uint8_t rgba[4], const uint8_t *src, enum order order, bool alpha)
{
    uint32_t v;

    switch (order) {
    case ORDER_BGRA:
        rgba[0] = src[2], rgba[1] = src[1], rgba[2] = src[0], rgba[3] = src[3];
        break;
    case ORDER_RGBA:
        memcpy(rgba, src, 4);
        break;
    case ORDER_565:
        v = (uint32_t)src[0] | (uint32_t)src[1] << 8;
        rgba[0] = expand(v >> 11, 31), rgba[1] = expand(v >> 5 & 63, 63), rgba[2] = expand(v & 31, 31);
        break;
    case ORDER_5551:
        v = (uint32_t)src[0] | (uint32_t)src[1] << 8;
        rgba[0] = expand(v >> 10 & 31, 31), rgba[1] = expand(v >> 5 & 31, 31), rgba[2] = expand(v & 31, 31);
        rgba[3] = v >> 15 ? 255 : 0;
        break;
    }
    if (!alpha)
        rgba[3] = 255;
}

static void store(uint8_t *dst, const uint8_t rgba[4], enum order order)
{
    uint32_t v;

    switch (order) {
    case ORDER_BGRA:
        dst[0] = rgba[2], dst[1] = rgba[1], dst[2] = rgba[0], dst[3] = rgba[3];
        break;
    case ORDER_RGBA:
        memcpy(dst, rgba, 4);
        break;
    case ORDER_565:
        v = shrink(rgba[0], 31) << 11 | shrink(rgba[1], 63) << 5 | shrink(rgba[2], 31);
        dst[0] = (uint8_t)v, dst[1] = (uint8_t)(v >> 8);
        break;
    case ORDER_5551:
        v = (rgba[3] >= 128 ? 0x8000u : 0) | shrink(rgba[0], 31) << 10 | shrink(rgba[1], 31) << 5 |
            shrink(rgba[2], 31);
        dst[0] = (uint8_t)v, dst[1] = (uint8_t)(v >> 8);
        break;
    }
}

void exec_format_convert_row(uint8_t *dst, uint32_t to, const uint8_t *src, const struct format_info *from,
                             uint32_t n)
{
    const struct format_info *f_to = exec_format_find(to);
    enum order in = order_of(from->abi), out = order_of(to);
    bool alpha = from->alpha && f_to->alpha;
    uint8_t rgba[4];

    if (in == out && (alpha || from->bytes == 2)) {
        memcpy(dst, src, (size_t)n * from->bytes);
        return;
    }
    if (in == out) { /* the same bytes with an opaque fourth */
        for (uint32_t i = 0; i < n; i++) {
            uint32_t v;
            memcpy(&v, src + 4 * i, 4);
            v |= 0xFF000000u;
            memcpy(dst + 4 * i, &v, 4);
        }
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        load(rgba, src + (size_t)i * from->bytes, in, alpha);
        store(dst + (size_t)i * f_to->bytes, rgba, out);
    }
}

/* ---- vertex attributes --------------------------------------------------- */

static const struct {
    uint16_t dxgi;
    uint8_t bytes;
    VkFormat vk;
} attributes[] = {
    {2, 16, VK_FORMAT_R32G32B32A32_SFLOAT},
    {3, 16, VK_FORMAT_R32G32B32A32_UINT},
    {4, 16, VK_FORMAT_R32G32B32A32_SINT},
    {6, 12, VK_FORMAT_R32G32B32_SFLOAT},
    {7, 12, VK_FORMAT_R32G32B32_UINT},
    {8, 12, VK_FORMAT_R32G32B32_SINT},
    {10, 8, VK_FORMAT_R16G16B16A16_SFLOAT},
    {11, 8, VK_FORMAT_R16G16B16A16_UNORM},
    {12, 8, VK_FORMAT_R16G16B16A16_UINT},
    {13, 8, VK_FORMAT_R16G16B16A16_SNORM},
    {14, 8, VK_FORMAT_R16G16B16A16_SINT},
    {16, 8, VK_FORMAT_R32G32_SFLOAT},
    {17, 8, VK_FORMAT_R32G32_UINT},
    {18, 8, VK_FORMAT_R32G32_SINT},
    {24, 4, VK_FORMAT_A2B10G10R10_UNORM_PACK32},
    {25, 4, VK_FORMAT_A2B10G10R10_UINT_PACK32},
    {26, 4, VK_FORMAT_B10G11R11_UFLOAT_PACK32},
    {28, 4, VK_FORMAT_R8G8B8A8_UNORM},
    {29, 4, VK_FORMAT_R8G8B8A8_UNORM}, /* vertex data is not decoded from sRGB */
    {30, 4, VK_FORMAT_R8G8B8A8_UINT},
    {31, 4, VK_FORMAT_R8G8B8A8_SNORM},
    {32, 4, VK_FORMAT_R8G8B8A8_SINT},
    {34, 4, VK_FORMAT_R16G16_SFLOAT},
    {35, 4, VK_FORMAT_R16G16_UNORM},
    {36, 4, VK_FORMAT_R16G16_UINT},
    {37, 4, VK_FORMAT_R16G16_SNORM},
    {38, 4, VK_FORMAT_R16G16_SINT},
    {41, 4, VK_FORMAT_R32_SFLOAT},
    {42, 4, VK_FORMAT_R32_UINT},
    {43, 4, VK_FORMAT_R32_SINT},
    {49, 2, VK_FORMAT_R8G8_UNORM},
    {50, 2, VK_FORMAT_R8G8_UINT},
    {51, 2, VK_FORMAT_R8G8_SNORM},
    {52, 2, VK_FORMAT_R8G8_SINT},
    {54, 2, VK_FORMAT_R16_SFLOAT},
    {56, 2, VK_FORMAT_R16_UNORM},
    {57, 2, VK_FORMAT_R16_UINT},
    {58, 2, VK_FORMAT_R16_SNORM},
    {59, 2, VK_FORMAT_R16_SINT},
    {61, 1, VK_FORMAT_R8_UNORM},
    {62, 1, VK_FORMAT_R8_UINT},
    {63, 1, VK_FORMAT_R8_SNORM},
    {64, 1, VK_FORMAT_R8_SINT},
    {87, 4, VK_FORMAT_B8G8R8A8_UNORM},
    {88, 4, VK_FORMAT_B8G8R8A8_UNORM},
    {91, 4, VK_FORMAT_B8G8R8A8_UNORM},
};

VkFormat exec_format_of_dxgi_attribute(uint32_t dxgi, uint32_t *bytes)
{
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
        if (attributes[i].dxgi == dxgi) {
            *bytes = attributes[i].bytes;
            return attributes[i].vk;
        }
    return VK_FORMAT_UNDEFINED;
}
