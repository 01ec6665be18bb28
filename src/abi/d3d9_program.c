/* SPDX-License-Identifier: MIT */
/* d3d9_program.c: which token streams may be translated, and what they use. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/d3d9_program.h"

struct checker {
    struct d3d9_program *p;
    struct error *e;
    uint16_t stack[2 * D3D9_MAX_DEPTH]; /* opcodes of the open blocks */
    uint32_t depth, loops;
    uint32_t calls[D3D9_MAX_LABELS];  /* position + 1 of the last call of a label in the code */
    uint32_t labels[D3D9_MAX_LABELS]; /* position + 1 of its definition */
    uint32_t parameters;              /* parameter tokens seen in all, bounds the work of a translation */
    bool in_main, after_ret;
};

static int fail(struct checker *c, const struct d3d9_instruction *i, const char *what)
{
    return error_set(c->e, -EINVAL, "D3D9: %s at word %u %s", d3d9_name(i), i->at, what);
}

uint32_t d3d9_output_slot(const struct d3d9_program *p, uint32_t type, uint32_t index)
{
    if (p->major >= 3)
        return index;
    return type == D3D9_RASTOUT ? index : type == D3D9_ATTROUT ? 3 + index : 5 + index;
}

/* Highest register number + 1 of each file. */
static uint32_t register_limit(const struct d3d9_program *p, uint32_t type)
{
    bool sm3 = p->major == 3;

    switch (type) {
    case D3D9_TEMP:
        return 32;
    case D3D9_INPUT:
        return p->pixel ? (sm3 ? 10 : 2) : 16;
    case D3D9_CONST:
        return 256;
    case D3D9_ADDRESS:
        return p->pixel ? (sm3 ? 0 : 8) : 1;
    case D3D9_RASTOUT:
        return p->pixel || sm3 ? 0 : 3;
    case D3D9_ATTROUT:
        return p->pixel || sm3 ? 0 : 2;
    case D3D9_OUTPUT:
        return p->pixel ? 0 : sm3 ? 12 : 8;
    case D3D9_CONSTINT:
    case D3D9_CONSTBOOL:
        return p->major >= 2 ? 16 : 0;
    case D3D9_COLOROUT:
        return p->pixel && p->major >= 2 ? 4 : 0;
    case D3D9_DEPTHOUT:
        return p->pixel && p->major >= 2 ? 1 : 0;
    case D3D9_SAMPLER:
        return !p->pixel ? (sm3 ? 4 : 0) : p->major >= 2 ? 16 : p->minor == 4 ? 6 : 4;
    case D3D9_LOOP:
        return p->major >= 2 ? 1 : 0;
    case D3D9_MISC:
        return p->pixel && sm3 ? 2 : 0;
    case D3D9_LABEL:
        return p->major >= 2 ? D3D9_MAX_LABELS : 0;
    case D3D9_PREDICATE:
        return p->major >= 2 ? 1 : 0;
    default:
        return 0;
    }
}

static bool is_defined(const struct d3d9_constant *list, uint32_t count, uint32_t index)
{
    for (uint32_t k = 0; k < count; k++)
        if (list[k].index == index)
            return true;
    return false;
}

static void use_constant(struct d3d9_program *p, const struct d3d9_operand *o, uint32_t rows)
{
    uint32_t end = o->index + rows;

    if (o->type == D3D9_CONST && o->relative) {
        p->relative_const = true;
        p->count_f = 256;
    }
    for (uint32_t n = o->index; n < end; n++) {
        if (o->type == D3D9_CONST && n < 256 && n >= p->count_f && !is_defined(p->def, p->def_count, n))
            p->count_f = n + 1;
        if (o->type == D3D9_CONSTINT && n < 16 && n >= p->count_i && !is_defined(p->defi, p->defi_count, n))
            p->count_i = n + 1;
        if (o->type == D3D9_CONSTBOOL && n < 16 && n >= p->count_b && !is_defined(p->defb, p->defb_count, n))
            p->count_b = n + 1;
    }
}

