/* SPDX-License-Identifier: MIT */
/* The miniport when things go wrong: time-outs, what gets lost, a ring that is full. */
#include "test.h"

#include <string.h>

#include "dxgkrnl/faults.h"
#include "kmd_rig.h"

#define LIVE (&(struct stack_params){.machine = {.kind = MACHINE_LIVE}})

/* ---- time-outs ----------------------------------------------------------- */

static void hang_and_recover(struct rig *r, unsigned times)
{
    struct aerogpu_escape_query_perf perf = {0};
    struct abi_builder b;

    abi_builder_init(&b);
    for (unsigned i = 0; i < times; i++) {
        struct rig_context x = rig_context(r, r->client);
        NTSTATUS s;
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
        s = rig_idle(&x);
        assert_int_equal(s, STATUS_DEVICE_REMOVED);
        stack_sleep(r->stack, 50 * NSEC_PER_MSEC);
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_DEVICE_REMOVED);
        rig_context_destroy(&x);
        stack_sleep(r->stack, 61 * NSEC_PER_SEC); /* out of TdrLimitTime */
    }
    assert_int_equal(dxgk_event_count(r->dxgk, 4101), times);
    assert_int_equal(RIG_ESCAPE(r, QUERY_PERF, &perf), STATUS_SUCCESS);
    assert_int_equal(perf.reset_from_timeout_count, times);
    assert_true(perf.last_reset_time_100ns != 0);
    assert_int_equal(perf.last_submitted_fence, perf.last_completed_fence);
    abi_builder_finish(&b);
}

TEST(a_hang_is_recovered_from)
{
    struct rig r = {0};

    rig_up(&r, &(struct stack_params){.machine = {.kind = MACHINE_SIM, .faults.hang = 1000000}});
    hang_and_recover(&r, 3);
    rig_down(&r);
}

/* The device is as new after a reset: modes, vblank, fences, work. */
TEST(the_stack_works_after_a_reset)
{
    struct aerogpu_escape_query_scanout q = {0};
    uint64_t seed;

    for (seed = 1; seed < 50; seed++) { /* one submission in three hangs */
        struct rig r = {0};
        struct abi_builder b;
        unsigned resets = 0, done = 0;
        rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "TdrLimitCount", 1000);
        rig_up(&r,
               &(struct stack_params){.machine = {.kind = MACHINE_SIM, .seed = seed, .faults.hang = 300000}});
        abi_builder_init(&b);
        while (resets < 3 || done < 3) {
            struct rig_context x = rig_context(&r, r.client);
            ABI_EMIT(&b, NOP, nop);
            assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
            if (rig_idle(&x) == STATUS_SUCCESS) {
                done++;
            } else {
                resets++;
                stack_sleep(r.stack, 50 * NSEC_PER_MSEC);
                assert_int_equal(RIG_ESCAPE(&r, QUERY_SCANOUT, &q), STATUS_SUCCESS);
                assert_int_equal(q.mmio_enable, 1);
                assert_int_equal(dxgk_WaitForVerticalBlankEvent(
                                     r.client, &(D3DKMT_WAITFORVERTICALBLANKEVENT){.hAdapter = r.adapter}),
                                 STATUS_SUCCESS);
            }
            rig_context_destroy(&x);
        }
        assert_int_equal(dxgk_event_count(r.dxgk, 4101), resets);
        abi_builder_finish(&b);
        rig_down(&r);
    }
}

/* ---- what gets lost ------------------------------------------------------ */

static void lost_things_cost_a_moment(struct machine_faults faults, uint64_t *worst)
{
    struct rig r = {0};
    struct abi_builder b;
    struct rig_context x;

    *worst = 0;
    rig_up(&r, &(struct stack_params){.machine = {.kind = MACHINE_SIM, .seed = 3, .faults = faults}});
    x = rig_context(&r, r.client);
    abi_builder_init(&b);
    for (int i = 0; i < 200; i++) {
        uint64_t start = clock_now(stack_clock(r.stack)), took;
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
        took = clock_now(stack_clock(r.stack)) - start;
        if (took > *worst)
            *worst = took;
    }
    assert_int_equal(dxgk_event_count(r.dxgk, 4101), 0);
    abi_builder_finish(&b);
    rig_down(&r);
}

