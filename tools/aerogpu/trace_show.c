/* SPDX-License-Identifier: MIT */
/* aerogpu show: every record, submission and packet of a recording, decoded. */
#include "commands.h"
#include "file_kinds.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aerogpu/alloc.h>
#include <aerogpu/pci.h>
#include <aerogpu/ring.h>

#include "abi/alloc_table.h"
#include "abi/print.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "executor/shader/shader.h"
#include "minimize/dump_file.h"
#include "report/json_show.h"
#include "trace/reader.h"

struct show {
    const char *path;
    struct trace_reader *reader;
    const struct trace_info *info;
    uint32_t only_frame; /* UINT32_MAX: all */
    bool json, full, shaders, foreign;
    bool bad;     /* a stream, table or range is malformed */
    bool damaged; /* the dump around it is, and that is what will be said */
    struct trace_buffer bytes;
    struct strbuf line;
    struct json_writer out; /* of --json */
};

static void complain(struct show *s, struct error *e, json_t *into)
{
    s->bad = true;
    if (s->json)
        json_object_set_new(into, "error", json_string(e->text));
    else
        utf8_print(stdout, "      error: %s\n", e->text);
    error_clear(e);
}

static json_t *hex(uint64_t v)
{
    char text[24];

    snprintf(text, sizeof(text), "0x%" PRIx64, v);
    return json_string(text);
}

/* JSON integers end at 2^63 here; what lies beyond is a decimal string. */
static json_t *u64(uint64_t v)
{
    char text[24];

    if (v <= INT64_MAX)
        return json_integer((json_int_t)v);
    snprintf(text, sizeof(text), "%" PRIu64, v);
    return json_string(text);
}

/* What the shader in a CREATE_SHADER_DXBC packet says, as lines or as a field of the packet. */
static void show_shader(struct show *s, const struct abi_packet *p, json_t *packet)
{
    strbuf_clear(&s->line);
    shader_print(&s->line, p->tail, p->tail_size);
    if (packet)
        json_object_set_new(packet, "shader", json_string(strbuf_str(&s->line)));
    else
        fputs(strbuf_str(&s->line), stdout);
}

static void show_packet(struct show *s, const struct abi_packet *p, uint64_t base, json_t *packets)
{
    bool shader = s->shaders && p->opcode == AEROGPU_CMD_CREATE_SHADER_DXBC && p->tail_size;
    json_t *j;

    if (!s->json) {
        strbuf_clear(&s->line);
        abi_print_packet(&s->line, p, s->full ? UINT32_MAX : 8);
        printf("      0x%08" PRIx64 " +0x%04x %4" PRIu32 "  %s\n", base + p->offset, p->offset, p->index,
               strbuf_str(&s->line));
        if (shader)
            show_shader(s, p, NULL);
        return;
    }
    j = abi_packet_json(p);
    if (shader)
        show_shader(s, p, j);
    json_object_set_new(j, "file_offset", json_integer((json_int_t)base + (json_int_t)p->offset));
    json_array_append_new(packets, j);
}

/* The command stream in s->bytes, which lies at `base` of the file. */
static void show_stream(struct show *s, uint64_t base, json_t *into)
{
    struct abi_stream stream;
    struct abi_packet packet;
    struct error e = {0};
    json_t *j = NULL, *packets = NULL;
    int rc = abi_stream_open(&stream, s->bytes.data, s->bytes.size, &e);

    if (s->json) {
        j = json_object();
        packets = json_array();
        json_object_set_new(into, "stream", j);
        json_object_set_new(j, "file_offset", json_integer((json_int_t)base));
        json_object_set_new(j, "bytes", json_integer((json_int_t)s->bytes.size));
        json_object_set_new(j, "packets", packets);
        if (!rc)
            json_object_set_new(j, "abi_minor", json_integer(stream.minor));
    } else if (!rc) {
        printf("    stream 0x%08" PRIx64 ", %" PRIu32 " of %zu bytes, ABI 1.%" PRIu32 "\n", base, stream.size,
               s->bytes.size, stream.minor);
    }
    while (!rc && (rc = abi_stream_next(&stream, &packet, &e)) > 0) {
        show_packet(s, &packet, base, packets);
        rc = 0;
    }
    if (rc) {
        error_prefix(&e, "stream at 0x%" PRIx64, base);
        complain(s, &e, j);
    }
}

