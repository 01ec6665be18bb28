/* validate_html.c: the report as one self-contained page: checklist, results, pictures, graphs, events. Every figure and
 * picture comes from the report and the files that the run wrote. */
#include "validate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"
#include "validate_page.h"

static const char style[] =
    ":root{--ink:#1d2733;--soft:#5f6c7b;--line:#d9dfe6;--paper:#fff;--back:#f4f6f8;--good:#1b7f4b;--bad:#"
    "b3261e;--skip:#b8860b;--blue:#2563ab}"
    "*{box-sizing:border-box}body{margin:0;background:var(--back);color:var(--ink);font:14px/1.45 "
    "system-ui,sans-serif}"
    "main{max-width:1180px;margin:0 auto;padding:18px 20px "
    "60px}h1{font-size:20px;margin:0}h2{font-size:16px;margin:22px 0 6px}"
    "h3{font-size:13px;margin:0 0 4px;color:var(--soft);font-weight:600}p{margin:6px 0 0}"
    "header{display:flex;gap:18px;align-items:center;margin-bottom:10px}.verdict{font-size:24px;font-weight:"
    "800;color:#fff;padding:6px 18px;border-radius:8px;background:var(--bad)}"
    ".verdict.PASS{background:var(--good);color:#fff}.fail{border-left:4px solid "
    "var(--bad);background:var(--paper);padding:6px 12px;margin:4px 0}"
    ".soft{color:var(--soft)}.small{font-size:12px}section{background:var(--paper);border:1px solid "
    "var(--line);border-radius:8px;padding:10px 16px;margin-top:8px}"
    ".two{display:grid;gap:10px;grid-template-columns:repeat(auto-fit,minmax(420px,1fr))}.two "
    "section{margin-top:0}"
    "table{border-collapse:collapse;width:100%}td,th{padding:3px 12px 3px "
    "0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}"
    "tr:last-child "
    "td{border-bottom:0}th{color:var(--soft);font-weight:600}td.n{text-align:right;font-variant-numeric:"
    "tabular-nums}"
    ".two td{padding:2px 12px 2px "
    "0}.PASS{color:var(--good);font-weight:600}.FAIL{color:var(--bad);font-weight:600}.SKIP{color:var(--skip)"
    ";font-weight:600}"
    ".figure{margin-right:14px;white-space:nowrap}.figure b{color:var(--ink);font-weight:600}"
    "figure{margin:0;min-width:0}figure "
    "img{width:100%;aspect-ratio:4/3;object-fit:contain;image-rendering:pixelated;border:1px solid "
    "var(--line);border-radius:4px;background:#000}"
    "figcaption{color:var(--soft);font-size:12px}.row{display:grid;gap:16px;grid-template-columns:repeat("
    "auto-fill,minmax(250px,1fr))}"
    "section.row{grid-template-columns:repeat(auto-fit,minmax(300px,1fr))}svg{width:100%;height:auto;display:"
    "block}"
    "svg text{font:11px system-ui,sans-serif;fill:var(--soft)}svg "
    "text.ink{fill:var(--ink);font-size:12px}svg text.on{fill:#fff;font-size:12px;font-weight:600}"
    "code{font:12.5px ui-monospace,monospace}"
    ".two "
    "td:first-child{white-space:nowrap}@media(prefers-color-scheme:dark){:root{--ink:#e5eaf0;--soft:#9aa7b5;-"
    "-line:#33404e;--paper:#1a222b;--"
    "back:#12181f;--good:#3fae78;--bad:#e5675b;--skip:#c9a227;--blue:#79b0ee}}";

const char *page_text(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s ? s : "";
}

double page_number(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

void page_put(struct strbuf *b, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '<':
            strbuf_puts(b, "&lt;");
            break;
        case '>':
            strbuf_puts(b, "&gt;");
            break;
        case '&':
            strbuf_puts(b, "&amp;");
            break;
        case '"':
            strbuf_puts(b, "&quot;");
            break;
        default:
            strbuf_append(b, s, 1);
        }
}

