/* SPDX-License-Identifier: MIT */
/* aerogpu validate: see validate.h. */
#include "commands.h"
#include "commit.h"
#include "diagnose.h"
#include "validate.h"
#include "validate_sim.h"
#include "validate_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/file/out.h"
#include "base/log.h"
#include "base/program.h"
#include "base/utf8.h"
#include "dxgkrnl/kernel/lastwords.h"
#include "report/json_show.h"
#include "expect.h"
#include "file_kinds.h"
#include "runner.h"
#include "suite.h"

struct run {
    struct validate_options o;
    struct validate_host host;
    struct sim_suite sim;
    unsigned seen_events, failed_ddis; /* the second: before the test that runs */
    struct sampler *sampler;           /* while tdr_recovery runs */
    char command[256];                 /* this one, for the record */
    char bin_dir[PATH_MAX], dbgctl[PATH_MAX], logs[PATH_MAX];
    json_t *report, *steps;
    struct test_results results;
    unsigned failures, violations_said;
    double start_ms;
};

/* What is known so far, a line of JSON each, for the one that judges when this process ends in the middle. */
static void so_far_path(const struct run *r, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/so_far.jsonl", r->o.out);
}

static void keep_so_far(const struct run *r, json_t *line)
{
    char path[PATH_MAX];
    FILE *f;

    so_far_path(r, path);
    f = dxgk_lastwords_watched() ? fopen(path, "ae") : NULL;
    if (f) {
        json_dumpf(line, f, JSON_COMPACT);
        fputc('\n', f);
        fclose(f);
    }
    json_decref(line);
}

static double now_ms(void)
{
    return (double)clock_now(&(struct clock){0}) / 1e6;
}

/* In colour where a person looks at it (https://no-color.org). */
static void put_mark(const char *indent, const char *mark)
{
    const char *no = getenv("NO_COLOR");
    const char *colour = !strcmp(mark, "ok") ? "32" : !strcmp(mark, "FAIL") ? "1;31" : "33";

    if (isatty(STDOUT_FILENO) && !(no && *no))
        printf("%s\033[%sm%-4s\033[0m", indent, colour, mark);
    else
        printf("%s%-4s", indent, mark);
}

static void say(const struct run *r, const char *mark, const char *name, const char *text, double ms)
{
    if (r->o.json)
        return;
    put_mark("  ", mark);
    printf("  %-30s %s", name, text ? text : "");
    if (ms > 0)
        printf("%s%.0f ms", text && *text ? "  " : "", ms);
    putchar('\n');
    fflush(stdout);
}

/* What a test measured, for the line that is printed of it. */
static void figure(json_t *details, char *text, size_t size)
{
    const json_t *t = json_object_get(details, "timing"), *v;
    const char *key;
    size_t n = 0;

    *text = '\0';
    if (json_is_object(t))
        n += (size_t)snprintf(text, size, "avg %.3f max %.3f ms ",
                              json_number_value(json_object_get(t, "avg_ms")),
                              json_number_value(json_object_get(t, "max_ms")));
    json_object_foreach(json_object_get(details, "measured"), key, v)
        if (n + 40 < size)
            n += (size_t)snprintf(text + n, size - n, "%s %.4g ", key, json_number_value(v));
}

/* To a test that failed, which DDI has failed meanwhile. That may be the reason, or what the test wants. */
static void say_failed_ddi(struct run *r, struct test_result *result)
{
    char text[200] = "";
    unsigned n = dxgk_failed_ddis(stack_dxgk(r->host.stack), text, sizeof(text));

    if (result && result->status == TEST_FAIL && n != r->failed_ddis && n)
        snprintf(result->why + strlen(result->why), sizeof(result->why) - strlen(result->why),
                 "; meanwhile %s", text);
    r->failed_ddis = n;
}

static void progress(void *ctx, const char *name, unsigned index, unsigned total, struct test_result *result)
{
    struct run *r = ctx;
    char text[200];

    (void)index;
    (void)total;
    if (!strcmp(name, "tdr_recovery")) {
        if (!result)
            r->sampler = sampler_start(&r->host);
        else if (r->sampler)
            json_object_set_new(result->details, "sampler", sampler_stop(r->sampler));
        if (result)
            r->sampler = NULL;
    }
    say_failed_ddi(r, result);
    keep_so_far(r, result ? test_result_json(result) : json_pack("{s:s}", "running", name));
    if (!result) {
        if (!r->o.json && isatty(1)) {
            printf("  ....  %s\r", name);
            fflush(stdout);
        }
        return;
    }
    figure(result->details, text, sizeof(text));
    if (result->status == TEST_PASS)
        say(r, "ok", name, text, result->duration_ms);
    else
        say(r, result->status == TEST_FAIL ? "FAIL" : "skip", name, result->why, 0);
}

