/* SPDX-License-Identifier: MIT */
#include "cpu/model/verdict.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "cpu/model/evidence.h"
#include "cpu/model/family.h"
#include "cpu/model/text.h"

#define SLACK      UINT64_C(20000000)  /* between the window's borders and the trace's */
#define LIFE       UINT64_C(150000000) /* a CPU that shows nothing for so long is not known to be awake */
#define TOO_LITTLE UINT64_C(100000000) /* a shorter wait proves nothing about a GPU */

struct maker {
    struct cpu_verdict *v;
    struct evidence e;
    bool weak; /* is_weak() */
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

const char *cpu_certainty_name(enum cpu_certainty certainty)
{
    return certainty == CPU_CERTAIN ? "certain" : certainty == CPU_LIKELY ? "likely" : "not seen";
}

static void say(struct maker *m, enum cpu_certainty sure, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void say(struct maker *m, enum cpu_certainty sure, const char *fmt, ...)
{
    struct cpu_verdict *v = m->v;
    va_list ap;

    if (v->num_lines == CPU_EVIDENCE)
        return;
    va_start(ap, fmt);
    v->sure[v->num_lines] = (uint8_t)sure;
    vsnprintf(v->lines[v->num_lines++], sizeof(v->lines[0]), fmt, ap);
    va_end(ap);
}

static bool decide(struct maker *m, enum cpu_verdict_kind kind, enum cpu_certainty certainty,
                   const char *reason)
{
    m->v->kind = kind;
    m->v->certainty = certainty;
    snprintf(m->v->reason, sizeof(m->v->reason), "%s", reason);
    return true;
}

static bool unknown(struct maker *m, const char *reason)
{
    return decide(m, CPU_VERDICT_UNKNOWN, CPU_UNSEEN, reason);
}

/* Milliseconds after the submission; the evidence speaks in these. */
static double rel(const struct maker *m, uint64_t t)
{
    return (double)(int64_t)(t - m->e.w->submit_ns) / 1e6;
}

static double part(const struct maker *m, uint64_t v)
{
    return 100.0 * (double)v / (double)m->e.wait_ns;
}

/* The work was done before the time-out was said. */
static bool done(const struct maker *m)
{
    return m->e.w->completed_ns >= m->e.w->submit_ns && m->e.w->completed_ns < m->e.w->timeout_ns;
}

/* ---- the machine: the host, interrupts between processors ------------------- */

static bool host_stole(struct maker *m)
{
    bool found = false;

    for (uint32_t i = 0; i < m->e.t->num_cpus; i++) {
        const struct cpu_seen *c = &m->e.cpu[i];

        if (!c->in_chain || c->stolen_ns < 0.4 * (double)m->e.wait_ns)
            continue;
        found = true;
        say(m, CPU_CERTAIN,
            "the host took CPU %u away for %s of the %s of the wait (%.0f%%, by the kernel's steal time)", i,
            cpu_ns((uint64_t)c->stolen_ns), cpu_ns(m->e.wait_ns), part(m, (uint64_t)c->stolen_ns));
    }
    return found && decide(m, CPU_VERDICT_HOST_STOLE_TIME, CPU_CERTAIN, "steal time");
}

/* An answer that the trace would not show cannot be missed. */
static bool answers_show(const struct maker *m, uint32_t target)
{
    const struct cpu_coverage *cov = &m->e.t->coverage;

    return !m->e.t->has_coverage || target >= cov->num_cpus ||
           (!cov->cpus[target].irq_blind[CPU_COUNTER_RES] && !cov->cpus[target].irq_blind[CPU_COUNTER_CAL]);
}

static bool stalls(const struct maker *m, const struct cpu_wait *x, uint64_t limit)
{
    return x->waited_ns >= limit && (m->e.cpu[x->sender].in_chain || m->e.cpu[x->target].in_chain) &&
           answers_show(m, x->target);
}

static void say_wait(struct maker *m, const struct cpu_wait *x)
{
    char site[48], state[32];

    say(m, CPU_CERTAIN, "CPU %u asked CPU %u at %+.3f ms and %s for %s%s%s%s%s", x->sender, x->target,
        rel(m, x->sent_ns), x->answered ? "waited" : "had no answer", cpu_ns(x->waited_ns),
        x->target_idle ? "; the target was idle in " : "",
        x->target_idle ? cpu_trace_state(m->e.t, x->target, x->target_state, state, sizeof(state)) : "",
        x->site ? ", from " : "", x->site ? cpu_trace_symbol(m->e.t, x->site, site, sizeof(site)) : "");
}

/* The CPUs that did not answer `sender`; returns how many. */
static uint32_t silent_to(const struct maker *m, uint32_t sender, uint64_t limit,
                          uint64_t mask[CPU_MASK_WORDS])
{
    const struct cpu_worst *u = &m->e.a.unanswered;
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

    for (uint32_t sender = 0; sender < m->e.t->num_cpus; sender++) {
        const uint32_t n = silent_to(m, sender, limit, mask);
        who = n > most ? sender : who;
        most = n > most ? n : most;
    }
    if (most > 1) {
        silent_to(m, who, limit, mask);
        say(m, CPU_CERTAIN, "CPU %u waited for %u CPUs that did not answer: %s", who, most,
            cpu_mask_text(mask, m->e.t->num_cpus, text, sizeof(text)));
    }
}

static bool ipi_stall(struct maker *m)
{
    const uint64_t limit = m->e.wait_ns / 4 > m->e.stuck_ns ? m->e.wait_ns / 4 : m->e.stuck_ns;
    const struct cpu_worst *lists[2] = {&m->e.a.unanswered, &m->e.a.slowest};
    uint32_t stalled = 0;

    say_silent(m, limit);
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < lists[k]->num; i++)
            if (stalls(m, &lists[k]->list[i], limit) && ++stalled <= 4)
                say_wait(m, &lists[k]->list[i]);
    if (!stalled)
        return false;
    if (stalled > 4)
        say(m, CPU_CERTAIN, "and %u more such waits", stalled - 4);
    if (m->e.a.ipi_unanswered > m->e.a.unanswered.num)
        say(m, CPU_CERTAIN, "%llu IPIs in all were not answered in the window",
            (unsigned long long)m->e.a.ipi_unanswered);
    for (uint32_t i = 0; i < m->e.a.num_incidents && i < CPU_INCIDENTS; i++) {
        const struct cpu_incident *n = &m->e.a.incidents[i];
        say(m, CPU_CERTAIN, "all CPUs but CPU %u (%u of them) went idle within %s at %+.3f ms%s", n->awake,
            n->silent, cpu_ns(n->spread_ns), rel(m, n->from_ns),
            n->at_end ? ", and none came back in the window" : "");
    }
    return decide(m, CPU_VERDICT_IPI_STALL, CPU_CERTAIN, "an IPI was not answered");
}

/* ---- what held a thread back ------------------------------------------------- */

enum held_by {
    HELD_QUEUE,
    HELD_STOPPED,
    HELD_TRACED,
    HELD_FROZEN,
    HELD_IO,
    HELD_MEMORY,
    HELD_LOCK,
    HELD_PEER,
    HELD_HOST,
    HELD_KINDS
};

/* Parts of a span in which a thread, or the executor, was held back, and in which it was at the device. */
struct held {
    uint64_t span, ns[HELD_KINDS], all, running, device, asleep;
    bool io_named; /* where it was blocked was seen, and it is input and output */
    const struct cpu_task_wait *wait[CPU_WAIT_KINDS];
};

static uint64_t share_of(uint64_t ns, uint32_t part, uint32_t whole)
{
    return whole ? ns / whole * part + ns % whole * part / whole : 0;
}

/* `w` are the looks at it, `stolen` what the host took while it ran, `memory` when memory was short. */
static struct held measure(const struct cpu_times *t, const struct cpu_waits_seen *w, uint64_t stolen,
                           uint64_t memory, uint64_t nobody)
{
    const uint64_t blocked = t->ns[CPU_THREAD_BLOCKED], sleep = t->ns[CPU_THREAD_ASLEEP];
    struct held h = {.span = cpu_times_span(t), .running = t->ns[CPU_THREAD_RUNNING]};
    /* kernels differ in what a frozen thread looks like in the trace: asleep, blocked, or runnable on a CPU that idles */
    const uint64_t quiet = blocked + sleep + (w->times[CPU_WAIT_FROZEN] ? nobody : 0);

    for (int i = 0; i < CPU_WAIT_KINDS; i++)
        h.wait[i] = w->times[i] ? &w->example[i] : NULL;
    h.ns[HELD_FROZEN] = share_of(quiet, w->times[CPU_WAIT_FROZEN], w->looks);
    h.ns[HELD_LOCK] = share_of(blocked + sleep, w->times[CPU_WAIT_LOCK], w->looks);
    h.ns[HELD_PEER] = share_of(blocked + sleep, w->times[CPU_WAIT_PEER], w->looks);
    h.device = t->ns[CPU_THREAD_DEVICE] + share_of(blocked + sleep, w->times[CPU_WAIT_DEVICE], w->looks);
    h.ns[HELD_STOPPED] = t->ns[CPU_THREAD_STOPPED];
    h.ns[HELD_TRACED] = t->ns[CPU_THREAD_TRACED];
    h.ns[HELD_QUEUE] = t->ns[CPU_THREAD_RUNNABLE];
    if (w->times[CPU_WAIT_FROZEN])
        h.ns[HELD_QUEUE] -= nobody < h.ns[HELD_QUEUE] ? nobody : h.ns[HELD_QUEUE];
    h.ns[HELD_HOST] = stolen < h.running ? stolen : h.running;
    /* short memory is felt as blocks and as time in the kernel: it counts where it is more than those */
    h.ns[HELD_MEMORY] = memory > blocked ? memory - blocked : 0;
    if (h.ns[HELD_MEMORY] > h.running + sleep)
        h.ns[HELD_MEMORY] = h.running + sleep;
    if (!w->times[CPU_WAIT_DEVICE] && !w->times[CPU_WAIT_FROZEN] && !w->times[CPU_WAIT_LOCK] &&
        !w->times[CPU_WAIT_PEER])
        h.ns[HELD_IO] = blocked + share_of(sleep, w->times[CPU_WAIT_IO], w->looks);
    h.io_named = w->times[CPU_WAIT_IO] != 0;
    for (int i = 0; i < HELD_KINDS; i++)
        h.all += h.ns[i];
    h.asleep = blocked + sleep;
    for (int i = HELD_FROZEN; i <= HELD_PEER; i++)
        h.asleep -= i == HELD_MEMORY ? 0 : h.ns[i] < h.asleep ? h.ns[i] : h.asleep;
    h.asleep -=
        h.device - t->ns[CPU_THREAD_DEVICE] < h.asleep ? h.device - t->ns[CPU_THREAD_DEVICE] : h.asleep;
    return h;
}

/* What held it back the longest. */
static enum held_by worst_of(const struct held *h)
{
    enum held_by worst = HELD_QUEUE;

