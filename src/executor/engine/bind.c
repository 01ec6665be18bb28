/* SPDX-License-Identifier: MIT */
/* bind.c: descriptor sets from a context's bindings.
 *
 * Each stage has one set. Its contents are collected as plain bytes; equal contents in one batch give the same set.
 * What a shader asks for and nobody bound is a null resource that reads as zero; so is what is bound and of another kind than the
 * shader declares (Direct3D leaves that undefined, and no reason to lose a device).
 */
#include "executor/engine/context.h"
#include "executor/engine/engine_priv.h"
#include "executor/engine/pipeline.h"
#include "executor/engine/direct3d11/texel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DESCRIPTORS = 256, SETS_PER_POOL = 256, SINK_SIZE = 256 };

struct set_cache_entry {
    XXH128_hash_t key;
    VkDescriptorSet set;
    UT_hash_handle hh;
};

union content {
    VkDescriptorBufferInfo buffer;
    VkDescriptorImageInfo image;
    VkBufferView texel;
};

struct contents {
    VkDescriptorSetLayout layout;
    uint32_t count, reserved;
    union content at[MAX_DESCRIPTORS];
};

void exec_bind_forget(struct exec_batch *b)
{
    struct set_cache_entry *s, *next;

    HASH_ITER(hh, b->sets, s, next)
    {
        HASH_DEL(b->sets, s);
        free(s);
    }
}

/* ---- sets ---------------------------------------------------------------- */

static int add_pool(struct exec_engine *g)
{
    static const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 4 * SETS_PER_POOL},
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, SETS_PER_POOL},
        {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 4 * SETS_PER_POOL},
        {VK_DESCRIPTOR_TYPE_SAMPLER, 4 * SETS_PER_POOL},
        {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 4 * SETS_PER_POOL},
        {VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 2 * SETS_PER_POOL},
        {VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER, 2 * SETS_PER_POOL},
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2 * SETS_PER_POOL},
        {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, SETS_PER_POOL},
    };
    VkDescriptorPoolCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                     .maxSets = SETS_PER_POOL,
                                     .poolSizeCount = sizeof(sizes) / sizeof(sizes[0]),
                                     .pPoolSizes = sizes};
    struct descriptor_pool *p = calloc(1, sizeof(*p));

    if (!p || vkCreateDescriptorPool(g->vk.device, &ci, NULL, &p->pool)) {
        free(p);
        return fail_memory(g, "no memory for descriptor sets");
    }
    p->next = g->batch->pools;
    g->batch->pools = p;
    return 0;
}

static int alloc_set(struct exec_engine *g, VkDescriptorSetLayout layout, VkDescriptorSet *out)
{
    VkDescriptorSetAllocateInfo ai = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                      .descriptorSetCount = 1,
                                      .pSetLayouts = &layout};

    for (struct descriptor_pool *p = g->batch->pools; p; p = p->next) {
        ai.descriptorPool = p->pool;
        if (!vkAllocateDescriptorSets(g->vk.device, &ai, out))
            return 0;
    }
    if (add_pool(g))
        return -ENOMEM;
    ai.descriptorPool = g->batch->pools->pool;
    if (vkAllocateDescriptorSets(g->vk.device, &ai, out))
        return fail_memory(g, "no memory for a descriptor set");
    return 0;
}

static bool is_texel(VkDescriptorType t)
{
    return t == VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER || t == VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;
}

static bool is_image(VkDescriptorType t)
{
    return t == VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE || t == VK_DESCRIPTOR_TYPE_SAMPLER ||
           t == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER || t == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
}

