/* SPDX-License-Identifier: MIT */
/* spirv_build.h: putting a SPIR-V module together, section by section.
 *
 * Types, constants and other global instructions are found again when asked for twice. After a failed allocation
 * every call is harmless and spirv_finish says so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spirv_words {
    uint32_t *w;
    size_t count, capacity;
};

struct spirv {
    struct spirv_words capabilities, imports, entry, modes, decorations, globals, code;
    struct { /* global instructions by content */
        uint32_t offset, id;
    } * known;
    size_t known_count, known_capacity;
    uint32_t bound; /* next id */
    bool failed;
};

void spirv_init(struct spirv *b);
void spirv_discard(struct spirv *b);
/* The module's words, the caller's to free(); NULL after a failed allocation. Discards the rest. */
uint32_t *spirv_finish(struct spirv *b, size_t *count);

static inline uint32_t spirv_id(struct spirv *b)
{
    return b->bound++;
}

/* Appends an instruction of `n` operands to a section. */
void spirv_emit(struct spirv *b, struct spirv_words *section, uint32_t op, const uint32_t *operands,
                size_t n);
/* An instruction of the code section with a result; returns its id. */
uint32_t spirv_value(struct spirv *b, uint32_t op, uint32_t type, const uint32_t *operands, size_t n);
/* A type (type 0) or constant of the global section; equal ones share an id. */
uint32_t spirv_global(struct spirv *b, uint32_t op, uint32_t type, const uint32_t *operands, size_t n);
/* A capability, once. */
void spirv_capability(struct spirv *b, uint32_t capability);

#define SPIRV_ARGS(...)                                                                                      \
    (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)
#define SPIRV_OP(b, section, op, ...)  spirv_emit(b, &(b)->section, op, SPIRV_ARGS(__VA_ARGS__))
#define SPIRV_VALUE(b, op, type, ...)  spirv_value(b, op, type, SPIRV_ARGS(__VA_ARGS__))
#define SPIRV_GLOBAL(b, op, type, ...) spirv_global(b, op, type, SPIRV_ARGS(__VA_ARGS__))
