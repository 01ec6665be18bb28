/* SPDX-License-Identifier: MIT */
/* layer.c: instances and devices, and what the loader asks for.
 *
 * A device is found by the first word of any of its objects. The table of them is read without a lock: an entry's key is
 * written last when the device is made, and taken away before it is gone.
 */
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

#include "vkbox/layer.h"

#define EXPORT __attribute__((visibility("default")))

enum { FAST = 64 };

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* the lists; entries of `fast` are changed with it */
static struct instance *instances;
static struct device *devices;
static struct {
    void *_Atomic key;
    struct device *device;
} fast[FAST];

/* Objects of one device, or instance, begin with the same pointer. */
static void *key_of(const void *dispatchable)
{
    return *(void *const *)dispatchable;
}

struct device *device_of(const void *dispatchable)
{
    void *key = key_of(dispatchable);
    struct device *d;

    for (uint32_t i = 0; i < FAST; i++)
        if (atomic_load_explicit(&fast[i].key, memory_order_acquire) == key)
            return fast[i].device;
    pthread_mutex_lock(&lock);
    for (d = devices; d && d->key != key; d = d->link)
        continue;
    pthread_mutex_unlock(&lock);
    return d;
}

void devices_each(void (*each)(struct device *d, void *ctx), void *ctx)
{
    pthread_mutex_lock(&lock);
    for (struct device *d = devices; d; d = d->link)
        each(d, ctx);
    pthread_mutex_unlock(&lock);
}

static struct instance *instance_of(const void *dispatchable)
{
    struct instance *i;

    pthread_mutex_lock(&lock);
    for (i = instances; i && i->key != key_of(dispatchable); i = i->link)
        continue;
    pthread_mutex_unlock(&lock);
    return i;
}

static void publish(struct device *d)
{
    pthread_mutex_lock(&lock);
    d->link = devices;
    devices = d;
    for (uint32_t i = 0; i < FAST; i++)
        if (!atomic_load(&fast[i].key)) {
            fast[i].device = d;
            atomic_store_explicit(&fast[i].key, d->key, memory_order_release);
            break;
        }
    pthread_mutex_unlock(&lock);
}

static void retract(struct device *d)
{
    pthread_mutex_lock(&lock);
    for (struct device **p = &devices; *p; p = &(*p)->link)
        if (*p == d) {
            *p = d->link;
            break;
        }
    for (uint32_t i = 0; i < FAST; i++)
        if (atomic_load(&fast[i].key) == d->key)
            atomic_store(&fast[i].key, NULL);
    pthread_mutex_unlock(&lock);
}

/* ---- devices ------------------------------------------------------------- */

static struct vkbox_device *take_slot(uint32_t *index)
{
    uint32_t free_state = VKBOX_FREE;

    /* One that was never used first: of a device that is gone something may still be asked. */
    for (int round = 0; box && round < 2; round++) {
        for (uint32_t i = 0; i < VKBOX_DEVICES; i++) {
            uint32_t expected = round ? (uint32_t)VKBOX_GONE : free_state;
            struct vkbox_device *s = &box->devices[i];

            if (!atomic_compare_exchange_strong(&s->state, &expected, VKBOX_LIVE))
                continue;
            atomic_store(&s->lost, 0);
            s->destroyed_ns = 0;
            *index = i;
            return s;
        }
    }
    return NULL;
}

struct creation {
    VkPhysicalDevice physical;
    PFN_vkGetInstanceProcAddr get;
    const char **names;
    bool imports; /* the device can map memory of the process */
};

