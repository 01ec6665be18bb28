/* SPDX-License-Identifier: MIT */
/* run.c: starts the program, looks at the boxes of its processes every few milliseconds, and makes dumps of what crashed.
 *
 *   no progress ──timeout──▶ was it let run? ──▶ does it compile? ──▶ a hang: dump, then the program hears that its device is lost
 *   a call said so, a signal ──▶ dump, while the thread that it befell waits
 *   a process is gone without either ──▶ dump, if a signal ended it: somebody else's child as well, as far as that can be known (end.h)
 *   the program is gone, and processes that it left have records ──▶ they are watched to their end
 *   is_asked() ──▶ dump of what there is
 */
#include "vkbox/run/watched.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/program.h"
#include "base/utf8.h"
#include "layer/env.h"
#include "vkbox/run/dump.h"

/* So often we look at new boxes, and whether there is progress: often at what is young, and else so that a time-out is some twenty looks. */
#define LOOK_NS  (100 * NSEC_PER_MSEC)
#define LOOKS_NS (500 * NSEC_PER_MSEC)
#define YOUNG_NS (2 * NSEC_PER_SEC)
/* What lives for so long has loaded what it needs. The short ones are not to pay for that: of these only what crashes is looked at. */
#define FILES_NS (1 * NSEC_PER_SEC)

/* ---- the program --------------------------------------------------------- */

struct entry {
    char **env;
    const struct run *run;
};

/* What would end this process, while the program is to be watched on: a file that may not grow is said as a full disk is, whoever reads what is
 * printed may end before the program does, and others are meant for it. Not what asks for an end, which is passed on, faults, and job control. */
static bool is_ignored(int sig)
{
    switch (sig) {
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
    case SIGQUIT:
    case SIGILL:
    case SIGTRAP:
    case SIGABRT:
    case SIGBUS:
    case SIGFPE:
    case SIGSEGV:
    case SIGSYS:
    case SIGKILL:
    case SIGSTOP:
    case SIGCHLD:
    case SIGCONT:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
        return false;
    default: /* between those and SIGRTMIN are the C library's */
        return sig <= SIGSYS || sig >= SIGRTMIN;
    }
}

static void enter(void *ctx)
{
    const struct entry *e = ctx;

    for (int sig = 1; sig < _NSIG; sig++)
        if (is_ignored(sig))
            sigaction(sig, &e->run->ignored[sig], NULL);
    news_finish(&e->run->news); /* its own SIGCHLD */
    environ = e->env;
}

static int start(struct run *r, struct error *e)
{
    char folder[PATH_MAX + 32], known[PATH_MAX + 32], dumps[PATH_MAX];
    const char *const values[] = {folder, known, r->p->exact ? VKBOX_EXACT "=1" : VKBOX_EXACT "=0",
                                  r->p->guard ? VKBOX_GUARD "=1" : VKBOX_GUARD "=0", NULL};
    struct layer_env layer = {VKBOX_LAYER, r->p->layers, values};
    struct entry entry = {NULL, r};

    snprintf(folder, sizeof(folder), VKBOX_VARIABLE "=%s", r->folder.path);
    snprintf(known, sizeof(known), VKBOX_KNOWN "=%s",
             realpath(r->p->dumps ? r->p->dumps : ".", dumps) ? dumps : "");
    entry.env = layer_env_make(&layer);
    if (!entry.env)
        return error_set(e, -ENOMEM, "no memory for the environment");
    r->pid = program_start(r->p->argv, enter, &entry);
    free(entry.env);
    return r->pid < 0 ? error_set(e, r->pid, "cannot run %s: %s", r->p->argv[0], strerror(-r->pid)) : 0;
}

/* Of a process that has the layer itself nobody tells us how it ended. */
static void await_stranger(struct run *r)
{
    struct pollfd gone = {.fd = r->gone, .events = POLLIN};

    r->ended = poll(&gone, 1, 0) > 0 || (r->p->stop && *r->p->stop);
}

/* Whoever the program started becomes ours when it ends: all of them are waited for. */
static void reap(struct run *r)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == r->pid && !r->ended) {
            r->ended = true;
            r->out->exited = WIFEXITED(status);
            r->out->signalled = WIFSIGNALED(status);
            r->out->code = r->out->exited ? WEXITSTATUS(status) : WTERMSIG(status);
            continue;
        }
        run_scan(r); /* its record may be younger than the last look */
        for (uint32_t i = 0; i < r->num_boxes; i++)
            if (r->boxes[i].pid == pid && !r->boxes[i].end.known)
                end_tell(&r->boxes[i].end, status);
    }
}

