/* SPDX-License-Identifier: MIT */
/* The report as text for a terminal. */
#include "cpu/report/report.h"
#include "cpu/model/verdict.h"

#include <string.h>

#include "base/utf8.h"

#define OUT(...) strbuf_printf(o, __VA_ARGS__)

static double at_seconds(const struct cpu_report *r, uint64_t t)
{
    return (double)(int64_t)(t - r->a.begin_ns) / 1e9;
}

static void head(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_trace *t = r->trace;
    const double s = cpu_report_seconds(r);

    utf8_visible(o, t->path, strlen(t->path), false);
    OUT("\n");
    OUT("  %s, clock %s, %.3f s from %.6f, %u CPUs, %s events (%s a second)\n", t->system, t->clock, s,
        (double)r->a.begin_ns / 1e9, t->num_cpus, cpu_num(r->a.events),
        cpu_num(s > 0 ? (uint64_t)((double)r->a.events / s) : 0));
    if (t->has_before && t->before.driver[0])
        OUT("  cpuidle driver %s, governor %s\n", t->before.driver, t->before.governor);
    if (!t->complete && !t->is_windows)
        OUT("  NOT FINISHED by its recorder: no counters after the recording, no names\n");
    OUT("\nCOMPLETENESS\n");
    for (uint32_t i = 0; i < t->num_cpus; i++) {
        const struct cpu_coverage_cpu *c =
            t->has_coverage && i < t->coverage.num_cpus ? &t->coverage.cpus[i] : NULL;
        if (!c || !c->checked) {
            OUT("  CPU %-3u %s idle entries recorded; no counter to check them against\n", i,
                cpu_num(cpu_stats_enters(&r->a.cpu[i])));
            continue;
        }
        if (c->blind)
            OUT("  CPU %-3u IDLE TRACE INCOMPLETE: %s of %s idle entries are missing; its idle states are "
                "not used below\n",
                i, cpu_num(c->expected - c->recorded), cpu_num(c->expected));
        else
            OUT("  CPU %-3u %s idle entries recorded, the kernel counted %s\n", i, cpu_num(c->recorded),
                cpu_num(c->expected));
        for (int k = 0; k < CPU_COUNTER_COUNT; k++)
            if (c->irq_blind[k])
                OUT("          interrupts incomplete: %s of %s %s recorded\n", cpu_num(c->irq_recorded[k]),
                    cpu_num(c->irq_expected[k]), cpu_counter_name((enum cpu_counter)k));
    }
    OUT("  lost events: %s%s\n", t->overrun ? cpu_num(t->overrun) : "none",
        t->complete || t->is_windows ? "" : " that the pages tell of; the kernel's own count is missing");
    for (uint32_t i = 0; i < cpu_notes_kept(&t->notes); i++)
        OUT("  note: %s\n", t->notes.text[i]);
    if (t->notes.count > NOTES_KEPT)
        OUT("  and %s more notes\n", cpu_num(t->notes.count - NOTES_KEPT));
}

static void percent(struct strbuf *o, double v)
{
    if (v < 0)
        OUT("%9s", "-");
    else
        OUT("%8.2f%%", v);
}

static void processors(const struct cpu_report *r, struct strbuf *o)
{
    const double span = (double)(r->a.end_ns - r->a.begin_ns);
    bool any_perf = false, counted = false;

    OUT("\nPROCESSORS   utilization = 100 * busy / (busy + idle); utility = utilization * delivered "
        "performance (100%% * "
        "100%% = 10,000)\n");
    OUT("  CPU  utilization     idle  unknown    steal  delivered    utility   longest idle      at\n");
    for (uint32_t i = 0; i < r->a.num_cpus; i++) {
        const struct cpu_stats *c = &r->a.cpu[i];
        const double util = c->blind ? -1 : cpu_stats_utilization(c);
        const double perf = cpu_stats_delivered(c, cpu_report_base_khz(r, i));
        const double by_kernel = c->blind ? cpu_report_counted_utilization(r, i) : -1;
        OUT("  %-3u   %c", i, by_kernel >= 0 ? '*' : ' ');
        percent(o, by_kernel >= 0 ? by_kernel : util);
        counted |= by_kernel >= 0;
        percent(o, c->blind || span <= 0 ? -1 : 100.0 * (double)cpu_stats_idle(c) / span);
        percent(o, c->blind || span <= 0 ? -1 : 100.0 * (double)c->unknown_ns / span);
        percent(o, cpu_report_steal(r, i));
        any_perf |= perf >= 0;
        if (perf >= 0 && util >= 0)
            OUT("  %8.1f%% %10.1f", perf, util * perf);
        else
            OUT("  %9s %10s", "n/a", "n/a");
        if (c->longest_idle_ns && !c->blind)
            OUT("   %12s  %.6f%s\n", cpu_ns(c->longest_idle_ns), at_seconds(r, c->longest_idle_at),
                c->still_idle ? "  still idle at the end" : "");
        else
            OUT("   %12s\n", "-");
    }
    if (counted)
        OUT("  * by the kernel's cpuidle counters over the whole recording; the trace does not show this "
            "CPU\n");
    if (!any_perf)
        OUT("  delivered performance and utility: not available on this machine (no pstate_sample, no "
            "cpu_frequency "
            "events)\n");
}