TEST(lost_doorbells_and_interrupts_are_noticed)
{
    uint64_t worst;

    lost_things_cost_a_moment((struct machine_faults){.lost_doorbell = 200000}, &worst);
    assert_in_range(worst, 240 * NSEC_PER_MSEC, 1500 * NSEC_PER_MSEC);
    lost_things_cost_a_moment((struct machine_faults){.lost_interrupt = 200000}, &worst);
    assert_in_range(worst, 240 * NSEC_PER_MSEC, 1500 * NSEC_PER_MSEC);
    lost_things_cost_a_moment(
        (struct machine_faults){.doubled_interrupt = 500000, .delayed_interrupt = 500000}, &worst);
    assert_in_range(worst, 0, 30 * NSEC_PER_MSEC);
}

TEST(a_small_ring_overflows_into_memory)
{
    struct aerogpu_escape_query_perf perf = {0};
    struct rig_context x[8];
    struct abi_builder b;
    struct rig r = {0};

    rig_set(&r, RIG_SERVICE, "RingEntries", 2);
    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "HwQueuedRenderPacketGroupLimit", 64);
    /* Half of the doorbells are lost, so the ring fills up. */
    rig_up(&r, &(struct stack_params){
                   .machine = {.kind = MACHINE_SIM, .seed = 5, .faults.lost_doorbell = 500000}});
    abi_builder_init(&b);
    for (int i = 0; i < 8; i++)
        x[i] = rig_context(&r, r.client);
    for (int n = 0; n < 50; n++)
        for (int i = 0; i < 8; i++) {
            ABI_EMIT(&b, NOP, nop);
            assert_int_equal(rig_render(&x[i], &b, NULL, 0, 0), STATUS_SUCCESS);
        }
    for (int i = 0; i < 8; i++)
        assert_int_equal(rig_idle(&x[i]), STATUS_SUCCESS);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_PERF, &perf), STATUS_SUCCESS);
    assert_true(perf.ring_push_failures > 0);
    assert_int_equal(perf.ring0_entry_count, 2);
    assert_int_equal(perf.last_completed_fence, perf.last_submitted_fence);
    assert_int_equal(dxgk_event_count(r.dxgk, 4101), 0);
    abi_builder_finish(&b);
    rig_down(&r);
}

/* The executor dies, and nobody hears of it before the deadline: what failed is reported as failed, not as done. */
/* The executor maps the ring. What it writes there costs work, and never more: SubmitCommand does not fail. */
TEST(a_ring_that_the_executor_scribbles_over_is_begun_anew)
{
    static const struct {
        uint32_t at, value;
        bool fences; /* and all fences come at once, so that nothing times out */
    } writes[] = {{24, 0x80000000}, {24, 12345}, {28, 77777},      {28, 0xFFFFFFFF},
                  {0, 0},           {12, 3},     {28, 77777, true}};

    for (unsigned n = 0; n < sizeof(writes) / sizeof(writes[0]); n++) {
        struct rig r = {0};
        struct abi_builder b;
        struct rig_context x;
        NTSTATUS s = STATUS_DEVICE_REMOVED;
        uint8_t *ring, *fence_page;

        rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "TdrLimitCount", 100000);
        rig_up(&r, &(struct stack_params){.machine = {.kind = MACHINE_SIM, .seed = n}});
        abi_builder_init(&b);
        ring = machine_ram(stack_machine(r.stack)) +
               machine_read64(stack_machine(r.stack), AEROGPU_REG_RING_GPA_LO);
        fence_page = machine_ram(stack_machine(r.stack)) +
                     machine_read64(stack_machine(r.stack), AEROGPU_REG_FENCE_GPA_LO);
        for (unsigned i = 0; i < (writes[n].fences ? 400 : 200); i++) {
            x = rig_context(&r, r.client);
            memcpy(ring + writes[n].at, &writes[n].value, 4);
            if (writes[n].fences)
                memset(fence_page + 8, 0x7F, 8);
            ABI_EMIT(&b, NOP, nop);
            assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
            if (i % 40 == 39)
                rig_idle(&x);
            rig_context_destroy(&x);
        }
        for (unsigned i = 0; i < 4 && s != STATUS_SUCCESS;
             i++) { /* it has stopped; the last time-out comes */
            x = rig_context(&r, r.client);
            ABI_EMIT(&b, NOP, nop);
            assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
            s = rig_idle(&x);
            rig_context_destroy(&x);
        }
        assert_int_equal(s, STATUS_SUCCESS);
        abi_builder_finish(&b);
        rig_down(&r);
    }
}

