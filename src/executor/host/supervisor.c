/* SPDX-License-Identifier: MIT */
/* supervisor.c: the host's thread that starts executors, receives their ready message, kills the ones that do not answer,
 * and reaps those that ended. It is a thread of its own because an executor asks the kernel to be killed when the
 * thread that started it ends (PR_SET_PDEATHSIG), so that thread has to live as long as the host.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/fds.h"
#include "base/log.h"
#include "base/sched/slice.h"
#include "executor/host/host_priv.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

/* Who got less than that at once, as it died, may have died of it: drivers and their compilers ask for blocks of some MiB. */
enum { LITTLE_MIB = 16 };

uint64_t exec_now(void)
{
    struct clock live;

    clock_init_live(&live);
    return clock_now(&live);
}

void exec_supervisor_wake(struct exec_host *host)
{
    eventfd_write(host->supervisor_fd, 1); /* full means awake */
}

static void set_state(struct exec_host *host, enum exec_state state)
{
    /* The arrows of host.h; FAILED becomes STARTING in exec_host_reset. */
    INVARIANT(host->state != EXEC_FAILED);
    INVARIANT((host->state == EXEC_READY) == (state == EXEC_STARTING));
    INVARIANT(state != EXEC_READY || host->child.pid);
    host->state = state;
    pthread_cond_broadcast(&host->ready_changed);
}

static void fail_for_good(struct exec_host *host, int code, const char *text)
{
    error_clear(&host->failure);
    error_set(&host->failure, code, "%s", text);
    log_error(EXEC_COMPONENT, "%s", text);
    set_state(host, EXEC_FAILED);
    exec_host_notice(host);
}

/* A start that came to nothing: again later, or never. */
static void start_failed(struct exec_host *host, int code, const char *text)
{
    static const uint64_t delay_ms[] = {20, 100, 400, 1500};
    unsigned n = host->start_failures++;

    if (code || n >= sizeof(delay_ms) / sizeof(delay_ms[0])) {
        fail_for_good(host, code ? code : -EIO, text);
        return;
    }
    log_warn(EXEC_COMPONENT, "%s; starting another one", text);
    host->start_at_ns = exec_now() + delay_ms[n] * NSEC_PER_MSEC;
}

static void resend_regions(struct exec_host *host)
{
    exec_host_drop_ops(host);
    host->op_seq = 0;
    for (unsigned i = 0; i < host->n_regions; i++)
        if (exec_host_queue_op(host, EXEC_CONTROL_MAP, host->regions[i]))
            exec_host_break(host, "there was no memory for its memory map");
    exec_host_flush_ops(host);
}

static void start_child(struct exec_host *host)
{
    struct exec_spawn_params p = {.path = host->path, .done_fd = host->event_fd, .epoch = host->epoch};
    struct exec_child child;
    struct error e = {0};
    int r;

    p.start.files = host->limits.files;
    p.start.memory_bytes = host->limits.memory_bytes;
    p.start.spin = host->spin;
    p.start.has_device = host->device != NULL;
    p.start.markers = (uint32_t)host->markers;
    p.start.addresses = host->addresses;
    p.start.nice = share_nice();
    if (host->device)
        snprintf(p.start.device, sizeof(p.start.device), "%s", host->device);
    pthread_mutex_unlock(&host->lock);
    r = exec_spawn(&child, &p, &e);
    pthread_mutex_lock(&host->lock);
    host->stats.starts++;
    if (r) {
        /* What another try cannot change fails for good. */
        start_failed(host, r == -ENOENT || r == -EACCES || r == -ENOEXEC ? r : 0, e.text);
        return;
    }
    INVARIANT(!host->child.pid && child.pid > 0 && child.shared && child.pidfd >= 0 && child.control >= 0);
    host->child = child;
    host->ring_tail = host->ring_head = host->done_head = 0;
    host->kill_reason[0] = '\0';
    host->control_closed = false;
    host->deadline_ns = exec_now() + host->limits.start_ms * NSEC_PER_MSEC;
    atomic_store(&child.shared->epoch, host->epoch);
    resend_regions(host);
}

