/* SPDX-License-Identifier: MIT */
/* fence_test: fences, the fence page and the error latch. */
#include <string.h>

#include "aerogpu/ext.h"
#include "gpu_rig.h"

/* ---- fences ---- */

#define CASE(name) TEST_WITH(name, rig_ring_setup, rig_teardown)

CASE(no_irq)
{
    struct rig *r = *state;

    rig_push(r, 1, AEROGPU_SUBMIT_FLAG_NO_IRQ);
    rig_kick(r);
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_completed(r), 1);
    assert_int_equal(rig_fence_page(r)->completed_fence, 1);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 0);
}

CASE(no_irq_beside_one_that_wants_it)
{
    struct rig *r = *state;

    rig_push(r, 1, 0);
    rig_push(r, 2, AEROGPU_SUBMIT_FLAG_NO_IRQ);
    rig_kick(r);
    rig_done(r, 1, 0, 0);
    rig_done(r, 0, 0, 0); /* both advance at once */
    assert_int_equal(rig_completed(r), 2);
    assert_true(r->level);
}

CASE(duplicate_fence_signals_when_the_last_is_done)
{
    struct rig *r = *state;

    rig_push(r, 7, 0);
    rig_push(r, 7, AEROGPU_SUBMIT_FLAG_NO_IRQ);
    rig_kick(r);
    assert_int_equal(r->count, 2); /* both execute */
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_completed(r), 0);
    rig_done(r, 1, 0, 0);
    assert_int_equal(rig_completed(r), 7);
    assert_true(r->level); /* the first wanted it */
    assert_int_equal(r->rises, 1);
}

CASE(duplicate_fence_interrupts_for_any_of_them)
{
    struct rig *r = *state;

    rig_push(r, 7, AEROGPU_SUBMIT_FLAG_NO_IRQ);
    rig_push(r, 7, 0);
    rig_push(r, 7, AEROGPU_SUBMIT_FLAG_NO_IRQ);
    rig_kick(r);
    for (uint32_t i = 0; i < 3; i++)
        rig_done(r, i, 0, 0);
    assert_int_equal(rig_completed(r), 7);
    assert_int_equal(r->rises, 1); /* the one in the middle wanted it */
}

CASE(duplicate_of_a_completed_fence)
{
    struct rig *r = *state;

    rig_submit(r, 7);
    rig_done(r, 0, 0, 0);
    rig_write(r, AEROGPU_REG_IRQ_ACK, AEROGPU_IRQ_FENCE);
    rig_submit(r, 7);
    assert_int_equal(r->count, 2);
    rig_done(r, 1, 0, 0);
    assert_int_equal(rig_completed(r), 7);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 0); /* nothing advanced */
}

CASE(a_repeated_fence_asks_for_nothing_in_anothers_name)
{
    struct rig *r = *state;

    rig_submit(r, 7);
    rig_done(r, 0, 0, 0);
    rig_write(r, AEROGPU_REG_IRQ_ACK, AEROGPU_IRQ_FENCE);
    rig_push(r, 7, 0);
    rig_push(r, 8, AEROGPU_SUBMIT_FLAG_NO_IRQ);
    rig_kick(r);
    rig_done(r, 2, 0, 0);
    rig_done(r, 1, 0, 0); /* both go at once, and 8 is what advances */
    assert_int_equal(rig_completed(r), 8);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 0);
}

CASE(the_first_completion_counts)
{
    struct rig *r = *state;
    struct gpu_stats s;

    rig_submit(r, 1);
    rig_submit(r, 2);
    rig_done(r, 1, ABI_COMPLETION_PRESENT, 0);
    rig_done(r, 1, ABI_COMPLETION_PRESENT, AEROGPU_ERROR_BACKEND); /* while it waits for the one before it */
    rig_done(r, 0, 0, 0);
    rig_done(r, 0, 0, AEROGPU_ERROR_BACKEND); /* when it has gone */
    assert_int_equal(rig_completed(r), 2);
    rig_assert_no_error(r);
    gpu_get_stats(r->gpu, &s);
    assert_int_equal(s.completions, 2);
    assert_int_equal(s.presents, 1);
}

