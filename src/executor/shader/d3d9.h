/* SPDX-License-Identifier: MIT */
/* d3d9.h: Direct3D 9 token streams (vs_1_1..vs_3_0, ps_1_1..ps_3_0) become SPIR-V.
 *
 *   bytes ──shader_d3d9_init──▶ struct d3d9_program (abi/d3d9_program.h: every token, register, block)
 *   program + variant + what the next stage reads ──d3d9_translate──▶ words
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/d3d9_program.h"
#include "base/error.h"
#include "executor/shader/shader.h"

struct shader;

/* Fills `s` (bytes and stage are set). 0 or a negative errno. */
int shader_d3d9_init(struct shader *s, struct error *e);
/* The bits of a variant that the code of `s` depends on. */
struct shader_variant d3d9_relevant(const struct shader *s, const struct shader_variant *v);
/* Translates; the words are the caller's to free(). `pixel` is the shader that a vertex shader is linked with, or NULL. */
int d3d9_translate(const struct shader *s, const struct shader *pixel, const struct shader_variant *v,
                   uint32_t **words, size_t *count, struct error *e);
