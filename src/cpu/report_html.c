/* The report as one self-contained page: no script, no file beside it. */
#include "cpu/report.h"
#include "cpu/verdict.h"

#include <string.h>

#define OUT(...) strbuf_printf(o, __VA_ARGS__)
#define PUTS(s)  strbuf_puts(o, s)

static const char style[] =
    "<style>\n"
    ":root{--ink:#1c2330;--dim:#667085;--line:#e3e7ee;--bg:#f6f7f9;--card:#fff;--busy:#2f6fde;--idle:#dfe6f1;"
    "--deep:#9fb3d1;"
    "--bad:#b42318;--badbg:#fef0ee;--ok:#1a7f4b;--warn:#9a5b00}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);font:14px/1.45 "
    "system-ui,'DejaVu Sans',sans-serif}\n"
    "main{max-width:1180px;margin:0 auto;padding:28px 24px 60px}h1{font-size:22px;margin:0 0 "
    "2px}h2{font-size:16px;margin:0 0 "
    "2px}\n"
    ".sub{color:var(--dim);margin:0 0 12px}.card{background:var(--card);border:1px solid "
    "var(--line);border-radius:8px;"
    "padding:16px 18px;margin:16px 0;overflow-x:auto}\n"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}th{text-align:right;color:"
    "var(--dim);"
    "font-weight:500;font-size:12px;border-bottom:1px solid var(--line);padding:4px "
    "10px;vertical-align:bottom}\n"
    "td{text-align:right;padding:4px 10px;border-bottom:1px solid "
    "#f0f2f6}td.l,th.l{text-align:left}tr:last-child "
    "td{border-bottom:0}\n"
    ".bad{color:var(--bad);font-weight:600}.ok{color:var(--ok)}.dim{color:var(--dim)}.alert{background:var(--"
    "badbg);"
    "border:1px solid #f6c9c3;border-radius:6px;padding:8px 12px;margin:8px 0}\n"
    ".bar{height:12px;background:var(--busy);border-radius:2px;min-width:1px}.track{background:#eef1f6;"
    "border-radius:2px;"
    "width:100%}td.w{width:40%}\n"
    ".tiles{display:flex;gap:12px;flex-wrap:wrap;margin:14px 0}.tile{background:var(--card);border:1px solid "
    "var(--line);"
    "border-radius:8px;padding:10px 14px;min-width:140px}.tile b{display:block;font-size:19px}\n"
    ".key i{display:inline-block;width:11px;height:11px;border-radius:2px;margin:0 5px -1px 14px}\n"
    "code{font:12px ui-monospace,'DejaVu Sans Mono',monospace}svg text{font:11px "
    "system-ui,'DejaVu Sans',sans-serif;fill:var(--dim)}\n"
    "</style>\n";

static void esc(struct strbuf *o, const char *s)
{
    for (; *s; s++) {
        if (*s == '<')
            PUTS("&lt;");
        else if (*s == '>')
            PUTS("&gt;");
        else if (*s == '&')
            PUTS("&amp;");
        else if (*s == '"')
            PUTS("&quot;");
        else
            strbuf_append(o, s, 1);
    }
}

static const char *num(uint64_t v)
{
    static _Thread_local char bufs[8][40];
    static _Thread_local unsigned at;
    char plain[24], *out = bufs[at++ % 8], *p = out;
    int len = snprintf(plain, sizeof(plain), "%llu", (unsigned long long)v);

    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            *p++ = ',';
        *p++ = plain[i];
    }
    *p = '\0';
    return out;
}

static const char *ns(uint64_t v)
{
    static _Thread_local char bufs[8][24];
    static _Thread_local unsigned at;

    return cpu_ns_text(v, bufs[at++ % 8], sizeof(bufs[0]));
}

static double share(const struct cpu_report *r, uint64_t v)
{
    const uint64_t span = r->a.end_ns - r->a.begin_ns;

    return span ? 100.0 * (double)v / (double)span : 0;
}

static double at_s(const struct cpu_report *r, uint64_t t)
{
    return (double)(int64_t)(t - r->a.begin_ns) / 1e9;
}

