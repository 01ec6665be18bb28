/* sm4_check.c: which well-formed token streams may reach the translator, and what their declarations say. */
#include "executor/sm4.h"

#include <errno.h>
#include <string.h>

#define MAX_DEPTH   48u
#define MAX_TEMPS   4096u
#define MAX_ARRAY   4096u /* elements of an indexable temporary or bytes/16 of group-shared memory */
#define MAX_CBUFFER 4096u /* vec4s, as in Direct3D */

struct checker {
    const struct sm4 *p;
    struct error *e;
    uint32_t temps;
    uint32_t arrays[64];  /* size of x#, 0 = undeclared */
    uint32_t shared[32];  /* g# declared */
    uint32_t cbuffers[16]; /* size + 1 of cb#, 0 = undeclared */
    uint32_t samplers;    /* bit per s# */
    uint8_t resources[128], uavs[64]; /* declared */
    uint32_t icb_words;
    uint16_t stack[MAX_DEPTH]; /* opcodes of the open blocks */
    uint32_t depth;
    uint32_t phase;  /* opcode of the hull shader phase, 0 before any */
    bool closed;     /* the last instruction left the block unconditionally */
    bool ended;      /* the last instruction was an outermost ret */
    bool after_switch; /* the last instruction opened a switch */
    bool executable; /* an instruction that is no declaration was seen */
};

static int fail(struct checker *c, const struct sm4_instruction *i, const char *what)
{
    return error_set(c->e, -EINVAL, "DXBC: %s at word %u %s", sm4_ops[i->opcode].name, i->at, what);
}

static bool is_declaration(uint32_t op)
{
    return (op >= SM4_OP_DCL_RESOURCE && op <= SM4_OP_DCL_GLOBAL_FLAGS) || op == SM4_OP_CUSTOMDATA ||
           op == SM4_OP_HS_DECLS || (op >= SM4_OP_DCL_STREAM && op <= SM4_OP_DCL_RESOURCE_STRUCTURED) || op == 206;
}

static int declare_buffer(struct checker *c, const struct sm4_instruction *i, uint32_t index)
{
    const struct sm4_operand *o = &i->operands[0];

    if (o->type != SM4_CONSTANT_BUFFER || o->dims != 2 || o->relative || index >= 16 || o->index[1] > MAX_CBUFFER)
        return fail(c, i, "does not name a constant buffer of at most 4096 vectors below cb16");
    c->cbuffers[index] = o->index[1] + 1;
    return 0;
}

