/* SPDX-License-Identifier: MIT */
#define CINTERFACE
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <d3d9.h>

#include "any_calls.h"
#include "drawn.h"

enum kind {
    VERTICES,
    INDICES,
    TEXTURE, /* of all three sorts */
    SURFACE,
    VERTEX_SHADER,
    PIXEL_SHADER,
    DECLARATION,
    QUERY,
    STATES,
    CHAIN,
    KINDS
};
enum { SIDE = 32, MOST_CODE = 1 << 12, TAIL = 0x8100, BLOCK = 1 << 22 };

/* Behind a shader are so many ends that no damage to it, not even to a comment's length, leads behind them. */
struct code {
    DWORD tokens[MOST_CODE + TAIL];
    uint32_t count;
};

static const char *const names[] = {"colour_vs_2_0", "lit_vs_2_0",      "lit_vs_3_0",      "fetch_vs30",
                                    "loop_vs30",     "points_vs20",     "lights_vs20",     "transform_vs11",
                                    "colour_ps_2_0", "textured_ps_2_0", "textured_ps_3_0", "targets_ps_3_0",
                                    "depth_ps20",    "crossfade_ps14",  "modulate_ps11",   "cube_ps20",
                                    "branch_ps30",   "fetch_ps30"};
enum { NAMES = sizeof(names) / sizeof(names[0]), VERTEX_NAMES = 8 };

static struct code codes[NAMES];
static uint8_t *block; /* what vertices, constants and first contents come from */

static struct {
    bool damaged, full;
    UINT width, height; /* of the display, full screen */
    IDirect3D9Ex *factory;
    IDirect3DDevice9Ex *device;
} now;

/* ---- what the bytes say -------------------------------------------------- */

static D3DFORMAT format(void)
{
    return ONE_OF(
        D3DFMT_A8R8G8B8, D3DFMT_A8R8G8B8, D3DFMT_X8R8G8B8, D3DFMT_R5G6B5, D3DFMT_A1R5G5B5, D3DFMT_A4R4G4B4,
        D3DFMT_A8, D3DFMT_L8, D3DFMT_A8L8, D3DFMT_A4L4, D3DFMT_V8U8, D3DFMT_L6V5U5, D3DFMT_X8L8V8U8,
        D3DFMT_Q8W8V8U8, D3DFMT_V16U16, D3DFMT_UYVY, D3DFMT_YUY2, D3DFMT_DXT1, D3DFMT_DXT3, D3DFMT_DXT5,
        D3DFMT_D24S8, D3DFMT_D16, D3DFMT_D16_LOCKABLE, D3DFMT_D32F_LOCKABLE, D3DFMT_A16B16G16R16F,
        D3DFMT_R32F, D3DFMT_A32B32G32R32F, D3DFMT_G16R16, D3DFMT_A2R10G10B10, D3DFMT_UNKNOWN, D3DFMT_P8,
        MAKEFOURCC('A', 'T', 'I', '1'), MAKEFOURCC('A', 'T', 'I', '2'), MAKEFOURCC('I', 'N', 'T', 'Z'),
        MAKEFOURCC('N', 'U', 'L', 'L'), MAKEFOURCC('Y', 'V', '1', '2'), MAKEFOURCC('N', 'V', '1', '2'));
}

static D3DPOOL pool(void)
{
    return ONE_OF(D3DPOOL_DEFAULT, D3DPOOL_DEFAULT, D3DPOOL_MANAGED, D3DPOOL_SYSTEMMEM, D3DPOOL_SCRATCH);
}

/* Small: what is large and legal costs time only. */
static UINT side(void)
{
    const UINT n = ONE_OF(1, 2, 4, 16, 31, 32, 64);

    return n > 64 && n < 20000 ? 64 : n;
}

static D3DMULTISAMPLE_TYPE samples(void)
{
    return ONE_OF(0, 0, 0, 0, 1, 2, 4, 8);
}

static RECT rect(void)
{
    if (below(2))
        return (RECT){0, 0, 1 + (LONG)below(16), 1 + (LONG)below(16)};
    return (RECT){(LONG)number(), (LONG)number(), (LONG)number(), (LONG)number()};
}

/* ---- objects ------------------------------------------------------------- */

