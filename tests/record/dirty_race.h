/* SPDX-License-Identifier: MIT */
/* dirty_race.h: threads write while another looks (record/dirty/dirty.h's invariant, hard enough to fail without it).
 *
 * Each writer counts up in a word of its own in a random page and then says so. Whoever looks reads what was said first: all of that
 * was written before the look, and must be in its copy after it. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "record/dirty/dirty.h"

enum { RACE_PAGES = 8, RACE_WRITERS = 6 };

struct race {
    uint8_t *base, copy[RACE_PAGES * DIRTY_PAGE];
    _Atomic uint32_t said[RACE_WRITERS][RACE_PAGES];
    _Atomic bool stop;
};

static inline _Atomic uint32_t *race_word(uint8_t *base, unsigned writer, unsigned page)
{
    return (_Atomic uint32_t *)(void *)(base + page * DIRTY_PAGE + 64 * writer);
}

/* The body of one writer's thread. */
static inline void race_write(struct race *r, unsigned writer)
{
    for (unsigned x = writer + 1, n = 1; !atomic_load(&r->stop); n++) {
        unsigned page = (x = x * 1664525 + 1013904223) >> 16 & (RACE_PAGES - 1);

        atomic_store(race_word(r->base, writer, page), n);
        atomic_store(&r->said[writer][page], n);
    }
}

static inline void race_copy(void *ctx, struct dirty_run run)
{
    struct race *r = ctx;

    memcpy(r->copy + (run.start - (uintptr_t)r->base), (void *)run.start, run.end - run.start);
}

/* `looks` looks; how many words were behind what had been said. */
static inline unsigned race_look(struct race *r, struct dirty *d, struct dirty_span *s, unsigned looks)
{
    uint32_t said[RACE_WRITERS][RACE_PAGES];
    unsigned lost = 0;

    while (looks--) {
        for (unsigned w = 0; w < RACE_WRITERS; w++)
            for (unsigned p = 0; p < RACE_PAGES; p++)
                said[w][p] = atomic_load(&r->said[w][p]);
        dirty_collect(d, s, race_copy, r);
        for (unsigned w = 0; w < RACE_WRITERS; w++)
            for (unsigned p = 0; p < RACE_PAGES; p++)
                lost += *race_word(r->copy, w, p) < said[w][p];
    }
    return lost;
}
