/* SPDX-License-Identifier: MIT */
#include "d3d12/view/shader_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/dxbc/sm4_tokens.h"
#include "d3d12/view/shader_ops.h"

#define MAX_INSTRUCTIONS 8192
#define MAX_TEMPS        4096
#define MAX_ARRAYS       16
#define MAX_RANGES       256
#define NOWHERE          UINT32_MAX

struct step {
    struct sm4_instruction i;
    /* Of a branch the step of its else or end, of a loop or switch its end, of an end its beginning; of break and continue the loop
     * or switch. */
    uint32_t other;
};

struct range { /* of registers that the program declares; before model 5.1 one, whose number it has */
    uint32_t type, number, first, last, space, stride;
};

struct shader_code {
    struct sm4 program;
    bool ranged; /* model 5.1 */
    struct range *ranges;
    size_t num_ranges, room_ranges;
    struct step *steps;
    size_t num, room;
    uint32_t temps, arrays[MAX_ARRAYS], array_at[MAX_ARRAYS], registers; /* arrays behind temps */
    const uint8_t *immediate;                                            /* constants in the program */
    uint32_t immediates;                                                 /* of 16 bytes */
    bool pixel;
};

struct state {
    const struct shader_code *c;
    struct shader_run *x;
    struct shader_value (*r)[4];
    uint32_t n; /* steps so far */
};

/* ---- decoding ------------------------------------------------------------ */

static bool declare_range(struct shader_code *c, const struct sm4_instruction *i)
{
    const struct sm4_operand *o = &i->operands[0];
    const bool structured = i->opcode == SM4_OP_DCL_RESOURCE_STRUCTURED;

    if (c->num_ranges == MAX_RANGES || array_reserve(c->ranges, c->room_ranges, c->num_ranges + 1) ||
        (c->ranged && o->dims != 3))
        return false;
    c->ranges[c->num_ranges++] =
        (struct range){.type = o->type,
                       .number = o->index[0],
                       .first = c->ranged ? o->index[1] : o->index[0],
                       .last = c->ranged ? o->index[2] : o->index[0],
                       .space = c->ranged ? sm4_word(&c->program, i->at + i->length - 1) : 0,
                       .stride = structured ? sm4_word(&c->program, i->extra_at) : 0};
    return true;
}

static bool declare(struct shader_code *c, const struct sm4_instruction *i)
{
    uint32_t n;

    switch (i->opcode) {
    case SM4_OP_DCL_TEMPS:
        c->temps = sm4_word(&c->program, i->extra_at);
        return c->temps <= MAX_TEMPS;
    case SM4_OP_DCL_INDEXABLE_TEMP:
        n = sm4_word(&c->program, i->extra_at);
        if (n >= MAX_ARRAYS || sm4_word(&c->program, i->extra_at + 1) > MAX_TEMPS)
            return false;
        c->arrays[n] = sm4_word(&c->program, i->extra_at + 1);
        return true;
    case SM4_OP_DCL_CONSTANT_BUFFER:
    case SM4_OP_DCL_RESOURCE_RAW:
    case SM4_OP_DCL_RESOURCE_STRUCTURED:
        return declare_range(c, i);
    case SM4_OP_CUSTOMDATA:
        if ((i->token >> 11) == 3) { /* the constants */
            c->immediate = c->program.data + 4 * (size_t)i->extra_at;
            c->immediates = (i->length - 2) / 4;
        }
        return true;
    default:
        return true;
    }
}

static bool is_closed_by(uint32_t open, uint32_t end)
{
    return open == SM4_OP_LOOP     ? end == SM4_OP_ENDLOOP
           : open == SM4_OP_SWITCH ? end == SM4_OP_ENDSWITCH
                                   : end == SM4_OP_ENDIF;
}