static void a_buffer(void)
{
    const DWORD usage = ONE_OF(0, 0, D3DUSAGE_WRITEONLY, D3DUSAGE_DYNAMIC | D3DUSAGE_WRITEONLY,
                               D3DUSAGE_DYNAMIC, D3DUSAGE_SOFTWAREPROCESSING, D3DUSAGE_RENDERTARGET);
    const UINT size = rarely() ? number() : 16 + 16 * below(128);
    void *made = NULL;

    if (size > BLOCK && size < 0x40000000)
        return;
    if (below(2)) {
        IDirect3DDevice9Ex_CreateVertexBuffer(now.device, size, usage,
                                              ONE_OF(0, 0, D3DFVF_XYZ | D3DFVF_DIFFUSE, 2), pool(),
                                              (IDirect3DVertexBuffer9 **)&made, NULL);
        put(VERTICES, made);
    } else {
        IDirect3DDevice9Ex_CreateIndexBuffer(now.device, size, usage,
                                             ONE_OF(D3DFMT_INDEX16, D3DFMT_INDEX32, 0), pool(),
                                             (IDirect3DIndexBuffer9 **)&made, NULL);
        put(INDICES, made);
    }
}

static void a_texture(void)
{
    const UINT w = side(), h = rarely() ? side() : w, mips = ONE_OF(0, 1, 1, 1, 2, 3, 7);
    const DWORD usage =
        ONE_OF(0, 0, 0, D3DUSAGE_RENDERTARGET, D3DUSAGE_DYNAMIC, D3DUSAGE_AUTOGENMIPMAP,
               D3DUSAGE_RENDERTARGET | D3DUSAGE_AUTOGENMIPMAP, D3DUSAGE_DEPTHSTENCIL, 0x80000);
    const D3DFORMAT f = format();
    void *made = NULL;

    switch (below(4)) {
    case 0:
        IDirect3DDevice9Ex_CreateCubeTexture(now.device, w, mips, usage, f, pool(),
                                             (IDirect3DCubeTexture9 **)&made, NULL);
        break;
    case 1:
        IDirect3DDevice9Ex_CreateVolumeTexture(now.device, w, h, ONE_OF(1, 2, 4), mips, usage, f, pool(),
                                               (IDirect3DVolumeTexture9 **)&made, NULL);
        break;
    default:
        IDirect3DDevice9Ex_CreateTexture(now.device, w, h, mips, usage, f, pool(),
                                         (IDirect3DTexture9 **)&made, NULL);
    }
    put(TEXTURE, made);
}

static void a_surface(void)
{
    IDirect3DBaseTexture9 *t = object(TEXTURE);
    const UINT w = side(), h = rarely() ? side() : w;
    const D3DFORMAT f = format();
    IDirect3DSurface9 *made = NULL;

    switch (below(6)) {
    case 0:
        IDirect3DDevice9Ex_CreateOffscreenPlainSurface(now.device, w, h, f, pool(), &made, NULL);
        break;
    case 1:
        IDirect3DDevice9Ex_CreateRenderTarget(now.device, w, h, f, samples(), rarely() ? number() : 0,
                                              (BOOL)below(2), &made, NULL);
        break;
    case 2:
        IDirect3DDevice9Ex_CreateDepthStencilSurface(now.device, w, h, f, samples(), 0, (BOOL)below(2), &made,
                                                     NULL);
        break;
    case 3:
        if (below(2))
            IDirect3DDevice9Ex_GetBackBuffer(now.device, rarely() ? 1 : 0, number(), D3DBACKBUFFER_TYPE_MONO,
                                             &made);
        else if (below(2))
            IDirect3DDevice9Ex_GetRenderTarget(now.device, below(5), &made);
        else
            IDirect3DDevice9Ex_GetDepthStencilSurface(now.device, &made);
        break;
    default:
        if (!t)
            return;
        if (IDirect3DBaseTexture9_GetType(t) == D3DRTYPE_TEXTURE)
            IDirect3DTexture9_GetSurfaceLevel((IDirect3DTexture9 *)t, rarely() ? number() : below(3), &made);
        else if (IDirect3DBaseTexture9_GetType(t) == D3DRTYPE_CUBETEXTURE)
            IDirect3DCubeTexture9_GetCubeMapSurface((IDirect3DCubeTexture9 *)t, below(7), below(3), &made);
    }
    put(SURFACE, made);
}

