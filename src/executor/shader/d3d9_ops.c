/* SPDX-License-Identifier: MIT */
/* d3d9_ops.c: the instructions of Direct3D 9 shaders, one at a time, as SPIR-V. */
#include <float.h>

#include "executor/shader/d3d9_emit.h"

#define OP1(op, a)        SPIRV_VALUE(&t->b, op, t->t_vec4, a)
#define OP2(op, a, b2)    SPIRV_VALUE(&t->b, op, t->t_vec4, a, b2)
#define EXT1(op, a)       d3d9_glsl1(t, op, t->t_vec4, a)
#define EXT2(op, a, b2)   d3d9_glsl2(t, op, t->t_vec4, a, b2)
#define FLOAT1(op, a)     d3d9_glsl1(t, op, t->t_float, a)
#define FLOAT2(op, a, b2) d3d9_glsl2(t, op, t->t_float, a, b2)

static uint32_t splat_constant(struct d3d9_emit *t, float f)
{
    return d3d9_vec4(t, f, f, f, f);
}

static uint32_t compose(struct d3d9_emit *t, uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
    return SPIRV_VALUE(&t->b, SpvOpCompositeConstruct, t->t_vec4, x, y, z, w);
}

static uint32_t dot(struct d3d9_emit *t, uint32_t a, uint32_t b, uint32_t n)
{
    uint32_t type = n == 2 ? t->t_vec2 : t->t_vec3;

    if (n == 2) {
        a = SPIRV_VALUE(&t->b, SpvOpVectorShuffle, type, a, a, 0, 1);
        b = SPIRV_VALUE(&t->b, SpvOpVectorShuffle, type, b, b, 0, 1);
    } else if (n == 3) {
        a = SPIRV_VALUE(&t->b, SpvOpVectorShuffle, type, a, a, 0, 1, 2);
        b = SPIRV_VALUE(&t->b, SpvOpVectorShuffle, type, b, b, 0, 1, 2);
    }
    return SPIRV_VALUE(&t->b, SpvOpDot, t->t_float, a, b);
}

/* cond ? a : b by component, cond from comparing two vectors. */
static uint32_t choose(struct d3d9_emit *t, uint32_t compare, uint32_t x, uint32_t y, uint32_t a, uint32_t b)
{
    uint32_t c = SPIRV_VALUE(&t->b, compare, t->t_bvec4, x, y);

    return SPIRV_VALUE(&t->b, SpvOpSelect, t->t_vec4, c, a, b);
}

static uint32_t comparison(uint32_t control)
{
    static const uint32_t ops[] = {SpvOpFOrdGreaterThan, SpvOpFOrdEqual,      SpvOpFOrdGreaterThanEqual,
                                   SpvOpFOrdLessThan,    SpvOpFUnordNotEqual, SpvOpFOrdLessThanEqual};
    return ops[control - 1];
}

/* Infinities stay finite, as on the hardware that these shaders were written for: 0 * (1 / 0) is 0. */
static uint32_t bounded(struct d3d9_emit *t, uint32_t x)
{
    return d3d9_glsl3(t, GLSLstd450FClamp, t->t_float, x, d3d9_float(t, -FLT_MAX), d3d9_float(t, FLT_MAX));
}

static uint32_t inverse_sqrt(struct d3d9_emit *t, uint32_t x)
{
    return bounded(t, FLOAT1(GLSLstd450InverseSqrt, FLOAT1(GLSLstd450FAbs, x)));
}

static uint32_t scalar(struct d3d9_emit *t, const struct d3d9_instruction *i, uint32_t x)
{
    switch (i->opcode) {
    case D3D9_RCP:
        return bounded(t, SPIRV_VALUE(&t->b, SpvOpFDiv, t->t_float, d3d9_float(t, 1), x));
    case D3D9_RSQ:
        return inverse_sqrt(t, x);
    case D3D9_LOG:
    case D3D9_LOGP:
        return bounded(t, FLOAT1(GLSLstd450Log2, FLOAT1(GLSLstd450FAbs, x)));
    default:
        return FLOAT1(GLSLstd450Exp2, x);
    }
}

/* expp of vertex shaders 1: {2^floor(x), frac(x), 2^x, 1} */
static uint32_t partial_exp(struct d3d9_emit *t, uint32_t x)
{
    uint32_t whole = FLOAT1(GLSLstd450Exp2, FLOAT1(GLSLstd450Floor, x));

    return compose(t, whole, FLOAT1(GLSLstd450Fract, x), FLOAT1(GLSLstd450Exp2, x), d3d9_float(t, 1));
}

