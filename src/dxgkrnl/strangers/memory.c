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

/* Strangers' together; of one process its first client has all. */
static uint64_t count(struct dxgk *d)
{
    uint64_t sum = 0;

    for (struct dxgk_client *c = d->clients; c; c = c->next) {
        const uint64_t had = c->memory;
        c->memory = 0;
        if (c->has_user && dxgk_client_is_first(c))
            c->memory = (d->bus->memory(d->bus->ctx, c->process) + UNIT - 1) & ~(UNIT - 1);
        c->memory_grew = c->memory > had;
        sum += c->memory;
    }
    return sum;
}

static uint64_t of_user(const struct dxgk *d, uint32_t user)
{
    uint64_t sum = 0;

    for (const struct dxgk_client *c = d->clients; c; c = c->next)
        sum += c->has_user && c->user == user ? c->memory : 0;
    return sum;
}

static struct dxgk_client *largest(struct dxgk *d, uint32_t user)
{
    struct dxgk_client *most = NULL;

    for (struct dxgk_client *c = d->clients; c; c = c->next)
        if (c->has_user && c->user == user && c->memory && (!most || c->memory > most->memory))
            most = c;
    return most;
}

static void end(struct dxgk *d, struct dxgk_client *c)
{
    dxgk_log(d, "dxgkrnl", 9,
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
