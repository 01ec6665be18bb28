/* SPDX-License-Identifier: MIT */
/* calls_samples.c: targets of several samples; full screen; and small rules of Windows that programs rely on. */
#include "calls.h"

static IDirect3DSurface9 *target(D3DMULTISAMPLE_TYPE samples, bool depth)
{
    IDirect3DSurface9 *s = NULL;

    if (depth)
        OK(IDirect3DDevice9Ex_CreateDepthStencilSurface(dev, SIDE, SIDE, D3DFMT_D24S8, samples, 0, FALSE, &s,
                                                        NULL));
    else
        OK(IDirect3DDevice9Ex_CreateRenderTarget(dev, SIDE, SIDE, D3DFMT_X8R8G8B8, samples, 0, FALSE, &s,
                                                 NULL));
    return s;
}

/* What a rectangle whose left edge goes through the middle of pixel 8 leaves of red in blue, in a target of so many samples. */
static void half_covered(D3DMULTISAMPLE_TYPE samples, DWORD mask, uint32_t want)
{
    IDirect3DSurface9 *back, *z, *many = target(samples, false), *depth = target(samples, true);
    D3DSURFACE_DESC desc;

    OK(IDirect3DDevice9Ex_GetRenderTarget(dev, 0, &back));
    OK(IDirect3DDevice9Ex_GetDepthStencilSurface(dev, &z));
    OK(IDirect3DSurface9_GetDesc(many, &desc));
    TRUE_(desc.MultiSampleType == samples);
    OK(IDirect3DDevice9Ex_SetRenderTarget(dev, 0, many));
    OK(IDirect3DDevice9Ex_SetDepthStencilSurface(dev, depth));
    OK(IDirect3DDevice9Ex_Clear(dev, 0, NULL, D3DCLEAR_TARGET | D3DCLEAR_ZBUFFER, 0xFF0000FF, 0.5f, 0));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_MULTISAMPLEMASK, mask));
    quad(8.5f, 0, SIDE, SIDE, 0.25f, 0xFFFF0000);
    quad(0, 0, SIDE, SIDE, 0.75f, 0xFF00FF00); /* behind what was cleared */
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_MULTISAMPLEMASK, 0xFFFFFFFF));
    OK(IDirect3DDevice9Ex_SetRenderTarget(dev, 0, back));
    OK(IDirect3DDevice9Ex_SetDepthStencilSurface(dev, z));
    IDirect3DSurface9_Release(z);
    OK(IDirect3DDevice9Ex_StretchRect(dev, many, NULL, back, NULL, D3DTEXF_NONE));
    PIXEL(4, 16, 0x0000FF, 0);
    PIXEL(8, 16, want, 2);
    IDirect3DSurface9_Release(many);
    IDirect3DSurface9_Release(depth);
    IDirect3DSurface9_Release(back);
}

/* Depth of one sample is no match for colours of four: both are cleared, and only colours drawn to. */
static void mismatched(void)
{
    IDirect3DSurface9 *back, *many = target(D3DMULTISAMPLE_4_SAMPLES, false);

    OK(IDirect3DDevice9Ex_GetRenderTarget(dev, 0, &back));
    OK(IDirect3DDevice9Ex_SetRenderTarget(dev, 0, many));
    OK(IDirect3DDevice9Ex_Clear(dev, 0, NULL, D3DCLEAR_TARGET | D3DCLEAR_ZBUFFER, 0xFF0000FF, 0.5f, 0));
    quad(0, 0, 16, SIDE, 0.75f, 0xFFFF0000);
    OK(IDirect3DDevice9Ex_SetRenderTarget(dev, 0, back));
    OK(IDirect3DDevice9Ex_StretchRect(dev, many, NULL, back, NULL, D3DTEXF_NONE));
    quad(0, 0, 16, 16, 0.75f, 0xFF00FF00); /* behind what was cleared */
    PIXEL(4, 4, 0xFF0000, 0);
    PIXEL(28, 28, 0x0000FF, 0);
    quad(0, 0, 16, 16, 0.25f, 0xFF00FF00);
    PIXEL(4, 4, 0x00FF00, 0);
    IDirect3DSurface9_Release(many);
    IDirect3DSurface9_Release(back);
}

