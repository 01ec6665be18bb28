/* SPDX-License-Identifier: MIT */
#include "executor/shader/spirv_confine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shader/spirv_read.h"

enum {
    MAX_INDICES = 64,
    MAX_CHAINS = 16,
    MAX_MATRIX_STRIDE = 1 << 20,
    MAX_OWN = 4096 * 4, /* components: as many as Direct3D's registers have */
    MAX_CALLS = 64,
};

struct confine {
    struct spirv_module m;
    const struct shader_addresses *a;
    struct error *e;
    int result;
    struct layout {
        uint32_t offset,
            stride;      /* the furthest member's; of an array, or the widest of matrices in a structure */
        uint64_t extent; /* of a structure; 0: not known yet */
    } * layouts;         /* of types, by id */
};

/* Capabilities that add no other way to reach memory than those below, and that Vulkan drivers have without being asked. */
static const uint32_t capabilities[] = {
    SpvCapabilityMatrix,
    SpvCapabilityShader,
    SpvCapabilityFloat16,
    SpvCapabilityFloat64,
    SpvCapabilityInt64,
    SpvCapabilityInt16,
    SpvCapabilityInt8,
    SpvCapabilityInt64Atomics,
    SpvCapabilitySampleRateShading,
    SpvCapabilityDerivativeControl,
    SpvCapabilityGroupNonUniform,
    SpvCapabilityGroupNonUniformVote,
    SpvCapabilityGroupNonUniformArithmetic,
    SpvCapabilityGroupNonUniformBallot,
    SpvCapabilityGroupNonUniformShuffle,
    SpvCapabilityGroupNonUniformShuffleRelative,
    SpvCapabilityGroupNonUniformClustered,
    SpvCapabilityGroupNonUniformQuad,
    SpvCapabilityStorageBuffer16BitAccess,
    SpvCapabilityStorageUniform16,
    SpvCapabilityStorageBuffer8BitAccess,
    SpvCapabilityUniformAndStorageBuffer8BitAccess,
    SpvCapabilityVulkanMemoryModel,
    SpvCapabilityVulkanMemoryModelDeviceScope,
    SpvCapabilityPhysicalStorageBufferAddresses,
};

static void refuse(struct confine *c, const char *what, uint32_t number)
{
    if (!c->result)
        c->result =
            error_set(c->e, -ENOTSUP, "SPIR-V with %s %u cannot be kept to its own memory", what, number);
}

static void check_capability(struct confine *c, uint32_t capability)
{
    for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++)
        if (capabilities[i] == capability)
            return;
    refuse(c, "capability", capability);
}

static uint32_t bool_type(struct confine *c)
{
    return spirv_type(&c->m, SpvOpTypeBool, NULL, 0);
}

/* A constant of a type of integers that is `width` bits wide. */
static uint32_t constant(struct confine *c, uint32_t type, uint32_t width, uint64_t value)
{
    const uint32_t words[2] = {(uint32_t)value, (uint32_t)(value >> 32)};

    return spirv_global(&c->m.out, SpvOpConstant, type, words, width > 32 ? 2 : 1);
}

static bool is_address(const struct confine *c, uint32_t id)
{
    const uint32_t type = c->m.ids[id].type;

    return type && spirv_opcode_of(&c->m, type) == SpvOpTypePointer &&
           spirv_storage_class(&c->m, id) == SpvStorageClassPhysicalStorageBuffer;
}

/* (x - first) < size, without a sign */
static uint32_t is_in(struct confine *c, uint32_t type, uint32_t x, uint64_t first, uint64_t size)
{
    uint32_t offset = SPIRV_VALUE(&c->m.out, SpvOpISub, type, x, constant(c, type, 64, first));

    return SPIRV_VALUE(&c->m.out, SpvOpULessThan, bool_type(c), offset, constant(c, type, 64, size));
}

/* ---- what an access covers ---------------------------------------------- */

