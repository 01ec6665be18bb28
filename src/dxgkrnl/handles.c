/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/adapter.h"

#include <stdlib.h>
#include <sys/random.h>

D3DKMT_HANDLE dxgk_handle_new(struct dxgk *d, enum handle_type type, struct dxgk_client *client, void *object)
{
    struct handle_entry *e;
    unsigned i;

    if (!dxgk_quota_take(d, client, QUOTA_HANDLES, 1))
        return 0;
    if (!d->handles.free) {
        unsigned n = d->handles.count ? 2 * d->handles.count : 64;
        if (n > MAX_HANDLES)
            n = MAX_HANDLES;
        e = n > d->handles.count ? realloc(d->handles.table, n * sizeof(*e)) : NULL;
        if (!e) {
            dxgk_quota_give(d, client, QUOTA_HANDLES, 1);
            return 0;
        }
        d->handles.table = e;
        for (unsigned j = d->handles.count; j < n; j++)
            e[j] = (struct handle_entry){.serial = 0x4000, .next = (uint16_t)(j + 1 < n ? j + 2 : 0)};
        d->handles.free = d->handles.count + 1;
        d->handles.count = n;
    }
    i = d->handles.free - 1;
    e = &d->handles.table[i];
    d->handles.free = e->next;
    INVARIANT(e->type == HANDLE_FREE && !e->object && !e->client);
    INVARIANT(e->serial >= 0x4000 && d->handles.count <= MAX_HANDLES);
    INVARIANT(type != HANDLE_FREE && object);
    e->type = type;
    e->client = client;
    e->object = object;
    return (D3DKMT_HANDLE)e->serial << 16 | (i + 1);
}

static struct handle_entry *entry(struct dxgk *d, D3DKMT_HANDLE h)
{
    unsigned i = (h & 0xFFFF) - 1;

    INVARIANT(!d->handles.count == !d->handles.table);
    if (!(h & 0xFFFF) || i >= d->handles.count || d->handles.table[i].serial != h >> 16 ||
        d->handles.table[i].type == HANDLE_FREE)
        return NULL;
    return &d->handles.table[i];
}

void *dxgk_handle_get(struct dxgk *d, D3DKMT_HANDLE h, enum handle_type type,
                      const struct dxgk_client *client)
{
    struct handle_entry *e = entry(d, h);

    return e && e->type == type && (!e->client || e->client == client) ? e->object : NULL;
}

void *dxgk_handle_any(struct dxgk *d, D3DKMT_HANDLE h, enum handle_type type)
{
    struct handle_entry *e = entry(d, h);

    return e && e->type == type ? e->object : NULL;
}

void dxgk_handle_free(struct dxgk *d, D3DKMT_HANDLE h)
{
    struct handle_entry *e = entry(d, h);

    if (!e)
        return;
    INVARIANT(e->object);
    dxgk_quota_give(d, e->client, QUOTA_HANDLES, 1);
    e->type = HANDLE_FREE;
    e->object = NULL;
    e->client = NULL;
    e->next = (uint16_t)d->handles.free;
    d->handles.free = (unsigned)(e - d->handles.table) + 1;
    e->serial = (uint16_t)(e->serial == 0xFFFF ? 0x4000 : e->serial + 1);
}

void dxgk_handle_free_all(struct dxgk *d, const struct dxgk_client *client)
{
    for (unsigned i = 0; i < d->handles.count; i++) {
        struct handle_entry *e = &d->handles.table[i];
        if (e->type != HANDLE_FREE && e->client == client)
            dxgk_handle_free(d, (D3DKMT_HANDLE)e->serial << 16 | (i + 1));
    }
}

/* ---- shares -------------------------------------------------------------- */

D3DKMT_HANDLE dxgk_share_new(struct dxgk *d, enum share_type type, void *object)
{
    D3DKMT_HANDLE h = 0;
    uint64_t *slot;

    do
        if (getrandom(&h, sizeof(h), 0) != sizeof(h))
            return 0;
    while (!h || map_find(&d->handles.shares[type], h));
    slot = map_put(&d->handles.shares[type], h);
    if (!slot)
        return 0;
    *slot = (uintptr_t)object;
    return h;
}

void *dxgk_share_get(struct dxgk *d, enum share_type type, D3DKMT_HANDLE h, struct dxgk_client *client)
{
    bool trusted = !client || dxgk_offender_may_guess(d, client);
    void *r = trusted ? map_pointer(&d->handles.shares[type], h) : NULL;

    if (!r && client && trusted)
        dxgk_offender_guessed(d, client);
    return r;
}

void dxgk_share_free(struct dxgk *d, enum share_type type, D3DKMT_HANDLE h)
{
    map_remove(&d->handles.shares[type], h);
}