static void on_ready(struct exec_host *host, const struct exec_ready *ready)
{
    snprintf(host->device_name, sizeof(host->device_name), "%.255s", ready->text);
    host->is_cpu = ready->is_cpu != 0;
    host->start_failures = 0;
    host->deadline_ns = UINT64_MAX;
    if (!host->defunct) {
        atomic_store(&host->watched_head, host->done_head);
        atomic_store(&host->watched, host->child.shared);
    }
    set_state(host, EXEC_READY);
    exec_host_set_reset_timeout(host, true);
    if (atomic_load(&host->child.shared->epoch_done) != host->epoch)
        host->deadline_ns = exec_now() + host->reset_ms * NSEC_PER_MSEC;
    log_info(EXEC_COMPONENT, "process %d draws on %s", (int)host->child.pid, host->device_name);
    exec_host_push(host);
}

static void printable(char *text, size_t size)
{
    text[size - 1] = '\0';
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
            *c = '?';
}

static void hear(struct exec_host *host)
{
    struct exec_ready ready;
    size_t none = 0;
    ssize_t n = fds_receive(host->child.control, &ready, sizeof(ready), NULL, &none, MSG_DONTWAIT);

    if (n == -EAGAIN)
        return;
    if (n == 0) {
        host->control_closed = true; /* it is ending, or the deadline will see to that */
        return;
    }
    if (n != sizeof(ready) || host->state != EXEC_STARTING || host->kill_reason[0]) {
        exec_host_break(host, "it sent a message that makes no sense");
        return;
    }
    printable(ready.text, sizeof(ready.text));
    if (ready.code >= 0)
        on_ready(host, &ready);
    else {
        exec_host_break(host, "it cannot run here");
        fail_for_good(host, ready.code, ready.text);
    }
}

static const char *signal_name(int signal)
{
    const char *name = sigdescr_np(signal);
    return name ? name : "unknown";
}

/* ", sent by process 77 (bash has this number now)": a number outlives its process, and a process its name. Who has the number may
 * have it since the sender ended, also where he began before the signal came: only a number that nobody has, or one who began later,
 * says that the sender has ended. What the sender says itself may be the number of anybody. */
static void sender_name(char out[100], const struct exec_death *d, uint64_t boot_ns)
{
    char path[40], text[512] = "", *name, *end;
    unsigned long long began = 0;
    bool ended;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)d->sender);
    f = fopen(path, "re");
    if (f && !fgets(text, sizeof(text), f))
        text[0] = '\0';
    if (f)
        fclose(f);
    name = strchr(text, '(');
    end = strrchr(text, ')');
    if (!name || !end ||
        sscanf(end + 1,
               " %*c" /* 3 to 21 */
               "%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%llu",
               &began) != 1)
        name = end = text;
    *end = '\0';
    ended = name == end ? kill(d->sender, 0) && errno == ESRCH
                        : began * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK)) > boot_ns;
    if (d->told)
        snprintf(out, 100, ", sent by process %d, as it says itself", (int)d->sender);
    else if (ended)
        snprintf(out, 100, ", sent by process %d, which has ended", (int)d->sender);
    else if (name != end)
        snprintf(out, 100, ", sent by process %d (%.30s has this number now)", (int)d->sender, name + 1);
    else
        snprintf(out, 100, ", sent by process %d", (int)d->sender);
}

