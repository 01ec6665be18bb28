/* SPDX-License-Identifier: MIT */
/* rec_present.c: swap chains (rec_present.h). Takes over the Vulkan entry points that a program without DXGI presents
 * with. The picture of a frame is copied on the presenting queue, in front of the present, and hashed when its copy
 * is done: a few frames later, or when the chain goes. */
#include "d3d12/record/rec_present.h"
#include "base/export.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/log.h"
#include "d3d12/record/rec_contents.h"
#include "d3d12/record/rec_values.h"

#define MAX_IMAGES 16
#define MAX_CHAINS 16
#define MAX_QUEUES 16
#define SLOTS      3

struct copy { /* one picture on its way */
    VkBuffer buffer;
    VkDeviceMemory memory;
    void *map;
    VkCommandPool pool;
    VkCommandBuffer cmd;
    VkFence fence;
    VkSemaphore done;
    uint32_t frame;
    bool made, busy;
};

struct chain {
    VkSwapchainKHR vk;
    VkDevice device;
    uint64_t number;
    uint32_t width, height, num;
    VkFormat format;
    VkImage images[MAX_IMAGES];
    ID3D12Resource *resources[MAX_IMAGES];
    struct copy slots[SLOTS];
    uint32_t next;
    bool no_hash;
};

static struct chain chains[MAX_CHAINS];
static struct {
    VkQueue vk;
    ID3D12CommandQueue *queue;
} queues[MAX_QUEUES];
static uint64_t num_chains;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VkPhysicalDevice physical_device;

#define REAL(name) ((PFN_##name)real(#name))

static void *real(const char *name)
{
    void *p = dlsym(RTLD_NEXT, name), *loader;

    /* libvkd3d loads the Vulkan loader itself in programs that do not link it */
    if (!p && (loader = dlopen("libvulkan.so.1", RTLD_LAZY | RTLD_LOCAL)))
        p = dlsym(loader, name);
    if (!p) {
        log_error("d3d12", "the Vulkan loader has no %s", name);
        abort();
    }
    return p;
}

static struct chain *chain_of(VkSwapchainKHR vk)
{
    for (int i = 0; i < MAX_CHAINS; i++)
        if (chains[i].vk == vk)
            return &chains[i];
    return NULL;
}

static struct chain *chain_with(VkImage image, uint32_t *index)
{
    for (int i = 0; i < MAX_CHAINS; i++)
        for (uint32_t k = 0; chains[i].vk && k < chains[i].num; k++)
            if (chains[i].images[k] == image) {
                *index = k;
                return &chains[i];
            }
    return NULL;
}

void present_image_find(VkImage image, uint64_t *number, uint32_t *index)
{
    struct chain *c;

    pthread_mutex_lock(&lock);
    c = chain_with(image, index);
    *number = c ? c->number : 0;
    pthread_mutex_unlock(&lock);
}

void present_image_bind(VkImage image, VkDevice device, ID3D12Resource *resource)
{
    uint32_t k = 0;
    struct chain *c;

    pthread_mutex_lock(&lock);
    c = chain_with(image, &k);
    if (c) {
        c->resources[k] = resource;
        c->device = device;
    }
    pthread_mutex_unlock(&lock);
}

void present_queue_bind(VkQueue vk, ID3D12CommandQueue *queue)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_QUEUES; i++)
        if (!queues[i].vk || queues[i].vk == vk) {
            queues[i].vk = vk;
            queues[i].queue = queue;
            break;
        }
    pthread_mutex_unlock(&lock);
}

/* ---- pictures ------------------------------------------------------------ */

