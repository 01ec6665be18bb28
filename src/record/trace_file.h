/* SPDX-License-Identifier: MIT */
/* trace_file.h: writing and reading recordings of calls (blocks.h has the container, wire.h what is in the blocks).
 *
 * The reader checks every block before it is used and every record before it is handed out: a consumer decodes only
 * bytes that the tables say are well formed. The first thing that is wrong ends the walk with an error that names block,
 * offset and call; calls before it stay readable.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/api.h"
#include "record/blocks.h"
#include "record/wire.h"

struct trc_writer;

/* Creates `path`, whose content stays until trc_writer_begin() or the first block (blocks_writer_claim()); `meta` is a JSON object. 0 or a
 * negative errno. */
int trc_writer_create(struct trc_writer **out, const struct api *api, const char *path, const char *meta,
                      struct error *e);
int trc_writer_begin(struct trc_writer *w, struct error *e);
/* The same of a file that is there once it is finished; trc_writer_abandon(): it never is. */
int trc_writer_create_hidden(struct trc_writer **out, const struct api *api, const char *path,
                             const char *meta, struct error *e);
void trc_writer_abandon(struct trc_writer *w);
/* Goes on behind the last whole block of a file whose writer was killed (blocks_writer_resume()). */
int trc_writer_resume(struct trc_writer **out, const struct api *api, const char *path, struct error *e);
/* Bytes of the file until now; 0: it is not begun. */
uint64_t trc_writer_size(const struct trc_writer *w);
/* Compresses and appends one block; `b` says kind, flags, stream, first and frame. */
int trc_writer_block(struct trc_writer *w, const struct block *b, const void *raw, size_t size,
                     struct error *e);
/* Appends the index, closes and frees. */
int trc_writer_finish(struct trc_writer *w, struct error *e);
/* What trc_features() will say of the file. */
void trc_writer_features(struct trc_writer *w, uint64_t features);

struct trc;

struct trc_call {
    const struct api *api;
    const struct api_method *m;
    uint64_t index;   /* its number, from 0, in the order of the recording */
    uint64_t seq;     /* order number; several calls that took no ticket may share one */
    uint64_t time_ns; /* since the recording began; the last known time of its thread */
    uint32_t thread, frame;
    uint32_t self; /* object number, 0 for entry points */
    uint16_t method;
    bool incomplete;     /* the program died in it: there is no answer */
    const uint8_t *args; /* arguments and answer, valid until the next trc_next() */
    size_t size, args_size;
    uint32_t block;
    uint32_t offset; /* in the unpacked block */
    bool repeated;
};

struct trc_progress { /* the call that is being made, for whoever outlives the player */
    uint64_t index;
    uint32_t block;
    uint16_t method;
    bool incomplete; /* the recorded program died in it */
};

int trc_open(struct trc **out, const struct api *api, const char *path, struct error *e);
/* Reads a whole file image that stays the caller's. */
int trc_open_memory(struct trc **out, const struct api *api, const void *data, size_t size, struct error *e);
void trc_close(struct trc *t);

const struct api *trc_api(const struct trc *t);
const char *trc_meta(const struct trc *t);
/* enum trc_features, as far as the file's end is there to say it. */
uint64_t trc_features(const struct trc *t);
uint32_t trc_num_blocks(const struct trc *t);
const struct block *trc_block(const struct trc *t, uint32_t i);
/* What is wrong with the file's headers, its index, or a blob that was asked for, with the byte: "" if nothing is, as far as it
 * was read. What else there is can be read: all whole blocks of a file that was cut. */
const char *trc_cut(const struct trc *t);
/* Whether every block is what was written: 0, or -EBADMSG for the first that is not, or for trc_cut(). */
int trc_verify(const struct trc *t, struct error *e);

/* The next call: 1, 0 at the end, or a negative errno. */
int trc_next(struct trc *t, struct trc_call *c, struct error *e);
void trc_rewind(struct trc *t);

/* The bytes of blob `number`, valid until the next trc_next(). NULL and *e if there is no such blob. */
const void *trc_blob(struct trc *t, uint64_t number, size_t *size, struct error *e);
/* How many bytes of blobs may be kept in memory (a quarter of the machine's). Before the first trc_blob(). */
void trc_blob_budget(struct trc *t, uint64_t bytes);
