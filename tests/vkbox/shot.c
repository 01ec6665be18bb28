/* SPDX-License-Identifier: MIT */
/* A Vulkan layer that says what a program shows: for each of the first frames a line in AEROGPU_TEST_SHOT, which names a file, with
 * the size and a hash of the picture that is presented. It stands above the black box, as the program does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/layer.h"

#define DEVICE_FUNCTIONS(F)                                                                                  \
    F(DestroyDevice)                                                                                         \
    F(GetDeviceQueue)                                                                                        \
    F(GetDeviceQueue2)                                                                                       \
    F(DeviceWaitIdle)                                                                                        \
    F(QueueWaitIdle)                                                                                         \
    F(QueueSubmit)                                                                                           \
    F(QueuePresentKHR)                                                                                       \
    F(CreateSwapchainKHR)                                                                                    \
    F(GetSwapchainImagesKHR)                                                                                 \
    F(CreateCommandPool)                                                                                     \
    F(DestroyCommandPool)                                                                                    \
    F(AllocateCommandBuffers)                                                                                \
    F(BeginCommandBuffer)                                                                                    \
    F(EndCommandBuffer)                                                                                      \
    F(CmdPipelineBarrier)                                                                                    \
    F(CmdCopyImageToBuffer)                                                                                  \
    F(CreateBuffer)                                                                                          \
    F(DestroyBuffer)                                                                                         \
    F(GetBufferMemoryRequirements)                                                                           \
    F(AllocateMemory)                                                                                        \
    F(FreeMemory)                                                                                            \
    F(BindBufferMemory)                                                                                      \
    F(MapMemory)

enum { FRAMES = 30, QUEUES = 32, CHAINS = 32, IMAGES = 16 };

struct device {
    struct layer_object object;
    VkDevice handle;
    PFN_vkGetDeviceProcAddr get;
    PFN_vkSetDeviceLoaderData adopt;
    VkPhysicalDeviceMemoryProperties memory;
#define ROW(name) PFN_vk##name name;
    DEVICE_FUNCTIONS(ROW)
#undef ROW
    struct {
        VkQueue handle;
        uint32_t family;
    } queues[QUEUES];
    struct {
        VkSwapchainKHR handle;
        VkExtent2D size;
        VkImage images[IMAGES];
    } chains[CHAINS];
    uint32_t num_queues, num_chains, frames;
};

static struct layer_table instances = LAYER_TABLE, devices = LAYER_TABLE;

/* ---- a picture ------------------------------------------------------------ */

struct copy {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkCommandPool pool;
    VkCommandBuffer cb;
};

static bool make_copy(struct device *d, uint32_t family, uint64_t size, struct copy *c)
{
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = size,
                               .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .queueFamilyIndex = family};
    VkCommandBufferAllocateInfo cbs = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                       .commandBufferCount = 1};
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkMemoryRequirements need;

    if (d->CreateBuffer(d->handle, &info, NULL, &c->buffer))
        return false;
    d->GetBufferMemoryRequirements(d->handle, c->buffer, &need);
    memory.allocationSize = need.size;
    while (memory.memoryTypeIndex < d->memory.memoryTypeCount &&
           (!(need.memoryTypeBits >> memory.memoryTypeIndex & 1) ||
            (d->memory.memoryTypes[memory.memoryTypeIndex].propertyFlags & wanted) != wanted))
        memory.memoryTypeIndex++;
    if (d->AllocateMemory(d->handle, &memory, NULL, &c->memory) ||
        d->BindBufferMemory(d->handle, c->buffer, c->memory, 0) ||
        d->CreateCommandPool(d->handle, &pool, NULL, &c->pool))
        return false;
    cbs.commandPool = c->pool;
    if (d->AllocateCommandBuffers(d->handle, &cbs, &c->cb))
        return false;
    d->adopt(d->handle, c->cb);
    return true;
}

