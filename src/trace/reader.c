/* SPDX-License-Identifier: MIT */
/* reader.c: the records of a recording (reader.h has the contract).
 *
 * Where a reader stands:
 *
 *   OUTSIDE ──BeginFrame──▶ IN_FRAME ──▶ the frame's end by the index; without an index: Present ──▶ OUTSIDE
 *      │                        │
 *      └──── end of records ────┴──────▶ END        any error ──▶ FAILED, which stays
 */
#include "trace/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/check.h"
#include "trace/file.h"

#define NO_FRAME UINT32_MAX

struct trace_reader {
    struct trace_file file;
    struct trace_info info;
    char warning[160];
    struct error tail_error; /* why the file had to be salvaged */
    struct blob_index blobs;

    uint64_t pos; /* of the next record */
    bool in_frame;
    uint32_t frame;      /* its index, or that of the last one; NO_FRAME before the first */
    uint32_t next_entry; /* of info.frames: the one that is open is next_entry - 1 */
    bool presented;
    struct error failed; /* what next() goes on saying */

    struct trace_range *ranges;
    size_t max_ranges;
    struct trace_buffer payload;
};

static void reader_check(const struct trace_reader *r)
{
    INVARIANT(r->info.records_start <= r->pos);
    INVARIANT(r->info.records_end <= r->info.file_size);
    INVARIANT(!r->in_frame || r->frame != NO_FRAME);
    INVARIANT(r->next_entry <= r->info.num_frames);
    INVARIANT(!r->info.frames || !r->in_frame || r->next_entry);
    INVARIANT(!r->presented || r->frame != NO_FRAME);
    INVARIANT(r->failed.code <= 0);
}

void trace_buffer_finish(struct trace_buffer *b)
{
    free(b->data);
    *b = (struct trace_buffer){0};
}

int trace_reader_open(struct trace_reader **out, const struct trace_reader_params *p, struct error *e)
{
    struct trace_reader *r = calloc(1, sizeof(*r));
    int rc;

    *out = NULL;
    if (!r)
        return error_set(e, -ENOMEM, "no memory for a trace reader");
    rc = trace_file_open(&r->file, p, e);
    if (rc) {
        free(r);
        return rc;
    }
    rc = trace_read_header(&r->file, &r->info, r->warning, e);
    if (rc)
        goto fail;
    rc = trace_read_tail(&r->file, &r->info, &r->tail_error);
    if (rc) {
        if (!p->salvage || rc == -ENOMEM) {
            error_set(e, rc, "%s", r->tail_error.text);
            goto fail;
        }
        free((void *)r->info.frames);
        r->info.frames = NULL;
        r->info.num_frames = 0;
        r->info.salvaged = true;
    }
    r->info.warning = r->warning;
    trace_reader_rewind(r);
    *out = r;
    return 0;

fail:
    trace_reader_destroy(r);
    return rc;
}

void trace_reader_destroy(struct trace_reader *r)
{
    if (!r)
        return;
    trace_file_close(&r->file);
    free((void *)r->info.meta);
    free((void *)r->info.frames);
    blob_index_finish(&r->blobs);
    trace_buffer_finish(&r->payload);
    free(r->ranges);
    free(r);
}

const struct trace_info *trace_reader_info(const struct trace_reader *r)
{
    return &r->info;
}

void trace_reader_rewind(struct trace_reader *r)
{
    r->pos = r->info.records_start;
    r->in_frame = false;
    r->frame = NO_FRAME;
    r->next_entry = 0;
    r->presented = false;
    error_clear(&r->failed);
}

/* The index's entry of the frame that is open, or NULL if there is no index. */
static const struct trace_frame *open_entry(const struct trace_reader *r)
{
    return r->info.frames ? &r->info.frames[r->next_entry - 1] : NULL;
}

static int begin_frame(struct trace_reader *r, const struct trace_record *rec, uint32_t index,
                       struct error *e)
{
    const struct trace_frame *entry;

