/* SPDX-License-Identifier: MIT */
/* asm.h: Direct3D 9 token streams, written by the driver: shaders of model 2. A register is one parameter token. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/d3d9_program.h"

enum { UMD9_ASM_WORDS = 4096 };

struct umd9_asm {
    uint32_t words[UMD9_ASM_WORDS];
    uint32_t count;
    bool pixel;
};

enum { UMD9_X = 0x00, UMD9_Y = 0x55, UMD9_Z = 0xAA, UMD9_W = 0xFF, UMD9_XYZW = 0xE4 };

/* As a source: all components; as a destination: all written. */
static inline uint32_t umd9_reg(uint32_t type, uint32_t number)
{
    return 0x80000000u | (type & 7) << 28 | (type & 0x18) << 8 | number | 0xE4u << 16;
}

static inline uint32_t umd9_swizzle(uint32_t reg, uint32_t swizzle)
{
    return (reg & ~(0xFFu << 16)) | swizzle << 16;
}

static inline uint32_t umd9_neg(uint32_t reg)
{
    return reg ^ 1u << 24;
}

/* A destination: bit 0 of the mask is x. */
static inline uint32_t umd9_dst(uint32_t reg, uint32_t mask)
{
    return (reg & ~(0xFFu << 16)) | mask << 16;
}

static inline uint32_t umd9_saturate(uint32_t dst)
{
    return dst | 1u << 20;
}

static inline uint32_t umd9_temp(uint32_t n)
{
    return umd9_reg(D3D9_TEMP, n);
}

static inline uint32_t umd9_const(uint32_t n)
{
    return umd9_reg(D3D9_CONST, n);
}

void umd9_asm_begin(struct umd9_asm *a, bool pixel);
void umd9_asm_end(struct umd9_asm *a);
/* An instruction of `count` parameters, the destination first. */
void umd9_op(struct umd9_asm *a, uint32_t opcode, uint32_t count, ...);
#define UMD9_COUNT(...)         (sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define UMD9_OP(a, opcode, ...) umd9_op(a, D3D9_##opcode, (uint32_t)UMD9_COUNT(__VA_ARGS__), __VA_ARGS__)
void umd9_asm_dcl(struct umd9_asm *a, uint32_t usage, uint32_t index, uint32_t dst);
void umd9_asm_sampler(struct umd9_asm *a, uint32_t number, uint32_t texture_type);
void umd9_asm_def(struct umd9_asm *a, uint32_t number, float x, float y, float z, float w);