static const char *result_of(const json_t *t)
{
    return json_is_true(json_object_get(t, "skipped")) ? "SKIP" : page_text(t, "status");
}

/* ---- parts ---- */

/* What failed, before everything else. */
static void failures(struct strbuf *b, const json_t *r)
{
    const json_t *t;
    size_t i;

    json_array_foreach(json_object_get(r, "checklist"), i, t)
        if (!strcmp(page_text(t, "result"), "FAIL")) {
            strbuf_puts(b, "<div class=fail><b>");
            page_put(b, page_text(t, "step"));
            strbuf_puts(b, "</b> ");
            page_put(b, page_text(t, "evidence"));
            strbuf_puts(b, "</div>");
        }
    json_array_foreach(json_object_get(r, "tests"), i, t)
        if (!strcmp(page_text(t, "status"), "FAIL")) {
            strbuf_puts(b, "<div class=fail><code>");
            page_put(b, page_text(t, "test_name"));
            strbuf_puts(b, "</code> ");
            page_put(b, page_text(t, "failure"));
            strbuf_puts(b, "</div>");
        }
}

static void summary(struct strbuf *b, const json_t *r)
{
    const json_t *c = json_object_get(r, "counts");
    size_t violations = json_array_size(json_object_get(r, "violations"));

    strbuf_printf(
        b,
        "<header><span class=\"verdict %s\">%s</span><div><h1>AeroGPU validation</h1><div>%d tests passed, "
        "%d failed, %d skipped in %.1f s; %zu violation%s of the kernel's rules</div></div></header>",
        page_text(r, "status"), page_text(r, "status"), (int)page_number(c, "pass"),
        (int)page_number(c, "fail"), (int)page_number(c, "skip"), page_number(r, "seconds"), violations,
        violations == 1 ? "" : "s");
    failures(b, r);
}

static void record_row(struct strbuf *b, const char *label, const char *value)
{
    strbuf_printf(b, "<tr><td class=soft>%s<td>", label);
    page_put(b, *value ? value : "-");
    strbuf_puts(b, "</tr>");
}

static void record(struct strbuf *b, const json_t *r)
{
    const json_t *t, *adapter = NULL, *m = json_object_get(r, "baseline");
    char text[200];
    size_t i;

    json_array_foreach(json_object_get(r, "tests"), i, t)
        if (!adapter && json_is_object(json_object_get(t, "adapter")))
            adapter = json_object_get(t, "adapter");
    strbuf_puts(b, "<section><h3>Record</h3><table>");
    record_row(b, "Date", page_text(r, "date"));
    record_row(b, "Commit", page_text(r, "commit"));
    record_row(b, "Driver package", page_text(r, "version"));
    snprintf(text, sizeof(text), "VID=%s DID=%s", page_text(adapter, "vid"), page_text(adapter, "did"));
    record_row(b, "Device", text);
    record_row(b, "Session",
               json_is_true(json_object_get(r, "sim")) ? "sim: virtual time, modelled executor" : "live");
    record_row(b, "Executor",
               *page_text(r, "device") ? page_text(r, "device") : "modelled timing, nothing drawn");
    record_row(b, "Command", page_text(r, "command"));
    snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(json_object_get(r, "seed")));
    record_row(b, "Seed", text);
    if (json_is_object(m)) {
        snprintf(text, sizeof(text), "%.2f presents/s, fences p99 %.2f ms, vblank jitter p99 %.2f ms",
                 page_number(m, "present_rate_hz"),
                 page_number(json_object_get(m, "fence_latency_ms"), "p99"),
                 page_number(json_object_get(m, "vblank_jitter_ms"), "p99"));
        record_row(b, "Baseline", text);
    }
    if (json_is_object(json_object_get(r, "soak")))
        record_row(b, "Soak", page_text(json_object_get(r, "soak"), "text"));
    strbuf_puts(b, "</table></section>");
}