    for (int i = 0; i < HELD_KINDS; i++)
        worst = h->ns[i] > h->ns[worst] ? (enum held_by)i : worst;
    return worst;
}

static void say_hogs(struct maker *m, const struct cpu_thread *th)
{
    for (int i = 0; i < CPU_HOGS; i++)
        if (th->hogs[i].tid > 0 && th->hogs[i].ns * 10 >= m->e.wait_ns)
            say(m, CPU_CERTAIN, "meanwhile %s/%d ran on CPU %d for %s of it",
                cpu_trace_thread(m->e.t, th->hogs[i].tid), th->hogs[i].tid, th->cpu, cpu_ns(th->hogs[i].ns));
}

static struct held of_executor(const struct maker *m)
{
    const struct cpu_threads *t = &m->e.threads;
    uint64_t stolen = 0, nobody = 0;

    for (uint32_t i = 0; i < m->e.t->num_cpus; i++)
        if (m->e.cpu[i].ran_executor) {
            const uint64_t ns =
                (uint64_t)cpu_evidence_stolen(&m->e, i, t->executor.from_ns, t->executor.to_ns);
            stolen = ns > stolen ? ns : stolen;
        }
    for (uint32_t i = 0; i < t->num; i++)
        if (t->list[i].role == CPU_ROLE_EXECUTOR && t->list[i].nobody_ns > nobody)
            nobody = t->list[i].nobody_ns;
    return measure(&t->executor, &m->e.waits, stolen, m->e.memory_ns, nobody);
}

static struct held of_thread(const struct maker *m, const struct cpu_thread *th, struct cpu_waits_seen *w)
{
    uint64_t stolen = 0;

