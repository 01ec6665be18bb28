/* SPDX-License-Identifier: MIT */
/* The drawings of the HTML page, by the report kit's charts and time lines. */
#include "cpu/report/report_svg.h"
#include "cpu/model/verdict.h"

#include <math.h>
#include <string.h>

#include "report/chart.h"
#include "report/page.h"
#include "report/timeline.h"

#define OUT(...) strbuf_printf(o, __VA_ARGS__)
#define PUTS(s)  strbuf_puts(o, s)

/* ---- the time line ---------------------------------------------------------- */

struct plot {
    const struct cpu_report *r;
    struct timeline t;
    double row, pitch; /* of the lanes */
};

static double y_of(const struct plot *p, uint32_t cpu)
{
    return cpu * p->pitch;
}

/* Draws the area under `value` of every bin, from `base` upwards; runs of equal heights are one step. */
static void area(const struct plot *p, const char *colour, double base, double height,
                 double (*value)(const struct plot *p, uint32_t bin, double len, uint32_t cpu), uint32_t cpu)
{
    const uint64_t begin = p->r->a.begin_ns, span = p->r->a.end_ns - begin,
                   bin = UINT64_C(1) << p->r->a.bin_shift;
    const uint32_t bins = (uint32_t)(span >> p->r->a.bin_shift) + 1;
    struct strbuf *o = p->t.out;
    double last = -1;
    bool any = false;

    for (uint32_t i = 0; i < bins && i < CPU_BINS; i++) {
        const uint64_t start = (uint64_t)i << p->r->a.bin_shift,
                       len = span - start < bin ? span - start : bin;
        const double x = timeline_x(&p->t, (int64_t)(begin + start));
        double v = len ? value(p, i, (double)len, cpu) : 0;

        v = v < 0 ? 0 : v > 1 ? 1 : v;
        if (!any && v > 0) {
            OUT("<path class='c-%s' d='M%.0f %.1f", colour, x, base);
            any = true;
        }
        if (any && fabs(v - last) * height >= 0.1)
            OUT("H%.0fV%.1f", x, base - height * v);
        if (fabs(v - last) * height >= 0.1)
            last = v;
    }
    if (any)
        OUT("H%dV%.1fZ'/>\n", TIMELINE_WIDTH, base);
}

static double busy(const struct plot *p, uint32_t bin, double len, uint32_t cpu)
{
    const struct cpu_bin *b = &p->r->a.cpu[cpu].bins[bin];

    return 1 - (double)(b->idle_ns + b->unknown_ns) / len;
}

static double busy_or_unknown(const struct plot *p, uint32_t bin, double len, uint32_t cpu)
{
    return busy(p, bin, len, cpu) + (double)p->r->a.cpu[cpu].bins[bin].unknown_ns / len;
}

static double all_but_shallow(const struct plot *p, uint32_t bin, double len, uint32_t cpu)
{
    return busy_or_unknown(p, bin, len, cpu) + (double)p->r->a.cpu[cpu].bins[bin].deep_ns / len;
}

static double sum(const struct plot *p, uint32_t bin, double len, bool deep)
{
    double v = 0;

    for (uint32_t i = 0; i < p->r->a.num_cpus; i++) {
        const struct cpu_bin *b = &p->r->a.cpu[i].bins[bin];
        if (p->r->a.cpu[i].visible)
            v += (double)(deep ? b->deep_ns : b->idle_ns) / len;
    }
    return v / p->r->a.num_visible;
}

static double idle_cpus(const struct plot *p, uint32_t bin, double len, uint32_t cpu)
{
    return sum(p, bin, len, false);
}

static double deep_cpus(const struct plot *p, uint32_t bin, double len, uint32_t cpu)
{
    return sum(p, bin, len, true);
}

static void lane(struct plot *p, uint32_t cpu)
{
    const double y = y_of(p, cpu);
    const int64_t begin = (int64_t)p->r->a.begin_ns, end = (int64_t)p->r->a.end_ns;

    if (p->r->a.cpu[cpu].blind) {
        timeline_bar(&p->t, y, p->row, begin, end, "raised", NULL);
        if (p->row >= 14)
            timeline_text(&p->t, y + p->row / 2 - 7, begin, end,
                          "the trace does not show this processor's idle states");
        return;
    }
    timeline_bar(&p->t, y, p->row, begin, end, "idle", NULL);
    /* from below: running, then unknown, then deep idle; each is drawn over the sum of those above it */
    area(p, "deep", y + p->row, p->row, all_but_shallow, cpu);
    area(p, "unknown", y + p->row, p->row, busy_or_unknown, cpu);
    area(p, "busy", y + p->row, p->row, busy, cpu);
}