static int set_for(struct exec_engine *g, const struct shader_info *info, const struct contents *c,
                   VkDescriptorSet *out)
{
    XXH128_hash_t key = XXH3_128bits(c, offsetof(struct contents, at) + c->count * sizeof(c->at[0]));
    VkWriteDescriptorSet writes[MAX_DESCRIPTORS];
    struct set_cache_entry *entry;
    int r;

    HASH_FIND(hh, g->batch->sets, &key, sizeof(key), entry);
    if (entry) {
        *out = entry->set;
        return 0;
    }
    r = alloc_set(g, c->layout, out);
    if (r)
        return r;
    for (uint32_t i = 0; i < c->count; i++) {
        VkDescriptorType type = info->descriptors[i].kind == SHADER_D3D9_BLOCK
                                    ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC
                                    : info->descriptors[i].vk_type;
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = *out,
                                           .dstBinding = info->descriptors[i].binding,
                                           .descriptorCount = 1,
                                           .descriptorType = type};
        if (is_texel(type))
            writes[i].pTexelBufferView = &c->at[i].texel;
        else if (is_image(type))
            writes[i].pImageInfo = &c->at[i].image;
        else
            writes[i].pBufferInfo = &c->at[i].buffer;
    }
    vkUpdateDescriptorSets(g->vk.device, c->count, writes, 0, NULL);
    entry = malloc(sizeof(*entry));
    if (!entry)
        return 0; /* only the next look-up is poorer */
    *entry = (struct set_cache_entry){.key = key, .set = *out};
    HASH_ADD(hh, g->batch->sets, key, sizeof(entry->key), entry);
    if (!HASH_ADDED(entry))
        free(entry);
    return 0;
}

/* ---- images -------------------------------------------------------------- */

static enum exec_texture_dim texture_dim(uint8_t dim)
{
    switch (dim) {
    case SHADER_DIM_1D:
    case SHADER_DIM_1DARRAY:
        return TEXTURE_1D;
    case SHADER_DIM_3D:
        return TEXTURE_3D;
    case SHADER_DIM_2DMS:
    case SHADER_DIM_2DMSARRAY:
        return TEXTURE_MS;
    default:
        return TEXTURE_2D;
    }
}

/* What the shader declares; false if the texture cannot be looked at that way. */
static bool view_shape(uint8_t dim, const struct exec_view *v, VkImageViewType *type, uint32_t *layers)
{
    *layers = 1;
    if (v->texture->dim != texture_dim(dim))
        return false;
    switch (dim) {
    case SHADER_DIM_1D:
        *type = VK_IMAGE_VIEW_TYPE_1D;
        return true;
    case SHADER_DIM_1DARRAY:
        *type = VK_IMAGE_VIEW_TYPE_1D_ARRAY;
        *layers = v->layers;
        return true;
    case SHADER_DIM_3D:
        *type = VK_IMAGE_VIEW_TYPE_3D;
        return true;
    case SHADER_DIM_2D:
    case SHADER_DIM_2DMS:
    case SHADER_DIM_NONE:
        *type = VK_IMAGE_VIEW_TYPE_2D;
        return true;
    case SHADER_DIM_2DMSARRAY:
    case SHADER_DIM_2DARRAY:
        *type = VK_IMAGE_VIEW_TYPE_2D_ARRAY;
        *layers = v->layers;
        return true;
    case SHADER_DIM_CUBE:
        *type = VK_IMAGE_VIEW_TYPE_CUBE;
        *layers = 6;
        return v->layers >= 6 && v->texture->width == v->texture->height;
    case SHADER_DIM_CUBEARRAY:
        *type = VK_IMAGE_VIEW_TYPE_CUBE_ARRAY;
        *layers = v->layers / 6 * 6;
        return v->layers >= 6 && v->texture->width == v->texture->height;
    default:
        return false;
    }
}

/* Direct3D 9 reads one where a format has nothing; later ones read zero. */
static uint32_t ones_of(VkFormat f, uint32_t otherwise)
{
    switch (f) {
    case VK_FORMAT_R8_UNORM:
    case VK_FORMAT_R8_SNORM:
    case VK_FORMAT_R16_UNORM:
    case VK_FORMAT_R16_SNORM:
    case VK_FORMAT_R16_SFLOAT:
    case VK_FORMAT_R32_SFLOAT:
    case VK_FORMAT_BC4_UNORM_BLOCK:
        return EXEC_RED_AND_ONES;
    case VK_FORMAT_R8G8_UNORM:
    case VK_FORMAT_R8G8_SNORM:
    case VK_FORMAT_R16G16_UNORM:
    case VK_FORMAT_R16G16_SNORM:
    case VK_FORMAT_R16G16_SFLOAT:
    case VK_FORMAT_R32G32_SFLOAT:
    case VK_FORMAT_BC5_UNORM_BLOCK:
        return EXEC_RED_GREEN_AND_ONES;
    default:
        return otherwise;
    }
}

