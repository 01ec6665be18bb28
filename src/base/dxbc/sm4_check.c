/* SPDX-License-Identifier: MIT */
/* sm4_check.c: which well-formed token streams may reach the translator.
 *
 * libvkd3d-shader trusts its input: a register of the wrong file, an undeclared one, or a scalar read through another
 * component ends the process in an assertion. So every operand is held against what its instruction takes and against
 * the declarations, and those against the signatures. */
#include "base/dxbc/sm4_check.h"

#include <errno.h>
#include <string.h>

#define MAX_DEPTH   48u
#define MAX_TEMPS   4096u
#define MAX_SHARED  32768u /* bytes that a thread group shares */
#define MAX_ARRAY   4096u  /* elements of an indexable temporary or bytes/16 of group-shared memory */
#define MAX_CBUFFER 4096u  /* vec4s, as in Direct3D */

enum memory_kind { KIND_NONE, KIND_TEXTURE, KIND_TYPED, KIND_RAW, KIND_STRUCTURED };

struct checker {
    const struct sm4 *p;
    struct error *e;
    uint32_t temps;
    uint32_t arrays[64]; /* size of x#, 0 = undeclared */
    uint32_t arrays_together;
    uint8_t shared[32];               /* enum memory_kind */
    uint32_t cbuffers[16];            /* size + 1 of cb#, 0 = undeclared */
    uint32_t samplers;                /* bit per s# */
    uint8_t resources[128], uavs[64]; /* enum memory_kind */
    uint8_t inputs[32], outputs[32], points_in[32], points_out[32], patch[32]; /* declared components */
    uint8_t others[SM4_REGISTER_COUNT]; /* declared components of registers without numbers, by type */
    uint32_t gs_in, gs_out;             /* primitives of a geometry shader, 0 = undeclared */
    const struct dxbc_shader *sigs;
    uint32_t icb_words;
    uint16_t stack[MAX_DEPTH]; /* opcodes of the open blocks */
    bool has_default[MAX_DEPTH];
    uint32_t depth;
    uint32_t phase;                /* opcode of the hull shader phase, 0 before any */
    bool closed;                   /* the last instruction left the block unconditionally */
    bool ended;                    /* the last instruction was an outermost ret */
    bool after_switch, after_case; /* the last instruction opened a switch, or a case of one */
    bool executable;               /* an instruction that is no declaration was seen */
};

static int fail(struct checker *c, const struct sm4_instruction *i, const char *what)
{
    return error_set(c->e, -EINVAL, "DXBC: %s at word %u %s", sm4_ops[i->opcode].name, i->at, what);
}

static bool is_declaration(uint32_t op)
{
    return (op >= SM4_OP_DCL_RESOURCE && op <= SM4_OP_DCL_GLOBAL_FLAGS) || op == SM4_OP_CUSTOMDATA ||
           op == SM4_OP_HS_DECLS || (op >= SM4_OP_DCL_STREAM && op <= SM4_OP_DCL_RESOURCE_STRUCTURED) ||
           op == SM4_OP_DCL_GS_INSTANCES;
}

static int declare_buffer(struct checker *c, const struct sm4_instruction *i, uint32_t index)
{
    const struct sm4_operand *o = &i->operands[0];

    if (o->type != SM4_CONSTANT_BUFFER || o->dims != 2 || o->relative || index >= 16 || !o->index[1] ||
        o->index[1] > MAX_CBUFFER)
        return fail(c, i, "does not name a constant buffer of 1 to 4096 vectors below cb16");
    c->cbuffers[index] = o->index[1] + 1;
    return 0;
}

static const struct dxbc_element *in_signature(const struct dxbc_signature *s, uint32_t reg, uint32_t mask)
{
    for (uint32_t k = 0; k < s->count; k++)
        if (s->elements[k].reg == reg && (s->elements[k].mask & mask) == mask)
            return &s->elements[k];
    return NULL;
}

/* The system value that a declaration names is that of its element, as wide as it is; tessellation factors, which hull and domain
 * shaders have, are numbered otherwise in signatures. */
static bool fits_element(const struct checker *c, const struct sm4_instruction *i,
                         const struct dxbc_element *x)
{
    enum { FIRST_SCALAR = 4, LAST_SCALAR = 10 }; /* SV_RenderTargetArrayIndex to SV_SampleIndex */
    bool names = sm4_ops[i->opcode].format[1] == 'w';
    uint32_t value = names ? sm4_word(c->p, i->extra_at) : 0;

    if (c->p->type == 3 || c->p->type == 4)
        return true;
    if (names && value != x->system_value)
        return false;
    return x->system_value < FIRST_SCALAR || x->system_value > LAST_SCALAR || !(x->mask & (x->mask - 1));
}

