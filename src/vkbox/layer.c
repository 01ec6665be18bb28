/* SPDX-License-Identifier: MIT */
/* layer.c: instances and devices, and what the loader asks for. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

#include "base/check.h"
#include "vkbox/layer.h"

static struct layer_table instances = LAYER_TABLE, devices = LAYER_TABLE;

struct device *device_of(const void *dispatchable)
{
    return layer_find(&devices, dispatchable);
}

void devices_each(void (*each)(void *device))
{
    layer_each(&devices, each);
}

/* ---- devices ------------------------------------------------------------- */

static struct vkbox_device *take_slot(uint32_t *index)
{
    /* One that was never used first: of a device that is gone something may still be asked. */
    for (int round = 0; box && round < 2; round++) {
        for (uint32_t i = 0; i < VKBOX_DEVICES; i++) {
            uint32_t expected = round ? VKBOX_GONE : VKBOX_FREE;
            struct vkbox_device *s = &box->devices[i];

            if (!atomic_compare_exchange_strong(&s->state, &expected, VKBOX_LIVE))
                continue;
            atomic_store(&s->lost, 0);
            s->destroyed_ns = 0;
            *index = i;
            return s;
        }
    }
    if (box)
        atomic_fetch_add(&box->devices_lost, 1);
    return NULL;
}

struct creation {
    VkPhysicalDevice physical;
    const char **names;
    uint32_t
        has; /* a bit for each enum wanted: the device can map memory of the process; its driver tells of faults, of addresses */
    uint32_t can_offer,
        offers; /* extensions of the layer's: that the driver has not, that the program wants */
};

