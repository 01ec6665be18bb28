/* SPDX-License-Identifier: MIT */
/* d3d9_decode.c: one instruction of Direct3D 9 bytecode: what its opcode takes and which versions have it, its tokens as
 * operands, and all of it in words. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "abi/d3d9_program.h"

/* Operands of an opcode, and the versions (major * 16 + minor) that have it; 0..0 means never. */
struct op {
    const char *name;
    uint8_t dst, src;
    uint8_t vs_first, vs_last, ps_first, ps_last;
};

#define ALL  0x10, 0x3f, 0x10, 0x3f
#define VS   0x10, 0x3f, 0, 0
#define SM2  0x20, 0x3f, 0x20, 0x3f
#define PS11 0, 0, 0x11, 0x13

static const struct op ops[D3D9_OPCODE_COUNT] = {
    [D3D9_NOP] = {"nop", 0, 0, ALL},
    [D3D9_MOV] = {"mov", 1, 1, ALL},
    [D3D9_ADD] = {"add", 1, 2, ALL},
    [D3D9_SUB] = {"sub", 1, 2, ALL},
    [D3D9_MAD] = {"mad", 1, 3, ALL},
    [D3D9_MUL] = {"mul", 1, 2, ALL},
    [D3D9_RCP] = {"rcp", 1, 1, 0x10, 0x3f, 0x20, 0x3f},
    [D3D9_RSQ] = {"rsq", 1, 1, 0x10, 0x3f, 0x20, 0x3f},
    [D3D9_DP3] = {"dp3", 1, 2, ALL},
    [D3D9_DP4] = {"dp4", 1, 2, 0x10, 0x3f, 0x12, 0x3f},
    [D3D9_MIN] = {"min", 1, 2, 0x10, 0x3f, 0x20, 0x3f},
    [D3D9_MAX] = {"max", 1, 2, 0x10, 0x3f, 0x20, 0x3f},
    [D3D9_SLT] = {"slt", 1, 2, VS},
    [D3D9_SGE] = {"sge", 1, 2, VS},
    [D3D9_EXP] = {"exp", 1, 1, 0x10, 0x3f, 0x20, 0x3f},
    [D3D9_LOG] = {"log", 1, 1, 0x10, 0x3f, 0x20, 0x3f},
    [D3D9_LIT] = {"lit", 1, 1, VS},
    [D3D9_DST] = {"dst", 1, 2, VS},
    [D3D9_LRP] = {"lrp", 1, 3, 0x20, 0x3f, 0x10, 0x3f},
    [D3D9_FRC] = {"frc", 1, 1, 0x10, 0x3f, 0x20, 0x3f},
    [D3D9_M4X4] = {"m4x4", 1, 2, 0x10, 0x3f, 0x20, 0x3f},
    [D3D9_M4X3] = {"m4x3", 1, 2, 0x10, 0x3f, 0x20, 0x3f},
    [D3D9_M3X4] = {"m3x4", 1, 2, 0x10, 0x3f, 0x20, 0x3f},
    [D3D9_M3X3] = {"m3x3", 1, 2, 0x10, 0x3f, 0x20, 0x3f},
    [D3D9_M3X2] = {"m3x2", 1, 2, 0x10, 0x3f, 0x20, 0x3f},
    [D3D9_CALL] = {"call", 0, 1, SM2},
    [D3D9_CALLNZ] = {"callnz", 0, 2, SM2},
    [D3D9_LOOP_BEGIN] = {"loop", 0, 2, 0x20, 0x3f, 0x30, 0x3f},
    [D3D9_RET] = {"ret", 0, 0, SM2},
    [D3D9_ENDLOOP] = {"endloop", 0, 0, 0x20, 0x3f, 0x30, 0x3f},
    [D3D9_LABEL_OP] = {"label", 0, 1, SM2},
    [D3D9_DCL] = {"dcl", 1, 0, ALL},
    [D3D9_POW] = {"pow", 1, 2, SM2},
    [D3D9_CRS] = {"crs", 1, 2, SM2},
    [D3D9_SGN] = {"sgn", 1, 3, 0x20, 0x3f, 0, 0},
    [D3D9_ABS] = {"abs", 1, 1, SM2},
    [D3D9_NRM] = {"nrm", 1, 1, SM2},
    [D3D9_SINCOS] = {"sincos", 1, 3, SM2},
    [D3D9_REP] = {"rep", 0, 1, SM2},
    [D3D9_ENDREP] = {"endrep", 0, 0, SM2},
    [D3D9_IF] = {"if", 0, 1, SM2},
    [D3D9_IFC] = {"if", 0, 2, SM2},
    [D3D9_ELSE] = {"else", 0, 0, SM2},
    [D3D9_ENDIF] = {"endif", 0, 0, SM2},
    [D3D9_BREAK] = {"break", 0, 0, SM2},
    [D3D9_BREAKC] = {"break", 0, 2, SM2},
    [D3D9_MOVA] = {"mova", 1, 1, 0x20, 0x3f, 0, 0},
    [D3D9_DEFB] = {"defb", 1, 0, SM2},
    [D3D9_DEFI] = {"defi", 1, 0, SM2},
    [D3D9_TEXCOORD] = {"texcoord", 1, 0, 0, 0, 0x10, 0x14},
    [D3D9_TEXKILL] = {"texkill", 1, 0, 0, 0, 0x10, 0x3f},
    [D3D9_TEX] = {"tex", 1, 0, 0, 0, 0x10, 0x3f},
    [D3D9_TEXBEM] = {"texbem", 1, 1, PS11},
    [D3D9_TEXBEML] = {"texbeml", 1, 1, PS11},
    [D3D9_TEXREG2AR] = {"texreg2ar", 1, 1, PS11},
    [D3D9_TEXREG2GB] = {"texreg2gb", 1, 1, PS11},
    [D3D9_TEXM3X2PAD] = {"texm3x2pad", 1, 1, PS11},
    [D3D9_TEXM3X2TEX] = {"texm3x2tex", 1, 1, PS11},
    [D3D9_TEXM3X3PAD] = {"texm3x3pad", 1, 1, PS11},
    [D3D9_TEXM3X3TEX] = {"texm3x3tex", 1, 1, PS11},
    [D3D9_TEXM3X3SPEC] = {"texm3x3spec", 1, 2, PS11},
    [D3D9_TEXM3X3VSPEC] = {"texm3x3vspec", 1, 1, PS11},
    [D3D9_EXPP] = {"expp", 1, 1, 0x10, 0x3f, 0x20, 0x3f},
    [D3D9_LOGP] = {"logp", 1, 1, 0x10, 0x3f, 0x20, 0x3f},
    [D3D9_CND] = {"cnd", 1, 3, 0, 0, 0x11, 0x14},
    [D3D9_DEF] = {"def", 1, 0, ALL},
    [D3D9_TEXREG2RGB] = {"texreg2rgb", 1, 1, 0, 0, 0x12, 0x13},
    [D3D9_TEXDP3TEX] = {"texdp3tex", 1, 1, 0, 0, 0x12, 0x13},
    [D3D9_TEXM3X2DEPTH] = {"texm3x2depth", 1, 1, 0, 0, 0x13, 0x13},
    [D3D9_TEXDP3] = {"texdp3", 1, 1, 0, 0, 0x12, 0x13},
    [D3D9_TEXM3X3] = {"texm3x3", 1, 1, 0, 0, 0x12, 0x13},
    [D3D9_TEXDEPTH] = {"texdepth", 1, 0, 0, 0, 0x14, 0x14},
    [D3D9_CMP] = {"cmp", 1, 3, 0, 0, 0x12, 0x3f},
    [D3D9_BEM] = {"bem", 1, 2, 0, 0, 0x14, 0x14},
    [D3D9_DP2ADD] = {"dp2add", 1, 3, 0, 0, 0x20, 0x3f},
    [D3D9_DSX] = {"dsx", 1, 1, 0, 0, 0x20, 0x3f},
    [D3D9_DSY] = {"dsy", 1, 1, 0, 0, 0x20, 0x3f},
    [D3D9_TEXLDD] = {"texldd", 1, 4, 0, 0, 0x20, 0x3f},
    [D3D9_SETP] = {"setp", 1, 2, SM2},
    [D3D9_TEXLDL] = {"texldl", 1, 2, 0x30, 0x3f, 0x30, 0x3f},
    [D3D9_BREAKP] = {"break", 0, 1, SM2},
};

