/* SPDX-License-Identifier: MIT */
/* vblank_test: the vblank clock, its interrupt, and vsynced presents. */

#include "gpu_rig.h"

enum { VSYNC = ABI_COMPLETION_PRESENT | ABI_COMPLETION_VSYNC };

static int setup(void **state)
{
    struct rig *r = rig_on(0);

    rig_ring(r, 64);
    *state = r;
    return 0;
}

static uint64_t seq(struct rig *r)
{
    return rig_read64(r, AEROGPU_REG_SCANOUT0_VBLANK_SEQ_LO);
}

static uint64_t vblank_time(struct rig *r)
{
    return rig_read64(r, AEROGPU_REG_SCANOUT0_VBLANK_TIME_NS_LO);
}

static void display(struct rig *r, bool on)
{
    rig_write(r, AEROGPU_REG_SCANOUT0_ENABLE, on);
}

static bool vblank_pending(struct rig *r)
{
    return rig_read(r, AEROGPU_REG_IRQ_STATUS) & AEROGPU_IRQ_SCANOUT_VBLANK;
}

#define CASE(name) TEST_WITH(name, setup, rig_teardown)

CASE(ticks_only_while_scanout_is_on)
{
    struct rig *r = *state;

    rig_advance(r, 10 * RIG_PERIOD);
    assert_int_equal(seq(r), 0);
    assert_true(r->armed == GPU_NEVER);
    display(r, true);
    rig_advance(r, 10 * RIG_PERIOD);
    assert_int_equal(seq(r), 10);
    display(r, false);
    assert_true(r->armed == GPU_NEVER);
    rig_advance(r, 10 * RIG_PERIOD);
    assert_int_equal(seq(r), 10);
    display(r, true); /* goes on counting; a whole period until the next */
    rig_advance(r, RIG_PERIOD - 1);
    assert_int_equal(seq(r), 10);
    rig_advance(r, 1);
    assert_int_equal(seq(r), 11);
}

CASE(edges_do_not_drift)
{
    struct rig *r = *state;
    uint64_t start = r->clock.virtual_ns;

    display(r, true);
    for (int i = 0; i < 50; i++) { /* every timer is late by something else */
        rig_advance_late(r, RIG_PERIOD * 3 / 2 + (uint64_t)i * 977);
        gpu_timer(r->gpu);
        assert_int_equal((vblank_time(r) - start) % RIG_PERIOD, 0);
        assert_true(r->clock.virtual_ns - vblank_time(r) < RIG_PERIOD);
        assert_int_equal(r->armed, vblank_time(r) + RIG_PERIOD);
    }
    assert_int_equal(seq(r), (r->clock.virtual_ns - start) / RIG_PERIOD);
}

CASE(an_early_timer_is_harmless)
{
    struct rig *r = *state;

    display(r, true);
    r->armed = GPU_NEVER;
    gpu_timer(r->gpu);
    assert_int_equal(seq(r), 0);
    assert_int_equal(r->armed, r->clock.virtual_ns + RIG_PERIOD); /* armed again */
}

CASE(registers_are_current_without_a_timer)
{
    struct rig *r = *state;

    display(r, true);
    rig_advance_late(r, 7 * RIG_PERIOD + 5);
    assert_int_equal(seq(r), 7);
}

CASE(a_host_that_slept_for_a_day)
{
    struct rig *r = *state;
    uint64_t start = r->clock.virtual_ns;

    display(r, true);
    rig_advance_late(r, UINT64_C(86400) * NSEC_PER_SEC);
    gpu_timer(r->gpu);
    assert_int_equal(seq(r), UINT64_C(86400) * NSEC_PER_SEC / RIG_PERIOD);
    assert_int_equal(vblank_time(r), start + UINT64_C(86400) * NSEC_PER_SEC);
}

CASE(interrupt_once_per_vblank)
{
    struct rig *r = *state;

    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_SCANOUT_VBLANK);
    display(r, true);
    for (uint32_t i = 1; i <= 5; i++) {
        rig_advance(r, RIG_PERIOD);
        assert_int_equal(r->rises, i);
        assert_true(r->level);
        rig_write(r, AEROGPU_REG_IRQ_ACK, AEROGPU_IRQ_SCANOUT_VBLANK);
        assert_false(r->level);
    }
}

CASE(unacknowledged_vblanks_coalesce)
{
    struct rig *r = *state;

    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_SCANOUT_VBLANK);
    display(r, true);
    rig_advance(r, 5 * RIG_PERIOD);
    assert_int_equal(r->rises, 1);
    assert_int_equal(seq(r), 5);
}

CASE(status_latches_only_while_enabled)
{
    struct rig *r = *state;

    display(r, true);
    rig_advance(r, 3 * RIG_PERIOD);
    assert_false(vblank_pending(r));
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_SCANOUT_VBLANK);
    assert_false(vblank_pending(r));
    rig_advance(r, RIG_PERIOD);
    assert_true(vblank_pending(r));
}

