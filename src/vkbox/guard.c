/* SPDX-License-Identifier: MIT */
/* guard.c: what the program allocates lies in memory of ours, between pages that nothing may touch; what it freed stays such
 * a page for as long as there is room. On a processor that is the GPU, a shader, or a copy, that goes too far faults there.
 *
 *   an allocation   |guard| slack, allocation |guard|     its end is the page's end, but for the driver's alignment
 *   a buffer in it  |guard| the same pages    |guard|     mapped once more: it has neighbours that are no buffers
 *
 * Invariants:
 *  1. What is written through one of them is read through the other: a buffer's pages are its allocation's.
 *  2. Handles are the driver's own. `shift`, the slack, is added to each offset into an allocation of ours.
 *  3. What cannot be guarded (exported or imported memory, types that cannot be imported) is the driver's, and is counted.
 *  4. A range that was freed is not used again before QUARANTINE others were.
 *  5. Mappings of ours are at most half of what the kernel lets a process have: the program needs the others.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/check.h"
#include "vkbox/layer.h"

enum { GUARD = 64 << 10, QUARANTINE = 16384, LATE = 1024 };
#define QUARANTINE_BYTES (UINT64_C(1) << 40) /* of addresses: there is no memory behind them */

struct fenced {
    uint8_t *at;
    size_t size; /* without the guards */
};

struct view {
    VkBuffer buffer;
    VkDeviceMemory memory;
    struct fenced pages;
    struct allocation *of; /* NULL: that was freed */
    struct view *next;
};

struct allocation {
    VkDeviceMemory memory;
    struct fenced pages;
    VkDeviceSize shift;
    uint32_t type;
    VkMemoryAllocateFlags flags;
    struct view *views;
};

struct guard {
    struct next next; /* the driver's */
    PFN_vkGetPhysicalDeviceImageFormatProperties2 image_properties;
    VkPhysicalDevice physical;
    VkPhysicalDeviceMemoryProperties memory;
    VkDeviceSize page, align;
    VkDeviceSize ahead; /* bytes that the driver reads behind what it was asked for */
    pthread_mutex_t lock;
    struct map allocations, views; /* by the handle of the memory, and of the buffer */
    VkBuffer late[LATE]; /* destroyed by the program, and not yet by us: descriptors still name them */
    uint32_t num_late;
};

#define HOST VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT

/* ---- addresses ----------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    struct fenced ranges[QUARANTINE];
    uint64_t first, num, bytes;
} gone = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Of each range: the guards, which may be one with a neighbour's, and what lies between. */
enum { MAPS_EACH = 3, MAPS_DEFAULT = 65530 };

static _Atomic uint32_t ranges; /* that there are, those in quarantine too */

static uint32_t most_ranges(void)
{
    static _Atomic uint32_t most;
    uint32_t maps = MAPS_DEFAULT;
    FILE *f;

    if (most)
        return most;
    f = fopen("/proc/sys/vm/max_map_count", "re");
    if (f) {
        if (fscanf(f, "%u", &maps) != 1)
            maps = MAPS_DEFAULT;
        fclose(f);
    }
    atomic_store(&most, maps / 2 / MAPS_EACH + 1);
    return most;
}

