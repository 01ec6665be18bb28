#include "executor/sm4.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/* What follows the opcode token: 'o' an operand, 'w' a plain word. Opcodes without a format do not occur in what
 * compilers emit for one self-contained program (classes, interfaces), or are reserved. */
const struct sm4_op sm4_ops[] = {
    {"add", "ooo"}, {"and", "ooo"}, {"break", ""}, {"breakc", "o"}, {"call", NULL}, {"callc", NULL}, {"case", "o"},
    {"continue", ""}, {"continuec", "o"}, {"cut", ""}, {"default", ""}, {"deriv_rtx", "oo"}, {"deriv_rty", "oo"},
    {"discard", "o"}, {"div", "ooo"}, {"dp2", "ooo"}, {"dp3", "ooo"}, {"dp4", "ooo"}, {"else", ""}, {"emit", ""},
    {"emit_then_cut", ""}, {"endif", ""}, {"endloop", ""}, {"endswitch", ""}, {"eq", "ooo"}, {"exp", "oo"},
    {"frc", "oo"}, {"ftoi", "oo"}, {"ftou", "oo"}, {"ge", "ooo"}, {"iadd", "ooo"}, {"if", "o"}, {"ieq", "ooo"},
    {"ige", "ooo"}, {"ilt", "ooo"}, {"imad", "oooo"}, {"imax", "ooo"}, {"imin", "ooo"}, {"imul", "oooo"},
    {"ine", "ooo"}, {"ineg", "oo"}, {"ishl", "ooo"}, {"ishr", "ooo"}, {"itof", "oo"}, {"label", NULL}, {"ld", "ooo"},
    {"ld_ms", "oooo"}, {"log", "oo"}, {"loop", ""}, {"lt", "ooo"}, {"mad", "oooo"}, {"min", "ooo"}, {"max", "ooo"},
    {"customdata", ""}, {"mov", "oo"}, {"movc", "oooo"}, {"mul", "ooo"}, {"ne", "ooo"}, {"nop", ""}, {"not", "oo"},
    {"or", "ooo"}, {"resinfo", "ooo"}, {"ret", ""}, {"retc", "o"}, {"round_ne", "oo"}, {"round_ni", "oo"},
    {"round_pi", "oo"}, {"round_z", "oo"}, {"rsq", "oo"}, {"sample", "oooo"}, {"sample_c", "ooooo"},
    {"sample_c_lz", "ooooo"}, {"sample_l", "ooooo"}, {"sample_d", "oooooo"}, {"sample_b", "ooooo"}, {"sqrt", "oo"},
    {"switch", "o"}, {"sincos", "ooo"}, {"udiv", "oooo"}, {"ult", "ooo"}, {"uge", "ooo"}, {"umul", "oooo"},
    {"umad", "oooo"}, {"umax", "ooo"}, {"umin", "ooo"}, {"ushr", "ooo"}, {"utof", "oo"}, {"xor", "ooo"},
    {"dcl_resource", "ow"}, {"dcl_constantbuffer", "o"}, {"dcl_sampler", "o"}, {"dcl_index_range", "ow"},
    {"dcl_output_topology", ""}, {"dcl_input_primitive", ""}, {"dcl_max_output_vertex_count", "w"}, {"dcl_input", "o"},
    {"dcl_input_sgv", "ow"}, {"dcl_input_siv", "ow"}, {"dcl_input_ps", "o"}, {"dcl_input_ps_sgv", "ow"},
    {"dcl_input_ps_siv", "ow"}, {"dcl_output", "o"}, {"dcl_output_sgv", "ow"}, {"dcl_output_siv", "ow"},
    {"dcl_temps", "w"}, {"dcl_indexable_temp", "www"}, {"dcl_global_flags", ""}, {"reserved", NULL}, {"lod", "oooo"},
    {"gather4", "oooo"}, {"sample_pos", "ooo"}, {"sample_info", "oo"}, {"reserved", NULL}, {"hs_decls", ""},
    {"hs_control_point_phase", ""}, {"hs_fork_phase", ""}, {"hs_join_phase", ""}, {"emit_stream", "o"},
    {"cut_stream", "o"}, {"emit_then_cut_stream", "o"}, {"interface_call", NULL}, {"bufinfo", "oo"},
    {"deriv_rtx_coarse", "oo"}, {"deriv_rtx_fine", "oo"}, {"deriv_rty_coarse", "oo"}, {"deriv_rty_fine", "oo"},
    {"gather4_c", "ooooo"}, {"gather4_po", "ooooo"}, {"gather4_po_c", "oooooo"}, {"rcp", "oo"}, {"f32tof16", "oo"},
    {"f16tof32", "oo"}, {"uaddc", "oooo"}, {"usubb", "oooo"}, {"countbits", "oo"}, {"firstbit_hi", "oo"},
    {"firstbit_lo", "oo"}, {"firstbit_shi", "oo"}, {"ubfe", "oooo"}, {"ibfe", "oooo"}, {"bfi", "ooooo"},
    {"bfrev", "oo"}, {"swapc", "ooooo"}, {"dcl_stream", "o"}, {"dcl_function_body", NULL},
    {"dcl_function_table", NULL}, {"dcl_interface", NULL}, {"dcl_input_control_point_count", ""},
    {"dcl_output_control_point_count", ""}, {"dcl_tess_domain", ""}, {"dcl_tess_partitioning", ""},
    {"dcl_tess_output_primitive", ""}, {"dcl_hs_max_tessfactor", "w"}, {"dcl_hs_fork_phase_instance_count", "w"},
    {"dcl_hs_join_phase_instance_count", "w"}, {"dcl_thread_group", "www"}, {"dcl_uav_typed", "ow"},
    {"dcl_uav_raw", "o"}, {"dcl_uav_structured", "ow"}, {"dcl_tgsm_raw", "ow"}, {"dcl_tgsm_structured", "oww"},
    {"dcl_resource_raw", "o"}, {"dcl_resource_structured", "ow"}, {"ld_uav_typed", "ooo"}, {"store_uav_typed", "ooo"},
    {"ld_raw", "ooo"}, {"store_raw", "ooo"}, {"ld_structured", "oooo"}, {"store_structured", "oooo"},
    {"atomic_and", "ooo"}, {"atomic_or", "ooo"}, {"atomic_xor", "ooo"}, {"atomic_cmp_store", "oooo"},
    {"atomic_iadd", "ooo"}, {"atomic_imax", "ooo"}, {"atomic_imin", "ooo"}, {"atomic_umax", "ooo"},
    {"atomic_umin", "ooo"}, {"imm_atomic_alloc", "oo"}, {"imm_atomic_consume", "oo"}, {"imm_atomic_iadd", "oooo"},
    {"imm_atomic_and", "oooo"}, {"imm_atomic_or", "oooo"}, {"imm_atomic_xor", "oooo"}, {"imm_atomic_exch", "oooo"},
    {"imm_atomic_cmp_exch", "ooooo"}, {"imm_atomic_imax", "oooo"}, {"imm_atomic_imin", "oooo"},
    {"imm_atomic_umax", "oooo"}, {"imm_atomic_umin", "oooo"}, {"sync", ""}, {"dadd", "ooo"}, {"dmax", "ooo"},
    {"dmin", "ooo"}, {"dmul", "ooo"}, {"deq", "ooo"}, {"dge", "ooo"}, {"dlt", "ooo"}, {"dne", "ooo"}, {"dmov", "oo"},
    {"dmovc", "oooo"}, {"dtof", "oo"}, {"ftod", "oo"}, {"eval_snapped", "ooo"}, {"eval_sample_index", "ooo"},
    {"eval_centroid", "oo"}, {"dcl_gs_instance_count", "w"},
};
const uint32_t sm4_op_count = sizeof(sm4_ops) / sizeof(sm4_ops[0]);