/* ---- running tests ------------------------------------------------------- */

static json_t *new_events(void *ctx)
{
    struct run *r = ctx;
    json_t *all = validate_host_events(&r->host), *out = json_array();

    for (; r->seen_events < json_array_size(all); r->seen_events++)
        json_array_append(out, json_array_get(all, r->seen_events));
    json_decref(all);
    return out;
}

#define SIM_LIMIT_NS (600 * NSEC_PER_SEC) /* that a test may take of virtual time; live it is a minute */

static void run_in_sim(struct run *r, const char *const *names, unsigned n, const char *const *args,
                       unsigned num_args)
{
    const struct suite_host *host = &r->sim.host;

    for (unsigned i = 0; i < n; i++) {
        char *argv[24] = {(char *)(uintptr_t)names[i]};
        uint64_t start = host->now(host->ctx);
        struct test_result result;
        json_t *written = NULL, *events;

        for (unsigned k = 0; k < num_args && k < 22; k++)
            argv[1 + k] = (char *)(uintptr_t)args[k];
        progress(r, names[i], i, n, NULL);
        sim_suite_limit(&r->sim, names[i], (1 + r->o.composition_minutes) * SIM_LIMIT_NS);
        suite_run_report(names[i], suite_find(names[i]), host, 1 + (int)num_args, argv, &written);
        test_result_init(&result, names[i], written);
        if (!sim_suite_settle(&r->sim) && result.status != TEST_FAIL)
            test_result_fail(&result, "another process that it started does not end");
        result.duration_ms = (double)(host->now(host->ctx) - start) / 1e6;
        events = new_events(r);
        expect_services(&result);
        expect_check(&result, events);
        json_decref(events);
        progress(r, names[i], i, n, &result);
        r->failures += test_results_add(&r->results, &result) != 0;
    }
    sim_suite_limit(&r->sim, "what comes behind the tests", SIM_LIMIT_NS);
}

/* Runs tests and keeps their results; how many failed. */
static unsigned run_tests(struct run *r, const char *const *names, unsigned n, const char *const *extra,
                          unsigned num_extra)
{
    char seed[40], slack[40];
    const char *args[16] = {seed};
    unsigned before = test_results_count(&r->results, TEST_FAIL), failed, k = 1;

    snprintf(seed, sizeof(seed), "--seed=%u", (uint32_t)r->o.seed);
    if (r->o.time_slack) {
        snprintf(slack, sizeof(slack), "--time-slack=%u", r->o.time_slack);
        args[k++] = slack;
    }
    if (!r->o.sim)
        args[k++] = "--dump";
    for (unsigned e = 0; e < num_extra && k < 16; e++)
        args[k++] = extra[e];
    if (r->o.sim) {
        run_in_sim(r, names, n, args, k);
    } else {
        struct runner_params p = {.suite_name = "aerogpu_win7_validation",
                                  .bin_dir = r->bin_dir,
                                  .tests = names,
                                  .num_tests = n,
                                  .timeout_ms = 60000 + 60000 * (int)r->o.composition_minutes,
                                  .log_dir = r->logs,
                                  .extra = args,
                                  .num_extra = k,
                                  .dbgctl_timeout_ms = 5000,
                                  .events = new_events,
                                  .progress = progress,
                                  .ctx = r};
        if (!access(r->dbgctl, X_OK))
            p.dbgctl = r->dbgctl;
        r->failures += runner_run(&p, &r->results) != 0; /* has said why */
    }
    failed = test_results_count(&r->results, TEST_FAIL) - before;
    r->failures += failed;
    INVARIANT(failed <= n);
    return failed;
}

/* ---- the checklist, in its strict order ---------------------------------- */

static void note_step(struct run *r, const char *name, const char *result, const char *evidence)
{
    json_t *o = json_pack("{s:s, s:s, s:s}", "step", name, "result", result, "evidence", evidence);

    json_array_append(r->steps, o);
    keep_so_far(r, o);
}

