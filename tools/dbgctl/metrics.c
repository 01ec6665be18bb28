/* SPDX-License-Identifier: MIT */
/* metrics.c: --metrics: how the adapter and each of its clients fare, while they run. */
#include "dxgkrnl/telemetry/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dbgctl.h"

enum { MAX_CLIENTS = 4096 };

static NTSTATUS ask(struct dbgctl *c, uint32_t client, struct dxgk_metrics *m)
{
    D3DKMT_ESCAPE e = {.hAdapter = c->adapter,
                       .Type = (D3DKMT_ESCAPETYPE)DXGK_ESCAPE_METRICS,
                       .pPrivateDriverData = m,
                       .PrivateDriverDataSize = sizeof(*m)};

    *m = (struct dxgk_metrics){.client = client};
    return dbgctl_call(c, D3DKMT_THUNK_Escape, &e, sizeof(e));
}

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

static json_t *times(const struct dxgk_times *t)
{
    return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f}", "count", (json_int_t)t->count, "avg_ms",
                     t->count ? ms(t->sum_ns) / (double)t->count : 0.0, "p50_ms",
                     ms(dxgk_times_percentile(t, 50)), "p95_ms", ms(dxgk_times_percentile(t, 95)), "p99_ms",
                     ms(dxgk_times_percentile(t, 99)), "max_ms", ms(t->max_ns));
}

static double rate(uint64_t after, uint64_t before, double seconds)
{
    return after >= before && seconds > 0 ? (double)(after - before) / seconds : 0;
}

/* `before`: the same, `seconds` earlier; of a client that came since it is zero. */
static json_t *work(const struct dxgk_work *w, const struct dxgk_work *before, double seconds)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:o}", "process",
                     (json_int_t)w->process, "submitted", (json_int_t)w->submitted, "completed",
                     (json_int_t)w->completed, "queue_depth", (json_int_t)w->queued, "queue_depth_most",
                     (json_int_t)w->queued_most, "presents", (json_int_t)w->presents, "late_presents",
                     (json_int_t)w->late_presents, "bytes", (json_int_t)w->bytes, "submissions_per_second",
                     rate(w->submitted, before->submitted, seconds), "presents_per_second",
                     rate(w->presents, before->presents, seconds), "bytes_per_second",
                     rate(w->bytes, before->bytes, seconds), "latency", times(&w->latency));
}

/* ---- for Prometheus: its text format, version 0.0.4 ---------------------- */

/* Sums over a family would count twice what it has of everybody and of each: processes have families of their own. */
static const char *of(const struct dxgk_work *w)
{
    return w->process ? "process_" : "";
}

static void family(const char *prefix, const char *name, const char *type, const char *help)
{
    printf("# HELP aerogpu_%s%s %s%s\n# TYPE aerogpu_%s%s %s\n", prefix, name, help,
           *prefix ? ", of each process" : "", prefix, name, type);
}

static void label(const struct dxgk_work *w, char text[40], const char *more)
{
    if (w->process)
        snprintf(text, 40, "{process=\"%llu\"%s%s}", (unsigned long long)w->process, *more ? "," : "", more);
    else
        snprintf(text, 40, *more ? "{%s}" : "%s", more);
}

static void prometheus_latency(const struct dxgk_work *w)
{
    static const struct {
        double percent;
        const char *label;
    } q[] = {{50, "quantile=\"0.5\""}, {95, "quantile=\"0.95\""}, {99, "quantile=\"0.99\""}};
    char text[40];

    for (int i = 0; i < 3; i++) {
        label(w, text, q[i].label);
        printf("aerogpu_%ssubmission_latency_seconds%s %.9f\n", of(w), text,
               (double)dxgk_times_percentile(&w->latency, q[i].percent) / 1e9);
    }
    label(w, text, "");
    printf("aerogpu_%ssubmission_latency_seconds_sum%s %.9f\n", of(w), text, (double)w->latency.sum_ns / 1e9);
    printf("aerogpu_%ssubmission_latency_seconds_count%s %llu\n", of(w), text,
           (unsigned long long)w->latency.count);
}

