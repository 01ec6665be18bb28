/* SPDX-License-Identifier: MIT */
/* d3d9.c: the validation programs that need Direct3D 9's runtime: one Windows program, which is the test that it is called as.
 *
 *   d3d9_fixedfunc_wvp_triangle.exe ─▶ its row in `tests` ─▶ PASS, SKIP with a reason, or FAIL with what was not so
 */
#define CINTERFACE
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <stdbool.h>
#include <stdint.h>

#include <d3d9.h>

#include "program.h"

static IDirect3D9Ex *factory;
static IDirect3DDevice9Ex *dev;

static void open_device(void)
{
    D3DPRESENT_PARAMETERS p = {.BackBufferWidth = SIDE,
                               .BackBufferHeight = SIDE,
                               .BackBufferFormat = D3DFMT_X8R8G8B8,
                               .SwapEffect = D3DSWAPEFFECT_DISCARD,
                               .Windowed = TRUE};

    p.hDeviceWindow =
        CreateWindowA("static", name, WS_OVERLAPPEDWINDOW, 0, 0, 100, 100, NULL, NULL, NULL, NULL);
    if (!p.hDeviceWindow)
        p.hDeviceWindow = GetDesktopWindow();
    OK(Direct3DCreate9Ex(D3D_SDK_VERSION, &factory));
    OK(IDirect3D9Ex_CreateDeviceEx(factory, 0, D3DDEVTYPE_HAL, p.hDeviceWindow,
                                   D3DCREATE_HARDWARE_VERTEXPROCESSING, &p, NULL, &dev));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_CULLMODE, D3DCULL_NONE));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_LIGHTING, FALSE));
}

static void expect(unsigned x, unsigned y, uint32_t want)
{
    IDirect3DSurface9 *target, *copy;
    D3DLOCKED_RECT l;
    uint32_t got;

    OK(IDirect3DDevice9Ex_GetRenderTarget(dev, 0, &target));
    OK(IDirect3DDevice9Ex_CreateOffscreenPlainSurface(dev, SIDE, SIDE, D3DFMT_X8R8G8B8, D3DPOOL_SYSTEMMEM,
                                                      &copy, NULL));
    OK(IDirect3DDevice9Ex_GetRenderTargetData(dev, target, copy));
    OK(IDirect3DSurface9_LockRect(copy, &l, NULL, D3DLOCK_READONLY));
    got = *(uint32_t *)(void *)((uint8_t *)l.pBits + (size_t)y * (size_t)l.Pitch + 4 * x) & 0xFFFFFF;
    IDirect3DSurface9_UnlockRect(copy);
    IDirect3DSurface9_Release(copy);
    IDirect3DSurface9_Release(target);
    for (int c = 0; c < 24; c += 8)
        if (abs((int)(got >> c & 255) - (int)(want >> c & 255)) > 2)
            FAIL("pixel %u,%u is %06X, not %06X", x, y, (unsigned)got, (unsigned)want);
}

/* A world that shrinks to a half, a view that moves to the right by a half, a projection that flattens nothing. */
static void transform(void)
{
    const D3DMATRIX world = {{{0.5f, 0, 0, 0, 0, 0.5f, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}}},
                    view = {{{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0.5f, 0, 0, 1}}},
                    projection = {{{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0.5f, 0, 0, 0, 0, 1}}};

    OK(IDirect3DDevice9Ex_SetTransform(dev, D3DTS_WORLD, &world));
    OK(IDirect3DDevice9Ex_SetTransform(dev, D3DTS_VIEW, &view));
    OK(IDirect3DDevice9Ex_SetTransform(dev, D3DTS_PROJECTION, &projection));
}

