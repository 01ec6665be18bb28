#include "cpu/model/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STATE_STOPPED 0x0cu /* __TASK_STOPPED | __TASK_TRACED */
#define STATE_SLEEPS  0xffu /* any bit: not runnable */

int cpu_threads_init(struct cpu_threads *t, const struct cpu_window *w, uint32_t num_cpus,
                     const struct cpu_coverage *coverage)
{
    *t = (struct cpu_threads){
        .from_ns = w->submit_ns, .to_ns = w->timeout_ns, .coverage = coverage, .num_cpus = num_cpus};
    t->running = malloc((num_cpus + 1) * sizeof(*t->running));
    t->running_since = calloc(num_cpus + 1, sizeof(*t->running_since));
    if (!t->running || !t->running_since) {
        cpu_threads_finish(t);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < num_cpus; i++)
        t->running[i] = -1;
    for (uint32_t i = 0; i < w->num_threads; i++)
        if (w->threads[i].tid > 0)
            t->list[t->num++] = (struct cpu_thread){
                .tid = w->threads[i].tid, .role = w->threads[i].role, .cpu = w->threads[i].cpu};
    return 0;
}

void cpu_threads_finish(struct cpu_threads *t)
{
    free(t->running);
    free(t->running_since);
    memset(t, 0, sizeof(*t));
}

static uint64_t overlap(const struct cpu_threads *t, uint64_t from, uint64_t to, uint64_t *begin)
{
    *begin = from < t->from_ns ? t->from_ns : from;
    if (to > t->to_ns)
        to = t->to_ns;
    return to > *begin ? to - *begin : 0;
}

static void set_state(struct cpu_threads *t, struct cpu_thread *th, enum cpu_thread_state state, uint64_t ns)
{
    uint64_t begin, len = overlap(t, th->since_ns, ns, &begin);

    th->ns[th->state] += len;
    if (len > th->longest[th->state]) {
        th->longest[th->state] = len;
        th->longest_at[th->state] = begin;
    }
    if (state == CPU_THREAD_STOPPED && ns >= t->from_ns && ns <= t->to_ns)
        th->stops++;
    th->state = state;
    th->since_ns = ns;
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

/* The thread that ran on `cpu` until `ns` kept those from it that were runnable there. */
static void charge(struct cpu_threads *t, uint32_t cpu, uint64_t ns)
{
    for (uint32_t i = 0; i < t->num; i++) {
        struct cpu_thread *th = &t->list[i];
        uint64_t begin, from = th->since_ns > t->running_since[cpu] ? th->since_ns : t->running_since[cpu];
        uint64_t len;
        if (th->state != CPU_THREAD_RUNNABLE || th->cpu != (int32_t)cpu || t->running[cpu] < 0 ||
            t->running[cpu] == th->tid)
            continue;
        len = overlap(t, from, ns, &begin);
        if (len)
            add_hog(th, t->running[cpu], len);
    }
}

static struct cpu_thread *find(struct cpu_threads *t, int32_t tid)
{
    for (uint32_t i = 0; i < t->num; i++)
        if (t->list[i].tid == tid)
            return &t->list[i];
    return NULL;
}

static void on_switch(struct cpu_threads *t, const struct cpu_event *ev)
{
    struct cpu_thread *out = find(t, (int32_t)ev->a), *in = find(t, (int32_t)ev->c);

    t->switches++;
    charge(t, ev->cpu, ev->ns);
    t->running[ev->cpu] = (int32_t)ev->c;
    t->running_since[ev->cpu] = ev->ns;
    if (out && ev->a) {
        out->cpu = ev->cpu;
        set_state(t, out,
                  ev->b & STATE_STOPPED  ? CPU_THREAD_STOPPED
                  : ev->b & STATE_SLEEPS ? CPU_THREAD_ASLEEP
                                         : CPU_THREAD_RUNNABLE,
                  ev->ns);
        out->cpus[ev->cpu / 64] |= UINT64_C(1) << (ev->cpu % 64);
    }
    if (in && ev->c) {
        in->cpu = ev->cpu;
        set_state(t, in, CPU_THREAD_RUNNING, ev->ns);
        in->cpus[ev->cpu / 64] |= UINT64_C(1) << (ev->cpu % 64);
    }
}

void cpu_threads_event(struct cpu_threads *t, const struct cpu_event *ev)
{
    struct cpu_thread *th;

    if (ev->cpu >= t->num_cpus)
        return;
    if (ev->kind == CPU_EV_SWITCH) {
        on_switch(t, ev);
    } else if (ev->kind == CPU_EV_WAKEUP) {
        th = find(t, (int32_t)ev->a);
        if (!th || th->state == CPU_THREAD_RUNNING || th->state == CPU_THREAD_RUNNABLE)
            return;
        if (ev->b < t->num_cpus)
            th->cpu = (int32_t)ev->b;
        set_state(t, th,
                  t->coverage && ev->b < CPU_MAX_CPUS && cpu_coverage_is_blind(t->coverage, (uint32_t)ev->b)
                      ? CPU_THREAD_UNKNOWN
                      : CPU_THREAD_RUNNABLE,
                  ev->ns);
    } else if (ev->tid > 0 && (th = find(t, ev->tid)) && th->state != CPU_THREAD_RUNNING) {
        /* whoever records an event is running */
        th->cpu = ev->cpu;
        th->cpus[ev->cpu / 64] |= UINT64_C(1) << (ev->cpu % 64);
        set_state(t, th, CPU_THREAD_RUNNING, ev->ns);
    }
}

void cpu_threads_end(struct cpu_threads *t)
{
    for (uint32_t i = 0; i < t->num_cpus; i++)
        charge(t, i, t->to_ns);
    for (uint32_t i = 0; i < t->num; i++)
        set_state(t, &t->list[i], CPU_THREAD_UNKNOWN, t->to_ns);
}
