/* d3d12_test.c: the Direct3D 12 recorder: its tables, its file, its memory watchers, and whole programs recorded and
 * played. usage: d3d12_test AEROGPU WORKLOAD STUB CALLALL */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "base/varint.h"
#include "d3d12/dirty.h"
#include "d3d12/names.h"
#include "d3d12/pipeline_stream.h"
#include "d3d12/show.h"
#include "d3d12/table.h"
#include "d3d12/trace_file.h"
#include "d3d12/trace_split.h"

static const char *aerogpu, *workload, *stub, *callall, *elsewhere;
static char dir[] = "/tmp/aerogpu-d3d12-test-XXXXXX";

/* Runs a command, its output (both streams) in `out`; returns its exit code. */
static int run(struct strbuf *out, const char *fmt, ...)
{
    char command[32768], buf[4096];
    size_t n;
    va_list ap;
    FILE *p;
    int status;

    va_start(ap, fmt);
    n = (size_t)snprintf(command, sizeof(command), "{ ");
    vsnprintf(command + n, sizeof(command) - n - 16, fmt, ap);
    va_end(ap);
    strcat(command, "\n} 2>&1");
    strbuf_clear(out);
    p = popen(command, "r");
    assert_non_null(p);
    while ((n = fread(buf, 1, sizeof(buf), p)) > 0)
        strbuf_append(out, buf, n);
    status = pclose(p);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- tables ------------------------------------------------------------------------------------------------- */

static void interfaces_are_found_by_their_iid(void **state)
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
static void no_method_is_forgotten(void **state)
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

static void pipeline_streams_follow_the_alignment_rules(void **state)
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

/* ---- watched memory ----------------------------------------------------------------------------------------- */

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

static void watch(enum dirty_method m, bool system_calls)
{
    struct dirty_span *span;
    struct dirty *d;
    struct seen s = {0};
    uint8_t *p = mmap(NULL, 64 * DIRTY_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int err = dirty_create(&d, m), fd;

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
    if (system_calls) {
        fd = open("/dev/zero", O_RDONLY);
        p[5 * DIRTY_PAGE] = 9;
        dirty_collect(d, span, on_run, &s);
        memset(s.page, 0, sizeof(s.page));
        assert_int_equal(read(fd, p + 5 * DIRTY_PAGE, 16), 16);
        close(fd);
        assert_int_equal(dirty_collect(d, span, on_run, &s), 0);
        assert_int_equal(s.page[5], 1);
    }
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

static void the_kernel_watches_memory(void **state)
{
    watch(DIRTY_KERNEL, true);
}

static void faults_watch_memory(void **state)
{
    watch(DIRTY_FAULT, false);
}

static void hashes_watch_memory(void **state)
{
    watch(DIRTY_HASH, true);
}

/* ---- files -------------------------------------------------------------------------------------------------- */

struct record {
    uint8_t bytes[512];
    size_t n;
};

static void var(struct record *r, uint64_t v)
{
    r->n = (size_t)(varint_put(r->bytes + r->n, v) - r->bytes);
}

static void op(struct record *r, uint32_t method, uint32_t flags)
{
    var(r, method << REC_FLAG_BITS | flags);
}

/* One event wait, one draw on object 5 and the same again: small, and with all that a header can say. */
static void sample(struct record *r)
{
    op(r, D12_Native_EventWait, REC_SEQ | REC_TICKET | REC_TIME);
    memcpy(r->bytes + r->n, "\3\0\0\0", 4);
    r->n += 4;
    var(r, 1000); /* time */
    var(r, 1);    /* event */
    var(r, 77);   /* milliseconds */
    var(r, 0);
    op(r, D12_ID3D12GraphicsCommandList_DrawInstanced, REC_THIS);
    var(r, 5);
    for (int i = 0; i < 4; i++)
        var(r, 300 + (uint64_t)i);
    op(r, D12_ID3D12GraphicsCommandList_DrawInstanced, REC_REPEAT);
}

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

static void write_file(const char *path, const void *records, size_t n, int blocks)
{
    struct trc_block b = {.kind = TRC_CALLS, .thread = 1, .first_seq = 10};
    struct trc_writer *w;

    assert_int_equal(trc_writer_create(&w, path, "{}", d12_schema, NULL), 0);
    for (int i = 0; i < blocks; i++) {
        assert_int_equal(trc_writer_block(w, &b, records, n, NULL), 0);
        b.first_seq += 10;
    }
    assert_int_equal(trc_writer_finish(w, NULL), 0);
}

static void records_say_what_was_written(void **state)
{
    struct record r = {0};
    struct strbuf s = {0};
    struct trc_call c;
    struct trc *t;
    char path[100];

    snprintf(path, sizeof(path), "%s/sample", dir);
    sample(&r);
    write_file(path, r.bytes, r.n, 1);
    assert_int_equal(trc_open(&t, path, NULL), 0);
    assert_true(trc_has_index(t));
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
static void cut_files_are_read_up_to_the_cut(void **state)
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
    header = sizeof(struct trc_header) + 2;
    for (size_t cut = 0; cut < n; cut++) {
        unsigned long calls = 0;
        struct trc_call c;
        struct trc *t;
        int got;

        error_clear(&e);
        got = trc_open_memory(&t, file, cut, &e);
        if (cut < header) {
            assert_int_equal(got, -EBADMSG);
            continue;
        }
        assert_int_equal(got, 0);
        assert_false(trc_has_index(t));
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
    int got = trc_open_memory(&t, file, n, e);

    *calls = 0;
    if (got)
        return got;
    while ((got = trc_next(t, &c, e)) > 0)
        ++*calls;
    trc_close(t);
    return got;
}

static void bad_files_are_refused_by_name(void **state)
{
    struct record r = {0};
    struct error e = {0};
    char path[100], *file;
    struct trc_header *h;
    unsigned calls;
    size_t n;

    snprintf(path, sizeof(path), "%s/bad", dir);
    sample(&r);
    write_file(path, r.bytes, r.n, 1);
    file = slurp(path, &n);
    h = (void *)file;
    h->major++;
    assert_int_equal(reading(file, n, &e, &calls), -ENOTSUP);
    assert_string_equal(e.text, "the recording has version 2.0, this program reads 1");
    h->major--;
    h->schema++;
    error_clear(&e);
    assert_int_equal(reading(file, n, &e, &calls), -ENOTSUP);
    h->schema--;
    file[sizeof(*h) + 2 + sizeof(struct trc_block) + 8] ^= 1;
    error_clear(&e);
    assert_int_equal(reading(file, n, &e, &calls), -EBADMSG);
    assert_string_equal(e.text, "call 0: the block at byte 26 is damaged: its hash differs");
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

/* Blocks that lie behind the first four gigabytes are found and read; the file is a hole in between. */
static void files_over_four_gigabytes_are_read(void **state)
{
    struct trc_block hole = {.magic = TRC_BLOCK_MAGIC, .kind = 9, .packed = 0xfffffff0}, first;
    struct record r = {0};
    struct trc_call c;
    struct trc *t;
    char path[100], *file;
    size_t n, blocks, begin;
    unsigned calls = 0;
    int fd;

    snprintf(path, sizeof(path), "%s/large", dir);
    sample(&r);
    write_file(path, r.bytes, r.n, 1);
    file = slurp(path, &n);
    begin = sizeof(struct trc_header) + 2;
    memcpy(&hole.thread, file + begin + offsetof(struct trc_block, thread), 2);
    memcpy(&first, file + begin, sizeof(first));
    blocks = sizeof(first) + first.packed;
    fd = open(path, O_RDWR | O_TRUNC);
    assert_int_equal(pwrite(fd, file, begin + blocks, 0), begin + blocks);
    assert_int_equal(pwrite(fd, &hole, sizeof(hole), (off_t)(begin + blocks)), sizeof(hole));
    assert_int_equal(pwrite(fd, file + begin, blocks, (off_t)(begin + blocks + sizeof(hole) + 0xfffffff0u)),
                     blocks);
    close(fd);
    assert_int_equal(trc_open(&t, path, NULL), 0);
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
static void blobs_are_read_when_they_are_asked_for(void **state)
{
    enum { NUM = 60 };
    uint8_t *raw = malloc(NUM * NUM * 1000), *w = raw;
    struct trc_block b = {.kind = TRC_BLOBS};
    struct trc_writer *out;
    struct trc *t;
    char path[100];

    snprintf(path, sizeof(path), "%s/blobs", dir);
    assert_int_equal(trc_writer_create(&out, path, "{}", d12_schema, NULL), 0);
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

        assert_int_equal(trc_open(&t, path, NULL), 0);
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
static void other_tables_are_refused_with_advice(void **state)
{
    static const char *const meta = "{\"by\":\"aerogpu 9.9\"}";
    struct trc_writer *out;
    struct error e = {0};
    struct trc *t;
    char path[100], want[500];

    snprintf(path, sizeof(path), "%s/other", dir);
    assert_int_equal(trc_writer_create(&out, path, meta, 0x1234, NULL), 0);
    assert_int_equal(trc_writer_finish(out, NULL), 0);
    assert_int_equal(trc_open(&t, path, &e), -ENOTSUP);
    snprintf(want, sizeof(want),
             "%s: the recording was made with other method tables (0000000000001234, these are %016llx): "
             "read it with "
             "the aerogpu that made it, or one that was built from the same d3d12.idl (meson "
             "-Dd3d12_idl_dir=...); it "
             "says of itself: %s",
             path, (unsigned long long)d12_schema, meta);
    assert_string_equal(e.text, want);
}

static void split_blocks_come_back(void **state)
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
    m = split_block(raw, n, split);
    assert_true(m > 0);
    assert_int_equal(unsplit_block(split, m, back, n), 0);
    assert_memory_equal(raw, back, n);
    for (size_t cut = 0; cut < m; cut++)
        assert_int_equal(unsplit_block(split, cut, back, n), -1);
    assert_int_equal(unsplit_block(split, m, back, n - 1), -1);
    assert_int_equal(split_block(raw, n - 1, split), 0); /* the last record is not whole */
}

static void threads_are_merged_in_ticket_order(void **state)
{
    struct trc_block b = {.kind = TRC_CALLS};
    struct record r[2] = {0};
    struct trc_writer *w;
    struct trc_call c;
    struct trc *t;
    char path[100];

    snprintf(path, sizeof(path), "%s/merge", dir);
    assert_int_equal(trc_writer_create(&w, path, "{}", d12_schema, NULL), 0);
    /* thread 1 takes tickets 0, 2, 4 ...; thread 2 takes 1, 3, 5 ... and is written first */
    for (uint16_t k = 2; k-- > 0;) {
        for (int i = 0; i < 50; i++) {
            op(&r[k], D12_Native_EventSignal, REC_SEQ | REC_TICKET);
            var(&r[k], zigzag(i ? 1 : k));
            var(&r[k], 2 * (uint64_t)i + k + 1);
        }
        b.thread = k + 1;
        assert_int_equal(trc_writer_block(w, &b, r[k].bytes, r[k].n, NULL), 0);
    }
    assert_int_equal(trc_writer_finish(w, NULL), 0);
    assert_int_equal(trc_open(&t, path, NULL), 0);
    for (unsigned i = 0; i < 100; i++) {
        assert_int_equal(trc_next(t, &c, NULL), 1);
        assert_int_equal(c.seq, i);
        assert_int_equal(c.thread, i % 2 + 1);
        assert_int_equal(c.args[0], i + 1);
    }
    assert_int_equal(trc_next(t, &c, NULL), 0);
    trc_close(t);
}

/* ---- whole programs ----------------------------------------------------------------------------------------- */

/* The last line of a program's output: its checksum. */
static const char *last_line(const struct strbuf *b, const char *begin)
{
    const char *p = strstr(strbuf_str(b), begin);
    static char line[100];

    assert_non_null(p);
    snprintf(line, sizeof(line), "%.*s", (int)strcspn(p, "\n"), p);
    return line;
}

static void roundtrip(const char *name, const char *options, int reads)
{
    struct strbuf plain = {0}, out = {0};
    char want[100], sum[100], begin[32];

    snprintf(begin, sizeof(begin), "%s ", name);
    assert_int_equal(run(&plain, "%s %s", workload, name), 0);
    snprintf(sum, sizeof(sum), "%s", last_line(&plain, begin));
    if (run(&out, "%s d3d12 record %s -o %s/%s.d3d12trace -- %s %s", aerogpu, options, dir, name, workload,
            name))
        fail_msg("%s", strbuf_str(&out));
    assert_string_equal(last_line(&out, begin), sum); /* recording changes nothing */
    if (run(&out, "%s d3d12 play --validate %s/%s.d3d12trace", aerogpu, dir, name))
        fail_msg("%s", strbuf_str(&out));
    snprintf(want, sizeof(want), "read back: %d as recorded, 0 different", reads);
    if (!strstr(strbuf_str(&out), want))
        fail_msg("%s: %s", name, strbuf_str(&out));
    strbuf_finish(&plain);
    strbuf_finish(&out);
}

static void need_device(void)
{
    struct strbuf out = {0};
    int code = run(&out, "%s events", workload),
        recorder = run(&out, "%s d3d12 record -o /dev/null -- true", aerogpu);

    strbuf_finish(&out);
    if (code || recorder) {
        print_message(code ? "# no Direct3D 12 device here (libvkd3d needs a Vulkan driver): skipped\n"
                           : "# the recorder is not built with sanitizers: skipped\n");
        skip();
    }
}

static void cleared_textures_play_alike(void **state)
{
    need_device();
    roundtrip("clears", "", 1);
}

static void mapped_memory_plays_alike(void **state)
{
    need_device();
    roundtrip("maps", "", 21);
    roundtrip("maps", "--memory hash", 21);
    roundtrip("maps", "--memory fault", 21);
    roundtrip("reused", "", 40);
}

static void aliased_upload_memory_plays_alike(void **state)
{
    need_device();
    roundtrip("placed", "", 12);
    roundtrip("placed", "--memory hash", 12);
}

static void drawn_scenes_play_alike(void **state)
{
    need_device();
    roundtrip("scene", "", 4);
    roundtrip("scene", "--memory hash", 4);
    roundtrip("scene", "--memory fault", 4); /* a read into watched memory is made again */
}

/* Pipeline streams need a libvkd3d that is newer than the installed one: AEROGPU_VKD3D_NEW is a program that runs another
 * one with it (tools/build/vkd3d-new.sh makes one). */
static void pipeline_streams_play_alike_on_a_newer_libvkd3d(void **state)
{
    const char *with = getenv("AEROGPU_VKD3D_NEW");
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out, "%s stream", workload), 77); /* the installed one says so */
    if (!with) {
        print_message(
            "# AEROGPU_VKD3D_NEW is not set (tools/build/vkd3d-new.sh fetches a newer libvkd3d): skipped\n");
        skip();
    }
    if (run(&out,
            "%s d3d12 record -o %s/stream -- %s %s stream; %s d3d12 show %s/stream; %s %s d3d12 play "
            "--validate %s/stream",
            aerogpu, dir, with, workload, aerogpu, dir, with, aerogpu, dir))
        fail_msg("%s", strbuf_str(&out));
    assert_non_null(strstr(strbuf_str(&out), "CreatePipelineState(pDesc={SizeInBytes="));
    assert_non_null(strstr(strbuf_str(&out), "read back: 4 as recorded, 0 different"));
    strbuf_finish(&out);
}

static void many_threads_play_alike(void **state)
{
    need_device();
    for (int i = 0; i < 3; i++)
        roundtrip("threads", "", 1);
}

static void fences_and_devices_play_alike(void **state)
{
    need_device();
    roundtrip("events", "", 0);
    roundtrip("devices", "", 10);
    roundtrip("gated", "", 4);
    roundtrip("queries", "", 1);
}

static void a_killed_program_is_recorded_to_its_last_call(void **state)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(
        run(&out, "%s d3d12 record -o %s/killed.d3d12trace -- %s killed", aerogpu, dir, workload), 128 + 9);
    assert_int_equal(run(&out, "%s d3d12 show %s/killed.d3d12trace | tail -1", aerogpu, dir), 0);
    assert_non_null(strstr(strbuf_str(&out), "CopyBufferRegion(pDstBuffer=Resource#"));
    assert_non_null(strstr(strbuf_str(&out), "DstOffset=12345, "));
    assert_non_null(strstr(strbuf_str(&out), "SrcOffset=54321, NumBytes=4)"));
    assert_int_equal(
        run(&out, "%s d3d12 show --method CopyBufferRegion %s/killed.d3d12trace | wc -l", aerogpu, dir), 0);
    assert_int_equal(atoi(strbuf_str(&out)), 100001);
    strbuf_finish(&out);
}

/* A recording of a crash crashes the player, and a few of its calls are enough for it. */
static void crashes_come_back_and_get_small(void **state)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out, "%s d3d12 record -o %s/crash -- %s crash", aerogpu, dir, workload), 128 + 11);
    assert_int_equal(run(&out, "ulimit -c 0; %s d3d12 play %s/crash", aerogpu, dir), 128 + 11);
    assert_int_equal(run(&out, "%s d3d12 minimize --timeout 1000 %s/crash -o %s/small", aerogpu, dir, dir),
                     0);
    assert_non_null(strstr(strbuf_str(&out), " of 172 calls still end by signal 11 in CopyBufferRegion"));
    assert_true(atoi(strstr(strbuf_str(&out), "small: ") + 7) <= 20); /* five where no fence comes late */
    assert_int_equal(run(&out, "ulimit -c 0; %s d3d12 play %s/small", aerogpu, dir), 128 + 11);
    assert_int_equal(
        run(&out,
            "%s d3d12 record -o %s/fine -- %s queries && %s d3d12 minimize --timeout 5000 %s/fine -o %s/x",
            aerogpu, dir, workload, aerogpu, dir, dir),
        3);
    assert_non_null(strstr(strbuf_str(&out), "the recording plays to its end without a failure"));
    strbuf_finish(&out);
}

