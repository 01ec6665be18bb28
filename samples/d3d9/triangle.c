/* SPDX-License-Identifier: MIT */
/* triangle.c: a Direct3D 9 program, as one is written for Windows; built with mingw-w64, and natively over the same runtime.
 *
 *   triangle PICTURE [present|hang]
 *
 * Draws a triangle with the fixed function, shows it, and writes the picture (PPM). `present` shows frames full screen. `hang` first
 * draws one whose pixel shader never ends, says what the device became, resets it, and begins again.
 */
#define CINTERFACE
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <d3d9.h>

enum { SIDE = 64, LARGE = 2048 };

struct vertex {
    float x, y, z, rhw;
    D3DCOLOR colour;
};

#define NEED(call)                                                                                           \
    do {                                                                                                     \
        HRESULT hr_ = (call);                                                                                \
        if (hr_ != D3D_OK) {                                                                                 \
            fprintf(stderr, "triangle: %s: 0x%08X\n", #call, (unsigned)hr_);                                 \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static HWND window(void)
{
#if defined(_WIN32)
    HWND w = CreateWindowA("static", "triangle", WS_OVERLAPPEDWINDOW, 0, 0, 200, 200, NULL, NULL, NULL, NULL);
    return w ? w : GetDesktopWindow();
#else
    return (HWND)(uintptr_t)1; /* there are no windows */
#endif
}

static void draw(IDirect3DDevice9 *d)
{
    /* the edges lie between the centres of pixels, which are at whole numbers */
    static const struct vertex v[] = {{7.5f, 7.5f, 0.5f, 1, 0xFFFF0000},
                                      {55.5f, 7.5f, 0.5f, 1, 0xFFFF0000},
                                      {7.5f, 55.5f, 0.5f, 1, 0xFFFF0000}};

    NEED(IDirect3DDevice9_Clear(d, 0, NULL, D3DCLEAR_TARGET, 0xFF0000FF, 1, 0));
    NEED(IDirect3DDevice9_BeginScene(d));
    NEED(IDirect3DDevice9_SetFVF(d, D3DFVF_XYZRHW | D3DFVF_DIFFUSE));
    NEED(IDirect3DDevice9_DrawPrimitiveUP(d, D3DPT_TRIANGLELIST, 1, v, sizeof(v[0])));
    NEED(IDirect3DDevice9_EndScene(d));
}

static void write_picture(IDirect3DDevice9 *d, const char *path)
{
    IDirect3DSurface9 *back, *copy;
    D3DLOCKED_RECT l;
    FILE *f = fopen(path, "wb");

    NEED(IDirect3DDevice9_GetRenderTarget(d, 0, &back));
    NEED(IDirect3DDevice9_CreateOffscreenPlainSurface(d, SIDE, SIDE, D3DFMT_X8R8G8B8, D3DPOOL_SYSTEMMEM,
                                                      &copy, NULL));
    NEED(IDirect3DDevice9_GetRenderTargetData(d, back, copy));
    NEED(IDirect3DSurface9_LockRect(copy, &l, NULL, D3DLOCK_READONLY));
    if (!f) {
        fprintf(stderr, "triangle: cannot write %s\n", path);
        exit(1);
    }
    fprintf(f, "P6\n%d %d\n255\n", SIDE, SIDE);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const unsigned char *p = (const unsigned char *)l.pBits + y * l.Pitch + 4 * x;

            fputc(p[2], f);
            fputc(p[1], f);
            fputc(p[0], f);
        }
    fclose(f);
    NEED(IDirect3DSurface9_UnlockRect(copy));
    IDirect3DSurface9_Release(copy);
    IDirect3DSurface9_Release(back);
}

/* ps_3_0: for (;;) r0.x = sqrt(r0.x + 1), of a count that a constant ends, which it never does. */
static const DWORD endless[] = {
    0xFFFF0300, 0x05000051, 0xA00F0001, 0x3F800000, 0,          0,          0, /* def c1, 1, 0, 0, 0 */
    0x05000030, 0xF00F0000, 255,        0,          0,          0,             /* defi i0, 255 */
    0x02000001, 0x800F0000, 0xA0000000,                                        /* mov r0, c0.x */
    0x01000026, 0xF0E40000, 0x01000026, 0xF0E40000, 0x01000026, 0xF0E40000,    /* rep i0, four deep */
    0x01000026, 0xF0E40000, 0x03000002, 0x80010000, 0x80000000, 0xA0000001,    /* add r0.x, r0.x, c1.x */
    0x02000007, 0x80010000, 0x80000000,                                        /* rsq r0.x, r0.x */
    0x00000027, 0x00000027, 0x00000027, 0x00000027,                            /* endrep */
    0x02000001, 0x800F0800, 0x80000000,                                        /* mov oC0, r0.x */
    0x0000FFFF};

static void hang(IDirect3DDevice9Ex *d)
{
    static const struct vertex v[] = {
        {0, 0, 0.5f, 1, ~0u}, {2 * LARGE, 0, 0.5f, 1, ~0u}, {0, 2 * LARGE, 0.5f, 1, ~0u}};
    static const uint16_t frame[] = {'f', 'r', 'a', 'm', 'e', 0}, fog[] = {'f', 'o', 'g', 0};
    IDirect3DSurface9 *large, *back;
    IDirect3DPixelShader9 *ps;
    HRESULT hr = D3D_OK;

    NEED(IDirect3DDevice9Ex_GetRenderTarget(d, 0, &back));
    NEED(IDirect3DDevice9Ex_CreateRenderTarget(d, LARGE, LARGE, D3DFMT_X8R8G8B8, D3DMULTISAMPLE_NONE, 0,
                                               FALSE, &large, NULL));
    NEED(IDirect3DDevice9Ex_CreatePixelShader(d, endless, &ps));
    NEED(IDirect3DDevice9Ex_SetRenderTarget(d, 0, large));
    NEED(IDirect3DDevice9Ex_SetPixelShader(d, ps));
    NEED(IDirect3DDevice9Ex_SetFVF(d, D3DFVF_XYZRHW | D3DFVF_DIFFUSE));
    D3DPERF_BeginEvent(0, (const WCHAR *)frame);
    D3DPERF_BeginEvent(0, (const WCHAR *)fog);
    NEED(IDirect3DDevice9Ex_DrawPrimitiveUP(d, D3DPT_TRIANGLELIST, 1, v, sizeof(v[0])));
    D3DPERF_EndEvent();
    D3DPERF_EndEvent();
    for (int i = 0; i < 3 && hr == D3D_OK; i++)
        hr = IDirect3DDevice9Ex_PresentEx(d, NULL, NULL, NULL, NULL, 0);
    printf("Present: 0x%08X\nstate: 0x%08X\n", (unsigned)hr,
           (unsigned)IDirect3DDevice9Ex_CheckDeviceState(d, NULL));
    IDirect3DPixelShader9_Release(ps);
    IDirect3DSurface9_Release(large);
    IDirect3DSurface9_Release(back);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[2] : "draw";
    D3DPRESENT_PARAMETERS p = {.BackBufferWidth = SIDE,
                               .BackBufferHeight = SIDE,
                               .BackBufferFormat = D3DFMT_X8R8G8B8,
                               .SwapEffect = D3DSWAPEFFECT_DISCARD,
                               .Windowed = TRUE};
    IDirect3D9Ex *factory;
    IDirect3DDevice9Ex *d;
    D3DDISPLAYMODE display;

    p.hDeviceWindow = window();
    if (argc < 2) {
        fprintf(stderr, "usage: triangle PICTURE [present|hang]\n");
        return 2;
    }
    NEED(Direct3DCreate9Ex(D3D_SDK_VERSION, &factory));
    if (!strcmp(mode, "present")) {
        NEED(IDirect3D9Ex_GetAdapterDisplayMode(factory, 0, &display));
        p.Windowed = FALSE;
        p.BackBufferWidth = display.Width;
        p.BackBufferHeight = display.Height;
    }
    NEED(IDirect3D9Ex_CreateDeviceEx(factory, 0, D3DDEVTYPE_HAL, p.hDeviceWindow,
                                     D3DCREATE_HARDWARE_VERTEXPROCESSING, &p, NULL, &d));
    if (!strcmp(mode, "present")) {
        for (int i = 0; i < 10; i++) {
            draw((IDirect3DDevice9 *)d);
            NEED(IDirect3DDevice9Ex_PresentEx(d, NULL, NULL, NULL, NULL, 0));
        }
        puts("presented");
    } else {
        if (!strcmp(mode, "hang")) {
            hang(d);
            NEED(IDirect3DDevice9Ex_ResetEx(d, &p, NULL));
        }
        draw((IDirect3DDevice9 *)d);
        write_picture((IDirect3DDevice9 *)d, argv[1]);
        NEED(IDirect3DDevice9Ex_PresentEx(d, NULL, NULL, NULL, NULL, 0));
    }
    if (IDirect3DDevice9Ex_Release(d) || IDirect3D9Ex_Release(factory)) {
        fprintf(stderr, "triangle: references are left\n");
        return 1;
    }
    puts("done");
    return 0;
}