static const char *const usages[D3D9_USAGE_COUNT] = {
    "POSITION", "BLENDWEIGHT", "BLENDINDICES", "NORMAL", "PSIZE", "TEXCOORD", "TANGENT",
    "BINORMAL", "TESSFACTOR",  "POSITIONT",    "COLOR",  "FOG",   "DEPTH",    "SAMPLE",
};

const char *d3d9_usage_name(uint32_t usage)
{
    return usage < D3D9_USAGE_COUNT ? usages[usage] : "?";
}

const char *d3d9_register_name(bool pixel, uint32_t major, uint32_t type)
{
    static const char *const names[] = {"r", "v", "c", "a", "rast", "oD", "o", "i",    "oC", "oDepth",
                                        "s", "c", "c", "c", "b",    "aL", "h", "misc", "l",  "p"};
    if (type == D3D9_ADDRESS && pixel)
        return "t";
    if (type == D3D9_OUTPUT && major < 3)
        return "oT";
    return type < D3D9_REGISTER_COUNT ? names[type] : "?";
}

const char *d3d9_name(const struct d3d9_instruction *i)
{
    if (i->opcode == D3D9_PHASE)
        return "phase";
    return i->opcode < D3D9_OPCODE_COUNT && ops[i->opcode].name ? ops[i->opcode].name : "?";
}

