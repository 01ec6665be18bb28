/* SPDX-License-Identifier: MIT */
/* vulkan.c: a Vulkan program that has the black box itself: what `bb_vk` is there for is marked with it.
 *     cc vulkan.c $(pkg-config --cflags --libs libaerogpu-blackbox vulkan) && ./a.out [crash]
 * `crash` frees a buffer that the device is about to read. On a driver that is a processor that is a SIGSEGV; on a GPU the device is lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vulkan.h>

#include <aerogpu/blackbox.h>

enum { SIZE = 1 << 20 };

static struct bb_vk *bb_vk;
static VkDevice device;

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        if ((call) < 0) {                                                                                    \
            fprintf(stderr, "%s failed; the device: %s\n", #call,                                            \
                    bb_status_name(bb_vk_status(bb_vk, device)));                                            \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* A crash, and its dump is about to be made: what of the program's state would help? */
static void on_describe(void *ctx, struct bb_vk_description *d)
{
    bb_vk_describe(d, "level", "the harbour, at night");
}

static void on_dump(void *ctx, const char *path)
{
    struct bb_vk_page_fault fault;

    printf("the dump is %s\n", path);
    if (!bb_vk_page_fault(bb_vk, &fault))
        printf("a page fault at 0x%llx: %s %s\n", (unsigned long long)fault.address, fault.kind,
               fault.resource);
    fflush(stdout); /* the process may be about to end */
}

static VkBuffer make_buffer(VkDeviceMemory *memory)
{
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = SIZE,
                               .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    VkMemoryRequirements need;
    VkBuffer buffer;

    CHECK(vkCreateBuffer(device, &info, NULL, &buffer));
    vkGetBufferMemoryRequirements(device, buffer, &need);
    allocate.allocationSize = need.size;
    while (!(need.memoryTypeBits >> allocate.memoryTypeIndex & 1))
        allocate.memoryTypeIndex++;
    CHECK(vkAllocateMemory(device, &allocate, NULL, memory));
    CHECK(vkBindBufferMemory(device, buffer, *memory, 0));
    return buffer;
}

int main(int argc, char **argv)
{
    const int crash = argc > 1 && !strcmp(argv[1], "crash");
    struct bb_vk_params params = {
        .on_describe = on_describe, .on_dump = on_dump, .timeout_ms = 2000, .guard = true};
    const char *layers[] = {bb_vk_layer()}; /* bb_vk: among the instance's layers */
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
    VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                          .pApplicationInfo = &app,
                                          .enabledLayerCount = 1,
                                          .ppEnabledLayerNames = layers};
    VkDeviceQueueCreateInfo queue_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueCount = 1,
                                          .pQueuePriorities = &(float){1}};
    VkDeviceCreateInfo device_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                      .queueCreateInfoCount = 1,
                                      .pQueueCreateInfos = &queue_info};
    VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandBufferCount = 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands;
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    VkDeviceMemory source_memory, target_memory;
    struct bb_error error = {0};
    VkPhysicalDevice physical;
    VkBuffer source, target;
    VkInstance instance;
    char path[4096];
    uint32_t n = 1;
    VkQueue queue;

    if (bb_vk_start(&bb_vk, &params, &error)) { /* bb_vk: before the instance */
        fprintf(stderr, "no black box: %s\n", error.text);
        return 2;
    }
    CHECK(vkCreateInstance(&instance_info, NULL, &instance));
    CHECK(vkEnumeratePhysicalDevices(instance, &n, &physical));
    CHECK(vkCreateDevice(physical, &device_info, NULL, &device));
    if (bb_vk_attach(bb_vk, device, &error)) /* bb_vk: is the device seen? */
        fprintf(stderr, "%s\n", error.text);
    vkGetDeviceQueue(device, 0, 0, &queue);
    CHECK(vkCreateCommandPool(device, &pool_info, NULL, &allocate.commandPool));
    CHECK(vkAllocateCommandBuffers(device, &allocate, &commands));
    source = make_buffer(&source_memory);
    target = make_buffer(&target_memory);
    CHECK(vkBeginCommandBuffer(commands, &begin));
    bb_vk_checkpoint(bb_vk, commands, "clear the target"); /* bb_vk: a crash lies between two of them */
    vkCmdFillBuffer(commands, target, 0, SIZE, 0);
    bb_vk_checkpoint(bb_vk, commands, "copy the source");
    vkCmdCopyBuffer(commands, source, target, 1, &(VkBufferCopy){.size = SIZE});
    bb_vk_checkpoint(bb_vk, commands, "done");
    CHECK(vkEndCommandBuffer(commands));
    if (crash) {
        vkDestroyBuffer(device, source, NULL);
        vkFreeMemory(device, source_memory, NULL);
    }
    CHECK(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
    CHECK(vkQueueWaitIdle(queue));
    printf("the device: %s\n", bb_status_name(bb_vk_status(bb_vk, device)));
    if (bb_vk_collect(bb_vk, path, sizeof(path), &error)) /* bb_vk: a dump of what is well */
        fprintf(stderr, "%s\n", error.text);
    bb_vk_stop(bb_vk);
    return 0;
}
