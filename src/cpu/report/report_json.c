/* SPDX-License-Identifier: MIT */
/* The report as JSON. Times are nanoseconds; "begin_ns" and every "at_ns" are on the recording's clock.
 * Values that the recording does not hold are null. */
#include "cpu/report/report.h"
#include "cpu/model/verdict.h"

#define I(v) ((json_int_t)(v))

static json_t *number_or_null(double v)
{
    return v < 0 ? json_null() : json_real(v);
}

static json_t *latency(const struct cpu_latency *l)
{
    if (!l->n)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "count", I(l->n), "mean_ns", I(l->sum / l->n),
                     "p50_ns", I(cpu_latency_percentile(l, 50)), "p99_ns", I(cpu_latency_percentile(l, 99)),
                     "p999_ns", I(cpu_latency_percentile(l, 99.9)), "max_ns", I(l->max));
}

static json_t *completeness(const struct cpu_report *r)
{
    const struct cpu_trace *t = r->trace;
    json_t *cpus = json_array(), *notes = json_array();

    for (uint32_t i = 0; i < t->num_cpus; i++) {
        const struct cpu_coverage_cpu *c =
            t->has_coverage && i < t->coverage.num_cpus ? &t->coverage.cpus[i] : NULL;
        json_t *o;
        if (!c || !c->checked) {
            o = json_pack("{s:i, s:b, s:n, s:n}", "cpu", (int)i, "checked", 0, "blind", "missing");
        } else {
            o = json_pack("{s:i, s:b, s:b, s:I, s:I, s:I}", "cpu", (int)i, "checked", 1, "blind", c->blind,
                          "expected", I(c->expected), "recorded", I(c->recorded), "missing",
                          I(c->expected > c->recorded ? c->expected - c->recorded : 0));
            for (int k = 0; k < CPU_COUNTER_COUNT; k++)
                if (c->irq_checked[k])
                    json_object_set_new(o, cpu_counter_name((enum cpu_counter)k),
                                        json_pack("{s:I, s:I, s:b}", "expected", I(c->irq_expected[k]),
                                                  "recorded", I(c->irq_recorded[k]), "blind",
                                                  c->irq_blind[k]));
        }
        json_array_append_new(cpus, o);
    }
    for (uint32_t i = 0; i < cpu_notes_kept(&t->notes); i++)
        json_array_append_new(notes, json_string(t->notes.text[i]));
    return json_pack("{s:b, s:I, s:I, s:o, s:o}", "finished", t->complete || t->is_windows, "lost_events",
                     I(t->overrun), "notes", I(t->notes.count), "note_texts", notes, "cpus", cpus);
}

static json_t *one_state(const struct cpu_report *r, uint32_t cpu, uint32_t k)
{
    const struct cpu_stats *c = &r->a.cpu[cpu];
    json_t *counts = json_array();
    char buf[32];

    for (int n = 0; n <= CPU_NUM_EDGES; n++)
        json_array_append_new(counts, json_integer(I(c->interval[k].count[n])));
    return json_pack("{s:i, s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "state", (int)k, "name",
                     cpu_trace_state(r->trace, cpu, k, buf, sizeof(buf)), "entries", I(c->enters[k]),
                     "time_ns", I(c->idle_ns[k]), "too_deep", I(c->above[k]), "too_shallow", I(c->below[k]),
                     "wake_latency", latency(&c->wake_latency[k]), "exit_latency",
                     latency(&c->exit_reported[k]), "intervals", counts);
}

