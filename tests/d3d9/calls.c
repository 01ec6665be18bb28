/* SPDX-License-Identifier: MIT */
/* calls.c: what Direct3D 9 documents, call by call: pixels where something is drawn, the exact answer where something is refused, and
 * the device as good as before. */
#include "calls.h"

int failures;
IDirect3D9Ex *factory;
IDirect3DDevice9Ex *dev;

void read_target(uint32_t *pixels)
{
    IDirect3DSurface9 *target, *copy;
    D3DLOCKED_RECT l = {0};
    D3DSURFACE_DESC desc;

    memset(pixels, 0xCC, SIDE * SIDE * 4);
    OK(IDirect3DDevice9Ex_GetRenderTarget(dev, 0, &target));
    OK(IDirect3DSurface9_GetDesc(target, &desc));
    OK(IDirect3DDevice9Ex_CreateOffscreenPlainSurface(dev, desc.Width, desc.Height, desc.Format,
                                                      D3DPOOL_SYSTEMMEM, &copy, NULL));
    OK(IDirect3DDevice9Ex_GetRenderTargetData(dev, target, copy));
    OK(IDirect3DSurface9_LockRect(copy, &l, NULL, D3DLOCK_READONLY));
    for (unsigned y = 0; l.pBits && y < SIDE; y++)
        memcpy(pixels + y * SIDE, (uint8_t *)l.pBits + y * (unsigned)l.Pitch, SIDE * 4);
    OK(IDirect3DSurface9_UnlockRect(copy));
    IDirect3DSurface9_Release(copy);
    IDirect3DSurface9_Release(target);
}

void expect_pixel(const char *file, int line, unsigned x, unsigned y, uint32_t want, unsigned off)
{
    uint32_t pixels[SIDE * SIDE], got;

    read_target(pixels);
    got = pixels[y * SIDE + x] & 0xFFFFFF;
    for (int c = 0; c < 24; c += 8) {
        int d = (int)(got >> c & 255) - (int)(want >> c & 255);

        if (d > (int)off || -d > (int)off) {
            printf("%s:%d: pixel %u,%u is %06X, not %06X\n", file, line, x, y, got, want & 0xFFFFFF);
            failures++;
            return;
        }
    }
}

void clear(uint32_t colour)
{
    OK(IDirect3DDevice9Ex_Clear(dev, 0, NULL, D3DCLEAR_TARGET | D3DCLEAR_ZBUFFER, colour, 1, 0));
}

void quad(float left, float top, float right, float bottom, float z, uint32_t colour)
{
    const struct {
        float x, y, z, rhw;
        uint32_t colour;
        float u, v;
    } vertices[] = {{left - 0.5f, top - 0.5f, z, 1, colour, 0, 0},
                    {right - 0.5f, top - 0.5f, z, 1, colour, 1, 0},
                    {left - 0.5f, bottom - 0.5f, z, 1, colour, 0, 1},
                    {right - 0.5f, bottom - 0.5f, z, 1, colour, 1, 1}};

    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZRHW | D3DFVF_DIFFUSE | D3DFVF_TEX1));
    OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLESTRIP, 2, vertices, sizeof(vertices[0])));
}

IDirect3DTexture9 *texture(unsigned width, unsigned height, D3DFORMAT format, D3DPOOL pool,
                           const void *texels, unsigned row)
{
    IDirect3DTexture9 *t = NULL;
    D3DLOCKED_RECT l;
    bool blocks = format == D3DFMT_DXT1 || format == D3DFMT_DXT3 || format == D3DFMT_DXT5;

    OK(IDirect3DDevice9Ex_CreateTexture(dev, width, height, 1, pool == D3DPOOL_DEFAULT ? D3DUSAGE_DYNAMIC : 0,
                                        format, pool, &t, NULL));
    if (!t || IDirect3DTexture9_LockRect(t, 0, &l, NULL, 0) != D3D_OK)
        return t;
    for (unsigned y = 0; y < (blocks ? (height + 3) / 4 : height); y++)
        memcpy((uint8_t *)l.pBits + y * (unsigned)l.Pitch, (const uint8_t *)texels + y * row, row);
    OK(IDirect3DTexture9_UnlockRect(t, 0));
    return t;
}

static HWND window(void)
{
#if defined(_WIN32)
    HWND w = CreateWindowA("static", "calls", WS_OVERLAPPEDWINDOW, 0, 0, 200, 200, NULL, NULL, NULL, NULL);
    return w ? w : GetDesktopWindow();
#else
    return (HWND)(uintptr_t)1;
#endif
}

D3DPRESENT_PARAMETERS present_params(void)
{
    return (D3DPRESENT_PARAMETERS){.BackBufferWidth = SIDE,
                                   .BackBufferHeight = SIDE,
                                   .BackBufferFormat = D3DFMT_X8R8G8B8,
                                   .SwapEffect = D3DSWAPEFFECT_DISCARD,
                                   .hDeviceWindow = window(),
                                   .EnableAutoDepthStencil = TRUE,
                                   .AutoDepthStencilFormat = D3DFMT_D24S8,
                                   .Windowed = TRUE};
}

/* Each room of checks has a device of its own, which is whole when it is done, and gives every reference back. */
static void with_device(const char *name, void (*check)(void))
{
    D3DPRESENT_PARAMETERS p = present_params();
    int before = failures;

    OK(IDirect3D9Ex_CreateDeviceEx(factory, 0, D3DDEVTYPE_HAL, p.hDeviceWindow,
                                   D3DCREATE_HARDWARE_VERTEXPROCESSING, &p, NULL, &dev));
    if (!dev)
        return;
    check();
    OK(IDirect3DDevice9Ex_CheckDeviceState(dev, NULL));
    OK(IDirect3DDevice9Ex_PresentEx(dev, NULL, NULL, NULL, NULL, 0));
    TRUE_(IDirect3DDevice9Ex_Release(dev) == 0);
    dev = NULL;
    if (failures != before)
        printf("%s: %d\n", name, failures - before);
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    OK(Direct3DCreate9Ex(D3D_SDK_VERSION, &factory));
    if (!factory)
        return 1;
    with_device("buffers", check_buffers);
    with_device("states", check_states);
    with_device("textures", check_textures);
    with_device("shaders", check_shaders);
    with_device("fixed", check_fixed);
    with_device("blocks", check_blocks);
    with_device("surfaces", check_surfaces);
    with_device("more", check_more);
    with_device("presenting", check_presenting);
    with_device("samples", check_samples);
    with_device("edges", check_edges);
    with_device("screen", check_screen);
    with_device("rules", check_rules);
    with_device("errors", check_errors);
    check_life();
    check_threads();
    TRUE_(IDirect3D9Ex_Release(factory) == 0);
    if (!failures)
        puts("done");
    return failures != 0;
}
