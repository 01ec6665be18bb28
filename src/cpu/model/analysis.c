/* SPDX-License-Identifier: MIT */
#include "cpu/model/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

#define DEFAULT_STUCK   UINT64_C(10000000)
#define DEEP_LATENCY_US 50 /* a state this slow to leave is deep, as is the deepest of several */

/* On Windows C2 and below; elsewhere by the declared exit latency. */
static uint32_t deepest(const struct cpu_analysis_params *p)
{
    const struct cpu_snapshot *s = p->snapshot;
    uint32_t from = CPU_MAX_STATES;

    if (p->is_windows)
        return 1;
    for (uint32_t i = 0; s && i < s->num_cpus; i++) {
        const struct cpu_snapshot_cpu *c = &s->cpus[i];
        for (uint32_t k = 1; k < c->num_states; k++)
            if ((c->states[k].latency_us >= DEEP_LATENCY_US || (k + 1 == c->num_states && k >= 2)) &&
                k < from)
                from = k;
    }
    return from;
}

int cpu_analysis_init(struct cpu_analysis *a, const struct cpu_analysis_params *p)
{
    memset(a, 0, sizeof(*a));
    a->params = *p;
    if (!a->params.stuck_ns)
        a->params.stuck_ns = DEFAULT_STUCK;
    if (!a->params.to_ns)
        a->params.to_ns = UINT64_MAX;
    a->num_cpus = p->num_cpus;
    a->deep_from = deepest(p);
    a->bin_shift = 10;
    a->begin_ns = UINT64_MAX;
    a->cpu = calloc(a->num_cpus + 1, sizeof(*a->cpu));
    a->concurrency = calloc(a->num_cpus + 2, sizeof(*a->concurrency));
    a->csds = calloc(CPU_CSDS, sizeof(*a->csds));
    if (a->num_cpus <= 128)
        a->pairs = calloc((size_t)a->num_cpus * a->num_cpus + 1, sizeof(*a->pairs));
    if (!a->cpu || !a->concurrency || !a->csds || (a->num_cpus <= 128 && !a->pairs))
        goto fail;
    for (uint32_t i = 0; i < a->num_cpus; i++) {
        struct cpu_stats *c = &a->cpu[i];
        const struct cpu_coverage_cpu *v =
            p->coverage && i < p->coverage->num_cpus ? &p->coverage->cpus[i] : NULL;
        c->bins = calloc(CPU_BINS, sizeof(*c->bins));
        if (!c->bins)
            goto fail;
        c->target = CPU_IDLE_LEFT;
        c->cause = -1;
        c->checked = v && v->checked;
        c->blind = v && v->blind;
        c->visible = !c->blind;
        a->num_visible += c->visible;
    }
    return 0;
fail:
    cpu_analysis_finish(a);
    return -ENOMEM;
}

void cpu_analysis_finish(struct cpu_analysis *a)
{
    for (uint32_t i = 0; a->cpu && i < a->num_cpus; i++)
        free(a->cpu[i].bins);
    free(a->cpu);
    free(a->pairs);
    free(a->concurrency);
    free(a->csds);
    map_finish(&a->queued);
    map_finish(&a->timers);
    memset(a, 0, sizeof(*a));
}

static uint64_t clamp(const struct cpu_analysis *a, uint64_t ns)
{
    return ns < a->begin_ns ? a->begin_ns : ns > a->params.to_ns ? a->params.to_ns : ns;
}

/* Accounts the time of the present state up to `ns` and starts the next period there. */
static void close_period(struct cpu_analysis *a, struct cpu_stats *c, uint64_t ns)
{
    const uint64_t from = clamp(a, c->since_ns), to = clamp(a, ns);
    const uint64_t len = to > from ? to - from : 0;

    if (c->known == CPU_IDLE) {
        const uint32_t s = c->state < CPU_MAX_STATES ? c->state : CPU_MAX_STATES - 1;
        c->idle_ns[s] += len;
        if (len > c->longest_idle_ns) {
            c->longest_idle_ns = len;
            c->longest_idle_at = from;
        }
    } else if (c->known == CPU_RUNNING) {
        c->running_ns += len;
    } else {
        c->unknown_ns += len;
    }
    if (len)
        cpu_bins_add(a, c, from, to, c->known, c->known == CPU_IDLE && c->state >= a->deep_from);
    c->since_ns = ns;
}

