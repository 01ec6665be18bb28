/* SPDX-License-Identifier: MIT */
/* objects.c: handles and what they name.
 *
 * A handle holds one reference to an object; aliases of shared surfaces, tokens, bindings and views hold others. When the
 * last handle goes, bindings let go of a resource or view too; a token holds on until it is released, since an import may
 * come after the exporter's end. When the last reference goes, its destruction is deferred until the device is done
 * with the batches that use it.
 *
 * Invariants:
 *  1. One namespace: a live handle names one object of one kind; making it again without destroying it is an error.
 *  2. A share token names one resource for ever: once released, it is never exported again.
 *  3. Destroying an unknown handle does nothing; destroying one of another kind is an error.
 */
#include "executor/engine/engine_priv.h"
#include "executor/engine/layout.h"
#include "executor/engine/pass.h"
#include "executor/engine/shader_object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aerogpu/ext.h>

#include "base/check.h"

const char *exec_object_kind_name(enum object_kind kind)
{
    static const char *const names[] = {"buffer", "texture",      "texture view", "buffer view",
                                        "shader", "input layout", "sampler"};

    return names[kind];
}

struct exec_object *exec_object_lookup(struct exec_engine *g, uint32_t handle)
{
    struct exec_handle *h;

    HASH_FIND(hh, g->handles, &handle, sizeof(handle), h);
    return h ? h->object : NULL;
}

void *exec_object_find(struct exec_engine *g, uint32_t handle, enum object_kind kind)
{
    struct exec_object *o = exec_object_lookup(g, handle);

    if (!o) {
        fail_decode(g, "handle %u names nothing, a %s is needed", handle, exec_object_kind_name(kind));
        return NULL;
    }
    if (o->kind != kind) {
        fail_decode_type(g, "handle %u is a %s, a %s is needed", handle, exec_object_kind_name(o->kind),
                         exec_object_kind_name(kind));
        return NULL;
    }
    return o;
}

int exec_handle_check_new(struct exec_engine *g, uint32_t handle)
{
    struct exec_object *o;

    if (!handle)
        return fail_decode(g, "handle 0 cannot name anything");
    o = exec_object_lookup(g, handle);
    if (o)
        return fail_decode(g, "handle %u already names a %s", handle, exec_object_kind_name(o->kind));
    return 0;
}

int exec_handle_add(struct exec_engine *g, uint32_t handle, struct exec_object *o)
{
    struct exec_handle *h = malloc(sizeof(*h));

    INVARIANT(handle && !exec_object_lookup(g, handle)); /* 1 */
    INVARIANT(o->refs > o->names);                       /* the reference that the handle takes over */
    if (h) {
        *h = (struct exec_handle){.value = handle, .object = o};
        HASH_ADD(hh, g->handles, value, sizeof(handle), h);
    }
    if (!h || !HASH_ADDED(h)) {
        free(h);
        exec_object_unref(g, o);
        return fail_memory(g, "no memory for handle %u", handle);
    }
    o->names++;
    return 0;
}

static void handle_end(struct exec_engine *g, struct exec_handle *h)
{
    struct exec_object *o = h->object;

    HASH_DEL(g->handles, h);
    free(h);
    INVARIANT(o->names && o->refs >= o->names);
    if (!--o->names && o->refs > 1 && o->kind <= OBJECT_BUFFER_VIEW)
        exec_contexts_unbind(g, o);
    exec_object_unref(g, o);
}

int exec_op_ext_destroy_handles(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_ext_destroy_handles c;
    struct exec_handle *h, *next;

    memcpy(&c, p->data, sizeof(c));
    HASH_ITER(hh, g->handles, h, next)
    {
        if (h->value >= c.first && h->value <= c.last)
            handle_end(g, h);
    }
    return 0;
}

int exec_handle_remove(struct exec_engine *g, uint32_t handle, enum object_kind a, enum object_kind b)
{
    struct exec_handle *h;
    struct exec_object *o;

    HASH_FIND(hh, g->handles, &handle, sizeof(handle), h);
    if (!h)
        return 0;
    o = h->object;
    if (o->kind != a && o->kind != b)
        return fail_decode(g, "handle %u is a %s, a %s is needed", handle, exec_object_kind_name(o->kind),
                           exec_object_kind_name(a));
    handle_end(g, h);
    return 0;
}

/* ---- the end of objects -------------------------------------------------- */