/* An executor that another's program has taken over says what it likes. */
CASE(nobody_completes_what_he_was_not_given)
{
    struct rig *r = *state;

    r->room = 1;
    rig_submit(r, 1);
    rig_submit(r, 2);
    assert_int_equal(r->count, 1);
    gpu_complete(r->gpu, &(struct abi_completion){.id = r->subs[0].id + 1});
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_completed(r), 1);
    assert_int_equal(r->count, 2); /* there is room now */
    rig_done(r, 1, 0, 0);
    assert_int_equal(rig_completed(r), 2);
}

CASE(older_fence_never_goes_back)
{
    struct rig *r = *state;

    rig_submit(r, 9);
    rig_submit(r, 4);
    rig_submit(r, 0);
    rig_done(r, 0, 0, 0);
    rig_done(r, 1, 0, 0);
    rig_done(r, 2, 0, 0);
    assert_int_equal(r->count, 3);
    assert_int_equal(rig_completed(r), 9);
    assert_int_equal(rig_fence_page(r)->completed_fence, 9);
    assert_int_equal(r->rises, 1);
}

CASE(fences_are_64_bits_wide)
{
    struct rig *r = *state;

    rig_submit(r, UINT64_C(0xFFFFFFFF));
    rig_submit(r, UINT64_C(0x100000000));
    rig_done(r, 0, 0, 0);
    rig_done(r, 1, 0, 0);
    assert_true(rig_completed(r) == UINT64_C(0x100000000));
    rig_submit(r, 1); /* a driver whose counter wrapped at 32 bits: executed, never signalled */
    rig_done(r, 2, 0, 0);
    assert_true(rig_completed(r) == UINT64_C(0x100000000));
    rig_submit(r, UINT64_MAX);
    rig_done(r, 3, 0, 0);
    assert_true(rig_completed(r) == UINT64_MAX);
}

CASE(fence_status_latches_only_while_enabled)
{
    struct rig *r = *state;

    rig_write(r, AEROGPU_REG_IRQ_ENABLE, 0);
    rig_submit(r, 1);
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 0);
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_FENCE);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 0); /* nothing stale */
    rig_submit(r, 2);
    rig_done(r, 1, 0, 0);
    assert_true(r->level);
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, 0); /* disabling clears it */
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 0);
    assert_false(r->level);
}

CASE(no_fence_page_is_legal)
{
    struct rig *r = *state;

    rig_write64(r, AEROGPU_REG_FENCE_GPA_LO, 0);
    rig_submit(r, 1);
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_completed(r), 1);
    assert_int_equal(rig_fence_page(r)->magic, 0);
    rig_assert_no_error(r);
}

CASE(a_bad_fence_page_is_one_error)
{
    struct rig *r = *state;

    rig_write64(r, AEROGPU_REG_FENCE_GPA_LO, UINT64_MAX - 8);
    rig_submit(r, 1);
    rig_submit(r, 2);
    rig_done(r, 0, 0, 0);
    rig_done(r, 1, 0, 0);
    assert_int_equal(rig_completed(r), 2);
    rig_assert_error(r, AEROGPU_ERROR_OOB, 0, 1, "FENCE_GPA 0xfffffffffffffff7");
    rig_write64(r, AEROGPU_REG_FENCE_GPA_LO, RIG_FENCE_PAGE);
    rig_submit(r, 3);
    rig_done(r, 2, 0, 0);
    assert_int_equal(rig_fence_page(r)->completed_fence, 3);
}

CASE(a_reset_looks_at_a_bad_fence_page_again)
{
    struct rig *r = *state;

    rig_write64(r, AEROGPU_REG_FENCE_GPA_LO, RIG_RAM);
    rig_submit(r, 1);
    rig_done(r, 0, 0, 0);
    rig_assert_error(r, AEROGPU_ERROR_OOB, 0, 1, "FENCE_GPA 0x200000");
    rig_write(r, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE | AEROGPU_RING_CONTROL_RESET);
    rig_assert_error(r, AEROGPU_ERROR_OOB, 0, 1,
                     "FENCE_GPA 0x200000"); /* the reset's own, the first is gone */
}

CASE(engines_need_a_longer_fence_page)
{
    struct rig *r = *state;
    uint64_t at = RIG_RAM - AEROGPU_EXT_FENCE_PAGE_BYTES;

    rig_write64(r, AEROGPU_REG_FENCE_GPA_LO, at);
    rig_ring_engines(r);
    rig_assert_no_error(r);
    rig_write64(r, AEROGPU_REG_FENCE_GPA_LO, at + 8);
    rig_push_to(r, 1, 1, 1);
    rig_kick(r);
    rig_done(r, 0, 0, 0);
    rig_assert_error(r, AEROGPU_ERROR_OOB, 0, 1, "the fence page is not guest memory");
}

