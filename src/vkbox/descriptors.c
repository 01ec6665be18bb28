/* SPDX-License-Identifier: MIT */
/* descriptors.c: what descriptor sets name.
 *
 * A set has a block of descriptors in the box, one for each that its layout has, in the order of bindings; of the last binding so many
 * as the set was made with, where that may vary. Of a set of more than MOST the first ones are kept. Blocks are given out again oldest first: those of a set that was freed can be read for a while.
 */
#include <stdlib.h>
#include <string.h>

#include "vkbox/layer.h"

enum { CLASSES = 15, MOST = 1 << (CLASSES - 1) };

struct binding {
    uint32_t binding, first, count;
    VkDescriptorType type;
};

/* The device is the first member of both. */
struct layout {
    struct device *d;
    uint32_t users, num, total;
    bool varies; /* how many its last binding has */
    struct binding bindings[];
};

struct template
{
    struct device *d;
    uint32_t num;
    VkDescriptorUpdateTemplateEntry entries[];
};

struct set {
    struct device *d;
    struct set *next; /* of its pool */
    uint64_t handle, pool;
    struct layout *layout;
    uint32_t first, room, class;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct map sets, layouts, templates,
    pools; /* key() to struct set, layout, template; to a pool's first set */
static struct {
    uint32_t first, last; /* index + 1 */
} given_up[CLASSES];
static uint32_t links[VKBOX_DESCRIPTORS], fresh;

static uint64_t key(const struct device *d, uint64_t handle)
{
    return handle ^ (uint64_t)d->index << 58;
}

static void put(struct map *m, const struct device *d, uint64_t handle, void *value)
{
    uint64_t *at = map_put(m, key(d, handle));

    if (at)
        *at = (uint64_t)(uintptr_t)value;
    else
        free(value);
}

/* ---- room ---------------------------------------------------------------- */

static uint32_t take_block(uint32_t class)
{
    uint32_t at = given_up[class].first;

    if (fresh + (1u << class) <= VKBOX_DESCRIPTORS) {
        at = fresh;
        fresh += 1u << class;
        return at;
    }
    if (!at)
        return VKBOX_NO_INDEX;
    given_up[class].first = links[at - 1];
    return at - 1;
}

static void give_block(uint32_t class, uint32_t at)
{
    links[at] = 0;
    if (given_up[class].first)
        links[given_up[class].last - 1] = at + 1;
    else
        given_up[class].first = at + 1;
    given_up[class].last = at + 1;
}

/* ---- layouts ------------------------------------------------------------- */

static const void *find_struct(const void *chain, VkStructureType type)
{
    const VkBaseInStructure *s = chain;

    while (s && s->sType != type)
        s = s->pNext;
    return s;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static bool varies(const VkDescriptorSetLayoutCreateInfo *info)
{
    const VkDescriptorSetLayoutBindingFlagsCreateInfo *flags =
        find_struct(info->pNext, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO);
    bool any = false;

    for (uint32_t i = 0; flags && i < flags->bindingCount; i++)
        any |= flags->pBindingFlags[i] & VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT;
    return any;
}

static void leave_layout(struct layout *l)
{
    if (l && !--l->users)
        free(l);
}

static void put_layout(struct device *d, VkDescriptorSetLayout handle,
                       const VkDescriptorSetLayoutCreateInfo *info)
{
    struct layout *l = calloc(1, sizeof(*l) + info->bindingCount * sizeof(l->bindings[0]));

    if (!l)
        return;
    l->d = d;
    l->users = 1;
    l->varies = varies(info);
    for (uint32_t i = 0; i < info->bindingCount; i++) {
        const VkDescriptorSetLayoutBinding *b = &info->pBindings[i];
        struct binding mine = {b->binding, 0, b->descriptorCount, b->descriptorType};
        uint32_t at = l->num++;

        if (mine.type == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK)
            mine.count = 0;
        for (; at && l->bindings[at - 1].binding > mine.binding; at--)
            l->bindings[at] = l->bindings[at - 1];
        l->bindings[at] = mine;
    }
    for (uint32_t i = 0; i < l->num; i++) {
        l->bindings[i].first = l->total;
        l->total += least(l->bindings[i].count, MOST - l->total);
    }
    pthread_rwlock_wrlock(&lock);
    put(&layouts, d, (uint64_t)handle, l);
    pthread_rwlock_unlock(&lock);
}

static VKAPI_ATTR VkResult VKAPI_CALL
hook_vkCreateDescriptorSetLayout(VkDevice device, const VkDescriptorSetLayoutCreateInfo *info,
                                 const VkAllocationCallbacks *allocator, VkDescriptorSetLayout *out)
{
    struct device *d = device_of(device);
    VkResult r = d->next.vkCreateDescriptorSetLayout(device, info, allocator, out);

    if (r != VK_SUCCESS)
        return note_result(d, VKBOX_CALL_vkCreateDescriptorSetLayout, r);
    note_created(d, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, (uint64_t)*out, NULL);
    if (d->slot)
        put_layout(d, *out, info);
    return r;
}

/* ---- sets ---------------------------------------------------------------- */

/* How many descriptors of a set are kept; `count`: that its last binding has, if it varies. */
static uint32_t room_of(const struct layout *l, uint32_t count)
{
    return l->varies && l->num ? least(l->total, l->bindings[l->num - 1].first + least(count, MOST))
                               : l->total;
}

static void add_set(struct device *d, VkDescriptorSet handle, VkDescriptorPool pool,
                    VkDescriptorSetLayout layout, uint32_t count)
{
    struct set *s = calloc(1, sizeof(*s));
    uint32_t room;
    uint64_t *head;

    pthread_rwlock_wrlock(&lock);
    if (s)
        s->layout = map_pointer(&layouts, key(d, (uint64_t)layout));
    if (!s || !s->layout || !(head = map_put(&pools, key(d, (uint64_t)pool)))) {
        pthread_rwlock_unlock(&lock);
        free(s);
        return;
    }
    room = room_of(s->layout, count);
    while ((1u << s->class) < room)
        s->class ++;
    s->layout->users++;
    s->d = d;
    s->handle = (uint64_t)handle;
    s->pool = (uint64_t)pool;
    s->first = take_block(s->class);
    s->room = s->first == VKBOX_NO_INDEX ? 0 : room;
    if (s->room)
        memset(&box->descriptors[s->first], 0, s->room * sizeof(box->descriptors[0]));
    s->next = (void *)(uintptr_t)*head;
    *head = (uint64_t)(uintptr_t)s;
    put(&sets, d, (uint64_t)handle, s);
    pthread_rwlock_unlock(&lock);
    note_room(d, VK_OBJECT_TYPE_DESCRIPTOR_SET, (uint64_t)handle, s->first, s->room);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkAllocateDescriptorSets(VkDevice device,
                                                                    const VkDescriptorSetAllocateInfo *info,
                                                                    VkDescriptorSet *out)
{
    const VkDescriptorSetVariableDescriptorCountAllocateInfo *counts =
        find_struct(info->pNext, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_ALLOCATE_INFO);
    struct device *d = device_of(device);
    VkResult r = d->next.vkAllocateDescriptorSets(device, info, out);

    if (r != VK_SUCCESS)
        return note_result(d, VKBOX_CALL_vkAllocateDescriptorSets, r);
    for (uint32_t i = 0; i < info->descriptorSetCount; i++) {
        note_created(d, VK_OBJECT_TYPE_DESCRIPTOR_SET, (uint64_t)out[i], NULL);
        if (d->slot)
            add_set(d, out[i], info->descriptorPool, info->pSetLayouts[i],
                    counts && i < counts->descriptorSetCount ? counts->pDescriptorCounts[i] : 0);
    }
    return r;
}

/* With the lock held for writing, and `s` no longer in its pool's list. */
static void drop_set(struct set *s)
{
    map_remove(&sets, key(s->d, s->handle));
    leave_layout(s->layout);
    if (s->first != VKBOX_NO_INDEX)
        give_block(s->class, s->first);
    free(s);
}

static struct set *take_pool(struct device *d, uint64_t pool)
{
    struct set *first;

    pthread_rwlock_wrlock(&lock);
    first = map_pointer(&pools, key(d, pool));
    map_remove(&pools, key(d, pool));
    pthread_rwlock_unlock(&lock);
    return first;
}

/* All sets of a pool are gone. */
static void empty_pool(struct device *d, uint64_t pool)
{
    for (struct set *s = take_pool(d, pool), *next; s; s = next) {
        next = s->next;
        objects_gone(d, VK_OBJECT_TYPE_DESCRIPTOR_SET, s->handle);
        pthread_rwlock_wrlock(&lock);
        drop_set(s);
        pthread_rwlock_unlock(&lock);
    }
}

static void free_set(struct device *d, uint64_t handle)
{
    struct set *s, *at;

    pthread_rwlock_wrlock(&lock);
    s = map_pointer(&sets, key(d, handle));
    at = s ? map_pointer(&pools, key(d, s->pool)) : NULL;
    if (at == s && s) {
        *map_put(&pools, key(d, s->pool)) = (uint64_t)(uintptr_t)s->next; /* it is there */
    } else {
        while (at && at->next != s)
            at = at->next;
        if (at)
            at->next = s->next;
    }
    if (s)
        drop_set(s);
    pthread_rwlock_unlock(&lock);
}

void descriptors_gone(struct device *d, VkObjectType type, uint64_t handle)
{
    struct map *m = type == VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT        ? &layouts
                    : type == VK_OBJECT_TYPE_DESCRIPTOR_UPDATE_TEMPLATE ? &templates
                                                                        : NULL;
    void *value;

    if (type == VK_OBJECT_TYPE_DESCRIPTOR_SET)
        free_set(d, handle);
    else if (type == VK_OBJECT_TYPE_DESCRIPTOR_POOL)
        empty_pool(d, handle);
    if (!m)
        return;
    pthread_rwlock_wrlock(&lock);
    value = map_pointer(m, key(d, handle));
    map_remove(m, key(d, handle));
    if (m == &layouts)
        leave_layout(value);
    else
        free(value);
    pthread_rwlock_unlock(&lock);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkResetDescriptorPool(VkDevice device, VkDescriptorPool pool,
                                                                 VkDescriptorPoolResetFlags flags)
{
    struct device *d = device_of(device);

    empty_pool(d, (uint64_t)pool);
    return device_is_lost(d) ? VK_SUCCESS : d->next.vkResetDescriptorPool(device, pool, flags);
}

/* ---- writes -------------------------------------------------------------- */

/* The descriptor that is `element`s behind the first of a binding, which may be one of a later binding; NULL: it is not kept. */
static struct vkbox_descriptor *find(const struct set *s, uint32_t binding, uint32_t element)
{
    const struct layout *l = s->layout;
    uint32_t i = 0;

    while (i < l->num && l->bindings[i].binding < binding)
        i++;
    if (i == l->num || l->bindings[i].binding != binding)
        return NULL;
    for (; i < l->num && element >= l->bindings[i].count; i++)
        element -= l->bindings[i].count;
    if (i == l->num || element >= s->room - l->bindings[i].first || l->bindings[i].first >= s->room)
        return NULL;
    box->descriptors[s->first + l->bindings[i].first + element].binding = l->bindings[i].binding;
    box->descriptors[s->first + l->bindings[i].first + element].element = element;
    return &box->descriptors[s->first + l->bindings[i].first + element];
}

static void put_one(struct vkbox_descriptor *to, VkDescriptorType type, const void *info, uint64_t now)
{
    const VkDescriptorImageInfo *image = info;
    const VkDescriptorBufferInfo *buffer = info;

    to->handle = to->other = to->offset = to->range = 0;
    switch (type) {
    case VK_DESCRIPTOR_TYPE_SAMPLER:
        to->other = (uint64_t)image->sampler;
        break;
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
        to->other = (uint64_t)image->sampler;
        to->handle = (uint64_t)image->imageView;
        break;
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
    case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
        to->handle = (uint64_t)image->imageView;
        break;
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
        to->handle = (uint64_t) * (const VkBufferView *)info;
        break;
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC:
        to->handle = (uint64_t)buffer->buffer;
        to->offset = buffer->offset;
        to->range = buffer->range;
        break;
    default:
        return;
    }
    to->type = (uint32_t)type + 1;
    to->written_ns = now;
}

static const void *info_of(const VkWriteDescriptorSet *w, uint32_t i)
{
    switch (w->descriptorType) {
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
        return &w->pTexelBufferView[i];
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC:
        return &w->pBufferInfo[i];
    case VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK:
        return NULL;
    default:
        return w->descriptorType <= VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT ? (const void *)&w->pImageInfo[i]
                                                                        : NULL;
    }
}

static void note_copy(struct device *d, const VkCopyDescriptorSet *c, uint64_t now)
{
    const struct set *from = map_pointer(&sets, key(d, (uint64_t)c->srcSet)),
                     *to = map_pointer(&sets, key(d, (uint64_t)c->dstSet));

    for (uint32_t i = 0; from && to && i < c->descriptorCount && i < MOST; i++) {
        const struct vkbox_descriptor *a = find(from, c->srcBinding, c->srcArrayElement + i);
        struct vkbox_descriptor *b = find(to, c->dstBinding, c->dstArrayElement + i), was;

        if (!a || !b)
            continue;
        was = *b;
        *b = *a;
        b->binding = was.binding;
        b->element = was.element;
        b->written_ns = now;
    }
}

static VKAPI_ATTR void VKAPI_CALL hook_vkUpdateDescriptorSets(VkDevice device, uint32_t num_writes,
                                                              const VkWriteDescriptorSet *writes,
                                                              uint32_t num_copies,
                                                              const VkCopyDescriptorSet *copies)
{
    struct device *d = device_of(device);
    const uint64_t now = d->slot ? box_now() : 0;

    d->next.vkUpdateDescriptorSets(device, num_writes, writes, num_copies, copies);
    if (!d->slot)
        return;
    pthread_rwlock_rdlock(&lock);
    for (uint32_t i = 0; i < num_writes; i++) {
        const struct set *s = map_pointer(&sets, key(d, (uint64_t)writes[i].dstSet));

        for (uint32_t k = 0; s && k < writes[i].descriptorCount && k < MOST && info_of(&writes[i], k); k++) {
            struct vkbox_descriptor *to = find(s, writes[i].dstBinding, writes[i].dstArrayElement + k);

            if (to)
                put_one(to, writes[i].descriptorType, info_of(&writes[i], k), now);
        }
    }
    for (uint32_t i = 0; i < num_copies; i++)
        note_copy(d, &copies[i], now);
    pthread_rwlock_unlock(&lock);
}

static VKAPI_ATTR VkResult VKAPI_CALL
hook_vkCreateDescriptorUpdateTemplate(VkDevice device, const VkDescriptorUpdateTemplateCreateInfo *info,
                                      const VkAllocationCallbacks *allocator, VkDescriptorUpdateTemplate *out)
{
    struct device *d = device_of(device);
    VkResult r = d->next.vkCreateDescriptorUpdateTemplate(device, info, allocator, out);
    const size_t size = info->descriptorUpdateEntryCount * sizeof(info->pDescriptorUpdateEntries[0]);
    struct template *t;

    if (r != VK_SUCCESS)
        return note_result(d, VKBOX_CALL_vkCreateDescriptorUpdateTemplate, r);
    note_created(d, VK_OBJECT_TYPE_DESCRIPTOR_UPDATE_TEMPLATE, (uint64_t)*out, NULL);
    t = d->slot ? malloc(sizeof(*t) + size) : NULL;
    if (!t)
        return r;
    t->d = d;
    t->num = info->descriptorUpdateEntryCount;
    memcpy(t->entries, info->pDescriptorUpdateEntries, size);
    pthread_rwlock_wrlock(&lock);
    put(&templates, d, (uint64_t)*out, t);
    pthread_rwlock_unlock(&lock);
    return r;
}

static VKAPI_ATTR void VKAPI_CALL hook_vkUpdateDescriptorSetWithTemplate(VkDevice device, VkDescriptorSet set,
                                                                         VkDescriptorUpdateTemplate template,
                                                                         const void *data)
{
    struct device *d = device_of(device);
    const uint64_t now = d->slot ? box_now() : 0;
    const struct template *t;
    const struct set *s;

    d->next.vkUpdateDescriptorSetWithTemplate(device, set, template, data);
    if (!d->slot)
        return;
    pthread_rwlock_rdlock(&lock);
    s = map_pointer(&sets, key(d, (uint64_t)set));
    t = map_pointer(&templates, key(d, (uint64_t) template));
    for (uint32_t i = 0; s && t && i < t->num; i++) {
        const VkDescriptorUpdateTemplateEntry *e = &t->entries[i];

        for (uint32_t k = 0; k < e->descriptorCount && k < MOST; k++) {
            struct vkbox_descriptor *to = find(s, e->dstBinding, e->dstArrayElement + k);

            if (to && e->descriptorType != VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK)
                put_one(to, e->descriptorType, (const char *)data + e->offset + k * e->stride, now);
        }
    }
    pthread_rwlock_unlock(&lock);
}

const struct layer_hook descriptor_hooks[] = {
    LAYER_HOOK(vkCreateDescriptorSetLayout),
    LAYER_HOOK(vkAllocateDescriptorSets),
    LAYER_HOOK(vkResetDescriptorPool),
    LAYER_HOOK(vkUpdateDescriptorSets),
    LAYER_HOOK(vkCreateDescriptorUpdateTemplate),
    LAYER_ALIAS(vkCreateDescriptorUpdateTemplate, KHR),
    LAYER_HOOK(vkUpdateDescriptorSetWithTemplate),
    LAYER_ALIAS(vkUpdateDescriptorSetWithTemplate, KHR),
    LAYER_HOOKS_END,
};

/* ---- devices ------------------------------------------------------------- */

static void forget(struct map *m, const struct device *d)
{
    struct map_slot slot;

    pthread_rwlock_wrlock(&lock);
    for (bool again = true; again;) {
        size_t at = 0;

        again = false;
        while (!again && map_next(m, &at, &slot)) {
            if (*(struct device **)(uintptr_t)slot.value == d) {
                map_remove(m, slot.key);
                free((void *)(uintptr_t)slot.value);
                again = true; /* the map has moved */
            }
        }
    }
    pthread_rwlock_unlock(&lock);
}

/* What the program left. */
void descriptors_device_gone(struct device *d)
{
    struct map_slot slot;

    for (bool again = true; again;) {
        size_t at = 0;

        again = false;
        while (!again && map_next(&sets, &at, &slot)) {
            struct set *s = (void *)(uintptr_t)slot.value;

            if (s->d == d) {
                empty_pool(d, s->pool);
                again = true; /* the map has moved */
            }
        }
    }
    forget(&layouts, d);
    forget(&templates, d);
}
