/* SPDX-License-Identifier: MIT */
/* Which queues stay where they are, of a record that is made up: what waits for others who get on does not. */
#include "test.h"

#include <sys/mman.h>

#include "vkbox/point.h"
#include "vkbox/run/progress.h"

enum { NOBODY, S1, S2, S3 };
enum { NOW = 1000000000 };
enum at { UNBEGUN, AT_WORK, OVER, UNMARKED };

static struct vkbox *b;

static int set_up(void **state)
{
    b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (b == MAP_FAILED)
        return -1;
    for (uint32_t q = 0; q < 4; q++)
        b->queues[q] = (struct vkbox_queue){.state = VKBOX_LIVE};
    b->devices[0].state = VKBOX_LIVE;
    return 0;
}

static int tear_down(void **state)
{
    return munmap(b, sizeof(*b));
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

/* The next submission; a wait or a signal of NOBODY is none. */
static uint64_t submit(uint32_t queue, enum at at, uint64_t waits, uint64_t signals)
{
    const uint64_t n = b->submissions + 1;
    const uint32_t slot = (uint32_t)n, points[] = {0, 1, 2};
    struct vkbox_submission *s = &b->submission[vkbox_slot_of(b, n)];

    *s = (struct vkbox_submission){.number = n, .queue = queue, .returned = 1, .num_command_buffers = 1};
    s->command_buffers[0] = (struct vkbox_submitted){slot, 1};
    s->waits[0].handle = waits;
    s->num_waits = waits != NOBODY;
    s->signals[0].handle = signals;
    s->num_signals = signals != NOBODY;
    b->command_buffers[slot] = (struct vkbox_command_buffer){
        .state = VKBOX_LIVE, .recording = 1, .points = 2, .mark = slot, .since = n};
    if (at == UNMARKED)
        s->num_command_buffers = 0;
    else
        b->marks[b->queues[queue].device][slot] = point_word(b, slot, points[at]);
    b->queues[queue].submitted = b->submissions = n;
    return n;
}

static uint64_t stuck(uint64_t due, uint64_t quiet)
{
    struct progress_head heads[VKBOX_QUEUES];

    assert_int_equal(progress_heads(b, NOW, heads) & due, due);
    return progress_stuck(b, heads, due, quiet);
}

CASE(a_wait_for_nobody_is_one_whoever_moves)
{
    submit(0, UNBEGUN, S1, NOBODY);
    submit(1, AT_WORK, NOBODY, NOBODY);
    assert_int_equal(stuck(1, 0), 1);
}

CASE(a_wait_for_who_moves_is_none)
{
    submit(1, AT_WORK, NOBODY, S1);
    submit(0, UNBEGUN, S1, NOBODY);
    assert_int_equal(stuck(1, 1), 0);
    assert_int_equal(stuck(3, 1), 3); /* who hangs */
}

CASE(a_wait_for_who_waits_for_who_moves_is_none)
{
    submit(2, AT_WORK, NOBODY, S2);
    submit(1, UNMARKED, S2, S1);
    submit(0, UNBEGUN, S1, NOBODY);
    assert_int_equal(stuck(1, 1), 0);
    assert_int_equal(stuck(5, 1), 5);
}

CASE(two_that_wait_for_each_other_do_so_for_ever)
{
    submit(0, UNBEGUN, S1, NOBODY);
    submit(1, UNBEGUN, S2, NOBODY);
    submit(1, UNBEGUN, NOBODY, S1);
    submit(0, UNBEGUN, NOBODY, S2);
    submit(2, AT_WORK, NOBODY, NOBODY);
    assert_int_equal(stuck(3, 0), 3);
}

CASE(what_its_own_queue_signals_behind_it_never_comes)
{
    submit(0, UNBEGUN, S1, NOBODY);
    submit(0, UNBEGUN, NOBODY, S1);
    submit(1, AT_WORK, NOBODY, NOBODY);
    assert_int_equal(stuck(1, 0), 1);
}

CASE(a_signal_that_came_is_none_to_wait_for)
{
    submit(1, OVER, NOBODY, S1);
    submit(1, AT_WORK, NOBODY, NOBODY);
    submit(0, UNBEGUN, S1, NOBODY);
    assert_int_equal(stuck(1, 0), 0); /* a driver may take one queue after the other */
    assert_int_equal(stuck(1, 1), 1);
}

CASE(a_signal_that_another_took_is_none)
{
    submit(1, OVER, NOBODY, S1);
    submit(1, OVER, S1, NOBODY);
    submit(0, UNBEGUN, S1, NOBODY);
    submit(2, AT_WORK, NOBODY, NOBODY);
    assert_int_equal(stuck(1, 0), 1);
}

CASE(a_semaphore_of_another_device_is_another)
{
    b->devices[1].state = VKBOX_LIVE;
    b->queues[1].device = 1;
    submit(1, AT_WORK, NOBODY, S1);
    submit(0, UNBEGUN, S1, NOBODY);
    assert_int_equal(stuck(1, 0), 1);
}

CASE(what_is_not_kept_may_signal)
{
    submit(0, UNBEGUN, S1, NOBODY);
    submit(1, AT_WORK, NOBODY, NOBODY);
    b->signals_lost = 1;
    assert_int_equal(stuck(1, 0), 0);
    assert_int_equal(stuck(1, 1), 1);
    b->signals_lost = 0;
    b->queues_lost = 1;
    assert_int_equal(stuck(1, 0), 0);
}

CASE(who_is_at_a_command_is_stuck_whoever_moves)
{
    submit(0, AT_WORK, NOBODY, NOBODY);
    submit(1, AT_WORK, NOBODY, NOBODY);
    assert_int_equal(stuck(1, 0), 1);
}

CASE(what_waits_without_marks_does_so_while_it_is_seen_to)
{
    const uint64_t n = submit(0, UNMARKED, S1, NOBODY);

    assert_int_equal(stuck(0, 1), 0);
    submit(1, AT_WORK, NOBODY, NOBODY);
    b->queues[0].open = n;
    b->queues[0].open_ns = NOW - 100000000;
    assert_int_equal(stuck(1, 0), 1);
    b->queues[0].open_ns = NOW - 300000000; /* the program looked away */
    struct progress_head heads[VKBOX_QUEUES];

    assert_int_equal(progress_heads(b, NOW, heads), 2);
    b->queues[0].open_ns = NOW;
    submit(0, AT_WORK, NOBODY, NOBODY); /* so it has ended */
    assert_int_equal(progress_heads(b, NOW, heads), 3);
    assert_int_equal(heads[0].number, n + 2);
}

CASE(a_wait_in_the_call_that_submits_is_one)
{
    const uint64_t n = submit(0, UNMARKED, S1, NOBODY);

    b->submission[vkbox_slot_of(b, n)].returned = 0;
    submit(1, AT_WORK, NOBODY, S1);
    assert_int_equal(stuck(1, 0), 0);
    assert_int_equal(stuck(3, 0), 3);
}
