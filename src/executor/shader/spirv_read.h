/* SPDX-License-Identifier: MIT */
/* spirv_read.h: what the ids of a valid SPIR-V module are, for passes over it, and the module that such a pass makes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spirv/unified1/spirv.h>

#include "executor/shader/spirv_build.h"

enum { SPIRV_HEADER = 5, SPIRV_BOUND = 3 };

struct spirv_module {
    const uint32_t *in;
    size_t count;
    struct spirv_id {
        uint32_t type; /* of a value; 0: of a type */
        uint32_t at;   /* its instruction, of types, constants and variables */
    } * ids;
    struct spirv out; /* globals: all in front of the functions; code: these */
    struct {
        uint32_t op, operands[2], id;
    } asked[8]; /* of spirv_type */
    uint32_t num_asked;
};

/* Reads a module that was validated; m->out is empty. The words stay the caller's, and have to last. Returns 0 or -ENOMEM. */
int spirv_module_read(struct spirv_module *m, const uint32_t *words, size_t count);
/* Replaces the module's words, allocated with malloc(), by m->out behind the module's own header. Returns 0, or -ENOMEM: then
 * they are as they were. Ends `m`. */
int spirv_module_replace(struct spirv_module *m, uint32_t **words, size_t *count);

static inline uint32_t spirv_opcode(const uint32_t *w)
{
    return *w & SpvOpCodeMask;
}

static inline uint32_t spirv_length(const uint32_t *w)
{
    return *w >> SpvWordCountShift;
}

static inline const uint32_t *spirv_definition(const struct spirv_module *m, uint32_t id)
{
    return m->in + m->ids[id].at;
}

/* Of what has been defined so far; 0: nothing. */
static inline uint32_t spirv_opcode_of(const struct spirv_module *m, uint32_t id)
{
    return m->ids[id].at ? spirv_opcode(spirv_definition(m, id)) : 0;
}

static inline uint32_t spirv_pointee(const struct spirv_module *m, uint32_t pointer)
{
    return spirv_definition(m, m->ids[pointer].type)[3];
}

static inline uint32_t spirv_storage_class(const struct spirv_module *m, uint32_t pointer)
{
    return spirv_definition(m, m->ids[pointer].type)[2];
}

/* The element that `index`, an id, selects of a composite or through a pointer, both as types. */
uint32_t spirv_element(const struct spirv_module *m, uint32_t type, uint32_t index);
/* The module's own type, by its operands, at most two; else a new one in m->out. */
uint32_t spirv_type(struct spirv_module *m, uint32_t op, const uint32_t *operands, size_t n);
