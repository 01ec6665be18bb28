/* SPDX-License-Identifier: MIT */
/* A Vulkan layer by which the driver does not survive one shader, wherever a program uses it:
 *
 *   AEROGPU_TEST_SHADER_FAULT=KIND:HASH    crash, lost: what becomes of the submission in which a draw or dispatch has that shader, by a
 *                                          hash of its SPIR-V: the same, however much is left out around it. HASH 1: a pass that clears
 *   AEROGPU_TEST_SHADER_FAULT=list         a line "HASH" on standard output for each shader, when it is submitted first
 *
 * It happens when the submission is done: what ends the driver for want of something else comes before, and is another failure.
 *
 * Of a draw the fragment shader counts, or else the last stage that there is. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "layer/layer.h"

#define DEVICE_FUNCTIONS(F)                                                                                  \
    F(DestroyDevice)                                                                                         \
    F(CreateShaderModule)                                                                                    \
    F(CreateGraphicsPipelines)                                                                               \
    F(CreateComputePipelines)                                                                                \
    F(BeginCommandBuffer)                                                                                    \
    F(CmdBindPipeline)                                                                                       \
    F(CmdBeginRenderPass)                                                                                    \
    F(CmdDraw)                                                                                               \
    F(CmdDrawIndexed)                                                                                        \
    F(CmdDrawIndirect)                                                                                       \
    F(CmdDrawIndexedIndirect)                                                                                \
    F(CmdDispatch)                                                                                           \
    F(CmdDispatchIndirect)                                                                                   \
    F(QueueSubmit)

enum { CLEARS = 1, SLOTS = 1 << 16, USED = 64, POINTS = 2 };

struct device {
    struct layer_object object;
    PFN_vkGetDeviceProcAddr get;
    PFN_vkQueueWaitIdle QueueWaitIdle;
#define ROW(name) PFN_vk##name name;
    DEVICE_FUNCTIONS(ROW)
#undef ROW
};

static struct layer_table instances = LAYER_TABLE, devices = LAYER_TABLE;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct
    slot { /* of a module, a pipeline or a command buffer; numbers of handles that are gone may come again */
    uint64_t handle, hash, bound[POINTS], used[USED];
    unsigned num_used;
} slots[SLOTS];
static _Atomic uint64_t listed[1024];
static bool lost;

/* With the lock held. NULL: there are too many. */
static struct slot *slot_of(uint64_t handle)
{
    for (size_t i = handle * UINT64_C(0x9e3779b97f4a7c15) >> 48, n = 0; n < SLOTS; i = (i + 1) % SLOTS, n++)
        if (!slots[i].handle || slots[i].handle == handle) {
            slots[i].handle = handle;
            return &slots[i];
        }
    abort();
}

/* ---- which shader --------------------------------------------------------- */

static void set_hash(uint64_t handle, uint64_t hash)
{
    pthread_mutex_lock(&lock);
    slot_of(handle)->hash = hash;
    pthread_mutex_unlock(&lock);
}

