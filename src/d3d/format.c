/* SPDX-License-Identifier: MIT */
/* format.c: what can be done with resources of a format: what the driver says of it, within what the feature level has. */
#include "d3d/tables.h"
#include "d3d/d3d.h"

/* Whether one of `count` numbers is the format's. */
static bool is_one(DXGI_FORMAT f, const uint8_t *formats, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((UINT)f == formats[i])
            return true;
    return false;
}
#define ONE_OF(f, ...) is_one(f, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* Bytes of an element of a vertex; 0: elements are never of this format. */
UINT d3d_format_bytes(DXGI_FORMAT f)
{
    static const BYTE bytes[] = {
        [2] = 16, 16, 16,       [6] = 12, 12, 12,       [10] = 8, 8,        8, 8,       8,        [16] = 8,
        8,        8,  [24] = 4, 4,        4,  [28] = 4, 4,        4,        4, 4,       [34] = 4, 4,
        4,        4,  4,        [41] = 4, 4,  4,        [49] = 2, 2,        2, 2,       [54] = 2, [56] = 2,
        2,        2,  2,        [61] = 1, 1,  1,        1,        [87] = 4, 4, [91] = 4};

    return (UINT)f < sizeof(bytes) ? bytes[f] : 0;
}

bool d3d_format_storable(DXGI_FORMAT f)
{
    /* as numbers go: floats, integers and fractions, without BGRA, shared exponents and blocks */
    static const uint8_t ranges[][2] = {{2, 4},   {10, 14}, {16, 18}, {24, 26}, {28, 28}, {30, 32},
                                        {34, 38}, {41, 43}, {49, 52}, {54, 54}, {56, 59}, {61, 65}};

    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if ((UINT)f >= ranges[i][0] && (UINT)f <= ranges[i][1])
            return true;
    return false;
}

bool d3d_format_shown(const struct d3d_device *d, DXGI_FORMAT f)
{
    switch (f) {
    case DXGI_FORMAT_R8G8B8A8_UNORM:
    case DXGI_FORMAT_B8G8R8A8_UNORM:
    case DXGI_FORMAT_R8G8B8A8_UNORM_SRGB:
    case DXGI_FORMAT_B8G8R8A8_UNORM_SRGB:
        return true;
    case DXGI_FORMAT_R16G16B16A16_FLOAT:
    case DXGI_FORMAT_R10G10B10A2_UNORM:
        return d->level >= D3D_FEATURE_LEVEL_10_0;
    default:
        return false;
    }
}

/* Elements of vertices that Direct3D 9's declarations have, too, halves from 9_3 on. */
static bool is_vertex(const struct d3d_device *d, DXGI_FORMAT f)
{
    if (d->level >= D3D_FEATURE_LEVEL_10_0)
        return d3d_format_bytes(f) != 0;
    return ONE_OF(f, 2, 6, 11, 13, 14, 16, 28, 30, 35, 37, 38, 41, 87) ||
           (d->level >= D3D_FEATURE_LEVEL_9_3 && ONE_OF(f, 10, 34));
}

/* Fractions with a sign are blended from 10_1 on, floats from 10_0, halves of four channels from 9_3. */
static bool is_blended(const struct d3d_device *d, DXGI_FORMAT f)
{
    if (d->level < D3D_FEATURE_LEVEL_10_1 && ONE_OF(f, 13, 31, 37, 51, 58, 63))
        return false;
    if (d->level < D3D_FEATURE_LEVEL_10_0 && ONE_OF(f, 2, 11, 16, 24, 26, 34, 35, 41, 54, 56))
        return false;
    return d->level >= D3D_FEATURE_LEVEL_9_3 || f != DXGI_FORMAT_R16G16B16A16_FLOAT;
}

static UINT buffers_of(const struct d3d_device *d, DXGI_FORMAT f)
{
    UINT out = 0;

    if (d->level >= D3D_FEATURE_LEVEL_10_0 && d3d_format_bytes(f))
        out |= D3D11_FORMAT_SUPPORT_BUFFER;
    if (d->level >= D3D_FEATURE_LEVEL_10_0 && ONE_OF(f, 2, 3, 4, 6, 7, 8, 16, 17, 18, 41, 42, 43))
        out |= D3D11_FORMAT_SUPPORT_SO_BUFFER;
    if (is_vertex(d, f))
        out |= D3D11_FORMAT_SUPPORT_IA_VERTEX_BUFFER;
    if (f == DXGI_FORMAT_R16_UINT || (f == DXGI_FORMAT_R32_UINT && d->level >= D3D_FEATURE_LEVEL_9_2))
        out |= D3D11_FORMAT_SUPPORT_IA_INDEX_BUFFER;
    return out;
}

/* `has`: what the driver answered: 1 sampled, 2 rendered to, 4 blended, 8 and 16 with several samples; integers are sampled and not
 * blended, and loaded alone. */
