/* SPDX-License-Identifier: MIT */
/* The .aerogputrace container: what is written can be read, what is damaged is named. */
#include "test.h"

#include <aerogpu/abi.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance.h"
#include "trace/reader.h"
#include "trace/writer.h"

struct file {
    uint8_t *data;
    size_t size;
};

static struct file slurp(const char *path)
{
    struct file f = {0};
    struct stat st;
    FILE *in = fopen(path, "re");

    assert_non_null(in);
    assert_int_equal(fstat(fileno(in), &st), 0);
    f.size = (size_t)st.st_size;
    f.data = malloc(f.size + 1);
    assert_int_equal(fread(f.data, 1, f.size, in), f.size);
    fclose(in);
    return f;
}

static void temp_path(char path[64])
{
    strcpy(path, "/tmp/aerogpu-trace-XXXXXX");
    close(mkstemp(path));
}

/* Two frames: the first presents, the second does not; a blob between them.
 *   0x00 header, 0x20 metadata (59 bytes), records from 0x5b */
enum {
    BEGIN0 = 0x5b,
    CMD_BLOB = BEGIN0 + 12,
    MEM_BLOB = CMD_BLOB + 24 + 8,
    SUBMISSION = MEM_BLOB + 24 + 4,
    PRESENT0 = SUBMISSION + 8 + 56 + 32,
    LOOSE_BLOB = PRESENT0 + 12,
    BEGIN1 = LOOSE_BLOB + 24 + 3,
    PACKET = BEGIN1 + 12,
    TOC = PACKET + 8 + 5,
    FOOTER = TOC + 16 + 2 * 32,
    SIZE = FOOTER + 32,
};

static struct file sample(void)
{
    char path[64];
    struct error e = {0};
    struct trace_writer *w;
    struct trace_range range = {.alloc_id = 7, .flags = 1, .gpa = 0x10000, .size = 4096};
    struct trace_submission s = {
        .submit_flags = 1, .context_id = 2, .signal_fence = 9, .ranges = &range, .num_ranges = 1};
    uint64_t loose;
    struct file f;

    temp_path(path);
    assert_int_equal(trace_writer_create(&w,
                                         &(struct trace_writer_params){.path = path,
                                                                       .command_abi = AEROGPU_ABI_VERSION_U32,
                                                                       .producer = "the test"},
                                         &e),
                     0);
    assert_int_equal(trace_writer_begin_frame(w, 0, &e), 0);
    assert_int_equal(trace_writer_blob(w, TRACE_BLOB_CMD_STREAM, "commands", 8, &s.cmd_blob, &e), 0);
    assert_int_equal(trace_writer_blob(w, TRACE_BLOB_ALLOC_MEMORY, "page", 4, &range.blob, &e), 0);
    assert_int_equal(trace_writer_submission(w, &s, &e), 0);
    assert_int_equal(trace_writer_present(w, &e), 0);
    assert_int_equal(trace_writer_blob(w, TRACE_BLOB_BUFFER_DATA, "abc", 3, &loose, &e), 0);
    assert_int_equal(trace_writer_begin_frame(w, 5, &e), 0);
    assert_int_equal(trace_writer_packet(w, "12345", 5, &e), 0);
    assert_int_equal(trace_writer_finish(w, &e), 0);
    assert_int_equal(e.code, 0);
    f = slurp(path);
    unlink(path);
    return f;
}

static int open_bytes(struct trace_reader **r, const struct file *f, bool salvage, struct error *e)
{
    *e = (struct error){0};
    return trace_reader_open(
        r, &(struct trace_reader_params){.data = f->data, .size = f->size, .salvage = salvage}, e);
}

/* Reads to the end or the error, which stays; the number of records. */
static int drain(struct trace_reader *r, struct error *e)
{
    struct trace_record rec;
    struct error again = {0};
    int n = 0, rc;

    *e = (struct error){0};
    while ((rc = trace_reader_next(r, &rec, e)) > 0)
        n++;
    assert_int_equal(trace_reader_next(r, &rec, &again), rc);
    assert_string_equal(again.text, e->text);
    return n;
}

