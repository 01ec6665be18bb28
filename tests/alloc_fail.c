/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "alloc_fail.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>

static _Thread_local struct {
    bool armed;
    unsigned left; /* calls until the one that fails */
    int failed;    /* errno */
    const char *what;
} mine;

void alloc_fail_arm(unsigned nth)
{
    mine.armed = true;
    mine.left = nth;
    mine.failed = 0;
    mine.what = "";
}

int alloc_fail_disarm(void)
{
    mine.armed = false;
    return mine.failed;
}

const char *alloc_fail_what(void)
{
    return mine.what;
}

static bool fails(const char *what, int err)
{
    if (!mine.armed || mine.left--)
        return false;
    mine.armed = false;
    mine.failed = err;
    mine.what = what;
    errno = err;
    return true;
}

/* type, name, parameters, arguments, the failure's errno, what it returns then. The names stand in tests/meson.build as well:
 * one that is missing on either side does not link. */
#define ALLOC_FAIL_CALLS(X)                                                                                  \
    X(void *, malloc, (size_t n), (n), ENOMEM, NULL)                                                         \
    X(void *, calloc, (size_t n, size_t m), (n, m), ENOMEM, NULL)                                            \
    X(void *, realloc, (void *p, size_t n), (p, n), ENOMEM, NULL)                                            \
    X(void *, reallocarray, (void *p, size_t n, size_t m), (p, n, m), ENOMEM, NULL)                          \
    X(void *, aligned_alloc, (size_t a, size_t n), (a, n), ENOMEM, NULL)                                     \
    X(int, posix_memalign, (void **p, size_t a, size_t n), (p, a, n), ENOMEM, ENOMEM)                        \
    X(char *, strdup, (const char *s), (s), ENOMEM, NULL)                                                    \
    X(char *, strndup, (const char *s, size_t n), (s, n), ENOMEM, NULL)                                      \
    X(int, vasprintf, (char **s, const char *f, va_list a), (s, f, a), ENOMEM, -1)                           \
    X(FILE *, open_memstream, (char **s, size_t *n), (s, n), ENOMEM, NULL)                                   \
    X(void *, mmap64, (void *p, size_t n, int prot, int flags, int fd, off_t at),                            \
      (p, n, prot, flags, fd, at), ENOMEM, MAP_FAILED)                                                       \
    X(void *, mmap, (void *p, size_t n, int prot, int flags, int fd, off_t at), (p, n, prot, flags, fd, at), \
      ENOMEM, MAP_FAILED)                                                                                    \
    X(int, memfd_create, (const char *name, unsigned flags), (name, flags), EMFILE, -1)                      \
    X(int, ftruncate64, (int fd, off_t n), (fd, n), ENOSPC, -1)                                              \
    X(int, ftruncate, (int fd, off_t n), (fd, n), ENOSPC, -1)                                                \
    X(int, socket, (int d, int t, int p), (d, t, p), EMFILE, -1)                                             \
    X(int, socketpair, (int d, int t, int p, int fds[2]), (d, t, p, fds), EMFILE, -1)                        \
    X(int, eventfd, (unsigned n, int flags), (n, flags), EMFILE, -1)                                         \
    X(int, epoll_create1, (int flags), (flags), EMFILE, -1)                                                  \
    X(int, epoll_ctl, (int ep, int op, int fd, struct epoll_event *e), (ep, op, fd, e), ENOSPC, -1)          \
    X(int, timerfd_create, (int clock, int flags), (clock, flags), EMFILE, -1)                               \
    X(int, pipe2, (int fds[2], int flags), (fds, flags), EMFILE, -1)                                         \
    X(int, dup, (int fd), (fd), EMFILE, -1)                                                                  \
    X(FILE *, fopen64, (const char *path, const char *mode), (path, mode), EMFILE, NULL)                     \
    X(FILE *, fopen, (const char *path, const char *mode), (path, mode), EMFILE, NULL)                       \
    X(FILE *, fdopen, (int fd, const char *mode), (fd, mode), ENOMEM, NULL)                                  \
    X(int, pthread_create, (pthread_t * t, const pthread_attr_t *a, void *(*fn)(void *), void *ctx),         \
      (t, a, fn, ctx), EAGAIN, EAGAIN)

#define WRAP(type, name, params, args, err, failure)                                                         \
    type __real_##name params;                                                                               \
    type __wrap_##name params;                                                                               \
    type __wrap_##name params                                                                                \
    {                                                                                                        \
        return fails(#name, err) ? failure : __real_##name args;                                             \
    }
ALLOC_FAIL_CALLS(WRAP)

/* Those with arguments that may be missing. */
#define WRAP_OPEN(name, params, args)                                                                        \
    int __real_##name params;                                                                                \
    int __wrap_##name params;                                                                                \
    int __wrap_##name params                                                                                 \
    {                                                                                                        \
        va_list ap;                                                                                          \
        va_start(ap, flags);                                                                                 \
        mode_t mode = va_arg(ap, mode_t);                                                                    \
        va_end(ap);                                                                                          \
        return fails(#name, EMFILE) ? -1 : __real_##name args;                                               \
    }
WRAP_OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
WRAP_OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
WRAP_OPEN(openat64, (int at, const char *path, int flags, ...), (at, path, flags, mode))
WRAP_OPEN(openat, (int at, const char *path, int flags, ...), (at, path, flags, mode))

int __wrap_asprintf(char **s, const char *format, ...);
int __wrap_asprintf(char **s, const char *format, ...)
{
    va_list ap;
    int n;

    if (fails("asprintf", ENOMEM))
        return -1;
    va_start(ap, format);
    n = __real_vasprintf(s, format, ap);
    va_end(ap);
    return n;
}

unsigned alloc_fail_each(int (*fn)(void *ctx), void *ctx)
{
    unsigned before = test_open_fds();

    for (unsigned n = 0;; n++) {
        alloc_fail_arm(n);
        int err = fn(ctx), failed = alloc_fail_disarm();
        if (failed ? err != -failed && err != ALLOC_FAIL_COPED : err != 0)
            fail_msg("call %u (%s) failed with %d: the answer is %d", n, mine.what, failed, err);
        if (test_open_fds() != before)
            fail_msg("call %u (%s) failed: %u descriptors were open before, now %u", n, mine.what, before,
                     test_open_fds());
        if (!failed)
            return n;
    }
}
