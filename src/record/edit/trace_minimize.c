/* SPDX-License-Identifier: MIT */
/* trace_minimize.c: delta debugging over the calls of a recording.
 *
 * Invariants:
 *  1. A smaller set of calls is taken over only if playing it ends the same way: the same signal at the same place (or a failing
 *     call) in the same method, or a device that does not get done. What happened last is kept in shared memory, so that it survives
 *     the process.
 *  2. A call that mentions an object goes when the call that makes the object goes.
 *
 * Groups of calls are tried from coarse to fine: frames, recordings of lists, objects, single calls; each with the engine
 * of base/ddmin.h.
 */
#include "record/edit/trace_minimize.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/array.h"
#include "base/check.h"
#include "base/ddmin.h"
#include "record/edit/trace_edit.h"
#include "record/names.h"

enum { PLACE = sizeof(((struct trc_minimize_result *)0)->place) };

struct call {
    uint32_t group, self, made;
    uint32_t refs, num_refs; /* in `pool` */
    uint16_t method;
};

struct outcome {
    int signal; /* 0: none, but `how` */
    enum trc_outcome how;
    uint16_t method;
    char place[PLACE];
};

struct shared { /* with the players */
    struct trc_progress progress;
    char place[PLACE]; /* where it crashed, if that is known: a module and an offset in it */
};

struct work {
    struct trc *t;
    const struct trc_minimize_params *q;
    struct trc_minimize_result *r;
    struct call *calls;
    size_t num, room;
    uint32_t *pool;
    size_t pool_num, pool_room;
    struct id_list ids, made; /* of the call that is read */
    uint8_t *keep, *trial;    /* one byte a call */
    uint8_t *dead;            /* one byte an object: its maker is gone */
    uint32_t num_objects;
    struct shared *shared;
    struct outcome want;
    bool finish; /* the recording hangs: each play must wait for the device */
};

static int read_calls(struct work *w, struct error *e)
{
    struct trc_call c;
    int got;

    trc_rewind(w->t);
    while ((got = trc_next(w->t, &c, e)) > 0) {
        struct call *k;

        if (names_mentioned(&c, false, &w->ids) || names_mentioned(&c, true, &w->made) ||
            array_reserve(w->calls, w->room, w->num + 1) ||
            array_reserve(w->pool, w->pool_room, w->pool_num + w->ids.num))
            return error_set(e, -ENOMEM, "out of memory");
        k = &w->calls[w->num++];
        *k = (struct call){.group = c.frame,
                           .self = c.self,
                           .made = w->made.num ? w->made.ids[0] : 0,
                           .refs = (uint32_t)w->pool_num,
                           .num_refs = (uint32_t)w->ids.num,
                           .method = c.method};
        if (w->ids.num)
            memcpy(w->pool + w->pool_num, w->ids.ids, w->ids.num * sizeof(*w->pool));
        w->pool_num += w->ids.num;
        if (k->made >= w->num_objects)
            w->num_objects = k->made + 1;
    }
    w->keep = malloc(w->num + 1);
    w->trial = malloc(w->num + 1);
    w->dead = malloc(w->num_objects + 1);
    if (!w->keep || !w->trial || !w->dead)
        return error_set(e, -ENOMEM, "out of memory");
    memset(w->keep, 1, w->num);
    return got < 0 ? got : 0;
}

/* ---- one try ------------------------------------------------------------- */

/* Takes out of `trial` what mentions objects that nobody makes any more; returns how many calls are left. */
static size_t cascade(struct work *w)
{
    size_t left = 0;

    memset(w->dead, 0, w->num_objects);
    for (size_t i = 0; i < w->num; i++) {
        const struct call *c = &w->calls[i];
        bool gone = !w->trial[i] || (c->self < w->num_objects && c->self && w->dead[c->self] == 1);

        for (uint32_t k = 0; k < c->num_refs && !gone; k++) {
            uint32_t id = w->pool[c->refs + k];

            gone = id < w->num_objects && w->dead[id] == 1;
        }
        if (c->made > 1 && w->dead[c->made] != 2) /* the first call that brings it makes it */
            w->dead[c->made] = gone ? 1 : 2;
        w->trial[i] = !gone;
        left += !gone;
    }
    return left;
}

static char (*crashing)[PLACE];

static bool module_of(const void *pc, Dl_info *m)
{
    return dladdr(pc, m) && m->dli_fbase && m->dli_fname;
}