/* {1, max(x, 0), x > 0 && y > 0 ? y ^ w : 0, 1}, w within -127.9961..127.9961 */
static uint32_t lit(struct d3d9_emit *t, uint32_t s)
{
    uint32_t zero = d3d9_float(t, 0), x = d3d9_component(t, s, 0), y = d3d9_component(t, s, 1);
    uint32_t w = d3d9_glsl3(t, GLSLstd450FClamp, t->t_float, d3d9_component(t, s, 3),
                            d3d9_float(t, -127.9961f), d3d9_float(t, 127.9961f));
    uint32_t p = FLOAT2(GLSLstd450Pow, FLOAT2(GLSLstd450FMax, y, zero), w);
    uint32_t a = SPIRV_VALUE(&t->b, SpvOpFOrdGreaterThan, t->t_bool, x, zero);
    uint32_t b = SPIRV_VALUE(&t->b, SpvOpFOrdGreaterThan, t->t_bool, y, zero);

    a = SPIRV_VALUE(&t->b, SpvOpLogicalAnd, t->t_bool, a, b);
    p = SPIRV_VALUE(&t->b, SpvOpSelect, t->t_float, a, p, zero);
    return compose(t, d3d9_float(t, 1), FLOAT2(GLSLstd450FMax, x, zero), p, d3d9_float(t, 1));
}

static uint32_t distance(struct d3d9_emit *t, uint32_t a, uint32_t b)
{
    uint32_t y = SPIRV_VALUE(&t->b, SpvOpFMul, t->t_float, d3d9_component(t, a, 1), d3d9_component(t, b, 1));

    return compose(t, d3d9_float(t, 1), y, d3d9_component(t, a, 2), d3d9_component(t, b, 3));
}

static uint32_t cross(struct d3d9_emit *t, uint32_t a, uint32_t b)
{
    uint32_t c;

    a = SPIRV_VALUE(&t->b, SpvOpVectorShuffle, t->t_vec3, a, a, 0, 1, 2);
    b = SPIRV_VALUE(&t->b, SpvOpVectorShuffle, t->t_vec3, b, b, 0, 1, 2);
    c = d3d9_glsl2(t, GLSLstd450Cross, t->t_vec3, a, b);
    return SPIRV_VALUE(&t->b, SpvOpVectorShuffle, t->t_vec4, c, c, 0, 1, 2, 2);
}

static uint32_t matrix(struct d3d9_emit *t, const struct d3d9_instruction *i)
{
    uint32_t rows = i->opcode == D3D9_M4X4 || i->opcode == D3D9_M3X4 ? 4 : i->opcode == D3D9_M3X2 ? 2 : 3;
    uint32_t columns = i->opcode == D3D9_M4X4 || i->opcode == D3D9_M4X3 ? 4 : 3;
    uint32_t v = d3d9_source(t, &i->src[0], 0), zero = d3d9_float(t, 0), r[4] = {zero, zero, zero, zero};

    for (uint32_t k = 0; k < rows; k++)
        r[k] = dot(t, v, d3d9_source(t, &i->src[1], k), columns);
    return compose(t, r[0], r[1], r[2], r[3]);
}

static uint32_t sine_cosine(struct d3d9_emit *t, uint32_t s)
{
    uint32_t x = d3d9_component(t, s, 0), zero = d3d9_float(t, 0);

    return compose(t, FLOAT1(GLSLstd450Cos, x), FLOAT1(GLSLstd450Sin, x), zero, zero);
}

enum sampling { SAMPLE_PLAIN, SAMPLE_BIAS, SAMPLE_LOD, SAMPLE_GRADIENTS };

static uint32_t coordinates(struct d3d9_emit *t, uint32_t sampler, uint32_t v)
{
    if (t->p->sampler_dim[sampler] == D3D9_TEXTURE_2D)
        return SPIRV_VALUE(&t->b, SpvOpVectorShuffle, t->t_vec2, v, v, 0, 1);
    return SPIRV_VALUE(&t->b, SpvOpVectorShuffle, t->t_vec3, v, v, 0, 1, 2);
}

