/* SPDX-License-Identifier: MIT */
/* The report as one page: its cards and tables. report_svg.c draws. */
#include "cpu/report/report_svg.h"
#include "cpu/model/verdict.h"

#include <string.h>

#include "report/page.h"

#define OUT(...) strbuf_printf(o, __VA_ARGS__)
#define PUTS(s)  strbuf_puts(o, s)

static double share(const struct cpu_report *r, uint64_t v)
{
    const uint64_t span = r->a.end_ns - r->a.begin_ns;

    return span ? 100.0 * (double)v / (double)span : 0;
}

static double at_s(const struct cpu_report *r, uint64_t t)
{
    return (double)(int64_t)(t - r->a.begin_ns) / 1e9;
}

static void head(const struct cpu_report *r, struct strbuf *o, const char *name)
{
    const struct cpu_trace *t = r->trace;
    uint32_t blind = 0;
    char buf[64];

    page_text_in(o, "<main><h1>", name, "</h1><p class=sub>");
    page_text(o, t->system);
    OUT(" &middot; clock %s &middot; begins at %.6f s", t->clock, (double)r->a.begin_ns / 1e9);
    if (t->has_before && t->before.driver[0]) {
        PUTS(" &middot; cpuidle driver ");
        page_text(o, t->before.driver);
        PUTS(", governor ");
        page_text(o, t->before.governor);
    }
    PUTS("</p><div class=tiles>\n");
    snprintf(buf, sizeof(buf), "%.3f s", cpu_report_seconds(r));
    page_tile(o, buf, "recorded", false);
    snprintf(buf, sizeof(buf), "%u", t->num_cpus);
    page_tile(o, buf, "processors", false);
    page_tile(o, cpu_num(r->a.events), "events", false);
    page_tile(o, cpu_num(t->overrun), "events lost", t->overrun != 0);
    for (uint32_t i = 0; t->has_coverage && i < t->coverage.num_cpus; i++)
        blind += t->coverage.cpus[i].blind;
    snprintf(buf, sizeof(buf), "%u", blind);
    page_tile(o, t->has_coverage ? buf : "?", "CPUs not shown by the trace", blind != 0);
    page_tile(o, t->is_windows ? "?" : cpu_num(r->a.unanswered_stuck), "IPIs stuck",
              r->a.unanswered_stuck != 0);
    if (r->a.num_visible >= 3)
        page_tile(o, cpu_num(r->a.num_incidents), "times all but one idle", false);
    PUTS("</div>\n");
}

static void completeness(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_trace *t = r->trace;
    const bool many = t->num_cpus > 8;
    uint64_t expected = 0, recorded = 0;
    uint32_t checked = 0, blind = 0;

    page_card(
        o, "shows", "What this recording shows",
        t->is_windows
            ? "A Windows trace has no counters to check it against: that a processor's events are missing is known only if the system says that it lost some."
            : "Idle entries in the trace against the kernel's own cpuidle counters, and interrupts against /proc/interrupts. A processor that falls short is not used below.");
    if (many) {
        for (uint32_t i = 0; t->has_coverage && i < t->coverage.num_cpus; i++) {
            const struct cpu_coverage_cpu *c = &t->coverage.cpus[i];
            checked += c->checked;
            blind += c->blind;
            expected += c->expected;
            recorded += c->recorded;
        }
        OUT("<p>%u of %u processors were checked; <span class=%s>%u are not shown</span>. %s idle entries recorded, %s counted by the kernel.</p><details%s><summary>each of them</summary>",
            checked, t->num_cpus, blind ? "bad" : "ok", blind, cpu_num(recorded), cpu_num(expected),
            blind ? " open" : "");
    }
    page_table(o, "l:CPU|kernel counted|recorded|missing|l:idle states|l:interrupts");
    for (uint32_t i = 0; i < t->num_cpus; i++) {
        const struct cpu_coverage_cpu *c =
            t->has_coverage && i < t->coverage.num_cpus ? &t->coverage.cpus[i] : NULL;
        bool any = false;
        if (!c || !c->checked) {
            OUT("<tr><td class=l>%u<td>-<td>%s<td>-<td class=l>no counter to check against<td class=l>-</tr>\n",
                i, cpu_num(cpu_stats_enters(&r->a.cpu[i])));
            continue;
        }
        OUT("<tr><td class=l>%u<td>%s<td>%s<td>%s<td class=l>%s<td class=l>", i, cpu_num(c->expected),
            cpu_num(c->recorded), cpu_num(c->expected > c->recorded ? c->expected - c->recorded : 0),
            c->blind ? "<span class=bad>trace incomplete: not used</span>"
                     : "<span class=ok>complete</span>");
        for (int k = 0; k < CPU_COUNTER_COUNT; k++) {
            if (!c->irq_checked[k])
                continue;
            OUT("%s<span class=%s>%s %s of %s</span>", any ? ", " : "", c->irq_blind[k] ? "bad" : "ok",
                cpu_counter_name((enum cpu_counter)k), cpu_num(c->irq_recorded[k]),
                cpu_num(c->irq_expected[k]));
            any = true;
        }
        PUTS(any ? "</tr>\n" : "-</tr>\n");
    }
    page_table_end(o);
    PUTS(many ? "</details>" : "");
    if (!t->complete && !t->is_windows)
        PUTS(
            "<div class=alert>The recorder did not finish this file: counters after the recording and names are missing.</div>");
    for (uint32_t i = 0; i < cpu_notes_kept(&t->notes); i++) {
        PUTS("<div class=alert>");
        page_text(o, t->notes.text[i]);
        PUTS("</div>");
    }
    if (t->notes.count > NOTES_KEPT)
        OUT("<div class=alert>and %s more notes</div>", cpu_num(t->notes.count - NOTES_KEPT));
    page_card_end(o);
}

