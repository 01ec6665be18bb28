/* SPDX-License-Identifier: MIT */
#include "cpu/capture/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "aerogpu-"

static int open_root(struct error *e)
{
    static const char *const mounted[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    int fs, fd = -1, saved;

    for (int i = 0; i < 2; i++) {
        fd = open(mounted[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 && faccessat(fd, "instances", F_OK, 0) == 0)
            return fd;
        if (fd >= 0)
            close(fd);
    }
    fs = fsopen("tracefs", FSOPEN_CLOEXEC);
    if (fs < 0) {
        saved = errno;
        return error_set(e, -saved, "tracefs cannot be mounted: %s%s", strerror(saved),
                         saved == EPERM ? "; recording needs root (CAP_SYS_ADMIN)" : "");
    }
    if (!fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
        fd = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    else
        fd = -1;
    saved = errno;
    close(fs);
    if (fd < 0)
        return error_set(e, -saved, "tracefs cannot be mounted: %s", strerror(saved));
    return fd;
}

static int write_at(int dir, const char *file, const char *text)
{
    int fd = openat(dir, file, O_WRONLY | O_TRUNC | O_CLOEXEC), r = 0;

    if (fd < 0)
        return -errno;
    if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        r = -errno;
    close(fd);
    return r;
}

static void sleep_ms(long ms)
{
    struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&ts, NULL);
}

/* The instance is busy while anybody has one of its files open. */
static void remove_instance(int root, const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "instances/%s/tracing_on", name);
    write_at(root, path, "0");
    snprintf(path, sizeof(path), "instances/%s/events/enable", name);
    write_at(root, path, "0");
    snprintf(path, sizeof(path), "instances/%s", name);
    for (int i = 0; i < 100 && unlinkat(root, path, AT_REMOVEDIR) && errno == EBUSY; i++)
        sleep_ms(20);
}

static void remove_stale(int root)
{
    int fd = openat(root, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *ent;

    while (d && (ent = readdir(d))) {
        long pid;
        if (strncmp(ent->d_name, PREFIX, strlen(PREFIX)))
            continue;
        pid = strtol(ent->d_name + strlen(PREFIX), NULL, 10);
        if (pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH)
            remove_instance(root, ent->d_name);
    }
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
}

/* Waits for the recorder's end of the pipe to close, then cleans up. Runs in its own session. */
static void guard_main(int pipe_read, int root, const char *name)
{
    char c;

    setsid();
    for (int s = 1; s < 32; s++)
        if (s != SIGCHLD)
            signal(s, SIG_IGN);
    prctl(PR_SET_NAME, "aerogpu-guard");
    for (int fd = 0; fd < 1024; fd++)
        if (fd != pipe_read && fd != root)
            close(fd);
    while (read(pipe_read, &c, 1) < 0 && errno == EINTR)
        ;
    remove_instance(root, name);
    _exit(0);
}

static int start_guard(struct cpu_tracefs *t)
{
    int p[2];

    if (pipe2(p, O_CLOEXEC))
        return -errno;
    t->guard = fork();
    if (t->guard < 0) {
        int r = -errno;
        close(p[0]);
        close(p[1]);
        return r;
    }
    if (t->guard == 0) {
        close(p[1]);
        guard_main(p[0], t->root, t->name);
    }
    close(p[0]);
    t->guard_pipe = p[1];
    return 0;
}

int cpu_tracefs_open(struct cpu_tracefs *t, uint32_t buffer_kb, struct error *e)
{
    char path[128], text[32];
    struct timespec now;
    int r;

    *t = (struct cpu_tracefs){.root = -1, .dir = -1, .guard_pipe = -1};
    t->root = open_root(e);
    if (t->root < 0)
        return t->root;
    remove_stale(t->root);
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(t->name, sizeof(t->name), PREFIX "%d-%lx", (int)getpid(), (unsigned long)now.tv_nsec);
    snprintf(path, sizeof(path), "instances/%s", t->name);
    r = start_guard(t);
    if (r) {
        error_set(e, r, "the guard process cannot be started: %s", strerror(-r));
        goto fail;
    }
    if (mkdirat(t->root, path, 0700)) {
        r = error_set(e, -errno, "tracefs: instances/%s cannot be made: %s", t->name, strerror(errno));
        goto fail;
    }
    t->dir = openat(t->root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->dir < 0) {
        r = error_set(e, -errno, "tracefs: instances/%s: %s", t->name, strerror(errno));
        goto fail;
    }
    r = cpu_tracefs_write(t, "tracing_on", "0");
    if (!r)
        r = cpu_tracefs_write(t, "trace_clock", "mono");
    if (r) {
        error_set(e, r, "tracefs: instances/%s/trace_clock: %s", t->name, strerror(-r));
        goto fail;
    }
    snprintf(text, sizeof(text), "%u", buffer_kb);
    r = cpu_tracefs_write(t, "buffer_size_kb", text);
    if (r) {
        error_set(e, r, "tracefs: %u KiB of buffer for each CPU: %s", buffer_kb, strerror(-r));
        goto fail;
    }
    return 0;
fail:
    cpu_tracefs_close(t);
    return r;
}

void cpu_tracefs_close(struct cpu_tracefs *t)
{
    for (uint32_t i = 0; i < t->num_cpus; i++)
        if (t->raw[i] >= 0)
            close(t->raw[i]);
    free(t->raw);
    if (t->dir >= 0)
        close(t->dir);
    if (t->guard_pipe >= 0) {
        close(t->guard_pipe); /* the guard removes the instance: one way for every end */
        waitpid(t->guard, NULL, 0);
    }
    if (t->root >= 0)
        close(t->root);
    *t = (struct cpu_tracefs){.root = -1, .dir = -1, .guard_pipe = -1};
}

int cpu_tracefs_write(struct cpu_tracefs *t, const char *file, const char *text)
{
    return write_at(t->dir, file, text);
}

int cpu_tracefs_read(struct cpu_tracefs *t, const char *file, struct strbuf *out)
{
    char buf[4096];
    ssize_t n;
    int fd = openat(t->dir, file, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    while ((n = read(fd, buf, sizeof(buf))) > 0)
        strbuf_append(out, buf, (size_t)n);
    close(fd);
    return n < 0 ? -errno : strbuf_failed(out) ? -ENOMEM : 0;
}

void cpu_tracefs_each_event(struct cpu_tracefs *t, const char *system,
                            void (*fn)(void *ctx, const char *event), void *ctx)
{
    char path[128];
    struct dirent *ent;
    DIR *d;
    int fd;

    snprintf(path, sizeof(path), "events/%s", system);
    fd = openat(t->dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((ent = readdir(d))) {
        snprintf(path, sizeof(path), "%.60s/format", ent->d_name);
        if (ent->d_name[0] != '.' && faccessat(fd, path, F_OK, 0) == 0)
            fn(ctx, ent->d_name);
    }
    closedir(d);
}

int cpu_tracefs_open_raw(struct cpu_tracefs *t, struct error *e)
{
    char path[128];
    uint32_t n = 0, opened = 0;

    for (uint32_t i = 0; i < 1024; i++) {
        snprintf(path, sizeof(path), "per_cpu/cpu%u", i);
        if (faccessat(t->dir, path, F_OK, 0) == 0)
            n = i + 1;
    }
    t->raw = malloc((n + 1) * sizeof(int));
    if (!t->raw)
        return error_set(e, -ENOMEM, "no memory for %u CPUs", n);
    t->num_cpus = n;
    for (uint32_t i = 0; i < n; i++) {
        snprintf(path, sizeof(path), "per_cpu/cpu%u/trace_pipe_raw", i);
        t->raw[i] = openat(t->dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        opened += t->raw[i] >= 0;
    }
    if (!opened)
        return error_set(e, -ENODEV, "tracefs: no CPU's trace_pipe_raw can be opened");
    return 0;
}