static void refused_samples(void)
{
    IDirect3DSurface9 *many = target(D3DMULTISAMPLE_4_SAMPLES, false), *to, *none;
    D3DPRESENT_PARAMETERS p = present_params();
    DWORD levels = 0;

    OK(IDirect3D9Ex_CheckDeviceMultiSampleType(factory, 0, D3DDEVTYPE_HAL, D3DFMT_D24S8, TRUE,
                                               D3DMULTISAMPLE_NONMASKABLE, &levels));
    TRUE_(levels == 1);
    IS(IDirect3D9Ex_CheckDeviceMultiSampleType(factory, 0, D3DDEVTYPE_HAL, D3DFMT_X8R8G8B8, TRUE,
                                               D3DMULTISAMPLE_3_SAMPLES, &levels),
       D3DERR_NOTAVAILABLE);
    IS(IDirect3D9Ex_CheckDeviceMultiSampleType(factory, 0, D3DDEVTYPE_HAL, D3DFMT_L8, TRUE,
                                               D3DMULTISAMPLE_4_SAMPLES, &levels),
       D3DERR_NOTAVAILABLE);
    IS(IDirect3DDevice9Ex_CreateRenderTarget(dev, SIDE, SIDE, D3DFMT_X8R8G8B8, D3DMULTISAMPLE_4_SAMPLES, 0,
                                             TRUE, &none, NULL),
       D3DERR_INVALIDCALL);
    IS(IDirect3DDevice9Ex_CreateRenderTarget(dev, SIDE, SIDE, D3DFMT_X8R8G8B8, D3DMULTISAMPLE_4_SAMPLES, 1,
                                             FALSE, &none, NULL),
       D3DERR_INVALIDCALL);
    OK(IDirect3DDevice9Ex_CreateOffscreenPlainSurface(dev, SIDE, SIDE, D3DFMT_X8R8G8B8, D3DPOOL_SYSTEMMEM,
                                                      &to, NULL));
    IS(IDirect3DDevice9Ex_GetRenderTargetData(dev, many, to), D3DERR_INVALIDCALL);
    IDirect3DSurface9_Release(many);
    IDirect3DSurface9_Release(to);
    p.MultiSampleType = D3DMULTISAMPLE_4_SAMPLES;
    p.SwapEffect = D3DSWAPEFFECT_FLIP;
    IS(IDirect3DDevice9Ex_ResetEx(dev, &p, NULL), D3DERR_INVALIDCALL);
}

/* A device of several samples, whose picture is shown. */
static void presented(void)
{
    static const RECT some = {4, 4, 8, 8}, into = {0, 0, 16, 16}, none = {SIDE, 0, 2 * SIDE, 8};
    D3DPRESENT_PARAMETERS p = present_params();

    p.MultiSampleType = D3DMULTISAMPLE_4_SAMPLES;
    OK(IDirect3DDevice9Ex_ResetEx(dev, &p, NULL));
    clear(0xFF123456);
    OK(IDirect3DDevice9Ex_PresentEx(dev, NULL, NULL, NULL, NULL, 0));
    expect_front(0x123456);
    OK(IDirect3DDevice9Ex_PresentEx(dev, &some, &into, NULL, NULL, 0));
    IS(IDirect3DDevice9Ex_PresentEx(dev, &none, NULL, NULL, NULL, 0), D3DERR_INVALIDCALL);
    p = present_params();
    OK(IDirect3DDevice9Ex_ResetEx(dev, &p, NULL));
}

