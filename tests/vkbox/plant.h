/* SPDX-License-Identifier: MIT */
/* plant.h: what plant.c does wrong, and plant_device.c makes for it: one device with what a frame needs. */
#pragma once

#include <stdint.h>

#include <vulkan/vulkan.h>

enum { SIZE = 1024, BUFFER = 4 << 20, SMALL = 320, BAD_FRAME = 2, WANTED = 32, TAKEN = 36, WAITS = 300 };

struct plant_options {
    const char *kind;
    uint32_t frames, draws, at;
    uint32_t groups; /* of the slow dispatch */
    int recover, reports;
    uint32_t again;       /* so many instances and devices come and go before */
    uint32_t secondaries; /* what draws is in so many secondary command buffers; 0: in none */
};

struct plant {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer cb[2];
    VkFence fence;
    VkRenderPass pass;
    VkImage image;
    VkImageView view;
    VkDeviceMemory image_memory, memory;
    VkFramebuffer framebuffer;
    VkBuffer buffer;
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool set_pool;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline graphics, compute;
    PFN_vkCmdBeginDebugUtilsLabelEXT begin_label;
    PFN_vkCmdEndDebugUtilsLabelEXT end_label;
    PFN_vkSetDebugUtilsObjectNameEXT set_name;
};

struct push {
    uint64_t address;
    uint32_t limit, stage;
};

extern struct plant_options opt;
extern struct plant v;

/* Whether that is what is done wrong. */
int is(const char *kind);

/* Ends the program where a call failed. */
void check(VkResult r, const char *what);
#define CHECK(call) check((call), #call)

void name(VkObjectType type, uint64_t handle, const char *text);
void label(VkCommandBuffer cb, const char *text);
void make_instance(void);
VkDeviceMemory allocate(VkMemoryRequirements need);
VkBuffer make_buffer(VkDeviceMemory *memory, VkDeviceSize size, const char *text);
void make_image(void);
void make_device(void);
void destroy_device(void);
