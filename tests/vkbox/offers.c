/* SPDX-License-Identifier: MIT */
/* offers: what an engine does after a crash, with the extensions that there are for it.
 *
 *   offers hang|plain
 *   offers own DUMPS TIMEOUT_MS
 *
 * Prints which extensions the device has. With `hang`, of eight dispatches, each between a checkpoint and markers, the third does not
 * end: prints the markers, checkpoints and the fault that are read when the device is lost. With `own` none of the extensions is asked for:
 * the program has the black box itself (bb_vk_*), and prints what that says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vulkan/vulkan.h>

#include <aerogpu/blackbox.h>

#include "work_comp.h"

enum { DISPATCHES = 8, BAD = 3, SIZE = 4096 };

static struct {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer cb;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkBuffer markers, results;
    VkDeviceMemory markers_memory, results_memory;
    uint32_t *marker, bound[3], unbound[3]; /* buffers, images, memory */
} v;

static struct bb_vk *own; /* NULL: others watch */

static const char *const names[] = {
    VK_AMD_BUFFER_MARKER_EXTENSION_NAME, VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME,
    VK_EXT_DEVICE_FAULT_EXTENSION_NAME, VK_EXT_DEVICE_ADDRESS_BINDING_REPORT_EXTENSION_NAME};

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        VkResult r_ = (call);                                                                                \
        if (r_ < 0) {                                                                                        \
            printf("%s: %d\n", #call, (int)r_);                                                              \
            exit(6);                                                                                         \
        }                                                                                                    \
    } while (0)
#define PROC(name) PFN_##name name = (PFN_##name)vkGetDeviceProcAddr(v.device, #name)

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data, void *ctx)
{
    const VkDeviceAddressBindingCallbackDataEXT *b = data->pNext;

    const VkObjectType type = data->objectCount == 1 ? data->pObjects[0].objectType : VK_OBJECT_TYPE_UNKNOWN;
    const int of = type == VK_OBJECT_TYPE_BUFFER          ? 0
                   : type == VK_OBJECT_TYPE_IMAGE         ? 1
                   : type == VK_OBJECT_TYPE_DEVICE_MEMORY ? 2
                                                          : -1;

    if (b && b->sType == VK_STRUCTURE_TYPE_DEVICE_ADDRESS_BINDING_CALLBACK_DATA_EXT && b->baseAddress &&
        b->size >= SIZE && of >= 0)
        (b->bindingType == VK_DEVICE_ADDRESS_BINDING_TYPE_BIND_EXT ? v.bound : v.unbound)[of]++;
    return VK_FALSE;
}

static void make_instance(void)
{
    const char *extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &app,
                                 .enabledExtensionCount = 1,
                                 .ppEnabledExtensionNames = &extension};
    VkDebugUtilsMessengerCreateInfoEXT messenger_info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_DEVICE_ADDRESS_BINDING_BIT_EXT,
        .pfnUserCallback = on_message};
    VkDebugUtilsMessengerEXT messenger;
    const char *layer = bb_vk_layer();
    uint32_t n = 1;

    if (own) {
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = &layer;
    }
    CHECK(vkCreateInstance(&info, NULL, &v.instance));
    CHECK(vkEnumeratePhysicalDevices(v.instance, &n, &v.physical));
    CHECK(((PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
        v.instance, "vkCreateDebugUtilsMessengerEXT"))(v.instance, &messenger_info, NULL, &messenger));
}