static void timeline(const struct cpu_report *r, struct strbuf *o)
{
    char sub[200];

    snprintf(sub, sizeof(sub), "Share of each %s that a processor was running.",
             cpu_ns(UINT64_C(1) << r->a.bin_shift));
    page_card(o, "time", "Time line", sub);
    if (r->a.num_cpus)
        cpu_svg_timeline(o, r);
    else
        PUTS("<p class=dim>The recording says nothing of any processor.</p>");
    page_card_end(o);
}

static void cell(struct strbuf *o, double v, const char *unit)
{
    if (v < 0)
        PUTS("<td class=dim>n/a");
    else
        OUT("<td>%.2f%s", v, unit);
}

static void processors(const struct cpu_report *r, struct strbuf *o)
{
    bool any = false, counted = false;

    page_card(
        o, "processors", "Processors",
        "Utilization = 100 &times; busy / (busy + idle). Utility = utilization &times; delivered performance, both in percent: 10,000 is one fully busy processor at nominal speed.");
    page_table(
        o,
        "l:CPU|utilization|running|idle|not known|stolen by the host|delivered performance|utility|longest idle|at");
    for (uint32_t i = 0; i < r->a.num_cpus; i++) {
        const struct cpu_stats *c = &r->a.cpu[i];
        const double util = c->blind ? -1 : cpu_stats_utilization(c),
                     perf = cpu_stats_delivered(c, cpu_report_base_khz(r, i));
        OUT("<tr><td class=l>%u", i);
        if (c->blind && cpu_report_counted_utilization(r, i) >= 0)
            OUT("<td class=dim>%.2f %% *", cpu_report_counted_utilization(r, i));
        else if (util >= 0)
            OUT("<td class=share style='--p:%.1f%%'>%.2f %%", util, util);
        else
            cell(o, util, " %");
        if (c->blind)
            PUTS("<td class=dim>n/a<td class=dim>n/a<td class=dim>n/a");
        else
            OUT("<td>%s<td>%s<td>%s", cpu_ns(c->running_ns), cpu_ns(cpu_stats_idle(c)),
                cpu_ns(c->unknown_ns));
        cell(o, cpu_report_steal(r, i), " %");
        cell(o, perf, " %");
        cell(o, perf < 0 || util < 0 ? -1 : util * perf, "");
        any |= perf >= 0;
        counted |= c->blind && cpu_report_counted_utilization(r, i) >= 0;
        if (c->blind || !c->longest_idle_ns)
            PUTS("<td class=dim>n/a<td></tr>\n");
        else
            OUT("<td>%s%s<td>%.6f s</tr>\n", cpu_ns(c->longest_idle_ns),
                c->still_idle ? " (idle at the end)" : "", at_s(r, c->longest_idle_at));
    }
    page_table_end(o);
    if (counted)
        PUTS(
            "<p class=dim>* by the kernel's cpuidle counters over the whole recording; the trace does not show this processor.</p>");
    if (!any)
        PUTS(
            "<p class=dim>Delivered performance and utility are not available on this machine: it has neither pstate_sample nor cpu_frequency events.</p>");
    page_card_end(o);
}

