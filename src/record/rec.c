/* SPDX-License-Identifier: MIT */
/* rec.c: threads, chunks and records of the recorder (rec.h). */
#include "record/rec.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "base/check.h"
#include "base/log.h"
#include "base/map.h"
#include "record/varint.h"
#include "record/rec_enc.h"

#define TIME_STEP 480 /* a record says the time if the last one that did is longer ago (0.5 ms) */

struct shm *rec_shm;
const struct api *rec_api;
#ifndef _WIN32
__thread struct rec_thread *rec_self __attribute__((tls_model("initial-exec")));
#endif

static char *shm_path;
static uint8_t *_Atomic steps[SHM_CHUNKS / SHM_STEP]; /* of SHM_STEP chunks each */
static uint64_t epoch_ns;
static struct rec_thread internal_thread = {.depth = 1, .internal = true};

uint64_t rec_now(void)
{
    return (os_now_ns() - epoch_ns) / TRC_TIME_UNIT_NS;
}

/* ---- chunks -------------------------------------------------------------- */

static void chunk_done(struct shm_chunk *c)
{
    atomic_store_explicit(&c->state, SHM_FULL, memory_order_release);
    atomic_fetch_add(&rec_shm->bell, 1);
    os_wake(&rec_shm->bell, true);
}

static _Atomic bool no_space; /* for one of `steps`: no other is tried */

uint8_t *rec_chunk_bytes(uint32_t chunk)
{
    const size_t bytes = SHM_STRIDE * SHM_STEP;
    uint8_t *_Atomic *at = &steps[chunk / SHM_STEP];
    uint8_t *here = atomic_load_explicit(at, memory_order_acquire), *before = NULL;

    if (!here && !atomic_load(&no_space)) {
        here = os_map_shared(shm_path, SHM_SIZE, SHM_DATA + bytes * (chunk / SHM_STEP), bytes);
        if (here && !atomic_compare_exchange_strong(at, &before, here)) {
            os_unmap(here, bytes); /* another thread was first */
            here = before;
        }
        if (!here)
            atomic_store(&no_space, true);
    }
    return here ? here + SHM_STRIDE * (chunk % SHM_STEP) : NULL;
}

/* A call, or what one rests on, is not recorded. */
static void lose(void)
{
    atomic_fetch_or(&rec_shm->features, TRC_LACKS_CALLS);
    if (!atomic_fetch_add(&rec_shm->lost, 1))
        log_error("record", "no memory for the calls of all threads: some are not recorded");
}

static struct shm_chunk *chunk_find(bool lent)
{
    uint32_t n = atomic_load(&rec_shm->num_chunks);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t free = SHM_FREE;
        struct shm_chunk *c = &rec_shm->chunks[i];

        if (shm_is_lent(i) == lent && atomic_load_explicit(&c->state, memory_order_relaxed) == SHM_FREE &&
            rec_chunk_bytes(i) && atomic_compare_exchange_strong(&c->state, &free, SHM_OPEN))
            return c;
    }
    return NULL;
}

/* All chunks but the lent are held by threads, and there are no more: nobody will free one. */
static bool exhausted(void)
{
    const uint32_t n = atomic_load(&rec_shm->num_chunks);
    const bool full = atomic_load(&no_space);

    if (!full && !atomic_load(&rec_shm->no_more))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t state = atomic_load(&rec_shm->chunks[i].state);

        if (!shm_is_lent(i) && state != SHM_OPEN && !(full && !rec_chunk_bytes(i)))
            return false;
    }
    return true;
}

/* NULL: nobody writes full chunks any more; or those that are lent are all with threads whose calls do not return. */
static struct shm_chunk *chunk_take(uint32_t kind, uint32_t thread)
{
    enum { PATIENCE_MS = 5000, LESS_MS = 100 };
    const uint64_t patience = UINT64_C(1000000) * (atomic_load(&rec_shm->lost) ? LESS_MS : PATIENCE_MS);
    uint64_t since = 0;

    do {
        const uint32_t bell = atomic_load(&rec_shm->free_bell);
        struct shm_chunk *c = chunk_find(false);

        if (!c && exhausted()) {
            c = chunk_find(true);
            since = since ? since : os_now_ns();
        }
        if (c) {
            c->kind = kind;
            c->thread = thread;
            c->frame = atomic_load(&rec_shm->frame);
            c->order = atomic_fetch_add(&rec_shm->order, 1);
            c->first_seq = atomic_load(&rec_shm->seq);
            atomic_store(&c->committed, 0);
            atomic_store(&c->partial, 0);
            return c;
        }
        /* The collector is behind, or has to add some: wait for it rather than lose calls. */
        if (shm_is_left(rec_shm))
            return NULL;
        os_wait(&rec_shm->free_bell, bell, true);
    } while (!since || os_now_ns() - since < patience);
    lose();
    return NULL;
}