/* A colour is no depth, whatever the driver makes of it. */
static void depth_of_its_own(void)
{
    static const D3DFORMAT none[] = {D3DFMT_A8R8G8B8, D3DFMT_UNKNOWN, D3DFMT_L8, (D3DFORMAT)0x7FFFFFFF};
    D3DPRESENT_PARAMETERS p = present_params();

    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        p.AutoDepthStencilFormat = none[i];
        IS(IDirect3DDevice9Ex_ResetEx(dev, &p, NULL), D3DERR_INVALIDCALL);
    }
    p.EnableAutoDepthStencil = FALSE; /* then it does not matter */
    OK(IDirect3DDevice9Ex_ResetEx(dev, &p, NULL));
    p = present_params();
    OK(IDirect3DDevice9Ex_ResetEx(dev, &p, NULL));
    clear(0xFF00FF00);
    PIXEL(0, 0, 0x00FF00, 0);
}

void check_samples(void)
{
    depth_of_its_own();
    half_covered(D3DMULTISAMPLE_4_SAMPLES, 0xFFFFFFFF, 0x7F007F);
    half_covered(D3DMULTISAMPLE_NONMASKABLE, 1, 0x7F007F);
    half_covered(D3DMULTISAMPLE_4_SAMPLES, 0, 0x0000FF);
    half_covered(D3DMULTISAMPLE_2_SAMPLES, 3, 0x7F007F);
    mismatched();
    refused_samples();
    presented();
}

/* ---- full screen --------------------------------------------------------------------------- */

void check_screen(void)
{
    D3DPRESENT_PARAMETERS p = present_params();
    D3DDISPLAYMODE mode, other;
    UINT count = IDirect3D9Ex_GetAdapterModeCount(factory, 0, D3DFMT_X8R8G8B8);
    bool is = false;

    OK(IDirect3D9Ex_GetAdapterDisplayMode(factory, 0, &mode));
    for (UINT i = 0; i < count; i++) {
        OK(IDirect3D9Ex_EnumAdapterModes(factory, 0, D3DFMT_X8R8G8B8, i, &other));
        is |= other.Width == mode.Width && other.Height == mode.Height;
    }
    TRUE_(is);
    IS(IDirect3D9Ex_EnumAdapterModes(factory, 0, D3DFMT_X8R8G8B8, count, &other), D3DERR_INVALIDCALL);
    p.Windowed = FALSE;
    p.BackBufferWidth = mode.Width + 1;
    p.BackBufferHeight = mode.Height;
    IS(IDirect3DDevice9Ex_ResetEx(dev, &p, NULL), D3DERR_INVALIDCALL);
    p.BackBufferWidth = mode.Width;
    p.FullScreen_RefreshRateInHz = 7777;
    IS(IDirect3DDevice9Ex_ResetEx(dev, &p, NULL), D3DERR_INVALIDCALL);
    p.FullScreen_RefreshRateInHz = mode.RefreshRate;
    OK(IDirect3DDevice9Ex_ResetEx(dev, &p, NULL));
    p.Windowed = TRUE;
    IS(IDirect3DDevice9Ex_ResetEx(dev, &p, NULL), D3DERR_INVALIDCALL);
    p.Windowed = FALSE;
    p.FullScreen_RefreshRateInHz = 0;
    OK(IDirect3DDevice9Ex_ResetEx(dev, &p, NULL));
    clear(0xFF00FF00);
    OK(IDirect3DDevice9Ex_PresentEx(dev, NULL, NULL, NULL, NULL, 0));
#if defined(_WIN32)
    RECT r;

    TRUE_(GetClientRect(p.hDeviceWindow, &r) && (UINT)r.right == mode.Width && (UINT)r.bottom == mode.Height);
#endif
    p = present_params();
    OK(IDirect3DDevice9Ex_ResetEx(dev, &p, NULL));
}

/* ---- rules --------------------------------------------------------------------------------- */

