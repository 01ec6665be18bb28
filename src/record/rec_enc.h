/* SPDX-License-Identifier: MIT */
/* rec_enc.h: how one value is written (wire.h); what thunks call. */
#pragma once

#include <string.h>

#include "record/varint.h"
#include "record/rec.h"

#define ENC_INLINE 256 /* byte blocks up to this size travel inside the record */

REC_INLINE void enc_u8(struct enc *e, uint8_t v)
{
    *e->p++ = v;
}

REC_INLINE void enc_var(struct enc *e, uint64_t v)
{
    uint16_t two;

    if (v < 0x80) {
        *e->p++ = (uint8_t)v;
    } else if (v < 0x4000) { /* nearly all others */
        two = (uint16_t)((v & 0x7f) | 0x80 | (v >> 7) << 8);
        memcpy(e->p, &two, 2);
        e->p += 2;
    } else {
        e->p = varint_put(e->p, v);
    }
}

REC_INLINE void enc_u16(struct enc *e, uint16_t v)
{
    enc_var(e, v);
}

REC_INLINE void enc_u32(struct enc *e, uint32_t v)
{
    enc_var(e, v);
}

REC_INLINE void enc_u64(struct enc *e, uint64_t v)
{
    enc_var(e, v);
}

REC_INLINE void enc_i32(struct enc *e, int32_t v)
{
    enc_var(e, zigzag(v));
}

REC_INLINE void enc_i64(struct enc *e, int64_t v)
{
    enc_var(e, zigzag(v));
}

REC_INLINE void enc_f32(struct enc *e, float v)
{
    memcpy(e->p, &v, 4);
    e->p += 4;
}

static inline void enc_guid(struct enc *e, const void *g)
{
    memcpy(e->p, g, 16);
    e->p += 16;
}

void enc_str(struct enc *e, const char *s);
void enc_text(struct enc *e, const char *s, size_t n); /* which is UTF-8 */

/* 0 is none, 1 one that the recorder does not know. */
REC_INLINE uint32_t rec_object_number(const void *p)
{
    struct rec_object *o = p ? rec_object_find(p) : NULL;

    return o ? o->id : p ? 1 : 0;
}

REC_INLINE void enc_object(struct enc *e, const void *p)
{
    enc_var(e, rec_object_number(p));
}

static inline uint32_t enc_float_bits(float v)
{
    uint32_t bits;

    memcpy(&bits, &v, 4);
    return bits;
}

/* Writes it at `p`; returns the byte behind it. */
uint8_t *REC_ABI rec_put_reference(uint8_t *p, enum rec_range_kind k, uint64_t v);

REC_INLINE void enc_reference(struct enc *e, enum rec_range_kind k, uint64_t v)
{
    e->p = rec_put_reference(e->p, k, v);
}

static inline void enc_cpu(struct enc *e, uint64_t h)
{
    enc_reference(e, REC_CPU, h);
}

static inline void enc_gpu(struct enc *e, uint64_t h)
{
    enc_reference(e, REC_GPU, h);
}

static inline void enc_va(struct enc *e, uint64_t v)
{
    enc_reference(e, REC_VA, v);
}

REC_INLINE bool enc_present(struct enc *e, const void *p)
{
    *e->p++ = p != NULL;
    return p != NULL;
}

/* Number of elements to write. */
REC_INLINE size_t enc_count(struct enc *e, const void *p, size_t n)
{
    if (!p) {
        *e->p++ = 0;
        return 0;
    }
    enc_var(e, n + 1);
    return n;
}

static inline bool enc_room(struct enc *e)
{
    if (__builtin_expect(e->p < e->end, 1))
        return true;
    e->full = true;
    return false;
}

REC_INLINE void enc_bytes(struct enc *e, const void *p, size_t n)
{
    if (!p) {
        enc_u8(e, 0);
    } else if (n > ENC_INLINE) {
        enc_var(e, 2 * rec_blob(p, n) + 2);
    } else if (enc_room(e)) {
        enc_var(e, 2 * (uint64_t)n + 1);
        rec_copy(e->p, p, n);
        e->p += n;
    }
}