bool d3d9_is(const void *bytes, size_t size)
{
    uint32_t v;

    if (size < 4)
        return false;
    memcpy(&v, bytes, 4);
    v = le32toh(v);
    return v >> 16 == 0xfffe || v >> 16 == 0xffff;
}

static uint32_t peek(const struct d3d9_reader *r, uint32_t at)
{
    uint32_t v = 0;

    if (at < r->words)
        memcpy(&v, r->data + 4 * (size_t)at, 4);
    return le32toh(v);
}

/* The first instruction that has an operand tells. */
static bool is_bare(const struct d3d9_reader *r)
{
    uint32_t at = 1, token;

    while (at < r->words) {
        token = peek(r, at++);
        if ((token & 0xffff) == D3D9_END)
            return false;
        if ((token & 0xffff) == D3D9_COMMENT)
            at += token >> 16 & 0x7fff;
        else if (token >> 24 & 15)
            return at < r->words && !(peek(r, at) >> 31);
    }
    return false;
}

int d3d9_open(struct d3d9_reader *r, const void *bytes, size_t size, struct error *e)
{
    uint32_t version;

    *r = (struct d3d9_reader){.data = (const uint8_t *)bytes, .words = (uint32_t)(size / 4)};
    if (size / 4 > D3D9_MAX_WORDS)
        r->words = D3D9_MAX_WORDS;
    if (!d3d9_is(bytes, size))
        return error_set(e, -EINVAL, "D3D9: no version token");
    version = peek(r, 0);
    r->pixel = version >> 16 == 0xffff;
    r->major = version >> 8 & 255;
    r->minor = version & 255;
    r->at = 1;
    if (r->major < 1 || r->major > 3 ||
        (r->major == 1 && (r->minor < 1 || r->minor > (r->pixel ? 4u : 1u))) ||
        (r->major == 2 && r->minor > 1) || (r->major == 3 && r->minor > 0))
        return error_set(e, -EINVAL, "D3D9: version token 0x%08x is none of vs_1_1..3_0 and ps_1_1..3_0",
                         version);
    r->bare = r->major == 2 && is_bare(r);
    return 0;
}

static int fail(const struct d3d9_instruction *i, struct error *e, const char *what)
{
    return error_set(e, -EINVAL, "D3D9: %s at word %u %s", d3d9_name(i), i->at, what);
}