static void show_alloc_table(struct show *s, json_t *into)
{
    struct abi_alloc_table table = {0};
    struct error e = {0};
    json_t *list = s->json ? json_array() : NULL;

    if (s->json)
        json_object_set_new(into, "alloc_table", list);
    if (abi_alloc_table_parse(&table, s->bytes.data, s->bytes.size, &e)) {
        error_prefix(&e, "allocation table");
        complain(s, &e, into);
    }
    for (uint32_t i = 0; i < table.count; i++) {
        const struct abi_alloc *a = &table.entries[i];
        if (s->json)
            json_array_append_new(list, json_pack("{s:I,s:o,s:o,s:b}", "alloc_id", (json_int_t)a->alloc_id,
                                                  "gpa", hex(a->gpa), "size_bytes", u64(a->size), "readonly",
                                                  (int)a->readonly));
        else
            printf("    alloc %" PRIu32 ": gpa 0x%" PRIx64 ", %" PRIu64 " bytes%s\n", a->alloc_id, a->gpa,
                   a->size, a->readonly ? ", READONLY" : "");
    }
    abi_alloc_table_finish(&table);
}

static int load_blob(struct show *s, const struct trace_record *rec, uint64_t id, uint32_t kind,
                     const char *field, struct trace_blob *blob, struct error *e)
{
    char user[96];
    int rc;

    snprintf(user, sizeof(user), "offset 0x%" PRIx64 ": Submission.%s", rec->offset, field);
    rc = trace_reader_find_blob(s->reader, id, kind, user, blob, e);
    return rc ? rc : trace_reader_load(s->reader, blob->offset, blob->size, &s->bytes, e);
}

static void show_ranges(struct show *s, const struct trace_record *rec, json_t *into)
{
    const struct trace_submission *sub = &rec->submission;
    json_t *list = s->json ? json_array() : NULL;
    struct error e = {0};
    struct trace_blob blob;
    char user[96];

    if (s->json)
        json_object_set_new(into, "memory_ranges", list);
    for (uint32_t i = 0; i < sub->num_ranges; i++) {
        const struct trace_range *r = &sub->ranges[i];

        snprintf(user, sizeof(user), "offset 0x%" PRIx64 ": Submission.memory_range[%" PRIu32 "].blob_id",
                 rec->offset, i);
        blob.size = 0;
        if (s->json)
            json_array_append_new(list,
                                  json_pack("{s:I,s:I,s:o,s:o,s:o}", "alloc_id", (json_int_t)r->alloc_id,
                                            "flags", (json_int_t)r->flags, "gpa", hex(r->gpa), "size_bytes",
                                            u64(r->size), "blob_id", u64(r->blob)));
        else
            printf("    memory of alloc %" PRIu32 ": gpa 0x%" PRIx64 ", %" PRIu64 " bytes, blob %" PRIu64
                   "\n",
                   r->alloc_id, r->gpa, r->size, r->blob);
        if (trace_reader_find_blob(s->reader, r->blob, TRACE_BLOB_ALLOC_MEMORY, user, &blob, &e))
            complain(s, &e, into);
    }
}

