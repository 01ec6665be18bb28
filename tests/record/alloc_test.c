/* SPDX-License-Identifier: MIT */
/* alloc_test.c: the nth allocation or system call of the recorder core fails (alloc_fail.h). */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "alloc_fail.h"
#include "record/varint.h"
#include "record/edit/diff.h"
#include "record/dirty/dirty.h"
#include "record/export.h"
#include "record/show.h"
#include "record/edit/trace_edit.h"
#include "temp_dir.h"
#include "toy_api.h"

static char path[100], other[100];

/* What was done without is not said. */
static int coped(int err)
{
    return !err && *alloc_fail_what() ? ALLOC_FAIL_COPED : err;
}

/* A recording with blobs, of which one is a record, and blocks that are split. */
static int write_one(void *ctx)
{
    uint8_t raw[8192], *w = raw, *note;
    static uint8_t big[5000];
    struct trc_writer *out;
    int err = trc_writer_create(&out, &toy_api, path, "{}", NULL), end;

    if (err)
        return err;
    w = varint_put(w, 7); /* number, size, offset, length: a record of its own */
    note = big;
    note = varint_put(note, (uint64_t)TOY_Note << REC_FLAG_BITS | REC_TICKET);
    note = varint_put(note, sizeof(big) - 10 + 1);
    w = varint_put(w, (uint64_t)(note - big) + sizeof(big) - 10);
    w = varint_put(w, 0);
    w = varint_put(w, (uint64_t)(note - big) + sizeof(big) - 10);
    memcpy(w, big, (size_t)(note - big) + sizeof(big) - 10);
    w += (size_t)(note - big) + sizeof(big) - 10;
    err = trc_writer_block(out, &(struct block){.kind = TRC_BLOBS, .first = 7}, raw, (size_t)(w - raw), NULL);
    w = raw;
    w = varint_put(w, (uint64_t)TOY_Open << REC_FLAG_BITS | REC_TICKET);
    *w++ = 2;
    for (int i = 0; i < 100; i++) {
        w = varint_put(w, (uint64_t)TOY_SetName << REC_FLAG_BITS | REC_TICKET | (i ? 0 : REC_THIS));
        if (!i)
            *w++ = 2;
        *w++ = 3;
        *w++ = 'a';
        *w++ = (uint8_t)('a' + i % 20);
    }
    *w++ = REC_LARGE;
    *w++ = 7;
    for (unsigned thread = 1; thread < 4 && !err; thread++)
        err = trc_writer_block(out, &(struct block){.kind = TRC_CALLS, .stream = (uint16_t)thread}, raw,
                               (size_t)(w - raw), NULL);
    end = trc_writer_finish(out, NULL);
    return coped(err ? err : end);
}

static int read_one(void *ctx)
{
    struct names names = {0};
    struct strbuf b = {0};
    struct error e = {0};
    struct trc_call c;
    struct trc *t;
    int got = trc_open(&t, &toy_api, path, &e);

    if (got)
        return got;
    got = names_read(&names, t, &e);
    while (!got && (got = trc_next(t, &c, &e)) > 0) {
        strbuf_clear(&b);
        show_call(&b, SHOW_TEXT, t, &c, &names);
        got = strbuf_failed(&b) ? -ENOMEM : 0;
    }
    strbuf_finish(&b);
    names_finish(&names);
    trc_close(t);
    return coped(got); /* names that could not be read are no names */
}

static int edit_one(void *ctx)
{
    struct trc_editor *ed = NULL;
    struct error e = {0};
    struct trc_call c;
    struct trc *t;
    int err = trc_open(&t, &toy_api, path, &e), got = 0, end;

    if (err)
        return err;
    err = trc_edit_create(&ed, t, other, json_pack("{s:i}", "edited", 1), &e);
    while (!err && (got = trc_next(t, &c, &e)) > 0)
        err = trc_edit_copy(ed, &c, &e);
    err = err ? err : got;
    end = trc_edit_finish(ed, !err, &e);
    trc_close(t);
    return coped(err ? err : end);
}

static int diff_one(void *ctx)
{
    struct trc *a = NULL, *b = NULL;
    FILE *null = fopen("/dev/null", "we");
    struct diff_result r;
    struct error e = {0};
    int err;

    if (!null)
        return -errno;
    if (!(err = trc_open(&a, &toy_api, path, &e)) && !(err = trc_open(&b, &toy_api, path, &e)))
        err = diff_run(null, a, b, 0, &r, &e);
    trc_close(a);
    trc_close(b);
    fclose(null);
    return coped(err);
}

static int watch_one(void *method)
{
    static uint8_t pages[4 * DIRTY_PAGE] __attribute__((aligned(DIRTY_PAGE)));
    struct dirty_span *s;
    struct dirty *d;
    int err = dirty_create(&d, *(enum dirty_method *)method);

    if (err)
        return err;
    err = dirty_add(d, &s, pages, sizeof(pages));
    if (!err)
        dirty_remove(d, s);
    dirty_destroy(d);
    return err;
}

TEST(writing)
{
    assert_true(alloc_fail_each(write_one, NULL) > 5);
}

TEST(reading)
{
    assert_int_equal(write_one(NULL), 0);
    assert_true(alloc_fail_each(read_one, NULL) > 10);
}

TEST(editing)
{
    assert_true(alloc_fail_each(edit_one, NULL) > 15);
}

TEST(comparing)
{
    assert_true(alloc_fail_each(diff_one, NULL) > 15);
}

TEST(watching)
{
    enum dirty_method m = DIRTY_HASH;

    assert_true(alloc_fail_each(watch_one, &m) >= 3);
}

TEST_GROUP(NULL, remove_dir);

int main(void)
{
    if (make_dir(NULL))
        return 1;
    snprintf(path, sizeof(path), "%s/a", dir);
    snprintf(other, sizeof(other), "%s/b", dir);
    return test_run();
}