/* The innermost of what is open that `op`, a break or continue, is about. */
static uint32_t leaves(const struct shader_code *c, const uint32_t *open, size_t depth, uint32_t op)
{
    while (depth--) {
        const uint32_t o = c->steps[open[depth]].i.opcode;

        if (o == SM4_OP_LOOP || (o == SM4_OP_SWITCH && (op == BREAK || op == BREAKC)))
            return open[depth];
    }
    return NOWHERE;
}

/* Where branches, switches and loops go. */
static bool tie(struct shader_code *c)
{
    uint32_t open[64];
    size_t depth = 0;

    for (uint32_t k = 0; k < c->num; k++) {
        struct step *s = &c->steps[k];
        const uint32_t in = depth ? c->steps[open[depth - 1]].i.opcode : NOWHERE;

        s->other = NOWHERE;
        switch (s->i.opcode) {
        case SM4_OP_IF:
        case SM4_OP_LOOP:
        case SM4_OP_SWITCH:
            if (depth == 64)
                return false;
            open[depth++] = k;
            break;
        case SM4_OP_ELSE:
            if (in != SM4_OP_IF)
                return false;
            c->steps[open[depth - 1]].other = k;
            open[depth - 1] = k;
            break;
        case SM4_OP_CASE:
        case SM4_OP_DEFAULT:
            if (in != SM4_OP_SWITCH)
                return false;
            break;
        case SM4_OP_ENDIF:
        case SM4_OP_ENDLOOP:
        case SM4_OP_ENDSWITCH:
            if (!depth || !is_closed_by(in, s->i.opcode))
                return false;
            c->steps[open[--depth]].other = k;
            s->other = open[depth];
            break;
        case BREAK:
        case BREAKC:
        case CONTINUE:
        case CONTINUEC:
            s->other = leaves(c, open, depth, s->i.opcode);
            break;
        default:
            break;
        }
    }
    return !depth;
}

static bool decode(struct shader_code *c)
{
    struct sm4_instruction i;
    struct error e = {0};
    int got;

    while ((got = sm4_next(&c->program, &i, &e)) > 0) {
        if (c->num == MAX_INSTRUCTIONS || array_reserve(c->steps, c->room, c->num + 1) || !declare(c, &i))
            return false;
        if ((i.opcode >= SM4_OP_DCL_RESOURCE && i.opcode <= SM4_OP_DCL_GLOBAL_FLAGS) ||
            i.opcode == SM4_OP_CUSTOMDATA ||
            (i.opcode >= SM4_OP_DCL_STREAM && i.opcode <= SM4_OP_DCL_RESOURCE_STRUCTURED) ||
            i.opcode == SM4_OP_DCL_GS_INSTANCES)
            continue;
        c->steps[c->num++].i = i;
    }
    c->registers = c->temps;
    for (size_t k = 0; k < MAX_ARRAYS; k++) {
        c->array_at[k] = c->registers;
        c->registers += c->arrays[k];
    }
    return got == 0 && tie(c);
}

static bool set_model(struct shader_code *c)
{
    c->ranged = c->program.major == 5 && c->program.minor == 1;
    return c->ranged || c->program.major == 4 || (c->program.major == 5 && !c->program.minor);
}

struct shader_code *shader_code(const struct dxbc *d)
{
    const struct dxbc_chunk *p = dxbc_program(d);
    struct shader_code *c = p ? calloc(1, sizeof(*c)) : NULL;
    struct error e = {0};

    if (!c)
        return NULL;
    if (sm4_open(&c->program, p->data, p->size, &e) || c->program.type > 1 || !set_model(c) || !decode(c)) {
        shader_code_free(c);
        return NULL;
    }
    c->pixel = !c->program.type;
    return c;
}

void shader_code_free(struct shader_code *c)
{
    if (c) {
        free(c->steps);
        free(c->ranges);
    }
    free(c);
}

/* ---- operands ------------------------------------------------------------ */

static bool read_at(struct state *s, const struct sm4_operand *o, struct shader_value *four);