/* Registers that have no number: which stages have them, by program type, as far as libvkd3d-shader knows them. */
static bool has_special(const struct checker *c, uint32_t type)
{
    enum { PS = 1, GS = 4, HS = 8, DS = 16, CS = 32 };
    static const uint8_t stages[SM4_REGISTER_COUNT] = {
        [SM4_PRIMITIVE_ID] = GS | HS | DS,
        [SM4_OUTPUT_DEPTH] = PS,
        [SM4_OUTPUT_MASK] = PS,
        [SM4_FIRST_COUNTER] = HS,
        [SM4_FIRST_COUNTER + 1] = HS,
        [SM4_FIRST_COUNTER + 2] = HS,
        [28] = DS, /* vDomain */
        [32] = CS, /* vThreadID, vThreadGroupID, vThreadIDInGroup */
        [33] = CS,
        [34] = CS,
        [36] = CS, /* vThreadIDInGroupFlattened */
        [37] = GS, /* vGSInstanceID */
        [SM4_OUTPUT_DEPTH_GE] = PS,
        [SM4_OUTPUT_DEPTH_LE] = PS,
    };

    return type < SM4_REGISTER_COUNT && stages[type] >> c->p->type & 1;
}

static bool is_special_output(uint32_t type)
{
    return type == SM4_OUTPUT_DEPTH || type == SM4_OUTPUT_MASK || type == SM4_OUTPUT_DEPTH_GE ||
           type == SM4_OUTPUT_DEPTH_LE;
}

/* Inputs and outputs must be in the signature that names them; system values of their own file need none. */
static int declare_register(struct checker *c, const struct sm4_instruction *i)
{
    const struct sm4_operand *o = &i->operands[0];
    bool output = i->opcode >= SM4_OP_DCL_OUTPUT && i->opcode <= SM4_OP_DCL_OUTPUT_SIV;
    uint32_t reg = o->dims ? o->index[o->dims - 1] : 0, mask = o->components == 4 ? o->swizzle : 1;
    const struct dxbc_element *element;
    const struct dxbc_signature *sig = output ? &c->sigs->out : &c->sigs->in;
    uint8_t *declared = output ? c->outputs : c->inputs;
    bool arrayed = c->p->type == 2 || c->p->type == 3;

    if (i->opcode == SM4_OP_DCL_STREAM)
        return o->type == SM4_STREAM && o->dims == 1 && reg < 4 ? 0
                                                                : fail(c, i, "does not name one of m0..m3");
    if (sm4_ops[i->opcode].format[1] == 'w' && sm4_word(c->p, i->extra_at) - 1 > 21)
        return fail(c, i, "names an unknown system value");
    if (reg >= 32 || o->dims > 2 || (o->dims == 2 && (!o->index[0] || o->index[0] > 32)))
        return fail(c, i, "declares a register beyond 31");
    if (!o->dims) {
        if (!has_special(c, o->type) || output != is_special_output(o->type))
            return fail(c, i, "declares a register without a number");
        if (!mask || (o->components == 4 && o->select) || (c->others[o->type] && c->others[o->type] != mask))
            return fail(c, i, "declares other components of a register without a number");
        c->others[o->type] = (uint8_t)mask;
        return 0;
    }
    switch (o->type) {
    case SM4_INPUT:
        break;
    case SM4_OUTPUT:
        /* Hull shaders: control points in their phase, patch constants in the others. */
        if (c->p->type == 3 && c->phase != SM4_OP_HS_CONTROL_POINT)
            sig = &c->sigs->patch;
        break;
    case SM4_INPUT_CONTROL_POINT:
        declared = c->points_in;
        arrayed = true;
        break;
    case SM4_OUTPUT_CONTROL_POINT:
        declared = c->points_out;
        sig = &c->sigs->out;
        arrayed = true;
        break;
    case SM4_PATCH_CONSTANT:
        declared = c->patch;
        sig = &c->sigs->patch;
        break;
    default:
        return fail(c, i, "declares a register of an unknown file");
    }
    if (o->components != 4)
        return fail(c, i, "declares a register without components");
    if (((o->type == SM4_INPUT || o->type == SM4_OUTPUT) && (o->type == SM4_OUTPUT) != output) ||
        (o->dims == 2) != (arrayed && o->type != SM4_OUTPUT && o->type != SM4_PATCH_CONSTANT) ||
        (o->type > SM4_OUTPUT && output) || (o->components == 4 && o->select != 0))
        return fail(c, i, "declares a register of the wrong shape");
    element = mask ? in_signature(sig, reg, mask) : NULL;
    if (!element)
        return fail(c, i, "declares a register that is not in the signature");
    if (!fits_element(c, i, element))
        return fail(c, i, "declares another system value than the signature");
    declared[reg] |= (uint8_t)mask;
    return 0;
}

/* t and u registers: what is behind one, and how it is laid out. `kinds` has `count` entries. */
static int declare_view(struct checker *c, const struct sm4_instruction *i, uint32_t file, uint8_t *kinds,
                        uint32_t count)
{
    const struct sm4_operand *o = &i->operands[0];
    uint32_t n = o->index[0], w = sm4_word(c->p, i->extra_at), dimension = i->token >> 11 & 31;
    bool raw = i->opcode == SM4_OP_DCL_RESOURCE_RAW || i->opcode == SM4_OP_DCL_UAV_RAW;
    bool structured = i->opcode == SM4_OP_DCL_RESOURCE_STRUCTURED || i->opcode == SM4_OP_DCL_UAV_STRUCTURED;

    if (o->type != file || o->dims != 1 || n >= count)
        return fail(c, i, file == SM4_UAV ? "does not name one of u0..u63" : "does not name one of t0..t127");
    if (!raw && !structured && (dimension - 1 > 9 || (w & 15) - 1 > 4))
        return fail(c, i, "has an unknown dimension or type");
    if (structured && (!w || w > 2048 || w % 4))
        return fail(c, i, "has an impossible stride");
    if (kinds[n])
        return fail(c, i, "declares its register twice");
    kinds[n] = raw                                 ? KIND_RAW
               : structured                        ? KIND_STRUCTURED
               : dimension == SM4_DIMENSION_BUFFER ? KIND_TYPED
                                                   : KIND_TEXTURE;
    return 0;
}