    if (index == NO_FRAME)
        return trace_fail(e, -EBADMSG, rec->offset + 8, "BeginFrame.frame_index",
                          "is %" PRIu32 ", which says that there is no frame", index);
    if (r->info.frames) {
        if (r->in_frame || r->next_entry == r->info.num_frames)
            return trace_fail(e, -EBADMSG, rec->offset, "BeginFrame",
                              "the frame index has no frame that begins here");
        entry = &r->info.frames[r->next_entry];
        if (entry->start != rec->offset)
            return trace_fail(e, -EBADMSG, rec->offset, "BeginFrame",
                              "the frame index has frame %" PRIu32 " begin at 0x%" PRIx64, entry->index,
                              entry->start);
        if (entry->index != index)
            return trace_fail(e, -EBADMSG, rec->offset + 8, "BeginFrame.frame_index",
                              "is %" PRIu32 ", the frame index says %" PRIu32, index, entry->index);
        r->next_entry++;
    } else if (r->frame != NO_FRAME && index <= r->frame) {
        return trace_fail(e, -EBADMSG, rec->offset + 8, "BeginFrame.frame_index",
                          "is %" PRIu32 " after %" PRIu32, index, r->frame);
    }
    r->in_frame = true;
    r->frame = index;
    r->presented = false;
    return 0;
}

static int present(struct trace_reader *r, const struct trace_record *rec, uint32_t index, struct error *e)
{
    if (!r->in_frame)
        return trace_fail(e, -EBADMSG, rec->offset, "Present", "stands outside of every frame");
    if (index != r->frame)
        return trace_fail(e, -EBADMSG, rec->offset + 8, "Present.frame_index",
                          "is %" PRIu32 " in frame %" PRIu32, index, r->frame);
    if (r->info.frames && open_entry(r)->present != rec->offset)
        return trace_fail(e, -EBADMSG, rec->offset, "Present",
                          "the frame index has the present of frame %" PRIu32 " at 0x%" PRIx64, index,
                          open_entry(r)->present);
    r->presented = true;
    return 0;
}

/* The frame that the index closes where the next record begins, or that Present closes where there is no index. */
static int close_frame(struct trace_reader *r, const struct trace_record *rec, struct error *e)
{
    const struct trace_frame *entry;

    if (!r->in_frame)
        return 0;
    entry = open_entry(r);
    if (!entry) {
        r->in_frame = !r->presented;
        return 0;
    }
    if (r->pos < entry->end)
        return 0;
    if (r->pos > entry->end)
        return trace_fail(e, -EBADMSG, rec->offset + 4, "record.payload_len",
                          "%" PRIu32 " bytes cross the end of frame %" PRIu32 " at 0x%" PRIx64,
                          rec->payload_len, entry->index, entry->end);
    if (entry->present && !r->presented)
        return trace_fail(e, -EBADMSG, entry->end, "Present",
                          "frame %" PRIu32 " ends without the present that the frame index has at 0x%" PRIx64,
                          entry->index, entry->present);
    r->in_frame = false;
    return 0;
}

static int parse_blob(struct trace_reader *r, struct trace_record *rec, struct error *e)
{
    uint8_t raw[TRACE_BLOB_HEADER_SIZE];
    struct bytes b = bytes_of(raw, sizeof(raw));
    uint64_t payload = rec->offset + TRACE_RECORD_HEADER_SIZE;
    const struct trace_blob *other;
    uint32_t reserved;
    int rc;

    if (rec->payload_len < TRACE_BLOB_HEADER_SIZE)
        return trace_fail(e, -EBADMSG, rec->offset + 4, "record.payload_len",
                          "a Blob needs 16 bytes, this one has %" PRIu32, rec->payload_len);
    rc = trace_file_read(&r->file, payload, raw, sizeof(raw), e);
    if (rc)
        return rc;
    rec->blob.id = bytes_u64(&b);
    rec->blob.kind = bytes_u32(&b);
    reserved = bytes_u32(&b);
    rec->blob.offset = payload + TRACE_BLOB_HEADER_SIZE;
    rec->blob.size = rec->payload_len - TRACE_BLOB_HEADER_SIZE;
    if (!trace_blob_kind_name(rec->blob.kind))
        return trace_fail(e, -EBADMSG, payload + 8, "Blob.kind", "0x%" PRIx32 " is not known",
                          rec->blob.kind);
    if (reserved)
        return trace_fail(e, -EBADMSG, payload + 12, "Blob.reserved", "is 0x%" PRIx32 ", must be 0",
                          reserved);
    rc = blob_index_add(&r->blobs, &rec->blob);
    if (rc == -EEXIST) {
        other = blob_index_find(&r->blobs, rec->blob.id);
        return trace_fail(e, -EBADMSG, payload, "Blob.blob_id",
                          "%" PRIu64 " is already the blob at 0x%" PRIx64, rec->blob.id, other->offset);
    }
    return rc ? error_set(e, rc, "no memory to index blob %" PRIu64, rec->blob.id) : 0;
}

