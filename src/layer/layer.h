/* SPDX-License-Identifier: MIT */
/* layer.h: what every Vulkan layer here does in the same way: it finds its own struct by a handle, goes on to the next layer
 * where instances and devices are made, and answers the loader.
 *
 * Objects of one device, or instance, begin with the same pointer: the key. The first keys of a table are read without a
 * lock: one is written last when its device is made, and taken away before the device is gone.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define LAYER_EXPORT __attribute__((visibility("default")))

/* The first member of what is in a table. */
struct layer_object {
    struct layer_object *next;
    void *key;
};

enum { LAYER_FAST = 64 };

struct layer_table {
    pthread_mutex_t lock;
    struct layer_object *first;
    struct {
        void *_Atomic key;
        struct layer_object *object;
    } fast[LAYER_FAST];
};

#define LAYER_TABLE                                                                                          \
    {                                                                                                        \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                                    \
    }

void layer_put(struct layer_table *t, struct layer_object *o, const void *dispatchable);
void *layer_find(struct layer_table *t, const void *dispatchable); /* NULL: none */
/* The same, at once for the one that was made first: most programs have no other. */
static inline void *layer_find_first(struct layer_table *t, const void *dispatchable)
{
    const void *key = *(void *const *)dispatchable; /* the loader's dispatch table */

    return __builtin_expect(atomic_load_explicit(&t->fast[0].key, memory_order_acquire) == key, 1)
               ? t->fast[0].object
               : layer_find(t, dispatchable);
}
void layer_remove(struct layer_table *t, struct layer_object *o);
/* The first LAYER_FAST. Takes no lock: safe in a signal handler. */
void layer_each(struct layer_table *t, void (*each)(void *object));

/* What a layer asks of physical devices. */
#define LAYER_PHYSICAL(F)                                                                                    \
    F(GetPhysicalDeviceProperties)                                                                           \
    F(GetPhysicalDeviceProperties2)                                                                          \
    F(GetPhysicalDeviceQueueFamilyProperties)                                                                \
    F(GetPhysicalDeviceMemoryProperties)                                                                     \
    F(GetPhysicalDeviceImageFormatProperties2)

/* The next layer's, NULL where it has none. Looked up while the instance is made: later the loader gives the lowest layer those of
 * the uppermost. */
struct layer_physical {
#define LAYER_ROW(name) PFN_vk##name name;
    LAYER_PHYSICAL(LAYER_ROW)
#undef LAYER_ROW
};

struct layer_instance {
    struct layer_object object;
    VkInstance handle;
    PFN_vkGetInstanceProcAddr get; /* of the next layer */
    /* The next layer's, asked for while the instance is made: later the loader answers with the first layer's. NULL: it has none */
    PFN_vkDestroyInstance destroy;
    PFN_vkEnumerateDeviceExtensionProperties extensions;
    PFN_vkGetPhysicalDeviceFeatures2 features2;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties2 families2;
    struct layer_physical next;
    void *own;   /* what this layer keeps with it: from malloc(), freed with it */
    bool in_use; /* a device of it cannot be destroyed: neither can it */
};

/* Makes the instance at the next layer by `preferred`, or by `info` if that is refused; both may be the same. */
VkResult layer_create_instance(struct layer_table *t, const VkInstanceCreateInfo *info,
                               const VkInstanceCreateInfo *preferred, const VkAllocationCallbacks *allocator,
                               VkInstance *out);
void layer_destroy_instance(struct layer_table *t, VkInstance instance,
                            const VkAllocationCallbacks *allocator);

/* The same of a device; `*by_preferred` says which of the two it was. `*get` is the next layer's. */
VkResult layer_create_device(const struct layer_instance *i, VkPhysicalDevice physical,
                             const VkDeviceCreateInfo *info, const VkDeviceCreateInfo *preferred,
                             const VkAllocationCallbacks *allocator, VkDevice *out,
                             PFN_vkGetDeviceProcAddr *get, bool *by_preferred);

struct layer_hook {
    const char *name; /* NULL ends a list */
    PFN_vkVoidFunction fn;
};

#define LAYER_HOOK(name)                                                                                     \
    {                                                                                                        \
#name, (PFN_vkVoidFunction)hook_##name                                                               \
    }
/* An older name of the same function. */
#define LAYER_ALIAS(name, tag)                                                                               \
    {                                                                                                        \
#name #tag, (PFN_vkVoidFunction)hook_##name                                                          \
    }
#define LAYER_HOOKS_END                                                                                      \
    {                                                                                                        \
        NULL, NULL                                                                                           \
    }

PFN_vkVoidFunction layer_find_hook(const struct layer_hook *hooks, const char *name);

/* vkGetInstanceProcAddr: `own` are of instances, `device_hook` finds those of devices. What the next layer has not, is not
 * there with this one either. */
PFN_vkVoidFunction layer_instance_proc(struct layer_table *t, VkInstance instance, const char *name,
                                       const struct layer_hook *own,
                                       PFN_vkVoidFunction (*device_hook)(const char *name));

VkResult layer_negotiate(VkNegotiateLayerInterface *n, PFN_vkGetInstanceProcAddr instance,
                         PFN_vkGetDeviceProcAddr device);
