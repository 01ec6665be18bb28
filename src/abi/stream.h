/* SPDX-License-Identifier: MIT */
/* stream.h: walking a command stream that a guest wrote.
 *
 *   abi_stream_open ──▶ abi_stream_next … ──▶ 0 (end) or -EBADMSG (the first thing wrong, in words)
 *
 * Invariants:
 *  1. A packet that is handed out lies whole inside the stream, is at least as long as its opcode asks, and its counted
 *     tail lies inside it.
 *  2. Its enumerated fields hold values that the ABI defines; stage_ex follows the rules of the stream's minor version.
 *  3. Unknown opcodes are handed out with desc == NULL, to be skipped.
 *  4. After an error the stream stays at its end.
 *  5. SET_BLEND_STATE of the first ABI minors ends after the write mask: what it lacks is handed out as what it meant then.
 */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "abi/packets.h"
#include "base/error.h"

struct abi_stream {
    const uint8_t *data;
    uint32_t size; /* of the stream by its header */
    uint32_t pos;
    uint32_t minor;                             /* ABI minor of the writer */
    uint32_t index;                             /* packets handed out */
    struct aerogpu_cmd_set_blend_state widened; /* the last short one, filled up */
};

struct abi_packet {
    const struct abi_packet_desc *desc; /* NULL: unknown opcode */
    const uint8_t *data; /* `size` bytes, and as many as its struct has; aligned to no more than 4 */
    uint32_t opcode, size;
    uint32_t offset; /* in the stream */
    uint32_t index;  /* in the stream, from 0 */
    uint32_t tail_count;
    uint32_t tail_size; /* bytes */
    uint32_t elem_size; /* bytes of one element of the tail */
    const uint8_t *tail;
};

/* Checks the header. `size` is the space that the stream may use. 0 or -EBADMSG. */
int abi_stream_open(struct abi_stream *s, const void *data, uint64_t size, struct error *e);

/* 1: `p` holds the next packet; 0: end; -EBADMSG: malformed, `e` says what and at which offset. */
int abi_stream_next(struct abi_stream *s, struct abi_packet *p, struct error *e);

/* The u32 at `offset` of the packet, which its struct has. */
static inline uint32_t abi_packet_u32(const struct abi_packet *p, size_t offset)
{
    uint32_t v;

    memcpy(&v, p->data + offset, sizeof(v));
    return v;
}

/* The handle that the packet makes or ends; 0: it does neither. */
static inline uint32_t abi_packet_object(const struct abi_packet *p)
{
    return p->desc && p->desc->object ? abi_packet_u32(p, p->desc->object) : 0;
}

/* The stage that a {stage, stage_ex} pair names: DXBC program type (0 pixel, 1 vertex, 2 geometry, 3 hull, 4 domain,
 * 5 compute). Both values have passed abi_stream_next. */
enum abi_program { ABI_PS, ABI_VS, ABI_GS, ABI_HS, ABI_DS, ABI_CS, ABI_PROGRAM_COUNT };
enum abi_program abi_stage(const struct abi_stream *s, uint32_t stage, uint32_t stage_ex);
/* Of a packet that has a stage field. */
enum abi_program abi_packet_stage(const struct abi_stream *s, const struct abi_packet *p);
