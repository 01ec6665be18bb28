/* SPDX-License-Identifier: MIT */
/* shader_run.h: what a vertex or pixel shader of models 4 to 5.1 makes of what it reads, as far as that is known: each component of each
 * register is a value, or unknown; what is made of something unknown is unknown, and so is what a branch writes of which nobody knows
 * whether it is taken. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/dxbc/dxbc.h"

#define SHADER_REGISTERS 32    /* of inputs, and of outputs */
#define SHADER_STEPS     20000 /* of one run: who needs more is given up */

struct shader_value {
    uint32_t bits;
    bool known;
};

struct shader_place { /* a register of constant buffers, or of buffers that are read */
    uint32_t reg, space;
};

enum shader_discard { SHADER_KEEPS, SHADER_MAY_DISCARD, SHADER_DISCARDS };

struct shader_run {
    /* What the shader reads: a row of four values of a constant buffer; one of 4 bytes at `at` (structured: element and byte in
     * it) of buffer t#. They stay unknown where they are left alone. */
    void (*constants)(void *ctx, struct shader_place b, uint32_t row, struct shader_value *four);
    void (*buffer)(void *ctx, struct shader_place t, uint32_t stride, uint64_t element, uint64_t at,
                   struct shader_value *one);
    void *ctx;
    /* Told what each instruction wrote: the word of the program that it begins with, and of a register (letter and number) the
     * components of `mask`. NULL: nobody asks. */
    void (*wrote)(void *ctx, uint32_t word, char file, uint32_t number, uint8_t mask,
                  const struct shader_value *four);
    void *wrote_ctx;
    struct shader_value in[SHADER_REGISTERS][4], out[SHADER_REGISTERS][4];
    uint8_t written[SHADER_REGISTERS]; /* components of `out` that the program writes anywhere */
    enum shader_discard discard;
    uint64_t steps; /* instructions that were run: added up */
};

struct shader_code;

/* Decodes a program; NULL: it is none that can be run, or there is no memory. */
struct shader_code *shader_code(const struct dxbc *d);
void shader_code_free(struct shader_code *c);
/* False: it cannot be said what comes out. */
bool shader_run(const struct shader_code *c, struct shader_run *x);
