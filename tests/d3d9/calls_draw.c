/* SPDX-License-Identifier: MIT */
/* calls_draw.c: buffers, states, textures, shaders, the fixed function: by their pixels. */
#include "calls.h"

struct coloured {
    float x, y, z;
    uint32_t colour;
};

/* Two triangles over the left half, in the clip space. */
static const struct coloured left_half[] = {{-1, 1, 0.5f, 0xFF00FF00},
                                            {0, 1, 0.5f, 0xFF00FF00},
                                            {-1, -1, 0.5f, 0xFF00FF00},
                                            {0, -1, 0.5f, 0xFF00FF00}};
static const uint16_t two_triangles[] = {0, 1, 2, 2, 1, 3};

static void no_light(void)
{
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_LIGHTING, FALSE));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_CULLMODE, D3DCULL_NONE));
}

/* ProcessVertices: places on the screen, colours as they are, and what it refuses. */
static void processed(void)
{
    static const struct {
        float x, y, z;
        DWORD colour;
    } given[4] = {
        {0, 0, 0, 1}, {-1, 1, 0.25f, 0xFF0000FF}, {1, 1, 0.25f, 0xFF0000FF}, {-1, -1, 0.25f, 0xFF0000FF}};
    static const D3DMATRIX half = {.m = {{0.5f, 0, 0, 0}, {0, 0.5f, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
    const struct placed {
        float x, y, z, rhw;
        DWORD colour, specular;
        float u, v;
    } * got;
    IDirect3DVertexBuffer9 *from, *to;
    D3DMATRIX old;
    void *p;

    OK(IDirect3DDevice9Ex_CreateVertexBuffer(dev, sizeof(given), 0, 0, D3DPOOL_DEFAULT, &from, NULL));
    OK(IDirect3DVertexBuffer9_Lock(from, 0, 0, &p, 0));
    memcpy(p, given, sizeof(given));
    OK(IDirect3DVertexBuffer9_Unlock(from));
    OK(IDirect3DDevice9Ex_CreateVertexBuffer(dev, 4 * sizeof(*got), 0,
                                             D3DFVF_XYZRHW | D3DFVF_DIFFUSE | D3DFVF_SPECULAR | D3DFVF_TEX1,
                                             D3DPOOL_SYSTEMMEM, &to, NULL));
    OK(IDirect3DDevice9Ex_GetTransform(dev, D3DTS_WORLD, &old));
    OK(IDirect3DDevice9Ex_SetTransform(dev, D3DTS_WORLD, &half));
    OK(IDirect3DDevice9Ex_SetVertexShader(dev, NULL));
    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZ | D3DFVF_DIFFUSE));
    OK(IDirect3DDevice9Ex_SetStreamSource(dev, 0, from, 0, sizeof(given[0])));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_LIGHTING, FALSE));
    OK(IDirect3DDevice9Ex_ProcessVertices(dev, 1, 1, 3, to, NULL, 0));
    IS(IDirect3DDevice9Ex_ProcessVertices(dev, 2, 1, 3, to, NULL, 0), D3DERR_INVALIDCALL);
    IS(IDirect3DDevice9Ex_ProcessVertices(dev, 1, 2, 3, to, NULL, 0), D3DERR_INVALIDCALL);
    IS(IDirect3DDevice9Ex_ProcessVertices(dev, ~0u, 0, 3, to, NULL, 0), D3DERR_INVALIDCALL);
    IS(IDirect3DDevice9Ex_ProcessVertices(dev, 0, ~0u, 3, to, NULL, 0), D3DERR_INVALIDCALL);
    IS(IDirect3DDevice9Ex_ProcessVertices(dev, 0, 0, 1, from, NULL, 0), D3DERR_INVALIDCALL);
    IS(IDirect3DDevice9Ex_ProcessVertices(dev, 0, 0, 1, NULL, NULL, 0), D3DERR_INVALIDCALL);
    OK(IDirect3DDevice9Ex_ProcessVertices(dev, 0, 0, 0, to, NULL, 0));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_LIGHTING, TRUE));
    IS(IDirect3DDevice9Ex_ProcessVertices(dev, 1, 1, 3, to, NULL, 0), D3DERR_INVALIDCALL);
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_LIGHTING, FALSE));
    OK(IDirect3DVertexBuffer9_Lock(to, 0, 0, &p, D3DLOCK_READONLY));
    got = p;
    TRUE_(got[1].x == SIDE / 4 && got[1].y == SIDE / 4 && got[1].z == 0.25f && got[1].rhw == 1);
    TRUE_(got[1].colour == 0xFF0000FF && !got[1].specular && got[1].u == 0 && got[1].v == 0);
    TRUE_(got[2].x == 3 * SIDE / 4 && got[3].y == 3 * SIDE / 4);
    OK(IDirect3DVertexBuffer9_Unlock(to));
    clear(0xFFFF0000);
    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZRHW | D3DFVF_DIFFUSE | D3DFVF_SPECULAR | D3DFVF_TEX1));
    OK(IDirect3DDevice9Ex_SetStreamSource(dev, 0, to, 0, sizeof(*got)));
    OK(IDirect3DDevice9Ex_DrawPrimitive(dev, D3DPT_TRIANGLELIST, 1, 1));
    PIXEL(SIDE / 4 + 1, SIDE / 4 + 1, 0x0000FF, 0);
    PIXEL(SIDE / 4 - 2, SIDE / 4 - 2, 0xFF0000, 0);
    OK(IDirect3DDevice9Ex_SetTransform(dev, D3DTS_WORLD, &old));
    OK(IDirect3DDevice9Ex_SetStreamSource(dev, 0, NULL, 0, 0));
    IDirect3DVertexBuffer9_Release(from);
    IDirect3DVertexBuffer9_Release(to);
}

