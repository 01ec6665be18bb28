/* SPDX-License-Identifier: MIT */
/* plant_device.c: an instance, a device and what frames are drawn with: two pipelines, an image, a buffer in a set. */
#include "plant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shape_frag.h"
#include "shape_vert.h"
#include "work_comp.h"

struct plant v;

void check(VkResult r, const char *what)
{
    if (r >= 0)
        return;
    fprintf(stderr, "plant: %s: %d\n", what, (int)r);
    exit(r == VK_ERROR_DEVICE_LOST ? 5 : 6);
}

void name(VkObjectType type, uint64_t handle, const char *text)
{
    VkDebugUtilsObjectNameInfoEXT info = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
                                          .objectType = type,
                                          .objectHandle = handle,
                                          .pObjectName = text};

    if (v.set_name)
        v.set_name(v.device, &info);
}

void label(VkCommandBuffer cb, const char *text)
{
    VkDebugUtilsLabelEXT info = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = text};

    if (text && v.begin_label)
        v.begin_label(cb, &info);
    else if (v.end_label)
        v.end_label(cb);
}

void make_instance(void)
{
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &app,
                                 .enabledExtensionCount = 1,
                                 .ppEnabledExtensionNames = extensions};
    uint32_t n = 1;

    CHECK(vkCreateInstance(&info, NULL, &v.instance));
    CHECK(vkEnumeratePhysicalDevices(v.instance, &n, &v.physical));
    v.begin_label =
        (PFN_vkCmdBeginDebugUtilsLabelEXT)vkGetInstanceProcAddr(v.instance, "vkCmdBeginDebugUtilsLabelEXT");
    v.end_label =
        (PFN_vkCmdEndDebugUtilsLabelEXT)vkGetInstanceProcAddr(v.instance, "vkCmdEndDebugUtilsLabelEXT");
    v.set_name =
        (PFN_vkSetDebugUtilsObjectNameEXT)vkGetInstanceProcAddr(v.instance, "vkSetDebugUtilsObjectNameEXT");
}

VkDeviceMemory allocate(VkMemoryRequirements need)
{
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .pNext = &flags,
                                 .allocationSize = need.size,
                                 .memoryTypeIndex = (uint32_t)__builtin_ctz(need.memoryTypeBits)};
    VkDeviceMemory m;

    CHECK(vkAllocateMemory(v.device, &info, NULL, &m));
    return m;
}

VkBuffer make_buffer(VkDeviceMemory *memory, VkDeviceSize size, const char *text)
{
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = size,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                        VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                                        VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    VkMemoryRequirements need;
    VkBuffer b;

    CHECK(vkCreateBuffer(v.device, &info, NULL, &b));
    vkGetBufferMemoryRequirements(v.device, b, &need);
    *memory = allocate(need);
    CHECK(vkBindBufferMemory(v.device, b, *memory, 0));
    name(VK_OBJECT_TYPE_BUFFER, (uint64_t)b, text);
    return b;
}

void make_image(void)
{
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                              .imageType = VK_IMAGE_TYPE_2D,
                              .format = VK_FORMAT_R8G8B8A8_UNORM,
                              .extent = {SIZE, SIZE, 1},
                              .mipLevels = 1,
                              .arrayLayers = 1,
                              .samples = VK_SAMPLE_COUNT_1_BIT,
                              .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    VkAttachmentDescription a = {.format = info.format,
                                 .samples = 1,
                                 .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                 .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                 .finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};
    VkAttachmentReference ref = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription sub = {.colorAttachmentCount = 1, .pColorAttachments = &ref};
    VkRenderPassCreateInfo pass = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                   .attachmentCount = 1,
                                   .pAttachments = &a,
                                   .subpassCount = 1,
                                   .pSubpasses = &sub};
    VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                  .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                  .format = info.format,
                                  .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    VkFramebufferCreateInfo fb = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                  .attachmentCount = 1,
                                  .width = SIZE,
                                  .height = SIZE,
                                  .layers = 1};
    VkMemoryRequirements need;

    CHECK(vkCreateImage(v.device, &info, NULL, &v.image));
    vkGetImageMemoryRequirements(v.device, v.image, &need);
    v.image_memory = allocate(need);
    CHECK(vkBindImageMemory(v.device, v.image, v.image_memory, 0));
    view.image = v.image;
    CHECK(vkCreateImageView(v.device, &view, NULL, &v.view));
    CHECK(vkCreateRenderPass(v.device, &pass, NULL, &v.pass));
    fb.renderPass = v.pass;
    fb.pAttachments = &v.view;
    CHECK(vkCreateFramebuffer(v.device, &fb, NULL, &v.framebuffer));
}

static VkShaderModule module(const uint32_t *code, size_t size)
{
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = code};
    VkShaderModule m;

    CHECK(vkCreateShaderModule(v.device, &info, NULL, &m));
    return m;
}

static void make_layout(void)
{
    VkDescriptorSetLayoutBinding binding = {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_ALL,
                                            NULL};
    VkDescriptorSetLayoutCreateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = 1,
                                           .pBindings = &binding};
    VkPushConstantRange range = {VK_SHADER_STAGE_ALL, 0, sizeof(struct push)};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &v.set_layout,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &range};
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    VkDescriptorSetAllocateInfo allocate_set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                                .descriptorSetCount = 1,
                                                .pSetLayouts = &v.set_layout};
    VkDescriptorBufferInfo buffer = {v.buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = &buffer};

    CHECK(vkCreateDescriptorSetLayout(v.device, &set, NULL, &v.set_layout));
    CHECK(vkCreatePipelineLayout(v.device, &layout, NULL, &v.layout));
    CHECK(vkCreateDescriptorPool(v.device, &pool, NULL, &v.set_pool));
    allocate_set.descriptorPool = v.set_pool;
    CHECK(vkAllocateDescriptorSets(v.device, &allocate_set, &v.set));
    write.dstSet = v.set;
    vkUpdateDescriptorSets(v.device, 1, &write, 0, NULL);
}

