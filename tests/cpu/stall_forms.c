/* SPDX-License-Identifier: MIT */
#include "stall_plants.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILLED, STOP, TRACE, FREEZE, MUTEX, FILE_LOCK, PIPE, VFORK, PAUSE, SPIN, FORMS };

const struct plant_kind stall_forms[FORMS] = {
    [KILLED] = {"live: the executor killed by SIGKILL", CPU_VERDICT_EXECUTOR_DIED, NULL},
    [STOP] = {"live: the executor stopped by SIGSTOP", CPU_VERDICT_FROZEN, "stopped by a signal"},
    [TRACE] = {"live: the executor held by ptrace", CPU_VERDICT_FROZEN, "held by a debugger"},
    [FREEZE] = {"live: the executor frozen by its cgroup", CPU_VERDICT_FROZEN, "frozen by its control group"},
    [MUTEX] = {"live: a mutex that a sleeper holds", CPU_VERDICT_LOCKED, NULL},
    [FILE_LOCK] = {"live: a lock on a file that a sleeper holds", CPU_VERDICT_LOCKED, NULL},
    [PIPE] = {"live: a pipe into which nobody writes", CPU_VERDICT_LOCKED, NULL},
    [VFORK] = {"live: blocked in D state", CPU_VERDICT_BLOCKED_ON_IO, NULL},
    [PAUSE] = {"live: the executor sleeps on nothing", CPU_VERDICT_UNKNOWN, NULL},
    [SPIN] = {"live: the executor spins, as a hung shader does", CPU_VERDICT_GPU_HUNG, NULL},
};
const uint32_t stall_num_forms = FORMS;

struct stall_form {
    uint32_t form;
    pthread_mutex_t *mutex; /* shared */
    int pipe[2], file;
    pid_t helper; /* holds what the executor wants */
    char group[64];
};

static bool write_text(const char *dir, const char *file, const char *text)
{
    char path[128];
    int fd;
    bool ok;

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Takes what the executor will want, and keeps it. */
static void help(struct stall_form *f)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char path[64];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "holder");
    if (f->form == MUTEX)
        pthread_mutex_lock(f->mutex);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", f->file);
    if (f->form == FILE_LOCK && fcntl(open(path, O_RDWR), F_SETLK, &lock))
        _exit(1);
    if (write(f->pipe[1], "", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static bool make_group(struct stall_form *f)
{
    static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    char freeze[96];

    for (size_t i = 0; i < 2; i++) {
        snprintf(f->group, sizeof(f->group), "%s/aerogpu-stall-%d", roots[i], (int)getpid());
        snprintf(freeze, sizeof(freeze), "%s/cgroup.freeze", f->group);
        if ((!mkdir(f->group, 0755) || errno == EEXIST) && !access(freeze, W_OK))
            return true;
        rmdir(f->group);
    }
    f->group[0] = '\0';
    return false;
}

struct stall_form *stall_form_create(uint32_t form, int cpu, char *why, size_t cap)
{
    struct stall_form *f = calloc(1, sizeof(*f));
    pthread_mutexattr_t shared;
    char c;

    f->form = form;
    if (pipe(f->pipe))
        abort();
    if (form == FREEZE && !make_group(f)) {
        snprintf(why, cap, "no control group of version 2 can be made here");
        stall_form_destroy(f, 0);
        return NULL;
    }
    f->file = memfd_create("stall", MFD_CLOEXEC);
    f->mutex = mmap(NULL, sizeof(*f->mutex), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(f->mutex, &shared);
    if (form == MUTEX || form == FILE_LOCK) {
        f->helper = fork();
        if (f->helper == 0)
            help(f);
        if (read(f->pipe[0], &c, 1) != 1) /* it holds it */
            abort();
    }
    return f;
}

void stall_form_prepare(struct stall_form *f)
{
    if (f->form != SPIN && f->form != KILLED)
        return;
    /* what else runs here must not be the stall */
    sched_setscheduler(0, SCHED_FIFO, &(const struct sched_param){.sched_priority = 1});
}

/* Takes what never comes. */
void stall_form_work(struct stall_form *f)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char c;

    if (f->form == MUTEX)
        pthread_mutex_lock(f->mutex);
    else if (f->form == FILE_LOCK)
        fcntl(f->file, F_SETLKW, &lock);
    else if (f->form == PIPE && read(f->pipe[0], &c, 1) == 1)
        _exit(1);
    else if (f->form == VFORK) {
        if (vfork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                pause();
        }
    } else if (f->form == PAUSE)
        pause();
    for (;;)
        ;
}

void stall_form_plant(struct stall_form *f, pid_t executor)
{
    char text[16];

    if (f->form == KILLED) {
        usleep(20000);
        kill(executor, SIGKILL);
    } else if (f->form == STOP) {
        kill(executor, SIGSTOP);
    } else if (f->form == TRACE) {
        ptrace(PTRACE_SEIZE, executor, NULL, NULL);
        ptrace(PTRACE_INTERRUPT, executor, NULL, NULL);
    } else if (f->form == FREEZE) {
        snprintf(text, sizeof(text), "%d", (int)executor);
        if (!write_text(f->group, "cgroup.procs", text) || !write_text(f->group, "cgroup.freeze", "1"))
            fprintf(stderr, "stall_verdicts: the executor cannot be frozen: %s\n", strerror(errno));
    }
}

void stall_form_destroy(struct stall_form *f, pid_t executor)
{
    if (f->form == TRACE && executor > 0)
        ptrace(PTRACE_DETACH, executor, NULL, NULL);
    if (f->group[0])
        write_text(f->group, "cgroup.freeze", "0");
    if (executor > 0) {
        kill(executor, SIGKILL);
        waitpid(executor, NULL, 0);
    }
    if (f->helper > 0) {
        kill(f->helper, SIGKILL);
        waitpid(f->helper, NULL, 0);
    }
    if (f->group[0])
        rmdir(f->group);
    close(f->pipe[0]);
    close(f->pipe[1]);
    if (f->file > 0)
        close(f->file);
    if (f->mutex)
        munmap(f->mutex, sizeof(*f->mutex));
    free(f);
}
