/* SPDX-License-Identifier: MIT */
/* process.c: see process.h. */
#include "dxgkrnl/kernel/process.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/sched/signame.h"
#include "dxgkrnl/kernel/exceptions.h"
#include "dxgkrnl/kernel/state.h"

enum { EAGER = 256, LOOK_EVERY_MS = 1, SAFE_MASK = 077 };

/* Below `need` what this process does itself would fail, and look like the machine's fault. */
static const struct {
    __rlimit_resource_t which;
    const char *name;
    rlim_t need;
} limits[] = {{RLIMIT_NOFILE, "RLIMIT_NOFILE", 256},       {RLIMIT_AS, "RLIMIT_AS", RLIM_INFINITY},
              {RLIMIT_DATA, "RLIMIT_DATA", RLIM_INFINITY}, {RLIMIT_FSIZE, "RLIMIT_FSIZE", RLIM_INFINITY},
              {RLIMIT_CPU, "RLIMIT_CPU", RLIM_INFINITY},   {RLIMIT_STACK, "RLIMIT_STACK", 1 << 20},
              {RLIMIT_NPROC, "RLIMIT_NPROC", 1024},        {RLIMIT_CORE, "RLIMIT_CORE", 0},
              {RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK", 0},       {RLIMIT_NICE, "RLIMIT_NICE", 0},
              {RLIMIT_RTPRIO, "RLIMIT_RTPRIO", 0}};
enum { NUM_LIMITS = sizeof(limits) / sizeof(limits[0]) };

enum { HERE, ROOT, FOLDERS };
static const char *const folder_paths[FOLDERS] = {".", "/"};
static struct {
    int folders[FOLDERS];
    struct stat at[FOLDERS]; /* no inode: it is not known */
    mode_t mask;
    struct rlimit limits[NUM_LIMITS];
    struct sigaction handlers[_NSIG];
    bool handled[_NSIG];
} then;

/* The environment lies in an array of ours, which no setenv() of the C library's moves or frees. */
static struct environment {
    char **lent, **copy;
    size_t num; /* the NULL, too */
    uint64_t sum;
    struct environment *older;
} * environment;

static struct {
    pthread_mutex_t lock;
    struct {
        int fd;
        struct stat is;
    } list[32];
    unsigned num;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread sigset_t blocked;
static __thread bool has_blocked;

static void note(void)
{
    for (int i = 0; i < FOLDERS; i++) {
        then.folders[i] = open(folder_paths[i], O_PATH | O_CLOEXEC);
        if (then.folders[i] >= 0 && fstat(then.folders[i], &then.at[i]))
            then.at[i].st_ino = 0;
    }
    then.mask = umask(SAFE_MASK); /* cannot be read otherwise; there are no threads yet that make files */
    umask(then.mask);
    for (int i = 0; i < NUM_LIMITS; i++)
        if (getrlimit(limits[i].which, &then.limits[i]))
            then.limits[i] = (struct rlimit){0};
}

void dxgk_process_note(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, note);
}

void dxgk_process_keep(int fd, bool keep)
{
    const unsigned room = sizeof(kept.list) / sizeof(kept.list[0]);
    unsigned i = 0;

    pthread_mutex_lock(&kept.lock);
    while (i < kept.num && kept.list[i].fd != fd)
        i++;
    if (keep && fd >= 0 && i < room && !fstat(fd, &kept.list[i].is)) {
        kept.list[i].fd = fd;
        kept.num += i == kept.num;
    } else if (!keep && i < kept.num) {
        kept.list[i] = kept.list[--kept.num];
    }
    pthread_mutex_unlock(&kept.lock);
}

bool dxgk_process_all_kept(void)
{
    struct stat now;
    bool all = true;

    pthread_mutex_lock(&kept.lock);
    for (unsigned i = 0; i < kept.num && all; i++)
        all = !fstat(kept.list[i].fd, &now) && now.st_ino == kept.list[i].is.st_ino &&
              now.st_dev == kept.list[i].is.st_dev;
    pthread_mutex_unlock(&kept.lock);
    return all;
}

/* Those of exceptions.c are its own. */
static void note_handlers(void)
{
    for (int sig = 1; sig < _NSIG; sig++)
        then.handled[sig] = sig != SIGKILL && sig != SIGSTOP && !dxgk_exceptions_has(sig) &&
                            !sigaction(sig, NULL, &then.handlers[sig]);
}

void dxgk_process_note_thread(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    has_blocked = !pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    pthread_once(&once, note_handlers); /* in front of the first call: by now our own are there */
}

void dxgk_process_begin(struct process_watch *w)
{
    *w = (struct process_watch){.eager = EAGER};
}

/* What is in it, wherever the C library has put that. */
uint64_t dxgk_process_environment(void)
{
    uint64_t sum = !environ;

    for (char **e = environ; e && *e; e++)
        sum = sum * 31 + (uintptr_t)*e;
    return sum;
}

void dxgk_process_environment_keep(void)
{
    struct environment *e = environment;
    size_t num = 1;

    if (e && e->sum == dxgk_process_environment())
        return;
    for (char **p = environ; p && *p; p++)
        num++;
    if (!(e = calloc(1, sizeof(*e))) || !(e->lent = calloc(2 * num, sizeof(*e->lent)))) {
        free(e);
        return;
    }
    e->copy = e->lent + num;
    e->num = num;
    if (environ) {
        memcpy(e->lent, environ, (num - 1) * sizeof(*e->lent));
        memcpy(e->copy, environ, (num - 1) * sizeof(*e->copy));
    }
    environ = e->lent;
    e->sum = dxgk_process_environment();
    e->older = environment; /* somebody may be reading it */
    environment = e;
}

bool dxgk_process_environment_back(void)
{
    struct environment *e = environment;

    if (!e || (e->sum == dxgk_process_environment() && environ == e->lent))
        return false;
    if (e->sum == dxgk_process_environment()) { /* changed, and changed back */
        environ = e->lent;
        return false;
    }
    memcpy(e->lent, e->copy, e->num * sizeof(*e->lent));
    environ = e->lent;
    return true;
}

static void said(struct kernel *k, struct process_watch *w, const char *ddi, const char *what)
{
    if (!w->unlooked)
        dxgk_kernel_violation(k, "%s changed %s of the process that it runs in", ddi, what);
    else
        dxgk_kernel_violation(
            k,
            "the miniport changed %s of the process that it runs in, in %s or one of %u calls before "
            "it, of which %s was the first",
            what, ddi, w->unlooked, w->first);
    w->eager = EAGER;
}

static void look_at_limits(struct kernel *k, struct process_watch *w, const char *ddi)
{
    char what[60];
    struct rlimit now;

    for (int i = 0; i < NUM_LIMITS; i++) {
        if (getrlimit(limits[i].which, &now) ||
            (now.rlim_cur == then.limits[i].rlim_cur && now.rlim_max == then.limits[i].rlim_max))
            continue;
        if (setrlimit(limits[i].which, &then.limits[i]) && then.limits[i].rlim_cur > now.rlim_max) {
            now.rlim_cur = now.rlim_max; /* as far as it goes */
            setrlimit(limits[i].which, &now);
        }
        snprintf(what, sizeof(what), "a limit (%s)", limits[i].name);
        said(k, w, ddi, what);
        if (!getrlimit(limits[i].which, &now) && now.rlim_cur < then.limits[i].rlim_cur &&
            now.rlim_cur < limits[i].need)
            dxgk_lastwords_end(
                "the miniport changed %s of the process that it runs in, which cannot be put back", what);
        then.limits[i] = now; /* what could not be put back is said once */
    }
}

static bool is_moved(int folder)
{
    struct stat now;

    return then.at[folder].st_ino &&
           (stat(folder_paths[folder], &now) || now.st_ino != then.at[folder].st_ino ||
            now.st_dev != then.at[folder].st_dev);
}

static void look_at_folders(struct kernel *k, struct process_watch *w, const char *ddi)
{
    if (is_moved(ROOT)) {
        said(k, w, ddi, "the root directory");
        if (fchdir(then.folders[ROOT]) || chroot("."))
            dxgk_lastwords_end(
                "the miniport changed the root directory of the process that it runs in, which cannot be put back");
        if (fchdir(then.folders[HERE]))
            then.at[HERE].st_ino = 0;
    }
    if (is_moved(HERE)) {
        said(k, w, ddi, "the working directory");
        if (fchdir(then.folders[HERE]))
            then.at[HERE].st_ino = 0;
    }
}

/* Of the miniport's, or none where there was one; a library that comes with our own work may have some. */
static bool is_wrong(const struct kernel *k, const struct sigaction *now)
{
    return now->sa_handler == SIG_DFL || now->sa_handler == SIG_IGN ||
           dxgk_kernel_in_object(k, (const void *)now->sa_sigaction);
}

static void said_handler(struct kernel *k, struct process_watch *w, const char *ddi, int sig)
{
    char what[60];

    snprintf(what, sizeof(what), "the handler of %s", signal_name(sig).text);
    said(k, w, ddi, what);
}

static void look_at_handlers(struct kernel *k, struct process_watch *w, const char *ddi)
{
    struct sigaction now;

    for (int sig = 1; sig < _NSIG; sig++) {
        if (!then.handled[sig] || sigaction(sig, NULL, &now) ||
            now.sa_sigaction == then.handlers[sig].sa_sigaction)
            continue;
        if (is_wrong(k, &now)) {
            sigaction(sig, &then.handlers[sig], NULL);
            said_handler(k, w, ddi, sig);
        } else {
            then.handlers[sig] = now;
        }
    }
}

static void look_at_signals(struct kernel *k, struct process_watch *w, const char *ddi)
{
    int taken = dxgk_exceptions_taken_back();
    sigset_t now;

    if (has_blocked && !pthread_sigmask(SIG_SETMASK, NULL, &now) && memcmp(&now, &blocked, _NSIG / 8) != 0) {
        pthread_sigmask(SIG_SETMASK, &blocked, NULL);
        said(k, w, ddi, "the mask of signals");
    }
    if (taken)
        said_handler(k, w, ddi, taken);
    look_at_handlers(k, w, ddi);
}

static bool is_time(struct process_watch *w)
{
    struct timespec t;
    int64_t ms;

    clock_gettime(CLOCK_MONOTONIC, &t);
    ms = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
    if (!w->eager && ms < w->looked_ms + LOOK_EVERY_MS)
        return false;
    w->eager -= w->eager > 0;
    w->looked_ms = ms;
    return true;
}

void dxgk_process_look(struct kernel *k, struct process_watch *w, const char *ddi)
{
    struct pollfd stop = {.fd = k->guard.stop_fd, .events = POLLIN};

    if (!is_time(w)) {
        w->first = w->unlooked++ ? w->first : ddi;
        return;
    }
    if (!dxgk_process_all_kept())
        dxgk_lastwords_end(PROCESS_CLOSED, w->unlooked ? w->first : ddi);
    if (poll(&stop, 1, 0) > 0 && !atomic_load(&k->guard.stopping))
        dxgk_lastwords_end(PROCESS_WRITTEN, w->unlooked ? w->first : ddi);
    look_at_folders(k, w, ddi);
    if (umask(then.mask) != then.mask)
        said(k, w, ddi, "the mask of new files (umask)");
    look_at_limits(k, w, ddi);
    look_at_signals(k, w, ddi);
    w->unlooked = 0;
}
