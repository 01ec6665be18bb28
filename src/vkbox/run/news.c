/* SPDX-License-Identifier: MIT */
#include "vkbox/run/news.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { POLL_MS = 20 };

static _Atomic uint32_t children; /* counts their ends; a futex */

static void on_child(int sig)
{
    atomic_fetch_add(&children, 1);
}

void news_init(struct news *n)
{
    *n = (struct news){.ends = atomic_load(&children), .waited = true};
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = on_child, .sa_flags = SA_RESTART}, &n->before);
}

void news_finish(const struct news *n)
{
    sigaction(SIGCHLD, &n->before, NULL);
}

/* Returns whether there is anything to wait for. */
static bool await_words(const struct news *n, const struct news_word *words, uint32_t num, uint64_t until_ns)
{
    struct futex_waitv all[NEWS_WORDS + 1] = {{n->ends, (uintptr_t)&children, FUTEX_32, 0}};
    const struct timespec until = {(time_t)(until_ns / NSEC_PER_SEC), (long)(until_ns % NSEC_PER_SEC)};
    long r;

    num = num < NEWS_WORDS ? num : NEWS_WORDS;
    for (uint32_t i = 0; i < num; i++)
        all[i + 1] = (struct futex_waitv){words[i].seen, (uintptr_t)words[i].at, FUTEX_32, 0};
    r = syscall(SYS_futex_waitv, all, num + 1, 0, &until, CLOCK_MONOTONIC);
    return r >= 0 || errno == ETIMEDOUT || errno == EINTR;
}

void news_await(struct news *n, const struct news_word *words, uint32_t num, int fd, uint64_t until_ns)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    const bool before = n->waited;

    n->waited = num != NEWS_NONE && await_words(n, words, num, until_ns);
    /* Twice in a row there was nothing to wait for where a word changes without end, or cannot be waited for: before Linux 5.16, or
     * where its owner has shortened the memory. */
    if (!n->waited && (num == NEWS_NONE || !before))
        poll(&readable, 1, POLL_MS);
    n->ends = atomic_load(&children);
}
