/* SPDX-License-Identifier: MIT */
/* d3d12_file_test.c: the tables, the ways of watching memory, and the files of the Direct3D 12 recorder: what needs no device. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <xxhash.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/strbuf.h"
#include "record/varint.h"
#include "record/dirty/dirty.h"
#include "record/names.h"
#include "d3d12/gen/pipeline_stream.h"
#include "record/show.h"
#include "d3d12/gen/table.h"
#include "record/trace_file.h"
#include "record/trace_split.h"
#include "d3d12_records.h"
#include "temp_dir.h"

/* ---- tables -------------------------------------------------------------- */

TEST(interfaces_are_found_by_their_iid)
{
    const GUID device = {0x189819f1, 0x1db6, 0x4b57, {0xbe, 0x54, 0x18, 0x21, 0x33, 0x9b, 0x85, 0xf7}};
    GUID other = device;

    other.Data1++;
    assert_int_equal(d12_iface_of(&device), D12_IFACE_ID3D12Device);
    assert_int_equal(d12_iface_of(&other), D12_IFACE_UNKNOWN);
    assert_true(d12_iface_is(D12_IFACE_ID3D12Device5, D12_IFACE_ID3D12Device));
    assert_true(d12_iface_is(D12_IFACE_ID3D12Device5, D12_IFACE_IUnknown));
    assert_false(d12_iface_is(D12_IFACE_ID3D12Device, D12_IFACE_ID3D12Device5));
    assert_int_equal(d12_ifaces[D12_IFACE_ID3D12Device].slots, 44); /* as the published table has */
    assert_int_equal(d12_ifaces[D12_IFACE_ID3D12GraphicsCommandList].slots, 60);
    assert_int_equal(offsetof(ID3D12DeviceVtbl, CreateFence) / sizeof(void *), 36);
}

/* Every method of every interface is in the table, or its interface says why not. */
TEST(no_method_is_forgotten)
{
    unsigned recorded[D12_NUM_IFACES] = {0};

    for (unsigned i = 1; i < D12_NUM_METHODS; i++)
        if (d12_methods[i].name && d12_methods[i].iface_index < D12_NUM_IFACES)
            recorded[d12_methods[i].iface_index]++;
    for (unsigned i = 0; i < D12_NUM_IFACES; i++) {
        unsigned base = d12_ifaces[i].base < D12_NUM_IFACES ? d12_ifaces[d12_ifaces[i].base].slots : 0;

        if (d12_ifaces[i].skip)
            assert_true(strlen(d12_ifaces[i].skip) > 10);
        else
            assert_int_equal(recorded[i], d12_ifaces[i].slots - base);
    }
}

TEST(pipeline_streams_follow_the_alignment_rules)
{
    struct {
        struct {
            _Alignas(void *) D3D12_PIPELINE_STATE_SUBOBJECT_TYPE type;
            D3D12_SHADER_BYTECODE value;
        } cs;
        struct {
            _Alignas(void *) D3D12_PIPELINE_STATE_SUBOBJECT_TYPE type;
            UINT value;
        } mask;
        struct {
            _Alignas(void *) D3D12_PIPELINE_STATE_SUBOBJECT_TYPE type;
            D3D12_RASTERIZER_DESC value;
        } raster;
    } s = {{D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_CS, {"x", 1}},
           {D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_SAMPLE_MASK, 7},
           {D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_RASTERIZER, {.FillMode = D3D12_FILL_MODE_SOLID}}};
    size_t pos = 0, at = 0, made = 0;
    uint32_t type;

    assert_int_equal(stream_next(&s, sizeof(s), &pos, &type, &at), STREAM_ITEM);
    assert_ptr_equal((char *)&s + at, &s.cs.value);
    assert_int_equal(stream_place(&made, type), at);
    assert_int_equal(stream_next(&s, sizeof(s), &pos, &type, &at), STREAM_ITEM);
    assert_int_equal(type, D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_SAMPLE_MASK);
    assert_ptr_equal((char *)&s + at, &s.mask.value);
    assert_int_equal(stream_place(&made, type), at);
    assert_int_equal(stream_next(&s, sizeof(s), &pos, &type, &at), STREAM_ITEM);
    assert_ptr_equal((char *)&s + at, &s.raster.value);
    assert_int_equal(stream_place(&made, type), at);
    assert_int_equal(stream_next(&s, sizeof(s), &pos, &type, &at), STREAM_END);
    pos = 0;
    assert_int_equal(stream_next(&s, sizeof(s.cs) - 1, &pos, &type, &at), STREAM_SHORT);
    s.mask.type = 31;
    pos = sizeof(s.cs);
    assert_int_equal(stream_next(&s, sizeof(s), &pos, &type, &at), STREAM_UNKNOWN);
    assert_int_equal(type, 31);
}