/* Whoever ends the recorder ends the program, and has its recording. */
static void signals_end_the_program(void **state)
{
    struct strbuf out = {0};

    need_device();
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(&out, "timeout --foreground -s %s 2 %s d3d12 record -o %s/ended -- sleep 100",
                             i ? "TERM" : "INT", aerogpu, dir),
                         124);
        assert_non_null(strstr(strbuf_str(&out), i ? "ended by signal 15" : "ended by signal 2"));
    }
    strbuf_finish(&out);
}

/* A recorder that is killed leaves its shared memory; the next one clears it away. */
static void killed_recorders_leave_nothing(void **state)
{
    struct strbuf out = {0};

    need_device();
    if (run(&out,
            "%s d3d12 record -o %s/gone -- sleep 100 & pid=$!; shm=; i=0;"
            "while [ -z \"$shm\" ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i + 1));"
            "  shm=$(readlink /proc/$pid/fd/* | grep -m1 /dev/shm/aerogpu-d3d12-); done;"
            "until child=$(pgrep -x -P $pid sleep); do sleep 0.05; done; kill -9 $pid; [ -n \"$shm\" ] && [ "
            "-e $shm ] && %s d3d12 record -o "
            "%s/next -- true &&"
            "[ ! -e $shm ]; code=$?; kill $child; exit $code",
            aerogpu, dir, aerogpu, dir))
        fail_msg("%s", strbuf_str(&out));
    strbuf_finish(&out);
}

