/* SPDX-License-Identifier: MIT */
/* Time lines for the Chrome/Perfetto viewer, written as the events come: idle states, interrupts and threads as
 * slices of each CPU; IPIs as asynchronous slices from the send to the handler that answers, as ipi.c finds it. */
#include "cpu/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "report/trace_events.h"

enum { TRACK_CPUS = 1, TRACK_IRQS = 2, TRACK_THREADS = 3, TRACK_IPIS = 4 };

#define WAITING 64 /* IPIs of a class that wait for one CPU; more are not drawn */

struct waiting {
    uint32_t num;
    uint64_t id[WAITING];
    uint16_t sender[WAITING];
};

struct lane {
    struct waiting waiting[2]; /* reschedule, function call */
    bool idle, running;
    uint32_t state;
    int32_t tid;
    uint64_t idle_since, run_since, irq_since[CPU_IRQ_COUNT];
};

struct writer {
    struct cpu_trace *t;
    struct trace_events out;
    uint32_t num_idle;
    uint64_t last_ns, ipis;
    struct lane *lanes;
};

static void slice(struct writer *w, int track, uint32_t lane, uint64_t from, uint64_t to, const char *name)
{
    trace_events_put(&w->out, &(struct trace_event){.phase = 'X',
                                                    .process = track,
                                                    .thread = lane,
                                                    .ns = (int64_t)from,
                                                    .duration_ns = (int64_t)(to - from),
                                                    .name = name});
}