/* An index, with its register; false: unknown. */
static bool index_of(struct state *s, const struct sm4_operand *o, unsigned d, uint32_t *out)
{
    struct shader_value four[4];
    struct sm4_operand inner;
    struct error e = {0};
    uint32_t at = o->relative_at[d];

    *out = o->index[d];
    if (!(o->relative >> d & 1))
        return true;
    if (sm4_operand(&s->c->program, &at, s->c->program.words, &inner, 1, &e) || !read_at(s, &inner, four) ||
        !four[0].known)
        return false;
    *out += four[0].bits;
    return true;
}

/* The register that an operand names, or NULL: unknown, or none that is kept. */
static struct shader_value *place_of(struct state *s, const struct sm4_operand *o)
{
    uint32_t a, b;

    if (!o->dims || !index_of(s, o, 0, &a))
        return NULL;
    switch (o->type) {
    case SM4_TEMP:
        return a < s->c->temps ? s->r[a] : NULL;
    case SM4_INPUT:
        return o->dims == 1 && a < SHADER_REGISTERS ? s->x->in[a] : NULL;
    case SM4_OUTPUT:
        return o->dims == 1 && a < SHADER_REGISTERS ? s->x->out[a] : NULL;
    case SM4_INDEXABLE_TEMP:
        if (a >= MAX_ARRAYS || o->dims < 2 || !index_of(s, o, 1, &b) || b >= s->c->arrays[a])
            return NULL;
        return s->r[s->c->array_at[a] + b];
    default:
        return NULL;
    }
}

/* The register of a range that an operand names; false: it is unknown, or none of the range's. */
static bool place_in_range(struct state *s, const struct sm4_operand *o, struct shader_place *at,
                           uint32_t *stride)
{
    const struct shader_code *c = s->c;
    const struct range *r = NULL;

    for (size_t k = 0; k < c->num_ranges && !r; k++)
        if (c->ranges[k].type == o->type && c->ranges[k].number == o->index[0])
            r = &c->ranges[k];
    *stride = r ? r->stride : 0;
    at->space = r ? r->space : 0;
    if (!c->ranged)
        return o->dims && index_of(s, o, 0, &at->reg);
    return r && o->dims >= 2 && !(o->relative & 1) && index_of(s, o, 1, &at->reg) && at->reg >= r->first &&
           at->reg <= r->last;
}

/* Its four values, as they lie there; false: nothing is known of them. */
static bool raw_of(struct state *s, const struct sm4_operand *o, struct shader_value *four)
{
    const struct shader_value *p;
    struct shader_place at;
    uint32_t a, b, stride;

    memset(four, 0, 4 * sizeof(*four));
    if (o->type == SM4_IMM32) {
        for (unsigned k = 0; k < 4; k++)
            four[k] = (struct shader_value){o->value[o->value_count == 4 ? k : 0], true};
        return true;
    }
    if (o->type == SM4_CONSTANT_BUFFER) {
        if (o->dims != (s->c->ranged ? 3 : 2) || !place_in_range(s, o, &at, &stride) ||
            !index_of(s, o, o->dims - 1u, &b))
            return false;
        s->x->constants(s->x->ctx, at, b, four);
        return true;
    }
    if (o->type == SM4_ICB) {
        if (!o->dims || !index_of(s, o, 0, &a) || a >= s->c->immediates)
            return false;
        for (unsigned k = 0; k < 4; k++) {
            memcpy(&four[k].bits, s->c->immediate + 16 * (size_t)a + 4 * k, 4);
            four[k].known = true;
        }
        return true;
    }
    if (!(p = place_of(s, o)))
        return false;
    memcpy(four, p, 4 * sizeof(*four));
    return true;
}

/* With its swizzle, without modifiers. */
static bool read_at(struct state *s, const struct sm4_operand *o, struct shader_value *four)
{
    struct shader_value raw[4];

    if (!raw_of(s, o, raw)) {
        memset(four, 0, 4 * sizeof(*four));
        return false;
    }
    for (unsigned k = 0; k < 4; k++)
        four[k] = raw[o->components != 4 || o->type == SM4_IMM32 ? (o->components == 4 ? k : 0)
                      : o->select == 1                           ? o->swizzle >> (2 * k) & 3
                      : o->select == 2                           ? o->swizzle
                                                                 : k];
    return true;
}

