/* SPDX-License-Identifier: MIT */
/* main.c: aerogpu_test_runner, the command line of runner.h. */
#include "runner.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "base/program.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "suite.h"

static const char *const all_tests[] = {
#define ROW(name, doc) #name,
    SUITE_TESTS(ROW)
#undef ROW
};

struct event_log {
    const char *path;
    long at; /* how far it was read */
};

/* Whole lines that were not there before. */
static json_t *new_events(void *ctx)
{
    struct event_log *l = ctx;
    json_t *out = json_array();
    FILE *f = fopen(l->path, "re");
    char line[2048];

    if (f && !fseek(f, l->at, SEEK_SET))
        while (fgets(line, sizeof(line), f) && strchr(line, '\n')) {
            json_t *e = json_loads(line, 0, NULL);
            if (json_is_integer(json_object_get(e, "id")))
                json_array_append(out, e);
            json_decref(e);
            l->at = ftell(f);
        }
    if (f)
        fclose(f);
    return out;
}

static void progress(void *ctx, const char *name, unsigned index, unsigned total, struct test_result *result)
{
    (void)ctx;
    if (!result)
        return;
    utf8_print(stdout, "%s: %s%s%s  [%u/%u, %.0f ms]\n", test_status_name(result->status), name,
               *result->why ? ": " : "", result->why, index + 1, total, result->duration_ms);
    fflush(stdout);
}

enum { MAX_EXTRA = 64 };

struct command_line {
    struct runner_params p;
    const char *manifest, *event_log, *extra[MAX_EXTRA];
    char bin_dir[PATH_MAX], dbgctl[PATH_MAX], junit[PATH_MAX];
    uint32_t timeout_ms, dbgctl_timeout_ms;
    bool no_timeout, json, list;
};