CASE(enabling_does_not_deliver_elapsed_vblanks)
{
    struct rig *r = *state;

    display(r, true);
    rig_advance_late(r, 3 * RIG_PERIOD + 10); /* the timer has not run yet */
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_SCANOUT_VBLANK);
    assert_false(vblank_pending(r));
    assert_int_equal(seq(r), 3);
    gpu_timer(r->gpu);
    assert_false(vblank_pending(r));
    rig_advance(r, RIG_PERIOD - 10);
    assert_true(vblank_pending(r));
}

CASE(disabling_clears_what_is_pending)
{
    struct rig *r = *state;

    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_SCANOUT_VBLANK);
    display(r, true);
    rig_advance(r, RIG_PERIOD);
    assert_true(r->level);
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, 0);
    assert_false(vblank_pending(r));
    assert_false(r->level);
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_SCANOUT_VBLANK);
    assert_false(r->level);
}

CASE(scanout_off_drops_the_pending_vblank)
{
    struct rig *r = *state;

    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_SCANOUT_VBLANK);
    display(r, true);
    rig_advance(r, RIG_PERIOD);
    display(r, false);
    assert_false(vblank_pending(r));
    assert_false(r->level);
}

CASE(ticks_whatever_the_executor_does)
{
    struct rig *r = *state;

    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_SCANOUT_VBLANK);
    display(r, true);
    for (int i = 1; i <= 20; i++)
        rig_submit(r, (uint64_t)i); /* and the backend hangs */
    for (int i = 0; i < 30; i++) {
        rig_advance(r, RIG_PERIOD);
        rig_write(r, AEROGPU_REG_IRQ_ACK, AEROGPU_IRQ_SCANOUT_VBLANK);
    }
    assert_int_equal(seq(r), 30);
    assert_int_equal(r->rises, 30);
    assert_int_equal(rig_completed(r), 0);
}

CASE(ticks_without_bus_mastering)
{
    struct rig *r = *state;

    rig_command(r, RIG_CMD_MEM);
    display(r, true);
    rig_advance(r, 4 * RIG_PERIOD);
    assert_int_equal(seq(r), 4);
    assert_int_equal(r->maps, 0);
}

CASE(ring_reset_does_not_disturb_vblank)
{
    struct rig *r = *state;

    display(r, true);
    rig_advance(r, RIG_PERIOD * 5 / 2);
    rig_write(r, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE | AEROGPU_RING_CONTROL_RESET);
    rig_advance(r, RIG_PERIOD / 2);
    assert_int_equal(seq(r), 3);
}

/* ---- vsynced presents ---- */

CASE(vsynced_present_waits_for_its_vblank)
{
    struct rig *r = *state;

    display(r, true);
    rig_advance(r, RIG_PERIOD / 2);
    rig_submit(r, 1);
    rig_done(r, 0, VSYNC, 0);
    assert_int_equal(rig_completed(r), 0);
    rig_advance(r, RIG_PERIOD / 2 - 1);
    assert_int_equal(rig_completed(r), 0);
    rig_advance(r, 1);
    assert_int_equal(rig_completed(r), 1);
    assert_int_equal(rig_fence_page(r)->completed_fence, 1);
}

CASE(present_without_vsync_does_not_wait)
{
    struct rig *r = *state;

    display(r, true);
    rig_push(r, 1, AEROGPU_SUBMIT_FLAG_PRESENT); /* the hint alone paces nothing */
    rig_kick(r);
    rig_done(r, 0, ABI_COMPLETION_PRESENT, 0);
    assert_int_equal(rig_completed(r), 1);
}

CASE(an_elapsed_vblank_completes_nothing)
{
    struct rig *r = *state;

    display(r, true);
    rig_submit(r, 1);
    rig_advance_late(r, RIG_PERIOD + 1); /* the vblank was due before the executor was done */
    rig_done(r, 0, VSYNC, 0);
    gpu_timer(r->gpu);
    assert_int_equal(seq(r), 1);
    assert_int_equal(rig_completed(r), 0);
    rig_advance(r, RIG_PERIOD - 2);
    assert_int_equal(rig_completed(r), 0);
    rig_advance(r, 1);
    assert_int_equal(rig_completed(r), 1);
}

CASE(an_elapsed_vblank_before_the_doorbell)
{
    struct rig *r = *state;

    display(r, true);
    r->immediate = false;
    rig_advance_late(r, RIG_PERIOD + 1);
    rig_submit(r, 1);
    rig_done(r, 0, VSYNC, 0);
    assert_int_equal(rig_completed(r), 0);
    rig_advance(r, RIG_PERIOD - 1);
    assert_int_equal(rig_completed(r), 1);
}

