/* SPDX-License-Identifier: MIT */
#include "cpu/model/evidence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

#define RUN_UP UINT64_C(2000000000) /* before the window, to know every state at its begin */
#define TAIL   UINT64_C(1000000000) /* after it, to see who came back, and when */
#define STUCK  UINT64_C(10000000)
#define NEVER  CPU_NEVER

/* An idle period of a CPU has ended; NEVER = it had not at the end of the trace. */
static void idle_period(struct evidence *m, uint32_t cpu, uint64_t from, uint64_t to, uint64_t state)
{
    const struct cpu_window *w = m->w;
    struct cpu_seen *c = &m->cpu[cpu];
    const uint64_t a = from < w->submit_ns ? w->submit_ns : from, b = to > w->timeout_ns ? w->timeout_ns : to;

    if (c->blind)
        return;
    if (b > a && b - a > c->idle_ns) {
        c->idle_ns = b - a;
        c->idle_from = from;
        c->idle_to = to;
        c->idle_state = state;
    }
    if (w->due_ns > w->submit_ns && w->timeout_ns > w->due_ns + m->stuck_ns && from <= w->due_ns &&
        to >= w->timeout_ns)
        c->slept_over_due = true;
    if (w->completed_ns > w->submit_ns && w->timeout_ns > w->completed_ns + m->stuck_ns &&
        from <= w->completed_ns && to >= w->timeout_ns) {
        c->slept_over_completion = true;
        c->completion_state = state;
    }
    for (uint32_t i = 0; i < w->num_vblanks; i++) {
        const struct cpu_window_vblank *v = &w->vblanks[i];
        if (from <= v->due_ns && to > v->due_ns && (v->cpu < 0 || v->cpu == (int32_t)cpu) && v->cpu >= 0)
            m->vblank[i] = (struct cpu_vblank_seen){true, (uint16_t)cpu, state, to};
    }
}

static void on_event(struct evidence *m, const struct cpu_event *ev)
{
    const struct cpu_window *w = m->w;
    struct cpu_seen *c;

    if (ev->cpu >= m->t->num_cpus)
        return;
    c = &m->cpu[ev->cpu];
    if (!m->first_ns)
        m->first_ns = ev->ns;
    m->last_ns = ev->ns;
    if (ev->ns >= w->submit_ns && c->last_ns < w->timeout_ns) {
        const uint64_t from = c->last_ns < w->submit_ns ? w->submit_ns : c->last_ns;
        const uint64_t to = ev->ns > w->timeout_ns ? w->timeout_ns : ev->ns;
        if (to > from && to - from > c->gap_ns) {
            c->gap_ns = to - from;
            c->gap_at = from;
        }
    }
    c->last_ns = ev->ns;
    if (ev->kind == CPU_EV_IDLE) {
        if (c->idle)
            idle_period(m, ev->cpu, c->idle_since, ev->ns, c->state);
        c->idle = ev->a != CPU_IDLE_LEFT;
        c->idle_since = ev->ns;
        c->state = ev->a;
    } else if (ev->kind == CPU_EV_LOST && ev->ns >= w->submit_ns && ev->ns <= w->timeout_ns) {
        m->lost += ev->a;
        m->lost_uncounted |= ev->a == 0;
    }
    if (ev->kind == CPU_EV_FENCE_SIGNALED && CPU_FENCE(ev->c) != CPU_FENCE_OTHER &&
        ev->ns <= m->threads.executor.to_ns &&
        ev->ns >= m->threads.executor.from_ns + cpu_times_span(&m->threads.executor) / 2)
        m->fences_late++;
    cpu_threads_event(&m->threads, ev);
}

/* From the samples around it; each counts for its share of the span. */
double cpu_evidence_stolen(const struct evidence *m, uint32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
    const struct cpu_trace *t = m->t;
    const double tick = t->has_before ? 1e9 / t->before.ticks_per_second : 1e7;
    double sum = 0;

    for (uint32_t i = 1; i < t->num_samples; i++) {
        const struct cpu_sample *a = &t->samples[i - 1], *b = &t->samples[i];
        const uint64_t from = a->ns > from_ns ? a->ns : from_ns, to = b->ns < to_ns ? b->ns : to_ns;
        if (to > from && b->ns > a->ns && cpu < a->num_cpus && cpu < b->num_cpus &&
            b->steal_ticks[cpu] >= a->steal_ticks[cpu])
            sum += tick * (double)(b->steal_ticks[cpu] - a->steal_ticks[cpu]) * (double)(to - from) /
                   (double)(b->ns - a->ns);
    }
    return sum;
}