/* ---- watched memory ------------------------------------------------------ */

struct seen {
    uint8_t *base;
    uint8_t page[64];
};

static void on_run(void *ctx, struct dirty_run r)
{
    struct seen *s = ctx;

    for (uintptr_t a = r.start; a < r.end; a += DIRTY_PAGE)
        s->page[(a - (uintptr_t)s->base) / DIRTY_PAGE]++;
}

/* What the kernel writes there, for whatever call, is whole, and is found. */
static void system_calls(struct dirty *d, struct dirty_span *span, struct seen *s, uint8_t *p)
{
    uint8_t *to = p + 5 * DIRTY_PAGE - 100; /* over the border of two pages */
    struct iovec v = {to, 200};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
    int fd = open("/dev/urandom", O_RDONLY), file = open("/proc/self/exe", O_RDONLY), pair[2];
    FILE *f = fopen("/proc/self/exe", "rb");
    uint8_t bytes[200];

    assert_non_null(f);
    setvbuf(f, NULL, _IONBF, 0); /* else it is copied from a buffer */
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
    for (int i = 0; i < 8; i++) {
        ssize_t n = -1;

        memset(bytes, 20 + i, sizeof(bytes));
        assert_int_equal(send(pair[0], bytes, sizeof(bytes), 0), sizeof(bytes));
        dirty_collect(d, span, on_run, s);
        memset(s->page, 0, sizeof(s->page));
        switch (i) {
        case 0:
            n = read(fd, to, 200);
            break;
        case 1:
            n = readv(fd, &v, 1);
            break;
        case 2:
            n = pread(file, to, 200, 64);
            break;
        case 3:
            n = preadv(file, &v, 1, 128);
            break;
        case 4:
            n = recvfrom(pair[1], to, 200, 0, NULL, NULL);
            break;
        case 5:
            n = recvmsg(pair[1], &m, 0);
            break;
        case 6:
            n = getrandom(to, 200, 0);
            break;
        case 7:
            n = (ssize_t)fread(to, 1, 200, f);
            break;
        }
        assert_int_equal(n, 200);
        dirty_collect(d, span, on_run, s);
        assert_int_equal(s->page[4], 1);
        assert_int_equal(s->page[5], 1);
        if (i != 4 && i != 5)
            recv(pair[1], bytes, sizeof(bytes), 0);
    }
    fclose(f);
    close(fd);
    close(file);
    close(pair[0]);
    close(pair[1]);
}