TEST(what_is_written_can_be_read)
{
    struct file f = sample();
    struct trace_reader *r;
    struct trace_record rec;
    struct trace_blob blob;
    struct trace_buffer bytes = {0};
    struct error e;
    const struct trace_info *info;

    assert_int_equal(f.size, SIZE);
    assert_int_equal(open_bytes(&r, &f, false, &e), 0);
    info = trace_reader_info(r);
    assert_int_equal(info->container_version, 2);
    assert_int_equal(info->command_abi, AEROGPU_ABI_VERSION_U32);
    assert_string_equal(info->meta, "{\"emulator_version\":\"the test\",\"command_abi_version\":65540}");
    assert_string_equal(info->warning, "");
    assert_int_equal(info->num_frames, 2);
    assert_int_equal(info->frames[1].index, 5);
    assert_int_equal(info->frames[1].present, 0);
    for (int pass = 0; pass < 2; pass++) {
        static const struct {
            enum trace_record_type type;
            uint64_t offset;
            uint32_t frame;
        } want[] = {
            {TRACE_BEGIN_FRAME, BEGIN0, 0}, {TRACE_BLOB, CMD_BLOB, 0},
            {TRACE_BLOB, MEM_BLOB, 0},      {TRACE_SUBMISSION, SUBMISSION, 0},
            {TRACE_PRESENT, PRESENT0, 0},   {TRACE_BLOB, LOOSE_BLOB, UINT32_MAX},
            {TRACE_BEGIN_FRAME, BEGIN1, 5}, {TRACE_PACKET, PACKET, 5},
        };
        for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
            assert_int_equal(trace_reader_next(r, &rec, &e), 1);
            assert_int_equal(rec.type, want[i].type);
            assert_int_equal(rec.offset, want[i].offset);
            assert_int_equal(rec.frame, want[i].frame);
            if (rec.type == TRACE_SUBMISSION) {
                assert_int_equal(rec.submission.signal_fence, 9);
                assert_int_equal(rec.submission.context_id, 2);
                assert_int_equal(rec.submission.num_ranges, 1);
                assert_int_equal(rec.submission.ranges[0].gpa, 0x10000);
                assert_int_equal(rec.submission.ranges[0].size, 4096);
                assert_int_equal(trace_reader_find_blob(r, rec.submission.ranges[0].blob,
                                                        TRACE_BLOB_ALLOC_MEMORY, "x", &blob, &e),
                                 0);
                assert_int_equal(trace_reader_load(r, blob.offset, blob.size, &bytes, &e), 0);
                assert_int_equal(bytes.size, 4);
                assert_memory_equal(bytes.data, "page", 4);
            } else if (rec.type == TRACE_PACKET) {
                assert_int_equal(trace_reader_load(r, rec.packet.offset, rec.payload_len, &bytes, &e), 0);
                assert_memory_equal(bytes.data, "12345", 5);
            }
        }
        assert_int_equal(trace_reader_next(r, &rec, &e), 0);
        assert_int_equal(trace_reader_next(r, &rec, &e), 0);
        trace_reader_rewind(r);
    }
    assert_int_equal(trace_reader_find_blob(r, 1, TRACE_BLOB_CMD_STREAM, "x", &blob, &e), -ENOENT);
    e.code = 0;
    assert_int_equal(trace_reader_seek_frame(r, 5, &e), 0);
    assert_int_equal(trace_reader_find_blob(r, 1, TRACE_BLOB_ALLOC_MEMORY, "offset 0x1: y", &blob, &e),
                     -EBADMSG);
    assert_string_equal(e.text, "offset 0x1: y: blob 1 at 0x7f is CMD_STREAM, not ALLOC_MEMORY");
    e.code = 0;
    assert_int_equal(trace_reader_find_blob(r, 8, TRACE_BLOB_CMD_STREAM, "offset 0x1: y", &blob, &e),
                     -ENOENT);
    assert_string_equal(e.text, "offset 0x1: y: no blob 8 stands before it");
    assert_int_equal(trace_reader_next(r, &rec, &e), 1);
    assert_int_equal(rec.offset, BEGIN1);
    e.code = 0;
    assert_int_equal(trace_reader_seek_frame(r, 3, &e), -ENOENT);
    assert_string_equal(e.text, "the recording has no frame 3");
    trace_buffer_finish(&bytes);
    trace_reader_destroy(r);
    free(f.data);
}

