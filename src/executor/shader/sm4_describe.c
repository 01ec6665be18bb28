/* SPDX-License-Identifier: MIT */
/* sm4_describe.c: what the declarations of a checked program say. */
#include "executor/shader/sm4.h"

#include <errno.h>

static struct shader_descriptor *add_descriptor(struct sm4_facts *f, enum shader_descriptor_kind kind,
                                                uint32_t index)
{
    struct shader_descriptor *d;

    if (f->descriptor_count == f->descriptor_capacity)
        return NULL;
    d = &f->descriptors[f->descriptor_count++];
    *d = (struct shader_descriptor){.kind = (uint8_t)kind, .index = index, .count = 1};
    return d;
}

static uint8_t component_of(uint32_t return_type)
{
    return (return_type & 15) == 3   ? SHADER_COMPONENT_SINT
           : (return_type & 15) == 4 ? SHADER_COMPONENT_UINT
                                     : SHADER_COMPONENT_FLOAT;
}

static bool describe_descriptor(const struct sm4 *p, const struct sm4_instruction *i, struct sm4_facts *f)
{
    uint32_t index = i->operands[0].index[0], w = sm4_word(p, i->extra_at);
    uint32_t dim = i->token >> 11 & 31;
    struct shader_descriptor *d = NULL;

    switch (i->opcode) {
    case SM4_OP_DCL_CONSTANT_BUFFER:
        d = add_descriptor(f, SHADER_CBV, index);
        if (d)
            d->size = 16 * (i->operands[0].index[1] ? i->operands[0].index[1] : 4096);
        return d;
    case SM4_OP_DCL_SAMPLER:
        d = add_descriptor(f, SHADER_SAMPLER, index);
        if (d)
            d->comparison = (i->token >> 11 & 15) == 1;
        return d;
    case SM4_OP_DCL_RESOURCE:
    case SM4_OP_DCL_UAV_TYPED:
        if (i->opcode == SM4_OP_DCL_RESOURCE)
            d = add_descriptor(f, dim == SHADER_DIM_BUFFER ? SHADER_SRV_TYPED : SHADER_SRV_TEXTURE, index);
        else
            d = add_descriptor(f, dim == SHADER_DIM_BUFFER ? SHADER_UAV_TYPED : SHADER_UAV_TEXTURE, index);
        if (d) {
            d->dim = (uint8_t)dim;
            d->component = component_of(w);
        }
        return d;
    default: {
        bool uav = i->opcode == SM4_OP_DCL_UAV_RAW || i->opcode == SM4_OP_DCL_UAV_STRUCTURED;
        bool raw = i->opcode == SM4_OP_DCL_UAV_RAW || i->opcode == SM4_OP_DCL_RESOURCE_RAW;
        d = add_descriptor(f,
                           uav ? (raw ? SHADER_UAV_RAW : SHADER_UAV_STRUCTURED)
                               : (raw ? SHADER_SRV_RAW : SHADER_SRV_STRUCTURED),
                           index);
        if (d) {
            d->dim = SHADER_DIM_BUFFER;
            d->component = SHADER_COMPONENT_UINT;
            d->size = raw ? 0 : w;
        }
        return d;
    }
    }
}

static struct shader_descriptor *find_uav(struct sm4_facts *f, uint32_t index, bool counter)
{
    for (uint32_t k = 0; k < f->descriptor_count; k++) {
        struct shader_descriptor *d = &f->descriptors[k];
        bool is_uav = d->kind >= SHADER_UAV_TEXTURE && d->kind <= SHADER_UAV_STRUCTURED;
        if (d->index == index && (counter ? d->kind == SHADER_UAV_COUNTER : is_uav))
            return d;
    }
    return NULL;
}

/* The u# operand of an instruction: loads name it after the destination, atomics first or second. */
static int describe_uav_use(const struct sm4_instruction *i, struct sm4_facts *f, struct error *e)
{
    for (uint32_t k = 0; k < i->operand_count; k++) {
        struct shader_descriptor *d;
        if (i->operands[k].type != SM4_UAV)
            continue;
        d = find_uav(f, i->operands[k].index[0], false);
        if (d && (i->opcode == SM4_OP_LD_UAV_TYPED || i->opcode >= SM4_OP_ATOMIC_AND))
            d->uav_read = true;
        if ((i->opcode == SM4_OP_IMM_ATOMIC_ALLOC || i->opcode == SM4_OP_IMM_ATOMIC_CONSUME) &&
            !find_uav(f, i->operands[k].index[0], true)) {
            if (!d || d->kind != SHADER_UAV_STRUCTURED)
                return error_set(e, -EINVAL, "DXBC: %s at word %u counts a buffer that is not structured",
                                 sm4_ops[i->opcode].name, i->at);
            if (!add_descriptor(f, SHADER_UAV_COUNTER, i->operands[k].index[0]))
                return error_set(e, -EINVAL, "DXBC: program declares too many resources");
        }
    }
    return 0;
}