/* g registers: memory that a thread group shares. */
static int declare_shared(struct checker *c, const struct sm4_instruction *i)
{
    const struct sm4_operand *o = &i->operands[0];
    uint32_t n = o->index[0], w = sm4_word(c->p, i->extra_at), w1 = sm4_word(c->p, i->extra_at + 1);
    bool raw = i->opcode == SM4_OP_DCL_TGSM_RAW;

    if (o->type != SM4_TGSM || o->dims != 1 || n >= 32 || c->shared[n])
        return fail(c, i, "does not name a new g0..g31");
    if (raw ? !w || w > MAX_SHARED || w % 4 : !w || w % 4 || !w1 || (uint64_t)w * w1 > MAX_SHARED)
        return fail(c, i, "asks for none or more than 32768 bytes");
    c->shared[n] = raw ? KIND_RAW : KIND_STRUCTURED;
    return 0;
}

/* Registers and constants of the shader's own. */
static int declare_array(struct checker *c, const struct sm4_instruction *i)
{
    uint32_t w = sm4_word(c->p, i->extra_at), length = sm4_word(c->p, i->extra_at + 1);

    if (w >= 64 || !length || length > MAX_ARRAY || sm4_word(c->p, i->extra_at + 2) - 1 > 3)
        return fail(c, i, "names an impossible array");
    if (c->arrays[w])
        return fail(c, i, "declares its array again");
    if (c->temps + c->arrays_together + length > MAX_TEMPS)
        return fail(c, i, "asks for more than 4096 registers");
    c->arrays[w] = length;
    c->arrays_together += length;
    return 0;
}

static int declare_constants(struct checker *c, const struct sm4_instruction *i)
{
    uint32_t words = i->length - 2;

    if (i->token >> 11 != 3)
        return 0; /* comments, debug information */
    if (!words || words % 4 || words > 16384)
        return fail(c, i, "is no list of at most 4096 vectors");
    if (c->icb_words)
        return fail(c, i, "is a second immediate constant buffer");
    c->icb_words = words;
    return 0;
}

/* What a geometry shader takes and makes, once each. */
static int declare_primitive(struct checker *c, const struct sm4_instruction *i)
{
    enum { IN = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 6 | 1 << 7, OUT = 1 << 1 | 1 << 3 | 1 << 5 };
    bool in = i->opcode == SM4_OP_DCL_GS_INPUT;
    uint32_t primitive = i->token >> 11 & 63, *declared = in ? &c->gs_in : &c->gs_out;

    if (c->p->type != 2 || *declared || primitive > 7 || !((in ? IN : OUT) >> primitive & 1))
        return fail(c, i, "declares an impossible primitive");
    *declared = primitive;
    return 0;
}

/* Declarations of numbers: how many threads, vertices, instances, points. */
static int declare_number(struct checker *c, const struct sm4_instruction *i)
{
    const struct sm4_operand *o = &i->operands[0];
    uint32_t w = sm4_word(c->p, i->extra_at), y = sm4_word(c->p, i->extra_at + 1);
    uint32_t z = sm4_word(c->p, i->extra_at + 2);

    switch (i->opcode) {
    case SM4_OP_DCL_GS_INPUT:
    case SM4_OP_DCL_GS_OUTPUT:
        return declare_primitive(c, i);
    case SM4_OP_DCL_THREAD_GROUP:
        if (!w || !y || !z || w > 1024 || y > 1024 || z > 64 || (uint64_t)w * y * z > 1024)
            return fail(c, i, "has an impossible size");
        return 0;
    case SM4_OP_DCL_MAX_VERTICES:
        return !w || w > 1024 ? fail(c, i, "is not in 1..1024") : 0;
    case SM4_OP_DCL_FORK_COUNT:
    case SM4_OP_DCL_JOIN_COUNT:
        return !w || w > 64 ? fail(c, i, "is not in 1..64") : 0;
    case SM4_OP_DCL_GS_INSTANCES:
        return !w || w > 32 ? fail(c, i, "is not in 1..32") : 0;
    case SM4_OP_DCL_INDEX_RANGE:
        return !w || w > 32 || o->index[o->dims ? o->dims - 1 : 0] + w > 32
                   ? fail(c, i, "leaves the registers")
                   : 0;
    case SM4_OP_DCL_INPUT_POINTS:
    case SM4_OP_DCL_OUTPUT_POINTS:
        return (i->token >> 11 & 63) > 32 ? fail(c, i, "is more than 32") : 0;
    default:
        return i->operand_count ? declare_register(c, i) : 0;
    }
}

