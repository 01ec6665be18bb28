/* SPDX-License-Identifier: MIT */
/* d3d.h: what the parts of the library share that stands between a Windows program and Wine's Direct3D (or ours): device.c, what a
 * device comes to; d3d9.c, d3d11.c and d3d12.c, what that is in the words of each.
 *
 * What Direct3D is made with in the process (OpenGL by wined3d, Vulkan by vkd3d, the D3DKMT client) is left alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include "hook.h"
#include "lose/slot.h"

enum d3d_state { D3D_ALIVE, D3D_HUNG, D3D_LOST };
enum { D3D_EVENTS = 256 };

struct d3d_device {
    struct d3d_device *next;
    void *object;
    enum lose_api api;
    struct lose_device *slot;
    _Atomic enum d3d_state state;
    _Atomic uint32_t innocent; /* another one's loss took it */
    bool ex;                   /* Direct3D 9Ex */
    HANDLE events[D3D_EVENTS]; /* that are to be set when it is lost */
    uint32_t num_events;
};

/* Every method has these, by Windows' calling convention: what it has not, costs nothing. None of them begins with a float. */
#define D3D_PARAMS void *self, void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i
#define D3D_ARGS   self, a, b, c, d, e, f, g, h, i
typedef HRESULT STDMETHODCALLTYPE d3d_method(D3D_PARAMS);
#define D3D_NEXT(index) ((d3d_method *)hook_was(self, index))(D3D_ARGS)
/* The number of a method. */
#define D3D_INDEX(interface, method) ((unsigned)(offsetof(interface##Vtbl, method) / sizeof(void *)))

/* What is made from now on in this process, by OpenGL or Vulkan, is Direct3D's. */
void d3d_claim_process(void);
/* The same in one call. */
bool d3d_claim_begin(void);
void d3d_claim_end(bool claimed);
/* Whether there can be no device now; `no`: what a fault answers instead, or S_OK. */
bool d3d_refused(enum lose_api api);
/* The device that this object is; made if there is none yet (`api`); NULL: there is no record, or no slot left. */
struct d3d_device *d3d_device(void *object, enum lose_api api);
struct d3d_device *d3d_find(void *object);
/* It is gone; or it begins anew, as Direct3D 9's Reset makes it. */
void d3d_gone(struct d3d_device *d);
void d3d_renewed(struct d3d_device *d);
/* Work is to be done. Where it hangs and `waits`, this lasts until the reset. */
enum d3d_state d3d_work(struct d3d_device *d, uint32_t frame, uint32_t draw, bool waits);
enum d3d_state d3d_state(struct d3d_device *d);
/* The program is told. */
HRESULT d3d_told(struct d3d_device *d, enum lose_gl_call call, HRESULT code);
/* The program goes on with what is lost. */
void d3d_used(struct d3d_device *d);
/* It waits for this: set when the device is lost. */
void d3d_will_set(struct d3d_device *d, HANDLE event);
/* Why: hung, for who did it; reset, for the others; removed, where it is not known: by --reset. */
HRESULT d3d_reason(const struct d3d_device *d, HRESULT hung, HRESULT reset, HRESULT removed);

/* Whom this process starts. */
void follow_open(HINSTANCE self);
/* Hooks what is there. */
void d3d9_open(void);
void d3d11_open(void);
void d3d12_open(void);
/* The methods of a swap chain of DXGI's. */
void d3d11_hook_chain(void *chain);
/* The device behind one: Direct3D 12's, or NULL. */
struct d3d_device *d3d12_of_chain(void *chain);
HRESULT d3d12_reason(struct d3d_device *d);