static void read_operand(struct state *s, const struct sm4_operand *o, enum shader_kind kind,
                         struct shader_value *four)
{
    read_at(s, o, four);
    for (unsigned k = 0; k < 4; k++) {
        if (kind == SHADER_INTEGERS) {
            four[k].bits = o->modifier & 1 ? 0 - four[k].bits : four[k].bits;
            continue;
        }
        if (kind == SHADER_MOVES && o->modifier && shader_denormal(four[k].bits)) /* which may flush it */
            four[k].known = false;
        if (o->modifier & 2)
            four[k].bits &= 0x7fffffffu;
        if (o->modifier & 1)
            four[k].bits ^= 0x80000000u;
        if (kind == SHADER_FLOATS)
            four[k].bits = shader_bits(shader_flushed(shader_float(four[k].bits)));
    }
}

/* Somewhere in that file something was written. */
static void forget_all(struct state *s, uint32_t file)
{
    if (file == SM4_OUTPUT)
        memset(s->x->out, 0, sizeof(s->x->out));
    for (uint32_t k = s->c->temps; k < s->c->registers && file == SM4_INDEXABLE_TEMP; k++)
        memset(s->r[k], 0, sizeof(s->r[k]));
}

static void write_operand(struct state *s, const struct sm4_instruction *i, unsigned n,
                          const struct shader_value *four)
{
    const struct sm4_operand *o = &i->operands[n];
    struct shader_value *p = place_of(s, o);
    uint32_t number;
    const unsigned mask = o->components == 4 ? o->swizzle & 15 : 1;

    if (!p && o->relative)
        forget_all(s, o->type);
    if (!p)
        return;
    for (unsigned k = 0; k < 4; k++)
        if (mask >> k & 1) {
            p[k] = four[k];
            if (!(i->token >> 13 & 1) || !p[k].known) /* not saturated */
                continue;
            p[k].known = !shader_denormal(p[k].bits); /* of a move, which may flush it */
            p[k].bits = shader_bits(fminf(fmaxf(shader_float(p[k].bits), 0), 1));
        }
    if (s->x->wrote && index_of(s, o, 0, &number))
        s->x->wrote(s->x->wrote_ctx, i->at,
                    o->type == SM4_TEMP     ? 'r'
                    : o->type == SM4_OUTPUT ? 'o'
                                            : 'x',
                    number, (uint8_t)mask, p);
}

/* ---- arithmetic ---------------------------------------------------------- */

static unsigned sources(const struct sm4_instruction *i)
{
    unsigned n = 0;

    for (const char *f = sm4_ops[i->opcode].format; *f; f++)
        n += *f == 'o';
    return n;
}

static bool is_zero(const struct shader_value *v)
{
    return v->known && !(v->bits & 0x7fffffffu);
}

/* Whether their product is 0 in a pixel shader, where one is not known: what is interpolated is a number, and what is none is written
 * as 0. */
static bool is_nothing(const struct shader_value *a, const struct shader_value *b)
{
    return (is_zero(a) && !b->known) || (is_zero(b) && !a->known);
}

/* One component of what is computed component by component. */
static struct shader_value one(const struct state *s, uint32_t op, unsigned n, struct shader_value v[3])
{
    struct shader_value out = {0, true};

    if (op == MOVC) {
        out = v[0].bits ? v[1] : v[2];
        out.known = v[0].known ? out.known : v[1].known && v[2].known && v[1].bits == v[2].bits;
        return out;
    }
    if (s->c->pixel && (op == MUL || op == MAD) && is_nothing(&v[0], &v[1]) && (op == MUL || v[2].known)) {
        out.bits = op == MUL ? 0 : v[2].bits;
        return out;
    }
    for (unsigned k = 0; k < n; k++)
        out.known &= v[k].known;
    out.known = out.known && shader_op(op, v[0].bits, v[1].bits, v[2].bits, &out.bits);
    return out;
}

