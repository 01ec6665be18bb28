/* SPDX-License-Identifier: MIT */
/* The toy GPU's miniport as the image that Windows would load: it starts, draws, runs threads of its own, and ends. One test, for
 * cmocka takes SIGSEGV for itself at the beginning of each. */
#include "test.h"

#include <stdlib.h>

#include "dxgkrnl_rig.h"

TEST(a_foreign_image_draws_and_runs_threads)
{
    struct world w;
    struct ctx x;
    D3DKMT_HANDLE memory;
    struct softgpu_escape e = {.op = ESC_THREADS};

    world_up(&w, true);
    x = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(ctx_allocate(&w, &x, 4096, false, &memory), STATUS_SUCCESS);
    ctx_put(&x, OP_FILL, 7, 0, 16, 0);
    assert_int_equal(ctx_render(w.client, &x, &memory, 1), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS);
    assert_int_equal(e.value, 2);
    world_down(&w, 0);
}

int main(void)
{
    setenv("AEROGPU_LOG", "error", 0);
    return test_run();
}
