/* SPDX-License-Identifier: MIT */
/* calls_rest.c: state blocks, surfaces, what is refused, lives and ends. */
#include "calls.h"

void check_blocks(void)
{
    static const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
    IDirect3DStateBlock9 *block, *all;
    D3DMATERIAL9 material = {.Power = 3}, got;
    float f[4];
    DWORD v;

    OK(IDirect3DDevice9Ex_CreateStateBlock(dev, D3DSBT_ALL, &all));
    OK(IDirect3DDevice9Ex_BeginStateBlock(dev));
    IS(IDirect3DDevice9Ex_BeginStateBlock(dev), D3DERR_INVALIDCALL);
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_ZENABLE, 2));
    OK(IDirect3DDevice9Ex_SetVertexShaderConstantF(dev, 7, a, 1));
    OK(IDirect3DDevice9Ex_SetMaterial(dev, &material));
    OK(IDirect3DDevice9Ex_EndStateBlock(dev, &block));
    OK(IDirect3DDevice9Ex_GetRenderState(dev, D3DRS_ZENABLE, &v)); /* recorded, not set */
    TRUE_(v == 1);
    OK(IDirect3DDevice9Ex_GetMaterial(dev, &got));
    TRUE_(got.Power == 0);
    OK(IDirect3DStateBlock9_Apply(block));
    OK(IDirect3DDevice9Ex_GetRenderState(dev, D3DRS_ZENABLE, &v));
    TRUE_(v == 2);
    OK(IDirect3DDevice9Ex_GetVertexShaderConstantF(dev, 7, f, 1));
    TRUE_(!memcmp(f, a, sizeof(f)));
    OK(IDirect3DDevice9Ex_SetVertexShaderConstantF(dev, 7, b, 1));
    OK(IDirect3DStateBlock9_Capture(block));
    OK(IDirect3DDevice9Ex_SetVertexShaderConstantF(dev, 7, a, 1));
    OK(IDirect3DStateBlock9_Apply(block));
    OK(IDirect3DDevice9Ex_GetVertexShaderConstantF(dev, 7, f, 1));
    TRUE_(!memcmp(f, b, sizeof(f)));
    OK(IDirect3DStateBlock9_Apply(all));
    OK(IDirect3DDevice9Ex_GetRenderState(dev, D3DRS_ZENABLE, &v));
    TRUE_(v == 1);
    OK(IDirect3DDevice9Ex_GetMaterial(dev, &got));
    TRUE_(got.Power == 0);
    IDirect3DStateBlock9_Release(block);
    IDirect3DStateBlock9_Release(all);
}

/* Pictures whose colours lie behind them: red on the left, grey on the right. Each two lines have one of colours, the last one also if
 * it is alone. */
static void planar(D3DFORMAT format, bool turns, UINT height)
{
    const int luma = (int)height, half = (luma + 1) / 2;
    IDirect3DSurface9 *s = NULL, *back;
    D3DLOCKED_RECT l = {0};

    OK(IDirect3DDevice9Ex_CreateOffscreenPlainSurface(dev, 8, height, format, D3DPOOL_DEFAULT, &s, NULL));
    OK(IDirect3DDevice9Ex_GetRenderTarget(dev, 0, &back));
    IS(IDirect3DSurface9_LockRect(s, &l, &((RECT){1, 0, 4, 4}), 0),
       D3DERR_INVALIDCALL); /* a colour has two */
    OK(IDirect3DSurface9_LockRect(s, &l, NULL, 0));
    for (int y = 0; l.pBits && y < luma + half; y++)
        for (int x = 0; x < 8; x++) {
            uint8_t *at = (uint8_t *)l.pBits + y * l.Pitch + x;

            if (y < luma)
                *at = x < 4 ? 81 : 126;
            else if (turns)
                *at = x >= 4 ? 128 : x % 2 ? 240 : 90;
            else /* V in lines of half the pitch, then U */
                *at = x % 4 >= 2 ? 128 : y < luma + half / 2 ? 240 : 90;
        }
    OK(IDirect3DSurface9_UnlockRect(s));
    OK(IDirect3DDevice9Ex_StretchRect(dev, s, NULL, back, NULL, D3DTEXF_POINT));
    PIXEL(2, 2, 0xFFFF0000, 4);
    PIXEL(14, 30, 0xFFFF0000, 4);
    PIXEL(18, 2, 0xFF808080, 4);
    PIXEL(30, 30, 0xFF808080, 4);
    IDirect3DSurface9_Release(back);
    IDirect3DSurface9_Release(s);
}