static bool reserve(size_t size, struct fenced *out)
{
    uint8_t *at;

    if (atomic_fetch_add(&ranges, 1) >= most_ranges()) { /* 5 */
        static _Atomic bool told;

        atomic_fetch_sub(&ranges, 1);
        if (!atomic_exchange(&told, true))
            fprintf(
                stderr,
                VKBOX_LAYER
                ": %u ranges lie between guard pages, and those of more would leave the program too few mappings "
                "(vm.max_map_count): what it allocates beyond them is not guarded\n",
                most_ranges());
        return false;
    }
    at = mmap(NULL, size + 2 * (size_t)GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    *out = (struct fenced){at + GUARD, size};
    if (at == MAP_FAILED)
        atomic_fetch_sub(&ranges, 1);
    return at != MAP_FAILED;
}

static void release(const struct fenced *f)
{
    munmap(f->at - GUARD, f->size + 2 * (size_t)GUARD);
    atomic_fetch_sub(&ranges, 1);
}

static bool make_pages(size_t size, struct fenced *out)
{
    if (!reserve(size, out))
        return false;
    if (mmap(out->at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
             -1, 0) != MAP_FAILED)
        return true;
    release(out);
    return false;
}

/* Pages of `of` from `first` on, at another address. */
static bool alias_pages(const struct fenced *of, size_t first, size_t size, struct fenced *out)
{
    if (!reserve(size, out))
        return false;
    if (mremap(of->at + first, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, out->at) != MAP_FAILED)
        return true;
    release(out);
    return false;
}

/* From now on touching it is a fault, and its memory is the system's. */
static void quarantine(const struct fenced *f)
{
    (void)mmap(f->at, f->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    pthread_mutex_lock(&gone.lock);
    while (gone.num && (gone.num == QUARANTINE || gone.bytes + f->size > QUARANTINE_BYTES)) {
        const struct fenced *oldest = &gone.ranges[gone.first++ % QUARANTINE];

        release(oldest);
        gone.bytes -= oldest->size;
        gone.num--;
    }
    gone.ranges[(gone.first + gone.num++) % QUARANTINE] = *f;
    gone.bytes += f->size;
    INVARIANT(gone.num <= QUARANTINE); /* 4 */
    pthread_mutex_unlock(&gone.lock);
}

/* ---- allocations --------------------------------------------------------- */

static VkResult import(struct device *d, const struct fenced *pages, uint32_t type,
                       VkMemoryAllocateFlags flags, const VkAllocationCallbacks *allocator,
                       VkDeviceMemory *out)
{
    VkMemoryAllocateFlagsInfo more = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, .flags = flags};
    VkImportMemoryHostPointerInfoEXT pointer = {.sType =
                                                    VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
                                                .pNext = flags ? &more : NULL,
                                                .handleType = HOST,
                                                .pHostPointer = pages->at};
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .pNext = &pointer,
                                 .allocationSize = pages->size,
                                 .memoryTypeIndex = type};
    VkMemoryHostPointerPropertiesEXT can = {.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};

    if (d->guard->next.vkGetMemoryHostPointerPropertiesEXT(d->handle, HOST, pages->at, &can) ||
        !(can.memoryTypeBits >> type & 1))
        return VK_ERROR_FEATURE_NOT_PRESENT;
    return d->guard->next.vkAllocateMemory(d->handle, &info, allocator, out);
}

/* Whether nobody else has to find what is in it, and where it may lie. */
static bool can_be_ours(const struct guard *g, const VkMemoryAllocateInfo *info, VkMemoryAllocateFlags *flags)
{
    const VkMemoryPropertyFlags want =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const VkMemoryType *type = &g->memory.memoryTypes[info->memoryTypeIndex];

    *flags = 0;
    if (info->memoryTypeIndex >= g->memory.memoryTypeCount || (type->propertyFlags & want) != want ||
        info->allocationSize > g->memory.memoryHeaps[type->heapIndex].size)
        return false;
    for (const VkBaseInStructure *i = info->pNext; i; i = i->pNext)
        switch (i->sType) {
        case VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO:
            *flags = ((const VkMemoryAllocateFlagsInfo *)(const void *)i)->flags;
            break;
        case VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO:
        case VK_STRUCTURE_TYPE_MEMORY_PRIORITY_ALLOCATE_INFO_EXT:
            break;
        default:
            return false;
        }
    return !(*flags & ~(VkMemoryAllocateFlags)VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT);
}

