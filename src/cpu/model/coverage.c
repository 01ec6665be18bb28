/* SPDX-License-Identifier: MIT */
#include "cpu/model/coverage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLACK    3
#define SLACK_NS UINT64_C(50000000)

int cpu_coverage_init(struct cpu_coverage *c, const struct cpu_snapshot *before,
                      const struct cpu_snapshot *after, const bool records_counter[CPU_COUNTER_COUNT])
{
    uint32_t n = before->num_cpus < after->num_cpus ? before->num_cpus : after->num_cpus;

    c->num_cpus = n;
    c->cpus = calloc(n + 1, sizeof(*c->cpus));
    if (!c->cpus)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const struct cpu_snapshot_cpu *a = &before->cpus[i], *b = &after->cpus[i];
        struct cpu_coverage_cpu *o = &c->cpus[i];
        o->checked = a->online && b->online && a->num_states && a->num_states == b->num_states;
        o->from_ns = a->ns;
        o->to_ns = b->ns;
        for (uint32_t k = 0; o->checked && k < a->num_states; k++) {
            o->state_expected[k] = b->states[k].usage - a->states[k].usage;
            o->expected += o->state_expected[k];
            o->idle_expected_ns += (b->states[k].time_us - a->states[k].time_us) * 1000;
        }
        for (int k = 0; k < CPU_COUNTER_COUNT; k++) {
            o->irq_checked[k] = records_counter[k] && a->has_counter[k] && b->has_counter[k];
            o->irq_expected[k] = b->counter[k] - a->counter[k];
        }
    }
    return 0;
}

void cpu_coverage_finish(struct cpu_coverage *c)
{
    free(c->cpus);
    memset(c, 0, sizeof(*c));
}

void cpu_coverage_event(struct cpu_coverage *c, const struct cpu_event *ev)
{
    struct cpu_coverage_cpu *o;

    if (ev->cpu >= c->num_cpus)
        return;
    o = &c->cpus[ev->cpu];
    if (ev->ns < o->from_ns || ev->ns > o->to_ns)
        return;
    if (ev->kind == CPU_EV_IDLE) {
        if (o->idle_since)
            o->idle_recorded_ns += ev->ns - o->idle_since;
        o->idle_since = ev->a == CPU_IDLE_LEFT ? 0 : ev->ns;
    }
    if (ev->kind == CPU_EV_IDLE && ev->a != CPU_IDLE_LEFT) {
        o->recorded++;
        if (ev->a < CPU_MAX_STATES)
            o->state_recorded[ev->a]++;
    } else if (ev->kind == CPU_EV_IRQ_ENTRY) {
        if (ev->a == CPU_IRQ_TIMER)
            o->irq_recorded[CPU_COUNTER_LOC]++;
        else if (ev->a == CPU_IRQ_RESCHEDULE)
            o->irq_recorded[CPU_COUNTER_RES]++;
        else if (ev->a == CPU_IRQ_CALL || ev->a == CPU_IRQ_CALL_SINGLE)
            o->irq_recorded[CPU_COUNTER_CAL]++;
    }
}

static bool missing(uint64_t expected, uint64_t recorded, uint64_t slack)
{
    uint64_t m = expected > recorded ? expected - recorded : 0;

    return m > slack && m * 100 > expected;
}

void cpu_coverage_judge(struct cpu_coverage *c)
{
    for (uint32_t i = 0; i < c->num_cpus; i++) {
        struct cpu_coverage_cpu *o = &c->cpus[i];
        /* the first period may have begun before the recording, and is in the kernel's time */
        o->blind =
            o->checked && (missing(o->expected, o->recorded, SLACK) ||
                           (missing(o->idle_expected_ns, o->idle_recorded_ns, SLACK_NS) &&
                            missing(o->idle_expected_ns, o->idle_recorded_ns + o->idle_expected_ns / 10, 0)));
        /* /proc/interrupts is read some time after the usage counters: allow what comes in between */
        for (int k = 0; k < CPU_COUNTER_COUNT; k++)
            o->irq_blind[k] = o->irq_checked[k] && missing(o->irq_expected[k], o->irq_recorded[k], 50) &&
                              missing(o->irq_expected[k], o->irq_recorded[k] * 11 / 10, 50);
    }
}

json_t *cpu_coverage_to_json(const struct cpu_coverage *c)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < c->num_cpus; i++) {
        const struct cpu_coverage_cpu *o = &c->cpus[i];
        json_t *states = json_array(), *irqs = json_array();
        for (int k = 0; k < CPU_MAX_STATES; k++)
            json_array_append_new(states, json_integer((json_int_t)o->state_recorded[k]));
        for (int k = 0; k < CPU_COUNTER_COUNT; k++)
            json_array_append_new(irqs,
                                  json_integer(o->irq_checked[k] ? (json_int_t)o->irq_recorded[k] : -1));
        json_array_append_new(list,
                              json_pack("{s:I, s:I, s:I, s:o, s:o}", "expected", (json_int_t)o->expected,
                                        "idle_ns", (json_int_t)o->idle_recorded_ns, "recorded",
                                        (json_int_t)o->recorded, "states", states, "irqs", irqs));
    }
    return list;
}

int cpu_coverage_from_json(struct cpu_coverage *c, const json_t *j, struct error *e)
{
    if (!json_is_array(j) || json_array_size(j) != c->num_cpus)
        return error_set(e, -EBADMSG, "END: \"coverage\" is not a list of %u CPUs", c->num_cpus);
    for (uint32_t i = 0; i < c->num_cpus; i++) {
        const json_t *o = json_array_get(j, i), *states = json_object_get(o, "states"),
                     *irqs = json_object_get(o, "irqs");
        struct cpu_coverage_cpu *out = &c->cpus[i];
        out->recorded = (uint64_t)json_integer_value(json_object_get(o, "recorded"));
        /* a recording that did not count it cannot be checked by it */
        out->idle_recorded_ns = json_is_integer(json_object_get(o, "idle_ns"))
                                    ? (uint64_t)json_integer_value(json_object_get(o, "idle_ns"))
                                    : out->idle_expected_ns;
        for (int k = 0; k < CPU_MAX_STATES; k++)
            out->state_recorded[k] = (uint64_t)json_integer_value(json_array_get(states, (size_t)k));
        for (int k = 0; k < CPU_COUNTER_COUNT; k++) {
            json_int_t v = json_integer_value(json_array_get(irqs, (size_t)k));
            out->irq_checked[k] = out->irq_checked[k] && v >= 0;
            out->irq_recorded[k] = v > 0 ? (uint64_t)v : 0;
        }
    }
    cpu_coverage_judge(c);
    return 0;
}