static void names_and_json_are_shown(void **state)
{
    struct strbuf out = {0};

    need_device();
    roundtrip("clears", "", 1);
    assert_int_equal(run(&out, "%s d3d12 show %s/clears.d3d12trace", aerogpu, dir), 0);
    assert_non_null(strstr(strbuf_str(&out),
                           "\"Target \xc3\xa4\xe4\xb8\xad\".SetPrivateData(guid={12345678-0001-0002-0304-"
                           "05060708090a}, DataSize=5, pData=5 bytes 68656c6c6f) -> return=S_OK"));
    assert_int_equal(
        run(&out,
            "%s d3d12 show --json %s/clears.d3d12trace | python3 -c '"
            "import json,sys\n"
            "c=[json.loads(l) for l in sys.stdin]\n"
            "d=[x for x in c if x[\"method\"]==\"ClearRenderTargetView\"]\n"
            "print(len(d), d[2][\"args\"][\"RenderTargetView\"][\"index\"], d[2][\"args\"][\"ColorRGBA\"])'",
            aerogpu, dir),
        0);
    assert_string_equal(strbuf_str(&out), "8 1 [0.25, 0.75, 0.5, 1]\n");
    strbuf_finish(&out);
}

/* A recording whose handles are wrong is played up to the call, which is named; the call is not made. */
static void wrong_handles_are_named(void **state)
{
    struct record r = {0};
    struct strbuf out = {0};
    char path[100];

    snprintf(path, sizeof(path), "%s/wrong", dir);
    sample(&r);
    r.n = 0;
    op(&r, D12_ID3D12GraphicsCommandList_DrawInstanced, REC_THIS);
    var(&r, 5);
    for (int i = 0; i < 4; i++)
        var(&r, 1);
    write_file(path, r.bytes, r.n, 1);
    assert_int_equal(run(&out, "%s d3d12 play %s", aerogpu, path), 3);
    assert_non_null(strstr(strbuf_str(&out),
                           "aerogpu d3d12 play: call 0 (block 0): ID3D12GraphicsCommandList::"
                           "DrawInstanced: it is made on object 5, which does not exist"));
    assert_int_equal(run(&out, "%s d3d12 play /dev/null", aerogpu), 3);
    assert_int_equal(run(&out, "%s d3d12 frobnicate", aerogpu), 2);
    strbuf_finish(&out);
}

