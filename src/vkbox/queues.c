/* SPDX-License-Identifier: MIT */
/* queues.c: submissions, and what calls answer.
 *
 * A device that the reader declared lost answers so from then on, also to those who wait already: waits are cut into steps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vkbox/fast.h"
#include "vkbox/point.h"

#define STEP_NS (50 * NSEC_PER_MSEC)
enum { COLLECT_MS = 2000, LOOKED_AT = 64 /* fences of a wait */ };

static pthread_mutex_t queues_lock = PTHREAD_MUTEX_INITIALIZER;

VkResult note_result(struct device *d, enum vkbox_call call, VkResult r)
{
    struct vkbox_error *e;
    uint32_t none = VKBOX_NO_CRASH;
    uint64_t n;

    if (r >= 0 || !box || !d->slot)
        return r;
    n = atomic_fetch_add(&box->errors, 1) + 1;
    e = &box->error[n % VKBOX_ERRORS];
    atomic_store(&e->number, 0);
    e->time_ns = box_now();
    e->call = call;
    e->result = r;
    e->device = d->index;
    e->thread = box_thread();
    atomic_store(&e->number, n);
    if (r != VK_ERROR_DEVICE_LOST || device_is_lost(d) ||
        !atomic_compare_exchange_strong(&box->crash.kind, &none, VKBOX_DEVICE_LOST))
        return r;
    box->crash.device = d->index;
    box->crash.time_ns = e->time_ns;
    box->crash.call = call;
    box->crash.thread = e->thread;
    offers_ask(d);
    commands_copy_marks();
    box_event();
    box_await_collection(COLLECT_MS); /* what the program does next would overwrite it */
    return r;
}

/* ---- queues -------------------------------------------------------------- */

static void queue_made(struct device *d, VkQueue queue, uint32_t family, uint32_t index)
{
    struct vkbox_queue *room = NULL;

    if (!d->slot || !queue)
        return;
    pthread_mutex_lock(&queues_lock);
    for (uint32_t i = 0; i < VKBOX_QUEUES; i++) {
        struct vkbox_queue *q = &box->queues[i];
        uint32_t state = atomic_load(&q->state);

        if (state == VKBOX_LIVE && q->device == d->index && q->handle == (uint64_t)(uintptr_t)queue) {
            pthread_mutex_unlock(&queues_lock);
            return;
        }
        if (!room && state != VKBOX_LIVE)
            room = q;
    }
    if (room) {
        memset(room, 0, sizeof(*room));
        room->device = d->index;
        room->family = family;
        room->index = index;
        room->flags = family < 16 ? d->family_flags[family] : 0;
        room->handle = (uint64_t)(uintptr_t)queue;
        atomic_store(&room->state, VKBOX_LIVE);
    } else {
        atomic_fetch_add(&box->queues_lost, 1);
    }
    pthread_mutex_unlock(&queues_lock);
}

static uint32_t queue_index(const struct device *d, VkQueue queue)
{
    for (uint32_t i = 0; i < VKBOX_QUEUES; i++)
        if (atomic_load_explicit(&box->queues[i].state, memory_order_relaxed) == VKBOX_LIVE &&
            box->queues[i].handle == (uint64_t)(uintptr_t)queue && box->queues[i].device == d->index)
            return i;
    return VKBOX_NO_INDEX;
}

void queues_device_gone(struct device *d)
{
    pthread_mutex_lock(&queues_lock);
    for (uint32_t i = 0; d->slot && i < VKBOX_QUEUES; i++)
        if (box->queues[i].device == d->index)
            atomic_store(&box->queues[i].state, VKBOX_GONE);
    pthread_mutex_unlock(&queues_lock);
}

static VKAPI_ATTR void VKAPI_CALL hook_vkGetDeviceQueue(VkDevice device, uint32_t family, uint32_t index,
                                                        VkQueue *out)
{
    struct device *d = device_of(device);

    d->next.vkGetDeviceQueue(device, family, index, out);
    queue_made(d, *out, family, index);
}

static VKAPI_ATTR void VKAPI_CALL hook_vkGetDeviceQueue2(VkDevice device, const VkDeviceQueueInfo2 *info,
                                                         VkQueue *out)
{
    struct device *d = device_of(device);

    d->next.vkGetDeviceQueue2(device, info, out);
    queue_made(d, *out, info->queueFamilyIndex, info->queueIndex);
}

