/* SPDX-License-Identifier: MIT */
/* d3d9_states.h: the Direct3D 9 render and sampler states that SET_RENDER_STATE and SET_SAMPLER_STATE may carry. The
 * numbers are those of D3DRENDERSTATETYPE and D3DSAMPLERSTATETYPE. S(name, number, default value). */
#pragma once

#include <stdint.h>

#define D3DRS_TABLE(S)                                                                                       \
    S(ZENABLE, 7, 1)                                                                                         \
    S(FILLMODE, 8, 3)                                                                                        \
    S(SHADEMODE, 9, 2)                                                                                       \
    S(ZWRITEENABLE, 14, 1)                                                                                   \
    S(ALPHATESTENABLE, 15, 0)                                                                                \
    S(LASTPIXEL, 16, 1)                                                                                      \
    S(SRCBLEND, 19, 2)                                                                                       \
    S(DESTBLEND, 20, 1)                                                                                      \
    S(CULLMODE, 22, 3)                                                                                       \
    S(ZFUNC, 23, 4)                                                                                          \
    S(ALPHAREF, 24, 0)                                                                                       \
    S(ALPHAFUNC, 25, 8)                                                                                      \
    S(DITHERENABLE, 26, 0)                                                                                   \
    S(ALPHABLENDENABLE, 27, 0)                                                                               \
    S(FOGENABLE, 28, 0)                                                                                      \
    S(SPECULARENABLE, 29, 0)                                                                                 \
    S(FOGCOLOR, 34, 0)                                                                                       \
    S(FOGTABLEMODE, 35, 0)                                                                                   \
    S(FOGSTART, 36, 0)                                                                                       \
    S(FOGEND, 37, 0x3F800000)                                                                                \
    S(FOGDENSITY, 38, 0x3F800000)                                                                            \
    S(RANGEFOGENABLE, 48, 0)                                                                                 \
    S(STENCILENABLE, 52, 0)                                                                                  \
    S(STENCILFAIL, 53, 1)                                                                                    \
    S(STENCILZFAIL, 54, 1)                                                                                   \
    S(STENCILPASS, 55, 1)                                                                                    \
    S(STENCILFUNC, 56, 8)                                                                                    \
    S(STENCILREF, 57, 0)                                                                                     \
    S(STENCILMASK, 58, 0xFFFFFFFF)                                                                           \
    S(STENCILWRITEMASK, 59, 0xFFFFFFFF)                                                                      \
    S(TEXTUREFACTOR, 60, 0xFFFFFFFF)                                                                         \
    S(WRAP0, 128, 0)                                                                                         \
    S(WRAP1, 129, 0)                                                                                         \
    S(WRAP2, 130, 0)                                                                                         \
    S(WRAP3, 131, 0)                                                                                         \
    S(WRAP4, 132, 0)                                                                                         \
    S(WRAP5, 133, 0)                                                                                         \
    S(WRAP6, 134, 0)                                                                                         \
    S(WRAP7, 135, 0)                                                                                         \
    S(CLIPPING, 136, 1)                                                                                      \
    S(LIGHTING, 137, 1)                                                                                      \
    S(AMBIENT, 139, 0)                                                                                       \
    S(FOGVERTEXMODE, 140, 0)                                                                                 \
    S(COLORVERTEX, 141, 1)                                                                                   \
    S(LOCALVIEWER, 142, 1)                                                                                   \
    S(NORMALIZENORMALS, 143, 0)                                                                              \
    S(DIFFUSEMATERIALSOURCE, 145, 1)                                                                         \
    S(SPECULARMATERIALSOURCE, 146, 2)                                                                        \
    S(AMBIENTMATERIALSOURCE, 147, 0)                                                                         \
    S(EMISSIVEMATERIALSOURCE, 148, 0)                                                                        \
    S(VERTEXBLEND, 151, 0)                                                                                   \
    S(CLIPPLANEENABLE, 152, 0)                                                                               \
    S(POINTSIZE, 154, 0x3F800000)                                                                            \
    S(POINTSIZE_MIN, 155, 0x3F800000)                                                                        \
    S(POINTSPRITEENABLE, 156, 0)                                                                             \
    S(POINTSCALEENABLE, 157, 0)                                                                              \
    S(POINTSCALE_A, 158, 0x3F800000)                                                                         \
    S(POINTSCALE_B, 159, 0)                                                                                  \
    S(POINTSCALE_C, 160, 0)                                                                                  \
    S(MULTISAMPLEANTIALIAS, 161, 1)                                                                          \
    S(MULTISAMPLEMASK, 162, 0xFFFFFFFF)                                                                      \
    S(PATCHEDGESTYLE, 163, 0)                                                                                \
    S(DEBUGMONITORTOKEN, 165, 0)                                                                             \
    S(POINTSIZE_MAX, 166, 0x42800000)                                                                        \
    S(INDEXEDVERTEXBLENDENABLE, 167, 0)                                                                      \
    S(COLORWRITEENABLE, 168, 0xF)                                                                            \
    S(TWEENFACTOR, 170, 0)                                                                                   \
    S(BLENDOP, 171, 1)                                                                                       \
    S(POSITIONDEGREE, 172, 3)                                                                                \
    S(NORMALDEGREE, 173, 1)                                                                                  \
    S(SCISSORTESTENABLE, 174, 0)                                                                             \
    S(SLOPESCALEDEPTHBIAS, 175, 0)                                                                           \
    S(ANTIALIASEDLINEENABLE, 176, 0)                                                                         \
    S(MINTESSELLATIONLEVEL, 178, 0x3F800000)                                                                 \
    S(MAXTESSELLATIONLEVEL, 179, 0x3F800000)                                                                 \
    S(ADAPTIVETESS_X, 180, 0)                                                                                \
    S(ADAPTIVETESS_Y, 181, 0)                                                                                \
    S(ADAPTIVETESS_Z, 182, 0x3F800000)                                                                       \
    S(ADAPTIVETESS_W, 183, 0)                                                                                \
    S(ENABLEADAPTIVETESSELLATION, 184, 0)                                                                    \
    S(TWOSIDEDSTENCILMODE, 185, 0)                                                                           \
    S(CCW_STENCILFAIL, 186, 1)                                                                               \
    S(CCW_STENCILZFAIL, 187, 1)                                                                              \
    S(CCW_STENCILPASS, 188, 1)                                                                               \
    S(CCW_STENCILFUNC, 189, 8)                                                                               \
    S(COLORWRITEENABLE1, 190, 0xF)                                                                           \
    S(COLORWRITEENABLE2, 191, 0xF)                                                                           \
    S(COLORWRITEENABLE3, 192, 0xF)                                                                           \
    S(BLENDFACTOR, 193, 0xFFFFFFFF)                                                                          \
    S(SRGBWRITEENABLE, 194, 0)                                                                               \
    S(DEPTHBIAS, 195, 0)                                                                                     \
    S(WRAP8, 198, 0)                                                                                         \
    S(WRAP9, 199, 0)                                                                                         \
    S(WRAP10, 200, 0)                                                                                        \
    S(WRAP11, 201, 0)                                                                                        \
    S(WRAP12, 202, 0)                                                                                        \
    S(WRAP13, 203, 0)                                                                                        \
    S(WRAP14, 204, 0)                                                                                        \
    S(WRAP15, 205, 0)                                                                                        \
    S(SEPARATEALPHABLENDENABLE, 206, 0)                                                                      \
    S(SRCBLENDALPHA, 207, 2)                                                                                 \
    S(DESTBLENDALPHA, 208, 1)                                                                                \
    S(BLENDOPALPHA, 209, 1)