static int image_for(struct exec_engine *g, const struct shader_info *info, const struct shader_descriptor *d,
                     struct exec_object *o, bool srgb, VkImageView *out)
{
    struct image_view_key key;
    struct exec_view v;

    memset(&key, 0, sizeof(key));
    if (o && o->kind != OBJECT_TEXTURE && o->kind != OBJECT_VIEW)
        o = NULL;
    v = exec_view_of(o ? o : &g->null_textures[texture_dim(d->dim)]->o);
    if (!view_shape(d->dim, &v, &key.type, &key.layers)) {
        v = exec_view_of(&g->null_textures[texture_dim(d->dim)]->o);
        if (!view_shape(d->dim, &v, &key.type, &key.layers))
            return fail_backend(g, "the %s shader reads t%u as no kind of texture that there is",
                                exec_stage_name(info->stage), d->index);
    }
    key.format = v.format->vk;
    if (srgb && v.format->twin != VK_FORMAT_UNDEFINED && strstr(v.format->name, "_SRGB") == NULL)
        key.format = v.format->twin;
    key.aspect = v.format->depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
    key.base_mip = v.base_mip;
    key.mips = v.mips;
    key.base_layer = v.texture->dim == TEXTURE_3D ? 0 : v.base_layer;
    /* An unbound texture is zero; in Direct3D 9 it is black. */
    key.opaque = (!v.format->alpha && !v.format->depth) || (!o && d->kind == SHADER_D3D9_SAMPLER);
    if (v.format->abi == AEROGPU_FORMAT_EXT_A8_UNORM)
        key.opaque = EXEC_ALPHA_ALONE;
    else if (d->kind == SHADER_D3D9_SAMPLER && o)
        key.opaque = ones_of(v.format->vk, key.opaque);
    if (v.format->abi == AEROGPU_FORMAT_EXT_STENCIL_UINT) {
        key.format = v.texture->format->vk;
        key.aspect = VK_IMAGE_ASPECT_STENCIL_BIT;
        key.opaque = EXEC_GREEN_ALONE;
    }
    *out = exec_texture_view(g, v.texture, &key);
    if (!*out)
        return fail_backend(g, "the Vulkan device cannot make a view of texture %u", v.texture->o.handle);
    exec_batch_use(g, &v.texture->o);
    if (o)
        exec_batch_use(g, o);
    return 0;
}

static int sampler_for(struct exec_engine *g, const struct sampler_slot *slot, bool d3d9, bool cube,
                       bool compare, VkSampler *out)
{
    struct sampler_desc desc = exec_sampler_desc_of(slot, d3d9);

    if (d3d9 && cube) /* nothing is outside of a cube */
        desc.address_u = desc.address_v = desc.address_w = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;

    desc.compare = compare;
    *out = exec_sampler_get(g, &desc);
    if (slot->object)
        exec_batch_use(g, &slot->object->o);
    return *out ? 0 : fail_backend(g, "the Vulkan device cannot make a sampler");
}

/* ---- buffers ------------------------------------------------------------- */

/* Streams that set float constants for DXBC shaders mean constant buffer 0. */
static int float_constants(struct exec_engine *g, const struct shader_descriptor *d,
                           const struct stage_bindings *b, VkDescriptorBufferInfo *out)
{
    uint32_t size = d->size < sizeof(b->f) ? d->size : (uint32_t)sizeof(b->f);
    VkDeviceSize offset;
    VkBuffer buffer;
    uint8_t *map;
    int r = exec_batch_stage(g, size, g->vk.caps.uniform_align > 16 ? g->vk.caps.uniform_align : 16, &buffer,
                             &offset, &map);

    if (r)
        return r;
    memcpy(map, b->f, size);
    *out = (VkDescriptorBufferInfo){buffer, offset, size};
    return 0;
}

