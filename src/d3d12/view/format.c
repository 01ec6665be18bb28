/* SPDX-License-Identifier: MIT */
#include "d3d12/view/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "d3d12_api.h"

enum number { OF_FLOAT, OF_UINT, OF_SINT, OF_UNORM, OF_SNORM, OF_PACKED };

/* Of equal components; those with blue first at the end. Packed ones have the bits of all together. */
static const struct {
    uint8_t format, components, bits, number;
} formats[] = {
    {DXGI_FORMAT_R32G32B32A32_FLOAT, 4, 32, OF_FLOAT},
    {DXGI_FORMAT_R32G32B32A32_UINT, 4, 32, OF_UINT},
    {DXGI_FORMAT_R32G32B32A32_SINT, 4, 32, OF_SINT},
    {DXGI_FORMAT_R32G32B32_FLOAT, 3, 32, OF_FLOAT},
    {DXGI_FORMAT_R32G32B32_UINT, 3, 32, OF_UINT},
    {DXGI_FORMAT_R32G32B32_SINT, 3, 32, OF_SINT},
    {DXGI_FORMAT_R16G16B16A16_FLOAT, 4, 16, OF_FLOAT},
    {DXGI_FORMAT_R16G16B16A16_UNORM, 4, 16, OF_UNORM},
    {DXGI_FORMAT_R16G16B16A16_UINT, 4, 16, OF_UINT},
    {DXGI_FORMAT_R16G16B16A16_SNORM, 4, 16, OF_SNORM},
    {DXGI_FORMAT_R16G16B16A16_SINT, 4, 16, OF_SINT},
    {DXGI_FORMAT_R32G32_FLOAT, 2, 32, OF_FLOAT},
    {DXGI_FORMAT_R32G32_UINT, 2, 32, OF_UINT},
    {DXGI_FORMAT_R32G32_SINT, 2, 32, OF_SINT},
    {DXGI_FORMAT_R8G8B8A8_UNORM, 4, 8, OF_UNORM},
    {DXGI_FORMAT_R8G8B8A8_UINT, 4, 8, OF_UINT},
    {DXGI_FORMAT_R8G8B8A8_SNORM, 4, 8, OF_SNORM},
    {DXGI_FORMAT_R8G8B8A8_SINT, 4, 8, OF_SINT},
    {DXGI_FORMAT_R16G16_FLOAT, 2, 16, OF_FLOAT},
    {DXGI_FORMAT_R16G16_UNORM, 2, 16, OF_UNORM},
    {DXGI_FORMAT_R16G16_UINT, 2, 16, OF_UINT},
    {DXGI_FORMAT_R16G16_SNORM, 2, 16, OF_SNORM},
    {DXGI_FORMAT_R16G16_SINT, 2, 16, OF_SINT},
    {DXGI_FORMAT_R32_FLOAT, 1, 32, OF_FLOAT},
    {DXGI_FORMAT_R32_UINT, 1, 32, OF_UINT},
    {DXGI_FORMAT_R32_SINT, 1, 32, OF_SINT},
    {DXGI_FORMAT_R8G8_UNORM, 2, 8, OF_UNORM},
    {DXGI_FORMAT_R8G8_UINT, 2, 8, OF_UINT},
    {DXGI_FORMAT_R8G8_SNORM, 2, 8, OF_SNORM},
    {DXGI_FORMAT_R8G8_SINT, 2, 8, OF_SINT},
    {DXGI_FORMAT_R16_FLOAT, 1, 16, OF_FLOAT},
    {DXGI_FORMAT_R16_UNORM, 1, 16, OF_UNORM},
    {DXGI_FORMAT_R16_UINT, 1, 16, OF_UINT},
    {DXGI_FORMAT_R16_SNORM, 1, 16, OF_SNORM},
    {DXGI_FORMAT_R16_SINT, 1, 16, OF_SINT},
    {DXGI_FORMAT_R8_UNORM, 1, 8, OF_UNORM},
    {DXGI_FORMAT_R8_UINT, 1, 8, OF_UINT},
    {DXGI_FORMAT_R8_SNORM, 1, 8, OF_SNORM},
    {DXGI_FORMAT_R8_SINT, 1, 8, OF_SINT},
    {DXGI_FORMAT_A8_UNORM, 1, 8, OF_UNORM},
    {DXGI_FORMAT_R10G10B10A2_UNORM, 4, 32, OF_PACKED},
    {DXGI_FORMAT_R10G10B10A2_UINT, 4, 32, OF_PACKED},
    {DXGI_FORMAT_R11G11B10_FLOAT, 3, 32, OF_PACKED},
    {DXGI_FORMAT_B5G6R5_UNORM, 3, 16, OF_PACKED},
    {DXGI_FORMAT_B5G5R5A1_UNORM, 4, 16, OF_PACKED},
    {DXGI_FORMAT_R8G8B8A8_UNORM_SRGB, 4, 8, OF_UNORM},
    {DXGI_FORMAT_B8G8R8A8_UNORM, 4, 8, OF_UNORM},
    {DXGI_FORMAT_B8G8R8X8_UNORM, 4, 8, OF_UNORM},
    {DXGI_FORMAT_B8G8R8A8_UNORM_SRGB, 4, 8, OF_UNORM},
    {DXGI_FORMAT_B8G8R8X8_UNORM_SRGB, 4, 8, OF_UNORM},
};

