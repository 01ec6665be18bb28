/* SPDX-License-Identifier: MIT */
/* plant: a program that uses Vulkan, draws some frames into an image, and does one thing wrong.
 *
 *   plant [--frames N] [--draws N] [--at N] [--groups N] [--recover] KIND
 *
 * KIND: fine, loop-compute, loop-vertex, loop-fragment, fault, far (an address that is not canonical), code (one of the program's code), freed, freed-image, dead-wait, slow, abort, wild, stale (a call with a handle that is none),
 * handled (a fault that its handler mends), fault-handled, fault-late, fault-chained (a handler that is installed between two frames: it ends the
 * process, or calls what it found), crowd (20,000 command buffers), sleep, event (a wait for one that nobody sets), twice (a command buffer that
 * loops, submitted three times), two (a second device waits behind one that loops), many (5,000 submissions behind one that
 * loops), escape (names that a terminal obeys), names (that are cut, and turn text around), fork (a child that crashes), copy-freed (a copy from a buffer that is gone), destroy (the device,
 * while it works), over, over-vertex, copy-over (a shader writes, the device copies, behind the end of a buffer of 320 bytes), small-freed, late-set (a set names
 * a buffer that is gone), host-over, host-freed (the processor writes behind the end of a buffer's mapping, or to one that is gone), loop-set (a set names a buffer that is gone, and it loops), race (a hang, if the host writes too late: after --at 250ths of the time that
 * some work took). In the third frame
 * number --at of its draws (or dispatches, of which each frame has as many) is the one. With --recover a device that is lost
 * is made again, and the frames go on. One that is to sleep prints its number. A process that the driver keeps
 * for more than 20 s ends by an alarm.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <vulkan/vulkan.h>

#include "shape_frag.h"
#include "shape_vert.h"
#include "work_comp.h"

enum { SIZE = 1024, BUFFER = 4 << 20, SMALL = 320, BAD_FRAME = 2, WANTED = 32, TAKEN = 36 };

static struct {
    const char *kind;
    uint32_t frames, draws, at;
    uint32_t groups; /* of the slow dispatch */
    int recover;
    uint32_t again; /* so many instances and devices come and go before */
} opt = {"fine", 5, 8, 3, 1000, 0, 0};

static struct {
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
} v;

struct push {
    uint64_t address;
    uint32_t limit, stage;
};

static int is(const char *kind)
{
    return !strcmp(opt.kind, kind);
}

/* The dispatch does not end. */
static int loops(void)
{
    return is("loop-compute") || is("twice") || is("two") || is("many") || is("escape") || is("names") ||
           is("loop-set") || is("recorded-anew") || is("freed-buffer");
}

static void check(VkResult r, const char *what)
{
    if (r >= 0)
        return;
    fprintf(stderr, "plant: %s: %d\n", what, (int)r);
    exit(r == VK_ERROR_DEVICE_LOST ? 5 : 6);
}

#define CHECK(call) check((call), #call)

static void name(VkObjectType type, uint64_t handle, const char *text)
{
    VkDebugUtilsObjectNameInfoEXT info = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
                                          .objectType = type,
                                          .objectHandle = handle,
                                          .pObjectName = text};

    if (v.set_name)
        v.set_name(v.device, &info);
}

static void label(VkCommandBuffer cb, const char *text)
{
    VkDebugUtilsLabelEXT info = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = text};

    if (text && v.begin_label)
        v.begin_label(cb, &info);
    else if (v.end_label)
        v.end_label(cb);
}

static void make_instance(void)
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

static VkDeviceMemory allocate(VkMemoryRequirements need)
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

static VkBuffer make_buffer(VkDeviceMemory *memory, VkDeviceSize size, const char *text)
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

static void make_image(void)
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

static void make_device(void)
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

static void destroy_device(void)
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

/* ---- frames -------------------------------------------------------------- */

