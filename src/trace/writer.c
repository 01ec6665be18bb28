/* SPDX-License-Identifier: MIT */
#include "trace/writer.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/array.h"
#include "base/check.h"
#include "base/file/out.h"

struct trace_writer {
    FILE *file;
    char *path;
    uint64_t pos;
    uint32_t version;
    struct trace_frame *frames;
    size_t num_frames, max_frames;
    bool in_frame;
    uint64_t next_blob;
    struct error failed;
};

static void writer_check(const struct trace_writer *w)
{
    const struct trace_frame *last = w->num_frames ? &w->frames[w->num_frames - 1] : NULL;

    INVARIANT(w->file && w->path);
    INVARIANT(w->version == TRACE_CONTAINER_V1 || w->version == TRACE_CONTAINER_V2);
    INVARIANT(w->num_frames <= w->max_frames);
    if (w->failed.code)
        return; /* what could not be written has no place in the file */
    INVARIANT(!w->in_frame || (last && !last->end));
    INVARIANT(w->in_frame || !last || (last->start < last->end && last->end <= w->pos));
    INVARIANT(!last || !last->present || (last->present > last->start && last->present < w->pos));
    INVARIANT(w->next_blob >= 1 && w->pos > TRACE_HEADER_SIZE);
}

/* A little-endian field of `n` bytes at `p`; returns what follows it. */
static uint8_t *put(uint8_t *p, uint64_t value, size_t n)
{
    value = htole64(value);
    memcpy(p, &value, n);
    return p + n;
}

static int out(struct trace_writer *w, const void *data, size_t size)
{
    if (w->failed.code)
        return w->failed.code;
    if (size && fwrite(data, 1, size, w->file) != size)
        return error_set(&w->failed, errno ? -errno : -EIO, "%s: writing at 0x%" PRIx64 ": %s", w->path,
                         w->pos, strerror(errno ? errno : EIO));
    w->pos += size;
    return 0;
}

/* What the calls return: the first failure, which stays. */
static int result(struct trace_writer *w, struct error *e)
{
    return w->failed.code ? error_set(e, w->failed.code, "%s", w->failed.text) : 0;
}

static int out_record(struct trace_writer *w, enum trace_record_type type, const void *head, size_t head_size,
                      const void *data, size_t size, struct error *e)
{
    uint8_t raw[TRACE_RECORD_HEADER_SIZE], *p = raw;

    if (size > UINT32_MAX - head_size)
        return error_set(e, -EFBIG, "%s: a %s of %zu bytes does not fit a record", w->path,
                         trace_record_type_name(type), size);
    p = put(p, type, 1);
    p = put(p, 0, 3);
    put(p, head_size + size, 4);
    out(w, raw, sizeof(raw));
    out(w, head, head_size);
    out(w, data, size);
    return result(w, e);
}

/* The members' order and spacing are those of the files that already exist. */
static int make_meta(char **meta, const struct trace_writer_params *p)
{
    json_t *object = json_pack("{s:s, s:I, s:s*}", "emulator_version", p->producer, "command_abi_version",
                               (json_int_t)p->command_abi, "notes", p->notes);

    *meta = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return !object ? -EINVAL : *meta ? 0 : -ENOMEM;
}

static int write_header(struct trace_writer *w, const struct trace_writer_params *p, struct error *e)
{
    uint8_t raw[TRACE_HEADER_SIZE], *q = raw;
    char *meta = NULL;
    int rc = make_meta(&meta, p);

    if (rc)
        return error_set(e, rc,
                         rc == -ENOMEM ? "%s: no memory for the metadata" : "%s: the metadata must be UTF-8",
                         p->path);
    memcpy(q, TRACE_MAGIC, 8);
    q = put(q + 8, TRACE_HEADER_SIZE, 4);
    q = put(q, w->version, 4);
    q = put(q, p->command_abi, 4);
    q = put(q, 0, 4);
    q = put(q, strlen(meta), 4);
    put(q, 0, 4);
    out(w, raw, sizeof(raw));
    out(w, meta, strlen(meta));
    free(meta);
    return result(w, e);
}

