/* SPDX-License-Identifier: MIT */
/* server.h: D3DKMT for other processes, and for this one.
 *
 *   connect ──hello──▶ client of dxgkrnl ──requests, replies──▶ peer goes ──▶ last connection ──▶ client closed
 *
 * The socket's owner and mode decide who may connect. A client is the process that said hello first, with every
 * connection that presents the cookie it was given from the same process; it is privileged when its uid is 0 or
 * the service's own. Each connection has a thread, so that a call that waits holds up nobody else. When the last
 * connection of a client ends, or one ends under a call, everything that the client owned goes. A service whose connections
 * are all taken still answers who wants to know why: on a spare connection what would make a device is
 * STATUS_INSUFFICIENT_RESOURCES.
 */
#pragma once

#include <sys/types.h>

#include "base/public.h"
#include "d3dkmt/d3dkmt.h"
#include "dxgkrnl/dxgkrnl.h"

PUBLIC_BEGIN

enum {
    D3DKMT_MAX_CONNECTIONS =
        512, /* further ones, and of strangers the last 16th, are for diagnosis only: they ask and escape, but have no device */
    D3DKMT_MAX_PER_PROCESS = 256, /* a stranger's user has a share of them all besides (base/fair.h) */
    D3DKMT_HANDSHAKE_S = 3,       /* a connection that says nothing for so long is ended */
    D3DKMT_MAX_SPARE = 16, /* so many of these; a further one takes the place of the oldest that is idle */
    D3DKMT_MAX_MESSAGE = 160 * 1024,
};

struct d3dkmt_server;

struct d3dkmt_serve_params {
    struct dxgk *dxgk;
    const char *path; /* of the socket; one that nobody listens on is replaced */
    unsigned mode;    /* of the socket; 0600 lets the service's own uid in */
    gid_t group;      /* (gid_t)-1: unchanged */
    bool by_user;     /* all processes of a user are one to dxgkrnl and the miniport */
    uid_t seat; /* who may set modes and show primaries, besides root and the service's own; 0: nobody */
    const char *subuid; /* a subuid(5) file, which must remain; NULL: /etc/subuid */
};

/* -EADDRINUSE: somebody listens there; -ENOTSOCK: what is there is no socket. */
int d3dkmt_serve(struct d3dkmt_server **out, const struct d3dkmt_serve_params *p, struct error *err);
/* Ends every connection and waits for their threads. */
void d3dkmt_serve_end(struct d3dkmt_server *s);

struct d3dkmt_server_stats {
    uint64_t connections, clients, calls;
    uint64_t refused; /* malformed requests, connections over the limit */
    uint64_t late;    /* connections that were kept waiting for their user's budget (budget.h) */
    unsigned connected, open_clients; /* now */
};
void d3dkmt_serve_stats(struct d3dkmt_server *s, struct d3dkmt_server_stats *out);

/* The calls of this process on a client of its own, without a socket: d3dkmt_use(&t) after it. */
void d3dkmt_local(struct d3dkmt_transport *t, struct dxgk_client *client);

/* One request of `size` bytes with descriptor `fd` (or -1) into one reply (D3DKMT_MAX_MESSAGE bytes); *reply_fd is a
 * descriptor to send along, owned by dxgkrnl, or -1. The reply's size; *bad says that the request was malformed. For the
 * server, and for fuzzing it. */
size_t d3dkmt_handle(struct dxgk_client *c, const void *msg, size_t size, int fd, void *reply, int *reply_fd,
                     bool *bad);
/* The reply that a request is refused with: its size. */
size_t d3dkmt_refuse(void *reply, uint32_t thunk, NTSTATUS s);

PUBLIC_END