/* ---- submissions --------------------------------------------------------- */

static void give_more(struct vkbox_more *m)
{
    if (m->first)
        commands_give_chunks(m->first - 1);
    *m = (struct vkbox_more){0, 0};
}

static struct vkbox_submission *begin_submission(struct device *d, uint32_t queue, uint64_t *number)
{
    struct vkbox_submission *s;

    signals_keep();
    *number = atomic_fetch_add(&box->submissions, 1) + 1;
    if (*number < VKBOX_SUBMISSIONS && *number % BOX_SUBMISSIONS == 0 &&
        !box_room(&box->submission[*number], BOX_SUBMISSIONS * sizeof(*s)))
        atomic_store(&box->ring, (uint32_t)*number);
    s = &box->submission[vkbox_slot_of(box, *number)];
    if (atomic_load(&s->number) && s->num_signals &&
        atomic_load(&box->queues[s->queue].finished) < atomic_load(&s->number))
        atomic_store(&box->signals_lost, 1);
    atomic_store(&s->number, 0);
    s->time_ns = box_now();
    s->queue = queue;
    s->thread = box_thread();
    s->stack = stack_here();
    s->fence = 0;
    atomic_store(&s->returned, 0);
    s->num_command_buffers = s->num_waits = s->num_signals = 0;
    give_more(&s->more);
    give_more(&s->more_waits);
    give_more(&s->more_signals);
    return s;
}

/* Beyond those that have their place in the submission: entry `n`, of which a chunk has `each`. NULL: there is no room. */
static uint32_t *put_more(struct vkbox_more *m, uint32_t n, uint32_t each)
{
    const uint32_t at = n % each;
    struct vkbox_chunk *chunk = NULL;
    uint32_t index;

    if (at)
        chunk = m->last ? &box->chunks[m->last - 1] : NULL;
    else if ((chunk = commands_take_chunk(&index))) {
        if (m->last)
            box->chunks[m->last - 1].next = index;
        else
            m->first = index + 1;
        m->last = index + 1;
    }
    return chunk ? &chunk->words[VKBOX_CHUNK_WORDS / each * at] : NULL;
}

/* Whether none of its submissions can be pending: by its mark only of a single one, which has no other to be mistaken for. */
static bool is_over(const struct command_buffer *cb)
{
    if (!cb->submitted || (!cb->scattered && atomic_load(&box->queues[cb->queue].finished) >= cb->last))
        return true;
    return cb->once && point_is_last(box, cb->index, cb->d->marks[cb->slot->mark]);
}

static void put_command_buffer(struct vkbox_submission *s, uint64_t number, VkCommandBuffer handle)
{
    struct command_buffer *cb = command_buffer_of(handle);
    const uint32_t n = s->num_command_buffers++;
    const struct vkbox_submitted c = {cb && cb->slot ? cb->index : VKBOX_NO_INDEX,
                                      cb && cb->slot ? atomic_load(&cb->slot->recording) : 0};

    uint32_t *words;

    if (n < VKBOX_SUBMITTED)
        s->command_buffers[n] = c;
    else if (n < VKBOX_SUBMITTED_MOST && (words = put_more(&s->more, n - VKBOX_SUBMITTED, VKBOX_MORE)))
        memcpy(words, &c, sizeof(c));
    else if (n < VKBOX_SUBMITTED_MOST)
        s->num_command_buffers = UINT32_MAX / 2; /* what follows is not known */
    if (!cb || !cb->slot || !cb->marked)
        return;
    /* What may still be executed keeps its mark, which may be any of these submissions' then. */
    cb->once = is_over(cb);
    if (cb->once) {
        commands_set_mark(cb, 0);
        atomic_store(&cb->slot->since, number);
        cb->scattered = false;
    } else {
        cb->scattered |= cb->queue != s->queue;
    }
    cb->submitted = true;
    cb->queue = s->queue;
    cb->last = number;
}

