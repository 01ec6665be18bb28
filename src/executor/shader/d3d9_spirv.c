/* SPDX-License-Identifier: MIT */
/* d3d9_spirv.c: the module around a Direct3D 9 shader: types, block, samplers, and the borders between stages.
 *
 * Locations between the stages are the pixel shader's: a ps_3_0 register v# is location #, older ones have v0, v1 at
 * 0, 1 and t0..t7 at 2..9; the fog factor or depth travels at 10. A vertex shader is told which pixel shader reads it
 * and writes each of its locations, from the output of the same usage or with zeros.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shader/d3d9.h"
#include "executor/shader/d3d9_emit.h"
#include "executor/shader/shader_internal.h"

struct shader_variant d3d9_relevant(const struct shader *s, const struct shader_variant *v)
{
    struct shader_variant r = {0};
    const struct d3d9_program *p = s->d3d9;

    r.fog = v->fog > SHADER_FOG_VERTEX ? SHADER_FOG_NONE : v->fog;
    if (!p->pixel) {
        if (r.fog && r.fog != SHADER_FOG_VERTEX)
            r.fog = SHADER_FOG_LINEAR; /* any table: the pixel shader has the depth */
        r.points = v->points;
        r.clip_planes = v->clip_planes & 63;
        return r;
    }
    if (p->major >= 3 || !(p->color_mask & 1))
        r.fog = SHADER_FOG_NONE;
    r.w_fog = r.fog && r.fog != SHADER_FOG_VERTEX && v->w_fog;
    for (int i = 0; i < 16; i++) {
        if (p->sampler_dim[i] == D3D9_TEXTURE_2D)
            r.compared |= (uint16_t)(v->compared & 1u << i);
        if (p->sampler_dim[i]) {
            r.spread |= (uint16_t)(v->spread & 1u << i);
            r.decoded |= (uint16_t)(v->decoded & 1u << i);
        }
    }
    r.alpha_func = v->alpha_func >= 1 && v->alpha_func <= 7 && p->color_mask & 1 ? v->alpha_func : 0;
    r.flat = v->flat;
    r.points = r.point_sprite = v->points && v->point_sprite;
    if (p->major == 1 && p->minor < 4)
        r.projected = v->projected;
    return r;
}

static uint32_t location(const struct d3d9_program *p, const struct d3d9_declaration *d)
{
    return p->major < 3 && d->type == D3D9_ADDRESS ? 2u + d->index : d->index;
}

static void decorate(struct d3d9_emit *t, uint32_t id, uint32_t decoration, uint32_t value)
{
    SPIRV_OP(&t->b, decorations, SpvOpDecorate, id, decoration, value);
}

/* A variable of the shader's interface. */
static uint32_t interface_variable(struct d3d9_emit *t, uint32_t storage, uint32_t type, uint32_t decoration,
                                   uint32_t value)
{
    uint32_t pointer = SPIRV_GLOBAL(&t->b, SpvOpTypePointer, 0, storage, type), id = spirv_id(&t->b);

    SPIRV_OP(&t->b, globals, SpvOpVariable, pointer, id, storage);
    decorate(t, id, decoration, value);
    t->interface[t->interface_count++] = id;
    return id;
}

static void declare_types(struct d3d9_emit *t)
{
    struct spirv *b = &t->b;

    t->t_void = spirv_global(b, SpvOpTypeVoid, 0, NULL, 0);
    t->t_bool = spirv_global(b, SpvOpTypeBool, 0, NULL, 0);
    t->t_float = SPIRV_GLOBAL(b, SpvOpTypeFloat, 0, 32);
    t->t_int = SPIRV_GLOBAL(b, SpvOpTypeInt, 0, 32, 1);
    t->t_uint = SPIRV_GLOBAL(b, SpvOpTypeInt, 0, 32, 0);
    t->t_vec2 = SPIRV_GLOBAL(b, SpvOpTypeVector, 0, t->t_float, 2);
    t->t_vec3 = SPIRV_GLOBAL(b, SpvOpTypeVector, 0, t->t_float, 3);
    t->t_vec4 = SPIRV_GLOBAL(b, SpvOpTypeVector, 0, t->t_float, 4);
    t->t_ivec4 = SPIRV_GLOBAL(b, SpvOpTypeVector, 0, t->t_int, 4);
    t->t_uvec4 = SPIRV_GLOBAL(b, SpvOpTypeVector, 0, t->t_uint, 4);
    t->t_bvec4 = SPIRV_GLOBAL(b, SpvOpTypeVector, 0, t->t_bool, 4);
}

