/* SPDX-License-Identifier: MIT */
#include "base/dxbc/sm4_tokens.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/* What follows the opcode token, as sm4_tokens.h says. Opcodes without a format do not occur in what compilers emit for one
 * self-contained program (classes, interfaces), or are reserved. */
/* clang-format off */
const struct sm4_op sm4_ops[] = {
    {"add", "doo"}, {"and", "doo"}, {"break", ""}, {"breakc", "o"}, {"call", NULL}, {"callc", NULL}, {"case", "o"},
    {"continue", ""}, {"continuec", "o"}, {"cut", ""}, {"default", ""}, {"deriv_rtx", "do"}, {"deriv_rty", "do"},
    {"discard", "o"}, {"div", "doo"}, {"dp2", "doo"}, {"dp3", "doo"}, {"dp4", "doo"}, {"else", ""}, {"emit", ""},
    {"emit_then_cut", ""}, {"endif", ""}, {"endloop", ""}, {"endswitch", ""}, {"eq", "doo"}, {"exp", "do"},
    {"frc", "do"}, {"ftoi", "do"}, {"ftou", "do"}, {"ge", "doo"}, {"iadd", "doo"}, {"if", "o"}, {"ieq", "doo"},
    {"ige", "doo"}, {"ilt", "doo"}, {"imad", "dooo"}, {"imax", "doo"}, {"imin", "doo"}, {"imul", "ddoo"},
    {"ine", "doo"}, {"ineg", "do"}, {"ishl", "doo"}, {"ishr", "doo"}, {"itof", "do"}, {"label", NULL}, {"ld", "dot"},
    {"ld_ms", "doto"}, {"log", "do"}, {"loop", ""}, {"lt", "doo"}, {"mad", "dooo"}, {"min", "doo"}, {"max", "doo"},
    {"customdata", ""}, {"mov", "do"}, {"movc", "dooo"}, {"mul", "doo"}, {"ne", "doo"}, {"nop", ""}, {"not", "do"},
    {"or", "doo"}, {"resinfo", "dox"}, {"ret", ""}, {"retc", "o"}, {"round_ne", "do"}, {"round_ni", "do"},
    {"round_pi", "do"}, {"round_z", "do"}, {"rsq", "do"}, {"sample", "dots"}, {"sample_c", "dotso"},
    {"sample_c_lz", "dotso"}, {"sample_l", "dotso"}, {"sample_d", "dotsoo"}, {"sample_b", "dotso"}, {"sqrt", "do"},
    {"switch", "o"}, {"sincos", "ddo"}, {"udiv", "ddoo"}, {"ult", "doo"}, {"uge", "doo"}, {"umul", "ddoo"},
    {"umad", "dooo"}, {"umax", "doo"}, {"umin", "doo"}, {"ushr", "doo"}, {"utof", "do"}, {"xor", "doo"},
    {"dcl_resource", "Dw"}, {"dcl_constantbuffer", "D"}, {"dcl_sampler", "D"}, {"dcl_index_range", "Dw"},
    {"dcl_output_topology", ""}, {"dcl_input_primitive", ""}, {"dcl_max_output_vertex_count", "w"}, {"dcl_input", "D"},
    {"dcl_input_sgv", "Dw"}, {"dcl_input_siv", "Dw"}, {"dcl_input_ps", "D"}, {"dcl_input_ps_sgv", "Dw"},
    {"dcl_input_ps_siv", "Dw"}, {"dcl_output", "D"}, {"dcl_output_sgv", "Dw"}, {"dcl_output_siv", "Dw"},
    {"dcl_temps", "w"}, {"dcl_indexable_temp", "www"}, {"dcl_global_flags", ""}, {"reserved", NULL}, {"lod", "dots"},
    {"gather4", "dots"}, {"sample_pos", "dqo"}, {"sample_info", "dq"}, {"reserved", NULL}, {"hs_decls", ""},
    {"hs_control_point_phase", ""}, {"hs_fork_phase", ""}, {"hs_join_phase", ""}, {"emit_stream", "z"},
    {"cut_stream", "z"}, {"emit_then_cut_stream", "z"}, {"interface_call", NULL}, {"bufinfo", "dx"},
    {"deriv_rtx_coarse", "do"}, {"deriv_rtx_fine", "do"}, {"deriv_rty_coarse", "do"}, {"deriv_rty_fine", "do"},
    {"gather4_c", "dotso"}, {"gather4_po", "doots"}, {"gather4_po_c", "dootso"}, {"rcp", "do"}, {"f32tof16", "do"},
    {"f16tof32", "do"}, {"uaddc", "ddoo"}, {"usubb", "ddoo"}, {"countbits", "do"}, {"firstbit_hi", "do"},
    {"firstbit_lo", "do"}, {"firstbit_shi", "do"}, {"ubfe", "dooo"}, {"ibfe", "dooo"}, {"bfi", "doooo"},
    {"bfrev", "do"}, {"swapc", "ddooo"}, {"dcl_stream", "D"}, {"dcl_function_body", NULL},
    {"dcl_function_table", NULL}, {"dcl_interface", NULL}, {"dcl_input_control_point_count", ""},
    {"dcl_output_control_point_count", ""}, {"dcl_tess_domain", ""}, {"dcl_tess_partitioning", ""},
    {"dcl_tess_output_primitive", ""}, {"dcl_hs_max_tessfactor", "w"}, {"dcl_hs_fork_phase_instance_count", "w"},
    {"dcl_hs_join_phase_instance_count", "w"}, {"dcl_thread_group", "www"}, {"dcl_uav_typed", "Dw"},
    {"dcl_uav_raw", "D"}, {"dcl_uav_structured", "Dw"}, {"dcl_tgsm_raw", "Dw"}, {"dcl_tgsm_structured", "Dww"},
    {"dcl_resource_raw", "D"}, {"dcl_resource_structured", "Dw"}, {"ld_uav_typed", "dou"}, {"store_uav_typed", "uoo"},
    {"ld_raw", "dom"}, {"store_raw", "voo"}, {"ld_structured", "doom"}, {"store_structured", "vooo"},
    {"atomic_and", "voo"}, {"atomic_or", "voo"}, {"atomic_xor", "voo"}, {"atomic_cmp_store", "vooo"},
    {"atomic_iadd", "voo"}, {"atomic_imax", "voo"}, {"atomic_imin", "voo"}, {"atomic_umax", "voo"},
    {"atomic_umin", "voo"}, {"imm_atomic_alloc", "du"}, {"imm_atomic_consume", "du"}, {"imm_atomic_iadd", "dvoo"},
    {"imm_atomic_and", "dvoo"}, {"imm_atomic_or", "dvoo"}, {"imm_atomic_xor", "dvoo"}, {"imm_atomic_exch", "dvoo"},
    {"imm_atomic_cmp_exch", "dvooo"}, {"imm_atomic_imax", "dvoo"}, {"imm_atomic_imin", "dvoo"},
    {"imm_atomic_umax", "dvoo"}, {"imm_atomic_umin", "dvoo"}, {"sync", ""}, {"dadd", "doo"}, {"dmax", "doo"},
    {"dmin", "doo"}, {"dmul", "doo"}, {"deq", "doo"}, {"dge", "doo"}, {"dlt", "doo"}, {"dne", "doo"}, {"dmov", "do"},
    {"dmovc", "dooo"}, {"dtof", "do"}, {"ftod", "do"}, {"eval_snapped", "dio"}, {"eval_sample_index", "dio"},
    {"eval_centroid", "di"}, {"dcl_gs_instance_count", "w"},
};
/* clang-format on */
const uint32_t sm4_op_count = sizeof(sm4_ops) / sizeof(sm4_ops[0]);

