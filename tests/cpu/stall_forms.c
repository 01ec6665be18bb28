/* SPDX-License-Identifier: MIT */
/* What live plants share, and those of fate: death, stops, sleep, work that is done too late or not looked at. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stall_form.h"

/* ---- tools -------------------------------------------------------------------- */

uint64_t stall_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void stall_nap(uint64_t ns)
{
    struct timespec ts = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    nanosleep(&ts, NULL);
}

void stall_spin(uint64_t until_ns)
{
    while (stall_now() < until_ns)
        ;
}

void stall_wait_for(pid_t pid, unsigned seconds)
{
    for (uint64_t end = stall_now() + seconds * 1000 * MS; stall_now() < end; stall_nap(MS))
        if (waitpid(pid, NULL, WNOHANG) == pid)
            return;
    do {
        char file[32];
        const struct dirent *d;
        DIR *tasks;

        snprintf(file, sizeof(file), "/proc/%d/task", (int)pid);
        tasks = opendir(file);
        while (tasks && (d = readdir(tasks)))
            if (atoi(d->d_name) > 0)
                sched_setscheduler(atoi(d->d_name), SCHED_OTHER, &(struct sched_param){0});
        if (tasks)
            closedir(tasks);
        stall_nap(100 * MS);
    } while (waitpid(pid, NULL, WNOHANG) != pid);
}

void stall_pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

bool stall_real_time(int priority)
{
    const struct sched_param fifo = {.sched_priority = priority};

    return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &fifo) == 0;
}

void stall_be_first(struct stall_form *f)
{
    (void)f;
    sched_setscheduler(0, SCHED_FIFO, &(const struct sched_param){.sched_priority = 1});
}

bool stall_spin_on(struct stall_form *f)
{
    (void)f;
    stall_spin(UINT64_MAX);
    return false;
}

void stall_go(struct stall_form *f, pid_t executor)
{
    (void)executor;
    stall_let_go(f);
}

bool stall_write(const char *dir, const char *file, const char *text)
{
    char path[160];
    int fd;
    bool ok;

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool make_group(struct stall_form *f, int i, const char *root, const char *file)
{
    char path[160];

    snprintf(f->group[i], sizeof(f->group[i]), "%s/aerogpu-stall-%d-%d", root, (int)getpid(), i);
    snprintf(path, sizeof(path), "%s/%s", f->group[i], file);
    if ((!mkdir(f->group[i], 0755) || errno == EEXIST) && !access(path, W_OK))
        return true;
    rmdir(f->group[i]);
    f->group[i][0] = '\0';
    return false;
}

int stall_group(struct stall_form *f, int i, const char *controller, const char *file1, const char *file2)
{
    char root[64];

    snprintf(root, sizeof(root), "/sys/fs/cgroup/%s", controller);
    if (file1 && make_group(f, i, root, file1))
        return 1;
    if (file2 &&
        (make_group(f, i, "/sys/fs/cgroup", file2) || make_group(f, i, "/sys/fs/cgroup/unified", file2)))
        return 2;
    return 0;
}

bool stall_join(struct stall_form *f, int i, pid_t pid)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", (int)pid);
    return stall_write(f->group[i], "cgroup.procs", text);
}

void stall_ready(struct stall_form *f)
{
    if (write(f->ready[1], "", 1) != 1)
        _exit(1);
}

void stall_wait_go(struct stall_form *f)
{
    char c;

    if (read(f->go[0], &c, 1) != 1)
        _exit(1);
}

void stall_let_go(struct stall_form *f)
{
    atomic_store(&f->common->until_ns, stall_now() + f->limit_ns + 10 * MS);
    for (uint32_t i = 0; i < f->num_helpers; i++)
        if (write(f->go[1], "", 1) != 1)
            fprintf(stderr, "stall_verdicts: a helper cannot be let go\n");
}

void stall_helper(struct stall_form *f, const char *name, void (*run)(struct stall_form *f))
{
    struct pollfd p = {.fd = f->ready[0], .events = POLLIN};
    char c;
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, name);
        run(f);
        for (;;)
            pause();
    }
    f->helpers[f->num_helpers++] = pid;
    if (poll(&p, 1, 10000) != 1 || read(f->ready[0], &c, 1) != 1)
        fprintf(stderr, "stall_verdicts: %s/%d does not get ready\n", name, (int)pid);
}

/* ---- death -------------------------------------------------------------------- */

static const int deadly[] = {SIGKILL, SIGTERM, SIGSEGV, SIGBUS,  SIGABRT, SIGILL,
                             SIGFPE,  SIGSYS,  SIGQUIT, SIGHUP,  SIGINT,  SIGPIPE,
                             SIGALRM, SIGXCPU, SIGUSR1, SIGTRAP, SIGXFSZ, SIGVTALRM};