static const char *const register_names[SM4_REGISTER_COUNT] = {
    "r", "v", "o", "x", "l", "d", "s", "t", "cb", "icb", "label", "vPrim", "oDepth", "null", "rasterizer", "oMask", "m",
    "fb", "ft", "fp", "fi", "fo", "vOutputControlPointID", "vForkInstanceID", "vJoinInstanceID", "vicp", "vocp", "vpc",
    "vDomain", "this", "u", "g", "vThreadID", "vThreadGroupID", "vThreadIDInGroup", "vCoverage",
    "vThreadIDInGroupFlattened", "vGSInstanceID", "oDepthGE", "oDepthLE", "vCycleCounter", "?",
};

enum exec_stage sm4_stage(uint32_t type)
{
    static const enum exec_stage stages[] = {EXEC_PS, EXEC_VS, EXEC_GS, EXEC_HS, EXEC_DS, EXEC_CS};

    return type < 6 ? stages[type] : EXEC_STAGE_COUNT;
}

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
        return error_set(e, -EINVAL, "DXBC: program says it has %u words, its chunk has %u", sm4_word(p, 1), p->words);
    p->words = sm4_word(p, 1);
    p->at = 2;
    return 0;
}

/* Reads the operand at `*at`, which ends before `end`; moves `*at` behind it. Register parts of indices are operands
 * themselves; those may not be relative again beyond one level, as in hardware. */
