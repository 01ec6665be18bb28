/* The drawings of the HTML page: plain SVG, no script. Sizes are in units of the drawing's own viewBox. */
#include "cpu/report/report_html.h"
#include "cpu/model/verdict.h"

#include <math.h>
#include <string.h>

#define OUT(...) strbuf_printf(o, __VA_ARGS__)
#define PUTS(s)  strbuf_puts(o, s)

#define LEFT  64.0 /* of the time line: room for the names */
#define WIDTH 1056.0

#define RUNNING "#2f6fde"
#define IDLE    "#dfe6f1"
#define DEEP    "#9fb3d1"
#define UNKNOWN "#c9cdd6"
#define BAD     "#c62f21"

/* Idle states from shallow to deep. */
static const char *const state_colours[8] = {"#c5d5f4", "#8fb0ea", "#4a7fd6", "#24539f",
                                             "#16376e", "#0d2347", "#3d2a6b", "#5d3a9b"};

struct plot {
    const struct cpu_report *r;
    uint64_t begin, span;
    double row, gap, top, height; /* of the lanes */
};

static double x_of(const struct plot *p, uint64_t t)
{
    const uint64_t rel = t < p->begin ? 0 : t - p->begin > p->span ? p->span : t - p->begin;

    return LEFT + WIDTH * (double)rel / (double)(p->span ? p->span : 1);
}

static double y_of(const struct plot *p, uint32_t cpu)
{
    return p->top + cpu * (p->row + p->gap);
}