#define D3DSAMP_TABLE(S)                                                                                     \
    S(ADDRESSU, 1, 1)                                                                                        \
    S(ADDRESSV, 2, 1)                                                                                        \
    S(ADDRESSW, 3, 1)                                                                                        \
    S(BORDERCOLOR, 4, 0)                                                                                     \
    S(MAGFILTER, 5, 1)                                                                                       \
    S(MINFILTER, 6, 1)                                                                                       \
    S(MIPFILTER, 7, 0)                                                                                       \
    S(MIPMAPLODBIAS, 8, 0)                                                                                   \
    S(MAXMIPLEVEL, 9, 0)                                                                                     \
    S(MAXANISOTROPY, 10, 1)                                                                                  \
    S(SRGBTEXTURE, 11, 0)                                                                                    \
    S(ELEMENTINDEX, 12, 0)                                                                                   \
    S(DMAPOFFSET, 13, 0)

enum {
#define S(name, number, initial) D3DRS_##name = number,
    D3DRS_TABLE(S)
#undef S
        D3DRS_COUNT = 210,
#define S(name, number, initial) D3DSAMP_##name = number,
    D3DSAMP_TABLE(S)
#undef S
        D3DSAMP_COUNT = 14,
};

/* The name of a state, or NULL. */
const char *d3drs_name(uint32_t state);
const char *d3dsamp_name(uint32_t state);
