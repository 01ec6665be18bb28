/* SPDX-License-Identifier: MIT */
/* d3d9_draws.c: a Windows program that draws as games did: DRAWS draws a frame, each with a state, a texture, constants and a place in a buffer
 * of its own.   d3d9_draws.exe DRAWS FRAMES */
#define CINTERFACE
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <d3d9.h>

#include "frames.h"

enum { SIDE = 64, TEXTURES = 8 };

static IDirect3DDevice9 *dev;
static IDirect3DTexture9 *textures[TEXTURES];
static IDirect3DVertexBuffer9 *vertices;

static int make(void)
{
    static const DWORD vs[] = {/* vs_2_0: oPos = v0 + c0; oT0 = v0 * c1 */
                               0xFFFE0200, 0x0200001F, 0x80000000, 0x900F0000, 0x03000002,
                               0xC00F0000, 0x90E40000, 0xA0E40000, 0x03000005, 0xE00F0000,
                               0x90E40000, 0xA0E40001, 0x0000FFFF};
    static const float triangle[3][3] = {{-0.5f, -0.5f, 0.5f}, {0, 0.5f, 0.5f}, {0.5f, -0.5f, 0.5f}};
    IDirect3DVertexShader9 *shader;
    void *p;

    for (int i = 0; i < TEXTURES; i++) {
        D3DLOCKED_RECT l;

        if (IDirect3DDevice9_CreateTexture(dev, 4, 4, 1, 0, D3DFMT_A8R8G8B8, D3DPOOL_MANAGED, &textures[i],
                                           NULL) ||
            IDirect3DTexture9_LockRect(textures[i], 0, &l, NULL, 0))
            return 0;
        memset(l.pBits, 0x20 * i, (size_t)l.Pitch * 4);
        IDirect3DTexture9_UnlockRect(textures[i], 0);
    }
    if (IDirect3DDevice9_CreateVertexBuffer(dev, 64 * sizeof(triangle), D3DUSAGE_WRITEONLY, D3DFVF_XYZ,
                                            D3DPOOL_MANAGED, &vertices, NULL) ||
        IDirect3DVertexBuffer9_Lock(vertices, 0, 0, &p, 0))
        return 0;
    for (int i = 0; i < 64; i++)
        memcpy((char *)p + (size_t)i * sizeof(triangle), triangle, sizeof(triangle));
    IDirect3DVertexBuffer9_Unlock(vertices);
    return !IDirect3DDevice9_CreateVertexShader(dev, vs, &shader) &&
           !IDirect3DDevice9_SetVertexShader(dev, shader) && !IDirect3DDevice9_SetFVF(dev, D3DFVF_XYZ);
}

static void frame(unsigned draws)
{
    IDirect3DDevice9_Clear(dev, 0, NULL, D3DCLEAR_TARGET, 0xFF204060, 1, 0);
    IDirect3DDevice9_BeginScene(dev);
    for (unsigned i = 0; i < draws; i++) {
        const float constants[2][4] = {{(float)(i % 7) / 10, (float)(i % 5) / 10, 0, 0}, {1, 1, 0, 1}};

        IDirect3DDevice9_SetRenderState(dev, D3DRS_ALPHABLENDENABLE, i & 1);
        IDirect3DDevice9_SetTexture(dev, 0, (IDirect3DBaseTexture9 *)textures[i % TEXTURES]);
        IDirect3DDevice9_SetVertexShaderConstantF(dev, 0, constants[0], 2);
        IDirect3DDevice9_SetStreamSource(dev, 0, vertices, i % 64 * 36, 12);
        IDirect3DDevice9_DrawPrimitive(dev, D3DPT_TRIANGLELIST, 0, 1);
    }
    IDirect3DDevice9_EndScene(dev);
    IDirect3DDevice9_Present(dev, NULL, NULL, NULL, NULL);
}

int main(int argc, char **argv)
{
    unsigned draws = argc > 1 ? (unsigned)atoi(argv[1]) : 1000,
             frames = argc > 2 ? (unsigned)atoi(argv[2]) : 20;
    IDirect3D9 *d3d = Direct3DCreate9(D3D_SDK_VERSION);
    HRESULT hr;
    D3DPRESENT_PARAMETERS p = {.BackBufferWidth = SIDE,
                               .BackBufferHeight = SIDE,
                               .SwapEffect = D3DSWAPEFFECT_DISCARD,
                               .Windowed = TRUE,
                               .PresentationInterval = D3DPRESENT_INTERVAL_IMMEDIATE};

    if (!d3d)
        return 4;
    p.hDeviceWindow = CreateWindowA("static", "draws", WS_OVERLAPPEDWINDOW | WS_VISIBLE, 0, 0, 100, 100, NULL,
                                    NULL, NULL, NULL);
    hr = IDirect3D9_CreateDevice(d3d, 0, D3DDEVTYPE_HAL, p.hDeviceWindow, D3DCREATE_HARDWARE_VERTEXPROCESSING,
                                 &p, &dev);
    if (hr)
        return frames_fail("no device", (unsigned)hr);
    if (!make())
        return frames_fail("not all could be made; the device's state",
                           (unsigned)IDirect3DDevice9_TestCooperativeLevel(dev));
    if (frames_take(frame, draws, frames))
        return 4;
    hr = IDirect3DDevice9_TestCooperativeLevel(dev);
    return hr ? frames_fail("the device is lost", (unsigned)hr) : 0;
}