    cpu_evidence_waits(&m->e, th->tid, th->times.from_ns, th->times.to_ns, w);
    if (th->cpu >= 0)
        stolen = (uint64_t)cpu_evidence_stolen(&m->e, (uint32_t)th->cpu, th->times.from_ns, th->times.to_ns);
    return measure(&th->times, w, stolen, 0, th->nobody_ns);
}

/* The thread of the executor that was in `state` for the longest. */
static const struct cpu_thread *executor_in(const struct maker *m, enum cpu_thread_state state)
{
    const struct cpu_thread *found = NULL;

    for (uint32_t i = 0; i < m->e.threads.num; i++) {
        const struct cpu_thread *th = &m->e.threads.list[i];
        if (th->role == CPU_ROLE_EXECUTOR && (!found || th->times.ns[state] > found->times.ns[state]))
            found = th;
    }
    return found;
}

static void say_thread(struct maker *m, const struct cpu_thread *th)
{
    char text[200];
    size_t n = 0;

    text[0] = '\0';
    for (int i = 0; i < CPU_THREAD_STATES && n < sizeof(text); i++)
        if (th->times.ns[i] * 200 >= cpu_times_span(&th->times))
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s for %s", n ? ", " : "",
                                  cpu_thread_state_name((enum cpu_thread_state)i), cpu_ns(th->times.ns[i]));
    say(m, CPU_CERTAIN, "%s thread %s/%d, of %s: %s",
        th->role == (enum cpu_role)CPU_ROLE_HOLDER ? "the holder," : cpu_role_name(th->role),
        cpu_trace_thread(m->e.t, th->tid), th->tid, cpu_ns(cpu_times_span(&th->times)), text);
}

/* Who holds the lock, what that one does, and whether it waits for the first in turn. */
static void say_lock(struct maker *m, const struct cpu_task_wait *x)
{
    const struct cpu_times *span = &m->e.threads.executor;
    const struct cpu_thread *holder = x->holder ? cpu_threads_find(&m->e.threads, x->holder) : NULL;
    const struct cpu_task_wait *next;

    say(m, CPU_CERTAIN, "%s/%d waited for %s", cpu_trace_thread(m->e.t, x->tid), x->tid, x->what);
    if (!x->holder) {
        say(m, CPU_UNSEEN, "who holds that is not known");
        return;
    }
    say(m, CPU_LIKELY, "%s/%d holds it, by the lock's own record", cpu_trace_thread(m->e.t, x->holder),
        x->holder);
    if (holder) {
        say_thread(m, holder);
        say_hogs(m, holder);
    }
    next = cpu_evidence_wait_of(&m->e, x->holder, span->from_ns, span->to_ns);
    if (next && next->holder)
        say(m, CPU_LIKELY, "the holder waited for %s, which %s/%d holds%s", next->what,
            cpu_trace_thread(m->e.t, next->holder), next->holder,
            next->holder == x->tid ? ": a deadlock" : "");
}

