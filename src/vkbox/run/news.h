/* SPDX-License-Identifier: MIT */
/* news.h: what wakes who watches programs: each time that it wakes takes time from them. */
#pragma once

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { NEWS_WORDS = 64, NEWS_NONE = UINT32_MAX };

struct news {
    struct sigaction before; /* for SIGCHLD */
    uint32_t ends;           /* children's, before they were asked last */
    bool waited;             /* the last time */
};

/* A word of memory that others share; a change of it is news. */
struct news_word {
    const _Atomic uint32_t *at;
    uint32_t seen;
};

void news_init(struct news *n); /* one at a time: from now on ends of children are news */
void news_finish(const struct news *n);

/* Until a child has ended since this came back last, one of the words is not as seen, a signal comes, or it is `until_ns`
 * (CLOCK_MONOTONIC). NEWS_NONE words: until there is something to read at the descriptor `fd`, and 20 ms at the most. */
void news_await(struct news *n, const struct news_word *words, uint32_t num, int fd, uint64_t until_ns);
