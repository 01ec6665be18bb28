/* SPDX-License-Identifier: MIT */
/* Faults that a seed draws: what they depend on, and what not. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "lose/lose.h"

enum { SEEDS = 300, WORK = 30 };

static struct lose_calls usual[] = {
    {"glBufferData", 3},       {"glClientWaitSync", 900}, {"glDrawArrays", 500},
    {"vkAllocateMemory", 12},  {"vkCreateInstance", 1},   {"vkGetFenceStatus", 4000},
    {"vkQueuePresentKHR", 30}, {"vkWaitForFences", 35},   {""}};

static void draw(const struct lose_calls *called, uint64_t seed, char out[160])
{
    assert_true(lose_fault_draw(called, WORK, seed, 0, out, 160));
}

/* The command of a fault, in `called`. */
static const struct lose_calls *command_of(const struct lose_calls *called, const char *fault)
{
    const char *name = strchr(fault, '@') + 1;
    size_t n = strcspn(name, ":");

    for (const struct lose_calls *c = called; c->name[0]; c++)
        if (strlen(c->name) == n && !strncmp(c->name, name, n))
            return c;
    fail_msg("%s is of nothing that was called", fault);
    return NULL;
}

TEST(what_is_drawn_exists)
{
    unsigned of[sizeof(usual) / sizeof(usual[0])] = {0}, late = 0, forever = 0;
    char text[160], again[160];
    struct lose_fault f;
    struct error e = {0};

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct lose_calls *c;

        draw(usual, seed, text);
        draw(usual, seed, again);
        assert_string_equal(text, again);
        assert_int_equal(lose_fault_parse(text, &f, &e), 0);
        c = command_of(usual, text);
        assert_in_range(f.at, 1, c->calls);
        of[c - usual]++;
        late += f.at > 16;
        forever += f.forever;
    }
    for (size_t i = 0; usual[i].name[0]; i++)
        assert_in_range(of[i], SEEDS / 16, SEEDS / 4); /* each command as often as the others */
    assert_in_range(late, SEEDS / 10, SEEDS);
    assert_in_range(forever, SEEDS / 8, SEEDS / 2);
    assert_false(lose_fault_draw(&(struct lose_calls){""}, WORK, 1, 0, text, sizeof(text)));
    assert_false(
        lose_fault_draw((struct lose_calls[]){{"vkCmdDraw", 9}, {""}}, WORK, 1, 0, text, sizeof(text)));
}

/* Loops that wait turn as often as they like. */
TEST(polls_change_nothing)
{
    struct lose_calls other[sizeof(usual) / sizeof(usual[0])];
    char a[160], b[160];

    memcpy(other, usual, sizeof(usual));
    other[1].calls = 77;
    other[5].calls = 123456;
    other[7].calls = 61;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        draw(usual, seed, a);
        draw(other, seed, b);
        assert_string_equal(a, b);
    }
}

/* Another number of calls of one command, or one more command, is its own affair. */
TEST(each_command_is_drawn_by_itself)
{
    struct lose_calls other[sizeof(usual) / sizeof(usual[0])];
    char a[160], b[160];
    unsigned changed = 0;

    memcpy(other, usual, sizeof(usual));
    other[2].calls = 400; /* draws: not a power of two apart, nor on one side of it */
    other[6] = (struct lose_calls){"vkQueueSubmit", 30};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        draw(usual, seed, a);
        draw(other, seed, b);
        if (strstr(a, "@vkQueuePresentKHR:") || strstr(b, "@vkQueueSubmit:"))
            continue;
        changed += strcmp(a, b) != 0;
        if (strcmp(a, b) != 0 && !strstr(a, "@glDrawArrays:"))
            fail_msg("seed %u: %s and %s", (unsigned)seed, a, b);
    }
    assert_in_range(changed, 0, SEEDS / 50); /* places between 400 and 500 */
}