static int uniform_for(struct exec_engine *g, const struct shader_info *info,
                       const struct shader_descriptor *d, const struct range_binding *r,
                       VkDescriptorBufferInfo *out)
{
    uint64_t size;

    if (!r->buffer || !r->size) {
        *out = (VkDescriptorBufferInfo){g->null_buffer.vk.buffer, 0,
                                        g->vk.caps.max_uniform_range < g->null_buffer.vk.size
                                            ? g->vk.caps.max_uniform_range
                                            : g->null_buffer.vk.size};
        return 0;
    }
    if (r->offset % g->vk.caps.uniform_align)
        return fail_backend_alignment(
            g,
            "constant buffer b%u of the %s shader begins at %llu, this Vulkan device needs multiples of %u",
            d->index, exec_stage_name(info->stage), (unsigned long long)r->offset, g->vk.caps.uniform_align);
    size = r->size < g->vk.caps.max_uniform_range ? r->size : g->vk.caps.max_uniform_range;
    *out = (VkDescriptorBufferInfo){r->buffer->vk.buffer, r->offset, size};
    exec_batch_use(g, &r->buffer->o);
    return 0;
}

static bool is_typed(const struct shader_descriptor *d)
{
    return d->kind == SHADER_SRV_TYPED || d->kind == SHADER_UAV_TYPED;
}

/* Of buffers that are bound without a view: four 32-bit components for reading, one for writing. */
static VkFormat texel_format(const struct shader_descriptor *d)
{
    bool typed_read = d->kind == SHADER_SRV_TYPED;

    if (!is_typed(d))
        return VK_FORMAT_R32_UINT;
    switch (d->component) {
    case SHADER_COMPONENT_UINT:
        return typed_read ? VK_FORMAT_R32G32B32A32_UINT : VK_FORMAT_R32_UINT;
    case SHADER_COMPONENT_SINT:
        return typed_read ? VK_FORMAT_R32G32B32A32_SINT : VK_FORMAT_R32_SINT;
    default:
        return typed_read ? VK_FORMAT_R32G32B32A32_SFLOAT : VK_FORMAT_R32_SFLOAT;
    }
}

/* Whether texels of this format are what the shader declares: integers as such, and what is read and written alike a word. */
static bool format_fits(const struct shader_descriptor *d, VkFormat format)
{
    uint8_t integer = exec_texel_integer(format);

    return (!d->uav_read || exec_texel_is_word(format)) &&
           integer == (d->component == SHADER_COMPONENT_UINT   ? 'U'
                       : d->component == SHADER_COMPONENT_SINT ? 'S'
                                                               : 0);
}

static VkBufferView null_texel(struct exec_engine *g, VkFormat format)
{
    return exec_buffer_view(g, &g->null_buffer, format, 0, 256);
}