static void picture_done(struct rec_thread *t, struct chain *c, struct copy *s)
{
    size_t size = (size_t)c->width * c->height * 4;
    struct enc *e = &t->enc;
    uint64_t hash;

    REAL(vkWaitForFences)(c->device, 1, &s->fence, VK_TRUE, UINT64_MAX);
    REAL(vkResetFences)(c->device, 1, &s->fence);
    s->busy = false;
    hash = XXH3_64bits(s->map, size);
    rec_begin(t, NULL, D12_Native_FrameHash, REC_MODE_TICKET);
    enc_u32(e, atomic_load(&rec_shm->frame) - s->frame); /* small, and the same for every frame */
    enc_u32(e, c->width);
    enc_u32(e, c->height);
    enc_u32(e, (uint32_t)hash);
    rec_args_done(t, D12_Native_FrameHash, REC_NO_ANSWER);
}

static int32_t memory_type(uint32_t bits)
{
    const VkMemoryPropertyFlags want[] = {
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
            VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT};
    VkPhysicalDeviceMemoryProperties p;

    REAL(vkGetPhysicalDeviceMemoryProperties)(physical_device, &p);
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < p.memoryTypeCount; i++)
            if (bits >> i & 1 && (p.memoryTypes[i].propertyFlags & want[k]) == want[k])
                return (int32_t)i;
    return -1;
}

static bool copy_make(struct chain *c, struct copy *s)
{
    VkBufferCreateInfo bi = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                             .size = (uint64_t)c->width * c->height * 4,
                             .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkCommandPoolCreateInfo pi = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                  .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    VkCommandBufferAllocateInfo ci = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                      .commandBufferCount = 1};
    VkFenceCreateInfo fi = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkSemaphoreCreateInfo si = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkMemoryAllocateInfo mi = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    VkMemoryRequirements req;
    int32_t type;

    if (REAL(vkCreateBuffer)(c->device, &bi, NULL, &s->buffer))
        return false;
    REAL(vkGetBufferMemoryRequirements)(c->device, s->buffer, &req);
    type = memory_type(req.memoryTypeBits);
    mi.allocationSize = req.size;
    mi.memoryTypeIndex = (uint32_t)type;
    if (type < 0 || REAL(vkAllocateMemory)(c->device, &mi, NULL, &s->memory) ||
        REAL(vkBindBufferMemory)(c->device, s->buffer, s->memory, 0) ||
        REAL(vkMapMemory)(c->device, s->memory, 0, VK_WHOLE_SIZE, 0, &s->map) ||
        REAL(vkCreateCommandPool)(c->device, &pi, NULL, &s->pool))
        return false;
    ci.commandPool = s->pool;
    s->made = !REAL(vkAllocateCommandBuffers)(c->device, &ci, &s->cmd) &&
              !REAL(vkCreateFence)(c->device, &fi, NULL, &s->fence) &&
              !REAL(vkCreateSemaphore)(c->device, &si, NULL, &s->done);
    return s->made;
}

static void record_copy(struct chain *c, struct copy *s, VkImage image)
{
    VkCommandBufferBeginInfo bi = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                   .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkImageMemoryBarrier b = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                              .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                              .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT,
                              .oldLayout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
                              .newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                              .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                              .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                              .image = image,
                              .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                .imageExtent = {c->width, c->height, 1}};

    REAL(vkBeginCommandBuffer)(s->cmd, &bi);
    REAL(vkCmdPipelineBarrier)
    (s->cmd, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 1, &b);
    REAL(vkCmdCopyImageToBuffer)(s->cmd, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, s->buffer, 1, &region);
    b.srcAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
    b.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT;
    b.oldLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    b.newLayout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR;
    REAL(vkCmdPipelineBarrier)
    (s->cmd, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &b);
    REAL(vkEndCommandBuffer)(s->cmd);
}

