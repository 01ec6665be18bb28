/* SPDX-License-Identifier: MIT */
/* host.c: the queue of submissions, the rings, and what the owner hears. The contract is in host.h; who
 * guards what, and the picture of the queue, in host_priv.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/fds.h"
#include "base/program.h"
#include "aerogpu/pci.h"
#include "executor/host/host_priv.h"

/* ---- waking each other --------------------------------------------------- */

void exec_host_check(const struct exec_host *host)
{
    const struct exec_host_stats *s = &host->stats;
    uint32_t depth = host->last - host->first;

    INVARIANT(depth <= EXEC_HOST_DEPTH);
    INVARIANT(host->pushed - host->first <= depth);
    INVARIANT(s->submitted == s->completed + s->dropped + depth); /* 1: each completes once, or is dropped */
    INVARIANT(s->failed <= s->completed);
    INVARIANT(!host->defunct || host->defunct_end - host->first <= host->pushed - host->first);
    INVARIANT(!host->child.pid == !host->child.shared);
    INVARIANT(host->state != EXEC_READY || host->child.pid);
    INVARIANT(host->state != EXEC_FAILED || host->failure.code);
    INVARIANT(host->kill_reason[0] || host->ring_tail - host->ring_head <= EXEC_RING_SLOTS);
    INVARIANT(!host->ops == (host->ops_end == &host->ops));
    INVARIANT(!host->ops || host->child.pid);
    INVARIANT(host->n_regions <= EXEC_HOST_REGIONS);
}

/* Where the dispatching thread runs. */
static uint32_t tell_cpu(struct exec_shared *sh)
{
    uint32_t cpu = (uint32_t)sched_getcpu();

    if (atomic_load_explicit(&sh->host_cpu, memory_order_relaxed) != cpu)
        atomic_store_explicit(&sh->host_cpu, cpu, memory_order_relaxed);
    return cpu;
}

/* The dispatching thread sleeps, or may: the executor is to ring. */
static void arm(struct exec_host *host, struct exec_shared *sh)
{
    atomic_store(&sh->host_sleeping, 1);
    host->armed = true;
}

/* It is awake and will poll. */
static void disarm(struct exec_host *host, struct exec_shared *sh)
{
    if (host->armed)
        host->rung |= !atomic_exchange(&sh->host_sleeping, 0);
    host->armed = false;
}

bool exec_host_ring(struct exec_shared *sh)
{
    if (!atomic_load(&sh->executor_sleeping) || !atomic_exchange(&sh->executor_sleeping, 0))
        return false;
    syscall(SYS_futex, &sh->executor_sleeping, FUTEX_WAKE, 1, NULL, NULL, 0);
    return true;
}

void exec_host_notice(struct exec_host *host)
{
    atomic_store(&host->notice, true);
    eventfd_write(host->event_fd, 1);
}

void exec_host_break(struct exec_host *host, const char *why)
{
    if (!host->child.pid || host->kill_reason[0])
        return;
    snprintf(host->kill_reason, sizeof(host->kill_reason), "%s", why);
    kill(host->child.pid,
         SIGKILL); /* the supervisor has not waited for it yet, so the number is still its own */
}

static bool resetting(const struct exec_host *host)
{
    return host->state == EXEC_READY && atomic_load(&host->child.shared->epoch_done) != host->epoch;
}

void exec_host_push(struct exec_host *host)
{
    struct exec_shared *sh = host->child.shared;
    uint32_t tail = host->ring_tail;

    if (host->state != EXEC_READY || host->kill_reason[0] || host->defunct || host->failing ||
        host->pushed == host->last || resetting(host))
        return;
    if (tail - host->ring_head + (host->last - host->pushed) >
        EXEC_RING_SLOTS) /* not enough, as far as is known */
        host->ring_head = atomic_load(&sh->ring_head);
    if (tail - host->ring_head > EXEC_RING_SLOTS) {
        exec_host_break(host, "its submission ring index makes no sense");
        return;
    }
    exec_host_flush_ops(host);
    while (host->pushed != host->last && tail - host->ring_head < EXEC_RING_SLOTS) {
        struct exec_slot *slot = &sh->ring[tail % EXEC_RING_SLOTS];

        slot->s = host->queue[host->pushed % EXEC_HOST_DEPTH];
        slot->control_seq = host->op_seq;
        host->pushed++;
        tail++;
    }
    INVARIANT(host->pushed == host->last || tail - host->ring_head == EXEC_RING_SLOTS);
    if (tail == host->ring_tail)
        return;
    host->ring_tail = tail;
    atomic_store(&sh->ring_tail, tail);
    host->stats.doorbells += exec_host_ring(sh);
}

