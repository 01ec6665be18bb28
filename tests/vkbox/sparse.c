/* SPDX-License-Identifier: MIT */
/* sparse: a buffer whose memory comes by vkQueueBindSparse, is filled when that has happened, and read.
 *
 *   sparse fine|wait
 *
 * wait: the binding waits for a semaphore that nobody signals, and the fill waits for the binding. Prints "no sparse buffers" and exits with 77 where the device has none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vulkan/vulkan.h>

enum { WORD = 0x5a5a5a5a };

static VkPhysicalDevice physical;
static VkDevice device;

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        VkResult r_ = (call);                                                                                \
        if (r_ < 0) {                                                                                        \
            printf("%s: %d\n", #call, (int)r_);                                                              \
            exit(r_ == VK_ERROR_DEVICE_LOST ? 5 : 6);                                                        \
        }                                                                                                    \
    } while (0)

static void make_device(void)
{
    VkPhysicalDeviceVulkan12Features want = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                             .bufferDeviceAddress = VK_TRUE,
                                             .descriptorIndexing = VK_TRUE,
                                             .runtimeDescriptorArray = VK_TRUE};
    VkPhysicalDeviceFeatures have, sparse = {.sparseBinding = VK_TRUE};
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueCount = 1,
                                     .pQueuePriorities = &(float){1}};
    VkDeviceCreateInfo d = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                            .pNext = &want,
                            .queueCreateInfoCount = 1,
                            .pQueueCreateInfos = &queue,
                            .pEnabledFeatures = &sparse};
    VkInstance instance;
    uint32_t n = 1;

    CHECK(vkCreateInstance(&info, NULL, &instance));
    CHECK(vkEnumeratePhysicalDevices(instance, &n, &physical));
    vkGetPhysicalDeviceFeatures(physical, &have);
    if (!have.sparseBinding || vkCreateDevice(physical, &d, NULL, &device)) {
        puts("no sparse buffers");
        exit(77);
    }
}

static VkBuffer make_buffer(VkBufferCreateFlags flags, VkMemoryRequirements *need)
{
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .flags = flags,
                               .size = 1 << 20,
                               .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                        VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    VkBuffer buffer;

    CHECK(vkCreateBuffer(device, &info, NULL, &buffer));
    vkGetBufferMemoryRequirements(device, buffer, need);
    return buffer;
}

static VkDeviceMemory allocate(const VkMemoryRequirements *need)
{
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &flags, .allocationSize = need->size};
    VkDeviceMemory memory;

    while (!(need->memoryTypeBits >> info.memoryTypeIndex & 1))
        info.memoryTypeIndex++;
    CHECK(vkAllocateMemory(device, &info, NULL, &memory));
    return memory;
}

static VkCommandBuffer record(VkBuffer from, VkBuffer to)
{
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT};
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandBufferCount = 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer cb;

    CHECK(vkCreateCommandPool(device, &pool, NULL, &info.commandPool));
    CHECK(vkAllocateCommandBuffers(device, &info, &cb));
    CHECK(vkBeginCommandBuffer(cb, &begin));
    vkCmdFillBuffer(cb, from, 0, VK_WHOLE_SIZE, WORD);
    vkCmdPipelineBarrier(cb, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &barrier,
                         0, NULL, 0, NULL);
    vkCmdCopyBuffer(cb, from, to, 1, &(VkBufferCopy){.size = 1 << 20});
    CHECK(vkEndCommandBuffer(cb));
    return cb;
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "fine";
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkMemoryRequirements need, plain;
    VkSemaphore never, bound;
    VkDeviceMemory memory, host;
    VkBuffer sparse, read;
    VkCommandBuffer cb;
    uint32_t *words;
    VkQueue queue;

    alarm(20);
    make_device();
    vkGetDeviceQueue(device, 0, 0, &queue);
    CHECK(vkCreateSemaphore(device, &semaphore, NULL, &never));
    CHECK(vkCreateSemaphore(device, &semaphore, NULL, &bound));
    sparse = make_buffer(VK_BUFFER_CREATE_SPARSE_BINDING_BIT, &need);
    read = make_buffer(0, &plain);
    memory = allocate(&need);
    host = allocate(&plain);
    CHECK(vkBindBufferMemory(device, read, host, 0));
    cb = record(sparse, read);
    VkSparseMemoryBind bind = {.size = need.size, .memory = memory};
    VkSparseBufferMemoryBindInfo binds = {sparse, 1, &bind};
    VkBindSparseInfo info = {.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                             .waitSemaphoreCount = !strcmp(kind, "wait"),
                             .pWaitSemaphores = &never,
                             .bufferBindCount = 1,
                             .pBufferBinds = &binds,
                             .signalSemaphoreCount = 1,
                             .pSignalSemaphores = &bound};
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .waitSemaphoreCount = 1,
                           .pWaitSemaphores = &bound,
                           .pWaitDstStageMask = &(VkPipelineStageFlags){VK_PIPELINE_STAGE_TRANSFER_BIT},
                           .commandBufferCount = 1,
                           .pCommandBuffers = &cb};

    CHECK(vkQueueBindSparse(queue, 1, &info, VK_NULL_HANDLE));
    CHECK(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
    CHECK(vkQueueWaitIdle(queue));
    CHECK(vkMapMemory(device, host, 0, VK_WHOLE_SIZE, 0, (void **)&words));
    for (uint32_t i = 0; i < (1 << 20) / 4; i++)
        if (words[i] != WORD) {
            printf("word %u is %08x\n", i, words[i]);
            return 1;
        }
    puts("all words are there");
    return 0;
}