static void job_unref(struct exec_engine *g, struct shader_job *job);

void exec_texel_views_destroy(struct exec_engine *g, struct texel_view *v)
{
    while (v) {
        struct texel_view *next = v->next;
        vkDestroyBufferView(g->vk.device, v->view, NULL);
        free(v);
        v = next;
    }
}

void exec_buffer_clean(struct exec_engine *g, struct exec_buffer *b)
{
    exec_buffer_places_destroy(g, b);
    exec_texel_views_destroy(g, b->views);
    exec_uav_counter_clean(g, &b->counter);
    exec_vk_buffer_destroy(&g->vk, &b->streamed);
    exec_vk_buffer_destroy(&g->vk, &b->vk);
    if (b->addressed.base)
        exec_address_destroy(g, b);
}

static void destroy_texture(struct exec_engine *g, struct exec_texture *t)
{
    exec_targets_forget_texture(g, t);
    while (t->views) {
        struct image_view *v = t->views;
        t->views = v->next;
        vkDestroyImageView(g->vk.device, v->view, NULL);
        free(v);
    }
    if (t->image)
        vkDestroyImage(g->vk.device, t->image, NULL);
    exec_vk_free(&g->vk, &t->memory);
}

static void destroy_object(struct exec_engine *g, struct exec_object *o)
{
    INVARIANT(!o->refs && !o->names);
    switch (o->kind) {
    case OBJECT_BUFFER:
        exec_buffer_clean(g, (struct exec_buffer *)o);
        break;
    case OBJECT_TEXTURE:
        destroy_texture(g, (struct exec_texture *)o);
        break;
    case OBJECT_VIEW:
        exec_object_unref(g, &((struct exec_view *)o)->texture->o);
        break;
    case OBJECT_BUFFER_VIEW:
        exec_buffer_view_clean(g, (struct exec_buffer_view *)o);
        break;
    case OBJECT_SHADER:
        job_unref(g, ((struct shader_object *)o)->job);
        shader_unref(((struct shader_object *)o)->shader);
        break;
    default:
        break;
    }
    free(o);
}

/* Whoever got the address of a buffer may use it, and no binding tells: what stands before its end in the stream must have come to
 * its own end first, and what stands behind must fault, also within one submission. */
static bool has_address(const struct exec_object *o)
{
    return o->kind == OBJECT_BUFFER && ((const struct exec_buffer *)o)->addressed.base;
}

void exec_object_unref(struct exec_engine *g, struct exec_object *o)
{
    if (!o)
        return;
    INVARIANT(o->refs && o->kind <= OBJECT_SAMPLER);
    if (--o->refs)
        return;
    if (g->batch && has_address(o) && !exec_batch_sync(g)) {
        destroy_object(g, o);
        return;
    }
    if (o->kind == OBJECT_BUFFER)
        o->last_use = exec_buffer_last_use((struct exec_buffer *)o);
    if (exec_object_is_busy(g, o)) {
        o->next_deferred = g->deferred;
        g->deferred = o;
        return;
    }
    destroy_object(g, o);
}

void exec_objects_destroy_deferred(struct exec_engine *g)
{
    struct exec_object **link = &g->deferred;

    while (*link) {
        struct exec_object *o = *link;
        if (exec_object_is_busy(g, o)) {
            link = &o->next_deferred;
            continue;
        }
        *link = o->next_deferred;
        destroy_object(g, o);
    }
}

void exec_object_assign(struct exec_engine *g, void *slot, void *object)
{
    struct exec_object **at = slot, *old = *at;

    *at = exec_object_ref(object);
    exec_object_unref(g, old);
}

void exec_objects_forget_all(struct exec_engine *g)
{
    struct exec_handle *h, *next_h;
    struct exec_token *t, *next_t;
    struct exec_context *c, *next_c;

    HASH_ITER(hh, g->contexts, c, next_c)
    {
        HASH_DEL(g->contexts, c);
        exec_context_destroy(g, c);
    }
    HASH_ITER(hh, g->tokens, t, next_t)
    {
        HASH_DEL(g->tokens, t);
        exec_object_unref(g, t->object);
        free(t);
    }
    HASH_ITER(hh, g->handles, h, next_h)
    {
        HASH_DEL(g->handles, h);
        h->object->names--;
        exec_object_unref(g, h->object);
        free(h);
    }
    INVARIANT(!g->contexts && !g->tokens && !g->handles);
    exec_objects_destroy_deferred(g);
    exec_breadcrumbs_forget_all(g);
}