static void watch(enum dirty_method m)
{
    struct dirty_span *span;
    struct dirty *d;
    struct seen s = {0};
    uint8_t *p = mmap(NULL, 64 * DIRTY_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int err = dirty_create(&d, m);

    if (err == -ENOSYS || err == -EPERM) {
        print_message("this kernel has no userfaultfd write watch: skipped\n");
        skip();
    }
    assert_int_equal(err, 0);
    s.base = p;
    memset(p, 1, 32 * DIRTY_PAGE);
    assert_int_equal(dirty_add(d, &span, p, 64 * DIRTY_PAGE), 0);
    assert_int_equal(dirty_collect(d, span, on_run, &s), 0);
    memset(s.page, 0, sizeof(s.page));
    for (int round = 0; round < 3; round++) {
        static const int pages[] = {0, 7, 8, 31, 32, 63};

        for (size_t i = 0; i < 6; i++)
            p[pages[i] * DIRTY_PAGE + 100 * round] = (uint8_t)(2 + round);
        assert_int_equal(dirty_collect(d, span, on_run, &s), 0);
        for (int i = 0; i < 64; i++) {
            bool written = false;

            for (size_t k = 0; k < 6; k++)
                written = written || pages[k] == i;
            assert_int_equal(s.page[i], written);
        }
        memset(s.page, 0, sizeof(s.page));
    }
    assert_int_equal(dirty_collect(d, span, on_run, &s), 0);
    for (int i = 0; i < 64; i++)
        assert_int_equal(s.page[i], 0);
    system_calls(d, span, &s, p);
    /* nearly everything written: the kernel's way changes over to hashing and must lose nothing on the way */
    for (int round = 0; round < 14; round++) {
        memset(s.page, 0, sizeof(s.page));
        memset(p, 100 + round, (round < 3 ? 60 : 1) * DIRTY_PAGE);
        assert_int_equal(dirty_collect(d, span, on_run, &s), 0);
        for (int i = 0; i < (round < 3 ? 60 : 1); i++)
            assert_true(s.page[i] >= 1);
    }
    dirty_remove(d, span);
    p[3] = 1; /* and is ordinary memory again */
    dirty_destroy(d);
    munmap(p, 64 * DIRTY_PAGE);
}

TEST(the_kernel_watches_memory)
{
    watch(DIRTY_KERNEL);
}

TEST(hashes_watch_memory)
{
    watch(DIRTY_HASH);
}

/* ---- words --------------------------------------------------------------- */

static void says(const char *want, uint64_t kind, const void *bytes, size_t size)
{
    char text[64];
    size_t n = d12_said(kind, bytes, size, text, sizeof(text) - 1);

    text[n] = '\0';
    assert_string_equal(text, want);
}

/* Microsoft's pix.h and WinPixEventRuntime write these. */
TEST(the_programs_words_are_read)
{
    static const uint16_t utf16[] = {'S', 0xe9, 0xd83d, 0xde00, 0};
    static const uint32_t utf32[] = {'S', 0xe9, 0x1f600, 0};
    const uint64_t wide = 8ull << 55, bytes = 8ull << 55 | 1ull << 54;
    double half = 0.5;
    uint64_t blob[12] = {0};

    says("S\xc3\xa9\xf0\x9f\x98\x80", 0, utf16, sizeof(utf16));
    says("S\xc3\xa9\xf0\x9f\x98\x80", 0, utf32, sizeof(utf32));
    says("Shadow", 1, "Shadow", 7);
    says("Shad", 1, "Shadow", 4);
    says("", 1, "", 0);
    says("", 7, "Shadow", 7);
    /* [begin with arguments, colour, string of bytes, "tree %d of %s", -3, string of 16 bits, "elm"] */
    blob[0] = 1 << 10;
    blob[2] = bytes;
    memcpy(&blob[3], "tree %2d of %s", 15);
    blob[5] = (uint64_t)-3;
    blob[6] = wide;
    memcpy(&blob[7], (const uint16_t[]){'e', 'l', 'm', 0}, 8);
    says("tree -3 of elm", 2, blob, 64);
    says("tree -3 of %s", 2, blob, 48); /* without an argument its place stays */
    says("tree %2d of %s", 2, blob, 40);
    says("", 2, blob, 20);
    /* [string of bytes, of a context, with a colour of its own] [colour] [context] "100%% %.1f" 0.5 */
    memset(blob, 0, sizeof(blob));
    blob[0] = 0xf3 << 12 | 1 << 7 | 6;
    memcpy(&blob[3], "100%% %.1f", 11);
    memcpy(&blob[5], &half, 8);
    says("100% 0.5", 6345127, blob, 48);
    blob[0] = 0x02 << 12;
    memcpy(&blob[1], "plain", 6);
    says("plain", 6345127, blob, 16);
    /* what is no ASCII, and half a character */
    blob[0] = 0;
    memcpy(&blob[1], (const uint16_t[]){'S', 0xe9, '%', 'i', 0xd83d, 0xde00, 0, 0}, 16);
    blob[3] = 7;
    says("S\xc3\xa9"
         "7\xf0\x9f\x98\x80",
         6345127, blob, 32);
    says("S\xc3\xa9", 1, "S\xc3\xa9", 4);
    says("\xef\xbf\xbdS\xef\xbf\xbd", 0, (const uint16_t[]){0xd83d, 'S', 0xde00, 0}, 8);
}

/* ---- files --------------------------------------------------------------- */

static char *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *p;

    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    p = malloc(*n);
    assert_int_equal(fread(p, 1, *n, f), *n);
    fclose(f);
    return p;
}

