/* SPDX-License-Identifier: MIT */
/* d3dkmt.h: the D3DKMT* functions for applications, tools and user-mode drivers, and where they lead.
 *
 * The functions themselves are in wddm/d3dkmthk.h. Where they lead is chosen once a process:
 *  - d3dkmt_use: to dxgkrnl in the same process (d3dkmt/server.h makes such a transport);
 *  - d3dkmt_connect: to the service (`aerogpu serve`) that listens on a Unix socket;
 *  - neither: to the service whose socket $AEROGPU_SOCKET names; without it every function returns
 *    STATUS_NO_SUCH_DEVICE.
 *
 * All functions are safe from any thread. Over a socket each thread that calls has a connection of its own, so
 * that a call that waits holds up nobody else. A child after fork() is a client of its own: handles of the
 * parent are not its.
 */
#pragma once

#include "base/error_type.h"
#include "base/public.h"
#include "wddm/d3dkmthk.h"

PUBLIC_BEGIN

struct dxgk_progress; /* dxgkrnl/progress.h */

#define D3DKMT_SOCKET_VARIABLE "AEROGPU_SOCKET"
/* Where a service listens whose user has no folder of his own: anybody may take it first, so a client asks who has it. */
#define D3DKMT_SOCKET_OF_USER "/tmp/aerogpu-%u.sock"
#define D3DKMT_FOREVER        UINT64_MAX

enum d3dkmt_thunk {
#define D3DKMT_ID(name, type) D3DKMT_THUNK_##name,
    D3DKMT_WIRE_THUNKS(D3DKMT_ID)
#undef D3DKMT_ID
        D3DKMT_NUM_THUNKS
};

struct d3dkmt_transport {
    NTSTATUS (*call)(void *ctx, enum d3dkmt_thunk thunk, void *arg);
    const struct dxgk_progress *(*progress)(void *ctx, D3DKMT_HANDLE context);
    NTSTATUS (*wait)(void *ctx, D3DKMT_HANDLE context, uint64_t value, uint64_t timeout_ns);
    void *ctx;
};

/* The functions lead to `t`, the caller's memory, from now on; NULL: nowhere, and $AEROGPU_SOCKET counts again. */
void d3dkmt_use(const struct d3dkmt_transport *t);

/* The functions lead to the service that listens on `path`. 0; -ECONNREFUSED and -ENOENT: there is none; -EACCES:
 * the socket's mode forbids it; -ENAMETOOLONG; -EPROTO: it is something else. */
int d3dkmt_connect(const char *path, struct error *err);
/* Ends the connections; what the process owned goes. No call may be under way. */
void d3dkmt_disconnect(void);

/* How far a context is, without a call: valid until the context or its device is destroyed. NULL: no such context.
 * After a Render or Present of the only thread that uses the context, `queued` is the number of its last packet. */
const struct dxgk_progress *d3dkmt_progress(D3DKMT_HANDLE context);

/* Waits until the context has completed `value` packets. STATUS_SUCCESS; STATUS_DEVICE_REMOVED (also when the service
 * is gone); STATUS_TIMEOUT, which NT_SUCCESS takes for a success; STATUS_INVALID_HANDLE. */
NTSTATUS d3dkmt_wait(D3DKMT_HANDLE context, uint64_t value, uint64_t timeout_ns);

PUBLIC_END
