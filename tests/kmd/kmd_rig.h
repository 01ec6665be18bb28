/* SPDX-License-Identifier: MIT */
/* kmd_rig.h: the whole stack with one client, for tests of the miniport: everything goes through D3DKMT thunks. */
#pragma once

#include "abi/builder.h"
#include "aerogpu/alloc.h"
#include "aerogpu/escape.h"
#include "aerogpu/ext.h"
#include "aerogpu/pci.h"
#include "base/clock.h"
#include "stack/stack.h"

struct rig {
    struct stack *stack;
    struct dxgk *dxgk;
    struct dxgk_client *client;
    D3DKMT_HANDLE adapter;
    struct settings settings;
    bool live;
};

struct rig_context {
    struct dxgk_client *client;
    D3DKMT_HANDLE device, context;
    void *command;
    D3DDDI_ALLOCATIONLIST *list;
    UINT command_size, list_size;
};

#define RIG_SERVICE "HKLM\\SYSTEM\\CurrentControlSet\\Services\\aerogpu\\Parameters"

/* rig->settings may hold values already; zero `p` members get defaults. */
void rig_up(struct rig *r, const struct stack_params *p);
void rig_down(struct rig *r); /* no violation may have been recorded */
void rig_down_with(struct rig *r, unsigned violations);
void rig_set(struct rig *r, const char *key, const char *name, uint32_t value);

struct rig_context rig_context(struct rig *r, struct dxgk_client *c);
/* The same on the engine that is the client's own; `node`: which. */
struct rig_context rig_own_context(struct rig *r, struct dxgk_client *c, UINT *node);
void rig_context_destroy(struct rig_context *x);
/* An allocation with private data; `width` 0: a buffer. */
struct aerogpu_alloc_priv_v2 rig_priv(uint32_t alloc_id, uint64_t size, uint32_t width, uint32_t height);
NTSTATUS rig_allocate(struct rig_context *x, struct aerogpu_alloc_priv_v2 *priv, D3DKMT_HANDLE *out);
void *rig_lock(struct rig_context *x, D3DKMT_HANDLE a);
void rig_unlock(struct rig_context *x, D3DKMT_HANDLE a);
/* Ends the builder's stream and renders it; `write` has a bit for each allocation that is written. */
NTSTATUS rig_render(struct rig_context *x, struct abi_builder *b, const D3DKMT_HANDLE *allocs, unsigned n,
                    uint32_t write);
NTSTATUS rig_idle(struct rig_context *x);
D3DKMT_DEVICEEXECUTION_STATE rig_state(struct rig_context *x);

#define RIG_ESCAPE(r, NAME, e)                                                                               \
    ((e)->header =                                                                                           \
         (struct aerogpu_escape_header){AEROGPU_ESCAPE_VERSION, AEROGPU_ESCAPE_OP_##NAME, sizeof(*(e)), 0},  \
     rig_escape(r, (r)->client, e, sizeof(*(e))))
NTSTATUS rig_escape(struct rig *r, struct dxgk_client *c, void *block, uint32_t size);
/* Where guest memory ends, as an administrator's READ_GPA finds it: behind RAM lies the screen. */
uint64_t rig_memory_end(struct rig *r, struct dxgk_client *admin);