CASE(one_vsynced_present_per_vblank)
{
    struct rig *r = *state;

    display(r, true);
    for (uint32_t i = 0; i < 3; i++)
        rig_submit(r, i + 1);
    for (uint32_t i = 0; i < 3; i++)
        rig_done(r, i, VSYNC, 0);
    for (uint64_t i = 1; i <= 3; i++) {
        rig_advance(r, RIG_PERIOD);
        assert_int_equal(rig_completed(r), i);
    }
}

CASE(what_is_behind_waits_and_goes_with_it)
{
    struct rig *r = *state;

    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_FENCE);
    display(r, true);
    for (uint32_t i = 0; i < 5; i++)
        rig_submit(r, i + 1);
    rig_done(r, 0, 0, 0);
    rig_done(r, 1, VSYNC, 0);
    rig_done(r, 2, 0, 0);
    rig_done(r, 3, VSYNC, 0);
    rig_done(r, 4, 0, 0);
    assert_int_equal(rig_completed(r), 1);
    rig_advance(r, RIG_PERIOD);
    assert_int_equal(rig_completed(r), 3);
    rig_advance(r, RIG_PERIOD);
    assert_int_equal(rig_completed(r), 5);
}

CASE(a_present_behind_slow_work_still_meets_a_vblank)
{
    struct rig *r = *state;

    display(r, true);
    rig_submit(r, 1);
    rig_submit(r, 2);
    rig_done(r, 1, VSYNC, 0);
    rig_advance(r, RIG_PERIOD * 5 / 2);
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_completed(r), 1); /* not in the middle of a frame */
    rig_advance(r, RIG_PERIOD / 2);
    assert_int_equal(rig_completed(r), 2);
}

CASE(a_late_timer_gives_each_vblank_its_present)
{
    struct rig *r = *state;

    display(r, true);
    for (uint32_t i = 0; i < 4; i++) {
        rig_submit(r, i + 1);
        rig_done(r, i, VSYNC, 0);
    }
    rig_advance_late(r, 3 * RIG_PERIOD);
    gpu_timer(r->gpu);
    assert_int_equal(rig_completed(r), 3);
}

CASE(scanout_off_releases_waiting_presents)
{
    struct rig *r = *state;

    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_FENCE);
    display(r, true);
    rig_submit(r, 1);
    rig_submit(r, 2);
    rig_done(r, 0, VSYNC, 0);
    rig_done(r, 1, VSYNC, 0);
    display(r, false);
    assert_int_equal(rig_completed(r), 2);
    assert_true(r->level);
}

CASE(scanout_off_paces_nothing)
{
    struct rig *r = *state;

    rig_submit(r, 1);
    rig_done(r, 0, VSYNC, 0);
    assert_int_equal(rig_completed(r), 1);
}

CASE(without_the_feature_nothing_is_paced)
{
    struct rig *r = rig_on(AEROGPU_FEATURE_VBLANK);

    rig_ring(r, 8);
    display(r, true);
    rig_submit(r, 1);
    rig_done(r, 0, VSYNC, 0);
    assert_int_equal(rig_completed(r), 1);
    rig_free(r);
}

CASE(scanout_off_in_flight)
{
    struct rig *r = *state;

    display(r, true);
    rig_submit(r, 1);
    display(r, false); /* the present completes after that */
    rig_done(r, 0, VSYNC, 0);
    assert_int_equal(rig_completed(r), 1);
}

CASE(a_failed_vsynced_present_keeps_its_vblank)
{
    struct rig *r = *state;

    display(r, true);
    rig_submit(r, 1);
    rig_done(r, 0, VSYNC, AEROGPU_ERROR_CMD_DECODE);
    assert_int_equal(rig_completed(r), 0);
    rig_advance(r, RIG_PERIOD);
    assert_int_equal(rig_completed(r), 1);
    assert_int_equal(rig_read(r, AEROGPU_REG_ERROR_FENCE_LO), 1);
}

CASE(duplicate_fence_with_a_vsynced_present)
{
    struct rig *r = *state;

    display(r, true);
    rig_submit(r, 3);
    rig_submit(r, 3);
    rig_done(r, 0, 0, 0);
    rig_done(r, 1, VSYNC, 0);
    assert_int_equal(rig_completed(r), 0);
    rig_advance(r, RIG_PERIOD);
    assert_int_equal(rig_completed(r), 3);
}

CASE(vblank_and_fence_in_one_interrupt)
{
    struct rig *r = *state;

    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_FENCE | AEROGPU_IRQ_SCANOUT_VBLANK);
    display(r, true);
    rig_submit(r, 1);
    rig_done(r, 0, VSYNC, 0);
    rig_advance(r, RIG_PERIOD);
    assert_int_equal(r->rises, 1);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 3);
}

CASE(reset_drops_waiting_presents)
{
    struct rig *r = *state;

    display(r, true);
    rig_submit(r, 5);
    rig_done(r, 0, VSYNC, 0);
    rig_write(r, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE | AEROGPU_RING_CONTROL_RESET);
    rig_advance(r, 2 * RIG_PERIOD);
    assert_int_equal(rig_completed(r), 0);
}