/* ---- buffers ------------------------------------------------------------- */

/* A guest-backed resource starts with what its guest memory holds. */
static int read_backing(struct exec_engine *g, struct exec_object *o, const struct backing *b, uint64_t size)
{
    return b->alloc_id ? exec_transfer_from_guest(g, o, 0, size) : 0;
}

VkBufferUsageFlags exec_buffer_usage(const struct exec_engine *g)
{
    return VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT |
           VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
           VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
           VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
           VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
           (g->vk.caps.streams ? VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_BUFFER_BIT_EXT : 0u);
}

int exec_op_create_buffer(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_create_buffer c;
    struct exec_buffer *b;
    int r;

    memcpy(&c, p->data, sizeof(c));
    r = exec_handle_check_new(g, c.buffer_handle);
    if (r)
        return r;
    if (!c.size_bytes || c.size_bytes % 4)
        return fail_decode(g, "buffer %u: size %llu is not a multiple of 4 above 0", c.buffer_handle,
                           (unsigned long long)c.size_bytes);
    if (c.size_bytes > UINT32_MAX)
        return fail_backend(g, "buffer %u: %llu bytes are more than 4 GiB", c.buffer_handle,
                            (unsigned long long)c.size_bytes);
    b = calloc(1, sizeof(*b));
    if (!b)
        return fail_memory(g, "no memory for buffer %u", c.buffer_handle);
    b->o = (struct exec_object){.kind = OBJECT_BUFFER, .handle = c.buffer_handle, .refs = 1};
    b->size = c.size_bytes;
    b->backing = (struct backing){c.backing_alloc_id, c.backing_offset_bytes};
    /* Drivers bind buffers in ways that they did not announce, and all of these cost nothing. */
    if (c.usage_flags & AEROGPU_RESOURCE_USAGE_EXT_ADDRESS && g->vk.caps.addresses)
        r = exec_address_create(g, b, exec_buffer_usage(g));
    else
        r = exec_vk_buffer_create(&g->vk, &b->vk, c.size_bytes, exec_buffer_usage(g), VK_USE_SHARED);
    if (r) {
        free(b);
        return fail_memory(g, "buffer %u: no device memory for %llu bytes", c.buffer_handle,
                           (unsigned long long)c.size_bytes);
    }
    memset(b->vk.memory.map, 0, c.size_bytes);
    r = read_backing(g, &b->o, &b->backing, b->size);
    if (r) {
        exec_object_unref(g, &b->o);
        return r;
    }
    return exec_handle_add(g, c.buffer_handle, &b->o);
}

VkBufferView exec_buffer_view(struct exec_engine *g, struct exec_buffer *b, VkFormat format, uint64_t offset,
                              uint64_t range)
{
    VkBufferViewCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
                                 .buffer = b->vk.buffer,
                                 .format = format,
                                 .offset = offset,
                                 .range = range};
    struct texel_view *v;

    for (v = b->views; v; v = v->next)
        if (v->format == format && v->offset == offset && v->range == range)
            return v->view;
    v = calloc(1, sizeof(*v));
    if (!v)
        return fail_memory(g, "no memory for a view"), VK_NULL_HANDLE;
    *v = (struct texel_view){.format = format, .offset = offset, .range = range};
    if (vkCreateBufferView(g->vk.device, &ci, NULL, &v->view)) {
        free(v);
        return VK_NULL_HANDLE;
    }
    v->next = b->views;
    b->views = v;
    return v->view;
}

/* ---- textures ------------------------------------------------------------ */

static uint32_t max_mips(uint32_t width, uint32_t height, uint32_t depth)
{
    uint32_t n = 1, size = width > height ? width : height;

    size = depth > size ? depth : size;
    while (size >>= 1)
        n++;
    return n;
}

static VkImageUsageFlags image_usage(struct exec_engine *g, const struct format_info *f,
                                     enum exec_texture_dim dim)
{
    VkImageUsageFlags usage =
        VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
    VkFormatProperties props;

    vkGetPhysicalDeviceFormatProperties(g->vk.physical, f->vk, &props);
    if (props.optimalTilingFeatures & VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT)
        usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    if (props.optimalTilingFeatures & VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT)
        usage |= VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    if (props.optimalTilingFeatures & VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT && dim != TEXTURE_MS)
        usage |= VK_IMAGE_USAGE_STORAGE_BIT;
    return usage;
}

