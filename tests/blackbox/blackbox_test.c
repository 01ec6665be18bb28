/* SPDX-License-Identifier: MIT */
/* blackbox_test.c: the library alone: inference, packages, dumps, reports. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include <aerogpu/blackbox.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "blackbox/crashes.h"
#include "blackbox/package.h"
#include "temp_dir.h"

/* ---- inference: "T1 X B2" with written markers as digits in `written` ---- */

static uint32_t parse(const char *queue, const char *written, struct bb_item *items, char names[][16])
{
    uint32_t n = 0;
    int used;

    for (; sscanf(queue, " %15s%n", names[n], &used) == 1; queue += used, n++) {
        char *w = names[n];

        items[n] = (struct bb_item){.name = w, .id = n};
        if ((w[0] == 'T' || w[0] == 'B') && w[1] >= '0' && w[1] <= '9') {
            items[n].kind = w[0] == 'T' ? BB_ITEM_TOP : BB_ITEM_BOTTOM;
            items[n].written = strchr(written, w[1]) != NULL;
        } else if (w[0] == '(') {
            items[n].kind = BB_ITEM_PUSH;
            items[n].name = w + 1;
        } else if (w[0] == ')') {
            items[n].kind = BB_ITEM_POP;
        } else if (w[0] == '?') {
            items[n].kind = BB_ITEM_WAIT;
            items[n].written = strchr(written, w[1]) != NULL; /* it is over */
        } else {
            items[n].kind = BB_ITEM_COMMAND;
        }
    }
    return n;
}

static void check(const char *queue, const char *written, enum bb_certainty certainty, const char *candidates,
                  const char *conclusion)
{
    struct bb_item items[128];
    char names[128][16], found[256] = "";
    struct bb_inference x;

    assert_int_equal(bb_infer(&x, items, parse(queue, written, items, names), BB_END_HANG), 0);
    for (uint32_t i = 0; i < x.num_candidates; i++) {
        strcat(found, i ? " " : "");
        strcat(found, items[x.candidates[i]].name);
    }
    if (strcmp(found, candidates) || strcmp(x.conclusion, conclusion) || x.certainty != certainty)
        print_message("%s | written %s: '%s' %d \"%s\"\n", queue, written, found, x.certainty, x.conclusion);
    assert_string_equal(found, candidates);
    assert_string_equal(x.conclusion, conclusion);
    assert_int_equal(x.certainty, certainty);
    bb_inference_finish(&x);
}

/* Reference 5, first example: markers in front of a draw are written without waiting, those behind it when it is done. */
TEST(example_1)
{
    const char *q = "T1 B2 B3 DrawX B4 B5 T6";

    check(q, "123", BB_CERTAIN, "DrawX", "the hang is in DrawX");
    check(q, "1236", BB_CERTAIN, "DrawX", "the hang is in DrawX"); /* 6 is written before 4 and 5 */
    check(q, "123456", BB_NOTHING, "", "everything finished");
    check(q, "12345", BB_UNKNOWN, "", "it stopped where there is no command to blame");
}

TEST(example_2)
{
    check("T1 DrawX B2 T3 DrawY B4", "13", BB_SEVERAL, "DrawX DrawY",
          "the hang is in DrawX or DrawY: DrawX did not finish, and what follows it was at the top of the "
          "pipe or running too");
    check("T1 DrawX B2 T3 DrawY B4", "123", BB_CERTAIN, "DrawY", "the hang is in DrawY");
    check("T1 DrawX B2 T3 DrawY B4", "1", BB_CERTAIN, "DrawX", "the hang is in DrawX");
}

TEST(example_3)
{
    const char *q = "T1 DrawX B2 DrawY B3 DrawZ B4";

    check(q, "1", BB_SEVERAL, "DrawX DrawY DrawZ", "the hang is in DrawX, DrawY or DrawZ");
    check(q, "12", BB_SEVERAL, "DrawY DrawZ", "the hang is in DrawY or DrawZ");
    check(q, "123", BB_CERTAIN, "DrawZ", "the hang is in DrawZ");
    check(q, "1234", BB_NOTHING, "", "everything finished");
}

TEST(example_4)
{
    const char *q = "T1 DrawX T2 DrawY T3 DrawZ";

    check(q, "1", BB_CERTAIN, "DrawX", "the hang is in DrawX");
    check(q, "12", BB_SEVERAL, "DrawX DrawY", "the hang is in DrawX or DrawY");
    check(q, "123", BB_SEVERAL, "DrawX DrawY DrawZ", "the hang is in DrawX, DrawY or DrawZ");
}