static void checklist(struct strbuf *b, const json_t *r)
{
    const json_t *s;
    size_t i;

    strbuf_puts(b, "<section><h3>Bring-up checklist</h3><table>");
    json_array_foreach(json_object_get(r, "checklist"), i, s) {
        strbuf_printf(b, "<tr><td class=%s>%s<td>", page_text(s, "result"), page_text(s, "result"));
        page_put(b, page_text(s, "step"));
        strbuf_puts(b, "<div class=\"soft small\">");
        page_put(b, page_text(s, "evidence"));
        strbuf_puts(b, "</div></tr>");
    }
    strbuf_puts(b, "</table></section>");
}

/* A series as a line, with a dashed line at `due` (0: none). */
static void graph(struct strbuf *b, const json_t *values, const char *title, double due)
{
    size_t n = json_array_size(values), i;
    double max = due * 1.4, sum = 0;
    const json_t *v;

    if (n < 2)
        return;
    json_array_foreach(values, i, v) {
        max = json_number_value(v) > max ? json_number_value(v) : max;
        sum += json_number_value(v);
    }
    if (max <= 0)
        max = 1;
    strbuf_puts(b, "<figure><svg viewBox=\"0 0 480 150\" role=img aria-label=\"");
    page_put(b, title);
    strbuf_printf(
        b,
        "\"><path d=\"M40 8V124H474\" fill=none stroke=\"var(--line)\"/><text x=36 y=14 text-anchor=end>%.3g"
        "</text><text x=36 y=126 text-anchor=end>0</text><text x=474 y=140 text-anchor=end>%zu "
        "samples</text>",
        max, n);
    if (due > 0)
        strbuf_printf(b, "<path d=\"M40 %.1fH474\" stroke=\"var(--good)\" stroke-dasharray=\"4 4\"/>",
                      124 - 116 * due / max);
    strbuf_puts(b, "<polyline fill=none stroke=\"var(--blue)\" stroke-width=1.3 points=\"");
    json_array_foreach(values, i, v)
        strbuf_printf(b, "%.1f,%.1f ", 40 + 434.0 * (double)i / (double)(n - 1),
                      124 - 116 * json_number_value(v) / max);
    strbuf_puts(b, "\"/></svg><figcaption>");
    page_put(b, title);
    strbuf_printf(b, ", average %.3f", sum / (double)n);
    if (due > 0)
        strbuf_printf(b, "; dashed: %.3f", due);
    strbuf_puts(b, "</figcaption></figure>");
}

/* How often which value: 24 bars up to the largest. */
static void histogram(struct strbuf *b, const json_t *values, const char *title)
{
    enum { BARS = 24 };
    unsigned count[BARS] = {0}, most = 1;
    double max = 0;
    const json_t *v;
    size_t i;

    if (json_array_size(values) < 2)
        return;
    json_array_foreach(values, i, v)
        max = json_number_value(v) > max ? json_number_value(v) : max;
    if (max <= 0)
        max = 1;
    json_array_foreach(values, i, v) {
        unsigned k = (unsigned)(json_number_value(v) / max * (BARS - 1));
        if (++count[k] > most)
            most = count[k];
    }
    strbuf_puts(b, "<figure><svg viewBox=\"0 0 480 150\" role=img aria-label=\"");
    page_put(b, title);
    strbuf_printf(
        b,
        "\"><path d=\"M40 124H474\" stroke=\"var(--line)\"/><text x=36 y=14 text-anchor=end>%u</text>"
        "<text x=40 y=140>0</text><text x=474 y=140 text-anchor=end>%.3g ms</text>",
        most, max);
    for (unsigned k = 0; k < BARS; k++)
        if (count[k])
            strbuf_printf(b, "<rect x=%.1f y=%.1f width=16 height=%.1f fill=\"var(--blue)\"/>", 40 + k * 18.0,
                          124 - 116.0 * count[k] / most, 116.0 * count[k] / most);
    strbuf_puts(b, "</svg><figcaption>");
    page_put(b, title);
    strbuf_puts(b, "</figcaption></figure>");
}

