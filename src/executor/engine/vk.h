/* SPDX-License-Identifier: MIT */
/* vk.h: the Vulkan device of the executor: opening one, memory, buffers, images, one-line helpers.
 *
 * Vulkan 1.1 and one queue for graphics and compute are all that is asked for; what else the device has is in vk_caps.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/error.h"

struct exec_vk_caps {
    bool geometry, tessellation, wireframe, depth_clamp, clip_distance, independent_blend, anisotropy, bc,
        divisor, border_color;
    bool vertex_stores, fragment_stores;
    bool viewports;      /* several at a time */
    bool indirect_first; /* draws by buffers may begin with another instance than the first */
    bool bias_clamp, dual_source, logic;
    bool streams; /* VK_EXT_transform_feedback, with all that Direct3D asks of it but several streams */
    uint32_t max_streams;                         /* of a geometry shader */
    bool precise_samples, statistics, timestamps; /* what queries can count */
    bool host_memory;                             /* VK_EXT_external_memory_host */
    bool addresses;                               /* VK_KHR_buffer_device_address, if asked for */
    bool amd_marker;                              /* VK_AMD_buffer_marker */
    bool nv_checkpoints;                          /* VK_NV_device_diagnostic_checkpoints */
    bool texel_single; /* a buffer view may begin at any texel: texel_align is more than small ones need */
    uint32_t uniform_align, texel_align, max_uniform_range, max_image_2d, max_image_3d, max_layers,
        max_bound_sets;
    uint32_t max_vertex_attributes, max_vertex_bindings;
    float max_anisotropy, max_lod_bias;
};

struct exec_vk_block; /* one VkDeviceMemory that is parcelled out */

struct exec_vk {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t queue_family;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    struct exec_vk_caps caps;
    PFN_vkCmdBindTransformFeedbackBuffersEXT bind_streams; /* caps.streams, and those below */
    PFN_vkCmdBeginTransformFeedbackEXT begin_streams;
    PFN_vkCmdEndTransformFeedbackEXT end_streams;
    PFN_vkCmdBeginQueryIndexedEXT begin_query;
    PFN_vkCmdEndQueryIndexedEXT end_query;
    PFN_vkCmdDrawIndirectByteCountEXT draw_streamed;
    struct exec_vk_block *blocks[VK_MAX_MEMORY_TYPES];
    uint64_t allocated; /* bytes of all blocks */
};

/* `select`: an index, or part of a device name, or NULL for the environment's AEROGPU_VULKAN_DEVICE, else the first. */
int exec_vk_open(struct exec_vk *vk, const char *select, struct error *e);
int exec_vk_open_with(struct exec_vk *vk, const char *select, bool addresses, struct error *e);
void exec_vk_close(struct exec_vk *vk);

struct exec_vk_memory {
    struct exec_vk_block *block;
    VkDeviceMemory memory;
    VkDeviceSize offset, size;
    uint8_t *map; /* of this piece, if host visible */
};

enum vk_memory_use {
    VK_USE_DEVICE,   /* images */
    VK_USE_SHARED,   /* written by both sides; host visible and coherent */
    VK_USE_READBACK, /* read by the host; cached if there is such memory */
};

int exec_vk_alloc(struct exec_vk *vk, struct exec_vk_memory *m, const VkMemoryRequirements *req,
                  enum vk_memory_use use);
void exec_vk_free(struct exec_vk *vk, struct exec_vk_memory *m);

struct exec_vk_buffer {
    VkBuffer buffer;
    struct exec_vk_memory memory;
    VkDeviceSize size;
};

int exec_vk_buffer_create(struct exec_vk *vk, struct exec_vk_buffer *b, VkDeviceSize size,
                          VkBufferUsageFlags usage, enum vk_memory_use use);
void exec_vk_buffer_destroy(struct exec_vk *vk, struct exec_vk_buffer *b);

/* A buffer in pages of this process, which stay the caller's and must outlive it. */
struct exec_vk_pages {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize offset; /* of the buffer in the pages */
};

/* `size` bytes as near to the end of the `span` bytes at `pages` as their alignment permits. Leaves nothing behind when it
 * fails; VK_ERROR_FEATURE_NOT_PRESENT: without caps.host_memory, or the device cannot use these pages. */
VkResult exec_vk_pages_import(struct exec_vk *vk, struct exec_vk_pages *out, void *pages, VkDeviceSize span,
                              VkDeviceSize size, VkBufferUsageFlags usage);
void exec_vk_pages_release(struct exec_vk *vk, struct exec_vk_pages *p);

/* A negative errno for a VkResult. */
int exec_vk_errno(VkResult r);
const char *exec_vk_result_name(VkResult r);
