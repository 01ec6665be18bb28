/* SPDX-License-Identifier: MIT */
/* swapchain.h: a chain of buffers, to who presents it (swapchain.c) and to who gives it a screen (fullscreen.c). */
#pragma once

#include "d3d/presenter.h"
#include "d3d/screens.h"

enum { PRIMARIES = 4, BUFFERS = 16 };

struct swapchain {
    struct dxgi_object object;
    struct d3d_device *device;
    DXGI_SWAP_CHAIN_DESC1 desc;
    HWND window;
    /* What drop_buffers gives back, up to the presenter. */
    struct d3d_child *buffers[BUFFERS], *spare, *resolved, *primary[PRIMARIES];
    struct d3d_child *pictures[D3D_PICTURES]; /* on their way to the window */
    struct d3d_presenter *presenter;          /* NULL: there is no window */
    unsigned next;
    UINT presents;
    UINT64 presented; /* when, by window_clock */
    HANDLE latency;
    UINT latency_most;
    DXGI_RGBA background;
    /* fullscreen.c's */
    DXGI_SWAP_CHAIN_FULLSCREEN_DESC full;
    struct dxgi_output *target; /* NULL: windowed */
    struct dxgi_window before;
    HWND
        front; /* another window that was in front of all when this became full; NULL: there was none, or this was since */
    bool changing;
    DWORD thread;              /* that is listened to */
    struct swapchain *watched; /* the next one that has a window */
};

/* Its window is listened to from now on, and until dxgi_full_end, which leaves the screen. */
void dxgi_full_begin(struct swapchain *s);
void dxgi_full_end(struct swapchain *s);
/* Whether it has a screen for itself; as somebody asks, or another window took it from the chain (then it is left). */
bool dxgi_full(struct swapchain *s);
/* The same to who presents: DXGI_STATUS_OCCLUDED, once, where another window took it. A test takes note of nothing. */
HRESULT dxgi_full_present(struct swapchain *s, bool test);