void check_buffers(void)
{
    static const D3DPOOL pools[] = {D3DPOOL_DEFAULT, D3DPOOL_SYSTEMMEM};

    no_light();
    for (int i = 0; i < 2; i++) {
        IDirect3DVertexBuffer9 *vb;
        IDirect3DIndexBuffer9 *ib;
        void *p;

        OK(IDirect3DDevice9Ex_CreateVertexBuffer(dev, sizeof(left_half), 0, 0, pools[i], &vb, NULL));
        OK(IDirect3DVertexBuffer9_Lock(vb, 0, 0, &p, 0));
        memcpy(p, left_half, sizeof(left_half));
        OK(IDirect3DVertexBuffer9_Unlock(vb));
        OK(IDirect3DDevice9Ex_CreateIndexBuffer(dev, sizeof(two_triangles), 0, D3DFMT_INDEX16, pools[i], &ib,
                                                NULL));
        OK(IDirect3DIndexBuffer9_Lock(ib, 0, 0, &p, 0));
        memcpy(p, two_triangles, sizeof(two_triangles));
        OK(IDirect3DIndexBuffer9_Unlock(ib));
        OK(IDirect3DDevice9Ex_SetStreamSource(dev, 0, vb, 0, sizeof(left_half[0])));
        OK(IDirect3DDevice9Ex_SetIndices(dev, ib));
        OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZ | D3DFVF_DIFFUSE));
        clear(0xFF000080);
        OK(IDirect3DDevice9Ex_DrawIndexedPrimitive(dev, D3DPT_TRIANGLELIST, 0, 0, 4, 0, 2));
        PIXEL(0, 0, 0x00FF00, 0);
        PIXEL(15, 31, 0x00FF00, 0);
        PIXEL(16, 16, 0x000080, 0);
        clear(0xFF000080);
        OK(IDirect3DDevice9Ex_DrawPrimitive(dev, D3DPT_TRIANGLESTRIP, 0, 2));
        PIXEL(15, 0, 0x00FF00, 0);
        OK(IDirect3DDevice9Ex_DrawPrimitive(dev, D3DPT_TRIANGLELIST, 0, 0)); /* nothing is to be drawn */
        OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLELIST, 0, left_half, sizeof(left_half[0])));
        IS(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLELIST, UINT32_MAX, left_half,
                                              sizeof(left_half[0])),
           D3DERR_INVALIDCALL); /* more than D3DCAPS9 allows */
        IS(IDirect3DDevice9Ex_DrawPrimitive(dev, D3DPT_POINTLIST, 0, 0x1000000), D3DERR_INVALIDCALL);
        OK(IDirect3DDevice9Ex_SetStreamSource(dev, 0, vb, 0, sizeof(left_half[0])));
        /* indices and vertices behind the end are no end of the device */
        OK(IDirect3DDevice9Ex_DrawIndexedPrimitive(dev, D3DPT_TRIANGLELIST, 0, 0, 4, 3, 1000));
        OK(IDirect3DDevice9Ex_DrawPrimitive(dev, D3DPT_TRIANGLELIST, 100000, 10));
        OK(IDirect3DDevice9Ex_SetStreamSource(dev, 0, NULL, 0, 0));
        OK(IDirect3DDevice9Ex_SetIndices(dev, NULL));
        IDirect3DVertexBuffer9_Release(vb);
        IDirect3DIndexBuffer9_Release(ib);
    }
    clear(0xFF000080);
    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZ | D3DFVF_DIFFUSE));
    OK(IDirect3DDevice9Ex_DrawIndexedPrimitiveUP(dev, D3DPT_TRIANGLELIST, 0, 4, 2, two_triangles,
                                                 D3DFMT_INDEX16, left_half, sizeof(left_half[0])));
    PIXEL(3, 3, 0x00FF00, 0);
    PIXEL(20, 3, 0x000080, 0);
    processed();
}

