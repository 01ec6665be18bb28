/* SPDX-License-Identifier: MIT */
/* live.c: the machine that users run.
 *
 *   any thread: register write ──▶ gpu ──▶ executors_submit
 *   serving thread: executors' event fds ──▶ executors_dispatch ──▶ gpu_complete ─┐
 *                   timerfd ──▶ gpu_timer ───────────────────────────────────────┤
 *   any thread: register write, wake fd ────────────────────────────────────▶ raise_irq ──▶ deliver ──▶ irq()
 *
 * Serving is the device thread's work, but a thread that waits for an interrupt anyway serves while it does:
 * the way from doorbell to interrupt is then one change of thread each way. At most one thread is such a
 * helper; others that wait sleep on a condition. This rests on two properties of the one epoll descriptor: it
 * is edge-triggered, so that an event goes to one thread, and it wakes the thread that came last, which is the
 * helper while there is one.
 *
 *  1. `serving` is held by whoever handles events; a helper holds it from before it asks done() until it
 *     leaves, asleep too, so nothing happens behind its back between asking and sleeping.
 *  2. The device thread that gets an event while a helper has `serving` passes it on through the wake fd
 *     before it blocks: the helper is then the only one who can receive it. So an event says that something is to be done
 *     and not what: that is found by looking, at the timer (timer_at) as well.
 *  3. raise_irq notes an interrupt, and wakes whoever serves. Only deliver calls the routine: with `serving`, inside nothing
 *     of the device's, never inside itself. What the routine's own accesses raise comes after it.
 *  4. Locks are taken in this order: serving, irq_lock, what the routine takes, the device's, wait_lock.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <aerogpu/ext.h>

#include "base/check.h"
#include "base/log.h"
#include "base/sched/private_memory.h"
#include "base/sched/slice.h"
#include "machine/executors.h"
#include "machine/priv.h"

#define STORM_LIMIT 1000  /* calls of the routine in a row that leave INTx high */
#define LEAD_MOST   80000 /* ns; to be awake for a vblank that somebody waits for */
#define TIMER_NEVER UINT64_MAX
enum { WANTED = 8 }; /* vblanks without an interrupt until nobody is taken to wait */

struct live {
    struct executors *executors;
    pthread_t thread;
    bool has_thread;
    _Atomic bool quit;
    int epoll_fd, timer_fd, wake_fd;
    _Atomic uint64_t deadline; /* what the device asked for; timer_fd is set a little earlier: */
    _Atomic uint64_t timer_at;
    _Atomic uint32_t lead; /* ns: how late a thread tends to be when that timer wakes it */
    _Atomic uint32_t
        wanted; /* WANTED when the last vblank raised an interrupt, then less; 0: be on time for nobody */
    _Atomic uint64_t resume_ns; /* when a stopped executor goes on; TIMER_NEVER */
    _Atomic int stopped_pid;
    pthread_mutex_t serving;
    _Atomic bool has_helper;
    /* interrupts */
    _Atomic bool message;   /* raised and not yet delivered; another one before that is the same one */
    _Atomic bool line_rose; /* INTx, and nobody has looked at its level since */
    _Atomic uint64_t interrupts;
    bool in_routine;          /* of whoever serves */
    pthread_mutex_t irq_lock; /* held while the routine runs, and to change it */
    /* waiting for interrupts */
    pthread_mutex_t wait_lock;
    pthread_cond_t waited;
    uint32_t waiters;
    uint64_t wake_count;
    /* the executor */
    pthread_mutex_t death_lock;
    uint64_t deaths;
    struct exec_death death; /* the last one */
    struct exec_progress progress;
};

/* The machine that this thread is serving, if any. */
static _Thread_local struct machine *serving_for;

static struct live *live_of(void *machine)
{
    return ((struct machine *)machine)->kind;
}

static void signal_fd(int fd)
{
    eventfd_write(fd, 1); /* fails when the counter is full: it is signalled */
}

/* ---- interrupts ---------------------------------------------------------- */

