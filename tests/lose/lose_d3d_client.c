/* SPDX-License-Identifier: MIT */
/* A program of Direct3D for the tests of `aerogpu lose`: it draws and shows, over and over, and reacts to the loss of its device as its
 * second argument says. The first is what it draws with: d3d9, d3d9ex, d3d11; d3d12, which shows nothing. Built for Windows; with
 * libvkd3d besides, and then for d3d12 only.
 *
 *   recover   makes a new device, or resets it, when it is told     exit, abort, pause   does that then
 *   ignore    goes on                                               leak     recovers, and releases nothing
 *   says      prints what it is told, by every call, and ends       slow     recovers, and draws five times a second
 *   once      recovers, draws once, and waits for events            empty    recovers, and draws nothing any more
 *   release   Direct3D 9: makes a new device, and does not reset the lost one
 *
 * A third argument is a number of frames after which it ends. `launch` before the first: for Windows, it starts itself without that, and
 * ends.
 */
#define COBJMACROS
#define CINTERFACE
#define INITGUID
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#include <d3d11.h>
#include <d3d12.h>
#include <d3d9.h>
#include <windows.h>
static void sleep_ms(unsigned ms)
{
    Sleep(ms);
}
#else
#include <time.h>
#include <unistd.h>
#include <vkd3d_utils.h>
static void sleep_ms(unsigned ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}
#endif

static const char *how = "recover";

static void fail(const char *what, HRESULT hr)
{
    fprintf(stderr, "lose_d3d_client: %s: 0x%08X\n", what, (unsigned)hr);
    exit(9);
}

static void say(const char *what, HRESULT hr)
{
    printf("%s 0x%08X\n", what, (unsigned)hr);
}

struct api {
    const char *name;
    HRESULT (*make)(void); /* a device, and all that it needs */
    HRESULT (*work)(void); /* a frame; what says that the device is lost is an error */
    bool (*reset)(
        void); /* the lost device is as new: it need not be made again; NULL: there is no such thing */
    void (*destroy)(void);
    void (*say)(void);
};

/* ---- Direct3D 12 --------------------------------------------------------- */

static struct {
    ID3D12Device *device;
    ID3D12CommandQueue *queue;
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *list;
    ID3D12Fence *fence;
    uint64_t value;
} d12;

static HRESULT make_12(void)
{
    D3D12_COMMAND_QUEUE_DESC queue = {.Type = D3D12_COMMAND_LIST_TYPE_DIRECT};
    HRESULT hr = D3D12CreateDevice(NULL, D3D_FEATURE_LEVEL_11_0, &IID_ID3D12Device, (void **)&d12.device);

    if (FAILED(hr))
        return hr;
    hr = ID3D12Device_CreateCommandQueue(d12.device, &queue, &IID_ID3D12CommandQueue, (void **)&d12.queue);
    if (SUCCEEDED(hr))
        hr = ID3D12Device_CreateCommandAllocator(d12.device, D3D12_COMMAND_LIST_TYPE_DIRECT,
                                                 &IID_ID3D12CommandAllocator, (void **)&d12.allocator);
    if (SUCCEEDED(hr))
        hr = ID3D12Device_CreateCommandList(d12.device, 0, D3D12_COMMAND_LIST_TYPE_DIRECT, d12.allocator,
                                            NULL, &IID_ID3D12GraphicsCommandList, (void **)&d12.list);
    if (SUCCEEDED(hr))
        hr = ID3D12GraphicsCommandList_Close(d12.list);
    if (SUCCEEDED(hr))
        hr = ID3D12Device_CreateFence(d12.device, 0, D3D12_FENCE_FLAG_NONE, &IID_ID3D12Fence,
                                      (void **)&d12.fence);
    if (FAILED(hr))
        fail("Direct3D 12", hr);
    d12.value = 0;
    return hr;
}

