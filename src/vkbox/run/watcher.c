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
#include "base/fds.h"
#include "vkbox/own.h"
#include "vkbox/run/dump.h"
#include "vkbox/run/owner.h"
#include "vkbox/run/run.h"

enum { SOCKET = 3, LOOK_NS = 200 * NSEC_PER_MSEC };

struct watcher {
    volatile int stop;
    bool asked;
    bool mute;          /* the program has closed the socket */
    uint64_t looked_ns; /* since then, whether it has its record */
    pid_t pid;
    char folder[64];           /* of records, without those that it is in */
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

/* Nobody speaks any more. A program that closed what it did not know is watched on; one that ran another is not, and what one that
 * is about to end did, its end tells. */
static int hear_nothing(struct watcher *w)
{
    struct clock clock;

    clock_init_live(&clock);
    if (w->mute && clock_now(&clock) - w->looked_ns < LOOK_NS)
        return 0;
    w->mute = true;
    w->looked_ns = clock_now(&clock);
    if (owner_look(w->pid, w->folder) == OWNER_HAS_OTHERS)
        w->stop = 1;
    return 0;
}

/* The next message within `ms`; 0: there is none. */
static int hear(struct watcher *w, int ms)
{
    struct pollfd socket = {.fd = SOCKET, .events = POLLIN};
    char message[VKBOX_OWN_TEXT + 1];
    size_t none = 0;
    ssize_t n;

    if (w->mute)
        return hear_nothing(w);
    if (w->stop || poll(&socket, 1, ms) <= 0)
        return 0;
    n = fds_receive(SOCKET, message, sizeof(message) - 1, NULL, &none, MSG_DONTWAIT);
    if (n <= 0)
        return n == -EAGAIN ? 0 : hear_nothing(w);
    message[n] = '\0';
    w->size = (size_t)n - 1;
    memcpy(w->text, message + 1, (size_t)n);
    w->stop |= message[0] == VKBOX_OWN_STOP;
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

static const struct vkbox_dumps *dumps_by(void *ctx, struct error *e)
{
    return &vkbox_dumps;
}

static void on_folder(void *ctx, const char *path)
{
    char text[VKBOX_OWN_TEXT];
    struct watcher *w = ctx;

    snprintf(w->folder, sizeof(w->folder), "%.60s/", strrchr(path, '/') + 1);
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
    struct watcher *w = ctx;

    say(VKBOX_OWN_DESCRIBE, "");
    await_done(w, put_meta, package);
    if (w->mute)
        bb_meta(package, "setting.description", "%s",
                "none: the program has closed the descriptor by which it is asked for one");
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
    struct vkbox_run_params p = {.dumps_by = dumps_by,
                                 .on_folder = on_folder,
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
    p.pid = w.pid = maker_of_socket();
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
