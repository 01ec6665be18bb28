/* SPDX-License-Identifier: MIT */
/* trim_test.c: frames of a recording of the toy, cut out: what stands in front of them, and what does not. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "alloc_fail.h"
#include "record/edit/trace_trim.h"
#include "record/show.h"
#include "record/varint.h"
#include "temp_dir.h"
#include "toy_api.h"

enum { DESK = 2, PEN, DEAD_PEN, SHEET, MANY = 300 };

struct row {
    uint16_t method;
    uint8_t self;
    uint8_t size;
    uint8_t bytes[20]; /* arguments and answer: one byte a number */
};

#define CALL(name, self, ...)                                                                                \
    {                                                                                                        \
        TOY_##name, self, sizeof((uint8_t[]){0, ##__VA_ARGS__}) - 1,                                         \
        {                                                                                                    \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }

/* Places are two numbers; an array has one more than its length in front; a result of 1 is a failure. */
static const struct row plain[] = {
    CALL(Open, 0, DESK),
    CALL(NewPen, DESK, 0, PEN),
    CALL(NewPen, DESK, 0, DEAD_PEN),
    CALL(NewSheet, DESK, PEN, SHEET),
    CALL(Stroke, SHEET, PEN),
    CALL(End, SHEET, 0),
    CALL(AddRef, PEN, 2),
    CALL(Where, DESK, 9),
    CALL(Where, DESK, 9),
    CALL(Pin, DESK, PEN, DESK, 0),
    CALL(Pin, DESK, DEAD_PEN, DESK, 1),
    CALL(Repin, DESK, 2, DESK, 10, DESK, 0),
    CALL(RepinAll, DESK, 2, 3, DESK, 20, DESK, 30, 3, 1, 1, 1, 2, DESK, 10, 2, 2),
    CALL(Pin, DESK, PEN, DESK, 0),
    CALL(Lift, DESK, 0),
    CALL(Lift, DESK, 1),
    CALL(Ring, DESK, 5),
    CALL(Ring, DESK, 6),
    CALL(Ring, DESK, 6),
    CALL(Hush, DESK, 5),
    CALL(Release, DEAD_PEN, 0),
    CALL(Show, DESK, 2, SHEET),
    CALL(Turn, DESK),
    CALL(Show, DESK, 2, SHEET),
    CALL(Turn, DESK),
    CALL(FrameHash, 0, 2, 7),
    CALL(FrameHash, 0, 1, 8),
    CALL(Turn, DESK),
};

static char path[100], cut[100];

static uint8_t *put_call(uint8_t *w, uint16_t method, uint64_t self, const void *args, size_t size)
{
    w = varint_put(w, (uint64_t)method << REC_FLAG_BITS | REC_TICKET | REC_THIS);
    w = varint_put(w, self);
    if (size)
        memcpy(w, args, size);
    return w + size;
}

static struct trc *written(const uint8_t *raw, size_t size)
{
    struct trc_writer *out;
    struct error e = {0};
    struct trc *t;

    assert_int_equal(trc_writer_create(&out, &toy_api, path, "{}", &e), 0);
    assert_int_equal(trc_writer_block(out, &(struct block){.kind = TRC_CALLS, .stream = 1}, raw, size, &e),
                     0);
    assert_int_equal(trc_writer_finish(out, &e), 0);
    if (trc_open(&t, &toy_api, path, &e))
        fail_msg("%s", e.text);
    return t;
}

static struct trc *plain_recording(void)
{
    uint8_t raw[1024], *w = raw;

    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        w = put_call(w, plain[i].method, plain[i].self, plain[i].bytes, plain[i].size);
    return written(raw, (size_t)(w - raw));
}

/* A desk with a short and a long content, and a pen that nobody can look into. */
static int contents(struct trc *t, struct trc_trim *x, const struct trc_trim_params *params, struct error *e)
{
    static const uint8_t bytes[400] = {1, 2, 3};
    struct trc_call c;

    while (trc_next(t, &c, e) > 0 && c.frame < params->first)
        params->progress->index = c.index;
    assert_true(trc_trim_wants(x, DESK));
    assert_false(trc_trim_wants(x, DEAD_PEN));
    assert_int_equal(trc_trim_content(x, DESK, 0, 11, bytes, 3, e), 0);
    assert_int_equal(trc_trim_content(x, DESK, 1, 12, bytes, sizeof(bytes), e), 0);
    return trc_trim_empty(x, PEN, 0, "it is full of ink", e);
}

static void assert_file(const char *file, const char *const *want, size_t n)
{
    struct names names = {0};
    struct strbuf b = {0};
    struct error e = {0};
    struct trc_call c;
    struct trc *t;

    if (trc_open(&t, &toy_api, file, &e))
        fail_msg("%s", e.text);
    assert_int_equal(names_read(&names, t, &e), 0);
    for (size_t i = 0; i < n; i++) {
        if (trc_next(t, &c, &e) != 1)
            fail_msg("call %zu is not there: %s", i, e.text);
        strbuf_clear(&b);
        show_call(&b, SHOW_TEXT, t, &c, &names);
        assert_string_equal(strchr(strbuf_str(&b), '@') + 3, want[i]);
    }
    assert_int_equal(trc_next(t, &c, &e), 0);
    strbuf_finish(&b);
    names_finish(&names);
    trc_close(t);
}

TEST(frames_play_on_their_own)
{
    static const char *const want[] = {
        "Open() -> return=Desk#2",
        "Desk#2.NewPen(style=0x0) -> return=Pen#3",
        "Desk#2.NewSheet(pen=Pen#3) -> return=Sheet#5",
        "Sheet#5.End() -> return=S_OK",
        "Desk#2.Where() -> return=9",
        "Desk#2.Pin(pen=Pen#3, place=Desk#2[10])",
        "Desk#2.Pin(pen=Pen#3, place=Desk#2[20])",
        "Desk#2.Pin(pen=Pen#3, place=Desk#2[0])",
        "Desk#2.Lift() -> return=S_OK",
        "Desk#2.Ring(bell=event#6)",
        "Contents(thing=Desk#2, part=0, state=11, bytes=3 bytes 010203, size=3)",
        ("Contents(thing=Desk#2, part=1, state=12, bytes=400 bytes "
         "0102030000000000000000000000000000000000000000000000000000000000..., size=400)"),
        "Note(text=\"object 3, part 0 begins empty: it is full of ink\")",
        "Sheet#5.Begin(pen=Pen#3)",
        "Sheet#5.Stroke(pen=Pen#3)",
        "Sheet#5.End() -> return=S_OK",
        "Pen#3.AddRef() -> return=2",
        "Desk#2.Show(sheets=[Sheet#5])",
        "Desk#2.Turn()",
        "FrameHash(ago=1, hash=8)",
    };
    struct trc_progress progress = {0};
    struct trc_trim_params p = {.first = 1, .last = 1, .contents = contents, .progress = &progress};
    struct trc_trim_result r;
    struct trc *t = plain_recording();
    struct error e = {0};

    assert_int_equal(trc_trim(t, cut, &p, &r, &e), 0);
    assert_int_equal(r.objects, 3);
    assert_int_equal(r.contents, 2);
    assert_int_equal(r.last, 1);
    assert_int_equal(r.calls, 3);
    assert_int_equal(progress.index, 22);
    trc_close(t);
    assert_file(cut, want, sizeof(want) / sizeof(want[0]));
}

/* Nothing stands in front of the first frame, and there are no frames behind the last. */
TEST(the_first_frame_needs_nothing)
{
    struct trc_trim_params p = {.first = 0, .last = 99};
    struct trc_trim_result r;
    struct trc *t = plain_recording();
    struct error e = {0};

    assert_int_equal(trc_trim(t, cut, &p, &r, &e), 0);
    assert_int_equal(r.objects, 0);
    assert_int_equal(r.last, 2);
    assert_int_equal(r.calls, sizeof(plain) / sizeof(plain[0]));
    p.first = 7;
    p.last = 8;
    assert_int_equal(trc_trim(t, cut, &p, &r, &e), -ENOENT);
    assert_string_equal(e.text, "the recording has no frame 7: it has 0 to 2");
    trc_close(t);
}

/* However many a call has: none is left out. */
TEST(all_that_one_call_copies_is_followed)
{
    static uint8_t raw[8 * MANY], args[8 * MANY];
    uint8_t *w = raw, *a = args;
    struct trc_trim_params p = {.first = 1, .last = 1};
    struct trc_trim_result r;
    struct error e = {0};
    struct trc_call c;
    struct trc *t;
    unsigned pins = 0;

    w = put_call(w, TOY_Open, 0, (uint8_t[]){DESK}, 1);
    w = put_call(w, TOY_NewPen, DESK, (uint8_t[]){0, PEN}, 2);
    w = put_call(w, TOY_Pin, DESK, (uint8_t[]){PEN, DESK, 0}, 3);
    for (int from = 0; from < 2; from++) {
        a = varint_put(a, MANY);
        a = varint_put(a, MANY + 1);
        for (unsigned i = 0; i < MANY; i++) {
            a = varint_put(a, DESK);
            a = varint_put(a, from ? 0 : 1000 + i);
        }
        *a++ = 0; /* each is a single one */
    }
    w = put_call(w, TOY_RepinAll, DESK, args, (size_t)(a - args));
    w = put_call(w, TOY_Turn, DESK, NULL, 0);
    w = put_call(w, TOY_Turn, DESK, NULL, 0);
    t = written(raw, (size_t)(w - raw));
    assert_int_equal(trc_trim(t, cut, &p, &r, &e), 0);
    trc_close(t);
    assert_int_equal(trc_open(&t, &toy_api, cut, &e), 0);
    while (trc_next(t, &c, &e) > 0)
        pins += c.method == TOY_Pin;
    assert_int_equal(pins, MANY + 1);
    trc_close(t);
}

static int trim_one(void *ctx)
{
    struct trc_progress progress = {0};
    struct trc_trim_params p = {.first = 1, .last = 1, .contents = contents, .progress = &progress};
    struct trc_trim_result r;
    struct error e = {0};
    struct trc *t;
    int err = trc_open(&t, &toy_api, path, &e);

    if (err)
        return err;
    err = trc_trim(t, cut, &p, &r, &e);
    trc_close(t);
    return !err && *alloc_fail_what() ? ALLOC_FAIL_COPED : err;
}

TEST(nothing_is_lost_without_memory)
{
    trc_close(plain_recording());
    assert_true(alloc_fail_each(trim_one, NULL) > 30);
}

TEST_GROUP(NULL, remove_dir);

int main(void)
{
    if (make_dir(NULL))
        return 1;
    snprintf(path, sizeof(path), "%s/a", dir);
    snprintf(cut, sizeof(cut), "%s/b", dir);
    return test_run();
}
