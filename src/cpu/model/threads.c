/* SPDX-License-Identifier: MIT */
#include "cpu/model/threads.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* __TASK_STOPPED, __TASK_TRACED, TASK_UNINTERRUPTIBLE, EXIT_DEAD | EXIT_ZOMBIE; any of the low bits: not runnable */
#define STATE_STOPPED 0x04u
#define STATE_TRACED  0x08u
#define STATE_BLOCKED 0x02u
#define STATE_DEAD    0x30u
#define STATE_SLEEPS  0xffu
#define SHORT         UINT64_C(500000) /* a tick seldom ends a run so soon */

const char *cpu_thread_state_name(enum cpu_thread_state state)
{
    static const char *const names[CPU_THREAD_STATES] = {
        [CPU_THREAD_RUNNING] = "ran",
        [CPU_THREAD_RUNNABLE] = "could run and did not",
        [CPU_THREAD_STOPPED] = "was stopped",
        [CPU_THREAD_TRACED] = "was held by a debugger",
        [CPU_THREAD_BLOCKED] = "was blocked in the kernel",
        [CPU_THREAD_DEVICE] = "waited for the device",
        [CPU_THREAD_UNKNOWN] = "was not seen",
        [CPU_THREAD_ASLEEP] = "slept",
        [CPU_THREAD_DEAD] = "was dead",
    };

    INVARIANT(state < CPU_THREAD_STATES);
    return names[state];
}

/* The times add up to what has passed of the span: invariant 2. */
static void times_check(const struct cpu_times *t, uint64_t until)
{
    const uint64_t end = until > t->to_ns ? t->to_ns : until < t->from_ns ? t->from_ns : until;
    uint64_t sum = 0;

    INVARIANT(t->from_ns <= t->to_ns);
    for (int i = 0; i < CPU_THREAD_STATES; i++) {
        sum += t->ns[i];
        INVARIANT(t->longest[i] <= t->ns[i]);
    }
    INVARIANT(sum == end - t->from_ns);
}

static uint64_t overlap(const struct cpu_times *t, uint64_t from, uint64_t to, uint64_t *begin)
{
    *begin = from < t->from_ns ? t->from_ns : from;
    if (to > t->to_ns)
        to = t->to_ns;
    return to > *begin ? to - *begin : 0;
}

static void times_add(struct cpu_times *t, enum cpu_thread_state state, uint64_t from, uint64_t to)
{
    uint64_t begin, len = overlap(t, from, to, &begin);

    t->ns[state] += len;
    if (len > t->longest[state]) {
        t->longest[state] = len;
        t->longest_at[state] = begin;
    }
}

int cpu_threads_init(struct cpu_threads *t, const struct cpu_window *w, uint32_t num_cpus,
                     const struct cpu_coverage *coverage)
{
    const bool done = w->completed_ns > w->submit_ns && w->completed_ns < w->timeout_ns;

    *t = (struct cpu_threads){
        .coverage = coverage,
        .num_cpus = num_cpus,
        .executor_state = CPU_THREAD_UNKNOWN,
        .executor = {.from_ns = w->submit_ns, .to_ns = done ? w->completed_ns : w->timeout_ns}};
    t->on = calloc(num_cpus + 1, sizeof(*t->on));
    if (!t->on)
        return -ENOMEM;
    for (uint32_t i = 0; i < num_cpus; i++)
        t->on[i].tid = -1;
    for (uint32_t i = 0; i < w->num_threads && i < CPU_WINDOW_THREADS; i++) {
        const struct cpu_window_thread *x = &w->threads[i];
        struct cpu_times span = {.from_ns = w->submit_ns, .to_ns = w->timeout_ns};

        if (x->tid <= 0)
            continue;
        if (x->role == CPU_ROLE_EXECUTOR)
            span = t->executor;
        else if (done && x->role != CPU_ROLE_SUBMIT && x->role != CPU_ROLE_VBLANK)
            span.from_ns = w->completed_ns;
        t->num_executors += x->role == CPU_ROLE_EXECUTOR;
        t->list[t->num++] = (struct cpu_thread){
            .tid = x->tid, .role = x->role, .cpu = x->cpu, .state = CPU_THREAD_UNKNOWN, .times = span};
    }
    return 0;
}