static int storage_for(struct exec_engine *g, const struct shader_info *info,
                       const struct shader_descriptor *d, const struct resource_slot *s, union content *out)
{
    const struct exec_buffer_view *v =
        s->object && s->object->kind == OBJECT_BUFFER_VIEW ? (struct exec_buffer_view *)s->object : NULL;
    struct exec_buffer *b = v                                               ? v->buffer
                            : s->object && s->object->kind == OBJECT_BUFFER ? (struct exec_buffer *)s->object
                                                                            : NULL;
    uint64_t offset = v ? v->offset : s->offset, size = v ? v->size : s->size;
    bool own_format = v && v->format != VK_FORMAT_UNDEFINED && is_typed(d);
    VkFormat format = own_format ? v->format : texel_format(d);
    uint32_t unit = own_format ? v->texel_bytes : d->kind == SHADER_SRV_TYPED ? 16 : 4;
    uint32_t align = g->vk.caps.texel_single && unit < g->vk.caps.texel_align ? unit : g->vk.caps.texel_align;

    if (own_format && !format_fits(d, format)) {
        b = NULL;
        format = texel_format(d);
    }

    if (d->vk_type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER) {
        out->buffer = b && size ? (VkDescriptorBufferInfo){b->vk.buffer, offset, size}
                                : (VkDescriptorBufferInfo){g->null_buffer.vk.buffer, 0, 256};
    } else if (!b || size < unit) {
        out->texel = null_texel(g, format);
    } else {
        if (offset % align)
            return fail_backend_alignment(
                g, "buffer %u is bound from byte %llu, this Vulkan device needs multiples of %u", b->o.handle,
                (unsigned long long)offset, align);
        out->texel = exec_buffer_view(g, b, format, offset, size - size % unit);
    }
    if (b)
        exec_batch_use(g, &b->o);
    if (v)
        exec_batch_use(g, s->object);
    if (d->vk_type != VK_DESCRIPTOR_TYPE_STORAGE_BUFFER && !out->texel)
        return fail_backend(g, "the Vulkan device cannot make a view of a buffer for the %s shader",
                            exec_stage_name(info->stage));
    return 0;
}

/* The context's own: what its stores leave behind must not become what another one reads. */
static struct exec_buffer *sink_of(struct exec_engine *g, struct exec_context *c)
{
    struct exec_buffer *b = c->sink;

    if (b)
        return b;
    b = calloc(1, sizeof(*b));
    if (!b)
        return NULL;
    b->o = (struct exec_object){.kind = OBJECT_BUFFER, .refs = 1};
    b->size = SINK_SIZE;
    if (exec_vk_buffer_create(&g->vk, &b->vk, SINK_SIZE,
                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT,
                              VK_USE_SHARED)) {
        free(b);
        return NULL;
    }
    memset(b->vk.memory.map, 0, SINK_SIZE);
    c->sink = b;
    return b;
}

static int counter_for(struct exec_engine *g, const struct shader_descriptor *d, struct exec_object *o,
                       union content *out)
{
    struct uav_counter *c = exec_uav_counter_of(o);
    struct exec_buffer shell = {0};
    int r;

    r = exec_uav_counter_make(g, c);
    if (r)
        return r;
    exec_batch_use(g, o);
    if (d->vk_type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER) {
        out->buffer = (VkDescriptorBufferInfo){c->vk.buffer, 0, 4};
        return 0;
    }
    shell.vk = c->vk;
    shell.views = c->views;
    out->texel = exec_buffer_view(g, &shell, VK_FORMAT_R32_UINT, 0, 4);
    c->views = shell.views;
    return out->texel ? 0 : fail_memory(g, "no memory for the counter of %u", o->handle);
}

/* ---- Direct3D 9 constants ------------------------------------------------ */

static float as_float(uint32_t v)
{
    float f;

    memcpy(&f, &v, sizeof(f));
    return f;
}

static void fill_params(const struct exec_context *c, struct shader_d3d9_params *p)
{
    uint32_t fog = c->rs[D3DRS_FOGCOLOR];

    memset(p, 0, sizeof(*p));
    for (int i = 0; i < 4; i++)
        p->fog_color[i] = (float)(fog >> (i == 3 ? 24 : 16 - 8 * i) & 0xFF) / 255.0f;
    p->fog_start = as_float(c->rs[D3DRS_FOGSTART]);
    p->fog_end = as_float(c->rs[D3DRS_FOGEND]);
    p->fog_density = as_float(c->rs[D3DRS_FOGDENSITY]);
    p->alpha_ref = (float)(c->rs[D3DRS_ALPHAREF] & 0xFF) / 255.0f;
    p->point_size = as_float(c->rs[D3DRS_POINTSIZE]);
    p->point_size_min = as_float(c->rs[D3DRS_POINTSIZE_MIN]);
    p->point_size_max = as_float(c->rs[D3DRS_POINTSIZE_MAX]);
    memcpy(p->bump, c->d3d9[AEROGPU_D3D9_ROW_BUMP], sizeof(p->bump));
    memcpy(p->clip, c->d3d9[AEROGPU_D3D9_ROW_CLIP], sizeof(p->clip));
    memcpy(p->centre, c->d3d9[AEROGPU_D3D9_ROW_CENTRE], sizeof(p->centre));
}