static void step(struct run *r, const char *name, bool passed, bool skipped, const char *evidence)
{
    const char *rule = r->host.stack ? dxgk_violation(stack_dxgk(r->host.stack), r->violations_said) : NULL;
    char text[1024];

    if (!passed && !skipped && rule) { /* what was broken first says more than what came of it */
        snprintf(text, sizeof(text), "%.*s; %s", (int)strcspn(rule, "\n"), rule, evidence);
        r->violations_said = dxgk_violations(stack_dxgk(r->host.stack));
        evidence = text;
    }
    note_step(r, name, skipped ? "SKIP" : passed ? "PASS" : "FAIL", evidence);
    if (!r->o.json) {
        put_mark("", skipped ? "skip" : passed ? "ok" : "FAIL");
        printf("  %s: %s\n", name, evidence);
    }
    r->failures += !passed && !skipped;
}

/* The events of a start that is well. */
static bool is_loaded(struct run *r, char *text, size_t size)
{
    struct dxgk *d = stack_dxgk(r->host.stack);
    json_t *events = new_events(r);
    const json_t *alarm = expect_alarm(events);
    unsigned violations = dxgk_violations(stack_dxgk(r->host.stack));
    bool well = dxgk_state(d) == DXGK_STARTED && !violations && !alarm;
    char ddi[200] = "";

    dxgk_failed_ddis(d, ddi, sizeof(ddi));
    snprintf(text, size, "%s is %s on %s; %u violations of the kernel's rules; %zu events%s%s%s%s",
             r->o.miniport ? r->o.miniport : "the miniport",
             dxgk_state(d) == DXGK_STARTED ? "started" : "not started", r->o.sim ? "the sim" : r->host.device,
             violations, json_array_size(events), alarm ? ": " : "",
             alarm ? json_string_value(json_object_get(alarm, "text")) : "", *ddi ? "; " : "", ddi);
    json_decref(events);
    return well;
}

struct step {
    const char *name, *tests[2], *extra; /* of the suite, and an option for them */
};

static bool checked(struct run *r, const struct step *st)
{
    unsigned failed, n = st->tests[1] ? 2 : 1;
    char evidence[160];
    bool all_skipped = true;
    size_t first = r->results.num;

    if (!r->o.json)
        printf("\n%s\n", st->name);
    failed = run_tests(r, st->tests, n, &st->extra, st->extra ? 1 : 0);
    for (size_t i = first; i < r->results.num; i++)
        all_skipped &= r->results.items[i].status == TEST_SKIP;
    snprintf(evidence, sizeof(evidence), "%s%s%s%s%s: %u of %u failed", st->tests[0], n > 1 ? ", " : "",
             n > 1 ? st->tests[1] : "", st->extra ? " " : "", st->extra ? st->extra : "", failed, n);
    note_step(r, st->name, failed ? "FAIL" : all_skipped ? "SKIP" : "PASS", evidence);
    return !failed;
}

static bool was_run(const struct run *r, const char *name)
{
    for (size_t i = 0; i < r->results.num; i++)
        if (!strcmp(r->results.items[i].name, name))
            return true;
    return false;
}

/* Each step rests on the one before it: what comes behind one that failed says nothing, and is not run. True: all went well. */
static bool checklist(struct run *r)
{
    char text[600], minutes[40];
    const struct step steps[] = {
        {"mode set", {"modeset_roundtrip_sanity", "scanout_state_sanity"}, NULL},
        {"scanout visible", {"triangle", "present_intervals"}, NULL},
        {"compositor starts, and composition stays on",
         {"dwm_flush_pacing"},
         r->o.composition_minutes ? minutes : NULL},
        {"3D sample passes", {"readback_sanity", "compute_smoke"}, NULL},
    };
    const char *failed = is_loaded(r, text, sizeof(text)) ? NULL : "driver loads";

    snprintf(minutes, sizeof(minutes), "--minutes=%u", r->o.composition_minutes);
    step(r, "driver loads", !failed, false, text);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (failed && !r->o.keep_going) {
            snprintf(text, sizeof(text), "not run: '%s' failed", failed);
            step(r, steps[i].name, false, true, text);
        } else if (!checked(r, &steps[i]) && !failed) {
            failed = steps[i].name;
        }
    }
    if (failed && !r->o.keep_going)
        step(r, "baseline and suite", false, true,
             "not run: the checklist failed; --keep-going runs them all the same");
    return !failed || r->o.keep_going;
}

