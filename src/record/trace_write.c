/* SPDX-License-Identifier: MIT */
/* trace_write.c: the writing half of trace_file.h. */
#include "record/trace_file.h"

#include <errno.h>
#include <stdlib.h>

#include "record/trace_split.h"

#define ZSTD_LEVEL 6

struct trc_writer {
    const struct api *api;
    struct blocks_writer *blocks;
    uint8_t *split;
    size_t split_room;
    uint64_t features;
};

/* Without `meta` it goes on with a file that is there. */
static int open_writer(struct trc_writer **out, const struct api *api, const char *path, const char *meta,
                       bool hidden, struct error *e)
{
    struct trc_writer *w = calloc(1, sizeof(*w));
    int err =
        !w       ? error_set(e, -ENOMEM, "out of memory")
        : hidden ? blocks_writer_create_hidden(&w->blocks, api->magic, api->schema, meta, ZSTD_LEVEL, path, e)
        : meta   ? blocks_writer_claim(&w->blocks, api->magic, api->schema, meta, ZSTD_LEVEL, path, e)
                 : blocks_writer_resume(&w->blocks, api->magic, api->schema, ZSTD_LEVEL, path, e);

    if (err) {
        free(w);
        return err;
    }
    w->api = api;
    *out = w;
    return 0;
}

int trc_writer_create(struct trc_writer **out, const struct api *api, const char *path, const char *meta,
                      struct error *e)
{
    return open_writer(out, api, path, meta, false, e);
}

int trc_writer_create_hidden(struct trc_writer **out, const struct api *api, const char *path,
                             const char *meta, struct error *e)
{
    return open_writer(out, api, path, meta, true, e);
}

int trc_writer_resume(struct trc_writer **out, const struct api *api, const char *path, struct error *e)
{
    return open_writer(out, api, path, NULL, false, e);
}

int trc_writer_begin(struct trc_writer *w, struct error *e)
{
    return blocks_writer_begin(w->blocks, e);
}

uint64_t trc_writer_size(const struct trc_writer *w)
{
    return blocks_writer_size(w->blocks);
}

/* The block in its other order: how many bytes, or 0. */
static size_t split(struct trc_writer *w, const void *raw, size_t size)
{
    if (SPLIT_BOUND(size) > w->split_room) {
        uint8_t *p = realloc(w->split, SPLIT_BOUND(size));

        if (!p)
            return 0;
        w->split = p;
        w->split_room = SPLIT_BOUND(size);
    }
    return split_block(w->api, raw, size, w->split);
}

int trc_writer_block(struct trc_writer *w, const struct block *b, const void *raw, size_t size,
                     struct error *e)
{
    size_t n = b->kind != TRC_BLOBS && !(b->flags & TRC_PARTIAL) ? split(w, raw, size) : 0;

    return blocks_writer_put(w->blocks, b, raw, size, w->split, n, TRC_SPLIT, e);
}

void trc_writer_abandon(struct trc_writer *w)
{
    blocks_writer_abandon(w->blocks);
    free(w->split);
    free(w);
}

int trc_writer_finish(struct trc_writer *w, struct error *e)
{
    int err = blocks_writer_finish(w->blocks, w->features, e);

    free(w->split);
    free(w);
    return err;
}

void trc_writer_features(struct trc_writer *w, uint64_t features)
{
    w->features = features;
}