TEST(example_5)
{
    const char *q = "DrawX T1 B2 DrawY T3 B4";

    check(q, "13", BB_SEVERAL, "DrawX DrawY",
          "the hang is in DrawX or DrawY: DrawX did not finish, and what follows it was at the top of the "
          "pipe or running too");
    check(q, "1", BB_CERTAIN, "DrawX", "the hang is in DrawX");
    check(q, "123", BB_CERTAIN, "DrawY", "the hang is in DrawY");
}

TEST(regions)
{
    struct bb_item items[64];
    char names[64][16];
    struct bb_inference x;

    assert_int_equal(
        bb_infer(&x, items, parse("(frame T1 (sky A B2 ) (trees T3 B B4 ) ) ) T5 C B6", "123", items, names),
                 BB_END_HANG),
        0);
    assert_string_equal(x.path, "frame/trees");
    assert_int_equal(x.unbalanced_pops, 1);
    assert_int_equal(x.certainty, BB_CERTAIN);
    bb_inference_finish(&x);
    assert_int_equal(bb_infer(&x, items, parse("(a (b T1 A B2", "1", items, names), BB_END_HANG), 0);
    assert_string_equal(x.path, "a/b");
    assert_int_equal(x.open_regions, 2);
    bb_inference_finish(&x);
}

/* Regions deeper than are kept have no names, and end like the others: who is named is who is open. */
TEST(deep_regions)
{
    enum { DEEP = 100, KEPT = 64 };
    struct bb_item items[2 * DEEP + 8] = {{0}};
    char expected[KEPT * 2];
    struct bb_inference x;
    uint32_t n = 0;

    for (int i = 0; i < DEEP; i++)
        items[n++] = (struct bb_item){.kind = BB_ITEM_PUSH, .name = "r"};
    for (int i = 0; i < DEEP - KEPT / 2; i++)
        items[n++] = (struct bb_item){.kind = BB_ITEM_POP};
    items[n++] = (struct bb_item){.kind = BB_ITEM_TOP, .written = true};
    items[n++] = (struct bb_item){.kind = BB_ITEM_COMMAND, .name = "draw"};
    items[n++] = (struct bb_item){.kind = BB_ITEM_BOTTOM};
    assert_int_equal(bb_infer(&x, items, n, BB_END_HANG), 0);
    for (int i = 0; i < KEPT / 2; i++)
        memcpy(expected + 2 * i, i + 1 < KEPT / 2 ? "r/" : "r", 2);
    assert_string_equal(x.path, expected);
    assert_int_equal(x.open_regions, KEPT / 2);
    assert_int_equal(x.unbalanced_pops, 0);
    bb_inference_finish(&x);
}

/* A marker that was reached and not written proves something of what stands in front of it, and there may be nothing. */
TEST(a_marker_behind_no_command)
{
    check("T1 B2 DrawX B3 T4 DrawY B5", "14", BB_SEVERAL, "DrawX DrawY",
          "the hang is in DrawX or DrawY: DrawX did not finish, and what follows it was at the top of the "
          "pipe or running too");
}

/* Overlapping pairs: one begins inside another and ends behind it. */
TEST(overlapping)
{
    check("T1 A T2 B B3 C B4", "12", BB_SEVERAL, "A B C", "the hang is in A, B or C");
    check("T1 A T2 B B3 C B4", "123", BB_CERTAIN, "C", "the hang is in C");
}

TEST(contradictions)
{
    struct bb_item items[64];
    char names[64][16];
    struct bb_inference x;

    assert_int_equal(bb_infer(&x, items, parse("T1 A B2 T3 B B4", "4", items, names), BB_END_HANG), 0);
    assert_int_equal(x.contradictions, 3);
    assert_int_equal(x.num_candidates, 0);
    bb_inference_finish(&x);
    assert_int_equal(bb_infer(&x, items, 0, BB_END_HANG), 0);
    assert_int_equal(x.certainty, BB_NOTHING);
    bb_inference_finish(&x);
    check("T1 A B2", "", BB_UNKNOWN, "", "no marker was written: the queue never began");
}

TEST(dead_wait)
{
    check("T1 A B2 T3 ?fence B4 T5 C B6", "123", BB_CERTAIN, "?fence", "it waits for ever in ?fence");
    check("T1 ?2 A B3 T4 C B5", "12", BB_CERTAIN, "A", "the hang is in A"); /* it is over */
}

