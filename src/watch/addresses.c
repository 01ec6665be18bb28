/* SPDX-License-Identifier: MIT */
/* addresses.c: which buffers have, and had, addresses: what the executor says of them becomes the history of resources. */
#include <stdlib.h>

#include "blackbox/internal.h"
#include "watch/priv.h"

enum { MAX_LIVING = 65536 };

/* Ids are numbers of events, since handles come again. The address tells which buffer goes. */
struct finder {
    uint64_t address, id;
};

static void find_living(void *ctx, const struct bb_resource *r)
{
    struct finder *f = ctx;

    if (!r->destroyed_ns && r->address == f->address)
        f->id = r->id;
}

void watch_addresses(struct watch *w, const struct exec_progress *c)
{
    uint64_t n = atomic_load(&c->num_addresses);

    if (n < w->addresses_seen)
        w->addresses_seen = 0; /* another executor */
    if (n - w->addresses_seen > EXEC_ADDRESS_EVENTS) {
        bb_resources_lose(w->resources, n - EXEC_ADDRESS_EVENTS - w->addresses_seen);
        w->addresses_seen = n - EXEC_ADDRESS_EVENTS;
    }
    for (; w->addresses_seen < n; w->addresses_seen++) {
        const struct exec_address_event *e = &c->addresses[w->addresses_seen % EXEC_ADDRESS_EVENTS];
        struct finder f = {.address = e->address};

        if (e->state == EXEC_ADDRESS_MADE) {
            if (bb_resources_add(w->resources,
                                 &(struct bb_resource){.id = w->addresses_seen << 32 | e->handle,
                                                       .kind = "buffer",
                                                       .address = e->address,
                                                       .size = e->size,
                                                       .created_ns = e->time_ns,
                                                       .last_use_ns = e->time_ns}))
                bb_resources_lose(w->resources, 1);
            continue;
        }
        bb_resources_each(w->resources, find_living, &f);
        if (f.id && e->state == EXEC_ADDRESS_GONE)
            bb_resources_remove(w->resources, f.id, e->time_ns);
        else if (f.id)
            bb_resources_evict(w->resources, f.id, e->state == EXEC_ADDRESS_EVICTED, e->time_ns);
    }
}

static void list_living(void *ctx, const struct bb_resource *r)
{
    uint64_t *ids = ctx;

    if (!r->destroyed_ns && ids[0] < MAX_LIVING)
        ids[++ids[0]] = r->id;
}

void watch_addresses_gone(struct watch *w)
{
    uint64_t *ids = calloc(MAX_LIVING + 1, sizeof(*ids));

    if (!ids)
        return;
    bb_resources_each(w->resources, list_living, ids);
    for (uint64_t i = 1; i <= ids[0]; i++)
        bb_resources_remove(w->resources, ids[i], machine_now(w->params.machine));
    free(ids);
}