/* Code of the C library counts for who called it (abort, memcpy); code that a driver made has no module, and is no place. */
static void note_place(void *context)
{
    const mcontext_t *at = &((ucontext_t *)context)->uc_mcontext;
#ifdef __aarch64__
    void *pc = (void *)(uintptr_t)at->pc, *frames[32];
#else
    void *pc = (void *)(uintptr_t)at->gregs[REG_RIP], *frames[32];
#endif
    int n = backtrace(frames, 32), i = 0;
    Dl_info c, m;

    while (i < n && frames[i] != pc)
        i++;
    if (!module_of((const void *)(uintptr_t)raise, &c) || !module_of(pc, &m))
        return;
    while (m.dli_fbase == c.dli_fbase) {
        if (++i >= n || !module_of(pc = frames[i], &m))
            return;
    }
    snprintf(*crashing, sizeof(*crashing), "%.60s+0x%zx",
             strrchr(m.dli_fname, '/') ? strrchr(m.dli_fname, '/') + 1 : m.dli_fname,
             (size_t)((uintptr_t)pc - (uintptr_t)m.dli_fbase));
}

/* The handler is gone, and the signal waits until it returns: that ends the process. */
static void on_crash(int sig, siginfo_t *info, void *context)
{
    raise(sig);
    note_place(context);
}

static void watch_crashes(char (*place)[PLACE])
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char stack[65536];
    const stack_t alt = {.ss_sp = stack, .ss_size = sizeof(stack)};
    const struct sigaction a = {.sa_sigaction = on_crash,
                                .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK | SA_SIGINFO)};

    crashing = place;
    sigaltstack(&alt, NULL); /* of a stack that has run out */
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &a, NULL);
}

static struct outcome play(struct work *w)
{
    const struct trc_try how = {.keep = w->trial,
                                .timeout_ms = w->q->timeout_ms ? w->q->timeout_ms : 2000,
                                .finish = w->finish,
                                .progress = &w->shared->progress};
    struct outcome o = {0};
    int status = 0;
    pid_t pid;

    w->r->tests++;
    *w->shared = (struct shared){0};
    pid = fork();
    if (!pid) {
        int null = open("/dev/null", O_WRONLY);
        struct rlimit no_core = {0};

        setrlimit(RLIMIT_CORE, &no_core);
        dup2(null, 2);
        dup2(null, 1);
        alarm(how.timeout_ms / 100 + 1);
        watch_crashes(&w->shared->place);
        trc_rewind(w->t);
        _exit((int)w->q->play(w->t, &how));
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return o;
    o.method = w->shared->progress.method;
    memcpy(o.place, w->shared->place, sizeof(o.place));
    if (WIFSIGNALED(status))
        o.signal = WTERMSIG(status);
    else
        o.how = (enum trc_outcome)WEXITSTATUS(status);
    if (o.how == TRC_HUNG)
        o.method = 0; /* whichever was the last */
    return o;
}

static uint32_t max_tests(const struct work *w)
{
    return w->q->max_tests ? w->q->max_tests : 2000;
}

static bool still(struct work *w)
{
    struct outcome o;
    size_t left;

    if (w->r->tests >= max_tests(w))
        return false;
    left = cascade(w);
    o = play(w);
    if (o.signal != w->want.signal || o.how != w->want.how || o.method != w->want.method ||
        strcmp(o.place, w->want.place) != 0)
        return false;
    INVARIANT(left <= w->r->calls); // smaller sets only
    for (size_t i = 0; i < w->num; i++)
        INVARIANT(!w->trial[i] || w->keep[i]);
    memcpy(w->keep, w->trial, w->num);
    w->r->calls = left;
    if (w->q->progress)
        w->q->progress(w->q->ctx, w->r->tests, left);
    return true;
}

/* ---- groups -------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* The groups that are left, each once; returns how many. */
static uint32_t groups_left(const struct work *w, uint32_t *groups)
{
    size_t n = 0, m = 0;

    for (size_t i = 0; i < w->num; i++)
        if (w->keep[i] && w->calls[i].group)
            groups[n++] = w->calls[i].group;
    qsort(groups, n, sizeof(*groups), by_value);
    for (size_t i = 0; i < n; i++)
        if (!i || groups[i] != groups[i - 1])
            groups[m++] = groups[i];
    return (uint32_t)m;
}

/* Removes groups while the failure stays the same. Group 0 stays. */
static int reduce(struct work *w)
{
    uint32_t *groups = malloc((w->num + 1) * sizeof(*groups)), m = groups ? groups_left(w, groups) : 0,
             *place;
    struct ddmin *d = ddmin_create(m);
    struct ddmin_candidate c;

    place = calloc(m ? (size_t)groups[m - 1] + 1 : 1, sizeof(*place));
    if (!groups || !d || !place) {
        free(groups);
        free(place);
        ddmin_destroy(d);
        return -ENOMEM;
    }
    /* the last one first: what is last depends on what is first, seldom the other way round */
    for (uint32_t i = 0; i < m; i++)
        place[groups[i]] = m - 1 - i;
    while (w->r->tests < max_tests(w) && ddmin_next(d, &c)) {
        memcpy(w->trial, w->keep, w->num);
        for (size_t i = 0; i < w->num; i++)
            if (w->keep[i] && w->calls[i].group && !c.keep[place[w->calls[i].group]])
                w->trial[i] = 0;
        /* what went with others need not be tried */
        ddmin_answer(d, c.ticket, !memcmp(w->trial, w->keep, w->num) || still(w));
    }
    ddmin_destroy(d);
    free(groups);
    free(place);
    return 0;
}

/* Every recording of a list is a group, with what executes it alone. */
static void group_by_recording(struct work *w)
{
    uint32_t *now = calloc(w->num_objects + 1, sizeof(*now)), next = 1;

    for (size_t i = 0; now && i < w->num; i++) {
        struct call *c = &w->calls[i];
        uint32_t one = c->num_refs == 1 ? w->pool[c->refs] : 0;
        uint32_t flags = trc_api(w->t)->methods[c->method].flags;

        c->group = 0;
        if (flags & API_LIST && c->self < w->num_objects) {
            if (flags & API_AFRESH || !now[c->self])
                now[c->self] = next++;
            c->group = now[c->self];
        } else if (flags & API_EXECUTES && one < w->num_objects) {
            c->group = now[one];
        }
    }
    free(now);
}

int trc_minimize(struct trc *t, const char *path, const struct trc_minimize_params *params,
                 struct trc_minimize_result *r, struct error *e)
{
    struct work w = {.t = t, .q = params, .r = r};
    struct trc_editor *ed = NULL;
    struct trc_call c;
    uint64_t crash;
    void *first;
    int err, got = 0;