void check_states(void)
{
    no_light();
    clear(0xFF0000FF);
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_ALPHABLENDENABLE, TRUE)); /* half of each */
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_SRCBLEND, D3DBLEND_SRCALPHA));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_DESTBLEND, D3DBLEND_INVSRCALPHA));
    quad(0, 0, SIDE, SIDE, 0.5f, 0x80FF0000);
    PIXEL(5, 5, 0x80007F, 1);
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_ALPHABLENDENABLE, FALSE));
    clear(0xFF000000); /* what is behind is not seen */
    quad(0, 0, 16, SIDE, 0.25f, 0xFFFF0000);
    quad(0, 0, SIDE, SIDE, 0.75f, 0xFF00FF00);
    PIXEL(3, 3, 0xFF0000, 0);
    PIXEL(20, 3, 0x00FF00, 0);
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_COLORWRITEENABLE, D3DCOLORWRITEENABLE_BLUE));
    quad(0, 0, SIDE, SIDE, 0.1f, 0xFFFFFFFF);
    PIXEL(3, 3, 0xFF00FF, 0);
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_COLORWRITEENABLE, 15));
    clear(0xFF000000);
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_ALPHATESTENABLE, TRUE));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_ALPHAFUNC, D3DCMP_GREATER));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_ALPHAREF, 128));
    quad(0, 0, 16, SIDE, 0.5f, 0x40FFFFFF);
    quad(16, 0, SIDE, SIDE, 0.5f, 0xC0FFFFFF);
    PIXEL(3, 3, 0x000000, 0);
    PIXEL(20, 3, 0xFFFFFF, 0);
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_ALPHATESTENABLE, FALSE));
    clear(0xFF000000);
    OK(IDirect3DDevice9Ex_SetScissorRect(dev, &((RECT){4, 4, 8, 8})));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_SCISSORTESTENABLE, TRUE));
    quad(0, 0, SIDE, SIDE, 0.5f, 0xFFFFFFFF);
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_SCISSORTESTENABLE, FALSE));
    PIXEL(4, 4, 0xFFFFFF, 0);
    PIXEL(7, 7, 0xFFFFFF, 0);
    PIXEL(8, 7, 0x000000, 0);
    /* a clear keeps to its rectangles and to the viewport */
    OK(IDirect3DDevice9Ex_Clear(dev, 1, &((D3DRECT){2, 2, 4, 4}), D3DCLEAR_TARGET, 0xFF112233, 1, 0));
    PIXEL(3, 3, 0x112233, 0);
    PIXEL(1, 3, 0x000000, 0);
    OK(IDirect3DDevice9Ex_SetViewport(dev, &((D3DVIEWPORT9){16, 16, 16, 16, 0, 1})));
    OK(IDirect3DDevice9Ex_Clear(dev, 0, NULL, D3DCLEAR_TARGET, 0xFF445566, 1, 0));
    PIXEL(16, 16, 0x445566, 0);
    PIXEL(15, 16, 0x000000, 0);
    /* stencil: counts where something was drawn */
    OK(IDirect3DDevice9Ex_SetViewport(dev, &((D3DVIEWPORT9){0, 0, SIDE, SIDE, 0, 1})));
    OK(IDirect3DDevice9Ex_Clear(dev, 0, NULL, D3DCLEAR_TARGET | D3DCLEAR_ZBUFFER | D3DCLEAR_STENCIL, 0, 1,
                                0));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_STENCILENABLE, TRUE));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_STENCILPASS, D3DSTENCILOP_INCR));
    quad(0, 0, 16, SIDE, 0.5f, 0xFF000000);
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_STENCILFUNC, D3DCMP_EQUAL));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_STENCILREF, 1));
    quad(0, 0, SIDE, SIDE, 0.1f, 0xFF00FFFF);
    PIXEL(3, 3, 0x00FFFF, 0);
    PIXEL(20, 3, 0x000000, 0);
}

