/* SPDX-License-Identifier: MIT */
/* calls_edges.c: where a viewport ends, in targets of one sample and of several; and that pictures which are stretched depend on nothing
 * that draws depend on. */
#include "calls.h"

enum how { SCREEN, WORLD, VS_1_1, VS_2_0, VS_3_0, HOWS };

static const D3DVIEWPORT9 whole = {0, 0, SIDE, SIDE, 0, 1}, inner = {8, 8, 16, 16, 0, 1};

struct area { /* in Direct3D 9's pixels, whose centres are at whole numbers */
    float left, top, right, bottom;
};

/* Parts of 255 that a pixel has of an area that its viewport cuts: of its samples, or of its centre. */
static unsigned covered(const struct area *a, const D3DVIEWPORT9 *v, bool many, int x, int y)
{
    static const float places[4][2] = {{0.375f, 0.125f},
                                       {0.875f, 0.375f},
                                       {0.125f, 0.625f},
                                       {0.625f, 0.875f}},
                       centre[1][2] = {{0.5f, 0.5f}};
    const unsigned count = many ? 4 : 1;
    unsigned n = 0;

    if (x < (int)v->X || y < (int)v->Y || x >= (int)(v->X + v->Width) || y >= (int)(v->Y + v->Height))
        return 0;
    for (unsigned i = 0; i < count; i++) {
        const float *at = many ? places[i] : centre[0], sx = (float)x + at[0] - 0.5f,
                    sy = (float)y + at[1] - 0.5f;

        n += sx >= a->left && sx < a->right && sy >= a->top && sy < a->bottom;
    }
    return 255 * n / count;
}

static void draw(enum how how, const D3DVIEWPORT9 *v, D3DPRIMITIVETYPE type, UINT count, const float (*at)[2],
                 UINT vertices)
{
    float p[4][4];

    for (UINT i = 0; i < vertices; i++) {
        p[i][0] = how == SCREEN ? at[i][0] : (at[i][0] - (float)v->X) * 2 / (float)v->Width - 1;
        p[i][1] = how == SCREEN ? at[i][1] : 1 - (at[i][1] - (float)v->Y) * 2 / (float)v->Height;
        p[i][2] = 0.5f;
        p[i][3] = 1;
    }
    OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, type, count, p, sizeof(p[0])));
}

/* Red of all pixels of `many`, or of the target that is read. */
static void look(IDirect3DSurface9 *many, IDirect3DSurface9 *back, unsigned got[SIDE][SIDE])
{
    static uint32_t pixels[SIDE * SIDE];

    if (many) {
        OK(IDirect3DDevice9Ex_SetRenderTarget(dev, 0, back));
        OK(IDirect3DDevice9Ex_StretchRect(dev, many, NULL, back, NULL, D3DTEXF_NONE));
    }
    read_target(pixels);
    for (int i = 0; i < SIDE * SIDE; i++)
        got[i / SIDE][i % SIDE] = pixels[i] >> 16 & 255;
    if (many)
        OK(IDirect3DDevice9Ex_SetRenderTarget(dev, 0, many));
}

static void black(const D3DVIEWPORT9 *v)
{
    OK(IDirect3DDevice9Ex_SetViewport(dev, &whole));
    OK(IDirect3DDevice9Ex_Clear(dev, 0, NULL, D3DCLEAR_TARGET, 0xFF000000, 1, 0));
    OK(IDirect3DDevice9Ex_SetViewport(dev, v));
}

/* Areas that reach over the viewport, end with it, and end half a pixel before it, pixel by pixel. */
static void areas(enum how how, const D3DVIEWPORT9 *v, IDirect3DSurface9 *many, IDirect3DSurface9 *back)
{
    const float x = (float)v->X, y = (float)v->Y, w = (float)v->Width, h = (float)v->Height;
    const struct area all[] = {{x - 20, y - 20, x + w + 20, y + h + 20},
                               {x, y, x + w, y + h},
                               {x - 0.5f, y - 0.5f, x + w - 0.5f, y + h - 0.5f},
                               {x + 2.25f, y + 3.5f, x + w - 1.75f, y + h - 0.25f}};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        const struct area *a = &all[i];
        const float corners[][2] = {
            {a->left, a->top}, {a->right, a->top}, {a->left, a->bottom}, {a->right, a->bottom}};
        unsigned got[SIDE][SIDE], wrong = 0;

        black(v);
        draw(how, v, D3DPT_TRIANGLESTRIP, 2, corners, 4);
        look(many, back, got);
        for (int k = 0; k < SIDE * SIDE; k++) {
            const unsigned want = covered(a, v, many, k % SIDE, k / SIDE), is = got[k / SIDE][k % SIDE];

            if ((is > want + 1 || want > is + 1) && !wrong++)
                printf("%s:%d: area %zu by %d in %u samples, viewport %u: pixel %d, %d is %u, not %u\n",
                       __FILE__, __LINE__, i, how, many ? 4 : 1, (unsigned)v->X, k % SIDE, k / SIDE, is,
                       want);
        }
        failures += wrong != 0;
    }
}