/* `value`: what is given of one that has no values means nothing. Each of those has reached 0. */
static void put_semaphore(struct device *d, struct vkbox_semaphore *own, struct vkbox_more *more, uint32_t *n,
                          VkSemaphore semaphore, uint64_t value)
{
    const bool has_values = note_has_values(d, semaphore, value != 0);
    const struct vkbox_semaphore one = {(uint64_t)semaphore, has_values ? value : 0};
    uint32_t *words;

    if (has_values && !value)
        return;
    if (*n < VKBOX_SUBMITTED)
        own[*n] = one;
    else if (*n < VKBOX_SEMAPHORES_MOST &&
             (words = put_more(more, *n - VKBOX_SUBMITTED, VKBOX_MORE_SEMAPHORES)))
        memcpy(words, &one, sizeof(one));
    else
        *n = UINT32_MAX / 2; /* what follows is not known */
    ++*n;
}

static void end_submission(struct vkbox_submission *s, uint64_t number, uint32_t queue)
{
    atomic_store_explicit(&s->number, number, memory_order_release);
    atomic_store_explicit(&box->queues[queue].submitted, number, memory_order_release);
}

/* Nothing was submitted. */
static void take_back(struct vkbox_submission *s)
{
    for (uint32_t i = 0; i < vkbox_submitted_count(s); i++) {
        const struct vkbox_submitted c = vkbox_submitted_at(box, s, i);
        const struct vkbox_command_buffer *cb;

        if (c.command_buffer >= VKBOX_COMMAND_BUFFERS)
            continue;
        cb = &box->command_buffers[c.command_buffer];
        if (cb->state == VKBOX_LIVE && cb->recording == c.recording)
            commands_taken_back((VkCommandBuffer)(uintptr_t)cb->handle);
    }
    atomic_store(&s->number, 0);
}

/* ---- what the program is told to have ended ------------------------------ */

/* What a queue signals and the program can look at, by its handle and in the bits that no pointer has its device: fences, to 1, and semaphores that have
 * values; to the last submission that does it, its queue, and the value. What is signalled in front of that is at most as large. */
enum signalled { FENCES, SEMAPHORES, KINDS };
static struct {
    struct map by, value;
} pending[KINDS];

static uint64_t key_of(const struct device *d, uint64_t handle)
{
    return handle ^ (uint64_t)d->index << 60;
}

static void queue_finished(uint32_t queue, uint64_t number)
{
    uint64_t was = atomic_load(&box->queues[queue].finished);

    while (was < number && !atomic_compare_exchange_weak(&box->queues[queue].finished, &was, number))
        ;
}

/* With the lock held. */
static void forget(enum signalled kind, uint64_t key)
{
    map_remove(&pending[kind].by, key);
    map_remove(&pending[kind].value, key);
}

static void signal_submitted(const struct device *d, enum signalled kind, uint64_t handle, uint32_t queue,
                             uint64_t number, uint64_t value)
{
    const uint64_t key = key_of(d, handle);
    uint64_t *by, *last;

    if (!handle || queue == VKBOX_NO_INDEX)
        return;
    pthread_mutex_lock(&queues_lock);
    by = map_put(&pending[kind].by, key);
    last = map_put(&pending[kind].value, key);
    if (!by || !last) {
        forget(kind, key);
    } else if (value >= *last) {
        *by = number * VKBOX_QUEUES + queue;
        *last = value;
    }
    pthread_mutex_unlock(&queues_lock);
}

/* The program was told that it has this value, or (`or_more`) at least this. It is signalled behind everything that was submitted to its queue
 * before it; and of what waits without a command of its own no mark says that it is not over. */
static void signal_seen(const struct device *d, enum signalled kind, uint64_t handle, uint64_t value,
                        bool or_more)
{
    const uint64_t key = key_of(d, handle), *by, *last;

    if (!d->slot || !handle)
        return;
    pthread_mutex_lock(&queues_lock);
    by = map_find(&pending[kind].by, key);
    last = map_find(&pending[kind].value, key);
    if (by && last && *last <= value) {
        queue_finished(*by % VKBOX_QUEUES, *by / VKBOX_QUEUES);
        forget(kind, key);
    } else if (by && last && !or_more) {
        atomic_store(&box->queues[*by % VKBOX_QUEUES].open, *by / VKBOX_QUEUES);
        atomic_store(&box->queues[*by % VKBOX_QUEUES].open_ns, box_now());
    }
    pthread_mutex_unlock(&queues_lock);
}

