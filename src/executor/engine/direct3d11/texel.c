/* SPDX-License-Identifier: MIT */
#include "executor/engine/direct3d11/texel.h"

#include <math.h>
#include <string.h>

enum channel { UNORM, SNORM, FLOAT, UINT, SINT };

/* Channels from the lowest bit on; `bgr`: the first is blue. */
static const struct layout {
    VkFormat format;
    uint8_t channel, bits[4];
    bool bgr;
} layouts[] = {
#define FOUR(type, channel, b)                                                                               \
    {VK_FORMAT_R##b##G##b##B##b##A##b##_##type, channel, {b, b, b, b}, false},                               \
        {VK_FORMAT_R##b##G##b##_##type, channel, {b, b}, false},                                             \
    {                                                                                                        \
        VK_FORMAT_R##b##_##type, channel, {b}, false                                                         \
    }
    FOUR(UNORM, UNORM, 8),
    FOUR(SNORM, SNORM, 8),
    FOUR(UINT, UINT, 8),
    FOUR(SINT, SINT, 8),
    FOUR(UNORM, UNORM, 16),
    FOUR(SNORM, SNORM, 16),
    FOUR(UINT, UINT, 16),
    FOUR(SINT, SINT, 16),
    FOUR(SFLOAT, FLOAT, 16),
    FOUR(UINT, UINT, 32),
    FOUR(SINT, SINT, 32),
    FOUR(SFLOAT, FLOAT, 32),
#undef FOUR
    {VK_FORMAT_R32G32B32_UINT, UINT, {32, 32, 32}, false},
    {VK_FORMAT_R32G32B32_SINT, SINT, {32, 32, 32}, false},
    {VK_FORMAT_R32G32B32_SFLOAT, FLOAT, {32, 32, 32}, false},
    {VK_FORMAT_B8G8R8A8_UNORM, UNORM, {8, 8, 8, 8}, true},
    {VK_FORMAT_R5G6B5_UNORM_PACK16, UNORM, {5, 6, 5}, true},
    {VK_FORMAT_A1R5G5B5_UNORM_PACK16, UNORM, {5, 5, 5, 1}, true},
    {VK_FORMAT_A2B10G10R10_UNORM_PACK32, UNORM, {10, 10, 10, 2}, false},
    {VK_FORMAT_A2B10G10R10_UINT_PACK32, UINT, {10, 10, 10, 2}, false},
    {VK_FORMAT_B10G11R11_UFLOAT_PACK32, FLOAT, {11, 11, 10}, false},
};

static const struct layout *layout_of(VkFormat format)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (layouts[i].format == format)
            return &layouts[i];
    return NULL;
}

/* A float with 5 bits of exponent and as many of mantissa as are left, the nearest; without a sign where there is room for none. */
static uint32_t small_float(float f, uint32_t bits)
{
    bool has_sign = bits == 16;
    uint32_t mantissa = bits - 5 - has_sign, sign = has_sign && signbit(f) ? 1u << 15 : 0,
             most = 31u << mantissa;
    float magnitude = fabsf(f);
    int exponent;
    double scaled;

    if (isnan(f))
        return most | 1u << (mantissa - 1);
    if (magnitude == 0 || (!has_sign && f < 0))
        return sign;
    if (isinf(f))
        return sign | most;
    frexpf(magnitude, &exponent);                     /* magnitude: 0.5 to 1, times 2^exponent */
    exponent = exponent + 14 > 1 ? exponent + 14 : 1; /* biased; 1: denormal ones, too */
    scaled = rint(ldexp((double)magnitude, (int)mantissa + 15 - exponent));
    scaled +=
        (double)(exponent - 1) * ldexp(1, (int)mantissa); /* what is carried over goes into the exponent */
    return sign | (scaled >= most ? most - (has_sign ? 0 : 1) : (uint32_t)scaled);
}

static uint32_t convert(float f, enum channel channel, uint32_t bits)
{
    double most = (double)((UINT64_C(1) << (channel == SNORM ? bits - 1 : bits)) - 1),
           v = isnan(f) ? 0 : (double)f;
    uint32_t word;

    switch (channel) {
    case UNORM:
        return (uint32_t)rint((v < 0 ? 0 : v > 1 ? 1 : v) * most);
    case SNORM:
        return (uint32_t)(int32_t)rint((v < -1 ? -1 : v > 1 ? 1 : v) * most);
    case FLOAT:
        if (bits == 32) {
            memcpy(&word, &f, sizeof(word));
            return word;
        }
        return small_float(f, bits);
    default: /* what the number is near to */
        return channel == SINT ? (uint32_t)(int32_t)(v < INT32_MIN   ? INT32_MIN
                                                     : v > INT32_MAX ? INT32_MAX
                                                                     : v)
                               : (uint32_t)(v < 0            ? 0
                                            : v > UINT32_MAX ? UINT32_MAX
                                                             : v);
    }
}

uint32_t exec_texel_pack(VkFormat format, const uint32_t v[4], bool floats, uint8_t out[16])
{
    const struct layout *l = layout_of(format);
    uint32_t at = 0;

    memset(out, 0, 16);
    for (int i = 0; l && i < 4 && l->bits[i]; i++) {
        uint32_t bits = l->bits[i], word = v[l->bgr && i < 3 ? 2 - i : i];
        float f;

        memcpy(&f, &word, sizeof(f));
        if (floats)
            word = convert(f, (enum channel)l->channel, bits);
        for (uint32_t b = 0; b < bits; b++, at++)
            out[at / 8] |= (uint8_t)((word >> b & 1) << (at % 8));
    }
    return at / 8;
}

bool exec_texel_is_word(VkFormat format)
{
    return format == VK_FORMAT_R32_UINT || format == VK_FORMAT_R32_SINT || format == VK_FORMAT_R32_SFLOAT;
}

uint8_t exec_texel_integer(VkFormat format)
{
    const struct layout *l = layout_of(format);

    return l && l->channel == UINT ? 'U' : l && l->channel == SINT ? 'S' : 0;
}