void check_textures(void)
{
    static const uint32_t bgra[] = {0xFFFF0000, 0xFF00FF00, 0xFF0000FF, 0xFFFFFFFF};
    static const uint16_t r5g6b5[] = {0xF800, 0x07E0, 0x001F, 0xFFFF},
                          a4r4g4b4[] = {0xFF00, 0xF0F0, 0xF00F, 0xFFFF};
    static const uint8_t l8[] = {0, 64, 128, 255};
    static const uint8_t dxt1[] = {0x00, 0xF8, 0x1F, 0x00, 0x50, 0x50, 0x50, 0x50}; /* red left, blue right */
    static const struct {
        D3DFORMAT format;
        unsigned side, row;
        const void *texels;
        uint32_t want[4];
    } kinds[] = {{D3DFMT_A8R8G8B8, 2, 8, bgra, {0xFF0000, 0x00FF00, 0x0000FF, 0xFFFFFF}},
                 {D3DFMT_X8R8G8B8, 2, 8, bgra, {0xFF0000, 0x00FF00, 0x0000FF, 0xFFFFFF}},
                 {D3DFMT_A8B8G8R8, 2, 8, bgra, {0x0000FF, 0x00FF00, 0xFF0000, 0xFFFFFF}},
                 {D3DFMT_R5G6B5, 2, 4, r5g6b5, {0xFF0000, 0x00FF00, 0x0000FF, 0xFFFFFF}},
                 {D3DFMT_A4R4G4B4, 2, 4, a4r4g4b4, {0xFF0000, 0x00FF00, 0x0000FF, 0xFFFFFF}},
                 {D3DFMT_L8, 2, 2, l8, {0x000000, 0x404040, 0x808080, 0xFFFFFF}},
                 {D3DFMT_DXT1, 4, 8, dxt1, {0xFF0000, 0x0000FF, 0xFF0000, 0x0000FF}}};
    static const D3DPOOL pools[] = {D3DPOOL_DEFAULT};
    IDirect3DTexture9 *system, *video;

    no_light();
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLOROP, D3DTOP_SELECTARG1));
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        for (size_t k = 0; k < sizeof(pools) / sizeof(pools[0]); k++) {
            IDirect3DTexture9 *t = texture(kinds[i].side, kinds[i].side, kinds[i].format, pools[k],
                                           kinds[i].texels, kinds[i].row);

            OK(IDirect3DDevice9Ex_SetTexture(dev, 0, (IDirect3DBaseTexture9 *)t));
            clear(0xFF123456);
            quad(0, 0, SIDE, SIDE, 0.5f, 0xFFFFFFFF);
            PIXEL(4, 4, kinds[i].want[0], 1);
            PIXEL(28, 4, kinds[i].want[1], 1);
            PIXEL(4, 28, kinds[i].want[2], 1);
            PIXEL(28, 28, kinds[i].want[3], 1);
            OK(IDirect3DDevice9Ex_SetTexture(dev, 0, NULL));
            IDirect3DTexture9_Release(t);
        }
    /* from system memory to the driver's */
    system = texture(2, 2, D3DFMT_A8R8G8B8, D3DPOOL_SYSTEMMEM, bgra, 8);
    OK(IDirect3DDevice9Ex_CreateTexture(dev, 2, 2, 1, 0, D3DFMT_A8R8G8B8, D3DPOOL_DEFAULT, &video, NULL));
    OK(IDirect3DDevice9Ex_UpdateTexture(dev, (IDirect3DBaseTexture9 *)system,
                                        (IDirect3DBaseTexture9 *)video));
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, (IDirect3DBaseTexture9 *)system)); /* which Windows draws with */
    quad(0, 0, SIDE, SIDE, 0.9f, 0xFFFFFFFF);
    PIXEL(4, 4, 0xFF0000, 1);
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, (IDirect3DBaseTexture9 *)video));
    OK(IDirect3DDevice9Ex_SetSamplerState(dev, 0, D3DSAMP_MAGFILTER, D3DTEXF_LINEAR));
    quad(0, 0, SIDE, SIDE, 0.5f, 0xFFFFFFFF);
    PIXEL(0, 0, 0x7F7F7F, 12); /* repeated: at the corner all four meet */
    OK(IDirect3DDevice9Ex_SetSamplerState(dev, 0, D3DSAMP_ADDRESSU, D3DTADDRESS_CLAMP));
    OK(IDirect3DDevice9Ex_SetSamplerState(dev, 0, D3DSAMP_ADDRESSV, D3DTADDRESS_CLAMP));
    quad(0, 0, SIDE, SIDE, 0.25f, 0xFFFFFFFF);
    PIXEL(0, 0, 0xFF0000, 0);
    PIXEL(15, 0, 0x847B00, 8);
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, NULL));
    IDirect3DTexture9_Release(system);
    IDirect3DTexture9_Release(video);
}

