/* SPDX-License-Identifier: MIT */
#include "executor/shader/sm4.h"

#include <string.h>

/* clang-format off */
static const char *const register_names[SM4_REGISTER_COUNT] = {
    "r", "v", "o", "x", "l", "d", "s", "t", "cb", "icb", "label", "vPrim", "oDepth", "null", "rasterizer", "oMask", "m",
    "fb", "ft", "fp", "fi", "fo", "vOutputControlPointID", "vForkInstanceID", "vJoinInstanceID", "vicp", "vocp", "vpc",
    "vDomain", "this", "u", "g", "vThreadID", "vThreadGroupID", "vThreadIDInGroup", "vCoverage",
    "vThreadIDInGroupFlattened", "vGSInstanceID", "oDepthGE", "oDepthLE", "vCycleCounter", "?",
};
/* clang-format on */

enum exec_stage sm4_stage(uint32_t type)
{
    static const enum exec_stage stages[] = {EXEC_PS, EXEC_VS, EXEC_GS, EXEC_HS, EXEC_DS, EXEC_CS};

    return type < 6 ? stages[type] : EXEC_STAGE_COUNT;
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
            if (!sm4_operand(p, &at, p->words, &inner, 1, NULL))
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
        if (i.opcode == SM4_OP_IF || i.opcode == SM4_OP_DISCARD || i.opcode == 3 || i.opcode == 8 ||
            i.opcode == 63)
            strbuf_puts(out, i.token >> 18 & 1 ? "_nz" : "_z");
        if (i.token >> 13 & 1 && i.opcode < SM4_OP_DCL_RESOURCE)
            strbuf_puts(out, "_sat");
        for (uint32_t k = 0; k < i.operand_count; k++) {
            strbuf_puts(out, k ? ", " : " ");
            print_operand(out, &p, &i.operands[k]);
        }
        if ((i.opcode >= SM4_OP_DCL_GS_OUTPUT && i.opcode <= SM4_OP_DCL_GS_INPUT) ||
            (i.opcode >= SM4_OP_DCL_INPUT_POINTS && i.opcode <= SM4_OP_DCL_TESS_OUTPUT))
            strbuf_printf(out, " %u", i.token >> 11 & 63);
        if (i.opcode == SM4_OP_CUSTOMDATA)
            strbuf_printf(out, " %u words", i.length - 2);
        else
            for (uint32_t at = i.extra_at; at < i.at + i.length; at++)
                strbuf_printf(out, "%s%u", i.operand_count || at > i.extra_at ? ", " : " ", sm4_word(&p, at));
        strbuf_puts(out, "\n");
        if (i.opcode == SM4_OP_IF || i.opcode == SM4_OP_ELSE || i.opcode == SM4_OP_LOOP ||
            i.opcode == SM4_OP_SWITCH)
            indent += indent < 30;
    }
    if (ret)
        strbuf_printf(out, "    stopped: %s\n", e.text);
}
