/* SPDX-License-Identifier: MIT */
/* commands.c: command buffers: what is recorded into them, and the marks that say how far the device came.
 *
 *   vkBegin  1│ copies, dispatches  2│ render pass  3│ render pass  4│ …  n│ vkEnd
 *
 * A mark is one word for each command buffer. A point writes its number there, outside of render passes, when everything
 * before it has finished and before anything behind it begins: the group between the last point that was passed and the next
 * one is what the device was at. Inside of render passes nothing can be written; exact mode cuts them in pieces (passes.c).
 */
#include <stdlib.h>
#include <string.h>

#include "vkbox/fast.h"
#include "vkbox/point.h"

enum { LEFT = 512 };
enum { GROUP = 16 }; /* commands outside of render passes between two points */

static pthread_rwlock_t known_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct map known;     /* VkCommandBuffer to struct command_buffer */
static struct map transfers; /* VkCommandPools whose queues write memory: those of video do not */

static pthread_mutex_t room_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t free_chunk, fresh_chunk, free_slot = VKBOX_NO_INDEX, fresh_slot; /* free_chunk: index + 1 */
static uint32_t slot_links[VKBOX_COMMAND_BUFFERS];

struct commands_row commands_rows[KNOWN_BUFFERS];

/* With known_lock held for writing. False: there is no room. */
static bool put_row(struct command_buffer *cb)
{
    const uint64_t handle = (uint64_t)(uintptr_t)cb->handle;
    const uint32_t at = commands_hash(handle);

    for (uint32_t i = 0; i < PROBES; i++) {
        struct commands_row *row = &commands_rows[(at + i) % KNOWN_BUFFERS];

        if (atomic_load(&row->handle) > FREED_HANDLE)
            continue;
        atomic_store(&row->cb, cb);
        atomic_store(&row->handle, handle);
        return true;
    }
    return false;
}

static void remove_row(VkCommandBuffer handle)
{
    const uint32_t at = commands_hash((uint64_t)(uintptr_t)handle);

    for (uint32_t i = 0; i < PROBES; i++) {
        struct commands_row *row = &commands_rows[(at + i) % KNOWN_BUFFERS];

        if (atomic_load(&row->handle) == (uint64_t)(uintptr_t)handle)
            atomic_store(&row->handle, FREED_HANDLE);
    }
}

/* ---- room in the box ----------------------------------------------------- */

struct vkbox_chunk *commands_take_chunk(uint32_t *index)
{
    struct vkbox_chunk *c = NULL;

    pthread_mutex_lock(&room_lock);
    if (free_chunk) {
        *index = free_chunk - 1;
        c = &box->chunks[*index];
        free_chunk = c->next == VKBOX_NO_INDEX ? 0 : c->next + 1;
    } else if (fresh_chunk < VKBOX_CHUNKS) {
        *index = fresh_chunk++;
        c = &box->chunks[*index];
    }
    pthread_mutex_unlock(&room_lock);
    if (c) {
        c->next = VKBOX_NO_INDEX;
        atomic_store_explicit(&c->used, 0, memory_order_relaxed);
    }
    return c;
}

void commands_give_chunks(uint32_t first)
{
    if (first == VKBOX_NO_INDEX)
        return;
    pthread_mutex_lock(&room_lock);
    for (uint32_t at = first;;) {
        struct vkbox_chunk *c = &box->chunks[at];

        if (c->next == VKBOX_NO_INDEX) {
            c->next = free_chunk ? free_chunk - 1 : VKBOX_NO_INDEX;
            break;
        }
        at = c->next;
    }
    free_chunk = first + 1;
    pthread_mutex_unlock(&room_lock);
}

static void give_chunks(struct vkbox_command_buffer *s)
{
    const uint32_t first = s->first;

    s->first = VKBOX_NO_INDEX;
    commands_give_chunks(first);
}

static struct vkbox_command_buffer *take_slot(uint32_t *index)
{
    struct vkbox_command_buffer *s = NULL;