/* Declarations. Indices are checked here so that uses only look up. */
static int declare(struct checker *c, const struct sm4_instruction *i)
{
    const struct sm4_operand *o = &i->operands[0];
    uint32_t n = i->operand_count ? o->index[0] : 0, w = sm4_word(c->p, i->extra_at);

    if (i->operand_count && o->relative)
        return fail(c, i, "has a relative operand");
    if (i->opcode == SM4_OP_DCL_OUTPUT_SGV)
        return error_set(c->e, -ENOTSUP, "DXBC: %s at word %u has no translation", sm4_ops[i->opcode].name,
                         i->at);
    switch (i->opcode) {
    case SM4_OP_DCL_TEMPS:
        if (w > MAX_TEMPS || w + c->arrays_together > MAX_TEMPS)
            return fail(c, i, "asks for more than 4096 registers");
        if (c->temps)
            return fail(c, i, "declares registers again");
        c->temps = w;
        return 0;
    case SM4_OP_DCL_INDEXABLE_TEMP:
        return declare_array(c, i);
    case SM4_OP_CUSTOMDATA:
        return declare_constants(c, i);
    case SM4_OP_DCL_CONSTANT_BUFFER:
        return declare_buffer(c, i, n);
    case SM4_OP_DCL_SAMPLER:
        if (o->type != SM4_SAMPLER || o->dims != 1 || n >= 16)
            return fail(c, i, "does not name one of s0..s15");
        c->samplers |= 1u << n;
        return 0;
    case SM4_OP_DCL_RESOURCE:
    case SM4_OP_DCL_RESOURCE_RAW:
    case SM4_OP_DCL_RESOURCE_STRUCTURED:
        return declare_view(c, i, SM4_RESOURCE, c->resources, sizeof(c->resources));
    case SM4_OP_DCL_UAV_TYPED:
    case SM4_OP_DCL_UAV_RAW:
    case SM4_OP_DCL_UAV_STRUCTURED:
        return declare_view(c, i, SM4_UAV, c->uavs, sizeof(c->uavs));
    case SM4_OP_DCL_TGSM_RAW:
    case SM4_OP_DCL_TGSM_STRUCTURED:
        return declare_shared(c, i);
    default:
        return declare_number(c, i);
    }
}

/* Components that an operand names, for registers of which not all four are declared. */
static uint32_t named_components(const struct sm4_operand *o)
{
    uint32_t mask = 0;

    if (o->components != 4)
        return 1;
    if (o->select == 0)
        return o->swizzle;
    for (uint32_t k = 0; k < 4; k++)
        mask |= 1u << (o->select == 1 ? o->swizzle >> (2 * k) & 3 : o->swizzle);
    return mask;
}

/* One declared component is a scalar to the translator, which then knows no other; and of several it knows none as a scalar. */
static bool names_declared(const struct sm4_operand *o, uint32_t mask)
{
    return mask & (mask - 1) ? o->components == 4 : !(named_components(o) & ~mask);
}

/* v#, o#, vicp, vocp, vpc: the last index is the register, one before it the vertex. */
static int check_declared(struct checker *c, const struct sm4_instruction *i, const struct sm4_operand *o)
{
    const uint8_t *declared = o->type == SM4_INPUT                  ? c->inputs
                              : o->type == SM4_OUTPUT               ? c->outputs
                              : o->type == SM4_INPUT_CONTROL_POINT  ? c->points_in
                              : o->type == SM4_OUTPUT_CONTROL_POINT ? c->points_out
                                                                    : c->patch;
    bool arrayed = o->type == SM4_INPUT_CONTROL_POINT || o->type == SM4_OUTPUT_CONTROL_POINT ||
                   (o->type == SM4_INPUT && (c->p->type == 2 || c->p->type == 3));
    uint32_t reg, mask;

    if (o->dims != (arrayed ? 2u : 1u) || (arrayed && o->index[0] >= 32))
        return fail(c, i, "names a register of the wrong shape");
    reg = o->index[o->dims - 1];
    if (reg >= 32 || !declared[reg])
        return fail(c, i, "uses a register that is not declared");
    mask = declared[reg];
    if (!names_declared(o, mask) || (o->type == SM4_OUTPUT && named_components(o) & ~mask))
        return fail(c, i, "names components that are not declared");
    return 0;
}

static bool is_source(const struct sm4_operand *o)
{
    return !(o->type == SM4_OUTPUT || o->type == SM4_NULL || o->type == SM4_SAMPLER ||
             o->type == SM4_RESOURCE || o->type == SM4_UAV || o->type == SM4_TGSM ||
             o->type == SM4_RASTERIZER || o->type == SM4_STREAM || is_special_output(o->type));
}

