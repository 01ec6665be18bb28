/* SPDX-License-Identifier: MIT */
/* targets.c: what draws and clears go into: the bound targets, and the render passes and framebuffers made for them, which
 * are found again by a key of plain bytes without padding.
 *
 * Invariant: a framebuffer goes before the views that it was made of; render passes live as long as the engine.
 */
#include "executor/engine/engine_priv.h"
#include "executor/engine/pass.h"
#include "executor/engine/direct3d11/streams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pass_key {
    VkFormat colors[MAX_TARGETS], depth;
    uint32_t num_colors, clear_flags, samples;
};

struct pass_entry {
    struct pass_key key;
    VkRenderPass pass;
    UT_hash_handle hh;
};

struct framebuffer_key {
    VkRenderPass pass;
    VkImageView views[MAX_TARGETS + 1];
    uint32_t width, height, layers, reserved;
};

struct framebuffer_entry {
    struct framebuffer_key key;
    VkFramebuffer framebuffer;
    UT_hash_handle hh;
};

void exec_targets_finish(struct exec_engine *g)
{
    struct framebuffer_entry *f, *next_f;
    struct pass_entry *r, *next_r;

    HASH_ITER(hh, g->framebuffers, f, next_f)
    {
        HASH_DEL(g->framebuffers, f);
        vkDestroyFramebuffer(g->vk.device, f->framebuffer, NULL);
        free(f);
    }
    HASH_ITER(hh, g->passes, r, next_r)
    {
        HASH_DEL(g->passes, r);
        vkDestroyRenderPass(g->vk.device, r->pass, NULL);
        free(r);
    }
}

static int implicit_target(struct exec_engine *g, struct exec_context *c)
{
    const struct abi_scanout *s = &g->submission->scanout;
    struct aerogpu_cmd_create_texture2d want = {.usage_flags = AEROGPU_RESOURCE_USAGE_RENDER_TARGET,
                                                .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
                                                .width = s->width,
                                                .height = s->height,
                                                .mip_levels = 1,
                                                .array_layers = 1};
    struct exec_texture *t = c->implicit_target;
    uint32_t max = g->vk.caps.max_image_2d;

    if (!s->enabled || !s->width || !s->height || s->width > max || s->height > max)
        return -ENOENT;
    if (t && t->width == s->width && t->height == s->height)
        return 0;
    if (exec_texture_make(g, &t, &want, TEXTURE_2D))
        return -EIO;
    exec_object_unref(g, (struct exec_object *)c->implicit_target);
    c->implicit_target = t;
    return 0;
}

static uint32_t mip_size(uint32_t size, uint32_t mip)
{
    return size >> mip ? size >> mip : 1;
}

static void add_target(struct target_set *t, const struct exec_view *v)
{
    uint32_t w = mip_size(v->texture->width, v->base_mip), h = mip_size(v->texture->height, v->base_mip);

    t->width = w < t->width ? w : t->width;
    t->height = h < t->height ? h : t->height;
    t->layers = v->layers < t->layers ? v->layers : t->layers;
    t->samples = v->texture->samples;
}

/* Of who writes without targets, to buffers and textures: as large as the viewport reaches. */
static bool no_targets(struct exec_engine *g, const struct exec_context *c, struct target_set *t)
{
    float right = c->viewport_set ? c->viewport[0] + c->viewport[2] : 1,
          bottom = c->viewport_set ? c->viewport[1] + c->viewport[3] : 1,
          most = (float)g->vk.caps.max_image_2d;
    bool writes = exec_streams_bound(c);

    for (int s = 0; s < EXEC_STAGE_COUNT; s++)
        for (int i = 0; s != EXEC_CS && i < MAX_UAV_SLOTS && !writes; i++)
            writes = c->stages[s].uavs[i].object != NULL;
    for (uint32_t n = 16; n > 1 && t->samples == 1; n /= 2)
        if (n <= c->raster.samples && g->vk.properties.limits.framebufferNoAttachmentsSampleCounts & n)
            t->samples = n;
    t->width = right < 1 ? 1 : right > most ? (uint32_t)most : (uint32_t)right;
    t->height = bottom < 1 ? 1 : bottom > most ? (uint32_t)most : (uint32_t)bottom;
    t->layers = 1;
    return writes;
}