/* Behind the lanes, so that their colours stay what they are. */
static void window(const struct plot *p)
{
    const struct cpu_verdict *v = p->r->verdict;
    const double a = v ? timeline_x(&p->t, (int64_t)v->submit_ns) : 0;

    if (v)
        strbuf_printf(p->t.out, "<rect class=c-warn opacity=.2 x=%.0f y=0 width=%.0f height=%.0f />\n", a,
                      timeline_x(&p->t, (int64_t)v->timeout_ns) - a, p->t.height);
}

static void window_edges(struct plot *p)
{
    const struct cpu_verdict *v = p->r->verdict;
    double a, b;

    if (!v)
        return;
    a = timeline_x(&p->t, (int64_t)v->submit_ns);
    b = timeline_x(&p->t, (int64_t)v->timeout_ns);
    timeline_mark(&p->t, (int64_t)v->submit_ns, "warn", "submitted", b - a < 12000 && a > 6000);
    timeline_mark(&p->t, (int64_t)v->timeout_ns, "warn", "time-out", b > 94000 || b - a >= 12000);
}

static void incidents(struct plot *p)
{
    char text[80];

    for (uint32_t i = 0; i < p->r->a.num_incidents && i < CPU_INCIDENTS; i++) {
        const struct cpu_incident *n = &p->r->a.incidents[i];
        snprintf(text, sizeof(text), "all but CPU %u idle for %s", n->awake, cpu_ns(n->to_ns - n->from_ns));
        timeline_bar(&p->t, 0, 4, (int64_t)n->from_ns, (int64_t)n->to_ns, "bad", text);
    }
}

/* A line from the CPU that asked to the one that did not answer, and one there for as long as that took. */
static void unanswered(const struct plot *p)
{
    const struct cpu_worst *w = &p->r->a.unanswered;
    struct strbuf *o = p->t.out;

    for (uint32_t i = 0; i < w->num; i++) {
        const struct cpu_wait *x = &w->list[i];
        const double t = timeline_x(&p->t, (int64_t)x->sent_ns), from = y_of(p, x->sender) + p->row / 2,
                     to = y_of(p, x->target) + p->row / 2;
        if (x->waited_ns < p->r->a.params.stuck_ns)
            continue;
        OUT("<path class='line c-bad' opacity=.5 d='M%.0f %.1fV%.1f'/><path class='line c-bad' stroke-width=5 "
            "stroke-linecap=round d='M%.0f %.1fh1'/><path class='line dash c-bad' stroke-width=1.5 d='M%.0f %.1fH%.0f'>"
            "<title>CPU %u asked CPU %u, which did not answer for %s</title></path>\n",
            t, from, to, t, to, t, to, timeline_x(&p->t, (int64_t)(x->sent_ns + x->waited_ns)), x->sender,
            x->target, cpu_ns(x->waited_ns));
    }
}

static void timeline_legend(const struct cpu_report *r, struct strbuf *o, bool strip)
{
    const bool deep = r->a.deep_from < CPU_MAX_STATES;
    char key[256];

    snprintf(key, sizeof(key), "c-busy running|c-idle idle%s|c-unknown not known%s",
             deep ? "|c-deep deep idle" : "",
             r->a.unanswered_stuck ? "|c-bad an IPI that was not answered"
             : r->a.num_incidents  ? "|c-bad all but one idle"
                                   : "");
    chart_key(o, key);
    if (strip)
        OUT("<p class='dim small'>The strip at the bottom counts the idle CPUs%s.</p>",
            deep ? " and, darker, the deeply idle ones" : "");
}

