/* SPDX-License-Identifier: MIT */
/* A Vulkan layer that stands where a driver does, below the black box: one with commands that no registry knows.
 *
 *   vkCmdDispatchAEROGPU   a dispatch with more arguments than registers hold, each of which it looks at
 *   vkCmdBindAEROGPU       binds a pipeline */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/layer.h"

static struct layer_table instances = LAYER_TABLE, devices = LAYER_TABLE;

struct device {
    struct layer_object object;
    PFN_vkGetDeviceProcAddr get;
    PFN_vkDestroyDevice destroy;
    PFN_vkCmdDispatch dispatch;
    PFN_vkCmdBindPipeline bind;
};

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

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateDevice(VkPhysicalDevice physical,
                                                          const VkDeviceCreateInfo *info,
                                                          const VkAllocationCallbacks *allocator,
                                                          VkDevice *out)
{
    const struct layer_instance *i = layer_find(&instances, physical);
    struct device *d = calloc(1, sizeof(*d));
    bool preferred;
    VkResult r = layer_create_device(i, physical, info, info, allocator, out, &d->get, &preferred);

    if (r != VK_SUCCESS)
        return r;
    d->destroy = (PFN_vkDestroyDevice)d->get(*out, "vkDestroyDevice");
    d->dispatch = (PFN_vkCmdDispatch)d->get(*out, "vkCmdDispatch");
    d->bind = (PFN_vkCmdBindPipeline)d->get(*out, "vkCmdBindPipeline");
    layer_put(&devices, &d->object, *out);
    return r;
}

static VKAPI_ATTR void VKAPI_CALL hook_vkDestroyDevice(VkDevice device,
                                                       const VkAllocationCallbacks *allocator)
{
    struct device *d = layer_find(&devices, device);

    layer_remove(&devices, &d->object);
    d->destroy(device, allocator);
    free(d);
}

static VKAPI_ATTR uint64_t VKAPI_CALL hook_vkCmdDispatchAEROGPU(VkCommandBuffer cb, uint32_t x, double a,
                                                                uint64_t b, float c, uint64_t d, uint64_t e,
                                                                uint64_t f, uint64_t g, uint64_t h, double i,
                                                                double j, double k, double l, double m,
                                                                double n, double o, uint64_t p)
{
    const struct device *device = layer_find(&devices, cb);

    if (a != 0.5 || b != 11 || c != 1.25f || d != 12 || e != 13 || f != 14 || g != 15 || h != 16 || i != 1 ||
        j != 2 || k != 3 || l != 4 || m != 5 || n != 6 || o != 7 || p != 17) {
        fprintf(stderr, "vkCmdDispatchAEROGPU has other arguments than it was called with\n");
        abort();
    }
    device->dispatch(cb, x, 1, 1);
    return 0x123456789abcdef0;
}

static VKAPI_ATTR void VKAPI_CALL hook_vkCmdBindAEROGPU(VkCommandBuffer cb, VkPipeline pipeline)
{
    const struct device *device = layer_find(&devices, cb);

    device->bind(cb, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
}

static const struct layer_hook device_hooks[] = {LAYER_HOOK(vkDestroyDevice),
                                                 LAYER_HOOK(vkCmdDispatchAEROGPU),
                                                 LAYER_HOOK(vkCmdBindAEROGPU), LAYER_HOOKS_END};

static PFN_vkVoidFunction device_hook(const char *name)
{
    return layer_find_hook(device_hooks, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name)
{
    const struct device *d = layer_find(&devices, device);
    PFN_vkVoidFunction hook = device_hook(name);

    return hook ? hook : d->get(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance, const char *name)
{
    static const struct layer_hook hooks[] = {LAYER_HOOK(vkCreateInstance), LAYER_HOOK(vkDestroyInstance),
                                              LAYER_HOOK(vkCreateDevice), LAYER_HOOKS_END};

    return layer_instance_proc(&instances, instance, name, hooks, device_hook);
}

LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *n)
{
    return layer_negotiate(n, get_instance_proc, get_device_proc);
}