/* Of an image's memory, which is freed then. */
static uint64_t image_address(void)
{
    VkImage image = v.image;
    VkDeviceMemory memory = v.image_memory;
    void *mapped;

    make_image();
    CHECK(vkMapMemory(v.device, v.image_memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    vkUnmapMemory(v.device, v.image_memory);
    vkDestroyImage(v.device, v.image, NULL);
    vkFreeMemory(v.device, v.image_memory, NULL);
    v.image = image;
    v.image_memory = memory;
    return (uint64_t)(uintptr_t)mapped + 64;
}

static uint64_t bad_address(void)
{
    VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
    VkDeviceMemory memory;
    uint64_t address;

    if (is("fault") || is("fault-handled") || is("fault-late") || is("fault-chained"))
        return UINT64_C(0x123456789000);
    if (is("far"))
        return UINT64_C(0x900000001000);
    if (is("code"))
        return (uint64_t)(uintptr_t)name;
    if (is("freed-image"))
        return image_address();
    info.buffer = make_buffer(&memory, is("freed") ? BUFFER : SMALL, "particles");
    address = vkGetBufferDeviceAddress(v.device, &info);
    if (is("over") || is("over-vertex"))
        return address + SMALL;
    vkDestroyBuffer(v.device, info.buffer, NULL);
    vkFreeMemory(v.device, memory, NULL);
    return address;
}

static void write_wildly(void)
{
    volatile char *at;
    VkDeviceMemory memory;
    VkBuffer b = make_buffer(&memory, BUFFER, "particles");

    CHECK(vkMapMemory(v.device, memory, 0, VK_WHOLE_SIZE, 0, (void **)(uintptr_t)&at));
    if (is("host-freed")) {
        vkDestroyBuffer(v.device, b, NULL);
        vkFreeMemory(v.device, memory, NULL);
    }
    at[is("host-freed") ? 4 : BUFFER] = 1;
}

static void set_push(VkCommandBuffer cb, int bad, int graphics)
{
    struct push p = {0, 4, 0};

    if (bad && !graphics && (loops() || is("slow")))
        p.limit = 0;
    if (bad && !graphics &&
        (is("fault") || is("far") || is("code") || is("freed-image") || is("fault-handled") ||
         is("fault-late") || is("fault-chained") || is("freed") || is("small-freed") || is("over")))
        p.address = bad_address();
    if (bad && graphics && is("over-vertex")) {
        p.address = bad_address();
        p.stage = 1;
    }
    if (bad && graphics && (is("loop-vertex") || is("loop-fragment"))) {
        p.limit = 0;
        p.stage = is("loop-vertex") ? 1 : 2;
    }
    vkCmdPushConstants(cb, v.layout, VK_SHADER_STAGE_ALL, 0, sizeof(p), &p);
}

/* llvmpipe ends each invocation after 65 535 rounds: what does not end is many of them. */
static uint32_t groups(int bad)
{
    return bad && loops() ? 65535 : bad && is("slow") ? opt.groups : 4;
}

/* Behind the end, if it is not gone. */
static void copy_over(VkCommandBuffer cb)
{
    VkBufferCopy region = {0, 0, SMALL + 64};
    VkDeviceMemory memory;

    vkCmdCopyBuffer(cb, make_buffer(&memory, SMALL, "particles"), v.buffer, 1, &region);
}

/* The dispatch's set names a buffer that is gone. */
static void bind_late(VkCommandBuffer cb)
{
    VkDescriptorBufferInfo buffer = {VK_NULL_HANDLE, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = &buffer};
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    VkDescriptorPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                            .maxSets = 1,
                                            .poolSizeCount = 1,
                                            .pPoolSizes = &size};
    VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                       .descriptorSetCount = 1,
                                       .pSetLayouts = &v.set_layout};
    VkDescriptorPool pool;
    VkDeviceMemory memory;

    buffer.buffer = make_buffer(&memory, SMALL, "particles");
    CHECK(vkCreateDescriptorPool(v.device, &pool_info, NULL, &pool));
    set.descriptorPool = pool;
    CHECK(vkAllocateDescriptorSets(v.device, &set, &write.dstSet));
    vkUpdateDescriptorSets(v.device, 1, &write, 0, NULL);
    vkCmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_COMPUTE, v.layout, 0, 1, &write.dstSet, 0, NULL);
    vkDestroyBuffer(v.device, buffer.buffer, NULL);
    vkFreeMemory(v.device, memory, NULL);
}

static void copy_freed(VkCommandBuffer cb)
{
    VkBufferCopy region = {0, 0, BUFFER};
    VkDeviceMemory memory;
    VkBuffer from = make_buffer(&memory, BUFFER, "particles");
    void *mapped;

    CHECK(vkMapMemory(v.device, memory, 0, VK_WHOLE_SIZE, 0, &mapped)); /* its address becomes known */
    vkCmdCopyBuffer(cb, from, v.buffer, 1, &region);
    vkFreeMemory(v.device, memory, NULL);
}

static void wait_for_event(VkCommandBuffer cb)
{
    VkEventCreateInfo info = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    VkEvent event;

    CHECK(vkCreateEvent(v.device, &info, NULL, &event));
    vkCmdWaitEvents(cb, 1, &event, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, NULL, 0,
                    NULL, 0, NULL);
}

