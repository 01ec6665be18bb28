/* SPDX-License-Identifier: MIT */
/* device.h: what the layer's files share. */
#pragma once

#include "lose/faults.h"
#include "lose/slot.h"

#define STEP_NS (20 * NSEC_PER_MSEC)

enum state { ALIVE, HUNG, LOST };

/* The calls that may answer VK_ERROR_DEVICE_LOST and that this layer answers so. */
#define LOSE_HOOKS(C)                                                                                        \
    C(vkQueueSubmit)                                                                                         \
    C(vkQueueSubmit2)                                                                                        \
    C(vkQueueBindSparse)                                                                                     \
    C(vkQueueWaitIdle)                                                                                       \
    C(vkDeviceWaitIdle)                                                                                      \
    C(vkQueuePresentKHR)                                                                                     \
    C(vkAcquireNextImageKHR)                                                                                 \
    C(vkAcquireNextImage2KHR)                                                                                \
    C(vkCreateSwapchainKHR)                                                                                  \
    C(vkGetSwapchainStatusKHR)                                                                               \
    C(vkWaitForPresentKHR)                                                                                   \
    C(vkWaitForFences)                                                                                       \
    C(vkGetFenceStatus)                                                                                      \
    C(vkWaitSemaphores)                                                                                      \
    C(vkGetSemaphoreCounterValue)                                                                            \
    C(vkGetEventStatus)                                                                                      \
    C(vkGetQueryPoolResults)

/* The next functions of a device; NULL where it has none. */
#define LOSE_NEXT(N)                                                                                         \
    N(vkDestroyDevice)                                                                                       \
    N(vkAllocateMemory)                                                                                      \
    N(vkFreeMemory) N(vkQueueSubmit2KHR) N(vkWaitSemaphoresKHR) N(vkGetSemaphoreCounterValueKHR) LOSE_HOOKS(N)

struct device {
    struct layer_object object;
    VkDevice handle;
    struct layer_instance *instance;
    struct lose_device *slot;
    _Atomic enum state state;
    bool settled,
        stuck; /* it was waited for; it was lost at work that waits for somebody: what it may use stays */
    pthread_mutex_t queues; /* held in calls to the real queues, so that the real device can be waited for */
    PFN_vkGetDeviceProcAddr get;
#define NEXT_ROW(name) PFN_##name name;
    LOSE_NEXT(NEXT_ROW)
#undef NEXT_ROW
    PFN_vkVoidFunction
        destroys[LOSE_NUM_DESTROYS]; /* the next layer's functions that destroy what is the device's */
    PFN_vkVoidFunction
        next[LOSE_NUM_CALLS]; /* of the calls that are watched, and have no hook of the layer's own */
};

/* The next functions of an instance: `own` of its layer_instance. Asked for while it is made, as those in layer/layer.h. */
struct instance_next {
    PFN_vkVoidFunction of[LOSE_NUM_CALLS]; /* of the calls that are watched */
    PFN_vkGetPhysicalDeviceMemoryProperties2 memory2;
};

extern struct layer_table lose_instances, lose_devices;

/* The hook of the layer's own for a call, or NULL. */
PFN_vkVoidFunction lose_own_hook(enum lose_call call);
/* Loses the device, as in layer.c. */
void lose_device(struct device *d);
/* Whether what is the device's may be destroyed. */
bool lose_may_destroy(struct device *d);

/* Reads what is asked. */
void faults_open(void);
/* Whether `name` is called for a fault: its hook, or NULL. `of_device`: what a device has. */
PFN_vkVoidFunction fault_find(const char *name, bool of_device);
/* vkAllocateMemory where memory is limited, or NULL. */
PFN_vkVoidFunction faults_allocate(void);
/* Makes `own` of an instance that is being made; false: there is no memory. */
bool faults_of_instance(struct layer_instance *i);
/* Fills `next` and `destroys` of a device. */
void faults_of_device(struct device *d);

/* Generated: for all that destroys or frees what is the device's. */
extern const struct layer_hook destroy_hooks[];
extern const char *const destroy_names[LOSE_NUM_DESTROYS];