static void card(struct strbuf *o, const char *title, const char *sub)
{
    OUT("<section class=card><h2>%s</h2><p class=sub>%s</p>\n", title, sub);
}

static void end_card(struct strbuf *o)
{
    PUTS("</section>\n");
}

static void tile(struct strbuf *o, const char *value, const char *label, bool bad)
{
    OUT("<div class=tile><b%s>", bad ? " class=bad" : "");
    esc(o, value);
    OUT("</b><span class=dim>%s</span></div>\n", label);
}

static void head(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_trace *t = r->trace;
    const char *base = strrchr(t->path, '/');
    uint32_t blind = 0;
    char buf[64];

    PUTS("<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
         "content='width=device-width'><title>");
    esc(o, base ? base + 1 : t->path);
    PUTS(" - processors</title>\n");
    PUTS(style);
    PUTS("<main><h1>");
    esc(o, base ? base + 1 : t->path);
    PUTS("</h1><p class=sub>");
    esc(o, t->system);
    OUT(" &middot; clock %s &middot; begins at %.6f s", t->clock, (double)r->a.begin_ns / 1e9);
    if (t->has_before && t->before.driver[0]) {
        PUTS(" &middot; cpuidle driver ");
        esc(o, t->before.driver);
        PUTS(", governor ");
        esc(o, t->before.governor);
    }
    PUTS("</p><div class=tiles>\n");
    snprintf(buf, sizeof(buf), "%.3f s", cpu_report_seconds(r));
    tile(o, buf, "recorded", false);
    snprintf(buf, sizeof(buf), "%u", t->num_cpus);
    tile(o, buf, "processors", false);
    tile(o, num(r->a.events), "events", false);
    tile(o, num(t->overrun), "events lost", t->overrun != 0);
    for (uint32_t i = 0; t->has_coverage && i < t->coverage.num_cpus; i++)
        blind += t->coverage.cpus[i].blind;
    snprintf(buf, sizeof(buf), "%u", blind);
    tile(o, t->has_coverage ? buf : "?", "processors not shown by the trace", blind != 0);
    tile(o, num(r->a.unanswered_stuck), "IPIs stuck", r->a.unanswered_stuck != 0);
    if (r->a.num_visible >= 3)
        tile(o, num(r->a.num_incidents), "times all but one idle", false);
    PUTS("</div>\n");
}

static void completeness(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_trace *t = r->trace;

    card(o, "What this recording shows",
         "Idle entries in the trace against the kernel's own cpuidle counters, and interrupts "
         "against /proc/interrupts. A processor that falls short is not used below.");
    PUTS("<table><tr><th class=l>CPU<th>kernel counted<th>recorded<th>missing<th class=l>idle states<th "
         "class=l>interrupts</tr>\n");
    for (uint32_t i = 0; i < t->num_cpus; i++) {
        const struct cpu_coverage_cpu *c =
            t->has_coverage && i < t->coverage.num_cpus ? &t->coverage.cpus[i] : NULL;
        bool any = false;
        if (!c || !c->checked) {
            OUT("<tr><td class=l>%u<td>-<td>%s<td>-<td class=l>no counter to check against<td "
                "class=l>-</tr>\n",
                i, num(cpu_stats_enters(&r->a.cpu[i])));
            continue;
        }
        OUT("<tr><td class=l>%u<td>%s<td>%s<td>%s<td class=l>%s<td class=l>", i, num(c->expected),
            num(c->recorded), num(c->expected > c->recorded ? c->expected - c->recorded : 0),
            c->blind ? "<span class=bad>trace incomplete: not used</span>"
                     : "<span class=ok>complete</span>");
        for (int k = 0; k < CPU_COUNTER_COUNT; k++) {
            if (!c->irq_checked[k])
                continue;
            OUT("%s<span class=%s>%s %s of %s</span>", any ? ", " : "", c->irq_blind[k] ? "bad" : "ok",
                cpu_counter_name((enum cpu_counter)k), num(c->irq_recorded[k]), num(c->irq_expected[k]));
            any = true;
        }
        PUTS(any ? "</tr>\n" : "-</tr>\n");
    }
    PUTS("</table>");
    if (!t->complete && !t->is_windows)
        PUTS("<div class=alert>The recorder did not finish this file: counters after the recording and names "
             "are "
             "missing.</div>");
    for (uint32_t i = 0; i < cpu_notes_kept(&t->notes); i++) {
        PUTS("<div class=alert>");
        esc(o, t->notes.text[i]);
        PUTS("</div>");
    }
    if (t->notes.count > NOTES_KEPT)
        OUT("<div class=alert>and %s more notes</div>", num(t->notes.count - NOTES_KEPT));
    end_card(o);
}