void cpu_threads_add_holder(struct cpu_threads *t, int32_t tid)
{
    if (t->num < CPU_WINDOW_THREADS && !cpu_threads_find(t, tid))
        t->list[t->num++] =
            (struct cpu_thread){.tid = tid,
                                .role = (enum cpu_role)CPU_ROLE_HOLDER,
                                .cpu = -1,
                                .state = CPU_THREAD_UNKNOWN,
                                .times = {.from_ns = t->executor.from_ns, .to_ns = t->executor.to_ns}};
}

void cpu_threads_finish(struct cpu_threads *t)
{
    free(t->on);
    memset(t, 0, sizeof(*t));
}

static void executor_changes(struct cpu_threads *t, uint64_t ns)
{
    enum cpu_thread_state now = t->num_executors ? CPU_THREAD_DEAD : CPU_THREAD_UNKNOWN;

    for (uint32_t i = 0; i < t->num; i++)
        if (t->list[i].role == CPU_ROLE_EXECUTOR && t->list[i].state < now)
            now = t->list[i].state;
    if (now == t->executor_state)
        return;
    times_add(&t->executor, t->executor_state, t->executor_since, ns);
    t->executor_state = now;
    t->executor_since = ns;
    times_check(&t->executor, ns);
}

/* The time in the state that it is in, until `ns`. */
static void add_state(struct cpu_thread *th, uint64_t ns)
{
    const uint64_t stopped = th->times.ns[CPU_THREAD_STOPPED],
                   longest = th->times.longest[CPU_THREAD_STOPPED],
                   runnable = th->times.ns[CPU_THREAD_RUNNABLE];
    uint64_t begin;

    if (th->state == CPU_THREAD_RUNNING && !th->ran_ns && overlap(&th->times, th->since_ns, ns, &begin))
        th->ran_ns = begin;
    times_add(&th->times, th->state, th->since_ns, ns);
    if (th->gave && th->times.ns[CPU_THREAD_RUNNABLE] > runnable) {
        th->gives++;
        th->given_ns += th->times.ns[CPU_THREAD_RUNNABLE] - runnable;
    }
    th->stops += th->times.ns[CPU_THREAD_STOPPED] > stopped;
    if (th->times.longest[CPU_THREAD_STOPPED] > longest)
        th->longest_stop = th->stopped_by;
}

/* Where it ran or waited to run until `ns`. */
static void account(struct cpu_threads *t, struct cpu_thread *th, uint64_t ns)
{
    uint64_t begin, len;

    if (th->cpu < 0 || (uint32_t)th->cpu >= t->num_cpus || th->role == (enum cpu_role)CPU_ROLE_HOLDER ||
        (th->state != CPU_THREAD_RUNNING && th->state != CPU_THREAD_RUNNABLE))
        return;
    len = overlap(&th->times, th->queued_ns, ns, &begin);
    t->on[th->cpu].chain_ns += len;
    if (th->role == CPU_ROLE_EXECUTOR)
        t->on[th->cpu].executor_ns += len;
}

static void set_state(struct cpu_threads *t, struct cpu_thread *th, enum cpu_thread_state state, uint64_t ns)
{
    INVARIANT(state < CPU_THREAD_STATES && th->state < CPU_THREAD_STATES);
    if (ns < th->since_ns)
        ns = th->since_ns; /* clocks of CPUs may differ by a little */
    account(t, th, ns);
    add_state(th, ns);
    if (state == CPU_THREAD_STOPPED && th->state != CPU_THREAD_STOPPED) {
        th->stopped_by = th->sent;
        th->sent = (struct cpu_stop){0};
    }
    if (state == CPU_THREAD_DEAD && !th->died_ns)
        th->died_ns = ns;
    th->state = state;
    th->since_ns = th->queued_ns = ns;
    times_check(&th->times, ns);
    if (th->role == CPU_ROLE_EXECUTOR)
        executor_changes(t, ns < t->executor_since ? t->executor_since : ns);
}