static const char *reason_for_lock(struct maker *m, const struct cpu_task_wait *x)
{
    const struct cpu_times *span = &m->e.threads.executor;
    const struct cpu_thread *holder = x->holder ? cpu_threads_find(&m->e.threads, x->holder) : NULL;
    const struct cpu_task_wait *next =
        x->holder ? cpu_evidence_wait_of(&m->e, x->holder, span->from_ns, span->to_ns) : NULL;

    if (next && next->holder == x->tid)
        return "a deadlock";
    if (holder && holder->times.ns[CPU_THREAD_RUNNABLE] * 2 > cpu_times_span(&holder->times))
        return "the lock's holder could not run";
    return "a lock was not given back";
}

/* A verdict from what held `th` (of the executor: its thread that shows it best) back, if that was long enough. */
static bool held_back(struct maker *m, const struct cpu_thread *th, const struct held *h)
{
    const enum held_by by = worst_of(h);
    const uint64_t ns = h->ns[by];
    const bool most = ns * 10 >= h->span * 6;
    /* what ran for a while and was not done may be hung as well */
    const bool ran_little = h->running * 10 < h->span || done(m);
    const enum cpu_certainty sure = most && ran_little && !m->weak ? CPU_CERTAIN : CPU_LIKELY;
    const char *who = th ? cpu_trace_thread(m->e.t, th->tid) : "?";
    const int tid = th ? th->tid : 0;

    if (!h->span || ns * 10 < h->span * 4)
        return false;
    if (th)
        say_thread(m, th);
    if (!ran_little)
        say(m, CPU_UNSEEN, "whether it would have been done with all of its time: it ran for %s and was not",
            cpu_ns(h->running));
    switch (by) {
    case HELD_QUEUE:
        say(m, CPU_CERTAIN,
            "%s/%d could run and did not for %s (%.0f%% of its time), the longest %s at %+.3f ms", who, tid,
            cpu_ns(ns), 100.0 * (double)ns / (double)h->span,
            cpu_ns(th ? th->times.longest[CPU_THREAD_RUNNABLE] : 0),
            th ? rel(m, th->times.longest_at[CPU_THREAD_RUNNABLE]) : 0);
        if (th)
            say_hogs(m, th);
        return decide(m, CPU_VERDICT_CPU_STARVED, sure,
                      th && th->nobody_ns * 2 > ns ? "throttled while its CPU was idle" : "preempted");
    case HELD_STOPPED:
        say(m, CPU_CERTAIN, "%s/%d was stopped by a signal for %s, in %u stops, the longest %s at %+.3f ms",
            who, tid, cpu_ns(ns), th ? th->stops : 0, cpu_ns(th ? th->times.longest[CPU_THREAD_STOPPED] : 0),
            th ? rel(m, th->times.longest_at[CPU_THREAD_STOPPED]) : 0);
        if (th && th->signal)
            say(m, CPU_CERTAIN, "%s/%d sent it signal %d", cpu_trace_thread(m->e.t, th->signal_from),
                th->signal_from, th->signal);
        if (th && th->stops >= 3)
            return decide(m, CPU_VERDICT_CPU_STARVED, sure, "throttled by stop signals");
        return decide(m, CPU_VERDICT_FROZEN, sure, "stopped by a signal");
    case HELD_TRACED:
        say(m, CPU_CERTAIN, "%s/%d was held by the program that traces it for %s", who, tid, cpu_ns(ns));
        return decide(m, CPU_VERDICT_FROZEN, sure, "held by a debugger");
    case HELD_FROZEN:
        say(m, CPU_CERTAIN, "%s/%d was frozen by its control group: %s", who, tid,
            h->wait[CPU_WAIT_FROZEN]->what);
        return decide(m, CPU_VERDICT_FROZEN, sure, "frozen by its control group");
    case HELD_IO:
        say(m, CPU_CERTAIN, "%s/%d was blocked in the kernel for %s%s%s", who, tid, cpu_ns(ns),
            h->io_named ? ": " : "", h->io_named ? h->wait[CPU_WAIT_IO]->what : "");
        if (!h->io_named)
            say(m, CPU_UNSEEN,
                "what it was blocked on: input and output, or something else that cannot be interrupted");
        return decide(m, CPU_VERDICT_BLOCKED_ON_IO, h->io_named ? sure : CPU_LIKELY, "blocked in the kernel");
    case HELD_MEMORY:
        say(m, CPU_CERTAIN, "for %s somebody on this machine waited for memory", cpu_ns(ns));
        say(m, CPU_UNSEEN, "whether that was this thread");
        return decide(m, CPU_VERDICT_BLOCKED_ON_IO, CPU_LIKELY, "memory was short");
    case HELD_LOCK:
        say_lock(m, h->wait[CPU_WAIT_LOCK]);
        return decide(m, CPU_VERDICT_LOCKED, sure, reason_for_lock(m, h->wait[CPU_WAIT_LOCK]));
    case HELD_PEER:
        say(m, CPU_CERTAIN, "%s/%d waited for %s", who, tid, h->wait[CPU_WAIT_PEER]->what);
        say(m, CPU_UNSEEN, "who is at the other end, and whether that had something to give");
        return decide(m, CPU_VERDICT_LOCKED, CPU_LIKELY, "whom it waits for did not answer");
    default:
        say(m, CPU_CERTAIN, "the host took %s of the time in which it would have run", cpu_ns(ns));
        return decide(m, CPU_VERDICT_HOST_STOLE_TIME, sure, "steal time");
    }
}