/* One CPU's row of the time line: shares of each bin, stacked from below. */
static void lane(const struct cpu_report *r, struct strbuf *o, uint32_t cpu, double y, double h, double w)
{
    const struct cpu_stats *c = &r->a.cpu[cpu];
    const uint64_t span = r->a.end_ns - r->a.begin_ns, bin = UINT64_C(1) << r->a.bin_shift;
    const uint32_t bins = (uint32_t)(span >> r->a.bin_shift) + 1;
    const double x0 = 60;

    OUT("<text x=52 y=%.1f text-anchor=end>CPU %u</text>", y + h / 2 + 4, cpu);
    if (c->blind) {
        OUT("<rect x=%.0f y=%.1f width=%.0f height=%.1f fill='url(#blind)' stroke='#f0c4be'/><text x=%.0f "
            "y=%.1f "
            "style='fill:#b42318'>the trace does not show this processor's idle states</text>",
            x0, y, w, h, x0 + 12, y + h / 2 + 4);
        return;
    }
    OUT("<rect x=%.0f y=%.1f width=%.0f height=%.1f fill='#dfe6f1'/>", x0, y, w, h);
    for (int pass = 0; pass < 3; pass++) {
        static const char *const fill[] = {"#9fb3d1", "#c9cdd6", "#2f6fde"};
        OUT("<path fill='%s' d='M%.1f %.1f", fill[pass], x0, y + h);
        for (uint32_t i = 0; i < bins && i < CPU_BINS; i++) {
            const struct cpu_bin *b = &c->bins[i];
            const uint64_t start = (uint64_t)i << r->a.bin_shift,
                           len = start + bin > span ? span - start : bin;
            const double busy = len ? 1 - (double)(b->idle_ns + b->unknown_ns) / (double)len : 0;
            const double deep = len ? (double)b->deep_ns / (double)len : 0,
                         none = len ? (double)b->unknown_ns / (double)len : 0;
            /* from below: running, then unknown, then deep idle; each is drawn over the sum of those above it
             */
            const double v = pass == 0 ? busy + none + deep : pass == 1 ? busy + none : busy;
            const double top = y + h * (1 - (v > 1 ? 1 : v < 0 ? 0 : v));
            const double xa = x0 + w * (double)start / (double)(span ? span : 1);
            const double xb = x0 + w * (double)(start + len) / (double)(span ? span : 1);
            OUT("L%.1f %.1fL%.1f %.1f", xa, top, xb, top);
        }
        OUT("L%.1f %.1fZ'/>", x0 + w, y + h);
    }
}