/* A range of depth that is empty is one of 0.001. */
static void thin_range(void)
{
    OK(IDirect3DDevice9Ex_SetViewport(dev, &((D3DVIEWPORT9){0, 0, SIDE, SIDE, 0.5f, 0.5f})));
    OK(IDirect3DDevice9Ex_Clear(dev, 0, NULL, D3DCLEAR_TARGET | D3DCLEAR_ZBUFFER, 0xFF0000FF, 0.5005f, 0));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_LIGHTING, FALSE));
    const struct {
        float x, y, z;
        uint32_t colour;
    } v[2][3] = {{{-1, 3, 0.9f, 0xFF00FF00}, {3, -1, 0.9f, 0xFF00FF00}, {-1, -1, 0.9f, 0xFF00FF00}},
                 {{-1, 1, 0.1f, 0xFFFF0000}, {1, -1, 0.1f, 0xFFFF0000}, {-1, -1, 0.1f, 0xFFFF0000}}};
    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZ | D3DFVF_DIFFUSE));
    for (int i = 0; i < 2; i++)
        OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLELIST, 1, v[i], sizeof(v[0][0])));
    PIXEL(28, 4, 0x0000FF, 0);
    PIXEL(4, 28, 0xFF0000, 0);
    OK(IDirect3DDevice9Ex_SetViewport(dev, &((D3DVIEWPORT9){0, 0, SIDE, SIDE, 0, 1})));
}

/* Colours of 16 bits are decoded, too; alpha is not. */
static void decoded(void)
{
    static const uint16_t grey[4] = {0x7BEF, 0x7BEF, 0x7BEF, 0x7BEF};
    IDirect3DTexture9 *t = texture(2, 2, D3DFMT_R5G6B5, D3DPOOL_DEFAULT, grey, 4);

    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, (IDirect3DBaseTexture9 *)t));
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLOROP, D3DTOP_SELECTARG1));
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLORARG1, D3DTA_TEXTURE));
    clear(0xFF0000FF);
    quad(0, 0, SIDE, SIDE, 0.5f, 0xFFFFFFFF);
    PIXEL(4, 4, 0x7B7D7B, 2);
    OK(IDirect3DDevice9Ex_SetSamplerState(dev, 0, D3DSAMP_SRGBTEXTURE, TRUE));
    quad(0, 0, SIDE, SIDE, 0.5f, 0xFFFFFFFF);
    PIXEL(4, 4, 0x333433, 2);
    OK(IDirect3DDevice9Ex_SetSamplerState(dev, 0, D3DSAMP_SRGBTEXTURE, FALSE));
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, NULL));
    IDirect3DTexture9_Release(t);
}

/* Capture leaves the offsets of streams to what CreateStateBlock found. */
static void kept_offsets(void)
{
    IDirect3DStateBlock9 *block;
    IDirect3DVertexBuffer9 *vb, *got;
    UINT offset, stride;

    OK(IDirect3DDevice9Ex_CreateVertexBuffer(dev, 256, 0, 0, D3DPOOL_DEFAULT, &vb, NULL));
    OK(IDirect3DDevice9Ex_SetStreamSource(dev, 0, vb, 16, 8));
    OK(IDirect3DDevice9Ex_CreateStateBlock(dev, D3DSBT_ALL, &block));
    OK(IDirect3DDevice9Ex_SetStreamSource(dev, 0, vb, 32, 4));
    OK(IDirect3DStateBlock9_Capture(block));
    OK(IDirect3DStateBlock9_Apply(block));
    OK(IDirect3DDevice9Ex_GetStreamSource(dev, 0, &got, &offset, &stride));
    TRUE_(offset == 16 && stride == 4);
    IDirect3DVertexBuffer9_Release(got);
    OK(IDirect3DDevice9Ex_SetStreamSource(dev, 0, NULL, 0, 0));
    IDirect3DStateBlock9_Release(block);
    IDirect3DVertexBuffer9_Release(vb);
}

