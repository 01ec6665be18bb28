/* SPDX-License-Identifier: MIT */
/* sync.h: synchronisation objects: what WAIT and SIGNAL packets wait for and signal.
 *
 * Invariants:
 *  1. A semaphore's value is at most its maximum; a mutex is a semaphore of one.
 *  2. An object lives as long as its handle or a packet names it.
 */
#pragma once

#include "dxgkrnl/dxgkrnl.h"

struct syncobj {
    struct syncobj *next; /* of the device */
    D3DDDI_SYNCHRONIZATIONOBJECT_TYPE type;
    struct device *device;
    D3DKMT_HANDLE handle;
    uint64_t value; /* fence value, or count */
    uint64_t max;
    int event_fd;
    unsigned refs; /* packets that name it, and the handle */
};

/* STATUS_INVALID_PARAMETER, STATUS_INVALID_HANDLE (the event), STATUS_NO_MEMORY; the object has no handle yet. */
NTSTATUS dxgk_sync_create(struct device *dev, const D3DDDI_SYNCHRONIZATIONOBJECTINFO2 *info,
                          struct syncobj **out);
/* keyed_mutex.c: what a client has open goes; the mutex that it held is abandoned. */
void dxgk_keyed_close_all(struct dxgk *d, const struct dxgk_client *c);
void dxgk_sync_unref(struct syncobj *s); /* NULL is legal */
/* Takes the handle away, and the reference that it had. */
void dxgk_sync_close(struct syncobj *s);

/* Whether all of them are signalled (a fence: has reached `value`); then what is counted is taken. */
bool dxgk_sync_take(struct syncobj *const *s, unsigned count, uint64_t value);
void dxgk_sync_signal(struct dxgk *d, struct syncobj *const *s, unsigned count, uint64_t value);
/* A descriptor of the event, for ourselves; -1: it is no eventfd. */
int dxgk_sync_dup_event(int event_fd);
/* Signals an event of a client; -1 is none. Never waits, whatever the client does to the event meanwhile. */
void dxgk_sync_signal_event(struct dxgk *d, int event_fd);

/* An event shares its flags and its count with the client, so a write to it could be made to wait at any instant. The kernel
 * itself signals without waiting: as what it does when an asynchronous read has ended. */
struct signaller {
    unsigned long context; /* aio_context_t */
    int fd;                /* of one byte to read */
};
int dxgk_signaller_init(struct signaller *s);
void dxgk_signaller_finish(struct signaller *s);
