/* SPDX-License-Identifier: MIT */
/* trace_read.c: the reading half of trace_file.h.
 *
 * Each thread of the recording is a row of blocks, decoded one at a time. A heap holds the next call of every thread;
 * trc_next() takes the one that stands first and refills from its thread.
 */
#include "record/trace_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"
#include "base/check.h"
#include "record/varint.h"
#include "record/api.h"
#include "record/salvage.h"
#include "record/trace_blobs.h"
#include "record/trace_split.h"
#include "record/walk.h"

struct head { /* a call that is decoded as far as its header, and checked */
    uint64_t key;
    struct trc_call call;
};

struct thread {
    uint32_t id;
    uint32_t *blocks;
    uint32_t num, cur; /* cur: the block being read */
    size_t cap;
    uint8_t *raw;
    struct bytes in;
    bool open;
    uint64_t seq, time;
    uint32_t self;
    struct {
        const uint8_t *args;
        size_t size;
    } * last; /* by method */
    struct head head;
};

struct trc {
    const struct api *api;
    struct blocks blocks;
    char *meta;
    struct thread *threads;
    uint32_t num_threads;
    size_t cap_threads;
    struct thread **heap;
    uint32_t heap_num;
    bool started;
    uint64_t calls;
    uint32_t frame;
    struct trc_blobs *blobs; /* made when the first one is asked for */
    uint64_t blob_budget;
    struct error no_blobs; /* why there are none */
    ZSTD_DCtx *z;
    struct thread *taken; /* the thread whose call was handed out last: refilled by the next trc_next() */
};

static bool before(const struct thread *a, const struct thread *b)
{
    return a->head.key != b->head.key ? a->head.key < b->head.key : a->id < b->id;
}

static void trc_check(const struct trc *t)
{
    INVARIANT(t->heap_num <= t->num_threads);
    INVARIANT(!t->taken || t->heap_num);
    INVARIANT(!t->taken || t->taken == t->heap[0]); // what was handed out stands first
    INVARIANT(t->started || (!t->heap_num && !t->calls));
    INVARIANT(t->heap_num < 2 || !before(t->heap[1], t->heap[0]));
    INVARIANT(t->heap_num < 3 || !before(t->heap[2], t->heap[0]));
    INVARIANT(t->frame <= t->calls);
}

/* ---- blocks -------------------------------------------------------------- */

static int no_records(const struct trc *t, uint32_t block, struct error *e)
{
    return error_set(e, -EBADMSG, "the block at byte %llu does not unpack into records",
                     (unsigned long long)t->blocks.list[block].offset);
}

/* What was packed in the other order, in its own. */
static int unsplit(const struct trc *t, uint32_t block, uint8_t *out, struct error *e)
{
    const struct block *b = &t->blocks.list[block];
    uint8_t *split = malloc(SPLIT_BOUND((size_t)b->raw));
    size_t n;
    int err;

    if (!split)
        return error_set(e, -ENOMEM, "out of memory");
    err = blocks_unpack(&t->blocks, block, t->z, split, SPLIT_BOUND((size_t)b->raw), &n, e);
    if (!err && (err = unsplit_block(t->api, split, n, out, b->raw)))
        err = err == -ENOMEM ? error_set(e, err, "out of memory") : no_records(t, block, e);
    free(split);
    return err;
}

/* The unpacked bytes of a block, malloc'd: as many as its entry says. */
int trc_block_bytes(struct trc *t, uint32_t block, uint8_t **out, struct error *e)
{
    const struct block *b = &t->blocks.list[block];
    uint8_t *raw = malloc(b->raw ? b->raw : 1);
    size_t n = b->raw;
    int err;

    if (!raw)
        return error_set(e, -ENOMEM, "out of memory");
    err = b->flags & TRC_SPLIT ? unsplit(t, block, raw, e)
                               : blocks_unpack(&t->blocks, block, t->z, raw, b->raw, &n, e);
    if (!err && n != b->raw)
        err = no_records(t, block, e);
    if (err)
        free(raw);
    else
        *out = raw;
    return err;
}