TEST(a_death_that_nobody_heard_of_is_a_fault)
{
    struct rig_context x;
    struct abi_builder b;
    struct rig r = {0};

    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "TdrDelay", 1);
    rig_up(&r, &(struct stack_params){.machine = {.kind = MACHINE_SIM, .seed = 3}});
    x = rig_context(&r, r.client);
    abi_builder_init(&b);
    assert_int_equal(
        dxgk_WaitForVerticalBlankEvent(r.client, &(D3DKMT_WAITFORVERTICALBLANKEVENT){.hAdapter = r.adapter}),
        STATUS_SUCCESS); /* starts the watchdog, whose beat and the deadline then fall apart */
    stack_sleep(r.stack, 40 * NSEC_PER_MSEC);
    assert_int_equal(dxgk_inject(r.dxgk, DXGK_FAULT_STOP_EXECUTOR, 1), STATUS_SUCCESS);
    ABI_EMIT(&b, NOP, nop);
    assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
    stack_sleep(r.stack, 990 * NSEC_PER_MSEC);
    assert_int_equal(dxgk_inject(r.dxgk, DXGK_FAULT_LOSE_INTERRUPT, 5), STATUS_SUCCESS);
    assert_int_equal(dxgk_inject(r.dxgk, DXGK_FAULT_KILL_EXECUTOR, 1), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&x), STATUS_DEVICE_REMOVED);
    assert_int_equal(rig_state(&x), D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    assert_int_equal(dxgk_event_count(r.dxgk, 4101), 0);
    stack_sleep(r.stack, NSEC_PER_SEC);
    abi_builder_finish(&b);
    rig_down(&r);
}

/* The real executor stands still: the time-out replaces it, and new work draws. */
TEST(a_stopped_executor_is_replaced)
{
    struct rig_context x;
    struct abi_builder b;
    struct rig r = {0};

    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "TdrDelay", 1);
    rig_up(&r, LIVE);
    abi_builder_init(&b);
    for (unsigned i = 1; i <= 2; i++) {
        x = rig_context(&r, r.client);
        ABI_EMIT(&b, NOP, nop); /* one that is still starting would be replaced, and the work would run */
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
        assert_int_equal(dxgk_inject(r.dxgk, DXGK_FAULT_STOP_EXECUTOR, 1), STATUS_SUCCESS);
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&x), STATUS_DEVICE_REMOVED);
        for (int n = 0; n < 1000 && dxgk_event_count(r.dxgk, 4101) < i; n++)
            stack_sleep(r.stack, 10 * NSEC_PER_MSEC);
        assert_int_equal(dxgk_event_count(r.dxgk, 4101), i);
        assert_int_equal(rig_state(&x), D3DKMT_DEVICEEXECUTION_HUNG);
        rig_context_destroy(&x);
        x = rig_context(&r, r.client);
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
        rig_context_destroy(&x);
        /* the replacement has started, or the next round stops nobody */
        for (int n = 0; n < 1000 && !machine_executor_pid(stack_machine(r.stack)); n++)
            stack_sleep(r.stack, 10 * NSEC_PER_MSEC);
    }
    abi_builder_finish(&b);
    rig_down(&r);
}