static bool is_lent(const struct shm_chunk *c)
{
    return c && shm_is_lent((uint32_t)(c - rec_shm->chunks));
}

static uint8_t *chunk_bytes(const struct shm_chunk *c)
{
    return rec_chunk_bytes((uint32_t)(c - rec_shm->chunks));
}

/* Nothing that was recorded before can be what a record repeats. */
static void last_forget(struct rec_thread *t)
{
    t->chunk_stamp = t->object_stamp = ++t->stamps;
}

static uint8_t nowhere[SHM_STRIDE];

void rec_new_chunk(struct rec_thread *t)
{
    INVARIANT(!t->internal && !t->depth); // the implementation's own calls are never recorded
    INVARIANT(!t->retry);
    INVARIANT(!t->chunk || t->base == chunk_bytes(t->chunk));
    INVARIANT(!t->chunk || (t->w >= t->base && t->w <= t->limit + SHM_SLACK));
    if (t->chunk)
        chunk_done(t->chunk);
    t->chunk = chunk_take(TRC_CALLS, t->number);
    t->lent = is_lent(t->chunk);
    /* Without a collector calls go nowhere, and the program lives on. */
    t->base = t->w = t->chunk ? chunk_bytes(t->chunk) : nowhere;
    t->limit = t->base + TRC_CHUNK;
    t->expected = t->chunk ? t->chunk->first_seq : 0;
    t->last_self = 0;
    t->last_time = 0;
    t->list = NULL;
    last_forget(t);
}

/* Whoever records next asks for a chunk. */
void rec_give_back(struct rec_thread *t)
{
    if (t->chunk)
        chunk_done(t->chunk);
    t->chunk = NULL;
    t->lent = false;
    t->base = t->w = t->limit = nowhere;
    t->list = NULL;
}

static void thread_gone(struct rec_thread *t)
{
    if (t == &internal_thread)
        return;
    if (t->chunk)
        chunk_done(t->chunk);
    rec_self = &internal_thread;
    free(t->heap);
    free(t);
}

struct rec_thread *REC_ABI rec_enter_slow(void)
{
    struct rec_thread *t;

    if (!rec_shm)
        return NULL;
    t = calloc(1, sizeof(*t) + rec_api->num_methods * sizeof(t->last[0]));
    if (!t) {
        lose();
        rec_thread_internal(); /* none of its calls */
        return NULL;
    }
    t->number = atomic_fetch_add(&rec_shm->threads, 1) + 1;
    os_thread_mark(t);
    rec_self = t;
    rec_new_chunk(t);
    return t;
}

void rec_thread_internal(void)
{
    rec_self = &internal_thread;
}

/* ---- records ------------------------------------------------------------- */

static bool grow_heap(struct rec_thread *t)
{
    size_t cap = t->heap_cap ? 4 * t->heap_cap : 1 << 20;
    uint8_t *p = realloc(t->heap, cap + SHM_SLACK);

    if (!p)
        return false;
    t->heap = p;
    t->heap_cap = cap;
    return true;
}

void REC_ABI rec_begin(struct rec_thread *t, struct rec_object *o, uint32_t method, int mode)
{
    struct enc *e = &t->enc;
    uint32_t flags = 0;

    if (!t->retry) {
        if (t->limit - t->w < REC_MIN_ROOM)
            rec_new_chunk(t);
        e->p = t->w;
        e->end = t->limit;
        t->ticket = mode != REC_MODE_LOAD;
        if (mode == REC_MODE_LOAD && atomic_load_explicit(&o->last_thread, memory_order_relaxed) != t) {
            t->ticket = true; /* the object comes from another thread */
            atomic_store_explicit(&o->last_thread, t, memory_order_relaxed);
        }
        t->seq = mode == REC_MODE_TICKET || (t->ticket && mode == REC_MODE_LOAD)
                     ? atomic_fetch_add_explicit(&rec_shm->seq, 1, memory_order_acq_rel)
                     : atomic_load_explicit(&rec_shm->seq, memory_order_acquire);
        t->self = o ? o->id : 0;
        t->time = mode == REC_MODE_LOAD ? t->last_time : rec_now();
        t->has_seq = false;
        t->recorded = mode == REC_MODE_LOAD ? o : NULL;
        if (t->ticket || t->seq != t->expected)
            t->object_stamp = ++t->stamps;
    } else {
        e->p = t->heap;
        e->end = t->heap + t->heap_cap;
    }
    e->full = false;
    t->hdr = e->p;
    t->late_at = NULL;
    flags = (t->ticket ? REC_TICKET : 0) | (t->self != t->last_self ? REC_THIS : 0);
    if (mode == REC_MODE_LATE || t->seq != t->expected)
        flags |= REC_SEQ;
    if (t->time > t->last_time + TIME_STEP)
        flags |= REC_TIME;
    enc_var(e, method << REC_FLAG_BITS | flags);
    if (mode == REC_MODE_LATE) {
        uint32_t d = (uint32_t)(t->seq - t->expected);

        t->late_at = e->p;
        memcpy(e->p, &d, 4);
        e->p += 4;
    } else if (flags & REC_SEQ) {
        enc_var(e, zigzag((int64_t)(t->seq - t->expected)));
    }
    if (flags & REC_THIS)
        enc_var(e, t->self);
    if (flags & REC_TIME)
        enc_var(e, t->time - t->last_time);
    else
        t->time = t->last_time;
    t->args = e->p;
}

