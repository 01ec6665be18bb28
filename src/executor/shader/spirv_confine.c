/* SPDX-License-Identifier: MIT */
#include "executor/shader/spirv_confine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shader/spirv_read.h"

enum { MAX_INDICES = 64 };

struct confine {
    struct spirv_module m;
    const struct shader_addresses *a;
    struct error *e;
    int result;
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

/* A pointer that is the same where `pointer` is one of the GPU's, and faults where it is the executor's. */
static uint32_t confined(struct confine *c, uint32_t pointer)
{
    static const uint32_t integer[] = {64, 0};
    uint32_t type, x, gpu, host, moved, other;

    if (!c->a || !is_address(c, pointer))
        return pointer;
    type = spirv_type(&c->m, SpvOpTypeInt, integer, 2);
    x = SPIRV_VALUE(&c->m.out, SpvOpConvertPtrToU, type, pointer);
    gpu = is_in(c, type, x, c->a->base, c->a->size);
    host = is_in(c, type, x, SPIRV_OUTSIDE, SPIRV_OUTSIDE_SIZE);
    moved = SPIRV_VALUE(&c->m.out, SpvOpIAdd, type, x,
                        constant(c, type, 64, SPIRV_OUTSIDE_FAULTS - SPIRV_OUTSIDE));
    other = SPIRV_VALUE(&c->m.out, SpvOpBitwiseXor, type, x, constant(c, type, 64, SPIRV_NO_ADDRESS));
    other = SPIRV_VALUE(&c->m.out, SpvOpSelect, type,
                        is_in(c, type, x, SPIRV_OUTSIDE_FAULTS, SPIRV_OUTSIDE_SIZE), other, x);
    moved = SPIRV_VALUE(&c->m.out, SpvOpSelect, type, host, moved, other);
    x = SPIRV_VALUE(&c->m.out, SpvOpSelect, type, gpu, x, moved);
    return SPIRV_VALUE(&c->m.out, SpvOpConvertUToPtr, c->m.ids[pointer].type, x);
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
    const uint32_t *t = spirv_definition(&c->m, type), *length;

    switch (spirv_opcode(t)) {
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
        return t[3];
    case SpvOpTypeArray:
        length = spirv_definition(&c->m, t[3]);
        if (spirv_opcode(length) != SpvOpConstant || spirv_length(length) != 4)
            refuse(c, "an array whose length is no constant of 32 bits:", t[3]);
        return length[3];
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

static void check(struct confine *c, const uint32_t *w, uint32_t op)
{
    if (op == SpvOpCapability)
        check_capability(c, w[1]);
    if (op == SpvOpCopyMemorySized || op == SpvOpGenericCastToPtr || op == SpvOpPtrCastToGeneric)
        refuse(c, "instruction", op);
    if ((op == SpvOpPtrAccessChain || op == SpvOpInBoundsPtrAccessChain) && !is_address(c, w[3]))
        refuse(c, "instruction", op);
    if (op == SpvOpConvertUToPtr && !is_address(c, w[2]))
        refuse(c, "instruction", op);
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
    return c.result ? c.result : r ? error_set(e, r, "no memory for a shader") : 0;
}
