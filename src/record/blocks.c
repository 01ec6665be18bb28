/* SPDX-License-Identifier: MIT */
#include "record/blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/array.h"
#include "base/check.h"
#include "base/file/in.h"
#include "base/file/out.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define SAME(a, b) ((void)(a), (void)(b), true) /* mutations reach what is behind the checksums */
#else
#define SAME(a, b) ((a) == (b))
#endif

typedef unsigned long long ull;

static uint64_t header_hash(const struct blocks_header *h, const void *meta)
{
    return XXH3_64bits_withSeed(h, offsetof(struct blocks_header, hash), XXH3_64bits(meta, h->meta_size));
}

static uint64_t block_check(const struct blocks_block *h, uint64_t at)
{
    return XXH3_64bits_withSeed(h, offsetof(struct blocks_block, check), at);
}

static uint64_t tail_check(const struct blocks_tail *t)
{
    return XXH3_64bits_withSeed(&t->index_offset, sizeof(t->index_offset), BLOCKS_MAGIC);
}

/* ---- reading ------------------------------------------------------------- */

/* The header of the block at `at`. */
static int block_header(const struct blocks *b, uint64_t at, struct blocks_block *h, struct error *e)
{
    if (at > b->size || b->size - at < sizeof(*h))
        return error_set(e, -EBADMSG, "the file is cut inside the block header at byte %llu", (ull)at);
    memcpy(h, b->map + at, sizeof(*h));
    if (h->magic != BLOCKS_MAGIC || !SAME(h->check, block_check(h, at)))
        return error_set(e, -EBADMSG, "the block header at byte %llu is damaged", (ull)at);
    if (h->raw > BLOCKS_MAX_RAW)
        return error_set(e, -EBADMSG, "the block at byte %llu says that it unpacks to %u bytes", (ull)at,
                         h->raw);
    if (h->packed > b->size - at - sizeof(*h))
        return error_set(e, -EBADMSG, "the file is cut inside the block at byte %llu", (ull)at);
    return 0;
}

/* The same with the bytes behind it. */
static int whole_block(const struct blocks *b, uint64_t at, struct blocks_block *h, struct error *e)
{
    int err = block_header(b, at, h, e);

    if (!err && !SAME(XXH3_64bits(b->map + at + sizeof(*h), h->packed), h->hash))
        return error_set(e, -EBADMSG, "the block at byte %llu is damaged: its hash differs", (ull)at);
    return err;
}

static struct block entry_of(const struct blocks_block *h, uint64_t at)
{
    return (struct block){.offset = at,
                          .first = h->first,
                          .raw = h->raw,
                          .packed = h->packed,
                          .frame = h->frame,
                          .stream = h->stream,
                          .kind = h->kind,
                          .flags = h->flags};
}

/* 3. Block behind block from `at` to the index. */
static bool covers(const struct blocks *b, uint64_t at, uint64_t index)
{
    for (uint32_t i = 0; i < b->num; i++) {
        if (b->list[i].offset != at || b->list[i].raw > BLOCKS_MAX_RAW)
            return false;
        at += sizeof(struct blocks_block) + b->list[i].packed;
        if (at > index)
            return false;
    }
    return at == index;
}

/* Whether there is an index that can be used. */
static bool load_index(struct blocks *b, uint64_t begin)
{
    struct blocks_tail tail;
    struct blocks_block h;
    uint64_t at;
    size_t n;

    if (b->size < sizeof(tail))
        return false;
    memcpy(&tail, b->map + b->size - sizeof(tail), sizeof(tail));
    at = tail.index_offset;
    if (!SAME(tail.check, tail_check(&tail)) || whole_block(b, at, &h, NULL) || h.kind != BLOCKS_INDEX ||
        h.raw % sizeof(struct block) || at + sizeof(h) + h.packed + sizeof(tail) != b->size ||
        !(b->list = malloc(h.raw ? h.raw : 1)))
        return false;
    n = ZSTD_decompress(b->list, h.raw, b->map + at + sizeof(h), h.packed);
    b->num = (uint32_t)(h.raw / sizeof(*b->list));
    b->features = h.first;
    if (!ZSTD_isError(n) && n == h.raw && covers(b, begin, at))
        return true;
    free(b->list);
    b->list = NULL;
    b->num = 0;
    b->features = 0;
    return false;
}