static HRESULT work_12(void)
{
    ID3D12CommandList *list = (ID3D12CommandList *)d12.list;
    HRESULT hr;

    ID3D12CommandQueue_ExecuteCommandLists(d12.queue, 1, &list);
    hr = ID3D12CommandQueue_Signal(d12.queue, d12.fence, ++d12.value);
    while (SUCCEEDED(hr) && ID3D12Fence_GetCompletedValue(d12.fence) < d12.value) {
        hr = ID3D12Device_GetDeviceRemovedReason(d12.device);
        sleep_ms(1);
    }
    return SUCCEEDED(hr) ? ID3D12Device_GetDeviceRemovedReason(d12.device) : hr;
}

static void destroy_12(void)
{
    ID3D12Fence_Release(d12.fence);
    ID3D12GraphicsCommandList_Release(d12.list);
    ID3D12CommandAllocator_Release(d12.allocator);
    ID3D12CommandQueue_Release(d12.queue);
    ID3D12Device_Release(d12.device);
}

static void say_12(void)
{
    void *none;

    say("signal", ID3D12CommandQueue_Signal(d12.queue, d12.fence, ++d12.value));
    say("reason", ID3D12Device_GetDeviceRemovedReason(d12.device));
    say("fence", ID3D12Device_CreateFence(d12.device, 0, D3D12_FENCE_FLAG_NONE, &IID_ID3D12Fence, &none));
}

/* ---- Direct3D 11 and 9: for Windows --------------------------------------- */

#if defined(_WIN32)
static HWND window(void)
{
    static HWND w;
    MSG m;

    if (!w) {
        w = CreateWindowA("static", "lose", WS_POPUP | WS_VISIBLE, 0, 0, 64, 64, NULL, NULL, NULL, NULL);
        if (!w)
            fail("window", (HRESULT)GetLastError());
    }
    while (PeekMessageA(&m, NULL, 0, 0, PM_REMOVE))
        DispatchMessageA(&m);
    return w;
}

static struct {
    ID3D11Device *device;
    ID3D11DeviceContext *context;
    IDXGISwapChain *chain;
    ID3D11RenderTargetView *target;
} d11;

static HRESULT make_11(void)
{
    DXGI_SWAP_CHAIN_DESC desc = {.BufferDesc = {64, 64, {60, 1}, DXGI_FORMAT_R8G8B8A8_UNORM, 0, 0},
                                 .SampleDesc = {1, 0},
                                 .BufferUsage = DXGI_USAGE_RENDER_TARGET_OUTPUT,
                                 .BufferCount = 1,
                                 .OutputWindow = window(),
                                 .Windowed = TRUE};
    ID3D11Texture2D *back;
    HRESULT hr =
        D3D11CreateDeviceAndSwapChain(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, NULL, 0, D3D11_SDK_VERSION,
                                      &desc, &d11.chain, &d11.device, NULL, &d11.context);

    if (FAILED(hr))
        return hr;
    hr = IDXGISwapChain_GetBuffer(d11.chain, 0, &IID_ID3D11Texture2D, (void **)&back);
    if (SUCCEEDED(hr)) {
        hr = ID3D11Device_CreateRenderTargetView(d11.device, (ID3D11Resource *)back, NULL, &d11.target);
        ID3D11Texture2D_Release(back);
    }
    if (FAILED(hr))
        fail("Direct3D 11", hr);
    return hr;
}

static HRESULT work_11(void)
{
    static unsigned n;
    float color[4] = {0, 0, (float)(n++ % 2), 1};

    window();
    ID3D11DeviceContext_ClearRenderTargetView(d11.context, d11.target, color);
    return IDXGISwapChain_Present(d11.chain, 0, 0);
}

static void destroy_11(void)
{
    ID3D11RenderTargetView_Release(d11.target);
    IDXGISwapChain_Release(d11.chain);
    ID3D11DeviceContext_Release(d11.context);
    ID3D11Device_Release(d11.device);
}