static int parse_ranges(struct trace_reader *r, struct bytes *b, uint64_t payload, uint32_t count,
                        struct error *e)
{
    if (array_reserve(r->ranges, r->max_ranges, count))
        return error_set(e, -ENOMEM, "no memory for %" PRIu32 " memory ranges", count);
    for (uint32_t i = 0; i < count; i++) {
        struct trace_range *range = &r->ranges[i];
        uint64_t at = payload + b->pos;

        range->alloc_id = bytes_u32(b);
        range->flags = bytes_u32(b);
        range->gpa = bytes_u64(b);
        range->size = bytes_u64(b);
        range->blob = bytes_u64(b);
        if (range->size > UINT64_MAX - range->gpa)
            return trace_fail(e, -EBADMSG, at + 16, "Submission.memory_range.size_bytes",
                              "0x%" PRIx64 " bytes at guest address 0x%" PRIx64
                              " pass the end of the address space",
                              range->size, range->gpa);
    }
    return 0;
}

static int parse_submission(struct trace_reader *r, struct trace_record *rec, struct error *e)
{
    uint64_t payload = rec->offset + TRACE_RECORD_HEADER_SIZE;
    struct trace_submission *s = &rec->submission;
    struct bytes b;
    uint32_t version, size, reserved0, reserved1;
    int rc;

    if (r->info.container_version < TRACE_CONTAINER_V2)
        return trace_fail(e, -EBADMSG, rec->offset, "record.record_type",
                          "5 (Submission) does not exist in container version %" PRIu32,
                          r->info.container_version);
    if (rec->payload_len < TRACE_SUBMISSION_SIZE)
        return trace_fail(e, -EBADMSG, rec->offset + 4, "record.payload_len",
                          "a Submission needs 56 bytes, this one has %" PRIu32, rec->payload_len);
    rc = trace_reader_load(r, payload, rec->payload_len, &r->payload, e);
    if (rc)
        return rc;
    b = bytes_of(r->payload.data, rec->payload_len);
    version = bytes_u32(&b);
    size = bytes_u32(&b);
    s->submit_flags = bytes_u32(&b);
    s->context_id = bytes_u32(&b);
    s->engine_id = bytes_u32(&b);
    reserved0 = bytes_u32(&b);
    s->signal_fence = bytes_u64(&b);
    s->cmd_blob = bytes_u64(&b);
    s->alloc_blob = bytes_u64(&b);
    s->num_ranges = bytes_u32(&b);
    reserved1 = bytes_u32(&b);
    if (version != TRACE_SUBMISSION_VERSION)
        return trace_fail(e, -EPROTONOSUPPORT, payload, "Submission.record_version",
                          "is %" PRIu32 ", must be 1", version);
    if (size < TRACE_SUBMISSION_SIZE || size > rec->payload_len)
        return trace_fail(e, -EBADMSG, payload + 4, "Submission.header_size",
                          "%" PRIu32 " is not between 56 and the record's %" PRIu32 " bytes", size,
                          rec->payload_len);
    if (reserved0 || reserved1)
        return trace_fail(e, -EBADMSG, payload + (reserved0 ? 20 : 52),
                          reserved0 ? "Submission.reserved0" : "Submission.reserved1",
                          "is 0x%" PRIx32 ", must be 0", reserved0 ? reserved0 : reserved1);
    if (s->num_ranges > (rec->payload_len - size) / TRACE_RANGE_SIZE)
        return trace_fail(e, -EBADMSG, payload + 48, "Submission.memory_range_count",
                          "%" PRIu32 " ranges of 32 bytes do not fit the record's %" PRIu32 " bytes",
                          s->num_ranges, rec->payload_len);
    bytes_seek(&b, size);
    rc = parse_ranges(r, &b, payload, s->num_ranges, e);
    s->ranges = r->ranges;
    return rc;
}

