/* SPDX-License-Identifier: MIT */
/* fences_test.c: what is said of fences, of recordings made for it: each step is a call. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "d3d12/view/fences.h"
#include "d3d12_records.h"
#include "temp_dir.h"

enum { DEVICE = 2, FENCE = 6, QUEUE = 3, OTHER = 4, PROGRAM = 0 };

enum what { SIGNAL, WAIT, READ };

struct step {
    enum what what;
    uint32_t who;
    uint64_t value;
};

static void make(struct record *r, uint64_t first)
{
    op(r, D12_ID3D12Device_CreateFence, REC_SEQ | REC_TICKET | REC_THIS);
    memcpy(r->bytes + r->n, "\0\0\0\0", 4);
    r->n += 4;
    var(r, DEVICE);
    var(r, first);
    var(r, 0);
    var(r, D12_IFACE_ID3D12Fence + 1);
    var(r, 0); /* S_OK */
    var(r, FENCE);
}

static void put(struct record *r, const struct step *s)
{
    const bool queue = s->who != PROGRAM;

    op(r,
       s->what == READ     ? D12_ID3D12Fence_GetCompletedValue
       : s->what == SIGNAL ? (queue ? D12_ID3D12CommandQueue_Signal : D12_ID3D12Fence_Signal)
       : queue             ? D12_ID3D12CommandQueue_Wait
                           : D12_ID3D12Fence_SetEventOnCompletion,
       REC_THIS | REC_TICKET);
    var(r, queue ? s->who : FENCE);
    if (queue)
        var(r, FENCE);
    var(r, s->value);
    if (s->what == WAIT && !queue)
        var(r, 5); /* the event */
    if (s->what != READ)
        var(r, 0); /* S_OK */
}

/* What is said of a fence that began at `first` at the last of these steps; the fence is made by call 0. */
static void says(const char *want, enum show_form form, uint64_t first, const struct step *steps, size_t num)
{
    struct record r = {0};
    struct names names = {0};
    struct strbuf b = {0};
    struct error e = {0};
    char path[200];
    struct trc *t;

    snprintf(path, sizeof(path), "%s/fence", dir);
    make(&r, first);
    for (size_t i = 0; i < num; i++)
        put(&r, &steps[i]);
    write_file(path, r.bytes, r.n, 1);
    assert_int_equal(trc_open(&t, &d12_api, path, &e), 0);
    assert_int_equal(names_read(&names, t, &e), 0);
    if (fences_at(&b, form, t, &names, num, &e))
        fail_msg("%s", e.text);
    assert_string_equal(strbuf_str(&b), want);
    strbuf_finish(&b);
    names_finish(&names);
    trc_close(t);
}

#define SAYS(first, want, ...)                                                                               \
    says("Fence#6: it began at " want "\n", SHOW_TEXT, first, (const struct step[]){__VA_ARGS__},            \
         sizeof((const struct step[]){__VA_ARGS__}) / sizeof(struct step))

TEST(who_signals_is_named)
{
    SAYS(
        5,
        "5, queue 4 was told to signal 2 (call 2), queue 3 was told to signal 3 (call 3), the program signalled 9 (call 4), last read as 9 (call 5)",
        {SIGNAL, QUEUE, 1}, {SIGNAL, OTHER, 2}, {SIGNAL, QUEUE, 3}, {SIGNAL, PROGRAM, 9}, {READ, PROGRAM, 9});
}

/* However far back the fence goes later. */
TEST(waits_that_were_over_stay_so)
{
    SAYS(
        0,
        "0, queue 3 was told to signal 0 (call 3), queue 4 waited for 1 (call 2), which queue 3 was told to signal (call 1)",
        {SIGNAL, QUEUE, 1}, {WAIT, OTHER, 1}, {SIGNAL, QUEUE, 0});
    SAYS(
        5,
        "5, the program signalled 2 (call 3), queue 4 waited for 7 (call 1), which the program signalled (call 2)",
        {WAIT, OTHER, 7}, {SIGNAL, PROGRAM, 7}, {SIGNAL, PROGRAM, 2});
    SAYS(5, "5, the program signalled 2 (call 2), queue 4 waited for 4 (call 1), where it began",
         {WAIT, OTHER, 4}, {SIGNAL, PROGRAM, 2});
    /* what a queue was told may come behind the wait, whatever was signalled since */
    SAYS(
        0,
        "0, queue 3 was told to signal 9 (call 1), the program signalled 2 (call 2), the program waited for 9 (call 3), which queue 3 was told to signal (call 1)",
        {SIGNAL, QUEUE, 9}, {SIGNAL, PROGRAM, 2}, {WAIT, PROGRAM, 9});
    SAYS(0, "0, last read as 7 (call 2), the program waited for 6 (call 1), and it was read as far (call 2)",
         {WAIT, PROGRAM, 6}, {READ, PROGRAM, 7});
}

/* And what the program took back before is over. */
TEST(waits_for_what_is_gone_are_waits_for_nobody)
{
    SAYS(5, "5, the program signalled 2 (call 2), queue 4 waited for 9 (call 3), which nobody had signalled",
         {SIGNAL, PROGRAM, 9}, {SIGNAL, PROGRAM, 2}, {WAIT, OTHER, 9});
    SAYS(5, "5, the program signalled 2 (call 1), queue 4 waited for 4 (call 2), which nobody had signalled",
         {SIGNAL, PROGRAM, 2}, {WAIT, OTHER, 4});
    SAYS(
        0,
        "0, last read as 18446744073709551615 (call 2), queue 4 waited for 1 (call 1), which nobody had signalled",
        {WAIT, OTHER, 1}, {READ, PROGRAM, UINT64_MAX});
}

/* Of each who waits: all that nobody signalled, and the last that somebody did. */
TEST(each_wait_is_shown)
{
    SAYS(
        0,
        "0, queue 3 was told to signal 3 (call 6), queue 4 waited for 2 (call 4), which queue 3 was told to signal (call 6), the program waited for 3 (call 5), which queue 3 was told to signal (call 6), "
        "queue 4 waited for 8 (call 2), which nobody had signalled, queue 3 waited for 9 (call 3), which nobody had signalled",
        {WAIT, OTHER, 1}, {WAIT, OTHER, 8}, {WAIT, QUEUE, 9}, {WAIT, OTHER, 2}, {WAIT, PROGRAM, 3},
        {SIGNAL, QUEUE, 3});
}

TEST(and_as_json)
{
    says(
        "{\"fence\":6,\"initial\":1,\"queue\":3,\"cpu\":2,\"read\":3,\"signals\":[{\"value\":2,\"call\":1},{\"value\":3,\"call\":4,\"queue\":3}],"
        "\"waits\":[{\"value\":3,\"call\":2,\"queue\":4,\"signalled\":true,\"by\":{\"value\":3,\"call\":4,\"queue\":3}},"
        "{\"value\":8,\"call\":3,\"signalled\":false}]}\n",
        SHOW_JSON, 1,
        (const struct step[]){{SIGNAL, PROGRAM, 2},
                              {WAIT, OTHER, 3},
                              {WAIT, PROGRAM, 8},
                              {SIGNAL, QUEUE, 3},
                              {READ, PROGRAM, 3}},
        5);
}

TEST_GROUP(make_dir, remove_dir);