static bool has_name(const char *const *names, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

/* The program's extensions, and those that the marks need, where the device has them. */
static void extend(struct creation *c, VkDeviceCreateInfo *info, VkInstance instance)
{
    PFN_vkEnumerateDeviceExtensionProperties enumerate =
        (PFN_vkEnumerateDeviceExtensionProperties)c->get(instance, "vkEnumerateDeviceExtensionProperties");
    static const char *const wanted[] = {VK_KHR_EXTERNAL_MEMORY_EXTENSION_NAME,
                                         VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME};
    VkExtensionProperties *have = NULL;
    uint32_t n = 0, found = 0;

    if (!enumerate || enumerate(c->physical, NULL, &n, NULL) || !n)
        return;
    have = calloc(n, sizeof(*have));
    c->names = calloc(info->enabledExtensionCount + 2, sizeof(*c->names));
    if (!have || !c->names || enumerate(c->physical, NULL, &n, have) < 0) {
        free(have);
        return;
    }
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
        c->names[i] = info->ppEnabledExtensionNames[i];
    for (uint32_t w = 0; w < 2; w++) {
        bool there = has_name(info->ppEnabledExtensionNames, info->enabledExtensionCount, wanted[w]);

        for (uint32_t i = 0; !there && i < n; i++)
            if (!strcmp(have[i].extensionName, wanted[w])) {
                c->names[info->enabledExtensionCount + found++] = wanted[w];
                there = true;
            }
        c->imports = there; /* of the last one, which needs the first */
    }
    free(have);
    info->ppEnabledExtensionNames = c->names;
    info->enabledExtensionCount += found;
}

static void describe(struct device *d, VkPhysicalDevice physical, PFN_vkGetInstanceProcAddr get)
{
    PFN_vkGetPhysicalDeviceProperties plain =
        (PFN_vkGetPhysicalDeviceProperties)get(d->instance->handle, "vkGetPhysicalDeviceProperties");
    PFN_vkGetPhysicalDeviceProperties2 more =
        (PFN_vkGetPhysicalDeviceProperties2)get(d->instance->handle, "vkGetPhysicalDeviceProperties2");
    PFN_vkGetPhysicalDeviceQueueFamilyProperties families = (PFN_vkGetPhysicalDeviceQueueFamilyProperties)get(
        d->instance->handle, "vkGetPhysicalDeviceQueueFamilyProperties");
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 p = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    VkQueueFamilyProperties family[16];
    uint32_t n = 16;

    if (families)
        families(physical, &n, family);
    for (uint32_t i = 0; families && i < n; i++)
        d->family_flags[i] = family[i].queueFlags;
    if (!plain || !d->slot)
        return;
    plain(physical, &p.properties);
    if (more && p.properties.apiVersion >= VK_API_VERSION_1_2) {
        p.pNext = &driver;
        more(physical, &p);
    }
    d->slot->vendor = p.properties.vendorID;
    d->slot->id = p.properties.deviceID;
    d->slot->api_version = p.properties.apiVersion;
    d->slot->driver_version = p.properties.driverVersion;
    d->slot->driver_id = driver.driverID;
    snprintf(d->slot->name, sizeof(d->slot->name), "%.127s", p.properties.deviceName);
    snprintf(d->slot->driver, sizeof(d->slot->driver), "%.63s", driver.driverName);
    snprintf(d->slot->driver_info, sizeof(d->slot->driver_info), "%.63s", driver.driverInfo);
}

static void load(struct next *next, VkDevice device, PFN_vkGetDeviceProcAddr get, const struct instance *i)
{
#define ROW(name) next->name = (PFN_##name)get(device, #name);
    VKBOX_NEXT(ROW)
#undef ROW
#define ROW(name, alias)                                                                                     \
    if (!next->name)                                                                                         \
        next->name = (PFN_##name)get(device, #alias);
    VKBOX_ALIASES(ROW)
#undef ROW
    /* The loader has these for every program, also where the driver has not: its own end of the chain takes them. */
#define ROW(name)                                                                                            \
    if (!next->name)                                                                                         \
        next->name = (PFN_##name)i->get(i->handle, #name);
    ROW(vkSetDebugUtilsObjectNameEXT)
    ROW(vkCmdBeginDebugUtilsLabelEXT)
    ROW(vkCmdEndDebugUtilsLabelEXT)
    ROW(vkCmdInsertDebugUtilsLabelEXT)
#undef ROW
}

static VkLayerDeviceCreateInfo *device_link(const VkDeviceCreateInfo *info)
{
    const VkLayerDeviceCreateInfo *i = info->pNext;

    while (i &&
           !(i->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO && i->function == VK_LAYER_LINK_INFO))
        i = i->pNext;
    return (VkLayerDeviceCreateInfo *)(uintptr_t)i; /* the loader's, made to be moved on */
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateDevice(VkPhysicalDevice physical,
                                                          const VkDeviceCreateInfo *info,
                                                          const VkAllocationCallbacks *allocator,
                                                          VkDevice *out)
{
    struct instance *i = instance_of(physical);
    VkLayerDeviceCreateInfo *link = device_link(info);
    VkLayerDeviceLink *before = link ? link->u.pLayerInfo : NULL;
    struct creation c = {physical};
    VkDeviceCreateInfo mine = *info;
    PFN_vkGetDeviceProcAddr get;
    PFN_vkCreateDevice create;
    struct device *d;
    VkResult r;

    if (!i || !link)
        return VK_ERROR_INITIALIZATION_FAILED;
    c.get = before->pfnNextGetInstanceProcAddr;
    get = before->pfnNextGetDeviceProcAddr;
    create = (PFN_vkCreateDevice)c.get(i->handle, "vkCreateDevice");
    if (!create)
        return VK_ERROR_INITIALIZATION_FAILED;
    d = calloc(1, sizeof(*d));
    if (!d)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (box)
        signals_install(); /* a full file system says so by one */
    d->slot = take_slot(&d->index);
    if (d->slot)
        extend(&c, &mine, i->handle);
    link->u.pLayerInfo = before->pNext;
    r = create(physical, &mine, allocator, out);
    if (r != VK_SUCCESS && c.names) { /* 1: what the program asked for decides */
        link->u.pLayerInfo = before->pNext;
        c.imports = false;
        r = create(physical, info, allocator, out);
    }
    free(c.names);
    if (r != VK_SUCCESS) {
        if (d->slot)
            atomic_store(&d->slot->state, VKBOX_GONE);
        free(d);
        return r;
    }
    d->handle = *out;
    d->key = key_of(*out);
    d->get = get;
    d->instance = i;
    load(&d->next, *out, get, i);
    describe(d, physical, c.get);
    if (d->slot) {
        d->slot->handle = (uint64_t)(uintptr_t)*out;
        d->slot->created_ns = box_now();
        marks_create(d, physical, c.get, c.imports);
    }
    publish(d);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL hook_vkDestroyDevice(VkDevice device,
                                                       const VkAllocationCallbacks *allocator)
{
    struct device *d;

    if (device == VK_NULL_HANDLE)
        return;
    d = device_of(device);
    retract(d);
    commands_device_gone(d);
    passes_device_gone(d);
    objects_device_gone(d);
    queues_device_gone(d);
    if (d->slot) {
        d->slot->destroyed_ns = box_now();
        atomic_store(&d->slot->state, VKBOX_GONE);
    }
    if (device_is_lost(d)) { /* it works on what would be freed */
        d->instance->leaked++;
        return;
    }
    marks_destroy(d);
    d->next.vkDestroyDevice(device, allocator);
    free(d);
}

/* ---- instances ----------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateInstance(const VkInstanceCreateInfo *info,
                                                            const VkAllocationCallbacks *allocator,
                                                            VkInstance *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)(uintptr_t)info->pNext;
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO};
    VkInstanceCreateInfo mine = *info;
    VkLayerInstanceLink *before;
    PFN_vkCreateInstance create;
    struct instance *i;
    VkResult r;

    pthread_once(&once, box_open);
    while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
                     link->function == VK_LAYER_LINK_INFO))
        link = (VkLayerInstanceCreateInfo *)(uintptr_t)link->pNext;
    if (!link)
        return VK_ERROR_INITIALIZATION_FAILED;
    before = link->u.pLayerInfo;
    create = (PFN_vkCreateInstance)before->pfnNextGetInstanceProcAddr(VK_NULL_HANDLE, "vkCreateInstance");
    i = calloc(1, sizeof(*i));
    if (!create || !i) {
        free(i);
        return create ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_INITIALIZATION_FAILED;
    }
    /* Of a program of Vulkan 1.0 the marks need two extensions of the instance, which 1.1 has within. */
    if (info->pApplicationInfo)
        app = *info->pApplicationInfo;
    if (box && app.apiVersion < VK_API_VERSION_1_1) {
        app.apiVersion = VK_API_VERSION_1_1;
        mine.pApplicationInfo = &app;
    }
    link->u.pLayerInfo = before->pNext;
    r = create(&mine, allocator, out);
    if (r != VK_SUCCESS && mine.pApplicationInfo == &app) {
        link->u.pLayerInfo = before->pNext;
        r = create(info, allocator, out);
    }
    if (r != VK_SUCCESS) {
        free(i);
        return r;
    }
    i->handle = *out;
    i->key = key_of(*out);
    i->get = before->pfnNextGetInstanceProcAddr;
    i->destroy = (PFN_vkDestroyInstance)i->get(*out, "vkDestroyInstance");
    pthread_mutex_lock(&lock);
    i->link = instances;
    instances = i;
    pthread_mutex_unlock(&lock);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL hook_vkDestroyInstance(VkInstance instance,
                                                         const VkAllocationCallbacks *allocator)
{
    struct instance *i = NULL;

    if (instance == VK_NULL_HANDLE)
        return;
    pthread_mutex_lock(&lock);
    for (struct instance **p = &instances; *p; p = &(*p)->link)
        if ((*p)->key == key_of(instance)) {
            i = *p;
            *p = i->link;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (i->leaked)
        return;
    i->destroy(instance, allocator);
    free(i);
}

/* ---- what the loader asks for -------------------------------------------- */

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance, const char *name);

static const struct hook device_hooks[] = {
    {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)get_device_proc},
    {"vkDestroyDevice", (PFN_vkVoidFunction)hook_vkDestroyDevice},
    {NULL, NULL},
};

static PFN_vkVoidFunction find(const struct hook *hooks, const char *name)
{
    for (; hooks->name; hooks++)
        if (!strcmp(hooks->name, name))
            return hooks->fn;
    return NULL;
}

/* Those written by hand come before the generated ones. */
static PFN_vkVoidFunction device_hook(const char *name)
{
    PFN_vkVoidFunction fn = find(device_hooks, name);

    if (!box)
        return fn;
    fn = fn ? fn : find(queue_hooks, name);
    fn = fn ? fn : find(command_hooks, name);
    fn = fn ? fn : find(object_hooks, name);
    fn = fn ? fn : find(pass_hooks, name);
    for (size_t i = 0; !fn && i < num_generated_hooks; i++)
        if (!strcmp(generated_hooks[i].name, name))
            fn = generated_hooks[i].fn;
    return fn;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name)
{
    PFN_vkVoidFunction next = device_of(device)->get(device, name), hook = next ? device_hook(name) : NULL;

    return hook ? hook : next; /* what the device has not, it has not with the layer either */
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance, const char *name)
{
    static const struct hook hooks[] = {
        {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)get_instance_proc},
        {"vkCreateInstance", (PFN_vkVoidFunction)hook_vkCreateInstance},
        {"vkDestroyInstance", (PFN_vkVoidFunction)hook_vkDestroyInstance},
        {"vkCreateDevice", (PFN_vkVoidFunction)hook_vkCreateDevice},
        {NULL, NULL},
    };
    PFN_vkVoidFunction hook = find(hooks, name), next;
    struct instance *i = instance ? instance_of(instance) : NULL;

    if (hook)
        return hook;
    next = i ? i->get(instance, name) : NULL;
    hook = next ? device_hook(name) : NULL;
    return hook ? hook : next;
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *n)
{
    if (n->loaderLayerInterfaceVersion < 2)
        return VK_ERROR_INITIALIZATION_FAILED;
    n->loaderLayerInterfaceVersion = 2;
    n->pfnGetInstanceProcAddr = get_instance_proc;
    n->pfnGetDeviceProcAddr = get_device_proc;
    n->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