const json_t *page_test(const json_t *r, const char *name)
{
    const json_t *t;
    size_t i;

    json_array_foreach(json_object_get(r, "tests"), i, t)
        if (!strcmp(page_text(t, "test_name"), name))
            return t;
    return NULL;
}

static void baseline_rows(struct strbuf *b, const json_t *m)
{
    static const struct {
        const char *key, *label, *why;
    } rows[] = {
        {"fence_latency_ms", "Fence latency (submit to complete), ms", "a long tail causes time-outs"},
        {"queue_depth", "Queue depth at submission", "growing without bound: the executor does not drain"},
        {"vblank_interval_ms", "Vblank interval as the client sees it, ms", ""},
        {"vblank_jitter_ms", "Vblank jitter, ms", "stutter when it is high"}};

    strbuf_puts(b, "<table><tr><th>Metric<th>avg<th>p50<th>p95<th>p99<th>max<th></tr>");
    strbuf_printf(
        b,
        "<tr><td>Present rate, 1/s<td class=n>%.2f<td><td><td><td><td class=soft>near the refresh rate when "
        "paced</tr><tr><td>Command throughput, bytes/s<td class=n>%.0f<td><td><td><td><td class=soft>finds "
        "command storms</tr><tr><td>Vblank rate, Hz<td class=n>%.2f<td><td><td><td><td></tr><tr><td>Resets "
        "in "
        "this stretch<td class=n>%.0f<td><td><td><td><td class=soft>0 when stable</tr>",
        page_number(m, "present_rate_hz"), page_number(m, "command_bytes_per_second"),
        page_number(m, "vblank_rate_hz"), page_number(m, "reset_count"));
    for (int i = 0; i < 4; i++) {
        const json_t *v = json_object_get(m, rows[i].key);
        strbuf_printf(
            b,
            "<tr><td>%s<td class=n>%.3f<td class=n>%.3f<td class=n>%.3f<td class=n>%.3f<td class=n>%.3f<td "
            "class=soft>%s</tr>",
            rows[i].label, page_number(v, "avg"), page_number(v, "p50"), page_number(v, "p95"),
            page_number(v, "p99"), page_number(v, "max"), rows[i].why);
    }
    strbuf_puts(b, "</table>");
}

/* A column of the soak's levels as a series. */
static void soak_graph(struct strbuf *b, const json_t *r, const char *key, const char *title)
{
    const json_t *l;
    json_t *values = json_array();
    size_t i;

    json_array_foreach(json_object_get(json_object_get(r, "soak"), "levels"), i, l)
        json_array_append(values, json_object_get(l, key));
    graph(b, values, title, 0);
    json_decref(values);
}

static void graphs(struct strbuf *b, const json_t *r)
{
    const json_t *m = json_object_get(r, "baseline");

    strbuf_puts(b, "<section class=row>");
    graph(b, json_object_get(json_object_get(m, "vblank_interval_ms"), "values"), "vblank interval in ms",
          1e3 / 60);
    graph(b, json_object_get(json_object_get(page_test(r, "dwm_flush_pacing"), "timing"), "samples_ms"),
          "composed frames in ms", 1e3 / 60);
    histogram(b, json_object_get(json_object_get(m, "fence_latency_ms"), "values"),
              "fence latency: how many submissions took how long");
    soak_graph(b, r, "memory_mib", "soak: memory in MiB, minute by minute");
    soak_graph(b, r, "executor_mib", "soak: the executor's memory in MiB");
    strbuf_puts(b, "</section>");
}

static void baseline(struct strbuf *b, const json_t *r)
{
    const json_t *m = json_object_get(r, "baseline");

    strbuf_puts(b, "<h2>Baseline</h2><section>");
    if (!json_is_object(m)) {
        strbuf_puts(b, "not measured: the stack did not render</section>");
        return;
    }
    strbuf_printf(b, "<p class=soft>%.1f s of a client that draws and presents at vsync.</p>",
                  page_number(m, "seconds"));
    baseline_rows(b, m);
    strbuf_puts(b, "</section>");
}