static int d3d9_block(struct exec_engine *g, const struct exec_context *c, const struct shader_info *info,
                      VkDescriptorBufferInfo *out, uint32_t *dynamic)
{
    const struct shader_d3d9_constants *k = &info->d3d9;
    const struct stage_bindings *b = &c->stages[info->stage];
    VkDeviceSize offset;
    VkBuffer buffer;
    uint8_t *map;
    int r = exec_batch_stage(g, k->size, g->vk.caps.uniform_align > 16 ? g->vk.caps.uniform_align : 16,
                             &buffer, &offset, &map);

    if (r)
        return r;
    memcpy(map, b->f, (size_t)k->count_f * 16);
    memcpy(map + k->offset_i, b->i, (size_t)k->count_i * 16);
    for (uint32_t i = 0; i < k->count_b; i++) {
        uint32_t v[4] = {b->b[i]};
        memcpy(map + k->offset_b + 16 * i, v, 16);
    }
    if (k->offset_params + sizeof(struct shader_d3d9_params) <= k->size)
        fill_params(c, (struct shader_d3d9_params *)(void *)(map + k->offset_params));
    *out = (VkDescriptorBufferInfo){buffer, 0, k->size};
    *dynamic = (uint32_t)offset;
    return 0;
}

/* ---- textures that are written to ------------------------------------------- */

/* The context's own, as sink_of()'s buffer is. */
static struct exec_texture *sink_texture(struct exec_engine *g, struct exec_context *c,
                                         enum exec_texture_dim dim)
{
    struct aerogpu_cmd_create_texture2d one = {.usage_flags = AEROGPU_RESOURCE_USAGE_STORAGE,
                                               .format = AEROGPU_FORMAT_EXT_R32_UINT,
                                               .width = 1,
                                               .height = 1,
                                               .mip_levels = 1,
                                               .array_layers = 1};

    if (!c->sink_textures[dim] && exec_texture_make(g, &c->sink_textures[dim], &one, dim))
        return NULL;
    return c->sink_textures[dim];
}

/* What the shader declares a word of. */
static VkFormat word_format(const struct shader_descriptor *d)
{
    return d->component == SHADER_COMPONENT_UINT   ? VK_FORMAT_R32_UINT
           : d->component == SHADER_COMPONENT_SINT ? VK_FORMAT_R32_SINT
                                                   : VK_FORMAT_R32_SFLOAT;
}

static int storage_image_for(struct exec_engine *g, struct exec_context *c, const struct shader_info *info,
                             const struct shader_descriptor *d, struct exec_object *o, VkImageView *out)
{
    struct image_view_key key;
    struct exec_view v = {0};

    memset(&key, 0, sizeof(key));
    if (o && (o->kind == OBJECT_TEXTURE || o->kind == OBJECT_VIEW))
        v = exec_view_of(o);
    if (v.texture && v.texture->storage && !v.format->depth && format_fits(d, v.format->vk) &&
        view_shape(d->dim, &v, &key.type, &key.layers)) {
        key.format = v.format->vk;
    } else {
        o = (struct exec_object *)sink_texture(g, c, texture_dim(d->dim));
        if (!o)
            return fail_memory(g, "no device memory for what unbound UAVs write");
        v = exec_view_of(o);
        view_shape(d->dim, &v, &key.type, &key.layers);
        key.format = word_format(d);
    }
    key.aspect = VK_IMAGE_ASPECT_COLOR_BIT;
    key.base_mip = v.base_mip;
    key.mips = 1;
    key.base_layer = v.texture->dim == TEXTURE_3D ? 0 : v.base_layer;
    *out = exec_texture_view(g, v.texture, &key);
    if (!*out)
        return fail_backend(g, "the Vulkan device cannot make a view of texture %u for u%u of the %s shader",
                            v.texture->o.handle, d->index, exec_stage_name(info->stage));
    exec_batch_use(g, &v.texture->o);
    exec_batch_use(g, o);
    return 0;
}

