/* SPDX-License-Identifier: MIT */
/* collect_memory.c: see collect_memory.h. */
#include "record/collect_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.h"
#include "record/trace_file.h"

int collect_memory_reserve(struct collect_memory *m, uint32_t chunks)
{
    int err = posix_fallocate(m->fd, 0, (off_t)(SHM_DATA + SHM_STRIDE * chunks));

    errno = err;
    if (!err)
        m->chunks = chunks;
    return -err;
}

static void memory_check(const struct collect_memory *m)
{
    INVARIANT(m->chunks >= SHM_STEP && m->chunks <= SHM_CHUNKS);
    INVARIANT(m->chunks % SHM_STEP == 0);
    INVARIANT(m->fd >= 0 && m->shm);
}

void collect_memory_grow(struct collect_memory *m)
{
    uint32_t n = m->chunks;

    memory_check(m);
    for (uint32_t i = 0; i < n; i++)
        if (!shm_is_lent(i) && atomic_load(&m->shm->chunks[i].state) != SHM_OPEN)
            return;
    if (n == SHM_CHUNKS || collect_memory_reserve(m, n + SHM_STEP))
        atomic_store(&m->shm->no_more, 1);
    else
        atomic_store(&m->shm->num_chunks, m->chunks);
    atomic_fetch_add(&m->shm->free_bell, 1);
    syscall(SYS_futex, &m->shm->free_bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* The full chunk that was begun first; of one thread never a later one before an earlier one. */
static int next_full(const struct collect_memory *m)
{
    struct shm *s = m->shm;
    int best = -1;

    for (uint32_t i = 0; i < m->chunks; i++)
        if (atomic_load_explicit(&s->chunks[i].state, memory_order_acquire) == SHM_FULL &&
            (best < 0 || s->chunks[i].order < s->chunks[best].order))
            best = (int)i;
    if (best < 0)
        return -1;
    for (uint32_t i = 0; i < m->chunks; i++) /* one that filled up while we looked */
        if (atomic_load_explicit(&s->chunks[i].state, memory_order_acquire) == SHM_FULL &&
            s->chunks[i].order < s->chunks[best].order)
            best = (int)i;
    return best;
}

static int write_chunk(struct collect_memory *m, struct collect_sink *to, uint32_t i, bool dead,
                       struct error *e)
{
    struct shm_chunk *c = &m->shm->chunks[i];
    uint32_t committed = atomic_load(&c->committed), partial = atomic_load(&c->partial), size = committed;
    const uint32_t kind = c->kind; /* read once: the program may still write */
    struct block b = {
        .kind = (uint8_t)kind, .stream = (uint16_t)c->thread, .first = c->first_seq, .frame = c->frame};

    if (dead && kind == TRC_CALLS && partial > committed) {
        size = partial;
        b.flags |= TRC_PARTIAL;
    }
    if (size > TRC_CHUNK + SHM_SLACK || size < m->done[i])
        return error_set(e, -EBADMSG, "the program destroyed the shared memory: chunk %u says %u bytes", i,
                         size);
    if (size == m->done[i] || (b.frame > to->last_frame && kind == TRC_CALLS))
        return 0;
    if (kind != TRC_CALLS && kind != TRC_BLOBS) /* the container has kinds of its own */
        return error_set(e, -EBADMSG, "the program destroyed the shared memory: chunk %u is of kind %u", i,
                         kind);
    if (!m->copy && !(m->copy = malloc(TRC_CHUNK + SHM_SLACK)))
        return error_set(e, -ENOMEM, "out of memory");
    atomic_store(&c->from,
                 m->done[i]); /* at each step what these say is true: we may be killed behind any of them */
    atomic_store(&c->at, 0);
    atomic_store(&c->upto, size);
    atomic_store(&c->at, trc_writer_size(to->w));
    size -= m->done[i];
    memcpy(m->copy, shm_data(m->shm, i) + m->done[i], size); /* what is read twice stays as it is */
    if (kind == TRC_BLOBS)
        m->done[i] += size;
    to->blocks++;
    return trc_writer_block(to->w, &b, m->copy, size, e);
}

/* The chunk of blobs that was begun first, of those begun behind `behind` and in front of `before`. A chunk that was freed has nothing
 * committed (below): where there is something, its kind is that of whoever opened it. */
static int next_blobs(const struct collect_memory *m, uint64_t behind, uint64_t before)
{
    int best = -1;

    for (uint32_t i = 0; i < m->chunks; i++) {
        const struct shm_chunk *c = &m->shm->chunks[i];

        if (atomic_load_explicit(&c->state, memory_order_acquire) != SHM_FREE &&
            atomic_load_explicit(&c->committed, memory_order_acquire) && c->kind == TRC_BLOBS &&
            c->order >= behind && c->order < before && (best < 0 || c->order < m->shm->chunks[best].order))
            best = (int)i;
    }
    return best;
}

/* What calls mean by a number stands in front of them: a recorder that is killed leaves calls that play. A blob may go on in the
 * next chunk, so that they are written in the order in which they were begun, full or not: where one that was begun by now goes on
 * from another, that one is full already. */
static int write_blobs(struct collect_memory *m, struct collect_sink *to, struct error *e)
{
    const uint64_t now = atomic_load(&m->shm->order);
    uint64_t behind = 0;
    int i, err = 0;

    while (!err && (i = next_blobs(m, behind, now)) >= 0) {
        behind = m->shm->chunks[i].order + 1;
        err = write_chunk(m, to, (uint32_t)i, false, e);
    }
    return err;
}

/* Whether others have gone on so far from an open chunk of calls that it is to be written as it is; each thread's first, which has what
 * all begins with, at once. */
static bool is_behind(struct collect_memory *m, uint32_t i, uint32_t size, uint64_t now, uint32_t held)
{
    const struct shm_chunk *c = &m->shm->chunks[i];
    const uint64_t order = c->order;
    const uint16_t thread = (uint16_t)c->thread;
    bool first = !(m->went_on[thread / 64] >> thread % 64 & 1);

    if (m->so_far[i].chunk != order + 1) {
        m->so_far[i].chunk = m->so_far[i].at = order + 1;
        m->so_far[i].size = 0;
    }
    return size > m->so_far[i].size && now - m->so_far[i].at > (m->so_far[i].size ? 2 * held + 8
                                                                : first           ? 0
                                                                                  : 2 * held);
}

/* A thread that makes few calls holds its chunk for long, and those of others rest on them. `before`: of chunks that were begun before
 * the first of those that are full, so that all earlier ones of their threads are in the file. */
static int write_so_far(struct collect_memory *m, struct collect_sink *to, uint64_t before, struct error *e)
{
    const uint64_t now = atomic_load(&m->shm->order);
    uint32_t held = 0;
    int err = 0;

    for (uint32_t i = 0; i < m->chunks; i++)
        held += atomic_load(&m->shm->chunks[i].state) != SHM_FREE;
    for (uint32_t i = 0; i < m->chunks && !err; i++) {
        const struct shm_chunk *c = &m->shm->chunks[i];
        const uint32_t size = atomic_load_explicit(&c->committed, memory_order_acquire);
        const struct block b = {
            .kind = TRC_SO_FAR, .stream = (uint16_t)c->thread, .first = c->first_seq, .frame = c->frame};

        if (atomic_load_explicit(&c->state, memory_order_acquire) != SHM_OPEN || c->kind != TRC_CALLS ||
            size > TRC_CHUNK + SHM_SLACK || c->order >= before || b.frame > to->last_frame ||
            !is_behind(m, i, size, now, held))
            continue;
        if (!m->copy && !(m->copy = malloc(TRC_CHUNK + SHM_SLACK)))
            return error_set(e, -ENOMEM, "out of memory");
        if ((err = write_blobs(m, to, e))) /* that these calls name */
            break;
        memcpy(m->copy, shm_data(m->shm, i), size);
        m->so_far[i].at = now;
        m->so_far[i].size = size;
        to->blocks++;
        err = trc_writer_block(to->w, &b, m->copy, size, e);
    }
    return err;
}

int collect_memory_drain(struct collect_memory *m, struct collect_sink *to, struct error *e)
{
    struct shm *s = m->shm;
    int i, err;

    memory_check(m);
    for (uint32_t n = 0; n < m->chunks && (i = next_full(m)) >= 0; n++) {
        const uint16_t thread = (uint16_t)s->chunks[i].thread;
        const bool calls = s->chunks[i].kind == TRC_CALLS;

        if (calls)
            m->went_on[thread / 64] |= UINT64_C(1) << thread % 64;
        err = calls ? write_blobs(m, to, e) : 0;
        err = err || !calls ? err : write_so_far(m, to, s->chunks[i].order, e);
        err = err ? err : write_chunk(m, to, (uint32_t)i, false, e);
        if (err)
            return err;
        m->done[i] = 0;
        atomic_store(&s->chunks[i].committed, 0);
        atomic_store(&s->chunks[i].from, 0); /* `at` last: what it says is written is */
        atomic_store(&s->chunks[i].upto, 0);
        atomic_store(&s->chunks[i].at, 0);
        atomic_store_explicit(&s->chunks[i].state, SHM_FREE, memory_order_release);
        atomic_fetch_add(&s->free_bell, 1);
        syscall(SYS_futex, &s->free_bell, FUTEX_WAKE, 64, NULL, NULL, 0);
    }
    return 0;
}

int collect_memory_drain_open(struct collect_memory *m, struct collect_sink *to, bool dead, struct error *e)
{
    struct shm *s = m->shm;

    memory_check(m);
    for (uint32_t n = 0; n < m->chunks; n++) {
        int best = -1, err;

        for (uint32_t i = 0; i < m->chunks; i++)
            if (atomic_load(&s->chunks[i].state) != SHM_FREE &&
                (best < 0 || s->chunks[i].order < s->chunks[best].order))
                best = (int)i;
        if (best < 0)
            break;
        err = write_chunk(m, to, (uint32_t)best, dead, e);
        if (err)
            return err;
        atomic_store(&s->chunks[best].state, SHM_FREE);
    }
    return 0;
}