/* Beside a target of the format NULL only depth is drawn. */
static void no_colours(void)
{
    const D3DFORMAT format = (D3DFORMAT)MAKEFOURCC('N', 'U', 'L', 'L');
    IDirect3DSurface9 *none = NULL, *back;

    OK(IDirect3D9Ex_CheckDeviceFormat(factory, 0, D3DDEVTYPE_HAL, D3DFMT_X8R8G8B8, D3DUSAGE_RENDERTARGET,
                                      D3DRTYPE_SURFACE, format));
    OK(IDirect3DDevice9Ex_CreateRenderTarget(dev, SIDE, SIDE, format, D3DMULTISAMPLE_NONE, 0, FALSE, &none,
                                             NULL));
    OK(IDirect3DDevice9Ex_GetRenderTarget(dev, 0, &back));
    OK(IDirect3DDevice9Ex_Clear(dev, 0, NULL, D3DCLEAR_TARGET | D3DCLEAR_ZBUFFER, 0xFF000080, 1, 0));
    OK(IDirect3DDevice9Ex_SetRenderTarget(dev, 0, none));
    quad(0, 0, SIDE / 2, SIDE, 0.25f, 0xFFFF0000);
    OK(IDirect3DDevice9Ex_SetRenderTarget(dev, 0, back));
    PIXEL(4, 4, 0x000080, 0);
    quad(0, 0, SIDE, SIDE, 0.5f, 0xFF00FF00);
    PIXEL(4, 4, 0x000080, 0); /* behind what nobody saw */
    PIXEL(SIDE - 4, 4, 0x00FF00, 0);
    IDirect3DSurface9_Release(back);
    if (none)
        IDirect3DSurface9_Release(none);
}

