/* SPDX-License-Identifier: MIT */
/* trace_read.c: the reading half of trace_file.h.
 *
 * Each thread of the recording is a row of blocks, decoded one at a time. A heap holds the next call of every thread;
 * trc_next() takes the one that stands first and refills from its thread.
 */
#include "record/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/array.h"
#include "base/check.h"
#include "record/varint.h"
#include "record/api.h"
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
    const uint8_t *map;
    size_t size;
    bool owned, indexed;
    uint64_t features;
    char *meta;
    struct trc_index_entry *blocks;
    uint32_t num_blocks;
    char cut[200];
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

/* The header of the block at `at`, checked against the file's size. */
static int block_header(const struct trc *t, uint64_t at, struct trc_block *b, struct error *e)
{
    if (at > t->size || t->size - at < sizeof(*b))
        return error_set(e, -EBADMSG, "the file ends inside the block header at byte %llu",
                         (unsigned long long)at);
    memcpy(b, t->map + at, sizeof(*b));
    if (b->magic != TRC_BLOCK_MAGIC)
        return error_set(e, -EBADMSG, "no block at byte %llu", (unsigned long long)at);
    if (b->raw > TRC_MAX_RAW)
        return error_set(e, -EBADMSG, "the block at byte %llu says that it unpacks to %u bytes",
                         (unsigned long long)at, b->raw);
    if (b->packed > t->size - at - sizeof(*b))
        return error_set(e, -EBADMSG, "the file ends inside the block at byte %llu", (unsigned long long)at);
    return 0;
}

/* The unpacked bytes of the block at `at`, malloc'd. */
int trc_block_bytes(struct trc *t, uint64_t at, uint8_t **out, struct trc_block *b, struct error *e)
{
    int err = block_header(t, at, b, e);
    const uint8_t *p = t->map + at + sizeof(*b);
    size_t n;

    if (err)
        return err;
    if (XXH3_64bits(p, b->packed) != b->hash)
        return error_set(e, -EBADMSG, "the block at byte %llu is damaged: its hash differs",
                         (unsigned long long)at);
    *out = malloc(b->raw ? b->raw : 1);
    if (!*out)
        return error_set(e, -ENOMEM, "out of memory");
    if (b->flags & TRC_SPLIT) {
        uint8_t *split = malloc(SPLIT_BOUND((size_t)b->raw));

        n = split ? ZSTD_decompressDCtx(t->z, split, SPLIT_BOUND((size_t)b->raw), p, b->packed) : 0;
        err = !split ? -ENOMEM : ZSTD_isError(n) ? -EBADMSG : unsplit_block(t->api, split, n, *out, b->raw);
        free(split);
        if (err) {
            free(*out);
            *out = NULL;
            return err == -ENOMEM
                       ? error_set(e, err, "out of memory")
                       : error_set(e, -EBADMSG, "the block at byte %llu does not unpack into records",
                                   (unsigned long long)at);
        }
        return 0;
    }
    n = ZSTD_decompressDCtx(t->z, *out, b->raw, p, b->packed);
    if (ZSTD_isError(n) || n != b->raw) {
        free(*out);
        *out = NULL;
        return error_set(e, -EBADMSG, "the block at byte %llu does not unpack: %s", (unsigned long long)at,
                         ZSTD_isError(n) ? ZSTD_getErrorName(n) : "its size differs");
    }
    return 0;
}

static int load_index(struct trc *t)
{
    struct trc_tail tail;
    struct trc_block b;
    uint8_t *raw;

    if (t->size < sizeof(tail))
        return -EBADMSG;
    memcpy(&tail, t->map + t->size - sizeof(tail), sizeof(tail));
    if (tail.magic != TRC_TAIL_MAGIC || trc_block_bytes(t, tail.index_offset, &raw, &b, NULL))
        return -EBADMSG;
    if (b.kind != TRC_INDEX || b.raw % sizeof(*t->blocks)) {
        free(raw);
        return -EBADMSG;
    }
    t->num_blocks = (uint32_t)(b.raw / sizeof(*t->blocks));
    t->blocks = (void *)raw;
    t->indexed = true;
    t->features = tail.features;
    return 0;
}

static int scan_blocks(struct trc *t, uint64_t at, struct error *e)
{
    size_t cap = 0;
    struct trc_block b;

    while (at < t->size) {
        struct error why = {0};

        if (block_header(t, at, &b, &why)) {
            struct trc_tail tail;

            if (t->size - at == sizeof(tail)) {
                memcpy(&tail, t->map + at, sizeof(tail));
                if (tail.magic == TRC_TAIL_MAGIC)
                    break;
            }
            snprintf(t->cut, sizeof(t->cut), "%.190s", why.text);
            break;
        }
        if (b.kind != TRC_INDEX) {
            if (array_reserve(t->blocks, cap, t->num_blocks + 1))
                return error_set(e, -ENOMEM, "out of memory");
            t->blocks[t->num_blocks++] = (struct trc_index_entry){
                .offset = at,
                .first_seq = b.first_seq,
                .raw = b.raw,
                .frame = b.frame,
                .thread = b.thread,
                .kind = b.kind,
                .flags = b.flags,
                .packed = b.packed,
            };
        }
        at += sizeof(b) + b.packed;
    }
    return 0;
}

