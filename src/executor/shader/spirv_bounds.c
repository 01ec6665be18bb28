/* SPDX-License-Identifier: MIT */
/* spirv_bounds.c: see spirv_bounds.h.
 *
 * An access chain whose index is no constant inside of its array gets an index that is, and a condition: whether it was inside.
 *  - Loads through it select between what they found and zero.
 *  - Memory of a work group is one element longer, which stores and atomics of the outside have for themselves: a store that put back
 *    what it had read would race with the other threads.
 *  - Other memory is one thread's: a store outside puts back what is there.
 */
#include "executor/shader/spirv_bounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPV_ENABLE_UTILITY_CODE
#include <spirv/unified1/spirv.h>

#include "executor/shader/spirv_build.h"

/* The header has it inline alone. */
extern inline void SpvHasResultAndType(SpvOp opcode, bool *hasResult, bool *hasResultType);

enum { HEADER = 5, BOUND = 3, MAX_INDICES = 16 };

struct bounds {
    const uint32_t *in;
    size_t count;
    struct id {
        uint32_t type;   /* of a value; 0: of a type */
        uint32_t at;     /* its instruction, of types, constants and variables */
        uint32_t inside; /* of a pointer: the condition; 0: always */
    } * ids;
    uint32_t bool_type, bool_vectors[5];
    struct spirv out; /* globals: all in front of the functions; code: these */
};

static uint32_t opcode_at(const struct bounds *b, size_t at)
{
    return b->in[at] & SpvOpCodeMask;
}

static uint32_t length_at(const struct bounds *b, size_t at)
{
    return b->in[at] >> SpvWordCountShift;
}

static const uint32_t *definition(const struct bounds *b, uint32_t id)
{
    return b->in + b->ids[id].at;
}

static uint32_t opcode_of(const struct bounds *b, uint32_t id)
{
    return b->ids[id].at ? *definition(b, id) & SpvOpCodeMask : 0;
}

static void note(struct bounds *b, size_t at)
{
    const uint32_t *w = b->in + at;
    uint32_t op = opcode_at(b, at);
    bool has_result, has_type;

    SpvHasResultAndType((SpvOp)op, &has_result, &has_type);
    if (!has_result)
        return;
    b->ids[w[has_type ? 2 : 1]].at = (uint32_t)at;
    if (has_type)
        b->ids[w[2]].type = w[1];
    if (op == SpvOpTypeBool)
        b->bool_type = w[1];
    if (op == SpvOpTypeVector && w[2] == b->bool_type && w[3] <= 4)
        b->bool_vectors[w[3]] = w[1];
}

static uint32_t pointee(const struct bounds *b, uint32_t pointer)
{
    return definition(b, b->ids[pointer].type)[3];
}

static uint32_t storage_class(const struct bounds *b, uint32_t pointer)
{
    return definition(b, b->ids[pointer].type)[2];
}

static uint32_t bool_type(struct bounds *b)
{
    if (!b->bool_type)
        b->bool_type = spirv_global(&b->out, SpvOpTypeBool, 0, NULL, 0);
    return b->bool_type;
}

/* The condition as wide as a value of `type`; 0: neither scalar nor vector. */
static uint32_t widen(struct bounds *b, uint32_t type, uint32_t condition)
{
    const uint32_t *t = definition(b, type);
    uint32_t op = *t & SpvOpCodeMask, n;
    const uint32_t all[4] = {condition, condition, condition, condition};

    if (op == SpvOpTypeInt || op == SpvOpTypeFloat || op == SpvOpTypeBool)
        return condition;
    if (op != SpvOpTypeVector || t[3] > 4)
        return 0;
    n = t[3];
    if (!b->bool_vectors[n])
        b->bool_vectors[n] = SPIRV_GLOBAL(&b->out, SpvOpTypeVector, 0, bool_type(b), n);
    return spirv_value(&b->out, SpvOpCompositeConstruct, b->bool_vectors[n], all, n);
}

/* A work group's array is declared with one more. */
static bool longer_variable(struct bounds *b, const uint32_t *w)
{
    const uint32_t *pointer = definition(b, w[1]), *array = definition(b, pointer[3]);
    uint32_t length, type;

    if (w[3] != SpvStorageClassWorkgroup || (*array & SpvOpCodeMask) != SpvOpTypeArray)
        return false;
    length = SPIRV_GLOBAL(&b->out, SpvOpConstant, b->ids[array[3]].type, definition(b, array[3])[3] + 1);
    type = SPIRV_GLOBAL(&b->out, SpvOpTypeArray, 0, array[2], length);
    type = SPIRV_GLOBAL(&b->out, SpvOpTypePointer, 0, SpvStorageClassWorkgroup, type);
    SPIRV_OP(&b->out, globals, SpvOpVariable, type, w[2], SpvStorageClassWorkgroup);
    return true;
}

