#include "cpu/model/verdict.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/model/family.h"
#include "cpu/model/threads.h"

#define RUN_UP UINT64_C(2000000000) /* before the window, to know every state at its begin */
#define TAIL   UINT64_C(1000000000) /* after it, to see who came back, and when */
#define STUCK  UINT64_C(10000000)
#define SLACK  UINT64_C(20000000)  /* between the window's borders and the trace's */
#define LIFE   UINT64_C(150000000) /* a CPU that shows nothing for so long is not known to be awake */
#define NEVER  UINT64_MAX

/* What one CPU did in the window. */
struct vcpu {
    bool in_chain, takes_interrupt, blind;
    uint64_t last_ns, gap_ns, gap_at;
    bool idle;
    uint64_t idle_since, state;
    uint64_t idle_ns, idle_from, idle_to, idle_state; /* the longest period; idle_to NEVER = it did not end */
    bool slept_over_due, slept_over_completion;
    uint64_t completion_state;
    double stolen_ns;
};

/* Which idle period covers the time at which a vblank was due. */
struct vvblank {
    bool idle;
    uint16_t cpu;
    uint64_t state, left_ns;
};

struct maker {
    struct cpu_verdict *v;
    struct cpu_trace *t;
    const struct cpu_window *w;
    uint64_t wait_ns, stuck_ns;
    struct cpu_analysis a;
    struct cpu_threads threads;
    struct vcpu *cpu;
    struct vvblank vblank[CPU_WINDOW_VBLANKS];
    uint64_t first_ns, last_ns, lost;
    bool lost_uncounted, chain_named;
};

static const char *const names[CPU_VERDICT_COUNT] = {
#define NAME(name, text) [CPU_VERDICT_##name] = text,
    CPU_VERDICTS(NAME)
#undef NAME
};

const char *cpu_verdict_name(enum cpu_verdict_kind kind)
{
    return (unsigned)kind < CPU_VERDICT_COUNT ? names[kind] : "?";
}

static void say(struct cpu_verdict *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct cpu_verdict *v, const char *fmt, ...)
{
    va_list ap;

    if (v->num_lines == CPU_EVIDENCE)
        return;
    va_start(ap, fmt);
    vsnprintf(v->lines[v->num_lines++], sizeof(v->lines[0]), fmt, ap);
    va_end(ap);
}

static bool decide(struct maker *m, enum cpu_verdict_kind kind, const char *reason)
{
    m->v->kind = kind;
    snprintf(m->v->reason, sizeof(m->v->reason), "%s", reason);
    return true;
}

/* Milliseconds after the submission; the evidence speaks in these. */
static double rel(const struct maker *m, uint64_t t)
{
    return (double)(int64_t)(t - m->w->submit_ns) / 1e6;
}

static double part(const struct maker *m, uint64_t v)
{
    return 100.0 * (double)v / (double)m->wait_ns;
}

/* An idle period of a CPU has ended; NEVER = it had not at the end of the trace. */
static void idle_period(struct maker *m, uint32_t cpu, uint64_t from, uint64_t to, uint64_t state)
{
    const struct cpu_window *w = m->w;
    struct vcpu *c = &m->cpu[cpu];
    const uint64_t a = from < w->submit_ns ? w->submit_ns : from, b = to > w->timeout_ns ? w->timeout_ns : to;

    if (c->blind)
        return;
    if (b > a && b - a > c->idle_ns) {
        c->idle_ns = b - a;
        c->idle_from = from;
        c->idle_to = to;
        c->idle_state = state;
    }
    if (w->due_ns && w->timeout_ns > w->due_ns + m->stuck_ns && from <= w->due_ns && to >= w->timeout_ns)
        c->slept_over_due = true;
    if (w->completed_ns && w->timeout_ns > w->completed_ns + m->stuck_ns && from <= w->completed_ns &&
        to >= w->timeout_ns) {
        c->slept_over_completion = true;
        c->completion_state = state;
    }
    for (uint32_t i = 0; i < w->num_vblanks; i++) {
        const struct cpu_window_vblank *v = &w->vblanks[i];
        if (from <= v->due_ns && to > v->due_ns && (v->cpu < 0 || v->cpu == (int32_t)cpu) && v->cpu >= 0)
            m->vblank[i] = (struct vvblank){true, (uint16_t)cpu, state, to};
    }
}

