/* handles.c: D3DKMT handles: (serial << 16 | index + 1) of one table, so that a stale handle names nothing.
 */
#include "dxgkrnl/private.h"

#include <stdlib.h>

enum { MAX_HANDLES = 0xFFFE };

D3DKMT_HANDLE handle_new(struct dxgk *d, enum handle_type type, struct dxgk_client *client, void *object)
{
    struct handle_entry *e;
    unsigned i;

    for (i = 0; i < d->num_handles; i++)
        if (d->handles[i].type == HANDLE_FREE)
            break;
    if (i == d->num_handles) {
        unsigned n = d->num_handles ? 2 * d->num_handles : 64;
        if (n > MAX_HANDLES)
            n = MAX_HANDLES;
        if (n == d->num_handles)
            return 0;
        e = realloc(d->handles, n * sizeof(*e));
        if (!e)
            return 0;
        d->handles = e;
        for (unsigned j = d->num_handles; j < n; j++)
            e[j] = (struct handle_entry){.serial = 0x4000};
        d->num_handles = n;
    }
    e = &d->handles[i];
    e->type = type;
    e->client = client;
    e->object = object;
    return (D3DKMT_HANDLE)e->serial << 16 | (i + 1);
}

static struct handle_entry *entry(struct dxgk *d, D3DKMT_HANDLE h)
{
    unsigned i = (h & 0xFFFF) - 1;

    if (!(h & 0xFFFF) || i >= d->num_handles || d->handles[i].serial != h >> 16 ||
        d->handles[i].type == HANDLE_FREE)
        return NULL;
    return &d->handles[i];
}

void *handle_get(struct dxgk *d, D3DKMT_HANDLE h, enum handle_type type, const struct dxgk_client *client)
{
    struct handle_entry *e = entry(d, h);

    return e && e->type == type && (!e->client || e->client == client) ? e->object : NULL;
}

void handle_free(struct dxgk *d, D3DKMT_HANDLE h)
{
    struct handle_entry *e = entry(d, h);

    if (!e)
        return;
    e->type = HANDLE_FREE;
    e->object = NULL;
    e->serial = (uint16_t)(e->serial == 0xFFFF ? 0x4000 : e->serial + 1);
}
