/* SPDX-License-Identifier: MIT */
/* run.c: starts the program, looks at the boxes of its processes every few milliseconds, and makes dumps of what crashed.
 *
 *   no progress ──timeout──▶ was it let run? ──▶ does it compile? ──▶ a hang: dump, then the program hears that its device is lost
 *   a call said so, a signal ──▶ dump, while the thread that it befell waits
 *   a process is gone without either ──▶ dump, if a signal ended it: somebody else's child as well, as far as that can be known (end.h)
 *   the program is gone, and processes that it left have records ──▶ they are watched to their end
 *   is_asked() ──▶ dump of what there is
 */
#include "vkbox/run/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/file/shared.h"
#include "base/program.h"
#include "base/sched/pid_namespace.h"
#include "base/utf8.h"
#include "blackbox/symbol_files.h"
#include "layer/env.h"
#include "vkbox/run/dump.h"
#include "vkbox/run/end.h"
#include "vkbox/run/folder.h"
#include "vkbox/run/news.h"
#include "vkbox/judge.h"
#include "vkbox/run/owner.h"
#include "vkbox/run/place.h"
#include "vkbox/point.h"
#include "vkbox/run/progress.h"

/* So often we look at new boxes, and whether there is progress: often at what is young, and else so that a time-out is some twenty looks. */
#define LOOK_NS  (100 * NSEC_PER_MSEC)
#define LOOKS_NS (500 * NSEC_PER_MSEC)
#define YOUNG_NS (2 * NSEC_PER_SEC)
enum {
    MAX_BOXES = SHARED_MAPPINGS,
    COMPILES = 600
}; /* COMPILES: so often a timeout is put off because of it */

struct watched {
    char name[64]; /* of its file in the folder */
    int fd;
    struct vkbox *b; /* shared with the process, which may write anything */
    pid_t pid;
    struct end end;             /* of who is not this process's child */
    bool over;                  /* its end was looked at */
    uint32_t seen;              /* of its events */
    bool done;                  /* it has crashed, and there is a dump */
    bool hung;                  /* that is of a hang: devices that are not lost go on */
    bool waits;                 /* there is a dump of its waiting for what may still come */
    struct vkbox_event handled; /* the last fault that its program had a handler for */
    uint32_t handled_event;     /* its number; 0: none */
    uint64_t handled_at;        /* so many submissions there were */
    uint32_t handled_told;      /* the number of the last that has a dump though its handler may return */
    struct vkbox_crash handled_crash; /* what the record said of it, which a later one overwrites */
    struct progress_wait waits_of[VKBOX_QUEUES];
    struct progress_wait handler; /* for one that a fault's handler stands in while no queue has work */
};

struct run {
    const struct vkbox_run_params *p;
    struct vkbox_run_result *out;
    struct watched boxes[MAX_BOXES];
    uint32_t num_boxes;
    struct vkbox_folder folder;
    struct clock clock;
    pid_t pid;
    int gone; /* a descriptor that says when the program has ended, or -1 */
    bool ended, told_left, without_folder;
    struct sigaction file_limit; /* the program's, for SIGXFSZ */
    struct news news;
    struct symbol_files files;
    uint64_t oom_kills, next_look, youngest_ns; /* when a box was found last */
};

static uint64_t now(const struct run *r)
{
    return clock_now(&r->clock);
}

/* ---- the program --------------------------------------------------------- */

struct entry {
    char **env;
    const struct run *run;
};

