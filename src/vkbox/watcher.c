/* SPDX-License-Identifier: MIT */
/* watcher.c: aerogpu-vkbox-watcher TIMEOUT_MS DUMPS: the process that watches a program which has the black box of its own
 * accord (own.h). It is nobody's child, so that the program does not find it among its own; what happens to the program's
 * terminal does not concern it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <aerogpu/blackbox.h>

#include "base/clock.h"
#include "vkbox/own.h"
#include "vkbox/run.h"

enum { SOCKET = 3 };

struct watcher {
    volatile int stop;
    bool asked;
    char text[VKBOX_OWN_TEXT]; /* the last message, without its letter */
    size_t size;
};

static void say(enum vkbox_own_message what, const char *text)
{
    char message[VKBOX_OWN_TEXT] = {(char)what};
    size_t n = strnlen(text, sizeof(message) - 2);

    memcpy(message + 1, text, n);
    while (send(SOCKET, message, n + 1, MSG_NOSIGNAL) < 0 && errno == EINTR)
        continue;
}

/* The next message within `ms`; 0: there is none. */
static int hear(struct watcher *w, int ms)
{
    struct pollfd socket = {.fd = SOCKET, .events = POLLIN};
    char message[VKBOX_OWN_TEXT + 1];
    ssize_t n;

    if (w->stop || poll(&socket, 1, ms) <= 0)
        return 0;
    n = recv(SOCKET, message, sizeof(message) - 1, MSG_DONTWAIT);
    if (n <= 0) { /* the program closed it, ran another, or is gone; the last is found out in another way */
        w->stop = n < 0 && (errno == EAGAIN || errno == EINTR) ? w->stop : 1;
        return 0;
    }
    message[n] = '\0';
    w->size = (size_t)n - 1;
    memcpy(w->text, message + 1, (size_t)n);
    return message[0];
}

/* Whoever must answer may be stopped, or gone: what there is to do is done without. */
static void await_done(struct watcher *w, void (*meta)(const struct watcher *w, void *ctx), void *ctx)
{
    int what;

    for (int lines = 0; lines < VKBOX_OWN_LINES + 2 && (what = hear(w, VKBOX_OWN_WAIT_MS)); lines++) {
        w->asked |= what == VKBOX_OWN_COLLECT;
        if (what == VKBOX_OWN_DONE)
            return;
        if (what == VKBOX_OWN_META && meta)
            meta(w, ctx);
    }
}

static void put_meta(const struct watcher *w, void *package)
{
    char key[80];

    if (strlen(w->text) < w->size) {
        snprintf(key, sizeof(key), "app.%.70s", w->text);
        bb_meta(package, key, "%s", w->text + strlen(w->text) + 1);
    }
}

static void on_folder(void *ctx, const char *path)
{
    char text[VKBOX_OWN_TEXT];

    snprintf(text, sizeof(text), "%d %.4000s", (int)getpid(), path);
    say(VKBOX_OWN_READY, text);
}

static bool is_asked(void *ctx)
{
    struct watcher *w = ctx;
    bool asked = hear(w, 0) == VKBOX_OWN_COLLECT || w->asked;

    w->asked = false;
    return asked;
}

static void on_answered(void *ctx)
{
    say(VKBOX_OWN_COLLECTED, "");
}

static void on_describe(void *ctx, struct bb_package *package)
{
    say(VKBOX_OWN_DESCRIBE, "");
    await_done(ctx, put_meta, package);
}

static void on_dump(void *ctx, const char *path)
{
    say(VKBOX_OWN_DUMP, path);
    await_done(ctx, NULL, NULL);
}

static void on_trouble(void *ctx, const char *text)
{
    say(VKBOX_OWN_NO_DUMP, text);
}

/* The program, by its number here. */
static pid_t maker_of_socket(void)
{
    struct ucred maker = {0};
    socklen_t size = sizeof(maker);

    return getsockopt(SOCKET, SOL_SOCKET, SO_PEERCRED, &maker, &size) ? 0 : maker.pid;
}

int main(int argc, char **argv)
{
    struct watcher w = {0};
    struct vkbox_run_params p = {.on_folder = on_folder,
                                 .is_asked = is_asked,
                                 .on_answered = on_answered,
                                 .on_describe = on_describe,
                                 .on_dump = on_dump,
                                 .on_trouble = on_trouble,
                                 .stop = &w.stop,
                                 .ctx = &w};
    struct vkbox_run_result result;
    struct error e = {0};

    if (argc != 3 || fcntl(SOCKET, F_GETFD) < 0) {
        fprintf(stderr, "aerogpu-vkbox-watcher is started by programs that watch themselves, not by hand\n");
        return 2;
    }
    /* Whoever started this waits for it, and for it alone. */
    if (fork())
        _exit(0);
    setsid();
    signal(SIGHUP, SIG_IGN);
    fcntl(SOCKET, F_SETFD, FD_CLOEXEC);
    p.pid = maker_of_socket();
    p.timeout_ns = strtoull(argv[1], NULL, 10) * NSEC_PER_MSEC;
    p.dumps = argv[2];
    if (!p.pid) {
        say(VKBOX_OWN_FAILED, "the program cannot be seen from the PID namespace that its children are in");
        return 1;
    }
    if (vkbox_run(&p, &result, &e)) {
        say(VKBOX_OWN_FAILED, e.text);
        return 1;
    }
    return 0;
}
