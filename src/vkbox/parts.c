/* SPDX-License-Identifier: MIT */
/* parts.c: secondary command buffers of render passes in parts, so that exact mode can put a point behind each of their draws.
 *
 *   the program's      state │ draw │ state │ draw │ …            one command buffer
 *   part 0             state   draw                               what follows goes to the parts behind
 *   part 1             state          state   draw
 *   who executes it    part 0 ╎ part 1 ╎ …                        ╎ is a point, where the pass can be left (passes.c)
 *
 * Within a render pass nothing can be written, and a secondary command buffer cannot end the pass that it is executed in. So it is
 * recorded as several, each of which has all state that was set up to its draw, and the pass is cut between them.
 *
 * Invariants:
 *  1. Executed one after the other, the parts do what the program recorded: each piece of work stands in one of them, and in front of
 *     it all that set state. What began in a part, as a query, ends in it.
 *  2. Part 0 is the program's own, the others are of the same pool, and are begun, ended, reset and freed with it.
 *  3. A device with functions that the registry does not know is left alone: their state would be in part 0 only.
 */
#include <stdlib.h>

#include "vkbox/fast.h"

/* Those behind the program's own, of the same pool. */
static bool allocate(struct command_buffer *cb)
{
    const VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = cb->pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
                                              .commandBufferCount = PARTS - 1};
    struct parts *p = calloc(1, sizeof(*p));

    if (p && cb->d->next.vkAllocateCommandBuffers(cb->d->handle, &info, &p->buffer[1])) {
        free(p);
        p = NULL;
    }
    if (!p)
        return false;
    p->buffer[0] = cb->handle;
    for (uint32_t i = 1; i < PARTS; i++) /* as the loader does with those that it hands out */
        *(void **)p->buffer[i] = *(void **)cb->handle;
    cb->parts_kept = p;
    return true;
}

void parts_begin(struct command_buffer *cb, const VkCommandBufferBeginInfo *info)
{
    struct parts *p;

    if (!(cb->exact || known_has(&box_known, KNOWN_SECONDARIES)) || !cb->in_pass || !cb->d->cuts ||
        atomic_load(&cb->d->strange) || (!cb->parts_kept && !allocate(cb)))
        return;
    p = cb->parts_kept;
    p->num = 1;
    p->at = p->used = p->labels = p->regions = 0;
    while (p->num < PARTS && cb->d->next.vkBeginCommandBuffer(p->buffer[p->num], info) == VK_SUCCESS)
        p->num++;
    cb->parts = p;
    cb->exact = true; /* each piece of its work is seen (fast.h) */
}

VkResult parts_end(struct command_buffer *cb)
{
    const struct parts *p = cb->parts;
    VkResult r = VK_SUCCESS;

    for (uint32_t i = 1; p && i < p->num; i++) {
        VkResult this = cb->d->next.vkEndCommandBuffer(p->buffer[i]);

        r = r ? r : this;
    }
    return r;
}

void parts_free(struct command_buffer *cb, bool with_pool)
{
    if (cb->parts_kept && !with_pool && !device_is_lost(cb->d))
        cb->d->next.vkFreeCommandBuffers(cb->d->handle, cb->pool, PARTS - 1, &cb->parts_kept->buffer[1]);
    free(cb->parts_kept);
    cb->parts = cb->parts_kept = NULL;
}

void parts_worked(struct command_buffer *cb)
{
    struct parts *p = cb->parts;

    if (cb->open || p->used == p->num)
        return;
    /* Regions that are open here are open in those behind as well. */
    for (uint32_t i = 0; i < p->labels; i++)
        cb->d->next.vkCmdEndDebugUtilsLabelEXT(p->buffer[p->at]);
    for (uint32_t i = 0; i < p->regions; i++)
        cb->d->next.vkCmdDebugMarkerEndEXT(p->buffer[p->at]);
    commands_note(cb, VKBOX_PART, p->used, 0);
    p->at++;
}

/* All parts of one, with points between them where the pass can be left; it says in front which these are. */
static void execute(struct command_buffer *cb, VkCommandBuffer handle, VkCommandBuffer secondary)
{
    const struct command_buffer *s = command_buffer_of(secondary);
    const struct parts *p = s ? s->parts : NULL;
    const uint32_t num = p && p->used > 1 ? p->used : 1;
    const bool cuts = cb && cb->slot && cb->exact && cb->in_pass && cb->marked && pass_can_leave(cb);

    if (cuts && num > 1)
        commands_note(cb, VKBOX_PARTS, cb->slot->points + 1, num - 1);
    commands_execute(cb, 1, &secondary);
    for (uint32_t i = 0; i < num; i++) {
        NEXT_OF(handle, cb, vkCmdExecuteCommands)(handle, 1, p ? &p->buffer[i] : &secondary);
        if (cuts && i + 1 < num && pass_leave(cb)) {
            commands_write_point(cb);
            pass_enter(cb);
        }
    }
}

void pass_vkCmdExecuteCommands(struct command_buffer *cb, VkCommandBuffer handle, uint32_t n,
                               const VkCommandBuffer *secondaries)
{
    bool parts = false;

    for (uint32_t i = 0; i < n && !parts; i++) {
        const struct command_buffer *s = command_buffer_of(secondaries[i]);

        parts = s && s->parts;
    }
    if (!parts) {
        commands_execute(cb, n, secondaries);
        NEXT_OF(handle, cb, vkCmdExecuteCommands)(handle, n, secondaries);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        execute(cb, handle, secondaries[i]);
        if (i + 1 < n)
            commands_work(cb);
    }
}