/* Parameter tokens have bit 31 set, but in the bare form; without it the count of operands is not what the opcode has. */
static int read_operand(struct d3d9_reader *r, const struct d3d9_instruction *i, struct d3d9_operand *o,
                        bool dst, uint32_t end, struct error *e)
{
    uint32_t token = peek(r, r->at);

    if (r->at >= end || r->at >= r->words)
        return fail(i, e, "has too few operands");
    if (token >> 31 == r->bare)
        return error_set(e, -EINVAL, "D3D9: %s at word %u: 0x%08x at word %u is no parameter token",
                         d3d9_name(i), i->at, token, r->at);
    r->at++;
    *o = (struct d3d9_operand){.type = (uint8_t)((token >> 28 & 7) | (token >> 8 & 0x18)),
                               .index = token & 0x7ff};
    if (dst) {
        o->mask = token >> 16 & 15;
        o->modifier = token >> 20 & 15;
        o->shift = (int8_t)(token >> 24 & 15);
        if (o->shift > 7)
            o->shift = (int8_t)(o->shift - 16);
    } else {
        o->swizzle = token >> 16 & 255;
        o->modifier = token >> 24 & 15;
        if (o->modifier >= D3D9_MOD_COUNT)
            return fail(i, e, "has an unknown source modifier");
    }
    if (o->type >= D3D9_CONST2 && o->type <= D3D9_CONST4) {
        o->index = (uint16_t)(o->index + 2048 * (o->type - D3D9_CONST2 + 1));
        o->type = D3D9_CONST;
    }
    o->relative = token >> 13 & 1;
    if (!o->relative)
        return 0;
    o->relative_type = D3D9_ADDRESS;
    if (r->major >= 2) {
        uint32_t rel = peek(r, r->at);
        if (r->at >= end || rel >> 31 == r->bare)
            return fail(i, e, "lacks the register that indexes it");
        r->at++;
        o->relative_type = (uint8_t)((rel >> 28 & 7) | (rel >> 8 & 0x18));
        o->relative_component = rel >> 16 & 3;
        if ((rel & 0x7ff) ||
            (o->relative_type != D3D9_LOOP && (o->relative_type != D3D9_ADDRESS || r->pixel)))
            return fail(i, e, "is indexed by something else than a0 or aL");
    } else if (r->pixel) {
        return fail(i, e, "is indexed in a pixel shader");
    }
    return 0;
}

/* How many operands follow, where the version decides. */
static void operand_counts(const struct d3d9_reader *r, const struct d3d9_instruction *i, uint32_t *dst,
                           uint32_t *src)
{
    *dst = ops[i->opcode].dst;
    *src = ops[i->opcode].src;
    if (i->opcode == D3D9_TEX || i->opcode == D3D9_TEXCOORD)
        *src = r->major >= 2 ? 2 : r->minor == 4 ? 1 : 0;
    if ((i->opcode == D3D9_SINCOS || i->opcode == D3D9_SGN) && r->major >= 3)
        *src = 1;
}

