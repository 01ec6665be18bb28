/* aerogpu cpu: was the GPU hung, or was the CPU asleep? (src/cpu) */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/out_file.h"
#include "cpu/capture/record.h"
#include "cpu/report/report.h"
#include "cpu/model/verdict.h"
#include "cpu/report/watch.h"

static atomic_int stop;

static void on_signal(int sig)
{
    atomic_store(&stop, sig);
}

/* What ends a recording or the live view in order; whatever else kills them, the guard cleans up. */
static void catch_signals(void)
{
    const struct sigaction sa = {.sa_handler = on_signal};

    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGHUP, &sa, NULL);
}

static int fail(const struct error *e, int code)
{
    fprintf(stderr, "aerogpu cpu: %s\n", e->text);
    return code == -EBADMSG || code == -EINVAL || code == -ENOENT || code == -EISDIR ? EXIT_INPUT
           : code == -EIO                                                            ? EXIT_FAILED
                                                                                     : EXIT_ENV;
}

enum { MAX_SECONDS = 1000000 };

static int cpu_record(int argc, char **argv)
{
    struct cpu_record_run run = {.path = "aerogpu.cputrace", .stop = &stop};
    struct error e = {0};
    int r =
        command_line(
            &(struct options){
                .rows =
                    (struct options_row[]){
                        OPT_TIME(NULL, 'd', &run.duration_ns, NSEC_PER_SEC, MAX_SECONDS, "SECONDS",
                                 "stop after so long"),
                        OPT_TEXT(NULL, 'o', &run.path, "FILE", "where to; else aerogpu.cputrace"),
                        OPT_U32(NULL, 'b', &run.params.buffer_kb, 16, 4u << 20, "KIB",
                                "kernel buffer for each CPU; 8192. Larger ones lose fewer events under load"),
                        OPT_FLAG(
                            "sched", 0, &run.params.sched,
                            "thread switches and wake-ups too: who could run and did not; verdicts need it"),
                        OPT_FLAG(
                            "timers", 0, &run.params.timers,
                            "timer interrupts and high-resolution timers too: lateness, complete wake-up causes"),
                        OPT_END},
                .operands = "[-- COMMAND [ARGS...]]",
                .max = -1,
                .stops = true,
                .about =
                    "Records what every CPU does: idle states, inter-processor interrupts, queued calls, interrupts, fences. Ends with COMMAND, after SECONDS, or on Ctrl-C, whichever comes first. Needs root. It uses a tracing instance of its own: the system's tracer is not touched, and nothing is left behind, also after kill -9 (the file is then readable up to a quarter of a second before).\n\n"
                    "The recording is checked against the kernel's own counters at the end. A CPU whose idle states the trace does not show is named, and never used for a conclusion.",
                .exits =
                    {"recorded",
                     "COMMAND failed or the file cannot be written", [EXIT_ENV] = "no root or no tracefs"},
                .examples = "aerogpu cpu record -d 5\n"
                            "aerogpu cpu record --sched --timers -o hang.cputrace -- ./my-game\n",
                .see = "aerogpu-cpu-report(1), docs/cpu.md"},
            argc, argv);

    if (r)
        return r < 0 ? EXIT_OK : r;
    if (optind < argc)
        run.command = argv + optind;
    catch_signals();
    if (!run.command && !run.duration_ns && isatty(STDERR_FILENO))
        fprintf(stderr, "recording to %s; Ctrl-C ends it\n", run.path);
    r = cpu_record_run(&run, &e);
    if (r)
        return fail(&e, r);
    printf("%s: %llu events, %.1f MB", run.path, (unsigned long long)run.events, (double)run.bytes / 1e6);
    printf(run.lost ? ", %llu events LOST\n" : ", none lost\n", (unsigned long long)run.lost);
    if (run.blind_cpus)
        printf("the idle trace of %u CPU%s is incomplete; `aerogpu cpu report %s` says which\n",
               run.blind_cpus, run.blind_cpus == 1 ? "" : "s", run.path);
    if (run.command && WIFEXITED(run.command_status) && WEXITSTATUS(run.command_status))
        printf("%s ended with status %d\n", run.command[0], WEXITSTATUS(run.command_status));
    else if (run.command && WIFSIGNALED(run.command_status))
        printf("%s was ended by signal %d (%s)\n", run.command[0], WTERMSIG(run.command_status),
               strsignal(WTERMSIG(run.command_status)));
    return run.command && run.command_status ? EXIT_FAILED : EXIT_OK;
}