static void plant_signal(struct stall_form *f, pid_t executor)
{
    stall_nap(20 * MS);
    kill(executor, f->form->arg ? f->form->arg : deadly[f->pick % (sizeof(deadly) / sizeof(deadly[0]))]);
}

enum { BY_ADDRESS, BY_CHECK, BY_FILE, BY_DIVISION, BY_CODE, BY_EXIT };

static bool die(struct stall_form *f)
{
    volatile int zero = 0;
    volatile char *page;

    stall_spin(stall_now() + 10 * MS);
    switch (f->form->arg) {
    case BY_ADDRESS:
        page = (volatile char *)stall_form_create; /* nobody may write there */
        *page = 1;
        break;
    case BY_CHECK:
        abort();
    case BY_FILE: /* there is nothing in the file */
        page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, f->file, 0);
        zero = page[0];
        break;
    case BY_DIVISION:
        zero = 1 / zero;
        raise(SIGFPE); /* where a division by zero is a number */
        break;
    case BY_CODE:
        __builtin_trap();
    default:
        _exit(0);
    }
    return false;
}

/* ---- stops -------------------------------------------------------------------- */

static void plant_stop(struct stall_form *f, pid_t executor)
{
    static const int stops[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};

    setpgid(executor, executor);
    kill(executor, stops[f->pick % 4]);
}

static void plant_trace(struct stall_form *f, pid_t executor)
{
    if (f->pick % 2) {
        ptrace(PTRACE_ATTACH, executor, NULL, NULL);
    } else {
        ptrace(PTRACE_SEIZE, executor, NULL, NULL);
        ptrace(PTRACE_INTERRUPT, executor, NULL, NULL);
    }
}

static void end_trace(struct stall_form *f, pid_t executor)
{
    (void)f;
    ptrace(PTRACE_DETACH, executor, NULL, NULL);
}

static bool create_freezer(struct stall_form *f, char *why, size_t cap)
{
    const int version = f->form->arg;

    if (stall_group(f, 0, "freezer", version == 1 ? "freezer.state" : NULL,
                    version == 2 ? "cgroup.freeze" : NULL))
        return true;
    snprintf(why, cap, "no control group of version %d can be made here", version);
    return false;
}

static bool set_frozen(struct stall_form *f, bool frozen)
{
    return f->form->arg == 1 ? stall_write(f->group[0], "freezer.state", frozen ? "FROZEN" : "THAWED")
                             : stall_write(f->group[0], "cgroup.freeze", frozen ? "1" : "0");
}

static void plant_freeze(struct stall_form *f, pid_t executor)
{
    if (!stall_join(f, 0, executor) || !set_frozen(f, true))
        fprintf(stderr, "stall_verdicts: the executor cannot be frozen: %s\n", strerror(errno));
}

static void end_freeze(struct stall_form *f, pid_t executor)
{
    (void)executor;
    set_frozen(f, false);
}

/* ---- sleep, for whatever ------------------------------------------------------- */

static bool sleep_on_nothing(struct stall_form *f)
{
    struct pollfd p = {.fd = f->pipe[0], .events = POLLIN};
    struct sembuf want = {0, -1, 0};
    sigset_t none;
    int pair[2], status;
    char c;

    sigemptyset(&none);
    sigaddset(&none, SIGUSR2);
    switch (f->form->arg ? 7 : f->pick % 7) {
    case 0:
        pause();
        break;
    case 1:
        sleep(60);
        break;
    case 2:
        poll(&p, 1, 60000);
        break;
    case 3:
        if (!socketpair(AF_UNIX, SOCK_STREAM, 0, pair) && recv(pair[0], &c, 1, 0) == 1)
            return true;
        break;
    case 4:
        pthread_mutex_lock(&f->common->mutex[0]);
        pthread_cond_wait(&f->common->cond, &f->common->mutex[0]);
        break;
    case 5:
        sigprocmask(SIG_BLOCK, &none, NULL);
        sigwaitinfo(&none, NULL);
        break;
    case 6:
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                pause();
        }
        wait(&status);
        break;
    default:
        semop(f->set, &want, 1);
        break;
    }
    return false;
}

/* ---- done, too late or unseen ---------------------------------------------------- */

static bool be_done(struct stall_form *f)
{
    stall_spin(stall_now() + f->limit_ns * (uint64_t)f->form->arg / 100);
    return true;
}

/* It is done, and keeps the processor from the one who waits. */
static bool be_done_and_stay(struct stall_form *f)
{
    return be_done(f) && stall_real_time(50);
}

static void hog(struct stall_form *f)
{
    stall_spin(stall_now() + f->limit_ns + 20 * MS);
}

/* ---- a hung GPU, on processors ---------------------------------------------------- */

