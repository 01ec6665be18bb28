/* send.c: starting aerogpu-dumper, and waiting for it no longer than allowed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blackbox/internal.h"
#include "blackbox/package.h"

#define PROGRAM "aerogpu-dumper"

static bool find_beside(const char *self, char *path, size_t size)
{
    static const char *const places[] = {PROGRAM, "libexec/" PROGRAM, "src/blackbox/" PROGRAM};
    char dir[PATH_MAX], *slash;

    snprintf(dir, sizeof(dir), "%s", self);
    for (int up = 0; up < 4 && (slash = strrchr(dir, '/')); up++) {
        *slash = '\0';
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
            if ((size_t)snprintf(path, size, "%s/%s", dir, places[i]) < size && !access(path, X_OK))
                return true;
    }
    return false;
}

static int find_dumper(const char *wanted, char *path, size_t size, struct error *e)
{
    char self[PATH_MAX];
    ssize_t n;

    if (!wanted)
        wanted = getenv("AEROGPU_DUMPER");
    if (wanted) {
        if ((size_t)snprintf(path, size, "%s", wanted) >= size || access(path, X_OK))
            return error_set(e, -ENOENT, "%.200s is no program that makes dumps", wanted);
        return 0;
    }
    n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = '\0';
    if (find_beside(self, path, size))
        return 0;
    if ((size_t)snprintf(path, size, "%s", BB_LIBEXECDIR "/" PROGRAM) < size && !access(path, X_OK))
        return 0;
    return error_set(
        e, -ENOENT, PROGRAM " is neither in " BB_LIBEXECDIR " nor beside %.150s (AEROGPU_DUMPER can name it)",
        self);
}

static int spawn(pid_t *pid, const char *program, const char *path, const int *fds, int num_fds, int out)
{
    static char name[] = PROGRAM;
    char *argv[] = {name, (char *)path, NULL};
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
        r = posix_spawn(pid, program, &fa, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&fa);
    return r;
}

/* 0 when it has ended, -ETIMEDOUT after killing it. */
static int await(pid_t pid, uint32_t timeout_ms, int *status)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), r = 0;
    struct pollfd p = {.fd = pidfd, .events = POLLIN};

    if (pidfd >= 0 && poll(&p, 1, (int)timeout_ms) == 0) {
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
    struct error *e = bb_error_of(public_error);
    uint32_t timeout = params->timeout_ms ? params->timeout_ms : 10000;
    int fds[1 + BB_MAX_FILES], num_fds, out[2] = {-1, -1}, status = 0, r;
    char program[PATH_MAX], text[300] = "";
    pid_t pid;

    bb_row_end(p);
    if (bb_package_failure(p))
        return error_set(e, bb_package_failure(p), "the evidence could not be gathered: %s",
                         strerror(-bb_package_failure(p)));
    r = find_dumper(params->dumper, program, sizeof(program), e);
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
        r = error_set(e, -EIO, "%s", n > 0 ? text : "the process that makes the dump died");
    }
    if (out[0] >= 0)
        close(out[0]);
    for (int i = 0; i < num_fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return r;
}