/* Points as large as a pixel, on the viewport's first pixel and last, whole; and on those around it, not at all. */
static void points(enum how how, const D3DVIEWPORT9 *v, IDirect3DSurface9 *many, IDirect3DSurface9 *back)
{
    const float first = (float)v->X, last = (float)(v->X + v->Width) - 1;
    const float at[][2] = {{first, first}, {last, last}, {first - 1, first}, {last + 0.75f, last}};
    unsigned got[SIDE][SIDE], sum = 0;

    black(v);
    draw(how, v, D3DPT_POINTLIST, 4, at, 4);
    look(many, back, got);
    for (int k = 0; k < SIDE * SIDE; k++)
        sum += got[k / SIDE][k % SIDE];
    TRUE_(got[v->Y][v->X] == 255);
    TRUE_(got[v->Y + v->Height - 1][v->X + v->Width - 1] == 255);
    TRUE_(sum == 2 * 255);
}

/* A line through the viewport is the same from its first pixel to its last, and nowhere else. */
static void lines(enum how how, const D3DVIEWPORT9 *v, IDirect3DSurface9 *many, IDirect3DSurface9 *back)
{
    const float at[][2] = {{-20, 12}, {SIDE + 20, 12}};
    unsigned got[SIDE][SIDE];

    black(v);
    draw(how, v, D3DPT_LINELIST, 1, at, 2);
    look(many, back, got);
    TRUE_(got[12][16] == 255);
    for (int x = 0; x < SIDE; x++)
        TRUE_(got[12][x] == (x >= (int)v->X && x < (int)(v->X + v->Width) ? got[12][16] : 0));
}

static void edges_of(enum how how)
{
    static const DWORD vs[][12] = {
        {0xFFFE0101, 0x0000001F, 0x80000000, 0x900F0000, 0x00000001, 0xC00F0000, 0x90E40000, 0x0000FFFF},
        {0xFFFE0200, 0x0200001F, 0x80000000, 0x900F0000, 0x02000001, 0xC00F0000, 0x90E40000, 0x0000FFFF},
        {0xFFFE0300, 0x0200001F, 0x80000000, 0x900F0000, 0x0200001F, 0x80000000, 0xE00F0000, 0x02000001,
         0xE00F0000, 0x90E40000, 0x0000FFFF}}; /* mov oPos, v0 */
    static const DWORD ps[] = {0xFFFF0300, 0x05000051, 0xA00F0000, 0x3F800000, 0x3F800000, 0x3F800000,
                               0x3F800000, 0x02000001, 0x800F0800, 0xA0E40000, 0x0000FFFF}; /* white */
    static const D3DVIEWPORT9 *const views[] = {&whole, &inner};
    IDirect3DVertexShader9 *vertex = NULL;
    IDirect3DPixelShader9 *pixel = NULL;
    IDirect3DSurface9 *back, *many, *depth;

    if (how >= VS_1_1)
        OK(IDirect3DDevice9Ex_CreateVertexShader(dev, vs[how - VS_1_1], &vertex));
    if (how == VS_3_0)
        OK(IDirect3DDevice9Ex_CreatePixelShader(dev, ps, &pixel));
    OK(IDirect3DDevice9Ex_SetFVF(dev, how == SCREEN ? D3DFVF_XYZRHW : D3DFVF_XYZ));
    OK(IDirect3DDevice9Ex_SetVertexShader(dev, vertex));
    OK(IDirect3DDevice9Ex_SetPixelShader(dev, pixel));
    OK(IDirect3DDevice9Ex_GetRenderTarget(dev, 0, &back));
    OK(IDirect3DDevice9Ex_GetDepthStencilSurface(dev, &depth));
    OK(IDirect3DDevice9Ex_SetDepthStencilSurface(dev, NULL));
    OK(IDirect3DDevice9Ex_CreateRenderTarget(dev, SIDE, SIDE, D3DFMT_X8R8G8B8, D3DMULTISAMPLE_4_SAMPLES, 0,
                                             FALSE, &many, NULL));
    for (int i = 0; i < 4; i++) {
        IDirect3DSurface9 *of = i & 1 ? many : NULL;

        OK(IDirect3DDevice9Ex_SetRenderTarget(dev, 0, of ? of : back));
        areas(how, views[i / 2], of, back);
        points(how, views[i / 2], of, back);
        lines(how, views[i / 2], of, back);
    }
    OK(IDirect3DDevice9Ex_SetRenderTarget(dev, 0, back));
    OK(IDirect3DDevice9Ex_SetDepthStencilSurface(dev, depth));
    OK(IDirect3DDevice9Ex_SetVertexShader(dev, NULL));
    OK(IDirect3DDevice9Ex_SetPixelShader(dev, NULL));
    IDirect3DSurface9_Release(many);
    IDirect3DSurface9_Release(back);
    IDirect3DSurface9_Release(depth);
    if (vertex)
        IDirect3DVertexShader9_Release(vertex);
    if (pixel)
        IDirect3DPixelShader9_Release(pixel);
}