struct report_options {
    const char *file, *html, *perfetto, *with;
    bool json, save;
    uint64_t from_ns, to_ns, stuck_ns;
};

/* Writes a whole file; "-" is standard output. */
static int write_file(const char *path, const char *text, size_t size, struct error *e)
{
    FILE *f = !strcmp(path, "-") ? stdout : out_file_open(path, e);

    if (!f)
        return -EIO;
    fwrite(text, 1, size, f);
    return f == stdout ? 0 : out_file_close(f, path, 0, e);
}

static int write_perfetto(struct cpu_trace *t, const struct report_options *o, struct error *e)
{
    FILE *f = out_file_open(o->perfetto, e);

    if (!f)
        return -EIO;
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
        char *text = j ? json_dumps(j, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) : NULL;
        r = text ? 0 : error_set(e, -ENOMEM, "no memory for the JSON");
        if (text)
            puts(text);
        free(text);
        json_decref(j);
    } else if (!r && !o->html && !o->perfetto) {
        strbuf_clear(&out);
        cpu_report_text(report, &out);
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
        return fail(&e, r);
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
        r = print_report(&report, &o, &e);
        cpu_report_finish(&report);
    }
    if (!r && o.perfetto)
        r = write_perfetto(&trace, &o, &e);
    cpu_trace_close(&trace);
    return r ? fail(&e, r) : EXIT_OK;
}

static int cpu_report_command(int argc, char **argv)
{
    struct report_options o = {0};
    int r =
        command_line(
            &(struct options){
                .rows =
                    (struct options_row[]){
                        OPT_FLAG("json", 0, &o.json,
                                 "as one JSON object on standard output; times are nanoseconds"),
                        OPT_TEXT("html", 0, &o.html, "PAGE", "as one HTML page that needs no other file"),
                        OPT_TEXT("perfetto", 0, &o.perfetto, "OUT",
                                 "time lines for the Perfetto or Chrome trace viewer"),
                        OPT_TIME("from", 0, &o.from_ns, NSEC_PER_SEC, MAX_SECONDS, "SECONDS",
                                 "only from this time on, counted from the first event"),
                        OPT_TIME("to", 0, &o.to_ns, NSEC_PER_SEC, MAX_SECONDS, "SECONDS",
                                 "only up to this time"),
                        OPT_TEXT(
                            "with", 0, &o.with, "WINDOW",
                            "was the GPU hung in this span, or was it the CPUs? WINDOW is a crash dump of `aerogpu dump`, or a small JSON file, see man aerogpu-cpu-report; the answer comes first in every format"),
                        OPT_FLAG(
                            "save", 0, &o.save,
                            "with --with DUMP: keeps the answer and its evidence in the dump, in place of earlier ones; `aerogpu report DUMP` shows it"),
                        OPT_TIME(
                            "stuck", 0, &o.stuck_ns, NSEC_PER_MSEC, MAX_SECONDS, "MS",
                            "an IPI that waits for so long is stuck; 10. Less means little in a virtual machine"),
                        OPT_END},
                .operands = "FILE",
                .min = 1,
                .max = 1,
                .wrong = "give one recording",
                .about =
                    "Says what the processors did: how complete the recording is, utilization, idle states and how well they were chosen, wake-up causes, who waited for whose interrupt, late timers, and times when all CPUs but one stopped. FILE is a recording of `aerogpu cpu record`, or a Windows .etl file.\n\n"
                    "The recording is first compared with the kernel's own counters. A CPU that the trace does not show has a star at its utilization, which then comes from those counters. Times are counted from the first event; \"n/a\" and \"not available\" mean that the machine or the recording does not say.",
                .exits = {"reported", "an output cannot be written", [EXIT_INPUT] = "FILE or WINDOW is bad",
                          [EXIT_ENV] = "no memory"},
                .examples = "aerogpu cpu report aerogpu.cputrace | less\n"
                            "aerogpu cpu report hang.cputrace --with hang.aerogpudump --html hang.html\n",
                .see =
                    "aerogpu-cpu-record(1), docs/cpu.md (what each figure means, the rules of the verdicts)"},
            argc, argv);

    if (r)
        return r < 0 ? EXIT_OK : r;
    if (o.save && !o.with)
        return usage_error("--save goes with --with DUMP");
    o.file = argv[optind];
    return run_report(&o);
}