CASE(an_unaligned_fence_page_works)
{
    struct rig *r = *state;
    uint64_t v;

    rig_write64(r, AEROGPU_REG_FENCE_GPA_LO, RIG_FENCE_PAGE + 4);
    rig_submit(r, UINT64_C(0x1122334455667788));
    rig_done(r, 0, 0, 0);
    memcpy(&v, r->ram + RIG_FENCE_PAGE + 12, 8);
    assert_true(v == UINT64_C(0x1122334455667788));
}

/* ---- errors ---- */

CASE(backend_errors_latch_and_fences_go_on)
{
    struct rig *r = *state;
    struct gpu_stats s;

    rig_submit(r, UINT64_C(0x10000002A));
    rig_done(r, 0, 0, AEROGPU_ERROR_BACKEND);
    assert_true(rig_completed(r) == UINT64_C(0x10000002A));
    rig_assert_error(r, AEROGPU_ERROR_BACKEND, UINT64_C(0x10000002A), 1, "submission 0 failed");
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 0x80000001);
    rig_write(r, AEROGPU_REG_IRQ_ACK, AEROGPU_IRQ_ERROR);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 1);
    assert_int_equal(rig_read(r, AEROGPU_REG_ERROR_CODE), AEROGPU_ERROR_BACKEND); /* the payload survives */
    assert_int_equal(rig_read(r, AEROGPU_REG_ERROR_COUNT), 1);
    gpu_get_stats(r->gpu, &s);
    assert_int_equal(s.errors, 1);
}

CASE(the_last_error_wins)
{
    struct rig *r = *state;

    rig_submit(r, 100);
    rig_submit(r, 200);
    rig_done(r, 0, 0, AEROGPU_ERROR_CMD_DECODE);
    rig_done(r, 1, 0, AEROGPU_ERROR_OOB);
    rig_assert_error(r, AEROGPU_ERROR_OOB, 200, 2, "submission 1 failed");
}

/* A driver that looks late learns of each of the last ones whose it was. */
CASE(the_last_errors_keep_their_fences)
{
    struct rig *r = *state;
    const uint64_t first = UINT64_C(0x300000001);
    uint32_t count;

    for (uint32_t i = 0; i < AEROGPU_EXT_ERRORS + 3; i++) {
        rig_submit(r, first + 2 * i);
        rig_submit(r, first + 2 * i + 1);
        rig_done(r, 2 * i, 0, AEROGPU_ERROR_BACKEND);
        rig_done(r, 2 * i + 1, 0, 0);
    }
    count = rig_read(r, AEROGPU_REG_ERROR_COUNT);
    assert_int_equal(count, AEROGPU_EXT_ERRORS + 3);
    for (uint32_t n = count - AEROGPU_EXT_ERRORS; n < count; n++)
        assert_true(rig_read64(r, AEROGPU_EXT_REG_ERROR_FENCES + n % AEROGPU_EXT_ERRORS * 8) ==
                    first + 2 * n);
    assert_int_equal(rig_read(r, AEROGPU_EXT_REG_ERROR_FENCES + AEROGPU_EXT_ERRORS * 8), 0);
}

TEST(without_clients_there_are_no_such_registers)
{
    struct rig *r = rig_on(AEROGPU_EXT_FEATURE(EXT_CLIENTS));

    rig_ring(r, 8);
    rig_push(r, 7, AEROGPU_SUBMIT_FLAG_EXT_QUIET);
    rig_kick(r);
    rig_done(r, 0, 0, AEROGPU_ERROR_BACKEND);
    rig_assert_error(r, AEROGPU_ERROR_BACKEND, 7, 1, "submission 0 failed"); /* nor is there the flag */
    assert_int_equal(rig_read(r, AEROGPU_EXT_REG_ERROR_FENCES), 0);
    rig_free(r);
}

/* The driver's own work has the fence of the work before it: that did not fail. */
CASE(what_is_quiet_is_no_error_of_its_fence)
{
    struct rig *r = *state;

    rig_push(r, 7, 0);
    rig_push(r, 7, AEROGPU_SUBMIT_FLAG_EXT_QUIET);
    rig_kick(r);
    rig_done(r, 0, 0, 0);
    rig_done(r, 1, 0, AEROGPU_ERROR_BACKEND);
    assert_int_equal(rig_completed(r), 7);
    assert_int_equal(rig_read(r, AEROGPU_REG_ERROR_COUNT), 0);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), AEROGPU_IRQ_FENCE);
}

