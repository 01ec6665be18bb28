/* SPDX-License-Identifier: MIT */
/* draw.c: faults at random: a command that the program calls, an answer that it may give, and which of the calls.
 *
 * A seed draws the same as long as the program calls the same commands about as often: how often counts by powers of two.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "lose/gl_table.h"
#include "lose/lose.h"

enum { MAX_WORDS = 64 };

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

bool lose_fault_draw(const struct lose_calls *called, uint64_t seed, uint32_t number, char *out, size_t size)
{
    struct rng rng = {seed * 0x9E3779B97F4A7C15 + number};
    const char *words[MAX_WORDS];
    uint64_t can = 0, which, count = 1;
    bool forever;

    for (const struct lose_calls *c = called; c->name[0]; c++)
        can += answers_of(c->name, words) > 0;
    which = rng_below(&rng, can);
    for (const struct lose_calls *c = called; can && c->name[0]; c++) {
        unsigned n = answers_of(c->name, words);

        if (!n || which--)
            continue;
        while (count * 2 <= c->calls)
            count *= 2;
        forever = rng_below(&rng, 4) == 0;
        snprintf(out, size, "%s@%s:%u%s", words[rng_below(&rng, n)], c->name,
                 (unsigned)(1 + rng_below(&rng, count)), forever ? "+" : "");
        return true;
    }
    return false;
}
