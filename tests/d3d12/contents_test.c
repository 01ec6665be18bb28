/* SPDX-License-Identifier: MIT */
/* contents_test.c: what is known of buffers, of recordings that no recorder writes. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "d3d12/view/contents.h"
#include "d3d12_records.h"
#include "temp_dir.h"

enum { DEVICE = 2, HEAP = 3, BUFFER = 4 };

/* A buffer of 256 bytes at `place` of the heap, as object `number`. */
static void place_buffer(struct record *r, uint64_t place, uint32_t number)
{
    op(r, D12_ID3D12Device_CreatePlacedResource, REC_SEQ | REC_TICKET | REC_THIS);
    memcpy(r->bytes + r->n, "\0\0\0\0", 4);
    r->n += 4;
    var(r, DEVICE);
    var(r, HEAP);
    var(r, place);
    r->bytes[r->n++] = 1; /* the description */
    var(r, D3D12_RESOURCE_DIMENSION_BUFFER);
    var(r, 0);
    var(r, 256);
    for (int i = 0; i < 3; i++)
        var(r, 1);
    var(r, DXGI_FORMAT_UNKNOWN);
    var(r, 1);
    var(r, 0);
    var(r, D3D12_TEXTURE_LAYOUT_ROW_MAJOR);
    var(r, 0);
    var(r, 0);            /* its state */
    r->bytes[r->n++] = 0; /* no clear value */
    var(r, D12_IFACE_ID3D12Resource + 1);
    var(r, 0); /* S_OK */
    var(r, number);
}

static int nothing(void *ctx, uint64_t list, uint64_t caller, uint64_t call)
{
    return 0;
}

/* Numbers that are given again lead in no circle, whatever stood between. */
TEST(numbers_that_are_given_again_end)
{
    static const uint32_t numbers[] = {BUFFER, BUFFER + 1, BUFFER, BUFFER + 1, BUFFER};
    struct contents x = {0};
    struct record r = {0};
    struct error e = {0};
    struct trc_call c;
    char path[200];
    struct trc *t;
    uint64_t call;
    int got;

    snprintf(path, sizeof(path), "%s/again", dir);
    for (size_t i = 0; i < 5; i++)
        place_buffer(&r, i ? 128 : 0, numbers[i]);
    write_file(path, r.bytes, r.n, 1);
    assert_int_equal(trc_open(&t, &d12_api, path, &e), 0);
    while ((got = trc_next(t, &c, &e)) > 0)
        assert_int_equal(contents_follow(&x, t, &c, nothing, NULL), 0);
    assert_string_equal(e.text, "");
    assert_int_equal(contents_what(&x, BUFFER, 0, &call), CONTENTS_UNKNOWN); /* they share memory */
    assert_int_equal(contents_what(&x, BUFFER + 1, 0, &call), CONTENTS_UNKNOWN);
    contents_finish(&x);
    trc_close(t);
}

TEST_GROUP(make_dir, remove_dir);
