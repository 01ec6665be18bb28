/* SPDX-License-Identifier: MIT */
/* hist.h: two histograms. `cpu_buckets` has fixed edges in the series 1-2-5, printed with every report;
 * `cpu_latency` has eight buckets an octave, for percentiles: the upper edge of a
 * bucket, up to 13 % too high. Both hold nanoseconds. */
#pragma once

#include <stdint.h>

#define CPU_NUM_EDGES 22

/* Bucket i holds values in [edge i-1, edge i); the first starts at 0, the last has no end. */
struct cpu_buckets {
    uint64_t count[CPU_NUM_EDGES + 1];
};

extern const uint64_t cpu_bucket_edges[CPU_NUM_EDGES]; /* 1 us, 2 us, 5 us, 10 us ... 10 s */

static inline void cpu_buckets_add(struct cpu_buckets *b, uint64_t ns)
{
    uint32_t lo = 0, hi = CPU_NUM_EDGES;

    while (lo < hi) {
        const uint32_t mid = (lo + hi) / 2;
        if (ns < cpu_bucket_edges[mid])
            hi = mid;
        else
            lo = mid + 1;
    }
    b->count[lo]++;
}

struct cpu_latency {
    uint64_t n, sum, max;
    uint32_t count[512];
};

static inline void cpu_latency_add(struct cpu_latency *l, uint64_t ns)
{
    const uint32_t top = ns < 8 ? 2 : 63 - (uint32_t)__builtin_clzll(ns);

    l->n++;
    l->sum += ns;
    if (ns > l->max)
        l->max = ns;
    l->count[ns < 8 ? ns : top * 8 + ((ns >> (top - 3)) & 7)]++;
}

void cpu_latency_merge(struct cpu_latency *l, const struct cpu_latency *other);

/* The value below which `percent` of the values are: the upper edge of its bucket, never above the maximum.
 */
uint64_t cpu_latency_percentile(const struct cpu_latency *l, double percent);