/* With `serving`, and no other lock. Returns whether there is a routine. */
static bool call_irq(struct machine *m)
{
    struct live *l = m->kind;
    bool any;

    INVARIANT(serving_for == m && !l->in_routine); /* 3 */
    l->in_routine = true;
    pthread_mutex_lock(&l->irq_lock);
    any = m->params.irq;
    if (any)
        m->params.irq(m->params.irq_ctx);
    pthread_mutex_unlock(&l->irq_lock);
    l->in_routine = false;
    atomic_fetch_add_explicit(&l->interrupts, 1, memory_order_relaxed);
    pthread_mutex_lock(&l->wait_lock);
    l->wake_count++;
    if (l->waiters)
        pthread_cond_broadcast(&l->waited);
    pthread_mutex_unlock(&l->wait_lock);
    return any;
}

static void raise_irq(void *ctx, const struct gpu_interrupt *irq)
{
    struct machine *m = ctx;
    struct live *l = m->kind;

    if (irq->kind == GPU_MSI)
        atomic_store(&l->message, true);
    else if (irq->level)
        atomic_store(&l->line_rose, true);
    else
        return;
    if (serving_for != m) /* who serves delivers anyway, before it does anything else */
        signal_fd(l->wake_fd);
}

/* A message is one call; INTx calls while it is high. */
static bool is_due(struct machine *m, bool *high)
{
    struct live *l = m->kind;

    if (atomic_exchange(&l->message, false))
        return true;
    *high |= atomic_exchange(&l->line_rose, false);
    return *high && (*high = gpu_intx(m->gpu));
}

/* With `serving`. */
static void deliver(struct machine *m)
{
    struct live *l = m->kind;
    bool high = false;
    unsigned n = 0;

    for (; n < STORM_LIMIT && is_due(m, &high); n++)
        high = call_irq(m) && high; /* without a routine INTx waits for set_irq */
    if (n < STORM_LIMIT)
        return;
    log_warn("machine", "the interrupt routine has left its interrupt pending %u times in a row", n);
    if (atomic_load(&l->message))
        signal_fd(l->wake_fd); /* INTx is ignored until it rises again, messages never are */
}

static void arm_timer(void *ctx, uint64_t deadline_ns)
{
    struct live *l = live_of(ctx);
    struct itimerspec its = {0};
    uint64_t at = deadline_ns;

    if (deadline_ns != TIMER_NEVER) {
        at -= atomic_load(&l->wanted) ? atomic_load(&l->lead) : 0;
        its.it_value.tv_sec = (time_t)(at / NSEC_PER_SEC);
        its.it_value.tv_nsec = (long)(at % NSEC_PER_SEC);
    }
    atomic_store(&l->timer_at, at);
    atomic_store(&l->deadline, deadline_ns);
    timerfd_settime(l->timer_fd, TFD_TIMER_ABSTIME, &its, NULL);
}

/* ---- the executor -------------------------------------------------------- */

static int submit(void *ctx, const struct abi_submission *s)
{
    struct live *l = live_of(ctx);
    int r = executors_submit(l->executors, s);

    if (s->flags & AEROGPU_SUBMIT_FLAG_EXT_CLIENT_ENDS) /* who serves takes its executor away */
        signal_fd(l->wake_fd);
    return r;
}

static void reset(void *ctx)
{
    executors_reset(live_of(ctx)->executors);
}

static void on_complete(void *ctx, const struct abi_completion *c)
{
    gpu_complete(((struct machine *)ctx)->gpu, c);
}

static void on_death(void *ctx, const struct exec_death *d, const struct exec_progress *progress)
{
    struct live *l = live_of(ctx);

    log_info("machine", "executor %d: %s", (int)d->pid, d->message);
    pthread_mutex_lock(&l->death_lock);
    l->deaths++;
    l->death = *d;
    exec_progress_read(&l->progress, progress);
    pthread_mutex_unlock(&l->death_lock);
}

/* ---- the executor stopped and killed on purpose -------------------------- */

static void resume(struct machine *m)
{
    struct live *l = m->kind;
    int pid = atomic_exchange(&l->stopped_pid, 0);

    atomic_store(&l->resume_ns, TIMER_NEVER);
    if (pid && executors_has_pid(l->executors, pid)) /* else it was replaced meanwhile */
        kill(pid, SIGCONT);
}

