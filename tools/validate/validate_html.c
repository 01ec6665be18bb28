/* SPDX-License-Identifier: MIT */
/* validate_html.c: the report as one self-contained page: checklist, results, pictures, graphs, events. Every figure and
 * picture comes from the report and the files that the run wrote. */
#include "validate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/out.h"
#include "report/chart.h"
#include "report/page.h"
#include "suite.h"
#include "validate_page.h"

const char *validate_text(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s ? s : "";
}

double validate_number(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static const char *result_of(const json_t *t)
{
    return json_is_true(json_object_get(t, "skipped")) ? "SKIP" : validate_text(t, "status");
}

/* A result in its colour, as a cell. */
static void result_cell(struct strbuf *b, const char *result)
{
    strbuf_printf(b, "<tr><td class='l c-%s'><b>%s</b>",
                  !strcmp(result, "PASS")   ? "ok"
                  : !strcmp(result, "FAIL") ? "bad"
                                            : "warn",
                  result);
}

/* ---- parts --------------------------------------------------------------- */

/* What failed, before everything else. */
static void failures(struct strbuf *b, const json_t *r)
{
    const json_t *t;
    size_t i;

    json_array_foreach(json_object_get(r, "checklist"), i, t)
        if (!strcmp(validate_text(t, "result"), "FAIL")) {
            strbuf_puts(b, "<div class=alert><b>");
            page_text(b, validate_text(t, "step"));
            strbuf_puts(b, "</b> ");
            page_text(b, validate_text(t, "evidence"));
            strbuf_puts(b, "</div>");
        }
    json_array_foreach(json_object_get(r, "tests"), i, t)
        if (!strcmp(validate_text(t, "status"), "FAIL")) {
            strbuf_puts(b, "<div class=alert><code>");
            page_text(b, validate_text(t, "test_name"));
            strbuf_puts(b, "</code> ");
            page_text(b, validate_text(t, "failure"));
            strbuf_puts(b, "</div>");
        }
}

static void summary(struct strbuf *b, const json_t *r)
{
    const json_t *c = json_object_get(r, "counts");
    size_t violations = json_array_size(json_object_get(r, "violations"));

    strbuf_printf(
        b,
        "<h1><span class=badge style='--c:var(--%s)'>%s</span> AeroGPU validation</h1><p class=sub>%d tests passed, %d failed, %d skipped in %.1f s; %zu violation%s of the kernel's rules</p>",
        strcmp(validate_text(r, "status"), "PASS") ? "bad" : "ok", validate_text(r, "status"),
        (int)validate_number(c, "pass"), (int)validate_number(c, "fail"), (int)validate_number(c, "skip"),
        validate_number(r, "seconds"), violations, violations == 1 ? "" : "s");
    failures(b, r);
}

static void record_row(struct strbuf *b, const char *label, const char *value)
{
    strbuf_printf(b, "<dt>%s</dt><dd>", label);
    page_text_in(b, "", *value ? value : "-", "</dd>");
}

static void record(struct strbuf *b, const json_t *r)
{
    const json_t *t, *adapter = NULL, *m = json_object_get(r, "baseline");
    char text[200];
    size_t i;

    json_array_foreach(json_object_get(r, "tests"), i, t)
        if (!adapter && json_is_object(json_object_get(t, "adapter")))
            adapter = json_object_get(t, "adapter");
    page_card(b, NULL, "Record", NULL);
    strbuf_puts(b, "<dl>");
    record_row(b, "Date", validate_text(r, "date"));
    record_row(b, "Commit", validate_text(r, "commit"));
    record_row(b, "Driver package", validate_text(r, "version"));
    snprintf(text, sizeof(text), "VID=%s DID=%s", validate_text(adapter, "vid"),
             validate_text(adapter, "did"));
    record_row(b, "Device", text);
    record_row(b, "Session",
               json_is_true(json_object_get(r, "sim")) ? "sim: virtual time, modelled executor" : "live");
    record_row(b, "Executor",
               *validate_text(r, "device") ? validate_text(r, "device") : "modelled timing, nothing drawn");
    record_row(b, "Command", validate_text(r, "command"));
    snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(json_object_get(r, "seed")));
    record_row(b, "Seed", text);
    if (json_is_object(m)) {
        snprintf(text, sizeof(text), "%.2f presents/s, fences p99 %.2f ms, vblank jitter p99 %.2f ms",
                 validate_number(m, "present_rate_hz"),
                 validate_number(json_object_get(m, "fence_latency_ms"), "p99"),
                 validate_number(json_object_get(m, "vblank_jitter_ms"), "p99"));
        record_row(b, "Baseline", text);
    }
    if (json_is_object(json_object_get(r, "soak")))
        record_row(b, "Soak", validate_text(json_object_get(r, "soak"), "text"));
    strbuf_puts(b, "</dl>");
    page_card_end(b);
}