/* What no client can ask for: the machine goes to sleep and comes back. All that is run behind it rests on it. */
static void sleep_and_wake(struct run *r)
{
    struct dxgk *d = stack_dxgk(r->host.stack);
    NTSTATUS down = dxgk_set_power(d, PowerDeviceD3, PowerActionSleep),
             up = NT_SUCCESS(down) ? dxgk_set_power(d, PowerDeviceD0, PowerActionNone) : down;
    char text[120];

    snprintf(text, sizeof(text), "SetPowerState D3 returned %08x, and D0 with the mode behind it %08x",
             (unsigned)down, (unsigned)up);
    step(r, "the driver sleeps and wakes", NT_SUCCESS(up) && dxgk_state(d) == DXGK_STARTED, false, text);
}

static void rest_of_suite(struct run *r)
{
    static const char *const all[] = {
#define ROW(name, doc) #name,
        SUITE_TESTS(ROW)
#undef ROW
    };
    const char *names[sizeof(all) / sizeof(all[0])];
    unsigned n = 0;

    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (!was_run(r, all[i]))
            names[n++] = all[i];
    if (!r->o.json)
        printf("\nsuite\n");
    run_tests(r, names, n, NULL, 0);
}

/* Composition for most of each minute, then what starts, kills and resets things; in between, what is held. */
static void soak_minute(struct run *r)
{
    static const char *const desktop[] = {"dwm_flush_pacing"};
    static const char *const others[] = {"client_kill",  "shared_surface_stress", "submit_fence_stress",
                                         "many_clients", "executor_kill",         "tdr_recovery"};
    static const char *const extra[] = {"--samples=2800", "--producers=8"};

    run_tests(r, desktop, 1, extra, 2);
    run_tests(r, others, sizeof(others) / sizeof(others[0]), NULL, 0);
}

static json_t *level_json(const struct leak_level *l)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:i, s:i}", "minute", l->minute, "memory_mib",
                     (double)l->memory / 0x1p20, "executor_mib", (double)l->executor_memory / 0x1p20,
                     "guest_mib", (double)l->guest_memory / 0x1p20, "descriptors", (int)l->descriptors,
                     "processes", (int)l->processes);
}

static void soak(struct run *r)
{
    unsigned n = r->o.soak_minutes + 1;
    struct leak_level *levels;
    json_t *list;
    char text[300];
    bool grows;

    if (n == 1)
        return;
    levels = calloc(n, sizeof(*levels));
    list = json_array();
    if (!levels) {
        step(r, "soak", false, false, "no memory");
        return;
    }
    leak_monitor_sample(&r->host, &levels[0]);
    for (unsigned i = 1; i < n; i++) {
        if (!r->o.json)
            printf("\nsoak, minute %u of %u\n", i, n - 1);
        soak_minute(r);
        leak_monitor_sample(&r->host, &levels[i]);
    }
    for (unsigned i = 0; i < n; i++)
        json_array_append_new(list, level_json(&levels[i]));
    grows = leak_verdict(levels, n, text, sizeof(text));
    step(r, "nothing grows", !grows, false, text);
    json_object_set_new(r->report, "soak",
                        json_pack("{s:o, s:b, s:s}", "levels", list, "grows", grows, "text", text));
    free(levels);
}

/* ---- the whole ----------------------------------------------------------- */

enum { MAX_SOAK_MINUTES = 60 * 24 * 365, MAX_TIME_SLACK = 1000 };

