/* SPDX-License-Identifier: MIT */
/* Inter-processor interrupts: who asked whom, when it was answered, and what never was.
 *
 * Two layers. The interrupt: a send to a CPU is answered by the next handler entry of its class there; one
 * entry answers every send that came before it, as the hardware does. The call: a queued csd is answered by
 * the function that runs with the same csd, exactly.
 */
#include "cpu/model/analysis.h"

static void keep_worst(struct cpu_worst *w, const struct cpu_wait *wait)
{
    uint32_t i = w->num;

    if (i == CPU_WORST && w->list[i - 1].waited_ns >= wait->waited_ns)
        return;
    for (; i > 0 && w->list[i - 1].waited_ns < wait->waited_ns; i--)
        if (i < CPU_WORST)
            w->list[i] = w->list[i - 1];
    if (i < CPU_WORST) {
        w->list[i] = *wait;
        w->num += w->num < CPU_WORST;
    }
}

static struct cpu_pair *pair_of(struct cpu_analysis *a, uint32_t sender, uint32_t target)
{
    static struct cpu_pair nowhere;

    return a->pairs ? &a->pairs[sender * a->num_cpus + target] : &nowhere;
}

static void send_to(struct cpu_analysis *a, const struct cpu_event *ev, uint32_t target,
                    enum cpu_ipi_class class)
{
    struct cpu_stats *t;
    struct cpu_pending_list *l;

    a->ipi_sent[class]++;
    if (target >= a->num_cpus)
        return;
    t = &a->cpu[target];
    pair_of(a, ev->cpu, target)->sent++;
    if (t->visible && t->known == CPU_IDLE && !t->wake_sent_ns)
        t->wake_sent_ns = ev->ns;
    if (a->params.is_windows)
        return; /* it records no answer to wait for */
    l = &t->pending[class];
    if (l->num == CPU_PENDING) {
        l->more++;
        return;
    }
    l->list[l->num++] = (struct cpu_pending_ipi){.ns = ev->ns,
                                                 .site = ev->b,
                                                 .callback = ev->c,
                                                 .tid = ev->tid,
                                                 .sender = ev->cpu,
                                                 .target_idle = t->visible && t->known == CPU_IDLE,
                                                 .target_state = (uint8_t)t->state};
}

static void send_mask(struct cpu_analysis *a, const struct cpu_event *ev)
{
    for (uint32_t byte = 0; byte < ev->data_size; byte++)
        for (uint32_t bits = ev->data[byte]; bits; bits &= bits - 1)
            send_to(a, ev, byte * 8 + (uint32_t)__builtin_ctz(bits), CPU_IPI_CALL);
}

static struct cpu_wait wait_of(const struct cpu_pending_ipi *p, uint16_t target, uint64_t until,
                               bool answered)
{
    return (struct cpu_wait){.sent_ns = p->ns,
                             .waited_ns = until > p->ns ? until - p->ns : 0,
                             .site = p->site,
                             .callback = p->callback,
                             .tid = p->tid,
                             .sender = p->sender,
                             .target = target,
                             .answered = answered,
                             .target_idle = p->target_idle,
                             .target_state = p->target_state};
}

static void answer(struct cpu_analysis *a, const struct cpu_event *ev, enum cpu_ipi_class class)
{
    struct cpu_pending_list *l = &a->cpu[ev->cpu].pending[class];

    for (uint32_t i = 0; i < l->num; i++) {
        const struct cpu_wait w = wait_of(&l->list[i], ev->cpu, ev->ns, true);
        struct cpu_pair *pair = pair_of(a, w.sender, ev->cpu);
        pair->answered++;
        pair->sum_ns += w.waited_ns;
        if (w.waited_ns > pair->max_ns)
            pair->max_ns = w.waited_ns;
        cpu_latency_add(&a->ipi_latency[class], w.waited_ns);
        if (a->slowest.num < CPU_WORST || w.waited_ns > a->slowest.list[CPU_WORST - 1].waited_ns)
            keep_worst(&a->slowest, &w);
    }
    a->ipi_answered[class] += l->num + l->more;
    l->num = 0;
    l->more = 0;
}

/* Those of the kernel's half of the addresses have a top 16 bits that say nothing. */
static uint64_t csd_key(uint64_t csd, uint16_t target)
{
    return csd ^ (uint64_t)target << 48;
}