/* What the kernel counted itself in state `k` of CPUs [from, to), over the whole recording. */
static void counted(const struct cpu_report *r, struct strbuf *o, uint32_t from, uint32_t to, uint32_t k)
{
    const struct cpu_snapshot *b = &r->trace->before, *e = &r->trace->after;
    uint64_t sums[4] = {0};
    bool any = false;

    for (uint32_t i = from; i < to && i < b->num_cpus && i < e->num_cpus; i++) {
        const struct cpu_snapshot_state *x = &b->cpus[i].states[k], *y = &e->cpus[i].states[k];
        if (!r->trace->has_before || !r->trace->has_after || k >= b->cpus[i].num_states ||
            k >= e->cpus[i].num_states)
            continue;
        sums[0] += y->usage - x->usage;
        sums[1] += y->above - x->above;
        sums[2] += y->below - x->below;
        sums[3] += y->rejected - x->rejected;
        any = true;
    }
    if (any)
        OUT("<td class=dim>%s / %s / %s / %s</tr>\n", cpu_num(sums[0]), cpu_num(sums[1]), cpu_num(sums[2]),
            cpu_num(sums[3]));
    else
        PUTS("<td class=dim>n/a</tr>\n");
}

/* One state of one CPU, or of all that the trace shows. */
struct state_figures {
    const char *cpu, *name;
    char declared[48];
    uint64_t enters, idle_ns, above, below, span;
    struct cpu_latency latency;
    bool misses;   /* the recording says when a state was chosen badly */
    bool reported; /* the latency is the system's own, in its own unit */
};

static void figures_add(struct state_figures *f, const struct cpu_stats *c, uint32_t k)
{
    f->enters += c->enters[k];
    f->idle_ns += c->idle_ns[k];
    f->above += c->above[k];
    f->below += c->below[k];
    f->reported |= c->exit_reported[k].n != 0;
    cpu_latency_merge(&f->latency, f->reported ? &c->exit_reported[k] : &c->wake_latency[k]);
}

static void declare(const struct cpu_report *r, struct state_figures *f, uint32_t cpu, uint32_t k)
{
    const struct cpu_snapshot *b = &r->trace->before;

    if (r->trace->has_before && cpu < b->num_cpus && k < b->cpus[cpu].num_states)
        snprintf(f->declared, sizeof(f->declared), "<td>%u us<td>%u us", b->cpus[cpu].states[k].latency_us,
                 b->cpus[cpu].states[k].residency_us);
    else
        snprintf(f->declared, sizeof(f->declared), "<td class=dim>n/a<td class=dim>n/a");
}

static void state_row(struct strbuf *o, const struct state_figures *f, uint32_t cpu)
{
    const struct cpu_latency *l = &f->latency;

    if (f->cpu)
        OUT("<tr class=all><td class=l>%s<td class=l>", f->cpu);
    else
        OUT("<tr><td class=l>%u<td class=l>", cpu);
    page_text(o, f->name);
    OUT("%s<td>%s<td>%s<td>%.2f %%<td>%s", f->declared, cpu_num(f->enters), cpu_ns(f->idle_ns),
        f->span ? 100.0 * (double)f->idle_ns / (double)f->span : 0,
        f->enters ? cpu_ns(f->idle_ns / f->enters) : "-");
    if (f->misses)
        OUT("<td>%s<td>%s", cpu_num(f->above), cpu_num(f->below));
    else
        PUTS("<td class=dim>n/a<td class=dim>n/a");
    if (!l->n)
        PUTS("<td class=dim>-<td class=dim>-<td class=dim>-");
    else if (f->reported)
        OUT("<td>%s<td>%s<td>%s units", cpu_num(cpu_latency_percentile(l, 50)),
            cpu_num(cpu_latency_percentile(l, 99)), cpu_num(l->max));
    else
        OUT("<td>%s<td>%s<td>%s", cpu_ns(cpu_latency_percentile(l, 50)),
            cpu_ns(cpu_latency_percentile(l, 99)), cpu_ns(l->max));
}

static void states_of(const struct cpu_report *r, struct strbuf *o, uint32_t cpu)
{
    const struct cpu_snapshot *b = &r->trace->before;
    const struct cpu_stats *c = &r->a.cpu[cpu];
    const uint32_t num_known = r->trace->has_before && cpu < b->num_cpus ? b->cpus[cpu].num_states : 0;
    char buf[32];

    for (uint32_t k = 0; k < CPU_MAX_STATES; k++) {
        struct state_figures f = {.name = cpu_trace_state(r->trace, cpu, k, buf, sizeof(buf)),
                                  .span = r->a.end_ns - r->a.begin_ns,
                                  .misses = !r->trace->is_windows};
        if (c->blind ? k >= num_known : !c->enters[k] && !c->idle_ns[k])
            continue;
        declare(r, &f, cpu, k);
        if (c->blind) {
            OUT("<tr class=dim><td class=l>%u<td class=l>", cpu);
            page_text(o, f.name);
            OUT("%s<td colspan=9 class=l>not shown by the trace", f.declared);
        } else {
            figures_add(&f, c, k);
            state_row(o, &f, cpu);
        }
        counted(r, o, cpu, cpu + 1, k);
    }
    if (c->exits_alone || c->enters_twice || c->off_target)
        OUT("<tr class=dim><td class=l>%u<td class=l colspan=13>kept as they are: %s entries while idle, %s exits while running; entries into another state than the target: %s</tr>\n",
            cpu, cpu_num(c->enters_twice), cpu_num(c->exits_alone),
            c->targets ? cpu_num(c->off_target) : "no targets recorded");
}

