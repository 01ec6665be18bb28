/* SPDX-License-Identifier: MIT */
/* packets.h: the tables of include/aerogpu/cmd.h and ext.h as data: what packets, fields and enumerations there are. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <aerogpu/cmd.h>
#include <aerogpu/ext.h>

enum abi_type { ABI_U8, ABI_U32, ABI_I32, ABI_U64, ABI_F32 };

struct abi_field {
    const char *name, *doc;
    uint16_t offset;           /* from the start of the packet or element */
    uint8_t type, kind, count; /* kind: enum aerogpu_kind */
};

struct abi_packet_desc {
    uint32_t opcode, size; /* size: bytes without the tail */
    uint32_t minor;        /* ABI minor that brought it */
    uint16_t num_fields;
    uint16_t count_offset; /* of the field that counts the tail */
    uint8_t count_size;    /* bytes of that field, 0: the tail is not counted */
    uint8_t tail;          /* enum aerogpu_tail */
    uint8_t elem_size;     /* bytes of one element of the tail */
    bool elem_named;       /* each begins with a handle */
    struct aerogpu_packet_class class;
    /* Offsets of a field by its kind; 0: it has none. */
    uint16_t object; /* NEW or END */
    uint16_t stage, stage_ex;
    uint32_t checks; /* first of its rows in the validator's list */
    const char *name, *doc;
    const struct abi_field *fields;
};

struct abi_elem_desc {
    const char *name;
    uint32_t size;
    uint32_t num_fields;
    const struct abi_field *fields;
};

struct abi_enum_value {
    const char *name;
    uint32_t value;
};

struct abi_enum_desc {
    const char *name;
    bool flags; /* the values are bits */
    uint32_t count;
    const struct abi_enum_value *values;
};

#define ABI_ONE_MORE(...) +1
enum { ABI_NUM_PACKETS = 0 AEROGPU_PACKETS(ABI_ONE_MORE) AEROGPU_EXT_PACKETS(ABI_ONE_MORE) };
#undef ABI_ONE_MORE

extern const struct abi_packet_desc *const abi_packets; /* ABI_NUM_PACKETS of them */

/* The packet with this opcode, or NULL if this ABI does not know it. */
const struct abi_packet_desc *abi_packet_find(uint32_t opcode);

/* Its class; META for those that this ABI does not know: they are skipped. */
enum aerogpu_class abi_class(uint32_t opcode);
/* Whether the device works on such a packet (the others set state, or are done before the device sees them). */
bool abi_opcode_is_work(uint32_t opcode);
static inline bool abi_opcode_is_draw(uint32_t opcode)
{
    return abi_class(opcode) == AEROGPU_CLASS_DRAW;
}

/* Fields of one element of such a tail, or NULL if it has none. */
const struct abi_elem_desc *abi_elem(enum aerogpu_tail tail);

/* The enumeration behind a field kind, or NULL if the kind is none. */
const struct abi_enum_desc *abi_enum(enum aerogpu_kind kind);

/* The name of `value`, or NULL. For flags: of a single bit. FORMAT, D3DRS and D3DSAMP are known too. */
const char *abi_value_name(enum aerogpu_kind kind, uint32_t value);