/* Every method of every interface of the IDL files, over an implementation that does nothing: recorded, played under the
 * recorder, and the two recordings compared. What the player does on its own account is known. */
static void every_method_plays_alike(void **state)
{
    struct strbuf out = {0}, list = {0};
    const char *p;

    need_device();
    if (run(&out, "export LD_PRELOAD=%s; %s d3d12 record -o %s/all1 -- %s", stub, aerogpu, dir, callall) ||
        run(&out, "export LD_PRELOAD=%s; %s d3d12 record -o %s/all2 -- %s d3d12 play %s/all1", stub, aerogpu,
            dir, aerogpu, dir))
        fail_msg("%s", strbuf_str(&out));
    run(&out, "%s d3d12 diff %s/all1 %s/all2", aerogpu, dir, dir);
    p = strstr(strbuf_str(&out), " calls alike");
    assert_non_null(p);
    while (p > strbuf_str(&out) && p[-1] != '\n')
        p--;
    assert_true(atoi(p) > 600);
    run(&list,
        "grep -vE '^\\+ .*\\.(GetDevice|Release|Map|Unmap)\\(|^[-+] .* MemoryWrite\\(| calls alike' "
        "<<'END'\n%s\nEND",
        strbuf_str(&out));
    assert_string_equal(strbuf_str(&list), "\n");
    /* the recording has all that can be played */
    assert_int_equal(run(&out,
                         "%s d3d12 methods | grep -E 'recorded and played|asks only' | grep -v ^IUnknown | "
                         "cut -d' ' -f2 | "
                         "sort -u > %s/want; %s d3d12 show --json %s/all1 | grep -o '\"method\": \"[^\"]*' | "
                         "cut -d'\"' -f4 | sort -u > %s/got; comm -23 %s/want %s/got",
                         aerogpu, dir, aerogpu, dir, dir, dir, dir),
                     0);
    assert_string_equal(strbuf_str(&out), "");
    /* what cannot be played is recorded, and named */
    assert_int_equal(
        run(&out, "export LD_PRELOAD=%s; %s d3d12 record -o %s/all3 -- %s all", stub, aerogpu, dir, callall),
        0);
    assert_int_equal(run(&out, "export LD_PRELOAD=%s; %s d3d12 play %s/all3", stub, aerogpu, dir), 3);
    assert_non_null(strstr(strbuf_str(&out), "this cannot be played"));
    strbuf_finish(&out);
    strbuf_finish(&list);
}