/* Declarations of registers. Indices are checked here so that uses only look up. */
static int declare(struct checker *c, const struct sm4_instruction *i)
{
    const struct sm4_operand *o = &i->operands[0];
    uint32_t n = i->operand_count ? o->index[0] : 0, w = sm4_word(c->p, i->extra_at);
    uint32_t w1 = sm4_word(c->p, i->extra_at + 1);

    if (i->operand_count && o->relative)
        return fail(c, i, "has a relative operand");
    switch (i->opcode) {
    case SM4_OP_DCL_TEMPS:
        if (w > MAX_TEMPS)
            return fail(c, i, "asks for more than 4096 registers");
        c->temps = w;
        return 0;
    case SM4_OP_DCL_INDEXABLE_TEMP:
        if (w >= 64 || !w1 || w1 > MAX_ARRAY || sm4_word(c->p, i->extra_at + 2) - 1 > 3)
            return fail(c, i, "names an impossible array");
        c->arrays[w] = w1;
        return 0;
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
        if (o->type != SM4_RESOURCE || o->dims != 1 || n >= 128)
            return fail(c, i, "does not name one of t0..t127");
        if (i->opcode == SM4_OP_DCL_RESOURCE && ((i->token >> 11 & 31) - 1 > 9 || (w & 15) - 1 > 4))
            return fail(c, i, "has an unknown dimension or type");
        if (i->opcode == SM4_OP_DCL_RESOURCE_STRUCTURED && (!w || w > 2048 || w % 4))
            return fail(c, i, "has an impossible stride");
        if (c->resources[n])
            return fail(c, i, "declares its register twice");
        c->resources[n] = 1;
        return 0;
    case SM4_OP_DCL_UAV_TYPED:
    case SM4_OP_DCL_UAV_RAW:
    case SM4_OP_DCL_UAV_STRUCTURED:
        if (o->type != SM4_UAV || o->dims != 1 || n >= 64)
            return fail(c, i, "does not name one of u0..u63");
        if (i->opcode == SM4_OP_DCL_UAV_TYPED && ((i->token >> 11 & 31) - 1 > 9 || (w & 15) - 1 > 4))
            return fail(c, i, "has an unknown dimension or type");
        if (i->opcode == SM4_OP_DCL_UAV_STRUCTURED && (!w || w > 2048 || w % 4))
            return fail(c, i, "has an impossible stride");
        if (c->uavs[n])
            return fail(c, i, "declares its register twice");
        c->uavs[n] = 1;
        return 0;
    case SM4_OP_DCL_TGSM_RAW:
    case SM4_OP_DCL_TGSM_STRUCTURED:
        if (o->type != SM4_TGSM || o->dims != 1 || n >= 32 || c->shared[n])
            return fail(c, i, "does not name a new g0..g31");
        if (i->opcode == SM4_OP_DCL_TGSM_RAW ? !w || w > 32768 || w % 4
                                             : !w || w % 4 || !w1 || (uint64_t)w * w1 > 32768)
            return fail(c, i, "asks for none or more than 32768 bytes");
        c->shared[n] = 1;
        return 0;
    case SM4_OP_DCL_THREAD_GROUP: {
        uint32_t z = sm4_word(c->p, i->extra_at + 2);
        if (!w || !w1 || !z || w > 1024 || w1 > 1024 || z > 64 || (uint64_t)w * w1 * z > 1024)
            return fail(c, i, "has an impossible size");
        return 0;
    }
    case SM4_OP_DCL_MAX_VERTICES:
        return !w || w > 1024 ? fail(c, i, "is not in 1..1024") : 0;
    case SM4_OP_DCL_FORK_COUNT:
    case SM4_OP_DCL_JOIN_COUNT:
        return !w || w > 64 ? fail(c, i, "is not in 1..64") : 0;
    case 206: /* dcl_gs_instance_count */
        return !w || w > 32 ? fail(c, i, "is not in 1..32") : 0;
    case SM4_OP_DCL_INDEX_RANGE:
        return !w || w > 32 || o->index[o->dims ? o->dims - 1 : 0] + w > 32 ? fail(c, i, "leaves the registers") : 0;
    case SM4_OP_DCL_INPUT_POINTS:
    case SM4_OP_DCL_OUTPUT_POINTS:
        return (i->token >> 11 & 63) > 32 ? fail(c, i, "is more than 32") : 0;
    case SM4_OP_CUSTOMDATA:
        if (i->token >> 11 == 3) {
            if (!(i->length - 2) || (i->length - 2) % 4 || i->length - 2 > 16384)
                return fail(c, i, "is no list of at most 4096 vectors");
            if (c->icb_words)
                return fail(c, i, "is a second immediate constant buffer");
            c->icb_words = i->length - 2;
        }
        return 0;
    default:
        break;
    }
    if (i->operand_count && (o->dims > 2 || (o->dims == 2 && o->index[0] > 32) ||
                             (o->dims && o->index[o->dims - 1] >= 32)))
        return fail(c, i, "declares a register beyond 31");
    return 0;
}