/* Each state over all CPUs that the trace shows. */
static void states_of_all(const struct cpu_report *r, struct strbuf *o)
{
    char buf[32];

    for (uint32_t k = 0; k < CPU_MAX_STATES; k++) {
        struct state_figures f = {.cpu = "all",
                                  .name = cpu_trace_state(r->trace, 0, k, buf, sizeof(buf)),
                                  .span = (r->a.end_ns - r->a.begin_ns) * r->a.num_visible,
                                  .misses = !r->trace->is_windows};
        for (uint32_t i = 0; i < r->a.num_cpus; i++)
            if (r->a.cpu[i].visible)
                figures_add(&f, &r->a.cpu[i], k);
        declare(r, &f, 0, k);
        if (f.enters || f.idle_ns) {
            state_row(o, &f, 0);
            counted(r, o, 0, r->a.num_cpus, k);
        }
    }
}

static void idle_states(const struct cpu_report *r, struct strbuf *o)
{
    static const char titles[] =
        "l:CPU|l:state|declared exit|declared residency|entries|time|share|mean|too deep|too shallow|exit latency p50|p99|max|"
        "kernel's own count: entries / too deep / too shallow / rejected";
    const bool many = r->a.num_cpus > 8;
    bool any = false;

    page_card(
        o, "states", "Idle states",
        r->trace->is_windows
            ? "C1 is the event's state 0. Exit latency: as the system measured it, in its own unit, which is not documented."
            : "Too deep: woken before the state paid off. Too shallow: a deeper state would have paid off. Exit latency: from the first IPI to an idle processor until it stirs.");
    for (uint32_t i = 0; i < r->a.num_cpus; i++)
        any |= r->a.cpu[i].blind || cpu_stats_enters(&r->a.cpu[i]) || cpu_stats_idle(&r->a.cpu[i]);
    if (!any) {
        PUTS("<p class=dim>No idle state was entered.</p>");
        page_card_end(o);
        return;
    }
    page_table(o, titles);
    if (many) {
        states_of_all(r, o);
        page_table_end(o);
        OUT("<details><summary>each of the %u processors</summary>", r->a.num_cpus);
        page_table(o, titles);
    }
    for (uint32_t i = 0; i < r->a.num_cpus; i++)
        states_of(r, o, i);
    page_table_end(o);
    PUTS(many ? "</details>" : "");
    page_card_end(o);
}

static void intervals(const struct cpu_report *r, struct strbuf *o)
{
    page_card(
        o, "intervals", "Idle intervals",
        "How many idle periods were how long, over all processors that the trace shows, by state. A bucket holds [left edge, right edge).");
    cpu_svg_intervals(o, r);
    page_card_end(o);
}

static void concurrency(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_analysis *a = &r->a;
    uint8_t order[CPU_IDLE_SETS];
    uint32_t sets = cpu_report_sets(r, order);
    uint64_t others = a->sets_other_ns;
    char label[256];

    snprintf(label, sizeof(label), "Time with exactly n processors idle, of the %u that the trace shows.",
             a->num_visible);
    page_card(o, "concurrency", "Idle concurrency", label);
    cpu_svg_concurrency(o, r);
    if (a->deep_from < CPU_MAX_STATES) {
        PUTS("<h2>Deep idle sets</h2><p class=sub>Which processors were in ");
        page_text(o, cpu_trace_state(r->trace, 0, a->deep_from, label, sizeof(label)));
        PUTS(" or deeper at the same time.</p>");
        page_table(o, "l:processors|times|time|");
        for (uint32_t i = 0; i < sets && i < 16; i++)
            OUT("<tr><td class=l>%s<td>%s<td>%s<td class=w><div class=bar><i class=c-busy style='width:%.2f%%'></i></div></tr>\n",
                cpu_mask_text(a->sets[order[i]].mask, a->num_cpus, label, sizeof(label)),
                cpu_num(a->sets[order[i]].times), cpu_ns(a->sets[order[i]].ns),
                share(r, a->sets[order[i]].ns));
        for (uint32_t i = 16; i < sets; i++)
            others += a->sets[order[i]].ns;
        if (others)
            OUT("<tr class=dim><td class=l>other sets<td><td>%s<td class=w></tr>\n", cpu_ns(others));
        page_table_end(o);
    } else {
        PUTS(
            "<p class=dim>No idle state of this machine is deep (exit latency of 50 us and more, or the deepest of three).</p>");
    }
    page_card_end(o);
}