static bool spin_in_calls(struct stall_form *f)
{
    (void)f;
    for (int i = 0;; i++)
        if (syscall(SYS_getppid) < 0)
            return false;
}

static void *spin_in_thread(void *arg)
{
    struct stall_form *f = arg;

    atomic_store(&f->common->thread, (int32_t)syscall(SYS_gettid));
    stall_spin_on(f);
    return NULL;
}

static bool wait_for_thread(struct stall_form *f)
{
    pthread_t t;

    pthread_create(&t, NULL, spin_in_thread, f);
    pthread_join(t, NULL);
    return false;
}

const struct form stall_fates[] = {
    {.kind = {"live: the executor killed by a signal", CPU_VERDICT_EXECUTOR_DIED, NULL},
     .prepare = stall_be_first,
     .work = stall_spin_on,
     .plant = plant_signal},
    {.kind = {"live: it wrote to no address", CPU_VERDICT_EXECUTOR_DIED, NULL},
     .work = die,
     .arg = BY_ADDRESS},
    {.kind = {"live: a check in it failed", CPU_VERDICT_EXECUTOR_DIED, NULL}, .work = die, .arg = BY_CHECK},
    {.kind = {"live: it read behind a file", CPU_VERDICT_EXECUTOR_DIED, NULL}, .work = die, .arg = BY_FILE},
    {.kind = {"live: it divided by zero", CPU_VERDICT_EXECUTOR_DIED, NULL}, .work = die, .arg = BY_DIVISION},
    {.kind = {"live: it ran into code that is none", CPU_VERDICT_EXECUTOR_DIED, NULL},
     .work = die,
     .arg = BY_CODE},
    {.kind = {"live: it left in peace", CPU_VERDICT_EXECUTOR_DIED, NULL}, .work = die, .arg = BY_EXIT},
    {.kind = {"live: the executor stopped by a signal", CPU_VERDICT_FROZEN, "stopped by a signal"},
     .work = stall_spin_on,
     .plant = plant_stop},
    {.kind = {"live: the executor held by ptrace", CPU_VERDICT_FROZEN, "held by a debugger"},
     .work = stall_spin_on,
     .plant = plant_trace,
     .destroy = end_trace},
    {.kind = {"live: frozen by cgroup v1", CPU_VERDICT_FROZEN, "frozen by its control group"},
     .create = create_freezer,
     .work = stall_spin_on,
     .plant = plant_freeze,
     .destroy = end_freeze,
     .arg = 1},
    {.kind = {"live: frozen by cgroup v2", CPU_VERDICT_FROZEN, "frozen by its control group"},
     .create = create_freezer,
     .work = stall_spin_on,
     .plant = plant_freeze,
     .destroy = end_freeze,
     .arg = 2},
    {.kind = {"live: the executor sleeps on nothing", CPU_VERDICT_UNKNOWN, NULL}, .work = sleep_on_nothing},
    {.kind = {"live: a semaphore that nobody gives", CPU_VERDICT_LOCKED, NULL},
     .work = sleep_on_nothing,
     .arg = 1},
    {.kind = {"live: done, and nobody looked", CPU_VERDICT_WAITER_LATE, NULL},
     .prepare = stall_be_first,
     .work = be_done,
     .arg = 20,
     .outcome = {.waiter_sleeps = true}},
    {.kind = {"live: done just before the time-out", CPU_VERDICT_GPU_SLOW, NULL},
     .prepare = stall_be_first,
     .work = be_done,
     .arg = 97,
     .outcome = {.waiter_sleeps = true}},
    {.kind = {"live: a slow GPU that ends after its limit", CPU_VERDICT_GPU_SLOW, NULL},
     .prepare = stall_be_first,
     .work = be_done,
     .arg = 115,
     .outcome = {.ends = true}},
    {.kind = {"live: the watchdog looked late", CPU_VERDICT_WATCHDOG_LATE, NULL},
     .prepare = stall_be_first,
     .work = be_done,
     .arg = 65,
     .outcome = {.waiter_sleeps = true, .due = .4}},
    {.kind = {"live: done, who waits is kept from it", CPU_VERDICT_CPU_STARVED, NULL},
     .prepare = stall_be_first,
     .work = be_done_and_stay,
     .after = hog,
     .arg = 10},
    {.kind = {"live: the executor spins, as a hung shader does", CPU_VERDICT_GPU_HUNG, NULL},
     .prepare = stall_be_first,
     .work = stall_spin_on},
    {.kind = {"live: it spins in system calls", CPU_VERDICT_GPU_HUNG, NULL},
     .prepare = stall_be_first,
     .work = spin_in_calls},
    {.kind = {"live: a thread of it spins, it waits for that", CPU_VERDICT_GPU_HUNG, NULL},
     .prepare = stall_be_first,
     .work = wait_for_thread,
     .outcome = {.has_thread = true}},
};
const uint32_t stall_fates_num = sizeof(stall_fates) / sizeof(stall_fates[0]);