static void note_layout(struct confine *c, const uint32_t *w, uint32_t op)
{
    struct layout *l = &c->layouts[w[1]];

    if (op == SpvOpDecorate && w[2] == SpvDecorationArrayStride)
        l->stride = w[3];
    if (op == SpvOpMemberDecorate && w[3] == SpvDecorationOffset && w[4] > l->offset)
        l->offset = w[4];
    if (op == SpvOpMemberDecorate && w[3] == SpvDecorationMatrixStride && w[4] > l->stride)
        l->stride = w[4];
}

static uint64_t product(uint64_t a, uint64_t b)
{
    uint64_t r;

    return __builtin_mul_overflow(a, b, &r) || r > SPIRV_MARGIN ? SPIRV_MARGIN : r;
}

static uint32_t array_length(struct confine *c, const uint32_t *array)
{
    const uint32_t *length = spirv_definition(&c->m, array[3]);

    if (spirv_opcode(length) != SpvOpConstant || spirv_length(length) != 4)
        refuse(c, "an array whose length is no constant of 32 bits:", array[3]);
    return length[3];
}

/* As many bytes as a type has in buffers, or some more; `stride` of matrices in it. */
static uint64_t extent(struct confine *c, uint32_t type, uint32_t stride)
{
    const uint32_t *t = spirv_definition(&c->m, type);
    struct layout *l = &c->layouts[type];
    uint64_t size = 0;

    switch (spirv_opcode(t)) {
    case SpvOpTypeStruct:
        if (l->extent)
            return l->extent; /* there are more paths than structures */
        for (uint32_t i = 2; i < spirv_length(t); i++) {
            const uint64_t member = extent(c, t[i], l->stride);

            size = member > size ? member : size;
        }
        l->extent = l->offset + size + 1;
        return l->extent;
    case SpvOpTypeArray:
        return product(array_length(c, t), l->stride + extent(c, t[2], stride));
    case SpvOpTypeMatrix:
        return product(4, stride) + 128;
    case SpvOpTypeVector:
        return product(t[3], extent(c, t[2], 0));
    default:
        return sizeof(uint64_t);
    }
}

/* A matrix, or an array of them, whose layout is written at the structure that has it. */
static bool is_matrix(const struct confine *c, uint32_t type)
{
    const uint32_t *t = spirv_definition(&c->m, type);

    while (spirv_opcode(t) == SpvOpTypeArray)
        t = spirv_definition(&c->m, t[2]);
    return spirv_opcode(t) == SpvOpTypeMatrix;
}

/* ---- accesses ------------------------------------------------------------- */

/* `x` where it is one of the GPU's addresses; what faults where it is the executor's. */
static uint32_t confined_integer(struct confine *c, uint32_t type, uint32_t x)
{
    const uint32_t gpu = is_in(c, type, x, c->a->base, c->a->size),
                   host = is_in(c, type, x, SPIRV_OUTSIDE, SPIRV_OUTSIDE_SIZE),
                   kernel = is_in(c, type, x, SPIRV_OUTSIDE_FAULTS, SPIRV_OUTSIDE_SIZE);
    uint32_t moved = SPIRV_VALUE(&c->m.out, SpvOpIAdd, type, x,
                                 constant(c, type, 64, SPIRV_OUTSIDE_FAULTS - SPIRV_OUTSIDE)),
             other =
                 SPIRV_VALUE(&c->m.out, SpvOpBitwiseXor, type, x, constant(c, type, 64, SPIRV_NO_ADDRESS));

    other = SPIRV_VALUE(&c->m.out, SpvOpSelect, type, kernel, other, x);
    moved = SPIRV_VALUE(&c->m.out, SpvOpSelect, type, host, moved, other);
    return SPIRV_VALUE(&c->m.out, SpvOpSelect, type, gpu, x, moved);
}

static bool is_chain(uint32_t op)
{
    return op == SpvOpAccessChain || op == SpvOpInBoundsAccessChain || op == SpvOpPtrAccessChain ||
           op == SpvOpInBoundsPtrAccessChain;
}

/* The chain `w` once more, from `base`. */
static uint32_t again(struct confine *c, const uint32_t *w, uint32_t base)
{
    uint32_t operands[1 + MAX_INDICES] = {base};

    if (spirv_length(w) > 4 + MAX_INDICES) {
        refuse(c, "an access chain of words:", spirv_length(w));
        return base;
    }
    memcpy(operands + 1, w + 4, (spirv_length(w) - 4) * sizeof(*w));
    return spirv_value(&c->m.out, spirv_opcode(w), w[1], operands, spirv_length(w) - 3);
}