static void wakes(const struct cpu_report *r, struct strbuf *o)
{
    struct strbuf columns = {0};

    page_card(o, "wakes", "Wake-ups", "By the first interrupt while idle or right after it.");
    strbuf_puts(&columns, "l:CPU");
    for (int k = 0; k < CPU_WAKE_COUNT; k++)
        strbuf_printf(&columns, "|%s", cpu_wake_name(r, k));
    strbuf_puts(&columns, "|tick stopped / kept");
    o->failed |= strbuf_failed(&columns);
    page_table(o, strbuf_str(&columns));
    strbuf_finish(&columns);
    for (uint32_t i = 0; i < r->a.num_cpus; i++) {
        const struct cpu_stats *c = &r->a.cpu[i];
        OUT("<tr><td class=l>%u", i);
        for (int k = 0; k < CPU_WAKE_COUNT; k++)
            OUT("<td%s>%s", c->blind || !c->wakes[k] ? " class=dim" : "",
                c->blind ? "n/a" : cpu_num(c->wakes[k]));
        if (c->blind)
            PUTS("<td class=dim>n/a</tr>\n");
        else
            OUT("<td>%s / %s</tr>\n", cpu_num(c->ticks_stopped), cpu_num(c->ticks_kept));
    }
    page_table_end(o);
    page_card_end(o);
}

static void wait_table(const struct cpu_report *r, struct strbuf *o, const char *title,
                       const struct cpu_worst *w)
{
    char buf[40];

    if (!w->num)
        return;
    OUT("<h2>%s</h2>\n", title);
    page_table(o, "waited|l:from|l:to|at|l:thread|l:function|l:call site");
    for (uint32_t i = 0; i < w->num && i < 8; i++) {
        const struct cpu_wait *x = &w->list[i];
        OUT("<tr><td>%s<td class=l>CPU %u<td class=l>CPU %u%s<td>%.6f s<td class=l>", cpu_ns(x->waited_ns),
            x->sender, x->target, x->target_idle ? " (idle)" : "", at_s(r, x->sent_ns));
        page_text(o, cpu_trace_thread(r->trace, x->tid));
        OUT("/%d<td class=l><code>", x->tid);
        page_text(o, x->callback ? cpu_trace_symbol(r->trace, x->callback, buf, sizeof(buf)) : "reschedule");
        PUTS("</code><td class=l><code>");
        page_text(o, x->site ? cpu_trace_symbol(r->trace, x->site, buf, sizeof(buf)) : "");
        PUTS("</code></tr>\n");
    }
    page_table_end(o);
}

static void latency_row(struct strbuf *o, const char *name, uint64_t sent, uint64_t answered,
                        const struct cpu_latency *l)
{
    OUT("<tr><td class=l>%s<td>%s<td>%s", name, cpu_num(sent), cpu_num(answered));
    if (l->n)
        OUT("<td>%s<td>%s<td>%s<td>%s</tr>\n", cpu_ns(cpu_latency_percentile(l, 50)),
            cpu_ns(cpu_latency_percentile(l, 99)), cpu_ns(cpu_latency_percentile(l, 99.9)), cpu_ns(l->max));
    else
        PUTS("<td class=dim>-<td class=dim>-<td class=dim>-<td class=dim>-</tr>\n");
}

static void matrix(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_analysis *a = &r->a;
    const bool dense = a->num_cpus > 8;
    uint64_t max = 1;

    if (!a->pairs || a->num_cpus > 64)
        return;
    for (uint32_t i = 0; i < a->num_cpus * a->num_cpus; i++)
        if (a->pairs[i].sent > max)
            max = a->pairs[i].sent;
    OUT("<h2>Who asked whom</h2><p class=sub>IPIs sent, and the mean time until they were answered%s. Red: not answered for %s and longer.</p><div class=pair><div>",
        r->trace->is_windows ? ", which Windows does not record" : "", cpu_ns(a->params.stuck_ns));
    cpu_svg_ipi_graph(o, r);
    PUTS("</div><div class=scroll><table class='narrow matrix'><tr><th class=l>from \\ to");
    for (uint32_t t = 0; t < a->num_cpus; t++)
        OUT("<th>%u", t);
    PUTS("</tr>\n");
    for (uint32_t s = 0; s < a->num_cpus; s++) {
        OUT("<tr><td class=l>%u", s);
        for (uint32_t t = 0; t < a->num_cpus; t++) {
            const struct cpu_pair *p = &a->pairs[s * a->num_cpus + t];
            if (!p->sent) {
                PUTS("<td class=dim>&middot;");
                continue;
            }
            OUT("<td class='heat%s' style='--p:%.0f%%' title='CPU %u to CPU %u: mean %s, max %s'>%s",
                cpu_report_pair_stuck(r, s, t) ? " bad" : "", 6 + 34 * (double)p->sent / (double)max, s, t,
                p->answered ? cpu_ns(p->sum_ns / p->answered) : "-", p->max_ns ? cpu_ns(p->max_ns) : "-",
                cpu_num(p->sent));
            if (!dense)
                OUT("<br><span class=dim>%s</span>", p->answered ? cpu_ns(p->sum_ns / p->answered) : "-");
        }
        PUTS("</tr>\n");
    }
    PUTS("</table></div></div>");
}

