/* SPDX-License-Identifier: MIT */
/* window.c: what Windows' window system does for swap chains and outputs. Elsewhere there is none: no window, and no monitor but the
 * service's display. */
#include "d3d/window.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#if defined(_WIN32)

struct found {
    struct dxgi_monitor *out;
    UINT count, most;
};

static BOOL CALLBACK each_monitor(HMONITOR monitor, HDC dc, LPRECT area, LPARAM arg)
{
    struct found *f = (struct found *)arg;
    MONITORINFOEXW info = {.cbSize = sizeof(info)};
    UINT at = f->count;

    if (!GetMonitorInfoW(monitor, (MONITORINFO *)&info) || f->count >= f->most)
        return TRUE;
    f->count++;
    if (info.dwFlags & MONITORINFOF_PRIMARY) { /* comes first */
        memmove(f->out + 1, f->out, at * sizeof(f->out[0]));
        at = 0;
    }
    f->out[at] = (struct dxgi_monitor){.area = info.rcMonitor, .monitor = monitor};
    memcpy(f->out[at].name, info.szDevice, sizeof(f->out[at].name));
    return TRUE;
}

UINT window_monitors(struct dxgi_monitor *m, UINT most)
{
    struct found f = {m, 0, most};

    EnumDisplayMonitors(NULL, NULL, each_monitor, (LPARAM)&f);
    return f.count;
}

HMONITOR window_monitor(HWND window)
{
    return MonitorFromWindow(window, MONITOR_DEFAULTTOPRIMARY);
}

UINT window_modes(const WCHAR *name, struct dxgi_mode *m, UINT most)
{
    DEVMODEW d = {.dmSize = sizeof(d)};
    UINT n = 0;

    for (DWORD i = 0; n < most && EnumDisplaySettingsExW(name, i, &d, 0); i++)
        if (d.dmBitsPerPel == 32)
            m[n++] = (struct dxgi_mode){d.dmPelsWidth, d.dmPelsHeight, d.dmDisplayFrequency};
    return n;
}

bool window_mode_now(const WCHAR *name, struct dxgi_mode *m)
{
    DEVMODEW d = {.dmSize = sizeof(d)};

    if (!EnumDisplaySettingsExW(name, ENUM_CURRENT_SETTINGS, &d, 0))
        return false;
    *m = (struct dxgi_mode){d.dmPelsWidth, d.dmPelsHeight, d.dmDisplayFrequency};
    return true;
}

bool window_mode_set(const WCHAR *name, const struct dxgi_mode *m)
{
    DEVMODEW d = {.dmSize = sizeof(d), .dmFields = DM_PELSWIDTH | DM_PELSHEIGHT};

    if (!m)
        return ChangeDisplaySettingsExW(name, NULL, NULL, 0, NULL) == DISP_CHANGE_SUCCESSFUL;
    d.dmPelsWidth = m->width;
    d.dmPelsHeight = m->height;
    if (m->rate) {
        d.dmFields |= DM_DISPLAYFREQUENCY;
        d.dmDisplayFrequency = m->rate;
    }
    return ChangeDisplaySettingsExW(name, &d, NULL, CDS_FULLSCREEN, NULL) == DISP_CHANGE_SUCCESSFUL;
}

bool window_is(HWND window)
{
    return IsWindow(window);
}

bool window_minimized(HWND window)
{
    return IsIconic(window);
}

void window_client(HWND window, UINT *width, UINT *height)
{
    RECT r = {0};

    GetClientRect(window, &r);
    *width = (UINT)r.right;
    *height = (UINT)r.bottom;
}

