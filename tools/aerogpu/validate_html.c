/* validate_html.c: the report as one self-contained page: checklist, results, pictures, graphs, events. Every figure and
 * picture comes from the report and the files that the run wrote. */
#include "validate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"

static const char style[] =
    ":root{--ink:#1d2733;--soft:#5f6c7b;--line:#d9dfe6;--paper:#fff;--back:#f4f6f8;--good:#1b7f4b;--bad:#"
    "b3261e;"
    "--skip:#8a6d00;--blue:#2563ab}"
    "body{margin:0;background:var(--back);color:var(--ink);font:15px/1.5 system-ui,sans-serif}"
    "main{max-width:1060px;margin:0 auto;padding:28px 20px 60px}h1{font-size:26px;margin:0 0 2px}"
    "h2{font-size:18px;margin:34px 0 10px}.soft{color:var(--soft)}section{background:var(--paper);border:1px "
    "solid "
    "var(--line);border-radius:8px;padding:14px 18px;margin-top:10px}"
    "table{border-collapse:collapse;width:100%}td,th{padding:4px 10px 4px "
    "0;text-align:left;vertical-align:top;"
    "border-bottom:1px solid var(--line)}tr:last-child "
    "td{border-bottom:0}th{color:var(--soft);font-weight:600}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}.PASS{color:var(--good);font-weight:600}"
    ".FAIL{color:var(--bad);font-weight:600}.SKIP{color:var(--skip);font-weight:600}"
    ".big{font-size:20px;font-weight:700}figure{margin:0;min-width:0}figure img{width:100%;aspect-ratio:4/3;"
    "object-fit:contain;image-rendering:pixelated;border:1px solid "
    "var(--line);border-radius:4px;background:#000}figcaption{color:var(--soft);font-size:13px}"
    ".row{display:grid;gap:16px;grid-template-columns:repeat(auto-fill,minmax(300px,1fr))}svg{width:100%;"
    "height:auto;display:block}"
    "svg text{font:11px system-ui,sans-serif;fill:var(--soft)}code{font:13px ui-monospace,monospace}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e5eaf0;--soft:#9aa7b5;--line:#33404e;--paper:#1a222b;--"
    "back:#12181f;"
    "--good:#5fd39a;--bad:#ff8a80;--skip:#e0c04c;--blue:#79b0ee}}";

static const char *text_of(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s ? s : "";
}

static double number_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static void put_text(struct strbuf *b, const char *s)
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
    return json_is_true(json_object_get(t, "skipped")) ? "SKIP" : text_of(t, "status");
}

/* ---- parts ---- */

static void summary(struct strbuf *b, const json_t *r)
{
    const json_t *c = json_object_get(r, "counts");

    strbuf_printf(b, "<h1>AeroGPU validation</h1><p class=soft>%s &middot; version ", text_of(r, "date"));
    put_text(b, text_of(r, "version"));
    strbuf_puts(b, " &middot; ");
    put_text(b, json_is_true(json_object_get(r, "sim")) ? "sim: virtual time, modelled executor"
                                                        : text_of(r, "device"));
    strbuf_printf(b,
                  " &middot; %.1f s</p><section><span class=\"big %s\">%s</span> &nbsp; %d passed, %d "
                  "failed, %d skipped",
                  number_of(r, "seconds"), text_of(r, "status"), text_of(r, "status"),
                  (int)number_of(c, "pass"), (int)number_of(c, "fail"), (int)number_of(c, "skip"));
    strbuf_printf(b, "; %zu violations of the kernel's rules</section>",
                  json_array_size(json_object_get(r, "violations")));
}