static void base64(struct strbuf *b, const uint8_t *p, size_t n)
{
    static const char d[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < n; i += 3) {
        uint32_t v =
            (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0);
        char out[4] = {d[v >> 18], d[v >> 12 & 63], i + 1 < n ? d[v >> 6 & 63] : '=',
                       i + 2 < n ? d[v & 63] : '='};
        strbuf_append(b, out, 4);
    }
}

static bool put_picture(struct strbuf *b, const char *path, const char *caption)
{
    FILE *f = fopen(path, "re");
    uint8_t *data = malloc(4 << 20);
    size_t n = f && data ? fread(data, 1, 4 << 20, f) : 0;

    if (f)
        fclose(f);
    if (n) {
        strbuf_puts(b, "<figure><img alt=\"\" src=\"data:image/png;base64,");
        base64(b, data, n);
        strbuf_puts(b, "\"><figcaption>");
        page_put(b, caption);
        strbuf_puts(b, "</figcaption></figure>");
    }
    free(data);
    return n != 0;
}

static void pictures(struct strbuf *b, const json_t *r)
{
    const json_t *t, *a;
    size_t i, k, shown = 0;

    strbuf_puts(b, "<h2>Pictures</h2><section><div class=row>");
    json_array_foreach(json_object_get(r, "tests"), i, t)
        json_array_foreach(json_object_get(t, "artifacts"), k, a) {
            const char *path = json_string_value(a);
            size_t n = strlen(path);
            if (n > 4 && !strcmp(path + n - 4, ".png") && shown < 12 && !strstr(path, "shared"))
                shown += put_picture(b, path, page_text(t, "test_name"));
        }
    json_array_foreach(json_object_get(r, "pictures"), k, a)
        shown += put_picture(b, page_text(a, "path"), page_text(a, "caption"));
    strbuf_puts(b, shown ? "</div></section>" : "nothing was drawn</div></section>");
}