static void show_submission(struct show *s, const struct trace_record *rec, json_t *j)
{
    const struct trace_submission *sub = &rec->submission;
    struct trace_blob blob;
    struct error e = {0};
    json_t *into = NULL;
    uint32_t rest = sub->submit_flags & ~(uint32_t)(AEROGPU_SUBMIT_FLAG_PRESENT | AEROGPU_SUBMIT_FLAG_NO_IRQ);

    if (s->json) {
        into = json_pack("{s:I,s:I,s:I,s:o,s:o,s:o}", "submit_flags", (json_int_t)sub->submit_flags,
                         "context_id", (json_int_t)sub->context_id, "engine_id", (json_int_t)sub->engine_id,
                         "signal_fence", u64(sub->signal_fence), "cmd_stream_blob_id", u64(sub->cmd_blob),
                         "alloc_table_blob_id", u64(sub->alloc_blob));
        json_object_set_new(j, "submission", into);
    } else {
        printf(" fence %" PRIu64 ", context %" PRIu32 ", engine %" PRIu32 "%s%s", sub->signal_fence,
               sub->context_id, sub->engine_id,
               sub->submit_flags & AEROGPU_SUBMIT_FLAG_PRESENT ? ", PRESENT" : "",
               sub->submit_flags & AEROGPU_SUBMIT_FLAG_NO_IRQ ? ", NO_IRQ" : "");
        if (rest)
            printf(", flags 0x%" PRIx32, rest);
        printf(", stream blob %" PRIu64 ", table blob %" PRIu64 ", %" PRIu32 " memory ranges\n",
               sub->cmd_blob, sub->alloc_blob, sub->num_ranges);
    }
    if (sub->alloc_blob) {
        if (load_blob(s, rec, sub->alloc_blob, TRACE_BLOB_ALLOC_TABLE, "alloc_table_blob_id", &blob, &e))
            complain(s, &e, into);
        else if (!s->foreign)
            show_alloc_table(s, into);
    }
    show_ranges(s, rec, into);
    if (load_blob(s, rec, sub->cmd_blob, TRACE_BLOB_CMD_STREAM, "cmd_stream_blob_id", &blob, &e))
        complain(s, &e, into);
    else if (blob.size && !s->foreign)
        show_stream(s, blob.offset, into);
}

static void show_blob(struct show *s, const struct trace_record *rec, json_t *j)
{
    const char *kind = trace_blob_kind_name(rec->blob.kind);

    if (s->json)
        json_object_set_new(j, "blob",
                            json_pack("{s:o,s:s,s:I,s:I}", "id", u64(rec->blob.id), "kind", kind,
                                      "data_offset", (json_int_t)rec->blob.offset, "bytes",
                                      (json_int_t)rec->blob.size));
    else
        printf(" %" PRIu64 " %s, %" PRIu32 " bytes at 0x%" PRIx64 "\n", rec->blob.id, kind, rec->blob.size,
               rec->blob.offset);
}

static void show_record(struct show *s, const struct trace_record *rec)
{
    json_t *j = NULL;
    struct error e = {0};

    if (s->json) {
        j = json_pack("{s:I,s:s,s:I}", "offset", (json_int_t)rec->offset, "type",
                      trace_record_type_name(rec->type), "payload_bytes", (json_int_t)rec->payload_len);
        if (rec->frame != UINT32_MAX)
            json_object_set_new(j, "frame", json_integer(rec->frame));
    } else {
        printf("  0x%08" PRIx64 " %s", rec->offset, trace_record_type_name(rec->type));
    }
    switch (rec->type) {
    case TRACE_BEGIN_FRAME:
    case TRACE_PRESENT:
        if (!s->json)
            printf(" %" PRIu32 "\n", rec->frame);
        break;
    case TRACE_BLOB:
        show_blob(s, rec, j);
        break;
    case TRACE_PACKET:
        if (!s->json)
            printf(" %" PRIu32 " bytes\n", rec->payload_len);
        if (s->foreign)
            break;
        if (trace_reader_load(s->reader, rec->packet.offset, rec->payload_len, &s->bytes, &e))
            complain(s, &e, j);
        else
            show_stream(s, rec->packet.offset, j);
        break;
    case TRACE_SUBMISSION:
        show_submission(s, rec, j);
        break;
    }
    if (s->json) {
        struct strbuf text = {0};

        json_write_raw(&s->out, NULL, json_show_text(j, JSON_COMPACT, &text) ? "null" : strbuf_str(&text));
        putchar('\n'); /* a record a line */
        strbuf_finish(&text);
        json_decref(j);
    }
}

