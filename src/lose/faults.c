/* SPDX-License-Identifier: MIT */
/* faults.c: which calls are watched, and what becomes of one.
 *
 * 1. A call that nothing is asked of has no hook: it costs nothing.
 * 2. A call that is answered in the place of the driver has not happened: nothing was made, and nothing is waited for. Where the
 *    specification says that the call has its effects all the same, it is made.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/map.h"
#include "lose/device.h"

static bool watched[LOSE_NUM_CALLS];
static bool limits;
static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static struct map memory; /* bytes by VkDeviceMemory, where they are limited */

void faults_open(void)
{
    const struct lose_record *r = lose_record;

    if (r->counts)
        memset(watched, true, sizeof(watched));
    for (uint32_t i = 0; i < r->num_faults && i < LOSE_FAULTS; i++) {
        INVARIANT(r->fault[i].call < LOSE_NUM_CALLS && r->fault[i].or_call < LOSE_NUM_CALLS);
        watched[r->fault[i].call] = true;
        watched[r->fault[i].or_call] = r->fault[i].or_call != LOSE_NO_CALL;
        limits |= r->fault[i].what == LOSE_LIMITS;
    }
}

/* ---- one call ------------------------------------------------------------ */

static bool happens_all_the_same(enum lose_call call, VkResult r)
{
    if (call == LOSE_vkQueuePresentKHR) /* it waits for its semaphores */
        return r == VK_SUBOPTIMAL_KHR || r == VK_ERROR_OUT_OF_DATE_KHR || r == VK_ERROR_SURFACE_LOST_KHR ||
               r == VK_ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT;
    return r > 0 && r != VK_TIMEOUT && r != VK_NOT_READY && r != VK_PIPELINE_COMPILE_REQUIRED;
}

static bool due(struct lose_fault *f, enum lose_call call, enum fault_fills fills)
{
    if (f->call != call && f->or_call != call)
        return false;
    if (f->what == LOSE_ANSWERS && f->result == VK_INCOMPLETE && fills == FAULT_WHOLE)
        return false;
    if (f->any && slot_is_beneath()) /* Direct3D's frames and submissions are counted */
        return false;
    return fault_is_due(f);
}

static void answer(struct fault_call *c, const struct lose_fault *f, struct device *d, enum lose_call call,
                   enum fault_fills fills)
{
    uint64_t ns = f->amount;

    if (f->what == LOSE_DELAYS)
        nanosleep(&(struct timespec){(time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC)}, NULL);
    if (f->what == LOSE_CRASHES)
        raise(SIGSEGV);
    if (f->what == LOSE_HIDES)
        *c = (struct fault_call){FAULT_INSTEAD, VK_SUCCESS, c->next};
    if (f->what != LOSE_ANSWERS)
        return;
    if (f->result == VK_ERROR_DEVICE_LOST && d && d->slot) {
        lose_device(d);
        if (lose_own_hook(call)) /* says so */
            return;
    }
    c->result = f->result;
    c->how = f->result == VK_INCOMPLETE && fills == FAULT_ITEMS   ? FAULT_LESS
             : f->result == VK_INCOMPLETE && fills == FAULT_BYTES ? FAULT_INSTEAD
             : happens_all_the_same(call, f->result)              ? FAULT_AFTER
                                                                  : FAULT_INSTEAD;
}

static void begin(struct fault_call *c, struct device *d, enum lose_call call, enum fault_fills fills)
{
    struct lose_record *r = lose_record;

    if (slot_counts() && fills != FAULT_WHOLE)
        atomic_fetch_add(&r->calls[call], 1);
    for (uint32_t i = 0; i < r->num_faults && i < LOSE_FAULTS; i++)
        if (due(&r->fault[i], call, fills))
            answer(c, &r->fault[i], d, call, fills);
}

struct fault_call fault_begin_device(void *dispatchable, enum lose_call call, enum fault_fills fills)
{
    struct device *d = layer_find(&lose_devices, dispatchable);
    PFN_vkVoidFunction own = lose_own_hook(call);
    struct fault_call c = {.next = own ? own : d->next[call]};

    if (d->slot)
        lose_called(d->slot);
    begin(&c, d, call, fills);
    return c;
}

struct fault_call fault_begin_instance(void *dispatchable, enum lose_call call, enum fault_fills fills)
{
    const struct layer_instance *i = dispatchable ? layer_find(&lose_instances, dispatchable) : NULL;
    const struct instance_next *next = i ? i->own : NULL;
    struct fault_call c = {.next = lose_own_hook(call)};

    if (next && !c.next)
        c.next = next->of[call];
    begin(&c, NULL, call, fills);
    return c;
}

VkResult fault_end(const struct fault_call *c, VkResult r)
{
    return c->how == FAULT_AFTER && r >= 0 ? c->result : r;
}

/* ---- memory that shrinks -------------------------------------------------- */