static void ipis(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_analysis *a = &r->a;
    char sub[160];

    snprintf(
        sub, sizeof(sub),
        "From sending until the handler starts. Never answered: %s, of these waiting %s and longer at the end: %s.",
        cpu_num(a->ipi_unanswered), cpu_ns(a->params.stuck_ns), cpu_num(a->unanswered_stuck));
    page_card(o, "ipis", "Inter-processor interrupts", sub);
    page_table(o, "l:kind|sent|answered|p50|p99|p99.9|max");
    latency_row(o, "reschedule", a->ipi_sent[CPU_IPI_RESCHEDULE], a->ipi_answered[CPU_IPI_RESCHEDULE],
                &a->ipi_latency[CPU_IPI_RESCHEDULE]);
    latency_row(o, "function call", a->ipi_sent[CPU_IPI_CALL], a->ipi_answered[CPU_IPI_CALL],
                &a->ipi_latency[CPU_IPI_CALL]);
    latency_row(o, "irq work, to itself", a->ipi_sent[CPU_IPI_SELF], a->ipi_answered[CPU_IPI_SELF],
                &a->ipi_latency[CPU_IPI_SELF]);
    latency_row(o, "queued call, until done", a->csd_latency.n + a->csd_pending, a->csd_latency.n,
                &a->csd_latency);
    page_table_end(o);
    PUTS("<div class=charts>");
    cpu_svg_latency(o, &a->ipi_latency[CPU_IPI_RESCHEDULE], "reschedule");
    cpu_svg_latency(o, &a->ipi_latency[CPU_IPI_CALL], "function call");
    cpu_svg_latency(o, &a->csd_latency, "queued call, until done");
    PUTS("</div><p class=dim>Bars: the logarithm of the number, so that a single late one is seen.</p>");
    matrix(r, o);
    wait_table(r, o, "Never answered", &a->unanswered);
    wait_table(r, o, "Slowest answers", &a->slowest);
    wait_table(r, o, "Slowest queued calls", &a->csd_slowest);
    page_card_end(o);
}

static void detectors(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_analysis *a = &r->a;

    page_card(
        o, "one", "All but one",
        "Long times with every processor but one idle, stopped at nearly the same moment: what a machine looks like whose processors cannot be woken.");
    if (a->num_visible < 3)
        OUT("<p>Needs at least three processors that the trace shows; there are %u.</p>", a->num_visible);
    else if (!a->num_incidents)
        OUT("<p>None of %s or longer.</p>", cpu_ns(a->params.stuck_ns));
    else
        page_table(o, "at|for|stopped|within|l:kept running|l:");
    for (uint32_t i = 0; i < a->num_incidents && i < CPU_INCIDENTS; i++) {
        const struct cpu_incident *n = &a->incidents[i];
        OUT("<tr><td>%.6f s<td>%s<td>%u<td>%s<td class=l>CPU %u<td class=l>", at_s(r, n->from_ns),
            cpu_ns(n->to_ns - n->from_ns), n->silent, cpu_ns(n->spread_ns), n->awake);
        if (n->waiting_for)
            OUT("<span class=bad>waiting for %u IPIs</span>", n->waiting_for);
        if (n->waiting_for && n->at_end)
            PUTS("; ");
        PUTS(n->at_end ? "<span class=bad>none came back</span></tr>\n" : "</tr>\n");
    }
    if (a->num_incidents && a->num_visible >= 3)
        page_table_end(o);
    page_card_end(o);
}

