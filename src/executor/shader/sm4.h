/* SPDX-License-Identifier: MIT */
/* sm4.h: programs of shader model 4 and 5: describing, listing. What dxbc_shader_open accepts, sm4_describe can describe. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/dxbc/sm4_check.h"
#include "base/strbuf.h"
#include "executor/shader/shader.h"

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