int d3d9_next(struct d3d9_reader *r, struct d3d9_instruction *i, struct error *e)
{
    uint32_t token, end, length, stated, taken, version = r->major * 16 + (r->minor & 15), dst, src;
    const struct op *op;
    int ret;

    for (;;) {
        if (r->at >= r->words)
            return error_set(e, -EINVAL, "D3D9: no end token in %u words", r->words);
        token = peek(r, r->at);
        if ((token & 0xffff) != D3D9_COMMENT)
            break;
        length = token >> 16 & 0x7fff;
        if (length >= r->words - r->at)
            return error_set(e, -EINVAL, "D3D9: comment at word %u ends past the shader", r->at);
        r->at += length + 1;
    }
    *i = (struct d3d9_instruction){.at = r->at++, .opcode = token & 0xffff, .control = token >> 16 & 255};
    if (i->opcode == D3D9_END)
        return 0;
    i->coissue = token >> 30 & 1;
    i->predicated = token >> 28 & 1;
    if (i->opcode == D3D9_PHASE && r->pixel && version == 0x14)
        return 1;
    op = i->opcode < D3D9_OPCODE_COUNT ? &ops[i->opcode] : NULL;
    if (!op || !op->name || token >> 31)
        return error_set(e, -EINVAL, "D3D9: word %u is 0x%08x, no known opcode", i->at, token);
    if (r->pixel ? version < op->ps_first || version > op->ps_last
                 : version < op->vs_first || version > op->vs_last)
        return error_set(e, -EINVAL, "D3D9: %s at word %u does not exist in %s_%u_%u", op->name, i->at,
                         r->pixel ? "ps" : "vs", r->major, r->minor);
    stated = token >> 24 & 15;
    end = r->major >= 2 && !r->bare ? i->at + 1 + stated : r->words;
    if (end > r->words)
        return fail(i, e, "ends past the shader");
    operand_counts(r, i, &dst, &src);
    if (i->opcode == D3D9_DCL) {
        token = peek(r, r->at);
        if (r->at >= end || !(token >> 31))
            return fail(i, e, "has no usage token");
        r->at++;
        i->usage = token & 31;
        i->usage_index = token >> 16 & 15;
        i->texture = token >> 27 & 15;
    }
    i->has_dst = dst;
    if (dst && (ret = read_operand(r, i, &i->dst, true, end, e)))
        return ret;
    if (i->predicated && (ret = read_operand(r, i, &i->predicate, false, end, e)))
        return ret;
    i->src_count = (uint8_t)src;
    for (uint32_t k = 0; k < src; k++)
        if ((ret = read_operand(r, i, &i->src[k], false, end, e)))
            return ret;
    length = i->opcode == D3D9_DEF || i->opcode == D3D9_DEFI ? 4 : i->opcode == D3D9_DEFB ? 1 : 0;
    if (length > r->words - r->at)
        return fail(i, e, "ends past the shader");
    for (uint32_t k = 0; k < length; k++)
        i->value[k] = peek(r, r->at++);
    taken = r->at - i->at - 1;
    if (r->major >= 2 && stated != taken && !(r->bare && stated == taken + 1))
        return error_set(e, -EINVAL, "D3D9: %s at word %u says it has %u words, its operands take %u",
                         op->name, i->at, stated, taken);
    return 1;
}

static void print_operand(struct strbuf *out, const struct d3d9_reader *r, const struct d3d9_operand *o,
                          bool dst)
{
    static const char *const prefix[] = {"", "-", "", "-", "", "-", "1-", "", "-", "", "", "", "-", "!"};
    static const char *const suffix[] = {"",    "",    "_bias", "_bias", "_bx2", "_bx2", "",
                                         "_x2", "_x2", "_dz",   "_dw",   "_abs", "_abs", ""};
    static const char *const rast[] = {"oPos", "oFog", "oPts"}, *const misc[] = {"vPos", "vFace"};
    static const char xyzw[] = "xyzw";

    strbuf_puts(out, dst ? "" : prefix[o->modifier]);
    if (o->type == D3D9_RASTOUT && o->index < 3)
        strbuf_puts(out, rast[o->index]);
    else if (o->type == D3D9_MISC && o->index < 2)
        strbuf_puts(out, misc[o->index]);
    else if (o->relative)
        strbuf_printf(
            out, "%s[%s%s + %u]", d3d9_register_name(r->pixel, r->major, o->type),
            o->relative_type == D3D9_LOOP ? "aL" : "a0.",
            o->relative_type == D3D9_LOOP ? "" : (const char *[]){"x", "y", "z", "w"}[o->relative_component],
            o->index);
    else if (o->type == D3D9_LOOP || o->type == D3D9_DEPTHOUT)
        strbuf_puts(out, d3d9_register_name(r->pixel, r->major, o->type));
    else
        strbuf_printf(out, "%s%u", d3d9_register_name(r->pixel, r->major, o->type), o->index);
    strbuf_puts(out, dst ? "" : suffix[o->modifier]);
    if (dst ? o->mask == 15 : o->swizzle == 0xe4)
        return;
    strbuf_puts(out, ".");
    for (uint32_t k = 0; k < 4; k++)
        if (!dst || o->mask >> k & 1)
            strbuf_append(out, &xyzw[dst ? k : o->swizzle >> (2 * k) & 3], 1);
}