/* 64 bottom-of-pipe markers behind one hanging draw: nothing behind the 64th was reached. */
TEST(pending_limit)
{
    struct bb_item items[140] = {{.kind = BB_ITEM_TOP, .written = true},
                                 {.kind = BB_ITEM_COMMAND, .name = "first"}};
    struct bb_inference x;

    for (uint32_t i = 0; i < 64; i++)
        items[2 + i] = (struct bb_item){.kind = BB_ITEM_BOTTOM};
    items[66] = (struct bb_item){.kind = BB_ITEM_COMMAND, .name = "second"};
    assert_int_equal(bb_infer(&x, items, 67, BB_END_HANG), 0);
    assert_int_equal(x.stalled_by_limit, 1);
    assert_int_equal(x.states[66], BB_NOT_STARTED);
    assert_int_equal(x.certainty, BB_CERTAIN);
    assert_string_equal(
        x.conclusion,
        "the hang is in first; 64 bottom-of-pipe markers were pending, at which the command processor stops");
    bb_inference_finish(&x);
}

/* Whatever was written: what is called finished stands before a written BOTTOM, nothing is both. Counted exhaustively. */
TEST(every_combination)
{
    const char *q = "A T1 B B2 T3 C B4 D T5";
    struct bb_item items[32];
    char names[32][16], written[8];

    for (unsigned bits = 0; bits < 32; bits++) {
        struct bb_inference x;
        uint32_t n, w = 0;

        for (unsigned k = 0; k < 5; k++)
            if (bits >> k & 1)
                written[w++] = (char)('1' + k);
        written[w] = '\0';
        n = parse(q, written, items, names);
        assert_int_equal(bb_infer(&x, items, n, BB_END_HANG), 0);
        for (uint32_t i = 0; i < n; i++)
            if (items[i].kind == BB_ITEM_COMMAND && x.states[i] == BB_FINISHED) {
                bool later = false;
                for (uint32_t k = i; k < n; k++)
                    later |= items[k].kind == BB_ITEM_BOTTOM && items[k].written;
                assert_true(later);
            }
        assert_true(x.certainty != BB_CERTAIN || x.num_candidates == 1);
        bb_inference_finish(&x);
    }
}

/* A queue on a machine of the test's: the command processor takes one item per tick, and waits for nothing but its writes; a
 * command runs for some ticks beside others. One that runs stops everything, at any tick. */
TEST(stops_at_once)
{
    unsigned certain = 0, wrong_as_hang = 0;

    for (uint64_t seed = 1; seed <= 20000; seed++) {
        struct rng rng = {.state = seed};
        struct bb_item items[24];
        uint32_t ends[24] = {0}, n = 6 + (uint32_t)(rng_next(&rng) % 18), stop, running[24], num = 0;
        struct bb_inference x;

        for (uint32_t i = 0; i < n; i++) {
            static const enum bb_item_kind kinds[] = {BB_ITEM_COMMAND, BB_ITEM_TOP, BB_ITEM_BOTTOM};

            items[i] = (struct bb_item){.kind = kinds[rng_next(&rng) % 3], .id = i};
            ends[i] = items[i].kind == BB_ITEM_COMMAND ? i + 1 + (uint32_t)(rng_next(&rng) % 12) : i;
        }
        stop = (uint32_t)(rng_next(&rng) % (n + 8));
        for (uint32_t i = 0, latest = 0; i < n; i++) {
            latest = ends[i] > latest ? ends[i] : latest;
            items[i].written = items[i].kind == BB_ITEM_TOP
                                   ? i < stop
                                   : items[i].kind == BB_ITEM_BOTTOM && latest < stop && i < stop;
            if (items[i].kind == BB_ITEM_COMMAND && i < stop && ends[i] >= stop)
                running[num++] = i;
        }
        if (!num)
            continue;
        assert_int_equal(bb_infer(&x, items, n, BB_END_AT_ONCE), 0);
        certain += x.certainty == BB_CERTAIN;
        for (uint32_t k = 0; k < num && x.certainty == BB_CERTAIN; k++)
            if (x.candidates[0] != running[k])
                fail_msg("seed %llu: certain of %u, and %u ran", (unsigned long long)seed, x.candidates[0],
                         running[k]);
        bb_inference_finish(&x);
        assert_int_equal(bb_infer(&x, items, n, BB_END_HANG), 0);
        wrong_as_hang += x.certainty == BB_CERTAIN && (num > 1 || x.candidates[0] != running[0]);
        bb_inference_finish(&x);
    }
    printf("# of %u certain verdicts 0 are wrong; were each a hang, %u would be\n", certain, wrong_as_hang);
    assert_true(certain > 500 && wrong_as_hang > 50); /* what it is about comes up here */
}