static uint32_t private_array(struct d3d9_emit *t, uint32_t n)
{
    uint32_t size = SPIRV_GLOBAL(&t->b, SpvOpConstant, t->t_uint, n);

    return d3d9_private(t, SPIRV_GLOBAL(&t->b, SpvOpTypeArray, 0, t->t_vec4, size));
}

static void declare_registers(struct d3d9_emit *t)
{
    t->var_r = private_array(t, 32);
    t->var_v = private_array(t, 16);
    t->var_al = d3d9_private(t, t->t_int);
    t->var_p = d3d9_private(t, t->t_bvec4);
    if (t->p->pixel) {
        t->var_t = private_array(t, 8);
        t->var_c = private_array(t, 4);
        if (t->p->writes_depth)
            t->var_depth = d3d9_private(t, t->t_float);
    } else {
        t->var_o = private_array(t, 16);
        t->var_a = d3d9_private(t, t->t_ivec4);
    }
}

/* struct { vec4 c[]; ivec4 i[]; uvec4 b[]; vec4 params[]; }, absent parts left out; as struct shader_d3d9_constants */
static void declare_block(struct d3d9_emit *t)
{
    const struct shader_d3d9_constants *k = &t->info->d3d9;
    uint32_t params = (uint32_t)sizeof(struct shader_d3d9_params) / 16;
    const struct {
        uint32_t count, offset, type, *member;
    } parts[] = {
        {k->count_f, 0, t->t_vec4, NULL},
        {k->count_i, k->offset_i, t->t_ivec4, &t->member_i},
        {k->count_b, k->offset_b, t->t_uvec4, &t->member_b},
        {params, k->offset_params, t->t_vec4, &t->member_params},
    };
    uint32_t members[5], n = 0, type = spirv_id(&t->b), pointer;

    members[0] = type;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t array, size;
        if (!parts[i].count)
            continue;
        size = SPIRV_GLOBAL(&t->b, SpvOpConstant, t->t_uint, parts[i].count);
        array = spirv_id(&t->b); /* apart from the private arrays: this one has a stride */
        SPIRV_OP(&t->b, globals, SpvOpTypeArray, array, parts[i].type, size);
        decorate(t, array, SpvDecorationArrayStride, 16);
        SPIRV_OP(&t->b, decorations, SpvOpMemberDecorate, type, n, SpvDecorationOffset, parts[i].offset);
        if (parts[i].member)
            *parts[i].member = n;
        members[1 + n++] = array;
    }
    spirv_emit(&t->b, &t->b.globals, SpvOpTypeStruct, members, 1 + n);
    SPIRV_OP(&t->b, decorations, SpvOpDecorate, type, SpvDecorationBlock);
    pointer = SPIRV_GLOBAL(&t->b, SpvOpTypePointer, 0, SpvStorageClassUniform, type);
    t->block = spirv_id(&t->b);
    SPIRV_OP(&t->b, globals, SpvOpVariable, pointer, t->block, SpvStorageClassUniform);
    decorate(t, t->block, SpvDecorationDescriptorSet, t->set);
    decorate(t, t->block, SpvDecorationBinding, 0);
}

