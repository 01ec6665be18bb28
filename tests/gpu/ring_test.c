/* SPDX-License-Identifier: MIT */
/* ring_test: the ring, descriptors, ring reset and bus mastering. */
#include <errno.h>
#include <string.h>

#include "gpu_rig.h"

#define CASE(name) TEST_WITH(name, rig_ring_setup, rig_teardown)

enum { BIG_RING = 8192 }; /* more entries than the device holds */

CASE(doorbell_to_fence)
{
    struct rig *r = *state;

    rig_push(r, 42, 0);
    gpu_bar_write(r->gpu, 0, AEROGPU_REG_DOORBELL + 1, 1, 0xFF); /* any write to it */
    assert_int_equal(r->count, 1);
    assert_int_equal(r->subs[0].fence, 42);
    assert_int_equal(rig_completed(r), 0);
    assert_false(r->level);
    assert_int_equal(rig_header(r)->head, 0); /* the stream may still be read */
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_header(r)->head, 1);
    assert_int_equal(rig_completed(r), 42);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), AEROGPU_IRQ_FENCE);
    assert_true(r->level);
    assert_int_equal(rig_fence_page(r)->magic, 0x434E4546);
    assert_int_equal(rig_fence_page(r)->abi_version, 0x00010004);
    assert_int_equal(rig_fence_page(r)->completed_fence, 42);
    rig_assert_no_error(r);
}

CASE(backend_gets_the_descriptor)
{
    struct rig *r = *state;
    struct aerogpu_submit_desc *d;

    rig_scanout(r, 3, 2, AEROGPU_FORMAT_B5G6R5_UNORM, 64);
    d = rig_push(r, UINT64_C(0x100000001), AEROGPU_SUBMIT_FLAG_PRESENT);
    d->context_id = 7;
    d->engine_id = 9;
    d->cmd_gpa = RIG_CMD;
    d->cmd_size_bytes = 24;
    d->alloc_table_gpa = RIG_CMD + 0x1000;
    d->alloc_table_size_bytes = 56;
    rig_kick(r);
    rig_write(r, AEROGPU_REG_SCANOUT0_WIDTH, 99); /* too late for that submission */
    assert_int_equal(r->count, 1);
    assert_true(r->subs[0].id != 0);
    assert_true(r->subs[0].fence == UINT64_C(0x100000001));
    assert_int_equal(r->subs[0].context_id, 7);
    assert_int_equal(r->subs[0].engine_id, 9);
    assert_int_equal(r->subs[0].flags, AEROGPU_SUBMIT_FLAG_PRESENT);
    assert_int_equal(r->subs[0].cmd_gpa, RIG_CMD);
    assert_int_equal(r->subs[0].cmd_size, 24);
    assert_int_equal(r->subs[0].alloc_gpa, RIG_CMD + 0x1000);
    assert_int_equal(r->subs[0].alloc_size, 56);
    assert_int_equal(r->subs[0].scanout.enabled, 1);
    assert_int_equal(r->subs[0].scanout.width, 3);
    assert_int_equal(r->subs[0].scanout.height, 2);
    assert_int_equal(r->subs[0].scanout.format, AEROGPU_FORMAT_B5G6R5_UNORM);
    assert_int_equal(r->subs[0].scanout.pitch, 64);
    assert_int_equal(r->subs[0].scanout.fb_gpa, RIG_FB);
}

CASE(several_in_one_kick)
{
    struct rig *r = *state;

    for (int i = 1; i <= 5; i++)
        rig_push(r, (uint64_t)i, 0);
    rig_kick(r);
    assert_int_equal(r->count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(rig_header(r)->head, i);
        rig_done(r, i, 0, 0);
    }
    assert_int_equal(rig_header(r)->head, 5);
    assert_int_equal(rig_completed(r), 5);
}

CASE(indices_wrap)
{
    struct rig *r = *state;

    rig_header(r)->head = rig_header(r)->tail = 0xFFFFFFFD;
    for (int i = 1; i <= 6; i++)
        rig_push(r, (uint64_t)i, 0);
    rig_kick(r);
    assert_int_equal(r->count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(r->subs[i].fence, i + 1);
        assert_int_equal(rig_header(r)->head, 0xFFFFFFFD + i);
        rig_done(r, i, 0, 0);
    }
    assert_int_equal(rig_header(r)->head, 3);
}