static void wvp_triangle(void)
{
    const struct {
        float x, y, z;
        uint32_t colour;
    } v[] = {{-1, -1, 0.5f, 0xFFFF0000}, {-1, 3, 0.5f, 0xFFFF0000}, {3, -1, 0.5f, 0xFFFF0000}};

    open_device();
    transform();
    OK(IDirect3DDevice9Ex_Clear(dev, 0, NULL, D3DCLEAR_TARGET, 0xFF0000FF, 1, 0));
    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZ | D3DFVF_DIFFUSE));
    OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLELIST, 1, v, sizeof(v[0])));
    expect(SIDE / 4, SIDE / 2, 0x0000FF);     /* left of it */
    expect(SIDE * 5 / 8, SIDE / 2, 0xFF0000); /* x 0.25, y 0 */
    expect(SIDE * 5 / 8, SIDE - 2, 0x0000FF); /* below: y -0.5 is where it begins */
}

static void textured_wvp(void)
{
    static const uint32_t texels[4] = {0xFFFF0000, 0xFF00FF00, 0xFF0000FF, 0xFFFFFFFF};
    const struct {
        float x, y, z, u, v;
    } v[] = {{-1, 1, 0.5f, 0, 0}, {1, 1, 0.5f, 1, 0}, {-1, -1, 0.5f, 0, 1}, {1, -1, 0.5f, 1, 1}};
    IDirect3DTexture9 *t;
    D3DLOCKED_RECT l;

    open_device();
    transform();
    OK(IDirect3DDevice9Ex_CreateTexture(dev, 2, 2, 1, D3DUSAGE_DYNAMIC, D3DFMT_A8R8G8B8, D3DPOOL_DEFAULT, &t,
                                        NULL));
    OK(IDirect3DTexture9_LockRect(t, 0, &l, NULL, 0));
    for (int y = 0; y < 2; y++)
        memcpy((uint8_t *)l.pBits + y * l.Pitch, texels + 2 * y, 8);
    OK(IDirect3DTexture9_UnlockRect(t, 0));
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, (IDirect3DBaseTexture9 *)t));
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLOROP, D3DTOP_SELECTARG1));
    OK(IDirect3DDevice9Ex_Clear(dev, 0, NULL, D3DCLEAR_TARGET, 0xFF404040, 1, 0));
    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZ | D3DFVF_TEX1));
    OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLESTRIP, 2, v, sizeof(v[0])));
    expect(SIDE / 4, SIDE / 2, 0x404040);
    for (unsigned i = 0; i < 4; i++) /* x from 0 to 1 of the clip space, y from -0.5 to 0.5 */
        expect(SIDE * (5 + 2 * (i % 2)) / 8, SIDE * (3 + 2 * (i / 2)) / 8, texels[i] & 0xFFFFFF);
}

static void lighting_directional(void)
{
    const struct {
        float x, y, z, nx, ny, nz;
    } v[] = {
        {-1, 1, 0.5f, 0, 0, -1}, {1, 1, 0.5f, 0, 0, -1}, {-1, -1, 0.5f, 0, 0, -1}, {1, -1, 0.5f, 0, 0, -1}};
    const D3DMATERIAL9 material = {.Diffuse = {1, 0.5f, 0, 1}, .Ambient = {1, 1, 1, 1}};
    D3DLIGHT9 light = {.Type = D3DLIGHT_DIRECTIONAL, .Diffuse = {1, 1, 1, 1}, .Direction = {0, 0, 1}};

    open_device();
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_LIGHTING, TRUE));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_AMBIENT, 0xFF000033));
    OK(IDirect3DDevice9Ex_SetMaterial(dev, &material));
    OK(IDirect3DDevice9Ex_LightEnable(dev, 0, TRUE));
    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZ | D3DFVF_NORMAL));
    for (int away = 0; away < 2; away++) {
        light.Direction.z = away ? -1 : 1;
        OK(IDirect3DDevice9Ex_SetLight(dev, 0, &light));
        OK(IDirect3DDevice9Ex_Clear(dev, 0, NULL, D3DCLEAR_TARGET, 0xFF404040, 1, 0));
        OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLESTRIP, 2, v, sizeof(v[0])));
        expect(SIDE / 2, SIDE / 2, away ? 0x000033 : 0xFF8033); /* the ambient light alone, or both */
    }
}

