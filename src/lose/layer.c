/* SPDX-License-Identifier: MIT */
/* layer.c: device-loss injection: a Vulkan layer that takes a program's device away on purpose, as a driver does after a reset.
 *
 *   ALIVE ──the asked frame or submission──▶ HUNG ──hang_ns──▶ LOST        (asked to hang)
 *     └────────────────────────────────────────────────────────▲          (asked to be lost)
 *
 * Invariants:
 *  1. ALIVE: every call goes through unchanged.
 *  2. HUNG: submissions are accepted and never run; what was submitted before completes; a wait for more lasts until LOST.
 *  3. LOST: the calls that the specification lets answer VK_ERROR_DEVICE_LOST do so, at once; all others go through, so that the
 *     program can destroy what it has. The real device is idle then: destroying is safe whatever the program waits for.
 *  4. A new device is a new start. It can be refused for some time, as by a driver that is being restarted.
 *  5. Without a record, or in a device for which there is no slot, the layer does nothing.
 *  6. A device whose work waits for somebody when it is lost is never destroyed, nor what its work may use: the driver would
 *     wait for ever.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "lose/device.h"

#define IDLE_WAIT_NS                                                                                         \
    (2 * NSEC_PER_SEC) /* for the real device, whose work may wait for a host that gives up now */
struct layer_table lose_instances = LAYER_TABLE, lose_devices = LAYER_TABLE;

static void open_record(void)
{
    lose_open_record();
    if (lose_record)
        faults_open();
}

static inline struct device *device_of(const void *dispatchable)
{
    struct device *d = layer_find_first(&lose_devices, dispatchable);

    if (d && d->slot)
        lose_called(d->slot);
    return d;
}

/* ---- losing -------------------------------------------------------------- */

/* What a call answers once the device is lost. */
static VkResult __attribute__((noinline, cold)) report_loss(struct device *d, enum lose_call call)
{
    slot_reported(d->slot, call);
    return VK_ERROR_DEVICE_LOST;
}

static void *wait_idle(void *arg)
{
    struct device *d = arg;

    d->vkDeviceWaitIdle(d->handle);
    return NULL;
}

/* Waits until the real device has nothing more to do, or will not have in time. With `queues` held. */
static void settle(struct device *d)
{
    struct timespec until;
    uint64_t end;
    pthread_t t;

    clock_gettime(CLOCK_REALTIME, &until);
    end = (uint64_t)until.tv_sec * NSEC_PER_SEC + (uint64_t)until.tv_nsec + IDLE_WAIT_NS;
    until = (struct timespec){(time_t)(end / NSEC_PER_SEC), (long)(end % NSEC_PER_SEC)};
    if (!pthread_create(&t, NULL, wait_idle, d) && pthread_timedjoin_np(t, NULL, &until)) {
        pthread_detach(t);
        d->stuck = true;
    }
}

/* With `queues` held. */
static void lose(struct device *d)
{
    if (atomic_load(&d->state) == LOST)
        return;
    settle(d);
    INVARIANT(atomic_load(&d->state) == ALIVE || atomic_load(&d->state) == HUNG);
    slot_lost(d->slot);
    atomic_store(&d->state, LOST);
}

/* With `queues` held: it is time. */
static void begin(struct device *d)
{
    INVARIANT(atomic_load(&d->state) == ALIVE); /* a device is lost once */
    if (slot_begin(d->slot)) {
        atomic_store(&d->state, HUNG);
        return;
    }
    lose(d);
}

void lose_device(struct device *d)
{
    pthread_mutex_lock(&d->queues);
    if (atomic_load(&d->state) == ALIVE)
        begin(d);
    pthread_mutex_unlock(&d->queues);
}