void check_surfaces(void)
{
    IDirect3DSurface9 *little, *back, *plain, *level;
    IDirect3DTexture9 *target;
    IDirect3DQuery9 *query;
    D3DLOCKED_RECT l;
    BOOL done = FALSE;
    HRESULT hr;

    planar((D3DFORMAT)MAKEFOURCC('Y', 'V', '1', '2'), false, 8);
    planar((D3DFORMAT)MAKEFOURCC('Y', 'V', '1', '2'), false, 7);
    planar((D3DFORMAT)MAKEFOURCC('N', 'V', '1', '2'), true, 8);
    no_colours();
    OK(IDirect3DDevice9Ex_GetRenderTarget(dev, 0, &back));
    OK(IDirect3DDevice9Ex_CreateRenderTarget(dev, 8, 8, D3DFMT_A8R8G8B8, D3DMULTISAMPLE_NONE, 0, TRUE,
                                             &little, NULL));
    OK(IDirect3DDevice9Ex_ColorFill(dev, little, NULL, 0xFF00FF00));
    OK(IDirect3DDevice9Ex_ColorFill(dev, little, &((RECT){0, 0, 4, 8}), 0xFFFF0000));
    clear(0xFF000000);
    OK(IDirect3DDevice9Ex_StretchRect(dev, little, NULL, back, &((RECT){0, 0, 16, 16}), D3DTEXF_POINT));
    PIXEL(7, 15, 0xFF0000, 0);
    PIXEL(8, 0, 0x00FF00, 0);
    PIXEL(16, 0, 0x000000, 0);
    /* a surface is locked where the device drew, and what is written there is drawn with */
    OK(IDirect3DSurface9_LockRect(little, &l, NULL, 0));
    TRUE_(((uint32_t *)l.pBits)[0] == 0xFFFF0000 && ((uint32_t *)l.pBits)[7] == 0xFF00FF00);
    ((uint32_t *)l.pBits)[7] = 0xFF0000FF;
    OK(IDirect3DSurface9_UnlockRect(little));
    IS(IDirect3DSurface9_UnlockRect(little), D3DERR_INVALIDCALL);
    OK(IDirect3DDevice9Ex_StretchRect(dev, little, &((RECT){7, 0, 8, 1}), back, &((RECT){16, 16, 32, 32}),
                                      D3DTEXF_NONE));
    PIXEL(20, 20, 0x0000FF, 0);
    /* a level of a texture as the target, and then the texture */
    OK(IDirect3DDevice9Ex_CreateTexture(dev, SIDE, SIDE, 1, D3DUSAGE_RENDERTARGET, D3DFMT_X8R8G8B8,
                                        D3DPOOL_DEFAULT, &target, NULL));
    OK(IDirect3DTexture9_GetSurfaceLevel(target, 0, &level));
    OK(IDirect3DDevice9Ex_SetDepthStencilSurface(dev, NULL));
    OK(IDirect3DDevice9Ex_SetRenderTarget(dev, 0, level));
    OK(IDirect3DDevice9Ex_Clear(dev, 0, NULL, D3DCLEAR_TARGET, 0xFF778899, 1, 0));
    PIXEL(31, 31, 0x778899, 0);
    OK(IDirect3DDevice9Ex_SetRenderTarget(dev, 0, back));
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, (IDirect3DBaseTexture9 *)target));
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLOROP, D3DTOP_SELECTARG1));
    quad(0, 0, SIDE, SIDE, 0.5f, 0xFFFFFFFF);
    PIXEL(9, 9, 0x778899, 0);
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, NULL));
    IDirect3DSurface9_Release(level);
    IDirect3DTexture9_Release(target);
    OK(IDirect3DDevice9Ex_CreateOffscreenPlainSurface(dev, 8, 8, D3DFMT_X8R8G8B8, D3DPOOL_DEFAULT, &plain,
                                                      NULL));
    IS(IDirect3DDevice9Ex_GetRenderTargetData(dev, little, plain), D3DERR_INVALIDCALL);
    IDirect3DSurface9_Release(plain);
    OK(IDirect3DDevice9Ex_CreateQuery(dev, D3DQUERYTYPE_EVENT, &query));
    OK(IDirect3DQuery9_Issue(query, D3DISSUE_END));
    for (int i = 0; i < 10000000; i++) {
        hr = IDirect3DQuery9_GetData(query, &done, sizeof(done), D3DGETDATA_FLUSH);
        if (hr != S_FALSE)
            break;
    }
    IS(hr, S_OK);
    TRUE_(done);
    IDirect3DQuery9_Release(query);
    IDirect3DSurface9_Release(little);
    IDirect3DSurface9_Release(back);
}

typedef HRESULT(WINAPI says)(const char *file, int line, uintptr_t arg, uintptr_t id, const char *message,
                             void *context);
struct validator {
    struct {
        HRESULT(WINAPI *QueryInterface)(struct validator *v, REFIID riid, void **out);
        ULONG(WINAPI *AddRef)(struct validator *v);
        ULONG(WINAPI *Release)(struct validator *v);
        HRESULT(WINAPI *Begin)(struct validator *v, says *callback, void *context, uintptr_t arg);
        HRESULT(WINAPI *Instruction)
        (struct validator *v, const char *file, int line, const DWORD *tokens, UINT count);
        HRESULT(WINAPI *End)(struct validator *v);
    } const *vtbl;
};
struct validator *WINAPI Direct3DShaderValidatorCreate9(void);

static HRESULT WINAPI heard(const char *file, int line, uintptr_t arg, uintptr_t id, const char *message,
                            void *context)
{
    TRUE_(arg == 7 && message != NULL);
    *(uintptr_t *)context = id;
    return S_OK;
}

