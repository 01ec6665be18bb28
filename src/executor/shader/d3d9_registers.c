/* SPDX-License-Identifier: MIT */
/* d3d9_registers.c: values and register files of a Direct3D 9 translation. */
#include <math.h>
#include <string.h>

#include "executor/shader/d3d9_emit.h"

uint32_t d3d9_float(struct d3d9_emit *t, float f)
{
    uint32_t bits;

    memcpy(&bits, &f, 4);
    return SPIRV_GLOBAL(&t->b, SpvOpConstant, t->t_float, bits);
}

uint32_t d3d9_int(struct d3d9_emit *t, int32_t i)
{
    return SPIRV_GLOBAL(&t->b, SpvOpConstant, t->t_int, (uint32_t)i);
}

uint32_t d3d9_splat(struct d3d9_emit *t, uint32_t scalar)
{
    return SPIRV_VALUE(&t->b, SpvOpCompositeConstruct, t->t_vec4, scalar, scalar, scalar, scalar);
}

uint32_t d3d9_vec4(struct d3d9_emit *t, float x, float y, float z, float w)
{
    uint32_t a = d3d9_float(t, x), b = d3d9_float(t, y), c = d3d9_float(t, z), d = d3d9_float(t, w);

    return SPIRV_GLOBAL(&t->b, SpvOpConstantComposite, t->t_vec4, a, b, c, d);
}

uint32_t d3d9_component(struct d3d9_emit *t, uint32_t vec4, uint32_t n)
{
    return SPIRV_VALUE(&t->b, SpvOpCompositeExtract, t->t_float, vec4, n);
}

uint32_t d3d9_swizzle(struct d3d9_emit *t, uint32_t vec4, uint32_t swizzle)
{
    if (swizzle == 0xe4)
        return vec4;
    return SPIRV_VALUE(&t->b, SpvOpVectorShuffle, t->t_vec4, vec4, vec4, swizzle & 3, swizzle >> 2 & 3,
                       swizzle >> 4 & 3, swizzle >> 6 & 3);
}

uint32_t d3d9_glsl1(struct d3d9_emit *t, uint32_t op, uint32_t type, uint32_t a)
{
    return SPIRV_VALUE(&t->b, SpvOpExtInst, type, t->glsl, op, a);
}

uint32_t d3d9_glsl2(struct d3d9_emit *t, uint32_t op, uint32_t type, uint32_t a, uint32_t b)
{
    return SPIRV_VALUE(&t->b, SpvOpExtInst, type, t->glsl, op, a, b);
}

uint32_t d3d9_glsl3(struct d3d9_emit *t, uint32_t op, uint32_t type, uint32_t a, uint32_t b, uint32_t c)
{
    return SPIRV_VALUE(&t->b, SpvOpExtInst, type, t->glsl, op, a, b, c);
}

uint32_t d3d9_private(struct d3d9_emit *t, uint32_t type)
{
    uint32_t pointer = SPIRV_GLOBAL(&t->b, SpvOpTypePointer, 0, SpvStorageClassPrivate, type);
    uint32_t zero = spirv_global(&t->b, SpvOpConstantNull, type, NULL, 0), id = spirv_id(&t->b);

    SPIRV_OP(&t->b, globals, SpvOpVariable, pointer, id, SpvStorageClassPrivate, zero);
    return id;
}

uint32_t d3d9_element(struct d3d9_emit *t, uint32_t array, uint32_t index)
{
    uint32_t pointer = SPIRV_GLOBAL(&t->b, SpvOpTypePointer, 0, SpvStorageClassPrivate, t->t_vec4);

    return SPIRV_VALUE(&t->b, SpvOpAccessChain, pointer, array, index);
}

static uint32_t load_block(struct d3d9_emit *t, uint32_t member, uint32_t index, uint32_t type)
{
    uint32_t pointer = SPIRV_GLOBAL(&t->b, SpvOpTypePointer, 0, SpvStorageClassUniform, type);
    uint32_t at =
        SPIRV_VALUE(&t->b, SpvOpAccessChain, pointer, t->block, d3d9_int(t, (int32_t)member), index);

    return SPIRV_VALUE(&t->b, SpvOpLoad, type, at);
}

uint32_t d3d9_params(struct d3d9_emit *t, uint32_t vector)
{
    return load_block(t, t->member_params, d3d9_int(t, (int32_t)vector), t->t_vec4);
}

