/* SPDX-License-Identifier: MIT */
/* runner.c: see runner.h. */
#include "runner.h"

#include "base/array.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/file/out.h"
#include "base/options.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "expect.h"
#include "report/json_show.h"
#include "report/junit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

static volatile sig_atomic_t stopped, current; /* current: the test's process group */

void runner_stop(void)
{
    stopped = 1;
    if (current)
        kill(-(pid_t)current, SIGKILL);
}

static double now_ms(void)
{
    return (double)clock_now(&(struct clock){0}) / 1e6;
}

int runner_manifest(const char *path, char ***names, unsigned *count)
{
    FILE *f = fopen(path, "re");
    char line[512];
    size_t room = 0;
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
        r = array_reserve(*names, room, n + 1);
        if (!r && !((*names)[n] = strdup(word)))
            r = -ENOMEM;
        n += !r;
    }
    if (ferror(f) && !r)
        r = -EIO;
    fclose(f);
    while (r && n)
        free((*names)[--n]);
    if (r) {
        free(*names);
        *names = NULL;
    }
    *count = n;
    INVARIANT(!r || (!*names && !*count));
    return r;
}

/* Whether that process was started with this in its environment. */
static bool has_marker(const char *pid, const char *marker)
{
    char path[64], part[4096];
    struct strbuf text = {0};
    bool found = false;
    size_t n;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
    f = fopen(path, "re");
    if (!f)
        return false;
    while ((n = fread(part, 1, sizeof(part), f)) > 0)
        strbuf_append(&text, part, n);
    for (size_t at = 0; at < text.len && !found; at += strlen(text.data + at) + 1)
        found = !strcmp(text.data + at, marker);
    strbuf_finish(&text);
    fclose(f);
    return found;
}

