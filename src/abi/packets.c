/* SPDX-License-Identifier: MIT */
/* packets.c: the tables of cmd.h as data.
 *
 * The X-macros know the order, type and count of fields but not the struct around them, so offsets are running sums,
 * filled in once before any other constructor; structs are packed, and cmd.h asserts their sizes.
 */
#include "abi/packets.h"

#include <stddef.h>

#include <aerogpu/ext.h>
#include <aerogpu/pci.h>

#include "abi/d3d9_states.h"
#include "base/check.h"

#define ROW_FIELD(type, name, kind, doc)        {#name, doc, 0, ABI_##type, AEROGPU_KIND_##kind, 1},
#define ROW_ARRAY(type, name, count, kind, doc) {#name, doc, 0, ABI_##type, AEROGPU_KIND_##kind, count},
#define END_ROW                                                                                              \
    {                                                                                                        \
        NULL, NULL, 0, 0, 0, 0                                                                               \
    }

#define FIELDS_OF_PACKET(opcode, NAME, name, size, tail, count_field, minor, class, doc)                     \
    static struct abi_field fields_##name[] = {AEROGPU_FIELDS_##NAME(ROW_FIELD, ROW_ARRAY) END_ROW};
AEROGPU_PACKETS(FIELDS_OF_PACKET)
AEROGPU_EXT_PACKETS(FIELDS_OF_PACKET)

#define FIELDS_OF_ELEMENT(NAME, name, size, named)                                                           \
    static struct abi_field fields_of_##name[] = {AEROGPU_FIELDS_##NAME(ROW_FIELD, ROW_ARRAY) END_ROW};
AEROGPU_ELEMENTS(FIELDS_OF_ELEMENT)

enum {
#define TAIL_SIZE(NAME, size, named, doc)     SIZE_OF_##NAME = size, NAMED_##NAME = named,
#define ELEMENT_SIZE(NAME, name, size, named) SIZE_OF_##NAME = size, NAMED_##NAME = named,
    AEROGPU_TAILS(TAIL_SIZE) AEROGPU_ELEMENTS(ELEMENT_SIZE)
};

