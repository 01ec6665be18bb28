/* SPDX-License-Identifier: MIT */
/* pipeline.c: what is expensive to make and often asked for again: programs, pipelines, samplers. Each cache
 * maps a key of plain bytes without padding to the Vulkan object.
 *
 * Invariant: programs and pipelines live as long as the engine; they hold the shaders that they were made of.
 */
#include "executor/engine/engine_priv.h"
#include "executor/engine/direct3d11/inputs.h"
#include "executor/engine/pass.h"
#include "executor/engine/pipeline.h"
#include "executor/engine/direct3d11/texel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "builtin_ps.h"
#include "builtin_vs.h"

/* Everything that a graphics pipeline is made of. */
struct pipeline_key {
    struct shader_key program;
    uint64_t layout_hash;
    VkFormat colors[MAX_TARGETS], depth;
    uint32_t num_colors, opaque_targets, integer_targets,
        alpha_targets; /* bit: no alpha, no blending, nothing else */
    struct target_blend blend[MAX_TARGETS];
    uint32_t samples, sample_mask, alpha_to_coverage, logic; /* logic: an operation and 1; 0: none */
    uint8_t write_mask[MAX_TARGETS];
    uint32_t depth_enable, depth_write, stencil;
    VkCompareOp depth_func;
    VkStencilOp stencil_ops[2][3];
    VkCompareOp stencil_func[2];
    VkPolygonMode fill;
    VkCullModeFlags cull;
    uint32_t front_ccw, depth_clamp, depth_bias, topology, restart, viewports, discard;
    uint32_t bound_slots;
    uint32_t strides[MAX_VERTEX_BUFFERS];
    float instances[16];
};

struct pipeline_entry {
    struct pipeline_key key;
    struct exec_pipeline pipeline;
    UT_hash_handle hh;
};

struct sampler_entry {
    struct sampler_desc key;
    VkSampler sampler;
    UT_hash_handle hh;
};

struct caches {
    VkPipelineCache pipeline_cache;
    struct exec_program *programs;
    struct pipeline_entry *pipelines;
    struct sampler_entry *samplers;
};

int exec_caches_create(struct exec_engine *g)
{
    VkPipelineCacheCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};

    g->caches = calloc(1, sizeof(*g->caches));
    if (!g->caches)
        return -ENOMEM;
    return exec_vk_errno(vkCreatePipelineCache(g->vk.device, &ci, NULL, &g->caches->pipeline_cache));
}

static void program_destroy(struct exec_engine *g, struct exec_program *p)
{
    VkDevice d = g->vk.device;

    for (int s = 0; s < EXEC_STAGE_COUNT; s++) {
        vkDestroyShaderModule(d, p->modules[s], NULL);
        shader_unref(p->shaders[s]);
    }
    for (uint32_t i = 0; i < EXEC_STAGE_COUNT; i++)
        vkDestroyDescriptorSetLayout(d, p->sets[i], NULL);
    vkDestroyPipelineLayout(d, p->layout, NULL);
    vkDestroyPipeline(d, p->compute.pipeline, NULL);
    free(p);
}

void exec_caches_destroy(struct exec_engine *g)
{
    struct caches *c = g->caches;
    struct exec_program *p, *next_p;
    struct pipeline_entry *l, *next_l;
    struct sampler_entry *s, *next_s;

    if (!c)
        return;
    HASH_ITER(hh, c->pipelines, l, next_l)
    {
        HASH_DEL(c->pipelines, l);
        vkDestroyPipeline(g->vk.device, l->pipeline.pipeline, NULL);
        free(l);
    }
    HASH_ITER(hh, c->programs, p, next_p)
    {
        HASH_DEL(c->programs, p);
        program_destroy(g, p);
    }
    HASH_ITER(hh, c->samplers, s, next_s)
    {
        HASH_DEL(c->samplers, s);
        vkDestroySampler(g->vk.device, s->sampler, NULL);
        free(s);
    }
    vkDestroyPipelineCache(g->vk.device, c->pipeline_cache, NULL);
    free(c);
    g->caches = NULL;
}

/* ---- samplers ------------------------------------------------------------ */

static VkBorderColor nearest_border(const float rgba[4])
{
    if (rgba[3] < 0.5f)
        return VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK;
    return rgba[1] >= 0.5f ? VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE : VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK;
}

/* One of those that need no extension. */
static bool plain_border(const float rgba[4])
{
    return rgba[0] == rgba[1] && rgba[1] == rgba[2] &&
           ((rgba[0] == 0 && (rgba[3] == 0 || rgba[3] == 1)) || (rgba[0] == 1 && rgba[3] == 1));
}