/* ---- packages and dumps -------------------------------------------------- */

static char *in_dir(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static struct bb_package *sample_package(void)
{
    struct bb_package *p;

    assert_int_equal(bb_package_create(&p, 0), 0);
    bb_meta(p, "reason", "timeout");
    bb_meta(p, "time_ns", "%d", 5000000);
    bb_row(p, BB_TABLE_FINDING);
    bb_text(p, BB_finding_text, "Draw 3\n<does> not \xff\xfe finish"); /* in any order */
    bb_int(p, BB_finding_rank, 0);
    bb_text(p, BB_finding_certainty, "certain");
    bb_text(p, BB_finding_cause, "hang");
    bb_int(p, BB_finding_submission, 7);
    bb_int(p, BB_finding_packet, 12);
    bb_text(p, BB_finding_source, "exact markers");
    bb_row_end(p);
    bb_row(p, BB_TABLE_FILE);
    bb_text(p, BB_file_name, "x");
    bb_row_end(p);
    return p;
}

static char *report_text(const char *path, enum bb_report_format format, int expected, struct bb_error *e)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    assert_int_equal(bb_report(path, format, f, e), expected);
    fclose(f);
    return text;
}

TEST(dump_is_made)
{
    struct bb_package *p = sample_package();
    struct bb_error e = {0};
    char *text;

    if (bb_package_send(p, &(struct bb_send_params){.path = in_dir("a.dump")}, &e))
        fail_msg("%s", e.text);
    text = report_text(in_dir("a.dump"), BB_REPORT_TEXT, 0, NULL);
    assert_non_null(strstr(text, "Draw 3 <does> not \xEF\xBF\xBD\xEF\xBF\xBD finish.\n"));
    free(text);
    text = report_text(in_dir("a.dump"), BB_REPORT_HTML, 0, NULL);
    assert_non_null(strstr(text, "Draw 3 &lt;does&gt; not"));
    assert_null(strstr(text, "<does>"));
    free(text);
    text = report_text(in_dir("a.dump"), BB_REPORT_JSON, 0, NULL);
    assert_non_null(strstr(text, "\"packet\": 12"));
    free(text);
    /* It is never replaced. */
    assert_int_equal(bb_package_send(p, &(struct bb_send_params){.path = in_dir("a.dump")}, &e), -EEXIST);
    assert_non_null(strstr(e.text, "File exists"));
    bb_package_destroy(p);
}