CASE(a_full_ring_is_legal)
{
    struct rig *r = *state;

    for (int i = 1; i <= 8; i++)
        rig_push(r, (uint64_t)i, 0);
    rig_kick(r);
    assert_int_equal(r->count, 8);
    rig_assert_no_error(r);
}

CASE(a_reset_forgets_what_did_not_fit)
{
    struct rig *r = *state;
    uint64_t fence = 0;

    rig_ring(r, BIG_RING);
    for (int i = 0; i < BIG_RING; i++)
        rig_push(r, ++fence, 0);
    rig_kick(r);
    assert_true(r->count < BIG_RING); /* the device holds no more */
    rig_write(r, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE | AEROGPU_RING_CONTROL_RESET);
    assert_int_equal(rig_header(r)->head, rig_header(r)->tail);
    r->count = 0;
    rig_submit(r, 1);
    assert_int_equal(r->count, 1);
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_completed(r), 1);
    rig_assert_no_error(r);
}

CASE(what_signals_nothing_makes_room_too)
{
    struct rig *r = *state;
    uint32_t first;

    rig_ring(r, BIG_RING);
    for (int i = 0; i < BIG_RING; i++)
        rig_push(r, 0, 0);
    rig_kick(r);
    first = r->count;
    assert_true(first < BIG_RING); /* the device holds no more */
    for (uint32_t i = 0; i < first; i++)
        rig_done(r, i, 0, 0);
    assert_int_equal(r->count, BIG_RING);
}

CASE(another_ring_owes_nothing)
{
    struct rig *r = *state;
    struct aerogpu_ring_header *other = (struct aerogpu_ring_header *)(void *)(r->ram + RIG_CMD);

    rig_submit(r, 1);
    rig_submit(r, 2);
    *other = *rig_header(r);
    other->head = other->tail = 40;
    rig_write64(r, AEROGPU_REG_RING_GPA_LO, RIG_CMD);
    rig_done(r, 0, 0, 0);
    rig_done(r, 1, 0, 0);
    assert_int_equal(rig_completed(r), 2);
    assert_int_equal(other->head, 40); /* nothing was taken from this one */
    rig_kick(r);
    assert_int_equal(r->count, 2);
    rig_assert_no_error(r);
}

CASE(out_of_order_completions)
{
    struct rig *r = *state;

    for (int i = 1; i <= 3; i++)
        rig_submit(r, (uint64_t)i);
    rig_done(r, 2, 0, 0);
    rig_done(r, 1, 0, 0);
    assert_int_equal(rig_completed(r), 0);
    assert_false(r->level);
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_completed(r), 3);
    assert_int_equal(r->rises, 1);
}

CASE(a_completion_counts_once)
{
    struct rig *r = *state;
    struct gpu_stats s;

    rig_submit(r, 1);
    rig_submit(r, 2);
    rig_done(r, 0, 0, 0);
    rig_done(r, 0, 0, AEROGPU_ERROR_BACKEND);
    gpu_complete(r->gpu, &(struct abi_completion){.id = 0});
    gpu_complete(r->gpu, &(struct abi_completion){.id = 999999});
    gpu_complete(r->gpu, &(struct abi_completion){.id = UINT64_MAX});
    assert_int_equal(rig_completed(r), 1);
    rig_assert_no_error(r);
    gpu_get_stats(r->gpu, &s);
    assert_int_equal(s.completions, 1);
    assert_int_equal(s.pending, 1);
}

CASE(backend_may_complete_inside_submit)
{
    struct rig *r = *state;

    r->immediate = true;
    for (int i = 1; i <= 4; i++)
        rig_push(r, (uint64_t)i, 0);
    rig_kick(r);
    assert_int_equal(rig_completed(r), 4);
    assert_int_equal(r->rises, 1);
}