/* What the stub was asked for, line by line. */
static void stub_says(struct strbuf *out, const char *environment, const char *command)
{
    assert_int_equal(run(out, "{ export LD_PRELOAD=%s STUB_LOG=1 %s; %s; } 2>/dev/null | grep ^stub:", stub,
                         environment, command),
                     0);
}

/* Addresses in buffers mean the same resources on a device that hands out others, wherever the bytes came from. */
static void addresses_in_buffers_are_translated(void **state)
{
    struct strbuf here = {0}, there = {0};
    char command[500];

    need_device();
    snprintf(command, sizeof(command), "%s d3d12 record -o %s/elsewhere -- %s indirect", aerogpu, dir,
             elsewhere);
    stub_says(&here, "", command);
    assert_non_null(strstr(strbuf_str(&here), "stub: indirect 1.1: "));
    snprintf(command, sizeof(command), "%s d3d12 play %s/elsewhere", aerogpu, dir);
    stub_says(&there, "STUB_BASE=4096", command);
    assert_string_equal(strbuf_str(&here), strbuf_str(&there));
    /* without its end, nobody says that there are such buffers: they are found all the same */
    assert_int_equal(run(&there, "head -c -30 %s/elsewhere > %s/elsewhere2", dir, dir), 0);
    snprintf(command, sizeof(command), "%s d3d12 play %s/elsewhere2", aerogpu, dir);
    stub_says(&there, "STUB_BASE=77", command);
    assert_string_equal(strbuf_str(&here), strbuf_str(&there));
    /* what shaders write into an argument buffer cannot be translated: that is said */
    assert_int_equal(
        run(&there,
            "export LD_PRELOAD=%s; %s d3d12 record -o %s/written -- %s written; %s d3d12 play %s/written",
            stub, aerogpu, dir, elsewhere, aerogpu, dir),
        0);
    assert_non_null(
        strstr(strbuf_str(&there), "which shaders may write; those are played as they were recorded"));
    strbuf_finish(&here);
    strbuf_finish(&there);
}

