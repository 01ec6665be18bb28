/* SPDX-License-Identifier: MIT */
#include "cpu/model/verdict.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "cpu/model/family.h"
#include "cpu/model/maker.h"
#include "cpu/model/text.h"

#define SLACK      UINT64_C(20000000)  /* between the window's borders and the trace's */
#define LIFE       UINT64_C(150000000) /* a CPU that shows nothing for so long is not known to be awake */
#define TOO_LITTLE UINT64_C(100000000) /* a shorter wait proves nothing about a GPU */

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

void maker_say(struct maker *m, enum cpu_certainty sure, const char *fmt, ...)
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

bool maker_decide(struct maker *m, enum cpu_verdict_kind kind, enum cpu_certainty certainty,
                  const char *reason)
{
    m->v->kind = kind;
    m->v->certainty = certainty;
    snprintf(m->v->reason, sizeof(m->v->reason), "%s", reason);
    return true;
}

static bool unknown(struct maker *m, const char *reason)
{
    return maker_decide(m, CPU_VERDICT_UNKNOWN, CPU_UNSEEN, reason);
}

/* ---- the rules ---------------------------------------------------------------- */

static bool in_own_namespace(const struct maker *m)
{
    return json_is_true(json_object_get(m->e.t->meta, "pid_namespace"));
}

/* The trace could hide what would change a verdict: such a verdict is likely, not certain. */
static bool is_weak(const struct maker *m)
{
    const struct cpu_window *w = m->e.w;
    bool blind = false;

    for (uint32_t i = 0; i < m->e.t->num_cpus; i++)
        blind |= m->e.cpu[i].in_chain && m->e.cpu[i].blind;
    return blind || in_own_namespace(m) || !m->e.t->has_coverage || m->e.t->notes.count || m->e.lost ||
           m->e.lost_uncounted || m->e.t->overrun || !m->e.first_ns || m->e.first_ns > w->submit_ns + SLACK ||
           m->e.last_ns + SLACK < w->timeout_ns;
}

/* The timer that was the latest because its CPU was idle, of the chain. */
static const struct cpu_late_timer *latest_timer(const struct maker *m)
{
    const struct cpu_late_timer *found = NULL;

    for (uint32_t i = 0; i < m->e.a.num_late_timers; i++) {
        const struct cpu_late_timer *x = &m->e.a.late_timers[i];
        if (x->was_idle && m->e.cpu[x->cpu].in_chain && x->late_ns >= m->e.stuck_ns &&
            (!found || x->late_ns > found->late_ns))
            found = x;
    }
    return found;
}

/* A CPU that had to wake for what it slept over: for the completion, or for the time-out if that was most of the wait. */
static const char *slept_over(struct maker *m, uint32_t cpu, enum cpu_certainty *sure)
{
    const struct cpu_window *w = m->e.w;
    const struct cpu_seen *c = &m->e.cpu[cpu];
    const bool late_back = c->idle_to == CPU_NEVER || c->idle_to >= w->timeout_ns;
    char state[32];

    *sure = CPU_LIKELY;
    cpu_trace_state(m->e.t, cpu, (uint32_t)(c->slept_over_completion ? c->completion_state : c->idle_state),
                    state, sizeof(state));
    if (c->slept_over_completion) {
        maker_say(
            m, CPU_CERTAIN,
            "the work was done at %+.3f ms; CPU %u was idle in %s from before that until after the time-out",
            rel(m, w->completed_ns), cpu, state);
        /* who else was to be woken may have had no reason to wake */
        *sure = c->takes_interrupt ? maker_grade(m, w->timeout_ns - w->completed_ns, 50) : CPU_LIKELY;
        return "it slept over the completion";
    }
    /* a GPU that is not done lets its CPU sleep */
    if (done(m) && c->takes_interrupt && late_back && c->idle_ns * 10 >= m->e.wait_ns * 9) {
        maker_say(
            m, CPU_CERTAIN,
            "CPU %u, which takes the GPU's interrupt, was idle in %s for %s of the %s of the wait, and %s",
            cpu, state, cpu_ns(c->idle_ns), cpu_ns(m->e.wait_ns),
            c->idle_to == CPU_NEVER ? "had not come back at the end of the trace"
                                    : "came back after the time-out only");
        *sure = CPU_CERTAIN;
        return "the interrupt's CPU slept all the time";
    }
    if (c->slept_over_due)
        maker_say(m, CPU_CERTAIN,
                  "the time-out was due at %+.3f ms and detected %s later; CPU %u slept over it in %s",
                  rel(m, w->due_ns), cpu_ns(w->timeout_ns - w->due_ns), cpu, state);
    return c->slept_over_due && part(m, w->timeout_ns - w->due_ns) >= 50 ? "it slept over the time-out"
                                                                         : NULL;
}