/* The scan line stays on the display, and moves. */
static void raster_status_sanity(void)
{
    D3DDISPLAYMODE mode;
    UINT low = ~0u, high = 0;

    open_device();
    OK(IDirect3D9Ex_GetAdapterDisplayMode(factory, 0, &mode));
    for (DWORD start = GetTickCount(); high <= low + mode.Height / 8 && GetTickCount() - start < PATIENCE_MS;
         Sleep(1)) {
        D3DRASTER_STATUS r = {0, ~0u};

        OK(IDirect3DDevice9Ex_GetRasterStatus(dev, 0, &r));
        if (r.ScanLine == ~0u || r.ScanLine > 2 * mode.Height)
            FAIL("scan line %u of %u", r.ScanLine, mode.Height);
        if (r.InVBlank)
            continue;
        low = r.ScanLine < low ? r.ScanLine : low;
        high = r.ScanLine > high ? r.ScanLine : high;
    }
    if (high <= low + mode.Height / 8)
        FAIL("the scan line stays between %u and %u", low, high);
}

/* The raster begins anew as often as the display is refreshed. */
static void raster_status_pacing(void)
{
    UINT last = 0, frames = 0;

    open_device();
    for (DWORD start = GetTickCount(); frames < 30; Sleep(1)) {
        D3DRASTER_STATUS r;

        OK(IDirect3DDevice9Ex_GetRasterStatus(dev, 0, &r));
        frames += !r.InVBlank && r.ScanLine < last;
        last = r.InVBlank ? last : r.ScanLine;
        if (GetTickCount() - start > PATIENCE_MS)
            FAIL("%u frames in %u ms", frames, PATIENCE_MS);
    }
}

