/* SPDX-License-Identifier: MIT */
/* keyed_mutex.c: mutexes with a value, by which processes take turns at what they share.
 *
 *   free, value k ──Acquire(k)──▶ held by one handle ──Release(k')──▶ free, value k'
 *                                        └─ the handle goes ─▶ abandoned ──Acquire(any)──▶ abandoned (STATUS_ABANDONED_WAIT_0)
 *
 * Invariants:
 *  1. At most one handle holds it. Who asks for another value waits, also where nobody holds it; nobody holds or waits for an abandoned
 *     one: what it guards is in no state that its next value says, and who shares it makes both anew.
 *  2. It lives as long as somebody has it open; then its share handle names nothing.
 */
#include "dxgkrnl/thunks/thunks.h"

#include <stdlib.h>
#include <time.h>

struct keyed_mutex {
    D3DKMT_HANDLE share;
    UINT64 key, fence;
    unsigned opened;
    struct keyed_open *holder;
    bool abandoned;
};

struct keyed_open {
    struct keyed_open *next; /* of dxgk's */
    struct dxgk_client *client;
    struct keyed_mutex *mutex;
    D3DKMT_HANDLE handle;
};

static void check(const struct keyed_mutex *m)
{
    INVARIANT(m->opened && m->share);
    INVARIANT(!m->holder || (m->holder->mutex == m && !m->abandoned)); /* 1 */
}

static void close_one(struct dxgk *d, struct keyed_open *o)
{
    struct keyed_mutex *m = o->mutex;

    check(m);
    LIST_DROP(&d->keyed, o, next);
    dxgk_handle_free(d, o->handle);
    if (m->holder == o) {
        m->holder = NULL;
        m->abandoned = true;
    }
    free(o);
    if (!--m->opened) { /* 2 */
        dxgk_share_free(d, SHARE_KEYED_MUTEX, m->share);
        free(m);
    }
    dxgk_kernel_wake_all(d->kernel, &d->progress);
}

void dxgk_keyed_close_all(struct dxgk *d, const struct dxgk_client *c)
{
    for (struct keyed_open *o = d->keyed, *next; o; o = next) {
        next = o->next;
        if (o->client == c)
            close_one(d, o);
    }
}

static NTSTATUS open_it(struct dxgk *d, struct dxgk_client *c, struct keyed_mutex *m, D3DKMT_HANDLE *handle)
{
    struct keyed_open *o = calloc(1, sizeof(*o));

    if (!o)
        return STATUS_NO_MEMORY;
    *o = (struct keyed_open){.client = c, .mutex = m};
    *handle = o->handle = dxgk_handle_new(d, HANDLE_KEYED_MUTEX, c, o);
    if (!o->handle) {
        free(o);
        return STATUS_NO_MEMORY;
    }
    m->opened++;
    o->next = d->keyed;
    d->keyed = o;
    check(m);
    return STATUS_SUCCESS;
}

NTSTATUS dxgk_CreateKeyedMutex(struct dxgk_client *c, D3DKMT_CREATEKEYEDMUTEX *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct keyed_mutex *m = calloc(1, sizeof(*m));
    NTSTATUS s = STATUS_NO_MEMORY;

    arg->hKeyedMutex = arg->hSharedHandle = 0;
    if (m) {
        m->key = arg->InitialValue;
        m->share = dxgk_share_new(d, SHARE_KEYED_MUTEX, m);
        if (m->share)
            s = open_it(d, c, m, &arg->hKeyedMutex);
    }
    if (NT_SUCCESS(s)) {
        arg->hSharedHandle = m->share;
    } else if (m) {
        if (m->share)
            dxgk_share_free(d, SHARE_KEYED_MUTEX, m->share);
        free(m);
    }
    return dxgk_thunk_leave(d, s);
}