/* Levels of ATI2 have a byte a texel in memory; what a program writes of the smallest, over the next one's, is drawn all the same. */
static void overlapping_levels(void)
{
    static const uint8_t full[16] = {255, 255}, none[16] = {0};
    const D3DFORMAT ati2 = (D3DFORMAT)MAKEFOURCC('A', 'T', 'I', '2');
    IDirect3DTexture9 *system, *video;
    D3DLOCKED_RECT l[3];

    OK(IDirect3DDevice9Ex_CreateTexture(dev, 4, 4, 3, 0, ati2, D3DPOOL_SYSTEMMEM, &system, NULL));
    OK(IDirect3DDevice9Ex_CreateTexture(dev, 4, 4, 3, 0, ati2, D3DPOOL_DEFAULT, &video, NULL));
    for (UINT i = 0; i < 3; i++) {
        OK(IDirect3DTexture9_LockRect(system, i, &l[i], NULL, 0));
        memcpy(l[i].pBits, i == 1 ? full : none, sizeof(full));
        OK(IDirect3DTexture9_UnlockRect(system, i));
    }
    TRUE_((uint8_t *)l[1].pBits == (uint8_t *)l[0].pBits + 16);
    TRUE_((uint8_t *)l[2].pBits == (uint8_t *)l[0].pBits + 20);
    OK(IDirect3DDevice9Ex_UpdateTexture(dev, (IDirect3DBaseTexture9 *)system,
                                        (IDirect3DBaseTexture9 *)video));
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, (IDirect3DBaseTexture9 *)video));
    OK(IDirect3DDevice9Ex_SetSamplerState(dev, 0, D3DSAMP_MIPFILTER, D3DTEXF_POINT));
    OK(IDirect3DDevice9Ex_SetSamplerState(dev, 0, D3DSAMP_MAXMIPLEVEL, 1));
    quad(0, 0, SIDE, SIDE, 0.5f, 0xFFFFFFFF);
    PIXEL(4, 4, 0x00FFFF, 0);
    OK(IDirect3DDevice9Ex_SetSamplerState(dev, 0, D3DSAMP_MAXMIPLEVEL, 0));
    OK(IDirect3DDevice9Ex_SetSamplerState(dev, 0, D3DSAMP_MIPFILTER, D3DTEXF_NONE));
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, NULL));
    IDirect3DTexture9_Release(system);
    IDirect3DTexture9_Release(video);
}

/* What model 1 samples is what is bound: it has no declarations. */
static void old_shader_of_a_cube(void)
{
    static const DWORD code[] = {0xFFFF0101, 0x00000042, 0xB00F0000, 0x00000001,
                                 0x800F0000, 0xB0E40000, 0x0000FFFF}; /* ps_1_1: tex t0; mov r0, t0 */
    IDirect3DCubeTexture9 *cube;
    IDirect3DPixelShader9 *ps;
    D3DLOCKED_RECT l;
    const struct {
        float x, y, z, u, v, w;
    } v[] = {
        {-1, 1, 0.5f, 0, 0, -1}, {1, 1, 0.5f, 0, 0, -1}, {-1, -1, 0.5f, 0, 0, -1}, {1, -1, 0.5f, 0, 0, -1}};

    OK(IDirect3DDevice9Ex_CreateCubeTexture(dev, 1, 1, D3DUSAGE_DYNAMIC, D3DFMT_X8R8G8B8, D3DPOOL_DEFAULT,
                                            &cube, NULL));
    for (int f = 0; f < 6; f++) {
        OK(IDirect3DCubeTexture9_LockRect(cube, (D3DCUBEMAP_FACES)f, 0, &l, NULL, 0));
        *(uint32_t *)l.pBits = 0x202020u * (uint32_t)(f + 1);
        OK(IDirect3DCubeTexture9_UnlockRect(cube, (D3DCUBEMAP_FACES)f, 0));
    }
    OK(IDirect3DDevice9Ex_CreatePixelShader(dev, code, &ps));
    OK(IDirect3DDevice9Ex_SetPixelShader(dev, ps));
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, (IDirect3DBaseTexture9 *)cube));
    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZ | D3DFVF_TEX1 | D3DFVF_TEXCOORDSIZE3(0)));
    OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLESTRIP, 2, v, sizeof(v[0])));
    PIXEL(4, 4, 0xC0C0C0, 0);
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, NULL));
    OK(IDirect3DDevice9Ex_SetPixelShader(dev, NULL));
    IDirect3DPixelShader9_Release(ps);
    IDirect3DCubeTexture9_Release(cube);
}