/* The record went into the private buffer: its bytes become a blob, the chunk gets a reference. */
static void commit_large(struct rec_thread *t)
{
    uint64_t blob = rec_blob(t->heap, (size_t)(t->enc.p - t->heap));

    *t->w++ = REC_LARGE << REC_FLAG_BITS;
    t->w = varint_put(t->w, blob);
    t->retry = false;
    /* what the next record may repeat is not in this chunk */
    last_forget(t);
}

/* `returned`: the call is over; else only rec_returned() says so, and a program that dies before died in it. */
static void commit(struct rec_thread *t, bool returned)
{
    if (t->retry)
        commit_large(t);
    else
        t->w = t->enc.p;
    t->expected = t->seq + t->ticket;
    t->last_self = t->self;
    t->last_time = t->time;
    t->list = NULL;
    if (t->recorded && t->chunk && !t->lent) {
        t->list = t->recorded->ptr;
        t->list_orig = t->recorded->orig;
    }
    if (t->chunk) {
        uint32_t at = (uint32_t)(t->w - t->base);

        atomic_store_explicit(&t->chunk->partial, at, memory_order_release);
        if (returned)
            atomic_store_explicit(&t->chunk->committed, at, memory_order_release);
    }
    if (__builtin_expect(returned && (t->lent || (!t->chunk && !shm_is_left(rec_shm))), 0))
        rec_give_back(t);
    if (__builtin_expect(t->trouble[0], 0)) {
        char text[sizeof(t->trouble)];

        memcpy(text, t->trouble, sizeof(text));
        t->trouble[0] = '\0';
        rec_note(t, "%s", text);
    }
}

bool rec_args_done(struct rec_thread *t, uint32_t method, enum rec_answer answer)
{
    struct enc *e = &t->enc;

    if (e->full) {
        if (grow_heap(t)) {
            t->retry = true;
            return true;
        }
        e->full = false;
    }
    t->result_at = e->p;
    if (answer == REC_ANSWER) {
        if (!t->retry && t->chunk)
            atomic_store_explicit(&t->chunk->partial, (uint32_t)(e->p - t->base), memory_order_release);
        return false;
    }
    if (answer == REC_RETURNS_VALUES)
        t->last[method].stamp = 0;
    else if (!t->retry)
        e->p = rec_short_bytes(t, &t->last[method], t->hdr, t->args, e->p);
    commit(t, answer == REC_NO_ANSWER);
    return false;
}

void rec_result(struct rec_thread *t, int mode)
{
    struct enc *e = &t->enc;

    e->p = t->result_at;
    e->full = false;
    if (mode == REC_MODE_LATE && !t->has_seq) {
        uint32_t d;

        t->seq = atomic_fetch_add_explicit(&rec_shm->seq, 1, memory_order_acq_rel);
        t->has_seq = true;
        d = (uint32_t)(t->seq - t->expected);
        memcpy(t->late_at, &d, 4);
    }
}

bool rec_result_done(struct rec_thread *t)
{
    struct enc *e = &t->enc;

    if (e->full) {
        size_t done = (size_t)(t->result_at - t->hdr);
        uint8_t *from = t->retry ? NULL : t->hdr;

        if (grow_heap(t)) {
            if (from)
                memcpy(t->heap, from, done);
            t->retry = true;
            t->hdr = t->heap;
            t->result_at = t->heap + done;
            e->end = t->heap + t->heap_cap;
            if (t->chunk)
                atomic_store(&t->chunk->partial, atomic_load(&t->chunk->committed));
            return true;
        }
    }
    commit(t, true);
    return false;
}