/* `index` of an array of `size` elements, made to be inside; *inside gets the condition as well. */
static uint32_t bound_index(struct bounds *b, uint32_t index, uint32_t size, bool group, uint32_t *inside)
{
    uint32_t n = definition(b, size)[3], type = b->ids[index].type, condition, instead;

    if (opcode_of(b, index) == SpvOpConstant && definition(b, index)[3] < n)
        return index;
    condition = SPIRV_VALUE(&b->out, SpvOpULessThan, bool_type(b), index, size);
    instead = SPIRV_GLOBAL(&b->out, SpvOpConstant, type, group ? n : 0);
    *inside = *inside ? SPIRV_VALUE(&b->out, SpvOpLogicalAnd, bool_type(b), *inside, condition) : condition;
    return SPIRV_VALUE(&b->out, SpvOpSelect, type, condition, index, instead);
}

/* The element that an index of a composite selects, as a type. */
static uint32_t element(const struct bounds *b, uint32_t type, uint32_t index)
{
    const uint32_t *t = definition(b, type);

    switch (*t & SpvOpCodeMask) {
    case SpvOpTypeStruct:
        return t[2 + definition(b, index)[3]];
    case SpvOpTypePointer:
        return t[3];
    default: /* arrays, vectors, matrices */
        return t[2];
    }
}

static bool is_bounded(uint32_t class)
{
    return class == SpvStorageClassWorkgroup || class == SpvStorageClassPrivate ||
           class == SpvStorageClassFunction || class == SpvStorageClassInput ||
           class == SpvStorageClassOutput || class == SpvStorageClassUniform;
}

static bool chain(struct bounds *b, const uint32_t *w, uint32_t n)
{
    uint32_t base = w[3], class = storage_class(b, base), type = pointee(b, base),
             inside = b->ids[base].inside;
    uint32_t operands[3 + MAX_INDICES];

    if (!is_bounded(class) || n > 4 + MAX_INDICES)
        return false;
    memcpy(operands, w + 1, (n - 1) * sizeof(*w));
    for (uint32_t i = 4; i < n; i++) {
        const uint32_t *t = definition(b, type);

        if ((*t & SpvOpCodeMask) == SpvOpTypeArray)
            operands[i - 1] = bound_index(b, w[i], t[3], class == SpvStorageClassWorkgroup, &inside);
        type = element(b, type, w[i]);
    }
    b->ids[w[2]].inside = inside;
    spirv_emit(&b->out, &b->out.code, *w & SpvOpCodeMask, operands, n - 1);
    return true;
}

static bool load(struct bounds *b, const uint32_t *w, uint32_t n)
{
    uint32_t condition = b->ids[w[3]].inside, wide = condition ? widen(b, w[1], condition) : 0, value;

    if (!wide)
        return false;
    value = spirv_value(&b->out, SpvOpLoad, w[1], w + 3, n - 3);
    SPIRV_OP(&b->out, code, SpvOpSelect, w[1], w[2], wide, value,
             spirv_global(&b->out, SpvOpConstantNull, w[1], NULL, 0));
    return true;
}

static bool store(struct bounds *b, const uint32_t *w)
{
    uint32_t condition = b->ids[w[1]].inside, type = pointee(b, w[1]), wide, value;

    if (!condition || storage_class(b, w[1]) == SpvStorageClassWorkgroup)
        return false;
    wide = widen(b, type, condition);
    if (!wide)
        return false;
    value = SPIRV_VALUE(&b->out, SpvOpLoad, type, w[1]);
    value = SPIRV_VALUE(&b->out, SpvOpSelect, type, wide, w[2], value);
    SPIRV_OP(&b->out, code, SpvOpStore, w[1], value);
    return true;
}

static void rewrite(struct bounds *b)
{
    struct spirv_words *section = &b->out.globals;

    for (size_t at = HEADER; at < b->count; at += length_at(b, at)) {
        const uint32_t *w = b->in + at, op = opcode_at(b, at), n = length_at(b, at);
        bool done = false;

        if (op == SpvOpFunction)
            section = &b->out.code;
        if (op == SpvOpVariable)
            done = longer_variable(b, w);
        else if (op == SpvOpAccessChain || op == SpvOpInBoundsAccessChain)
            done = chain(b, w, n);
        else if (op == SpvOpLoad)
            done = load(b, w, n);
        else if (op == SpvOpStore)
            done = store(b, w);
        if (!done)
            spirv_emit(&b->out, section, op, w + 1, n - 1);
    }
}

int spirv_bound_arrays(uint32_t **words, size_t *count)
{
    struct bounds b = {.in = *words, .count = *count};
    uint32_t *out = NULL;
    size_t n;

    b.ids = calloc(b.in[BOUND], sizeof(*b.ids));
    if (!b.ids)
        return -ENOMEM;
    spirv_init(&b.out);
    b.out.bound = b.in[BOUND];
    for (size_t at = HEADER; at < b.count; at += length_at(&b, at))
        note(&b, at);
    rewrite(&b);
    n = HEADER + b.out.globals.count + b.out.code.count;
    if (!b.out.failed)
        out = malloc(n * sizeof(*out));
    if (out) {
        memcpy(out, b.in, HEADER * sizeof(*out));
        out[BOUND] = b.out.bound;
        memcpy(out + HEADER, b.out.globals.w, b.out.globals.count * sizeof(*out));
        memcpy(out + HEADER + b.out.globals.count, b.out.code.w, b.out.code.count * sizeof(*out));
        free(*words);
        *words = out;
        *count = n;
    }
    spirv_discard(&b.out);
    free(b.ids);
    return out ? 0 : -ENOMEM;
}