VkSampler exec_sampler_get(struct exec_engine *g, const struct sampler_desc *d)
{
    float max_bias = g->vk.caps.max_lod_bias, bias = d->lod_bias;
    VkSamplerCustomBorderColorCreateInfoEXT border = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CUSTOM_BORDER_COLOR_CREATE_INFO_EXT};
    VkSamplerCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                              .magFilter = d->mag_linear ? VK_FILTER_LINEAR : VK_FILTER_NEAREST,
                              .minFilter = d->min_linear ? VK_FILTER_LINEAR : VK_FILTER_NEAREST,
                              .mipmapMode = d->mip_linear ? VK_SAMPLER_MIPMAP_MODE_LINEAR
                                                          : VK_SAMPLER_MIPMAP_MODE_NEAREST,
                              .addressModeU = (VkSamplerAddressMode)d->address_u,
                              .addressModeV = (VkSamplerAddressMode)d->address_v,
                              .addressModeW = (VkSamplerAddressMode)d->address_w,
                              .borderColor = nearest_border(d->border)};
    struct sampler_entry *entry;

    HASH_FIND(hh, g->caches->samplers, d, sizeof(*d), entry);
    if (entry)
        return entry->sampler;
    ci.mipLodBias = bias != bias ? 0 : bias > max_bias ? max_bias : bias < -max_bias ? -max_bias : bias;
    ci.minLod = d->min_lod;
    /* A quarter of a mip leaves the choice between the two filters and reaches no second mip. */
    ci.maxLod = d->mip_enabled ? d->max_lod : d->min_lod + 0.25f;
    ci.compareEnable = d->compare;
    ci.compareOp = d->compare_func ? (VkCompareOp)(d->compare_func - 1) : VK_COMPARE_OP_LESS_OR_EQUAL;
    if (d->anisotropy > 1 && g->vk.caps.anisotropy) {
        ci.anisotropyEnable = VK_TRUE;
        ci.maxAnisotropy =
            d->anisotropy > g->vk.caps.max_anisotropy ? g->vk.caps.max_anisotropy : d->anisotropy;
    }
    if (g->vk.caps.border_color && !plain_border(d->border)) {
        memcpy(border.customBorderColor.float32, d->border, sizeof(d->border));
        ci.borderColor = VK_BORDER_COLOR_FLOAT_CUSTOM_EXT;
        ci.pNext = &border;
    }
    entry = calloc(1, sizeof(*entry));
    if (!entry) {
        fail_memory(g, "no memory for a sampler");
        return VK_NULL_HANDLE;
    }
    entry->key = *d;
    if (vkCreateSampler(g->vk.device, &ci, NULL, &entry->sampler)) {
        free(entry);
        return VK_NULL_HANDLE;
    }
    HASH_ADD(hh, g->caches->samplers, key, sizeof(entry->key), entry);
    if (HASH_ADDED(entry))
        return entry->sampler;
    vkDestroySampler(g->vk.device, entry->sampler, NULL);
    free(entry);
    fail_memory(g, "no memory for a sampler");
    return VK_NULL_HANDLE;
}

/* ---- programs ------------------------------------------------------------ */

static int make_module(struct exec_engine *g, VkShaderModule *out, const uint32_t *words, size_t count)
{
    VkShaderModuleCreateInfo ci = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = count * 4, .pCode = words};

    return exec_vk_errno(vkCreateShaderModule(g->vk.device, &ci, NULL, out));
}

static int make_set_layout(struct exec_engine *g, VkDescriptorSetLayout *out, const struct shader_info *info)
{
    VkDescriptorSetLayoutBinding bindings[256];
    VkDescriptorSetLayoutCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                          .pBindings = bindings};

    for (uint32_t i = 0; info && i < info->descriptor_count && i < 256; i++) {
        const struct shader_descriptor *d = &info->descriptors[i];
        bindings[ci.bindingCount++] = (VkDescriptorSetLayoutBinding){
            .binding = d->binding,
            .descriptorType =
                d->kind == SHADER_D3D9_BLOCK ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC : d->vk_type,
            .descriptorCount = d->count,
            .stageFlags = exec_stage_vk(info->stage)};
    }
    return exec_vk_errno(vkCreateDescriptorSetLayout(g->vk.device, &ci, NULL, out));
}

static int make_layout(struct exec_engine *g, struct exec_program *p)
{
    VkPipelineLayoutCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                     .pSetLayouts = p->sets};
    const struct shader_info *by_set[EXEC_STAGE_COUNT] = {0};
    int r;

    for (int s = 0; s < EXEC_STAGE_COUNT; s++)
        if (p->infos[s] && p->infos[s]->descriptor_count) {
            uint32_t set = exec_stage_set((enum exec_stage)s);
            by_set[set] = p->infos[s];
            if (set + 1 > p->num_sets)
                p->num_sets = set + 1;
        }
    if (p->num_sets > g->vk.caps.max_bound_sets)
        return -ENOTSUP;
    for (uint32_t i = 0; i < p->num_sets; i++) {
        r = make_set_layout(g, &p->sets[i], by_set[i]);
        if (r)
            return r;
    }
    ci.setLayoutCount = p->num_sets;
    return exec_vk_errno(vkCreatePipelineLayout(g->vk.device, &ci, NULL, &p->layout));
}

