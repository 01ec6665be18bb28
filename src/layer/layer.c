/* SPDX-License-Identifier: MIT */
#include "layer/layer.h"

#include <stdlib.h>
#include <string.h>

static void *key_of(const void *dispatchable)
{
    return *(void *const *)dispatchable;
}

void layer_put(struct layer_table *t, struct layer_object *o, const void *dispatchable)
{
    o->key = key_of(dispatchable);
    pthread_mutex_lock(&t->lock);
    o->next = t->first;
    t->first = o;
    for (uint32_t i = 0; i < LAYER_FAST; i++)
        if (!atomic_load(&t->fast[i].key)) {
            t->fast[i].object = o;
            atomic_store_explicit(&t->fast[i].key, o->key, memory_order_release);
            break;
        }
    pthread_mutex_unlock(&t->lock);
}

void *layer_find(struct layer_table *t, const void *dispatchable)
{
    void *key = key_of(dispatchable);
    struct layer_object *o;

    for (uint32_t i = 0; i < LAYER_FAST; i++)
        if (atomic_load_explicit(&t->fast[i].key, memory_order_acquire) == key)
            return t->fast[i].object;
    pthread_mutex_lock(&t->lock);
    for (o = t->first; o && o->key != key; o = o->next)
        continue;
    pthread_mutex_unlock(&t->lock);
    return o;
}

void layer_remove(struct layer_table *t, struct layer_object *o)
{
    pthread_mutex_lock(&t->lock);
    for (struct layer_object **p = &t->first; *p; p = &(*p)->next)
        if (*p == o) {
            *p = o->next;
            break;
        }
    for (uint32_t i = 0; i < LAYER_FAST; i++)
        if (atomic_load(&t->fast[i].key) == o->key)
            atomic_store(&t->fast[i].key, NULL);
    pthread_mutex_unlock(&t->lock);
}

void layer_each(struct layer_table *t, void (*each)(void *object))
{
    for (uint32_t i = 0; i < LAYER_FAST; i++)
        if (atomic_load_explicit(&t->fast[i].key, memory_order_acquire))
            each(t->fast[i].object);
}

/* ---- instances ----------------------------------------------------------- */

/* The loader's, made to be moved on. */
static VkLayerInstanceCreateInfo *instance_link(const VkInstanceCreateInfo *info)
{
    const VkLayerInstanceCreateInfo *i = info->pNext;

    while (i &&
           !(i->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO && i->function == VK_LAYER_LINK_INFO))
        i = i->pNext;
    return (VkLayerInstanceCreateInfo *)(uintptr_t)i;
}

static PFN_vkVoidFunction get_either(const struct layer_instance *i, const char *name, const char *older)
{
    PFN_vkVoidFunction fn = i->get(i->handle, name);

    return fn ? fn : i->get(i->handle, older);
}

VkResult layer_create_instance(struct layer_table *t, const VkInstanceCreateInfo *info,
                               const VkInstanceCreateInfo *preferred, const VkAllocationCallbacks *allocator,
                               VkInstance *out)
{
    VkLayerInstanceCreateInfo *link = instance_link(info);
    VkLayerInstanceLink *before = link ? link->u.pLayerInfo : NULL;
    struct layer_instance *i;
    PFN_vkCreateInstance create;
    VkResult r;

    if (!link)
        return VK_ERROR_INITIALIZATION_FAILED;
    create = (PFN_vkCreateInstance)before->pfnNextGetInstanceProcAddr(VK_NULL_HANDLE, "vkCreateInstance");
    i = calloc(1, sizeof(*i));
    if (!create || !i) {
        free(i);
        return create ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_INITIALIZATION_FAILED;
    }
    link->u.pLayerInfo = before->pNext;
    r = create(preferred, allocator, out);
    if (r != VK_SUCCESS && preferred != info) {
        link->u.pLayerInfo = before->pNext;
        r = create(info, allocator, out);
    }
    if (r != VK_SUCCESS) {
        free(i);
        return r;
    }
    i->handle = *out;
    i->get = before->pfnNextGetInstanceProcAddr;
    i->destroy = (PFN_vkDestroyInstance)i->get(*out, "vkDestroyInstance");
    i->extensions =
        (PFN_vkEnumerateDeviceExtensionProperties)i->get(*out, "vkEnumerateDeviceExtensionProperties");
    i->features2 = (PFN_vkGetPhysicalDeviceFeatures2)get_either(i, "vkGetPhysicalDeviceFeatures2",
                                                                "vkGetPhysicalDeviceFeatures2KHR");
    i->families2 = (PFN_vkGetPhysicalDeviceQueueFamilyProperties2)get_either(
        i, "vkGetPhysicalDeviceQueueFamilyProperties2", "vkGetPhysicalDeviceQueueFamilyProperties2KHR");
#define LAYER_ROW(name) i->next.name = (PFN_vk##name)i->get(*out, "vk" #name);
    LAYER_PHYSICAL(LAYER_ROW)
#undef LAYER_ROW
    layer_put(t, &i->object, *out);
    return VK_SUCCESS;
}