/* Rows that a matrix instruction reads from its second source. */
static uint32_t matrix_rows(uint32_t opcode, uint32_t source)
{
    if (source != 1)
        return 1;
    return opcode == D3D9_M4X4 || opcode == D3D9_M3X4   ? 4
           : opcode == D3D9_M4X3 || opcode == D3D9_M3X3 ? 3
           : opcode == D3D9_M3X2                        ? 2
                                                        : 1;
}

/* The bare form declares no inputs: v0, v1… of a vertex shader are the elements of the vertex declaration as they come,
 * registers of a pixel shader are usages anyhow. */
static int imply_input(struct checker *c, const struct d3d9_instruction *i, const struct d3d9_operand *o)
{
    struct d3d9_program *p = c->p;

    if (o->type != D3D9_INPUT && !(o->type == D3D9_ADDRESS && p->pixel))
        return 0;
    for (uint32_t k = 0; k < p->input_count; k++)
        if (p->inputs[k].type == o->type && p->inputs[k].index == o->index)
            return 0;
    if (p->input_count == 32)
        return fail(c, i, "is one input too many");
    p->inputs[p->input_count++] =
        (struct d3d9_declaration){.usage = !p->pixel               ? D3D9_USAGE_IN_ORDER
                                           : o->type == D3D9_INPUT ? D3D9_USAGE_COLOR
                                                                   : D3D9_USAGE_TEXCOORD,
                                  .usage_index = (uint8_t)o->index,
                                  .type = o->type,
                                  .index = (uint8_t)o->index,
                                  .mask = 15};
    return 0;
}

static int check_source(struct checker *c, const struct d3d9_instruction *i, uint32_t k)
{
    const struct d3d9_operand *o = &i->src[k];
    struct d3d9_program *p = c->p;
    uint32_t rows = matrix_rows(i->opcode, k);
    bool is_bool = o->type == D3D9_CONSTBOOL || o->type == D3D9_PREDICATE, wants_bool, wants_other;

    if (o->index + rows > register_limit(p, o->type))
        return error_set(c->e, -EINVAL, "D3D9: %s at word %u reads %s%u, which %s_%u_%u does not have",
                         d3d9_name(i), i->at, d3d9_register_name(p->pixel, p->major, o->type), o->index,
                         p->pixel ? "ps" : "vs", p->major, p->minor);
    wants_bool = i->opcode == D3D9_IF || i->opcode == D3D9_BREAKP || (i->opcode == D3D9_CALLNZ && k == 1);
    wants_other = (i->opcode == D3D9_LOOP_BEGIN && k == 0) || i->opcode == D3D9_CALL ||
                  i->opcode == D3D9_LABEL_OP || (i->opcode == D3D9_CALLNZ && k == 0) ||
                  i->opcode == D3D9_REP || (i->opcode == D3D9_LOOP_BEGIN && k == 1);
    if (wants_bool != is_bool)
        return fail(c, i, wants_bool ? "needs a bool register" : "cannot read a bool register");
    if (wants_other) {
        uint32_t type = i->opcode == D3D9_REP || k == 1 ? D3D9_CONSTINT
                        : i->opcode == D3D9_LOOP_BEGIN  ? D3D9_LOOP
                                                        : D3D9_LABEL;
        if (o->type != type || o->relative)
            return fail(c, i, "has an operand of the wrong kind");
    } else if (o->type == D3D9_LABEL || o->type == D3D9_LOOP || o->type == D3D9_CONSTINT ||
               (o->type == D3D9_SAMPLER) != ((i->opcode == D3D9_TEX && k == 1 && p->major >= 2) ||
                                             (i->opcode == D3D9_TEXLDD && k == 1) ||
                                             (i->opcode == D3D9_TEXLDL && k == 1)) ||
               o->type == D3D9_RASTOUT || o->type == D3D9_ATTROUT || o->type == D3D9_OUTPUT ||
               o->type == D3D9_COLOROUT || o->type == D3D9_DEPTHOUT) {
        return fail(c, i, "has an operand of the wrong kind");
    }
    if (o->relative && o->type != D3D9_CONST && !(o->type == D3D9_INPUT && p->major == 3))
        return fail(c, i, "indexes registers that cannot be indexed");
    if (o->modifier == D3D9_MOD_NOT ? !is_bool : is_bool && o->modifier != D3D9_MOD_NONE)
        return fail(c, i, "has a modifier that does not suit its operand");
    if (o->relative && o->relative_type == D3D9_LOOP && !c->loops && c->in_main)
        return fail(c, i, "uses aL outside of a loop");
    if (o->type == D3D9_SAMPLER && !p->sampler_dim[o->index] && p->bare)
        p->sampler_dim[o->index] = D3D9_TEXTURE_2D;
    if (o->type == D3D9_SAMPLER && !p->sampler_dim[o->index])
        return fail(c, i, "uses a sampler that is not declared");
    use_constant(p, o, rows);
    return p->bare ? imply_input(c, i, o) : 0;
}

