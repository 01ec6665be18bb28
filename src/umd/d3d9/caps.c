/* SPDX-License-Identifier: MIT */
/* caps.c: what the driver says that it can do: formats, queries, and Direct3D's capabilities. */
#include "umd/d3d9/caps.h"

#include <stddef.h>

/* D3DCAPS9, as the API's documentation has it. */
struct caps9 {
    uint32_t DeviceType, AdapterOrdinal, Caps, Caps2, Caps3, PresentationIntervals, CursorCaps, DevCaps,
        PrimitiveMiscCaps, RasterCaps, ZCmpCaps, SrcBlendCaps, DestBlendCaps, AlphaCmpCaps, ShadeCaps,
        TextureCaps, TextureFilterCaps, CubeTextureFilterCaps, VolumeTextureFilterCaps, TextureAddressCaps,
        VolumeTextureAddressCaps, LineCaps, MaxTextureWidth, MaxTextureHeight, MaxVolumeExtent,
        MaxTextureRepeat, MaxTextureAspectRatio, MaxAnisotropy;
    float MaxVertexW, GuardBandLeft, GuardBandTop, GuardBandRight, GuardBandBottom, ExtentsAdjust;
    uint32_t StencilCaps, FVFCaps, TextureOpCaps, MaxTextureBlendStages, MaxSimultaneousTextures,
        VertexProcessingCaps, MaxActiveLights, MaxUserClipPlanes, MaxVertexBlendMatrices,
        MaxVertexBlendMatrixIndex;
    float MaxPointSize;
    uint32_t MaxPrimitiveCount, MaxVertexIndex, MaxStreams, MaxStreamStride, VertexShaderVersion,
        MaxVertexShaderConst, PixelShaderVersion;
    float PixelShader1xMaxValue;
    uint32_t DevCaps2;
    float MaxNpatchTessellationLevel;
    uint32_t Reserved5, MasterAdapterOrdinal, AdapterOrdinalInGroup, NumberOfAdaptersInGroup, DeclTypes,
        NumSimultaneousRTs, StretchRectFilterCaps, VS20[4], PS20[5], VertexTextureFilterCaps,
        MaxVShaderInstructionsExecuted, MaxPShaderInstructionsExecuted, MaxVertexShader30InstructionSlots,
        MaxPixelShader30InstructionSlots;
};
_Static_assert(sizeof(struct caps9) == 304, "D3DCAPS9");

static const struct caps9 caps9 = {
    .DeviceType = 1,     /* D3DDEVTYPE_HAL */
    .Caps = 0x20000,     /* READ_SCANLINE */
    .Caps2 = 0x60020000, /* FULLSCREENGAMMA, DYNAMICTEXTURES, CANAUTOGENMIPMAP */
    .Caps3 = 0x320,      /* ALPHA_FULLSCREEN_FLIP_OR_DISCARD, COPY_TO_VIDMEM, COPY_TO_SYSTEMMEM */
    .PresentationIntervals = 0x8000000F,
    .CursorCaps = 1,     /* COLOR */
    .DevCaps = 0x19AF70, /* HWTRANSFORMANDLIGHT, PUREDEVICE, HWRASTERIZATION and what goes without saying */
    .PrimitiveMiscCaps = 0xFCCF2, /* all that the packets carry; MRTs have masks of their own */
    .RasterCaps = 0x7732191,      /* DITHER, ZTEST, fog of vertices and tables, bias, scissor, anisotropy */
    .ZCmpCaps = 0xFF,
    .SrcBlendCaps = 0x3FFF,
    .DestBlendCaps = 0x3FFF,
    .AlphaCmpCaps = 0xFF,
    .ShadeCaps = 0x84208,
    .TextureCaps =
        0x1EC45, /* PERSPECTIVE, ALPHA, TEXREPEATNOTSCALEDBYSIZE, PROJECTED, CUBEMAP, VOLUMEMAP, MIPMAP,
                             * MIPVOLUMEMAP, MIPCUBEMAP */
    .TextureFilterCaps = 0x7030700,
    .CubeTextureFilterCaps = 0x7030700,
    .VolumeTextureFilterCaps = 0x7030700,
    .TextureAddressCaps = 0x1F, /* WRAP, MIRROR, CLAMP, BORDER, INDEPENDENTUV */
    .VolumeTextureAddressCaps = 0x1F,
    .LineCaps = 0x1F,
    .MaxTextureWidth = 8192,
    .MaxTextureHeight = 8192,
    .MaxVolumeExtent = 2048,
    .MaxTextureRepeat = 8192,
    .MaxTextureAspectRatio = 8192,
    .MaxAnisotropy = 16,
    .MaxVertexW = 1e10f,
    .GuardBandLeft = -32768,
    .GuardBandTop = -32768,
    .GuardBandRight = 32768,
    .GuardBandBottom = 32768,
    .StencilCaps = 0x1FF,
    .FVFCaps = 0x100008,        /* PSIZE, 8 sets of coordinates */
    .TextureOpCaps = 0x3FEFFFF, /* all but PREMODULATE */
    .MaxTextureBlendStages = 8,
    .MaxSimultaneousTextures = 8,
    .VertexProcessingCaps = 0x13B, /* TEXGEN, MATERIALSOURCE7, lights, LOCALVIEWER, SPHEREMAP */
    .MaxActiveLights = 8,
    .MaxUserClipPlanes = 6,
    .MaxVertexBlendMatrices = 4,
    .MaxPointSize = 64,
    .MaxPrimitiveCount = 0x555555,
    .MaxVertexIndex = 0xFFFFFF,
    .MaxStreams = UMD9_STREAMS,
    .MaxStreamStride = 2048,
    .VertexShaderVersion = 0xFFFE0300,
    .MaxVertexShaderConst = UMD9_CONSTANTS,
    .PixelShaderVersion = 0xFFFF0300,
    .PixelShader1xMaxValue = 3.4e38f,
    .DevCaps2 = 0x51, /* STREAMOFFSET, CAN_STRETCHRECT_FROM_TEXTURES, VERTEXELEMENTSCANSHARESTREAMOFFSET */
    .NumberOfAdaptersInGroup = 1,
    .DeclTypes = 0x3FF,
    .NumSimultaneousRTs = UMD9_TARGETS,
    .StretchRectFilterCaps = 0x3000300,
    .VS20 = {1, 24, 32, 4},
    .PS20 = {0x1F, 24, 32, 4, 512},
    .VertexTextureFilterCaps = 0x3030300,
    .MaxVShaderInstructionsExecuted = 65535,
    .MaxPShaderInstructionsExecuted = 65535,
    .MaxVertexShader30InstructionSlots = 32768,
    .MaxPixelShader30InstructionSlots = 32768,
};