static uint32_t read_image(struct d3d9_emit *t, uint32_t sampler, uint32_t at, enum sampling mode, uint32_t x,
                           uint32_t y)
{
    uint32_t image = SPIRV_VALUE(&t->b, SpvOpLoad, t->sampled_image[sampler], t->samplers[sampler]);

    at = coordinates(t, sampler, at);
    switch (mode) {
    case SAMPLE_BIAS:
        return SPIRV_VALUE(&t->b, SpvOpImageSampleImplicitLod, t->t_vec4, image, at, SpvImageOperandsBiasMask,
                           x);
    case SAMPLE_LOD:
        return SPIRV_VALUE(&t->b, SpvOpImageSampleExplicitLod, t->t_vec4, image, at, SpvImageOperandsLodMask,
                           x);
    case SAMPLE_GRADIENTS:
        return SPIRV_VALUE(&t->b, SpvOpImageSampleExplicitLod, t->t_vec4, image, at, SpvImageOperandsGradMask,
                           coordinates(t, sampler, x), coordinates(t, sampler, y));
    default:
        if (!t->p->pixel)
            return SPIRV_VALUE(&t->b, SpvOpImageSampleExplicitLod, t->t_vec4, image, at,
                               SpvImageOperandsLodMask, d3d9_float(t, 0));
        return SPIRV_VALUE(&t->b, SpvOpImageSampleImplicitLod, t->t_vec4, image, at);
    }
}

/* A colour of sRGB, whose alpha stays. */
static uint32_t decode(struct d3d9_emit *t, uint32_t v)
{
    uint32_t low = OP2(SpvOpFDiv, v, splat_constant(t, 12.92f)), high;

    high = OP2(SpvOpFDiv, OP2(SpvOpFAdd, v, splat_constant(t, 0.055f)), splat_constant(t, 1.055f));
    high = EXT2(GLSLstd450Pow, EXT2(GLSLstd450FMax, high, splat_constant(t, 0)), splat_constant(t, 2.4f));
    low = choose(t, SpvOpFOrdLessThanEqual, v, splat_constant(t, 0.04045f), low, high);
    return SPIRV_VALUE(&t->b, SpvOpVectorShuffle, t->t_vec4, low, v, 0, 1, 2, 7);
}

static uint32_t sample(struct d3d9_emit *t, uint32_t sampler, uint32_t at, enum sampling mode, uint32_t x,
                       uint32_t y)
{
    uint32_t value = read_image(t, sampler, at, mode, x, y), lit;

    if (t->v.spread >> sampler & 1)
        return d3d9_splat(t, d3d9_component(t, value, 0));
    if (t->v.decoded >> sampler & 1)
        return decode(t, value);
    if (!(t->v.compared >> sampler & 1))
        return value;
    lit = SPIRV_VALUE(&t->b, SpvOpFOrdLessThanEqual, t->t_bool, d3d9_component(t, at, 2),
                      d3d9_component(t, value, 0));
    return d3d9_splat(t,
                      SPIRV_VALUE(&t->b, SpvOpSelect, t->t_float, lit, d3d9_float(t, 1), d3d9_float(t, 0)));
}

static uint32_t project(struct d3d9_emit *t, uint32_t v, uint32_t by)
{
    return OP2(SpvOpFDiv, v, d3d9_splat(t, d3d9_component(t, v, by)));
}

static uint32_t load_texture_register(struct d3d9_emit *t, uint32_t n)
{
    return SPIRV_VALUE(&t->b, SpvOpLoad, t->t_vec4, d3d9_element(t, t->var_t, d3d9_int(t, (int32_t)n)));
}

/* The coordinates of stage n, divided where the stage asks for it. */
static uint32_t projected_register(struct d3d9_emit *t, uint32_t n)
{
    uint32_t at = load_texture_register(t, n), by = n < 4 ? t->v.projected >> 2 * n & 3u : 0;

    return by ? project(t, at, by) : at;
}

/* tex, texld, texldp, texldb in all versions */
static uint32_t texture(struct d3d9_emit *t, const struct d3d9_instruction *i)
{
    uint32_t at, n = i->dst.index;

    if (t->p->major >= 2) {
        at = d3d9_source(t, &i->src[0], 0);
        if (i->control == 1)
            at = project(t, at, 3);
        return d3d9_swizzle(t,
                            sample(t, i->src[1].index, at, i->control == 2 ? SAMPLE_BIAS : SAMPLE_PLAIN,
                                   i->control == 2 ? d3d9_component(t, at, 3) : 0, 0),
                            i->src[1].swizzle);
    }
    if (t->p->minor == 4)
        return sample(t, n, d3d9_source(t, &i->src[0], 0), SAMPLE_PLAIN, 0, 0);
    return sample(t, n, projected_register(t, n), SAMPLE_PLAIN, 0, 0);
}

/* uv + M * d, with the bump matrix of texture stage n */
static uint32_t bump(struct d3d9_emit *t, uint32_t n, uint32_t uv, uint32_t d)
{
    uint32_t out[2], dx = d3d9_component(t, d, 0), dy = d3d9_component(t, d, 1);

    for (uint32_t k = 0; k < 2; k++) {
        uint32_t a = SPIRV_VALUE(&t->b, SpvOpFMul, t->t_float, d3d9_param(t, 3 + 2 * n, k), dx);
        uint32_t b = SPIRV_VALUE(&t->b, SpvOpFMul, t->t_float, d3d9_param(t, 3 + 2 * n, 2 + k), dy);
        a = SPIRV_VALUE(&t->b, SpvOpFAdd, t->t_float, a, b);
        out[k] = SPIRV_VALUE(&t->b, SpvOpFAdd, t->t_float, a, d3d9_component(t, uv, k));
    }
    return compose(t, out[0], out[1], d3d9_float(t, 0), d3d9_float(t, 1));
}