static int read_operand(const struct sm4 *p, uint32_t *at, uint32_t end, struct sm4_operand *o, int depth,
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
        return error_set(e, -EINVAL, "DXBC: operand at word %u has the impossible token 0x%08x", start, token);
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
            ret = read_operand(p, at, end, &inner, depth + 1, e);
            if (ret)
                return ret;
        }
    }
    return 0;
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
        return error_set(e, -EINVAL, "DXBC: %s at word %u has length %u, %u words are left", sm4_ops[i->opcode].name,
                         at, i->length, p->words - at);
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
    for (format = sm4_ops[i->opcode].format; *format == 'o'; format++) {
        int ret = read_operand(p, &at, end, &i->operands[i->operand_count], 0, e);
        if (ret) {
            error_prefix(e, "%s at word %u", sm4_ops[i->opcode].name, i->at);
            return ret;
        }
        i->operand_count++;
    }
    i->extra_at = at;
    if (end - at != strlen(format))
        return error_set(e, -EINVAL, "DXBC: %s at word %u has %u words more than its operands",
                         sm4_ops[i->opcode].name, i->at, end - at);
    return 1;
}

static void print_operand(struct strbuf *out, const struct sm4 *p, const struct sm4_operand *o)
{
    static const char xyzw[] = "xyzw";

    if (o->modifier & 1)
        strbuf_puts(out, "-");
    if (o->modifier & 2)
        strbuf_puts(out, "|");
    strbuf_puts(out, register_names[o->type]);
    for (uint32_t d = 0; d < o->dims; d++) {
        bool plain = d == 0 && !(o->relative & 1) && o->type != SM4_ICB;
        strbuf_puts(out, plain ? "" : "[");
        if (o->relative >> d & 1) {
            struct sm4_operand inner;
            uint32_t at = o->relative_at[d];
            if (!read_operand(p, &at, p->words, &inner, 1, NULL))
                print_operand(out, p, &inner);
            strbuf_puts(out, " + ");
        }
        strbuf_printf(out, "%u%s", o->index[d], plain ? "" : "]");
    }
    if (o->value_count) {
        strbuf_puts(out, "(");
        for (uint32_t k = 0; k < o->value_count; k++) {
            float f;
            memcpy(&f, &o->value[k], 4);
            if (o->value[k] < 0x10000 || o->value[k] >= 0xffff0000)
                strbuf_printf(out, "%s%d", k ? ", " : "", (int32_t)o->value[k]);
            else
                strbuf_printf(out, "%s%g", k ? ", " : "", (double)f);
        }
        strbuf_puts(out, ")");
    } else if (o->components == 4) {
        strbuf_puts(out, ".");
        for (uint32_t k = 0; k < 4; k++) {
            char c = xyzw[o->select == 0 ? k : o->select == 1 ? o->swizzle >> (2 * k) & 3 : o->swizzle];
            if (o->select == 0 ? o->swizzle >> k & 1 : o->select == 1 || k == 0)
                strbuf_append(out, &c, 1);
        }
    }
    if (o->modifier & 2)
        strbuf_puts(out, "|");
}

void sm4_print(struct strbuf *out, const struct sm4 *program)
{
    struct sm4 p = *program;
    struct sm4_instruction i;
    struct error e = {0};
    int ret, indent = 0;

    while ((ret = sm4_next(&p, &i, &e)) > 0) {
        if (i.opcode == SM4_OP_ENDIF || i.opcode == SM4_OP_ENDLOOP || i.opcode == SM4_OP_ENDSWITCH ||
            i.opcode == SM4_OP_ELSE)
            indent -= indent > 0;
        strbuf_printf(out, "    %5u: %*s%s", i.at, 2 * indent, "", sm4_ops[i.opcode].name);
        if (i.opcode == SM4_OP_IF || i.opcode == SM4_OP_DISCARD || i.opcode == 3 || i.opcode == 8 || i.opcode == 63)
            strbuf_puts(out, i.token >> 18 & 1 ? "_nz" : "_z");
        if (i.token >> 13 & 1 && i.opcode < SM4_OP_DCL_RESOURCE)
            strbuf_puts(out, "_sat");
        for (uint32_t k = 0; k < i.operand_count; k++) {
            strbuf_puts(out, k ? ", " : " ");
            print_operand(out, &p, &i.operands[k]);
        }
        if (i.opcode == SM4_OP_CUSTOMDATA)
            strbuf_printf(out, " %u words", i.length - 2);
        else
            for (uint32_t at = i.extra_at; at < i.at + i.length; at++)
                strbuf_printf(out, "%s%u", i.operand_count || at > i.extra_at ? ", " : " ", sm4_word(&p, at));
        strbuf_puts(out, "\n");
        if (i.opcode == SM4_OP_IF || i.opcode == SM4_OP_ELSE || i.opcode == SM4_OP_LOOP || i.opcode == SM4_OP_SWITCH)
            indent += indent < 30;
    }
    if (ret)
        strbuf_printf(out, "    stopped: %s\n", e.text);
}