static void show_head_json(struct show *s)
{
    const struct trace_info *i = s->info;
    struct json_writer *w = &s->out;
    json_t *meta = i->meta_len ? json_loads(i->meta, 0, NULL) : NULL;
    char *text = meta ? json_dumps(meta, JSON_COMPACT) : NULL;

    json_write_object(w, NULL);
    json_write_string(w, "file", s->path);
    json_write_unsigned(w, "file_size", i->file_size);
    json_write_unsigned(w, "container_version", i->container_version);
    json_write_object(w, "command_abi");
    json_write_unsigned(w, "major", i->command_abi >> 16);
    json_write_unsigned(w, "minor", i->command_abi & 0xFFFF);
    json_write_end(w);
    json_write_raw(w, "metadata", text ? text : "null");
    json_write_array(w, "frames");
    for (uint32_t k = 0; k < i->num_frames; k++) {
        json_write_object(w, NULL);
        json_write_unsigned(w, "index", i->frames[k].index);
        json_write_unsigned(w, "start", i->frames[k].start);
        json_write_unsigned(w, "present", i->frames[k].present);
        json_write_unsigned(w, "end", i->frames[k].end);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_array(w, "records");
    putchar('\n');
    free(text);
    json_decref(meta);
}

static void show_head(struct show *s)
{
    const struct trace_info *i = s->info;

    utf8_print(stdout,
               "%s: %" PRIu64 " bytes, container version %" PRIu32 ", command ABI %" PRIu32 ".%" PRIu32 "\n",
               s->path, i->file_size, i->container_version, i->command_abi >> 16, i->command_abi & 0xFFFF);
    utf8_print(stdout, "metadata: %s\n", i->meta);
    if (i->warning[0])
        utf8_print(stdout, "warning: %s\n", i->warning);
    if (s->foreign)
        printf("warning: the command ABI is not AeroGPU's: packets are not decoded\n");
    if (!i->salvaged)
        printf("%" PRIu32 " frame%s, frame index at 0x%" PRIx64 "\n", i->num_frames,
               i->num_frames == 1 ? "" : "s", i->records_end);
}

static int show_records(struct show *s, struct error *e)
{
    struct trace_record rec;
    bool seen = s->only_frame == UINT32_MAX;
    int rc = seen ? 0 : trace_reader_seek_frame(s->reader, s->only_frame, e);

    while (!rc && (rc = trace_reader_next(s->reader, &rec, e)) > 0) {
        rc = 0;
        if (s->only_frame != UINT32_MAX && rec.frame != s->only_frame)
            break;
        show_record(s, &rec);
    }
    return rc;
}

static int show_recording(struct show *s, const struct trace_reader_params *p)
{
    struct error e = {0};
    int rc = trace_reader_open(&s->reader, p, &e);

    if (rc) {
        if (!s->damaged)
            utf8_print(stderr, "aerogpu show: %s: %s\n", s->path, e.text);
        return EXIT_INPUT;
    }
    s->info = trace_reader_info(s->reader);
    s->foreign = AEROGPU_ABI_VERSION_MAJOR(s->info->command_abi) != AEROGPU_ABI_MAJOR;
    s->out = json_writer(stdout);
    if (s->json)
        show_head_json(s);
    else
        show_head(s);
    rc = show_records(s, &e);
    if (s->json) {
        json_write_end(&s->out);
        json_write_string(&s->out, "error", rc ? e.text : NULL);
        json_write_end(&s->out);
        putchar('\n');
    }
    fflush(stdout);
    if (rc && !s->damaged)
        utf8_print(stderr, "aerogpu show: %s: %s\n", s->path, e.text);
    trace_reader_destroy(s->reader);
    trace_buffer_finish(&s->bytes);
    strbuf_finish(&s->line);
    return rc || s->bad ? EXIT_INPUT : EXIT_OK;
}

/* The recording of the last submissions that a crash dump holds. */
static int show_dump(struct show *s)
{
    struct dump_file d;
    struct error e = {0};
    int code;

    code = dump_file_open(&d, s->path, true, &e);
    if (code == -ENODATA) { /* made of a program, or asked for before anything was submitted */
        error_clear(&e);
        return dump_show_tables(s->path, s->json, &e) ? command_error(&e) : EXIT_OK;
    }
    if (code) {
        utf8_print(stderr, "aerogpu show: %s\n", e.text);
        return EXIT_INPUT;
    }
    s->damaged = e.code != 0;
    code = show_recording(
        s, &(struct trace_reader_params){.data = d.recording, .size = d.recording_size, .salvage = true});
    dump_file_close(&d);
    if (e.code)
        utf8_print(stderr, "aerogpu show: %s\n", e.text);
    return e.code ? EXIT_INPUT : code;
}

/* ---- a stream or a table alone, as aerogpu_dbgctl dumps it --------------- */

enum { BARE_MAX = 64 << 20 };

/* The whole file into s->bytes. 0 or a negative errno. */
static int load_bare(struct show *s, const char *path)
{
    FILE *f = fopen(path, "re");
    size_t n = 0;
    int r = 0;

    if (!f)
        return -errno;
    trace_buffer_finish(&s->bytes);
    s->bytes.data = malloc(BARE_MAX + 1);
    if (s->bytes.data)
        n = fread(s->bytes.data, 1, BARE_MAX + 1, f);
    s->bytes.size = n;
    s->bytes.capacity = s->bytes.data ? BARE_MAX + 1 : 0;
    if (!s->bytes.data)
        r = -ENOMEM;
    else if (ferror(f))
        r = -EIO;
    else if (n > BARE_MAX)
        r = -EFBIG;
    fclose(f);
    return r;
}

static uint32_t magic_of(const char *path)
{
    uint8_t b[4] = {0};
    FILE *f = fopen(path, "re");

    if (f && fread(b, 1, sizeof(b), f) != sizeof(b))
        memset(b, 0, sizeof(b));
    if (f)
        fclose(f);
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static int show_part(struct show *s, const char *path, bool table, json_t *into)
{
    int r = load_bare(s, path);

    if (r) {
        utf8_print(stderr, "aerogpu show: %s: %s\n", path, strerror(-r));
        s->bad = true;
        return r;
    }
    if (!s->json)
        utf8_print(stdout, "%s: %zu bytes\n", path, s->bytes.size);
    if (table)
        show_alloc_table(s, into);
    else
        show_stream(s, 0, into);
    return 0;
}

static int show_bare(struct show *s, bool table)
{
    json_t *into = json_pack("{s:s}", "file", s->path);
    char beside[4096];
    int n = snprintf(beside, sizeof(beside), "%s.alloc_table.bin", s->path);

    if (!table && n < (int)sizeof(beside) && magic_of(beside) == AEROGPU_ALLOC_TABLE_MAGIC)
        show_part(s, beside, true, into);
    show_part(s, s->path, table, into);
    if (s->json && into) {
        json_show(into, stdout, JSON_COMPACT);
        putchar('\n');
    }
    json_decref(into);
    trace_buffer_finish(&s->bytes);
    strbuf_finish(&s->line);
    return s->bad ? EXIT_INPUT : EXIT_OK;
}

static struct show options = {.only_frame = UINT32_MAX};
static struct options_row rows[] = {
    OPT_U32("frame", 'f', &options.only_frame, 0, UINT32_MAX - 1, "N", "only frame N"),
    OPT_FLAG("full", 0, &options.full, "do not shorten the lists that packets carry"),
    OPT_FLAG("shaders", 0, &options.shaders, "list the instructions of shaders where they are made"),
    OPT_FLAG(
        "json", 'j', &options.json,
        "as JSON: one object, with header, frames and records, of a recording of AeroGPU's device; one object a line, each a call, of Direct3D 12"),
    OPT_END};

static int run(enum file_kind kind, char *const *files, int num_files)
{
    struct show s = options;

    s.path = files[0];
    switch (kind) {
    case FILE_STREAM:
    case FILE_TABLE:
        if (s.only_frame != UINT32_MAX)
            return usage_error("%s is no recording: it has no frames", s.path);
        return show_bare(&s, kind == FILE_TABLE);
    case FILE_DUMP:
        return show_dump(&s);
    default:
        return show_recording(&s, &(struct trace_reader_params){.path = s.path, .salvage = true});
    }
}

const struct file_action trace_show = {
    "recordings of AeroGPU's device, crash dumps, command streams, allocation tables:", rows, run};