static int kill_executor(struct machine *m)
{
    int pid = (int)executors_pid(live_of(m)->executors);

    return pid <= 0 || kill(pid, SIGKILL) ? -ESRCH : 0;
}

/* A signal takes a while: the next submission must find the executor standing still. */
static void await_stop(int pid)
{
    for (int i = 0; i < 1000; i++) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT | WNOHANG) || info.si_pid)
            return;
        usleep(100);
    }
}

static int stop_executor(struct machine *m, uint64_t ns)
{
    struct live *l = m->kind;
    int pid = (int)executors_pid(l->executors);

    if (!ns) {
        resume(m);
        return 0;
    }
    if (pid <= 0 || kill(pid, SIGSTOP))
        return -ESRCH;
    await_stop(pid);
    atomic_store(&l->stopped_pid, pid);
    atomic_store(&l->resume_ns, ns == UINT64_MAX ? TIMER_NEVER : machine_now(m) + ns);
    signal_fd(l->wake_fd); /* whoever sleeps, sleeps that long */
    return 0;
}

/* ---- serving ------------------------------------------------------------- */

/* The timer woke this thread: half of being late is learned at once, being early little by little. */
static void learn_lead(struct machine *m)
{
    struct live *l = m->kind;
    uint64_t at = atomic_load(&l->timer_at), now = machine_now(m);
    int64_t lead = atomic_load(&l->lead), late = now > at ? (int64_t)(now - at) : 0;

    late = late < LEAD_MOST ? late : LEAD_MOST;
    lead += late > lead ? (late - lead) / 2 : (late - lead) / 32;
    atomic_store(&l->lead, (uint32_t)lead);
}

/* Sleeps until something is to be served, at most until `end_ns`. */
static void await(struct machine *m, uint64_t end_ns)
{
    struct live *l = m->kind;
    struct epoll_event events[3];
    uint64_t resume_ns = atomic_load(&l->resume_ns), end = resume_ns < end_ns ? resume_ns : end_ns;
    uint64_t now = end == TIMER_NEVER ? 0 : machine_now(m), left = end > now ? end - now : 0;
    struct timespec ts = {(time_t)(left / NSEC_PER_SEC), (long)(left % NSEC_PER_SEC)};

    bool timer = false;
    int n = epoll_pwait2(l->epoll_fd, events, 3, end == TIMER_NEVER ? NULL : &ts, NULL);

    for (int i = 0; i < n; i++)
        timer |= events[i].data.fd == l->timer_fd;
    if (timer)
        learn_lead(m);
}

static void tick(struct machine *m)
{
    struct live *l = m->kind;

    gpu_timer(m->gpu);
    if (atomic_load(&l->message) || atomic_load(&l->line_rose))
        atomic_store(&l->wanted, WANTED);
    else if (atomic_load(&l->wanted))
        atomic_fetch_sub(&l->wanted, 1);
}

/* Does what is to be done. With `serving` held. Returns whether the executor had completed something. */
static bool serve(struct machine *m)
{
    struct live *l = m->kind;
    uint64_t now = machine_now(m);
    unsigned n;

    INVARIANT(!serving_for && !l->in_routine); /* 1, 3 */
    INVARIANT(l->executors && l->epoll_fd >= 0 && l->timer_fd >= 0 && l->wake_fd >= 0);
    INVARIANT(atomic_load(&l->lead) <= LEAD_MOST && atomic_load(&l->wanted) <= WANTED);
    serving_for = m;
    if (now >= atomic_load(&l->resume_ns))
        resume(m);
    n = executors_dispatch(l->executors);
    if (now >= atomic_load(&l->deadline))
        tick(m);
    deliver(m);
    INVARIANT(serving_for == m && !l->in_routine);
    serving_for = NULL;
    return n;
}

/* The timer comes early. If its time has come, whoever was woken by it: looks on until what the device waits for is due. With
 * `serving` held. */