int trace_writer_create(struct trace_writer **ret, const struct trace_writer_params *p, struct error *e)
{
    struct error why = {0};
    struct trace_writer *w;
    int rc;

    *ret = NULL;
    if (p->container_version > TRACE_CONTAINER_V2)
        return error_set(e, -EPROTONOSUPPORT, "%s: container version %" PRIu32 " is not known (1 and 2 are)",
                         p->path, p->container_version);
    w = calloc(1, sizeof(*w));
    if (w)
        w->path = strdup(p->path);
    if (!w || !w->path) {
        free(w);
        return error_set(e, -ENOMEM, "no memory for a trace writer");
    }
    w->version = p->container_version ? p->container_version : TRACE_CONTAINER_V2;
    w->next_blob = 1;
    w->file = out_file_open(p->path, &why);
    rc = w->file ? write_header(w, p, e) : error_set(e, why.code, "%s", why.text);
    if (rc) {
        trace_writer_abandon(w);
        return rc;
    }
    *ret = w;
    return 0;
}

void trace_writer_abandon(struct trace_writer *w)
{
    if (!w)
        return;
    if (w->file)
        fclose(w->file);
    free(w->frames);
    free(w->path);
    free(w);
}

int trace_writer_begin_frame(struct trace_writer *w, uint32_t index, struct error *e)
{
    uint8_t raw[4];

    writer_check(w);
    if (w->in_frame)
        return error_set(e, -EBUSY, "%s: frame %" PRIu32 " begins while frame %" PRIu32 " is open", w->path,
                         index, w->frames[w->num_frames - 1].index);
    if (w->num_frames && index <= w->frames[w->num_frames - 1].index)
        return error_set(e, -EINVAL, "%s: frame %" PRIu32 " comes after frame %" PRIu32, w->path, index,
                         w->frames[w->num_frames - 1].index);
    if (array_reserve(w->frames, w->max_frames, w->num_frames + 1))
        return error_set(e, -ENOMEM, "%s: no memory for the index of %zu frames", w->path, w->num_frames + 1);
    w->frames[w->num_frames++] = (struct trace_frame){.index = index, .start = w->pos};
    w->in_frame = true;
    put(raw, index, 4);
    return out_record(w, TRACE_BEGIN_FRAME, raw, sizeof(raw), NULL, 0, e);
}

static int end_frame(struct trace_writer *w, bool presents, struct error *e)
{
    struct trace_frame *frame;
    uint8_t raw[4];

    writer_check(w);
    if (!w->in_frame)
        return error_set(e, -EPROTO, "%s: no frame is open", w->path);
    frame = &w->frames[w->num_frames - 1];
    if (presents) {
        frame->present = w->pos;
        put(raw, frame->index, 4);
        out_record(w, TRACE_PRESENT, raw, sizeof(raw), NULL, 0, NULL);
    }
    frame->end = w->pos;
    w->in_frame = false;
    return result(w, e);
}

int trace_writer_present(struct trace_writer *w, struct error *e)
{
    return end_frame(w, true, e);
}

int trace_writer_end_frame(struct trace_writer *w, struct error *e)
{
    return end_frame(w, false, e);
}

int trace_writer_blob(struct trace_writer *w, uint32_t kind, const void *data, size_t size, uint64_t *id,
                      struct error *e)
{
    uint8_t head[TRACE_BLOB_HEADER_SIZE], *p = head;

    writer_check(w);
    p = put(p, w->next_blob, 8);
    p = put(p, kind, 4);
    put(p, 0, 4);
    *id = w->next_blob++;
    return out_record(w, TRACE_BLOB, head, sizeof(head), data, size, e);
}

