/* SPDX-License-Identifier: MIT */
/* request.c: what a client asks for, done. */
#include "d3dkmt/server.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "d3dkmt/wire.h"

enum { ARG_MAX_SIZE = 1024 };

static NTSTATUS local_call(void *client, enum d3dkmt_thunk thunk, void *arg)
{
    switch (thunk) {
#define CASE(name, type)                                                                                     \
    case D3DKMT_THUNK_##name:                                                                                \
        return dxgk_##name(client, arg);
        D3DKMT_WIRE_THUNKS(CASE)
#undef CASE
    case D3DKMT_NUM_THUNKS:
        break;
    }
    return STATUS_NOT_IMPLEMENTED;
}

static const struct dxgk_progress *local_progress(void *client, D3DKMT_HANDLE context)
{
    return dxgk_context_progress(client, context);
}

static NTSTATUS local_wait(void *client, D3DKMT_HANDLE context, uint64_t value, uint64_t timeout_ns)
{
    return dxgk_wait_progress(client, context, value, timeout_ns);
}

void d3dkmt_local(struct d3dkmt_transport *t, struct dxgk_client *client)
{
    *t = (struct d3dkmt_transport){local_call, local_progress, local_wait, client};
}

/* ---- one request --------------------------------------------------------- */

size_t d3dkmt_refuse(void *reply, uint32_t thunk, NTSTATUS s)
{
    struct wire_header h = {.magic = WIRE_MAGIC, .thunk = thunk, .size = sizeof(h), .status = s};

    memcpy(reply, &h, sizeof(h));
    return sizeof(h);
}

/* Where a request has its event, which is the descriptor that came with it, not a number that the client wrote. NULL: nowhere. */
static HANDLE *event_of(enum d3dkmt_thunk thunk, void *arg)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 *c = arg;
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 *s = arg;

    if (thunk == D3DKMT_THUNK_CreateSynchronizationObject2 && c->Info.Type == D3DDDI_CPU_NOTIFICATION)
        return &c->Info.CPUNotification.Event;
    return thunk == D3DKMT_THUNK_SignalSynchronizationObject2 && s->Flags.EnqueueCpuEvent ? &s->CpuEventHandle
                                                                                          : NULL;
}

/* Addresses of this process are nobody else's business. */
static void clear_nested(enum d3dkmt_thunk thunk, void *arg)
{
    D3DKMT_CREATEALLOCATION *c = arg;
    D3DKMT_OPENRESOURCE *o = arg;

    for (UINT i = 0; thunk == D3DKMT_THUNK_CreateAllocation && c->pAllocationInfo && i < c->NumAllocations;
         i++)
        c->pAllocationInfo[i].pPrivateDriverData = NULL;
    for (UINT i = 0; thunk == D3DKMT_THUNK_OpenResource && o->pOpenAllocationInfo && i < o->NumAllocations;
         i++)
        o->pOpenAllocationInfo[i].pPrivateDriverData = NULL;
}

size_t d3dkmt_handle(struct dxgk_client *c, const void *msg, size_t size, int fd, void *reply, int *reply_fd,
                     bool *bad)
{
    _Alignas(16) uint8_t arg[ARG_MAX_SIZE];
    enum d3dkmt_thunk thunk = D3DKMT_NUM_THUNKS;
    struct wire_header h;
    uint64_t lengths[4], offset = 0, length = 0;
    HANDLE *event = NULL, theirs = NULL;
    void *heap;
    size_t n;
    NTSTATUS s = d3dkmt_wire_parse(msg, size, &thunk, arg, &heap);

    INVARIANT(!NT_SUCCESS(s) || thunk < D3DKMT_NUM_THUNKS);
    *reply_fd = -1;
    *bad = !NT_SUCCESS(s);
    if (NT_SUCCESS(s) && (event = event_of(thunk, arg))) {
        theirs = *event;
        *event = (HANDLE)(intptr_t)fd;
        s = fd >= 0 ? s : STATUS_INVALID_HANDLE;
    }
    if (!NT_SUCCESS(s)) {
        free(heap);
        return d3dkmt_refuse(reply, (uint32_t)thunk, s);
    }
    d3dkmt_wire_lengths(thunk, arg, lengths);
    s = local_call(c, thunk, arg);
    if (event)
        *event = theirs;
    if (NT_SUCCESS(s) && thunk == D3DKMT_THUNK_CreateContext)
        s = dxgk_context_fd(c, ((D3DKMT_CREATECONTEXT *)arg)->hContext, reply_fd, &length);
    if (NT_SUCCESS(s) && thunk == D3DKMT_THUNK_Lock) {
        D3DKMT_LOCK *l = (D3DKMT_LOCK *)arg;
        s = dxgk_lock_fd(c, l->hAllocation, reply_fd, &offset, &length);
        if (!NT_SUCCESS(s))
            dxgk_Unlock(c, &(D3DKMT_UNLOCK){l->hDevice, 1, &l->hAllocation});
    }
    if (NT_SUCCESS(s) && thunk == D3DKMT_THUNK_WaitForVerticalBlankEvent)
        *reply_fd = dxgk_vblanks_fd(c, &length); /* without it the next wait is a call again */
    clear_nested(thunk, arg);
    n = d3dkmt_wire_write(reply, thunk, arg, s, lengths);
    INVARIANT(n <= WIRE_MAX && (!n || n >= sizeof(h)));
    free(heap);
    if (!n)
        return d3dkmt_refuse(reply, (uint32_t)thunk, STATUS_BUFFER_OVERFLOW);
    memcpy(&h, reply, sizeof(h));
    h.fd_offset = offset;
    h.fd_size = length;
    memcpy(reply, &h, sizeof(h));
    return n;
}
