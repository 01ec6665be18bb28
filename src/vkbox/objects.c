/* SPDX-License-Identifier: MIT */
/* objects.c: what the program made: in the box with its name, its memory and its address, alive or gone.
 *
 * A slot that was given up is used again as late as can be: the oldest of the free ones first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "vkbox/fast.h"

enum { AT_ONCE = 128 }; /* so many slots have their memory */

static pthread_mutex_t objects_lock = PTHREAD_MUTEX_INITIALIZER;
static struct map alive;                                          /* handle and type to slot */
static uint32_t fresh, ring[VKBOX_OBJECTS], ring_first, ring_num; /* slots that were given up, oldest first */

/* Handles of two types, or two devices, may be the same number. */
static uint64_t key(const struct device *d, VkObjectType type, uint64_t handle)
{
    return handle ^ (uint64_t)type << 48 ^ (uint64_t)d->index << 58;
}

static struct vkbox_object *slot_of(struct device *d, VkObjectType type, uint64_t handle)
{
    const uint64_t *at = map_find(&alive, key(d, type, handle));

    return at ? &box->objects[*at] : NULL;
}

static struct vkbox_object *take(uint64_t *index)
{
    /* What was freed last is what one asks about: half of the room is history before any of it is used again. */
    if (fresh < VKBOX_OBJECTS) {
        if (fresh % AT_ONCE == 0)
            box_room(&box->objects[fresh], AT_ONCE * sizeof(box->objects[0])); /* or it comes page by page */
        *index = fresh++;
        return &box->objects[*index];
    }
    if (!ring_num)
        return NULL;
    *index = ring[ring_first];
    ring_first = (ring_first + 1) % VKBOX_OBJECTS;
    ring_num--;
    return &box->objects[*index];
}

/* ---- what creation says about an object ---------------------------------- */

static void of_buffer(struct device *d, struct vkbox_object *o, const void *info)
{
    o->size = ((const VkBufferCreateInfo *)info)->size;
    o->detail = ((const VkBufferCreateInfo *)info)->usage;
}

static void of_image(struct device *d, struct vkbox_object *o, const void *info)
{
    const VkImageCreateInfo *i = info;

    o->width = i->extent.width;
    o->height = i->extent.height;
    o->depth = i->imageType == VK_IMAGE_TYPE_3D ? i->extent.depth : i->arrayLayers;
    o->detail = i->format;
}

static void of_memory(struct device *d, struct vkbox_object *o, const void *info)
{
    const VkBaseInStructure *i = ((const VkMemoryAllocateInfo *)info)->pNext;

    o->size = ((const VkMemoryAllocateInfo *)info)->allocationSize;
    for (; i; i = i->pNext)
        if (i->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT)
            o->address = (uint64_t)(uintptr_t)((const VkImportMemoryHostPointerInfoEXT *)(const void *)i)
                             ->pHostPointer;
}

static void of_image_view(struct device *d, struct vkbox_object *o, const void *info)
{
    o->parent = (uint64_t)((const VkImageViewCreateInfo *)info)->image;
    o->detail = ((const VkImageViewCreateInfo *)info)->format;
}

static void of_buffer_view(struct device *d, struct vkbox_object *o, const void *info)
{
    o->parent = (uint64_t)((const VkBufferViewCreateInfo *)info)->buffer;
}

/* The code is kept once: programs make a module, a pipeline of it, and destroy the module. */
static void of_module(struct device *d, struct vkbox_object *o, const void *info)
{
    const VkShaderModuleCreateInfo *i = info;
    uint64_t at = atomic_load(&box->next_code);

    o->size = i->codeSize;
    o->offset = UINT64_MAX;
    if (i->codeSize > VKBOX_CODE - at)
        return;
    memcpy(box->code + at, i->pCode, i->codeSize);
    atomic_store(&box->next_code, (at + i->codeSize + 15) & ~UINT64_C(15));
    o->offset = at;
}

static void add_stage(struct device *d, struct vkbox_object *o, uint32_t n,
                      const VkPipelineShaderStageCreateInfo *s)
{
    const struct vkbox_object *m = slot_of(d, VK_OBJECT_TYPE_SHADER_MODULE, (uint64_t)s->module);

    if (n >= VKBOX_STAGES || !m)
        return;
    o->code[n].stage = s->stage;
    o->code[n].offset = (uint32_t)(m->offset == UINT64_MAX ? VKBOX_NO_INDEX : m->offset);
    o->code[n].size = (uint32_t)m->size;
    snprintf(o->code[n].entry, sizeof(o->code[n].entry), "%.15s", s->pName ? s->pName : "");
}