static void timeline(const struct cpu_report *r, struct strbuf *o)
{
    const double w = 1060, h = r->a.num_cpus > 16 ? 18 : 34, gap = 6, total = r->a.num_cpus * (h + gap);
    const double span = cpu_report_seconds(r);
    char sub[200];

    snprintf(sub, sizeof(sub), "Share of each %s that a processor was running.",
             ns(UINT64_C(1) << r->a.bin_shift));
    card(o, "Time line", sub);
    OUT("<p class='dim key'><i style='background:#2f6fde'></i>running<i "
        "style='background:#dfe6f1'></i>idle%s<i "
        "style='background:#c9cdd6'></i>not known</p>",
        r->a.deep_from < CPU_MAX_STATES ? "<i style='background:#9fb3d1'></i>deep idle" : "");
    OUT("<svg width='100%%' viewBox='0 0 1130 %.0f'><defs><pattern id=blind width=8 height=8 "
        "patternUnits=userSpaceOnUse patternTransform='rotate(45)'><rect width=8 height=8 "
        "fill='#fff6f4'/><rect width=2 "
        "height=8 fill='#f6d3ce'/></pattern></defs>\n",
        total + 26);
    for (uint32_t i = 0; i < r->a.num_cpus; i++)
        lane(r, o, i, i * (h + gap), h, w);
    for (int i = 0; i <= 10; i++)
        OUT("<line x1=%.1f x2=%.1f y1=0 y2=%.0f stroke='#00000018'/><text x=%.1f y=%.0f text-anchor=%s>%.*f "
            "s</text>",
            60 + w * i / 10, 60 + w * i / 10, total + 4, 60 + w * i / 10, total + 18,
            i == 10 ? "end"
            : i     ? "middle"
                    : "start",
            span < 10 ? 3 : 1, span * i / 10);
    PUTS("</svg>");
    end_card(o);
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
    bool any = false;

    card(o, "Processors",
         "Utilization = 100 &times; busy / (busy + idle). Utility = utilization &times; delivered "
         "performance, "
         "both in percent: 10,000 is one fully busy processor at nominal speed.");
    PUTS("<table><tr><th class=l>CPU<th>utilization<th>running<th>idle<th>not known<th>stolen by the "
         "host<th>delivered "
         "performance<th>utility<th>longest idle<th>at</tr>\n");
    for (uint32_t i = 0; i < r->a.num_cpus; i++) {
        const struct cpu_stats *c = &r->a.cpu[i];
        const double util = c->blind ? -1 : cpu_stats_utilization(c),
                     perf = cpu_stats_delivered(c, cpu_report_base_khz(r, i));
        OUT("<tr><td class=l>%u", i);
        cell(o, util, " %");
        if (c->blind)
            PUTS("<td class=dim>n/a<td class=dim>n/a<td class=dim>n/a");
        else
            OUT("<td>%s<td>%s<td>%s", ns(c->running_ns), ns(cpu_stats_idle(c)), ns(c->unknown_ns));
        cell(o, cpu_report_steal(r, i), " %");
        cell(o, perf, " %");
        cell(o, perf < 0 || util < 0 ? -1 : util * perf, "");
        any |= perf >= 0;
        if (c->blind)
            PUTS("<td class=dim>n/a<td></tr>\n");
        else
            OUT("<td>%s%s<td>%.6f s</tr>\n", ns(c->longest_idle_ns),
                c->still_idle ? " (idle at the end)" : "", at_s(r, c->longest_idle_at));
    }
    PUTS("</table>");
    if (!any)
        PUTS("<p class=dim>Delivered performance and utility are not available on this machine: it has "
             "neither pstate_sample nor "
             "cpu_frequency events.</p>");
    end_card(o);
}