static VKAPI_ATTR VkResult VKAPI_CALL guard_allocate(VkDevice device, const VkMemoryAllocateInfo *info,
                                                     const VkAllocationCallbacks *allocator,
                                                     VkDeviceMemory *out)
{
    struct device *d = device_of(device);
    struct guard *g = d->guard;
    struct allocation *a = calloc(1, sizeof(*a));
    size_t size = (info->allocationSize + g->ahead + g->page - 1) & ~(g->page - 1);
    uint64_t *at;

    if (!a || !can_be_ours(g, info, &a->flags) || !make_pages(size, &a->pages))
        goto plain;
    a->type = info->memoryTypeIndex;
    a->shift = (size - g->ahead - info->allocationSize) & ~(g->align - 1);
    if (import(d, &a->pages, a->type, a->flags, allocator, &a->memory))
        goto unmap;
    pthread_mutex_lock(&g->lock);
    at = map_put(&g->allocations, (uint64_t)a->memory);
    if (at)
        *at = (uint64_t)(uintptr_t)a;
    pthread_mutex_unlock(&g->lock);
    if (!at) {
        g->next.vkFreeMemory(device, a->memory, allocator);
        goto unmap;
    }
    *out = a->memory;
    atomic_fetch_add(&d->slot->guarded, 1);
    return VK_SUCCESS;
unmap:
    release(&a->pages);
plain:
    free(a);
    atomic_fetch_add(&d->slot->unguarded, 1);
    return g->next.vkAllocateMemory(device, info, allocator, out);
}