static int build_program(struct exec_engine *g, struct exec_program *p, const struct shader_link_params *lp)
{
    struct shader_program linked = {0};
    struct error e = {0};
    bool any = false;
    int r = 0;

    for (int s = 0; s < EXEC_STAGE_COUNT; s++)
        any |= lp->stages[s] != NULL;
    if (!any) {
        r = make_module(g, &p->modules[EXEC_VS], builtin_vs, sizeof(builtin_vs) / 4);
        if (!r)
            r = make_module(g, &p->modules[EXEC_PS], builtin_ps, sizeof(builtin_ps) / 4);
    } else {
        r = shader_link(&linked, lp, &e);
        if (r)
            return r == -ENOMEM ? fail_memory(g, "shaders: %s", e.text)
                                : fail_backend(g, "shaders: %s", e.text);
        for (int s = 0; s < EXEC_STAGE_COUNT && !r; s++) {
            if (!lp->stages[s])
                continue;
            p->shaders[s] = shader_ref((struct shader *)lp->stages[s]);
            p->infos[s] = shader_info(p->shaders[s]);
            r = make_module(g, &p->modules[s], linked.code[s].words, linked.code[s].count);
        }
        shader_program_finish(&linked);
    }
    if (!r)
        r = make_layout(g, p);
    return r ? fail_backend(g, "the Vulkan device refuses the shaders") : 0;
}

static int program_get(struct exec_engine *g, const struct shader_link_params *lp, struct exec_program **out)
{
    struct shader_key key = {{0}};
    struct exec_program *p;
    int r;

    for (int s = 0; s < EXEC_STAGE_COUNT; s++)
        if (lp->stages[s]) {
            key = shader_link_key(lp);
            break;
        }
    HASH_FIND(hh, g->caches->programs, &key, sizeof(key), p);
    if (p) {
        *out = p;
        return 0;
    }
    p = calloc(1, sizeof(*p));
    if (!p)
        return fail_memory(g, "no memory for a program");
    p->key = key;
    r = build_program(g, p, lp);
    if (r) {
        program_destroy(g, p);
        return r;
    }
    HASH_ADD(hh, g->caches->programs, key, sizeof(key), p);
    if (!HASH_ADDED(p)) {
        program_destroy(g, p);
        return fail_memory(g, "no memory for a program");
    }
    *out = p;
    return 0;
}

static uint8_t fog_of(const struct exec_context *c)
{
    if (!c->rs[D3DRS_FOGENABLE])
        return SHADER_FOG_NONE;
    return c->rs[D3DRS_FOGTABLEMODE] >= 1 && c->rs[D3DRS_FOGTABLEMODE] <= 3
               ? (uint8_t)c->rs[D3DRS_FOGTABLEMODE]
               : SHADER_FOG_VERTEX;
}

static bool is_d3d9(const struct shader_object *s)
{
    return s && shader_info(s->shader)->kind == SHADER_D3D9;
}

static bool uses_second_source(const struct target_blend *b)
{
    const VkBlendFactor factors[] = {b->src, b->dst, b->src_alpha, b->dst_alpha};

    for (int i = 0; i < 4; i++)
        if (b->enable && factors[i] >= VK_BLEND_FACTOR_SRC1_COLOR &&
            factors[i] <= VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA)
            return true;
    return false;
}

/* What targets and layout make of DXBC shaders. */
static void dxbc_variant(const struct exec_engine *g, const struct exec_context *c,
                         const struct shader_info *vs, struct shader_variant *v)
{
    for (uint32_t i = 0; i <= c->num_colors; i++) {
        struct exec_view t = exec_view_of(i < c->num_colors ? c->color[i] : c->depth_stencil);

        if (!t.texture)
            continue;
        v->samples = (uint8_t)t.texture->samples;
        if (t.format->abi == AEROGPU_FORMAT_EXT_A8_UNORM)
            v->alpha_targets |= (uint8_t)(1 << i);
    }
    v->dual_source = g->vk.caps.dual_source && uses_second_source(&c->blend.targets[0]);
    for (uint32_t i = 0; c->layout && i < vs->input_count; i++) {
        const struct shader_element *in = &vs->inputs[i];
        const struct layout_element *e = in->system_value ? NULL : exec_find_element(c->layout, in);
        uint8_t integer = e && c->vb[e->slot].buffer ? exec_texel_integer(e->format) : 0;

        if (integer && in->location < 32)
            *(integer == 'U' ? &v->uint_inputs : &v->sint_inputs) |= 1u << in->location;
    }
}

/* A bit for each. */
static uint16_t samplers_of(float bits)
{
    return bits >= 0 && bits < 65536 ? (uint16_t)bits : 0;
}