CASE(full_backend_is_offered_again)
{
    struct rig *r = *state;

    r->room = 2;
    for (int i = 1; i <= 5; i++)
        rig_push(r, (uint64_t)i, 0);
    rig_kick(r);
    assert_int_equal(r->count, 2);
    rig_scanout(r, 3, 2, AEROGPU_FORMAT_B5G6R5_UNORM,
                64); /* the device holds them, with the scanout of the doorbell */
    rig_done(r, 0, 0, 0);
    assert_int_equal(r->count, 3);
    assert_false(r->subs[2].scanout.enabled);
    rig_done(r, 1, 0, 0);
    rig_done(r, 2, 0, 0);
    rig_done(r, 3, 0, 0);
    rig_done(r, 4, 0, 0);
    assert_int_equal(rig_completed(r), 5);
}

CASE(backend_ready_is_heard)
{
    struct rig *r = *state;

    r->room = 0;
    rig_submit(r, 1);
    assert_int_equal(r->count, 0);
    r->room = 1;
    gpu_backend_ready(r->gpu);
    assert_int_equal(r->count, 1);
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_completed(r), 1);
}

CASE(a_refused_submission_fails_and_completes)
{
    struct rig *r = *state;

    r->refuse = -EIO;
    rig_submit(r, 5);
    assert_int_equal(rig_completed(r), 5);
    rig_assert_error(r, AEROGPU_ERROR_BACKEND, 5, 1, "refused");
    r->refuse = 0;
    rig_submit(r, 6);
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_completed(r), 6);
}

CASE(more_than_the_device_holds)
{
    struct rig *r = *state;
    uint64_t fence = 0;
    struct gpu_stats s;

    r->room = 1;
    rig_ring(r, BIG_RING);
    while (fence < BIG_RING)
        rig_push(r, ++fence, 0);
    rig_kick(r);
    gpu_get_stats(r->gpu, &s);
    assert_int_equal(s.pending, 4096); /* the rest waits in the ring, untouched */
    rig_assert_no_error(r);
    for (uint32_t i = 0; i < fence; i++)
        rig_done(r, i, 0, 0);
    assert_int_equal(rig_completed(r), fence);
    assert_int_equal(rig_header(r)->head, rig_header(r)->tail);
    for (uint32_t i = 0; i < fence; i++)
        assert_int_equal(r->subs[i].fence, i + 1);
}

/* ---- slots go back to the driver when streams and tables have been read ---- */

CASE(slots_go_back_in_order)
{
    struct rig *r = *state;

    for (int i = 1; i <= 4; i++)
        rig_push(r, (uint64_t)i, 0);
    rig_slot(r, 2)->desc_size_bytes = 0; /* malformed: read as soon as those before it */
    rig_kick(r);
    rig_done(r, 1, 0, 0);
    assert_int_equal(rig_header(r)->head, 0);
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_header(r)->head, 3);
    rig_push(r, 5, 0);
    rig_kick(r);
    assert_int_equal(r->count, 4);
    assert_int_equal(rig_header(r)->head, 3);
    rig_done(r, 2, 0, 0);
    rig_done(r, 3, 0, 0);
    assert_int_equal(rig_header(r)->head, 5);
    assert_int_equal(rig_completed(r), 5);
}

CASE(a_present_that_waits_for_its_vblank_has_been_read)
{
    struct rig *r = *state;

    rig_scanout(r, 3, 2, AEROGPU_FORMAT_B5G6R5_UNORM, 64);
    rig_submit(r, 1);
    rig_done(r, 0, ABI_COMPLETION_PRESENT | ABI_COMPLETION_VSYNC, 0);
    assert_int_equal(rig_header(r)->head, 1);
    assert_int_equal(rig_completed(r), 0);
    rig_advance(r, RIG_PERIOD);
    assert_int_equal(rig_completed(r), 1);
}

CASE(the_driver_cannot_move_the_head_of_what_is_being_read)
{
    struct rig *r = *state;

    for (int i = 1; i <= 3; i++)
        rig_submit(r, (uint64_t)i);
    rig_header(r)->head = 77;
    rig_submit(r, 4);
    assert_int_equal(r->count, 4);
    rig_assert_no_error(r);
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_header(r)->head, 1);
}

