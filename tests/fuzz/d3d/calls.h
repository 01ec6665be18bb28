/* SPDX-License-Identifier: MIT */
/* calls.h: a program of Direct3D, whose calls are read from the input (any_calls.h), on runtime, user-mode driver, dxgkrnl and miniport in
 * virtual time.
 *
 * What must hold: nothing is read or written that is not the caller's or one's own; no rule of the miniport is broken; no call removes the
 * device, since the device takes whatever the driver makes of it; and what was made goes. Shaders are damaged in inputs whose first byte
 * is odd. */
#pragma once

#include "fuzz.h"

#include "any_calls.h"
#include "d3dkmt/server.h"
#include "linked_driver.h"
#include "stack/stack.h"

static struct stack *stack;

static inline void start(const char *entry, void *driver)
{
    struct error e = {0};

    must(any_calls_begin(D3D_SHADERS));
    must(!stack_create(&stack,
                       &(struct stack_params){.machine = {.kind = MACHINE_SIM, .ram_size = 256 << 20}}, &e));
    must(NT_SUCCESS(stack_start(stack, &e)));
    linked_driver(entry, driver);
}

static inline int calls_input(const char *entry, void *driver, const uint8_t *data, size_t size)
{
    struct d3dkmt_transport transport;
    struct dxgk_client *client = NULL;
    struct any_end end;
    uint64_t used;

    if (!size)
        return 0;
    if (!stack)
        start(entry, driver);
    used = stack_memory_used(stack);
    must(!dxgk_client_open(stack_dxgk(stack), &client, 100, false));
    d3dkmt_local(&transport, client);
    d3dkmt_use(&transport);
    end = any_calls(data + 1, size - 1, data[0] & 1);
    must(!end.created && !end.removed && !end.references);
    dxgk_client_close(client);
    d3dkmt_use(NULL);
    must(!dxgk_violations(stack_dxgk(stack)));
    must(stack_memory_used(stack) == used);
    return 0;
}