static void checklist(struct strbuf *b, const json_t *r)
{
    const json_t *s;
    size_t i;

    page_card(b, NULL, "Bring-up checklist", NULL);
    page_table(b, "l:result|l:step");
    json_array_foreach(json_object_get(r, "checklist"), i, s) {
        result_cell(b, validate_text(s, "result"));
        page_text_in(b, "<td class='l wrap'>", validate_text(s, "step"), "<div class='dim small'>");
        page_text_in(b, "", validate_text(s, "evidence"), "</div></tr>");
    }
    page_table_end(b);
    page_card_end(b);
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
    strbuf_puts(b, "<figure>");
    chart_begin(b, 480, 150, title);
    chart_line(b, "line", "M40 8V124H474");
    chart_text(b, 36, 14, "end", "", "%.3g", max);
    chart_text(b, 36, 126, "end", "", "0");
    chart_text(b, 474, 140, "end", "", "%zu samples", n);
    if (due > 0)
        chart_line(b, "ok dash", "M40 %.1fH474", 124 - 116 * due / max);
    strbuf_puts(b, "<path class='line c-busy' stroke-width=1.3 d='");
    json_array_foreach(values, i, v)
        strbuf_printf(b, "%c%.1f %.1f", i ? 'L' : 'M', 40 + 434.0 * (double)i / (double)(n - 1),
                      124 - 116 * json_number_value(v) / max);
    strbuf_puts(b, "'/>");
    chart_end(b);
    page_text_in(b, "<figcaption>", title, "");
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
    strbuf_puts(b, "<figure>");
    chart_begin(b, 480, 150, title);
    chart_line(b, "line", "M40 124H474");
    chart_text(b, 36, 14, "end", "", "%u", most);
    chart_text(b, 40, 140, "start", "", "0");
    chart_text(b, 474, 140, "end", "", "%.3g ms", max);
    for (unsigned k = 0; k < BARS; k++)
        if (count[k])
            chart_rect(b, 40 + k * 18.0, 124 - 116.0 * count[k] / most, 16, 116.0 * count[k] / most, "busy",
                       NULL);
    chart_end(b);
    page_text_in(b, "<figcaption>", title, "</figcaption></figure>");
}