static VKAPI_ATTR void VKAPI_CALL guard_free(VkDevice device, VkDeviceMemory memory,
                                             const VkAllocationCallbacks *allocator)
{
    struct device *d = device_of(device);
    struct guard *g = d->guard;
    struct allocation *a;

    pthread_mutex_lock(&g->lock);
    a = map_pointer(&g->allocations, (uint64_t)memory);
    if (a) {
        map_remove(&g->allocations, (uint64_t)memory);
        for (struct view *v = a->views; v; v = v->next) {
            quarantine(&v->pages);
            g->next.vkFreeMemory(device, v->memory, NULL);
            v->of = NULL;
        }
        quarantine(&a->pages);
        free(a);
    }
    pthread_mutex_unlock(&g->lock);
    g->next.vkFreeMemory(device, memory, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL guard_map(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
                                                VkDeviceSize size, VkMemoryMapFlags flags, void **data)
{
    struct guard *g = device_of(device)->guard;
    const struct allocation *a;

    pthread_mutex_lock(&g->lock);
    a = map_pointer(&g->allocations, (uint64_t)memory);
    offset += a ? a->shift : 0;
    pthread_mutex_unlock(&g->lock);
    return g->next.vkMapMemory(device, memory, offset, size, flags, data);
}

/* ---- buffers ------------------------------------------------------------- */

static bool has(const void *chain, VkStructureType type)
{
    const VkBaseInStructure *i = chain;

    while (i && i->sType != type)
        i = i->pNext;
    return i;
}

static VKAPI_ATTR VkResult VKAPI_CALL guard_create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                                          const VkAllocationCallbacks *allocator,
                                                          VkBuffer *out)
{
    const struct guard *g = device_of(device)->guard;
    VkExternalMemoryBufferCreateInfo external = {.sType =
                                                     VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                 .pNext = info->pNext,
                                                 .handleTypes = HOST};
    VkBufferCreateInfo mine = *info;

    mine.pNext = &external;
    if (info->flags & (VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_PROTECTED_BIT) ||
        has(info->pNext, external.sType))
        mine.pNext = info->pNext;
    return g->next.vkCreateBuffer(device, &mine, allocator, out);
}

/* With the lock held. The view's own pages, or none. */
static struct view *make_view(struct device *d, struct allocation *a, VkBuffer buffer, VkDeviceSize first,
                              VkDeviceSize size)
{
    struct guard *g = d->guard;
    struct view *v = calloc(1, sizeof(*v));
    uint64_t *at = NULL;

    if (!v || first + size > a->pages.size || !alias_pages(&a->pages, first, size, &v->pages))
        goto fail;
    if (import(d, &v->pages, a->type, a->flags, NULL, &v->memory))
        goto unmap;
    at = map_put(&g->views, (uint64_t)buffer);
    if (at) {
        *at = (uint64_t)(uintptr_t)v;
        v->buffer = buffer;
        v->of = a;
        v->next = a->views;
        a->views = v;
        return v;
    }
    g->next.vkFreeMemory(d->handle, v->memory, NULL);
unmap:
    release(&v->pages);
fail:
    free(v);
    return NULL;
}

/* Where a buffer is bound, in place of where the program said. */
static void place_buffer(struct device *d, VkBuffer buffer, VkDeviceMemory *memory, VkDeviceSize *offset)
{
    struct guard *g = d->guard;
    struct allocation *a;
    VkMemoryRequirements need;
    VkDeviceSize first, end;
    const struct view *v;
    const uint8_t *at;

    g->next.vkGetBufferMemoryRequirements(d->handle, buffer, &need);
    pthread_mutex_lock(&g->lock);
    a = map_pointer(&g->allocations, (uint64_t)*memory);
    if (a) {
        *offset += a->shift;
        first = *offset & ~(g->page - 1);
        end = (*offset + need.size + g->page - 1) & ~(g->page - 1);
        v = make_view(d, a, buffer, first, end - first);
        at = a->pages.at + *offset;
        if (v) {
            *memory = v->memory;
            *offset -= first;
            at = v->pages.at + *offset;
        }
        note_address(d, VK_OBJECT_TYPE_BUFFER, (uint64_t)buffer, (uint64_t)(uintptr_t)at);
    }
    pthread_mutex_unlock(&g->lock);
}

static VKAPI_ATTR VkResult VKAPI_CALL guard_bind_buffer(VkDevice device, VkBuffer buffer,
                                                        VkDeviceMemory memory, VkDeviceSize offset)
{
    struct device *d = device_of(device);

    place_buffer(d, buffer, &memory, &offset);
    return d->guard->next.vkBindBufferMemory(device, buffer, memory, offset);
}

static VKAPI_ATTR VkResult VKAPI_CALL guard_bind_buffers(VkDevice device, uint32_t n,
                                                         const VkBindBufferMemoryInfo *infos)
{
    struct device *d = device_of(device);
    VkBindBufferMemoryInfo *mine = calloc(n ? n : 1, sizeof(*mine));
    VkResult r;

    if (!mine)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(mine, infos, n * sizeof(*mine));
    for (uint32_t i = 0; i < n; i++)
        place_buffer(d, mine[i].buffer, &mine[i].memory, &mine[i].memoryOffset);
    r = d->guard->next.vkBindBufferMemory2(device, n, mine);
    free(mine);
    return r;
}

/* With the lock held. */
static void end_view(struct device *d, struct view *v)
{
    if (v->of) {
        struct view **at = &v->of->views;

        while (*at != v)
            at = &(*at)->next;
        *at = v->next;
        quarantine(&v->pages);
        d->guard->next.vkFreeMemory(d->handle, v->memory, NULL);
    }
    map_remove(&d->guard->views, (uint64_t)v->buffer);
    free(v);
}

static VKAPI_ATTR void VKAPI_CALL guard_destroy_buffer(VkDevice device, VkBuffer buffer,
                                                       const VkAllocationCallbacks *allocator)
{
    struct device *d = device_of(device);
    struct guard *g = d->guard;
    VkBuffer now = buffer;
    struct view *v;

    pthread_mutex_lock(&g->lock);
    v = map_pointer(&g->views, (uint64_t)buffer);
    if (v) {
        end_view(d, v);
        if (!allocator) { /* the program's may be gone by then */
            now = g->late[g->num_late % LATE];
            g->late[g->num_late++ % LATE] = buffer;
        }
    }
    pthread_mutex_unlock(&g->lock);
    g->next.vkDestroyBuffer(device, now, allocator);
}

/* ---- images -------------------------------------------------------------- */

static bool image_can_be_imported(const struct guard *g, const VkImageCreateInfo *i)
{
    VkPhysicalDeviceExternalImageFormatInfo of = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO, .handleType = HOST};
    VkPhysicalDeviceImageFormatInfo2 info = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
                                             .pNext = &of,
                                             .format = i->format,
                                             .type = i->imageType,
                                             .tiling = i->tiling,
                                             .usage = i->usage,
                                             .flags = i->flags};
    VkExternalImageFormatProperties can = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
    VkImageFormatProperties2 p = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2, .pNext = &can};

    return g->image_properties && i->tiling <= VK_IMAGE_TILING_LINEAR &&
           i->initialLayout == VK_IMAGE_LAYOUT_UNDEFINED && !g->image_properties(g->physical, &info, &p) &&
           can.externalMemoryProperties.externalMemoryFeatures & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
}