/* What a dumper that was killed left goes with the next dump; what one holds that is at work stays, and so do other files. */
TEST(leftovers_are_swept)
{
    static const char *const names[] = {"old.aerogpudump.123456.tmp", "busy.aerogpudump.123456.tmp",
                                        "notes.aerogpudump.x.tmp", "old.aerogpudump"};
    struct bb_package *p = sample_package();
    struct bb_error e = {0};
    struct stat st;
    int held = -1;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        int fd = open(in_dir(names[i]), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        if (i == 1)
            assert_int_equal(flock(held = fd, LOCK_EX), 0);
        else
            close(fd);
    }
    if (bb_package_send(p, &(struct bb_send_params){.path = in_dir("new.aerogpudump")}, &e))
        fail_msg("%s", e.text);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_int_equal(access(in_dir(names[i]), F_OK), i ? 0 : -1);
    assert_int_equal(stat(in_dir("new.aerogpudump"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    close(held);
    bb_package_destroy(p);
}

TEST(dumper_is_missing)
{
    struct bb_package *p = sample_package();
    struct bb_error e = {0};

    assert_int_equal(
        bb_package_send(p, &(struct bb_send_params){.path = in_dir("b.dump"), .dumper = "/none/such"}, &e),
        -ENOENT);
    assert_string_equal(e.text, "/none/such, which is not the program that makes dumps");
    memset(&e, 0, sizeof(e));
    assert_int_equal(bb_package_send(p, &(struct bb_send_params){.path = in_dir("no/b.dump")}, &e), -EIO);
    assert_non_null(strstr(e.text, "tmp: No such file or directory"));
    bb_package_destroy(p);
}

/* Rows that do not fit are left out, and counted; what came before stays. */
TEST(package_limit)
{
    struct bb_package_reader r;
    struct bb_value v[BB_MAX_COLUMNS];
    struct bb_package *p;
    enum bb_table t;
    static char big[2 << 20];
    uint8_t *bytes;
    long n;

    memset(big, 'x', sizeof(big) - 1);
    assert_int_equal(bb_package_create(&p, 64 << 10), 0);
    bb_meta(p, "a", "1");
    bb_meta(p, "b", "%s", big);
    bb_meta(p, "c", "3");
    n = lseek(bb_package_fd(p), 0, SEEK_END);
    bytes = malloc((size_t)n);
    assert_int_equal(pread(bb_package_fd(p), bytes, (size_t)n, 0), n);
    assert_int_equal(bb_package_open(&r, bytes, (size_t)n, NULL), 0);
    assert_int_equal(r.rows, 2);
    assert_int_equal(r.dropped, 1);
    assert_int_equal(bb_package_next(&r, &t, v, NULL), 1);
    assert_memory_equal(v[0].bytes, "a", 1);
    assert_int_equal(bb_package_next(&r, &t, v, NULL), 1);
    assert_memory_equal(v[0].bytes, "c", 1);
    assert_int_equal(bb_package_next(&r, &t, v, NULL), 0);
    free(bytes);
    bb_package_destroy(p);
}

TEST(bad_packages)
{
    struct bb_package_reader r;
    struct bb_value v[BB_MAX_COLUMNS];
    struct error e = {0};
    enum bb_table t;
    uint8_t bytes[64] = "AGBP\2\0\0\0";

    assert_int_equal(bb_package_open(&r, bytes, 10, &e), -EBADMSG);
    assert_string_equal(e.text, "package: 10 bytes are no header");
    error_clear(&e);
    bytes[4] = 9;
    assert_int_equal(bb_package_open(&r, bytes, 64, &e), -EPROTONOSUPPORT);
    assert_string_equal(e.text, "package: offset 0x4: version 9, 2 is known");
    error_clear(&e);
    bytes[4] = 2;
    bytes[8] = 33;
    assert_int_equal(bb_package_open(&r, bytes, 64, &e), -EBADMSG);
    assert_string_equal(e.text, "package: offset 0x8: 33 bytes of rows, there are 32");
    error_clear(&e);
    bytes[8] = 4;
    for (int table = BB_TABLE_CHECKSUM; table < 256;
         table++) { /* those that prove the others come from who writes the dump */
        bytes[32] = (uint8_t)table;
        error_clear(&e);
        assert_int_equal(bb_package_open(&r, bytes, 64, &e), 0);
        assert_int_equal(bb_package_next(&r, &t, v, &e), -EBADMSG);
        assert_string_equal(e.text, "package: offset 0x20: malformed row");
    }
    for (uint8_t second = 1; second < 2; second--) { /* a row of two columns; of one column twice */
        const uint8_t row[] = {BB_TABLE_MARK, 2,          0, BB_TAG_INT, 7, 0, 0, 0, 0, 0, 0, 0,
                               second,        BB_TAG_INT, 9, 0,          0, 0, 0, 0, 0, 0};
        bytes[8] = sizeof(row);
        memcpy(bytes + 32, row, sizeof(row));
        error_clear(&e);
        assert_int_equal(bb_package_open(&r, bytes, 64, &e), 0);
        assert_int_equal(bb_package_next(&r, &t, v, &e), second ? 1 : -EBADMSG);
    }
    assert_string_equal(e.text, "package: offset 0x20: malformed row");
    for (uint8_t i = 0; i < 2;
         i++) { /* a number where there is text; a checksum, which is not the program's to give */
        const uint8_t row[] = {
            i ? BB_TABLE_CHECKSUM : BB_TABLE_META, 1, i, BB_TAG_INT, 7, 0, 0, 0, 0, 0, 0, 0};

        bytes[8] = sizeof(row);
        memcpy(bytes + 32, row, sizeof(row));
        assert_int_equal(bb_package_open(&r, bytes, 64, &e), 0);
        assert_int_equal(bb_package_next(&r, &t, v, &e), -EBADMSG);
    }
}

/* SQLite knows no number that is none: such a value is none before the table's checksum is made of it. */
TEST(what_is_no_number_is_null)
{
    struct bb_package_reader r;
    struct bb_value v[BB_MAX_COLUMNS];
    struct bb_package *p;
    enum bb_table t;
    void *map;

    assert_int_equal(bb_package_create(&p, 0), 0);
    bb_row(p, BB_TABLE_HOST);
    bb_real(p, BB_host_before, 0.5);
    bb_real(p, BB_host_at, (double)NAN);
    bb_row_end(p);
    map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, bb_package_fd(p), 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    assert_int_equal(bb_package_open(&r, map, 4096, NULL), 0);
    assert_int_equal(bb_package_next(&r, &t, v, NULL), 1);
    assert_int_equal(v[BB_host_before & 0xff].tag, BB_TAG_REAL);
    assert_int_equal(v[BB_host_at & 0xff].tag, BB_TAG_NULL);
    munmap(map, 4096);
    bb_package_destroy(p);
}

/* The sign of nothing is not kept, and is not missed. */
TEST(a_negative_zero_is_what_was_written)
{
    struct bb_error be = {0};
    struct error e = {0};
    struct bb_package *p;
    char *text;
    void *map;

    assert_int_equal(bb_package_create(&p, 0), 0);
    bb_row(p, BB_TABLE_HOST);
    bb_real(p, BB_host_before, -0.0);
    bb_real(p, BB_host_at, -1.5);
    bb_row_end(p);
    map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, bb_package_fd(p), 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    if (bb_dump_write(map, 4096, NULL, 0, in_dir("zero" DUMP_SUFFIX), &e))
        fail_msg("%s", e.text);
    text = report_text(in_dir("zero" DUMP_SUFFIX), BB_REPORT_JSON, 0, &be);
    assert_non_null(text);
    free(text);
    munmap(map, 4096);
    bb_package_destroy(p);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static void sql(const char *path, const char *text)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), 0);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), 0);
    sqlite3_close(db);
}