TEST(records_say_what_was_written)
{
    struct record r = {0};
    struct strbuf s = {0};
    struct trc_call c;
    struct trc *t;
    char path[100];

    snprintf(path, sizeof(path), "%s/sample", dir);
    sample(&r);
    write_file(path, r.bytes, r.n, 1);
    assert_int_equal(trc_open(&t, &d12_api, path, NULL), 0);
    assert_string_equal(trc_cut(t), "");
    assert_int_equal(trc_next(t, &c, NULL), 1);
    assert_int_equal(c.method, D12_Native_EventWait);
    assert_int_equal(c.seq, 13);
    assert_int_equal(c.time_ns, 1000 * TRC_TIME_UNIT_NS);
    show_call(&s, SHOW_TEXT, t, &c, NULL);
    assert_string_equal(strbuf_str(&s), "0 @1 EventWait(hEvent=event#1, Milliseconds=77) -> return=0");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(trc_next(t, &c, NULL), 1);
        assert_int_equal(c.seq, 14);
        assert_int_equal(c.self, 5);
        assert_int_equal(c.repeated, i);
        strbuf_clear(&s);
        show_call(&s, SHOW_TEXT, t, &c, NULL);
        assert_non_null(strstr(strbuf_str(&s),
                               "#5.DrawInstanced(VertexCountPerInstance=300, InstanceCount=301, "
                               "StartVertexLocation=302, StartInstanceLocation=303)"));
    }
    assert_int_equal(trc_next(t, &c, NULL), 0);
    trc_close(t);
    strbuf_finish(&s);
}

/* A file cut anywhere gives whole calls up to the cut, or one error; never anything else. */
TEST(cut_files_are_read_up_to_the_cut)
{
    struct record r = {0};
    struct error e;
    char path[100], *file;
    size_t n, header;
    unsigned long last = 0;

    snprintf(path, sizeof(path), "%s/cut", dir);
    sample(&r);
    write_file(path, r.bytes, r.n, 4);
    file = slurp(path, &n);
    header = sizeof(struct blocks_header) + 2;
    for (size_t cut = 0; cut < n; cut++) {
        unsigned long calls = 0;
        struct trc_call c;
        struct trc *t;
        int got;

        error_clear(&e);
        got = trc_open_memory(&t, &d12_api, file, cut, &e);
        if (cut < header) {
            assert_int_equal(got, -EBADMSG);
            continue;
        }
        assert_int_equal(got, 0);
        assert_non_null(strstr(trc_cut(t), " at byte "));
        assert_int_equal(trc_verify(t, NULL), -EBADMSG);
        while ((got = trc_next(t, &c, &e)) > 0)
            calls++;
        assert_int_equal(got, 0);
        assert_true(calls % 3 == 0 && calls >= last);
        last = calls;
        trc_close(t);
    }
    assert_int_equal(last, 12);
    free(file);
}

static int reading(char *file, size_t n, struct error *e, unsigned *calls)
{
    struct trc_call c;
    struct trc *t;
    int got = trc_open_memory(&t, &d12_api, file, n, e);

    *calls = 0;
    if (got)
        return got;
    while ((got = trc_next(t, &c, e)) > 0)
        ++*calls;
    trc_close(t);
    return got;
}

TEST(bad_files_are_refused_by_name)
{
    struct record r = {0};
    struct error e = {0};
    char path[100], *file;
    struct blocks_header *h;
    unsigned calls;
    size_t n;

    snprintf(path, sizeof(path), "%s/bad", dir);
    sample(&r);
    write_file(path, r.bytes, r.n, 1);
    file = slurp(path, &n);
    h = (void *)file;
    h->major++;
    assert_int_equal(reading(file, n, &e, &calls), -ENOTSUP);
    assert_string_equal(e.text, "byte 8: the recording has version 3.0, this program reads 2");
    h->major--;
    h->schema++;
    error_clear(&e);
    assert_int_equal(reading(file, n, &e, &calls), -EBADMSG);
    assert_string_equal(e.text, "the header at bytes 0 to 33 is damaged: its hash differs");
    h->schema--;
    file[sizeof(*h) + 2 + sizeof(struct blocks_block) + 8] ^= 1;
    error_clear(&e);
    assert_int_equal(reading(file, n, &e, &calls), -EBADMSG);
    assert_string_equal(e.text, "call 0: the block at byte 34 is damaged: its hash differs");
    free(file);

    r.n = 0;
    sample(&r);
    op(&r, D12_NUM_METHODS, 0);
    write_file(path, r.bytes, r.n, 1);
    file = slurp(path, &n);
    error_clear(&e);
    assert_int_equal(reading(file, n, &e, &calls), -EBADMSG);
    assert_int_equal(calls, 3);
    assert_string_equal(e.text,
                        "call 3: block 0 (thread 1) is malformed at offset 24: there is no such method");
    free(file);

    r.n = 0;
    sample(&r);
    op(&r, D12_ID3D12GraphicsCommandList_RSSetViewports, 0);
    var(&r, 1);
    var(&r, UINT64_C(1) << 60); /* that many viewports */
    write_file(path, r.bytes, r.n, 1);
    file = slurp(path, &n);
    error_clear(&e);
    assert_int_equal(reading(file, n, &e, &calls), -EBADMSG);
    assert_int_equal(calls, 3);
    assert_non_null(strstr(e.text, "call 3: block 0 (thread 1) is malformed"));
    assert_non_null(strstr(e.text, "RSSetViewports"));
    free(file);
}