static int check_destination(struct checker *c, const struct d3d9_instruction *i)
{
    const struct d3d9_operand *o = &i->dst;
    struct d3d9_program *p = c->p;
    bool writable = false, address;

    if (i->opcode == D3D9_TEXKILL)
        writable = o->type == D3D9_TEMP || (o->type == D3D9_ADDRESS && p->pixel) ||
                   (o->type == D3D9_INPUT && p->major == 3);
    else
        switch (o->type) {
        case D3D9_TEMP:
        case D3D9_RASTOUT:
        case D3D9_ATTROUT:
        case D3D9_OUTPUT:
        case D3D9_COLOROUT:
        case D3D9_DEPTHOUT:
            writable = i->opcode != D3D9_SETP && i->opcode != D3D9_MOVA;
            break;
        case D3D9_ADDRESS:
            writable =
                p->pixel ? p->major == 1 : i->opcode == D3D9_MOVA || (i->opcode == D3D9_MOV && p->major == 1);
            break;
        case D3D9_PREDICATE:
            writable = i->opcode == D3D9_SETP;
            break;
        default:
            break;
        }
    if (!writable || o->index >= register_limit(p, o->type))
        return error_set(c->e, -EINVAL, "D3D9: %s at word %u cannot write %s%u", d3d9_name(i), i->at,
                         d3d9_register_name(p->pixel, p->major, o->type), o->index);
    if (o->relative && (o->type != D3D9_OUTPUT || p->major < 3))
        return fail(c, i, "indexes a destination that cannot be indexed");
    if (o->relative && o->relative_type == D3D9_LOOP && !c->loops && c->in_main)
        return fail(c, i, "uses aL outside of a loop");
    address = (i->opcode >= D3D9_TEXBEM && i->opcode <= D3D9_TEXM3X3VSPEC) ||
              (i->opcode >= D3D9_TEXREG2RGB && i->opcode <= D3D9_TEXM3X3);
    if (p->pixel && p->major == 1 && p->minor < 4 &&
        (address || i->opcode == D3D9_TEX || i->opcode == D3D9_TEXCOORD)) {
        if (o->type != D3D9_ADDRESS || o->index > 3)
            return fail(c, i, "needs a destination among t0..t3");
        if (i->opcode != D3D9_TEXCOORD && i->opcode != D3D9_TEXM3X2PAD && i->opcode != D3D9_TEXM3X3PAD &&
            i->opcode != D3D9_TEXDP3 && i->opcode != D3D9_TEXM3X3 && i->opcode != D3D9_TEXM3X2DEPTH &&
            !p->sampler_dim[o->index])
            p->sampler_dim[o->index] = i->opcode >= D3D9_TEXM3X3TEX && i->opcode <= D3D9_TEXM3X3VSPEC
                                           ? D3D9_TEXTURE_CUBE
                                           : D3D9_TEXTURE_2D;
    }
    if (p->pixel && p->major == 1 && p->minor == 4 && i->opcode == D3D9_TEX) {
        if (o->type != D3D9_TEMP || o->index > 5)
            return fail(c, i, "needs a destination among r0..r5");
        if (!p->sampler_dim[o->index])
            p->sampler_dim[o->index] = D3D9_TEXTURE_2D;
    }
    if (o->type == D3D9_COLOROUT)
        p->color_mask |= 1u << o->index;
    p->writes_depth |=
        o->type == D3D9_DEPTHOUT || i->opcode == D3D9_TEXM3X2DEPTH || i->opcode == D3D9_TEXDEPTH;
    if (o->type == D3D9_RASTOUT) {
        p->writes_position |= o->index == 0;
        p->writes_fog |= o->index == 1;
        p->writes_point_size |= o->index == 2;
    }
    return 0;
}