static void checklist(struct strbuf *b, const json_t *r)
{
    const json_t *s;
    size_t i;

    strbuf_puts(b, "<h2>Bring-up checklist</h2><section><table>");
    json_array_foreach(json_object_get(r, "checklist"), i, s)
    {
        strbuf_printf(b, "<tr><td>%zu</td><td>", i + 1);
        put_text(b, text_of(s, "step"));
        strbuf_printf(b, "</td><td class=%s>%s</td><td class=soft>", text_of(s, "result"),
                      text_of(s, "result"));
        put_text(b, text_of(s, "evidence"));
        strbuf_puts(b, "</td></tr>");
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
    json_array_foreach(values, i, v)
    {
        max = json_number_value(v) > max ? json_number_value(v) : max;
        sum += json_number_value(v);
    }
    if (max <= 0)
        max = 1;
    strbuf_puts(b, "<figure><svg viewBox=\"0 0 480 150\" role=img aria-label=\"");
    put_text(b, title);
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
    json_array_foreach(values, i, v) strbuf_printf(b, "%.1f,%.1f ", 40 + 434.0 * (double)i / (double)(n - 1),
                                                   124 - 116 * json_number_value(v) / max);
    strbuf_puts(b, "\"/></svg><figcaption>");
    put_text(b, title);
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
    json_array_foreach(values, i, v) max = json_number_value(v) > max ? json_number_value(v) : max;
    if (max <= 0)
        max = 1;
    json_array_foreach(values, i, v)
    {
        unsigned k = (unsigned)(json_number_value(v) / max * (BARS - 1));
        if (++count[k] > most)
            most = count[k];
    }
    strbuf_puts(b, "<figure><svg viewBox=\"0 0 480 150\" role=img aria-label=\"");
    put_text(b, title);
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
    put_text(b, title);
    strbuf_puts(b, "</figcaption></figure>");
}

static const json_t *test_of(const json_t *r, const char *name)
{
    const json_t *t;
    size_t i;

    json_array_foreach(json_object_get(r, "tests"), i,
                       t) if (!strcmp(text_of(t, "test_name"), name)) return t;
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
        number_of(m, "present_rate_hz"), number_of(m, "command_bytes_per_second"),
        number_of(m, "vblank_rate_hz"), number_of(m, "reset_count"));
    for (int i = 0; i < 4; i++) {
        const json_t *v = json_object_get(m, rows[i].key);
        strbuf_printf(
            b,
            "<tr><td>%s<td class=n>%.3f<td class=n>%.3f<td class=n>%.3f<td class=n>%.3f<td class=n>%.3f<td "
            "class=soft>%s</tr>",
            rows[i].label, number_of(v, "avg"), number_of(v, "p50"), number_of(v, "p95"), number_of(v, "p99"),
            number_of(v, "max"), rows[i].why);
    }
    strbuf_puts(b, "</table>");
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
                  number_of(m, "seconds"));
    baseline_rows(b, m);
    strbuf_puts(b, "<div class=row style=\"margin-top:14px\">");
    graph(b, json_object_get(json_object_get(m, "vblank_interval_ms"), "values"), "vblank interval in ms",
          1e3 / 60);
    histogram(b, json_object_get(json_object_get(m, "fence_latency_ms"), "values"),
              "fence latency: how many submissions took how long");
    graph(b, json_object_get(json_object_get(test_of(r, "wait_vblank_pacing"), "timing"), "samples_ms"),
          "wait_vblank_pacing in ms", 1e3 / 60);
    graph(b, json_object_get(json_object_get(test_of(r, "dwm_flush_pacing"), "timing"), "samples_ms"),
          "composed frames in ms", 1e3 / 60);
    strbuf_puts(b, "</div></section>");
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
        put_text(b, caption);
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
        json_array_foreach(json_object_get(t, "artifacts"), k, a)
    {
        const char *path = json_string_value(a);
        size_t n = strlen(path);
        if (n > 4 && !strcmp(path + n - 4, ".png") && shown < 12 && !strstr(path, "shared"))
            shown += put_picture(b, path, text_of(t, "test_name"));
    }
    json_array_foreach(json_object_get(r, "pictures"), k, a) shown +=
        put_picture(b, text_of(a, "path"), text_of(a, "caption"));
    strbuf_puts(b, shown ? "</div></section>" : "nothing was drawn</div></section>");
}

