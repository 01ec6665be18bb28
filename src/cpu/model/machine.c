/* SPDX-License-Identifier: MIT */
/* What the machine did to the processors of the chain: its host, and interrupts between them. */
#include <string.h>

#include "cpu/model/maker.h"

/* The chain was at that CPU for most of the wait, or the window names it: what happened to it happened to the chain. */
static bool is_theirs(const struct maker *m, uint32_t cpu)
{
    bool theirs = !m->e.chain_named || m->e.w->partial;

    for (uint32_t i = 0; i < m->e.w->num_threads; i++)
        theirs |= m->e.w->threads[i].cpu == (int64_t)cpu;
    return theirs || m->e.threads.on[cpu].chain_ns * 2 >= m->e.wait_ns;
}

/* Of the CPU of the chain that it took the most of. */
uint64_t maker_most_stolen(const struct maker *m)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < m->e.t->num_cpus; i++)
        if (m->e.cpu[i].in_chain && m->e.cpu[i].stolen_ns > (double)most)
            most = (uint64_t)m->e.cpu[i].stolen_ns;
    return most;
}

bool maker_host_stole(struct maker *m)
{
    const uint64_t most = maker_most_stolen(m);
    enum cpu_certainty sure = CPU_LIKELY;

    for (uint32_t i = 0; i < m->e.t->num_cpus; i++) {
        const struct cpu_seen *c = &m->e.cpu[i];

        if (!c->in_chain || part(m, (uint64_t)c->stolen_ns) < 40)
            continue;
        maker_say(
            m, CPU_CERTAIN,
            "the host took CPU %u away for %s of the %s of the wait (%.0f%%, by the kernel's steal time)", i,
            cpu_ns((uint64_t)c->stolen_ns), cpu_ns(m->e.wait_ns), part(m, (uint64_t)c->stolen_ns));
        if (is_theirs(m, i))
            sure = maker_grade(m, most, 90);
        else
            maker_say(m, CPU_UNSEEN, "whether that mattered: the threads were at CPU %u for %s only", i,
                      cpu_ns(m->e.threads.on[i].chain_ns));
    }
    return part(m, most) >= 40 && maker_decide(m, CPU_VERDICT_HOST_STOLE_TIME, sure, "steal time");
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

    maker_say(m, CPU_CERTAIN, "CPU %u asked CPU %u at %+.3f ms and %s for %s%s%s%s%s", x->sender, x->target,
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
        maker_say(m, CPU_CERTAIN, "CPU %u waited for %u CPUs that did not answer: %s", who, most,
                  cpu_mask_text(mask, m->e.t->num_cpus, text, sizeof(text)));
    }
}

/* The longest wait for an answer, of the chain. */
uint64_t maker_longest_ipi(const struct maker *m)
{
    const struct cpu_worst *lists[2] = {&m->e.a.unanswered, &m->e.a.slowest};
    uint64_t longest = 0;

    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < lists[k]->num; i++)
            if (stalls(m, &lists[k]->list[i], longest))
                longest = lists[k]->list[i].waited_ns;
    return longest;
}

bool maker_ipi_stall(struct maker *m)
{
    const uint64_t limit = m->e.wait_ns / 4 > m->e.stuck_ns ? m->e.wait_ns / 4 : m->e.stuck_ns;
    const struct cpu_worst *lists[2] = {&m->e.a.unanswered, &m->e.a.slowest};
    enum cpu_certainty sure = CPU_LIKELY;
    uint32_t stalled = 0;

    say_silent(m, limit);
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < lists[k]->num; i++)
            if (stalls(m, &lists[k]->list[i], limit)) {
                if (++stalled <= 4)
                    say_wait(m, &lists[k]->list[i]);
                if (is_theirs(m, lists[k]->list[i].sender) || is_theirs(m, lists[k]->list[i].target))
                    sure = maker_grade(m, maker_longest_ipi(m), 50);
            }
    if (!stalled)
        return false;
    if (sure == CPU_LIKELY && part(m, maker_longest_ipi(m)) >= 50)
        maker_say(m, CPU_UNSEEN, "whether that mattered: the threads were elsewhere for most of the wait");
    if (stalled > 4)
        maker_say(m, CPU_CERTAIN, "and %u more such waits", stalled - 4);
    if (m->e.a.ipi_unanswered > m->e.a.unanswered.num)
        maker_say(m, CPU_CERTAIN, "%llu IPIs in all were not answered in the window",
                  (unsigned long long)m->e.a.ipi_unanswered);
    for (uint32_t i = 0; i < m->e.a.num_incidents && i < CPU_INCIDENTS; i++) {
        const struct cpu_incident *n = &m->e.a.incidents[i];
        maker_say(m, CPU_CERTAIN, "all CPUs but CPU %u (%u of them) went idle within %s at %+.3f ms%s",
                  n->awake, n->silent, cpu_ns(n->spread_ns), rel(m, n->from_ns),
                  n->at_end ? ", and none came back in the window" : "");
    }
    return maker_decide(m, CPU_VERDICT_IPI_STALL, maker_unless_lost(m, sure), "an IPI was not answered");
}
