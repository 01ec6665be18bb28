/* SPDX-License-Identifier: MIT */
/* send.c: starting aerogpu-dumper, and waiting for it no longer than allowed; what a dump is called. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/program.h"
#include "blackbox/internal.h"
#include "blackbox/package.h"

static const char dumper[] = "aerogpu-dumper";

static int spawn(pid_t *pid, const char *program, const char *path, const int *fds, int num_fds, int out)
{
    const char *const argv[] = {dumper, path, NULL};
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    sigset_t none, all;
    int r = posix_spawn_file_actions_init(&fa);

    if (r)
        return r;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    r = posix_spawn_file_actions_adddup2(&fa, out, 1);
    for (int i = 0; i < num_fds && !r; i++)
        r = posix_spawn_file_actions_adddup2(&fa, fds[i], 3 + i);
    if (!r)
        r = posix_spawn_file_actions_addclosefrom_np(&fa, 3 + num_fds);
    if (!r)
        r = posix_spawn(pid, program, &fa, &attr, (char *const *)(uintptr_t)argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&fa);
    return r;
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* 0 when it has ended, -ETIMEDOUT after killing it. */
static int await(pid_t pid, uint32_t timeout_ms, int *status)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), r = 0, news = -1;
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    const uint64_t end = now_ms() + timeout_ms;

    while (pidfd >= 0 && news < 0) { /* signals are the caller's affair */
        const uint64_t at = now_ms();

        news = poll(&p, 1, at < end ? (int)(end - at) : 0);
        if (news < 0 && errno != EINTR)
            break;
    }
    if (pidfd >= 0 && !news) {
        kill(pid, SIGKILL);
        r = -ETIMEDOUT;
    }
    if (pidfd >= 0)
        close(pidfd);
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        continue;
    return r;
}

int bb_package_send(struct bb_package *p, const struct bb_send_params *params, struct bb_error *public_error)
{
    struct error *e = bb_error_begin(public_error);
    uint32_t timeout = params->timeout_ms ? params->timeout_ms : 10000;
    int fds[1 + BB_MAX_FILES], num_fds, out[2] = {-1, -1}, status = 0, r;
    char program[PATH_MAX], text[300] = "";
    pid_t pid;

    bb_row_end(p);
    if (bb_package_failure(p))
        return error_set(e, bb_package_failure(p), "the evidence could not be gathered: %s",
                         strerror(-bb_package_failure(p)));
    r = program_find(&(struct program_params){.what = "the program that makes dumps",
                                              .wanted = params->dumper,
                                              .variable = "AEROGPU_DUMPER",
                                              .built = "src/blackbox/aerogpu-dumper",
                                              .installed = dumper,
                                              .place = PROGRAM_LIBEXEC},
                     program, sizeof(program), e);
    if (r)
        return r;
    /* Out of the way of the numbers that they get there. */
    num_fds = 1 + bb_package_files(p, fds + 1);
    fds[0] = bb_package_fd(p);
    for (int i = 0; i < num_fds; i++) {
        fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 20);
        if (fds[i] < 0 && !r)
            r = error_set(e, -errno, "%s: %s", program, strerror(errno));
    }
    if (!r && pipe2(out, O_CLOEXEC))
        r = error_set(e, -errno, "%s: %s", program, strerror(errno));
    if (!r) {
        r = spawn(&pid, program, params->path, fds, num_fds, out[1]);
        if (r)
            r = error_set(e, -r, "%s: %s", program, strerror(r));
        else if (await(pid, timeout, &status))
            r = error_set(e, -ETIMEDOUT, "%s: not written within %u ms", params->path, timeout);
    }
    if (out[1] >= 0)
        close(out[1]);
    if (!r && (!WIFEXITED(status) || WEXITSTATUS(status))) {
        ssize_t n = read(out[0], text, sizeof(text) - 1);
        text[n > 0 ? n : 0] = '\0';
        r = WIFEXITED(status) && WEXITSTATUS(status) == EEXIST ? -EEXIST : -EIO;
        error_set(e, r, "%s", n > 0 ? text : "the process that makes the dump died");
    }
    if (!r && access(params->path, F_OK))
        r = error_set(e, -EIO, "%s has made none: it is not what makes dumps", program);
    if (out[0] >= 0)
        close(out[0]);
    for (int i = 0; i < num_fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return r;
}

int bb_package_send_as(struct bb_package *p, const struct bb_dump_name *name, char path[PATH_MAX],
                       struct bb_error *e)
{
    const time_t t = time(NULL);
    char stamp[32], more[24] = "";
    uint64_t nobody_knows;
    struct tm tm;
    int r;

    strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", gmtime_r(&t, &tm));
    for (bool again = false;; again = true) {
        if ((size_t)snprintf(path, PATH_MAX, "%s/%s-%s-%u-%u%s" DUMP_SUFFIX, name->folder, name->program,
                             stamp, name->pid, name->number, more) >= PATH_MAX)
            return error_set(bb_error_begin(e), -ENAMETOOLONG, "its path would be longer than a path can be");
        r = bb_package_send(p, &(struct bb_send_params){.path = path}, e);
        if (r != -EEXIST || again ||
            getrandom(&nobody_knows, sizeof(nobody_knows), GRND_NONBLOCK) != sizeof(nobody_knows))
            return r;
        snprintf(more, sizeof(more), "-%016llx", (unsigned long long)nobody_knows);
    }
}
