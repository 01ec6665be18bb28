/* SPDX-License-Identifier: MIT */
/* own.c: what the layer does for a program that has loaded it itself (own.h). */
#include "vkbox/own.h"

#include <errno.h>

#include "base/file/part.h"
#include "vkbox/fast.h"

static int own_open(const char *folder, bool exact, bool guard)
{
    if (box)
        return -EBUSY;
    if (!folder) { /* `aerogpu run` watches */
        box_open(NULL);
        box_is_own = true;
        return box ? 0 : -ENOSPC;
    }
    box_open(&(struct box_params){.folder = folder, .exact = exact, .guard = guard, .own = true});
    return box ? 0 : -ENOSPC;
}

static enum vkbox_own_state own_state(VkDevice handle)
{
    const struct device *d = device_of(handle);
    uint32_t kind;

    if (!d || d->handle != handle)
        return VKBOX_OWN_UNSEEN;
    if (!d->slot)
        return VKBOX_OWN_NO_ROOM;
    kind = atomic_load(&box->crash.kind);
    if (device_is_lost(d) || (kind == VKBOX_DEVICE_LOST && box->crash.device == d->index) ||
        (kind == VKBOX_SIGNAL && !box->crash.handled))
        return VKBOX_OWN_LOST;
    return VKBOX_OWN_WELL;
}

/* A label, as other tools know it, and a point behind what came before. */
static bool own_checkpoint(VkCommandBuffer handle, const char *name)
{
    const VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = name};
    struct command_buffer *cb = command_buffer_of(handle);
    PFN_vkCmdInsertDebugUtilsLabelEXT insert =
        (PFN_vkCmdInsertDebugUtilsLabelEXT)layer_find_hook(generated_hooks, "vkCmdInsertDebugUtilsLabelEXT");

    if (!cb || !cb->d->next.vkCmdInsertDebugUtilsLabelEXT)
        return false;
    if (cb->slot)
        commands_checkpoint(cb, VKBOX_NAMED, 0);
    insert(handle, &label);
    return true;
}

PART(AEROGPU_VERSION);
LAYER_EXPORT const struct vkbox_own aerogpu_blackbox_own = {VKBOX_OWN_VERSION, own_open, own_state,
                                                            own_checkpoint};