/* What its handler left behind: the process may have written anything there. */
static void describe_signal(const struct exec_fault *f, struct exec_death *d, int status)
{
    static const char *const accesses[] = {"", " (a read)", " (a write)", " (of its code)", ""};
    char from[100] = "";

    d->signal = status - EXEC_EXIT_FAULT;
    d->submission = f->submission;
    d->fault_address = f->address;
    d->in_decoder = f->thread == (uint32_t)d->pid;
    d->seen = true;
    d->made_up = f->made_up != 0;
    d->told = f->told != 0;
    d->sent = f->code <= 0 || d->made_up;
    d->sender = f->sender;
    d->own_thread = f->own_thread != 0;
    d->no_memory = f->left_mib < LITTLE_MIB;
    if (f->access <= EXEC_ACCESS_NO_ADDRESS)
        d->access = (enum exec_access)f->access;
    d->has_fault = !d->made_up && (d->signal == SIGSEGV || d->signal == SIGBUS) &&
                   (d->access == EXEC_ACCESS_NO_ADDRESS || (f->code > 0 && f->code != SI_KERNEL));
    if (d->has_fault)
        memcpy(d->registers, f->registers, sizeof(d->registers));
    if (d->has_fault && d->access == EXEC_ACCESS_NO_ADDRESS) {
        snprintf(d->message, sizeof(d->message),
                 "the executor died: page fault at an address that is not canonical in thread %u (%s)",
                 f->thread, signal_name(d->signal));
    } else if (d->made_up) {
        snprintf(
            d->message, sizeof(d->message),
            "the executor died: signal %d (%s), which says that it is a fault; the processor had none: a debugger may have sent it",
            d->signal, signal_name(d->signal));
    } else if (d->has_fault || (f->code > 0 && !d->sender)) {
        snprintf(d->message, sizeof(d->message), "the executor died: %s at 0x%llx%s in thread %u (%s)",
                 d->has_fault ? "page fault" : "fault", (unsigned long long)f->address, accesses[d->access],
                 f->thread, signal_name(d->signal));
    } else {
        if (d->sender && d->sender != d->pid)
            sender_name(from, d, f->boot_ns);
        snprintf(d->message, sizeof(d->message), "the executor died: signal %d (%s)%s", d->signal,
                 signal_name(d->signal),
                 d->sender == d->pid     ? ", which it raised itself"
                 : d->sent && !d->sender ? ", sent by somebody"
                                         : from);
    }
}

static void describe(struct exec_host *host, const siginfo_t *si, struct exec_death *d)
{
    const struct exec_fault *f = &host->child.shared->fault;
    int status = si->si_status;

    *d = (struct exec_death){.pid = host->child.pid, .time_ns = exec_now()};
    if (si->si_code == CLD_EXITED)
        d->exit_code = status;
    else
        d->signal = status;
    if (host->kill_reason[0]) {
        d->by_host = true;
        snprintf(d->message, sizeof(d->message), "the executor was killed: %s", host->kill_reason);
    } else if (atomic_load(&f->state) == 2 && si->si_code == CLD_EXITED && status > EXEC_EXIT_FAULT) {
        describe_signal(f, d, status);
    } else if (d->signal == SIGSYS) {
        snprintf(d->message, sizeof(d->message),
                 "the executor died: its sandbox forbids a system call that it made");
    } else if (d->signal) {
        snprintf(d->message, sizeof(d->message), "the executor died: signal %d (%s)", d->signal,
                 signal_name(d->signal));
    } else if (si->si_code == CLD_EXITED) {
        snprintf(d->message, sizeof(d->message), "the executor ended with status %d%s", status,
                 status == 127 ? " (a shared library may be missing)" : "");
    } else {
        snprintf(d->message, sizeof(d->message), "the executor is gone");
    }
}

/* The process has ended; `si` says how. */
static void on_death(struct exec_host *host, const siginfo_t *si)
{
    struct exec_death d;

    INVARIANT(host->child.pid && host->child.shared);
    describe(host, si, &d);
    host->stats.deaths++;
    if (host->state == EXEC_READY && !host->defunct) {
        if (!host->stop)
            log_warn(EXEC_COMPONENT, "process %d: %s", (int)d.pid, d.message);
        host->defunct = host->child.shared;
        host->defunct_done_head = host->done_head;
        host->defunct_end = host->pushed;
        host->death = d;
        exec_host_notice(host);
    } else {
        exec_shared_unmap(
            host->child.shared); /* not in use: only where there is no defunct one it is watched */
    }
    host->child.shared = NULL;
    exec_words_finish(&host->words, host->child.words, d.pid);
    exec_child_close(&host->child);
    exec_host_drop_ops(host);
    host->deadline_ns = UINT64_MAX;
    if (host->state == EXEC_READY) {
        host->start_at_ns = 0;
        set_state(host, EXEC_STARTING);
    } else if (host->state == EXEC_STARTING && !host->stop) {
        start_failed(host, 0, d.message);
    }
}

/* A process that has ended is reaped; before that what it said last is heard: why it cannot run here, perhaps. */
static void reap(struct exec_host *host)
{
    struct pollfd ended = {.fd = host->child.pidfd, .events = POLLIN};
    siginfo_t si = {0};

    if (poll(&ended, 1, 0) <= 0)
        return;
    if (host->state == EXEC_STARTING) /* also where it is known that it takes no messages any more */
        hear(host);
    if (waitid((idtype_t)P_PIDFD, (id_t)host->child.pidfd, &si, WEXITED | WNOHANG) < 0) {
        if (errno != ECHILD)
            return;
        memset(&si, 0, sizeof(si)); /* somebody else waits for every child of this process */
    } else if (!si.si_pid) {
        return;
    }
    on_death(host, &si);
}