const json_t *validate_find_test(const json_t *r, const char *name)
{
    const json_t *t;
    size_t i;

    json_array_foreach(json_object_get(r, "tests"), i, t)
        if (!strcmp(validate_text(t, "test_name"), name))
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

    page_table(b, "l:Metric|avg|p50|p95|p99|max|l:");
    strbuf_printf(
        b,
        "<tr><td class=l>Present rate, 1/s<td>%.2f<td><td><td><td><td class='l dim'>near the refresh rate when paced</tr><tr><td class=l>Command throughput, bytes/s<td>%.0f<td><td><td><td><td class='l dim'>finds command storms</tr><tr><td class=l>Vblank rate, Hz<td>%.2f<td><td><td><td><td></tr><tr><td class=l>Resets in this stretch<td>%.0f<td><td><td><td><td class='l dim'>0 when stable</tr>",
        validate_number(m, "present_rate_hz"), validate_number(m, "command_bytes_per_second"),
        validate_number(m, "vblank_rate_hz"), validate_number(m, "reset_count"));
    for (int i = 0; i < 4; i++) {
        const json_t *v = json_object_get(m, rows[i].key);
        strbuf_printf(
            b, "<tr><td class=l>%s<td>%.3f<td>%.3f<td>%.3f<td>%.3f<td>%.3f<td class='l dim'>%s</tr>",
            rows[i].label, validate_number(v, "avg"), validate_number(v, "p50"), validate_number(v, "p95"),
            validate_number(v, "p99"), validate_number(v, "max"), rows[i].why);
    }
    page_table_end(b);
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

    page_card(b, NULL, "Over time", NULL);
    strbuf_puts(b, "<div class=charts>");
    graph(b, json_object_get(json_object_get(m, "vblank_interval_ms"), "values"), "vblank interval in ms",
          1e3 / 60);
    graph(b,
          json_object_get(json_object_get(validate_find_test(r, "dwm_flush_pacing"), "timing"), "samples_ms"),
          "composed frames in ms", 1e3 / 60);
    histogram(b, json_object_get(json_object_get(m, "fence_latency_ms"), "values"),
              "fence latency: how many submissions took how long");
    soak_graph(b, r, "memory_mib", "soak: memory in MiB, minute by minute");
    soak_graph(b, r, "executor_mib", "soak: the executor's memory in MiB");
    strbuf_puts(b, "</div>");
    page_card_end(b);
}

static void baseline(struct strbuf *b, const json_t *r)
{
    const json_t *m = json_object_get(r, "baseline");

    page_card(b, "baseline", "Baseline", NULL);
    if (!json_is_object(m)) {
        strbuf_puts(b, "not measured: the stack did not render");
        page_card_end(b);
        return;
    }
    strbuf_printf(b, "<p class=dim>%.1f s of a client that draws and presents at vsync.</p>",
                  validate_number(m, "seconds"));
    baseline_rows(b, m);
    page_card_end(b);
}

static bool put_picture(struct strbuf *b, const char *path, const char *caption)
{
    FILE *f = fopen(path, "re");
    uint8_t *data = malloc(4 << 20);
    size_t n = f && data ? fread(data, 1, 4 << 20, f) : 0;

    if (f)
        fclose(f);
    if (n)
        page_picture(b, data, n, caption, caption);
    free(data);
    return n != 0;
}

static void pictures(struct strbuf *b, const json_t *r)
{
    const json_t *t, *a;
    size_t i, k, shown = 0;

    page_card(b, "pictures", "Pictures", NULL);
    strbuf_puts(b, "<div class=pictures>");
    json_array_foreach(json_object_get(r, "tests"), i, t)
        json_array_foreach(json_object_get(t, "artifacts"), k, a) {
            const char *path = json_string_value(a);
            size_t n = strlen(path);
            if (n > 4 && !strcmp(path + n - 4, ".png") && shown < 12 && !strstr(path, "shared"))
                shown += put_picture(b, path, validate_text(t, "test_name"));
        }
    json_array_foreach(json_object_get(r, "pictures"), k, a)
        shown += put_picture(b, validate_text(a, "path"), validate_text(a, "caption"));
    strbuf_puts(b, shown ? "</div>" : "nothing was drawn</div>");
    page_card_end(b);
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

    json_object_foreach(json_object_get(t, "measured"), key, v) {
        strbuf_puts(b, "<span class=dim>");
        for (const char *c = key; *c; c++)
            strbuf_printf(b, "%c", *c == '_' ? ' ' : *c);
        strbuf_printf(b, " <b>%.4g</b></span> ", json_number_value(v));
    }
    page_text(b, validate_text(t, json_is_true(json_object_get(t, "skipped")) ? "skip_reason" : "failure"));
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

    page_card(b, "broken", "Broken on purpose", NULL);
    page_table(b, "l:result|l:test|l:what|l:seen");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const json_t *t = validate_find_test(r, names[i]), *e;
        size_t k;
        if (!t)
            continue;
        result_cell(b, result_of(t));
        strbuf_printf(b, "<td class=l><code>%s</code><td class='l wrap'>", names[i]);
        page_text(b, doc_of(names[i]));
        json_array_foreach(json_object_get(t, "events"), k, e) {
            strbuf_printf(b, "<div class='dim small'>%s %d: ", validate_text(e, "source"),
                          (int)validate_number(e, "id"));
            page_text(b, validate_text(e, "text"));
            strbuf_puts(b, "</div>");
        }
        strbuf_puts(b, "<td class='l wrap dim'>");
        figures(b, t);
        strbuf_puts(b, "</tr>");
    }
    page_table_end(b);
    page_card_end(b);
}

