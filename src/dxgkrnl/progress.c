/* SPDX-License-Identifier: MIT */
/* progress.c: how far contexts are, and whether their devices are lost: what clients read (progress.h), and waits for it. */
#include "dxgkrnl/adapter.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WATCH_NS (500 * NSEC_PER_USEC)

static void publish(struct context *c)
{
    struct dxgk_progress *p = c->progress;

    if (!p)
        return;
    dxgk_kernel_wake_all(c->device->d->kernel, &c->done);
    atomic_store_explicit(&p->state, (uint32_t)c->device->state, memory_order_relaxed);
    atomic_store_explicit(&p->completed, c->packets_done, memory_order_release); /* after the state */
    p->change++;
    if (p->waiters)
        syscall(SYS_futex, &p->change, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void dxgk_context_packet_queued(struct context *c)
{
    c->packets++;
    if (c->progress)
        atomic_store_explicit(&c->progress->queued, c->packets, memory_order_release);
}

void dxgk_context_packet_done(struct context *c)
{
    INVARIANT(c->packets_done < c->packets); /* 2 */
    c->packets_done++;
    publish(c);
}

void dxgk_device_lose(struct device *dev, D3DKMT_DEVICEEXECUTION_STATE why)
{
    if (dev->state != D3DKMT_DEVICEEXECUTION_ACTIVE)
        return;
    INVARIANT(why != D3DKMT_DEVICEEXECUTION_ACTIVE); /* 1 */
    dev->state = why;
    dxgk_vblanks_changed(dev->d);
    for (struct context *c = dev->contexts; c; c = c->next)
        publish(c);
}

void dxgk_process_lose(struct dxgk *d, uint64_t process, const struct device *guilty,
                       D3DKMT_DEVICEEXECUTION_STATE why)
{
    for (struct device *dev = d->devices; dev; dev = dev->next)
        if (dev->client && dev->client->process == process)
            dxgk_device_lose(dev, !guilty || dev == guilty ? why : D3DKMT_DEVICEEXECUTION_RESET);
}

const struct dxgk_progress *dxgk_context_progress(struct dxgk_client *c, D3DKMT_HANDLE context)
{
    struct context *x;
    const struct dxgk_progress *p;

    dxgk_kernel_enter_turn(c->d->kernel, &c->turn);
    x = dxgk_handle_get(c->d, context, HANDLE_CONTEXT, c);
    p = x ? x->progress : NULL;
    dxgk_kernel_leave(c->d->kernel);
    return p;
}

struct watch {
    const struct dxgk_progress *progress;
    uint64_t value;
};

static bool watched(void *arg)
{
    const struct watch *w = arg;

    return w->progress->completed >= w->value || w->progress->state != D3DKMT_DEVICEEXECUTION_ACTIVE;
}

/* Lets the host wait for the device: good for work that is done soon. Only for a while, since the end may come without an
 * interrupt, or be noticed by a thread that has the processor just then. */
static void wait_by_host(struct dxgk_client *c, struct context *x, uint64_t value, uint64_t end)
{
    struct dxgk *d = c->d;
    struct watch w = {x->progress, value};
    uint64_t now = dxgk_kernel_now(d->kernel);

    x->watchers++;
    dxgk_kernel_leave(d->kernel);
    d->bus->wait(d->bus->ctx, watched, &w, end - now < WATCH_NS ? end - now : WATCH_NS);
    dxgk_kernel_enter_turn(d->kernel, &c->turn);
    INVARIANT(x->watchers);
    if (!--x->watchers)
        dxgk_kernel_wake_all(d->kernel, &x->idle);
}

static void note_awaited(struct context *x, uint64_t value)
{
    if (x && x->progress)
        atomic_store_explicit(&x->progress->awaited, value, memory_order_relaxed);
}

NTSTATUS dxgk_wait_progress(struct dxgk_client *c, D3DKMT_HANDLE context, uint64_t value, uint64_t timeout_ns)
{
    struct dxgk *d = c->d;
    NTSTATUS s = STATUS_PENDING;
    bool tried = false;
    uint64_t end;

    dxgk_kernel_enter_turn(d->kernel, &c->turn);
    note_awaited(dxgk_handle_get(d, context, HANDLE_CONTEXT, c), value);
    end = timeout_ns == LOOP_FOREVER ? LOOP_FOREVER : dxgk_kernel_now(d->kernel) + timeout_ns;
    while (s == STATUS_PENDING) {
        struct context *x = dxgk_handle_get(d, context, HANDLE_CONTEXT, c);
        if (!x)
            s = STATUS_INVALID_HANDLE;
        else if (x->device->state != D3DKMT_DEVICEEXECUTION_ACTIVE)
            s = STATUS_DEVICE_REMOVED;
        else if (x->packets_done >= value)
            s = STATUS_SUCCESS;
        else if (c->cancelled)
            s = STATUS_CANCELLED;
        else if (dxgk_kernel_now(d->kernel) >= end)
            s = STATUS_TIMEOUT;
        else if (!tried && d->bus->wait && dxgk_kernel_is_live(d->kernel)) {
            tried = true;
            wait_by_host(c, x, value, end);
        } else
            dxgk_kernel_wait(d->kernel, &x->done, end);
    }
    dxgk_kernel_leave(d->kernel);
    return s;
}