static int watch_loop(struct cpu_watch *w, uint64_t interval_ns, uint64_t frames, struct error *e)
{
    const bool tty = isatty(STDOUT_FILENO);
    struct strbuf frame = {0};
    int r = 0;

    for (uint64_t i = 0; !r && (!frames || i < frames) && !atomic_load(&stop); i++) {
        struct timespec ts = {(time_t)(interval_ns / NSEC_PER_SEC), (long)(interval_ns % NSEC_PER_SEC)};
        nanosleep(&ts, NULL);
        if (atomic_load(&stop))
            break;
        strbuf_clear(&frame);
        r = cpu_watch_frame(w, &frame, e);
        if (!r)
            printf("%s%s%s", tty ? "\033[H\033[J" : "", strbuf_str(&frame), tty ? "" : "\n");
        fflush(stdout);
    }
    strbuf_finish(&frame);
    return r;
}

static int cmd_watch(int argc, char **argv)
{
    struct cpu_record_params params = {0};
    uint64_t interval_ns = NSEC_PER_SEC;
    uint64_t frames = 0;
    struct cpu_watch *w;
    struct error e = {0};
    bool no_timers = false;
    int r = command_line(
        &(struct options){
            .rows = (struct options_row[]){OPT_TIME(NULL, 'i', &interval_ns, NSEC_PER_SEC, MAX_SECONDS,
                                                    "SECONDS", "between two frames; 1"),
                                           OPT_U64(NULL, 'n', &frames, 1, UINT32_MAX, "FRAMES",
                                                   "stop after so many; else it goes on until Ctrl-C"),
                                           OPT_FLAG("no-timers", 0, &no_timers,
                                                    "without timer interrupts: lighter, but no lateness"),
                                           OPT_END},
            .about =
                "Shows what every CPU does, live: idle state and for how long, load, interrupts, IPIs that wait for an answer, how late timers fire. Needs root. A CPU whose idle states the trace does not show is said to be so after a few frames.",
            .exits = {"done", [EXIT_ENV] = "no root or no tracefs"},
            .see = "aerogpu-cpu-record(1), docs/cpu.md"},
        argc, argv);

    if (r)
        return r < 0 ? EXIT_OK : r;
    params.timers = !no_timers;
    catch_signals();
    r = cpu_watch_create(&w, &params, &e);
    if (r)
        return fail(&e, r);
    r = watch_loop(w, interval_ns, frames, &e);
    cpu_watch_destroy(w);
    return r ? fail(&e, r) : EXIT_OK;
}

struct import_print {
    struct etl_file *f;
    struct strbuf line;
    bool decoded_only;
};

static void print_event(void *ctx, const struct etl_record *r, uint16_t kind, uint16_t cpu)
{
    struct import_print *p = ctx;
    const struct etl_kind *k = &p->f->kinds[kind];
    char name[160];

    if (p->decoded_only && !k->event && k->header != ETL_TRACELOGGING)
        return;
    strbuf_clear(&p->line);
    etl_kind_name(p->f, k, name, sizeof(name));
    strbuf_printf(&p->line, "%.7f CPU %u %d/%d %s  ", (double)etl_ns(p->f, r->time) / 1e9, cpu, r->pid,
                  r->tid, name);
    etl_print(p->f, k, r, &p->line);
    puts(strbuf_str(&p->line));
}

static int by_count(const void *a, const void *b)
{
    const struct etl_kind *x = *(struct etl_kind *const *)a, *y = *(struct etl_kind *const *)b;

    return (x->count < y->count) - (x->count > y->count);
}