/* ---- stretched ------------------------------------------------------------------------------ */

/* A grey square becomes as large as the target, and has the colour that it had. */
static void stretched(void)
{
    IDirect3DSurface9 *square, *back;

    OK(IDirect3DDevice9Ex_GetRenderTarget(dev, 0, &back));
    OK(IDirect3DDevice9Ex_CreateRenderTarget(dev, 8, 8, D3DFMT_X8R8G8B8, D3DMULTISAMPLE_NONE, 0, FALSE,
                                             &square, NULL));
    OK(IDirect3DDevice9Ex_ColorFill(dev, square, NULL, 0xFF808080));
    OK(IDirect3DDevice9Ex_StretchRect(dev, square, NULL, back, NULL, D3DTEXF_POINT));
    PIXEL(0, 0, 0x808080, 0);
    PIXEL(SIDE - 1, SIDE - 1, 0x808080, 0);
    IDirect3DSurface9_Release(square);
    IDirect3DSurface9_Release(back);
}

static void after_planes(void)
{
    static const float nothing[4] = {0, 0, 0, -1},
                       corners[4][2] = {{0, 0}, {SIDE, 0}, {0, SIDE}, {SIDE, SIDE}};

    OK(IDirect3DDevice9Ex_SetClipPlane(dev, 0, nothing));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_CLIPPLANEENABLE, 1));
    clear(0xFF0000FF);
    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZ));
    draw(WORLD, &whole, D3DPT_TRIANGLESTRIP, 2, corners, 4);
    PIXEL(4, 4, 0x0000FF, 0);
    stretched();
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_CLIPPLANEENABLE, 0));
}

/* Textures whose colours are decoded, and compared with, by shaders. */
static void after_sampling(void)
{
    static const uint16_t grey[4] = {0x7BEF, 0x7BEF, 0x7BEF, 0x7BEF};
    IDirect3DTexture9 *t = texture(2, 2, D3DFMT_R5G6B5, D3DPOOL_DEFAULT, grey, 4), *depth;

    OK(IDirect3DDevice9Ex_CreateTexture(dev, SIDE, SIDE, 1, D3DUSAGE_DEPTHSTENCIL, D3DFMT_D24X8,
                                        D3DPOOL_DEFAULT, &depth, NULL));
    OK(IDirect3DDevice9Ex_SetSamplerState(dev, 0, D3DSAMP_SRGBTEXTURE, TRUE));
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, (IDirect3DBaseTexture9 *)t));
    quad(0, 0, SIDE, SIDE, 0.5f, 0xFFFFFFFF);
    stretched();
    OK(IDirect3DDevice9Ex_SetSamplerState(dev, 0, D3DSAMP_SRGBTEXTURE, FALSE));
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, (IDirect3DBaseTexture9 *)depth));
    quad(0, 0, SIDE, SIDE, 0.5f, 0xFFFFFFFF);
    stretched();
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, NULL));
    IDirect3DTexture9_Release(t);
    IDirect3DTexture9_Release(depth);
}

void check_edges(void)
{
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_LIGHTING, FALSE));
    for (int how = 0; how < HOWS; how++)
        edges_of((enum how)how);
    OK(IDirect3DDevice9Ex_SetViewport(dev, &whole));
    after_planes();
    after_sampling();
}