static void idle_states(const struct cpu_report *r, struct strbuf *o)
{
    char buf[32];

    OUT("\nIDLE STATES   chosen state, entries, time in it; too deep: it woke before the state paid off; too "
        "shallow: a "
        "deeper one would have paid off\n");
    OUT("  CPU  state              declared    entries      time    share  too deep  too shallow   wake "
        "latency p50 / p99 / max\n");
    for (uint32_t i = 0; i < r->a.num_cpus; i++) {
        const struct cpu_stats *c = &r->a.cpu[i];
        if (c->blind) {
            const struct cpu_snapshot *b = &r->trace->before, *e = &r->trace->after;
            for (uint32_t k = 0; k < b->cpus[i].num_states; k++)
                OUT("  %-3u  %-18s %5u us  %9s %9s   by the kernel's counters; the trace does not show it\n",
                    i, b->cpus[i].states[k].name, b->cpus[i].states[k].latency_us,
                    cpu_num(e->cpus[i].states[k].usage - b->cpus[i].states[k].usage),
                    cpu_ns((e->cpus[i].states[k].time_us - b->cpus[i].states[k].time_us) * 1000));
            continue;
        }
        for (uint32_t k = 0; k < CPU_MAX_STATES; k++) {
            const struct cpu_latency *w = &c->wake_latency[k];
            const struct cpu_snapshot *b = &r->trace->before;
            const double span = (double)(r->a.end_ns - r->a.begin_ns);
            if (!c->enters[k] && !c->idle_ns[k])
                continue;
            OUT("  %-3u  %-18s ", i, cpu_trace_state(r->trace, i, k, buf, sizeof(buf)));
            if (r->trace->has_before && i < b->num_cpus && k < b->cpus[i].num_states)
                OUT("%5u us", b->cpus[i].states[k].latency_us);
            else
                OUT("%8s", "-");
            OUT("  %9s %9s  %6.2f%%  %8s  %11s", cpu_num(c->enters[k]), cpu_ns(c->idle_ns[k]),
                span > 0 ? 100.0 * (double)c->idle_ns[k] / span : 0,
                r->trace->is_windows ? "n/a" : cpu_num(c->above[k]),
                r->trace->is_windows ? "n/a" : cpu_num(c->below[k]));
            if (w->n)
                OUT("   %s / %s / %s (%s)", cpu_ns(cpu_latency_percentile(w, 50)),
                    cpu_ns(cpu_latency_percentile(w, 99)), cpu_ns(w->max), cpu_num(w->n));
            if (c->exit_reported[k].n)
                OUT("   exit latency by the system, in its own undocumented unit: p50 %s, max %s",
                    cpu_num(cpu_latency_percentile(&c->exit_reported[k], 50)),
                    cpu_num(c->exit_reported[k].max));
            OUT("\n");
        }
        if (c->exits_alone || c->enters_twice || c->off_target)
            OUT("  %-3u  unmatched: %s entries while idle, %s exits while running%s%s\n", i,
                cpu_num(c->enters_twice), cpu_num(c->exits_alone),
                c->off_target ? ", entries off target: " : "", c->off_target ? cpu_num(c->off_target) : "");
    }
}