static void close_concurrency(struct cpu_analysis *a, uint64_t ns)
{
    const uint64_t from = clamp(a, a->concurrency_since), to = clamp(a, ns);

    if (to > from) {
        if (a->num_known == a->num_visible)
            a->concurrency[a->num_idle] += to - from;
        else
            a->concurrency_unknown_ns += to - from;
    }
    a->concurrency_since = ns;
}

static void note_stop(struct cpu_analysis *a, uint64_t to, bool at_end)
{
    struct cpu_incident inc = {.from_ns = a->stop_since, .to_ns = to, .at_end = at_end};
    uint64_t first = UINT64_MAX;

    if (a->num_visible < 3 || to - a->stop_since < a->params.stuck_ns)
        return;
    for (uint32_t i = 0; i < a->num_cpus; i++) {
        const struct cpu_stats *c = &a->cpu[i];
        if (!c->visible)
            continue;
        if (c->known == CPU_IDLE) {
            inc.silent++;
            if (c->since_ns < first)
                first = c->since_ns;
        } else {
            inc.awake = (uint16_t)i;
        }
    }
    for (uint32_t i = 0; i < a->num_cpus; i++)
        for (int k = 0; k < CPU_IPI_CLASSES; k++)
            for (uint32_t n = 0; n < a->cpu[i].pending[k].num; n++)
                inc.waiting_for += a->cpu[i].pending[k].list[n].sender == inc.awake &&
                                   to - a->cpu[i].pending[k].list[n].ns >= a->params.stuck_ns;
    inc.spread_ns = first < a->stop_since ? a->stop_since - first : 0;
    if (a->num_incidents < CPU_INCIDENTS)
        a->incidents[a->num_incidents] = inc;
    a->num_incidents++;
}

static void update_deep(struct cpu_analysis *a, uint32_t cpu, uint64_t ns)
{
    const struct cpu_stats *c = &a->cpu[cpu];
    const bool deep = c->in_deep || (c->known == CPU_IDLE && c->state >= a->deep_from);

    if (c->visible && deep != !!(a->deep_mask[cpu / 64] >> (cpu % 64) & 1)) {
        cpu_sets_change(a, ns);
        a->deep_mask[cpu / 64] ^= UINT64_C(1) << (cpu % 64);
    }
}

/* A CPU changes its state at `ns`. `state` is only for CPU_IDLE. */
static void set_state(struct cpu_analysis *a, uint32_t cpu, enum cpu_known known, uint32_t state, uint64_t ns)
{
    struct cpu_stats *c = &a->cpu[cpu];
    const bool was_idle = c->known == CPU_IDLE, is_idle = known == CPU_IDLE;

    if (c->visible) {
        close_concurrency(a, ns);
        /* the detector looks at the state before the change */
        if (a->num_known == a->num_visible && a->num_idle + 1 == a->num_visible && was_idle != is_idle)
            note_stop(a, ns, false);
    }
    close_period(a, c, ns);
    if (c->visible) {
        if (c->known == CPU_UNKNOWN) {
            cpu_sets_change(a, ns);
            a->num_known++;
        }
        a->num_idle += (uint32_t)is_idle - (uint32_t)was_idle;
        if (a->num_idle + 1 == a->num_visible)
            a->stop_since = ns;
    }
    c->known = known;
    c->state = state;
    update_deep(a, cpu, ns);
}

static void resolve_cause(struct cpu_stats *c, int cause)
{
    c->wakes[cause]++;
    c->cause_wanted = false;
}