static void of_pipeline(struct device *d, struct vkbox_object *o, const void *info)
{
    const VkBaseInStructure *base = info;

    if (base->sType == VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO) {
        add_stage(d, o, 0, &((const VkComputePipelineCreateInfo *)info)->stage);
    } else if (base->sType == VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO) {
        const VkGraphicsPipelineCreateInfo *g = info;

        for (uint32_t i = 0; i < g->stageCount; i++)
            add_stage(d, o, i, &g->pStages[i]);
    }
}

static void of_semaphore(struct device *d, struct vkbox_object *o, const void *info)
{
    const VkBaseInStructure *i = ((const VkSemaphoreCreateInfo *)info)->pNext;

    for (; i; i = i->pNext)
        if (i->sType == VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO)
            o->detail = VKBOX_IMPORTED; /* by whom it is signalled */
        else if (i->sType == VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO)
            o->values = ((const VkSemaphoreTypeCreateInfo *)(const void *)i)->semaphoreType ==
                        VK_SEMAPHORE_TYPE_TIMELINE;
    if (o->values && !o->detail)
        o->detail = VKBOX_HOST;
}

static const struct {
    VkObjectType type;
    void (*of)(struct device *d, struct vkbox_object *o, const void *info);
} details[] = {{VK_OBJECT_TYPE_BUFFER, of_buffer},           {VK_OBJECT_TYPE_IMAGE, of_image},
               {VK_OBJECT_TYPE_DEVICE_MEMORY, of_memory},    {VK_OBJECT_TYPE_IMAGE_VIEW, of_image_view},
               {VK_OBJECT_TYPE_BUFFER_VIEW, of_buffer_view}, {VK_OBJECT_TYPE_SHADER_MODULE, of_module},
               {VK_OBJECT_TYPE_PIPELINE, of_pipeline},       {VK_OBJECT_TYPE_SEMAPHORE, of_semaphore}};

/* What the driver tells of an object while it makes it comes before the object: kept for the thread's next one. */
static __thread struct {
    VkObjectType type;
    uint64_t handle, address, size;
} told;

void note_told_address(struct device *d, VkObjectType type, uint64_t handle, uint64_t address, uint64_t size)
{
    struct vkbox_object *o;

    if (!d->slot || !address)
        return;
    pthread_mutex_lock(&objects_lock);
    o = slot_of(d, type, handle);
    if (o) {
        o->address = address;
        o->size = o->size ? o->size : size;
    } else {
        told.type = type;
        told.handle = handle;
        told.address = address;
        told.size = size;
    }
    pthread_mutex_unlock(&objects_lock);
}

void note_created(struct device *d, VkObjectType type, uint64_t handle, const void *info)
{
    struct vkbox_object *o;
    uint64_t index, *at;
    uint32_t by;

    if (!d->slot || !handle)
        return;
    by = stack_here();
    pthread_mutex_lock(&objects_lock);
    o = take(&index);
    at = o ? map_put(&alive, key(d, type, handle)) : NULL;
    if (!at) {
        atomic_fetch_add(&box->objects_lost, 1);
        pthread_mutex_unlock(&objects_lock);
        return;
    }
    *at = index;
    atomic_store(&o->state, VKBOX_FREE);
    memset(o, 0, sizeof(*o));
    o->type = type;
    o->device = d->index;
    o->handle = handle;
    o->created_ns = box_now();
    o->created_by = by;
    for (size_t i = 0; info && i < sizeof(details) / sizeof(details[0]); i++)
        if (details[i].type == type)
            details[i].of(d, o, info);
    if (told.address && told.type == type && told.handle == handle) {
        o->address = told.address;
        o->size = o->size ? o->size : told.size;
    }
    told.address = 0;
    atomic_store(&o->state, VKBOX_LIVE);
    pthread_mutex_unlock(&objects_lock);
}

void note_room(struct device *d, VkObjectType type, uint64_t handle, uint32_t first, uint32_t num)
{
    struct vkbox_object *o;

    pthread_mutex_lock(&objects_lock);
    o = slot_of(d, type, handle);
    if (o) {
        o->offset = first;
        o->size = num;
    }
    pthread_mutex_unlock(&objects_lock);
}