/* All have as many samples. */
static int check_samples(struct exec_engine *g, const struct target_set *t)
{
    for (uint32_t i = 0; i < t->num_colors + 1; i++) {
        const struct exec_view *v = i < t->num_colors ? &t->colors[i] : &t->depth;

        if (v->texture && v->texture->samples != t->samples)
            return fail_decode(g, "target %u has %u samples, another %u", v->texture->o.handle,
                               v->texture->samples, t->samples);
    }
    return 0;
}

int exec_targets_of(struct exec_engine *g, struct exec_context *c, struct target_set *t)
{
    bool any = c->depth_stencil != NULL;

    memset(t, 0, sizeof(*t));
    t->width = t->height = t->layers = UINT32_MAX;
    t->samples = 1;
    t->num_colors = c->num_colors;
    for (uint32_t i = 0; i < c->num_colors; i++) {
        t->colors[i] = exec_view_of(c->color[i]);
        if (!t->colors[i].texture)
            continue;
        if (c->rs[D3DRS_SRGBWRITEENABLE] && t->colors[i].format->twin != VK_FORMAT_UNDEFINED &&
            t->colors[i].format->abi <= AEROGPU_FORMAT_R8G8B8X8_UNORM)
            t->colors[i].format =
                exec_format_find(t->colors[i].format->abi + AEROGPU_FORMAT_B8G8R8A8_UNORM_SRGB -
                                 AEROGPU_FORMAT_B8G8R8A8_UNORM);
        add_target(t, &t->colors[i]);
        any = true;
    }
    t->depth = exec_view_of(c->depth_stencil);
    if (t->depth.texture)
        add_target(t, &t->depth);
    if (!any && no_targets(g, c, t)) {
        t->num_colors = 0;
    } else if (!any) {
        int r = implicit_target(g, c);
        if (r)
            return r;
        t->width = t->height = t->layers = UINT32_MAX;
        t->num_colors = 1;
        t->colors[0] = exec_view_of(&c->implicit_target->o);
        add_target(t, &t->colors[0]);
    }
    return check_samples(g, t);
}

VkFormat exec_target_format(const struct exec_view *v)
{
    return v->texture ? v->format->vk : VK_FORMAT_UNDEFINED;
}

VkRenderPass exec_render_pass_get(struct exec_engine *g, const struct target_set *t, uint32_t clear_flags)
{
    VkAttachmentDescription attachments[MAX_TARGETS + 1] = {0};
    VkAttachmentReference refs[MAX_TARGETS], depth_ref = {.layout = VK_IMAGE_LAYOUT_GENERAL};
    VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                    .colorAttachmentCount = t->num_colors,
                                    .pColorAttachments = refs};
    VkRenderPassCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                 .pAttachments = attachments,
                                 .subpassCount = 1,
                                 .pSubpasses = &subpass};
    struct pass_entry *entry;
    struct pass_key key;

    memset(&key, 0, sizeof(key));
    for (uint32_t i = 0; i < t->num_colors; i++)
        key.colors[i] = exec_target_format(&t->colors[i]);
    key.depth = exec_target_format(&t->depth);
    key.num_colors = t->num_colors;
    key.clear_flags = clear_flags;
    key.samples = t->samples;
    HASH_FIND(hh, g->passes, &key, sizeof(key), entry);
    if (entry)
        return entry->pass;
    for (uint32_t i = 0; i < t->num_colors + 1; i++) {
        const struct exec_view *v = i < t->num_colors ? &t->colors[i] : &t->depth;
        bool depth = i == t->num_colors;
        if (!depth)
            refs[i] = (VkAttachmentReference){VK_ATTACHMENT_UNUSED, VK_IMAGE_LAYOUT_GENERAL};
        if (!v->texture)
            continue;
        if (depth) {
            depth_ref.attachment = ci.attachmentCount;
            subpass.pDepthStencilAttachment = &depth_ref;
        } else {
            refs[i].attachment = ci.attachmentCount;
        }
        attachments[ci.attachmentCount++] = (VkAttachmentDescription){
            .format = v->format->vk,
            .samples = (VkSampleCountFlagBits)t->samples,
            .loadOp = clear_flags & (depth ? AEROGPU_CLEAR_DEPTH : AEROGPU_CLEAR_COLOR)
                          ? VK_ATTACHMENT_LOAD_OP_CLEAR
                          : VK_ATTACHMENT_LOAD_OP_LOAD,
            .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
            .stencilLoadOp = clear_flags & AEROGPU_CLEAR_STENCIL ? VK_ATTACHMENT_LOAD_OP_CLEAR
                                                                 : VK_ATTACHMENT_LOAD_OP_LOAD,
            .stencilStoreOp = VK_ATTACHMENT_STORE_OP_STORE,
            .initialLayout = VK_IMAGE_LAYOUT_GENERAL,
            .finalLayout = VK_IMAGE_LAYOUT_GENERAL};
    }
    entry = calloc(1, sizeof(*entry));
    if (!entry) {
        fail_memory(g, "no memory for a render pass");
        return VK_NULL_HANDLE;
    }
    entry->key = key;
    if (vkCreateRenderPass(g->vk.device, &ci, NULL, &entry->pass)) {
        free(entry);
        return VK_NULL_HANDLE;
    }
    HASH_ADD(hh, g->passes, key, sizeof(key), entry);
    if (HASH_ADDED(entry))
        return entry->pass;
    vkDestroyRenderPass(g->vk.device, entry->pass, NULL);
    free(entry);
    fail_memory(g, "no memory for a render pass");
    return VK_NULL_HANDLE;
}

