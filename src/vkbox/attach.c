/* SPDX-License-Identifier: MIT */
/* attach.c: bb_vk_*: the black box of a program that has it of its own accord.
 *
 *   bb_vk_start:  watcher started ──READY──▶ layer loaded, record made ──▶ a thread listens
 *   the thread:   DESCRIBE ──▶ on_describe, META*, DONE        DUMP ──▶ on_dump, DONE        NO_DUMP
 *   collect:      COLLECT, unless one is under way ──▶ (as above) ──▶ COLLECTED: everybody who waits is answered
 *
 * Invariants:
 *  1. What a callback is told is in the dump's file already.
 *  2. The program has no child of ours, no descriptor of ours in what it runs, and no signal handled in our thread.
 *  3. Where the watcher is gone, everything here answers, and says so.
 *  4. A descriptor with the socket's number that is not the socket is the program's, and not touched.
 *  5. What the process that started it forks can do nothing to its watching: no thread of ours is there, and the socket is shared.
 */
#include <aerogpu/blackbox.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fds.h"
#include "base/file/part.h"
#include "base/program.h"
#include "blackbox/dump_read.h"
#include "vkbox/box.h"
#include "vkbox/own.h"

enum { START_MS = 10000, COLLECT_MS = 10000, LOOK_MS = 1000 };

struct bb_vk {
    struct bb_vk_params p;
    const struct vkbox_own *layer;
    int socket; /* -1: `aerogpu run` watches */
    ino_t
        socket_ino; /* by which it is known: a program may close what it does not know, and have the number anew */
    pid_t process;      /* that started it */
    const char *shown;  /* the loader's variable that names the layer's folder; NULL: none yet */
    char *shown_before; /* what that held, NULL: it was not set */
    bool listens;       /* there is a thread */
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    uint32_t collected;  /* counts what was asked for and is answered */
    bool collecting;     /* one is asked for */
    bool gone;           /* the watcher */
    int failed;          /* of the last answer: 0, or -EIO */
    char dump[PATH_MAX]; /* the last one's path, "" none */
    char trouble[300];   /* why there was none */
};

struct bb_vk_description {
    struct bb_vk *b;
    uint32_t lines;
};

/* ---- who may ask ----------------------------------------------------------- */

static bool is_forked(const struct bb_vk *b)
{
    return b->process != getpid();
}

/* 0; -EINVAL: there is no `what`; -ECHILD. */
static int refuse(const struct bb_vk *b, const void *what, const char *name, struct error *e)
{
    if (!b)
        return error_set(e, -EINVAL, "bb is NULL: bb_vk_start() made none");
    if (is_forked(b))
        return error_set(
            e, -ECHILD,
            "process %d started the black box, and this is one that it forked: nothing watches it",
            (int)b->process);
    return what ? 0 : error_set(e, -EINVAL, "%s is NULL", name);
}

/* ---- messages ------------------------------------------------------------- */

static bool has_socket(const struct bb_vk *b)
{
    struct stat st;

    return !fstat(b->socket, &st) && S_ISSOCK(st.st_mode) && st.st_ino == b->socket_ino;
}

static bool say(const struct bb_vk *b, enum vkbox_own_message what, const char *text, size_t size)
{
    char message[VKBOX_OWN_TEXT] = {(char)what};
    ssize_t n;

    memcpy(message + 1, text, size);
    do
        n = has_socket(b) ? send(b->socket, message, size + 1, MSG_NOSIGNAL) : 0;
    while (n < 0 && errno == EINTR);
    return n > 0;
}

/* The next one, ended by a zero; 0: there will be none. Within `ms`, -1: at any time. */
static int hear(const struct bb_vk *b, char text[VKBOX_OWN_TEXT + 1], int ms)
{
    struct pollfd p = {.fd = b->socket, .events = POLLIN};
    char message[VKBOX_OWN_TEXT + 1];
    size_t none = 0;
    ssize_t n;
    int r;

    /* Of a descriptor that is closed meanwhile poll() says nothing. */
    do
        r = has_socket(b) ? poll(&p, 1, ms < 0 ? LOOK_MS : ms) : -1;
    while ((r < 0 && errno == EINTR && has_socket(b)) || (!r && ms < 0));
    if (r <= 0 || !has_socket(b))
        return 0;
    n = fds_receive(b->socket, message, sizeof(message) - 1, NULL, &none, MSG_DONTWAIT);
    if (n <= 0)
        return 0;
    message[n] = '\0';
    memcpy(text, message + 1, (size_t)n);
    return message[0];
}