static uint32_t texture_bump(struct d3d9_emit *t, const struct d3d9_instruction *i)
{
    uint32_t n = i->dst.index, d = d3d9_source(t, &i->src[0], 0), l;
    uint32_t colour = sample(t, n, bump(t, n, projected_register(t, n), d), SAMPLE_PLAIN, 0, 0);

    if (i->opcode == D3D9_TEXBEM)
        return colour;
    l = SPIRV_VALUE(&t->b, SpvOpFMul, t->t_float, d3d9_component(t, d, 2), d3d9_param(t, 4 + 2 * n, 0));
    l = SPIRV_VALUE(&t->b, SpvOpFAdd, t->t_float, l, d3d9_param(t, 4 + 2 * n, 1));
    return OP2(SpvOpFMul, colour, d3d9_splat(t, l));
}

/* The rows of a texm3x2* or texm3x3* instruction: its pads, then itself. Each is the texture coordinates of its stage
 * dot the source that all share. */
static void matrix_rows(struct d3d9_emit *t, const struct d3d9_instruction *i, uint32_t rows, uint32_t *r)
{
    for (uint32_t k = 0; k < rows; k++) {
        const struct d3d9_instruction *row = i - (rows - 1 - k);
        r[k] = dot(t, load_texture_register(t, row->dst.index), d3d9_source(t, &row->src[0], 0), 3);
    }
}

static uint32_t reflection(struct d3d9_emit *t, const struct d3d9_instruction *i, const uint32_t *n)
{
    uint32_t normal = compose(t, n[0], n[1], n[2], d3d9_float(t, 0)), eye, s;

    if (i->opcode == D3D9_TEXM3X3SPEC) {
        eye = d3d9_source(t, &i->src[1], 0);
    } else {
        uint32_t e[3];
        for (uint32_t k = 0; k < 3; k++)
            e[k] = d3d9_component(t, load_texture_register(t, i->dst.index - 2u + k), 3);
        eye = compose(t, e[0], e[1], e[2], d3d9_float(t, 0));
    }
    /* 2 (n.e / n.n) n - e */
    s = SPIRV_VALUE(&t->b, SpvOpFDiv, t->t_float, dot(t, normal, eye, 3), dot(t, normal, normal, 3));
    s = SPIRV_VALUE(&t->b, SpvOpFMul, t->t_float, s, d3d9_float(t, 2));
    return OP2(SpvOpFSub, OP2(SpvOpFMul, normal, d3d9_splat(t, s)), eye);
}

static void store_depth(struct d3d9_emit *t, uint32_t numerator, uint32_t denominator)
{
    uint32_t zero = SPIRV_VALUE(&t->b, SpvOpFOrdEqual, t->t_bool, denominator, d3d9_float(t, 0));
    uint32_t z = SPIRV_VALUE(&t->b, SpvOpFDiv, t->t_float, numerator, denominator);

    z = SPIRV_VALUE(&t->b, SpvOpSelect, t->t_float, zero, d3d9_float(t, 1), z);
    SPIRV_OP(&t->b, code, SpvOpStore, t->var_depth, z);
}