/* A tail without a counting field names the header, which lies at offset 0. */
#define COUNT_OFFSET(name, count_field) offsetof(struct aerogpu_cmd_##name, count_field)
#define COUNT_SIZE(name, count_field)                                                                        \
    (COUNT_OFFSET(name, count_field) ? sizeof(((struct aerogpu_cmd_##name *)0)->count_field) : 0)

#define PACKET_ROW(opcode_, NAME, name_, size_, tail_, count_field, minor_, class_, doc_)                    \
    {.opcode = opcode_,                                                                                      \
     .size = size_,                                                                                          \
     .minor = minor_,                                                                                        \
     .num_fields = sizeof(fields_##name_) / sizeof(fields_##name_[0]) - 1,                                   \
     .count_offset = COUNT_OFFSET(name_, count_field),                                                       \
     .count_size = COUNT_SIZE(name_, count_field),                                                           \
     .tail = AEROGPU_TAIL_##tail_,                                                                           \
     .elem_size = SIZE_OF_##tail_,                                                                           \
     .elem_named = NAMED_##tail_,                                                                            \
     .class = {AEROGPU_IS_##class_},                                                                         \
     .name = #NAME,                                                                                          \
     .doc = doc_,                                                                                            \
     .fields = fields_##name_},
static struct abi_packet_desc packets[ABI_NUM_PACKETS] = {AEROGPU_PACKETS(PACKET_ROW)
                                                              AEROGPU_EXT_PACKETS(PACKET_ROW)};
const struct abi_packet_desc *const abi_packets = packets;

enum {
#define PACKET_INDEX(opcode, NAME, name, size, tail, count_field, minor, class, doc) INDEX_##NAME,
    AEROGPU_PACKETS(PACKET_INDEX) AEROGPU_EXT_PACKETS(PACKET_INDEX)
};

/* opcode -> row + 1 */
static const uint8_t row_of_opcode[0x800] = {
#define OPCODE_ROW(opcode, NAME, name, size, tail, count_field, minor, class, doc)                           \
    [opcode] = INDEX_##NAME + 1,
    AEROGPU_PACKETS(OPCODE_ROW)};

#define EXT_ROW(opcode, NAME, name, size, tail, count_field, minor, class, doc)                              \
    [opcode - AEROGPU_EXT_FIRST_OPCODE] = INDEX_##NAME + 1,
static const uint8_t row_of_extension[] = {AEROGPU_EXT_PACKETS(EXT_ROW)};

const struct abi_packet_desc *abi_packet_find(uint32_t opcode)
{
    uint32_t ext = opcode - AEROGPU_EXT_FIRST_OPCODE;

    if (ext < sizeof(row_of_extension) && row_of_extension[ext])
        return &abi_packets[row_of_extension[ext] - 1];
    if (opcode >= sizeof(row_of_opcode) || !row_of_opcode[opcode])
        return NULL;
    return &abi_packets[row_of_opcode[opcode] - 1];
}

#define ELEMENT_ROW(NAME, name_, size_, named)                                                               \
    [AEROGPU_TAIL_##NAME] = {#name_, size_, sizeof(fields_of_##name_) / sizeof(fields_of_##name_[0]) - 1,    \
                             fields_of_##name_},
static const struct abi_elem_desc elements[AEROGPU_TAIL_COUNT] = {AEROGPU_ELEMENTS(ELEMENT_ROW)};

enum aerogpu_class abi_class(uint32_t opcode)
{
    const struct abi_packet_desc *d = abi_packet_find(opcode);

    return d ? (enum aerogpu_class)d->class.id : AEROGPU_CLASS_META;
}

bool abi_opcode_is_work(uint32_t opcode)
{
    enum aerogpu_class c = abi_class(opcode);

    /* What is new is cleared or filled; addresses are written, and rights changed, behind all that came before. */
    if (opcode == AEROGPU_CMD_CREATE_BUFFER || opcode == AEROGPU_CMD_CREATE_TEXTURE2D ||
        opcode == AEROGPU_CMD_EXT_BUFFER_ADDRESS || opcode == AEROGPU_CMD_EXT_RESIDENCY)
        return true;
    return c == AEROGPU_CLASS_DRAW || c == AEROGPU_CLASS_WORK || c == AEROGPU_CLASS_TRANSFER ||
           c == AEROGPU_CLASS_PRESENT;
}

const struct abi_elem_desc *abi_elem(enum aerogpu_tail tail)
{
    return tail < AEROGPU_TAIL_COUNT && elements[tail].size ? &elements[tail] : NULL;
}

#define VALUE_ROW(name, value) {#name, value},
#define VALUES_OF_ENUM(E)      static const struct abi_enum_value values_##E[] = {AEROGPU_ENUM_##E(VALUE_ROW)};
AEROGPU_ENUMS(VALUES_OF_ENUM)
AEROGPU_FLAG_ENUMS(VALUES_OF_ENUM)

static const struct abi_enum_desc enums[AEROGPU_KIND_COUNT] = {
#define ENUM_ROW(E) [AEROGPU_KIND_##E] = {#E, false, sizeof(values_##E) / sizeof(values_##E[0]), values_##E},
#define FLAG_ENUM_ROW(E)                                                                                     \
    [AEROGPU_KIND_##E] = {#E, true, sizeof(values_##E) / sizeof(values_##E[0]), values_##E},
    AEROGPU_ENUMS(ENUM_ROW) AEROGPU_FLAG_ENUMS(FLAG_ENUM_ROW)};

const struct abi_enum_desc *abi_enum(enum aerogpu_kind kind)
{
    return kind < AEROGPU_KIND_COUNT && enums[kind].name ? &enums[kind] : NULL;
}

static const char *format_name(uint32_t value)
{
    switch (value) {
#define FORMAT_NAME(value, name, bytes, block, kind, alpha, srgb, minor, doc)                                \
    case value:                                                                                              \
        return #name;
        AEROGPU_FORMATS(FORMAT_NAME)
        AEROGPU_EXT_FORMATS(FORMAT_NAME)
    default:
        return NULL;
    }
}

const char *abi_value_name(enum aerogpu_kind kind, uint32_t value)
{
    const struct abi_enum_desc *e = abi_enum(kind);

    if (kind == AEROGPU_KIND_FORMAT)
        return format_name(value);
    if (kind == AEROGPU_KIND_D3DRS)
        return d3drs_name(value);
    if (kind == AEROGPU_KIND_D3DSAMP)
        return d3dsamp_name(value);
    for (uint32_t i = 0; e && i < e->count; i++)
        if (e->values[i].value == value)
            return e->values[i].name;
    return NULL;
}

static void place_fields(struct abi_field *f, uint32_t offset)
{
    static const uint8_t size_of[] = {
        [ABI_U8] = 1, [ABI_U32] = 4, [ABI_I32] = 4, [ABI_U64] = 8, [ABI_F32] = 4};

    for (; f->name; f++) {
        f->offset = (uint16_t)offset;
        offset += size_of[f->type] * (uint32_t)f->count;
    }
}

static void note_places(struct abi_packet_desc *d)
{
    for (const struct abi_field *f = d->fields; f->name; f++) {
        if (f->kind == AEROGPU_KIND_NEW || f->kind == AEROGPU_KIND_END)
            d->object = f->offset;
        if (f->kind == AEROGPU_KIND_SHADER_STAGE)
            d->stage = f->offset;
        if (f->kind == AEROGPU_KIND_SHADER_STAGE_EX)
            d->stage_ex = f->offset;
    }
}

__attribute__((constructor(101))) static void place_all_fields(void)
{
#define PLACE_PACKET(opcode, NAME, name, size, tail, count_field, minor, class, doc)                         \
    place_fields(fields_##name, sizeof(struct aerogpu_cmd_hdr));
    AEROGPU_PACKETS(PLACE_PACKET)
    AEROGPU_EXT_PACKETS(PLACE_PACKET)
#define PLACE_ELEMENT(NAME, name, size, named) place_fields(fields_of_##name, 0);
    AEROGPU_ELEMENTS(PLACE_ELEMENT)
    for (uint32_t i = 0; i < ABI_NUM_PACKETS; i++) {
        note_places(&packets[i]);
        INVARIANT(abi_packet_find(packets[i].opcode) == &packets[i]);
        INVARIANT(!packets[i].count_size || packets[i].elem_size);
    }
}