static uint64_t get_hash(uint64_t handle)
{
    uint64_t hash;

    pthread_mutex_lock(&lock);
    hash = slot_of(handle)->hash;
    pthread_mutex_unlock(&lock);
    return hash;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateShaderModule(VkDevice device,
                                                                const VkShaderModuleCreateInfo *info,
                                                                const VkAllocationCallbacks *allocator,
                                                                VkShaderModule *out)
{
    struct device *d = layer_find(&devices, device);
    VkResult r = d->CreateShaderModule(device, info, allocator, out);

    if (r == VK_SUCCESS)
        set_hash((uint64_t)*out, XXH3_64bits(info->pCode, info->codeSize) | 2);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateGraphicsPipelines(
    VkDevice device, VkPipelineCache cache, uint32_t n, const VkGraphicsPipelineCreateInfo *infos,
    const VkAllocationCallbacks *allocator, VkPipeline *out)
{
    struct device *d = layer_find(&devices, device);
    VkResult r = d->CreateGraphicsPipelines(device, cache, n, infos, allocator, out);

    for (uint32_t i = 0; i < n && r == VK_SUCCESS; i++) {
        const VkPipelineShaderStageCreateInfo *last = &infos[i].pStages[infos[i].stageCount - 1];

        for (uint32_t k = 0; k < infos[i].stageCount; k++)
            if (infos[i].pStages[k].stage == VK_SHADER_STAGE_FRAGMENT_BIT)
                last = &infos[i].pStages[k];
        set_hash((uint64_t)out[i], get_hash((uint64_t)last->module));
    }
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateComputePipelines(VkDevice device, VkPipelineCache cache,
                                                                    uint32_t n,
                                                                    const VkComputePipelineCreateInfo *infos,
                                                                    const VkAllocationCallbacks *allocator,
                                                                    VkPipeline *out)
{
    struct device *d = layer_find(&devices, device);
    VkResult r = d->CreateComputePipelines(device, cache, n, infos, allocator, out);

    for (uint32_t i = 0; i < n && r == VK_SUCCESS; i++)
        set_hash((uint64_t)out[i], get_hash((uint64_t)infos[i].stage.module));
    return r;
}

/* ---- command buffers ------------------------------------------------------ */

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkBeginCommandBuffer(VkCommandBuffer cb,
                                                                const VkCommandBufferBeginInfo *info)
{
    struct slot *s;

    pthread_mutex_lock(&lock);
    s = slot_of((uint64_t)cb);
    *s = (struct slot){.handle = s->handle};
    pthread_mutex_unlock(&lock);
    return ((struct device *)layer_find(&devices, cb))->BeginCommandBuffer(cb, info);
}

static VKAPI_ATTR void VKAPI_CALL hook_vkCmdBindPipeline(VkCommandBuffer cb, VkPipelineBindPoint point,
                                                         VkPipeline pipeline)
{
    pthread_mutex_lock(&lock);
    if ((unsigned)point < POINTS)
        slot_of((uint64_t)cb)->bound[point] = slot_of((uint64_t)pipeline)->hash;
    pthread_mutex_unlock(&lock);
    ((struct device *)layer_find(&devices, cb))->CmdBindPipeline(cb, point, pipeline);
}

/* With the lock held. */
static void use(struct slot *s, uint64_t hash)
{
    for (unsigned i = 0; i < s->num_used; i++)
        if (s->used[i] == hash)
            return;
    if (s->num_used < USED)
        s->used[s->num_used++] = hash;
}

static struct device *works(VkCommandBuffer cb, VkPipelineBindPoint point)
{
    struct slot *s;

    pthread_mutex_lock(&lock);
    s = slot_of((uint64_t)cb);
    use(s, s->bound[point]);
    pthread_mutex_unlock(&lock);
    return layer_find(&devices, cb);
}

static VKAPI_ATTR void VKAPI_CALL hook_vkCmdBeginRenderPass(VkCommandBuffer cb,
                                                            const VkRenderPassBeginInfo *info,
                                                            VkSubpassContents contents)
{
    if (info->clearValueCount) {
        pthread_mutex_lock(&lock);
        use(slot_of((uint64_t)cb), CLEARS);
        pthread_mutex_unlock(&lock);
    }
    ((struct device *)layer_find(&devices, cb))->CmdBeginRenderPass(cb, info, contents);
}

#define WORK(name, point, params, ...)                                                                       \
    static VKAPI_ATTR void VKAPI_CALL hook_vkCmd##name params                                                \
    {                                                                                                        \
        works(cb, VK_PIPELINE_BIND_POINT_##point)->Cmd##name(cb, __VA_ARGS__);                               \
    }
WORK(Draw, GRAPHICS, (VkCommandBuffer cb, uint32_t n, uint32_t times, uint32_t first, uint32_t from), n,
     times, first, from)
WORK(DrawIndexed, GRAPHICS,
     (VkCommandBuffer cb, uint32_t n, uint32_t times, uint32_t first, int32_t base, uint32_t from), n, times,
     first, base, from)
WORK(DrawIndirect, GRAPHICS,
     (VkCommandBuffer cb, VkBuffer buffer, VkDeviceSize at, uint32_t n, uint32_t stride), buffer, at, n,
     stride)
WORK(DrawIndexedIndirect, GRAPHICS,
     (VkCommandBuffer cb, VkBuffer buffer, VkDeviceSize at, uint32_t n, uint32_t stride), buffer, at, n,
     stride)
WORK(Dispatch, COMPUTE, (VkCommandBuffer cb, uint32_t x, uint32_t y, uint32_t z), x, y, z)
WORK(DispatchIndirect, COMPUTE, (VkCommandBuffer cb, VkBuffer buffer, VkDeviceSize at), buffer, at)

/* ---- submissions ---------------------------------------------------------- */

static void list(uint64_t hash)
{
    for (size_t i = 0; i < sizeof(listed) / sizeof(listed[0]); i++) {
        uint64_t none = 0;

        if (atomic_load(&listed[i]) == hash)
            return;
        if (atomic_compare_exchange_strong(&listed[i], &none, hash)) {
            printf("%" PRIx64 "\n", hash);
            fflush(stdout);
            return;
        }
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkQueueSubmit(VkQueue queue, uint32_t n, const VkSubmitInfo *infos,
                                                         VkFence fence)
{
    struct device *d = layer_find(&devices, queue);
    const char *what = getenv("AEROGPU_TEST_SHADER_FAULT");
    const char *colon = what ? strchr(what, ':') : NULL;
    const uint64_t wanted = colon ? strtoull(colon + 1, NULL, 16) : 0;
    bool due = false;

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < infos[i].commandBufferCount; k++) {
            struct slot s;

            pthread_mutex_lock(&lock);
            s = *slot_of((uint64_t)infos[i].pCommandBuffers[k]);
            pthread_mutex_unlock(&lock);
            for (unsigned u = 0; u < s.num_used; u++) {
                due |= s.used[u] == wanted;
                if (what && !strcmp(what, "list"))
                    list(s.used[u]);
            }
        }
    if (lost)
        return VK_ERROR_DEVICE_LOST;
    if (due && wanted) { /* what the driver itself does not survive comes first */
        d->QueueSubmit(queue, n, infos, VK_NULL_HANDLE);
        d->QueueWaitIdle(queue);
        if (what[0] == 'c')
            *(volatile int *)NULL = 1;
        lost = true;
        return VK_ERROR_DEVICE_LOST;
    }
    return d->QueueSubmit(queue, n, infos, fence);
}

/* ---- the layer ------------------------------------------------------------ */

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
    r = layer_create_device(i, physical, info, info, allocator, out, &d->get, &same);
    if (r != VK_SUCCESS) {
        free(d);
        return r;
    }
#define ROW(name) d->name = (PFN_vk##name)d->get(*out, "vk" #name);
    DEVICE_FUNCTIONS(ROW)
#undef ROW
    d->QueueWaitIdle = (PFN_vkQueueWaitIdle)d->get(*out, "vkQueueWaitIdle");
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

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance, const char *name);

static PFN_vkVoidFunction device_hook(const char *name)
{
    static const struct layer_hook hooks[] = {
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)get_device_proc},
#define ROW(name) LAYER_HOOK(vk##name),
        DEVICE_FUNCTIONS(ROW)
#undef ROW
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