/* Shader model 1 texture instructions. Returns false if it is none. */
static bool old_texture(struct d3d9_emit *t, const struct d3d9_instruction *i)
{
    uint32_t n = i->dst.index, s, r[3], zero = d3d9_float(t, 0), one = d3d9_float(t, 1), value;

    switch (i->opcode) {
    case D3D9_TEXCOORD:
        value = i->src_count ? d3d9_source(t, &i->src[0], 0)
                             : d3d9_glsl3(t, GLSLstd450NClamp, t->t_vec4, load_texture_register(t, n),
                                          splat_constant(t, 0), splat_constant(t, 1));
        if (!i->src_count)
            value = SPIRV_VALUE(&t->b, SpvOpCompositeInsert, t->t_vec4, one, value, 3);
        break;
    case D3D9_TEXBEM:
    case D3D9_TEXBEML:
        value = texture_bump(t, i);
        break;
    case D3D9_BEM:
        value = bump(t, n < 8 ? n : 0, d3d9_source(t, &i->src[0], 0), d3d9_source(t, &i->src[1], 0));
        break;
    case D3D9_TEXREG2AR:
    case D3D9_TEXREG2GB:
    case D3D9_TEXREG2RGB:
        s = d3d9_source(t, &i->src[0], 0);
        value = sample(t, n,
                       d3d9_swizzle(t, s,
                                    i->opcode == D3D9_TEXREG2AR   ? 0x03
                                    : i->opcode == D3D9_TEXREG2GB ? 0x09
                                                                  : 0xe4),
                       SAMPLE_PLAIN, 0, 0);
        break;
    case D3D9_TEXM3X2PAD:
    case D3D9_TEXM3X3PAD:
        return true; /* read by the instruction that ends the matrix */
    case D3D9_TEXM3X2TEX:
        matrix_rows(t, i, 2, r);
        value = sample(t, n, compose(t, r[0], r[1], zero, one), SAMPLE_PLAIN, 0, 0);
        break;
    case D3D9_TEXM3X3TEX:
    case D3D9_TEXM3X3:
        matrix_rows(t, i, 3, r);
        value = compose(t, r[0], r[1], r[2], one);
        if (i->opcode == D3D9_TEXM3X3TEX)
            value = sample(t, n, value, SAMPLE_PLAIN, 0, 0);
        break;
    case D3D9_TEXM3X3SPEC:
    case D3D9_TEXM3X3VSPEC:
        matrix_rows(t, i, 3, r);
        value = sample(t, n, reflection(t, i, r), SAMPLE_PLAIN, 0, 0);
        break;
    case D3D9_TEXDP3TEX:
    case D3D9_TEXDP3:
        s = dot(t, load_texture_register(t, n), d3d9_source(t, &i->src[0], 0), 3);
        value = i->opcode == D3D9_TEXDP3 ? d3d9_splat(t, s)
                                         : sample(t, n, compose(t, s, zero, zero, one), SAMPLE_PLAIN, 0, 0);
        break;
    case D3D9_TEXM3X2DEPTH:
        matrix_rows(t, i, 2, r);
        store_depth(t, r[0], r[1]);
        return true;
    case D3D9_TEXDEPTH:
        s = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_vec4, d3d9_element(t, t->var_r, d3d9_int(t, (int32_t)n)));
        store_depth(t, d3d9_component(t, s, 0), d3d9_component(t, s, 1));
        return true;
    default:
        return false;
    }
    d3d9_store(t, i, value);
    return true;
}

void d3d9_kill_if(struct d3d9_emit *t, uint32_t condition)
{
    uint32_t kill = spirv_id(&t->b), merge = spirv_id(&t->b);

    SPIRV_OP(&t->b, code, SpvOpSelectionMerge, merge, 0);
    SPIRV_OP(&t->b, code, SpvOpBranchConditional, condition, kill, merge);
    SPIRV_OP(&t->b, code, SpvOpLabel, kill);
    spirv_emit(&t->b, &t->b.code, SpvOpKill, NULL, 0);
    SPIRV_OP(&t->b, code, SpvOpLabel, merge);
}

/* texkill reads its destination: x, y and z before shader model 2, then what the mask says */
static void texkill(struct d3d9_emit *t, const struct d3d9_instruction *i)
{
    struct d3d9_operand o = i->dst;
    uint32_t v, any = 0, mask = t->p->major >= 2 ? o.mask : 7;

    o.swizzle = 0xe4;
    o.modifier = D3D9_MOD_NONE;
    v = d3d9_source(t, &o, 0);
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t c;
        if (!(mask >> k & 1))
            continue;
        c = SPIRV_VALUE(&t->b, SpvOpFOrdLessThan, t->t_bool, d3d9_component(t, v, k), d3d9_float(t, 0));
        any = any ? SPIRV_VALUE(&t->b, SpvOpLogicalOr, t->t_bool, any, c) : c;
    }
    d3d9_kill_if(t, any);
}

/* a0: rounded by mova, rounded down by the mov of vertex shaders 1 */
static void move_address(struct d3d9_emit *t, const struct d3d9_instruction *i)
{
    uint32_t m = i->dst.mask, old = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_ivec4, t->var_a), x;

    x = EXT1(i->opcode == D3D9_MOVA ? GLSLstd450RoundEven : GLSLstd450Floor, d3d9_source(t, &i->src[0], 0));
    x = d3d9_glsl3(t, GLSLstd450NClamp, t->t_vec4, x, splat_constant(t, -65536), splat_constant(t, 65536));
    x = SPIRV_VALUE(&t->b, SpvOpConvertFToS, t->t_ivec4, x);
    x = SPIRV_VALUE(&t->b, SpvOpVectorShuffle, t->t_ivec4, x, old, m & 1 ? 0 : 4, m & 2 ? 1 : 5,
                    m & 4 ? 2 : 6, m & 8 ? 3 : 7);
    if (i->predicated) {
        uint32_t p = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_bvec4, t->var_p), s = i->predicate.swizzle;
        p = SPIRV_VALUE(&t->b, SpvOpVectorShuffle, t->t_bvec4, p, p, s & 3, s >> 2 & 3, s >> 4 & 3,
                        s >> 6 & 3);
        if (i->predicate.modifier == D3D9_MOD_NOT)
            p = SPIRV_VALUE(&t->b, SpvOpLogicalNot, t->t_bvec4, p);
        x = SPIRV_VALUE(&t->b, SpvOpSelect, t->t_ivec4, p, x, old);
    }
    SPIRV_OP(&t->b, code, SpvOpStore, t->var_a, x);
}