static void until_due(struct machine *m)
{
    struct live *l = m->kind;
    uint64_t now;

    while ((now = machine_now(m)) >= atomic_load(&l->timer_at) && now < atomic_load(&l->deadline))
        if (executors_pending(l->executors))
            serve(m);
}

static void *device_thread(void *arg)
{
    struct machine *m = arg;
    struct live *l = m->kind;

    slice_set(SLICE_SHORT);
    while (!atomic_load(&l->quit)) {
        bool busy;

        await(m, TIMER_NEVER);
        if (pthread_mutex_trylock(&l->serving)) {
            signal_fd(l->wake_fd); /* it was meant for the helper */
            pthread_mutex_lock(&l->serving);
        }
        until_due(m);
        do
            busy = serve(m);
        while (busy && !atomic_load(&l->has_helper) && executors_poll(l->executors));
        pthread_mutex_unlock(&l->serving);
    }
    return NULL;
}

/* machine_wait by the only thread that waits. */
static int help_until(struct machine *m, bool (*done)(void *ctx), void *ctx, uint64_t end)
{
    struct live *l = m->kind;
    bool is_done, busy = true;

    pthread_mutex_lock(&l->serving);
    while (!(is_done = done(ctx)) && machine_now(m) < end) {
        if (!busy || !executors_poll(l->executors)) {
            await(m, end);
            until_due(m);
        }
        busy = serve(m);
    }
    INVARIANT(atomic_load(&l->has_helper)); /* this one, and no other */
    atomic_store(&l->has_helper, false);
    pthread_mutex_unlock(&l->serving);
    return is_done ? 0 : -ETIMEDOUT;
}

/* machine_wait while another thread helps. */
static int sleep_until(struct machine *m, bool (*done)(void *ctx), void *ctx, uint64_t end)
{
    struct live *l = m->kind;
    struct timespec ts = {(time_t)(end / NSEC_PER_SEC), (long)(end % NSEC_PER_SEC)};
    bool is_done = false;
    int r = 0;

    pthread_mutex_lock(&l->wait_lock);
    l->waiters++;
    for (;;) {
        uint64_t seen = l->wake_count;

        pthread_mutex_unlock(&l->wait_lock);
        is_done = done(ctx); /* without the lock: it may take others */
        pthread_mutex_lock(&l->wait_lock);
        if (is_done || r == ETIMEDOUT)
            break;
        while (l->wake_count == seen && r != ETIMEDOUT)
            r = pthread_cond_timedwait(&l->waited, &l->wait_lock, &ts);
    }
    l->waiters--;
    pthread_mutex_unlock(&l->wait_lock);
    return is_done ? 0 : -ETIMEDOUT;
}

static int wait_done(struct machine *m, bool (*done)(void *ctx), void *ctx, uint64_t timeout_ns)
{
    uint64_t now = machine_now(m),
             end = timeout_ns > UINT64_MAX / 2 - now ? UINT64_MAX / 2 : now + timeout_ns;

    if (atomic_exchange(&live_of(m)->has_helper, true))
        return sleep_until(m, done, ctx, end);
    return help_until(m, done, ctx, end);
}

/* ---- serving for one completion ------------------------------------------ */

static bool poll_begin(struct machine *m)
{
    struct live *l = m->kind;

    if (pthread_mutex_trylock(&l->serving))
        return false; /* who serves will see it */
    if (executors_poll_begin(l->executors))
        return true;
    pthread_mutex_unlock(&l->serving);
    return false;
}

static void poll_end(struct machine *m)
{
    struct live *l = m->kind;

    if (executors_poll_end(l->executors))
        serve(m);
    pthread_mutex_unlock(&l->serving);
}

/* ---- life cycle ---------------------------------------------------------- */