/* Reads every record and writes it again; the files must be equal byte by byte. */
static void rewrite(const char *path)
{
    char out[64];
    struct error e = {0};
    struct trace_reader *r;
    struct trace_writer *w;
    struct trace_record rec;
    struct trace_buffer bytes = {0};
    struct file a = slurp(path), b;
    uint64_t id;
    int rc;

    temp_path(out);
    assert_int_equal(trace_reader_open(&r, &(struct trace_reader_params){.path = path}, &e), 0);
    assert_int_equal(trace_writer_create(&w,
                                         &(struct trace_writer_params){
                                             .path = out,
                                             .container_version = trace_reader_info(r)->container_version,
                                             .command_abi = trace_reader_info(r)->command_abi,
                                             .producer = "0.0.0-dev"},
                                         &e),
                     0);
    while ((rc = trace_reader_next(r, &rec, &e)) > 0) {
        switch (rec.type) {
        case TRACE_BEGIN_FRAME:
            assert_int_equal(trace_writer_begin_frame(w, rec.frame, &e), 0);
            break;
        case TRACE_PRESENT:
            assert_int_equal(trace_writer_present(w, &e), 0);
            break;
        case TRACE_PACKET:
            assert_int_equal(trace_reader_load(r, rec.packet.offset, rec.payload_len, &bytes, &e), 0);
            assert_int_equal(trace_writer_packet(w, bytes.data, bytes.size, &e), 0);
            break;
        case TRACE_BLOB:
            assert_int_equal(trace_reader_load(r, rec.blob.offset, rec.blob.size, &bytes, &e), 0);
            assert_int_equal(trace_writer_blob(w, rec.blob.kind, bytes.data, bytes.size, &id, &e), 0);
            assert_int_equal(id, rec.blob.id);
            break;
        case TRACE_SUBMISSION:
            assert_int_equal(trace_writer_submission(w, &rec.submission, &e), 0);
            break;
        }
    }
    assert_int_equal(rc, 0);
    assert_int_equal(trace_writer_finish(w, &e), 0);
    b = slurp(out);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    unlink(out);
    trace_buffer_finish(&bytes);
    trace_reader_destroy(r);
    free(a.data);
    free(b.data);
}

TEST(upstream_recordings_are_rewritten_byte_by_byte)
{
    static const char *const names[] = {"a3a0_clear_red",
                                        "cmd_clear_b8g8r8a8",
                                        "cmd_clear_b8g8r8x8",
                                        "cmd_copy_texture2d",
                                        "cmd_copy_texture2d_subrect",
                                        "cmd_present_ex",
                                        "cmd_triangle",
                                        "cmd_depth_test"};
    char path[4096];
    const char *dir = conformance_dir();

    if (!dir)
        skip();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/aerogpu_%s.aerogputrace", dir, names[i]);
        rewrite(path);
    }
    snprintf(path, sizeof(path), "%s/triangle.aerogputrace", dir);
    rewrite(path);
}

TEST(a_file_cut_at_any_byte_gives_an_error_and_what_is_before_it)
{
    static const int ends[] = {CMD_BLOB, MEM_BLOB, SUBMISSION, PRESENT0, LOOSE_BLOB, BEGIN1, PACKET, TOC};
    struct file f = sample();
    struct trace_reader *r;
    struct error e;

    for (size_t size = 0; size < SIZE; size++) {
        /* A block of its own, so that a sanitizer sees a read past the cut. */
        struct file cut = {.data = malloc(size ? size : 1), .size = size};
        int want = 0, rc;

        memcpy(cut.data, f.data, size);
        assert_true(open_bytes(&r, &cut, false, &e) < 0);
        assert_non_null(strstr(e.text, "offset 0x"));
        rc = open_bytes(&r, &cut, true, &e);
        if (size < BEGIN0) {
            assert_int_equal(rc, -ENODATA);
        } else {
            assert_int_equal(rc, 0);
            assert_true(trace_reader_info(r)->salvaged);
            while (want < 8 && size >= (size_t)ends[want])
                want++;
            assert_int_equal(drain(r, &e), want);
            assert_int_equal(e.code, -ENODATA);
            if (size < TOC || size >= TOC + 8)
                assert_non_null(strstr(e.text, want == 8 || size == (size_t)(want ? ends[want - 1] : BEGIN0)
                                                   ? "the file is cut or was never finished"
                                                   : "record"));
            trace_reader_destroy(r);
        }
        free(cut.data);
    }
    free(f.data);
}

