/* SPDX-License-Identifier: MIT */
/* shader.c: which translator bytes go to, what all shaders have in common, and their text. */
#include "executor/shader/shader_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <spirv-tools/libspirv.h>

#include "executor/shader/d3d9.h"
#include "base/dxbc/dxbc.h"
#include "executor/shader/sm4.h"
#include "base/check.h"

static const struct {
    const char *name;
    VkShaderStageFlagBits vk;
    uint32_t set;
} stages[EXEC_STAGE_COUNT] = {
    [EXEC_VS] = {"vertex", VK_SHADER_STAGE_VERTEX_BIT, 0},
    [EXEC_PS] = {"pixel", VK_SHADER_STAGE_FRAGMENT_BIT, 1},
    [EXEC_GS] = {"geometry", VK_SHADER_STAGE_GEOMETRY_BIT, 2},
    [EXEC_HS] = {"hull", VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, 3},
    [EXEC_DS] = {"domain", VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT, 4},
    [EXEC_CS] = {"compute", VK_SHADER_STAGE_COMPUTE_BIT, 0},
};

const char *exec_stage_name(enum exec_stage stage)
{
    return stage < EXEC_STAGE_COUNT ? stages[stage].name : "unknown";
}

VkShaderStageFlagBits exec_stage_vk(enum exec_stage stage)
{
    return stages[stage].vk;
}

uint32_t exec_stage_set(enum exec_stage stage)
{
    return stages[stage].set;
}

uint32_t shader_semantic_hash(const char *name)
{
    uint32_t h = 0x811c9dc5;

    for (; *name; name++)
        h = (h ^ (uint8_t)toupper((unsigned char)*name)) * 0x01000193u;
    return h;
}

void shader_set_semantic(struct shader_element *x, const char *name)
{
    size_t n = 0;

    for (; name[n] && n < sizeof(x->semantic) - 1; n++)
        x->semantic[n] = (char)toupper((unsigned char)name[n]);
    x->semantic[n] = '\0';
    x->semantic_hash = shader_semantic_hash(name);
}

void shader_assign_bindings(struct shader *s)
{
    static const VkDescriptorType types[] = {
        [SHADER_CBV] = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
        [SHADER_SRV_TEXTURE] = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
        [SHADER_SRV_TYPED] = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
        [SHADER_SRV_RAW] = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
        [SHADER_SRV_STRUCTURED] = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
        [SHADER_UAV_TEXTURE] = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
        [SHADER_UAV_TYPED] = VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER,
        [SHADER_UAV_RAW] = VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER,
        [SHADER_UAV_STRUCTURED] = VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER,
        [SHADER_UAV_COUNTER] = VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER,
        [SHADER_SAMPLER] = VK_DESCRIPTOR_TYPE_SAMPLER,
        [SHADER_D3D9_SAMPLER] = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
        [SHADER_D3D9_BLOCK] = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
    };

    for (uint32_t i = 0; i < s->info.descriptor_count; i++) {
        s->descriptors[i].binding = i;
        s->descriptors[i].vk_type = types[s->descriptors[i].kind];
    }
    s->info.descriptors = s->descriptors;
}

int shader_validate(const uint32_t *words, size_t count, struct error *e)
{
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_1);
    spv_diagnostic diagnostic = NULL;
    int ret = 0;

    if (!context)
        return error_set(e, -ENOMEM, "no memory to validate a shader");
    if (spvValidateBinary(context, words, count, &diagnostic) != SPV_SUCCESS)
        ret = error_set(e, -ENOTSUP, "the translated shader is not valid SPIR-V: %.180s",
                        diagnostic && diagnostic->error ? diagnostic->error : "no reason given");
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    return ret;
}

static void destroy(struct shader *s)
{
    if (!s)
        return;
    free(s->bytes);
    free(s->elements);
    free(s->descriptors);
    free(s->words);
    free(s->streams);
    d3d9_program_destroy(s->d3d9);
    free(s);
}

int shader_create(struct shader **out, enum exec_stage stage, const void *bytes, size_t size,
                  const struct shader_addresses *a, struct error *e)
{
    XXH128_hash_t hash;
    struct shader *s;
    int ret;

    *out = NULL;
    if (stage >= EXEC_STAGE_COUNT)
        return error_set(e, -EINVAL, "shader stage %d does not exist", (int)stage);
    if (size < 4)
        return error_set(e, -EINVAL, "a shader of %zu bytes has no version", size);
    if (size > 4 * (size_t)DXBC_MAX_SIZE)
        return error_set(e, -EINVAL, "a shader of %zu bytes is beyond the limit of %u", size,
                         4 * DXBC_MAX_SIZE);
    s = calloc(1, sizeof(*s));
    if (!s)
        return error_set(e, -ENOMEM, "no memory for a shader");
    atomic_init(&s->refs, 1);
    s->size = size;
    s->bytes = malloc(size);
    s->info.stage = stage;
    if (!s->bytes) {
        ret = error_set(e, -ENOMEM, "no memory for a shader of %zu bytes", size);
        goto failed;
    }
    memcpy(s->bytes, bytes, size);
    if (dxbc_is(bytes, size))
        ret = shader_dxbc_init(s, e);
    else if (spirv_is(bytes, size))
        ret = shader_spirv_init(s, a, e);
    else if (d3d9_is(bytes, size))
        ret = shader_d3d9_init(s, e);
    else
        ret = error_set(e, -EINVAL,
                        "shader bytes begin with 0x%02x%02x%02x%02x, neither DXBC nor a Direct3D 9 version",
                        s->bytes[3], s->bytes[2], s->bytes[1], s->bytes[0]);
    if (ret)
        goto failed;
    INVARIANT(s->size && s->size <= size);
    INVARIANT(s->info.descriptor_count <= SM4_MAX_DESCRIPTORS);
    hash = XXH3_128bits(s->bytes, s->size);
    s->info.hash[0] = hash.low64;
    s->info.hash[1] = hash.high64;
    *out = s;
    return 0;
failed:
    destroy(s);
    return ret;
}