static int start(struct machine *m, struct error *e)
{
    struct live *l = calloc(1, sizeof(*l));
    pthread_condattr_t attr;

    if (!l)
        return error_set(e, -ENOMEM, "no memory for a machine");
    m->kind = l;
    l->epoll_fd = l->timer_fd = l->wake_fd = -1;
    l->deadline = l->timer_at = l->resume_ns = TIMER_NEVER;
    clock_init_live(&m->clock);
    pthread_mutex_init(&l->serving, NULL);
    pthread_mutex_init(&l->irq_lock, NULL);
    pthread_mutex_init(&l->wait_lock, NULL);
    pthread_mutex_init(&l->death_lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&l->waited, &attr);
    pthread_condattr_destroy(&attr);
    l->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    l->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (l->timer_fd < 0 || l->wake_fd < 0 || l->epoll_fd < 0)
        return error_set(e, -errno, "machine: %s", strerror(errno));
    return 0;
}

static int watch(struct live *l, int fd)
{
    /* Nobody reads timer_fd and wake_fd: edge-triggered, each expiry and each write is an event of its own.
     */
    struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.fd = fd};

    return epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static const void *guest(void *ctx, uint64_t gpa, uint64_t size)
{
    return machine_dma_map(ctx, gpa, size);
}

static int run(struct machine *m, struct error *e)
{
    struct live *l = m->kind;
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    sigset_t all, old;
    const struct executors_params p = {
        .host = {.executable = m->params.executor,
                 .device = m->params.device,
                 .markers = m->params.markers,
                 .addresses = m->params.addresses,
                 /* A driver resets after a time-out: what has not answered in
                                                 * that time does not deserve more. */
                 .limits = {.reset_ms = 5, .memory_bytes = m->params.executor_bytes},
                 .complete = on_complete,
                 .died = on_death,
                 .ctx = m},
        .guest = guest,
        .epoll_fd = l->epoll_fd};
    int r = executors_create(&l->executors, &p, e);

    if (!r)
        r = executors_map(l->executors, 0, m->ram_size, m->ram_fd, e);
    if (!r)
        r = executors_map(l->executors, BAR1_ADDRESS, AEROGPU_BAR1_SIZE, gpu_vram_fd(m->gpu), e);
    if (r)
        return r;
    if (watch(l, l->timer_fd) || watch(l, l->wake_fd))
        return error_set(e, -errno, "epoll: %s", strerror(errno));
    sigfillset(
        &all); /* signals are for the program's own threads; faults are not: the interrupt routine runs here */
    for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    r = -pthread_create(&l->thread, NULL, device_thread, m);
    l->has_thread = !r;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return r ? error_set(e, r, "device thread: %s", strerror(-r)) : 0;
}

static void stop(struct machine *m)
{
    struct live *l = m->kind;

    atomic_store(&l->quit, true);
    if (l->has_thread) {
        signal_fd(l->wake_fd);
        pthread_join(l->thread, NULL);
    }
    executors_destroy(l->executors);
    l->executors = NULL;
}

static void free_live(struct machine *m)
{
    struct live *l = m->kind;

    INVARIANT(!l->executors && !l->waiters && !l->in_routine && !atomic_load(&l->has_helper));
    if (l->epoll_fd >= 0)
        close(l->epoll_fd);
    if (l->timer_fd >= 0)
        close(l->timer_fd);
    if (l->wake_fd >= 0)
        close(l->wake_fd);
    pthread_cond_destroy(&l->waited);
    pthread_mutex_destroy(&l->wait_lock);
    pthread_mutex_destroy(&l->irq_lock);
    pthread_mutex_destroy(&l->serving);
    pthread_mutex_destroy(&l->death_lock);
    free(l);
}

static int wait_ready(struct machine *m, int timeout_ms, struct error *e)
{
    return executors_prepare(live_of(m)->executors, 0, timeout_ms, e);
}

static int prepare(struct machine *m, uint32_t client, int timeout_ms, struct error *e)
{
    return executors_prepare(live_of(m)->executors, client, timeout_ms, e);
}

static void set_irq(struct machine *m, void (*irq)(void *ctx), void *ctx)
{
    struct live *l = m->kind;

    pthread_mutex_lock(&l->irq_lock);
    m->params.irq = irq;
    m->params.irq_ctx = ctx;
    pthread_mutex_unlock(&l->irq_lock);
    if (irq && gpu_intx(m->gpu)) { /* high already: it will not rise */
        atomic_store(&l->line_rose, true);
        signal_fd(l->wake_fd);
    }
}