static HRESULT give(const D3DDDIARG_GETCAPS *a, const void *data, size_t size)
{
    if (!a->pData || a->DataSize < size)
        return E_INVALIDARG;
    memcpy(a->pData, data, size);
    return S_OK;
}

static FORMATOP format_of(const struct umd9_format *f, uint64_t features)
{
    FORMATOP o = {.Format = f->d3d, .Operations = umd9_operations(f, features)};

    for (uint32_t type = 1; type <= D3DDDIMULTISAMPLE_16_SAMPLES; type++)
        if (umd9_samples(f, features, type))
            o.FlipMsTypes = o.BltMsTypes |= 1u << (type - 1);
    return o;
}

HRESULT APIENTRY umd9_get_caps(HANDLE adapter, CONST D3DDDIARG_GETCAPS *a)
{
    static const UINT all[] = {D3DDDIQUERYTYPE_EVENT, D3DDDIQUERYTYPE_OCCLUSION, D3DDDIQUERYTYPE_TIMESTAMP,
                               D3DDDIQUERYTYPE_TIMESTAMPDISJOINT, D3DDDIQUERYTYPE_TIMESTAMPFREQ};
    const struct umd9_adapter *of = adapter;
    uint32_t count, queries = of->info.device_features & AEROGPU_EXT_FEATURE(EXT_QUERIES) ? 5 : 1;
    const struct umd9_format *f = umd9_formats(&count);
    FORMATOP *list = a->pData;
    DDIMULTISAMPLEQUALITYLEVELSDATA *samples = a->pData;

    switch (a->Type) {
    case D3DDDICAPS_GETD3D9CAPS:
        return give(a, &caps9, sizeof(caps9));
    case D3DDDICAPS_GETFORMATCOUNT:
        return give(a, &count, sizeof(count));
    case D3DDDICAPS_GETFORMATDATA:
        if (!a->pData || a->DataSize < count * sizeof(FORMATOP))
            return E_INVALIDARG;
        for (uint32_t i = 0; i < count; i++)
            list[i] = format_of(&f[i], of->info.device_features);
        return S_OK;
    case D3DDDICAPS_GETD3DQUERYCOUNT:
        return give(a, &queries, sizeof(queries));
    case D3DDDICAPS_GETD3DQUERYDATA:
        return give(a, all, queries * sizeof(all[0]));
    case D3DDDICAPS_GETMULTISAMPLEQUALITYLEVELS:
        if (!a->pData || a->DataSize < sizeof(*samples))
            return E_INVALIDARG;
        samples->QualityLevels =
            umd9_samples(umd9_format(samples->Format), of->info.device_features, samples->MsType) != 0;
        return S_OK;
    default:
        return D3DDDIERR_NOTAVAILABLE;
    }
}