static void intervals(const struct cpu_report *r, struct strbuf *o)
{
    uint64_t total[CPU_NUM_EDGES + 1] = {0}, max = 0, sum = 0;
    char lo[24], hi[24];

    for (uint32_t i = 0; i < r->a.num_cpus; i++)
        for (uint32_t k = 0; k < CPU_MAX_STATES && r->a.cpu[i].visible; k++)
            for (uint32_t n = 0; n <= CPU_NUM_EDGES; n++)
                total[n] += r->a.cpu[i].interval[k].count[n];
    for (uint32_t n = 0; n <= CPU_NUM_EDGES; n++) {
        max = total[n] > max ? total[n] : max;
        sum += total[n];
    }
    OUT("\nIDLE INTERVALS   %s periods of the CPUs that the trace shows; a bucket holds [lower edge, upper "
        "edge)\n",
        cpu_num(sum));
    for (uint32_t n = 0; n <= CPU_NUM_EDGES; n++) {
        int bar = max ? (int)(total[n] * 50 / max) : 0;
        if (!total[n])
            continue;
        snprintf(lo, sizeof(lo), "%s", n ? cpu_ns(cpu_bucket_edges[n - 1]) : "0");
        snprintf(hi, sizeof(hi), "%s", n < CPU_NUM_EDGES ? cpu_ns(cpu_bucket_edges[n]) : "no end");
        OUT("  %9s to %-9s %10s  %.*s\n", lo, hi, cpu_num(total[n]), bar,
            "##################################################");
    }
}

static void concurrency(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_analysis *a = &r->a;
    const double span = (double)(a->end_ns - a->begin_ns);
    uint8_t order[CPU_IDLE_SETS];
    uint32_t num_sets;
    char buf[128];

    OUT("\nCONCURRENCY   time with exactly n CPUs idle, of the %u that the trace shows\n", a->num_visible);
    for (uint32_t n = 0; n <= a->num_visible && a->num_visible; n++)
        if (a->concurrency[n] || n == 0 || n == a->num_visible)
            OUT("  %3u idle  %10s  %6.2f%%\n", n, cpu_ns(a->concurrency[n]),
                span > 0 ? 100.0 * (double)a->concurrency[n] / span : 0);
    OUT("  not known %9s  (before every CPU showed its state)\n", cpu_ns(a->concurrency_unknown_ns));
    if (a->deep_from >= CPU_MAX_STATES) {
        OUT("\nDEEP IDLE SETS   no state of this machine is deep (exit latency of 50 us and more, or the "
            "deepest of three)\n");
        return;
    }
    OUT("\nDEEP IDLE SETS   CPUs in %s or deeper at the same time\n",
        cpu_trace_state(r->trace, 0, a->deep_from, buf, sizeof(buf)));
    num_sets = cpu_report_sets(r, order);
    for (uint32_t i = 0; i < num_sets && i < 12; i++)
        OUT("  %10s  %6s times  CPUs %s\n", cpu_ns(a->sets[order[i]].ns), cpu_num(a->sets[order[i]].times),
            cpu_mask_text(a->sets[order[i]].mask, a->num_cpus, buf, sizeof(buf)));
    if (a->sets_other_ns)
        OUT("  %10s  in sets beyond the first %d\n", cpu_ns(a->sets_other_ns), CPU_IDLE_SETS);
}

static void wakes(const struct cpu_report *r, struct strbuf *o)
{
    OUT("\nWAKE-UPS   by the first interrupt while idle or right after it\n");
    for (uint32_t i = 0; i < r->a.num_cpus; i++) {
        const struct cpu_stats *c = &r->a.cpu[i];
        if (c->blind) {
            OUT("  CPU %-3u not shown by the trace\n", i);
            continue;
        }
        OUT("  CPU %-3u", i);
        for (int k = 0; k < CPU_WAKE_COUNT; k++)
            if (c->wakes[k])
                OUT("  %s: %s", cpu_wake_name(r, k), cpu_num(c->wakes[k]));
        if (c->ticks_stopped || c->ticks_kept)
            OUT("  (tick stopped %s times, kept %s)", cpu_num(c->ticks_stopped), cpu_num(c->ticks_kept));
        OUT("\n");
    }
}

static void wait_line(const struct cpu_report *r, struct strbuf *o, const struct cpu_wait *w)
{
    char site[40], back[40], state[32];

    OUT("  %10s  CPU %u -> CPU %u at %.6f", cpu_ns(w->waited_ns), w->sender, w->target,
        at_seconds(r, w->sent_ns));
    OUT("  by %s/%d", cpu_trace_thread(r->trace, w->tid), w->tid);
    if (w->callback)
        OUT("  %s", cpu_trace_symbol(r->trace, w->callback, back, sizeof(back)));
    if (w->site)
        OUT("  from %s", cpu_trace_symbol(r->trace, w->site, site, sizeof(site)));
    if (w->target_idle)
        OUT("  (target idle in %s)",
            cpu_trace_state(r->trace, w->target, w->target_state, state, sizeof(state)));
    OUT("\n");
}