NTSTATUS dxgk_OpenKeyedMutex(struct dxgk_client *c, D3DKMT_OPENKEYEDMUTEX *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct keyed_mutex *m = dxgk_share_get(d, SHARE_KEYED_MUTEX, arg->hSharedHandle, c);

    arg->hKeyedMutex = 0;
    return dxgk_thunk_leave(d, m ? open_it(d, c, m, &arg->hKeyedMutex) : STATUS_INVALID_PARAMETER);
}

NTSTATUS dxgk_DestroyKeyedMutex(struct dxgk_client *c, CONST D3DKMT_DESTROYKEYEDMUTEX *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct keyed_open *o = dxgk_handle_get(d, arg->hKeyedMutex, HANDLE_KEYED_MUTEX, c);

    if (!o)
        return dxgk_thunk_leave(d, STATUS_INVALID_HANDLE);
    close_one(d, o);
    return dxgk_thunk_leave(d, STATUS_SUCCESS);
}

/* Of the kernel's clock: relative times are below zero, absolute ones count from 1601. */
static uint64_t deadline_of(const struct dxgk *d, const LARGE_INTEGER *timeout)
{
    const int64_t since_1601 = 11644473600 * INT64_C(10000000);
    uint64_t now = dxgk_kernel_now(d->kernel);
    struct timespec wall;
    int64_t left;

    if (!timeout)
        return LOOP_FOREVER;
    clock_gettime(CLOCK_REALTIME, &wall);
    left = timeout->QuadPart <= 0
               ? (timeout->QuadPart == INT64_MIN ? INT64_MAX : -timeout->QuadPart)
               : timeout->QuadPart - since_1601 - (wall.tv_sec * INT64_C(10000000) + wall.tv_nsec / 100);
    if (left <= 0)
        return now;
    return (uint64_t)left >= (LOOP_FOREVER - 1 - now) / 100 ? LOOP_FOREVER - 1 : now + (uint64_t)left * 100;
}

NTSTATUS dxgk_AcquireKeyedMutex(struct dxgk_client *c, D3DKMT_ACQUIREKEYEDMUTEX *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    const uint64_t deadline = deadline_of(d, arg->pTimeout);

    for (;;) {
        struct keyed_open *o = dxgk_handle_get(d, arg->hKeyedMutex, HANDLE_KEYED_MUTEX, c);
        struct keyed_mutex *m = o ? o->mutex : NULL;

        if (!m)
            return dxgk_thunk_leave(d, STATUS_INVALID_HANDLE);
        check(m);
        if (c->cancelled)
            return dxgk_thunk_leave(d, STATUS_CANCELLED);
        if (m->holder == o) /* it would wait for itself */
            return dxgk_thunk_leave(d, STATUS_INVALID_PARAMETER);
        if (m->abandoned)
            return dxgk_thunk_leave(d, STATUS_ABANDONED_WAIT_0);
        if (!m->holder && m->key == arg->Key) {
            m->holder = o;
            arg->FenceValue = m->fence;
            return dxgk_thunk_leave(d, STATUS_SUCCESS);
        }
        if (dxgk_kernel_now(d->kernel) >= deadline)
            return dxgk_thunk_leave(d, STATUS_TIMEOUT);
        dxgk_kernel_wait(d->kernel, &d->progress, deadline);
    }
}

NTSTATUS dxgk_ReleaseKeyedMutex(struct dxgk_client *c, D3DKMT_RELEASEKEYEDMUTEX *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct keyed_open *o = dxgk_handle_get(d, arg->hKeyedMutex, HANDLE_KEYED_MUTEX, c);

    if (!o)
        return dxgk_thunk_leave(d, STATUS_INVALID_HANDLE);
    if (o->mutex->holder != o)
        return dxgk_thunk_leave(d, STATUS_INVALID_PARAMETER);
    o->mutex->holder = NULL;
    o->mutex->key = arg->Key;
    o->mutex->fence = arg->FenceValue;
    dxgk_kernel_wake_all(d->kernel, &d->progress);
    return dxgk_thunk_leave(d, STATUS_SUCCESS);
}