/* vs_2_0: oPos = v0, oD0 = c4; ps_2_0: oC0 = v0 * c1 */
static const DWORD plain_vs[] = {0xFFFE0200, 0x0200001F, 0x80000000, 0x900F0000, 0x02000001, 0xC00F0000,
                                 0x90E40000, 0x02000001, 0xD00F0000, 0xA0E40004, 0x0000FFFF};
static const DWORD plain_ps[] = {0xFFFF0200, 0x0200001F, 0x80000000, 0x900F0000, 0x03000005, 0x800F0000,
                                 0x90E40000, 0xA0E40001, 0x02000001, 0x800F0800, 0x80E40000, 0x0000FFFF};
/* ps_1_1: mov r0, c1 */
static const DWORD old_ps[] = {0xFFFF0101, 0x00000001, 0x800F0000, 0xA0E40001, 0x0000FFFF};

static void draw_left(void)
{
    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZ | D3DFVF_DIFFUSE));
    OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLESTRIP, 2, left_half, sizeof(left_half[0])));
}

void check_shaders(void)
{
    static const float half[4] = {0.5f, 1, 1, 1}, colour[4] = {1, 0.5f, 0, 1}, green[4] = {0, 1, 0, 1};
    static DWORD code[1 << 17]; /* whatever garbage says of its length, it ends in here */
    UINT size = 0;
    IDirect3DVertexShader9 *vs;
    IDirect3DPixelShader9 *ps, *old;
    IDirect3DVertexShader9 *none = (void *)1;

    no_light();
    OK(IDirect3DDevice9Ex_CreateVertexShader(dev, plain_vs, &vs));
    OK(IDirect3DDevice9Ex_CreatePixelShader(dev, plain_ps, &ps));
    OK(IDirect3DDevice9Ex_CreatePixelShader(dev, old_ps, &old));
    OK(IDirect3DVertexShader9_GetFunction(vs, NULL, &size));
    OK(IDirect3DVertexShader9_GetFunction(vs, code, &size));
    TRUE_(size == sizeof(plain_vs) && !memcmp(code, plain_vs, size));
    OK(IDirect3DDevice9Ex_SetVertexShaderConstantF(dev, 4, colour, 1));
    OK(IDirect3DDevice9Ex_SetPixelShaderConstantF(dev, 1, half, 1));
    OK(IDirect3DDevice9Ex_SetVertexShader(dev, vs));
    OK(IDirect3DDevice9Ex_SetPixelShader(dev, ps));
    clear(0xFF000000);
    draw_left();
    PIXEL(3, 3, 0x808000, 1);
    PIXEL(20, 3, 0x000000, 0);
    /* the fixed function between does not spoil a program's constants */
    OK(IDirect3DDevice9Ex_SetVertexShader(dev, NULL));
    OK(IDirect3DDevice9Ex_SetPixelShader(dev, NULL));
    clear(0xFF000000);
    draw_left();
    PIXEL(3, 3, 0x00FF00, 0);
    OK(IDirect3DDevice9Ex_SetVertexShader(dev, vs));
    OK(IDirect3DDevice9Ex_SetPixelShader(dev, ps));
    clear(0xFF000000);
    draw_left();
    PIXEL(3, 3, 0x808000, 1);
    /* vertices that are transformed go by the fixed function, whatever shader is set */
    OK(IDirect3DDevice9Ex_SetPixelShaderConstantF(dev, 1, green, 1));
    OK(IDirect3DDevice9Ex_SetPixelShader(dev, old));
    clear(0xFF000000);
    quad(0, 0, SIDE, SIDE, 0.5f, 0xFFFFFFFF);
    PIXEL(30, 30, 0x00FF00, 0);
    IS(IDirect3DDevice9Ex_SetVertexShaderConstantF(dev, 255, colour, 2), D3DERR_INVALIDCALL);
    /* what is no shader is refused when it is made */
    memcpy(code, plain_vs, sizeof(plain_vs));
    IS(IDirect3DDevice9Ex_CreatePixelShader(dev, code, (IDirect3DPixelShader9 **)&none), D3DERR_INVALIDCALL);
    memset(code, 0xFF, sizeof(code));
    for (unsigned i = 0; i < 200; i++) {
        memcpy(code, plain_vs, sizeof(plain_vs));
        code[1 + i % 9] ^= 0x9E3779B9u * (i + 1);
        if (IDirect3DDevice9Ex_CreateVertexShader(dev, code, &none) == D3D_OK) {
            OK(IDirect3DDevice9Ex_SetVertexShader(dev, none)); /* then it draws, whatever */
            draw_left();
            OK(IDirect3DDevice9Ex_SetVertexShader(dev, NULL));
            IDirect3DVertexShader9_Release(none);
        } else {
            TRUE_(none == NULL);
        }
    }
    code[0] = 0xFFFE0200;
    code[1] = 0x0000FFFF; /* writes no position */
    IS(IDirect3DDevice9Ex_CreateVertexShader(dev, code, &none), D3DERR_INVALIDCALL);
    OK(IDirect3DDevice9Ex_SetVertexShader(dev, NULL));
    OK(IDirect3DDevice9Ex_SetPixelShader(dev, NULL));
    IDirect3DVertexShader9_Release(vs);
    IDirect3DPixelShader9_Release(ps);
    IDirect3DPixelShader9_Release(old);
}

