/* SPDX-License-Identifier: MIT */
/* sm4_check.h: which programs of shader model 4 and 5 there can be: for who translates them, and for who refuses them before. */
#pragma once

#include "base/dxbc/dxbc.h"
#include "base/dxbc/sm4_tokens.h"

#define SM4_MAX_DESCRIPTORS 128u /* constant buffers, samplers, views and counters of a program, together */

/* A container with its program and signatures (empty ones where it has none), which point into its bytes. */
struct dxbc_shader {
    struct dxbc container;
    struct sm4 program;
    struct dxbc_signature in, out, patch;
};

/* Opens a container and checks its program: operands that do not fill their instruction, registers that no declaration or
 * signature knows, blocks that do not close, what a stage cannot have. `type` is the program type that it has to be of
 * (SM4_ANY_TYPE: whatever it is). 0, -EINVAL, or -ENOTSUP for what is well formed, and libvkd3d-shader 1.2 cannot translate. */
int dxbc_shader_open(struct dxbc_shader *s, const void *bytes, size_t size, uint32_t type, struct error *e);
#define SM4_ANY_TYPE UINT32_MAX