void layer_destroy_instance(struct layer_table *t, VkInstance instance,
                            const VkAllocationCallbacks *allocator)
{
    struct layer_instance *i = instance ? layer_find(t, instance) : NULL;

    if (!i)
        return;
    layer_remove(t, &i->object);
    if (i->in_use)
        return;
    i->destroy(instance, allocator);
    free(i->own);
    free(i);
}

/* ---- devices ------------------------------------------------------------- */

static VkLayerDeviceCreateInfo *device_link(const VkDeviceCreateInfo *info)
{
    const VkLayerDeviceCreateInfo *i = info->pNext;

    while (i &&
           !(i->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO && i->function == VK_LAYER_LINK_INFO))
        i = i->pNext;
    return (VkLayerDeviceCreateInfo *)(uintptr_t)i;
}

VkResult layer_create_device(const struct layer_instance *i, VkPhysicalDevice physical,
                             const VkDeviceCreateInfo *info, const VkDeviceCreateInfo *preferred,
                             const VkAllocationCallbacks *allocator, VkDevice *out,
                             PFN_vkGetDeviceProcAddr *get, bool *by_preferred)
{
    VkLayerDeviceCreateInfo *link = device_link(info);
    VkLayerDeviceLink *before = link ? link->u.pLayerInfo : NULL;
    PFN_vkCreateDevice create;
    VkResult r;

    create =
        link ? (PFN_vkCreateDevice)before->pfnNextGetInstanceProcAddr(i->handle, "vkCreateDevice") : NULL;
    if (!create)
        return VK_ERROR_INITIALIZATION_FAILED;
    *get = before->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = before->pNext;
    r = create(physical, preferred, allocator, out);
    *by_preferred = r == VK_SUCCESS;
    if (r != VK_SUCCESS && preferred != info) {
        link->u.pLayerInfo = before->pNext;
        r = create(physical, info, allocator, out);
    }
    return r;
}

/* ---- what the loader asks for -------------------------------------------- */

PFN_vkVoidFunction layer_find_hook(const struct layer_hook *hooks, const char *name)
{
    for (; hooks->name; hooks++)
        if (!strcmp(hooks->name, name))
            return hooks->fn;
    return NULL;
}

PFN_vkVoidFunction layer_instance_proc(struct layer_table *t, VkInstance instance, const char *name,
                                       const struct layer_hook *own,
                                       PFN_vkVoidFunction (*device_hook)(const char *name))
{
    PFN_vkVoidFunction hook = layer_find_hook(own, name), next;
    const struct layer_instance *i = instance && !hook ? layer_find(t, instance) : NULL;

    if (hook)
        return hook;
    next = i ? i->get(instance, name) : NULL;
    hook = next ? device_hook(name) : NULL;
    return hook ? hook : next;
}

VkResult layer_negotiate(VkNegotiateLayerInterface *n, PFN_vkGetInstanceProcAddr instance,
                         PFN_vkGetDeviceProcAddr device)
{
    if (n->loaderLayerInterfaceVersion < 2)
        return VK_ERROR_INITIALIZATION_FAILED;
    n->loaderLayerInterfaceVersion = 2;
    n->pfnGetInstanceProcAddr = instance;
    n->pfnGetDeviceProcAddr = device;
    n->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
