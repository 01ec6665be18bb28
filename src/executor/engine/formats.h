/* SPDX-License-Identifier: MIT */
/* formats.h: what the ABI's texel formats are in Vulkan, and how rows of them become each other. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan_core.h>

#include <aerogpu/pci.h>

struct format_info {
    uint32_t abi; /* enum aerogpu_format, enum aerogpu_ext_format */
    VkFormat vk;
    VkFormat twin; /* the sRGB or linear format with the same bytes, or VK_FORMAT_UNDEFINED */
    uint8_t bytes; /* per texel, or per block */
    uint8_t block; /* 1, or 4 for BC formats */
    bool alpha, depth, stencil;
    uint8_t integer; /* 0, or what its channels are: 'U' without, 'S' with a sign */
    const char *name;
};

/* NULL for values that the ABI does not define. */
const struct format_info *exec_format_find(uint32_t abi);
const struct format_info *exec_format_of_vk(VkFormat vk);

static inline uint32_t format_blocks(const struct format_info *f, uint32_t texels)
{
    return (texels + f->block - 1) / f->block;
}

static inline VkImageAspectFlags format_aspects(const struct format_info *f)
{
    if (!f->depth)
        return VK_IMAGE_ASPECT_COLOR_BIT;
    return VK_IMAGE_ASPECT_DEPTH_BIT | (f->stencil ? VK_IMAGE_ASPECT_STENCIL_BIT : 0u);
}

/* Whether views of such a texture may have other formats than its own. */
bool exec_format_can_change(const struct format_info *f);
/* Whether a view of such a texture may have the format `as`. */
bool exec_format_can_view(const struct format_info *texture, const struct format_info *as);

/* True if `to` is one of the formats that a scanout can have and that rows of `from` can be turned into. */
bool exec_format_can_convert(const struct format_info *from, uint32_t to);

/* Turns `n` texels into the scanout format `to`; X channels become 255. sRGB formats are taken as the bytes they are. */
void exec_format_convert_row(uint8_t *dst, uint32_t to, const uint8_t *src, const struct format_info *from,
                             uint32_t n);

/* VkFormat of a DXGI_FORMAT as a vertex attribute, VK_FORMAT_UNDEFINED if it cannot be one; *bytes gets its size. */
VkFormat exec_format_of_dxgi_attribute(uint32_t dxgi, uint32_t *bytes);