void note_outside(struct device *d, VkSemaphore semaphore, enum vkbox_outside by)
{
    struct vkbox_object *o;

    if (!d->slot || !semaphore)
        return;
    pthread_mutex_lock(&objects_lock);
    o = slot_of(d, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)semaphore);
    if (o)
        o->detail = by;
    pthread_mutex_unlock(&objects_lock);
}

bool note_has_values(struct device *d, VkSemaphore semaphore, bool otherwise)
{
    const struct vkbox_object *o;

    pthread_mutex_lock(&objects_lock);
    o = slot_of(d, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)semaphore);
    otherwise = o ? o->values : otherwise;
    pthread_mutex_unlock(&objects_lock);
    return otherwise;
}

/* With the lock held. */
static void gone(struct vkbox_object *o, uint32_t by)
{
    o->destroyed_ns = box_now();
    o->destroyed_by = by;
    atomic_store(&o->state, VKBOX_GONE);
    ring[(ring_first + ring_num) % VKBOX_OBJECTS] = (uint32_t)(o - box->objects);
    ring_num++;
}

/* To who asked for it: of what has an address, also by its memory's. */
static void report_address(struct device *d, VkObjectType type, uint64_t handle, bool bound)
{
    const struct vkbox_object *o, *memory = NULL;
    uint64_t address = 0, size = 0;

    if (!(d->offers >> OFFER_BINDINGS & 1) ||
        (type != VK_OBJECT_TYPE_BUFFER && type != VK_OBJECT_TYPE_IMAGE &&
         type != VK_OBJECT_TYPE_DEVICE_MEMORY))
        return;
    pthread_mutex_lock(&objects_lock);
    o = slot_of(d, type, handle);
    if (o && !o->address && o->parent)
        memory = slot_of(d, VK_OBJECT_TYPE_DEVICE_MEMORY, o->parent);
    if (o) {
        address = memory && memory->address ? memory->address + o->offset : o->address;
        size = o->size;
    }
    pthread_mutex_unlock(&objects_lock);
    if (address && size)
        offers_report(d, type, handle, address, size, bound);
}

void note_destroyed(struct device *d, VkObjectType type, uint64_t handle)
{
    if (d->slot && handle)
        descriptors_gone(d, type, handle);
    if (d->slot)
        report_address(d, type, handle, false);
    queues_object_gone(d, type, handle);
    objects_gone(d, type, handle);
}

void objects_gone(struct device *d, VkObjectType type, uint64_t handle)
{
    struct vkbox_object *o;
    uint32_t by;

    if (!d->slot || !handle)
        return;
    by = stack_here();
    pthread_mutex_lock(&objects_lock);
    o = slot_of(d, type, handle);
    if (o) {
        map_remove(&alive, key(d, type, handle));
        gone(o, by);
    }
    pthread_mutex_unlock(&objects_lock);
}

/* Objects that the program left. */
void objects_device_gone(struct device *d)
{
    if (!d->slot)
        return;
    pthread_mutex_lock(&objects_lock);
    for (uint32_t i = 0; i < fresh; i++) {
        struct vkbox_object *o = &box->objects[i];

        if (atomic_load(&o->state) == VKBOX_LIVE && o->device == d->index) {
            map_remove(&alive, key(d, o->type, o->handle));
            gone(o, 0);
        }
    }
    pthread_mutex_unlock(&objects_lock);
}

/* ---- hooks --------------------------------------------------------------- */

static void set_name(char to[VKBOX_NAME], const char *name)
{
    utf8_cut(to, VKBOX_NAME, name ? name : "", name ? strlen(name) : 0);
    utf8_mend(to);
}

static VKAPI_ATTR VkResult VKAPI_CALL
hook_vkSetDebugUtilsObjectNameEXT(VkDevice device, const VkDebugUtilsObjectNameInfoEXT *info)
{
    struct device *d = device_of(device);
    char *to = NULL;

    if (d->slot && info->objectType == VK_OBJECT_TYPE_COMMAND_BUFFER) {
        struct command_buffer *cb = command_buffer_of((VkCommandBuffer)(uintptr_t)info->objectHandle);

        to = cb && cb->slot ? cb->slot->name : NULL;
    }
    pthread_mutex_lock(&objects_lock);
    if (d->slot && !to) {
        struct vkbox_object *o = slot_of(d, info->objectType, info->objectHandle);

        to = o ? o->name : NULL;
    }
    if (to)
        set_name(to, info->pObjectName);
    pthread_mutex_unlock(&objects_lock);
    return d->next.vkSetDebugUtilsObjectNameEXT(device, info);
}