static int check_operand(struct checker *c, const struct sm4_instruction *i, const struct sm4_operand *o)
{
    uint32_t n = o->index[0];
    bool declared = true, vector = o->type <= SM4_INDEXABLE_TEMP || o->type == SM4_CONSTANT_BUFFER ||
                                   o->type == SM4_ICB ||
                                   (o->type >= SM4_INPUT_CONTROL_POINT && o->type <= 28);

    if (vector ? o->components != 4 : !o->components && is_source(o))
        return fail(c, i, "names a register without components");
    switch (o->type) {
    case SM4_TEMP:
        declared = o->dims == 1 && !o->relative && n < c->temps;
        break;
    case SM4_INDEXABLE_TEMP:
        declared = o->dims == 2 && !(o->relative & 1) && n < 64 && o->index[1] < c->arrays[n];
        break;
    case SM4_CONSTANT_BUFFER:
        declared =
            o->dims == 2 && !(o->relative & 1) && n < 16 && c->cbuffers[n] && o->index[1] < MAX_CBUFFER;
        break;
    case SM4_SAMPLER:
        declared = o->dims == 1 && !o->relative && n < 16 && c->samplers >> n & 1;
        break;
    case SM4_RESOURCE:
        declared = o->dims == 1 && !o->relative && n < 128 && c->resources[n];
        break;
    case SM4_UAV:
        declared = o->dims == 1 && !o->relative && n < 64 && c->uavs[n];
        break;
    case SM4_TGSM:
        declared = o->dims == 1 && !o->relative && n < 32 && c->shared[n];
        break;
    case SM4_ICB:
        declared = o->dims == 1 && n < c->icb_words / 4;
        break;
    case SM4_INPUT:
    case SM4_OUTPUT:
    case SM4_INPUT_CONTROL_POINT:
    case SM4_OUTPUT_CONTROL_POINT:
    case SM4_PATCH_CONSTANT:
        return check_declared(c, i, o);
    case SM4_STREAM:
        declared = o->dims == 1 && !o->relative && n < 4;
        break;
    case SM4_IMM32:
    case SM4_NULL:
    case SM4_RASTERIZER:
        break;
    default:
        declared = !o->dims && o->type < SM4_REGISTER_COUNT && c->others[o->type];
        if (declared && !names_declared(o, c->others[o->type]))
            return fail(c, i, "names components that are not declared");
        break;
    }
    return declared ? 0 : fail(c, i, "uses a register that is not declared");
}

/* Index registers are operands of their own: temporaries, inputs and system-generated numbers. */
static int check_relative(struct checker *c, const struct sm4_instruction *i, const struct sm4_operand *o)
{
    for (uint32_t d = 0; d < o->dims; d++) {
        uint32_t token, type, dims, n, component, mask;
        if (!(o->relative >> d & 1))
            continue;
        token = sm4_word(c->p, o->relative_at[d]);
        type = token >> 12 & 255;
        dims = token >> 20 & 3;
        n = sm4_word(c->p, o->relative_at[d] + 1);
        component = (token & 3) == 2 ? 1u << (token >> 4 & 3) : 1;
        if (type == SM4_TEMP || type == SM4_INPUT) {
            mask = type == SM4_TEMP ? (n < c->temps ? 15 : 0) : n < 32 ? c->inputs[n] : 0;
            if (token >> 31 || dims != 1 || token >> 22 & 7 || !mask)
                return fail(c, i, "is indexed by a register that is not declared");
        } else if (dims || token >> 31 ||
                   !(type == 11 || (type >= 22 && type <= 24) || (type >= 32 && type <= 37))) {
            return fail(c, i, "is indexed by something else than a register");
        } else {
            mask = c->others[type];
            if (!mask)
                return fail(c, i, "is indexed by a register that is not declared");
        }
        if (mask & (mask - 1) ? (token & 3) != 2 : !(mask & component))
            return fail(c, i, "is indexed by a component that is not declared");
    }
    return 0;
}

static bool is_destination(const struct checker *c, const struct sm4_operand *o)
{
    if (o->components == 4 && (o->select != 0 || !o->swizzle))
        return false;
    return o->type == SM4_TEMP || o->type == SM4_OUTPUT || o->type == SM4_INDEXABLE_TEMP ||
           o->type == SM4_NULL || (c->p->type == 0 && is_special_output(o->type));
}

/* Whether operand `k` is what its letter in the instruction's format asks for. */
static bool fits(const struct checker *c, const struct sm4_instruction *i, uint32_t k)
{
    const struct sm4_operand *o = &i->operands[k];

    switch (sm4_ops[i->opcode].format[k]) {
    case 'd':
        return is_destination(c, o);
    case 'i':
        return o->type == SM4_INPUT;
    case 't':
        return o->type == SM4_RESOURCE;
    case 's':
        return o->type == SM4_SAMPLER;
    case 'u':
        return o->type == SM4_UAV;
    case 'v':
        return o->type == SM4_UAV || o->type == SM4_TGSM;
    case 'm':
        return o->type == SM4_RESOURCE || o->type == SM4_UAV || o->type == SM4_TGSM;
    case 'x':
        return o->type == SM4_RESOURCE || o->type == SM4_UAV;
    case 'q':
        return o->type == SM4_RESOURCE || o->type == SM4_RASTERIZER;
    case 'z':
        return o->type == SM4_STREAM;
    default:
        return is_source(o) && (o->components != 4 || o->value_count || o->select);
    }
}

/* Textures are sampled, typed memory is loaded as such, raw and structured memory each by their own instructions. */
static int check_memory(struct checker *c, const struct sm4_instruction *i)
{
    uint32_t op = i->opcode, kinds = 1u << KIND_TEXTURE;

    if (op == 45 || op == SM4_OP_LD_UAV_TYPED || op == SM4_OP_STORE_UAV_TYPED)
        kinds |= 1u << KIND_TYPED;
    else if (op == 165 || op == SM4_OP_STORE_RAW)
        kinds = 1u << KIND_RAW;
    else if (op == 167 || op == SM4_OP_STORE_STRUCTURED || op == SM4_OP_IMM_ATOMIC_ALLOC ||
             op == SM4_OP_IMM_ATOMIC_CONSUME)
        kinds = 1u << KIND_STRUCTURED;
    else if (op == 121)
        kinds = 1u << KIND_TYPED | 1u << KIND_RAW | 1u << KIND_STRUCTURED;
    else if (op >= SM4_OP_ATOMIC_AND && op <= SM4_OP_IMM_ATOMIC_UMIN)
        kinds |= 1u << KIND_TYPED | 1u << KIND_RAW | 1u << KIND_STRUCTURED;
    for (uint32_t k = 0; k < i->operand_count; k++) {
        const struct sm4_operand *o = &i->operands[k];
        uint32_t kind = o->type == SM4_RESOURCE ? c->resources[o->index[0]]
                        : o->type == SM4_UAV    ? c->uavs[o->index[0]]
                        : o->type == SM4_TGSM   ? c->shared[o->index[0]]
                                                : KIND_NONE;
        if (kind && !(kinds >> kind & 1))
            return fail(c, i, "accesses memory of another kind");
    }
    return 0;
}

