/* SPDX-License-Identifier: MIT */
/* builder.h: writing command streams.
 *
 *     struct abi_builder b;
 *     abi_builder_init(&b);
 *     ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = 1, .size_bytes = 84, …);
 *     ABI_EMIT_TAIL(&b, UPLOAD_RESOURCE, upload_resource, data, 84, .resource_handle = 1, .size_bytes = 84);
 *     bytes = abi_builder_end(&b, &size);        the stream, valid until the next call
 *
 * After a failed allocation every call is a no-op and abi_builder_end gives NULL.
 */
#pragma once

#include <string.h>

#include <aerogpu/cmd.h>

#include "base/strbuf.h"

struct abi_builder {
    struct strbuf bytes;
    uint32_t abi_version;
};

void abi_builder_init(struct abi_builder *b);
void abi_builder_finish(struct abi_builder *b);

/* Empties it for the next stream, keeps the memory. */
void abi_builder_reset(struct abi_builder *b);

/* Appends a packet: `fixed` is its struct with any hdr, whose header is filled in; the tail is padded to 4 bytes. */
void abi_builder_packet(struct abi_builder *b, uint32_t opcode, const void *fixed, uint32_t fixed_size,
                        const void *tail, uint32_t tail_size);

/* Fills in the stream's header. Returns the bytes (owned by the builder) and their number. */
const void *abi_builder_end(struct abi_builder *b, uint32_t *size);

#define ABI_EMIT_TAIL(b, NAME, name, tail, tail_size, ...)                                                   \
    abi_builder_packet(b, AEROGPU_CMD_##NAME, &(struct aerogpu_cmd_##name){__VA_ARGS__},                     \
                       sizeof(struct aerogpu_cmd_##name), tail, tail_size)
#define ABI_EMIT(b, NAME, name, ...) ABI_EMIT_TAIL(b, NAME, name, NULL, 0, __VA_ARGS__)

/* CREATE_INPUT_LAYOUT of one vertex buffer: `spec` names its elements in order, with their numbers of floats (1 to 4), as in
 * "POSITION:4 TEXCOORD:2"; at most 8. What it cannot read ends the list. */
void abi_builder_layout(struct abi_builder *b, uint32_t handle, const char *spec);

/* IEEE-754 bits, as float fields of packets hold them. */
static inline uint32_t abi_f32(float f)
{
    uint32_t v;
    memcpy(&v, &f, sizeof(v));
    return v;
}

/* A rectangle that a program gave, of the pixels from the first on: where it begins, and its width and height; backwards they are 0. */
static inline void abi_rect(int32_t out[4], int32_t left, int32_t top, int32_t right, int32_t bottom)
{
    out[0] = left < 0 ? 0 : left;
    out[1] = top < 0 ? 0 : top;
    out[2] = right > out[0] ? right - out[0] : 0;
    out[3] = bottom > out[1] ? bottom - out[1] : 0;
}

/* FNV-1a (32 bits) of the upper-case name, as ILAY blobs hold it. */
uint32_t abi_semantic_hash(const char *name);