static void note(struct blocks *b, const struct blocks_params *p, const char *what)
{
    if (!*b->damage)
        snprintf(b->damage, sizeof(b->damage), "%s", what);
    if (p->damaged)
        p->damaged(p->ctx, what);
}

/* After damage at `from`: the next place with a block, or the end. */
static uint64_t next_block(const struct blocks *b, uint64_t from)
{
    const uint32_t magic = BLOCKS_MAGIC;
    struct blocks_block h;

    while (from < b->size) {
        const uint8_t *p = memmem(b->map + from, b->size - from, &magic, sizeof(magic));

        if (!p)
            break;
        from = (uint64_t)(p - b->map);
        if (!block_header(b, from, &h, NULL))
            return from;
        from++;
    }
    return b->size;
}

/* Without an index: block behind block, as far as they go. */
static int walk(struct blocks *b, const struct blocks_params *p, uint64_t at, struct error *e)
{
    uint64_t index = 0;
    struct blocks_block h;
    size_t room = 0;

    while (at < b->size && !(index && b->size - at <= sizeof(struct blocks_tail))) {
        struct error why = {0};

        if (block_header(b, at, &h, &why)) {
            note(b, p, why.text);
            if (!p->resume)
                return 0;
            at = next_block(b, at + 1);
            continue;
        }
        if (h.kind == BLOCKS_INDEX) {
            index = at;
        } else {
            if (array_reserve(b->list, room, b->num + 1))
                return error_set(e, -ENOMEM, "out of memory");
            b->list[b->num++] = entry_of(&h, at);
        }
        at += sizeof(h) + h.packed;
    }
    if (!*b->damage) {
        char text[120];

        snprintf(text, sizeof(text),
                 index ? "the index at byte %llu is damaged"
                       : "the file is cut at byte %llu: its index is missing",
                 (ull)(index ? index : at));
        note(b, p, text);
    }
    return 0;
}

int blocks_open_memory(struct blocks *b, const struct blocks_params *p, const void *data, size_t size,
                       struct error *e)
{
    struct blocks_header h;
    int err = 0;

    *b = (struct blocks){.map = data, .size = size};
    if (size < sizeof(h))
        return error_set(e, -EBADMSG, "not %s: it is cut at byte %zu, inside its header", p->what, size);
    memcpy(&h, data, sizeof(h));
    if (memcmp(h.magic, p->magic, 8) != 0)
        return error_set(e, -EBADMSG, "not %s: it does not begin with %.8s", p->what, p->magic);
    if (h.major != BLOCKS_MAJOR)
        return error_set(e, -ENOTSUP, "byte 8: the recording has version %u.%u, this program reads %u",
                         h.major, h.minor, BLOCKS_MAJOR);
    if (h.meta_size > size - sizeof(h))
        return error_set(e, -EBADMSG,
                         "the file is cut at byte %zu, inside its header, or its size at byte 12 is damaged",
                         size);
    if (!SAME(h.hash, header_hash(&h, b->map + sizeof(h))))
        return error_set(e, -EBADMSG, "the header at bytes 0 to %llu is damaged: its hash differs",
                         (ull)sizeof(h) + h.meta_size - 1);
    b->schema = h.schema;
    b->meta = (const char *)b->map + sizeof(h);
    b->meta_size = h.meta_size;
    if (!load_index(b, sizeof(h) + h.meta_size))
        err = walk(b, p, sizeof(h) + h.meta_size, e);
    if (err)
        blocks_close(b);
    return err;
}

int blocks_open(struct blocks *b, const struct blocks_params *p, const char *path, struct error *e)
{
    const uint8_t *map;
    size_t size;
    int err = in_file_map(path, &map, &size, e);

    *b = (struct blocks){0};
    if (err)
        return err;
    if ((err = blocks_open_memory(b, p, map, size, e))) {
        munmap((void *)(uintptr_t)map, size);
        error_prefix(e, "%s", path);
        *b = (struct blocks){0};
        return err;
    }
    b->mapped = true;
    return 0;
}

void blocks_close(struct blocks *b)
{
    free(b->list);
    if (b->mapped)
        munmap((void *)(uintptr_t)b->map, b->size);
    *b = (struct blocks){0};
}

/* Block `i`, if it is what the index says of it. */
static int listed_block(const struct blocks *b, uint32_t i, struct blocks_block *h, struct error *e)
{
    int err = whole_block(b, b->list[i].offset, h, e);
    struct block now;

    if (err)
        return err;
    now = entry_of(h, b->list[i].offset);
    return memcmp(&now, &b->list[i], sizeof(now)) == 0
               ? 0
               : error_set(e, -EBADMSG, "the block at byte %llu is another than the index says",
                           (ull)now.offset);
}