static void bound(struct device *d, VkObjectType type, uint64_t handle, VkDeviceMemory memory,
                  VkDeviceSize offset)
{
    struct vkbox_object *o;

    if (!d->slot)
        return;
    pthread_mutex_lock(&objects_lock);
    o = slot_of(d, type, handle);
    if (o) {
        o->parent = (uint64_t)memory;
        o->offset = offset;
    }
    pthread_mutex_unlock(&objects_lock);
}

/* Where an image lies, if shaders see memory where the host does. */
static void image_bound(struct device *d, VkImage image, VkDeviceMemory memory, VkDeviceSize offset,
                        bool whole)
{
    const struct vkbox_object *m;
    VkMemoryRequirements need = {0};
    struct vkbox_object *o;

    bound(d, VK_OBJECT_TYPE_IMAGE, (uint64_t)image, memory, offset);
    if (!d->slot || !d->visible || !whole)
        return;
    d->next.vkGetImageMemoryRequirements(d->handle, image, &need);
    pthread_mutex_lock(&objects_lock);
    o = slot_of(d, VK_OBJECT_TYPE_IMAGE, (uint64_t)image);
    m = slot_of(d, VK_OBJECT_TYPE_DEVICE_MEMORY, (uint64_t)memory);
    if (o && m && m->address && !o->address) {
        o->size = need.size;
        o->address = m->address + offset;
    }
    pthread_mutex_unlock(&objects_lock);
    report_address(d, VK_OBJECT_TYPE_IMAGE, (uint64_t)image, true);
}

void note_address(struct device *d, VkObjectType type, uint64_t handle, uint64_t address)
{
    struct vkbox_object *o;

    if (!d->slot || !address)
        return;
    pthread_mutex_lock(&objects_lock);
    o = slot_of(d, type, handle);
    if (o)
        o->address = address;
    pthread_mutex_unlock(&objects_lock);
}

/* Shaders may have its address from elsewhere than the program's asking. */
static void find_address(struct device *d, VkBuffer buffer)
{
    const VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                            .buffer = buffer};
    const struct vkbox_object *o;
    bool has;

    if (!d->slot || !d->next.vkGetBufferDeviceAddress)
        return;
    pthread_mutex_lock(&objects_lock);
    o = slot_of(d, VK_OBJECT_TYPE_BUFFER, (uint64_t)buffer);
    has = o && o->detail & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    pthread_mutex_unlock(&objects_lock);
    if (has)
        note_address(d, VK_OBJECT_TYPE_BUFFER, (uint64_t)buffer,
                     d->next.vkGetBufferDeviceAddress(d->handle, &info));
}