CASE(a_tail_that_goes_back_over_what_was_taken)
{
    struct rig *r = *state;

    for (int i = 1; i <= 5; i++)
        rig_submit(r, (uint64_t)i);
    rig_done(r, 0, 0, 0);
    rig_header(r)->tail = 3;
    rig_kick(r);
    rig_assert_error(r, AEROGPU_ERROR_CMD_DECODE, 0, 1, "head 1 and tail 3, with 4 taken between");
    assert_int_equal(rig_header(r)->head, 3);
    for (uint32_t i = 1; i < 5; i++)
        rig_done(r, i, 0, 0);
    assert_int_equal(rig_completed(r),
                     5); /* what was taken is done, and its slots are nobody's business any more */
    assert_int_equal(rig_header(r)->head, 3);
}

CASE(a_ring_that_shrinks_below_what_was_taken)
{
    struct rig *r = *state;

    for (int i = 1; i <= 5; i++)
        rig_submit(r, (uint64_t)i);
    rig_header(r)->entry_count = 4;
    rig_kick(r);
    rig_assert_error(r, AEROGPU_ERROR_CMD_DECODE, 0, 1, "ring of 4 entries: head 0 and tail 5, with 5 taken");
}

CASE(a_ring_that_is_switched_off_or_moved_is_not_written)
{
    struct rig *r = *state;

    rig_submit(r, 1);
    rig_submit(r, 2);
    rig_write(r, AEROGPU_REG_RING_CONTROL, 0);
    assert_int_equal(rig_header(r)->head, 2); /* no later than now: the driver frees it next */
    memset(r->ram + RIG_RING, 0x11, 64);
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_header(r)->head, 0x11111111);
    rig_ring(r, 8);
    rig_submit(r, 3);
    rig_write64(r, AEROGPU_REG_RING_GPA_LO, RIG_RING + 0x2000);
    rig_done(r, 1, 0, 0);
    rig_done(r, 2, 0, 0);
    assert_int_equal(rig_header(r)->head, 0);
    assert_int_equal(rig_completed(r), 3);
}

CASE(slots_wait_for_bus_mastering)
{
    struct rig *r = *state;

    rig_submit(r, 1);
    rig_command(r, RIG_CMD_MEM);
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_header(r)->head, 0);
    rig_command(r, RIG_CMD_MEM | RIG_CMD_MASTER);
    assert_int_equal(rig_header(r)->head, 1);
}

/* ---- bad rings ---- */

CASE(doorbell_before_enable_is_forgotten)
{
    struct rig *r = *state;

    rig_write(r, AEROGPU_REG_RING_CONTROL, 0);
    rig_submit(r, 1);
    assert_int_equal(r->count, 0);
    assert_int_equal(r->maps, 0);
    rig_write(r, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE);
    assert_int_equal(r->count, 0); /* needs a new kick */
    rig_kick(r);
    assert_int_equal(r->count, 1);
}

CASE(doorbell_with_decoding_off_is_lost)
{
    struct rig *r = *state;

    rig_push(r, 42, 0);
    rig_command(r, RIG_CMD_MASTER);
    rig_kick(r);
    rig_command(r, RIG_CMD_MEM | RIG_CMD_MASTER);
    assert_int_equal(r->count, 0);
    rig_kick(r);
    assert_int_equal(r->count, 1);
}

struct bad_ring {
    void (*spoil)(struct rig *r, struct aerogpu_ring_header *h);
    uint32_t code;
    const char *words;
};