static int check_operand(struct checker *c, const struct sm4_instruction *i, const struct sm4_operand *o)
{
    uint32_t n = o->index[0];
    bool declared = true;

    for (uint32_t d = 0; d < o->dims; d++)
        if (o->relative >> d & 1 && o->type != SM4_INDEXABLE_TEMP && o->type != SM4_CONSTANT_BUFFER &&
            o->type != SM4_ICB && o->type != SM4_INPUT && o->type != SM4_OUTPUT &&
            o->type != SM4_INPUT_CONTROL_POINT && o->type != SM4_OUTPUT_CONTROL_POINT && o->type != SM4_PATCH_CONSTANT)
            return fail(c, i, "indexes registers that cannot be indexed");
    switch (o->type) {
    case SM4_TEMP: declared = o->dims == 1 && n < c->temps; break;
    case SM4_INDEXABLE_TEMP:
        declared = o->dims == 2 && !(o->relative & 1) && n < 64 && o->index[1] < c->arrays[n];
        break;
    case SM4_CONSTANT_BUFFER:
        declared = o->dims == 2 && !(o->relative & 1) && n < 16 && c->cbuffers[n] && o->index[1] < MAX_CBUFFER;
        break;
    case SM4_SAMPLER: declared = o->dims == 1 && n < 16 && c->samplers >> n & 1; break;
    case SM4_RESOURCE: declared = o->dims == 1 && n < 128 && c->resources[n]; break;
    case SM4_UAV: declared = o->dims == 1 && n < 64 && c->uavs[n]; break;
    case SM4_TGSM: declared = o->dims == 1 && n < 32 && c->shared[n]; break;
    case SM4_ICB: declared = o->dims == 1 && n < c->icb_words / 4; break;
    case SM4_INPUT:
    case SM4_OUTPUT:
    case SM4_INPUT_CONTROL_POINT:
    case SM4_OUTPUT_CONTROL_POINT:
    case SM4_PATCH_CONSTANT:
        declared = o->dims && o->dims < 3 && o->index[o->dims - 1] < 32 && (o->dims == 1 || n < 32);
        break;
    default: declared = o->dims < 2 && n < 32; break;
    }
    if (!declared)
        return fail(c, i, "uses a register that is not declared");
    if (o->relative && o->type != SM4_INDEXABLE_TEMP && o->type != SM4_CONSTANT_BUFFER && o->type != SM4_ICB &&
        o->dims == 1 && o->type != SM4_INPUT && o->type != SM4_OUTPUT && o->type != SM4_PATCH_CONSTANT)
        return fail(c, i, "indexes registers that cannot be indexed");
    return 0;
}