static VkImageView attachment_view(struct exec_engine *g, const struct exec_view *v, uint32_t layers)
{
    struct image_view_key key;

    memset(&key, 0, sizeof(key));
    key.format = v->format->vk;
    key.type = v->texture->dim == TEXTURE_1D
                   ? layers > 1 ? VK_IMAGE_VIEW_TYPE_1D_ARRAY : VK_IMAGE_VIEW_TYPE_1D
               : layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY
                            : VK_IMAGE_VIEW_TYPE_2D;
    key.aspect = format_aspects(v->format);
    key.base_mip = v->base_mip;
    key.mips = 1;
    key.base_layer = v->base_layer;
    key.layers = layers;
    return exec_texture_view(g, v->texture, &key);
}

VkFramebuffer exec_framebuffer_get(struct exec_engine *g, const struct target_set *t, VkRenderPass pass)
{
    VkFramebufferCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                  .renderPass = pass,
                                  .width = t->width,
                                  .height = t->height,
                                  .layers = t->layers};
    struct framebuffer_entry *entry;
    struct framebuffer_key key;

    memset(&key, 0, sizeof(key));
    key.pass = pass;
    key.width = t->width;
    key.height = t->height;
    key.layers = t->layers;
    for (uint32_t i = 0; i < t->num_colors + 1; i++) {
        const struct exec_view *v = i < t->num_colors ? &t->colors[i] : &t->depth;
        if (!v->texture)
            continue;
        key.views[ci.attachmentCount] = attachment_view(g, v, t->layers);
        if (!key.views[ci.attachmentCount++])
            return VK_NULL_HANDLE;
    }
    HASH_FIND(hh, g->framebuffers, &key, sizeof(key), entry);
    if (entry)
        return entry->framebuffer;
    entry = calloc(1, sizeof(*entry));
    if (!entry) {
        fail_memory(g, "no memory for a framebuffer");
        return VK_NULL_HANDLE;
    }
    entry->key = key;
    ci.pAttachments = entry->key.views;
    if (vkCreateFramebuffer(g->vk.device, &ci, NULL, &entry->framebuffer)) {
        free(entry);
        return VK_NULL_HANDLE;
    }
    HASH_ADD(hh, g->framebuffers, key, sizeof(key), entry);
    if (HASH_ADDED(entry))
        return entry->framebuffer;
    vkDestroyFramebuffer(g->vk.device, entry->framebuffer, NULL);
    free(entry);
    fail_memory(g, "no memory for a framebuffer");
    return VK_NULL_HANDLE;
}

void exec_targets_forget_texture(struct exec_engine *g, const struct exec_texture *t)
{
    struct framebuffer_entry *f, *next;

    HASH_ITER(hh, g->framebuffers, f, next)
    {
        bool uses = false;
        for (int i = 0; i < MAX_TARGETS + 1; i++)
            for (const struct image_view *v = t->views; v && f->key.views[i]; v = v->next)
                uses |= v->view == f->key.views[i];
        if (!uses)
            continue;
        HASH_DEL(g->framebuffers, f);
        vkDestroyFramebuffer(g->vk.device, f->framebuffer, NULL);
        free(f);
    }
}
