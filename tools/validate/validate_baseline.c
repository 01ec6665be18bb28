/* SPDX-License-Identifier: MIT */
/* validate_baseline.c: the metrics of the checklist's section 4.1, measured on the running stack by a client that presents
 * at vsync. Every figure comes from this run. */
#include "validate.h"

#include <stdlib.h>

#include "dxgkrnl/telemetry/metrics.h"

#include "suite.h"

enum { MAX_FRAMES = 4096 };

struct series {
    double *v;
    unsigned n;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static json_t *summary(const struct series *s)
{
    double *sorted = malloc((s->n ? s->n : 1) * sizeof(double)), sum = 0;
    json_t *values = json_array(), *out;

    if (!sorted || !s->n) {
        free(sorted);
        json_decref(values);
        return json_null();
    }
    for (unsigned i = 0; i < s->n; i++) {
        sum += sorted[i] = s->v[i];
        json_array_append_new(values, json_real(s->v[i]));
    }
    qsort(sorted, s->n, sizeof(*sorted), by_value);
    out = json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:i, s:o}", "avg", sum / s->n, "min", sorted[0], "p50",
                    sorted[s->n / 2], "p95", sorted[(s->n - 1) * 95 / 100], "p99",
                    sorted[(s->n - 1) * 99 / 100], "max", sorted[s->n - 1], "count", (int)s->n, "values",
                    values);
    free(sorted);
    return out;
}

static void push(struct series *s, double v)
{
    if (s->n < MAX_FRAMES)
        s->v[s->n++] = v;
}

/* By the time of the vblanks themselves: between two looks there may be one more or one less. */
static double vblank_rate(const struct aerogpu_escape_query_vblank *from,
                          const struct aerogpu_escape_query_vblank *to)
{
    uint64_t ns = to->last_vblank_time_ns - from->last_vblank_time_ns;

    return ns ? (double)(to->vblank_seq - from->vblank_seq) * 1e9 / (double)ns : 0;
}

static json_t *times(const struct dxgk_times *t)
{
    return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f}", "count", (json_int_t)t->count, "avg",
                     t->count ? (double)t->sum_ns / 1e6 / (double)t->count : 0.0, "p50",
                     (double)dxgk_times_percentile(t, 50) / 1e6, "p95",
                     (double)dxgk_times_percentile(t, 95) / 1e6, "p99",
                     (double)dxgk_times_percentile(t, 99) / 1e6, "max", (double)t->max_ns / 1e6);
}

json_t *validate_metrics(struct validate_host *h)
{
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    struct dxgk_metrics m = {0};
    D3DKMT_ESCAPE e = {.Type = (D3DKMT_ESCAPETYPE)DXGK_ESCAPE_METRICS,
                       .pPrivateDriverData = &m,
                       .PrivateDriverDataSize = sizeof(m)};
    NTSTATUS st = dxgk_OpenAdapterFromHdc(h->client, &open);

    if (NT_SUCCESS(st)) {
        e.hAdapter = open.hAdapter;
        st = dxgk_Escape(h->client, &e);
        dxgk_CloseAdapter(h->client, &(D3DKMT_CLOSEADAPTER){.hAdapter = open.hAdapter});
    }
    if (!NT_SUCCESS(st))
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:{s:I, s:I, s:b, s:o}, s:I}", "submitted",
                     (json_int_t)m.work.submitted, "completed", (json_int_t)m.work.completed,
                     "queue_depth_most", (json_int_t)m.work.queued_most, "presents",
                     (json_int_t)m.work.presents, "late_presents", (json_int_t)m.work.late_presents, "bytes",
                     (json_int_t)m.work.bytes, "latency_ms", times(&m.work.latency), "vblank", "count",
                     (json_int_t)m.vblanks, "missed", (json_int_t)m.missed_vblanks, "software",
                     (int)m.software_vblanks, "jitter_ms", times(&m.jitter), "resets", (json_int_t)m.resets);
}

