/* SPDX-License-Identifier: MIT */
#include "cpu/model/event.h"

static const char *const kind_names[CPU_EV_COUNT] = {
#define NAME(name, text, operands) [CPU_EV_##name] = text,
    CPU_EVENT_KINDS(NAME)
#undef NAME
};

static const char *const irq_names[CPU_IRQ_COUNT] = {
#define NAME(name, text) [CPU_IRQ_##name] = text,
    CPU_IRQS(NAME)
#undef NAME
};

const char *cpu_event_kind_name(enum cpu_event_kind kind)
{
    return (unsigned)kind < CPU_EV_COUNT ? kind_names[kind] : "?";
}

const char *cpu_irq_name(enum cpu_irq irq)
{
    return (unsigned)irq < CPU_IRQ_COUNT ? irq_names[irq] : "?";
}