TEST(bad_dumps)
{
    struct bb_package *p = sample_package();
    struct bb_error e = {0};
    struct stat st;
    char *text;

    free(report_text(in_dir("none"), BB_REPORT_TEXT, -ENOENT, &e));
    memset(&e, 0, sizeof(e));
    write_file(in_dir("foreign"), "hello, this is a text file", 26);
    free(report_text(in_dir("foreign"), BB_REPORT_TEXT, -EBADMSG, &e));
    assert_non_null(strstr(e.text, "foreign: offset 0x0: no SQLite database, so no dump"));
    memset(&e, 0, sizeof(e));
    sql(in_dir("other.db"), "CREATE TABLE t(x)");
    free(report_text(in_dir("other.db"), BB_REPORT_TEXT, -EBADMSG, &e));
    assert_non_null(strstr(e.text, "an SQLite database, but no dump (application_id 0x0"));

    assert_int_equal(bb_package_send(p, &(struct bb_send_params){.path = in_dir("newer")}, NULL), 0);
    sql(in_dir("newer"), "PRAGMA user_version=7");
    memset(&e, 0, sizeof(e));
    text = report_text(in_dir("newer"), BB_REPORT_TEXT, -EPROTONOSUPPORT, &e);
    assert_non_null(strstr(text, "Draw 3"));
    assert_non_null(strstr(e.text, "schema version 7, this program knows 3"));
    free(text);

    assert_int_equal(bb_package_send(p, &(struct bb_send_params){.path = in_dir("types")}, NULL), 0);
    sql(in_dir("types"), "UPDATE finding SET submission=x'00', certainty=x'01'; DROP TABLE status");
    memset(&e, 0, sizeof(e));
    text = report_text(in_dir("types"), BB_REPORT_TEXT, -EBADMSG, &e);
    assert_non_null(strstr(text, "Draw 3"));
    assert_non_null(strstr(
        e.text, "types: table finding is not what was written: row 1 first; of 1 rows there are 1 (1 more"));
    free(text);

    assert_int_equal(bb_package_send(p, &(struct bb_send_params){.path = in_dir("cut")}, NULL), 0);
    assert_int_equal(truncate(in_dir("cut"), 20000), 0);
    memset(&e, 0, sizeof(e));
    free(report_text(in_dir("cut"), BB_REPORT_TEXT, -EBADMSG, &e));
    assert_non_null(strstr(e.text, "cut: offset 0x4e20: the file ends here, it had 0x"));

    bb_row(p, BB_TABLE_PICTURE);
    bb_blob(p, BB_picture_png, (uint8_t[100000]){1}, 100000);
    bb_row_end(p);
    assert_int_equal(bb_package_send(p, &(struct bb_send_params){.path = in_dir("short")}, NULL), 0);
    assert_int_equal(stat(in_dir("short"), &st), 0);
    assert_int_equal(truncate(in_dir("short"), st.st_size - 20000), 0);
    memset(&e, 0, sizeof(e));
    text = report_text(in_dir("short"), BB_REPORT_TEXT, -EBADMSG, &e);
    assert_non_null(strstr(text, "Draw 3")); /* what comes before the cut can be read */
    assert_non_null(strstr(e.text, "table picture cannot be read behind its row 0"));
    free(text);
    bb_package_destroy(p);
}