uint32_t d3d9_param(struct d3d9_emit *t, uint32_t vector, uint32_t component)
{
    return d3d9_component(t, d3d9_params(t, vector), component);
}

/* The number of the register that an operand names, moved by a0 or aL and kept inside 0..limit. */
static uint32_t register_number(struct d3d9_emit *t, const struct d3d9_operand *o, uint32_t row,
                                uint32_t limit)
{
    uint32_t base = d3d9_int(t, (int32_t)(o->index + row)), n;

    if (!o->relative)
        return base;
    if (o->relative_type == D3D9_LOOP) {
        n = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_int, t->var_al);
    } else {
        n = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_ivec4, t->var_a);
        n = SPIRV_VALUE(&t->b, SpvOpCompositeExtract, t->t_int, n, o->relative_component);
    }
    n = SPIRV_VALUE(&t->b, SpvOpIAdd, t->t_int, n, base);
    return d3d9_glsl3(t, GLSLstd450SClamp, t->t_int, n, d3d9_int(t, 0), d3d9_int(t, (int32_t)limit));
}

/* Constants of pixel shaders of model 1 are no further from zero than one, whoever says what they are. */
static uint32_t defined_vec4(struct d3d9_emit *t, const struct d3d9_constant *c)
{
    float f[4];

    memcpy(f, c->value, sizeof(f));
    for (int i = 0; i < 4 && t->p->pixel && t->p->major == 1; i++)
        f[i] = fminf(fmaxf(f[i], -1), 1);
    return d3d9_vec4(t, f[0], f[1], f[2], f[3]);
}

static uint32_t load_constant(struct d3d9_emit *t, const struct d3d9_operand *o, uint32_t row)
{
    const struct d3d9_program *p = t->p;
    uint32_t n, value;

    for (uint32_t k = 0; k < p->def_count && !o->relative; k++)
        if (p->def[k].index == o->index + row)
            return defined_vec4(t, &p->def[k]);
    n = register_number(t, o, row, 255);
    value = load_block(t, 0, n, t->t_vec4);
    /* An index may hit a constant that the shader defines; the register file does not hold those. */
    for (uint32_t k = 0; k < p->def_count && o->relative; k++) {
        uint32_t hit = SPIRV_VALUE(&t->b, SpvOpIEqual, t->t_bool, n, d3d9_int(t, p->def[k].index));
        hit = SPIRV_VALUE(&t->b, SpvOpCompositeConstruct, t->t_bvec4, hit, hit, hit, hit);
        value = SPIRV_VALUE(&t->b, SpvOpSelect, t->t_vec4, hit, defined_vec4(t, &p->def[k]), value);
    }
    if (p->pixel && p->major == 1)
        value = d3d9_glsl3(t, GLSLstd450FClamp, t->t_vec4, value, d3d9_vec4(t, -1, -1, -1, -1),
                           d3d9_vec4(t, 1, 1, 1, 1));
    return value;
}

static uint32_t load_misc(struct d3d9_emit *t, uint32_t index)
{
    uint32_t x;

    if (index == 0) { /* vPos: whole pixels */
        x = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_vec4, t->frag_coord);
        return d3d9_glsl1(t, GLSLstd450Floor, t->t_vec4, x);
    }
    x = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_bool, t->front_facing);
    x = SPIRV_VALUE(&t->b, SpvOpSelect, t->t_float, x, d3d9_float(t, 1), d3d9_float(t, -1));
    return d3d9_splat(t, x);
}

static uint32_t load_register(struct d3d9_emit *t, const struct d3d9_operand *o, uint32_t row)
{
    uint32_t array = 0, limit = 31, at;

    switch (o->type) {
    case D3D9_CONST:
        return load_constant(t, o, row);
    case D3D9_MISC:
        return load_misc(t, o->index);
    case D3D9_INPUT:
        array = t->var_v;
        limit = 15;
        break;
    case D3D9_ADDRESS:
        if (!t->p->pixel) {
            at = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_ivec4, t->var_a);
            return SPIRV_VALUE(&t->b, SpvOpConvertSToF, t->t_vec4, at);
        }
        array = t->var_t;
        limit = 7;
        break;
    default:
        array = t->var_r;
        break;
    }
    at = d3d9_element(t, array, register_number(t, o, row, limit));
    return SPIRV_VALUE(&t->b, SpvOpLoad, t->t_vec4, at);
}