static void a_shader(void)
{
    static struct code c;
    const uint32_t which = below(NAMES);
    const bool vertex = rarely() ? below(2) : which < VERTEX_NAMES;
    void *made = NULL;

    c = codes[which];
    for (uint32_t n = now.damaged && below(2) ? 1 + below(4) : 0; n; n--)
        ((uint8_t *)c.tokens)[(next() << 8 | next()) % (c.count * 4)] = (uint8_t)next();
    if (vertex)
        IDirect3DDevice9Ex_CreateVertexShader(now.device, c.tokens, (IDirect3DVertexShader9 **)&made);
    else
        IDirect3DDevice9Ex_CreatePixelShader(now.device, c.tokens, (IDirect3DPixelShader9 **)&made);
    put(vertex ? VERTEX_SHADER : PIXEL_SHADER, made);
}

static void a_declaration(void)
{
    D3DVERTEXELEMENT9 e[65];
    const uint32_t n = rarely() ? below(65) : below(5);
    IDirect3DVertexDeclaration9 *made = NULL;

    for (uint32_t i = 0; i < n; i++)
        e[i] = (D3DVERTEXELEMENT9){
            (WORD)ONE_OF(0, 0, 1, 15, 16), (WORD)ONE_OF(0, 4, 12, 16, 3),   (BYTE)below(18),
            (BYTE)ONE_OF(0, 0, 0, 1, 4),   (BYTE)ONE_OF(0, 0, 10, 5, 3, 9), (BYTE)ONE_OF(0, 0, 1, 15)};
    e[n] = (D3DVERTEXELEMENT9)D3DDECL_END();
    IDirect3DDevice9Ex_CreateVertexDeclaration(now.device, e, &made);
    put(DECLARATION, made);
}

static void a_query(void)
{
    IDirect3DQuery9 *made = NULL;

    IDirect3DDevice9Ex_CreateQuery(now.device, ONE_OF(8, 9, 10, 11, 12, 4, 5, 6, 14),
                                   rarely() ? NULL : &made);
    put(QUERY, made);
}

static void a_block(void)
{
    IDirect3DStateBlock9 *made = NULL, *b = object(STATES);

    switch (below(5)) {
    case 0:
        IDirect3DDevice9Ex_CreateStateBlock(now.device, ONE_OF(1, 2, 3), &made);
        break;
    case 1:
        IDirect3DDevice9Ex_BeginStateBlock(now.device);
        break;
    case 2:
        IDirect3DDevice9Ex_EndStateBlock(now.device, &made);
        break;
    case 3:
        if (b)
            IDirect3DStateBlock9_Capture(b);
        break;
    default:
        if (b)
            IDirect3DStateBlock9_Apply(b);
    }
    put(STATES, made);
}

/* Of the device as it begins. */
static D3DPRESENT_PARAMETERS plain(void)
{
    return (D3DPRESENT_PARAMETERS){.BackBufferWidth = now.width,
                                   .BackBufferHeight = now.height,
                                   .BackBufferFormat = D3DFMT_X8R8G8B8,
                                   .SwapEffect = D3DSWAPEFFECT_DISCARD,
                                   .hDeviceWindow = (HWND)1,
                                   .EnableAutoDepthStencil = TRUE,
                                   .AutoDepthStencilFormat = D3DFMT_D24S8,
                                   .Windowed = !now.full};
}

static D3DPRESENT_PARAMETERS parameters(void)
{
    D3DPRESENT_PARAMETERS p = plain();

    p.BackBufferFormat = rarely() ? format() : D3DFMT_X8R8G8B8;
    p.BackBufferCount = rarely() ? number() : 1;
    p.MultiSampleType = rarely() ? samples() : 0;
    p.SwapEffect = rarely() ? number() : D3DSWAPEFFECT_DISCARD;
    p.EnableAutoDepthStencil = (BOOL)below(2);
    p.AutoDepthStencilFormat = rarely() ? format() : D3DFMT_D24S8;
    return p;
}

