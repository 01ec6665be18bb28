/* SPDX-License-Identifier: MIT */
/* varint.h: LEB128 integers over struct bytes (reading) and a raw pointer (writing); zigzag for signed ones. */
#pragma once

#include "base/bytes.h"

#define VARINT_MAX 10 /* bytes of the longest encoding */

static inline uint64_t zigzag(int64_t v)
{
    return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* Writes at most VARINT_MAX bytes; returns the byte behind them. */
static inline uint8_t *varint_put(uint8_t *p, uint64_t v)
{
    while (v >= 0x80) {
        *p++ = (uint8_t)v | 0x80;
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}

/* 0, and the cursor bad, if the bytes end or the value does not fit 64 bits. */
static inline uint64_t bytes_varint(struct bytes *b)
{
    uint64_t v = 0;

    if (b->bad)
        return 0;
    for (unsigned shift = 0; shift < 64 && b->pos < b->size; shift += 7) {
        uint8_t c = b->data[b->pos++];

        if (shift == 63 && c > 1)
            break;
        v |= (uint64_t)(c & 0x7f) << shift;
        if (!(c & 0x80))
            return v;
    }
    b->bad = true;
    return 0;
}