static const char *doc_of(const char *name)
{
#define ROW(id, doc)                                                                                         \
    if (!strcmp(name, #id))                                                                                  \
        return doc;
    SUITE_TESTS(ROW)
#undef ROW
    return "";
}

static void figures(struct strbuf *b, const json_t *t)
{
    const json_t *v;
    const char *key;

    json_object_foreach((json_t *)(uintptr_t)json_object_get(t, "measured"), key, v) {
        strbuf_puts(b, "<span class=figure>");
        for (const char *c = key; *c; c++)
            strbuf_printf(b, "%c", *c == '_' ? ' ' : *c);
        strbuf_printf(b, " <b>%.4g</b></span> ", json_number_value(v));
    }
    page_put(b, page_text(t, json_is_true(json_object_get(t, "skipped")) ? "skip_reason" : "failure"));
}

static void recovery(struct strbuf *b, const json_t *r)
{
    static const char *const names[] = {"tdr_recovery",      "tdr_storm",         "device_removed_semantics",
                                        "reset_failure",     "blocked_ddi",       "executor_kill",
                                        "late_answer",       "client_kill",       "many_clients",
                                        "ring_full",         "lost_doorbell",     "lost_interrupt",
                                        "doubled_interrupt", "delayed_interrupt", "stale_fence",
                                        "late_vblank",       "missing_vblank",    "burst_vblank",
                                        "dma_fault",         "freed_writeback"};

    strbuf_puts(b, "<h2>Broken on purpose</h2><section><table>");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const json_t *t = page_test(r, names[i]), *e;
        size_t k;
        if (!t)
            continue;
        strbuf_printf(b, "<tr><td class=%s>%s<td><code>%s</code><td>", result_of(t), result_of(t), names[i]);
        page_put(b, doc_of(names[i]));
        json_array_foreach(json_object_get(t, "events"), k, e) {
            strbuf_printf(b, "<div class=\"soft small\">%s %d: ", page_text(e, "source"),
                          (int)page_number(e, "id"));
            page_put(b, page_text(e, "text"));
            strbuf_puts(b, "</div>");
        }
        strbuf_puts(b, "<td class=soft>");
        figures(b, t);
        strbuf_puts(b, "</tr>");
    }
    strbuf_puts(b, "</table></section>");
}

static void events(struct strbuf *b, const json_t *r)
{
    const json_t *e;
    size_t i;

    strbuf_puts(b, "<h2>Event log</h2><section><table><tr><th>ms<th>Source<th>Id<th></tr>");
    json_array_foreach(json_object_get(r, "events"), i, e) {
        strbuf_printf(b, "<tr><td class=n>%.1f<td>%s<td class=n>%d<td>", page_number(e, "time_ms"),
                      page_text(e, "source"), (int)page_number(e, "id"));
        page_put(b, page_text(e, "text"));
        strbuf_puts(b, "</tr>");
    }
    strbuf_puts(b, "</table></section>");
}

static void diagnosis(struct strbuf *b, const json_t *r)
{
    const json_t *d;
    size_t i;

    if (!json_array_size(json_object_get(r, "diagnosis")))
        return;
    strbuf_puts(b,
                "<h2>Diagnosis</h2><section><table><tr><th>Symptom<th>Signal<th>Likely causes<th>Seen</tr>");
    json_array_foreach(json_object_get(r, "diagnosis"), i, d) {
        static const char *const keys[] = {"symptom", "signal", "causes", "evidence"};
        strbuf_puts(b, "<tr>");
        for (int k = 0; k < 4; k++) {
            strbuf_puts(b, "<td>");
            page_put(b, page_text(d, keys[k]));
        }
        strbuf_puts(b, "</tr>");
    }
    strbuf_puts(b, "</table></section>");
}

static void tests(struct strbuf *b, const json_t *r)
{
    const json_t *t;
    size_t i;

    strbuf_puts(b, "<h2>Suite</h2><section><table><tr><th><th>Test<th><th>ms<th></tr>");
    json_array_foreach(json_object_get(r, "tests"), i, t) {
        const json_t *timing = json_object_get(t, "timing");
        const char *name = page_text(t, "test_name");
        strbuf_printf(b, "<tr><td class=%s>%s<td><code>%s</code><td class=soft>", result_of(t), result_of(t),
                      name);
        page_put(b, doc_of(name));
        strbuf_printf(b, "<td class=n>%.0f<td class=soft>", page_number(t, "duration_ms"));
        if (json_is_object(timing))
            strbuf_printf(b, "<span class=figure>avg <b>%.3f</b> min <b>%.3f</b> max <b>%.3f</b> ms</span> ",
                          page_number(timing, "avg_ms"), page_number(timing, "min_ms"),
                          page_number(timing, "max_ms"));
        figures(b, t);
        strbuf_puts(b, "</tr>");
    }
    strbuf_puts(b, "</table></section>");
}

int validate_html(const char *path, const json_t *report, struct error *e)
{
    struct strbuf b = {0};
    FILE *f;
    int r = 0;

    strbuf_puts(
        &b,
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">"
        "<title>AeroGPU validation</title><style>");
    strbuf_puts(&b, style);
    strbuf_puts(&b, "</style><main>");
    summary(&b, report);
    strbuf_puts(&b, "<div class=two>");
    record(&b, report);
    checklist(&b, report);
    strbuf_puts(&b, "</div>");
    page_timeline(&b, report);
    graphs(&b, report);
    recovery(&b, report);
    pictures(&b, report);
    baseline(&b, report);
    diagnosis(&b, report);
    events(&b, report);
    tests(&b, report);
    strbuf_puts(&b, "</main></html>\n");
    f = strbuf_failed(&b) ? NULL : fopen(path, "we");
    if (!f)
        r = strbuf_failed(&b) ? -ENOMEM : -errno;
    else if (fwrite(b.data, 1, b.len, f) != b.len)
        r = -EIO;
    if (f && fclose(f))
        r = -EIO;
    strbuf_finish(&b);
    return r ? error_set(e, r, "%s: %s", path, strerror(-r)) : 0;
}