/* What `report TRACE --with DUMP --save` left in it, in every form, and whether it goes with what the dump says. */
TEST(processors_are_carried)
{
    static const struct {
        const char *verdict, *certainty, *relation;
    } cases[] = {
        {"CPU-STARVED", "certain",
         "they contradict each other: the dump says hang (unknown), the processors say CPU-STARVED (certain); the processors are surer"},
        {"GPU-HUNG", "candidate",
         "they agree: the dump says hang (unknown), the processors say GPU-HUNG (likely)"},
        {"UNKNOWN", "hint",
         "neither confirms nor contradicts the other: the dump says hang (unknown), the processors say UNKNOWN (not seen)"},
    };
    static const enum bb_report_format forms[] = {BB_REPORT_TEXT, BB_REPORT_JSON, BB_REPORT_HTML};
    struct bb_package *p = sample_package();

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[16], rows[400];

        snprintf(name, sizeof(name), "cpu%zu", i);
        assert_int_equal(bb_package_send(p, &(struct bb_send_params){.path = in_dir(name)}, NULL), 0);
        snprintf(rows, sizeof(rows),
                 "INSERT INTO finding(rank, certainty, cause, text, source) VALUES"
                 "(1, '%s', '%s', 'the <verdict>', 'processor trace'),"
                 "(2, 'hint', '%s', 'what was not seen', 'processor trace')",
                 cases[i].certainty, cases[i].verdict, cases[i].verdict);
        sql(in_dir(name), rows);
        for (int k = 0; k < 3; k++) {
            struct bb_error e = {0};
            char *text = report_text(in_dir(name), forms[k], -EBADMSG, &e); /* for the rows are not sealed */

            assert_non_null(strstr(text, "Draw 3"));
            assert_non_null(strstr(text, cases[i].relation));
            assert_non_null(strstr(text, k == 2 ? "the &lt;verdict&gt;" : "the <verdict>"));
            if (k == 0)
                assert_int_equal(strstr(text, "CONTRADICTION") != NULL, i == 0);
            if (k == 0)
                assert_non_null(strstr(text, "what was not seen (not seen)"));
            free(text);
        }
    }
    bb_package_destroy(p);
}

/* Whatever is flipped, zeroed or cut: the report says what it said, or says that something is wrong. */
TEST(damage_is_not_silent)
{
    struct bb_package *p = sample_package();
    struct rng rng = {.state = 42};
    static uint8_t whole[1 << 20], bytes[sizeof(whole)];
    unsigned noticed = 0;
    char *before;
    size_t size;
    FILE *f;

    for (int i = 0; i < 200; i++) {
        bb_row(p, BB_TABLE_PACKET);
        bb_int(p, BB_packet_submission, 7);
        bb_int(p, BB_packet_number, i);
        bb_textf(p, BB_packet_text, "DRAW vertex_count=%d", 3 * i);
        bb_row_end(p);
    }
    assert_int_equal(bb_package_send(p, &(struct bb_send_params){.path = in_dir("whole")}, NULL), 0);
    bb_package_destroy(p);
    f = fopen(in_dir("whole"), "rb");
    size = fread(whole, 1, sizeof(whole), f);
    fclose(f);
    assert_true(size > 100 && size < sizeof(whole));
    before = report_text(in_dir("whole"), BB_REPORT_JSON, 0, NULL);
    for (int i = 0; i < 400; i++) {
        struct bb_error e = {0};
        size_t n = size, at = rng_next(&rng) % size;
        char *after = NULL;
        int r;

        memcpy(bytes, whole, size);
        if (i % 8 == 0)
            n = at;
        else if (i % 8 == 1)
            memset(bytes + at, 0, size - at < 512 ? size - at : 512);
        else
            bytes[at] ^= (uint8_t)(1u << rng_next(&rng) % 8);
        write_file(in_dir("whole"), bytes, n);
        f = open_memstream(&after, &n);
        r = bb_report(in_dir("whole"), BB_REPORT_JSON, f, &e);
        fclose(f);
        noticed += r != 0;
        assert_int_equal(utf8_clean(NULL, SIZE_MAX, e.text, strlen(e.text)), strlen(e.text));
        if (!r && strcmp(before, after))
            fail_msg("damage %d at %zu differs in silence", i, at);
        free(after);
    }
    assert_true(noticed > 40); /* much of it is space that nothing stands in */
    free(before);
}