/* One changed field, and the sentence that it must give, from open() or from next(). */
static const struct damage {
    size_t at;
    int bytes;
    uint64_t value;
    int code;
    const char *text;
} damages[] = {
    {0, 1, 'B', -EBADMSG, "offset 0x0: header.magic: is not \"AEROGPUT\": this is no recording"},
    {8, 4, 40, -EBADMSG, "offset 0x8: header.header_size: is 40, must be 32"},
    {12, 4, 3, -EPROTONOSUPPORT,
     "offset 0xc: header.container_version: container version 3 is not known (1 and 2 are)"},
    {12, 4, 0, -EPROTONOSUPPORT,
     "offset 0xc: header.container_version: container version 0 is not known (1 and 2 are)"},
    {12, 4, 1, -EBADMSG, "offset 0x19f: footer.container_version: is 2, the header's is 1"},
    {20, 4, 2, -EBADMSG, "offset 0x14: header.flags: is 0x2, no flag is defined"},
    {24, 4, 0xFFFFFFFF, -ENODATA,
     "offset 0x18: header.meta_len: 4294967295 bytes of metadata, but the file ends at 0x1b3"},
    {24, 4, 60, -EBADMSG, "offset 0x5c: metadata: is not a JSON object: end of file expected"},
    {28, 4, 1, -EBADMSG, "offset 0x1c: header.reserved: is 0x1, must be 0"},
    {32, 1, '[', -EBADMSG, NULL},
    {FOOTER, 1, 'x', -ENODATA, NULL},
    {FOOTER + 8, 4, 33, -EBADMSG, NULL},
    {FOOTER + 12, 4, 9, -EPROTONOSUPPORT, NULL},
    {FOOTER + 16, 8, UINT64_MAX, -EBADMSG, NULL},
    {FOOTER + 16, 8, 4, -EBADMSG, NULL},
    {FOOTER + 24, 8, 16, -EBADMSG, NULL},
    {FOOTER + 24, 8, UINT64_MAX, -EBADMSG, NULL},
    {TOC, 1, 'x', -EBADMSG, NULL},
    {TOC + 8, 4, 2, -EPROTONOSUPPORT, NULL},
    {TOC + 12, 4, 3, -EBADMSG, NULL},
    {TOC + 12, 4, 0xFFFFFFFF, -EBADMSG, NULL},
    {TOC + 16, 4, 5, -EBADMSG, "offset 0x173: TOC.frame_index: is 5 after 5"},
    {TOC + 20, 4, 1, -EBADMSG, "offset 0x157: TOC.flags: is 0x1, no flag is defined"},
    {TOC + 24, 8, 0, -EBADMSG, NULL},
    {TOC + 32, 8, 8, -EBADMSG, NULL},
    {TOC + 40, 8, FOOTER, -EBADMSG, NULL},
    {TOC + 40, 8, BEGIN0, -EBADMSG, NULL},
    {TOC + 24, 8, BEGIN0 + 1, -EBADMSG, "offset 0x5b: BeginFrame: the frame index has frame 0 begin at 0x5c"},
    {TOC + 32, 8, PRESENT0 - 1, -EBADMSG, NULL},
    {TOC + 32, 8, 0, -EBADMSG, "offset 0x103: Present: the frame index has the present of frame 0 at 0x0"},
    {TOC + 40, 8, LOOSE_BLOB + 1, -EBADMSG, NULL},
    {TOC + 40, 8, PRESENT0 + 1, -EBADMSG, NULL},
    {BEGIN0, 1, 6, -EBADMSG, "offset 0x5b: record.record_type: 6 is not known"},
    {BEGIN0, 1, 0, -EBADMSG, "offset 0x5b: record.record_type: 0 is not known"},
    {BEGIN0 + 1, 1, 1, -EBADMSG, "offset 0x5c: record.flags: is 0x1, no flag is defined"},
    {BEGIN0 + 2, 2, 1, -EBADMSG, "offset 0x5d: record.reserved: is 0x1, must be 0"},
    {BEGIN0 + 4, 4, 5, -EBADMSG, "offset 0x5f: record.payload_len: a BeginFrame has 4 bytes, this one 5"},
    {BEGIN0 + 8, 4, 1, -EBADMSG, "offset 0x63: BeginFrame.frame_index: is 1, the frame index says 0"},
    {PRESENT0 + 8, 4, 1, -EBADMSG, "offset 0x10b: Present.frame_index: is 1 in frame 0"},
    {CMD_BLOB + 4, 4, 15, -EBADMSG,
     "offset 0x6b: record.payload_len: a Blob needs 16 bytes, this one has 15"},
    {CMD_BLOB + 4, 4, 0xFFFFFFFF, -ENODATA,
     "offset 0x6b: record.payload_len: 4294967295 bytes of Blob, but the records end at 0x143"},
    {CMD_BLOB + 16, 4, 6, -EBADMSG, "offset 0x77: Blob.kind: 0x6 is not known"},
    {CMD_BLOB + 20, 4, 1, -EBADMSG, "offset 0x7b: Blob.reserved: is 0x1, must be 0"},
    {MEM_BLOB + 8, 8, 1, -EBADMSG, "offset 0x8f: Blob.blob_id: 1 is already the blob at 0x7f"},
    {SUBMISSION + 4, 4, 55, -EBADMSG, NULL},
    {SUBMISSION + 8, 4, 2, -EPROTONOSUPPORT, "offset 0xab: Submission.record_version: is 2, must be 1"},
    {SUBMISSION + 12, 4, 55, -EBADMSG,
     "offset 0xaf: Submission.header_size: 55 is not between 56 and the record's 88 bytes"},
    {SUBMISSION + 12, 4, 89, -EBADMSG, NULL},
    {SUBMISSION + 12, 4, 0xFFFFFFFF, -EBADMSG, NULL},
    {SUBMISSION + 28, 4, 1, -EBADMSG, NULL},
    {SUBMISSION + 56, 4, 2, -EBADMSG,
     "offset 0xdb: Submission.memory_range_count: 2 ranges of 32 bytes do not fit the record's 88 bytes"},
    {SUBMISSION + 56, 4, 0xFFFFFFFF, -EBADMSG, NULL},
    {SUBMISSION + 60, 4, 1, -EBADMSG, NULL},
    {SUBMISSION + 64 + 16, 8, UINT64_MAX, -EBADMSG, NULL},
};