/* ---- submissions --------------------------------------------------------- */

int exec_host_submit(struct exec_host *host, const struct abi_submission *s)
{
    int err = 0;

    if (!s->id)
        return -EINVAL;
    pthread_mutex_lock(&host->lock);
    exec_host_check(host);
    if (host->last - host->first == EXEC_HOST_DEPTH) {
        err = -EAGAIN;
    } else {
        host->queue[host->last++ % EXEC_HOST_DEPTH] = *s;
        host->stats.submitted++;
        if (host->state == EXEC_FAILED)
            exec_host_notice(host);
        else
            exec_host_push(host);
        exec_host_check(host);
    }
    pthread_mutex_unlock(&host->lock);
    return err;
}

/* A reset of an executor that worked follows a time-out; one that was idle did nothing wrong, and may have to wait for a
 * processor first. With the lock. */
void exec_host_set_reset_timeout(struct exec_host *host, bool idle)
{
    host->reset_ms = host->limits.reset_ms;
    if (idle && host->reset_ms < EXEC_IDLE_RESET_MS)
        host->reset_ms = EXEC_IDLE_RESET_MS;
}

void exec_host_reset(struct exec_host *host)
{
    bool unanswered;

    pthread_mutex_lock(&host->lock);
    exec_host_check(host);
    unanswered = resetting(host); /* its time goes on: what was submitted before it is still what must end */
    if (!unanswered)
        exec_host_set_reset_timeout(host, host->first == host->last);
    host->stats.dropped += host->last - host->first;
    host->first = host->pushed = host->last;
    host->defunct_end = host->first;
    host->epoch++;
    if (host->state == EXEC_FAILED) {
        host->state = EXEC_STARTING;
        host->start_failures = 0;
        host->start_at_ns = 0;
    }
    if (host->child.pid) {
        struct exec_shared *sh = host->child.shared;

        atomic_store(&sh->epoch, host->epoch);
        if (host->state == EXEC_READY && !unanswered)
            host->deadline_ns = exec_now() + host->reset_ms * NSEC_PER_MSEC;
        exec_host_ring(sh);
    }
    exec_host_check(host);
    pthread_mutex_unlock(&host->lock);
    exec_supervisor_wake(host);
}

void exec_host_end(struct exec_host *host, const char *why)
{
    pthread_mutex_lock(&host->lock);
    if (why)
        exec_host_break(host, why);
    else if (host->child.pid)
        kill(host->child.pid, SIGKILL); /* as there */
    pthread_mutex_unlock(&host->lock);
}

void exec_host_fail_all(struct exec_host *host)
{
    pthread_mutex_lock(&host->lock);
    host->fails_all = true;
    pthread_mutex_unlock(&host->lock);
}

bool exec_host_resetting(struct exec_host *host)
{
    bool is;

    pthread_mutex_lock(&host->lock);
    is = resetting(host);
    pthread_mutex_unlock(&host->lock);
    return is;
}

/* ---- completions --------------------------------------------------------- */

/* What the owner is called with in one go, gathered under the lock and delivered without it. */
struct delivery {
    bool has_death;
    struct exec_death death;
    struct exec_shared *defunct; /* to be unmapped */
    unsigned n_before;           /* completions that come before the death */
    unsigned n;
    struct abi_completion c[64];
};