static void spoil_magic(struct rig *r, struct aerogpu_ring_header *h)
{
    h->magic ^= 1;
}
static void spoil_major(struct rig *r, struct aerogpu_ring_header *h)
{
    h->abi_version = 0x00020000;
}
static void spoil_count_zero(struct rig *r, struct aerogpu_ring_header *h)
{
    h->entry_count = 0;
}
static void spoil_count_three(struct rig *r, struct aerogpu_ring_header *h)
{
    h->entry_count = 3;
}
static void spoil_stride(struct rig *r, struct aerogpu_ring_header *h)
{
    h->entry_stride_bytes = 63;
}
static void spoil_stride_odd(struct rig *r, struct aerogpu_ring_header *h)
{
    h->entry_stride_bytes = 66;
    h->size_bytes = 64 + 8 * 66;
}
static void spoil_size_small(struct rig *r, struct aerogpu_ring_header *h)
{
    h->size_bytes = 64 + 8 * 64 - 1;
}
static void spoil_size_big(struct rig *r, struct aerogpu_ring_header *h)
{
    h->size_bytes = RIG_RING_SIZE + 1;
}
static void spoil_count_huge(struct rig *r, struct aerogpu_ring_header *h)
{
    h->entry_count = 0x80000000;
    h->entry_stride_bytes = 0xFFFFFFFC;
}
static void spoil_gpa_outside(struct rig *r, struct aerogpu_ring_header *h)
{
    rig_write64(r, AEROGPU_REG_RING_GPA_LO, RIG_RAM);
}
static void spoil_gpa_wraps(struct rig *r, struct aerogpu_ring_header *h)
{
    rig_write64(r, AEROGPU_REG_RING_GPA_LO, UINT64_MAX - 15);
}
static void spoil_gpa_odd(struct rig *r, struct aerogpu_ring_header *h)
{
    rig_write64(r, AEROGPU_REG_RING_GPA_LO, RIG_RING + 2);
}
static void spoil_body_outside(struct rig *r, struct aerogpu_ring_header *h)
{
    memcpy(r->ram + RIG_RAM - 128, h, sizeof(*h));
    rig_write64(r, AEROGPU_REG_RING_GPA_LO, RIG_RAM - 128);
}