static void on_event(struct maker *m, const struct cpu_event *ev)
{
    const struct cpu_window *w = m->w;
    struct vcpu *c;

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
    cpu_threads_event(&m->threads, ev);
}

/* How much the host took from a CPU in the window, from the samples around it; each counts for its share of
 * the window. */
static double stolen(const struct maker *m, uint32_t cpu)
{
    const struct cpu_trace *t = m->t;
    const double tick = t->has_before ? 1e9 / t->before.ticks_per_second : 1e7;
    double sum = 0;

    for (uint32_t i = 1; i < t->num_samples; i++) {
        const struct cpu_sample *a = &t->samples[i - 1], *b = &t->samples[i];
        const uint64_t from = a->ns > m->w->submit_ns ? a->ns : m->w->submit_ns;
        const uint64_t to = b->ns < m->w->timeout_ns ? b->ns : m->w->timeout_ns;
        if (to > from && b->ns > a->ns && cpu < a->num_cpus && cpu < b->num_cpus &&
            b->steal_ticks[cpu] >= a->steal_ticks[cpu])
            sum += tick * (double)(b->steal_ticks[cpu] - a->steal_ticks[cpu]) * (double)(to - from) /
                   (double)(b->ns - a->ns);
    }
    return sum;
}

static void mark_chain(struct maker *m)
{
    const struct cpu_window *w = m->w;

    for (uint32_t i = 0; i < w->num_threads; i++)
        if (w->threads[i].cpu >= 0 && (uint32_t)w->threads[i].cpu < m->t->num_cpus) {
            struct vcpu *c = &m->cpu[w->threads[i].cpu];
            c->in_chain = m->chain_named = true;
            c->takes_interrupt |= w->threads[i].role == CPU_ROLE_IRQ || w->threads[i].role == CPU_ROLE_DPC;
        }
    for (uint32_t i = 0; i < m->threads.num; i++)
        for (uint32_t cpu = 0; cpu < m->t->num_cpus; cpu++)
            if (m->threads.list[i].cpus[cpu / 64] >> (cpu % 64) & 1)
                m->cpu[cpu].in_chain = m->chain_named = true;
    for (uint32_t cpu = 0; cpu < m->t->num_cpus; cpu++)
        m->cpu[cpu].in_chain |= !m->chain_named || w->partial;
}

static bool host_stole(struct maker *m)
{
    bool found = false;

    for (uint32_t i = 0; i < m->t->num_cpus; i++) {
        struct vcpu *c = &m->cpu[i];
        c->stolen_ns = stolen(m, i);
        if (!c->in_chain || c->stolen_ns < 0.4 * (double)m->wait_ns)
            continue;
        found = true;
        say(m->v,
            "the host took CPU %u away for %s of the %s of the wait (%.0f%%, by the kernel's steal time)", i,
            cpu_ns((uint64_t)c->stolen_ns), cpu_ns(m->wait_ns), part(m, (uint64_t)c->stolen_ns));
    }
    return found && decide(m, CPU_VERDICT_HOST_STOLE_TIME, "steal time");
}

/* An answer that the trace would not show cannot be missed. */
static bool answers_show(const struct maker *m, uint32_t target)
{
    const struct cpu_coverage *cov = &m->t->coverage;

    return !m->t->has_coverage || target >= cov->num_cpus ||
           (!cov->cpus[target].irq_blind[CPU_COUNTER_RES] && !cov->cpus[target].irq_blind[CPU_COUNTER_CAL]);
}

static bool stalls(const struct maker *m, const struct cpu_wait *x, uint64_t limit)
{
    return x->waited_ns >= limit && (m->cpu[x->sender].in_chain || m->cpu[x->target].in_chain) &&
           answers_show(m, x->target);
}

