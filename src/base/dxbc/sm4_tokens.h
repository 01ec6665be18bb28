/* SPDX-License-Identifier: MIT */
/* sm4_tokens.h: the token stream of shader model 4 and 5 programs, decoded; for who runs programs, and for who refuses them before.
 *
 *   version token | length in words | instructions
 *
 * sm4_next decodes one instruction and never reads outside the program. In model 5.1 what a program binds are ranges: a declaration has three
 * indices (the range's number, its first and last register; UINT32_MAX: no last) and the space behind all else, and an operand begins with
 * the range's number and the register.
 */
#pragma once

#include <stdint.h>

#include "base/error.h"

#define SM4_MAX_OPERANDS     8u
#define SM4_DIMENSION_BUFFER 1u /* of dcl_resource and dcl_uav_typed: a buffer */

/* clang-format off */
enum sm4_register {
    SM4_TEMP = 0, SM4_INPUT = 1, SM4_OUTPUT = 2, SM4_INDEXABLE_TEMP = 3, SM4_IMM32 = 4, SM4_IMM64 = 5, SM4_SAMPLER = 6,
    SM4_RESOURCE = 7, SM4_CONSTANT_BUFFER = 8, SM4_ICB = 9, SM4_LABEL = 10, SM4_PRIMITIVE_ID = 11,
    SM4_OUTPUT_DEPTH = 12, SM4_NULL = 13, SM4_RASTERIZER = 14, SM4_OUTPUT_MASK = 15, SM4_STREAM = 16, SM4_FIRST_COUNTER = 22,
    SM4_INPUT_CONTROL_POINT = 25, SM4_OUTPUT_CONTROL_POINT = 26, SM4_PATCH_CONSTANT = 27,
    SM4_UAV = 30, SM4_TGSM = 31, SM4_OUTPUT_DEPTH_GE = 38, SM4_OUTPUT_DEPTH_LE = 39, SM4_REGISTER_COUNT = 42,
};

enum sm4_opcode {
    SM4_OP_CASE = 6, SM4_OP_DEFAULT = 10, SM4_OP_DISCARD = 13, SM4_OP_ELSE = 18, SM4_OP_ENDIF = 21, SM4_OP_ENDLOOP = 22,
    SM4_OP_ENDSWITCH = 23, SM4_OP_IF = 31, SM4_OP_LOOP = 48, SM4_OP_CUSTOMDATA = 53, SM4_OP_RET = 62,
    SM4_OP_SWITCH = 76, SM4_OP_DCL_RESOURCE = 88, SM4_OP_DCL_CONSTANT_BUFFER = 89, SM4_OP_DCL_SAMPLER = 90,
    SM4_OP_DCL_INDEX_RANGE = 91, SM4_OP_DCL_GS_OUTPUT = 92, SM4_OP_DCL_GS_INPUT = 93, SM4_OP_DCL_MAX_VERTICES = 94,
    SM4_OP_DCL_INPUT = 95, SM4_OP_DCL_OUTPUT = 101, SM4_OP_DCL_OUTPUT_SGV = 102, SM4_OP_DCL_OUTPUT_SIV = 103, SM4_OP_DCL_TEMPS = 104,
    SM4_OP_DCL_INDEXABLE_TEMP = 105, SM4_OP_DCL_GLOBAL_FLAGS = 106, SM4_OP_SAMPLE_POS = 110, SM4_OP_HS_DECLS = 113, SM4_OP_HS_CONTROL_POINT = 114,
    SM4_OP_HS_FORK = 115, SM4_OP_HS_JOIN = 116, SM4_OP_EMIT_CUT_STREAM = 119, SM4_OP_DCL_STREAM = 143, SM4_OP_DCL_INPUT_POINTS = 147,
    SM4_OP_DCL_OUTPUT_POINTS = 148, SM4_OP_DCL_TESS_DOMAIN = 149, SM4_OP_DCL_TESS_PARTITIONING = 150,
    SM4_OP_DCL_TESS_OUTPUT = 151, SM4_OP_DCL_FORK_COUNT = 153, SM4_OP_DCL_JOIN_COUNT = 154,
    SM4_OP_DCL_THREAD_GROUP = 155, SM4_OP_DCL_UAV_TYPED = 156, SM4_OP_DCL_UAV_RAW = 157,
    SM4_OP_DCL_UAV_STRUCTURED = 158, SM4_OP_DCL_TGSM_RAW = 159, SM4_OP_DCL_TGSM_STRUCTURED = 160,
    SM4_OP_DCL_RESOURCE_RAW = 161, SM4_OP_DCL_RESOURCE_STRUCTURED = 162, SM4_OP_LD_UAV_TYPED = 163,
    SM4_OP_STORE_UAV_TYPED = 164, SM4_OP_STORE_RAW = 166, SM4_OP_STORE_STRUCTURED = 168, SM4_OP_ATOMIC_AND = 169,
    SM4_OP_IMM_ATOMIC_ALLOC = 178, SM4_OP_IMM_ATOMIC_CONSUME = 179, SM4_OP_IMM_ATOMIC_UMIN = 189,
    SM4_OP_DCL_GS_INSTANCES = 206,
};
/* clang-format on */

struct sm4_operand {
    uint8_t type;       /* enum sm4_register */
    uint8_t components; /* 0, 1 or 4 */
    uint8_t select;     /* 0 mask, 1 swizzle, 2 one component */
    uint8_t
        swizzle; /* the eight bits that belong to `select`: mask in the low four, or swizzle, or component */
    uint8_t modifier;        /* bit 0 negated, bit 1 absolute */
    uint8_t dims;            /* index dimensions */
    uint32_t index[3];       /* constant part of each */
    uint32_t relative;       /* bit n: index n has a register part */
    uint32_t relative_at[3]; /* word offset of that register's operand */
    uint32_t value[4];       /* immediates */
    uint32_t value_count;
};

struct sm4_instruction {
    uint32_t at;     /* word offset in the program */
    uint32_t length; /* words */
    uint32_t token, opcode;
    uint32_t extra_at; /* first word after the operands */
    struct sm4_operand operands[SM4_MAX_OPERANDS];
    uint32_t operand_count;
};

struct sm4 {
    const uint8_t *data; /* the program chunk's data */
    uint32_t words;      /* program length, version and length words included */
    uint32_t at;         /* next instruction */
    uint32_t type, major, minor;
};

/* Reads version and length. 0 or -EINVAL. */
int sm4_open(struct sm4 *p, const uint8_t *data, uint32_t size, struct error *e);
/* Decodes the next instruction; 1, 0 at the end, or -EINVAL. */
int sm4_next(struct sm4 *p, struct sm4_instruction *i, struct error *e);
uint32_t sm4_word(const struct sm4 *p, uint32_t at); /* 0 outside the program */
/* Decodes the operand at word `*at`, which ends before `end`, and moves `*at` behind it; `depth`: of how many indices it is part. 0 or
 * -EINVAL. */
int sm4_operand(const struct sm4 *p, uint32_t *at, uint32_t end, struct sm4_operand *o, int depth,
                struct error *e);

struct sm4_op {
    const char *name;
    /* A letter for each operand, NULL if refused: d destination, o source, i input register, t texture or buffer t#,
     * s sampler, u u#, v u# or g#, m t#, u# or g#, x t# or u#, q t# or the rasterizer, z stream, D declared register;
     * then w for each plain word. */
    const char *format;
};
extern const struct sm4_op sm4_ops[];
extern const uint32_t sm4_op_count;