/* Of everybody, or of `n` processes. */
static void prometheus_work(const struct dxgk_metrics *all, unsigned n)
{
    static const struct {
        const char *name, *type, *help;
        size_t at;
    } rows[] = {
        {"submissions_total", "counter", "DMA buffers handed to the device",
         offsetof(struct dxgk_work, submitted)},
        {"completions_total", "counter", "DMA buffers that came back", offsetof(struct dxgk_work, completed)},
        {"queue_depth", "gauge", "packets that wait for the device or are at it",
         offsetof(struct dxgk_work, queued)},
        {"queue_depth_most", "gauge", "the most that one context had so when a DMA buffer went to the device",
         offsetof(struct dxgk_work, queued_most)},
        {"presents_total", "counter", "presents shown", offsetof(struct dxgk_work, presents)},
        {"late_presents_total", "counter", "presents shown later than the vblank they were due at",
         offsetof(struct dxgk_work, late_presents)},
        {"submitted_bytes_total", "counter", "bytes of DMA buffers", offsetof(struct dxgk_work, bytes)}};
    char text[40];

    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        family(of(&all->work), rows[r].name, rows[r].type, rows[r].help);
        for (unsigned i = 0; i < n; i++) {
            uint64_t v;
            memcpy(&v, (const char *)&all[i].work + rows[r].at, sizeof(v));
            label(&all[i].work, text, "");
            printf("aerogpu_%s%s%s %llu\n", of(&all[i].work), rows[r].name, text, (unsigned long long)v);
        }
    }
    family(of(&all->work), "submission_latency_seconds", "summary",
           "from submission to the completion's interrupt");
    for (unsigned i = 0; i < n; i++)
        prometheus_latency(&all[i].work);
}

/* `all`: everybody first, then `n` processes. */
static void prometheus(const struct dxgk_metrics *all, unsigned n)
{
    prometheus_work(all, 1);
    if (n)
        prometheus_work(all + 1, n);
    family("", "vblanks_total", "counter", "vblanks of source 0");
    printf("aerogpu_vblanks_total %llu\n", (unsigned long long)all->vblanks);
    family("", "missed_vblanks_total", "counter", "of these, not noticed while they were switched on");
    printf("aerogpu_missed_vblanks_total %llu\n", (unsigned long long)all->missed_vblanks);
    family("", "resets_total", "counter", "resets after time-outs");
    printf("aerogpu_resets_total %llu\n", (unsigned long long)all->resets);
}

/* ---- the command --------------------------------------------------------- */

/* Everybody at [0], then one for each process; `n` of these. */
static NTSTATUS ask_all(struct dbgctl *c, struct dxgk_metrics *all, unsigned *n)
{
    NTSTATUS s = ask(c, 0, all);

    *n = 0;
    for (uint32_t i = 1; !s && i <= all->clients && *n < MAX_CLIENTS; i++) {
        struct dxgk_metrics *m = &all[*n + 1];
        unsigned k = 1;
        s = ask(c, i, m);
        if (s == STATUS_NO_MORE_ENTRIES) /* it went meanwhile */
            return STATUS_SUCCESS;
        while (k <= *n && all[k].work.process != m->work.process)
            k++;
        if (k <= *n)
            dxgk_work_add(&all[k].work, &m->work);
        else
            ++*n;
    }
    return s;
}

static json_t *clients(const struct dxgk_metrics *now, unsigned n, const struct dxgk_metrics *before,
                       unsigned n_before, double seconds)
{
    static const struct dxgk_work none;
    json_t *list = json_array();

    for (unsigned i = 1; i <= n; i++) {
        const struct dxgk_work *was = &none;
        for (unsigned k = 1; k <= n_before; k++)
            if (before[k].work.process == now[i].work.process)
                was = &before[k].work;
        json_array_append_new(list, work(&now[i].work, was, seconds));
    }
    return list;
}

int dbgctl_metrics(struct dbgctl *c)
{
    struct dxgk_metrics *first = calloc(2 * (MAX_CLIENTS + 2), sizeof(*first)),
                        *now = first + MAX_CLIENTS + 2;
    unsigned n_first, n;
    double seconds;
    NTSTATUS s;

    if (!first)
        return dbgctl_fail(c, STATUS_NO_MEMORY, "the metrics");
    s = ask_all(c, first, &n_first);
    if (!s && c->prometheus) {
        prometheus(first, n_first);
        free(first);
        return DBGCTL_OK;
    }
    if (!s) {
        dbgctl_sleep_ms(c->interval_ms);
        s = ask_all(c, now, &n);
    }
    if (s) {
        free(first);
        return dbgctl_fail(c, s, "the metrics");
    }
    seconds = (double)(now->time_ns - first->time_ns) / 1e9;
    json_object_set_new(
        c->body, "metrics",
        json_pack("{s:f, s:I, s:o, s:o, s:{s:I, s:I, s:f, s:f, s:b, s:o}}", "interval_seconds", seconds,
                  "resets", (json_int_t)now->resets, "adapter", work(&now->work, &first->work, seconds),
                  "clients", clients(now, n, first, n_first, seconds), "vblank", "count",
                  (json_int_t)now->vblanks, "missed", (json_int_t)now->missed_vblanks, "period_ms",
                  ms(now->vblank_period_ns), "per_second", rate(now->vblanks, first->vblanks, seconds),
                  "software", (int)now->software_vblanks, "jitter", times(&now->jitter)));
    free(first);
    return DBGCTL_OK;
}