/* A pixel shader 3.0 reads what it declared: one instruction after another is checked, and the end tells. */
static void validated(void)
{
    static const IID unknown = {0, 0, 0, {0xC0, 0, 0, 0, 0, 0, 0, 0x46}}, other = {1, 0, 0, {0}};
    static const DWORD version[] = {D3DPS_VERSION(3, 0)}, vs[] = {D3DVS_VERSION(3, 0)};
    static const DWORD dcl[] = {0x0200001F, 0x80000005, 0x900F0001},
                       wild[] = {0x0200001F, 0x80000005, 0x900F000A};
    static const DWORD mov[] = {0x02000001, 0x800F0800, 0x90E40001}, end[] = {0xFFFF};
    static const DWORD def[] = {0x05000051, 0xA00F0000, 0x90000002, 0x90000003, 0, 0},
                       defi[] = {0x05000030, 0xF00F0000, 0x90000002, 0x90000003, 0, 0};
    static const struct {
        const DWORD *tokens;
        UINT count;
        uintptr_t id; /* 0: nothing is wrong */
    } rows[] = {{dcl, 3, 0}, {wild, 3, 0x12C}, {mov, 3, 0x167}, {def, 6, 0}, {defi, 6, 0}, {end, 1, 0}};
    struct validator *v = Direct3DShaderValidatorCreate9();
    uintptr_t id;
    void *same;

    OK(v->vtbl->QueryInterface(v, &unknown, &same));
    TRUE_(same == v && v->vtbl->Release(v) == 1);
    IS(v->vtbl->QueryInterface(v, &other, &same), E_NOINTERFACE);
    IS(v->vtbl->Instruction(v, NULL, 0, version, 1), E_FAIL);
    IS(v->vtbl->End(v), E_FAIL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        id = 0;
        OK(v->vtbl->Begin(v, heard, &id, 7));
        OK(v->vtbl->Instruction(v, NULL, 0, version, 1));
        OK(v->vtbl->Instruction(v, "file", 2, rows[i].tokens, rows[i].count));
        TRUE_(id == rows[i].id);
        IS(v->vtbl->End(v), id ? E_FAIL : S_OK);
    }
    OK(v->vtbl->Begin(
        v, heard, &id,
        7)); /* what was declared before is not declared now, and reads of a vertex shader are others' */
    OK(v->vtbl->Instruction(v, NULL, 0, version, 1));
    OK(v->vtbl->Instruction(v, NULL, 0, dcl, 3));
    OK(v->vtbl->Instruction(v, NULL, 0, mov, 3));
    OK(v->vtbl->End(v));
    OK(v->vtbl->Begin(v, NULL, NULL, 7));
    OK(v->vtbl->Instruction(v, NULL, 0, vs, 1));
    OK(v->vtbl->Instruction(v, NULL, 0, mov, 3));
    IS(v->vtbl->Begin(v, heard, &id, 7), E_FAIL);
    TRUE_(id == 0xEB);
    IS(v->vtbl->End(v), E_FAIL);
    OK(v->vtbl->Begin(v, heard, &id, 7));
    IS(v->vtbl->Instruction(v, NULL, 0, dcl, 3), E_FAIL); /* no version */
    TRUE_(id == 0xF0);
    IS(v->vtbl->Instruction(v, NULL, 0, version, 1), E_FAIL);
    IS(v->vtbl->End(v), E_FAIL);
    TRUE_(v->vtbl->Release(v) == 0);
}