static int read_frame_index(struct trace_reader *r, const struct trace_record *rec, uint32_t *index,
                            struct error *e)
{
    uint8_t raw[4];
    struct bytes b = bytes_of(raw, sizeof(raw));
    int rc;

    if (rec->payload_len != 4)
        return trace_fail(e, -EBADMSG, rec->offset + 4, "record.payload_len",
                          "a %s has 4 bytes, this one %" PRIu32, trace_record_type_name(rec->type),
                          rec->payload_len);
    rc = trace_file_read(&r->file, rec->offset + TRACE_RECORD_HEADER_SIZE, raw, sizeof(raw), e);
    *index = bytes_u32(&b);
    return rc;
}

static int parse_payload(struct trace_reader *r, struct trace_record *rec, struct error *e)
{
    uint32_t index;
    int rc;

    switch (rec->type) {
    case TRACE_BEGIN_FRAME:
        rc = read_frame_index(r, rec, &index, e);
        return rc ? rc : begin_frame(r, rec, index, e);
    case TRACE_PRESENT:
        rc = read_frame_index(r, rec, &index, e);
        return rc ? rc : present(r, rec, index, e);
    case TRACE_BLOB:
        return parse_blob(r, rec, e);
    case TRACE_PACKET:
    case TRACE_SUBMISSION:
        if (!r->in_frame)
            return trace_fail(e, -EBADMSG, rec->offset, trace_record_type_name(rec->type),
                              "stands outside of every frame");
        rec->packet.offset = rec->offset + TRACE_RECORD_HEADER_SIZE;
        return rec->type == TRACE_SUBMISSION ? parse_submission(r, rec, e) : 0;
    }
    return trace_fail(e, -EBADMSG, rec->offset, "record.record_type", "%d is not known", (int)rec->type);
}

static int parse_record(struct trace_reader *r, struct trace_record *rec, struct error *e)
{
    uint8_t raw[TRACE_RECORD_HEADER_SIZE];
    struct bytes b = bytes_of(raw, sizeof(raw));
    uint64_t left = r->info.records_end - r->pos;
    uint32_t flags, reserved;
    int rc;

    rec->offset = r->pos;
    if (left < TRACE_RECORD_HEADER_SIZE)
        return trace_fail(e, -ENODATA, r->pos, "record", "needs a header of 8 bytes, %" PRIu64 " are left",
                          left);
    rc = trace_file_read(&r->file, r->pos, raw, sizeof(raw), e);
    if (rc)
        return rc;
    rec->type = (enum trace_record_type)bytes_u8(&b);
    flags = bytes_u8(&b);
    reserved = bytes_u16(&b);
    rec->payload_len = bytes_u32(&b);
    if (!trace_record_type_name(rec->type))
        return trace_fail(e, -EBADMSG, rec->offset, "record.record_type", "%d is not known", (int)rec->type);
    if (flags)
        return trace_fail(e, -EBADMSG, rec->offset + 1, "record.flags",
                          "is 0x%" PRIx32 ", no flag is defined", flags);
    if (reserved)
        return trace_fail(e, -EBADMSG, rec->offset + 2, "record.reserved", "is 0x%" PRIx32 ", must be 0",
                          reserved);
    if (rec->payload_len > left - TRACE_RECORD_HEADER_SIZE)
        return trace_fail(e, -ENODATA, rec->offset + 4, "record.payload_len",
                          "%" PRIu32 " bytes of %s, but the records end at 0x%" PRIx64, rec->payload_len,
                          trace_record_type_name(rec->type), r->info.records_end);
    rc = parse_payload(r, rec, e);
    if (rc)
        return rc;
    rec->frame = r->in_frame ? r->frame : NO_FRAME;
    r->pos += TRACE_RECORD_HEADER_SIZE + (uint64_t)rec->payload_len;
    return close_frame(r, rec, e);
}