static void count_event(void *ctx, const struct etl_record *r, uint16_t kind, uint16_t cpu)
{
}

static void print_kinds(struct etl_file *f)
{
    struct etl_kind **order = calloc(f->num_kinds + 1, sizeof(*order));
    uint64_t decoded = 0;
    char name[160];

    for (uint32_t i = 0; order && i < f->num_kinds; i++) {
        order[i] = &f->kinds[i];
        if (f->kinds[i].event || f->kinds[i].header == ETL_TRACELOGGING)
            decoded += f->kinds[i].count;
    }
    printf("%llu events in %u buffers, %u processors, %u kinds; %llu events have a known layout\n",
           (unsigned long long)f->events, f->num_buffers, f->num_cpus, f->num_kinds,
           (unsigned long long)decoded);
    printf("bad events: %llu, bad buffers: %llu, lost by the system: %u\n", (unsigned long long)f->bad_events,
           (unsigned long long)f->bad_buffers, f->events_lost);
    for (uint32_t i = 0; i < cpu_notes_kept(&f->notes); i++)
        printf("note: %s\n", f->notes.text[i]);
    if (order)
        qsort(order, f->num_kinds, sizeof(*order), by_count);
    for (uint32_t i = 0; order && i < f->num_kinds; i++) {
        etl_kind_name(f, order[i], name, sizeof(name));
        printf("%12llu  %s\n", (unsigned long long)order[i]->count, name);
    }
    if (f->kinds_dropped)
        printf("%12llu  of kinds beyond the first %d\n", (unsigned long long)f->kinds_dropped, ETL_MAX_TYPES);
    free(order);
}

static int cmd_import(int argc, char **argv)
{
    struct import_print p = {0};
    struct etl_file f;
    struct error e = {0};
    bool events = false;
    int r = command_line(
        &(struct options){
            .rows = (struct options_row[]){OPT_FLAG("events", 0, &events,
                                                    "print every event with its fields, buffer after buffer"),
                                           OPT_FLAG("decoded", 0, &p.decoded_only,
                                                    "with --events: only those whose layout is known"),
                                           OPT_END},
            .operands = "FILE.etl",
            .min = 1,
            .max = 1,
            .wrong = "give one .etl file",
            .about =
                "Reads a Windows event trace and says what is in it: every kind of event with its number, those that are not decoded too. `aerogpu cpu report FILE.etl` analyses it.",
            .exits = {"every record is good", [EXIT_INPUT] =
                                                  "there are bad records, or it is not an .etl file"},
            .see = "aerogpu-cpu-report(1), docs/cpu.md"},
        argc, argv);

    if (r)
        return r < 0 ? EXIT_OK : r;
    r = etl_open(&f, argv[optind], &e);
    if (r)
        return fail(&e, r);
    p.f = &f;
    etl_each(&f, events ? print_event : count_event, &p);
    if (!events)
        print_kinds(&f);
    r = f.bad_events || f.bad_buffers ? EXIT_INPUT : EXIT_OK;
    strbuf_finish(&p.line);
    etl_close(&f);
    return r;
}

static const struct options_command commands[] = {
    {"record", "record this machine (root)", cpu_record},
    {"report", "what a recording says", cpu_report_command},
    {"watch", "the processors live (root)", cmd_watch},
    {"import", "what a Windows .etl file holds", cmd_import},
};

int cmd_cpu(int argc, char **argv)
{
    int code = argc > 1 ? command_run("aerogpu cpu", commands, sizeof(commands) / sizeof(commands[0]),
                                      argc - 1, argv + 1)
                        : -1;

    return code >= 0
               ? code
               : command_group(
                     &(struct options){
                         .commands = commands,
                         .num_commands = sizeof(commands) / sizeof(commands[0]),
                         .about =
                             "Was the GPU hung, or was the CPU asleep? Records what the processors do, explains recordings and Windows event traces, and judges a span in which a GPU seemed to hang.",
                         .examples =
                             "aerogpu cpu record -d 5 && aerogpu cpu report aerogpu.cputrace | less\n",
                         .see = "aerogpu-cpu-record(1), aerogpu-cpu-report(1), docs/cpu.md"},
                     argc, argv);
}