int exec_bind_prepare(struct exec_engine *g, struct exec_context *c, const struct exec_program *prog)
{
    for (int s = 0; s < EXEC_STAGE_COUNT; s++)
        for (uint32_t i = 0; prog->infos[s] && i < prog->infos[s]->descriptor_count; i++) {
            const struct shader_descriptor *d = &prog->infos[s]->descriptors[i];

            if (d->kind == SHADER_UAV_TEXTURE && !sink_texture(g, c, texture_dim(d->dim)))
                return fail_memory(g, "no device memory for what unbound UAVs write");
        }
    return 0;
}

/* Whether what is bound is a buffer, or a view of one, that the shader can write to as it declares. */
static bool writable_buffer(const struct shader_descriptor *d, const struct resource_slot *u)
{
    const struct exec_buffer_view *v = (const struct exec_buffer_view *)u->object;

    if (u->object && u->object->kind == OBJECT_BUFFER)
        return u->size >= 4;
    if (!u->object || u->object->kind != OBJECT_BUFFER_VIEW)
        return false;
    return d->kind != SHADER_UAV_TYPED || v->format == VK_FORMAT_UNDEFINED || format_fits(d, v->format);
}

/* ---- all of it ----------------------------------------------------------- */

static int content_for(struct exec_engine *g, struct exec_context *c, const struct stage_bindings *b,
                       const struct shader_info *info, const struct shader_descriptor *d, union content *out,
                       uint32_t *dynamic, bool *writes)
{
    const struct resource_slot *t = &b->textures[d->index % MAX_TEXTURE_SLOTS];
    struct resource_slot u = b->uavs[d->index % MAX_UAV_SLOTS];
    const struct sampler_slot *s = &b->samplers[d->index % MAX_SAMPLER_SLOTS];
    int r;

    switch ((enum shader_descriptor_kind)d->kind) {
    case SHADER_CBV:
        if (!d->index && b->f_set && !b->cb0_set)
            return float_constants(g, d, b, &out->buffer);
        return uniform_for(g, info, d, &b->constants[d->index % MAX_CONSTANT_BUFFER_SLOTS], &out->buffer);
    case SHADER_SRV_TEXTURE:
        out->image.imageLayout = VK_IMAGE_LAYOUT_GENERAL;
        return image_for(g, info, d, t->object, false, &out->image.imageView);
    case SHADER_SRV_TYPED:
    case SHADER_SRV_RAW:
    case SHADER_SRV_STRUCTURED:
        return storage_for(g, info, d, t, out);
    case SHADER_UAV_TYPED:
    case SHADER_UAV_RAW:
    case SHADER_UAV_STRUCTURED:
    case SHADER_UAV_COUNTER:
        *writes = true;
        if (!writable_buffer(d, &u))
            u = (struct resource_slot){(struct exec_object *)sink_of(g, c), 0, SINK_SIZE};
        if (!u.object)
            return fail_memory(g, "no device memory for what unbound UAVs write");
        return d->kind == SHADER_UAV_COUNTER ? counter_for(g, d, u.object, out)
                                             : storage_for(g, info, d, &u, out);
    case SHADER_UAV_TEXTURE:
        *writes = true;
        out->image.imageLayout = VK_IMAGE_LAYOUT_GENERAL;
        return storage_image_for(g, c, info, d, u.object, &out->image.imageView);
    case SHADER_SAMPLER:
        return sampler_for(g, s, false, false, d->comparison, &out->image.sampler);
    case SHADER_D3D9_SAMPLER:
        out->image.imageLayout = VK_IMAGE_LAYOUT_GENERAL;
        r = sampler_for(g, s, true, d->dim == SHADER_DIM_CUBE, false, &out->image.sampler);
        return r ? r
                 : image_for(g, info, d, t->object, s->d3d9 && s->state[D3DSAMP_SRGBTEXTURE],
                             &out->image.imageView);
    case SHADER_D3D9_BLOCK:
        return d3d9_block(g, c, info, &out->buffer, dynamic);
    }
    return 0;
}

