/* SPDX-License-Identifier: MIT */
/* A Vulkan layer that stands where a driver does, below the black box: one that has VK_EXT_device_fault, and loses its device.
 *
 * The third frame's submission answers VK_ERROR_DEVICE_LOST. Then the driver tells of a write 16 bytes behind the end of the buffer
 * whose address was asked for last, in the words of drivers. A device for which the feature is not enabled,
 * or with AEROGPU_TEST_DRIVER_SAYS_NOTHING, tells nothing. It has VK_EXT_device_address_binding_report as well, and tells of images: that
 * they are at IMAGES_AT, in the order in which they are made, as it makes them; not of other things. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layer/layer.h"

#define IMAGES_AT UINT64_C(0x770000000000)
enum { BAD_SUBMISSION = 3, BEHIND = (4 << 20) + 16 };

static struct layer_table instances = LAYER_TABLE, devices = LAYER_TABLE;

struct device {
    struct layer_object object;
    PFN_vkGetDeviceProcAddr get;
    PFN_vkQueueSubmit submit;
    PFN_vkGetBufferDeviceAddress address_of;
    PFN_vkDestroyDevice destroy;
    PFN_vkCreateImage create_image;
    const struct layer_instance *instance;
    uint64_t images;
    int binds;
    VkDeviceAddress last;
    int submissions, tells;
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

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkEnumerateDeviceExtensionProperties(VkPhysicalDevice physical,
                                                                                const char *layer,
                                                                                uint32_t *num,
                                                                                VkExtensionProperties *out)
{
    const uint32_t room = *num;
    const struct layer_instance *i = layer_find(&instances, physical);
    VkResult r = i->extensions(physical, layer, num, out);

    if (r < 0 || layer || (out && *num + 1 >= room))
        return r < 0 || layer ? r : VK_INCOMPLETE;
    if (out) {
        out[*num] = (VkExtensionProperties){VK_EXT_DEVICE_FAULT_EXTENSION_NAME, 1};
        out[*num + 1] = (VkExtensionProperties){VK_EXT_DEVICE_ADDRESS_BINDING_REPORT_EXTENSION_NAME, 1};
    }
    *num += 2;
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateDevice(VkPhysicalDevice physical,
                                                          const VkDeviceCreateInfo *info,
                                                          const VkAllocationCallbacks *allocator,
                                                          VkDevice *out)
{
    const struct layer_instance *i = layer_find(&instances, physical);
    const char **names = calloc(info->enabledExtensionCount + 1, sizeof(*names));
    struct device *d = calloc(1, sizeof(*d));
    VkDeviceCreateInfo mine = *info;
    VkBool32 none = VK_FALSE, *feature = &none, *binds = &none;
    bool enabled = false, reports = false, preferred;
    VkResult r;

    mine.enabledExtensionCount = 0;
    mine.ppEnabledExtensionNames = names;
    for (uint32_t k = 0; k < info->enabledExtensionCount; k++)
        if (!strcmp(info->ppEnabledExtensionNames[k], VK_EXT_DEVICE_FAULT_EXTENSION_NAME))
            enabled = true;
        else if (!strcmp(info->ppEnabledExtensionNames[k],
                         VK_EXT_DEVICE_ADDRESS_BINDING_REPORT_EXTENSION_NAME))
            reports = true;
        else
            names[mine.enabledExtensionCount++] = info->ppEnabledExtensionNames[k];
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT)
            feature = &((VkPhysicalDeviceFaultFeaturesEXT *)(uintptr_t)s)->deviceFault;
        else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ADDRESS_BINDING_REPORT_FEATURES_EXT)
            binds = &((VkPhysicalDeviceAddressBindingReportFeaturesEXT *)(uintptr_t)s)->reportAddressBinding;
    d->tells = enabled && *feature && !getenv("AEROGPU_TEST_DRIVER_SAYS_NOTHING");
    d->binds = reports && *binds;
    *feature = *binds = VK_FALSE; /* the real driver does not have it */
    r = layer_create_device(i, physical, &mine, &mine, allocator, out, &d->get, &preferred);
    *binds = (VkBool32)d->binds;
    *feature = (VkBool32)d->tells;
    free(names);
    if (r != VK_SUCCESS)
        return r;
    d->submit = (PFN_vkQueueSubmit)d->get(*out, "vkQueueSubmit");
    d->address_of = (PFN_vkGetBufferDeviceAddress)d->get(*out, "vkGetBufferDeviceAddress");
    d->destroy = (PFN_vkDestroyDevice)d->get(*out, "vkDestroyDevice");
    d->create_image = (PFN_vkCreateImage)d->get(*out, "vkCreateImage");
    d->instance = i;
    layer_put(&devices, &d->object, *out);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateImage(VkDevice device, const VkImageCreateInfo *info,
                                                         const VkAllocationCallbacks *allocator, VkImage *out)
{
    struct device *d = layer_find(&devices, device);
    VkResult r = d->create_image(device, info, allocator, out);
    const VkDeviceAddressBindingCallbackDataEXT binding = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_ADDRESS_BINDING_CALLBACK_DATA_EXT,
        .baseAddress = IMAGES_AT + (d->images << 32),
        .size = 4 << 20,
        .bindingType = VK_DEVICE_ADDRESS_BINDING_TYPE_BIND_EXT};
    const VkDebugUtilsObjectNameInfoEXT object = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
                                                  .objectType = VK_OBJECT_TYPE_IMAGE,
                                                  .objectHandle = r ? 0 : (uint64_t)*out};
    const VkDebugUtilsMessengerCallbackDataEXT data = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CALLBACK_DATA_EXT,
        .pNext = &binding,
        .pMessage = "an address is bound",
        .objectCount = 1,
        .pObjects = &object};
    PFN_vkSubmitDebugUtilsMessageEXT submit = (PFN_vkSubmitDebugUtilsMessageEXT)d->instance->get(
        d->instance->handle, "vkSubmitDebugUtilsMessageEXT");

    if (!r && d->binds && submit) {
        submit(d->instance->handle, VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT,
               VK_DEBUG_UTILS_MESSAGE_TYPE_DEVICE_ADDRESS_BINDING_BIT_EXT, &data);
        d->images++;
    }
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