static void a_chain(void)
{
    D3DPRESENT_PARAMETERS p = parameters();
    IDirect3DSwapChain9 *made = NULL;

    IDirect3DDevice9Ex_CreateAdditionalSwapChain(now.device, &p, &made);
    put(CHAIN, made);
}

/* ---- states -------------------------------------------------------------- */

static DWORD value(void)
{
    float f;
    DWORD v;

    if (below(2))
        return number();
    if (below(2))
        return next() << 24 | next() << 16 | next() << 8 | next();
    f = real();
    memcpy(&v, &f, 4);
    return v;
}

static void states(void)
{
    float m[16];

    for (int i = 0; i < 16; i++)
        m[i] = real();
    switch (below(10)) {
    case 0:
    case 1:
    case 2:
        IDirect3DDevice9Ex_SetRenderState(now.device, rarely() ? number() : below(210), value());
        break;
    case 3:
        IDirect3DDevice9Ex_SetSamplerState(now.device, ONE_OF(0, 0, 1, 15, 256, 257, 260), below(15),
                                           value());
        break;
    case 4:
    case 5:
        IDirect3DDevice9Ex_SetTextureStageState(now.device, rarely() ? number() : below(3), below(34),
                                                value());
        break;
    case 6:
        IDirect3DDevice9Ex_SetTransform(now.device, ONE_OF(2, 3, 16, 17, 23, 256, 257, 511),
                                        (const D3DMATRIX *)m);
        break;
    case 7:
        IDirect3DDevice9Ex_MultiplyTransform(now.device, ONE_OF(2, 3, 16, 256, 258), (const D3DMATRIX *)m);
        break;
    case 8:
        IDirect3DDevice9Ex_SetClipPlane(now.device, rarely() ? number() : below(6), m);
        break;
    default: {
        D3DMATERIAL9 material = {.Power = real()};

        memcpy(&material, m, sizeof(m));
        IDirect3DDevice9Ex_SetMaterial(now.device, &material);
    }
    }
}

static void lights(void)
{
    D3DLIGHT9 l = {.Type = ONE_OF(1, 2, 3, 0),
                   .Range = real(),
                   .Falloff = real(),
                   .Attenuation0 = real(),
                   .Theta = real(),
                   .Phi = real()};
    const DWORD at = rarely() ? number() : below(9);

    l.Direction = (D3DVECTOR){real(), real(), real()};
    if (at > 100000)
        return; /* a list as long as that costs time only */
    if (below(2))
        IDirect3DDevice9Ex_SetLight(now.device, at, &l);
    else
        IDirect3DDevice9Ex_LightEnable(now.device, at, (BOOL)below(2));
}

static void constants(void)
{
    const UINT at = rarely() ? number() : below(256), n = rarely() ? number() : 1 + below(16);

    if (n > 8192)
        return; /* more than there are numbers to read */
    switch (below(6)) {
    case 0:
        IDirect3DDevice9Ex_SetVertexShaderConstantF(now.device, at, (const float *)block, n);
        break;
    case 1:
        IDirect3DDevice9Ex_SetPixelShaderConstantF(now.device, at, (const float *)block, n);
        break;
    case 2:
        IDirect3DDevice9Ex_SetVertexShaderConstantI(now.device, at & 31, (const int *)block, n);
        break;
    case 3:
        IDirect3DDevice9Ex_SetPixelShaderConstantI(now.device, at & 31, (const int *)block, n);
        break;
    case 4:
        IDirect3DDevice9Ex_SetVertexShaderConstantB(now.device, at & 31, (const BOOL *)block, n);
        break;
    default:
        IDirect3DDevice9Ex_SetPixelShaderConstantB(now.device, at & 31, (const BOOL *)block, n);
    }
}

static void areas(void)
{
    const D3DVIEWPORT9 v = rarely() ? (D3DVIEWPORT9){number(), number(), number(), number(), real(), real()}
                                    : (D3DVIEWPORT9){0, 0, 1 + below(64), 1 + below(64), 0, 1};
    const RECT r = rect();

    if (below(2))
        IDirect3DDevice9Ex_SetViewport(now.device, &v);
    else
        IDirect3DDevice9Ex_SetScissorRect(now.device, &r);
}