static int parse(int argc, char **argv, struct validate_options *o)
{
    struct options_row rows[] = {
        OPT_TEXT("out", 'o', &o->out, "DIR", "where to write; out/validate"),
        OPT_FLAG("quick", 'q', &o->quick, "measure the baseline for one second instead of three"),
        OPT_U32(
            "soak", 0, &o->soak_minutes, 0, MAX_SOAK_MINUTES, "MINUTES",
            "go on for so many minutes: composition of eight clients, and what starts, kills and resets things. Fails when memory, descriptors, processes or guest memory grow; the report has their graphs"),
        OPT_U32(
            "composition", 0, &o->composition_minutes, 0, MAX_SOAK_MINUTES, "MINUTES",
            "how long composition has to stay on in its step of the checklist, in place of 120 frames; 10 is what a driver that is done stands"),
        OPT_FLAG("keep-going", 0, &o->keep_going,
                 "go on behind a step of the checklist that failed; else nothing that rests on it is run"),
        OPT_U32("time-slack", 0, &o->time_slack, 1, MAX_TIME_SLACK, "N",
                "multiply the tests' upper limits of time, on a machine that has other things to do"),
        OPT_FLAG(
            "sim", 0, &o->sim,
            "in virtual time in one process. The executor is a model of its timing: nothing is drawn and no pixel compared. Other processes are coroutines, and a test that needs a service of its own gets another stack. The same seed does the same"),
        OPT_U64("seed", 0, &o->seed, 0, UINT64_MAX, "N", "what the tests draw at random, and the sim"),
        OPT_TEXT(
            "settings", 'S', &o->settings, "FILE",
            "what the registry holds, on top of what a validation needs (EnableReadGpaEscape, EnableMapSharedHandleEscape, EnableFaultInjection, TdrLimitCount 20); aerogpu-serve(1) lists them"),
        OPT_TEXT(
            "miniport", 'M', &o->miniport, "FILE",
            "validate this miniport in place of AeroGPU's own: an x64 driver as Windows 7 would load it (.sys), or a shared object"),
        OPT_TEXT("executor", 'x', &o->executor, "FILE", "the executor program"),
        OPT_TEXT("device", 'd', &o->device, "NAME", "Vulkan device of the executor"),
        OPT_FLAG("json", 'j', &o->json, "print the report as JSON and nothing else"),
        OPT_END};

    options_once(rows);
    return command_line(
        &(struct options){
            .rows = rows,
            .about =
                "Starts the device, its executor, dxgkrnl and the miniport in this process, serves them to the validation programs on a socket of its own, and goes through the bring-up checklist in its strict order: driver loads, mode set, scanout visible, compositor starts and composition stays on, 3D sample passes. Then it measures the baseline, runs the rest of the suite, and breaks the stack on purpose: shaders that do not end, an executor that dies or answers late, doorbells and interrupts that get lost, doubled or delayed, vblanks late, missing and repeated, a stale fence page, writes into memory that is gone, a full ring, 64 clients, clients that are killed, a driver call that blocks, a reset that fails. Recovery is part of passing, and so is the event log: a reset that no test expects fails the run.\n\n"
                "It writes the validation record, record.txt; everything as report.json, as JUnit XML report.xml, and as one page with pictures and graphs, report.html; and under logs the output of each test.",
            .exits = {"everything passed", "something failed",
                      [EXIT_INPUT] = "the settings file is bad, or what is given for a miniport is none",
                      [EXIT_ENV] = "this machine lacks something"},
            .see =
                "aerogpu-serve(1), aerogpu-doctor(1), aerogpu_dbgctl(1), aerogpu_test_runner(1), docs/validation.md"},
        argc, argv);
}

static void make_folders(const char *path)
{
    char part[PATH_MAX];

    for (size_t i = 1; i < sizeof(part) && path[i - 1]; i++)
        if (path[i] == '/' || !path[i]) {
            snprintf(part, sizeof(part), "%.*s", (int)i, path);
            mkdir(part, 0700);
        }
}

/* What the stack says while it is broken on purpose belongs in the record, not between the results. */
static int keep_log(const struct run *r)
{
    char path[PATH_MAX];
    int fd;

    snprintf(path, sizeof(path), "%s/stack.log", r->o.out);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) {
        utf8_print(stderr, "aerogpu validate: %s: %s\n", path, strerror(errno));
        return EXIT_ENV;
    }
    log_to(fd);
    return EXIT_OK;
}

/* The suite in r->bin_dir, and dbgctl; a file that is not there is said by what needs it. */
static void find_programs(struct run *r)
{
    char *slash;

    program_find(&(struct program_params){.what = "the validation programs",
                                          .built = "suite/triangle",
                                          .installed = "aerogpu/suite/triangle",
                                          .place = PROGRAM_LIBEXEC},
                 r->bin_dir, sizeof(r->bin_dir), NULL);
    if ((slash = strrchr(r->bin_dir, '/')))
        *slash = '\0';
    program_find(&(struct program_params){.what = "aerogpu_dbgctl",
                                          .built = "tools/dbgctl/aerogpu_dbgctl",
                                          .installed = "aerogpu_dbgctl",
                                          .place = PROGRAM_BIN},
                 r->dbgctl, sizeof(r->dbgctl), NULL);
}

/* The texts of dxgkrnl's events `id` of every stack that the run brought up: its own, and those of tests. */
static json_t *texts_of(struct run *r, int id)
{
    json_t *all = validate_host_events(&r->host), *texts = json_array();
    const json_t *e;
    size_t i;

    for (size_t k = 0; k < r->results.num; k++) {
        json_t *more = expect_service_events(&r->results.items[k]);
        json_array_extend(all, more);
        json_decref(more);
    }
    json_array_foreach(all, i, e)
        if (json_integer_value(json_object_get(e, "id")) == id &&
            !strcmp(json_string_value(json_object_get(e, "source")), "dxgkrnl"))
            json_array_append(texts, json_object_get(e, "text"));
    json_decref(all);
    return texts;
}