/* Brings the new image into the one layout that all images stay in, and makes it zero. What is read from guest memory next
 * (`backed`) need not be. */
static int image_start(struct exec_engine *g, struct exec_texture *t, bool backed)
{
    static const uint8_t none[16];
    int r = 0;
    VkImageAspectFlags aspects = format_aspects(t->format);
    VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                    .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
                                    .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                                    .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .image = t->image,
                                    .subresourceRange = {aspects, 0, t->mips, 0, t->layers}};
    VkCommandBuffer cmd = exec_batch_transfer(g);

    vkCmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                         NULL, 0, NULL, 1, &barrier);
    if (t->format->depth) {
        VkClearDepthStencilValue zero = {0};
        vkCmdClearDepthStencilImage(cmd, t->image, VK_IMAGE_LAYOUT_GENERAL, &zero, 1,
                                    &barrier.subresourceRange);
    } else if (t->format->block == 1) {
        VkClearColorValue zero = {{0}};
        vkCmdClearColorImage(cmd, t->image, VK_IMAGE_LAYOUT_GENERAL, &zero, 1, &barrier.subresourceRange);
    } else if (!backed) {
        struct exec_view all = exec_view_of(&t->o);

        r = exec_transfer_fill(g, &all, none);
    }
    exec_batch_use(g, &t->o);
    return r;
}

/* Resolves the format to one that the device has. */
static const struct format_info *usable_format(struct exec_engine *g, const struct format_info *f)
{
    static const struct format_info d32s8 = {AEROGPU_FORMAT_D24_UNORM_S8_UINT,
                                             VK_FORMAT_D32_SFLOAT_S8_UINT,
                                             VK_FORMAT_UNDEFINED,
                                             4,
                                             1,
                                             false,
                                             true,
                                             true,
                                             0,
                                             "D24_UNORM_S8_UINT"};
    VkFormatProperties props;

    vkGetPhysicalDeviceFormatProperties(g->vk.physical, f->vk, &props);
    if (f->depth && !(props.optimalTilingFeatures & VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT))
        return f->stencil ? &d32s8 : NULL;
    return props.optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT ? f : NULL;
}

/* Null textures of several samples say nothing of how many. */
static uint32_t samples_of(const struct aerogpu_cmd_create_texture2d *c, enum exec_texture_dim dim)
{
    uint32_t n = 1u << AEROGPU_RESOURCE_USAGE_EXT_SAMPLES_OF(c->usage_flags);

    return dim != TEXTURE_MS ? 1 : n > 1 ? n : 4;
}

int exec_texture_make(struct exec_engine *g, struct exec_texture **out,
                      const struct aerogpu_cmd_create_texture2d *c, enum exec_texture_dim dim)
{
    const struct format_info *f = exec_format_find(c->format);
    VkImageCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                            .imageType = dim == TEXTURE_1D   ? VK_IMAGE_TYPE_1D
                                         : dim == TEXTURE_3D ? VK_IMAGE_TYPE_3D
                                                             : VK_IMAGE_TYPE_2D,
                            .extent = {c->width, c->height, dim == TEXTURE_3D ? c->array_layers : 1},
                            .mipLevels = c->mip_levels,
                            .arrayLayers = dim == TEXTURE_3D ? 1 : c->array_layers,
                            .samples = (VkSampleCountFlagBits)samples_of(c, dim)};
    VkMemoryRequirements req;
    struct exec_texture *t;
    int r;

    f = usable_format(g, f);
    if (!f)
        return fail_backend(g, "texture %u: this Vulkan device has no %s", c->texture_handle,
                            exec_format_find(c->format)->name);
    t = calloc(1, sizeof(*t));
    if (!t)
        return fail_memory(g, "no memory for texture %u", c->texture_handle);
    *t = (struct exec_texture){.o = {.kind = OBJECT_TEXTURE, .handle = c->texture_handle, .refs = 1},
                               .format = f,
                               .dim = dim,
                               .width = c->width,
                               .height = c->height,
                               .depth = ci.extent.depth,
                               .mips = c->mip_levels,
                               .layers = ci.arrayLayers,
                               .samples = ci.samples};
    t->row_pitch = c->row_pitch_bytes ? c->row_pitch_bytes : format_blocks(f, c->width) * f->bytes;
    t->linear_size = t->samples > 1 ? 0 : exec_texture_linear_size(t);
    ci.format = f->vk;
    ci.usage = image_usage(g, f, dim);
    t->storage = ci.usage & VK_IMAGE_USAGE_STORAGE_BIT;
    if (exec_format_can_change(f))
        ci.flags |= VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT;
    if (c->array_layers >= 6 && c->width == c->height && dim == TEXTURE_2D)
        ci.flags |= VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT;
    if (dim == TEXTURE_3D && ci.usage & VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT)
        ci.flags |= VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT;
    if (vkCreateImage(g->vk.device, &ci, NULL, &t->image)) {
        free(t);
        return fail_backend(g,
                            "texture %u: the Vulkan device cannot make %u x %u %s with %u mips and %u layers",
                            c->texture_handle, c->width, c->height, f->name, c->mip_levels, c->array_layers);
    }
    vkGetImageMemoryRequirements(g->vk.device, t->image, &req);
    r = exec_vk_alloc(&g->vk, &t->memory, &req, VK_USE_DEVICE);
    if (!r)
        r = exec_vk_errno(vkBindImageMemory(g->vk.device, t->image, t->memory.memory, t->memory.offset));
    if (r) {
        exec_object_unref(g, &t->o);
        return fail_memory(g, "texture %u: no device memory for %llu bytes", c->texture_handle,
                           (unsigned long long)req.size);
    }
    r = image_start(g, t, c->backing_alloc_id != 0);
    if (r)
        exec_object_unref(g, &t->o);
    else
        *out = t;
    return r;
}

