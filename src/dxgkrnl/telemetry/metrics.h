/* SPDX-License-Identifier: MIT */
/* metrics.h: what somebody who watches a running adapter wants to know, of everybody and of each client: a D3DKMTEscape of type
 * DXGK_ESCAPE_METRICS with a struct dxgk_metrics. Who is no administrator sees the work of its own user's processes only, as if there
 * were no others. Numbers count from the start of the adapter, or of the client.
 */
#pragma once

#include <stdint.h>

#define DXGK_ESCAPE_METRICS 0x5254454D /* "METR"; far from the WDK's types */

/* Times, in buckets of an eighth of a power of two from 1 µs on: the first is below, the last is all that is longer. */
enum { DXGK_BUCKETS = 240 };
struct dxgk_times {
    uint64_t count, sum_ns, max_ns;
    uint32_t bucket[DXGK_BUCKETS];
};

/* The upper end of bucket `i` in nanoseconds. */
static inline uint64_t dxgk_bucket_end(unsigned i)
{
    return i ? (9 + (uint64_t)(i - 1) % 8) * 125 << (i - 1) / 8 : 1000;
}

/* The time that `percent` of them do not exceed, to an eighth; 0 of none. */
static inline uint64_t dxgk_times_percentile(const struct dxgk_times *t, double percent)
{
    uint64_t seen = 0, want = (uint64_t)((double)t->count * percent / 100 + 0.999999);

    for (unsigned i = 0; i < DXGK_BUCKETS && t->count; i++) {
        seen += t->bucket[i];
        if (seen >= want)
            return dxgk_bucket_end(i) < t->max_ns ? dxgk_bucket_end(i) : t->max_ns;
    }
    return t->max_ns;
}

struct dxgk_work {
    uint64_t process;              /* 0: everybody that the caller may see */
    uint64_t submitted, completed; /* DMA buffers that went to the device, and that came back */
    uint64_t queued;               /* packets that wait for the device or are at it, now */
    uint64_t queued_most;          /* the most that one context had so when a DMA buffer went to the device */
    uint64_t presents, late_presents; /* shown; of those, later than the vblank that they were due at */
    uint64_t bytes;                   /* of DMA buffers */
    struct dxgk_times latency;        /* from DxgkDdiSubmitCommand to the completion's interrupt */
};

static inline void dxgk_work_add(struct dxgk_work *into, const struct dxgk_work *w)
{
    struct dxgk_times *t = &into->latency;

    into->submitted += w->submitted;
    into->completed += w->completed;
    into->queued += w->queued;
    into->queued_most = w->queued_most > into->queued_most ? w->queued_most : into->queued_most;
    into->presents += w->presents;
    into->late_presents += w->late_presents;
    into->bytes += w->bytes;
    t->count += w->latency.count;
    t->sum_ns += w->latency.sum_ns;
    t->max_ns = w->latency.max_ns > t->max_ns ? w->latency.max_ns : t->max_ns;
    for (unsigned i = 0; i < DXGK_BUCKETS; i++)
        t->bucket[i] += w->latency.bucket[i];
}

struct dxgk_metrics {
    uint32_t client;  /* in: 0 everybody, or the place of a client in the list, from 1 on */
    uint32_t clients; /* out: how many there are now */
    uint64_t time_ns; /* of CLOCK_MONOTONIC; in a sim of its clock */
    uint64_t resets;  /* after time-outs */
    /* of source 0 */
    uint64_t vblanks, missed_vblanks; /* there were; of those, not noticed while they were switched on */
    uint64_t vblank_period_ns;
    uint32_t software_vblanks; /* 1: the miniport has none, a timer stands in */
    uint32_t reserved;
    struct dxgk_times jitter; /* how far each was from where the period puts it after the one before */
    struct dxgk_work work;
};
