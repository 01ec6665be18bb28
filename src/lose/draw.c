/* SPDX-License-Identifier: MIT */
/* draw.c: faults at random: a command that the program calls, an answer that it may give, and which of the calls.
 *
 * Programs wait in loops, and how often those turn is the machine's affair. So that a seed draws the same all the same:
 *
 *  1. Each command has a number by the seed and its name, and the smallest is drawn, and so of its answers: commands that are called
 *     or not, and how often they are, change no other's.
 *  2. The place among the calls is the first of a row of places, by the seed and the command, that there is. Of a command that can
 *     say "not yet" as many places as the program did work count at most.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "lose/gl_table.h"
#include "lose/lose.h"

enum { MAX_WORDS = 64, MAGNITUDES = 17, TRIES = 200 };

static const char *word_of(int32_t result)
{
    for (unsigned i = 0; i < lose_num_results; i++)
        if (lose_results[i].value == result)
            return lose_results[i].word;
    return NULL;
}

/* What a command may answer, by its words. */
static unsigned answers_of(const char *name, const char *words[MAX_WORDS])
{
    unsigned n = 0;

    for (uint32_t i = 1; i < LOSE_NUM_CALLS; i++)
        for (const int32_t *m = strcmp(name, lose_calls[i].name) ? NULL : lose_calls[i].may;
             m && *m && n < MAX_WORDS; m++)
            if (word_of(*m))
                words[n++] = word_of(*m);
    for (const struct lose_gl_answer *a = lose_gl_answers; a->call; a++)
        if (n < MAX_WORDS && !fnmatch(a->call, name, 0))
            words[n++] = a->word;
    return n;
}

static uint64_t number_of(uint64_t seed, uint32_t number, const char *a, const char *b)
{
    struct rng rng = {seed * 0x9E3779B97F4A7C15 + number};

    for (const char *texts[] = {a, ":", b}, **t = texts; t < texts + 3; t++)
        for (const char *s = *t; *s; s++)
            rng.state = (rng.state ^ (unsigned char)*s) * 0x100000001b3; /* FNV-1a's prime */
    return rng_next(&rng);
}

/* Whether its callers ask it again and again. */
static bool polls(const char *name)
{
    const char *words[MAX_WORDS];
    unsigned n = answers_of(name, words);

    for (unsigned i = 0; i < n; i++)
        if (!strcmp(words[i], "timeout") || !strcmp(words[i], "not-ready") ||
            !strcmp(words[i], "timeout-expired"))
            return true;
    return !strcmp(name, "glGetError") || !strcmp(name, "glGetGraphicsResetStatus");
}

static uint64_t place_of(struct rng *rng, uint64_t calls)
{
    for (int i = 0; i < TRIES; i++) {
        uint64_t magnitude = UINT64_C(1) << rng_below(rng, MAGNITUDES),
                 place = magnitude + rng_below(rng, magnitude);

        if (place <= calls)
            return place;
    }
    return 1;
}

bool lose_fault_draw(const struct lose_calls *called, uint32_t work, uint64_t seed, uint32_t number,
                     char *out, size_t size)
{
    const struct lose_calls *drawn = NULL;
    const char *words[MAX_WORDS], *word = NULL;
    uint64_t least = UINT64_MAX, calls;
    struct rng rng;
    unsigned n;

    for (const struct lose_calls *c = called; c->name[0]; c++) {
        uint64_t v = number_of(seed, number, c->name, "");

        if (v < least && answers_of(c->name, words)) {
            least = v;
            drawn = c;
        }
    }
    if (!drawn)
        return false;
    n = answers_of(drawn->name, words);
    least = UINT64_MAX;
    for (unsigned i = 0; i < n; i++)
        if (number_of(seed, number, drawn->name, words[i]) <= least) {
            least = number_of(seed, number, drawn->name, words[i]);
            word = words[i];
        }
    rng.state = least;
    calls = polls(drawn->name) && drawn->calls > work ? work : drawn->calls;
    snprintf(out, size, "%s@%s:%u%s", word, drawn->name, (unsigned)place_of(&rng, calls),
             rng_below(&rng, 4) == 0 ? "+" : "");
    return true;
}