int trace_writer_packet(struct trace_writer *w, const void *data, size_t size, struct error *e)
{
    if (!w->in_frame)
        return error_set(e, -EPROTO, "%s: a packet outside of every frame", w->path);
    return out_record(w, TRACE_PACKET, NULL, 0, data, size, e);
}

int trace_writer_submission(struct trace_writer *w, const struct trace_submission *s, struct error *e)
{
    uint8_t head[TRACE_SUBMISSION_SIZE], *p = head, *ranges, *q;
    int rc;

    if (w->version < TRACE_CONTAINER_V2)
        return error_set(e, -EPROTONOSUPPORT, "%s: container version %" PRIu32 " has no submissions", w->path,
                         w->version);
    if (!w->in_frame)
        return error_set(e, -EPROTO, "%s: a submission outside of every frame", w->path);
    ranges = q = malloc((size_t)s->num_ranges * TRACE_RANGE_SIZE + 1);
    if (!ranges)
        return error_set(e, -ENOMEM, "%s: no memory for %" PRIu32 " memory ranges", w->path, s->num_ranges);
    p = put(p, TRACE_SUBMISSION_VERSION, 4);
    p = put(p, TRACE_SUBMISSION_SIZE, 4);
    p = put(p, s->submit_flags, 4);
    p = put(p, s->context_id, 4);
    p = put(p, s->engine_id, 4);
    p = put(p, 0, 4);
    p = put(p, s->signal_fence, 8);
    p = put(p, s->cmd_blob, 8);
    p = put(p, s->alloc_blob, 8);
    p = put(p, s->num_ranges, 4);
    put(p, 0, 4);
    for (uint32_t i = 0; i < s->num_ranges; i++) {
        q = put(q, s->ranges[i].alloc_id, 4);
        q = put(q, s->ranges[i].flags, 4);
        q = put(q, s->ranges[i].gpa, 8);
        q = put(q, s->ranges[i].size, 8);
        q = put(q, s->ranges[i].blob, 8);
    }
    rc = out_record(w, TRACE_SUBMISSION, head, sizeof(head), ranges, (size_t)(q - ranges), e);
    free(ranges);
    return rc;
}

int trace_writer_flush(struct trace_writer *w, struct error *e)
{
    if (!w->failed.code && fflush(w->file))
        error_set(&w->failed, -errno, "%s: %s", w->path, strerror(errno));
    return result(w, e);
}

static void write_tail(struct trace_writer *w)
{
    uint8_t raw[TRACE_TOC_ENTRY_SIZE], *p = raw;
    uint64_t toc = w->pos;

    memcpy(p, TRACE_TOC_MAGIC, 8);
    p = put(p + 8, TRACE_TOC_VERSION, 4);
    put(p, w->num_frames, 4);
    out(w, raw, TRACE_TOC_HEADER_SIZE);
    for (size_t i = 0; i < w->num_frames; i++) {
        p = put(raw, w->frames[i].index, 4);
        p = put(p, 0, 4);
        p = put(p, w->frames[i].start, 8);
        p = put(p, w->frames[i].present, 8);
        put(p, w->frames[i].end, 8);
        out(w, raw, sizeof(raw));
    }
    memcpy(raw, TRACE_FOOTER_MAGIC, 8);
    p = put(raw + 8, TRACE_FOOTER_SIZE, 4);
    p = put(p, w->version, 4);
    p = put(p, toc, 8);
    put(p, w->pos - toc, 8);
    out(w, raw, TRACE_FOOTER_SIZE);
}

int trace_writer_finish(struct trace_writer *w, struct error *e)
{
    int rc;

    writer_check(w);
    if (w->in_frame)
        end_frame(w, false, NULL);
    write_tail(w);
    if (fclose(w->file) && !w->failed.code)
        error_set(&w->failed, -errno, "%s: %s", w->path, strerror(errno));
    w->file = NULL;
    rc = result(w, e);
    trace_writer_abandon(w);
    return rc;
}
