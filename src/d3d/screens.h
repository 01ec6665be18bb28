/* SPDX-License-Identifier: MIT */
/* screens.h: factories, adapters, outputs and swap chains. */
#pragma once

#include "d3d/d3d.h"

/* What the objects of DXGI have in common; a child holds its parent. */
struct dxgi_object {
    const void *vtbl;
    LONG refs;
    const GUID *const *iids; /* what it is, besides IUnknown and IDXGIObject; NULL ends them */
    struct dxgi_object *parent;
    struct d3d_data *data;
    void (*end)(struct dxgi_object *o);
};

void *dxgi_object_create(size_t size, const void *vtbl, struct dxgi_object *parent, const GUID *const *iids);

struct dxgi_factory {
    struct dxgi_object object;
    UINT flags;
};

struct dxgi_adapter {
    struct dxgi_object object;
    UINT index;
};

struct dxgi_mode {
    UINT width, height, rate;
};

/* output.c */
struct dxgi_output {
    struct dxgi_object object;
    WCHAR name[32];
    RECT area;
    HMONITOR monitor; /* NULL: the service's display, which no window is on */
    struct d3d_device *owner;
};
HRESULT dxgi_output_create(struct dxgi_adapter *a, UINT index, struct dxgi_output **out);
/* The one that a window is on. */
HRESULT dxgi_output_of(struct dxgi_adapter *a, HWND window, struct dxgi_output **out);
/* The modes, the smallest first; the caller frees them. */
struct dxgi_mode *dxgi_modes(const struct dxgi_output *o, UINT *count);
bool dxgi_mode_now(const struct dxgi_output *o, struct dxgi_mode *mode);

/* swapchain.c */
HRESULT dxgi_swapchain_create(struct dxgi_factory *f, struct d3d_device *d, const DXGI_SWAP_CHAIN_DESC1 *desc,
                              const DXGI_SWAP_CHAIN_FULLSCREEN_DESC *full, HWND window, IDXGISwapChain **out);

/* window.c: what the window system does; where there is none, there are no monitors. */
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
/* Moves it so that its inside is so large. */
void window_resize(HWND window, UINT width, UINT height);
/* Rows of words, red lowest or blue lowest, into the window's inside, as large as that is. */
void window_show(HWND window, const void *pixels, UINT pitch, UINT width, UINT height, bool blue_lowest);
/* Memory for a picture that GDI draws on, blue lowest; NULL: there is no GDI. */
HDC window_canvas(UINT width, UINT height, void **pixels, void **bitmap);
void window_canvas_end(HDC dc, void *bitmap);
void window_gamma(const WCHAR *name, const DXGI_GAMMA_CONTROL *gamma);
void window_event_set(HANDLE event);
HANDLE window_semaphore(UINT count);
void window_semaphore_post(HANDLE semaphore);
void window_semaphore_end(HANDLE semaphore);
UINT64 window_clock(void);        /* QueryPerformanceCounter */
void window_debugger_break(void); /* at a debugger, if there is one */