TEST(bad_rings)
{
    static const struct bad_ring cases[] = {
        {spoil_magic, AEROGPU_ERROR_CMD_DECODE, "magic"},
        {spoil_major, AEROGPU_ERROR_CMD_DECODE, "abi_version 0x00020000"},
        {spoil_count_zero, AEROGPU_ERROR_CMD_DECODE, "entry_count 0"},
        {spoil_count_three, AEROGPU_ERROR_CMD_DECODE, "entry_count 3"},
        {spoil_stride, AEROGPU_ERROR_CMD_DECODE, "entry_stride_bytes is 63"},
        {spoil_stride_odd, AEROGPU_ERROR_CMD_DECODE, "entry_stride_bytes is 66"},
        {spoil_size_small, AEROGPU_ERROR_CMD_DECODE, "size_bytes 575"},
        {spoil_size_big, AEROGPU_ERROR_CMD_DECODE, "size_bytes 528385"},
        {spoil_count_huge, AEROGPU_ERROR_CMD_DECODE, "2147483648 entries"},
        {spoil_gpa_outside, AEROGPU_ERROR_OOB, "RING_GPA 0x200000"},
        {spoil_gpa_wraps, AEROGPU_ERROR_OOB, "RING_GPA 0xfffffffffffffff0"},
        {spoil_gpa_odd, AEROGPU_ERROR_CMD_DECODE, "RING_GPA 0x100002"},
        {spoil_body_outside, AEROGPU_ERROR_OOB, "576 bytes of ring"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig *r = rig_on(0);
        rig_ring(r, 8);
        rig_push(r, 1, 0);
        cases[i].spoil(r, rig_header(r));
        rig_kick(r);
        rig_assert_error(r, cases[i].code, 0, 1, cases[i].words);
        assert_int_equal(r->count, 0);
        assert_int_equal(rig_header(r)->head, 0);
        rig_free(r);
    }
}

CASE(an_unmapped_ring_is_not_touched)
{
    struct rig *r = *state;

    rig_write64(r, AEROGPU_REG_RING_GPA_LO, UINT64_MAX - 3);
    rig_kick(r);
    assert_int_equal(r->maps, 0); /* the host is not even asked about a range that wraps */
    rig_assert_error(r, AEROGPU_ERROR_OOB, 0, 1, "RING_GPA");
}

CASE(other_minors_are_accepted)
{
    struct rig *r = *state;

    rig_header(r)->abi_version = 0x0001FFFF;
    rig_submit(r, 1);
    rig_header(r)->abi_version = 0x00010000;
    rig_submit(r, 2);
    assert_int_equal(r->count, 2);
    rig_assert_no_error(r);
}

CASE(wider_slots)
{
    struct rig *r = *state;

    rig_header(r)->entry_stride_bytes = 128;
    rig_header(r)->size_bytes = 64 + 8 * 128;
    rig_push(r, 1, 0);
    rig_push(r, 2, 0)->desc_size_bytes = 128;
    rig_kick(r);
    assert_int_equal(r->count, 2);
    assert_int_equal(r->subs[1].fence, 2);
    rig_assert_no_error(r);
}

CASE(jumping_tail)
{
    struct rig *r = *state;

    rig_header(r)->tail = 9;
    rig_kick(r);
    rig_assert_error(r, AEROGPU_ERROR_CMD_DECODE, 0, 1, "head 0 and tail 9");
    assert_int_equal(rig_header(r)->head, 9);
    assert_int_equal(r->count, 0);
    rig_submit(r, 3);
    assert_int_equal(r->count, 1);
    rig_header(r)->tail -= 2; /* backwards */
    rig_kick(r);
    assert_int_equal(rig_read(r, AEROGPU_REG_ERROR_COUNT), 2);
    assert_int_equal(rig_header(r)->head, 8);
}

/* ---- bad descriptors ---- */

CASE(bad_descriptors)
{
    static const struct {
        uint32_t size;
        uint64_t cmd;
        uint32_t cmd_size;
        uint64_t table;
        uint32_t table_size, code;
        const char *words;
    } cases[] = {
        {63, 0, 0, 0, 0, AEROGPU_ERROR_CMD_DECODE, "desc_size_bytes is 63"},
        {65, 0, 0, 0, 0, AEROGPU_ERROR_CMD_DECODE, "desc_size_bytes is 65, the slot has 64"},
        {64, 0, 24, 0, 0, AEROGPU_ERROR_CMD_DECODE, "cmd_gpa 0x0 with cmd_size_bytes 24"},
        {64, RIG_CMD, 0, 0, 0, AEROGPU_ERROR_CMD_DECODE, "cmd_gpa 0xa0000 with cmd_size_bytes 0"},
        {64, 0, 0, RIG_CMD, 0, AEROGPU_ERROR_CMD_DECODE, "alloc_table_gpa 0xa0000"},
        {64, 0, 0, 0, 24, AEROGPU_ERROR_CMD_DECODE, "alloc_table_size_bytes 24"},
        {64, UINT64_MAX - 23, 24 + 1, 0, 0, AEROGPU_ERROR_OOB, "cmd_gpa 0xffffffffffffffe8 + 25 passes 2^64"},
        {64, 0, 0, UINT64_MAX, 24, AEROGPU_ERROR_OOB, "alloc_table_gpa 0xffffffffffffffff + 24 passes"},
        {64, RIG_CMD, (64 << 20) + 1, 0, 0, AEROGPU_ERROR_CMD_DECODE, "cmd_size_bytes 67108865"},
        {64, 0, 0, RIG_CMD, (16 << 20) + 1, AEROGPU_ERROR_CMD_DECODE, "alloc_table_size_bytes 16777217"},
        {64, RIG_RAM - 8, 24, 0, 0, AEROGPU_ERROR_OOB, "cmd_gpa 0x1ffff8: 24 bytes"},
        {64, 0, 0, RIG_RAM, 24, AEROGPU_ERROR_OOB, "alloc_table_gpa 0x200000: 24 bytes"},
    };
    struct rig *r = *state;

    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct aerogpu_submit_desc *d = rig_push(r, 100 + i, 0);
        d->desc_size_bytes = cases[i].size;
        d->cmd_gpa = cases[i].cmd;
        d->cmd_size_bytes = cases[i].cmd_size;
        d->alloc_table_gpa = cases[i].table;
        d->alloc_table_size_bytes = cases[i].table_size;
        rig_kick(r);
        rig_assert_error(r, cases[i].code, 100 + i, i + 1, cases[i].words);
        assert_int_equal(rig_completed(r), 100 + i); /* errors never block fences */
        assert_int_equal(rig_header(r)->head, i + 1);
    }
    assert_int_equal(r->count, 0); /* the backend never saw one */
    assert_int_equal(r->rises, 1);
}