static void describe_topology(const struct sm4_instruction *i, struct shader_info *info)
{
    uint32_t v = i->token >> 11 & 63;

    switch (i->opcode) {
    case SM4_OP_DCL_GS_INPUT:
        info->gs_input = v == 1             ? SHADER_PRIMITIVE_POINTS
                         : v == 2           ? SHADER_PRIMITIVE_LINES
                         : v == 3           ? SHADER_PRIMITIVE_TRIANGLES
                         : v == 6           ? SHADER_PRIMITIVE_LINES_ADJ
                         : v == 7           ? SHADER_PRIMITIVE_TRIANGLES_ADJ
                         : v >= 8 && v < 40 ? SHADER_PRIMITIVE_PATCH
                                            : SHADER_PRIMITIVE_NONE;
        if (info->gs_input == SHADER_PRIMITIVE_PATCH)
            info->hs_input_points = v - 7;
        break;
    case SM4_OP_DCL_GS_OUTPUT:
        info->gs_output = v == 1   ? SHADER_PRIMITIVE_POINTS
                          : v == 3 ? SHADER_PRIMITIVE_LINE_STRIP
                          : v == 5 ? SHADER_PRIMITIVE_TRIANGLE_STRIP
                                   : SHADER_PRIMITIVE_NONE;
        break;
    case SM4_OP_DCL_INPUT_POINTS:
        info->hs_input_points = v;
        break;
    case SM4_OP_DCL_OUTPUT_POINTS:
        info->hs_output_points = v;
        break;
    case SM4_OP_DCL_TESS_DOMAIN:
        info->tess_domain = v & 3;
        break;
    case SM4_OP_DCL_TESS_PARTITIONING:
        info->tess_partitioning = v & 7;
        break;
    case SM4_OP_DCL_TESS_OUTPUT:
        info->tess_output = v & 7;
        break;
    default:
        break;
    }
}

enum { SAMPLE_INFO = 111 };

int sm4_describe(const struct sm4 *program, struct sm4_facts *f, struct error *e)
{
    struct sm4 p = *program;
    struct shader_info *info = f->info;
    struct sm4_instruction i;
    int ret;

    while ((ret = sm4_next(&p, &i, e)) > 0) {
        switch (i.opcode) {
        case SM4_OP_DCL_CONSTANT_BUFFER:
        case SM4_OP_DCL_SAMPLER:
        case SM4_OP_DCL_RESOURCE:
        case SM4_OP_DCL_UAV_TYPED:
        case SM4_OP_DCL_UAV_RAW:
        case SM4_OP_DCL_UAV_STRUCTURED:
        case SM4_OP_DCL_RESOURCE_RAW:
        case SM4_OP_DCL_RESOURCE_STRUCTURED:
            if (!describe_descriptor(&p, &i, f))
                return error_set(e, -EINVAL, "DXBC: program declares too many resources");
            break;
        case SM4_OP_DCL_THREAD_GROUP:
            for (uint32_t k = 0; k < 3; k++)
                info->group_size[k] = sm4_word(&p, i.extra_at + k);
            break;
        case SM4_OP_DCL_MAX_VERTICES:
            info->gs_max_vertices = sm4_word(&p, i.extra_at);
            break;
        case SM4_OP_DCL_OUTPUT:
            if (info->stage == EXEC_PS && i.operands[0].type == SM4_OUTPUT && i.operands[0].index[0] < 8)
                info->target_mask |= 1u << i.operands[0].index[0];
            if (i.operands[0].type == SM4_OUTPUT_DEPTH || i.operands[0].type == SM4_OUTPUT_DEPTH_GE ||
                i.operands[0].type == SM4_OUTPUT_DEPTH_LE)
                info->writes_depth = true;
            break;
        case SM4_OP_DISCARD:
            info->uses_kill = true;
            break;
        case SAMPLE_INFO:
            info->asks_samples |= i.operands[1].type == SM4_RASTERIZER;
            break;
        default:
            describe_topology(&i, info);
            ret = describe_uav_use(&i, f, e);
            if (ret)
                return ret;
            break;
        }
    }
    return ret;
}