static int check_operands(struct checker *c, const struct sm4_instruction *i)
{
    const struct sm4_operand *o = i->operands;

    if (i->opcode == SM4_OP_EMIT_CUT_STREAM)
        return error_set(c->e, -ENOTSUP, "DXBC: %s at word %u has no translation", sm4_ops[i->opcode].name,
                         i->at);
    if (i->operand_count && sm4_ops[i->opcode].format[0] == 'd' && sm4_ops[i->opcode].format[1] != 'd' &&
        o[0].type == SM4_NULL)
        return fail(c, i, "has no result");
    if (i->opcode >= 191 && i->opcode <= 202)
        return error_set(c->e, -ENOTSUP, "DXBC: %s at word %u needs double precision",
                         sm4_ops[i->opcode].name, i->at);
    for (uint32_t k = 0; k < i->operand_count; k++) {
        int ret;
        if (!fits(c, i, k))
            return error_set(c->e, -EINVAL, "DXBC: operand %u of %s at word %u is of the wrong kind", k,
                             sm4_ops[i->opcode].name, i->at);
        ret = check_operand(c, i, &o[k]);
        if (!ret)
            ret = check_relative(c, i, &o[k]);
        if (ret)
            return ret;
        if (o[k].modifier && (i->opcode == SM4_OP_STORE_RAW || i->opcode == SM4_OP_STORE_STRUCTURED))
            return error_set(c->e, -ENOTSUP, "DXBC: %s at word %u negates an untyped operand",
                             sm4_ops[i->opcode].name, i->at);
    }
    if ((i->opcode == SM4_OP_STORE_UAV_TYPED || i->opcode == SM4_OP_STORE_RAW ||
         i->opcode == SM4_OP_STORE_STRUCTURED) &&
        (o[0].components != 4 || o[0].select != 0 || !o[0].swizzle))
        return fail(c, i, "stores no component");
    if (i->operand_count > 1 && sm4_ops[i->opcode].format[1] == 'd' && o[0].type != SM4_NULL &&
        o[1].type != SM4_NULL && (o[0].components != o[1].components || o[0].swizzle != o[1].swizzle))
        return error_set(c->e, -ENOTSUP, "DXBC: the results of %s at word %u have different masks",
                         sm4_ops[i->opcode].name, i->at);
    return check_memory(c, i);
}

static int flow(struct checker *c, const struct sm4_instruction *i)
{
    uint32_t top = c->depth ? c->stack[c->depth - 1] : 0;
    bool in_loop = false, in_switch = false;

    for (uint32_t k = 0; k < c->depth; k++) {
        in_loop |= c->stack[k] == SM4_OP_LOOP;
        in_switch |= c->stack[k] == SM4_OP_SWITCH;
    }
    switch (i->opcode) {
    case SM4_OP_IF:
    case SM4_OP_LOOP:
    case SM4_OP_SWITCH:
        if (c->depth == MAX_DEPTH)
            return fail(c, i, "nests deeper than 48 blocks");
        c->has_default[c->depth] = false;
        c->stack[c->depth++] = (uint16_t)i->opcode;
        return 0;
    case SM4_OP_ELSE:
        if (top != SM4_OP_IF)
            return fail(c, i, "has no if");
        c->stack[c->depth - 1] = SM4_OP_ELSE;
        return 0;
    case SM4_OP_ENDIF:
        if (top != SM4_OP_IF && top != SM4_OP_ELSE)
            return fail(c, i, "closes nothing");
        c->depth--;
        return 0;
    case SM4_OP_ENDLOOP:
    case SM4_OP_ENDSWITCH:
        if (top != (i->opcode == SM4_OP_ENDLOOP ? (uint32_t)SM4_OP_LOOP : (uint32_t)SM4_OP_SWITCH))
            return fail(c, i, "closes nothing");
        c->depth--;
        return 0;
    case SM4_OP_CASE:
    case SM4_OP_DEFAULT:
        if (top != SM4_OP_SWITCH)
            return fail(c, i, "is outside of a switch");
        if (i->opcode == SM4_OP_CASE && (i->operands[0].type != SM4_IMM32 || i->operands[0].components != 1))
            return fail(c, i, "is no constant");
        if (i->opcode == SM4_OP_DEFAULT && c->has_default[c->depth - 1])
            return fail(c, i, "is a second one");
        c->has_default[c->depth - 1] |= i->opcode == SM4_OP_DEFAULT;
        return 0;
    case 2: /* break */
    case 3: /* breakc */
        return in_loop || in_switch ? 0 : fail(c, i, "is outside of a loop");
    case 7: /* continue */
    case 8: /* continuec */
        return in_loop ? 0 : fail(c, i, "is outside of a loop");
    default:
        return 0;
    }
}