TEST(damaged_fields_are_named)
{
    struct file good = sample();

    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        const struct damage *d = &damages[i];
        struct file f = {.data = malloc(good.size), .size = good.size};
        struct trace_reader *r = NULL;
        struct error e;
        uint64_t value = htole64(d->value);
        char where[32];

        memcpy(f.data, good.data, good.size);
        memcpy(f.data + d->at, &value, (size_t)d->bytes);
        if (!open_bytes(&r, &f, false, &e))
            drain(r, &e);
        if (e.code != d->code || (d->text && strcmp(e.text, d->text)))
            print_error("at 0x%zx = 0x%llx: \"%s\" (%d)\n", d->at, (unsigned long long)d->value, e.text,
                        e.code);
        assert_int_equal(e.code, d->code);
        snprintf(where, sizeof(where), "offset 0x");
        assert_memory_equal(e.text, where, strlen(where));
        if (d->text)
            assert_string_equal(e.text, d->text);
        trace_reader_destroy(r);
        free(f.data);
    }
    free(good.data);
}

/* The number that stands for none is no frame's, whether an index knows it or not. */
TEST(the_last_number_is_no_frame)
{
    struct file f = sample();
    struct trace_reader *r;
    struct error e;

    f.size = TOC;
    memset(f.data + BEGIN0 + 8, 0xff, 4);
    assert_int_equal(open_bytes(&r, &f, true, &e), 0);
    assert_int_equal(drain(r, &e), 0);
    assert_int_equal(e.code, -EBADMSG);
    assert_string_equal(
        e.text, "offset 0x63: BeginFrame.frame_index: is 4294967295, which says that there is no frame");
    trace_reader_destroy(r);
    free(f.data);
}

