/* SPDX-License-Identifier: MIT */
/* trace_write.c: the writing half of trace_file.h. */
#include "record/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/array.h"
#include "base/check.h"
#include "base/out_file.h"
#include "record/trace_split.h"

#define ZSTD_LEVEL 6

struct trc_writer {
    const struct api *api;
    FILE *f;
    char *path;
    ZSTD_CCtx *z;
    uint8_t *packed, *other, *split;
    size_t packed_cap, split_cap;
    struct trc_index_entry *index;
    uint32_t num;
    size_t cap;
    uint64_t size, features;
};

static void writer_check(const struct trc_writer *w)
{
    INVARIANT(w->f && w->z && w->path);
    INVARIANT(w->num <= w->cap);
    INVARIANT(!w->num || w->index[w->num - 1].offset <
                             w->size); // an entry is of a block that is written, or being written
    INVARIANT(w->num < 2 || w->index[w->num - 2].offset < w->index[w->num - 1].offset);
    INVARIANT(w->size >= sizeof(struct trc_header));
    INVARIANT(!w->packed_cap || w->packed);
    INVARIANT(!w->split_cap || (w->split && w->other));
}

static int put(struct trc_writer *w, const void *p, size_t n, struct error *e)
{
    if (fwrite(p, 1, n, w->f) != n)
        return error_set(e, -EIO, "%s: cannot be written at byte %llu: %s", w->path,
                         (unsigned long long)w->size, strerror(errno));
    w->size += n;
    return 0;
}

/* Opens the file for this writer alone: what another one is writing stays as it is. */
static int open_alone(struct trc_writer *w, const char *path, struct error *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    struct stat st;

    if (fd < 0)
        return error_set(e, -errno, "%s: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        close(fd);
        return error_set(e, -EBUSY, "%s: another recording is being written to it", path);
    }
    if ((!fstat(fd, &st) && S_ISREG(st.st_mode) && ftruncate(fd, 0)) || !(w->f = fdopen(fd, "w"))) {
        int err = -errno;

        close(fd);
        return error_set(e, err, "%s: %s", path, strerror(-err));
    }
    return 0;
}

int trc_writer_create(struct trc_writer **out, const struct api *api, const char *path, const char *meta,
                      struct error *e)
{
    struct trc_header h = {.major = TRC_MAJOR, .minor = TRC_MINOR, .schema = api->schema};
    struct trc_writer *w = calloc(1, sizeof(*w));
    int err;

    memcpy(h.magic, api->magic, 8);
    h.meta_size = (uint32_t)strlen(meta);
    if (!w)
        return error_set(e, -ENOMEM, "out of memory");
    w->api = api;
    w->path = strdup(path);
    w->z = ZSTD_createCCtx();
    if (!w->path || !w->z) {
        err = error_set(e, -ENOMEM, "out of memory");
        goto fail;
    }
    ZSTD_CCtx_setParameter(w->z, ZSTD_c_compressionLevel, ZSTD_LEVEL);
    if ((err = open_alone(w, path, e)))
        goto fail;
    if ((err = put(w, &h, sizeof(h), e)) || (err = put(w, meta, h.meta_size, e)))
        goto fail;
    fflush(w->f);
    *out = w;
    return 0;
fail:
    if (w->f)
        out_file_close(w->f, path, err, e);
    ZSTD_freeCCtx(w->z);
    free(w->path);
    free(w);
    return err;
}

static int remember(struct trc_writer *w, const struct trc_block *b, struct error *e)
{
    if (array_reserve(w->index, w->cap, w->num + 1))
        return error_set(e, -ENOMEM, "out of memory");
    w->index[w->num++] = (struct trc_index_entry){
        .offset = w->size,
        .first_seq = b->first_seq,
        .raw = b->raw,
        .frame = b->frame,
        .thread = b->thread,
        .kind = b->kind,
        .flags = b->flags,
        .packed = b->packed,
    };
    return 0;
}

/* Packs the block in its other order as well; returns the size if that is smaller, with the bytes in `packed`. */
static size_t pack_split(struct trc_writer *w, const void *raw, size_t size, size_t plain)
{
    size_t cap = SPLIT_BOUND(size), n;
    uint8_t *p;

    if (cap > w->split_cap) {
        p = realloc(w->split, cap);
        if (!p)
            return 0;
        w->split = p;
        p = realloc(w->other, ZSTD_compressBound(cap));
        if (!p)
            return 0;
        w->other = p;
        w->split_cap = cap;
    }
    n = split_block(w->api, raw, size, w->split);
    if (!n)
        return 0;
    n = ZSTD_compress2(w->z, w->other, ZSTD_compressBound(cap), w->split, n);
    if (ZSTD_isError(n) || n >= plain)
        return 0;
    memcpy(w->packed, w->other, n);
    return n;
}

int trc_writer_block(struct trc_writer *w, const struct trc_block *b, const void *raw, size_t size,
                     struct error *e)
{
    struct trc_block h = *b;
    size_t bound = ZSTD_compressBound(size), n;
    int err;

    writer_check(w);
    if (bound > w->packed_cap) {
        uint8_t *p = realloc(w->packed, bound);

        if (!p)
            return error_set(e, -ENOMEM, "out of memory");
        w->packed = p;
        w->packed_cap = bound;
    }
    n = ZSTD_compress2(w->z, w->packed, w->packed_cap, raw, size);
    if (ZSTD_isError(n))
        return error_set(e, -EIO, "zstd: %s", ZSTD_getErrorName(n));
    if (h.kind == TRC_CALLS && !(h.flags & TRC_PARTIAL)) {
        size_t other = pack_split(w, raw, size, n);

        if (other) {
            n = other;
            h.flags |= TRC_SPLIT;
        }
    }
    h.magic = TRC_BLOCK_MAGIC;
    h.raw = (uint32_t)size;
    h.packed = (uint32_t)n;
    h.hash = XXH3_64bits(w->packed, n);
    if (h.kind != TRC_INDEX && (err = remember(w, &h, e)))
        return err;
    if ((err = put(w, &h, sizeof(h), e)) || (err = put(w, w->packed, n, e)))
        return err;
    if (fflush(w->f))
        return error_set(e, -EIO, "%s: cannot be written: %s", w->path, strerror(errno));
    writer_check(w);
    return 0;
}

int trc_writer_finish(struct trc_writer *w, struct error *e)
{
    struct trc_tail tail = {.index_offset = w->size, .features = w->features, .magic = TRC_TAIL_MAGIC};
    struct trc_block b = {.kind = TRC_INDEX};
    int err = trc_writer_block(w, &b, w->index, w->num * sizeof(*w->index), e);

    if (!err)
        err = put(w, &tail, sizeof(tail), e);
    if (fclose(w->f) && !err)
        err = error_set(e, -EIO, "%s: cannot be written: %s", w->path, strerror(errno));
    ZSTD_freeCCtx(w->z);
    free(w->packed);
    free(w->other);
    free(w->split);
    free(w->index);
    free(w->path);
    free(w);
    return err;
}

void trc_writer_features(struct trc_writer *w, uint64_t features)
{
    w->features = features;
}
