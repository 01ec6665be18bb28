/* runner.c: see runner.h. */
#include "runner.h"

#include "expect.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 1024, MAX_ARGS = 96, TIMEOUT_EXIT = 124 };

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int runner_manifest(const char *path, char ***names, unsigned *count)
{
    FILE *f = fopen(path, "re");
    char line[512];
    unsigned n = 0;
    int r = 0;

    *names = NULL;
    *count = 0;
    if (!f)
        return -errno;
    while (!r && fgets(line, sizeof(line), f)) {
        char *word = line;
        if (!n && !strncmp(word, "\xEF\xBB\xBF", 3))
            word += 3;
        word = strtok(word, " \t\r\n");
        if (!word || *word == '#' || *word == ';' || !strncmp(word, "::", 2) || !strcasecmp(word, "rem"))
            continue;
        char **more = realloc(*names, (n + 1) * sizeof(**names));
        if (more)
            *names = more;
        if (!more || !(more[n] = strdup(word)))
            r = -ENOMEM;
        else
            n++;
    }
    fclose(f);
    *count = n;
    return r;
}

static int wait_for(pid_t pid, int timeout_ms)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0), status = 0;
    bool late = false;

    if (fd >= 0) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        double end = now_ms() + timeout_ms;
        int r;
        do {
            int left = timeout_ms <= 0 ? -1 : (int)(end - now_ms());
            r = poll(&p, 1, timeout_ms > 0 && left < 0 ? 0 : left);
        } while (r < 0 && errno == EINTR);
        late = r == 0;
        close(fd);
    }
    if (late)
        kill(-pid, SIGKILL); /* the group: whatever it started */
    waitpid(pid, &status, 0);
    kill(-pid, SIGKILL); /* what it left behind */
    if (late)
        return TIMEOUT_EXIT;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int runner_exec(char *const argv[], const char *out_path, const char *err_path, int timeout_ms)
{
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    pid_t pid;
    int r;

    posix_spawn_file_actions_init(&fa);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&fa, 1, out_path ? out_path : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC,
                                     0644);
    if (err_path && out_path && !strcmp(out_path, err_path))
        posix_spawn_file_actions_adddup2(&fa, 1, 2);
    else
        posix_spawn_file_actions_addopen(&fa, 2, err_path ? err_path : "/dev/null",
                                         O_WRONLY | O_CREAT | O_TRUNC, 0644);
    r = posix_spawn(&pid, argv[0], &fa, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    posix_spawnattr_destroy(&attr);
    return r ? 127 : wait_for(pid, timeout_ms);
}

static void add_artifact(json_t *result, const char *path)
{
    struct stat st;

    if (!stat(path, &st) && S_ISREG(st.st_mode) && st.st_size)
        json_array_append_new(json_object_get(result, "artifacts"), json_string(path));
}

/* State, error latch and last submissions of a test that failed. */
static void snapshot(const struct runner_params *p, const char *test, json_t *result)
{
    static const struct {
        const char *suffix;
        const char *args[6];
    } shots[] = {
        {"status", {"--status"}},
        {"query_error", {"--query-error"}},
        {"dump_last_cmd", {"--dump-last-cmd", "--count", "4", "--cmd-out"}},
    };
    const char *dir = p->log_dir ? p->log_dir : ".";

    for (int i = 0; i < 3; i++) {
        char out[PATH_SIZE], cmd[PATH_SIZE];
        char *argv[12] = {(char *)(uintptr_t)p->dbgctl};
        int n = 1;
        snprintf(out, sizeof(out), "%s/dbgctl_%s_%s.txt", dir, test, shots[i].suffix);
        snprintf(cmd, sizeof(cmd), "%s/dbgctl_%s_cmd.bin", dir, test);
        for (int k = 0; k < 6 && shots[i].args[k]; k++)
            argv[n++] = (char *)(uintptr_t)shots[i].args[k];
        if (i == 2)
            argv[n++] = cmd;
        argv[n] = NULL;
        runner_exec(argv, out, out, p->dbgctl_timeout_ms);
        add_artifact(result, out);
        for (int k = 0; i == 2 && k < 4; k++) {
            snprintf(cmd, sizeof(cmd), "%s/dbgctl_%s_cmd_%d.bin", dir, test, k);
            add_artifact(result, cmd);
        }
    }
}

static json_t *plain_result(const char *name)
{
    return json_pack("{s:i, s:s, s:s, s:i, s:n, s:b, s:n, s:n, s:n, s:[]}", "schema_version", 1, "test_name",
                     name, "status", "PASS", "exit_code", 0, "failure", "skipped", 0, "skip_reason",
                     "adapter", "timing", "artifacts");
}

/* What the exit code says counts more than what the test wrote. */
static void settle(json_t *result, int code, int timeout_ms)
{
    const char *status = json_string_value(json_object_get(result, "status"));
    char text[160] = "";

    json_object_set_new(result, "exit_code", json_integer(code));
    if (code == TIMEOUT_EXIT)
        snprintf(text, sizeof(text), "no end after %d ms: killed", timeout_ms);
    else if (code == 127)
        snprintf(text, sizeof(text), "the program is missing or cannot be started");
    else if (code > 128)
        snprintf(text, sizeof(text), "ended by signal %d", code - 128);
    else if (code && (!status || strcmp(status, "FAIL") != 0))
        snprintf(text, sizeof(text), "exit code %d", code);
    if (*text)
        json_object_set_new(result, "failure", json_string(text));
    if (code)
        json_object_set_new(result, "status", json_string("FAIL"));
}