static int add_to_thread(struct trc *t, uint32_t block, struct error *e)
{
    uint32_t id = t->blocks[block].thread;
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
    if (array_reserve(th->blocks, th->cap, th->num + 1))
        return error_set(e, -ENOMEM, "out of memory");
    th->blocks[th->num++] = block;
    return 0;
}

static int meta_size(const struct trc_header *h, size_t size)
{
    size_t n = size - sizeof(*h) < h->meta_size ? size - sizeof(*h) : h->meta_size;

    return n > 150 ? 150 : (int)n;
}

static int read_file(struct trc *t, struct error *e)
{
    struct trc_header h;
    int err;

    if (t->size < sizeof(h))
        return error_set(e, -EBADMSG, "not a %s recording: %zu bytes are too few", t->api->name, t->size);
    memcpy(&h, t->map, sizeof(h));
    if (memcmp(h.magic, t->api->magic, 8))
        return error_set(e, -EBADMSG, "not a %s recording: it does not begin with %s", t->api->name,
                         t->api->magic);
    if (h.major != TRC_MAJOR)
        return error_set(e, -ENOTSUP, "the recording has version %u.%u, this program reads %u", h.major,
                         h.minor, TRC_MAJOR);
    if (h.schema != t->api->schema)
        return error_set(
            e, -ENOTSUP,
            "the recording was made with other method tables (%016llx, these are %016llx): read it "
            "with the aerogpu that made it, or one that was built from %s%s%.*s",
            (unsigned long long)h.schema, (unsigned long long)t->api->schema, t->api->tables,
            h.meta_size ? "; it says of itself: " : "", meta_size(&h, t->size),
            (const char *)t->map + sizeof(h));
    if (h.meta_size > t->size - sizeof(h))
        return error_set(e, -EBADMSG, "the file ends inside its header");
    if (!(t->meta = strndup((const char *)t->map + sizeof(h), h.meta_size)) || !(t->z = ZSTD_createDCtx()))
        return error_set(e, -ENOMEM, "out of memory");
    if (load_index(t) && (err = scan_blocks(t, sizeof(h) + h.meta_size, e)))
        return err;
    for (uint32_t i = 0; i < t->num_blocks; i++)
        if (t->blocks[i].kind == TRC_CALLS && (err = add_to_thread(t, i, e)))
            return err;
    t->heap = calloc(t->num_threads + 1, sizeof(*t->heap));
    return t->heap ? 0 : error_set(e, -ENOMEM, "out of memory");
}

int trc_open_memory(struct trc **out, const struct api *api, const void *data, size_t size, struct error *e)
{
    struct trc *t = calloc(1, sizeof(*t));
    int err;

    if (!t)
        return error_set(e, -ENOMEM, "out of memory");
    t->api = api;
    t->map = data;
    t->size = size;
    if ((err = read_file(t, e))) {
        trc_close(t);
        return err;
    }
    *out = t;
    return 0;
}

int trc_open(struct trc **out, const struct api *api, const char *path, struct error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), err;
    struct stat st;
    void *map;

    if (fd < 0 || fstat(fd, &st)) {
        err = error_set(e, -errno, "cannot open %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return err;
    }
    if (S_ISDIR(st.st_mode)) {
        close(fd);
        return error_set(e, -EISDIR, "%s: is a folder, not a %s recording", path, api->name);
    }
    if (!st.st_size) {
        close(fd);
        return error_set(e, -EBADMSG, "%s: not a %s recording: the file is empty", path, api->name);
    }
    map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return error_set(e, -errno, "cannot map %s: %s", path, strerror(errno));
    if ((err = trc_open_memory(out, api, map, (size_t)st.st_size, e))) {
        munmap(map, (size_t)st.st_size);
        error_prefix(e, "%s", path);
        return err;
    }
    (*out)->owned = true;
    return 0;
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
    free(t->blocks);
    free(t->meta);
    ZSTD_freeDCtx(t->z);
    if (t->owned)
        munmap((void *)t->map, t->size);
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

bool trc_has_index(const struct trc *t)
{
    return t->indexed;
}

uint64_t trc_features(const struct trc *t)
{
    return t->features;
}

uint32_t trc_num_blocks(const struct trc *t)
{
    return t->num_blocks;
}

const struct trc_index_entry *trc_block(const struct trc *t, uint32_t i)
{
    return &t->blocks[i];
}

void trc_blob_budget(struct trc *t, uint64_t bytes)
{
    t->blob_budget = bytes;
}

const void *trc_blob(struct trc *t, uint64_t number, size_t *size, struct error *e)
{
    if (!t->blobs && trc_blobs_create(&t->blobs, t, t->blob_budget, t->size * UINT64_C(40000), e))
        return NULL;
    return trc_blobs_get(t->blobs, number, size, e);
}

const char *trc_cut(const struct trc *t)
{
    return t->cut;
}

/* ---- calls --------------------------------------------------------------- */

static int open_block(struct trc *t, struct thread *th, struct error *e)
{
    const struct trc_index_entry *x = &t->blocks[th->blocks[th->cur]];
    struct trc_block b;
    int err;

    free(th->raw);
    th->raw = NULL;
    if ((err = trc_block_bytes(t, x->offset, &th->raw, &b, e)))
        return err;
    th->in = bytes_of(th->raw, b.raw);
    th->open = true;
    th->seq = x->first_seq;
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
    bool last = t->blocks[th->blocks[th->cur]].flags & TRC_PARTIAL && (in == &th->in || !bytes_left(&th->in));

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
