/* SPDX-License-Identifier: MIT */
/* screens.h: factories, adapters, outputs and swap chains. */
#pragma once

#include "d3d/d3d.h"
#include "d3d/window.h"

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
    struct dxgi_association *windows;
};

struct dxgi_adapter {
    struct dxgi_object object;
    UINT index;
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

/* fullscreen.c */
void dxgi_factory_end(struct dxgi_object *o);

/* swapchain.c */
HRESULT dxgi_swapchain_create(struct dxgi_factory *f, struct d3d_device *d, const DXGI_SWAP_CHAIN_DESC1 *desc,
                              const DXGI_SWAP_CHAIN_FULLSCREEN_DESC *full, HWND window, IDXGISwapChain **out);