/* A pointer that is the same where `pointer` is one of the GPU's, and faults where it is the executor's. What it is checked by is its
 * own address; what is moved is the pointer that its access chains begin at, since layouts are written at the structures there. */
static uint32_t confined(struct confine *c, uint32_t pointer)
{
    static const uint32_t integer[] = {64, 0};
    const uint32_t *chains[MAX_CHAINS], *w;
    uint32_t type, x, by, root = pointer, n = 0;

    if (!c->a || !is_address(c, pointer))
        return pointer;
    if (extent(c, spirv_pointee(&c->m, pointer), 0) > SPIRV_MARGIN / 2)
        refuse(c, "an access of more bytes than", (uint32_t)(SPIRV_MARGIN / 2));
    for (w = spirv_definition(&c->m, root); is_chain(spirv_opcode(w)) || spirv_opcode(w) == SpvOpCopyObject;
         w = spirv_definition(&c->m, root = w[3])) {
        if (n == MAX_CHAINS) {
            refuse(c, "access chains of access chains, more than", MAX_CHAINS);
            return pointer;
        }
        if (spirv_opcode(w) != SpvOpCopyObject)
            chains[n++] = w;
    }
    if (is_matrix(c, spirv_pointee(&c->m, root)))
        refuse(c, "a pointer to a matrix without its structure:", root);
    type = spirv_type(&c->m, SpvOpTypeInt, integer, 2);
    x = SPIRV_VALUE(&c->m.out, SpvOpConvertPtrToU, type, pointer);
    by = SPIRV_VALUE(&c->m.out, SpvOpISub, type, confined_integer(c, type, x), x);
    x = SPIRV_VALUE(&c->m.out, SpvOpConvertPtrToU, type, root);
    x = SPIRV_VALUE(&c->m.out, SpvOpIAdd, type, x, by);
    x = SPIRV_VALUE(&c->m.out, SpvOpConvertUToPtr, c->m.ids[root].type, x);
    while (n)
        x = again(c, chains[--n], x);
    return x;
}

/* `index` of something of `n` elements, made to be inside. */
static uint32_t bound_index(struct confine *c, uint32_t index, uint32_t n)
{
    const uint32_t type = c->m.ids[index].type, width = spirv_definition(&c->m, type)[2],
                   *w = spirv_definition(&c->m, index);
    uint32_t inside;

    if (spirv_opcode(w) == SpvOpConstant && w[3] < n && (width <= 32 || !w[4]))
        return index;
    if (width < 32 && n >> width)
        return index; /* it counts no further */
    inside = SPIRV_VALUE(&c->m.out, SpvOpULessThan, bool_type(c), index, constant(c, type, width, n));
    return SPIRV_VALUE(&c->m.out, SpvOpSelect, type, inside, index, constant(c, type, width, 0));
}

/* The elements of a composite whose index may be anything; 0: the driver bounds them, or the index is a constant. */
static uint32_t elements(struct confine *c, uint32_t type)
{
    const uint32_t *t = spirv_definition(&c->m, type);

    switch (spirv_opcode(t)) {
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
        return t[3];
    case SpvOpTypeArray:
        return array_length(c, t);
    default:
        return 0;
    }
}

static bool chain(struct confine *c, const uint32_t *w, uint32_t n)
{
    const uint32_t base = w[3], class = spirv_storage_class(&c->m, base);
    uint32_t operands[3 + MAX_INDICES], type = spirv_pointee(&c->m, base);

    if (class == SpvStorageClassPhysicalStorageBuffer || class == SpvStorageClassUniform)
        return false; /* seen to where it is used; the device's */
    if (n > 4 + MAX_INDICES) {
        refuse(c, "an access chain of words:", n);
        return false;
    }
    memcpy(operands, w + 1, (n - 1) * sizeof(*w));
    for (uint32_t i = 4; i < n; i++) {
        const uint32_t limit = elements(c, type);

        if (limit)
            operands[i - 1] = bound_index(c, w[i], limit);
        type = spirv_element(&c->m, type, w[i]);
    }
    spirv_emit(&c->m.out, &c->m.out.code, spirv_opcode(w), operands, n - 1);
    return true;
}