void check_errors(void)
{
    IDirect3DTexture9 *t = (void *)1;
    IDirect3DVolumeTexture9 *volume = (void *)1;
    IDirect3DVertexBuffer9 *vb;
    IDirect3DVertexDeclaration9 *decl;
    IDirect3DSurface9 *s;
    D3DVERTEXELEMENT9 bad[] = {{0, 1, D3DDECLTYPE_FLOAT3, 0, D3DDECLUSAGE_POSITION, 0}, D3DDECL_END()};
    D3DLOCKED_RECT l;
    void *p;

    validated();
    IS(IDirect3DDevice9Ex_CreateTexture(dev, 0, 4, 1, 0, D3DFMT_A8R8G8B8, D3DPOOL_DEFAULT, &t, NULL),
       D3DERR_INVALIDCALL);
    TRUE_(t == NULL);
    IS(IDirect3DDevice9Ex_CreateTexture(dev, 4, 4, 9, 0, D3DFMT_A8R8G8B8, D3DPOOL_DEFAULT, &t, NULL),
       D3DERR_INVALIDCALL);
    IS(IDirect3DDevice9Ex_CreateTexture(dev, 4, 4, 1, 0, D3DFMT_A8R8G8B8, D3DPOOL_MANAGED, &t, NULL),
       D3DERR_INVALIDCALL);
    IS(IDirect3DDevice9Ex_CreateTexture(dev, 5, 5, 1, 0, D3DFMT_DXT1, D3DPOOL_DEFAULT, &t, NULL),
       D3DERR_INVALIDCALL);
    IS(IDirect3DDevice9Ex_CreateTexture(dev, 4, 4, 1, 0, D3DFMT_P8, D3DPOOL_DEFAULT, &t, NULL),
       D3DERR_INVALIDCALL);
    IS(IDirect3DDevice9Ex_CreateVolumeTexture(dev, 4, 4, 0, 1, 0, D3DFMT_A8R8G8B8, D3DPOOL_DEFAULT, &volume,
                                              NULL),
       D3DERR_INVALIDCALL);
    IS(IDirect3DDevice9Ex_CreateVolumeTexture(dev, 4, 4, 4, 1, D3DUSAGE_RENDERTARGET, D3DFMT_A8R8G8B8,
                                              D3DPOOL_DEFAULT, &volume, NULL),
       D3DERR_INVALIDCALL);
    IS(IDirect3DDevice9Ex_CreateVertexBuffer(dev, 0, 0, 0, D3DPOOL_DEFAULT, &vb, NULL), D3DERR_INVALIDCALL);
    IS(IDirect3DDevice9Ex_CreateVertexDeclaration(dev, bad, &decl), E_FAIL);
    IS(IDirect3DDevice9Ex_DrawPrimitive(dev, D3DPT_TRIANGLELIST, 0, 1),
       D3DERR_INVALIDCALL); /* without a declaration */
    IS(IDirect3DDevice9Ex_EndScene(dev), D3DERR_INVALIDCALL);
    IS(IDirect3DDevice9Ex_SetRenderTarget(dev, 0, NULL), D3DERR_INVALIDCALL);
    IS(IDirect3DDevice9Ex_SetRenderTarget(dev, 4, NULL), D3DERR_INVALIDCALL);
    OK(IDirect3DDevice9Ex_CreateTexture(dev, 8, 8, 1, 0, D3DFMT_A8R8G8B8, D3DPOOL_DEFAULT, &t, NULL));
    IS(IDirect3DTexture9_LockRect(t, 0, &l, NULL, 0),
       D3DERR_INVALIDCALL); /* of the default pool, and not dynamic */
    IDirect3DTexture9_Release(t);
    OK(IDirect3DDevice9Ex_CreateTexture(dev, 8, 8, 1, 0, D3DFMT_A8R8G8B8, D3DPOOL_SYSTEMMEM, &t, NULL));
    OK(IDirect3DTexture9_LockRect(t, 0, &l, &((RECT){0, 0, 9, 1}), 0)); /* in memory nobody minds */
    OK(IDirect3DTexture9_UnlockRect(t, 0));
    IS(IDirect3DTexture9_LockRect(t, 0, &l, &((RECT){0, 0, 9, 1}), D3DLOCK_DISCARD | D3DLOCK_READONLY),
       D3DERR_INVALIDCALL);
    OK(IDirect3DTexture9_LockRect(t, 0, &l, NULL, 0));
    IS(IDirect3DTexture9_LockRect(t, 0, &l, NULL, 0), D3DERR_INVALIDCALL);
    OK(IDirect3DTexture9_UnlockRect(t, 0));
    OK(IDirect3DTexture9_UnlockRect(t, 0)); /* is no error, other than of surfaces */
    OK(IDirect3DTexture9_GetSurfaceLevel(t, 0, &s));
    IS(IDirect3DDevice9Ex_SetRenderTarget(dev, 0, s), D3DERR_INVALIDCALL);
    IDirect3DSurface9_Release(s);
    IDirect3DTexture9_Release(t);
    OK(IDirect3DDevice9Ex_CreateVertexBuffer(dev, 16, 0, 0, D3DPOOL_DEFAULT, &vb, NULL));
    IS(IDirect3DVertexBuffer9_Lock(vb, 8, 16, &p, 0), D3DERR_INVALIDCALL);
    IDirect3DVertexBuffer9_Release(vb);
    OK(IDirect3D9Ex_CheckDeviceFormat(factory, 0, D3DDEVTYPE_HAL, D3DFMT_X8R8G8B8, 0, D3DRTYPE_VOLUMETEXTURE,
                                      D3DFMT_A8R8G8B8));
    IS(IDirect3D9Ex_CheckDeviceFormat(factory, 0, D3DDEVTYPE_HAL, D3DFMT_X8R8G8B8, 0, D3DRTYPE_TEXTURE,
                                      D3DFMT_P8),
       D3DERR_NOTAVAILABLE);
    IS(IDirect3DDevice9Ex_CreateQuery(dev, D3DQUERYTYPE_VCACHE, NULL), D3DERR_NOTAVAILABLE);
    IS(IDirect3DDevice9Ex_SetMaximumFrameLatency(dev, 31), D3DERR_INVALIDCALL);
    OK(IDirect3DDevice9Ex_WaitForVBlank(dev, 0));
}