    *r = (struct trc_minimize_result){0};
    backtrace(&first, 1); /* loads what it needs */
    w.shared = mmap(NULL, sizeof(*w.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w.shared == MAP_FAILED)
        return error_set(e, -errno, "cannot share memory: %s", strerror(errno));
    if ((err = read_calls(&w, e)))
        goto out;
    memset(w.trial, 1, w.num);
    w.finish = true;
    w.want = play(&w);
    w.finish = w.want.how == TRC_HUNG || w.want.how == TRC_WAITS;
    if (!w.want.signal && w.want.how == TRC_PLAYED) {
        err = error_set(e, -EAGAIN, "the recording plays to its end without a failure");
        goto out;
    }
    r->signal = w.want.signal;
    r->how = w.want.how;
    r->method = w.want.method;
    memcpy(r->place, w.want.place, sizeof(r->place));
    r->calls_before = r->calls = w.num;
    crash = w.shared->progress.index;
    memset(w.trial, 0, w.num);
    memset(w.trial, 1, crash < w.num ? crash + 1 : w.num);
    if (!still(&w)) {
        err = error_set(e, -EAGAIN, "the failure does not come back when the recording is played again");
        goto out;
    }
    err = reduce(&w); /* frames */
    group_by_recording(&w);
    err = err ? err : reduce(&w);
    for (size_t i = 0; i < w.num; i++) /* objects: with them goes all that mentions them */
        w.calls[i].group = w.calls[i].made;
    err = err ? err : reduce(&w);
    for (size_t i = 0; i < w.num; i++)
        w.calls[i].group = (uint32_t)i + 1;
    err = err ? err : reduce(&w);
    if (err) {
        error_set(e, err, "out of memory");
        goto out;
    }
    if ((err = trc_edit_create(&ed, t, path, json_pack("{s:b}", "minimized", true), e)))
        goto out;
    trc_rewind(t);
    while (!err && (got = trc_next(t, &c, e)) > 0)
        if (w.keep[c.index])
            err = trc_edit_copy(ed, &c, e);
    err = err ? err : got < 0 ? got : 0;
    got = trc_edit_finish(ed, !err, e);
    err = err ? err : got;
out:
    munmap(w.shared, sizeof(*w.shared));
    free(w.calls);
    free(w.pool);
    free(w.ids.ids);
    free(w.made.ids);
    free(w.keep);
    free(w.trial);
    free(w.dead);
    trc_rewind(t);
    return err;
}