static void enter(void *ctx)
{
    const struct entry *e = ctx;

    sigaction(SIGXFSZ, &e->run->file_limit, NULL);
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

/* ---- boxes --------------------------------------------------------------- */

/* Returns whether its process had shortened the file. */
static bool forget_box(struct watched *w)
{
    bool is_cut = shared_unguard(w->b);

    for (uint32_t q = 0; q < VKBOX_QUEUES; q++)
        progress_end_wait(&w->waits_of[q]);
    progress_end_wait(&w->handler);
    munmap(w->b, sizeof(*w->b));
    close(w->fd);
    end_finish(&w->end);
    return is_cut;
}

/* As the end of a path. */
static void name_record(const struct run *r, const struct watched *w, char out[128])
{
    snprintf(out, 128, "%.60s/%.63s", strrchr(r->folder.path, '/') + 1, w->name);
}

/* By its number here. */
static pid_t process_of(const struct run *r, const struct watched *w)
{
    const uint64_t counts_in = w->b->pid_namespace;
    char record[128];

    if (counts_in && counts_in == pid_namespace())
        return (pid_t)w->b->pid;
    name_record(r, w, record);
    return owner_find(record, (pid_t)w->b->pid, counts_in);
}

static void add_box(struct run *r, int dir, const char *name)
{
    struct watched *w = &r->boxes[r->num_boxes];
    struct stat st;

    if (r->num_boxes == MAX_BOXES)
        return;
    *w = (struct watched){.fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW), .end = {.fd = -1}};
    if (w->fd < 0)
        return;
    if (fstat(w->fd, &st) || st.st_size < (off_t)sizeof(*w->b)) { /* it is being made */
        close(w->fd);
        return;
    }
    w->b = mmap(NULL, sizeof(*w->b), PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
    if (w->b == MAP_FAILED) {
        close(w->fd);
        return;
    }
    shared_guard(w->b, sizeof(*w->b));
    if (w->b->magic != VKBOX_MAGIC) {
        forget_box(w);
        return;
    }
    snprintf(w->name, sizeof(w->name), "%.63s", name);
    w->pid = process_of(r, w);
    end_begin(&w->end, w->pid);
    symbol_files_add(&r->files, w->pid); /* which may be gone when a dump is made */
    r->num_boxes++;
    r->youngest_ns = now(r);
    r->out->processes++;
}

static void scan(struct run *r)
{
    DIR *dir = opendir(r->folder.path);
    const struct dirent *d;

    while (dir && (d = readdir(dir))) {
        bool known = d->d_name[0] == '.';

        for (uint32_t i = 0; i < r->num_boxes && !known; i++)
            known = !strcmp(r->boxes[i].name, d->d_name);
        if (!known)
            add_box(r, dirfd(dir), d->d_name);
    }
    if (dir)
        closedir(dir);
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
        scan(r); /* its record may be younger than the last look */
        for (uint32_t i = 0; i < r->num_boxes; i++)
            if (r->boxes[i].pid == pid && !r->boxes[i].end.known)
                end_tell(&r->boxes[i].end, status);
    }
}

/* ---- dumps --------------------------------------------------------------- */

static void trouble(struct run *r, const char *fmt, const char *what)
{
    char text[600];

    snprintf(text, sizeof(text), fmt, what);
    if (r->p->on_trouble)
        r->p->on_trouble(r->p->ctx, text);
}

/* NULL: they cannot be made. */
static const struct vkbox_dumps *dumps_of(struct run *r)
{
    struct error e = {0};
    const struct vkbox_dumps *dumps = r->p->dumps_by(r->p->ctx, &e);

    if (!dumps)
        trouble(r, "no dump: %s", e.text);
    return dumps;
}

/* Returns whether what it tells of may still end by itself. */
static bool make_dump(struct run *r, struct watched *w, const struct vkbox_event *ev)
{
    struct vkbox_dump_order order = {.run = r->p,
                                     .fd = w->fd,
                                     .event = ev,
                                     .told = w->b ? w->b->verdict : NULL,
                                     .wait_is_said = w->waits,
                                     .number = r->out->dumps + 1,
                                     .files = &r->files};
    const struct vkbox_dumps *dumps = dumps_of(r);
    struct vkbox_dump dump;

    if (!dumps)
        return false;
    if (w->b)
        symbol_files_add(&r->files, w->pid);
    dumps->make(&order, &dump);
    if (!dump.made)
        return dump.may_end;
    r->out->dumps++;
    w->waits |= dump.may_end;
    if (r->p->on_dump)
        r->p->on_dump(r->p->ctx, dump.path);
    return dump.may_end;
}