static const enum cpu_thread_state shown_by[HELD_KINDS] = {
    [HELD_QUEUE] = CPU_THREAD_RUNNABLE, [HELD_STOPPED] = CPU_THREAD_STOPPED,
    [HELD_TRACED] = CPU_THREAD_TRACED,  [HELD_FROZEN] = CPU_THREAD_ASLEEP,
    [HELD_IO] = CPU_THREAD_BLOCKED,     [HELD_MEMORY] = CPU_THREAD_BLOCKED,
    [HELD_LOCK] = CPU_THREAD_ASLEEP,    [HELD_PEER] = CPU_THREAD_ASLEEP,
    [HELD_HOST] = CPU_THREAD_RUNNING,
};

static bool executor_held(struct maker *m)
{
    const struct held h = of_executor(m);

    return m->e.threads.num_executors && held_back(m, executor_in(m, shown_by[worst_of(&h)]), &h);
}

/* Of those that wait for the executor: a thread whose part is over (it submits) is none of them. */
static bool waiter_held(struct maker *m)
{
    for (uint32_t i = 0; i < m->e.threads.num; i++) {
        const struct cpu_thread *th = &m->e.threads.list[i];
        struct cpu_waits_seen w = {0};
        struct held h;

        if (th->role != CPU_ROLE_WAITER && th->role != CPU_ROLE_IRQ && th->role != CPU_ROLE_DPC)
            continue;
        h = of_thread(m, th, &w);
        /* who waits may sleep, on a lock, too, if that is how it waits */
        h.ns[HELD_PEER] = 0;
        if (!done(m))
            h.ns[HELD_LOCK] = 0;
        if (held_back(m, th, &h))
            return true;
    }
    return false;
}

/* ---- the rules ---------------------------------------------------------------- */

/* The trace could hide what would change a verdict: such a verdict is likely, not certain. */
static bool is_weak(const struct maker *m)
{
    const struct cpu_window *w = m->e.w;
    bool blind = false;

    for (uint32_t i = 0; i < m->e.t->num_cpus; i++)
        blind |= m->e.cpu[i].in_chain && m->e.cpu[i].blind;
    return blind || !m->e.t->has_coverage || m->e.t->notes.count || m->e.lost || m->e.lost_uncounted ||
           m->e.t->overrun || !m->e.first_ns || m->e.first_ns > w->submit_ns + SLACK ||
           m->e.last_ns + SLACK < w->timeout_ns;
}

static bool asleep(struct maker *m)
{
    const char *reason = NULL;
    char state[32];

    for (uint32_t i = 0; i < m->e.a.num_late_timers; i++) {
        const struct cpu_late_timer *x = &m->e.a.late_timers[i];
        if (x->was_idle && m->e.cpu[x->cpu].in_chain && x->late_ns >= m->e.stuck_ns &&
            x->late_ns * 4 >= m->e.wait_ns) {
            say(m, CPU_CERTAIN,
                "a timer of CPU %u was due at %+.3f ms and fired %s late: the CPU was idle in %s", x->cpu,
                rel(m, x->due_ns), cpu_ns(x->late_ns),
                cpu_trace_state(m->e.t, x->cpu, x->state, state, sizeof(state)));
            reason = "a timer did not wake the CPU";
        }
    }
    for (uint32_t i = 0; i < m->e.t->num_cpus; i++) {
        const struct cpu_seen *c = &m->e.cpu[i];
        const bool late_back = c->idle_to == CPU_NEVER || c->idle_to >= m->e.w->timeout_ns;
        if (!c->in_chain || c->blind)
            continue;
        if (c->slept_over_due) {
            say(m, CPU_CERTAIN,
                "the time-out was due at %+.3f ms and detected %s later; CPU %u slept over it in %s",
                rel(m, m->e.w->due_ns), cpu_ns(m->e.w->timeout_ns - m->e.w->due_ns), i,
                cpu_trace_state(m->e.t, i, (uint32_t)c->idle_state, state, sizeof(state)));
            reason = reason ? reason : "it slept over the time-out";
        }
        if (c->slept_over_completion) {
            say(m, CPU_CERTAIN,
                "the work was done at %+.3f ms; CPU %u was idle in %s from before that until after the "
                "time-out",
                rel(m, m->e.w->completed_ns), i,
                cpu_trace_state(m->e.t, i, (uint32_t)c->completion_state, state, sizeof(state)));
            reason = reason ? reason : "it slept over the completion";
        }
        /* a GPU that is not done lets its CPU sleep */
        if (done(m) && c->takes_interrupt && late_back && c->idle_ns * 10 >= m->e.wait_ns * 9) {
            say(m, CPU_CERTAIN,
                "CPU %u, which takes the GPU's interrupt, was idle in %s for %s of the %s of the wait, and "
                "%s",
                i, cpu_trace_state(m->e.t, i, (uint32_t)c->idle_state, state, sizeof(state)),
                cpu_ns(c->idle_ns), cpu_ns(m->e.wait_ns),
                c->idle_to == CPU_NEVER ? "had not come back at the end of the trace"
                                        : "came back after the time-out only");
            reason = reason ? reason : "the interrupt's CPU slept all the time";
        }
    }
    return reason && decide(m, CPU_VERDICT_CPU_ASLEEP, CPU_CERTAIN, reason);
}