static int add_to_thread(struct trc *t, uint32_t block, struct error *e)
{
    uint32_t id = t->blocks.list[block].stream;
    struct thread *th = NULL;

    for (uint32_t i = t->num_threads; i-- > 0 && !th;)
        if (t->threads[i].id == id)
            th = &t->threads[i];
    if (!th) {
        if (array_reserve(t->threads, t->cap_threads, t->num_threads + 1))
            return error_set(e, -ENOMEM, "out of memory");
        th = &t->threads[t->num_threads];
        *th = (struct thread){.id = id, .last = calloc(t->api->num_methods, sizeof(*th->last))};
        if (!th->last)
            return error_set(e, -ENOMEM, "out of memory");
        t->num_threads++;
    }
    if (th->num && t->blocks.list[th->blocks[th->num - 1]].kind == TRC_SO_FAR)
        th->num--; /* this one has more of it */
    if (array_reserve(th->blocks, th->cap, th->num + 1))
        return error_set(e, -ENOMEM, "out of memory");
    th->blocks[th->num++] = block;
    return 0;
}

static int make_threads(struct trc *t, struct error *e)
{
    const struct blocks *b = &t->blocks;
    int err = 0;

    if (b->schema != t->api->schema)
        return error_set(
            e, -ENOTSUP,
            "the recording was made with other method tables (%016llx, these are %016llx): read it "
            "with the aerogpu that made it, or one that was built from %s%s%.*s",
            (unsigned long long)b->schema, (unsigned long long)t->api->schema, t->api->tables,
            b->meta_size ? "; it says of itself: " : "", b->meta_size > 150 ? 150 : (int)b->meta_size,
            b->meta);
    if (!(t->meta = strndup(b->meta, b->meta_size)) || !(t->z = ZSTD_createDCtx()))
        return error_set(e, -ENOMEM, "out of memory");
    for (uint32_t i = 0; i < b->num && !err; i++)
        if (b->list[i].kind == TRC_CALLS || b->list[i].kind == TRC_SO_FAR)
            err = add_to_thread(t, i, e);
    t->heap = calloc(t->num_threads + 1, sizeof(*t->heap));
    return err ? err : t->heap ? 0 : error_set(e, -ENOMEM, "out of memory");
}

/* Of `path`, or if that is NULL of what is in memory. */
static int open_any(struct trc **out, const struct api *api, const char *path, const void *data, size_t size,
                    struct error *e)
{
    struct trc *t = calloc(1, sizeof(*t));
    char what[100];
    struct blocks_params p = {.magic = api->magic, .what = what};
    int err;

    if (!t)
        return error_set(e, -ENOMEM, "out of memory");
    snprintf(what, sizeof(what), "a %s recording", api->name);
    t->api = api;
    err = path ? blocks_open(&t->blocks, &p, path, e) : blocks_open_memory(&t->blocks, &p, data, size, e);
    if (!err && (err = make_threads(t, e)) && path)
        error_prefix(e, "%s", path);
    if (err)
        trc_close(t);
    else
        *out = t;
    return err;
}

int trc_open_memory(struct trc **out, const struct api *api, const void *data, size_t size, struct error *e)
{
    return open_any(out, api, NULL, data, size, e);
}

int trc_open(struct trc **out, const struct api *api, const char *path, struct error *e)
{
    int err = open_any(out, api, path, NULL, 0, e);

    if (err || !*trc_cut(*out) || !salvage_file(api, path))
        return err;
    trc_close(*out); /* there was more */
    return open_any(out, api, path, NULL, 0, e);
}

void trc_close(struct trc *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->num_threads; i++) {
        free(t->threads[i].blocks);
        free(t->threads[i].raw);
        free(t->threads[i].last);
    }
    trc_blobs_destroy(t->blobs);
    free(t->threads);
    free(t->heap);
    blocks_close(&t->blocks);
    free(t->meta);
    ZSTD_freeDCtx(t->z);
    free(t);
}

const struct api *trc_api(const struct trc *t)
{
    return t->api;
}

const char *trc_meta(const struct trc *t)
{
    return t->meta;
}

uint64_t trc_features(const struct trc *t)
{
    return t->blocks.features;
}

uint32_t trc_num_blocks(const struct trc *t)
{
    return t->blocks.num;
}

const struct block *trc_block(const struct trc *t, uint32_t i)
{
    return &t->blocks.list[i];
}