static uint32_t negate(struct d3d9_emit *t, uint32_t x)
{
    return SPIRV_VALUE(&t->b, SpvOpFNegate, t->t_vec4, x);
}

static uint32_t modify(struct d3d9_emit *t, uint32_t x, uint32_t modifier)
{
    uint32_t half = d3d9_vec4(t, 0.5f, 0.5f, 0.5f, 0.5f), two = d3d9_vec4(t, 2, 2, 2, 2), y;

    switch (modifier) {
    case D3D9_MOD_NEG:
        return negate(t, x);
    case D3D9_MOD_BIAS:
        return SPIRV_VALUE(&t->b, SpvOpFSub, t->t_vec4, x, half);
    case D3D9_MOD_BIASNEG:
        return SPIRV_VALUE(&t->b, SpvOpFSub, t->t_vec4, half, x);
    case D3D9_MOD_SIGN:
    case D3D9_MOD_SIGNNEG:
        x = SPIRV_VALUE(&t->b, SpvOpFSub, t->t_vec4, x, half);
        x = SPIRV_VALUE(&t->b, SpvOpFMul, t->t_vec4, x, two);
        return modifier == D3D9_MOD_SIGN ? x : negate(t, x);
    case D3D9_MOD_COMP:
        return SPIRV_VALUE(&t->b, SpvOpFSub, t->t_vec4, d3d9_vec4(t, 1, 1, 1, 1), x);
    case D3D9_MOD_X2:
        return SPIRV_VALUE(&t->b, SpvOpFMul, t->t_vec4, x, two);
    case D3D9_MOD_X2NEG:
        return negate(t, SPIRV_VALUE(&t->b, SpvOpFMul, t->t_vec4, x, two));
    case D3D9_MOD_DZ:
    case D3D9_MOD_DW:
        y = d3d9_component(t, x, modifier == D3D9_MOD_DZ ? 2 : 3);
        return SPIRV_VALUE(&t->b, SpvOpFDiv, t->t_vec4, x, d3d9_splat(t, y));
    case D3D9_MOD_ABS:
        return d3d9_glsl1(t, GLSLstd450FAbs, t->t_vec4, x);
    case D3D9_MOD_ABSNEG:
        return negate(t, d3d9_glsl1(t, GLSLstd450FAbs, t->t_vec4, x));
    default:
        return x;
    }
}

uint32_t d3d9_source(struct d3d9_emit *t, const struct d3d9_operand *o, uint32_t row)
{
    uint32_t x = d3d9_swizzle(t, load_register(t, o, row), o->swizzle);

    return o->modifier ? modify(t, x, o->modifier) : x;
}

uint32_t d3d9_source_bool(struct d3d9_emit *t, const struct d3d9_operand *o)
{
    uint32_t x = 0;

    if (o->type == D3D9_PREDICATE) {
        x = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_bvec4, t->var_p);
        x = SPIRV_VALUE(&t->b, SpvOpCompositeExtract, t->t_bool, x, o->swizzle & 3u);
    } else {
        for (uint32_t k = 0; k < t->p->defb_count; k++)
            if (t->p->defb[k].index == o->index)
                x = spirv_global(&t->b, t->p->defb[k].value[0] ? SpvOpConstantTrue : SpvOpConstantFalse,
                                 t->t_bool, NULL, 0);
        if (!x) {
            x = load_block(t, t->member_b, d3d9_int(t, o->index), t->t_uvec4);
            x = SPIRV_VALUE(&t->b, SpvOpCompositeExtract, t->t_uint, x, 0);
            x = SPIRV_VALUE(&t->b, SpvOpINotEqual, t->t_bool, x,
                            SPIRV_GLOBAL(&t->b, SpvOpConstant, t->t_uint, 0));
        }
    }
    return o->modifier == D3D9_MOD_NOT ? SPIRV_VALUE(&t->b, SpvOpLogicalNot, t->t_bool, x) : x;
}