/* Whoever begins a state block has no reference to it before its end. */
static void left_recording(void)
{
    ULONG refs = IDirect3DDevice9Ex_AddRef(dev) - 1;
    IDirect3DStateBlock9 *block;

    IDirect3DDevice9Ex_Release(dev);
    OK(IDirect3DDevice9Ex_BeginStateBlock(dev));
    IDirect3DDevice9Ex_AddRef(dev);
    TRUE_(IDirect3DDevice9Ex_Release(dev) == refs);
    OK(IDirect3DDevice9Ex_EndStateBlock(dev, &block));
    IDirect3DDevice9Ex_AddRef(dev);
    TRUE_(IDirect3DDevice9Ex_Release(dev) == refs + 1);
    TRUE_(IDirect3DStateBlock9_Release(block) == 0);
}

/* Constants of model 1 that the shader itself says are no further from zero than one. */
static void clamped_constant(void)
{
    static const DWORD code[] = {0xFFFF0101, 0x00000051, 0xA00F0000, 0x40800000, 0x40800000, 0x40800000,
                                 0x3F800000, 0x00000051, 0xA00F0001, 0x3F000000, 0x3F000000, 0x3F000000,
                                 0x3F800000, 0x00000001, 0x800F0000, 0xA0E40000, 0x00000005, 0x800F0000,
                                 0x80E40000, 0xA0E40001, 0x0000FFFF}; /* four by a half */
    IDirect3DPixelShader9 *ps;

    OK(IDirect3DDevice9Ex_CreatePixelShader(dev, code, &ps));
    OK(IDirect3DDevice9Ex_SetPixelShader(dev, ps));
    quad(0, 0, 16, 16, 0.5f, 0);
    PIXEL(4, 4, 0x808080, 1);
    OK(IDirect3DDevice9Ex_SetPixelShader(dev, NULL));
    IDirect3DPixelShader9_Release(ps);
}

/* Registers that no version has, and a pixel's position as an input of the vertex's. */
static void refused_shaders(void)
{
    static const DWORD c8[] = {0xFFFF0101, 0x00000001, 0x800F0000, 0xA0E40008, 0x0000FFFF},
                       c32[] = {0xFFFF0200, 0x02000001, 0x800F0800, 0xA0E40020, 0x0000FFFF},
                       position[] = {0xFFFF0300, 0x0200001F, 0x80000000, 0x900F0000,
                                     0x02000001, 0x800F0800, 0x90E40000, 0x0000FFFF},
                       declared[] = {0xFFFF0101, 0x0000001F, 0x98000000, 0xA00F0800,
                                     0x00000001, 0x800F0000, 0xA0E40000, 0x0000FFFF};
    const DWORD *const all[] = {c8, c32, position, declared};
    IDirect3DPixelShader9 *ps;

    for (int i = 0; i < 4; i++)
        IS(IDirect3DDevice9Ex_CreatePixelShader(dev, all[i], &ps), D3DERR_INVALIDCALL);
}