/* Draws the area under `value` of every bin, from `base` upwards; runs of equal heights are one step. */
static void area(const struct plot *p, struct strbuf *o, const char *fill, double base, double height,
                 double (*value)(const struct plot *p, uint32_t bin, double len, uint32_t cpu), uint32_t cpu)
{
    const uint64_t bin = UINT64_C(1) << p->r->a.bin_shift;
    const uint32_t bins = (uint32_t)(p->span >> p->r->a.bin_shift) + 1;
    double last = -1;
    bool any = false;

    for (uint32_t i = 0; i < bins && i < CPU_BINS; i++) {
        const uint64_t start = (uint64_t)i << p->r->a.bin_shift,
                       len = p->span - start < bin ? p->span - start : bin;
        double v = len ? value(p, i, (double)len, cpu) : 0;
        v = v < 0 ? 0 : v > 1 ? 1 : v;
        if (!any && v > 0) {
            OUT("<path fill='%s' d='M%.1f %.1f", fill, x_of(p, p->begin + start), base);
            any = true;
        }
        if (any && fabs(v - last) * height >= 0.1)
            OUT("H%.1fV%.1f", x_of(p, p->begin + start), base - height * v);
        if (fabs(v - last) * height >= 0.1)
            last = v;
    }
    if (any)
        OUT("H%.1fV%.1fZ'/>\n", LEFT + WIDTH, base);
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

static void lane(const struct plot *p, struct strbuf *o, uint32_t cpu)
{
    const double y = y_of(p, cpu), mid = y + p->row / 2 + 4;

    if (p->row >= 11)
        OUT("<text x=%.0f y=%.1f text-anchor=end>CPU %u</text>", LEFT - 8, mid, cpu);
    if (p->r->a.cpu[cpu].blind) {
        OUT("<rect x=%.0f y=%.1f width=%.0f height=%.1f fill='url(#blind)' stroke='#f0c4be'/>", LEFT, y,
            WIDTH, p->row);
        if (p->row >= 11)
            OUT("<text x=%.0f y=%.1f style='fill:%s'>the trace does not show this processor's idle "
                "states</text>",
                LEFT + 12, mid, BAD);
        PUTS("\n");
        return;
    }
    OUT("<rect x=%.0f y=%.1f width=%.0f height=%.1f fill='%s'/>\n", LEFT, y, WIDTH, p->row, IDLE);
    /* from below: running, then unknown, then deep idle; each is drawn over the sum of those above it */
    area(p, o, DEEP, y + p->row, p->row, all_but_shallow, cpu);
    area(p, o, UNKNOWN, y + p->row, p->row, busy_or_unknown, cpu);
    area(p, o, RUNNING, y + p->row, p->row, busy, cpu);
}

/* About ten ticks at 1, 2 or 5 times a power of ten. */
static uint64_t tick(uint64_t span)
{
    uint64_t t = 1;

    while (t * 10 < span / 8)
        t *= 10;
    return t * 5 < span / 8 ? t * 5 : t * 2 < span / 8 ? t * 2 : t;
}

static void axis(const struct plot *p, struct strbuf *o, double bottom)
{
    const uint64_t step = tick(p->span);
    const bool in_ms = p->span < 2000000000;
    const uint64_t unit = in_ms ? 1000000 : 1000000000;

    for (uint64_t i = 0; p->span && i <= p->span / step; i++) {
        const uint64_t t = i * step;
        const double x = x_of(p, p->begin + t);
        OUT("<path d='M%.1f %.0fV%.0f' stroke='#00000016'/><text x=%.1f y=%.0f "
            "text-anchor=middle>%.*f</text>",
            x, p->top, bottom + 3, x, bottom + 16,
            step < unit / 100 ? 3
            : step < unit     ? 2
                              : 0,
            (double)t / (double)unit);
    }
    OUT("<text x=%.0f y=%.0f text-anchor=end>%s</text>\n", LEFT - 8, bottom + 16, in_ms ? "ms" : "s");
}

/* Behind the lanes, so that their colours stay what they are. */
static void window(const struct plot *p, struct strbuf *o, double bottom)
{
    const struct cpu_verdict *v = p->r->verdict;

    if (v)
        OUT("<rect x=%.1f y=%.0f width=%.1f height=%.1f fill='#fdeccb'/>", x_of(p, v->submit_ns), p->top,
            x_of(p, v->timeout_ns) - x_of(p, v->submit_ns), bottom - p->top);
}

static void window_edges(const struct plot *p, struct strbuf *o, double bottom)
{
    const struct cpu_verdict *v = p->r->verdict;
    double a, b;

    if (!v)
        return;
    a = x_of(p, v->submit_ns);
    b = x_of(p, v->timeout_ns);
    OUT("<path d='M%.1f %.0fV%.1fM%.1f %.0fV%.1f' stroke='#b86e00' stroke-width=1.5 />", a, p->top - 4,
        bottom, b, p->top - 4, bottom);
    OUT("<text x=%.1f y=%.0f style='fill:#8a5200'%s>submitted</text>"
        "<text x=%.1f y=%.0f style='fill:#8a5200'%s>time-out</text>\n",
        a, p->top - 8, b - a < 120 && a > LEFT + 60 ? " text-anchor=end" : "", b, p->top - 8,
        b > LEFT + WIDTH - 60 || b - a >= 120 ? " text-anchor=end" : "");
}

static void incidents(const struct plot *p, struct strbuf *o)
{
    for (uint32_t i = 0; i < p->r->a.num_incidents && i < CPU_INCIDENTS; i++) {
        const struct cpu_incident *n = &p->r->a.incidents[i];
        const double a = x_of(p, n->from_ns), b = x_of(p, n->to_ns);
        OUT("<rect x=%.1f y=%.1f width=%.1f height=3 fill='%s'><title>all but CPU %u idle for "
            "%s</title></rect>\n",
            a, p->top - 3.5, b - a < 1 ? 1 : b - a, BAD, n->awake, cpu_ns(n->to_ns - n->from_ns));
    }
}

/* An arrow from the CPU that asked to the one that did not answer, and a line there for as long as that took. */
static void unanswered(const struct plot *p, struct strbuf *o)
{
    const struct cpu_worst *w = &p->r->a.unanswered;

    for (uint32_t i = 0; i < w->num; i++) {
        const struct cpu_wait *x = &w->list[i];
        const double t = x_of(p, x->sent_ns), from = y_of(p, x->sender) + p->row / 2,
                     to = y_of(p, x->target) + p->row / 2;
        if (x->waited_ns < p->r->a.params.stuck_ns)
            continue;
        OUT("<path d='M%.1f %.1fV%.1f' stroke='%s' opacity=.45 /><circle cx=%.1f cy=%.1f r=2.5 fill='%s'/>"
            "<path d='M%.1f %.1fH%.1f' stroke='%s' stroke-width=1.5 stroke-dasharray='3 2'/>\n",
            t, from, to, BAD, t, to, BAD, t, to, x_of(p, x->sent_ns + x->waited_ns), BAD);
    }
}

void cpu_svg_timeline(struct strbuf *o, const struct cpu_report *r)
{
    const uint32_t n = r->a.num_cpus;
    const bool strip = r->a.num_visible >= 2;
    struct plot p = {.r = r,
                     .begin = r->a.begin_ns,
                     .span = r->a.end_ns - r->a.begin_ns,
                     .row = n <= 8    ? 34
                            : n <= 32 ? 18
                            : n <= 64 ? 11
                                      : 5,
                     .gap = n <= 8    ? 6
                            : n <= 64 ? 3
                                      : 1,
                     .top = 22};
    double bottom;

    p.height = n * (p.row + p.gap);
    bottom = p.top + p.height + (strip ? 58 : 0);
    OUT("<svg width='100%%' viewBox='0 0 1130 %.0f'><defs><pattern id=blind width=8 height=8 "
        "patternUnits=userSpaceOnUse patternTransform='rotate(45)'><rect width=8 height=8 "
        "fill='#fff6f4'/><rect width=2 height=8 fill='#f6d3ce'/></pattern></defs>\n",
        bottom + 24);
    window(&p, o, bottom);
    for (uint32_t i = 0; i < n; i++)
        lane(&p, o, i);
    if (strip) {
        const double base = p.top + p.height + 52;
        OUT("<rect x=%.0f y=%.1f width=%.0f height=44 fill='#eef1f6'/>", LEFT, base - 44, WIDTH);
        area(&p, o, "#cbd6e8", base, 44, idle_cpus, 0);
        area(&p, o, "#6f8dbd", base, 44, deep_cpus, 0);
        OUT("<text x=%.0f y=%.1f text-anchor=end>%u idle</text><text x=%.0f y=%.1f "
            "text-anchor=end>0</text>\n",
            LEFT - 8, base - 34, r->a.num_visible, LEFT - 8, base);
    }
    axis(&p, o, bottom);
    window_edges(&p, o, bottom);
    incidents(&p, o);
    unanswered(&p, o);
    PUTS("</svg>");
    OUT("<p class='dim key'><i style='background:" RUNNING "'></i>running<i style='background:" IDLE
        "'></i>idle%s<i style='background:" UNKNOWN "'></i>not known%s%s%s</p>",
        r->a.deep_from < CPU_MAX_STATES ? "<i style='background:" DEEP "'></i>deep idle" : "",
        r->a.unanswered_stuck ? "<i style='background:" BAD "'></i>an IPI that was not answered" : "",
        r->a.num_incidents ? "<i style='background:" BAD ";height:4px;margin-bottom:3px'></i>all but one idle"
                           : "",
        strip && r->a.deep_from < CPU_MAX_STATES
            ? "<br>The strip at the bottom counts the idle CPUs and, darker, the deeply idle ones."
        : strip ? "<br>The strip at the bottom counts the idle CPUs."
                : "");
}

bool cpu_html_stuck(const struct cpu_report *r, uint32_t sender, uint32_t target)
{
    const struct cpu_worst *w = &r->a.unanswered;

    for (uint32_t i = 0; i < w->num; i++)
        if (w->list[i].sender == sender && w->list[i].target == target &&
            w->list[i].waited_ns >= r->a.params.stuck_ns)
            return true;
    return false;
}

static void edge(struct strbuf *o, const struct cpu_report *r, uint32_t s, uint32_t t, uint64_t max,
                 const double (*at)[2], double centre)
{
    const struct cpu_pair *p = &r->a.pairs[s * r->a.num_cpus + t];
    const bool stuck = cpu_html_stuck(r, s, t);
    const double width = 0.7 + (r->a.num_cpus > 8 ? 1.8 : 4.2) * log1p((double)p->sent) / log1p((double)max);
    const double dx = at[t][0] - at[s][0], dy = at[t][1] - at[s][1], len = hypot(dx, dy);
    /* bent to one side, so that the two directions do not cover each other, and towards the middle */
    const double bend = r->a.num_cpus <= 3 ? 0.28 : 0.12;
    const double mx = (at[s][0] + at[t][0]) / 2 * 0.75 + centre * 0.25 - dy * bend,
                 my = (at[s][1] + at[t][1]) / 2 * 0.75 + centre * 0.25 + dx * bend;
    const double ex = at[t][0] - mx, ey = at[t][1] - my, e = hypot(ex, ey);

    if (len < 1)
        return;
    OUT("<path d='M%.1f %.1fQ%.1f %.1f %.1f %.1f' fill=none stroke='%s' stroke-width=%.1f opacity=%s "
        "marker-end='url(#%s)'><title>CPU %u asked CPU %u %llu times, mean %s, max %s</title></path>\n",
        at[s][0], at[s][1], mx, my, at[t][0] - ex / e * 17, at[t][1] - ey / e * 17, stuck ? BAD : RUNNING,
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
    OUT("<svg style='width:%.0fpx;max-width:100%%' viewBox='0 0 %.0f %.0f'><defs>", size, size, size);
    for (int k = 0; k < 2; k++)
        OUT("<marker id=%s viewBox='0 0 8 8' refX=6 refY=4 markerUnits=userSpaceOnUse markerWidth=9 "
            "markerHeight=9 orient=auto><path d='M0 0L8 4L0 8Z' fill='%s'/></marker>",
            k ? "late" : "asked", k ? BAD : RUNNING);
    PUTS("</defs>\n");
    for (uint32_t i = 0; i < n; i++) {
        const double angle = 2 * M_PI * i / n - (n == 2 ? 0 : M_PI / 2);
        at[i][0] = centre + radius * cos(angle);
        at[i][1] = centre + radius * sin(angle);
    }
    /* what matters most last, on top of the others; a pair that talks little among thousands is left out */
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < n * n; i++)
            if (i / n != i % n && cpu_html_stuck(r, i / n, i % n) == (pass == 1) &&
                (pass || (r->a.pairs[i].sent && r->a.pairs[i].sent * 500 >= max)))
                edge(o, r, i / n, i % n, max, (const double(*)[2])at, centre);
    for (uint32_t i = 0; i < n; i++)
        OUT("<circle cx=%.1f cy=%.1f r=14 fill='%s' stroke='%s' stroke-width=1.5 /><text x=%.1f y=%.1f "
            "text-anchor=middle style='font-weight:600;fill:#1c2330'>%u</text>",
            at[i][0], at[i][1], r->a.cpu[i].blind ? "#fff6f4" : "#fff",
            r->a.cpu[i].blind ? "#e9a59c" : "#8fa3c4", at[i][0], at[i][1] + 4, i);
    PUTS("</svg>\n");
}

/* Lower edge of a bucket of struct cpu_latency, in ns. */
static double latency_edge(uint32_t i)
{
    return i < 8 ? i : i < 24 ? 8 : ldexp(8 + i % 8, (int)(i / 8) - 3);
}

static double latency_x(double v, double lo, double hi)
{
    return 8 + 464 * (log(v < 1 ? 1 : v) - lo) / (hi > lo ? hi - lo : 1);
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
    OUT("<figure><figcaption><b>%s</b> <span class=dim>%llu; p50 %s, p99 %s, p99.9 %s, max %s</span>"
        "</figcaption><svg width='100%%' viewBox='0 0 480 112'><path d='M8 88H472' stroke='#c6cedb'/>",
        title, (unsigned long long)l->n, cpu_ns(cpu_latency_percentile(l, 50)),
        cpu_ns(cpu_latency_percentile(l, 99)), cpu_ns(cpu_latency_percentile(l, 99.9)), cpu_ns(l->max));
    for (uint32_t i = first; i <= last; i++) {
        const double a = latency_x(latency_edge(i), lo, hi), b = latency_x(latency_edge(i + 1), lo, hi);
        const double h = 74 * log1p(l->count[i]) / log1p(most);
        if (l->count[i])
            OUT("<rect x=%.1f y=%.1f width=%.1f height=%.1f fill='%s'/>", a, 88 - h,
                b - a > 1 ? b - a - 0.4 : 1, h, RUNNING);
    }
    for (int d = 0; d <= 11; d++) { /* powers of ten, and what lies between if there is room */
        for (int k = 1; k <= 5; k += k == 1 ? 1 : 3) {
            const double v = pow(10, d) * k;
            if (log(v) < lo || log(v) > hi || (k > 1 && hi - lo > 9))
                continue;
            OUT("<path d='M%.1f 88v4' stroke='#8b96a8'/><text x=%.1f y=104 text-anchor=middle>%.0f "
                "%s</text>",
                latency_x(v, lo, hi), latency_x(v, lo, hi),
                v < 1e3   ? v
                : v < 1e6 ? v / 1e3
                : v < 1e9 ? v / 1e6
                          : v / 1e9,
                v < 1e3   ? "ns"
                : v < 1e6 ? "us"
                : v < 1e9 ? "ms"
                          : "s");
        }
    }
    for (int k = 0; k < 2; k++) {
        const double x = latency_x((double)cpu_latency_percentile(l, k ? 99 : 50), lo, hi);
        OUT("<path d='M%.1f 8V88' stroke='%s' stroke-dasharray='4 2'/><text x=%.1f y=%d style='fill:%s'%s>%s"
            "</text>",
            x, k ? BAD : "#1c2330", x + (k ? 3 : -3), k ? 12 : 12, k ? BAD : "#1c2330",
            k ? "" : " text-anchor=end", k ? "p99" : "p50");
    }
    PUTS("</svg></figure>\n");
}

void cpu_svg_intervals(struct strbuf *o, const struct cpu_report *r)
{
    uint64_t count[CPU_NUM_EDGES + 1][CPU_MAX_STATES] = {{0}}, total[CPU_NUM_EDGES + 1] = {0}, most = 1;
    uint32_t first = CPU_NUM_EDGES, last = 0;
    bool used[CPU_MAX_STATES] = {false};
    double step;
    char name[32];

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
    PUTS("<svg width='100%' viewBox='0 0 1130 218'><path d='M40 180H1120' stroke='#c6cedb'/>");
    for (uint32_t n = first; n <= last; n++) {
        const double x = 50 + (n - first) * step;
        double y = 180;
        for (uint32_t k = 0; k < CPU_MAX_STATES; k++) {
            const double h = 150.0 * (double)count[n][k] / (double)most;
            y -= h;
            if (count[n][k])
                OUT("<rect x=%.1f y=%.1f width=%.1f height=%.1f fill='%s'/>", x + 1, y, step - 2,
                    h < 0.5 ? 0.5 : h, state_colours[k % 8]);
        }
        if (total[n])
            OUT("<text x=%.1f y=%.1f text-anchor=middle style='fill:#1c2330'>%llu</text>", x + step / 2,
                y - 5, (unsigned long long)total[n]);
        OUT("<path d='M%.1f 180v5' stroke='#8b96a8'/><text x=%.1f y=198 text-anchor=middle>%s</text>", x, x,
            n ? cpu_ns(cpu_bucket_edges[n - 1]) : "0");
    }
    OUT("<path d='M%.1f 180v5' stroke='#8b96a8'/><text x=%.1f y=198 text-anchor=middle>%s</text></svg>\n",
        50 + (last - first + 1) * step, 50 + (last - first + 1) * step,
        last < CPU_NUM_EDGES ? cpu_ns(cpu_bucket_edges[last]) : "no end");
    PUTS("<p class='dim key'>");
    for (uint32_t k = 0; k < CPU_MAX_STATES; k++)
        if (used[k]) {
            OUT("<i style='background:%s'></i>", state_colours[k % 8]);
            cpu_html_escape(o, cpu_trace_state(r->trace, 0, k, name, sizeof(name)));
        }
    PUTS("</p>");
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
    PUTS("<svg width='100%' viewBox='0 0 1130 150'><path d='M40 112H1120' stroke='#c6cedb'/>");
    for (uint32_t n = 0; n <= a->num_visible + 1; n++) {
        const bool unknown = n > a->num_visible;
        const uint64_t t = unknown ? a->concurrency_unknown_ns : a->concurrency[n];
        const double x = 50 + n * step, h = 88.0 * (double)t / (most > 0 ? most : 1);
        char label[16];
        snprintf(label, sizeof(label), "%u", n);
        if (t)
            OUT("<rect x=%.1f y=%.1f width=%.1f height=%.1f fill='%s'><title>%s</title></rect>", x + 1,
                112 - (h < 0.7 ? 0.7 : h), step - 2, h < 0.7 ? 0.7 : h, unknown ? UNKNOWN : RUNNING,
                cpu_ns(t));
        if (t && step >= 34)
            OUT("<text x=%.1f y=%.1f text-anchor=middle style='fill:#1c2330'>%.*f%%</text>", x + step / 2,
                107 - h, 100 * (double)t / span < 10 ? 2 : 1, 100 * (double)t / span);
        if (step >= 12 || n % 8 == 0 || unknown)
            OUT("<text x=%.1f y=127 text-anchor=middle>%s</text>", x + step / 2, unknown ? "?" : label);
    }
    PUTS("<text x=50 y=145>processors idle at the same time; ?: before every one had shown its state</text>"
         "</svg>\n");
}