static bool has_name(const char *const *names, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

static bool has_struct(const void *chain, VkStructureType type)
{
    const VkBaseInStructure *s = chain;

    while (s && s->sType != type)
        s = s->pNext;
    return s;
}

/* The program's extensions but those that the layer provides; `info` also gets those that the layer wants, where the device has them. */
static void extend(struct creation *c, VkDeviceCreateInfo *base, VkDeviceCreateInfo *info, uint32_t has)
{
    uint32_t found = 0, kept = 0;

    c->names = calloc(info->enabledExtensionCount + WANTED, sizeof(*c->names));
    if (!c->names)
        return;
    for (uint32_t k = 0; k < base->enabledExtensionCount; k++) {
        const uint32_t offer = offer_of_name(base->ppEnabledExtensionNames[k]) & c->can_offer;

        c->offers |= offer;
        if (!offer)
            c->names[kept++] = base->ppEnabledExtensionNames[k];
    }
    for (uint32_t w = 0; w < WANTED; w++)
        if (has >> w & 1 && !has_name(c->names, kept, offers_wanted[w]))
            c->names[kept + found++] = offers_wanted[w];
    c->has = has;
    base->ppEnabledExtensionNames = info->ppEnabledExtensionNames = c->names;
    base->enabledExtensionCount = kept;
    info->enabledExtensionCount = kept + found;
}

static void describe(struct device *d, VkPhysicalDevice physical)
{
    const struct layer_physical *next = &d->instance->next;
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 p = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    VkPhysicalDeviceMemoryProperties memory;
    VkQueueFamilyProperties family[16];
    uint32_t n = 16;

    if (next->GetPhysicalDeviceQueueFamilyProperties)
        next->GetPhysicalDeviceQueueFamilyProperties(physical, &n, family);
    for (uint32_t i = 0; next->GetPhysicalDeviceQueueFamilyProperties && i < n; i++)
        d->family_flags[i] = family[i].queueFlags;
    if (!next->GetPhysicalDeviceProperties || !d->slot)
        return;
    next->GetPhysicalDeviceProperties(physical, &p.properties);
    if (next->GetPhysicalDeviceProperties2 && p.properties.apiVersion >= VK_API_VERSION_1_2) {
        p.pNext = &driver;
        next->GetPhysicalDeviceProperties2(physical, &p);
    }
    if (p.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU && next->GetPhysicalDeviceMemoryProperties) {
        next->GetPhysicalDeviceMemoryProperties(physical, &memory);
        for (uint32_t i = 0; i < memory.memoryTypeCount; i++)
            if (memory.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
                d->visible |= 1u << i;
    }
    d->slot->vendor = p.properties.vendorID;
    d->slot->id = p.properties.deviceID;
    d->slot->api_version = p.properties.apiVersion;
    d->slot->driver_version = p.properties.driverVersion;
    d->slot->processor = p.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    d->slot->driver_id = driver.driverID;
    snprintf(d->slot->name, sizeof(d->slot->name), "%.127s", p.properties.deviceName);
    snprintf(d->slot->driver, sizeof(d->slot->driver), "%.63s", driver.driverName);
    snprintf(d->slot->driver_info, sizeof(d->slot->driver_info), "%.63s", driver.driverInfo);
}

static void load(struct next *next, VkDevice device, PFN_vkGetDeviceProcAddr get,
                 const struct layer_instance *i)
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

/* The driver may call them on threads of its own: code that the program generated is then there, too. */
static void note_callbacks(const VkAllocationCallbacks *a)
{
    Dl_info info;

    if (!box || !a)
        return;
    if (!dladdr((const void *)(uintptr_t)a->pfnAllocation, &info) ||
        !dladdr((const void *)(uintptr_t)a->pfnReallocation, &info) ||
        !dladdr((const void *)(uintptr_t)a->pfnFree, &info))
        atomic_store(&box->callbacks, VKBOX_GENERATED_CALLBACKS);
    else if (!atomic_load(&box->callbacks))
        atomic_store(&box->callbacks, VKBOX_CALLBACKS);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateDevice(VkPhysicalDevice physical,
                                                          const VkDeviceCreateInfo *info,
                                                          const VkAllocationCallbacks *allocator,
                                                          VkDevice *out)
{
    struct layer_instance *i = layer_find(&instances, physical);
    struct creation c = {physical};
    VkDeviceCreateInfo base = *info, mine = *info;
    VkPhysicalDeviceFaultFeaturesEXT fault = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT,
                                              .deviceFault = VK_TRUE};
    VkPhysicalDeviceAddressBindingReportFeaturesEXT bindings = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ADDRESS_BINDING_REPORT_FEATURES_EXT,
        .reportAddressBinding = VK_TRUE};
    VkBool32 was[OFFERS];
    struct device *d;
    bool mine_made;
    VkResult r;

    if (!i)
        return VK_ERROR_INITIALIZATION_FAILED;
    d = calloc(1, sizeof(*d));
    if (!d)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    note_callbacks(allocator);
    if (box)
        signals_install(); /* a full file system says so by one */
    d->slot = take_slot(&d->index);
    if (box) {
        const struct offers_physical p = offers_of(i, physical);

        c.can_offer = p.offers;
        extend(&c, &base, &mine, p.has);
    }
    if (c.has >> WANTED_FAULTS & 1 && !has_struct(info->pNext, fault.sType)) {
        fault.pNext = (void *)(uintptr_t)info->pNext;
        mine.pNext = &fault;
    }
    if (c.has >> WANTED_BINDINGS & 1 && !has_struct(info->pNext, bindings.sType)) {
        bindings.pNext = (void *)(uintptr_t)mine.pNext;
        mine.pNext = &bindings;
    }
    offers_hide(info->pNext, c.can_offer, was, false);
    /* 1: what the program asked for decides. */
    r = layer_create_device(i, physical, &base, c.names && d->slot ? &mine : &base, allocator, out, &d->get,
                            &mine_made);
    offers_hide(info->pNext, c.can_offer, was, true);
    free(c.names);
    if (r != VK_SUCCESS) {
        if (d->slot)
            atomic_store(&d->slot->state, VKBOX_GONE);
        free(d);
        return r;
    }
    d->handle = *out;
    d->instance = i;
    d->offers = c.offers;
    d->cuts = box && (box->exact || box_is_own || box_known.num ||
                      c.offers & (1u << OFFER_MARKER | 1u << OFFER_CHECKPOINTS));
    load(&d->next, *out, d->get, i);
    describe(d, physical);
    if (d->slot) {
        d->slot->handle = (uint64_t)(uintptr_t)*out;
        d->slot->created_ns = box_now();
        d->slot->guards = 0;
        atomic_store(&d->slot->guarded, 0);
        atomic_store(&d->slot->unguarded, 0);
        if (c.has >> WANTED_BINDINGS & 1 && mine_made)
            offers_listen(d);
        marks_create(d, physical, c.has >> WANTED_IMPORTS & 1 && mine_made);
        if (box->guard && c.has >> WANTED_IMPORTS & 1 && mine_made)
            guard_create(d, physical);
    }
    layer_put(&devices, &d->object, *out);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL hook_vkDestroyDevice(VkDevice device,
                                                       const VkAllocationCallbacks *allocator)
{
    struct device *d = device ? device_of(device) : NULL;
    bool lost;

    if (!d)
        return;
    queues_await(d);          /* what the driver would wait for; a hang ends it here */
    lost = device_is_lost(d); /* while the slot is its own */
    layer_remove(&devices, &d->object);
    commands_device_gone(d);
    passes_device_gone(d);
    descriptors_device_gone(d);
    objects_device_gone(d);
    queues_device_gone(d);
    if (lost) { /* it works on what would be freed */
        d->instance->in_use = true;
    } else {
        guard_destroy(d);
        marks_destroy(d);
    }
    if (d->slot) {
        d->slot->destroyed_ns = box_now();
        atomic_store(&d->slot->state, VKBOX_GONE);
    }
    if (lost)
        return;
    d->next.vkDestroyDevice(device, allocator);
    offers_deafen(d);
    free(d);
}

/* ---- instances ----------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateInstance(const VkInstanceCreateInfo *info,
                                                            const VkAllocationCallbacks *allocator,
                                                            VkInstance *out)
{
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO};
    VkInstanceCreateInfo mine = *info;
    const uint32_t n = info->enabledExtensionCount;
    const char **names;
    VkResult r;

    box_open(NULL);
    note_callbacks(allocator);
    names = box ? calloc(n + 1, sizeof(*names)) : NULL;
    if (!names)
        return layer_create_instance(&instances, info, info, allocator, out);
    /* Of a program of Vulkan 1.0 the marks need two extensions of the instance, which 1.1 has within. */
    if (info->pApplicationInfo)
        app = *info->pApplicationInfo;
    if (app.apiVersion < VK_API_VERSION_1_1)
        app.apiVersion = VK_API_VERSION_1_1;
    mine.pApplicationInfo = &app;
    /* By its messengers drivers tell of addresses. */
    for (uint32_t k = 0; k < n; k++)
        names[k] = info->ppEnabledExtensionNames[k];
    mine.ppEnabledExtensionNames = names;
    if (!has_name(names, n, VK_EXT_DEBUG_UTILS_EXTENSION_NAME))
        names[mine.enabledExtensionCount++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    r = layer_create_instance(&instances, info, &mine, allocator, out);
    free(names);
    return r;
}

static VKAPI_ATTR void VKAPI_CALL hook_vkDestroyInstance(VkInstance instance,
                                                         const VkAllocationCallbacks *allocator)
{
    layer_destroy_instance(&instances, instance, allocator);
}

/* ---- what a device has --------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkEnumerateDeviceExtensionProperties(VkPhysicalDevice physical,
                                                                                const char *layer,
                                                                                uint32_t *num,
                                                                                VkExtensionProperties *out)
{
    return offers_enumerate(layer_find(&instances, physical), physical, layer, num, out);
}

static VKAPI_ATTR void VKAPI_CALL hook_vkGetPhysicalDeviceFeatures2(VkPhysicalDevice physical,
                                                                    VkPhysicalDeviceFeatures2 *features)
{
    struct layer_instance *i = layer_find(&instances, physical);

    if (i->features2)
        i->features2(physical, features);
    offers_features(i, physical, features->pNext);
}

static VKAPI_ATTR void VKAPI_CALL hook_vkGetPhysicalDeviceQueueFamilyProperties2(
    VkPhysicalDevice physical, uint32_t *num, VkQueueFamilyProperties2 *out)
{
    struct layer_instance *i = layer_find(&instances, physical);

    if (i->families2)
        i->families2(physical, num, out);
    if (out)
        offers_families(i, physical, *num, out);
}

/* ---- what the loader asks for -------------------------------------------- */

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance, const char *name);

static const struct layer_hook device_hooks[] = {
    {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)get_device_proc},
    LAYER_HOOK(vkDestroyDevice),
    LAYER_HOOKS_END,
};