static void signal_forgotten(const struct device *d, enum signalled kind, uint64_t handle)
{
    pthread_mutex_lock(&queues_lock);
    forget(kind, key_of(d, handle));
    pthread_mutex_unlock(&queues_lock);
}

void queues_object_gone(struct device *d, VkObjectType type, uint64_t handle)
{
    if (handle && (type == VK_OBJECT_TYPE_FENCE || type == VK_OBJECT_TYPE_SEMAPHORE))
        signal_forgotten(d, type == VK_OBJECT_TYPE_FENCE ? FENCES : SEMAPHORES, handle);
}

/* Of one call: from `first` on, those of others may lie between them. */
static void note_returned(const struct device *d, uint64_t first, uint64_t last, VkResult r)
{
    for (uint64_t n = first; first && n <= last; n++) {
        struct vkbox_submission *s = &box->submission[vkbox_slot_of(box, n)];

        if (atomic_load(&s->number) != n || s->thread != box_thread())
            continue;
        atomic_store(&s->returned, 1);
        if (r < 0 && r != VK_ERROR_DEVICE_LOST)
            take_back(s);
        for (uint32_t i = 0; r == VK_SUCCESS && i < s->num_signals && i < VKBOX_SEMAPHORES_MOST; i++) {
            const struct vkbox_semaphore one = vkbox_semaphore_at(box, s->signals, &s->more_signals, i);

            if (one.value)
                signal_submitted(d, SEMAPHORES, one.handle, s->queue, n, one.value);
        }
    }
}

static void fence_submitted(const struct device *d, uint32_t queue, VkFence fence)
{
    if (queue != VKBOX_NO_INDEX)
        signal_submitted(d, FENCES, (uint64_t)fence, queue, atomic_load(&box->queues[queue].submitted), 1);
}

static void fence_seen(const struct device *d, VkFence fence, bool signalled)
{
    signal_seen(d, FENCES, (uint64_t)fence, signalled, false);
}