/* ---- ends ---------------------------------------------------------------- */

/* It was ended, and the layer did not see it: nothing in the record says that it ended by itself. */
static void look_at_strangers_end(struct run *r)
{
    struct vkbox_event ev = {
        .what = VKBOX_HAPPENED_ENDED, .time_ns = run_now(r), .device = VKBOX_NO_INDEX, .unwatched = true};

    for (uint32_t i = 0; i < r->num_boxes; i++)
        if (r->boxes[i].pid == r->pid && !r->boxes[i].done && !r->boxes[i].b->ended &&
            !watched_stands_where_told(&r->boxes[i]) && watched_is_last(r, i))
            watched_dump(r, &r->boxes[i],
                         watched_ended_in_handler(&r->boxes[i], 0) ? &r->boxes[i].handled : &ev);
}

/* The last of its process, which has ended with `status`: a signal ended it, and the layer did not see it; or its own handler did. */
static void tell_end(struct run *r, struct watched *w, int status, bool is_guess)
{
    struct vkbox_event ev = {.what = VKBOX_HAPPENED_ENDED,
                             .time_ns = run_now(r),
                             .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                             .guessed = is_guess,
                             .device = VKBOX_NO_INDEX};

    if (w->done || watched_stands_where_told(w) || !status)
        return;
    ev.out_of_memory = end_oom_kills() > r->oom_kills;
    if (watched_ended_in_handler(w, ev.signal)) /* and perhaps hung there until it was stopped */
        watched_dump(r, w, &w->handled);
    else if (ev.signal && !(r->p->stop && *r->p->stop))
        watched_dump(r, w, &ev);
    w->done = true;
}

/* Of a process that is not this one's child: at its end, or when the program has ended, too. */
static void look_at_child(struct run *r, struct watched *w)
{
    if (w->over || !r->p->argv || w->pid == r->pid || !end_look(&w->end, w->pid))
        return;
    watched_look_at_event(r, w);
    w->over = r->ended || (w->end.known && !end_was_asked(w->end.status));
    if (!w->over || !watched_is_last(r, (uint32_t)(w - r->boxes)))
        return;
    if (w->end.known && (!end_was_asked(w->end.status) ||
                         WTERMSIG(w->end.status) == end_of_launcher(r->out->signalled, r->out->code)))
        tell_end(r, w, w->end.status, false);
    else if (!w->end.known && !w->b->ended)
        tell_end(r, w, end_of_launcher(r->out->signalled, r->out->code), true);
}

static void look_at_end(struct run *r)
{
    const int status = r->out->signalled ? r->out->code : r->out->code << 8;

    for (uint32_t i = 0; i < r->num_boxes; i++)
        if (r->boxes[i].pid != r->pid)
            look_at_child(r, &r->boxes[i]);
        else if (watched_is_last(r, i))
            tell_end(r, &r->boxes[i], status, false);
}

/* A process that the program left, and that has a record; NULL: none is there any more. */
static const struct watched *find_left(struct run *r)
{
    for (uint32_t i = 0; i < r->num_boxes; i++) {
        struct watched *w = &r->boxes[i];

        if (w->pid != r->pid && !end_look(&w->end, w->pid) && w->end.fd >= 0 && !(r->p->stop && *r->p->stop))
            return w;
    }
    return NULL;
}

static void make_asked(struct run *r)
{
    struct vkbox_event ev = {.what = VKBOX_HAPPENED_REQUEST, .time_ns = run_now(r), .device = VKBOX_NO_INDEX};
    const uint32_t before = r->out->dumps;

    run_scan(r); /* its record may be younger than the last look */
    for (uint32_t i = 0; i < r->num_boxes; i++)
        watched_dump(r, &r->boxes[i], &ev);
    if (r->out->dumps == before)
        run_trouble(r, "%s", "there is no record that a dump could be made of");
    r->p->on_answered(r->p->ctx);
}

static uint64_t look_time(const struct run *r)
{
    uint64_t rare = r->p->timeout_ns / 20;

    rare = !rare || rare > LOOKS_NS ? LOOKS_NS : rare;
    return rare < LOOK_NS || !r->num_boxes || run_now(r) - r->youngest_ns < YOUNG_NS ? LOOK_NS : rare;
}