/* Copies the picture that is about to be presented; the present then waits for `s->done`. */
static struct copy *picture_take(struct rec_thread *t, struct chain *c, VkQueue queue,
                                 const VkPresentInfoKHR *info, uint32_t index, uint32_t frame)
{
    VkPipelineStageFlags stages[16];
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .waitSemaphoreCount = info->waitSemaphoreCount,
                           .pWaitSemaphores = info->pWaitSemaphores,
                           .pWaitDstStageMask = stages,
                           .commandBufferCount = 1,
                           .signalSemaphoreCount = 1};
    struct copy *s = &c->slots[c->next];

    if (info->waitSemaphoreCount > 16)
        return NULL;
    for (int i = 0; i < 16; i++)
        stages[i] = VK_PIPELINE_STAGE_TRANSFER_BIT;
    if (s->busy)
        picture_done(t, c, s);
    if (!s->made && !copy_make(c, s)) {
        c->no_hash = true;
        return NULL;
    }
    record_copy(c, s, c->images[index]);
    submit.pCommandBuffers = &s->cmd;
    submit.pSignalSemaphores = &s->done;
    if (REAL(vkQueueSubmit)(queue, 1, &submit, s->fence))
        return NULL;
    rec_contents_unneeded();
    s->busy = true;
    s->frame = frame;
    c->next = (c->next + 1) % SLOTS;
    return s;
}

static void chain_flush(struct rec_thread *t, struct chain *c)
{
    for (int i = 0; i < SLOTS; i++) {
        struct copy *s = &c->slots[(c->next + (uint32_t)i) % SLOTS];

        if (s->busy)
            picture_done(t, c, s);
        if (!s->made)
            continue;
        /* the present that waits for s->done may still be pending */
        REAL(vkDeviceWaitIdle)(c->device);
        REAL(vkDestroySemaphore)(c->device, s->done, NULL);
        REAL(vkDestroyFence)(c->device, s->fence, NULL);
        REAL(vkDestroyCommandPool)(c->device, s->pool, NULL);
        REAL(vkDestroyBuffer)(c->device, s->buffer, NULL);
        REAL(vkFreeMemory)(c->device, s->memory, NULL);
        s->made = false;
    }
}

static bool four_bytes(VkFormat f)
{
    return f == VK_FORMAT_B8G8R8A8_UNORM || f == VK_FORMAT_R8G8B8A8_UNORM || f == VK_FORMAT_B8G8R8A8_SRGB ||
           f == VK_FORMAT_R8G8B8A8_SRGB || f == VK_FORMAT_A2B10G10R10_UNORM_PACK32;
}

/* ---- entry points -------------------------------------------------------- */

EXPORT VkResult vkGetPhysicalDeviceSurfaceCapabilitiesKHR(VkPhysicalDevice device, VkSurfaceKHR surface,
                                                          VkSurfaceCapabilitiesKHR *caps)
{
    physical_device = device;
    return REAL(vkGetPhysicalDeviceSurfaceCapabilitiesKHR)(device, surface, caps);
}

EXPORT VkResult vkCreateSwapchainKHR(VkDevice device, const VkSwapchainCreateInfoKHR *info,
                                     const VkAllocationCallbacks *alloc, VkSwapchainKHR *out)
{
    VkSwapchainCreateInfoKHR mine = *info;
    bool hash = rec_shm && rec_shm->hash_every && physical_device;
    struct chain *c;
    VkResult r;

    if (hash)
        mine.imageUsage |= VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    r = REAL(vkCreateSwapchainKHR)(device, &mine, alloc, out);
    if (r || !rec_shm)
        return r;
    pthread_mutex_lock(&lock);
    c = chain_of(VK_NULL_HANDLE);
    if (c) {
        *c = (struct chain){.vk = *out,
                            .device = device,
                            .number = ++num_chains,
                            .width = info->imageExtent.width,
                            .height = info->imageExtent.height,
                            .format = info->imageFormat,
                            .no_hash = !hash || !four_bytes(info->imageFormat)};
    }
    pthread_mutex_unlock(&lock);
    return r;
}

EXPORT void vkDestroySwapchainKHR(VkDevice device, VkSwapchainKHR vk, const VkAllocationCallbacks *alloc)
{
    struct rec_thread *t = rec_enter();
    struct chain *c;

    pthread_mutex_lock(&lock);
    c = vk ? chain_of(vk) : NULL;
    if (c) {
        if (t)
            chain_flush(t, c);
        memset(c, 0, sizeof(*c));
    }
    pthread_mutex_unlock(&lock);
    REAL(vkDestroySwapchainKHR)(device, vk, alloc);
}

