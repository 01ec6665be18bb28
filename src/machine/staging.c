/* SPDX-License-Identifier: MIT */
#include "machine/staging.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"

enum { LEAST = 1 << 20, ALIGN = 64 };
#define MOST (UINT64_C(1) << 33) /* of both together: sizes have 32 bits */

static uint64_t aligned(uint64_t size)
{
    return (size + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

void staging_finish(struct staging *s)
{
    if (!s->at)
        return;
    munmap(s->at, s->size);
    exec_host_unmap(s->host, STAGING_GPA, s->size);
    s->at = NULL;
    s->size = 0;
    s->tail = s->head;
}

/* Nothing is in use. */
static int grow(struct staging *s, uint64_t need, struct error *e)
{
    uint64_t size = LEAST;
    uint8_t *at;
    int fd, r;

    while (size < 2 * need)
        size *= 2;
    fd = memfd_create("aerogpu-staging", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, (off_t)size) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        r = error_set(e, -errno, "no memory for command streams: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return r;
    }
    at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    staging_finish(s);
    r = at == MAP_FAILED ? error_set(e, -errno, "no memory for command streams: %s", strerror(errno))
                         : exec_host_map(s->host, STAGING_GPA, size, fd, 0, e);
    close(fd);
    if (r) {
        if (at != MAP_FAILED)
            munmap(at, size);
        return r;
    }
    s->at = at;
    s->size = size;
    return 0;
}

int staging_put(struct staging *s, const void *first, uint64_t first_size, const void *second,
                uint64_t second_size, uint64_t gpa[2], struct error *e)
{
    const uint64_t need = aligned(first_size) + aligned(second_size);
    uint64_t at, skip;
    int r;

    INVARIANT(first_size <= MOST && second_size <= MOST && s->head - s->tail <= s->size);
    if (need > s->size) {
        r = s->head != s->tail ? -EAGAIN : grow(s, need, e);
        if (r)
            return r;
    }
    at = s->head % s->size;
    skip = at + need > s->size ? s->size - at : 0; /* to the beginning */
    if (s->head == s->tail)
        s->tail += skip;
    if (s->head + skip + need - s->tail > s->size)
        return -EAGAIN;
    s->head += skip + need;
    at = skip ? 0 : at;
    if (first_size)
        memcpy(s->at + at, first, first_size);
    if (second_size)
        memcpy(s->at + at + aligned(first_size), second, second_size);
    gpa[0] = STAGING_GPA + at;
    gpa[1] = STAGING_GPA + at + aligned(first_size);
    return 0;
}
