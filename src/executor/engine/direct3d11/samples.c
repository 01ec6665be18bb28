/* SPDX-License-Identifier: MIT */
/* samples.c: textures of several samples, and how they become one (ext.h, EXT_SAMPLES). */
#include <errno.h>
#include <string.h>

#include <aerogpu/ext.h>

#include "executor/engine/engine_priv.h"

VkSampleCountFlags exec_format_samples(struct exec_engine *g, const struct format_info *f)
{
    VkImageUsageFlags usage =
        VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
        (f->depth ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT : VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
    VkImageFormatProperties p;

    if (vkGetPhysicalDeviceImageFormatProperties(g->vk.physical, f->vk, VK_IMAGE_TYPE_2D,
                                                 VK_IMAGE_TILING_OPTIMAL, usage, 0, &p))
        return 0;
    return p.sampleCounts;
}

static int32_t half(uint32_t size, uint32_t mip)
{
    return size >> mip ? (int32_t)(size >> mip) : 1;
}

static int check_resolve(struct exec_engine *g, const struct aerogpu_cmd_ext_resolve *c,
                         const struct exec_texture *dst, const struct exec_texture *src,
                         const struct format_info *as)
{
    if (src->samples < 2 || dst->samples != 1)
        return fail_decode(g, "texture %u has %u samples and texture %u %u: one of several is made",
                           c->src_texture, src->samples, c->dst_texture, dst->samples);
    if (!exec_format_can_view(src->format, as) || !exec_format_can_view(dst->format, as) || as->depth ||
        dst->dim != TEXTURE_2D)
        return fail_decode(g, "texture %u is %s, texture %u is %s, of which none is made as %s",
                           c->src_texture, src->format->name, c->dst_texture, dst->format->name, as->name);
    if (c->dst_mip_level >= dst->mips || c->dst_array_layer >= dst->layers ||
        c->src_array_layer >= src->layers)
        return fail_oob(g,
                        "mip %u layer %u of texture %u, layer %u of texture %u: there are %u and %u, and %u",
                        c->dst_mip_level, c->dst_array_layer, c->dst_texture, c->src_array_layer,
                        c->src_texture, dst->mips, dst->layers, src->layers);
    if (half(dst->width, c->dst_mip_level) != (int32_t)src->width ||
        half(dst->height, c->dst_mip_level) != (int32_t)src->height)
        return fail_oob(g, "mip %u of texture %u is %d x %d, texture %u %u x %u", c->dst_mip_level,
                        c->dst_texture, half(dst->width, c->dst_mip_level),
                        half(dst->height, c->dst_mip_level), c->src_texture, src->width, src->height);
    return 0;
}

/* A texture like `t` of the format, for as long as the batch; itself, if it has it. NULL: there is no memory. */
static struct exec_texture *as_format(struct exec_engine *g, struct exec_texture *t,
                                      const struct format_info *as)
{
    struct aerogpu_cmd_create_texture2d c = {.format = as->abi,
                                             .width = t->width,
                                             .height = t->height,
                                             .mip_levels = t->mips,
                                             .array_layers = t->layers};
    struct exec_texture *made = NULL;

    if (t->format->vk == as->vk)
        return t;
    for (uint32_t n = t->samples; n > 1; n >>= 1)
        c.usage_flags += AEROGPU_RESOURCE_USAGE_EXT_SAMPLES(1);
    return exec_texture_make(g, &made, &c, t->dim) ? NULL : made;
}

static void copy(struct exec_engine *g, struct exec_texture *to, struct exec_texture *from,
                 const VkImageSubresourceLayers *sub, VkExtent3D extent)
{
    const VkImageCopy region = {.srcSubresource = *sub, .dstSubresource = *sub, .extent = extent};

    if (to != from)
        vkCmdCopyImage(exec_batch_transfer(g), from->image, VK_IMAGE_LAYOUT_GENERAL, to->image,
                       VK_IMAGE_LAYOUT_GENERAL, 1, &region);
}

/* Vulkan has one format for both: where a texture has another, which has the same bytes, it goes by one that has it. */
static int resolve(struct exec_engine *g, const struct aerogpu_cmd_ext_resolve *c, struct exec_texture *dst,
                   struct exec_texture *src, const struct format_info *as)
{
    struct exec_texture *from = as_format(g, src, as), *to = from ? as_format(g, dst, as) : NULL;
    const VkExtent3D extent = {src->width, src->height, 1};
    const VkImageSubresourceLayers source = {VK_IMAGE_ASPECT_COLOR_BIT, 0, c->src_array_layer, 1},
                                   target = {VK_IMAGE_ASPECT_COLOR_BIT, c->dst_mip_level, c->dst_array_layer,
                                             1};
    const VkImageResolve region = {.srcSubresource = source, .dstSubresource = target, .extent = extent};

    if (to) {
        copy(g, from, src, &source, extent);
        vkCmdResolveImage(exec_batch_transfer(g), from->image, VK_IMAGE_LAYOUT_GENERAL, to->image,
                          VK_IMAGE_LAYOUT_GENERAL, 1, &region);
        copy(g, dst, to, &target, extent);
        exec_batch_use(g, &src->o);
        exec_batch_use(g, &dst->o);
    }
    if (to && to != dst)
        exec_object_unref(g, &to->o);
    if (from && from != src)
        exec_object_unref(g, &from->o);
    return to ? 0 : fail_memory(g, "no device memory to resolve texture %u", c->src_texture);
}

int exec_op_ext_resolve(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_ext_resolve c;
    struct exec_texture *dst, *src;
    const struct format_info *as;
    int r;

    memcpy(&c, p->data, sizeof(c));
    dst = exec_object_find(g, c.dst_texture, OBJECT_TEXTURE);
    src = dst ? exec_object_find(g, c.src_texture, OBJECT_TEXTURE) : NULL;
    if (!src)
        return -EBADMSG;
    as = exec_format_find(c.format);
    r = check_resolve(g, &c, dst, src, as);
    return r ? r : resolve(g, &c, dst, src, as);
}