/* Index registers are operands of their own: temporaries, inputs and system-generated numbers. */
static int check_relative(struct checker *c, const struct sm4_instruction *i, const struct sm4_operand *o)
{
    for (uint32_t d = 0; d < o->dims; d++) {
        uint32_t token, type, dims, n;
        if (!(o->relative >> d & 1))
            continue;
        token = sm4_word(c->p, o->relative_at[d]);
        type = token >> 12 & 255;
        dims = token >> 20 & 3;
        n = sm4_word(c->p, o->relative_at[d] + 1);
        if (type == SM4_TEMP || type == SM4_INPUT) {
            if (token >> 31 || dims != 1 || token >> 22 & 7 || n >= (type == SM4_TEMP ? c->temps : 32))
                return fail(c, i, "is indexed by a register that is not declared");
        } else if (dims || token >> 31 || !(type == 11 || (type >= 22 && type <= 24) || (type >= 32 && type <= 37))) {
            return fail(c, i, "is indexed by something else than a register");
        }
    }
    return 0;
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
        return i->opcode == SM4_OP_CASE && i->operands[0].type != SM4_IMM32 ? fail(c, i, "is no constant") : 0;
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

static int check_instruction(struct checker *c, const struct sm4_instruction *i)
{
    bool phase = i->opcode >= SM4_OP_HS_DECLS && i->opcode <= SM4_OP_HS_JOIN;
    int ret;

    if (phase) {
        if (c->p->type != 3 || c->depth || (c->executable && !c->ended))
            return fail(c, i, "begins a phase where none can begin");
        c->phase = i->opcode;
        c->temps = 0;
        c->closed = c->ended = c->executable = false;
        return 0;
    }
    if (c->p->type == 3 && !c->phase)
        return fail(c, i, "precedes the first phase");
    if (is_declaration(i->opcode)) {
        if (c->executable)
            return fail(c, i, "follows instructions");
        return declare(c, i);
    }
    if (c->closed && !enters_block(i->opcode))
        return fail(c, i, "can never be reached");
    if (c->after_switch && i->opcode != SM4_OP_CASE && i->opcode != SM4_OP_DEFAULT && i->opcode != SM4_OP_ENDSWITCH)
        return fail(c, i, "precedes the first case");
    c->executable = true;
    for (uint32_t k = 0; k < i->operand_count; k++) {
        ret = check_operand(c, i, &i->operands[k]);
        if (!ret)
            ret = check_relative(c, i, &i->operands[k]);
        if (ret)
            return ret;
        if (i->operands[k].modifier && (i->opcode == SM4_OP_STORE_RAW || i->opcode == SM4_OP_STORE_STRUCTURED))
            return error_set(c->e, -ENOTSUP, "DXBC: %s at word %u negates an untyped operand", sm4_ops[i->opcode].name,
                             i->at);
    }
    ret = flow(c, i);
    c->closed = leaves_block(i->opcode);
    c->ended = i->opcode == SM4_OP_RET && c->depth == 0;
    c->after_switch = i->opcode == SM4_OP_SWITCH;
    return ret;
}

int sm4_check(const struct sm4 *program, struct error *e)
{
    struct sm4 p = *program;
    struct checker c = {.p = &p, .e = e};
    struct sm4_instruction i;
    int ret;

    if ((p.major != 4 && p.major != 5) || p.minor > 1 || p.type > 5)
        return error_set(e, -EINVAL, "DXBC: program of type %u and shader model %u.%u is not known", p.type, p.major,
                         p.minor);
    while ((ret = sm4_next(&p, &i, e)) > 0) {
        ret = check_instruction(&c, &i);
        if (ret)
            return ret;
    }
    if (ret)
        return ret;
    if (c.depth)
        return error_set(e, -EINVAL, "DXBC: program ends inside a block that %s opened", sm4_ops[c.stack[c.depth - 1]].name);
    if (!c.ended && !(p.type == 3 && !c.executable))
        return error_set(e, -EINVAL, "DXBC: program does not end with ret");
    return 0;
}

static struct shader_descriptor *add_descriptor(struct sm4_facts *f, enum shader_descriptor_kind kind, uint32_t index)
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
            d->size = 16 * (i->operands[0].index[1] ? i->operands[0].index[1] : MAX_CBUFFER);
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
        d = add_descriptor(f, uav ? (raw ? SHADER_UAV_RAW : SHADER_UAV_STRUCTURED)
                                  : (raw ? SHADER_SRV_RAW : SHADER_SRV_STRUCTURED), index);
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
        info->gs_input = v == 1   ? SHADER_PRIMITIVE_POINTS
                         : v == 2 ? SHADER_PRIMITIVE_LINES
                         : v == 3 ? SHADER_PRIMITIVE_TRIANGLES
                         : v == 6 ? SHADER_PRIMITIVE_LINES_ADJ
                         : v == 7 ? SHADER_PRIMITIVE_TRIANGLES_ADJ
                         : v >= 8 && v < 40 ? SHADER_PRIMITIVE_PATCH : SHADER_PRIMITIVE_NONE;
        if (info->gs_input == SHADER_PRIMITIVE_PATCH)
            info->hs_input_points = v - 7;
        break;
    case SM4_OP_DCL_GS_OUTPUT:
        info->gs_output = v == 1   ? SHADER_PRIMITIVE_POINTS
                          : v == 3 ? SHADER_PRIMITIVE_LINE_STRIP
                          : v == 5 ? SHADER_PRIMITIVE_TRIANGLE_STRIP : SHADER_PRIMITIVE_NONE;
        break;
    case SM4_OP_DCL_INPUT_POINTS: info->hs_input_points = v; break;
    case SM4_OP_DCL_OUTPUT_POINTS: info->hs_output_points = v; break;
    case SM4_OP_DCL_TESS_DOMAIN: info->tess_domain = v & 3; break;
    case SM4_OP_DCL_TESS_PARTITIONING: info->tess_partitioning = v & 7; break;
    case SM4_OP_DCL_TESS_OUTPUT: info->tess_output = v & 7; break;
    default: break;
    }
}

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
        case SM4_OP_DCL_MAX_VERTICES: info->gs_max_vertices = sm4_word(&p, i.extra_at); break;
        case SM4_OP_DCL_OUTPUT:
            if (info->stage == EXEC_PS && i.operands[0].type == SM4_OUTPUT && i.operands[0].index[0] < 8)
                info->target_mask |= 1u << i.operands[0].index[0];
            if (i.operands[0].type == SM4_OUTPUT_DEPTH || i.operands[0].type == SM4_OUTPUT_DEPTH_GE ||
                i.operands[0].type == SM4_OUTPUT_DEPTH_LE)
                info->writes_depth = true;
            break;
        case SM4_OP_DISCARD: info->uses_kill = true; break;
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