/* Returns whether all are there. */
static int look_at_extensions(void)
{
    VkPhysicalDeviceAddressBindingReportFeaturesEXT bindings = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ADDRESS_BINDING_REPORT_FEATURES_EXT};
    VkPhysicalDeviceFaultFeaturesEXT fault = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT,
                                              .pNext = &bindings};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &fault};
    static VkExtensionProperties have[512];
    uint32_t n = 0, found = 0, some = 3;

    CHECK(vkEnumerateDeviceExtensionProperties(v.physical, NULL, &n, NULL));
    if (vkEnumerateDeviceExtensionProperties(v.physical, NULL, &some, have) != VK_INCOMPLETE || some != 3)
        puts("three of them are not told as incomplete");
    if (n > 512)
        exit(6);
    CHECK(vkEnumerateDeviceExtensionProperties(v.physical, NULL, &n, have));
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < 4; k++)
            found += !strcmp(have[i].extensionName, names[k]);
    n = 0;
    CHECK(vkEnumerateDeviceExtensionProperties(v.physical, "VK_LAYER_AEROGPU_blackbox", &n, NULL));
    vkGetPhysicalDeviceFeatures2(v.physical, &features);
    printf("%u of 4 extensions, %u by name, features %u %u\n", found, n, fault.deviceFault,
           bindings.reportAddressBinding);
    return found == 4;
}

static VkBuffer make_buffer(VkDeviceMemory *memory)
{
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = SIZE,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                        VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &flags};
    VkMemoryRequirements need;
    VkBuffer b;

    CHECK(vkCreateBuffer(v.device, &info, NULL, &b));
    vkGetBufferMemoryRequirements(v.device, b, &need);
    allocate.allocationSize = need.size;
    CHECK(vkAllocateMemory(v.device, &allocate, NULL, memory));
    CHECK(vkBindBufferMemory(v.device, b, *memory, 0));
    return b;
}

static void make_device(void)
{
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkPhysicalDeviceAddressBindingReportFeaturesEXT bindings = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ADDRESS_BINDING_REPORT_FEATURES_EXT,
        .reportAddressBinding = VK_TRUE};
    VkPhysicalDeviceFaultFeaturesEXT fault = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT,
                                              .pNext = &bindings,
                                              .deviceFault = VK_TRUE};
    VkPhysicalDeviceBufferDeviceAddressFeatures addresses = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
        .pNext = &fault,
        .bufferDeviceAddress = VK_TRUE};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &addresses,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = 4,
                               .ppEnabledExtensionNames = names};
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandBufferAllocateInfo cbs = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                       .commandBufferCount = 1};

    if (own) {
        addresses.pNext = NULL;
        info.enabledExtensionCount = 0;
    }
    CHECK(vkCreateDevice(v.physical, &info, NULL, &v.device));
    if (!fault.deviceFault || !bindings.reportAddressBinding)
        puts("what the program asked for was changed");
    vkGetDeviceQueue(v.device, 0, 0, &v.queue);
    CHECK(vkCreateCommandPool(v.device, &pool, NULL, &v.pool));
    cbs.commandPool = v.pool;
    CHECK(vkAllocateCommandBuffers(v.device, &cbs, &v.cb));
    v.markers = make_buffer(&v.markers_memory);
    v.results = make_buffer(&v.results_memory);
    CHECK(vkMapMemory(v.device, v.markers_memory, 0, SIZE, 0, (void **)&v.marker));
    memset(v.marker, 0, SIZE);
}

static void make_pipeline(void)
{
    VkDescriptorSetLayoutBinding binding = {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                            VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    VkDescriptorSetLayoutCreateInfo set_info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                .bindingCount = 1,
                                                .pBindings = &binding};
    VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 16};
    VkDescriptorSetLayout set_layout;
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &set_layout,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &push};
    VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = sizeof(work_comp),
                                       .pCode = work_comp};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main"}};
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    VkDescriptorPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                            .maxSets = 1,
                                            .poolSizeCount = 1,
                                            .pPoolSizes = &size};
    VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                       .descriptorSetCount = 1,
                                       .pSetLayouts = &set_layout};
    VkDescriptorBufferInfo buffer = {v.results, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = &buffer};

    CHECK(vkCreateDescriptorSetLayout(v.device, &set_info, NULL, &set_layout));
    CHECK(vkCreatePipelineLayout(v.device, &layout, NULL, &v.layout));
    CHECK(vkCreateShaderModule(v.device, &module, NULL, &info.stage.module));
    info.layout = v.layout;
    CHECK(vkCreateComputePipelines(v.device, VK_NULL_HANDLE, 1, &info, NULL, &v.pipeline));
    CHECK(vkCreateDescriptorPool(v.device, &pool_info, NULL, &set.descriptorPool));
    CHECK(vkAllocateDescriptorSets(v.device, &set, &v.set));
    write.dstSet = v.set;
    vkUpdateDescriptorSets(v.device, 1, &write, 0, NULL);
}

