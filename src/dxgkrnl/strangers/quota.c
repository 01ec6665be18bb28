/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/adapter.h"

#include <sys/resource.h>

#include "base/fair.h"

enum { DATA_BYTES = 256 << 20 };

static const uint64_t most_of_client[QUOTAS] = {
    [QUOTA_HANDLES] = CLIENT_MAX_HANDLES,
    [QUOTA_DESCRIPTORS] = CLIENT_MAX_DESCRIPTORS,
    [QUOTA_DMA_BYTES] = UINT64_MAX,
    [QUOTA_DATA_BYTES] = DATA_BYTES,
};

/* Of descriptors and of guest memory one half is for what is not counted here. */
static uint64_t most_of_all(const struct dxgk *d, enum quota what)
{
    struct rlimit l;

    switch (what) {
    case QUOTA_HANDLES:
        return MAX_HANDLES;
    case QUOTA_DESCRIPTORS:
        return getrlimit(RLIMIT_NOFILE, &l) ? UINT64_MAX : l.rlim_cur / 2;
    case QUOTA_DATA_BYTES:
        return DATA_BYTES;
    default:
        return d->bus->dma_size ? d->bus->dma_size / 2 : UINT64_MAX;
    }
}

static bool is_fair(const struct dxgk *d, const struct dxgk_client *c, enum quota what, uint64_t n)
{
    const uint64_t used = d->quota[what], most = most_of_all(d, what);
    uint64_t mine = 0;

    if (!c->has_user || fair_share(used, n, used, most))
        return true;
    for (const struct dxgk_client *i = d->clients; i; i = i->next)
        mine += i->has_user && i->user == c->user ? i->quota[what] : 0;
    return fair_share(mine, n, used, most);
}

bool dxgk_quota_take(struct dxgk *d, struct dxgk_client *c, enum quota what, uint64_t n)
{
    if (c && (n > most_of_client[what] - c->quota[what] || !is_fair(d, c, what, n)))
        return false;
    d->quota[what] += n;
    if (c)
        c->quota[what] += n;
    return true;
}

bool dxgk_quota_is_scarce(const struct dxgk *d, enum quota what, uint64_t n)
{
    return d->quota[what] + n > most_of_all(d, what);
}

void dxgk_quota_give(struct dxgk *d, struct dxgk_client *c, enum quota what, uint64_t n)
{
    INVARIANT(d->quota[what] >= n && (!c || c->quota[what] >= n));
    d->quota[what] -= n;
    if (c)
        c->quota[what] -= n;
}
