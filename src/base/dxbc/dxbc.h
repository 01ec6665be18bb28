/* SPDX-License-Identifier: MIT */
/* dxbc.h: the container of shader model 4 and 5 programs: header, checksum, chunks, signatures.
 *
 *   "DXBC" | checksum 16 | 1 | total size | chunk count | chunk offsets... | chunks {fourcc, size, data}
 *
 * The checksum is MD5's compression function over everything after the checksum, with a padding of its own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define DXBC_FOURCC(a, b, c, d)                                                                              \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define DXBC_MAX_SIZE     (1u << 20) /* no compiler emits a program of these models near this */
#define DXBC_MAX_CHUNKS   32u
#define DXBC_MAX_ELEMENTS 64u

struct dxbc_chunk {
    uint32_t fourcc;
    uint32_t offset; /* of the data, from the start of the container */
    uint32_t size;
    const uint8_t *data;
};

struct dxbc {
    const uint8_t *bytes;
    size_t size;
    struct dxbc_chunk chunks[DXBC_MAX_CHUNKS];
    uint32_t chunk_count;
};

struct dxbc_element {
    const char *name; /* inside the container, NUL-terminated */
    uint32_t index, system_value, component, reg, stream;
    uint8_t mask, used_mask;
};

struct dxbc_signature {
    struct dxbc_element elements[DXBC_MAX_ELEMENTS];
    uint32_t count;
};

bool dxbc_is(const void *bytes, size_t size);
/* Fills `d`, which points into `bytes`. 0 or -EINVAL. */
int dxbc_open(struct dxbc *d, const void *bytes, size_t size, struct error *e);
/* As dxbc_open, but a wrong checksum is only reported through `checksum_ok`, and it may be of any size (of model 6 with debug
 * information it is large). */
int dxbc_open_unchecked(struct dxbc *d, const void *bytes, size_t size, bool *checksum_ok, struct error *e);
/* The first chunk of that type, or NULL. */
const struct dxbc_chunk *dxbc_find(const struct dxbc *d, uint32_t fourcc);
/* The program chunk (SHDR or SHEX), or NULL. */
const struct dxbc_chunk *dxbc_program(const struct dxbc *d);
/* Reads an ISGN, OSGN, OSG5, PCSG, ISG1, OSG1 or PSG1 chunk. 0 or -EINVAL. */
int dxbc_signature(const struct dxbc_chunk *c, struct dxbc_signature *s, struct error *e);