/* Blocks that lie behind the first four gigabytes are found and read; the file is a hole in between, and has no index. */
TEST(files_over_four_gigabytes_are_read)
{
    struct blocks_block hole = {.magic = BLOCKS_MAGIC, .kind = 9, .packed = 0xfffffff0}, last;
    struct record r = {0};
    struct trc_call c;
    struct trc *t;
    char path[100], *file;
    size_t n, size, begin = sizeof(struct blocks_header) + 2;
    uint64_t behind;
    unsigned calls = 0;
    int fd;

    snprintf(path, sizeof(path), "%s/large", dir);
    sample(&r);
    write_file(path, r.bytes, r.n, 1);
    file = slurp(path, &n);
    memcpy(&last, file + begin, sizeof(last));
    size = sizeof(last) + last.packed;
    behind = begin + size + sizeof(hole) + hole.packed;
    hole.check = XXH3_64bits_withSeed(&hole, offsetof(struct blocks_block, check), begin + size);
    last.check = XXH3_64bits_withSeed(&last, offsetof(struct blocks_block, check), behind);
    fd = open(path, O_RDWR | O_TRUNC);
    assert_int_equal(pwrite(fd, file, begin + size, 0), begin + size);
    assert_int_equal(pwrite(fd, &hole, sizeof(hole), (off_t)(begin + size)), sizeof(hole));
    memcpy(file + begin, &last, sizeof(last));
    assert_int_equal(pwrite(fd, file + begin, size, (off_t)behind), size);
    close(fd);
    assert_int_equal(trc_open(&t, &d12_api, path, NULL), 0);
    assert_int_equal(trc_num_blocks(t), 3);
    assert_true(trc_block(t, 2)->offset > UINT64_C(1) << 32);
    while (trc_next(t, &c, NULL) > 0)
        calls++;
    assert_int_equal(calls, 6);
    trc_close(t);
    unlink(path);
    free(file);
}

/* Blob n has 1000 n bytes n; they span blocks, and only some fit into memory at a time. */
TEST(blobs_are_read_when_they_are_asked_for)
{
    enum { NUM = 60 };
    uint8_t *raw = malloc(NUM * NUM * 1000), *w = raw;
    struct block b = {.kind = TRC_BLOBS};
    struct trc_writer *out;
    struct trc *t;
    char path[100];

    snprintf(path, sizeof(path), "%s/blobs", dir);
    assert_int_equal(trc_writer_create(&out, &d12_api, path, "{}", NULL), 0);
    for (uint64_t n = 1; n <= NUM; n++) {
        for (uint64_t half = 0; half < 2; half++) {
            w = varint_put(varint_put(varint_put(varint_put(w, n), 1000 * n), half * 500 * n), 500 * n);
            memset(w, (int)n, 500 * n);
            w += 500 * n;
            if (half == 0 && n % 7 == 0) {
                assert_int_equal(trc_writer_block(out, &b, raw, (size_t)(w - raw), NULL), 0);
                w = raw;
            }
        }
    }
    assert_int_equal(trc_writer_block(out, &b, raw, (size_t)(w - raw), NULL), 0);
    assert_int_equal(trc_writer_finish(out, NULL), 0);
    for (int round = 0; round < 2; round++) {
        struct error e = {0};
        struct trc_call c;
        size_t size = 0;

        assert_int_equal(trc_open(&t, &d12_api, path, NULL), 0);
        trc_blob_budget(t, round ? 100000 : 0);
        for (unsigned k = 0; k < 1000; k++) {
            unsigned n = 1 + k * 37 % NUM, m = 1 + k * 11 % NUM;
            const uint8_t *p = trc_blob(t, n, &size, &e), *q;

            assert_non_null(p);
            assert_int_equal(size, 1000 * n);
            q = trc_blob(t, m, &size, &e); /* both are there until the next call */
            assert_int_equal(size, 1000 * m);
            for (unsigned i = 0; i < 1000 * n; i += 499)
                assert_int_equal(p[i], n);
            assert_int_equal(q[0] + q[1000 * m - 1], 2 * m);
            assert_int_equal(trc_next(t, &c, NULL), 0);
        }
        assert_null(trc_blob(t, NUM + 1, &size, &e));
        assert_string_equal(e.text, "there is no blob 61");
        trc_close(t);
    }
    free(raw);
}