/* texm3x* sequences read the rows before them: t(n-1), t(n-2) must exist. */
static int check_matrix_texture(struct checker *c, const struct d3d9_instruction *i)
{
    bool two = i->opcode == D3D9_TEXM3X2TEX || i->opcode == D3D9_TEXM3X2DEPTH;
    bool three = i->opcode == D3D9_TEXM3X3TEX || i->opcode == D3D9_TEXM3X3SPEC ||
                 i->opcode == D3D9_TEXM3X3VSPEC || i->opcode == D3D9_TEXM3X3;
    uint32_t pads = two ? 1 : three ? 2 : 0, seen = 0;
    uint16_t pad = two ? D3D9_TEXM3X2PAD : D3D9_TEXM3X3PAD;

    for (uint32_t k = c->p->code_count; k > 0 && seen < pads; k--) {
        const struct d3d9_instruction *before = &c->p->code[k - 1];
        if (before->opcode != pad || before->dst.index != i->dst.index - seen - 1)
            break;
        seen++;
    }
    return seen == pads ? 0 : fail(c, i, "does not follow the rows of its matrix");
}

static int flow(struct checker *c, const struct d3d9_instruction *i)
{
    uint32_t top = c->depth ? c->stack[c->depth - 1] : 0, label = i->src_count ? i->src[0].index : 0;

    switch (i->opcode) {
    case D3D9_IF:
    case D3D9_IFC:
    case D3D9_REP:
    case D3D9_LOOP_BEGIN:
        if (c->depth == D3D9_MAX_DEPTH)
            return fail(c, i, "nests deeper than 24 blocks");
        c->stack[c->depth++] = i->opcode;
        c->loops += i->opcode == D3D9_LOOP_BEGIN;
        return 0;
    case D3D9_ELSE:
        if (top != D3D9_IF && top != D3D9_IFC)
            return fail(c, i, "has no if");
        c->stack[c->depth - 1] = D3D9_ELSE;
        return 0;
    case D3D9_ENDIF:
        if (top != D3D9_IF && top != D3D9_IFC && top != D3D9_ELSE)
            return fail(c, i, "closes nothing");
        c->depth--;
        return 0;
    case D3D9_ENDLOOP:
    case D3D9_ENDREP:
        if (!c->depth || top != (i->opcode == D3D9_ENDREP ? (uint32_t)D3D9_REP : (uint32_t)D3D9_LOOP_BEGIN))
            return fail(c, i, "closes nothing");
        c->depth--;
        c->loops -= i->opcode == D3D9_ENDLOOP;
        return 0;
    case D3D9_BREAK:
    case D3D9_BREAKC:
    case D3D9_BREAKP:
        for (uint32_t k = 0; k < c->depth; k++)
            if (c->stack[k] == D3D9_REP || c->stack[k] == D3D9_LOOP_BEGIN)
                return 0;
        return fail(c, i, "is outside of a loop");
    case D3D9_CALL:
    case D3D9_CALLNZ:
        if (c->labels[label])
            return fail(c, i, "calls backwards");
        c->calls[label] = i->at;
        return 0;
    case D3D9_RET:
        if (c->depth)
            return fail(c, i, "leaves a block");
        c->after_ret = true;
        return 0;
    case D3D9_LABEL_OP:
        if (!c->after_ret || c->labels[label])
            return fail(c, i, c->labels[label] ? "defines a label again" : "does not follow ret");
        c->labels[label] = c->p->code_count + 1;
        c->after_ret = c->in_main = false;
        return 0;
    default:
        return 0;
    }
}

