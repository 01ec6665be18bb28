/* SPDX-License-Identifier: MIT */
/* table.h: the commands of Vulkan as data: how a record of each lies in a box, and what its words mean. */
#pragma once

#include <stdint.h>

#include "vkbox_table.h"

enum vkbox_kind {
    VKBOX_U32,
    VKBOX_I32,
    VKBOX_F32,
    VKBOX_FLAGS,
    VKBOX_ENUM, /* `of` is a struct vkbox_enum */
    VKBOX_U64,
    VKBOX_HANDLE, /* `of` is the name of its type */
    VKBOX_TEXT,
    VKBOX_STRUCT, /* `of` is a struct vkbox_struct */
};

enum vkbox_mode {
    VKBOX_VALUE,
    VKBOX_FIXED, /* `cap` of them */
    VKBOX_COUNT, /* a word with their number, then at most `cap` of them */
};

struct vkbox_field {
    const char *name;
    uint8_t kind, mode;
    uint16_t cap;
    const void *of;
};

struct vkbox_struct {
    const struct vkbox_field *fields;
    uint32_t num_fields;
};

struct vkbox_enum_value {
    int64_t value;
    const char *name;
};

struct vkbox_enum {
    const char *name;
    const struct vkbox_enum_value *values;
    uint32_t num_values;
};

enum vkbox_flags {
    VKBOX_IS_WORK = 1, /* takes time on the device */
    VKBOX_IS_DRAW = 2,
    VKBOX_IS_DISPATCH = 4,
    VKBOX_IS_COPY = 8,
    VKBOX_IS_BEGIN = 16, /* of a render pass */
    VKBOX_IS_END = 32,
    VKBOX_IS_NEXT = 64,  /* subpass */
    VKBOX_IS_PUSH = 128, /* a label's region */
    VKBOX_IS_POP = 256,
    VKBOX_IS_EXECUTE = 512,
    VKBOX_IS_PIPELINE = 1024, /* what binds what */
    VKBOX_IS_SETS = 2048,
    VKBOX_IS_VERTICES = 4096,
    VKBOX_IS_INDICES = 8192,
    VKBOX_IS_PUSHED = 16384,  /* descriptors */
    VKBOX_IS_WAIT = 32768,    /* for events */
    VKBOX_IS_FOREIGN = 65536, /* the registry does not know it: its field is its name */
};

struct vkbox_command_desc {
    const char *name; /* NULL: none of the registry's */
    uint32_t flags;
    const struct vkbox_field *fields;
    uint32_t num_fields;
};

extern const struct vkbox_command_desc vkbox_commands[VKBOX_NUM_COMMANDS];
extern const char *const vkbox_calls[VKBOX_NUM_CALLS];
extern const struct vkbox_enum_value vkbox_object_types[], vkbox_results[];
extern const unsigned vkbox_num_object_types, vkbox_num_results;