static void idle_states(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_snapshot *b = &r->trace->before, *e = &r->trace->after;
    char buf[32];

    card(o, "Idle states",
         "Too deep: woken before the state paid off (above). Too shallow: a deeper state would have paid off "
         "(below). Wake latency: from the first IPI to an idle processor until it stirs.");
    PUTS("<table><tr><th class=l>CPU<th class=l>state<th>declared exit "
         "latency<th>entries<th>time<th>share<th>too deep<th>too "
         "shallow<th>wake latency p50<th>p99<th>max</tr>\n");
    for (uint32_t i = 0; i < r->a.num_cpus; i++) {
        const struct cpu_stats *c = &r->a.cpu[i];
        for (uint32_t k = 0; c->blind && k < b->cpus[i].num_states; k++) {
            OUT("<tr class=dim><td class=l>%u<td class=l>", i);
            esc(o, b->cpus[i].states[k].name);
            OUT("<td>%u us<td>%s<td>%s<td class=l colspan=6>by the kernel's counters; the trace does not "
                "show it</tr>\n",
                b->cpus[i].states[k].latency_us, num(e->cpus[i].states[k].usage - b->cpus[i].states[k].usage),
                ns((e->cpus[i].states[k].time_us - b->cpus[i].states[k].time_us) * 1000));
        }
        for (uint32_t k = 0; !c->blind && k < CPU_MAX_STATES; k++) {
            const struct cpu_latency *l = &c->wake_latency[k];
            if (!c->enters[k] && !c->idle_ns[k])
                continue;
            OUT("<tr><td class=l>%u<td class=l>", i);
            esc(o, cpu_trace_state(r->trace, i, k, buf, sizeof(buf)));
            if (r->trace->has_before && i < b->num_cpus && k < b->cpus[i].num_states)
                OUT("<td>%u us", b->cpus[i].states[k].latency_us);
            else
                PUTS("<td class=dim>n/a");
            OUT("<td>%s<td>%s<td>%.2f %%<td>%s<td>%s", num(c->enters[k]), ns(c->idle_ns[k]),
                share(r, c->idle_ns[k]), num(c->above[k]), num(c->below[k]));
            if (l->n)
                OUT("<td>%s<td>%s<td>%s</tr>\n", ns(cpu_latency_percentile(l, 50)),
                    ns(cpu_latency_percentile(l, 99)), ns(l->max));
            else
                PUTS("<td class=dim>-<td class=dim>-<td class=dim>-</tr>\n");
        }
    }
    PUTS("</table>");
    end_card(o);
}

static void bar_row(struct strbuf *o, const char *label, const char *value, double percent)
{
    OUT("<tr><td>%s<td>%s<td class=w><div class=track><div class=bar "
        "style='width:%.2f%%'></div></div></tr>\n",
        label, value, percent);
}

static void intervals(const struct cpu_report *r, struct strbuf *o)
{
    uint64_t total[CPU_NUM_EDGES + 1] = {0}, max = 0;
    uint32_t first = CPU_NUM_EDGES, last = 0;
    char label[64];

    for (uint32_t i = 0; i < r->a.num_cpus; i++)
        for (uint32_t k = 0; k < CPU_MAX_STATES && r->a.cpu[i].visible; k++)
            for (uint32_t n = 0; n <= CPU_NUM_EDGES; n++)
                total[n] += r->a.cpu[i].interval[k].count[n];
    for (uint32_t n = 0; n <= CPU_NUM_EDGES; n++) {
        if (total[n] > max)
            max = total[n];
        if (total[n] && n < first)
            first = n;
        if (total[n])
            last = n;
    }
    card(o, "Idle intervals",
         "How long idle periods were, over all processors that the trace shows. A bucket holds [lower edge, "
         "upper "
         "edge).");
    PUTS("<table><tr><th>interval<th>periods<th></tr>\n");
    for (uint32_t n = first; n <= last; n++) {
        snprintf(label, sizeof(label), "%s to %s", n ? ns(cpu_bucket_edges[n - 1]) : "0",
                 n < CPU_NUM_EDGES ? ns(cpu_bucket_edges[n]) : "no end");
        bar_row(o, label, num(total[n]), max ? 100.0 * (double)total[n] / (double)max : 0);
    }
    PUTS("</table>");
    end_card(o);
}

static void concurrency(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_analysis *a = &r->a;
    uint8_t order[CPU_IDLE_SETS];
    uint32_t sets = cpu_report_sets(r, order);
    char label[256];

    snprintf(label, sizeof(label), "Time with exactly n processors idle, of the %u that the trace shows.",
             a->num_visible);
    card(o, "Idle concurrency", label);
    PUTS("<table><tr><th>idle processors<th>time<th></tr>\n");
    for (uint32_t n = 0; a->num_visible && n <= a->num_visible; n++) {
        char count[16];
        snprintf(count, sizeof(count), "%u", n);
        bar_row(o, count, ns(a->concurrency[n]), share(r, a->concurrency[n]));
    }
    bar_row(o, "not known", ns(a->concurrency_unknown_ns), share(r, a->concurrency_unknown_ns));
    PUTS("</table>");
    if (a->deep_from < CPU_MAX_STATES) {
        PUTS("<h2 style='margin-top:18px'>Deep idle sets</h2><p class=sub>Which processors were in ");
        esc(o, cpu_trace_state(r->trace, 0, a->deep_from, label, sizeof(label)));
        PUTS(" or deeper at the same time.</p><table><tr><th class=l>processors<th>times<th>time<th></tr>\n");
        for (uint32_t i = 0; i < sets && i < 16; i++)
            OUT("<tr><td class=l>%s<td>%s<td>%s<td class=w><div class=track><div class=bar "
                "style='width:%.2f%%'></div></div></tr>\n",
                cpu_mask_text(a->sets[order[i]].mask, a->num_cpus, label, sizeof(label)),
                num(a->sets[order[i]].times), ns(a->sets[order[i]].ns), share(r, a->sets[order[i]].ns));
        PUTS("</table>");
    } else {
        PUTS("<p class=dim>No idle state of this machine is deep (exit latency of 50 us and more, or the "
             "deepest of three).</p>");
    }
    end_card(o);
}