static json_t *run_one(const struct runner_params *p, const char *name)
{
    char program[PATH_SIZE], json[PATH_SIZE], json_arg[PATH_SIZE + 8], log_arg[PATH_SIZE], out[PATH_SIZE],
        err[PATH_SIZE];
    const char *dir = p->log_dir ? p->log_dir : "/tmp";
    char *argv[MAX_ARGS];
    unsigned n = 0;
    int code, limit = p->timeout_ms;
    double start = now_ms();
    json_t *result;

    snprintf(program, sizeof(program), "%s/%s", p->bin_dir, name);
    snprintf(json, sizeof(json), "%s/%s%s.json", dir, p->log_dir ? "" : "aerogpu-test-", name);
    snprintf(json_arg, sizeof(json_arg), "--json=%s", json);
    snprintf(log_arg, sizeof(log_arg), "--log-dir=%s", dir);
    snprintf(out, sizeof(out), "%s/%s.stdout.txt", dir, name);
    snprintf(err, sizeof(err), "%s/%s.stderr.txt", dir, name);
    unlink(json);
    argv[n++] = program;
    argv[n++] = json_arg;
    if (p->log_dir)
        argv[n++] = log_arg;
    for (unsigned i = 0; i < p->num_extra && n < MAX_ARGS - 1; i++)
        argv[n++] = (char *)(uintptr_t)p->extra[i];
    argv[n] = NULL;
    if (!strcmp(name, "dbgctl_escape_security_sanity") && (!limit || limit > 5000))
        limit = 5000;
    if (access(program, X_OK))
        code = 127;
    else
        code = runner_exec(argv, p->log_dir ? out : NULL, p->log_dir ? err : NULL, limit);
    result = json_load_file(json, 0, NULL);
    if (!json_is_object(result) || !json_is_array(json_object_get(result, "artifacts"))) {
        json_decref(result);
        result = plain_result(name);
    }
    settle(result, code, limit);
    json_object_set_new(result, "duration_ms", json_real(now_ms() - start));
    if (p->log_dir) {
        add_artifact(result, out);
        add_artifact(result, err);
    } else {
        unlink(json);
    }
    if (p->events) {
        json_t *events = p->events(p->ctx);
        expect_check(result, events);
        json_decref(events);
    }
    if (!strcmp(json_string_value(json_object_get(result, "status")), "FAIL") && p->dbgctl)
        snapshot(p, name, result);
    return result;
}

static void write_text(FILE *f, const char *text)
{
    for (; text && *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", f);
            break;
        case '>':
            fputs("&gt;", f);
            break;
        case '&':
            fputs("&amp;", f);
            break;
        case '"':
            fputs("&quot;", f);
            break;
        default:
            fputc((unsigned char)*text < 32 ? ' ' : *text, f);
        }
}

int runner_write_junit(const char *path, const json_t *report)
{
    FILE *f = fopen(path, "we");
    const json_t *tests = json_object_get(report, "tests"), *t;
    unsigned skipped = 0;
    size_t i;

    if (!f)
        return -errno;
    json_array_foreach(tests, i, t) skipped += json_is_true(json_object_get(t, "skipped"));
    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"%s\" tests=\"%zu\" "
            "failures=\"%d\" skipped=\"%u\">\n",
            json_string_value(json_object_get(report, "suite_name")), json_array_size(tests),
            (int)json_integer_value(json_object_get(report, "failures")), skipped);
    json_array_foreach(tests, i, t)
    {
        fprintf(f, "  <testcase classname=\"aerogpu\" name=\"%s\" time=\"%.3f\">",
                json_string_value(json_object_get(t, "test_name")),
                json_number_value(json_object_get(t, "duration_ms")) / 1e3);
        if (!strcmp(json_string_value(json_object_get(t, "status")), "FAIL")) {
            fputs("<failure message=\"", f);
            write_text(f, json_string_value(json_object_get(t, "failure")));
            fputs("\"/>", f);
        } else if (json_is_true(json_object_get(t, "skipped"))) {
            fputs("<skipped message=\"", f);
            write_text(f, json_string_value(json_object_get(t, "skip_reason")));
            fputs("\"/>", f);
        }
        fputs("</testcase>\n", f);
    }
    fputs("</testsuite>\n", f);
    return fclose(f) ? -EIO : 0;
}

json_t *runner_run(const struct runner_params *p)
{
    json_t *report = json_pack("{s:i, s:s, s:s, s:i, s:[]}", "schema_version", 1, "suite_name", p->suite_name,
                               "status", "FAIL", "failures", 0, "tests");
    unsigned failures = 0;

    if (!report)
        return NULL;
    if (p->log_dir)
        mkdir(p->log_dir, 0755);
    if (p->json_path)
        json_dump_file(report, p->json_path, JSON_INDENT(2)); /* no old success stays */
    if (p->events)
        json_decref(p->events(p->ctx)); /* what came before is nobody's */
    for (unsigned i = 0; i < p->num_tests; i++) {
        json_t *r;
        if (p->progress)
            p->progress(p->ctx, p->tests[i], i, p->num_tests, NULL);
        r = run_one(p, p->tests[i]);
        failures += strcmp(json_string_value(json_object_get(r, "status")), "FAIL") == 0;
        if (p->progress)
            p->progress(p->ctx, p->tests[i], i, p->num_tests, r);
        json_array_append_new(json_object_get(report, "tests"), r);
    }
    json_object_set_new(report, "failures", json_integer(failures));
    json_object_set_new(report, "status", json_string(failures ? "FAIL" : "PASS"));
    if (p->json_path)
        json_dump_file(report, p->json_path, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    if (p->junit_path)
        runner_write_junit(p->junit_path, report);
    return report;
}