void cpu_svg_timeline(struct strbuf *o, const struct cpu_report *r)
{
    const uint32_t n = r->a.num_cpus;
    const bool strip = r->a.num_visible >= 2;
    const int64_t begin = (int64_t)r->a.begin_ns, end = (int64_t)r->a.end_ns;
    struct plot p = {.r = r, .row = n <= 8 ? 34 : n <= 32 ? 18 : n <= 64 ? 12 : 5};
    double lanes, base;

    p.pitch = p.row + (n <= 8 ? 6 : n <= 64 ? 3 : 1);
    lanes = n * p.pitch;
    base = lanes + 52;
    timeline_begin(&p.t, o, begin, end, 0, lanes + (strip ? 52 : 0));
    for (uint32_t i = 0; i < n; i++)
        if (p.row >= 12 || i % 16 == 0)
            timeline_name(&p.t, y_of(&p, i), p.row, "CPU %u", i);
    if (strip)
        timeline_name(&p.t, lanes + 8, 14, "%u idle", r->a.num_visible);
    timeline_lanes(&p.t, "what each processor did over time");
    window(&p);
    for (uint32_t i = 0; i < n; i++)
        lane(&p, i);
    if (strip) {
        timeline_bar(&p.t, base - 44, 44, begin, end, "raised", NULL);
        area(&p, "deep", base, 44, idle_cpus, 0);
        area(&p, "s2", base, 44, deep_cpus, 0);
    }
    window_edges(&p);
    incidents(&p);
    unanswered(&p);
    timeline_end(&p.t);
    timeline_legend(r, o, strip);
}

/* ---- who asked whom --------------------------------------------------------- */

static void edge(struct strbuf *o, const struct cpu_report *r, uint32_t s, uint32_t t, uint64_t max,
                 const double (*at)[2], double centre)
{
    const struct cpu_pair *p = &r->a.pairs[s * r->a.num_cpus + t];
    const bool stuck = cpu_report_pair_stuck(r, s, t);
    const double width = 0.7 + (r->a.num_cpus > 8 ? 1.8 : 4.2) * log1p((double)p->sent) / log1p((double)max);
    const double dx = at[t][0] - at[s][0], dy = at[t][1] - at[s][1], len = hypot(dx, dy);
    /* bent to one side, so that the two directions do not cover each other, and towards the middle */
    const double bend = r->a.num_cpus <= 3 ? 0.28 : 0.12;
    const double mx = (at[s][0] + at[t][0]) / 2 * 0.75 + centre * 0.25 - dy * bend,
                 my = (at[s][1] + at[t][1]) / 2 * 0.75 + centre * 0.25 + dx * bend;
    const double ex = at[t][0] - mx, ey = at[t][1] - my, e = hypot(ex, ey);

    if (len < 1)
        return;
    OUT("<path class='line c-%s' d='M%.1f %.1fQ%.1f %.1f %.1f %.1f' stroke-width=%.1f opacity=%s "
        "marker-end='url(#%s)'><title>CPU %u asked CPU %u %llu times, mean %s, max %s</title></path>\n",
        stuck ? "bad" : "busy", at[s][0], at[s][1], mx, my, at[t][0] - ex / e * 17, at[t][1] - ey / e * 17,
        width,
        stuck               ? ".9"
        : r->a.num_cpus > 8 ? ".32"
                            : ".45",
        stuck ? "late" : "asked", s, t, (unsigned long long)p->sent,
        p->answered ? cpu_ns(p->sum_ns / p->answered) : "-", p->max_ns ? cpu_ns(p->max_ns) : "-");
}

void cpu_svg_ipi_graph(struct strbuf *o, const struct cpu_report *r)
{
    const uint32_t n = r->a.num_cpus;
    const double size = n <= 4 ? 230 : n <= 12 ? 340 : 384, centre = size / 2, radius = centre - 24;
    double at[64][2];
    uint64_t max = 0;

    if (!r->a.pairs || n > 64 || n < 2)
        return;
    for (uint32_t i = 0; i < n * n; i++)
        if (i / n != i % n && r->a.pairs[i].sent > max)
            max = r->a.pairs[i].sent;
    if (!max)
        return;
    OUT("<div style='width:%.0fpx;max-width:100%%'>", size);
    chart_begin(o, size, size, "who asked whom");
    for (int k = 0; k < 2; k++)
        OUT("<marker id=%s viewBox='0 0 8 8' refX=6 refY=4 markerUnits=userSpaceOnUse markerWidth=9 "
            "markerHeight=9 orient=auto><path class=c-%s d='M0 0L8 4L0 8Z'/></marker>",
            k ? "late" : "asked", k ? "bad" : "busy");
    for (uint32_t i = 0; i < n; i++) {
        const double angle = 2 * M_PI * i / n - (n == 2 ? 0 : M_PI / 2);
        at[i][0] = centre + radius * cos(angle);
        at[i][1] = centre + radius * sin(angle);
    }
    /* what matters most last, on top of the others; a pair that talks little among thousands is left out */
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < n * n; i++)
            if (i / n != i % n && cpu_report_pair_stuck(r, i / n, i % n) == (pass == 1) &&
                (pass || (r->a.pairs[i].sent && r->a.pairs[i].sent * 500 >= max)))
                edge(o, r, i / n, i % n, max, (const double(*)[2])at, centre);
    for (uint32_t i = 0; i < n; i++) {
        OUT("<circle cx=%.1f cy=%.1f r=14 class=c-%s stroke='var(--%s)' stroke-width=1.5 />", at[i][0],
            at[i][1], "raised", r->a.cpu[i].blind ? "bad" : "deep");
        chart_text(o, at[i][0], at[i][1] + 4, "middle", "strong", "%u", i);
    }
    chart_end(o);
    PUTS("</div>\n");
}