static void say_wait(struct maker *m, const struct cpu_wait *x)
{
    char site[48], state[32];

    say(m->v, "CPU %u asked CPU %u at %+.3f ms and %s for %s%s%s%s%s", x->sender, x->target,
        rel(m, x->sent_ns), x->answered ? "waited" : "had no answer", cpu_ns(x->waited_ns),
        x->target_idle ? "; the target was idle in " : "",
        x->target_idle ? cpu_trace_state(m->t, x->target, x->target_state, state, sizeof(state)) : "",
        x->site ? ", from " : "", x->site ? cpu_trace_symbol(m->t, x->site, site, sizeof(site)) : "");
}

/* The CPUs that did not answer `sender`; returns how many. */
static uint32_t silent_to(const struct maker *m, uint32_t sender, uint64_t limit,
                          uint64_t mask[CPU_MASK_WORDS])
{
    const struct cpu_worst *u = &m->a.unanswered;
    uint32_t n = 0;

    memset(mask, 0, CPU_MASK_WORDS * sizeof(mask[0]));
    for (uint32_t i = 0; i < u->num; i++) {
        const uint16_t t = u->list[i].target;
        if (u->list[i].sender != sender || !stalls(m, &u->list[i], limit))
            continue;
        n += !(mask[t / 64] >> (t % 64) & 1);
        mask[t / 64] |= UINT64_C(1) << (t % 64);
    }
    return n;
}

/* Of the one that waits for the most: "CPU 10 waited for 20 CPUs that did not answer: 0-1,4-9,12-23" */
static void say_silent(struct maker *m, uint64_t limit)
{
    uint64_t mask[CPU_MASK_WORDS];
    uint32_t most = 1, who = 0;
    char text[128];

    for (uint32_t sender = 0; sender < m->t->num_cpus; sender++) {
        const uint32_t n = silent_to(m, sender, limit, mask);
        who = n > most ? sender : who;
        most = n > most ? n : most;
    }
    if (most > 1) {
        silent_to(m, who, limit, mask);
        say(m->v, "CPU %u waited for %u CPUs that did not answer: %s", who, most,
            cpu_mask_text(mask, m->t->num_cpus, text, sizeof(text)));
    }
}

static bool ipi_stall(struct maker *m)
{
    const uint64_t limit = m->wait_ns / 4 > m->stuck_ns ? m->wait_ns / 4 : m->stuck_ns;
    const struct cpu_worst *lists[2] = {&m->a.unanswered, &m->a.slowest};
    uint32_t stalled = 0;

    say_silent(m, limit);
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < lists[k]->num; i++)
            if (stalls(m, &lists[k]->list[i], limit) && ++stalled <= 4)
                say_wait(m, &lists[k]->list[i]);
    if (!stalled)
        return false;
    if (stalled > 4)
        say(m->v, "and %u more such waits", stalled - 4);
    if (m->a.ipi_unanswered > m->a.unanswered.num)
        say(m->v, "%llu IPIs in all were not answered in the window",
            (unsigned long long)m->a.ipi_unanswered);
    for (uint32_t i = 0; i < m->a.num_incidents && i < CPU_INCIDENTS; i++) {
        const struct cpu_incident *n = &m->a.incidents[i];
        say(m->v, "all CPUs but CPU %u (%u of them) went idle within %s at %+.3f ms%s", n->awake, n->silent,
            cpu_ns(n->spread_ns), rel(m, n->from_ns), n->at_end ? ", and none came back in the window" : "");
    }
    return decide(m, CPU_VERDICT_IPI_STALL, "an IPI was not answered");
}

static void say_hogs(struct maker *m, const struct cpu_thread *th)
{
    for (int i = 0; i < CPU_HOGS; i++)
        if (th->hogs[i].tid > 0 && th->hogs[i].ns * 10 >= m->wait_ns)
            say(m->v, "meanwhile %s/%d ran on CPU %d for %s of it", cpu_trace_thread(m->t, th->hogs[i].tid),
                th->hogs[i].tid, th->cpu, cpu_ns(th->hogs[i].ns));
}