static void compute(struct state *s, const struct sm4_instruction *i)
{
    const unsigned n = sources(i), first = i->operand_count - n;
    struct shader_value in[3][4] = {0}, out[4];

    if (n > 3 || first != 1) {
        memset(out, 0, sizeof(out));
    } else {
        for (unsigned k = 0; k < n; k++)
            read_operand(s, &i->operands[first + k], shader_kind(i->opcode), in[k]);
        for (unsigned k = 0; k < 4; k++)
            out[k] = one(s, i->opcode, n, (struct shader_value[]){in[0][k], in[1][k], in[2][k]});
    }
    write_operand(s, i, 0, out);
}

static void dot(struct state *s, const struct sm4_instruction *i, unsigned n)
{
    struct shader_value a[4], b[4], sum = {0, true}, out[4];
    float f = 0;

    read_operand(s, &i->operands[1], SHADER_FLOATS, a);
    read_operand(s, &i->operands[2], SHADER_FLOATS, b);
    for (unsigned k = 0; k < n; k++) {
        if (s->c->pixel && is_nothing(&a[k], &b[k]))
            continue;
        sum.known &= a[k].known && b[k].known;
        f = shader_flushed(f + shader_flushed(shader_float(a[k].bits) * shader_float(b[k].bits)));
    }
    sum.bits = shader_bits(f);
    for (unsigned k = 0; k < 4; k++)
        out[k] = sum;
    write_operand(s, i, 0, out);
}

/* Instructions of two results. */
static void pair(struct state *s, const struct sm4_instruction *i)
{
    struct shader_value a[4], b[4] = {0}, first[4] = {0}, second[4] = {0};
    const bool two = i->operand_count == 4;

    read_operand(s, &i->operands[2], i->opcode == SINCOS ? SHADER_FLOATS : SHADER_INTEGERS, a);
    if (two)
        read_operand(s, &i->operands[3], SHADER_INTEGERS, b);
    for (unsigned k = 0; k < 4; k++) {
        const uint64_t u = (uint64_t)a[k].bits * b[k].bits;
        const int64_t n = (int64_t)(int32_t)a[k].bits * (int32_t)b[k].bits;

        first[k].known = second[k].known = a[k].known && (!two || b[k].known);
        switch (i->opcode) {
        case SINCOS:
            first[k].bits = shader_bits(shader_flushed(sinf(shader_float(a[k].bits))));
            second[k].bits = shader_bits(shader_flushed(cosf(shader_float(a[k].bits))));
            if (fabsf(shader_float(a[k].bits)) > SHADER_SINCOS_MOST)
                first[k].known = second[k].known = false;
            break;
        case UDIV:
            first[k].bits = b[k].bits ? a[k].bits / b[k].bits : UINT32_MAX;
            second[k].bits = b[k].bits ? a[k].bits % b[k].bits : UINT32_MAX;
            break;
        case IMUL:
            first[k].bits = (uint32_t)((uint64_t)n >> 32);
            second[k].bits = (uint32_t)n;
            break;
        case UMUL:
            first[k].bits = (uint32_t)(u >> 32);
            second[k].bits = (uint32_t)u;
            break;
        default:
            first[k].known = second[k].known = false;
        }
    }
    write_operand(s, i, 0, first);
    write_operand(s, i, 1, second);
}