int blocks_unpack(const struct blocks *b, uint32_t i, void *z, void *out, size_t room, size_t *n,
                  struct error *e)
{
    const uint64_t at = b->list[i].offset;
    struct blocks_block h;
    int err = listed_block(b, i, &h, e);
    const uint8_t *p = b->map + at + sizeof(h);

    INVARIANT(i < b->num);
    if (err)
        return err;
    *n = z ? ZSTD_decompressDCtx(z, out, room, p, h.packed) : ZSTD_decompress(out, room, p, h.packed);
    return ZSTD_isError(*n) ? error_set(e, -EBADMSG, "the block at byte %llu does not unpack: %s", (ull)at,
                                        ZSTD_getErrorName(*n))
                            : 0;
}

int blocks_verify(const struct blocks *b, struct error *e)
{
    struct blocks_block h;
    int err = *b->damage ? error_set(e, -EBADMSG, "%s", b->damage) : 0;

    for (uint32_t i = 0; i < b->num && !err; i++)
        err = listed_block(b, i, &h, e);
    return err;
}

/* ---- writing ------------------------------------------------------------- */

struct blocks_writer {
    int fd;
    char *path;
    bool hidden; /* it gets its name when it is whole */
    void *head;  /* header and meta, until they are written: the file still holds what it held */
    size_t head_size;
    ZSTD_CCtx *z;
    uint8_t *packed, *other;
    size_t packed_room, other_room;
    struct block *list;
    uint32_t num;
    size_t room;
    uint64_t size;
    struct error failed;
};

static void writer_check(const struct blocks_writer *w)
{
    INVARIANT(w->fd >= 0 && w->z && w->path);
    INVARIANT(w->num <= w->room);
    INVARIANT(!w->num ||
              w->list[w->num - 1].offset < w->size); // of a block that is written, or being written
    INVARIANT(w->num < 2 || w->list[w->num - 2].offset < w->list[w->num - 1].offset);
    INVARIANT(w->failed.code || w->size >= sizeof(struct blocks_header));
}

static int write_all(struct blocks_writer *w, struct iovec *v, int n)
{
    while (n) {
        ssize_t k = writev(w->fd, v, n);

        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return error_set(&w->failed, -EIO, "%s: cannot be written at byte %llu: %s", w->path,
                             (ull)w->size, strerror(errno));
        w->size += (uint64_t)k;
        while (n && (size_t)k >= v->iov_len) {
            k -= (ssize_t)v->iov_len;
            v++;
            n--;
        }
        if (n) {
            v->iov_base = (uint8_t *)v->iov_base + k;
            v->iov_len -= (size_t)k;
        }
    }
    return 0;
}

static void writer_free(struct blocks_writer *w)
{
    ZSTD_freeCCtx(w->z);
    free(w->packed);
    free(w->other);
    free(w->list);
    free(w->path);
    free(w->head);
    free(w);
}