    pthread_mutex_lock(&room_lock);
    if (free_slot != VKBOX_NO_INDEX) {
        *index = free_slot;
        free_slot = slot_links[free_slot];
        s = &box->command_buffers[*index];
    } else if (fresh_slot < VKBOX_COMMAND_BUFFERS &&
               (fresh_slot % BOX_COMMAND_BUFFERS ||
                box_room(&box->command_buffers[fresh_slot], BOX_COMMAND_BUFFERS * sizeof(*s)))) {
        *index = fresh_slot++;
        s = &box->command_buffers[*index];
    }
    pthread_mutex_unlock(&room_lock);
    return s;
}

static void give_slot(uint32_t index)
{
    pthread_mutex_lock(&room_lock);
    slot_links[index] = free_slot;
    free_slot = index;
    pthread_mutex_unlock(&room_lock);
}

static uint32_t take_mark(struct device *d)
{
    uint32_t index = VKBOX_NO_INDEX;

    pthread_mutex_lock(&room_lock);
    for (uint32_t i = 0; d->marks && i < VKBOX_MARKS / 64; i++)
        if (~d->mark_used[i]) {
            uint32_t bit = (uint32_t)__builtin_ctzll(~d->mark_used[i]);

            d->mark_used[i] |= UINT64_C(1) << bit;
            index = i * 64 + bit;
            break;
        }
    pthread_mutex_unlock(&room_lock);
    return index;
}

static void give_mark(struct device *d, uint32_t index)
{
    pthread_mutex_lock(&room_lock);
    d->mark_used[index / 64] &= ~(UINT64_C(1) << index % 64);
    pthread_mutex_unlock(&room_lock);
}

/* ---- the memory that the device writes ----------------------------------- */

static uint32_t host_memory_type(const struct device *d, VkPhysicalDevice physical, uint32_t bits)
{
    PFN_vkGetPhysicalDeviceMemoryProperties properties = d->instance->next.GetPhysicalDeviceMemoryProperties;
    const VkMemoryPropertyFlags want =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties p;

    if (!properties)
        return VKBOX_NO_INDEX;
    properties(physical, &p);
    for (uint32_t i = 0; i < p.memoryTypeCount; i++)
        if (bits >> i & 1 && (p.memoryTypes[i].propertyFlags & want) == want)
            return i;
    return VKBOX_NO_INDEX;
}

bool marks_create(struct device *d, VkPhysicalDevice physical, bool import)
{
    const VkDeviceSize size = sizeof(box->marks[0]);
    VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT};
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .pNext = import ? &external : NULL,
                               .size = size,
                               .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkMemoryHostPointerPropertiesEXT host = {.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    VkImportMemoryHostPointerInfoEXT pointer = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
        .pHostPointer = box->marks[d->index]};
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .pNext = import ? &pointer : NULL};
    VkMemoryRequirements need = {0};
    void *mapped = box->marks[d->index];

    d->slot->marks = VKBOX_MARKS_NONE;
    if (!box_room(mapped, size))
        return false;
    memset(mapped, 0, size);
    if (import && (!d->next.vkGetMemoryHostPointerPropertiesEXT ||
                   d->next.vkGetMemoryHostPointerPropertiesEXT(d->handle, pointer.handleType,
                                                               pointer.pHostPointer, &host)))
        return marks_create(d, physical, false);
    if (d->next.vkCreateBuffer(d->handle, &info, NULL, &d->mark_buffer))
        return false;
    d->next.vkGetBufferMemoryRequirements(d->handle, d->mark_buffer, &need);
    allocate.allocationSize = import ? size : need.size;
    allocate.memoryTypeIndex =
        host_memory_type(d, physical, need.memoryTypeBits & (import ? host.memoryTypeBits : ~0u));
    if (allocate.memoryTypeIndex != VKBOX_NO_INDEX && need.size <= allocate.allocationSize &&
        !d->next.vkAllocateMemory(d->handle, &allocate, NULL, &d->mark_memory) &&
        !d->next.vkBindBufferMemory(d->handle, d->mark_buffer, d->mark_memory, 0) &&
        (import || !d->next.vkMapMemory(d->handle, d->mark_memory, 0, VK_WHOLE_SIZE, 0, &mapped))) {
        memset(mapped, 0, size);
        d->marks = mapped;
        d->slot->marks = import ? VKBOX_MARKS_IMPORTED : VKBOX_MARKS_COPIED;
        return true;
    }
    marks_destroy(d);
    return import && marks_create(d, physical, false);
}

