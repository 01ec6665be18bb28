/* SPDX-License-Identifier: MIT */
/* Who has the screen: a program for Windows with a window on a display.
 *   fullscreen.exe
 * Prints what is not as it should be, and "done". */
#define WIN32_LEAN_AND_MEAN
#define COBJMACROS
#include <d3d11.h>
#include <stdbool.h>
#include "program.h"

static ID3D11Device *device;
static IDXGIFactory *factory;
static IDXGISwapChain *chain;
static HWND window;
static HRESULT inside = E_FAIL; /* what the window's procedure is answered while the window changes */
static BOOL full_inside;
static bool asks;

#define CHECK(what)                                                                                          \
    do {                                                                                                     \
        if (!(what))                                                                                         \
            printf("line %d: %s\n", __LINE__, #what);                                                        \
    } while (0)

static LRESULT CALLBACK procedure(HWND w, UINT message, WPARAM a, LPARAM b)
{
    if (message == WM_WINDOWPOSCHANGED && asks) {
        asks = false;
        inside = IDXGISwapChain_SetFullscreenState(chain, FALSE, NULL);
        IDXGISwapChain_GetFullscreenState(chain, &full_inside, NULL);
    }
    return DefWindowProcA(w, message, a, b);
}

static HWND open_window(const char *title, DWORD style, HWND owner)
{
    HWND w = CreateWindowA("fullscreen", title, style, 10, 20, 300, 200, owner, NULL, NULL, NULL);

    if (!w) {
        printf("no window\n");
        exit(1);
    }
    return w;
}

static void pump(void)
{
    MSG m;

    for (int i = 0; i < 5; i++, Sleep(5))
        while (PeekMessageA(&m, NULL, 0, 0, PM_NOREMOVE) && PeekMessageA(&m, NULL, 0, 0, PM_REMOVE))
            DispatchMessageA(&m);
}

static bool full(void)
{
    IDXGIOutput *target = NULL;
    BOOL is = 2;

    CHECK(IDXGISwapChain_GetFullscreenState(chain, &is, &target) == S_OK);
    CHECK(!is == !target);
    if (target)
        IDXGIOutput_Release(target);
    return is;
}

static void set(BOOL to)
{
    CHECK(IDXGISwapChain_SetFullscreenState(chain, to, NULL) == S_OK);
    CHECK(full() == to);
    pump();
}

static IDXGISwapChain *new_chain(HWND w)
{
    DXGI_SWAP_CHAIN_DESC d = {.BufferDesc = {.Format = DXGI_FORMAT_R8G8B8A8_UNORM},
                              .SampleDesc = {1, 0},
                              .BufferUsage = DXGI_USAGE_RENDER_TARGET_OUTPUT,
                              .BufferCount = 1,
                              .OutputWindow = w,
                              .Windowed = TRUE};
    IDXGISwapChain *out;

    NEED(IDXGIFactory_CreateSwapChain(factory, (IUnknown *)device, &d, &out));
    return out;
}

/* Buffers that shaders store to, where there are such textures. */
static void stored_to(void)
{
    DXGI_SWAP_CHAIN_DESC d = {.BufferDesc = {.Format = DXGI_FORMAT_R8G8B8A8_UNORM},
                              .SampleDesc = {1, 0},
                              .BufferUsage = DXGI_USAGE_RENDER_TARGET_OUTPUT | DXGI_USAGE_UNORDERED_ACCESS,
                              .BufferCount = 1,
                              .OutputWindow = window,
                              .Windowed = TRUE};
    ID3D11UnorderedAccessView *view;
    ID3D11Texture2D *buffer;
    IDXGISwapChain *out;

    NEED(IDXGIFactory_CreateSwapChain(factory, (IUnknown *)device, &d, &out));
    NEED(IDXGISwapChain_GetBuffer(out, 0, &IID_ID3D11Texture2D, (void **)&buffer));
    NEED(ID3D11Device_CreateUnorderedAccessView(device, (ID3D11Resource *)buffer, NULL, &view));
    ID3D11UnorderedAccessView_Release(view);
    ID3D11Texture2D_Release(buffer);
    CHECK(IDXGISwapChain_Release(out) == 0);
    d.SampleDesc.Count = 4;
    CHECK(IDXGIFactory_CreateSwapChain(factory, (IUnknown *)device, &d, &out) == E_INVALIDARG);
}

static void press(HWND w, LPARAM more)
{
    PostMessageA(w, WM_SYSKEYDOWN, VK_RETURN, (28 << 16) | 1 | more);
    pump();
}

enum { ALT = 1 << 29, AGAIN = 1 << 30 };

static void alt_enter(void)
{
    static const struct {
        bool named;
        UINT flags;
        bool toggles;
    } rows[] = {{true, 0, true},
                {true, DXGI_MWA_NO_ALT_ENTER, false},
                {true, DXGI_MWA_NO_WINDOW_CHANGES, false},
                {true, DXGI_MWA_NO_PRINT_SCREEN, true},
                {true, DXGI_MWA_NO_ALT_ENTER | DXGI_MWA_NO_PRINT_SCREEN, false},
                {false, DXGI_MWA_NO_ALT_ENTER, true}};
    HWND other = open_window("another", WS_OVERLAPPEDWINDOW, NULL);
    IDXGIFactory *stranger;
    IDXGISwapChain *second = new_chain(other);
    BOOL is = FALSE;

    NEED(CreateDXGIFactory(&IID_IDXGIFactory, (void **)&stranger));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK(IDXGIFactory_MakeWindowAssociation(factory, rows[i].named ? window : NULL, rows[i].flags) ==
              S_OK);
        CHECK(IDXGIFactory_MakeWindowAssociation(stranger, window, ~rows[i].flags & DXGI_MWA_VALID) == S_OK);
        CHECK(IDXGIFactory_MakeWindowAssociation(factory, other, DXGI_MWA_NO_ALT_ENTER) == S_OK);
        press(window, ALT);
        if (full() != rows[i].toggles)
            printf("Alt+Enter and flags %u: %d\n", rows[i].flags, !rows[i].toggles);
        press(window, ALT);
        CHECK(!full());
    }
    CHECK(IDXGIFactory_MakeWindowAssociation(factory, window, DXGI_MWA_VALID + 1) == DXGI_ERROR_INVALID_CALL);
    CHECK(IDXGIFactory_MakeWindowAssociation(factory, NULL, 0) == S_OK);
    press(window, 0);
    CHECK(!full()); /* without Alt */
    press(window, ALT | AGAIN);
    CHECK(!full()); /* a key that is held down */
    press(other, ALT);
    CHECK(!full());
    CHECK(IDXGISwapChain_GetFullscreenState(second, &is, NULL) == S_OK && is);
    CHECK(IDXGISwapChain_SetFullscreenState(second, FALSE, NULL) == S_OK);
    CHECK(IDXGISwapChain_Release(second) == 0);
    press(other, ALT); /* whose chain is gone */
    DestroyWindow(other);
    IDXGIFactory_Release(stranger);
}

