/* SPDX-License-Identifier: MIT */
/* dxil.h: shaders of model 6. Their container has the parts of others', what is bound in the part PSV0, and instead of tokens LLVM's
 * bitcode (of LLVM 3.7), which LLVM's own disassembler prints where it is installed (llvm-dis of 14 reads it; later ones may not). */
#pragma once

#include <stddef.h>

#include "base/dxbc/dxbc.h"
#include "base/strbuf.h"

/* The program of model 6, or NULL. */
const struct dxbc_chunk *dxil_program(const struct dxbc *d);
/* Appends the parts of the container, and the program as text. */
void dxil_print(struct strbuf *out, const struct dxbc *d);

struct dxil_binding {
    uint32_t kind; /* D3D_SHADER_INPUT_TYPE */
    uint32_t reg, count, space;
};

/* Binding `i` that PSV0 has. False: there are no more, or they are cut. */
bool dxil_binding(const struct dxbc *d, uint32_t i, struct dxil_binding *b);
