/* SPDX-License-Identifier: MIT */
/* d3d9_fail_test.c: the runtime of Direct3D 9 and its user-mode driver without memory. */
#include "test.h"

#define CINTERFACE
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <stdbool.h>
#include <string.h>

#include <d3d9.h>

#include "d3d/fail_rig.h"

HRESULT OpenAdapter(void *open);

enum { SIDE = 16 };

static IDirect3DDevice9Ex *device;

static HRESULT answer; /* of the last call */
#define DOES(call) ((answer = (call)) == D3D_OK)
#define RELEASE(o) ((o) ? (void)IUnknown_Release((IUnknown *)(o)) : (void)0)

static bool draws(void)
{
    static const float points[3][4] = {{0}};
    const DWORD fvf = D3DFVF_XYZW;
    IDirect3DVertexBuffer9 *vertices = NULL;
    IDirect3DTexture9 *texture = NULL;
    IDirect3DStateBlock9 *block = NULL;
    IDirect3DQuery9 *query = NULL;
    D3DLOCKED_RECT rect;
    void *to;
    bool ok = DOES(IDirect3DDevice9Ex_CreateVertexBuffer(device, sizeof(points), 0, fvf, D3DPOOL_DEFAULT,
                                                         &vertices, NULL)) &&
              DOES(IDirect3DVertexBuffer9_Lock(vertices, 0, 0, &to, 0)) &&
              (memcpy(to, points, sizeof(points)), DOES(IDirect3DVertexBuffer9_Unlock(vertices))) &&
              DOES(IDirect3DDevice9Ex_CreateTexture(device, 4, 4, 1, D3DUSAGE_DYNAMIC, D3DFMT_A8R8G8B8,
                                                    D3DPOOL_DEFAULT, &texture, NULL)) &&
              DOES(IDirect3DTexture9_LockRect(texture, 0, &rect, NULL, 0)) &&
              DOES(IDirect3DTexture9_UnlockRect(texture, 0)) &&
              DOES(IDirect3DDevice9Ex_SetTexture(device, 0, (IDirect3DBaseTexture9 *)texture)) &&
              DOES(IDirect3DDevice9Ex_CreateStateBlock(device, D3DSBT_ALL, &block)) &&
              DOES(IDirect3DDevice9Ex_CreateQuery(device, D3DQUERYTYPE_EVENT, &query)) &&
              DOES(IDirect3DDevice9Ex_SetStreamSource(device, 0, vertices, 0, 16)) &&
              DOES(IDirect3DDevice9Ex_SetFVF(device, fvf)) && DOES(IDirect3DDevice9Ex_BeginScene(device)) &&
              DOES(IDirect3DDevice9Ex_DrawPrimitive(device, D3DPT_TRIANGLELIST, 0, 1)) &&
              DOES(IDirect3DDevice9Ex_EndScene(device)) && DOES(IDirect3DStateBlock9_Apply(block)) &&
              DOES(IDirect3DQuery9_Issue(query, D3DISSUE_END));

    RELEASE(query);
    RELEASE(block);
    RELEASE(texture);
    RELEASE(vertices);
    return ok;
}

static bool reads(void)
{
    IDirect3DSurface9 *target = NULL, *copy = NULL;
    D3DLOCKED_RECT rect;
    bool ok = DOES(IDirect3DDevice9Ex_GetRenderTarget(device, 0, &target)) &&
              DOES(IDirect3DDevice9Ex_CreateOffscreenPlainSurface(device, SIDE, SIDE, D3DFMT_X8R8G8B8,
                                                                  D3DPOOL_SYSTEMMEM, &copy, NULL)) &&
              DOES(IDirect3DDevice9Ex_GetRenderTargetData(device, target, copy)) &&
              DOES(IDirect3DSurface9_LockRect(copy, &rect, NULL, D3DLOCK_READONLY)) &&
              DOES(IDirect3DSurface9_UnlockRect(copy));

    RELEASE(copy);
    RELEASE(target);
    return ok;
}

static HRESULT program(void)
{
    D3DPRESENT_PARAMETERS p = {.BackBufferWidth = SIDE,
                               .BackBufferHeight = SIDE,
                               .BackBufferFormat = D3DFMT_X8R8G8B8,
                               .SwapEffect = D3DSWAPEFFECT_DISCARD,
                               .hDeviceWindow = (HWND)1,
                               .Windowed = TRUE};
    IDirect3D9Ex *factory = NULL;
    bool ok;

    device = NULL;
    ok = DOES(Direct3DCreate9Ex(D3D_SDK_VERSION, &factory)) &&
         DOES(IDirect3D9Ex_CreateDeviceEx(factory, 0, D3DDEVTYPE_HAL, (HWND)1,
                                          D3DCREATE_HARDWARE_VERTEXPROCESSING, &p, NULL, &device)) &&
         DOES(IDirect3DDevice9Ex_Clear(device, 0, NULL, D3DCLEAR_TARGET, 0xFF0000FF, 1, 0)) && draws() &&
         reads() && DOES(IDirect3DDevice9Ex_PresentEx(device, NULL, NULL, NULL, NULL, 0));
    RELEASE(device);
    RELEASE(factory);
    return ok ? D3D_OK : answer;
}

TEST(whatever_fails_is_survived)
{
    fail_each_in(program, "OpenAdapter", (void *)OpenAdapter, 30);
}