static int graphics_program(struct exec_engine *g, struct exec_context *c, struct exec_program **out)
{
    struct shader_link_params lp = {0};

    for (int s = 0; s < EXEC_CS; s++) {
        int r;
        if (!c->shaders[s])
            continue;
        r = exec_shader_object_wait(g, c->shaders[s]);
        if (r)
            return r;
        lp.stages[s] = c->shaders[s]->shader;
    }
    if (!lp.stages[EXEC_VS]) {
        if (lp.stages[EXEC_PS] || lp.stages[EXEC_GS] || c->layout || c->vb[0].stride != 24)
            return fail_backend(g, "no vertex shader is bound");
        return program_get(g, &lp, out); /* positions and colours as they are, 8 + 16 bytes */
    }
    if ((lp.stages[EXEC_GS] && !g->vk.caps.geometry) ||
        ((lp.stages[EXEC_HS] || lp.stages[EXEC_DS]) && !g->vk.caps.tessellation))
        return fail_backend(g, "this Vulkan device has no %s shaders",
                            lp.stages[EXEC_GS] ? "geometry" : "tessellation");
    if (is_d3d9(c->shaders[EXEC_VS]) || is_d3d9(c->shaders[EXEC_PS])) {
        lp.variant.alpha_func = c->rs[D3DRS_ALPHATESTENABLE] ? (uint8_t)c->rs[D3DRS_ALPHAFUNC] : 0;
        if (lp.variant.alpha_func > 8)
            lp.variant.alpha_func = 0;
        lp.variant.fog = fog_of(c);
        lp.variant.compared = samplers_of(c->d3d9[AEROGPU_D3D9_ROW_SAMPLING][0]);
        lp.variant.spread = samplers_of(c->d3d9[AEROGPU_D3D9_ROW_SAMPLING][2]);
        lp.variant.decoded = samplers_of(c->d3d9[AEROGPU_D3D9_ROW_SAMPLING][3]);
        lp.variant.w_fog = c->d3d9[AEROGPU_D3D9_ROW_SAMPLING][1] == 1;
        lp.variant.flat = c->rs[D3DRS_SHADEMODE] == 1;
        lp.variant.clip_planes = g->vk.caps.clip_distance ? c->rs[D3DRS_CLIPPLANEENABLE] & 63 : 0;
        for (int i = 0; i < 4; i++) {
            float by = c->d3d9[AEROGPU_D3D9_ROW_PROJECTED][i];

            if (by == 2 || by == 3 || by == 4)
                lp.variant.projected |= (uint8_t)((uint8_t)(by - 1) << 2 * i);
        }
        lp.variant.point_sprite = c->rs[D3DRS_POINTSPRITEENABLE] && c->topology == AEROGPU_TOPOLOGY_POINTLIST;
    }
    if (shader_info(lp.stages[EXEC_VS])->kind == SHADER_DXBC)
        dxbc_variant(g, c, shader_info(lp.stages[EXEC_VS]), &lp.variant);
    lp.variant.points = c->topology == AEROGPU_TOPOLOGY_POINTLIST || c->raster.fill == VK_POLYGON_MODE_POINT;
    return program_get(g, &lp, out);
}

/* ---- graphics pipelines -------------------------------------------------- */

static VkPrimitiveTopology vk_topology(uint32_t t)
{
    switch (t) {
    case AEROGPU_TOPOLOGY_POINTLIST:
        return VK_PRIMITIVE_TOPOLOGY_POINT_LIST;
    case AEROGPU_TOPOLOGY_LINELIST:
        return VK_PRIMITIVE_TOPOLOGY_LINE_LIST;
    case AEROGPU_TOPOLOGY_LINESTRIP:
        return VK_PRIMITIVE_TOPOLOGY_LINE_STRIP;
    case AEROGPU_TOPOLOGY_TRIANGLELIST:
        return VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    case AEROGPU_TOPOLOGY_TRIANGLESTRIP:
        return VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
    case AEROGPU_TOPOLOGY_TRIANGLEFAN:
        return VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN;
    case AEROGPU_TOPOLOGY_LINELIST_ADJ:
        return VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY;
    case AEROGPU_TOPOLOGY_LINESTRIP_ADJ:
        return VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY;
    case AEROGPU_TOPOLOGY_TRIANGLELIST_ADJ:
        return VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY;
    case AEROGPU_TOPOLOGY_TRIANGLESTRIP_ADJ:
        return VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP_WITH_ADJACENCY;
    default:
        return VK_PRIMITIVE_TOPOLOGY_PATCH_LIST;
    }
}

static bool is_strip(uint32_t t)
{
    return t == AEROGPU_TOPOLOGY_LINESTRIP || t == AEROGPU_TOPOLOGY_TRIANGLESTRIP ||
           t == AEROGPU_TOPOLOGY_LINESTRIP_ADJ || t == AEROGPU_TOPOLOGY_TRIANGLESTRIP_ADJ;
}