static void idle_enter(struct cpu_analysis *a, uint32_t cpu, const struct cpu_event *ev)
{
    struct cpu_stats *c = &a->cpu[cpu];
    const uint32_t s = ev->a < CPU_MAX_STATES ? (uint32_t)ev->a : CPU_MAX_STATES - 1;

    if (c->known == CPU_IDLE)
        c->enters_twice++;
    if (c->cause_wanted)
        resolve_cause(c, CPU_WAKE_NO_IRQ);
    set_state(a, cpu, CPU_IDLE, s, ev->ns);
    c->enters[s]++;
    c->cause = -1;
    c->wake_sent_ns = 0;
    if (c->target != CPU_IDLE_LEFT && c->target != s)
        c->off_target++;
}

static void idle_exit(struct cpu_analysis *a, uint32_t cpu, const struct cpu_event *ev)
{
    struct cpu_stats *c = &a->cpu[cpu];

    if (c->known == CPU_IDLE) {
        const uint64_t from = clamp(a, c->since_ns);
        cpu_buckets_add(&c->interval[c->state], ev->ns > from ? ev->ns - from : 0);
        cpu_ipi_stir(a, c, ev->ns);
        if (c->cause >= 0)
            resolve_cause(c, c->cause);
        else
            c->cause_wanted = true;
    } else if (c->known == CPU_RUNNING) {
        c->exits_alone++;
    }
    set_state(a, cpu, CPU_RUNNING, 0, ev->ns);
}

static void irq_entry(struct cpu_analysis *a, struct cpu_stats *c, const struct cpu_event *ev)
{
    const uint32_t irq = ev->a < CPU_IRQ_COUNT ? (uint32_t)ev->a : CPU_IRQ_OTHER;
    const uint64_t bin = (ev->ns - a->begin_ns) >> a->bin_shift;

    c->irqs[irq]++;
    c->irq_since[irq] = a->params.is_windows ? 0 : ev->ns;
    if (a->params.is_windows && ev->c) {
        c->irq_ns[irq] += ev->c; /* recorded at its end, with its length */
        if (ev->c > c->irq_max_ns[irq])
            c->irq_max_ns[irq] = ev->c;
    }
    if (c->known == CPU_IDLE && c->cause < 0)
        c->cause = (int)irq;
    else if (c->cause_wanted)
        resolve_cause(c, (int)irq);
    if (bin < CPU_BINS)
        c->bins[bin].irqs++;
    if (irq == CPU_IRQ_RESCHEDULE || irq == CPU_IRQ_CALL || irq == CPU_IRQ_CALL_SINGLE ||
        irq == CPU_IRQ_IRQ_WORK)
        cpu_ipi_event(a, ev);
}

static void irq_exit(struct cpu_stats *c, const struct cpu_event *ev)
{
    const uint32_t irq = ev->a < CPU_IRQ_COUNT ? (uint32_t)ev->a : CPU_IRQ_OTHER;
    uint64_t len;

    if (!c->irq_since[irq])
        return;
    len = ev->ns - c->irq_since[irq];
    c->irq_since[irq] = 0;
    c->irq_ns[irq] += len;
    if (len > c->irq_max_ns[irq])
        c->irq_max_ns[irq] = len;
}

static void frequency(struct cpu_analysis *a, uint32_t cpu, const struct cpu_event *ev)
{
    struct cpu_stats *c = &a->cpu[cpu];

    if (c->khz && ev->ns > c->khz_since) {
        c->khz_ns += (double)c->khz * (double)(ev->ns - c->khz_since);
        c->khz_seen_ns += ev->ns - c->khz_since;
    }
    c->khz = (uint32_t)ev->a;
    c->khz_since = ev->ns;
    if (!c->min_khz || c->khz < c->min_khz)
        c->min_khz = c->khz;
    if (c->khz > c->max_khz)
        c->max_khz = c->khz;
}