static void check_deadline(struct exec_host *host)
{
    char why[96];

    if (exec_now() < host->deadline_ns || !host->child.pid)
        return;
    host->deadline_ns = UINT64_MAX;
    if (host->state == EXEC_STARTING) {
        snprintf(why, sizeof(why), "it was not ready after %u ms", host->limits.start_ms);
        exec_host_break(host, why);
    } else if (atomic_load(&host->child.shared->epoch_done) != host->epoch) {
        snprintf(why, sizeof(why), "it did not answer a reset within %u ms", host->reset_ms);
        exec_host_break(host, why);
    }
}

static int timeout_ms(uint64_t until_ns)
{
    uint64_t now = exec_now();

    if (until_ns == UINT64_MAX)
        return -1;
    if (until_ns <= now)
        return 0;
    return (int)((until_ns - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
}

/* Waits, unlocked, for anything that concerns the child. */
static void watch(struct exec_host *host)
{
    struct pollfd p[4] = {{.fd = host->supervisor_fd, .events = POLLIN}};
    int n = 1, timeout, words = -1;
    uint64_t count;

    if (host->child.pid) {
        p[n++] = (struct pollfd){.fd = host->child.pidfd, .events = POLLIN};
        if (host->child.words >= 0)
            p[words = n++] = (struct pollfd){.fd = host->child.words, .events = POLLIN};
        if (!host->control_closed && (host->state == EXEC_STARTING || host->ops))
            p[n++] = (struct pollfd){
                .fd = host->child.control,
                .events = (short)((host->state == EXEC_STARTING ? POLLIN : 0) | (host->ops ? POLLOUT : 0))};
        timeout = timeout_ms(host->deadline_ns);
        if (host->ops && (timeout < 0 || timeout > 20))
            timeout = 20; /* a socket that takes messages may still refuse descriptors */
    } else {
        timeout = host->state == EXEC_STARTING ? timeout_ms(host->start_at_ns) : -1;
    }
    pthread_mutex_unlock(&host->lock);
    poll(p, (nfds_t)n, timeout);
    /* Unlocked: who reads the log may take his time. The child is this thread's. */
    if (words > 0 && p[words].revents && exec_words_read(&host->words, host->child.words, host->child.pid)) {
        close(host->child.words);
        host->child.words = -1;
    }
    if (p[0].revents)
        while (read(host->supervisor_fd, &count, sizeof(count)) > 0)
            continue;
    pthread_mutex_lock(&host->lock);
}

static void *supervisor(void *arg)
{
    struct exec_host *host = arg;

    pthread_mutex_lock(&host->lock);
    while (!host->stop || host->child.pid) {
        exec_host_check(host);
        if (host->stop && !host->kill_reason[0])
            exec_host_break(host, "its host is closing");
        if (!host->stop && !host->child.pid && host->state == EXEC_STARTING &&
            exec_now() >= host->start_at_ns) {
            start_child(host);
            continue;
        }
        watch(host);
        if (!host->child.pid)
            continue;
        if (host->state == EXEC_STARTING && !host->control_closed)
            hear(host);
        exec_host_flush_ops(host);
        check_deadline(host);
        reap(host);
    }
    pthread_mutex_unlock(&host->lock);
    return NULL;
}

int exec_supervisor_start(struct exec_host *host, struct error *e)
{
    sigset_t all, old;
    int r;

    host->supervisor_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (host->supervisor_fd < 0)
        return error_set(e, -errno, "cannot make an event descriptor: %s", strerror(errno));
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    r = pthread_create(&host->supervisor, NULL, supervisor, host);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (r) {
        close(host->supervisor_fd);
        return error_set(e, -r, "cannot start the executor's supervisor: %s", strerror(r));
    }
    return 0;
}

void exec_supervisor_stop(struct exec_host *host)
{
    pthread_mutex_lock(&host->lock);
    host->stop = true;
    pthread_mutex_unlock(&host->lock);
    exec_supervisor_wake(host);
    pthread_join(host->supervisor, NULL);
    close(host->supervisor_fd);
}