static void record(VkCommandBuffer cb, int bad)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags =
                                          is("twice") ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0};
    VkClearValue clear = {0};
    VkRenderPassBeginInfo pass = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                  .renderPass = v.pass,
                                  .framebuffer = v.framebuffer,
                                  .renderArea = {{0, 0}, {SIZE, SIZE}},
                                  .clearValueCount = 1,
                                  .pClearValues = &clear};

    CHECK(vkBeginCommandBuffer(cb, &begin));
    label(cb, is("names") ? "a label of which the fifty-ninth character of all is this: \u20AC" : "frame");
    label(cb, "simulation");
    vkCmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_COMPUTE, v.compute);
    vkCmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_COMPUTE, v.layout, 0, 1, &v.set, 0, NULL);
    for (uint32_t i = 1; i <= opt.draws; i++) {
        set_push(cb, bad && i == opt.at, 0);
        if (bad && i == opt.at && is("copy-freed"))
            copy_freed(cb);
        if (bad && i == opt.at && is("copy-over"))
            copy_over(cb);
        if (bad && i == opt.at && (is("late-set") || is("loop-set")))
            bind_late(cb);
        if (bad && i == opt.at && is("event"))
            wait_for_event(cb);
        vkCmdDispatch(cb, groups(bad && i == opt.at), 1, 1);
    }
    label(cb, NULL);
    label(cb, "shapes");
    vkCmdBeginRenderPass(cb, &pass, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_GRAPHICS, v.graphics);
    vkCmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_GRAPHICS, v.layout, 0, 1, &v.set, 0, NULL);
    for (uint32_t i = 1; i <= opt.draws; i++) {
        set_push(cb, bad && i == opt.at, 1);
        vkCmdDraw(cb, bad && i == opt.at && is("loop-vertex") ? 30000000 : 3, 1, 0, 0);
    }
    vkCmdEndRenderPass(cb);
    label(cb, NULL);
    label(cb, NULL);
    CHECK(vkEndCommandBuffer(cb));
}

/* The first device is left at work; what follows is the second's. */
static void submit_on_another_device(VkSubmitInfo *submit)
{
    CHECK(vkQueueSubmit(v.queue, 1, submit, VK_NULL_HANDLE));
    make_device();
    record(v.cb[0], 0);
    submit->pCommandBuffers = v.cb;
}

static void submit_behind(const VkSubmitInfo *first)
{
    enum { MANY = 5000 };
    static VkCommandBuffer cbs[MANY];
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = v.pool,
                                        .commandBufferCount = MANY};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1};

    CHECK(vkQueueSubmit(v.queue, 1, first, VK_NULL_HANDLE));
    CHECK(vkAllocateCommandBuffers(v.device, &info, cbs));
    for (int i = 0; i < MANY; i++) {
        CHECK(vkBeginCommandBuffer(cbs[i], &begin));
        vkCmdBindPipeline(cbs[i], VK_PIPELINE_BIND_POINT_COMPUTE, v.compute);
        vkCmdBindDescriptorSets(cbs[i], VK_PIPELINE_BIND_POINT_COMPUTE, v.layout, 0, 1, &v.set, 0, NULL);
        set_push(cbs[i], 0, 0);
        vkCmdDispatch(cbs[i], 1, 1, 1);
        CHECK(vkEndCommandBuffer(cbs[i]));
        submit.pCommandBuffers = &cbs[i];
        CHECK(vkQueueSubmit(v.queue, 1, &submit, VK_NULL_HANDLE));
    }
    record(v.cb[1], 0);
}

/* Whether the device hangs depends on when the host writes: some work, then a look at how many groups the host wants: by then one, or still so
 * many that it does not end. The host writes after --at 250ths of the time that the work took. */
static double seconds(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void record_race(VkCommandBuffer cb, int waits)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                           .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                           .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    VkBufferCopy look = {WANTED * 4, TAKEN * 4, 12};
    struct push p = {.limit = 20000};

    CHECK(vkBeginCommandBuffer(cb, &begin));
    vkCmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_COMPUTE, v.compute);
    vkCmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_COMPUTE, v.layout, 0, 1, &v.set, 0, NULL);
    for (int i = 0; i < 8; i++) {
        vkCmdPushConstants(cb, v.layout, VK_SHADER_STAGE_ALL, 0, sizeof(p), &p);
        vkCmdDispatch(cb, 50, 1, 1);
    }
    for (int i = 0; i < 2; i++) {
        vkCmdPipelineBarrier(cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1,
                             &all, 0, NULL, 0, NULL);
        if (!i)
            vkCmdCopyBuffer(cb, v.buffer, v.buffer, 1, &look);
    }
    p = (struct push){0};
    vkCmdPushConstants(cb, v.layout, VK_SHADER_STAGE_ALL, 0, sizeof(p), &p);
    if (waits)
        vkCmdDispatchIndirect(cb, v.buffer, TAKEN * 4);
    CHECK(vkEndCommandBuffer(cb));
}