static bool leaves_block(uint32_t op)
{
    return op == 2 || op == 7 || op == SM4_OP_RET;
}

static bool enters_block(uint32_t op)
{
    return op == SM4_OP_ELSE || op == SM4_OP_ENDIF || op == SM4_OP_ENDLOOP || op == SM4_OP_ENDSWITCH ||
           op == SM4_OP_CASE || op == SM4_OP_DEFAULT;
}

/* Program types that may have an instruction, a bit each: derivatives are of pixels, vertices are emitted by geometry shaders, and
 * groups of threads are of compute shaders, of which others may only wait for memory that everybody sees. */
static uint32_t program_types(const struct sm4_instruction *i)
{
    enum { PS = 1, GS = 4, CS = 32, ALL = 63, GLOBAL_MEMORY = 8 };
    uint32_t op = i->opcode;

    if (op == 11 || op == 12 || (op >= 122 && op <= 125) || op == SM4_OP_DISCARD || op == 69 || op == 70 ||
        op == 74 || op == 108 || (op >= 203 && op <= 205))
        return PS;
    if (op == 9 || op == 19 || op == 20 || (op >= 117 && op <= 119))
        return GS;
    if (op == SM4_OP_DCL_TGSM_RAW || op == SM4_OP_DCL_TGSM_STRUCTURED || op == SM4_OP_DCL_THREAD_GROUP ||
        (op == 190 && (i->token >> 11 & 15) != GLOBAL_MEMORY))
        return CS;
    return ALL;
}

static int check_instruction(struct checker *c, const struct sm4_instruction *i)
{
    bool phase = i->opcode >= SM4_OP_HS_DECLS && i->opcode <= SM4_OP_HS_JOIN;
    int ret;

    if (phase) {
        if (c->p->type != 3 || c->depth || (c->executable && !c->ended))
            return fail(c, i, "begins a phase where none can begin");
        c->phase = i->opcode;
        c->temps = 0;
        memset(c->inputs, 0, sizeof(c->inputs));
        memset(c->outputs, 0, sizeof(c->outputs));
        memset(c->points_in, 0, sizeof(c->points_in));
        memset(c->points_out, 0, sizeof(c->points_out));
        memset(c->patch, 0, sizeof(c->patch));
        memset(c->others, 0, sizeof(c->others));
        c->closed = c->ended = c->executable = false;
        return 0;
    }
    if (!(program_types(i) >> c->p->type & 1))
        return fail(c, i, "is not of this stage");
    if (c->p->type == 3 && !c->phase)
        return fail(c, i, "precedes the first phase");
    if (is_declaration(i->opcode)) {
        if (c->executable)
            return fail(c, i, "follows instructions");
        return declare(c, i);
    }
    if (c->closed && !enters_block(i->opcode))
        return fail(c, i, "can never be reached");
    if (c->after_switch && i->opcode != SM4_OP_CASE && i->opcode != SM4_OP_DEFAULT)
        return fail(c, i, "precedes the first case");
    if ((i->opcode == SM4_OP_CASE || i->opcode == SM4_OP_DEFAULT || i->opcode == SM4_OP_ENDSWITCH) &&
        !c->closed && !(c->after_case && i->opcode != SM4_OP_ENDSWITCH))
        return fail(c, i, "is fallen into");
    c->executable = true;
    ret = check_operands(c, i);
    if (ret)
        return ret;
    ret = flow(c, i);
    c->closed = leaves_block(i->opcode);
    c->ended = i->opcode == SM4_OP_RET && c->depth == 0;
    c->after_switch = i->opcode == SM4_OP_SWITCH;
    c->after_case = c->after_switch || i->opcode == SM4_OP_CASE || i->opcode == SM4_OP_DEFAULT;
    return ret;
}

static int check_program(const struct dxbc_shader *s, struct error *e)
{
    struct sm4 p = s->program;
    struct checker c = {.p = &p, .e = e, .sigs = s};
    struct sm4_instruction i;
    int ret;

    if ((p.major != 4 && p.major != 5) || p.minor > (p.major == 4) || p.type > 5)
        return error_set(e, -EINVAL, "DXBC: program of type %u and shader model %u.%u is not known", p.type,
                         p.major, p.minor);
    while ((ret = sm4_next(&p, &i, e)) > 0) {
        ret = check_instruction(&c, &i);
        if (ret)
            return ret;
    }
    if (ret)
        return ret;
    if (p.type == 2 && (!c.gs_in || !c.gs_out))
        return error_set(e, -EINVAL, "DXBC: a geometry program without %s primitives",
                         c.gs_in ? "output" : "input");
    if (c.depth)
        return error_set(e, -EINVAL, "DXBC: program ends inside a block that %s opened",
                         sm4_ops[c.stack[c.depth - 1]].name);
    if (!c.ended && !(p.type == 3 && !c.executable))
        return error_set(e, -EINVAL, "DXBC: program does not end with ret");
    return 0;
}

