/* SPDX-License-Identifier: MIT */
/* pipeline_stream.h: walks the bytes of a D3D12_PIPELINE_STATE_STREAM_DESC.
 *
 * A stream is a row of subobjects, each: the type (u32), padding to the alignment of its struct, the struct, padding to
 * the alignment of a pointer. Nothing says how long an unknown one is, so the walk ends there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "d3d12_api.h"

#define D12_NUM_SUBOBJECTS 32

struct d12_subobject {
    uint16_t size, align; /* of the struct behind the type; 0: no such type */
};

extern const struct d12_subobject d12_subobjects[D12_NUM_SUBOBJECTS];

static inline bool d12_is_subobject(uint32_t type)
{
    return type < D12_NUM_SUBOBJECTS && d12_subobjects[type].size;
}

enum stream_step {
    STREAM_ITEM,    /* *type and *offset of the struct are set, *pos is behind it */
    STREAM_END,     /* nothing is left */
    STREAM_UNKNOWN, /* *type is none that we know */
    STREAM_SHORT,   /* the bytes end inside a subobject */
};

enum stream_step stream_next(const void *stream, size_t size, size_t *pos, uint32_t *type, size_t *offset);

/* Room for `type` and its struct at *pos of a stream being made; moves *pos behind it, returns the struct's offset. */
size_t stream_place(size_t *pos, uint32_t type);