/* ---- many dumps ---------------------------------------------------------- */

static void small_dump(const char *path, const char *fingerprint, bool factor, bool noise, int64_t when)
{
    struct bb_package *p;

    assert_int_equal(bb_package_create(&p, 0), 0);
    bb_meta(p, "time_ns", "%lld", (long long)when);
    bb_meta(p, "place", "shaders %s", fingerprint);
    bb_meta(p, "path", "frame/%s", noise ? "fog" : "sky");
    bb_meta(p, "fingerprint", "%s-%d", fingerprint, noise);
    bb_meta(p, "time", "2026-08-01T00:00:00Z");
    bb_meta(p, "device", "a device");
    bb_meta(p, "setting.threads", factor ? "1" : "8");
    bb_meta(p, "setting.vsync", noise ? "on" : "off");
    bb_row(p, BB_TABLE_FINDING);
    bb_int(p, BB_finding_rank, 0);
    bb_text(p, BB_finding_cause, "hang");
    bb_text(p, BB_finding_text, "A draw does not finish");
    bb_text(p, BB_finding_certainty, noise ? "certain" : "candidate");
    bb_int(p, BB_finding_packet, 9);
    bb_row_end(p);
    bb_row(p, BB_TABLE_USAGE);
    bb_text(p, BB_usage_kind, "total");
    bb_text(p, BB_usage_name, "");
    bb_int(p, BB_usage_commands, 10);
    bb_int(p, BB_usage_running, 1);
    bb_row_end(p);
    assert_int_equal(bb_package_send(p, &(struct bb_send_params){.path = path}, NULL), 0);
    bb_package_destroy(p);
}

/* 200 dumps: one setting that a fifth of them have makes one of the two groups; another is drawn by chance. */
TEST(a_planted_factor_is_found)
{
    struct bb_crashes *c;
    struct bb_crashes_added added = {0};
    struct strbuf out = {0};
    struct rng rng = {.state = 7};
    struct error e = {0};
    char path[128], *text;

    snprintf(path, sizeof(path), "%s/many", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    for (int i = 0; i < 200; i++) {
        bool factor = i % 9 < 2;

        snprintf(path, sizeof(path), "%s/many/%d.aerogpudump", dir, i);
        small_dump(path, factor ? "aaaa" : "bbbb", factor, rng_next(&rng) % 2, 1000 + i);
    }
    /* A copy is no second crash. */
    snprintf(path, sizeof(path), "cp %s/many/7.aerogpudump %s/many/copy.aerogpudump", dir, dir);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof(path), "%s/many", dir);
    if (bb_crashes_open(&c, in_dir("index"), &e) || bb_crashes_add(c, path, &added, &e) ||
        bb_crashes_text(c, &out, &e))
        fail_msg("%s", e.text);
    assert_int_equal(added.added, 200);
    assert_int_equal(added.copies, 1);
    if (!strstr(
            strbuf_str(&out),
            "setting   setting.threads=1                        in 46 of 46 (100 %), in 0 of 154 other crashes (0 %), by chance "))
        fail_msg("%s", strbuf_str(&out));
    assert_non_null(
        strstr(strbuf_str(&out),
               "setting   setting.threads=8                        in 154 of 154 (100 %), in 0 of 46"));
    /* It stands at the top, then the places with their kinds; what is vague can be played. */
    text = strstr(strbuf_str(&out), "What goes with a place");
    assert_non_null(text);
    assert_true(text < strstr(text, "setting.threads=1 ") &&
                strstr(text, "setting.threads=1 ") < strstr(text, "154 × shaders bbbb"));
    assert_non_null(strstr(text, "at shaders aaaa\n"));
    text = strstr(text, "46 × shaders aaaa");
    assert_non_null(text);
    assert_non_null(strstr(text, " × hang in frame/fog  (aaaa-1)"));
    assert_non_null(strstr(text, " name several commands, not one: aerogpu play /"));
    /* Nothing is said about elsewhere where there is none, and what chance would do does not rank. */
    assert_non_null(strstr(strbuf_str(&out),
                           "device    a device                                 in 200 of 200 (100 %)\n"));
    assert_null(strstr(strbuf_str(&out), "vsync=on                         in 2"));
    strbuf_finish(&out);
    bb_crashes_close(c);
}

TEST_GROUP(make_dir, remove_dir);