CASE(error_latches_while_masked)
{
    struct rig *r = *state;

    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_FENCE);
    rig_submit(r, 1);
    rig_done(r, 0, 0, AEROGPU_ERROR_BACKEND);
    rig_write(r, AEROGPU_REG_IRQ_ACK, AEROGPU_IRQ_FENCE);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 0x80000000);
    assert_false(r->level);
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, AEROGPU_IRQ_ERROR);
    assert_true(r->level);
    rig_write(r, AEROGPU_REG_IRQ_ENABLE, 0); /* does not clear ERROR, as it does the others */
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 0x80000000);
}

CASE(page_fault_is_kept)
{
    struct rig *r = *state;
    struct gpu_stats s;

    rig_submit(r, 1);
    gpu_complete(r->gpu, &(struct abi_completion){.id = r->subs[0].id,
                                                  .error = AEROGPU_ERROR_BACKEND,
                                                  .has_fault = 1,
                                                  .fault_address = 0xDEAD0000,
                                                  .message = "wild"});
    gpu_get_stats(r->gpu, &s);
    assert_true(s.has_fault);
    assert_int_equal(s.fault_address, 0xDEAD0000);
    assert_string_equal(s.last_error, "wild");
}

CASE(a_message_without_an_end_is_cut)
{
    struct rig *r = *state;
    struct abi_completion c = {.error = AEROGPU_ERROR_BACKEND};
    struct gpu_stats s;

    rig_submit(r, 1);
    c.id = r->subs[0].id;
    memset(c.message, 'x', sizeof(c.message));
    gpu_complete(r->gpu, &c);
    gpu_get_stats(r->gpu, &s);
    assert_int_equal(strlen(s.last_error), sizeof(c.message) - 1);
}

/* ---- EXT_ENGINES --------------------------------------------------------- */

static uint64_t engine_fence(struct rig *r, uint32_t engine)
{
    uint64_t fence = rig_read64(r, AEROGPU_EXT_REG_ENGINE_FENCES + 8 * engine);

    assert_int_equal(*(uint64_t *)(r->ram + RIG_FENCE_PAGE + AEROGPU_EXT_FENCE_PAGE_ENGINES + 8 * engine),
                     fence);
    return fence;
}

static void assert_given(struct rig *r, const uint64_t *fences, uint32_t n)
{
    assert_int_equal(r->count, n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(r->subs[i].fence, fences[i]);
}

CASE(engines_wait_for_nobody_else)
{
    struct rig *r = *state;

    rig_ring_engines(r);
    rig_push_to(r, 0, 0, 1);
    rig_push_to(r, 1, 1, 2);
    rig_push_to(r, 63, 2, 3);
    rig_push_to(r, 1, 1, 4);
    rig_kick(r);
    assert_int_equal(rig_header(r)->head, 4); /* what was taken needs no slot */
    rig_done(r, 2, 0, 0);
    assert_int_equal(engine_fence(r, 63), 3);
    assert_true(rig_read(r, AEROGPU_REG_IRQ_STATUS) & AEROGPU_IRQ_FENCE);
    rig_done(r, 3, 0, AEROGPU_ERROR_BACKEND); /* not before the one in front of it */
    assert_int_equal(engine_fence(r, 1), 0);
    rig_assert_no_error(r);
    rig_done(r, 1, 0, 0);
    assert_int_equal(engine_fence(r, 1), 4);
    rig_assert_error(r, AEROGPU_ERROR_BACKEND, 4, 1, "submission 3 failed");
    assert_int_equal(rig_completed(r), 0);
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_completed(r), 1);
    assert_int_equal(engine_fence(r, 0), 1);
}

CASE(without_the_bit_there_is_one_time_line)
{
    struct rig *r = *state;

    rig_ring_engines(r);
    rig_push_to(r, 1, 1, 1);
    rig_kick(r);
    rig_write(r, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE | AEROGPU_RING_CONTROL_RESET);
    rig_push_to(r, 70, 1, 2);
    rig_push_to(r, 2, 2, 3);
    rig_kick(r);
    assert_int_equal(rig_header(r)->head, 1);
    rig_done(r, 2, 0, 0);
    assert_int_equal(rig_completed(r), 0);
    rig_done(r, 1, 0, 0);
    assert_int_equal(rig_completed(r), 3);
    assert_int_equal(rig_read64(r, AEROGPU_EXT_REG_ENGINE_FENCES + 16), 0);
    rig_done(r, 0, 0, 0); /* from before the reset */
    assert_int_equal(rig_completed(r), 3);
}