static void set_predicate(struct d3d9_emit *t, const struct d3d9_instruction *i)
{
    uint32_t m = i->dst.mask, old = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_bvec4, t->var_p), x;
    uint32_t a = d3d9_source(t, &i->src[0], 0), b = d3d9_source(t, &i->src[1], 0);

    x = SPIRV_VALUE(&t->b, comparison(i->control), t->t_bvec4, a, b);
    x = SPIRV_VALUE(&t->b, SpvOpVectorShuffle, t->t_bvec4, x, old, m & 1 ? 0 : 4, m & 2 ? 1 : 5,
                    m & 4 ? 2 : 6, m & 8 ? 3 : 7);
    SPIRV_OP(&t->b, code, SpvOpStore, t->var_p, x);
}

static void branch(struct d3d9_emit *t, uint32_t label)
{
    SPIRV_OP(&t->b, code, SpvOpBranch, label);
}

static void open_if(struct d3d9_emit *t, uint32_t condition)
{
    struct d3d9_block *f = &t->stack[t->depth++];
    uint32_t then = spirv_id(&t->b);

    *f = (struct d3d9_block){.opcode = D3D9_IF, .other = spirv_id(&t->b), .merge = spirv_id(&t->b)};
    SPIRV_OP(&t->b, code, SpvOpSelectionMerge, f->merge, 0);
    SPIRV_OP(&t->b, code, SpvOpBranchConditional, condition, then, f->other);
    SPIRV_OP(&t->b, code, SpvOpLabel, then);
}

static void close_if(struct d3d9_emit *t)
{
    struct d3d9_block *f = &t->stack[--t->depth];

    branch(t, f->merge);
    if (!f->has_else) {
        SPIRV_OP(&t->b, code, SpvOpLabel, f->other);
        branch(t, f->merge);
    }
    SPIRV_OP(&t->b, code, SpvOpLabel, f->merge);
}

/* rep i# and loop aL, i#: at most 255 rounds, as the registers hold */
static void open_loop(struct d3d9_emit *t, const struct d3d9_instruction *i)
{
    struct d3d9_block *f = &t->stack[t->depth++];
    bool al = i->opcode == D3D9_LOOP_BEGIN;
    const struct d3d9_operand *n = &i->src[al ? 1 : 0];
    uint32_t test = spirv_id(&t->b), body = spirv_id(&t->b), x;

    *f = (struct d3d9_block){.opcode = i->opcode,
                             .header = spirv_id(&t->b),
                             .other = spirv_id(&t->b),
                             .merge = spirv_id(&t->b),
                             .counter = d3d9_private(t, t->t_int)};
    x = d3d9_glsl3(t, GLSLstd450SClamp, t->t_int, d3d9_source_int(t, n, 0), d3d9_int(t, 0), d3d9_int(t, 255));
    SPIRV_OP(&t->b, code, SpvOpStore, f->counter, x);
    if (al) {
        f->saved_al = d3d9_private(t, t->t_int);
        x = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_int, t->var_al);
        SPIRV_OP(&t->b, code, SpvOpStore, f->saved_al, x);
        SPIRV_OP(&t->b, code, SpvOpStore, t->var_al, d3d9_source_int(t, n, 1));
        f->step = d3d9_source_int(t, n, 2);
    }
    branch(t, f->header);
    SPIRV_OP(&t->b, code, SpvOpLabel, f->header);
    SPIRV_OP(&t->b, code, SpvOpLoopMerge, f->merge, f->other, 0);
    branch(t, test);
    SPIRV_OP(&t->b, code, SpvOpLabel, test);
    x = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_int, f->counter);
    x = SPIRV_VALUE(&t->b, SpvOpSGreaterThan, t->t_bool, x, d3d9_int(t, 0));
    SPIRV_OP(&t->b, code, SpvOpBranchConditional, x, body, f->merge);
    SPIRV_OP(&t->b, code, SpvOpLabel, body);
}