static void timers(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_analysis *a = &r->a;
    bool any = false;
    char buf[32];

    for (uint32_t i = 0; i < a->num_cpus; i++)
        any |= a->cpu[i].timer_late.n != 0;
    if (!any)
        return;
    page_card(o, "timers", "Timers",
              "High-resolution timers, from the time they were due until their handler started.");
    page_table(o, "l:CPU|fired|due while idle|late p50|p99|p99.9|max");
    for (uint32_t i = 0; i < a->num_cpus; i++) {
        char cpu[16];
        snprintf(cpu, sizeof(cpu), "%u", i);
        if (a->cpu[i].timer_late.n)
            latency_row(o, cpu, a->cpu[i].timer_late.n, a->cpu[i].timer_late_idle, &a->cpu[i].timer_late);
    }
    page_table_end(o);
    PUTS("<div class=charts>");
    for (uint32_t i = 0; i < a->num_cpus && i < 8; i++) {
        snprintf(buf, sizeof(buf), "CPU %u", i);
        cpu_svg_latency(o, &a->cpu[i].timer_late, buf);
    }
    PUTS("</div><h2>Latest</h2>");
    page_table(o, "late|l:CPU|due at|l:state when due");
    for (uint32_t i = 0; i < a->num_late_timers && i < 8; i++) {
        const struct cpu_late_timer *t = &a->late_timers[i];
        OUT("<tr><td>%s<td class=l>CPU %u<td>%.6f s<td class=l>", cpu_ns(t->late_ns), t->cpu,
            at_s(r, t->due_ns));
        if (t->was_idle)
            page_text(o, cpu_trace_state(r->trace, t->cpu, t->state, buf, sizeof(buf)));
        else
            PUTS(a->cpu[t->cpu].blind ? "not shown" : "running");
        PUTS("</tr>\n");
    }
    page_table_end(o);
    page_card_end(o);
}

static void rest(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_analysis *a = &r->a;
    bool freq = false;
    uint16_t types[24];
    char name[160];
    uint32_t n;

    page_card(o, "frequency", "Frequency", "");
    for (uint32_t i = 0; i < a->num_cpus; i++) {
        const struct cpu_stats *c = &a->cpu[i];
        if (!c->max_khz)
            continue;
        freq = true;
        OUT("<p>CPU %u: %u to %u MHz, mean %.0f MHz</p>", i, c->min_khz / 1000, c->max_khz / 1000,
            c->khz_seen_ns ? c->khz_ns / (double)c->khz_seen_ns / 1000 : c->khz / 1000.0);
    }
    if (!freq)
        PUTS("<p class=dim>Not available on this machine: no cpu_frequency events.</p>");
    page_card_end(o);
    page_card(o, "events", "Events", "Everything that was read, by kind.");
    page_table(o, "l:kind|events");
    for (int k = 0; k < CPU_EV_COUNT; k++)
        if (a->kinds[k])
            OUT("<tr><td class=l>%s<td>%s</tr>\n", cpu_event_kind_name((enum cpu_event_kind)k),
                cpu_num(a->kinds[k]));
    n = cpu_report_others(r, types, 24);
    for (uint32_t i = 0; i < n; i++) {
        cpu_trace_type_name(r->trace, types[i], name, sizeof(name));
        PUTS("<tr class=dim><td class=l>not analysed: ");
        page_text(o, name);
        OUT("<td>%s</tr>\n", cpu_num(cpu_trace_counts(r->trace)[types[i]]));
    }
    page_table_end(o);
    page_card_end(o);
}

/* What the black box says of the same time-out. */
static void dump_says(const struct cpu_verdict *v, struct strbuf *o)
{
    PUTS("<h3>The crash dump says</h3><p>");
    page_text(o, v->dump.text);
    PUTS("</p><ul>");
    for (int i = 0; i < 4; i++)
        if (v->dump.sure[i][0]) {
            OUT("<li>%s: ", cpu_dump_facts[i]);
            page_text(o, v->dump.sure[i]);
        }
    if (v->dump.unseen[0])
        page_text_in(o, "<li><span class=dim>not seen:</span> ", v->dump.unseen, "");
    OUT("</ul><p%s>", v->relation == WITNESS_CONTRADICT ? " style='color:var(--bad)'" : "");
    page_text(o, v->relation_text);
    PUTS("</p>");
}

static void verdict(const struct cpu_verdict *v, struct strbuf *o)
{
    const char *colour = v->kind == CPU_VERDICT_UNKNOWN    ? "dim"
                         : v->kind == CPU_VERDICT_GPU_HUNG ? "bad"
                                                           : "warn";

    OUT("<section class='card verdict' style='--c:var(--%s)'><h2>", colour);
    page_text(o, cpu_verdict_name(v->kind));
    PUTS(" <span class=dim style='font-weight:400'>");
    page_text(o, v->reason);
    if (v->kind != CPU_VERDICT_UNKNOWN)
        OUT(", %s", cpu_certainty_name(v->certainty));
    OUT("</span></h2><p class=sub>The wait of %s from %.6f s on; times count from the submission.</p><ul>",
        cpu_ns(v->timeout_ns - v->submit_ns), (double)v->submit_ns / 1e9);
    for (uint32_t i = 0; i < v->num_lines + v->num_vblanks; i++) {
        PUTS("<li>");
        if (i < v->num_lines && v->sure[i] != CPU_CERTAIN)
            OUT("<span class=dim>%s:</span> ", cpu_certainty_name(v->sure[i]));
        page_text(o, i < v->num_lines ? v->lines[i] : v->vblanks[i - v->num_lines]);
        PUTS("</li>");
    }
    PUTS("</ul>");
    if (v->dump.any)
        dump_says(v, o);
    page_card_end(o);
}