static bool starved_thread(struct maker *m, const struct cpu_thread *th)
{
    const uint64_t stopped = th->ns[CPU_THREAD_STOPPED], runnable = th->ns[CPU_THREAD_RUNNABLE];
    const uint64_t held = stopped + runnable;
    const bool long_stop = th->longest[CPU_THREAD_STOPPED] * 10 >= m->wait_ns * 4;
    const bool long_wait = th->longest[CPU_THREAD_RUNNABLE] * 10 >= m->wait_ns * 4;
    const char *reason;

    if (!(held * 10 >= m->wait_ns * 6 || long_stop || long_wait))
        return false;
    say(m->v, "%s thread %s/%d ran for %s of the %s of the wait", cpu_role_name(th->role),
        cpu_trace_thread(m->t, th->tid), th->tid, cpu_ns(th->ns[CPU_THREAD_RUNNING]), cpu_ns(m->wait_ns));
    if (stopped >= runnable) {
        say(m->v,
            "it was stopped by a signal for %s (%.0f%% of the wait), in %u stops, the longest %s at %+.3f ms",
            cpu_ns(stopped), part(m, stopped), th->stops, cpu_ns(th->longest[CPU_THREAD_STOPPED]),
            rel(m, th->longest_at[CPU_THREAD_STOPPED]));
        reason = th->stops >= 3 ? "throttled by stop signals" : "stopped by a signal";
    } else {
        say(m->v, "it could run and did not for %s (%.0f%% of the wait), the longest %s at %+.3f ms",
            cpu_ns(runnable), part(m, runnable), cpu_ns(th->longest[CPU_THREAD_RUNNABLE]),
            rel(m, th->longest_at[CPU_THREAD_RUNNABLE]));
        say_hogs(m, th);
        reason = th->nobody_ns * 2 > runnable ? "throttled while its CPU was idle" : "preempted";
    }
    return decide(m, CPU_VERDICT_CPU_STARVED, reason);
}

static bool starved(struct maker *m)
{
    for (uint32_t i = 0; i < m->threads.num; i++)
        if (starved_thread(m, &m->threads.list[i]))
            return true;
    return false;
}

static bool asleep(struct maker *m)
{
    const char *reason = NULL;
    char state[32];

    for (uint32_t i = 0; i < m->a.num_late_timers; i++) {
        const struct cpu_late_timer *x = &m->a.late_timers[i];
        if (x->was_idle && m->cpu[x->cpu].in_chain && x->late_ns >= m->stuck_ns &&
            x->late_ns * 4 >= m->wait_ns) {
            say(m->v, "a timer of CPU %u was due at %+.3f ms and fired %s late: the CPU was idle in %s",
                x->cpu, rel(m, x->due_ns), cpu_ns(x->late_ns),
                cpu_trace_state(m->t, x->cpu, x->state, state, sizeof(state)));
            reason = "a timer did not wake the CPU";
        }
    }
    for (uint32_t i = 0; i < m->t->num_cpus; i++) {
        const struct vcpu *c = &m->cpu[i];
        const bool late_back = c->idle_to == NEVER || c->idle_to >= m->w->timeout_ns;
        if (!c->in_chain || c->blind)
            continue;
        if (c->slept_over_due) {
            say(m->v, "the time-out was due at %+.3f ms and detected %s later; CPU %u slept over it in %s",
                rel(m, m->w->due_ns), cpu_ns(m->w->timeout_ns - m->w->due_ns), i,
                cpu_trace_state(m->t, i, (uint32_t)c->idle_state, state, sizeof(state)));
            reason = reason ? reason : "it slept over the time-out";
        }
        if (c->slept_over_completion) {
            say(m->v,
                "the work was done at %+.3f ms; CPU %u was idle in %s from before that until after the "
                "time-out",
                rel(m, m->w->completed_ns), i,
                cpu_trace_state(m->t, i, (uint32_t)c->completion_state, state, sizeof(state)));
            reason = reason ? reason : "it slept over the completion";
        }
        if (c->takes_interrupt && late_back && c->idle_ns * 10 >= m->wait_ns * 9) {
            say(m->v,
                "CPU %u, which takes the GPU's interrupt, was idle in %s for %s of the %s of the wait, and "
                "%s",
                i, cpu_trace_state(m->t, i, (uint32_t)c->idle_state, state, sizeof(state)),
                cpu_ns(c->idle_ns), cpu_ns(m->wait_ns),
                c->idle_to == NEVER ? "had not come back at the end of the trace"
                                    : "came back after the time-out only");
            reason = reason ? reason : "the interrupt's CPU slept all the time";
        }
    }
    return reason && decide(m, CPU_VERDICT_CPU_ASLEEP, reason);
}

