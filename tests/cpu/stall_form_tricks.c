/* SPDX-License-Identifier: MIT */
/* Live plants that look like something else: two stalls in a row, numbers and names that mean another, threads one by one. */
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stall_form.h"

static void nap_part(struct stall_form *f, uint64_t percent)
{
    f->part_ns = f->limit_ns * percent / 100;
    stall_nap(f->part_ns);
}

/* ---- one after another -------------------------------------------------------- */

/* For `arg` percent of the wait, from its beginning. */
static void stop_for(struct stall_form *f, pid_t executor)
{
    kill(executor, SIGSTOP);
    nap_part(f, (uint64_t)f->form->arg);
    kill(executor, SIGCONT);
}

static void trace_late(struct stall_form *f, pid_t executor)
{
    nap_part(f, (uint64_t)f->form->arg);
    ptrace(PTRACE_SEIZE, executor, NULL, NULL);
    ptrace(PTRACE_INTERRUPT, executor, NULL, NULL);
}

static void end_trace(struct stall_form *f, pid_t executor)
{
    ptrace(PTRACE_DETACH, stall_form_thread(f) ? stall_form_thread(f) : executor, NULL, NULL);
}

static void keep_processor(struct stall_form *f)
{
    stall_real_time(50);
    stall_pin(f->cpu);
    stall_ready(f);
    stall_wait_go(f);
    stall_spin(stall_now() + f->limit_ns * (uint64_t)f->form->arg / 100);
}

static bool create_hog(struct stall_form *f, char *why, size_t cap)
{
    (void)why;
    (void)cap;
    stall_helper(f, "hog", keep_processor);
    return true;
}

static void starve_and_stop(struct stall_form *f, pid_t executor)
{
    stall_let_go(f);
    nap_part(f, (uint64_t)f->form->arg);
    kill(executor, SIGSTOP);
}

/* ---- numbers and names ----------------------------------------------------------- */

static void spin_as_executor(struct stall_form *f)
{
    stall_be_first(f);
    stall_pin(f->cpu);
    stall_ready(f);
    stall_spin(UINT64_MAX);
}

static void reuse_number(struct stall_form *f, pid_t executor)
{
    pid_t number = executor;
    struct clone_args args = {
        .exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&number, .set_tid_size = 1};

    nap_part(f, 20);
    kill(executor, SIGKILL);
    waitpid(executor, NULL, 0);
    if (syscall(SYS_clone3, &args, sizeof(args)) == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        spin_as_executor(f);
    }
}

static void replace(struct stall_form *f, pid_t executor)
{
    nap_part(f, 20);
    kill(executor, SIGKILL);
    stall_helper(f, "executor", spin_as_executor);
    atomic_store(&f->common->thread, f->helpers[f->num_helpers - 1]);
}

static void rename_it(struct stall_form *f)
{
    prctl(PR_SET_NAME, "a) R (b\n");
    stall_be_first(f);
}

static bool frozen_group(struct stall_form *f, char *why, size_t cap)
{
    const int version = stall_group(f, 0, "freezer", "freezer.state", "cgroup.freeze");

    if (version == 1 ? stall_write(f->group[0], "freezer.state", "FROZEN")
                     : version == 2 && stall_write(f->group[0], "cgroup.freeze", "1"))
        return true;
    snprintf(why, cap, "no control group can be frozen here");
    return false;
}

static void move(struct stall_form *f, pid_t executor)
{
    nap_part(f, 20);
    if (!stall_join(f, 0, executor))
        fprintf(stderr, "stall_verdicts: the executor cannot be moved\n");
}

static void thaw(struct stall_form *f, pid_t executor)
{
    (void)executor;
    if (!stall_write(f->group[0], "freezer.state", "THAWED"))
        stall_write(f->group[0], "cgroup.freeze", "0");
}

/* ---- who has what it wants ----------------------------------------------------------- */

static void hold(struct stall_form *f)
{
    pthread_mutex_lock(&f->common->mutex[0]);
    stall_ready(f);
}

