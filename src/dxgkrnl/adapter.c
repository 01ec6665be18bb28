/* SPDX-License-Identifier: MIT */
/* adapter.c: what every part uses: the log, the adapter's lock, threads to wake, memory. */
#include "dxgkrnl/adapter.h"

#include "dxgkrnl/telemetry/flight.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_EVENTS = 1024 };

static void log_event(struct dxgk *d, const struct dxgk_client *c, const char *source, unsigned id,
                      const char *fmt, va_list ap)
{
    struct dxgk_event e = {.time_ns = clock_now(d->clock), .source = source, .id = id}, *grown;

    if (c && c->has_user) {
        e.user = c->user;
        e.has_user = true;
    }
    vsnprintf(e.text, sizeof(e.text), fmt, ap);
    bb_flight_event(d->flight, DXGK_FLIGHT_LOG, id, 0, 0);
    log_warn("dxgkrnl", "event %s %u: %s", source, id, e.text);
    if (d->log.count < MAX_EVENTS) {
        grown = realloc(d->log.events, (d->log.count + 1) * sizeof(*grown));
        if (grown) {
            d->log.events = grown;
            d->log.events[d->log.count++] = e;
        }
    }
    if (d->log.on_event)
        d->log.on_event(d->log.ctx, &e);
}

void dxgk_log(struct dxgk *d, const char *source, unsigned id, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    log_event(d, NULL, source, id, fmt, ap);
    va_end(ap);
}

void dxgk_log_of(struct dxgk *d, const struct dxgk_client *c, const char *source, unsigned id,
                 const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    log_event(d, c, source, id, fmt, ap);
    va_end(ap);
}

/* The lock that keeps one thread at a time in the DDIs that the WDK calls serialised; recursive. */
bool dxgk_adapter_lock(struct dxgk *d)
{
    struct kthread *self = dxgk_kernel_thread(d->kernel);

    while (d->lock.held && d->lock.owner != self) {
        if (d->state == DXGK_FAILED)
            return false;
        dxgk_kernel_wait(d->kernel, &d->lock.waiters, LOOP_FOREVER);
    }
    if (d->state == DXGK_FAILED && !d->lock.held)
        return false;
    INVARIANT(d->lock.held ? d->lock.owner == self && d->lock.depth : !d->lock.owner && !d->lock.depth);
    d->lock.held = true;
    d->lock.owner = self;
    d->lock.depth++;
    return true;
}

bool dxgk_adapter_lock_cleanup(struct dxgk *d)
{
    if (d->state != DXGK_FAILED)
        return dxgk_adapter_lock(d);
    if (d->lock.held && d->lock.owner != dxgk_kernel_thread(d->kernel))
        return false;
    d->lock.held = true;
    d->lock.owner = dxgk_kernel_thread(d->kernel);
    d->lock.depth++;
    return true;
}

void dxgk_adapter_unlock(struct dxgk *d)
{
    INVARIANT(d->lock.held && d->lock.depth);
    INVARIANT(d->lock.owner == dxgk_kernel_thread(d->kernel));
    if (--d->lock.depth)
        return;
    d->lock.held = false;
    d->lock.owner = NULL;
    dxgk_kernel_wake_all(d->kernel, &d->lock.waiters);
}

int dxgk_physmem_alloc(struct dxgk *d, size_t size, struct physmem *m)
{
    int r;

    size = (size + PAGE_SIZE - 1) & ~(size_t)(PAGE_SIZE - 1);
    m->size = size;
    do
        r = d->bus->dma_alloc(d->bus->ctx, size, &m->va, &m->pa);
    while (r && dxgk_contiguous_forget(d));
    return r;
}

void dxgk_physmem_free(struct dxgk *d, struct physmem *m)
{
    INVARIANT(!m->va || (m->size && !(m->pa & (PAGE_SIZE - 1))));
    if (m->va)
        d->bus->dma_free(d->bus->ctx, m->va, m->pa, m->size);
    *m = (struct physmem){0};
}

void dxgk_adapter_kick(struct dxgk *d)
{
    d->workers.work_pending = true;
    dxgk_kernel_wake_all(d->kernel, &d->workers.work);
}

void dxgk_adapter_kick_tdr(struct dxgk *d)
{
    d->workers.tdr_pending = true;
    dxgk_kernel_wake_all(d->kernel, &d->workers.tdr_work);
}

void dxgk_adapter_force_tdr(struct dxgk *d)
{
    d->tdr.forced = true;
    dxgk_adapter_kick_tdr(d);
}