/* What forbids to say GPU-HUNG. */
static bool cannot_tell(struct maker *m)
{
    const struct cpu_window *w = m->e.w;
    const struct cpu_coverage *cov = &m->e.t->coverage;

    if (!m->e.first_ns || m->e.first_ns > w->submit_ns + SLACK || m->e.last_ns + SLACK < w->timeout_ns) {
        say(m, CPU_UNSEEN,
            "the trace does not cover the wait: it has events from %+.3f to %+.3f ms of 0 to %.3f ms",
            m->e.first_ns ? rel(m, m->e.first_ns) : 0, m->e.first_ns ? rel(m, m->e.last_ns) : 0,
            (double)m->e.wait_ns / 1e6);
        return unknown(m, "the trace does not cover the wait");
    }
    for (uint32_t i = 0; i < m->e.t->num_cpus; i++)
        if (m->e.cpu[i].in_chain && m->e.cpu[i].blind) {
            say(m, CPU_UNSEEN,
                "CPU %u is part of the chain and the trace is blind on it: %llu of its %llu idle entries are "
                "missing",
                i, (unsigned long long)(cov->cpus[i].expected - cov->cpus[i].recorded),
                (unsigned long long)cov->cpus[i].expected);
            return unknown(m, "the trace is blind on a CPU of the chain");
        }
    if (!m->e.t->has_coverage) {
        say(m, CPU_UNSEEN,
            "the recording has no counters to check its idle trace against; a blind CPU cannot be excluded");
        return unknown(m, "the trace cannot be checked");
    }
    if (m->e.lost || m->e.lost_uncounted || m->e.t->overrun) {
        say(m, CPU_UNSEEN, "events were lost: %llu in the window, %llu in the recording",
            (unsigned long long)m->e.lost, (unsigned long long)m->e.t->overrun);
        return unknown(m, "events were lost");
    }
    if (m->e.t->notes.count) {
        say(m, CPU_UNSEEN, "a part of the recording cannot be read: %s", m->e.t->notes.text[0]);
        return unknown(m, "the recording is damaged");
    }
    if (!m->e.threads.switches) {
        say(m, CPU_UNSEEN,
            "thread switches were not recorded (record with --sched): a starved thread cannot be excluded");
        return unknown(m, "no thread switches");
    }
    if (w->partial) {
        say(m, CPU_UNSEEN,
            "the dump does not name the executor's threads: whether they could run is not known; a window "
            "with them as threads can say");
        return unknown(m, "the threads of the chain are not all known");
    }
    return false;
}

static bool no_life(struct maker *m)
{
    const uint64_t limit = m->e.wait_ns / 2 > LIFE ? m->e.wait_ns / 2 : LIFE;
    const struct cpu_times *x = &m->e.threads.executor;

    if (x->ns[CPU_THREAD_UNKNOWN] * 10 > cpu_times_span(x)) {
        say(m, CPU_UNSEEN, "the state of the executor's threads is not known for %s of the %s that they had",
            cpu_ns(x->ns[CPU_THREAD_UNKNOWN]), cpu_ns(cpu_times_span(x)));
        return unknown(m, "a thread of the chain was not seen");
    }
    for (uint32_t i = 0; i < m->e.t->num_cpus; i++)
        if (m->e.cpu[i].in_chain && m->e.cpu[i].gap_ns > limit) {
            say(m, CPU_UNSEEN, "CPU %u showed no event for %s at %+.3f ms: it may not have been able to run",
                i, cpu_ns(m->e.cpu[i].gap_ns), rel(m, m->e.cpu[i].gap_at));
            return unknown(m, "a CPU of the chain showed no life");
        }
    return false;
}

static bool executor_died(struct maker *m)
{
    const struct cpu_times *x = &m->e.threads.executor;
    const struct cpu_thread *th;

    if (!x->ns[CPU_THREAD_DEAD])
        return false;
    th = executor_in(m, CPU_THREAD_DEAD);
    say(m, CPU_CERTAIN, "the executor's last thread, %s/%d, ended at %+.3f ms; the work was not done",
        cpu_trace_thread(m->e.t, th->tid), th->tid, rel(m, x->longest_at[CPU_THREAD_DEAD]));
    if (th->signal && th->signal_code > 0)
        say(m, CPU_LIKELY, "signal %d came before that, from the kernel: %s", th->signal,
            th->signal_code < SI_KERNEL ? "for a fault of its own" : "a limit, or want of memory");
    else if (th->signal)
        say(m, CPU_LIKELY, "signal %d, sent by %s/%d, came before that", th->signal,
            cpu_trace_thread(m->e.t, th->signal_from), th->signal_from);
    return decide(m, CPU_VERDICT_EXECUTOR_DIED, m->weak ? CPU_LIKELY : CPU_CERTAIN, "its process ended");
}

static bool watchdog_was_late(const struct maker *m)
{
    const struct cpu_window *w = m->e.w;

    return w->due_ns > w->submit_ns && w->timeout_ns > w->due_ns &&
           w->timeout_ns - w->due_ns > m->e.stuck_ns && (w->timeout_ns - w->due_ns) * 4 > m->e.wait_ns;
}

static void say_watchdog(struct maker *m)
{
    say(m, CPU_CERTAIN, "the time-out was due at %+.3f ms and detected %s later", rel(m, m->e.w->due_ns),
        cpu_ns(m->e.w->timeout_ns - m->e.w->due_ns));
}