static int check_texture(struct exec_engine *g, const struct aerogpu_cmd_create_texture2d *c,
                         enum exec_texture_dim dim)
{
    const struct format_info *f = exec_format_find(c->format);
    uint32_t max = g->vk.caps.max_image_2d, max_layers = g->vk.caps.max_layers, mips;
    uint64_t tight;

    if (c->format == AEROGPU_FORMAT_EXT_STENCIL_UINT)
        return fail_decode(g, "texture %u: %s is of views alone", c->texture_handle, f->name);
    if (!c->width || !c->height)
        return fail_decode(g, "texture %u: size %u x %u", c->texture_handle, c->width, c->height);
    if (dim == TEXTURE_1D && c->height != 1)
        return fail_decode(g, "texture %u: of one dimension, and its height is %u", c->texture_handle,
                           c->height);
    mips = max_mips(c->width, c->height, dim == TEXTURE_3D ? c->array_layers : 1);
    if (dim == TEXTURE_MS) {
        uint32_t samples = samples_of(c, dim);

        if (c->mip_levels != 1 || c->backing_alloc_id || f->block != 1)
            return fail_decode(
                g, "texture %u: %s of %u samples has %u mips and alloc_id %u, 1 and 0 are possible",
                c->texture_handle, f->name, samples, c->mip_levels, c->backing_alloc_id);
        if (!(exec_format_samples(g, f) & samples))
            return fail_backend(g, "texture %u: this Vulkan device has no %s of %u samples",
                                c->texture_handle, f->name, samples);
    }
    if (!c->mip_levels || c->mip_levels > mips)
        return fail_decode(g, "texture %u: mip_levels %u, 1 to %u are possible at %u x %u", c->texture_handle,
                           c->mip_levels, mips, c->width, c->height);
    if (!c->array_layers)
        return fail_decode(g, "texture %u: array_layers 0", c->texture_handle);
    if (dim == TEXTURE_3D)
        max = max_layers = g->vk.caps.max_image_3d;
    if (c->width > max || c->height > max || c->array_layers > max_layers)
        return fail_backend(g,
                            "texture %u: %u x %u with %u layers; this Vulkan device ends at %u x %u with %u",
                            c->texture_handle, c->width, c->height, c->array_layers, max, max, max_layers);
    tight = (uint64_t)format_blocks(f, c->width) * f->bytes;
    if (c->row_pitch_bytes ? c->row_pitch_bytes < tight : c->backing_alloc_id != 0)
        return fail_decode(g, "texture %u: row_pitch_bytes %u, a row has %llu bytes", c->texture_handle,
                           c->row_pitch_bytes, (unsigned long long)tight);
    return 0;
}