static void recovery(struct strbuf *b, const json_t *r)
{
    static const struct {
        const char *test, *what;
    } rows[] = {{"tdr_recovery", "A shader that does not end: detected, reset, new work runs"},
                {"tdr_storm", "Hang after hang"},
                {"device_removed_semantics", "What old handles say after a reset"},
                {"dma_fault", "A stream that writes what it may only read"},
                {"lost_interrupt", "An interrupt that never arrives"},
                {"executor_kill", "The executor's process killed"},
                {"client_kill", "A client killed while it waits"},
                {"reset_failure", "A reset that fails"}};

    strbuf_puts(b, "<h2>Broken on purpose</h2><section><table>");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const json_t *t = test_of(r, rows[i].test), *v;
        const char *key;
        if (!t)
            continue;
        strbuf_printf(b, "<tr><td>%s<td><code>%s</code><td class=%s>%s<td class=soft>", rows[i].what,
                      rows[i].test, result_of(t), result_of(t));
        json_object_foreach((json_t *)(uintptr_t)json_object_get(t, "measured"), key, v)
            strbuf_printf(b, "%s %.4g<br>", key, json_number_value(v));
        put_text(b, text_of(t, json_is_true(json_object_get(t, "skipped")) ? "skip_reason" : "failure"));
        strbuf_puts(b, "</tr>");
    }
    strbuf_puts(b, "</table></section>");
}

static void events(struct strbuf *b, const json_t *r)
{
    const json_t *e;
    size_t i;

    strbuf_puts(b, "<h2>Event log</h2><section><table><tr><th>ms<th>Source<th>Id<th></tr>");
    json_array_foreach(json_object_get(r, "events"), i, e)
    {
        strbuf_printf(b, "<tr><td class=n>%.1f<td>%s<td class=n>%d<td>", number_of(e, "time_ms"),
                      text_of(e, "source"), (int)number_of(e, "id"));
        put_text(b, text_of(e, "text"));
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
    json_array_foreach(json_object_get(r, "diagnosis"), i, d)
    {
        static const char *const keys[] = {"symptom", "signal", "causes", "evidence"};
        strbuf_puts(b, "<tr>");
        for (int k = 0; k < 4; k++) {
            strbuf_puts(b, "<td>");
            put_text(b, text_of(d, keys[k]));
        }
        strbuf_puts(b, "</tr>");
    }
    strbuf_puts(b, "</table></section>");
}

static void tests(struct strbuf *b, const json_t *r)
{
    const json_t *t;
    size_t i;

    strbuf_puts(b, "<h2>Suite</h2><section><table><tr><th>Test<th>Result<th>ms<th></tr>");
    json_array_foreach(json_object_get(r, "tests"), i, t)
    {
        const json_t *timing = json_object_get(t, "timing"), *v;
        const char *key;
        strbuf_printf(b, "<tr><td><code>%s</code><td class=%s>%s<td class=n>%.0f<td class=soft>",
                      text_of(t, "test_name"), result_of(t), result_of(t), number_of(t, "duration_ms"));
        if (json_is_object(timing))
            strbuf_printf(b, "avg %.3f min %.3f max %.3f ms ", number_of(timing, "avg_ms"),
                          number_of(timing, "min_ms"), number_of(timing, "max_ms"));
        json_object_foreach((json_t *)(uintptr_t)json_object_get(t, "measured"), key, v)
            strbuf_printf(b, "%s %.4g ", key, json_number_value(v));
        put_text(b, text_of(t, json_is_true(json_object_get(t, "skipped")) ? "skip_reason" : "failure"));
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
    checklist(&b, report);
    pictures(&b, report);
    baseline(&b, report);
    recovery(&b, report);
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
