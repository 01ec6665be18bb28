/* SPDX-License-Identifier: MIT */
/* log_put.c: writes the log's lines without ever standing still for their reader (log.h). */
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rate.h"

enum { PATIENCE_MS = 100, LINES_AT_ONCE = 200 };
#define PATIENCE_AGAIN_NS (10 * NSEC_PER_SEC)

/* Between asking for room and writing, this process writes nothing else: a page of the pipe's is free, and a line with
 * a note before it is less than a third of that, so that the executor's lines find room in it as well. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t left_out;        /* lines, since the last one that was written */
static uint64_t impatient_to_ns; /* until then there is no waiting */
static bool limited;
static struct rate rate;

bool log_can_write(int fd, int wait_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int r;

    do
        r = poll(&p, 1, wait_ms);
    while (r < 0 && errno == EINTR);
    return r < 0 || (r > 0 && !(p.revents & POLLERR)); /* who cannot ask finds out by writing */
}

/* With the lock. */
static bool find_room(int fd)
{
    uint64_t now;

    if (log_can_write(fd, 0))
        return true;
    now = clock_now(&(struct clock){0});
    if (now < impatient_to_ns)
        return false;
    impatient_to_ns = now + PATIENCE_AGAIN_NS;
    return log_can_write(fd, PATIENCE_MS);
}

/* A child that was forked while another thread held the lock must not wait for ever. TSan knows only the lock that goes by the
 * time of day. */
static bool take_lock(void)
{
    struct timespec until;

#ifdef __SANITIZE_THREAD__
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    return !pthread_mutex_timedlock(&lock, &until);
#else
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    return !pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &until);
#endif
}

void log_limit(void)
{
    limited = log_level() <= LOG_WARN;
}

/* With the lock. */
static void note(int fd, const char *why, uint64_t *lines)
{
    char text[96];
    int k = snprintf(text, sizeof(text), "aerogpu: log: lines left out, because %s: %llu\n", why,
                     (unsigned long long)*lines);

    if (*lines && write(fd, text, (size_t)k) == k)
        *lines = 0;
}

void log_put(int fd, const char *text, size_t n)
{
    if (!take_lock())
        return;
    if (limited && !rate_allows(&rate, clock_now(&(struct clock){0}), NSEC_PER_SEC, LINES_AT_ONCE)) {
        pthread_mutex_unlock(&lock);
        return;
    }
    if (!find_room(fd)) {
        left_out++;
    } else {
        note(fd, "nobody read them", &left_out);
        note(fd, "they were too many", &rate.missed);
        if (write(fd, text, n) < 0)
            left_out++;
    }
    pthread_mutex_unlock(&lock);
}