/* Each once: every stack of the run makes the same. */
static json_t *remarks_of(struct run *r)
{
    json_t *all = texts_of(r, 11), *once = json_array();
    const json_t *t, *other;
    size_t i, k;

    json_array_foreach(all, i, t) {
        bool is_new = true;
        json_array_foreach(once, k, other)
            is_new &= !json_equal(t, other);
        if (is_new)
            json_array_append(once, json_array_get(all, i));
    }
    json_decref(all);
    return once;
}

/* How the miniport ends, which rules it broke, here or in a service of a test, and what else it answered that is not documented. */
static void judge_whole(struct run *r)
{
    json_t *rules = validate_host_violations(&r->host), *all = texts_of(r, 0xC4), *remarks = remarks_of(r),
           *events = new_events(r);
    const json_t *alarm = expect_alarm(events);
    unsigned n = (unsigned)json_array_size(all);
    char text[400];

    if (alarm && json_integer_value(json_object_get(alarm, "id")) != 0xC4)
        step(r, "the driver ends", false, false, json_string_value(json_object_get(alarm, "text")));
    if (n) {
        r->violations_said = 0; /* what this stack broke first stands in front */
        snprintf(text, sizeof(text), "%u broken, see report.json%s%.250s", n,
                 json_array_size(rules) ? "" : ": ",
                 json_array_size(rules) ? "" : json_string_value(json_array_get(all, 0)));
        step(r, "rules of the kernel kept", false, false, text);
    }
    if (json_array_size(remarks)) {
        snprintf(text, sizeof(text), "%zu that %s not documented, see report.json: %s",
                 json_array_size(remarks), json_array_size(remarks) == 1 ? "is" : "are",
                 json_string_value(json_array_get(remarks, 0)));
        step(r, "answers of the driver", true, false, text);
    }
    for (size_t i = json_array_size(rules); i < n; i++) /* with their call stacks where they are known */
        json_array_append(rules, json_array_get(all, i));
    json_object_set_new(r->report, "violations", rules);
    json_object_set_new(r->report, "remarks", remarks);
    json_decref(events);
    json_decref(all);
}

/* The results as the report has them. */
static void report_results(struct run *r)
{
    json_t *tests = test_results_json(&r->results), *t;
    size_t i;

    json_array_foreach(tests, i, t)
        json_object_set_new(t, "start_ms", json_real(0));
    INVARIANT(r->failures >= test_results_count(&r->results, TEST_FAIL)); /* a failed test fails the whole */
    INVARIANT(json_array_size(tests) == r->results.num);
    json_object_set_new(r->report, "tests", tests);
    json_object_set_new(r->report, "counts",
                        json_pack("{s:i, s:i, s:i}", "pass", (int)test_results_count(&r->results, TEST_PASS),
                                  "fail", (int)test_results_count(&r->results, TEST_FAIL), "skip",
                                  (int)test_results_count(&r->results, TEST_SKIP)));
}

/* What dbgctl says at the end, as the record asks for it. */
static void snapshots(struct run *r)
{
    static const char *const args[] = {
        "--status",     "--query-fence",      "--dump-ring",         "--dump-vblank",
        "--query-perf", "--dump-createalloc", "--query-umd-private", "--dump-log"};
    json_t *list = json_array();

    for (size_t i = 0; !r->o.sim && !access(r->dbgctl, X_OK) && i < sizeof(args) / sizeof(args[0]); i++) {
        char path[PATH_MAX + 64];
        char *argv[] = {r->dbgctl, (char *)(uintptr_t)args[i], NULL};
        snprintf(path, sizeof(path), "%s/end_%s.txt", r->logs, args[i] + 2);
        if (runner_exec(argv, path, path, 5000) == 0)
            json_array_append_new(list, json_string(path));
        else
            step(r, "dbgctl answers at the end", false, false, args[i]);
    }
    json_object_set_new(r->report, "snapshots", list);
}

static int write_events(struct run *r)
{
    char path[PATH_MAX];
    const json_t *e;
    size_t i;
    FILE *f;

    snprintf(path, sizeof(path), "%s/events.log", r->o.out);
    f = out_file_open(path, NULL);
    if (!f)
        return -errno;
    json_array_foreach(json_object_get(r->report, "events"), i, e) {
        json_show(e, f, JSON_COMPACT);
        fputc('\n', f);
    }
    return fclose(f) ? -EIO : 0;
}

