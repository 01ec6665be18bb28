/* SPDX-License-Identifier: MIT */
/* peer.c: tests that need other processes start themselves again with a role and talk over pipes, a line each way. A sim
 * has no processes: there its host runs them. */
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool suite_peer_start(struct suite *s, struct suite_peer *p, const char *role)
{
    int to[2] = {-1, -1}, from[2] = {-1, -1};
    posix_spawn_file_actions_t fa;
    char arg[64], slack[32];
    char *argv[] = {(char *)(uintptr_t)s->name,    arg, slack, s->display ? "--display" : NULL,
                    (char *)(uintptr_t)s->display, NULL};
    pid_t pid = -1;

    *p = (struct suite_peer){NULL, -1, -1, -1};
    if (s->host && s->host->peer_start) {
        p->host = s->host;
        p->pid = s->host->peer_start(s->host->ctx, s->name, role);
        if (p->pid <= 0)
            suite_fail(s, "the other process cannot be started");
        return p->pid > 0;
    }
    snprintf(arg, sizeof(arg), "--role=%s", role);
    snprintf(slack, sizeof(slack), "--time-slack=%u", suite_default(s->slack, 1));
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC)) {
        suite_fail(s, "pipe: %s", strerror(errno));
        goto out;
    }
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, to[0], 0);
    posix_spawn_file_actions_adddup2(&fa, from[1], 1);
    if (posix_spawn(&pid, "/proc/self/exe", &fa, NULL, argv, environ)) {
        suite_fail(s, "the other process cannot be started");
        pid = -1;
    }
    posix_spawn_file_actions_destroy(&fa);
out:
    if (to[0] >= 0)
        close(to[0]);
    if (from[1] >= 0)
        close(from[1]);
    p->pid = pid;
    p->to = to[1];
    p->from = from[0];
    return pid > 0;
}

static bool hear(int fd, char *line, size_t size, int timeout_ms)
{
    size_t n = 0;

    for (;;) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        char c;
        line[n] = '\0';
        if (poll(&poll_fd, 1, timeout_ms) <= 0 || read(fd, &c, 1) != 1)
            return false;
        if (c == '\n')
            break;
        if (n + 1 < size)
            line[n++] = c;
    }
    return true;
}

static void say(const struct suite_host *host, int peer, int fd, const char *fmt, va_list ap)
{
    char text[400];
    int n = vsnprintf(text, sizeof(text) - 1, fmt, ap);

    if (host) {
        host->peer_say(host->ctx, peer, text);
        return;
    }
    if (n > (int)sizeof(text) - 2)
        n = (int)sizeof(text) - 2;
    text[n++] = '\n';
    if (write(fd, text, (size_t)n) != n)
        return; /* the other end is gone; hearing from it will tell */
}

static const struct suite_host *peers_of(const struct suite *s)
{
    return s->host && s->host->peer_start ? s->host : NULL;
}

void suite_peer_say(struct suite_peer *p, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say(p->host, p->pid, p->to, fmt, ap);
    va_end(ap);
}

void suite_say(struct suite *s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say(peers_of(s), 0, 1, fmt, ap);
    va_end(ap);
}

bool suite_peer_hear(struct suite_peer *p, char *line, size_t size, int timeout_ms)
{
    *line = '\0';
    return p->host ? p->host->peer_hear(p->host->ctx, p->pid, line, size, timeout_ms)
                   : hear(p->from, line, size, timeout_ms);
}

bool suite_hear(struct suite *s, char *line, size_t size, int timeout_ms)
{
    const struct suite_host *host = peers_of(s);

    return host ? host->peer_hear(host->ctx, 0, line, size, timeout_ms) : hear(0, line, size, timeout_ms);
}

int suite_peer_end(struct suite_peer *p, int timeout_ms)
{
    int status = 0, pid = p->pid;

    if (p->host) {
        p->pid = -1;
        return pid > 0 ? p->host->peer_end(p->host->ctx, pid, timeout_ms, false) : -1;
    }
    if (p->to >= 0)
        close(p->to);
    p->to = -1;
    for (int waited = 0; waitpid(p->pid, &status, WNOHANG) == 0; waited += 5) {
        if (waited >= timeout_ms) {
            suite_peer_kill(p);
            return -1;
        }
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    close(p->from);
    p->pid = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

void suite_peer_kill(struct suite_peer *p)
{
    if (p->pid <= 0)
        return;
    if (p->host) {
        p->host->peer_end(p->host->ctx, p->pid, 0, true);
        p->pid = -1;
        return;
    }
    kill(p->pid, SIGKILL);
    waitpid(p->pid, NULL, 0);
    if (p->to >= 0)
        close(p->to);
    close(p->from);
    *p = (struct suite_peer){NULL, -1, -1, -1};
}