CASE(an_engine_that_there_is_not_is_an_error)
{
    struct rig *r = *state;

    rig_ring_engines(r);
    rig_push_to(r, AEROGPU_EXT_ENGINES, 1, 1);
    rig_kick(r);
    assert_int_equal(r->count, 0);
    rig_assert_error(r, AEROGPU_ERROR_CMD_DECODE, 1, 1, "descriptor: engine_id is 64 of 64");
}

/* One executor has no room: its engine waits, and what is the same client's. */
CASE(who_is_full_keeps_back_nobody_else)
{
    struct rig *r = *state;

    rig_ring_engines(r);
    r->full = 1 << 5;
    rig_push_to(r, 1, 5, 1);
    rig_push_to(r, 2, 6, 2);
    rig_push_to(r, 1, 6, 3); /* behind 1 on its time line */
    rig_push_to(r, 3, 5, 4); /* behind 1 in its client's order */
    rig_push_to(r, 4, 7, 5);
    rig_push_to(r, 2, 6, 6); /* behind 3, which has room */
    rig_kick(r);
    assert_given(r, (const uint64_t[]){2, 5}, 2);
    r->full = 0;
    gpu_backend_ready(r->gpu);
    assert_given(r, (const uint64_t[]){2, 5, 1, 3, 4, 6}, 6);
}

static void push_of(struct rig *r, uint32_t engine, uint32_t client, uint32_t session, uint64_t fence,
                    uint32_t flags)
{
    struct aerogpu_submit_desc *d = rig_push_to(r, engine, client, fence);

    d->reserved0 |= (uint64_t)session << 32;
    d->flags = flags | AEROGPU_SUBMIT_FLAG_EXT_ORDERED;
}

/* Who is kept back is so by his own number and session, not by one that is like them. */
CASE(who_is_full_keeps_back_no_namesake)
{
    static const struct {
        uint32_t client, session;
    } others[] = {{5 + 64, 9}, {5 + 4096, 9}, {6, 8 + 64}, {7, 8 + 65536}, {8, 0}};
    struct rig *r = *state;
    uint64_t want[16];
    uint32_t n = 0;

    rig_ring_engines(r);
    r->full = 1 << 5;
    push_of(r, 1, 5, 8, 1, 0);
    for (uint32_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        push_of(r, 2 + i, others[i].client, others[i].session, 2 + i, 0);
        want[n++] = 2 + i;
    }
    push_of(r, 20, 9, 8, 30, 0); /* his session's waits */
    rig_kick(r);
    assert_given(r, want, n);
    r->full = 0;
    gpu_backend_ready(r->gpu);
    want[n++] = 1;
    want[n++] = 30;
    assert_given(r, want, n);
}

/* Sessions that share a surface are in each other's order for what names it. */
CASE(what_crosses_sessions_is_ordered_over_them)
{
    struct rig *r = *state;

    rig_ring_engines(r);
    r->full = 1 << 5;
    push_of(r, 1, 5, 8, 1, AEROGPU_SUBMIT_FLAG_EXT_CROSSES);
    push_of(r, 2, 6, 9, 2, AEROGPU_SUBMIT_FLAG_EXT_CROSSES);
    push_of(r, 3, 7, 10, 3, 0);
    rig_kick(r);
    assert_given(r, (const uint64_t[]){3}, 1);
    r->full = 0;
    gpu_backend_ready(r->gpu);
    assert_given(r, (const uint64_t[]){3, 1, 2}, 3);
}

static void push_group(struct rig *r, uint32_t engine, uint32_t client, uint32_t session, uint64_t fence,
                       uint32_t groups)
{
    struct aerogpu_submit_desc *d = rig_push_to(r, engine, client, fence);

    d->reserved0 |= (uint64_t)session << 32;
    d->cmd_reserved0 = groups;
    d->flags = AEROGPU_SUBMIT_FLAG_EXT_CROSSES | AEROGPU_SUBMIT_FLAG_EXT_ORDERED;
}