static void declare_samplers(struct d3d9_emit *t)
{
    for (uint32_t i = 0; i < t->info->descriptor_count; i++) {
        const struct shader_descriptor *d = &t->info->descriptors[i];
        uint32_t dim, image, pointer;

        if (d->kind != SHADER_D3D9_SAMPLER)
            continue;
        dim = d->dim == SHADER_DIM_2D ? SpvDim2D : d->dim == SHADER_DIM_CUBE ? SpvDimCube : SpvDim3D;
        image = SPIRV_GLOBAL(&t->b, SpvOpTypeImage, 0, t->t_float, dim, 0, 0, 0, 1, SpvImageFormatUnknown);
        t->sampled_image[d->index] = SPIRV_GLOBAL(&t->b, SpvOpTypeSampledImage, 0, image);
        pointer = SPIRV_GLOBAL(&t->b, SpvOpTypePointer, 0, SpvStorageClassUniformConstant,
                               t->sampled_image[d->index]);
        t->samplers[d->index] = spirv_id(&t->b);
        SPIRV_OP(&t->b, globals, SpvOpVariable, pointer, t->samplers[d->index],
                 SpvStorageClassUniformConstant);
        decorate(t, t->samplers[d->index], SpvDecorationDescriptorSet, t->set);
        decorate(t, t->samplers[d->index], SpvDecorationBinding, d->binding);
    }
}

static void copy_in(struct d3d9_emit *t, uint32_t array, uint32_t index, uint32_t value)
{
    SPIRV_OP(&t->b, code, SpvOpStore, d3d9_element(t, array, d3d9_int(t, (int32_t)index)), value);
}

static const struct d3d9_declaration *find_output(const struct d3d9_program *p, uint32_t usage,
                                                  uint32_t index)
{
    for (uint32_t k = 0; k < p->output_count; k++)
        if (p->outputs[k].usage == usage && p->outputs[k].usage_index == index)
            return &p->outputs[k];
    return NULL;
}

static void vertex_inputs(struct d3d9_emit *t)
{
    const struct d3d9_declaration *d;

    uint32_t seen = 0;

    for (uint32_t k = 0; k < t->p->input_count; k++) {
        uint32_t index = t->p->inputs[k].index, var;
        if (seen >> index & 1)
            continue;
        seen |= 1u << index;
        var = interface_variable(t, SpvStorageClassInput, t->t_vec4, SpvDecorationLocation, index);
        copy_in(t, t->var_v, index, SPIRV_VALUE(&t->b, SpvOpLoad, t->t_vec4, var));
    }
    d = find_output(t->p, D3D9_USAGE_COLOR, 0);
    if (d && t->p->major < 3) /* what writes no diffuse colour, or a part of one, has white in its place */
        copy_in(t, t->var_o, d->index, d3d9_vec4(t, 1, 1, 1, 1));
}

static void pixel_inputs(struct d3d9_emit *t)
{
    const struct d3d9_program *p = t->p;

    for (uint32_t k = 0; k < p->input_count; k++) {
        const struct d3d9_declaration *d = &p->inputs[k];
        uint32_t at = location(p, d), array = p->major < 3 && d->type == D3D9_ADDRESS ? t->var_t : t->var_v,
                 value;

        if (t->inputs[at])
            continue;
        if (t->v.point_sprite && d->usage == D3D9_USAGE_TEXCOORD) {
            if (!t->point_coord)
                t->point_coord = interface_variable(t, SpvStorageClassInput, t->t_vec2, SpvDecorationBuiltIn,
                                                    SpvBuiltInPointCoord);
            t->inputs[at] = t->point_coord;
            value = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_vec2, t->point_coord);
            value = SPIRV_VALUE(&t->b, SpvOpCompositeConstruct, t->t_vec4, value, d3d9_float(t, 0),
                                d3d9_float(t, 1));
        } else {
            t->inputs[at] = interface_variable(t, SpvStorageClassInput, t->t_vec4, SpvDecorationLocation, at);
            if (t->v.flat && d->usage == D3D9_USAGE_COLOR)
                SPIRV_OP(&t->b, decorations, SpvOpDecorate, t->inputs[at], SpvDecorationFlat);
            else if (d->modifier & D3D9_DST_CENTROID)
                SPIRV_OP(&t->b, decorations, SpvOpDecorate, t->inputs[at], SpvDecorationCentroid);
            value = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_vec4, t->inputs[at]);
        }
        copy_in(t, array, d->index, value);
    }
}