static void close_loop(struct d3d9_emit *t)
{
    struct d3d9_block *f = &t->stack[--t->depth];
    uint32_t x;

    branch(t, f->other);
    SPIRV_OP(&t->b, code, SpvOpLabel, f->other);
    x = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_int, f->counter);
    SPIRV_OP(&t->b, code, SpvOpStore, f->counter, SPIRV_VALUE(&t->b, SpvOpISub, t->t_int, x, d3d9_int(t, 1)));
    if (f->saved_al) {
        x = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_int, t->var_al);
        SPIRV_OP(&t->b, code, SpvOpStore, t->var_al, SPIRV_VALUE(&t->b, SpvOpIAdd, t->t_int, x, f->step));
    }
    branch(t, f->header);
    SPIRV_OP(&t->b, code, SpvOpLabel, f->merge);
    if (f->saved_al) {
        x = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_int, f->saved_al);
        SPIRV_OP(&t->b, code, SpvOpStore, t->var_al, x);
    }
}

/* Leaves the innermost loop, always or where `condition` holds. What follows an unconditional break is a block that
 * nothing reaches. */
static void leave_loop(struct d3d9_emit *t, uint32_t condition)
{
    uint32_t next = spirv_id(&t->b), k = t->depth - 1;

    while (t->stack[k].opcode == D3D9_IF)
        k--;
    if (condition) {
        SPIRV_OP(&t->b, code, SpvOpSelectionMerge, next, 0);
        SPIRV_OP(&t->b, code, SpvOpBranchConditional, condition, t->stack[k].merge, next);
    } else {
        branch(t, t->stack[k].merge);
    }
    SPIRV_OP(&t->b, code, SpvOpLabel, next);
}

static uint32_t compare_scalars(struct d3d9_emit *t, const struct d3d9_instruction *i)
{
    uint32_t a = d3d9_component(t, d3d9_source(t, &i->src[0], 0), 0);
    uint32_t b = d3d9_component(t, d3d9_source(t, &i->src[1], 0), 0);

    return SPIRV_VALUE(&t->b, comparison(i->control), t->t_bool, a, b);
}

static void call(struct d3d9_emit *t, const struct d3d9_instruction *i)
{
    SPIRV_VALUE(&t->b, SpvOpFunctionCall, t->t_void, t->labels[i->src[0].index]);
}

/* Returns false if the instruction is no control flow. */
static bool flow(struct d3d9_emit *t, const struct d3d9_instruction *i)
{
    switch (i->opcode) {
    case D3D9_IF:
        open_if(t, d3d9_source_bool(t, &i->src[0]));
        return true;
    case D3D9_IFC:
        open_if(t, compare_scalars(t, i));
        return true;
    case D3D9_ELSE:
        branch(t, t->stack[t->depth - 1].merge);
        SPIRV_OP(&t->b, code, SpvOpLabel, t->stack[t->depth - 1].other);
        t->stack[t->depth - 1].has_else = true;
        return true;
    case D3D9_ENDIF:
        close_if(t);
        return true;
    case D3D9_REP:
    case D3D9_LOOP_BEGIN:
        open_loop(t, i);
        return true;
    case D3D9_ENDREP:
    case D3D9_ENDLOOP:
        close_loop(t);
        return true;
    case D3D9_BREAK:
        leave_loop(t, 0);
        return true;
    case D3D9_BREAKC:
        leave_loop(t, compare_scalars(t, i));
        return true;
    case D3D9_BREAKP:
        leave_loop(t, d3d9_source_bool(t, &i->src[0]));
        return true;
    case D3D9_CALL:
        call(t, i);
        return true;
    case D3D9_CALLNZ:
        open_if(t, d3d9_source_bool(t, &i->src[1]));
        call(t, i);
        close_if(t);
        return true;
    case D3D9_TEXKILL:
        texkill(t, i);
        return true;
    case D3D9_SETP:
        set_predicate(t, i);
        return true;
    case D3D9_MOVA:
        move_address(t, i);
        return true;
    case D3D9_PHASE:
        return true;
    default:
        return false;
    }
}