static void timer_expire(struct cpu_analysis *a, struct cpu_stats *c, const struct cpu_event *ev)
{
    const uint64_t *t = map_find(&a->timers, ev->c), armed = t ? *t : 0, due = armed / 2;
    struct cpu_late_timer late = {.cpu = ev->cpu};
    uint32_t i;

    map_remove(&a->timers, ev->c);
    if (!due || !(armed & 1) || c->blind || ev->ns < due)
        return;
    late.due_ns = due;
    late.late_ns = ev->ns - due;
    cpu_latency_add(&c->timer_late, late.late_ns);
    /* interrupts are handled before the idle exit is recorded, so the state here is that of the due time */
    late.was_idle = c->visible && c->known == CPU_IDLE && c->since_ns <= late.due_ns;
    late.state = (uint8_t)c->state;
    c->timer_late_idle += late.was_idle;
    for (i = a->num_late_timers; i > 0 && a->late_timers[i - 1].late_ns < late.late_ns; i--)
        if (i < CPU_WORST)
            a->late_timers[i] = a->late_timers[i - 1];
    if (i < CPU_WORST) {
        a->late_timers[i] = late;
        a->num_late_timers += a->num_late_timers < CPU_WORST;
    }
}

static void timer_event(struct cpu_analysis *a, struct cpu_stats *c, const struct cpu_event *ev)
{
    uint64_t *t;

    if (ev->kind == CPU_EV_TIMER_EXPIRE) {
        timer_expire(a, c, ev);
    } else if (ev->kind != CPU_EV_TIMER_START) {
        map_remove(&a->timers, ev->c);
    } else {
        t = a->timers.num < CPU_TIMERS ? map_put(&a->timers, ev->c) : map_find(&a->timers, ev->c);
        if (t)
            *t = ev->a << 1 | !c->blind;
        else
            a->timers_dropped++;
    }
}

static void idle_miss(struct cpu_analysis *a, const struct cpu_event *ev)
{
    struct cpu_stats *c = &a->cpu[ev->b < a->num_cpus ? ev->b : ev->cpu];
    const uint32_t s = ev->a < CPU_MAX_STATES ? (uint32_t)ev->a : CPU_MAX_STATES - 1;

    (ev->c ? c->below : c->above)[s]++;
}

/* Windows: the state that a set of processors is to enter from now on; an empty set is the processor itself.
 */
static void idle_target(struct cpu_analysis *a, const struct cpu_event *ev)
{
    const uint64_t mask = ev->c ? ev->c : ev->cpu < 64 ? UINT64_C(1) << ev->cpu : 0;

    for (uint32_t i = 0; i < a->num_cpus && i < 64; i++) {
        if (!(mask >> i & 1))
            continue;
        a->cpu[i].targets++;
        a->cpu[i].target = (uint32_t)ev->a;
    }
}

/* Everything but idle, interrupts and IPIs, which come by the million. */
static void rare_event(struct cpu_analysis *a, struct cpu_stats *c, const struct cpu_event *ev)
{
    switch (ev->kind) {
    case CPU_EV_IDLE_MISS:
        idle_miss(a, ev);
        break;
    case CPU_EV_IDLE_TARGET:
        idle_target(a, ev);
        break;
    case CPU_EV_FREQUENCY:
        frequency(a, ev->b < a->num_cpus ? (uint32_t)ev->b : ev->cpu, ev);
        break;
    case CPU_EV_DELIVERED:
        c->aperf += (double)ev->a;
        c->mperf += (double)ev->b;
        break;
    case CPU_EV_UTILITY:
        c->utility_busy += (double)ev->a;
        c->utility_idle += (double)ev->b;
        c->utility_weighted += (double)ev->a * (double)ev->c;
        break;
    case CPU_EV_TICK_STOP:
        c->ticks_stopped += ev->a != 0;
        c->ticks_kept += ev->a == 0;
        break;
    case CPU_EV_TIMER_START:
    case CPU_EV_TIMER_EXPIRE:
    case CPU_EV_TIMER_CANCEL:
        timer_event(a, c, ev);
        break;
    case CPU_EV_DPC:
        c->dpcs++;
        c->dpc_ns += ev->a;
        if (ev->a > c->dpc_max_ns)
            c->dpc_max_ns = ev->a;
        break;
    case CPU_EV_FENCE_EMIT:
        a->fences_emitted++;
        break;
    case CPU_EV_FENCE_SIGNALED:
        a->fences_signaled++;
        break;
    case CPU_EV_FENCE_WAIT_START:
        a->fence_waits++;
        break;
    case CPU_EV_DEEP_ENTER:
    case CPU_EV_DEEP_EXIT:
        c->in_deep = ev->kind == CPU_EV_DEEP_ENTER;
        c->deep_events++;
        update_deep(a, ev->cpu, ev->ns);
        break;
    case CPU_EV_VETO:
        c->vetoes += ev->b != 0;
        break;
    case CPU_EV_EXIT_LATENCY:
        cpu_latency_add(&c->exit_reported[ev->c < CPU_MAX_STATES ? ev->c : CPU_MAX_STATES - 1], ev->a);
        break;
    case CPU_EV_LOST:
        c->lost += ev->a;
        break;
    default:
        break;
    }
}

