/* SPDX-License-Identifier: MIT */
#include "cpu/report/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sched/boot_clock.h"
#include "cpu/report/report.h"
#include "cpu/model/source.h"

/* What a CPU's counters were at the last frame. */
struct before {
    uint64_t idle_ns, running_ns, entries, irqs, sent, usage;
};

struct pages {
    uint8_t *data; /* CPU_WATCH_PAGES pages and room for loads past them */
    uint32_t num, at;
    uint64_t dropped;
};

struct cpu_watch {
    struct cpu_recorder *rec;
    struct cpu_analysis a;
    struct cpu_coverage coverage;
    struct cpu_notes notes;
    struct cpu_page_stats stats;
    struct pages *pages;
    struct before *last;
    uint16_t *cpus;
    uint64_t frame_ns, start_ns, events;
};

static void on_page(void *ctx, uint16_t cpu, uint8_t *page)
{
    struct cpu_watch *w = ctx;
    struct pages *p = &w->pages[cpu];
    const uint32_t size = w->rec->rules->page_size;

    if (p->num == CPU_WATCH_PAGES) {
        p->dropped++;
        return;
    }
    memcpy(p->data + (size_t)p->num++ * size, page, size);
}

static uint32_t fill(void *ctx, uint32_t i, struct cpu_event *ev)
{
    struct cpu_watch *w = ctx;
    struct pages *p = &w->pages[i];
    uint32_t n = 0;

    while (!n && p->at < p->num) {
        n = cpu_page_decode(w->rec->rules, p->data + (size_t)p->at * w->rec->rules->page_size, (uint16_t)i,
                            ev, &w->stats, &w->notes, p->at);
        p->at++;
    }
    return n;
}

static int start_analysis(struct cpu_watch *w)
{
    const struct cpu_analysis_params params = {.num_cpus = w->rec->fs.num_cpus,
                                               .coverage = &w->coverage,
                                               .snapshot = &w->rec->before,
                                               .to_ns = UINT64_MAX};

    cpu_analysis_finish(&w->a);
    memset(w->last, 0, w->rec->fs.num_cpus * sizeof(*w->last));
    return cpu_analysis_init(&w->a, &params);
}

int cpu_watch_create(struct cpu_watch **out, const struct cpu_record_params *p, struct error *e)
{
    const bool counters[CPU_COUNTER_COUNT] = {false};
    struct cpu_watch *w = calloc(1, sizeof(*w));
    int r;

    if (!w)
        return error_set(e, -ENOMEM, "no memory");
    r = cpu_recorder_create(&w->rec, p, e);
    if (r)
        goto fail;
    r = -ENOMEM;
    w->pages = calloc(w->rec->fs.num_cpus, sizeof(*w->pages));
    w->last = calloc(w->rec->fs.num_cpus, sizeof(*w->last));
    w->cpus = calloc(w->rec->fs.num_cpus, sizeof(*w->cpus));
    if (!w->pages || !w->last || !w->cpus)
        goto no_memory;
    for (uint32_t i = 0; i < w->rec->fs.num_cpus; i++) {
        w->cpus[i] = (uint16_t)i;
        w->pages[i].data = malloc((size_t)CPU_WATCH_PAGES * w->rec->rules->page_size + CPU_PAGE_PAD);
        if (!w->pages[i].data)
            goto no_memory;
    }
    r = cpu_recorder_start(w->rec, e);
    if (r)
        goto fail;
    r = cpu_coverage_init(&w->coverage, &w->rec->before, &w->rec->before, counters);
    if (!r)
        r = start_analysis(w);
    if (r)
        goto no_memory;
    for (uint32_t i = 0; i < w->coverage.num_cpus; i++)
        w->coverage.cpus[i].to_ns = UINT64_MAX;
    w->start_ns = w->frame_ns = boot_clock_now();
    *out = w;
    return 0;
no_memory:
    error_set(e, r, "no memory for the pages of %u CPUs", w->rec->fs.num_cpus);
fail:
    cpu_watch_destroy(w);
    return r;
}