/* Loaders and programs ask for all that there is, again and again. */
enum { HOOKS = 2048 };
static const struct layer_hook *hooks_by_name[HOOKS];

/* Where it is, or would be. */
static const struct layer_hook **hook_place(const char *name)
{
    uint32_t at = 2166136261u; /* FNV-1a */

    for (const char *c = name; *c; c++)
        at = (at ^ (uint8_t)*c) * 16777619u;
    for (at ^= at >> 16;; at++)
        if (!hooks_by_name[at % HOOKS] || !strcmp(hooks_by_name[at % HOOKS]->name, name))
            return &hooks_by_name[at % HOOKS];
}

/* Those written by hand come before the generated ones. */
static void sort_hooks(void)
{
    static const struct layer_hook *const lists[] = {device_hooks,     queue_hooks,    command_hooks,
                                                     object_hooks,     pass_hooks,     guard_hooks,
                                                     descriptor_hooks, generated_hooks};
    uint32_t num = 0;

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        for (const struct layer_hook *h = lists[i]; h->name; h++) {
            const struct layer_hook **place = hook_place(h->name);

            num += !*place;
            INVARIANT(num < HOOKS); /* or a search would not end */
            if (!*place)
                *place = h;
        }
}

static PFN_vkVoidFunction device_hook(const char *name)
{
    static pthread_once_t sorted = PTHREAD_ONCE_INIT;
    const struct layer_hook *hook;

    if (!box)
        return layer_find_hook(device_hooks, name);
    pthread_once(&sorted, sort_hooks);
    hook = *hook_place(name);
    return hook ? hook->fn : NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name)
{
    struct device *d = device_of(device);
    PFN_vkVoidFunction offer = offers_find(d, name), next = offer ? offer : d->get(device, name),
                       hook = next && !offer ? device_hook(name) : NULL;

    if (next && !offer && !hook && !strncmp(name, "vkCmd", 5)) {
        atomic_store(&d->strange, true);
        return foreign_thunk_of(name, next);
    }
    return hook ? hook : next; /* what the device has not, it has not with the layer either */
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance, const char *name)
{
    static const struct layer_hook hooks[] = {
        {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)get_instance_proc},
        LAYER_HOOK(vkCreateInstance),
        LAYER_HOOK(vkDestroyInstance),
        LAYER_HOOK(vkCreateDevice),
        LAYER_HOOK(vkEnumerateDeviceExtensionProperties),
        LAYER_HOOK(vkGetPhysicalDeviceFeatures2),
        LAYER_ALIAS(vkGetPhysicalDeviceFeatures2, KHR),
        LAYER_HOOK(vkGetPhysicalDeviceQueueFamilyProperties2),
        LAYER_ALIAS(vkGetPhysicalDeviceQueueFamilyProperties2, KHR),
        LAYER_HOOKS_END,
    };

    return layer_instance_proc(&instances, instance, name, hooks, device_hook);
}

LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *n)
{
    return layer_negotiate(n, get_instance_proc, get_device_proc);
}