uint32_t sm4_word(const struct sm4 *p, uint32_t at)
{
    uint32_t v = 0;

    if (at < p->words)
        memcpy(&v, p->data + 4 * (size_t)at, 4);
    return le32toh(v);
}

int sm4_open(struct sm4 *p, const uint8_t *data, uint32_t size, struct error *e)
{
    uint32_t version;

    *p = (struct sm4){.data = data, .words = size / 4};
    if (size < 8)
        return error_set(e, -EINVAL, "DXBC: program chunk of %u bytes has no header", size);
    version = sm4_word(p, 0);
    p->minor = version & 15;
    p->major = version >> 4 & 15;
    p->type = version >> 16;
    if (sm4_word(p, 1) < 2 || sm4_word(p, 1) > p->words)
        return error_set(e, -EINVAL, "DXBC: program says it has %u words, its chunk has %u", sm4_word(p, 1),
                         p->words);
    p->words = sm4_word(p, 1);
    p->at = 2;
    return 0;
}

/* Register parts of indices are operands themselves; those may not be relative again beyond one level, as in hardware. */
int sm4_operand(const struct sm4 *p, uint32_t *at, uint32_t end, struct sm4_operand *o, int depth,
                struct error *e)
{
    uint32_t start = *at, token = sm4_word(p, *at), extended, n;

