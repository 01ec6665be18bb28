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

#include "executor/shader/spirv_read.h"

enum { MAX_INDICES = 16 };

struct bounds {
    struct spirv_module m;
    uint32_t *inside; /* of an id that is a pointer: the condition; 0: always */
};

static uint32_t bool_type(struct bounds *b)
{
    return spirv_type(&b->m, SpvOpTypeBool, NULL, 0);
}

/* The condition as wide as a value of `type`; 0: neither scalar nor vector. */
static uint32_t widen(struct bounds *b, uint32_t type, uint32_t condition)
{
    const uint32_t *t = spirv_definition(&b->m, type);
    uint32_t op = *t & SpvOpCodeMask, n;
    const uint32_t all[4] = {condition, condition, condition, condition};

    if (op == SpvOpTypeInt || op == SpvOpTypeFloat || op == SpvOpTypeBool)
        return condition;
    if (op != SpvOpTypeVector || t[3] > 4)
        return 0;
    n = t[3];
    return spirv_value(&b->m.out, SpvOpCompositeConstruct,
                       spirv_type(&b->m, SpvOpTypeVector, (const uint32_t[]){bool_type(b), n}, 2), all, n);
}

/* A work group's array is declared with one more. */
static bool longer_variable(struct bounds *b, const uint32_t *w)
{
    const uint32_t *pointer = spirv_definition(&b->m, w[1]), *array = spirv_definition(&b->m, pointer[3]);
    uint32_t length, type;

    if (w[3] != SpvStorageClassWorkgroup || (*array & SpvOpCodeMask) != SpvOpTypeArray)
        return false;
    length = SPIRV_GLOBAL(&b->m.out, SpvOpConstant, b->m.ids[array[3]].type,
                          spirv_definition(&b->m, array[3])[3] + 1);
    type = SPIRV_GLOBAL(&b->m.out, SpvOpTypeArray, 0, array[2], length);
    type = SPIRV_GLOBAL(&b->m.out, SpvOpTypePointer, 0, SpvStorageClassWorkgroup, type);
    SPIRV_OP(&b->m.out, globals, SpvOpVariable, type, w[2], SpvStorageClassWorkgroup);
    return true;
}

/* `index` of an array of `size` elements, made to be inside; *inside gets the condition as well. */
static uint32_t bound_index(struct bounds *b, uint32_t index, uint32_t size, bool group, uint32_t *inside)
{
    uint32_t n = spirv_definition(&b->m, size)[3], type = b->m.ids[index].type, condition, instead;

    if (spirv_opcode_of(&b->m, index) == SpvOpConstant && spirv_definition(&b->m, index)[3] < n)
        return index;
    condition = SPIRV_VALUE(&b->m.out, SpvOpULessThan, bool_type(b), index, size);
    instead = SPIRV_GLOBAL(&b->m.out, SpvOpConstant, type, group ? n : 0);
    *inside = *inside ? SPIRV_VALUE(&b->m.out, SpvOpLogicalAnd, bool_type(b), *inside, condition) : condition;
    return SPIRV_VALUE(&b->m.out, SpvOpSelect, type, condition, index, instead);
}

static bool is_bounded(uint32_t class)
{
    return class == SpvStorageClassWorkgroup || class == SpvStorageClassPrivate ||
           class == SpvStorageClassFunction || class == SpvStorageClassInput ||
           class == SpvStorageClassOutput || class == SpvStorageClassUniform;
}

static bool chain(struct bounds *b, const uint32_t *w, uint32_t n)
{
    uint32_t base = w[3], class = spirv_storage_class(&b->m, base), type = spirv_pointee(&b->m, base),
             inside = b->inside[base];
    uint32_t operands[3 + MAX_INDICES];

    if (!is_bounded(class) || n > 4 + MAX_INDICES)
        return false;
    memcpy(operands, w + 1, (n - 1) * sizeof(*w));
    for (uint32_t i = 4; i < n; i++) {
        const uint32_t *t = spirv_definition(&b->m, type);

        if ((*t & SpvOpCodeMask) == SpvOpTypeArray)
            operands[i - 1] = bound_index(b, w[i], t[3], class == SpvStorageClassWorkgroup, &inside);
        type = spirv_element(&b->m, type, w[i]);
    }
    b->inside[w[2]] = inside;
    spirv_emit(&b->m.out, &b->m.out.code, *w & SpvOpCodeMask, operands, n - 1);
    return true;
}