static VKAPI_ATTR VkResult VKAPI_CALL guard_create_image(VkDevice device, const VkImageCreateInfo *info,
                                                         const VkAllocationCallbacks *allocator, VkImage *out)
{
    const struct guard *g = device_of(device)->guard;
    VkExternalMemoryImageCreateInfo external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
                                                .pNext = info->pNext,
                                                .handleTypes = HOST};
    VkImageCreateInfo mine = *info;

    if (!has(info->pNext, external.sType) &&
        !has(info->pNext, VK_STRUCTURE_TYPE_IMAGE_SWAPCHAIN_CREATE_INFO_KHR) &&
        image_can_be_imported(g, info))
        mine.pNext = &external;
    return g->next.vkCreateImage(device, &mine, allocator, out);
}

static VkDeviceSize shift_of(struct guard *g, VkDeviceMemory memory)
{
    const struct allocation *a;
    VkDeviceSize shift;

    pthread_mutex_lock(&g->lock);
    a = map_pointer(&g->allocations, (uint64_t)memory);
    shift = a ? a->shift : 0;
    pthread_mutex_unlock(&g->lock);
    return shift;
}

static VKAPI_ATTR VkResult VKAPI_CALL guard_bind_image(VkDevice device, VkImage image, VkDeviceMemory memory,
                                                       VkDeviceSize offset)
{
    struct guard *g = device_of(device)->guard;

    return g->next.vkBindImageMemory(device, image, memory, offset + shift_of(g, memory));
}

static VKAPI_ATTR VkResult VKAPI_CALL guard_bind_images(VkDevice device, uint32_t n,
                                                        const VkBindImageMemoryInfo *infos)
{
    struct guard *g = device_of(device)->guard;
    VkBindImageMemoryInfo *mine = calloc(n ? n : 1, sizeof(*mine));
    VkResult r;

    if (!mine)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(mine, infos, n * sizeof(*mine));
    for (uint32_t i = 0; i < n; i++)
        mine[i].memoryOffset += shift_of(g, mine[i].memory);
    r = g->next.vkBindImageMemory2(device, n, mine);
    free(mine);
    return r;
}

/* ---- devices ------------------------------------------------------------- */

/* That a buffer of any use, and what the host maps, must be aligned to. */
static VkDeviceSize find_alignment(struct device *d, const VkPhysicalDeviceLimits *limits)
{
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 64,
        .usage = VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT |
                 VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                 VK_BUFFER_USAGE_INDEX_BUFFER_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT};
    VkDeviceSize align = limits->minMemoryMapAlignment > 64 ? limits->minMemoryMapAlignment : 64;
    VkMemoryRequirements need = {0};
    VkBuffer buffer;

    if (!d->next.vkCreateBuffer(d->handle, &info, NULL, &buffer)) {
        d->next.vkGetBufferMemoryRequirements(d->handle, buffer, &need);
        d->next.vkDestroyBuffer(d->handle, buffer, NULL);
    }
    align = need.alignment > align ? need.alignment : align;
    return limits->nonCoherentAtomSize > align ? limits->nonCoherentAtomSize : align;
}