/* What forbids to say GPU-HUNG. */
static bool cannot_tell(struct maker *m)
{
    const struct cpu_window *w = m->w;
    const struct cpu_coverage *cov = &m->t->coverage;

    if (!m->first_ns || m->first_ns > w->submit_ns + SLACK || m->last_ns + SLACK < w->timeout_ns) {
        say(m->v, "the trace does not cover the wait: it has events from %+.3f to %+.3f ms of 0 to %.3f ms",
            m->first_ns ? rel(m, m->first_ns) : 0, m->first_ns ? rel(m, m->last_ns) : 0,
            (double)m->wait_ns / 1e6);
        return decide(m, CPU_VERDICT_UNKNOWN, "the trace does not cover the wait");
    }
    for (uint32_t i = 0; i < m->t->num_cpus; i++)
        if (m->cpu[i].in_chain && m->cpu[i].blind) {
            say(m->v,
                "CPU %u is part of the chain and the trace is blind on it: %llu of its %llu idle entries are "
                "missing",
                i, (unsigned long long)(cov->cpus[i].expected - cov->cpus[i].recorded),
                (unsigned long long)cov->cpus[i].expected);
            return decide(m, CPU_VERDICT_UNKNOWN, "the trace is blind on a CPU of the chain");
        }
    if (!m->t->has_coverage) {
        say(m->v,
            "the recording has no counters to check its idle trace against; a blind CPU cannot be excluded");
        return decide(m, CPU_VERDICT_UNKNOWN, "the trace cannot be checked");
    }
    if (m->lost || m->lost_uncounted || m->t->overrun) {
        say(m->v, "events were lost: %llu in the window, %llu in the recording", (unsigned long long)m->lost,
            (unsigned long long)m->t->overrun);
        return decide(m, CPU_VERDICT_UNKNOWN, "events were lost");
    }
    if (!m->threads.switches) {
        say(m->v,
            "thread switches were not recorded (record with --sched): a starved thread cannot be excluded");
        return decide(m, CPU_VERDICT_UNKNOWN, "no thread switches");
    }
    if (w->partial) {
        say(m->v,
            "the dump does not name the executor's threads: whether they could run is not known; a window "
            "with them as threads can say");
        return decide(m, CPU_VERDICT_UNKNOWN, "the threads of the chain are not all known");
    }
    if (w->completed_ns && w->completed_ns < w->timeout_ns) {
        say(m->v,
            "the work was done at %+.3f ms, before the time-out; the trace does not show what held the news "
            "up",
            rel(m, w->completed_ns));
        return decide(m, CPU_VERDICT_UNKNOWN, "the GPU was not hung");
    }
    return false;
}

static bool no_life(struct maker *m)
{
    const uint64_t limit = m->wait_ns / 2 > LIFE ? m->wait_ns / 2 : LIFE;

    for (uint32_t i = 0; i < m->threads.num; i++) {
        const struct cpu_thread *th = &m->threads.list[i];
        if (th->ns[CPU_THREAD_UNKNOWN] * 2 > m->wait_ns) {
            say(m->v, "the state of %s thread %d is not known for %s of the %s of the wait",
                cpu_role_name(th->role), th->tid, cpu_ns(th->ns[CPU_THREAD_UNKNOWN]), cpu_ns(m->wait_ns));
            return decide(m, CPU_VERDICT_UNKNOWN, "a thread of the chain was not seen");
        }
    }
    for (uint32_t i = 0; i < m->t->num_cpus; i++)
        if (m->cpu[i].in_chain && m->cpu[i].gap_ns > limit) {
            say(m->v, "CPU %u showed no event for %s at %+.3f ms: it may not have been able to run", i,
                cpu_ns(m->cpu[i].gap_ns), rel(m, m->cpu[i].gap_at));
            return decide(m, CPU_VERDICT_UNKNOWN, "a CPU of the chain showed no life");
        }
    return false;
}