static VKAPI_ATTR VkDeviceAddress VKAPI_CALL
hook_vkGetBufferDeviceAddress(VkDevice device, const VkBufferDeviceAddressInfo *info)
{
    struct device *d = layer_find(&devices, device);

    return d->last = d->address_of(device, info);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkQueueSubmit(VkQueue queue, uint32_t count,
                                                         const VkSubmitInfo *infos, VkFence fence)
{
    struct device *d = layer_find(&devices, queue);
    VkResult r = d->submit(queue, count, infos, fence);

    if (r || ++d->submissions != BAD_SUBMISSION)
        return r;
    usleep(100000); /* it works on that */
    return VK_ERROR_DEVICE_LOST;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkGetDeviceFaultInfoEXT(VkDevice device,
                                                                   VkDeviceFaultCountsEXT *counts,
                                                                   VkDeviceFaultInfoEXT *info)
{
    const struct device *d = layer_find(&devices, device);

    counts->addressInfoCount = (uint32_t)d->tells;
    counts->vendorInfoCount = 0;
    counts->vendorBinarySize = 0;
    if (!info || !d->tells)
        return VK_SUCCESS;
    snprintf(info->description, sizeof(info->description), "MMU fault of the test's driver");
    info->pAddressInfos[0] =
        (VkDeviceFaultAddressInfoEXT){VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT, d->last + BEHIND, 16};
    return VK_SUCCESS;
}

static const struct layer_hook device_hooks[] = {
    LAYER_HOOK(vkDestroyDevice), LAYER_HOOK(vkQueueSubmit),           LAYER_HOOK(vkGetBufferDeviceAddress),
    LAYER_HOOK(vkCreateImage),   LAYER_HOOK(vkGetDeviceFaultInfoEXT), LAYER_HOOKS_END};

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
    static const struct layer_hook hooks[] = {
        LAYER_HOOK(vkCreateInstance), LAYER_HOOK(vkDestroyInstance), LAYER_HOOK(vkCreateDevice),
        LAYER_HOOK(vkEnumerateDeviceExtensionProperties), LAYER_HOOKS_END};

    return layer_instance_proc(&instances, instance, name, hooks, device_hook);
}

LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *n)
{
    return layer_negotiate(n, get_instance_proc, get_device_proc);
}