static bool asleep(struct maker *m)
{
    const struct cpu_late_timer *x = latest_timer(m);
    const char *reason = NULL, *why;
    enum cpu_certainty sure = CPU_LIKELY, one;
    char state[32];

    if (x && part(m, x->late_ns) >= 25) {
        maker_say(m, CPU_CERTAIN,
                  "a timer of CPU %u was due at %+.3f ms and fired %s late: the CPU was idle in %s", x->cpu,
                  rel(m, x->due_ns), cpu_ns(x->late_ns),
                  cpu_trace_state(m->e.t, x->cpu, x->state, state, sizeof(state)));
        reason = "a timer did not wake the CPU";
        sure = maker_grade(m, x->late_ns, 50);
    }
    for (uint32_t i = 0; i < m->e.t->num_cpus; i++) {
        if (!m->e.cpu[i].in_chain || !m->e.cpu[i].ran_others || m->e.cpu[i].blind)
            continue;
        why = slept_over(m, i, &one);
        reason = reason ? reason : why;
        sure = why && one > sure ? one : sure;
    }
    return reason && maker_decide(m, CPU_VERDICT_CPU_ASLEEP, maker_unless_lost(m, sure), reason);
}

/* What forbids to say GPU-HUNG. */
static bool cannot_tell(struct maker *m)
{
    const struct cpu_window *w = m->e.w;
    const struct cpu_coverage *cov = &m->e.t->coverage;

    if (!m->e.first_ns || m->e.first_ns > w->submit_ns + SLACK || m->e.last_ns + SLACK < w->timeout_ns) {
        maker_say(m, CPU_UNSEEN,
                  "the trace does not cover the wait: it has events from %+.3f to %+.3f ms of 0 to %.3f ms",
                  m->e.first_ns ? rel(m, m->e.first_ns) : 0, m->e.first_ns ? rel(m, m->e.last_ns) : 0,
                  (double)m->e.wait_ns / 1e6);
        return unknown(m, "the trace does not cover the wait");
    }
    for (uint32_t i = 0; i < m->e.t->num_cpus; i++)
        if (m->e.cpu[i].in_chain && m->e.cpu[i].blind) {
            maker_say(
                m, CPU_UNSEEN,
                "CPU %u is part of the chain and the trace is blind on it: %llu of its %llu idle entries are "
                "missing",
                i, (unsigned long long)(cov->cpus[i].expected - cov->cpus[i].recorded),
                (unsigned long long)cov->cpus[i].expected);
            return unknown(m, "the trace is blind on a CPU of the chain");
        }
    if (!m->e.t->has_coverage) {
        maker_say(
            m, CPU_UNSEEN,
            "the recording has no counters to check its idle trace against; a blind CPU cannot be excluded");
        return unknown(m, "the trace cannot be checked");
    }
    if (m->e.lost || m->e.lost_uncounted || m->e.t->overrun) {
        maker_say(m, CPU_UNSEEN, "events were lost: %llu in the window, %llu in the recording",
                  (unsigned long long)m->e.lost, (unsigned long long)m->e.t->overrun);
        return unknown(m, "events were lost");
    }
    if (m->e.t->notes.count) {
        maker_say(m, CPU_UNSEEN, "a part of the recording cannot be read: %s", m->e.t->notes.text[0]);
        return unknown(m, "the recording is damaged");
    }
    if (in_own_namespace(m)) {
        maker_say(
            m, CPU_UNSEEN,
            "the recorder ran in a PID namespace of its own: the threads of the window have other numbers "
            "in the trace");
        return unknown(m, "the threads are not those of the trace");
    }
    if (!m->e.threads.switches) {
        maker_say(
            m, CPU_UNSEEN,
            "thread switches were not recorded (record with --sched): a starved thread cannot be excluded");
        return unknown(m, "no thread switches");
    }
    if (w->other_numbers) {
        maker_say(m, CPU_UNSEEN,
                  "which threads are the dump's: it was made in a PID namespace of its own, and its numbers "
                  "are others' in the trace");
        return unknown(m, "the dump's numbers of processes are not the trace's");
    }
    if (w->partial) {
        maker_say(
            m, CPU_UNSEEN,
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
        maker_say(m, CPU_UNSEEN,
                  "the state of the executor's threads is not known for %s of the %s that they had",
                  cpu_ns(x->ns[CPU_THREAD_UNKNOWN]), cpu_ns(cpu_times_span(x)));
        return unknown(m, "a thread of the chain was not seen");
    }
    for (uint32_t i = 0; i < m->e.t->num_cpus; i++)
        if (m->e.cpu[i].in_chain && m->e.cpu[i].gap_ns > limit) {
            maker_say(m, CPU_UNSEEN,
                      "CPU %u showed no event for %s at %+.3f ms: it may not have been able to run", i,
                      cpu_ns(m->e.cpu[i].gap_ns), rel(m, m->e.cpu[i].gap_at));
            return unknown(m, "a CPU of the chain showed no life");
        }
    return false;
}

static void say_end(struct maker *m, const struct cpu_thread *th)
{
    if (th->became_ns)
        maker_say(m, CPU_CERTAIN, "the executor's last thread, %s/%d, became another program at %+.3f ms",
                  cpu_trace_thread(m->e.t, th->tid), th->tid, rel(m, th->became_ns));
    else
        maker_say(m, CPU_CERTAIN,
                  "the executor's last thread, %s/%d, ended at %+.3f ms; the work was not done",
                  cpu_trace_thread(m->e.t, th->tid), th->tid,
                  rel(m, m->e.threads.executor.longest_at[CPU_THREAD_DEAD]));
    if (th->signal && th->signal_code > 0)
        maker_say(m, CPU_LIKELY, "signal %d came before that, from the kernel: %s", th->signal,
                  th->signal_code < SI_KERNEL ? "for a fault of its own" : "a limit, or want of memory");
    else if (th->signal)
        maker_say(m, CPU_LIKELY, "signal %d, sent by %s/%d, came before that", th->signal,
                  cpu_trace_thread_at(m->e.t, th->signal_from, th->signal_ns), th->signal_from);
}

/* The end of the threads that are named is not the end of their process, and that is not the end of what it does. */
static bool executor_died(struct maker *m)
{
    const struct cpu_times *x = &m->e.threads.executor;
    const struct cpu_process_fate *fate = &m->e.fate;
    const struct cpu_thread *th;
    const bool long_dead = x->ns[CPU_THREAD_DEAD] * 4 >= cpu_times_span(x);
    bool certain = long_dead && !m->weak && fate->is_known;

    if (!x->ns[CPU_THREAD_DEAD])
        return false;
    th = maker_executor_in(m, CPU_THREAD_DEAD);
    say_end(m, th);
    if (!long_dead && maker_executor_held(m)) /* it ended at the end of what held it back */
        return true;
    if (!long_dead)
        maker_say(m, CPU_UNSEEN, "whether it was hung before: it lived for %s of the %s",
                  cpu_ns(cpu_times_span(x) - x->ns[CPU_THREAD_DEAD]), cpu_ns(cpu_times_span(x)));
    if (th->became_ns) {
        maker_say(m, CPU_UNSEEN, "whether the program that it became goes on with the work");
        return maker_decide(m, CPU_VERDICT_EXECUTOR_DIED, CPU_LIKELY, "it became another program");
    }
    if (fate->is_known && fate->living) {
        maker_say(m, CPU_CERTAIN, "its process lived on: %u of its threads, among them %s/%d, had not ended",
                  fate->living, cpu_trace_thread(m->e.t, fate->example), fate->example);
        maker_say(m, CPU_UNSEEN, "which of them had the work then");
        return unknown(m, "a thread ended, its process lived on");
    }
    if (!fate->is_known)
        maker_say(m, CPU_UNSEEN,
                  "whether its process ended: which other threads that had is not in the recording");
    return maker_decide(m, CPU_VERDICT_EXECUTOR_DIED, certain ? CPU_CERTAIN : CPU_LIKELY,
                        "its process ended");
}

/* By how much; 0: in time, early, or not given. */
static uint64_t watchdog_late(const struct maker *m)
{
    const struct cpu_window *w = m->e.w;

    return w->due_ns > w->submit_ns && w->timeout_ns > w->due_ns + m->e.stuck_ns ? w->timeout_ns - w->due_ns
                                                                                 : 0;
}

static void say_watchdog(struct maker *m)
{
    const struct cpu_window *w = m->e.w;

    if (watchdog_late(m))
        maker_say(m, CPU_CERTAIN, "the time-out was due at %+.3f ms and detected %s later", rel(m, w->due_ns),
                  cpu_ns(watchdog_late(m)));
    else if (w->due_ns > w->timeout_ns)
        maker_say(m, CPU_CERTAIN, "the time-out was detected %s before it was due, at %+.3f ms",
                  cpu_ns(w->due_ns - w->timeout_ns), rel(m, w->due_ns));
    else if (w->due_ns && w->due_ns <= w->submit_ns)
        maker_say(m, CPU_UNSEEN,
                  "when the time-out was due: not before the submission, as the window has it");
}

/* A crash dump's own marks say which command was at the device: who ran meanwhile executed that. */
static bool is_witnessed(const struct maker *m)
{
    const struct cpu_dump_says *d = &m->e.w->dump;

    return d->any && !strcmp(d->sure[0], "proven") && !strcmp(d->sure[1], "proven");
}

/* It was in waits for a GPU's fences, whatever it did in them: their ends were recorded, and none was lost. */
static bool is_in_waits(const struct maker *m)
{
    return !m->weak && m->e.threads.waited_ns * 10 >= cpu_times_span(&m->e.threads.executor) * 9 &&
           !m->e.threads.other_waits && cpu_trace_records(m->e.t, "dma_fence:dma_fence_wait_end");
}

/* It ran. On processors that is the GPU, but a thread that waits in a loop for somebody else runs as well. */
static enum cpu_certainty ran_or_waited(struct maker *m, const struct held *h)
{
    if (h->device * 10 >= h->span * 9 || is_in_waits(m) || is_witnessed(m))
        return CPU_CERTAIN;
    maker_say(
        m, CPU_UNSEEN,
        "what it ran: the GPU's work, or a loop in which it waited for somebody; a crash dump of the GPU would say");
    return CPU_LIKELY;
}

/* Whether the executor was at the GPU's work while it was not done, as far as that was seen. */
static enum cpu_certainty was_at_work(struct maker *m)
{
    const struct cpu_times *x = &m->e.threads.executor;
    const struct held h = maker_of_executor(m);

    if (!m->e.threads.num_executors || x->ns[CPU_THREAD_UNKNOWN] * 10 > cpu_times_span(x)) {
        maker_say(m, CPU_UNSEEN, "what the executor did meanwhile%s",
                  m->e.threads.num_executors ? ": the trace does not show it" : ": the window names none");
        return CPU_LIKELY;
    }
    if ((maker_ran(&h) + h.device) * 10 < h.span * 9 && !is_in_waits(m)) {
        maker_say(m, CPU_UNSEEN,
                  "whether the GPU was slow: its executor ran or waited for the device for %s of the %s",
                  cpu_ns(maker_ran(&h) + h.device), cpu_ns(h.span));
        return CPU_LIKELY;
    }
    return ran_or_waited(m, &h);
}

static bool slow(struct maker *m, enum cpu_certainty sure, const char *reason)
{
    if (maker_executor_held(m))
        return true;
    for (uint32_t i = 0; i < m->e.threads.num; i++)
        if (m->e.threads.list[i].role == CPU_ROLE_EXECUTOR)
            maker_say_thread(m, &m->e.threads.list[i]);
    sure = maker_less_sure(sure, was_at_work(m));
    return maker_decide(m, CPU_VERDICT_GPU_SLOW, m->weak ? CPU_LIKELY : sure, reason);
}

/* Who waits, and was told: it ran when the work was done, and slept in one go then. What it slept for was not this work. */
static const struct cpu_thread *took_it(const struct maker *m)
{
    for (uint32_t i = 0; i < m->e.threads.num; i++) {
        const struct cpu_thread *th = &m->e.threads.list[i];

        if (th->role == CPU_ROLE_WAITER && th->ran_ns && th->ran_ns <= th->times.from_ns + m->e.stuck_ns &&
            (th->times.longest[CPU_THREAD_ASLEEP] + th->times.longest[CPU_THREAD_DEAD]) * 10 >=
                cpu_times_span(&th->times) * 6)
            return th;
    }
    return NULL;
}

/* That nobody looked is proven by who waits: it was seen, and did not run. */
static enum cpu_certainty nobody_looked(struct maker *m)
{
    enum cpu_certainty sure = CPU_CERTAIN;
    uint32_t waiters = 0;

    for (uint32_t i = 0; i < m->e.threads.num; i++) {
        const struct cpu_thread *th = &m->e.threads.list[i];
        const uint64_t *ns = th->times.ns, span = cpu_times_span(&th->times);

        if (th->role != CPU_ROLE_WAITER)
            continue;
        waiters++;
        maker_say_thread(m, th);
        if (ns[CPU_THREAD_UNKNOWN] * 10 > span)
            maker_say(m, CPU_UNSEEN, "whether thread %d looked: it was not seen for %s of the %s", th->tid,
                      cpu_ns(ns[CPU_THREAD_UNKNOWN]), cpu_ns(span));
        else if (maker_may_have_looked(th, 9))
            maker_say(m, CPU_UNSEEN, "whether %s/%d looked: it ran at %+.3f ms, when the work was done",
                      cpu_trace_thread(m->e.t, th->tid), th->tid, rel(m, th->ran_ns));
        else if (ns[CPU_THREAD_DEAD] * 10 > span)
            maker_say(m, CPU_UNSEEN, "who waits in the place of %s/%d, which ended",
                      cpu_trace_thread(m->e.t, th->tid), th->tid);
        else
            continue;
        sure = ns[CPU_THREAD_UNKNOWN] * 2 > span ? CPU_UNSEEN : maker_less_sure(sure, CPU_LIKELY);
    }
    if (!waiters)
        maker_say(m, CPU_UNSEEN, "who waits for the work: the window names nobody");
    return waiters ? sure : CPU_LIKELY;
}

static bool waiter_late(struct maker *m, enum cpu_certainty sure)
{
    const struct cpu_thread *told = took_it(m);

    sure = maker_less_sure(sure, nobody_looked(m));
    if (told)
        return maker_say(m, CPU_UNSEEN,
                         "why there was a time-out: %s/%d ran when the work was done, and slept then",
                         cpu_trace_thread(m->e.t, told->tid), told->tid),
               unknown(m, "who waits ran when the work was done");
    if (sure == CPU_UNSEEN)
        return unknown(m, "who waits was not seen");
    return maker_decide(m, CPU_VERDICT_WAITER_LATE, sure, "the work was done, nobody looked");
}

/* The work was done, and somebody said that it was not. */
static bool was_done(struct maker *m)
{
    const struct cpu_window *w = m->e.w;
    const uint64_t late = w->timeout_ns - w->completed_ns, watchdog = watchdog_late(m);
    /* done at about the time at which the time-out was due: late is the watchdog, or who waits */
    const bool about_due =
        watchdog && part(m, watchdog) >= 10 && w->completed_ns + m->e.wait_ns / 20 >= w->due_ns;
    enum cpu_certainty sure = m->weak ? CPU_LIKELY : CPU_CERTAIN;

    if (!done(m))
        return false;
    maker_say(m, CPU_CERTAIN, "the work was done at %+.3f ms, %s before the time-out: the GPU was not hung",
              rel(m, w->completed_ns), cpu_ns(late));
    say_watchdog(m);
    if (part(m, watchdog) >= 25 && w->completed_ns > w->due_ns)
        return asleep(m) || maker_decide(m, CPU_VERDICT_WATCHDOG_LATE,
                                         maker_less_sure(maker_less_sure(maker_grade(m, watchdog, 40),
                                                                         maker_grade(m, late, 5)),
                                                         maker_grade(m, w->completed_ns - w->due_ns, 5)),
                                         "the work was done when it looked");
    if (late <= m->e.stuck_ns || part(m, late) <= 10)
        return slow(m, part(m, late) <= 5 ? CPU_CERTAIN : CPU_LIKELY, "it was done just before the time-out");
    if (maker_waiter_held(m)) {
        m->v->certainty = maker_less_sure((enum cpu_certainty)m->v->certainty, maker_grade(m, late, 25));
        return true;
    }
    if (asleep(m))
        return true;
    return waiter_late(m, about_due ? CPU_LIKELY : maker_less_sure(sure, maker_grade(m, late, 25)));
}

/* What explains a part of the wait: too little to be the cause, too much to call the GPU hung for certain. */
static bool in_between(struct maker *m)
{
    const struct cpu_late_timer *timer = latest_timer(m);
    const struct cpu_window *w = m->e.w;

    if (part(m, maker_most_stolen(m)) >= 10) {
        maker_say(m, CPU_CERTAIN, "the host took a CPU of the chain away for %s (%.0f%% of the wait)",
                  cpu_ns(maker_most_stolen(m)), part(m, maker_most_stolen(m)));
        return unknown(m, "the host took a processor for a part of the wait");
    }
    if (part(m, maker_longest_ipi(m)) >= 10 && maker_longest_ipi(m) >= m->e.stuck_ns) {
        maker_say(m, CPU_CERTAIN, "an IPI waited for %s (%.0f%% of the wait)", cpu_ns(maker_longest_ipi(m)),
                  part(m, maker_longest_ipi(m)));
        return unknown(m, "an IPI waited for a part of the wait");
    }
    if (timer && part(m, timer->late_ns) >= 10) {
        maker_say(m, CPU_CERTAIN, "a timer of CPU %u fired %s late", timer->cpu, cpu_ns(timer->late_ns));
        return unknown(m, "a timer was late for a part of the wait");
    }
    if (w->due_ns > w->timeout_ns && (w->due_ns - w->timeout_ns) * 10 >= w->due_ns - w->submit_ns)
        return unknown(m, "the time-out came before it was due");
    return false;
}

/* It ran, by one of its threads, and that may have waited in a loop for another one, which was not let run; or it is not the one
 * any more that the work was given to. */
static bool is_not_whole(struct maker *m)
{
    for (uint32_t i = 0; i < m->e.threads.num; i++) {
        const struct cpu_thread *th = &m->e.threads.list[i];
        const uint64_t *ns = th->times.ns, span = cpu_times_span(&th->times),
                       held = th->others_ns + th->nobody_ns + ns[CPU_THREAD_STOPPED] + ns[CPU_THREAD_TRACED];

        if (th->role != CPU_ROLE_EXECUTOR)
            continue;
        if (held * 10 >= span) {
            maker_say_thread(m, th);
            return unknown(m, "a thread of the executor was held back for a part of the wait");
        }
        if (maker_is_locked(m, th))
            return unknown(m, "a thread of the executor waited for a lock");
        if (th->died_ns > th->times.from_ns && th->died_ns < th->times.to_ns &&
            th->born_ns < th->times.from_ns) {
            maker_say(m, CPU_CERTAIN, "%s/%d ended at %+.3f ms, others of the executor's threads went on",
                      cpu_trace_thread(m->e.t, th->tid), th->tid, rel(m, th->died_ns));
            return unknown(m, "a thread of the executor ended in the wait");
        }
    }
    return false;
}

/* Of a wait whose work was not done: proof that the GPU had its chance, or none. */
static void hung_or_not(struct maker *m)
{
    const struct held h = maker_of_executor(m);
    const uint64_t busy = maker_ran(&h) + h.device;

    for (uint32_t i = 0; i < m->e.threads.num; i++)
        if (m->e.threads.list[i].role == CPU_ROLE_EXECUTOR && m->v->num_lines < 12)
            maker_say_thread(m, &m->e.threads.list[i]);
    if (h.all * 10 >= h.span) {
        maker_say(
            m, CPU_CERTAIN,
            "the executor was held back for %s (%.0f%% of the wait): too long to call the GPU hung, too short "
            "to explain the wait",
            cpu_ns(h.all), 100.0 * (double)h.all / (double)h.span);
        unknown(m, "the executor was held back for a part of the wait");
    } else if (busy * 10 < h.span * 9) {
        const struct cpu_task_wait *x =
            h.wait[CPU_WAIT_FENCE] ? h.wait[CPU_WAIT_FENCE] : h.wait[CPU_WAIT_OTHER];
        maker_say(m, CPU_CERTAIN, "the executor slept for %s of the %s of the wait", cpu_ns(h.asleep),
                  cpu_ns(h.span));
        maker_say(m, CPU_UNSEEN,
                  x ? "what it waited for: it was in %s" : "what it waited for: nobody looked%s",
                  x ? x->what : "");
        if (m->e.threads.other_waits || h.wait[CPU_WAIT_FENCE])
            maker_say(
                m, CPU_LIKELY,
                "it waited for a fence, or in a driver, that is not known to be the GPU's: any driver has fences");
        if (!maker_waiter_held(m))
            unknown(m, "the executor slept, and not on the device");
    } else if (m->e.threads.several_gpus && (h.device * 10 >= h.span || is_in_waits(m))) {
        maker_say(m, CPU_UNSEEN, "for which GPU it waited: it had fences of more than one driver's");
        unknown(m, "the executor waited for more than one GPU");
    } else if (m->e.wait_ns < TOO_LITTLE) {
        maker_say(m, CPU_CERTAIN, "the wait was %s: every GPU is busy for so long", cpu_ns(m->e.wait_ns));
        unknown(m, "the wait is too short to tell");
    } else if (in_between(m) || is_not_whole(m)) {
        return;
    } else if (h.device && m->e.fences_late) {
        maker_say(m, CPU_CERTAIN, "%llu fences were signalled in the second half of the wait",
                  (unsigned long long)m->e.fences_late);
        maker_decide(m, CPU_VERDICT_GPU_SLOW, CPU_LIKELY, "it made progress");
    } else {
        maker_say(
            m, CPU_CERTAIN,
            "the executor ran for %s and waited for the device for %s of the %s; it was held back for %s in all",
            cpu_ns(maker_ran(&h)), cpu_ns(h.device), cpu_ns(h.span), cpu_ns(h.all));
        maker_say(m, CPU_CERTAIN,
                  "no IPI waited for longer than %s; no CPU of the chain was silent for half of the wait",
                  cpu_ns(maker_longest_ipi(m)));
        maker_say(m, CPU_UNSEEN,
                  "whether the GPU would have ended later: one that is slow looks the same until then");
        maker_decide(m, CPU_VERDICT_GPU_HUNG, ran_or_waited(m, &h),
                     "the processors were there, the GPU was not");
    }
}

/* Times of two clocks cannot be compared, and numbers of processes are one boot's. */
static bool is_of_another_clock(struct maker *m)
{
    const struct cpu_window *w = m->e.w;
    const char *boot = m->e.t->boot_id;

    if (w->boot_id[0] && boot[0] && strcmp(w->boot_id, boot) != 0) {
        maker_say(m, CPU_CERTAIN,
                  "the window is of boot %.36s, the recording of %.36s: another machine, or another time",
                  w->boot_id, boot);
        return unknown(m, "the window is of another boot");
    }
    if (w->clock_unknown || m->e.t->clock_unknown) {
        maker_say(m, CPU_UNSEEN, "when on the machine's clock it was: %s a time namespace of unknown offset",
                  w->clock_unknown ? "times of the dump are of" : "the recorder ran in");
        return unknown(m, "whose clock the times are of is not known");
    }
    return false;
}

/* A dump that does not say of which boot it is may be of another one. */
static void doubt_boot(struct maker *m)
{
    const struct cpu_window *w = m->e.w;

    if (!w->is_dump || (w->boot_id[0] && m->e.t->boot_id[0]) || m->v->certainty != CPU_CERTAIN)
        return;
    maker_say(m, CPU_UNSEEN, "whether both are of one boot of one machine: the %s does not say",
              w->boot_id[0] ? "recording" : "dump");
    m->v->certainty = CPU_LIKELY;
}

static void judge(struct maker *m)
{
    const struct cpu_window *w = m->e.w;

    if (is_of_another_clock(m))
        return;
    if (maker_host_stole(m) || maker_ipi_stall(m) || was_done(m) || executor_died(m))
        return;
    if (w->completed_ns >= w->timeout_ns) {
        maker_say(m, CPU_CERTAIN, "the work was done at %+.3f ms, %s after the time-out",
                  rel(m, w->completed_ns), cpu_ns(w->completed_ns - w->timeout_ns));
        say_watchdog(m);
        slow(m, CPU_CERTAIN, "it was done after the time-out");
        return;
    }
    if (w->completed_ns)
        maker_say(m, CPU_UNSEEN,
                  "the GPU's record says that it was done before it was submitted: not believed");
    if (maker_executor_held(m) || asleep(m) || cannot_tell(m))
        return;
    if (!m->e.threads.num_executors) {
        if (!maker_waiter_held(m)) {
            maker_say(
                m, CPU_UNSEEN,
                "the window names no thread that stands for the GPU: whether it had its chance is not known");
            unknown(m, "no executor is named");
        }
        return;
    }
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
        doubt_boot(&m);
        for (uint32_t i = 0; i < w->num_vblanks; i++)
            explain_vblank(&m, i);
        v->dump = w->dump;
        if (v->dump.any)
            v->relation =
                witness_text(v->relation_text, sizeof(v->relation_text), v->dump.cause, v->dump.sure[2],
                             cpu_verdict_name(v->kind), cpu_certainty_name(v->certainty));
        verdict_check(&m);
    }
    cpu_evidence_finish(&m.e);
    return r;
}
