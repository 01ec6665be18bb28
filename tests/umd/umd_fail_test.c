/* SPDX-License-Identifier: MIT */
/* The miniport and the user-mode driver on the whole stack in virtual time, where all runs on one thread: each allocation and
 * system call on the way from nothing to a picture on the display fails once. Somebody is told or it is made up for, nothing
 * crashes, nothing stays behind (ASan, descriptors, guest memory). */
#include "test.h"

#include <errno.h>
#include <stdlib.h>

#include "alloc_fail.h"
#include "d3dkmt/server.h"
#include "stack/stack.h"
#include "umd/umd.h"

/* A buffer, a shared texture that is opened again, a picture that is read back. */
static bool draws(struct umd_device *d)
{
    struct umd_resource *target, *buffer, *shared, *again;
    const float vertices[3][8] = {{0}};
    uint32_t *pixels;
    bool ok = false;

    if (!NT_SUCCESS(
            umd_texture(d, &target,
                        &(struct umd_texture_params){.width = 16,
                                                     .height = 16,
                                                     .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
                                                     .usage = AEROGPU_RESOURCE_USAGE_RENDER_TARGET})) ||
        !NT_SUCCESS(umd_texture(d, &shared,
                                &(struct umd_texture_params){.width = 16,
                                                             .height = 16,
                                                             .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
                                                             .usage = AEROGPU_RESOURCE_USAGE_TEXTURE,
                                                             .shared = true})) ||
        !NT_SUCCESS(
            umd_buffer(d, &buffer, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, vertices, sizeof(vertices), true)))
        return false;
    umd_layout(d, "POSITION:4 COLOR:4");
    umd_target(d, target);
    umd_clear(d, 1, 0, 0, 1);
    umd_vertices(d, buffer, 32);
    umd_draw(d, 3);
    umd_copy_texture(shared, target);
    if (NT_SUCCESS(umd_finish(d, 10000)) && NT_SUCCESS(umd_open_shared(d, &again, shared->global_share))) {
        umd_destroy(again);
        if (NT_SUCCESS(umd_read(target, &pixels, 10000))) {
            free(pixels);
            ok = true;
        }
    }
    umd_destroy(buffer);
    umd_destroy(shared);
    umd_destroy(target);
    return ok && NT_SUCCESS(umd_finish(d, 10000));
}

static bool presents(struct umd_device *d)
{
    struct umd_query q = {0};
    struct umd_swapchain s;
    uint64_t fence;
    bool ok;

    if (!NT_SUCCESS(umd_swapchain(d, &s)))
        return false;
    ok = NT_SUCCESS(umd_present(&s, 0, &fence)) && NT_SUCCESS(umd_present(&s, 1, &fence)) &&
         NT_SUCCESS(umd_query_issue(d, &q)) && NT_SUCCESS(umd_finish(d, 10000)) &&
         umd_query_get(&q) == STATUS_SUCCESS;
    umd_swapchain_finish(&s);
    return ok;
}

/* With the nth call from stack_create on failing; *failed is what it failed with, 0: none was left to fail. */
static bool life(unsigned nth, int *failed)
{
    struct stack_params p = {.machine = {.kind = MACHINE_SIM, .ram_size = 64 << 20}};
    struct d3dkmt_transport transport;
    struct dxgk_client *client = NULL;
    struct umd_device *d = NULL;
    struct stack *stack = NULL;
    struct error e = {0};
    bool ok;

    alloc_fail_arm(nth);
    ok = !stack_create(&stack, &p, &e) && NT_SUCCESS(stack_start(stack, &e)) &&
         !dxgk_client_open(stack_dxgk(stack), &client, 100, false);
    if (ok) {
        d3dkmt_local(&transport, client);
        d3dkmt_use(&transport);
        umd_use_clock(stack_clock(stack));
        ok = NT_SUCCESS(umd_open(&d, NULL)) && draws(d) && presents(d);
        umd_close(d);
    }
    dxgk_client_close(client);
    if (stack)
        dxgk_unload(stack_dxgk(stack));
    *failed = alloc_fail_disarm();
    for (unsigned i = 0; stack && i < dxgk_violations(stack_dxgk(stack)); i++)
        fail_msg("call %u (%s) failed: %s", nth, alloc_fail_what(), dxgk_violation(stack_dxgk(stack), i));
    if (stack && stack_memory_used(stack))
        fail_msg("call %u (%s) failed: %llu bytes of guest memory stay", nth, alloc_fail_what(),
                 (unsigned long long)stack_memory_used(stack));
    stack_destroy(stack);
    umd_use_clock(NULL);
    d3dkmt_use(NULL);
    return ok;
}

TEST(whatever_fails_is_survived)
{
    unsigned before, survived = 0, n = 0;
    int failed;

    assert_true(life(1000000, &failed)); /* what is opened once for the process is */
    assert_int_equal(failed, 0);
    before = test_open_fds();
    for (failed = 1; failed; n++) {
        survived += life(n, &failed);
        if (test_open_fds() != before)
            fail_msg("call %u (%s) failed: %u descriptors were open before, now %u", n, alloc_fail_what(),
                     before, test_open_fds());
    }
    assert_true(n > 100);
    assert_true(survived >= 1 && survived < n / 2);
    print_message("# %u calls were made to fail, %u lives went on\n", n - 1, survived - 1);
}

/* What does not fit into memory is lost, and whoever says more, or submits, is told. */
TEST(a_stream_without_memory_is_an_error)
{
    struct stack_params p = {.machine = {.kind = MACHINE_SIM, .ram_size = 64 << 20}};
    struct d3dkmt_transport transport;
    struct dxgk_client *client = NULL;
    struct umd_device *d = NULL;
    struct stack *stack = NULL;
    struct error e = {0};
    NTSTATUS said = STATUS_SUCCESS;

    assert_int_equal(stack_create(&stack, &p, &e), 0);
    assert_int_equal(stack_start(stack, &e), 0);
    assert_int_equal(dxgk_client_open(stack_dxgk(stack), &client, 100, false), 0);
    d3dkmt_local(&transport, client);
    d3dkmt_use(&transport);
    umd_use_clock(stack_clock(stack));
    assert_int_equal(umd_open(&d, NULL), STATUS_SUCCESS);
    assert_int_equal(umd_finish(d, 10000), STATUS_SUCCESS);
    alloc_fail_arm(0);
    for (int i = 0; i < 1000 && NT_SUCCESS(said); i++) { /* until it wants to grow */
        umd_clear(d, 1, 0, 0, 1);
        said = umd_split(d, 0);
    }
    assert_int_equal(alloc_fail_disarm(), ENOMEM);
    assert_int_equal(said, STATUS_NO_MEMORY);
    assert_int_equal(umd_finish(d, 10000), STATUS_NO_MEMORY);
    umd_close(d);
    dxgk_client_close(client);
    dxgk_unload(stack_dxgk(stack));
    stack_destroy(stack);
    umd_use_clock(NULL);
    d3dkmt_use(NULL);
}