static D3DMATRIX scaled(float x, float y, float z)
{
    return (D3DMATRIX){{{x, 0, 0, 0, 0, y, 0, 0, 0, 0, z, 0, 0, 0, 0, 1}}};
}

void check_fixed(void)
{
    static const struct {
        float x, y, z, nx, ny, nz;
    } lit[] = {
        {-1, 1, 0.5f, 0, 0, -1}, {1, 1, 0.5f, 0, 0, -1}, {-1, -1, 0.5f, 0, 0, -1}, {1, -1, 0.5f, 0, 0, -1}};
    D3DMATRIX m = scaled(0.5f, 0.5f, 1), one = scaled(1, 1, 1);
    D3DMATERIAL9 material = {.Diffuse = {1, 0.5f, 0.25f, 1}, .Ambient = {1, 1, 1, 1}};
    D3DLIGHT9 light = {.Type = D3DLIGHT_DIRECTIONAL, .Diffuse = {1, 1, 1, 1}, .Direction = {0, 0, 1}};

    no_light();
    OK(IDirect3DDevice9Ex_SetTransform(dev, D3DTS_WORLD, &m));
    clear(0xFF000000);
    draw_left(); /* -0.5 to 0 across and -0.5 to 0.5 down */
    PIXEL(8, 8, 0x00FF00, 0);
    PIXEL(15, 23, 0x00FF00, 0);
    PIXEL(7, 8, 0x000000, 0);
    PIXEL(16, 8, 0x000000, 0);
    PIXEL(8, 24, 0x000000, 0);
    OK(IDirect3DDevice9Ex_SetTransform(dev, D3DTS_WORLD, &one));
    /* the light falls on it straight */
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_LIGHTING, TRUE));
    OK(IDirect3DDevice9Ex_SetMaterial(dev, &material));
    OK(IDirect3DDevice9Ex_SetLight(dev, 3, &light));
    OK(IDirect3DDevice9Ex_LightEnable(dev, 3, TRUE));
    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZ | D3DFVF_NORMAL));
    OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLESTRIP, 2, lit, sizeof(lit[0])));
    PIXEL(3, 3, 0xFF8040, 1);
    light.Direction = (D3DVECTOR){0, 1, 1}; /* slantwise: cos 45 degrees of it */
    OK(IDirect3DDevice9Ex_SetLight(dev, 3, &light));
    OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLESTRIP, 2, lit, sizeof(lit[0])));
    PIXEL(3, 3, 0xB45A2D, 2);
    light = (D3DLIGHT9){.Type = D3DLIGHT_POINT,
                        .Diffuse = {1, 1, 1, 1},
                        .Position = {0, 0, -0.5f},
                        .Range = 100,
                        .Attenuation1 = 1};
    OK(IDirect3DDevice9Ex_SetLight(dev, 3, &light)); /* from 1 away in the middle; the corners get less */
    OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLESTRIP, 2, lit, sizeof(lit[0])));
    PIXEL(0, 0, 0x552B15, 4); /* cos 1/sqrt 3 over a distance of sqrt 3 */
    OK(IDirect3DDevice9Ex_LightEnable(dev, 3, FALSE));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_AMBIENT, 0xFF202020));
    OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLESTRIP, 2, lit, sizeof(lit[0])));
    PIXEL(3, 3, 0x202020, 0);
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_LIGHTING, FALSE));
    /* stages: of two colours */
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_TEXTUREFACTOR, 0xFF804020));
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLORARG1, D3DTA_TFACTOR));
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLOROP, D3DTOP_ADD));
    quad(0, 0, SIDE, SIDE, 0.5f, 0xFF101010);
    PIXEL(3, 3, 0x905030, 1);
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLOROP, D3DTOP_MODULATE2X));
    quad(0, 0, SIDE, SIDE, 0.5f, 0xFF808080);
    PIXEL(3, 3, 0x804020, 2);
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLORARG2, D3DTA_DIFFUSE | D3DTA_COMPLEMENT));
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLOROP, D3DTOP_SELECTARG2));
    quad(0, 0, SIDE, SIDE, 0.5f, 0xFF102030);
    PIXEL(3, 3, 0xEFDFCF, 1);
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLORARG2, D3DTA_DIFFUSE));
    /* fog by depth: linear from 0 to 1 */
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_FOGENABLE, TRUE));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_FOGVERTEXMODE, D3DFOG_LINEAR));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_FOGCOLOR, 0xFFFF0000));
    clear(0xFF000000);
    draw_left(); /* at 0.5 */
    PIXEL(3, 3, 0x807F00, 2);
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_FOGENABLE, FALSE));
}
