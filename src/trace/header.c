/* SPDX-License-Identifier: MIT */
/* header.c: what stands around the records: header, metadata, frame index, footer. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "trace/file.h"

static int check_version(uint32_t version, uint64_t offset, const char *field, struct error *e)
{
    if (version >= TRACE_CONTAINER_V1 && version <= TRACE_CONTAINER_V2)
        return 0;
    return trace_fail(e, -EPROTONOSUPPORT, offset, field,
                      "container version %" PRIu32 " is not known (1 and 2 are)", version);
}

static int read_meta(struct trace_file *f, struct trace_info *info, char warning[160], struct error *e)
{
    json_error_t why = {0};
    json_t *meta, *abi;
    char *text;
    int rc;

    if (info->meta_len > f->size - TRACE_HEADER_SIZE)
        return trace_fail(e, -ENODATA, 24, "header.meta_len",
                          "%" PRIu32 " bytes of metadata, but the file ends at 0x%" PRIx64, info->meta_len,
                          f->size);
    text = malloc((size_t)info->meta_len + 1);
    if (!text)
        return error_set(e, -ENOMEM, "no memory for %" PRIu32 " bytes of metadata", info->meta_len);
    info->meta = text;
    rc = trace_file_read(f, TRACE_HEADER_SIZE, text, info->meta_len, e);
    if (rc)
        return rc;
    text[info->meta_len] = '\0';
    if (info->meta_len == 0) {
        snprintf(warning, 160, "the metadata is empty");
        return 0;
    }
    meta = json_loadb(text, info->meta_len, 0, &why);
    if (!json_is_object(meta)) {
        char *near = strstr(why.text, " near "); /* quotes bytes of the file, which may be anything */

        if (near)
            *near = '\0';
        rc = trace_fail(e, -EBADMSG,
                        TRACE_HEADER_SIZE + (meta ? 0 : (uint64_t)(why.position > 0 ? why.position : 0)),
                        "metadata", "is not a JSON object%s%s", meta ? "" : ": ", meta ? "" : why.text);
        json_decref(meta);
        return rc;
    }
    abi = json_object_get(meta, "command_abi_version");
    if (!json_is_string(json_object_get(meta, "emulator_version")))
        snprintf(warning, 160, "the metadata has no emulator_version");
    else if (!json_is_integer(abi))
        snprintf(warning, 160, "the metadata has no command_abi_version");
    else if (json_integer_value(abi) != (json_int_t)info->command_abi)
        snprintf(warning, 160,
                 "the metadata says command_abi_version %" JSON_INTEGER_FORMAT ", the header %" PRIu32,
                 json_integer_value(abi), info->command_abi);
    json_decref(meta);
    return 0;
}

int trace_read_header(struct trace_file *f, struct trace_info *info, char warning[160], struct error *e)
{
    uint8_t raw[TRACE_HEADER_SIZE];
    struct bytes b = bytes_of(raw, sizeof(raw));
    uint32_t size, flags, reserved;
    int rc;

    info->file_size = f->size;
    if (f->size < TRACE_HEADER_SIZE)
        return trace_fail(e, -ENODATA, 0, "header", "needs 32 bytes, the file has %" PRIu64, f->size);
    rc = trace_file_read(f, 0, raw, sizeof(raw), e);
    if (rc)
        return rc;
    if (memcmp(bytes_take(&b, 8), TRACE_MAGIC, 8))
        return trace_fail(e, -EBADMSG, 0, "header.magic", "is not \"AEROGPUT\": this is no recording");
    size = bytes_u32(&b);
    info->container_version = bytes_u32(&b);
    info->command_abi = bytes_u32(&b);
    flags = bytes_u32(&b);
    info->meta_len = bytes_u32(&b);
    reserved = bytes_u32(&b);
    if (size != TRACE_HEADER_SIZE)
        return trace_fail(e, -EBADMSG, 8, "header.header_size", "is %" PRIu32 ", must be 32", size);
    rc = check_version(info->container_version, 12, "header.container_version", e);
    if (rc)
        return rc;
    if (flags)
        return trace_fail(e, -EBADMSG, 20, "header.flags", "is 0x%" PRIx32 ", no flag is defined", flags);
    if (reserved)
        return trace_fail(e, -EBADMSG, 28, "header.reserved", "is 0x%" PRIx32 ", must be 0", reserved);
    info->records_start = TRACE_HEADER_SIZE + (uint64_t)info->meta_len;
    return read_meta(f, info, warning, e);
}

static int check_frame(const struct trace_info *info, const struct trace_frame *frame,
                       const struct trace_frame *before, uint32_t flags, uint64_t at, struct error *e)
{
    uint64_t from = before ? before->end : info->records_start;

    if (flags)
        return trace_fail(e, -EBADMSG, at + 4, "TOC.flags", "is 0x%" PRIx32 ", no flag is defined", flags);
    if (before && frame->index <= before->index)
        return trace_fail(e, -EBADMSG, at, "TOC.frame_index", "is %" PRIu32 " after %" PRIu32, frame->index,
                          before->index);
    if (frame->start < from || frame->start >= info->records_end)
        return trace_fail(e, -EBADMSG, at + 8, "TOC.start_offset",
                          "0x%" PRIx64 " is not between 0x%" PRIx64
                          " and the end of the records at 0x%" PRIx64,
                          frame->start, from, info->records_end);
    if (frame->end <= frame->start || frame->end > info->records_end)
        return trace_fail(e, -EBADMSG, at + 24, "TOC.end_offset",
                          "0x%" PRIx64 " is not between the frame's start 0x%" PRIx64
                          " and the end of the records at 0x%" PRIx64,
                          frame->end, frame->start, info->records_end);
    if (frame->present && (frame->present <= frame->start || frame->present >= frame->end))
        return trace_fail(e, -EBADMSG, at + 16, "TOC.present_offset",
                          "0x%" PRIx64 " is not within the frame, 0x%" PRIx64 " to 0x%" PRIx64,
                          frame->present, frame->start, frame->end);
    return 0;
}

