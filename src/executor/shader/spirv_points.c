/* SPDX-License-Identifier: MIT */
#include "executor/shader/spirv_points.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shader/spirv_read.h"

enum { NEW_WORDS = 32 };

struct module {
    const uint32_t *in;
    size_t count;
    uint32_t model, function; /* of the entry point */
    uint32_t float_type, pointer_type, one;
    size_t stores; /* places where the size is written: the entry of main, or each emitted vertex */
    bool has_size;
};

static void scan(struct module *m)
{
    for (size_t i = SPIRV_HEADER; i < m->count; i += spirv_length(m->in + i)) {
        const uint32_t *w = m->in + i;
        switch (spirv_opcode(w)) {
        case SpvOpEntryPoint:
            m->model = w[1];
            m->function = w[2];
            break;
        case SpvOpDecorate:
            m->has_size |= w[2] == SpvDecorationBuiltIn && w[3] == SpvBuiltInPointSize;
            break;
        case SpvOpMemberDecorate: /* of gl_PerVertex; one that is only read counts as well, and does no harm */
            m->has_size |= w[3] == SpvDecorationBuiltIn && w[4] == SpvBuiltInPointSize;
            break;
        case SpvOpTypeFloat:
            if (w[2] == 32)
                m->float_type = w[1];
            break;
        case SpvOpTypePointer:
            if (w[2] == SpvStorageClassOutput && w[3] == m->float_type)
                m->pointer_type = w[1];
            break;
        case SpvOpConstant:
            if (w[1] == m->float_type && w[3] == 0x3F800000)
                m->one = w[2];
            break;
        case SpvOpEmitVertex:
        case SpvOpEmitStreamVertex:
            m->stores++;
            break;
        }
    }
    if (m->model != SpvExecutionModelGeometry)
        m->stores = 1;
}

struct out {
    uint32_t *w;
    size_t count;
};

#define EMIT(o, op, ...)                                                                                     \
    do {                                                                                                     \
        const uint32_t operands[] = {__VA_ARGS__};                                                           \
        (o)->w[(o)->count++] = (uint32_t)(sizeof(operands) / 4 + 1) << 16 | (op);                            \
        memcpy((o)->w + (o)->count, operands, sizeof(operands));                                             \
        (o)->count += sizeof(operands) / 4;                                                                  \
    } while (0)

/* The globals that the module lacks, before its first function. */
static void emit_globals(struct module *m, struct out *o, uint32_t size)
{
    if (!m->float_type)
        EMIT(o, SpvOpTypeFloat, m->float_type = o->w[SPIRV_BOUND]++, 32);
    if (!m->pointer_type)
        EMIT(o, SpvOpTypePointer, m->pointer_type = o->w[SPIRV_BOUND]++, SpvStorageClassOutput,
             m->float_type);
    if (!m->one)
        EMIT(o, SpvOpConstant, m->float_type, m->one = o->w[SPIRV_BOUND]++, 0x3F800000);
    EMIT(o, SpvOpVariable, m->pointer_type, size, SpvStorageClassOutput);
}

static void rewrite(struct module *m, struct out *o)
{
    bool decorated = false, declared = false, in_entry = false, at_start = false;
    uint32_t size;

    memcpy(o->w, m->in, SPIRV_HEADER * 4);
    o->count = SPIRV_HEADER;
    size = o->w[SPIRV_BOUND]++;
    if (m->model == SpvExecutionModelGeometry)
        EMIT(o, SpvOpCapability, SpvCapabilityGeometryPointSize);
    else if (m->model == SpvExecutionModelTessellationEvaluation)
        EMIT(o, SpvOpCapability, SpvCapabilityTessellationPointSize);
    for (size_t i = SPIRV_HEADER; i < m->count; i += spirv_length(m->in + i)) {
        const uint32_t *w = m->in + i, op = spirv_opcode(w), n = spirv_length(w);
        if (!decorated && op >= SpvOpTypeVoid && op <= SpvOpTypePipe) {
            EMIT(o, SpvOpDecorate, size, SpvDecorationBuiltIn, SpvBuiltInPointSize);
            decorated = true;
        }
        if (op == SpvOpFunction && !declared) {
            emit_globals(m, o, size);
            declared = true;
        }
        if (op == SpvOpFunction)
            in_entry = w[2] == m->function && m->model != SpvExecutionModelGeometry;
        if (at_start && op != SpvOpVariable) { /* variables come first in a function */
            EMIT(o, SpvOpStore, size, m->one);
            at_start = in_entry = false;
        }
        if (op == SpvOpEmitVertex || op == SpvOpEmitStreamVertex)
            EMIT(o, SpvOpStore, size, m->one);
        memcpy(o->w + o->count, w, (size_t)n * 4);
        o->count += n;
        if (op == SpvOpEntryPoint) { /* its interface names every input and output */
            o->w[o->count - n] += 1u << 16;
            o->w[o->count++] = size;
        }
        at_start |= in_entry && op == SpvOpLabel;
    }
}

int spirv_write_point_size(uint32_t **words, size_t *count)
{
    struct module m = {.in = *words, .count = *count};
    struct out o = {0};

    scan(&m);
    if (m.has_size)
        return 0;
    o.w = malloc((*count + NEW_WORDS + 3 * m.stores) * 4);
    if (!o.w)
        return -ENOMEM;
    rewrite(&m, &o);
    free(*words);
    *words = o.w;
    *count = o.count;
    return 0;
}
