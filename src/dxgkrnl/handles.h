/* SPDX-License-Identifier: MIT */
/* handles.h: D3DKMT handles: (serial << 16 | index + 1) of one table, so that a stale handle names nothing.
 *
 * Invariants:
 *  1. A slot that is free has no object; one that is in use has a serial from 0x4000 up, and so no handle is 0.
 *  2. A handle answers to its client alone, or to everybody where it has none.
 */
#pragma once

#include "base/map.h"
#include "dxgkrnl/dxgkrnl.h"

struct resource;

enum handle_type {
    HANDLE_FREE,
    HANDLE_ADAPTER,
    HANDLE_DEVICE,
    HANDLE_CONTEXT,
    HANDLE_ALLOC,
    HANDLE_RES,
    HANDLE_SYNC,
    HANDLE_KEYED_MUTEX
};

/* What share handles open: struct resource, struct keyed_mutex. */
enum share_type { SHARE_RESOURCE, SHARE_KEYED_MUTEX, SHARES };

struct handle_entry {
    enum handle_type type;
    struct dxgk_client *client; /* NULL: everybody's */
    void *object;
    uint16_t serial;
    uint16_t next; /* of a free one: the next, + 1 */
};

struct handles {
    struct handle_entry *table;
    unsigned count, free; /* free: the first, + 1 */
    struct map shares[SHARES];
};

/* 0 without memory, or when 65534 are open. */
D3DKMT_HANDLE dxgk_handle_new(struct dxgk *d, enum handle_type type, struct dxgk_client *client,
                              void *object);
/* The object, or NULL: no such handle, one of another type, one of another client. */
void *dxgk_handle_get(struct dxgk *d, D3DKMT_HANDLE h, enum handle_type type,
                      const struct dxgk_client *client);
/* Whosever it is: for the miniport. */
void *dxgk_handle_any(struct dxgk *d, D3DKMT_HANDLE h, enum handle_type type);
void dxgk_handle_free(struct dxgk *d, D3DKMT_HANDLE h);
/* A share handle opens an object to any client that says it, so it comes from the kernel's random source, and a client that says
 * too many wrong ones (offenders.h) opens no more. 0: there is none. A NULL client is the kernel. */
D3DKMT_HANDLE dxgk_share_new(struct dxgk *d, enum share_type type, void *object);
void *dxgk_share_get(struct dxgk *d, enum share_type type, D3DKMT_HANDLE h, struct dxgk_client *client);
void dxgk_share_free(struct dxgk *d, enum share_type type, D3DKMT_HANDLE h);
/* All that `client` still has: names only, the objects are their owners'. */
void dxgk_handle_free_all(struct dxgk *d, const struct dxgk_client *client);