void window_full(HWND window, const RECT *area, struct dxgi_window *before)
{
    if (!before->full) {
        before->style = GetWindowLongW(window, GWL_STYLE);
        before->exstyle = GetWindowLongW(window, GWL_EXSTYLE);
        GetWindowRect(window, &before->place);
        before->full = true;
        SetWindowLongW(window, GWL_STYLE,
                       before->style & ~(LONG)(WS_POPUP | WS_CAPTION | WS_SYSMENU | WS_THICKFRAME |
                                               WS_MINIMIZEBOX | WS_MAXIMIZEBOX));
        SetWindowLongW(window, GWL_EXSTYLE,
                       before->exstyle & ~(LONG)(WS_EX_DLGMODALFRAME | WS_EX_TOOLWINDOW | WS_EX_WINDOWEDGE |
                                                 WS_EX_CLIENTEDGE | WS_EX_CONTEXTHELP));
    }
    SetWindowPos(window, HWND_TOPMOST, area->left, area->top, area->right - area->left,
                 area->bottom - area->top, SWP_FRAMECHANGED | SWP_NOACTIVATE);
}

void window_back(HWND window, struct dxgi_window *before, bool place)
{
    LONG style = GetWindowLongW(window, GWL_STYLE), topmost = before->exstyle & WS_EX_TOPMOST;
    const RECT *r = &before->place;

    if (!before->full)
        return;
    before->full = false;
    /* shown or not is as it is now */
    SetWindowLongW(window, GWL_STYLE, (before->style & ~(LONG)WS_VISIBLE) | (style & (LONG)WS_VISIBLE));
    SetWindowLongW(window, GWL_EXSTYLE, before->exstyle);
    SetWindowPos(window, topmost ? HWND_TOPMOST : HWND_NOTOPMOST, r->left, r->top, r->right - r->left,
                 r->bottom - r->top,
                 SWP_FRAMECHANGED | SWP_NOACTIVATE | (place ? 0 : SWP_NOMOVE | SWP_NOSIZE));
}

HWND window_in_front(HWND window, const RECT *area)
{
    const HWND front = GetForegroundWindow();
    RECT place, both;

    if (!front || !IsWindow(window) || !IsWindowVisible(front) || !GetWindowRect(front, &place) ||
        !IntersectRect(&both, &place, area))
        return NULL;
    return GetAncestor(front, GA_ROOTOWNER) == GetAncestor(window, GA_ROOTOWNER) ? window : front;
}

/* ---- what a thread takes out of its queue ------------------------------------------------- */

static struct listener {
    struct listener *next;
    DWORD thread;
    UINT windows;
    HHOOK hook;
    void (*alt_enter)(HWND window);
} * listeners;
static pthread_mutex_t listeners_lock = PTHREAD_MUTEX_INITIALIZER;

static LRESULT CALLBACK on_message(int code, WPARAM removed, LPARAM arg)
{
    enum { AGAIN = 1 << 30, ALT = 1 << 29 }; /* a key that is held down is one key */
    const MSG *m = (const MSG *)arg;
    void (*alt_enter)(HWND window) = NULL;

    if (code == HC_ACTION && removed == PM_REMOVE && m->message == WM_SYSKEYDOWN && m->wParam == VK_RETURN &&
        m->lParam & ALT && !(m->lParam & AGAIN)) {
        pthread_mutex_lock(&listeners_lock);
        for (struct listener *l = listeners; l; l = l->next)
            if (l->thread == GetCurrentThreadId())
                alt_enter = l->alt_enter;
        pthread_mutex_unlock(&listeners_lock);
    }
    if (alt_enter)
        alt_enter(m->hwnd);
    return CallNextHookEx(NULL, code, removed, arg);
}

DWORD window_watch(HWND window, void (*alt_enter)(HWND window))
{
    DWORD process = 0, thread = GetWindowThreadProcessId(window, &process);
    struct listener *l;

    if (!thread || process != GetCurrentProcessId())
        return 0;
    pthread_mutex_lock(&listeners_lock);
    for (l = listeners; l && l->thread != thread;)
        l = l->next;
    if (!l && (l = calloc(1, sizeof(*l)))) {
        *l = (struct listener){listeners, thread, 0,
                               SetWindowsHookExW(WH_GETMESSAGE, on_message, NULL, thread), alt_enter};
        listeners = l;
    }
    if (l)
        l->windows++;
    pthread_mutex_unlock(&listeners_lock);
    return l ? thread : 0;
}