static int read_toc(struct trace_file *f, struct trace_info *info, uint64_t toc, uint64_t len,
                    struct error *e)
{
    uint8_t raw[TRACE_TOC_ENTRY_SIZE];
    struct bytes b = bytes_of(raw, TRACE_TOC_HEADER_SIZE);
    struct trace_frame *frames;
    uint32_t version, count;
    int rc = trace_file_read(f, toc, raw, TRACE_TOC_HEADER_SIZE, e);

    if (rc)
        return rc;
    if (memcmp(bytes_take(&b, 8), TRACE_TOC_MAGIC, 8))
        return trace_fail(e, -EBADMSG, toc, "TOC.magic", "is not \"AEROTOC\\0\"");
    version = bytes_u32(&b);
    count = bytes_u32(&b);
    if (version != TRACE_TOC_VERSION)
        return trace_fail(e, -EPROTONOSUPPORT, toc + 8, "TOC.toc_version", "is %" PRIu32 ", must be 1",
                          version);
    if (len != TRACE_TOC_HEADER_SIZE + (uint64_t)count * TRACE_TOC_ENTRY_SIZE)
        return trace_fail(e, -EBADMSG, toc + 12, "TOC.frame_count",
                          "%" PRIu32 " frames do not fill the %" PRIu64 " bytes of the TOC", count, len);
    frames = malloc((count ? count : 1) * sizeof(*frames));
    if (!frames)
        return error_set(e, -ENOMEM, "no memory for an index of %" PRIu32 " frames", count);
    info->frames = frames;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = toc + TRACE_TOC_HEADER_SIZE + (uint64_t)i * TRACE_TOC_ENTRY_SIZE;
        uint32_t flags;

        rc = trace_file_read(f, at, raw, sizeof(raw), e);
        if (rc)
            return rc;
        b = bytes_of(raw, sizeof(raw));
        frames[i].index = bytes_u32(&b);
        flags = bytes_u32(&b);
        frames[i].start = bytes_u64(&b);
        frames[i].present = bytes_u64(&b);
        frames[i].end = bytes_u64(&b);
        rc = check_frame(info, &frames[i], i ? &frames[i - 1] : NULL, flags, at, e);
        if (rc)
            return rc;
    }
    info->num_frames = count;
    return 0;
}

int trace_read_tail(struct trace_file *f, struct trace_info *info, struct error *e)
{
    uint8_t raw[TRACE_FOOTER_SIZE];
    struct bytes b = bytes_of(raw, sizeof(raw));
    uint64_t footer, toc, len;
    uint32_t size, version;
    int rc;

    info->records_end = f->size;
    if (f->size - info->records_start < TRACE_FOOTER_SIZE)
        return trace_fail(e, -ENODATA, f->size, "footer",
                          "is missing: the file is cut or was never finished");
    footer = f->size - TRACE_FOOTER_SIZE;
    rc = trace_file_read(f, footer, raw, sizeof(raw), e);
    if (rc)
        return rc;
    if (memcmp(bytes_take(&b, 8), TRACE_FOOTER_MAGIC, 8))
        return trace_fail(e, -ENODATA, footer, "footer.magic",
                          "is not \"AEROGPUF\": the file is cut or was never finished");
    size = bytes_u32(&b);
    version = bytes_u32(&b);
    toc = bytes_u64(&b);
    len = bytes_u64(&b);
    if (size != TRACE_FOOTER_SIZE)
        return trace_fail(e, -EBADMSG, footer + 8, "footer.footer_size", "is %" PRIu32 ", must be 32", size);
    rc = check_version(version, footer + 12, "footer.container_version", e);
    if (rc)
        return rc;
    if (version != info->container_version)
        return trace_fail(e, -EBADMSG, footer + 12, "footer.container_version",
                          "is %" PRIu32 ", the header's is %" PRIu32, version, info->container_version);
    if (toc < info->records_start || toc > footer)
        return trace_fail(e, -EBADMSG, footer + 16, "footer.toc_offset",
                          "0x%" PRIx64 " is not between the metadata's end 0x%" PRIx64 " and the footer", toc,
                          info->records_start);
    if (len < TRACE_TOC_HEADER_SIZE || len != footer - toc)
        return trace_fail(e, -EBADMSG, footer + 24, "footer.toc_len",
                          "is %" PRIu64 ", but 0x%" PRIx64 " to the footer are %" PRIu64 " bytes", len, toc,
                          footer - toc);
    info->records_end = toc;
    return read_toc(f, info, toc, len, e);
}