static bool slow(struct maker *m, const char *reason)
{
    if (executor_held(m))
        return true;
    for (uint32_t i = 0; i < m->e.threads.num; i++)
        if (m->e.threads.list[i].role == CPU_ROLE_EXECUTOR)
            say_thread(m, &m->e.threads.list[i]);
    return decide(m, CPU_VERDICT_GPU_SLOW, m->e.threads.num_executors && !m->weak ? CPU_CERTAIN : CPU_LIKELY,
                  reason);
}

/* The work was done, and somebody said that it was not. */
static bool was_done(struct maker *m)
{
    const struct cpu_window *w = m->e.w;
    const uint64_t late = w->timeout_ns - w->completed_ns;

    if (!done(m))
        return false;
    say(m, CPU_CERTAIN, "the work was done at %+.3f ms, %s before the time-out: the GPU was not hung",
        rel(m, w->completed_ns), cpu_ns(late));
    if (watchdog_was_late(m) && w->completed_ns > w->due_ns) {
        say_watchdog(m);
        return asleep(m) ||
               decide(m, CPU_VERDICT_WATCHDOG_LATE, CPU_CERTAIN, "the work was done when it looked");
    }
    if (late <= m->e.stuck_ns || late * 10 <= m->e.wait_ns)
        return slow(m, "it was done just before the time-out");
    if (asleep(m) || waiter_held(m))
        return true;
    for (uint32_t i = 0; i < m->e.threads.num; i++)
        if (m->e.threads.list[i].role == CPU_ROLE_WAITER)
            say_thread(m, &m->e.threads.list[i]);
    return decide(m, CPU_VERDICT_WAITER_LATE, m->weak ? CPU_LIKELY : CPU_CERTAIN,
                  "the work was done, nobody looked");
}

/* Of a wait whose work was not done: proof that the GPU had its chance, or none. */
static void hung_or_not(struct maker *m)
{
    const struct held h = of_executor(m);
    const uint64_t busy = h.running - h.ns[HELD_HOST] + h.device;

    for (uint32_t i = 0; i < m->e.threads.num; i++)
        if (m->e.threads.list[i].role == CPU_ROLE_EXECUTOR && m->v->num_lines < 12)
            say_thread(m, &m->e.threads.list[i]);
    if (h.all * 10 >= h.span) {
        say(m, CPU_CERTAIN,
            "the executor was held back for %s (%.0f%% of the wait): too long to call the GPU hung, too short "
            "to explain the wait",
            cpu_ns(h.all), 100.0 * (double)h.all / (double)h.span);
        unknown(m, "the executor was held back for a part of the wait");
    } else if (busy * 10 < h.span * 9) {
        const struct cpu_task_wait *x = h.wait[CPU_WAIT_OTHER];
        say(m, CPU_CERTAIN, "the executor slept for %s of the %s of the wait", cpu_ns(h.asleep),
            cpu_ns(h.span));
        say(m, CPU_UNSEEN, x ? "what it waited for: it was in %s" : "what it waited for: nobody looked%s",
            x ? x->what : "");
        if (!waiter_held(m))
            unknown(m, "the executor slept, and not on the device");
    } else if (m->e.wait_ns < TOO_LITTLE) {
        say(m, CPU_CERTAIN, "the wait was %s: every GPU is busy for so long", cpu_ns(m->e.wait_ns));
        unknown(m, "the wait is too short to tell");
    } else if (h.device && m->e.fences_late) {
        say(m, CPU_CERTAIN, "%llu fences were signalled in the second half of the wait",
            (unsigned long long)m->e.fences_late);
        decide(m, CPU_VERDICT_GPU_SLOW, CPU_LIKELY, "it made progress");
    } else {
        say(m, CPU_CERTAIN,
            "the executor ran for %s and waited for the device for %s of the %s; it was held back for %s in all",
            cpu_ns(h.running), cpu_ns(h.device), cpu_ns(h.span), cpu_ns(h.all));
        say(m, CPU_CERTAIN,
            "no IPI waited for %s or longer; no CPU of the chain was silent for half of the wait",
            cpu_ns(m->e.stuck_ns));
        decide(m, CPU_VERDICT_GPU_HUNG, CPU_CERTAIN, "the processors were there, the GPU was not");
    }
}

static void judge(struct maker *m)
{
    const struct cpu_window *w = m->e.w;

    if (host_stole(m) || ipi_stall(m) || was_done(m) || executor_died(m))
        return;
    if (w->completed_ns >= w->timeout_ns) {
        say(m, CPU_CERTAIN, "the work was done at %+.3f ms, %s after the time-out", rel(m, w->completed_ns),
            cpu_ns(w->completed_ns - w->timeout_ns));
        slow(m, "it was done after the time-out");
        return;
    }
    if (w->completed_ns)
        say(m, CPU_UNSEEN, "the GPU's record says that it was done before it was submitted: not believed");
    if (executor_held(m) || asleep(m) || cannot_tell(m))
        return;
    if (!m->e.threads.num_executors) {
        if (!waiter_held(m)) {
            say(m, CPU_UNSEEN,
                "the window names no thread that stands for the GPU: whether it had its chance is not known");
            unknown(m, "no executor is named");
        }
        return;
    }
    if (watchdog_was_late(m))
        say_watchdog(m);
    if (!no_life(m))
        hung_or_not(m);
}

/* ---- late vblanks ------------------------------------------------------------- */