/* What the executor wrote, read once. Without an error there is no message, and most of the slot is left in its cache. */
static uint32_t read_slot(const struct exec_done_slot *slot, struct abi_completion *c)
{
    memcpy(c, &slot->c, offsetof(struct abi_completion, message));
    atomic_signal_fence(memory_order_seq_cst); /* the copy is looked at, not the slot again */
    if (c->error)
        memcpy(c->message, slot->c.message, sizeof(c->message));
    else
        c->message[0] = '\0';
    return slot->epoch;
}

static void clean(struct abi_completion *c)
{
    c->flags &= ABI_COMPLETION_PRESENT | ABI_COMPLETION_VSYNC;
    c->has_fault = c->has_fault != 0;
    c->cause = c->cause < ABI_CAUSE_KINDS ? c->cause : ABI_CAUSE_OTHER;
    c->message[sizeof(c->message) - 1] = '\0';
    for (char *m = c->message; *m; m++)
        if ((unsigned char)*m < 0x20 || (unsigned char)*m > 0x7e)
            *m = '?';
}

/* b->c[b->n] is one. */
static void completed(struct exec_host *host, struct delivery *b)
{
    INVARIANT(host->first != host->last && host->first != host->pushed);
    b->n++;
    host->first++;
    host->stats.completed++;
}

/* Takes completions from `sh`, whose reader's index is `*head`. Returns NULL or what is wrong with them. */
static const char *take(struct exec_host *host, struct exec_shared *sh, uint32_t *head, struct delivery *b)
{
    uint32_t tail = atomic_load(&sh->done_tail), at = *head;

    if (tail - at > EXEC_DONE_SLOTS)
        return "its completion ring index makes no sense";
    while (at != tail && b->n < sizeof(b->c) / sizeof(b->c[0])) {
        struct abi_completion *c = &b->c[b->n];

        if (read_slot(&sh->done[at++ % EXEC_DONE_SLOTS], c) != host->epoch)
            continue; /* dropped by a reset */
        if (host->first == host->pushed || c->id != host->queue[host->first % EXEC_HOST_DEPTH].id)
            return "it completed a submission that it does not have";
        clean(c);
        completed(host, b);
    }
    *head = at;
    atomic_store(&sh->done_head, at);
    return NULL;
}

static void fail_up_to(struct exec_host *host, struct delivery *b, uint32_t end, const struct exec_death *d)
{
    while (host->first != end && b->n < sizeof(b->c) / sizeof(b->c[0])) {
        struct abi_completion *c = &b->c[b->n];

        *c = (struct abi_completion){.id = host->queue[host->first % EXEC_HOST_DEPTH].id,
                                     .error = AEROGPU_ERROR_BACKEND};
        if (d && d->has_fault && d->submission == c->id) {
            c->has_fault = 1;
            c->fault_address = d->fault_address;
        }
        snprintf(c->message, sizeof(c->message), "%.195s", d ? d->message : host->failure.text);
        if (host->first == host->pushed)
            host->pushed++; /* it never got into a ring */
        host->stats.failed++;
        completed(host, b);
    }
}

/* The submission that the executor died of: the one that it named if it can be, else the oldest. */
static void name_culprit(const struct exec_host *host, struct exec_death *d)
{
    for (uint32_t i = host->first; i != host->defunct_end; i++)
        if (d->submission && host->queue[i % EXEC_HOST_DEPTH].id == d->submission)
            return;
    d->submission = host->first == host->defunct_end ? 0 : host->queue[host->first % EXEC_HOST_DEPTH].id;
}

/* The defunct one first: what it had completed, its death, then what failed with it. */
static void gather_defunct(struct exec_host *host, struct delivery *b)
{
    /* A death says nothing about how good its last words are; what is wrong with them ends them. */
    if (host->defunct && !take(host, host->defunct, &host->defunct_done_head, b)) {
        uint32_t tail = atomic_load(&host->defunct->done_tail);

        if (host->defunct_done_head != tail && tail - host->defunct_done_head <= EXEC_DONE_SLOTS)
            return; /* the batch is full */
    }
    if (host->defunct) {
        name_culprit(host, &host->death);
        b->n_before = b->n;
        b->has_death = true;
        b->death = host->death;
        b->defunct = host->defunct;
        host->defunct = NULL;
        host->failing = true;
        atomic_store(&host->watched, NULL);
    }
}

