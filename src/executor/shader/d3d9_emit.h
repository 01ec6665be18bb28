/* SPDX-License-Identifier: MIT */
/* d3d9_emit.h: the state of one translation, shared by d3d9_spirv.c (module, registers, stage borders) and d3d9_ops.c
 * (instructions).
 *
 * Register files are private variables: inputs are copied in when main begins, outputs are copied out when it ends, so
 * that subroutines, indexed access and what follows the shader (alpha test, fog) see plain memory. Drivers turn all of
 * it back into values.
 */
#pragma once

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

#include "abi/d3d9_program.h"
#include "executor/shader/shader.h"
#include "executor/shader/spirv_build.h"

#define D3D9_FOG_LOCATION  10u /* after the ten input registers of a ps_3_0 */
#define D3D9_PARAMS_CLIP   ((uint32_t)(offsetof(struct shader_d3d9_params, clip) / 16))
#define D3D9_PARAMS_CENTRE ((uint32_t)(offsetof(struct shader_d3d9_params, centre) / 16))

struct d3d9_block { /* an open if, loop or rep */
    uint16_t opcode;
    uint32_t header, other, merge; /* other: else or continue label */
    uint32_t counter, saved_al;    /* private variables of loops */
    uint32_t step;                 /* id of the increment of aL */
    bool has_else;
};

struct d3d9_pending { /* stores that wait for the co-issued instruction */
    struct d3d9_operand dst;
    uint32_t value;
};

struct d3d9_emit {
    struct spirv b;
    const struct d3d9_program *p;
    const struct shader_info *info;
    struct shader_variant v;
    uint32_t set; /* descriptor set of the stage */
    uint32_t glsl;
    uint32_t t_void, t_bool, t_float, t_int, t_uint, t_vec2, t_vec3, t_vec4, t_ivec4, t_uvec4, t_bvec4;
    uint32_t var_r, var_v, var_o, var_t, var_c, var_a, var_al, var_p, var_depth;
    uint32_t block, member_i, member_b, member_params;
    uint32_t samplers[16], sampled_image[16];
    uint32_t frag_coord, front_facing, point_coord;
    uint32_t inputs[16]; /* pixel shader input variables by location */
    uint32_t labels[D3D9_MAX_LABELS];
    struct d3d9_block stack[D3D9_MAX_DEPTH];
    uint32_t depth;
    struct d3d9_pending pending[2];
    uint32_t pending_count;
    bool defer;
    uint32_t interface[64];
    uint32_t interface_count;
};

/* Small values. */
uint32_t d3d9_float(struct d3d9_emit *t, float f);
uint32_t d3d9_int(struct d3d9_emit *t, int32_t i);
uint32_t d3d9_splat(struct d3d9_emit *t, uint32_t scalar);
uint32_t d3d9_vec4(struct d3d9_emit *t, float x, float y, float z, float w);
uint32_t d3d9_component(struct d3d9_emit *t, uint32_t vec4, uint32_t n);
uint32_t d3d9_swizzle(struct d3d9_emit *t, uint32_t vec4, uint32_t swizzle);
uint32_t d3d9_glsl1(struct d3d9_emit *t, uint32_t op, uint32_t type, uint32_t a);
uint32_t d3d9_glsl2(struct d3d9_emit *t, uint32_t op, uint32_t type, uint32_t a, uint32_t b);
uint32_t d3d9_glsl3(struct d3d9_emit *t, uint32_t op, uint32_t type, uint32_t a, uint32_t b, uint32_t c);

/* Registers. */
uint32_t d3d9_private(struct d3d9_emit *t, uint32_t type);
uint32_t d3d9_element(struct d3d9_emit *t, uint32_t array, uint32_t index); /* pointer to vec4 */
/* Of struct shader_d3d9_params. */
uint32_t d3d9_params(struct d3d9_emit *t, uint32_t vector);
uint32_t d3d9_param(struct d3d9_emit *t, uint32_t vector, uint32_t component);
uint32_t d3d9_source(struct d3d9_emit *t, const struct d3d9_operand *o,
                     uint32_t row); /* vec4, modifiers applied */
uint32_t d3d9_source_bool(struct d3d9_emit *t, const struct d3d9_operand *o);
uint32_t d3d9_source_int(struct d3d9_emit *t, const struct d3d9_operand *o, uint32_t component);
void d3d9_store(struct d3d9_emit *t, const struct d3d9_instruction *i, uint32_t value);
void d3d9_flush(struct d3d9_emit *t);

/* One instruction; labels and ret are the caller's. */
void d3d9_instruction(struct d3d9_emit *t, const struct d3d9_instruction *i);
/* Ends the invocation where `condition` is true. */
void d3d9_kill_if(struct d3d9_emit *t, uint32_t condition);
