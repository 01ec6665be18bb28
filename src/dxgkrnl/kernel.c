/* SPDX-License-Identifier: MIT */
/* kernel.c: see kernel.h. How the live machine hands the processor around:
 *
 *   dxgk_kernel_enter ──▶ cpu ──▶ … ──▶ cpu_unlock ──▶ threads that were unparked are woken, outside the lock
 *                                      └──▶ serve_pending: interrupts that came while it was held
 *   dxgk_kernel_interrupt ──▶ serve_pending: ISR and DPC on the thread of the device, if the processor is free; else the
 *                        thread that holds it looks when it lets go (both sides set, then look: one of them sees the other)
 *   service thread: timers
 */
#include "dxgkrnl/kernel.h"

#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "base/sched/slice.h"
#include "dxgkrnl/kernel/state.h"

enum { BREATH_NS = 200000 }; /* so long somebody works while others wait for him */

enum {
    STACK_SIZE = 256 * 1024,
    ENDLESS = 1000000, /* waits in a row */
    MAX_MESSAGES = 32,
};

static _Thread_local struct kernel *self_kernel;
static _Thread_local struct kthread *self_thread, host_thread; /* live only */

static void service(struct kernel *k);
static void cpu_unlock(struct kernel *k);

static void futex(_Atomic uint32_t *word, int op, uint32_t value)
{
    syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

uint64_t dxgk_kernel_now(const struct kernel *k)
{
    return clock_now(k->clock);
}

void *dxgk_kernel_ctx(struct kernel *k)
{
    return k->ctx;
}

bool dxgk_kernel_is_live(const struct kernel *k)
{
    return !k->loop;
}

struct kernel *dxgk_kernel_self(const char *routine)
{
    if (!self_kernel || !self_kernel->current) /* it holds no processor */
        dxgk_lastwords_end("%s was called by a thread that is not the kernel's", routine);
    dxgk_guard_look(self_kernel);
    dxgk_guard_border(self_kernel, routine, "was called");
    return self_kernel;
}

struct kernel *dxgk_kernel_here(void)
{
    return self_kernel;
}

struct kthread *dxgk_kernel_thread(struct kernel *k)
{
    return k->current;
}

KIRQL dxgk_kernel_irql(struct kernel *k)
{
    return k->irql;
}

void dxgk_kernel_set_caller(struct kernel *k, struct dxgk_kernel_caller caller)
{
    k->current->caller = caller;
}

struct dxgk_kernel_caller dxgk_kernel_caller(struct kernel *k)
{
    return k->current->caller;
}

/* The thread that is running holds the processor. */
static void check_running(const struct kernel *k)
{
    INVARIANT(k->current && k->current->kernel == k && !k->current->done);
    INVARIANT(!k->current->parked && k->current->depth);
    INVARIANT(self_kernel == k && (k->loop || self_thread == k->current));
    INVARIANT(k->irql <= HIGH_LEVEL);
}

/* ---- timers -------------------------------------------------------------- */

/* Makes service() run: at the next deadline, or at once if something is pending already. */
static void kick(struct kernel *k, bool now)
{
    if (!k->loop) {
        if (!now && k->timers->deadline_ns >= atomic_load(&k->asleep_until))
            return; /* it looks in time */
        if (eventfd_write(k->wake_fd, 1))
            return; /* full: it is awake */
        return;
    }
    if (now || k->timers) {
        uint64_t at = now ? dxgk_kernel_now(k) : k->timers->deadline_ns;
        if (!k->loop_timer.slot || at < k->loop_timer.deadline_ns)
            loop_arm(k->loop, &k->loop_timer, at, (void (*)(void *))service, k);
    }
}

void dxgk_kernel_cancel(struct kernel *k, struct ktimer *t)
{
    if (!t->armed)
        return;
    for (struct ktimer **p = &k->timers; *p; p = &(*p)->next)
        if (*p == t) {
            *p = t->next;
            break;
        }
    t->armed = false;
}

void dxgk_kernel_arm(struct kernel *k, struct ktimer *t, uint64_t deadline_ns, void (*fn)(void *ctx),
                     void *ctx)
{
    struct ktimer **p = &k->timers;

    dxgk_kernel_cancel(k, t);
    t->fn = fn;
    t->ctx = ctx;
    t->deadline_ns = deadline_ns;
    t->order = k->order++;
    while (*p && (*p)->deadline_ns <= deadline_ns)
        p = &(*p)->next;
    t->next = *p;
    *p = t;
    t->armed = true;
    INVARIANT(!t->next || (t->next->armed && t->next->deadline_ns > deadline_ns)); /* 4 */
    if (k->timers == t)
        kick(k, false);
}

static void run_timers(struct kernel *k)
{
    uint64_t now = dxgk_kernel_now(k);
    KIRQL old = k->irql;

    k->irql = DISPATCH_LEVEL;
    while (k->timers && k->timers->deadline_ns <= now) {
        struct ktimer *t = k->timers;
        INVARIANT(t->armed && (!t->next || t->next->deadline_ns >= t->deadline_ns)); /* 4 */
        k->timers = t->next;
        t->armed = false;
        t->fn(t->ctx);
        INVARIANT(k->irql == DISPATCH_LEVEL);
    }
    k->irql = old;
}

/* ---- interrupts (what they run: kernel/interrupts.c) --------------------- */

/* Live, without the processor: takes interrupts, if no other thread is about to. */
static void serve_pending(struct kernel *k)
{
    struct kthread *self = self_thread;

    while (dxgk_kernel_interrupt_pending(k) && !pthread_mutex_trylock(&k->cpu)) {
        self_thread = &k->service_thread;
        service(k);
        self_kernel = NULL;
        self_thread = self;
        cpu_unlock(k);
    }
}

static void interrupted(struct kernel *k)
{
    if (k->loop)
        kick(k, true);
    else if (self_kernel != k) /* else this thread takes it when it lets go of the processor */
        serve_pending(k);
}

void dxgk_kernel_interrupt(struct kernel *k, unsigned message)
{
    atomic_fetch_or(&k->pending, UINT32_C(1) << (message % MAX_MESSAGES));
    interrupted(k);
}

void dxgk_kernel_interrupt_line(struct kernel *k, bool asserted)
{
    if (atomic_exchange(&k->line, asserted) != asserted && asserted)
        interrupted(k);
}

void dxgk_kernel_connect_interrupt(struct kernel *k, bool connected)
{
    k->connected = connected;
    k->claimed = k->unclaimed = 0;
    if (dxgk_kernel_interrupt_pending(k))
        interrupted(k);
}

/* ---- waiting ------------------------------------------------------------- */

static void swap_to(struct kernel *k, struct kthread *t)
{
    struct kthread *old = k->current;
    KIRQL irql = k->irql;

    k->current = t;
    k->irql = PASSIVE_LEVEL;
    swapcontext(&k->scheduler, &t->context);
    k->current = old;
    k->irql = irql;
}

static void run_ready(struct kernel *k)
{
    while (k->ready) {
        struct kthread *t = k->ready;
        k->ready = t->next;
        if (!k->ready)
            k->ready_last = &k->ready;
        if (t->is_main)
            continue; /* its own loop sees that it was woken */
        swap_to(k, t);
        if (t->done) {
            for (struct kthread **p = &k->all; *p; p = &(*p)->next_all)
                if (*p == t) {
                    *p = t->next_all;
                    break;
                }
            dxgk_guard_stack_free(t->stack, STACK_SIZE);
            free(t);
        }
    }
}

static void make_ready(struct kernel *k, struct kthread *t)
{
    t->next = NULL;
    *k->ready_last = t;
    k->ready_last = &t->next;
    kick(k, true);
}

void dxgk_kernel_unpark(struct kernel *k, struct kthread *t)
{
    if (!t->parked || t->woken)
        return;
    t->woken = true;
    if (k->loop) {
        make_ready(k, t);
        return;
    }
    t->next_wake = k->wakes; /* when the processor is free: it could do nothing before */
    k->wakes = t;
}

/* Gives the processor up, wakes who was unparked, and takes what interrupted meanwhile. */
static void cpu_unlock(struct kernel *k)
{
    struct kthread *t = k->wakes;

    k->wakes = NULL;
    pthread_mutex_unlock(&k->cpu);
    while (t) {
        struct kthread *next = t->next_wake; /* t may be gone as soon as it is signalled */
        atomic_store(&t->signal, 1);
        futex(&t->signal, FUTEX_WAKE, 1);
        t = next;
    }
    atomic_thread_fence(memory_order_seq_cst); /* unlocked before looking */
    if (dxgk_kernel_interrupt_pending(k))
        serve_pending(k);
}

static void wait_expired(void *ctx)
{
    struct kthread *t = ctx;

    dxgk_kernel_unpark(t->kernel, t);
}

static void ddi_expired(void *ctx)
{
    struct kthread *t = ctx;
    struct kernel *k = t->kernel;

    if (!t->ddi)
        return;
    if (t->ddi->late) {
        t->ddi->abandoned = true;
        dxgk_kernel_unpark(k, t);
        return;
    }
    t->ddi->late = true;
    dxgk_kernel_arm(k, &t->ddi_timer, dxgk_kernel_now(k) + t->ddi->limit_ns, ddi_expired, t);
    if (k->ops.stuck)
        k->ops.stuck(k->ctx, t->ddi->name);
}

const struct kernel_ddi *dxgk_kernel_call(const struct kernel *k)
{
    return k->current ? k->current->ddi : NULL;
}

const char *dxgk_kernel_ddi(const struct kernel *k)
{
    return k->current && k->current->ddi ? k->current->ddi->name : NULL;
}

void dxgk_kernel_patience(struct kernel *k, uint64_t deadline_ns, void (*over)(void *ctx), void *ctx)
{
    k->patience.deadline_ns = deadline_ns;
    k->patience.over = over;
    k->patience.ctx = ctx;
}

/* Sim: code outside every coroutine waits by running the loop. */
static void park_main(struct kernel *k, struct kthread *t)
{
    while (!t->woken) {
        int r;
        k->current = NULL;
        r = loop_run_once(k->loop, LOOP_FOREVER);
        if (r <= 0 && !t->woken) {
            k->current = t;
            t->hopeless = true;
            dxgk_kernel_violation(k, "deadlock: nothing is left that could end a wait");
            ddi_expired(t); /* it will not come back */
            if (t->ddi)
                t->ddi->abandoned = true;
            return;
        }
        if (k->patience.deadline_ns && dxgk_kernel_now(k) > k->patience.deadline_ns && !t->woken)
            k->patience.over(k->patience.ctx);
    }
}

/* Sim: who waits for nothing again and again keeps time from going on. */
static void count_wait(struct kernel *k, const struct kthread *t)
{
    uint64_t now = dxgk_kernel_now(k);

    k->waits = now == k->waits_at ? k->waits + 1 : 0;
    k->waits_at = now;
    if (k->waits > ENDLESS && t->ddi) {
        k->waits = 0;
        dxgk_guard_die(k, VIDEO_TDR_FAILURE_CODE, "a loop of waits that take no time, 1000000 in a row");
    }
}

bool dxgk_kernel_park(struct kernel *k, uint64_t deadline_ns, const char *routine)
{
    struct kthread *t = k->current;
    KIRQL irql = k->irql;
    bool expired;

    if (!dxgk_kernel_check(k, routine, APC_LEVEL))
        return false;
    check_running(k);
    INVARIANT(!t->wait_timer.armed && !t->ddi_timer.armed);
    t->parked = true;
    t->woken = false;
    atomic_store(&t->signal, 0);
    dxgk_kernel_drain(k); /* may wake it */
    if (deadline_ns != LOOP_FOREVER)
        dxgk_kernel_arm(k, &t->wait_timer, deadline_ns, wait_expired, t);
    if (t->ddi && t->ddi->limit_ns) {
        if (!t->ddi->start_ns)
            t->ddi->start_ns = dxgk_kernel_now(k);
        dxgk_kernel_arm(k, &t->ddi_timer, t->ddi->start_ns + (1 + t->ddi->late) * t->ddi->limit_ns,
                        ddi_expired, t);
    }
    if (t->ddi)
        dxgk_guard_end(k);
    k->current = NULL;
    k->irql = PASSIVE_LEVEL;
    if (k->loop && t->is_main) {
        park_main(k, t);
    } else if (k->loop) {
        swapcontext(&t->context, &k->scheduler);
    } else {
        self_kernel = NULL;
        cpu_unlock(k);
        if (t->turn)
            pthread_mutex_unlock(t->turn);
        while (!atomic_load(&t->signal))
            futex(&t->signal, FUTEX_WAIT, 0);
        if (t->turn)
            pthread_mutex_lock(t->turn);
        pthread_mutex_lock(&k->cpu);
        self_kernel = k;
    }
    k->current = t;
    k->irql = irql;
    expired = t->hopeless ||
              (deadline_ns != LOOP_FOREVER && !t->wait_timer.armed && dxgk_kernel_now(k) >= deadline_ns);
    t->hopeless = false;
    dxgk_kernel_cancel(k, &t->wait_timer);
    dxgk_kernel_cancel(k, &t->ddi_timer);
    t->parked = false;
    check_running(k);
    INVARIANT(k->irql <= APC_LEVEL && !t->wait_timer.armed && !t->ddi_timer.armed); /* 1 */
    if (t->ddi)
        dxgk_guard_begin(k);
    if (k->loop)
        count_wait(k, t);
    return !expired;
}

void dxgk_kernel_delay(struct kernel *k, uint64_t deadline_ns, const char *routine)
{
    dxgk_kernel_park(k, deadline_ns, routine);
    if (dxgk_kernel_abandoned(k))
        dxgk_guard_leave(k);
}

/* The queue may lie in an object of the miniport's. */
static void unqueue(struct kernel *k, struct kwaiters *q, const struct kwait *w)
{
    struct kwait **p = &q->first;

    while (*p && *p != w)
        p = &(*p)->next;
    if (!*p) {
        dxgk_kernel_violation(k, "an object that a thread waits for was initialised again, or written over");
        return;
    }
    *p = w->next;
    if (q->last == &w->next)
        q->last = p;
}

void dxgk_kernel_breathe(struct kernel *k)
{
    struct kthread *t = k->current;
    uint64_t now = k->loop ? 0 : dxgk_kernel_now(k);

    if (k->loop || !t->since_ns || now - t->since_ns < BREATH_NS) {
        t->since_ns = t->since_ns ? t->since_ns : now;
        return;
    }
    INVARIANT(k->irql == PASSIVE_LEVEL && !t->ddi);
    dxgk_kernel_drain(k);
    k->current = NULL;
    self_kernel = NULL;
    cpu_unlock(k);
    usleep(BREATH_NS / NSEC_PER_USEC / 4); /* else who has just let it go gets it again */
    pthread_mutex_lock(&k->cpu);
    self_kernel = k;
    INVARIANT(!k->current);
    k->current = t;
    k->irql = PASSIVE_LEVEL;
    t->since_ns = dxgk_kernel_now(k);
    check_running(k);
}

bool dxgk_kernel_wait_any(struct kernel *k, struct kwaiters *const q[], unsigned n, uint64_t deadline_ns)
{
    struct kwait w[KERNEL_MAX_WAITS];
    bool woken = false, in_time;

    INVARIANT(n && n <= KERNEL_MAX_WAITS);
    for (unsigned i = 0; i < n; i++) {
        w[i] = (struct kwait){.thread = k->current, .queued = true};
        if (!q[i]->first)
            q[i]->last = &q[i]->first;
        *q[i]->last = &w[i];
        q[i]->last = &w[i].next;
    }
    do {
        in_time = dxgk_kernel_park(k, deadline_ns, "a wait in dxgkrnl");
        for (unsigned i = 0; i < n; i++)
            woken |= !w[i].queued;
    } while (in_time && !woken && !dxgk_kernel_abandoned(k));
    for (unsigned i = 0; i < n; i++)
        if (w[i].queued)
            unqueue(k, q[i], &w[i]);
    if (dxgk_kernel_abandoned(k))
        dxgk_guard_leave(k);
    return woken;
}

bool dxgk_kernel_wait(struct kernel *k, struct kwaiters *q, uint64_t deadline_ns)
{
    return dxgk_kernel_wait_any(k, &q, 1, deadline_ns);
}

void dxgk_kernel_wake_all(struct kernel *k, struct kwaiters *q)
{
    struct kwait *w = q->first;

    q->first = NULL;
    while (w) {
        struct kwait *next = w->next;
        INVARIANT(w->queued && w->thread->kernel == k);
        w->queued = false;
        dxgk_kernel_unpark(k, w->thread);
        w = next;
    }
}

/* ---- threads ------------------------------------------------------------- */

void dxgk_kernel_enter(struct kernel *k)
{
    dxgk_kernel_enter_turn(k, NULL);
}

void dxgk_kernel_enter_turn(struct kernel *k, pthread_mutex_t *turn)
{
    if (k->loop) {
        self_kernel = k;
        if (!k->current)
            k->current = &k->main_thread;
        k->current->depth++;
        check_running(k);
        return;
    }
    if (self_kernel == k && self_thread) {
        self_thread->depth++;
        return;
    }
    if (!self_thread) {
        self_thread = &host_thread;
        self_thread->name = "client";
        self_thread->ddi = NULL;
        self_thread->caller = (struct dxgk_kernel_caller){0};
    }
    self_thread->kernel = k;
    self_thread->depth = 1;
    self_thread->since_ns = 0;
    self_thread->turn = turn;
    if (turn)
        pthread_mutex_lock(turn);
    pthread_mutex_lock(&k->cpu);
    self_kernel = k;
    INVARIANT(!k->current);
    k->current = self_thread;
    k->irql = PASSIVE_LEVEL;
    check_running(k);
}

void dxgk_kernel_leave(struct kernel *k)
{
    struct kthread *t = k->current;
    pthread_mutex_t *turn = t->turn;

    check_running(k);
    if (--t->depth)
        return;
    if (k->irql != PASSIVE_LEVEL) {
        dxgk_kernel_violation(k, "a thread left the kernel at IRQL %d", k->irql);
        k->irql = PASSIVE_LEVEL;
    }
    if (!k->loop && atomic_load(&k->service_waits))
        service(k); /* its thread would wait its turn among many */
    else
        dxgk_kernel_drain(k);
    if (k->loop) {
        if (t->is_main)
            k->current = NULL;
        if (k->ready || k->timers)
            kick(k, k->ready != NULL);
        return;
    }
    k->current = NULL;
    self_kernel = NULL;
    if (t == &host_thread)
        self_thread = NULL;
    cpu_unlock(k);
    if (turn)
        pthread_mutex_unlock(turn);
}

static void coroutine_main(unsigned lo, unsigned hi)
{
    struct kthread *t = (struct kthread *)((uintptr_t)lo | (uintptr_t)hi << 32);
    struct kernel *k = t->kernel;

    t->depth = 1;
    t->fn(t->arg);
    t->done = true;
    swapcontext(&t->context, &k->scheduler);
}

static void *live_main(void *arg)
{
    struct kthread *t = arg;

    slice_set(SLICE_SHORT);
    self_thread = t;
    dxgk_kernel_enter(t->kernel);
    t->fn(t->arg);
    dxgk_kernel_leave(t->kernel);
    return NULL;
}

int dxgk_kernel_spawn(struct kernel *k, const char *name, void (*fn)(void *arg), void *arg)
{
    struct kthread *t = calloc(1, sizeof(*t));
    int r;

    if (!t)
        return -ENOMEM;
    *t = (struct kthread){.kernel = k, .name = name, .fn = fn, .arg = arg};
    t->next_all = k->all;
    if (!k->loop) {
        k->all = t;
        r = -pthread_create(&t->pthread, NULL, live_main, t);
        if (r) {
            k->all = t->next_all;
            free(t);
        }
        return r;
    }
    t->stack = dxgk_guard_stack(STACK_SIZE);
    if (!t->stack) {
        free(t);
        return -ENOMEM;
    }
    k->all = t;
    getcontext(&t->context);
    t->context.uc_stack.ss_sp = t->stack;
    t->context.uc_stack.ss_size = STACK_SIZE;
    makecontext(&t->context, (void (*)(void))coroutine_main, 2, (unsigned)(uintptr_t)t,
                (unsigned)((uintptr_t)t >> 32));
    t->woken = true;
    make_ready(k, t);
    return 0;
}

/* What the processor does on its own: interrupts, timers, DPCs, then (sim) the threads that are ready. */
static void service(struct kernel *k)
{
    struct kthread *old = k->current;

    if (k->loop && old && !old->parked)
        return; /* the loop was run by code that holds the processor: it drains when it lets go */
    self_kernel = k;
    k->current = &k->service_thread;
    k->irql = PASSIVE_LEVEL;
    dxgk_kernel_drain(k);
    run_timers(k);
    dxgk_kernel_drain(k);
    if (k->loop) {
        run_ready(k);
        k->current = old;
        if (k->timers)
            kick(k, false);
    } else {
        k->current = NULL;
    }
}

static void *service_main(void *arg)
{
    struct kernel *k = arg;
    struct pollfd pfd = {.fd = k->wake_fd, .events = POLLIN};
    uint64_t value;

    slice_set(SLICE_SHORT);
    pthread_mutex_lock(&k->cpu);
    while (!k->stopping) {
        struct timespec ts = {0};
        uint64_t now, next;

        self_thread = &k->service_thread;
        service(k);
        next = k->timers ? k->timers->deadline_ns : LOOP_FOREVER;
        atomic_store(&k->asleep_until, next);
        self_kernel = NULL;
        cpu_unlock(k);
        now = dxgk_kernel_now(k);
        if (next > now && next != LOOP_FOREVER) {
            ts.tv_sec = (time_t)((next - now) / NSEC_PER_SEC);
            ts.tv_nsec = (long)((next - now) % NSEC_PER_SEC);
        }
        if (ppoll(&pfd, 1, next == LOOP_FOREVER ? NULL : &ts, NULL) > 0 && read(k->wake_fd, &value, 8) < 0)
            log_debug("dxgkrnl", "the wake-up counter was empty");
        atomic_store(&k->service_waits, true);
        pthread_mutex_lock(&k->cpu);
        atomic_store(&k->service_waits, false);
    }
    self_kernel = NULL;
    cpu_unlock(k);
    return NULL;
}

int dxgk_kernel_create(struct kernel **out, struct clock *clock, struct loop *loop,
                       const struct kernel_ops *ops, void *ctx)
{
    struct kernel *k = calloc(1, sizeof(*k));
    int r;

    if (!k)
        return -ENOMEM;
    assert(!loop || clock->is_virtual);
    *k = (struct kernel){.clock = clock, .loop = loop, .ops = *ops, .ctx = ctx, .wake_fd = -1};
    k->dpcs.Flink = k->dpcs.Blink = &k->dpcs;
    k->ready_last = &k->ready;
    k->service_thread = (struct kthread){.kernel = k, .name = "service"};
    k->main_thread = (struct kthread){.kernel = k, .name = "main", .is_main = true};
    pthread_mutex_init(&k->cpu, NULL);
    r = dxgk_guard_create(k);
    if (r) {
        free(k);
        return r;
    }
    if (!loop) {
        k->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        r = k->wake_fd < 0 ? -errno : -pthread_create(&k->service, NULL, service_main, k);
        if (r) {
            if (k->wake_fd >= 0)
                close(k->wake_fd);
            dxgk_guard_destroy(k);
            free(k);
            return r;
        }
    }
    *out = k;
    return 0;
}

void dxgk_kernel_destroy(struct kernel *k)
{
    if (!k)
        return;
    if (!k->loop) {
        pthread_mutex_lock(&k->cpu);
        k->stopping = true;
        k->connected = false;
        pthread_mutex_unlock(&k->cpu);
        kick(k, true);
        pthread_join(k->service, NULL);
        close(k->wake_fd);
    } else {
        loop_cancel(k->loop, &k->loop_timer);
    }
    while (k->all) {
        struct kthread *t = k->all;
        k->all = t->next_all;
        if (!k->loop)
            pthread_join(t->pthread, NULL);
        dxgk_guard_stack_free(t->stack, STACK_SIZE);
        free(t);
    }
    dxgk_guard_destroy(k);
    dxgk_violations_finish(&k->violations);
    if (self_kernel == k)
        self_kernel = NULL;
    pthread_mutex_destroy(&k->cpu);
    free(k);
}