TEST(version_1_has_no_submissions)
{
    struct file f = sample();
    struct trace_reader *r;
    struct error e;

    f.data[12] = f.data[FOOTER + 12] = 1;
    assert_int_equal(open_bytes(&r, &f, false, &e), 0);
    assert_int_equal(drain(r, &e), 3);
    assert_int_equal(e.code, -EBADMSG);
    assert_string_equal(
        e.text, "offset 0xa3: record.record_type: 5 (Submission) does not exist in container version 1");
    trace_reader_destroy(r);
    free(f.data);
}

TEST(odd_metadata_is_a_warning)
{
    struct file f = sample();
    struct trace_reader *r;
    struct error e;

    f.data[16] = 9; /* the command ABI version of the header */
    assert_int_equal(open_bytes(&r, &f, false, &e), 0);
    assert_string_equal(trace_reader_info(r)->warning,
                        "the metadata says command_abi_version 65540, the header 65545");
    trace_reader_destroy(r);
    f.data[16] = 4;
    f.data[34] = 'x'; /* emulator_version → xmulator_version */
    assert_int_equal(open_bytes(&r, &f, false, &e), 0);
    assert_string_equal(trace_reader_info(r)->warning, "the metadata has no emulator_version");
    trace_reader_destroy(r);
    free(f.data);
}

TEST(what_cannot_be_opened_says_why)
{
    struct trace_reader *r;
    struct error e = {0};

    assert_int_equal(trace_reader_open(&r, &(struct trace_reader_params){.path = "/nonexistent"}, &e),
                     -ENOENT);
    assert_string_equal(e.text, "cannot open: No such file or directory");
    error_clear(&e);
    assert_int_equal(trace_reader_open(&r, &(struct trace_reader_params){.path = "/tmp"}, &e), -EISDIR);
    assert_string_equal(e.text, "is a directory, not a recording");
    error_clear(&e);
    assert_int_equal(trace_reader_open(&r, &(struct trace_reader_params){.path = "/dev/null"}, &e), -EBADMSG);
    assert_null(r);
}

TEST(the_writer_keeps_the_order)
{
    char path[64];
    struct error e = {0};
    struct trace_writer *w;
    struct trace_submission s = {0};

    temp_path(path);
    assert_int_equal(trace_writer_create(
                         &w,
                         &(struct trace_writer_params){
                             .path = path, .container_version = 1, .producer = "\"quoted\"\n", .notes = "né"},
                         &e),
                     0);
    assert_int_equal(trace_writer_packet(w, "", 0, NULL), -EPROTO);
    assert_int_equal(trace_writer_present(w, NULL), -EPROTO);
    assert_int_equal(trace_writer_begin_frame(w, 3, NULL), 0);
    assert_int_equal(trace_writer_begin_frame(w, 4, NULL), -EBUSY);
    assert_int_equal(trace_writer_submission(w, &s, NULL), -EPROTONOSUPPORT);
    assert_int_equal(trace_writer_end_frame(w, NULL), 0);
    assert_int_equal(trace_writer_begin_frame(w, 3, NULL), -EINVAL);
    assert_int_equal(trace_writer_finish(w, &e), 0);
    assert_int_equal(
        trace_writer_create(&w, &(struct trace_writer_params){.path = path, .container_version = 3}, &e),
        -EPROTONOSUPPORT);
    unlink(path);
}

TEST(a_full_disk_is_reported_once_and_stays)
{
    struct error e = {0};
    struct trace_writer *w;
    uint64_t id;
    static uint8_t big[1 << 20];

    if (access("/dev/full", W_OK)) {
        print_message("skipped: /dev/full is not there\n");
        skip();
    }
    assert_int_equal(
        trace_writer_create(&w, &(struct trace_writer_params){.path = "/dev/full", .producer = "x"}, &e), 0);
    assert_int_equal(trace_writer_blob(w, TRACE_BLOB_BUFFER_DATA, big, sizeof(big), &id, &e), -ENOSPC);
    assert_non_null(strstr(e.text, "/dev/full: writing at 0x"));
    assert_int_equal(trace_writer_begin_frame(w, 0, NULL), -ENOSPC);
    assert_int_equal(trace_writer_finish(w, NULL), -ENOSPC);
}