/* What is to be bound, by its number; a set has at most one place that moves. */
struct found_sets {
    VkDescriptorSet sets[EXEC_STAGE_COUNT];
    uint32_t dynamic[EXEC_STAGE_COUNT]; /* UINT32_MAX: none moves */
};

static int find_set(struct exec_engine *g, struct exec_context *c, struct exec_program *prog,
                    enum exec_stage stage, enum exec_stage slots, struct found_sets *found, bool *writes)
{
    const struct shader_info *info = prog->infos[stage];
    uint32_t set_index = exec_stage_set(stage), *dynamic = &found->dynamic[set_index];
    struct contents contents;
    int r;

    *dynamic = UINT32_MAX;

    if (info->descriptor_count > MAX_DESCRIPTORS)
        return fail_backend(g, "the %s shader asks for %u descriptors", exec_stage_name(stage),
                            info->descriptor_count);
    contents.layout = prog->sets[set_index];
    contents.count = info->descriptor_count;
    contents.reserved = 0;
    memset(contents.at, 0, contents.count * sizeof(contents.at[0]));
    for (uint32_t i = 0; i < contents.count; i++) {
        r = content_for(g, c, &c->stages[slots], info, &info->descriptors[i], &contents.at[i], dynamic,
                        writes);
        if (r)
            return r;
    }
    return set_for(g, info, &contents, &found->sets[set_index]);
}

/* Those that follow each other at once: each command costs a software device as much as what it says. */
static void bind_sets(struct exec_engine *g, const struct exec_program *prog, VkPipelineBindPoint point,
                      const struct found_sets *found)
{
    for (uint32_t first = 0, end; first < EXEC_STAGE_COUNT; first = end + 1) {
        uint32_t offsets[EXEC_STAGE_COUNT], n = 0;

        for (end = first; end < EXEC_STAGE_COUNT && found->sets[end]; end++)
            if (found->dynamic[end] != UINT32_MAX)
                offsets[n++] = found->dynamic[end];
        if (end > first)
            vkCmdBindDescriptorSets(exec_batch_cmd(g), point, prog->layout, first, end - first,
                                    &found->sets[first], n, offsets);
    }
}

int exec_bind_descriptors(struct exec_engine *g, struct exec_context *c, struct exec_program *prog,
                          int compute, bool *writes)
{
    bool is_compute = compute >= 0;
    bool all = g->bound_program[is_compute] != prog || g->bound_ctx != c ||
               (is_compute && g->bound_slots != compute);
    enum exec_stage first = is_compute ? EXEC_CS : EXEC_VS, last = is_compute ? EXEC_CS : EXEC_DS;
    struct found_sets found = {0};

    for (enum exec_stage s = first; s <= last; s++) {
        enum exec_stage slots = is_compute ? (enum exec_stage)compute : s;
        int r;
        if (!prog->infos[s] || !prog->infos[s]->descriptor_count)
            continue;
        for (uint32_t i = 0; i < prog->infos[s]->descriptor_count && !*writes; i++)
            *writes = prog->infos[s]->descriptors[i].kind >= SHADER_UAV_TEXTURE &&
                      prog->infos[s]->descriptors[i].kind <= SHADER_UAV_COUNTER;
        if (!all && !(c->dirty & DIRTY_STAGE << slots))
            continue;
        r = find_set(g, c, prog, s, slots, &found, writes);
        if (r)
            return r;
        if (slots == s) /* what graphics has not seen of its stage stays dirty */
            c->dirty &= ~(uint32_t)(DIRTY_STAGE << s);
    }
    bind_sets(g, prog, is_compute ? VK_PIPELINE_BIND_POINT_COMPUTE : VK_PIPELINE_BIND_POINT_GRAPHICS, &found);
    g->bound_program[is_compute] = prog;
    g->bound_ctx = c;
    if (is_compute)
        g->bound_slots = compute;
    return 0;
}