/* The last stage in front of the rasterizer, which may write vertices to buffers; NULL: the built-in program's. */
static const struct shader_info *last_stage(const struct exec_program *prog)
{
    return prog->infos[EXEC_GS]   ? prog->infos[EXEC_GS]
           : prog->infos[EXEC_DS] ? prog->infos[EXEC_DS]
                                  : prog->infos[EXEC_VS];
}

static bool discards(const struct exec_program *prog)
{
    const struct shader_info *last = last_stage(prog);

    return last && last->streams && !last->rasterized;
}

/* Blending that leaves nothing of what there was, and all of what comes, is none: no other pipeline for what changes no pixel. Where
 * there are infinities, nothing of one is no number. */
static bool replaces(const struct target_blend *b, const struct exec_view *target)
{
    return b->src == VK_BLEND_FACTOR_ONE && b->src_alpha == VK_BLEND_FACTOR_ONE &&
           b->dst == VK_BLEND_FACTOR_ZERO && b->dst_alpha == VK_BLEND_FACTOR_ZERO &&
           b->op == VK_BLEND_OP_ADD && b->op_alpha == VK_BLEND_OP_ADD && target->texture &&
           !strstr(target->format->name, "FLOAT");
}

static void fill_key(struct exec_engine *g, const struct exec_context *c, const struct exec_program *prog,
                     const struct target_set *t, bool indexed, struct pipeline_key *k)
{
    const VkStencilOpState *faces[2] = {&c->depth.front, &c->depth.back};
    const struct shader_info *ps = prog->infos[EXEC_PS];
    uint32_t written = ps                       ? ps->target_mask
                       : prog->modules[EXEC_PS] ? 1
                                                : 0; /* other targets stay as they are */

    memset(k, 0, sizeof(*k));
    k->program = prog->key;
    k->layout_hash = c->layout ? c->layout->hash : 0;
    if (c->layout && c->layout->d3d9)
        memcpy(k->instances, c->d3d9[AEROGPU_D3D9_ROW_INSTANCES], sizeof(k->instances));
    k->num_colors = t->num_colors;
    for (uint32_t i = 0; i < t->num_colors; i++) {
        k->colors[i] = exec_target_format(&t->colors[i]);
        if (t->colors[i].texture && !t->colors[i].format->alpha)
            k->opaque_targets |= 1u << i;
        if (t->colors[i].texture && t->colors[i].format->integer)
            k->integer_targets |= 1u << i;
        if (t->colors[i].texture && t->colors[i].format->abi == AEROGPU_FORMAT_EXT_A8_UNORM && ps &&
            ps->kind == SHADER_DXBC)
            k->alpha_targets |= 1u << i;
        k->write_mask[i] = written >> i & 1 ? c->blend.write_mask[i] : 0;
    }
    k->depth = exec_target_format(&t->depth);
    k->samples = t->samples;
    k->sample_mask = c->blend.sample_mask & (t->samples < 32 ? (1u << t->samples) - 1 : UINT32_MAX);
    k->alpha_to_coverage = c->blend.alpha_to_coverage && t->samples > 1;
    k->logic = c->blend.logic && g->vk.caps.logic ? c->blend.logic_op + 1 : 0;
    for (uint32_t i = 0; i < t->num_colors; i++)
        if (c->blend.targets[i].enable && !replaces(&c->blend.targets[i], &t->colors[i]))
            k->blend[i] = c->blend.targets[i];
    if (t->depth.texture) {
        k->depth_enable = c->depth.enable;
        k->depth_write = c->depth.write;
        k->depth_func = c->depth.func;
        if (!c->depth.func_set && prog->infos[EXEC_VS] && prog->infos[EXEC_VS]->kind == SHADER_D3D9)
            k->depth_func = VK_COMPARE_OP_LESS_OR_EQUAL;
        k->stencil = c->depth.stencil && t->depth.format->stencil;
        for (int i = 0; i < 2 && k->stencil; i++) {
            k->stencil_ops[i][0] = faces[i]->failOp;
            k->stencil_ops[i][1] = faces[i]->depthFailOp;
            k->stencil_ops[i][2] = faces[i]->passOp;
            k->stencil_func[i] = faces[i]->compareOp;
        }
    }
    k->fill = g->vk.caps.wireframe ? c->raster.fill : VK_POLYGON_MODE_FILL;
    k->cull = prog->infos[EXEC_VS] || c->raster.cull_set ? c->raster.cull : VK_CULL_MODE_NONE;
    k->front_ccw = c->raster.front_ccw;
    k->depth_clamp = c->raster.depth_clamp && g->vk.caps.depth_clamp;
    k->depth_bias = t->depth.texture && (c->raster.bias != 0 || c->raster.slope_bias != 0);
    k->topology = c->topology;
    k->viewports = exec_viewports_of(g, c);
    k->discard = discards(prog);
    k->restart = indexed && is_strip(c->topology) &&
                 !(prog->infos[EXEC_VS] && prog->infos[EXEC_VS]->kind == SHADER_D3D9);
    for (uint32_t i = 0; i < MAX_VERTEX_BUFFERS; i++)
        if (c->vb[i].buffer) {
            k->bound_slots |= 1u << i;
            k->strides[i] = c->vb[i].stride;
        }
}

