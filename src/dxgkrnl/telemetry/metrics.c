/* SPDX-License-Identifier: MIT */
/* metrics.c: counts what metrics.h shows. */
#include "dxgkrnl/telemetry/metrics.h"

#include <string.h>

#include "dxgkrnl/adapter.h"

static unsigned bucket_of(uint64_t ns)
{
    uint64_t eighths = ns / 125; /* of a microsecond */
    unsigned octave, i;

    if (eighths < 8)
        return 0;
    octave = 60 - (unsigned)__builtin_clzll(eighths); /* 8..15 are octave 0 */
    i = 8 * octave + (unsigned)(eighths >> octave) - 8 + 1;
    return i < DXGK_BUCKETS ? i : DXGK_BUCKETS - 1;
}

static void add(struct dxgk_times *t, uint64_t ns)
{
    t->count++;
    t->sum_ns += ns;
    if (ns > t->max_ns)
        t->max_ns = ns;
    t->bucket[bucket_of(ns)]++;
}

static struct dxgk_work *work_of(const struct packet *p)
{
    struct dxgk_client *c = p->context->device->client;

    return c ? &c->work : NULL;
}

void dxgk_metrics_submitted(struct dxgk *d, struct packet *p, uint64_t now)
{
    struct dxgk_work *of[] = {&d->work, work_of(p)};

    p->submitted_ns = now;
    for (int i = 0; i < 2 && of[i]; i++) {
        of[i]->submitted++;
        of[i]->bytes += p->dma_end;
        if (p->context->queued + p->context->running > of[i]->queued_most)
            of[i]->queued_most = p->context->queued + p->context->running;
    }
}

void dxgk_metrics_completed(struct dxgk *d, const struct packet *p, uint64_t now)
{
    struct dxgk_work *of[] = {&d->work, work_of(p)};

    for (int i = 0; i < 2 && of[i]; i++) {
        of[i]->completed++;
        of[i]->presents += p->type == PACKET_PRESENT && !p->retired; /* a copy: it is shown by being done */
        add(&of[i]->latency, now - p->submitted_ns);
    }
}

void dxgk_metrics_presented(struct dxgk *d, const struct packet *p, bool late)
{
    struct dxgk_work *of[] = {&d->work, work_of(p)};

    p->context->device->present_count++;
    for (int i = 0; i < 2 && of[i]; i++) {
        of[i]->presents++;
        of[i]->late_presents += late;
    }
}

void dxgk_metrics_vblank(struct dxgk *d, UINT source, uint64_t missed, uint64_t since_ns)
{
    struct source *s = &d->display.sources[source];
    uint64_t due = (missed + 1) * s->grid.period_ns;

    s->missed_vblanks += missed;
    if (source == 0)
        add(&d->display.jitter, since_ns > due ? since_ns - due : due - since_ns);
    if (missed && d->display.miss_logged_ns + NSEC_PER_SEC <= dxgk_kernel_now(d->kernel)) {
        d->display.miss_logged_ns = dxgk_kernel_now(d->kernel);
        log_info("dxgkrnl", "%llu vblanks of source %u were not noticed so far",
                 (unsigned long long)s->missed_vblanks, source);
    }
}

void dxgk_metrics_closed(const struct dxgk_client *c)
{
    const struct dxgk_work *w = &c->work;

    if (w->submitted)
        log_info(
            "dxgkrnl",
            "process %llu has ended: %llu submissions, latency p50 %.3f p95 %.3f p99 %.3f longest %.3f ms, at most %llu "
            "queued, %llu presents, %llu late",
            (unsigned long long)c->process, (unsigned long long)w->submitted,
            (double)dxgk_times_percentile(&w->latency, 50) / 1e6,
            (double)dxgk_times_percentile(&w->latency, 95) / 1e6,
            (double)dxgk_times_percentile(&w->latency, 99) / 1e6, (double)w->latency.max_ns / 1e6,
            (unsigned long long)w->queued_most, (unsigned long long)w->presents,
            (unsigned long long)w->late_presents);
}

/* Whether it is the asker's business what the client does. */
static bool may_see(const struct dxgk_client *asker, const struct dxgk_client *c)
{
    return asker->admin || dxgk_offender_user(asker) == dxgk_offender_user(c);
}

NTSTATUS dxgk_metrics_get(struct dxgk *d, const struct dxgk_client *asker, void *data, size_t size)
{
    const struct source *s = &d->display.sources[0];
    const struct dxgk_client *c = NULL;
    struct dxgk_metrics m = {.time_ns = dxgk_kernel_now(d->kernel),
                             .resets = d->tdr.total,
                             .vblanks = s->vblanks,
                             .missed_vblanks = s->missed_vblanks,
                             .vblank_period_ns = s->grid.period_ns,
                             .software_vblanks = d->display.vsync_software,
                             .jitter = d->display.jitter};

    if (size != sizeof(m))
        return STATUS_INVALID_PARAMETER;
    memcpy(&m.client, data, sizeof(m.client));
    for (const struct dxgk_client *i = d->clients; i; i = i->next) {
        if (!may_see(asker, i))
            continue;
        if (++m.clients == m.client)
            c = i;
        if (!m.client && !asker->admin)
            dxgk_work_add(&m.work, &i->work);
    }
    if (m.client && !c)
        return STATUS_NO_MORE_ENTRIES;
    if (m.client || asker->admin)
        m.work = m.client ? c->work : d->work;
    m.work.process = m.client ? c->process : 0;
    for (const struct context *x = d->sched.contexts; x; x = x->next_all)
        if (m.client            ? x->device->client == c
            : x->device->client ? may_see(asker, x->device->client)
                                : asker->admin)
            m.work.queued += x->queued + x->running;
    memcpy(data, &m, sizeof(m));
    return STATUS_SUCCESS;
}