#define PROMPT(call)                                                                                         \
    do {                                                                                                     \
        DWORD from_ = GetTickCount();                                                                        \
        OK(call);                                                                                            \
        if (GetTickCount() - from_ > PROMPT_MS)                                                              \
            FAIL("%s takes %lu ms", #call, (unsigned long)(GetTickCount() - from_));                         \
    } while (0)

/* What a compositor asks every frame. */
static void dwm_ddi_sanity(void)
{
    IDirect3DTexture9 *t;
    INT priority = 0;
    UINT latency = 0;

    open_device();
    OK(IDirect3DDevice9Ex_CreateTexture(dev, 16, 16, 1, D3DUSAGE_RENDERTARGET, D3DFMT_A8R8G8B8,
                                        D3DPOOL_DEFAULT, &t, NULL));
    for (int i = 0; i < 30; i++) {
        OK(IDirect3DDevice9Ex_Clear(dev, 0, NULL, D3DCLEAR_TARGET, 0xFF000000u | (unsigned)i, 1, 0));
        PROMPT(IDirect3DDevice9Ex_CheckDeviceState(dev, NULL));
        PROMPT(IDirect3DDevice9Ex_CheckResourceResidency(dev, (IDirect3DResource9 **)&t, 1));
        PROMPT(IDirect3DDevice9Ex_SetGPUThreadPriority(dev, i % 15 - 7));
        PROMPT(IDirect3DDevice9Ex_GetGPUThreadPriority(dev, &priority));
        PROMPT(IDirect3DDevice9Ex_SetMaximumFrameLatency(dev, 1 + (UINT)i % 16));
        PROMPT(IDirect3DDevice9Ex_GetMaximumFrameLatency(dev, &latency));
        if (priority != i % 15 - 7 || latency != 1 + (UINT)i % 16)
            FAIL("priority %d, latency %u in round %d", priority, latency, i);
        PROMPT(IDirect3DDevice9Ex_WaitForVBlank(dev, 0));
        PROMPT(IDirect3DDevice9Ex_PresentEx(dev, NULL, NULL, NULL, NULL, 0));
    }
    IDirect3DTexture9_Release(t);
}

/* A query after each submission: done in their order, asked without waiting; presents between them. */
static void submit_fence_stress(void)
{
    enum { QUERIES = 16, ROUNDS = 200 };
    IDirect3DQuery9 *q[QUERIES];
    BOOL done;

    open_device();
    for (int i = 0; i < QUERIES; i++)
        OK(IDirect3DDevice9Ex_CreateQuery(dev, D3DQUERYTYPE_EVENT, &q[i]));
    for (int i = 0; i < ROUNDS; i++) {
        IDirect3DQuery9 *this = q[i % QUERIES], *before = q[(i + QUERIES - 1) % QUERIES];
        HRESULT hr;

        OK(IDirect3DDevice9Ex_Clear(dev, 0, NULL, D3DCLEAR_TARGET, 0xFF000000u | (unsigned)i, 1, 0));
        OK(IDirect3DQuery9_Issue(this, D3DISSUE_END));
        hr = IDirect3DQuery9_GetData(this, &done, sizeof(done), 0);
        if (hr != S_OK && hr != S_FALSE)
            FAIL("GetData: 0x%08lX", (unsigned long)hr);
        if (hr == S_OK && i && IDirect3DQuery9_GetData(before, &done, sizeof(done), 0) != S_OK)
            FAIL("query %d is done before query %d", i, i - 1);
        if (i % 8 == 7)
            OK(IDirect3DDevice9Ex_PresentEx(dev, NULL, NULL, NULL, NULL, 0));
    }
    for (DWORD start = GetTickCount();
         IDirect3DQuery9_GetData(q[(ROUNDS - 1) % QUERIES], &done, sizeof(done), D3DGETDATA_FLUSH) == S_FALSE;
         Sleep(1))
        if (GetTickCount() - start > PATIENCE_MS)
            FAIL("the last query is not done in %u ms", PATIENCE_MS);
    for (int i = 0; i < QUERIES; i++)
        IDirect3DQuery9_Release(q[i]);
}

/* The documentation of both words: the work of this device hung the adapter; Reset is refused, and a new device works. */
static void device_hung(void)
{
    /* ps_3_0: four loops of 255 rounds in each other, of which nothing is left out, since they count */
    static const DWORD endless[] = {
        0xFFFF0300, 0x05000051, 0xA00F0001, 0x3F800000, 0,          0,          0,          0x05000030,
        0xF00F0000, 255,        0,          0,          0,          0x02000001, 0x800F0000, 0xA0000000,
        0x01000026, 0xF0E40000, 0x01000026, 0xF0E40000, 0x01000026, 0xF0E40000, 0x01000026, 0xF0E40000,
        0x03000002, 0x80010000, 0x80000000, 0xA0000001, 0x02000007, 0x80010000, 0x80000000, 0x00000027,
        0x00000027, 0x00000027, 0x00000027, 0x02000001, 0x800F0800, 0x80000000, 0x0000FFFF};
    enum { LARGE = 2048 };
    const struct {
        float x, y, z, w;
        DWORD colour;
    } v[] = {{0, 0, 0.5f, 1, ~0u}, {2 * LARGE, 0, 0.5f, 1, ~0u}, {0, 2 * LARGE, 0.5f, 1, ~0u}};
    IDirect3DPixelShader9 *ps;
    IDirect3DSurface9 *large;
    HRESULT hr = S_OK, state;

    open_device();
    OK(IDirect3DDevice9Ex_CreateRenderTarget(dev, LARGE, LARGE, D3DFMT_A8R8G8B8, D3DMULTISAMPLE_NONE, 0,
                                             FALSE, &large, NULL));
    OK(IDirect3DDevice9Ex_CreatePixelShader(dev, endless, &ps));
    OK(IDirect3DDevice9Ex_SetRenderTarget(dev, 0, large));
    OK(IDirect3DDevice9Ex_SetPixelShader(dev, ps));
    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZRHW | D3DFVF_DIFFUSE));
    OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLELIST, 1, v, sizeof(v[0])));
    for (DWORD start = GetTickCount(); hr == S_OK && GetTickCount() - start < PATIENCE_MS;)
        hr = IDirect3DDevice9Ex_PresentEx(dev, NULL, NULL, NULL, NULL, 0);
    state = IDirect3DDevice9Ex_CheckDeviceState(dev, NULL);
    if (hr != D3DERR_DEVICEHUNG || state != D3DERR_DEVICEHUNG)
        FAIL("Present: 0x%08lX, CheckDeviceState: 0x%08lX", (unsigned long)hr, (unsigned long)state);
    IDirect3DPixelShader9_Release(ps);
    IDirect3DSurface9_Release(large);
    IDirect3DDevice9Ex_Release(dev);
    IDirect3D9Ex_Release(factory);
    wvp_triangle(); /* on a new device */
}