/* Targets without alpha have none to blend with: it is one. */
static VkBlendFactor without_alpha(VkBlendFactor f)
{
    switch (f) {
    case VK_BLEND_FACTOR_DST_ALPHA:
        return VK_BLEND_FACTOR_ONE;
    case VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA:
    case VK_BLEND_FACTOR_SRC_ALPHA_SATURATE:
        return VK_BLEND_FACTOR_ZERO;
    default:
        return f;
    }
}

/* Alpha lies in the place of red, and what the shader says of it is in all components. */
static void alpha_alone(VkPipelineColorBlendAttachmentState *a)
{
    a->srcColorBlendFactor = a->srcAlphaBlendFactor == VK_BLEND_FACTOR_DST_ALPHA ? VK_BLEND_FACTOR_DST_COLOR
                             : a->srcAlphaBlendFactor == VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA
                                 ? VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR
                                 : a->srcAlphaBlendFactor;
    a->dstColorBlendFactor = a->dstAlphaBlendFactor == VK_BLEND_FACTOR_DST_ALPHA ? VK_BLEND_FACTOR_DST_COLOR
                             : a->dstAlphaBlendFactor == VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA
                                 ? VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR
                                 : a->dstAlphaBlendFactor;
    a->colorBlendOp = a->alphaBlendOp;
    a->colorWriteMask = a->colorWriteMask & VK_COLOR_COMPONENT_A_BIT ? VK_COLOR_COMPONENT_R_BIT : 0;
}

static void fill_blend(const struct exec_engine *g, const struct pipeline_key *k,
                       VkPipelineColorBlendAttachmentState *a)
{
    for (uint32_t i = 0; i < k->num_colors; i++) {
        const struct target_blend *b = &k->blend[i];
        bool opaque = k->opaque_targets >> i & 1;
        a[i] = (VkPipelineColorBlendAttachmentState){
            .blendEnable = b->enable && !(k->integer_targets >> i & 1),
            .srcColorBlendFactor = opaque ? without_alpha(b->src) : b->src,
            .dstColorBlendFactor = opaque ? without_alpha(b->dst) : b->dst,
            .colorBlendOp = b->op,
            .srcAlphaBlendFactor = b->src_alpha,
            .dstAlphaBlendFactor = b->dst_alpha,
            .alphaBlendOp = b->op_alpha,
            .colorWriteMask = k->write_mask[i] & (opaque ? 7u : 15u)};
        if (k->alpha_targets >> i & 1)
            alpha_alone(&a[i]);
        if (i && !g->vk.caps.independent_blend)
            a[i] = a[0];
    }
}

static uint32_t fill_stages(const struct exec_program *p, VkPipelineShaderStageCreateInfo *stages)
{
    uint32_t n = 0;

    for (int s = 0; s < EXEC_CS; s++)
        if (p->modules[s])
            stages[n++] = (VkPipelineShaderStageCreateInfo){
                .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = exec_stage_vk((enum exec_stage)s),
                .module = p->modules[s],
                .pName = "main"};
    return n;
}

static VkStencilOpState stencil_face(const struct pipeline_key *k, int face)
{
    return (VkStencilOpState){.failOp = k->stencil_ops[face][0],
                              .depthFailOp = k->stencil_ops[face][1],
                              .passOp = k->stencil_ops[face][2],
                              .compareOp = k->stencil_func[face]};
}

static VkPipelineRasterizationStateCreateInfo raster_state(const struct pipeline_key *k)
{
    return (VkPipelineRasterizationStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .depthClampEnable = k->depth_clamp,
        .polygonMode = k->fill,
        .cullMode = k->cull,
        .frontFace = k->front_ccw ? VK_FRONT_FACE_COUNTER_CLOCKWISE : VK_FRONT_FACE_CLOCKWISE,
        .depthBiasEnable = k->depth_bias,
        .rasterizerDiscardEnable = k->discard,
        .lineWidth = 1};
}

static VkPipelineDepthStencilStateCreateInfo depth_state(const struct pipeline_key *k)
{
    return (VkPipelineDepthStencilStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = k->depth_enable,
        .depthWriteEnable = k->depth_write,
        .depthCompareOp = k->depth_func,
        .stencilTestEnable = k->stencil,
        .front = stencil_face(k, 0),
        .back = stencil_face(k, 1)};
}