/* Depth that a program locks: what was cleared, and what it writes. */
static void locked_depth(void)
{
    IDirect3DSurface9 *z, *old;
    D3DLOCKED_RECT l;

    OK(IDirect3DDevice9Ex_GetDepthStencilSurface(dev, &old));
    OK(IDirect3DDevice9Ex_CreateDepthStencilSurface(dev, SIDE, SIDE, D3DFMT_D16_LOCKABLE, D3DMULTISAMPLE_NONE,
                                                    0, FALSE, &z, NULL));
    OK(IDirect3DDevice9Ex_SetDepthStencilSurface(dev, z));
    OK(IDirect3DDevice9Ex_Clear(dev, 0, NULL, D3DCLEAR_TARGET | D3DCLEAR_ZBUFFER, 0xFF0000FF, 0.5f, 0));
    OK(IDirect3DSurface9_LockRect(z, &l, NULL, 0));
    TRUE_(*(uint16_t *)l.pBits == 0x7FFF || *(uint16_t *)l.pBits == 0x8000);
    for (int i = 0; i < SIDE / 2; i++)
        memset((uint8_t *)l.pBits + i * l.Pitch, 0, 2 * SIDE);
    OK(IDirect3DSurface9_UnlockRect(z));
    quad(0, 0, SIDE, SIDE, 0.25f, 0xFFFF0000);
    PIXEL(4, 4, 0x0000FF, 0);
    PIXEL(4, 28, 0xFF0000, 0);
    OK(IDirect3DDevice9Ex_SetDepthStencilSurface(dev, old));
    IDirect3DSurface9_Release(z);
    IDirect3DSurface9_Release(old);
}

/* A target and its depth of two sizes are both cleared, whatever the smaller one is. */
static void cleared_apart(void)
{
    IDirect3DSurface9 *z, *old;

    OK(IDirect3DDevice9Ex_GetDepthStencilSurface(dev, &old));
    OK(IDirect3DDevice9Ex_CreateDepthStencilSurface(dev, 8, 8, D3DFMT_D24S8, D3DMULTISAMPLE_NONE, 0, FALSE,
                                                    &z, NULL));
    clear(0xFF0000FF);
    OK(IDirect3DDevice9Ex_SetDepthStencilSurface(dev, z));
    clear(0xFFFF0000);
    PIXEL(28, 28, 0xFF0000, 0);
    OK(IDirect3DDevice9Ex_SetDepthStencilSurface(dev, old));
    IDirect3DSurface9_Release(z);
    IDirect3DSurface9_Release(old);
}

/* What is written to a buffer that stays locked is drawn. */
static void locked_buffer(void)
{
    const struct {
        float x, y, z, w;
        uint32_t colour;
    } v[] = {{0, 0, 0.5f, 1, 0xFF00FF00}, {64, 0, 0.5f, 1, 0xFF00FF00}, {0, 64, 0.5f, 1, 0xFF00FF00}};
    IDirect3DVertexBuffer9 *vb;
    void *p;

    clear(0xFF0000FF);
    OK(IDirect3DDevice9Ex_CreateVertexBuffer(dev, sizeof(v), 0, 0, D3DPOOL_DEFAULT, &vb, NULL));
    OK(IDirect3DVertexBuffer9_Lock(vb, 0, 0, &p, 0));
    memcpy(p, v, sizeof(v));
    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZRHW | D3DFVF_DIFFUSE));
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLORARG1, D3DTA_DIFFUSE));
    OK(IDirect3DDevice9Ex_SetStreamSource(dev, 0, vb, 0, sizeof(v[0])));
    OK(IDirect3DDevice9Ex_DrawPrimitive(dev, D3DPT_TRIANGLELIST, 0, 1));
    PIXEL(4, 4, 0x00FF00, 0);
    OK(IDirect3DVertexBuffer9_Unlock(vb));
    OK(IDirect3DDevice9Ex_SetStreamSource(dev, 0, NULL, 0, 0));
    IDirect3DVertexBuffer9_Release(vb);
}