/* Tables of another IDL file: the recording says what made it, and the reader what to do. */
TEST(other_tables_are_refused_with_advice)
{
    static const char *const meta = "{\"by\":\"aerogpu 9.9\"}";
    struct api other = d12_api;
    struct trc_writer *out;
    struct error e = {0};
    struct trc *t;
    char path[100], want[500];

    other.schema = 0x1234;

    snprintf(path, sizeof(path), "%s/other", dir);
    assert_int_equal(trc_writer_create(&out, &other, path, meta, NULL), 0);
    assert_int_equal(trc_writer_finish(out, NULL), 0);
    assert_int_equal(trc_open(&t, &d12_api, path, &e), -ENOTSUP);
    snprintf(want, sizeof(want),
             "%s: the recording was made with other method tables (0000000000001234, these are %016llx): "
             "read it with "
             "the aerogpu that made it, or one that was built from the same d3d12.idl (meson "
             "-Dd3d12_idl_dir=...); it "
             "says of itself: %s",
             path, (unsigned long long)d12_api.schema, meta);
    assert_string_equal(e.text, want);
}

TEST(split_blocks_come_back)
{
    struct record r = {0};
    uint8_t split[SPLIT_BOUND(512 * 40)], raw[512 * 40], back[512 * 40];
    size_t n = 0, m;

    for (int i = 0; i < 40; i++) {
        r.n = 0;
        sample(&r);
        op(&r, D12_ID3D12Fence_Signal, REC_SEQ);
        var(&r, zigzag(-3));
        var(&r, 100 + 7 * (uint64_t)i);
        var(&r, 0);
        memcpy(raw + n, r.bytes, r.n);
        n += r.n;
    }
    m = split_block(&d12_api, raw, n, split);
    assert_true(m > 0);
    assert_int_equal(unsplit_block(&d12_api, split, m, back, n), 0);
    assert_memory_equal(raw, back, n);
    for (size_t cut = 0; cut < m; cut++)
        assert_int_equal(unsplit_block(&d12_api, split, cut, back, n), -EBADMSG);
    assert_int_equal(unsplit_block(&d12_api, split, m, back, n - 1), -EBADMSG);
    assert_int_equal(split_block(&d12_api, raw, n - 1, split), 0); /* the last record is not whole */
}

TEST(threads_are_merged_in_ticket_order)
{
    struct block b = {.kind = TRC_CALLS};
    struct record r[2] = {0};
    struct trc_writer *w;
    struct trc_call c;
    struct trc *t;
    char path[100];

    snprintf(path, sizeof(path), "%s/merge", dir);
    assert_int_equal(trc_writer_create(&w, &d12_api, path, "{}", NULL), 0);
    /* thread 1 takes tickets 0, 2, 4 ...; thread 2 takes 1, 3, 5 ... and is written first */
    for (uint16_t k = 2; k-- > 0;) {
        for (int i = 0; i < 50; i++) {
            op(&r[k], D12_Native_EventSignal, REC_SEQ | REC_TICKET);
            var(&r[k], zigzag(i ? 1 : k));
            var(&r[k], 2 * (uint64_t)i + k + 1);
        }
        b.stream = k + 1;
        assert_int_equal(trc_writer_block(w, &b, r[k].bytes, r[k].n, NULL), 0);
    }
    assert_int_equal(trc_writer_finish(w, NULL), 0);
    assert_int_equal(trc_open(&t, &d12_api, path, NULL), 0);
    for (unsigned i = 0; i < 100; i++) {
        assert_int_equal(trc_next(t, &c, NULL), 1);
        assert_int_equal(c.seq, i);
        assert_int_equal(c.thread, i % 2 + 1);
        assert_int_equal(c.args[0], i + 1);
    }
    assert_int_equal(trc_next(t, &c, NULL), 0);
    trc_close(t);
}

TEST_GROUP(make_dir, remove_dir);
