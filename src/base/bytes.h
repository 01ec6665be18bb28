/* SPDX-License-Identifier: MIT */
/* bytes.h: reading bytes that somebody else wrote.
 *
 * A cursor walks a block of little-endian bytes. A read past the end returns zeroes, marks the cursor bad and never
 * touches memory; once bad it stays bad, so a parser checks `bad` once, after the reads that belong together.
 */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const uint8_t *data;
    size_t size;
    size_t pos; /* offset of the next read; where it went wrong, if bad */
    bool bad;
};

static inline struct bytes bytes_of(const void *data, size_t size)
{
    return (struct bytes){.data = (const uint8_t *)data, .size = size};
}

static inline size_t bytes_left(const struct bytes *b)
{
    return b->bad ? 0 : b->size - b->pos;
}

/* The next `n` bytes, or NULL if there are fewer. */
static inline const void *bytes_take(struct bytes *b, size_t n)
{
    const uint8_t *p;

    if (b->bad || n > b->size - b->pos) {
        b->bad = true;
        return NULL;
    }
    p = b->data + b->pos;
    b->pos += n;
    return p;
}

static inline void bytes_seek(struct bytes *b, size_t pos)
{
    if (pos > b->size)
        b->bad = true;
    else if (!b->bad)
        b->pos = pos;
}

static inline uint8_t bytes_u8(struct bytes *b)
{
    const uint8_t *p = (const uint8_t *)bytes_take(b, 1);
    return p ? *p : 0;
}

static inline uint16_t bytes_u16(struct bytes *b)
{
    const void *p = bytes_take(b, 2);
    uint16_t v = 0;
    if (p)
        memcpy(&v, p, 2);
    return le16toh(v);
}

static inline uint32_t bytes_u32(struct bytes *b)
{
    const void *p = bytes_take(b, 4);
    uint32_t v = 0;
    if (p)
        memcpy(&v, p, 4);
    return le32toh(v);
}

static inline uint64_t bytes_u64(struct bytes *b)
{
    const void *p = bytes_take(b, 8);
    uint64_t v = 0;
    if (p)
        memcpy(&v, p, 8);
    return le64toh(v);
}
