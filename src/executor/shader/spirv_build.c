/* SPDX-License-Identifier: MIT */
#include "executor/shader/spirv_build.h"

#include <stdlib.h>
#include <string.h>

#include <spirv/unified1/spirv.h>

#include "base/array.h"
#include "base/check.h"

void spirv_init(struct spirv *b)
{
    *b = (struct spirv){.bound = 1};
}

static void free_words(struct spirv_words *s)
{
    free(s->w);
    *s = (struct spirv_words){0};
}

void spirv_discard(struct spirv *b)
{
    free_words(&b->capabilities);
    free_words(&b->imports);
    free_words(&b->entry);
    free_words(&b->modes);
    free_words(&b->decorations);
    free_words(&b->globals);
    free_words(&b->code);
    free(b->known);
    *b = (struct spirv){.failed = true, .bound = 1};
}

static uint32_t *reserve(struct spirv *b, struct spirv_words *s, size_t n)
{
    if (b->failed)
        return NULL;
    if (array_reserve(s->w, s->capacity, s->count + n)) {
        b->failed = true;
        return NULL;
    }
    s->count += n;
    INVARIANT(s->count <= s->capacity);
    return s->w + s->count - n;
}

void spirv_emit(struct spirv *b, struct spirv_words *section, uint32_t op, const uint32_t *operands, size_t n)
{
    uint32_t *w = reserve(b, section, n + 1);

    if (!w)
        return;
    w[0] = op | (uint32_t)(n + 1) << SpvWordCountShift;
    if (n)
        memcpy(w + 1, operands, n * sizeof(*w));
}

static uint32_t emit_result(struct spirv *b, struct spirv_words *section, uint32_t op, uint32_t type,
                            const uint32_t *operands, size_t n)
{
    size_t head = type ? 3 : 2;
    uint32_t *w = reserve(b, section, head + n), id = spirv_id(b);

    if (!w)
        return id;
    w[0] = op | (uint32_t)(head + n) << SpvWordCountShift;
    w[1] = type ? type : id;
    if (type)
        w[2] = id;
    if (n)
        memcpy(w + head, operands, n * sizeof(*w));
    return id;
}

uint32_t spirv_value(struct spirv *b, uint32_t op, uint32_t type, const uint32_t *operands, size_t n)
{
    return emit_result(b, &b->code, op, type, operands, n);
}

uint32_t spirv_global(struct spirv *b, uint32_t op, uint32_t type, const uint32_t *operands, size_t n)
{
    size_t head = type ? 3 : 2, offset = b->globals.count;
    uint32_t first = op | (uint32_t)(head + n) << SpvWordCountShift, id;

    for (size_t k = 0; k < b->known_count && !b->failed; k++) {
        const uint32_t *w = b->globals.w + b->known[k].offset;
        if (w[0] == first && (!type || w[1] == type) && (!n || !memcmp(w + head, operands, n * sizeof(*w))))
            return b->known[k].id;
    }
    id = emit_result(b, &b->globals, op, type, operands, n);
    if (b->failed)
        return id;
    if (array_reserve(b->known, b->known_capacity, b->known_count + 1)) {
        b->failed = true;
        return id;
    }
    b->known[b->known_count].offset = (uint32_t)offset;
    b->known[b->known_count++].id = id;
    return id;
}

void spirv_capability(struct spirv *b, uint32_t capability)
{
    for (size_t k = 0; k + 1 < b->capabilities.count; k += 2)
        if (b->capabilities.w[k + 1] == capability)
            return;
    SPIRV_OP(b, capabilities, SpvOpCapability, capability);
}

uint32_t *spirv_finish(struct spirv *b, size_t *count)
{
    static const uint32_t memory_model[] = {SpvAddressingModelLogical, SpvMemoryModelGLSL450};
    struct spirv_words model = {0};
    uint32_t *out = NULL;
    size_t n = 5;

    spirv_emit(b, &model, SpvOpMemoryModel, memory_model, 2);
    const struct spirv_words *sections[] = {&b->capabilities, &b->imports,     &model,      &b->entry,
                                            &b->modes,        &b->decorations, &b->globals, &b->code};
    for (size_t k = 0; k < sizeof(sections) / sizeof(sections[0]); k++)
        n += sections[k]->count;
    if (!b->failed)
        out = malloc(n * sizeof(*out));
    if (out) {
        const uint32_t header[5] = {SpvMagicNumber, 0x00010300, 0, b->bound, 0};
        memcpy(out, header, sizeof(header));
        n = 5;
        for (size_t k = 0; k < sizeof(sections) / sizeof(sections[0]); k++) {
            if (sections[k]->count)
                memcpy(out + n, sections[k]->w, sections[k]->count * sizeof(*out));
            n += sections[k]->count;
        }
        *count = n;
    }
    free(model.w);
    spirv_discard(b);
    return out;
}
