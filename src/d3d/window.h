/* SPDX-License-Identifier: MIT */
/* window.h: what the window system does, of every runtime here; where there is none, there are no monitors. */
#pragma once

#include <stdbool.h>

#include "d3d/com.h"

struct dxgi_mode {
    UINT width, height, rate;
};

struct dxgi_monitor {
    WCHAR name[32];
    RECT area;
    HMONITOR monitor;
};
struct dxgi_window { /* as it was before the full screen */
    LONG style, exstyle;
    RECT place;
    bool full, moded;
};
UINT window_monitors(struct dxgi_monitor *m, UINT most);
HMONITOR window_monitor(HWND window);
UINT window_modes(const WCHAR *name, struct dxgi_mode *m, UINT most);
bool window_mode_now(const WCHAR *name, struct dxgi_mode *m);
bool window_mode_set(const WCHAR *name, const struct dxgi_mode *m); /* NULL: the one that the user chose */
bool window_is(HWND window);
bool window_minimized(HWND window);
void window_client(HWND window, UINT *width, UINT *height);
void window_full(HWND window, const RECT *area, struct dxgi_window *before);
void window_back(HWND window, struct dxgi_window *before, bool place);
/* The foreground window, if some of it is in the area: `window` itself, also for one of its own; NULL: none is. */
HWND window_in_front(HWND window, const RECT *area);
/* From now on Alt+Enter in a window of its thread is told, by that thread. What window_unwatch gives back; 0: it is another process'. */
DWORD window_watch(HWND window, void (*alt_enter)(HWND window));
void window_unwatch(DWORD thread);
/* Moves it so that its inside is so large. */
void window_resize(HWND window, UINT width, UINT height);
/* Rows of words, red lowest or blue lowest, into the window's inside, as large as that is. */
void window_show(HWND window, const void *pixels, UINT pitch, UINT width, UINT height, bool blue_lowest);
/* GDI draws on these rows of pixels, whose format is a D3DDDIFORMAT; NULL: it cannot, or there is none. */
HDC window_dc(void *pixels, UINT format, UINT width, UINT height, UINT pitch, void **bitmap);
void window_dc_end(HDC dc, void *bitmap); /* and has drawn it then */
/* Memory for a picture that GDI draws on, blue lowest; NULL: there is no GDI. */
HDC window_canvas(UINT width, UINT height, void **pixels, void **bitmap);
void window_canvas_end(HDC dc, void *pixels, void *bitmap);
void window_gamma(const WCHAR *name, const DXGI_GAMMA_CONTROL *gamma);
void window_event_set(HANDLE event);
HANDLE window_semaphore(UINT count);
void window_semaphore_post(HANDLE semaphore);
void window_semaphore_end(HANDLE semaphore);
UINT64 window_clock(void);        /* QueryPerformanceCounter */
void window_debugger_break(void); /* at a debugger, if there is one */