/* A device that is not Ex, whose managed textures outlive Reset; and many devices, one after another. */
void check_life(void)
{
    static const uint32_t texels[] = {0xFF123456, 0xFF123456, 0xFF123456, 0xFF123456};
    IDirect3D9 *plain = Direct3DCreate9(D3D_SDK_VERSION);
    D3DPRESENT_PARAMETERS p = {.BackBufferWidth = SIDE,
                               .BackBufferHeight = SIDE,
                               .SwapEffect = D3DSWAPEFFECT_DISCARD,
                               .hDeviceWindow = (HWND)(uintptr_t)1,
                               .EnableAutoDepthStencil = TRUE,
                               .AutoDepthStencilFormat = D3DFMT_D16,
                               .Windowed = TRUE};
    IDirect3DTexture9 *t;
    IDirect3DVertexBuffer9 *vb;

    TRUE_(plain != NULL);
    if (!plain)
        return;
    OK(IDirect3D9_CreateDevice(plain, 0, D3DDEVTYPE_HAL, p.hDeviceWindow, D3DCREATE_SOFTWARE_VERTEXPROCESSING,
                               &p, (IDirect3DDevice9 **)&dev));
    t = texture(2, 2, D3DFMT_A8R8G8B8, D3DPOOL_MANAGED, texels, 8);
    OK(IDirect3DDevice9Ex_CreateVertexBuffer(dev, 16, 0, 0, D3DPOOL_DEFAULT, &vb, NULL));
    IS(IDirect3DDevice9_Reset((IDirect3DDevice9 *)dev, &p),
       D3DERR_INVALIDCALL); /* it holds the default pool */
    IDirect3DVertexBuffer9_Release(vb);
    OK(IDirect3DDevice9_Reset((IDirect3DDevice9 *)dev, &p));
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, (IDirect3DBaseTexture9 *)t));
    clear(0);
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLOROP, D3DTOP_SELECTARG1));
    quad(0, 0, SIDE, SIDE, 0.5f, 0xFFFFFFFF);
    PIXEL(1, 1, 0x123456, 0);
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, NULL));
    IDirect3DTexture9_Release(t);
    OK(IDirect3DDevice9_Present((IDirect3DDevice9 *)dev, NULL, NULL, NULL, NULL));
    TRUE_(IDirect3DDevice9Ex_Release(dev) == 0);
    for (int i = 0; i < 20; i++) {
        OK(IDirect3D9_CreateDevice(plain, 0, D3DDEVTYPE_HAL, p.hDeviceWindow,
                                   D3DCREATE_SOFTWARE_VERTEXPROCESSING, &p, (IDirect3DDevice9 **)&dev));
        TRUE_(dev && IDirect3DDevice9Ex_Release(dev) == 0);
    }
    TRUE_(IDirect3D9_Release(plain) == 0);
}