/* Returns true if there may be more. */
static bool gather(struct exec_host *host, struct delivery *b)
{
    const char *wrong;

    b->n = b->n_before = 0;
    b->has_death = false;
    b->defunct = NULL;
    if (host->defunct)
        gather_defunct(host, b);
    if (host->defunct)
        return true;
    if (host->failing) {
        if (host->fails_all) /* died() has returned */
            host->defunct_end = host->last;
        fail_up_to(host, b, host->defunct_end, &host->death);
        if (host->first != host->defunct_end)
            return true;
        host->failing = false;
    }
    if (host->state == EXEC_FAILED) {
        fail_up_to(host, b, host->last, NULL);
        return host->first != host->last;
    }
    if (host->state != EXEC_READY || host->kill_reason[0])
        return false;
    wrong = take(host, host->child.shared, &host->done_head, b);
    if (wrong)
        exec_host_break(host, wrong);
    exec_host_push(host);
    atomic_store(&host->watched_head, host->done_head);
    atomic_store(&host->watched, host->child.shared);
    return b->n == sizeof(b->c) / sizeof(b->c[0]);
}

static void deliver(struct exec_host *host, const struct delivery *b)
{
    INVARIANT(b->n_before <= b->n && b->n <= sizeof(b->c) / sizeof(b->c[0]));
    INVARIANT(b->has_death == (b->defunct != NULL));
    INVARIANT(b->has_death || !b->n_before);
    for (unsigned i = 0; i < b->n_before; i++)
        host->complete(host->ctx, &b->c[i]);
    if (b->has_death && host->died)
        host->died(host->ctx, &b->death, &b->defunct->progress);
    for (unsigned i = b->n_before; i < b->n; i++)
        host->complete(host->ctx, &b->c[i]);
    exec_shared_unmap(b->defunct);
}

/* With the lock held: from here on the executor rings. `woken`: whether this thread may have been woken by event_fd. */
static void rest(struct exec_host *host, bool woken)
{
    uint64_t count;
    ssize_t n;

    /* What was found by polling needs no reading. In doubt it is read: a signal that stays would wake for ever. */
    if (woken || host->rung || atomic_load(&host->notice)) {
        n = read(host->event_fd, &count, sizeof(count));
        (void)n; /* nothing to read is fine */
    }
    host->rung = false;
    atomic_store(&host->notice, false);
    if (host->state == EXEC_READY) {
        tell_cpu(host->child.shared);
        arm(host, host->child.shared);
    }
}

unsigned exec_host_dispatch(struct exec_host *host)
{
    unsigned delivered = 0;
    bool armed = false, more = true, silent;
    struct delivery b;

    /* First without arming: while the owner is busy here the executor need not signal, unless it has nothing to do. */
    for (int round = 0; round < 2 * EXEC_HOST_DEPTH && (more || !armed); round++) {
        pthread_mutex_lock(&host->lock);
        if (!round && host->state == EXEC_READY)
            disarm(host, host->child.shared);
        if (!more) {
            armed = true;
            rest(host, !delivered);
        }
        silent = host->state == EXEC_READY && !resetting(host);
        exec_host_check(host);
        more = gather(host, &b);
        exec_host_check(host);
        silent &= host->state == EXEC_READY && host->first == host->last; /* it has nothing left to say */
        if (b.n && !more && !armed && silent) {
            armed = true;
            rest(host, false);
        }
        pthread_mutex_unlock(&host->lock);
        deliver(host, &b);
        delivered += b.n;
    }
    if (more || !armed)
        exec_host_notice(host);
    return delivered;
}

/* ---- waiting ------------------------------------------------------------- */

static bool something(const struct exec_host *host)
{
    struct exec_shared *sh = atomic_load(&host->watched);

    return atomic_load(&host->notice) ||
           (sh && (atomic_load(&sh->done_tail) != atomic_load(&host->watched_head)));
}