/* ---- histograms ------------------------------------------------------------- */

/* Lower edge of a bucket of struct cpu_latency, in ns. */
static double latency_edge(uint32_t i)
{
    return i < 8 ? i : i < 24 ? 8 : ldexp(8 + i % 8, (int)(i / 8) - 3);
}

static double latency_x(double v, double lo, double hi)
{
    return 8 + 464 * (log(v < 1 ? 1 : v) - lo) / (hi > lo ? hi - lo : 1);
}

/* Powers of ten, and what lies between if there is room. */
static void latency_axis(struct strbuf *o, double lo, double hi)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};

    chart_line(o, "line", "M8 88H472");
    for (int d = 0; d <= 11; d++)
        for (int k = 1; k <= 5; k += k == 1 ? 1 : 3) {
            const double v = pow(10, d) * k, x = latency_x(v, lo, hi);
            const int unit = d < 9 ? d / 3 : 3;
            if (log(v) < lo || log(v) > hi || (k > 1 && hi - lo > 9))
                continue;
            chart_line(o, "dim", "M%.1f 88v4", x);
            chart_text(o, x, 104, "middle", "", "%.0f %s", v / pow(10, 3 * unit), units[unit]);
        }
}

void cpu_svg_latency(struct strbuf *o, const struct cpu_latency *l, const char *title)
{
    uint32_t first = 511, last = 0, most = 0;
    double lo, hi;

    if (!l->n)
        return;
    for (uint32_t i = 0; i < 512; i++) {
        if (!l->count[i])
            continue;
        first = i < first ? i : first;
        last = i;
        most = l->count[i] > most ? l->count[i] : most;
    }
    lo = log(latency_edge(first) < 1 ? 1 : latency_edge(first)) - 0.35;
    hi = log(latency_edge(last + 1)) + 0.35;
    OUT("<figure><figcaption><b>%s</b> %llu; p50 %s, p99 %s, p99.9 %s, max %s</figcaption>", title,
        (unsigned long long)l->n, cpu_ns(cpu_latency_percentile(l, 50)),
        cpu_ns(cpu_latency_percentile(l, 99)), cpu_ns(cpu_latency_percentile(l, 99.9)), cpu_ns(l->max));
    chart_begin(o, 480, 112, title);
    for (uint32_t i = first; i <= last; i++) {
        const double a = latency_x(latency_edge(i), lo, hi), b = latency_x(latency_edge(i + 1), lo, hi);
        const double h = 74 * log1p(l->count[i]) / log1p(most);
        if (l->count[i])
            chart_rect(o, a, 88 - h, b - a > 1 ? b - a - 0.4 : 1, h, "busy", NULL);
    }
    latency_axis(o, lo, hi);
    for (int k = 0; k < 2; k++) {
        const double x = latency_x((double)cpu_latency_percentile(l, k ? 99 : 50), lo, hi);
        chart_line(o, k ? "bad dash" : "ink dash", "M%.1f 8V88", x);
        chart_text(o, x + (k ? 3 : -3), 12, k ? "start" : "end", k ? "c-bad" : "strong", k ? "p99" : "p50");
    }
    chart_end(o);
    PUTS("</figure>\n");
}

static void state_key(struct strbuf *o, const struct cpu_report *r, const bool used[CPU_MAX_STATES])
{
    struct strbuf key = {0};
    char buf[32];

    for (uint32_t k = 0; k < CPU_MAX_STATES; k++)
        if (used[k]) {
            strbuf_printf(&key, "%sc-s%u ", key.len ? "|" : "", k % 8);
            page_text(&key, cpu_trace_state(r->trace, 0, k, buf, sizeof(buf)));
        }
    chart_key(o, strbuf_str(&key));
    o->failed |= strbuf_failed(&key);
    strbuf_finish(&key);
}