static void buffer_bound(struct device *d, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset)
{
    bound(d, VK_OBJECT_TYPE_BUFFER, (uint64_t)buffer, memory, offset);
    find_address(d, buffer);
    report_address(d, VK_OBJECT_TYPE_BUFFER, (uint64_t)buffer, true);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkBindBufferMemory(VkDevice device, VkBuffer buffer,
                                                              VkDeviceMemory memory, VkDeviceSize offset)
{
    struct device *d = device_of(device);
    VkResult r = d->next.vkBindBufferMemory(device, buffer, memory, offset);

    if (r == VK_SUCCESS)
        buffer_bound(d, buffer, memory, offset);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkBindBufferMemory2(VkDevice device, uint32_t n,
                                                               const VkBindBufferMemoryInfo *infos)
{
    struct device *d = device_of(device);
    VkResult r = d->next.vkBindBufferMemory2(device, n, infos);

    for (uint32_t i = 0; r == VK_SUCCESS && i < n; i++)
        buffer_bound(d, infos[i].buffer, infos[i].memory, infos[i].memoryOffset);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkBindImageMemory(VkDevice device, VkImage image,
                                                             VkDeviceMemory memory, VkDeviceSize offset)
{
    struct device *d = device_of(device);
    VkResult r = d->next.vkBindImageMemory(device, image, memory, offset);

    if (r == VK_SUCCESS)
        image_bound(d, image, memory, offset, true);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkBindImageMemory2(VkDevice device, uint32_t n,
                                                              const VkBindImageMemoryInfo *infos)
{
    struct device *d = device_of(device);
    VkResult r = d->next.vkBindImageMemory2(device, n, infos);

    for (uint32_t i = 0; r == VK_SUCCESS && i < n; i++)
        image_bound(d, infos[i].image, infos[i].memory, infos[i].memoryOffset,
                    !infos[i].pNext); /* else it may be a plane of it */
    return r;
}

/* Without waiting for the program to map it, as one that only the device uses has an address as well. */
static void find_memory(struct device *d, VkDeviceMemory memory, uint32_t type)
{
    void *data = NULL;

    if (!d->slot || !(d->visible >> type & 1) ||
        d->next.vkMapMemory(d->handle, memory, 0, VK_WHOLE_SIZE, 0, &data))
        return;
    note_address(d, VK_OBJECT_TYPE_DEVICE_MEMORY, (uint64_t)memory, (uint64_t)(uintptr_t)data);
    d->next.vkUnmapMemory(d->handle, memory);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info,
                                                            const VkAllocationCallbacks *allocator,
                                                            VkDeviceMemory *out)
{
    struct device *d = device_of(device);
    VkResult r = d->next.vkAllocateMemory(device, info, allocator, out);

    if (r != VK_SUCCESS)
        return note_result(d, VKBOX_CALL_vkAllocateMemory, r);
    note_created(d, VK_OBJECT_TYPE_DEVICE_MEMORY, (uint64_t)*out, info);
    find_memory(d, *out, info->memoryTypeIndex);
    report_address(d, VK_OBJECT_TYPE_DEVICE_MEMORY, (uint64_t)*out, true);
    return r;
}

/* On a processor that is the GPU, where the host sees memory is where shaders do. */
static VKAPI_ATTR VkResult VKAPI_CALL hook_vkMapMemory(VkDevice device, VkDeviceMemory memory,
                                                       VkDeviceSize offset, VkDeviceSize size,
                                                       VkMemoryMapFlags flags, void **data)
{
    struct device *d = device_of(device);
    VkResult r = d->next.vkMapMemory(device, memory, offset, size, flags, data);

    if (r == VK_SUCCESS)
        note_address(d, VK_OBJECT_TYPE_DEVICE_MEMORY, (uint64_t)memory, (uint64_t)(uintptr_t)*data - offset);
    return note_result(d, VKBOX_CALL_vkMapMemory, r);
}

static VKAPI_ATTR VkDeviceAddress VKAPI_CALL
hook_vkGetBufferDeviceAddress(VkDevice device, const VkBufferDeviceAddressInfo *info)
{
    struct device *d = device_of(device);
    VkDeviceAddress a = d->next.vkGetBufferDeviceAddress(device, info);

    note_address(d, VK_OBJECT_TYPE_BUFFER, (uint64_t)info->buffer, a);
    return a;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkImportSemaphoreFdKHR(VkDevice device,
                                                                  const VkImportSemaphoreFdInfoKHR *info)
{
    struct device *d = device_of(device);

    note_outside(d, info->semaphore, VKBOX_IMPORTED);
    return d->next.vkImportSemaphoreFdKHR(device, info);
}

#define ROW(name)                                                                                            \
    {                                                                                                        \
#name, (PFN_vkVoidFunction)hook_##name                                                               \
    }
#define ALIAS(name, tag)                                                                                     \
    {                                                                                                        \
#name #tag, (PFN_vkVoidFunction)hook_##name                                                          \
    }
const struct layer_hook object_hooks[] = {LAYER_HOOK(vkSetDebugUtilsObjectNameEXT),
                                          LAYER_HOOK(vkBindBufferMemory),
                                          LAYER_HOOK(vkBindBufferMemory2),
                                          LAYER_ALIAS(vkBindBufferMemory2, KHR),
                                          LAYER_HOOK(vkBindImageMemory),
                                          LAYER_HOOK(vkBindImageMemory2),
                                          LAYER_ALIAS(vkBindImageMemory2, KHR),
                                          LAYER_HOOK(vkImportSemaphoreFdKHR),
                                          LAYER_HOOK(vkAllocateMemory),
                                          LAYER_HOOK(vkMapMemory),
                                          LAYER_HOOK(vkGetBufferDeviceAddress),
                                          LAYER_ALIAS(vkGetBufferDeviceAddress, KHR),
                                          LAYER_ALIAS(vkGetBufferDeviceAddress, EXT),
                                          LAYER_HOOKS_END};
