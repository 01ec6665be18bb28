/* SPDX-License-Identifier: MIT */
#include "cpu/model/hist.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)

const uint64_t cpu_bucket_edges[CPU_NUM_EDGES] = {
    1 * US, 2 * US,  5 * US,  10 * US, 20 * US,  50 * US,  100 * US, 200 * US, 500 * US, 1 * MS, 2 * MS,
    5 * MS, 10 * MS, 20 * MS, 50 * MS, 100 * MS, 200 * MS, 500 * MS, 1 * S,    2 * S,    5 * S,  10 * S,
};

uint64_t cpu_latency_percentile(const struct cpu_latency *l, double percent)
{
    uint64_t want = (uint64_t)((double)l->n * percent / 100.0), seen = 0;

    for (uint32_t i = 0; i < 512 && l->n; i++) {
        seen += l->count[i];
        if (seen > want) {
            const uint32_t top = i / 8;
            const uint64_t edge = i < 24 ? i + 1 : ((UINT64_C(8) + i % 8 + 1) << (top - 3));
            return edge < l->max ? edge : l->max;
        }
    }
    return l->max;
}

void cpu_latency_merge(struct cpu_latency *l, const struct cpu_latency *other)
{
    l->n += other->n;
    l->sum += other->sum;
    l->max = other->max > l->max ? other->max : l->max;
    for (uint32_t i = 0; i < 512; i++)
        l->count[i] += other->count[i];
}
