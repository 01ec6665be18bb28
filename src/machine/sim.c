/* SPDX-License-Identifier: MIT */
/* sim.c: the machine in virtual time. One thread; the event loop holds everything that is still to happen.
 *
 * The executors here are a model: one for each client, which works on one submission at a time, in order, each taking a time
 * drawn from the seed; ORDERED ones wait for those of other clients. All die and stand still together. Streams are decoded to
 * find what is malformed, which presents want a vblank, and what must not be written back, and nothing is drawn.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/stream.h"
#include "aerogpu/cmd.h"
#include "aerogpu/ext.h"
#include "base/check.h"
#include "base/loop.h"
#include "base/rng.h"
#include "machine/priv.h"
#include "machine/sim_memory.h"

enum {
    DEPTH = 256,       /* submissions that the executors hold */
    IRQ_NS = 2000,     /* from the device to the interrupt routine */
    STORM_LIMIT = 1000 /* calls of the routine in a row that leave INTx high */
};

struct job {
    struct loop_timer timer; /* while it is worked on */
    struct machine *m;
    struct abi_submission s;
    bool hung;
    struct job *next;
};

/* A completion, interrupt or timer on its way. */
struct delayed {
    struct loop_timer timer;
    struct machine *m;
    struct abi_completion c;
    struct delayed *next, **prev;
};

struct sim {
    struct loop *loop;
    struct rng rng;
    struct machine_stats stats;
    struct loop_timer vblank, intx, restart, resume;
    bool line;
    uint32_t storm;
    struct job *jobs; /* oldest first */
    uint32_t count;
    bool dead;    /* until restart */
    bool stopped; /* until resume, or a reset */
    struct sim_memory memory;
    struct delayed *delayed; /* all that are armed */
};

static struct sim *sim_of(void *machine)
{
    return ((struct machine *)machine)->kind;
}

/* Between two events. */
static void sim_check(const struct sim *s)
{
    uint32_t count = 0;

    for (const struct job *j = s->jobs; j; j = j->next, count++)
        INVARIANT(!j->timer.slot || (!s->stopped && !s->dead && !j->hung));
    INVARIANT(s->count == count && count <= DEPTH);
    INVARIANT(!s->dead || s->restart.slot); /* they start again */
    INVARIANT(s->storm <= STORM_LIMIT);
    INVARIANT(!s->delayed || s->delayed->prev == &s->delayed);
    INVARIANT(!s->resume.slot || s->stopped);
}

static bool chance(struct sim *s, uint32_t per_million)
{
    return per_million && rng_below(&s->rng, 1000000) < per_million;
}

static uint64_t between(struct sim *s, uint64_t min, uint64_t max)
{
    return min + rng_below(&s->rng, max - min + 1);
}

static void arm(struct machine *m, struct loop_timer *t, uint64_t delay_ns, void (*fn)(void *ctx), void *ctx)
{
    if (loop_arm(sim_of(m)->loop, t, machine_now(m) + delay_ns, fn, ctx))
        abort(); /* out of memory for a dozen pointers: nothing sensible is left to do in a simulation */
}

/* NULL: no memory. */
static struct delayed *delay(struct machine *m, uint64_t ns, void (*fn)(void *ctx))
{
    struct sim *s = m->kind;
    struct delayed *d = calloc(1, sizeof(*d));

    if (!d)
        return NULL;
    d->m = m;
    d->next = s->delayed;
    d->prev = &s->delayed;
    if (d->next)
        d->next->prev = &d->next;
    s->delayed = d;
    arm(m, &d->timer, ns, fn, d);
    return d;
}

static void free_delayed(struct delayed *d)
{
    loop_cancel(sim_of(d->m)->loop, &d->timer);
    *d->prev = d->next;
    if (d->next)
        d->next->prev = d->prev;
    free(d);
}

/* ---- interrupts ---------------------------------------------------------- */

static void call_irq(struct machine *m)
{
    sim_of(m)->stats.interrupts++;
    if (m->params.irq)
        m->params.irq(m->params.irq_ctx);
}

static void message(void *ctx)
{
    struct delayed *d = ctx;
    struct machine *m = d->m;

    free_delayed(d);
    call_irq(m);
}

static void intx(void *ctx)
{
    struct machine *m = ctx;
    struct sim *s = m->kind;

    if (!s->line || !m->params.irq) /* without a routine INTx waits for set_irq */
        return;
    call_irq(m);
    s->storm++;
    if (s->line && s->storm < STORM_LIMIT)
        arm(m, &s->intx, IRQ_NS, intx, m);
}