static json_t *one_cpu(const struct cpu_report *r, uint32_t i)
{
    const struct cpu_stats *c = &r->a.cpu[i];
    const double util = c->blind ? -1 : cpu_stats_utilization(c);
    const double perf = cpu_stats_delivered(c, cpu_report_base_khz(r, i));
    json_t *states = json_array(), *wakes = json_object(), *irqs = json_object(), *o;

    for (uint32_t k = 0; k < CPU_MAX_STATES && !c->blind; k++)
        if (c->enters[k] || c->idle_ns[k])
            json_array_append_new(states, one_state(r, i, k));
    for (int k = 0; k < CPU_WAKE_COUNT && !c->blind; k++)
        if (c->wakes[k])
            json_object_set_new(wakes, cpu_wake_name(r, k), json_integer(I(c->wakes[k])));
    for (int k = 0; k < CPU_IRQ_COUNT; k++)
        if (c->irqs[k])
            json_object_set_new(irqs, cpu_irq_name((enum cpu_irq)k),
                                json_pack("{s:I, s:I, s:I}", "count", I(c->irqs[k]), "time_ns",
                                          I(c->irq_ns[k]), "max_ns", I(c->irq_max_ns[k])));
    o = json_pack("{s:i, s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "cpu", (int)i, "blind", c->blind,
                  "events", I(c->events), "utilization_percent", number_or_null(util),
                  "delivered_performance_percent", number_or_null(perf), "utility",
                  number_or_null(util < 0 || perf < 0 ? -1 : util * perf), "steal_percent",
                  number_or_null(cpu_report_steal(r, i)), "states", states, "wakes", wakes, "interrupts",
                  irqs, "timer_lateness", latency(&c->timer_late));
    if (c->dpcs)
        json_object_set_new(o, "dpcs",
                            json_pack("{s:I, s:I, s:I}", "count", I(c->dpcs), "time_ns", I(c->dpc_ns),
                                      "max_ns", I(c->dpc_max_ns)));
    if (r->trace->is_windows)
        json_object_set_new(
            o, "targets",
            json_pack("{s:I, s:I}", "changes", I(c->targets), "selections_with_veto", I(c->vetoes)));
    if (c->blind) {
        json_object_set_new(o, "counted_utilization_percent",
                            number_or_null(cpu_report_counted_utilization(r, i)));
        return o;
    }
    json_object_set_new(o, "ticks",
                        json_pack("{s:I, s:I}", "stopped", I(c->ticks_stopped), "kept", I(c->ticks_kept)));
    json_object_update_new(
        o, json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:I}", "running_ns", I(c->running_ns),
                     "idle_ns", I(cpu_stats_idle(c)), "unknown_ns", I(c->unknown_ns), "longest_idle_ns",
                     I(c->longest_idle_ns), "longest_idle_at_ns", I(c->longest_idle_at), "entries_while_idle",
                     I(c->enters_twice), "exits_while_running", I(c->exits_alone), "still_idle",
                     c->still_idle, "off_target", I(c->off_target), "deep_idle_events", I(c->deep_events)));
    if (c->max_khz)
        json_object_set_new(o, "frequency",
                            json_pack("{s:I, s:I, s:f}", "min_khz", I(c->min_khz), "max_khz", I(c->max_khz),
                                      "mean_khz",
                                      c->khz_seen_ns ? c->khz_ns / (double)c->khz_seen_ns : c->khz));
    return o;
}

static json_t *wait_list(const struct cpu_report *r, const struct cpu_worst *w)
{
    json_t *list = json_array();
    char a[40], b[40];

    for (uint32_t i = 0; i < w->num; i++) {
        const struct cpu_wait *x = &w->list[i];
        json_array_append_new(
            list, json_pack("{s:I, s:I, s:i, s:i, s:i, s:s, s:s, s:s, s:b, s:b}", "at_ns", I(x->sent_ns),
                            "waited_ns", I(x->waited_ns), "sender", x->sender, "target", x->target, "thread",
                            (int)x->tid, "thread_name", cpu_trace_thread(r->trace, x->tid), "from",
                            x->site ? cpu_trace_symbol(r->trace, x->site, a, sizeof(a)) : "", "function",
                            x->callback ? cpu_trace_symbol(r->trace, x->callback, b, sizeof(b)) : "",
                            "answered", x->answered, "target_idle", x->target_idle));
    }
    return list;
}

static json_t *ipi_class(const struct cpu_analysis *a, enum cpu_ipi_class k)
{
    return json_pack("{s:I, s:I, s:o}", "sent", I(a->ipi_sent[k]), "answered", I(a->ipi_answered[k]),
                     "latency", latency(&a->ipi_latency[k]));
}

static json_t *ipis(const struct cpu_report *r)
{
    const struct cpu_analysis *a = &r->a;
    json_t *pairs = json_array();

    for (uint32_t s = 0; a->pairs && s < a->num_cpus; s++)
        for (uint32_t t = 0; t < a->num_cpus; t++) {
            const struct cpu_pair *p = &a->pairs[s * a->num_cpus + t];
            if (p->sent)
                json_array_append_new(pairs,
                                      json_pack("{s:i, s:i, s:I, s:I, s:I, s:I}", "sender", (int)s, "target",
                                                (int)t, "sent", I(p->sent), "answered", I(p->answered),
                                                "sum_ns", I(p->sum_ns), "max_ns", I(p->max_ns)));
        }
    return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "reschedule",
                     ipi_class(a, CPU_IPI_RESCHEDULE), "call", ipi_class(a, CPU_IPI_CALL), "irq_work",
                     ipi_class(a, CPU_IPI_SELF), "unanswered", I(a->ipi_unanswered), "unanswered_stuck",
                     I(a->unanswered_stuck), "stuck_after_ns", I(a->params.stuck_ns), "calls",
                     latency(&a->csd_latency), "pairs", pairs, "slowest", wait_list(r, &a->slowest),
                     "never_answered", wait_list(r, &a->unanswered), "slowest_calls",
                     wait_list(r, &a->csd_slowest));
}