static void sleep_ns(struct machine *m, uint64_t ns)
{
    uint64_t end = machine_now(m) + ns;
    struct timespec ts = {(time_t)(end / NSEC_PER_SEC), (long)(end % NSEC_PER_SEC)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
        continue;
}

static void get_stats(struct machine *m, struct machine_stats *out)
{
    struct live *l = m->kind;
    struct exec_host_stats host;

    executors_stats(l->executors, &host);
    *out = (struct machine_stats){.interrupts = atomic_load(&l->interrupts), .executor_starts = host.starts};
    pthread_mutex_lock(&l->death_lock);
    out->executor_deaths = l->deaths;
    memcpy(out->last_death, l->death.message, sizeof(out->last_death));
    pthread_mutex_unlock(&l->death_lock);
}

static void device_name(struct machine *m, char name[256], bool *is_cpu)
{
    executors_device_name(live_of(m)->executors, name, is_cpu);
}

static bool last_death(struct machine *m, struct exec_death *out, struct exec_progress *progress)
{
    struct live *l = m->kind;
    bool any;

    pthread_mutex_lock(&l->death_lock);
    any = l->deaths > 0;
    if (any) {
        *out = l->death;
        exec_progress_read(progress, &l->progress);
    }
    pthread_mutex_unlock(&l->death_lock);
    return any;
}

static bool progress(struct machine *m, struct exec_progress *out)
{
    return executors_progress(live_of(m)->executors, out);
}

static int executor_pid(struct machine *m)
{
    return (int)executors_pid(live_of(m)->executors);
}

static int client_pid(struct machine *m, uint32_t client)
{
    return (int)executors_client_pid(live_of(m)->executors, client);
}

static bool end_work(struct machine *m, uint32_t client, bool hangs)
{
    return executors_end_work(live_of(m)->executors, client, hangs);
}

static void client_gone(struct machine *m, uint32_t client)
{
    executors_client_gone(live_of(m)->executors, client);
}

static bool is_ending(struct machine *m, uint32_t client)
{
    return executors_is_ending(live_of(m)->executors, client);
}

static uint64_t client_bytes(struct machine *m, uint32_t client)
{
    pid_t pid = executors_own_pid(live_of(m)->executors, client);

    return pid > 0 ? private_memory_of(pid) : 0;
}

static int map(struct machine *m, uint64_t gpa, uint64_t size, int fd, struct error *e)
{
    return executors_map(live_of(m)->executors, gpa, size, fd, e);
}

static void unmap(struct machine *m, uint64_t gpa, uint64_t size)
{
    executors_unmap(live_of(m)->executors, gpa, size);
}

static unsigned descriptors(const struct machine *m, int *fds, unsigned max)
{
    const struct live *l = live_of((struct machine *)(uintptr_t)m);
    const int own[] = {l->epoll_fd, l->timer_fd, l->wake_fd};
    unsigned n = 0;

    for (; n < max && n < sizeof(own) / sizeof(own[0]); n++)
        fds[n] = own[n];
    return n;
}

const struct machine_ops machine_live_ops = {
    .descriptors = descriptors,
    .kill_executor = kill_executor,
    .stop_executor = stop_executor,
    .end_work = end_work,
    .map = map,
    .unmap = unmap,
    .start = start,
    .run = run,
    .stop = stop,
    .free = free_live,
    .wait_ready = wait_ready,
    .prepare = prepare,
    .wait = wait_done,
    .poll_begin = poll_begin,
    .poll_end = poll_end,
    .sleep = sleep_ns,
    .set_irq = set_irq,
    .get_stats = get_stats,
    .device_name = device_name,
    .executor_pid = executor_pid,
    .client_pid = client_pid,
    .client_bytes = client_bytes,
    .is_ending = is_ending,
    .client_gone = client_gone,
    .progress = progress,
    .last_death = last_death,
    .host = &(const struct gpu_host_ops){machine_dma_map, raise_irq, arm_timer},
    .backend = &(const struct gpu_backend_ops){submit, reset},
};