/* Says what is wrong; returns `code`. */
static int wrong(enum exit_code code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int wrong(enum exit_code code, const char *fmt, ...)
{
    struct strbuf text = {0};
    va_list ap;

    va_start(ap, fmt);
    strbuf_vprintf(&text, fmt, ap);
    va_end(ap);
    utf8_print(stderr, "aerogpu_test_runner: %s; --help lists the options\n", strbuf_str(&text));
    strbuf_finish(&text);
    return code;
}

/* Where the programs are: in the build directory or installed. */
static void find_programs(struct command_line *c)
{
    char built[64], installed[64], *slash;

    snprintf(built, sizeof(built), "suite/%s", all_tests[0]);
    snprintf(installed, sizeof(installed), "aerogpu/suite/%s", all_tests[0]);
    if (program_find(&(struct program_params){.what = "the validation programs",
                                              .built = built,
                                              .installed = installed,
                                              .place = PROGRAM_LIBEXEC},
                     c->bin_dir, sizeof(c->bin_dir), NULL))
        strcpy(c->bin_dir, ".");
    else if ((slash = strrchr(c->bin_dir, '/')))
        *slash = '\0';
}

/* A plain name is looked for beside us, beside the programs, and in PATH. */
static bool find_dbgctl(struct command_line *c)
{
    const char *name = c->p.dbgctl;
    char built[PATH_MAX];

    if (strchr(name, '/'))
        return !access(name, X_OK);
    snprintf(built, sizeof(built), "tools/dbgctl/%s", name);
    c->p.dbgctl = c->dbgctl;
    if (!program_find(
            &(struct program_params){.what = name, .built = built, .installed = name, .place = PROGRAM_BIN},
            c->dbgctl, sizeof(c->dbgctl), NULL))
        return true;
    snprintf(c->dbgctl, sizeof(c->dbgctl), "%.*s/%s", PATH_MAX - 300, c->p.bin_dir, name);
    if (!access(c->dbgctl, X_OK) || program_in_path(name, c->dbgctl, sizeof(c->dbgctl)))
        return true;
    c->p.dbgctl = name;
    return false;
}

/* What the runner does not know goes to the tests. */
static int pass_on(void *ctx, const struct options_row *row, const char *word, struct error *e)
{
    struct command_line *c = ctx;

    if (c->p.num_extra == MAX_EXTRA)
        return error_set(e, -E2BIG, "more than %d options for the tests", MAX_EXTRA);
    c->extra[c->p.num_extra++] = word;
    return 0;
}

/* -1: done, exit with 0. */
static int parse(struct command_line *c, int argc, char **argv)
{
    struct options_row rows[] = {
        OPT_TEXT("bin-dir", 0, &c->p.bin_dir, "DIR",
                 "where the programs are; those of this build or installation"),
        OPT_TEXT(
            "manifest", 0, &c->manifest, "FILE",
            "the tests to run: the first word of each line; #, ;, :: and rem begin comments. One that names no test is an error"),
        OPT_U32(
            "timeout-ms", 0, &c->timeout_ms, 1, INT_MAX, "N",
            "time of one test: 30000, or `AEROGPU_TEST_TIMEOUT_MS`. After it the test is killed with all that it started, and has the exit code 124; `dbgctl_escape_security_sanity` has 5000 at most. With the tests' --time-slack=N that time, like that of a snapshot, is multiplied too"),
        OPT_FLAG("no-timeout", 0, &c->no_timeout, "let a test take as long as it wants"),
        OPT_MAYBE(
            "json", 0, &c->json, &c->p.json_path, "PATH",
            "write report.json in the current directory, or PATH, and beside it JUnit XML (.xml) and TEST.json of each test. It is written before the first test too, so that no old success stays"),
        OPT_TEXT(
            "log-dir", 0, &c->p.log_dir, "DIR",
            "stdout, stderr (TEST.stdout.txt, TEST.stderr.txt), pictures and snapshots of each test; made if it is not there. Like every path here it begins in the current directory, not beside the programs"),
        OPT_TEXT(
            "event-log", 0, &c->event_log, "FILE",
            "the event log of the service (`aerogpu serve --event-log`): a test fails when an event that it expects is missing, or one of a reset, a fault, a bug check or a broken rule came that it does not expect"),
        OPT_TEXT(
            "dbgctl", 0, &c->p.dbgctl, "PATH",
            "take snapshots with aerogpu_dbgctl(1) when a test fails: dbgctl_TEST_status.txt (state), dbgctl_TEST_query_error.txt (error latch), dbgctl_TEST_dump_log.txt (the driver's log), dbgctl_TEST_dump_last_cmd.txt and dbgctl_TEST_cmd_N.bin (the last four submissions with their tables and summaries, where the service lets guest memory be read), in the log directory, else beside report.json. A plain name is looked for beside the runner, beside the tests and in PATH"),
        OPT_U32("dbgctl-timeout-ms", 0, &c->dbgctl_timeout_ms, 1, INT_MAX, "N", "time of one snapshot; 5000"),
        OPT_FLAG("list", 0, &c->list, "print the names of the tests"),
        OPT_END};
    struct options o = {
        .rows = rows,
        .name = "aerogpu_test_runner",
        .summary = "run the validation programs against a running service",
        .operands = "[-- OPTIONS OF TESTS]",
        .max = MAX_EXTRA,
        .foreign = pass_on,
        .foreign_ctx = c,
        .about =
            "Runs each validation program in turn against the service whose socket `AEROGPU_SOCKET` names. A test that takes too long is killed with everything that it started. A program that is missing is a failure. Options that the runner does not know go to every test, as do --require-vid, --require-did, --require-umd, --samples and the like; so do those after --. The first test that refuses one ends the run: wrong usage, no failure of the service.",
        .notes =
            "Interrupted, it kills the running test, writes a report of what was done that says \"interrupted\", and has the exit code 130.",
        .exits = {"every test passed or was skipped",
                  "one failed", [EXIT_INPUT] = "the manifest or the event log is bad",
                  [EXIT_ENV] = "a program is missing, or a report cannot be written"},
        .see = "aerogpu-validate(1), aerogpu-serve(1), aerogpu_dbgctl(1)"};
    struct error e = {0};
    int r;

    options_once(rows);
    r = options_parse(&o, argc, argv, &e);

    if (!r && optind < argc && strcmp(argv[optind - 1], "--") != 0)
        r = error_set(&e, -EINVAL, "unexpected argument '%s'", argv[optind]);
    while (!r && optind < argc)
        r = pass_on(c, NULL, argv[optind++], &e);
    for (unsigned k = 0; !r && c->list && k < c->p.num_tests; k++)
        puts(c->p.tests[k]);
    if (r || c->list)
        return r < 0 ? wrong(EXIT_USAGE, "%s", e.text) : -1;
    c->p.timeout_ms = c->no_timeout ? 0 : (int)c->timeout_ms;
    c->p.dbgctl_timeout_ms = (int)c->dbgctl_timeout_ms;
    if (c->json && !c->p.json_path)
        c->p.json_path = "report.json";
    return 0;
}

/* What can only be looked at when the whole line is known. */
static int check(struct command_line *c, char ***names)
{
    const char *dot;
    int r;

    if (access(c->p.bin_dir, X_OK))
        return wrong(EXIT_ENV, "--bin-dir: %s: %s", c->p.bin_dir, strerror(errno));
    if (c->p.dbgctl && !find_dbgctl(c))
        return wrong(EXIT_ENV, "--dbgctl: there is no program %s", c->p.dbgctl);
    if (c->event_log && access(c->event_log, R_OK))
        return wrong(EXIT_INPUT, "--event-log: %s: %s", c->event_log, strerror(errno));
    if (c->manifest) {
        r = runner_manifest(c->manifest, names, &c->p.num_tests);
        if (r)
            return wrong(EXIT_INPUT, "--manifest: %s: %s", c->manifest, strerror(-r));
        if (!c->p.num_tests)
            return wrong(EXIT_INPUT, "--manifest: %s names no test", c->manifest);
        c->p.tests = (const char *const *)*names;
    }
    if (c->p.json_path) {
        dot = strrchr(c->p.json_path, '.');
        if (dot && strchr(dot, '/'))
            dot = NULL;
        snprintf(c->junit, sizeof(c->junit), "%.*s.xml",
                 (int)(dot ? dot - c->p.json_path : (long)strlen(c->p.json_path)), c->p.json_path);
        c->p.junit_path = c->junit;
    }
    return 0;
}

static void on_signal(int number)
{
    (void)number;
    runner_stop();
}

int main(int argc, char **argv)
{
    static struct command_line c;
    struct event_log log = {0};
    const char *env = getenv("AEROGPU_TEST_TIMEOUT_MS");
    char **names = NULL;
    struct error e = {0};
    uint64_t timeout;
    struct test_results results = {0};
    unsigned failed, skipped;
    int r;

    c.p = (struct runner_params){.suite_name = "aerogpu_win7_validation",
                                 .bin_dir = c.bin_dir,
                                 .extra = c.extra,
                                 .progress = progress,
                                 .tests = all_tests,
                                 .num_tests = sizeof(all_tests) / sizeof(all_tests[0])};
    c.timeout_ms = 30000;
    c.dbgctl_timeout_ms = 5000;
    find_programs(&c);
    if (env && *env && options_number("AEROGPU_TEST_TIMEOUT_MS", env, 1, INT_MAX, &timeout, &e))
        return wrong(EXIT_USAGE, "%s", e.text);
    if (env && *env)
        c.timeout_ms = (uint32_t)timeout;
    r = parse(&c, argc, argv);
    if (!r)
        r = check(&c, &names);
    if (r)
        return r < 0 ? 0 : r;
    if (c.event_log) {
        log.path = c.event_log;
        c.p.events = new_events;
        c.p.ctx = &log;
    }
    sigaction(SIGINT, &(struct sigaction){.sa_handler = on_signal}, NULL);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_signal}, NULL);
    r = runner_run(&c.p, &results);
    failed = test_results_count(&results, TEST_FAIL);
    skipped = test_results_count(&results, TEST_SKIP);
    test_results_finish(&results);
    if (r == -EINTR)
        fputs("aerogpu_test_runner: interrupted\n", stderr);
    else if (!r)
        printf("%s: %u tests, PASS=%u FAIL=%u SKIP=%u\n", failed ? "FAIL" : "PASS", c.p.num_tests,
               c.p.num_tests - failed - skipped, failed, skipped);
    for (unsigned k = 0; names && k < c.p.num_tests; k++)
        free(names[k]);
    free(names);
    return r == -EINTR ? 130 : r == -EINVAL ? EXIT_USAGE : r ? EXIT_ENV : failed ? EXIT_FAILED : EXIT_OK;
}