/* A place for it; NULL without memory, or if too many are queued. */
static struct cpu_csd *csd_place(struct cpu_analysis *a, uint64_t key)
{
    uint64_t *at = map_find(&a->queued, key);
    uint32_t i = a->free_csd ? a->free_csd - 1 : a->num_csds;

    if (at)
        return &a->csds[*at];
    at = i < CPU_CSDS ? map_put(&a->queued, key) : NULL;
    if (!at)
        return NULL;
    *at = i;
    if (a->free_csd)
        a->free_csd = a->csds[i].next_free;
    else
        a->num_csds++;
    return &a->csds[i];
}

static void csd_queue(struct cpu_analysis *a, const struct cpu_event *ev)
{
    struct cpu_csd *c = csd_place(a, csd_key(ev->c, (uint16_t)ev->a));

    if (!c) {
        a->csd_dropped++;
        return;
    }
    *c = (struct cpu_csd){.csd = ev->c,
                          .ns = ev->ns,
                          .func = ev->b,
                          .tid = ev->tid,
                          .sender = ev->cpu,
                          .target = (uint16_t)ev->a};
}

static void csd_exit(struct cpu_analysis *a, const struct cpu_event *ev)
{
    const uint64_t key = csd_key(ev->c, ev->cpu), *at = map_find(&a->queued, key);
    struct cpu_csd *c = at ? &a->csds[*at] : NULL;
    struct cpu_wait w;

    if (!c || c->csd != ev->c || c->target != ev->cpu)
        return;
    w = (struct cpu_wait){.sent_ns = c->ns,
                          .waited_ns = ev->ns > c->ns ? ev->ns - c->ns : 0,
                          .callback = c->func,
                          .tid = c->tid,
                          .sender = c->sender,
                          .target = c->target,
                          .answered = true,
                          .is_csd = true};
    cpu_latency_add(&a->csd_latency, w.waited_ns);
    if (a->csd_slowest.num < CPU_WORST || w.waited_ns > a->csd_slowest.list[CPU_WORST - 1].waited_ns)
        keep_worst(&a->csd_slowest, &w);
    c->next_free = a->free_csd;
    a->free_csd = (uint32_t)(c - a->csds) + 1;
    map_remove(&a->queued, key);
}

/* The CPU shows life: how long after the first IPI that found it idle? */
void cpu_ipi_stir(struct cpu_analysis *a, struct cpu_stats *c, uint64_t ns)
{
    if (c->wake_sent_ns && c->known == CPU_IDLE) {
        cpu_latency_add(&c->wake_latency[c->state], ns > c->wake_sent_ns ? ns - c->wake_sent_ns : 0);
        c->wake_sent_ns = 0;
    }
}

void cpu_ipi_event(struct cpu_analysis *a, const struct cpu_event *ev)
{
    switch (ev->kind) {
    case CPU_EV_IPI_SEND:
        send_to(a, ev, (uint32_t)ev->a,
                !ev->c             ? CPU_IPI_RESCHEDULE
                : ev->a == ev->cpu ? CPU_IPI_SELF
                                   : CPU_IPI_CALL);
        break;
    case CPU_EV_IPI_SEND_MASK:
        send_mask(a, ev);
        break;
    case CPU_EV_IRQ_ENTRY:
        cpu_ipi_stir(a, &a->cpu[ev->cpu], ev->ns);
        answer(a, ev,
               ev->a == CPU_IRQ_RESCHEDULE ? CPU_IPI_RESCHEDULE
               : ev->a == CPU_IRQ_IRQ_WORK ? CPU_IPI_SELF
                                           : CPU_IPI_CALL);
        break;
    case CPU_EV_CSD_QUEUE:
        csd_queue(a, ev);
        break;
    case CPU_EV_CSD_EXIT:
        csd_exit(a, ev);
        break;
    default:
        break;
    }
}

void cpu_ipi_end(struct cpu_analysis *a)
{
    for (uint32_t cpu = 0; cpu < a->num_cpus; cpu++) {
        for (int k = 0; k < CPU_IPI_CLASSES; k++) {
            const struct cpu_pending_list *l = &a->cpu[cpu].pending[k];
            for (uint32_t i = 0; i < l->num; i++) {
                const struct cpu_wait w = wait_of(&l->list[i], (uint16_t)cpu, a->end_ns, false);
                a->unanswered_stuck += w.waited_ns >= a->params.stuck_ns;
                keep_worst(&a->unanswered, &w);
            }
            a->ipi_unanswered += l->num + l->more;
        }
    }
    a->csd_pending = a->queued.num;
}