static void raise_irq(void *ctx, const struct gpu_interrupt *irq)
{
    struct machine *m = ctx;
    struct sim *s = m->kind;
    const struct machine_faults *f = &m->params.faults;
    uint64_t ns = IRQ_NS;

    if (irq->kind == GPU_INTX) {
        s->line = irq->level;
        if (!s->line)
            s->storm = 0;
        else if (!s->intx.slot)
            arm(m, &s->intx, ns, intx, m);
        return;
    }
    if (chance(s, f->lost_interrupt)) {
        s->stats.lost_interrupts++;
        return;
    }
    if (chance(s, f->delayed_interrupt)) {
        s->stats.delayed_interrupts++;
        ns = between(s, IRQ_NS, 20 * NSEC_PER_MSEC);
    }
    if (!delay(m, ns, message))
        s->stats.lost_interrupts++; /* whoever waits for it lives with that, as with the fault */
    if (chance(s, f->doubled_interrupt)) {
        s->stats.doubled_interrupts += delay(m, ns + between(s, 0, NSEC_PER_MSEC), message) != NULL;
    }
}

/* ---- vblank -------------------------------------------------------------- */

static void vblank(void *ctx)
{
    gpu_timer(((struct machine *)ctx)->gpu);
}

static void arm_timer(void *ctx, uint64_t deadline_ns)
{
    struct machine *m = ctx;
    struct sim *s = m->kind;
    uint64_t now = machine_now(m),
             period = m->params.vblank_period_ns ? m->params.vblank_period_ns : 16666667;

    loop_cancel(s->loop, &s->vblank);
    if (deadline_ns == GPU_NEVER)
        return;
    if (chance(s, m->params.faults.late_vblank)) {
        s->stats.late_vblanks++;
        deadline_ns += between(s, 1, 3 * period);
    }
    arm(m, &s->vblank, deadline_ns > now ? deadline_ns - now : 0, vblank, m);
}

/* ---- the executor's model ------------------------------------------------ */

/* What a real executor would find in the stream without drawing anything. */
static void examine(struct machine *m, const struct abi_submission *s, struct abi_completion *c)
{
    const void *data = s->cmd_size ? machine_dma_map(m, s->cmd_gpa, s->cmd_size) : NULL;
    struct error e = {0};
    struct abi_stream stream;
    struct abi_packet p;
    int r;

    if (!s->cmd_size)
        return;
    if (!data) {
        c->error = AEROGPU_ERROR_OOB;
        c->cause = ABI_CAUSE_DMA;
        snprintf(c->message, sizeof(c->message), "stream at 0x%llx is not guest memory",
                 (unsigned long long)s->cmd_gpa);
        return;
    }
    r = abi_stream_open(&stream, data, s->cmd_size, &e);
    while (!r && (r = abi_stream_next(&stream, &p, &e)) > 0) {
        r = 0;
        c->packets++;
        sim_memory_packet(&sim_of(m)->memory, m, s, &p, c);
        if (abi_class(p.opcode) == AEROGPU_CLASS_PRESENT) {
            c->flags |= ABI_COMPLETION_PRESENT;
            if (abi_packet_u32(&p, offsetof(struct aerogpu_cmd_present, flags)) & AEROGPU_PRESENT_FLAG_VSYNC)
                c->flags |= ABI_COMPLETION_VSYNC;
        }
        c->draws += abi_opcode_is_draw(p.opcode);
    }
    if (r < 0) {
        c->error = AEROGPU_ERROR_CMD_DECODE;
        snprintf(c->message, sizeof(c->message), "%.195s", e.text);
    }
}

static void start_work(struct machine *m);

/* Out of the list, which ends what was still to happen to it. */
static struct abi_submission take_job(struct job **at)
{
    struct job *job = *at;
    struct sim *s = job->m->kind;
    struct abi_submission sub = job->s;

    loop_cancel(s->loop, &job->timer);
    *at = job->next;
    s->count--;
    free(job);
    return sub;
}

/* Nothing is worked on; it begins again with start_work. */
static void pause_work(struct sim *s)
{
    for (struct job *j = s->jobs; j; j = j->next)
        loop_cancel(s->loop, &j->timer);
}

static void answer(void *ctx)
{
    struct delayed *d = ctx;
    struct machine *m = d->m;
    struct abi_completion c = d->c;

    free_delayed(d);
    gpu_complete(m->gpu, &c);
}