/* Whether what the program destroys may be destroyed: 6. */
bool lose_may_destroy(struct device *d)
{
    if (atomic_load_explicit(&d->state, memory_order_acquire) == ALIVE)
        return true;
    pthread_mutex_lock(&d->queues);
    if (!d->settled && atomic_load(&d->state) == HUNG) /* the program does not wait for the reset */
        settle(d);
    d->settled = true;
    pthread_mutex_unlock(&d->queues);
    return !d->stuck;
}

/* The state at this instant. With `queues` held. */
static enum state update(struct device *d)
{
    if (atomic_load(&d->state) == HUNG && slot_reset_is_due(d->slot))
        lose(d);
    return atomic_load(&d->state);
}

static enum state state_of(struct device *d)
{
    enum state s = atomic_load(&d->state);

    if (s != HUNG)
        return s;
    pthread_mutex_lock(&d->queues);
    s = update(d);
    pthread_mutex_unlock(&d->queues);
    return s;
}

/* Before work is given to a queue. With `queues` held. */
static enum state submitting(struct device *d, uint32_t frame, uint32_t submit, bool works)
{
    enum state s = update(d);

    INVARIANT(d->slot); /* 5 */
    if (s == ALIVE && slot_due(d->slot, frame, submit)) {
        begin(d);
        s = atomic_load(&d->state);
    }
    if (s == ALIVE)
        slot_work(d->slot, frame, submit, works);
    return s;
}

typedef VkResult poll_fn(struct device *d, void *args, uint64_t ns);

/* Waits until `end` at most, by steps of `poll` as long as that times out: the device may be lost meanwhile, and what would
 * have ended the wait never comes. */
static VkResult wait_until(struct device *d, enum lose_call call, uint64_t end, VkResult late, poll_fn *poll,
                           void *args)
{
    VkResult r;

    atomic_fetch_add(&d->slot->waits, 1);
    for (;;) {
        uint64_t at = lose_now(), left = end > at ? end - at : 0;

        r = VK_ERROR_DEVICE_LOST;
        if (state_of(d) == LOST)
            break;
        r = poll(d, args, left < STEP_NS ? left : STEP_NS);
        if (r != VK_TIMEOUT)
            break;
        r = late;
        if (left < STEP_NS && state_of(d) != LOST)
            break;
    }
    atomic_fetch_sub(&d->slot->waits, 1);
    return r == VK_ERROR_DEVICE_LOST ? report_loss(d, call) : r;
}

static uint64_t deadline(uint64_t timeout)
{
    uint64_t at = lose_now();

    return timeout > UINT64_MAX - at ? UINT64_MAX : at + timeout;
}

/* The same; most waits end in the first step, and need no clock. */
static VkResult wait_for(struct device *d, enum lose_call call, uint64_t timeout, VkResult late,
                         poll_fn *poll, void *args)
{
    VkResult r = VK_TIMEOUT;

    if (atomic_load_explicit(&d->state, memory_order_acquire) == ALIVE) {
        r = poll(d, args, timeout < STEP_NS ? timeout : STEP_NS);
        if (r == VK_TIMEOUT && timeout < STEP_NS)
            return late;
    }
    return r == VK_TIMEOUT ? wait_until(d, call, deadline(timeout), late, poll, args) : r;
}

/* ---- queues -------------------------------------------------------------- */