static void wakes(const struct cpu_report *r, struct strbuf *o)
{
    card(o, "Wake-ups", "By the first interrupt while idle or right after it.");
    PUTS("<table><tr><th class=l>CPU");
    for (int k = 0; k < CPU_WAKE_COUNT; k++)
        OUT("<th>%s", cpu_wake_name(r, k));
    PUTS("<th>tick stopped / kept</tr>\n");
    for (uint32_t i = 0; i < r->a.num_cpus; i++) {
        const struct cpu_stats *c = &r->a.cpu[i];
        OUT("<tr><td class=l>%u", i);
        for (int k = 0; k < CPU_WAKE_COUNT; k++)
            OUT("<td%s>%s", c->blind || !c->wakes[k] ? " class=dim" : "",
                c->blind ? "n/a" : num(c->wakes[k]));
        OUT("<td>%s / %s</tr>\n", num(c->ticks_stopped), num(c->ticks_kept));
    }
    PUTS("</table>");
    end_card(o);
}

static void wait_table(const struct cpu_report *r, struct strbuf *o, const char *title,
                       const struct cpu_worst *w)
{
    char buf[40];

    if (!w->num)
        return;
    OUT("<h2 style='margin-top:18px'>%s</h2><table><tr><th>waited<th class=l>from<th class=l>to<th>at<th "
        "class=l>thread<th "
        "class=l>function<th class=l>call site</tr>\n",
        title);
    for (uint32_t i = 0; i < w->num && i < 8; i++) {
        const struct cpu_wait *x = &w->list[i];
        OUT("<tr><td>%s<td class=l>CPU %u<td class=l>CPU %u%s<td>%.6f s<td class=l>", ns(x->waited_ns),
            x->sender, x->target, x->target_idle ? " (idle)" : "", at_s(r, x->sent_ns));
        esc(o, cpu_trace_thread(r->trace, x->tid));
        OUT("/%d<td class=l><code>", x->tid);
        esc(o, x->callback ? cpu_trace_symbol(r->trace, x->callback, buf, sizeof(buf)) : "reschedule");
        PUTS("</code><td class=l><code>");
        esc(o, x->site ? cpu_trace_symbol(r->trace, x->site, buf, sizeof(buf)) : "");
        PUTS("</code></tr>\n");
    }
    PUTS("</table>");
}

static void latency_row(struct strbuf *o, const char *name, uint64_t sent, uint64_t answered,
                        const struct cpu_latency *l)
{
    OUT("<tr><td class=l>%s<td>%s<td>%s", name, num(sent), num(answered));
    if (l->n)
        OUT("<td>%s<td>%s<td>%s<td>%s</tr>\n", ns(cpu_latency_percentile(l, 50)),
            ns(cpu_latency_percentile(l, 99)), ns(cpu_latency_percentile(l, 99.9)), ns(l->max));
    else
        PUTS("<td class=dim>-<td class=dim>-<td class=dim>-<td class=dim>-</tr>\n");
}