EXPORT VkResult vkGetSwapchainImagesKHR(VkDevice device, VkSwapchainKHR vk, uint32_t *count, VkImage *images)
{
    VkResult r = REAL(vkGetSwapchainImagesKHR)(device, vk, count, images);
    struct chain *c;

    if (r < 0 || !images)
        return r;
    pthread_mutex_lock(&lock);
    c = chain_of(vk);
    if (c) {
        c->num = *count < MAX_IMAGES ? *count : MAX_IMAGES;
        memcpy(c->images, images, c->num * sizeof(*images));
    }
    pthread_mutex_unlock(&lock);
    return r;
}

static ID3D12CommandQueue *queue_of(VkQueue vk)
{
    for (int i = 0; i < MAX_QUEUES; i++)
        if (queues[i].vk == vk)
            return queues[i].queue;
    return NULL;
}

EXPORT VkResult vkQueuePresentKHR(VkQueue queue, const VkPresentInfoKHR *info)
{
    struct rec_thread *t = rec_enter();
    VkPresentInfoKHR mine = *info;
    VkSemaphore wait[MAX_CHAINS];

    if (!t)
        return REAL(vkQueuePresentKHR)(queue, info);
    pthread_mutex_lock(&lock);
    mine.waitSemaphoreCount = 0;
    for (uint32_t i = 0; i < info->swapchainCount; i++) {
        struct chain *c = chain_of(info->pSwapchains[i]);
        uint32_t index = info->pImageIndices[i], frame = atomic_load(&rec_shm->frame);
        struct copy *s = NULL;
        struct enc *e = &t->enc;

        rec_begin(t, NULL, D12_Native_Present, REC_MODE_TICKET);
        enc_u64(e, c ? c->number : 0);
        enc_u32(e, index);
        enc_object(e, c && index < c->num ? c->resources[index] : NULL);
        enc_object(e, queue_of(queue));
        rec_args_done(t, D12_Native_Present, REC_NO_ANSWER);
        atomic_fetch_add(&rec_shm->frame, 1);
        if (c && !c->no_hash && index < c->num && c->resources[index] && i < MAX_CHAINS &&
            frame % rec_shm->hash_every == 0)
            s = picture_take(t, c, queue, i ? &(VkPresentInfoKHR){0} : info, index, frame);
        if (s)
            wait[mine.waitSemaphoreCount++] = s->done;
    }
    if (mine.waitSemaphoreCount)
        mine.pWaitSemaphores = wait;
    else
        mine.waitSemaphoreCount = info->waitSemaphoreCount;
    pthread_mutex_unlock(&lock);
    return REAL(vkQueuePresentKHR)(queue, &mine);
}

/* Programs that ask for entry points by name get the same ones. */
static PFN_vkVoidFunction taken_over(const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction fn;
    } mine[] = {
        {"vkCreateSwapchainKHR", (PFN_vkVoidFunction)vkCreateSwapchainKHR},
        {"vkDestroySwapchainKHR", (PFN_vkVoidFunction)vkDestroySwapchainKHR},
        {"vkGetSwapchainImagesKHR", (PFN_vkVoidFunction)vkGetSwapchainImagesKHR},
        {"vkQueuePresentKHR", (PFN_vkVoidFunction)vkQueuePresentKHR},
    };

    for (size_t i = 0; i < sizeof(mine) / sizeof(mine[0]); i++)
        if (!strcmp(name, mine[i].name))
            return mine[i].fn;
    return NULL;
}

EXPORT PFN_vkVoidFunction vkGetDeviceProcAddr(VkDevice device, const char *name)
{
    PFN_vkVoidFunction real_fn = REAL(vkGetDeviceProcAddr)(device, name),
                       fn = rec_shm ? taken_over(name) : NULL;

    return real_fn && fn ? fn : real_fn;
}
