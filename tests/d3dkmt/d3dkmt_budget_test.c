/* SPDX-License-Identifier: MIT */
/* Who calls without end is served late, and nobody else, in a time of the test's own. */
#include "test.h"

#include <string.h>

#include "base/clock.h"
#include "d3dkmt/budget.h"

enum { CALL_NS = 15000, THREADS = 200, GREEDY = 1000, OTHER = 1001, MOST = 128 };

static struct budgets *all;
static struct budget *opened[MOST];
static uint64_t now;

static int up(void **state)
{
    now = NSEC_PER_SEC;
    all = budgets_create();
    return all ? 0 : -1;
}

static int down(void **state)
{
    for (int i = 0; i < MOST; i++)
        if (opened[i])
            budget_close(opened[i], now);
    memset(opened, 0, sizeof(opened));
    budgets_destroy(all);
    return 0;
}

static struct budget *process(pid_t pid, uid_t uid)
{
    int i = 0;

    while (opened[i])
        i++;
    opened[i] = budget_open(all, pid, uid, now);
    assert_non_null(opened[i]);
    return opened[i];
}

static void ends(struct budget *b)
{
    for (int i = 0; i < MOST; i++)
        if (opened[i] == b)
            opened[i] = NULL;
    budget_close(b, now);
}

#define BUDGET_TEST(name) TEST_WITH(name, up, down)

/* One call that takes `ns`; a thread that is looked at waited for a processor for `waited` times as long as it ran. */
static uint64_t call(struct budget *b, uint64_t ns, unsigned waited)
{
    if (budget_charge(b, ns))
        budget_look(b, now, BUDGET_LOOK_NS, waited * BUDGET_LOOK_NS);
    return budget_wait(b, now);
}

/* Threads that call whenever they may, for `seconds`, while `modest` calls 60 times a second: what they used, ns. How often modest was
 * to wait is added to `late`. */
static uint64_t storm(struct budget *b, struct budget *modest, unsigned seconds, unsigned waited,
                      unsigned *late)
{
    uint64_t next[THREADS] = {0}, end = now + seconds * NSEC_PER_SEC, frame = now, used = 0;

    for (; now < end; now += CALL_NS) { /* of one processor */
        if (modest && now >= frame) {
            frame += NSEC_PER_SEC / 60;
            *late += call(modest, 4 * CALL_NS, 0) > 0;
        }
        for (int i = 0; i < THREADS; i++)
            if (next[i] <= now) {
                next[i] = now + call(b, CALL_NS, waited) + CALL_NS;
                used += CALL_NS;
                break;
            }
    }
    return used;
}

BUDGET_TEST(a_storm_has_its_part_and_nobody_else_is_late)
{
    struct budget *b = process(7, GREEDY), *same = process(8, GREEDY), *other = process(9, OTHER);
    unsigned late = 0;
    uint64_t used;

    storm(b, same, 1, 2, &late);
    used = storm(b, same, 5, 2, &late);
    assert_in_range(used, 5 * NSEC_PER_SEC / BUDGET_PART / 2,
                    5 * NSEC_PER_SEC / BUDGET_PART + BUDGET_MOST_NS);
    used = storm(b, other, 5, 2, &late);
    assert_in_range(used, 5 * NSEC_PER_SEC / BUDGET_PART / 2,
                    5 * NSEC_PER_SEC / BUDGET_PART + BUDGET_MOST_NS);
    assert_int_equal(late, 0);
}

BUDGET_TEST(nobody_is_late_while_there_are_processors)
{
    struct budget *b = process(7, GREEDY), *other = process(8, OTHER);
    unsigned late = 0;

    assert_in_range(storm(b, other, 2, 0, &late), 19 * NSEC_PER_SEC / 10, 2 * NSEC_PER_SEC + CALL_NS);
    storm(b, other, 1, 2, &late);
    storm(b, other, 3, 0, &late); /* eased again */
    assert_in_range(storm(b, other, 1, 0, &late), 9 * NSEC_PER_SEC / 10, NSEC_PER_SEC + CALL_NS);
    assert_int_equal(late, 0);
}

BUDGET_TEST(who_is_alone_waits_for_nobody)
{
    struct budget *b = process(7, GREEDY);

    process(8, OTHER); /* and never calls */
    assert_in_range(storm(b, NULL, 2, 100, NULL), 19 * NSEC_PER_SEC / 10, 2 * NSEC_PER_SEC + CALL_NS);
}

BUDGET_TEST(a_debt_stays_when_a_process_comes_again)
{
    struct budget *b = process(7, GREEDY), *other = process(8, OTHER);
    unsigned late = 0;

    storm(b, other, 1, 2, &late);
    for (int i = 0; i < 100; i++)
        call(b, CALL_NS, 2);
    assert_true(call(b, CALL_NS, 2) > 0);
    ends(b);
    b = process(7, GREEDY);
    assert_true(call(b, CALL_NS, 2) > 0);
    ends(b);
    b = process(70, GREEDY); /* another of his starts with what it uses */
    assert_true(call(b, CALL_NS, 2) == 0);
    assert_true(call(b, BUDGET_MOST_NS, 2) > 0);
    ends(b);
    now += 10 * NSEC_PER_SEC;
    b = process(7, GREEDY);
    assert_true(call(b, CALL_NS, 2) == 0);
}

BUDGET_TEST(many_processes_of_a_user_have_no_more_than_one)
{
    enum { PROCESSES = 100 };
    struct budget *b[PROCESSES], *other = process(8, OTHER);
    uint64_t next[PROCESSES] = {0}, used = 0;
    unsigned late = 0;

    for (int i = 0; i < PROCESSES; i++)
        b[i] = process(100 + i, GREEDY);
    for (uint64_t end = now + 10 * NSEC_PER_SEC, counted = now + 2 * NSEC_PER_SEC; now < end; now += CALL_NS)
        for (int i = 0; i < PROCESSES; i++)
            if (next[i] <= now) {
                next[i] = now + call(b[i], CALL_NS, 2) + CALL_NS;
                used += now > counted ? CALL_NS : 0;
                late += i % 10 == 0 && call(other, CALL_NS / 100, 0) > 0;
                break;
            }
    assert_in_range(used, 8 * NSEC_PER_SEC / BUDGET_PART / 2, 8 * NSEC_PER_SEC / BUDGET_PART * 3 / 2);
    assert_int_equal(late, 0);
}