/* A vertex shader that writes no colour leaves white; and vertices of the screen are not cut away by their depth. */
static void left_out(void)
{
    static const DWORD code[] = {
        0xFFFE0101, 0x0000001F, 0x80000000, 0x900F0000,
        0x00000001, 0xC00F0000, 0x90E40000, 0x0000FFFF}; /* vs_1_1: dcl_position v0; mov oPos, v0 */
    const float v[][3] = {{-1, 1, 0.5f}, {1, 1, 0.5f}, {-1, -1, 0.5f}, {1, -1, 0.5f}};
    IDirect3DVertexShader9 *vs;

    clear(0xFF0000FF);
    OK(IDirect3DDevice9Ex_CreateVertexShader(dev, code, &vs));
    OK(IDirect3DDevice9Ex_SetVertexShader(dev, vs));
    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZ));
    OK(IDirect3DDevice9Ex_SetVertexShader(dev, vs));
    OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLESTRIP, 2, v, sizeof(v[0])));
    PIXEL(4, 4, 0xFFFFFF, 0);
    OK(IDirect3DDevice9Ex_SetVertexShader(dev, NULL));
    IDirect3DVertexShader9_Release(vs);
    clear(0xFF0000FF);
    quad(0, 0, SIDE, SIDE, 2, 0xFFFF0000);
    PIXEL(4, 4, 0xFF0000, 0);
}

/* ResetEx leaves states as they are, but for targets and the viewport. */
static void kept_states(void)
{
    D3DPRESENT_PARAMETERS p = present_params();
    DWORD value;

    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_TEXTUREFACTOR, 0x12345678));
    OK(IDirect3DDevice9Ex_ResetEx(dev, &p, NULL));
    OK(IDirect3DDevice9Ex_GetRenderState(dev, D3DRS_TEXTUREFACTOR, &value));
    TRUE_(value == 0x12345678);
}

/* Depth is in the default pool alone, and not dynamic. */
static void refused_depth(void)
{
    IDirect3DTexture9 *t;

    IS(IDirect3DDevice9Ex_CreateTexture(dev, 4, 4, 1, 0, D3DFMT_D24S8, D3DPOOL_SYSTEMMEM, &t, NULL),
       D3DERR_INVALIDCALL);
    IS(IDirect3DDevice9Ex_CreateTexture(dev, 4, 4, 1, D3DUSAGE_DEPTHSTENCIL | D3DUSAGE_DYNAMIC, D3DFMT_D24S8,
                                        D3DPOOL_DEFAULT, &t, NULL),
       D3DERR_INVALIDCALL);
}

/* More bytes than 32 bits count are nowhere; and none of them are taken for fewer. */
static void too_large(void)
{
    IDirect3DVolumeTexture9 *volume;
    IDirect3DCubeTexture9 *cube;

    for (D3DPOOL pool = D3DPOOL_SYSTEMMEM; pool <= D3DPOOL_SCRATCH; pool++) {
        IS(IDirect3DDevice9Ex_CreateVolumeTexture(dev, 2048, 2048, 1024, 1, 0, D3DFMT_A8R8G8B8, pool, &volume,
                                                  NULL),
           E_OUTOFMEMORY);
        IS(IDirect3DDevice9Ex_CreateCubeTexture(dev, 8192, 1, 0, D3DFMT_A32B32G32R32F, pool, &cube, NULL),
           E_OUTOFMEMORY);
    }
    IS(IDirect3DDevice9Ex_CreateVolumeTexture(dev, 2048, 2048, 1024, 1, D3DUSAGE_DYNAMIC, D3DFMT_A8R8G8B8,
                                              D3DPOOL_DEFAULT, &volume, NULL),
       D3DERR_OUTOFVIDEOMEMORY);
}

void check_rules(void)
{
    thin_range();
    decoded();
    kept_offsets();
    overlapping_levels();
    old_shader_of_a_cube();
    clamped_constant();
    left_recording();
    refused_shaders();
    locked_depth();
    cleared_apart();
    locked_buffer();
    left_out();
    kept_states();
    refused_depth();
    too_large();
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLORARG1, D3DTA_DIFFUSE));
}