void guard_create(struct device *d, VkPhysicalDevice physical)
{
    const struct layer_physical *next = &d->instance->next;
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 p = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &host};
    struct guard *g = calloc(1, sizeof(*g));

    if (!g || !next->GetPhysicalDeviceMemoryProperties || !next->GetPhysicalDeviceProperties2 ||
        !d->next.vkGetMemoryHostPointerPropertiesEXT) {
        free(g);
        return;
    }
    next->GetPhysicalDeviceMemoryProperties(physical, &g->memory);
    next->GetPhysicalDeviceProperties2(physical, &p);
    g->next = d->next;
    g->physical = physical;
    g->image_properties = next->GetPhysicalDeviceImageFormatProperties2;
    g->page = host.minImportedHostPointerAlignment > 4096 ? host.minImportedHostPointerAlignment : 4096;
    g->align = find_alignment(d, &p.properties.limits);
    /* SwiftShader loads three floats of a vertex as four. */
    g->ahead = d->slot->driver_id == VK_DRIVER_ID_GOOGLE_SWIFTSHADER ? 16 : 0;
    pthread_mutex_init(&g->lock, NULL);
    d->slot->guards = 1;
    d->guard = g;
    d->next.vkAllocateMemory = guard_allocate;
    d->next.vkFreeMemory = guard_free;
    d->next.vkMapMemory = guard_map;
    d->next.vkCreateBuffer = guard_create_buffer;
    d->next.vkDestroyBuffer = guard_destroy_buffer;
    d->next.vkBindBufferMemory = guard_bind_buffer;
    d->next.vkBindBufferMemory2 = guard_bind_buffers;
    d->next.vkCreateImage = guard_create_image;
    d->next.vkBindImageMemory = guard_bind_image;
    d->next.vkBindImageMemory2 = guard_bind_images;
}

/* The device is idle. What the program left is the driver's, as without. */
void guard_destroy(struct device *d)
{
    struct guard *g = d->guard;
    struct map_slot slot;
    size_t at = 0;

    if (!g)
        return;
    for (uint32_t i = 0; i < LATE; i++)
        if (g->late[i])
            g->next.vkDestroyBuffer(d->handle, g->late[i], NULL);
    while (map_next(&g->views, &at, &slot)) {
        struct view *v = (struct view *)(uintptr_t)slot.value;

        if (v->of)
            g->next.vkFreeMemory(d->handle, v->memory, NULL);
        free(v);
    }
    for (at = 0; map_next(&g->allocations, &at, &slot);)
        free((void *)(uintptr_t)slot.value);
    map_finish(&g->views);
    map_finish(&g->allocations);
    pthread_mutex_destroy(&g->lock);
    d->next = g->next;
    d->guard = NULL;
    free(g);
}

/* ---- what the registry here does not have yet ---------------------------- */

/* VK_KHR_map_memory2, as of Vulkan 1.4. */
struct map_info {
    VkStructureType type;
    const void *next;
    VkMemoryMapFlags flags;
    VkDeviceMemory memory;
    VkDeviceSize offset, size;
};

static VkResult map2(VkDevice device, const char *name, const struct map_info *info, void **data)
{
    struct device *d = device_of(device);
    VkResult(VKAPI_PTR * map)(VkDevice, const struct map_info *, void **) =
        (VkResult(VKAPI_PTR *)(VkDevice, const struct map_info *, void **))d->get(device, name);
    struct map_info mine = *info;
    VkResult r;

    mine.offset += d->guard ? shift_of(d->guard, info->memory) : 0;
    r = map(device, &mine, data);
    if (r == VK_SUCCESS)
        note_address(d, VK_OBJECT_TYPE_DEVICE_MEMORY, (uint64_t)info->memory,
                     (uint64_t)(uintptr_t)*data - info->offset);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkMapMemory2(VkDevice device, const struct map_info *info,
                                                        void **data)
{
    return map2(device, "vkMapMemory2", info, data);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkMapMemory2KHR(VkDevice device, const struct map_info *info,
                                                           void **data)
{
    return map2(device, "vkMapMemory2KHR", info, data);
}

const struct layer_hook guard_hooks[] = {LAYER_HOOK(vkMapMemory2), LAYER_HOOK(vkMapMemory2KHR),
                                         LAYER_HOOKS_END};
