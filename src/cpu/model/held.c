/* SPDX-License-Identifier: MIT */
/* What held a thread, or the executor, back, for how long, and what follows from it. */
#include "cpu/model/maker.h"

#include <signal.h>

#include "base/check.h"

enum { ENOUGH_LOOKS = 8 };

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
    const uint64_t queue = t->ns[CPU_THREAD_RUNNABLE], idle = nobody < queue ? nobody : queue,
                   quiet = blocked + sleep + (w->times[CPU_WAIT_FROZEN] ? idle : 0);

    for (int i = 0; i < CPU_WAIT_KINDS; i++)
        h.wait[i] = w->times[i] ? &w->example[i] : NULL;
    h.ns[HELD_FROZEN] = share_of(quiet, w->times[CPU_WAIT_FROZEN], w->looks);
    h.ns[HELD_LOCK] = share_of(blocked + sleep, w->times[CPU_WAIT_LOCK], w->looks);
    h.ns[HELD_PEER] = share_of(blocked + sleep, w->times[CPU_WAIT_PEER], w->looks);
    h.device = t->ns[CPU_THREAD_DEVICE] + share_of(blocked + sleep, w->times[CPU_WAIT_DEVICE], w->looks);
    h.ns[HELD_STOPPED] = t->ns[CPU_THREAD_STOPPED];
    h.ns[HELD_TRACED] = t->ns[CPU_THREAD_TRACED];
    h.ns[HELD_QUEUE] = queue - (w->times[CPU_WAIT_FROZEN] ? idle : 0);
    h.ns[HELD_HOST] = stolen < h.running ? stolen : h.running;
    h.ns[HELD_IO] = share_of(blocked + sleep, w->times[CPU_WAIT_IO], w->looks);
    if (!w->times
             [CPU_WAIT_DEVICE]) /* a driver blocks as well, and not every look finds it in a function of its own */
        h.ns[HELD_IO] += w->looks ? share_of(blocked, w->times[CPU_WAIT_OTHER], w->looks) : blocked;
    h.io_named = w->times[CPU_WAIT_IO] > w->times[CPU_WAIT_OTHER];
    h.asleep = blocked + sleep;
    for (int i = HELD_FROZEN; i <= HELD_PEER; i++)
        h.asleep -= i == HELD_MEMORY ? 0 : h.ns[i] < h.asleep ? h.ns[i] : h.asleep;
    h.asleep -=
        h.device - t->ns[CPU_THREAD_DEVICE] < h.asleep ? h.device - t->ns[CPU_THREAD_DEVICE] : h.asleep;
    /* short memory is felt as blocks and as time in the kernel: it counts where it is more than those, of time that nothing else
     * has taken */
    h.ns[HELD_MEMORY] = memory > blocked ? memory - blocked : 0;
    if (h.ns[HELD_MEMORY] > h.running - h.ns[HELD_HOST] + h.asleep)
        h.ns[HELD_MEMORY] = h.running - h.ns[HELD_HOST] + h.asleep;
    for (int i = 0; i < HELD_KINDS; i++)
        h.all += h.ns[i];
    INVARIANT(h.running <= h.span && h.asleep <= h.span && h.device <= h.span);
    INVARIANT(maker_ran(&h) + h.device + h.all <= h.span);
    for (int i = 0; i < HELD_KINDS; i++)
        INVARIANT(h.ns[i] <= h.span);
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
            maker_say(m, CPU_CERTAIN, "meanwhile %s/%d ran on CPU %d for %s of it",
                      cpu_trace_thread_at(m->e.t, th->hogs[i].tid, m->e.w->timeout_ns), th->hogs[i].tid,
                      th->cpu, cpu_ns(th->hogs[i].ns));
}

struct held maker_of_executor(const struct maker *m)
{
    const struct cpu_threads *t = &m->e.threads;
    uint64_t stolen = 0, nobody = 0;