static void matrix(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_analysis *a = &r->a;
    uint64_t max = 1;

    if (!a->pairs || a->num_cpus > 64)
        return;
    for (uint32_t i = 0; i < a->num_cpus * a->num_cpus; i++)
        if (a->pairs[i].sent > max)
            max = a->pairs[i].sent;
    PUTS("<h2 style='margin-top:18px'>Who asked whom</h2><p class=sub>IPIs sent, and the mean time until "
         "they were answered; red: "
         "not all were.</p><table style='width:auto'><tr><th class=l>sender");
    for (uint32_t t = 0; t < a->num_cpus; t++)
        OUT("<th>&rarr; CPU %u", t);
    PUTS("</tr>\n");
    for (uint32_t s = 0; s < a->num_cpus; s++) {
        OUT("<tr><td class=l>CPU %u", s);
        for (uint32_t t = 0; t < a->num_cpus; t++) {
            const struct cpu_pair *p = &a->pairs[s * a->num_cpus + t];
            if (!p->sent) {
                PUTS("<td class=dim>&middot;");
                continue;
            }
            OUT("<td style='background:rgba(47,111,222,%.2f)'%s>%s<br><span class=dim>%s</span>",
                0.06 + 0.34 * (double)p->sent / (double)max, p->answered < p->sent ? " class=bad" : "",
                num(p->sent), p->answered ? ns(p->sum_ns / p->answered) : "-");
        }
        PUTS("</tr>\n");
    }
    PUTS("</table>");
}

static void ipis(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_analysis *a = &r->a;
    char sub[160];

    snprintf(sub, sizeof(sub),
             "From sending until the handler starts. Never answered: %s, of these waiting %s and longer at "
             "the end: %s.",
             num(a->ipi_unanswered), ns(a->params.stuck_ns), num(a->unanswered_stuck));
    card(o, "Inter-processor interrupts", sub);
    PUTS("<table><tr><th class=l>kind<th>sent<th>answered<th>p50<th>p99<th>p99.9<th>max</tr>\n");
    latency_row(o, "reschedule", a->ipi_sent[CPU_IPI_RESCHEDULE], a->ipi_answered[CPU_IPI_RESCHEDULE],
                &a->ipi_latency[CPU_IPI_RESCHEDULE]);
    latency_row(o, "function call", a->ipi_sent[CPU_IPI_CALL], a->ipi_answered[CPU_IPI_CALL],
                &a->ipi_latency[CPU_IPI_CALL]);
    latency_row(o, "irq work, to itself", a->ipi_sent[CPU_IPI_SELF], a->ipi_answered[CPU_IPI_SELF],
                &a->ipi_latency[CPU_IPI_SELF]);
    latency_row(o, "queued call, until done", a->csd_latency.n + a->csd_pending, a->csd_latency.n,
                &a->csd_latency);
    PUTS("</table>");
    matrix(r, o);
    wait_table(r, o, "Never answered", &a->unanswered);
    wait_table(r, o, "Slowest answers", &a->slowest);
    wait_table(r, o, "Slowest queued calls", &a->csd_slowest);
    end_card(o);
}