static void begin(struct cpu_analysis *a, uint64_t ns)
{
    a->begin_ns = ns < a->params.from_ns ? a->params.from_ns : ns;
    a->concurrency_since = a->begin_ns;
    a->set_since = a->begin_ns;
    a->stop_since = a->begin_ns;
    for (uint32_t i = 0; i < a->num_cpus; i++)
        a->cpu[i].since_ns = a->begin_ns;
}

/* Events before the window tell the state at its border, nothing else. */
static bool outside(struct cpu_analysis *a, uint32_t cpu, const struct cpu_event *ev)
{
    if (ev->ns > a->params.to_ns)
        return true;
    if (ev->ns >= a->params.from_ns)
        return false;
    if (ev->kind == CPU_EV_IDLE && ev->a != CPU_IDLE_LEFT)
        set_state(a, cpu, CPU_IDLE, ev->a < CPU_MAX_STATES ? (uint32_t)ev->a : CPU_MAX_STATES - 1, ev->ns);
    else if (ev->kind == CPU_EV_IDLE)
        set_state(a, cpu, CPU_RUNNING, 0, ev->ns);
    return true;
}

static void one_event(struct cpu_analysis *a, const struct cpu_event *ev)
{
    uint32_t cpu = ev->cpu;
    struct cpu_stats *c = &a->cpu[cpu];

    if (__builtin_expect(ev->ns < a->params.from_ns || ev->ns > a->params.to_ns, 0) && outside(a, cpu, ev))
        return;
    if (!c->events++)
        c->first_ns = ev->ns;
    c->last_ns = ev->ns;
    a->kinds[ev->kind]++;
    /* the idle task has thread 0; anything else proves that the CPU runs, but only if its idle entries would be seen */
    if (c->known == CPU_UNKNOWN && c->checked && ev->tid > 0 && ev->kind != CPU_EV_IDLE)
        set_state(a, cpu, CPU_RUNNING, 0, ev->ns);
    switch (ev->kind) {
    case CPU_EV_IDLE:
        if (ev->b < a->num_cpus)
            cpu = (uint32_t)ev->b;
        if (ev->a == CPU_IDLE_LEFT)
            idle_exit(a, cpu, ev);
        else
            idle_enter(a, cpu, ev);
        break;
    case CPU_EV_IRQ_ENTRY:
        irq_entry(a, c, ev);
        break;
    case CPU_EV_IRQ_EXIT:
        irq_exit(c, ev);
        break;
    case CPU_EV_SWITCH:
        if (c->cause_wanted)
            resolve_cause(c, CPU_WAKE_NO_IRQ);
        break;
    case CPU_EV_IPI_SEND:
    case CPU_EV_IPI_SEND_MASK:
    case CPU_EV_CSD_QUEUE:
    case CPU_EV_CSD_ENTRY:
    case CPU_EV_CSD_EXIT:
        cpu_ipi_event(a, ev);
        break;
    case CPU_EV_OTHER:
        break;
    default:
        rare_event(a, c, ev);
        break;
    }
}

void cpu_analysis_events(struct cpu_analysis *a, const struct cpu_event *ev, int n)
{
    if (a->begin_ns == UINT64_MAX && n > 0)
        begin(a, ev->ns);
    if (n > 0)
        cpu_bins_reach(a, ev[n - 1].ns < a->params.to_ns ? ev[n - 1].ns : a->params.to_ns);
    for (int i = 0; i < n; i++)
        if (ev[i].cpu < a->num_cpus)
            one_event(a, &ev[i]);
    a->events += (uint64_t)n;
    if (n > 0 && ev[n - 1].ns > a->end_ns)
        a->end_ns = ev[n - 1].ns;
}