static void wait_for_child(void)
{
    if (vfork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
}

static void hold_and_wait(struct stall_form *f)
{
    hold(f);
    wait_for_child();
}

static bool create_holder(struct stall_form *f, char *why, size_t cap)
{
    (void)why;
    (void)cap;
    stall_helper(f, "holder", f->form->arg ? hold_and_wait : hold);
    return true;
}

static bool want(struct stall_form *f)
{
    pthread_mutex_lock(&f->common->mutex[0]);
    return false;
}

static void stop_holder(struct stall_form *f, pid_t executor)
{
    (void)executor;
    kill(f->helpers[0], SIGSTOP);
}

/* As a fence that is not signalled, with a count of 1 behind it: number 1 is a process, and has no mutex here. */
static bool look_locked(struct stall_form *f)
{
    static uint32_t words[5] = {2, 0, 1, 1, 0};

    (void)f;
    while (words[0])
        syscall(SYS_futex, words, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, NULL);
    return false;
}

/* The number that the mutex has of its owner is of a PID namespace of its own: here it is another process's. */
static void hold_elsewhere(struct stall_form *f)
{
    if (unshare(CLONE_NEWPID) || fork() != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    hold(f);
    for (;;)
        pause();
}

static bool create_holder_elsewhere(struct stall_form *f, char *why, size_t cap)
{
    if (geteuid() != 0) {
        snprintf(why, cap, "PID namespaces are root's");
        return false;
    }
    stall_helper(f, "holder", hold_elsewhere);
    return true;
}

/* ---- sleeps that mean nothing, and stops by other ways --------------------------------- */

/* As a driver does that looks at its device now and then: between, nobody knows what it waits for. */
static bool nap_and_look(struct stall_form *f)
{
    (void)f;
    for (;;)
        stall_nap(MS);
    return false;
}

static bool wait_for_event(struct stall_form *f)
{
    const int fd = eventfd(0, EFD_CLOEXEC);
    uint64_t n;

    (void)f;
    return read(fd, &n, sizeof(n)) == sizeof(n) && n == 0;
}

static bool wait_for_message(struct stall_form *f)
{
    int fds[2];
    char c;

    (void)f;
    return socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0 && recv(fds[0], &c, 1, 0) > 1;
}

static bool stop_itself(struct stall_form *f)
{
    (void)f;
    raise(SIGSTOP);
    return stall_spin_on(f);
}

static bool is_stopped(pid_t pid)
{
    char path[40], state = '\0';
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    f = fopen(path, "re");
    if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = '\0';
    if (f)
        fclose(f);
    return state == 'T';
}

/* In a process group that is orphaned, as a test's may be, the kernel stops nobody so: then it is stopped in the other way. */
static void stop_by_terminal(struct stall_form *f, pid_t executor)
{
    static const int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU};

    kill(executor, stops[f->pick % 3]);
    for (int i = 0; i < 10 && !is_stopped(executor); i++)
        usleep(500);
    if (!is_stopped(executor))
        kill(executor, SIGSTOP);
}

/* ---- threads one by one ----------------------------------------------------------------- */

static void turns(struct stall_form *f)
{
    (void)f;
    sched_setscheduler(0, SCHED_RR, &(const struct sched_param){.sched_priority = 1});
}

static void *twin(void *arg)
{
    struct stall_form *f = arg;

    atomic_store(&f->common->thread, (int32_t)syscall(SYS_gettid));
    stall_spin(UINT64_MAX);
    return NULL;
}

static void create_twin(struct stall_form *f)
{
    pthread_t thread;

    turns(f);
    pthread_create(&thread, NULL, twin, f);
}

static void hold_twin(struct stall_form *f, pid_t executor)
{
    (void)executor;
    for (int i = 0; i < 1000 && !stall_form_thread(f); i++)
        stall_nap(MS);
    ptrace(PTRACE_SEIZE, stall_form_thread(f), NULL, NULL);
    ptrace(PTRACE_INTERRUPT, stall_form_thread(f), NULL, NULL);
}

static bool create_twin_and_spin(struct stall_form *f)
{
    create_twin(f);
    return stall_spin_on(f);
}

const struct form stall_tricks[] = {
    {.kind = {"live: stopped until just before the time-out", CPU_VERDICT_FROZEN, "stopped by a signal"},
     .prepare = stall_be_first,
     .work = stall_spin_on,
     .plant = stop_for,
     .arg = 93},
    {.kind = {"live: stopped for 45 %, and it spins", CPU_VERDICT_FROZEN, NULL, true},
     .prepare = stall_be_first,
     .work = stall_spin_on,
     .plant = stop_for,
     .arg = 45},
    {.kind = {"live: a debugger that attaches late", CPU_VERDICT_FROZEN, NULL, true},
     .prepare = stall_be_first,
     .work = stall_spin_on,
     .plant = trace_late,
     .destroy = end_trace,
     .arg = 50},
    {.kind = {"live: starved, and then stopped", CPU_VERDICT_CPU_STARVED, NULL, true},
     .create = create_hog,
     .prepare = stall_be_first,
     .work = stall_spin_on,
     .plant = starve_and_stop,
     .arg = 60},
    {.kind = {"live: dead, and its number is another's", CPU_VERDICT_EXECUTOR_DIED, NULL},
     .prepare = stall_be_first,
     .work = stall_spin_on,
     .plant = reuse_number},
    {.kind = {"live: killed, and another one is started", CPU_VERDICT_UNKNOWN, NULL},
     .prepare = stall_be_first,
     .work = stall_spin_on,
     .plant = replace,
     .outcome = {.has_thread = true}},
    {.kind = {"live: renamed, and stopped", CPU_VERDICT_FROZEN, "stopped by a signal"},
     .prepare = rename_it,
     .work = stall_spin_on,
     .plant = stop_for,
     .arg = 100},
    {.kind = {"live: moved into a frozen control group", CPU_VERDICT_FROZEN, "frozen by its control group"},
     .create = frozen_group,
     .prepare = stall_be_first,
     .work = stall_spin_on,
     .plant = move,
     .destroy = thaw},
    {.kind = {"live: a mutex of a process that is stopped", CPU_VERDICT_LOCKED, "a lock was not given back"},
     .create = create_holder,
     .prepare = stall_be_first,
     .work = want,
     .plant = stop_holder},
    {.kind = {"live: a mutex of one that waits for its child", CPU_VERDICT_LOCKED,
              "a lock was not given back"},
     .create = create_holder,
     .prepare = stall_be_first,
     .work = want,
     .arg = 1},
    {.kind = {"live: a fence that looks like a mutex", CPU_VERDICT_UNKNOWN, NULL},
     .prepare = stall_be_first,
     .work = look_locked},
    {.kind = {"live: a mutex of one in another PID namespace", CPU_VERDICT_LOCKED, NULL, true},
     .create = create_holder_elsewhere,
     .prepare = stall_be_first,
     .work = want},
    {.kind = {"live: it naps and looks, and naps", CPU_VERDICT_UNKNOWN, NULL},
     .prepare = stall_be_first,
     .work = nap_and_look},
    {.kind = {"live: an event that nobody makes", CPU_VERDICT_UNKNOWN, NULL},
     .prepare = stall_be_first,
     .work = wait_for_event},
    {.kind = {"live: a message that nobody sends", CPU_VERDICT_UNKNOWN, NULL},
     .prepare = stall_be_first,
     .work = wait_for_message},
    {.kind = {"live: it stops itself", CPU_VERDICT_FROZEN, "stopped by a signal"},
     .prepare = stall_be_first,
     .work = stop_itself},
    {.kind = {"live: stopped as by a terminal", CPU_VERDICT_FROZEN, "stopped by a signal"},
     .prepare = stall_be_first,
     .work = stall_spin_on,
     .plant = stop_by_terminal},
    {.kind = {"live: it spins, and a debugger holds its twin", CPU_VERDICT_UNKNOWN, NULL},
     .work = create_twin_and_spin,
     .plant = hold_twin,
     .destroy = end_trace,
     .outcome = {.has_thread = true}},
};
const uint32_t stall_tricks_num = sizeof(stall_tricks) / sizeof(stall_tricks[0]);