/* Bytes that the program may have now. */
static uint64_t limit(void)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < lose_record->num_faults && i < LOSE_FAULTS; i++) {
        const struct lose_fault *f = &lose_record->fault[i];
        if (f->what == LOSE_LIMITS && atomic_load(&f->given) && f->amount < least)
            least = f->amount;
    }
    return least;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info,
                                                            const VkAllocationCallbacks *allocator,
                                                            VkDeviceMemory *out)
{
    struct device *d = layer_find(&lose_devices, device);
    uint64_t bytes = info->allocationSize, *size;
    VkResult r;

    if (atomic_fetch_add(&lose_record->memory, bytes) + bytes > limit()) {
        atomic_fetch_sub(&lose_record->memory, bytes);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    r = d->vkAllocateMemory(device, info, allocator, out);
    if (r == VK_SUCCESS) {
        pthread_mutex_lock(&memory_lock);
        size = map_put(&memory, (uint64_t)*out);
        if (size)
            *size = bytes;
        pthread_mutex_unlock(&memory_lock);
    } else {
        atomic_fetch_sub(&lose_record->memory, bytes);
    }
    return r;
}

static VKAPI_ATTR void VKAPI_CALL hook_vkFreeMemory(VkDevice device, VkDeviceMemory handle,
                                                    const VkAllocationCallbacks *allocator)
{
    struct device *d = layer_find(&lose_devices, device);
    const uint64_t *size;

    pthread_mutex_lock(&memory_lock);
    size = map_find(&memory, (uint64_t)handle);
    if (size)
        atomic_fetch_sub(&lose_record->memory, *size);
    map_remove(&memory, (uint64_t)handle);
    pthread_mutex_unlock(&memory_lock);
    if (!d->stuck)
        d->vkFreeMemory(device, handle, allocator);
}

static VKAPI_ATTR void VKAPI_CALL
hook_vkGetPhysicalDeviceMemoryProperties2(VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties2 *out)
{
    const struct layer_instance *i = layer_find(&lose_instances, physical);

    ((const struct instance_next *)i->own)->memory2(physical, out);
    for (VkBaseOutStructure *s = out->pNext; s; s = s->pNext) {
        VkPhysicalDeviceMemoryBudgetPropertiesEXT *b = (void *)s;
        uint32_t n = out->memoryProperties.memoryHeapCount;

        if (s->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT)
            continue;
        for (uint32_t k = 0; k < n && k < VK_MAX_MEMORY_HEAPS; k++)
            if (b->heapBudget[k] > limit())
                b->heapBudget[k] = limit();
    }
}

/* ---- which hook ---------------------------------------------------------- */

PFN_vkVoidFunction fault_find(const char *name, bool of_device)
{
    static const struct layer_hook of_memory[] = {
        LAYER_HOOK(vkFreeMemory), LAYER_HOOK(vkGetPhysicalDeviceMemoryProperties2),
        LAYER_ALIAS(vkGetPhysicalDeviceMemoryProperties2, KHR), LAYER_HOOKS_END};

    if (!lose_record)
        return NULL;
    if (limits && layer_find_hook(of_memory, name) && of_device == !strcmp(name, "vkFreeMemory"))
        return layer_find_hook(of_memory, name);
    for (const struct fault_hook *h = fault_hooks; h->name; h++)
        if (watched[h->call] && h->of_device == of_device && !strcmp(h->name, name))
            return h->fn;
    return of_device && !strcmp(name, "vkAllocateMemory") ? faults_allocate() : NULL;
}

PFN_vkVoidFunction faults_allocate(void)
{
    return limits ? (PFN_vkVoidFunction)hook_vkAllocateMemory : NULL;
}

bool faults_of_instance(struct layer_instance *i)
{
    struct instance_next *n = calloc(1, sizeof(*n));
    const char *const names[] = {"vkGetPhysicalDeviceMemoryProperties2",
                                 "vkGetPhysicalDeviceMemoryProperties2KHR"};

    if (!n)
        return false;
    for (const struct fault_hook *h = fault_hooks; h->name; h++)
        if (watched[h->call] && !h->of_device && !n->of[h->call])
            n->of[h->call] = i->get(i->handle, h->name);
    for (unsigned k = 0; k < 2 && !n->memory2; k++)
        n->memory2 = (PFN_vkGetPhysicalDeviceMemoryProperties2)i->get(i->handle, names[k]);
    i->own = n;
    return true;
}

void faults_of_device(struct device *d)
{
    for (const struct fault_hook *h = fault_hooks; h->name; h++)
        if (watched[h->call] && h->of_device && !d->next[h->call])
            d->next[h->call] = d->get(d->handle, h->name);
    for (uint32_t i = 0; i < LOSE_NUM_DESTROYS; i++)
        d->destroys[i] = d->get(d->handle, destroy_names[i]);
}