static bool is_place(const RECT *r)
{
    RECT now;

    GetWindowRect(window, &now);
    return EqualRect(&now, r);
}

static void places(void)
{
    const RECT screen = {0, 0, GetSystemMetrics(SM_CXSCREEN), GetSystemMetrics(SM_CYSCREEN)};
    const LONG style = GetWindowLongA(window, GWL_STYLE);
    DXGI_MODE_DESC mode = {.Width = 240, .Height = 100};
    RECT before, inner;

    CHECK(IDXGISwapChain_ResizeTarget(chain, &mode) == S_OK);
    GetClientRect(window, &inner);
    CHECK(inner.right == 240 && inner.bottom == 100);
    CHECK(IDXGISwapChain_ResizeTarget(chain, NULL) == DXGI_ERROR_INVALID_CALL);
    GetWindowRect(window, &before);
    asks = true;
    press(window, ALT);
    CHECK(inside == DXGI_STATUS_MODE_CHANGE_IN_PROGRESS && full_inside);
    CHECK(full() && is_place(&screen) && !(GetWindowLongA(window, GWL_STYLE) & WS_CAPTION));
    mode.Width = (UINT)screen.right;
    mode.Height = (UINT)screen.bottom;
    CHECK(IDXGISwapChain_ResizeTarget(chain, &mode) == S_OK && full() && is_place(&screen));
    press(window, ALT);
    CHECK(!full() && is_place(&before) && GetWindowLongA(window, GWL_STYLE) == style);
}