/* The words of an instruction that are pointers through which it reads or writes: at[0] and at[1], 0 for none. */
static void accesses(uint32_t op, uint32_t at[2])
{
    at[0] = at[1] = 0;
    if (op == SpvOpStore || op == SpvOpAtomicStore || op == SpvOpAtomicFlagClear || op == SpvOpCopyMemory)
        at[0] = 1;
    if (op == SpvOpCopyMemory)
        at[1] = 2;
    if (op == SpvOpLoad || op == SpvOpAtomicLoad || (op >= SpvOpAtomicExchange && op <= SpvOpAtomicXor) ||
        op == SpvOpAtomicFlagTestAndSet)
        at[0] = 3;
}

/* A pointer that is no address is a variable, a part of one, or a parameter that is given such: none that was made of other things. */
static bool is_made_up(const struct confine *c, const uint32_t *w, uint32_t op)
{
    static const uint32_t honest[] = {SpvOpVariable, SpvOpAccessChain, SpvOpInBoundsAccessChain,
                                      SpvOpFunctionParameter, SpvOpCopyObject};

    if (spirv_length(w) < 3 || w[2] >= c->m.in[SPIRV_BOUND] || c->m.ids[w[2]].type != w[1] ||
        spirv_definition(&c->m, w[2]) != w || spirv_opcode_of(&c->m, w[1]) != SpvOpTypePointer ||
        is_address(c, w[2]))
        return false;
    for (size_t i = 0; i < sizeof(honest) / sizeof(honest[0]); i++)
        if (op == honest[i])
            return false;
    return true;
}

static void check(struct confine *c, const uint32_t *w, uint32_t op)
{
    if (op == SpvOpDecorate || op == SpvOpMemberDecorate)
        note_layout(c, w, op);
    if (op == SpvOpCapability)
        check_capability(c, w[1]);
    if (op == SpvOpDecorationGroup || op == SpvOpGroupDecorate || op == SpvOpGroupMemberDecorate)
        refuse(c, "instruction", op); /* decorations are looked for at what they are of */
    if (op == SpvOpMemberDecorate && w[3] == SpvDecorationMatrixStride && w[4] > MAX_MATRIX_STRIDE)
        refuse(c, "a matrix stride of", w[4]);
    if (op == SpvOpCopyMemorySized || op == SpvOpGenericCastToPtr || op == SpvOpPtrCastToGeneric)
        refuse(c, "instruction", op);
    if (is_made_up(c, w, op))
        refuse(c, "a pointer that is no variable's, by instruction", op);
    for (uint32_t i = 5; op == SpvOpExtInst && i < spirv_length(w); i++)
        if (is_address(c, w[i]))
            refuse(c, "an address in extended instruction", w[4]);
}

static bool access(struct confine *c, const uint32_t *w, uint32_t op, uint32_t n)
{
    uint32_t at[2], first, second, *copy;

    accesses(op, at);
    if (!at[0])
        return false;
    first = confined(c, w[at[0]]);
    second = at[1] ? confined(c, w[at[1]]) : 0;
    copy = malloc(n * sizeof(*copy));
    if (!copy) {
        c->m.out.failed = true;
        return true;
    }
    memcpy(copy, w, n * sizeof(*w));
    copy[at[0]] = first;
    if (at[1])
        copy[at[1]] = second;
    spirv_emit(&c->m.out, &c->m.out.code, op, copy + 1, n - 1);
    free(copy);
    return true;
}

/* ---- what a shader has of its own ---------------------------------------- */

static uint64_t at_most(uint64_t n)
{
    return n <= MAX_OWN ? n : MAX_OWN + 1;
}

