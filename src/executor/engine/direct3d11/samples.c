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
                         const struct exec_texture *dst, const struct exec_texture *src)
{
    if (src->samples < 2 || dst->samples != 1)
        return fail_decode(g, "texture %u has %u samples and texture %u %u: one of several is made",
                           c->src_texture, src->samples, c->dst_texture, dst->samples);
    if (src->format->vk != dst->format->vk || src->format->depth || dst->dim != TEXTURE_2D)
        return fail_decode(g, "texture %u is %s, texture %u is %s", c->src_texture, src->format->name,
                           c->dst_texture, dst->format->name);
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

int exec_op_ext_resolve(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_ext_resolve c;
    struct exec_texture *dst, *src;
    VkImageResolve region;
    int r;

    memcpy(&c, p->data, sizeof(c));
    dst = exec_object_find(g, c.dst_texture, OBJECT_TEXTURE);
    src = dst ? exec_object_find(g, c.src_texture, OBJECT_TEXTURE) : NULL;
    if (!src)
        return -EBADMSG;
    r = check_resolve(g, &c, dst, src);
    if (r)
        return r;
    region =
        (VkImageResolve){.srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, c.src_array_layer, 1},
                         .dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, c.dst_mip_level, c.dst_array_layer, 1},
                         .extent = {src->width, src->height, 1}};
    vkCmdResolveImage(exec_batch_transfer(g), src->image, VK_IMAGE_LAYOUT_GENERAL, dst->image,
                      VK_IMAGE_LAYOUT_GENERAL, 1, &region);
    exec_batch_use(g, &src->o);
    exec_batch_use(g, &dst->o);
    return 0;
}