/* What the head of analysis.h promises, once all is counted. Sums of times are not among it: a file whose clock steps back
 * makes them what they are. */
static void analysis_check(const struct cpu_analysis *a)
{
    INVARIANT(a->begin_ns <= a->end_ns && a->finished);
    INVARIANT(a->num_idle <= a->num_known && a->num_known <= a->num_visible && a->num_visible <= a->num_cpus);
    INVARIANT(a->num_sets <= CPU_IDLE_SETS && a->slowest.num <= CPU_WORST && a->unanswered.num <= CPU_WORST);
    INVARIANT(a->csd_slowest.num <= CPU_WORST && a->num_late_timers <= CPU_WORST);
    for (uint32_t i = 0; i < a->num_cpus; i++) {
        const struct cpu_stats *c = &a->cpu[i];
        INVARIANT(!c->visible || !c->blind); /* 4 */
        INVARIANT(c->known != CPU_IDLE || c->state < CPU_MAX_STATES);
        INVARIANT(c->pending[CPU_IPI_RESCHEDULE].num <= CPU_PENDING &&
                  c->pending[CPU_IPI_CALL].num <= CPU_PENDING); /* 1 */
    }
    for (uint32_t i = 1; i < a->slowest.num; i++)
        INVARIANT(a->slowest.list[i - 1].waited_ns >= a->slowest.list[i].waited_ns);
    for (uint32_t i = 1; i < a->unanswered.num; i++)
        INVARIANT(a->unanswered.list[i - 1].waited_ns >= a->unanswered.list[i].waited_ns);
    for (uint32_t i = 1; i < a->num_late_timers; i++)
        INVARIANT(a->late_timers[i - 1].late_ns >= a->late_timers[i].late_ns);
}

void cpu_analysis_end(struct cpu_analysis *a)
{
    if (a->finished)
        return;
    a->finished = true;
    if (a->begin_ns == UINT64_MAX)
        a->begin_ns = a->end_ns = 0;
    if (a->end_ns > a->params.to_ns)
        a->end_ns = a->params.to_ns;
    if (a->end_ns < a->begin_ns)
        a->end_ns = a->begin_ns;
    close_concurrency(a, a->end_ns);
    cpu_sets_change(a, a->end_ns);
    if (a->num_visible && a->num_known == a->num_visible && a->num_idle + 1 == a->num_visible)
        note_stop(a, a->end_ns, true);
    for (uint32_t i = 0; i < a->num_cpus; i++) {
        struct cpu_stats *c = &a->cpu[i];
        struct cpu_event now = {.ns = a->end_ns, .a = c->khz};
        c->still_idle = c->known == CPU_IDLE;
        if (c->still_idle)
            cpu_buckets_add(&c->interval[c->state], a->end_ns - clamp(a, c->since_ns));
        close_period(a, c, a->end_ns);
        if (c->khz)
            frequency(a, i, &now);
    }
    cpu_ipi_end(a);
    analysis_check(a);
}

double cpu_stats_utilization(const struct cpu_stats *c)
{
    const double busy = (double)c->running_ns, idle = (double)cpu_stats_idle(c);

    if (busy + idle > 0)
        return 100.0 * busy / (busy + idle);
    if (c->utility_busy + c->utility_idle > 0) /* a Windows trace without idle events */
        return 100.0 * c->utility_busy / (c->utility_busy + c->utility_idle);
    return -1;
}

double cpu_stats_delivered(const struct cpu_stats *c, uint32_t base_khz)
{
    if (c->utility_busy > 0)
        return c->utility_weighted / c->utility_busy;
    if (c->mperf > 0)
        return 100.0 * c->aperf / c->mperf;
    if (c->khz_seen_ns && base_khz)
        return 100.0 * c->khz_ns / (double)c->khz_seen_ns / base_khz;
    return -1;
}