uint32_t d3d9_source_int(struct d3d9_emit *t, const struct d3d9_operand *o, uint32_t component)
{
    uint32_t x;

    for (uint32_t k = 0; k < t->p->defi_count; k++)
        if (t->p->defi[k].index == o->index)
            return d3d9_int(t, (int32_t)t->p->defi[k].value[component]);
    x = load_block(t, t->member_i, d3d9_int(t, o->index), t->t_ivec4);
    return SPIRV_VALUE(&t->b, SpvOpCompositeExtract, t->t_int, x, component);
}

/* Where a destination lives; 0 for those that are no vec4. */
static uint32_t destination(struct d3d9_emit *t, const struct d3d9_operand *o)
{
    uint32_t slot;

    switch (o->type) {
    case D3D9_TEMP:
        return d3d9_element(t, t->var_r, d3d9_int(t, o->index));
    case D3D9_ADDRESS:
        return d3d9_element(t, t->var_t, d3d9_int(t, o->index));
    case D3D9_COLOROUT:
        return d3d9_element(t, t->var_c, d3d9_int(t, o->index));
    case D3D9_OUTPUT:
        if (o->relative)
            return d3d9_element(t, t->var_o, register_number(t, o, 0, 11));
        /* fall through */
    default:
        slot = d3d9_output_slot(t->p, o->type, o->index);
        return d3d9_element(t, t->var_o, d3d9_int(t, (int32_t)slot));
    }
}

static void write_masked(struct d3d9_emit *t, const struct d3d9_operand *dst, uint32_t value)
{
    uint32_t pointer, old, m = dst->mask;

    if (dst->type == D3D9_DEPTHOUT) {
        SPIRV_OP(&t->b, code, SpvOpStore, t->var_depth, d3d9_component(t, value, 0));
        return;
    }
    pointer = destination(t, dst);
    if (m != 15) {
        old = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_vec4, pointer);
        value = SPIRV_VALUE(&t->b, SpvOpVectorShuffle, t->t_vec4, value, old, m & 1 ? 0 : 4, m & 2 ? 1 : 5,
                            m & 4 ? 2 : 6, m & 8 ? 3 : 7);
    }
    SPIRV_OP(&t->b, code, SpvOpStore, pointer, value);
}

void d3d9_flush(struct d3d9_emit *t)
{
    for (uint32_t k = 0; k < t->pending_count; k++)
        write_masked(t, &t->pending[k].dst, t->pending[k].value);
    t->pending_count = 0;
}

/* Where the predicate is false a register keeps what it had. */
static uint32_t predicate(struct d3d9_emit *t, const struct d3d9_instruction *i, uint32_t value)
{
    uint32_t p = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_bvec4, t->var_p), s = i->predicate.swizzle, old;

    p = SPIRV_VALUE(&t->b, SpvOpVectorShuffle, t->t_bvec4, p, p, s & 3, s >> 2 & 3, s >> 4 & 3, s >> 6 & 3);
    if (i->predicate.modifier == D3D9_MOD_NOT)
        p = SPIRV_VALUE(&t->b, SpvOpLogicalNot, t->t_bvec4, p);
    if (i->dst.type == D3D9_DEPTHOUT)
        old = d3d9_splat(t, SPIRV_VALUE(&t->b, SpvOpLoad, t->t_float, t->var_depth));
    else
        old = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_vec4, destination(t, &i->dst));
    return SPIRV_VALUE(&t->b, SpvOpSelect, t->t_vec4, p, value, old);
}

void d3d9_store(struct d3d9_emit *t, const struct d3d9_instruction *i, uint32_t value)
{
    const struct d3d9_operand *dst = &i->dst;

    if (dst->shift) {
        float f = (float)(1 << (dst->shift > 0 ? dst->shift : -dst->shift));
        f = dst->shift > 0 ? f : 1 / f;
        value = SPIRV_VALUE(&t->b, SpvOpFMul, t->t_vec4, value, d3d9_vec4(t, f, f, f, f));
    }
    if (dst->modifier & D3D9_DST_SAT)
        value = d3d9_glsl3(t, GLSLstd450NClamp, t->t_vec4, value, d3d9_vec4(t, 0, 0, 0, 0),
                           d3d9_vec4(t, 1, 1, 1, 1));
    if (i->predicated)
        value = predicate(t, i, value);
    if (t->defer && t->pending_count < 2)
        t->pending[t->pending_count++] = (struct d3d9_pending){*dst, value};
    else
        write_masked(t, dst, value);
}