static VkPipeline make_pipeline(struct exec_engine *g, const struct pipeline_key *k,
                                const struct exec_program *p, const struct vertex_input *in,
                                VkRenderPass pass)
{
    static const VkDynamicState dynamic[] = {
        VK_DYNAMIC_STATE_VIEWPORT,           VK_DYNAMIC_STATE_SCISSOR,
        VK_DYNAMIC_STATE_BLEND_CONSTANTS,    VK_DYNAMIC_STATE_STENCIL_REFERENCE,
        VK_DYNAMIC_STATE_STENCIL_WRITE_MASK, VK_DYNAMIC_STATE_STENCIL_COMPARE_MASK,
        VK_DYNAMIC_STATE_DEPTH_BIAS};
    VkPipelineColorBlendAttachmentState blends[MAX_TARGETS];
    VkPipelineShaderStageCreateInfo stages[EXEC_STAGE_COUNT];
    VkPipelineVertexInputDivisorStateCreateInfoEXT divisors = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_DIVISOR_STATE_CREATE_INFO_EXT,
        .vertexBindingDivisorCount = in->num_divisors,
        .pVertexBindingDivisors = in->divisors};
    VkPipelineVertexInputStateCreateInfo vertex = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .pNext = in->num_divisors ? &divisors : NULL,
        .vertexBindingDescriptionCount = in->num_bindings,
        .pVertexBindingDescriptions = in->bindings,
        .vertexAttributeDescriptionCount = in->num_attributes,
        .pVertexAttributeDescriptions = in->attributes};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = vk_topology(k->topology),
        .primitiveRestartEnable = k->restart};
    VkPipelineTessellationStateCreateInfo tessellation = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_STATE_CREATE_INFO,
        .patchControlPoints = k->topology - (AEROGPU_TOPOLOGY_PATCHLIST_1 - 1)};
    VkPipelineViewportStateCreateInfo viewport = {.sType =
                                                      VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
                                                  .viewportCount = k->viewports,
                                                  .scissorCount = k->viewports};
    VkPipelineRasterizationStateCreateInfo raster = raster_state(k);
    VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = (VkSampleCountFlagBits)k->samples,
        .alphaToCoverageEnable = k->alpha_to_coverage,
        .pSampleMask = &k->sample_mask};
    VkPipelineDepthStencilStateCreateInfo depth = depth_state(k);
    VkPipelineColorBlendStateCreateInfo blend = {.sType =
                                                     VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
                                                 .logicOpEnable = k->logic != 0,
                                                 .logicOp = (VkLogicOp)(k->logic ? k->logic - 1 : 0),
                                                 .attachmentCount = k->num_colors,
                                                 .pAttachments = blends};
    VkPipelineDynamicStateCreateInfo dyn = {.sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
                                            .dynamicStateCount = sizeof(dynamic) / sizeof(dynamic[0]),
                                            .pDynamicStates = dynamic};
    VkGraphicsPipelineCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                       .pStages = stages,
                                       .pVertexInputState = &vertex,
                                       .pInputAssemblyState = &assembly,
                                       .pTessellationState = p->modules[EXEC_HS] ? &tessellation : NULL,
                                       .pViewportState = &viewport,
                                       .pRasterizationState = &raster,
                                       .pMultisampleState = &samples,
                                       .pDepthStencilState = &depth,
                                       .pColorBlendState = &blend,
                                       .pDynamicState = &dyn,
                                       .layout = p->layout,
                                       .renderPass = pass};
    VkPipeline out = VK_NULL_HANDLE;
    VkResult r;

    fill_blend(g, k, blends);
    ci.stageCount = fill_stages(p, stages);
    exec_progress_waits(g, g->batch, EXEC_WAIT_PIPELINE);
    r = vkCreateGraphicsPipelines(g->vk.device, g->caches->pipeline_cache, 1, &ci, NULL, &out);
    exec_progress_waits(g, g->batch, EXEC_WAIT_NONE);
    return r ? VK_NULL_HANDLE : out;
}

/* Whether primitives of this topology are what the geometry shader takes. */
static bool geometry_takes(enum shader_primitive input, uint32_t topology)
{
    switch (topology) {
    case AEROGPU_TOPOLOGY_POINTLIST:
        return input == SHADER_PRIMITIVE_POINTS;
    case AEROGPU_TOPOLOGY_LINELIST:
    case AEROGPU_TOPOLOGY_LINESTRIP:
        return input == SHADER_PRIMITIVE_LINES;
    case AEROGPU_TOPOLOGY_TRIANGLELIST:
    case AEROGPU_TOPOLOGY_TRIANGLESTRIP:
    case AEROGPU_TOPOLOGY_TRIANGLEFAN:
        return input == SHADER_PRIMITIVE_TRIANGLES;
    case AEROGPU_TOPOLOGY_LINELIST_ADJ:
    case AEROGPU_TOPOLOGY_LINESTRIP_ADJ:
        return input == SHADER_PRIMITIVE_LINES_ADJ;
    case AEROGPU_TOPOLOGY_TRIANGLELIST_ADJ:
    case AEROGPU_TOPOLOGY_TRIANGLESTRIP_ADJ:
        return input == SHADER_PRIMITIVE_TRIANGLES_ADJ;
    default:
        return true; /* patches: tessellation makes other primitives of them */
    }
}