static void record_copy(struct device *d, const struct copy *c, VkImage image, VkExtent2D size)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkImageMemoryBarrier to = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT,
                               .oldLayout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
                               .newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                               .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                               .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                               .image = image,
                               .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}},
                         back = to;
    VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                .imageExtent = {size.width, size.height, 1}};

    back.oldLayout = to.newLayout;
    back.newLayout = to.oldLayout;
    d->BeginCommandBuffer(c->cb, &begin);
    d->CmdPipelineBarrier(c->cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0,
                          NULL, 0, NULL, 1, &to);
    d->CmdCopyImageToBuffer(c->cb, image, to.newLayout, c->buffer, 1, &region);
    d->CmdPipelineBarrier(c->cb, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                          NULL, 0, NULL, 1, &back);
    d->EndCommandBuffer(c->cb);
}

/* The alpha of what is shown has no meaning. */
static uint64_t hash(const uint32_t *pixels, size_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < n; i++)
        h = (h ^ (pixels[i] & 0xffffff)) * UINT64_C(0x100000001b3);
    return h;
}

static void look(struct device *d, VkQueue queue, uint32_t chain, uint32_t image)
{
    const VkExtent2D size = d->chains[chain].size;
    const uint64_t bytes = (uint64_t)size.width * size.height * 4;
    const char *path = getenv("AEROGPU_TEST_SHOT");
    struct copy c = {0};
    uint32_t family = 0;
    void *pixels;
    FILE *f;

    for (uint32_t i = 0; i < d->num_queues; i++)
        if (d->queues[i].handle == queue)
            family = d->queues[i].family;
    d->DeviceWaitIdle(d->handle);
    if (path && image < IMAGES && make_copy(d, family, bytes, &c)) {
        VkSubmitInfo submit = {
            .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &c.cb};

        record_copy(d, &c, d->chains[chain].images[image], size);
        if (!d->QueueSubmit(queue, 1, &submit, VK_NULL_HANDLE) && !d->QueueWaitIdle(queue) &&
            !d->MapMemory(d->handle, c.memory, 0, VK_WHOLE_SIZE, 0, &pixels) && (f = fopen(path, "ae"))) {
            fprintf(f, "%ux%u %016llx\n", size.width, size.height,
                    (unsigned long long)hash(pixels, bytes / 4));
            fclose(f);
        }
    }
    if (c.pool)
        d->DestroyCommandPool(d->handle, c.pool, NULL);
    if (c.buffer)
        d->DestroyBuffer(d->handle, c.buffer, NULL);
    if (c.memory)
        d->FreeMemory(d->handle, c.memory, NULL);
}

/* ---- hooks ---------------------------------------------------------------- */

static void note_queue(struct device *d, uint32_t family, VkQueue queue)
{
    if (d->num_queues < QUEUES) {
        d->queues[d->num_queues].handle = queue;
        d->queues[d->num_queues++].family = family;
    }
}

static VKAPI_ATTR void VKAPI_CALL hook_vkGetDeviceQueue(VkDevice device, uint32_t family, uint32_t index,
                                                        VkQueue *out)
{
    struct device *d = layer_find(&devices, device);

    d->GetDeviceQueue(device, family, index, out);
    note_queue(d, family, *out);
}

