/* SPDX-License-Identifier: MIT */
/* shader_spirv.c: shaders that are SPIR-V already, an extension of ours (ext.h): pixel and compute shaders without inputs,
 * whose only resource is constant buffer 0 (set 0 for compute, 1 for pixel shaders; binding 0).
 *
 * Invariant: what passes is valid SPIR-V for Vulkan 1.1 that reaches no memory but its own, its constants and what lies at
 * shader_addresses. Whether physical addresses may be used is for the caller to say (shader_info.uses_addresses).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "executor/shader/shader_internal.h"
#include "executor/shader/spirv_confine.h"
#include "executor/shader/spirv_read.h"

enum { MAX_TRACKED = 64 };

struct decorated {
    uint32_t id, set, binding, location;
    bool has_location, builtin;
};

struct scan {
    struct shader *s;
    struct decorated d[MAX_TRACKED];
    uint32_t n, entries, constants;
    struct error *e;
};

bool spirv_is(const void *bytes, size_t size)
{
    uint32_t magic = 0;

    if (size >= 4)
        memcpy(&magic, bytes, 4);
    return magic == SpvMagicNumber;
}

static struct decorated *decorated(struct scan *sc, uint32_t id)
{
    for (uint32_t i = 0; i < sc->n; i++)
        if (sc->d[i].id == id)
            return &sc->d[i];
    if (sc->n == MAX_TRACKED)
        return NULL;
    sc->d[sc->n] = (struct decorated){.id = id};
    return &sc->d[sc->n++];
}

static int on_decorate(struct scan *sc, const uint32_t *w, uint32_t n)
{
    struct decorated *d;

    if (n < 4 || (w[2] != SpvDecorationDescriptorSet && w[2] != SpvDecorationBinding &&
                  w[2] != SpvDecorationBuiltIn && w[2] != SpvDecorationLocation))
        return 0;
    d = decorated(sc, w[1]);
    if (!d)
        return error_set(sc->e, -ENOTSUP, "SPIR-V with more than %d decorated things", MAX_TRACKED);
    if (w[2] == SpvDecorationDescriptorSet)
        d->set = w[3];
    if (w[2] == SpvDecorationBinding)
        d->binding = w[3];
    if (w[2] == SpvDecorationBuiltIn)
        d->builtin = true;
    if (w[2] == SpvDecorationLocation) {
        d->location = w[3];
        d->has_location = true;
    }
    return 0;
}

static int on_variable(struct scan *sc, const uint32_t *w, uint32_t n)
{
    const uint32_t class = n >= 4 ? w[3] : SpvStorageClassFunction;
    struct shader_info *info = &sc->s->info;
    struct decorated *d;

    if (class == SpvStorageClassFunction || class == SpvStorageClassPrivate ||
        class == SpvStorageClassWorkgroup)
        return 0;
    d = decorated(sc, w[2]);
    if (!d)
        return error_set(sc->e, -ENOTSUP, "SPIR-V with more than %d decorated things", MAX_TRACKED);
    switch (class) {
    case SpvStorageClassUniform:
        if (d->set != exec_stage_set(info->stage) || d->binding)
            return error_set(sc->e, -ENOTSUP,
                             "SPIR-V uniform block at set %u, binding %u, only set %u, binding 0 is possible",
                             d->set, d->binding, exec_stage_set(info->stage));
        sc->constants++;
        return 0;
    case SpvStorageClassInput:
        return d->builtin ? 0 : error_set(sc->e, -ENOTSUP, "SPIR-V with inputs that are not built in");
    case SpvStorageClassOutput:
        if (d->has_location && d->location < 8)
            info->target_mask |= 1u << d->location;
        return 0;
    case SpvStorageClassUniformConstant:
    case SpvStorageClassPushConstant:
    case SpvStorageClassStorageBuffer:
        return error_set(sc->e, -ENOTSUP, "SPIR-V variable of storage class %u", class);
    default:
        return 0;
    }
}

static int on_instruction(struct scan *sc, uint32_t op, const uint32_t *w, uint32_t n)
{
    static const int models[] = {
        [EXEC_VS] = 0, [EXEC_PS] = 4, [EXEC_GS] = 3, [EXEC_HS] = 1, [EXEC_DS] = 2, [EXEC_CS] = 5};
    struct shader_info *info = &sc->s->info;

    switch (op) {
    case SpvOpCapability:
        if (n > 1 && w[1] == SpvCapabilityPhysicalStorageBufferAddresses)
            info->uses_addresses = true;
        return 0;
    case SpvOpEntryPoint:
        if (n < 5 || (int)w[1] != models[info->stage] || memcmp(&w[3], "main", 5) || sc->entries++)
            return error_set(sc->e, -EINVAL, "SPIR-V needs one entry point, 'main', for a %s shader",
                             exec_stage_name(info->stage));
        return 0;
    case SpvOpExecutionMode:
        if (n >= 6 && w[2] == SpvExecutionModeLocalSize)
            memcpy(info->group_size, &w[3], sizeof(info->group_size));
        return 0;
    case SpvOpDecorate:
        return on_decorate(sc, w, n);
    case SpvOpVariable:
        return on_variable(sc, w, n);
    default:
        return 0;
    }
}

int shader_spirv_init(struct shader *s, const struct shader_addresses *a, struct error *e)
{
    struct scan sc = {.s = s, .e = e};
    size_t count = s->size / 4;
    int r;

    if (s->info.stage != EXEC_PS && s->info.stage != EXEC_CS)
        return error_set(e, -ENOTSUP, "a %s shader of SPIR-V; pixel and compute shaders are possible",
                         exec_stage_name(s->info.stage));
    s->info.kind = SHADER_SPIRV;
    s->size = count * 4;
    s->words = malloc(s->size);
    if (!s->words)
        return error_set(e, -ENOMEM, "no memory for a shader of %zu bytes", s->size);
    memcpy(s->words, s->bytes, s->size);
    s->word_count = count;
    r = shader_validate(s->words, count, e);
    for (size_t i = SPIRV_HEADER; !r && i < count;) {
        uint32_t n = s->words[i] >> 16;
        if (!n || n > count - i)
            return error_set(e, -EINVAL, "SPIR-V instruction at word %zu is cut short", i);
        r = on_instruction(&sc, s->words[i] & 0xFFFF, &s->words[i], n);
        i += n;
    }
    if (!r)
        r = spirv_confine(&s->words, &s->word_count, s->info.uses_addresses ? a : NULL, e);
    if (!r)
        r = shader_validate(s->words, s->word_count, e);
    if (r || !sc.constants)
        return r;
    s->descriptors = calloc(1, sizeof(*s->descriptors));
    if (!s->descriptors)
        return error_set(e, -ENOMEM, "no memory for a shader");
    s->descriptors[0] = (struct shader_descriptor){.kind = SHADER_CBV, .count = 1, .size = 4096};
    s->info.descriptor_count = 1;
    shader_assign_bindings(s);
    return 0;
}
