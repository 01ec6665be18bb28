/* SPDX-License-Identifier: MIT */
/* sm4.h: programs of shader model 4 and 5: checking, describing, listing.
 *
 * sm4_check walks a whole program and refuses what a translator must not see: operands that do not fill their instruction,
 * undeclared registers, nesting that does not close. What sm4_check accepts, sm4_describe can describe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sm4_tokens.h"
#include "base/strbuf.h"
#include "executor/shader/dxbc.h"
#include "executor/shader/shader.h"

struct sm4_signatures {
    const struct dxbc_signature *in, *out, *patch; /* empty ones where the container has none */
};
/* Refuses what must not be translated: -EINVAL, or -ENOTSUP for what libvkd3d-shader 1.2 cannot do. */
int sm4_check(const struct sm4 *p, const struct sm4_signatures *sigs, struct error *e);

/* Facts that the declarations give. Descriptors have kind, dim, component, index, count, size and flags set. */
struct sm4_facts {
    struct shader_info *info;
    struct shader_descriptor *descriptors; /* the caller's array */
    uint32_t descriptor_count, descriptor_capacity;
};
int sm4_describe(const struct sm4 *p, struct sm4_facts *f, struct error *e);

void sm4_print(struct strbuf *out, const struct sm4 *p);

/* Word 2 of the program type: which stage a program of type `type` is for; EXEC_STAGE_COUNT if none. */
enum exec_stage sm4_stage(uint32_t type);
