/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "fail_rig.h"

#include "alloc_fail.h"
#include "d3dkmt/server.h"
#include "linked_driver.h"
#include "stack/stack.h"

/* E_OUTOFMEMORY. Or the device is gone, since a stream without memory for its next packet cannot go on, and since the sim's device
 * allocates as well: removed or hung, as Direct3D 11 and 9 say it, or lost, as 9 says where it presents. */
static bool is_known(uint32_t answer)
{
    static const uint32_t known[] = {0x8007000E, 0x887A0005, 0x887A0006, 0x88760870, 0x88760874, 0x88760868};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (answer == known[i])
            return true;
    return false;
}

/* With the nth call from stack_create on failing; *failed is what it failed with, 0: none was left to fail. */
static bool life(int32_t (*program)(void), unsigned nth, int *failed)
{
    struct stack_params p = {.machine = {.kind = MACHINE_SIM, .ram_size = 64 << 20}};
    struct d3dkmt_transport transport;
    struct dxgk_client *client = NULL;
    struct stack *stack = NULL;
    struct error e = {0};
    uint32_t answer;

    assert_int_equal(stack_create(&stack, &p, &e), 0);
    assert_int_equal(stack_start(stack, &e), STATUS_SUCCESS);
    assert_int_equal(dxgk_client_open(stack_dxgk(stack), &client, 100, false), 0);
    d3dkmt_local(&transport, client);
    d3dkmt_use(&transport);
    alloc_fail_arm(nth);
    answer = (uint32_t)program();
    *failed = alloc_fail_disarm();
    dxgk_client_close(client);
    dxgk_unload(stack_dxgk(stack));
    for (unsigned i = 0; i < dxgk_violations(stack_dxgk(stack)); i++)
        fail_msg("call %u (%s) failed: %s", nth, alloc_fail_what(), dxgk_violation(stack_dxgk(stack), i));
    if (stack_memory_used(stack))
        fail_msg("call %u (%s) failed: %llu bytes of guest memory stay", nth, alloc_fail_what(),
                 (unsigned long long)stack_memory_used(stack));
    stack_destroy(stack);
    d3dkmt_use(NULL);
    if (answer && (!*failed || !is_known(answer)))
        fail_msg("call %u (%s) failed: the answer is 0x%08x", nth, alloc_fail_what(), answer);
    return !answer;
}

void fail_each_in(int32_t (*program)(void), const char *entry, void *function, unsigned calls)
{
    unsigned before, survived = 0, n = 0;
    int failed;

    linked_driver(entry, function);
    assert_true(life(program, 1000000, &failed)); /* what is opened once for the process is */
    assert_int_equal(failed, 0);
    before = test_open_fds();
    for (failed = 1; failed; n++) {
        survived += life(program, n, &failed);
        if (test_open_fds() != before)
            fail_msg("call %u (%s) failed: %u descriptors were open before, now %u", n, alloc_fail_what(),
                     before, test_open_fds());
    }
    assert_true(n > calls);
    print_message("# %u calls were made to fail, %u programs went on\n", n - 1, survived - 1);
}
