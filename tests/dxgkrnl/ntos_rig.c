/* SPDX-License-Identifier: MIT */
#include "ntos_rig.h"

#include "test.h"

#include <string.h>

#include "dxgkrnl/adapter.h"

struct kernel *k;

void up(struct world *w, bool live)
{
    world_up(w, live);
    k = dxgk_kernel(w->dxgk);
    dxgk_kernel_enter(k);
}

void down(struct world *w, unsigned violations)
{
    dxgk_kernel_leave(k);
    world_down(w, violations);
}

void violated(struct world *w, const char *text)
{
    assert_true(dxgk_violations(w->dxgk) > 0);
    assert_memory_equal(dxgk_violation(w->dxgk, dxgk_violations(w->dxgk) - 1), text, strlen(text));
}

LARGE_INTEGER ms(int n)
{
    return (LARGE_INTEGER){.QuadPart = -10000LL * n};
}

NTSTATUS wait_one(PVOID object, int timeout_ms)
{
    LARGE_INTEGER t = ms(timeout_ms);

    return KeWaitForSingleObject(object, Executive, KernelMode, FALSE, &t);
}