static void add_hog(struct cpu_thread *th, int32_t tid, uint64_t ns)
{
    int least = 0;

    if (tid == 0) {
        th->nobody_ns += ns;
        return;
    }
    for (int i = 0; i < CPU_HOGS; i++) {
        if (th->hogs[i].tid == tid) {
            th->hogs[i].ns += ns;
            return;
        }
        if (th->hogs[i].ns < th->hogs[least].ns)
            least = i;
    }
    if (th->hogs[least].ns < ns) {
        th->hogs[least].tid = tid;
        th->hogs[least].ns = ns;
    }
}

static void charge_one(struct cpu_threads *t, struct cpu_thread *th, uint32_t cpu, uint64_t ns)
{
    const struct cpu_on *on = &t->on[cpu];
    const uint64_t from = th->queued_ns > on->since ? th->queued_ns : on->since;
    const struct cpu_thread *by;
    uint64_t begin, len;

    if (th->state != CPU_THREAD_RUNNABLE || th->cpu != (int32_t)cpu || on->tid < 0 || on->tid == th->tid)
        return;
    len = overlap(&th->times, from, ns, &begin);
    if (!len)
        return;
    add_hog(th, on->tid, len);
    by = on->tid ? cpu_threads_find(t, on->tid) : NULL;
    if (on->tid && (!by || by->role != CPU_ROLE_EXECUTOR))
        th->others_ns += len;
}

/* The thread that ran on `cpu` until `ns` kept those from it that were runnable there. */
static void charge(struct cpu_threads *t, uint32_t cpu, uint64_t ns)
{
    for (uint32_t i = 0; i < t->num; i++)
        charge_one(t, &t->list[i], cpu, ns);
}

struct cpu_thread *cpu_threads_find(struct cpu_threads *t, int32_t tid)
{
    for (uint32_t i = 0; i < t->num; i++)
        if (t->list[i].tid == tid)
            return &t->list[i];
    return NULL;
}

/* What happens to this number now happens to the thread of the window; NULL if there is none, or it is another's by now. */
static struct cpu_thread *living(struct cpu_threads *t, int32_t tid)
{
    struct cpu_thread *th = cpu_threads_find(t, tid);

    return th && !th->is_gone ? th : NULL;
}

/* What a thread is that was switched out in these state bits. */
static enum cpu_thread_state left_as(const struct cpu_thread *th, uint64_t bits)
{
    return th->died_ns || bits & STATE_DEAD ? CPU_THREAD_DEAD
           : bits & STATE_STOPPED           ? CPU_THREAD_STOPPED
           : bits & STATE_TRACED            ? CPU_THREAD_TRACED
           : !(bits & STATE_SLEEPS)         ? CPU_THREAD_RUNNABLE
           : th->in_fence_wait              ? CPU_THREAD_DEVICE
           : th->in_other_wait    ? CPU_THREAD_ASLEEP /* for whom is not known: no proof of anything */
           : bits & STATE_BLOCKED ? CPU_THREAD_BLOCKED
                                  : CPU_THREAD_ASLEEP;
}

/* Where it was before the window matters only as the place at which it entered it. */
static void seen_on(struct cpu_threads *t, struct cpu_thread *th, const struct cpu_event *ev)
{
    account(t, th, ev->ns);
    th->queued_ns = ev->ns;
    if (ev->ns < t->executor.from_ns)
        memset(th->cpus, 0, sizeof(th->cpus));
    th->cpu = ev->cpu;
    th->cpus[ev->cpu / 64] |= UINT64_C(1) << (ev->cpu % 64);
}

/* Who is switched out runnable while nothing came that could have taken the CPU from it gave it back. Where the timer's
 * interrupts are not recorded one of them may have come, if it ran for long enough. */
static bool gave_back(const struct cpu_on *on, const struct cpu_event *ev)
{
    return ev->b == 0 && on->tid == (int32_t)ev->a && !on->disturbed &&
           (on->ticks || ev->ns - on->since < SHORT);
}