void rec_note(struct rec_thread *t, const char *fmt, ...)
{
    char text[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    log_warn("record", "%s", text);
    rec_begin(t, NULL, rec_api->note, REC_MODE_TICKET);
    enc_str(&t->enc, text);
    rec_args_done(t, rec_api->note, REC_NO_ANSWER);
}

void rec_lock(struct rec_object *o)
{
    uint32_t v = 0;

    if (atomic_compare_exchange_strong(&o->lock, &v, 1))
        return;
    while (atomic_exchange(&o->lock, 2))
        os_wait(&o->lock, 2, false);
}

void rec_unlock(struct rec_object *o)
{
    if (atomic_exchange(&o->lock, 0) == 2)
        os_wake(&o->lock, false);
}

/* ---- blobs --------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    struct shm_chunk *chunk;
    uint8_t *w, *limit;
    struct map known; /* the lower half of a blob's hash to its index in `items` */
    struct blob {
        uint64_t upper; /* half of its hash */
        uint64_t number;
    } * items;
    size_t num, room;
} blobs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void blob_write(uint64_t number, const uint8_t *p, size_t n)
{
    size_t done = 0;

    do {
        size_t part;

        if (!blobs.chunk || blobs.limit - blobs.w < 256) {
            if (blobs.chunk)
                chunk_done(blobs.chunk);
            blobs.chunk = chunk_take(TRC_BLOBS, 0);
            if (!blobs.chunk)
                return;
            blobs.w = chunk_bytes(blobs.chunk);
            blobs.limit = blobs.w + TRC_CHUNK;
            blobs.chunk->first_seq = number;
        }
        part = (size_t)(blobs.limit - blobs.w) - 64;
        if (part > n - done)
            part = n - done;
        blobs.w = varint_put(blobs.w, number);
        blobs.w = varint_put(blobs.w, n);
        blobs.w = varint_put(blobs.w, done);
        blobs.w = varint_put(blobs.w, part);
        INVARIANT(blobs.w + part <= blobs.limit + SHM_SLACK);
        INVARIANT(done + part <= n);
        memcpy(blobs.w, p + done, part);
        blobs.w += part;
        done += part;
        atomic_store_explicit(&blobs.chunk->committed, (uint32_t)(blobs.w - chunk_bytes(blobs.chunk)),
                              memory_order_release);
    } while (done < n);
    if (is_lent(blobs.chunk)) {
        chunk_done(blobs.chunk);
        blobs.chunk = NULL;
    }
}

uint64_t REC_ABI rec_blob(const void *p, size_t n)
{
    const XXH128_hash_t h = XXH3_128bits(p, n);
    uint64_t number, *at;

    pthread_mutex_lock(&blobs.lock);
    at = map_find(&blobs.known, h.low64);
    if (at && blobs.items[*at].upper == h.high64) {
        number = blobs.items[*at].number;
    } else {
        number = atomic_fetch_add(&rec_shm->blobs, 1) + 1;
        blob_write(number, p, n);
        /* Without memory, and where half of the hash is another's, it is not remembered: the next one is written again. */
        if (!at && !array_reserve(blobs.items, blobs.room, blobs.num + 1) &&
            (at = map_put(&blobs.known, h.low64))) {
            blobs.items[blobs.num] = (struct blob){h.high64, number};
            *at = blobs.num++;
        }
        INVARIANT(blobs.known.num == blobs.num);
    }
    pthread_mutex_unlock(&blobs.lock);
    return number;
}

/* ---- start and end ------------------------------------------------------- */

#ifndef _WIN32
static void after_fork(void)
{
    /* The child's chunks are its own; the parent's stay with the parent. */
    struct rec_thread *t = rec_self;

    blobs.chunk = NULL;
    if (t && !t->internal) {
        t->number = atomic_fetch_add(&rec_shm->threads, 1) + 1;
        t->chunk = NULL;
        rec_new_chunk(t);
    }
}
#endif

int rec_start(const struct api *api)
{
    const char *path = getenv(SHM_ENV);
    struct shm *map = path ? os_map_shared(path, SHM_SIZE, 0, SHM_DATA) : NULL;
    uint64_t none = 0;

    if (!map)
        return -1;
    shm_path = strdup(path);
    if (!shm_path || map->magic != SHM_MAGIC || map->schema != api->schema || os_threads_init(thread_gone)) {
        os_unmap(map, SHM_DATA);
        free(shm_path);
        return -1;
    }
    epoch_ns = os_epoch_ns(map->start_ns);
    if (!atomic_compare_exchange_strong(&map->epoch_ns, &none, epoch_ns))
        epoch_ns = none; /* another process of the program was first */
#ifndef _WIN32
    pthread_atfork(NULL, NULL, after_fork);
#endif
    rec_api = api;
    rec_shm = map;
    return 0;
}