static void say_11(void)
{
    D3D11_BUFFER_DESC desc = {.ByteWidth = 64,
                              .Usage = D3D11_USAGE_DYNAMIC,
                              .BindFlags = D3D11_BIND_VERTEX_BUFFER,
                              .CPUAccessFlags = D3D11_CPU_ACCESS_WRITE};
    ID3D11Buffer *buffer;

    say("present", IDXGISwapChain_Present(d11.chain, 0, 0));
    say("reason", ID3D11Device_GetDeviceRemovedReason(d11.device));
    say("buffer", ID3D11Device_CreateBuffer(d11.device, &desc, NULL, &buffer));
    say("resize", IDXGISwapChain_ResizeBuffers(d11.chain, 1, 32, 32, DXGI_FORMAT_UNKNOWN, 0));
}

static struct {
    IDirect3D9Ex *factory;
    IDirect3DDevice9Ex *device;
    bool ex;
} d9;

static D3DPRESENT_PARAMETERS parameters_9(void)
{
    return (D3DPRESENT_PARAMETERS){.BackBufferWidth = 64,
                                   .BackBufferHeight = 64,
                                   .BackBufferFormat = D3DFMT_X8R8G8B8,
                                   .SwapEffect = D3DSWAPEFFECT_DISCARD,
                                   .hDeviceWindow = window(),
                                   .PresentationInterval = D3DPRESENT_INTERVAL_IMMEDIATE,
                                   .Windowed = TRUE};
}

static HRESULT make_9(void)
{
    D3DPRESENT_PARAMETERS p = parameters_9();
    HRESULT hr;

    if (!d9.factory && d9.ex)
        Direct3DCreate9Ex(D3D_SDK_VERSION, &d9.factory);
    else if (!d9.factory)
        d9.factory = (IDirect3D9Ex *)Direct3DCreate9(D3D_SDK_VERSION);
    if (!d9.factory)
        fail("Direct3D 9", 0);
    hr = d9.ex ? IDirect3D9Ex_CreateDeviceEx(d9.factory, 0, D3DDEVTYPE_HAL, p.hDeviceWindow,
                                             D3DCREATE_HARDWARE_VERTEXPROCESSING, &p, NULL, &d9.device)
               : IDirect3D9_CreateDevice((IDirect3D9 *)d9.factory, 0, D3DDEVTYPE_HAL, p.hDeviceWindow,
                                         D3DCREATE_HARDWARE_VERTEXPROCESSING, &p,
                                         (IDirect3DDevice9 **)&d9.device);
    return hr;
}

static HRESULT make_9ex(void)
{
    d9.ex = true;
    return make_9();
}

static HRESULT work_9(void)
{
    static unsigned n;

    window();
    IDirect3DDevice9_Clear(d9.device, 0, NULL, D3DCLEAR_TARGET, n++ % 2 ? 0xFF0000FF : 0xFF000000, 1, 0);
    return d9.ex ? IDirect3DDevice9Ex_PresentEx(d9.device, NULL, NULL, NULL, NULL, 0)
                 : IDirect3DDevice9_Present(d9.device, NULL, NULL, NULL, NULL);
}

static bool reset_9(void)
{
    D3DPRESENT_PARAMETERS p = parameters_9();
    HRESULT hr;

    if (!strcmp(how, "release"))
        return false;
    while (!d9.ex && (hr = IDirect3DDevice9_TestCooperativeLevel(d9.device)) == D3DERR_DEVICELOST)
        sleep_ms(10);
    hr = d9.ex ? IDirect3DDevice9Ex_ResetEx(d9.device, &p, NULL) : IDirect3DDevice9_Reset(d9.device, &p);
    return SUCCEEDED(hr);
}

static void destroy_9(void)
{
    IDirect3DDevice9Ex_Release(d9.device);
}