/* One bucket of lengths, its states upon each other. */
static void interval_column(struct strbuf *o, double x, double step, const uint64_t count[CPU_MAX_STATES],
                            uint64_t total, uint64_t most)
{
    double y = 180;

    for (uint32_t k = 0; k < CPU_MAX_STATES; k++) {
        const double h = 150.0 * (double)count[k] / (double)most;
        const char colour[] = {'s', (char)('0' + k % 8), '\0'};
        y -= h;
        if (count[k])
            chart_rect(o, x + 1, y, step - 2, h < 0.5 ? 0.5 : h, colour, NULL);
    }
    if (total)
        chart_text(o, x + step / 2, y - 5, "middle", "strong", "%llu", (unsigned long long)total);
}

void cpu_svg_intervals(struct strbuf *o, const struct cpu_report *r)
{
    uint64_t count[CPU_NUM_EDGES + 1][CPU_MAX_STATES] = {{0}}, total[CPU_NUM_EDGES + 1] = {0}, most = 1;
    uint32_t first = CPU_NUM_EDGES, last = 0;
    bool used[CPU_MAX_STATES] = {false};
    double step;

    for (uint32_t i = 0; i < r->a.num_cpus; i++)
        for (uint32_t k = 0; k < CPU_MAX_STATES && r->a.cpu[i].visible; k++)
            for (uint32_t n = 0; n <= CPU_NUM_EDGES; n++)
                if (r->a.cpu[i].interval[k].count[n]) {
                    count[n][k] += r->a.cpu[i].interval[k].count[n];
                    total[n] += r->a.cpu[i].interval[k].count[n];
                    used[k] = true;
                    first = n < first ? n : first;
                    last = n > last ? n : last;
                    most = total[n] > most ? total[n] : most;
                }
    if (first > last) {
        PUTS("<p class=dim>No idle period was recorded.</p>");
        return;
    }
    step = 1040.0 / (last - first + 1);
    step = step > 90 ? 90 : step;
    PUTS("<div class=wide>");
    chart_begin(o, 1130, 206, "lengths of idle periods");
    chart_line(o, "line", "M40 180H1120");
    for (uint32_t n = first; n <= last + 1; n++) {
        const double x = 50 + (n - first) * step;
        if (n <= last)
            interval_column(o, x, step, count[n], total[n], most);
        chart_line(o, "dim", "M%.1f 180v5", x);
        chart_text(o, x, 198, "middle", "", "%s",
                   !n                   ? "0"
                   : n <= CPU_NUM_EDGES ? cpu_ns(cpu_bucket_edges[n - 1])
                                        : "no end");
    }
    chart_end(o);
    PUTS("</div>");
    state_key(o, r, used);
}

void cpu_svg_concurrency(struct strbuf *o, const struct cpu_report *r)
{
    const struct cpu_analysis *a = &r->a;
    const double span = (double)(a->end_ns - a->begin_ns);
    double most = (double)a->concurrency_unknown_ns, step = 1060.0 / (a->num_visible + 2);

    if (!a->num_visible || span <= 0)
        return;
    for (uint32_t n = 0; n <= a->num_visible; n++)
        most = (double)a->concurrency[n] > most ? (double)a->concurrency[n] : most;
    step = step > 90 ? 90 : step;
    PUTS("<div class=wide>");
    chart_begin(o, 1130, 150, "time with so many processors idle");
    chart_line(o, "line", "M40 112H1120");
    for (uint32_t n = 0; n <= a->num_visible + 1; n++) {
        const bool unknown = n > a->num_visible;
        const uint64_t t = unknown ? a->concurrency_unknown_ns : a->concurrency[n];
        const double x = 50 + n * step, h = fmax(0.7, 88.0 * (double)t / (most > 0 ? most : 1));
        char label[16];
        snprintf(label, sizeof(label), "%u", n);
        if (t)
            chart_rect(o, x + 1, 112 - h, step - 2, h, unknown ? "unknown" : "busy", cpu_ns(t));
        if (t && step >= 34)
            chart_text(o, x + step / 2, 107 - h, "middle", "strong", "%.*f%%",
                       100 * (double)t / span < 10 ? 2 : 1, 100 * (double)t / span);
        if (step >= 12 || n % 8 == 0 || unknown)
            chart_text(o, x + step / 2, 127, "middle", "", "%s", unknown ? "?" : label);
    }
    chart_text(o, 50, 145, "start", "",
               "processors idle at the same time; ?: before every one had shown its state");
    chart_end(o);
    PUTS("</div>");
}