/* What crashes this machine's implementation only is an error of playing. */
static void crashes_of_the_player_are_errors(void **state)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out, "export LD_PRELOAD=%s; %s d3d12 record -o %s/null -- %s null", stub, aerogpu,
                         dir, elsewhere),
                     0);
    assert_int_equal(run(&out, "%s d3d12 play %s/null 2>&1 | grep -v fixme", aerogpu, dir), 0);
    assert_string_equal(
        strbuf_str(&out),
        "aerogpu d3d12 play: call 4 (block 0): ID3D12GraphicsCommandList::IASetVertexBuffers: "
        "making it crashes (signal 11)\n");
    assert_int_equal(run(&out, "%s d3d12 play %s/null", aerogpu, dir), 3);
    strbuf_finish(&out);
}

/* Resources that need more room on another device stand farther apart in a larger heap, and share memory as they did. */
static void placed_resources_get_the_room_they_need(void **state)
{
    struct strbuf out = {0};
    char command[500];

    need_device();
    snprintf(command, sizeof(command), "%s d3d12 record -o %s/placed -- %s placed", aerogpu, dir, elsewhere);
    stub_says(&out, "", command);
    assert_string_equal(strbuf_str(&out),
                        "stub: heap of 458752\nstub: placed at 0\nstub: placed at 65536\n"
                        "stub: placed at 65536\nstub: placed at 131072\nstub: placed at 196608\n");
    snprintf(command, sizeof(command), "%s d3d12 play %s/placed", aerogpu, dir);
    stub_says(&out, "", command);
    assert_string_equal(strbuf_str(&out),
                        "stub: heap of 458752\nstub: placed at 0\nstub: placed at 65536\n"
                        "stub: placed at 65536\nstub: placed at 131072\nstub: placed at 196608\n");
    /* the third of 262144 bytes shares memory with the two behind it */
    stub_says(&out, "STUB_LARGE=1", command);
    assert_string_equal(strbuf_str(&out),
                        "stub: heap of 1048576\nstub: placed at 0\nstub: placed at 262144\n"
                        "stub: placed at 262144\nstub: placed at 524288\nstub: placed at 786432\n");
    strbuf_finish(&out);
}