#define QUEUE_CALL(name, frames, submits, works, ...)                                                        \
    struct device *d = device_of(queue);                                                                     \
    VkResult r = VK_SUCCESS;                                                                                 \
    enum state s;                                                                                            \
                                                                                                             \
    if (!d->slot)                                                                                            \
        return d->name(queue, __VA_ARGS__);                                                                  \
    pthread_mutex_lock(&d->queues);                                                                          \
    s = submitting(d, frames, submits, works);                                                               \
    if (s == ALIVE)                                                                                          \
        r = d->name(queue, __VA_ARGS__);                                                                     \
    pthread_mutex_unlock(&d->queues);                                                                        \
    return s == LOST ? report_loss(d, LOSE_##name) : r

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkQueueSubmit(VkQueue queue, uint32_t count,
                                                         const VkSubmitInfo *infos, VkFence fence)
{
    bool works = false;

    for (uint32_t i = 0; i < count; i++)
        works |= infos[i].commandBufferCount > 0;
    QUEUE_CALL(vkQueueSubmit, 0, 1, works, count, infos, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkQueueSubmit2(VkQueue queue, uint32_t count,
                                                          const VkSubmitInfo2 *infos, VkFence fence)
{
    bool works = false;

    for (uint32_t i = 0; i < count; i++)
        works |= infos[i].commandBufferInfoCount > 0;
    QUEUE_CALL(vkQueueSubmit2, 0, 1, works, count, infos, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkQueueBindSparse(VkQueue queue, uint32_t count,
                                                             const VkBindSparseInfo *infos, VkFence fence)
{
    QUEUE_CALL(vkQueueBindSparse, 0, 1, count > 0, count, infos, fence);
}

static VkResult present(VkQueue queue, const VkPresentInfoKHR *info)
{
    QUEUE_CALL(vkQueuePresentKHR, 1, 0, false, info);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkQueuePresentKHR(VkQueue queue, const VkPresentInfoKHR *info)
{
    struct device *d = device_of(queue);
    VkResult r = present(queue, info);

    /* Nobody else fills them where the driver was not asked. */
    for (uint32_t i = 0;
         d->slot && atomic_load(&d->state) != ALIVE && info->pResults && i < info->swapchainCount; i++)
        info->pResults[i] = r;
    return r;
}

/* A hung device is idle when it is lost. */
static VkResult poll_nothing(struct device *d, void *args, uint64_t ns)
{
    struct timespec ts = {(time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC)};

    nanosleep(&ts, NULL);
    return VK_TIMEOUT;
}

/* Without the lock: what is waited for may depend on what another thread is about to submit. */
static VKAPI_ATTR VkResult VKAPI_CALL hook_vkQueueWaitIdle(VkQueue queue)
{
    struct device *d = device_of(queue);

    if (!d->slot || state_of(d) == ALIVE)
        return d->vkQueueWaitIdle(queue);
    return wait_until(d, LOSE_vkQueueWaitIdle, UINT64_MAX, VK_TIMEOUT, poll_nothing, NULL);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkDeviceWaitIdle(VkDevice device)
{
    struct device *d = device_of(device);

    if (!d->slot || state_of(d) == ALIVE)
        return d->vkDeviceWaitIdle(device);
    return wait_until(d, LOSE_vkDeviceWaitIdle, UINT64_MAX, VK_TIMEOUT, poll_nothing, NULL);
}

/* ---- waits --------------------------------------------------------------- */

struct fences {
    uint32_t count;
    const VkFence *fences;
    VkBool32 all;
};

static VkResult poll_fences(struct device *d, void *args, uint64_t ns)
{
    const struct fences *f = args;

    return d->vkWaitForFences(d->handle, f->count, f->fences, f->all, ns);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkWaitForFences(VkDevice device, uint32_t count,
                                                           const VkFence *fences, VkBool32 all,
                                                           uint64_t timeout)
{
    struct device *d = device_of(device);
    struct fences f = {count, fences, all};

    if (!d->slot)
        return d->vkWaitForFences(device, count, fences, all, timeout);
    return wait_for(d, LOSE_vkWaitForFences, timeout, VK_TIMEOUT, poll_fences, &f);
}

static VkResult poll_semaphores(struct device *d, void *args, uint64_t ns)
{
    return d->vkWaitSemaphores(d->handle, args, ns);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkWaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo *info,
                                                            uint64_t timeout)
{
    struct device *d = device_of(device);

    if (!d->slot)
        return d->vkWaitSemaphores(device, info, timeout);
    return wait_for(d, LOSE_vkWaitSemaphores, timeout, VK_TIMEOUT, poll_semaphores, (void *)(uintptr_t)info);
}

struct acquire {
    VkAcquireNextImageInfoKHR info;
    uint32_t *index;
    bool by_info;
};

static VkResult poll_acquire(struct device *d, void *args, uint64_t ns)
{
    struct acquire *a = args;
    VkResult r;

    a->info.timeout = ns;
    r = a->by_info ? d->vkAcquireNextImage2KHR(d->handle, &a->info, a->index)
                   : d->vkAcquireNextImageKHR(d->handle, a->info.swapchain, ns, a->info.semaphore,
                                              a->info.fence, a->index);
    return r == VK_NOT_READY ? VK_TIMEOUT : r;
}

static VkResult acquire(struct device *d, enum lose_call call, struct acquire *a)
{
    uint64_t timeout = a->info.timeout;

    return wait_for(d, call, timeout, timeout ? VK_TIMEOUT : VK_NOT_READY, poll_acquire, a);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkAcquireNextImageKHR(VkDevice device, VkSwapchainKHR swapchain,
                                                                 uint64_t timeout, VkSemaphore semaphore,
                                                                 VkFence fence, uint32_t *index)
{
    struct device *d = device_of(device);
    struct acquire a = {
        .info = {.swapchain = swapchain, .timeout = timeout, .semaphore = semaphore, .fence = fence},
        .index = index};

    if (!d->slot)
        return d->vkAcquireNextImageKHR(device, swapchain, timeout, semaphore, fence, index);
    return acquire(d, LOSE_vkAcquireNextImageKHR, &a);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkAcquireNextImage2KHR(VkDevice device,
                                                                  const VkAcquireNextImageInfoKHR *info,
                                                                  uint32_t *index)
{
    struct device *d = device_of(device);
    struct acquire a = {.info = *info, .index = index, .by_info = true};

    if (!d->slot)
        return d->vkAcquireNextImage2KHR(device, info, index);
    return acquire(d, LOSE_vkAcquireNextImage2KHR, &a);
}

struct shown {
    VkSwapchainKHR swapchain;
    uint64_t id;
};

static VkResult poll_present(struct device *d, void *args, uint64_t ns)
{
    const struct shown *s = args;

    return d->vkWaitForPresentKHR(d->handle, s->swapchain, s->id, ns);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkWaitForPresentKHR(VkDevice device, VkSwapchainKHR swapchain,
                                                               uint64_t id, uint64_t timeout)
{
    struct device *d = device_of(device);
    struct shown s = {swapchain, id};

    if (!d->slot)
        return d->vkWaitForPresentKHR(device, swapchain, id, timeout);
    return wait_for(d, LOSE_vkWaitForPresentKHR, timeout, VK_TIMEOUT, poll_present, &s);
}

/* ---- questions ----------------------------------------------------------- */

/* Apart, so that calls of a device that is there save nothing for it. */
static bool __attribute__((noinline, cold)) is_lost(struct device *d)
{
    return d->slot && state_of(d) == LOST;
}

#define DEVICE_CALL(name, ...)                                                                               \
    struct device *d = device_of(device);                                                                    \
                                                                                                             \
    if (__builtin_expect(atomic_load_explicit(&d->state, memory_order_acquire) != ALIVE, 0) && is_lost(d))   \
        return report_loss(d, LOSE_##name);                                                                  \
    return d->name(device, __VA_ARGS__)

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkGetFenceStatus(VkDevice device, VkFence fence)
{
    DEVICE_CALL(vkGetFenceStatus, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkGetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore,
                                                                      uint64_t *value)
{
    DEVICE_CALL(vkGetSemaphoreCounterValue, semaphore, value);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkGetEventStatus(VkDevice device, VkEvent event)
{
    DEVICE_CALL(vkGetEventStatus, event);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkGetQueryPoolResults(VkDevice device, VkQueryPool pool,
                                                                 uint32_t from, uint32_t count, size_t size,
                                                                 void *data, VkDeviceSize stride,
                                                                 VkQueryResultFlags flags)
{
    /* What a device that hangs has not run never becomes available: no wait for it in the driver. */
    struct device *hung = device_of(device);

    if (hung->slot && state_of(hung) == HUNG && flags & VK_QUERY_RESULT_WAIT_BIT)
        wait_until(hung, LOSE_vkGetQueryPoolResults, UINT64_MAX, VK_TIMEOUT, poll_nothing, NULL);
    DEVICE_CALL(vkGetQueryPoolResults, pool, from, count, size, data, stride, flags);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateSwapchainKHR(VkDevice device,
                                                                const VkSwapchainCreateInfoKHR *info,
                                                                const VkAllocationCallbacks *allocator,
                                                                VkSwapchainKHR *out)
{
    if (info->oldSwapchain && device_of(device)->slot && lose_phase() == LOSE_STEADY)
        atomic_store(&lose_record->phase, LOSE_RESIZE);
    DEVICE_CALL(vkCreateSwapchainKHR, info, allocator, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkGetSwapchainStatusKHR(VkDevice device, VkSwapchainKHR swapchain)
{
    DEVICE_CALL(vkGetSwapchainStatusKHR, swapchain);
}

/* ---- devices ------------------------------------------------------------- */

/* That takes a while, and there is no slot yet, or no more, whose call it could be. */
static void note_making(bool begins)
{
    if (lose_record)
        atomic_store(&lose_record->making, begins ? (uint32_t)getpid() : 0);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateDevice(VkPhysicalDevice physical,
                                                          const VkDeviceCreateInfo *info,
                                                          const VkAllocationCallbacks *allocator,
                                                          VkDevice *out)
{
    struct layer_instance *i = layer_find(&lose_instances, physical);
    VkPhysicalDeviceProperties properties;
    struct device *d;
    bool preferred;
    VkResult r;

    if (!i || slot_refused(LOSE_VULKAN))
        return VK_ERROR_INITIALIZATION_FAILED;
    d = calloc(1, sizeof(*d));
    if (!d)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    note_making(true);
    r = layer_create_device(i, physical, info, info, allocator, out, &d->get, &preferred);
    note_making(false);
    if (r != VK_SUCCESS) {
        free(d);
        return r;
    }
    d->handle = *out;
    d->instance = i;
    pthread_mutex_init(&d->queues, NULL);
#define NEXT_ROW(name) d->name = (PFN_##name)d->get(*out, #name);
    LOSE_NEXT(NEXT_ROW)
#undef NEXT_ROW
    /* A device of Vulkan 1.2 and older has these by their extensions' names. */
    d->vkQueueSubmit2 = d->vkQueueSubmit2 ? d->vkQueueSubmit2 : d->vkQueueSubmit2KHR;
    d->vkWaitSemaphores = d->vkWaitSemaphores ? d->vkWaitSemaphores : d->vkWaitSemaphoresKHR;
    d->vkGetSemaphoreCounterValue =
        d->vkGetSemaphoreCounterValue ? d->vkGetSemaphoreCounterValue : d->vkGetSemaphoreCounterValueKHR;
    faults_of_device(d);
    i->next.GetPhysicalDeviceProperties(physical, &properties);
    d->slot = slot_take(properties.deviceName, LOSE_VULKAN, false);
    if (d->slot) {
        atomic_store(&d->slot->blank, !d->vkQueuePresentKHR);
        lose_called(d->slot);
    }
    layer_put(&lose_devices, &d->object, *out);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL hook_vkDestroyDevice(VkDevice device,
                                                       const VkAllocationCallbacks *allocator)
{
    struct device *d = device ? device_of(device) : NULL;

    if (!d)
        return;
    if (d->slot && !lose_may_destroy(d)) {
        d->instance->in_use = true;
        slot_first(&d->slot->destroyed_ns);
        return; /* whoever waits on it goes on finding it */
    }
    layer_remove(&lose_devices, &d->object);
    note_making(true);
    d->vkDestroyDevice(device, allocator);
    note_making(false);
    if (d->slot)
        slot_first(&d->slot->destroyed_ns);
    pthread_mutex_destroy(&d->queues);
    free(d);
}

/* ---- instances ----------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateInstance(const VkInstanceCreateInfo *info,
                                                            const VkAllocationCallbacks *allocator,
                                                            VkInstance *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct fault_call c = {0};
    VkResult r;

    pthread_once(&once, open_record);
    if (lose_record)
        c = fault_begin_instance(NULL, LOSE_vkCreateInstance, FAULT_ANSWER);
    if (c.how == FAULT_INSTEAD)
        return c.result;
    r = layer_create_instance(&lose_instances, info, info, allocator, out);
    if (r != VK_SUCCESS || !lose_record)
        return r;
    if (!faults_of_instance(layer_find(&lose_instances, *out))) {
        layer_destroy_instance(&lose_instances, *out, allocator);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    atomic_fetch_add(&lose_record->instances, 1);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL hook_vkDestroyInstance(VkInstance instance,
                                                         const VkAllocationCallbacks *allocator)
{
    layer_destroy_instance(&lose_instances, instance, allocator);
}

/* ---- what the loader asks for -------------------------------------------- */

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance, const char *name);

PFN_vkVoidFunction lose_own_hook(enum lose_call call)
{
    static const PFN_vkVoidFunction hooks[LOSE_NUM_CALLS] = {
#define OWN_ROW(name) [LOSE_##name] = (PFN_vkVoidFunction)hook_##name,
        OWN_ROW(vkCreateDevice) LOSE_HOOKS(OWN_ROW)
#undef OWN_ROW
    };

    return call == LOSE_vkAllocateMemory ? faults_allocate() : hooks[call];
}

static PFN_vkVoidFunction device_hook(const char *name)
{
    static const struct layer_hook hooks[] = {
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)get_device_proc},
        {"vkDestroyDevice", (PFN_vkVoidFunction)hook_vkDestroyDevice},
        {"vkQueueSubmit2KHR", (PFN_vkVoidFunction)hook_vkQueueSubmit2},
        {"vkWaitSemaphoresKHR", (PFN_vkVoidFunction)hook_vkWaitSemaphores},
        {"vkGetSemaphoreCounterValueKHR", (PFN_vkVoidFunction)hook_vkGetSemaphoreCounterValue},
#define HOOK_ROW(name) {#name, (PFN_vkVoidFunction)hook_##name},
        LOSE_HOOKS(HOOK_ROW)
#undef HOOK_ROW
            LAYER_HOOKS_END,
    };
    PFN_vkVoidFunction hook = fault_find(name, true);

    if (!hook)
        hook = layer_find_hook(hooks, name);
    return hook ? hook : layer_find_hook(destroy_hooks, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name)
{
    PFN_vkVoidFunction next = device_of(device)->get(device, name), hook = device_hook(name);

    return next && hook ? hook : next; /* what the device has not, it has not with the layer either */
}

static PFN_vkVoidFunction find_no_hook(const char *name)
{
    return NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance, const char *name)
{
    static const struct layer_hook no_hooks[] = {LAYER_HOOKS_END};
    static const struct layer_hook hooks[] = {
        {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)get_instance_proc},
        LAYER_HOOK(vkCreateInstance),
        LAYER_HOOK(vkDestroyInstance),
        LAYER_HOOK(vkCreateDevice),
        LAYER_HOOKS_END,
    };
    PFN_vkVoidFunction fault = instance ? fault_find(name, false) : NULL;

    /* What the next layer has not is not there either. */
    if (fault && layer_instance_proc(&lose_instances, instance, name, no_hooks, find_no_hook))
        return fault;
    return layer_instance_proc(&lose_instances, instance, name, hooks, device_hook);
}

LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *n)
{
    return layer_negotiate(n, get_instance_proc, get_device_proc);
}