/* Word 0: the last dispatch that was reached; word 1: the last that was passed. */
static void record(int hang)
{
    PROC(vkCmdWriteBufferMarkerAMD);
    PROC(vkCmdSetCheckpointNV);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};

    CHECK(vkBeginCommandBuffer(v.cb, &begin));
    vkCmdBindPipeline(v.cb, VK_PIPELINE_BIND_POINT_COMPUTE, v.pipeline);
    vkCmdBindDescriptorSets(v.cb, VK_PIPELINE_BIND_POINT_COMPUTE, v.layout, 0, 1, &v.set, 0, NULL);
    for (uint32_t i = 1; i <= DISPATCHES; i++) {
        uint32_t push[4] = {0, 0, hang && i == BAD ? 0 : 4, 0};

        vkCmdSetCheckpointNV(v.cb, (const void *)(uintptr_t)i);
        vkCmdWriteBufferMarkerAMD(v.cb, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, v.markers, 0, i);
        vkCmdPushConstants(v.cb, v.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(push), push);
        vkCmdDispatch(v.cb, hang && i == BAD ? 65535 : 1, 1, 1);
        vkCmdWriteBufferMarkerAMD(v.cb, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, v.markers, 4, i);
    }
    CHECK(vkEndCommandBuffer(v.cb));
}

static void record_own(void)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    char name[32];

    CHECK(vkBeginCommandBuffer(v.cb, &begin));
    vkCmdBindPipeline(v.cb, VK_PIPELINE_BIND_POINT_COMPUTE, v.pipeline);
    vkCmdBindDescriptorSets(v.cb, VK_PIPELINE_BIND_POINT_COMPUTE, v.layout, 0, 1, &v.set, 0, NULL);
    for (uint32_t i = 1; i <= DISPATCHES; i++) {
        uint32_t push[4] = {0, 0, i == BAD ? 0 : 4, 0};

        snprintf(name, sizeof(name), "step %u", i);
        if (bb_vk_checkpoint(own, v.cb, name))
            puts("no checkpoint");
        vkCmdPushConstants(v.cb, v.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(push), push);
        vkCmdDispatch(v.cb, i == BAD ? 65535 : 1, 1, 1);
    }
    CHECK(vkEndCommandBuffer(v.cb));
}

static void on_dump(void *ctx, const char *path)
{
    printf("dump: %s; collect within it: %d\n", strrchr(path, '.'), bb_vk_collect(own, NULL, 0, NULL));
}

static void on_describe(void *ctx, struct bb_vk_description *d)
{
    bb_vk_describe(d, "scene", "eight steps");
}

/* What an engine asks: before anything was submitted, and after the crash. */
static void look_at_own(VkResult waited)
{
    struct bb_vk_page_fault fault;
    struct bb_error e = {0};
    struct bb_vk *again;

    printf("waited: %d, the device: %s, a page fault: %d\n", (int)waited,
           bb_status_name(bb_vk_status(own, v.device)), bb_vk_page_fault(own, &fault));
    printf("again: %d, attach: %d, of another: %d", bb_vk_start(&again, &(struct bb_vk_params){0}, NULL),
           bb_vk_attach(own, v.device, NULL), bb_vk_attach(own, (VkDevice) & (void *){&again}, &e));
    printf(": %.31s\n", e.text);
}

