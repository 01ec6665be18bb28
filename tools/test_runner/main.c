/* main.c: aerogpu_test_runner, the command line of runner.h. */
#include "runner.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

static const char *const all_tests[] = {
#define ROW(name, doc) #name,
    SUITE_TESTS(ROW)
#undef ROW
};

static void usage(FILE *f)
{
    fputs(
        "usage: aerogpu_test_runner [OPTIONS] [-- OPTIONS OF TESTS]\n\n"
        "Runs the validation programs against the service at $AEROGPU_SOCKET. Options that it does not know "
        "go to\n"
        "every test, as do --require-vid, --require-did, --require-umd, --samples and the like.\n\noptions:\n"
        "  --bin-dir=DIR            where the programs are; default: those of this build or installation\n"
        "  --manifest=FILE          the tests to run: the first word of each line\n"
        "  --timeout-ms=N           time of one test (30000; $AEROGPU_TEST_TIMEOUT_MS); it is killed then, "
        "exit code 124\n"
        "  --no-timeout             let a test take as long as it wants\n"
        "  --json[=PATH]            write report.json, and beside it JUnit XML and the JSON of each test\n"
        "  --log-dir=DIR            stdout, stderr, pictures and snapshots of each test\n"
        "  --event-log=FILE         the service's event log (aerogpu serve --event-log): what the tests "
        "expect there is checked\n"
        "  --dbgctl=PATH            take snapshots with it when a test fails; a plain name is looked for "
        "beside "
        "this\n"
        "                           program, beside the tests and in PATH\n"
        "  --dbgctl-timeout-ms=N    time of one snapshot (5000)\n"
        "  --list                   print the names of the tests\n"
        "  --help                   this\n"
        "exit codes: 0 every test passed or was skipped, 1 one failed or the command line is wrong, 130 "
        "interrupted\n",
        f);
}

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

static void progress(void *ctx, const char *name, unsigned index, unsigned total, const json_t *result)
{
    const char *status;

    (void)ctx;
    if (!result)
        return;
    status = json_is_true(json_object_get(result, "skipped"))
                 ? "SKIP"
                 : json_string_value(json_object_get(result, "status"));
    printf("%s: %s", status, name);
    if (!strcmp(status, "FAIL"))
        printf(": %s", json_string_value(json_object_get(result, "failure")));
    else if (!strcmp(status, "SKIP"))
        printf(": %s", json_string_value(json_object_get(result, "skip_reason")));
    printf("  [%u/%u, %.0f ms]\n", index + 1, total,
           json_number_value(json_object_get(result, "duration_ms")));
    fflush(stdout);
}

/* The value of "NAME=VALUE" or "NAME VALUE"; "" if there is none, NULL if it is another option. */
static const char *value_of(const char *arg, const char *name, int argc, char **argv, int *i)
{
    size_t n = strlen(name);

    if (strncmp(arg, name, n) != 0 || (arg[n] && arg[n] != '='))
        return NULL;
    if (arg[n])
        return arg + n + 1;
    return *i + 1 < argc && strncmp(argv[*i + 1], "--", 2) != 0 ? argv[++*i] : "";
}

static bool positive(const char *text, int *out)
{
    char *end;
    long v = strtol(text, &end, 10);

    if (*end || v <= 0 || v > INT_MAX)
        return false;
    *out = (int)v;
    return true;
}

struct command_line {
    struct runner_params p;
    const char *manifest, *event_log, *extra[64];
    char bin_dir[PATH_MAX], dbgctl[PATH_MAX], junit[PATH_MAX], self[PATH_MAX];
    bool rest;
};

static int wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int wrong(const char *fmt, ...)
{
    va_list ap;

    fputs("aerogpu_test_runner: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputs("; --help lists the options\n", stderr);
    return 1;
}

/* Where the programs are: in the build directory or installed. */
static void find_programs(struct command_line *c)
{
    static const char *const places[] = {"../../suite", "../libexec/aerogpu/suite", "."};
    ssize_t n = readlink("/proc/self/exe", c->self, sizeof(c->self) - 1);
    char path[PATH_MAX + 32];

    c->self[n > 0 ? n : 0] = '\0';
    if (strrchr(c->self, '/'))
        *strrchr(c->self, '/') = '\0';
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/%s/%s", c->self, places[i], all_tests[0]);
        snprintf(c->bin_dir, sizeof(c->bin_dir), "%.*s/%s", PATH_MAX - 32, c->self, places[i]);
        if (!access(path, X_OK))
            return;
    }
}

/* A plain name is looked for beside us, beside the programs, beside us in the build directory, and in PATH. */
static bool find_dbgctl(struct command_line *c)
{
    const char *name = c->p.dbgctl, *path = getenv("PATH"), *dirs[] = {c->self, c->p.bin_dir};

    if (strchr(name, '/'))
        return !access(name, X_OK);
    for (int i = 0; i < 3; i++) {
        if (i < 2)
            snprintf(c->dbgctl, sizeof(c->dbgctl), "%.*s/%s", PATH_MAX - 300, dirs[i], name);
        else
            snprintf(c->dbgctl, sizeof(c->dbgctl), "%.*s/../dbgctl/%s", PATH_MAX - 300, c->self, name);
        if (!access(c->dbgctl, X_OK)) {
            c->p.dbgctl = c->dbgctl;
            return true;
        }
    }
    while (path && *path) {
        size_t n = strcspn(path, ":");
        snprintf(c->dbgctl, sizeof(c->dbgctl), "%.*s/%s", (int)n, path, name);
        if (n && !access(c->dbgctl, X_OK)) {
            c->p.dbgctl = c->dbgctl;
            return true;
        }
        path += n + (path[n] == ':');
    }
    return false;
}

