/* SPDX-License-Identifier: MIT */
#include "minimize/dumps.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utf8.h"
#include "dxgkrnl/settings.h"
#include "executor/shader/shader.h"

enum { WAIT_MS = 15000 };

static void on_crash(void *ctx, const struct watch_crash *crash, const char *path, const struct error *e)
{
    utf8_print(stderr, "aerogpu %s: %s. %s%s\n", (const char *)ctx, crash->text,
               path ? "The dump: " : "No dump was made", path ? path : "");
    if (!path && e->code)
        utf8_print(stderr, "aerogpu %s: %s\n", (const char *)ctx, e->text);
}

static void each_setting(const void *of, void (*row)(void *to, const char *name, const char *value), void *to)
{
    const struct settings *s = of;

    for (unsigned i = 0; s && i < s->count; i++) {
        char name[sizeof(s->values[i].key) + sizeof(s->values[i].name) + 1], value[16];

        snprintf(name, sizeof(name), "%s\\%s", s->values[i].key, s->values[i].name);
        snprintf(value, sizeof(value), "%u", s->values[i].value);
        row(to, name, value);
    }
}

int dumps_begin(struct watch **out, const struct dumps_params *p, struct error *e)
{
    const char *dir = getenv("AEROGPU_DUMPS");

    *out = NULL;
    if (!dir || !*dir)
        return 0;
    if (mkdir(dir, 0700) && errno != EEXIST)
        return error_set(e, -errno, "AEROGPU_DUMPS: %s: %s", dir, strerror(errno));
    return watch_create(out,
                        &(struct watch_params){.machine = p->machine,
                                               .directory = dir,
                                               .program = p->program,
                                               .producer = "aerogpu " AEROGPU_VERSION,
                                               .all_errors = p->all_errors,
                                               .settings = each_setting,
                                               .settings_of = p->settings,
                                               .max_dumps = p->max,
                                               .disassemble = shader_print,
                                               .found = on_crash,
                                               .ctx = (void *)p->program},
                        e);
}

void dumps_request(struct watch *w, const char *program)
{
    static unsigned number;
    const char *dir = getenv("AEROGPU_DUMPS");
    struct error e = {0};
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s-request-%d-%u.aerogpudump", dir ? dir : ".", program, (int)getpid(),
             ++number);
    if (watch_request(w, path, &e))
        log_error("blackbox", "%s", e.text);
}

/* ---- asking another process ---------------------------------------------- */

/* One that catches the signal does not die of it. */
static bool waits_for_requests(int pid)
{
    unsigned long long caught = 0;
    char path[64], line[256];
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "SigCgt: %llx", &caught) == 1)
            break;
    if (f)
        fclose(f);
    return caught >> (SIGUSR1 - 1) & 1;
}

static bool folder_of(int pid, char dir[3000])
{
    static const char name[] = "AEROGPU_DUMPS=";
    char path[64], cwd[2000] = "", *entry = NULL;
    size_t size = 0;
    FILE *f;
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/cwd", pid);
    n = readlink(path, cwd, sizeof(cwd) - 1);
    cwd[n > 0 ? n : 0] = '\0';
    dir[0] = '\0';
    snprintf(path, sizeof(path), "/proc/%d/environ", pid);
    f = fopen(path, "re");
    while (f && !dir[0] && getdelim(&entry, &size, '\0', f) > 0)
        if (!strncmp(entry, name, sizeof(name) - 1) && entry[sizeof(name) - 1])
            snprintf(dir, 3000, "%s%s%.900s", entry[sizeof(name) - 1] == '/' ? "" : cwd,
                     entry[sizeof(name) - 1] == '/' ? "" : "/", entry + sizeof(name) - 1);
    free(entry);
    if (f)
        fclose(f);
    return dir[0] != '\0';
}

/* The highest N of its "…-request-PID-N.aerogpudump", 0 for none. */
static unsigned newest(const char *dir, int pid, char path[4096])
{
    unsigned best = 0, n;
    struct dirent *d;
    char middle[48];
    DIR *list = opendir(dir);

    snprintf(middle, sizeof(middle), "-request-%d-", pid);
    while (list && (d = readdir(list))) {
        const char *at = strstr(d->d_name, middle);

        if (at && sscanf(at + strlen(middle), "%u.aerogpudump", &n) == 1 && n > best &&
            strstr(d->d_name, ".aerogpudump") == d->d_name + strlen(d->d_name) - 12) {
            best = n;
            snprintf(path, 4096, "%s/%s", dir, d->d_name);
        }
    }
    if (list)
        closedir(list);
    return best;
}

int dumps_ask(int pid, char path[4096], struct error *e)
{
    char dir[3000];
    unsigned before;

    if (kill(pid, 0))
        return error_set(e, -errno, "process %d: %s", pid, strerror(errno));
    if (!waits_for_requests(pid) || !folder_of(pid, dir))
        return error_set(
            e, -ENOTSUP,
            "process %d makes no dumps: it is no `aerogpu serve` that was started with AEROGPU_DUMPS", pid);
    before = newest(dir, pid, path);
    if (kill(pid, SIGUSR1))
        return error_set(e, -errno, "process %d: %s", pid, strerror(errno));
    for (int ms = 0; ms < WAIT_MS; ms += 20, usleep(20000))
        if (newest(dir, pid, path) > before)
            return 0;
    return error_set(e, -ETIMEDOUT, "process %d made no dump in %d s", pid, WAIT_MS / 1000);
}