static void bind(void)
{
    switch (below(12)) {
    case 0:
    case 1:
        IDirect3DDevice9Ex_SetTexture(now.device, ONE_OF(0, 0, 1, 15, 256, 257, 260), object(TEXTURE));
        break;
    case 2:
    case 3:
        IDirect3DDevice9Ex_SetStreamSource(now.device, rarely() ? number() : below(2), object(VERTICES),
                                           ONE_OF(0, 0, 16, 3), ONE_OF(16, 16, 32, 20, 0, 4, 2048));
        break;
    case 4:
        IDirect3DDevice9Ex_SetStreamSourceFreq(now.device, rarely() ? number() : below(3),
                                               ONE_OF(1, 1, 0x40000002, 0x80000001, 0));
        break;
    case 5:
        IDirect3DDevice9Ex_SetIndices(now.device, object(INDICES));
        break;
    case 6:
        IDirect3DDevice9Ex_SetVertexDeclaration(now.device, object(DECLARATION));
        break;
    case 7:
        IDirect3DDevice9Ex_SetFVF(now.device,
                                  rarely() ? value()
                                           : ONE_OF(D3DFVF_XYZRHW | D3DFVF_DIFFUSE, D3DFVF_XYZ,
                                                    D3DFVF_XYZ | D3DFVF_NORMAL | D3DFVF_TEX1,
                                                    D3DFVF_XYZB2 | D3DFVF_DIFFUSE, D3DFVF_XYZ | D3DFVF_TEX2));
        break;
    case 8:
        IDirect3DDevice9Ex_SetVertexShader(now.device, object(VERTEX_SHADER));
        break;
    case 9:
        IDirect3DDevice9Ex_SetPixelShader(now.device, object(PIXEL_SHADER));
        break;
    case 10:
        IDirect3DDevice9Ex_SetRenderTarget(now.device, rarely() ? number() : below(2), object(SURFACE));
        break;
    default:
        IDirect3DDevice9Ex_SetDepthStencilSurface(now.device, object(SURFACE));
    }
}

/* ---- work ---------------------------------------------------------------- */

static void draw(void)
{
    const D3DPRIMITIVETYPE type = ONE_OF(4, 4, 4, 1, 2, 3, 5, 6, 0);
    const UINT from = number(), least = rarely() ? number() : 0,
               vertices = rarely() ? number() : 1 + below(64);
    UINT n = ONE_OF(1, 1, 2, 0, 20), stride = ONE_OF(16, 20, 32, 0, 255);

    n = n > 4096 ? 4096 : n; /* what counts is time only, and the vertices that there are */
    stride = stride > 255 ? 255 : stride;
    switch (below(8)) {
    case 0:
    case 1:
        IDirect3DDevice9Ex_DrawPrimitive(now.device, type, from, n);
        break;
    case 2:
    case 3:
        IDirect3DDevice9Ex_DrawIndexedPrimitive(now.device, type, (INT)from, least, vertices, number(), n);
        break;
    case 4:
        IDirect3DDevice9Ex_DrawPrimitiveUP(now.device, type, n, block, stride);
        break;
    case 5:
        if ((uint64_t)least + vertices < 8192)
            IDirect3DDevice9Ex_DrawIndexedPrimitiveUP(now.device, type, least, vertices, n, block,
                                                      ONE_OF(D3DFMT_INDEX16, D3DFMT_INDEX32, 0), block,
                                                      stride);
        break;
    case 6: {
        IDirect3DVertexBuffer9 *to = object(VERTICES);

        if (to && vertices < 8192)
            IDirect3DDevice9Ex_ProcessVertices(now.device, from, number(), vertices, to, object(DECLARATION),
                                               ONE_OF(0, 1));
        break;
    }
    default: {
        DWORD passes;

        IDirect3DDevice9Ex_ValidateDevice(now.device, &passes);
    }
    }
}

static void clear(void)
{
    D3DRECT r[4];
    const uint32_t n = below(5);

    for (int i = 0; i < 4; i++) {
        const RECT one = rect();

        memcpy(&r[i], &one, sizeof(one));
    }
    IDirect3DDevice9Ex_Clear(now.device, n, n && !rarely() ? r : NULL, ONE_OF(1, 1, 2, 3, 6, 7, 0), value(),
                             real(), (DWORD)number());
}

