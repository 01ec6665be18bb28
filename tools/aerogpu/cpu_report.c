/* SPDX-License-Identifier: MIT */
/* cpu_report.c: what the processors did, from a recording or a Windows event trace: was the GPU hung, or was the CPU asleep? */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file/out.h"
#include "base/utf8.h"
#include "cpu/model/dump.h"
#include "cpu/report/report.h"
#include "report/json_show.h"
#include "file_kinds.h"

struct report_options {
    const char *file, *html, *perfetto, *with;
    bool json, save;
    uint64_t from_ns, to_ns, stuck_ns;
};

/* Writes a whole file; "-" is standard output. */
static int write_file(const char *path, const char *text, size_t size, struct error *e)
{
    FILE *f = !strcmp(path, "-") ? stdout : out_file_whole(path, e);

    if (!f)
        return e->code;
    fwrite(text, 1, size, f);
    return f == stdout ? 0 : out_file_close(f, path, 0, e);
}

static int write_perfetto(struct cpu_trace *t, const struct report_options *o, struct error *e)
{
    FILE *f = out_file_whole(o->perfetto, e);

    if (!f)
        return e->code;
    return out_file_close(f, o->perfetto, cpu_perfetto_write(t, f, o->from_ns, o->to_ns, e), e);
}

static int print_report(struct cpu_report *report, const struct report_options *o, struct error *e)
{
    struct strbuf out = {0};
    int r = 0;

    if (o->html) {
        cpu_report_html(report, &out);
        r = strbuf_failed(&out) ? error_set(e, -ENOMEM, "no memory for the page")
                                : write_file(o->html, strbuf_str(&out), out.len, e);
    }
    if (!r && o->json) {
        json_t *j = cpu_report_json(report);

        if (!j || json_show(j, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9)))
            r = error_set(e, -ENOMEM, "no memory for the JSON");
        puts("");
        json_decref(j);
    } else if (!r && !o->html && !o->perfetto) {
        struct strbuf text = {0};

        cpu_report_text(report, &text);
        strbuf_clear(&out);
        utf8_visible(&out, strbuf_str(&text), text.len, true);
        strbuf_finish(&text);
        fputs(strbuf_str(&out), stdout);
    }
    strbuf_finish(&out);
    return r;
}

static int run_report(const struct report_options *opt)
{
    struct report_options o = *opt;
    struct cpu_verdict verdict;
    struct cpu_window window;
    struct cpu_report report;
    struct cpu_trace trace;
    struct error e = {0};
    int r = cpu_trace_open(&trace, o.file, &e);

    if (r)
        return command_error(&e);
    if (o.from_ns || o.to_ns) {
        uint64_t first = cpu_trace_first_ns(&trace);
        o.from_ns += first;
        o.to_ns = o.to_ns ? o.to_ns + first : UINT64_MAX;
    } else {
        o.to_ns = UINT64_MAX;
    }
    if (o.with)
        r = cpu_window_read(&window, o.with, &e);
    if (!r && o.with)
        r = cpu_verdict_make(&verdict, &trace, &window, o.stuck_ns, &e);
    if (!r && o.save)
        r = cpu_verdict_save(&verdict, o.with, &e);
    if (!r)
        r = cpu_report_init(&report, &trace, o.from_ns, o.to_ns, o.stuck_ns, &e);
    if (!r) {
        report.verdict = o.with ? &verdict : NULL;
        r = (opt->from_ns || opt->to_ns) && cpu_report_seconds(&report) <= 0
                ? error_set(&e, -ENODATA, "%s: no event is between --from and --to", o.file)
                : print_report(&report, &o, &e);
        cpu_report_finish(&report);
    }
    if (!r && o.perfetto)
        r = write_perfetto(&trace, &o, &e);
    if (!r && (r = cpu_trace_whole(&trace, &e)))
        error_prefix(&e, "%s", o.file); /* what can be read was reported all the same */
    cpu_trace_close(&trace);
    return r ? command_error(&e) : EXIT_OK;
}

static struct report_options options;
static struct options_row rows[] = {
    OPT_FLAG("json", 0, &options.json,
             "print as JSON; of a dump every table, of processors with times in nanoseconds"),
    OPT_TEXT("html", 0, &options.html, "PAGE", "write the report as one page that needs no other file"),
    OPT_TEXT("perfetto", 0, &options.perfetto, "OUT",
             "write time lines for the Perfetto or Chrome trace viewer"),
    OPT_TIME("from", 0, &options.from_ns, NSEC_PER_SEC, 1000000, "SECONDS",
             "only from this time on, counted from the first event"),
    OPT_TIME("to", 0, &options.to_ns, NSEC_PER_SEC, 1000000, "SECONDS", "only up to this time"),
    OPT_TEXT(
        "with", 0, &options.with, "WINDOW",
        "was the GPU hung in this span, or was it the CPUs? WINDOW is a crash dump, or a small JSON file (docs/cpu.md); the answer comes first in every format"),
    OPT_FLAG("save", 0, &options.save,
             "with --with DUMP: keep the answer in the dump, whose report then shows it"),
    OPT_TIME("stuck", 0, &options.stuck_ns, NSEC_PER_MSEC, 1000000, "MS",
             "an IPI that waits for so long is stuck (10); less means little in a virtual machine"),
    OPT_END};

static int run(enum file_kind kind, char *const *files, int num_files)
{
    struct report_options o = options;
    struct error e = {0};

    if (o.save && !o.with)
        return usage_error("--save goes with --with DUMP");
    if (o.to_ns && o.to_ns <= o.from_ns)
        return usage_error("--to is not behind --from: nothing is in between");
    o.file = files[0];
    if (o.with && out_file_spare(o.with, &e))
        return command_error(&e);
    return run_report(&o);
}

const struct file_action cpu_report = {
    "recordings of processors (.cputrace) and Windows event traces (.etl):", rows, run};
