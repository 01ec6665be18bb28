/* SPDX-License-Identifier: MIT */
/* dxgkrnl_rig.h: dxgkrnl on a toy GPU with a miniport that it does not know (tests/softgpu), and one client. */
#pragma once

#include "softgpu/device.h"

struct world {
    struct clock clock;
    struct loop *loop; /* NULL: live */
    struct softgpu gpu;
    struct dxgk *dxgk;
    struct dxgk_client *client;
    D3DKMT_HANDLE adapter;
};

/* A context on a device of its own; put commands into it, then render. */
struct ctx {
    D3DKMT_HANDLE device, context;
    struct softgpu_cmd *cmd;
    D3DDDI_ALLOCATIONLIST *list;
    unsigned n;
};

/* A setting of the worlds that come up until the next one goes down. */
void world_set(const char *name, uint32_t value);
void world_up(struct world *w, bool live);
/* Checks that there were so many violations, and that nothing is left. */
void world_down(struct world *w, unsigned violations);
NTSTATUS world_escape(struct world *w, struct softgpu_escape *e);
/* A device is lost before the recovery is over; lets it end. */
void world_settle(struct world *w);
D3DKMT_DEVICEEXECUTION_STATE device_state(struct world *w, D3DKMT_HANDLE device);

struct ctx ctx_make(struct world *w, struct dxgk_client *c, D3DKMT_HANDLE adapter);
/* Another on the same device. */
struct ctx ctx_second(struct world *w, const struct ctx *a);
NTSTATUS ctx_allocate(struct world *w, struct ctx *x, uint32_t size, bool primary, D3DKMT_HANDLE *out);
void ctx_put(struct ctx *x, uint32_t op, uint32_t value, uint64_t at, uint32_t count, uint32_t index);
NTSTATUS ctx_render(struct dxgk_client *c, struct ctx *x, const D3DKMT_HANDLE *allocs, unsigned num);
NTSTATUS ctx_idle(struct dxgk_client *c, struct ctx *x);
void ctx_hang(struct world *w, struct ctx *x); /* and recovers */

D3DKMT_HANDLE sync_make(struct world *w, const struct ctx *x, D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info);
/* Queued behind the context's work. */
void sync_wait(struct world *w, const struct ctx *x, D3DKMT_HANDLE o, UINT64 value);
void sync_signal(struct world *w, const struct ctx *x, D3DKMT_HANDLE o, UINT64 value);