static void detectors(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_analysis *a = &r->a;

    card(o, "All but one",
         "Long times with every processor but one idle, stopped at nearly the same moment: what a machine "
         "looks "
         "like whose processors cannot be woken.");
    if (a->num_visible < 3)
        OUT("<p>Needs at least three processors that the trace shows; there are %u.</p>", a->num_visible);
    else if (!a->num_incidents)
        OUT("<p>None of %s or longer.</p>", ns(a->params.stuck_ns));
    else
        PUTS("<table><tr><th>at<th>for<th>stopped<th>within<th class=l>kept running<th class=l></tr>\n");
    for (uint32_t i = 0; i < a->num_incidents && i < CPU_INCIDENTS; i++) {
        const struct cpu_incident *n = &a->incidents[i];
        OUT("<tr><td>%.6f s<td>%s<td>%u<td>%s<td class=l>CPU %u<td class=l>", at_s(r, n->from_ns),
            ns(n->to_ns - n->from_ns), n->silent, ns(n->spread_ns), n->awake);
        if (n->waiting_for)
            OUT("<span class=bad>waiting for %u IPIs</span> ", n->waiting_for);
        PUTS(n->at_end ? "<span class=bad>none came back</span></tr>\n" : "</tr>\n");
    }
    if (a->num_incidents && a->num_visible >= 3)
        PUTS("</table>");
    end_card(o);
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
    card(o, "Timers", "High-resolution timers, from the time they were due until their handler started.");
    PUTS("<table><tr><th class=l>CPU<th>fired<th>due while idle<th>late p50<th>p99<th>p99.9<th>max</tr>\n");
    for (uint32_t i = 0; i < a->num_cpus; i++) {
        char cpu[16];
        snprintf(cpu, sizeof(cpu), "%u", i);
        if (a->cpu[i].timer_late.n)
            latency_row(o, cpu, a->cpu[i].timer_late.n, a->cpu[i].timer_late_idle, &a->cpu[i].timer_late);
    }
    PUTS("</table><h2 style='margin-top:18px'>Latest</h2><table><tr><th>late<th class=l>CPU<th>due at<th "
         "class=l>state when "
         "due</tr>\n");
    for (uint32_t i = 0; i < a->num_late_timers && i < 8; i++) {
        const struct cpu_late_timer *t = &a->late_timers[i];
        OUT("<tr><td>%s<td class=l>CPU %u<td>%.6f s<td class=l>", ns(t->late_ns), t->cpu, at_s(r, t->due_ns));
        if (t->was_idle)
            esc(o, cpu_trace_state(r->trace, t->cpu, t->state, buf, sizeof(buf)));
        else
            PUTS(a->cpu[t->cpu].blind ? "not shown" : "running");
        PUTS("</tr>\n");
    }
    PUTS("</table>");
    end_card(o);
}

static void rest(const struct cpu_report *r, struct strbuf *o)
{
    const struct cpu_analysis *a = &r->a;
    bool freq = false;
    uint16_t types[24];
    char name[160];
    uint32_t n;

    card(o, "Frequency", "");
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
    end_card(o);
    card(o, "Events", "Everything that was read, by kind.");
    PUTS("<table style='width:auto'>");
    for (int k = 0; k < CPU_EV_COUNT; k++)
        if (a->kinds[k])
            OUT("<tr><td class=l>%s<td>%s</tr>\n", cpu_event_kind_name((enum cpu_event_kind)k),
                num(a->kinds[k]));
    n = cpu_report_others(r, types, 24);
    for (uint32_t i = 0; i < n; i++) {
        cpu_trace_type_name(r->trace, types[i], name, sizeof(name));
        PUTS("<tr class=dim><td class=l>not analysed: ");
        esc(o, name);
        OUT("<td>%s</tr>\n", num(cpu_trace_counts(r->trace)[types[i]]));
    }
    PUTS("</table>");
    end_card(o);
}

static void verdict(const struct cpu_verdict *v, struct strbuf *o)
{
    PUTS("<section class=card style='border-left:5px solid #2f6fde'><h2 style='font-size:20px'>");
    esc(o, cpu_verdict_name(v->kind));
    PUTS(" <span class=dim style='font-weight:400'>");
    esc(o, v->reason);
    OUT("</span></h2><p class=sub>The wait of %s from %.6f s on; times count from the submission.</p><ul>",
        ns(v->timeout_ns - v->submit_ns), (double)v->submit_ns / 1e9);
    for (uint32_t i = 0; i < v->num_lines + v->num_vblanks; i++) {
        PUTS("<li>");
        esc(o, i < v->num_lines ? v->lines[i] : v->vblanks[i - v->num_lines]);
        PUTS("</li>");
    }
    PUTS("</ul>");
    end_card(o);
}

void cpu_report_html(const struct cpu_report *r, struct strbuf *o)
{
    head(r, o);
    if (r->verdict)
        verdict(r->verdict, o);
    timeline(r, o);
    completeness(r, o);
    processors(r, o);
    idle_states(r, o);
    ipis(r, o);
    wakes(r, o);
    timers(r, o);
    concurrency(r, o);
    intervals(r, o);
    detectors(r, o);
    rest(r, o);
    PUTS("</main></html>\n");
}