static void look_at_files(struct run *r, struct watched *w)
{
    if (w->has_files || run_now(r) - w->found_ns < FILES_NS)
        return;
    w->has_files = true;
    symbol_files_add(&r->files, w->pid);
}

static void look(struct run *r)
{
    bool due = run_now(r) >= r->next_look;

    if (due) {
        run_scan(r);
        r->next_look = run_now(r) + look_time(r);
    }
    for (uint32_t i = 0; i < r->num_boxes; i++) {
        watched_look_at_event(r, &r->boxes[i]);
        if (due && !r->boxes[i].end.gone)
            watched_look_at_progress(r, &r->boxes[i]);
        if (due)
            look_at_files(r, &r->boxes[i]);
        look_at_child(r, &r->boxes[i]);
    }
}

/* Of a record that nobody watched. */
static void look_at_left(void *ctx, int dir, const char *name, pid_t pid)
{
    struct watched w = {.fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
    const struct vkbox_dumps *dumps;
    struct vkbox_event ev;
    struct error e = {0};
    int happened = 0;

    if (pid) {
        run_trouble(
            ctx, "the process of record %s still runs; its `aerogpu run` was killed, and nobody watches it",
            name);
    } else if (w.fd < 0) {
        happened = error_set(&e, -errno, "it cannot be opened: %s", strerror(errno));
    } else if ((dumps = run_dumps(ctx))) {
        happened = dumps->look_at_left(w.fd, &ev, &e);
    }
    if (happened < 0) {
        error_prefix(&e, "what was left as record %.64s tells nothing", name);
        run_trouble(ctx, "%s", e.text);
    } else if (happened) {
        run_trouble(ctx, "a record that nobody watched was left: %s", name);
        watched_dump(ctx, &w, &ev);
    }
    if (w.fd >= 0)
        close(w.fd);
}

static void count_device(struct run *r, const struct vkbox_device *d)
{
    char name[128];

    if (d->state == VKBOX_FREE)
        return;
    r->out->devices++;
    snprintf(name, sizeof(name), "%.127s", d->name);
    if (r->p->guard && !d->guards)
        run_trouble(
            r, "%s cannot use memory of the program (VK_EXT_external_memory_host): nothing of it was guarded",
            name);
}

/* What there was no room for. */
static void tell_full(struct run *r, const struct watched *w)
{
    const struct {
        uint32_t lost;
        const char *said;
    } rows[] = {
        {w->b->devices_lost,
         "process %s had more devices at once than are kept: what befalls the others is not seen"},
        {w->b->queues_lost,
         "process %s had more queues at once than are kept: what befalls the others is not seen"},
        {w->b->buffers_lost,
         "process %s had more command buffers at once than are kept: a hang in the others is not seen"},
        {w->b->objects_lost,
         "process %s had more objects at once than are kept: the others have no names and sizes"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].lost)
            run_trouble(r, rows[i].said, w->name);
}

static void finish(struct run *r)
{
    for (uint32_t i = 0; i < r->num_boxes; i++) {
        for (uint32_t d = 0; d < VKBOX_DEVICES; d++)
            count_device(r, &r->boxes[i].b->devices[d]);
        tell_full(r, &r->boxes[i]);
        if (watched_forget(&r->boxes[i]))
            run_trouble(r, "a process shortened its record %s, and was not watched from then on",
                        r->boxes[i].name);
    }
    if (!r->without_folder)
        vkbox_folder_remove(&r->folder);
    symbol_files_finish(&r->files);
}

/* Says once that the program is gone and another is watched on; false: there is none. */
static bool has_left(struct run *r)
{
    const struct watched *left = find_left(r);
    char text[160];

    if (left && !r->told_left) {
        snprintf(text, sizeof(text),
                 "the program has ended; process %d (%.63s), which it left, is watched to its end",
                 (int)left->pid, left->b->program);
        utf8_mend(text);
        run_trouble(r, "%s", text);
        r->told_left = true;
    }
    return left;
}

/* Something that the program started, and did not wait for, may make an instance yet. */
static bool has_started(struct run *r)
{
    siginfo_t any;

    if (!r->p->all || (r->p->stop && *r->p->stop) || waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT))
        return false;
    if (!r->told_left)
        run_trouble(r, "%s", "the program has ended; what it started is watched until the last of it has");
    r->told_left = true;
    return true;
}