json_t *validate_baseline(struct validate_host *h, unsigned ms)
{
    struct clock *clock = stack_clock(h->stack);
    struct umd_device *d = NULL;
    struct umd_swapchain chain = {0};
    struct suite_scene scene;
    struct aerogpu_escape_query_perf a = {0}, b = {0};
    struct aerogpu_escape_query_vblank v = {0}, end = {0};
    struct series latency = {calloc(MAX_FRAMES, sizeof(double)), 0},
                  depth = {calloc(MAX_FRAMES, sizeof(double)), 0},
                  interval = {calloc(MAX_FRAMES, sizeof(double)), 0},
                  jitter = {calloc(MAX_FRAMES, sizeof(double)), 0};
    uint64_t start, now, last = 0, fence = 0, bytes;
    json_t *out = NULL;
    double seconds, period_ms = 0;
    NTSTATUS st = umd_open(&d, NULL);

    if (!latency.v || !depth.v || !interval.v || !jitter.v)
        st = STATUS_NO_MEMORY;
    if (NT_SUCCESS(st))
        st = umd_swapchain(d, &chain);
    if (NT_SUCCESS(st))
        st = suite_scene_create(&scene, d, 256, 256);
    if (NT_SUCCESS(st))
        st = umd_finish(d, 10000);
    if (NT_SUCCESS(st))
        st = umd_escape(umd_adapter(d), AEROGPU_ESCAPE_OP_QUERY_PERF, &a, sizeof(a));
    if (NT_SUCCESS(st))
        st = umd_escape(umd_adapter(d), AEROGPU_ESCAPE_OP_QUERY_VBLANK, &v, sizeof(v));
    period_ms = v.vblank_period_ns / 1e6;
    start = clock_now(clock);
    for (now = start; NT_SUCCESS(st) && now - start < ms * NSEC_PER_MSEC; now = clock_now(clock)) {
        uint64_t submitted;
        suite_scene_draw(&scene);
        umd_copy_texture(chain.target, scene.target);
        submitted = clock_now(clock);
        st = umd_flush(d, &fence);
        push(&depth, (double)(fence - umd_completed(d)));
        if (NT_SUCCESS(st))
            st = umd_wait(d, fence, 5000);
        push(&latency, (double)(clock_now(clock) - submitted) / 1e6);
        if (NT_SUCCESS(st))
            st = umd_present(&chain, 1, &fence);
        if (NT_SUCCESS(st))
            st = D3DKMTWaitForVerticalBlankEvent(
                &(D3DKMT_WAITFORVERTICALBLANKEVENT){.hAdapter = umd_adapter(d)});
        now = clock_now(clock);
        if (last) {
            double gap = (double)(now - last) / 1e6;
            push(&interval, gap);
            push(&jitter, gap > period_ms ? gap - period_ms : period_ms - gap);
        }
        last = now;
    }
    seconds = (double)(clock_now(clock) - start) / 1e9;
    bytes = d ? umd_stats(d)->bytes : 0;
    if (NT_SUCCESS(st))
        st = umd_escape(umd_adapter(d), AEROGPU_ESCAPE_OP_QUERY_PERF, &b, sizeof(b));
    if (NT_SUCCESS(st))
        st = umd_escape(umd_adapter(d), AEROGPU_ESCAPE_OP_QUERY_VBLANK, &end, sizeof(end));
    if (NT_SUCCESS(st))
        out = json_pack("{s:f, s:f, s:o, s:o, s:f, s:o, s:o, s:I, s:I, s:f}", "seconds", seconds,
                        "present_rate_hz", (double)umd_stats(d)->presents / seconds, "fence_latency_ms",
                        summary(&latency), "queue_depth", summary(&depth), "command_bytes_per_second",
                        (double)bytes / seconds, "vblank_interval_ms", summary(&interval), "vblank_jitter_ms",
                        summary(&jitter), "reset_count", (json_int_t)b.reset_from_timeout_count,
                        "submissions", (json_int_t)(b.total_submissions - a.total_submissions),
                        "vblank_rate_hz", vblank_rate(&v, &end));
    umd_close(d);
    free(latency.v);
    free(depth.v);
    free(interval.v);
    free(jitter.v);
    return out;
}