static void say_9(void)
{
    IDirect3DVertexBuffer9 *buffer;

    say("present", IDirect3DDevice9_Present(d9.device, NULL, NULL, NULL, NULL));
    say("level", IDirect3DDevice9_TestCooperativeLevel(d9.device));
    if (d9.ex)
        say("state", IDirect3DDevice9Ex_CheckDeviceState(d9.device, NULL));
    say("buffer", IDirect3DDevice9_CreateVertexBuffer(d9.device, 64, 0, 0, D3DPOOL_DEFAULT, &buffer, NULL));
    say("clear", IDirect3DDevice9_Clear(d9.device, 0, NULL, D3DCLEAR_TARGET, 0, 1, 0));
}
#endif

/* ---- what it does ---------------------------------------------------------- */

static const struct api apis[] = {
    {"d3d12", make_12, work_12, NULL, destroy_12, say_12},
#if defined(_WIN32)
    {"d3d11", make_11, work_11, NULL, destroy_11, say_11},
    {"d3d9", make_9, work_9, reset_9, destroy_9, say_9},
    {"d3d9ex", make_9ex, work_9, reset_9, destroy_9, say_9},
#endif
};

static void recover(const struct api *a)
{
    HRESULT hr;

    if (a->reset && a->reset())
        return;
    if (strcmp(how, "leak") != 0)
        a->destroy();
    while (FAILED(hr = a->make())) {
        if (!strcmp(how, "says-refused"))
            say("refused", hr);
        sleep_ms(20);
    }
}

static void react(const struct api *a, HRESULT hr)
{
    if (!strcmp(how, "says")) {
        say("lost", hr);
        a->say();
        exit(0);
    }
    if (!strcmp(how, "exit"))
        exit(3);
    if (!strcmp(how, "abort"))
        __builtin_trap();
    while (!strcmp(how, "pause"))
        sleep_ms(100000);
    if (strcmp(how, "ignore") != 0)
        recover(a);
}

#if defined(_WIN32)
static int launch(int argc, char **argv)
{
    STARTUPINFOA start = {.cb = sizeof(start)};
    PROCESS_INFORMATION p;
    char line[MAX_PATH * 2] = "";

    for (int i = 0; i < argc; i++) {
        if (i == 1)
            continue;
        strncat(line, argv[i], sizeof(line) - strlen(line) - 1);
        strncat(line, " ", sizeof(line) - strlen(line) - 1);
    }
    return !CreateProcessA(NULL, line, NULL, NULL, FALSE, 0, NULL, NULL, &start, &p);
}
#endif

int main(int argc, char **argv)
{
    const struct api *a = NULL;
    int limit = argc > 3 ? atoi(argv[3]) : 0;
    bool lost = false;
    HRESULT hr;

    setvbuf(stdout, NULL, _IONBF, 0);
#if defined(_WIN32)
    if (argc > 1 && !strcmp(argv[1], "launch"))
        return launch(argc, argv);
#endif
    for (size_t i = 0; argc > 1 && i < sizeof(apis) / sizeof(apis[0]); i++)
        if (!strcmp(argv[1], apis[i].name))
            a = &apis[i];
    if (!a) {
        fputs("usage: lose_d3d_client API [HOW [FRAMES]]\n", stderr);
        return 2;
    }
    how = argc > 2 ? argv[2] : how;
    hr = a->make();
    if (FAILED(hr))
        fail("device", hr);
    for (int frame = 1; !limit || frame <= limit; frame++) {
        hr = a->work();
        if (FAILED(hr)) {
            react(a, hr);
            lost = true;
        } else if (lost && !strcmp(how, "once")) {
#if defined(_WIN32)
            WaitMessage();
#else
            pause();
#endif
        }
        while (lost && !strcmp(how, "empty"))
            sleep_ms(10);
        sleep_ms(!strcmp(how, "slow") ? 200 : 1);
    }
    a->destroy();
    return 0;
}