static void load(struct state *s, const struct sm4_instruction *i)
{
    const bool structured = i->opcode == LD_STRUCTURED;
    const struct sm4_operand *t = &i->operands[structured ? 3 : 2];
    struct shader_value a[4], b[4] = {0}, raw[4] = {0}, out[4];
    struct shader_place at;
    uint32_t stride;

    read_operand(s, &i->operands[1], SHADER_INTEGERS, a);
    if (structured)
        read_operand(s, &i->operands[2], SHADER_INTEGERS, b);
    if (t->type == SM4_RESOURCE && s->x->buffer && place_in_range(s, t, &at, &stride) && a[0].known &&
        (!structured || b[0].known))
        for (unsigned k = 0; k < 4; k++)
            s->x->buffer(s->x->ctx, at, stride, structured ? a[0].bits : 0,
                         (structured ? b[0].bits : a[0].bits) + 4 * k, &raw[k]);
    for (unsigned k = 0; k < 4; k++)
        out[k] = raw[t->components == 4 && t->select == 1 ? t->swizzle >> (2 * k) & 3
                     : t->select == 2                     ? t->swizzle
                                                          : k];
    write_operand(s, i, 0, out);
}

static void calculate(struct state *s, const struct sm4_instruction *i)
{
    static const struct shader_value unknown[4];
    const char *f = sm4_ops[i->opcode].format;

    if (i->opcode >= DP2 && i->opcode <= DP4)
        dot(s, i, i->opcode - DP2 + 2);
    else if (i->opcode == SINCOS || i->opcode == UDIV || i->opcode == IMUL || i->opcode == UMUL)
        pair(s, i);
    else if (i->opcode == LD_RAW || i->opcode == LD_STRUCTURED)
        load(s, i);
    else if (f[0] == 'd' && strspn(f + 1, "o") == strlen(f + 1))
        compute(s, i);
    else
        for (unsigned k = 0; k < i->operand_count && f[k] == 'd'; k++)
            write_operand(s, i, k, unknown);
}

/* ---- running ------------------------------------------------------------- */

/* 1: it holds; 0: it does not; -1: unknown. */
static int condition(struct state *s, const struct sm4_instruction *i)
{
    struct shader_value four[4];

    read_operand(s, &i->operands[0], SHADER_INTEGERS, four);
    return four[0].known ? (four[0].bits != 0) == (i->token >> 18 & 1) : -1;
}

/* From a branch or switch of which nobody knows what is taken, to its end: what it writes is unknown, and it must neither return nor
 * loop out of itself. The step behind, or NOWHERE. */
static uint32_t doubt(struct state *s, const uint32_t from)
{
    static const struct shader_value unknown[4];
    uint32_t depth = 0;

    for (uint32_t at = from; at < s->c->num; at++, s->n++) {
        const struct step *p = &s->c->steps[at];
        const struct sm4_instruction *i = &p->i;
        const char *f = sm4_ops[i->opcode].format;

        switch (i->opcode) {
        case SM4_OP_IF:
        case SM4_OP_SWITCH:
            depth++;
            break;
        case SM4_OP_ENDIF:
        case SM4_OP_ENDSWITCH:
            if (!--depth)
                return at + 1;
            break;
        case SM4_OP_DISCARD:
            if (s->x->discard == SHADER_KEEPS)
                s->x->discard = SHADER_MAY_DISCARD;
            break;
        case BREAK:
        case BREAKC:
            if (p->other == NOWHERE || p->other < from)
                return NOWHERE;
            break;
        case SM4_OP_RET:
        case RETC:
        case CONTINUE:
        case CONTINUEC:
        case SM4_OP_LOOP:
            return NOWHERE;
        default:
            for (unsigned k = 0; f && k < i->operand_count && f[k] == 'd'; k++)
                write_operand(s, i, k, unknown);
        }
    }
    return NOWHERE;
}

/* Of a switch: the step of the label that is taken. */
static uint32_t chosen(struct state *s, uint32_t from)
{
    const struct step *steps = s->c->steps;
    struct shader_value four[4];
    uint32_t depth = 0, otherwise = steps[from].other;

    read_operand(s, &steps[from].i.operands[0], SHADER_INTEGERS, four);
    if (!four[0].known)
        return doubt(s, from);
    for (uint32_t at = from; at < steps[from].other; at++, s->n++) {
        const struct sm4_instruction *i = &steps[at].i;

        if (i->opcode == SM4_OP_SWITCH)
            depth++;
        else if (i->opcode == SM4_OP_ENDSWITCH)
            depth--;
        else if (depth == 1 && i->opcode == SM4_OP_DEFAULT)
            otherwise = at;
        else if (depth == 1 && i->opcode == SM4_OP_CASE && i->operands[0].value[0] == four[0].bits)
            return at;
    }
    return otherwise;
}

