/* SPDX-License-Identifier: MIT */
/* writer.h: writes an .aerogputrace recording while it happens.
 *
 *   create ──▶ [begin_frame ──▶ [blob | packet | submission]* ──▶ present or end_frame]* ──▶ finish
 *
 * Invariants:
 *  1. Bytes go out in order and are never changed, so that what was written before a crash can be salvaged.
 *  2. The same calls write the same bytes.
 *  3. After a failed write every further call fails with the same error, and finish() says so.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/format.h"

struct trace_writer;

struct trace_writer_params {
    const char *path;           /* created or replaced */
    uint32_t container_version; /* 0: the newest */
    uint32_t command_abi;       /* of the streams: AEROGPU_ABI_VERSION_U32 */
    const char *producer;       /* who records: the metadata's emulator_version */
    const char *notes;          /* NULL or a sentence for the metadata */
};

int trace_writer_create(struct trace_writer **out, const struct trace_writer_params *p, struct error *e);

/* Frame numbers must rise. A frame that is open is an error (-EBUSY), as is a stream outside of one (-EPROTO). */
int trace_writer_begin_frame(struct trace_writer *w, uint32_t index, struct error *e);
int trace_writer_present(struct trace_writer *w, struct error *e);
int trace_writer_end_frame(struct trace_writer *w, struct error *e); /* it did not present */

/* Blobs are numbered 1, 2, 3…. */
int trace_writer_blob(struct trace_writer *w, uint32_t kind, const void *data, size_t size, uint64_t *id,
                      struct error *e);
int trace_writer_packet(struct trace_writer *w, const void *data, size_t size, struct error *e);

/* Container version 2 (-EPROTONOSUPPORT otherwise); its blobs have been written. */
int trace_writer_submission(struct trace_writer *w, const struct trace_submission *s, struct error *e);

/* Hands what was written to the system, so that a crash of this process keeps it. */
int trace_writer_flush(struct trace_writer *w, struct error *e);

/* Ends an open frame, writes index and footer, closes the file and frees the writer, also on error. */
int trace_writer_finish(struct trace_writer *w, struct error *e);

/* Closes and frees without index and footer: the file says that it was never finished. NULL is legal. */
void trace_writer_abandon(struct trace_writer *w);
