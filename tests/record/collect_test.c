/* SPDX-License-Identifier: MIT */
/* collect_test.c: what the collector makes of memory that it finds in some state. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/collect_memory.h"
#include "record/trace_file.h"
#include "record/varint.h"
#include "temp_dir.h"
#include "toy_api.h"

enum { FIRST = 1000, REST = 3000 };

/* A fragment of blob 1, of which every byte is the `offset` that its fragment begins at. */
static void put_fragment(struct shm *s, uint32_t i, uint64_t order, size_t offset, size_t n,
                         enum shm_state state)
{
    struct shm_chunk *c = &s->chunks[i];
    uint8_t *start = shm_data(s, i), *w = start;

    w = varint_put(w, 1);
    w = varint_put(w, FIRST + REST);
    w = varint_put(w, offset);
    w = varint_put(w, n);
    memset(w, offset ? 2 : 1, n);
    c->kind = TRC_BLOBS;
    c->order = order;
    atomic_store(&c->committed, (uint32_t)(w + n - start));
    atomic_store(&c->state, state);
}

/* A chunk of calls that was begun before a chunk of blobs is full, and so is that one; what its blob goes on in is not. */
TEST(blobs_are_written_in_their_order)
{
    struct collect_memory m = {.chunks = SHM_STEP, .fd = STDERR_FILENO};
    struct collect_sink to = {.last_frame = UINT32_MAX};
    struct error e = {0};
    char path[200];
    const uint8_t *bytes;
    struct trc *t;
    size_t n = 0;

    snprintf(path, sizeof(path), "%s/blobs", dir);
    m.shm = mmap(NULL, SHM_DATA + SHM_STRIDE * SHM_STEP, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(m.shm, MAP_FAILED);
    assert_int_equal(trc_writer_create(&to.w, &toy_api, path, "{}", &e), 0);
    m.shm->chunks[3].kind = TRC_CALLS;
    m.shm->chunks[3].order = 0;
    atomic_store(&m.shm->chunks[3].state, SHM_FULL);
    put_fragment(m.shm, 5, 1, 0, FIRST, SHM_FULL);
    put_fragment(m.shm, 2, 2, FIRST, REST, SHM_OPEN);
    atomic_store(&m.shm->order, 3);
    assert_int_equal(collect_memory_drain(&m, &to, &e), 0);
    assert_int_equal(collect_memory_drain_open(&m, &to, false, &e), 0);
    assert_int_equal(trc_writer_finish(to.w, &e), 0);
    assert_int_equal(to.blocks, 2); /* each once */
    assert_int_equal(trc_open(&t, &toy_api, path, &e), 0);
    bytes = trc_blob(t, 1, &n, &e);
    assert_string_equal(e.text, "");
    assert_non_null(bytes);
    assert_int_equal(n, FIRST + REST);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(bytes[i], i < FIRST ? 1 : 2);
    trc_close(t);
    free(m.copy);
    munmap(m.shm, SHM_DATA + SHM_STRIDE * SHM_STEP);
}

/* Calls of a thread, one of which opens object 2, or that name it. */
static void put_calls(struct shm *s, uint32_t i, uint64_t order, uint32_t thread, bool opens, unsigned n,
                      enum shm_state state)
{
    struct shm_chunk *c = &s->chunks[i];
    uint8_t *start = shm_data(s, i), *w = start;

    if (opens) {
        w = varint_put(w, (uint64_t)TOY_Open << REC_FLAG_BITS | REC_TICKET);
        *w++ = 2;
    }
    for (unsigned k = 0; k < n; k++) {
        w = varint_put(w, (uint64_t)TOY_SetName << REC_FLAG_BITS | REC_TICKET | REC_THIS);
        memcpy(w, "\2\3ab", 4);
        w += 4;
    }
    c->kind = TRC_CALLS;
    c->order = order;
    c->thread = thread;
    c->first_seq = 100 * order;
    atomic_store(&c->committed, (uint32_t)(w - start));
    atomic_store(&c->partial, (uint32_t)(w - start));
    atomic_store(&c->state, state);
    atomic_store(&s->order, order + 1);
}

/* How many calls the file has, of which the first opens the object. */
static unsigned calls_in(const char *path)
{
    struct error e = {0};
    struct trc_call c;
    unsigned n = 0;
    struct trc *t;

    assert_int_equal(trc_open(&t, &toy_api, path, &e), 0);
    while (trc_next(t, &c, &e) > 0)
        assert_int_equal(c.method, n++ ? TOY_SetName : TOY_Open);
    assert_string_equal(e.text, "");
    trc_close(t);
    return n;
}

/* A thread that makes no more calls holds the chunk with what all begins with: a file that ends before it is written has it nonetheless,
 * and one that does not has it once. */
TEST(what_others_rest_on_is_in_front_of_them)
{
    for (int whole = 0; whole < 2; whole++) {
        struct collect_memory m = {.chunks = SHM_STEP, .fd = STDERR_FILENO};
        struct collect_sink to = {.last_frame = UINT32_MAX};
        struct error e = {0};
        char path[200];

        snprintf(path, sizeof(path), "%s/rest%d", dir, whole);
        m.shm = mmap(NULL, SHM_DATA + SHM_STRIDE * SHM_STEP, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert_ptr_not_equal(m.shm, MAP_FAILED);
        assert_int_equal(trc_writer_create(&to.w, &toy_api, path, "{}", &e), 0);
        put_calls(m.shm, 7, 0, 1, true, 2, SHM_OPEN);
        put_calls(m.shm, 3, 1, 2, false, 10, SHM_FULL);
        put_calls(m.shm, 4, 2, 2, false, 10, SHM_OPEN); /* that thread goes on: not yet */
        assert_int_equal(collect_memory_drain(&m, &to, &e), 0);
        assert_int_equal(to.blocks, 2);
        for (uint64_t order = 3; order < 30; order++) { /* and others, until the first is far behind again */
            put_calls(m.shm, 7, 0, 1, true, order < 20 ? 2 : 5, SHM_OPEN);
            put_calls(m.shm, 3, order, 2, false, 1, SHM_FULL);
            atomic_store(&m.shm->chunks[4].state, SHM_FREE);
            atomic_store(&m.shm->order, order + 1);
            assert_int_equal(collect_memory_drain(&m, &to, &e), 0);
        }
        assert_int_equal(to.blocks, 2 + 27 + 1);
        if (whole)
            assert_int_equal(collect_memory_drain_open(&m, &to, false, &e), 0);
        assert_int_equal(trc_writer_finish(to.w, &e), 0);
        assert_int_equal(calls_in(path), 1 + 5 + 10 + 27);
        free(m.copy);
        munmap(m.shm, SHM_DATA + SHM_STRIDE * SHM_STEP);
    }
}

TEST_GROUP(make_dir, remove_dir);