/* The step behind `at`, or NOWHERE: that is not known; `num`: the end. */
static uint32_t step(struct state *s, uint32_t at)
{
    const struct step *p = &s->c->steps[at];
    const uint32_t end = (uint32_t)s->c->num;
    int holds = 1;

    switch (p->i.opcode) {
    case SM4_OP_RET:
        return end;
    case RETC:
        holds = condition(s, &p->i);
        return holds < 0 ? NOWHERE : holds ? end : at + 1;
    case SM4_OP_DISCARD:
        holds = condition(s, &p->i);
        if (holds > 0)
            s->x->discard = SHADER_DISCARDS;
        else if (holds < 0 && s->x->discard == SHADER_KEEPS)
            s->x->discard = SHADER_MAY_DISCARD;
        return at + 1;
    case SM4_OP_IF:
        holds = condition(s, &p->i);
        return holds < 0 ? doubt(s, at) : holds ? at + 1 : p->other + 1;
    case SM4_OP_SWITCH:
        return chosen(s, at);
    case SM4_OP_ELSE:
    case SM4_OP_ENDLOOP:
        return p->other + 1;
    case BREAKC:
    case CONTINUEC:
        holds = condition(s, &p->i);
        if (holds < 0 || p->other == NOWHERE)
            return NOWHERE;
        if (!holds)
            return at + 1;
        return p->i.opcode == BREAKC ? s->c->steps[p->other].other + 1 : p->other + 1;
    case BREAK:
        return p->other == NOWHERE ? NOWHERE : s->c->steps[p->other].other + 1;
    case CONTINUE:
        return p->other == NOWHERE ? NOWHERE : p->other + 1;
    case SM4_OP_LOOP:
    case SM4_OP_ENDIF:
    case SM4_OP_CASE:
    case SM4_OP_DEFAULT:
    case SM4_OP_ENDSWITCH:
    case NOP:
        return at + 1;
    default:
        calculate(s, &p->i);
        return at + 1;
    }
}

static void find_written(const struct shader_code *c, struct shader_run *x)
{
    memset(x->written, 0, sizeof(x->written));
    for (size_t k = 0; k < c->num; k++) {
        const struct sm4_instruction *i = &c->steps[k].i;
        const char *f = sm4_ops[i->opcode].format;

        for (unsigned n = 0; f && n < i->operand_count && f[n] == 'd'; n++) {
            const struct sm4_operand *o = &i->operands[n];

            if (o->type != SM4_OUTPUT || o->dims != 1)
                continue;
            for (uint32_t reg = o->index[0]; reg < SHADER_REGISTERS;
                 reg += o->relative ? 1 : SHADER_REGISTERS)
                x->written[reg] |= o->components == 4 ? o->swizzle & 15 : 1;
        }
    }
}

bool shader_run(const struct shader_code *c, struct shader_run *x)
{
    struct state s = {.c = c, .x = x, .r = calloc(c->registers + 1, sizeof(*s.r))};
    uint32_t at = 0;

    memset(x->out, 0, sizeof(x->out));
    x->discard = SHADER_KEEPS;
    find_written(c, x);
    while (s.r && at < c->num && s.n++ < SHADER_STEPS)
        at = step(&s, at);
    x->steps += s.n;
    free(s.r);
    if (s.r && at == c->num)
        return true;
    memset(x->out, 0, sizeof(x->out));
    if (x->discard == SHADER_KEEPS)
        x->discard = SHADER_MAY_DISCARD;
    return false;
}