struct shader *shader_ref(struct shader *s)
{
    if (s) {
        unsigned before = atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);

        INVARIANT(before);
    }
    return s;
}

void shader_unref(struct shader *s)
{
    if (s && atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) == 1)
        destroy(s);
}

const struct shader_info *shader_info(const struct shader *s)
{
    return &s->info;
}

static void print_signature(struct strbuf *out, const char *title, const struct dxbc_chunk *c)
{
    static const char *const types[] = {"?", "uint", "int", "float"};
    struct dxbc_signature sig;
    struct error e = {0};

    if (!c)
        return;
    strbuf_printf(out, "  %s:\n", title);
    if (dxbc_signature(c, &sig, &e)) {
        strbuf_printf(out, "    %s\n", e.text);
        return;
    }
    for (uint32_t i = 0; i < sig.count; i++) {
        const struct dxbc_element *x = &sig.elements[i];
        strbuf_printf(out, "    %s%u register %d ", x->name, x->index, (int32_t)x->reg);
        for (uint32_t k = 0; k < 4; k++)
            if (x->mask >> k & 1)
                strbuf_append(out, &"xyzw"[k], 1);
        strbuf_printf(out, " %s system value %u\n", types[x->component & 3], x->system_value);
    }
}

static void print_dxbc(struct strbuf *out, const void *bytes, size_t size)
{
    const struct dxbc_chunk *c;
    struct error e = {0};
    bool checksum_ok = false;
    struct dxbc d;
    struct sm4 p;

    if (dxbc_open_unchecked(&d, bytes, size, &checksum_ok, &e)) {
        strbuf_printf(out, "  %s\n", e.text);
        return;
    }
    strbuf_printf(out, "  DXBC container, %zu bytes, checksum %s, chunks", d.size,
                  checksum_ok ? "right" : "wrong");
    for (uint32_t i = 0; i < d.chunk_count; i++) {
        strbuf_puts(out, " ");
        for (uint32_t k = 0; k < 4; k++) {
            char ch = (char)(d.chunks[i].fourcc >> (8 * k));
            strbuf_append(out, isprint((unsigned char)ch) ? &ch : "?", 1);
        }
    }
    strbuf_puts(out, "\n");
    c = dxbc_find(&d, DXBC_FOURCC('I', 'S', 'G', 'N'));
    print_signature(out, "inputs", c ? c : dxbc_find(&d, DXBC_FOURCC('I', 'S', 'G', '1')));
    c = dxbc_find(&d, DXBC_FOURCC('O', 'S', 'G', 'N'));
    c = c ? c : dxbc_find(&d, DXBC_FOURCC('O', 'S', 'G', '5'));
    print_signature(out, "outputs", c ? c : dxbc_find(&d, DXBC_FOURCC('O', 'S', 'G', '1')));
    c = dxbc_find(&d, DXBC_FOURCC('P', 'C', 'S', 'G'));
    print_signature(out, "patch constants", c ? c : dxbc_find(&d, DXBC_FOURCC('P', 'S', 'G', '1')));
    c = dxbc_program(&d);
    if (!c) {
        strbuf_puts(out, "  no program chunk\n");
        return;
    }
    if (sm4_open(&p, c->data, c->size, &e)) {
        strbuf_printf(out, "  %s\n", e.text);
        return;
    }
    strbuf_printf(out, "  %s shader model %u.%u, %u words:\n", exec_stage_name(sm4_stage(p.type)), p.major,
                  p.minor, p.words);
    sm4_print(out, &p);
}

static void print_spirv(struct strbuf *out, const void *bytes, size_t size)
{
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_1);
    spv_diagnostic diagnostic = NULL;
    uint32_t *words = malloc(size ? size : 1);
    spv_text text = NULL;

    strbuf_printf(out, "  SPIR-V, %zu bytes\n", size);
    if (context && words) {
        memcpy(words, bytes, size);
        if (spvBinaryToText(context, words, size / 4,
                            SPV_BINARY_TO_TEXT_OPTION_NO_HEADER | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES,
                            &text, &diagnostic) == SPV_SUCCESS)
            strbuf_append(out, text->str, text->length);
        else
            strbuf_printf(out, "  %s\n",
                          diagnostic && diagnostic->error ? diagnostic->error : "cannot be disassembled");
    }
    spvTextDestroy(text);
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    free(words);
}

void shader_print(struct strbuf *out, const void *bytes, size_t size)
{
    if (dxbc_is(bytes, size))
        print_dxbc(out, bytes, size);
    else if (d3d9_is(bytes, size))
        d3d9_print(out, bytes, size);
    else if (spirv_is(bytes, size))
        print_spirv(out, bytes, size);
    else
        strbuf_printf(out, "  %zu bytes that are neither DXBC nor Direct3D 9 bytecode\n", size);
}