static void gpu_hung(struct maker *m)
{
    uint64_t irqs = 0;

    for (uint32_t i = 0; i < m->t->num_cpus; i++) {
        const struct vcpu *c = &m->cpu[i];
        if (!c->in_chain)
            continue;
        for (int k = 0; k < CPU_IRQ_COUNT; k++)
            irqs += m->a.cpu[i].irqs[k];
        say(m->v,
            "CPU %u of the chain was never silent for more than %s; longest idle period %s; the host took %s",
            i, cpu_ns(c->gap_ns), cpu_ns(c->idle_ns), cpu_ns((uint64_t)c->stolen_ns));
    }
    for (uint32_t i = 0; i < m->threads.num; i++) {
        const struct cpu_thread *th = &m->threads.list[i];
        say(m->v, "%s thread %s/%d: ran %s, waited for a CPU %s, stopped %s, slept %s",
            cpu_role_name(th->role), cpu_trace_thread(m->t, th->tid), th->tid,
            cpu_ns(th->ns[CPU_THREAD_RUNNING]), cpu_ns(th->ns[CPU_THREAD_RUNNABLE]),
            cpu_ns(th->ns[CPU_THREAD_STOPPED]), cpu_ns(th->ns[CPU_THREAD_ASLEEP]));
    }
    say(m->v, "no IPI waited for %s or longer; %llu interrupts were handled; %llu fences were signalled",
        cpu_ns(m->stuck_ns), (unsigned long long)irqs, (unsigned long long)m->a.fences_signaled);
    decide(m, CPU_VERDICT_GPU_HUNG, "the processors were there, the GPU was not");
}

static void explain_vblank(struct maker *m, uint32_t i)
{
    const struct cpu_window_vblank *x = &m->w->vblanks[i];
    const struct vvblank *p = &m->vblank[i];
    const uint64_t late = x->actual_ns - x->due_ns;
    char *out = m->v->vblanks[m->v->num_vblanks++], state[32];

    for (uint32_t k = 0; k < m->a.num_late_timers; k++) {
        const struct cpu_late_timer *t = &m->a.late_timers[k];
        if (t->due_ns + 1000000 < x->due_ns || t->due_ns > x->actual_ns ||
            (x->cpu >= 0 && x->cpu != t->cpu) || t->late_ns * 2 < late)
            continue;
        snprintf(out, sizeof(m->v->vblanks[0]),
                 "vblank due at %+.3f ms came %s late: timer on CPU %u fired %s late%s%s%s",
                 rel(m, x->due_ns), cpu_ns(late), t->cpu, cpu_ns(t->late_ns), t->was_idle ? ": " : "",
                 t->was_idle ? cpu_trace_state(m->t, t->cpu, t->state, state, sizeof(state)) : "",
                 t->was_idle ? " exit" : "");
        return;
    }
    if (p->idle && p->left_ns != NEVER && (p->left_ns - x->due_ns) * 2 >= late &&
        p->left_ns <= x->actual_ns) {
        snprintf(out, sizeof(m->v->vblanks[0]),
                 "vblank due at %+.3f ms came %s late: CPU %u left %s only %s after it was due",
                 rel(m, x->due_ns), cpu_ns(late), p->cpu,
                 cpu_trace_state(m->t, p->cpu, (uint32_t)p->state, state, sizeof(state)),
                 cpu_ns(p->left_ns - x->due_ns));
        return;
    }
    for (uint32_t k = 0; k < m->threads.num; k++) {
        const struct cpu_thread *th = &m->threads.list[k];
        if (th->tid != x->tid || th->longest[CPU_THREAD_RUNNABLE] * 2 < late ||
            th->longest_at[CPU_THREAD_RUNNABLE] > x->actual_ns ||
            th->longest_at[CPU_THREAD_RUNNABLE] + th->longest[CPU_THREAD_RUNNABLE] < x->due_ns)
            continue;
        snprintf(out, sizeof(m->v->vblanks[0]),
                 "vblank due at %+.3f ms came %s late: thread %d could run and waited %s for CPU %d",
                 rel(m, x->due_ns), cpu_ns(late), th->tid, cpu_ns(th->longest[CPU_THREAD_RUNNABLE]), th->cpu);
        return;
    }
    snprintf(out, sizeof(m->v->vblanks[0]),
             "vblank due at %+.3f ms came %s late: not explained by this trace", rel(m, x->due_ns),
             cpu_ns(late));
}