static uint32_t arithmetic(struct d3d9_emit *t, const struct d3d9_instruction *i, const uint32_t *s)
{
    uint32_t x;

    switch (i->opcode) {
    case D3D9_MOV:
        return s[0];
    case D3D9_ADD:
        return OP2(SpvOpFAdd, s[0], s[1]);
    case D3D9_SUB:
        return OP2(SpvOpFSub, s[0], s[1]);
    case D3D9_MUL:
        return OP2(SpvOpFMul, s[0], s[1]);
    case D3D9_MAD:
        return OP2(SpvOpFAdd, OP2(SpvOpFMul, s[0], s[1]), s[2]);
    case D3D9_DP3:
        return d3d9_splat(t, dot(t, s[0], s[1], 3));
    case D3D9_DP4:
        return d3d9_splat(t, dot(t, s[0], s[1], 4));
    case D3D9_DP2ADD:
        x = SPIRV_VALUE(&t->b, SpvOpFAdd, t->t_float, dot(t, s[0], s[1], 2), d3d9_component(t, s[2], 0));
        return d3d9_splat(t, x);
    case D3D9_MIN:
        return EXT2(GLSLstd450FMin, s[0], s[1]);
    case D3D9_MAX:
        return EXT2(GLSLstd450FMax, s[0], s[1]);
    case D3D9_SLT:
        return choose(t, SpvOpFOrdLessThan, s[0], s[1], splat_constant(t, 1), splat_constant(t, 0));
    case D3D9_SGE:
        return choose(t, SpvOpFOrdGreaterThanEqual, s[0], s[1], splat_constant(t, 1), splat_constant(t, 0));
    case D3D9_LRP:
        return OP2(SpvOpFAdd, OP2(SpvOpFMul, s[0], OP2(SpvOpFSub, s[1], s[2])), s[2]);
    case D3D9_CMP:
        return choose(t, SpvOpFOrdGreaterThanEqual, s[0], splat_constant(t, 0), s[1], s[2]);
    case D3D9_CND:
        return choose(t, SpvOpFOrdGreaterThan, s[0], splat_constant(t, 0.5f), s[1], s[2]);
    case D3D9_FRC:
        return EXT1(GLSLstd450Fract, s[0]);
    case D3D9_ABS:
        return EXT1(GLSLstd450FAbs, s[0]);
    case D3D9_SGN:
        return EXT1(GLSLstd450FSign, s[0]);
    case D3D9_DSX:
        return OP1(SpvOpDPdx, s[0]);
    case D3D9_DSY:
        return OP1(SpvOpDPdy, s[0]);
    case D3D9_CRS:
        return cross(t, s[0], s[1]);
    case D3D9_DST:
        return distance(t, s[0], s[1]);
    case D3D9_LIT:
        return lit(t, s[0]);
    case D3D9_SINCOS:
        return sine_cosine(t, s[0]);
    case D3D9_NRM:
        return OP2(SpvOpFMul, s[0], d3d9_splat(t, inverse_sqrt(t, dot(t, s[0], s[0], 3))));
    case D3D9_POW:
        x = FLOAT1(GLSLstd450FAbs, d3d9_component(t, s[0], 0));
        return d3d9_splat(t, FLOAT2(GLSLstd450Pow, x, d3d9_component(t, s[1], 0)));
    case D3D9_EXPP:
        if (t->p->major == 1)
            return partial_exp(t, d3d9_component(t, s[0], 0));
        /* fall through */
    default:
        return d3d9_splat(t, scalar(t, i, d3d9_component(t, s[0], 0)));
    }
}

void d3d9_instruction(struct d3d9_emit *t, const struct d3d9_instruction *i)
{
    uint32_t s[4] = {0}, at;

    if (flow(t, i) || old_texture(t, i))
        return;
    switch (i->opcode) {
    case D3D9_M4X4:
    case D3D9_M4X3:
    case D3D9_M3X4:
    case D3D9_M3X3:
    case D3D9_M3X2:
        d3d9_store(t, i, matrix(t, i));
        return;
    case D3D9_TEX:
        d3d9_store(t, i, texture(t, i));
        return;
    case D3D9_TEXLDL:
        at = d3d9_source(t, &i->src[0], 0);
        at = sample(t, i->src[1].index, at, SAMPLE_LOD, d3d9_component(t, at, 3), 0);
        d3d9_store(t, i, d3d9_swizzle(t, at, i->src[1].swizzle));
        return;
    case D3D9_TEXLDD:
        at = sample(t, i->src[1].index, d3d9_source(t, &i->src[0], 0), SAMPLE_GRADIENTS,
                    d3d9_source(t, &i->src[2], 0), d3d9_source(t, &i->src[3], 0));
        d3d9_store(t, i, d3d9_swizzle(t, at, i->src[1].swizzle));
        return;
    case D3D9_MOV:
        if (i->dst.type == D3D9_ADDRESS && !t->p->pixel) {
            move_address(t, i);
            return;
        }
        break;
    default:
        break;
    }
    for (uint32_t k = 0; k < i->src_count; k++)
        s[k] = d3d9_source(t, &i->src[k], 0);
    d3d9_store(t, i, arithmetic(t, i, s));
}