static uint32_t load_output(struct d3d9_emit *t, uint32_t slot)
{
    return SPIRV_VALUE(&t->b, SpvOpLoad, t->t_vec4, d3d9_element(t, t->var_o, d3d9_int(t, (int32_t)slot)));
}

static uint32_t saturate(struct d3d9_emit *t, uint32_t v)
{
    return d3d9_glsl3(t, GLSLstd450NClamp, t->t_vec4, v, d3d9_vec4(t, 0, 0, 0, 0), d3d9_vec4(t, 1, 1, 1, 1));
}

/* Writes every location that the pixel shader reads. A ps_3_0 register may gather several usages by mask. */
static void vertex_varyings(struct d3d9_emit *t, const struct d3d9_program *pixel)
{
    for (uint32_t at = 0; at < D3D9_FOG_LOCATION; at++) {
        uint32_t value = 0, out;

        for (uint32_t k = 0; k < pixel->input_count; k++) {
            const struct d3d9_declaration *in = &pixel->inputs[k], *from;
            uint32_t m = in->mask, x;
            if (location(pixel, in) != at)
                continue;
            if (!value)
                value = d3d9_vec4(t, 0, 0, 0, 0);
            from = find_output(t->p, in->usage, in->usage_index);
            if (!from)
                continue;
            x = load_output(t, from->index);
            if (in->usage == D3D9_USAGE_COLOR && t->p->major < 3)
                x = saturate(t, x);
            m &= from->mask;
            value = SPIRV_VALUE(&t->b, SpvOpVectorShuffle, t->t_vec4, x, value, m & 1 ? 0 : 4, m & 2 ? 1 : 5,
                                m & 4 ? 2 : 6, m & 8 ? 3 : 7);
        }
        if (!value)
            continue;
        out = interface_variable(t, SpvStorageClassOutput, t->t_vec4, SpvDecorationLocation, at);
        SPIRV_OP(&t->b, code, SpvOpStore, out, value);
    }
}

/* What fog needs: the factor that the shader computed: 0 of one that computes none. A table goes by where the pixel is. */
static void vertex_fog(struct d3d9_emit *t)
{
    const struct d3d9_declaration *fog = find_output(t->p, D3D9_USAGE_FOG, 0);
    uint32_t out = interface_variable(t, SpvStorageClassOutput, t->t_float, SpvDecorationLocation,
                                      D3D9_FOG_LOCATION),
             x;

    if (fog && t->p->writes_fog)
        x = d3d9_component(t, saturate(t, load_output(t, fog->index)), 0);
    else
        x = d3d9_float(t, 0);
    SPIRV_OP(&t->b, code, SpvOpStore, out, x);
}

/* gl_ClipDistance: one for each plane up to the last that is enabled. */
static void clip_distances(struct d3d9_emit *t, uint32_t position)
{
    uint32_t count = 0, size, array, out, pointer, zero = d3d9_float(t, 0);

    while (t->v.clip_planes >> count)
        count++;
    size = SPIRV_GLOBAL(&t->b, SpvOpConstant, t->t_uint, count);
    array = SPIRV_GLOBAL(&t->b, SpvOpTypeArray, 0, t->t_float, size);
    out = interface_variable(t, SpvStorageClassOutput, array, SpvDecorationBuiltIn, SpvBuiltInClipDistance);
    pointer = SPIRV_GLOBAL(&t->b, SpvOpTypePointer, 0, SpvStorageClassOutput, t->t_float);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t x = zero, at = SPIRV_VALUE(&t->b, SpvOpAccessChain, pointer, out, d3d9_int(t, (int32_t)i));

        if (t->v.clip_planes >> i & 1)
            x = SPIRV_VALUE(&t->b, SpvOpDot, t->t_float, position, d3d9_params(t, D3D9_PARAMS_CLIP + i));
        SPIRV_OP(&t->b, code, SpvOpStore, at, x);
    }
    spirv_capability(&t->b, SpvCapabilityClipDistance);
}