void marks_destroy(struct device *d)
{
    if (d->mark_buffer)
        d->next.vkDestroyBuffer(d->handle, d->mark_buffer, NULL);
    if (d->mark_memory)
        d->next.vkFreeMemory(d->handle, d->mark_memory, NULL);
    d->mark_buffer = VK_NULL_HANDLE;
    d->mark_memory = VK_NULL_HANDLE;
    d->marks = NULL;
}

/* Also in the record, where the device does not write into that: what an earlier recording left there is no point of this one. */
void commands_set_mark(struct command_buffer *cb, uint32_t number)
{
    const uint32_t word = point_word(box, cb->index, number);

    cb->d->marks[cb->slot->mark] = word;
    box->marks[cb->d->index][cb->slot->mark] = word;
}

/* It counts as finished. */
void commands_taken_back(VkCommandBuffer handle)
{
    struct command_buffer *cb = command_buffer_of(handle);

    if (!cb || !cb->slot || !cb->marked || !cb->once)
        return;
    cb->submitted = false;
    commands_set_mark(cb, cb->slot->points);
}

/* ---- records ------------------------------------------------------------- */

uint32_t *commands_more(struct command_buffer *cb, uint32_t words)
{
    struct vkbox_chunk *c;
    uint32_t index;

    c = words <= VKBOX_CHUNK_WORDS ? commands_take_chunk(&index) : NULL;
    if (!c) {
        cb->slot->cut = 1;
        return NULL;
    }
    cb->chunk->next = index;
    cb->chunk = c;
    return &c->words[1];
}

void commands_note(struct command_buffer *cb, enum vkbox_command what, uint32_t a, uint32_t b)
{
    uint32_t *p = commands_begin(cb, 3);

    if (!p)
        return;
    p[0] = a;
    p[1] = b;
    commands_end(cb, p + 2, what);
}

/* Which command buffers an entry executes: by slot, as handles may be used again. */
void commands_execute(struct command_buffer *cb, uint32_t n, const VkCommandBuffer *secondaries)
{
    if (!cb || !cb->slot)
        return;
    for (uint32_t i = 0; i < n; i++) {
        struct command_buffer *s = command_buffer_of(secondaries[i]);

        if (s && s->slot)
            commands_note(cb, VKBOX_EXECUTED, s->index, atomic_load(&s->slot->recording));
    }
}

/* ---- marks --------------------------------------------------------------- */

void commands_write_point(struct command_buffer *cb)
{
    static const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                            .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                            .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT};
    struct device *d = cb->d;
    const uint32_t number = cb->slot->points + 1, word = point_word(box, cb->index, number);

    if (number > 1)
        d->next.vkCmdPipelineBarrier(cb->handle, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    d->next.vkCmdUpdateBuffer(cb->handle, d->mark_buffer, cb->slot->mark * 4, 4, &word);
    cb->slot->points = number;
}

void commands_point(struct command_buffer *cb)
{
    cb->pending = 0;
    if (!cb->marked)
        return;
    commands_note(cb, VKBOX_POINT, cb->slot->points + 1, 0);
    commands_write_point(cb);
}

/* With a point in front of it, where there can be one. */
void commands_checkpoint(struct command_buffer *cb, enum vkbox_command kind, uint64_t value)
{
    if (cb->in_pass)
        pass_cut(cb);
    commands_alone(cb);
    commands_note(cb, kind, (uint32_t)value, (uint32_t)(value >> 32));
    atomic_store_explicit(&box->checkpoints, 1, memory_order_relaxed);
}

void commands_open(struct command_buffer *cb, int by)
{
    if (cb)
        cb->open += (uint32_t)by;
}

void commands_begun(struct command_buffer *cb)
{
    if (cb)
        cb->pending++; /* what a pass clears */
}