static int check_control(struct checker *c, const struct d3d9_instruction *i)
{
    bool compares = i->opcode == D3D9_IFC || i->opcode == D3D9_BREAKC || i->opcode == D3D9_SETP;

    if (compares && (i->control < 1 || i->control > 6))
        return fail(c, i, "has an unknown comparison");
    if (i->opcode == D3D9_TEX && c->p->major >= 2 && i->control > 2)
        return fail(c, i, "has unknown controls");
    if (i->predicated &&
        (c->p->major < 2 || i->predicate.type != D3D9_PREDICATE || i->predicate.index || !i->has_dst ||
         (i->predicate.modifier != D3D9_MOD_NONE && i->predicate.modifier != D3D9_MOD_NOT)))
        return fail(c, i, "has an impossible predicate");
    if (i->has_dst && (i->dst.modifier & ~7u || !i->dst.mask || i->dst.shift < -3 || i->dst.shift > 3))
        return fail(c, i, "has an impossible destination modifier");
    return 0;
}

/* Where a definition stands makes no difference: it holds for the whole program. Drivers that put a program together
 * from parts (a fixed-function pipeline's fog behind its texture stages) define where a part begins. */
static int define(struct checker *c, const struct d3d9_instruction *i)
{
    struct d3d9_program *p = c->p;
    uint32_t type = i->opcode == D3D9_DEF    ? D3D9_CONST
                    : i->opcode == D3D9_DEFI ? D3D9_CONSTINT
                                             : D3D9_CONSTBOOL;
    struct d3d9_constant **list = type == D3D9_CONST      ? &p->def
                                  : type == D3D9_CONSTINT ? &p->defi
                                                          : &p->defb,
                         *grown;
    uint32_t *count = type == D3D9_CONST      ? &p->def_count
                      : type == D3D9_CONSTINT ? &p->defi_count
                                              : &p->defb_count;

    if (i->dst.type != type || i->dst.relative || i->dst.index >= register_limit(p, type))
        return fail(c, i, "does not define a constant register");
    if (is_defined(*list, *count, i->dst.index))
        return fail(c, i, "defines its register again");
    grown = realloc(*list, (*count + 1) * sizeof(*grown));
    if (!grown)
        return error_set(c->e, -ENOMEM, "no memory for a shader's constants");
    *list = grown;
    grown[*count].index = i->dst.index;
    memcpy(grown[(*count)++].value, i->value, sizeof(i->value));
    return 0;
}