static void on_switch(struct cpu_threads *t, const struct cpu_event *ev)
{
    struct cpu_thread *out = living(t, (int32_t)ev->a), *in = living(t, (int32_t)ev->c);
    struct cpu_on *on = &t->on[ev->cpu];
    const bool gave = gave_back(on, ev);

    t->switches++;
    charge(t, ev->cpu, ev->ns);
    on->tid = (int32_t)ev->c;
    on->since = ev->ns;
    on->disturbed = false;
    if (out && ev->a) {
        seen_on(t, out, ev);
        set_state(t, out, left_as(out, ev->b), ev->ns);
        out->gave = gave;
    }
    if (in && ev->c) {
        seen_on(t, in, ev);
        set_state(t, in, CPU_THREAD_RUNNING, ev->ns);
    }
}

static void on_wakeup(struct cpu_threads *t, const struct cpu_event *ev)
{
    struct cpu_thread *th = living(t, (int32_t)ev->a);

    if (!th || th->state == CPU_THREAD_RUNNING || th->state == CPU_THREAD_RUNNABLE ||
        th->state == CPU_THREAD_DEAD)
        return;
    if (ev->b < t->num_cpus)
        th->cpu = (int32_t)ev->b;
    th->gave = false;
    set_state(t, th,
              t->coverage && ev->b < CPU_MAX_CPUS && cpu_coverage_is_blind(t->coverage, (uint32_t)ev->b)
                  ? CPU_THREAD_UNKNOWN
                  : CPU_THREAD_RUNNABLE,
              ev->ns);
}

/* Only those matter that can end or stop a thread that does not handle them. */
static void on_signal(struct cpu_threads *t, const struct cpu_event *ev)
{
    struct cpu_thread *th = living(t, (int32_t)ev->a);

    if (!th)
        return;
    if (ev->b == SIGCONT) /* what was to stop it and has not does so no more */
        th->sent = (struct cpu_stop){0};
    if (ev->b == SIGSTOP || ev->b == SIGTSTP || ev->b == SIGTTIN || ev->b == SIGTTOU)
        th->sent = (struct cpu_stop){(int32_t)ev->b, ev->tid, ev->ns};
    if (th->died_ns || ev->b == SIGCHLD || ev->b == SIGCONT || ev->b == SIGURG || ev->b == SIGWINCH)
        return;
    th->signal = (int32_t)ev->b;
    th->signal_from = ev->tid;
    th->signal_code = (int32_t)ev->c;
    th->signal_ns = ev->ns;
}

/* From the begin of a wait to its end a thread is in it, whether it sleeps then or runs for a moment. */
static void set_in_wait(struct cpu_threads *t, struct cpu_thread *th, bool in, uint64_t ns)
{
    uint64_t begin;

    if (th->role == CPU_ROLE_EXECUTOR && in && !th->in_fence_wait && !t->in_waits++)
        t->in_waits_since = ns;
    if (th->role == CPU_ROLE_EXECUTOR && !in && th->in_fence_wait && !--t->in_waits)
        t->waited_ns += overlap(&t->executor, t->in_waits_since, ns, &begin);
    th->in_fence_wait = in;
}

/* The number of a dead thread is given out again. Before the span that is the one that is meant; later it is a stranger. */
static void on_fork(struct cpu_threads *t, const struct cpu_event *ev)
{
    struct cpu_thread *th = living(t, (int32_t)ev->b);

    if (!th)
        return;
    if (!th->died_ns) {
        th->born_ns = ev->ns;
    } else if (ev->ns >= th->times.from_ns) {
        set_state(t, th, CPU_THREAD_DEAD, ev->ns);
        th->is_gone = true;
    } else {
        th->died_ns = 0;
        th->born_ns = ev->ns;
        set_in_wait(t, th, false, ev->ns);
        th->in_other_wait = false;
        set_state(t, th, CPU_THREAD_UNKNOWN, ev->ns);
    }
}

/* It waits at another CPU from now on: who runs where it was keeps it from nothing. */
static void on_migrate(struct cpu_threads *t, const struct cpu_event *ev)
{
    struct cpu_thread *th = living(t, (int32_t)ev->a);

    if (!th || ev->b >= t->num_cpus)
        return;
    if (th->state == CPU_THREAD_RUNNABLE && th->cpu >= 0)
        charge_one(t, th, (uint32_t)th->cpu, ev->ns);
    account(t, th, ev->ns);
    th->cpu = (int32_t)ev->b;
    th->queued_ns = ev->ns;
}

