/* SPDX-License-Identifier: MIT */
/* dxil.h: shaders of model 6. Their container has the parts of others', what is bound in the part PSV0, and instead of tokens LLVM's
 * bitcode (llvm.h), of which names and the layout of constant buffers are metadata: in the part STAT, or ILDB with debug information. */
#pragma once

#include <stddef.h>

#include "base/dxbc/dxbc.h"
#include "base/strbuf.h"
#include "d3d12/view/shader.h"

/* The program of model 6, or NULL. */
const struct dxbc_chunk *dxil_program(const struct dxbc *d);
/* Appends the parts of the container with what they say, the source where it is there, and the program as text. */
void dxil_print(struct strbuf *out, const struct dxbc *d);

#define DXIL_ACCELERATION 16 /* DXIL's kind of a resource that is an acceleration structure */

struct dxil_binding {
    uint32_t kind;      /* D3D_SHADER_INPUT_TYPE */
    uint32_t dimension; /* D3D_SRV_DIMENSION; 0: not said */
    uint32_t reg, count, space;
};

/* Binding `i` that PSV0 has. False: there are no more, or they are cut. */
bool dxil_binding(const struct dxbc *d, uint32_t i, struct dxil_binding *b);
/* How many threads a group has by PSV0, each way; false: it says none. */
bool dxil_groups(const struct dxbc *d, uint32_t groups[3]);

/* A module in a part. */
struct dxil_module {
    const uint8_t *bitcode; /* NULL: it is cut, or the part is not there */
    size_t size;
    uint32_t version, words, dxil; /* of the shader model, the part's length, and of DXIL */
};
struct dxil_module dxil_module(const struct dxbc *d, uint32_t fourcc);

/* Gives the bindings of `s` their names, and adds its constant buffers. 0 or -ENOMEM; where no names can be had s->unnamed says why. */
int dxil_names(struct shader *s, const struct dxbc *d);
/* Appends the source files that debug information has. */
void dxil_source(struct strbuf *out, const struct dxbc *d);