static int declare(struct checker *c, const struct d3d9_instruction *i)
{
    struct d3d9_program *p = c->p;
    const struct d3d9_operand *o = &i->dst;
    struct d3d9_declaration d = {i->usage, i->usage_index, o->type, (uint8_t)o->index, o->mask, o->modifier};

    if (p->code_count)
        return fail(c, i, "follows instructions");
    if (o->relative || o->index >= register_limit(p, o->type) || !o->mask)
        return fail(c, i, "declares a register that does not exist");
    switch (o->type) {
    case D3D9_SAMPLER:
        if (i->texture < 2 || i->texture > 4)
            return fail(c, i, "has an unknown texture type");
        p->sampler_dim[o->index] = i->texture;
        return 0;
    case D3D9_INPUT:
    case D3D9_ADDRESS:
    case D3D9_OUTPUT:
        if (i->usage >= D3D9_USAGE_COUNT || (o->type == D3D9_ADDRESS && !p->pixel) ||
            (o->type == D3D9_OUTPUT && p->major < 3))
            return fail(c, i, "declares a register that takes no usage");
        /* Before shader model 3 the register of a pixel shader is the usage. */
        if (p->pixel && p->major < 3) {
            d.usage = o->type == D3D9_INPUT ? D3D9_USAGE_COLOR : D3D9_USAGE_TEXCOORD;
            d.usage_index = (uint8_t)o->index;
        }
        if (o->type == D3D9_OUTPUT ? p->output_count == 32 : p->input_count == 32)
            return fail(c, i, "is one declaration too many");
        for (uint32_t k = 0; k < p->input_count && !p->pixel && o->type == D3D9_INPUT; k++)
            if (p->inputs[k].index == o->index)
                return fail(c, i, "declares its register again");
        if (o->type != D3D9_OUTPUT) {
            p->inputs[p->input_count++] = d;
            return 0;
        }
        p->outputs[p->output_count++] = d;
        p->writes_position |= d.usage == D3D9_USAGE_POSITION && !d.usage_index;
        p->writes_point_size |= d.usage == D3D9_USAGE_PSIZE && !d.usage_index;
        p->writes_fog |= d.usage == D3D9_USAGE_FOG && !d.usage_index;
        return 0;
    case D3D9_MISC:
        return 0;
    default:
        return fail(c, i, "declares a register that needs no declaration");
    }
}

static int check(struct checker *c, const struct d3d9_instruction *i)
{
    int ret = 0;

    if (c->after_ret && i->opcode != D3D9_LABEL_OP)
        return fail(c, i, "follows ret");
    ret = check_control(c, i);
    if (!ret && i->has_dst)
        ret = check_destination(c, i);
    for (uint32_t k = 0; k < i->src_count && !ret; k++)
        ret = check_source(c, i, k);
    if (!ret)
        ret = flow(c, i);
    if (!ret)
        ret = check_matrix_texture(c, i);
    c->p->kills |= i->opcode == D3D9_TEXKILL;
    c->p->uses_bump |= i->opcode == D3D9_TEXBEM || i->opcode == D3D9_TEXBEML || i->opcode == D3D9_BEM;
    return ret;
}

/* Registers that pre-3.0 shaders use without a declaration. */
static void imply_declarations(struct d3d9_program *p)
{
    static const uint8_t usages[13] = {D3D9_USAGE_POSITION, D3D9_USAGE_FOG, D3D9_USAGE_PSIZE,
                                       D3D9_USAGE_COLOR, D3D9_USAGE_COLOR};

    if (!p->pixel && p->major < 3)
        for (uint8_t k = 0; k < 13; k++)
            p->outputs[p->output_count++] = (struct d3d9_declaration){k < 5 ? usages[k] : D3D9_USAGE_TEXCOORD,
                                                                      k < 4 ? 0 : k == 4 ? 1 : k - 5,
                                                                      D3D9_OUTPUT,
                                                                      k,
                                                                      15,
                                                                      0};
    if (p->pixel && p->major == 1) {
        p->input_count = 0;
        for (uint8_t k = 0; k < 2; k++)
            p->inputs[p->input_count++] =
                (struct d3d9_declaration){D3D9_USAGE_COLOR, k, D3D9_INPUT, k, 15, 0};
        for (uint8_t k = 0; k < (p->minor == 4 ? 6 : 4); k++)
            p->inputs[p->input_count++] =
                (struct d3d9_declaration){D3D9_USAGE_TEXCOORD, k, D3D9_ADDRESS, k, 15, 0};
        p->color_mask = 1;
    }
}

void d3d9_program_destroy(struct d3d9_program *p)
{
    if (!p)
        return;
    free(p->code);
    free(p->def);
    free(p->defi);
    free(p->defb);
    free(p);
}