static bool event_ready(const struct exec_host *host, int timeout_ms)
{
    struct pollfd p = {.fd = host->event_fd, .events = POLLIN};

    return poll(&p, 1, timeout_ms) > 0;
}

static bool busy_poll(struct exec_host *host, struct exec_shared *sh, uint64_t ns)
{
    uint64_t end = 0, now = 0;

    disarm(host, sh);
    do { /* the clock is first read when a quick answer has not come */
        for (int i = 0; i < 32; i++) {
            if (something(host))
                return true;
            exec_pause();
        }
        now = exec_now();
        end = end ? end : now + ns;
    } while (now < end);
    arm(host, sh);
    return false;
}

static bool shares_processor(const struct exec_shared *sh)
{
    return atomic_load_explicit(&sh->host_cpu, memory_order_relaxed) == atomic_load(&sh->executor_cpu);
}

bool exec_host_poll_begin(struct exec_host *host)
{
    struct exec_shared *sh = atomic_load(&host->watched);
    uint32_t cpu;

    if (!sh || !host->spin)
        return false;
    cpu = tell_cpu(sh);
    if (shares_processor(sh))
        atomic_fetch_add_explicit(&sh->host_would_poll, 1, memory_order_relaxed);
    else if (!exec_worth_polling(&host->poller, cpu, ~cpu))
        return false;
    disarm(host, sh);
    return true;
}

bool exec_host_poll_end(struct exec_host *host)
{
    /* On one processor the executor has run before the doorbell returned, or will not while this polls. */
    struct exec_shared *sh = atomic_load(&host->watched);
    bool shares = shares_processor(sh), found = busy_poll(host, sh, shares ? 0 : EXEC_SPIN_NS);

    if (!shares)
        exec_polled(&host->poller, found);
    return found || something(host);
}

bool exec_host_poll(struct exec_host *host)
{
    return exec_host_poll_begin(host) ? exec_host_poll_end(host) : something(host);
}

bool exec_host_wait(struct exec_host *host, int timeout_ms)
{
    if (!timeout_ms)
        return something(host);
    return exec_host_poll(host) || event_ready(host, timeout_ms);
}

int exec_host_wait_ready(struct exec_host *host, int timeout_ms, struct error *e)
{
    uint64_t end = exec_now() + (uint64_t)(timeout_ms < 0 ? 0 : timeout_ms) * NSEC_PER_MSEC;
    struct timespec ts = {(time_t)(end / NSEC_PER_SEC), (long)(end % NSEC_PER_SEC)};
    int r = 0;

    pthread_mutex_lock(&host->lock);
    while (host->state == EXEC_STARTING && r != ETIMEDOUT)
        r = timeout_ms < 0 ? pthread_cond_wait(&host->ready_changed, &host->lock)
                           : pthread_cond_timedwait(&host->ready_changed, &host->lock, &ts);
    if (host->state == EXEC_FAILED)
        r = error_set(e, host->failure.code, "%s", host->failure.text);
    else if (host->state == EXEC_STARTING)
        r = error_set(e, -ETIMEDOUT, "the executor was not ready after %d ms", timeout_ms);
    else
        r = 0;
    pthread_mutex_unlock(&host->lock);
    return r;
}

/* ---- life ---------------------------------------------------------------- */

static void default_limit(uint32_t *value, uint32_t standard)
{
    if (!*value)
        *value = standard;
}

static int init_sync(struct exec_host *host)
{
    pthread_condattr_t attr;
    int r = pthread_condattr_init(&attr);

    if (r)
        return -r;
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    r = pthread_cond_init(&host->ready_changed, &attr);
    pthread_condattr_destroy(&attr);
    if (r)
        return -r;
    pthread_mutex_init(&host->lock, NULL);
    return 0;
}

static bool many_processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1;
}