static UINT textures_of(const struct d3d_device *d, DXGI_FORMAT f, UINT has)
{
    const bool blocks = (f >= DXGI_FORMAT_BC1_TYPELESS && f <= DXGI_FORMAT_BC5_SNORM) ||
                        (f >= DXGI_FORMAT_BC6H_TYPELESS && f <= DXGI_FORMAT_BC7_UNORM_SRGB),
               depth = ONE_OF(f, 20, 40, 45, 55), integer = (has & 7) == 3;
    UINT out = D3D11_FORMAT_SUPPORT_TEXTURE2D | D3D11_FORMAT_SUPPORT_TEXTURECUBE | D3D11_FORMAT_SUPPORT_MIP |
               D3D11_FORMAT_SUPPORT_CPU_LOCKABLE;

    out |= blocks ? 0 : D3D11_FORMAT_SUPPORT_TEXTURE1D;
    out |= depth ? D3D11_FORMAT_SUPPORT_DEPTH_STENCIL : D3D11_FORMAT_SUPPORT_TEXTURE3D;
    if (has & 1 && !depth)
        out |= D3D11_FORMAT_SUPPORT_SHADER_LOAD | (integer ? 0 : D3D11_FORMAT_SUPPORT_SHADER_SAMPLE);
    if (has & 1 && !depth && d->level >= D3D_FEATURE_LEVEL_10_1)
        out |= D3D11_FORMAT_SUPPORT_SHADER_GATHER;
    if (has & 1 && d->level >= D3D_FEATURE_LEVEL_10_0 && ONE_OF(f, 21, 41, 46, 56))
        out |= D3D11_FORMAT_SUPPORT_SHADER_SAMPLE_COMPARISON |
               (d->level >= D3D_FEATURE_LEVEL_11_0 ? D3D11_FORMAT_SUPPORT_SHADER_GATHER_COMPARISON : 0);
    if (has & 2 && !depth)
        out |= D3D11_FORMAT_SUPPORT_RENDER_TARGET;
    if (has & 4 && !depth)
        out |= D3D11_FORMAT_SUPPORT_MIP_AUTOGEN;
    if (has & 4 && is_blended(d, f))
        out |= D3D11_FORMAT_SUPPORT_BLENDABLE;
    if (has & 2 && d3d_format_shown(d, f))
        out |= D3D11_FORMAT_SUPPORT_DISPLAY;
    if (has & 8)
        out |= D3D11_FORMAT_SUPPORT_MULTISAMPLE_RENDERTARGET | D3D11_FORMAT_SUPPORT_MULTISAMPLE_RESOLVE;
    if (has & 16)
        out |= D3D11_FORMAT_SUPPORT_MULTISAMPLE_LOAD;
    if (d->level >= D3D_FEATURE_LEVEL_11_0 && d3d_format_storable(f))
        out |= D3D11_FORMAT_SUPPORT_TYPED_UNORDERED_ACCESS_VIEW;
    return out;
}

HRESULT STDMETHODCALLTYPE d3d_device_CheckFormatSupport(ID3D11Device *This, DXGI_FORMAT format, UINT *support)
{
    struct d3d_device *d = (struct d3d_device *)This;
    UINT has = 0;

    if (!support)
        return E_INVALIDARG;
    DDI(d, pfnCheckFormatSupport, format, &has);
    *support = buffers_of(d, format) | (has ? textures_of(d, format, has) : 0);
    return *support ? S_OK : E_FAIL;
}

UINT d3d_format_stores(const struct d3d_device *d, DXGI_FORMAT f)
{
    const UINT atomics = D3D11_FORMAT_SUPPORT2_UAV_ATOMIC_ADD | D3D11_FORMAT_SUPPORT2_UAV_ATOMIC_BITWISE_OPS |
                         D3D11_FORMAT_SUPPORT2_UAV_ATOMIC_COMPARE_STORE_OR_COMPARE_EXCHANGE |
                         D3D11_FORMAT_SUPPORT2_UAV_ATOMIC_EXCHANGE;
    UINT out = D3D11_FORMAT_SUPPORT2_UAV_TYPED_STORE;

    if (d->level < D3D_FEATURE_LEVEL_11_0 || !d3d_format_storable(f))
        return 0;
    if (f == DXGI_FORMAT_R32_FLOAT)
        return out | D3D11_FORMAT_SUPPORT2_UAV_TYPED_LOAD | D3D11_FORMAT_SUPPORT2_UAV_ATOMIC_EXCHANGE;
    if (f == DXGI_FORMAT_R32_UINT || f == DXGI_FORMAT_R32_SINT)
        out |= D3D11_FORMAT_SUPPORT2_UAV_TYPED_LOAD | atomics |
               (f == DXGI_FORMAT_R32_UINT ? D3D11_FORMAT_SUPPORT2_UAV_ATOMIC_UNSIGNED_MIN_OR_MAX
                                          : D3D11_FORMAT_SUPPORT2_UAV_ATOMIC_SIGNED_MIN_OR_MAX);
    return out;
}
