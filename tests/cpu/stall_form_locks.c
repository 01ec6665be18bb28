/* SPDX-License-Identifier: MIT */
/* Live plants of locks: somebody else has what the executor wants. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include "stall_form.h"

enum { PLAIN, INHERITING, ROBUST, READ_WRITE, RECORD, OPEN_RECORD, WHOLE_FILE };

/* Takes the lock, for ever; from an open file of its own, where that matters. */
static void take(struct stall_form *f, bool own)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", f->file);
    fd = own ? open(path, O_RDWR | O_CLOEXEC) : f->file;
    switch (f->form->arg) {
    case PLAIN:
        pthread_mutex_lock(&f->common->mutex[0]);
        break;
    case INHERITING:
        pthread_mutex_lock(&f->common->inheriting);
        break;
    case ROBUST:
        pthread_mutex_lock(&f->common->robust);
        break;
    case READ_WRITE:
        pthread_rwlock_wrlock(&f->common->rwlock);
        break;
    case RECORD:
        fcntl(fd, F_SETLKW, &lock);
        break;
    case OPEN_RECORD:
        fcntl(fd, F_OFD_SETLKW, &lock);
        break;
    default:
        flock(fd, LOCK_EX);
        break;
    }
}

static void hold(struct stall_form *f)
{
    take(f, true);
    stall_ready(f);
}

static bool held(struct stall_form *f, char *why, size_t cap)
{
    (void)why;
    (void)cap;
    stall_helper(f, "holder", hold);
    return true;
}

static bool want(struct stall_form *f)
{
    take(f, false);
    return false;
}

/* ---- a pipe -------------------------------------------------------------------- */

static bool read_nothing(struct stall_form *f)
{
    char c;

    return read(f->pipe[0], &c, 1) == 1;
}

static bool write_much(struct stall_form *f)
{
    static const char text[4096];

    while (write(f->pipe[1], text, sizeof(text)) > 0)
        ;
    return false;
}

/* ---- priority inversion ---------------------------------------------------------- */

/* Would give the lock back after some work, for which it gets no processor. */
static void hold_and_work(struct stall_form *f)
{
    setpriority(PRIO_PROCESS, 0, 19);
    stall_pin(f->cpu);
    take(f, true);
    stall_ready(f);
    stall_wait_go(f);
    stall_spin(UINT64_MAX);
}

static void keep_processor(struct stall_form *f)
{
    stall_real_time(50);
    stall_pin(f->cpu);
    stall_ready(f);
    stall_wait_go(f);
    stall_spin(atomic_load(&f->common->until_ns));
}

static bool inverted(struct stall_form *f, char *why, size_t cap)
{
    (void)why;
    (void)cap;
    stall_helper(f, "holder", hold_and_work);
    stall_helper(f, "hog", keep_processor);
    return true;
}

static void go_later(struct stall_form *f, pid_t executor)
{
    stall_nap(4 * MS); /* it waits for the lock by now */
    stall_go(f, executor);
}

/* ---- deadlocks ------------------------------------------------------------------- */

static void hold_second(struct stall_form *f)
{
    pthread_mutex_lock(&f->common->mutex[1]);
    stall_ready(f);
    stall_wait_go(f);
    pthread_mutex_lock(&f->common->mutex[0]);
}

static bool crossed(struct stall_form *f, char *why, size_t cap)
{
    (void)why;
    (void)cap;
    stall_helper(f, "other", hold_second);
    return true;
}

static void hold_first(struct stall_form *f)
{
    stall_be_first(f);
    pthread_mutex_lock(&f->common->mutex[0]);
}

static bool want_second(struct stall_form *f)
{
    pthread_mutex_lock(&f->common->mutex[1]);
    return false;
}

static bool want_twice(struct stall_form *f)
{
    pthread_mutex_lock(&f->common->mutex[0]);
    pthread_mutex_lock(&f->common->mutex[0]);
    return false;
}

const struct form stall_locks[] = {
    {.kind = {"live: a mutex that a sleeper holds", CPU_VERDICT_LOCKED, "a lock was not given back"},
     .create = held,
     .work = want,
     .arg = PLAIN},
    {.kind = {"live: a mutex that lends priority", CPU_VERDICT_LOCKED, "a lock was not given back"},
     .create = held,
     .work = want,
     .arg = INHERITING},
    {.kind = {"live: a robust mutex", CPU_VERDICT_LOCKED, "a lock was not given back"},
     .create = held,
     .work = want,
     .arg = ROBUST},
    {.kind = {"live: a lock for readers and writers", CPU_VERDICT_LOCKED, NULL, true},
     .create = held,
     .work = want,
     .arg = READ_WRITE},
    {.kind = {"live: a lock on a part of a file", CPU_VERDICT_LOCKED, "a lock was not given back"},
     .create = held,
     .work = want,
     .arg = RECORD},
    {.kind = {"live: the same, of an open file", CPU_VERDICT_LOCKED, NULL},
     .create = held,
     .work = want,
     .arg = OPEN_RECORD},
    {.kind = {"live: a lock on a file", CPU_VERDICT_LOCKED, NULL},
     .create = held,
     .work = want,
     .arg = WHOLE_FILE},
    {.kind = {"live: a pipe into which nobody writes", CPU_VERDICT_LOCKED, NULL}, .work = read_nothing},
    {.kind = {"live: a pipe that nobody reads", CPU_VERDICT_LOCKED, NULL}, .work = write_much},
    {.kind = {"live: priority inversion", CPU_VERDICT_LOCKED, "the lock's holder could not run"},
     .create = inverted,
     .prepare = stall_be_first,
     .work = want,
     .plant = go_later,
     .arg = PLAIN},
    {.kind = {"live: a deadlock of two", CPU_VERDICT_LOCKED, "a deadlock"},
     .create = crossed,
     .prepare = hold_first,
     .work = want_second,
     .plant = go_later},
    {.kind = {"live: a deadlock with itself", CPU_VERDICT_LOCKED, NULL},
     .prepare = stall_be_first,
     .work = want_twice},
};
const uint32_t stall_locks_num = sizeof(stall_locks) / sizeof(stall_locks[0]);