static void mark_chain(struct evidence *m)
{
    const struct cpu_window *w = m->w;

    for (uint32_t i = 0; i < w->num_threads; i++)
        if (w->threads[i].cpu >= 0 && (uint32_t)w->threads[i].cpu < m->t->num_cpus) {
            struct cpu_seen *c = &m->cpu[w->threads[i].cpu];
            c->in_chain = m->chain_named = true;
            c->takes_interrupt |= w->threads[i].role == CPU_ROLE_IRQ || w->threads[i].role == CPU_ROLE_DPC;
        }
    for (uint32_t i = 0; i < m->threads.num; i++)
        for (uint32_t cpu = 0; cpu < m->t->num_cpus; cpu++)
            if (m->threads.list[i].role != CPU_ROLE_HOLDER &&
                m->threads.list[i].cpus[cpu / 64] >> (cpu % 64) & 1) {
                m->cpu[cpu].in_chain = m->chain_named = true;
                m->cpu[cpu].ran_executor |= m->threads.list[i].role == CPU_ROLE_EXECUTOR;
                m->cpu[cpu].ran_others |= m->threads.list[i].role != CPU_ROLE_EXECUTOR;
            }
    for (uint32_t cpu = 0; cpu < m->t->num_cpus; cpu++) {
        m->cpu[cpu].ran_others |= m->cpu[cpu].takes_interrupt || !m->chain_named;
        m->cpu[cpu].in_chain |= !m->chain_named || w->partial;
    }
}

static int read_window(struct evidence *m, struct error *e)
{
    const struct cpu_window *w = m->w;
    const uint64_t from = w->submit_ns > RUN_UP ? w->submit_ns - RUN_UP : 0, to = w->timeout_ns + TAIL;
    const struct cpu_event *ev;
    struct cpu_source *source;
    int n, r = cpu_trace_rewind(m->t, from, to, &source, e);

    if (r)
        return r;
    while ((n = source->next(source, &ev)) > 0 && ev->ns <= to) {
        cpu_analysis_events(&m->a, ev, n);
        for (int i = 0; i < n; i++)
            on_event(m, &ev[i]);
    }
    cpu_analysis_end(&m->a);
    cpu_threads_end(&m->threads);
    for (uint32_t i = 0; i < m->t->num_cpus; i++) {
        struct cpu_seen *c = &m->cpu[i];
        const uint64_t since = c->last_ns < w->submit_ns ? w->submit_ns : c->last_ns;
        if (c->idle)
            idle_period(m, i, c->idle_since, NEVER, c->state);
        if (since < w->timeout_ns && w->timeout_ns - since > c->gap_ns) {
            c->gap_ns = w->timeout_ns - since;
            c->gap_at = since;
        }
    }
    return 0;
}

/* ---- what was waited for ------------------------------------------------------ */

/* `tid` 0: any thread of the executor. */
static bool is_meant(const struct evidence *m, int32_t tid, int32_t wanted)
{
    if (wanted)
        return tid == wanted;
    for (uint32_t i = 0; i < m->w->num_threads; i++)
        if (m->w->threads[i].tid == tid && m->w->threads[i].role == CPU_ROLE_EXECUTOR)
            return true;
    return false;
}

/* One look: the strongest reason that one of the executor's threads has. Idle helpers of it wait for input. */
static void look(const struct evidence *m, const struct cpu_sample *s, int32_t tid,
                 struct cpu_waits_seen *out)
{
    static const uint8_t order[] = {CPU_WAIT_DEVICE, CPU_WAIT_FROZEN, CPU_WAIT_IO,   CPU_WAIT_LOCK,
                                    CPU_WAIT_PEER,   CPU_WAIT_FENCE,  CPU_WAIT_OTHER};
    const struct cpu_task_wait *found[CPU_WAIT_KINDS] = {NULL};

    for (uint32_t i = 0; i < s->num_waits; i++)
        if (is_meant(m, s->waits[i].tid, tid))
            found[s->waits[i].kind] = &s->waits[i];
    for (size_t i = 0; i < sizeof(order); i++) {
        if (!found[order[i]])
            continue;
        out->looks++;
        out->times[order[i]]++;
        if (!out->example[order[i]].holder) /* one that names the holder says more */
            out->example[order[i]] = *found[order[i]];
        return;
    }
}

void cpu_evidence_waits(const struct evidence *m, int32_t tid, uint64_t from, uint64_t to,
                        struct cpu_waits_seen *out)
{
    memset(out, 0, sizeof(*out));
    for (uint32_t i = 0; i < m->t->num_samples; i++)
        if (m->t->samples[i].ns >= from && m->t->samples[i].until_ns <= to)
            look(m, &m->t->samples[i], tid, out);
}