static void ipis(const struct cpu_report *r, struct strbuf *o)
{
    static const char *const names[CPU_IPI_CLASSES] = {"reschedule", "function call", "irq work"};
    const struct cpu_analysis *a = &r->a;

    OUT("\nINTER-PROCESSOR INTERRUPTS   sent until the handler starts\n");
    for (int k = 0; k < CPU_IPI_CLASSES; k++) {
        const struct cpu_latency *l = &a->ipi_latency[k];
        OUT("  %-14s %10s sent, %10s answered", names[k], cpu_num(a->ipi_sent[k]),
            cpu_num(a->ipi_answered[k]));
        if (r->trace->is_windows)
            OUT(" (Windows does not record the answer)");
        else if (l->n)
            OUT(", p50 %s, p99 %s, p99.9 %s, max %s", cpu_ns(cpu_latency_percentile(l, 50)),
                cpu_ns(cpu_latency_percentile(l, 99)), cpu_ns(cpu_latency_percentile(l, 99.9)),
                cpu_ns(l->max));
        OUT("\n");
    }
    if (a->csd_latency.n)
        OUT("  queued calls   %10s done, p50 %s, p99 %s, max %s; %s not done at the end\n",
            cpu_num(a->csd_latency.n), cpu_ns(cpu_latency_percentile(&a->csd_latency, 50)),
            cpu_ns(cpu_latency_percentile(&a->csd_latency, 99)), cpu_ns(a->csd_latency.max),
            cpu_num(a->csd_pending));
    if (a->pairs && a->num_cpus <= 32) {
        OUT("  who asked whom (sent, mean until answered):\n");
        for (uint32_t s = 0; s < a->num_cpus; s++)
            for (uint32_t t = 0; t < a->num_cpus; t++) {
                const struct cpu_pair *p = &a->pairs[s * a->num_cpus + t];
                if (p->sent)
                    OUT("    CPU %-3u -> CPU %-3u %10s  mean %s, max %s%s\n", s, t, cpu_num(p->sent),
                        p->answered ? cpu_ns(p->sum_ns / p->answered) : "-", cpu_ns(p->max_ns),
                        p->answered < p->sent ? "  (not all answered)" : "");
            }
    }
    OUT("  slowest answers:%s\n", a->slowest.num ? "" : " none");
    for (uint32_t i = 0; i < a->slowest.num && i < 5; i++)
        wait_line(r, o, &a->slowest.list[i]);
    OUT("  never answered: %s; for %s and longer: %s\n", cpu_num(a->ipi_unanswered),
        cpu_ns(a->params.stuck_ns), cpu_num(a->unanswered_stuck));
    for (uint32_t i = 0; i < a->unanswered.num && i < 16; i++)
        wait_line(r, o, &a->unanswered.list[i]);
    if (a->ipi_unanswered > 16)
        OUT("  and %s more\n", cpu_num(a->ipi_unanswered - 16));
}

static void detectors(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_analysis *a = &r->a;

    OUT("\nALL BUT ONE   times of %s and longer with every CPU but one idle\n", cpu_ns(a->params.stuck_ns));
    if (a->num_visible < 3)
        OUT("  needs at least three CPUs that the trace shows; there are %u\n", a->num_visible);
    else if (!a->num_incidents)
        OUT("  none\n");
    for (uint32_t i = 0; i < a->num_incidents && i < CPU_INCIDENTS; i++) {
        const struct cpu_incident *n = &a->incidents[i];
        OUT("  at %.6f for %s: %u CPUs stopped within %s, CPU %u kept running%s", at_seconds(r, n->from_ns),
            cpu_ns(n->to_ns - n->from_ns), n->silent, cpu_ns(n->spread_ns), n->awake,
            n->at_end ? "; none came back" : "");
        if (n->waiting_for)
            OUT("; it was waiting for %u IPIs", n->waiting_for);
        OUT("\n");
    }
    if (a->num_incidents > CPU_INCIDENTS)
        OUT("  and %s more\n", cpu_num(a->num_incidents - CPU_INCIDENTS));
}