static int run_own(const char *dumps, uint32_t timeout_ms)
{
    const struct bb_vk_params p = {
        .dumps = dumps, .timeout_ms = timeout_ms, .on_describe = on_describe, .on_dump = on_dump};
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &v.cb};
    struct bb_error e = {0};

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (bb_vk_start(&own, &p, &e)) {
        printf("%s\n", e.text);
        return 3;
    }
    make_instance();
    make_device();
    make_pipeline();
    record_own();
    look_at_own(VK_SUCCESS);
    CHECK(vkQueueSubmit(v.queue, 1, &submit, VK_NULL_HANDLE));
    look_at_own(vkQueueWaitIdle(v.queue));
    bb_vk_stop(own);
    return 0;
}

static void make_and_destroy_image(void)
{
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                              .imageType = VK_IMAGE_TYPE_2D,
                              .format = VK_FORMAT_R8G8B8A8_UNORM,
                              .extent = {64, 64, 1},
                              .mipLevels = 1,
                              .arrayLayers = 1,
                              .samples = VK_SAMPLE_COUNT_1_BIT,
                              .usage = VK_IMAGE_USAGE_SAMPLED_BIT};
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    VkMemoryRequirements need;
    VkDeviceMemory memory;
    VkImage image;

    CHECK(vkCreateImage(v.device, &info, NULL, &image));
    vkGetImageMemoryRequirements(v.device, image, &need);
    allocate.allocationSize = need.size;
    CHECK(vkAllocateMemory(v.device, &allocate, NULL, &memory));
    CHECK(vkBindImageMemory(v.device, image, memory, 0));
    vkDestroyImage(v.device, image, NULL);
    vkFreeMemory(v.device, memory, NULL);
}

static void look_at_crash(void)
{
    PROC(vkGetQueueCheckpointDataNV);
    PROC(vkGetDeviceFaultInfoEXT);
    VkDeviceFaultCountsEXT counts = {.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT};
    VkDeviceFaultInfoEXT fault = {.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_INFO_EXT};
    VkCheckpointDataNV data[4] = {{.sType = VK_STRUCTURE_TYPE_CHECKPOINT_DATA_NV}};
    uint32_t n = 0;

    printf("markers %u %u\n", v.marker[0], v.marker[1]);
    vkGetQueueCheckpointDataNV(v.queue, &n, NULL);
    n = n > 4 ? 4 : n;
    vkGetQueueCheckpointDataNV(v.queue, &n, data);
    for (uint32_t i = 0; i < n; i++)
        printf("checkpoint %s %u\n", data[i].stage == VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT ? "top" : "bottom",
               (unsigned)(uintptr_t)data[i].pCheckpointMarker);
    CHECK(vkGetDeviceFaultInfoEXT(v.device, &counts, NULL));
    CHECK(vkGetDeviceFaultInfoEXT(v.device, &counts, &fault));
    printf("fault: %s (%u addresses)\n", fault.description, counts.addressInfoCount);
}

int main(int argc, char **argv)
{
    const int hang = argc > 1 && !strcmp(argv[1], "hang");
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &v.cb};
    VkResult r;

    alarm(20);
    if (argc > 3 && !strcmp(argv[1], "own"))
        return run_own(argv[2], (uint32_t)atoi(argv[3]));
    make_instance();
    if (!look_at_extensions())
        return 0;
    make_device();
    make_pipeline();
    record(hang);
    CHECK(vkQueueSubmit(v.queue, 1, &submit, VK_NULL_HANDLE));
    r = vkQueueWaitIdle(v.queue);
    printf("waited: %d\n", (int)r);
    look_at_crash();
    vkDestroyBuffer(v.device, v.results, NULL);
    if (!hang)
        make_and_destroy_image();
    printf("addresses: buffers %u %u, images %u %u, memory %u %u\n", v.bound[0], v.unbound[0], v.bound[1],
           v.unbound[1], v.bound[2], v.unbound[2]);
    return 0;
}