/* What the viewport cuts is where it is then: the viewport itself stays at whole numbers, which matters to samples beside centres. */
static uint32_t centred(struct d3d9_emit *t, uint32_t position)
{
    uint32_t by = SPIRV_VALUE(&t->b, SpvOpVectorTimesScalar, t->t_vec4, d3d9_params(t, D3D9_PARAMS_CENTRE),
                              d3d9_component(t, position, 3));

    return SPIRV_VALUE(&t->b, SpvOpFAdd, t->t_vec4, position, by);
}

static void vertex_end(struct d3d9_emit *t, const struct shader *pixel)
{
    const struct d3d9_declaration *d = find_output(t->p, D3D9_USAGE_POSITION, 0);
    uint32_t position = load_output(t, d->index), out, size;

    out = interface_variable(t, SpvStorageClassOutput, t->t_vec4, SpvDecorationBuiltIn, SpvBuiltInPosition);
    SPIRV_OP(&t->b, code, SpvOpStore, out, centred(t, position));
    if (t->v.clip_planes)
        clip_distances(t, position);
    if (t->v.points) {
        d = find_output(t->p, D3D9_USAGE_PSIZE, 0);
        size = d && t->p->writes_point_size ? d3d9_component(t, load_output(t, d->index), 0)
                                            : d3d9_param(t, 2, 0);
        size = d3d9_glsl3(t, GLSLstd450NClamp, t->t_float, size, d3d9_param(t, 2, 1), d3d9_param(t, 2, 2));
        out = interface_variable(t, SpvStorageClassOutput, t->t_float, SpvDecorationBuiltIn,
                                 SpvBuiltInPointSize);
        SPIRV_OP(&t->b, code, SpvOpStore, out, size);
    }
    if (!pixel)
        return;
    vertex_varyings(t, pixel->d3d9);
    if (t->v.fog == SHADER_FOG_VERTEX && pixel->d3d9->major < 3)
        vertex_fog(t);
}

/* What fog is computed of: the vertex shader's factor, depth, or w, whose inverse a pixel knows. */
static uint32_t fog_source(struct d3d9_emit *t)
{
    uint32_t x;

    if (t->v.fog == SHADER_FOG_VERTEX)
        return SPIRV_VALUE(&t->b, SpvOpLoad, t->t_float,
                           interface_variable(t, SpvStorageClassInput, t->t_float, SpvDecorationLocation,
                                              D3D9_FOG_LOCATION));
    x = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_vec4, t->frag_coord);
    x = d3d9_component(t, x, t->v.w_fog ? 3 : 2);
    return t->v.w_fog ? SPIRV_VALUE(&t->b, SpvOpFDiv, t->t_float, d3d9_float(t, 1), x) : x;
}

static uint32_t fog_factor(struct d3d9_emit *t)
{
    uint32_t z = fog_source(t), x;

    switch (t->v.fog) {
    case SHADER_FOG_VERTEX:
        return z;
    case SHADER_FOG_LINEAR:
        x = SPIRV_VALUE(&t->b, SpvOpFSub, t->t_float, d3d9_param(t, 1, 1), d3d9_param(t, 1, 0));
        z = SPIRV_VALUE(&t->b, SpvOpFSub, t->t_float, d3d9_param(t, 1, 1), z);
        x = SPIRV_VALUE(&t->b, SpvOpFDiv, t->t_float, z, x);
        break;
    default:
        x = SPIRV_VALUE(&t->b, SpvOpFMul, t->t_float, z, d3d9_param(t, 1, 2));
        if (t->v.fog == SHADER_FOG_EXP2)
            x = SPIRV_VALUE(&t->b, SpvOpFMul, t->t_float, x, x);
        x = SPIRV_VALUE(&t->b, SpvOpFNegate, t->t_float, x);
        x = d3d9_glsl1(t, GLSLstd450Exp, t->t_float, x);
        break;
    }
    return d3d9_glsl3(t, GLSLstd450NClamp, t->t_float, x, d3d9_float(t, 0), d3d9_float(t, 1));
}