/* Numbers in a type, MAX_OWN + 1 for more. */
static uint64_t components(struct confine *c, uint32_t type)
{
    const uint32_t *t = spirv_definition(&c->m, type);
    uint64_t n = 0;

    switch (spirv_opcode(t)) {
    case SpvOpTypeStruct:
        for (uint32_t i = 2; i < spirv_length(t); i++)
            n = at_most(n + components(c, t[i]));
        return n;
    case SpvOpTypeArray:
        return at_most(at_most(array_length(c, t)) * components(c, t[2]));
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
        return t[3] * components(c, t[2]);
    default:
        return 1;
    }
}

/* own[function]: the numbers in its variables and, since drivers make calls a part of who calls, in those of what it calls; own[0]: in
 * the variables of all. Returns whether any of them grew. */
static bool add_own(struct confine *c, uint64_t *own)
{
    uint32_t function = 0;
    uint64_t sum = 0;
    bool more = false;

    for (size_t at = SPIRV_HEADER; at < c->m.count; at += spirv_length(c->m.in + at)) {
        const uint32_t *w = c->m.in + at, op = spirv_opcode(w);

        if (op == SpvOpVariable && (w[3] == SpvStorageClassFunction || w[3] == SpvStorageClassPrivate))
            sum = at_most(sum + components(c, spirv_pointee(&c->m, w[2])));
        else if (op == SpvOpFunctionCall)
            sum = at_most(sum + own[w[3]]);
        else if (op == SpvOpFunction || op == SpvOpFunctionEnd) {
            if (sum > own[function]) {
                own[function] = sum;
                more = true;
            }
            function = op == SpvOpFunction ? w[2] : 0;
            sum = 0;
        }
    }
    return more;
}

/* Drivers have it on the stack of the thread that runs the shader, for all that it runs at once. */
static void check_own(struct confine *c)
{
    const uint32_t bound = c->m.in[SPIRV_BOUND];
    uint64_t *own = calloc(bound, sizeof(*own));
    unsigned rounds = 0;

    c->m.out.failed |= !own;
    while (own && add_own(c, own))
        if (++rounds > MAX_CALLS) {
            refuse(c, "calls within calls, more than", MAX_CALLS);
            break;
        }
    for (uint32_t id = 1; own && id < bound; id++)
        if (own[0] + own[id] > MAX_OWN)
            refuse(c, "variables of more components than", MAX_OWN);
    free(own);
}

/* 64-bit integers, if the module has none; `w` is its first instruction. */
static void want_integers(struct confine *c, const uint32_t *w)
{
    for (; spirv_opcode(w) == SpvOpCapability; w += spirv_length(w))
        if (w[1] == SpvCapabilityInt64)
            return;
    SPIRV_OP(&c->m.out, globals, SpvOpCapability, SpvCapabilityInt64);
}

int spirv_confine(uint32_t **words, size_t *count, const struct shader_addresses *a, struct error *e)
{
    struct confine c = {.a = a, .e = e};
    struct spirv_words *section = &c.m.out.globals;
    int r = spirv_module_read(&c.m, *words, *count);

    if (r)
        return error_set(e, r, "no memory for a shader");
    c.layouts = calloc((*words)[SPIRV_BOUND], sizeof(*c.layouts));
    if (!c.layouts)
        c.result = error_set(e, -ENOMEM, "no memory for a shader");
    if (!c.result)
        check_own(&c);
    if (a)
        want_integers(&c, c.m.in + SPIRV_HEADER);
    for (size_t at = SPIRV_HEADER; at < c.m.count && !c.result; at += spirv_length(c.m.in + at)) {
        const uint32_t *w = c.m.in + at, op = spirv_opcode(w), n = spirv_length(w);

        if (op == SpvOpFunction)
            section = &c.m.out.code;
        check(&c, w, op);
        if ((op == SpvOpAccessChain || op == SpvOpInBoundsAccessChain) && chain(&c, w, n))
            continue;
        if (!access(&c, w, op, n))
            spirv_emit(&c.m.out, section, op, w + 1, n - 1);
    }
    if (c.result)
        c.m.out.failed = true;
    r = spirv_module_replace(&c.m, words, count);
    free(c.layouts);
    return c.result ? c.result : r ? error_set(e, r, "no memory for a shader") : 0;
}