/* And those who share another are in another order. */
CASE(groups_that_have_nothing_in_common_wait_for_themselves)
{
    struct rig *r = *state;

    rig_ring_engines(r);
    r->full = 1 << 5;
    push_group(r, 1, 5, 8, 1, 3);
    push_group(r, 2, 6, 9, 2, 12);
    push_group(r, 3, 7, 10, 3, 6); /* with both */
    push_group(r, 4, 8, 11, 4, 4); /* with that */
    push_group(r, 5, 9, 12, 5, 1u << 31);
    push_group(r, 6, 10, 13, 6, 0); /* with all */
    rig_kick(r);
    assert_given(r, (const uint64_t[]){2, 5}, 2);
    r->full = 0;
    gpu_backend_ready(r->gpu);
    assert_given(r, (const uint64_t[]){2, 5, 1, 3, 4, 6}, 6);
}

CASE(the_last_that_waited_goes_and_another_comes)
{
    struct rig *r = *state;

    rig_ring_engines(r);
    r->full = 1 << 5 | 1 << 6;
    rig_push_to(r, 1, 5, 1);
    rig_push_to(r, 2, 6, 2);
    rig_kick(r);
    r->full = 1 << 5;
    gpu_backend_ready(r->gpu);
    assert_given(r, (const uint64_t[]){2}, 1);
    rig_push_to(r, 3, 7, 3);
    rig_kick(r);
    assert_given(r, (const uint64_t[]){2, 3}, 2);
    r->full = 0;
    gpu_backend_ready(r->gpu);
    assert_given(r, (const uint64_t[]){2, 3, 1}, 3);
}

CASE(ordered_submissions_stay_in_order_over_engines)
{
    struct rig *r = *state;

    rig_ring_engines(r);
    r->full = 1 << 5;
    rig_push_to(r, 1, 5, 1)->flags = AEROGPU_SUBMIT_FLAG_EXT_ORDERED;
    rig_push_to(r, 2, 6, 2)->flags = AEROGPU_SUBMIT_FLAG_EXT_ORDERED;
    rig_push_to(r, 3, 7, 3);
    rig_push_to(r, 2, 6, 4); /* behind 2 */
    rig_kick(r);
    assert_given(r, (const uint64_t[]){3}, 1);
    r->full = 0;
    gpu_backend_ready(r->gpu);
    assert_given(r, (const uint64_t[]){3, 1, 2, 4}, 4);
}

/* Longer than the device holds submissions, and than the ring has slots. */
CASE(one_that_hangs_keeps_nothing_but_its_own_engine)
{
    struct rig *r = *state;

    rig_ring_engines(r);
    rig_push_to(r, 1, 1, 1);
    rig_kick(r);
    for (uint32_t i = 2; i < 2 * GPU_QUEUE_MAX - 10; i += 2) {
        rig_push_to(r, 2, 2, i);
        rig_push_to(r, 3, 3, i + 1);
        rig_kick(r);
        assert_int_equal(r->count, i + 1);
        rig_done(r, i, 0, 0);
        assert_int_equal(rig_read64(r, AEROGPU_EXT_REG_ENGINE_FENCES + 24), i + 1);
        rig_done(r, i - 1, 0, 0);
        assert_int_equal(rig_read64(r, AEROGPU_EXT_REG_ENGINE_FENCES + 16), i);
    }
    assert_int_equal(engine_fence(r, 1), 0);
    rig_done(r, 0, 0, 0);
    assert_int_equal(engine_fence(r, 1), 1);
}

CASE(each_engine_has_a_present_in_a_vblank)
{
    struct rig *r = *state;

    rig_ring_engines(r);
    rig_scanout(r, 64, 64, AEROGPU_FORMAT_B8G8R8X8_UNORM, 256);
    for (uint32_t i = 1; i <= 4; i++)
        rig_push_to(r, 1 + i % 2, 1 + i % 2, i);
    rig_kick(r);
    for (uint32_t i = 0; i < 4; i++)
        rig_done(r, i, ABI_COMPLETION_PRESENT | ABI_COMPLETION_VSYNC, 0);
    assert_int_equal(engine_fence(r, 1) + engine_fence(r, 2), 0);
    rig_advance(r, RIG_PERIOD);
    assert_int_equal(engine_fence(r, 2), 1);
    assert_int_equal(engine_fence(r, 1), 2);
    rig_advance(r, RIG_PERIOD);
    assert_int_equal(engine_fence(r, 2), 3);
    assert_int_equal(engine_fence(r, 1), 4);
}
