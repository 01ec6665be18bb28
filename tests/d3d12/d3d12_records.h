/* SPDX-License-Identifier: MIT */
/* d3d12_records.h: recordings that tests make byte by byte. Behind cmocka.h. */
#pragma once

#include <string.h>

#include "record/varint.h"
#include "d3d12/gen/table.h"
#include "record/trace_file.h"
#include "d3d12_api.h"

struct record {
    uint8_t bytes[512];
    size_t n;
};

static inline void var(struct record *r, uint64_t v)
{
    r->n = (size_t)(varint_put(r->bytes + r->n, v) - r->bytes);
}

static inline void op(struct record *r, uint32_t method, uint32_t flags)
{
    var(r, method << REC_FLAG_BITS | flags);
}

/* One event wait, one draw on object 5 and the same again: small, and with all that a header can say. */
static inline void sample(struct record *r)
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

static inline void write_file(const char *path, const void *records, size_t n, int blocks)
{
    struct block b = {.kind = TRC_CALLS, .stream = 1, .first = 10};
    struct trc_writer *w;

    assert_int_equal(trc_writer_create(&w, &d12_api, path, "{}", NULL), 0);
    for (int i = 0; i < blocks; i++) {
        assert_int_equal(trc_writer_block(w, &b, records, n, NULL), 0);
        b.first += 10;
    }
    assert_int_equal(trc_writer_finish(w, NULL), 0);
}