static int read_window(struct maker *m, struct error *e)
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
        struct vcpu *c = &m->cpu[i];
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

static int judge(struct cpu_verdict *v, struct cpu_trace *t, const struct cpu_window *w, uint64_t stuck_ns,
                 struct error *e)
{
    struct maker m = {.v = v,
                      .t = t,
                      .w = w,
                      .wait_ns = w->timeout_ns - w->submit_ns,
                      .stuck_ns = stuck_ns ? stuck_ns : STUCK};
    const struct cpu_analysis_params params = {
        .num_cpus = t->num_cpus,
        .coverage = t->has_coverage ? &t->coverage : NULL,
        .snapshot = t->has_before ? &t->before : NULL,
        .from_ns = w->submit_ns,
        .to_ns = w->timeout_ns,
        .stuck_ns = m.stuck_ns,
        .is_windows = t->is_windows,
    };
    int r;

    *v = (struct cpu_verdict){.submit_ns = w->submit_ns, .timeout_ns = w->timeout_ns};
    m.cpu = calloc(t->num_cpus + 1, sizeof(*m.cpu));
    r = m.cpu ? cpu_threads_init(&m.threads, w, t->num_cpus, params.coverage) : -ENOMEM;
    if (!r)
        r = cpu_analysis_init(&m.a, &params);
    if (r) {
        error_set(e, r, "no memory for the window");
        goto out;
    }
    for (uint32_t i = 0; i < t->num_cpus; i++)
        m.cpu[i].blind = t->has_coverage && cpu_coverage_is_blind(&t->coverage, i);
    r = read_window(&m, e);
    if (r)
        goto out;
    mark_chain(&m);
    if (!host_stole(&m) && !ipi_stall(&m) && !starved(&m) && !asleep(&m) && !cannot_tell(&m) && !no_life(&m))
        gpu_hung(&m);
    for (uint32_t i = 0; i < w->num_vblanks; i++)
        explain_vblank(&m, i);
out:
    cpu_analysis_finish(&m.a);
    cpu_threads_finish(&m.threads);
    free(m.cpu);
    return r;
}

int cpu_verdict_make(struct cpu_verdict *v, struct cpu_trace *t, const struct cpu_window *w,
                     uint64_t stuck_ns, struct error *e)
{
    struct cpu_window whole = *w;
    int r = w->partial ? cpu_family_complete(&whole, t, e) : 0;

    return r ? r : judge(v, t, &whole, stuck_ns, e);
}

void cpu_verdict_text(const struct cpu_verdict *v, struct strbuf *o)
{
    strbuf_printf(o, "VERDICT   %s: %s\n", cpu_verdict_name(v->kind), v->reason);
    strbuf_printf(o, "  waited %s from %.6f s on; times below count from the submission\n",
                  cpu_ns(v->timeout_ns - v->submit_ns), (double)v->submit_ns / 1e9);
    for (uint32_t i = 0; i < v->num_lines; i++)
        strbuf_printf(o, "  - %s\n", v->lines[i]);
    for (uint32_t i = 0; i < v->num_vblanks; i++)
        strbuf_printf(o, "  - %s\n", v->vblanks[i]);
    strbuf_puts(o, "\n");
}

json_t *cpu_verdict_json(const struct cpu_verdict *v)
{
    json_t *lines = json_array(), *vblanks = json_array();

    for (uint32_t i = 0; i < v->num_lines; i++)
        json_array_append_new(lines, json_string(v->lines[i]));
    for (uint32_t i = 0; i < v->num_vblanks; i++)
        json_array_append_new(vblanks, json_string(v->vblanks[i]));
    return json_pack("{s:s, s:s, s:I, s:I, s:o, s:o}", "verdict", cpu_verdict_name(v->kind), "reason",
                     v->reason, "submit_ns", (json_int_t)v->submit_ns, "timeout_ns",
                     (json_int_t)v->timeout_ns, "evidence", lines, "late_vblanks", vblanks);
}