/* ---- all of them ------------------------------------------------------------------ */

static const struct {
    const struct form *list;
    const uint32_t *num;
} families[] = {{stall_fates, &stall_fates_num},
                {stall_queues, &stall_queues_num},
                {stall_locks, &stall_locks_num},
                {stall_disks, &stall_disks_num},
                {stall_tricks, &stall_tricks_num}};

uint32_t stall_num_forms(void)
{
    uint32_t n = 0;

    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        n += *families[i].num;
    return n;
}

static const struct form *form_of(uint32_t form)
{
    size_t i = 0;

    for (; form >= *families[i].num; i++)
        form -= *families[i].num;
    return &families[i].list[form];
}

const struct plant_kind *stall_form_kind(uint32_t form)
{
    return &form_of(form)->kind;
}

static void share(struct stall_form *f)
{
    pthread_mutexattr_t m;
    pthread_rwlockattr_t rw;
    pthread_condattr_t c;

    f->common = mmap(NULL, sizeof(*f->common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (f->common == MAP_FAILED)
        abort();
    pthread_mutexattr_init(&m);
    pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&f->common->mutex[0], &m);
    pthread_mutex_init(&f->common->mutex[1], &m);
    pthread_mutexattr_setprotocol(&m, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&f->common->inheriting, &m);
    pthread_mutexattr_setprotocol(&m, PTHREAD_PRIO_NONE);
    pthread_mutexattr_setrobust(&m, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&f->common->robust, &m);
    pthread_rwlockattr_init(&rw);
    pthread_rwlockattr_setpshared(&rw, PTHREAD_PROCESS_SHARED);
    pthread_rwlock_init(&f->common->rwlock, &rw);
    pthread_condattr_init(&c);
    pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&f->common->cond, &c);
}

struct stall_form *stall_form_create(uint32_t form, int cpu, struct rng *rng, uint64_t limit_ns, char *why,
                                     size_t cap)
{
    struct stall_form *f = calloc(1, sizeof(*f));

    if (!f)
        abort();
    f->form = form_of(form);
    f->cpu = cpu;
    f->pick = (uint32_t)rng_below(rng, 1000);
    f->limit_ns = limit_ns;
    f->file = memfd_create("stall", MFD_CLOEXEC);
    f->set = semget(IPC_PRIVATE, 1, 0600);
    if (pipe2(f->ready, O_CLOEXEC) || pipe2(f->go, O_CLOEXEC) || pipe2(f->pipe, O_CLOEXEC))
        abort();
    share(f);
    if (f->form->create && !f->form->create(f, why, cap)) {
        stall_form_destroy(f, 0);
        return NULL;
    }
    return f;
}

const struct stall_outcome *stall_form_outcome(const struct stall_form *f)
{
    return &f->form->outcome;
}

void stall_form_prepare(struct stall_form *f)
{
    if (f->form->prepare)
        f->form->prepare(f);
    else
        stall_be_first(f); /* what else runs on this machine must not be the stall that was planted */
}

bool stall_form_work(struct stall_form *f)
{
    return f->form->work(f);
}

void stall_form_after(struct stall_form *f)
{
    if (f->form->after)
        f->form->after(f);
}

int32_t stall_form_thread(const struct stall_form *f)
{
    return atomic_load(&f->common->thread);
}

void stall_form_plant(struct stall_form *f, pid_t executor)
{
    if (f->form->plant)
        f->form->plant(f, executor);
    f->end_ns = stall_now();
}

bool stall_form_late(const struct stall_form *f, uint64_t submit_ns)
{
    return f->part_ns && f->end_ns > submit_ns + f->part_ns + f->limit_ns / 4;
}

void stall_form_destroy(struct stall_form *f, pid_t executor)
{
    if (f->form->destroy && executor > 0)
        f->form->destroy(f, executor);
    if (executor > 0) {
        kill(executor, SIGKILL);
        waitpid(executor, NULL, 0);
    }
    for (uint32_t i = 0; i < f->num_helpers; i++) {
        kill(f->helpers[i], SIGKILL);
        waitpid(f->helpers[i], NULL, 0);
    }
    for (int i = 0; i < 2; i++) {
        for (int tries = 0; f->group[i][0] && rmdir(f->group[i]) && tries < 100; tries++)
            stall_nap(MS); /* the dead leave it a moment later */
        close(f->ready[i]);
        close(f->go[i]);
        close(f->pipe[i]);
    }
    if (f->path[0])
        unlink(f->path);
    close(f->file);
    semctl(f->set, 0, IPC_RMID);
    munmap(f->common, sizeof(*f->common));
    free(f);
}