static json_t *concurrency(const struct cpu_report *r)
{
    const struct cpu_analysis *a = &r->a;
    json_t *times = json_array(), *sets = json_array(), *incidents = json_array();
    uint8_t order[CPU_IDLE_SETS];
    uint32_t num = cpu_report_sets(r, order);
    char buf[256];

    for (uint32_t i = 0; i <= a->num_visible; i++)
        json_array_append_new(times, json_integer(I(a->concurrency[i])));
    for (uint32_t i = 0; i < num && a->deep_from < CPU_MAX_STATES; i++)
        json_array_append_new(
            sets, json_pack("{s:s, s:I, s:I}", "cpus",
                            cpu_mask_text(a->sets[order[i]].mask, a->num_cpus, buf, sizeof(buf)), "time_ns",
                            I(a->sets[order[i]].ns), "times", I(a->sets[order[i]].times)));
    for (uint32_t i = 0; i < a->num_incidents && i < CPU_INCIDENTS; i++) {
        const struct cpu_incident *n = &a->incidents[i];
        json_array_append_new(incidents,
                              json_pack("{s:I, s:I, s:I, s:i, s:i, s:i, s:b}", "at_ns", I(n->from_ns),
                                        "time_ns", I(n->to_ns - n->from_ns), "spread_ns", I(n->spread_ns),
                                        "stopped", (int)n->silent, "awake", n->awake, "waiting_for",
                                        (int)n->waiting_for, "none_came_back", n->at_end));
    }
    return json_pack("{s:i, s:o, s:I, s:o, s:o, s:I, s:o}", "cpus", (int)a->num_visible, "idle_ns", times,
                     "unknown_ns", I(a->concurrency_unknown_ns), "deep_from_state",
                     a->deep_from < CPU_MAX_STATES ? json_integer(I(a->deep_from)) : json_null(), "deep_sets",
                     sets, "deep_sets_other_ns", I(a->sets_other_ns), "all_but_one", incidents);
}

static json_t *late_timers(const struct cpu_report *r)
{
    json_t *list = json_array();
    char buf[32];

    for (uint32_t i = 0; i < r->a.num_late_timers; i++) {
        const struct cpu_late_timer *t = &r->a.late_timers[i];
        json_array_append_new(
            list,
            json_pack("{s:I, s:I, s:i, s:s?}", "due_ns", I(t->due_ns), "late_ns", I(t->late_ns), "cpu",
                      t->cpu, "idle_state",
                      t->was_idle ? cpu_trace_state(r->trace, t->cpu, t->state, buf, sizeof(buf)) : NULL));
    }
    return list;
}

json_t *cpu_report_json(const struct cpu_report *r)
{
    const struct cpu_trace *t = r->trace;
    const struct cpu_analysis *a = &r->a;
    json_t *cpus = json_array(), *kinds = json_object(), *edges = json_array(), *others = json_object(), *o;
    uint16_t types[64];
    char name[160];
    uint32_t n = cpu_report_others(r, types, 64);

    for (uint32_t i = 0; i < a->num_cpus; i++)
        json_array_append_new(cpus, one_cpu(r, i));
    for (int k = 0; k < CPU_EV_COUNT; k++)
        if (a->kinds[k])
            json_object_set_new(kinds, cpu_event_kind_name((enum cpu_event_kind)k),
                                json_integer(I(a->kinds[k])));
    for (int k = 0; k < CPU_NUM_EDGES; k++)
        json_array_append_new(edges, json_integer(I(cpu_bucket_edges[k])));
    for (uint32_t i = 0; i < n; i++) {
        cpu_trace_type_name(t, types[i], name, sizeof(name));
        json_object_set_new(others, name, json_integer(I(cpu_trace_counts(t)[types[i]])));
    }
    o = json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "format", "aerogpu-cpu-report",
                  "version", 1, "file", t->path, "system", t->system, "clock", t->clock, "driver",
                  t->has_before ? t->before.driver : "", "governor", t->has_before ? t->before.governor : "",
                  "begin_ns", I(a->begin_ns), "end_ns", I(a->end_ns), "realtime_offset_ns",
                  I(t->realtime_offset_ns), "events", I(a->events));
    json_object_update_new(o,
                           json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "completeness", completeness(r),
                                     "interval_edges_ns", edges, "cpus", cpus, "concurrency", concurrency(r),
                                     "ipis", ipis(r), "event_kinds", kinds, "not_analysed", others));
    json_object_set_new(o, "late_timers", late_timers(r));
    json_object_set_new(o, "fences",
                        json_pack("{s:I, s:I, s:I}", "emitted", I(a->fences_emitted), "signalled",
                                  I(a->fences_signaled), "waits", I(a->fence_waits)));
    if (r->verdict)
        json_object_set_new(o, "verdict", cpu_verdict_json(r->verdict));
    return o;
}