/* -1: done, exit with 0. */
static int take(struct command_line *c, int argc, char **argv, int *i)
{
    const struct {
        const char *name, **text;
        int *number;
    } options[] = {
        {"--bin-dir", &c->p.bin_dir, NULL},       {"--manifest", &c->manifest, NULL},
        {"--log-dir", &c->p.log_dir, NULL},       {"--event-log", &c->event_log, NULL},
        {"--dbgctl", &c->p.dbgctl, NULL},         {"--dbgctl-timeout-ms", NULL, &c->p.dbgctl_timeout_ms},
        {"--timeout-ms", NULL, &c->p.timeout_ms},
    };
    const char *a = argv[*i], *v;

    if (!strcmp(a, "--")) {
        c->rest = true;
        return 0;
    }
    if (!strcmp(a, "--help") || !strcmp(a, "-h")) {
        usage(stdout);
        return -1;
    }
    if (!strcmp(a, "--list")) {
        for (unsigned k = 0; k < c->p.num_tests; k++)
            puts(c->p.tests[k]);
        return -1;
    }
    if (!strcmp(a, "--no-timeout")) {
        c->p.timeout_ms = 0;
        return 0;
    }
    if (!strcmp(a, "--json") || !strncmp(a, "--json=", 7)) {
        c->p.json_path = a[6] ? a + 7 : "report.json";
        return *c->p.json_path ? 0 : wrong("--json= needs a path");
    }
    for (size_t k = 0; k < sizeof(options) / sizeof(options[0]); k++) {
        if (!(v = value_of(a, options[k].name, argc, argv, i)))
            continue;
        if (!*v)
            return wrong("%s needs a value", options[k].name);
        if (options[k].text)
            *options[k].text = v;
        else if (!positive(v, options[k].number))
            return wrong("%s: '%s' is no number from 1 to %d", options[k].name, v, INT_MAX);
        return 0;
    }
    if (strncmp(a, "--", 2) != 0)
        return wrong("unexpected argument '%s'", a);
    if (c->p.num_extra == 64)
        return wrong("more than 64 options for the tests");
    c->extra[c->p.num_extra++] = a;
    if (!strchr(a, '=') && *i + 1 < argc && strncmp(argv[*i + 1], "--", 2) != 0 && c->p.num_extra < 64)
        c->extra[c->p.num_extra++] = argv[++*i]; /* its value */
    return 0;
}

/* What can only be looked at when the whole line is known. */
static int check(struct command_line *c, char ***names)
{
    const char *dot;
    int r;

    if (access(c->p.bin_dir, X_OK))
        return wrong("--bin-dir: %s: %s", c->p.bin_dir, strerror(errno));
    if (c->p.dbgctl && !find_dbgctl(c))
        return wrong("--dbgctl: there is no program %s", c->p.dbgctl);
    if (c->event_log && access(c->event_log, R_OK))
        return wrong("--event-log: %s: %s", c->event_log, strerror(errno));
    if (c->manifest) {
        r = runner_manifest(c->manifest, names, &c->p.num_tests);
        if (r)
            return wrong("--manifest: %s: %s", c->manifest, strerror(-r));
        if (!c->p.num_tests)
            return wrong("--manifest: %s names no test", c->manifest);
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
    json_t *report;
    int r = 0, skipped = 0;
    size_t i;
    const json_t *t;

    c.p = (struct runner_params){.suite_name = "aerogpu_win7_validation",
                                 .timeout_ms = 30000,
                                 .dbgctl_timeout_ms = 5000,
                                 .bin_dir = c.bin_dir,
                                 .extra = c.extra,
                                 .progress = progress,
                                 .tests = all_tests,
                                 .num_tests = sizeof(all_tests) / sizeof(all_tests[0])};
    find_programs(&c);
    if (env && *env && !positive(env, &c.p.timeout_ms))
        return wrong("AEROGPU_TEST_TIMEOUT_MS: '%s' is no number from 1 to %d", env, INT_MAX);
    for (int k = 1; k < argc && !r; k++)
        if (c.rest && c.p.num_extra < 64)
            c.extra[c.p.num_extra++] = argv[k];
        else
            r = c.rest ? wrong("more than 64 options for the tests") : take(&c, argc, argv, &k);
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
    report = runner_run(&c.p);
    if (!report)
        return 1;
    if (json_object_get(report, "interrupted")) {
        json_decref(report);
        fputs("aerogpu_test_runner: interrupted\n", stderr);
        return 130;
    }
    r = (int)json_integer_value(json_object_get(report, "failures"));
    json_array_foreach(json_object_get(report, "tests"), i, t)
        skipped += json_is_true(json_object_get(t, "skipped"));
    printf("%s: %u tests, PASS=%u FAIL=%d SKIP=%d\n", r ? "FAIL" : "PASS", c.p.num_tests,
           c.p.num_tests - (unsigned)(r + skipped), r, skipped);
    json_decref(report);
    for (unsigned k = 0; names && k < c.p.num_tests; k++)
        free(names[k]);
    free(names);
    return r ? 1 : 0;
}