static void copy(void)
{
    IDirect3DSurface9 *to = object(SURFACE), *from = object(SURFACE);
    IDirect3DBaseTexture9 *t = object(TEXTURE), *u = object(TEXTURE);
    const RECT a = rect(), b = rect();
    const POINT at = {(LONG)number(), (LONG)number()};
    const bool part = below(2), place = below(2);

    switch (below(8)) {
    case 0:
    case 1:
        if (to && from)
            IDirect3DDevice9Ex_StretchRect(now.device, from, part ? &a : NULL, to, place ? &b : NULL,
                                           ONE_OF(0, 1, 2, 3));
        break;
    case 2:
        if (to)
            IDirect3DDevice9Ex_ColorFill(now.device, to, part ? &a : NULL, value());
        break;
    case 3:
        if (to && from)
            IDirect3DDevice9Ex_UpdateSurface(now.device, from, part ? &a : NULL, to, place ? &at : NULL);
        break;
    case 4:
        if (t && u)
            IDirect3DDevice9Ex_UpdateTexture(now.device, t, u);
        break;
    case 5:
        if (to && from)
            IDirect3DDevice9Ex_GetRenderTargetData(now.device, from, to);
        break;
    case 6:
        if (to)
            IDirect3DDevice9Ex_GetFrontBufferData(now.device, rarely() ? number() : 0, to);
        break;
    default:
        if (!t)
            return;
        if (below(2))
            IDirect3DBaseTexture9_GenerateMipSubLevels(t);
        else if (below(2))
            IDirect3DBaseTexture9_SetLOD(t, number());
        else
            IDirect3DBaseTexture9_SetAutoGenFilterType(t, number());
    }
}

/* What was given to write to or to read from. */
static void touch(void *bits, DWORD flags)
{
    if (!bits)
        return;
    if (flags & D3DLOCK_READONLY)
        block[0] = *(volatile uint8_t *)bits;
    else
        *(volatile uint8_t *)bits = (uint8_t)next();
}

static void lock(void)
{
    const DWORD flags =
        ONE_OF(0, 0, D3DLOCK_READONLY, D3DLOCK_DISCARD, D3DLOCK_NOOVERWRITE, D3DLOCK_DONOTWAIT, 0x8000);
    const RECT r = rect();
    const D3DBOX box = {(UINT)r.left, (UINT)r.top, (UINT)r.right, (UINT)r.bottom, 0, 1};
    D3DLOCKED_RECT l = {0};
    D3DLOCKED_BOX v = {0};
    const bool part = below(2), ends = !rarely();
    void *bits = NULL, *o;

    switch (below(4)) {
    case 0:
        if (!(o = object(VERTICES)))
            return;
        if (IDirect3DVertexBuffer9_Lock((IDirect3DVertexBuffer9 *)o, number(), number(), &bits, flags) ==
            D3D_OK)
            touch(bits, flags);
        if (ends)
            IDirect3DVertexBuffer9_Unlock((IDirect3DVertexBuffer9 *)o);
        return;
    case 1:
        if (!(o = object(INDICES)))
            return;
        if (IDirect3DIndexBuffer9_Lock((IDirect3DIndexBuffer9 *)o, number(), number(), &bits, flags) ==
            D3D_OK)
            touch(bits, flags);
        if (ends)
            IDirect3DIndexBuffer9_Unlock((IDirect3DIndexBuffer9 *)o);
        return;
    case 2:
        if (!(o = object(SURFACE)))
            return;
        if (IDirect3DSurface9_LockRect((IDirect3DSurface9 *)o, &l, part ? &r : NULL, flags) == D3D_OK)
            touch(l.pBits, flags);
        if (ends)
            IDirect3DSurface9_UnlockRect((IDirect3DSurface9 *)o);
        return;
    default:
        break;
    }
    if (!(o = object(TEXTURE)))
        return;
    if (IDirect3DBaseTexture9_GetType((IDirect3DBaseTexture9 *)o) == D3DRTYPE_TEXTURE) {
        const UINT level = rarely() ? number() : below(2);

        if (IDirect3DTexture9_LockRect((IDirect3DTexture9 *)o, level, &l, part ? &r : NULL, flags) == D3D_OK)
            touch(l.pBits, flags);
        if (ends)
            IDirect3DTexture9_UnlockRect((IDirect3DTexture9 *)o, level);
    } else if (IDirect3DBaseTexture9_GetType((IDirect3DBaseTexture9 *)o) == D3DRTYPE_VOLUMETEXTURE) {
        if (IDirect3DVolumeTexture9_LockBox((IDirect3DVolumeTexture9 *)o, 0, &v, part ? &box : NULL, flags) ==
            D3D_OK)
            touch(v.pBits, flags);
        if (ends)
            IDirect3DVolumeTexture9_UnlockBox((IDirect3DVolumeTexture9 *)o, 0);
    } else {
        const D3DCUBEMAP_FACES face = below(7);

        if (IDirect3DCubeTexture9_LockRect((IDirect3DCubeTexture9 *)o, face, 0, &l, part ? &r : NULL,
                                           flags) == D3D_OK)
            touch(l.pBits, flags);
        if (ends)
            IDirect3DCubeTexture9_UnlockRect((IDirect3DCubeTexture9 *)o, face, 0);
    }
}