int exec_op_create_texture2d(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_create_texture2d c;
    enum exec_texture_dim dim;
    struct exec_texture *t;
    int r;

    memcpy(&c, p->data, sizeof(c));
    dim = c.usage_flags & AEROGPU_RESOURCE_USAGE_EXT_3D          ? TEXTURE_3D
          : c.usage_flags & AEROGPU_RESOURCE_USAGE_EXT_1D        ? TEXTURE_1D
          : AEROGPU_RESOURCE_USAGE_EXT_SAMPLES_OF(c.usage_flags) ? TEXTURE_MS
                                                                 : TEXTURE_2D;
    r = exec_handle_check_new(g, c.texture_handle);
    if (!r)
        r = check_texture(g, &c, dim);
    if (!r)
        r = exec_texture_make(g, &t, &c, dim);
    if (r)
        return r;
    t->backing = (struct backing){c.backing_alloc_id, c.backing_offset_bytes};
    r = read_backing(g, &t->o, &t->backing, t->linear_size);
    if (r) {
        exec_object_unref(g, &t->o);
        return r;
    }
    return exec_handle_add(g, c.texture_handle, &t->o);
}

VkImageView exec_texture_view(struct exec_engine *g, struct exec_texture *t, const struct image_view_key *key)
{
    VkImageViewCreateInfo ci = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = t->image,
        .viewType = key->type,
        .format = key->format,
        .components = {.a = key->opaque ? VK_COMPONENT_SWIZZLE_ONE : VK_COMPONENT_SWIZZLE_IDENTITY},
        .subresourceRange = {key->aspect, key->base_mip, key->mips, key->base_layer, key->layers}};
    struct image_view *v;

    for (v = t->views; v; v = v->next)
        if (!memcmp(&v->key, key, sizeof(*key)))
            return v->view;
    if (key->opaque == EXEC_GREEN_ALONE)
        ci.components = (VkComponentMapping){VK_COMPONENT_SWIZZLE_ZERO, VK_COMPONENT_SWIZZLE_R,
                                             VK_COMPONENT_SWIZZLE_ZERO, VK_COMPONENT_SWIZZLE_ZERO};
    if (key->opaque == EXEC_ALPHA_ALONE)
        ci.components = (VkComponentMapping){VK_COMPONENT_SWIZZLE_ZERO, VK_COMPONENT_SWIZZLE_ZERO,
                                             VK_COMPONENT_SWIZZLE_ZERO, VK_COMPONENT_SWIZZLE_R};
    if (key->opaque == EXEC_RED_AND_ONES || key->opaque == EXEC_RED_GREEN_AND_ONES)
        ci.components = (VkComponentMapping){VK_COMPONENT_SWIZZLE_R,
                                             key->opaque == EXEC_RED_AND_ONES ? VK_COMPONENT_SWIZZLE_ONE
                                                                              : VK_COMPONENT_SWIZZLE_G,
                                             VK_COMPONENT_SWIZZLE_ONE, VK_COMPONENT_SWIZZLE_ONE};
    v = calloc(1, sizeof(*v));
    if (!v)
        return fail_memory(g, "no memory for a view"), VK_NULL_HANDLE;
    memcpy(&v->key, key, sizeof(*key));
    if (vkCreateImageView(g->vk.device, &ci, NULL, &v->view)) {
        free(v);
        return VK_NULL_HANDLE;
    }
    v->next = t->views;
    t->views = v;
    return v->view;
}

struct exec_view exec_view_of(struct exec_object *o)
{
    struct exec_texture *t;

    if (!o)
        return (struct exec_view){0};
    if (o->kind == OBJECT_VIEW)
        return *(struct exec_view *)o;
    t = o->kind == OBJECT_BUFFER_VIEW ? ((struct exec_buffer_view *)o)->target : (struct exec_texture *)o;
    return (struct exec_view){
        .texture = t, .format = t->format, .mips = t->mips, .layers = exec_texture_slices(t, 0)};
}