static void work_done(void *ctx)
{
    struct job *job = ctx, **at;
    struct machine *m = job->m;
    struct sim *s = m->kind;
    struct abi_completion c = {.id = job->s.id};
    struct delayed *late = NULL;

    examine(m, &job->s, &c);
    for (at = &s->jobs; *at != job; at = &(*at)->next)
        continue;
    take_job(at);
    if (chance(s, m->params.faults.late_answer))
        late = delay(m, between(s, 1, 30 * NSEC_PER_MSEC), answer);
    if (late) {
        s->stats.late_answers++;
        late->c = c;
    } else {
        gpu_complete(m->gpu, &c);
    }
    start_work(m);
}

static void restarted(void *ctx)
{
    struct machine *m = ctx;
    struct sim *s = m->kind;

    s->dead = false;
    s->stats.executor_starts++;
    start_work(m); /* what waits behind a full list comes as this completes */
}

static void die(struct machine *m)
{
    struct sim *s = m->kind;
    uint32_t n = 0;
    uint64_t ids[DEPTH];

    s->stats.executor_deaths++;
    s->dead = true;
    while (s->jobs) /* first: completing them brings new ones */
        ids[n++] = take_job(&s->jobs).id;
    sim_memory_forget(&s->memory);
    arm(m, &s->restart, between(s, NSEC_PER_MSEC, 50 * NSEC_PER_MSEC), restarted, m);
    for (uint32_t i = 0; i < n; i++) {
        struct abi_completion c = {.id = ids[i], .error = AEROGPU_ERROR_BACKEND};
        snprintf(c.message, sizeof(c.message), "the executor died");
        gpu_complete(m->gpu, &c);
    }
}

static void work_dies(void *ctx)
{
    die(((struct job *)ctx)->m);
}

static uint64_t time_of_packets(struct machine *m, const struct abi_submission *s)
{
    const void *data =
        m->params.exec_packet_ns && s->cmd_size ? machine_dma_map(m, s->cmd_gpa, s->cmd_size) : NULL;
    struct error e = {0};
    struct abi_stream stream;
    struct abi_packet p;
    uint64_t n = 0;

    if (!data || abi_stream_open(&stream, data, s->cmd_size, &e))
        return 0;
    while (abi_stream_next(&stream, &p, &e) > 0)
        n++;
    return n * m->params.exec_packet_ns;
}

/* Whether its executor has come to it: nothing is in front of it that it has to wait for. */
static bool is_next(const struct sim *s, const struct job *job)
{
    for (const struct job *j = s->jobs; j != job; j = j->next)
        if (j->s.client == job->s.client || abi_is_ordered(&j->s, &job->s))
            return false;
    return true;
}

static void start_job(struct machine *m, struct job *job)
{
    struct sim *s = m->kind;
    uint64_t min = m->params.exec_min_ns ? m->params.exec_min_ns : 20 * NSEC_PER_USEC;
    uint64_t max = m->params.exec_max_ns ? m->params.exec_max_ns : 4 * NSEC_PER_MSEC;

    if (chance(s, m->params.faults.hang)) {
        s->stats.hangs++;
        job->hung = true;
        return;
    }
    arm(m, &job->timer, between(s, min, max < min ? min : max) + time_of_packets(m, &job->s),
        chance(s, m->params.faults.death) ? work_dies : work_done, job);
}

static void start_work(struct machine *m)
{
    struct sim *s = m->kind;

    for (struct job *j = s->jobs; j && !s->dead && !s->stopped; j = j->next)
        if (!j->hung && !j->timer.slot && is_next(s, j))
            start_job(m, j);
}

static int submit(void *ctx, const struct abi_submission *sub)
{
    struct machine *m = ctx;
    struct sim *s = m->kind;

    struct job **at = &s->jobs, *job;

    sim_check(s);
    if (s->count == DEPTH)
        return -EAGAIN;
    job = calloc(1, sizeof(*job));
    if (!job)
        return -ENOMEM;
    job->m = m;
    job->s = *sub;
    while (*at)
        at = &(*at)->next;
    *at = job;
    s->count++;
    start_work(m);
    return 0;
}

static void reset(void *ctx)
{
    struct machine *m = ctx;
    struct sim *s = m->kind;

    /* Late answers stay on their way: a real executor may have written them already. */
    while (s->jobs)
        take_job(&s->jobs);
    if (s->stopped) { /* it does not answer the reset: a new one takes its place, and knows no resources */
        loop_cancel(s->loop, &s->resume);
        s->stopped = false;
        sim_memory_forget(&s->memory);
    }
    sim_check(s);
}