/* ---- shared surfaces ------------------------------------------------------------------ */

static char folder[MAX_PATH]; /* of this program */

static void expect_of(IDirect3DSurface9 *surface, uint32_t want)
{
    IDirect3DSurface9 *target;

    OK(IDirect3DDevice9Ex_GetRenderTarget(dev, 0, &target));
    OK(IDirect3DDevice9Ex_StretchRect(dev, surface, NULL, target, NULL, D3DTEXF_POINT));
    IDirect3DSurface9_Release(target);
    expect(5, 7, want);
}

static IDirect3DSurface9 *shared_texture(HANDLE *handle)
{
    IDirect3DTexture9 *t;
    IDirect3DSurface9 *s;

    OK(IDirect3DDevice9Ex_CreateTexture(dev, SIDE, SIDE, 1, D3DUSAGE_RENDERTARGET, D3DFMT_A8R8G8B8,
                                        D3DPOOL_DEFAULT, &t, handle));
    OK(IDirect3DTexture9_GetSurfaceLevel(t, 0, &s));
    IDirect3DTexture9_Release(t);
    return s;
}

/* What is drawn to it is done: another device may look. */
static void finish(void)
{
    IDirect3DQuery9 *q;
    HRESULT hr;

    OK(IDirect3DDevice9Ex_CreateQuery(dev, D3DQUERYTYPE_EVENT, &q));
    OK(IDirect3DQuery9_Issue(q, D3DISSUE_END));
    for (DWORD start = GetTickCount();
         (hr = IDirect3DQuery9_GetData(q, NULL, 0, D3DGETDATA_FLUSH)) == S_FALSE; Sleep(1))
        if (GetTickCount() - start > PATIENCE_MS)
            FAIL("a query is not done in %u ms", PATIENCE_MS);
    OK(hr);
    IDirect3DQuery9_Release(q);
}

/* Two devices of one process. What cannot be shared is refused, and so is a handle that is none or another surface's. */
static void shared_surface(void)
{
    IDirect3DDevice9Ex *first;
    IDirect3DSurface9 *ours, *theirs;
    IDirect3DTexture9 *t = NULL;
    HANDLE handle = NULL, other = NULL, none = (HANDLE)(uintptr_t)0x1234567;

    open_device();
    ours = shared_texture(&handle);
    if (!handle)
        FAIL("there is no handle");
    OK(IDirect3DDevice9Ex_ColorFill(dev, ours, NULL, 0xFFFF0000));
    finish();
    first = dev;
    open_device();
    theirs = shared_texture(&handle);
    expect_of(theirs, 0xFF0000);
    OK(IDirect3DDevice9Ex_ColorFill(dev, theirs, NULL, 0xFF00FF00));
    finish();
    if (SUCCEEDED(IDirect3DDevice9Ex_CreateTexture(dev, SIDE, SIDE, 1, D3DUSAGE_RENDERTARGET, D3DFMT_A8R8G8B8,
                                                   D3DPOOL_DEFAULT, &t, &none)) ||
        SUCCEEDED(IDirect3DDevice9Ex_CreateTexture(dev, SIDE, SIDE / 2, 1, D3DUSAGE_RENDERTARGET,
                                                   D3DFMT_A8R8G8B8, D3DPOOL_DEFAULT, &t, &handle)) ||
        SUCCEEDED(IDirect3DDevice9Ex_CreateTexture(dev, SIDE, SIDE, 0, D3DUSAGE_RENDERTARGET, D3DFMT_A8R8G8B8,
                                                   D3DPOOL_DEFAULT, &t, &other)) ||
        SUCCEEDED(IDirect3DDevice9Ex_CreateTexture(dev, SIDE, SIDE, 1, 0, D3DFMT_L8, D3DPOOL_DEFAULT, &t,
                                                   &other)) ||
        other || t)
        FAIL("a surface that cannot be shared was");
    IDirect3DSurface9_Release(theirs);
    IDirect3DDevice9Ex_Release(dev);
    dev = first;
    expect_of(ours, 0x00FF00);
    IDirect3DSurface9_Release(ours);
}