static int check_topology(struct exec_engine *g, const struct exec_context *c, const struct exec_program *p)
{
    const struct shader_info *hs = p->infos[EXEC_HS], *gs = p->infos[EXEC_GS];
    bool patches = c->topology >= AEROGPU_TOPOLOGY_PATCHLIST_1,
         tess = p->modules[EXEC_HS] && p->modules[EXEC_DS];

    if (patches && !tess)
        return fail_backend(g, "topology PATCHLIST_%u without hull and domain shader", c->topology - 32);
    if (!patches && (p->modules[EXEC_HS] || p->modules[EXEC_DS]))
        return fail_backend(g, "hull or domain shader without a patch list");
    if (patches && hs && hs->hs_input_points && hs->hs_input_points != c->topology - 32)
        return fail_backend(g, "topology PATCHLIST_%u, the hull shader takes patches of %u points",
                            c->topology - 32, hs->hs_input_points);
    if (gs && gs->gs_input && !geometry_takes(gs->gs_input, c->topology))
        return fail_backend(g, "topology %u is not what the geometry shader takes", c->topology);
    if (c->topology >= AEROGPU_TOPOLOGY_LINELIST_ADJ && !patches && !g->vk.caps.geometry)
        return fail_backend(g, "this Vulkan device has no adjacency topologies");
    return 0;
}

int exec_pipeline_resolve(struct exec_engine *g, struct exec_context *c, bool indexed)
{
    struct vertex_input in = {0};
    struct pipeline_entry *entry;
    struct pipeline_key key;
    struct target_set t;
    struct exec_program *prog;
    VkRenderPass pass;
    int r = graphics_program(g, c, &prog);

    if (!r)
        r = check_topology(g, c, prog);
    if (!r && exec_targets_of(g, c, &t))
        r = fail_backend(g, "no render target");
    if (r)
        return r;
    fill_key(g, c, prog, &t, indexed, &key);
    HASH_FIND(hh, g->caches->pipelines, &key, sizeof(key), entry);
    if (entry) {
        c->pipeline = &entry->pipeline;
        return 0;
    }
    if (prog->infos[EXEC_VS]) {
        r = exec_match_inputs(g, &in, c, prog->infos[EXEC_VS]);
        if (r)
            return r;
    } else {
        exec_builtin_inputs(&in, c);
    }
    pass = exec_render_pass_get(g, &t, 0);
    entry = calloc(1, sizeof(*entry));
    if (!pass || !entry) {
        free(entry);
        return fail_memory(g, "no memory for a pipeline");
    }
    entry->key = key;
    entry->pipeline = (struct exec_pipeline){.program = prog,
                                             .vertex_slots = in.slots,
                                             .null_vertex_slot = in.null_slot,
                                             .streams = last_stage(prog) && last_stage(prog)->streams};
    entry->pipeline.pipeline = make_pipeline(g, &key, prog, &in, pass);
    if (!entry->pipeline.pipeline) {
        free(entry);
        return fail_backend(g, "the Vulkan device cannot make the pipeline");
    }
    HASH_ADD(hh, g->caches->pipelines, key, sizeof(key), entry);
    if (!HASH_ADDED(entry)) {
        vkDestroyPipeline(g->vk.device, entry->pipeline.pipeline, NULL);
        free(entry);
        return fail_memory(g, "no memory for a pipeline");
    }
    c->pipeline = &entry->pipeline;
    return 0;
}

int exec_compute_pipeline_resolve(struct exec_engine *g, struct exec_context *c, struct exec_pipeline **out)
{
    struct shader_link_params lp = {0};
    VkComputePipelineCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    struct exec_program *prog;
    VkResult vr;
    int r;

    if (!c->shaders[EXEC_CS])
        return fail_backend(g, "no compute shader is bound");
    r = exec_shader_object_wait(g, c->shaders[EXEC_CS]);
    if (r)
        return r;
    lp.stages[EXEC_CS] = c->shaders[EXEC_CS]->shader;
    r = program_get(g, &lp, &prog);
    if (r)
        return r;
    if (!prog->compute.pipeline) {
        ci.stage =
            (VkPipelineShaderStageCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                              .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                              .module = prog->modules[EXEC_CS],
                                              .pName = "main"};
        ci.layout = prog->layout;
        exec_progress_waits(g, g->batch, EXEC_WAIT_PIPELINE);
        vr = vkCreateComputePipelines(g->vk.device, g->caches->pipeline_cache, 1, &ci, NULL,
                                      &prog->compute.pipeline);
        exec_progress_waits(g, g->batch, EXEC_WAIT_NONE);
        if (vr)
            return fail_backend(g, "the Vulkan device cannot make the compute pipeline");
        prog->compute.program = prog;
    }
    *out = &prog->compute;
    return 0;
}
