/* SPDX-License-Identifier: MIT */
#include "d3d12/view/format.h"

#include <math.h>
#include <string.h>

#include "d3d12_api.h"

enum number { OF_FLOAT, OF_UINT, OF_SINT, OF_UNORM, OF_SNORM };

/* Of equal components; those with blue first at the end. */
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
    {DXGI_FORMAT_R16_FLOAT, 1, 16, OF_FLOAT},
    {DXGI_FORMAT_R16_UINT, 1, 16, OF_UINT},
    {DXGI_FORMAT_R16_SINT, 1, 16, OF_SINT},
    {DXGI_FORMAT_R8_UNORM, 1, 8, OF_UNORM},
    {DXGI_FORMAT_R8_UINT, 1, 8, OF_UINT},
    {DXGI_FORMAT_R8G8B8A8_UNORM_SRGB, 4, 8, OF_UNORM},
    {DXGI_FORMAT_B8G8R8A8_UNORM, 4, 8, OF_UNORM},
    {DXGI_FORMAT_B8G8R8A8_UNORM_SRGB, 4, 8, OF_UNORM},
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

unsigned format_components(int row)
{
    return formats[row].components;
}

unsigned format_bytes(int row)
{
    return formats[row].components * formats[row].bits / 8u;
}

double format_component(int row, const uint8_t *p, unsigned i)
{
    /* blue first: what is third is first */
    if (formats[row].format >= DXGI_FORMAT_B8G8R8A8_UNORM && formats[row].bits == 8 && i < 3)
        i = 2 - i;
    return component(row, p + i * formats[row].bits / 8u);
}
