/* SPDX-License-Identifier: MIT */
/* validate_record.c: the validation record of the checklist's section 0.1, filled in from the report. */
#include "validate.h"

#include <string.h>
#include <sys/utsname.h>

#include "base/strbuf.h"

static const char *text_of(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s ? s : "";
}

static double number_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static const json_t *test_of(const json_t *report, const char *name)
{
    const json_t *t;
    size_t i;

    json_array_foreach(json_object_get(report, "tests"), i, t)
        if (!strcmp(text_of(t, "test_name"), name))
            return t;
    return NULL;
}

static void pacing_table(struct strbuf *b, const json_t *report)
{
    static const char *const names[] = {"wait_vblank_pacing", "vblank_state_sanity", "dwm_flush_pacing"};

    strbuf_puts(
        b, "\nPacing:\n| Test | PASS/FAIL | avg (ms) | min (ms) | max (ms) |\n|---|---:|---:|---:|---:|\n");
    for (int i = 0; i < 3; i++) {
        const json_t *t = test_of(report, names[i]), *timing = json_object_get(t, "timing");
        strbuf_printf(b, "| %s | %s |", names[i],
                      !t                                            ? "not run"
                      : json_is_true(json_object_get(t, "skipped")) ? "SKIP"
                                                                    : text_of(t, "status"));
        if (json_is_object(timing))
            strbuf_printf(b, " %.3f | %.3f | %.3f |\n", number_of(timing, "avg_ms"),
                          number_of(timing, "min_ms"), number_of(timing, "max_ms"));
        else
            strbuf_puts(b, " - | - | - |\n");
    }
}

static void baseline(struct strbuf *b, const json_t *report)
{
    const json_t *m = json_object_get(report, "baseline"), *latency, *depth, *jitter;

    if (!json_is_object(m))
        return;
    latency = json_object_get(m, "fence_latency_ms");
    depth = json_object_get(m, "queue_depth");
    jitter = json_object_get(m, "vblank_jitter_ms");
    strbuf_printf(b, "\nBaseline (%.1f s of a client that presents at vsync):\n", number_of(m, "seconds"));
    strbuf_printf(b, "- Present rate: %.2f /s\n", number_of(m, "present_rate_hz"));
    strbuf_printf(b, "- Fence latency: avg %.3f p95 %.3f p99 %.3f ms\n", number_of(latency, "avg"),
                  number_of(latency, "p95"), number_of(latency, "p99"));
    strbuf_printf(b, "- Queue depth: avg %.2f max %.0f\n", number_of(depth, "avg"), number_of(depth, "max"));
    strbuf_printf(b, "- Command throughput: %.0f bytes/s\n", number_of(m, "command_bytes_per_second"));
    strbuf_printf(b, "- Vblank: %.2f Hz; jitter avg %.3f p99 %.3f max %.3f ms\n",
                  number_of(m, "vblank_rate_hz"), number_of(jitter, "avg"), number_of(jitter, "p99"),
                  number_of(jitter, "max"));
    strbuf_printf(b, "- Resets before the faults were planted: %.0f\n", number_of(m, "reset_count"));
}

/* Every client that there was, and the vblanks of the whole run. */
static void metrics(struct strbuf *b, const json_t *report)
{
    const json_t *m = json_object_get(report, "metrics"), *latency = json_object_get(m, "latency_ms"),
                 *vblank = json_object_get(m, "vblank"), *jitter = json_object_get(vblank, "jitter_ms");

    if (!json_is_object(m))
        return;
    strbuf_puts(b, "\nAll clients of the whole run, faults included (each one's line is in stack.log):\n");
    strbuf_printf(b, "- Submission latency: p50 %.3f p95 %.3f p99 %.3f longest %.3f ms of %.0f\n",
                  number_of(latency, "p50"), number_of(latency, "p95"), number_of(latency, "p99"),
                  number_of(latency, "max"), number_of(latency, "count"));
    strbuf_printf(b, "- Queue depth: at most %.0f of one context\n", number_of(m, "queue_depth_most"));
    strbuf_printf(b, "- Presents: %.0f, %.0f of them late\n", number_of(m, "presents"),
                  number_of(m, "late_presents"));
    strbuf_printf(b, "- Vblanks: %.0f, %.0f of them missed; jitter p99 %.3f longest %.3f ms\n",
                  number_of(vblank, "count"), number_of(vblank, "missed"), number_of(jitter, "p99"),
                  number_of(jitter, "max"));
}