static VKAPI_ATTR void VKAPI_CALL hook_vkGetDeviceQueue2(VkDevice device, const VkDeviceQueueInfo2 *info,
                                                         VkQueue *out)
{
    struct device *d = layer_find(&devices, device);

    d->GetDeviceQueue2(device, info, out);
    note_queue(d, info->queueFamilyIndex, *out);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateSwapchainKHR(VkDevice device,
                                                                const VkSwapchainCreateInfoKHR *info,
                                                                const VkAllocationCallbacks *allocator,
                                                                VkSwapchainKHR *out)
{
    struct device *d = layer_find(&devices, device);
    VkSwapchainCreateInfoKHR mine = *info;
    uint32_t n = IMAGES;
    VkResult r;

    mine.imageUsage |= VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    r = d->CreateSwapchainKHR(device, &mine, allocator, out);
    if (r == VK_SUCCESS && d->num_chains < CHAINS) {
        d->chains[d->num_chains].handle = *out;
        d->chains[d->num_chains].size = info->imageExtent;
        d->GetSwapchainImagesKHR(device, *out, &n, d->chains[d->num_chains].images);
        d->num_chains++;
    }
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkQueuePresentKHR(VkQueue queue, const VkPresentInfoKHR *info)
{
    struct device *d = layer_find(&devices, queue);

    for (uint32_t i = 0; i < info->swapchainCount && d->frames < FRAMES; i++)
        for (uint32_t c = d->num_chains; c-- > 0;)
            if (d->chains[c].handle == info->pSwapchains[i]) {
                d->frames++;
                look(d, queue, c, info->pImageIndices[i]);
                break;
            }
    return d->QueuePresentKHR(queue, info);
}

static VKAPI_ATTR void VKAPI_CALL hook_vkDestroyDevice(VkDevice device,
                                                       const VkAllocationCallbacks *allocator)
{
    struct device *d = device ? layer_find(&devices, device) : NULL;

    if (!d)
        return;
    layer_remove(&devices, &d->object);
    d->DestroyDevice(device, allocator);
    free(d);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateDevice(VkPhysicalDevice physical,
                                                          const VkDeviceCreateInfo *info,
                                                          const VkAllocationCallbacks *allocator,
                                                          VkDevice *out)
{
    struct layer_instance *i = layer_find(&instances, physical);
    struct device *d = calloc(1, sizeof(*d));
    bool same;
    VkResult r;

    if (!i || !d)
        abort();
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO &&
            ((const VkLayerDeviceCreateInfo *)(const void *)s)->function == VK_LOADER_DATA_CALLBACK)
            d->adopt = ((const VkLayerDeviceCreateInfo *)(const void *)s)->u.pfnSetDeviceLoaderData;
    r = layer_create_device(i, physical, info, info, allocator, out, &d->get, &same);
    if (r != VK_SUCCESS || !d->adopt) {
        free(d);
        return r;
    }
    d->handle = *out;
    i->next.GetPhysicalDeviceMemoryProperties(physical, &d->memory);
#define ROW(name) d->name = (PFN_vk##name)d->get(*out, "vk" #name);
    DEVICE_FUNCTIONS(ROW)
#undef ROW
    layer_put(&devices, &d->object, *out);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateInstance(const VkInstanceCreateInfo *info,
                                                            const VkAllocationCallbacks *allocator,
                                                            VkInstance *out)
{
    return layer_create_instance(&instances, info, info, allocator, out);
}

static VKAPI_ATTR void VKAPI_CALL hook_vkDestroyInstance(VkInstance instance,
                                                         const VkAllocationCallbacks *allocator)
{
    layer_destroy_instance(&instances, instance, allocator);
}

/* ---- what the loader asks for --------------------------------------------- */

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance, const char *name);

static PFN_vkVoidFunction device_hook(const char *name)
{
    static const struct layer_hook hooks[] = {
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)get_device_proc},
        LAYER_HOOK(vkDestroyDevice),
        LAYER_HOOK(vkGetDeviceQueue),
        LAYER_HOOK(vkGetDeviceQueue2),
        LAYER_HOOK(vkCreateSwapchainKHR),
        LAYER_HOOK(vkQueuePresentKHR),
        LAYER_HOOKS_END,
    };

    return layer_find_hook(hooks, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name)
{
    const struct device *d = layer_find(&devices, device);
    PFN_vkVoidFunction next = d->get(device, name), hook = next ? device_hook(name) : NULL;

    return hook ? hook : next;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance, const char *name)
{
    static const struct layer_hook hooks[] = {
        {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)get_instance_proc},
        LAYER_HOOK(vkCreateInstance),
        LAYER_HOOK(vkDestroyInstance),
        LAYER_HOOK(vkCreateDevice),
        LAYER_HOOKS_END,
    };

    return layer_instance_proc(&instances, instance, name, hooks, device_hook);
}

LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *n)
{
    return layer_negotiate(n, get_instance_proc, get_device_proc);
}