/* Before the events are read: who holds what is watched like those that wait. */
static void look_all(struct evidence *m)
{
    const struct cpu_times *span = &m->threads.executor;
    const struct cpu_trace *t = m->t;

    cpu_evidence_waits(m, 0, span->from_ns, span->to_ns, &m->waits);
    for (int i = 0; i < CPU_WAIT_KINDS; i++)
        if (m->waits.example[i].holder)
            cpu_threads_add_holder(&m->threads, m->waits.example[i].holder);
    /* the holder waits, too: for whom? two steps show a circle */
    for (uint32_t i = 0; i < m->threads.num; i++) {
        const struct cpu_task_wait *x =
            cpu_evidence_wait_of(m, m->threads.list[i].tid, span->from_ns, span->to_ns);
        if (m->threads.list[i].role == CPU_ROLE_HOLDER && x && x->holder)
            cpu_threads_add_holder(&m->threads, x->holder);
    }
    for (uint32_t i = 1; i < t->num_samples; i++) {
        const struct cpu_sample *a = &t->samples[i - 1], *b = &t->samples[i];
        const uint64_t from = a->ns > span->from_ns ? a->ns : span->from_ns,
                       to = b->ns < span->to_ns ? b->ns : span->to_ns;
        if (to > from && a->has_pressure && b->has_pressure && b->memory_us >= a->memory_us)
            m->memory_ns += (uint64_t)((double)(b->memory_us - a->memory_us) * 1e3 * (double)(to - from) /
                                       (double)(b->ns - a->ns));
    }
}

const struct cpu_task_wait *cpu_evidence_wait_of(const struct evidence *m, int32_t tid, uint64_t from,
                                                 uint64_t to)
{
    const struct cpu_task_wait *found = NULL;

    for (uint32_t i = 0; i < m->t->num_samples; i++) {
        const struct cpu_sample *s = &m->t->samples[i];
        for (uint32_t k = 0; k < s->num_waits && s->ns >= from && s->ns <= to; k++)
            if (s->waits[k].tid == tid)
                found = &s->waits[k];
    }
    return found;
}

/* What has been gathered holds together. */
static void evidence_check(const struct evidence *m)
{
    uint32_t looks = 0;

    INVARIANT(m->w->submit_ns < m->w->timeout_ns);
    INVARIANT(m->threads.executor.from_ns == m->w->submit_ns &&
              m->threads.executor.to_ns <= m->w->timeout_ns);
    INVARIANT(m->threads.num <= CPU_WINDOW_THREADS && m->threads.num_executors <= m->threads.num);
    for (int i = 0; i < CPU_WAIT_KINDS; i++)
        looks += m->waits.times[i];
    INVARIANT(looks == m->waits.looks);
    for (uint32_t i = 0; i < m->t->num_cpus; i++) {
        INVARIANT(m->cpu[i].gap_ns <= m->wait_ns);
        INVARIANT(!m->cpu[i].blind || !m->cpu[i].idle_ns); /* of a blind CPU no idle state is evidence */
        INVARIANT(!m->cpu[i].ran_executor || m->cpu[i].in_chain);
    }
}

int cpu_evidence_gather(struct evidence *m, struct cpu_trace *t, const struct cpu_window *w,
                        uint64_t stuck_ns, struct error *e)
{
    const struct cpu_analysis_params params = {
        .num_cpus = t->num_cpus,
        .coverage = t->has_coverage ? &t->coverage : NULL,
        .snapshot = t->has_before ? &t->before : NULL,
        .from_ns = w->submit_ns,
        .to_ns = w->timeout_ns,
        .stuck_ns = stuck_ns ? stuck_ns : STUCK,
        .is_windows = t->is_windows,
    };
    int r;

    *m = (struct evidence){
        .t = t, .w = w, .wait_ns = w->timeout_ns - w->submit_ns, .stuck_ns = params.stuck_ns};
    m->cpu = calloc(t->num_cpus + 1, sizeof(*m->cpu));
    r = m->cpu ? cpu_threads_init(&m->threads, w, t->num_cpus, params.coverage) : -ENOMEM;
    if (!r)
        r = cpu_analysis_init(&m->a, &params);
    if (r)
        return error_set(e, r, "no memory for the window");
    for (uint32_t i = 0; i < t->num_cpus; i++)
        m->cpu[i].blind = t->has_coverage && cpu_coverage_is_blind(&t->coverage, i);
    look_all(m);
    r = read_window(m, e);
    if (!r && m->threads.executor.ns[CPU_THREAD_DEAD])
        r = cpu_process_fate(&m->fate, t, w, m->threads.executor.to_ns, e);
    if (r)
        return r;
    mark_chain(m);
    for (uint32_t i = 0; i < t->num_cpus; i++)
        m->cpu[i].stolen_ns = cpu_evidence_stolen(m, i, w->submit_ns, w->timeout_ns);
    evidence_check(m);
    return 0;
}

void cpu_evidence_finish(struct evidence *m)
{
    cpu_analysis_finish(&m->a);
    cpu_threads_finish(&m->threads);
    free(m->cpu);
}
