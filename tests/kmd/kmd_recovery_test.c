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

/* A row of words in guest memory, and work that copies one of them to where it can be seen. */
struct row {
    struct rig_context x;
    struct abi_builder b;
    D3DKMT_HANDLE a;
    uint32_t *words;
};

enum { ROW = 40, TOKEN = 0x1234 };

static void row_up(struct row *w, struct rig *r)
{
    struct aerogpu_alloc_priv_v2 p = rig_priv(7, 4096, 0, 0);

    abi_builder_init(&w->b);
    w->x = rig_context(r, r->client);
    assert_int_equal(rig_allocate(&w->x, &p, &w->a), STATUS_SUCCESS);
    w->words = rig_lock(&w->x, w->a); /* stays where it is */
    w->words[0] = TOKEN;
    rig_unlock(&w->x, w->a);
}

static void row_copy(struct row *w, unsigned from, unsigned to)
{
    ABI_EMIT(&w->b, CREATE_BUFFER, create_buffer, .buffer_handle = 2, .size_bytes = 4096,
             .backing_alloc_id = 7);
    ABI_EMIT(&w->b, COPY_BUFFER, copy_buffer, .dst_buffer = 2, .src_buffer = 2, .dst_offset_bytes = 4 * to,
             .src_offset_bytes = 4 * from, .size_bytes = 4, .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
    ABI_EMIT(&w->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 2);
    assert_int_equal(rig_render(&w->x, &w->b, &w->a, 1, 1), STATUS_SUCCESS);
}

/* How many words have what the first one had at the beginning. */
static unsigned row_count(const struct row *w)
{
    unsigned n = 0;

    for (unsigned i = 0; i <= ROW; i++)
        n += w->words[i] == TOKEN;
    return n;
}

static void row_down(struct row *w)
{
    rig_context_destroy(&w->x);
    abi_builder_finish(&w->b);
}

/* The ring fills up since the device hears of nothing, and then takes what is there at once: who comes then has others before
 * him that were not in the ring. */
TEST(what_waits_behind_a_full_ring_is_done_in_its_order)
{
    struct aerogpu_escape_query_perf perf = {0};
    struct rig r = {0};
    struct row w;

    rig_set(&r, RIG_SERVICE, "RingEntries", 2);
    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "HwQueuedRenderPacketGroupLimit", 64);
    rig_up(&r, LIVE);
    row_up(&w, &r);
    row_copy(&w, 0, 1);
    assert_int_equal(rig_idle(&w.x), STATUS_SUCCESS); /* there is an executor */
    assert_int_equal(dxgk_inject(r.dxgk, DXGK_FAULT_LATE_EXECUTOR, 200000), STATUS_SUCCESS);
    assert_int_equal(dxgk_inject(r.dxgk, DXGK_FAULT_LOSE_DOORBELL, 3), STATUS_SUCCESS);
    for (unsigned i = 1; i < ROW; i++)
        row_copy(&w, i, i + 1); /* right only behind the one before it */
    assert_int_equal(rig_idle(&w.x), STATUS_SUCCESS);
    assert_int_equal(row_count(&w), ROW + 1);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_PERF, &perf), STATUS_SUCCESS);
    assert_true(perf.ring_push_failures > 0);
    row_down(&w);
    rig_down(&r);
}

/* No beat of the watchdog passes for what a full ring keeps waiting. */
TEST(a_full_ring_costs_no_time)
{
    struct rig_context x;
    struct abi_builder b;
    struct rig r = {0};
    uint64_t start;

    rig_set(&r, RIG_SERVICE, "RingEntries", 2);
    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "HwQueuedRenderPacketGroupLimit", 64);
    rig_up(&r,
           &(struct stack_params){
               .machine = {.kind = MACHINE_SIM, .exec_min_ns = NSEC_PER_MSEC, .exec_max_ns = NSEC_PER_MSEC}});
    x = rig_context(&r, r.client);
    abi_builder_init(&b);
    start = machine_now(stack_machine(r.stack));
    assert_int_equal(dxgk_inject(r.dxgk, DXGK_FAULT_LOSE_DOORBELL, 3), STATUS_SUCCESS);
    for (unsigned i = 0; i < ROW; i++) {
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
    }
    assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
    assert_in_range(machine_now(stack_machine(r.stack)) - start, ROW * NSEC_PER_MSEC,
                    (ROW + 40) * NSEC_PER_MSEC);
    abi_builder_finish(&b);
    rig_down(&r);
}

/* What a reset has dropped is not done later, whether it was in the ring or behind it. */
TEST(what_a_reset_drops_stays_undone)
{
    struct rig_context y;
    struct rig r = {0};
    struct row w;

    rig_set(&r, RIG_SERVICE, "RingEntries", 2);
    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "HwQueuedRenderPacketGroupLimit", 64);
    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "TdrDelay", 1);
    rig_up(&r, LIVE);
    row_up(&w, &r);
    row_copy(&w, 0, 1);
    assert_int_equal(rig_idle(&w.x), STATUS_SUCCESS);
    assert_int_equal(dxgk_inject(r.dxgk, DXGK_FAULT_STOP_EXECUTOR, 1), STATUS_SUCCESS);
    assert_int_equal(dxgk_inject(r.dxgk, DXGK_FAULT_LOSE_DOORBELL, 1000), STATUS_SUCCESS);
    for (unsigned i = 1; i < ROW; i++)
        row_copy(&w, 0, i + 1);
    assert_int_equal(rig_idle(&w.x), STATUS_DEVICE_REMOVED);
    assert_int_equal(dxgk_inject(r.dxgk, DXGK_FAULT_LOSE_DOORBELL, 0), STATUS_SUCCESS);
    y = rig_context(&r, r.client);
    for (unsigned i = 0; i < 2 * ROW; i++) { /* whatever waits would go first */
        ABI_EMIT(&w.b, NOP, nop);
        assert_int_equal(rig_render(&y, &w.b, NULL, 0, 0), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&y), STATUS_SUCCESS);
    }
    assert_int_equal(row_count(&w), 2);
    rig_context_destroy(&y);
    row_down(&w);
    rig_down(&r);
}

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

/* The executor dies, and nobody hears of it before the deadline: what failed is reported as failed, not as done. */
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