static const VkTimelineSemaphoreSubmitInfo *timeline(const void *chain)
{
    for (const VkBaseInStructure *i = chain; i; i = i->pNext)
        if (i->sType == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO)
            return (const void *)i;
    return NULL;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkQueueSubmit(VkQueue queue, uint32_t count,
                                                         const VkSubmitInfo *infos, VkFence fence)
{
    struct device *d = device_of(queue);
    uint32_t index = d->slot ? queue_index(d, queue) : VKBOX_NO_INDEX;
    uint64_t first = 0, number = 0;
    VkResult r;

    if (device_is_lost(d))
        return VK_ERROR_DEVICE_LOST;
    for (uint32_t i = 0; index != VKBOX_NO_INDEX && i < count; i++) {
        const VkTimelineSemaphoreSubmitInfo *t = timeline(infos[i].pNext);
        struct vkbox_submission *s = begin_submission(d, index, &number);

        first = first ? first : number;
        for (uint32_t k = 0; k < infos[i].commandBufferCount; k++)
            put_command_buffer(s, number, infos[i].pCommandBuffers[k]);
        for (uint32_t k = 0; k < infos[i].waitSemaphoreCount; k++)
            put_semaphore(d, s->waits, &s->more_waits, &s->num_waits, infos[i].pWaitSemaphores[k],
                          t && k < t->waitSemaphoreValueCount ? t->pWaitSemaphoreValues[k] : 0);
        for (uint32_t k = 0; k < infos[i].signalSemaphoreCount; k++)
            put_semaphore(d, s->signals, &s->more_signals, &s->num_signals, infos[i].pSignalSemaphores[k],
                          t && k < t->signalSemaphoreValueCount ? t->pSignalSemaphoreValues[k] : 0);
        s->fence = i + 1 == count ? (uint64_t)fence : 0;
        end_submission(s, number, index);
    }
    r = d->next.vkQueueSubmit(queue, count, infos, fence);
    if (r == VK_SUCCESS)
        fence_submitted(d, index, fence);
    note_returned(d, first, number, r);
    return note_result(d, VKBOX_CALL_vkQueueSubmit, r);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkQueueSubmit2(VkQueue queue, uint32_t count,
                                                          const VkSubmitInfo2 *infos, VkFence fence)
{
    struct device *d = device_of(queue);
    uint32_t index = d->slot ? queue_index(d, queue) : VKBOX_NO_INDEX;
    uint64_t first = 0, number = 0;
    VkResult r;

    if (device_is_lost(d))
        return VK_ERROR_DEVICE_LOST;
    for (uint32_t i = 0; index != VKBOX_NO_INDEX && i < count; i++) {
        struct vkbox_submission *s = begin_submission(d, index, &number);

        first = first ? first : number;
        for (uint32_t k = 0; k < infos[i].commandBufferInfoCount; k++)
            put_command_buffer(s, number, infos[i].pCommandBufferInfos[k].commandBuffer);
        for (uint32_t k = 0; k < infos[i].waitSemaphoreInfoCount; k++)
            put_semaphore(d, s->waits, &s->more_waits, &s->num_waits,
                          infos[i].pWaitSemaphoreInfos[k].semaphore, infos[i].pWaitSemaphoreInfos[k].value);
        for (uint32_t k = 0; k < infos[i].signalSemaphoreInfoCount; k++)
            put_semaphore(d, s->signals, &s->more_signals, &s->num_signals,
                          infos[i].pSignalSemaphoreInfos[k].semaphore,
                          infos[i].pSignalSemaphoreInfos[k].value);
        s->fence = i + 1 == count ? (uint64_t)fence : 0;
        end_submission(s, number, index);
    }
    r = d->next.vkQueueSubmit2(queue, count, infos, fence);
    if (r == VK_SUCCESS)
        fence_submitted(d, index, fence);
    note_returned(d, first, number, r);
    return note_result(d, VKBOX_CALL_vkQueueSubmit2, r);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkQueueBindSparse(VkQueue queue, uint32_t count,
                                                             const VkBindSparseInfo *infos, VkFence fence)
{
    struct device *d = device_of(queue);
    uint32_t index = d->slot ? queue_index(d, queue) : VKBOX_NO_INDEX;
    uint64_t first = 0, number = 0;
    VkResult r;

    if (device_is_lost(d))
        return VK_ERROR_DEVICE_LOST;
    /* Without commands, but others may wait for what it signals. */
    for (uint32_t i = 0; index != VKBOX_NO_INDEX && i < count; i++) {
        const VkTimelineSemaphoreSubmitInfo *t = timeline(infos[i].pNext);
        struct vkbox_submission *s = begin_submission(d, index, &number);

        first = first ? first : number;
        for (uint32_t k = 0; k < infos[i].waitSemaphoreCount; k++)
            put_semaphore(d, s->waits, &s->more_waits, &s->num_waits, infos[i].pWaitSemaphores[k],
                          t && k < t->waitSemaphoreValueCount ? t->pWaitSemaphoreValues[k] : 0);
        for (uint32_t k = 0; k < infos[i].signalSemaphoreCount; k++)
            put_semaphore(d, s->signals, &s->more_signals, &s->num_signals, infos[i].pSignalSemaphores[k],
                          t && k < t->signalSemaphoreValueCount ? t->pSignalSemaphoreValues[k] : 0);
        s->fence = i + 1 == count ? (uint64_t)fence : 0;
        end_submission(s, number, index);
    }
    r = d->next.vkQueueBindSparse(queue, count, infos, fence);
    if (r == VK_SUCCESS)
        fence_submitted(d, index, fence);
    note_returned(d, first, number, r);
    return note_result(d, VKBOX_CALL_vkQueueBindSparse, r);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkQueuePresentKHR(VkQueue queue, const VkPresentInfoKHR *info)
{
    struct device *d = device_of(queue);

    if (device_is_lost(d)) {
        for (uint32_t i = 0; info->pResults && i < info->swapchainCount; i++)
            info->pResults[i] = VK_ERROR_DEVICE_LOST;
        return VK_ERROR_DEVICE_LOST;
    }
    if (d->slot)
        atomic_fetch_add_explicit(&box->frames, 1, memory_order_relaxed);
    return note_result(d, VKBOX_CALL_vkQueuePresentKHR, d->next.vkQueuePresentKHR(queue, info));
}

/* ---- waits --------------------------------------------------------------- */

/* Polls until `timeout` is over, by steps: the device may be declared lost meanwhile. */
static VkResult wait_steps(struct device *d, enum vkbox_call call, uint64_t timeout,
                           VkResult (*poll)(struct device *d, void *args, uint64_t ns), void *args)
{
    uint64_t at = d->slot && timeout > STEP_NS ? box_now() : 0;
    uint64_t end = timeout > UINT64_MAX - at ? UINT64_MAX : at + timeout;
    VkResult r;

    if (device_is_lost(d))
        return VK_ERROR_DEVICE_LOST;
    if (!d->slot || timeout <= STEP_NS)
        return note_result(d, call, poll(d, args, timeout));
    for (;;) {
        uint64_t left = end > at ? end - at : 0;

        r = poll(d, args, left < STEP_NS ? left : STEP_NS);
        if (r != VK_TIMEOUT && r != VK_NOT_READY)
            return note_result(d, call, r);
        commands_copy_marks();
        if (device_is_lost(d))
            return VK_ERROR_DEVICE_LOST;
        if (left <= STEP_NS)
            return VK_TIMEOUT;
        at = box_now();
    }
}

struct fences {
    uint32_t count;
    const VkFence *fences;
    VkBool32 all;
};

static VkResult poll_fences(struct device *d, void *args, uint64_t ns)
{
    const struct fences *f = args;
    const VkResult r = d->next.vkWaitForFences(d->handle, f->count, f->fences, f->all, ns);

    for (uint32_t i = 0; r == VK_TIMEOUT && i < f->count && i < LOOKED_AT; i++)
        if (!f->all || f->count == 1 || d->next.vkGetFenceStatus(d->handle, f->fences[i]) == VK_NOT_READY)
            fence_seen(d, f->fences[i], false);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkResetFences(VkDevice device, uint32_t count,
                                                         const VkFence *fences)
{
    struct device *d = device_of(device);

    for (uint32_t i = 0; d->slot && i < count; i++)
        signal_forgotten(d, FENCES, (uint64_t)fences[i]);
    return note_result(d, VKBOX_CALL_vkResetFences, d->next.vkResetFences(device, count, fences));
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkWaitForFences(VkDevice device, uint32_t count,
                                                           const VkFence *fences, VkBool32 all,
                                                           uint64_t timeout)
{
    struct fences f = {count, fences, all};
    struct device *d = device_of(device);
    VkResult r = wait_steps(d, VKBOX_CALL_vkWaitForFences, timeout, poll_fences, &f);

    for (uint32_t i = 0; r == VK_SUCCESS && (all || count == 1) && i < count; i++)
        fence_seen(d, fences[i], true);
    return r;
}

static VkResult poll_semaphores(struct device *d, void *args, uint64_t ns)
{
    const VkSemaphoreWaitInfo *info = args;
    const VkResult r = d->next.vkWaitSemaphores(d->handle, info, ns);
    uint64_t value;

    for (uint32_t i = 0; d->slot && r == VK_TIMEOUT && i < info->semaphoreCount && i < LOOKED_AT; i++)
        if (!d->next.vkGetSemaphoreCounterValue(d->handle, info->pSemaphores[i], &value))
            signal_seen(d, SEMAPHORES, (uint64_t)info->pSemaphores[i], value, false);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkWaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo *info,
                                                            uint64_t timeout)
{
    struct device *d = device_of(device);
    VkResult r =
        wait_steps(d, VKBOX_CALL_vkWaitSemaphores, timeout, poll_semaphores, (void *)(uintptr_t)info);
    const bool all = !(info->flags & VK_SEMAPHORE_WAIT_ANY_BIT) || info->semaphoreCount == 1;

    for (uint32_t i = 0; r == VK_SUCCESS && all && i < info->semaphoreCount; i++)
        signal_seen(d, SEMAPHORES, (uint64_t)info->pSemaphores[i], info->pValues[i], true);
    return r;
}

struct acquire {
    VkAcquireNextImageInfoKHR info;
    uint32_t *index;
    bool by_info;
};

static VkResult poll_acquire(struct device *d, void *args, uint64_t ns)
{
    struct acquire *a = args;

    note_outside(d, a->info.semaphore, VKBOX_PRESENTATION);
    a->info.timeout = ns;
    return a->by_info ? d->next.vkAcquireNextImage2KHR(d->handle, &a->info, a->index)
                      : d->next.vkAcquireNextImageKHR(d->handle, a->info.swapchain, ns, a->info.semaphore,
                                                      a->info.fence, a->index);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkAcquireNextImageKHR(VkDevice device, VkSwapchainKHR swapchain,
                                                                 uint64_t timeout, VkSemaphore semaphore,
                                                                 VkFence fence, uint32_t *index)
{
    struct acquire a = {.info = {.swapchain = swapchain, .semaphore = semaphore, .fence = fence},
                        .index = index};

    return wait_steps(device_of(device), VKBOX_CALL_vkAcquireNextImageKHR, timeout, poll_acquire, &a);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkAcquireNextImage2KHR(VkDevice device,
                                                                  const VkAcquireNextImageInfoKHR *info,
                                                                  uint32_t *index)
{
    struct acquire a = {.info = *info, .index = index, .by_info = true};

    return wait_steps(device_of(device), VKBOX_CALL_vkAcquireNextImage2KHR, info->timeout, poll_acquire, &a);
}

/* What waits for a queue to be idle cannot be cut into steps: a fence behind everything can. Without memory for one, the
 * driver is asked. */
static VkResult wait_queue(struct device *d, enum vkbox_call call, VkQueue queue)
{
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence = VK_NULL_HANDLE;
    struct fences f = {1, &fence, VK_TRUE};
    VkResult r;

    if (device_is_lost(d))
        return VK_ERROR_DEVICE_LOST;
    if (!d->slot || d->next.vkCreateFence(d->handle, &info, NULL, &fence))
        return note_result(d, call, d->next.vkQueueWaitIdle(queue));
    r = d->next.vkQueueSubmit(queue, 0, NULL, fence);
    if (r == VK_SUCCESS) {
        fence_submitted(d, queue_index(d, queue), fence);
        r = wait_steps(d, call, UINT64_MAX, poll_fences, &f);
    }
    if (r == VK_SUCCESS)
        fence_seen(d, fence, true);
    else
        signal_forgotten(d, FENCES, (uint64_t)fence);
    if (!device_is_lost(d))
        d->next.vkDestroyFence(d->handle, fence, NULL);
    /* Idle also means that the driver has let go of everything, which is more than a fence says. */
    return r == VK_SUCCESS ? d->next.vkQueueWaitIdle(queue) : note_result(d, call, r);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkQueueWaitIdle(VkQueue queue)
{
    return wait_queue(device_of(queue), VKBOX_CALL_vkQueueWaitIdle, queue);
}

VkResult queues_await(struct device *d)
{
    VkResult r = VK_SUCCESS;

    for (uint32_t i = 0; d->slot && i < VKBOX_QUEUES && r == VK_SUCCESS; i++)
        if (atomic_load(&box->queues[i].state) == VKBOX_LIVE && box->queues[i].device == d->index &&
            atomic_load(&box->queues[i].submitted))
            r = wait_queue(d, VKBOX_CALL_vkDeviceWaitIdle, (VkQueue)(uintptr_t)box->queues[i].handle);
    return r == VK_SUCCESS && device_is_lost(d) ? VK_ERROR_DEVICE_LOST : r;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkDeviceWaitIdle(VkDevice device)
{
    struct device *d = device_of(device);
    VkResult r = queues_await(d);

    return r == VK_SUCCESS ? note_result(d, VKBOX_CALL_vkDeviceWaitIdle, d->next.vkDeviceWaitIdle(device))
                           : r;
}

/* ---- other calls that can say it ----------------------------------------- */

#define DEVICE_CALL(name, ...)                                                                               \
    struct device *d = device_of(device);                                                                    \
                                                                                                             \
    if (device_is_lost(d))                                                                                   \
        return VK_ERROR_DEVICE_LOST;                                                                         \
    return note_result(d, VKBOX_CALL_##name, d->next.name(device, __VA_ARGS__))

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkGetFenceStatus(VkDevice device, VkFence fence)
{
    struct device *d = device_of(device);
    VkResult r;

    if (device_is_lost(d))
        return VK_ERROR_DEVICE_LOST;
    r = d->next.vkGetFenceStatus(device, fence);
    if (r == VK_SUCCESS || r == VK_NOT_READY)
        fence_seen(d, fence, r == VK_SUCCESS);
    return note_result(d, VKBOX_CALL_vkGetFenceStatus, r);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkGetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore,
                                                                      uint64_t *value)
{
    struct device *d = device_of(device);
    VkResult r;

    if (device_is_lost(d))
        return VK_ERROR_DEVICE_LOST;
    r = d->next.vkGetSemaphoreCounterValue(device, semaphore, value);
    if (r == VK_SUCCESS)
        signal_seen(d, SEMAPHORES, (uint64_t)semaphore, *value, false);
    return note_result(d, VKBOX_CALL_vkGetSemaphoreCounterValue, r);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkGetEventStatus(VkDevice device, VkEvent event)
{
    DEVICE_CALL(vkGetEventStatus, event);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkGetSwapchainStatusKHR(VkDevice device, VkSwapchainKHR swapchain)
{
    DEVICE_CALL(vkGetSwapchainStatusKHR, swapchain);
}

struct shown {
    VkSwapchainKHR swapchain;
    uint64_t id;
};

static VkResult poll_present(struct device *d, void *args, uint64_t ns)
{
    const struct shown *s = args;

    return d->next.vkWaitForPresentKHR(d->handle, s->swapchain, s->id, ns);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_vkWaitForPresentKHR(VkDevice device, VkSwapchainKHR swapchain,
                                                               uint64_t id, uint64_t timeout)
{
    struct shown s = {swapchain, id};

    return wait_steps(device_of(device), VKBOX_CALL_vkWaitForPresentKHR, timeout, poll_present, &s);
}

/* A wait for results is made of questions: the driver would not come back from one for what a hung device has not run. */
static VKAPI_ATTR VkResult VKAPI_CALL hook_vkGetQueryPoolResults(VkDevice device, VkQueryPool pool,
                                                                 uint32_t from, uint32_t count, size_t size,
                                                                 void *data, VkDeviceSize stride,
                                                                 VkQueryResultFlags flags)
{
    const struct timespec step = {0, 50000};
    struct device *d = device_of(device);
    bool waits = d->slot && flags & VK_QUERY_RESULT_WAIT_BIT;
    VkResult r;

    if (waits)
        flags &= ~(VkQueryResultFlags)VK_QUERY_RESULT_WAIT_BIT;
    for (;;) {
        if (device_is_lost(d))
            return VK_ERROR_DEVICE_LOST;
        r = d->next.vkGetQueryPoolResults(device, pool, from, count, size, data, stride, flags);
        if (r != VK_NOT_READY || !waits)
            return note_result(d, VKBOX_CALL_vkGetQueryPoolResults, r);
        commands_copy_marks();
        nanosleep(&step, NULL);
    }
}

const struct layer_hook queue_hooks[] = {LAYER_HOOK(vkGetDeviceQueue),
                                         LAYER_HOOK(vkGetDeviceQueue2),
                                         LAYER_HOOK(vkQueueSubmit),
                                         LAYER_HOOK(vkQueueSubmit2),
                                         LAYER_ALIAS(vkQueueSubmit2, KHR),
                                         LAYER_HOOK(vkQueueBindSparse),
                                         LAYER_HOOK(vkQueuePresentKHR),
                                         LAYER_HOOK(vkQueueWaitIdle),
                                         LAYER_HOOK(vkDeviceWaitIdle),
                                         LAYER_HOOK(vkWaitForFences),
                                         LAYER_HOOK(vkWaitSemaphores),
                                         LAYER_ALIAS(vkWaitSemaphores, KHR),
                                         LAYER_HOOK(vkAcquireNextImageKHR),
                                         LAYER_HOOK(vkAcquireNextImage2KHR),
                                         LAYER_HOOK(vkGetFenceStatus),
                                         LAYER_HOOK(vkResetFences),
                                         LAYER_HOOK(vkGetSemaphoreCounterValue),
                                         LAYER_ALIAS(vkGetSemaphoreCounterValue, KHR),
                                         LAYER_HOOK(vkGetEventStatus),
                                         LAYER_HOOK(vkGetSwapchainStatusKHR),
                                         LAYER_HOOK(vkWaitForPresentKHR),
                                         LAYER_HOOK(vkGetQueryPoolResults),
                                         LAYER_HOOKS_END};