static void make_pipelines(void)
{
    void *mapped;
    VkPipelineShaderStageCreateInfo stages[2] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = module(shape_vert, sizeof(shape_vert)),
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = module(shape_frag, sizeof(shape_frag)),
         .pName = "main"}};
    VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    VkViewport viewport = {0, 0, SIZE, SIZE, 0, 1};
    VkRect2D scissor = {{0, 0}, {SIZE, SIZE}};
    VkPipelineViewportStateCreateInfo view = {.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
                                              .viewportCount = 1,
                                              .pViewports = &viewport,
                                              .scissorCount = 1,
                                              .pScissors = &scissor};
    VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO, .rasterizationSamples = 1};
    VkPipelineColorBlendAttachmentState mask = {.colorWriteMask = 15};
    VkPipelineColorBlendStateCreateInfo blend = {.sType =
                                                     VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
                                                 .attachmentCount = 1,
                                                 .pAttachments = &mask};
    VkGraphicsPipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                         .stageCount = 2,
                                         .pStages = stages,
                                         .pVertexInputState = &input,
                                         .pInputAssemblyState = &assembly,
                                         .pViewportState = &view,
                                         .pRasterizationState = &raster,
                                         .pMultisampleState = &samples,
                                         .pColorBlendState = &blend,
                                         .layout = v.layout,
                                         .renderPass = v.pass};
    VkComputePipelineCreateInfo compute = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .stage = stages[0], .layout = v.layout};

    CHECK(vkCreateGraphicsPipelines(v.device, VK_NULL_HANDLE, 1, &info, NULL, &v.graphics));
    name(VK_OBJECT_TYPE_PIPELINE, (uint64_t)v.graphics, "shapes");
    compute.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    compute.stage.module = module(work_comp, sizeof(work_comp));
    CHECK(vkCreateComputePipelines(v.device, VK_NULL_HANDLE, 1, &compute, NULL, &v.compute));
    name(VK_OBJECT_TYPE_PIPELINE, (uint64_t)v.compute,
         is("escape")  ? "\033]0;title\007simulate"
         : is("names") ? "\u202Eetalumis the particles of this frame: \u00E9\u00E9\u00E9\u00E9\u00E9\u00E9"
                       : "simulate");
    if (is("names")) { /* what is the program's own affair */
        CHECK(vkMapMemory(v.device, v.memory, 0, VK_WHOLE_SIZE, 0, &mapped));
        memcpy(mapped, "RESOURCE-BYTES", 14);
        vkUnmapMemory(v.device, v.memory);
    }
    vkDestroyShaderModule(v.device, stages[0].module, NULL);
    vkDestroyShaderModule(v.device, stages[1].module, NULL);
    vkDestroyShaderModule(v.device, compute.stage.module, NULL);
}

void make_device(void)
{
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkPhysicalDeviceBufferDeviceAddressFeatures addresses = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
        .bufferDeviceAddress = VK_TRUE};
    VkPhysicalDeviceFeatures features = {.fragmentStoresAndAtomics = VK_TRUE,
                                         .vertexPipelineStoresAndAtomics = VK_TRUE};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &addresses,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .pEnabledFeatures = &features};
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    VkCommandBufferAllocateInfo cbs = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                       .commandBufferCount = 2};
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};

    CHECK(vkCreateDevice(v.physical, &info, NULL, &v.device));
    vkGetDeviceQueue(v.device, 0, 0, &v.queue);
    CHECK(vkCreateCommandPool(v.device, &pool, NULL, &v.pool));
    cbs.commandPool = v.pool;
    CHECK(vkAllocateCommandBuffers(v.device, &cbs, v.cb));
    CHECK(vkCreateFence(v.device, &fence, NULL, &v.fence));
    make_image();
    v.buffer = make_buffer(&v.memory, BUFFER, "results");
    make_layout();
    make_pipelines();
}

void destroy_device(void)
{
    vkDestroyPipeline(v.device, v.graphics, NULL);
    vkDestroyPipeline(v.device, v.compute, NULL);
    vkDestroyPipelineLayout(v.device, v.layout, NULL);
    vkDestroyDescriptorPool(v.device, v.set_pool, NULL);
    vkDestroyDescriptorSetLayout(v.device, v.set_layout, NULL);
    vkDestroyBuffer(v.device, v.buffer, NULL);
    vkFreeMemory(v.device, v.memory, NULL);
    vkDestroyFramebuffer(v.device, v.framebuffer, NULL);
    vkDestroyRenderPass(v.device, v.pass, NULL);
    vkDestroyImageView(v.device, v.view, NULL);
    vkDestroyImage(v.device, v.image, NULL);
    vkFreeMemory(v.device, v.image_memory, NULL);
    vkDestroyFence(v.device, v.fence, NULL);
    vkDestroyCommandPool(v.device, v.pool, NULL);
    vkDestroyDevice(v.device, NULL);
}
