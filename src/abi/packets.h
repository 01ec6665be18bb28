/* packets.h: the tables of include/aerogpu/cmd.h and ext.h as data: what packets, fields and enumerations there are. */
#ifndef ABI_PACKETS_H_
#define ABI_PACKETS_H_

#include <stdbool.h>
#include <stdint.h>

#include <aerogpu/cmd.h>

enum abi_type { ABI_U8, ABI_U32, ABI_I32, ABI_U64, ABI_F32 };

enum abi_kind {
    ABI_KIND_U,
    ABI_KIND_X,
    ABI_KIND_FLOAT,
    ABI_KIND_RSV,
    ABI_KIND_HANDLE,
    ABI_KIND_NEW,
    ABI_KIND_ALLOC,
    ABI_KIND_TOKEN,
    ABI_KIND_FORMAT,
    ABI_KIND_BOOL,
    ABI_KIND_MASK,
    ABI_KIND_D3DRS,
    ABI_KIND_D3DSAMP,
#define KIND(E) ABI_KIND_##E,
    AEROGPU_ENUMS(KIND) AEROGPU_FLAG_ENUMS(KIND)
#undef KIND
        ABI_KIND_COUNT
};

enum abi_tail {
    ABI_TAIL_NONE,
    ABI_TAIL_TEXT,
    ABI_TAIL_BYTES,
    ABI_TAIL_VEC4F,
    ABI_TAIL_VEC4I,
    ABI_TAIL_HANDLES,
    ABI_TAIL_BIND,
#define TAIL(NAME, name, size) ABI_TAIL_##NAME,
    AEROGPU_ELEMENTS(TAIL)
#undef TAIL
        ABI_TAIL_COUNT
};

struct abi_field {
    const char *name, *doc;
    uint16_t offset; /* from the start of the packet or element */
    uint8_t type, kind, count;
};

struct abi_packet_desc {
    uint32_t opcode, size; /* size: bytes without the tail */
    uint32_t minor;        /* ABI minor that brought it */
    uint16_t num_fields;
    uint16_t count_offset; /* of the field that counts the tail */
    uint8_t count_size;    /* bytes of that field, 0: the tail is not counted */
    uint8_t tail;          /* enum abi_tail */
    uint16_t elem_size;    /* bytes of one element of the tail */
    uint32_t checks;       /* first of its rows in the validator's list */
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

extern const struct abi_packet_desc abi_packets[];
extern const uint32_t abi_num_packets;

/* The packet with this opcode, or NULL if this ABI does not know it. */
const struct abi_packet_desc *abi_packet_find(uint32_t opcode);

/* Whether the device works on such a packet (the others set state, or are done before the device sees them), and whether it
 * is a draw or a dispatch. */
bool abi_opcode_is_work(uint32_t opcode);
bool abi_opcode_is_draw(uint32_t opcode);

/* Fields of one element of such a tail, or NULL if it has none. */
const struct abi_elem_desc *abi_elem(enum abi_tail tail);

/* The enumeration behind a field kind, or NULL if the kind is none. */
const struct abi_enum_desc *abi_enum(enum abi_kind kind);

/* The name of `value`, or NULL. For flags: of a single bit. FORMAT, D3DRS and D3DSAMP are known too. */
const char *abi_value_name(enum abi_kind kind, uint32_t value);

#endif