static uint32_t apply_fog(struct d3d9_emit *t, uint32_t colour)
{
    uint32_t f = d3d9_splat(t, fog_factor(t)), fog;
    uint32_t r = d3d9_param(t, 0, 0), g = d3d9_param(t, 0, 1), b = d3d9_param(t, 0, 2);

    fog = SPIRV_VALUE(&t->b, SpvOpCompositeConstruct, t->t_vec4, r, g, b, d3d9_float(t, 0));
    fog = d3d9_glsl3(t, GLSLstd450FMix, t->t_vec4, fog, colour, f);
    return SPIRV_VALUE(&t->b, SpvOpVectorShuffle, t->t_vec4, fog, colour, 0, 1, 2, 7);
}

/* Kills where `alpha FUNC reference` is false. */
static void alpha_test(struct d3d9_emit *t, uint32_t colour)
{
    static const uint32_t fails[] = {0,
                                     0,
                                     SpvOpFUnordGreaterThanEqual,
                                     SpvOpFUnordNotEqual,
                                     SpvOpFUnordGreaterThan,
                                     SpvOpFUnordLessThanEqual,
                                     SpvOpFOrdEqual,
                                     SpvOpFUnordLessThan};
    uint32_t c;

    if (t->v.alpha_func == 1)
        c = spirv_global(&t->b, SpvOpConstantTrue, t->t_bool, NULL, 0);
    else
        c = SPIRV_VALUE(&t->b, fails[t->v.alpha_func], t->t_bool, d3d9_component(t, colour, 3),
                        d3d9_param(t, 1, 3));
    d3d9_kill_if(t, c);
}

static void pixel_end(struct d3d9_emit *t)
{
    const struct d3d9_program *p = t->p;

    for (uint32_t n = 0; n < 4; n++) {
        uint32_t from = p->major == 1 ? t->var_r : t->var_c, colour, out;
        if (!(p->color_mask >> n & 1))
            continue;
        colour = SPIRV_VALUE(&t->b, SpvOpLoad, t->t_vec4, d3d9_element(t, from, d3d9_int(t, (int32_t)n)));
        if (n == 0 && t->v.alpha_func)
            alpha_test(t, colour);
        if (n == 0 && t->v.fog)
            colour = apply_fog(t, colour);
        out = interface_variable(t, SpvStorageClassOutput, t->t_vec4, SpvDecorationLocation, n);
        SPIRV_OP(&t->b, code, SpvOpStore, out, colour);
    }
    if (p->writes_depth) {
        uint32_t out = interface_variable(t, SpvStorageClassOutput, t->t_float, SpvDecorationBuiltIn,
                                          SpvBuiltInFragDepth);
        SPIRV_OP(&t->b, code, SpvOpStore, out, SPIRV_VALUE(&t->b, SpvOpLoad, t->t_float, t->var_depth));
    }
}

static void pixel_system_values(struct d3d9_emit *t)
{
    bool used[2] = {t->v.fog && t->v.fog != SHADER_FOG_VERTEX, false};

    for (uint32_t k = 0; k < t->p->code_count; k++)
        for (uint32_t n = 0; n < t->p->code[k].src_count; n++)
            if (t->p->code[k].src[n].type == D3D9_MISC)
                used[t->p->code[k].src[n].index & 1] = true;
    if (used[0])
        t->frag_coord =
            interface_variable(t, SpvStorageClassInput, t->t_vec4, SpvDecorationBuiltIn, SpvBuiltInFragCoord);
    if (used[1])
        t->front_facing = interface_variable(t, SpvStorageClassInput, t->t_bool, SpvDecorationBuiltIn,
                                             SpvBuiltInFrontFacing);
}

static void begin_function(struct d3d9_emit *t, uint32_t id)
{
    uint32_t type = SPIRV_GLOBAL(&t->b, SpvOpTypeFunction, 0, t->t_void);

    SPIRV_OP(&t->b, code, SpvOpFunction, t->t_void, id, SpvFunctionControlMaskNone, type);
    SPIRV_OP(&t->b, code, SpvOpLabel, spirv_id(&t->b));
}