    for (uint32_t i = 0; i < m->e.t->num_cpus; i++)
        if (m->e.cpu[i].ran_executor) { /* it takes nothing from who is elsewhere */
            const uint64_t ns =
                (uint64_t)cpu_evidence_stolen(&m->e, i, t->executor.from_ns, t->executor.to_ns);
            stolen += ns < t->on[i].executor_ns ? ns : t->on[i].executor_ns;
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
const struct cpu_thread *maker_executor_in(const struct maker *m, enum cpu_thread_state state)
{
    const struct cpu_thread *found = NULL;

    for (uint32_t i = 0; i < m->e.threads.num; i++) {
        const struct cpu_thread *th = &m->e.threads.list[i];
        if (th->role == CPU_ROLE_EXECUTOR && (!found || th->times.ns[state] > found->times.ns[state]))
            found = th;
    }
    return found;
}

void maker_say_thread(struct maker *m, const struct cpu_thread *th)
{
    char text[200];
    size_t n = 0;

    text[0] = '\0';
    for (int i = 0; i < CPU_THREAD_STATES && n < sizeof(text); i++)
        if (th->times.ns[i] * 200 >= cpu_times_span(&th->times))
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s for %s", n ? ", " : "",
                                  cpu_thread_state_name((enum cpu_thread_state)i), cpu_ns(th->times.ns[i]));
    maker_say(m, CPU_CERTAIN, "%s thread %s/%d, of %s: %s",
              th->role == (enum cpu_role)CPU_ROLE_HOLDER ? "the holder," : cpu_role_name(th->role),
              cpu_trace_thread(m->e.t, th->tid), th->tid, cpu_ns(cpu_times_span(&th->times)), text);
}

/* Who holds the lock, what that one does, and whether it waits for the first in turn. */
static void say_lock(struct maker *m, const struct cpu_task_wait *x)
{
    const struct cpu_times *span = &m->e.threads.executor;
    const struct cpu_thread *holder = x->holder ? cpu_threads_find(&m->e.threads, x->holder) : NULL;
    const struct cpu_task_wait *next;

    maker_say(m, CPU_CERTAIN, "%s/%d waited for %s", cpu_trace_thread(m->e.t, x->tid), x->tid, x->what);
    if (!x->holder) {
        maker_say(m, CPU_UNSEEN, "who holds that is not known");
        return;
    }
    maker_say(m, CPU_LIKELY, "%s/%d holds it, by the lock's own record", cpu_trace_thread(m->e.t, x->holder),
              x->holder);
    if (holder) {
        maker_say_thread(m, holder);
        say_hogs(m, holder);
    }
    next = cpu_evidence_wait_of(&m->e, x->holder, span->from_ns, span->to_ns);
    if (next && next->holder)
        maker_say(m, CPU_LIKELY, "the holder waited for %s, which %s/%d holds%s", next->what,
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

/* What else held it back for a tenth: then there are two that could be why, and neither is proven. That somebody waited for
 * memory takes nothing away from what was seen. */
static bool is_one_of_two(const struct held *h, enum held_by by)
{
    uint64_t next = 0;

    for (int i = 0; i < HELD_KINDS; i++)
        if (i != (int)by && i != HELD_MEMORY && h->ns[i] > next)
            next = h->ns[i];
    return next * 10 >= h->span;
}

/* A look says what a thread waits for at that moment, and so until it runs again: one sleep that was most of the span and was
 * looked at is proven. Many short ones are by many looks only. */
static bool is_seen(const struct maker *m, const struct cpu_thread *th, enum cpu_wait_kind kind)
{
    static const enum cpu_thread_state sleeps[] = {CPU_THREAD_ASLEEP, CPU_THREAD_BLOCKED,
                                                   CPU_THREAD_RUNNABLE};
    const bool whole = th->role == CPU_ROLE_EXECUTOR;
    const struct cpu_times *t = whole ? &m->e.threads.executor : &th->times;
    struct cpu_waits_seen w;

    for (size_t i = 0; i < sizeof(sleeps) / sizeof(sleeps[0]); i++) {
        const uint64_t from = t->longest_at[sleeps[i]], len = t->longest[sleeps[i]];

        cpu_evidence_waits(&m->e, whole ? 0 : th->tid, from, from + len, &w);
        if (len * 10 >= cpu_times_span(t) * 6 && w.times[kind])
            return true;
    }
    cpu_evidence_waits(&m->e, whole ? 0 : th->tid, t->from_ns, t->to_ns, &w);
    return w.looks >= ENOUGH_LOOKS;
}

static bool is_looked_at(enum held_by by, enum cpu_wait_kind *kind)
{
    *kind = by == HELD_FROZEN ? CPU_WAIT_FROZEN : by == HELD_LOCK ? CPU_WAIT_LOCK : CPU_WAIT_IO;
    return by == HELD_FROZEN || by == HELD_LOCK || by == HELD_IO;
}

/* Who holds the lock waits for the device, or runs on: then it is the device that is late, or what the holder does. */
static bool is_holder_at_work(const struct maker *m, const struct cpu_task_wait *x)
{
    const struct cpu_times *span = &m->e.threads.executor;
    const struct cpu_task_wait *next =
        x->holder ? cpu_evidence_wait_of(&m->e, x->holder, span->from_ns, span->to_ns) : NULL;

    for (uint32_t i = 0; x->holder && i < m->e.threads.num; i++)
        if (m->e.threads.list[i].tid == x->holder && m->e.threads.list[i].times.ns[CPU_THREAD_DEVICE] * 10 >=
                                                         cpu_times_span(&m->e.threads.list[i].times))
            return true;
    return next && (next->kind == CPU_WAIT_DEVICE || next->kind == CPU_WAIT_FENCE);
}

bool maker_may_have_looked(const struct cpu_thread *th, uint32_t tenths)
{
    return th->ran_ns && (th->ran_ns - th->times.from_ns) * 10 < cpu_times_span(&th->times) * tenths;
}

/* It could run because it gave its processor back: who has nothing to do does that. */
static bool had_nothing_to_do(const struct cpu_thread *th, const struct held *h)
{
    return th && th->gives && (h->ns[HELD_QUEUE] - th->given_ns) * 10 < h->span * 6;
}

/* That this is why; says what else it may be. */
static enum cpu_certainty how_sure(struct maker *m, const struct cpu_thread *th, const struct held *h,
                                   enum held_by by)
{
    const bool most = h->ns[by] * 10 >= h->span * 6;
    /* what ran for a while and was not done may be hung as well */
    const bool ran_little = (h->running + h->device) * 10 < h->span || done(m);
    const bool two = is_one_of_two(h, by);
    /* it may have waited for what was the reason, and nobody saw it */
    const bool slept = !done(m) && h->asleep * 10 >= h->span;
    enum cpu_wait_kind kind;
    const bool seen = !is_looked_at(by, &kind) || (th && is_seen(m, th, kind));
    const bool hides = by == HELD_LOCK && is_holder_at_work(m, h->wait[CPU_WAIT_LOCK]);
    /* a lock on a file is the kernel's, and so is a mutex that inherits priorities */
    const bool alike = by == HELD_LOCK && h->wait[CPU_WAIT_LOCK]->by_its_words;
    const bool gave = by == HELD_QUEUE && had_nothing_to_do(th, h);
    const bool looked = done(m) && th && th->role == CPU_ROLE_WAITER && maker_may_have_looked(th, 6);

    if (!ran_little)
        maker_say(m, CPU_UNSEEN,
                  "whether it would have been done with all of its time: it had %s and was not",
                  cpu_ns(h->running + h->device));
    if (two)
        maker_say(m, CPU_UNSEEN, "whether this is why: it was held back by something else as well, for %s",
                  cpu_ns(h->all - h->ns[by]));
    if (slept)
        maker_say(m, CPU_UNSEEN, "whether this is why: it slept for %s besides, and nobody saw for what",
                  cpu_ns(h->asleep));
    if (!seen)
        maker_say(m, CPU_UNSEEN, "whether it was so all the time: it was looked at too seldom for that");
    if (hides)
        maker_say(m, CPU_UNSEEN, "whether the GPU was hung: who holds the lock waited for the device");
    if (alike)
        maker_say(m, CPU_UNSEEN, "whether it is a mutex: that is what the words there look like");
    if (gave)
        maker_say(m, CPU_UNSEEN,
                  "whether it had anything to do: it gave its processor back by itself %u times, and could "
                  "run for %s after that",
                  th->gives, cpu_ns(th->given_ns));
    if (looked)
        maker_say(m, CPU_UNSEEN, "whether it had looked by then: it ran at %+.3f ms, when the work was done",
                  rel(m, th->ran_ns));
    return most && ran_little && !two && !slept && seen && !hides && !alike && !gave && !looked && !m->weak
               ? CPU_CERTAIN
               : CPU_LIKELY;
}

/* A verdict from what held `th` (of the executor: its thread that shows it best) back, if that was long enough. */
static bool held_back(struct maker *m, const struct cpu_thread *th, const struct held *h)
{
    const enum held_by by = worst_of(h);
    const uint64_t ns = h->ns[by];
    enum cpu_certainty sure;
    const char *who = th ? cpu_trace_thread(m->e.t, th->tid) : "?";
    const int tid = th ? th->tid : 0;

    if (!h->span || ns * 10 < h->span * 4)
        return false;
    if (th)
        maker_say_thread(m, th);
    sure = how_sure(m, th, h, by);
    switch (by) {
    case HELD_QUEUE:
        maker_say(m, CPU_CERTAIN,
                  "%s/%d could run and did not for %s (%.0f%% of its time), the longest %s at %+.3f ms", who,
                  tid, cpu_ns(ns), 100.0 * (double)ns / (double)h->span,
                  cpu_ns(th ? th->times.longest[CPU_THREAD_RUNNABLE] : 0),
                  th ? rel(m, th->times.longest_at[CPU_THREAD_RUNNABLE]) : 0);
        if (th)
            say_hogs(m, th);
        if (!th || th->nobody_ns * 2 <= ns)
            maker_say(m, CPU_UNSEEN,
                      "whether others were before it, or a limit on its processor time held it back as well");
        return maker_decide(m, CPU_VERDICT_CPU_STARVED, sure,
                            had_nothing_to_do(th, h)       ? "it gave its processor back, others ran"
                            : th && th->nobody_ns * 2 > ns ? "throttled while its CPU was idle"
                                                           : "preempted or throttled");
    case HELD_STOPPED:
        maker_say(m, CPU_CERTAIN,
                  "%s/%d was stopped by a signal for %s, in %u stops, the longest %s at %+.3f ms", who, tid,
                  cpu_ns(ns), th ? th->stops : 0, cpu_ns(th ? th->times.longest[CPU_THREAD_STOPPED] : 0),
                  th ? rel(m, th->times.longest_at[CPU_THREAD_STOPPED]) : 0);
        if (th && th->longest_stop.signal) /* any but SIGSTOP may have been handled */
            maker_say(m, th->longest_stop.signal == SIGSTOP ? CPU_CERTAIN : CPU_LIKELY,
                      "%s/%d sent it signal %d before that",
                      cpu_trace_thread_at(m->e.t, th->longest_stop.from, th->longest_stop.ns),
                      th->longest_stop.from, th->longest_stop.signal);
        if (th && th->stops >= 3) /* a few stops are neither a way to throttle nor a stop */
            return maker_decide(m, CPU_VERDICT_CPU_STARVED, th->stops < 8 ? CPU_LIKELY : sure,
                                "throttled by stop signals");
        return maker_decide(m, CPU_VERDICT_FROZEN, th && th->stops == 2 ? CPU_LIKELY : sure,
                            "stopped by a signal");
    case HELD_TRACED:
        maker_say(m, CPU_CERTAIN, "%s/%d was held by the program that traces it for %s", who, tid,
                  cpu_ns(ns));
        return maker_decide(m, CPU_VERDICT_FROZEN, sure, "held by a debugger");
    case HELD_FROZEN:
        maker_say(m, CPU_CERTAIN, "%s/%d was frozen by its control group: %s", who, tid,
                  h->wait[CPU_WAIT_FROZEN]->what);
        return maker_decide(m, CPU_VERDICT_FROZEN, sure, "frozen by its control group");
    case HELD_IO:
        maker_say(m, CPU_CERTAIN, "%s/%d was blocked in the kernel for %s%s%s", who, tid, cpu_ns(ns),
                  h->io_named ? ": " : "", h->io_named ? h->wait[CPU_WAIT_IO]->what : "");
        if (!h->io_named)
            maker_say(
                m, CPU_UNSEEN,
                "what it was blocked on: input and output, or something else that cannot be interrupted");
        return maker_decide(m, CPU_VERDICT_BLOCKED_ON_IO, h->io_named ? sure : CPU_LIKELY,
                            "blocked in the kernel");
    case HELD_MEMORY:
        maker_say(m, CPU_CERTAIN, "for %s somebody on this machine waited for memory", cpu_ns(ns));
        maker_say(m, CPU_UNSEEN, "whether that was this thread");
        return maker_decide(m, CPU_VERDICT_BLOCKED_ON_IO, CPU_LIKELY, "memory was short");
    case HELD_LOCK:
        say_lock(m, h->wait[CPU_WAIT_LOCK]);
        return maker_decide(m, CPU_VERDICT_LOCKED, sure, reason_for_lock(m, h->wait[CPU_WAIT_LOCK]));
    case HELD_PEER:
        maker_say(m, CPU_CERTAIN, "%s/%d waited for %s", who, tid, h->wait[CPU_WAIT_PEER]->what);
        maker_say(m, CPU_UNSEEN, "who is at the other end, and whether that had something to give");
        return maker_decide(m, CPU_VERDICT_LOCKED, CPU_LIKELY, "whom it waits for did not answer");
    default:
        maker_say(m, CPU_CERTAIN, "the host took %s of the time in which it would have run", cpu_ns(ns));
        return maker_decide(m, CPU_VERDICT_HOST_STOLE_TIME, sure, "steal time");
    }
}

bool maker_is_locked(struct maker *m, const struct cpu_thread *th)
{
    struct cpu_waits_seen w = {0};
    const struct held h = of_thread(m, th, &w);

    if (h.ns[HELD_LOCK] * 10 < h.span || !h.ns[HELD_LOCK])
        return false;
    maker_say_thread(m, th);
    say_lock(m, h.wait[CPU_WAIT_LOCK]);
    return true;
}

static const enum cpu_thread_state shown_by[HELD_KINDS] = {
    [HELD_QUEUE] = CPU_THREAD_RUNNABLE, [HELD_STOPPED] = CPU_THREAD_STOPPED,
    [HELD_TRACED] = CPU_THREAD_TRACED,  [HELD_FROZEN] = CPU_THREAD_ASLEEP,
    [HELD_IO] = CPU_THREAD_BLOCKED,     [HELD_MEMORY] = CPU_THREAD_BLOCKED,
    [HELD_LOCK] = CPU_THREAD_ASLEEP,    [HELD_PEER] = CPU_THREAD_ASLEEP,
    [HELD_HOST] = CPU_THREAD_RUNNING,
};

bool maker_executor_held(struct maker *m)
{
    const struct held h = maker_of_executor(m);

    return m->e.threads.num_executors && held_back(m, maker_executor_in(m, shown_by[worst_of(&h)]), &h);
}

/* Of those that wait for the executor: a thread whose part is over (it submits) is none of them. */
bool maker_waiter_held(struct maker *m)
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
        if (!held_back(m, th, &h))
            continue;
        if (!done(m)) { /* the work was not done for another reason */
            maker_say(m, CPU_UNSEEN, "why the work was not done: that was not up to %s/%d",
                      cpu_trace_thread(m->e.t, th->tid), th->tid);
            m->v->certainty = CPU_LIKELY;
        }
        return true;
    }
    return false;
}