void trc_blob_budget(struct trc *t, uint64_t bytes)
{
    t->blob_budget = bytes;
}

const void *trc_blob(struct trc *t, uint64_t number, size_t *size, struct error *e)
{
    struct error why = t->no_blobs;
    const void *p = NULL;

    if (!t->blobs && !why.code &&
        trc_blobs_create(&t->blobs, t, t->blob_budget, t->blocks.size * UINT64_C(40000), &why) == -EBADMSG)
        t->no_blobs = why; /* once is enough */
    if (t->blobs)
        p = trc_blobs_get(t->blobs, number, size, &why);
    if (why.code == -EBADMSG && !*t->blocks.damage)
        snprintf(t->blocks.damage, sizeof(t->blocks.damage), "%s", why.text);
    if (why.code)
        error_set(e, why.code, "%s", why.text);
    return p;
}

const char *trc_cut(const struct trc *t)
{
    return t->blocks.damage;
}

int trc_verify(const struct trc *t, struct error *e)
{
    return blocks_verify(&t->blocks, e);
}

/* ---- calls --------------------------------------------------------------- */

static int open_block(struct trc *t, struct thread *th, struct error *e)
{
    const struct block *x = &t->blocks.list[th->blocks[th->cur]];
    int err;

    free(th->raw);
    th->raw = NULL;
    if ((err = trc_block_bytes(t, th->blocks[th->cur], &th->raw, e)))
        return err;
    th->in = bytes_of(th->raw, x->raw);
    th->open = true;
    th->seq = x->first;
    th->self = 0;
    th->time = 0;
    memset(th->last, 0, t->api->num_methods * sizeof(*th->last));
    return 0;
}

static int bad_record(const struct thread *th, const struct trc *t, size_t at, const char *what,
                      struct error *e)
{
    return error_set(e, -EBADMSG, "block %u (thread %u) is malformed at offset %zu: %s", th->blocks[th->cur],
                     th->id, at, what);
}

/* Finds the end of the arguments and the answer. */
static int measure(struct thread *th, struct trc *t, struct bytes *in, bool last, struct trc_call *c,
                   struct error *e)
{
    const struct api_method *m = c->m;

    c->args = in->data + in->pos;
    walk_fields(in, m->in, m->num_in, NULL);
    if (in->bad)
        return bad_record(th, t, in->pos, m->name, e);
    c->args_size = (size_t)(in->data + in->pos - c->args);
    if (last && !bytes_left(in)) {
        c->incomplete = true;
    } else if (m->flags & API_RESULT) {
        walk_fields(in, m->out, m->num_out, NULL);
        if (in->bad)
            return bad_record(th, t, in->pos, m->name, e);
    }
    c->size = (size_t)(in->data + in->pos - c->args);
    th->last[c->method].args = c->args;
    th->last[c->method].size = c->size;
    return 0;
}

static int read_head(struct trc *t, struct thread *th, struct bytes *in, struct error *e)
{
    struct trc_call *c = &th->head.call;
    size_t at = in->pos;
    uint64_t op = bytes_varint(in);
    uint32_t method = (uint32_t)(op >> REC_FLAG_BITS);
    bool last =
        t->blocks.list[th->blocks[th->cur]].flags & TRC_PARTIAL && (in == &th->in || !bytes_left(&th->in));

    if (in->bad || op >> REC_FLAG_BITS >= t->api->num_methods || !t->api->methods[method].name)
        return bad_record(th, t, at, "there is no such method", e);
    *c = (struct trc_call){.api = t->api,
                           .m = &t->api->methods[method],
                           .method = (uint16_t)method,
                           .thread = th->id,
                           .block = th->blocks[th->cur],
                           .offset = (uint32_t)at};
    if (op & REC_SEQ)
        th->seq += c->m->flags & API_LATE ? (uint64_t)bytes_u32(in) : (uint64_t)unzigzag(bytes_varint(in));
    c->seq = th->seq;
    if (op & REC_THIS) {
        uint64_t self = bytes_varint(in);

        if (self > UINT32_MAX)
            in->bad = true;
        th->self = (uint32_t)self;
    }
    c->self = th->self;
    if (op & REC_TIME)
        th->time += bytes_varint(in);
    c->time_ns = th->time * TRC_TIME_UNIT_NS;
    if (in->bad)
        return bad_record(th, t, at, "the record is cut", e);
    th->head.key = 2 * th->seq + !!(op & REC_TICKET);
    if (op & REC_TICKET)
        th->seq++;
    if (op & REC_REPEAT) {
        if (!th->last[method].args)
            return bad_record(th, t, at, "it repeats a call that is not there", e);
        c->args = th->last[method].args;
        c->size = c->args_size = th->last[method].size;
        c->repeated = true;
        c->incomplete = last && !bytes_left(in);
        return 0;
    }
    return measure(th, t, in, last, c, e);
}