CASE(a_bad_descriptor_fails_in_its_turn)
{
    struct rig *r = *state;

    rig_submit(r, 1);
    rig_push(r, 2, 0)->desc_size_bytes = 0;
    rig_kick(r);
    rig_submit(r, 3);
    assert_int_equal(rig_completed(r), 0);
    rig_assert_no_error(r); /* not before the work in front of it */
    assert_int_equal(r->count, 2);
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_completed(r), 2);
    rig_assert_error(r, AEROGPU_ERROR_CMD_DECODE, 2, 1, "desc_size_bytes is 0");
    rig_done(r, 1, 0, 0);
    assert_int_equal(rig_completed(r), 3);
}

CASE(range_that_ends_at_the_top_is_legal_arithmetic)
{
    struct rig *r = *state;
    struct aerogpu_submit_desc *d = rig_push(r, 1, 0);

    d->cmd_gpa = UINT64_MAX - 24;
    d->cmd_size_bytes = 24;
    rig_kick(r);
    rig_assert_error(r, AEROGPU_ERROR_OOB, 1, 1, "are not all guest memory"); /* not "passes 2^64" */
}

/* ---- ring reset ---- */

static void reset_ring(struct rig *r)
{
    rig_write(r, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE | AEROGPU_RING_CONTROL_RESET);
}

CASE(reset_clears_and_synchronises)
{
    struct rig *r = *state;

    rig_submit(r, 42);
    rig_done(r, 0, 0, AEROGPU_ERROR_BACKEND);
    rig_header(r)->tail = 3;
    memset(rig_fence_page(r), 0xEE, 64);
    reset_ring(r);
    assert_int_equal(r->resets, 1);
    assert_int_equal(rig_completed(r), 0);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 0);
    assert_false(r->level);
    assert_int_equal(rig_header(r)->head, 3);
    assert_int_equal(rig_fence_page(r)->magic, AEROGPU_FENCE_PAGE_MAGIC);
    assert_int_equal(rig_fence_page(r)->completed_fence, 0);
    assert_int_equal(rig_read(r, AEROGPU_REG_ERROR_CODE), 0);
    assert_int_equal(rig_read64(r, AEROGPU_REG_ERROR_FENCE_LO), 0);
    assert_int_equal(rig_read(r, AEROGPU_REG_ERROR_COUNT), 0);
    assert_int_equal(rig_read(r, AEROGPU_REG_RING_CONTROL), 1);
}

CASE(late_completions_after_reset_are_ignored)
{
    struct rig *r = *state;

    rig_submit(r, 1);
    rig_submit(r, 2);
    reset_ring(r);
    rig_submit(r, 1);
    rig_done(r, 0, 0, AEROGPU_ERROR_BACKEND);
    rig_done(r, 1, 0, 0);
    assert_int_equal(rig_completed(r), 0);
    rig_assert_no_error(r);
    rig_done(r, 2, 0, 0);
    assert_int_equal(rig_completed(r), 1);
}

CASE(new_work_runs_after_reset)
{
    struct rig *r = *state;

    for (int i = 0; i < 20; i++) {
        rig_submit(r, 1);
        rig_submit(r, 2);
        rig_done(r, r->count - 2, 0, 0);
        reset_ring(r);
    }
    rig_submit(r, 1);
    rig_done(r, r->count - 1, 0, 0);
    assert_int_equal(rig_completed(r), 1);
}

CASE(reset_of_a_ring_out_of_memory)
{
    struct rig *r = *state;

    rig_write64(r, AEROGPU_REG_FENCE_GPA_LO, 0);
    rig_write64(r, AEROGPU_REG_RING_GPA_LO, UINT64_MAX - 27);
    reset_ring(r);
    assert_int_equal(r->maps, 0);
    rig_assert_error(r, AEROGPU_ERROR_OOB, 0, 1, "ring reset: RING_GPA");
    assert_true(r->level);
}

CASE(reset_leaves_memory_that_is_no_ring)
{
    struct rig *r = *state;

    memset(r->ram + RIG_RING, 0x11, 64);
    reset_ring(r);
    for (int i = 0; i < 64; i++)
        assert_int_equal(r->ram[RIG_RING + i], 0x11);
    rig_assert_no_error(r);
}