static void instant(struct writer *w, int track, uint32_t lane, uint64_t ns, char scope, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
static void instant(struct writer *w, int track, uint32_t lane, uint64_t ns, char scope, const char *fmt, ...)
{
    char name[64];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(name, sizeof(name), fmt, ap);
    va_end(ap);
    trace_events_put(
        &w->out,
        &(struct trace_event){
            .phase = 'i', .scope = scope, .process = track, .thread = lane, .ns = (int64_t)ns, .name = name});
}

static void counter(struct writer *w, uint64_t ns, const char *name, const char *unit, uint64_t value)
{
    trace_events_open(
        &w->out, &(struct trace_event){.phase = 'C', .process = TRACK_CPUS, .ns = (int64_t)ns, .name = name});
    json_write_unsigned(&w->out.json, unit, value);
    trace_events_close(&w->out);
}

static void count_idle(struct writer *w, uint64_t ns, int change)
{
    w->num_idle += (uint32_t)change;
    counter(w, ns, "idle CPUs", "idle", w->num_idle);
}

static void end_idle(struct writer *w, uint32_t cpu, uint64_t ns, bool left)
{
    struct lane *l = &w->lanes[cpu];
    char buf[32];

    trace_events_open(&w->out,
                      &(struct trace_event){.phase = 'X',
                                            .process = TRACK_CPUS,
                                            .thread = cpu,
                                            .ns = (int64_t)l->idle_since,
                                            .duration_ns = (int64_t)(ns - l->idle_since),
                                            .name = cpu_trace_state(w->t, cpu, l->state, buf, sizeof(buf))});
    json_write_bool(&w->out.json, "left", left);
    trace_events_close(&w->out);
    l->idle = false;
}

static void end_thread(struct writer *w, uint32_t cpu, uint64_t ns)
{
    struct lane *l = &w->lanes[cpu];
    char name[96];

    if (l->running && l->tid > 0) {
        snprintf(name, sizeof(name), "%s/%d", cpu_trace_thread(w->t, l->tid), l->tid);
        slice(w, TRACK_THREADS, cpu, l->run_since, ns, name);
    }
}

/* An end of what lies between sending and answering, 'b' or 'e'. Its arguments follow. */
static void open_ipi(struct writer *w, char phase, uint64_t id, uint32_t sender, uint32_t target, uint64_t ns)
{
    char name[48];

    snprintf(name, sizeof(name), "CPU %u to CPU %u", sender, target);
    trace_events_open(&w->out, &(struct trace_event){.phase = phase,
                                                     .process = TRACK_IPIS,
                                                     .thread = target,
                                                     .ns = (int64_t)ns,
                                                     .name = name,
                                                     .category = "ipi",
                                                     .id = id});
}

static void ipi_sent(struct writer *w, const struct cpu_event *ev, uint32_t target)
{
    struct waiting *l;
    char buf[40];

    if (target >= w->t->num_cpus)
        return;
    l = &w->lanes[target].waiting[ev->c != 0];
    if (w->t->is_windows) { /* it records no answer */
        instant(w, TRACK_IPIS, ev->cpu, ev->ns, 't', "IPI to CPU %u", target);
    } else if (l->num < WAITING) {
        l->id[l->num] = ++w->ipis;
        l->sender[l->num++] = ev->cpu;
        open_ipi(w, 'b', w->ipis, ev->cpu, target, ev->ns);
        json_write_string(&w->out.json, "function",
                          ev->c ? cpu_trace_symbol(w->t, ev->c, buf, sizeof(buf)) : "reschedule");
        json_write_string(&w->out.json, "from", ev->b ? cpu_trace_symbol(w->t, ev->b, buf, sizeof(buf)) : "");
        trace_events_close(&w->out);
    }
}

static void ipis_end(struct writer *w, uint32_t target, int class, uint64_t ns, bool answered)
{
    struct waiting *l = &w->lanes[target].waiting[class];

    for (uint32_t i = 0; i < l->num; i++) {
        open_ipi(w, 'e', l->id[i], l->sender[i], target, ns);
        json_write_bool(&w->out.json, "answered", answered);
        trace_events_close(&w->out);
    }
    l->num = 0;
}

static void one(struct writer *w, const struct cpu_event *ev)
{
    struct lane *l = &w->lanes[ev->cpu];
    const uint32_t irq = ev->a < CPU_IRQ_COUNT ? (uint32_t)ev->a : CPU_IRQ_OTHER;
    char name[40];

    switch (ev->kind) {
    case CPU_EV_IDLE:
        if (cpu_coverage_is_blind(&w->t->coverage, ev->cpu))
            break;
        if (l->idle) {
            end_idle(w, ev->cpu, ev->ns, ev->a == CPU_IDLE_LEFT);
            count_idle(w, ev->ns, -1);
        }
        if (ev->a != CPU_IDLE_LEFT) {
            l->idle = true;
            l->idle_since = ev->ns;
            l->state = (uint32_t)ev->a;
            count_idle(w, ev->ns, 1);
        }
        break;
    case CPU_EV_IRQ_ENTRY:
        l->irq_since[irq] = ev->ns;
        if (irq == CPU_IRQ_RESCHEDULE)
            ipis_end(w, ev->cpu, 0, ev->ns, true);
        else if (irq == CPU_IRQ_CALL || irq == CPU_IRQ_CALL_SINGLE || irq == CPU_IRQ_IRQ_WORK)
            ipis_end(w, ev->cpu, 1, ev->ns, true);
        if (w->t->is_windows && ev->c && ev->c < ev->ns) {
            slice(w, TRACK_IRQS, ev->cpu, ev->ns - ev->c, ev->ns, cpu_irq_name((enum cpu_irq)irq));
        } else if (irq == CPU_IRQ_DEVICE) {
            instant(w, TRACK_IRQS, ev->cpu, ev->ns, 't', "irq %" PRIu64, ev->b);
        }
        break;
    case CPU_EV_DPC:
        slice(w, TRACK_IRQS, ev->cpu, ev->a < ev->ns ? ev->ns - ev->a : 0, ev->ns, "DPC");
        break;
    case CPU_EV_IRQ_EXIT:
        if (l->irq_since[irq]) {
            slice(w, TRACK_IRQS, ev->cpu, l->irq_since[irq], ev->ns, cpu_irq_name((enum cpu_irq)irq));
            l->irq_since[irq] = 0;
        }
        break;
    case CPU_EV_SWITCH:
        end_thread(w, ev->cpu, ev->ns);
        l->running = true;
        l->tid = (int32_t)ev->c;
        l->run_since = ev->ns;
        break;
    case CPU_EV_IPI_SEND:
        ipi_sent(w, ev, (uint32_t)ev->a);
        break;
    case CPU_EV_IPI_SEND_MASK:
        for (uint32_t byte = 0; byte < ev->data_size; byte++)
            for (uint32_t bits = ev->data[byte]; bits; bits &= bits - 1)
                ipi_sent(w, ev, byte * 8 + (uint32_t)__builtin_ctz(bits));
        break;
    case CPU_EV_FREQUENCY:
        snprintf(name, sizeof(name), "CPU %" PRIu64 " MHz", ev->b);
        counter(w, ev->ns, name, "MHz", ev->a / 1000);
        break;
    case CPU_EV_FENCE_SIGNALED:
        instant(w, TRACK_IPIS, ev->cpu, ev->ns, 'g', "fence %" PRIu64 ":%" PRIu64, ev->a, ev->b);
        break;
    default:
        break;
    }
}

static void lanes(struct writer *w)
{
    static const struct {
        int track;
        const char *name;
    } tracks[] = {{TRACK_CPUS, "idle states"},
                  {TRACK_IRQS, "interrupts"},
                  {TRACK_THREADS, "threads"},
                  {TRACK_IPIS, "IPIs, until answered"}};
    char name[96];

    for (size_t k = 0; k < 4; k++) {
        trace_events_name(&w->out, tracks[k].track, 0, "process_name", tracks[k].name);
        for (uint32_t i = 0; i < w->t->num_cpus; i++) {
            const struct cpu_coverage *c = &w->t->coverage;
            if (tracks[k].track == TRACK_CPUS && cpu_coverage_is_blind(c, i))
                snprintf(name, sizeof(name),
                         "CPU %u: idle trace incomplete, %" PRIu64 " of %" PRIu64 " entries missing", i,
                         c->cpus[i].expected - c->cpus[i].recorded, c->cpus[i].expected);
            else
                snprintf(name, sizeof(name), "CPU %u", i);
            trace_events_name(&w->out, tracks[k].track, i, "thread_name", name);
        }
    }
}

int cpu_perfetto_write(struct cpu_trace *t, FILE *out, uint64_t from_ns, uint64_t to_ns, struct error *e)
{
    struct writer w = {.t = t, .lanes = calloc(t->num_cpus + 1, sizeof(struct lane))};
    struct cpu_source *source;
    const struct cpu_event *ev;
    int n, r;

    if (!w.lanes)
        return error_set(e, -ENOMEM, "no memory for %u time lines", t->num_cpus);
    r = cpu_trace_rewind(t, from_ns, to_ns, &source, e);
    if (r)
        goto out;
    trace_events_begin(&w.out, out);
    lanes(&w);
    while ((n = source->next(source, &ev)) > 0 && ev->ns <= to_ns)
        for (int i = 0; i < n; i++)
            if (ev[i].ns >= from_ns && ev[i].ns <= to_ns && ev[i].cpu < t->num_cpus) {
                one(&w, &ev[i]);
                w.last_ns = ev[i].ns;
            }
    for (uint32_t i = 0; i < t->num_cpus; i++) {
        if (w.lanes[i].idle)
            end_idle(&w, i, w.last_ns, false);
        end_thread(&w, i, w.last_ns);
        ipis_end(&w, i, 0, w.last_ns, false);
        ipis_end(&w, i, 1, w.last_ns, false);
    }
    trace_events_end(&w.out);
out:
    free(w.lanes);
    return r;
}