/* Without a footer nothing says where the records end: an index that was written shows by its magic. */
static bool at_end(struct trace_reader *r)
{
    uint64_t left = r->info.records_end - r->pos;
    char magic[8];

    if (left == 0)
        return true;
    return r->info.salvaged && left >= sizeof(magic) && !trace_file_read(&r->file, r->pos, magic, 8, NULL) &&
           !memcmp(magic, TRACE_TOC_MAGIC, 8);
}

int trace_reader_next(struct trace_reader *r, struct trace_record *record, struct error *e)
{
    *record = (struct trace_record){0};
    reader_check(r);
    if (!r->failed.code) {
        if (!at_end(r)) {
            if (!parse_record(r, record, &r->failed)) {
                reader_check(r);
                return 1;
            }
        } else if (r->info.salvaged) {
            error_set(&r->failed, r->tail_error.code, "%s", r->tail_error.text);
        } else if (r->next_entry < r->info.num_frames) {
            const struct trace_frame *entry = &r->info.frames[r->next_entry];
            trace_fail(&r->failed, -EBADMSG, entry->start, "TOC.start_offset",
                       "frame %" PRIu32 " begins at no record", entry->index);
        } else {
            return 0;
        }
    }
    return error_set(e, r->failed.code, "%s", r->failed.text);
}

int trace_reader_seek_frame(struct trace_reader *r, uint32_t index, struct error *e)
{
    struct trace_record rec;
    uint64_t pos;
    int rc;

    trace_reader_rewind(r);
    if (r->info.frames) {
        uint32_t i = 0;
        while (i < r->info.num_frames && r->info.frames[i].index != index)
            i++;
        if (i == r->info.num_frames)
            return error_set(e, -ENOENT, "the recording has no frame %" PRIu32, index);
    }
    for (;;) {
        struct trace_reader before = *r;

        pos = r->pos;
        rc = trace_reader_next(r, &rec, e);
        if (rc <= 0)
            return rc ? rc : error_set(e, -ENOENT, "the recording has no frame %" PRIu32, index);
        if (rec.type != TRACE_BEGIN_FRAME || rec.frame != index)
            continue;
        /* One step back, so that the caller gets the BeginFrame. */
        r->pos = pos;
        r->in_frame = before.in_frame;
        r->frame = before.frame;
        r->next_entry = before.next_entry;
        r->presented = before.presented;
        return 0;
    }
}

int trace_reader_find_blob(struct trace_reader *r, uint64_t id, uint32_t kind, const char *user,
                           struct trace_blob *blob, struct error *e)
{
    const struct trace_blob *found = blob_index_find(&r->blobs, id);

    if (!found || found->offset > r->pos)
        return error_set(e, -ENOENT, "%s: no blob %" PRIu64 " stands before it", user, id);
    if (found->kind != kind)
        return error_set(e, -EBADMSG, "%s: blob %" PRIu64 " at 0x%" PRIx64 " is %s, not %s", user, id,
                         found->offset, trace_blob_kind_name(found->kind), trace_blob_kind_name(kind));
    *blob = *found;
    return 0;
}

int trace_reader_load(struct trace_reader *r, uint64_t offset, uint32_t size, struct trace_buffer *b,
                      struct error *e)
{
    b->size = 0;
    if (offset > r->file.size || size > r->file.size - offset)
        return error_set(e, -ENODATA,
                         "offset 0x%" PRIx64 ": %" PRIu32 " bytes are wanted, the file ends at 0x%" PRIx64,
                         offset, size, r->file.size);
    if (size > b->capacity || !b->data) {
        uint8_t *bigger = realloc(b->data, size ? size : 1);
        if (!bigger)
            return error_set(e, -ENOMEM, "offset 0x%" PRIx64 ": no memory for %" PRIu32 " bytes", offset,
                             size);
        b->data = bigger;
        b->capacity = size;
    }
    b->size = size;
    return trace_file_read(&r->file, offset, b->data, size, e);
}