/* A group begins: after what was recorded up to here, a run before may have crashed in it. The same places in every mode. */
static void begin_group(struct command_buffer *cb)
{
    const struct vkbox_chunk *c = cb->known_chunk;

    cb->grouped = 0;
    if (!box_known.num || !c)
        return;
    for (;;) {
        for (; cb->known_at < c->used; cb->known_at += 1 + (c->words[cb->known_at] & 0xffff))
            known_add(&cb->content, c->words[cb->known_at], &c->words[cb->known_at + 1],
                      c->used - cb->known_at - 1);
        if (c->next == VKBOX_NO_INDEX)
            break;
        c = cb->known_chunk = &box->chunks[c->next];
        cb->known_at = 0;
    }
    cb->exact = box->exact || known_has(&box_known, known_group(&cb->content));
    cb->slot->known |= cb->exact;
}

void commands_alone(struct command_buffer *cb)
{
    if (!cb || !cb->slot || cb->in_pass || !cb->pending)
        return;
    commands_point(cb);
    begin_group(cb);
}

void commands_pass(struct command_buffer *cb, bool begins)
{
    if (!cb || !cb->slot)
        return;
    if (begins && cb->pending && !cb->in_pass)
        commands_point(cb);
    cb->in_pass = begins;
    cb->bound_to_pass = false;
    if (!begins)
        commands_point(cb);
    begin_group(cb);
    if (!begins)
        offers_pass_ended(cb);
}

void commands_subpass(struct command_buffer *cb)
{
    if (cb)
        cb->pending++;
}

void commands_worked(struct command_buffer *cb)
{
    if (cb->parts) {
        parts_worked(cb);
        return;
    }
    if (cb->in_pass) {
        pass_cut(cb);
        return;
    }
    if (++cb->grouped >= GROUP || cb->exact)
        commands_point(cb);
    if (cb->grouped >= GROUP)
        begin_group(cb);
}

/* ---- hooks --------------------------------------------------------------- */

static void new_slot(struct command_buffer *cb, bool secondary)
{
    struct vkbox_command_buffer *s = take_slot(&cb->index);
    uint32_t recording;

    cb->slot = s;
    if (!s) {
        atomic_fetch_add(&box->buffers_lost, 1);
        return;
    }
    recording = atomic_load(&s->recording);
    memset(s, 0, sizeof(*s));
    atomic_store(&s->recording, recording);
    s->device = cb->d->index;
    s->handle = (uint64_t)(uintptr_t)cb->handle;
    s->secondary = secondary;
    s->first = VKBOX_NO_INDEX;
    s->mark = VKBOX_NO_INDEX;
    atomic_store(&s->state, VKBOX_LIVE);
}

/* ---- what the program left while the device was at it ---------------------- */

/* Nobody may record anew, free or destroy what has not finished; who does it all the same is to hear what the device hangs in. */
static pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct device *d;
    uint32_t slot;
} left[LEFT];
static _Atomic uint32_t num_left;

static void give_up(struct device *d, uint32_t index)
{
    struct vkbox_command_buffer *s = &box->command_buffers[index];

    atomic_store(&s->state, VKBOX_GONE);
    give_chunks(s);
    if (s->mark != VKBOX_NO_INDEX)
        give_mark(d, s->mark);
    give_slot(index);
}

/* Of those that have finished since; `gone`: a device whose are all given up. */
static void sweep_left(const struct device *gone)
{
    if (!atomic_load_explicit(&num_left, memory_order_relaxed))
        return;
    pthread_mutex_lock(&left_lock);
    for (uint32_t i = num_left; i--;) {
        const struct vkbox_command_buffer *s = &box->command_buffers[left[i].slot];

        if (left[i].d != gone && !point_is_last(box, left[i].slot, left[i].d->marks[s->mark]))
            continue;
        give_up(left[i].d, left[i].slot);
        left[i] = left[--num_left];
    }
    pthread_mutex_unlock(&left_lock);
}

/* Leaves the slot to the device, if that is at it; false: it is not, or there is no room. */
static bool leave_slot(struct command_buffer *cb, enum vkbox_left how)
{
    bool leaves;

    sweep_left(NULL);
    if (!cb->submitted || !cb->marked || point_is_last(box, cb->index, cb->d->marks[cb->slot->mark]))
        return false;
    pthread_mutex_lock(&left_lock);
    leaves = num_left < LEFT;
    if (leaves) {
        left[num_left].d = cb->d;
        left[num_left++].slot = cb->index;
        cb->slot->left = how;
        cb->slot = NULL;
        cb->chunk = NULL;
    }
    pthread_mutex_unlock(&left_lock);
    return leaves;
}