void window_unwatch(DWORD thread)
{
    pthread_mutex_lock(&listeners_lock);
    for (struct listener **at = &listeners, *l; (l = *at); at = &l->next)
        if (l->thread == thread) {
            if (!--l->windows) {
                *at = l->next;
                UnhookWindowsHookEx(l->hook);
                free(l);
            }
            break;
        }
    pthread_mutex_unlock(&listeners_lock);
}

void window_resize(HWND window, UINT width, UINT height)
{
    RECT r = {0, 0, (LONG)width, (LONG)height};

    AdjustWindowRectEx(&r, (DWORD)GetWindowLongW(window, GWL_STYLE), FALSE,
                       (DWORD)GetWindowLongW(window, GWL_EXSTYLE));
    SetWindowPos(window, NULL, 0, 0, r.right - r.left, r.bottom - r.top,
                 SWP_NOMOVE | SWP_NOZORDER | SWP_NOACTIVATE);
}

void window_show(HWND window, const void *pixels, UINT pitch, UINT width, UINT height, bool blue_lowest)
{
    const DWORD masks[2][3] = {{0x0000FF, 0x00FF00, 0xFF0000}, {0xFF0000, 0x00FF00, 0x0000FF}};
    struct {
        BITMAPINFOHEADER header;
        DWORD masks[3];
    } info = {.header = {.biSize = sizeof(info.header),
                         .biWidth = (LONG)(pitch / 4),
                         .biHeight = -(LONG)height,
                         .biPlanes = 1,
                         .biBitCount = 32,
                         .biCompression = BI_BITFIELDS}};
    HDC dc = GetDC(window);
    UINT to_width, to_height;

    if (!dc)
        return;
    memcpy(info.masks, masks[blue_lowest], sizeof(info.masks));
    window_client(window, &to_width, &to_height);
    if (to_width == width && to_height == height)
        SetDIBitsToDevice(dc, 0, 0, width, height, 0, 0, 0, height, pixels, (const BITMAPINFO *)&info,
                          DIB_RGB_COLORS);
    else
        StretchDIBits(dc, 0, 0, (int)to_width, (int)to_height, 0, 0, (int)width, (int)height, pixels,
                      (const BITMAPINFO *)&info, DIB_RGB_COLORS, SRCCOPY);
    ReleaseDC(window, dc);
}

/* gdi32's D3DKMTCreateDCFromMemory and D3DKMTDestroyDCFromMemory, which the client's own functions of D3DKMT do not have. */
struct memory_dc {
    void *pMemory;
    UINT Format, Width, Height, Pitch;
    HDC hDeviceDc;
    void *pColorTable;
    HDC hDc;
    HANDLE hBitmap;
};

struct memory_dc_end {
    HDC hDc;
    HANDLE hBitmap;
};

static LONG gdi_call(const char *function, void *argument)
{
    union {
        FARPROC any;
        LONG(APIENTRY *call)(void *);
    } f = {GetProcAddress(GetModuleHandleA("gdi32.dll"), function)};

    return f.any ? f.call(argument) : -1;
}

HDC window_dc(void *pixels, UINT format, UINT width, UINT height, UINT pitch, void **bitmap)
{
    struct memory_dc m = {.pMemory = pixels,
                          .Format = format,
                          .Width = width,
                          .Height = height,
                          .Pitch = pitch,
                          .hDeviceDc = CreateCompatibleDC(NULL)};
    LONG failed = m.hDeviceDc ? gdi_call("D3DKMTCreateDCFromMemory", &m) : -1;

    if (m.hDeviceDc)
        DeleteDC(m.hDeviceDc);
    *bitmap = failed ? NULL : m.hBitmap;
    return failed ? NULL : m.hDc;
}

void window_dc_end(HDC dc, void *bitmap)
{
    struct memory_dc_end e = {dc, bitmap};

    GdiFlush();
    gdi_call("D3DKMTDestroyDCFromMemory", &e);
}