/* Of a client's own executor nothing is modelled but what it has under way. */
static bool end_work(struct machine *m, uint32_t client, bool hangs)
{
    struct sim *s = m->kind;
    uint64_t ids[DEPTH];
    uint32_t n = 0;

    for (struct job **at = &s->jobs; *at;)
        if (client && (*at)->s.client == client)
            ids[n++] = take_job(at).id;
        else
            at = &(*at)->next;
    for (uint32_t i = 0; i < n; i++) {
        struct abi_completion c = {.id = ids[i], .error = AEROGPU_ERROR_BACKEND};
        snprintf(c.message, sizeof(c.message), "the executor was killed");
        gpu_complete(m->gpu, &c);
    }
    start_work(m);
    gpu_backend_ready(m->gpu);
    return n > 0;
}

static int kill_executor(struct machine *m)
{
    struct sim *s = m->kind;

    if (s->dead)
        return -ESRCH;
    loop_cancel(s->loop, &s->resume);
    s->stopped = false;
    die(m);
    return 0;
}

static void resume(void *ctx)
{
    struct machine *m = ctx;

    loop_cancel(sim_of(m)->loop, &sim_of(m)->resume);
    sim_of(m)->stopped = false;
    start_work(m);
}

/* What it was working on begins again when it goes on: a model has no other half of the work. */
static int stop_executor(struct machine *m, uint64_t ns)
{
    struct sim *s = m->kind;

    if (!ns) {
        resume(m);
        return 0;
    }
    if (s->dead)
        return -ESRCH;
    pause_work(s);
    s->stopped = true;
    if (ns != UINT64_MAX)
        arm(m, &s->resume, ns, resume, m);
    return 0;
}

/* ---- the machine --------------------------------------------------------- */

static bool drop_write(struct machine *m, uint32_t reg)
{
    struct sim *s = m->kind;

    if (reg != AEROGPU_REG_DOORBELL || !chance(s, m->params.faults.lost_doorbell))
        return false;
    s->stats.lost_doorbells++;
    return true;
}

static int start(struct machine *m, struct error *e)
{
    struct sim *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return error_set(e, -ENOMEM, "no memory for a machine");
    m->kind = s;
    clock_init_virtual(&m->clock, NSEC_PER_SEC);
    s->rng.state = m->params.seed;
    s->stats.executor_starts = 1;
    r = loop_create(&s->loop, &m->clock);
    return r ? error_set(e, r, "event loop: %s", strerror(-r)) : 0;
}

static int run(struct machine *m, struct error *e)
{
    return 0; /* nothing runs by itself */
}

static void stop(struct machine *m)
{
}

static void free_sim(struct machine *m)
{
    struct sim *s = m->kind;

    while (s->delayed)
        free_delayed(s->delayed);
    while (s->jobs)
        take_job(&s->jobs);
    sim_memory_finish(&s->memory);
    loop_destroy(s->loop);
    free(s);
}

static int wait_ready(struct machine *m, int timeout_ms, struct error *e)
{
    return 0;
}

static int wait_done(struct machine *m, bool (*done)(void *ctx), void *ctx, uint64_t timeout_ns)
{
    struct sim *s = m->kind;
    uint64_t now = machine_now(m),
             end = timeout_ns > UINT64_MAX / 2 - now ? UINT64_MAX / 2 : now + timeout_ns;

    while (!done(ctx)) {
        sim_check(s);
        if (machine_now(m) >= end)
            return -ETIMEDOUT;
        loop_run_once(s->loop, end);
    }
    return 0;
}

static void sleep_ns(struct machine *m, uint64_t ns)
{
    uint64_t end = machine_now(m) + ns;

    while (machine_now(m) < end) {
        loop_run_once(sim_of(m)->loop, end);
        sim_check(sim_of(m));
    }
}

static void set_irq(struct machine *m, void (*irq)(void *ctx), void *ctx)
{
    struct sim *s = m->kind;

    m->params.irq = irq;
    m->params.irq_ctx = ctx;
    s->storm = 0; /* it is the one before that did not end it */
    if (irq && s->line && !s->intx.slot)
        arm(m, &s->intx, IRQ_NS, intx, m);
}

static void get_stats(struct machine *m, struct machine_stats *out)
{
    *out = sim_of(m)->stats;
}

static struct loop *get_loop(struct machine *m)
{
    return sim_of(m)->loop;
}

const struct machine_ops machine_sim_ops = {
    .start = start,
    .run = run,
    .stop = stop,
    .free = free_sim,
    .wait_ready = wait_ready,
    .drop_write = drop_write,
    .wait = wait_done,
    .sleep = sleep_ns,
    .set_irq = set_irq,
    .get_stats = get_stats,
    .loop = get_loop,
    .kill_executor = kill_executor,
    .stop_executor = stop_executor,
    .end_work = end_work,
    .host = &(const struct gpu_host_ops){machine_dma_map, raise_irq, arm_timer},
    .backend = &(const struct gpu_backend_ops){submit, reset},
};