void cpu_watch_destroy(struct cpu_watch *w)
{
    if (!w)
        return;
    for (uint32_t i = 0; w->pages && i < w->rec->fs.num_cpus; i++)
        free(w->pages[i].data);
    free(w->pages);
    free(w->last);
    free(w->cpus);
    cpu_analysis_finish(&w->a);
    cpu_coverage_finish(&w->coverage);
    cpu_recorder_destroy(w->rec);
    free(w);
}

/* Compares what was recorded with the counters of now; starts the analysis anew if a CPU turns out to be blind. */
static int check_coverage(struct cpu_watch *w, struct cpu_snapshot *now, struct error *e)
{
    bool changed = false;
    int r = cpu_snapshot_take(now, "/sys/devices/system/cpu", "/proc", e);

    if (r)
        return r;
    for (uint32_t i = 0; i < w->coverage.num_cpus && i < now->num_cpus; i++) {
        struct cpu_coverage_cpu *c = &w->coverage.cpus[i];
        const bool was = c->blind;
        c->expected = 0;
        for (uint32_t k = 0; k < now->cpus[i].num_states; k++)
            c->expected += now->cpus[i].states[k].usage - w->rec->before.cpus[i].states[k].usage;
        /* entries since the pages were drained are not in yet: look twice before a CPU is called blind */
        c->blind = was || (c->expected > c->recorded + 20 && c->recorded * 2 < c->expected);
        changed |= was != c->blind;
    }
    return changed ? start_analysis(w) : 0;
}

static int read_pages(struct cpu_watch *w, struct error *e)
{
    struct cpu_merge m;
    const struct cpu_event *ev;
    int n, r;

    for (uint32_t i = 0; i < w->rec->fs.num_cpus; i++)
        w->pages[i].num = w->pages[i].at = 0;
    cpu_recorder_drain(w->rec, on_page, w);
    r = cpu_merge_init(&m, w->cpus, w->rec->fs.num_cpus, cpu_page_max_events(w->rec->rules), fill, w,
                       &w->notes);
    if (r)
        return error_set(e, r, "no memory for a frame");
    while ((n = m.source.next(&m.source, &ev)) > 0) {
        w->events += (uint64_t)n;
        for (int i = 0; i < n; i++)
            cpu_coverage_event(&w->coverage, &ev[i]);
        cpu_analysis_events(&w->a, ev, n);
    }
    cpu_merge_finish(&m);
    return 0;
}

static void one_cpu(struct cpu_watch *w, uint32_t i, uint64_t now, double seconds, struct strbuf *o)
{
    const struct cpu_stats *c = &w->a.cpu[i];
    const struct cpu_snapshot_cpu *snap = &w->rec->before.cpus[i];
    struct before *b = &w->last[i], cur = {0};
    uint64_t unanswered = 0, oldest = 0;
    char state[48] = "not known", text[24];
    double idle, running;

    cur.idle_ns = cpu_stats_idle(c) + (c->known == CPU_IDLE && now > c->since_ns ? now - c->since_ns : 0);
    cur.running_ns = c->running_ns + (c->known == CPU_RUNNING && now > c->since_ns ? now - c->since_ns : 0);
    cur.entries = cpu_stats_enters(c);
    for (int k = 0; k < CPU_IRQ_COUNT; k++)
        cur.irqs += c->irqs[k];
    for (uint32_t t = 0; w->a.pairs && t < w->a.num_cpus; t++)
        cur.sent += w->a.pairs[i * w->a.num_cpus + t].sent;
    for (int k = 0; k < CPU_IPI_CLASSES; k++) {
        const struct cpu_pending_list *l = &c->pending[k];
        unanswered += l->num + l->more;
        if (l->num && now > l->list[0].ns && now - l->list[0].ns > oldest)
            oldest = now - l->list[0].ns;
    }
    idle = (double)(cur.idle_ns - b->idle_ns);
    running = (double)(cur.running_ns - b->running_ns);
    if (c->known == CPU_RUNNING)
        snprintf(state, sizeof(state), "running");
    else if (c->known == CPU_IDLE)
        snprintf(state, sizeof(state), "%.14s %s",
                 c->state < snap->num_states ? snap->states[c->state].name : "idle",
                 cpu_ns_text(now > c->since_ns ? now - c->since_ns : 0, text, sizeof(text)));
    if (c->blind)
        strbuf_printf(o, "%4u  %-26s %8s %9s", i, "not shown by the trace", "-", "-");
    else
        strbuf_printf(o, "%4u  %-26s %7.1f%% %9.0f", i, state,
                      idle + running > 0 ? 100.0 * running / (idle + running) : 0,
                      (double)(cur.entries - b->entries) / seconds);
    strbuf_printf(o, " %9.0f %9.0f", (double)(cur.irqs - b->irqs) / seconds,
                  (double)(cur.sent - b->sent) / seconds);
    if (unanswered)
        strbuf_printf(o, "   %llu unanswered, %s", (unsigned long long)unanswered,
                      cpu_ns_text(oldest, text, sizeof(text)));
    strbuf_puts(o, "\n");
    *b = cur;
}

