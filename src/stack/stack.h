/* SPDX-License-Identifier: MIT */
/* stack.h: the whole stack in one process: a machine, dxgkrnl on it, and the AeroGPU miniport in that.
 *
 *   stack_create ─▶ stack_start ─▶ clients of stack_dxgk() ─▶ stack_destroy
 *
 * The host's part here is what firmware and a bus driver do: it assigns the resources, switches memory decoding, bus
 * mastering and MSI on, hands out guest memory, and carries interrupts from the machine to dxgkrnl.
 *
 * Invariants:
 *  1. The live machine is served by its own thread; in the sim, machine and dxgkrnl share one loop and one clock.
 *  2. Guest memory that is handed out is zeroed; page 0 never is, so that address 0 is nobody's.
 */
#pragma once

#include "dxgkrnl/dxgkrnl.h"
#include "machine/machine.h"

struct stack;

/* Tests and programs without an option for it run on the miniport that this names. */
#define STACK_MINIPORT_VARIABLE "AEROGPU_MINIPORT"

struct stack_params {
    struct machine_params machine; /* irq and irq_ctx are the stack's */
    const struct settings *settings;
    uint64_t work_memory; /* as in dxgk_bus; 0 for half of what the machine has */
    const char *
        miniport; /* a driver's file (dxgk_load_file) instead of the miniport that is built in; NULL: that which
                           * STACK_MINIPORT_VARIABLE names, or else the one that is built in */
    bool bars_swapped; /* the PnP manager lists the windows in the other order */
    void (*on_event)(void *ctx, const struct dxgk_event *event); /* as in dxgk_params */
    void *event_ctx;
};

/* Machine and dxgkrnl with the miniport loaded; 0 or a negative errno. */
int stack_create(struct stack **out, const struct stack_params *p, struct error *e);
NTSTATUS stack_start(struct stack *s, struct error *e);
void stack_destroy(struct stack *s);

struct dxgk *stack_dxgk(struct stack *s);
struct machine *stack_machine(struct stack *s);
struct clock *stack_clock(struct stack *s);
/* Lets `ns` pass: sleeps, or runs the loop. */
void stack_sleep(struct stack *s, uint64_t ns);
/* Bytes of guest memory that dxgkrnl and the miniport have. */
uint64_t stack_memory_used(struct stack *s);
