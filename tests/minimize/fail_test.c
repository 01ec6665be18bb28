/* SPDX-License-Identifier: MIT */
/* The nth allocation or system call fails: a recording in pieces, and a dump that is opened to be played. */
#include "test.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <string.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "base/file/seal.h"
#include "blackbox/schema.h"
#include "minimize/dump_file.h"
#include "minimize/reduce.h"

static const char *recording; /* build/samples/spinning.aerogputrace */

/* Whether a file is not to be written over is remembered where there is memory for it (base/out_file.h): the result must be the same
 * without. */
static int coped(int rc)
{
    return !rc && alloc_fail_disarm() ? ALLOC_FAIL_COPED : rc;
}

static int load(void *ctx)
{
    struct reduce r;
    int rc = reduce_load(&r, recording, NULL, 0, NULL);

    assert_true(rc || reduce_packets_left(&r) > 0);
    reduce_finish(&r);
    return rc;
}

TEST(loading)
{
    assert_true(alloc_fail_each(load, NULL) > 10);
}

static int write_half(void *ctx)
{
    struct reduce *r = ctx;
    uint32_t n = reduce_things(r, REDUCE_PACKETS), before = reduce_packets_left(r);
    static uint8_t keep[1 << 16];
    static size_t whole_size;
    static void *whole;
    struct error e = {0};
    void *data;
    size_t size;
    int rc;

    assert_true(n <= sizeof(keep));
    for (uint32_t i = 0; i < n; i++)
        keep[i] = i % 2;
    rc = reduce_write(r, REDUCE_PACKETS, keep, &data, &size, &e);
    assert_int_equal(reduce_packets_left(r), before); /* a candidate leaves the recording as it is */
    if (!rc && whole) {
        assert_int_equal(size, whole_size);
        assert_memory_equal(data, whole, size);
        munmap(data, size);
    } else if (!rc) {
        whole = data;
        whole_size = size;
    }
    return coped(rc);
}

static int slice(void *ctx)
{
    struct reduce *r = ctx;
    static uint8_t keep[1 << 16];

    return reduce_slice(r, r->num_subs - 1, 0, keep) ? 0 : -ENOMEM;
}

TEST(candidates)
{
    struct reduce r;

    assert_int_equal(reduce_load(&r, recording, NULL, 0, NULL), 0);
    assert_true(alloc_fail_each(write_half, &r) > 10);
    assert_true(alloc_fail_each(slice, &r) > 2);
    reduce_finish(&r);
}

static int open_dump(void *ctx)
{
    struct dump_file f;
    int rc = dump_file_open(&f, ctx, false, NULL);

    if (rc)
        return rc;
    assert_int_equal(f.recording_size, 9);
    assert_int_equal(f.num_suspects, 20);
    assert_true(dump_file_suspects(&f, 7, 7) && dump_file_suspects(&f, 0, 99));
    assert_false(dump_file_suspects(&f, 99, 99));
    dump_file_close(&f);
    return coped(0);
}

/* Not one suspect and not one part of the recording is silently left out. */
TEST(dumps)
{
    char path[] = "/tmp/aerogpu-dump-XXXXXX";
    struct strbuf sql = {0};
    sqlite3 *db;

    close(mkstemp(path));
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    bb_schema_sql(&sql);
    strbuf_puts(
        &sql,
        "INSERT INTO finding(rank, submission) VALUES(0,1);"
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<19) INSERT INTO packet(number, submission, state, work) SELECT "
        "i,1,'perhaps running',1 FROM n;"
        "INSERT INTO file(kind, part, bytes) VALUES('recording',0,x'0102030405'),('recording',1,x'06070809')");
    assert_int_equal(sqlite3_exec(db, strbuf_str(&sql), NULL, NULL, NULL), SQLITE_OK);
    for (int t = 0; t < BB_TABLE_CHECKSUM; t++)
        assert_int_equal(seal_table(db, bb_tables[t].name), SQLITE_OK);
    strbuf_finish(&sql);
    sqlite3_close(db);
    assert_true(alloc_fail_each(open_dump, path) > 3);
    unlink(path);
}

int main(int argc, char **argv)
{
    recording = argv[1];
    return argc < 2 ? 2 : test_run();
}
