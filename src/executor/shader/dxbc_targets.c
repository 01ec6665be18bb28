/* SPDX-License-Identifier: MIT */
/* dxbc_targets.c: pixel shaders whose SV_Target has less than four components.
 *
 * What such a shader leaves out is 0, and 1 for alpha; in Vulkan it would be undefined. The container is rewritten before it is
 * translated: signature and declarations name all four components, and the program begins with moves into the missing ones.
 */
#include "executor/shader/dxbc_targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/dxbc/dxbc_sum.h"
#include "executor/shader/sm4.h"

enum {
    HEADER_SIZE = 32,
    SUM_AT = 4,
    TOTAL_AT = 24,
    TARGETS = 8,
    MOVE_WORDS = 8,
    COMPONENT_FLOAT = 3,
    SIGNATURE_HEADER = 8,
};

struct rewrite {
    const struct dxbc *d;
    const struct dxbc_chunk *program, *outputs;
    uint32_t missing[TARGETS]; /* components of each target */
    uint32_t moves, insert_at; /* words */
};

/* Bytes of an element and where its mask is; 0 for other chunks. */
static uint32_t element_size(uint32_t fourcc, uint32_t *mask_at)
{
    switch (fourcc) {
    case DXBC_FOURCC('O', 'S', 'G', 'N'):
        *mask_at = 20;
        return 24;
    case DXBC_FOURCC('O', 'S', 'G', '5'):
        *mask_at = 24;
        return 28;
    case DXBC_FOURCC('O', 'S', 'G', '1'):
        *mask_at = 24;
        return 32;
    default:
        *mask_at = 0;
        return 0;
    }
}

static bool is_declaration(uint32_t opcode)
{
    return opcode == SM4_OP_CUSTOMDATA ||
           (opcode >= SM4_OP_DCL_RESOURCE && opcode <= SM4_OP_DCL_GLOBAL_FLAGS) ||
           (opcode >= SM4_OP_DCL_STREAM && opcode <= SM4_OP_DCL_RESOURCE_STRUCTURED);
}

static bool is_partial_target(const struct sm4_instruction *i)
{
    return i->opcode == SM4_OP_DCL_OUTPUT && !(i->token >> 31) && i->operands[0].type == SM4_OUTPUT &&
           i->operands[0].index[0] < TARGETS && i->operands[0].swizzle != 15;
}

static void find_missing(struct rewrite *w, const struct sm4 *program, const struct dxbc_signature *out)
{
    struct sm4 p = *program;
    struct sm4_instruction i;
    uint32_t declared[TARGETS] = {0};

    while (sm4_next(&p, &i, NULL) > 0 && is_declaration(i.opcode)) {
        w->insert_at = i.at + i.length;
        if (is_partial_target(&i))
            declared[i.operands[0].index[0]] |= i.operands[0].swizzle;
    }
    for (uint32_t k = 0; k < out->count; k++) {
        uint32_t reg = out->elements[k].reg;
        if (reg >= TARGETS || !declared[reg] || declared[reg] == 15 || w->missing[reg] ||
            out->elements[k].component != COMPONENT_FLOAT)
            continue;
        w->missing[reg] = 15u & ~declared[reg];
        w->moves++;
    }
}

static void put(uint8_t *at, uint32_t v)
{
    memcpy(at, &v, 4);
}

static void write_signature(const struct rewrite *w, uint8_t *to)
{
    uint32_t mask_at, size = element_size(w->outputs->fourcc, &mask_at);
    uint32_t count, reg;

    memcpy(&count, to, 4);
    for (uint32_t i = 0; i < count && SIGNATURE_HEADER + (uint64_t)(i + 1) * size <= w->outputs->size; i++) {
        uint8_t *element = to + SIGNATURE_HEADER + i * size;
        memcpy(&reg, element + mask_at - 4, 4);
        if (reg >= TARGETS || !w->missing[reg])
            continue;
        element[mask_at] |= (uint8_t)w->missing[reg];
        element[mask_at + 1] &= (uint8_t)~w->missing[reg]; /* components that are not written */
    }
}

/* `to` holds the program's words up to insert_at; returns where the rest goes. */
static uint8_t *write_moves(const struct rewrite *w, uint8_t *to)
{
    for (uint32_t reg = 0; reg < TARGETS; reg++) {
        const uint32_t move[MOVE_WORDS] = {54u | MOVE_WORDS << 24,
                                           0x00102002u | w->missing[reg] << 4,
                                           reg,
                                           0x00004002u,
                                           0,
                                           0,
                                           0,
                                           0x3F800000u};
        if (!w->missing[reg])
            continue;
        memcpy(to, move, sizeof(move));
        to += sizeof(move);
    }
    return to;
}

static uint32_t write_program(const struct rewrite *w, const struct sm4 *program, uint8_t *to)
{
    uint32_t words = program->words + w->moves * MOVE_WORDS;
    struct sm4 p = *program;
    struct sm4_instruction i;
    uint8_t *rest;

    memcpy(to, w->program->data, (size_t)w->insert_at * 4);
    put(to + 4, words);
    while (sm4_next(&p, &i, NULL) > 0 && is_declaration(i.opcode))
        if (is_partial_target(&i) && w->missing[i.operands[0].index[0]])
            put(to + (i.at + 1) * 4, sm4_word(program, i.at + 1) | 0xF0u);
    rest = write_moves(w, to + (size_t)w->insert_at * 4);
    memcpy(rest, w->program->data + (size_t)w->insert_at * 4, ((size_t)program->words - w->insert_at) * 4);
    return words * 4;
}

int dxbc_fill_targets(const struct dxbc *d, const struct sm4 *program, const struct dxbc_chunk *outputs,
                      const struct dxbc_signature *out, uint8_t **bytes, size_t *size, struct error *e)
{
    struct rewrite w = {.d = d, .program = dxbc_program(d), .outputs = outputs};
    uint32_t at = HEADER_SIZE + 4 * d->chunk_count, mask_at, sum[4];
    size_t room = at + (size_t)TARGETS * MOVE_WORDS * 4;
    uint8_t *b;

    *bytes = NULL;
    if (!outputs || !element_size(outputs->fourcc, &mask_at))
        return 0;
    find_missing(&w, program, out);
    if (!w.moves)
        return 0;
    for (uint32_t i = 0; i < d->chunk_count; i++) /* chunks may overlap: their sum may pass the size */
        room += 12 + (size_t)d->chunks[i].size;
    b = calloc(1, room);
    if (!b)
        return error_set(e, -ENOMEM, "no memory for a shader of %zu bytes", d->size);
    memcpy(b, d->bytes, HEADER_SIZE);
    for (uint32_t i = 0; i < d->chunk_count; i++) {
        const struct dxbc_chunk *c = &d->chunks[i];
        uint32_t n = c->size;
        put(b + HEADER_SIZE + 4 * i, at);
        if (c == w.program) {
            n = write_program(&w, program, b + at + 8);
        } else {
            memcpy(b + at + 8, c->data, n);
            if (c == outputs)
                write_signature(&w, b + at + 8);
        }
        put(b + at, c->fourcc);
        put(b + at + 4, n);
        at += 8 + ((n + 3) & ~3u);
    }
    put(b + TOTAL_AT, at);
    dxbc_sum(b, at, sum);
    memcpy(b + SUM_AT, sum, sizeof(sum));
    *bytes = b;
    *size = at;
    return 0;
}