/* ---- bus mastering ---- */

CASE(doorbell_waits_for_bus_mastering)
{
    struct rig *r = *state;

    rig_command(r, RIG_CMD_MEM);
    rig_submit(r, 42);
    assert_int_equal(r->maps, 0);
    assert_int_equal(rig_header(r)->head, 0);
    rig_command(r, RIG_CMD_MEM | RIG_CMD_MASTER);
    assert_int_equal(r->count, 1);
    rig_done(r, 0, 0, 0);
    assert_int_equal(rig_completed(r), 42);
}

CASE(reset_drops_a_waiting_doorbell)
{
    struct rig *r = *state;

    rig_command(r, RIG_CMD_MEM);
    rig_submit(r, 42);
    reset_ring(r);
    rig_command(r, RIG_CMD_MEM | RIG_CMD_MASTER);
    assert_int_equal(r->count, 0);
    assert_int_equal(rig_header(r)->head, 1); /* the reset's own memory work was done */
}

CASE(reset_memory_work_waits_for_bus_mastering)
{
    struct rig *r = *state;

    rig_header(r)->head = 1;
    rig_header(r)->tail = 3;
    rig_fence_page(r)->completed_fence = 999;
    rig_command(r, RIG_CMD_MEM);
    reset_ring(r);
    assert_int_equal(rig_header(r)->head, 1);
    assert_int_equal(rig_fence_page(r)->completed_fence, 999);
    rig_command(r, RIG_CMD_MEM | RIG_CMD_MASTER);
    assert_int_equal(rig_header(r)->head, 3);
    assert_int_equal(rig_fence_page(r)->magic, AEROGPU_FENCE_PAGE_MAGIC);
    assert_int_equal(rig_fence_page(r)->completed_fence, 0);
}

CASE(completion_waits_for_bus_mastering)
{
    struct rig *r = *state;

    rig_submit(r, 5);
    rig_command(r, RIG_CMD_MEM);
    rig_done(r, 0, 0, AEROGPU_ERROR_OOB);
    assert_int_equal(rig_completed(r), 0);
    assert_int_equal(rig_read(r, AEROGPU_REG_IRQ_STATUS), 0);
    rig_command(r, RIG_CMD_MEM | RIG_CMD_MASTER);
    assert_int_equal(rig_completed(r), 5);
    assert_int_equal(rig_fence_page(r)->completed_fence, 5);
    rig_assert_error(r, AEROGPU_ERROR_OOB, 5, 1, "submission 0");
}

/* ---- observers ---- */

struct seen {
    enum gpu_event_kind kinds[64];
    uint64_t values[64];
    int count;
};

static void note(void *ctx, const struct gpu_event *e)
{
    struct seen *s = ctx;

    s->kinds[s->count] = e->kind;
    s->values[s->count++] = e->value;
}

CASE(observers_see_the_order_of_things)
{
    static const enum gpu_event_kind want[] = {GPU_EVENT_DOORBELL, GPU_EVENT_TAKE,  GPU_EVENT_SUBMIT,
                                               GPU_EVENT_COMPLETE, GPU_EVENT_ERROR, GPU_EVENT_RETIRE,
                                               GPU_EVENT_FENCE,    GPU_EVENT_IRQ};
    struct rig *r = *state;
    struct seen seen = {.count = 0};
    struct gpu_observer o = {.event = note, .ctx = &seen};

    gpu_observe(r->gpu, &o);
    rig_submit(r, 3);
    rig_done(r, 0, 0, AEROGPU_ERROR_OOB);
    assert_int_equal(seen.count, 8);
    for (int i = 0; i < 8; i++)
        assert_int_equal(seen.kinds[i], want[i]);
    assert_int_equal(seen.values[6], 3);
    gpu_unobserve(r->gpu, &o);
    rig_submit(r, 4);
    assert_int_equal(seen.count, 8);
    assert_string_equal(gpu_event_name(GPU_EVENT_RING_RESET), "ring_reset");
    assert_string_equal(gpu_event_name(GPU_EVENT_KINDS), "?");
}