static void timers(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_analysis *a = &r->a;
    char buf[32];
    bool any = false;

    for (uint32_t i = 0; i < a->num_cpus; i++)
        any |= a->cpu[i].timer_late.n != 0;
    if (!any)
        return;
    OUT("\nTIMERS   due until the handler starts\n");
    for (uint32_t i = 0; i < a->num_cpus; i++) {
        const struct cpu_latency *l = &a->cpu[i].timer_late;
        if (l->n)
            OUT("  CPU %-3u %10s fired, late p50 %s, p99 %s, max %s; %s were due while idle\n", i,
                cpu_num(l->n), cpu_ns(cpu_latency_percentile(l, 50)), cpu_ns(cpu_latency_percentile(l, 99)),
                cpu_ns(l->max), cpu_num(a->cpu[i].timer_late_idle));
    }
    for (uint32_t i = 0; i < a->num_late_timers && i < 5; i++) {
        const struct cpu_late_timer *t = &a->late_timers[i];
        OUT("  timer on CPU %u due at %.6f fired %s late", t->cpu, at_seconds(r, t->due_ns),
            cpu_ns(t->late_ns));
        if (t->was_idle)
            OUT(": %s exit", cpu_trace_state(r->trace, t->cpu, t->state, buf, sizeof(buf)));
        OUT("\n");
    }
}

/* Handlers of one CPU: times, share of the span, the longest. */
static void interrupts(const struct cpu_report *r, struct strbuf *o)
{
    const double span = (double)(r->a.end_ns - r->a.begin_ns);

    if (!r->a.kinds[CPU_EV_IRQ_ENTRY] && !r->a.kinds[CPU_EV_DPC])
        return;
    OUT("\nINTERRUPTS   handlers: times, share of the CPU's time, longest\n");
    for (uint32_t i = 0; i < r->a.num_cpus; i++) {
        const struct cpu_stats *c = &r->a.cpu[i];
        for (int k = 0; k <= CPU_IRQ_COUNT; k++) {
            const bool dpc = k == CPU_IRQ_COUNT;
            const uint64_t n = dpc ? c->dpcs : c->irqs[k], t = dpc ? c->dpc_ns : c->irq_ns[k];
            if (!n)
                continue;
            OUT("  CPU %-3u %-26s %10s", i, dpc ? "DPC" : cpu_irq_name((enum cpu_irq)k), cpu_num(n));
            if (t)
                OUT("  %7.3f%%  %s", span > 0 ? 100.0 * (double)t / span : 0,
                    cpu_ns(dpc ? c->dpc_max_ns : c->irq_max_ns[k]));
            OUT("\n");
        }
    }
}

static void rest(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_analysis *a = &r->a;
    bool freq = false;
    uint16_t types[16];
    char name[160];
    uint32_t n;

    if (a->fences_emitted || a->fences_signaled)
        OUT("\nFENCES   %s emitted, %s signalled, %s waits\n", cpu_num(a->fences_emitted),
            cpu_num(a->fences_signaled), cpu_num(a->fence_waits));
    for (uint32_t i = 0; i < a->num_cpus; i++) {
        const struct cpu_stats *c = &a->cpu[i];
        if (!c->max_khz)
            continue;
        if (!freq)
            OUT("\nFREQUENCY\n");
        freq = true;
        OUT("  CPU %-3u %u to %u MHz, mean %.0f MHz\n", i, c->min_khz / 1000, c->max_khz / 1000,
            c->khz_seen_ns ? c->khz_ns / (double)c->khz_seen_ns / 1000 : c->khz / 1000.0);
    }
    if (!freq)
        OUT("\nFREQUENCY   not available on this machine (no cpu_frequency events)\n");
    OUT("\nEVENTS   ");
    for (int k = 0; k < CPU_EV_COUNT; k++)
        if (a->kinds[k])
            OUT("%s %s  ", cpu_event_kind_name((enum cpu_event_kind)k), cpu_num(a->kinds[k]));
    OUT("\n");
    n = cpu_report_others(r, types, 16);
    for (uint32_t i = 0; i < n; i++) {
        cpu_trace_type_name(r->trace, types[i], name, sizeof(name));
        OUT("  not analysed: %10s  %s\n", cpu_num(cpu_trace_counts(r->trace)[types[i]]), name);
    }
}

void cpu_report_text(const struct cpu_report *r, struct strbuf *o)
{
    if (r->verdict)
        cpu_verdict_text(r->verdict, o);
    head(r, o);
    processors(r, o);
    idle_states(r, o);
    intervals(r, o);
    concurrency(r, o);
    wakes(r, o);
    ipis(r, o);
    detectors(r, o);
    timers(r, o);
    interrupts(r, o);
    rest(r, o);
}