/* The layer's thread that waits for this goes on. */
static void answer(struct watched *w, uint32_t event)
{
    atomic_store(&w->b->collected, event);
    syscall(SYS_futex, &w->b->collected, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Of a signal that the program handles itself: what is no shader's fault never happened. */
static bool is_the_programs(struct watched *w, const struct place *p)
{
    uint32_t kind = VKBOX_SIGNAL;

    if (!w->b->crash.handled || p->generated)
        return false;
    atomic_compare_exchange_strong(&w->b->crash.kind, &kind, VKBOX_NO_CRASH);
    return true;
}

/* The handler of an earlier signal has not returned: what comes now is of what that does, as when it ends the program under threads of
 * the driver's. The first is put back. */
static bool is_of_earlier(const struct watched *w)
{
    const struct vkbox_crash *c = &w->handled_crash;

    if (!w->handled_event || w->handled_event == w->handled_told ||
        atomic_load(&w->b->crash.inside) != w->handled_event || w->b->crash.thread == c->thread ||
        !place_blocks(w->pid, c->thread, c->signal))
        return false;
    w->b->crash = *c;
    w->b->crash.inside = w->handled_event;
    w->b->crash.handled = 0;
    return true;
}

static void look_at_event(struct run *r, struct watched *w)
{
    uint32_t event = atomic_load(&w->b->event);
    uint32_t kind = atomic_load(&w->b->crash.kind);
    struct vkbox_event ev = {.time_ns = now(r), .device = VKBOX_NO_INDEX};
    struct place place;

    if (event == w->seen)
        return;
    w->seen = event;
    if (!w->done && (kind == VKBOX_DEVICE_LOST || kind == VKBOX_SIGNAL)) {
        w->done = true;
        if (kind == VKBOX_SIGNAL && is_of_earlier(w)) {
            ev = w->handled;
        } else if (kind == VKBOX_SIGNAL) {
            const struct vkbox_crash crash = w->b->crash;

            place_crash(w->pid, w->b, &place);
            snprintf(ev.place, sizeof(ev.place), "%s", place.text);
            if (w->b->crash.has_address)
                place_mapped(w->pid, w->b->crash.address, ev.mapped);
            ev.hidden = place.hidden;
            ev.in_driver = place.driver;
            ev.in_shader = place.generated;
            ev.in_call = place.called;
            ev.doubtful = place.doubtful;
            ev.what = VKBOX_HAPPENED_SIGNAL;
            if (is_the_programs(w, &place)) {
                w->done = false;
                w->handled = ev;
                w->handled_crash = crash;
                w->handled_event = event;
                w->handled_at = atomic_load(&w->b->submissions);
                answer(w, event);
                return;
            }
        } else {
            ev.what = VKBOX_HAPPENED_LOST;
            ev.device = w->b->crash.device < VKBOX_DEVICES ? w->b->crash.device : VKBOX_NO_INDEX;
        }
        make_dump(r, w, &ev);
    }
    answer(w, event);
}

/* ---- progress ------------------------------------------------------------ */

/* Of queues, a bit each. */
static void begin_waits(struct run *r, struct watched *w, uint64_t queues)
{
    for (uint32_t q = 0; q < VKBOX_QUEUES; q++)
        if (queues >> q & 1)
            progress_begin_wait(&w->waits_of[q], w->pid, now(r));
}

/* Queues that made no progress for a time-out in which the process was let run. */
struct stands {
    struct progress_wait *first;
    uint64_t queues;
    uint32_t devices;
    struct place_times now;
    struct place_span span; /* since the first */
};

/* After a hang a device that is at work later may wait behind the one that hangs, as another or as the next one. */
static void lose(struct run *r, struct watched *w, uint32_t devices)
{
    for (uint32_t i = 0; i < VKBOX_DEVICES; i++) {
        struct vkbox_device *d = &w->b->devices[i];
        char name[128];

        if (atomic_load(&d->state) != VKBOX_LIVE || !(devices >> i & 1))
            continue;
        atomic_store(&d->lost, 1);
        snprintf(name, sizeof(name), "%.127s", d->name);
        if (w->hung)
            trouble(
                r, "device %s makes no progress after the hang either, perhaps behind it: it is lost as well",
                name);
    }
}

/* On a processor whatever a command does, a thread of the driver's does: whether none was at work, which may have been parked. */
static bool is_idle(const struct run *r, const struct watched *w, const struct stands *s, uint32_t devices)
{
    for (uint32_t i = 0; i < VKBOX_DEVICES; i++)
        if (devices >> i & 1 && !w->b->devices[i].processor)
            return false;
    return !place_works(w->pid, s->first->at, &s->now, r->p->timeout_ns);
}

/* Whether the program is, or was to its end, in the handler that it has for its last fault. One that has submitted since may have left
 * it by a jump, unless the same `signal` ended it; 0: none did. */
static bool is_in_handler(const struct watched *w, int signal)
{
    return w->handled_event && w->handled_event != w->handled_told &&
           atomic_load(&w->b->crash.inside) == w->handled_event &&
           (signal == w->b->crash.signal || atomic_load(&w->b->submissions) == w->handled_at);
}

/* The handler of which there is a dump has not returned. */
static bool stands_where_told(const struct watched *w)
{
    return w->handled_told && atomic_load(&w->b->crash.inside) == w->handled_told;
}

/* It was its crash, and is put back as such. */
static bool ended_in_handler(struct watched *w, int signal)
{
    uint32_t none = VKBOX_NO_CRASH;

    if (!is_in_handler(w, signal) || !atomic_compare_exchange_strong(&w->b->crash.kind, &none, VKBOX_SIGNAL))
        return false;
    /* It ended by this, or by exit(3) from there: else it may have left the handler by a jump. */
    w->b->crash.handled = signal != w->b->crash.signal && !w->b->ended;
    return true;
}

/* A handler that may wait for ever: the dump says that nobody knows. */
static void tell_handled(struct run *r, struct watched *w)
{
    uint32_t none = VKBOX_NO_CRASH, kind = VKBOX_SIGNAL;

    if (!is_in_handler(w, 0) || !place_blocks(w->pid, w->b->crash.thread, w->b->crash.signal) ||
        !atomic_compare_exchange_strong(&w->b->crash.kind, &none, kind))
        return;
    w->handled_told = w->handled_event;
    make_dump(r, w, &w->handled);
    atomic_compare_exchange_strong(&w->b->crash.kind, &kind, VKBOX_NO_CRASH);
}

/* Another program in its place (exec), which took the driver's threads with it. */
static bool runs_another(const struct run *r, const struct watched *w)
{
    char record[128];

    name_record(r, w, record);
    return owner_look(w->pid, record) == OWNER_HAS_OTHERS;
}

static void declare_hang(struct run *r, struct watched *w, const struct stands *s)
{
    struct vkbox_event ev = {.what = VKBOX_HAPPENED_HANG,
                             .time_ns = now(r),
                             .waited_ns = now(r) - s->first->since_ns,
                             .ran_ns = s->span.ran_ns,
                             .threads = (uint32_t)s->now.num_threads,
                             .slept = (uint32_t)place_slept(s->first->at, &s->now, r->p->timeout_ns),
                             .idle = is_idle(r, w, s, s->devices),
                             .queues = s->queues,
                             .device = VKBOX_NO_INDEX};
    uint32_t none = VKBOX_NO_CRASH, hang = VKBOX_HANG;

    if (w->hung) {
        lose(r, w, s->devices);
        return;
    }
    if (runs_another(r, w)) {
        w->done = true;
        return;
    }
    if (!s->queues) {
        progress_begin_wait(&w->handler, w->pid, now(r));
        tell_handled(r, w);
        return;
    }
    if (ended_in_handler(w, 0)) { /* which waits for the thread that it stands in */
        w->done = true;
        make_dump(r, w, &w->handled);
        return;
    }
    if (!atomic_compare_exchange_strong(&w->b->crash.kind, &none, hang))
        return;
    if (make_dump(r, w, &ev)) { /* the program goes on, and is told nothing */
        atomic_compare_exchange_strong(&w->b->crash.kind, &hang, VKBOX_NO_CRASH);
        begin_waits(r, w, s->queues);
        return;
    }
    /* A reset takes all that were at work: one may wait behind the other. */
    lose(r, w, s->devices);
    w->done = w->hung = true;
}

/* Of a wait that is over, unless it was not let run meanwhile. */
static void look_at_time(const struct run *r, struct progress_wait *o, uint64_t queues, uint32_t devices,
                         struct stands *s)
{
    struct place_span span;

    place_times_between(o->at, &s->now, &span);
    if (!place_let_run(&span, now(r) - o->since_ns, r->p->timeout_ns))
        return;
    if (!s->first || o->since_ns < s->first->since_ns) {
        s->first = o;
        s->span = span;
    }
    s->queues |= queues;
    s->devices |= devices;
}

static void look_at_progress(struct run *r, struct watched *w)
{
    struct progress_head heads[VKBOX_QUEUES];
    struct stands s = {0};
    uint64_t works, stand = 0, due;
    bool handler;

    if ((w->done && !w->hung) || !r->p->timeout_ns)
        return;
    works = progress_heads(w->b, heads);
    for (uint32_t q = 0; q < VKBOX_QUEUES; q++)
        if (progress_wait(&w->waits_of[q], w->pid, now(r), works >> q & 1, heads[q].key))
            stand |= UINT64_C(1) << q;
    handler = progress_wait(&w->handler, w->pid, now(r), !works && is_in_handler(w, 0), 0);
    if (!stand && !handler)
        return;
    /* Time in which it is stopped is none in which it could have got on: the wait begins anew when it goes on. */
    if (place_stopped(w->pid) && place_times(w->pid, &s.now) && s.now.stopped) {
        begin_waits(r, w, stand);
        if (handler)
            progress_begin_wait(&w->handler, w->pid, now(r));
        return;
    }
    due = progress_due(w->waits_of, stand, now(r), r->p->timeout_ns);
    handler = handler && now(r) - w->handler.since_ns >= r->p->timeout_ns;
    if ((!due && !handler) || !place_times(w->pid, &s.now))
        return;
    for (uint32_t q = 0; q < VKBOX_QUEUES; q++)
        if (due >> q & 1)
            look_at_time(r, &w->waits_of[q], UINT64_C(1) << q, 1u << heads[q].device, &s);
    if (handler)
        look_at_time(r, &w->handler, 0, 0, &s);
    if (!s.first)
        return;
    /* What has been at one command for long may be what the other waits behind. */
    s.queues |= progress_due(w->waits_of, s.queues ? stand : 0, now(r), r->p->timeout_ns / 4);
    /* Compiling: that ends. */
    if (s.first->compiles < COMPILES && place_compiles(w->pid)) {
        uint32_t compiles = s.first->compiles + 1;

        begin_waits(r, w, s.queues);
        if (handler)
            progress_begin_wait(&w->handler, w->pid, now(r));
        s.first->compiles = compiles;
        return;
    }
    declare_hang(r, w, &s);
}

/* The last record of a process: those before it are of programs that it was before it ran this one (exec). */
static bool is_last_of_process(const struct run *r, uint32_t box)
{
    for (uint32_t i = 0; i < r->num_boxes; i++)
        if (r->boxes[i].pid == r->boxes[box].pid && r->boxes[i].b->start_ns > r->boxes[box].b->start_ns)
            return false;
    return true;
}

/* It was ended, and the layer did not see it: nothing in the record says that it ended by itself. */
static void look_at_strangers_end(struct run *r)
{
    struct vkbox_event ev = {
        .what = VKBOX_HAPPENED_ENDED, .time_ns = now(r), .device = VKBOX_NO_INDEX, .unwatched = true};

    for (uint32_t i = 0; i < r->num_boxes; i++)
        if (r->boxes[i].pid == r->pid && !r->boxes[i].done && !r->boxes[i].b->ended &&
            !stands_where_told(&r->boxes[i]) && is_last_of_process(r, i))
            make_dump(r, &r->boxes[i], ended_in_handler(&r->boxes[i], 0) ? &r->boxes[i].handled : &ev);
}

/* The last of its process, which has ended with `status`: a signal ended it, and the layer did not see it; or its own handler did. */
static void tell_end(struct run *r, struct watched *w, int status, bool is_guess)
{
    struct vkbox_event ev = {.what = VKBOX_HAPPENED_ENDED,
                             .time_ns = now(r),
                             .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                             .guessed = is_guess,
                             .device = VKBOX_NO_INDEX};

    if (w->done || stands_where_told(w) || !status)
        return;
    ev.out_of_memory = end_oom_kills() > r->oom_kills;
    if (ended_in_handler(w, ev.signal)) /* and perhaps hung there until it was stopped */
        make_dump(r, w, &w->handled);
    else if (ev.signal && !(r->p->stop && *r->p->stop))
        make_dump(r, w, &ev);
    w->done = true;
}

/* Of a process that is not this one's child: at its end, or when the program has ended, too. */
static void look_at_child(struct run *r, struct watched *w)
{
    if (w->over || !r->p->argv || w->pid == r->pid || !end_look(&w->end, w->pid))
        return;
    look_at_event(r, w);
    w->over = r->ended || (w->end.known && !end_was_asked(w->end.status));
    if (!w->over || !is_last_of_process(r, (uint32_t)(w - r->boxes)))
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
        else if (is_last_of_process(r, i))
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
    struct vkbox_event ev = {.what = VKBOX_HAPPENED_REQUEST, .time_ns = now(r), .device = VKBOX_NO_INDEX};
    const uint32_t before = r->out->dumps;

    scan(r); /* its record may be younger than the last look */
    for (uint32_t i = 0; i < r->num_boxes; i++)
        make_dump(r, &r->boxes[i], &ev);
    if (r->out->dumps == before)
        trouble(r, "%s", "there is no record that a dump could be made of");
    r->p->on_answered(r->p->ctx);
}

static uint64_t look_time(const struct run *r)
{
    uint64_t rare = r->p->timeout_ns / 20;

    rare = !rare || rare > LOOKS_NS ? LOOKS_NS : rare;
    return rare < LOOK_NS || !r->num_boxes || now(r) - r->youngest_ns < YOUNG_NS ? LOOK_NS : rare;
}

static void look(struct run *r)
{
    bool due = now(r) >= r->next_look;

    if (due) {
        scan(r);
        r->next_look = now(r) + look_time(r);
    }
    for (uint32_t i = 0; i < r->num_boxes; i++) {
        look_at_event(r, &r->boxes[i]);
        if (due && !r->boxes[i].end.gone)
            look_at_progress(r, &r->boxes[i]);
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
        trouble(ctx,
                "the process of record %s still runs; its `aerogpu run` was killed, and nobody watches it",
                name);
    } else if (w.fd < 0) {
        happened = error_set(&e, -errno, "it cannot be opened: %s", strerror(errno));
    } else if ((dumps = dumps_of(ctx))) {
        happened = dumps->look_at_left(w.fd, &ev, &e);
    }
    if (happened < 0) {
        error_prefix(&e, "what was left as record %.64s tells nothing", name);
        trouble(ctx, "%s", e.text);
    } else if (happened) {
        trouble(ctx, "a record that nobody watched was left: %s", name);
        make_dump(ctx, &w, &ev);
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
        trouble(
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
        {w->b->buffers_lost,
         "process %s had more command buffers at once than are kept: a hang in the others is not seen"},
        {w->b->objects_lost,
         "process %s had more objects at once than are kept: the others have no names and sizes"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].lost)
            trouble(r, rows[i].said, w->name);
}

static void finish(struct run *r)
{
    for (uint32_t i = 0; i < r->num_boxes; i++) {
        for (uint32_t d = 0; d < VKBOX_DEVICES; d++)
            count_device(r, &r->boxes[i].b->devices[d]);
        tell_full(r, &r->boxes[i]);
        if (forget_box(&r->boxes[i]))
            trouble(r, "a process shortened its record %s, and was not watched from then on",
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
        trouble(r, "%s", text);
        r->told_left = true;
    }
    return left;
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

    while (!r->ended || (p->argv && has_left(r))) {
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
    scan(r);
    for (uint32_t i = 0; i < r->num_boxes; i++)
        look_at_event(r, &r->boxes[i]);
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
        trouble(r, none, runs_on ? "; what it started runs on, unwatched" : "");
    else if (runs_on)
        trouble(r, "%s", "what the program started, and has made no Vulkan instance, runs on, unwatched");
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
    /* A file that may not grow is said as a full disk is. */
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, &r->file_limit);
    news_init(&r->news);
    code = vkbox_folder_make(&r->folder, e);
    if (code && p->argv) {
        trouble(r, "%s; the program runs unwatched", e->text);
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