static void ask(void)
{
    IDirect3DQuery9 *q = object(QUERY);
    uint8_t answer[512];

    if (!q)
        return;
    if (below(2))
        IDirect3DQuery9_Issue(q, ONE_OF(D3DISSUE_BEGIN, D3DISSUE_END, D3DISSUE_END, 3));
    else
        IDirect3DQuery9_GetData(q, below(2) ? answer : NULL,
                                rarely() ? number() % 513 : IDirect3DQuery9_GetDataSize(q),
                                ONE_OF(0, 0, D3DGETDATA_FLUSH));
}

/* A window's pictures are waited for by a thread, which the kernel of virtual time does not take; full screen is flipped to. */
static void frames(void)
{
    const RECT a = rect(), b = rect();
    IDirect3DSwapChain9 *chain = object(CHAIN);

    switch (below(8)) {
    case 0:
    case 1:
    case 2:
        IDirect3DDevice9Ex_BeginScene(now.device);
        break;
    case 3:
    case 4:
        IDirect3DDevice9Ex_EndScene(now.device);
        break;
    case 5:
        if (now.full)
            IDirect3DDevice9Ex_PresentEx(now.device, rarely() ? &a : NULL, rarely() ? &b : NULL, NULL, NULL,
                                         ONE_OF(0, 0, D3DPRESENT_DONOTWAIT, 0x100));
        break;
    case 6:
        if (chain && now.full)
            IDirect3DSwapChain9_Present(chain, rarely() ? &a : NULL, rarely() ? &b : NULL, NULL, NULL, 0);
        break;
    default:
        if (below(4) == 0) {
            D3DPRESENT_PARAMETERS p = parameters();

            if (below(2))
                IDirect3DDevice9Ex_Reset(now.device, &p);
            else
                IDirect3DDevice9Ex_ResetEx(now.device, &p, NULL);
        }
    }
}

static void various(void)
{
    D3DMATRIX m;
    DWORD v;
    float f[4 * 32];

    switch (below(10)) {
    case 0:
        IDirect3DDevice9Ex_EvictManagedResources(now.device);
        break;
    case 1:
        IDirect3DDevice9Ex_SetSoftwareVertexProcessing(now.device, (BOOL)below(2));
        break;
    case 2:
        IDirect3DDevice9Ex_SetNPatchMode(now.device, real());
        break;
    case 3:
        IDirect3DDevice9Ex_GetTransform(now.device, number(), &m);
        break;
    case 4:
        IDirect3DDevice9Ex_GetRenderState(now.device, number(), &v);
        break;
    case 5:
        IDirect3DDevice9Ex_GetVertexShaderConstantF(now.device, number(), f, below(33));
        break;
    case 6:
        IDirect3DDevice9Ex_SetMaximumFrameLatency(now.device, number());
        break;
    case 7:
        IDirect3DDevice9Ex_SetGPUThreadPriority(now.device, (INT)number());
        break;
    case 8:
        IDirect3DDevice9Ex_GetAvailableTextureMem(now.device);
        break;
    default: {
        IUnknown *o = object(below(2) ? TEXTURE : SURFACE);

        if (o)
            IDirect3DResource9_SetPrivateData((IDirect3DResource9 *)o, &IID_IDirect3DDevice9, block,
                                              number() & 0xFFFF, 0);
    }
    }
}