static void end_function(struct d3d9_emit *t)
{
    spirv_emit(&t->b, &t->b.code, SpvOpReturn, NULL, 0);
    spirv_emit(&t->b, &t->b.code, SpvOpFunctionEnd, NULL, 0);
}

/* One instruction sequence: main or a subroutine, up to its ret. Returns the position behind it. */
static uint32_t body(struct d3d9_emit *t, uint32_t at)
{
    for (; at < t->p->code_count; at++) {
        const struct d3d9_instruction *i = &t->p->code[at];
        if (i->opcode == D3D9_RET)
            return at + 1;
        t->defer = at + 1 < t->p->code_count && i[1].coissue;
        d3d9_instruction(t, i);
        if (!t->defer)
            d3d9_flush(t);
    }
    return at;
}

static void functions(struct d3d9_emit *t, const struct shader *pixel, uint32_t main_id)
{
    uint32_t at;

    for (uint32_t k = 0; k < t->p->code_count; k++)
        if (t->p->code[k].opcode == D3D9_LABEL_OP)
            t->labels[t->p->code[k].src[0].index] = spirv_id(&t->b);
    begin_function(t, main_id);
    if (t->p->pixel)
        pixel_inputs(t);
    else
        vertex_inputs(t);
    at = body(t, 0);
    if (t->p->pixel)
        pixel_end(t);
    else
        vertex_end(t, pixel);
    end_function(t);
    while (at < t->p->code_count) {
        begin_function(t, t->labels[t->p->code[at].src[0].index]);
        at = body(t, at + 1);
        end_function(t);
    }
}

static void entry_point(struct d3d9_emit *t, uint32_t main_id)
{
    uint32_t words[4 + 64] = {t->p->pixel ? SpvExecutionModelFragment : SpvExecutionModelVertex, main_id,
                              0x6e69616d, 0};

    memcpy(words + 4, t->interface, t->interface_count * sizeof(*words));
    spirv_emit(&t->b, &t->b.entry, SpvOpEntryPoint, words, 4 + t->interface_count);
    if (t->p->pixel)
        SPIRV_OP(&t->b, modes, SpvOpExecutionMode, main_id, SpvExecutionModeOriginUpperLeft);
    if (t->p->writes_depth)
        SPIRV_OP(&t->b, modes, SpvOpExecutionMode, main_id, SpvExecutionModeDepthReplacing);
}

int d3d9_translate(const struct shader *s, const struct shader *pixel, const struct shader_variant *v,
                   uint32_t **words, size_t *count, struct error *e)
{
    static const uint32_t import[] = {0x4c534c47, 0x6474732e, 0x3035342e, 0}; /* "GLSL.std.450" */
    struct d3d9_emit *t = calloc(1, sizeof(*t));
    uint32_t main_id, name[5];
    int ret;

    if (!t)
        return error_set(e, -ENOMEM, "no memory to translate a shader");
    t->p = s->d3d9;
    t->info = &s->info;
    t->v = d3d9_relevant(s, v);
    t->set = exec_stage_set(s->info.stage);
    spirv_init(&t->b);
    spirv_capability(&t->b, SpvCapabilityShader);
    name[0] = t->glsl = spirv_id(&t->b);
    memcpy(name + 1, import, sizeof(import));
    spirv_emit(&t->b, &t->b.imports, SpvOpExtInstImport, name, 5);
    main_id = spirv_id(&t->b);
    declare_types(t);
    declare_registers(t);
    declare_block(t);
    declare_samplers(t);
    if (t->p->pixel)
        pixel_system_values(t);
    functions(t, pixel, main_id);
    entry_point(t, main_id);
    *words = spirv_finish(&t->b, count);
    free(t);
    if (!*words)
        return error_set(e, -ENOMEM, "no memory for a translated shader");
    ret = shader_validate(*words, *count, e);
    if (ret) {
        free(*words);
        *words = NULL;
    }
    return ret;
}