static void explain_vblank(struct maker *m, uint32_t i)
{
    const struct cpu_window_vblank *x = &m->e.w->vblanks[i];
    const struct cpu_vblank_seen *p = &m->e.vblank[i];
    const uint64_t late = x->actual_ns - x->due_ns;
    char *out = m->v->vblanks[m->v->num_vblanks++], state[32];

    for (uint32_t k = 0; k < m->e.a.num_late_timers; k++) {
        const struct cpu_late_timer *t = &m->e.a.late_timers[k];
        if (t->due_ns + 1000000 < x->due_ns || t->due_ns > x->actual_ns ||
            (x->cpu >= 0 && x->cpu != t->cpu) || t->late_ns * 2 < late)
            continue;
        snprintf(out, sizeof(m->v->vblanks[0]),
                 "vblank due at %+.3f ms came %s late: timer on CPU %u fired %s late%s%s%s",
                 rel(m, x->due_ns), cpu_ns(late), t->cpu, cpu_ns(t->late_ns), t->was_idle ? ": " : "",
                 t->was_idle ? cpu_trace_state(m->e.t, t->cpu, t->state, state, sizeof(state)) : "",
                 t->was_idle ? " exit" : "");
        return;
    }
    if (p->idle && p->left_ns != CPU_NEVER && (p->left_ns - x->due_ns) * 2 >= late &&
        p->left_ns <= x->actual_ns) {
        snprintf(out, sizeof(m->v->vblanks[0]),
                 "vblank due at %+.3f ms came %s late: CPU %u left %s only %s after it was due",
                 rel(m, x->due_ns), cpu_ns(late), p->cpu,
                 cpu_trace_state(m->e.t, p->cpu, (uint32_t)p->state, state, sizeof(state)),
                 cpu_ns(p->left_ns - x->due_ns));
        return;
    }
    for (uint32_t k = 0; k < m->e.threads.num; k++) {
        const struct cpu_thread *th = &m->e.threads.list[k];
        if (th->tid != x->tid || th->times.longest[CPU_THREAD_RUNNABLE] * 2 < late ||
            th->times.longest_at[CPU_THREAD_RUNNABLE] > x->actual_ns ||
            th->times.longest_at[CPU_THREAD_RUNNABLE] + th->times.longest[CPU_THREAD_RUNNABLE] < x->due_ns)
            continue;
        snprintf(out, sizeof(m->v->vblanks[0]),
                 "vblank due at %+.3f ms came %s late: thread %d could run and waited %s for CPU %d",
                 rel(m, x->due_ns), cpu_ns(late), th->tid, cpu_ns(th->times.longest[CPU_THREAD_RUNNABLE]),
                 th->cpu);
        return;
    }
    snprintf(out, sizeof(m->v->vblanks[0]),
             "vblank due at %+.3f ms came %s late: not explained by this trace", rel(m, x->due_ns),
             cpu_ns(late));
}

/* What is said follows from what is known. */
static void verdict_check(const struct maker *m)
{
    const struct cpu_verdict *v = m->v;
    const struct cpu_times *x = &m->e.threads.executor;

    INVARIANT(v->kind < CPU_VERDICT_COUNT && v->reason[0]);
    INVARIANT(v->num_lines > 0 && v->num_lines <= CPU_EVIDENCE); /* 3 */
    INVARIANT((v->kind == CPU_VERDICT_UNKNOWN) == (v->certainty == CPU_UNSEEN));
    for (uint32_t i = 0; i < v->num_lines; i++)
        INVARIANT(v->sure[i] <= CPU_CERTAIN && v->lines[i][0]);
    INVARIANT(v->certainty != CPU_CERTAIN || !m->weak || v->kind == CPU_VERDICT_IPI_STALL ||
              v->kind == CPU_VERDICT_HOST_STOLE_TIME || v->kind == CPU_VERDICT_CPU_ASLEEP ||
              v->kind == CPU_VERDICT_WATCHDOG_LATE);
    if (v->kind != CPU_VERDICT_GPU_HUNG)
        return;
    INVARIANT(m->e.threads.num_executors > 0 && m->e.wait_ns >= TOO_LITTLE); /* 1 */
    INVARIANT(!m->weak && !done(m) && m->e.threads.switches > 0 && !m->e.w->partial);
    INVARIANT(x->ns[CPU_THREAD_DEAD] == 0 && x->ns[CPU_THREAD_RUNNABLE] * 10 < cpu_times_span(x));
    INVARIANT((x->ns[CPU_THREAD_STOPPED] + x->ns[CPU_THREAD_TRACED]) * 10 < cpu_times_span(x));
}

int cpu_verdict_make(struct cpu_verdict *v, struct cpu_trace *t, const struct cpu_window *w,
                     uint64_t stuck_ns, struct error *e)
{
    struct cpu_window whole = *w;
    struct maker m = {.v = v};
    int r = w->partial ? cpu_family_complete(&whole, t, e) : 0;

    if (r)
        return r;
    *v = (struct cpu_verdict){.submit_ns = w->submit_ns, .timeout_ns = w->timeout_ns};
    r = cpu_evidence_gather(&m.e, t, &whole, stuck_ns, e);
    if (!r) {
        m.weak = is_weak(&m);
        judge(&m);
        for (uint32_t i = 0; i < w->num_vblanks; i++)
            explain_vblank(&m, i);
        verdict_check(&m);
    }
    cpu_evidence_finish(&m.e);
    return r;
}