/* Whatever the test started and did not end, in whatever group or session it is. */
static void kill_marked(const char *marker)
{
    for (int round = 0, found = 1; found && round < 50; round++) {
        DIR *proc = opendir("/proc");
        struct dirent *e;
        found = 0;
        while (proc && (e = readdir(proc))) {
            pid_t pid = (pid_t)atoi(e->d_name);
            if (pid > 0 && pid != getpid() && has_marker(e->d_name, marker))
                found += !kill(pid, SIGKILL);
        }
        if (proc)
            closedir(proc);
        if (found)
            nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
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
        kill(-pid, SIGKILL); /* the group, at once */
    waitpid(pid, &status, 0);
    kill(-pid, SIGKILL);
    if (late)
        return TIMEOUT_EXIT;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int runner_exec(char *const argv[], const char *out_path, const char *err_path, int timeout_ms)
{
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    static unsigned serial;
    char marker[64], **env;
    size_t n = 0;
    pid_t pid;
    int r;

    while (environ[n])
        n++;
    env = malloc((n + 2) * sizeof(*env));
    if (!env)
        return 127;
    snprintf(marker, sizeof(marker), "AEROGPU_TEST_RUN=%d.%u", (int)getpid(), ++serial);
    memcpy(env, environ, n * sizeof(*env));
    env[n] = marker;
    env[n + 1] = NULL;
    posix_spawn_file_actions_init(&fa);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&fa, 1, out_path ? out_path : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    if (err_path && out_path && !strcmp(out_path, err_path))
        posix_spawn_file_actions_adddup2(&fa, 1, 2);
    else
        posix_spawn_file_actions_addopen(&fa, 2, err_path ? err_path : "/dev/null",
                                         O_WRONLY | O_CREAT | O_TRUNC, 0600);
    r = posix_spawn(&pid, argv[0], &fa, &attr, argv, env);
    posix_spawn_file_actions_destroy(&fa);
    posix_spawnattr_destroy(&attr);
    free(env);
    if (!r) {
        current = pid;
        if (stopped)
            kill(-pid, SIGKILL);
        r = wait_for(pid, timeout_ms);
        current = 0;
    } else {
        r = 127;
    }
    kill_marked(marker);
    return r;
}

static void add_artifact(struct test_result *result, const char *path)
{
    struct stat st;

    if (!stat(path, &st) && S_ISREG(st.st_mode) && st.st_size)
        test_result_artifact(result, path);
}

/* `ms` times the --time-slack that the tests get. */
static int slackened(const struct runner_params *p, int ms)
{
    static const char option[] = "--time-slack";
    unsigned long slack = 1;

    for (unsigned i = 0; i < p->num_extra; i++) {
        const char *a = p->extra[i], *value = a + sizeof(option) - 1;
        if (strncmp(a, option, sizeof(option) - 1) != 0)
            continue;
        if (*value == '=')
            slack = strtoul(value + 1, NULL, 10);
        else if (!*value && i + 1 < p->num_extra)
            slack = strtoul(p->extra[i + 1], NULL, 10);
    }
    if (!slack || ms <= 0)
        return ms;
    return slack > (unsigned long)(INT_MAX / ms) ? INT_MAX : ms * (int)slack;
}

/* State, error latch and last submissions of a test that failed. */
static void snapshot(const struct runner_params *p, const char *test, const char *dir,
                     struct test_result *result)
{
    static const struct {
        const char *suffix;
        const char *args[6];
    } shots[] = {
        {"status", {"--status"}},
        {"query_error", {"--query-error"}},
        {"dump_log", {"--dump-log"}},
        {"dump_last_cmd", {"--dump-last-cmd", "--count", "4", "--cmd-out"}},
    };
    static const char *const siblings[] = {"", ".alloc_table.bin", ".txt"};
    char out[2 * PATH_SIZE], cmd[2 * PATH_SIZE];

    for (int k = 0; k < 4 * 3; k++) {
        snprintf(cmd, sizeof(cmd), "%s/dbgctl_%s_cmd_%d.bin%s", dir, test, k / 3, siblings[k % 3]);
        unlink(cmd);
    }
    for (int i = 0; i < 4; i++) {
        char *argv[12] = {(char *)(uintptr_t)p->dbgctl};
        int n = 1;
        snprintf(out, sizeof(out), "%s/dbgctl_%s_%s.txt", dir, test, shots[i].suffix);
        snprintf(cmd, sizeof(cmd), "%s/dbgctl_%s_cmd.bin", dir, test);
        for (int k = 0; k < 6 && shots[i].args[k]; k++)
            argv[n++] = (char *)(uintptr_t)shots[i].args[k];
        if (i == 3)
            argv[n++] = cmd;
        argv[n] = NULL;
        runner_exec(argv, out, out, slackened(p, p->dbgctl_timeout_ms));
        add_artifact(result, out);
        for (int k = 0; i == 3 && k < 4 * 3;
             k++) { /* what an older run left is not of this one: unlinked before */
            snprintf(cmd, sizeof(cmd), "%s/dbgctl_%s_cmd_%d.bin%s", dir, test, k / 3, siblings[k % 3]);
            add_artifact(result, cmd);
        }
    }
}

/* What the exit code says counts more than what the test wrote. */
static void settle(struct test_result *r, int code, int timeout_ms)
{
    r->exit_code = code;
    if (code == TIMEOUT_EXIT)
        test_result_fail(r, "no end after %d ms: killed (--time-slack N multiplies this limit)", timeout_ms);
    else if (code == 127)
        test_result_fail(r, "the program is missing or cannot be started");
    else if (code > 128)
        test_result_fail(r, "%s%s", stopped ? "the run was interrupted" : "ended by signal: ",
                         stopped ? "" : strsignal(code - 128));
    else if (code && r->status != TEST_FAIL)
        test_result_fail(r, "exit code %d%s", code,
                         code == EXIT_USAGE ? ": it does not take these options, its stderr says which" : "");
    INVARIANT(!code || r->status == TEST_FAIL);
}

/* Where the JSON of the tests goes: beside the report, to the logs, or somewhere that only we know. */
static const char *json_dir(const struct runner_params *p, char *buffer, size_t size)
{
    const char *slash = p->json_path ? strrchr(p->json_path, '/') : NULL;

    if (slash)
        snprintf(buffer, size, "%.*s", slash == p->json_path ? 1 : (int)(slash - p->json_path), p->json_path);
    else if (p->json_path)
        snprintf(buffer, size, ".");
    else if (p->log_dir)
        snprintf(buffer, size, "%s", p->log_dir);
    else
        snprintf(buffer, size, "/tmp/aerogpu-tests-XXXXXX");
    return p->json_path || p->log_dir || mkdtemp(buffer) ? buffer : NULL;
}

/* What a program says of its options; all of them get the same. */
static void say_usage(const char *name, const char *path)
{
    char line[512] = "it does not take these options";
    FILE *f = fopen(path, "r");

    if (f) {
        if (fgets(line, sizeof(line), f))
            line[strcspn(line, "\r\n")] = '\0';
        fclose(f);
    }
    if (!strncmp(line, name, strlen(name)))
        utf8_print(stderr, "aerogpu_test_runner: %s\n", line);
    else
        utf8_print(stderr, "aerogpu_test_runner: %s: %s\n", name, line);
}

static void run_one(const struct runner_params *p, const char *name, const char *dir,
                    struct test_result *result)
{
    char program[PATH_SIZE], json[2 * PATH_SIZE], json_arg[2 * PATH_SIZE + 8], log_arg[2 * PATH_SIZE],
        out[2 * PATH_SIZE], err[2 * PATH_SIZE];
    const char *logs = p->log_dir ? p->log_dir : dir;
    char *argv[MAX_ARGS];
    unsigned n = 0;
    int code, limit = p->timeout_ms;
    double start = now_ms();

    snprintf(program, sizeof(program), "%s/%s", p->bin_dir, name);
    snprintf(json, sizeof(json), "%s/%s.json", dir, name);
    snprintf(json_arg, sizeof(json_arg), "--json=%s", json);
    snprintf(log_arg, sizeof(log_arg), "--log-dir=%s", logs);
    snprintf(out, sizeof(out), "%s/%s.stdout.txt", logs, name);
    snprintf(err, sizeof(err), "%s/%s.stderr.txt", logs, name);
    unlink(json);
    argv[n++] = program;
    argv[n++] = json_arg;
    if (p->log_dir)
        argv[n++] = log_arg;
    for (unsigned i = 0; i < p->num_extra && n < MAX_ARGS - 1; i++)
        argv[n++] = (char *)(uintptr_t)p->extra[i];
    INVARIANT(n < MAX_ARGS);
    argv[n] = NULL;
    if (!strcmp(name, "dbgctl_escape_security_sanity") && (!limit || limit > 5000))
        limit = 5000;
    limit = slackened(p, limit);
    if (access(program, X_OK))
        code = 127;
    else
        code = runner_exec(argv, p->log_dir ? out : NULL, err, limit);
    test_result_init(result, name, json_load_file(json, 0, NULL));
    settle(result, code, limit);
    if (code == EXIT_USAGE)
        say_usage(name, err);
    result->duration_ms = now_ms() - start;
    if (p->log_dir) {
        add_artifact(result, out);
        add_artifact(result, err);
    } else {
        if (!p->json_path)
            unlink(json);
        unlink(err);
    }
    expect_services(result);
    if (p->events) {
        json_t *events = p->events(p->ctx);
        expect_check(result, events);
        json_decref(events);
    }
    if (result->status == TEST_FAIL && p->dbgctl)
        snapshot(p, name, p->log_dir || p->json_path ? logs : ".", result);
    if (p->json_path) { /* with what the runner knows: exit code, events, artifacts */
        json_t *whole = test_result_json(result);
        runner_write_json(json, whole);
        json_decref(whole);
    }
}

int runner_write_json(const char *path, const json_t *report)
{
    FILE *f = out_file_result(path, NULL);
    int r = f ? 0 : -errno;

    errno = 0;
    if (f && json_show(report, f, JSON_INDENT(2) | JSON_REAL_PRECISION(9)))
        r = errno ? -errno : -EIO;
    if (f && fclose(f) && !r)
        r = -errno;
    return r;
}

int runner_write_junit(const char *path, const char *suite_name, const struct test_results *results)
{
    struct strbuf o = {0};
    FILE *f;
    int r;

    junit_begin(&o, &(struct junit_suite){.name = suite_name,
                                          .tests = results->num,
                                          .failures = test_results_count(results, TEST_FAIL),
                                          .skipped = test_results_count(results, TEST_SKIP)});
    for (size_t i = 0; i < results->num; i++) {
        const struct test_result *t = &results->items[i];

        junit_case(&o, &(struct junit_case){.classname = "aerogpu",
                                            .name = t->name,
                                            .seconds = t->duration_ms / 1e3,
                                            .outcome = t->status == TEST_PASS   ? NULL
                                                       : t->status == TEST_FAIL ? "failure"
                                                                                : "skipped",
                                            .message = t->why});
    }
    junit_end(&o);
    r = strbuf_failed(&o) ? -ENOMEM : 0;
    f = r ? NULL : out_file_result(path, NULL);
    if (!r && !f)
        r = -errno;
    if (f) {
        bool cut = fwrite(o.data, 1, o.len, f) != o.len;
        if (fclose(f) || cut)
            r = -EIO;
    }
    strbuf_finish(&o);
    return r;
}

/* A folder with those above it. */
static int make_folder(const char *path)
{
    char part[PATH_SIZE];
    struct stat st;

    if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part))
        return -ENAMETOOLONG;
    for (char *c = part + 1; *c; c++)
        if (*c == '/') {
            *c = '\0';
            mkdir(part, 0700);
            *c = '/';
        }
    if (mkdir(part, 0700) && errno != EEXIST)
        return -errno;
    return stat(part, &st) ? -errno : S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

static int write_report(const struct runner_params *p, const struct test_results *results, bool done)
{
    unsigned failures = test_results_count(results, TEST_FAIL);
    json_t *report;
    int r = 0;

    if (!p->json_path)
        return 0;
    report = json_pack("{s:i, s:s, s:s, s:i, s:o}", "schema_version", 1, "suite_name", p->suite_name,
                       "status", done && !failures && !stopped ? "PASS" : "FAIL", "failures", (int)failures,
                       "tests", test_results_json(results));
    if (done && stopped)
        json_object_set_new(report, "interrupted", json_true());
    r = runner_write_json(p->json_path, report);
    json_decref(report);
    if (r)
        utf8_print(stderr, "aerogpu_test_runner: %s: %s\n", p->json_path, strerror(-r));
    return r;
}

/* A test that could not say which adapter it ran on ran on the one that the others name. */
static void give_adapter(struct test_results *results)
{
    json_t *adapter = NULL;

    for (size_t i = 0; i < results->num && !json_is_object(adapter); i++)
        adapter = json_object_get(results->items[i].details, "adapter");
    for (size_t i = 0; i < results->num && json_is_object(adapter); i++)
        if (!json_is_object(json_object_get(results->items[i].details, "adapter")))
            json_object_set(results->items[i].details, "adapter", adapter);
}

/* All of them into `mine`. */
static int run_all(const struct runner_params *p, struct test_results *mine, const char *dir)
{
    int r = 0;

    if (p->events)
        json_decref(p->events(p->ctx)); /* what came before is nobody's */
    for (unsigned i = 0; i < p->num_tests && !stopped && !r; i++) {
        struct test_result t;
        bool usage;

        if (p->progress)
            p->progress(p->ctx, p->tests[i], i, p->num_tests, NULL);
        run_one(p, p->tests[i], dir, &t);
        if (p->progress)
            p->progress(p->ctx, p->tests[i], i, p->num_tests, &t);
        usage = t.exit_code == EXIT_USAGE;
        r = test_results_add(mine, &t);
        if (!r && usage)
            r = -EINVAL; /* the options are wrong, which says nothing of the service: the others would say the same */
    }
    INVARIANT(r || stopped || mine->num == p->num_tests); /* 2: what does not exist is there as a failure */
    give_adapter(mine);
    return r;
}

int runner_run(const struct runner_params *p, struct test_results *out)
{
    struct test_results mine = {0};
    char buffer[PATH_SIZE];
    const char *dir = NULL;
    int r = p->log_dir ? make_folder(p->log_dir) : 0, rest = 0;

    if (r)
        utf8_print(stderr, "aerogpu_test_runner: %s: %s\n", p->log_dir, strerror(-r));
    if (!r && !(dir = json_dir(p, buffer, sizeof(buffer))))
        r = -errno;
    if (!r)
        r = write_report(p, &mine, false); /* no old success stays */
    if (!r)
        r = run_all(p, &mine, dir);
    if (dir && !p->json_path && !p->log_dir)
        rmdir(dir);
    if (!r && p->junit_path) {
        r = runner_write_junit(p->junit_path, p->suite_name, &mine);
        if (r)
            utf8_print(stderr, "aerogpu_test_runner: %s: %s\n", p->junit_path, strerror(-r));
    }
    rest = write_report(p, &mine, true);
    r = r ? r : rest;
    for (size_t i = 0; i < mine.num; i++)
        if (test_results_add(out, &mine.items[i]))
            r = -ENOMEM;
    free(mine.items);
    return r ? r : stopped ? -EINTR : 0;
}