/* By presenting, and by asking. */
static void loses(void)
{
    HWND other = open_window("in front", WS_POPUP, NULL), own = open_window("its own", WS_POPUP, window);
    const LONG style = GetWindowLongA(window, GWL_STYLE);
    DXGI_SWAP_CHAIN_DESC d;

    for (int asked = 0; asked < 2; asked++) {
        SetForegroundWindow(window);
        set(TRUE);
        CHECK(IDXGISwapChain_Present(chain, 0, 0) == S_OK && full());
        ShowWindow(own, SW_SHOW);
        pump();
        CHECK(IDXGISwapChain_Present(chain, 0, 0) == S_OK && full()); /* a dialog takes nothing */
        ShowWindow(own, SW_HIDE);
        SetForegroundWindow(window);
        pump();
        ShowWindow(other, SW_SHOW);
        SetForegroundWindow(other);
        pump();
        if (asked) {
            CHECK(!full());
        } else {
            CHECK(IDXGISwapChain_Present(chain, 0, DXGI_PRESENT_TEST) == DXGI_STATUS_OCCLUDED);
            CHECK(IDXGISwapChain_Present(chain, 0, DXGI_PRESENT_TEST) == DXGI_STATUS_OCCLUDED);
            CHECK(!(GetWindowLongA(window, GWL_STYLE) & WS_CAPTION)); /* yet */
            CHECK(IDXGISwapChain_Present(chain, 0, 0) == DXGI_STATUS_OCCLUDED);
        }
        CHECK(GetWindowLongA(window, GWL_STYLE) == style);
        CHECK(IDXGISwapChain_Present(chain, 0, 0) == S_OK && !full());
        CHECK(IDXGISwapChain_GetDesc(chain, &d) == S_OK && d.Windowed);
        set(TRUE); /* what is in front when it becomes full does not end that */
        CHECK(IDXGISwapChain_Present(chain, 0, 0) == S_OK && full());
        SetForegroundWindow(window);
        pump();
        CHECK(full());
        SetForegroundWindow(other); /* but coming there again does */
        pump();
        CHECK(!full());
        ShowWindow(other, SW_HIDE);
        pump();
    }
    DestroyWindow(own);
    DestroyWindow(other);
}

static DWORD WINAPI presents(void *stop)
{
    for (int i = 0; !*(volatile LONG *)stop; i++) {
        const HRESULT hr = IDXGISwapChain_Present(chain, 0, 0);

        if (hr != S_OK && hr != DXGI_STATUS_OCCLUDED) {
            printf("frame %d of another thread: 0x%08X\n", i, (unsigned)hr);
            return 1;
        }
    }
    return 0;
}

/* The window's thread changes what another one presents to. */
static void threads(void)
{
    LONG stop = 0;
    HANDLE thread = CreateThread(NULL, 0, presents, &stop, 0, NULL);

    for (int i = 0; i < 20; i++)
        press(window, ALT);
    InterlockedExchange(&stop, 1);
    while (WaitForSingleObject(thread, 10) == WAIT_TIMEOUT)
        pump();
    CloseHandle(thread);
    CHECK(!full());
}

static void without_window(void)
{
    set(TRUE);
    DestroyWindow(window);
    CHECK(IDXGISwapChain_SetFullscreenState(chain, TRUE, NULL) == S_OK && full());
    set(FALSE);
    CHECK(IDXGISwapChain_SetFullscreenState(chain, TRUE, NULL) == DXGI_ERROR_NOT_CURRENTLY_AVAILABLE);
    CHECK(!full());
}

int main(void)
{
    const WNDCLASSA class = {.lpfnWndProc = procedure, .lpszClassName = "fullscreen"};

    RegisterClassA(&class);
    window = open_window("full screen", WS_OVERLAPPEDWINDOW | WS_VISIBLE, NULL);
    NEED(CreateDXGIFactory(&IID_IDXGIFactory, (void **)&factory));
    NEED(D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, NULL, 0, D3D11_SDK_VERSION, &device, NULL,
                           NULL));
    stored_to();
    chain = new_chain(window);
    alt_enter();
    places();
    loses();
    threads();
    without_window();
    CHECK(IDXGISwapChain_Release(chain) == 0);
    ID3D11Device_Release(device);
    CHECK(IDXGIFactory_Release(factory) == 0);
    printf("done\n");
    return 0;
}