static void print_instruction(struct strbuf *out, const struct d3d9_reader *r,
                              const struct d3d9_instruction *i)
{
    static const char *const comparisons[] = {"", "_gt", "_eq", "_ge", "_lt", "_ne", "_le", ""};
    const char *sep = " ";

    if (i->predicated) {
        strbuf_puts(out, "(");
        print_operand(out, r, &i->predicate, false);
        strbuf_puts(out, ") ");
    }
    strbuf_printf(out, "%s%s", i->coissue ? "+" : "", d3d9_name(i));
    if (i->opcode == D3D9_IFC || i->opcode == D3D9_BREAKC || i->opcode == D3D9_SETP)
        strbuf_puts(out, comparisons[i->control & 7]);
    if (i->opcode == D3D9_TEX && i->src_count)
        strbuf_puts(out, i->control == 1 ? "ldp" : i->control == 2 ? "ldb" : "ld");
    if (i->opcode == D3D9_DCL && i->dst.type == D3D9_SAMPLER)
        strbuf_puts(out, i->texture == 3 ? "_cube" : i->texture == 4 ? "_volume" : "_2d");
    else if (i->opcode == D3D9_DCL && (!r->pixel || r->major == 3))
        strbuf_printf(out, "_%s%u", d3d9_usage_name(i->usage), i->usage_index);
    if (i->has_dst) {
        if (i->dst.shift)
            strbuf_printf(out, i->dst.shift > 0 ? "_x%d" : "_d%d",
                          1 << (i->dst.shift > 0 ? i->dst.shift : -i->dst.shift));
        strbuf_printf(out, "%s%s%s", i->dst.modifier & D3D9_DST_SAT ? "_sat" : "",
                      i->dst.modifier & D3D9_DST_PP ? "_pp" : "",
                      i->dst.modifier & D3D9_DST_CENTROID ? "_centroid" : "");
        strbuf_puts(out, sep);
        print_operand(out, r, &i->dst, true);
        sep = ", ";
    }
    for (uint32_t k = 0; k < i->src_count; k++) {
        strbuf_puts(out, sep);
        print_operand(out, r, &i->src[k], false);
        sep = ", ";
    }
    for (uint32_t k = 0; k < 4 && i->opcode == D3D9_DEF; k++) {
        float f;
        memcpy(&f, &i->value[k], 4);
        strbuf_printf(out, ", %g", (double)f);
    }
    for (uint32_t k = 0; k < 4 && i->opcode == D3D9_DEFI; k++)
        strbuf_printf(out, ", %d", (int32_t)i->value[k]);
    if (i->opcode == D3D9_DEFB)
        strbuf_puts(out, i->value[0] ? ", true" : ", false");
}

void d3d9_print(struct strbuf *out, const void *bytes, size_t size)
{
    struct d3d9_instruction i;
    struct error e = {0};
    struct d3d9_reader r;
    int ret = d3d9_open(&r, bytes, size, &e), indent = 0;

    if (!ret)
        strbuf_printf(out, "  Direct3D 9 bytecode, %s_%u_%u:\n", r.pixel ? "ps" : "vs", r.major, r.minor);
    while (!ret && (ret = d3d9_next(&r, &i, &e)) > 0) {
        bool opens = i.opcode == D3D9_IF || i.opcode == D3D9_IFC || i.opcode == D3D9_LOOP_BEGIN ||
                     i.opcode == D3D9_REP;
        bool closes = i.opcode == D3D9_ENDIF || i.opcode == D3D9_ENDLOOP || i.opcode == D3D9_ENDREP;
        indent -= (closes || i.opcode == D3D9_ELSE) && indent > 0;
        strbuf_printf(out, "    %5u: %*s", i.at, 2 * indent, "");
        print_instruction(out, &r, &i);
        strbuf_puts(out, "\n");
        indent += (opens || i.opcode == D3D9_ELSE) && indent < 30;
        ret = 0;
    }
    if (ret < 0)
        strbuf_printf(out, "    stopped: %s\n", e.text);
}
