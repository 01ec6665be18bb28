/* SPDX-License-Identifier: MIT */
/* blocks.h: the container of recordings. Little-endian throughout.
 *
 *   file    = struct blocks_header, `meta_size` bytes of JSON, block*, index
 *   block   = struct blocks_block, then `packed` bytes of zstd, a frame of its own
 *   index   = a block of kind BLOCKS_INDEX with a struct block for each of the others, then struct blocks_tail: the last
 *             16 bytes. Lost with the end of the file; a walk over the headers of blocks makes it again.
 *
 * Invariants:
 *  1. Each byte is under a checksum (XXH3-64), and each checksum knows where it stands: a bit that is wrong, and a block that
 *     stands elsewhere, are found by what reads them.
 *  2. A block is independent, and written with one call: a writer that is killed leaves a file that reads up to its last
 *     whole block.
 *  3. An index is used only if it covers the file: block behind block, from the header to itself.
 *  4. What is wrong with a file has one sentence, which names the byte.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { BLOCKS_MAJOR = 2, BLOCKS_MINOR = 0, BLOCKS_INDEX = 0xff, BLOCKS_MAX_RAW = 1 << 26 };

#define BLOCKS_MAGIC 0x4b4c4241u /* "ABLK" */

struct blocks_header {
    char magic[8]; /* of the kind of recording */
    uint16_t major, minor;
    uint32_t meta_size;
    uint64_t schema; /* of the tables that the blocks were written with; 0: they need none */
    uint64_t hash;   /* of the bytes before, with that of the meta as its seed */
};

struct blocks_block {
    uint32_t magic;
    uint8_t kind, flags; /* the user's */
    uint16_t stream;     /* a thread or a processor */
    uint32_t raw, packed;
    uint64_t first; /* a number or a time: where the block begins */
    uint32_t frame, reserved;
    uint64_t hash;  /* of the packed bytes */
    uint64_t check; /* of the bytes before, with the block's offset as its seed */
};

struct blocks_tail {
    uint64_t index_offset;
    uint64_t check; /* of that, with the magic as its seed */
};

struct block {       /* as it stands in the index */
    uint64_t offset; /* of its header in the file */
    uint64_t first;
    uint32_t raw, packed; /* sizes of its content as the user counts it, and in the file */
    uint32_t frame;
    uint16_t stream;
    uint8_t kind, flags;
};

/* ---- reading ------------------------------------------------------------- */

struct blocks_params {
    const char *magic; /* eight bytes */
    const char *what;  /* "a recording of processors", in sentences */
    bool resume;       /* behind damage: go on at the next block, instead of ending there */
    /* Called for all that is wrong with the file, while it is opened; or NULL. */
    void (*damaged)(void *ctx, const char *what);
    void *ctx;
};

struct blocks {
    const uint8_t *map;
    size_t size;
    bool mapped;
    uint64_t schema;
    uint64_t features; /* what the writer said at the end; 0: nobody knows */
    const char *meta;  /* in the file: not terminated */
    uint32_t meta_size;
    struct block *list;
    uint32_t num;
    char damage[300]; /* the first thing that is wrong; "": nothing is, as far as headers and index say */
};

/* The file stays mapped until blocks_close(). 0, -EBADMSG, or -ENOTSUP: another version. */
int blocks_open(struct blocks *b, const struct blocks_params *p, const char *path, struct error *e);
/* The same over memory that outlives `b`. */
int blocks_open_memory(struct blocks *b, const struct blocks_params *p, const void *data, size_t size,
                       struct error *e);
void blocks_close(struct blocks *b);

/* Unpacks block `i` into `out`, which has room for `room` bytes: *n of them. `z` is a ZSTD_DCtx or NULL. 0; or -EBADMSG: it is
 * damaged, or does not fit. */
int blocks_unpack(const struct blocks *b, uint32_t i, void *z, void *out, size_t room, size_t *n,
                  struct error *e);
/* Whether every block is what was written, without unpacking them: 0, or -EBADMSG for `damage` or the first that is not. */
int blocks_verify(const struct blocks *b, struct error *e);

/* ---- writing ------------------------------------------------------------- */

struct blocks_writer;

/* Creates the file for this writer alone: what another one is writing stays as it is. 0, -EIO or -EEXIST (base/file/out.h),
 * -EBUSY: another writer has it. */
int blocks_writer_create(struct blocks_writer **out, const char *magic, uint64_t schema, const char *meta,
                         int level, const char *path, struct error *e);
/* The same of a file that is there once it is finished (out_file_hidden()). */
int blocks_writer_create_hidden(struct blocks_writer **out, const char *magic, uint64_t schema,
                                const char *meta, int level, const char *path, struct error *e);
/* As blocks_writer_create(), but what the file holds stays there until blocks_writer_begin(), or the first block. */
int blocks_writer_claim(struct blocks_writer **out, const char *magic, uint64_t schema, const char *meta,
                        int level, const char *path, struct error *e);
/* From now on the file is the new one, if it is not yet. 0, or what the first failure was. */
int blocks_writer_begin(struct blocks_writer *w, struct error *e);
/* Frees it without finishing; a file that is there is discarded, if it was begun. */
void blocks_writer_abandon(struct blocks_writer *w);
/* Opens a file whose writer was killed, for this writer alone, and goes on behind its last whole block. 0, -EBADMSG: it is none or has
 * its index, -ENOTSUP, -EBUSY, or what opening it says. */
int blocks_writer_resume(struct blocks_writer **out, const char *magic, uint64_t schema, int level,
                         const char *path, struct error *e);
/* Appends a block of `size` bytes; `b` says all but sizes and offset. If there are `others`, the same content in another order
 * as `num_others` bytes, the smaller one is written; `flag` says that it was these. The first failure is that of all calls
 * that follow. */
int blocks_writer_put(struct blocks_writer *w, const struct block *b, const void *raw, size_t size,
                      const void *others, size_t num_others, uint8_t flag, struct error *e);
/* Bytes of the file until now; 0: it is not begun. */
uint64_t blocks_writer_size(const struct blocks_writer *w);
/* 0, or what the first failure was, with its words. */
int blocks_writer_failed(const struct blocks_writer *w, struct error *e);
/* Appends the index, closes and frees. Returns the first failure, if there was one. */
int blocks_writer_finish(struct blocks_writer *w, uint64_t features, struct error *e);
