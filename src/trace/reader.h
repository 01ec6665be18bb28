/* SPDX-License-Identifier: MIT */
/* reader.h: reads an .aerogputrace recording record by record, in a file of any size.
 *
 *   trace_reader_open ──▶ [next ──▶ record]* ──▶ 0 at the end, or one error that stays
 *                              └─▶ trace_reader_load: the bytes of a packet or blob, on demand
 *
 * Invariants:
 *  1. Nothing of the file is held in memory but the frame index, where blobs lie, and what load() was asked for.
 *  2. Every length is checked against the file before memory is reserved for it.
 *  3. An error names the file offset and the field. Records before it have been delivered; after it every
 * call to next() gives the same error.
 *  4. Frame index and records agree: a BeginFrame or Present that the index does not name, or names
 * elsewhere, is an error, and so are streams outside of every frame.
 *
 * What is refused, where the format leaves room: unknown record types, blob kinds and flags (they may change
 * what follows), reserved fields that are not 0, ids given twice, and blobs used before they appear. What is
 * accepted: frame numbers with gaps, blobs between frames, longer submission headers, metadata without the
 * recommended members (see trace_reader_warning). The command ABI is not looked at here: whoever plays the
 * commands judges it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/blob_index.h"
#include "trace/format.h"

struct trace_reader;

struct trace_reader_params {
    const char *path; /* a regular file, or NULL to read `data` */
    const void *data; /* `size` bytes that outlive the reader */
    size_t size;
    /* Opens a file whose index or footer is missing or wrong: next() then delivers the records that can be
     * read and ends with the error that open() would have given. */
    bool salvage;
};

struct trace_info {
    uint32_t container_version, command_abi;
    const char *meta; /* JSON, meta_len bytes and a NUL */
    uint32_t meta_len;
    uint64_t file_size;
    uint64_t records_start, records_end; /* file offsets */
    const struct trace_frame *frames;    /* NULL if salvaged without an index */
    uint32_t num_frames;
    bool salvaged;       /* index and footer are not usable */
    const char *warning; /* "" or what is odd about the metadata */
};

struct trace_record {
    enum trace_record_type type;
    uint64_t offset; /* of the record's header in the file */
    uint32_t payload_len;
    uint32_t frame; /* index of the frame that it belongs to; UINT32_MAX if none */
    union {
        struct trace_blob blob; /* TRACE_BLOB */
        struct {                /* TRACE_PACKET */
            uint64_t offset;    /* of its bytes; payload_len is their number */
        } packet;
        struct trace_submission
            submission; /* TRACE_SUBMISSION; ranges are valid until the next call of next() */
    };
};

/* Memory that load() fills and grows. Zero-initialised is empty; free it with trace_buffer_finish. */
struct trace_buffer {
    uint8_t *data;
    size_t size, capacity;
};

void trace_buffer_finish(struct trace_buffer *b);

/* 0, or: -errno of the system, -EBADMSG malformed, -ENODATA cut short, -EPROTONOSUPPORT a version that is not known. */
int trace_reader_open(struct trace_reader **out, const struct trace_reader_params *p, struct error *e);
void trace_reader_destroy(struct trace_reader *r);
const struct trace_info *trace_reader_info(const struct trace_reader *r);

/* The next record: 1, 0 at the end of the records, or the error. */
int trace_reader_next(struct trace_reader *r, struct trace_record *record, struct error *e);

/* Goes on with the BeginFrame of frame `index`: what lies before is skimmed, so that its blobs are known.
 * -ENOENT if there is no such frame. */
int trace_reader_seek_frame(struct trace_reader *r, uint32_t index, struct error *e);

/* Starts over. */
void trace_reader_rewind(struct trace_reader *r);

/* A blob that has been passed. `kind` is what it must be; `user` says in the error who wants it
 * ("offset 0x154: Submission.cmd_stream_blob_id"). -ENOENT or -EBADMSG. */
int trace_reader_find_blob(struct trace_reader *r, uint64_t id, uint32_t kind, const char *user,
                           struct trace_blob *blob, struct error *e);

/* Reads `size` bytes at `offset` of the file into `b`. */
int trace_reader_load(struct trace_reader *r, uint64_t offset, uint32_t size, struct trace_buffer *b,
                      struct error *e);