void bb_vk_describe(struct bb_vk_description *d, const char *key, const char *text)
{
    const size_t k = key ? strnlen(key, 70) : 0, t = text ? strnlen(text, VKBOX_OWN_LINE) : 0;
    char line[72 + VKBOX_OWN_LINE];

    if (!d || !key || d->lines++ >= VKBOX_OWN_LINES)
        return;
    memcpy(line, key, k);
    line[k] = '\0';
    memcpy(line + k + 1, t ? text : "", t);
    say(d->b, VKBOX_OWN_META, line, k + 1 + t);
}

static void answered(struct bb_vk *b, const char *dump, const char *trouble)
{
    pthread_mutex_lock(&b->lock);
    b->failed = dump ? 0 : -EIO;
    if (dump)
        snprintf(b->dump, sizeof(b->dump), "%.4095s", dump);
    else
        snprintf(b->trouble, sizeof(b->trouble), "%.299s", trouble);
    pthread_mutex_unlock(&b->lock);
}

/* What was asked for is done; `gone`: nothing will be any more. */
static void collected(struct bb_vk *b, bool gone)
{
    pthread_mutex_lock(&b->lock);
    b->collected += !gone;
    b->collecting = false;
    b->gone = gone;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

static void *listen_to(void *arg)
{
    char text[VKBOX_OWN_TEXT + 1];
    struct bb_vk *b = arg;
    int what;

    while ((what = hear(b, text, -1))) {
        struct bb_vk_description d = {b, 0};

        switch (what) {
        case VKBOX_OWN_DESCRIBE:
            if (b->p.on_describe)
                b->p.on_describe(b->p.ctx, &d);
            say(b, VKBOX_OWN_DONE, "", 0);
            break;
        case VKBOX_OWN_DUMP:
            answered(b, text, NULL);
            if (b->p.on_dump)
                b->p.on_dump(b->p.ctx, text);
            say(b, VKBOX_OWN_DONE, "", 0);
            break;
        case VKBOX_OWN_COLLECTED:
            collected(b, false);
            break;
        default:
            answered(b, NULL, text);
        }
    }
    collected(b, true);
    return NULL;
}

/* ---- starting ------------------------------------------------------------- */

static int start_watcher(struct bb_vk *b, struct error *e)
{
    char path[PATH_MAX], ms[16], dumps[PATH_MAX];
    char *argv[] = {path, ms, dumps, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2], r;
    struct stat st;
    pid_t started;

    if (!realpath(b->p.dumps ? b->p.dumps : ".", dumps) || stat(dumps, &st) ||
        (!S_ISDIR(st.st_mode) && (errno = ENOTDIR)) || access(dumps, W_OK | X_OK))
        return error_set(e, -errno, "no dumps can be written to %s: %s", b->p.dumps ? b->p.dumps : ".",
                         strerror(errno));
    r = program_find(&(struct program_params){.what = "what watches a program",
                                              .variable = "AEROGPU_VKBOX_WATCHER",
                                              .built = "src/vkbox/aerogpu-vkbox-watcher",
                                              .installed = "aerogpu-vkbox-watcher",
                                              .place = PROGRAM_LIBEXEC},
                     path, sizeof(path), e);
    if (r)
        return r;
    snprintf(ms, sizeof(ms), "%u", b->p.timeout_ms ? b->p.timeout_ms : 10000);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return error_set(e, -errno, "no socket: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    if (ends[1] == 3) /* dup2() would leave it to be closed */
        r = fcntl(ends[1], F_SETFD, 0) ? errno : 0;
    else
        r = posix_spawn_file_actions_adddup2(&actions, ends[1], 3);
    if (!r)
        r = posix_spawn(&started, path, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (r) {
        close(ends[0]);
        return error_set(e, -r, "cannot run %s: %s", path, strerror(r));
    }
    while (waitpid(started, NULL, 0) < 0 && errno == EINTR)
        continue;
    b->socket = ends[0];
    b->socket_ino = fstat(ends[0], &st) ? 0 : st.st_ino;
    return 0;
}

static int load_layer(struct bb_vk *b, char folder[PATH_MAX], struct error *e)
{
    char library[PATH_MAX + 64];
    void *loaded;
    int r = program_find(&(struct program_params){.what = "the Vulkan layer (of a build without a sanitizer)",
                                                  .variable = "AEROGPU_BLACKBOX_LAYER",
                                                  .built = "src/vkbox/VkLayer_AEROGPU_blackbox.json",
                                                  .installed = "aerogpu/VkLayer_AEROGPU_blackbox.json",
                                                  .place = PROGRAM_LIB,
                                                  .is_data = true},
                         folder, PATH_MAX, e);

    if (r)
        return r;
    dirname(folder);
    snprintf(library, sizeof(library), "%s/libVkLayer_AEROGPU_blackbox.so", folder);
    r = part_check(library, AEROGPU_VERSION, e);
    if (r)
        return r;
    loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    b->layer = loaded ? dlsym(loaded, VKBOX_OWN) : NULL;
    if (!b->layer || b->layer->version != VKBOX_OWN_VERSION)
        return error_set(e, -ENOENT, "%s is not the layer of this version%s%s", library, loaded ? "" : ": ",
                         loaded ? "" : dlerror());
    return 0;
}

/* The loader looks there as well, in this process and those that it starts; nothing is loaded from there that nobody names. */
static int show_to_loader(struct bb_vk *b, const char *folder, struct error *e)
{
    const char *name = getenv("VK_LAYER_PATH") ? "VK_LAYER_PATH" : "VK_ADD_LAYER_PATH",
               *before = getenv(name);
    char *all;
    int r;

    if (asprintf(&all, "%s%s%s", before ? before : "", before && *before ? ":" : "", folder) < 0)
        return error_set(e, -ENOMEM, "no memory");
    b->shown_before = before ? strdup(before) : NULL;
    r = before && !b->shown_before ? -1 : setenv(name, all, 1);
    free(all);
    if (r)
        return error_set(e, -ENOMEM, "no memory for the environment");
    b->shown = name;
    return 0;
}

static void hide_from_loader(const struct bb_vk *b)
{
    if (b->shown && b->shown_before)
        setenv(b->shown, b->shown_before, 1);
    else if (b->shown)
        unsetenv(b->shown);
}

/* `text`: "PID FOLDER". */
static int meet_watcher(struct bb_vk *b, char text[VKBOX_OWN_TEXT + 1], struct error *e)
{
    int what;

    do
        what = hear(b, text, START_MS);
    while (what == VKBOX_OWN_NO_DUMP || what == VKBOX_OWN_DUMP ||
           what == VKBOX_OWN_DESCRIBE); /* of older records */
    if (what != VKBOX_OWN_READY || !strchr(text, ' '))
        return error_set(e, -EIO, "what watches the program did not start: %s",
                         what == VKBOX_OWN_FAILED ? text : "it does not answer");
    return 0;
}

/* The watcher's folder becomes the record's. Last of all: a record that is there cannot be taken back. */
static int open_record(struct bb_vk *b, const char *text, struct error *e)
{
    const char *folder = strchr(text, ' ') + 1;

    if (b->layer->open(folder, b->p.exact, b->p.guard))
        return error_set(e, -ENOSPC, "a record of 7 MiB and more could not be written in %s", folder);
    prctl(PR_SET_PTRACER, atoi(text), 0, 0, 0); /* it looks whether threads are in a compiler */
    return 0;
}

static int start_thread(struct bb_vk *b, struct error *e)
{
    sigset_t all, before;
    int r;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    r = pthread_create(&b->thread, NULL, listen_to, b);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    b->listens = !r;
    return r ? error_set(e, -r, "no thread: %s", strerror(r)) : 0;
}

static int start_watching(struct bb_vk *b, struct error *e)
{
    char text[VKBOX_OWN_TEXT + 1];
    int r = start_watcher(b, e);

    if (!r)
        r = meet_watcher(b, text, e);
    if (!r)
        r = start_thread(b, e);
    return r ? r : open_record(b, text, e);
}

/* Ends what there is of the watching. */
static void finish(struct bb_vk *b)
{
    say(b, VKBOX_OWN_STOP, "", 0);
    if (b->listens) {
        if (has_socket(b))
            shutdown(b->socket, SHUT_RDWR);
        pthread_join(b->thread, NULL);
    }
    if (has_socket(b))
        close(b->socket);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    free(b->shown_before);
    free(b);
}

int bb_vk_start(struct bb_vk **out, const struct bb_vk_params *params, struct bb_error *public_error)
{
    static atomic_flag once = ATOMIC_FLAG_INIT;
    struct error *e = bb_error_begin(public_error);
    const char *run = getenv(VKBOX_VARIABLE);
    const bool watched = run && *run == '/';
    char folder[PATH_MAX];
    struct bb_vk *b;
    int r;

    if (!out || !params)
        return error_set(e, -EINVAL, "%s is NULL", out ? "params" : "out");
    *out = NULL;
    if (atomic_flag_test_and_set(&once))
        return error_set(e, -EALREADY, "a process has one record, which was begun already");
    b = calloc(1, sizeof(*b));
    if (!b) {
        atomic_flag_clear(&once);
        return error_set(e, -ENOMEM, "no memory");
    }
    b->p = *params;
    b->socket = -1;
    b->process = getpid();
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    r = load_layer(b, folder, e);
    if (!r)
        r = show_to_loader(b, folder, e);
    if (!r && watched)
        b->layer->open(NULL, false, false); /* that there is no record, `aerogpu run` says */
    if (!r && !watched)
        r = start_watching(b, e);
    if (r) {
        hide_from_loader(b);
        finish(b);
        atomic_flag_clear(&once);
        return r;
    }
    *out = b;
    return 0;
}

void bb_vk_stop(struct bb_vk *b)
{
    if (!b)
        return;
    if (is_forked(
            b)) { /* who watches hears nothing of it; a lock may be held for ever by a thread that is not here */
        if (has_socket(b))
            close(b->socket);
        free(b->shown_before);
        free(b);
        return;
    }
    finish(b);
}

/* ---- while it runs --------------------------------------------------------- */

const char *bb_vk_layer(void)
{
    return VKBOX_LAYER;
}

int bb_vk_attach(struct bb_vk *b, VkDevice device, struct bb_error *public_error)
{
    struct error *e = bb_error_begin(public_error);
    int r = refuse(b, device, "device", e);

    if (r)
        return r;
    switch (b->layer->state(device)) {
    case VKBOX_OWN_UNSEEN:
        return error_set(e, -ENODEV,
                         "the device's calls are not seen: its instance was made without " VKBOX_LAYER
                         ", or by another copy of it");
    case VKBOX_OWN_NO_ROOM:
        return error_set(
            e, -ENOSPC,
            "nothing is kept of the device: there is no record, or no room for one more device in it");
    default:
        return 0;
    }
}

int bb_vk_checkpoint(struct bb_vk *b, VkCommandBuffer command_buffer, const char *name)
{
    int r = refuse(b, name ? command_buffer : NULL, name ? "command_buffer" : "name", NULL);

    return r ? r : b->layer->checkpoint(command_buffer, name) ? 0 : -ENODEV;
}

static bool last_dump(struct bb_vk *b, char path[PATH_MAX])
{
    pthread_mutex_lock(&b->lock);
    memcpy(path, b->dump, PATH_MAX);
    pthread_mutex_unlock(&b->lock);
    return path[0];
}

enum bb_status bb_vk_status(struct bb_vk *b, VkDevice device)
{
    enum bb_status status = BB_STATUS_UNKNOWN;
    char path[PATH_MAX], cause[64];
    struct bb_dump d;

    if (refuse(b, device, "device", NULL))
        return BB_STATUS_UNKNOWN;
    if (b->layer->state(device) != VKBOX_OWN_LOST)
        return BB_STATUS_ACTIVE;
    if (!last_dump(b, path) || bb_dump_open(&d, path, NULL))
        return BB_STATUS_UNKNOWN;
    if (bb_cause_find(bb_dump_meta(&d, "cause", cause, sizeof(cause))) != BB_CAUSE_NONE)
        status = bb_cause_desc(bb_cause_find(cause))->status;
    bb_dump_close(&d);
    return status == BB_STATUS_ACTIVE ? BB_STATUS_UNKNOWN
                                      : status; /* of an earlier one, which nothing befell */
}

static void copy_text(struct bb_dump *d, sqlite3_stmt *s, int column, char *to, size_t size)
{
    snprintf(to, size, "%s", bb_column_text(d, s, column));
}

int bb_vk_page_fault(struct bb_vk *b, struct bb_vk_page_fault *out)
{
    char path[PATH_MAX];
    struct bb_dump d;
    sqlite3_stmt *s;
    int r = refuse(b, out, "out", NULL);

    if (r)
        return r;
    *out = (struct bb_vk_page_fault){0};
    if (!last_dump(b, path))
        return -ENOENT;
    r = bb_dump_open(&d, path, NULL);
    if (r)
        return r;
    r = -ENOENT;
    s = bb_select(&d, "SELECT f.address, f.kind, f.access, f.distance, f.text, r.kind FROM fault f "
                      "LEFT JOIN resource r ON r.id = f.resource LIMIT 1");
    while (bb_step(&d, &s)) {
        out->address = (uint64_t)bb_column_int(&d, s, 0, 0);
        copy_text(&d, s, 1, out->kind, sizeof(out->kind));
        copy_text(&d, s, 2, out->access, sizeof(out->access));
        out->distance = (uint64_t)bb_column_int(&d, s, 3, 0);
        copy_text(&d, s, 4, out->text, sizeof(out->text));
        copy_text(&d, s, 5, out->resource, sizeof(out->resource));
        r = 0;
    }
    if (r && d.trouble.code)
        r = d.trouble.code;
    bb_dump_close(&d);
    return r;
}

/* Of the program's copy nothing is cut: a path that is would name another file. */
static int take_path(const struct bb_vk *b, char *path, size_t size, struct error *e)
{
    const size_t need = strlen(b->dump) + 1;

    if (path && size < need)
        return error_set(e, -ERANGE, "the dump's path needs %zu bytes, and there is room for %zu: %.200s",
                         need, size, b->dump);
    if (path)
        memcpy(path, b->dump, need);
    return 0;
}

/* Waits for what is under way, or asks for it. */
static int await_collected(struct bb_vk *b, struct error *e)
{
    const uint32_t before = b->collected;
    struct timespec end;
    int r = 0;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += COLLECT_MS / 1000;
    if (!b->gone && !b->collecting)
        b->collecting = say(b, VKBOX_OWN_COLLECT, "", 0);
    while (!r && b->collecting && b->collected == before)
        r = pthread_cond_timedwait(&b->changed, &b->lock, &end);
    if (b->collected != before)
        return b->failed ? error_set(e, b->failed, "%s", b->trouble) : 0;
    return r ? error_set(e, -ETIMEDOUT, "there was no dump within %d seconds", COLLECT_MS / 1000)
             : error_set(e, -EIO,
                         has_socket(b) ? "what watches the program is gone"
                                       : "the program has closed the descriptor by which it asks for dumps");
}

int bb_vk_collect(struct bb_vk *b, char *path, size_t size, struct bb_error *public_error)
{
    struct error *e = bb_error_begin(public_error);
    int r = refuse(b, b, "bb", e);

    if (r)
        return r;
    if (b->socket < 0)
        return error_set(e, -EBUSY, "`aerogpu run` watches this program, and makes its dumps");
    if (pthread_equal(pthread_self(), b->thread))
        return error_set(e, -EDEADLK, "a callback of the black box cannot wait for a dump");
    pthread_mutex_lock(&b->lock);
    r = await_collected(b, e);
    if (!r)
        r = take_path(b, path, size, e);
    pthread_mutex_unlock(&b->lock);
    return r;
}
