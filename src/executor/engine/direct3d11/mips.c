/* SPDX-License-Identifier: MIT */
/* mips.c: the smaller mips of a texture, each made of the one before (ext.h, EXT_GENERATE_MIPS). */
#include <errno.h>
#include <string.h>

#include <aerogpu/ext.h>

#include "executor/engine/engine_priv.h"

static int32_t half(uint32_t size, uint32_t mip)
{
    return size >> mip ? (int32_t)(size >> mip) : 1;
}

/* Mip `to` of all layers of the view, of the one before it. */
static void shrink(struct exec_engine *g, const struct exec_view *v, uint32_t to)
{
    const struct exec_texture *t = v->texture;
    bool volume = t->dim == TEXTURE_3D;
    uint32_t first = volume ? 0 : v->base_layer, layers = volume ? 1 : v->layers;
    VkImageBlit b = {
        .srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, to - 1, first, layers},
        .srcOffsets = {{0},
                       {half(t->width, to - 1), half(t->height, to - 1),
                        volume ? half(t->depth, to - 1) : 1}},
        .dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, to, first, layers},
        .dstOffsets = {{0}, {half(t->width, to), half(t->height, to), volume ? half(t->depth, to) : 1}}};

    vkCmdBlitImage(exec_batch_transfer(g), t->image, VK_IMAGE_LAYOUT_GENERAL, t->image,
                   VK_IMAGE_LAYOUT_GENERAL, 1, &b, VK_FILTER_LINEAR);
}

int exec_op_ext_generate_mips(struct exec_engine *g, const struct abi_packet *p)
{
    const VkFormatFeatureFlags needs = VK_FORMAT_FEATURE_BLIT_SRC_BIT | VK_FORMAT_FEATURE_BLIT_DST_BIT |
                                       VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT;
    struct aerogpu_cmd_ext_generate_mips c;
    VkFormatProperties has;
    struct exec_object *o;
    struct exec_view v;

    memcpy(&c, p->data, sizeof(c));
    o = exec_object_lookup(g, c.texture);
    if (!o || (o->kind != OBJECT_TEXTURE && o->kind != OBJECT_VIEW))
        return fail_decode(g, "handle %u names no texture and no view of one", c.texture);
    v = exec_view_of(o);
    vkGetPhysicalDeviceFormatProperties(g->vk.physical, v.texture->format->vk, &has);
    if (v.texture->format->integer || (has.optimalTilingFeatures & needs) != needs)
        return fail_decode(g, "texture %u is %s, of which no mips are made", v.texture->o.handle,
                           v.texture->format->name);
    for (uint32_t mip = v.base_mip + 1; mip < v.base_mip + v.mips; mip++)
        shrink(g, &v, mip);
    exec_batch_use(g, &v.texture->o);
    return 0;
}