/* Exit code 7: it hangs. */
static int race(void)
{
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = v.cb};
    double start, work = 1e9;
    volatile uint32_t *words;

    CHECK(vkMapMemory(v.device, v.memory, 0, VK_WHOLE_SIZE, 0, (void **)&words));
    for (int i = 0; i < 6; i++) {
        record_race(v.cb[0], i == 5);
        words[WANTED] = 65535;
        words[WANTED + 1] = words[WANTED + 2] = 1;
        start = seconds();
        CHECK(vkQueueSubmit(v.queue, 1, &submit, v.fence));
        while (i == 5 && seconds() < start + work * (opt.at / 250.0))
            continue;
        words[WANTED] = 1;
        if (vkWaitForFences(v.device, 1, &v.fence, VK_TRUE, 2000000000) == VK_TIMEOUT)
            _exit(7);
        work = seconds() - start < work ? seconds() - start : work;
        CHECK(vkResetFences(v.device, 1, &v.fence));
    }
    return 0;
}

static VkResult frame(uint32_t n, int bad)
{
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &v.cb[n % 2]};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    VkResult r;

    record(v.cb[n % 2], bad);
    if (bad && is("dead-wait")) {
        CHECK(vkCreateSemaphore(v.device, &info, NULL, &semaphore));
        name(VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)semaphore, "never");
        submit.waitSemaphoreCount = 1;
        submit.pWaitSemaphores = &semaphore;
        submit.pWaitDstStageMask = &stage;
    }
    for (int i = 0; bad && is("twice") && i < 2; i++)
        CHECK(vkQueueSubmit(v.queue, 1, &submit, VK_NULL_HANDLE));
    if (bad && is("two"))
        submit_on_another_device(&submit);
    if (bad && is("many")) {
        submit_behind(&submit);
        submit.pCommandBuffers = &v.cb[1];
    }
    r = vkQueueSubmit(v.queue, 1, &submit, v.fence);
    if (bad && (is("recorded-anew") || is("freed-buffer"))) {
        usleep(200000); /* the device is at it */
        if (is("freed-buffer"))
            vkFreeCommandBuffers(v.device, v.pool, 1, &v.cb[n % 2]);
        else
            CHECK(vkBeginCommandBuffer(
                v.cb[n % 2],
                &(VkCommandBufferBeginInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO}));
    }
    if (r == VK_SUCCESS)
        r = vkWaitForFences(v.device, 1, &v.fence, VK_TRUE, UINT64_MAX);
    if (r == VK_SUCCESS)
        r = vkResetFences(v.device, 1, &v.fence);
    return r;
}

/* A fault of the program's own, which its handler mends. */
static sigjmp_buf mended;

static void on_fault(int sig)
{
    if (is("fault-handled") || is("fault-late"))
        _exit(42);
    siglongjmp(mended, 1);
}

static struct sigaction found;

static void on_chained(int sig, siginfo_t *info, void *context)
{
    dprintf(1, "chained\n");
    found.sa_sigaction(sig, info, context);
}

static void install_late(void)
{
    struct sigaction mine = {.sa_sigaction = on_chained, .sa_flags = SA_SIGINFO};

    if (is("fault-late"))
        signal(SIGSEGV, on_fault);
    else
        sigaction(SIGSEGV, &mine, &found);
    for (int i = 0; i < 5; i++)
        CHECK(vkQueueSubmit(v.queue, 0, NULL, VK_NULL_HANDLE));
    for (int i = 0; i < 5; i++)
        CHECK(vkQueueSubmit(v.queue, 1, &(VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO},
                            VK_NULL_HANDLE));
}

static void make_crowd(void)
{
    enum { CROWD = 20000 };
    static VkCommandBuffer cbs[CROWD];
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = v.pool,
                                        .commandBufferCount = CROWD};

    CHECK(vkAllocateCommandBuffers(v.device, &info, cbs));
    v.cb[BAD_FRAME % 2] = cbs[CROWD - 1];
}

