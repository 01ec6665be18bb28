/* SPDX-License-Identifier: MIT */
#include "cpu/report/report.h"

#include <string.h>

/* Enough before the window to know every CPU's state at its border. */
#define RUN_UP UINT64_C(2000000000)

int cpu_report_init(struct cpu_report *r, struct cpu_trace *t, uint64_t from_ns, uint64_t to_ns,
                    uint64_t stuck_ns, struct error *e)
{
    const struct cpu_analysis_params params = {
        .num_cpus = t->num_cpus,
        .coverage = t->has_coverage ? &t->coverage : NULL,
        .snapshot = t->has_before ? &t->before : NULL,
        .from_ns = from_ns,
        .to_ns = to_ns,
        .stuck_ns = stuck_ns,
        .is_windows = t->is_windows,
    };
    const struct cpu_event *ev;
    struct cpu_source *source;
    int n, err;

    memset(r, 0, sizeof(*r));
    r->trace = t;
    err = cpu_analysis_init(&r->a, &params);
    if (err)
        return error_set(e, err, "no memory for the analysis of %u CPUs", t->num_cpus);
    err = cpu_trace_rewind(t, from_ns > RUN_UP ? from_ns - RUN_UP : 0, to_ns, &source, e);
    if (err) {
        cpu_report_finish(r);
        return err;
    }
    while ((n = source->next(source, &ev)) > 0) {
        if (ev->ns > to_ns)
            break;
        cpu_analysis_events(&r->a, ev, n);
    }
    cpu_analysis_end(&r->a);
    if (t->is_windows)
        t->notes = t->etl.notes; /* of its headers and of its events */
    return 0;
}

void cpu_report_finish(struct cpu_report *r)
{
    cpu_analysis_finish(&r->a);
}

double cpu_report_seconds(const struct cpu_report *r)
{
    return (double)(r->a.end_ns - r->a.begin_ns) / 1e9;
}

double cpu_report_steal(const struct cpu_report *r, uint32_t cpu)
{
    const struct cpu_trace *t = r->trace;
    const struct cpu_snapshot_cpu *a, *b;

    if (!t->has_before || !t->has_after || cpu >= t->before.num_cpus || cpu >= t->after.num_cpus)
        return -1;
    a = &t->before.cpus[cpu];
    b = &t->after.cpus[cpu];
    if (b->ns <= a->ns)
        return -1;
    return 100.0 * (double)(b->steal_ticks - a->steal_ticks) / t->before.ticks_per_second /
           ((double)(b->ns - a->ns) / 1e9);
}

double cpu_report_counted_utilization(const struct cpu_report *r, uint32_t cpu)
{
    const struct cpu_trace *t = r->trace;
    const struct cpu_snapshot_cpu *a, *b;
    uint64_t idle_us = 0;
    double idle;

    if (!t->has_before || !t->has_after || cpu >= t->before.num_cpus || cpu >= t->after.num_cpus)
        return -1;
    a = &t->before.cpus[cpu];
    b = &t->after.cpus[cpu];
    if (b->ns <= a->ns || !a->num_states || a->num_states != b->num_states)
        return -1;
    for (uint32_t k = 0; k < a->num_states; k++)
        idle_us += b->states[k].time_us - a->states[k].time_us;
    idle = (double)idle_us * 1000 / (double)(b->ns - a->ns);
    return idle > 1 ? 0 : 100 * (1 - idle);
}

uint32_t cpu_report_base_khz(const struct cpu_report *r, uint32_t cpu)
{
    const struct cpu_snapshot *s = &r->trace->before;

    if (!r->trace->has_before || cpu >= s->num_cpus)
        return 0;
    return s->cpus[cpu].base_khz ? s->cpus[cpu].base_khz : s->cpus[cpu].max_khz;
}

bool cpu_report_pair_stuck(const struct cpu_report *r, uint32_t sender, uint32_t target)
{
    const struct cpu_worst *w = &r->a.unanswered;

    for (uint32_t i = 0; i < w->num; i++)
        if (w->list[i].sender == sender && w->list[i].target == target &&
            w->list[i].waited_ns >= r->a.params.stuck_ns)
            return true;
    return false;
}

uint32_t cpu_report_sets(const struct cpu_report *r, uint8_t order[CPU_IDLE_SETS])
{
    const struct cpu_analysis *a = &r->a;

    for (uint32_t i = 0; i < a->num_sets; i++) {
        uint32_t k = i;
        for (; k > 0 && a->sets[order[k - 1]].ns < a->sets[i].ns; k--)
            order[k] = order[k - 1];
        order[k] = (uint8_t)i;
    }
    return a->num_sets;
}

uint32_t cpu_report_others(const struct cpu_report *r, uint16_t *types, uint32_t max)
{
    const uint64_t *counts = cpu_trace_counts(r->trace);
    uint32_t n = 0;

    for (uint32_t type = 0; counts && type < 65536; type++) {
        uint32_t k = n;
        if (!counts[type] ||
            (r->trace->is_windows ? r->trace->etl.kinds[type].event && r->trace->etl.kinds[type].event->kind
                                  : r->trace->rules->rules[r->trace->rules->of_id[type]].kind))
            continue;
        for (; k > 0 && counts[types[k - 1]] < counts[type]; k--)
            if (k < max)
                types[k] = types[k - 1];
        if (k < max) {
            types[k] = (uint16_t)type;
            n += n < max;
        }
    }
    return n;
}

const char *cpu_wake_name(const struct cpu_report *r, int cause)
{
    if (cause < CPU_IRQ_COUNT)
        return cpu_irq_name((enum cpu_irq)cause);
    /* without the timer's own event a timer wake-up looks like none */
    return r->a.kinds[CPU_EV_IRQ_ENTRY] && !r->trace->is_windows &&
                   json_is_true(json_object_get(r->trace->meta, "timers"))
               ? "no interrupt (polling)"
               : "no recorded interrupt (timer or polling)";
}