/* Decodes the next call of `th` into its head: 1, 0 if it has no more. */
static int advance(struct trc *t, struct thread *th, struct error *e)
{
    int err;

    while (!th->open || !bytes_left(&th->in)) {
        if (th->open) {
            th->open = false;
            th->cur++;
        }
        if (th->cur == th->num)
            return 0;
        if ((err = open_block(t, th, e)))
            return err;
    }
    if (th->in.data[th->in.pos] >> REC_FLAG_BITS == REC_LARGE && th->in.data[th->in.pos] < 0x20) {
        size_t size = 0, at = th->in.pos;
        struct bytes in;
        struct error why = {0};
        const void *p;
        uint64_t number;

        bytes_u8(&th->in);
        number = bytes_varint(&th->in);
        if (th->in.bad)
            return bad_record(th, t, at, "the record is cut", e);
        if (!(p = trc_blob(t, number, &size, &why)))
            return error_set(e, why.code, "%s", why.text);
        trc_blobs_pin(t->blobs, number); /* later records may repeat its arguments */
        in = bytes_of(p, size);
        err = read_head(t, th, &in, e);
        th->head.call.offset = (uint32_t)at;
        return err ? err : 1;
    }
    err = read_head(t, th, &th->in, e);
    return err ? err : 1;
}

static void sift_down(struct trc *t, uint32_t i)
{
    for (;;) {
        uint32_t l = 2 * i + 1, r = l + 1, min = i;
        struct thread *tmp;

        if (l < t->heap_num && before(t->heap[l], t->heap[min]))
            min = l;
        if (r < t->heap_num && before(t->heap[r], t->heap[min]))
            min = r;
        if (min == i)
            return;
        tmp = t->heap[i];
        t->heap[i] = t->heap[min];
        t->heap[min] = tmp;
        i = min;
    }
}

void trc_rewind(struct trc *t)
{
    for (uint32_t i = 0; i < t->num_threads; i++) {
        t->threads[i].cur = 0;
        t->threads[i].open = false;
    }
    t->heap_num = 0;
    t->started = false;
    t->taken = NULL;
    t->calls = 0;
    t->frame = 0;
}

static int start(struct trc *t, struct error *e)
{
    t->started = true;
    for (uint32_t i = 0; i < t->num_threads; i++) {
        int got = advance(t, &t->threads[i], e);

        if (got < 0)
            return got;
        if (got)
            t->heap[t->heap_num++] = &t->threads[i];
    }
    for (uint32_t i = t->heap_num / 2; i-- > 0;)
        sift_down(t, i);
    return 0;
}

int trc_next(struct trc *t, struct trc_call *c, struct error *e)
{
    int got;

    trc_check(t);
    trc_blobs_turn(t->blobs);
    if (!t->started) {
        if ((got = start(t, e)))
            goto fail;
    } else if (t->taken) {
        struct thread *th = t->taken;

        t->taken = NULL;
        if ((got = advance(t, th, e)) < 0)
            goto fail;
        if (!got)
            t->heap[0] = t->heap[--t->heap_num];
        sift_down(t, 0);
    }
    if (!t->heap_num)
        return 0;
    t->taken = t->heap[0];
    *c = t->taken->head.call;
    c->index = t->calls++;
    c->frame = t->frame;
    if (c->m->flags & API_FRAME)
        t->frame++;
    trc_check(t);
    return 1;
fail:
    error_prefix(e, "call %llu", (unsigned long long)t->calls);
    return got;
}