/* What a program had to do ends with it, though its process goes on as another one. Who was started in the span was given its
 * work as that other one. */
static void on_exec(struct cpu_threads *t, const struct cpu_event *ev)
{
    const int32_t numbers[2] = {(int32_t)ev->a, (int32_t)ev->b};

    for (int i = 0; i < 2; i++) {
        struct cpu_thread *th = living(t, numbers[i]);

        if (!th || ev->ns < th->times.from_ns || th->born_ns >= th->times.from_ns)
            continue;
        th->became_ns = ev->ns;
        set_state(t, th, CPU_THREAD_DEAD, ev->ns);
        th->is_gone = true;
    }
}

static void on_fence_wait(struct cpu_threads *t, struct cpu_thread *th, const struct cpu_event *ev)
{
    const bool starts = ev->kind == CPU_EV_FENCE_WAIT_START, is_gpu = CPU_FENCE(ev->c) == CPU_FENCE_GPU;
    const uint64_t driver = ev->c >> 8;

    set_in_wait(t, th, starts && is_gpu, ev->ns);
    th->in_other_wait = starts && !is_gpu;
    if (!starts || th->role != CPU_ROLE_EXECUTOR || ev->ns > th->times.to_ns)
        return;
    t->other_waits += !is_gpu;
    if (!is_gpu || !driver)
        return;
    t->several_gpus |= t->gpu && t->gpu != driver;
    t->gpu = driver;
}

static void disturb(struct cpu_threads *t, const struct cpu_event *ev)
{
    if (ev->kind == CPU_EV_IRQ_ENTRY) {
        t->on[ev->cpu].disturbed = true;
        t->on[ev->cpu].ticks |= ev->a == CPU_IRQ_TIMER;
    } else if ((ev->kind == CPU_EV_WAKEUP || ev->kind == CPU_EV_MIGRATE) && ev->b < t->num_cpus) {
        t->on[ev->b].disturbed = true;
    }
}

void cpu_threads_event(struct cpu_threads *t, const struct cpu_event *ev)
{
    struct cpu_thread *th;

    if (ev->cpu >= t->num_cpus)
        return;
    if (ev->kind == CPU_EV_SWITCH) {
        on_switch(t, ev);
        return;
    }
    disturb(t, ev);
    if (ev->kind == CPU_EV_WAKEUP)
        on_wakeup(t, ev);
    else if (ev->kind == CPU_EV_SIGNAL)
        on_signal(t, ev);
    else if (ev->kind == CPU_EV_FORK)
        on_fork(t, ev);
    else if (ev->kind == CPU_EV_MIGRATE)
        on_migrate(t, ev);
    else if (ev->kind == CPU_EV_EXEC)
        on_exec(t, ev);
    th = ev->tid > 0 ? living(t, ev->tid) : NULL;
    if (!th)
        return;
    if (ev->kind == CPU_EV_FENCE_WAIT_START || ev->kind == CPU_EV_FENCE_WAIT_END)
        on_fence_wait(t, th, ev);
    if (ev->kind == CPU_EV_EXIT) {
        th->died_ns = ev->ns;
        set_in_wait(t, th, false, ev->ns);
    }
    if (th->state != CPU_THREAD_RUNNING && th->state != CPU_THREAD_DEAD && ev->kind != CPU_EV_WAKEUP) {
        /* whoever records an event is running */
        seen_on(t, th, ev);
        set_state(t, th, CPU_THREAD_RUNNING, ev->ns);
    }
}

void cpu_threads_end(struct cpu_threads *t)
{
    uint64_t begin;

    for (uint32_t i = 0; i < t->num_cpus; i++)
        charge(t, i, t->executor.to_ns);
    if (t->in_waits)
        t->waited_ns += overlap(&t->executor, t->in_waits_since, t->executor.to_ns, &begin);
    times_add(&t->executor, t->executor_state, t->executor_since, t->executor.to_ns);
    times_check(&t->executor, UINT64_MAX);
    for (uint32_t i = 0; i < t->num; i++) {
        struct cpu_thread *th = &t->list[i];

        account(t, th, th->times.to_ns);
        add_state(th, th->times.to_ns);
        times_check(&th->times, UINT64_MAX);
    }
}