/* Another process sees what is in the surface, and draws to it. */
static void with_another(const char *other)
{
    char line[2 * MAX_PATH + 64];
    STARTUPINFOA start = {.cb = sizeof(start)};
    PROCESS_INFORMATION p;
    IDirect3DSurface9 *surface;
    HANDLE handle = NULL;
    DWORD code = 1;

    open_device();
    surface = shared_texture(&handle);
    OK(IDirect3DDevice9Ex_ColorFill(dev, surface, NULL, 0xFFFF0000));
    finish();
    snprintf(line, sizeof(line), "\"%s%s\" %s %llu", folder, other, name,
             (unsigned long long)(uintptr_t)handle);
    if (!CreateProcessA(NULL, line, NULL, NULL, FALSE, 0, NULL, NULL, &start, &p))
        FAIL("CreateProcess of %s: %lu", other, (unsigned long)GetLastError());
    if (WaitForSingleObject(p.hProcess, PATIENCE_MS) || !GetExitCodeProcess(p.hProcess, &code) || code)
        FAIL("the other process ended with %lu", (unsigned long)code);
    CloseHandle(p.hThread);
    CloseHandle(p.hProcess);
    expect_of(surface, 0x00FF00);
    IDirect3DSurface9_Release(surface);
}

static void shared_surface_ipc(void)
{
    with_another("suite_d3d9.exe");
}

/* The other is of 32 bits, and says so. */
static void shared_surface_wow64(void)
{
    with_another("x86\\suite_d3d9.exe");
}

static int other_process(HANDLE handle)
{
    IDirect3DSurface9 *surface;

    if (!strcmp(name, "d3d9ex_shared_surface_wow64") && sizeof(void *) != 4)
        FAIL("the other process is of 64 bits, too");
    open_device();
    surface = shared_texture(&handle);
    expect_of(surface, 0xFF0000);
    OK(IDirect3DDevice9Ex_ColorFill(dev, surface, NULL, 0xFF00FF00));
    finish();
    IDirect3DSurface9_Release(surface);
    return 0;
}

static const struct test tests[] = {{"d3d9_raster_status_sanity", raster_status_sanity},
                                    {"d3d9_raster_status_pacing", raster_status_pacing},
                                    {"d3d9_fixedfunc_wvp_triangle", wvp_triangle},
                                    {"d3d9_fixedfunc_textured_wvp", textured_wvp},
                                    {"d3d9_fixedfunc_lighting_directional", lighting_directional},
                                    {"d3d9ex_dwm_ddi_sanity", dwm_ddi_sanity},
                                    {"d3d9ex_submit_fence_stress", submit_fence_stress},
                                    {"d3d9ex_shared_surface", shared_surface},
                                    {"d3d9ex_shared_surface_ipc", shared_surface_ipc},
                                    {"d3d9ex_shared_surface_wow64", shared_surface_wow64},
                                    {"d3d9ex_device_hung", device_hung}};

int main(int argc, char **argv)
{
    char *end;

    GetModuleFileNameA(NULL, folder, sizeof(folder) - 1);
    end = strrchr(folder, '\\');
    if (end)
        end[1] = 0;
    name = argc > 1 ? argv[1] : "";
    if (argc > 2)
        return other_process((HANDLE)(uintptr_t)strtoull(argv[2], NULL, 10));
    return run_named(tests, sizeof(tests) / sizeof(tests[0]), name);
}