static bool load(struct bounds *b, const uint32_t *w, uint32_t n)
{
    uint32_t condition = b->inside[w[3]], wide = condition ? widen(b, w[1], condition) : 0, value;

    if (!wide)
        return false;
    value = spirv_value(&b->m.out, SpvOpLoad, w[1], w + 3, n - 3);
    SPIRV_OP(&b->m.out, code, SpvOpSelect, w[1], w[2], wide, value,
             spirv_global(&b->m.out, SpvOpConstantNull, w[1], NULL, 0));
    return true;
}

static bool store(struct bounds *b, const uint32_t *w)
{
    uint32_t condition = b->inside[w[1]], type = spirv_pointee(&b->m, w[1]), wide, value;

    if (!condition || spirv_storage_class(&b->m, w[1]) == SpvStorageClassWorkgroup)
        return false;
    wide = widen(b, type, condition);
    if (!wide)
        return false;
    value = SPIRV_VALUE(&b->m.out, SpvOpLoad, type, w[1]);
    value = SPIRV_VALUE(&b->m.out, SpvOpSelect, type, wide, w[2], value);
    SPIRV_OP(&b->m.out, code, SpvOpStore, w[1], value);
    return true;
}

/* What a barrier of Direct3D says of unordered access views libvkd3d-shader 1.2 leaves out, and of those for nothing else it makes
 * barriers for no memory at all, which there are none of: each is for buffers and images, too, on all of the device. */
static bool barrier(struct bounds *b, const uint32_t *w, uint32_t n)
{
    const uint32_t semantics = w[n - 1], type = b->m.ids[semantics].type;
    uint32_t operands[3];

    if (spirv_opcode_of(&b->m, semantics) != SpvOpConstant)
        return false;
    memcpy(operands, w + 1, (n - 1) * sizeof(*w));
    operands[n - 2] =
        SPIRV_GLOBAL(&b->m.out, SpvOpConstant, type,
                     spirv_definition(&b->m, semantics)[3] | SpvMemorySemanticsAcquireReleaseMask |
                         SpvMemorySemanticsUniformMemoryMask | SpvMemorySemanticsImageMemoryMask);
    operands[n - 3] = SPIRV_GLOBAL(&b->m.out, SpvOpConstant, type, SpvScopeDevice);
    spirv_emit(&b->m.out, &b->m.out.code, spirv_opcode(w), operands, n - 1);
    return true;
}

/* libvkd3d-shader 1.2 declares the type of functions again for each phase of a hull shader: the first such type is all of theirs. */
static uint32_t function_type(const struct bounds *b, uint32_t type)
{
    const uint32_t *w = spirv_definition(&b->m, type), *first = b->m.in + SPIRV_HEADER;

    while (first < w && (*first != *w || memcmp(first + 2, w + 2, (spirv_length(w) - 2) * sizeof(*w)) != 0))
        first += spirv_length(first);
    return first[1];
}

static void rewrite(struct bounds *b)
{
    struct spirv_words *section = &b->m.out.globals;

    for (size_t at = SPIRV_HEADER; at < b->m.count; at += spirv_length(b->m.in + at)) {
        const uint32_t *w = b->m.in + at, op = spirv_opcode(w), n = spirv_length(w);
        bool done = false;

        if (op == SpvOpFunction) {
            section = &b->m.out.code;
            SPIRV_OP(&b->m.out, code, op, w[1], w[2], w[3], function_type(b, w[4]));
            done = true;
        } else if (op == SpvOpTypeFunction) {
            done = function_type(b, w[1]) != w[1];
        } else if (op == SpvOpVariable)
            done = longer_variable(b, w);
        else if (op == SpvOpAccessChain || op == SpvOpInBoundsAccessChain)
            done = chain(b, w, n);
        else if (op == SpvOpLoad)
            done = load(b, w, n);
        else if (op == SpvOpStore)
            done = store(b, w);
        else if (op == SpvOpMemoryBarrier || op == SpvOpControlBarrier)
            done = barrier(b, w, n);
        if (!done)
            spirv_emit(&b->m.out, section, op, w + 1, n - 1);
    }
}

int spirv_bound_arrays(uint32_t **words, size_t *count)
{
    struct bounds b;
    int r = spirv_module_read(&b.m, *words, *count);

    if (r)
        return r;
    b.inside = calloc((*words)[SPIRV_BOUND], sizeof(*b.inside));
    if (b.inside)
        rewrite(&b);
    else
        b.m.out.failed = true;
    r = spirv_module_replace(&b.m, words, count);
    free(b.inside);
    return r;
}