static void events(struct strbuf *b, const json_t *r)
{
    const json_t *e;
    size_t i;

    page_card(b, "events", "Event log", NULL);
    page_table(b, "ms|l:source|id|l:event");
    json_array_foreach(json_object_get(r, "events"), i, e) {
        strbuf_printf(b, "<tr><td>%.1f<td class=l>%s<td>%d<td class='l wrap'>", validate_number(e, "time_ms"),
                      validate_text(e, "source"), (int)validate_number(e, "id"));
        page_text(b, validate_text(e, "text"));
        strbuf_puts(b, "</tr>");
    }
    page_table_end(b);
    page_card_end(b);
}

static void diagnosis(struct strbuf *b, const json_t *r)
{
    const json_t *d;
    size_t i;

    if (!json_array_size(json_object_get(r, "diagnosis")))
        return;
    page_card(b, "diagnosis", "Diagnosis", NULL);
    page_table(b, "l:symptom|l:signal|l:likely causes|l:seen");
    json_array_foreach(json_object_get(r, "diagnosis"), i, d) {
        static const char *const keys[] = {"symptom", "signal", "causes", "evidence"};
        strbuf_puts(b, "<tr>");
        for (int k = 0; k < 4; k++) {
            strbuf_puts(b, "<td class='l wrap'>");
            page_text(b, validate_text(d, keys[k]));
        }
        strbuf_puts(b, "</tr>");
    }
    page_table_end(b);
    page_card_end(b);
}

static void tests(struct strbuf *b, const json_t *r)
{
    const json_t *t;
    size_t i;

    page_card(b, "suite", "Suite", NULL);
    page_table(b, "l:result|l:test|l:what|ms|l:measured");
    json_array_foreach(json_object_get(r, "tests"), i, t) {
        const json_t *timing = json_object_get(t, "timing");
        const char *name = validate_text(t, "test_name");
        result_cell(b, result_of(t));
        strbuf_printf(b, "<td class=l><code>%s</code><td class='l wrap dim'>", name);
        page_text(b, doc_of(name));
        strbuf_printf(b, "<td>%.0f<td class='l wrap dim'>", validate_number(t, "duration_ms"));
        if (json_is_object(timing))
            strbuf_printf(b, "<span class=dim>avg <b>%.3f</b> min <b>%.3f</b> max <b>%.3f</b> ms</span> ",
                          validate_number(timing, "avg_ms"), validate_number(timing, "min_ms"),
                          validate_number(timing, "max_ms"));
        figures(b, t);
        strbuf_puts(b, "</tr>");
    }
    page_table_end(b);
    page_card_end(b);
}

int validate_html(const char *path, const json_t *report, struct error *e)
{
    const struct page page = {.title = "AeroGPU validation"};
    struct strbuf b = {0};
    FILE *f = out_file_whole(path, e);

    if (!f)
        return -EIO;
    page_begin(&b, &page);
    strbuf_puts(&b, "<main>");
    summary(&b, report);
    strbuf_puts(&b, "<div class=two>");
    record(&b, report);
    checklist(&b, report);
    strbuf_puts(&b, "</div>");
    validate_timeline(&b, report);
    graphs(&b, report);
    recovery(&b, report);
    pictures(&b, report);
    baseline(&b, report);
    diagnosis(&b, report);
    events(&b, report);
    tests(&b, report);
    strbuf_puts(&b, "</main>");
    page_end(&b, &page);
    fwrite(strbuf_str(&b), 1, b.len, f);
    const int r = strbuf_failed(&b) ? error_set(e, -ENOMEM, "no memory for the page") : 0;
    strbuf_finish(&b);
    return out_file_close(f, path, r, e);
}