static void tail(struct cpu_watch *w, struct strbuf *o)
{
    const struct cpu_analysis *a = &w->a;
    char p50[24], p99[24], max[24];
    uint64_t dropped = 0;

    for (int k = 0; k < 2; k++)
        if (a->ipi_latency[k].n)
            strbuf_printf(o, "%-13s p50 %s, p99 %s, max %s until answered\n",
                          k ? "function call" : "reschedule",
                          cpu_ns_text(cpu_latency_percentile(&a->ipi_latency[k], 50), p50, sizeof(p50)),
                          cpu_ns_text(cpu_latency_percentile(&a->ipi_latency[k], 99), p99, sizeof(p99)),
                          cpu_ns_text(a->ipi_latency[k].max, max, sizeof(max)));
    for (uint32_t i = 0; i < a->num_cpus; i++) {
        const struct cpu_latency *l = &a->cpu[i].timer_late;
        dropped += w->pages[i].dropped;
        if (l->n)
            strbuf_printf(o, "CPU %-3u timers late p50 %s, p99 %s, max %s\n", i,
                          cpu_ns_text(cpu_latency_percentile(l, 50), p50, sizeof(p50)),
                          cpu_ns_text(cpu_latency_percentile(l, 99), p99, sizeof(p99)),
                          cpu_ns_text(l->max, max, sizeof(max)));
    }
    if (a->num_incidents)
        strbuf_printf(o, "%llu times all CPUs but one were idle for long\n",
                      (unsigned long long)a->num_incidents);
    if (w->stats.lost || w->stats.lost_uncounted || dropped)
        strbuf_printf(o, "LOST %llu events; %llu pages came too fast to look at\n",
                      (unsigned long long)w->stats.lost, (unsigned long long)dropped);
}

int cpu_watch_frame(struct cpu_watch *w, struct strbuf *o, struct error *e)
{
    struct cpu_snapshot snap = {0};
    uint64_t now;
    double seconds;
    int r = check_coverage(w, &snap, e);

    if (!r)
        r = read_pages(w, e);
    cpu_snapshot_finish(&snap);
    if (r)
        return r;
    now = boot_clock_now();
    seconds = (double)(now - w->frame_ns) / 1e9;
    strbuf_printf(o, "aerogpu watch   %.1f s   %.0f events a second\n", (double)(now - w->start_ns) / 1e9,
                  (double)w->events / seconds);
    strbuf_printf(o, "%4s  %-26s %8s %9s %9s %9s\n", "CPU", "state", "busy", "idles/s", "irqs/s", "IPIs/s");
    for (uint32_t i = 0; i < w->a.num_cpus && i < w->rec->before.num_cpus; i++)
        one_cpu(w, i, now, seconds, o);
    tail(w, o);
    w->frame_ns = now;
    w->events = 0;
    return strbuf_failed(o) ? error_set(e, -ENOMEM, "no memory for a frame") : 0;
}