static int write_all(struct run *r)
{
    char path[PATH_MAX];
    char *record;
    struct error e = {0};
    FILE *f;
    int code;

    json_object_set_new(r->report, "failures", json_integer(r->failures));
    json_object_set_new(r->report, "status", json_string(r->failures ? "FAIL" : "PASS"));
    json_object_set_new(r->report, "seconds", json_real((now_ms() - r->start_ms) / 1e3));
    record = validate_record(r->report);
    snprintf(path, sizeof(path), "%s/record.txt", r->o.out);
    f = out_file_open(path, NULL);
    if (f && record)
        fputs(record, f);
    code = !f || !record || fclose(f);
    snprintf(path, sizeof(path), "%s/report.json", r->o.out);
    code |= runner_write_json(path, r->report) != 0;
    snprintf(path, sizeof(path), "%s/report.xml", r->o.out);
    code |= runner_write_junit(path, "aerogpu_win7_validation", &r->results) != 0;
    code |= write_events(r) != 0;
    snprintf(path, sizeof(path), "%s/report.html", r->o.out);
    code |= validate_html(path, r->report, &e) != 0;
    if (code)
        utf8_print(stderr, "aerogpu validate: not everything could be written to %s %s\n", r->o.out, e.text);
    if (r->o.json) {
        json_show(r->report, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    } else if (record) {
        printf("\n%s\n", record);
        utf8_print(stdout, "%s: %s/report.html, %s/report.json\n", r->failures ? "FAIL" : "PASS", r->o.out,
                   r->o.out);
    }
    free(record);
    return code;
}

/* EXIT_FAILED: it was the miniport's doing, which is to be judged. */
static int bring_up(struct run *r, struct error *e)
{
    if (!r->o.json)
        printf("bringing up %s\n", r->o.sim ? "the sim" : "the stack");
    if (!validate_host_up(&r->host, &r->o, e)) {
        if (r->o.sim)
            sim_suite_init(&r->sim, &r->host, &r->o);
        return EXIT_OK;
    }
    if (e->code == -ENXIO) { /* dxgk_load, dxgk_start: of what its code did */
        command_say(e->text);
        return EXIT_FAILED;
    }
    validate_host_down(&r->host);
    return command_stack_error(e);
}

/* What was given, before anything is made. */
static int check_given(const struct validate_options *o)
{
    const char *miniport = o->miniport ? o->miniport : getenv(STACK_MINIPORT_VARIABLE);
    struct settings s = {0};
    struct error e = {0};
    int r;

    if (o->sim && (o->executor || o->device))
        return usage_error("%s goes with no --sim, whose executor is a model",
                           o->executor ? "--executor" : "--device");
    r = o->settings ? dxgk_settings_read(&s, o->settings, &e) : 0;

    dxgk_settings_finish(&s);
    if (!r && miniport)
        r = file_kind_needed(miniport, FILE_PROGRAM, &e);
    return r ? command_fail(EXIT_INPUT, &e) : EXIT_OK;
}

static void begin_report(struct run *r)
{
    time_t t = time(NULL);
    char date[64];

    strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %z", localtime(&t));
    r->report = json_pack("{s:i, s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:I, s:o}",
                          "schema_version", 1, "suite_name", "aerogpu_win7_validation", "status", "FAIL",
                          "failures", 0, "date", date, "version", AEROGPU_VERSION, "commit", AEROGPU_COMMIT,
                          "command", r->command, "out", r->o.out, "device", r->host.device, "sim", r->o.sim,
                          "seed", (json_int_t)r->o.seed, "checklist", r->steps = json_array());
}

/* What the process that ended had found out; the test that it was in failed of its end, or was not finished. */
static void read_so_far(struct run *r, const struct lastwords_end *end)
{
    char path[PATH_MAX], *line = NULL;
    char running[64] = "";
    struct test_result result;
    size_t room = 0;
    FILE *f;

    so_far_path(r, path);
    f = fopen(path, "re");
    while (f && getline(&line, &room, f) > 0) {
        json_t *o = json_loads(line, 0, NULL);
        const char *name = json_string_value(json_object_get(o, "test_name"));
        const char *begun = json_string_value(json_object_get(o, "running"));
        if (json_object_get(o, "step"))
            json_array_append(r->steps, o);
        if (name) {
            test_result_init(&result, name, json_incref(o));
            result.duration_ms = json_number_value(json_object_get(o, "duration_ms"));
            test_results_add(&r->results, &result);
        }
        if (name || begun)
            snprintf(running, sizeof(running), "%s", begun ? begun : "");
        json_decref(o);
    }
    if (*running) {
        test_result_init(&result, running, NULL);
        test_result_fail(&result, "%s%s", end->signal ? "not finished: " : "", end->text);
        test_results_add(&r->results, &result);
    }
    free(line);
    if (f)
        fclose(f);
    unlink(path);
    r->failures = test_results_count(&r->results, TEST_FAIL);
}

/* The process that validated gave no verdict: here is one. */
static int judge_end(struct run *r, const struct lastwords_end *end)
{
    utf8_print(stderr, "aerogpu validate: %s\n", end->text);
    make_folders(r->o.out);
    begin_report(r);
    read_so_far(r, end);
    step(r, "the run comes to its end", false, false, end->text);
    report_results(r);
    json_object_set_new(r->report, "events", json_array());
    json_object_set_new(r->report, "violations", json_pack("[s]", end->text));
    write_all(r);
    json_decref(r->report);
    test_results_finish(&r->results);
    return dxgk_lastwords_same_end(end, EXIT_FAILED);
}

/* The whole checklist, and what rests on it. */
static void go_through(struct run *r)
{
    json_t *baseline = NULL;

    if (checklist(r)) {
        sleep_and_wake(r);
        baseline = validate_baseline(&r->host, r->o.quick ? 1000 : 3000);
        if (!baseline)
            step(r, "baseline", false, false, "the stack does not render");
        rest_of_suite(r);
        soak(r);
    }
    json_object_set_new(r->report, "metrics", validate_metrics(&r->host));
    json_object_set_new(r->report, "baseline", baseline ? baseline : json_null());
}

/* There is nothing to go through: the step that failed is the first one. */
static void not_loaded(struct run *r, const char *why)
{
    r->violations_said =
        r->host.stack ? dxgk_violations(stack_dxgk(r->host.stack)) : 0; /* the sentence has them */
    step(r, "driver loads", false, false, why);
    json_decref(new_events(r));
}

static int judged(int code)
{
    dxgk_lastwords_verdict();
    return code;
}

int cmd_validate(int argc, char **argv)
{
    struct run r = {.o = {.out = "out/validate"}, .start_ms = now_ms()};
    struct lastwords_end end;
    char path[PATH_MAX];
    struct error e = {0};
    int code = parse(argc, argv, &r.o);

    if (code)
        return code < 0 ? EXIT_OK : code;
    code = check_given(&r.o);
    if (code)
        return code;
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < argc && strlen(r.command) + strlen(argv[i]) + 10 < sizeof(r.command); i++)
        snprintf(r.command + strlen(r.command), sizeof(r.command) - strlen(r.command), "%s%s", i ? " " : "",
                 argv[i]);
    if (dxgk_lastwords_watch(r.o.miniport || getenv(STACK_MINIPORT_VARIABLE), &end))
        return end.verdict ? end.code : judge_end(&r, &end);
    make_folders(r.o.out);
    snprintf(r.logs, sizeof(r.logs), "%s/logs", r.o.out);
    make_folders(r.logs);
    so_far_path(&r, path);
    unlink(path);
    if (keep_log(&r))
        return judged(EXIT_ENV);
    find_programs(&r);
    if (r.o.miniport &&
        setenv(STACK_MINIPORT_VARIABLE, realpath(r.o.miniport, path) ? path : r.o.miniport, 1))
        return judged(EXIT_ENV); /* for the services of tests, too */
    code = bring_up(&r, &e);
    if (code && code != EXIT_FAILED)
        return judged(code);
    begin_report(&r);
    if (code)
        not_loaded(&r, e.text);
    else
        go_through(&r);
    report_results(&r);
    json_object_set_new(r.report, "events", validate_host_events(&r.host));
    json_object_set_new(r.report, "diagnosis", diagnose(r.report));
    if (!code)
        snapshots(&r);
    validate_host_unload(&r.host); /* what a miniport does not give back is seen then */
    judge_whole(&r);
    code = write_all(&r);
    so_far_path(&r, path);
    unlink(path);
    code = code ? EXIT_ENV : r.failures ? EXIT_FAILED : EXIT_OK;
    json_decref(r.report);
    test_results_finish(&r.results);
    if (r.o.sim && r.sim.top)
        sim_suite_finish(&r.sim);
    validate_host_down(&r.host);
    return judged(code);
}