int format_row(uint32_t format)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (formats[i].format == format)
            return (int)i;
    return -1;
}

static double half(uint16_t h)
{
    int exponent = h >> 10 & 31;
    double mantissa = h & 1023, v;

    if (exponent == 31)
        v = mantissa != 0 ? (double)NAN : (double)INFINITY;
    else
        v = exponent ? ldexp(1 + mantissa / 1024, exponent - 15) : ldexp(mantissa / 1024, -14);
    return h >> 15 ? -v : v;
}

static double component(int row, const uint8_t *p)
{
    unsigned bits = formats[row].bits;
    uint32_t u = 0;
    int32_t s;
    float f;

    memcpy(&u, p, bits / 8);
    s = (int32_t)(u << (32 - bits)) >> (32 - bits);
    memcpy(&f, &u, 4);
    switch (formats[row].number) {
    case OF_FLOAT:
        return bits == 16 ? half((uint16_t)u) : (double)f;
    case OF_UNORM:
        return u / (double)((UINT64_C(1) << bits) - 1);
    case OF_SNORM:
        return fmax(s / (double)((UINT64_C(1) << (bits - 1)) - 1), -1);
    default:
        return formats[row].number == OF_SINT ? (double)s : (double)u;
    }
}

/* Where the components of packed formats are, red first: {bit, bits}. */
static double packed(uint32_t format, const uint8_t *p, unsigned bytes, unsigned i)
{
    static const uint8_t tens[][2] = {{0, 10}, {10, 10}, {20, 10}, {30, 2}},
                         elevens[][2] = {{0, 11}, {11, 11}, {22, 10}}, sixes[][2] = {{11, 5}, {5, 6}, {0, 5}},
                         fives[][2] = {{10, 5}, {5, 5}, {0, 5}, {15, 1}};
    const uint8_t *at = format == DXGI_FORMAT_R11G11B10_FLOAT  ? elevens[i]
                        : format == DXGI_FORMAT_B5G6R5_UNORM   ? sixes[i]
                        : format == DXGI_FORMAT_B5G5R5A1_UNORM ? fives[i]
                                                               : tens[i];
    uint32_t u = 0, most = (1u << at[1]) - 1, v;

    memcpy(&u, p, bytes);
    v = u >> at[0] & most;
    if (format == DXGI_FORMAT_R11G11B10_FLOAT) /* half floats without sign, and with fewer bits of mantissa */
        return half((uint16_t)(v << (15 - at[1])));
    return format == DXGI_FORMAT_R10G10B10A2_UINT ? v : v / (double)most;
}

unsigned format_components(int row)
{
    return formats[row].components;
}

unsigned format_bytes(int row)
{
    return (formats[row].number == OF_PACKED ? 1u : formats[row].components) * formats[row].bits / 8u;
}

double format_component(int row, const uint8_t *p, unsigned i)
{
    if (formats[row].number == OF_PACKED)
        return packed(formats[row].format, p, formats[row].bits / 8u, i);
    /* blue first: what is third is first */
    if (formats[row].format >= DXGI_FORMAT_B8G8R8A8_UNORM && formats[row].bits == 8 && i < 3)
        i = 2 - i;
    return component(row, p + i * formats[row].bits / 8u);
}

bool format_is_integer(int row)
{
    return formats[row].number == OF_UINT || formats[row].number == OF_SINT ||
           formats[row].format == DXGI_FORMAT_R10G10B10A2_UINT;
}

uint32_t format_bits(int row, const uint8_t *p, unsigned i)
{
    double v = format_component(row, p, i);
    float f = (float)v;
    uint32_t u;

    if (format_is_integer(row))
        return (uint32_t)(int64_t)v;
    memcpy(&u, &f, 4);
    return u;
}

void format_json(struct json_writer *w, double v)
{
    if (isfinite(v))
        json_write_real(w, NULL, v);
    else
        json_write_string(w, NULL, isnan(v) ? "NaN" : v < 0 ? "-Infinity" : "Infinity");
}

void format_json_brief(struct json_writer *w, double v, int digits)
{
    char text[32];

    if (!isfinite(v)) {
        format_json(w, v);
        return;
    }
    snprintf(text, sizeof(text), "%.*g", digits, v);
    json_write_raw(w, NULL, text);
}