/* Waits for what there is to look at, or until the next look is due. */
static void await_news(struct run *r)
{
    struct news_word words[MAX_BOXES];

    for (uint32_t i = 0; i < r->num_boxes; i++)
        words[i] = (struct news_word){&r->boxes[i].b->event, r->boxes[i].seen};
    news_await(&r->news, words, r->p->argv ? r->num_boxes : NEWS_NONE, r->ended ? -1 : r->gone, r->next_look);
}

/* Looks until the program has ended, and those that it left, and once more. */
static void watch(struct run *r)
{
    const struct vkbox_run_params *p = r->p;
    bool passed = false;

    while (!r->ended || (p->argv && (has_started(r) || has_left(r)))) {
        look(r);
        if (p->is_asked && p->is_asked(p->ctx))
            make_asked(r);
        if (p->argv && p->stop && *p->stop && !passed && !r->ended) {
            kill(r->pid, *p->stop);
            passed = true;
        }
        await_news(r);
        if (p->argv)
            reap(r);
        else
            await_stranger(r);
    }
    run_scan(r);
    for (uint32_t i = 0; i < r->num_boxes; i++)
        watched_look_at_event(r, &r->boxes[i]);
}

static int begin(struct run *r, struct error *e)
{
    int code = r->p->argv ? start(r, e) : 0;

    if (code)
        return code;
    if (!r->p->argv)
        r->pid = r->p->pid;
    r->gone = (int)syscall(SYS_pidfd_open, r->pid, 0);
    return r->gone < 0 && !r->p->argv
               ? error_set(e, -errno, "process %d cannot be watched: %s", (int)r->pid, strerror(errno))
               : 0;
}

static void tell_unwatched(struct run *r)
{
    const bool runs_on = waitpid(-1, NULL, WNOHANG) == 0;
    static const char none[] =
        "the program made no Vulkan instance, has other rights than who runs it (with more the loader takes no layer), its environment keeps the layer out (as clearenv(3), VK_INSTANCE_LAYERS, VK_LAYER_PATH or VK_LOADER_LAYERS_DISABLE can), or a record of it (7 MiB and more) could not be written in $XDG_RUNTIME_DIR, /dev/shm or /tmp%s";

    if (!r->out->processes)
        run_trouble(r, none, runs_on ? "; what it started runs on, unwatched" : "");
    else if (runs_on)
        run_trouble(r, "%s", "what the program started, and has made no Vulkan instance, runs on, unwatched");
}

int vkbox_run(const struct vkbox_run_params *p, struct vkbox_run_result *out, struct error *e)
{
    struct run *r = calloc(1, sizeof(*r));
    int code;

    *out = (struct vkbox_run_result){0};
    if (!r)
        return error_set(e, -ENOMEM, "no memory");
    r->p = p;
    r->out = out;
    r->gone = -1;
    clock_init_live(&r->clock);
    r->oom_kills = end_oom_kills();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (int sig = 1; sig < _NSIG; sig++)
        if (is_ignored(sig))
            sigaction(sig, &(struct sigaction){.sa_handler = SIG_IGN}, &r->ignored[sig]);
    news_init(&r->news);
    code = vkbox_folder_make(&r->folder, e);
    if (code && p->argv) {
        run_trouble(r, "%s; the program runs unwatched", e->text);
        r->without_folder = true;
        r->folder.path[0] = '\0'; /* so that the layer does nothing */
        *e = (struct error){0};
        code = 0;
    } else if (!code) {
        vkbox_folder_sweep(look_at_left, r);
    }
    if (!code) {
        code = begin(r, e);
        if (code && !r->without_folder)
            vkbox_folder_remove(&r->folder);
    }
    if (code) {
        symbol_files_finish(&r->files);
        free(r);
        return code;
    }
    if (p->on_folder)
        p->on_folder(p->ctx, r->folder.path);
    watch(r);
    if (p->argv)
        look_at_end(r);
    else if (!(p->stop && *p->stop))
        look_at_strangers_end(r);
    if (p->argv && !r->without_folder)
        tell_unwatched(r);
    finish(r);
    if (r->gone >= 0)
        close(r->gone);
    free(r);
    return 0;
}