/* The input assembler fills one register from one element. */
static int check_vertex_inputs(const struct dxbc_signature *in, struct error *e)
{
    uint32_t seen = 0;

    for (uint32_t k = 0; k < in->count; k++) {
        uint32_t reg = in->elements[k].reg;
        if (reg >= 32)
            continue;
        if (seen >> reg & 1)
            return error_set(e, -EINVAL, "DXBC: two vertex inputs share register %u", reg);
        seen |= 1u << reg;
    }
    return 0;
}

/* A hull shader without a control point phase hands its points on: both signatures must then be the same. */
static int check_pass_through(const struct dxbc_shader *s, struct error *e)
{
    struct sm4_instruction i;
    struct sm4 p = s->program;

    while (sm4_next(&p, &i, NULL) > 0)
        if (i.opcode == SM4_OP_HS_CONTROL_POINT)
            return 0;
    for (uint32_t k = 0; k < s->in.count || k < s->out.count; k++)
        if (s->in.count != s->out.count || s->in.elements[k].mask != s->out.elements[k].mask ||
            s->in.elements[k].component != s->out.elements[k].component)
            return error_set(e, -ENOTSUP,
                             "DXBC: a hull shader without control point phase changes its control points");
    return 0;
}

/* What a program wants bound has to fit, and only structured buffers have counters. */
static int check_descriptors(const struct dxbc_shader *s, struct error *e)
{
    uint64_t structured = 0, counted = 0;
    struct sm4_instruction i;
    struct sm4 p = s->program;
    uint32_t n = 0;

    while (sm4_next(&p, &i, NULL) > 0) {
        n += (i.opcode >= SM4_OP_DCL_RESOURCE && i.opcode <= SM4_OP_DCL_SAMPLER) ||
             (i.opcode >= SM4_OP_DCL_UAV_TYPED && i.opcode <= SM4_OP_DCL_UAV_STRUCTURED) ||
             i.opcode == SM4_OP_DCL_RESOURCE_RAW || i.opcode == SM4_OP_DCL_RESOURCE_STRUCTURED;
        if (i.opcode == SM4_OP_DCL_UAV_STRUCTURED)
            structured |= UINT64_C(1) << i.operands[0].index[0];
        if (i.opcode != SM4_OP_IMM_ATOMIC_ALLOC && i.opcode != SM4_OP_IMM_ATOMIC_CONSUME)
            continue;
        for (uint32_t k = 0; k < i.operand_count; k++) {
            uint64_t bit = UINT64_C(1) << (i.operands[k].index[0] & 63);
            if (i.operands[k].type != SM4_UAV)
                continue;
            if (!(structured & bit))
                return error_set(e, -EINVAL, "DXBC: %s at word %u counts a buffer that is not structured",
                                 sm4_ops[i.opcode].name, i.at);
            n += !(counted & bit);
            counted |= bit;
        }
    }
    return n > SM4_MAX_DESCRIPTORS ? error_set(e, -EINVAL, "DXBC: program declares too many resources") : 0;
}

/* "pixel", "vertex", ... of a program type. */
static const char *type_name(uint32_t type)
{
    static const char *const names[] = {"pixel", "vertex", "geometry", "hull", "domain", "compute"};

    return type < 6 ? names[type] : "unknown";
}

static int read_signatures(struct dxbc_shader *s, struct error *e)
{
    static const uint32_t types[3][3] = {
        {DXBC_FOURCC('I', 'S', 'G', 'N'), DXBC_FOURCC('I', 'S', 'G', '1')},
        {DXBC_FOURCC('O', 'S', 'G', 'N'), DXBC_FOURCC('O', 'S', 'G', '5'), DXBC_FOURCC('O', 'S', 'G', '1')},
        {DXBC_FOURCC('P', 'C', 'S', 'G'), DXBC_FOURCC('P', 'S', 'G', '1')}};
    struct dxbc_signature *sigs[3] = {&s->in, &s->out, &s->patch};

    for (int i = 0; i < 3; i++) {
        const struct dxbc_chunk *c = NULL;

        sigs[i]->count = 0;
        for (int k = 0; k < 3 && !c && types[i][k]; k++)
            c = dxbc_find(&s->container, types[i][k]);
        if (c && dxbc_signature(c, sigs[i], e))
            return -EINVAL;
    }
    return 0;
}

int dxbc_shader_open(struct dxbc_shader *s, const void *bytes, size_t size, uint32_t type, struct error *e)
{
    const struct dxbc_chunk *program;
    int ret = dxbc_open(&s->container, bytes, size, e);

    if (ret)
        return ret;
    program = dxbc_program(&s->container);
    if (!program)
        return error_set(e, -EINVAL, "DXBC: no SHDR or SHEX chunk");
    ret = sm4_open(&s->program, program->data, program->size, e);
    if (ret)
        return ret;
    if (type != SM4_ANY_TYPE && s->program.type != type)
        return error_set(e, -EINVAL, "DXBC: a %s program (type %u) cannot be a %s shader",
                         type_name(s->program.type), s->program.type, type_name(type));
    ret = read_signatures(s, e);
    if (!ret)
        ret = check_program(s, e);
    if (!ret)
        ret = check_descriptors(s, e);
    if (!ret && s->program.type == 1)
        ret = check_vertex_inputs(&s->in, e);
    if (!ret && s->program.type == 3)
        ret = check_pass_through(s, e);
    return ret;
}
