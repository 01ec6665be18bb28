/* SPDX-License-Identifier: MIT */
/* quota.h: what clients have of that of which there is only so much: each so many, and a stranger's user, of whatever number of
 * processes, a share of it all (base/fair.h). The system counts, and may have all. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dxgk;
struct dxgk_client;

enum quota {
    QUOTA_HANDLES,
    QUOTA_DESCRIPTORS, /* of the process: of contexts, events and shared surfaces */
    QUOTA_DMA_BYTES,   /* guest memory in DMA buffers, whatever their queues wait for */
    QUOTA_DATA_BYTES, /* the host's own memory for what runtimes and drivers keep with resources, of each client that has one open */
    QUOTAS
};

/* False: it may not have so many more, and has as many as before. A NULL client is the system. */
bool dxgk_quota_take(struct dxgk *d, struct dxgk_client *c, enum quota what, uint64_t n);
/* Whether with `n` more all together, the system too, would have more than is meant for them. */
bool dxgk_quota_is_scarce(const struct dxgk *d, enum quota what, uint64_t n);
void dxgk_quota_give(struct dxgk *d, struct dxgk_client *c, enum quota what, uint64_t n);