static void raise_fault(void)
{
    if (!sigsetjmp(mended, 1))
        *(volatile int *)(uintptr_t)opt.at = 1;
}

static void crash_in_a_child(void)
{
    pid_t pid = fork();
    int status = 0;

    if (!pid)
        *(volatile int *)(uintptr_t)opt.at = 1;
    waitpid(pid, &status, 0);
    printf("the child got signal %d\n", WTERMSIG(status));
}

/* A sum over the image that the last frame left. */
static uint32_t picture(void)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                .imageExtent = {SIZE, SIZE, 1}};
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = v.cb};
    VkDeviceMemory memory;
    VkBuffer buffer = make_buffer(&memory, BUFFER, "picture");
    uint32_t sum = 0, *pixels;

    CHECK(vkBeginCommandBuffer(v.cb[0], &begin));
    vkCmdCopyImageToBuffer(v.cb[0], v.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer, 1, &region);
    CHECK(vkEndCommandBuffer(v.cb[0]));
    CHECK(vkQueueSubmit(v.queue, 1, &submit, VK_NULL_HANDLE));
    CHECK(vkQueueWaitIdle(v.queue));
    CHECK(vkMapMemory(v.device, memory, 0, VK_WHOLE_SIZE, 0, (void **)&pixels));
    for (uint32_t i = 0; i < SIZE * SIZE; i++)
        sum = sum * 31 + pixels[i];
    vkDestroyBuffer(v.device, buffer, NULL);
    vkFreeMemory(v.device, memory, NULL);
    return sum;
}

static void take_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--recover"))
            opt.recover = 1;
        else if (!strcmp(argv[i], "--frames") && i + 1 < argc)
            opt.frames = (uint32_t)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--draws") && i + 1 < argc)
            opt.draws = (uint32_t)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--at") && i + 1 < argc)
            opt.at = (uint32_t)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--groups") && i + 1 < argc)
            opt.groups = (uint32_t)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--again") && i + 1 < argc)
            opt.again = (uint32_t)atoi(argv[++i]);
        else
            opt.kind = argv[i];
    }
}

int main(int argc, char **argv)
{
    take_options(argc, argv);
    if (is("handled") || is("fault-handled"))
        signal(SIGSEGV, on_fault);
    alarm(is("event") ? 5 : 20);
    for (uint32_t n = 0; n < opt.again; n++) {
        make_instance();
        make_device();
        destroy_device();
        vkDestroyInstance(v.instance, NULL);
    }
    make_instance();
    make_device();
    if (is("race"))
        return race();
    if (is("crowd"))
        make_crowd();
    for (uint32_t n = 0; n < opt.frames; n++) {
        VkResult r;

        if (n == 1 && (is("fault-late") || is("fault-chained")))
            install_late();
        r = frame(n, n == BAD_FRAME);

        if (is("count"))
            dprintf(1, "%u\n", n + 1);

        if (r == VK_ERROR_DEVICE_LOST && opt.recover) {
            puts("the device was lost");
            destroy_device();
            make_device();
        } else {
            CHECK(r);
        }
        if (n == BAD_FRAME && is("abort"))
            abort();
        if (n == BAD_FRAME && is("handled"))
            raise_fault();
        if (n == BAD_FRAME && is("stale"))
            vkResetCommandPool(v.device, (VkCommandPool)0x1000, 0);
        if (n == BAD_FRAME && is("destroy")) {
            opt.groups = 20;
            opt.kind = "slow";
            record(v.cb[0], 1);
            CHECK(vkQueueSubmit(v.queue, 1,
                                &(VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                                .commandBufferCount = 1,
                                                .pCommandBuffers = v.cb},
                                VK_NULL_HANDLE));
            vkDestroyDevice(v.device, NULL);
            puts("destroyed");
            return 0;
        }
        if (n == BAD_FRAME && is("fork"))
            crash_in_a_child();
        if (n == BAD_FRAME && (is("host-over") || is("host-freed")))
            write_wildly();
        if (n == BAD_FRAME && is("wild"))
            *(volatile int *)(uintptr_t)opt.at = 1;
        if (n == BAD_FRAME && is("sleep")) {
            printf("%d\n", (int)getpid());
            fflush(stdout);
            pause();
        }
    }
    CHECK(vkDeviceWaitIdle(v.device));
    printf("%u frames, picture %08x\n", opt.frames, picture());
    destroy_device();
    vkDestroyInstance(v.instance, NULL);
    return 0;
}
