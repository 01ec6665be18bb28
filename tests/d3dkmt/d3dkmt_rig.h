/* SPDX-License-Identifier: MIT */
/* d3dkmt_rig.h: dxgkrnl on a toy GPU (tests/softgpu), reached by the D3DKMT functions, and what a program does with them. */
#pragma once

#include <sys/types.h>

#include "d3dkmt/server.h"
#include "../dxgkrnl/softgpu/device.h"

extern struct rig {
    struct clock clock;
    struct softgpu gpu;
    struct dxgk *dxgk;
    struct d3dkmt_server *server;
    struct dxgk_client *local;
    struct d3dkmt_transport transport;
    char path[108];
} rig;

/* Set-ups of a test: in this process; a service that nobody knows of but the environment; one that is connected to. */
int rig_up_local(void **state);
int rig_up_served(void **state);
const char *rig_subuid(void); /* where that one looks for subordinate users; there is no such file yet */
int rig_up_connected(void **state);
int rig_down(void **state);
#define TEST_IN(name, how) TEST_WITH(name, rig_up_##how, rig_down)
#define ALSO_IN(name, how) TEST_ROW(#name, name, rig_up_##how, rig_down)

struct app {
    D3DKMT_HANDLE adapter, device, context;
    UINT source;
    struct softgpu_cmd *cmd;
    D3DDDI_ALLOCATIONLIST *list;
    unsigned n;
};

NTSTATUS app_open(struct app *a);
void app_close(struct app *a);
/* A time-out at once: which a busy machine brings about by itself is none that a test waits for. */
void app_force_tdr(const struct app *a);
NTSTATUS app_alloc(struct app *a, uint32_t size, bool primary, bool shared, D3DKMT_HANDLE *out,
                   D3DKMT_CREATEALLOCATION *c);
/* Renders one command; what `progress` counts after it. */
uint64_t app_render(struct app *a, uint32_t op, uint32_t value, D3DKMT_HANDLE alloc, uint32_t words,
                    NTSTATUS expected);
uint32_t *app_lock(struct app *a, D3DKMT_HANDLE h);
void app_unlock(struct app *a, D3DKMT_HANDLE h);

/* Runs fn in a process of its own, half a minute at most; its exit status, or 128 and the signal. */
pid_t run_in_child(int (*fn)(void *arg), void *arg);
int child_result(pid_t pid);
/* Until no client is left. */
void rig_await_nobody(void);