static int append(struct d3d9_program *p, const struct d3d9_instruction *i, uint32_t *capacity,
                  struct error *e)
{
    if (p->code_count == *capacity) {
        uint32_t n = *capacity ? 2 * *capacity : 64;
        struct d3d9_instruction *grown = realloc(p->code, n * sizeof(*grown));
        if (!grown)
            return error_set(e, -ENOMEM, "no memory for a shader's instructions");
        p->code = grown;
        *capacity = n;
    }
    p->code[p->code_count++] = *i;
    return 0;
}

/* How many times an instruction selects among the defined constants, because it indexes them. */
static uint32_t indexed_reads(const struct d3d9_instruction *i)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < i->src_count; k++)
        if (i->src[k].relative && i->src[k].type == D3D9_CONST)
            n += matrix_rows(i->opcode, k);
    return n;
}

/* Drivers put subroutines in place of their calls, so a few lines can grow without bound: each label's length with
 * everything that it calls is limited. Calls only go forwards, which makes one pass from the end enough. */
static int limit_growth(const struct d3d9_program *p, struct error *e)
{
    uint32_t weight[D3D9_MAX_LABELS] = {0}, sum = 0;

    for (uint32_t k = p->code_count; k > 0; k--) {
        const struct d3d9_instruction *i = &p->code[k - 1];
        sum += 1 + indexed_reads(i) * p->def_count;
        if (i->opcode == D3D9_CALL || i->opcode == D3D9_CALLNZ)
            sum += weight[i->src[0].index];
        if (sum > D3D9_MAX_WORDS)
            return error_set(e, -ENOTSUP,
                             "D3D9: subroutines and indexed constants come to more than %u steps",
                             D3D9_MAX_WORDS);
        if (i->opcode == D3D9_LABEL_OP) {
            weight[i->src[0].index] = sum;
            sum = 0;
        }
    }
    return 0;
}

int d3d9_program_create(struct d3d9_program **out, const void *bytes, size_t size, size_t *used,
                        struct error *e)
{
    struct d3d9_program *p = calloc(1, sizeof(*p));
    struct checker c = {.p = p, .e = e, .in_main = true};
    struct d3d9_instruction i;
    struct d3d9_reader r;
    uint32_t capacity = 0;
    int ret;

    *out = NULL;
    if (!p)
        return error_set(e, -ENOMEM, "no memory for a shader");
    ret = d3d9_open(&r, bytes, size, e);
    p->pixel = r.pixel;
    p->major = r.major;
    p->minor = r.minor;
    p->bare = r.bare;
    while (!ret && (ret = d3d9_next(&r, &i, e)) > 0) {
        if (i.opcode == D3D9_NOP)
            ret = 0;
        else if (i.opcode == D3D9_DCL)
            ret = declare(&c, &i);
        else if (i.opcode == D3D9_DEF || i.opcode == D3D9_DEFI || i.opcode == D3D9_DEFB)
            ret = define(&c, &i);
        else if (!(ret = check(&c, &i)))
            ret = append(p, &i, &capacity, e);
    }
    if (!ret && c.depth)
        ret = error_set(e, -EINVAL, "D3D9: the shader ends inside a block");
    if (!ret && !c.in_main && !c.after_ret)
        ret = error_set(e, -EINVAL, "D3D9: the last subroutine does not end with ret");
    for (uint32_t k = 0; k < D3D9_MAX_LABELS && !ret; k++)
        if (c.calls[k] && !c.labels[k])
            ret =
                error_set(e, -EINVAL, "D3D9: call at word %u calls l%u, which is not defined", c.calls[k], k);
    if (!ret)
        ret = limit_growth(p, e);
    if (!ret && !p->pixel && !p->writes_position)
        ret = error_set(e, -EINVAL, "D3D9: the vertex shader writes no position");
    if (ret) {
        d3d9_program_destroy(p);
        return ret;
    }
    imply_declarations(p);
    *used = 4 * (size_t)r.at;
    *out = p;
    return 0;
}