void window_gamma(const WCHAR *name, const DXGI_GAMMA_CONTROL *gamma)
{
    HDC dc = CreateDCW(name, name, NULL, NULL);
    WORD ramp[3][256];

    for (int i = 0; i < 256; i++) {
        const float rgb[3] = {gamma->GammaCurve[i].Red, gamma->GammaCurve[i].Green,
                              gamma->GammaCurve[i].Blue};

        for (int c = 0; c < 3; c++)
            ramp[c][i] = (WORD)(rgb[c] <= 0 ? 0 : rgb[c] >= 1 ? 65535 : rgb[c] * 65535 + 0.5f);
    }
    if (dc)
        SetDeviceGammaRamp(dc, ramp);
    if (dc)
        DeleteDC(dc);
}

void window_event_set(HANDLE event)
{
    SetEvent(event);
}

HANDLE window_semaphore(UINT count)
{
    return CreateSemaphoreW(NULL, (LONG)count, 16 + (LONG)count, NULL);
}

void window_semaphore_post(HANDLE semaphore)
{
    ReleaseSemaphore(semaphore, 1, NULL);
}

void window_semaphore_end(HANDLE semaphore)
{
    CloseHandle(semaphore);
}

UINT64 window_clock(void)
{
    LARGE_INTEGER now;

    QueryPerformanceCounter(&now);
    return (UINT64)now.QuadPart;
}

void window_debugger_break(void)
{
    if (IsDebuggerPresent())
        DebugBreak();
}

#else

UINT window_monitors(struct dxgi_monitor *m, UINT most)
{
    return 0;
}

HMONITOR window_monitor(HWND window)
{
    return NULL;
}

UINT window_modes(const WCHAR *name, struct dxgi_mode *m, UINT most)
{
    return 0;
}

bool window_mode_now(const WCHAR *name, struct dxgi_mode *m)
{
    return false;
}

bool window_mode_set(const WCHAR *name, const struct dxgi_mode *m)
{
    return false;
}

bool window_is(HWND window)
{
    return window != NULL;
}

bool window_minimized(HWND window)
{
    return false;
}

void window_client(HWND window, UINT *width, UINT *height)
{
    *width = *height = 0;
}

void window_full(HWND window, const RECT *area, struct dxgi_window *before)
{
}

void window_back(HWND window, struct dxgi_window *before, bool place)
{
}

HWND window_in_front(HWND window, const RECT *area)
{
    return NULL;
}

DWORD window_watch(HWND window, void (*alt_enter)(HWND window))
{
    return 0;
}

void window_unwatch(DWORD thread)
{
}

void window_resize(HWND window, UINT width, UINT height)
{
}

void window_show(HWND window, const void *pixels, UINT pitch, UINT width, UINT height, bool blue_lowest)
{
}

HDC window_dc(void *pixels, UINT format, UINT width, UINT height, UINT pitch, void **bitmap)
{
    return NULL;
}

void window_dc_end(HDC dc, void *bitmap)
{
}

void window_gamma(const WCHAR *name, const DXGI_GAMMA_CONTROL *gamma)
{
}

void window_event_set(HANDLE event)
{
}

HANDLE window_semaphore(UINT count)
{
    return NULL;
}

void window_semaphore_post(HANDLE semaphore)
{
}

void window_semaphore_end(HANDLE semaphore)
{
}

UINT64 window_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (UINT64)t.tv_sec * 1000000000u + (UINT64)t.tv_nsec;
}

void window_debugger_break(void)
{
}

#endif

HDC window_canvas(UINT width, UINT height, void **pixels, void **bitmap)
{
    enum { A8R8G8B8 = 21 };
    void *memory = calloc((size_t)width * height, 4);
    HDC dc = memory ? window_dc(memory, A8R8G8B8, width, height, width * 4, bitmap) : NULL;

    if (!dc)
        free(memory);
    else
        *pixels = memory;
    return dc;
}

void window_canvas_end(HDC dc, void *pixels, void *bitmap)
{
    window_dc_end(dc, bitmap);
    free(pixels);
}
