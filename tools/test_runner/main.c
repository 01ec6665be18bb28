/* main.c: aerogpu_test_runner, the command line of runner.h. */
#include "runner.h"

#include <libgen.h>
#include <limits.h>
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
        "  --bin-dir=DIR            where the programs are\n"
        "  --manifest=FILE          the tests to run: the first word of each line\n"
        "  --timeout-ms=N           time of one test (30000; $AEROGPU_TEST_TIMEOUT_MS)\n"
        "  --no-timeout             let a test take as long as it wants\n"
        "  --json[=PATH]            write report.json, a file for each test, and JUnit XML beside it\n"
        "  --log-dir=DIR            stdout, stderr, pictures and snapshots of each test\n"
        "  --event-log=FILE         the service's event log (aerogpu serve --event-log): what the tests "
        "expect there is checked\n"
        "  --dbgctl=PATH            take snapshots with it when a test fails\n"
        "  --dbgctl-timeout-ms=N    time of one snapshot (5000)\n"
        "  --list                   print the names of the tests\n"
        "  --help                   this\n"
        "exit codes: 0 every test passed or was skipped, 1 one failed or the command line is wrong\n",
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

static const char *value_of(const char *arg, const char *name, int argc, char **argv, int *i)
{
    size_t n = strlen(name);

    if (strncmp(arg, name, n) != 0)
        return NULL;
    if (arg[n] == '=')
        return arg + n + 1;
    if (!arg[n] && *i + 1 < argc)
        return argv[++*i];
    return NULL;
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

int main(int argc, char **argv)
{
    struct event_log log;
    static char default_dir[PATH_MAX], junit[PATH_MAX];
    static const char *extra[64];
    struct runner_params p = {.suite_name = "aerogpu_win7_validation",
                              .timeout_ms = 30000,
                              .dbgctl_timeout_ms = 5000,
                              .extra = extra,
                              .progress = progress,
                              .tests = all_tests,
                              .num_tests = sizeof(all_tests) / sizeof(all_tests[0])};
    const char *env = getenv("AEROGPU_TEST_TIMEOUT_MS"), *v, *manifest = NULL;
    char self[PATH_MAX], **names = NULL;
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    json_t *report;
    bool rest = false;
    int code;

    if (len > 0) {
        self[len] = '\0';
        snprintf(default_dir, sizeof(default_dir), "%s/../../suite", dirname(self));
        p.bin_dir = default_dir;
    }
    if (env && !positive(env, &p.timeout_ms))
        p.timeout_ms = 30000;
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (!rest && !strcmp(a, "--")) {
            rest = true;
        } else if (!rest && (!strcmp(a, "--help") || !strcmp(a, "-h"))) {
            usage(stdout);
            return 0;
        } else if (!rest && !strcmp(a, "--list")) {
            for (unsigned k = 0; k < p.num_tests; k++)
                puts(p.tests[k]);
            return 0;
        } else if (!rest && (v = value_of(a, "--bin-dir", argc, argv, &i))) {
            p.bin_dir = v;
        } else if (!rest && (v = value_of(a, "--manifest", argc, argv, &i))) {
            manifest = v;
        } else if (!rest && !strcmp(a, "--no-timeout")) {
            p.timeout_ms = 0;
        } else if (!rest && (v = value_of(a, "--dbgctl-timeout-ms", argc, argv, &i))) {
            if (!positive(v, &p.dbgctl_timeout_ms)) {
                fprintf(stderr, "aerogpu_test_runner: --dbgctl-timeout-ms: '%s' is no positive number\n", v);
                return 1;
            }
        } else if (!rest && (v = value_of(a, "--timeout-ms", argc, argv, &i))) {
            if (!positive(v, &p.timeout_ms)) {
                fprintf(stderr, "aerogpu_test_runner: --timeout-ms: '%s' is no positive number\n", v);
                return 1;
            }
        } else if (!rest && !strcmp(a, "--json")) {
            p.json_path = "report.json";
        } else if (!rest && !strncmp(a, "--json=", 7)) {
            p.json_path = a + 7;
        } else if (!rest && (v = value_of(a, "--log-dir", argc, argv, &i))) {
            p.log_dir = v;
        } else if (!rest && (v = value_of(a, "--event-log", argc, argv, &i))) {
            log = (struct event_log){.path = v};
            p.events = new_events;
            p.ctx = &log;
        } else if (!rest && (v = value_of(a, "--dbgctl", argc, argv, &i))) {
            p.dbgctl = v;
        } else if (p.num_extra < 64) {
            extra[p.num_extra++] = a;
        }
    }
    if (manifest) {
        int r = runner_manifest(manifest, &names, &p.num_tests);
        if (r) {
            fprintf(stderr, "aerogpu_test_runner: %s: %s\n", manifest, strerror(-r));
            return 1;
        }
        p.tests = (const char *const *)names;
    }
    if (p.json_path) {
        const char *dot = strrchr(p.json_path, '.');
        snprintf(junit, sizeof(junit), "%.*s.xml", (int)(dot ? dot - p.json_path : (long)strlen(p.json_path)),
                 p.json_path);
        p.junit_path = junit;
    }
    report = runner_run(&p);
    if (!report)
        return 1;
    code = json_integer_value(json_object_get(report, "failures")) ? 1 : 0;
    printf("%s: %u tests, %d failures\n", code ? "FAIL" : "PASS", p.num_tests,
           (int)json_integer_value(json_object_get(report, "failures")));
    json_decref(report);
    for (unsigned i = 0; names && i < p.num_tests; i++)
        free(names[i]);
    free(names);
    return code;
}