static void unknown_stream_subobjects_are_noted(void **state)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(
        run(&out,
            "export LD_PRELOAD=%s; %s d3d12 record -o %s/unknown -- %s unknown; %s d3d12 show %s/unknown",
            stub, aerogpu, dir, callall, aerogpu, dir),
        0);
    assert_non_null(strstr(
        strbuf_str(&out), "CreatePipelineState(pDesc={SizeInBytes=16, pPipelineStateSubobjectStream=[0x7]}"));
    assert_non_null(strstr(strbuf_str(&out),
                           "Note(Text=\"pipeline stream: unknown subobject 999 at offset 8; it and what "
                           "follows are not recorded\")"));
    strbuf_finish(&out);
}

static void recordings_are_compared(void **state)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(
        run(&out,
            "cd %s; %s d3d12 record -o a.trc -- %s clears; %s d3d12 trim a.trc --frames 0- -o b.trc; "
            "%s d3d12 diff a.trc b.trc",
            dir, aerogpu, workload, aerogpu, aerogpu),
        0);
    assert_non_null(strstr(strbuf_str(&out), " calls alike, 0 only in the first, 0 only in the second\n"));
    assert_int_equal(run(&out, "cd %s; %s d3d12 record -o c.trc -- %s queries; %s d3d12 diff a.trc c.trc",
                         dir, aerogpu, workload, aerogpu),
                     1);
    assert_non_null(strstr(strbuf_str(&out), "CreateQueryHeap("));
    assert_int_equal(run(&out,
                         "cd %s; n=$(%s d3d12 show --method SetPrivateData a.trc | head -1 | cut -d' ' -f1); "
                         "%s d3d12 show --bytes $n a.trc",
                         dir, aerogpu, aerogpu),
                     0);
    assert_string_equal(strbuf_str(&out),
                        "pData: 5 bytes\n00000000  68 65 6c 6c 6f                                   hello\n");
    strbuf_finish(&out);
}

static void gears_play_alike(void **state)
{
    struct strbuf out = {0};

    need_device();
    if (run(&out, "command -v Xvfb && command -v vkd3d-gears")) {
        print_message("no Xvfb or no vkd3d-gears (package vkd3d-demos): skipped\n");
        skip();
    }
    run(&out,
        "Xvfb -displayfd 9 -screen 0 640x480x24 9>%s/display >/dev/null & x=$!; "
        "for i in 1 2 3 4 5 6 7 8 9 10; do [ -s %s/display ] && break; sleep 0.2; done; "
        "export DISPLAY=:$(cat %s/display); %s d3d12 record -o %s/gears -- timeout -s INT 1 vkd3d-gears; "
        "%s d3d12 record --frames 20-39 -o %s/part -- timeout -s INT 1 vkd3d-gears; kill $x",
        dir, dir, dir, aerogpu, dir, aerogpu, dir);
    if (!strstr(strbuf_str(&out), " frames, "))
        fail_msg("%s", strbuf_str(&out));
    assert_int_equal(run(&out, "%s d3d12 play --validate %s/gears", aerogpu, dir), 0);
    assert_non_null(strstr(strbuf_str(&out), " as recorded, 0 different; read back"));
    assert_null(strstr(strbuf_str(&out), "frames: 0 as recorded"));
    /* frames cut out play on their own, from other frames' contents */
    assert_int_equal(run(&out, "%s d3d12 play --validate %s/part; ls %s", aerogpu, dir, dir), 0);
    if (!strstr(strbuf_str(&out), " 20 frames in ") ||
        !strstr(strbuf_str(&out), "frames: 16 as recorded, 0 different"))
        fail_msg("%s", strbuf_str(&out));
    assert_null(strstr(strbuf_str(&out), "part.whole"));
    strbuf_finish(&out);
}

