/* SPDX-License-Identifier: MIT */
/* process.c: see process.h. */
#include "dxgkrnl/kernel/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "dxgkrnl/kernel/exceptions.h"
#include "dxgkrnl/kernel/state.h"

enum { EAGER = 64, LOOK_EVERY_MS = 1, SAFE_MASK = 077 };

static const struct {
    __rlimit_resource_t which;
    const char *name;
} limits[] = {
    {RLIMIT_NOFILE, "RLIMIT_NOFILE"}, {RLIMIT_AS, "RLIMIT_AS"},        {RLIMIT_DATA, "RLIMIT_DATA"},
    {RLIMIT_FSIZE, "RLIMIT_FSIZE"},   {RLIMIT_CPU, "RLIMIT_CPU"},      {RLIMIT_STACK, "RLIMIT_STACK"},
    {RLIMIT_NPROC, "RLIMIT_NPROC"},   {RLIMIT_CORE, "RLIMIT_CORE"},    {RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK"},
    {RLIMIT_NICE, "RLIMIT_NICE"},     {RLIMIT_RTPRIO, "RLIMIT_RTPRIO"}};
enum { NUM_LIMITS = sizeof(limits) / sizeof(limits[0]) };

static struct {
    int folder; /* the working directory */
    struct stat at;
    mode_t mask;
    struct rlimit limits[NUM_LIMITS];
} then;

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
    then.folder = open(".", O_PATH | O_CLOEXEC);
    if (then.folder >= 0 && fstat(then.folder, &then.at))
        then.at.st_ino = 0;
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

static bool all_kept(void)
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

void dxgk_process_note_thread(void)
{
    has_blocked = !pthread_sigmask(SIG_SETMASK, NULL, &blocked);
}

void dxgk_process_begin(struct process_watch *w)
{
    *w = (struct process_watch){.eager = EAGER};
}

uint64_t dxgk_process_environment(void)
{
    uint64_t sum = (uintptr_t)environ;

    for (char **e = environ; e && *e; e++)
        sum = sum * 31 + (uintptr_t)*e;
    return sum;
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
        getrlimit(limits[i].which, &then.limits[i]); /* what could not be put back is said once */
    }
}

static void look_at_signals(struct kernel *k, struct process_watch *w, const char *ddi)
{
    const char *taken = dxgk_exceptions_taken_back();
    sigset_t now;

    if (has_blocked && !pthread_sigmask(SIG_SETMASK, NULL, &now) && memcmp(&now, &blocked, _NSIG / 8) != 0) {
        pthread_sigmask(SIG_SETMASK, &blocked, NULL);
        said(k, w, ddi, "the mask of signals");
    }
    if (taken)
        said(k, w, ddi, taken);
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
    struct stat now;

    if (!is_time(w)) {
        w->first = w->unlooked++ ? w->first : ddi;
        return;
    }
    if (!all_kept())
        dxgk_lastwords_end(
            "descriptors of the process were closed that are not the miniport's, in or behind %s",
            w->unlooked ? w->first : ddi);
    if (then.at.st_ino && (stat(".", &now) || now.st_ino != then.at.st_ino || now.st_dev != then.at.st_dev)) {
        said(k, w, ddi, "the working directory");
        if (fchdir(then.folder))
            then.at.st_ino = 0;
    }
    if (umask(then.mask) != then.mask)
        said(k, w, ddi, "the mask of new files (umask)");
    look_at_limits(k, w, ddi);
    look_at_signals(k, w, ddi);
    w->unlooked = 0;
}