/* With known_lock held for writing, and `cb` no longer in the map. */
static void drop(struct command_buffer *cb, bool with_pool)
{
    parts_free(cb, with_pool);
    remove_row(cb->handle);
    if (cb->slot && !leave_slot(cb, VKBOX_LEFT_FREED))
        give_up(cb->d, cb->index);
    free(cb);
}

static void add(struct device *d, VkCommandBuffer handle, const VkCommandBufferAllocateInfo *info)
{
    struct command_buffer *cb = d->slot ? calloc(1, sizeof(*cb)) : NULL;
    uint64_t *value;

    if (!cb)
        return;
    pthread_rwlock_rdlock(&known_lock);
    cb->writes = map_find(&transfers, (uint64_t)info->commandPool);
    pthread_rwlock_unlock(&known_lock);
    cb->handle = handle;
    cb->pool = info->commandPool;
    cb->d = d;
    new_slot(cb, info->level == VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    pthread_rwlock_wrlock(&known_lock);
    value = put_row(cb) ? map_put(&known, (uint64_t)(uintptr_t)handle) : NULL;
    if (value)
        *value = (uint64_t)(uintptr_t)cb;
    else
        drop(cb, false);
    pthread_rwlock_unlock(&known_lock);
}

static void drop_all(struct device *d, VkCommandPool pool)
{
    struct map_slot s;
    bool again;

    pthread_rwlock_wrlock(&known_lock);
    do {
        size_t at = 0;

        again = false;
        while (!again && map_next(&known, &at, &s)) {
            struct command_buffer *cb = (void *)(uintptr_t)s.value;

            if (cb->d == d && (!pool || cb->pool == pool)) {
                map_remove(&known, s.key);
                drop(cb, true);
                again = true; /* the map has moved */
            }
        }
    } while (again);
    pthread_rwlock_unlock(&known_lock);
}

void commands_device_gone(struct device *d)
{
    drop_all(d, VK_NULL_HANDLE);
    sweep_left(d);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkAllocateCommandBuffers(VkDevice device,
                                                                    const VkCommandBufferAllocateInfo *info,
                                                                    VkCommandBuffer *out)
{
    struct device *d = device_of(device);
    VkResult r = d->next.vkAllocateCommandBuffers(device, info, out);

    for (uint32_t i = 0; r == VK_SUCCESS && i < info->commandBufferCount; i++)
        add(d, out[i], info);
    return r;
}

static VKAPI_ATTR void VKAPI_CALL hook_vkFreeCommandBuffers(VkDevice device, VkCommandPool pool, uint32_t n,
                                                            const VkCommandBuffer *buffers)
{
    struct device *d = device_of(device);

    pthread_rwlock_wrlock(&known_lock);
    for (uint32_t i = 0; i < n; i++) {
        struct command_buffer *cb = buffers[i] ? map_pointer(&known, (uint64_t)(uintptr_t)buffers[i]) : NULL;

        if (!cb)
            continue;
        map_remove(&known, (uint64_t)(uintptr_t)buffers[i]);
        drop(cb, false);
    }
    pthread_rwlock_unlock(&known_lock);
    if (!device_is_lost(d))
        d->next.vkFreeCommandBuffers(device, pool, n, buffers);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkBeginCommandBuffer(VkCommandBuffer handle,
                                                                const VkCommandBufferBeginInfo *info)
{
    struct command_buffer *cb = command_buffer_of(handle);
    struct device *d = cb ? cb->d : device_of(handle);
    VkResult r = d->next.vkBeginCommandBuffer(handle, info);
    bool inside, secondary;

    if (cb)
        cb->parts = NULL;
    if (!cb || !cb->slot || r != VK_SUCCESS)
        return note_result(d, VKBOX_CALL_vkBeginCommandBuffer, r);
    secondary = cb->slot->secondary;
    if (leave_slot(cb, VKBOX_LEFT_RECORDED))
        new_slot(cb, secondary);
    if (!cb->slot)
        return r;
    inside = secondary && info->flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT;
    atomic_fetch_add(&cb->slot->recording, 1);
    give_chunks(cb->slot);
    cb->chunk = commands_take_chunk(&cb->slot->first);
    if (!cb->chunk)
        cb->slot->first = VKBOX_NO_INDEX;
    cb->slot->cut = !cb->chunk;
    cb->slot->points = 0;
    cb->open = 0;
    cb->submitted = false;
    atomic_store(&cb->slot->since, 0);
    cb->pass.kind = PASS_WHOLE;
    cb->num_late = 0;
    cb->pending = 0;
    cb->in_pass = inside;
    cb->exact = box->exact;
    cb->slot->known = 0;
    cb->content = (struct known_content){0};
    cb->known_chunk = cb->chunk;
    cb->known_at = 0;
    if (cb->slot->mark == VKBOX_NO_INDEX && cb->writes)
        cb->slot->mark = take_mark(d);
    cb->marked = !inside && cb->writes && cb->slot->mark != VKBOX_NO_INDEX;
    if (cb->marked)
        commands_set_mark(cb, 0);
    commands_point(cb);
    begin_group(cb);
    parts_begin(cb, info);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkEndCommandBuffer(VkCommandBuffer handle)
{
    struct command_buffer *cb = command_buffer_of(handle);
    struct device *d = cb ? cb->d : device_of(handle);
    VkResult r, ended;

    if (cb && cb->slot && !cb->in_pass && cb->pending) /* else the last point says it */
        commands_point(cb);
    r = cb ? parts_end(cb) : VK_SUCCESS;
    ended = d->next.vkEndCommandBuffer(handle);
    return note_result(d, VKBOX_CALL_vkEndCommandBuffer, ended ? ended : r);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkCreateCommandPool(VkDevice device,
                                                               const VkCommandPoolCreateInfo *info,
                                                               const VkAllocationCallbacks *allocator,
                                                               VkCommandPool *out)
{
    const uint32_t writers = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
    struct device *d = device_of(device);
    VkResult r = d->next.vkCreateCommandPool(device, info, allocator, out);

    if (r != VK_SUCCESS)
        return note_result(d, VKBOX_CALL_vkCreateCommandPool, r);
    if (info->queueFamilyIndex < 16 && d->family_flags[info->queueFamilyIndex] & writers &&
        !(info->flags & VK_COMMAND_POOL_CREATE_PROTECTED_BIT)) {
        pthread_rwlock_wrlock(&known_lock);
        map_put(&transfers, (uint64_t)*out);
        pthread_rwlock_unlock(&known_lock);
    }
    note_created(d, VK_OBJECT_TYPE_COMMAND_POOL, (uint64_t)*out, info);
    return r;
}

static VKAPI_ATTR void VKAPI_CALL hook_vkDestroyCommandPool(VkDevice device, VkCommandPool pool,
                                                            const VkAllocationCallbacks *allocator)
{
    struct device *d = device_of(device);

    if (pool) {
        drop_all(d, pool);
        pthread_rwlock_wrlock(&known_lock);
        map_remove(&transfers, (uint64_t)pool);
        pthread_rwlock_unlock(&known_lock);
        note_destroyed(d, VK_OBJECT_TYPE_COMMAND_POOL, (uint64_t)pool);
    }
    if (!device_is_lost(d))
        d->next.vkDestroyCommandPool(device, pool, allocator);
}

const struct layer_hook command_hooks[] = {
    LAYER_HOOK(vkAllocateCommandBuffers),
    LAYER_HOOK(vkFreeCommandBuffers),
    LAYER_HOOK(vkBeginCommandBuffer),
    LAYER_HOOK(vkEndCommandBuffer),
    LAYER_HOOK(vkCreateCommandPool),
    LAYER_HOOK(vkDestroyCommandPool),
    LAYER_HOOKS_END,
};

/* ---- what the reader cannot see by itself -------------------------------- */

static void copy_device(void *device)
{
    const struct device *d = device;

    if (d->slot && d->marks && d->slot->marks == VKBOX_MARKS_COPIED)
        memcpy(box->marks[d->index], d->marks, sizeof(box->marks[0]));
}

void commands_copy_marks(void)
{
    devices_each(copy_device);
}