/* One kind of handler of CPUs [from, to). */
static void handler_row(const struct cpu_report *r, struct strbuf *o, uint32_t from, uint32_t to, int k)
{
    const bool dpc = k == CPU_IRQ_COUNT;
    uint64_t n = 0, t = 0, longest = 0;

    for (uint32_t i = from; i < to; i++) {
        const struct cpu_stats *c = &r->a.cpu[i];
        const uint64_t max = dpc ? c->dpc_max_ns : c->irq_max_ns[k];
        n += dpc ? c->dpcs : c->irqs[k];
        t += dpc ? c->dpc_ns : c->irq_ns[k];
        longest = max > longest ? max : longest;
    }
    if (!n)
        return;
    if (to - from > 1)
        PUTS("<tr class=all><td class=l>all");
    else
        OUT("<tr><td class=l>%u", from);
    OUT("<td class=l>%s<td>%s<td>%.1f", dpc ? "DPC" : cpu_irq_name((enum cpu_irq)k), cpu_num(n),
        cpu_report_seconds(r) > 0 ? (double)n / cpu_report_seconds(r) : 0);
    if (t)
        OUT("<td>%s<td>%.3f %%<td>%s<td>%s</tr>\n", cpu_ns(t), share(r, t) / (to - from), cpu_ns(t / n),
            cpu_ns(longest));
    else
        PUTS("<td class=dim>-<td class=dim>-<td class=dim>-<td class=dim>-</tr>\n");
}

static void interrupts(const struct cpu_report *r, struct strbuf *o)
{
    static const char titles[] = "l:CPU|l:interrupt|times|a second|time|share of a processor|mean|longest";
    const uint32_t n = r->a.num_cpus;

    if (!r->a.kinds[CPU_EV_IRQ_ENTRY] && !r->a.kinds[CPU_EV_DPC])
        return;
    page_card(o, "irqs", r->trace->is_windows ? "Interrupts and DPCs" : "Interrupts",
              "Handlers that were recorded, and the time between their entry and exit.");
    page_table(o, titles);
    for (int k = 0; n > 8 && k <= CPU_IRQ_COUNT; k++)
        handler_row(r, o, 0, n, k);
    if (n > 8) {
        page_table_end(o);
        OUT("<details><summary>each of the %u processors</summary>", n);
        page_table(o, titles);
    }
    for (uint32_t i = 0; i < n; i++)
        for (int k = 0; k <= CPU_IRQ_COUNT; k++)
            handler_row(r, o, i, i + 1, k);
    page_table_end(o);
    PUTS(n > 8 ? "</details>" : "");
    page_card_end(o);
}

static void contents(const struct cpu_report *r, struct strbuf *o)
{
    static const char *const ids[][2] = {
        {"time", "time line"},     {"shows", "completeness"},  {"processors", "processors"},
        {"states", "idle states"}, {"intervals", "intervals"}, {"concurrency", "concurrency"},
        {"one", "all but one"},    {"ipis", "IPIs"},           {"wakes", "wake-ups"},
        {"timers", "timers"},      {"irqs", "interrupts"},     {"frequency", "frequency"},
        {"events", "events"}};
    bool timers_seen = false;

    for (uint32_t i = 0; i < r->a.num_cpus; i++)
        timers_seen |= r->a.cpu[i].timer_late.n != 0;
    PUTS("<nav>");
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        if ((strcmp(ids[i][0], "timers") || timers_seen) &&
            (strcmp(ids[i][0], "irqs") || r->a.kinds[CPU_EV_IRQ_ENTRY] || r->a.kinds[CPU_EV_DPC]))
            OUT("<a href='#%s'>%s</a>", ids[i][0], ids[i][1]);
    PUTS("</nav>\n");
}

void cpu_report_html(const struct cpu_report *r, struct strbuf *o)
{
    const char *base = strrchr(r->trace->path, '/');
    const char *name = base ? base + 1 : r->trace->path;
    const struct page page = {.title = name};

    page_begin(o, &page);
    head(r, o, name);
    contents(r, o);
    if (r->verdict)
        verdict(r->verdict, o);
    timeline(r, o);
    completeness(r, o);
    processors(r, o);
    idle_states(r, o);
    intervals(r, o);
    concurrency(r, o);
    detectors(r, o);
    ipis(r, o);
    wakes(r, o);
    timers(r, o);
    interrupts(r, o);
    rest(r, o);
    PUTS(
        "<p class=dim>Times are from the recording's first event on. What is not known is shown as not known; what a processor did before its first proof is not guessed.</p></main>\n");
    page_end(o, &page);
}
