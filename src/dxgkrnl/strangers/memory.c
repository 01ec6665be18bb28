/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/strangers/memory.h"

#include "base/fair.h"
#include "dxgkrnl/adapter.h"

#define LOOK_NS (NSEC_PER_SEC / 4)
#define UNIT    (UINT64_C(1) << 24) /* bytes: less is no growth */

uint64_t dxgk_memory_due(const struct dxgk *d)
{
    for (const struct dxgk_client *c = d->clients; c && d->bus->memory; c = c->next)
        if (c->has_user && c->devices)
            return d->memory_looked_ns + LOOK_NS;
    return LOOP_FOREVER;
}

/* All clients of a process know what it has, so that it is known when the first of them goes. */
static void count_process(struct dxgk *d, struct dxgk_client *first)
{
    const uint64_t now = (d->bus->memory(d->bus->ctx, first->process) + UNIT - 1) & ~(UNIT - 1);
    uint64_t had = 0;

    for (struct dxgk_client *c = d->clients; c; c = c->next) {
        if (c->process != first->process)
            continue;
        had = c->memory > had ? c->memory : had;
        c->memory = now;
    }
    first->memory_grew = now > had;
}

static bool counts(const struct dxgk_client *c)
{
    return c->has_user && dxgk_client_is_first(c);
}

/* Strangers' together. */
static uint64_t count(struct dxgk *d)
{
    uint64_t sum = 0;

    for (struct dxgk_client *c = d->clients; c; c = c->next) {
        c->memory_grew = false;
        if (!counts(c))
            continue;
        count_process(d, c);
        sum += c->memory;
    }
    return sum;
}

static uint64_t of_user(const struct dxgk *d, uint32_t user)
{
    uint64_t sum = 0;

    for (const struct dxgk_client *c = d->clients; c; c = c->next)
        sum += counts(c) && c->user == user ? c->memory : 0;
    return sum;
}

static struct dxgk_client *largest(struct dxgk *d, uint32_t user)
{
    struct dxgk_client *most = NULL;

    for (struct dxgk_client *c = d->clients; c; c = c->next)
        if (counts(c) && c->user == user && c->memory && (!most || c->memory > most->memory))
            most = c;
    return most;
}

static void end(struct dxgk *d, struct dxgk_client *c)
{
    dxgk_log_of(
        d, c, "dxgkrnl", 9,
        "user %u has %llu MiB of the host's memory, more than his share: process %llu loses its devices",
        c->user, (unsigned long long)(of_user(d, c->user) >> 20), (unsigned long long)c->process);
    d->bus->end_work(d->bus->ctx, c->process, false);
    dxgk_process_lose(d, c->process, NULL, D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
    c->memory = 0;
}

void dxgk_memory_look(struct dxgk *d)
{
    const uint64_t now = dxgk_kernel_now(d->kernel), due = dxgk_memory_due(d);
    struct dxgk_client *most;
    uint64_t used;

    if (due == LOOP_FOREVER || now < due)
        return;
    d->memory_looked_ns = now;
    used = count(d);
    for (const struct dxgk_client *c = d->clients; c; c = c->next)
        while (c->memory_grew && !fair_share(of_user(d, c->user), 0, used, d->bus->work_memory) &&
               (most = largest(d, c->user))) {
            used -= most->memory;
            end(d, most);
        }
    dxgk_adapter_kick(d);
}