int exec_host_create(struct exec_host **out, const struct exec_host_params *p, struct error *e)
{
    const struct program_params program = {.what = "the executor program",
                                           .wanted = p->executable,
                                           .variable = "AEROGPU_EXECUTOR",
                                           .built = "src/executor/aerogpu-executor",
                                           .installed = "aerogpu-executor",
                                           .place = PROGRAM_LIBEXEC};
    struct exec_host *host;
    char path[PATH_MAX];
    int r = program_find(&program, path, sizeof(path), e);

    *out = NULL;
    if (r)
        return r;
    if (p->device && strlen(p->device) >= sizeof(((struct exec_start *)0)->device))
        return error_set(e, -ENAMETOOLONG, "the Vulkan device name %.40s... is too long", p->device);
    host = calloc(1, sizeof(*host));
    if (!host)
        return error_set(e, -ENOMEM, "cannot make an executor host: out of memory");
    host->complete = p->complete;
    host->died = p->died;
    host->ctx = p->ctx;
    host->markers = p->markers;
    host->addresses = p->addresses;
    host->limits = p->limits;
    if (!host->limits.memory_bytes)
        host->limits.memory_bytes = UINT64_C(4) << 30;
    default_limit(&host->limits.files, 128);
    default_limit(&host->limits.start_ms, 30000);
    default_limit(&host->limits.reset_ms, EXEC_IDLE_RESET_MS);
    host->spin = many_processors();
    host->ops_end = &host->ops;
    host->deadline_ns = UINT64_MAX;
    host->path = strdup(path);
    host->device = p->device ? strdup(p->device) : NULL;
    host->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!host->path || (p->device && !host->device) || host->event_fd < 0) {
        r = error_set(e, host->event_fd < 0 ? -errno : -ENOMEM, "cannot make an executor host: %s",
                      strerror(host->event_fd < 0 ? errno : ENOMEM));
        goto fail;
    }
    r = init_sync(host);
    if (r) {
        error_set(e, r, "cannot make an executor host: %s", strerror(-r));
        goto fail;
    }
    r = exec_supervisor_start(host, e);
    if (r)
        goto fail_sync;
    *out = host;
    return 0;
fail_sync:
    pthread_cond_destroy(&host->ready_changed);
    pthread_mutex_destroy(&host->lock);
fail:
    if (host->event_fd >= 0)
        close(host->event_fd);
    free(host->device);
    free(host->path);
    free(host);
    return r;
}

void exec_host_destroy(struct exec_host *host)
{
    if (!host)
        return;
    exec_supervisor_stop(host);
    INVARIANT(!host->child.pid); /* no process outlives its host */
    exec_host_drop_ops(host);
    for (unsigned i = 0; i < host->n_regions; i++)
        exec_region_put(host->regions[i]);
    exec_shared_unmap(host->defunct);
    close(host->event_fd);
    pthread_cond_destroy(&host->ready_changed);
    pthread_mutex_destroy(&host->lock);
    free(host->device);
    free(host->path);
    free(host);
}

int exec_host_event_fd(const struct exec_host *host)
{
    return host->event_fd;
}

bool exec_host_progress(struct exec_host *host, struct exec_progress *out)
{
    struct exec_shared *sh;

    pthread_mutex_lock(&host->lock);
    sh = host->defunct ? host->defunct : host->child.shared;
    if (sh)
        exec_progress_read(out, &sh->progress);
    pthread_mutex_unlock(&host->lock);
    return sh != NULL;
}

pid_t exec_host_pid(struct exec_host *host)
{
    pid_t pid;

    pthread_mutex_lock(&host->lock);
    pid = host->child.pid;
    pthread_mutex_unlock(&host->lock);
    return pid;
}

void exec_host_device_name(struct exec_host *host, char name[256], bool *is_cpu)
{
    pthread_mutex_lock(&host->lock);
    memcpy(name, host->device_name, 256);
    *is_cpu = host->is_cpu;
    pthread_mutex_unlock(&host->lock);
}

void exec_host_stats(struct exec_host *host, struct exec_host_stats *out)
{
    pthread_mutex_lock(&host->lock);
    *out = host->stats;
    pthread_mutex_unlock(&host->lock);
}