static void drop(void)
{
    drop_one(below(KINDS));
}

static void (*const calls[])(void) = {
    a_buffer, a_buffer, a_texture, a_texture, a_surface, a_surface, a_shader, a_shader,  a_declaration,
    a_query,  a_block,  a_chain,   states,    states,    states,    lights,   constants, areas,
    bind,     bind,     bind,      bind,      draw,      draw,      draw,     draw,      clear,
    copy,     copy,     lock,      lock,      ask,       frames,    various,  drop};

/* ---- the way through ----------------------------------------------------- */

bool any_calls_begin(const char *folder)
{
    for (uint32_t i = 0; i < NAMES; i++) {
        char path[1024];
        FILE *f;

        snprintf(path, sizeof(path), "%s/%s.d3d9", folder, names[i]);
        f = fopen(path, "rb");
        if (!f)
            return false;
        codes[i].count = (uint32_t)fread(codes[i].tokens, 4, MOST_CODE, f);
        fclose(f);
        for (uint32_t n = codes[i].count; n < MOST_CODE + TAIL; n++)
            codes[i].tokens[n] = 0xFFFF;
    }
    block = block ? block : calloc(1, BLOCK);
    return block != NULL;
}

/* What was asked of the device has happened, or it is gone. */
static void finish(void)
{
    IDirect3DSurface9 *s[2] = {NULL, NULL};
    D3DLOCKED_RECT l;

    if (IDirect3DDevice9Ex_CreateRenderTarget(now.device, 1, 1, D3DFMT_A8R8G8B8, 0, 0, FALSE, &s[0], NULL) ==
            D3D_OK &&
        IDirect3DDevice9Ex_CreateOffscreenPlainSurface(now.device, 1, 1, D3DFMT_A8R8G8B8, D3DPOOL_SYSTEMMEM,
                                                       &s[1], NULL) == D3D_OK &&
        IDirect3DDevice9Ex_GetRenderTargetData(now.device, s[0], s[1]) == D3D_OK &&
        IDirect3DSurface9_LockRect(s[1], &l, NULL, D3DLOCK_READONLY) == D3D_OK)
        IDirect3DSurface9_UnlockRect(s[1]);
    for (int i = 0; i < 2; i++)
        if (s[i])
            IDirect3DSurface9_Release(s[i]);
}

struct any_end any_calls(const uint8_t *bytes, size_t size, bool damaged)
{
    struct any_end end = {0};
    D3DPRESENT_PARAMETERS p;
    D3DDISPLAYMODEEX mode = {.Size = sizeof(mode)};
    HRESULT state;
    DWORD flags;

    memset(&now, 0, sizeof(now));
    drawn.at = bytes;
    drawn.end = bytes + size;
    now.damaged = damaged;
    flags = below(4) ? D3DCREATE_HARDWARE_VERTEXPROCESSING : D3DCREATE_MIXED_VERTEXPROCESSING;
    now.full = !below(4);
    now.width = now.height = SIDE;
    end.created = (uint32_t)Direct3DCreate9Ex(D3D_SDK_VERSION, &now.factory);
    if (!end.created && now.full) {
        end.created = (uint32_t)IDirect3D9Ex_GetAdapterDisplayModeEx(now.factory, 0, &mode, NULL);
        now.width = mode.Width;
        now.height = mode.Height;
    }
    p = plain();
    if (!end.created)
        end.created = (uint32_t)IDirect3D9Ex_CreateDeviceEx(now.factory, 0, D3DDEVTYPE_HAL, (HWND)1, flags,
                                                            &p, NULL, &now.device);
    if (end.created)
        return end;
    do {
        state = IDirect3DDevice9Ex_CheckDeviceState(now.device, NULL);
        if (drawn.at < drawn.end && state == D3D_OK)
            calls[below(sizeof(calls) / sizeof(calls[0]))]();
    } while (drawn.at < drawn.end && state == D3D_OK);
    drop_all();
    finish();
    end.removed = (uint32_t)IDirect3DDevice9Ex_CheckDeviceState(now.device, NULL);
    end.references = IDirect3DDevice9Ex_Release(now.device) + IDirect3D9Ex_Release(now.factory);
    return end;
}