static void head(struct strbuf *b, const json_t *report, const json_t *adapter)
{
    bool sim = json_is_true(json_object_get(report, "sim"));
    struct utsname u;

    uname(&u);
    strbuf_printf(b, "Date: %s\n", text_of(report, "date"));
    strbuf_printf(b, "Repo commit (device, executor, dxgkrnl and drivers): %s\n", text_of(report, "commit"));
    strbuf_printf(b, "Driver package version: %s\n", text_of(report, "version"));
    strbuf_printf(b, "Device HWID: VID=%s / DID=%s (%s)\n", text_of(adapter, "vid"), text_of(adapter, "did"),
                  text_of(adapter, "description"));
    strbuf_puts(b, "Test signing: does not apply (dxgkrnl in user space)\n");
    strbuf_printf(b, "Session: %s\n", sim ? "sim, virtual time" : "live");
    strbuf_printf(b, "Executor: %s\n",
                  *text_of(report, "device") ? text_of(report, "device") : "modelled timing, nothing drawn");
    strbuf_printf(b, "Host OS: %s %s %s\n", u.sysname, u.release, u.machine);
    strbuf_printf(b, "\nTest suite:\n- command: %s\n- seed: %lld\n", text_of(report, "command"),
                  (long long)json_integer_value(json_object_get(report, "seed")));
}

static void artifacts(struct strbuf *b, const json_t *report)
{
    const char *out = text_of(report, "out");
    const json_t *t, *a;
    size_t i, k, pictures = 0, dumps = 0;

    json_array_foreach(json_object_get(report, "tests"), i, t)
        json_array_foreach(json_object_get(t, "artifacts"), k, a) {
            pictures += strstr(json_string_value(a), ".png") != NULL;
            dumps += strstr(json_string_value(a), "_cmd_") != NULL;
        }
    strbuf_printf(b, "\nArtifacts collected:\n- report.json: %s/report.json, report.xml, report.html\n", out);
    strbuf_printf(b, "- event log: %s/events.log; what the stack logged: %s/stack.log\n", out, out);
    if (json_is_true(json_object_get(report, "sim")))
        return;
    strbuf_printf(b, "- per-test JSON, stdout and stderr: %s/logs/\n", out);
    strbuf_printf(b, "- pictures: %zu in %s/logs/\n", pictures, out);
    strbuf_printf(b, "- dbgctl snapshots and submissions of tests that failed: %zu streams%s%s\n", dumps,
                  dumps ? " in " : "", dumps ? "logs/" : "");
    strbuf_printf(b, "- state at the end: %zu dbgctl snapshots in %s/logs/end_*.txt\n",
                  json_array_size(json_object_get(report, "snapshots")), out);
}

char *validate_record(const json_t *report)
{
    struct strbuf b = {0};
    const json_t *counts = json_object_get(report, "counts"), *e, *adapter = NULL, *t;
    size_t i;
    char *out;

    json_array_foreach(json_object_get(report, "tests"), i, t)
        if (!adapter && json_is_object(json_object_get(t, "adapter")))
            adapter = json_object_get(t, "adapter");
    head(&b, report, adapter);
    strbuf_puts(&b, "\nChecklist:\n");
    json_array_foreach(json_object_get(report, "checklist"), i, e)
        strbuf_printf(&b, "- %s: %s (%s)\n", text_of(e, "step"), text_of(e, "result"),
                      text_of(e, "evidence"));
    if (json_is_object(json_object_get(report, "soak")))
        strbuf_printf(&b, "\nSoak: %s\n", text_of(json_object_get(report, "soak"), "text"));
    strbuf_printf(&b, "\nResults summary: PASS=%d FAIL=%d SKIP=%d\n", (int)number_of(counts, "pass"),
                  (int)number_of(counts, "fail"), (int)number_of(counts, "skip"));
    json_array_foreach(json_object_get(report, "tests"), i, t) {
        if (!strcmp(text_of(t, "status"), "FAIL"))
            strbuf_printf(&b, "- FAIL %s: %s\n", text_of(t, "test_name"), text_of(t, "failure"));
        else if (json_is_true(json_object_get(t, "skipped")))
            strbuf_printf(&b, "- SKIP %s: %s\n", text_of(t, "test_name"), text_of(t, "skip_reason"));
    }
    pacing_table(&b, report);
    baseline(&b, report);
    metrics(&b, report);
    artifacts(&b, report);
    strbuf_puts(&b, "\nEvents:\n");
    json_array_foreach(json_object_get(report, "events"), i, e)
        strbuf_printf(&b, "- %8.1f ms %s %d: %s\n", number_of(e, "time_ms"), text_of(e, "source"),
                      (int)number_of(e, "id"), text_of(e, "text"));
    strbuf_puts(&b, "\nDiagnosis:\n");
    json_array_foreach(json_object_get(report, "diagnosis"), i, e)
        strbuf_printf(&b, "- %s (%s)\n    seen: %s\n", text_of(e, "symptom"), text_of(e, "signal"),
                      text_of(e, "evidence"));
    out = strbuf_failed(&b) ? NULL : strdup(strbuf_str(&b));
    strbuf_finish(&b);
    return out;
}