    *o = (struct sm4_operand){0};
    if (*at >= end)
        return error_set(e, -EINVAL, "DXBC: operand at word %u is missing", start);
    ++*at;
    o->type = token >> 12 & 255;
    o->components = (token & 3) == 2 ? 4 : token & 3;
    o->dims = token >> 20 & 3;
    o->select = token >> 2 & 3;
    o->swizzle = token >> 4 & (o->select == 0 ? 15 : o->select == 1 ? 255 : 3);
    if ((token & 3) == 3 || o->type >= SM4_REGISTER_COUNT - 1 || (o->components == 4 && o->select == 3))
        return error_set(e, -EINVAL, "DXBC: operand at word %u has the impossible token 0x%08x", start,
                         token);
    for (extended = token; extended >> 31; ++*at) {
        if (*at >= end)
            return error_set(e, -EINVAL, "DXBC: operand at word %u is cut", start);
        extended = sm4_word(p, *at);
        if ((extended & 63) == 1)
            o->modifier = extended >> 6 & 3;
    }
    if (o->type == SM4_IMM32 || o->type == SM4_IMM64) {
        n = (o->components == 4 ? 4u : 1u) * (o->type == SM4_IMM64 ? 2 : 1);
        if (!o->components || o->type == SM4_IMM64 || o->dims || n > end - *at)
            return error_set(e, -EINVAL, "DXBC: immediate at word %u is malformed", start);
        for (o->value_count = 0; o->value_count < n; o->value_count++)
            o->value[o->value_count] = sm4_word(p, (*at)++);
        return 0;
    }
    for (uint32_t d = 0; d < o->dims; d++) {
        uint32_t kind = token >> (22 + 3 * d) & 7;
        struct sm4_operand inner;

        if (kind != 0 && kind != 2 && kind != 3)
            return error_set(e, -EINVAL, "DXBC: operand at word %u has index kind %u", start, kind);
        if (kind != 2) {
            if (*at >= end)
                return error_set(e, -EINVAL, "DXBC: operand at word %u is cut", start);
            o->index[d] = sm4_word(p, (*at)++);
        }
        if (kind != 0) {
            int ret;
            if (depth > 1)
                return error_set(e, -EINVAL, "DXBC: operand at word %u is indexed too deeply", start);
            o->relative |= 1u << d;
            o->relative_at[d] = *at;
            ret = sm4_operand(p, at, end, &inner, depth + 1, e);
            if (ret)
                return ret;
        }
    }
    return 0;
}

/* Words that model 5.1 has behind a declaration's others: the space, and in front of it the size of a constant buffer. */
static uint32_t more_words(const struct sm4 *p, uint32_t opcode)
{
    if (p->major != 5 || !p->minor)
        return 0;
    switch (opcode) {
    case SM4_OP_DCL_CONSTANT_BUFFER:
        return 2;
    case SM4_OP_DCL_RESOURCE:
    case SM4_OP_DCL_SAMPLER:
    case SM4_OP_DCL_UAV_TYPED:
    case SM4_OP_DCL_UAV_RAW:
    case SM4_OP_DCL_UAV_STRUCTURED:
    case SM4_OP_DCL_RESOURCE_RAW:
    case SM4_OP_DCL_RESOURCE_STRUCTURED:
        return 1;
    default:
        return 0;
    }
}

int sm4_next(struct sm4 *p, struct sm4_instruction *i, struct error *e)
{
    uint32_t at = p->at, end, extended;
    const char *format;

    if (at >= p->words)
        return 0;
    i->at = at;
    i->token = sm4_word(p, at);
    i->opcode = i->token & 0x7ff;
    i->operand_count = 0;
    if (i->opcode >= sm4_op_count || !sm4_ops[i->opcode].format)
        return error_set(e, -EINVAL, "DXBC: word %u has the unknown opcode %u", at, i->opcode);
    i->length = i->opcode == SM4_OP_CUSTOMDATA ? sm4_word(p, at + 1) : i->token >> 24 & 127;
    if (i->length == 0 || i->length > p->words - at || (i->opcode == SM4_OP_CUSTOMDATA && i->length < 2))
        return error_set(e, -EINVAL, "DXBC: %s at word %u has length %u, %u words are left",
                         sm4_ops[i->opcode].name, at, i->length, p->words - at);
    end = at + i->length;
    p->at = end;
    if (i->opcode == SM4_OP_CUSTOMDATA) {
        i->extra_at = at + 2;
        return 1;
    }
    for (extended = i->token, at++; extended >> 31; at++) {
        if (at >= end)
            return error_set(e, -EINVAL, "DXBC: %s at word %u is cut", sm4_ops[i->opcode].name, i->at);
        extended = sm4_word(p, at);
    }
    for (format = sm4_ops[i->opcode].format; *format && *format != 'w'; format++) {
        int ret = sm4_operand(p, &at, end, &i->operands[i->operand_count], 0, e);
        if (ret) {
            error_prefix(e, "%s at word %u", sm4_ops[i->opcode].name, i->at);
            return ret;
        }
        i->operand_count++;
    }
    i->extra_at = at;
    if (i->opcode == SM4_OP_SAMPLE_POS && end - at == 1 && !sm4_word(p, at))
        return 1; /* compilers write a word of nothing behind the sample of a texture's */
    if (end - at != strlen(format) + more_words(p, i->opcode))
        return error_set(e, -EINVAL, "DXBC: %s at word %u has %u words behind its operands",
                         sm4_ops[i->opcode].name, i->at, end - at);
    return 1;
}