/* Opens the file for this writer alone; what is none (/dev/null, a pipe) is for any number. */
static int open_alone(struct blocks_writer *w, const char *path, bool hidden, struct error *e)
{
    struct stat st = {0};
    int err = 0;

    w->fd = hidden ? out_file_hidden(path, e) : out_file_descriptor(path, e);
    if (w->fd < 0)
        return w->fd;
    fstat(w->fd, &st);
    if (S_ISREG(st.st_mode) && flock(w->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        err = error_set(e, -EBUSY, "%s: another recording is being written to it", path);
    if (err)
        close(w->fd);
    return err;
}

int blocks_writer_begin(struct blocks_writer *w, struct error *e)
{
    struct iovec v = {w->head, w->head_size};
    struct stat st;

    if (w->head) {
        if (!fstat(w->fd, &st) && S_ISREG(st.st_mode) && ftruncate(w->fd, 0))
            error_set(&w->failed, -errno, "%s: %s", w->path, strerror(errno));
        else
            write_all(w, &v, 1);
        free(w->head);
        w->head = NULL;
    }
    return blocks_writer_failed(w, e);
}

static int claim(struct blocks_writer **out, const char *magic, uint64_t schema, const char *meta, int level,
                 const char *path, bool hidden, struct error *e)
{
    struct blocks_header h = {
        .major = BLOCKS_MAJOR, .minor = BLOCKS_MINOR, .meta_size = (uint32_t)strlen(meta), .schema = schema};
    struct blocks_writer *w = calloc(1, sizeof(*w));
    int err;

    memcpy(h.magic, magic, 8);
    h.hash = header_hash(&h, meta);
    if (!w)
        return error_set(e, -ENOMEM, "out of memory");
    w->path = strdup(path);
    w->z = ZSTD_createCCtx();
    w->head_size = sizeof(h) + h.meta_size;
    w->head = malloc(w->head_size);
    err = !w->path || !w->z || !w->head ? error_set(e, -ENOMEM, "out of memory")
                                        : open_alone(w, path, hidden, e);
    if (err) {
        writer_free(w);
        return err;
    }
    memcpy(mempcpy(w->head, &h, sizeof(h)), meta, h.meta_size);
    ZSTD_CCtx_setParameter(w->z, ZSTD_c_compressionLevel, level);
    w->hidden = hidden;
    *out = w;
    return 0;
}

static int create(struct blocks_writer **out, const char *magic, uint64_t schema, const char *meta, int level,
                  const char *path, bool hidden, struct error *e)
{
    struct blocks_writer *w;
    int err = claim(&w, magic, schema, meta, level, path, hidden, e);

    if (!err && (err = blocks_writer_begin(w, e)))
        blocks_writer_abandon(w);
    else if (!err)
        *out = w;
    return err;
}

int blocks_writer_claim(struct blocks_writer **out, const char *magic, uint64_t schema, const char *meta,
                        int level, const char *path, struct error *e)
{
    struct blocks_writer *w;
    int err = claim(&w, magic, schema, meta, level, path, false, e);
    struct stat st;

    if (!err && (fstat(w->fd, &st) || !st.st_size) && (err = blocks_writer_begin(w, e)))
        blocks_writer_abandon(w);
    else if (!err)
        *out = w;
    return err;
}

int blocks_writer_create(struct blocks_writer **out, const char *magic, uint64_t schema, const char *meta,
                         int level, const char *path, struct error *e)
{
    return create(out, magic, schema, meta, level, path, false, e);
}

int blocks_writer_create_hidden(struct blocks_writer **out, const char *magic, uint64_t schema,
                                const char *meta, int level, const char *path, struct error *e)
{
    return create(out, magic, schema, meta, level, path, true, e);
}

/* Takes over what `path` holds, up to the end of its last whole block. */
static int take_over(struct blocks_writer *w, const char *magic, uint64_t schema, struct error *e)
{
    struct blocks_params p = {.magic = magic, .what = "such a recording"};
    struct blocks_header h;
    struct blocks b;
    struct stat st;
    int err = 0;

    w->fd = open(w->path, O_RDWR | O_CLOEXEC);
    if (w->fd < 0)
        return error_set(e, -errno, "%s: %s", w->path, strerror(errno));
    if (flock(w->fd, LOCK_EX | LOCK_NB) || fstat(w->fd, &st) || !S_ISREG(st.st_mode))
        return error_set(e, -EBUSY, "%s: it is being written", w->path);
    if ((err = blocks_open(&b, &p, w->path, e)))
        return err;
    if (!*b.damage || b.schema != schema) {
        err = error_set(e, -EBADMSG, "%s: there is nothing to add to it", w->path);
    } else {
        w->size = sizeof(h) + b.meta_size;
        if (b.num)
            w->size = b.list[b.num - 1].offset + sizeof(struct blocks_block) + b.list[b.num - 1].packed;
        w->list = b.list;
        w->num = b.num;
        w->room = b.num;
        b.list = NULL;
    }
    blocks_close(&b);
    if (!err && (ftruncate(w->fd, (off_t)w->size) || lseek(w->fd, (off_t)w->size, SEEK_SET) < 0))
        err = error_set(e, -errno, "%s: %s", w->path, strerror(errno));
    return err;
}

int blocks_writer_resume(struct blocks_writer **out, const char *magic, uint64_t schema, int level,
                         const char *path, struct error *e)
{
    struct blocks_writer *w = calloc(1, sizeof(*w));
    int err;

    if (!w)
        return error_set(e, -ENOMEM, "out of memory");
    w->fd = -1;
    w->path = strdup(path);
    w->z = ZSTD_createCCtx();
    err = !w->path || !w->z ? error_set(e, -ENOMEM, "out of memory") : take_over(w, magic, schema, e);
    if (err) {
        if (w->fd >= 0)
            close(w->fd);
        writer_free(w);
        return err;
    }
    ZSTD_CCtx_setParameter(w->z, ZSTD_c_compressionLevel, level);
    *out = w;
    return 0;
}

/* Packs into *to, which grows. The size, or 0: there is no memory. */
static size_t pack(struct blocks_writer *w, uint8_t **to, size_t *room, const void *raw, size_t size)
{
    size_t bound = ZSTD_compressBound(size), n;

    if (bound > *room) {
        uint8_t *p = realloc(*to, bound);

        if (!p)
            return 0;
        *to = p;
        *room = bound;
    }
    n = ZSTD_compress2(w->z, *to, *room, raw, size);
    return ZSTD_isError(n) ? 0 : n;
}

/* Appends the header and `n` packed bytes with one call. */
static int append(struct blocks_writer *w, const struct block *b, size_t raw, const uint8_t *packed, size_t n)
{
    struct blocks_block h = {.magic = BLOCKS_MAGIC,
                             .kind = b->kind,
                             .flags = b->flags,
                             .stream = b->stream,
                             .raw = (uint32_t)raw,
                             .packed = (uint32_t)n,
                             .first = b->first,
                             .frame = b->frame,
                             .hash = XXH3_64bits(packed, n)};
    struct iovec v[2] = {{&h, sizeof(h)}, {(void *)(uintptr_t)packed, n}};

    h.check = block_check(&h, w->size);
    if (b->kind != BLOCKS_INDEX)
        w->list[w->num++] = entry_of(&h, w->size);
    return write_all(w, v, 2);
}

int blocks_writer_put(struct blocks_writer *w, const struct block *b, const void *raw, size_t size,
                      const void *others, size_t num_others, uint8_t flag, struct error *e)
{
    struct block x = *b;
    const uint8_t *bytes;
    size_t n, m;

    blocks_writer_begin(w, NULL);
    writer_check(w);
    if (w->failed.code)
        return error_set(e, w->failed.code, "%s", w->failed.text);
    if (size > BLOCKS_MAX_RAW) {
        error_set(&w->failed, -EFBIG, "%s: a block of %zu bytes is too large", w->path, size);
    } else if ((b->kind != BLOCKS_INDEX && array_reserve(w->list, w->room, w->num + 1)) ||
               !(n = pack(w, &w->packed, &w->packed_room, raw, size))) {
        error_set(&w->failed, -ENOMEM, "%s: no memory for a block of %zu bytes", w->path, size);
    } else {
        bytes = w->packed;
        m = num_others ? pack(w, &w->other, &w->other_room, others, num_others) : 0;
        if (m && m < n) {
            bytes = w->other;
            n = m;
            x.flags |= flag;
        }
        append(w, &x, size, bytes, n);
    }
    return blocks_writer_failed(w, e);
}

uint64_t blocks_writer_size(const struct blocks_writer *w)
{
    return w->size;
}

int blocks_writer_failed(const struct blocks_writer *w, struct error *e)
{
    return w->failed.code ? error_set(e, w->failed.code, "%s", w->failed.text) : 0;
}

int blocks_writer_finish(struct blocks_writer *w, uint64_t features, struct error *e)
{
    const struct block b = {.kind = BLOCKS_INDEX, .first = features};
    struct blocks_tail tail = {0};
    struct iovec v = {&tail, sizeof(tail)};
    int err;

    blocks_writer_begin(w, NULL);
    tail.index_offset = w->size;
    tail.check = tail_check(&tail);
    if (!blocks_writer_put(w, &b, w->list, w->num * sizeof(*w->list), NULL, 0, 0, NULL))
        write_all(w, &v, 1);
    if (w->hidden && !w->failed.code)
        out_file_name(w->fd, w->path, &w->failed);
    if (close(w->fd))
        error_set(&w->failed, -EIO, "%s: cannot be written: %s", w->path, strerror(errno));
    err = blocks_writer_failed(w, e);
    writer_free(w);
    return err;
}

void blocks_writer_abandon(struct blocks_writer *w)
{
    struct stat st;

    if (!w->head && !fstat(w->fd, &st) && st.st_nlink)
        out_file_discard(w->path);
    close(w->fd);
    writer_free(w);
}