int exec_op_create_texture_view(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_create_texture_view c;
    const struct format_info *f;
    struct exec_texture *t;
    struct exec_view *v;
    uint32_t slices;
    int r;

    memcpy(&c, p->data, sizeof(c));
    r = exec_handle_check_new(g, c.view_handle);
    if (r)
        return r;
    t = exec_object_find(g, c.texture_handle, OBJECT_TEXTURE);
    if (!t)
        return -EBADMSG;
    f = exec_format_find(c.format);
    if (f->depth)
        f = f->abi == t->format->abi ? t->format : f;
    if (!exec_format_can_view(t->format, f))
        return fail_decode(g, "view %u: format %s cannot look at texture %u, which is %s", c.view_handle,
                           f->name, c.texture_handle, t->format->name);
    if (!c.mip_level_count || c.base_mip_level >= t->mips || c.mip_level_count > t->mips - c.base_mip_level)
        return fail_oob(g, "view %u: mips %u + %u of texture %u, which has %u", c.view_handle,
                        c.base_mip_level, c.mip_level_count, c.texture_handle, t->mips);
    slices = exec_texture_slices(t, c.base_mip_level);
    if (!c.array_layer_count || c.base_array_layer >= slices ||
        c.array_layer_count > slices - c.base_array_layer)
        return fail_oob(g, "view %u: layers %u + %u of texture %u, which has %u", c.view_handle,
                        c.base_array_layer, c.array_layer_count, c.texture_handle, slices);
    v = calloc(1, sizeof(*v));
    if (!v)
        return fail_memory(g, "no memory for view %u", c.view_handle);
    *v = (struct exec_view){.o = {.kind = OBJECT_VIEW, .handle = c.view_handle, .refs = 1},
                            .texture = t,
                            .format = f,
                            .base_mip = c.base_mip_level,
                            .mips = c.mip_level_count,
                            .base_layer = c.base_array_layer,
                            .layers = c.array_layer_count};
    exec_object_ref(&t->o);
    return exec_handle_add(g, c.view_handle, &v->o);
}

int exec_op_destroy_texture_view(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_destroy_texture_view c;

    memcpy(&c, p->data, sizeof(c));
    return exec_handle_remove(g, c.view_handle, OBJECT_VIEW, OBJECT_BUFFER_VIEW);
}

int exec_op_destroy_resource(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_destroy_resource c;

    memcpy(&c, p->data, sizeof(c));
    return exec_handle_remove(g, c.resource_handle, OBJECT_BUFFER, OBJECT_TEXTURE);
}

/* ---- shaders: created by worker threads ---------------------------------- */

struct shader_job {
    struct shader_job *next_queued, *next_in_batch;
    enum exec_stage stage;
    uint32_t handle, packet, offset, size;
    bool done;
    int refs; /* under job_lock */
    int result;
    struct shader *shader;
    struct error error;
    uint8_t bytes[];
};

static void job_unref(struct exec_engine *g, struct shader_job *job)
{
    bool last;

    if (!job)
        return;
    pthread_mutex_lock(&g->job_lock);
    last = --job->refs == 0;
    pthread_mutex_unlock(&g->job_lock);
    if (!last)
        return;
    shader_unref(job->shader);
    free(job);
}

static void translate(const struct exec_engine *g, struct shader_job *job)
{
    job->result =
        shader_create(&job->shader, job->stage, job->bytes, job->size, exec_addresses(g), &job->error);
    if (job->result || !shader_info(job->shader)->uses_addresses)
        return;
    if (g->vk.caps.addresses) {
        if (g->progress.shared && !exec_addresses(g))
            atomic_store(&g->progress.shared->unguarded, 1);
        return;
    }
    shader_unref(job->shader);
    job->shader = NULL;
    job->result =
        error_set(&job->error, -ENOTSUP, "SPIR-V with physical addresses, which are not allowed here");
}

void *exec_shader_worker(void *arg)
{
    struct exec_engine *g = arg;

    pthread_setname_np(pthread_self(), "exec-shader");
    exec_own_thread = true;
    pthread_mutex_lock(&g->job_lock);
    while (!g->workers_stop) {
        struct shader_job *job = g->job_queue;
        if (!job) {
            pthread_cond_wait(&g->job_changed, &g->job_lock);
            continue;
        }
        g->job_queue = job->next_queued;
        if (!g->job_queue)
            g->job_queue_end = &g->job_queue;
        pthread_mutex_unlock(&g->job_lock);
        translate(g, job);
        pthread_mutex_lock(&g->job_lock);
        job->done = true;
        pthread_cond_broadcast(&g->job_changed);
    }
    pthread_mutex_unlock(&g->job_lock);
    return NULL;
}

static void job_wait(struct exec_engine *g, const struct exec_batch *b, struct shader_job *job)
{
    exec_progress_waits(g, b, EXEC_WAIT_SHADERS);
    pthread_mutex_lock(&g->job_lock);
    while (!job->done)
        pthread_cond_wait(&g->job_changed, &g->job_lock);
    pthread_mutex_unlock(&g->job_lock);
    exec_progress_waits(g, b, EXEC_WAIT_NONE);
}