/* Contents, pictures after draws, times and playing that stops before a draw, on a recording of known colours. */
static void playing_shows_what_is_inside(void **state)
{
    struct strbuf out = {0};

    need_device();
    roundtrip("clears", "", 1);
    assert_int_equal(
        run(&out,
            "f=%s/clears.d3d12trace; a=%s; $a d3d12 show --json $f | python3 -c '\n"
            "import json,sys\n"
            "c=[json.loads(l) for l in sys.stdin]\n"
            "d=[x for x in c if x[\"method\"]==\"ClearRenderTargetView\"]\n"
            "r=[x for x in c if x[\"method\"]==\"CreateRenderTargetView\"][0][\"args\"]\n"
            "e=[x for x in c if x[\"method\"]==\"ExecuteCommandLists\"]\n"
            "print(r[\"pResource\"][\"object\"], d[0][\"call\"], d[2][\"call\"], e[0][\"call\"])' > %s/ids; "
            "read t first third exec < %s/ids; "
            "$a d3d12 play --until-call $exec --dump-resource $t:0=%s/one $f && "
            "$a d3d12 play --until-call $exec --stop-before $first --dump-resource $t:0=%s/none $f && "
            "$a d3d12 play --until-call $exec --gpu-time $f; "
            "cmp -s %s/one %s/none; echo differ=$?; wc -c < %s/one; "
            "$a d3d12 play --until-call $exec --dump-resource $t:99=%s/x $f; echo exit=$?; "
            "$a d3d12 play --validate --stop-before 1 $f; echo exit=$?",
            dir, aerogpu, dir, dir, dir, dir, dir, dir, dir, dir),
        0);
    if (!strstr(strbuf_str(&out), "differ=1") || !strstr(strbuf_str(&out), "ms on the GPU in 1 lists"))
        fail_msg("%s", strbuf_str(&out));
    assert_non_null(strstr(strbuf_str(&out), "resource 8 has 4 subresources, and no 99\n"));
    assert_non_null(strstr(strbuf_str(&out), "cannot be compared with --validate\nexit=2"));
    strbuf_finish(&out);
}

static int make_dir(void **state)
{
    return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
    char command[100];

    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interfaces_are_found_by_their_iid),
        cmocka_unit_test(no_method_is_forgotten),
        cmocka_unit_test(pipeline_streams_follow_the_alignment_rules),
        cmocka_unit_test(the_kernel_watches_memory),
        cmocka_unit_test(faults_watch_memory),
        cmocka_unit_test(hashes_watch_memory),
        cmocka_unit_test(records_say_what_was_written),
        cmocka_unit_test(cut_files_are_read_up_to_the_cut),
        cmocka_unit_test(bad_files_are_refused_by_name),
        cmocka_unit_test(files_over_four_gigabytes_are_read),
        cmocka_unit_test(blobs_are_read_when_they_are_asked_for),
        cmocka_unit_test(other_tables_are_refused_with_advice),
        cmocka_unit_test(split_blocks_come_back),
        cmocka_unit_test(threads_are_merged_in_ticket_order),
        cmocka_unit_test(cleared_textures_play_alike),
        cmocka_unit_test(mapped_memory_plays_alike),
        cmocka_unit_test(aliased_upload_memory_plays_alike),
        cmocka_unit_test(drawn_scenes_play_alike),
        cmocka_unit_test(pipeline_streams_play_alike_on_a_newer_libvkd3d),
        cmocka_unit_test(many_threads_play_alike),
        cmocka_unit_test(fences_and_devices_play_alike),
        cmocka_unit_test(a_killed_program_is_recorded_to_its_last_call),
        cmocka_unit_test(crashes_come_back_and_get_small),
        cmocka_unit_test(signals_end_the_program),
        cmocka_unit_test(killed_recorders_leave_nothing),
        cmocka_unit_test(names_and_json_are_shown),
        cmocka_unit_test(wrong_handles_are_named),
        cmocka_unit_test(playing_shows_what_is_inside),
        cmocka_unit_test(every_method_plays_alike),
        cmocka_unit_test(addresses_in_buffers_are_translated),
        cmocka_unit_test(crashes_of_the_player_are_errors),
        cmocka_unit_test(placed_resources_get_the_room_they_need),
        cmocka_unit_test(unknown_stream_subobjects_are_noted),
        cmocka_unit_test(recordings_are_compared),
        cmocka_unit_test(gears_play_alike),
    };

    if (argc != 6)
        return 2;
    stub = realpath(argv[3], NULL);
    callall = realpath(argv[4], NULL);
    elsewhere = realpath(argv[5], NULL);
    aerogpu = realpath(argv[1], NULL);
    workload = realpath(argv[2], NULL);
    return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