static enum abi_cause job_cause(const struct shader_job *job)
{
    return job->result == -ENOMEM ? ABI_CAUSE_MEMORY : ABI_CAUSE_OTHER;
}

int exec_shader_object_wait(struct exec_engine *g, struct shader_object *s)
{
    if (s->job) {
        job_wait(g, g->batch, s->job);
        if (s->job->result)
            return exec_fail(g, AEROGPU_ERROR_BACKEND, job_cause(s->job), -EIO, "shader %u: %s", s->o.handle,
                             s->job->error.text);
        s->shader = shader_ref(s->job->shader);
        job_unref(g, s->job);
        s->job = NULL;
    }
    return 0;
}

/* Waits for the shaders that the submission created; the first that failed is its error, unless an earlier packet
 * failed. */
void exec_shader_jobs_finish(struct exec_engine *g, struct exec_batch *b)
{
    struct shader_job *job;

    while ((job = b->jobs)) {
        b->jobs = job->next_in_batch;
        job_wait(g, b, job);
        if (job->result && (!b->completion.error || job->packet <= b->error_packet)) {
            b->error_packet = b->completion.packets = job->packet;
            b->completion.error = AEROGPU_ERROR_BACKEND;
            b->completion.cause = job_cause(job);
            snprintf(b->completion.message, sizeof(b->completion.message),
                     "packet %u at offset 0x%x: CREATE_SHADER_DXBC: shader %u: %.120s", job->packet,
                     job->offset, job->handle, job->error.text);
        }
        job_unref(g, job);
    }
}

int exec_op_create_shader_dxbc(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_create_shader_dxbc c;
    struct shader_object *s;
    struct shader_job *job;
    int r;

    memcpy(&c, p->data, sizeof(c));
    r = exec_handle_check_new(g, c.shader_handle);
    if (r)
        return r;
    s = calloc(1, sizeof(*s));
    job = calloc(1, sizeof(*job) + p->tail_size);
    if (!s || !job) {
        free(s);
        free(job);
        return fail_memory(g, "no memory for shader %u", c.shader_handle);
    }
    s->stage = exec_stage_of(g, p);
    s->o = (struct exec_object){.kind = OBJECT_SHADER, .handle = c.shader_handle, .refs = 1};
    s->job = job;
    *job = (struct shader_job){.stage = s->stage,
                               .handle = c.shader_handle,
                               .packet = p->index,
                               .offset = p->offset,
                               .size = p->tail_size,
                               .refs = 2};
    memcpy(job->bytes, p->tail, p->tail_size);
    job->next_in_batch = g->batch->jobs;
    g->batch->jobs = job;
    pthread_mutex_lock(&g->job_lock);
    *g->job_queue_end = job;
    g->job_queue_end = &job->next_queued;
    pthread_cond_broadcast(&g->job_changed);
    pthread_mutex_unlock(&g->job_lock);
    return exec_handle_add(g, c.shader_handle, &s->o);
}

int exec_op_destroy_shader(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_destroy_shader c;

    memcpy(&c, p->data, sizeof(c));
    return exec_handle_remove(g, c.shader_handle, OBJECT_SHADER, OBJECT_SHADER);
}

/* ---- layouts ------------------------------------------------------------- */

int exec_op_create_input_layout(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_create_input_layout c;
    struct error e = {0};
    struct exec_layout *l;
    int r;

    memcpy(&c, p->data, sizeof(c));
    r = exec_handle_check_new(g, c.input_layout_handle);
    if (r)
        return r;
    r = exec_layout_parse(&l, p->tail, p->tail_size, &e);
    if (r)
        return r == -ENOMEM ? fail_memory(g, "no memory for input layout %u", c.input_layout_handle)
                            : fail_decode(g, "input layout %u: %s", c.input_layout_handle, e.text);
    l->o = (struct exec_object){.kind = OBJECT_LAYOUT, .handle = c.input_layout_handle, .refs = 1};
    return exec_handle_add(g, c.input_layout_handle, &l->o);
}

int exec_op_destroy_input_layout(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_destroy_input_layout c;

    memcpy(&c, p->data, sizeof(c));
    return exec_handle_remove(g, c.input_layout_handle, OBJECT_LAYOUT, OBJECT_LAYOUT);
}
